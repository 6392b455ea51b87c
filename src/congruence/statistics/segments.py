"""Sums over pairs of masses, and of the other masses, without differences: for weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from congruence.machine.jit import compiled
from congruence.typing import Scalar

Array = NDArray[Scalar]


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
        total = np.zeros(places, mass.dtype)
        np.add.at(total, place, mass)
        return np.asarray(total[place] - mass, dtype=np.float64)
    add, out = compiled(_add_others, steps=float(len(mass))), np.zeros(len(mass))
    add(place, mass, np.zeros(places), out)
    add(place[::-1], mass[::-1], np.zeros(places), out[::-1])
    return out


def _add_others(place: Array, mass: Array, seen: Array, out: Array) -> None:
    """Add to each mass the previous ones at the same place."""
    for c in range(len(mass)):
        out[c] += seen[place[c]]
        seen[place[c]] += mass[c]
