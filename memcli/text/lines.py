"""What single lines of markdown look like: the patterns and tests that `blocks` decides by."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

TITLE_CHARS: Final = 300

ATX: Final = re.compile(r"(#{1,6})(?:[ \t]|$)")
UNDERLINE: Final = re.compile(r"(?:=+|-+)[ \t]*$")
FENCE: Final = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$", re.DOTALL)
ITEM: Final = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]|$)")

_BLOCK_TAGS = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|"
    "dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|"
    "hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|"
    "search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
# The kinds of HTML block that CommonMark numbers 1 to 6; each group's name leads to its end.
HTML_START: Final = re.compile(
    r"<(?:(?P<verbatim>(?:script|pre|style|textarea)(?=[\s>]|$))|(?P<comment>!--)"
    r"|(?P<instruction>\?)|(?P<declaration>![a-z])|(?P<cdata>!\[(?-i:CDATA)\[)"
    rf"|(?P<tag>/?(?:{_BLOCK_TAGS})(?=\s|/?>|$)))",
    re.IGNORECASE | re.ASCII,
)
HTML_END: Final[dict[str, re.Pattern[str] | None]] = {
    "verbatim": re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE | re.ASCII),
    "comment": re.compile("-->"),
    "instruction": re.compile(r"\?>"),
    "declaration": re.compile(">"),
    "cdata": re.compile(r"\]\]>"),
    "tag": None,
}
# Kind 7: any whole tag alone on its line. Possessive, so that a long line costs one pass.
HTML_TAG: Final = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9-]*+"
    r"(?:\s++[A-Za-z_:][\w.:-]*+(?:\s*+=\s*+(?:[^\s\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+\s*+/?+>"
    r"|/[A-Za-z][A-Za-z0-9-]*+\s*+>)\s*+$",
    re.ASCII,
)

_DEFINITION = re.compile(
    r"\[(?=[^\]]*[^\s\]])(?:[^\[\]\\]|\\.)++\]:[ \t]*\n?[ \t]*(?:<(?:[^<>\n\\]|\\.)*>|[^\s<]\S*)"
    r"(?:(?:[ \t]+|[ \t]*\n[ \t]*)(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\)))?"
    r"[ \t]*(?:\n|$)",
    re.DOTALL,
)
_PIPE = re.compile(r"(?<!\\)\|")
_ALIGNMENT = re.compile(r"[ \t]*:?-+:?[ \t]*$")

_KEY = r"(?:[\w$@.-][^:\r\n]*|\"[^\"]*\"|'[^']*')[ \t]*:(?:\s|$)"
_YAML_KEY = re.compile(_KEY)
_YAML_LINE = re.compile(rf"{_KEY}|[ \t]*(?:#|$)|-(?:\s|$)|[ \t]+\S|[\]}}]")
_TOML_KEY = re.compile(r"[ \t]*(?:[\w.\"' -]+=|\[\[?[^\]]+\])")

_MARKUP = re.compile(r"[<\[`*_~\\](?<!\w_)")  # an underscore within a word is none
_COMMENT = re.compile(r"<!--.*?-->|</?[A-Za-z][^<>]*>", re.DOTALL)
_LINK = re.compile(
    r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]|!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])"
)
_CODE = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_STARS = re.compile(r"(?<!\\)(\*{1,3}|~~)(?=\S)(.+?)(?<=\S)\1")
_BARS = re.compile(r"(?<![\w\\])(_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def strip_indent(text: str, column: int) -> tuple[str, int]:
    """Return `text`, which begins at `column`, without its leading blanks, and their width.

    A tab reaches to the next multiple of four.
    """
    body = text.lstrip(" \t")
    size = len(text) - len(body)
    if not size or "\t" not in text[:size]:
        return body, size
    at = column
    for character in text[:size]:
        at += 4 - at % 4 if character == "\t" else 1
    return body, at - column


def atx_title(body: str) -> str:
    """Return what stands between the opening and the closing hashes of a heading line."""
    title = body.lstrip("#").strip(" \t\r\n")
    opened = title.rstrip("#")
    if not opened:
        return ""
    return opened.rstrip(" \t") if opened[-1] in " \t" else title


def is_rule(body: str) -> bool:
    """Say whether `body`, which begins with ``-``, ``*`` or ``_``, is a thematic break."""
    mark = body[0]
    return (
        not body.strip(mark + " \t") and not set(body) - {mark, " ", "\t"} and body.count(mark) > 2
    )


def cells_match(header: str, delimiter: str) -> bool:
    """Say whether the two lines begin a table: a row with pipes, and as many cells of dashes."""
    if "|" not in header or delimiter.strip("|-: \t") or len(delimiter) < 2:
        return False
    if delimiter[0] == "-" and delimiter[1] in " \t":
        return False  # a list item
    cells = delimiter.strip(" \t").split("|")
    cells = cells[not cells[0].strip() : len(cells) - (len(cells) > 1 and not cells[-1].strip())]
    if not all(_ALIGNMENT.match(cell) for cell in cells):
        return False
    pipes = [found.start() for found in _PIPE.finditer(header)]
    outer = header.startswith("|") + (pipes[-1:] == [len(header) - 1])
    return 0 < len(cells) == len(pipes) + 1 - outer


def count_definitions(lines: Sequence[str]) -> int:
    """Count the lines at the beginning of a paragraph that are link reference definitions."""
    if not lines[0].startswith("["):
        return 0
    text = "\n".join(lines)
    end = 0
    while found := _DEFINITION.match(text, end):
        end = found.end()
        if end >= len(text):
            return len(lines)
    return text.count("\n", 0, end)


def front_matter_end(lines: Sequence[str]) -> int:
    """Return the last line of the YAML or TOML that the file begins with, or 0.

    It must be closed, and look like settings: prose between two rules is not front matter.
    """
    fence = lines[0].rstrip() if lines else ""
    if fence not in ("---", "+++"):
        return 0
    has_key = False
    for number, line in enumerate(lines[1:], 2):
        text = line.rstrip()
        if text == fence or (text == "..." and fence == "---"):
            return number if has_key else 0
        if fence == "---":
            if not _YAML_LINE.match(text):
                return 0
            has_key = has_key or bool(_YAML_KEY.match(text))
        elif not has_key:
            if text and not text.lstrip().startswith("#") and not _TOML_KEY.match(text):
                return 0
            has_key = bool(_TOML_KEY.match(text))
    return 0


def plain_title(title: str) -> str:
    """Return a heading's title as one reads it: no emphasis, code ticks, links or comments.

    One over 300 characters, a paragraph in disguise, is cut there.
    """
    title = title[:TITLE_CHARS]
    if not _MARKUP.search(title):
        is_settled = title.isprintable() and "  " not in title and title[:1] != " " != title[-1:]
        return title if is_settled else " ".join(title.split())
    kept = _CODE.sub(r"\2", _COMMENT.sub("", title))
    kept = _LINK.sub(lambda found: found[1] or found[2], kept)
    for pattern in (_STARS, _BARS):
        while (shorter := pattern.sub(r"\2", kept)) != kept:
            kept = shorter
    return " ".join(_ESCAPE.sub(r"\1", kept).split())
