"""Bins of attributes, fitted once and reused: equal width, equal frequency, or MDL with a clustering."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Literal

import numpy as np

from congruence.density.columns import Columns, as_columns, block_of, brought, encoded, on_host, raw_columns
from congruence.density.profile import Attribute
from congruence.errors import Call, InputError, hint, names_in, some_of, yes_or_no
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.effects import refuse_idle
from congruence.inputs.labels import Labels
from congruence.machine import device, jit
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, DeviceArray, PointsLike

METHODS = ("width", "frequency", "mdl")

#: maximum number of bins of a numeric attribute
MOST_BINS = 1_000_000
#: with robust=True the range ends this many times the distance of two quantiles beyond them: quartiles, or if equal others
FAR, TAILS = 3.0, (0.25, 0.1, 0.05, 0.01)


@described
class Binning:
    """Bins of the attributes: fitted once, and used for every clustering that is compared.

    Strings, categories and booleans have one bin per value. Missing values have a separate bin, and a constant
    attribute has one bin.

    Args:
        method: "width" (default; equal widths over the range), "frequency" (about equally many points; edges that
            coincide are merged) or "mdl" (cuts that separate the clusters given to `fit`, by Fayyad and Irani's
            description length).
        bins, nominal: See `congruence.options`.
        spare: Whether there is always a bin for missing values, and one for nominal values that `fit` has not seen;
            for streams. Default False.
        robust: Whether far values do not widen the bins of method "width": the range ends three interquartile ranges beyond
            the quartiles, and what lies outside counts in the first or last bin. Default False.

    See also:
        `cg.density_profile`, `cg.adco`.

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
        nominal: Sequence[str | int] = (),
        spare: bool = False,
        robust: bool = False,
    ) -> None:
        refuse_idle(Binning, locals())
        if method not in METHODS:
            near = hint(str(method), METHODS, "use 'width', 'frequency' or 'mdl'")
            raise InputError(f"there is no binning {method!r}; {near}")
        if not isinstance(bins, int | np.integer) or not 1 <= bins <= MOST_BINS:
            raise InputError(f"bins must be a whole number from 1 to {MOST_BINS:,}, not {bins!r}")
        self.method, self.bins = method, int(bins)
        self.nominal, self.spare = tuple(names_in(nominal, "nominal")), yes_or_no(spare, "spare")
        self.robust = yes_or_no(robust, "robust")
        self.attributes: tuple[Attribute, ...] = ()

    def fit(self, X: PointsLike, labels: ClusteringLike | None = None) -> Binning:
        """Find the bins of these data; "mdl" needs the labels of their points.

        Args:
            X: The data, points × attributes: an array or a frame.
            labels: One label per point; needed for "mdl". Default None.

        Returns:
            The binning itself.

        Raises:
            InputError: If an argument is invalid.
        """
        columns = as_columns(X, self.nominal)
        classes = None
        if self.method == "mdl":
            if labels is None:
                raise InputError("binning 'mdl' separates clusters: pass labels, as in Binning('mdl').fit(X, labels)")
            found = as_disjoint(labels, "labels")
            if not isinstance(found, Labels):
                raise InputError("binning 'mdl' needs one label per point, not memberships")
            if len(found) != len(columns):
                raise InputError(f"there are {len(columns)} points and {len(found)} labels; give one label per point")
            # points in no cluster are not used
            classes = np.where(np.asarray(found.codes) == found.k, -1, np.asarray(found.codes).astype(np.int64))
        limits = _limits(columns)
        self.attributes = tuple(
            self._fitted(name, column, limits[i], classes)
            for i, (name, column) in enumerate(zip(columns.names, columns.columns, strict=True))
        )
        return self

    def _fitted(
        self, name: str, column: Array | Labels, limits: tuple[float, float, bool], classes: Array | None
    ) -> Attribute:
        if isinstance(column, Labels):
            values = tuple(column.names.tolist() if isinstance(column.names, np.ndarray) else column.names)
            return Attribute(name, values=values, takes_unseen=self.spare, takes_missing=self.spare or column.gaps > 0)
        low, high, has_gaps = limits
        takes_missing = self.spare or has_gaps
        if low != low:
            return Attribute(name, takes_unseen=self.spare, takes_missing=True)
        if not np.isfinite([low, high]).all():
            raise InputError(f"attribute {name!r} has infinite values; clip or drop them before the bins are fitted")
        if self.robust:
            low, high = _without_far(on_host(column), low, high)
        if self.method == "width":
            cuts = _width_cuts(low, high, self.bins)
        else:
            column = on_host(column)
            there = ~np.isnan(column)
            if self.method == "frequency":
                cuts = _frequency_cuts(column[there], self.bins)
            else:
                assert classes is not None
                there &= classes >= 0
                cuts = mdl_cuts(column[there], classes[there])
        return Attribute(name, tuple(cuts.tolist()), low, high, takes_unseen=self.spare, takes_missing=takes_missing)

    @property
    def is_fitted(self) -> bool:
        """Whether the bins are fitted."""
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
    def nominal_names(self) -> list[str | int]:
        """The nominal attributes: as fitted, or before that as named."""
        return [a.name for a in self.attributes if a.values is not None] if self.attributes else list(self.nominal)

    @property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """The cuts of each numeric attribute."""
        return {a.name: a.cuts for a in self._known() if a.values is None}

    def _known(self) -> tuple[Attribute, ...]:
        if not self.attributes:
            raise InputError("this Binning has no bins yet: call .fit(X) first")
        return self.attributes

    def transform(self, X: PointsLike) -> Array:
        """The bin of every value, (points, attributes) int32; values outside the fitted range are in the first or last bin.

        Args:
            X: The data, points × attributes: an array or a frame.

        Returns:
            Bin of each value, points × attributes.
        """
        columns = self.columns(brought(X, "cpu"))
        codes = np.empty((len(columns), len(self.attributes)), dtype=np.int32)
        coder = Coder(self.attributes, columns)
        for piece in columns.pieces():
            codes[piece] = coder(piece)[0].T
        return codes

    def outside(self, X: PointsLike) -> dict[str, int]:
        """For each attribute, the number of values that are outside the fitted range or new.

        Args:
            X: The data, points × attributes: an array or a frame.

        Returns:
            A mapping from attribute to number of values.
        """
        columns = self.columns(brought(X, "cpu"))
        coder = Coder(self.attributes, columns)
        found = np.sum([coder(piece)[1] for piece in columns.pieces()], axis=0)
        return dict(zip(self.names, found.tolist(), strict=True))

    def columns(self, X: PointsLike) -> Columns:
        """The data as columns, after a check that they are the fitted attributes.

        Args:
            X: The data, points × attributes: an array or a frame.

        Returns:
            The columns as they are binned.

        Raises:
            InputError: If they are not those that were fitted.
        """
        nominal = [a.name for a in self._known() if a.values is not None]
        given, _ = raw_columns(X) if not isinstance(X, Columns) else (X.names, None)
        if given != self.names:
            odd = next((n for n in given if n not in self.names), None) or next(
                (n for n in self.names if n not in given), ""
            )
            raise InputError(
                f"the bins were fitted for {len(self.names)} attributes ({some_of(self.names, 4)}); "
                f"the data have {len(given)}; {odd!r} is on one side only"
                if odd
                else "the data have the attributes of the bins in a different order; reorder them"
            )
        columns = as_columns(X, nominal)
        fitted = list(columns.columns)
        for i, (a, column) in enumerate(zip(self.attributes, columns.columns, strict=True)):
            if isinstance(column, Labels) and a.values is None:
                raise InputError(f"attribute {a.name!r} was fitted as numbers but holds other values here")
            if not isinstance(column, Labels) and a.values is not None:  # nominal, and all values are missing here
                if not np.isnan(on_host(column)).all():
                    raise InputError(
                        f"attribute {a.name!r} was fitted as nominal but holds numbers here; name it in nominal"
                    )
                fitted[i] = encoded(np.full(len(column), None, dtype=object), a.name)
        return Columns(columns.names, tuple(fitted))

    def __repr__(self) -> str:
        what = f"Binning({self.method!r}" + (f", bins={self.bins})" if self.method != "mdl" else ")")
        return what + (
            f": {len(self.attributes)} attributes, {sum(self.n_bins)} bins" if self.attributes else ", not fitted"
        )


class Coder:
    """Bins chunks of points: numbers by a compiled loop, nominal values by lookup."""

    def __init__(self, attributes: Sequence[Attribute], columns: Columns) -> None:
        self.attributes, self.columns = attributes, columns.columns
        self.numeric = np.array([i for i, c in enumerate(self.columns) if not isinstance(c, Labels)], dtype=np.int64)
        numbers = [attributes[i] for i in self.numeric]
        self.cuts = np.array([x for a in numbers for x in a.cuts], dtype=np.float64)
        self.starts = np.concatenate([[0], np.cumsum([len(a.cuts) for a in numbers])]).astype(np.int64)
        self.low, self.high = (np.array([getattr(a, end) for a in numbers]) for end in ("low", "high"))
        self.missing = np.array([a.n_bins - 1 if a.takes_missing else -1 for a in numbers], dtype=np.int64)
        #: one decision for all pieces, by the work of binning and counting them
        self.compiled = jit.use_kernels(2.0 * len(columns) * len(self.columns))
        self.places = {i: _places(attributes[i], c) for i, c in enumerate(self.columns) if isinstance(c, Labels)}

    def __call__(self, piece: slice) -> tuple[Array, Array]:
        """The bins of a block of points, attributes × points, and the number of values outside per attribute."""
        codes = np.empty((len(self.columns), piece.stop - piece.start), dtype=np.int32)
        outside = np.zeros(len(self.columns), dtype=np.int64)
        for i, place in self.places.items():
            np.take(place, self.columns[i].codes[piece], out=codes[i])  # type: ignore[union-attr]
            if self.attributes[i].takes_unseen:
                outside[i] = int((codes[i] == self.attributes[i].regular).sum())
        if len(self.numeric):
            block = block_of(self.columns, self.numeric, piece)
            gaps, outside[self.numeric] = self._bin(block, codes)
            for i, many in zip(self.numeric.tolist(), gaps.tolist(), strict=True):
                check_values(self.attributes[i], many, piece.stop - piece.start - many)
        return codes, outside

    def _bin(self, block: Array, codes: Array) -> tuple[Array, Array]:
        """Write the bins of a block of numbers; returns the numbers of missing values and of values outside."""
        if self.compiled:
            from congruence.density.kernels import bin_block

            gaps, outside = np.zeros(len(block), dtype=np.int64), np.zeros(len(block), dtype=np.int64)
            bin_block(
                block, self.cuts, self.starts, self.low, self.high, self.missing, self.numeric, codes, gaps, outside
            )
            return gaps, outside
        nothing = np.isnan(block)
        for r, i in enumerate(self.numeric):
            cuts = self.cuts[self.starts[r] : self.starts[r + 1]]
            codes[i] = np.where(nothing[r], self.missing[r], np.searchsorted(cuts, block[r], side="right"))
        inside = (block >= self.low[:, None]) & (block <= self.high[:, None])
        return nothing.sum(axis=1), (~nothing & ~inside).sum(axis=1)


def _limits(columns: Columns) -> dict[int, tuple[float, float, bool]]:
    """The smallest and largest number of each column (NaN if there is none), and whether some are missing."""
    which = np.array([i for i, c in enumerate(columns.columns) if not isinstance(c, Labels)], dtype=np.int64)
    found: dict[int, tuple[float, float, bool]] = dict.fromkeys(range(len(columns.columns)), (np.nan, np.nan, True))
    if columns.card is not None:
        found.update({i: _limits_of(columns.columns[i]) for i in which.tolist()})
        return found
    low, high = np.full(len(which), np.nan), np.full(len(which), np.nan)
    gaps = np.zeros(len(which), dtype=bool)
    for piece in columns.pieces() if len(which) else []:
        block = block_of(columns.columns, which, piece)
        low, high = np.fmin(low, np.fmin.reduce(block, axis=1)), np.fmax(high, np.fmax.reduce(block, axis=1))
        gaps |= np.isnan(block).any(axis=1)
    found.update({i: (float(low[r]), float(high[r]), bool(gaps[r])) for r, i in enumerate(which.tolist())})
    return found


def _limits_of(column: DeviceArray) -> tuple[float, float, bool]:
    """The same for one column, on host or GPU."""
    xp: ModuleType = device.cupy() if device.is_on_card(column) else np
    numbers = column.astype(np.float64)
    missing = xp.isnan(numbers)
    if bool(missing.all()):
        return np.nan, np.nan, True
    low, high = (
        float(reduce(xp.where(missing, end, numbers))) for reduce, end in ((xp.min, np.inf), (xp.max, -np.inf))
    )
    return low, high, bool(missing.any())


def _places(a: Attribute, column: Labels) -> Array:
    """The bin of each code of a nominal column; the last one is for missing values."""
    assert a.values is not None
    known = {value: i for i, value in enumerate(a.values)}
    names = column.names.tolist() if isinstance(column.names, np.ndarray) else list(column.names)
    unseen = [name for name in names if name not in known]
    if unseen and not a.takes_unseen:
        raise InputError(
            f"attribute {a.name!r} has new values, such as {unseen[0]!r}, that were not fitted; fit on all "
            f"data, or pass {Call('Binning(spare=True)')}"
        )
    _check_gaps(a, column.gaps)
    return np.array([*(known.get(name, a.regular) for name in names), a.n_bins - 1], dtype=np.int32)


def check_values(a: Attribute, gaps: int, there: int) -> None:
    """Raise if a numeric attribute has no bin for its missing or its other values."""
    _check_gaps(a, gaps)
    if not a.regular and there:
        raise InputError(
            f"attribute {a.name!r} had only missing values when its bins were fitted, and has {there} others here; fit on "
            f"all data, or pass {Call('Binning(spare=True)')}"
        )


def _check_gaps(a: Attribute, gaps: int) -> None:
    """Raise if there is no bin for missing values."""
    if gaps and not a.takes_missing:
        raise InputError(
            f"attribute {a.name!r} has {gaps} missing values here and had none when its bins were fitted; fit on all data, "
            f"or pass {Call('Binning(spare=True)')}"
        )


def _without_far(column: Array, low: float, high: float) -> tuple[float, float]:
    """The range without values far beyond the quartiles; if these are equal, beyond quantiles farther out.

    >>> _without_far(np.array([1.0, 2, 3, 4, 5, 6, 7, 1e6]), 1.0, 1e6)
    (1.0, 16.75)
    """
    values = column[~np.isnan(column)]
    for tail in TAILS:
        left, right = np.quantile(values, [tail, 1 - tail])
        if right > left:
            return max(low, float(left - FAR * (right - left))), min(high, float(right + FAR * (right - left)))
    return low, high


def _width_cuts(low: float, high: float, bins: int) -> Array:
    """Cuts between bins of equal width; fewer if floats cannot represent all of them."""
    wide = not np.isfinite(high - low)  # the range overflows; halves do not
    edges = 2 * np.linspace(low / 2, high / 2, bins + 1) if wide else np.linspace(low, high, bins + 1)
    cuts = np.unique(edges[1:-1])
    return cuts[(cuts > low) & (cuts <= high)] if high > low else cuts[:0]


def _frequency_cuts(values: Array, bins: int) -> Array:
    """Quantiles between bins of about equal size; equal quantiles are merged."""
    edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)))
    return edges[1:-1]


# --- Fayyad and Irani's cuts ------------------------------------------------------------------------------------


def mdl_cuts(values: Array, classes: Array) -> Array:
    """Cuts by minimum description length: each splits a range of values if that shortens the description.

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
    """The split of values first … last−1 with the least entropy, if its gain exceeds its cost (1993, eq. 9)."""
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
