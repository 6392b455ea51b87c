"""An independent reader of files, and naive formulas: the expected results."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import math
import re
import warnings
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pyarrow as pa
from pyarrow import feather, parquet

csv.field_size_limit(1 << 30)
MISSING = {"", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "<NA>"}
#: measures whose naive form takes milliseconds at a dozen clusters
CHEAP = [
    "ari", "rand", "jaccard", "wallace", "mirkin", "dice", "mi", "vi", "nvi", "nmi_sum", "nmi_max", "homogeneity",
    "completeness", "van_dongen", "purity", "element_centric", "bcubed_f", "accuracy", "f_measure", "wallace_ab", "ami_max",
]  # fmt: skip

Columns = dict[str, list[Any]]


class Unreadable(Exception):
    """The independent reader finds no table of labels here."""


class Ambiguous(Exception):
    """A quoted NA is a label, but the csv module does not tell what was quoted: not checked."""


#: a quoted word for missing
QUOTED = re.compile(rb'"(NA|N/A|n/a|NaN|nan|null|NULL|None|<NA>)')


def read(path: Path, names: Iterable[str] | None = None) -> Columns:
    """The columns of a file, or those of these names: a label is a text, or a value; None is a missing label."""
    try:
        data = path.read_bytes()
        kinds = [s.lower() for s in path.suffixes]
        if set(kinds) & {".json", ".jsonl", ".ndjson", ".xlsx", ".xls", ".ods", ".h5ad"}:
            raise Ambiguous
        if kinds[-1:] == [".gz"]:
            data = gzip.decompress(data)
        elif kinds[-1:] == [".bz2"]:
            data = bz2.decompress(data)
        kind = next((k for k in reversed(kinds) if k not in (".gz", ".bz2", ".zst")), "")
        if kind in (".csv", ".tsv", ".txt"):
            if QUOTED.search(data):
                raise Ambiguous
            return read_text(data, "\t" if kind == ".tsv" else ",")
        if kind == ".parquet":
            return of_arrow(parquet.read_table(io.BytesIO(data), columns=names and list(names)))
        if kind in (".feather", ".arrow"):
            return of_arrow(feather.read_table(io.BytesIO(data), columns=names and list(names)))
        if kind in (".npy", ".npz"):
            return read_numpy(data, path.name.split(".")[0])
    except (OSError, ValueError, KeyError, EOFError, TypeError, pa.ArrowException, csv.Error, OverflowError) as error:
        raise Unreadable(f"{type(error).__name__}: {error}") from None
    except Ambiguous:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise their own errors
        raise Unreadable(f"{type(error).__name__}: {error}") from None
    raise Unreadable("of no known kind")


def read_text(data: bytes, delimiter: str) -> Columns:
    """A delimited text file, by the csv module."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode(
        "latin-1"
    )  # one character per byte: fields are UTF-8, each by itself

    def rows_of(separator: str) -> list[list[str]]:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        found = [[decoded(field.encode("latin-1")) for field in row] for row in rows]
        return found[next((i for i, row in enumerate(found) if row), len(found)) :]  # from the header

    try:
        data.decode("utf-8-sig")
        decoded = bytes.decode
    except UnicodeDecodeError:  # not UTF-8: the code page of Windows, or UTF-16 by its mark
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            return read_text(data.decode("utf-16").encode(), delimiter)
        if data.startswith(b"\xef\xbb\xbf"):
            raise
        decoded = partial(str, encoding="cp1252")
    rows = rows_of(delimiter)
    # the documented rule: a comma if it splits the first line, and the second one alike where a semicolon would do too
    uneven = len(rows) > 1 and len(rows[1]) != len(rows[0]) and len((rows_of(";") or [[]])[0]) > 1
    outside = (
        re.sub(r'(?<![^,;\t \r\n])"(?:[^"]|"")*"', "", text).strip("\r\n").partition("\n")[0]
    )  # the first line without quoted names
    if rows and (len(rows[0]) == 1 or uneven or delimiter not in outside) and delimiter != "\t":
        other = next((d for d in (";", "\t", " ") if len((rows_of(d) or [[]])[0]) > 1), None)
        if other:
            rows = rows_of(other)
    if len(rows) < 2:
        raise ValueError("no rows")
    head, *body = rows
    if len(head) == 1:
        body = [row or [""] for row in body]
    body = [row for row in body if row]
    if any(len(row) != len(head) for row in body) or len(set(head)) < len(head):
        raise ValueError("ragged rows or equal names")
    return {name: [None if r[j] in MISSING else r[j] for r in body] for j, name in enumerate(head)}


def of_arrow(table: pa.Table) -> Columns:
    """The columns of an arrow table as Python values."""
    table.validate(full=True)
    return {name: [plain(x) for x in table.column(i).to_pylist()] for i, name in enumerate(table.column_names)}


def read_numpy(data: bytes, stem: str) -> Columns:
    """The arrays of an npy or npz file that are labels; matrices are left out."""
    with warnings.catch_warnings():  # headers that Python 2 wrote
        warnings.simplefilter("ignore")
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
    arrays = {stem: loaded} if isinstance(loaded, np.ndarray) else {name: loaded[name] for name in loaded.files}
    found: Columns = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            found[name] = [plain(x) for x in array.tolist()]
        elif array.ndim == 2 and (array.dtype.kind != "f" or array.shape[1] == 1):
            for j in range(array.shape[1]):
                found[f"{name}_{j}" if array.shape[1] > 1 else name] = [plain(x) for x in array[:, j].tolist()]
    return found


def plain(x: Any) -> Any:
    """A key that identifies a label; None for missing ones."""
    if x is None or (isinstance(x, float) and math.isnan(x)) or str(x) == "NaT":
        return None
    if isinstance(x, list | dict | tuple):
        return repr(x)
    return x + 0.0 if isinstance(x, float) else x


def numbered(side: list[tuple[Any, ...]]) -> list[int]:
    """Codes in the order of the labels, clusters of gaps last, because the ties of some measures depend on that order."""
    try:
        order = sorted({x for x in side if x[0] == "label"})
    except TypeError:
        order = sorted({x for x in side if x[0] == "label"}, key=repr)
    order += sorted({x for x in side if x[0] != "label"})
    return [order.index(x) for x in side]


def pair(
    a: list[Any], b: list[Any], unassigned: str, noise: set[str] | None = None
) -> tuple[list[Any], list[Any], list[int]]:
    """Two columns without gaps, by the rule for unassigned points, and the remaining rows."""
    if noise:
        a, b = ([None if x is not None and text(x) in noise else x for x in side] for side in (a, b))
    rows = list(range(len(a)))
    if unassigned == "drop":
        rows = [i for i in rows if a[i] is not None and b[i] is not None]
    new = {"singletons": lambda i: ("alone", i), "cluster": lambda i: ("gap",)}.get(unassigned, lambda i: ("gap",))
    filled = [[(("label", side[i]) if side[i] is not None else new(i)) for i in rows] for side in (a, b)]
    return *(numbered(side) for side in filled), rows


def text(x: Any) -> str:
    """A label as `--noise` writes it."""
    return str(int(x)) if isinstance(x, float) and x.is_integer() else str(x)


def value(key: str, a: list[Any], b: list[Any], w: list[float] | None = None) -> float:
    """The measure by its naive definition."""
    return naive.MEASURES[key](a, b) if w is None else naive.WEIGHTED[key](a, b, w)


def close(x: float, y: float) -> bool:
    """Equal up to rounding."""
    return (math.isnan(x) and math.isnan(y)) or math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-10)
