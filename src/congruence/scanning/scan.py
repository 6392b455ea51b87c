"""Label columns read from files, datasets, Dask frames or streams when they are counted: `cg.scan`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from typing import ClassVar, overload

import numpy as np

from congruence.engine.plan import Progress, default_threads
from congruence.errors import InputError, Option, check_different, known_column, names_in
from congruence.inputs.alignment import Mass
from congruence.inputs.column_kinds import Sorting
from congruence.inputs.effects import refuse_idle
from congruence.machine.memory import release, trim
from congruence.options import described
from congruence.scanning import room
from congruence.scanning.accumulate import Accumulator, Counting
from congruence.scanning.batches import sorted_names
from congruence.scanning.checkpoint import checkpoint_in, digest
from congruence.scanning.columns import Column, weights_of
from congruence.scanning.parts import Group, grouped, kind_of_or_not
from congruence.scanning.room import Overfull, bytes_of, size_of
from congruence.scanning.sampling import Sample
from congruence.scanning.schedule import fold, read_here
from congruence.scanning.sources import Input, source_of
from congruence.scanning.tables import PartialTables
from congruence.scanning.vocabulary import LabelKind, kind_of
from congruence.statistics.tables import Array
from congruence.typing import Client, ColumnLike, Label, OptionValue, PathLike, ProgressLike, ScanLike

#: default memory limit
MEMORY = "1GB"

#: a column with more labels, and a new one in most rows, is reported as ids when memory is full
MANY_LABELS = 10_000

#: most labels in the first rows that are checked
LOOK = 1 << 21


# --- the scan ---------------------------------------------------------------------------------------------------


@described
def scan(
    path: ScanLike,
    columns: Sequence[str] | None = None,
    id: str | None = None,
    *,
    memory: str | float = MEMORY,
    threads: int | None = None,
    client: Client = None,
    checkpoint: PathLike | None = None,
    skip_bad: bool = False,
    na_values: Sequence[str] | None = None,
    progress: ProgressLike = None,
) -> Scan:
    """Label columns that stay in their files and are read in row groups when they are compared.

    Args:
        path: Path of a file (parquet, feather, csv), folder or pattern with `*`, a list of paths, an Arrow dataset, a lazy
            frame (Spark, DuckDB, Ibis, Polars, Dask), a function that yields batches, an iterator of them, or a `Scan`.
        columns: Names of the label columns. Default None: all that look like labels, not like ids or measurements.
        id: Column of row ids. Default None.
        memory: Most memory that the scan may use in addition to what the process already holds, such as "2GB", or a number
            of bytes; pairs that do not fit are counted in another pass. Default: 1 GB.
        threads: See `congruence.options`.
        client: Where to count: a Dask client, the address of a scheduler, or any executor. Default None: in this process.
        checkpoint: Folder in which finished parts are kept; a second run resumes from there. Default None.
        skip_bad: Whether to skip unreadable parts; they are logged, and the result lists them. Default False.
        na_values: Unquoted fields of text files to treat as missing, in addition to empty ones. Default None: NA, N/A, n/a, NaN,
            nan, null, NULL, None and <NA>. A quoted "NA" is a label.
        progress: See `congruence.options`.

    Returns:
        A `Scan`: `s["a"]` is a column that can be compared like labels.

    Raises:
        InputError: If the source cannot be read or lacks a column.

    See also:
        `cg.compare_all`, `cg.partial_tables`.

    >>> import congruence as cg, pyarrow as pa
    >>> rows = pa.table({"truth": [0, 0, 1, 1], "run": ["a", "a", "b", "c"]})
    >>> s = cg.scan(lambda: rows.to_reader())
    >>> round(cg.ari(s["truth"], s["run"]), 4)
    0.5714
    """
    options = {"threads": threads, "client": client, "checkpoint": checkpoint, "progress": progress}
    if isinstance(path, Scan):
        refuse_idle(scan, locals(), "for a scan, which is open already")
        options |= {"memory": None if memory == MEMORY else memory, "skip_bad": skip_bad or None}
        return path.narrowed(columns).with_options(**options)
    found = source_of(path, na_values)
    return Scan(input=found, text=found.text)._of(columns, id).with_options(memory=memory, skip_bad=skip_bad, **options)


@dataclass(eq=False, kw_only=True)
class Scan:
    """Label columns of a file, folder, dataset, frame or stream; created by `cg.scan`, read when they are compared.

    `s["a"]` is one column, `s[["a", "b"]]` a scan of fewer columns. The last tables are cached, so that
    further measures of the same columns read nothing.

    Attributes:
        input: The source.
        text: Name used in messages.
        names: Names of the label columns.
        notes: Notes on what was left out.
        found: How each column was classified, or None if the columns were named.
        memory: Most memory that the scan may take, in bytes.
        threads: Number of threads, or None.
        client: Where parts are counted, or None.
        checkpoint: Folder of finished parts, or None.
        skip_bad: Whether to skip unreadable parts.
        progress: Called with the number of finished rows.
        id: Column that names the rows, or None.

    >>> import congruence as cg, pyarrow as pa
    >>> cg.scan(lambda: pa.table({"a": [0, 0, 1], "b": ["x", "x", "y"]}).to_reader()).names
    ('a', 'b')
    """

    #: nothing is read before it is compared
    is_lazy: ClassVar[bool] = True

    input: Input = field(repr=False)
    text: str
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    found: Sorting | None = None
    memory: float = 1e9
    threads: int | None = None
    client: Client = None
    checkpoint: PathLike | None = None
    skip_bad: bool = False
    progress: ProgressLike = None
    id: str | None = None
    #: tables of the last passes, by what was counted
    _kept: list[tuple[tuple[Label, ...], PartialTables]] = field(default_factory=list, repr=False)
    #: labels and cluster sizes of every counted column
    _seen: dict[tuple[Label, ...], PartialTables] = field(default_factory=dict, repr=False)
    #: numbers of labels, and bytes per row while it is read, of the columns
    _widths: dict[str, int] = field(default_factory=dict, repr=False)
    _per_row: dict[str, float] = field(default_factory=dict, repr=False)

    def _of(self, columns: Sequence[str] | None, id: str | None) -> Scan:
        there = list(self.input.schema.names)
        check_different(there, "columns", self.text)
        columns = None if columns is None else [str(x) for x in names_in(columns, "columns")]
        for name in [*(columns or []), *([id] if id is not None else [])]:
            known_column(name, there, self.text)
        self.id = id
        self.names = tuple(columns) if columns is not None else tuple(x for x in there if x != id)
        if columns is None and len(self.names) > 1:
            self.found = sorted_names(self.input, self.names, self.text, id)
            if not self.found.is_plain:
                self.names, self.notes = tuple(self.found.taken), (self.found.line,)
        if not self.names:
            raise InputError(f"{self.text} has no label columns")
        return self

    def with_options(self, **options: OptionValue) -> Scan:
        """The same columns with other options; None keeps an option.

        Args:
            options: Options of `cg.scan`: `client`, `checkpoint`, `memory`, `skip_bad`, `progress`.
        """
        other = copy(self)
        for key, value in options.items():
            if value is not None:
                setattr(other, key, bytes_of(value) if key == "memory" else value)
        room.check_least(other.memory, other.input.size, self.text)
        return other

    def narrowed(self, columns: Sequence[str] | None) -> Scan:
        """A scan of fewer columns.

        Args:
            columns: Names of the columns.
        """
        if columns is None:
            return self
        other = copy(self)
        other.names = tuple(self[str(name)].name for name in names_in(columns, "columns"))
        return other

    @overload
    def __getitem__(self, which: str) -> Column: ...
    @overload
    def __getitem__(self, which: list[str] | tuple[str, ...]) -> Scan: ...
    def __getitem__(self, which: str | Sequence[str]) -> Column | Scan:
        if not isinstance(which, str) and isinstance(which, Iterable):
            return self.narrowed(which)
        known_column(which, self.input.schema.names, self.text)
        return Column(self, str(which))

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Column]:
        return (self[name] for name in self.names)

    def lazy_columns(self) -> list[tuple[str, ColumnLike]]:
        """Its columns by name, as clusterings."""
        return [(name, self[name]) for name in self.names]

    def same_rows(self, other: object) -> bool:
        """Whether the other is a scan of the same rows.

        Args:
            other: Another scan.
        """
        return isinstance(other, Scan) and other.input is self.input

    @property
    def n_rows(self) -> int | None:
        """Number of rows: from footers, or once they are counted."""
        counted = (part.rows for (*_, skipped, _), part in self._seen.items() if skipped == self.skip_bad)
        return next(counted, self.input.rows if not self.skip_bad else None)

    def __repr__(self) -> str:
        rows = f", {self.input.rows:,} rows" if self.input.rows is not None else ""
        return f"Scan of {self.text}: {len(self.names)} columns{rows}"

    # --- counting ---

    def _key(self, columns: Sequence[Column], mass: Mass | None) -> tuple[Label, ...]:
        """The key under which counts are cached."""
        noise = frozenset((c.name, c.noise) for c in columns if c.noise is not None)
        return (None if mass is None else (weights_of(mass).name, mass.is_frequency)), noise, self.skip_bad

    def known(self, column: Column, mass: Mass | None = None) -> PartialTables | None:
        """Tables with this column, if it was counted.

        Args:
            column: A column of the scan.
            mass: Weights of the rows. Default None.
        """
        weighed = self._key([column], mass)[0]
        found = self._seen.get((column.name, column.noise, self.skip_bad, weighed))
        if found is None and mass is None:
            found = next(
                (x for key, x in self._seen.items() if key[:3] == (column.name, column.noise, self.skip_bad)), None
            )
        return found

    def facts(self, column: Column, mass: Mass | None = None) -> PartialTables:
        """Tables with this column; it is counted alone if there are none.

        Args:
            column: A column of the scan.
            mass: Weights of the rows. Default None.
        """
        found = self.known(column, mass)
        if found is None:
            others = [self[name].as_counted() for name in self.names if name != column.name]
            lone = column.as_counted()
            columns = [lone, *(others if column.name in self.names and not column.noise else [])]
            pairs = np.column_stack([np.arange(len(columns))] * 2)
            for _ in self.tables(columns, pairs, mass, self.threads, None):
                pass
            found = self.known(column, mass)
            assert found is not None
        return found

    def tables(
        self, columns: Sequence[Column], pairs: Array, mass: Mass | None, threads: int | None, progress: Progress | None,
        sample: Sample | None = None,
    ) -> Iterator[tuple[Array, PartialTables]]:  # fmt: skip
        """(positions of some pairs, their tables), in as many passes as memory requires.

        Args:
            columns: Columns of the scan.
            pairs: Positions of the two columns of each pair.
            mass: Weights of the rows, or None.
            threads: Number of threads, or None for all cores; it does not change results.
            progress: Called with the number of finished rows, or None.
            sample: Rows to take in the first pass; tables that exceed the memory then raise `Overfull`. Default None.
        """
        if mass is not None and not self.same_rows(weights_of(mass).source):
            raise InputError("the weights are a column of another source; give a column of the same scan")
        names = list(dict.fromkeys(c.name for c in columns))
        by_name: dict[str, Column] = {}
        for c in columns:
            if by_name.setdefault(c.name, c).noise != c.noise:
                raise InputError(
                    f"column {c.name!r} is used with two different values of {Option('noise')}; compare once with each"
                )
        at = np.array([names.index(c.name) for c in columns], dtype=np.int64)
        ends = np.sort(at[pairs], axis=1)
        key = self._key(columns, mass)
        wanted = {(names[i], names[j]) for i, j in ends.tolist()}
        for made, part in self._kept:
            if made == key and wanted <= part.held:
                self._see(key, part, by_name)
                yield np.arange(len(pairs)), part
                return
        workers = self._workers(names, default_threads(threads if threads is not None else self.threads))
        own = progress or Progress(0, self.progress, "rows")
        with own if progress is None else nullcontext():
            todo = np.arange(len(pairs))
            while len(todo):
                here = todo[self._block(names, ends[todo], 1 if self.client is not None else workers)]
                try:
                    part = self._fold(names, by_name, ends[here], mass, workers, own, len(todo) / len(here), sample)
                except Overfull as over:
                    over.__traceback__ = None  # it holds the tables of this pass
                    release()
                    if sample is not None:
                        raise
                    self._grown(names, ends[here], over)
                    continue
                if sample is not None:
                    sample.found |= part.taken
                    part, sample = replace(part, taken={}), None
                self._keep(key, part, by_name)
                if size_of(part) > room.FREE:  # not beside what the pass left
                    release()
                yield here, part
                todo = todo[~np.isin(todo, here)]
                if len(todo) and size_of(part) > self.memory / 8:  # make room for the tables of the next pass
                    self._kept.pop()
                del part
                if len(todo):
                    release()

    def _keep(self, key: tuple[Label, ...], part: PartialTables, by_name: Mapping[str, Column]) -> None:
        """Cache these tables; the oldest are dropped above an eighth of the memory."""
        if not part.rows:
            why = f" ({part.left_out[0]})" if part.left_out else ""
            raise InputError(f"{self.text} has no rows that can be read{why}")
        self._see(key, part, by_name)
        self._kept.append((key, part))
        while len(self._kept) > 1 and sum(size_of(p) for _, p in self._kept) > self.memory / 8:
            self._kept.pop(0)

    def _see(self, key: tuple[Label, ...], part: PartialTables, by_name: Mapping[str, Column]) -> None:
        for c, name in enumerate(part.names):
            if name in by_name:
                self._seen[name, by_name[name].noise, self.skip_bad, key[0]] = part.of_column(c)

    @property
    def _limit(self) -> float:
        """Bytes for the labels and tables of one pass."""
        kept = sum(size_of(part) for _, part in self._kept) + sum(map(size_of, self._seen.values()))
        return room.for_tables(self.memory, kept, self.input.fields, self.checkpoint is not None)

    def _look(self, names: Sequence[str]) -> None:
        """Numbers of labels in the first rows; they may grow while counting."""
        new = [name for name in names if name not in self._widths]
        if not new or self.input.once:
            return
        rows = int(np.clip(min(LOOK, self.memory / (16 * room.NEW_LABEL)) / len(new), 1 << 10, 1 << 16))
        for part in self.input.parts(new):
            try:
                first = next(iter(part.batches(new, rows)))
                look = Accumulator(Counting(tuple(new), np.empty((0, 2)), (None,) * len(new), (None,) * len(new)))
                look.add_batch(first, part.where)
            except Exception:  # counting reports the error
                continue
            self._widths.update({name: word.width for name, word in zip(new, look.words, strict=True)})
            for name, word in zip(new, look.words, strict=True):
                column = first[name] if isinstance(first, dict) else first.column(name)
                new_labels = room.NEW_LABEL * word.width if word.width > MANY_LABELS / 10 else 0
                self._per_row[name] = (getattr(column, "nbytes", 8 * look.rows) + new_labels) / max(look.rows, 1)
            many = look.rows * sum(self._per_row[name] for name in new)
            del first, look
            if many > room.FREE:
                trim()
            break

    def labels_at_first(self, names: Sequence[str]) -> int:
        """Number of labels of these columns in their first rows, as far as known.

        Args:
            names: Names of columns.
        """
        listed = [str(name) for name in names_in(names, "names")]
        self._look(listed)
        return sum(self._widths.get(name, 1) - 1 for name in listed)

    def _block(self, names: Sequence[str], ends: Array, workers: int) -> Array:
        """The pairs to count in the next pass: a block of clusterings against clusterings that fits in memory."""
        self._look(names)
        width = np.array([self._widths.get(name, 1) for name in names], dtype=np.float64)
        dense = 1.6 * width[ends[:, 0]] * width[ends[:, 1]] * (ends[:, 0] != ends[:, 1])
        cells = np.minimum(dense, np.inf if self.input.rows is None else self.input.rows)  # none is empty
        cost, limit = np.minimum(8 * workers * dense, 32 * cells), self._limit
        for parts in range(1, len(names) + 1):
            group = np.arange(len(names)) * parts // len(names)
            block = group[ends[:, 0]] * parts + group[ends[:, 1]]
            other = np.bincount(block, weights=room.PER_TABLE * workers + 8 * cells) + room.PER_CELL * cells.max()
            other += min(parts, 2) * np.bincount(group, weights=room.NEW_LABEL * width).max()
            size = np.bincount(block, weights=cost) + np.maximum(0, other - room.FREE)
            if size.max() <= limit or parts == len(names) or self.input.once:
                return np.flatnonzero(block == block[0])
        return np.arange(1)

    def _grown(self, names: Sequence[str], ends: Array, over: Overfull) -> None:
        """Record the numbers of labels found when memory was full; a single pair that is too large is an error."""
        used = np.unique(ends)
        for x, width in zip(used.tolist(), over.widths.tolist(), strict=True):
            if width > MANY_LABELS and width - 1 > over.rows / 2:
                raise room.all_different(names[x], int(width) - 1, over.rows, self.memory, self.text) from None
        if self.input.once or len(np.unique(ends, axis=0)) == 1:
            raise room.too_large([names[x] for x in used], over, self.memory, self.input.once) from None
        for x, width in zip(used.tolist(), over.widths.tolist(), strict=True):
            self._widths[names[x]] = max(2 * int(width), int(1.5 * self._widths.get(names[x], 1)))

    def _fold(
        self, names: Sequence[str], by_name: Mapping[str, Column], ends: Array, mass: Mass | None, workers: int,
        progress: Progress, passes: float, sample: Sample | None,
    ) -> PartialTables:  # fmt: skip
        """One pass over the rows for these pairs."""
        used = [names[x] for x in np.unique(ends)]
        place = {name: i for i, name in enumerate(used)}
        pairs = sorted({(place[names[i]], place[names[j]]) for i, j in ends.tolist() if i != j})
        columns = [by_name[name] for name in used]
        beside = [name for name in names if (self.skip_bad or sample is not None) and name not in used]
        weighted = mass is not None and not mass.is_frequency  # sums of weights depend on where batches begin
        counting = Counting(
            tuple(used), np.array(pairs, dtype=np.int64).reshape(-1, 2), tuple(c.noise for c in columns),
            tuple(c.who if c.unassigned == "error" and self.holds_sets(c.name) is False else None for c in columns),
            None if mass is None else (weights_of(mass).name, mass.is_frequency), self._limit, self.skip_bad,
            tuple(self.kind(name) for name in used), 1 << 16 if weighted else self._rows_of_batch([*used, *beside], workers),
            tuple((name, self.kind(name)) for name in beside),
            workers if self.client is None else 1,
        )  # fmt: skip
        progress.what = "rows"
        progress.total = max(progress.total if progress.done else 0, progress.done + int(self.input.guess * passes))
        if (found := self.input.count(counting, progress, client=self.client, checkpoint=self.checkpoint)) is not None:
            return found
        with checkpoint_in(self.checkpoint, self.input.fingerprint, self.text) as stored:
            return fold(
                self._groups(counting, workers, sample), counting, client=self.client, threads=workers, progress=progress,
                checkpoint=stored,
            )  # fmt: skip

    def _workers(self, names: Sequence[str], threads: int) -> int:
        """Number of threads; fewer if what they read ahead would take much of the memory."""
        parts = self.input.parts(names) if not self.input.once else []
        try:
            ahead = parts[0].ahead(names) if isinstance(parts, list) and parts else 0.0
        except Exception:  # the file is gone, cut or replaced: counting reports the error
            ahead = 0.0
        return int(np.clip(room.READING * self.memory / 2 / max(ahead, 1.0), 1, threads))

    def _rows_of_batch(self, names: Sequence[str], workers: int) -> int:
        """Rows of these columns that each of some threads reads at a time."""
        return room.rows_of_batch([self._per_row.get(name, 8.0) for name in names], self.memory, workers)

    def holds_sets(self, name: str) -> bool | None:
        """Whether a column holds lists of clusters; None if that is known only when it is counted.

        Args:
            name: Name of a column.
        """
        self._check_name(name)
        return self.input.holds_sets(name)

    def kind(self, name: str) -> LabelKind | None:
        """The kind of the labels of a column; None if that is known only when it is counted.

        Args:
            name: Name of a column.
        """
        if self.input.fields:
            return LabelKind.FIELD
        self._check_name(name)
        kind = self.input.schema.field(name).type
        return None if kind_of_or_not(kind) is LabelKind.NULL else kind_of(kind)

    def _check_name(self, name: str) -> None:
        if self.input.schema is not None:
            known_column(name, self.input.schema.names, self.text)

    def _groups(self, counting: Counting, workers: int, sample: Sample | None) -> Iterator[Group]:
        """Parts combined into about sixty groups with similar numbers of rows."""
        parts = self.input.parts(counting.read)
        listed = parts if isinstance(parts, list) else []
        few = 0 < len(listed) < 2 * workers and max(part.guess for part in listed) > 4 * counting.rows
        # parts of weighted rows do not depend on the number of threads
        weighted = counting.mass is not None and not counting.mass[1]
        if few and not weighted and self.client is None and self.checkpoint is None and not self.skip_bad:
            yield from read_here(listed, counting, sample)
            return
        what = digest(*counting.names, counting.pairs.tobytes(), repr([sorted(map(str, x or ())) for x in counting.noise]),
                      repr(counting.mass), repr(counting.skip_bad), *(name for name, _ in counting.beside))  # fmt: skip
        for number, group in enumerate(grouped(listed, what) if listed else map(Group, zip(parts))):
            yield group if sample is None else replace(group, wanted=sample.of(number))
