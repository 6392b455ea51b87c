"""Kinds of input, and hard clusterings: one label per point, validated and encoded once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, TypeGuard, TypeVar

import numpy as np

from congruence.errors import Call, Caution, InputError, Option, some_of
from congruence.inputs.column_names import label_of_noise
from congruence.inputs.encoding import arrow_library, encode_arrow
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.machine import device, jit
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, ClusterNames, code_type, smallest
from congruence.typing import ColumnLike, DeviceArray, Frame, Index, Label, Record, SparseMatrix

T = TypeVar("T")

#: points that a thread reads at a time
PIECE = 1 << 22

#: points that numpy reads at a time, so that it needs no second copy of the input
CHUNK = 1 << 16

#: libraries that frames can be created with
FRAMES = ("pandas", "polars", "pyarrow", "modin", "cudf")


def frame_kind(data: object) -> str | None:
    """Which library a frame or series comes from, if any: 'pandas', 'polars', 'pyarrow', …; a scalar is neither."""
    if type(data) is np.ndarray:
        return None
    root = type(data).__module__.split(".")[0]
    several = any(hasattr(data, name) for name in ("__len__", "collect", "read_all")) and not hasattr(data, "as_py")
    return root if root in FRAMES and several else None


def in_memory(data: object) -> Frame:
    """Convert a frame, series or array of another library to one that is read directly; other values are unchanged.

    Lazy polars frames are collected, Dask frames computed, xarray data become pandas or numpy; DuckDB relations, record batch
    readers and everything else with `__arrow_c_stream__` become arrow tables.
    """
    root = type(data).__module__.split(".")[0]
    frame: Frame = data
    if root == "polars":
        return frame.collect() if hasattr(data, "collect") else data
    if root == "pyarrow":
        return frame.read_all() if hasattr(data, "read_all") else data
    if root == "narwhals":
        return in_memory(frame.to_native())
    if root == "xarray":
        return frame.to_dataframe().reset_index(drop=True) if hasattr(data, "data_vars") else frame.to_numpy()
    if root in ("dask", "dask_expr") and hasattr(data, "npartitions") and hasattr(data, "_meta"):
        return frame.compute()
    if root not in FRAMES and hasattr(data, "__arrow_c_stream__") and not isinstance(data, type):
        import pyarrow as pa

        # Spark streams through Python workers, which must have pyarrow; `toArrow` needs none
        return frame.toArrow() if hasattr(data, "toArrow") else pa.table(data)
    return data


def from_dlpack(data: DeviceArray) -> Array:
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


def is_frame(data: object) -> bool:
    """Whether it is a data frame of pandas, polars or arrow."""
    return hasattr(data, "columns") and frame_kind(data) is not None


def names_of_columns(frame: Frame) -> list[Label]:
    """The names of the columns of a data frame of any library."""
    return list(frame.column_names if frame_kind(frame) == "pyarrow" else frame.columns)


def is_sparse(data: object) -> bool:
    """Whether it is a scipy sparse matrix."""
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def is_mapping(data: object) -> TypeGuard[Mapping[Label, ColumnLike]]:
    """Whether it maps names to values; a sparse matrix in a dictionary, or a dataset of xarray, is an array."""
    return isinstance(data, Mapping) and not is_sparse(data) and not type(data).__module__.startswith("xarray")


# --- one label per point ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Labels(Clustering):
    """Each of n points in one of k named clusters, or in none.

    Integers are kept as `values` and encoded when `codes` is first used: a single pair is counted without encoding.
    """

    values: Array | None
    encoded: tuple[Array, ClusterNames] | None = None
    #: points in no cluster; their code is k
    gaps: int = 0
    index: Index = None
    title: str | None = None
    kind: str | None = None
    cautions: tuple[Caution, ...] = ()
    #: codes on the GPU, for labels given there; they are copied to the host when `codes` is first used
    card: device.Codes | None = None
    what: ClassVar[str] = "labels"
    is_crisp = is_probabilistic = True
    digest = b""

    @cached_property
    def _encoded(self) -> tuple[Array, ClusterNames]:
        if self.encoded is not None:
            return self.encoded
        if self.card is not None:
            return self.card.on_host(code_type(self.k)), self.card.names
        assert self.values is not None
        if self._coding is not None:
            return self._coding.codes(self.values), self._coding.names
        hashed, found, _ = encode_arrow(arrow_library().array(self.values))
        return hashed, np.asarray(found, dtype=self.values.dtype)

    @cached_property
    def _coding(self) -> Coding | None:
        """How raw integers are encoded; None for other labels, and for integers of a wide range."""
        return None if self.values is None else coding_of(self.values)

    @cached_property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest of the raw integers."""
        assert self.values is not None
        return limits_of(self.values)

    @property
    def codes(self) -> Array:
        """0 … k−1 in the smallest unsigned type (int32 above 65,536), and k for a point in no cluster."""
        return self._encoded[0]

    @property
    def names(self) -> ClusterNames:
        """The labels of the clusters, sorted; code i means names[i]."""
        if self.card is not None:
            return self.card.names
        return self._coding.names if self._coding is not None else self._encoded[1]

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @property
    def sizes(self) -> Array | None:
        """Number of points per cluster if they were counted during encoding, else None."""
        if self.card is not None:
            return np.asarray(self.card.sizes)
        return None if self._coding is None else self._coding.sizes

    def fill(self, piece: slice, codes: Array) -> None:
        """Write the codes of a piece of the points; raw integers are encoded there, without codes of all points."""
        if self._coding is None or self.values is None or "_encoded" in vars(self):
            codes[:] = self.codes[piece]
        else:
            self._coding.fill(self.values[piece], codes)

    def __len__(self) -> int:
        if self.card is not None:
            return self.card.n
        source = self.values if self.values is not None else self.codes
        return len(source)

    def kept(self) -> Labels:
        """The same, with integers encoded now."""
        if self.values is not None:
            _ = self.codes
        return self

    def doubts(self, who: str, noise: Collection[Hashable] | None, names: ClusterNames | None = None) -> list[Caution]:
        """Cautions about −1 among other labels, and labels that differ only in spaces or capitals."""
        names = self.names if names is None else names
        return [*([] if noise is not None else noise_caution(names, who)), *spelling_caution(names, who)]

    def as_columns(self, name: str) -> Record:
        """The label of each point, None for points in no cluster."""
        return {name: np.array([*plain_names(self.names), None], dtype=object)[self.codes].tolist()}

    @property
    def in_none(self) -> Array:
        """Which points are in no cluster."""
        return np.asarray(self.codes == self.k)

    def repeated_outside(self, frequency: Array) -> int:
        """How many points in no cluster occur several times."""
        return int((frequency[self.in_none] > 1).sum())

    def dense(self, points: slice = slice(None)) -> Array:
        """1 for each of these points and its cluster, else 0."""
        codes = self.codes[points]
        rows = np.zeros((len(codes), self.k + (self.gaps > 0)))
        rows[np.arange(len(codes)), codes] = 1.0
        return rows[:, : self.k]

    def sparse(self) -> SparseMatrix:
        """The same of all points, as a CSR array."""
        from scipy.sparse import csr_array

        there = self.codes < self.k
        starts = np.concatenate([[0], np.cumsum(there)])
        return csr_array((np.ones(starts[-1]), self.codes[there], starts), shape=(len(self), self.k))

    def sums(self, weights: Array) -> tuple[Array, Array]:
        """1 for each point, and the weight of each cluster."""
        return np.ones(len(self)), np.bincount(self.codes, weights=weights, minlength=self.k)

    def together(self, rows: slice, cols: slice) -> tuple[Array, Array]:
        """For each of these points with each of those: whether they are in one cluster, and whether both are labelled."""
        a, b = self.codes[rows, None], self.codes[None, cols]
        both = (a < self.k) & (b < self.k)
        return (a == b) & both, both

    def pairwise(self, first: Array, second: Array) -> tuple[Array, Array]:
        """The same for the first and the second point of each pair."""
        a, b = self.codes[first], self.codes[second]
        both = (a < self.k) & (b < self.k)
        return (a == b) & both, both

    def _recoded(self, codes: Array, names: ClusterNames, gaps: int) -> Labels:
        return replace(self, values=None, card=None, encoded=(codes, names), gaps=gaps)

    def taken(self, points: Array, index: Index = None) -> Labels:
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
            raise keep_is_for_covers()
        labels = self._without_noise(noise)
        if labels.gaps == 0 or unassigned in ("drop", "partial"):
            return labels
        if unassigned == "error":
            raise unassigned_error(who, f"{labels.gaps} of {len(labels)} points")
        codes, names, k = labels.codes, labels.names, labels.k
        listed = plain_names(names)
        named = (*listed, *names_of_unassigned(listed, unassigned, labels.gaps))
        if unassigned == "cluster":
            return labels._recoded(codes, named, 0)
        wide = codes.astype(np.int64)
        wide[codes == k] = k + np.arange(labels.gaps)
        return labels._recoded(wide.astype(code_type(k + labels.gaps)), named, 0)

    def _without_noise(self, noise: Collection[Hashable] | None) -> Labels:
        if not noise:
            return self
        if self.values is not None and all(_outside(x, *self.limits) for x in noise):
            return self
        wanted = set(noise) | {str(x) for x in noise}
        is_noise = np.array([name in wanted or str(name) in wanted for name in plain_names(self.names)], dtype=bool)
        if not is_noise.any():
            return self
        place = np.append(np.cumsum(~is_noise) - 1, (~is_noise).sum())
        place[:-1][is_noise] = place[-1]
        codes = smallest(place, int(place[-1]))[self.codes]
        kept = _pick(self.names, np.flatnonzero(~is_noise))
        return self._recoded(codes, kept, int((codes == len(kept)).sum()))


def keep_is_for_covers() -> InputError:
    """The error for unassigned="keep" where there is no cover."""
    how = Option("unassigned", "keep")
    return InputError(f"{how} is for covers; for labels pass 'drop', 'singletons' or 'cluster'")


def names_of_unassigned(names: ClusterNames, rule: str, many: int) -> list[str]:
    """Names of the clusters of unassigned points beside these: "unassigned", with primes if a cluster has that name."""
    word = "unassigned"
    while any(str(name).startswith(word) for name in names):
        word += "′"
    return [Given(word)] if rule == "cluster" else [f"{word} {i + 1}" for i in range(many)]


class Given(str):
    """The name that points in no cluster got; no label was called so."""

    __slots__ = ()


def noise_caution(names: ClusterNames, who: str) -> list[Caution]:
    """A caution if −1 occurs among non-negative labels, as many tools write noise, or a label is a word for no cluster.

    >>> noise_caution(("0", "1", "singleton"), "a")
    ["a has label 'singleton' among others, counted as a cluster; if it means noise pass noise='singleton'"]
    """
    if isinstance(names, np.ndarray):
        word: object = -1 if len(names) > 1 and names.dtype.kind == "i" and names[0] == -1 else None
    else:
        word = label_of_noise(names)
    if word is None:
        return []
    shown = "−1" if word == -1 else repr(word)
    text = f"{{subject}} has label {shown} among others, counted as a cluster; if it means noise pass {Option('noise', word)}"
    return [Caution("noise_label", who, text)]


def spelling_caution(names: ClusterNames, who: str) -> list[Caution]:
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
    text = "{subject} has labels that differ only in spaces or capitals, counted as different clusters: "
    return [Caution("spelling", who, text + some_of(alike, 3))]


def _outside(x: Hashable, low: int, high: int) -> bool:
    try:
        return not low <= int(x) <= high  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return True


def _pick(names: ClusterNames, keep: Array) -> ClusterNames:
    return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)


#: what Python adds to the advice on unassigned points
IN_ENSEMBLE = " (in an ensemble: 'partial')"


def unassigned_error(who: str, many: str) -> InputError:
    """The error for unassigned points if no option says how they count."""
    return InputError(
        f"{who}: {many} are unassigned (missing, or named as noise); pass "
        f"{Option('unassigned', 'drop', 'singletons', 'cluster')} to say how they count"
        f"{Call(IN_ENSEMBLE, '')}",
        "no_label",
    )


# --- integers as codes ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coding:
    """The code of integer v is place[v − low]; names[c] is the integer of code c."""

    low: int
    names: Array
    place: Array
    #: number of points of each code, where they were counted
    sizes: Array | None

    @cached_property
    def _is_identity(self) -> bool:
        return len(self.names) > 0 and self.names[0] == 0 and self.names[-1] == len(self.names) - 1

    def fill(self, values: Array, codes: Array) -> None:
        """Write the codes of these integers."""
        if self._is_identity:
            np.copyto(codes, values, casting="unsafe")
        elif _compiles(values):
            jit.compiled(_recode)(values, self.low, self.place, codes)
        else:
            for start in range(0, len(values), CHUNK):
                piece = slice(start, start + CHUNK)
                codes[piece] = self.place[above(values[piece], self.low)]

    def codes(self, values: Array) -> Array:
        """The codes of these integers, as a new array."""
        codes = np.empty(len(values), dtype=code_type(len(self.names)))
        if _compiles(values):
            jit.compiled(_recode)  # once, before there are threads
        in_pieces(lambda piece: self.fill(values[piece], codes[piece]), len(values))
        return codes


def coding_of(values: Array) -> Coding | None:
    """How these integers are encoded, by a table over their range; None if that is much wider than the data."""
    n = len(values)
    if values.dtype.itemsize == 1 and n >= CHUNK:  # a table of all 256 values is cheaper than their range
        low, high = int(np.iinfo(values.dtype).min), int(np.iinfo(values.dtype).max)
    else:
        low, high = limits_of(values)
    span = high - low + 1
    if span > max(4 * n, CHUNK):
        return None
    sizes = None
    if _compiles(values) and 8 * span <= min(n, PIECE):
        count = jit.compiled(tally)
        counts = np.sum(in_pieces(lambda piece: count(values[piece], low, span), n), axis=0)
        present = counts > 0
        sizes = counts[present]
    else:
        present = np.zeros(span, dtype=bool)
        if _compiles(values):
            mark = jit.compiled(_mark)
            in_pieces(lambda piece: mark(values[piece], low, present), n)
        else:
            for start in range(0, n, CHUNK):
                present[above(values[start : start + CHUNK], low)] = True
    offsets = present.nonzero()[0]
    return Coding(low, shifted(offsets, low), smallest(present.cumsum() - 1, len(offsets)), sizes)


def limits_of(values: Array) -> tuple[int, int]:
    """Smallest and largest integer."""
    if len(values) <= PIECE:
        return int(np.minimum.reduce(values)), int(np.maximum.reduce(values))
    ends = in_pieces(lambda piece: (int(values[piece].min()), int(values[piece].max())), len(values))
    return min(low for low, _ in ends), max(high for _, high in ends)


def in_pieces(work: Callable[[slice], T], n: int) -> list[T]:
    """The results of the work on each piece of the points, on all cores if there are many points."""
    pieces = [slice(start, start + PIECE) for start in range(0, n, PIECE)]
    if len(pieces) == 1:
        return [work(pieces[0])]
    with ThreadPoolExecutor() as pool:
        return list(pool.map(work, pieces))


def _compiles(values: Array) -> bool:
    """Whether the compiled loops read these integers; numba has no common type for uint64 and an offset."""
    return values.dtype != np.uint64 and jit.use_kernels(len(values))


def tally(values: Array, low: int, span: int) -> Array:
    """How often each value from `low` on occurs; uses four counters in turn, so that stores do not wait."""
    sizes = np.zeros((4, span), np.int64)
    quads = len(values) // 4
    for quad in range(quads):
        p = np.uint64(4 * quad)
        sizes[0, np.uint64(values[p] - low)] += 1
        sizes[1, np.uint64(values[p + np.uint64(1)] - low)] += 1
        sizes[2, np.uint64(values[p + np.uint64(2)] - low)] += 1
        sizes[3, np.uint64(values[p + np.uint64(3)] - low)] += 1
    for rest in range(4 * quads, len(values)):
        sizes[0, np.uint64(values[rest] - low)] += 1
    total: Array = sizes.sum(axis=0)
    return total


def _mark(values: Array, low: int, present: Array) -> None:
    for p in range(len(values)):
        present[np.uint64(values[p] - low)] = True


def _recode(values: Array, low: int, place: Array, codes: Array) -> None:
    for p in range(len(values)):
        codes[p] = place[np.uint64(values[p] - low)]


def shifted(offsets: Array, low: int) -> Array:
    """Labels from their distances to the lowest, in order; unsigned if they do not fit in int64."""
    if len(offsets) and low + int(offsets[-1]) >= 2**63:
        return offsets.astype(np.uint64) + np.uint64(low)
    return offsets + low


def above(values: Array, low: int) -> Array:
    """How far each value is above the lowest, as int64; narrow types are widened first, so that nothing wraps around."""
    if values.dtype == np.uint64:
        return (values - np.uint64(low)).astype(np.int64)
    return values.astype(np.int64) - low
