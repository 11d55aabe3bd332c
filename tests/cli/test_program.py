"""The program as people and other programs meet it: streams, terminals, exit codes, mistakes."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from memcli import __version__
from memcli.cli.app import COMMANDS, main
from tests.conftest import ROOT, Program, write

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


def subcommands(name: str) -> Iterator[list[str]]:
    yield [name]
    for sub in getattr(import_module(COMMANDS[name]), "SUBCOMMANDS", ()):
        yield [name, sub]


EVERY = [words for name in COMMANDS for words in subcommands(name)]


# --- help and mistakes ---


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--help", "-h"):
        assert main([*words, flag]) == 0
        shown = capsys.readouterr()
        assert shown.out.startswith(f"Usage: mem {' '.join(words)} ")
        assert shown.err == ""
        assert all(len(line) <= 100 for line in shown.out.splitlines())


def test_alone_it_shows_its_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert shown.startswith("Usage: mem ")
    for name in COMMANDS:
        assert f"  {name} " in shown


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mem {__version__}\n"


MISTAKES = [
    ["serch", "x"],
    ["--nope"],
    ["search"],
    ["search", "--nope", "x"],
    ["search", "-k", "many", "x"],
    ["search", "-k", "0", "x"],
    ["search", "--mode", "magic", "x"],
    ["search", "--alpha", "nan", "--format", "yaml", "x"],
    ["search", " "],
    ["search", "--since", "soon", "x"],
    ["get"],
    ["get", "a", "b"],
    ["get", "../../etc/passwd"],
    ["get", "/etc/passwd"],
    ["get", "MEMORY.md#L9-L3"],
    ["index", "--full", "--nope"],
    ["list", "--kind", "poem"],
    ["config", "nope"],
    ["config", "get", "search.nope"],
    ["config", "set", "search.k", "many"],
    ["config", "set", "--project", "embedding.url", "http://x"],
    ["eval", "none.jsonl"],
    ["search", "queue", "--max-chars", "0"],
    ["search", "queue", "--min-score", "nan"],
    ["search", "queue", "--since", "9" * 5000 + "d"],
    ["index", "tasks", "--full"],
    ["eval", "none.jsonl", "--fail-under", "7"],
]


@pytest.mark.parametrize("words", MISTAKES, ids=" ".join)
def test_a_mistake_is_one_sentence_and_a_hint(
    words: list[str],
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    assert main(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    lines = shown.err.splitlines()
    assert lines[0].startswith("mem: ")
    assert not lines[0].endswith(".")
    assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: "))


def test_a_wrong_word_names_the_right_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serch", "x"]) == 2
    assert "search" in capsys.readouterr().err
    assert main(["search", "--mod", "keyword", "x"]) == 2
    assert "--mode" in capsys.readouterr().err


def test_nothing_found_is_an_answer(mem: Program) -> None:
    ran = mem("search", "qqqqxyzzy", code=1)
    assert ran.out == "nothing found for: qqqqxyzzy\n"
    ran = mem("search", "--json", "qqqqxyzzy", code=1)
    assert ran.json["hits"] == []
    ran = mem("get", "tasks/none.md", code=1)
    assert ran.err == "mem: no tasks/none.md in the memory\nhint: mem list\n"


def test_verbose_shows_where_it_failed(project: Path, mem: Program) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "-v", "get", "tasks/none.md"],
        cwd=project,
        env=mem.environ(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" in done.stderr and "RefusedError" in done.stderr


# --- streams ---


def shell(mem: Program, line: str, **env: str) -> subprocess.CompletedProcess[bytes]:
    program = f"{sys.executable} -m memcli"
    return subprocess.run(
        ["bash", "-c", line.replace("mem ", f"{program} ")],
        cwd=mem.cwd,
        env={**mem.environ(), **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "line",
    ["mem search -k 50 --json commit", "mem list", "mem status", "mem get MEMORY.md", "mem --help"],
)
def test_a_closed_pipe_is_quiet(mem: Program, line: str) -> None:
    mem("index", code=0)
    done = shell(mem, f"{line} | true; echo code ${{PIPESTATUS[0]}}")
    assert done.stderr == b""
    assert done.stdout == b"code 0\n"


@pytest.mark.parametrize("words", ["search -k 50 --json commit", "list", "--help", "search commit"])
def test_a_full_disk_behind_stdout_is_told(mem: Program, words: str) -> None:
    done = shell(mem, f"mem {words} >/dev/full")
    assert done.returncode == 3
    assert done.stderr.decode().splitlines()[-1] == (
        "mem: cannot write the answer: No space left on device"
    )
    assert b"Traceback" not in done.stderr
    unbuffered = shell(mem, f"PYTHONUNBUFFERED=1 mem {words} >/dev/full")
    assert (unbuffered.returncode, unbuffered.stderr) == (3, done.stderr)


@pytest.mark.parametrize(
    "words",
    [
        "append-daily token ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",  # which is noted
        "fact add token ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
        "fact remove abcdef",
        "search --root /nowhere x",
        "search",
        "promote nowhere.md",
    ],
)
def test_a_full_disk_behind_stderr_changes_no_exit_code(mem: Program, words: str) -> None:
    told = shell(mem, f"mem {words} --json 2>&1 >/dev/null")
    assert told.stdout != b""
    mem("undo")
    assert shell(mem, f"mem {words} 2>/dev/full").returncode == told.returncode


@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", ">&- 2>&- <&-"])
@pytest.mark.parametrize("words", ["search commit", "status", "search", "search --nope x"])
def test_streams_that_are_closed(mem: Program, words: str, closed: str) -> None:
    done = shell(mem, f"mem {words} {closed}")
    assert done.returncode in ((0,) if words in ("search commit", "status") else (2,))
    assert b"Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["search", "当直 警報 —"],
        ["search", "--json", "当直"],
        ["get", "tasks/当直-手引き.md"],
        ["list"],
        ["status"],
        ["search", "\udcff"],
        ["serch—"],
        ["--help"],
    ],
    ids=lambda words: words[0],
)
def test_a_terminal_that_knows_ascii_alone(mem: Program, words: list[str]) -> None:
    env = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii"}
    ran = mem(*[os.fsencode(word) for word in words], env=env)
    assert ran.code in (0, 1, 2)
    assert ran.out.isascii() and ran.err.isascii()
    if "--json" in words:
        assert ran.json["hits"][0]["path"] == "tasks/当直-手引き.md"


def test_no_home_and_no_environment_at_all(mem: Program) -> None:
    nothing = {name: None for name in mem.environ() if name not in ("PATH", "PYTHONPATH")}
    ran = mem("search", "--mode", "keyword", "commit", env=nothing, code=0)
    assert ran.err == ""
    ran = mem("config", "set", "search.k", "3", env=nothing, code=3)
    assert "no home folder" in ran.err
    mem("config", "list", env=nothing, code=0)


def test_memory_cannot_drive_the_terminal(project: Path, mem: Program) -> None:
    write(
        project, "tasks/evil.md", "# evil \x1b[2J title\n\nzebra \x1b]0;owned\x07 \u202e\x9b31m\n"
    )
    for words in (
        ["search", "zebra"],
        ["search", "--json", "zebra"],
        ["search", "--format", "markdown", "zebra"],
        ["search", "--format", "jsonl", "zebra"],
        ["get", "tasks/evil.md"],
        ["search", "zebra \x1b[31m"],
        ["get", "tasks/\x1b[31m.md"],
        ["\x1b[31m"],
    ):
        ran = mem(*words)
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", ran.out + ran.err), words


# --- terminals ---


def on_terminal(mem: Program, *words: str, **env: str) -> tuple[int, str]:
    """Run with a terminal of 80 columns for all three streams; exit code and what it showed."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "memcli", *words],
        cwd=mem.cwd,
        env={**mem.environ(), "TERM": "xterm", "COLUMNS": "80", **env},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while True:
        ready, _, _ = select.select([master], [], [], 30)
        try:
            part = os.read(master, 4096) if ready else b""
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        shown += part
    os.close(master)
    return process.wait(), shown.decode().replace("\r\n", "\n")


def test_colour_on_a_terminal_only(mem: Program) -> None:
    code, shown = on_terminal(mem, "search", "acknowledge", "commit")
    assert code == 0 and COLOUR.search(shown)
    assert max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in shown.splitlines()) <= 80
    code, shown = on_terminal(mem, "search", "acknowledge", "commit", NO_COLOR="1")
    assert code == 0 and not COLOUR.search(shown)
    code, shown = on_terminal(mem, "search", "acknowledge", "commit", TERM="dumb")
    assert code == 0 and "\x1b" not in shown
    for words in (["list"], ["status"], ["doctor"], ["config", "list"], ["get", "MEMORY.md"]):
        code, shown = on_terminal(mem, *words)
        assert code == 0 and shown, words
    assert "\x1b" not in mem("search", "commit", code=0).out


def test_a_narrow_terminal(mem: Program) -> None:
    code, shown = on_terminal(mem, "search", "acknowledge", COLUMNS="20")
    assert code == 0 and "MEMORY.md" in shown


@pytest.mark.parametrize("after", [0.3, 0.6, 1.0])
def test_ctrl_c(project: Path, mem: Program, after: float) -> None:
    for at in range(400):
        write(project, f"tasks/{at}.md", f"# Task {at}\n\n" + "some words of it\n\n" * 300)
    process = subprocess.Popen(
        [sys.executable, "-m", "memcli", "index"],
        cwd=project,
        env=mem.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 30
    while not (project / ".decsr/memory.db").exists() and time.monotonic() < deadline:
        time.sleep(0.02)  # so that it is at work, not yet starting
    time.sleep(after - 0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in err
    assert process.returncode == 0 or err == b"mem: interrupted\n"
    mem("index", code=0)
    assert mem("doctor", "--json").json["problems"] == []


# --- the documented shape of answers ---

HIT = """
    path start_line end_line heading score bm25 cosine body chunk_id date kind scope
    bm25_rank cosine_rank fused decay bonus is_cut
"""
SHAPES = {
    "search commit": "query hits index mode terms notes",
    "status": """
        root index by_kind bytes database_bytes backend embedder vectors_of embedded is_packed
        unused_vectors questions
        sqlite journal notes
    """,
    "list": "files notes",
    "get MEMORY.md": "path start_line end_line body",
    "index": "added changed removed unchanged chunks embedded pending notes",
    "doctor": "problems checked notes",
    "config list": "settings notes",
    "init": "root created notes",
}


@pytest.mark.parametrize("line", SHAPES)
def test_json_keeps_its_fields(mem: Program, line: str) -> None:
    ran = mem(*line.split(), "--json")
    assert set(ran.json) >= set(SHAPES[line].split())  # more may come, none may go
    assert mem("--format", "json", *line.split()).json.keys() == ran.json.keys()


def test_the_fields_of_a_hit_and_of_the_index(mem: Program) -> None:
    answer = mem("search", "--json", "commit", code=0).json
    assert set(answer["hits"][0]) >= set(HIT.split())
    assert set(answer["index"]) == {"state", "files", "chunks", "pending", "behind"}
    assert answer["index"]["state"] == "fresh"
    lines = mem("search", "--format", "jsonl", "commit", code=0).out.splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["chunk_id"] for row in rows] == [hit["chunk_id"] for hit in answer["hits"]]
    assert rows[0].keys() == answer["hits"][0].keys()
    (status,) = mem("status", "--format", "jsonl", code=0).out.splitlines()
    assert json.loads(status)["index"]["files"] == answer["index"]["files"]


def test_text_is_a_place_and_lines(mem: Program) -> None:
    out = mem("search", "acknowledge after commit", code=0).out
    for line in out.splitlines():
        path, start, end = re.match(r"(\S+):(\d+)-(\d+): \S", line + " x").groups()  # type: ignore[union-attr]  # fails
        text = (mem.cwd / ".decsr/memory" / path).read_text()
        assert int(start) <= int(end) <= text.count("\n") + 1
        assert mem("get", f"{path}#L{start}-L{end}").code == 0


def test_explain_shows_each_part(mem: Program) -> None:
    out = mem("search", "--explain", "-k", "1", "commit", code=0).out
    assert re.search(
        r"score \d\.\d+ = \d\.\d+ x decay \d\.\d+ \+ \d\.\d+; bm25 \d+\.\d+ \(#1\); cosine -", out
    )


def test_settings_say_where_they_come_from(project: Path, mem: Program) -> None:
    (project / ".decsr/config.toml").write_text("[search]\nk = 3\n")
    out = mem("config", "list", env={"MEM_SEARCH_ALPHA": "0.5"}, code=0).out
    assert f"search.k = 3  ({project}/.decsr/config.toml)" in out
    assert "search.alpha = 0.5  (MEM_SEARCH_ALPHA)" in out
    assert "search.mode = hybrid  (default)" in out
    mem("config", "set", "embedding.key", "sk-1", code=0)
    assert "sk-1" not in mem("config", "list", code=0).out
    assert "sk-1" not in mem("config", "get", "embedding.key", code=0).out
    mem("config", "set", "search.k", "5", code=0)
    assert mem("config", "get", "search.k", code=0).out == "3\n"  # the project's wins
    assert str(mem.home) in mem("config", "path", code=0).out


# --- completion ---


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_completion(mem: Program, kind: str) -> None:
    script = mem("--show-completion", kind, code=0).out
    assert "_MEM_COMPLETE" in script

    def complete(line: str, at: int) -> str:
        env = {
            "_MEM_COMPLETE": f"complete_{kind}",
            "COMP_WORDS": line,
            "COMP_CWORD": str(at),
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        }
        return mem(env=env).out

    assert "search" in complete("mem sea", 1)
    assert "--mode" in complete("mem search --mo", 2)
    assert "keyword" in complete("mem search --mode k", 3)
    assert "set" in complete("mem config s", 2)


def test_installing_completion(mem: Program) -> None:
    ran = mem("--install-completion", "bash", code=0)
    assert "bash" in ran.out + ran.err
    installed = [path for path in mem.home.rglob("*") if path.is_file()]
    assert any("_MEM_COMPLETE" in path.read_text() for path in installed)


def test_both_names_are_installed() -> None:
    import tomllib

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts["mem"] == scripts["memcli"] == "memcli.cli.app:run"
