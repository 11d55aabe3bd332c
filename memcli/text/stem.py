"""The Porter stemmer exactly as SQLite's FTS5 applies it, for searching without a database.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two later rules
(bli, logi) that FTS5 has. It works on UTF-8 bytes, as FTS5 does, so that words of other scripts
come out the same.
"""

from __future__ import annotations

_VOWELS = frozenset("aeiou")
_LONGEST = 64  # bytes; FTS5 leaves longer tokens alone

# Suffix and replacement, in the order FTS5 tries them; the stem before must have a measure over 0.
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("logi", "log"), ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"),
    ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"), ("ator", "ate"), ("alism", "al"),
    ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"), ("iviti", "ive"),
    ("biliti", "ble"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"),
    ("ful", ""), ("ness", ""),
)  # fmt: skip
# Dropped when the stem before has a measure over 1.
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
)  # fmt: skip


def stem(word: str) -> str:
    """Return the stem of a lower-case word; words under 3 or over 64 bytes stay as they are."""
    if word.isascii():
        return _stem(word) if 3 <= len(word) <= _LONGEST else word
    raw = word.encode("utf-8", "surrogatepass")
    if not 3 <= len(raw) <= _LONGEST:
        return word
    # One character a byte: FTS5 sees every byte of another script as a consonant. A cut can only
    # fall on an ASCII suffix, so the rest is UTF-8 still.
    return _stem(raw.decode("latin-1")).encode("latin-1").decode("utf-8", "surrogatepass")


def _stem(word: str) -> str:
    word = _ending_e(_derived(_past(_plural(word))))
    if word[-2:] == "ll" and _measure(word[:-1]) > 1:
        return word[:-1]
    return word


def _plural(word: str) -> str:
    if not word.endswith("s"):
        return word
    if word.endswith("es"):
        shorter = (word.endswith("sses") and len(word) > 4) or (
            word.endswith("ies") and len(word) > 3
        )
        return word[:-2] if shorter else word[:-1]
    return word if word.endswith("ss") else word[:-1]


def _past(word: str) -> str:
    bare = None
    if word.endswith("eed") and len(word) > 3:
        word = word[:-1] if _measure(word[:-3]) > 0 else word
    elif word.endswith("ed") and len(word) > 2 and _has_vowel(word[:-2]):
        bare = word[:-2]
    elif word.endswith("ing") and len(word) > 3 and _has_vowel(word[:-3]):
        bare = word[:-3]
    if bare is not None:
        word = _mend(bare)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    return word


def _mend(word: str) -> str:
    """Give back what -ed and -ing took: hop(p)ing, fil(e)ing, conflat(e)ed."""
    if len(word) > 2 and word[-2:] in ("at", "bl", "iz"):
        return word + "e"
    last = word[-1]
    if last not in _VOWELS and last not in "lsz" and word[-2:-1] == last:
        return word[:-1]
    if _measure(word) == 1 and _is_short(word):
        return word + "e"
    return word


def _derived(word: str) -> str:
    for table in (_STEP_2, _STEP_3):
        for suffix, new in table:
            if word.endswith(suffix) and len(word) > len(suffix):
                if _measure(word[: -len(suffix)]) > 0:
                    word = word[: -len(suffix)] + new
                break
    for suffix in _STEP_4:
        if word.endswith(suffix) and len(word) > len(suffix):
            return word[: -len(suffix)] if _measure(word[: -len(suffix)]) > 1 else word
    if word.endswith(("sion", "tion")) and len(word) > 4 and _measure(word[:-3]) > 1:
        return word[:-3]
    return word


def _ending_e(word: str) -> str:
    if not word.endswith("e"):
        return word
    before = word[:-1]
    measure = _measure(before)
    return before if measure > 1 or (measure == 1 and not _is_short(before)) else word


def _pattern(word: str) -> str:
    """Return one letter a character: v for a vowel, c for a consonant; y is a vowel after a c."""
    pattern = ""
    consonant = False
    for letter in word:
        consonant = not (letter in _VOWELS or (letter == "y" and consonant))
        pattern += "c" if consonant else "v"
    return pattern


def _measure(word: str) -> int:
    """Count the changes from vowel to consonant."""
    return _pattern(word).count("vc")


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word) or "y" in word[1:]


def _is_short(word: str) -> bool:
    return word[-1:] not in ("w", "x", "y", "") and _pattern(word).endswith("cvc")
