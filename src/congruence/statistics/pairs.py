"""Pair counts: how many pairs of points are together in a, in b, in both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from congruence.statistics.tables import Array, Tables


@dataclass(frozen=True, eq=False)
class Pairs:
    """The number of pairs of points: all, together in a, in b, in both. Diagonals are removed already."""

    pairs: Array
    same_a: Array
    same_b: Array
    same_both: Array
    only_a: Array
    only_b: Array
    identical: Array
    #: values up to this count as 0: none for integers, rounding error for sums of weights and memberships
    tiny: Array
    symbols: ClassVar[tuple[str, ...]] = ("pairs", "v11", "v10", "v01", "v00", "s_a", "s_b")

    @classmethod
    def from_squares(cls, n: Array, own: Array, both: Array, a: Array, b: Array, identical: Array) -> Self:
        """From Σn_ij², Σa_i², Σb_j² over ordered pairs; differences are formed before anything is rounded."""
        halves = [np.asarray(x) / 2.0 for x in (n * n - own, a - own, b - own, both - own, a - both, b - both)]
        tiny = np.zeros(len(both))
        if np.asarray(both).dtype.kind not in "iu":
            tiny = 1e-13 * np.square(n)
            halves = [np.where(np.abs(x) <= tiny, 0.0, x) for x in halves]
        pairs, same_a, same_b, same_both, only_a, only_b = halves
        return cls(pairs, same_a, same_b, same_both, only_a, only_b, identical, tiny)

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of every table of the tile."""
        square = np.square
        return cls.from_squares(
            t.n, t.own, t.sum(square(t.count)), t.over_rows(square), t.over_cols(square), t.identical
        )

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
        return self.pairs - self.same_both - self.only_a - self.only_b

    @property
    def s_a(self) -> Array:
        """Together in a."""
        return self.same_a

    @property
    def s_b(self) -> Array:
        """Together in b."""
        return self.same_b

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, same_a=self.same_b, same_b=self.same_a, only_a=self.only_b, only_b=self.only_a)


class Gram(Pairs):
    """Pair sums of the two co-membership matrices UUᵀ and VVᵀ; for hard clusterings the same as Pairs."""

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of the Gram matrices; a soft tile carries its own."""
        return cls(**vars(t.gram if t.gram is not None else Pairs.from_tables(t)))
