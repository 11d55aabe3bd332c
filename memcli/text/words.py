"""Cut text into the words that search compares, as FTS5 does and where FTS5 falls short.

FTS5's own tokenizer (``TOKENIZER``) folds case and Latin accents and stems English. It knows no
words in scripts written without spaces, no parts of identifiers, no compatibility forms. What it
misses is computed here, for the column ``extra`` of the index and for the query alike.
"""

from __future__ import annotations

import re
from functools import lru_cache

from memcli.text.stem import stem

# Marks belong to their word: without them Hindi, Thai and Arabic words fall to pieces.
TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
_LONGEST = 64  # characters of a joined identifier; longer ones are hashes and data
_WORD_SPACES = {code: 32 for code in range(128) if not chr(code).isalnum()}

# What may stand inside an identifier; a table, because translate and split outrun any regex here.
_LOOSE = {code: 32 for code in range(128) if not (chr(code).isalnum() or chr(code) in "-_.")}
_HUMPED = re.compile(r"[A-Z](?<=[a-z].)|[A-Z](?<=[A-Z].)(?=[a-z]{2})")
# Where a word is joined or has a hump. One set of characters in front lets the search skip fast.
# A pattern, not compiled, as the next one: a query meets neither.
_JOINT = r"[-_.A-Z](?:(?<=[-_.])(?=[A-Za-z0-9])|(?<=[a-z][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]{2}))"
_SHARP = "#(?<=[A-Za-z]#)"
_COMPOUND = re.compile(r"[^\W_]+(?:[-_.]+[^\W_]+)*")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SIGNED = re.compile(r"[+#](?<=\b[A-Za-z].)\+?(?:(?<=\+\+)|(?<=#))(?!\w)")
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


def extra_terms(heading: str, body: str) -> str:
    """Return the further words under which a chunk must be found, for the column ``extra``.

    Empty for plain prose. Runs of unspaced scripts come as characters and bigrams in turn, so that
    a phrase of bigrams and characters is exactly a substring; identifiers come in parts
    (AppendDaily: append daily) and joined (append_daily: appenddaily); words whose comparison form
    is not what FTS5 stores come in that form.
    """
    text = f"{heading}\n{body}" if heading else body
    names = sign_names(text)
    if text.isascii():
        return " ".join(dict.fromkeys(_identifiers(text) + names))
    from memcli.text import scripts  # local, as above

    words = text.split()
    wide = [word for word in words if not word.isascii()]
    found = _identifiers(" ".join([word for word in words if word.isascii()])) + names
    for word in wide:
        found += _compound_parts(word)
    found = list(dict.fromkeys(found))
    if scripts.is_foreign(text):
        found += scripts.forms(wide)
    return " ".join(found)


def sign_names(text: str) -> list[str]:
    """Return the words for C++, C#, F# and their like, whose signs no tokenizer keeps."""
    if "++" not in text and ("#" not in text or re.search(_SHARP, text) is None):
        return []
    return [
        text[sign.start() - 1].lower() + _SIGN_NAMES[sign.group()]
        for sign in _SIGNED.finditer(text)
    ]


def _identifiers(text: str) -> list[str]:
    """Return the parts of all identifiers in ASCII text."""
    loose = text.translate(_LOOSE).replace(". ", "  ")  # full stops are no joints
    found: list[str] = []
    humped: list[str] = []
    end = -1
    for joint in re.finditer(_JOINT, loose):
        at = joint.start()
        if at < end:
            continue  # within the word just seen
        end = loose.find(" ", at)
        word = loose[loose.rfind(" ", 0, at) + 1 : end if end >= 0 else None]
        if word.isalnum():
            humped += humps(word)
        else:
            found += parts(word)
        if end < 0:
            break
    return found + humped


@lru_cache(maxsize=16384)
def _compound_parts(word: str) -> tuple[str, ...]:
    return tuple(part for compound in _COMPOUND.findall(word) for part in parts(compound))


@lru_cache(maxsize=65536)
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
