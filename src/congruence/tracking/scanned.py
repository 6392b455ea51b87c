"""Steps that are scanned columns: tracked by the tables of all pairs of steps, which one pass over the rows counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

import numpy as np

from congruence.comparison.scanned import Names, row_values
from congruence.errors import Call, InputError, Option, check_different, one_of
from congruence.inputs.alignment import noise_for
from congruence.inputs.column_names import listed_names
from congruence.inputs.kinds import Unassigned
from congruence.inputs.steps import History, Kind, Step
from congruence.scanning.checkpoint import digest
from congruence.scanning.columns import Column, is_cover, named_labels
from congruence.scanning.rows import Written
from congruence.scanning.scan import Scan
from congruence.scanning.tables import PartialTables
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, EnsembleLike, Label, NoiseLike, PathLike, SparseMatrix

#: (position of one step, of a later one) → row, column and count of the cells; the last row and column are points in no cluster
Cells = dict[tuple[int, int], tuple[Array, Array, Array]]


@dataclass(frozen=True, eq=False)
class CountedStep(Step):
    """A step that is known by its tables with the other steps; its rows stay where they are.

    Attributes:
        name: The name of the step.
        clusters: The names of its clusters.
        column: The scanned column.
        at: Its position among the steps.
        sizes: The size of each of its clusters.
        rows: Number of rows.
        tables: The cells of all pairs of steps.
    """

    name: str
    clusters: tuple[Label, ...]
    column: Column
    at: int
    sizes: Array = field()  # the one of `Step` is no default
    rows: int
    tables: Cells = field(repr=False)
    kind: Kind = "labels"

    @property
    def members(self) -> NoReturn:
        """Refused: the rows are not in memory."""
        raise InputError(
            f"the rows of these steps stay where they are; {Call('t.write_labels(out)')} writes their lasting names, or read the "
            "columns into memory"
        )

    @property
    def n_present(self) -> int:
        """How many points are in some cluster of this step."""
        return int(self.sizes.sum())

    def _cells(self, other: Step) -> tuple[Array, Array, Array]:
        assert isinstance(other, CountedStep)
        if self.at < other.at:
            return self.tables[self.at, other.at]
        col, row, count = self.tables[other.at, self.at]
        return row, col, count

    def cells_with(self, other: Step) -> tuple[Array, Array, Array]:
        """The cluster of points in both steps, here and there, and how many points these are."""
        row, col, count = self._cells(other)
        inside = (row < len(self.clusters)) & (col < len(other.clusters))
        return row[inside], col[inside], count[inside]

    def shared(
        self, other: Step, mine: Sequence[int] | None = None, theirs: Sequence[int] | None = None
    ) -> SparseMatrix:
        """The points that clusters of both steps share, own clusters × those of the other; all of them, or those given."""
        from scipy.sparse import coo_array

        row, col, count = self.cells_with(other)
        shape = len(self.clusters), len(other.clusters)
        table = coo_array((count, (row, col)), shape=shape)
        if mine is None and theirs is None:
            return table
        chosen = table.tocsr()[list(range(shape[0]) if mine is None else mine)]
        return coo_array(chosen[:, list(range(shape[1]) if theirs is None else theirs)])

    def also_in(self, other: Step) -> tuple[int, Array]:
        """How many points are present in both steps, and how many of each own cluster these are."""
        row, _, count = self.cells_with(other)
        return int(count.sum()), np.bincount(row, count, minlength=len(self.clusters)).astype(np.int64)


def counted_history(
    steps: EnsembleLike, unassigned: Unassigned, noise: NoiseLike, names: Sequence[str] | None
) -> History | None:
    """The steps of scanned columns, counted in as few passes as memory allows; None if these are no scanned columns."""
    if isinstance(steps, Scan | PartialTables):
        listed = [(name, column) for name, column in steps.lazy_columns() if isinstance(column, Column)]
    elif isinstance(steps, Mapping):
        listed = [(str(name), column) for name, column in steps.items() if isinstance(column, Column)]
        listed = listed if len(listed) == len(steps) else []
    else:
        found = list(steps) if isinstance(steps, list | tuple) else []
        listed = [(x.name, x) for x in found] if all(isinstance(x, Column) for x in found) else []
    if not listed:
        return None
    one_of("unassigned", unassigned, ("drop", "error"))
    called = [name for name, _ in listed] if names is None else listed_names(names)
    if len(called) != len(listed):
        raise InputError(f"{len(called)} names for {len(listed)} steps")
    check_different(called, "steps")
    columns = [
        replace(c, who=c.name).with_policy("partial", noise_for(noise, (name,)), name)
        for name, (_, c) in zip(called, listed, strict=True)
    ]
    if not all(c.source.same_rows(columns[0].source) for c in columns):
        raise InputError(
            f"steps that are scanned must be columns of one {Call('cg.scan(…)')}, which have the same rows"
        )
    sizes, clusters, tables, rows, gaps = _counted(columns)
    if unassigned == "error" and (bad := next((i for i, gap in enumerate(gaps) if gap), None)) is not None:
        raise InputError(f"step {called[bad]}: {gaps[bad]:,} rows have no label; pass {Option('unassigned', 'drop')}")
    made = [CountedStep(name, clusters[i], columns[i], i, sizes[i], rows, tables) for i, name in enumerate(called)]
    return History(tuple(made))


def _counted(columns: Sequence[Column]) -> tuple[list[Array], list[tuple[Label, ...]], Cells, int, list[int]]:
    """Sizes and names of the clusters of each column, the tables of all pairs, and the numbers of rows and of gaps."""
    n = len(columns)
    pairs = np.column_stack(np.triu_indices(n, 1)) if n > 1 else np.zeros((1, 2), dtype=np.int64)
    tables: Cells = {}
    sizes, clusters, gaps, rows = [np.empty(0)] * n, [()] * n, [0] * n, 0
    for here, part in columns[0].source.tables(columns, pairs, None, None, None):
        rows, place, own = part.rows, {}, part.sizes
        for i in np.unique(pairs[here]).tolist():
            c = part.names.index(columns[i].name)
            if is_cover(part, c):
                raise InputError(
                    f"step {columns[i].who} is a cover, whose clusters overlap; read the columns into memory to track covers"
                )
            rank, named = named_labels(part, c)
            place[i] = (c, np.concatenate([[len(rank)], rank]))  # code 0 is no cluster
            sizes[i] = np.zeros(len(rank), dtype=np.int64)
            sizes[i][rank] = own[c][1:]
            clusters[i], gaps[i] = tuple(plain_names(named)), int(part.gaps[c])
        for i, j in pairs[here].tolist():
            (c, of_a), (d, of_b) = place[i], place[j]
            if c == d:
                tables[i, j] = (np.arange(len(sizes[i])), np.arange(len(sizes[i])), sizes[i])
                continue
            row, col, count, _ = part.cells(min(c, d), max(c, d))
            row, col = (row, col) if c < d else (col, row)
            tables[i, j] = of_a[row], of_b[col], count.astype(np.int64)
    return sizes, clusters, tables, rows, gaps


class _ArrowNames(Names):
    """New names of the labels of several columns, for each batch of rows as arrow columns."""

    def __call__(self, codes: list[Array], group: int, first: int) -> dict[str, ColumnLike]:
        """The names of the rows of a batch: objects take ten times as long."""
        return {name: _taken(own, code) for (name, own), code in zip(self.names.items(), codes, strict=True)}


def _taken(names: Array, codes: Array) -> ColumnLike:
    """The name of each code; code 0 and the last have none. numpy takes whole numbers four times as fast."""
    import pyarrow as pa

    inside = names[1:-1]
    if not all(type(x) is int for x in inside):
        return pa.array(names).take(pa.array(codes))
    values = np.array([0, *inside, 0], dtype=np.int64)
    if abs(values).max() < 2**31:
        values = values.astype(np.int32)
    bits = np.packbits((codes > 0) & (codes <= len(inside)), bitorder="little")
    buffers = [pa.py_buffer(bits), pa.py_buffer(values.take(codes))]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(codes), buffers)


def written_names(steps: Sequence[Step], names: Sequence[Sequence[Label]], out: PathLike) -> Written:
    """Write the lasting names of scanned steps, a column per step, in one pass over the rows."""
    counted = [step for step in steps if isinstance(step, CountedStep)]
    if len(counted) < len(steps):
        raise InputError("these steps are in memory: their names are in t.labels, a frame that can be written")
    are_numbers = all(isinstance(x, int) for own in names for x in own)
    values: dict[str, Array] = {}
    labels = []
    for step, own in zip(counted, names, strict=True):
        part = step.column.source.facts(step.column)
        c = part.names.index(step.column.name)
        rank, _ = named_labels(part, c)
        listed = (own[i] if are_numbers else str(own[i]) for i in rank.tolist())
        values[step.name] = np.array([None, *listed, None], dtype=object)
        labels.append(part.labels[c])
    columns = [step.column for step in counted]
    what = digest("tracks", *(repr((name, own.tolist())) for name, own in values.items()))
    found = row_values(columns, _ArrowNames(values), labels, out, what)
    assert isinstance(found, Written)
    return found
