"""The interface of an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from congruence.engine.plan import Counted, Progress, Run
from congruence.inputs.alignment import Mass
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.statistics import Statistic
from congruence.statistics.tables import Array, Table, Tables

#: (labels, numbers of clusters with gaps, pair_i, pair_j, mass, dense?) → non-zero cells: (pair, row, column, count), and for
#: weighted points Σ w_p·w_q over the pairs of points in each cell
Cells = Callable[[Sequence[Labels], Array, Array, Array, Mass | None, bool], tuple[Array, ...]]


#: (members of the rows, members of the columns, weights) → UᵀWV with all memberships as columns
Product = Callable[[Sequence[Clustering], Sequence[Clustering], Array], Array]


class Draws(Protocol):
    """The interface of an engine that draws random pairs itself: their statistics."""

    def draws_at_once(self, need: type, sizes: tuple[int, int], n: int, free: bool) -> int:
        """Draws per random stream; depends only on the data."""

    def by_tables(self, k_a: int, k_b: int, n: int) -> bool:
        """Whether drawing the cells of a table is less work than shuffling the labels."""

    def random_statistic(
        self, need: type, a: Array, b: Array, seed: int, information: float | None = None
    ) -> Statistic:
        """The statistic of one random pair per row of cluster sizes."""

    def permuted_statistic(self, need: type, a: Labels, b: Labels, draws: int, seed: int) -> Iterator[Statistic]:
        """The statistics of a with this many shuffles of b."""


class Engine(Protocol):
    """An engine: a module with these names. mypy checks `engine.cpu` and `engine.cuda` against it."""

    @property
    def on_card(self) -> bool:
        """Whether it counts on a GPU."""

    @property
    def drawing(self) -> Draws | None:
        """How it draws random pairs; None: they are drawn on the host."""

    def table_of(
        self, a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None
    ) -> tuple[Table, Tables]:
        """The table of one pair, with names, and the tile that holds it."""

    def statistics(
        self, members: Sequence[Clustering], runs: Sequence[Run], needs: set[type], *, mass: Mass | None = None,
        threads: int | None = None, progress: Progress | None = None,
    ) -> Iterator[Counted]:  # fmt: skip
        """The statistics of these kinds for all pairs of the runs, tile by tile."""
