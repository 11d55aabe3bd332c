"""What a daily log remarks: its sentences and list items, where they stand, and what they carry.

A remark is what one can quote alone. A sentence that leans on the one before it ("It failed
again") goes with that one, and an error message in a code block with the sentence that leads to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from memcli.text.blocks import scan
from memcli.text.daily import parse as parse_log
from memcli.text.dates import LOG_HEADING
from memcli.text.decode import split_lines
from memcli.text.facts import clean_text
from memcli.text.items import item_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from memcli.text.blocks import Block

LONGEST = 260  # characters of a remark; what is longer is cut at a word
_SHORTEST = 24  # of a sentence that stands alone

# What a remark can carry, and the words that show it, for text in lower case.
SIGNS = {
    "decision": re.compile(
        r"\b(?:decision|decided?|agreed|accepted|rejected|approved|chosen|we (?:take|chose"
        r"|choose|drop|keep|refuse|will|now)|rule:|conclusion|recorded as|instead of|must|never"
        r"|from now on|d[ée]cision|d[ée]cid[ée]|entschieden|entscheidung|beschlossen|decidimos"
        r"|decidido)\b"
        r"|вывод|решил|решение|结论|决定|決定|ことにした|결정|निर्णय|القرار|الاقتراح|ข้อเสนอ"
    ),
    "error": re.compile(
        r"\b(?:incident|inc-\d+|outage|errors?|fail(?:s|ed|ures?|ing)?|crash\w*|killed|lost|loses"
        r"|losing|expired|time[sd]? ?out|wrong|broken?|bugs?|regression|leaks?|stalled|offline|oom"
        r"|flaky|storm|down for|run out|corrupt\w*|deadlock|erreurs?|pannes?|fehler\w*"
        r"|ausfall|rot)\b"
        r"|ошибк|сбо[йя]|错误|故障|障害|エラー|오류|त्रुटि|خطأ|كاذبة|ไฟดับ"
    ),
    "fix": re.compile(
        r"\b(?:fix(?:ed|es)?|found it|root cause|caused? by|because|solved|repaired|restored"
        r"|removed|installed|reproduce[sd]?|merged|released?|shipped|done|deployed|migrated"
        r"|works again"
        r"|(?:0|no|zero) (?:failures|errors|gaps?)|nothing lost|refused|behoben|corrig[ée]"
        r"|termin[ée])\b"
        r"|исправл|修复|修正|対策|수정"
    ),
    "change": re.compile(
        r"\b(?:no longer|any more|is now|are now|raised to|lowered to|replaced|renamed|new number"
        r"|goes? from|went from|becomes?|retired|switched|moved to|first version|limit raised"
        r"|was \d|depuis|désormais|seit|jetzt)\b|теперь|现在|以降"
    ),
    "figure": re.compile(r"\d(?:[\d.,:]*\d)?\s?(?:%|[a-zµ°]{1,9}\b|[^\x00-\x7f])"),
}

_SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\b[eE]\.g\.)(?<!\bi\.e\.)[\"”’')\]*]*\s+"
    r"(?=[\"“‘'(\[`*]*[A-ZÀ-ÞА-ЯЁ0-9`])|(?<=[。！？])\s*"
)
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff、。，！？：；（）]")
_LEANING = re.compile(
    r"(?:it|its|they|them|their|this|that|these|those|he|she|his|her|which|but|and|so|both|then"
    r"|therefore|hence|afterwards|on top|without (?:it|them)|not only|what|who|else|otherwise)\b",
    re.IGNORECASE,
)
_POINTING = re.compile(r"\b(?:above|below)\W*$", re.IGNORECASE)
_COMMIT = re.compile(r"(?P<commit>[0-9a-f]{7,40})\s+(?P<subject>\S.*)$")
_LOUD = re.compile(r"error|fail|fatal|exception|expired|refused|denied|panic|assert", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark; its lines are those of its file."""

    path: str
    day: str  # ISO
    stage: str
    start_line: int
    end_line: int
    text: str
    signs: frozenset[str]
    is_vague: bool  # leans on something before it, asks, or says next to nothing
    is_commit: bool
    is_lead: bool  # the first of its entry
    digest: str  # of its lines, see `cite_hash`


def cite_hash(lines: Sequence[str]) -> str:
    """Return the hash that a citation of these lines carries; line ends do not count."""
    text = "\n".join(line.rstrip("\r\n") for line in lines)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def remarks(path: str, text: str, day: datetime) -> list[Remark]:
    """Return the remarks of a daily log in their order.

    A log without a single entry, as people write them by hand, counts as one entry.
    """
    lines = split_lines(text)
    stages = [(it.start_line, it.entry.stage) for it in parse_log(text, day)] or [(0, "note")]
    found: list[Remark] = []
    led = set()
    opens = re.compile(LOG_HEADING).match
    for start, end, words, is_commit in _quotable(scan(lines, opens), lines):
        entry, stage = next((one for one in reversed(stages) if one[0] <= start), (0, ""))
        tidy = clean_text(words).lstrip("#>|-+ ")
        if not stage or not any(char.isalpha() for char in tidy):
            continue
        # Far cheaper than patterns that ignore case.
        lowered = tidy.lower()
        signs = frozenset(name for name, pattern in SIGNS.items() if pattern.search(lowered))
        found.append(
            Remark(
                path=path,
                day=f"{day:%Y-%m-%d}",
                stage=stage,
                start_line=start,
                end_line=end,
                text=shortened(tidy),
                signs=signs,
                is_vague=_is_vague(tidy),
                is_commit=is_commit,
                is_lead=entry not in led,
                digest=cite_hash(lines[start - 1 : end]),
            )
        )
        led.add(entry)
    return found


def shortened(text: str, longest: int = LONGEST) -> str:
    """Cut `text` at a word, so that it is at most `longest` characters."""
    if len(text) <= longest:
        return text
    head = text[: longest - 1]
    space = head.rfind(" ", longest // 2)
    kept = head[:space] if space > 0 else head
    if kept.count("`") % 2:
        kept = kept[: kept.rindex("`")]
    return kept.rstrip(" ,;:") + "…"


def _is_vague(text: str) -> bool:
    is_short = len(text.split()) < 4 and len(text.encode()) < 30
    leans = _LEANING.match(text) or _POINTING.search(text[-12:])
    return bool(leans) or text.endswith(("?", "？", ":")) or is_short


def _quotable(
    blocks: Sequence[Block], lines: Sequence[str]
) -> Iterator[tuple[int, int, str, bool]]:
    """Yield the first line, last line, words, and whether it is a commit, of all there is."""
    for place, block in enumerate(blocks):
        following = blocks[place + 1] if place + 1 < len(blocks) else None
        if block.kind == "paragraph":
            commits = [_COMMIT.match(line.strip()) for line in block.lines]
            if all(commits):
                for number, commit in enumerate(commits, block.start_line):
                    if commit:
                        yield number, number, commit["subject"], True
            else:
                yield from _sentences(block, following, lines)
        elif block.kind == "list":
            for item in block.children:
                yield item.start_line, item.end_line, item_text(item.children), False
        elif block.kind == "quote":
            yield from _quotable(block.children, lines)


def _sentences(
    block: Block, following: Block | None, lines: Sequence[str]
) -> Iterator[tuple[int, int, str, bool]]:
    joined, starts = _unwrapped(block.lines)
    ends = [*(found.start() for found in _SENTENCE_END.finditer(joined)), len(joined)]
    loud = _loud_line(following, lines)
    if joined.endswith(":") and loud is None:
        ends.pop()  # it only leads to a list or table
    for start, end in _alone(joined, ends):
        words = joined[start:end].strip()
        begin = end - len(joined[start:end].lstrip())
        first = block.start_line + sum(one <= begin for one in starts) - 1
        last = block.start_line + sum(one < end for one in starts) - 1
        if end == len(joined) and loud and words.endswith(":"):
            last, message = loud
            words += f" `{message}`"
        yield first, last, words, False


def _unwrapped(lines: Sequence[str]) -> tuple[str, list[int]]:
    """Join the lines of a paragraph; also where each of them begins."""
    joined, starts = "", []
    for line in lines:
        bare = line.strip()
        is_unspaced = _UNSPACED.match(joined[-1:]) and _UNSPACED.match(bare[:1])
        glue = "" if is_unspaced or not joined else " "
        starts.append(len(joined) + len(glue))
        joined += glue + bare
    return joined, starts


def _alone(joined: str, ends: Sequence[int]) -> list[tuple[int, int]]:
    """The sentences that can stand alone, those that lean on the one before joined to it."""
    parts: list[tuple[int, int]] = []
    at = 0
    for end in ends:
        words = joined[at:end].strip()
        is_leaning = bool(_LEANING.match(words)) or len(words) < _SHORTEST
        start = parts[-1][0] if parts else end
        is_needed = bool(parts) and (is_leaning or parts[-1][1] - start < _SHORTEST)
        if is_needed and end - start <= LONGEST:
            parts[-1] = (start, end)
        elif words:
            parts.append((at, end))
        at = end
    return parts


def _loud_line(block: Block | None, lines: Sequence[str]) -> tuple[int, str] | None:
    """The first line of a code block that tells of an error, with its number."""
    if block is None or block.kind != "fence":
        return None
    for number in range(block.start_line + 1, block.end_line):
        line = lines[number - 1].strip()
        if _LOUD.search(line):
            return number, shortened(" ".join(line.replace("`", "'").split()), 140)
    return None
