"""The border: whatever a person calls a clustering becomes `Labels` or `Memberships` here, and is checked only here."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from congruence import card
from congruence.frames import frame_kind
from congruence.statistics import Array, InputError, label_order

Unassigned = Literal["error", "drop", "singletons", "cluster", "partial"]
Align = Literal["index", "position"]
#: integers and strings are walked in pieces of this many, so that encoding needs no second copy of the input
CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class Labels:
    """Each of n points in one of k named clusters, or in none.

    Integers stay as they came (`values`) until somebody asks for `codes`: a single pair is counted without encoding.
    """

    values: Array | None
    encoded: tuple[Array, Array | tuple[Any, ...]] | None = None
    #: points in no cluster; their code is k
    gaps: int = 0
    index: Any = None
    title: str | None = None
    kind: str | None = None
    cautions: tuple[str, ...] = ()
    #: where the labels came on a CUDA card, their codes there; the host makes a copy only when it is asked for `codes`
    card: card.Codes | None = None
    soft = False
    #: is it a column that stays where it is and is read when it is counted (`cg.scan`)
    lazy = False
    #: labels are told apart by their tables, never by a digest
    digest = b""

    @cached_property
    def _encoded(self) -> tuple[Array, Array | tuple[Any, ...]]:
        if self.encoded is not None:
            return self.encoded
        if self.card is not None:
            return self.card.on_host(_code_type(self.k)), self.card.names
        assert self.values is not None
        return _encode_integers(self.values, *self.limits)

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
        """The clusters' own labels, sorted; code i is names[i]."""
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
        """The same clustering of these points only, in this order (clusters without a point are gone)."""
        codes = self.codes[points]
        present = np.bincount(codes, minlength=self.k + 1)[: self.k] > 0
        place = np.append(np.cumsum(present) - 1, present.sum())
        kept = _pick(self.names, np.flatnonzero(present))
        gaps = int((codes == self.k).sum())
        return replace(self._recoded(_smallest(place, int(present.sum()))[codes], kept, gaps), index=index)

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Labels:
        """Decide what becomes of the points in no cluster: missing values, and those labelled as noise."""
        if unassigned not in ("error", "drop", "singletons", "cluster", "partial"):
            raise InputError(f"unassigned must be 'error', 'drop', 'singletons' or 'cluster', not {unassigned!r}")
        labels = self._without_noise(noise)
        if labels.gaps == 0 or unassigned in ("drop", "partial"):
            return labels
        if unassigned == "error":
            raise unassigned_error(who, f"{labels.gaps} of {len(labels)} points")
        codes, names, k = labels.codes, labels.names, labels.k
        listed = _listed(names)
        word = "unassigned"
        while any(str(name).startswith(word) for name in listed):
            word += "′"
        if unassigned == "cluster":
            return labels._recoded(codes, (*listed, word), 0)
        wide = codes.astype(np.int64)
        wide[codes == k] = k + np.arange(labels.gaps)
        alone = tuple(f"{word} {i + 1}" for i in range(labels.gaps))
        codes = wide.astype(_code_type(k + labels.gaps))
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
        codes = _smallest(place, int(place[-1]))[self.codes]
        kept = _pick(self.names, np.flatnonzero(~is_noise))
        return self._recoded(codes, kept, int((codes == len(kept)).sum()))


def noise_caution(names: Any, who: str) -> list[str]:
    """A word of caution where −1 stands among non-negative labels: many tools write noise so."""
    if isinstance(names, np.ndarray):
        found = len(names) > 1 and names.dtype.kind == "i" and names[0] == -1
    else:
        numbers = [x for x in names if isinstance(x, int) and not isinstance(x, bool)]
        found = len(numbers) > 1 and min(numbers) == -1
    if not found:
        return []
    return [f"{who} has label −1 among others, counted as a cluster; if it means noise pass noise=-1"]


def _outside(x: Hashable, low: int, high: int) -> bool:
    try:
        return not low <= int(x) <= high  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return True


def _listed(names: Array | Sequence[Any]) -> list[Any]:
    return names.tolist() if isinstance(names, np.ndarray) else list(names)


def _pick(names: Array | tuple[Any, ...], keep: Array) -> Array | tuple[Any, ...]:
    return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)


def _code_type(k: int) -> Any:
    """The smallest type that holds the codes 0 … k."""
    return np.uint8 if k <= 0xFF else np.uint16 if k <= 0xFFFF else np.int32


def _smallest(codes: Array, k: int) -> Array:
    return codes.astype(_code_type(k))


# --- encoding ---------------------------------------------------------------------------------------------------


def _encode_integers(values: Array, low: int, high: int) -> tuple[Array, Array]:
    """Codes by a table over the range of the values; by hashing where the range is much wider than the data."""
    span = high - low + 1
    if span > max(4 * len(values), 1 << 16):
        hashed, found, _ = _encode_arrow(_arrow().array(values))
        return hashed, np.asarray(found, dtype=values.dtype)
    present = np.zeros(span, dtype=bool)
    for start in range(0, len(values), CHUNK):
        present[above(values[start : start + CHUNK], low)] = True
    names = np.flatnonzero(present)
    place = _smallest(np.cumsum(present) - 1, len(names))
    codes = np.empty(len(values), dtype=place.dtype)
    for start in range(0, len(values), CHUNK):
        piece, where = codes[start : start + CHUNK], above(values[start : start + CHUNK], low)
        if len(names) == span:  # every label from the lowest to the highest is there: it is its own place
            piece[:] = where
        else:
            np.take(place, where, out=piece)
    return codes, shifted(names, low)


def shifted(offsets: Array, low: int) -> Array:
    """Labels from their distances to the lowest; unsigned where they do not fit in int64."""
    if low + len(offsets) and low + int(offsets.max(initial=0)) > np.iinfo(np.int64).max:
        return offsets.astype(np.uint64) + np.uint64(low)
    return offsets + low


def above(values: Array, low: int) -> Array:
    """How far each value is above the lowest, as int64; narrow types are widened first, so that nothing wraps around."""
    if values.dtype == np.uint64:
        return (values - np.uint64(low)).astype(np.int64)
    return values.astype(np.int64) - low


def _arrow() -> Any:
    import pyarrow

    return pyarrow


def _encode_arrow(array: Any) -> tuple[Array, Array | tuple[Any, ...], int]:
    """Codes, sorted names and number of nulls of an arrow array of any type that can be hashed."""
    pa = _arrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries() if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):
            array = array.chunk(0) if array.num_chunks else pa.array([], type=array.type)
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    _refuse_type(array.type.value_type)
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
    codes = _smallest(place, len(kept))[raw]
    return codes, _named([listed[i] for i in order]), int((codes == len(kept)).sum())


def _named(names: list[Any]) -> Array | tuple[Any, ...]:
    """Names of clusters as an integer array where they are that, else as a tuple."""
    if names and all(type(x) is int for x in names):
        for kind in (np.int64, np.uint64):
            if np.iinfo(kind).min <= names[0] and names[-1] <= np.iinfo(kind).max:
                return np.array(names, dtype=kind)
    return tuple(names)


def _refuse_type(kind: Any) -> None:
    pa = _arrow()
    if pa.types.is_temporal(kind):
        raise InputError(
            f"labels of type {kind} look like dates, not clusters; convert them to strings if they are labels"
        )
    if pa.types.is_nested(kind):
        raise InputError(
            f"labels of type {kind} hold lists; give one label a point, or memberships as a 2-D float array"
        )


def _encode_text(values: Array) -> tuple[Array, tuple[Any, ...]]:
    """Codes of numpy strings: hashed as they lie in memory, without making a string of each."""
    pa = _arrow()
    kind = pa.binary(values.dtype.itemsize)
    array = pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values.view(np.uint8))]).dictionary_encode()
    names = np.frombuffer(b"".join(array.dictionary.to_pylist()), dtype=values.dtype).tolist()
    order = label_order(names)
    rank = np.empty(len(names), dtype=np.int64)
    rank[order] = np.arange(len(names))
    return _smallest(rank, len(names))[array.indices.to_numpy()], tuple(names[i] for i in order)


def _encode_objects(values: Sequence[Any]) -> tuple[Array, Array | tuple[Any, ...], int]:
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
    coded = _smallest(rank, len(names))[codes]
    return coded, _named([names[i] for i in order]), int((codes < 0).sum())


def _labels_from_numpy(values: Array, who: str, **facts: Any) -> Labels:
    """Labels from a 1-D numpy array of any type."""
    kind = values.dtype.kind
    if len(values) == 0:
        raise InputError(f"{who}: there are no points (an empty array was given)")
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if kind in "iu":
        return Labels(values, **facts)
    if kind == "b":
        codes, numbers = _encode_integers(values.view(np.uint8), 0, 1)
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
        return Labels(None, _encode_text(np.ascontiguousarray(values)), **facts)
    pa = _arrow()
    # arrow would make one type of mixed ones (2⁶⁰ and NaN would both be floats): those are told apart one by one
    one_type = len({type(x) for x in values.tolist()} - {type(None)}) == 1
    if one_type:
        try:
            return _labels_from_arrow(pa.array(values, from_pandas=True), who, **facts)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            pass
    codes, names, gaps = _encode_objects(values.tolist())
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
        codes = np.full(len(values), whole.k, dtype=_code_type(whole.k))
        codes[~missing] = whole.codes
        return Labels(None, (codes, whole.names), gaps, **facts)
    codes, names, gaps = _encode_arrow(_arrow().array(values, from_pandas=True))
    if len(names) > 2 * len(values) ** 0.5:
        warnings.warn(
            f"{who}: {len(names)} different fractional values in {len(values)} points look like measurements, not labels",
            stacklevel=6,
        )
    return Labels(None, (codes, names), gaps, **facts)


def _labels_from_arrow(array: Any, who: str, **facts: Any) -> Labels:
    pa = _arrow()
    if len(array) == 0:
        raise InputError(f"{who}: there are no points (an empty array was given)")
    if pa.types.is_null(array.type):
        return Labels(None, (np.zeros(len(array), dtype=np.uint8), ()), len(array), **facts)
    numeric = pa.types.is_integer(array.type) or pa.types.is_floating(array.type)
    if numeric and (array.null_count == 0 or pa.types.is_floating(array.type)):
        chunk = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
        if isinstance(chunk, pa.ChunkedArray):
            return _labels_from_numpy(chunk.to_numpy(), who, **facts)
        return _labels_from_numpy(chunk.to_numpy(zero_copy_only=False), who, **facts)
    _refuse_type(array.type)
    codes, names, gaps = _encode_arrow(array)
    return Labels(None, (codes, names), gaps, **facts)


# --- memberships ------------------------------------------------------------------------------------------------


class Memberships:
    """Says that a 2-D array holds memberships: n points × k clusters, fuzzy, probabilistic or possibilistic.

    >>> import congruence as cg
    >>> u = cg.Memberships([[0.9, 0.1], [0.2, 0.8]])
    >>> len(u), u.k, u.is_probabilistic
    (2, 2, True)
    """

    soft = True
    lazy = False
    gaps = 0

    def __init__(self, memberships: Any, names: Sequence[Any] | None = None, *, who: str = "memberships") -> None:
        #: the same numbers on a CUDA card, where they came from there
        self.card = card.array(memberships).astype(np.float64) if card.is_on_card(memberships) else None
        data, index, title, kind, columns = _unwrap_2d(memberships)
        sparse = hasattr(data, "tocsr")
        matrix: Any = data.tocsr().astype(np.float64) if sparse else np.asarray(data)
        if not sparse:
            if matrix.dtype.kind not in "fiub":
                raise InputError(f"{who}: memberships must be numbers, not {matrix.dtype}")
            matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        if matrix.ndim != 2:
            raise InputError(f"{who}: memberships must be a 2-D array, points × clusters, not {matrix.ndim}-D")
        if 0 in matrix.shape:
            raise InputError(f"{who}: there are no points (memberships of shape {matrix.shape} were given)")
        self.index, self.title, self.kind = index, title, kind
        self.cautions: tuple[str, ...] = ()
        cells = matrix.data if sparse else matrix
        self._check(matrix, cells, sparse, who)
        used = np.asarray(matrix.sum(axis=0)).ravel() > 0
        listed = list(names if names is not None else columns if columns is not None else range(matrix.shape[1]))
        if len(listed) != matrix.shape[1]:
            raise InputError(f"{who}: {len(listed)} names for {matrix.shape[1]} clusters")
        if not used.all():
            empty = ", ".join(str(listed[i]) for i in np.flatnonzero(~used)[:5])
            self.cautions += (f"{who}: clusters without any membership were dropped: {empty}",)
            matrix = matrix[:, np.flatnonzero(used)]
            self.card = self.card[:, np.flatnonzero(used)] if self.card is not None else None
        self.matrix = matrix
        self.names: tuple[Any, ...] = tuple(listed[i] for i in np.flatnonzero(used))

    @staticmethod
    def _check(matrix: Any, cells: Array, sparse: bool, who: str) -> None:
        def where(bad: Array) -> str:
            first = int(np.flatnonzero(bad.ravel())[0])
            row, col = (x[first] for x in matrix.tocoo().coords) if sparse else np.unravel_index(first, matrix.shape)
            return f"row {row}, column {col} is {cells.ravel()[first]:.6g}"

        if np.isnan(cells).any():
            raise InputError(
                f"{who}: memberships may not be missing ({where(np.isnan(cells))}); drop those points first"
            )
        if (cells < 0).any():
            raise InputError(f"{who}: memberships may not be negative ({where(cells < 0)})")
        if (cells > 1 + 1e-6).any():
            raise InputError(
                f"{who}: memberships may not exceed 1 ({where(cells > 1 + 1e-6)}); divide rows by their sums"
            )
        total = np.asarray(matrix.sum(axis=1)).ravel()
        if (total == 0).any():
            raise InputError(
                f"{who}: row {int(np.flatnonzero(total == 0)[0])} of the memberships is all zero "
                f"({int((total == 0).sum())} such rows); drop those points, or give them a cluster of their own"
            )

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def is_probabilistic(self) -> bool:
        """Do the memberships of each point add up to 1?"""
        return bool(np.allclose(np.asarray(self.matrix.sum(axis=1)).ravel(), 1.0, atol=1e-6))

    @cached_property
    def is_crisp(self) -> bool:
        """Is every point wholly in one cluster?"""
        cells = self.matrix.data if hasattr(self.matrix, "tocsr") else self.matrix
        return bool(((cells == 0) | (cells == 1)).all() and (np.asarray(self.matrix.sum(axis=1)) == 1).all())

    @cached_property
    def digest(self) -> bytes:
        """The same for the same memberships, whatever the order of their columns."""
        from hashlib import blake2b

        columns = self.matrix.tocsc() if hasattr(self.matrix, "tocsc") else self.matrix
        hashes = [
            blake2b(np.ascontiguousarray(_dense(columns[:, [j]])).tobytes(), digest_size=16).digest()
            for j in range(self.k)
        ]
        return b"".join(sorted(hashes))

    def dense(self, points: slice = slice(None)) -> Array:
        """Rows of the memberships as a dense array."""
        return _dense(self.matrix[points])

    def taken(self, points: Array, index: Any = None) -> Memberships:
        """The memberships of these points only, in this order."""
        part = Memberships(self.matrix[points], self.names)
        part.index, part.title, part.kind = index, self.title, self.kind
        part.cautions = self.cautions + part.cautions
        return part

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Memberships:
        """Memberships have no unassigned points; the policy is not asked for."""
        return self


def _dense(matrix: Any) -> Array:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)


class Similarity:
    """Says that a square array holds similarities of points with points: a consensus matrix, a kernel, a graph.

    Takes numpy arrays and memory maps, scipy.sparse, frames, and anything with a shape that can be sliced in two
    dimensions. It is checked for NaN and symmetry at once, or, if it is large, as its blocks are read.

    >>> import congruence as cg
    >>> m = cg.Similarity([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    >>> len(m), round(cg.certainty(m), 4)
    (3, 0.4)
    """

    #: entries above which a matrix is checked block by block while it is used, not when it is wrapped
    CHECKED_AT_ONCE = 25_000_000

    def __init__(self, matrix: Any, *, tolerance: float = 1e-8, who: str = "matrix") -> None:
        self.index = None
        self.who, self.tolerance = who, tolerance
        self.low, self.high = np.inf, -np.inf
        #: of a Dask array: where its blocks are summed
        self.client: Any = None
        if _is_frame(matrix) or isinstance(matrix, list | tuple):
            matrix, self.index, *_ = _unwrap_2d(matrix)
        self.is_sparse = _is_sparse(matrix)
        self.matrix: Any = matrix.tocsr() if self.is_sparse else matrix
        shape = getattr(self.matrix, "shape", None)
        if shape is None or len(shape) != 2 or shape[0] != shape[1] or 0 in shape:
            raise InputError(f"{who}: a similarity matrix is square, points × points; got shape {shape}")
        self.checked = False
        if self.is_sparse:
            self._check_sparse()
        elif is_dask_array(self.matrix):
            pass  # checked where its blocks are
        elif len(self) ** 2 <= self.CHECKED_AT_ONCE and not isinstance(self.matrix, np.memmap):
            self.matrix = np.asarray(self._read(slice(None), slice(None)))
            self.checked_block(slice(None), slice(None))
            self.checked = True

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def is_unit(self) -> bool:
        """Are all entries seen so far between 0 and 1?"""
        return bool(self.low >= -1e-9 and self.high <= 1 + 1e-6)

    def _read(self, rows: slice, cols: slice) -> Array:
        block = self.matrix[rows, cols]
        if hasattr(block, "toarray"):
            block = block.toarray()
        elif not isinstance(block, np.ndarray) and hasattr(block, "__dlpack__"):
            block = _from_dlpack(block)
        block = np.asarray(block)
        if block.dtype.kind not in "fiub":
            raise InputError(f"{self.who}: similarities must be numbers, not {block.dtype}")
        return block.astype(np.float64, copy=False)

    def checked_block(self, rows: slice, cols: slice) -> Array:
        """The entries of these rows and columns, as floats; held against their mirror image if that is still to do."""
        block = self._read(rows, cols)
        if self.checked:
            return block
        start, left = rows.indices(len(self))[0], cols.indices(len(self))[0]
        mirror = self._read(cols, rows).T
        for part, first, second in ((block, start, left), (mirror.T, left, start)):
            bad = ~np.isfinite(part)
            if bad.any():
                i, j = np.argwhere(bad)[0]
                raise InputError(
                    f"{self.who}: the entry at row {first + i}, column {second + j} is {_not_a_number(part[i, j])}"
                )
        gap = np.abs(block - mirror)
        if (gap > self.tolerance).any():
            i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
            raise InputError(
                f"{self.who} is not symmetric: entries ({start + i}, {left + j}) and ({left + j}, {start + i}) differ by "
                f"{gap[i, j]:.3g}; pass (M + M.T) / 2 if that is what is meant"
            )
        self.low, self.high = min(self.low, float(block.min())), max(self.high, float(block.max()))
        return block

    def _check_sparse(self) -> None:
        data = self.matrix.data
        if data.dtype.kind not in "fiub":
            raise InputError(f"{self.who}: similarities must be numbers, not {data.dtype}")
        self.matrix = self.matrix.astype(np.float64)
        self.matrix.sum_duplicates()
        bad = ~np.isfinite(self.matrix.data)
        if bad.any():
            where = int(np.flatnonzero(bad)[0])
            i, j = (x[where] for x in self.matrix.tocoo().coords)
            raise InputError(
                f"{self.who}: the entry at row {i}, column {j} is {_not_a_number(self.matrix.data[where])}"
            )
        gap = abs(self.matrix - self.matrix.T).tocoo()
        if gap.nnz and gap.data.max() > self.tolerance:
            worst = int(np.argmax(gap.data))
            i, j = (x[worst] for x in gap.coords)
            raise InputError(
                f"{self.who} is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by {gap.data[worst]:.3g}; "
                "pass (M + M.T) / 2 if that is what is meant"
            )
        self.low = min(0.0, float(self.matrix.data.min(initial=0.0)))
        self.high = max(0.0, float(self.matrix.data.max(initial=0.0)))
        self.checked = True


def is_dask_array(x: Any) -> bool:
    """Is it an array of Dask?"""
    return type(x).__module__.startswith("dask.") and hasattr(x, "chunks")


def _not_a_number(x: float) -> str:
    return "missing (NaN)" if np.isnan(x) else "infinite"


Clustering = Labels | Memberships


# --- what people pass in ----------------------------------------------------------------------------------------


def _from_dlpack(data: Any) -> Array:
    """A numpy view (or, from another device, a copy) of an array that speaks DLPack."""
    if card.is_on_card(data):
        return np.asarray(card.array(data).get())
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


def _is_frame(data: Any) -> bool:
    return hasattr(data, "columns") and frame_kind(data) is not None


def _is_sparse(data: Any) -> bool:
    return hasattr(data, "tocsr") and hasattr(data, "nnz")


def _unwrap_2d(data: Any) -> tuple[Any, Any, str | None, str | None, Sequence[Any] | None]:
    """(matrix, index, name, frame kind, column names) of a 2-D thing."""
    if _is_frame(data):
        kind = frame_kind(data)
        names = list(data.column_names) if kind == "pyarrow" else list(data.columns)
        if kind == "pyarrow":
            matrix = np.column_stack([c.to_numpy() for c in data.columns]) if names else np.empty((0, 0))
        else:
            matrix = data.to_numpy()
        return matrix, getattr(data, "index", None), None, kind, names
    if _is_sparse(data):
        return data, None, None, None, None
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        data = _from_dlpack(data)
    return np.asarray(data), None, None, None, None


def as_clustering(data: Any, who: str = "labels") -> Clustering:
    """One clustering from anything that is one: labels in one dimension, memberships in two.

    >>> as_clustering(["b", "a", "b"]).codes.tolist()
    [1, 0, 1]
    """
    if isinstance(data, Labels | Memberships):
        return data
    if hasattr(data, "obs"):
        raise InputError(f"{who}: pass one column of it, as in x.obs['leiden']")
    if _is_sparse(data):  # before mappings: some sparse formats are dictionaries too
        return Memberships(data, who=who)
    readable = any(hasattr(data, name) for name in ("__len__", "__dlpack__", "__array__"))
    if isinstance(data, str | bytes | Mapping | set | frozenset) or not readable:
        raise InputError(f"{who}: expected one label a point (a list, array or series), got {type(data).__name__}")
    if _is_frame(data):
        return _clustering_from_frame(data, who)
    kind = frame_kind(data)
    if kind is not None:
        return _labels_from_series(data, kind, who)
    if card.is_on_card(data):
        return _clustering_from_card(data, who)
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        data = _from_dlpack(data)
    return _clustering_from_array(_as_array(data, who), who)


def _clustering_from_card(data: Any, who: str) -> Clustering:
    """Integers stay on the card; memberships keep their copy there; all else is read as from the host."""
    values = card.array(data)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1 and values.size:
        codes = card.encoded(values[:, None])[0]
        if codes is not None:
            return Labels(None, card=codes)
    if values.ndim == 2 and values.dtype.kind in "fb":
        return Memberships(values, who=who)
    return _clustering_from_array(values.get(), who)


def _as_array(data: Any, who: str) -> Array:
    """A numpy array; a list keeps the labels it holds (1 and '1' stay different)."""
    if isinstance(data, np.ma.MaskedArray):
        unmasked = data.data.astype(object)
        unmasked[np.ma.getmaskarray(data)] = None
        return np.asarray(unmasked)
    if isinstance(data, np.ndarray):
        return data
    listed = list(data)
    if not listed:
        raise InputError(f"{who}: there are no points (an empty {type(data).__name__} was given)")
    types = {type(x) for x in listed}
    if types & {list, tuple, np.ndarray}:
        try:
            return np.asarray(listed)
        except ValueError:
            raise InputError(f"{who}: a list of lists of different lengths is neither labels nor memberships") from None
    whole = [x for x in listed if type(x) is int] if types <= {float, int} else []
    exact = not whole or max(map(abs, (min(whole), max(whole)))) < (2**63 if float not in types else 2**53)
    if exact and (types <= {float, int} or types <= {bool}):
        return np.asarray(listed)
    plain = np.empty(len(listed), dtype=object)
    plain[:] = listed
    return plain


def _clustering_from_array(array: Array, who: str) -> Clustering:
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 1:
        return _labels_from_numpy(array, who)
    if array.ndim == 2:
        if array.dtype.kind in "fb":
            return Memberships(array, who=who)
        raise InputError(
            f"{who}: a 2-D array of {_kind_name(array)} ({array.shape[0]} × {array.shape[1]}) is not one clustering; for "
            "columns of labels use compare_all, for memberships pass floats or cg.Memberships(…)"
        )
    raise InputError(
        f"{who}: expected 1-D labels or 2-D memberships, got a {array.ndim}-D array of shape {array.shape}"
    )


def _kind_name(array: Array) -> str:
    return {"i": "integers", "u": "integers", "U": "strings", "O": "objects"}.get(array.dtype.kind, str(array.dtype))


def _clustering_from_frame(data: Any, who: str) -> Clustering:
    columns = list(data.column_names) if frame_kind(data) == "pyarrow" else list(data.columns)
    if len(columns) == 1:
        return as_clustering(data[columns[0]], who)
    matrix, index, _, kind, names = _unwrap_2d(data)
    if matrix.dtype.kind != "f":
        raise InputError(
            f"{who}: a frame of {len(columns)} columns is not one clustering; for columns of labels use compare_all, or "
            f"pick one: {', '.join(map(str, columns[:5]))}"
        )
    memberships = Memberships(matrix, names, who=who)
    memberships.index, memberships.kind = index, kind
    return memberships


def _labels_from_series(data: Any, kind: str, who: str) -> Labels:
    """Labels from a pandas, polars or arrow column; categories keep their names, unused ones vanish."""
    if kind == "pyarrow":
        return _labels_from_arrow(data, who, kind=kind)
    title = str(data.name) if getattr(data, "name", None) not in (None, "") else None
    facts = {"title": title, "kind": kind, "index": getattr(data, "index", None)}
    if getattr(data, "ndim", 1) != 1:
        raise InputError(f"{who}: expected 1-D labels, got {data.ndim}-D")
    dtype: Any = getattr(data, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "biufcmM":
        return _labels_from_numpy(data.to_numpy(), who, **facts)
    if kind == "pandas" and hasattr(dtype, "categories"):
        source = data.cat if hasattr(data, "cat") else data  # a series, or a bare Categorical
        return _labels_from_categories(np.asarray(source.codes), list(dtype.categories), facts)
    pa = _arrow()
    try:
        array = data.to_arrow() if hasattr(data, "to_arrow") else pa.Array.from_pandas(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return _labels_from_numpy(data.to_numpy(dtype=object), who, **facts)
    return _labels_from_arrow(array, who, **facts)


def _labels_from_categories(codes: Array, categories: list[Any], facts: dict[str, Any]) -> Labels:
    """Labels from pandas categories, of any type; a code of −1 is a missing value."""
    plain = [x.item() if isinstance(x, np.generic) else x for x in categories]
    order = label_order(plain)
    rank = np.full(len(plain) + 1, len(plain), dtype=np.int64)
    rank[order] = np.arange(len(plain))
    whole = Labels(None, (rank[codes], _named([plain[i] for i in order])), **facts)
    return whole.taken(np.arange(len(codes)), facts.get("index"))


# --- several clusterings of the same points ---------------------------------------------------------------------


#: in place of the number of points of scanned columns, which may not be known before they are counted
SCANNED = -1


@dataclass(frozen=True)
class Mass:
    """How much each point counts: importance weights, or whole-number frequencies."""

    values: Array
    is_frequency: bool


def as_mass(sample_weight: Any, frequency: Any, n: int, index: Any = None, align: Align | None = None) -> Mass | None:
    """Checked weights, or None where every point counts once; a series follows the index of the clusterings."""
    if sample_weight is None and frequency is None:
        return None
    if sample_weight is not None and frequency is not None:
        raise InputError("pass sample_weight (importance) or frequency (counts), not both")
    name, given = ("sample_weight", sample_weight) if frequency is None else ("frequency", frequency)
    if n == SCANNED or getattr(given, "lazy", False):
        if n != SCANNED or not getattr(given, "lazy", False):
            raise InputError(
                f"{name} of scanned columns is a column of the same scan, as in s['weight'], and of no other"
            )
        return Mass(given, frequency is not None)
    own_index = getattr(given, "index", None) if frame_kind(given) == "pandas" else None
    if own_index is not None and align == "index" and not own_index.is_unique:
        raise InputError(f"the index of {name} has repeated values; align='index' needs one weight an element")
    if own_index is not None and index is not None and align != "position" and not own_index.equals(index):
        if align != "index" or not index.isin(own_index).all():
            raise InputError(f"the index of {name} differs from that of the clusterings; give it the same one")
        given = given.reindex(index)
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, one a point") from None
    if values.shape != (n,):
        raise InputError(f"{name} has shape {values.shape}, but there are {n} points")
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"{name} must be finite and not negative")
    if not values.any():
        raise InputError(f"{name} is 0 for every point")
    if frequency is None:
        return Mass(values, False)
    if (values != np.rint(values)).any():
        raise InputError(
            "frequency must be whole numbers (how often each point occurs); for importance use sample_weight"
        )
    return Mass(values.astype(np.int64), True)


def aligned(
    clusterings: Sequence[Clustering], align: Align | None, who: Sequence[str]
) -> tuple[list[Clustering], list[str]]:
    """The clusterings on the same points in the same order, and notes on what was left out."""
    if align not in (None, "index", "position"):
        raise InputError(f"align must be 'index' or 'position', not {align!r}")
    if any(c.lazy for c in clusterings):
        return _of_one_scan(clusterings, who), []
    indexed = [(i, c) for i, c in enumerate(clusterings) if c.index is not None]
    if align == "index":
        if len(indexed) < len(clusterings):
            bare = next(w for c, w in zip(clusterings, who, strict=True) if c.index is None)
            raise InputError(f"align='index' needs an index on every clustering, and {bare} has none")
        return _on_common_index(clusterings, who)
    if align is None and len(indexed) > 1:
        (first, a), *others = indexed
        for i, b in others:
            if not a.index.equals(b.index):
                same = len(a) == len(b) and set(a.index) == set(b.index)
                how = "hold the same elements in another order" if same else "differ"
                raise InputError(
                    f"the indexes of {who[first]} and {who[i]} {how}; pass align='index' to compare common elements, or "
                    "align='position' to ignore the indexes"
                )
    lengths = [len(c) for c in clusterings]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise InputError(
                f"{who[0]} and {who[i]} have {lengths[0]} and {length} elements; both must label the same points "
                "(pandas: pass align='index' to compare common elements)"
            )
    return list(clusterings), []


def _of_one_scan(clusterings: Sequence[Any], who: Sequence[str]) -> list[Clustering]:
    """Columns that are read together: rows of different sources cannot be told to be the same points."""
    first = next(c for c in clusterings if c.lazy)
    for c, name in zip(clusterings, who, strict=True):
        if not c.lazy:
            raise InputError(
                f"{name} is in memory and {first.name!r} is scanned; put both into one source, or read both"
            )
        if c.source != first.source and not getattr(first.source, "same_rows", lambda other: False)(c.source):
            raise InputError(
                f"{first.name!r} and {c.name!r} are of two different sources; columns are compared row by row within one: "
                "write them to one table first"
            )
    return list(clusterings)


def _on_common_index(clusterings: Sequence[Clustering], who: Sequence[str]) -> tuple[list[Clustering], list[str]]:
    for c, name in zip(clusterings, who, strict=True):
        if not c.index.is_unique:
            raise InputError(f"align='index' needs an index without repeated values, and that of {name} has some")
    common = clusterings[0].index
    for c in clusterings[1:]:
        if not common.equals(c.index):
            common = common[common.isin(c.index)]
    if len(common) == 0:
        raise InputError(f"the indexes of {who[0]} and {who[-1]} have no element in common")
    notes = [
        f"{len(c) - len(common)} elements of {name} are not in all clusterings and were left out"
        for c, name in zip(clusterings, who, strict=True)
        if len(c) > len(common)
    ]
    chosen = []
    for c in clusterings:
        if not c.index.equals(common):
            c = c.taken(np.asarray(c.index.get_indexer(common)), common)
        chosen.append(c)
    return chosen, notes


def noise_for(noise: Any, column: Iterable[str | None]) -> Collection[Hashable] | None:
    """The noise labels that apply to a column: a scalar or a set for all, or a mapping column → labels."""
    if noise is None:
        return None
    if isinstance(noise, Mapping):
        for name in column:
            if name is not None and name in noise:
                return noise_for(noise[name], ())
        return None
    if isinstance(noise, Iterable) and not isinstance(noise, str | bytes):
        return frozenset(x.item() if isinstance(x, np.generic) else x for x in noise)
    return frozenset([noise])


def unassigned_error(who: str, many: str) -> InputError:
    """What is said of points without a label where nothing was said of how they count."""
    found = f"{who}: {many} are unassigned (missing, or named as noise); pass"
    return InputError(
        f"{found} unassigned='drop', 'singletons' or 'cluster' to say how they count (in an ensemble: 'partial')",
        f"{found} --unassigned drop, singletons or cluster to say how they count (in an ensemble: --partial)",
    )


def check_index(clustering: Any, X: Any, who: str, of: str = "the data") -> None:
    """Refuse to take rows by their place where both sides have an index and the two differ."""
    index: Any = None if X is None or frame_kind(X) not in (None, "pandas") else getattr(X, "index", None)
    if clustering.index is not None and hasattr(index, "equals") and not index.equals(clustering.index):
        raise InputError(
            f"the index of {who} differs from that of {of}; reindex one of them, or pass bare values by .to_numpy()"
        )


def check_noise(noise: Any, columns: Iterable[str | None]) -> None:
    """A mapping of noise labels must name columns that are there."""
    if isinstance(noise, Mapping):
        known = list(dict.fromkeys(name for name in columns if name is not None))
        for name in noise:
            if name not in known:
                raise InputError(
                    f"noise names a column {name!r} that is not there; the columns are: {', '.join(known[:8])}"
                )
