"""The compiled loops of density profiles; imported only for large work."""

from __future__ import annotations

import numpy as np

from congruence.machine.jit import njit
from congruence.statistics.tables import Array

#: up to this many cuts are counted linearly, vectorised over points; above that, by binary search
FEW = 24


@njit
def bin_block(
    block: Array,
    cuts: Array,
    starts: Array,
    low: Array,
    high: Array,
    missing: Array,
    rows: Array,
    codes: Array,
    gaps: Array,
    outside: Array,
) -> None:
    """codes[rows[r], p]: how many cuts are not above block[r, p]; counts values that are missing or outside low … high."""
    n = block.shape[1]
    for r in range(block.shape[0]):
        values = block[r]
        out = codes[rows[r]]
        first, last = starts[r], starts[r + 1]
        empty = 0
        beyond = 0
        if last - first <= FEW:
            out[:] = 0
            for c in range(first, last):
                cut = cuts[c]
                for p in range(n):
                    out[p] += np.int32(values[p] >= cut)
        else:
            for p in range(n):
                x = values[p]
                start = first
                size = last - first
                while size > 0:  # the answer is among start … start + size
                    half = size >> 1
                    if x >= cuts[start + half]:
                        start += half + 1
                        size -= half + 1
                    else:
                        size = half
                out[p] = start - first
        least, most = low[r], high[r]
        for p in range(n):
            x = values[p]
            empty += x != x
            beyond += not (x >= least and x <= most)  # a missing value is neither below nor above
        if empty:
            for p in range(n):
                if values[p] != values[p]:
                    out[p] = missing[r]
        gaps[r] += empty
        outside[r] += beyond - empty


@njit
def count_bins(codes: Array, starts: Array, labels: Array, counts: Array) -> None:
    """Add the points to counts (clusters × bins); label k, one past the last cluster, is a point in no cluster."""
    k = counts.shape[0]
    for i in range(codes.shape[0]):
        bins = codes[i]
        start = starts[i]
        for p in range(codes.shape[1]):
            label = np.int64(labels[p])
            if label < k:
                counts[label, start + bins[p]] += 1
