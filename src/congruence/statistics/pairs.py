"""Pair counts: how many pairs of points are together in a, in b, in both."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, Self

import numpy as np

from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Tables
from congruence.typing import Scalar


class Sums(NamedTuple):
    """Sums of one table, over its cells, its rows (clusters of a) and its columns (clusters of b), in Python's integers."""

    n: Scalar
    #: cells, rows and columns that are not empty
    cells: Scalar
    rows: Scalar
    columns: Scalar
    #: Σ n_ij², Σ a_i², Σ b_j²
    both: Scalar
    a: Scalar
    b: Scalar
    #: Σ x·log(n/x) in whole units (see `statistics.information.unit_of`); 0 if they were not requested
    units_both: Scalar
    units_a: Scalar
    units_b: Scalar


#: most points for which n² fits in 64 bits; above it, the last sums are Python integers
LARGEST = 3_037_000_499


def _exact_square(x: Array) -> Array:
    return np.asarray(np.square(x.astype(object)))


def _differences(n: Scalar, own: Scalar, both: Scalar, a: Scalar, b: Scalar) -> tuple[Scalar, ...]:
    """Twice the pairs: all, together in a, in b, in both, in a only, in b only, apart in a, apart in b."""
    return n * n - own, a - own, b - own, both - own, a - both, b - both, n * n - a, n * n - b


@dataclass(frozen=True, eq=False)
class Pairs(TwoSided):
    """The number of pairs of points: all, together in a, in b, in both. Diagonals are already removed."""

    pairs: Array
    same_a: Array
    same_b: Array
    same_both: Array
    only_a: Array
    only_b: Array
    identical: Array
    #: tolerance for 0: none for integers, rounding error for sums of weights and memberships
    tiny: Array
    #: pairs apart in a and in b, if they were formed before rounding
    rest_a: Array | None = field(default=None, kw_only=True)
    rest_b: Array | None = field(default=None, kw_only=True)
    symbols: ClassVar[tuple[str, ...]] = ("pairs", "v11", "v10", "v01", "v00", "s_a", "s_b")

    @classmethod
    def from_squares(cls, n: Array, own: Array, both: Array, a: Array, b: Array, identical: Array) -> Self:
        """From Σn_ij², Σa_i², Σb_j² over ordered pairs; differences are formed before anything is rounded."""
        n, own, both, a, b = (np.asarray(x) for x in (n, own, both, a, b))
        if both.dtype.kind in "iuO" and int(n.max(initial=0)) > LARGEST:
            n, own, both, a, b = (x.astype(object) for x in (n, own, both, a, b))
        halves = [np.asarray(x / 2.0, dtype=np.float64) for x in _differences(n, own, both, a, b)]
        tiny = np.zeros(len(both))
        if both.dtype.kind == "f":
            tiny = 1e-13 * np.square(n)
            halves = [np.where(np.abs(x) <= tiny, 0.0, x) for x in halves]
        pairs, same_a, same_b, same_both, only_a, only_b, rest_a, rest_b = halves
        counts = pairs, same_a, same_b, same_both, only_a, only_b
        return cls(*counts, identical, tiny, rest_a=rest_a, rest_b=rest_b)

    @classmethod
    def of_sums(cls, s: Sums) -> Self:
        """The numbers of one pair of partitions, as Python floats instead of arrays."""
        pairs, a, b, both, only_a, only_b, rest_a, rest_b = _differences(s.n, s.n, s.both, s.a, s.b)
        same: Scalar = s.cells == s.rows == s.columns
        no_rounding: Scalar = 0.0
        return cls(
            pairs / 2.0, a / 2.0, b / 2.0, both / 2.0, only_a / 2.0, only_b / 2.0, same, no_rounding, rest_a=rest_a / 2.0,
            rest_b=rest_b / 2.0,
        )  # fmt: skip

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of every table of the tile; in covers two points are together if they share a cluster."""
        if t.maps is not None:
            counts = np.array([o.together for o in t.overlaps], dtype=np.float64).reshape(-1, 4)
            pairs, a, b, both = counts.T
            return cls(pairs, a, b, both, a - both, b - both, t.identical, np.zeros(len(pairs)))
        if t.within is not None:
            return cls._weighted(t)
        if t.count.dtype.kind in "iu" and int(np.max(t.n, initial=0)) > LARGEST:
            both, a, b = t.sum(_exact_square(t.count)), t.over_rows(_exact_square), t.over_cols(_exact_square)
        else:
            both, a, b = t.sum(np.square(t.count)), t.over_rows(np.square), t.over_cols(np.square)
        return cls.from_squares(t.n, t.own, both, a, b, t.identical)

    @classmethod
    def _weighted(cls, t: Tables) -> Self:
        """Pair sums of weighted points: sums of positive terms, within cells and between them; weights scaled to mean 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            scale = np.square(np.where(t.n > 0, t.n_used / t.n, 0.0))
        assert t.within is not None
        both, only_a, only_b = t.sum(t.within), t.across(0), t.across(1)
        pairs = np.maximum(both + t.across(), both + (only_a + only_b))
        rest_a, rest_b = t.between(0), t.between(1)
        return cls(
            pairs * scale, (both + only_a) * scale, (both + only_b) * scale, both * scale, only_a * scale, only_b * scale,
            t.identical, np.zeros(len(both)), rest_a=rest_a * scale, rest_b=rest_b * scale,
        )  # fmt: skip

    @property
    def v11(self) -> Array:
        """Together in both."""
        return self.same_both

    @property
    def v10(self) -> Array:
        """Together in a only."""
        return self.only_a

    @property
    def v01(self) -> Array:
        """Together in b only."""
        return self.only_b

    @property
    def v00(self) -> Array:
        """Together in neither."""
        return np.asarray(np.maximum(self.pairs - self.same_both - (self.only_a + self.only_b), 0.0))

    @property
    def s_a(self) -> Array:
        """Together in a."""
        return self.same_a

    @property
    def s_b(self) -> Array:
        """Together in b."""
        return self.same_b

    @property
    def beyond_chance(self) -> tuple[Array, Array]:
        """v11 − E and (s_a + s_b)/2 − E, with E = s_a·s_b / pairs.

        Where nearly all pairs are together, these are differences of nearly equal numbers. With the pairs apart in a and in b,
        v11 − E = (v11·apart_a − s_a·v01) / pairs and (s_a + s_b)/2 − E = (s_a·apart_b + s_b·apart_a) / 2 pairs.
        """
        apart_a = self.pairs - self.same_a if self.rest_a is None else self.rest_a
        apart_b = self.pairs - self.same_b if self.rest_b is None else self.rest_b
        share_a, share_b = apart_a / self.pairs, apart_b / self.pairs
        above = (self.v11 * share_a - self.s_a * (self.v01 / self.pairs)) + (
            self.v11 * share_b - self.s_b * (self.v10 / self.pairs)
        )
        return above / 2, (self.s_a * share_b + self.s_b * share_a) / 2


class Gram(Pairs):
    """Pair sums of the two co-membership matrices UUᵀ and VVᵀ; for hard clusterings the same as Pairs."""

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of the Gram matrices; soft tiles store theirs."""
        return cls(**vars(t.gram if t.gram is not None else Pairs.from_tables(t)))


#: a clustering is near-trivial if more than this share of its points is in one cluster, or alone
TRIVIAL = 0.95
#: a cluster has a single point if it has less than this, as a sum of weights or memberships too
ALONE = 1.5


def near_trivial(sizes: Array) -> str:
    """Whether a clustering with these sizes of clusters (or sums of weights) is near-trivial: "lump", "dust", or "" if not.

    >>> import numpy as np
    >>> [near_trivial(np.array(sizes)) for sizes in ([98, 2], [1] * 98 + [2], [1] * 67 + [11] * 3)]
    ['lump', 'dust', '']
    """
    total = float(sizes.sum())
    if not total or sizes.max() > TRIVIAL * total:
        return "lump"
    return "dust" if total > 2 and sizes[sizes < ALONE].sum() > TRIVIAL * total else ""
