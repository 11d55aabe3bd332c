"""One entry more in the log of the day: to the byte, from anywhere, and never waiting."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memcli import history
from memcli.edit import read
from memcli.errors import ConflictError, MemError, RefusedError
from memcli.ops.append_daily import Appended, append_daily
from memcli.ops.index import index
from memcli.ops.undo import undo
from memcli.text.daily import parse
from memcli.text.query import build
from memcli.text.recalled import BEGIN, END
from memcli.workspace import Workspace
from tests.conftest import NOW, Program, opened, write
from tests.kill_sweep import HAS_STRACE, NO_STRACE, trace
from tests.test_lock import held_by_another

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
LOG = "daily/2026-11-20.md"
DAY = ("--date", "2026-11-20T12:00")


def log(workspace: Workspace) -> bytes:
    return read(workspace.layout, LOG) or b""


def add(workspace: Workspace, body: str, stage: str = "", once: str = "") -> Appended:
    return append_daily(workspace, body, stage=stage, now=NOW, once=once)


def put(workspace: Workspace, data: bytes) -> None:
    write(Path(workspace.layout.root), LOG, data)


# --- to the byte ---


def test_the_first_entry_of_a_day_and_the_next(bare: Workspace) -> None:
    assert add(bare, "one\n", "build").path == LOG
    assert log(bare) == b"# Daily log 2026-11-20\n\n## 12:00 \xe2\x80\x94 build\n\none\n"
    before = log(bare)
    add(bare, "\n\ntwo\r\nlines\n\n")
    assert log(bare) == before + b"\n## 12:00 \xe2\x80\x94 note\n\ntwo\nlines\n"


@pytest.mark.parametrize(
    ("before", "added"),
    [
        (b"# Day\n\nno end", b"\n\n## 12:00 \xe2\x80\x94 note\n\none\n"),
        (b"# Day\r\n", b"\r\n## 12:00 \xe2\x80\x94 note\r\n\r\none\r\n"),
        (b"# Day\r\n\r\nno end", b"\r\n\r\n## 12:00 \xe2\x80\x94 note\r\n\r\none\r\n"),
        (b"# Day\r", b"\n## 12:00 \xe2\x80\x94 note\n\none\n"),
        (b"caf\xe9\n", b"\n## 12:00 \xe2\x80\x94 note\n\none\n"),
        (b"\n", b"# Daily log 2026-11-20\n\n## 12:00 \xe2\x80\x94 note\n\none\n"),
    ],
    ids=["no end", "crlf", "crlf without end", "cr", "not utf-8", "blank"],
)
def test_a_log_keeps_its_bytes_and_its_line_ends(
    bare: Workspace, before: bytes, added: bytes
) -> None:
    put(bare, before)
    add(bare, "one")
    assert log(bare) == before + added
    undo(bare.layout, now=NOW)
    assert log(bare) == before


def test_utf_16_is_refused(bare: Workspace) -> None:
    data = "# Day\n".encode("utf-16")
    put(bare, data)
    with pytest.raises(RefusedError, match="UTF-16"):
        add(bare, "one")
    assert log(bare) == data


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    bodies=st.lists(
        st.text(st.sampled_from("a#: -\n\r\\1209—é\x00"), max_size=40), min_size=1, max_size=4
    )
)
def test_every_body_is_one_entry_and_is_read_back(bare: Workspace, bodies: list[str]) -> None:
    put(bare, b"# Daily log 2026-11-20\n")
    written = [body for body in bodies if add(bare, body).path]
    assert written == [body for body in bodies if body.strip()]
    kept = [body.replace("\r\n", "\n").replace("\r", "\n").strip("\n") for body in written]
    found = parse(log(bare).decode(), NOW)
    assert [one.entry.body for one in found] == kept


def test_forged_headings_stay_text(bare: Workspace) -> None:
    add(bare, "one\n## 13:00 — plan\n\nforged\n# Daily log 2020-01-01\n14:00 — x\n---\nend")
    assert len(parse(log(bare).decode(), NOW)) == 1


@pytest.mark.parametrize(
    ("stage", "shown"),
    [
        ("", "note"),
        (" \n ", "note"),
        ("plan\n## 13:00 — x", "plan ## 13:00 — x"),
        ("a\x1b[31m\u202eb", "a [31m b"),
        ("x" * 200, "x" * 80),
    ],
)
def test_a_stage_is_one_short_line(bare: Workspace, stage: str, shown: str) -> None:
    add(bare, "one", stage)
    assert log(bare).decode().splitlines()[2] == f"## 12:00 — {shown}"


# --- what is left out ---


def test_blank_writes_nothing(bare: Workspace, empty: Path) -> None:
    for body in ("", " \n\t\n"):
        assert add(bare, body).path == ""
    assert list((empty / ".decsr").rglob("*.md")) == []
    assert not (empty / ".decsr/history").exists()


def test_what_recall_printed_is_left_out(bare: Workspace) -> None:
    block = f"{BEGIN}\n> - an old fact\n{END}\n"
    assert add(bare, block).path == ""
    done = add(bare, f"before\n{block}after")
    assert log(bare).endswith(b"before\nafter\n")
    assert any("remembered already" in note for note in done.notes)


def test_secrets_reach_no_file(bare: Workspace, empty: Path) -> None:
    index(bare, now=NOW.timestamp())
    done = add(bare, f"token {TOKEN} leaked", f"stage {TOKEN}")
    assert any("masked" in note for note in done.notes)
    files = [path for path in (empty / ".decsr").rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []


def test_secrets_are_refused_on_request(empty: Path) -> None:
    workspace = opened(empty, secrets="refuse")
    with pytest.raises(RefusedError, match="secret"):
        add(workspace, f"token {TOKEN}")
    workspace.close()
    assert list((empty / ".decsr").rglob("*.md")) == []


def test_once(bare: Workspace) -> None:
    assert add(bare, "commit abc1234", once="abc1234").path == LOG
    before = log(bare)
    assert add(bare, "commit abc1234", once="abc1234").path == ""
    assert log(bare) == before
    assert add(bare, "commit def5678", once="def5678").path == LOG


def test_once_knows_a_text_that_was_masked(bare: Workspace) -> None:
    body = f"deployed with {TOKEN}"
    assert add(bare, body, once=body).path == LOG
    assert add(bare, body, once=body).path == ""
    assert opened(Path(bare.layout.root)).notes == []


# --- when another writes for long ---


def hold_up(workspace: Workspace, body: str) -> Appended:
    """Append while another process has the lock, and will not wait."""
    holder = held_by_another(workspace.layout.lock)
    try:
        return append_daily(workspace, body, stage="x", now=NOW, once=body, patience=0.0)
    finally:
        holder.kill()
        holder.wait()


def waiting(workspace: Workspace) -> list[Path]:
    return sorted(Path(workspace.layout.home).glob("waiting-*.log"))


def test_an_entry_that_must_wait_is_written_by_the_next(bare: Workspace) -> None:
    result = hold_up(bare, f"one {TOKEN}")
    assert (result.path, result.revision) == ("", None)
    assert "mem promote" in result.notes[-1]
    assert "left to the next who writes" in result.notes[-1]
    (left,) = waiting(bare)
    assert left.stat().st_mode & 0o777 == 0o600
    assert TOKEN not in left.read_text()
    assert log(bare) == b""
    moment = NOW + timedelta(days=1)
    done = append_daily(bare, "two", stage="y", now=moment)
    assert (done.path, done.revision) == ("daily/2026-11-21.md", 2)
    assert f"an entry that had to wait was added to {LOG}" in done.notes
    assert log(bare).startswith(
        b"# Daily log 2026-11-20\n\n## 12:00 \xe2\x80\x94 x\n\none [masked:"
    )
    assert waiting(bare) == []
    assert history.read(bare.layout, 1).created_at == moment


def test_doctor_tells_of_an_entry_that_waits_and_adds_it(bare: Workspace, mem: Program) -> None:
    hold_up(bare, "one")
    root = bare.layout.root
    assert "waiting-entry: .decsr/waiting-2026" in mem("doctor", "--root", root, code=1).out
    assert log(bare) == b""
    mem("doctor", "--fix", "--root", root)
    assert b"\none\n" in log(bare)
    assert "waiting" not in mem("doctor", "--root", root).out


def test_what_waited_is_never_written_twice(bare: Workspace) -> None:
    hold_up(bare, "one")
    hold_up(bare, "one")  # a hook that ran twice
    (left, _) = waiting(bare)
    data = left.read_bytes()
    add(bare, "two")
    left.write_bytes(data)  # as a kill right after the entry was written leaves it
    add(bare, "three")
    assert waiting(bare) == []
    assert [one.entry.body for one in parse(log(bare).decode(), NOW)] == ["one", "two", "three"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"now": "x"}', b"\xff"])
def test_what_is_no_entry_stops_nobody(bare: Workspace, data: bytes) -> None:
    hold_up(bare, "one")
    bad = Path(bare.layout.home, "waiting-0.log")
    bad.write_bytes(data)
    result = add(bare, "two")
    assert result.path == LOG
    assert "waiting-0.log is no entry" in " ".join(result.notes)
    assert waiting(bare) == [bad]
    assert [one.entry.body for one in parse(log(bare).decode(), NOW)] == ["one", "two"]


def test_without_patience_it_is_a_conflict(bare: Workspace) -> None:
    holder = held_by_another(bare.layout.lock)
    impatient = opened(Path(bare.layout.root), index_wait="0")
    with pytest.raises(ConflictError):
        add(impatient, "one")
    holder.kill()
    holder.wait()
    assert waiting(bare) == []


def test_later_needs_once(mem: Program) -> None:
    assert "--later needs --once" in mem("append-daily", "--later", "text", code=2).err


def test_a_link_in_the_place_of_the_log_is_refused(
    bare: Workspace, empty: Path, tmp_path: Path
) -> None:
    target = tmp_path / "elsewhere.md"
    target.write_text("theirs\n")
    (empty / ".decsr/memory" / LOG).symlink_to(target)
    with pytest.raises(MemError):
        add(bare, "one")
    assert target.read_text() == "theirs\n"


def test_it_is_found_at_once(bare: Workspace) -> None:
    index(bare, now=NOW.timestamp())
    add(bare, "The flux capacitor needs plutonium.")
    assert len(bare.backend.keyword(build("plutonium"), 10)) == 1


# --- the command ---


def test_words_and_standard_input(mem: Program, empty: Path) -> None:
    done = mem("append-daily", *DAY, "two", "words", cwd=empty, code=0)
    assert (LOG in done.out, done.err) == (True, "")
    mem("append-daily", *DAY, "--quiet", "-", cwd=empty, stdin=b"piped\n", code=0)
    mem("append-daily", *DAY, "--quiet", cwd=empty, stdin=b"\xef\xbb\xbfmarked\r\n", code=0)
    data = (empty / ".decsr/memory" / LOG).read_bytes()
    assert [one.entry.body for one in parse(data.decode(), NOW)] == ["two words", "piped", "marked"]


def test_nothing_to_write(mem: Program, empty: Path) -> None:
    ran = mem("append-daily", "-", cwd=empty, stdin=b" \n", code=1)
    assert "nothing was written" in ran.err
    assert mem("append-daily", cwd=empty, stdin=b"", code=0).out == ""
    assert mem("append-daily", "  ", cwd=empty, code=0).out == ""
    assert list((empty / ".decsr").rglob("*.md")) == []


def test_quiet_says_nothing(mem: Program, empty: Path) -> None:
    ran = mem("append-daily", "--quiet", "one", cwd=empty, code=0)
    assert (ran.out, ran.err) == ("", "")


@pytest.mark.parametrize("words", [["one"], [], ["-"]])
def test_a_closed_standard_input_is_not_awaited(
    mem: Program, empty: Path, words: list[str]
) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "memcli", "append-daily", *words],
        cwd=empty, env=mem.environ(), capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    assert done.returncode == (1 if words == ["-"] else 0), done.stderr
    assert len(list((empty / ".decsr").rglob("*.md"))) == (words == ["one"])


@pytest.mark.parametrize("words", [["one"], [], ["-"]])
def test_a_terminal_is_not_awaited(mem: Program, empty: Path, words: list[str]) -> None:
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "memcli", "append-daily", *words],
        cwd=empty, env=mem.environ(), stdin=slave, capture_output=True, timeout=30, check=False,
    )  # fmt: skip
    os.close(slave)
    os.close(master)
    assert done.returncode == (0 if words == ["one"] else 2), done.stderr
    assert words == ["one"] or b"no text" in done.stderr


@pytest.mark.parametrize(
    ("date", "zone", "day", "clock"),
    [
        ("2026-05-19T14:30", "UTC", "2026-05-19", "14:30"),
        ("2026-05-19 14:30:59", "Asia/Tokyo", "2026-05-19", "14:30"),
        ("2026-05-19T23:30+00:00", "Asia/Tokyo", "2026-05-20", "08:30"),
        ("2026-05-19T23:30Z", "America/New_York", "2026-05-19", "19:30"),
        ("2024-02-29", "UTC", "2024-02-29", None),
        ("20240229", "UTC", "2024-02-29", None),
    ],
)
def test_another_day(
    mem: Program, empty: Path, date: str, zone: str, day: str, clock: str | None
) -> None:
    if not os.path.exists(f"/usr/share/zoneinfo/{zone}") and zone != "UTC":
        pytest.skip("this machine knows no time zones")
    mem("append-daily", "--date", date, "imported", cwd=empty, env={"TZ": zone}, code=0)
    text = (empty / f".decsr/memory/daily/{day}.md").read_text()
    assert text.startswith(f"# Daily log {day}\n")
    if clock:
        assert f"## {clock} — note" in text


@pytest.mark.parametrize(
    "date",
    [
        "yesterday",
        "2026-02-30",
        "2026-13-01",
        "26-01-01",
        "",
        "0001-01-01T00:00",
        "9999-12-31T23:59-12:00",
    ],
)
def test_no_such_day(mem: Program, empty: Path, date: str) -> None:
    ran = mem("append-daily", f"--date={date}", "one", cwd=empty, env={"TZ": "UTC-14"}, code=2)
    assert "not a date" in ran.err
    assert list((empty / ".decsr").rglob("*.md")) == []


def test_the_day_is_that_of_the_local_zone(mem: Program, empty: Path) -> None:
    for zone in ("XST-14", "XST+12"):  # 26 hours apart, so never one day
        mem("append-daily", "--quiet", "one", cwd=empty, env={"TZ": zone}, code=0)
    names = sorted(path.stem for path in (empty / ".decsr/memory/daily").iterdir())
    assert len(names) == 2
    days = [datetime.fromisoformat(name) for name in names]
    assert (days[1] - days[0]).days in (1, 2)


@pytest.mark.skipif(not HAS_STRACE, reason=NO_STRACE)
def test_one_entry_waits_for_the_disk_no_more_than_it_must(empty: Path) -> None:
    command = [sys.executable, "-m", "memcli", "append-daily", "--root", str(empty), *DAY, "one"]
    trace(command, "fsync,fdatasync")  # makes the log and the history
    assert trace(command, "fsync,fdatasync") == ["fsync"]
