"""Where scanned rows come from: files, datasets, streams, Dask frames, lazy frames."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from congruence.errors import Call, InputError, joined, names_in
from congruence.inputs.coerce import lazy_frame
from congruence.inputs.encoding import arrow_library, holds_lists
from congruence.inputs.files import MISSING, UNREADABLE, existing_file, suffix_of
from congruence.inputs.formats import checked_encoding_of, delimiter_of, local_file, warn_of_encoding
from congruence.scanning.batches import batch_columns
from congruence.scanning.checkpoint import digest
from congruence.scanning.parts import (
    ArrowFile,
    Broken,
    Fragment,
    Held,
    Part,
    Partition,
    RowGroup,
    TextFile,
    footer_of,
    state_of,
)
from congruence.scanning.vocabulary import unreadable
from congruence.typing import Frame, OptionValue, Record, ScanLike

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds

    from congruence.engine.plan import Progress
    from congruence.scanning.accumulate import Counting
    from congruence.scanning.tables import PartialTables


# --- inputs -----------------------------------------------------------------------------------------------------


class Input:
    """A source of rows: names and kinds of the columns, parts to count, and identity of the data."""

    schema: pa.Schema = None
    once = False
    text = "a scan"
    #: batches of an iterator that were read ahead
    waiting: list[Frame]
    #: whether columns of text come from text files and may be numbers
    fields = False
    #: bytes of the files
    size = 0
    #: all rows of a small lazy frame
    held: Frame = None
    #: whether the source joins rows and cells itself, by `join` as in `LazyRows`
    joins = False

    def parts(self, columns: Sequence[str]) -> Iterable[Part]:
        """All parts, in order."""
        raise NotImplementedError

    @property
    def rows(self) -> int | None:
        """Number of rows, if known."""
        return None

    @property
    def guess(self) -> int:
        """Number of rows, known or estimated; 0 if unknown."""
        return self.rows or 0

    def holds_sets(self, name: str) -> bool | None:
        """Whether the column holds lists of clusters; None if its type is unknown."""
        kind = self.schema.field(name).type
        return None if arrow_library().types.is_null(kind) and not self.once else holds_lists(kind)

    def count(self, counting: Counting, progress: Progress, **options: OptionValue) -> PartialTables | None:
        """The tables, if the source counts them itself; None if its parts are to be counted."""
        return None

    def check_rows(self) -> None:
        """Raise if single rows cannot be read."""

    def fingerprint(self) -> str:
        """Identity of the data: equal only for the same data."""
        raise InputError(
            f"checkpoint: {self.text} cannot be identified; a checkpoint needs files, by path or as an Arrow dataset"
        )


class _Listed(Input):
    """A source whose parts are known from the start."""

    listed: list[Part]

    def parts(self, columns: Sequence[str]) -> Iterable[Part]:
        return self.listed

    @property
    def rows(self) -> int | None:
        known = [part.rows for part in self.listed if not isinstance(part, Broken)]
        return None if None in known else sum(n or 0 for n in known)

    @property
    def guess(self) -> int:
        return sum(part.guess for part in self.listed)


def _parquet(path: str, about: Record, _: Sequence[str]) -> tuple[pa.Schema, Sequence[Part]]:
    footer = footer_of(path, *about["state"])
    many = range(footer.num_row_groups)
    each = ({**about, "where": f"{about['where']}, row group {g}", "rows": footer.row_group(g).num_rows} for g in many)
    return footer.schema.to_arrow_schema(), [RowGroup(group=g, **own) for g, own in enumerate(each)]


def _arrow(path: str, about: Record, _: Sequence[str]) -> tuple[pa.Schema, Sequence[Part]]:
    pa = arrow_library()
    with open(path, "rb") as stream:
        if stream.read(6) != b"ARROW1":  # as in memory: the reader itself looks only at the end of the file
            raise ValueError("it is not a Feather V2 or Arrow IPC file")
    with pa.memory_map(path) as source, pa.ipc.open_file(source) as file:
        rows = sum(file.get_batch(i).num_rows for i in range(file.num_record_batches))
        return file.schema, [ArrowFile(rows=rows, **about)]


def _text(path: str, about: Record, missing: Sequence[str]) -> tuple[pa.Schema, Sequence[Part]]:
    encoding = checked_encoding_of(path)
    delimiter = delimiter_of(path, suffix_of(Path(path)), encoding)
    part = TextFile(delimiter=delimiter, encoding=encoding, missing=tuple(missing), **about)
    schema = part.schema
    if encoding == "cp1252":
        warn_of_encoding(about["where"])
    return schema, [part]


#: kinds of text files, whose fields may be numbers
TEXTS = (".csv", ".tsv", ".txt")
#: kind of file that is scanned → (path, its name in messages, path and state, fields that are missing) → names, parts to count
OPENERS = {".parquet": _parquet, ".feather": _arrow, ".arrow": _arrow, **dict.fromkeys(TEXTS, _text)}


class _Files(_Listed):
    def __init__(self, paths: Sequence[str], text: str, missing: Sequence[str] = tuple(MISSING)) -> None:
        self.text, self.paths, self.missing = text, paths, tuple(missing)
        self.listed = []
        for path in paths:
            try:
                schema, found = self._open(path)
            except (*UNREADABLE, MemoryError) as error:
                self.listed.append(Broken(path, error=unreadable(path, error)))
                continue
            self.listed += found
            self.schema = self.schema if self.schema is not None else schema
        if self.schema is None:
            first = self.listed[0]
            assert isinstance(first, Broken)
            raise first.error

    def _open(self, path: str) -> tuple[pa.Schema, Sequence[Part]]:
        shown, path = path, os.path.abspath(path)
        _, *state = state_of(path)
        self.size += state[0]
        kind = suffix_of(Path(path))
        self.fields |= kind in TEXTS
        return OPENERS[kind](path, {"where": shown, "path": path, "state": tuple(state)}, self.missing)

    def fingerprint(self) -> str:
        found = []
        for path in self.paths:
            _, size, changed = state_of(path)
            with open(path, "rb") as stream:
                first = stream.read(1 << 16)
                stream.seek(max(0, size - (1 << 16)))
                last = stream.read()
            found.append(digest(Path(path).name, str(size), str(changed), first, last))
        return digest(*found, *(self.missing if self.missing != tuple(MISSING) else ()))


class _Dataset(_Listed):
    def __init__(self, dataset: ds.Dataset) -> None:
        self.dataset, self.schema = dataset, dataset.schema
        self.text = f"an Arrow dataset of {len(getattr(dataset, 'files', []))} files"
        self.listed = []
        try:
            fragments = list(dataset.get_fragments())
        except ValueError as error:  # filtered or projected
            raise InputError(
                f"this Arrow dataset cannot be read in parts ({error}); pass a function that yields its batches: "
                f"{Call('cg.scan(lambda: dataset.to_batches())')}"
            ) from None
        for number, fragment in enumerate(fragments):
            name = getattr(fragment, "path", "") or f"fragment {number}"
            try:
                pieces = fragment.split_by_row_group() if hasattr(fragment, "split_by_row_group") else [fragment]
                for piece in pieces:
                    group = f", row group {piece.row_groups[0].id}" if hasattr(piece, "row_groups") else ""
                    rows = piece.row_groups[0].num_rows if group else None
                    self.listed.append(Fragment(name + group, rows, fragment=piece, schema=self.schema))
            except (OSError, ValueError, MemoryError) as error:
                self.listed.append(Broken(name, error=unreadable(name, error)))

    def fingerprint(self) -> str:
        files = list(getattr(self.dataset, "files", []))
        if not files or not all(os.path.exists(path) for path in files):
            return super().fingerprint()
        return _Files(files, self.text).fingerprint()


class _Stream(Input):
    """Batches from a callable (called again for every pass) or from a bare iterator (one pass)."""

    def __init__(self, source: Callable[[], Iterable[Frame]] | Iterator[Frame]) -> None:
        self.source, self.once = source, not callable(source)
        self.spent = False
        self.text = "an iterator of batches" if self.once else "a callable that yields batches"
        self.waiting = []
        first = self._first()
        self.schema = _schema_of(first)

    def _made(self) -> Iterable[Frame]:
        return self.source() if callable(self.source) else self.source

    def _first(self) -> Frame:
        made = self._made()
        if not isinstance(made, Iterable):
            raise InputError(f"a function given to scan must yield batches; this one returned {type(made).__name__}")
        batches = iter(made)
        first = next(batches, None)
        if first is None:
            raise InputError(f"{self.text} yielded no batch")
        if self.once:
            self.source, self.waiting = batches, [first]
        return first

    def parts(self, columns: Sequence[str]) -> Iterable[Part]:
        if self.once and self.spent:
            raise InputError("an iterator of batches can be read only once; pass a function that creates a new one")
        self.spent = True
        batches = iter(list(self.waiting) if self.once else self._made())
        number = 0
        while True:
            batch = next(batches, None)
            if batch is None and self.once and self.waiting:
                self.waiting, batches = [], iter(self._made())
                continue
            if batch is None:
                return
            yield Held.of(batch, f"batch {number}")
            number += 1


class _DaskFrame(Input):
    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.text = f"a Dask frame of {frame.npartitions} partitions"
        self.schema = _schema_of(frame._meta)

    def parts(self, columns: Sequence[str]) -> Iterable[Part]:
        return [
            Partition(f"partition {i}", delayed=part) for i, part in enumerate(self.frame[list(columns)].to_delayed())
        ]

    def holds_sets(self, name: str) -> bool | None:
        kind = self.frame._meta[name].dtype
        if hasattr(kind, "pyarrow_dtype"):
            return holds_lists(kind.pyarrow_dtype)
        return None if getattr(kind, "kind", "") == "O" and kind.name == "object" else False


def _schema_of(batch: Frame) -> pa.Schema:
    pa = arrow_library()
    if hasattr(batch, "schema") and hasattr(batch, "num_rows"):
        return batch.schema
    found = batch_columns(batch)
    # without an arrow type the labels decide; an empty column (the head of a Dask frame) can be of any kind
    return pa.schema([(name, getattr(x, "type", pa.null()) if len(x) else pa.null()) for name, x in found.items()])


def is_dask_frame(data: object, dimensions: int = 2) -> bool:
    """Whether it is a Dask frame or series."""
    dask = type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "npartitions")
    return dask and getattr(data, "ndim", 0) == dimensions and hasattr(data, "to_delayed") and hasattr(data, "_meta")


def source_of(source: ScanLike, na_values: Sequence[str] | None = None) -> Input:
    """The source for an argument of `cg.scan`."""
    from congruence.scanning.lazy_frames import LazyRows, table_at  # late import: it is a subclass of Input

    missing = MISSING if na_values is None else ["", *names_in(na_values, "na_values")]
    if isinstance(source, Input):
        return source
    if isinstance(source, str | os.PathLike):
        if (table := table_at(os.fspath(source))) is not None:
            return LazyRows(*table)
        return _Files(_paths(local_file(os.fspath(source))), str(source), missing)
    if isinstance(source, list | tuple) and source and all(isinstance(x, str | os.PathLike) for x in source):
        return _Files([path for x in source for path in _paths(Path(x))], f"{len(source)} files", missing)
    if na_values is not None:
        raise InputError("na_values is for text files; leave it out for frames, datasets and streams")
    if type(source).__module__.startswith("pyarrow") and hasattr(source, "get_fragments"):
        return _Dataset(source)
    if is_dask_frame(source):
        return _DaskFrame(source)
    if (frame := lazy_frame(source)) is not None:
        return LazyRows(frame)
    if callable(source) or isinstance(source, Iterator):
        return _Stream(source)
    raise InputError(
        "scan takes the path of a file or folder, an Arrow dataset, a lazy frame (Spark, DuckDB, Ibis, Polars, Dask), or a "
        "function that yields batches; got "
        f"{type(source).__name__}"
    )


def _paths(path: Path) -> list[str]:
    """The files of a path: itself, those in a folder, or those that match a pattern with *."""
    try:
        is_folder = path.is_dir()
    except (OSError, ValueError):
        is_folder = False
    if is_folder:
        try:
            found = [p for p in sorted(path.rglob("*")) if p.is_file() and suffix_of(p) in OPENERS]
        except OSError as error:
            raise InputError(f"the folder {path} could not be read: {error.strerror or error}") from None
        found = [p for p in found if not any(x.startswith(("_", ".")) for x in p.relative_to(path).parts)]
        if not found:
            raise InputError(f"there are no files to scan in {path}; a scan reads {joined(OPENERS)}")
    elif "*" in str(path):
        import glob

        found = [Path(p) for p in sorted(glob.glob(str(path), recursive=True))]
        if not found:
            raise InputError(f"no file matches {path}")
    else:
        found = [existing_file(path)]
    kinds = {suffix_of(p) for p in found}
    if not kinds <= OPENERS.keys():
        wrong = next(p for p in found if suffix_of(p) not in OPENERS)
        raise InputError(
            f"{wrong}: files of kind {suffix_of(wrong) or '(none)'} cannot be scanned; use {joined(OPENERS, 'or')}"
        )
    return [str(p) for p in found]
