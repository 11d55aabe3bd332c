"""What persons state in so many words that will hold beyond their conversation, without a model.

Only whole sentences count that say so themselves (see `kinds`): what somebody prefers, what is to
be done each time, what was decided, what is so. Left out are questions, guesses, quotes, code, what
holds for the moment, and every word of an assistant or a tool. A sentence is kept word for word,
but for its speaker's name, which takes the place of "I" or stands before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from memcli.text import cues, kinds
from memcli.text.findings import is_question
from memcli.text.statements import statements
from memcli.text.turns import PERSON, TOOL, UNSAID, label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memcli.text.statements import Statement
    from memcli.text.turns import Message

_SHORTEST, _LONGEST = 12, 300  # characters
_FEWEST_WORDS = 3
# A turn that nobody typed: a brief for a program, a log, a document.
_PASTED_CHARS, _PASTED_LINES = 4_000, 40

# The first that fits says what a sentence is.
_KINDS = (
    ("instruction", kinds.INSTRUCTION),
    ("preference", kinds.PREFERENCE),
    ("own", kinds.OWN),
    ("fact", kinds.DECISION),
    ("fact", kinds.CONSTRAINT),
    ("fact", kinds.SETTLED),
)

_ASKING = re.compile(r"(?:ですか|ますか|でしょうか|吗|嗎|呢|까요|나요)[。．.]?$")
_QUOTED = re.compile(r"[\"“„][^\"“”„]{8,}[\"”“]|«[^«»]{8,}»|「[^「」]{6,}」")
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LEAD = re.compile(
    r"(?:(?:yes|yep|no|nope|right|good|great|sure|fine|exactly|then|oh|ah|hm+|well|btw"
    r"|by the way)[,.!:;]+\s+"
    r"|(?:ok(?:ay)?|so|and|also|but)[,.!:;]*\s+"
    r"|(?:please )?(?:(?:remember|note|keep in mind)(?: that|:)"
    r"|(?:for the record|fyi|for your information)\b[,:]*(?: that)?)\s+)+",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"I(?P<be>'m| am)?"
    r"(?P<how>(?: (?:always|really|never|usually|generally|strongly|still|mostly|only|also))*)"
    r"(?P<not> (?:don't|do not))? (?P<rest>.+)",
    re.DOTALL,
)
_OTHER_PERSON = re.compile(
    r"\b(?:I|me|my|mine|myself|we|us|our|ours|you|your|yours)\b", re.IGNORECASE
)
_AUXILIARY = frozenset(
    (
        "will",
        "would",
        "can",
        "cannot",
        "can't",
        "could",
        "should",
        "must",
        "may",
        "had",
        "have",
        "am",
        "was",
    )
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|my|me)\b|\b(?:ich|mein\w*|je|j'|yo|prefiero|odio|eu|prefiro|preferisco|ik|wolę)\b"
    r"|\b(?:я|мо[йяёи])\b|предпочитаю|我|私",
    re.IGNORECASE,
)


class Stated(NamedTuple):
    """A sentence worth remembering."""

    text: str
    kind: str  # fact, preference or instruction
    said: Statement


def stated(messages: Sequence[Message], *, is_shared: bool) -> list[Stated]:
    """What persons state, in their order; `is_shared` says that several are named.

    A preference, and what a person says of themselves, names its speaker where there is a name; an
    instruction does so in a shared conversation. Text that nobody says counts as a person's own
    notes.
    """
    found = []
    for one in statements(messages):
        kind = _kind(one, messages[one.turn])
        if kind:
            text = _worded(one, kind, messages[one.turn], is_shared=is_shared)
            found.append(Stated(text, "fact" if kind == "own" else kind, one))
    return found


def claimed(messages: Sequence[Message]) -> list[str]:
    """For each turn what it claims: no question, no guess, no quotation, no code."""
    found: list[list[str]] = [[] for _ in messages]
    for one in statements(messages):
        is_output = one.role == TOOL and one.kind == "line"
        is_prose = one.kind in ("sentence", "item", "row")
        if (is_output or is_prose) and not is_asking(one.text) and not kinds.is_guess(one.text):
            found[one.turn].append(_QUOTED.sub("", one.text))
    return ["\n".join(texts) for texts in found]


def is_asking(text: str) -> bool:
    """Whether a sentence asks, also in languages that need no question mark for it."""
    return is_question(text) or bool(_ASKING.search(text))


def attributed(text: str, name: str) -> str:
    """A sentence with its speaker's name: "I prefer tabs" as "Anna prefers tabs", or behind it."""
    return _third_person(text, name) or f"{name}: {text}"


def _kind(one: Statement, message: Message) -> str:
    if one.role not in (PERSON, UNSAID) or one.kind not in ("sentence", "item") or one.box:
        return ""
    text = one.text
    if len(text) > _LONGEST or (text.isascii() and len(text) < _SHORTEST):
        return ""
    if text.isascii() and len(text.split()) < _FEWEST_WORDS:
        return ""
    if message.role == PERSON and _is_pasted(message.text):
        return ""
    if text.count(": ") > 1 and len(text) > _LONGEST // 2:
        return ""  # the line of a log, or several run together
    if is_asking(text) or (one.heading and cues.OPEN_TITLE.is_in(one.heading)):
        return ""
    bare = _CODE.sub("`x`", _QUOTED.sub("…", text)).strip("*_ ")
    if not kinds.is_sure(bare) or cues.UNDECIDED.is_in(bare):
        return ""
    told = _without_lead(bare)
    if kinds.is_vague(told) or text.rstrip().endswith((":", "：", "…")):
        return ""
    return next((kind for kind, cue in _KINDS if cue.is_in(bare) or cue.is_in(told)), "")


def _is_pasted(text: str) -> bool:
    return len(text) > _PASTED_CHARS or text.count("\n") > _PASTED_LINES


def _without_lead(text: str) -> str:
    found = _LEAD.match(text)
    rest = text[found.end() :] if found else text
    return rest[:1].upper() + rest[1:] if found else text


def _worded(one: Statement, kind: str, message: Message, *, is_shared: bool) -> str:
    told = _without_lead(one.text)
    if message.role != PERSON or not message.name:
        return told
    is_personal = kind in ("preference", "own") and bool(_FIRST_PERSON.search(told))
    if is_personal or (is_shared and kind != "fact"):
        return attributed(told, label(message).partition("(")[2].rstrip(")"))
    return told


def _third_person(text: str, name: str) -> str:
    found = _FIRST.fullmatch(text.replace("’", "'"))
    if not found or _OTHER_PERSON.search(found["rest"]):
        return ""
    how, rest = found["how"], found["rest"]
    if found["be"]:
        return f"{name} is{how} {rest}"
    if found["not"]:
        return f"{name}{how} does not {rest}"
    verb, space, tail = rest.partition(" ")
    if verb.lower() in _AUXILIARY or not verb.isalpha():
        return ""
    ending = "es" if verb.endswith(("s", "sh", "ch", "x", "z")) else "s"
    return f"{name}{how} {verb}{ending}{space}{tail}"
