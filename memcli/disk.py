"""Bytes onto disk so that a crash at any moment leaves a file as before or completely as after.

Paths are absolute and the last component is never followed when it is a link. Everything raises
OSError with a reason that can be shown.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress

_TEMP_HEAD = ".mem-"
_TEMP_TAIL = ".tmp"
_STALE_SECONDS = 60.0


def read(path: str) -> bytes | None:
    """All bytes of a regular file, or None when there is no file; never None for another reason."""
    try:
        descriptor = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        return file.read()


def read_from(path: str, offset: int) -> bytes | None:
    """The bytes from `offset` on, empty when the file is shorter, None when there is no file."""
    try:
        descriptor = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:
        file.seek(offset)
        return file.read()


def size(path: str) -> int | None:
    """The length of a regular file, None when there is no file."""
    try:
        descriptor = _open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def mode(path: str) -> int | None:
    """The permission bits of a file, None when there is none."""
    try:
        return stat.S_IMODE(os.stat(path, follow_symlinks=False).st_mode) & 0o777
    except FileNotFoundError:
        return None


def append(path: str, data: bytes, offset: int) -> None:
    """Add to an existing file that is `offset` bytes long; on any error it is cut back to that."""
    descriptor = _open(path, os.O_WRONLY | os.O_APPEND)
    try:
        write_all(descriptor, data)
        os.fsync(descriptor)
    except BaseException:
        os.ftruncate(descriptor, offset)
        raise
    finally:
        os.close(descriptor)


def cut(path: str, size: int) -> None:
    """Shorten a file to `size` bytes, durably."""
    descriptor = _open(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(path: str, data: bytes, mode: int = 0o666, *, exact: int | None = None) -> None:
    """Make `data` the whole file, as `stage` and `publish` in one."""
    temp = stage(path, data, mode, exact=exact)
    try:
        publish(temp, path)
    except BaseException:
        with suppress(OSError):  # published already, or else swept another time
            os.unlink(temp)
        raise


def stage(path: str, data: bytes, mode: int = 0o666, *, exact: int | None = None) -> str:
    """Write what shall become `path` under a hidden name beside it, durably, and return the name.

    The mode, and for root the owner, are those of the file there; a new one gets `mode` less the
    umask, or the `exact` one. The folder must exist.
    """
    folder = os.path.dirname(path)
    temp = os.path.join(folder, f"{_TEMP_HEAD}{os.urandom(8).hex()}{_TEMP_TAIL}")
    try:
        there = os.stat(path, follow_symlinks=False)
    except FileNotFoundError:
        there = None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temp, flags, mode if there is None else 0o600)
    try:
        if there is None:
            give_to_owner(descriptor, folder)
            if exact is not None:
                os.fchmod(descriptor, exact)
        else:
            if os.geteuid() == 0:
                os.fchown(descriptor, there.st_uid, there.st_gid)
            os.fchmod(descriptor, stat.S_IMODE(there.st_mode))
        write_all(descriptor, data)
        os.fsync(descriptor)
    except BaseException:
        with suppress(OSError):  # the first error counts, and what is left is swept another time
            os.unlink(temp)
        raise
    finally:
        os.close(descriptor)
    return temp


def publish(temp: str, path: str) -> None:
    """Put a staged file in its place, durably."""
    os.rename(temp, path)
    sync_folder(os.path.dirname(path))


def remove(path: str) -> None:
    """Delete a file, durably."""
    os.unlink(path)
    sync_folder(os.path.dirname(path))


def sweep(folder: str, older_than: float = _STALE_SECONDS) -> None:
    """Remove what a killed `stage` left in `folder`; seconds of age spare one that is at work."""
    limit = time.time() - older_than
    for name in os.listdir(folder):
        if not (name.startswith(_TEMP_HEAD) and name.endswith(_TEMP_TAIL)):
            continue
        path = os.path.join(folder, name)
        with suppress(FileNotFoundError):
            if os.stat(path, follow_symlinks=False).st_mtime <= limit:
                os.unlink(path)


def make_folder(path: str, mode: int = 0o777) -> None:
    """Make a folder and those above it, durably; nothing happens when it is there."""
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    make_folder(above)
    with suppress(FileExistsError):
        os.mkdir(path, mode)
    if os.geteuid() == 0:
        owner = os.stat(above)
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)
    sync_folder(above)


def sync_folder(path: str) -> None:
    """Bring the names in a folder to disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, however few the system takes at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def give_to_owner(descriptor: int, folder: str) -> None:
    """When root makes a file, it belongs to whom its folder belongs, who can go on using it."""
    if os.geteuid() == 0:
        owner = os.stat(folder)
        if os.fstat(descriptor).st_uid != owner.st_uid:
            os.fchown(descriptor, owner.st_uid, owner.st_gid)


def _open(path: str, flags: int) -> int:
    # O_NONBLOCK: a pipe of that name must be refused, not waited for.
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return descriptor
