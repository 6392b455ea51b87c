"""The interface of an engine, and its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from congruence.inputs.alignment import Mass
from congruence.inputs.coerce import Clustering
from congruence.inputs.labels import Labels
from congruence.statistics import Statistic
from congruence.statistics.tables import Array, Table, Tables

# --- one pair ---------------------------------------------------------------------------------------------------


#: (labels, numbers of clusters with gaps, pair_i, pair_j, mass, dense?) → non-zero cells: (pair, row, column, count)
Cells = Callable[[Sequence[Labels], Array, Array, Array, Mass | None, bool], tuple[Array, Array, Array, Array]]


# --- tiles of tables --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableTile:
    """Tables of a tile and, if dropped points left clusters empty, which clusters remain (one pair only)."""

    tables: Tables
    present: tuple[Array, Array] | None = None

    def each(self) -> Iterator[Table]:
        """The tables, one by one."""
        return self.tables.each()


# --- soft clusterings -------------------------------------------------------------------------------------------


#: (members of the rows, members of the columns, weights) → UᵀWV with all memberships as columns
Product = Callable[[Sequence[Clustering], Sequence[Clustering], Array], Array]


@dataclass(frozen=True)
class Counted:
    """A tile of pairs and their statistics."""

    i: Array
    j: Array
    n_used: Array
    statistics: dict[type, Statistic]
