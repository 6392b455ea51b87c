"""Values per row of a scan: a sample of rows, or a value for each row, written part by part."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from congruence.engine.plan import Progress, default_threads
from congruence.errors import Call, InputError, Option, known_column
from congruence.inputs.encoding import arrow_library
from congruence.inputs.labels import Labels
from congruence.machine.writing import replacing
from congruence.scanning.batches import batch_columns
from congruence.scanning.checkpoint import checkpoint_in, digest
from congruence.scanning.columns import Column
from congruence.scanning.parts import Group, Part, grouped
from congruence.scanning.room import rows_of_batch
from congruence.scanning.sampling import Piece, RowsToTake, Sample
from congruence.scanning.schedule import Work, each, read_batches
from congruence.scanning.vocabulary import BadBatch, LabelKind, Vocabulary, check_complete, check_kind
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame, Label, PathLike, Record

if TYPE_CHECKING:
    from congruence.scanning.lazy_frames import LazyRows
    from congruence.scanning.scan import Scan

#: values of a batch of rows from the codes of their labels, the number of the group and the first row in it, by name
Values = Callable[[list[Array], int, int], dict[str, Array]]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Reading:
    """How the labels of some columns become codes: 0 for no label, then the labels in order of appearance.

    Labels beyond those listed share the next code; without a list, labels are added as they appear.
    """

    names: tuple[str, ...]
    #: kinds of the labels, and those that mean "in no cluster"
    kinds: tuple[LabelKind | None, ...]
    noise: tuple[Label, ...]
    #: name in the error of a column that must be complete, or None
    complete: tuple[str | None, ...]
    #: rows per batch
    rows: int
    skip_bad: bool = False
    labels: tuple[tuple[Label, ...], ...] | None = None
    more: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        return (*dict.fromkeys((*self.names, *self.more)),)

    def vocabularies(self) -> list[Vocabulary]:
        """New vocabularies with the listed labels."""
        made = [Vocabulary(noise, kind is LabelKind.FIELD) for noise, kind in zip(self.noise, self.kinds, strict=True)]
        for word, labels in zip(made, self.labels or ((),) * len(made), strict=True):
            word.begin(labels)
        return made

    def check(self, columns: dict[str, ColumnLike], where: str) -> None:
        """Raise if a column of a batch has labels of another kind."""
        for name, kind in zip(self.names, self.kinds, strict=False):
            check_kind(columns[name], kind, f"{where}: column {name!r}")

    def codes(self, words: Sequence[Vocabulary], columns: dict[str, ColumnLike], where: str) -> list[Array]:
        """The codes of the columns of a batch."""
        self.check(columns, where)
        found = []
        for c, (name, word) in enumerate(zip(self.names, words, strict=True)):
            codes = word.codes(columns[name], f"{where}: column {name!r}")
            check_complete(codes, self.complete[c], where)
            if self.labels is not None and word.width > len(self.labels[c]) + 1:
                codes = np.minimum(codes, len(self.labels[c]) + 1)
            found.append(codes)
        return found


class Rows:
    """The rows of some columns of one scan, in the groups of parts that are read together."""

    def __init__(self, columns: Sequence[Column], joins: bool = False) -> None:
        source = cast("Scan", columns[0].source)
        if not hasattr(source, "input") or not all(c.source.same_rows(source) for c in columns):
            raise InputError(
                f"values per row need columns of one {Call('cg.scan(…)')}, not tables that are already counted"
            )
        if not (joins and source.input.joins):
            source.input.check_rows()
        if source.input.once:
            raise InputError("an iterator of batches can be read only once, but this needs two passes; pass a function")
        if any(source.holds_sets(c.name) for c in columns):
            raise InputError("values per row need columns of labels, not of lists of clusters")
        rules = {c.unassigned for c in columns}
        if not rules <= {"error", "drop", "partial"}:
            raise InputError(
                "for scanned rows, unassigned must be 'error' or 'partial' here; read the columns into memory for other values"
            )
        self.scan, self.columns = source, columns
        self.threads = default_threads(source.threads)
        self.reading = Reading(
            tuple(c.name for c in columns), tuple(source.kind(c.name) for c in columns), tuple(c.noise for c in columns),
            tuple(c.who if c.unassigned == "error" else None for c in columns),
            rows_of_batch([8.0] * len(columns), source.memory, self.threads), source.skip_bad,
        )  # fmt: skip

    def groups(self) -> Iterable[Group]:
        """The parts, in groups that depend only on the source."""
        parts = self.scan.input.parts(self.reading.read)
        return grouped(parts) if isinstance(parts, list) else (Group((part,)) for part in parts)

    def each(self, work: Work[T], what: str, left: Callable[[int], bool] = lambda _: True) -> Iterator[tuple[int, T]]:
        """(number of a group, result of the work) for all groups, or the remaining ones."""
        groups = (Group(g.parts, str(at)) for at, g in enumerate(self.groups()) if left(at))
        with Progress(self.scan.input.guess, self.scan.progress, what) as bar:
            for group, found in each(groups, work, client=self.scan.client, threads=self.threads, progress=bar):
                yield int(group.key), found

    def counts(self) -> list[tuple[int, ...]]:
        """Numbers of rows of the parts of each group; read if they are unknown, or if parts may be left out."""
        parts = self.scan.input.parts(self.reading.read)
        if isinstance(parts, list) and all(part.rows is not None for part in parts) and not self.reading.skip_bad:
            return [tuple(part.rows or 0 for part in group.parts) for group in grouped(parts)]
        found = dict(self.each(partial(_counted_rows, self.reading), "rows counted"))
        return [found[number] for number in range(len(found))]

    def codes_of(self, sample: Sample) -> tuple[list[Array], tuple[tuple[Label, ...], ...]]:
        """Codes of the columns in the rows of a sample, and the labels of the codes; rows that are not taken yet are read."""
        left = {number: wanted for number in range(len(sample.groups)) if any(wanted := sample.of(number))}
        for _, found in self.each(partial(_sampled, self.reading, left), "rows sampled", lambda g: g in left):
            sample.found |= found
        words = self.reading.vocabularies()
        pieces = [self.reading.codes(words, columns, where) for _, (where, columns) in sorted(sample.found.items())]
        if not pieces:
            raise InputError(f"{self.scan.text} has no rows that can be read")
        return [np.concatenate(own) for own in zip(*pieces, strict=True)], tuple(tuple(w.labels) for w in words)


def over_parts(
    parts: Sequence[Part], reading: Reading, each: Callable[[Part, dict[str, ColumnLike], int], T]
) -> Iterator[tuple[list[T], int, str]]:
    """For each part: the results of `each(part, columns, rows before)` for its batches, its rows, and why it was left out.

    A part is left out as a whole if some of its columns cannot be read, if that is allowed.
    """
    for part in parts:
        found: list[T] = []
        rows = 0
        try:
            for batch in read_batches(part, reading):
                columns = batch_columns(batch) if not isinstance(batch, dict) else batch
                for name in reading.read:
                    known_column(name, columns, part.where, BadBatch)
                found.append(each(part, columns, rows))
                rows += len(columns[reading.read[0]])
        except BadBatch as error:
            if not reading.skip_bad:
                raise
            yield [], 0, str(error)
            continue
        yield found, rows, ""


# work on a group of parts, wherever it is read; what comes before `parts` is bound by `partial`


def _counted_rows(few: Reading, parts: Sequence[Part], about: Group) -> tuple[int, ...]:
    """The numbers of rows of parts."""
    if not few.skip_bad:  # else a part is left out if any of its columns cannot be read
        few = replace(few, names=few.names[:1], rows=1 << 18)
    each = over_parts(parts, few, lambda part, columns, _: few.check(columns, part.where))
    return tuple(rows for _, rows, _ in each)


def _sampled(
    reading: Reading, wanted: dict[int, tuple[RowsToTake | None, ...]], parts: Sequence[Part], about: Group
) -> dict[int, Piece]:
    """The rows to take of the parts of this group, of which `wanted` has those of each."""
    chosen = [(part, rows) for part, rows in zip(parts, wanted[int(about.key)], strict=True) if rows is not None]

    def taken(part: Part, columns: dict[str, ColumnLike], first: int) -> dict[int, Piece]:
        reading.check(columns, part.where)
        rows = next(rows for other, rows in chosen if other is part)
        return rows.found_in(columns, first, len(columns[reading.names[0]]), part.where)

    pieces = (piece for found, _, _ in over_parts([part for part, _ in chosen], reading, taken) for piece in found)
    return dict(chain.from_iterable(piece.items() for piece in pieces))


# --- a value for each row ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Written:
    """A folder of Parquet files with values per row, in the order of the source.

    Attributes:
        folder: The folder.
        columns: Names of the columns of the files.
        n_rows: Number of rows.
        n_files: Number of files.
        notes: Notes on what was left out.
        about: Facts about each file.

    >>> import congruence as cg
    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> rows = cg.scan(lambda: iter([{"a": [0, 0, 1], "b": ["x", "x", "y"]}]))
    >>> written = cg.relabel(rows["a"], rows["b"], out=pathlib.Path(folder.name) / "out")
    >>> written.n_rows, written.read()["b"].to_pylist()
    (3, [0, 0, 1])
    >>> folder.cleanup()
    """

    folder: Path
    columns: tuple[str, ...]
    n_rows: int
    n_files: int
    notes: tuple[str, ...] = ()
    about: tuple[Record, ...] = field(default=(), repr=False)

    def read(self) -> Frame:
        """The files as one arrow table, in order."""
        from pyarrow import parquet

        pa = arrow_library()
        return pa.concat_tables([parquet.read_table(path) for path in sorted(self.folder.glob("part-*.parquet"))])


def _with_values(reading: Reading, values: Values, out: str | None, parts: Sequence[Part], group: Group) -> Record:
    """Facts about the rows of parts, whose values are written to a folder, or among the facts."""
    words, number, first = reading.vocabularies(), int(group.key), 0
    found: list[Record] = []
    left_out: list[str] = []

    def of_batch(part: Part, columns: dict[str, ColumnLike], rows: int) -> Record:
        codes = reading.codes(words, columns, part.where)
        return {name: columns[name] for name in reading.more} | values(codes, number, first + rows)

    for pieces, rows, why in over_parts(parts, reading, of_batch):
        found += pieces
        first += rows
        left_out += [f"left out: {why}"] if why else []
    about = {"rows": first, "left_out": left_out}
    if not found:
        return about
    if out is None:
        return about | {"values": {name: np.concatenate([x[name] for x in found]) for name in found[0]}}
    if hasattr(values, "about"):
        about |= values.about(found)
    path = Path(out) / f"part-{number:06}.parquet"
    return about | {"columns": list(found[0]), "bytes": written(found, path)}


def written(found: Sequence[Record], path: Path) -> int:
    """Write values of rows to a Parquet file, atomically; returns its size in bytes."""
    from pyarrow import parquet

    pa = arrow_library()
    tables = [pa.table({name: _storable(x) for name, x in piece.items()}) for piece in found]
    table = pa.concat_tables(tables, promote_options="default")
    repeated = [field.name for field in table.schema if not pa.types.is_floating(field.type)]
    with replacing(path) as stream:
        parquet.write_table(table, stream, use_dictionary=repeated)
    return os.path.getsize(path)


def _storable(values: Array) -> ColumnLike:
    """The column to write: text that was read as codes is written as text."""
    pa = arrow_library()
    if isinstance(values, np.ndarray):
        return pa.array(values)
    if isinstance(values, Labels):
        return pa.array([values.names[code] if code < values.k else None for code in values.codes.tolist()])
    return values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values


def values_of_rows(
    rows: Rows, values: Values, labels: tuple[tuple[Label, ...], ...]
) -> tuple[dict[str, Array], list[str]]:
    """The values of all rows, in order, by name; and notes on what was left out."""
    reading = replace(rows.reading, labels=labels)
    found = dict(rows.each(partial(_with_values, reading, values, None), "rows"))
    parts = [found[number] for number in sorted(found)]
    some = [part["values"] for part in parts if "values" in part]
    joined = {name: np.concatenate([x[name] for x in some]) for name in (some[0] if some else {})}
    return joined, [line for part in parts for line in part["left_out"]]


def written_rows(
    rows: Rows, values: Values, labels: tuple[tuple[Label, ...], ...], out: PathLike, what: str
) -> Written:
    """Write the values of all rows to a folder of Parquet files, with the column of row ids.

    Files are written atomically. With a checkpoint, files that an earlier run finished are not written again; else the folder
    must be new or empty. `what` is a digest of the inputs of the values.
    """
    scan, folder = rows.scan, Path(out)
    with checkpoint_in(scan.checkpoint, scan.input.fingerprint, scan.text) as stored:
        _make_folder(folder, getattr(scan.input, "paths", ()), stored is not None)
        reading = replace(rows.reading, labels=labels, more=() if scan.id is None else (scan.id,))
        done: dict[int, Record] = {}

        def key(number: int) -> str:
            return digest(what, str(folder.resolve()), *reading.read, f"rows of group {number}")

        def is_left(number: int) -> bool:
            saved = None if stored is None else stored.get(key(number))
            if saved is None:
                return True
            about = json.loads(saved)
            path = folder / f"part-{number:06}.parquet"
            if about["rows"] and (not path.exists() or path.stat().st_size != about.get("bytes")):
                return True
            done[number] = about
            return False

        for number, about in rows.each(partial(_with_values, reading, values, str(folder.resolve())), "rows", is_left):
            done[number] = about
            if stored is not None:
                stored.put(key(number), json.dumps(about).encode())
        for half in folder.glob(".part-*.parquet.*"):  # left by a killed worker
            half.unlink(missing_ok=True)
        parts = [done[number] for number in sorted(done)]
        names = next((tuple(x["columns"]) for x in parts if "columns" in x), ())
        return Written(
            folder=folder, columns=names, n_rows=sum(x["rows"] for x in parts), n_files=sum("bytes" in x for x in parts),
            notes=tuple(line for x in parts for line in x["left_out"]), about=tuple(parts),
        )  # fmt: skip


def joined_rows(rows: Rows, joined: Sequence[tuple[str, dict[str, list[Label]], Array]], out: PathLike) -> Written:
    """Let the library of a lazy frame write values for each row, and the column of row ids or else all columns.

    Args:
        rows: The rows.
        joined: The columns to write: name, the labels of some cells by column, and the value of each cell.
        out: The folder; it must be new or empty.
    """
    pa, scan, folder = arrow_library(), rows.scan, Path(out)
    _make_folder(folder)

    def labels(column: str, own: list[Label]) -> ColumnLike:
        kind = scan.input.schema.field(column).type
        return pa.array(own, kind.value_type if pa.types.is_dictionary(kind) else kind)

    cells = [
        (name, {column: labels(column, own) for column, own in listed.items()}, pa.array(values))
        for name, listed, values in joined
    ]
    many = scan.facts(rows.columns[0]).rows
    columns = cast("LazyRows", scan.input).join(cells, scan.id, folder, many)
    return Written(folder=folder, columns=columns, n_rows=many, n_files=1)


def _make_folder(folder: Path, read: Iterable[PathLike] = (), resumes: bool = False) -> None:
    """Make a folder for files of values, or refuse one that holds other files."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"out {folder} is a file; name a folder for the Parquet files")
    here = folder.resolve()
    if any(here in Path(path).resolve().parents for path in read):
        raise InputError(f"out {folder} holds the files that are read; name another folder")
    if folder.exists() and not resumes and any(folder.iterdir()):
        raise InputError(
            f"out {folder} holds other files; name an empty or a new folder, or pass {Option('checkpoint', ...)} to resume"
        )
    folder.mkdir(parents=True, exist_ok=True)
