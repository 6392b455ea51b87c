"""Out-of-core counting: additive tables of batches of rows; vocabularies grow with new labels."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol, Self, TypeVar

import numpy as np

from congruence.errors import InputError, Option, known_column, names_in, some_of
from congruence.inputs.alignment import noise_for
from congruence.inputs.weights import check_spread, least_exponent
from congruence.options import described
from congruence.scanning.batches import batch_columns, mass_in
from congruence.scanning.cells import Cells, JointCounts
from congruence.scanning.room import COPIES, PER_CELL, PER_TABLE, TILE, Overfull, Room
from congruence.scanning.sampling import Piece
from congruence.scanning.tables import PartialTables, pair_positions
from congruence.scanning.vocabulary import BadBatch, Crowded, LabelKind, Vocabulary, check_complete, check_kind
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame, NoiseLike

#: a table of a pair is always dense up to this many cells, and up to the second number if memory allows
DENSE_CELLS, MOST_DENSE_CELLS = 1 << 16, 1 << 22


@dataclass(frozen=True, eq=False)
class Counting:
    """What to count: columns, their pairs, noise labels, columns that must be complete, and weights."""

    names: tuple[str, ...]
    #: (pairs, 2): positions among the names, the smaller first
    pairs: Array
    noise: tuple[Collection[Hashable] | None, ...]
    #: name in the error of a column that must be complete, or None
    complete: tuple[str | None, ...]
    #: the column of weights, and whether it holds frequencies
    mass: tuple[str, bool] | None = None
    #: memory limit of labels and tables, in bytes, all threads together
    limit: float = float("inf")
    skip_bad: bool = False
    #: kinds of labels of the columns, if known
    kinds: tuple[LabelKind | None, ...] | None = None
    rows: int = 1 << 18
    #: columns (and kinds) of other passes: parts unreadable there are skipped in this pass too
    beside: tuple[tuple[str, LabelKind | None], ...] = ()
    #: number of threads that have tables of their own
    threads: int = 1

    def vocabularies(self, room: Room) -> list[Vocabulary]:
        """New vocabularies of the columns."""
        kinds = self.kinds or (None,) * len(self.names)
        return [Vocabulary(noise, kind is LabelKind.FIELD, room) for noise, kind in zip(self.noise, kinds, strict=True)]

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        more = [name for name, _ in self.beside] + ([] if self.mass is None else [self.mass[0]])
        return (*dict.fromkeys((*self.names, *more)),)


class Accumulator:
    """Tables of pairs of columns over all batches counted so far; threads share a room, and may share vocabularies."""

    def __init__(self, counting: Counting, room: Room | None = None, words: list[Vocabulary] | None = None) -> None:
        self.counting = counting
        weighted = counting.mass is not None and not counting.mass[1]
        self.room = Room(counting.limit) if room is None else room
        self.words = counting.vocabularies(self.room) if words is None else words
        pairs: list[tuple[int, int]] = [(int(i), int(j)) for i, j in np.reshape(counting.pairs, (-1, 2))]
        columns = range(len(counting.names))
        alone = columns if weighted else sorted(set(columns) - {*chain.from_iterable(pairs)})
        #: the pairs, and columns whose sizes do not follow from a pair: tables with one column
        self.pairs = [*pairs, *((c, c) for c in alone)]
        dtype = np.float64 if weighted else np.int64
        share = counting.limit / (8 * counting.threads * max(len(pairs), 1))
        most = max(DENSE_CELLS, min(MOST_DENSE_CELLS, share))
        self.tables = [Cells(dtype, most if i != j else float("inf")) for i, j in self.pairs]
        self.joint = JointCounts(pairs, self.tables, counting.limit / counting.threads)
        self.gaps = np.zeros(len(counting.names), np.int64)
        self.rows = 0
        self.total, self.squares = dtype(0), 0.0
        #: weights are counted divided by 2**exponent, which grows with the largest
        self.exponent: int | None = None
        #: power of two above the smallest weight above 0
        self.lowest: int | None = None
        #: number and Σw² of weighted rows, by [in a cluster of the first column][of the second]
        self.used = np.zeros((len(self.pairs) if weighted else 0, 2, 2), np.int64)
        self.own = np.zeros(self.used.shape)
        self.left_out: list[str] = []
        self.taken: dict[int, Piece] = {}
        #: bytes of the cells of all tables, and their growth since they were last recorded
        self.cells, self.grown = 0, 0
        #: threads that count with tables of their own
        self.threads = counting.threads

    def add_batch(self, batch: Frame, where: str = "a batch") -> int:
        """Count the rows of a batch (an arrow RecordBatch or Table, or a mapping of columns); returns their number."""
        counting = self.counting
        columns = {name: _column_of(batch, name, where) for name in counting.read}
        first = next(iter(columns), "")
        for name, column in columns.items():
            if len(column) != len(columns[first]):
                raise BadBatch(
                    f"{where}: column {first!r} has {len(columns[first])} rows and column {name!r} has {len(column)}"
                )
        kinds = zip(counting.names, counting.kinds or (), strict=False)
        for name, kind in (*counting.beside, *kinds):
            check_kind(columns[name], kind, f"{where}: column {name!r}")
        codes = []
        for c, name in enumerate(counting.names):
            who = f"{where}: column {name!r}"
            try:
                codes.append(self.words[c].codes(columns[name], who))
            except Crowded as error:
                widths = np.array([error.width if x == c else w.width for x, w in enumerate(self.words)])
                raise Overfull(widths, self.room.size + error.size, self.room.rows + len(columns[name])) from None
            self._hold_labels()  # the next column has what is left
        n = len(codes[0]) if codes else 0
        gaps = [check_complete(x, called, where) for x, called in zip(codes, counting.complete, strict=True)]
        mass = None if counting.mass is None else mass_in(columns[counting.mass[0]], counting.mass, where)
        if n:
            self.room.rows += n
            self._count(codes, gaps, mass)
            self.check()
            self.room.tidy()
        return n

    def _count(self, codes: list[Array], gaps: Sequence[int], mass: Array | None) -> None:
        n = len(codes[0])
        common = np.result_type(*codes)
        codes = [x.astype(common, copy=False) for x in codes]
        weighted = mass is not None and mass.dtype.kind == "f"
        if weighted and mass is not None:
            mass = self._scaled(mass)
            square = mass**2
            there = [(x > 0).astype(np.int64) for x in codes]
            self.squares += float(square.sum())
        widths = [word.width for word in self.words]
        together = self.joint.count(codes, widths, self._fit) if mass is None and self.joint.pairs else ()
        one_column = np.zeros(n, common)
        for p, ((i, j), table) in enumerate(zip(self.pairs, self.tables, strict=True)):
            if p in together:
                continue
            before = self._room_for(p)
            table.count(codes[i], codes[j] if i != j else one_column, *self._shape(p), mass)
            self._gained(table, before)
            if weighted:
                kind = 2 * there[i] + there[j]
                self.used[p] += np.bincount(kind, minlength=4).reshape(2, 2)
                self.own[p] += np.bincount(kind, weights=square, minlength=4).reshape(2, 2)
        self.gaps += np.array(gaps, dtype=np.int64)
        self.rows += n
        self.total += n if mass is None else mass.sum()

    def _scaled(self, mass: Array) -> Array:
        """Weights of a batch divided by the common power of two."""
        largest = float(mass.max(initial=0.0))
        if largest > 0:
            self._rescale(int(np.frexp(largest)[1]), least_exponent(mass))
        return np.ldexp(mass, -(self.exponent or 0))

    def _rescale(self, exponent: int, lowest: int) -> None:
        """Divide by at least 2**exponent, including past counts; powers of two are exact."""
        less = exponent - self.exponent if self.exponent is not None else 0
        self.exponent = exponent if self.exponent is None else max(self.exponent, exponent)
        self.lowest = lowest if self.lowest is None else min(self.lowest, lowest)
        check_spread(
            self.lowest, self.exponent, f"column {self.counting.mass[0]!r}" if self.counting.mass else "sample_weight"
        )
        if less <= 0:
            return
        for table in self.tables:
            table.scale(less)
        self.total, self.squares = np.ldexp(self.total, -less), float(np.ldexp(self.squares, -2 * less))
        self.own = np.ldexp(self.own, -2 * less)

    def _shape(self, p: int) -> tuple[int, int]:
        """Numbers of codes on both sides of a pair; a column by itself has one on the other side."""
        i, j = self.pairs[p]
        return self.words[i].width, self.words[j].width if i != j else 1

    def _fit(self, p: int) -> None:
        """Grow the table of a pair to the labels so far."""
        before = self._room_for(p)
        self.tables[p].fit(*self._shape(p))
        self._gained(self.tables[p], before)

    def put(self, p: int, row: Array, col: Array, count: Array, within: Array | None) -> None:
        """Add cells to the table of a pair; a column by itself has one column of cells."""
        self._fit(p)
        i, j = self.pairs[p]
        before = self.tables[p].size
        self.tables[p].put(row, col if i != j else np.zeros_like(col), count, within)
        self._gained(self.tables[p], before)

    def _room_for(self, p: int) -> int:
        """The size of a table; raises before it grows if it would be too large."""
        more = self.tables[p].growth(*self._shape(p))
        if more and self.grown + more > self.room.free:
            raise self.overfull(more)
        return self.tables[p].size

    def _gained(self, table: Cells, before: int) -> None:
        """Record the growth of a table, and raise if it exceeds the memory."""
        more = table.size - before
        self.grown += more
        self.cells += more
        if more and self.grown > self.room.free:
            raise self.overfull()

    def check(self) -> None:
        """Record the size of the labels and tables, and raise if it exceeds the memory."""
        self._record()
        if self.room.free < 0:
            for table in self.tables:
                table.settle()
            self.cells = sum(table.size for table in self.tables)
            self._record()
        if self.room.free < 0:
            raise self.overfull()

    def _record(self) -> None:
        most = max((table.number for table in self.tables[: len(self.joint.pairs)]), default=0)
        dense = sum(table.dense.nbytes for table in self.tables if table.dense is not None)
        results = PER_CELL * max(most, min(self.cells // 8, TILE)) / self.threads
        self.grown = 0
        self._hold_labels()
        self.room.hold(id(self), self.cells + self.joint.nbytes, PER_TABLE * len(self.tables) + dense + results)

    def _hold_labels(self) -> None:
        self.room.hold(id(self.words), 0, COPIES * sum(word.size for word in self.words))

    def overfull(self, more: float = 0.0) -> Overfull:
        """The error for labels and tables that exceed the memory, by more bytes than are recorded."""
        return Overfull(np.array([w.width for w in self.words]), self.room.size + self.grown + more, self.room.rows)

    def handed_over(self, room: Room) -> PartialTables:
        """The tables counted so far, recorded until they are added to others."""
        part = self.partial()
        self.room.drop(id(self))
        self.room.drop(id(self.words))
        room.hold(id(part), 0, part.nbytes + COPIES * sum(word.size for word in self.words))
        return part

    def absorb(self, other: Accumulator) -> None:
        """Add the tables of another thread, with the same vocabularies, and empty them."""
        other.joint.settle()
        for p, (mine, theirs) in enumerate(zip(self.tables, other.tables, strict=True)):
            mine.fit(*self._shape(p))
            mine.put(*theirs.cells()[:3])
            theirs.clear()
        self._add_totals(other)
        self.room.drop(id(other))
        self.threads -= 1
        self.cells = sum(table.size for table in self.tables)
        self.check()

    def _add_totals(self, other: Accumulator | PartialTables) -> None:
        self.gaps += other.gaps
        self.rows += other.rows
        self.total += other.total
        self.squares += other.squares
        self.used += other.used
        self.own += other.own
        self.left_out += other.left_out
        self.taken |= other.taken

    def add(self, part: PartialTables) -> None:
        """Add tables counted elsewhere."""
        pairs = np.array(self.joint.pairs).reshape(-1, 2)
        if part.names != self.counting.names or not np.array_equal(part.of_two, pairs):
            raise InputError(
                f"tables of columns {some_of(self.counting.names, 4)} and {some_of(part.names, 4)} cannot be added: use "
                "the same columns and pairs for both"
            )
        if part.mass != _mass_kind(self.counting.mass):
            raise InputError(
                "tables counted with and without weights cannot be added: use weights in both or in neither"
            )
        moved = []
        for word, kind, labels, name in zip(self.words, part.kinds, part.labels, part.names, strict=True):
            word.joined(kind, f"column {name!r}")
            try:
                moved.append(np.concatenate([[0], word.known(labels)]))
            except Crowded as error:
                raise self.overfull(error.size) from None
        key, part = id(part), self._on_one_scale(part)
        for p, ((i, j), table) in enumerate(zip(self.pairs, self.tables, strict=True)):
            row, col, count, within = part.cells(i, j)
            self.put(p, moved[i][row], moved[j][col], count, within if table.weighted else None)
        self._add_totals(part)
        self.room.drop(key)
        self.check()

    def _on_one_scale(self, part: PartialTables) -> PartialTables:
        """The part with its weights divided by the same power of two as those here."""
        if part.exponent is None or part.lowest is None:
            return part
        self._rescale(part.exponent, part.lowest)
        assert self.exponent is not None
        return part.scaled(self.exponent - part.exponent)

    def partial(self) -> PartialTables:
        """The tables counted so far, which are emptied one after the other."""
        self.joint.settle()
        cells: dict[tuple[int, int], tuple[Array, Array, Array, Array]] = {}
        for (i, j), table in zip(self.pairs, self.tables, strict=True):
            row, col, count, within = table.cells()
            cells[i, j] = row, col if i != j else row, count, within
            table.clear()
        for (i, j), (row, col, count, _) in list(cells.items()):  # columns whose sizes follow from a pair
            for c, code in ((i, row), (j, col)):
                if (c, c) not in cells:
                    sizes = np.zeros(self.words[c].width, count.dtype)
                    np.add.at(sizes, code, count)
                    there = np.flatnonzero(sizes).astype(np.int32)
                    cells[c, c] = there, there, sizes[there], np.empty(0)
        pairs = np.array(list(cells), dtype=np.int64).reshape(-1, 2)
        none = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, self.total.dtype), np.empty(0)
        starts = np.concatenate([[0], np.cumsum([len(c[0]) for c in cells.values()])]).astype(np.int64)
        fields = [list(field) for field in zip(none, *cells.values(), strict=True)]
        cells.clear()
        row, col, count, within = (np.concatenate(fields.pop(0)) for _ in range(4))
        return PartialTables(
            names=self.counting.names, kinds=tuple(w.kind for w in self.words),
            labels=tuple(tuple(w.labels) for w in self.words), pairs=pairs, starts=starts, row=row, col=col, count=count,
            within=within, gaps=self.gaps.copy(), rows=self.rows, mass=_mass_kind(self.counting.mass), total=self.total,
            squares=self.squares, used=self.used.copy(), own=self.own.copy(), exponent=self.exponent, lowest=self.lowest,
            left_out=tuple(self.left_out), taken=self.taken,
        )  # fmt: skip


def _mass_kind(mass: tuple[str, bool] | None) -> str | None:
    return None if mass is None else "frequency" if mass[1] else "sample_weight"


def _column_of(batch: Frame, name: str, where: str) -> ColumnLike:
    """One column of a batch, as an arrow array or Labels."""
    names = batch if isinstance(batch, dict) else batch.schema.names
    known_column(name, names, where, BadBatch)
    return batch[name] if isinstance(batch, dict) else batch.column(name)


# --- counting batches and adding the counts ---------------------------------------------------------------------


def merged(parts: Iterable[PartialTables], limit: float = float("inf")) -> PartialTables:
    """The sum of any number of partial tables."""
    total: Accumulator | None = None
    for part in parts:
        if total is None:
            total = Accumulator(replace(_counting_of(part), limit=limit))
        total.add(part)
    if total is None:
        raise InputError("there are no partial tables to add")
    return total.partial()


def _counting_of(part: PartialTables) -> Counting:
    mass = None if part.mass is None else ("", part.mass == "frequency")
    return Counting(part.names, part.of_two, (None,) * len(part.names), (None,) * len(part.names), mass)


class Addable(Protocol):
    """A partial result, which can be added to another of the same kind."""

    def __add__(self, other: Self, /) -> Self: ...


Part = TypeVar("Part", bound=Addable)


def merge(a: Part, b: Part) -> Part:
    """The sum of two partial results: of `partial_tables`, `contingency` or `pair_sums`; the same as `a + b`.

    Args:
        a: A partial result.
        b: Another of the same kind.

    Returns:
        Their sum.

    Raises:
        InputError: If they are of different kinds.

    See also:
        `cg.partial_tables`, `cg.pair_sums`.

    >>> import congruence as cg
    >>> from functools import reduce
    >>> batches = [{"a": [0, 0], "b": [1, 2]}, {"a": [1, 1], "b": [2, 2]}, {"a": [0], "b": [1]}]
    >>> total = reduce(cg.merge, map(cg.partial_tables, batches))
    >>> total.table("a", "b").to_array().tolist()
    [[2, 1], [0, 2]]
    """
    if type(a) is not type(b) or not hasattr(a, "__add__") or not type(a).__module__.startswith("congruence."):
        raise InputError(f"merge adds two results of the same kind, not {type(a).__name__} and {type(b).__name__}")
    return a + b


@described
def partial_tables(
    batch: Frame,
    columns: Sequence[str] | None = None,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    noise: NoiseLike = None,
    sample_weight: str | None = None,
    frequency: str | None = None,
) -> PartialTables:
    """The contingency tables of all pairs of label columns (or of these `pairs`) over the rows of one batch; they can be added.

    Args:
        batch: An arrow RecordBatch or Table, a pandas or polars frame, a mapping of columns, or a 2-D array of label
            columns.
        columns: Names of the label columns. Default None: all.
        pairs: Pairs of columns to count. Default None: all pairs.
        noise: See `congruence.options`.
        sample_weight: Name of a column of importance weights. Default None.
        frequency: Name of a column of counts. Default None.

    Returns:
        A `PartialTables`; those of several batches can be added.

    See also:
        `cg.merge`, `cg.scan`.

    >>> import congruence as cg
    >>> part = cg.partial_tables({"a": [0, 0, 1, None], "b": ["x", "x", "y", "y"]})
    >>> part.table("a", "b").to_array().tolist(), part.rows
    ([[2, 0], [0, 1]], 4)
    """
    found = batch_columns(batch)
    weights = sample_weight if sample_weight is not None else frequency
    if sample_weight is not None and frequency is not None:
        raise InputError(f"pass {Option('sample_weight')} (importance) or frequency (counts), not both")
    listed = names_in(columns, "columns") if columns is not None else [name for name in found if name != weights]
    for name in [*listed, *([weights] if weights is not None else [])]:
        known_column(name, found, "the batch")
    counting = Counting(
        tuple(listed), pair_positions(listed, pairs), tuple(noise_for(noise, (name,)) for name in listed),
        (None,) * len(listed), None if weights is None else (weights, frequency is not None),
    )  # fmt: skip
    total = Accumulator(counting)
    total.add_batch({name: found[name] for name in counting.read}, "the batch")
    return total.partial()
