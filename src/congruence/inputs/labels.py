"""What kind of input was given, and hard clusterings: one label per point, validated and encoded once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from congruence.errors import Caution, InputError, some_of
from congruence.inputs.encoding import (
    arrow_library,
    encode_arrow,
    encode_objects,
    encode_text,
    named_clusters,
    refuse_type,
)
from congruence.machine import device, jit
from congruence.statistics.tables import Array, code_type, label_order, smallest

#: points that a thread encodes at a time
PIECE = 1 << 22

if TYPE_CHECKING:
    from congruence.statistics.covers import ClusterMap

Unassigned = Literal["error", "drop", "singletons", "cluster", "partial", "keep"]


#: libraries that frames can be created with
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")

#: integers and strings are encoded in chunks of this size, so that encoding needs no second copy of the input
CHUNK = 1 << 16


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
        with warnings.catch_warnings():  # arrow exports an older version of the protocol
            warnings.simplefilter("ignore", DeprecationWarning)
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
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__") and frame_kind(data) is None:
        data = from_dlpack(data)
    try:
        return np.asarray(data), None, None, None, None
    except ValueError:
        raise InputError(
            "a list of lists of different lengths is not a matrix; give every row the same number of values"
        ) from None


# --- one label per point ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Labels:
    """Each of n points in one of k named clusters, or in none.

    Integers are kept as `values` and encoded when `codes` is first used: a single pair is counted without encoding.
    """

    values: Array | None
    encoded: tuple[Array, Array | tuple[Any, ...]] | None = None
    #: points in no cluster; their code is k
    gaps: int = 0
    index: Any = None
    title: str | None = None
    kind: str | None = None
    cautions: tuple[Caution, ...] = ()
    #: codes on the GPU, for labels given there; they are copied to the host when `codes` is first used
    card: device.Codes | None = None
    soft = False
    #: whether it is a scanned column, read when it is counted (`cg.scan`)
    lazy = False
    #: labels are compared by their tables, not by a digest
    digest = b""
    #: for a cover: the clusters of each label (signature)
    clusters: ClassVar[ClusterMap | None] = None

    @property
    def overlapping(self) -> bool:
        """Whether this is a cover."""
        return self.clusters is not None

    @cached_property
    def _encoded(self) -> tuple[Array, Array | tuple[Any, ...]]:
        if self.encoded is not None:
            return self.encoded
        if self.card is not None:
            return self.card.on_host(code_type(self.k)), self.card.names
        assert self.values is not None
        return encode_integers(self.values, *self.limits)

    @cached_property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest of the raw integers."""
        assert self.values is not None
        return int(self.values.min()), int(self.values.max())

    @property
    def codes(self) -> Array:
        """0 … k−1 in the smallest unsigned type (int32 above 65,536), and k for a point in no cluster."""
        return self._encoded[0]

    @property
    def names(self) -> Array | tuple[Any, ...]:
        """The labels of the clusters, sorted; code i means names[i]."""
        return self.card.names if self.card is not None else self._encoded[1]

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    def __len__(self) -> int:
        if self.card is not None:
            return self.card.n
        source = self.values if self.values is not None else self.codes
        return len(source)

    def _recoded(self, codes: Array, names: Array | tuple[Any, ...], gaps: int) -> Labels:
        return replace(self, values=None, card=None, encoded=(codes, names), gaps=gaps)

    def taken(self, points: Array, index: Any = None) -> Labels:
        """The clustering restricted to these points, in this order, without empty clusters."""
        codes = self.codes[points]
        present = np.bincount(codes, minlength=self.k + 1)[: self.k] > 0
        place = np.append(np.cumsum(present) - 1, present.sum())
        kept = _pick(self.names, np.flatnonzero(present))
        gaps = int((codes == self.k).sum())
        return replace(self._recoded(smallest(place, int(present.sum()))[codes], kept, gaps), index=index)

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Labels:
        """Apply `unassigned` to points in no cluster: missing values, and labels named as noise."""
        if unassigned == "keep":
            raise InputError("unassigned='keep' is for covers; for labels pass 'drop', 'singletons' or 'cluster'")
        if unassigned not in ("error", "drop", "singletons", "cluster", "partial"):
            raise InputError(f"unassigned must be 'error', 'drop', 'singletons' or 'cluster', not {unassigned!r}")
        labels = self._without_noise(noise)
        if labels.gaps == 0 or unassigned in ("drop", "partial"):
            return labels
        if unassigned == "error":
            raise unassigned_error(who, f"{labels.gaps} of {len(labels)} points")
        codes, names, k = labels.codes, labels.names, labels.k
        listed = _listed(names)
        word = name_of_unassigned(listed)
        if unassigned == "cluster":
            return labels._recoded(codes, (*listed, word), 0)
        wide = codes.astype(np.int64)
        wide[codes == k] = k + np.arange(labels.gaps)
        alone = tuple(f"{word} {i + 1}" for i in range(labels.gaps))
        codes = wide.astype(code_type(k + labels.gaps))
        return labels._recoded(codes, (*listed, *alone), 0)

    def _without_noise(self, noise: Collection[Hashable] | None) -> Labels:
        if not noise:
            return self
        if self.values is not None and all(_outside(x, *self.limits) for x in noise):
            return self
        wanted = set(noise) | {str(x) for x in noise}
        is_noise = np.array([name in wanted or str(name) in wanted for name in _listed(self.names)], dtype=bool)
        if not is_noise.any():
            return self
        place = np.append(np.cumsum(~is_noise) - 1, (~is_noise).sum())
        place[:-1][is_noise] = place[-1]
        codes = smallest(place, int(place[-1]))[self.codes]
        kept = _pick(self.names, np.flatnonzero(~is_noise))
        return self._recoded(codes, kept, int((codes == len(kept)).sum()))


def name_of_unassigned(names: Sequence[Any]) -> str:
    """Name of the cluster of unassigned points: "unassigned", with primes if a cluster has that name."""
    word = "unassigned"
    while any(str(name).startswith(word) for name in names):
        word += "′"
    return word


def noise_caution(names: Any, who: str) -> list[Caution]:
    """A caution if −1 occurs among non-negative labels: many tools use it for noise."""
    if isinstance(names, np.ndarray):
        found = len(names) > 1 and names.dtype.kind == "i" and names[0] == -1
    else:
        numbers = [x for x in names if isinstance(x, int) and not isinstance(x, bool)]
        found = len(numbers) > 1 and min(numbers) == -1
    if not found:
        return []
    text = "{subject} has label −1 among others, counted as a cluster; if it means noise pass noise=-1"
    return [Caution("noise_label", who, text)]


def label_cautions(names: Any, who: str) -> list[Caution]:
    """Both cautions about labels: −1 among others, and labels that differ only in spaces or capitals."""
    return [*noise_caution(names, who), *spelling_caution(names, who)]


def spelling_caution(names: Any, who: str) -> list[Caution]:
    """A caution if labels differ only in spaces or capitals, as " Gold", "gold" and "Gold": often one cluster, not three.

    >>> spelling_caution(("Gold", "gold", "silver"), "a")
    ["a has labels that differ only in spaces or capitals, counted as different clusters: 'Gold', 'gold'"]
    """
    if isinstance(names, np.ndarray):
        return []
    groups: dict[str, list[str]] = {}
    for name in names:
        if isinstance(name, str):
            groups.setdefault(" ".join(name.split()).casefold(), []).append(name)
    alike = [", ".join(map(repr, group)) for group in groups.values() if len(group) > 1]
    if not alike:
        return []
    text = "{subject} has labels that differ only in spaces or capitals, counted as different clusters: " + some_of(
        alike, 3
    )
    return [Caution("spelling", who, text)]


def _outside(x: Hashable, low: int, high: int) -> bool:
    try:
        return not low <= int(x) <= high  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return True


def _listed(names: Array | Sequence[Any]) -> list[Any]:
    return names.tolist() if isinstance(names, np.ndarray) else list(names)


def _pick(names: Array | tuple[Any, ...], keep: Array) -> Array | tuple[Any, ...]:
    return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)


def labels_from_numpy(values: Array, who: str, **facts: Any) -> Labels:
    """Labels from a 1-D numpy array of any type."""
    kind = values.dtype.kind
    if len(values) == 0:
        raise InputError(f"{who}: there are no points (an empty array was given)")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind in "iu":
        return Labels(values, **facts)
    if kind == "b":
        codes, numbers = encode_integers(values.view(np.uint8), 0, 1)
        return Labels(None, (codes, tuple(bool(x) for x in numbers)), **facts)
    if kind == "f":
        return _labels_from_floats(values, who, **facts)
    if kind == "c":
        raise InputError(f"{who}: complex numbers are not labels; convert them to strings if they are")
    if kind in "mM":
        raise InputError(
            f"{who}: {values.dtype} values look like dates, not clusters; convert them to strings if they are"
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


def _labels_from_floats(values: Array, who: str, **facts: Any) -> Labels:
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
        warnings.warn(
            f"{who}: {len(names)} different fractional values in {len(values)} points look like measurements, not labels",
            stacklevel=6,
        )
    return Labels(None, (codes, names), gaps, **facts)


def labels_from_arrow(array: Any, who: str, **facts: Any) -> Labels:
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


def labels_from_categories(codes: Array, categories: list[Any], facts: dict[str, Any]) -> Labels:
    """Labels from pandas categories, of any type; a code of −1 is a missing value."""
    plain = [x.item() if isinstance(x, np.generic) else x for x in categories]
    order = label_order(plain)
    rank = np.full(len(plain) + 1, len(plain), dtype=np.int64)
    rank[order] = np.arange(len(plain))
    whole = Labels(None, (rank[codes], named_clusters([plain[i] for i in order])), **facts)
    return whole.taken(np.arange(len(codes)), facts.get("index"))


def unassigned_error(who: str, many: str) -> InputError:
    """The error for unassigned points if no option says how they count."""
    found = f"{who}: {many} are unassigned (missing, or named as noise); pass"
    return InputError(
        f"{found} unassigned='drop', 'singletons' or 'cluster' to say how they count (in an ensemble: 'partial')",
        f"{found} --unassigned drop, singletons or cluster to say how they count (in an ensemble: --partial)",
    )


# --- integers as codes ------------------------------------------------------------------------------------------


def encode_integers(values: Array, low: int, high: int) -> tuple[Array, Array]:
    """Codes from a table over the range of the values, or by hashing if the range is much wider than the data."""
    span = high - low + 1
    if span > max(4 * len(values), 1 << 16):
        hashed, found, _ = encode_arrow(arrow_library().array(values))
        return hashed, np.asarray(found, dtype=values.dtype)
    present = np.zeros(span, dtype=bool)
    loops = values.dtype != np.uint64 and jit.use_kernels(len(values))
    if loops:
        mark = jit.compiled(_mark)
        _in_pieces(lambda piece: mark(values[piece], low, present), len(values))
    else:
        for start in range(0, len(values), CHUNK):
            present[above(values[start : start + CHUNK], low)] = True
    names = np.flatnonzero(present)
    place = smallest(np.cumsum(present) - 1, len(names))
    codes = np.empty(len(values), dtype=place.dtype)
    if low == 0 and len(names) == span:  # the labels are their codes
        _in_pieces(lambda piece: np.copyto(codes[piece], values[piece], casting="unsafe"), len(values))
        return codes, shifted(names, low)
    if loops:
        recode = jit.compiled(_recode)
        _in_pieces(lambda piece: recode(values[piece], low, place, codes[piece]), len(values))
        return codes, shifted(names, low)
    for start in range(0, len(values), CHUNK):
        piece, where = codes[start : start + CHUNK], above(values[start : start + CHUNK], low)
        if len(names) == span:  # every label from the lowest to the highest occurs: its offset is its code
            piece[:] = where
        else:
            np.take(place, where, out=piece)
    return codes, shifted(names, low)


def _in_pieces(work: Callable[[slice], Any], n: int) -> None:
    """Do the work on all points, on all cores if there are many."""
    pieces = [slice(start, start + PIECE) for start in range(0, n, PIECE)]
    if len(pieces) == 1:
        work(pieces[0])
        return
    with ThreadPoolExecutor() as pool:
        list(pool.map(work, pieces))


def _mark(values: Any, low: int, present: Any) -> None:
    for p in range(len(values)):
        present[np.uint64(values[p] - low)] = True


def _recode(values: Any, low: int, place: Any, codes: Any) -> None:
    for p in range(len(values)):
        codes[p] = place[np.uint64(values[p] - low)]


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
