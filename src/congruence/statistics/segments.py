"""Sums over the cells of tables, by pair of clusterings or by cluster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from congruence.machine.jit import compiled
from congruence.typing import Scalar

Array = NDArray[Scalar]


def binned(where: Array, mass: Array, size: int) -> Array:
    """Sum of mass in each of `size` bins, in the dtype of mass; integers are exact."""
    if mass.dtype.kind in "iu" and float(mass.sum(dtype=np.float64)) >= 2.0**52:  # bincount adds in floats
        exact = np.zeros(size, mass.dtype)
        np.add.at(exact, where, mass)
        return exact
    return np.bincount(where, weights=mass, minlength=size).astype(mass.dtype, copy=False)


def segment_sum(values: Array, starts: Array) -> Array:
    """Sums of values[starts[p]:starts[p+1]], the same for one pair as for many; empty segments give 0."""
    if values.dtype.kind in "iub":
        if len(starts) == 2:
            return np.array([values.sum(dtype=np.int64)])
        running = np.concatenate(
            [[0], np.cumsum(values, dtype=np.int64)]
        )  # differences are right even after an overflow
        return np.asarray(running[starts[1:]] - running[starts[:-1]])
    total = np.zeros(len(starts) - 1, dtype=values.dtype if values.dtype.kind == "O" else np.float64)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        total[filled] = np.add.reduceat(values, starts[:-1][filled])
    return total


def crossed(pair: Array, place: Array, mass: Array, places: int, pairs: int) -> Array:
    """For each pair of clusterings, the sum of the products of two masses at the same place."""
    out = np.zeros(pairs)
    cross = compiled(_add_crossed, steps=float(len(mass)))
    cross(pair, place, mass.astype(np.float64), np.zeros(places), out)
    return out


def _add_crossed(pair: Array, place: Array, count: Array, seen: Array, out: Array) -> None:
    """Add to out[pair] each cell times the previous cells at the same position."""
    for c in range(len(count)):
        out[pair[c]] += seen[place[c]] * count[c]
        seen[place[c]] += count[c]


def others(place: Array, mass: Array, places: int) -> Array:
    """For each mass, the sum of the other masses at its place: exact for counts, else a sum of positive terms.

    >>> others(np.array([0, 0, 1, 0]), np.array([1e20, 1.0, 5.0, 2.0]), 2).tolist()
    [3.0, 1e+20, 0.0, 1e+20]
    """
    if mass.dtype.kind in "iu":
        return np.asarray(binned(place, mass, places)[place] - mass, dtype=np.float64)
    add, out = compiled(_add_others, steps=float(len(mass))), np.zeros(len(mass))
    add(place, mass, np.zeros(places), out)
    add(place[::-1], mass[::-1], np.zeros(places), out[::-1])
    return out


def _add_others(place: Array, mass: Array, seen: Array, out: Array) -> None:
    """Add to each mass the previous ones at the same place."""
    for c in range(len(mass)):
        out[c] += seen[place[c]]
        seen[place[c]] += mass[c]
