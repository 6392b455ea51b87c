"""Detect arrays and frames of any library, and encode labels of any type as 0 … k−1 with sorted names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from congruence.errors import InputError
from congruence.machine import device
from congruence.statistics.tables import Array, label_order

#: libraries that frames can be created with
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")
#: integers and strings are encoded in chunks of this size, so that encoding needs no second copy of the input
CHUNK = 1 << 16

# --- accepted inputs --------------------------------------------------------------------------------------------


def frame_kind(data: Any) -> str | None:
    """Which library a frame or series comes from, if any: 'pandas', 'polars', 'pyarrow', …"""
    root = type(data).__module__.split(".")[0]
    return root if root in FRAMES else None


def in_memory(data: Any) -> Any:
    """Convert a frame, series or array of another library to one that is read directly; other values are unchanged.

    Lazy polars frames are collected, Dask frames computed, xarray data become pandas or numpy; DuckDB relations, record batch
    readers and everything else with `__arrow_c_stream__` become arrow tables.
    """
    root = type(data).__module__.split(".")[0]
    if root == "polars":
        return data.collect() if hasattr(data, "collect") else data
    if root == "pyarrow":
        return data.read_all() if hasattr(data, "read_all") else data
    if root == "narwhals":
        return in_memory(data.to_native())
    if root == "xarray":
        return data.to_dataframe().reset_index(drop=True) if hasattr(data, "data_vars") else data.to_numpy()
    if root in ("dask", "dask_expr") and hasattr(data, "npartitions") and hasattr(data, "_meta"):
        return data.compute()
    if root not in FRAMES and hasattr(data, "__arrow_c_stream__"):
        import pyarrow as pa

        return pa.table(data)
    return data


def from_dlpack(data: Any) -> Array:
    """A numpy view of an array that supports DLPack (a copy if it is on another device)."""
    if device.is_on_card(data):
        return np.asarray(device.array(data).get())
    try:
        return np.from_dlpack(data)
    except (RuntimeError, BufferError, TypeError, ValueError):
        pass
    try:  # on another device: ask for a copy on the host
        return np.from_dlpack(data, device="cpu", copy=True)
    except (RuntimeError, BufferError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"a {type(data).__module__}.{type(data).__name__} could not be read through DLPack ({error}); pass it as a "
            "numpy array on the host"
        ) from None


def is_frame(data: Any) -> bool:
    """Whether it is a data frame of pandas, polars or arrow."""
    return hasattr(data, "columns") and frame_kind(data) is not None


def is_sparse(data: Any) -> bool:
    """Whether it is a scipy sparse matrix."""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def unwrap_2d(data: Any) -> tuple[Any, Any, str | None, str | None, Sequence[Any] | None]:
    """(matrix, index, name, frame kind, column names) of a 2-D input."""
    if is_frame(data):
        kind = frame_kind(data)
        names = list(data.column_names) if kind == "pyarrow" else list(data.columns)
        if kind == "pyarrow":
            matrix = np.column_stack([c.to_numpy() for c in data.columns]) if names else np.empty((0, 0))
        else:
            matrix = data.to_numpy()
        return matrix, getattr(data, "index", None), None, kind, names
    if is_sparse(data):
        return data, None, None, None, None
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        data = from_dlpack(data)
    try:
        return np.asarray(data), None, None, None, None
    except ValueError:
        raise InputError(
            "a list of lists of different lengths is not a matrix; give every row the same number of values"
        ) from None


def generator_of(random_state: Any) -> np.random.Generator:
    """A random generator from a seed, a sequence of seeds, a generator or None."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state must be a whole number from 0 up or a generator; got {random_state!r}"
        ) from None


def seed_sequence(random_state: Any) -> np.random.SeedSequence:
    """The seed sequence of a random_state of any kind."""
    if random_state is None or isinstance(random_state, int | np.integer):
        if random_state is not None and random_state < 0:
            raise InputError(f"random_state must be 0 or more, not {random_state}")
        return np.random.SeedSequence(None if random_state is None else int(random_state))
    if isinstance(random_state, np.random.SeedSequence):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(int(random_state.integers(2**63)))
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(int(random_state.randint(2**31 - 1)))
    raise InputError(f"random_state must be None, an integer or a numpy generator, not {type(random_state).__name__}")


# --- encoding ---------------------------------------------------------------------------------------------------


def code_type(k: int) -> Any:
    """The smallest type that holds the codes 0 … k."""
    return np.uint8 if k <= 0xFF else np.uint16 if k <= 0xFFFF else np.int32


def smallest(codes: Array, k: int) -> Array:
    """The codes in the smallest type that holds them."""
    return codes.astype(code_type(k))


def encode_integers(values: Array, low: int, high: int) -> tuple[Array, Array]:
    """Codes from a table over the range of the values, or by hashing if the range is much wider than the data."""
    span = high - low + 1
    if span > max(4 * len(values), 1 << 16):
        hashed, found, _ = encode_arrow(arrow_library().array(values))
        return hashed, np.asarray(found, dtype=values.dtype)
    present = np.zeros(span, dtype=bool)
    for start in range(0, len(values), CHUNK):
        present[above(values[start : start + CHUNK], low)] = True
    names = np.flatnonzero(present)
    place = smallest(np.cumsum(present) - 1, len(names))
    codes = np.empty(len(values), dtype=place.dtype)
    for start in range(0, len(values), CHUNK):
        piece, where = codes[start : start + CHUNK], above(values[start : start + CHUNK], low)
        if len(names) == span:  # every label from the lowest to the highest occurs: its offset is its code
            piece[:] = where
        else:
            np.take(place, where, out=piece)
    return codes, shifted(names, low)


def shifted(offsets: Array, low: int) -> Array:
    """Labels from their distances to the lowest; unsigned if they do not fit in int64."""
    if low + len(offsets) and low + int(offsets.max(initial=0)) > np.iinfo(np.int64).max:
        return offsets.astype(np.uint64) + np.uint64(low)
    return offsets + low


def above(values: Array, low: int) -> Array:
    """How far each value is above the lowest, as int64; narrow types are widened first, so that nothing wraps around."""
    if values.dtype == np.uint64:
        return (values - np.uint64(low)).astype(np.int64)
    return values.astype(np.int64) - low


def arrow_library() -> Any:
    """pyarrow, imported on first use."""
    import pyarrow

    return pyarrow


def plain_arrow(array: Any) -> Any:
    """An arrow array of a type that arrow can count: half floats as floats, types of other libraries as what they store."""
    pa = arrow_library()
    if isinstance(array.type, pa.BaseExtensionType):
        stored = [x.storage for x in array.chunks] if isinstance(array, pa.ChunkedArray) else array.storage
        array = pa.chunked_array(stored, array.type.storage_type) if isinstance(stored, list) else stored
    return array.cast(pa.float32()) if pa.types.is_float16(array.type) else array


def arrow_texts(values: Any) -> Any:
    """Values of any type as an arrow array of their texts, None as missing; what is not UTF-8 is escaped.

    >>> arrow_texts([2**70, None]).to_pylist()
    ['1180591620717411303424', None]
    """
    texts = [None if x is None else str(x).encode("utf-8", "backslashreplace").decode() for x in values]
    return arrow_library().array(texts, arrow_library().string())


def arrow_values(values: Any) -> Any:
    """A list as an arrow array; as texts if its values are of several types, or of one that arrow does not have."""
    pa = arrow_library()
    if isinstance(values, list | tuple):
        words = {type(x) for x in values} - {type(None)}
        if len(words) > 1 and str in words:
            return arrow_texts(values)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeError):
        return arrow_texts(values)


def encode_arrow(array: Any) -> tuple[Array, Array | tuple[Any, ...], int]:
    """Codes, sorted names and number of nulls of an arrow array of any type that can be hashed."""
    pa = arrow_library()
    refuse_type(array.type.value_type if pa.types.is_dictionary(array.type) else array.type)
    if not pa.types.is_dictionary(array.type):
        try:
            array = array.dictionary_encode()
        except pa.ArrowNotImplementedError:  # extension types, such as UUIDs
            return encode_objects(array.to_pylist())
    elif isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], type=array.type)
    if pa.types.is_floating(array.type.value_type):  # 0.0 and −0.0 are one label
        values = array.dictionary.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
        plain = pa.array(values, from_pandas=True).take(array.indices)
        array = plain.dictionary_encode()
    names = array.dictionary.to_pylist()
    raw = array.indices.fill_null(len(names)).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    missing = [i for i, name in enumerate(names) if name is None or name != name]
    used = np.bincount(raw, minlength=len(names) + 1)[: len(names)] > 0  # unused categories are not clusters
    used[missing] = False
    kept = np.flatnonzero(used)
    listed = [names[i] for i in kept]
    order = label_order(listed)
    place = np.full(len(names) + 1, len(kept), dtype=np.int64)
    place[kept[order]] = np.arange(len(kept))
    codes = smallest(place, len(kept))[raw]
    return codes, named_clusters([listed[i] for i in order]), int((codes == len(kept)).sum())


def named_clusters(names: list[Any]) -> Array | tuple[Any, ...]:
    """Names of clusters as an integer array if they are integers, else as a tuple."""
    if names and all(type(x) is int for x in names):
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= names[0] and names[-1] <= np.iinfo(kind).max:
                return np.array(names, dtype=kind)
    return tuple(names)


def holds_lists(kind: Any) -> bool:
    """Whether this is an arrow list type, as in a column that lists the clusters of each point."""
    types = arrow_library().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def refuse_type(kind: Any) -> None:
    """Raise if labels are dates or lists."""
    pa = arrow_library()
    if pa.types.is_temporal(kind):
        raise InputError(
            f"labels of type {kind} look like dates, not clusters; convert them to strings if they are labels"
        )
    if pa.types.is_nested(kind):
        raise InputError(
            f"labels of type {kind} hold lists; give one label per point, or memberships as a 2-D float array"
        )


def encode_text(values: Array) -> tuple[Array, tuple[Any, ...]]:
    """Codes of numpy strings, hashed in memory without creating Python strings."""
    pa = arrow_library()
    kind = pa.binary(values.dtype.itemsize)
    array = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.view(np.uint8))]).dictionary_encode()
    names = np.frombuffer(b"".join(array.dictionary.to_pylist()), dtype=values.dtype).tolist()
    order = label_order(names)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return smallest(rank, len(names))[array.indices.to_numpy()], tuple(names[i] for i in order)


def encode_objects(values: Sequence[Any]) -> tuple[Array, Array | tuple[Any, ...], int]:
    """Codes of labels of mixed types, by a dictionary."""
    codes = np.empty(len(values), dtype=np.int64)
    place: dict[Any, int] = {}
    for i, value in enumerate(values):
        if isinstance(value, complex):
            raise InputError("complex numbers are not labels; convert them to strings if they are")
        if (
            value is None
            or type(value).__name__ in ("NAType", "NaTType")
            or (isinstance(value, float) and value != value)
        ):
            codes[i] = -1
            continue
        try:
            codes[i] = place.setdefault(value, len(place))
        except TypeError:
            raise InputError(
                f"label {value!r} (a {type(value).__name__}) at position {i} cannot be a label: it is not hashable"
            ) from None
    names = list(place)
    order = label_order(names)
    rank = np.empty(len(names) + 1, dtype=np.int64)
    rank[order] = np.arange(len(names))
    rank[-1] = len(names)
    coded = smallest(rank, len(names))[codes]
    return coded, named_clusters([names[i] for i in order]), int((codes < 0).sum())
