"""The compiled loops of density profiles; imported only when the work is worth it."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.numerics import njit


@njit
def bin_values(values: Any, cuts: Any, low: float, high: float, missing: int, out: Any) -> Any:
    """Bin of each value: how many cuts are not above it; (missing values, values outside low … high)."""
    gaps = 0
    beyond = 0
    many = len(cuts)
    for p in range(len(values)):
        x = values[p]
        if x != x:
            out[p] = missing
            gaps += 1
            continue
        if x < low or x > high:
            beyond += 1
        first, last = 0, many
        while first < last:
            mid = (first + last) >> 1
            if x >= cuts[mid]:
                first = mid + 1
            else:
                last = mid
        out[p] = first
    if not low <= high:  # nothing was there when the bins were fitted
        beyond = len(values) - gaps
    return gaps, beyond


@njit
def count_bins(codes: Any, starts: Any, labels: Any, counts: Any) -> None:
    """Add the points to counts (clusters × bins); label k, one past the last cluster, is a point in no cluster."""
    k = counts.shape[0]
    r = codes.shape[1]
    for p in range(codes.shape[0]):
        label = np.int64(labels[p])
        if label >= k:
            continue
        for i in range(r):
            counts[label, starts[i] + codes[p, i]] += 1
