"""`mem summarize` at the terminal: which form is meant, what goes where, what it exits with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Program

TALK = FIXTURES / "transcripts" / "07-markdown-labels.md"


def test_a_task_from_a_file_and_from_a_pipe(mem: Program) -> None:
    ran = mem("summarize", "--task", "QY-1", "--title", "Dates", str(TALK), code=0)
    path = mem.cwd / ".decsr/memory/tasks/QY-1.md"
    assert ran.out == ("wrote tasks/QY-1.md (its own sentences; revision 1). Take back: mem undo\n")
    assert path.read_text("utf-8").startswith("# Dates\n\n_Task: QY-1_")
    found = mem(
        "summarize", "--task", "QY-2", "-", "--json", stdin=b"# Two\n\nShort.\n", code=0
    ).json
    assert (found["path"], found["by"], found["body"]) == ("tasks/QY-2.md", "as it is", "Short.")
    assert mem("summarize", "--task", "QY-1", "-", "-q", stdin=b"New.\n", code=0).out == ""
    mem("undo", code=0)
    assert "Dates" in path.read_text("utf-8")


def test_without_a_task_the_summary_is_printed(mem: Program) -> None:
    ran = mem("summarize", str(TALK), code=0)
    assert "- We reject them, and the import says which line.\n" in ran.out
    assert ran.out == mem("summarize", "--task", "x", "--dry-run", str(TALK), code=0).out
    assert not (mem.cwd / ".decsr/memory/tasks/x.md").exists()


def test_a_session_in_place(mem: Program, tmp_path: Path) -> None:
    talk = tmp_path / "talk.md"
    talk.write_bytes(TALK.read_bytes())
    few = {"MEM_SESSION_MAX_TOKENS": "150"}
    words = ("summarize", "--session", str(talk), "--out", str(talk))
    dry = mem(*words, "--dry-run", env=few, code=0)
    assert dry.out.startswith("would cut ")
    assert talk.read_bytes() == TALK.read_bytes()
    ran = mem(*words, env=few, code=0)
    assert ran.out.startswith("cut ")
    assert f"wrote {talk}" in ran.out
    assert talk.read_text("utf-8").startswith("<!-- mem: previous context of a conversation -->\n")
    assert mem(*words, env=few, code=0).out.startswith("within the limit, nothing cut: ")
    (archived,) = (mem.cwd / ".decsr/memory/archive").glob("*-talk-*.md")
    assert "31.02." in archived.read_text("utf-8")


def test_a_flush(mem: Program) -> None:
    assert mem("summarize", "--flush", str(TALK), code=0).out.startswith("nothing to flush yet: ")
    ran = mem("summarize", "--flush", "--now", str(TALK), code=0)
    assert "+ Person: The date parser takes" in ran.out
    assert "Assistant" not in ran.out
    assert "Take back: mem undo" in ran.out
    assert mem("summarize", "--flush", "--now", str(TALK), code=0).out.startswith("nothing new ")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--task", "../x", "-"), 2, "reads as a path"),
        (("--task", "", "-"), 2, "must not be blank"),
        (("--task", "x", "--session", "-"), 2, "exclude each other"),
        (("--session", "-"), 2, "--session needs --out"),
        (("--title", "t", "-"), 2, "--title goes with --task"),
        (("--out", "x", "-"), 2, "--out goes with"),
        (("--now", "-"), 2, "--now goes with --flush"),
        (("--task", "x", "no such file"), 2, "no file"),
        (("--task", "x", "."), 3, "cannot read"),
        (("--task", "x", "-"), 1, "no text to sum up"),
        (("--session", "-", "--out", ".decsr/x"), 2, "into the memory"),
        ((), 2, "missing argument"),
    ],
)
def test_what_does_not_go(mem: Program, words: tuple[str, ...], code: int, says: str) -> None:
    ran = mem("summarize", *words, stdin=b"", code=code)
    assert says in ran.err
    assert ran.out == ""


def test_control_characters_of_a_conversation_do_not_reach_the_terminal(mem: Program) -> None:
    row = json.dumps({"role": "user", "content": "We decided on \x1b[2J the \u202e plan for good."})
    ran = mem("summarize", "-", stdin=row.encode(), code=0)
    assert "We decided on" in ran.out
    assert not {"\x1b", "\u202e"} & set(ran.out)
