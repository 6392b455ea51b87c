"""Bounds of p-values from exact moments under permutation, without draws."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

from congruence.engine.cpu import table_of
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels

Number = TypeVar("Number", float, Fraction)


def chance_bound(a: Clustering, b: Clustering) -> float:
    """An upper bound of the p-value of the adjusted Rand index, without draws or assumptions on the distribution.

    The sum over pairs of points of the products of co-memberships has a known mean and variance when the points are
    permuted (Mantel 1967). A value t standard deviations above the mean is reached with p ≤ 1 / (1 + t²) (Cantelli's
    inequality).

    >>> import congruence as cg
    >>> halves = np.repeat([0, 1], 500)
    >>> runs = cg.Ensemble([halves, halves, np.arange(1000) % 2]).members
    >>> chance_bound(runs[0], runs[1]) < 0.001, chance_bound(runs[0], runs[2])
    (True, 1.0)
    """
    if isinstance(a, Labels) and isinstance(b, Labels):
        return _bound(*_hard_sums(a, b))
    return _bound(*_soft_sums(a, b))


def _bound(n: int, together: Number, one: Sequence[Number], two: Sequence[Number]) -> float:
    """The bound from the points, the pairs together in both, and the sums of each side."""
    (a1, a2, a3), (b1, b2, b3) = one, two
    if n < 4:
        return 1.0
    pairs = n * (n - 1)
    mean = a1 * b1 / pairs
    variance = 2 * a2 * b2 / pairs + 4 * (a3 - a2) * (b3 - b2) / (pairs * (n - 2)) - mean**2
    variance += (a1**2 - 4 * a3 + 2 * a2) * (b1**2 - 4 * b3 + 2 * b2) / (pairs * (n - 2) * (n - 3))
    if together <= mean or variance <= 0:
        return 1.0
    return float(variance / (variance + (together - mean) ** 2))


def _hard_sums(a: Labels, b: Labels) -> tuple[int, Fraction, list[Fraction], list[Fraction]]:
    """Points, pairs together in both, and sums of one side, as integers because the variance is a small difference."""
    table, _ = table_of(a, b)
    counts = table.count.tolist()
    sums = []
    for sizes in (table.row_sums.tolist(), table.col_sums.tolist()):
        pairs = Fraction(sum(x * (x - 1) for x in sizes))
        sums.append([pairs, pairs, Fraction(sum(x * (x - 1) ** 2 for x in sizes))])
    return sum(counts), Fraction(sum(x * (x - 1) for x in counts)), sums[0], sums[1]


def _soft_sums(a: Clustering, b: Clustering) -> tuple[int, float, list[float], list[float]]:
    """The same for memberships U and V: sums over pairs of different points of UUᵀ and VVᵀ."""
    both = [x.dense() for x in (a, b)]
    here = (both[0].sum(axis=1) > 0) & (both[1].sum(axis=1) > 0)
    u, v = (x[here] for x in both)
    own = [np.square(x).sum(axis=1) for x in (u, v)]
    sums = []
    for x, square in zip((u, v), own, strict=True):
        rows = x @ x.sum(axis=0) - square
        whole = float(np.square(x.T @ x).sum() - np.square(square).sum())
        sums.append([float(rows.sum()), whole, float(np.square(rows).sum())])
    return len(u), float(np.square(u.T @ v).sum() - (own[0] * own[1]).sum()), sums[0], sums[1]
