"""Files and tables as sources of label columns: csv, tsv, parquet, feather, npy, npz, and long tables."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from congruence.errors import InputError, hint
from congruence.inputs.arrays import frame_kind
from congruence.inputs.coerce import as_clustering
from congruence.inputs.column_kinds import sorted_columns
from congruence.inputs.labels import Labels
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity
from congruence.machine.writing import check_target, replacing
from congruence.statistics.tables import Array

#: fields of a text file that mean a missing label
MISSING = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"]

READABLE = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow", ".npy", ".npz")

WRITABLE = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".json", ".npz")


def suffix_of(path: Path) -> str:
    """The kind of a file by its name, without suffixes such as .gz."""
    suffixes = [s.lower() for s in path.suffixes if s.lower() not in (".gz", ".bz2", ".zst")]
    return suffixes[-1] if suffixes else ""


def read_columns(path: str | Path) -> dict[str, Any]:
    """The columns of a file by name; a 2-D array of floats in an npy file is one column of memberships.

    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name) / "labels.csv"
    >>> _ = file.write_text("cell,leiden,kmeans\\nc1,0,a\\nc2,0,b\\n")
    >>> list(read_columns(file))
    ['cell', 'leiden', 'kmeans']
    >>> folder.cleanup()
    """
    path = Path(path)
    kind = suffix_of(path)
    if not path.exists():
        raise InputError(f"there is no file {path}")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file; `cg.scan` takes folders")
    if kind not in READABLE:
        raise InputError(f"{path}: files of kind {kind or '(none)'} cannot be read; use {', '.join(READABLE)}")
    unreadable = (OSError, ValueError, KeyError, EOFError, NotImplementedError, BadZipFile, zlib.error)
    try:
        if kind in (".npy", ".npz"):
            return _read_numpy(path)
        return _read_arrow(path, kind)
    except InputError:
        raise
    except unreadable as error:  # pyarrow's own errors are among the first five kinds
        raise InputError(f"{path} could not be read: {why_unreadable(error)}") from None


def why_unreadable(error: BaseException) -> str:
    """What a reader of files says, in one line."""
    said = (str(error).splitlines() or [type(error).__name__])[0]
    if isinstance(error, UnicodeDecodeError) or "UTF8" in str(error) or "UTF-8" in str(error):
        return "it is not UTF-8 text; save it as UTF-8"
    return said


def _read_arrow(path: Path, kind: str) -> dict[str, Any]:
    if kind == ".parquet":
        from pyarrow import parquet

        table = parquet.read_table(path, page_checksum_verification=True)
    elif kind in (".feather", ".arrow"):
        from pyarrow import feather

        table = feather.read_table(path, memory_map=False)
        table.validate(full=True)  # offsets and codes beyond the data would crash the process
    else:
        table = _read_text(path, "\t" if kind == ".tsv" else ",")
        if table.num_columns == 1 and kind != ".tsv":
            name = table.column_names[0]
            other = next((d for d in (";", "\t", " ") if d in name), None)
            table = _read_text(path, other) if other else table
    names = table.column_names
    if len(set(names)) < len(names):
        raise InputError(f"{path}: two columns are named {next(n for n in names if names.count(n) > 1)!r}")
    if table.num_rows == 0:
        raise InputError(f"{path} has no rows")
    return {name: table.column(i) for i, name in enumerate(names)}


def _read_text(path: Path, delimiter: str) -> Any:
    """The columns of a text file: text, or numbers where every different text is a different number."""
    import pyarrow as pa

    reader = text_reader(path, delimiter)
    table = reader.read_all()
    columns = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        coded = column.dictionary_encode().combine_chunks()
        coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) and coded.num_chunks else coded
        if isinstance(coded, pa.ChunkedArray):  # no rows
            columns.append((name, column))
            continue
        numbers = distinct_numbers(coded.dictionary)
        columns.append((name, column if numbers is None else pa.chunked_array([numbers.take(coded.indices)])))
    return pa.table([column for _, column in columns], names=[name for name, _ in columns])


def text_reader(path: str | Path, delimiter: str, columns: Sequence[str] = ()) -> Any:
    """A reader of a csv or tsv file, every field as text (UTF-8) or missing; an empty line of a single column is missing."""
    import pyarrow as pa
    from pyarrow import csv

    def opened(types: Mapping[str, Any], some: Sequence[str] = (), skip: int = 0, **parse: Any) -> Any:
        return csv.open_csv(
            str(path),
            read_options=csv.ReadOptions(use_threads=False, skip_rows=skip),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, **parse),
            convert_options=csv.ConvertOptions(
                null_values=MISSING, strings_can_be_null=True, column_types=types, include_columns=list(some)
            ),
        )

    with opened({}) as first:
        names = first.schema.names
    types = dict.fromkeys(names, pa.string())
    if len(names) > 1:
        return opened(types, columns)
    with pa.input_stream(str(path)) as stream:  # empty lines before the header are no rows
        head = stream.read(1 << 16)
    skip = head[: len(head) - len(head.lstrip(b"\r\n"))].count(b"\n")
    return opened(types, columns, skip, ignore_empty_lines=False)


def distinct_numbers(texts: Any) -> Any:
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
            return numbers if compute.count_distinct(numbers).as_py() == len(solid) else None
        if pattern.endswith("[0-9]+$"):
            return None  # whole numbers of more than 64 bits are told apart as text
    return None


def numbers_of(column: Any) -> Any:
    """A column as numbers, where it is text of numbers; anything else as it is."""
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(column, pa.Array | pa.ChunkedArray) and pa.types.is_string(column.type):
        try:
            return compute.cast(column, pa.float64())
        except pa.ArrowInvalid:
            return column
    return column


def _read_numpy(path: Path) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    with path.open("rb") as stream:  # numpy does not close a file that it opened and cannot read
        data = np.load(stream, allow_pickle=False)
        if isinstance(data, np.ndarray):
            return _array_columns(data, path, path.name.split(".")[0])
        if {"indptr", "indices", "data", "shape"} <= set(data.files):
            return {path.name.split(".")[0]: _sparse_matrix(data, path)}
        for name in data.files:
            columns.update(_array_columns(data[name], path, name))
    if not columns:
        raise InputError(f"{path} holds no arrays")
    lengths = {len(c) for c in columns.values()}
    if len(lengths) > 1:
        raise InputError(f"{path}: its arrays have different lengths ({', '.join(map(str, sorted(lengths)))})")
    return columns


def _sparse_matrix(data: Any, path: Path) -> Similarity:
    """A similarity matrix as scipy.sparse.save_npz writes it."""
    from scipy.sparse import csr_array

    kind = data["format"].item() if "format" in data.files else b"csr"
    if kind not in (b"csr", "csr"):
        raise InputError(f"{path}: sparse matrices are read in csr format, not {kind!r}; save M.tocsr()")
    parts = (data["data"], data["indices"], data["indptr"])
    return Similarity(csr_array(parts, shape=tuple(data["shape"].tolist())), who=str(path))


def _array_columns(data: Array, path: Path, name: str) -> dict[str, Any]:
    if data.ndim == 1:
        return {name: data}
    if data.ndim == 2 and data.dtype.kind == "f" and data.shape[0] == data.shape[1] > 1:
        return {name: Similarity(data, who=f"{path}: {name}")}
    if data.ndim == 2 and data.dtype.kind == "f" and data.shape[1] > 1:
        return {name: Memberships(data, who=name)}
    if data.ndim == 2:
        return {f"{name}_{j}" if data.shape[1] > 1 else name: data[:, j] for j in range(data.shape[1])}
    raise InputError(f"{path}: array {name} has {data.ndim} dimensions; labels have one or two")


def check_writable(path: Path, *inputs: str | Path | None) -> None:
    """Refuse, before the work, a place or a kind of file that results cannot be written to, or one of the inputs."""
    if path.suffix.lower() not in WRITABLE:
        raise InputError(f"{path}: results can be written as {', '.join(WRITABLE)}")
    check_target(path, inputs)


def write_table(columns: Mapping[str, Any], path: str | Path) -> None:
    """Write columns to a csv, tsv, parquet or feather file, atomically."""
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    path = Path(path)
    kind = suffix_of(path)
    table = pa.table({name: pa.array(list(values)) for name, values in columns.items()})
    if kind not in (".csv", ".tsv", ".parquet", ".feather", ".arrow"):
        raise InputError(f"{path}: a table can be written as .csv, .tsv, .parquet or .feather")
    with replacing(path) as stream:
        if kind in (".csv", ".tsv"):
            csv.write_csv(
                table, stream, csv.WriteOptions(delimiter="," if kind == ".csv" else "\t", quoting_style="needed")
            )
        elif kind == ".parquet":
            parquet.write_table(table, stream)
        else:
            feather.write_feather(table, stream)


def pick(columns: Mapping[str, Any], names: Sequence[str], source: str) -> dict[str, Any]:
    """These columns, or an error with the most similar names."""
    for name in names:
        if name not in columns:
            listed = "it has: " + ", ".join(list(columns)[:8]) + (", …" if len(columns) > 8 else "")
            raise InputError(f"{source} has no column {name!r}; {hint(name, columns, listed)}")
    return {name: columns[name] for name in names}


def without_ids(columns: Mapping[str, Any], source: str = "the table") -> tuple[dict[str, Any], list[str]]:
    """The label columns, and a note on what was taken for what if something else is there."""
    found = sorted_columns(columns, source=source)
    return found.taken, [] if found.is_plain else [found.line]


def join(ids_a: Any, ids_b: Any, who: tuple[str, str]) -> tuple[Array, Array, list[str]]:
    """Rows of both sides with the same id, in the order of the first side, and notes on ids of one side only."""
    sides = []
    for ids, name in zip((ids_a, ids_b), who, strict=True):
        listed = [None if x is None else str(x) for x in (ids.to_pylist() if hasattr(ids, "to_pylist") else list(ids))]
        place = {x: i for i, x in enumerate(listed) if x is not None}
        if len(place) < len(listed) - listed.count(None):
            twice = next(x for x in place if listed.count(x) > 1)
            raise InputError(f"{name}: id {twice!r} occurs more than once")
        sides.append(place)
    a, b = sides
    common = [x for x in a if x in b]
    if not common:
        raise InputError(
            f"no id of {who[0]} is in {who[1]} (as in {next(iter(a), None)!r} and {next(iter(b), None)!r})"
        )
    notes = [
        f"{len(own) - len(common)} of {len(own)} ids of {name} have no partner and were left out"
        for own, name in ((a, who[0]), (b, who[1]))
        if len(own) > len(common)
    ]
    return np.array([a[x] for x in common]), np.array([b[x] for x in common]), notes


def from_long(table: Any, id: str = "id", method: str = "method", label: str = "label") -> dict[str, Labels]:
    """Clusterings from a long table with one row per point and method; points without a row are unassigned.

    Args:
        table: A frame, a mapping of columns, or the path of a file.
        id: Column that names the points. Default "id".
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
    if len({id, method, label}) < 3:
        raise InputError(
            f"a long table has three columns for id, method and label; got {id!r}, {method!r} and {label!r}"
        )
    chosen = pick(columns, [id, method, label], "the long table")
    points, methods, labels = (as_clustering(column, name) for name, column in chosen.items())
    assert isinstance(points, Labels)
    assert isinstance(methods, Labels)
    assert isinstance(labels, Labels)
    if not len(points) == len(methods) == len(labels):
        raise InputError(
            f"the columns of the long table have {len(points)}, {len(methods)} and {len(labels)} rows; give equally many"
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


def _named_columns(table: Any) -> dict[str, Any]:
    if isinstance(table, Mapping):
        return dict(table)
    kind = frame_kind(table)
    if kind is None or not hasattr(table, "columns"):
        raise InputError(f"expected a frame with columns for id, method and label, got {type(table).__name__}")
    names = table.column_names if kind == "pyarrow" else list(table.columns)
    columns = {str(name): table[name] for name in names}
    if kind == "pandas":  # rows of a long table are not points: ignore their index
        columns = {name: column.reset_index(drop=True) for name, column in columns.items()}
    return columns
