"""Labels of strings, arrow columns and mixed types as codes 0 … k−1 with sorted names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import InputError, warn
from congruence.statistics.names import ranked
from congruence.statistics.tables import Array, ClusterNames, smallest
from congruence.typing import ColumnLike, Label

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow as pa


def arrow_library() -> ModuleType:
    """pyarrow, imported on first use."""
    import pyarrow

    library: ModuleType = pyarrow
    return library


def plain_arrow(array: ColumnLike) -> ColumnLike:
    """An arrow array of a type that arrow can count: half floats as floats, extension types as their storage."""
    pa = arrow_library()
    if isinstance(array.type, pa.BaseExtensionType):
        stored = [x.storage for x in array.chunks] if isinstance(array, pa.ChunkedArray) else array.storage
        array = pa.chunked_array(stored, array.type.storage_type) if isinstance(stored, list) else stored
    return array.cast(pa.float32()) if pa.types.is_float16(array.type) else array


def arrow_texts(values: ColumnLike) -> ColumnLike:
    """Values of any type as an arrow array of texts, None as missing; characters that are not UTF-8 are escaped.

    >>> arrow_texts([2**70, None]).to_pylist()
    ['1180591620717411303424', None]
    """
    texts = [None if x is None else str(x).encode("utf-8", "backslashreplace").decode() for x in values]
    return arrow_library().array(texts, arrow_library().string())


def without_empty(texts: ColumnLike) -> ColumnLike:
    """Texts with empty ones as missing: a quoted empty field is not a label."""
    from pyarrow import compute

    empty = compute.equal(texts, "")
    return (
        compute.if_else(empty, arrow_library().scalar(None, texts.type), texts) if compute.any(empty).as_py() else texts
    )


def arrow_values(values: Sequence[Label]) -> ColumnLike:
    """A list as an arrow array; as texts if its values have mixed types, or a type that arrow does not have."""
    pa = arrow_library()
    if isinstance(values, list | tuple):
        words = {type(x) for x in values} - {type(None)}
        if len(words) > 1 and str in words:
            return arrow_texts(values)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeError):
        return arrow_texts(values)


def as_whole_numbers(times: ColumnLike) -> ColumnLike:
    """Times as the whole numbers that arrow stores."""
    pa = arrow_library()
    plain = times.cast(times.type.value_type) if pa.types.is_dictionary(times.type) else times
    return plain.cast(pa.int32() if plain.type.bit_width == 32 else pa.int64())


def too_far_for_python(column: ColumnLike) -> str:
    """What an arrow column of times holds, if Python cannot hold it: years before 1 or after 9999, too many days; else "".

    >>> import pyarrow as pa
    >>> too_far_for_python(pa.array([2**62, None, 0]).cast(pa.timestamp("s"))), too_far_for_python(pa.array([1]))
    ('times that Python cannot hold (timestamp[s])', '')
    """
    from pyarrow import compute

    pa = arrow_library()
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not pa.types.is_temporal(kind) or pa.types.is_interval(kind):
        return ""
    ends = compute.min_max(as_whole_numbers(column))
    try:
        for end in (ends["min"], ends["max"]):
            end.cast(kind).as_py()
    except (OverflowError, ValueError):
        return f"times that Python cannot hold ({kind})"
    return ""


def as_python_holds(column: ColumnLike, who: str) -> ColumnLike:
    """The column; times that Python cannot hold become the text of whole numbers, with a warning."""
    pa, arrow = arrow_library(), column
    if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
        try:
            arrow = pa.array(column, from_pandas=True)
        except pa.ArrowNotImplementedError:  # a unit that arrow does not have, as hours
            return column
    if not isinstance(arrow, pa.Array | pa.ChunkedArray) or not (far := too_far_for_python(arrow)):
        return column
    warn(f"{who} holds {far}; they are read as the text of whole numbers")
    return as_whole_numbers(arrow).cast(pa.string())


def encode_arrow(array: ColumnLike) -> tuple[Array, ClusterNames, int]:
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
    listed, rank = ranked([names[i] for i in kept])
    place = np.full(len(names) + 1, len(kept), dtype=np.int64)
    place[kept] = rank
    codes = smallest(place, len(kept))[raw]
    return codes, named_clusters(listed), int((codes == len(kept)).sum())


def named_clusters(names: list[Label]) -> ClusterNames:
    """Names of clusters as an integer array if they are integers, else as a tuple."""
    if names and all(type(x) is int for x in names):
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= names[0] and names[-1] <= np.iinfo(kind).max:
                return np.array(names, dtype=kind)
    return tuple(names)


def holds_lists(kind: pa.DataType) -> bool:
    """Whether this is an arrow list type, as in a column that lists the clusters of each point."""
    types = arrow_library().types
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def refuse_type(kind: pa.DataType) -> None:
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


def text_dictionary(values: Array) -> ColumnLike:
    """Numpy strings as an arrow dictionary, hashed in memory without creating Python strings."""
    pa = arrow_library()
    kind = pa.binary(values.dtype.itemsize)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.view(np.uint8))]).dictionary_encode()


def encode_text(values: Array) -> tuple[Array, tuple[Label, ...]]:
    """Codes of numpy strings."""
    array = text_dictionary(values)
    names, rank = ranked(np.frombuffer(b"".join(array.dictionary.to_pylist()), dtype=values.dtype).tolist())
    return smallest(rank, len(names))[array.indices.to_numpy()], tuple(names)


def encode_objects(values: Sequence[Label]) -> tuple[Array, ClusterNames, int]:
    """Codes of labels of mixed types, by a dictionary."""
    codes = np.empty(len(values), dtype=np.int64)
    place: dict[Label, int] = {}
    for i, value in enumerate(values):
        if isinstance(value, complex):
            raise InputError("complex numbers cannot be labels; convert them to strings first")
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
    names, rank = ranked(list(place))
    coded = smallest(np.append(rank, len(names)), len(names))[codes]
    return coded, named_clusters(names), int((codes < 0).sum())
