"""Files and tables as sources of label columns: csv, tsv, parquet, feather, npy, npz, and long tables."""

from __future__ import annotations

import csv as csv_of_python
import io
import re
import stat
import struct
import tokenize
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os.path import isfile  # also for names that are too long
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from zipfile import BadZipFile

import numpy as np

from congruence.errors import Call, InputError, Option, TooLarge, check_different, known_column, path_of
from congruence.inputs.coerce import as_clustering
from congruence.inputs.column_names import Annotations
from congruence.inputs.encoding import as_python_holds, without_empty
from congruence.inputs.formats import (
    ANNDATA,
    EXCEL,
    JSON,
    TREES,
    database_of,
    delimiter_of,
    encoding_of,
    first_bytes,
    is_marked,
    local_file,
    obs_columns,
    read_anndata,
    read_excel,
    read_json,
    warn_of_encoding,
)
from congruence.inputs.frames import as_text
from congruence.inputs.labels import Labels, frame_kind, in_memory, is_frame, names_of_columns
from congruence.inputs.numpy_files import array_of, columns_declared, columns_of
from congruence.machine.writing import replacing
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame, OptionValue

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv

#: fields of a text file that mean a missing label
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>"]

#: exceptions of readers for broken files, pyarrow's among the first five kinds
UNREADABLE = (
    OSError, ValueError, KeyError, EOFError, NotImplementedError, BadZipFile, zlib.error, TypeError, SyntaxError,
    OverflowError, IndexError, struct.error, RuntimeError, tokenize.TokenError,
)  # fmt: skip


def suffix_of(path: Path) -> str:
    """The kind of a file by its name, without suffixes such as .gz."""
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in (".gz", ".bz2", ".zst")]
    return suffixes[-1] if suffixes else ""


def read_columns(
    path: str | Path, na_values: Sequence[str] | None = None, sheet: str | None = None
) -> dict[str, ColumnLike]:
    """The columns of a file by name; a 2-D array of floats in an npy file is one column of memberships.

    `na_values` are the unquoted fields of a text file that are missing (default: MISSING); a quoted "NA" is a label.
    `sheet` is the name or the number, from 1, of a sheet of a workbook (default: the first).

    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "labels.csv"
    >>> _ = file.write_text("cell,leiden,kmeans\\nc1,0,a\\nc2,0,b\\n")
    >>> list(read_columns(file))
    ['cell', 'leiden', 'kmeans']
    >>> folder.cleanup()
    """
    path = existing_file(local_file(path))
    kind = suffix_of(path)
    if kind not in READERS:
        if kind in TREES:
            raise InputError(
                f"{path} holds a tree, not labels; {Call('cg.Hierarchy', '`congruence hierarchies`')} reads trees"
            )
        raise InputError(f"{path}: files of kind {kind or '(none)'} cannot be read; use {', '.join(READERS)}")
    if sheet is not None and kind not in EXCEL:
        raise InputError(f"{path} has no sheets; leave out {Option('sheet')}")
    with readable(path):
        found = READERS[kind].read(path, MISSING if na_values is None else ["", *na_values], sheet)
    columns = found if isinstance(found, dict) else _checked(found, path)
    held = {name: as_python_holds(column, f"{path}: column {name!r}") for name, column in columns.items()}
    return Annotations(held) if isinstance(columns, Annotations) else held


def read_array(path: str | Path) -> Array:
    """The array of an npy file; one that holds Python objects, or less data than its header declares, is an error."""
    path = existing_file(path)
    with readable(path):
        return array_of(path)


def existing_file(path: str | Path) -> Path:
    """The path, if it is a regular file; pipes would block, and folders and devices are not tables."""
    path = path_of(path)
    if database_of(str(path)) is not None:
        raise InputError(
            f"{path}: tables of databases are counted where they are, by compare and matrix; this needs the label of every "
            "row: write the table to a file"
        )
    if any("\ud800" <= letter <= "\udfff" for letter in str(path)):
        raise InputError(f"{path}: the name of this file is not UTF-8; rename it")
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)[:200]} cannot be opened: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(mode):
        raise InputError(
            f"{path} is a folder, not a file; name a file in it, or use {Call('cg.scan')}, which takes folders"
        )
    if not stat.S_ISREG(mode):
        raise InputError(f"{path} is a pipe or a device, not a file; write its data to a file first")
    return path


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert errors raised while reading this file to a one-line InputError that names it."""
    try:
        yield
    except InputError:
        raise
    except (*UNREADABLE, MemoryError) as error:
        kind = TooLarge if isinstance(error, MemoryError) else InputError
        raise kind(f"{path} could not be read: {why_unreadable(error)}") from None


def is_undecodable(error: BaseException) -> bool:
    """Whether a file could not be read because its text is not UTF-8."""
    return isinstance(error, UnicodeDecodeError) or "UTF8" in str(error) or "UTF-8" in str(error)


def why_unreadable(error: BaseException) -> str:
    """The message of a reader's error, in one line."""
    said = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, MemoryError):
        return f"not enough memory, or the file is broken ({said[:200]})"
    if is_undecodable(error):
        return "it is not UTF-8 text; save it as UTF-8"
    return said[:300]


def _checked(table: Frame, path: Path) -> dict[str, ColumnLike]:
    """The columns of a table by name; each name once, and some rows."""
    names = table.column_names
    check_different(names, "columns", str(path))
    if table.num_rows == 0:
        raise InputError(f"{path} has no rows")
    return {name: table.column(i) for i, name in enumerate(names)}


def _parquet(path: Path, *_: object) -> Frame:
    from pyarrow import parquet

    table = parquet.read_table(path, page_checksum_verification=True)
    table.validate(full=True)  # text that is not UTF-8
    return table


def _parquet_names(path: Path) -> Sequence[str]:
    from pyarrow import parquet

    return list(parquet.read_schema(path).names)


def _arrow(path: Path, *_: object) -> Frame:
    from pyarrow import feather

    table = feather.read_table(path, memory_map=False)
    table.validate(full=True)  # offsets and codes beyond the data would crash the process
    return table


def _arrow_names(path: Path) -> Sequence[str]:
    from pyarrow import ipc

    with ipc.open_file(path) as file:
        return list(file.schema.names)


def _text(path: Path, missing: Sequence[str], _: object) -> Frame:
    """A text file in UTF-8, UTF-16 or, with a warning, in the code page of Windows."""
    encoding, kind = encoding_of(path), suffix_of(path)
    try:
        return _read_text(path, delimiter_of(path, kind, encoding), encoding, missing)
    except (UnicodeDecodeError, ValueError) as error:
        if encoding != "utf8" or is_marked(path) or not is_undecodable(error):
            raise
    table = _read_text(path, delimiter_of(path, kind, "cp1252"), "cp1252", missing)
    warn_of_encoding(path)
    return table


def _text_names(path: Path) -> Sequence[str]:
    encoding = encoding_of(path)
    head = first_bytes(path, 1 << 20).decode(encoding, "replace").lstrip("\ufeff\r\n")
    rows = csv_of_python.reader(io.StringIO(head, newline=""), delimiter=delimiter_of(path, suffix_of(path), encoding))
    return next(rows, [])


class Reader(NamedTuple):
    """How files of one kind are read."""

    #: (path, fields that are missing, sheet) → the columns, or an arrow table
    read: Callable[[Path, Sequence[str], str | None], Frame]
    #: the names in the header, or the number of columns; None if only reading the whole file would tell
    names: Callable[[Path], Sequence[str] | int] | None = None


#: kind of file → its reader; `scanning.sources.OPENERS` has those that are read in parts
READERS = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), Reader(_text, _text_names)),
    ".parquet": Reader(_parquet, _parquet_names),
    **dict.fromkeys((".feather", ".arrow"), Reader(_arrow, _arrow_names)),
    **dict.fromkeys((".npy", ".npz"), Reader(lambda path, *_: columns_of(path), columns_declared)),
    **dict.fromkeys(JSON, Reader(lambda path, *_: read_json(path, suffix_of(path)))),
    **dict.fromkeys(EXCEL, Reader(lambda path, _, sheet: read_excel(path, sheet))),
    **dict.fromkeys(ANNDATA, Reader(lambda path, *_: obs_columns(read_anndata(path)))),
}


def width_of(path: str | Path) -> int:
    """Number of columns by the header of a file; 0 if only reading the whole file would tell.

    Columns NAME:CLUSTER count once.
    """
    from pyarrow import ArrowException

    path = local_file(path)
    reader = READERS.get(suffix_of(path))
    if not isfile(path) or reader is None or reader.names is None:
        return 0
    try:
        names = reader.names(path)
    except (ArrowException, OSError, ValueError, csv_of_python.Error):
        return 0
    return names if isinstance(names, int) else len({name.rpartition(":")[0] or name for name in names})


def _read_text(path: Path, delimiter: str, encoding: str = "utf8", missing: Sequence[str] = tuple(MISSING)) -> Frame:
    """The columns of a text file: numbers if different texts are always different numbers, else text."""
    import pyarrow as pa
    from pyarrow import compute

    reader = text_reader(path, delimiter, (), encoding, missing)
    table = reader.read_all()
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        coded = column.dictionary_encode().combine_chunks()
        coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) and coded.num_chunks else coded
        if isinstance(coded, pa.ChunkedArray):  # no rows
            columns.append((name, column))
            continue
        words = without_empty(coded.dictionary)
        numbers = distinct_numbers(words)
        if numbers is None and delimiter != ",":  # decimal commas
            numbers = distinct_numbers(compute.replace_substring(words, ",", ".", max_replacements=1))
            numbers = numbers if numbers is not None and pa.types.is_floating(numbers.type) else None
        if words.null_count > coded.dictionary.null_count:
            column = pa.chunked_array([words.take(coded.indices)])
        columns.append((name, column if numbers is None else pa.chunked_array([numbers.take(coded.indices)])))
    return pa.table([column for _, column in columns], names=[name for name, _ in columns])


def text_reader(
    path: str | Path,
    delimiter: str,
    columns: Sequence[str] = (),
    encoding: str = "utf8",
    missing: Sequence[str] = tuple(MISSING),
    block: int = 1 << 20,
) -> csv.CSVStreamingReader:
    """A reader of a csv or tsv file, every field as text or missing; an empty line of a single column is missing.

    The header and each row must be shorter than `block`, in bytes; some tens of blocks are read ahead.
    """
    import pyarrow as pa
    from pyarrow import csv

    def opened(
        types: Mapping[str, pa.DataType], some: Sequence[str] = (), skip: int = 0, **parse: OptionValue
    ) -> csv.CSVStreamingReader:
        return csv.open_csv(
            str(path),
            read_options=csv.ReadOptions(use_threads=False, block_size=block, skip_rows=skip, encoding=encoding),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, **parse),
            convert_options=csv.ConvertOptions(
                null_values=list(missing),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
                column_types=types,
                include_columns=list(some),
            ),
        )

    head = first_bytes(path).decode(encoding, "replace").lstrip("\ufeff")  # empty lines before the header are not rows
    skip = len(re.findall("\r\n|\r|\n", head[: len(head) - len(head.lstrip("\r\n"))]))
    with opened({}, skip=skip) as first:
        names = first.schema.names
    types = dict.fromkeys(names, pa.string())
    return opened(types, columns, skip, ignore_empty_lines=len(names) > 1)


def distinct_numbers(texts: ColumnLike) -> ColumnLike | None:
    """These different texts (an arrow array) as integers, floats or booleans, if all stay different; else None.

    >>> import pyarrow as pa
    >>> distinct_numbers(pa.array(["1", "2", "10"])).to_pylist(), distinct_numbers(pa.array(["1.1", "1.10"]))
    ([1, 2, 10], None)
    """
    import pyarrow as pa
    from pyarrow import compute

    solid = texts.drop_null()
    if not len(solid):
        return None
    for pattern, kinds in (
        (r"^[+-]?[0-9]+$", (pa.int64(), pa.uint64())),
        (r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$", (pa.float64(),)),
        (r"^([tT]rue|[fF]alse|TRUE|FALSE)$", (pa.bool_(),)),
    ):
        if not compute.all(compute.match_substring_regex(solid, pattern)).as_py():
            continue
        for kind in kinds:
            plain = compute.utf8_ltrim(texts, "+")
            try:
                numbers = compute.cast(plain, kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
            told_apart = compute.add(numbers, 0.0) if kind == pa.float64() else numbers  # −0.0 equals 0.0
            return numbers if compute.count_distinct(told_apart).as_py() == len(solid) else None
        if pattern.endswith("[0-9]+$"):
            return None  # whole numbers of more than 64 bits stay text
    return None


def numbers_of(column: ColumnLike) -> ColumnLike:
    """A column of numeric text as numbers; other columns unchanged."""
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(column, pa.Array | pa.ChunkedArray) and pa.types.is_string(column.type):
        try:
            return compute.cast(column, pa.float64())
        except pa.ArrowInvalid:
            return column
    return column


def write_table(columns: Mapping[str, ColumnLike], path: str | Path, *, raw: bool = False) -> int:
    """Write columns to a csv, tsv, parquet or feather file, atomically; returns the number of prefixed cells.

    Cells of csv and tsv files are prefixed as `frames.guarded` says, unless `raw`.
    """
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    path = Path(path)
    kind = suffix_of(path)
    if kind not in (".csv", ".tsv", ".parquet", ".feather", ".arrow"):
        raise InputError(f"{path}: a table can be written as .csv, .tsv, .parquet or .feather")
    changed = 0
    try:
        if kind in (".csv", ".tsv"):
            cells, changed = as_text(columns, raw)
        else:
            arrow = pa.Array | pa.ChunkedArray
            cells = {name: x if isinstance(x, arrow) else pa.array(list(x)) for name, x in columns.items()}
        table = pa.table(cells)
    except (pa.ArrowException, UnicodeEncodeError) as error:
        raise InputError(f"{path} cannot hold these columns: {why_unreadable(error)}") from None
    with replacing(path) as stream:
        if kind in (".csv", ".tsv"):
            csv.write_csv(
                table, stream, csv.WriteOptions(delimiter="," if kind == ".csv" else "\t", quoting_style="needed")
            )
        elif kind == ".parquet":
            parquet.write_table(table, stream)
        else:
            feather.write_feather(table, stream)
    return changed


def pick(columns: Mapping[str, ColumnLike], names: Sequence[str], source: str) -> dict[str, ColumnLike]:
    """These columns, or an error with the most similar names."""
    for name in names:
        known_column(name, columns, source)
    return {name: columns[name] for name in names}


def from_long(table: Frame, id: str = "id", method: str = "method", label: str = "label") -> dict[str, Labels]:
    """Clusterings from a long table with one row per point and method; points without a row are unassigned.

    Args:
        table: A frame, a mapping of columns, or the path of a file.
        id: Column of point ids. Default "id".
        method: Column that names the clusterings. Default "method".
        label: Column of labels. Default "label".

    Returns:
        A mapping from the name of a clustering to its labels, for `cg.compare_all` and `cg.Ensemble`.

    Raises:
        InputError: If a column is missing, or a point has two labels in one clustering.

    See also:
        `cg.scan` for tables that do not fit in memory.

    >>> import congruence as cg
    >>> rows = {"id": [1, 2, 3, 1, 2, 3], "method": ["x"] * 3 + ["y"] * 3, "label": [0, 0, 1, "a", "b", "b"]}
    >>> cg.compare_all(cg.from_long(rows))["ari"].round(2).tolist()
    [[1.0, -0.5], [-0.5, 1.0]]
    """
    columns = _named_columns(table)
    if not all(isinstance(x, str) for x in (id, method, label)) or len({id, method, label}) < 3:
        raise InputError(
            f"a long table has three columns for id, method and label; got {id!r}, {method!r} and {label!r}"
        )
    chosen = pick(columns, [id, method, label], "the long table")
    points, methods, labels = (as_clustering(column, name) for name, column in chosen.items())
    if not (isinstance(points, Labels) and isinstance(methods, Labels) and isinstance(labels, Labels)):
        raise InputError("the columns of a long table hold one id, one method and one label per row, not memberships")
    if not len(points) == len(methods) == len(labels):
        raise InputError(
            f"the columns of the long table have {len(points)}, {len(methods)} and {len(labels)} rows; they must be equal"
        )
    for what, name in ((points, id), (methods, method)):
        if what.gaps:
            raise InputError(f"the long table has {what.gaps} rows without {name!r}")
    index = None
    if frame_kind(table) == "pandas":
        index = type(table.columns)(list(points.names), name=id)
    found = {}
    for code, title in enumerate(methods.names):
        rows = np.flatnonzero(methods.codes == code)
        point = points.codes[rows].astype(np.int64)
        if len(np.unique(point)) < len(point):
            first = point[np.flatnonzero(np.bincount(point)[point] > 1)[0]]
            raise InputError(f"the long table has two labels of method {str(title)!r} for {id} {points.names[first]}")
        codes = np.full(points.k, labels.k, dtype=np.int64)
        codes[point] = labels.codes[rows]
        whole = Labels(None, (codes, labels.names), title=str(title))
        found[str(title)] = whole.taken(np.arange(points.k), index)
    return found


def _named_columns(table: Frame) -> dict[str, ColumnLike]:
    if isinstance(table, Mapping):
        return dict(table)
    table = in_memory(table)
    if not is_frame(table):
        raise InputError(f"expected a frame with columns for id, method and label, got {type(table).__name__}")
    columns = {str(name): table[name] for name in names_of_columns(table)}
    if frame_kind(table) == "pandas":  # rows of a long table are not points, so ignore their index
        columns = {name: column.reset_index(drop=True) for name, column in columns.items()}
    return columns
