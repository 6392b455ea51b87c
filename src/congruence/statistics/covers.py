"""Statistics of two covers: the table of their signatures, and the clusters of each signature.

The signature of a point is the set of clusters it is in. Points with the same signatures on both sides are
interchangeable, so every sum over pairs of points is a sum over pairs of cells of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from congruence.statistics.pairs import Pairs
from congruence.statistics.sharing import Walk, walked
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, ClusterNames, Table, Tables
from congruence.typing import Label, SparseMatrix

#: smaller differences of sums of many terms are rounding errors
ROUNDING = 1e-14


@dataclass(frozen=True, eq=False)
class ClusterMap:
    """The clusters of each signature of a cover: row s of a sparse 0/1 matrix is clusters[starts[s]:starts[s+1]]."""

    starts: Array
    clusters: Array
    #: names of the clusters
    names: ClusterNames

    @classmethod
    def of_partition(cls, names: ClusterNames) -> Self:
        """One cluster per signature: a partition as a cover."""
        return cls(np.arange(len(names) + 1), np.arange(len(names)), names)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @cached_property
    def lengths(self) -> Array:
        """Number of clusters of each signature."""
        return np.diff(self.starts)

    def rows(self, signatures: Array) -> tuple[Array, Array]:
        """The map of these signatures, in this order, as (starts, clusters)."""
        lengths = self.lengths[signatures]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        within = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
        return starts, self.clusters[np.repeat(self.starts[signatures], lengths) + within]

    def with_own(self, names: Sequence[Label]) -> ClusterMap:
        """The map with these clusters, each of which is a further signature."""
        places = np.arange(len(names))
        starts = np.concatenate([self.starts, self.starts[-1] + 1 + places])
        return ClusterMap(starts, np.concatenate([self.clusters, self.k + places]), (*self.names, *names))

    def sparse(self, signatures: Array) -> SparseMatrix:
        """The map of these signatures as a scipy.sparse CSR array of floats."""
        from scipy.sparse import csr_array

        starts, clusters = self.rows(signatures)
        return csr_array((np.ones(len(clusters)), clusters, starts), shape=(len(signatures), self.k))


class Overlap:
    """Two covers of the same points, by the cells of their table of signatures; all properties are computed on request."""

    def __init__(
        self, mass: Array, signatures: tuple[Array, Array], maps: tuple[ClusterMap, ClusterMap], own: Array
    ) -> None:
        #: mass of each cell, its two signatures, and the self-pair contribution of its points: their number, or Σw²
        self.mass, self.signatures, self.own = mass, signatures, own
        self.maps = maps
        self.n = mass.sum()

    def swapped(self) -> Overlap:
        """The two covers swapped."""
        return Overlap(self.mass, self.signatures[::-1], self.maps[::-1], self.own)

    @cached_property
    def counts_points(self) -> bool:
        """Whether masses are whole numbers of points (otherwise they are weights)."""
        return bool(self.mass.dtype.kind in "iu")

    @property
    def tiny(self) -> float:
        """Shares of the mass that differ by less are equal: 0 for counts, rounding error for weights."""
        return 0.0 if self.counts_points else 1e-12

    @cached_property
    def lengths(self) -> tuple[Array, Array]:
        """Number of clusters of a, and of b, that the points of each cell are in."""
        a, b = (m.lengths[s] for m, s in zip(self.maps, self.signatures, strict=True))
        return a, b

    @cached_property
    def rows(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """The clusters of each cell on both sides, as (starts, clusters)."""
        a, b = (m.rows(s) for m, s in zip(self.maps, self.signatures, strict=True))
        return a, b

    # --- clusters with clusters

    @cached_property
    def _sizes(self) -> tuple[Array, Array]:
        found = []
        for m, (starts, clusters) in zip(self.maps, self.rows, strict=True):
            mass = np.repeat(self.mass, np.diff(starts))
            found.append(np.bincount(clusters, weights=mass, minlength=m.k).astype(self.mass.dtype, copy=False))
        return found[0], found[1]

    @cached_property
    def kept(self) -> tuple[Array, Array]:
        """The clusters that have points, by their positions in the maps."""
        a, b = (np.flatnonzero(size > 0) for size in self._sizes)
        return a, b

    @property
    def sizes(self) -> tuple[Array, Array]:
        """Sizes of the clusters that have points."""
        return self._sizes[0][self.kept[0]], self._sizes[1][self.kept[1]]

    @cached_property
    def common(self) -> tuple[Array, Array, Array]:
        """Clusters of a and of b that have points in common, and how many: (row, column, count), by row."""
        a, b = (m.sparse(s) for m, s in zip(self.maps, self.signatures, strict=True))
        product = (a.multiply(self.mass[:, None]).tocsr().T @ b).tocsr()
        product = product[self.kept[0]][:, self.kept[1]].tocsr()
        product.sort_indices()
        row = np.repeat(np.arange(product.shape[0]), np.diff(product.indptr))
        count = product.data
        return row, product.indices, np.rint(count).astype(np.int64) if self.counts_points else count

    @property
    def names(self) -> tuple[list[Label], list[Label]]:
        """Names of the clusters that have points."""
        a, b = ([m.names[i] for i in kept.tolist()] for m, kept in zip(self.maps, self.kept, strict=True))
        return a, b

    @cached_property
    def _equal(self) -> tuple[Array, Array, Array]:
        """For each cluster of a, and of b, how many of the other side are the same set; for equal pairs, whether both are."""
        (row, col, count), (a, b) = self.common, self.sizes
        tiny = self.tiny * float(self.n)
        same = (np.abs(count - a[row]) <= tiny) & (np.abs(count - b[col]) <= tiny)
        of_a, of_b = np.bincount(row[same], minlength=len(a)), np.bincount(col[same], minlength=len(b))
        return of_a, of_b, of_a[row[same]] == of_b[col[same]]

    @property
    def equal_clusters(self) -> tuple[Array, Array]:
        """For each cluster of a, and of b, how many of the other side are the same set."""
        return self._equal[0], self._equal[1]

    @property
    def same_sets(self) -> bool:
        """Whether both have the same clusters, ignoring repeats."""
        of_a, of_b, _ = self._equal
        return bool((of_a > 0).all() and (of_b > 0).all())

    @property
    def identical(self) -> bool:
        """Whether both have the same clusters, each equally often."""
        a, b = (np.sort(sizes) for sizes in self.sizes)
        if len(a) != len(b) or not np.allclose(a, b, rtol=1e-9):  # clusters of different sizes differ
            return False
        return self.same_sets and bool(self._equal[2].all())

    # --- pairs of points

    @cached_property
    def pairs(self) -> SparseMatrix:
        """Number (or mass) of pairs of points."""
        if self.counts_points:
            n = int(self.n)
            return n * (n - 1) // 2
        return (float(self.n) ** 2 - float(self.own.sum())) / 2

    @cached_property
    def walk(self) -> Walk:
        """The sums over pairs of points that share a cluster."""
        return walked(self.mass, self.own, *self.rows, self.pairs)

    @property
    def together(self) -> tuple[float, float, float, float]:
        """Pairs of points, and those that share a cluster in a, in b, in both."""
        a, b = (float(self.pairs - side[0]) for side in self.walk.sharing)
        return float(self.pairs), a, b, float(self.walk.both)

    @cached_property
    def bcubed(self) -> tuple[float, float]:
        """B-cubed precision and recall: means over the points covered in b, and in a; NaN if there are none."""
        found = []
        for side in (1, 0):
            covered = self.lengths[side] > 0
            share, reach = (x[covered] for x in (self.walk.share[side], self.walk.reach[side]))
            mass = self.mass[covered]
            found.append(float((mass * (share / reach)).sum() / mass.sum()) if mass.sum() else math.nan)
        return found[0], found[1]


def overlap_of(table: Table) -> Overlap:
    """The two covers of a table; a partition is a cover with one cluster per signature."""
    maps = table.maps if table.maps is not None else (None, None)
    a, b = (
        ClusterMap.of_partition(names) if m is None else m
        for m, names in zip(maps, (table.rows, table.columns), strict=True)
    )
    if table.within is not None:  # Σw² of each cell
        own = np.maximum(np.square(table.count) - 2 * table.within, 0.0)
    elif table.count.dtype.kind in "iu":
        own = table.count
    else:  # partitions counted on a GPU: only the sum matters
        own = np.full(len(table.count), table.own / max(len(table.count), 1))
    return Overlap(table.count, (table.row, table.col), (a, b), own)


# --- pairs of points --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SharedPairs(TwoSided):
    """Pairs of points by the number of clusters they share in a and in b, as shares of all pairs."""

    #: share of the pairs with the same number of common clusters in both, and the same expected by chance
    observed: Array
    expected: Array
    #: observed − expected and 1 − expected, formed before anything is rounded
    above: Array
    room: Array
    #: the same with partial credit min / max for different numbers
    soft_observed: Array
    soft_expected: Array
    soft_above: Array
    soft_room: Array
    #: Σ over pairs of the smaller and of the larger number
    least: Array
    most: Array
    #: share of the pairs that share no cluster in either
    unshared: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("observed", "expected", "soft_observed", "soft_expected", "least", "most")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """The statistic of every table of the tile."""
        if t.maps is None:
            return cls._of_partitions(Pairs.from_tables(t))
        rows = [_sharing(o) for o in t.overlaps]
        return cls(*[*np.array(rows, dtype=np.float64).T, t.identical])

    @classmethod
    def _of_partitions(cls, p: Pairs) -> Self:
        """Pairs share one cluster or none."""
        with np.errstate(divide="ignore", invalid="ignore"):
            observed = (p.v11 + p.v00) / p.pairs
            expected = (p.s_a * p.s_b + (p.pairs - p.s_a) * (p.pairs - p.s_b)) / p.pairs**2
            above, room = (2 * x / p.pairs for x in p.beyond_chance)
            unshared = p.v00 / p.pairs
        shares = observed, expected, above, room
        return cls(*shares, *shares, p.v11, p.v11 + (p.v10 + p.v01), unshared, p.identical)

    def at_chance(self) -> Self:
        """The means over permutations of the points; those of `least` and `most` are not known."""
        unknown = np.full(len(self.above), np.nan)
        return replace(
            self,
            observed=self.expected,
            above=0 * self.above,
            soft_observed=self.soft_expected,
            soft_above=0 * self.soft_above,
            least=unknown,
            most=unknown,
        )


def _sharing(o: Overlap) -> tuple[float, ...]:
    """Observed, expected, above, room, the same of the soft form, least, most, unshared."""
    w, pairs = o.walk, o.pairs
    a, b = (x.tolist() for x in w.sharing)
    if not pairs:
        return (math.nan,) * 8 + (float(w.least), float(w.most), math.nan)
    chance = sum(x * y for x, y in zip(a, b, strict=False))  # exact integers: pairs² exceeds 2⁶³ at 78,000 points
    square = pairs * pairs
    above, room = (pairs * w.agree - chance) / square, (square - chance) / square
    if not o.counts_points and abs(room) < 1e-14:
        room = 0.0
    i, j = (np.arange(len(x)) for x in (a, b))
    low, high = np.minimum.outer(i, j), np.maximum.outer(i, j)
    credit = np.where(high > 0, low / np.maximum(high, 1), 1.0)
    soft = float((np.array(a, dtype=np.float64) / pairs) @ credit @ (np.array(b, dtype=np.float64) / pairs))
    unshared = a[0] + b[0] - (pairs - w.both)  # none in a, none in b, minus none in either
    return (
        w.agree / pairs,
        chance / square,
        above,
        room,
        w.soft / pairs,
        soft,
        w.soft / pairs - soft,
        1 - soft if 1 - soft > ROUNDING else 0.0,
        float(w.least),
        float(w.most),
        unshared / pairs,
    )


# --- clusters with clusters -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Intersections:
    """Sizes of the clusters and of their intersections, and the entropies that follow from them."""

    overlaps: list[Overlap]
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "I", "lost_a", "lost_b")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """The statistic of every table of the tile."""
        return cls(t.overlaps, np.array([o.same_sets for o in t.overlaps], dtype=bool))

    def each(self, value: Callable[[Overlap], float]) -> Array:
        """A number for each pair of covers."""
        return np.array([value(o) for o in self.overlaps], dtype=np.float64)

    @cached_property
    def _entropies(self) -> Array:
        return np.array([_entropies(o) for o in self.overlaps], dtype=np.float64).reshape(-1, 5)

    H_a = property(lambda self: self._entropies[:, 0], doc="Σ of the entropies of the clusters of a.")
    H_b = property(lambda self: self._entropies[:, 1], doc="Σ of the entropies of the clusters of b.")
    I = property(lambda self: self._entropies[:, 2], doc="Mutual information of the two covers.")  # noqa: E741
    lost_a = property(lambda self: self._entropies[:, 3], doc="Mean over clusters of a of H(X given b) / H(X).")
    lost_b = property(lambda self: self._entropies[:, 4], doc="Mean over clusters of b of H(Y given a) / H(Y).")

    def swapped(self) -> Self:
        """The same with the two covers swapped."""
        return type(self)([o.swapped() for o in self.overlaps], self.identical)


def _entropies(o: Overlap) -> tuple[float, float, float, float, float]:
    """H_a, H_b, I, and the mean share of a cluster's entropy not explained by the other cover."""
    (row, col, common), (a, b) = o.common, o.sizes
    n, tiny = float(o.n), o.tiny

    def h(w: Array) -> Array:
        share = np.asarray(w, dtype=np.float64) / n
        return np.asarray(-share * np.log(np.where((share > tiny) & (share < 1 - tiny), share, 1.0)))

    def given(x: Array, y: Array, both: Array) -> tuple[Array, Array, Array]:
        """Where the constraint holds, and there H(X|Y) and H(Y|X)."""
        neither, only_y, only_x, in_both = h(np.maximum(n - x - y + both, 0.0)), h(y - both), h(x - both), h(both)
        ok = neither + in_both > only_y + only_x + tiny
        joint = neither + only_y + only_x + in_both
        return ok, joint - (h(y) + h(n - y)), joint - (h(x) + h(n - x))

    own_a, own_b = (h(x) + h(n - x) for x in (a, b))
    left_a, left_b = own_a.copy(), own_b.copy()
    ok, of_a, of_b = given(a[row], b[col], common)
    np.minimum.at(left_a, row[ok], of_a[ok])
    np.minimum.at(left_b, col[ok], of_b[ok])
    # clusters without a common point pass the constraint only if one holds more than n/e points
    for big, other, here, there, mine, theirs in ((a, b, row, col, left_a, left_b), (b, a, col, row, left_b, left_a)):
        starts, order = None, np.argsort(here, kind="stable")
        starts = np.searchsorted(here[order], np.arange(len(big) + 1))
        for k in np.flatnonzero(big > n / math.e).tolist():
            apart = np.ones(len(other), dtype=bool)
            apart[there[order[starts[k] : starts[k + 1]]]] = False
            rest = np.flatnonzero(apart)
            ok, of_k, of_rest = given(np.full(len(rest), big[k]), other[rest], np.zeros(len(rest)))
            if ok.any():
                mine[k] = min(mine[k], of_k[ok].min())
                theirs[rest[ok]] = np.minimum(theirs[rest[ok]], of_rest[ok])
    left_a, left_b = np.maximum(left_a, 0.0), np.maximum(left_b, 0.0)
    h_a, h_b = float(own_a.sum()), float(own_b.sum())
    information = (h_a - float(left_a.sum()) + h_b - float(left_b.sum())) / 2
    equal_a, equal_b = o.equal_clusters
    lost = []
    for left, own, equal in ((left_a, own_a, equal_a), (left_b, own_b, equal_b)):
        if not len(a) or not len(b):
            lost.append(math.nan)
            continue
        share = np.where(own > 0, left / np.where(own > 0, own, 1.0), np.where(equal > 0, 0.0, 1.0))
        lost.append(float(share.mean()))
    return h_a, h_b, information, lost[0], lost[1]
