"""Entropies of two clusterings, and the mutual information expected by chance.

Entropies of counts are sums of terms x·log(n/x). Each term is rounded once to a whole number of units of 2⁻ᵇ, so the sums
are sums of integers. They are identical to the last bit in any order, on any number of threads, in memory and in scans.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np

from congruence.machine.jit import compiled, ready
from congruence.statistics.pairs import Sums
from congruence.statistics.segments import others
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Tables
from congruence.typing import Scalar

#: number of points up to which terms of one pair are looked up
LOOKED_UP = 4096

#: number of points from which units are too coarse for small clusters
MOST_IN_UNITS = 2**31

#: ln 2, √2, and the coefficients of atanh(z) = z + z³/3 + z⁵/5 + … needed for |z| < 0.172
LN2, SQRT2 = 0.6931471805599453, 1.4142135623730951
ATANH = tuple(1.0 / (2 * k + 1) for k in range(11, -1, -1))


def log_ratio(n: Array, x: Array, rest: Array | None = None) -> Array:
    """log(n / x) for 0 < x ≤ n, accurate also for x close to n (`rest` is n − x); identical to the last bit on every machine.

    With w = x·2ᵉ close to n, log(n/x) = e·log 2 + 2·atanh((n − w)/(n + w)). The compiled loop (`engine.compiled_term.term`) does
    the same operations in the same order.
    """
    (top, top_bits), (low, low_bits) = np.frexp(n), np.frexp(x)
    shift = top_bits - low_bits
    shift = shift + (top > low * SQRT2) - (top * SQRT2 < low)
    near = np.ldexp(x, shift)
    away = n - near if rest is None else np.where(shift == 0, rest, n - near)
    z = away / (n + near)
    square = z * z
    series = np.full_like(square, ATANH[0])
    for coefficient in ATANH[1:]:
        series *= square
        series += coefficient
    return np.asarray(shift * LN2 + 2.0 * (z * series))


def unit_of(n: Scalar) -> Array:
    """Number of units per 1 in sums of x·log(n/x): a power of two that keeps n·log n below 2⁶¹."""
    given = np.asarray(n, dtype=np.float64)
    return np.full(given.shape, unit_of_points(given.item())) if given.size == 1 else _units(given)


def _units(n: Array) -> Array:
    most = np.maximum(n, 1.0)
    return np.asarray(np.ldexp(1.0, 61 - np.frexp(np.maximum(most * np.log(most), 1.0))[1]))


@lru_cache(maxsize=64)
def unit_of_points(n: Scalar) -> Scalar:
    """The same for one number of points."""
    return float(_units(np.array([n]))[0])


def terms_of(x: Array, n: Scalar) -> Array:
    """x·log(n/x) in whole units (see `unit_of`); 0 if x is 0."""
    x, n = np.asarray(x, dtype=np.float64), np.asarray(n, dtype=np.float64)
    solid, whole = (x, n) if x.all() else (np.where(x > 0, x, 1.0), np.where(x > 0, n, 1.0))
    return np.asarray(np.rint(solid * log_ratio(whole, solid) * unit_of(n)), dtype=np.int64)


@lru_cache(maxsize=4)
def terms_below(n: int, end: int) -> Array:
    """`terms_of` 0 … end − 1."""
    return terms_of(np.arange(end), n)


def cell_terms(t: Tables) -> Array:
    """`terms_of` the counts of all cells; by lookup if there are more cells than possible counts."""
    most = int(t.count.max(initial=0))
    if most < t.count.size and len(t) > 1 and (t.n == t.n[0]).all():
        return np.asarray(terms_of(np.arange(most + 1), t.n[0])[t.count])
    return terms_of(t.count, t.n[t.pair])


def _unit_sums(t: Tables) -> tuple[Array, Array, Array]:
    """Sums of x·log(n/x) over the clusters of a, over those of b and over the cells, in whole units."""
    if len(t) > 1:
        return t.over_rows(terms_of, t.n), t.over_cols(terms_of, t.n), t.sum(cell_terms(t))
    both, a, b = _units_of((t.count, *t.margins), int(t.n[0]))
    return np.array([a]), np.array([b]), np.array([both])


def _units_of(parts: Sequence[Array], n: int) -> list[int]:
    """Sums of x·log(n/x) over parts of one table, in one pass."""
    counts = np.concatenate(parts)
    terms = terms_below(n, n + 1)[counts] if n <= LOOKED_UP else terms_of(counts, n)
    found, start = [], 0
    for part in parts:
        found.append(int(terms[start : start + len(part)].sum()))
        start += len(part)
    return found


def sums_of_parts(n: int, cells: Array, rows: Array, columns: Array, entropies: bool) -> Sums:
    """The sums of a table of counts with these cells, sizes of clusters of a, and sizes of clusters of b."""
    parts = cells, rows, columns
    filled, squares = [int(np.count_nonzero(x)) for x in parts], [int(x @ x) for x in parts]
    return Sums(n, *filled, *squares, *(_units_of(parts, n) if entropies else (0, 0, 0)))


def _masses(t: Tables) -> list[tuple[Array, Array, Array]]:
    """Mass, rest and pair of clusters of a, of b, and of cells among all points; then of cells in their row and column.

    The rest is formed without rounding, or as a sum of positive terms: it may be tiny next to the mass.
    """
    parts = []
    for sizes, offsets, _ in t.sides:
        pair = np.repeat(np.arange(len(t)), np.diff(offsets))
        parts.append((sizes, pair, len(t), pair))
    parts.append((t.count, t.pair, len(t), t.pair))
    parts += [(t.count, place, len(sizes), t.pair) for sizes, _, place in t.sides]
    return [(mass, others(place, mass, places), pair) for mass, place, places, pair in parts]


def _entropies(mass: Array, rest: Array, pair: Array, n: Array) -> Array:
    """Σ x·log((x + rest)/x) / n of each pair."""
    x = np.asarray(mass, dtype=np.float64)
    solid = x > 0
    x, rest, pair = x[solid], rest[solid], pair[solid]
    terms = (x * log_ratio(x + rest, x, rest)).tolist()
    ends = np.searchsorted(pair, np.arange(len(n) + 1)).tolist()
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.array([math.fsum(terms[i:j]) for i, j in pairwise(ends)]) / n)


@dataclass(frozen=True, eq=False)
class Info(TwoSided):
    """Entropies in nats: of a, of b, and joint."""

    n: Array
    H_a: Array
    H_b: Array
    H_ab: Array
    identical: Array
    #: MI and H_a + H_b − 2·MI, if they were computed from exact sums before rounding
    shared: Array | None = None
    apart: Array | None = None
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "H_ab", "MI")

    @classmethod
    def from_sums(
        cls, n: Array, a: Array, b: Array, both: Array, a_decides: Array, b_decides: Array, identical: Array
    ) -> Self:
        """From floating-point sums Σ x log x of the cluster sizes and of the cells.

        If one clustering determines the other, the joint entropy is that clustering's entropy. Using the same float gives
        identical partitions a score of exactly 1, or a distance of exactly 0.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            h_a, h_b, h_ab = (np.log(n) - x / n for x in (a, b, both))
            # below rounding error of log n: one cluster (two clusters have a larger entropy up to 10¹² points)
            h_a, h_b, h_ab = (np.where(h < 1e-13, 0.0, h) for h in (h_a, h_b, h_ab))
        return cls._decided(n, h_a, h_b, h_ab, a_decides, b_decides, identical)

    @classmethod
    def _decided(
        cls, n: Array, h_a: Array, h_b: Array, h_ab: Array, a_decides: Array, b_decides: Array, identical: Array
    ) -> Self:
        h_b = np.where(a_decides & b_decides, h_a, h_b)
        h_ab = np.where(a_decides, h_a, np.where(b_decides, h_b, h_ab))
        return cls(n, h_a, h_b, h_ab, identical)

    @classmethod
    def from_units(cls, n: Array, a: Array, b: Array, both: Array, identical: Array) -> Self:
        """From sums of x·log(n/x) in whole units: differences are formed as integers."""
        units = unit_of(n) * np.asarray(n, dtype=np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            h_a, h_b, h_ab, shared, apart = (
                x / units for x in (a, b, both, np.maximum(a + b - both, 0), np.maximum((both - a) + (both - b), 0))
            )
        shared = np.where(shared < 4e-16 * (h_a + h_b), 0.0, shared)
        return cls(n, h_a, h_b, h_ab, identical, shared, apart)

    @classmethod
    def of_sums(cls, s: Sums) -> Self:
        """The entropies of one pair of partitions, as Python floats instead of arrays."""
        units, a, b, both = unit_of_points(s.n) * s.n, s.units_a, s.units_b, s.units_both
        h_a, h_b = a / units, b / units
        shared, apart = max(a + b - both, 0) / units, max((both - a) + (both - b), 0) / units
        shared *= shared >= 4e-16 * (h_a + h_b)  # 0 if below rounding error
        return cls(s.n, h_a, h_b, both / units, s.cells == s.rows == s.columns, shared, apart)

    @classmethod
    def _of_counts(cls, t: Tables) -> Self:
        info = cls.from_units(t.n, *_unit_sums(t), t.identical)
        large = t.n >= MOST_IN_UNITS
        if not large.any():
            return info
        other = cls._of_masses(t)
        chosen = {f.name: np.where(large, getattr(other, f.name), getattr(info, f.name)) for f in fields(Info)}
        return cls(**{**chosen, "n": info.n, "identical": info.identical})

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Entropies of every table of the tile."""
        if t.count.dtype.kind in "iu":
            return t.once(cls._of_counts)

        if t.same is None:
            return cls._of_masses(t)

        def entropy(x: Array, n: Array) -> Array:
            solid = x > 0
            return np.where(solid, x * log_ratio(np.where(solid, np.maximum(n, x), 1.0), np.where(solid, x, 1.0)), 0.0)

        def filled(x: Array) -> Array:
            return (x > 0).astype(np.int64)

        with np.errstate(divide="ignore", invalid="ignore"):
            h_a, h_b, h_ab = (
                sums / t.n
                for sums in (t.over_rows(entropy, t.n), t.over_cols(entropy, t.n), t.sum(entropy(t.count, t.n[t.pair])))
            )
        h_a, h_b = np.where(t.over_rows(filled) == 1, 0.0, h_a), np.where(t.over_cols(filled) == 1, 0.0, h_b)
        h_a, h_b, h_ab = (np.where(h < 1e-13, 0.0, h) for h in (h_a, h_b, h_ab))  # rounding errors of memberships
        return cls._decided(t.n, h_a, h_b, h_ab, t.a_decides, t.b_decides, t.identical)

    @classmethod
    def _of_masses(cls, t: Tables) -> Self:
        """From weights, and from counts too large for units.

        Each term x·log(n/x) is accurate however close x is to n. MI and VI follow from the entropies of each clustering given
        the other, because H_a + H_b − H_ab cancels. The sums are rounded once, so they do not depend on the order of clusters.
        """
        h_a, h_b, h_ab, b_given_a, a_given_b = (_entropies(*part, t.n) for part in _masses(t))
        a_given_b, b_given_a = np.where(t.b_decides, 0.0, a_given_b), np.where(t.a_decides, 0.0, b_given_a)
        info = cls._decided(t.n, h_a, h_b, h_ab, t.a_decides, t.b_decides, t.identical)
        shared = np.where(info.H_a <= info.H_b, info.H_a - a_given_b, info.H_b - b_given_a)
        shared = np.where(shared < 4e-16 * np.minimum(info.H_a, info.H_b), 0.0, shared)
        return replace(info, shared=shared, apart=a_given_b + b_given_a)

    @classmethod
    def joined(cls, parts: Sequence[Info]) -> Self:
        """Several tiles as one."""
        columns = {f.name: [getattr(part, f.name) for part in parts] for f in fields(cls)}
        whole = {name: values for name, values in columns.items() if not any(x is None for x in values)}
        return cls(**{name: np.concatenate(values) for name, values in whole.items()})

    @property
    def MI(self) -> Array:
        """Mutual information, never below 0; rounding errors are set to 0."""
        if self.shared is not None:
            return self.shared
        found = self.H_a + self.H_b - self.H_ab
        return np.where(found < 4e-16 * (self.H_a + self.H_b), 0.0, found)

    @property
    def VI(self) -> Array:
        """Variation of information, H_a + H_b − 2·MI, never below 0."""
        return self.apart if self.apart is not None else np.asarray(np.maximum(self.H_a + self.H_b - 2 * self.MI, 0.0))


@dataclass(frozen=True, eq=False)
class ChanceInfo(Info):
    """Entropies, and the expected mutual information of clusterings with these cluster sizes."""

    E_MI: Array = field(default_factory=lambda: np.empty(0))
    symbols: ClassVar[tuple[str, ...]] = ("H_a", "H_b", "MI", "E_MI")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Entropies of every table and the expected mutual information given its margins."""
        expected = [
            expected_mutual_information(table.row_sums, table.col_sums) if table.n else np.nan for table in t.each()
        ]
        return cls.with_expected(Info.from_tables(t), np.array(expected))

    @classmethod
    def of_margins(cls, info: Info, rows: Array, columns: Array) -> Self:
        """The entropies of one pair, in Python floats instead of arrays, and the same given its margins."""
        expected: Scalar = expected_mutual_information(rows, columns)
        return cls.with_expected(info, expected)

    @classmethod
    def with_expected(cls, info: Info, expected: Array) -> Self:
        """Entropies joined with E[MI]."""
        return cls(info.n, info.H_a, info.H_b, info.H_ab, info.identical, info.shared, info.apart, expected)


# --- expected mutual information --------------------------------------------------------------------------------

# The logarithms and the order of every sum are fixed here, so that E[MI] has the same bits for one pair and for many,
# interpreted and compiled, on any number of threads and on a GPU (`expected_term` in machine/kernels.cu).

#: the different sizes of the clusters of a clustering, and how often each occurs
Sizes = tuple[Array, Array]

#: most pairs of sizes whose expected mutual information is cached
KEPT = 128
_expected: dict[tuple[Scalar, ...], float] = {}

#: variance of a cell above which its moments give its contribution to full precision
WIDE = 1e8


def expected_mutual_information(sizes_a: Array, sizes_b: Array) -> float:
    """E[MI] in nats of two clusterings with these cluster sizes, over all permutations of the points.

    >>> round(expected_mutual_information(np.array([2, 2]), np.array([1, 3])), 12)
    0.215761554339
    """
    key = np.asarray(sizes_a, np.int64).tobytes(), np.asarray(sizes_b, np.int64).tobytes()
    known = _expected.get(key)
    return _kept(key, expected_of(distinct(sizes_a), distinct(sizes_b), int(sizes_a.sum()))) if known is None else known


def expected_of(a: Sizes, b: Sizes, n: int, threads: int = 1) -> float:
    """E[MI] in nats of two clusterings of n points with these sizes; cached, because permuted labels have the same sizes."""
    first, second = _key(a), _key(b)
    if first > second:
        a, b, first, second = b, a, second, first
    known = _expected.get((first, second, n))
    if known is None:
        (inner, many), (outer, times) = a, b
        known = float(in_order(weighted_rows(expected_terms(inner, outer, n, threads), many), times))
    return _kept((first, second, n), known)


def _kept(key: tuple[Scalar, ...], value: float) -> float:
    if len(_expected) >= KEPT:
        _expected.clear()
    _expected[key] = value
    return value


def places(clusterings: Sequence[Sizes]) -> Array:
    """A number for each clustering: of two, sums run first over the one with the lower number.

    So E[MI] of (a, b) and of (b, a) have the same bits.
    """
    keys = [_key(sizes) for sizes in clusterings]
    rank = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys])


def _key(sizes: Sizes) -> tuple[int, bytes, bytes]:
    return len(sizes[0]), sizes[0].tobytes(), sizes[1].tobytes()


def weighted_rows(terms: Array, many: Array) -> Array:
    """The sum of the rows, each times its number, from the first to the last."""
    if terms.size < 1 << 14:
        return np.asarray(np.cumsum(terms * many[:, None], axis=0)[-1])
    total = np.zeros(terms.shape[1])
    for row, times in zip(terms, many, strict=True):
        total += times * row
    return total


def in_order(values: Array, many: Array) -> Array:
    """The sum of the last axis, each value times its number, from the first to the last (`@` adds in another order)."""
    return np.asarray(np.cumsum(values * many, axis=-1)[..., -1])


def distinct(sizes: Array) -> Sizes:
    """The different positive sizes, and how often each occurs."""
    values, many = np.unique(sizes[sizes > 0].astype(np.int64), return_counts=True)
    return values, many.astype(np.float64)


def expected_terms(a: Array, b: Array, n: int, threads: int = 1) -> Array:
    """The contribution of clusters of sizes a[u] and b[v] to E[MI], for all u and v (only u ≤ v is computed if a is b)."""
    terms, steps = ready(_terms), 0.0
    if terms is None or threads > 1:
        spread = np.sqrt(np.minimum(np.outer(a / n, b.astype(np.float64)), WIDE))
        steps = float(np.minimum(spread * 18 + 2, np.minimum.outer(a, b) + 1).sum())
        terms = compiled(_terms, steps / 2 if a is b else steps)
    out = np.empty((len(a), len(b)))
    if threads > 1 and steps > 2e6:
        bounds = [(u, min(u + 16, len(a))) for u in range(0, len(a), 16)]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda bound: terms(a, b, n, a is b, *bound, out), bounds))
    else:
        terms(a, b, n, a is b, 0, len(a), out)
    if a is b:
        lower = np.tril_indices(len(a), -1)
        out[lower] = out.T[lower]
    return out


def _terms(a: Array, b: Array, n: int, symmetric: bool, first: int, last: int, out: Array) -> None:
    """E[x log(x/μ) − (x − μ)]/n of the hypergeometric count x with mean μ = ab/n: every term is ≥ 0, so there is no cancellation.

    The ratio of neighbouring probabilities is followed in both directions from the mode, where the weight is set to 1, until it
    is below 1e-18; dividing by the sum of weights makes factorials unnecessary. If the variance of x is large, that would
    take millions of steps; instead the central moments m₂, m₃, m₄ give m₂/2μ − m₃/6μ² + m₄/12μ³, with relative error below 1/μ².
    """
    for u in range(first, last):
        for v in range(u if symmetric else 0, len(b)):
            size_a, size_b = float(a[u]), float(b[v])
            mean = size_a * size_b / n
            rest = n - (size_a + size_b)
            variance = mean * ((n - size_a) * (n - size_b)) / (n * (n - 1.0)) if n > 1 else 0.0
            if variance > WIDE:
                third = variance * ((n - 2 * size_a) * (n - 2 * size_b)) / (n * (n - 2.0))
                fourth = 3 * variance * variance
                out[u, v] = (variance / 2 - third / (6 * mean) + fourth / (12 * mean * mean)) / mean / n
                continue
            high = min(size_a, size_b)
            low = max(0.0, -rest)
            mode = min(max(float(math.floor((size_a + 1) * (size_b + 1) / (n + 2))), low), high)
            weights, total = 0.0, 0.0
            for upward in (True, False):
                x, weight = mode, 1.0
                near, twos = mean, 0  # near = mean·2^twos, between x/√2 and x·√2
                new = upward  # the mode itself is added once
                while weight > 1e-18:
                    if new:
                        value = mean
                        if x > 0:
                            while near * SQRT2 < x:
                                near *= 2.0
                                twos += 1
                            while near > x * SQRT2:
                                near *= 0.5
                                twos -= 1
                            z = (x - near) / (x + near)
                            q = z * z
                            # log(x/near) = 2·atanh(z) = 2z·(1 + q/3 + q²/5 + …)
                            series = 0.0
                            if q > 0.001:
                                series = (
                                    ((((1 / 23 * q + 1 / 21) * q + 1 / 19) * q + 1 / 17) * q + 1 / 15) * q + 1 / 13
                                ) * q
                            series = (((((series + 1 / 11) * q + 1 / 9) * q + 1 / 7) * q + 1 / 5) * q + 1 / 3) * q + 1.0
                            value = x * (twos * LN2 + 2.0 * (z * series)) - (x - mean)
                        weights += weight
                        total += weight * value
                    new = True
                    if upward:
                        if x >= high:
                            break
                        weight *= (size_a - x) * (size_b - x) / ((x + 1) * (rest + x + 1))
                        x += 1.0
                    else:
                        if x <= low:
                            break
                        weight *= x * (rest + x) / ((size_a - x + 1) * (size_b - x + 1))
                        x -= 1.0
            out[u, v] = total / weights / n
