"""Attributes of the data as columns of numbers or categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from congruence.engine.plan import check_engine
from congruence.errors import InputError, hint, joined, names_in, some_of
from congruence.inputs.coerce import as_clustering
from congruence.inputs.column_kinds import check_features
from congruence.inputs.formats import is_anndata, matrix_of
from congruence.inputs.labels import Labels, frame_kind, from_dlpack, in_memory, is_frame, names_of_columns
from congruence.machine import device
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, DeviceArray, EngineName, PointsLike

#: values per chunk of binning and counting; chunks stay in cache
PIECE = 1 << 17


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of attributes: numbers (NaN if missing; on the host or on a CUDA GPU) or encoded nominal values."""

    names: tuple[str, ...]
    columns: tuple[Array | Labels, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    @property
    def card(self) -> DeviceArray | None:
        """The numbers on the GPU, or None."""
        return next((c for c in self.columns if device.is_on_card(c)), None)

    def pieces(self) -> list[slice]:
        """Chunks of points."""
        size = max(64, PIECE // len(self.columns))
        return [slice(start, min(start + size, len(self))) for start in range(0, len(self), size)]

    def taken(self, points: Array) -> Columns:
        """The attributes of these points."""
        on_card = None if self.card is None else device.cupy().asarray(points)
        return Columns(
            self.names,
            tuple(
                c.taken(points) if isinstance(c, Labels) else c[on_card if device.is_on_card(c) else points]
                for c in self.columns
            ),
        )

    def __add__(self, other: Columns) -> Columns:
        """The points of both, one after the other."""
        if self.names != other.names:
            odd = [n for n in (*self.names, *other.names) if (n in self.names) != (n in other.names)]
            what = f"{odd[0]!r} is on one side only" if odd else "they are in a different order"
            raise InputError(f"both sides must have the same attributes: {what}")
        joined: list[Array | Labels] = []
        for name, one, two in zip(self.names, self.columns, other.columns, strict=True):
            if isinstance(one, Labels) != isinstance(two, Labels):
                raise InputError(
                    f"attribute {name!r} is numeric on one side and nominal on the other; convert one of them"
                )
            if isinstance(one, Labels) and isinstance(two, Labels):
                joined.append(encoded(np.concatenate([decoded(one), decoded(two)]), name))
            elif device.is_on_card(one) or device.is_on_card(two):
                cp = device.cupy()
                joined.append(cp.concatenate([cp.asarray(one), cp.asarray(two)]))
            else:
                joined.append(np.concatenate([one, two]))
        return Columns(self.names, tuple(joined))


def decoded(column: Labels) -> Array:
    """The values of a nominal column, None if missing."""
    names = np.empty(column.k + 1, dtype=object)
    names[:-1] = column.names.tolist() if isinstance(column.names, np.ndarray) else list(column.names)
    return names[column.codes]


def encoded(values: DeviceArray, name: str) -> Labels:
    """A nominal column from any accepted labels."""
    found = as_clustering(values, f"attribute {name!r}")
    if not isinstance(found, Labels):
        raise InputError(f"attribute {name!r} holds lists; give one value per point")
    return found


def as_columns(X: PointsLike, nominal: Sequence[str | int] = ()) -> Columns:
    """The attributes of a frame, a mapping of columns or a 2-D array; strings, categories and booleans are nominal."""
    if isinstance(X, Columns):
        return X
    X = X if is_anndata(X) else in_memory(X)
    names, raw = raw_columns(X)
    if not names:
        raise InputError("the data have no attributes")
    wanted = set(names_in(nominal, "nominal"))
    for what in wanted:
        if what not in names and not (isinstance(what, int | np.integer) and 0 <= what < len(names)):
            near = hint(str(what), names, "there are: " + some_of(names))
            raise InputError(f"nominal names an unknown attribute {what!r}; {near}")
    if frame_kind(X) is not None:
        check_features(X, wanted)
    columns = tuple(
        _column(column, name, name in wanted or i in wanted)
        for i, (name, column) in enumerate(zip(names, raw, strict=True))
    )
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise InputError(f"the attributes have different lengths: {joined(sorted(lengths))}")
    if lengths == {0}:
        raise InputError("the data have no points")
    return Columns(names, columns)


def raw_columns(X: PointsLike) -> tuple[tuple[str, ...], list[ColumnLike]]:
    """Names and values of the columns of any table."""
    if isinstance(X, Mapping) and not type(X).__module__.startswith("xarray"):
        return tuple(map(str, X)), list(X.values())
    if is_anndata(X):
        matrix, own, _ = matrix_of(X)
        dense = matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)
        return tuple(own), [dense[:, j] for j in range(dense.shape[1])]
    table = in_memory(X)
    if is_frame(table):
        names = names_of_columns(table)
        if len(set(map(str, names))) < len(names):
            raise InputError("two attributes of the data have the same name")
        return tuple(map(str, names)), [table[name] for name in names]
    if hasattr(table, "tocsr"):
        raise InputError("the data are sparse; bins are counted over all values: pass X.toarray()")
    data: DeviceArray
    if device.is_on_card(table):
        data = device.array(table)
    elif not isinstance(table, np.ndarray) and hasattr(table, "__dlpack__"):
        data = from_dlpack(table)
    elif isinstance(table, np.ndarray):
        data = table
    else:
        try:
            data = np.asarray(table)
        except ValueError:
            raise InputError(
                "the data must be a 2-D array, points × attributes; the rows have different lengths"
            ) from None
        if data.dtype.kind in "US":  # numpy converts numbers in mixed rows to strings
            data = np.array(table, dtype=object)
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"the data must be a 2-D array, points × attributes; got shape {data.shape}")
    return tuple(f"x{i}" for i in range(data.shape[1])), [data[:, i] for i in range(data.shape[1])]


def _column(values: ColumnLike, name: str, nominal: bool) -> Array | Labels:
    """One attribute as numbers (float64, on a GPU any type), or as encoded values."""
    if device.is_on_card(values):
        values = device.array(values)
        if values.ndim == 1 and values.dtype.kind in "iuf" and not nominal:
            numbers: Array = values.astype(np.float64) if values.dtype == np.float16 else values
            return numbers
        values = values.get()
    kind = frame_kind(values)
    if kind is not None and not isinstance(getattr(values, "dtype", None), np.dtype):
        return _arrow_column(values, name, nominal)
    array: Array = np.asarray(values)
    if isinstance(values, np.ma.MaskedArray):
        array = values.data.astype(object)
        array[np.ma.getmaskarray(values)] = None
    if array.ndim != 1:
        raise InputError(f"attribute {name!r} has {array.ndim} dimensions; one value per point is expected")
    if array.dtype.kind in "iuf" and not nominal:
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "O" and not nominal:
        missing = [x is None or type(x).__name__ == "NAType" or x != x for x in array.tolist()]
        present = [x for x, gap in zip(array.tolist(), missing, strict=True) if not gap]
        if present and all(isinstance(x, Real) and not isinstance(x, bool) for x in present):
            return np.where(missing, np.nan, np.where(missing, 0, array)).astype(np.float64)
        if not present:
            return np.full(len(array), np.nan)
    if array.dtype.kind in "mMc":
        raise InputError(f"attribute {name!r} holds {array.dtype} values; convert it to numbers or strings")
    return encoded(array, name)


def _arrow_column(values: ColumnLike, name: str, nominal: bool) -> Array | Labels:
    import pyarrow as pa

    try:
        if hasattr(values, "to_arrow"):
            values = values.to_arrow()
        elif frame_kind(values) != "pyarrow":
            values = pa.Array.from_pandas(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return encoded(values, name)  # categories or extension values that arrow cannot hold
    kind = values.type
    if pa.types.is_null(kind):
        return np.full(len(values), np.nan)
    if not nominal and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        try:
            numbers = values.cast(pa.float64())
        except pa.ArrowInvalid:
            raise InputError(
                f"attribute {name!r} holds integers above 2⁵³, which floats round; subtract a constant, or name it in nominal"
            ) from None
        found = numbers.to_numpy() if isinstance(numbers, pa.ChunkedArray) else numbers.to_numpy(zero_copy_only=False)
        return np.asarray(found)
    if pa.types.is_temporal(kind):
        raise InputError(f"attribute {name!r} holds {kind} values; convert it to numbers or strings")
    return encoded(values, name)


def block_of(columns: Sequence[Array | Labels], which: Array, piece: slice) -> Array:
    """A chunk of values of these columns, one row each."""
    block = np.empty((len(which), piece.stop - piece.start))
    for r, i in enumerate(which.tolist()):
        block[r] = on_host(columns[i][piece])
    return block


def on_host(column: DeviceArray) -> Array:
    """Numbers as float64 on the host."""
    return np.asarray(column.get() if device.is_on_card(column) else column, dtype=np.float64)


def brought(X: PointsLike, engine: EngineName) -> PointsLike:
    """The data on the device that counts: "cpu" copies from the GPU, "cuda" copies to it if they fit."""
    check_engine(engine)
    if engine == "cpu":
        return device.array(X).get() if device.is_on_card(X) else X
    if engine == "cuda" and isinstance(X, np.ndarray) and X.dtype.kind in "iuf" and X.dtype.isnative and X.ndim == 2:
        device.cupy()
        contiguous = X.flags.c_contiguous or X.flags.f_contiguous
        return device.moved(X) if X.size and contiguous and 2 * X.nbytes <= device.free_memory() else X
    return X
