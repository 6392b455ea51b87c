"""Parts of a source that are read one at a time: row groups, files, fragments, partitions."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from congruence.errors import InputError, known_column, some_of
from congruence.inputs.encoding import arrow_library, without_empty
from congruence.inputs.files import MISSING, text_reader
from congruence.inputs.formats import first_bytes
from congruence.machine import jit
from congruence.scanning.batches import batch_columns
from congruence.scanning.checkpoint import digest
from congruence.scanning.coded_pages import Chunk, NotCoded, coded_columns
from congruence.scanning.page_kernels import decoded
from congruence.scanning.vocabulary import BadBatch, LabelKind, kind_of
from congruence.typing import ColumnLike, Frame

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
    from dask.delayed import Delayed
    from pyarrow.csv import CSVStreamingReader

    from congruence.scanning.sampling import RowsToTake


@dataclass(frozen=True)
class Part(ABC):
    """Some rows, described so that they can be read by another process."""

    #: its name in messages
    where: str
    #: number of rows, if known
    rows: int | None = None

    @property
    def guess(self) -> int:
        """Number of rows, known or estimated; 0 if unknown."""
        return self.rows or 0

    def ahead(self, columns: Sequence[str]) -> float:
        """Bytes that are read and decoded before a batch is complete."""
        return 0.0

    @abstractmethod
    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of about this size."""


# --- parts of files ---------------------------------------------------------------------------------------------


#: number of parts: enough for all threads and workers; stopping a run loses at most one part each
GROUPS = 64

#: bytes read ahead of each column of a Parquet file, and most bytes of its pages while a batch is made
BUFFER, PAGES = 1 << 16, 3 << 20

#: number of labels that are read before columns are read as codes, if the loops for it were never compiled, which takes 3.6 s
#: and saves 2 to 6 ns per label (`benchmarks.decoder`), or if no compiled kernels are loaded, which takes half a second
CODED_FROM = 300_000_000

#: environment variable that is 0 if pyarrow is to read all columns
READ_CODES = "CONGRUENCE_READ_CODES"

#: bytes per row in a Parquet file below which texts repeat; a dictionary of almost as many texts as rows takes more than the rows
REPEATED = 8.0


#: bytes of a text file that are parsed together, of which some tens are read ahead; the second is for files with longer rows
BLOCKS = 1 << 16, 1 << 20

#: bytes of a batch of an arrow file above which it is mapped, not read
MAPPED = 32 << 20


@lru_cache(maxsize=256)
def footer_of(path: str, size: int, changed: int) -> pq.FileMetaData:
    """The footer of a Parquet file, cached by size and modification time."""
    from pyarrow import parquet

    footer: pq.FileMetaData = parquet.ParquetFile(path).metadata
    if any(footer.row_group(g).num_rows < 0 for g in range(footer.num_row_groups)):
        raise OSError(
            "it declares a negative number of rows"
        )  # pyarrow ends the process if it reads them without columns
    return footer


@lru_cache(maxsize=256)
def chunks_of(path: str, size: int, changed: int, group: int, columns: tuple[str, ...]) -> Mapping[str, Chunk]:
    """What the footer of a Parquet file says about flat columns of a row group, cached like the footer.

    A row is read first, which raises an error if the footer contradicts itself; pyarrow ends the process if it is asked for
    the column.
    """
    from pyarrow import parquet

    footer = footer_of(path, size, changed)
    with parquet.ParquetFile(path, metadata=footer, buffer_size=BUFFER, pre_buffer=False) as file:
        if next(file.iter_batches(1, row_groups=[group], columns=list(columns), use_threads=False), None) is None:
            return {}  # no rows
    places = [footer.schema.column(place).path for place in range(footer.num_columns)]
    about = footer.row_group(group)
    return {
        name: (about.column(places.index(name)), footer.schema.column(places.index(name)))
        for name in columns
        if places.count(name) == 1
    }


def state_of(path: str) -> tuple[str, int, int]:
    """Path, size and modification time of a file."""
    about = os.stat(path)
    return path, about.st_size, about.st_mtime_ns


@dataclass(frozen=True, kw_only=True)
class OfFile(Part):
    """A part of a file."""

    #: absolute, for workers in other folders
    path: str
    #: size and time of the file when it was opened; a change is an error
    state: tuple[int, int] | None = None

    def check_unchanged(self) -> None:
        """Raise if the file changed since it was opened."""
        if self.state is not None and state_of(self.path)[1:] != self.state:
            raise InputError(f"{self.where} changed while it was read; scan it again when it is complete")


@dataclass(frozen=True, kw_only=True)
class RowGroup(OfFile):
    """One row group of a Parquet file; text that repeats is read as dictionary codes."""

    rows: int
    group: int = 0

    def ahead(self, columns: Sequence[str]) -> float:
        """Bytes of the pages that are read and decoded before a batch is complete."""
        chunks = self._chunks(columns).values()
        return float(sum(min(PAGES, chunk.total_uncompressed_size) for chunk, _ in chunks))

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of limited size."""
        self.check_unchanged()
        footer = footer_of(*state_of(self.path))
        schema = footer.schema.to_arrow_schema()
        for name in columns:
            known_column(name, schema.names, self.where, BadBatch)
            if schema.names.count(name) > 1:
                raise BadBatch(f"{self.where}: two columns are named {name!r}")
        types = {name: schema.field(name).type for name in columns}
        done = 0
        work = float(self.rows) * len(columns)
        if (
            os.environ.get(READ_CODES) != "0"
            and work >= jit.LOADED_FROM
            and jit.has_numba()
            and ((jit.loaded() and jit.was_compiled(decoded)) or jit.pays(coded_columns.__module__, work, CODED_FROM))
        ):
            for batch in self._coded(types, rows, footer):
                done += batch.num_rows
                yield batch
        if not done or done < self.rows:
            yield from _after(done, self._plain(types, rows, footer))
        self.check_unchanged()

    def _chunks(self, columns: Iterable[str]) -> Mapping[str, Chunk]:
        return chunks_of(*state_of(self.path), self.group, tuple(columns))

    def _coded(self, types: Mapping[str, pa.DataType], rows: int, footer: pq.FileMetaData) -> Iterator[pa.RecordBatch]:
        """Batches in which columns that are stored as codes are read as codes, up to a page that holds none."""
        with coded_columns(self.path, self._chunks(types), self.rows, types) as coded:
            others = {name: type_ for name, type_ in types.items() if name not in coded}
            if not coded:
                return
            read: Iterator[tuple[int, dict[str, ColumnLike]]] = (
                ((batch.num_rows, batch_columns(batch)) for batch in self._plain(others, rows, footer))
                if others
                else ((min(rows, self.rows - start), {}) for start in range(0, self.rows, rows))
            )
            for n, found in read:
                try:
                    found |= {name: column.take(n) for name, column in coded.items()}
                except NotCoded:
                    return
                yield arrow_library().RecordBatch.from_pydict({name: found[name] for name in types})

    def _plain(self, types: Mapping[str, pa.DataType], rows: int, footer: pq.FileMetaData) -> Iterator[pa.RecordBatch]:
        """Batches read by pyarrow."""
        from pyarrow import parquet

        texts = [
            name
            for name, (chunk, _) in self._chunks(types).items()
            if kind_of_or_not(types[name]) in (LabelKind.TEXT, LabelKind.BYTES)
            and chunk.total_uncompressed_size < REPEATED * chunk.num_values
        ]
        with parquet.ParquetFile(
            self.path,
            metadata=footer,
            read_dictionary=texts,
            page_checksum_verification=True,
            buffer_size=BUFFER,
            pre_buffer=False,
        ) as file:
            for batch in file.iter_batches(rows, row_groups=[self.group], columns=list(types), use_threads=False):
                batch.validate(full=True)  # text that is not UTF-8
                yield batch


def _after(done: int, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches without the first rows."""
    for batch in batches:
        if done < batch.num_rows:
            yield batch.slice(done)
        done = max(0, done - batch.num_rows)


def kind_of_or_not(type: pa.DataType) -> LabelKind | None:
    """The kind of labels of an arrow type, or None if it cannot hold labels."""
    try:
        return kind_of(type)
    except InputError:
        return None


@dataclass(frozen=True, kw_only=True)
class Fragment(Part):
    """One fragment of an Arrow dataset, split by row groups if possible."""

    fragment: ds.Fragment
    schema: pa.Schema

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of limited size."""
        from pyarrow.dataset import get_partition_keys

        there = {*self.fragment.physical_schema.names, *get_partition_keys(self.fragment.partition_expression)}
        for name in columns:
            known_column(name, sorted(there), self.where, BadBatch)
        yield from self.fragment.to_batches(
            schema=self.schema, columns=list(columns), batch_size=rows, use_threads=False
        )


@dataclass(frozen=True, kw_only=True)
class ArrowFile(OfFile):
    """A feather or arrow file, read batch by batch; very large batches are mapped."""

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of limited size."""
        pa = arrow_library()
        self.check_unchanged()
        with pa.OSFile(self.path) as source, pa.ipc.open_file(source) as file:
            many, there = file.num_record_batches, file.schema.names
        for name in columns:
            known_column(name, there, self.path, BadBatch)
        only = pa.ipc.IpcReadOptions(included_fields=[there.index(name) for name in columns])
        # pages of a mapped file stay in memory, and reading them crashes the process if the file was cut
        opened = pa.memory_map if os.path.getsize(self.path) > MAPPED * many else pa.OSFile
        with opened(self.path) as source, pa.ipc.open_file(source, options=only) as file:
            for i in range(many):
                batch = file.get_batch(i).select(list(columns))
                for start in range(0, batch.num_rows, rows):
                    part = batch.slice(start, rows)
                    part.validate(full=True)  # offsets and codes beyond the data would crash the process
                    yield part
        self.check_unchanged()


@dataclass(frozen=True, kw_only=True)
class TextFile(OfFile):
    """A csv or tsv file, read in blocks; every field is text, as for the same file in memory."""

    delimiter: str = ","
    encoding: str = "utf8"
    #: unquoted fields that are missing
    missing: tuple[str, ...] = tuple(MISSING)

    @cached_property
    def guess(self) -> int:
        """Approximate number of rows, from the size of the file and its first lines."""
        head = first_bytes(self.path)
        return os.path.getsize(self.path) * head.count(b"\n") // max(len(head), 1)

    @property
    def schema(self) -> pa.Schema:
        """Names of the columns."""
        try:
            found: pa.Schema = self.open((), BLOCKS[0]).schema
        except arrow_library().ArrowInvalid:  # a header longer than the block, or a broken file
            found = self.open((), BLOCKS[-1]).schema
        return found

    def open(self, columns: Sequence[str], block: int) -> CSVStreamingReader:
        """The reader of the file."""
        self.check_unchanged()
        return text_reader(self.path, self.delimiter, columns, self.encoding, self.missing, block)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of this size."""
        done = 0
        for block in BLOCKS:
            try:
                for batch in _in_batches(self._read(columns, block, done), rows):
                    done += batch.num_rows
                    yield batch.from_arrays([without_empty(x) for x in batch.columns], schema=batch.schema)
                break
            except arrow_library().ArrowInvalid:  # a row longer than the block, or a broken file
                if block == BLOCKS[-1]:
                    raise
        self.check_unchanged()

    def _read(self, columns: Sequence[str], block: int, skip: int) -> Iterator[pa.RecordBatch]:
        """The rows after the first `skip`, block by block."""
        try:
            found = self.open(columns, block)
        except KeyError:  # pyarrow's error for a column that is not there
            there = self.schema.names
            gone = next(name for name in columns if name not in there)
            raise BadBatch(
                f"{self.where} has no column {gone!r}; it has: {some_of(there)}; the files of one folder or pattern hold "
                "rows of the same columns"
            ) from None
        for batch in found:
            yield batch.slice(skip)
            skip = max(0, skip - batch.num_rows)


def _in_batches(blocks: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The same rows in batches of this size."""
    waiting, many = [], 0
    for block in blocks:
        waiting.append(block)
        many += block.num_rows
        while many >= rows:
            table = arrow_library().Table.from_batches(waiting)
            waiting, many = table.slice(rows).to_batches(), many - rows
            yield from table.slice(0, rows).combine_chunks().to_batches()
    if many:
        yield from arrow_library().Table.from_batches(waiting).combine_chunks().to_batches()


@dataclass(frozen=True, kw_only=True)
class Broken(Part):
    """A file that could not be opened."""

    error: BadBatch

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of limited size."""
        raise self.error
        yield


@dataclass(frozen=True, kw_only=True)
class Held(Part):
    """A batch that has been read."""

    rows: int
    batch: pa.RecordBatch

    @classmethod
    def of(cls, batch: Frame, where: str) -> Held:
        """The part of one batch."""
        return cls(where, rows=rows_of(batch), batch=batch)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of limited size."""
        held = self.batch
        found = held if hasattr(held, "schema") and hasattr(held, "num_rows") else batch_columns(held)
        yield found


@dataclass(frozen=True, kw_only=True)
class Partition(Part):
    """One partition of a Dask frame."""

    delayed: Delayed

    @property
    def described(self) -> Partition:
        """The part without the frame, which is sent separately."""
        return replace(self, delayed=None)

    def holding(self, frame: Frame) -> Held:
        """The part with its frame."""
        return Held.of(_as_table(frame), self.where)

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[Frame]:
        """The rows of these columns, in batches of limited size."""
        yield from self.holding(self.delayed.compute()).batches(columns, rows)


def _as_table(frame: Frame) -> pa.Table:
    pa = arrow_library()
    if isinstance(frame, pa.Table | pa.RecordBatch):
        return frame
    return pa.Table.from_pandas(frame, preserve_index=False)


def rows_of(batch: Frame) -> int:
    """Number of rows of a batch."""
    if hasattr(batch, "num_rows"):
        return int(batch.num_rows)
    return len(next(iter(batch.values()), ())) if isinstance(batch, Mapping) else len(batch)


# --- parts that are counted together ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Group:
    """Parts that are counted together, and the key of their counts in a checkpoint."""

    parts: tuple[Part, ...]
    key: str = ""
    #: rows to take from each part while it is read; empty: none
    wanted: tuple[RowsToTake | None, ...] = ()

    @property
    def about(self) -> Group:
        """The same without its parts."""
        return replace(self, parts=())

    @property
    def guess(self) -> int:
        """Number of rows, known or estimated."""
        return sum(part.guess for part in self.parts)


def grouped(parts: Sequence[Part], what: str = "") -> Iterator[Group]:
    """Parts combined into about sixty groups with similar numbers of rows, each with a key."""
    many = sum(part.rows or 0 for part in parts)
    share = many / GROUPS if many else len(parts) / GROUPS
    group: list[Part] = []
    for number, part in enumerate(parts):
        group.append(part)
        if sum(p.rows or 0 if many else 1 for p in group) >= share or number == len(parts) - 1:
            yield Group(tuple(group), digest(what, f"parts {number + 1 - len(group)} to {number}"))
            group = []
