"""Differences of two clusterings in the similarity of pairs of points; read by ndc and aci.

E(i, j) = 1 − ½‖u_i − u_j‖₁ for rows u of memberships, 1/r in each of r clusters for a cover. Rows hold no negative
values, so E(i, j) = 1 − (s_i + s_j)/2 + Σ_k min(u_ik, u_jk) with s the sums of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from congruence.machine.jit import compiled
from congruence.statistics.covers import ROUNDING, Overlap
from congruence.statistics.pairs import Pairs
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Tables
from congruence.typing import SparseMatrix

#: most pairs of rows for which all values of E are sorted; above it, they are counted in bins
MOST_KEPT = 1 << 20

#: bins of the values of E, few enough for the cache; the chance term has an error of at most half a bin, 8e-6, and about 1e-10
#: if values vary smoothly
BINS = 1 << 16

#: number of steps over pairs of rows above which the loop is compiled
COMPILED_FROM = 20_000_000

#: cells per block of the numpy loop
BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Concordance(TwoSided):
    """Observed differences of the two sides on pairs of points, E_a − E_b, and those expected by chance."""

    #: mean over pairs of |E_a − E_b|, and its mean when the points of b are permuted
    discord: Array
    chance: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("discord", "chance")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """The statistic of every table of the tile."""
        if t.memberships is not None:
            rows = [_of_memberships(*read()) for read in t.memberships]
        elif t.maps is not None:
            rows = [_of_covers(o) for o in t.overlaps]
        else:
            p = Pairs.from_tables(t)
            with np.errstate(divide="ignore", invalid="ignore"):
                discord = (p.v10 + p.v01) / p.pairs
                chance = 2 * p.beyond_chance[1] / p.pairs
            return cls(discord, chance, p.identical)
        discord, chance = np.array(rows, dtype=np.float64).reshape(-1, 2).T
        return cls(discord, np.where(chance <= ROUNDING, 0.0, chance), t.identical)

    def at_chance(self) -> Self:
        """The means over permutations of the points."""
        return replace(self, discord=self.chance)


def _of_covers(o: Overlap) -> tuple[float, float]:
    pairs = float(o.pairs)
    if not pairs:
        return math.nan, math.nan
    return o.walk.discord / pairs, _mean_distance(*o.walk.values)


def _mean_distance(a: tuple[Array, Array], b: tuple[Array, Array]) -> float:
    """E|X − Y| of two independent variables, each given by values and how often they occur."""
    points = np.unique(np.concatenate([a[0], b[0]]))
    below = [
        np.cumsum(np.bincount(np.searchsorted(points, v), weights=w, minlength=len(points)))[:-1] / w.sum()
        for v, w in (a, b)
    ]
    return float((np.diff(points) * (below[0] * (1 - below[1]) + below[1] * (1 - below[0]))).sum())


# --- memberships ------------------------------------------------------------------------------------------------


def _of_memberships(u: SparseMatrix, v: SparseMatrix, weights: Array, own: Array) -> tuple[float, float]:
    """The statistic of two sparse membership matrices; `own` is the self-pair contribution of each point."""
    if u is v:  # no difference on any pair; what chance would give does not matter
        return 0.0, 0.0
    u, v, mass, within = distinct_rows(u, v, weights, own)
    inside = float(within.sum())
    total = (mass.sum() ** 2 - (mass**2).sum()) / 2 + inside
    if not total:
        return math.nan, math.nan
    many = len(mass) * (len(mass) - 1) // 2
    if many <= MOST_KEPT:
        blocks = [*_walk_by_numpy(u, v, mass), ([1.0], [1.0], [inside])]
        e_a, e_b, pairs = (np.concatenate(x) for x in zip(*blocks, strict=True))
        return float(pairs @ np.abs(e_a - e_b)) / total, _mean_distance((e_a, pairs), (e_b, pairs))
    low = min(1 - float(max(x.sum(axis=1).max() for x in (u, v))), 0.0)  # negative if rows sum to more than 1
    bins = [_Bins(low) for _ in range(2)]
    if many * (u.nnz + v.nnz) / len(mass) > COMPILED_FROM:
        discord = _walk_compiled(u, v, mass, bins)
    else:
        discord = 0.0
        for e_a, e_b, pairs in _walk_by_numpy(u, v, mass):
            discord += float(pairs @ np.abs(e_a - e_b))
            for side, e in zip(bins, (e_a, e_b), strict=True):
                side.add(e, pairs)
    for side in bins:
        side.add(np.ones(1), np.array([inside]))
    return discord / total, _mean_distance_of_bins(*bins)


def distinct_rows(
    u: SparseMatrix, v: SparseMatrix, weights: Array, own: Array
) -> tuple[SparseMatrix, SparseMatrix, Array, Array]:
    """Distinct rows of (u, v), the weight of each, and the pairs of points within each."""
    from scipy.sparse import hstack

    both = hstack([u, v]).tocsr()
    both.sort_indices()
    both.eliminate_zeros()
    seen: dict[bytes, int] = {}
    place = np.empty(both.shape[0], dtype=np.int64)
    ends = both.indptr.tolist()
    for i in range(len(place)):
        entries = slice(ends[i], ends[i + 1])
        key = both.indices[entries].tobytes() + both.data[entries].tobytes()
        place[i] = seen.setdefault(key, len(seen))
    _, first = np.unique(place, return_index=True)
    mass = np.bincount(place, weights=weights)
    inside = np.maximum(mass**2 - np.bincount(place, weights=own), 0.0) / 2
    return u.tocsr()[first], v.tocsr()[first], mass, inside


def _walk_by_numpy(u: SparseMatrix, v: SparseMatrix, mass: Array) -> Iterator[tuple[Array, Array, Array]]:
    """E_a, E_b and the weight of all pairs of different rows, block by block."""
    from scipy.spatial.distance import cdist

    n, rows = len(mass), [x.toarray() for x in (u, v)]
    step = max(1, BLOCK // max(n, 1))
    for start in range(0, n, step):
        here = np.arange(start, min(start + step, n))
        i, j = np.nonzero(here[:, None] < np.arange(n)[None, :])
        e_a, e_b = ((1 - cdist(x[here], x, "cityblock") / 2)[i, j] for x in rows)
        yield e_a, e_b, mass[here[i]] * mass[j]


def _walk_compiled(u: SparseMatrix, v: SparseMatrix, mass: Array, bins: list[_Bins]) -> float:
    sides = [(x.indptr, x.indices, x.data, np.asarray(x.sum(axis=1)).ravel(), np.zeros(x.shape[1])) for x in (u, v)]
    return float(compiled(_walk)(mass, *sides[0], *sides[1], bins[0].low, bins[0].width, bins[0].sums, bins[1].sums))


def _walk(
    mass: Array, starts_a: Array, place_a: Array, value_a: Array, sum_a: Array, row_a: Array, starts_b: Array,
    place_b: Array, value_b: Array, sum_b: Array, row_b: Array, low: float, width: float, bins_a: Array,
    bins_b: Array,
) -> float:  # fmt: skip
    """Σ |E_a − E_b| over pairs of different rows; also bins the values of E."""
    total = 0.0
    most = len(bins_a) - 1
    for x in range(len(mass)):
        for p in range(starts_a[x], starts_a[x + 1]):
            row_a[place_a[p]] = value_a[p]
        for p in range(starts_b[x], starts_b[x + 1]):
            row_b[place_b[p]] = value_b[p]
        for y in range(x + 1, len(mass)):
            e_a = 1 - (sum_a[x] + sum_a[y]) / 2
            for p in range(starts_a[y], starts_a[y + 1]):
                e_a += min(row_a[place_a[p]], value_a[p])
            e_b = 1 - (sum_b[x] + sum_b[y]) / 2
            for p in range(starts_b[y], starts_b[y + 1]):
                e_b += min(row_b[place_b[p]], value_b[p])
            w = mass[x] * mass[y]
            total += w * abs(e_a - e_b)
            at = (e_a - low) / width
            b = min(max(int(at), 0), most)
            bins_a[b, 0] += w
            bins_a[b, 1] += w * (at - b)
            bins_a[b, 2] += w * (at - b) ** 2
            at = (e_b - low) / width
            b = min(max(int(at), 0), most)
            bins_b[b, 0] += w
            bins_b[b, 1] += w * (at - b)
            bins_b[b, 2] += w * (at - b) ** 2
        for p in range(starts_a[x], starts_a[x + 1]):
            row_a[place_a[p]] = 0.0
        for p in range(starts_b[x], starts_b[x + 1]):
            row_b[place_b[p]] = 0.0
    return total


class _Bins:
    """Histogram of values from `low` to 1: counts, and sums of the positions within each bin and of their squares."""

    def __init__(self, low: float) -> None:
        self.low, self.width = low, (1 - low) / BINS
        self.sums = np.zeros((BINS, 3))

    def add(self, values: Array, weights: Array) -> None:
        """Count these values."""
        at = (values - self.low) / self.width
        bins = np.clip(at.astype(np.int64), 0, BINS - 1)
        for power in range(3):
            self.sums[:, power] += np.bincount(bins, weights=weights * (at - bins) ** power, minlength=BINS)

    def moments(self) -> tuple[Array, Array, Array]:
        """Share, mean and variance of each bin, in widths of a bin above `low`."""
        count, first, second = self.sums.T
        many = np.where(count > 0, count, 1.0)
        mean = first / many
        return count / count.sum(), np.arange(BINS) + mean, np.maximum(second / many - mean**2, 0.0)


def _mean_distance_of_bins(a: _Bins, b: _Bins) -> float:
    """E|X − Y| from two histograms over the same bins: exact between bins; within a bin, the middle of the possible range.

    Within a bin |E X − E Y| ≤ E|X − Y| ≤ √(var X + var Y + (E X − E Y)²), so values that are all equal, as those of
    crisp memberships, give no error.
    """
    (p, x, var_x), (q, y, var_y) = a.moments(), b.moments()
    before = [np.cumsum(z) - z for z in (p, q, p * x, q * y)]
    between = (q * (y * before[0] - before[2])).sum() + (p * (x * before[1] - before[3])).sum()
    least = np.abs(x - y)
    within = (p * q * (least + np.sqrt(var_x + var_y + least**2)) / 2).sum()
    return float(a.width * (between + within))
