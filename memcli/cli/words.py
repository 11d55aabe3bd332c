"""Text for a command, from its words or from standard input."""

import sys
from collections.abc import Sequence

from memcli.errors import UsageError
from memcli.text.decode import decode


def text_from(words: Sequence[str] | None) -> str:
    """The words joined; for "-" or no words what comes on standard input, which is never awaited
    from a terminal.

    Raises UsageError when "-" was asked for and there is nothing to read from.
    """
    if words and list(words) != ["-"]:
        return " ".join(words)
    if sys.stdin is None or sys.stdin.closed:
        data = b""
    elif sys.stdin.isatty():
        raise UsageError("no text", hint="give it in words, or pipe it in")
    else:
        data = sys.stdin.buffer.read()
    return decode(data)[0]
