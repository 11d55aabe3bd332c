"""The writers' lock: one holder at a time, a bounded wait, nothing left by the dead."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from memcli.errors import ConflictError, WorkspaceError
from memcli.lock import hold

HOLDER = """
import sys, time
from memcli.lock import hold
with hold(sys.argv[1], "promote"):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "lock")


def held_by_another(path: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    process.stdout.close()
    return process


def test_one_try_says_who_holds_it(path: str) -> None:
    other = held_by_another(path)
    try:
        began = time.monotonic()
        with pytest.raises(ConflictError, match=rf"mem promote \(process {other.pid}\)"):
            hold(path, "index", wait=0).__enter__()
        assert time.monotonic() - began < 1
        with pytest.raises(ConflictError, match="still after"):
            hold(path, "index", wait=0.1).__enter__()
    finally:
        other.kill()
        other.wait()


def test_a_killed_holder_leaves_it_free(path: str) -> None:
    other = held_by_another(path)
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    with hold(path, "index", wait=0):
        pass


def test_the_same_thread_may_hold_it_again(path: str) -> None:
    with hold(path, "undo"):
        with hold(path, "undo", wait=0):
            pass
        probe = [sys.executable, "-c", HOLDER.replace('"promote"', '"promote", wait=0'), path]
        assert subprocess.run(probe, capture_output=True).returncode != 0
    with hold(path, "undo", wait=0):
        pass


def test_another_thread_waits_its_turn(path: str) -> None:
    order: list[str] = []

    def other() -> None:
        with hold(path, "watch", wait=10):
            order.append("second")

    with hold(path, "index"):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_an_exception_inside_frees_it(path: str) -> None:
    with pytest.raises(KeyError), hold(path, "promote"):
        raise KeyError
    with hold(path, "promote", wait=0):
        pass


def test_a_removed_lock_file_does_not_make_two_holders(path: str) -> None:
    with hold(path, "promote"):
        waiting = subprocess.Popen([sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE)
        assert waiting.stdout is not None
        time.sleep(0.5)  # it polls the file that is removed now
        os.unlink(path)
        other = held_by_another(path)  # has the new one
    assert select.select([waiting.stdout], [], [], 0.3)[0] == []
    other.kill()
    other.wait()
    assert waiting.stdout.readline() == b"held\n"
    waiting.kill()
    waiting.communicate()


def test_the_file_is_private_and_not_inherited(path: str) -> None:
    with hold(path, "promote"):
        assert os.stat(path).st_mode & 0o777 == 0o600
        inherited = [n for n in range(3, 256) if _is_open(n) and os.get_inheritable(n)]
        assert not [n for n in inherited if os.path.samestat(os.fstat(n), os.stat(path))]


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def test_a_link_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("precious")
    os.symlink(tmp_path / "elsewhere", path)
    with pytest.raises(WorkspaceError, match="it is a link"):
        hold(path, "promote").__enter__()
    assert (tmp_path / "elsewhere").read_text() == "precious"


def test_a_missing_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="No such file"):
        hold(str(tmp_path / "gone" / "lock"), "promote").__enter__()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_workspace_of_somebody_else_is_said(tmp_path: Path) -> None:
    os.chmod(tmp_path, 0o755)
    for folder in (tmp_path.parent, tmp_path.parent.parent):
        os.chmod(folder, 0o755)
    script = (
        "import os, sys; import memcli.lock as lock; os.setuid(65534)\n"
        "try: lock.hold(sys.argv[1], 'promote').__enter__()\n"
        "except lock.WorkspaceError as error: print(error)"
    )
    child = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "lock")], capture_output=True, text=True
    )
    assert child.stdout == f"cannot write in {tmp_path}: Permission denied\n", child.stderr
