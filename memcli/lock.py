"""The writers' lock of a workspace: one `flock`, dropped by the kernel when its holder dies."""

from __future__ import annotations

import _thread
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memcli import disk
from memcli.errors import ConflictError, WorkspaceError

WAIT = 30.0  # seconds; a commit hook behind fifty others still gets its turn

# Even, so that those who wait long have the same chance as newcomers. A blocking flock would need a
# signal to end its wait.
_PAUSE = 0.005
_HOLDER_BYTES = 64

# A second flock by the same process would wait for the first one, so who holds what is known to
# the whole process: (process, thread, path) -> how many times. A forked child starts with nothing.
_held: dict[tuple[int, int, str], int] = {}


@contextmanager
def hold(path: str, verb: str, wait: float = WAIT) -> Iterator[None]:
    """Hold the lock file at `path` for the block; the same thread may hold it again inside.

    `wait` is in seconds, 0 tries once. Raises ConflictError naming the holder when the lock was not
    had in time, and WorkspaceError when the lock file cannot be opened for writing.
    """
    key = (os.getpid(), _thread.get_ident(), path)
    if key in _held:
        _held[key] += 1
        try:
            yield
        finally:
            _held[key] -= 1
        return
    descriptor = _acquire(path, wait)
    _held[key] = 1
    try:
        with suppress(OSError):  # only a courtesy to those who wait, no reason to fail
            name = f"{os.getpid()} {verb}"[: _HOLDER_BYTES - 1].ljust(_HOLDER_BYTES - 1)
            os.pwrite(descriptor, name.encode("ascii", "replace") + b"\n", 0)
        yield
    finally:
        del _held[key]
        os.close(descriptor)


def _acquire(path: str, wait: float) -> int:
    deadline = time.monotonic() + wait
    while True:
        descriptor = _open(path)
        try:
            while not _try(descriptor, path):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise ConflictError(
                        f"the memory is being written by {_holder(descriptor)}"
                        + (f", still after {wait:g} s" if wait else ""),
                        hint="try again in a moment",
                    )
                time.sleep(min(_PAUSE, left))
            if _is_same(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)  # somebody removed the file that we waited for: lock the new one


def _open(path: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise _unusable(path, error) from error
    try:
        disk.give_to_owner(descriptor, os.path.dirname(path))
    except OSError as error:
        os.close(descriptor)
        raise _unusable(path, error) from error
    return descriptor


def _try(descriptor: int, path: str) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise _unusable(path, error) from error
    return True


def _is_same(descriptor: int, path: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path, follow_symlinks=False))
    except FileNotFoundError:
        return False


def _holder(descriptor: int) -> str:
    pid, _, verb = os.pread(descriptor, _HOLDER_BYTES, 0).decode("ascii", "replace").partition(" ")
    return f"mem {verb.strip()} (process {pid})" if pid.isdigit() else "another process"


def _unusable(path: str, error: OSError) -> WorkspaceError:
    reason = "it is a link" if error.errno == errno.ELOOP else error.strerror
    return WorkspaceError(
        f"cannot write in {os.path.dirname(path)}: {reason}",
        hint=f"see that you may write {path}",
    )
