"""One table of two vectors of integers on the GPU, counted without encoding them: two launches and two copies to the host."""

from __future__ import annotations

import numpy as np

from congruence.machine.device import ctype, cupy, current_card, facts, kernel, prepare
from congruence.statistics.information import sums_of_parts
from congruence.statistics.pairs import Sums
from congruence.typing import DeviceArray

#: most cells of a table over the ranges of the labels
MOST_CELLS = 1 << 20
#: threads per block, and points per thread at least
THREADS, POINTS = 512, 8


def sums_of(a: DeviceArray, b: DeviceArray, entropies: bool) -> Sums | None:
    """The sums of the table of two vectors of integers on the GPU; None if their ranges are too wide."""
    cp, n = cupy(), len(a)
    a, b = (cp.ascontiguousarray(x) for x in (a, b))
    kinds = ctype(a), ctype(b)
    prepare(current_card(), *(("limits", (kind,)) for kind in sorted(set(kinds))), ("pair_table", kinds))
    blocks = max(1, min(2 * facts()[0], n // (THREADS * POINTS)))
    ends = np.iinfo(np.int64)
    limits = cp.asarray(np.array([ends.max, ends.max, ends.min, ends.min]))
    for place, labels in enumerate((a, b)):
        arguments = labels, np.int64(n), np.int32(1), np.int64(1), np.int64(n), limits[place:], limits[2 + place :]
        kernel("limits", kinds[place])((blocks,), (THREADS,), arguments)
    low_a, low_b, high_a, high_b = limits.get().tolist()
    tall, wide = high_a - low_a + 1, high_b - low_b + 1
    if not 0 < tall * wide <= MOST_CELLS:
        return None
    inside = tall * wide * 4 <= facts()[1] // 2
    table = cp.zeros((tall, wide), np.uint32)
    kernel("pair_table", *kinds)(
        (blocks,), (THREADS,),
        (a, b, np.int64(n), np.int64(low_a), np.int64(low_b), np.int32(wide), np.int32(tall * wide), np.bool_(inside), table),
        shared_mem=tall * wide * 4 if inside else 0,
    )  # fmt: skip
    counts = table.get().astype(np.int64)
    return sums_of_parts(n, counts.ravel(), counts.sum(axis=1), counts.sum(axis=0), entropies)
