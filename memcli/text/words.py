"""Cut text into the words that search compares, as FTS5 does and where FTS5 falls short.

FTS5's own tokenizer (``TOKENIZER``) folds case and Latin accents and stems English. It knows no
words in scripts written without spaces, no parts of identifiers, no compatibility forms. What it
misses is computed here for the query, and in ``extra`` for the index.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from memcli.text.stem import stem

# Marks belong to their word: without them Hindi, Thai and Arabic words fall to pieces.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
_LONGEST = 64  # characters of a joined identifier; longer ones are hashes and data
_WORD_SPACES = {code: 32 for code in range(128) if not chr(code).isalnum()}

_HUMPED = re.compile(r"[A-Z](?<=[a-z].)|[A-Z](?<=[A-Z].)(?=[a-z]{2})")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# A pattern, not compiled: few queries meet it.
_SIGNED = r"[+#](?<=\b[A-Za-z].)\+?(?:(?<=\+\+)|(?<=#))(?!\w)"
_SIGN_NAMES = {"++": "plusplus", "#": "sharp"}


def normalise(text: str) -> str:
    """Return the form in which texts are compared: NFC, compatibility forms, case, accents folded.

    Vowel signs and tone marks of scripts that need them stay. Idempotent.
    """
    if text.isascii():
        return text.lower()
    # Local: English text, the common case, is spared the tables of all other scripts.
    from memcli.text.scripts import fold

    return fold(text)


def clean(text: str) -> str:
    """Put a space for what SQLite cannot store or would stop at: lone surrogates and NUL."""
    if text.isascii():
        return text.replace("\0", " ") if "\0" in text else text
    from memcli.text.scripts import without_lone  # local, as above

    return without_lone(text)


def pieces(text: str) -> list[str]:
    """Return the words of a text in order, as written."""
    if text.isascii():
        return text.translate(_WORD_SPACES).split()
    from memcli.text import scripts  # local, as above

    return scripts.pieces(text)


def tokens(text: str) -> list[str]:
    """Return what FTS5 with ``TOKENIZER`` stores for a text: folded, stemmed, in order."""
    return [_token(word) for word in pieces(text)]


@lru_cache(maxsize=65536)
def _token(word: str) -> str:
    if word.isascii():
        return stem(word.lower())
    from memcli.text.scripts import as_indexed  # local, as above

    return stem(as_indexed(word))


@cache
def _sharp() -> re.Pattern[str]:
    return re.compile("#(?<=[A-Za-z]#)")


def sign_names(text: str) -> list[str]:
    """Return the words for C++, C#, F# and their like, whose signs no tokenizer keeps."""
    if "++" not in text and ("#" not in text or _sharp().search(text) is None):
        return []
    return [
        text[sign.start() - 1].lower() + _SIGN_NAMES[sign.group()]
        for sign in re.finditer(_SIGNED, text)
    ]


def parts(compound: str) -> tuple[str, ...]:
    """Return the joined form and the camel-case parts of an identifier, in comparison form.

    What FTS5 finds by itself is left out: the parts of ``append_daily``, the whole of
    ``AppendDaily``. Numbers and dates have no parts.
    """
    joined = compound.strip("-_.").replace("-", "").replace("_", "").replace(".", "")
    if not joined or joined.isdigit():
        return ()
    found = []
    if len(joined) <= _LONGEST and not compound.strip("-_.").isalnum():
        found.append(joined.lower() if joined.isascii() else normalise(joined))
    if not joined.islower() and _HUMPED.search(compound) is not None:
        for word in re.split("[-_.]+", compound):
            found += humps(word)
    return tuple(found)


def humps(word: str) -> list[str]:
    """Return the parts of a camel-case word in comparison form, none for any other word."""
    if len(word) > _LONGEST or _HUMPED.search(word) is None:
        return []
    return [hump.lower() for hump in _HUMP.findall(word) if len(hump) > 1]
