"""Labels as integers that are equal where the labels are, without names: for measures that need no table.

Each kind of input has one row in a table. Arrays on a GPU stay there. What a row cannot read without a check (missing values,
mixed types, several dimensions) is left to `as_clustering`, which also has the messages.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from congruence.inputs.coerce import whole_numbers_of
from congruence.inputs.encoding import arrow_library, text_dictionary
from congruence.inputs.labels import from_dlpack
from congruence.machine import device
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, DeviceArray, Index


def vector_of(data: ColumnLike) -> tuple[Array | None, Index]:
    """Integers that are equal where labels are, or None; and the index of a pandas series."""
    kind = type(data)
    row = _ROWS.get((kind.__module__.partition(".")[0], kind.__name__))
    return (None, None) if row is None else (row(data), data.index if row is _of_pandas else None)


def _of_list(data: ColumnLike) -> Array | None:
    return _of_texts(data) if data and type(data[0]) is str else whole_numbers_of(data)


def _of_texts(data: ColumnLike) -> Array | None:
    """A list or array of texts only: arrow finds no type for texts and other values, or not that of texts."""
    pa = arrow_library()
    try:
        return _of_arrow(pa.array(data))
    except (UnicodeError, pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def _of_numpy(data: Array) -> Array | None:
    kind = data.dtype.kind
    if data.ndim != 1 or not len(data):
        return None
    if kind in "iu":
        return data
    if kind == "b":
        return data.view(np.uint8)
    if kind == "f":
        with np.errstate(invalid="ignore"):
            whole = data.astype(np.int64)
        return whole if (whole == data).all() else None
    if kind in "US" and data.dtype.itemsize and data.dtype.isnative:
        return np.asarray(text_dictionary(np.ascontiguousarray(data)).indices)
    return _of_texts(data) if kind == "O" and type(data[0]) is str else None


def _of_arrow(data: ColumnLike) -> Array | None:
    pa = arrow_library()
    if data.null_count or (isinstance(data, pa.ChunkedArray) and data.num_chunks != 1):
        return None
    values = data.chunk(0) if isinstance(data, pa.ChunkedArray) else data
    if pa.types.is_integer(values.type):
        return np.asarray(values.to_numpy())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return np.asarray(values.dictionary_encode().indices.to_numpy())
    return None


def _of_pandas(data: ColumnLike) -> Array | None:
    import pandas as pd

    if isinstance(data.dtype, np.dtype):
        values = data.to_numpy()
        if values.dtype != object:
            return _of_numpy(values)
        if pd.api.types.infer_dtype(values, skipna=False) != "string":
            return None
        codes = pd.factorize(values)[0]
    elif isinstance(data.dtype, pd.CategoricalDtype):
        codes = np.asarray(data.array.codes)
    elif isinstance(data.dtype, pd.StringDtype):
        codes = pd.factorize(data.array)[0]
    else:
        return None
    return codes if len(codes) and codes.min() >= 0 else None  # −1 is a missing value


def _of_polars(data: ColumnLike) -> Array | None:
    if data.null_count():
        return None
    return np.asarray(data.to_numpy()) if data.dtype.is_integer() else _of_arrow(data.to_arrow())


def _of_tensor(data: DeviceArray) -> Array | None:
    """A tensor of torch or an array of CuPy: integers stay on the GPU."""
    if not device.is_on_card(data):
        return _of_numpy(from_dlpack(data))
    there = device.array(data)
    return there if there.ndim == 1 and there.dtype.kind in "iu" and there.dtype != np.uint64 else None


#: (package, class) → the function that reads it
_ROWS: dict[tuple[str, str], Callable[[ColumnLike], Array | None]] = {
    ("numpy", "ndarray"): _of_numpy,
    ("builtins", "list"): _of_list,
    ("builtins", "tuple"): _of_list,
    ("torch", "Tensor"): _of_tensor,
    ("cupy", "ndarray"): _of_tensor,
    ("pandas", "Series"): _of_pandas,
    ("polars", "Series"): _of_polars,
    ("pyarrow", "ChunkedArray"): _of_arrow,
    **{("pyarrow", f"{kind}Array"): _of_arrow for kind in ("String", "LargeString", "Int64", "Int32", "Int16", "Int8")},
}
