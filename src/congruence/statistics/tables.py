"""Contingency tables: one with names, and a tile of many. Tables of different points can be added."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from congruence.errors import InputError
from congruence.options import described
from congruence.statistics.names import ClusterNames as ClusterNames
from congruence.statistics.names import union
from congruence.statistics.segments import Array as Array
from congruence.statistics.segments import crossed
from congruence.typing import DataFrame, OptionValue, Record, Scalar, SparseMatrix

if TYPE_CHECKING:
    from congruence.statistics.covers import ClusterMap, Overlap
    from congruence.statistics.pairs import Pairs

Made = TypeVar("Made")


def xlogx(x: Array) -> Array:
    """x · log x, with 0 · log 0 = 0."""
    x = np.asarray(x, dtype=np.float64)
    return x * np.log(np.where(x > 0, x, 1.0))


class AsJson:
    """Adds `to_json` to classes that have a `to_dict`."""

    def to_dict(self) -> Record:
        """The content of the JSON."""
        raise NotImplementedError

    def to_json(self, **options: OptionValue) -> str:
        """The same as JSON.

        Args:
            options: Options of `json.dumps`, such as `indent=2`.

        Returns:
            A JSON string.
        """
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, default=str, **options)


@dataclass(frozen=True, eq=False, init=False)
class Table(AsJson):
    """A contingency table: the overlap of each cluster of `a` with each cluster of `b`, as non-zero cells.

    `cg.contingency` counts one from two clusterings. From counts alone, `cg.compare(cg.Table(counts))` gives the measures.

    Args:
        counts: Whole numbers of points, clusters of a × clusters of b: nested lists, an array, a scipy.sparse matrix, or a
            frame as from `pandas.crosstab`. Clusters without points are left out.
        rows: Names of the clusters of a. Default None: those of the frame, else 0, 1, ….
        columns: Names of the clusters of b. Default None: those of the frame, else 0, 1, ….

    Attributes:
        row: Row of each cell that is not 0.
        col: Column of each cell.
        count: Count of each cell.
        rows: Names of the clusters of a.
        columns: Names of the clusters of b.
        own: Sum of squared weights of the points, or their number, subtracted from sums over ordered pairs.
        frame_kind: Kind of frame of the inputs.
        maps: For covers: the clusters of each row and column.
        within: Weight of the pairs of points within each cell, if points have weights.

    >>> from congruence import contingency
    >>> t = contingency(["x", "x", "y", "y"], [0, 0, 0, 1])
    >>> t.to_array().tolist()
    [[2, 0], [1, 1]]
    >>> t.rows, t.columns
    (('x', 'y'), (0, 1))
    >>> (t + t).to_array().tolist()
    [[4, 0], [2, 2]]
    >>> Table([[2, 0], [1, 1]], rows=["x", "y"]).row_sums.tolist()
    [2, 2]
    """

    row: Array
    col: Array
    count: Array
    rows: ClusterNames
    columns: ClusterNames
    own: float
    frame_kind: str | None = field(default=None, repr=False)
    within: Array | None = field(default=None, repr=False)
    maps: tuple[ClusterMap | None, ClusterMap | None] | None = field(default=None, repr=False)

    def __init__(self, counts: object, rows: ClusterNames | None = None, columns: ClusterNames | None = None) -> None:
        from congruence.inputs.counts import cells_of

        found = cells_of(counts, rows, columns)
        vars(self).update(vars(table_of_cells(*found[:6], frame_kind=found[6])))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of clusters of a and of b."""
        return len(self.rows), len(self.columns)

    @cached_property
    def n(self) -> Scalar:
        """All points, or their total mass."""
        return self.count.sum()

    @cached_property
    def row_sums(self) -> Array:
        """Sizes of the clusters of a."""
        return _binned(self.row, self.count, self.shape[0])

    @cached_property
    def col_sums(self) -> Array:
        """Sizes of the clusters of b."""
        return _binned(self.col, self.count, self.shape[1])

    def to_array(self) -> Array:
        """The dense table, clusters of a in rows."""
        dense = np.zeros(self.shape, dtype=self.count.dtype)
        dense[self.row, self.col] = self.count
        return dense

    def to_sparse(self) -> SparseMatrix:
        """The table as a scipy.sparse CSR array."""
        from scipy.sparse import csr_array

        return csr_array((self.count, (self.row, self.col)), shape=self.shape)

    def to_dict(self) -> Record:
        """The names of the clusters on both sides, and the counts: {"rows": …, "columns": …, "counts": …}."""
        sides = [[x.item() if isinstance(x, np.generic) else x for x in names] for names in (self.rows, self.columns)]
        return {"rows": sides[0], "columns": sides[1], "counts": self.to_array().tolist()}

    def __eq__(self, other: object) -> bool:
        """Whether the other is a table of the same clusters with the same counts."""
        return isinstance(other, Table) and (other is self or self.to_dict() == other.to_dict())

    def __hash__(self) -> int:
        return hash(self.shape)

    @described
    def to_frame(self, backend: str | None = None) -> DataFrame:
        """The table as a data frame, with cluster names on both sides.

        Args:
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """
        from congruence.inputs.frames import square_frame

        return square_frame(self.to_array(), self.rows, self.columns, backend or self.frame_kind, corner="a")

    def transposed(self) -> Table:
        """The table with the two clusterings swapped."""
        order = np.lexsort((self.row, self.col))
        within = None if self.within is None else self.within[order]
        sides = self.col[order], self.row[order], self.count[order], self.columns, self.rows
        return table_of_cells(*sides, self.own, frame_kind=self.frame_kind, within=within)

    def __add__(self, other: Table) -> Table:
        if not isinstance(other, Table):
            return NotImplemented
        rows, row_maps = union(self.rows, other.rows)
        columns, col_maps = union(self.columns, other.columns)
        row = np.concatenate([row_maps[0][self.row], row_maps[1][other.row]])
        col = np.concatenate([col_maps[0][self.col], col_maps[1][other.col]])
        cells, where = np.unique(row * np.int64(len(columns)) + col, return_inverse=True)
        count, within = _binned(where, np.concatenate([self.count, other.count]), len(cells)), None
        if self.within is not None and other.within is not None:
            # pairs within a cell: those of either part, and one point of each
            within = _binned(where, np.concatenate([self.within, other.within]), len(cells))
            first, second = (
                _binned(part, x.count, len(cells))
                for part, x in ((where[: len(self.count)], self), (where[len(self.count) :], other))
            )
            within = within + first * second
        elif self.within is not None or other.within is not None:
            raise InputError(
                "a table of weighted points and one of counts cannot be added; give weights to both or to neither"
            )
        own, places = self.own + other.own, (cells // len(columns), cells % len(columns))
        return table_of_cells(*places, count, rows, columns, own, frame_kind=self.frame_kind, within=within)

    def __repr__(self) -> str:
        from congruence.inputs.frames import text_grid

        k_a, k_b = self.shape
        head = f"Table: {k_a} clusters × {k_b} clusters, {self.n:g} points"
        if k_a > 30 or k_b > 12:
            return head + f", {len(self.count)} non-zero cells"
        cells = [[f"{x:g}" for x in line] for line in self.to_array()]
        return head + "\n" + text_grid(cells, [str(r) for r in self.rows], [str(c) for c in self.columns])

    def _repr_html_(self) -> str:
        from congruence.inputs.frames import html_grid

        k_a, k_b = self.shape
        if k_a > 100 or k_b > 100:
            return html_grid([[str(self)]], [""], [""])
        cells = [[f"{x:g}" for x in line] for line in self.to_array()]
        return html_grid(cells, [str(r) for r in self.rows], [str(c) for c in self.columns])


def table_of_cells(
    row: Array, col: Array, count: Array, rows: ClusterNames, columns: ClusterNames, own: float, kind: type[Table] = Table,
    **further: object,
) -> Table:  # fmt: skip
    """The table of these cells, with further attributes of `Table`, or of a subclass if `kind` names it."""
    made = object.__new__(kind)
    vars(made).update(frame_kind=None, within=None, maps=None)
    vars(made).update(row=row, col=col, count=count, rows=rows, columns=columns, own=own, **further)
    return made


def changed(table: Table, **changes: object) -> Table:
    """The table with some attributes replaced."""
    made = object.__new__(type(table))
    vars(made).update({f.name: getattr(table, f.name) for f in fields(table)}, **changes)
    return made


def _binned(where: Array, mass: Array, size: int) -> Array:
    """Sum of mass in each of `size` bins, in the dtype of mass; integers are exact."""
    if mass.dtype.kind in "iu" and float(mass.sum(dtype=np.float64)) >= 2.0**52:  # bincount adds in floats
        exact = np.zeros(size, mass.dtype)
        np.add.at(exact, where, mass)
        return exact
    return np.bincount(where, weights=mass, minlength=size).astype(mass.dtype, copy=False)


def _segment_sum(values: Array, starts: Array) -> Array:
    """Sums of values[starts[p]:starts[p+1]], the same for one pair as for many; empty segments give 0."""
    if values.dtype.kind in "iub":
        if len(starts) == 2:
            return np.array([values.sum(dtype=np.int64)])
        running = np.concatenate([[0], np.cumsum(values, dtype=np.int64)])  # may overflow; differences are right
        return np.asarray(running[starts[1:]] - running[starts[:-1]])
    if len(starts) == 2 and len(values):
        return np.add.reduceat(values, starts[:1])
    total = np.zeros(len(starts) - 1, dtype=values.dtype if values.dtype.kind == "O" else np.float64)
    filled = np.flatnonzero(np.diff(starts))
    if len(filled):
        total[filled] = np.add.reduceat(values, starts[:-1][filled])
    return total


@dataclass(frozen=True, eq=False)
class Tables:
    """A tile of contingency tables, as one flat list of non-zero cells in row-major order, pair after pair."""

    row: Array
    col: Array
    count: Array
    #: cells of pair p are starts[p]:starts[p+1]
    starts: Array
    #: (pairs, 2): numbers of clusters
    shapes: Array
    #: (pairs,): self-pair contribution, see Table.own
    own: Array
    #: (pairs,): points used
    n_used: Array
    #: soft pairs only: whether the two clusterings are equal, and the pair sums of their Gram matrices
    same: Array | None = None
    gram: Pairs | None = None
    #: weighted points only: Σ w_p·w_q over the pairs of points of each cell
    within: Array | None = None
    #: soft pairs only: the two membership matrices, sparse, the weights of the points, and their self-pair contributions
    memberships: Sequence[Callable[[], tuple[SparseMatrix, SparseMatrix, Array, Array]]] | None = None
    #: covers only: see `Table.maps`
    maps: Sequence[tuple[ClusterMap | None, ClusterMap | None]] | None = None
    #: one pair only: the clusters of a and of b that have points, if others were dropped
    kept: tuple[Array, Array] | None = None

    def __len__(self) -> int:
        return len(self.shapes)

    @cached_property
    def pair(self) -> Array:
        """The pair each cell belongs to."""
        return np.repeat(np.arange(len(self)), self._cells) if len(self) > 1 else np.zeros(len(self.count), np.int64)

    @cached_property
    def _cells(self) -> Array:
        """Number of cells of each table."""
        return self.starts[1:] - self.starts[:-1]

    def sum(self, per_cell: Array) -> Array:
        """Sum over the cells of each pair."""
        return _segment_sum(per_cell, self.starts)

    @cached_property
    def n(self) -> Array:
        """Total mass of each pair."""
        return self.sum(self.count)

    def _margin(self, code: Array, axis: int) -> tuple[Array, Array, Array]:
        if len(self) == 1:
            k = int(self.shapes[0, axis])
            return _binned(code, self.count, k), np.array([0, k]), code
        offsets = np.concatenate([[0], np.cumsum(self.shapes[:, axis])])
        place = code + offsets[:-1][self.pair]
        return _binned(place, self.count, int(offsets[-1])), offsets, place

    @cached_property
    def _rows(self) -> tuple[Array, Array, Array]:
        return self._margin(self.row, 0)

    @cached_property
    def _cols(self) -> tuple[Array, Array, Array]:
        return self._margin(self.col, 1)

    @property
    def sides(self) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
        """Of a and of b: sizes of the clusters, where those of each pair begin, and the cluster of each cell."""
        return self._rows, self._cols

    @property
    def margins(self) -> tuple[Array, Array]:
        """Sizes of the clusters of a and of b, pair after pair."""
        return self._rows[0], self._cols[0]

    @property
    def is_sorted(self) -> bool:
        """Whether all clusters are in the order of their names: there are no covers, and no clusters of one point at the end."""
        if len(self) == 1:
            return self.maps is None and not any(len(sizes) and sizes[-1] == 1 for sizes in self.margins)
        last = (sizes[offsets[1:][np.diff(offsets) > 0] - 1] for sizes, offsets, _ in (self._rows, self._cols))
        return self.maps is None and not any((x == 1).any() for x in last)

    @cached_property
    def _made(self) -> dict[Hashable, object]:
        return {}

    def once(self, make: Callable[[Tables], Made]) -> Made:
        """The result of a function of this tile, cached."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("Made", self._made[make])

    @property
    def row_total(self) -> Array:
        """For each cell, the size of its cluster of a."""
        return self._rows[0][self._rows[2]]

    @property
    def col_total(self) -> Array:
        """For each cell, the size of its cluster of b."""
        return self._cols[0][self._cols[2]]

    def over_rows(self, per_row: Callable[..., Array], *of_pair: Array) -> Array:
        """Sum over the clusters of a of a function of their sizes (and of a per-pair value)."""
        return _over(per_row, self._rows, of_pair)

    def over_cols(self, per_col: Callable[..., Array], *of_pair: Array) -> Array:
        """Sum over the clusters of b of a function of their sizes (and of a per-pair value)."""
        return _over(per_col, self._cols, of_pair)

    def across(self, axis: int | None = None) -> Array:
        """Σ n_ij·n_il over pairs of different cells of one row (axis 0), of one column (axis 1), or of all pairs.

        There are only positive terms, so there is no cancellation.
        """
        sizes, _, place = (np.empty(len(self)), None, self.pair) if axis is None else self.sides[axis]
        return crossed(self.pair, np.asarray(place), self.count, len(sizes), len(self))

    def between(self, axis: int) -> Array:
        """Σ a_i·a_k over pairs of different clusters of a (axis 0) or of b (axis 1)."""
        sizes, offsets, _ = self.sides[axis]
        pair = np.repeat(np.arange(len(self)), np.diff(offsets))
        return crossed(pair, pair, sizes, len(self), len(self))

    def best_of(self, per_cell: Array, axis: int) -> Array:
        """Sum over the clusters of a (axis 0) or of b (axis 1) of the largest value among their cells."""
        sums, offsets, place = self.sides[axis]
        best = np.zeros(len(sums), dtype=per_cell.dtype)
        np.maximum.at(best, place, per_cell)
        return _segment_sum(best, offsets)

    @cached_property
    def filled(self) -> Array:
        """(pairs, 2): numbers of clusters that have points; memberships of points of weight 0 leave empty ones."""
        if len(self) == 1:
            return np.array([[np.count_nonzero(sizes) for sizes in self.margins]])
        return np.column_stack([_over(lambda x: x > 0, margin, ()) for margin in self.sides])

    @cached_property
    def a_decides(self) -> Array:
        """Whether each cluster of a lies in one cluster of b (a equals or refines b)."""
        return np.asarray(self._cells == self.filled[:, 0])

    @cached_property
    def b_decides(self) -> Array:
        """The same with the clusterings swapped."""
        return np.asarray(self._cells == self.filled[:, 1])

    @cached_property
    def identical(self) -> Array:
        """Whether the two clusterings of the pair are the same."""
        if self.maps is not None:
            return np.array([o.identical for o in self.overlaps], dtype=bool)
        return self.same if self.same is not None else self.a_decides & self.b_decides

    @cached_property
    def overlaps(self) -> list[Overlap]:
        """The pairs as covers; partitions have one cluster per row and column."""
        from congruence.statistics.covers import overlap_of

        return [overlap_of(table) for table in self.each()]

    def each(self) -> Iterator[Table]:
        """The tables, one by one, with codes as names of clusters."""
        for p, (k_a, k_b) in enumerate(self.shapes.tolist()):
            at = slice(self.starts[p], self.starts[p + 1])
            cells = self.row[at], self.col[at], self.count[at]
            within = None if self.within is None else self.within[at]
            maps = None if self.maps is None else self.maps[p]
            yield table_of_cells(*cells, range(k_a), range(k_b), self.own[p].item(), within=within, maps=maps)

    def swapped(self) -> Tables:
        """The same pairs with the two clusterings swapped."""
        (rows, offsets_a, place_a), (cols, offsets_b, place_b) = self.sides
        # cells of one column are in the order of their rows; places of two bytes are sorted without comparisons
        order = np.argsort(smallest(place_b, len(cols)), kind="stable")
        gram = self.gram.swapped() if self.gram is not None else None
        maps = None if self.maps is None else [(b, a) for a, b in self.maps]
        within = None if self.within is None else self.within[order]
        made = replace(
            self, row=self.col[order], col=self.row[order], count=self.count[order], shapes=self.shapes[:, ::-1], gram=gram,
            within=within, maps=maps, kept=None if self.kept is None else self.kept[::-1],
        )  # fmt: skip
        vars(made).update(_rows=(cols, offsets_b, place_b[order]), _cols=(rows, offsets_a, place_a[order]))
        return made

    @classmethod
    def from_tables(cls, tables: Tables) -> Tables:
        """Itself: some formulas read every cell."""
        return tables

    @classmethod
    def of(cls, table: Table, margins: tuple[Array, Array] | None = None) -> Tables:
        """The tile that holds this one table; `margins` are the sizes of its clusters, if they are known."""
        tile = cls(
            table.row, table.col, table.count, np.array([0, len(table.count)]), np.array([table.shape]),
            np.array([table.own]), np.array([table.n]), within=table.within,
            maps=None if table.maps is None else [table.maps],
        )  # fmt: skip
        for name, sizes, code in zip(("_rows", "_cols"), margins or (), (table.row, table.col), strict=False):
            vars(tile)[name] = sizes, np.array([0, len(sizes)]), code
        return tile


def _over(per_size: Callable[..., Array], margin: tuple[Array, Array, Array], of_pair: Sequence[Array]) -> Array:
    sizes, offsets, _ = margin
    if of_pair:
        many = np.diff(offsets)
        of_pair = [np.repeat(x, many) for x in of_pair]
    return _segment_sum(per_size(sizes, *of_pair), offsets)


def as_tile(tables: Array) -> Tables:
    """Dense tables (draws, k_a, k_b) as a tile; empty clusters at the end of rows and columns are dropped."""
    pair, row, col = np.nonzero(tables)
    n = tables.sum(axis=(1, 2))
    shapes = np.column_stack([(tables.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1)])
    return Tables(row, col, tables[pair, row, col], np.searchsorted(pair, np.arange(len(n) + 1)), shapes, n, n)


def code_type(k: int) -> type[np.integer[Scalar]]:
    """The smallest type that holds the codes 0 … k."""
    return np.uint8 if k <= 0xFF else np.uint16 if k <= 0xFFFF else np.int32


def smallest(codes: Array, k: int) -> Array:
    """The codes in the smallest type that holds them."""
    return codes.astype(code_type(k))
