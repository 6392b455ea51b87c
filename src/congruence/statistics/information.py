"""Entropies of two clusterings, and their expected mutual information."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import numpy as np

from congruence.statistics.tables import Array, Tables, xlogx


@dataclass(frozen=True, eq=False)
class Info:
    """Entropies in nats: of a, of b, and joint."""

    n: Array
    H_a: Array
    H_b: Array
    H_ab: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "H_ab", "MI")

    @classmethod
    def from_sums(
        cls, n: Array, a: Array, b: Array, both: Array, a_decides: Array, b_decides: Array, identical: Array
    ) -> Self:
        """From Σ x log x of the cluster sizes and of the cells.

        If one clustering determines the other, the joint entropy is that clustering's entropy. Using the same float gives
        identical partitions a score of exactly 1, or a distance of exactly 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            h_a, h_b, h_ab = (np.log(n) - x / n for x in (a, b, both))
            # below rounding error of log n: one cluster (two clusters have a larger entropy up to 10¹² points)
            h_a, h_b, h_ab = (np.where(h < 1e-13, 0.0, h) for h in (h_a, h_b, h_ab))
        h_b = np.where(a_decides & b_decides, h_a, h_b)
        h_ab = np.where(a_decides, h_a, np.where(b_decides, h_b, h_ab))
        return cls(n, h_a, h_b, h_ab, identical)

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Entropies of every table of the tile."""
        sums = t.over_rows(xlogx), t.over_cols(xlogx), t.sum(xlogx(t.count))
        return cls.from_sums(t.n, *sums, t.a_decides, t.b_decides, t.identical)

    @property
    def MI(self) -> Array:
        """Mutual information, never below 0."""
        return np.asarray(np.maximum(self.H_a + self.H_b - self.H_ab, 0.0))

    def swapped(self) -> Self:
        """The same with the two clusterings exchanged."""
        return replace(self, H_a=self.H_b, H_b=self.H_a)


@dataclass(frozen=True, eq=False)
class ChanceInfo(Info):
    """Entropies, and the expected mutual information of clusterings with these cluster sizes."""

    E_MI: Array = field(default_factory=lambda: np.empty(0))
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "MI", "E_MI")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Entropies of every table and the expected mutual information given its margins."""
        from congruence.formulas.expected_mi import expected_mutual_information

        expected = [
            expected_mutual_information(table.row_sums, table.col_sums) if table.n else np.nan for table in t.each()
        ]
        return cls.with_expected(Info.from_tables(t), np.array(expected))

    @classmethod
    def with_expected(cls, info: Info, expected: Array) -> Self:
        """Entropies joined with E[MI]."""
        return cls(info.n, info.H_a, info.H_b, info.H_ab, info.identical, expected)
