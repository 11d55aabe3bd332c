"""What a single bullet or line of a record is: a label, a field, a decision or none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# A bullet that goes on about the sentence above its list: "This avoids a second copy."
_EXPLAINS = re.compile(
    r"this\s+(?:will\s+)?(?:also\s+|then\s+)?(?:mean|avoid|allow|enable|make|give|let|ensure|reduce"
    r"|prevent|help|save)s?\b",
    re.IGNORECASE,
)
# One who speaks, in minutes: "JB: I agree".
_SPEAKER = re.compile(r"([A-Z]{2,4}):\s")
_NEXT_STEP = re.compile(r"\b(?:back|go|return(?:ing)?|skip)\s+to\s+step\s+\d", re.IGNORECASE)
_ASIDE = re.compile(
    r"""(?:\w+\s+)?(?:rationale|reasons?|reasoning|consequences?|implications?|justification)
    |why(?:\s.+)?|when\s+to\s.+
    |(?:status|dates?|contexts?|background|problem|alternatives?|options?|option\s+\w{1,2}|pros|cons
    |examples?|risks?|impacts?|trade-?offs?|deciders|decided\s+by|authors?|owners?|stakeholders
    |strengths?|weaknesses|efforts?|future(?:\s+\w+)?|notes?|use\s+cases|benefits?|drawbacks?|limitations?|references?
    |participants|superseded\s+by|supersedes)(?:\s+(?:considered|rejected))?""",
    re.IGNORECASE | re.VERBOSE,
)
_LABEL = re.compile(r"(\*\*|__)(?=\S)((?:(?!\1).)+?)\1(\s*\([^()]*\))?\s*:?\s*$")
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
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_NOTHING = re.compile(
    r"""(?:(?:tbd|tba|tbc|todo|fixme|wip)\b.*|none(?:\ (?:yet|so\ far|made|taken))?|n/?a|nil|nothing
    |nothing\ (?:yet|so\ far)|not\ applicable|to\ be\ (?:decided|determined|defined|done|added)
    |see\ (?:the\ )?(?:front\ ?matter.*|inline|above|below)|unknown|pending|etc
    |same\ as\ above|(?:decision|constraint|principle)\ \#?\d+)?""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_FILL_IN = re.compile(r"\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|~~.+~~")
_BLANK = re.compile(r"\[[^\[\]]*\s[^\[\]]*\]|<[^<>]*\s[^<>]*>")
_BRACES = re.compile(r"\{[^{}]*\s[^{}]*\}")
_FOR_AND_AGAINST = re.compile(
    r"(?:❌\W*)?(?:good|bad|neutral|wrong)(?::|,?\s+because\b)|(?:why|whether|for\s+example)\b"
    r"|examples?\b.*:$",
    re.IGNORECASE,
)
_SIGN = re.compile(r"(?:`[+-]`|\([+−–-]\))\s")
_TAKEN_BACK = re.compile(
    r"^(?:\W*\w+){0,4}\W*\b(?:not\s+yet\s+(?:clear|decided|known)|undecided)\b"
    r"|(?:\(|\bstatus[*_]*:[*_\s]*)(?:superseded|deprecated|rejected|withdrawn|obsolete|reverted)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?[*_]*(?:\s*\([^()]*\))?$")
# An entry of an index: "[ADR-7](7-cache.md) - Cache answers".
_ENTRY = re.compile(r"\[[^\[\]]*(?:\d[^\[\]]*\]\([^()]*|\]\([^()]*\d[^()]*)\.mdx?\)\s*[-–—:]\s")
_RELATES = re.compile(
    r"(?:relates?|related|linked)\s+to\b|supersede[sd]\b(?:\s+by\b)?|(?:refines|amends|refined|amended)\b"
    r"(?:\s+by\b)?",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"""\$\ |(?:git\ (?:clone|checkout|push|pull|commit|add|rebase)|npm\ (?:install|run|ci|i)
    |pip\ install|docker\ (?:run|build|compose)|kubectl|sudo|curl\ -|cd\ |rm\ -|mkdir\ )""",
    re.VERBOSE,
)
_EDGES = " \t*_~.…:;!()-–—"
_CHOICE = re.compile(r"(?:chosen|selected|preferred)\b", re.IGNORECASE)


def label(line: str) -> str:
    """Return the text of a line that is only a bold label, with what it has in brackets."""
    found = _LABEL.fullmatch(line.strip())
    return (found[2] + (found[3] or "")).strip() if found else ""


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


def is_aside(field: str) -> bool:
    """Say whether the field of a bullet ("Rationale: …") is about a decision, and none itself."""
    return bool(_ASIDE.fullmatch(field.strip(" *_:")))


def is_choice(field: str) -> bool:
    """Say whether a field ("Chosen alternative") names what was taken of several."""
    return len(field.split()) <= 3 and bool(_CHOICE.match(field))


def defines(bullet: str) -> bool:
    """Say whether a bullet tells what a piece of code is: "`name` is …"."""
    return bool(_CODE.match(bullet.lstrip("*_")))


def explains(bullet: str) -> bool:
    """Say whether the first bullet of a list tells what the sentence above it is good for."""
    return bool(_EXPLAINS.match(bullet))


def narrate(bullets: Sequence[str]) -> bool:
    """Say whether a list tells what goes on: steps that name each other, or who said what.

    In a talk of several speakers one has two turns.
    """
    turns = [found[1] for bullet in bullets if (found := _SPEAKER.match(bullet))]
    return 1 < len(set(turns)) < len(turns) or any(map(_NEXT_STEP.search, bullets))


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
        or _FOR_AND_AGAINST.match(bare.lstrip(_EDGES))
        or _SIGN.match(bare)
        or _is_blank(field(bare))
        or _TAKEN_BACK.search(bare)
        or _COMMAND.match(bare)
        or _ENTRY.match(bare)
        or _EXPLAINS.match(bare)
        or _ASKS.search(bare)
        or label(bare).endswith(":")
        or not _CODE.sub("", bare.rstrip("."), count=1)
        or not re.search(r"\w", _ANY_LINK.sub("", _RELATES.sub("", bare, count=1)))
    )


def _is_blank(field: tuple[str, str] | None) -> bool:
    return field is not None and bool(_BLANK.fullmatch(field[1].rstrip(" .")))
