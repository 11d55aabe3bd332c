"""The two steps of ``store.vectors`` with numpy, for a process that has loaded it for its model.

Both ways give the same chunks and cosines; this one is some five times faster, which would not pay
for the import of numpy alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memcli.store.vectors import SCALE, signs


def shortlisted(
    query: Sequence[float], all_signs: memoryview, rows: Sequence[int], shortlist: int
) -> list[int]:
    """Those of `rows` whose signs are no farther from the query's than the `shortlist`-th."""
    width = len(query) // 8
    table = np.frombuffer(all_signs, np.uint8).reshape(-1, width)
    if len(rows) < len(table):
        table = table[np.asarray(rows)]
    wanted = np.frombuffer(signs(query), np.uint8)
    far = np.bitwise_count(table ^ wanted).sum(axis=1, dtype=np.int32)
    limit = np.partition(far, shortlist - 1)[shortlist - 1]
    return [rows[place] for place in np.nonzero(far <= limit)[0].tolist()]


def cosines(query: Sequence[float], scaled: memoryview, rows: Sequence[int]) -> list[float]:
    """Cosines of a unit `query` and these rows of scales and values, rounded as one by one."""
    size = SCALE.size + len(query)
    table = np.frombuffer(scaled, np.uint8).reshape(-1, size)[np.asarray(rows, dtype=np.int64)]
    scales = np.ascontiguousarray(table[:, : SCALE.size]).view("<f4")[:, 0].astype(np.float64)
    values = table[:, SCALE.size :].view(np.int8).astype(np.float64)
    found = scales * (values @ np.asarray(query, dtype=np.float64))
    return [round(one, 5) for one in found.tolist()]
