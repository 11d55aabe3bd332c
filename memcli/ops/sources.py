"""Whether what facts name as their source is there, and still says them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memcli import disk
from memcli.layout import HOME
from memcli.text.blocks import scan
from memcli.text.decisions import extract
from memcli.text.decode import decode, split_lines
from memcli.text.duplicates import meaning
from memcli.text.facts import Fact, Pinned, PinnedFact, clean_source, sift
from memcli.text.joined import sources_of
from memcli.text.lines import plain_title
from memcli.workspace import Workspace

_ENOUGH = (
    0.85  # of a fact's words that a document must still have, all numbers and names among them
)
_FOLDERS = ("", "docs", f"{HOME}/memory", f"{HOME}/memory/tasks", f"{HOME}/memory/archive")
_LINES = re.compile(r"L(\d+)(?:-L(\d+))?")
_PLAIN = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class _Document:
    text: str
    headings: frozenset[str]
    decisions: tuple[Fact, ...]
    words: frozenset[str]


def dead(workspace: Workspace, facts: Sequence[PinnedFact]) -> Iterator[tuple[int, str, str]]:
    """Line, code and sentence for each fact in force whose source is gone or says it no longer.

    A bare file name is looked for in the usual folders. Addresses and standard input are passed
    over; what lies outside of the project counts as gone and is never read.
    """
    read: dict[str, _Document | None] = {}
    for it in facts:
        for source in sources_of(it.fact.source) if it.fact.enabled else ():
            path, _, heading = source.partition("#")
            if "://" in source or not re.search(r"\.\w+$", path):
                continue
            if path not in read:
                read[path] = _document(workspace, path)
            document = read[path]
            if document is None:
                yield it.start_line, "dead-source", f"{path} is gone: {it.fact.text}"
            elif heading and not _has(document, heading):
                message = f"{path} has no heading '{heading}' any more: {it.fact.text}"
                yield it.start_line, "dead-heading", message
            elif not _says(document, it):
                message = f"{source} no longer says this: {it.fact.text}"
                yield it.start_line, "source-changed", message


def _document(workspace: Workspace, path: str) -> _Document | None:
    root = workspace.layout.root
    for folder in _FOLDERS:
        full = os.path.realpath(os.path.join(root, folder, path))
        if not full.startswith(root.rstrip(os.sep) + os.sep):
            continue
        try:
            data = disk.read(full)
        except OSError:
            continue  # a folder, or not ours to read: then it says nothing
        if data is not None:
            return _parsed(workspace, decode(data)[0])
    return None


def _parsed(workspace: Workspace, text: str) -> _Document:
    found = extract(text, workspace.settings.promote_markers)
    titles = {
        plain_title(block.text) for block in scan(split_lines(text)) if block.kind == "heading"
    }
    titles |= {decision.heading for decision in found.decisions}
    return _Document(
        text=text,
        headings=frozenset(map(clean_source, titles)),
        decisions=tuple(decision.fact("") for decision in found.decisions),
        words=frozenset(meaning(text)),
    )


def _has(document: _Document, heading: str) -> bool:
    lines = _LINES.fullmatch(heading)
    if lines:
        return int(lines[2] or lines[1]) <= len(split_lines(document.text))
    return heading in document.headings


def _says(document: _Document, it: PinnedFact) -> bool:
    """Say whether a decision of the document is this fact, or its words still stand there."""
    if sift(Pinned((it,)), document.decisions).known:
        return True
    words = set(meaning(it.fact.text))
    missing = words - document.words
    is_detail = any(not _PLAIN.fullmatch(word) for word in missing)
    return not is_detail and len(missing) <= (1 - _ENOUGH) * len(words)
