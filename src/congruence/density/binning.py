"""Bins of attributes, fitted once and used on every side: equal width, equal frequency, or MDL against a clustering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from congruence.clustering import Labels, _from_dlpack, as_clustering
from congruence.engine import cpu
from congruence.frames import frame_kind
from congruence.registry import hint
from congruence.statistics import Array, Attribute, InputError

METHODS = ("width", "frequency", "mdl")
#: points that are binned and counted in one piece
CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class Columns:
    """A table of attributes: numbers (NaN where missing) or nominal values, encoded."""

    names: tuple[str, ...]
    columns: tuple[Array | Labels, ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def pieces(self, size: int = CHUNK) -> list[slice]:
        """Runs of points that are worked on one at a time."""
        return [slice(start, min(start + size, len(self))) for start in range(0, len(self), size)]

    def taken(self, points: Array) -> Columns:
        """The same attributes of these points only."""
        return Columns(self.names, tuple(c.taken(points) if isinstance(c, Labels) else c[points] for c in self.columns))

    def __add__(self, other: Columns) -> Columns:
        """The points of both, one after the other."""
        if self.names != other.names:
            odd = [n for n in (*self.names, *other.names) if (n in self.names) != (n in other.names)]
            what = f"{odd[0]!r} is on one side only" if odd else "they are in another order"
            raise InputError(f"both sides must have the same attributes: {what}")
        joined: list[Array | Labels] = []
        for name, one, two in zip(self.names, self.columns, other.columns, strict=True):
            if isinstance(one, Labels) != isinstance(two, Labels):
                raise InputError(
                    f"attribute {name!r} is numeric on one side and nominal on the other; make it one kind"
                )
            if isinstance(one, Labels) and isinstance(two, Labels):
                joined.append(encoded(np.concatenate([decoded(one), decoded(two)]), name))
            elif isinstance(one, np.ndarray) and isinstance(two, np.ndarray):
                joined.append(np.concatenate([one, two]))
        return Columns(self.names, tuple(joined))


def decoded(column: Labels) -> Array:
    """The values of a nominal column, None where missing."""
    names = np.empty(column.k + 1, dtype=object)
    names[:-1] = column.names.tolist() if isinstance(column.names, np.ndarray) else list(column.names)
    return names[column.codes]


def encoded(values: Any, name: str) -> Labels:
    """A nominal column from anything that labels can be made of."""
    found = as_clustering(values, f"attribute {name!r}")
    assert isinstance(found, Labels)
    return found


def as_columns(X: Any, nominal: Sequence[Any] = ()) -> Columns:
    """The attributes of a frame, a mapping of columns or a 2-D array; strings, categories and booleans are nominal."""
    if isinstance(X, Columns):
        return X
    names, raw = _raw_columns(X)
    if not names:
        raise InputError("the data have no attributes")
    wanted = set(nominal)
    for what in wanted:
        if what not in names and not (isinstance(what, int | np.integer) and 0 <= what < len(names)):
            near = hint(str(what), names, "there are: " + ", ".join(names[:8]))
            raise InputError(f"nominal names an attribute {what!r} that is not there; {near}")
    columns = tuple(
        _column(column, name, name in wanted or i in wanted)
        for i, (name, column) in enumerate(zip(names, raw, strict=True))
    )
    lengths = {len(c) for c in columns}
    if len(lengths) > 1:
        raise InputError(f"the attributes have different lengths: {', '.join(map(str, sorted(lengths)))}")
    if lengths == {0}:
        raise InputError("the data have no points")
    return Columns(names, columns)


def _raw_columns(X: Any) -> tuple[tuple[str, ...], list[Any]]:
    if isinstance(X, Mapping):
        return tuple(map(str, X)), list(X.values())
    kind = frame_kind(X)
    if kind is not None and hasattr(X, "columns"):
        names = list(X.column_names) if kind == "pyarrow" else list(X.columns)
        if len(set(map(str, names))) < len(names):
            raise InputError("two attributes of the data have the same name")
        return tuple(map(str, names)), [X[name] for name in names]
    if hasattr(X, "tocsr"):
        raise InputError("the data are sparse; bins are counted over all values: pass X.toarray()")
    if not isinstance(X, np.ndarray) and hasattr(X, "__dlpack__"):
        X = _from_dlpack(X)
    if isinstance(X, np.ndarray):
        data = X
    else:
        try:
            data = np.asarray(X)
        except ValueError:
            raise InputError(
                "the data must be a 2-D array, points × attributes; the rows have different lengths"
            ) from None
        if data.dtype.kind in "US":  # numpy made strings of the numbers in mixed rows
            data = np.array(X, dtype=object)
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"the data must be a 2-D array, points × attributes; got shape {data.shape}")
    return tuple(f"x{i}" for i in range(data.shape[1])), [data[:, i] for i in range(data.shape[1])]


def _column(values: Any, name: str, nominal: bool) -> Array | Labels:
    """One attribute as float64 numbers, or as encoded values."""
    kind = frame_kind(values)
    if kind is not None and not isinstance(getattr(values, "dtype", None), np.dtype):
        return _arrow_column(values, name, nominal)
    array: Array = np.asarray(values)
    if isinstance(values, np.ma.MaskedArray):
        array = values.data.astype(object)
        array[np.ma.getmaskarray(values)] = None
    if array.ndim != 1:
        raise InputError(f"attribute {name!r} has {array.ndim} dimensions; one value a point is expected")
    if array.dtype.kind in "iuf" and not nominal:
        return array.astype(np.float64, copy=False)
    if array.dtype.kind == "O" and not nominal:
        present = [x for x in array.tolist() if x is not None and x == x and type(x).__name__ != "NAType"]
        if present and all(isinstance(x, int | float) and not isinstance(x, bool) for x in present):
            missing = [x is None or type(x).__name__ == "NAType" for x in array.tolist()]
            return np.where(missing, np.nan, np.where(missing, 0, array)).astype(np.float64)
        if not present:
            return np.full(len(array), np.nan)
    if array.dtype.kind in "mMc":
        raise InputError(f"attribute {name!r} holds {array.dtype} values; convert it to numbers or strings")
    return encoded(array, name)


def _arrow_column(values: Any, name: str, nominal: bool) -> Array | Labels:
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
        numbers = values.cast(pa.float64())
        found = numbers.to_numpy() if isinstance(numbers, pa.ChunkedArray) else numbers.to_numpy(zero_copy_only=False)
        return np.asarray(found)
    if pa.types.is_temporal(kind):
        raise InputError(f"attribute {name!r} holds {kind} values; convert it to numbers or strings")
    return encoded(values, name)


class Binning:
    """How attributes are cut into bins: fitted once, and used for every clustering that is compared.

    `method`: "width" (bins of equal width over the range), "frequency" (about as many points in each; edges that
    coincide are merged) or "mdl" (cuts where the clusters given to `fit` part, by Fayyad and Irani's description length).
    Strings, categories and booleans have one bin a value, and so have the attributes named in `nominal`; missing values
    have their own bin, a constant attribute has one. With `spare=True` there is always a bin for missing values, and one
    for nominal values that `fit` has not seen: for streams, where they may come later.

    >>> import congruence as cg
    >>> b = cg.Binning(bins=5).fit([[0.0, 7], [1.0, 7], [10.0, 7]])
    >>> b.n_bins, b.names
    ((5, 1), ('x0', 'x1'))
    >>> b.transform([[0.0, 7], [9.0, 7], [99.0, 7]]).tolist()
    [[0, 0], [4, 0], [4, 0]]
    >>> b.outside([[0.0, 7], [9.0, 7], [99.0, 7]])
    {'x0': 1, 'x1': 0}
    """

    def __init__(
        self,
        method: Literal["width", "frequency", "mdl"] = "width",
        bins: int = 10,
        *,
        nominal: Sequence[Any] = (),
        spare: bool = False,
    ) -> None:
        if method not in METHODS:
            near = hint(str(method), METHODS, "the methods are 'width', 'frequency' and 'mdl'")
            raise InputError(f"there is no binning {method!r}; {near}")
        if not isinstance(bins, int | np.integer) or bins < 1:
            raise InputError(f"bins must be a whole number of at least 1, not {bins!r}")
        self.method, self.bins = method, int(bins)
        self.nominal, self.spare = tuple([nominal] if isinstance(nominal, str) else nominal), spare
        self.attributes: tuple[Attribute, ...] = ()

    def fit(self, X: Any, labels: Any = None) -> Binning:
        """Find the bins of these data; "mdl" needs the labels of their points."""
        columns = as_columns(X, self.nominal)
        classes = None
        if self.method == "mdl":
            if labels is None:
                raise InputError(
                    "binning 'mdl' cuts where clusters part: pass labels, as in Binning('mdl').fit(X, labels)"
                )
            found = as_clustering(labels, "labels")
            if not isinstance(found, Labels):
                raise InputError("binning 'mdl' needs one label a point, not memberships")
            if len(found) != len(columns):
                raise InputError(f"there are {len(columns)} points and {len(found)} labels; give one label a point")
            classes = np.asarray(found.codes)
        self.attributes = tuple(
            self._fitted(name, column, classes) for name, column in zip(columns.names, columns.columns, strict=True)
        )
        return self

    def _fitted(self, name: str, column: Array | Labels, classes: Array | None) -> Attribute:
        if isinstance(column, Labels):
            values = tuple(column.names.tolist() if isinstance(column.names, np.ndarray) else column.names)
            return Attribute(name, values=values, takes_unseen=self.spare, takes_missing=self.spare or column.gaps > 0)
        present = ~np.isnan(column)
        values_there = column if present.all() else column[present]
        takes_missing = self.spare or len(values_there) < len(column)
        if not len(values_there):
            return Attribute(name, takes_unseen=self.spare, takes_missing=True)
        low, high = float(values_there.min()), float(values_there.max())
        if not np.isfinite([low, high]).all():
            raise InputError(f"attribute {name!r} has infinite values; clip or drop them before the bins are fitted")
        if self.method == "width":
            cuts = _width_cuts(low, high, self.bins)
        elif self.method == "frequency":
            cuts = _frequency_cuts(values_there, self.bins)
        else:
            assert classes is not None
            cuts = mdl_cuts(values_there, classes if present.all() else classes[present])
        return Attribute(name, tuple(cuts.tolist()), low, high, takes_unseen=self.spare, takes_missing=takes_missing)

    @property
    def is_fitted(self) -> bool:
        """Have the bins been found?"""
        return bool(self.attributes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(a.name for a in self._known())

    @property
    def n_bins(self) -> tuple[int, ...]:
        """Number of bins of each attribute; codes are 0 … n_bins − 1."""
        return tuple(a.n_bins for a in self._known())

    @property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """For each numeric attribute the values between its bins."""
        return {a.name: a.cuts for a in self._known() if a.values is None}

    def _known(self) -> tuple[Attribute, ...]:
        if not self.attributes:
            raise InputError("this Binning has no bins yet: call .fit(X) first")
        return self.attributes

    def transform(self, X: Any) -> Array:
        """The bin of every value, (points, attributes) int32; values beyond the fitted range are in the end bins."""
        columns = self.columns(X)
        codes = np.empty((len(columns), len(self.attributes)), dtype=np.int32)
        places = self.places(columns)
        for piece in columns.pieces():
            self.bin_piece(columns, places, piece, codes[piece])
        return codes

    def outside(self, X: Any) -> dict[str, int]:
        """For each attribute, how many values lie beyond the fitted range, or were never seen before."""
        columns = self.columns(X)
        codes = np.empty((min(len(columns), CHUNK), len(self.attributes)), dtype=np.int32)
        places = self.places(columns)
        found = np.zeros(len(self.attributes), dtype=np.int64)
        for piece in columns.pieces():
            found += self.bin_piece(columns, places, piece, codes[: piece.stop - piece.start])
        return dict(zip(self.names, found.tolist(), strict=True))

    # --- what profiles are counted with -------------------------------------------------------------------------

    def columns(self, X: Any) -> Columns:
        """The data as columns, after a look whether they are the attributes that were fitted."""
        nominal = [a.name for a in self._known() if a.values is not None]
        given, _ = _raw_columns(X) if not isinstance(X, Columns) else (X.names, None)
        if given != self.names:
            odd = next((n for n in given if n not in self.names), None) or next(
                (n for n in self.names if n not in given), ""
            )
            raise InputError(
                f"the bins were fitted for {len(self.names)} attributes ({', '.join(self.names[:4])}"
                f"{', …' if len(self.names) > 4 else ''}), and the data have {len(given)}; {odd!r} is on one side only"
                if odd
                else "the data have the attributes of the bins in another order; reorder them"
            )
        columns = as_columns(X, nominal)
        for a, column in zip(self.attributes, columns.columns, strict=True):
            if isinstance(column, Labels) and a.values is None:
                raise InputError(f"attribute {a.name!r} was fitted as numbers, and holds other values here")
        return columns

    def places(self, columns: Columns) -> list[Array | None]:
        """For each nominal column, the bin of each of its codes (the last one is for missing values)."""
        found: list[Array | None] = []
        for a, column in zip(self.attributes, columns.columns, strict=True):
            if not isinstance(column, Labels):
                found.append(None)
                continue
            assert a.values is not None
            known = {value: i for i, value in enumerate(a.values)}
            names = column.names.tolist() if isinstance(column.names, np.ndarray) else list(column.names)
            unseen = [name for name in names if name not in known]
            if unseen and not a.takes_unseen:
                raise InputError(
                    f"attribute {a.name!r} has values that were not there when its bins were fitted, as {unseen[0]!r}; fit on "
                    "all data, or pass Binning(spare=True)"
                )
            place = [known.get(name, a.regular) for name in names]
            found.append(np.array([*place, self._missing(a, column.gaps)], dtype=np.int32))
        return found

    @staticmethod
    def _missing(a: Attribute, gaps: int) -> int:
        """The bin of missing values; an error where there are some, and no bin."""
        if gaps and not a.takes_missing:
            raise InputError(
                f"attribute {a.name!r} has {gaps} missing values here and had none when its bins were fitted; fit on all "
                "data, or pass Binning(spare=True)"
            )
        return a.n_bins - 1 if a.takes_missing else -1

    def bin_piece(self, columns: Columns, places: Sequence[Array | None], piece: slice, out: Array) -> Array:
        """Write the bins of a run of points to `out`; for each attribute, the number of values outside."""
        outside = np.zeros(len(self.attributes), dtype=np.int64)
        compiled = cpu._use_kernels(float(out.size))
        for i, (a, column, place) in enumerate(zip(self.attributes, columns.columns, places, strict=True)):
            if isinstance(column, Labels):
                assert place is not None
                np.take(place, column.codes[piece], out=out[:, i])
                if a.takes_unseen:
                    outside[i] = int((out[:, i] == a.regular).sum())
                continue
            values = column[piece]
            missing = a.n_bins - 1 if a.takes_missing else -1
            if not a.regular:
                gaps, beyond = self._only_missing(a, values, missing, out[:, i])
            elif compiled:
                from congruence.density.kernels import bin_values

                gaps, beyond = bin_values(values, np.array(a.cuts), a.low, a.high, missing, out[:, i])
            else:
                nothing = np.isnan(values)
                found = np.searchsorted(np.array(a.cuts), values, side="right")
                out[:, i] = np.where(nothing, missing, found)
                gaps = int(nothing.sum())
                beyond = int((~nothing & ~((values >= a.low) & (values <= a.high))).sum())
            self._missing(a, gaps)
            outside[i] = beyond
        return outside

    @staticmethod
    def _only_missing(a: Attribute, values: Array, missing: int, out: Array) -> tuple[int, int]:
        there = int((~np.isnan(values)).sum())
        if there:
            raise InputError(
                f"attribute {a.name!r} had only missing values when its bins were fitted, and has {there} others here; fit "
                "on all data, or pass Binning(spare=True)"
            )
        out[:] = missing
        return len(values), 0

    def __repr__(self) -> str:
        what = f"Binning({self.method!r}" + (f", bins={self.bins})" if self.method != "mdl" else ")")
        return what + (
            f": {len(self.attributes)} attributes, {sum(self.n_bins)} bins" if self.attributes else ", not fitted"
        )


def _width_cuts(low: float, high: float, bins: int) -> Array:
    """Cuts between bins of equal width; fewer where neighbouring floats leave no room between."""
    edges = np.linspace(low, high, bins + 1)
    cuts = np.unique(edges[1:-1])
    return cuts[(cuts > low) & (cuts <= high)] if high > low else cuts[:0]


def _frequency_cuts(values: Array, bins: int) -> Array:
    """Quantiles between bins of about equally many points; those that coincide are one."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    return edges[1:-1]


# --- Fayyad and Irani's cuts ------------------------------------------------------------------------------------


def mdl_cuts(values: Array, classes: Array) -> Array:
    """Cuts that pay for themselves: each splits a run of values where the classes part, if that shortens the description.

    >>> mdl_cuts(np.array([1.0, 2, 3, 4, 5, 6, 7, 8]), np.array([0, 0, 0, 0, 1, 1, 1, 1])).tolist()
    [4.5]
    """
    distinct, where = np.unique(values, return_inverse=True)
    kinds, codes = np.unique(classes, return_inverse=True)
    table = np.bincount(where * len(kinds) + codes, minlength=len(distinct) * len(kinds))
    # running counts of each class, up to each distinct value
    running = np.zeros((len(distinct) + 1, len(kinds)), dtype=np.int64)
    np.cumsum(table.reshape(len(distinct), len(kinds)), axis=0, out=running[1:])
    cuts: list[float] = []
    todo = [(0, len(distinct))]
    while todo:
        first, last = todo.pop()
        split = _best_split(running, first, last)
        if split is not None:
            cuts.append(float((distinct[split - 1] + distinct[split]) / 2))
            todo += [(first, split), (split, last)]
    return np.array(sorted(cuts))


def _entropy(counts: Array) -> Array:
    """Entropy in bits of the rows of a table of counts."""
    total = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(total, 1)
    return np.asarray(-(share * np.log2(np.where(share > 0, share, 1.0))).sum(axis=-1))


def _best_split(running: Array, first: int, last: int) -> int | None:
    """The split of values first … last−1 with the least entropy, if its gain pays for the words it takes (1993, eq. 9)."""
    if last - first < 2:
        return None
    whole = running[last] - running[first]
    left = running[first + 1 : last] - running[first]
    right = whole - left
    n, n_left, n_right = whole.sum(), left.sum(axis=1), right.sum(axis=1)
    e_left, e_right = _entropy(left), _entropy(right)
    mixed = (n_left * e_left + n_right * e_right) / n
    best = int(np.argmin(mixed))
    e = float(_entropy(whole))
    k, k_left, k_right = (int((c > 0).sum()) for c in (whole, left[best], right[best]))
    delta = k * np.log2(3.0) + np.log1p(-2.0 * 3.0**-k) / np.log(2.0)  # log2(3^k − 2) for any k
    delta -= k * e - k_left * e_left[best] - k_right * e_right[best]
    return first + 1 + best if e - mixed[best] > (np.log2(n - 1) + delta) / n else None
