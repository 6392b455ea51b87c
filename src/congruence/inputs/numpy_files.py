"""npy and npz files, read without pickle and only if their headers match their size."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import IO
from zipfile import ZipFile

import numpy as np

from congruence.errors import InputError, joined
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Scalar

#: arrays of a sparse matrix, as scipy.sparse.save_npz calls them; others are columns, such as ids of the points
SPARSE = frozenset({"indices", "indptr", "row", "col", "offsets", "data", "shape", "format", "_is_array"})

#: names of the arrays that say where the data of a sparse matrix are, by its format
PLACES = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"), "coo": ("row", "col"),
    "dia": ("offsets",),
}  # fmt: skip


def array_of(path: Path) -> Array:
    """The array of an npy file, which may hold no Python objects; broken headers also raise ValueError and EOFError."""
    with path.open("rb") as stream:
        array = _array(stream, path.stat().st_size, str(path))
    if array.ndim == 0 or array.dtype.names:
        what = "a single number" if array.ndim == 0 else "records with named fields"
        raise InputError(f"{path} holds {what}; expected an array of labels or numbers")
    return array


def columns_of(path: Path) -> dict[str, ColumnLike]:
    """The label columns, memberships and matrices of an npy or npz file, by name; arrays of different lengths are an error."""
    stem = path.name.split(".")[0]
    with path.open("rb") as stream:
        is_zip = stream.read(2) == b"PK"
    if not is_zip:
        return _columns(array_of(path), path, stem)
    arrays: dict[str, Array] = {}
    with ZipFile(path) as archive:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            with archive.open(member) as stream:
                arrays[name] = _array(stream, member.file_size, f"{path}, array {name!r}")
    if {"data", "shape"} < set(arrays) and any({*places} <= set(arrays) for places in PLACES.values()):
        matrix = _sparse_matrix(arrays, path)
        rows = {name: x for name, x in arrays.items() if name not in SPARSE and x.shape == (len(matrix),)}
        return {stem: matrix, **rows}
    columns: dict[str, ColumnLike] = {}
    for name, array in arrays.items():
        for key, column in _columns(array, path, name).items():
            if key in columns:
                raise InputError(f"{path}: two columns are named {key!r}")
            columns[key] = column
    if not columns:
        raise InputError(f"{path} holds no arrays")
    lengths = {len(c) for c in columns.values()}
    if len(lengths) > 1:
        raise InputError(f"{path}: its arrays have different lengths ({joined(sorted(lengths))})")
    return columns


def columns_declared(path: Path) -> int:
    """Number of columns by the headers of an npy or npz file; 0 if they cannot be read."""
    try:
        with path.open("rb") as stream:
            if stream.read(2) == b"PK":
                with ZipFile(path) as archive:
                    return len(archive.namelist())
            stream.seek(0)
            shape, _, dtype = _header(stream, str(path))
    except Exception:  # reading the file raises the right error
        return 0
    return 1 if len(shape) != 2 or dtype.kind == "f" else int(shape[1])


def _header(stream: IO[bytes], who: str) -> tuple[tuple[int, ...], bool, np.dtype[Scalar]]:
    """The shape, the order and the type that an npy file declares."""
    form = np.lib.format
    version = form.read_magic(stream)
    read = {(1, 0): form.read_array_header_1_0, (2, 0): form.read_array_header_2_0}.get(version)
    if read is None:
        raise InputError(f"{who} is an npy file of version {version}; versions 1.0 and 2.0 can be read")
    with warnings.catch_warnings():  # numpy warns about headers written by Python 2
        warnings.simplefilter("ignore", UserWarning)
        shape, is_fortran, dtype = read(stream)
    return shape, is_fortran, dtype


def _array(stream: IO[bytes], size: int, who: str) -> Array:
    """The array of a stream of this many bytes; a header that declares more is refused before any memory is allocated."""
    shape, is_fortran, dtype = _header(stream, who)
    if dtype.hasobject:
        raise InputError(
            f"{who} could not be read: it holds Python objects, which are never loaded; save numbers or text"
        )
    if any(isinstance(x, bool) or x < 0 for x in shape) or len(shape) > 32:
        raise InputError(f"{who} is broken: its header says that its shape is {str(shape)[:60]}")
    wanted, there = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if wanted > there:
        raise InputError(f"{who} is broken: its header declares {wanted:,} bytes, but {max(there, 0):,} follow")
    data = np.frombuffer(stream.read(wanted), dtype=dtype)
    if math.prod(shape) and not dtype.itemsize:  # empty strings take no bytes
        data = np.zeros(math.prod(shape), dtype)
    if dtype.kind == "b":  # any byte but 0 is true
        data = data.view(np.uint8) != 0
    if dtype.kind == "U" and len(data) and dtype.itemsize:
        points = data.astype(dtype.newbyteorder("=")).view(np.uint32)
        if int(points.max()) > sys.maxunicode:
            raise InputError(f"{who} is broken: its text has invalid characters")
    return data.reshape(shape, order="F" if is_fortran else "C")


def _columns(data: Array, path: Path, name: str) -> dict[str, ColumnLike]:
    if data.dtype.names or data.ndim not in (1, 2):
        what = "named fields" if data.dtype.names else f"{data.ndim} dimensions"
        raise InputError(f"{path}: array {name} has {what}; labels have one or two dimensions, and no fields")
    if data.ndim == 1:
        return {name: data}
    if data.dtype.kind == "f" and data.shape[0] == data.shape[1] > 1:
        return {name: Similarity(data, who=f"{path}: {name}")}
    if data.dtype.kind == "f" and data.shape[1] > 1:
        return {name: Memberships(data, who=name)}
    return {f"{name}_{j}" if data.shape[1] > 1 else name: data[:, j] for j in range(data.shape[1])}


def _sparse_matrix(arrays: dict[str, Array], path: Path) -> Similarity:
    """A similarity matrix written by scipy.sparse.save_npz, after checking that its indices are within its shape."""
    from scipy import sparse

    format = arrays["format"].item() if "format" in arrays and arrays["format"].ndim == 0 else b"csr"
    kind = format.decode("ascii", "replace") if isinstance(format, bytes) else str(format)
    if kind not in PLACES:
        raise InputError(
            f"{path}: sparse matrices are read in the formats {joined(PLACES)}, not {kind!r}; save M.tocsr()"
        )
    places = [arrays[name] for name in PLACES[kind] if name in arrays]
    if any(x.dtype.kind not in "iu" or x.ndim != 1 for x in (*places, arrays["shape"])) or len(arrays["shape"]) != 2:
        raise InputError(
            f"{path} is not a sparse matrix: {joined(PLACES[kind])} and shape must be vectors of whole numbers"
        )
    rows, columns = (int(x) for x in arrays["shape"])
    try:
        made = getattr(sparse, f"{kind}_array")
        if kind == "coo":
            matrix = made((arrays["data"], places), shape=(rows, columns))
        else:
            matrix = made((arrays["data"], *places), shape=(rows, columns))
        if kind in ("csr", "csc", "bsr"):
            matrix.check_format(full_check=True)
            if matrix.indptr[-1] != len(matrix.indices):
                raise ValueError
    except (ValueError, TypeError, IndexError):
        raise InputError(
            f"{path} is broken: the indices of its sparse matrix do not fit its shape ({rows} × {columns})"
        ) from None
    return Similarity(matrix.tocsr(), who=str(path))
