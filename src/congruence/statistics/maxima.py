"""The best partner of each cluster on the other side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Tables


@dataclass(frozen=True, eq=False)
class Maxima(TwoSided):
    """The overlap of each cluster with its best partner on the other side."""

    n: Array
    best_of_a: Array
    best_of_b: Array
    identical: Array
    symbols: ClassVar[tuple[str, ...]] = ("n", "best_of_a", "best_of_b")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Σ_i max_j n_ij and Σ_j max_i n_ij of every table of the tile."""
        return cls(t.n, t.best_of(t.count, 0), t.best_of(t.count, 1), t.identical)
