"""One clustering from any accepted input."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import Call, InputError, some_of, warn
from congruence.inputs.encoding import (
    arrow_library,
    encode_arrow,
    encode_objects,
    encode_text,
    holds_lists,
    named_clusters,
    refuse_type,
)
from congruence.inputs.frames import matrix_of
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import (
    Labels,
    frame_kind,
    from_dlpack,
    in_memory,
    is_frame,
    is_sparse,
    names_of_columns,
)
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity
from congruence.machine import device
from congruence.statistics.names import ranked
from congruence.statistics.tables import Array, code_type
from congruence.typing import ClusteringLike, ColumnLike, DeviceArray, Frame, Label, OptionValue

if TYPE_CHECKING:
    import narwhals as nw

    from congruence.scanning.scan import Scan

#: types of whole numbers in a list
WHOLE = frozenset({int, *(np.dtype(kind).type for kind in "bhilqBHILQ")})


#: libraries with lazy frames that narwhals knows
LAZY = ("polars", "duckdb", "_duckdb", "ibis", "pyspark", "sqlframe", "narwhals")
#: those whose queries send rows in any order
UNORDERED = ("ibis", "pyspark", "sqlframe")


def as_clustering(data: object, who: str = "labels") -> Clustering:
    """One clustering: 1-D inputs are labels, 2-D inputs are memberships.

    >>> as_clustering(["b", "a", "b"]).codes.tolist()
    [1, 0, 1]
    """
    if type(data) is np.ndarray:
        return _clustering_from_array(data, who)
    if type(data) is Labels or isinstance(data, Clustering) or getattr(type(data), "what", "") == "a cover":
        return data  # type: ignore[return-value]
    if hasattr(data, "obs"):
        raise InputError(f"{who}: pass one column of it, as in x.obs['leiden']")
    if type(data).__module__.split(".")[0] in UNORDERED and lazy_frame(data) is not None:
        raise InputError(
            f"{who}: a database sends rows in no order, so they cannot be put beside others; "
            f"compare columns of one frame: s = {Call('cg.scan(frame)')}, then s['a'] and s['b']"
        )
    data = in_memory(data)
    if is_sparse(data):  # before mappings: some sparse formats are also dictionaries
        return Memberships(data, who=who)
    if isinstance(data, Similarity):
        raise InputError(f"{who} is a similarity matrix, points × points; expected one label per point, or memberships")
    readable = hasattr(data, "__len__") or hasattr(data, "__dlpack__") or hasattr(data, "__array__")
    readable = readable and not isinstance(data, np.generic | type)
    if isinstance(data, str | bytes | Mapping | set | frozenset) or not readable:
        raise InputError(f"{who}: expected one label per point (a list, array or series), got {type(data).__name__}")
    if is_frame(data):
        return _clustering_from_frame(data, who)
    kind = frame_kind(data)
    if kind is not None:
        return _labels_from_series(data, kind, who)
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        if device.is_on_card(data):
            return _clustering_from_card(data, who)
        data = from_dlpack(data)
    return _clustering_from_array(_as_array(data, who), who)


def is_scanned(data: object, options: Mapping[str, object]) -> bool:
    """Whether an input is not read into memory (a scan, a scanned column, Dask), or scan options are given."""
    if any(value is not None and value is not False for value in options.values()):
        return True
    if lazy_frame(data) is not None:
        return True
    listed = data.values() if type(data) is dict else data if isinstance(data, list | tuple) else [data]
    return any(
        getattr(x, "lazy", False) is True
        or getattr(x, "is_lazy", False) is True
        or type(x).__module__.partition(".")[0] in ("dask", "dask_expr")
        for x in listed
        if x is not None and type(x) is not np.ndarray
    )


def lazy_frame(data: object) -> nw.LazyFrame[Frame] | None:
    """A lazy frame of any library that narwhals knows, wrapped by it; None for other data."""
    if type(data).__module__.split(".")[0] not in LAZY:
        return None
    import narwhals as nw

    found = nw.from_native(data, pass_through=True)
    return found if isinstance(found, nw.LazyFrame) else None


def counted_there(data: object) -> Frame:
    """A lazy frame as a scan that its library counts, or its rows if they are few; other data unchanged."""
    if lazy_frame(data) is None:
        return data
    found: Scan = import_module("congruence").scan(data)
    return found if found.input.held is None else found.input.held


def as_disjoint(data: ClusteringLike, who: str = "labels") -> Clustering:
    """One clustering whose clusters do not overlap: labels or memberships, not a cover."""
    found = as_clustering(data, who)
    if found.what == "a cover" or found.overlapping:
        raise InputError(
            f"{who}: expected one cluster per point, or memberships, got a cover; its clusters may overlap"
        )
    return found


def _clustering_from_card(data: DeviceArray, who: str) -> Clustering:
    """Integers stay on the GPU; memberships keep a copy there; everything else is read from the host."""
    values = device.array(data)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1 and values.size:
        codes = device.encoded(values[:, None])[0]
        if codes is not None:
            return Labels(None, card=codes)
    if values.ndim == 2 and values.dtype.kind in "fb":
        return Memberships(values, who=who)
    return _clustering_from_array(values.get(), who)


def _as_array(data: ColumnLike, who: str) -> Array:
    """A numpy array; a list keeps the labels it holds (1 and '1' stay different)."""
    if isinstance(data, np.ma.MaskedArray):
        unmasked = data.data.astype(object)
        unmasked[np.ma.getmaskarray(data)] = None
        return np.asarray(unmasked)
    if isinstance(data, np.ndarray):
        return data
    try:
        listed = list(data)
    except TypeError:
        with suppress(TypeError, ValueError):  # some objects only have `__array__`
            if hasattr(data, "__array__") and (array := np.asarray(data)).ndim:
                return array
        raise InputError(f"{who}: the labels of a {type(data).__name__} cannot be listed") from None
    if not listed:
        raise InputError(f"{who}: there are no points (an empty {type(data).__name__} was given)")
    whole_numbers = whole_numbers_of(listed)
    if whole_numbers is not None:
        return whole_numbers
    types = set(map(type, listed))
    if types & {list, tuple, np.ndarray}:
        try:
            return np.asarray(listed)
        except ValueError:
            raise InputError(f"{who}: a list of lists of different lengths is neither labels nor memberships") from None
    whole = listed if types == {int} else [x for x in listed if type(x) is int] if types <= {float, int} else []
    exact = not whole or max(map(abs, (min(whole), max(whole)))) < (2**63 if float not in types else 2**53)
    if exact and (types <= {float, int} or types <= {bool}):
        return np.asarray(listed)
    plain = np.empty(len(listed), dtype=object)
    plain[:] = listed
    return plain


def whole_numbers_of(listed: Sequence[Label]) -> Array | None:
    """A list of whole numbers as an array; None if it holds anything else, or numbers beyond 64 bits."""
    try:
        return np.frombuffer(array("q", listed), np.int64) if set(map(type, listed)) <= WHOLE else None
    except (OverflowError, ValueError):  # ValueError: an empty list
        return None


def _clustering_from_array(array: Array, who: str) -> Clustering:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1:
        return labels_from_numpy(array, who)
    if array.ndim == 2:
        if array.dtype.kind in "fb":
            return Memberships(array, who=who)
        raise InputError(
            f"{who}: a 2-D array of {_kind_name(array)} ({array.shape[0]} × {array.shape[1]}) is not one clustering; for "
            f"columns of labels use {Call('compare_all')}, for memberships pass floats or {Call('cg.Memberships(…)')}"
        )
    raise InputError(
        f"{who}: expected 1-D labels or 2-D memberships, got a {array.ndim}-D array of shape {array.shape}"
    )


def _kind_name(array: Array) -> str:
    return {"i": "integers", "u": "integers", "U": "strings", "O": "objects"}.get(array.dtype.kind, str(array.dtype))


def _clustering_from_frame(data: Frame, who: str) -> Clustering:
    columns = names_of_columns(data)
    if len(columns) == 1:
        return as_clustering(data[columns[0]], who)
    matrix, index, kind, names = matrix_of(data)
    if matrix.dtype.kind != "f":
        raise InputError(
            f"{who}: a frame of {len(columns)} columns is not one clustering; for columns of labels use "
            f"{Call('compare_all')}, or {Call('cg.Ensemble')} for what they have in common, or pick one: "
            f"{some_of(map(str, columns), 5)}"
        )
    memberships = Memberships(matrix, names, who=who)
    memberships.index, memberships.kind = index, kind
    return memberships


def _labels_from_series(data: ColumnLike, kind: str, who: str) -> Labels:
    """Labels from a pandas, polars or arrow column; categories keep their names, unused ones are dropped."""
    if kind == "pyarrow":
        return _from_arrow(data, who, kind=kind)
    title = str(data.name) if getattr(data, "name", None) not in (None, "") else None
    facts = {"title": title, "kind": kind, "index": getattr(data, "index", None)}
    if getattr(data, "ndim", 1) != 1:
        raise InputError(f"{who}: expected 1-D labels, got {data.ndim}-D")
    dtype = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcmM":
        return labels_from_numpy(data.to_numpy(), who, **facts)
    if kind == "pandas" and dtype is not None and hasattr(dtype, "categories"):
        source = data.cat if hasattr(data, "cat") else data  # a series, or a bare Categorical
        return labels_from_categories(np.asarray(source.codes), list(dtype.categories), facts)
    pa = arrow_library()
    try:
        array = data.to_arrow() if hasattr(data, "to_arrow") else pa.Array.from_pandas(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return labels_from_numpy(data.to_numpy(dtype=object), who, **facts)
    return _from_arrow(array, who, **facts)


def _from_arrow(array: ColumnLike, who: str, **facts: OptionValue) -> Labels:
    """Labels, or the cover of a column of lists: the clusters of each point."""
    if len(array) and holds_lists(array.type):
        from congruence.inputs.cover_columns import cover_of_rows  # covers are read by this module

        cover = cover_of_rows(array, who, facts.get("index"))
        cover.title, cover.kind = facts.get("title"), facts["kind"]
        return cover  # type: ignore[return-value]
    return labels_from_arrow(array, who, **facts)


# --- labels of any type ---------------------------------------------------------------------------------------------


def labels_from_numpy(values: Array, who: str, **facts: OptionValue) -> Labels:
    """Labels from a 1-D numpy array of any type."""
    kind = values.dtype.kind
    if len(values) == 0:
        raise InputError(f"{who}: there are no points (an empty array was given)")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind in "iu":
        return Labels(values, **facts)
    if kind == "b":
        bits = Labels(values.view(np.uint8))
        return Labels(None, (bits.codes, tuple(bool(x) for x in bits.names)), **facts)
    if kind == "f":
        return _labels_from_floats(values, who, **facts)
    if kind == "c":
        raise InputError(f"{who}: complex numbers cannot be labels; convert them to strings first")
    if kind in "mM":
        raise InputError(
            f"{who}: {values.dtype} values look like dates, not clusters; convert them to strings if they are labels"
        )
    if kind in "US" and values.dtype.itemsize:
        return Labels(None, encode_text(np.ascontiguousarray(values)), **facts)
    pa = arrow_library()
    # arrow would convert mixed types to one (2⁶⁰ and NaN would both become floats), so hash them one by one
    one_type = len({type(x) for x in values.tolist()} - {type(None)}) == 1
    if one_type:
        try:
            return labels_from_arrow(pa.array(values, from_pandas=True), who, **facts)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeError):
            pass
    codes, names, gaps = encode_objects(values.tolist())
    return Labels(None, (codes, names), gaps, **facts)


def _labels_from_floats(values: Array, who: str, **facts: OptionValue) -> Labels:
    with np.errstate(invalid="ignore"):  # the missing number of R is a signalling NaN
        values = values.astype(np.float64, copy=False) + 0.0  # half floats would overflow below, and −0.0 is 0.0
    missing = np.isnan(values)
    gaps = int(missing.sum())
    solid = values[~missing] if gaps else values
    if len(solid) and np.isfinite(solid).all() and (np.abs(solid) < 2**62).all() and (solid == np.rint(solid)).all():
        whole = Labels(solid.astype(np.int64), **facts)
        if not gaps:
            return whole
        codes = np.full(len(values), whole.k, dtype=code_type(whole.k))
        codes[~missing] = whole.codes
        return Labels(None, (codes, whole.names), gaps, **facts)
    codes, names, gaps = encode_arrow(arrow_library().array(values, from_pandas=True))
    if len(names) > 2 * len(values) ** 0.5:
        warn(
            f"{who}: {len(names)} different fractional values in {len(values)} points look like measurements, not labels"
        )
    return Labels(None, (codes, names), gaps, **facts)


def labels_from_arrow(array: ColumnLike, who: str, **facts: OptionValue) -> Labels:
    """Labels from an arrow array of any type."""
    pa = arrow_library()
    if len(array) == 0:
        raise InputError(f"{who}: there are no points (an empty array was given)")
    if pa.types.is_null(array.type):
        return Labels(None, (np.zeros(len(array), dtype=np.uint8), ()), len(array), **facts)
    numeric = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if numeric and (array.null_count == 0 or pa.types.is_floating(array.type)):
        chunk = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        if isinstance(chunk, pa.ChunkedArray):
            return labels_from_numpy(chunk.to_numpy(), who, **facts)
        return labels_from_numpy(chunk.to_numpy(zero_copy_only=False), who, **facts)
    refuse_type(array.type)
    codes, names, gaps = encode_arrow(array)
    return Labels(None, (codes, names), gaps, **facts)


def labels_from_categories(codes: Array, categories: list[Label], facts: dict[str, OptionValue]) -> Labels:
    """Labels from pandas categories, of any type; a code of −1 is a missing value."""
    plain = [x.item() if isinstance(x, np.generic) else x for x in categories]
    names, rank = ranked(plain)
    whole = Labels(None, (np.append(rank, len(plain))[codes], named_clusters(names)), **facts)
    return whole.taken(np.arange(len(codes)), facts.get("index"))
