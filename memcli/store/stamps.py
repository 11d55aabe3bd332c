"""What a file looked like when it was read, by which an edit shows without reading it again."""

from __future__ import annotations

import os
import struct
from typing import NamedTuple

# What shows an edit: mtime_ns, ctime_ns (of which no program can put an older one back), size and
# inode. Bytes, since thousands of them are compared in each search.
SIGNATURE = struct.Struct(">qqqQ")
RACY = b"?"  # behind one read so shortly after a write that a later edit may not show


class Stamp(NamedTuple):
    """What a file looked like when it was read; with an equal stamp it need not be read again."""

    path: str
    signature: bytes  # with RACY behind it where a later edit may not show
    hash: bytes  # blake2b-128 of the bytes
    note: str = ""  # what was odd about reading it


def signature(found: os.stat_result) -> bytes:
    """The signature of a file; times beyond the year 2262 are taken modulo 64 bits."""
    times = (found.st_mtime_ns, found.st_ctime_ns)
    mtime, ctime = ((time + (1 << 63)) % (1 << 64) - (1 << 63) for time in times)
    return SIGNATURE.pack(mtime, ctime, found.st_size, found.st_ino)


def modified_at(signature: bytes) -> int:
    """The mtime_ns in a signature."""
    return int(SIGNATURE.unpack_from(signature)[0])
