"""The words that tell a decision from what stands around it in records, plans and notes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Beside a marker, these say that a heading is about something else than what was decided.
_NOT_BEFORE = _words(
    """related open pending deferred postponed future previous past rejected superseded unresolved
    outstanding upcoming undecided no non missing possible potential alternative candidate linked
    referenced see old archive archived show review record recording make making write writing
    capture capturing manage managing merge deduplicate consolidate"""
)
# A singular marker before another noun only describes it ("decision drivers"); these may follow.
_AFTER_ONE = _words(
    """a about an as at by for from in is log logs made of on outcome outcomes record so
    statement summary taken that the this we with"""
)
_NOT_AFTER_MANY = _words("""needed pending deferred required to not tbd open still yet""")
# "Guidelines for good decisions" decide nothing themselves; a log of decisions does.
_NOT_TOWARDS = _words(
    """about against behind for from how in on through to towards what when where who why with
    within"""
)
_UNDECIDED = re.compile(r"\((?:pending|open|tbd|deferred|draft|to be \w+)\)")
_BREAK = re.compile(r"[,;:&/()–—]|\s-\s|\band\b|\bor\b")

# A part of a record that says why, what else, or what follows.
_ELSE = re.compile(
    r"""\b(?:consequences?|drivers?|options?|alternatives?|pros|cons|advantages|disadvantages
    |rationales?|reasons?|reasoning|why|contexts?|backgrounds?|motivations?|risks?|questions?
    |references?|links?|related|further\s+reading|more\s+information|validation|confirmation
    |compliance|next\s+steps?|action\s+items?|to-?dos?|follow-?ups?|rejected|status|examples?
    |trade-?offs?|drawbacks?|benefits?|implications?|impacts?|notes?|contents|changelog|history
    |stakeholders|deciders|participants|attendees|authors?|owners?|dates?|non-?goals|appendix
    |glossary|implementation\s+(?:plan|steps|notes)|superseded|deprecated|obsolete|withdrawn|deferred
    |problems?|blockers?|findings|evidence|what\s+changed|success\s+criteria)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A sentence that leads to a list of grounds or of what was not taken: "for these reasons:".
_GROUNDS = re.compile(
    r"\b(?:advantages?|alternatives|benefits|considerations?|considered|cons|consequences|criteria"
    r"|downsides|drawbacks|drivers?|driven|examples?|factors?|format|implications|motivations?|options"
    r"|pros|questions|rationale|reasons?|rejected|risks|trade-?offs?|upsides|why)\b",
    re.IGNORECASE,
)
_DATED = re.compile(r"\W*(?:v?\d|[A-Z]{1,6}-?\d)")
_ALWAYS = _words("why related superseded deprecated withdrawn obsolete")
# What may follow such a word when it is what the title is about.
_SUPPLEMENT = re.compile(
    r"\s*(?:[^\w\s'’-]|\s-|$)|\s+(?:and|but|considered|discussed|explored|evaluated|for|from|in|not"
    r"|of|or|that|to|we|with)\b",
    re.IGNORECASE,
)
_ASIDE = re.compile(
    r"""(?:\w+\s+)?(?:rationale|reasons?|reasoning|consequences?|implications?)|why(?:\s.+)?
    |(?:status|dates?|contexts?|background|problem|alternatives?|options?|option\s+\w{1,2}|pros|cons
    |examples?|risks?|impacts?|trade-?offs?|deciders|decided\s+by|authors?|owners?|stakeholders
    |participants|superseded\s+by|supersedes)(?:\s+(?:considered|rejected))?""",
    re.IGNORECASE | re.VERBOSE,
)
_CHOSEN = re.compile(r"\b(?:chosen|selected|preferred)\b", re.IGNORECASE)
# What may stand beside a marker in the title of a document that is a list of decisions.
_BESIDE = _words(
    """a all and architecture architectural core design engineering final guiding key locked log
    made main of our outcome outcomes product project records summary taken team technical the
    this"""
)

_LABEL = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1).)+?)\1\s*:?\s*$")
_BOLD_FIELD = re.compile(
    r"(\*\*|__)(?P<name>[^*_:]{1,40}?)(?::\s*\1|\1\s*:)\s*(?P<text>.+)", re.DOTALL
)
_PLAIN_FIELD = re.compile(r"(?P<name>[^\W\d_][\w -]{0,30}?)(?::| —)\s+(?P<text>.+)", re.DOTALL)
_CALLOUT = re.compile(r"\[!(?P<name>[^\]]+)\][-+]?[ \t]*(?P<title>.*)")

_BOX = re.compile(r"`?\[[ xX✓✔]\]`?\s+")
_EMBED = re.compile(r"!\[\[[^\[\]]*\]\]")
_WIKILINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_IMAGE = re.compile(r"!\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])")
_LINK = re.compile(r"\[([^\[\]]+)\](?:\((?!\w+://|mailto:)[^()]*\)|\[[^\[\]]*\])")
_ANY_LINK = re.compile(
    r"!?\[\[[^\[\]]*\]\]|!?\[[^\[\]]*\](?:\([^()]*\)|\[[^\[\]]*\])|<?\w+://[^\s>]+>?"
)
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_BLOCK_ID = re.compile(r"\s\^[\w-]+$")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")

_NOTHING = re.compile(
    r"""(?:(?:tbd|tba|tbc|todo|fixme|wip)\b.*|none(?:\ (?:yet|so\ far|made|taken))?|n/?a|nil|nothing
    |nothing\ (?:yet|so\ far)|not\ applicable|to\ be\ (?:decided|determined|defined|done|added)
    |see\ (?:the\ )?front\ ?matter.*|unknown|pending|etc|same\ as\ above)?""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_FILL_IN = re.compile(r"\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|~~.+~~")
_BRACES = re.compile(r"\{[^{}]*\s[^{}]*\}")
_FOR_AND_AGAINST = re.compile(r"(?:good|bad|neutral),?\s+because\b", re.IGNORECASE)
_TAKEN_BACK = re.compile(
    r"\((?:superseded|deprecated|withdrawn|obsolete|reverted)\b", re.IGNORECASE
)
_COMMAND = re.compile(
    r"""\$\ |(?:git\ (?:clone|checkout|push|pull|commit|add|rebase)|npm\ (?:install|run|ci|i)
    |pip\ install|docker\ (?:run|build|compose)|kubectl|sudo|curl\ -|cd\ |rm\ -|mkdir\ )""",
    re.VERBOSE,
)
_EDGES = " \t*_~.…:;!()-–—"


class Markers:
    """The words that a heading of decisions holds."""

    def __init__(self, words: Sequence[str]) -> None:
        self._pattern = re.compile(
            "|".join(_spelt(word) for word in words if word.strip()) or "(?!)"
        )

    def occur(self, title: str) -> bool:
        """Say whether any marker stands in `title` as a whole word."""
        return bool(self._pattern.search(title.casefold()))

    def open(self, title: str) -> bool:
        """Say whether a heading with this (plain) title announces what was decided."""
        folded = _QUOTED.sub(" ", title.casefold())
        if _UNDECIDED.search(folded) or folded.endswith("?"):
            return False
        return any(_is_head(folded, found) for found in self._pattern.finditer(folded))

    def alone(self, title: str) -> bool:
        """Say whether `title` is but a marker, with a word like "key" or "our" beside it."""
        rest = self._pattern.sub(" ", title.casefold())
        return self.open(title) and set(re.findall(r"[^\W\d_]+", rest)) <= _BESIDE

    def name(self, field: str) -> bool:
        """Say whether `field` is the name of a field that holds a decision."""
        return len(field.split()) <= 3 and self.alone(field)


def speaks_of_else(title: str) -> bool:
    """Say whether a heading or label is for reasons, options, consequences and so on.

    "Status" is, "Status codes" is not.
    """
    return not _CHOSEN.search(title) and any(
        _SUPPLEMENT.match(title, found.end()) or found[0].lower() in _ALWAYS
        for found in _ELSE.finditer(title)
    )


def is_aside(field: str) -> bool:
    """Say whether the field of a bullet ("Rationale: …") is about a decision, and none itself."""
    return bool(_ASIDE.fullmatch(field))


def is_dated(title: str) -> bool:
    """Say whether a heading names an entry of a log: it begins with a date, number or id."""
    return bool(_DATED.match(title))


def leads_away(sentence: str) -> bool:
    """Say whether a sentence before a list announces something else than decisions."""
    last = re.split(r"[.!?]\s", sentence)[-1].rstrip(" *_")
    return last.endswith(":") and bool(_GROUNDS.search(last))


def label(line: str) -> str:
    """Return the text of a line that is only a bold label, or nothing."""
    found = _LABEL.fullmatch(line.strip())
    return found[2].strip() if found else ""


def field(text: str) -> tuple[str, str] | None:
    """Split ``**Name:** text`` or ``Name: text``."""
    found = _BOLD_FIELD.match(text) or _PLAIN_FIELD.match(text)
    return (found["name"].strip(), found["text"].strip()) if found else None


def paragraph_fields(lines: Sequence[str]) -> Iterator[str]:
    """Cut a paragraph at the lines that begin with a bold field name; the rest is left out."""
    current: list[str] = []
    for line in lines:
        if line.startswith(("**", "__")):
            if current:
                yield " ".join(current)
            current = [line] if _BOLD_FIELD.match(line) else []
        elif current:
            current.append(line)
    if current:
        yield " ".join(current)


def callout(line: str) -> tuple[str, str] | None:
    """Split ``[!decision] Title`` into its kind and its title."""
    found = _CALLOUT.match(line)
    return (found["name"].strip(), found["title"].strip()) if found else None


def tidy(text: str) -> str:
    """Return a bullet's text without its box, block id, embeds and links into its own folder."""
    text = _BLOCK_ID.sub(
        "", _EMBED.sub("", _BOX.sub("", text, count=1) if _BOX.match(text) else text)
    )
    for pattern in (_WIKILINK, _IMAGE, _LINK):
        text = pattern.sub(r"\1", text)
    return " ".join(_BREAK_TAG.sub(" ", text).split())


def is_placeholder(text: str) -> bool:
    """Say whether a bullet decides nothing: "TBD", a form's blank, bare links, a question."""
    bare = (_BOX.sub("", text, count=1) if _BOX.match(text) else text).strip()
    core = bare.strip(_EDGES)
    return bool(
        _NOTHING.fullmatch(core)
        or _FILL_IN.fullmatch(bare.strip(" *_."))
        or _BRACES.search(_CODE.sub("", bare))
        or _FOR_AND_AGAINST.match(core)
        or _TAKEN_BACK.search(bare)
        or _COMMAND.match(bare)
        or bare.endswith("?")
        or label(bare).endswith(":")
        or _CODE.fullmatch(bare.rstrip("."))
        or not re.search(r"\w", _ANY_LINK.sub("", bare))
    )


def _spelt(marker: str) -> str:
    """Return the pattern of a marker as a whole word, in the singular and the plural."""
    words = r"\s+".join(re.escape(word) for word in marker.casefold().split())
    if re.search(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff]", marker):
        return words  # these scripts put no space between words
    singular = words[:-1] if words.endswith("s") and len(words) > 3 else words
    return rf"(?<![\w-]){singular}(?:s|es)?(?![\w-])"


def _is_head(title: str, found: re.Match[str]) -> bool:
    """Say whether the marker is what the title is about, and nothing around it takes it back."""
    before = _BREAK.split(title[: found.start()])[-1].split()
    after = re.match(r"\s+([^\W\d_]+)(?:\s+([^\W\d_]+))?", title[found.end() :])
    following = after[1] if after else ""
    if set(before) & (_NOT_BEFORE | _NOT_TOWARDS) or following in _NOT_AFTER_MANY:
        return False
    if not following or found[0].endswith("s"):
        return True
    # "Decision record" is one noun; what follows it counts in its place.
    if following in ("log", "record", "outcome") and after and after[2]:
        return after[2] in _AFTER_ONE
    return following in _AFTER_ONE or bool(_BREAK.match(title[found.end() :].lstrip()))
