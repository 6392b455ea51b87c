"""Extras for comparisons of covers: common points of clusters, and the parts of omega."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property

from congruence.errors import Caution
from congruence.statistics.covers import SharedPairs, overlap_of
from congruence.statistics.tables import Array, Table, Tables, table_of_cells
from congruence.typing import Scalar


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Intersections(Table):
    """Common points of the clusters of two covers; because clusters overlap, rows and columns add up to more than their sizes."""

    sizes: tuple[Array, Array] = None  # type: ignore[assignment]
    points: Scalar = 0

    @cached_property
    def n(self) -> Scalar:
        """All points, covered or not."""
        return self.points

    @cached_property
    def row_sums(self) -> Array:
        """Sizes of the clusters of a."""
        return self.sizes[0]

    @cached_property
    def col_sums(self) -> Array:
        """Sizes of the clusters of b."""
        return self.sizes[1]


def intersections(table: Table) -> Table:
    """The points that clusters have in common, from the table of the covers' signatures."""
    o = overlap_of(table)
    (row, col, common), (rows, columns) = o.common, o.names
    return table_of_cells(
        row, col, common, tuple(rows), tuple(columns), table.own, kind=Intersections, sizes=o.sizes, points=o.n
    )


def what_explains(tables: Tables, measures: Container[str]) -> tuple[Caution, ...]:
    """The parts of omega: observed and expected agreement, and the pairs that share no cluster."""
    if "omega" not in measures:
        return ()
    s = SharedPairs.from_tables(tables)
    observed, expected, unshared = (float(x[0]) for x in (s.observed, s.expected, s.unshared))
    if observed != observed:
        return ()
    text = (
        f"{{subject}}: {observed:.1%} of the pairs of points share the same number of clusters in both ({expected:.1%} "
        f"expected by chance); {unshared:.1%} share none in either"
    )
    return (Caution("agreement_by_chance", "omega", text),)
