"""The marks around what `recall` printed, and taking such a block out of a text again.

Remembered text that comes back into a memory would be remembered as news each time it is recalled.
"""

from __future__ import annotations

import re

BEGIN = "<!-- mem: recalled memory, do not store -->"
END = "<!-- mem: end of recalled memory -->"

_BLOCK = re.compile(
    rf"^[ \t>]*{re.escape(BEGIN)}.*?(?:^[ \t>]*{re.escape(END)}[^\n]*\n?|\Z)",
    re.MULTILINE | re.DOTALL,
)


def without_recalled(text: str) -> str:
    """`text` without the blocks that `recall` marked; one that was cut off ends with the text."""
    return _BLOCK.sub("", text) if BEGIN in text else text
