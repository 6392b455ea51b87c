"""Other file formats (Excel, JSON, AnnData), addresses and standard input, encodings and separators of text."""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
import zipfile
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from congruence.errors import COPIES, InputError, hint, joined, known_name, path_of, warn
from congruence.inputs.column_names import Annotations
from congruence.machine.writing import naming
from congruence.typing import ColumnLike, MatrixLike, Scalar

if TYPE_CHECKING:
    import pyarrow as pa
    from anndata import AnnData

#: kinds of files that an extra reads: suffix → (package, extra)
EXCEL = (".xlsx", ".xls", ".xlsb", ".ods")
JSON = (".json", ".jsonl", ".ndjson")
ANNDATA = (".h5ad",)
#: trees as Newick or NEXUS text
TREES = (".nwk", ".newick", ".tree", ".tre", ".nex", ".nexus", ".nxs", ".trees")
#: prefixes of addresses, as Path normalises them
ADDRESS = re.compile(r"^([a-z][a-z0-9+]+):/{1,2}(?=[^/])")
#: embeddings of an AnnData object for scatter plots, in order of preference
EMBEDDINGS = ("X_umap", "X_tsne", "X_draw_graph_fa", "X_pca")


#: databases whose tables have an address, as in duckdb:labels.db#runs or postgresql://host/database#runs
DATABASES = (
    "duckdb", "sqlite", "postgresql", "postgres", "mysql", "mssql", "oracle", "trino", "bigquery", "snowflake", "clickhouse",
    "databricks", "athena",
)  # fmt: skip


# --- places -----------------------------------------------------------------------------------------------------


def local_file(path: str | Path) -> Path:
    """A local file: the path itself, or a copy of standard input (`-`) or of an address such as s3://bucket/labels.csv.

    >>> local_file("labels.csv").name
    'labels.csv'
    """
    text = str(path)
    if text == "-":
        return _standard_input()
    found = ADDRESS.match(text)
    if database_of(text) is not None:
        return path_of(path)
    if found is None or len(found.group(1)) < 2:
        return path_of(path)
    return _downloaded(f"{found.group(1)}://{text[found.end() :]}")


def database_of(address: str) -> tuple[str, str, str] | None:
    """(database, place, table) of the address of a table; None if it is no such address. It may not hold a password.

    >>> database_of("duckdb:labels.db#runs"), database_of("labels.csv")
    (('duckdb', 'labels.db', 'runs'), None)
    """
    scheme, colon, rest = address.partition(":")
    if not colon or scheme not in DATABASES:
        return None
    parts = urlsplit("//" + rest.lstrip("/"))
    if parts.password is not None or {"password", "token", "passwd"} & parse_qs(parts.query).keys():
        raise InputError(
            f"leave the password out of the address of {scheme}, which shells and logs keep: its driver reads the environment "
            "and its own files, such as PGPASSWORD and ~/.pgpass"
        )
    place, _, table = rest.rpartition("#")
    if not place or not table:
        raise InputError(f"name the table after the address of the database, as in {scheme}:…#runs")
    return scheme, place, table


@lru_cache(maxsize=1)
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="congruence-")


#: first bytes of files, and their kind
FIRST_BYTES = {
    b"PAR1": ".parquet", b"ARROW1": ".arrow", b"\x93NUMPY": ".npy", b"\x89HDF": ".h5ad", b"\x1f\x8b": ".csv.gz",
    b"BZh": ".csv.bz2", b"\x28\xb5\x2f\xfd": ".csv.zst",
}  # fmt: skip


def _kind_of(content: bytes) -> str:
    """The kind of a file, by its first bytes, and for an archive by what it holds; csv if nothing else is recognised."""
    if content[:4] == b"PK\x03\x04":
        try:
            names = zipfile.ZipFile(io.BytesIO(content)).namelist()
        except zipfile.BadZipFile:
            return ".xlsx"  # its reader says what is wrong
        return ".xlsx" if "xl/workbook.xml" in names else ".ods" if "content.xml" in names else ".npz"
    if content.lstrip()[:1] in (b"[", b"{"):
        return ".jsonl" if content.lstrip()[:1] == b"{" and re.search(rb"\}\r?\n\{", content) else ".json"
    return next((kind for first, kind in FIRST_BYTES.items() if content.startswith(first)), ".csv")


@lru_cache(maxsize=1)
def _standard_input() -> Path:
    """Standard input as a file; its first bytes tell the format."""
    content = sys.stdin.buffer.read() if sys.stdin is not None else b""
    if not content:
        raise InputError(
            "standard input is empty; pipe a table into the command, as in `cat labels.csv | congruence …`"
        )
    file = Path(tempfile.mkdtemp(dir=_folder().name)) / f"stdin{_kind_of(content)}"
    with naming(file):
        file.write_bytes(content)
    COPIES[str(file)] = "standard input"
    return file


def name_in(address: str) -> str:
    """The name of the file in an address.

    >>> name_in("https://example.org/data/labels.csv?version=2")
    'labels.csv'
    """
    return address.rstrip("/").rsplit("/", 1)[-1].partition("?")[0]


@lru_cache(maxsize=16)
def _downloaded(address: str) -> Path:
    """A copy of a file at an address, by fsspec; of a folder, or of files that match a pattern, a folder of copies."""
    try:
        import fsspec
    except ImportError:
        raise InputError(
            f"{address}: addresses are read by fsspec; install fsspec, or download the file first"
        ) from None
    place = Path(tempfile.mkdtemp(dir=_folder().name))
    try:
        system, path = fsspec.core.url_to_fs(address)
        if "*" in path:
            many = system.glob(path)
        elif path.endswith("/") or (Path(path).suffix == "" and system.isdir(path)):
            many = system.find(path)
        else:
            many = [path]
        if not many:
            raise FileNotFoundError
        copies = [place / (one.strip("/").replace("/", "_") if len(many) > 1 else name_in(one)) for one in many]
        for one, copy in zip(many, copies, strict=True):
            system.get_file(one, str(copy))
    except Exception as error:  # file systems raise errors of many kinds
        said = (str(error).splitlines() or [""])[0]
        if isinstance(error, FileNotFoundError) or not said or said in address:
            said = "it does not exist, or cannot be reached"
        raise InputError(f"{address} could not be read: {said}") from None
    found = copies[0] if len(copies) == 1 else place
    COPIES[str(found)] = address
    return found


# --- text -------------------------------------------------------------------------------------------------------

#: a quoted field: its quote begins a line or follows a separator
QUOTED = re.compile(r'(?<![^,;\t \r\n])"(?:[^"]|"")*"')


def first_bytes(path: str | Path, many: int | None = 1 << 16) -> bytes:
    """The first bytes of a file, decompressed; None for all."""
    import pyarrow as pa

    with pa.input_stream(str(path)) as stream:
        return bytes(stream.read(many))


def encoding_of(path: str | Path) -> str:
    """The encoding of a text file, by its first bytes: utf-16 with a byte order mark, else utf8."""
    return "utf-16" if first_bytes(path, 4)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf8"


def is_marked(path: str | Path) -> bool:
    """Whether a file begins with the mark of UTF-8: other bytes in it are damage, not another encoding."""
    return first_bytes(path, 3) == codecs.BOM_UTF8


def checked_encoding_of(path: str | Path) -> str:
    """How all of the text of a file is encoded: utf-16 by its first bytes, utf8, or else cp1252, the code page of Windows.

    Raises UnicodeDecodeError if it is marked as UTF-8 and is not.
    """
    import pyarrow as pa

    if encoding_of(path) == "utf-16":
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    with pa.input_stream(str(path)) as stream:
        try:
            while block := stream.read(1 << 22):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            if is_marked(path):
                raise
            return "cp1252"
    return "utf8"


def warn_of_encoding(path: str | Path) -> None:
    """Warn that a file was read in the code page of Windows."""
    warn(f"{path} is not UTF-8; it was read as cp1252, the code page of Windows")


def delimiter_of(path: str | Path, kind: str, encoding: str) -> str:
    """The separator of a text file: the character that splits its first lines into the same number of fields.

    A comma is preferred if it splits the first line. A semicolon is preferred if a comma splits the second line into another
    number of fields, as with decimal commas. What is quoted does not count: it may hold separators of another kind.
    """
    if kind == ".tsv":
        return "\t"
    head = first_bytes(path).decode(encoding, errors="replace").lstrip("\ufeff\r\n")
    if not head:
        return ","

    bare = QUOTED.sub('""', head)

    def fields(delimiter: str) -> list[int]:
        rows = csv.reader(io.StringIO(bare, newline=""), delimiter=delimiter)
        return [len(row) for row in islice(rows, 2) if row]

    counts = {d: fields(d) for d in (",", ";", "\t", " ")}
    if counts[","][0] > 1 and (len(set(counts[","])) == 1 or counts[";"][0] < 2):
        return ","
    return next((d for d in (";", "\t", " ") if counts[d][0] > 1), ",")


# --- tables -----------------------------------------------------------------------------------------------------


def read_excel(path: Path, sheet: str | None = None) -> pa.Table:
    """A sheet of a workbook, by default the first, as an arrow table: names in its first row, empty cells missing."""
    try:
        from python_calamine import CalamineWorkbook
    except ImportError:
        raise InputError(
            f"{path}: Excel and ODS files are read by python-calamine; install congruence[excel]"
        ) from None
    import pyarrow as pa

    try:
        book = CalamineWorkbook.from_path(str(path))
        names = book.sheet_names
        place = _place_of(sheet, names, path)
        about = os.stat(path)
        if not _fits(os.fspath(path), place, about.st_size, about.st_mtime_ns):
            raise InputError(
                f"{path}: sheet {names[place]!r} needs more memory than there is, from its first to its last cell; delete "
                "cells far from the table, or save the table as .csv"
            )
        rows = book.get_sheet_by_index(place).to_python(skip_empty_area=True)
    except InputError:
        raise
    except Exception as error:  # calamine's errors have no common base class in all versions
        raise InputError(f"{path} could not be read: {(str(error).splitlines() or [''])[0]}") from None
    if len(names) > 1 and sheet is None:
        warn(f"{path} has {len(names)} sheets; the first, {names[0]!r}, was read")
    if len(rows) < 2:
        raise InputError(f"{path}: sheet {names[place]!r} has no rows under its header")
    header = [str(x) for x in rows[0]]
    if (unnamed := header.count("")) > 1:
        raise InputError(
            f"{path}: {unnamed} columns of sheet {names[place]!r} have no name in its first row; it goes to row {len(rows)}, "
            f"column {len(header)}"
        )
    columns = [[_cell(row[j]) for row in rows[1:]] for j in range(len(header))]
    return pa.table([_column(x) for x in columns], names=header)


#: opens a sheet, with at most half of the memory of the machine
SHEET = """
import os, sys, python_calamine
try:
    import resource
    half = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (half, resource.getrlimit(resource.RLIMIT_AS)[1]))
except (ImportError, ValueError, OSError):
    pass
python_calamine.CalamineWorkbook.from_path(sys.argv[1]).get_sheet_by_index(int(sys.argv[2]))
"""


@lru_cache(maxsize=64)
def _fits(path: str, place: int, size: int, changed: int) -> bool:
    """Whether a sheet fits in memory, tried in another process: calamine asks for all cells of its range at once, or aborts."""
    return _in_a_child(SHEET, path, str(place))[0] in (0, 1)  # 1: an error that reading raises too


def _place_of(sheet: str | None, names: list[str], path: Path) -> int:
    """The place of a sheet that is named, or numbered from 1."""
    if sheet is None:
        return 0
    if sheet in names:
        return names.index(sheet)
    if sheet.isdigit() and 1 <= int(sheet) <= len(names):
        return int(sheet) - 1
    listed = hint(sheet, names, f"there are: {joined(names)}")
    raise InputError(f"{path} has no sheet {sheet!r}; {listed}")


def _cell(value: Scalar) -> Scalar:
    """A cell: empty cells are missing, and whole numbers, which workbooks store as floats, become integers."""
    if value == "" or value is None:
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _column(values: list[Scalar]) -> ColumnLike:
    """An arrow column; values of mixed types become text."""
    import pyarrow as pa

    kinds = {type(x) for x in values if x is not None}
    if kinds == {int, float}:
        return pa.array([None if x is None else float(x) for x in values])
    return pa.array(values if len(kinds) <= 1 else [None if x is None else str(x) for x in values])


def read_json(path: Path, kind: str) -> pa.Table:
    """An arrow table from JSON: records in a list or one per line, or a mapping from column to values."""
    import pyarrow as pa

    text = first_bytes(path, None).decode("utf-8")
    try:
        found = (
            [json.loads(line) for line in text.splitlines() if line.strip()] if kind != ".json" else json.loads(text)
        )
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from None
    if isinstance(found, dict) and all(isinstance(x, list) for x in found.values()):
        return pa.table({str(name): _column(values) for name, values in found.items()})
    if isinstance(found, list) and found and all(isinstance(x, dict) for x in found):
        names = list(dict.fromkeys(name for record in found for name in record))
        return pa.table({name: _column([record.get(name) for record in found]) for name in names})
    raise InputError(
        f"{path}: a table in JSON is a list of records, one record per line, or a mapping from column to values"
    )


# --- AnnData ----------------------------------------------------------------------------------------------------


def is_anndata(data: object) -> bool:
    """Whether it is an AnnData object, or similar: row annotations in .obs and numbers in .X."""
    return hasattr(data, "obs") and hasattr(data, "X") and hasattr(getattr(data, "obs", None), "columns")


def read_anndata(path: Path) -> AnnData:
    """An AnnData object from a file."""
    try:
        import anndata
    except ImportError:
        raise InputError(f"{path}: .h5ad files are read by anndata; install congruence[anndata]") from None
    about = os.stat(path)
    if fault := _fault_of_hdf5(os.fspath(path), about.st_size, about.st_mtime_ns):
        raise InputError(f"{path} could not be read: {fault}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # anndata warns about its dependencies
            return anndata.read_h5ad(path)
    except MemoryError:
        raise
    except Exception as error:  # h5py and anndata raise errors of many kinds
        raise InputError(
            f"{path} could not be read: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from None


#: walks through an HDF5 file as anndata does: all attributes, and the values of small arrays
WALK = """
import sys, h5py
def look(name, thing):
    dict(thing.attrs)
    if isinstance(thing, h5py.Dataset) and thing.size is not None and thing.size < 10**7:
        thing[()]
with h5py.File(sys.argv[1], "r") as file:
    look("/", file)
    file.visititems(look)
"""
#: seconds for that walk
WALKED = 30.0


@lru_cache(maxsize=64)
def _fault_of_hdf5(path: str, size: int, changed: int) -> str:
    """What is wrong with an HDF5 file, or "". Found in another process, because HDF5 crashes or hangs on some files."""
    try:
        code, said = _in_a_child(WALK, path, timeout=WALKED)
    except subprocess.TimeoutExpired:
        return f"it is broken (HDF5 did not finish reading it in {WALKED:.0f} s)"
    return "it is broken (HDF5 crashes)" if code < 0 else said


def _in_a_child(script: str, *words: str, timeout: float | None = None) -> tuple[int, str]:
    """The exit code of a script in another process, and its last error without the type, or "".

    -P: modules in the current folder, which may hold what was downloaded with the data, are not imported.
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", script, *words], capture_output=True, timeout=timeout, check=False, text=True
    )
    said = (done.stderr.strip().splitlines() or ["it is broken"])[-1].partition(": ")
    return done.returncode, (said[2] or said[0]) if done.returncode else ""


def obs_columns(data: AnnData) -> Annotations:
    """The row annotations of an AnnData object by name, preceded by the row names."""
    name = str(data.obs.index.name or "index")
    ids = data.obs.index.to_series().reset_index(drop=True)
    columns = {str(x): data.obs[x].reset_index(drop=True) for x in data.obs.columns}
    return Annotations({name: ids, **{x: column for x, column in columns.items() if x != name}})


def embedding_columns(data: AnnData) -> dict[str, ColumnLike]:
    """The columns of all embeddings of an AnnData object by name, as X_umap_1."""
    import numpy as np

    found = {name: np.asarray(x) for name, x in getattr(data, "obsm", {}).items()}
    return {f"{name}_{j + 1}": x[:, j] for name, x in found.items() if x.ndim == 2 for j in range(x.shape[1])}


def picture_of(data: AnnData, layer: str | None = None) -> dict[str, ColumnLike]:
    """The first two columns of the embedding that pictures show: the one named, else UMAP, t-SNE, …; empty if there is none."""
    there = [name for name in ([layer] if layer else EMBEDDINGS) if name in getattr(data, "obsm", {})]
    if not there and layer is None:
        return {}
    matrix, names, _ = matrix_of(data, layer or there[0])
    matrix = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    import numpy as np

    return {name: np.asarray(matrix)[:, j] for j, name in enumerate(names[:2])}


def matrix_of(data: AnnData, layer: str | None = None) -> tuple[MatrixLike, list[str], str]:
    """The numbers of an AnnData object (points × features), their names, and their source: `.obsm["X_pca"]`, else `.X`."""
    embeddings = getattr(data, "obsm", {})
    if layer is not None:
        layers = getattr(data, "layers", {})
        if layer in layers:
            return layers[layer], [str(x) for x in data.var_names], f".layers[{layer!r}]"
        if layer in embeddings:
            return (
                embeddings[layer],
                [f"{layer}_{j + 1}" for j in range(embeddings[layer].shape[1])],
                f".obsm[{layer!r}]",
            )
        known_name("layer", layer, map(str, [*layers, *embeddings]))
    if "X_pca" in embeddings:
        return embeddings["X_pca"], [f"PC{j + 1}" for j in range(embeddings["X_pca"].shape[1])], '.obsm["X_pca"]'
    if data.X is None:
        raise InputError('the AnnData object has neither .X nor .obsm["X_pca"]; compute one, or pass a matrix')
    return data.X, [str(x) for x in getattr(data, "var_names", range(data.X.shape[1]))], ".X"
