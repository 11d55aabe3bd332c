"""The words of headings and sentences that tell decisions from what stands around them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Beside a marker, these say that a heading is about something else than what was decided.
_NOT_BEFORE = _words(
    """related open pending deferred postponed future previous past rejected superseded unresolved
    outstanding upcoming undecided no non missing possible potential alternative candidate linked
    referenced parked see old archive archived show review record recording make making write
    writing capture capturing manage managing merge deduplicate consolidate schedule example
    examples sample draft drafts kinds types categories levels effect effects impact impacts
    implications foreign unique check cardinality discuss document documenting proposed facilitate
    identify identifying define defining understand understanding facteurs factores criteres
    criterios processus proceso prise toma arbre arbol need needs awaiting"""
)
# A singular marker before another noun only describes it ("decision drivers"); these may follow.
_AFTER_ONE = _words(
    """a about an as at by for from in is log logs made of on outcome outcomes record so
    statement summary taken that the this we with"""
)
_NOT_AFTER_MANY = _words(
    """needed pending check checklist compliance
    deferred required to not tbd open still yet via are were have must should can matter
    response validation api documentation format guide language manual overview reference spec
    specification syntax"""
)
# "Guidelines for good decisions" decide nothing themselves; a log of decisions does.
_NOT_TOWARDS = _words(
    """about after against before behind during for from how in on through to towards upon what when
    where who why with within without"""
)
_UNDECIDED = re.compile(r"\((?:pending|open|tbd|deferred|draft|to be \w+)\)")
_BREAK = re.compile(r"[,;:&/()–—]|\s-\s|\band\b|\bor\b")
# A heading that presents a file ("Decision log (`log.md`)"), a test in words ("Scenario: …"), a
# problem ("Problem: slow decisions"), or whatever else there is.
_OTHER_MATTER = re.compile(
    r"\w\.(?:md|mdx|txt|rst|ya?ml|json|toml)\b|\b(?:notes|details|caveats)\s*/|/\s*(?:notes|caveats)\b"
    r"|^(?:(?:alternative|option|problem|question|risk)(?:\s+\w+)?"
    r"|(?:example|feature|rule|scenario)(?:\s+outline)?):"
)

# A part of a record that says why, what else, or what follows.
_ELSE = re.compile(
    r"""\b(?:consequences?|drivers?|options?|alternatives?|pros|cons|advantages|disadvantages
    |rationales?|reasons?|reasoning|why|contexts?|backgrounds?|motivations?|risks?|questions?
    |references?|links?|related|further\s+reading|more\s+information|agenda|next\s+steps?
    |action\s+items?|to-?dos?|follow-?ups?|rejected|status|examples?
    |trade-?offs?|drawbacks?|benefits?|implications?|impacts?|notes?|contents|changelog|history
    |stakeholders|deciders|participants|attendees|authors?|owners?|dates?|non-?goals|appendix
    |glossary|implementation\s+(?:plan|steps|notes)|superseded|deprecated|obsolete|withdrawn|deferred
    |problems?|blockers?|(?<!research\s)findings|evidence|what\s+changed|success\s+criteria|justifications?
    |discretion|prerequisites?|expertise|traces|traceability|out\s+of\s+scope
    # "Output validation" is a topic.
    |(?<![a-z]\s)(?:scenarios?|use\s+cases?|validation|confirmation|compliance))\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Within a section, a part for the work that the decision makes.
_WORK = re.compile(
    r"""\b(?:plans?|rollout|transition|(?:implementation|migration)\s+(?:sketch|steps|plan)
    |(?:changed|modified|affected)\s+files|files(?:\s+to\s+be)?\s+(?:changed|modified|updated)
    |future\s+\w+|considerations?|flow|^process
    |^(?:milestone|phase|sprint|step|task|wave)\s+\w+)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A sentence that leads to a list of grounds or of what was not taken: "for these reasons:".
_GROUNDS = re.compile(
    r"""\b(?:advantages?|alternatives|benefits|concerns|considerations?|considered|considering|cons
    |consequences|criteria|downsides|drawbacks|decision\s+drivers?|driven|e\.g|examples?|factors?|format
    |implications|influenced|instructions|motivations?|needs?\s+to\s+be\s+(?:decided|made|taken)
    |one\s+of|(?<!chosen\s)options(?!\s+(?:are|were)\s+(?:chosen|selected))|possibilit(?:y|ies)|(?:possible|potential)\s+(?:approaches|resolutions|solutions)
    |pros|questions|rationale|reasons?(?!\s+codes?\b)|rejected|risks|scenarios|situations|steps?\s+\d+|steps
    |timeline|trade-?offs?|upsides|why|would\s+(?:have|need)\s+to)\b
    |^(?!we\s+(?:will|shall)\b).*\b(?:procedure\b|process\b|workflow(?=(?:\W+\w+){0,4}\W*$))
    # What a thing is made of,
    |\b(?:arguments|attributes|columns|fields|headers|keys|key\s+to|legend|parameters)\b
    # and what only goes on about the sentence before: "This prevents:", "where:".
    |^(?:results?|(?:migration|rollout)\s+strategy):$
    |\b(?:when|if|in\s+order\s+to|(?:due|thanks)\s+to):$|^(?:currently|(?:however|but)(?!,?\s+we\b)|to\s+note|note)\b
    |^(?:the\s+)?(?:current|previous)\b(?!.*\b(?:will|shall|must|should)\b)
    |^this\s+\w+\s+(?:allows|enables|gives|lets)\b
    |^(?!chosen\s|because\s).*\bbecause\b
    |\b(?:(?:might|could)\s+be|will\s+(?:allow|enable|let))\b[^,;.]*:$
    |^there\s+(?:are|were)\s+(?:several|many|some|various|multiple)\b
    |^(?!it:)(?:where|(?:this|it|which)(?:\s+(?!is\b|means\b|are\b|includes?\b|must\b|shall\b|will\b)\w+){0,4}):$
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A sentence without which its bullets say the opposite ("The host must not:") or say too much.
_LIMITS = re.compile(
    r"""(?:(?:^(?:\w+\s+)?|\b(?:must|should|shall|will|do|does|can|may)\s+)\W*not\b(?!\s+only\b)
    |\b(?:cannot|never|(?:ca|do|does|should|wo)n['’]t)\b(?!(?:\W+\w+){4}))[^,;:()]*(?:,\s+including)?:$
    |^\W*(?:avoid|do\s+not|don['’]ts?|forbidden|never|not\s+allowed|prohibited)\W*$
    |\b(?:when|if)\s+(?:(?:all|any|one)\s+of\s+the\s+following|\W*\w*\W*conditions)\b[^,;]*:$
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DATED = re.compile(r"\W*(?:v?\d|[A-Z]{1,6}-?\d)")
_ALWAYS = _words("why related rejected superseded deprecated withdrawn obsolete deferred")
_BRACKETS = re.compile(r"\([^()]*\)")
# What may follow such a word when it is what the title is about.
_SUPPLEMENT = re.compile(
    r"\s*(?:[^\w\s'’-]|\s-|$)|\s+(?:and|but|considered|discussed|explored|evaluated|for|from|in|not"
    r"|of|or|that|to|we|with)\b",
    re.IGNORECASE,
)
_SENTENCE = 14  # a heading of more words tells something, and does not announce a list
_ACCENTS = re.compile("[\u0300-\u036f]")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_CALL = re.compile(r"(?<=\w)\([^()]*\)")  # what a function takes in a heading of its name
_CHOSEN = re.compile(r"\b(?:chosen|selected|preferred)\b", re.IGNORECASE)
# What may stand beside a marker in the title of a document that is a list of decisions.
_BESIDE = _words(
    """a all and architecture architectural captured core current design engineering existing final
    guiding key locked log made main new of our outcome outcomes product project records summary
    system taken team technical the this"""
)


class Markers:
    """The words that a heading of decisions holds."""

    def __init__(self, words: Sequence[str]) -> None:
        self._pattern = re.compile(
            "|".join(_spelt(word) for word in words if word.strip()) or "(?!)"
        )

    def occur(self, title: str) -> bool:
        """Say whether any marker stands in `title` as a whole word."""
        return bool(self._pattern.search(_folded(title)))

    def open(self, title: str) -> bool:
        """Say whether a heading with this (plain) title announces what was decided."""
        folded = _CALL.sub(" ", _QUOTED.sub(" ", _folded(title)))
        if _UNDECIDED.search(folded) or _OTHER_MATTER.search(folded) or folded.endswith("?"):
            return False
        if len(folded.split()) > _SENTENCE:
            return False
        return any(_is_head(folded, found) for found in self._pattern.finditer(folded))

    def announce(self, line: str) -> bool:
        """Say whether a line before a list ("UI principles:") is but a name for what it holds."""
        name = _folded(line).rstrip(" :")
        is_last = any(found.end() == len(name) for found in self._pattern.finditer(name))
        return is_last and line.rstrip()[-1:] == ":" and len(name.split()) <= 4 and self.open(name)

    def alone(self, title: str) -> bool:
        """Say whether `title` is but a marker, with a word like "key" or "our" beside it."""
        rest = self._pattern.sub(" ", _folded(title))
        return self.open(title) and set(re.findall(r"[^\W\d_]+", rest)) <= _BESIDE

    def gather(self, title: str) -> bool:
        """Say whether all parts of a document so titled hold what it says ("Principles").

        One that is titled "Decisions" has parts on the form of its records as well.
        """
        return self.alone(title) and "decision" not in _folded(title)

    def name(self, field: str) -> bool:
        """Say whether `field` is the name of a field that holds a decision."""
        bare = _BRACKETS.sub("", field)
        return len(bare.split()) <= 3 and self.alone(bare)


def _folded(text: str) -> str:
    """Return a text in lower case and without accents: "Décision" is a decision."""
    if text.isascii():
        return text.casefold()
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", bare).casefold()


def speaks_of_else(title: str) -> bool:
    """Say whether a heading or label is for reasons, options, consequences and so on.

    "Status" is, "Status codes" is not. What stands in brackets only counts when it takes the rest
    back: "Cache (rejected)", but not "Cache (for context)".
    """
    folded = _folded(title)
    plain = _BRACKETS.sub(lambda found: " " * len(found[0]), folded)
    return not _CHOSEN.search(folded) and any(
        _SUPPLEMENT.match(plain, found.end()) or found[0] in _ALWAYS
        for found in _ELSE.finditer(folded)
        if plain[found.start()] != " " or found[0] in _ALWAYS
    )


def is_else(line: str) -> bool:
    """Say whether a line is but such a word ("Rationale"), a title without the mark of one."""
    return len(line.split()) <= 2 and line[-1:].isalpha() and speaks_of_else(line)


def speaks_of_work(title: str) -> bool:
    """Say whether a heading within a section is for carrying the decision out, or for later."""
    return any(_SUPPLEMENT.match(title, found.end()) for found in _WORK.finditer(title))


def is_dated(title: str) -> bool:
    """Say whether a heading names an entry of a log: it begins with a date, number or id."""
    return bool(_DATED.match(title))


def leads_away(sentence: str) -> bool:
    """Say whether a sentence before a list announces something else than decisions."""
    last = _BRACKETS.sub("", last_of(sentence))
    return last[-1:] not in ("", *".!?") and bool(_GROUNDS.search(last))


def limit(sentence: str) -> str:
    """Return the words right before a list that deny its bullets or make them conditions."""
    last = last_of(sentence)
    if not _LIMITS.search(last):
        return ""
    # What is bold as a whole has lost its last mark.
    return (last.replace("**", "", 1) if last.count("**") % 2 else last).rstrip(":") + ":"


def last_of(sentences: str) -> str:
    """Return the last sentence of a paragraph, without the marks of emphasis around its end."""
    return re.split(r"[.!?][*_]*\s", sentences)[-1].rstrip(" *_")


def _spelt(marker: str) -> str:
    """Return the pattern of a marker as a whole word, in the singular and the plural."""
    words = r"\s+".join(re.escape(word) for word in _folded(marker).split())
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
