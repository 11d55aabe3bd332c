"""What text outside ASCII needs before words can be compared, and before FTS5 can find them.

The home of all knowledge of scripts. Plain English never comes here: compiling these tables costs
more than a short query.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

# What TOKENIZER takes for part of a word; FTS5 counts unassigned characters (Cn) in, always.
_CATEGORIES = frozenset(["Lu", "Ll", "Lt", "Lm", "Lo", "Nd", "Nl", "No", "Co", "Mn", "Mc", "Cn"])

# The accents that unicode61 drops from a word; it keeps all other marks.
_DROPPED = "\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331"
_IS_DROPPED = re.compile(f"[{_DROPPED}]")
# Symbols younger than the Unicode of SQLite, which takes them for letters: bidi isolates,
# currencies, arrows, emoji, and all of plane 1 to be safe.
_YOUNG = (
    "\u058d\u058e\u0605\u061c\u061d\u07fe\u07ff\u0888\u0890\u0891\u08e2\u09fd\u0a76\u0c77\u0c84\u0d4f"
    "\u1abe\u1b7d\u1b7e\u2066-\u2069\u20ba-\u20cf\u218a\u218b\u23f4-\u23ff\u2700\u2b4d-\u2bff"
    "\u2e3c-\u2e7f\u31e4-\u31ef\u32ff\ua8fc\uab5b\uab6a\uab6b\ufbc2\ufd40-\ufd4f\ufdcf\ufdfe\ufdff"
    "\U00010000-\U0001ffff"
)
_IS_YOUNG = re.compile(f"[{_YOUNG}]")
# A character FTS5 alone cannot serve: outside Latin, its accents and old punctuation, or a Latin
# one with a special case or compatibility form. Text without any skips the slow path.
_LONE = re.compile("[\0\ud800-\udfff]")
_FOREIGN = re.compile(
    f"[^\x00-\u02ff{_DROPPED}\u1e00-\u1eff\u2010-\u2065\u20a0-\u20b9\u2190-\u23f3\u2400-\u245f"
    "\u2500-\u26ff\u2701-\u2b4c]"
    "|[\xaa\xb2\xb3\xb5\xb9\xba\xbc-\xbe\xc6\xd0\xd8\xde\xdf\xe6\xf0\xf8\xfe\u0110\u0111\u0126"
    "\u0127\u0131-\u0133\u013f-\u0142\u0149\u0152\u0153\u017f\u01c4-\u01cc\u01de-\u01e3\u01ec-\u01f3"
    "\u01fa-\u01ff\u022a-\u0231\u0250-\u02ff\u1e9a-\u1e9f]"
)
# Letters that Unicode does not decompose, but that people leave the stroke off.
_STROKES = str.maketrans(
    {"ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ı": "i", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th"}
)
# Scripts written without spaces, and Hangul, whose particles stick to the noun: Thai, Lao,
# Burmese, Hangul jamo, Khmer, CJK with kana, bopomofo and Hangul, and the supplementary planes.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3031-\u3035"
    "\u3040-\u30ff\u3100-\u312f\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\ua9e0-\ua9ff\uaa60-\uaa7f\uac00-\ud7ff\uf900-\ufaff\U0001aff0-\U0001b16f"
    "\U00020000-\U000323af"
)
_MARKED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3099\u309a\ua9e0-\uaaff]")
# Patterns, not compiled: most text outside ASCII has a dash or an umlaut, and meets neither.
_RUN = f"[{_UNSPACED}]+"
_RUN_OR_WORD = f"[{_UNSPACED}]+|[^{_UNSPACED}]+"


def fold(text: str) -> str:
    """Return the comparison form; see ``words.normalise``."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    letters = [c for c in unicodedata.normalize("NFD", text) if not _is_accent(c)]
    return unicodedata.normalize("NFC", "".join(letters)).translate(_STROKES)


def _is_accent(char: str) -> bool:
    """Tell a mark that may be left off (accents, Arabic and Hebrew points) from a vowel sign."""
    place = unicodedata.combining(char)
    return place >= 200 or 10 <= place <= 36


def without_lone(text: str) -> str:
    """Put a space for lone surrogates and NUL."""
    return _LONE.sub(" ", text)


class _Spaces(dict[int, int]):
    """A table for ``str.translate`` that grows: a space for all that is not part of a word."""

    def __missing__(self, code: int) -> int:
        kept = code if unicodedata.category(chr(code)) in _CATEGORIES else 32
        self[code] = kept
        return kept


_SPACES = _Spaces()


def pieces(text: str) -> list[str]:
    """Return the words of a text in order, as written."""
    return text.translate(_SPACES).split()


def as_indexed(word: str) -> str:
    """Fold one word as unicode61 does: simple case folding, accents off Latin letters only."""
    return "".join(_as_indexed_char(c, first=not i) for i, c in enumerate(word))


def _as_indexed_char(char: str, *, first: bool) -> str:
    if _IS_DROPPED.match(char):
        return char if first else ""
    lower = char.casefold()
    if len(lower) != 1:
        lower = "i" if char == "\u0130" else char.lower()
    if _FOREIGN.match(char) is None and lower >= "\xc0":
        return unicodedata.normalize("NFD", lower)[0]
    return lower


def is_foreign(text: str) -> bool:
    """Say whether a text has anything that FTS5 alone would not serve."""
    return _FOREIGN.search(text) is not None


def forms(words: list[str]) -> list[str]:
    """Return, for words outside ASCII, those further ones under which they must be found."""
    found: list[str] = []
    for word in words:
        found += _forms(word)
    return found


@lru_cache(maxsize=16384)
def _forms(text: str) -> tuple[str, ...]:
    """Return the words of a text without spaces that FTS5 would not find in it."""
    text = unicodedata.normalize("NFC", without_lone(text))
    is_unsure = _IS_YOUNG.search(text) is not None
    found: list[str] = []
    for word in pieces(text):
        folded = fold(word)
        if re.search(_RUN, folded) is not None:
            for run, is_unspaced in [run for piece in pieces(folded) for run in runs(piece)]:
                found += grams(run) if is_unspaced else [run]
        elif is_unsure or not _is_plain(word, folded):
            found += pieces(folded)
    return tuple(found)


def _is_plain(word: str, folded: str) -> bool:
    """Say whether FTS5 surely stores a word in its comparison form, but for stemming."""
    if word.isascii() or as_indexed(word) != folded:
        return word.isascii()
    # Its case tables are older than Python's; of these letters they know all.
    return word == folded or all(c < "\u0500" or "\u1e00" <= c <= "\u1fff" for c in word)


def runs(folded: str) -> list[tuple[str, bool]]:
    """Cut a folded word where its script changes; True marks a run written without spaces."""
    return [(run, re.match(_RUN, run) is not None) for run in re.findall(_RUN_OR_WORD, folded)]


def grams(run: str) -> list[str]:
    """Return the characters of a run and, between each two, their bigram: a, ab, b, bc, c."""
    units = clusters(run)
    found = units[:1]
    for left, right in pairwise(units):
        found += [left + right, right]
    return found


def clusters(run: str) -> list[str]:
    """Cut a run into characters, each with the vowel signs and tone marks that sit on it."""
    if _MARKED.search(run) is None:
        return list(run)
    units: list[str] = []
    for char in run:
        if units and unicodedata.category(char) in ("Mn", "Mc"):
            units[-1] += char
        else:
            units.append(char)
    return units
