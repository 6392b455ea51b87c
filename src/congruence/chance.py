"""Is the agreement real: permutation tests, measures adjusted for chance under several null models, intervals."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import combinations
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from congruence import nulls
from congruence.engine.plan import Progress
from congruence.ensemble import _columns
from congruence.formulas import find, hint
from congruence.frames import make_frame, square_frame, text_grid
from congruence.generators import seed_sequence
from congruence.registry import Measure, ratio
from congruence.resampling import Null, Problem, RandomPair, Sided, best_value, check_null, drawn, measured, problem_of
from congruence.results import AgainstReference, Comparison, number, plain
from congruence.statistics import Array, Info, InputError, Maxima, MemberInfo, NotApplicable, Table, Tables

UNDEFINED = "draws are undefined and count as at least as good as the value"

# --- permutation tests ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """One value held against what chance alone gives.

    >>> import congruence as cg
    >>> r = cg.permutation_test([0] * 9 + [1] * 9, [0] * 8 + [1] * 10, "ari", random_state=0)
    >>> round(r.value, 4), r.expected, round(r.p_value, 4)
    (0.7772, 0.0, 0.001)
    """

    measure: Measure
    value: float
    #: mean and standard deviation under the null model
    expected: float
    standard_deviation: float
    #: how the mean was had: "closed form", "expected mutual information", or from the draws
    method: str
    #: is the standard deviation exact, too?
    is_deviation_exact: bool
    #: as good as this or better by chance: (draws as good + 1) / (draws + 1)
    p_value: float
    #: as far from what is usual, on either side: twice the smaller tail
    p_two_sided: float
    #: where the p-value of endless draws lies, with probability `level`
    p_interval: tuple[float, float]
    level: float
    null: str
    n_permutations: int
    n_points: int
    #: the values drawn, in order
    draws: Array = field(repr=False)
    #: did draws end before their number was reached, because so many were as good?
    is_stopped: bool = False
    best: float = 1.0
    cautions: tuple[str, ...] = ()
    names: tuple[str, str] = ("a", "b")
    kind: str | None = None

    @property
    def is_exact(self) -> bool:
        """Is the expected value exact (else it is the mean of the draws)?"""
        return not self.method.startswith("mean of")

    @property
    def standard_error(self) -> float:
        """Standard error of the expected value: 0 where it is exact."""
        if self.is_exact:
            return 0.0
        return float(np.nanstd(self.draws, ddof=1) / math.sqrt(len(self.draws))) if len(self.draws) > 1 else math.nan

    @property
    def z(self) -> float:
        """How many standard deviations the value is above what is expected."""
        return _divided(_difference(self.value, self.expected), self.standard_deviation)

    @property
    def adjusted(self) -> float:
        """The value on a scale where chance is 0 and the best value 1: (value − expected) / (best − expected)."""
        return _adjusted_value(self.value, self.expected, self.best)

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name."""
        return {
            "measure": self.measure.key, "value": self.value, "expected": self.expected,
            "standard_deviation": self.standard_deviation, "z": self.z, "adjusted": self.adjusted,
            "p_value": self.p_value, "p_two_sided": self.p_two_sided, "p_low": self.p_interval[0],
            "p_high": self.p_interval[1], "n_permutations": self.n_permutations, "null": self.null,
            "method": self.method,
        }  # fmt: skip

    def to_frame(self, backend: str | None = None) -> Any:
        """One row with all numbers."""
        return make_frame({name: [value] for name, value in self.to_dict().items()}, backend or self.kind)

    def to_json(self, **options: Any) -> str:
        """All numbers as JSON, with the cautions."""
        return json.dumps(plain({**self.to_dict(), "cautions": self.cautions}), ensure_ascii=False, **options)

    def __repr__(self) -> str:
        a, b = self.names
        low, high = self.p_interval
        exact = "exact" if self.is_exact else f"± {self.standard_error:.1g}"
        spread = "exact" if self.is_deviation_exact else "of the draws"
        count = f"{self.n_permutations:,} draws" + (", stopped early" if self.is_stopped else "")
        lines = [
            f"{self.measure.key} of {a} and {b}: {number(self.value)}, {self.n_points:,} points",
            f"  by chance     {number(self.expected)} ({exact}), standard deviation {self.standard_deviation:.4g} ({spread}), "
            f"z = {self.z:.4g}",
            f"  p             {self.p_value:.4g} as good or better ({self.level:.0%} interval {low:.2g} to {high:.2g}), "
            f"{self.p_two_sided:.4g} two-sided",
            f"  null model    {self.null}; {count}",
        ]
        return "\n".join([*lines, *(f"! {c}" for c in self.cautions)])


def _difference(x: float, y: float) -> float:
    """x − y, and 0 where only rounding is left."""
    return 0.0 if abs(x - y) < 1e-12 * max(1.0, abs(x)) else x - y


def _divided(x: float, y: float) -> float:
    if y > 0 or math.isnan(y):
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x)


def _adjusted_value(value: float, expected: float, best: float) -> float:
    """0 for chance, 1 for the best value; where chance cannot but reach the best, 1 if the value did."""
    room = best - expected
    if abs(room) < 1e-12:
        return 1.0 if abs(value - best) < 1e-12 else 0.0
    return _difference(value, expected) / room


def permutation_test(
    a: Any,
    b: Any,
    measure: str | Measure = "ari",
    n_permutations: int = 1000,
    random_state: Any = None,
    *,
    null: Null = "permutation",
    sided: Sided = "two",
    stop_after: int | None = None,
    level: float = 0.95,
    threads: int | None = None,
    engine: Literal["auto", "cpu", "cuda"] = "auto",
    progress: Callable[[int, int], Any] | bool | None = None,
    **options: Any,
) -> PermutationTest:
    """How often chance alone agrees as well: p-values of any measure of any two sides that `compare` takes.

    Hard clusterings are drawn as tables, at a cost that does not depend on the number of points; memberships, ensembles
    and matrices have the points of one side dealt out anew, all members together; sample weights stay with their points.
    Points that `unassigned="drop"` leaves out are out of the draws too. The mean is exact for measures affine in Σ n²
    (ari: 0) and for those affine in the mutual information; `.method` says so. `stop_after=10` ends as soon as ten draws
    are as good as the value, and p is then 10 / draws (Besag & Clifford 1991). The options are those of `compare`.
    `engine="cuda"` (or labels that are on a CUDA card) draws there: value and mean are the same, and so are the draws of a
    `random_state` at every run and on every card, but they are not those of the CPU.

    >>> import congruence as cg
    >>> a, b = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 1, 1, 2, 0]
    >>> cg.permutation_test(a, b, "vi", random_state=0)
    vi of a and b: 0.8387, 10 points
      by chance     1.4787 (exact), standard deviation 0.2563 (of the draws), z = -2.497
      p             0.03696 as good or better (95% interval 0.025 to 0.049), 0.07393 two-sided
      null model    the points are dealt out at random, cluster sizes as they are; 1,000 draws
    """
    m = find(measure)
    _check_counts(n_permutations, level, stop_after)
    return _tested(
        problem_of(a, b, m, null, sided, threads, engine=engine, **options), n_permutations, random_state, stop_after,
        level, threads, progress,
    )  # fmt: skip


def _check_counts(n_permutations: int, level: float, stop_after: int | None) -> None:
    if not isinstance(n_permutations, int | np.integer) or n_permutations < 1:
        raise InputError(f"n_permutations must be a whole number above 0, not {n_permutations!r}")
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, as in 0.95, not {level!r}")
    if stop_after is not None and (not isinstance(stop_after, int | np.integer) or stop_after < 1):
        raise InputError(f"stop_after is a number of draws as good as the value, at least 1, not {stop_after!r}")


def _tested(
    t: Problem, total: int, random_state: Any, stop_after: int | None, level: float, threads: int | None, progress: Any
) -> PermutationTest:
    if math.isnan(t.value):
        raise InputError(f"{t.measure.key} is undefined for this pair; there is nothing to test")
    sign = 1.0 if t.measure.better == "higher" else -1.0
    tie = 1e-11 * max(1.0, abs(t.value))

    def as_good(draws: Array) -> Array:
        return np.asarray(~(sign * draws < sign * t.value - tie))  # an undefined draw counts against the value

    def enough(draws: Array) -> bool:
        return int(as_good(draws).sum()) >= stop_after if stop_after is not None else False

    # a card takes one batch after the other, and large ones
    how = (t.batch, random_state, threads) if t.on_card is None else (t.on_card, random_state, 1)
    draws = drawn(t.draw, total, *how, progress, enough)
    good = as_good(draws)
    is_stopped = stop_after is not None and int(good.sum()) >= stop_after
    if is_stopped:
        draws = draws[: int(np.flatnonzero(good)[stop_after - 1]) + 1]  # type: ignore[operator]
        good = good[: len(draws)]
    hits, many = int(good.sum()), len(draws)
    bad = int((~(sign * draws > sign * t.value + tie)).sum())
    p_value = hits / many if is_stopped else (hits + 1) / (many + 1)
    undefined = int(np.isnan(draws).sum())
    cautions = t.cautions
    if undefined:
        cautions += (f"{undefined} of {many} {UNDEFINED}",)
    deviation = float(np.nanstd(draws, ddof=1)) if many > 1 else math.nan
    return PermutationTest(
        t.measure, t.value, _clean(t.expected if t.expected is not None else float(np.nanmean(draws))),
        t.deviation if t.deviation is not None else deviation, t.method or f"mean of {many:,} draws",
        t.deviation is not None, p_value, min(1.0, 2 * min(p_value, (bad + 1) / (many + 1))),
        _interval_of_p(hits, many, level, is_stopped), level, t.null, many, t.n_points, draws, is_stopped, t.best, cautions,
        t.names, t.kind,
    )  # fmt: skip


def _clean(x: float) -> float:
    """What rounding leaves of 0 is 0."""
    return 0.0 if abs(x) < 1e-14 else x


def _interval_of_p(hits: int, many: int, level: float, is_stopped: bool) -> tuple[float, float]:
    """Clopper and Pearson's interval of a proportion; with `is_stopped` that of draws until so many hits."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    misses = many - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    if is_stopped:
        return low, float(betaincinv(hits, misses, 1 - tail)) if misses else 1.0
    return low, float(betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0


# --- many pairs -------------------------------------------------------------------------------------------------

Correction = Literal["holm", "bh", "none"]
CORRECTIONS = {"holm": "Holm", "bh": "Benjamini–Hochberg", "none": "no correction"}


def corrected(p_values: Any, correction: Correction = "holm") -> Array:
    """P-values corrected for their number: "holm" (any false discovery), "bh" (the share of them), "none".

    >>> corrected([0.01, 0.04, 0.03]).round(3).tolist(), corrected([0.01, 0.04, 0.03], "bh").round(3).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    if correction not in CORRECTIONS:
        raise InputError(
            f"there is no correction {correction!r}; {hint(str(correction), CORRECTIONS, 'there are: holm, bh, none')}"
        )
    p = np.asarray(p_values, dtype=np.float64)
    if correction == "none" or not len(p):
        return p.copy()
    order = np.argsort(p, kind="stable")
    rank = np.arange(len(p))
    if correction == "holm":
        ordered = np.maximum.accumulate(p[order] * (len(p) - rank))
    else:
        ordered = np.minimum.accumulate((p[order] * len(p) / (rank + 1))[::-1])[::-1]
    out = np.empty(len(p))
    out[order] = np.minimum(ordered, 1.0)
    return out


@dataclass(frozen=True, eq=False)
class PermutationTests:
    """Permutation tests of several pairs, with p-values corrected for their number.

    >>> import congruence as cg
    >>> r = cg.permutation_tests({"x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 0, 1, 1, 1], "z": [0, 1, 0, 1, 0, 1]}, random_state=0)
    >>> r.correction, r.pairs[0], r.tests[0].value
    ('holm', ('x', 'y'), 1.0)
    """

    pairs: tuple[tuple[str, str], ...]
    tests: tuple[PermutationTest, ...]
    p_corrected: Array
    correction: str
    names: tuple[str, ...]
    cautions: tuple[str, ...] = ()
    kind: str | None = None

    @property
    def measure(self) -> Measure:
        """The measure tested."""
        return self.tests[0].measure

    @property
    def values(self) -> Array:
        """The value of each pair."""
        return np.array([t.value for t in self.tests])

    @property
    def p_values(self) -> Array:
        """The p-value of each pair, not corrected."""
        return np.array([t.p_value for t in self.tests])

    def matrix(
        self, what: Literal["value", "p_value", "p_corrected"] = "p_corrected", backend: str | None = None
    ) -> Any:
        """One of the numbers as a square frame, named on both sides; NaN for pairs that were not tested."""
        place = {name: i for i, name in enumerate(self.names)}
        numbers = {"value": self.values, "p_value": self.p_values, "p_corrected": self.p_corrected}
        if what not in numbers:
            raise InputError(f"matrix shows value, p_value or p_corrected, not {what!r}")
        square = np.full((len(place), len(place)), np.nan)
        for (a, b), x in zip(self.pairs, numbers[what].tolist(), strict=True):
            square[place[a], place[b]] = square[place[b], place[a]] = x
        return square_frame(square, self.names, self.names, backend or self.kind)

    def _columns(self) -> dict[str, list[Any]]:
        rows = [t.to_dict() for t in self.tests]
        columns: dict[str, list[Any]] = {"a": [a for a, _ in self.pairs], "b": [b for _, b in self.pairs]}
        columns |= {name: [row[name] for row in rows] for name in rows[0]}
        return {**columns, "p_corrected": self.p_corrected.tolist(), "correction": [self.correction] * len(rows)}

    def to_frame(self, backend: str | None = None) -> Any:
        """One row a pair."""
        return make_frame(self._columns(), backend or self.kind)

    def to_dict(self) -> dict[str, Any]:
        """Columns by name, one entry a pair."""
        return self._columns()

    def to_json(self, **options: Any) -> str:
        """Rows as JSON, with the cautions."""
        columns = self._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return json.dumps(plain({"tests": rows, "cautions": self.cautions}), ensure_ascii=False, **options)

    def __repr__(self) -> str:
        shown = min(len(self.tests), 40)
        cells = [
            [number(t.value), number(t.expected), f"{t.p_value:.4g}", f"{p:.4g}"]
            for t, p in zip(self.tests[:shown], self.p_corrected.tolist(), strict=False)
        ]
        names = [f"{a}, {b}" for a, b in self.pairs[:shown]]
        name = CORRECTIONS[self.correction]
        grid = text_grid(cells, names, [self.measure.key, "by chance", "p", name])
        head = f"{len(self.tests)} pairs, p-values corrected by {name}" if self.correction != "none" else (
            f"{len(self.tests)} pairs, p-values not corrected for their number"
        )  # fmt: skip
        more = [f"… and {len(self.tests) - shown} more"] if shown < len(self.tests) else []
        return "\n".join([head, grid, *more, *(f"! {c}" for c in self.cautions)])


def permutation_tests(
    clusterings: Any,
    measure: str | Measure = "ari",
    n_permutations: int = 1000,
    random_state: Any = None,
    *,
    reference: Any = None,
    correction: Correction = "holm",
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
    **options: Any,
) -> PermutationTests:
    """Permutation tests of all pairs of clusterings, or of each with a reference, corrected for their number.

    `reference` is a clustering or the name of one. "holm" bounds the chance of any false discovery, "bh" the share of
    false ones among those found. The options are those of `permutation_test`.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 0, 0, 1, 1, 1, 1], "y": [0, 0, 0, 0, 1, 1, 1, 2], "z": [0, 1, 0, 1, 0, 1, 0, 1]}
    >>> cg.permutation_tests(runs, random_state=0)
    3 pairs, p-values corrected by Holm
              ari  by chance        p    Holm
    x, y   0.7742     0.0000  0.03297  0.0989
    x, z  -0.1667     0.0000        1       1
    y, z  -0.1290     0.0000        1       1
    """
    m = find(measure)
    _check_counts(n_permutations, options.get("level", 0.95), options.get("stop_after"))
    corrected([], correction)
    columns, notes, kind = _columns(clusterings)
    named = dict(columns)
    if len(named) < len(columns):
        raise InputError("two clusterings have the same name; give them different ones")
    if reference is None:
        pairs = list(combinations(named, 2))
    else:
        title = reference if isinstance(reference, str) else "reference"
        if isinstance(reference, str) and reference not in named:
            near = hint(reference, named, "there are: " + ", ".join(list(named)[:8]))
            raise InputError(f"there is no clustering {reference!r} to be the reference; {near}")
        pairs = [(title, name) for name in named if name != title]
        named = {title: named[title] if isinstance(reference, str) else reference, **named}
    if not pairs:
        raise InputError("there is no pair of clusterings to test")
    noise = options.pop("noise", None)
    tests = []
    streams = seed_sequence(random_state).spawn(len(pairs))
    with Progress(len(pairs), progress) as bar:
        for (name_a, name_b), stream in zip(pairs, streams, strict=True):
            test = permutation_test(
                named[name_a], named[name_b], m, n_permutations, stream, threads=threads, progress=False,
                noise=_noise_of(noise, name_a, name_b), **options,
            )  # fmt: skip
            tests.append(replace(test, names=(name_a, name_b)))
            bar.add(1)
    p = corrected([t.p_value for t in tests], correction)
    cautions = tuple(dict.fromkeys([*notes, *(_renamed(c, t) for t in tests for c in t.cautions)]))
    few = correction != "none" and len(pairs) / (n_permutations + 1) > 0.05
    if few and p.min() > 0.05:  # by Benjamini and Hochberg, many small p-values help each other
        cautions += (
            f"{n_permutations:,} permutations cannot give a p-value below {1 / (n_permutations + 1):.2g}, and corrected for "
            f"{len(pairs)} pairs that is above 0.05; pass n_permutations={20 * len(pairs):_} or more",
        )
    return PermutationTests(tuple(pairs), tuple(tests), p, correction, tuple(named), cautions, kind)


def _noise_of(noise: Any, a: str, b: str) -> Any:
    """Noise labels by the names of columns, as noise labels of a and b."""
    if not isinstance(noise, dict):
        return noise
    return {who: noise[name] for who, name in (("a", a), ("b", b)) if name in noise} or None


def _renamed(caution: str, t: PermutationTest) -> str:
    """What is said of a and b, said of the clusterings by their names."""
    for who, name in zip(("a", "b"), t.names, strict=True):
        if caution[:2] in (f"{who} ", f"{who}:"):
            return name + caution[1:]
    return caution


# --- adjusted measures ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Expectation:
    """What a measure is on average under a null model, and how that is known."""

    value: float
    #: 0 where the value is exact
    standard_error: float
    #: "closed form", "expected mutual information", or "mean of … draws"
    method: str

    @property
    def is_exact(self) -> bool:
        """No draws were needed."""
        return not self.method.startswith("mean of")


@lru_cache(maxsize=4096)
def _expectation(m: Measure, null: str, sided: str, draws: int, seed: int, a: bytes, b: bytes) -> Expectation:
    """By the cluster sizes, in falling order."""
    random = RandomPair(np.frombuffer(a, np.int64), np.frombuffer(b, np.int64), null, sided)
    exact = random.expected(m)
    if exact is not None:
        return Expectation(_clean(exact[0]), 0.0, exact[1])
    values = drawn(partial(random.values, m), draws, random.batch, seed, 1, False)
    known = values[~np.isnan(values)]
    error = float(known.std(ddof=1)) / math.sqrt(draws) if len(known) > 1 else math.nan
    return Expectation(float(known.mean()) if len(known) else math.nan, error, f"mean of {draws:,} draws")


@dataclass(frozen=True, eq=False, repr=False)
class Adjusted(Measure):
    """A measure on a scale where chance is 0 and its best value 1; made by `cg.adjusted`, used wherever a key is."""

    base: Measure = None  # type: ignore[assignment]
    null: str = "permutation"
    sided: str = "two"
    n_draws: int = 1000
    random_state: int = 0

    @property
    def method(self) -> str:
        """How its expectation is had: "closed form", "expected mutual information", or "mean of … draws"."""
        example = RandomPair(np.array([5, 4, 3]), np.array([6, 4, 2]), self.null, self.sided)
        exact = example.expected(find(self.base, **self.parameters))
        return f"mean of {self.n_draws:,} draws" if exact is None else exact[1]

    def _of_sizes(self, a: Array, b: Array) -> Expectation:
        a, b = (np.ascontiguousarray(-np.sort(-x[x > 0].astype(np.int64))) for x in (a, b))
        if self.base.is_symmetric and not (self.null != "permutation" and self.sided == "one"):
            a, b = sorted((a, b), key=lambda x: x.tolist())  # so that both orders have the same draws
        base = find(self.base, **self.parameters)
        nulls.check_points(float(a.sum()))
        return _expectation(
            _same_record(base), self.null, self.sided, self.n_draws, self.random_state, a.tobytes(), b.tobytes()
        )

    def expectation(self, a: Any, b: Any, **options: Any) -> Expectation:
        """What the measure itself is on average by chance for these two, its standard error, and how it is known."""
        t = problem_of(a, b, find(self.base, **self.parameters), self.null, self.sided, None, **options)
        if t.sizes is not None:
            return self._of_sizes(*t.sizes)
        test = _tested(t, self.n_draws, self.random_state, None, 0.95, None, False)
        return Expectation(test.expected, test.standard_error, test.method)

    def standard_error(self, a: Any, b: Any, **options: Any) -> float:
        """Standard error of the adjusted value: what is not known of the expectation, carried through; 0 if exact."""
        t = problem_of(a, b, find(self.base, **self.parameters), self.null, self.sided, None, **options)
        e = self.expectation(a, b, **options)
        # d/dE of (x − E)/(best − E)
        room = t.best - e.value
        return abs(t.value - t.best) / room**2 * e.standard_error if room else 0.0

    def check(self, *, soft: bool, weighted: bool) -> None:
        """Beside what the measure itself refuses: tables of memberships and weights do not tell what chance gives."""
        self.base.check(soft=soft, weighted=weighted)
        if soft or weighted:
            what = "memberships" if soft else "sample_weight"
            raise NotApplicable(
                f"{self.key} of {what} needs the points, not their table alone: call the measure itself, as in m(a, b), or "
                "cg.permutation_test(a, b, …).adjusted"
            )

    def __call__(self, a: Any, b: Any, **options: Any) -> float:
        """The adjusted measure of two clusterings, matrices or ensembles; the options are those of `compare`."""
        t = problem_of(a, b, find(self.base, **self.parameters), self.null, self.sided, None, **options)
        if t.sizes is not None:
            return super().__call__(a, b, **options)
        if math.isnan(t.best):
            raise NotApplicable(
                f"{self.base.key} of memberships has no best value to adjust to; adjust a normalised measure, as nmi_sum"
            )
        return _tested(t, self.n_draws, self.random_state, None, 0.95, None, False).adjusted

    def __reduce__(self) -> tuple[Any, ...]:
        base = find(self.base, **self.parameters)
        return _adjusted_again, (base, self.null, self.sided, self.n_draws, self.random_state)

    def __repr__(self) -> str:
        return f"Adjusted({self.key}: {self.title}, {self.method}, higher is better, at most 1)"


_RECORDS: dict[tuple[str, tuple[tuple[str, Any], ...]], Measure] = {}


def _same_record(m: Measure) -> Measure:
    """One record for each key and parameters, so that expectations are remembered."""
    if isinstance(m, Adjusted):
        return m
    return _RECORDS.setdefault((m.key, tuple(sorted(m.parameters.items(), key=str))), m)


def _adjusted_again(base: Measure, null: Null, sided: Sided, n_draws: int, random_state: int) -> Measure:
    return adjusted(base, null=null, sided=sided, n_draws=n_draws, random_state=random_state)


def adjusted(
    measure: str | Measure,
    null: Null = "permutation",
    *,
    sided: Sided = "two",
    n_draws: int = 1000,
    random_state: int = 0,
) -> Adjusted:
    """The measure adjusted for chance, (value − expected) / (best − expected): 0 for chance, 1 for the best value.

    The expectation under the null model (see `congruence.chance`) is exact where the measure is affine in Σ n² or in the
    mutual information, and the mean of `n_draws` draws from `random_state` otherwise; `.method` says which, `.expectation(a, b)`
    gives it with its standard error. Distances become similarities; `mi`, which has no best value, is held against the
    larger entropy. With `sided="one"` a is a fixed reference and b alone is random. In `compare`, `compare_to` and
    `compare_all` it takes hard clusterings; called itself, memberships, weights, ensembles and matrices too.

    >>> import congruence as cg
    >>> m = cg.adjusted("jaccard")
    >>> a, b = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    >>> m.method, round(m(a, b), 3), round(m.standard_error(a, b), 3)
    ('mean of 1,000 draws', 0.136, 0.005)
    >>> cg.adjusted("rand").method, round(cg.adjusted("rand")(a, b), 6) == round(cg.ari(a, b), 6)
    ('closed form', True)
    >>> round(cg.adjusted("rand", null="all")([0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2]), 6)
    0.475178
    """
    base = find(measure)
    check_null(null, sided)
    if base.is_lone:
        raise NotApplicable(f"{base.key} describes one ensemble or matrix; there is no pair to adjust for chance")
    if isinstance(base, Adjusted):
        raise InputError(f"{base.key} is adjusted for chance already")
    if not isinstance(n_draws, int | np.integer) or n_draws < 2:
        raise InputError(f"n_draws must be a whole number above 1, not {n_draws!r}")
    if not isinstance(random_state, int | np.integer):
        raise InputError("random_state must be a whole number here: a measure has one value, also the second time")
    suffix = "" if null == "permutation" else f"_{null}" + ("_one_sided" if sided == "one" else "")
    if null == "permutation":
        sided = "two"  # the same
    axioms = base.axioms & ({"symmetric", "definite"} if sided == "two" else {"definite"}) | (
        {"baseline"} if null == "permutation" else set()
    )
    record: list[Adjusted] = []

    def formula(t: Tables, **parameters: Any) -> Array:
        return _adjusted_values(replace(record[0], parameters=MappingProxyType(parameters)), t)

    def workings(table: Table, **parameters: Any) -> dict[str, Any]:
        m, tile = replace(record[0], parameters=MappingProxyType(parameters)), Tables.of(table)
        one = find(base, **parameters)
        e = m._of_sizes(table.row_sums, table.col_sums)
        return {"value": float(measured(one, tile)[0]), "E": e.value, "best": best_value(one, tile)}

    made = Adjusted(
        f"adjusted_{base.key}{suffix}", f"{base.title}, adjusted for chance", Tables, formula, "higher", (-math.inf, 1.0),
        (f"adjusted_{base.key}{suffix} = (value - E) / (best - E)",), frozenset(axioms), 0.0,
        "hubert1985" if null == "permutation" else "gates2017", "", workings, (), False, False, base.parameters, base, null,
        sided, int(n_draws), int(random_state),
    )  # fmt: skip
    words = [] if not made.method.startswith("mean of") else [f"its expectation is the {made.method}, not exact"]
    words += [base.caution] if base.caution and base.key == "lambda" else []
    made = replace(made, caution="; ".join(words))
    record.append(made)
    return made


def _adjusted_values(m: Adjusted, t: Tables) -> Array:
    """The adjusted measure of every pair of a tile; NaN at 0/0."""
    base = find(m.base, **m.parameters)
    value = measured(base, t)
    expected, best = np.empty(len(t)), np.full(len(t), base.best)
    for i, table in enumerate(t.each()):
        expected[i] = m._of_sizes(table.row_sums, table.col_sums).value if table.n else np.nan
        if not math.isfinite(base.best):
            best[i] = best_value(base, Tables.of(table))
    return ratio(value - expected, best - expected, 1e-12)


# --- confidence intervals ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ConfidenceInterval:
    """Where the value of a measure lies for the population that the points are a sample of; `low, high = interval`.

    >>> import congruence as cg
    >>> a = [0] * 50 + [1] * 50
    >>> b = [0] * 45 + [1] * 55
    >>> low, high = cg.confidence_interval(a, b, "ari", random_state=0)
    >>> low < cg.ari(a, b) < high
    True
    """

    measure: Measure
    value: float
    low: float
    high: float
    level: float
    standard_error: float
    #: how much larger the value is than that of the population, on average, for this number of points; taken off
    bias: float
    n_resamples: int
    n_points: int
    cautions: tuple[str, ...] = ()
    names: tuple[str, str] = ("a", "b")
    kind: str | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    @property
    def method(self) -> str:
        """How the interval was had."""
        return f"{self.n_resamples:,} halves of the points, drawn without replacement"

    def to_dict(self) -> dict[str, Any]:
        """All numbers by name."""
        names = ("value", "low", "high", "level", "standard_error", "bias", "n_resamples", "n_points", "method")
        return {"measure": self.measure.key, **{name: getattr(self, name) for name in names}}

    def to_frame(self, backend: str | None = None) -> Any:
        """One row with all numbers."""
        return make_frame({name: [value] for name, value in self.to_dict().items()}, backend or self.kind)

    def to_json(self, **options: Any) -> str:
        """All numbers as JSON, with the cautions."""
        return json.dumps(plain({**self.to_dict(), "cautions": self.cautions}), ensure_ascii=False, **options)

    def __repr__(self) -> str:
        a, b = self.names
        lines = [
            f"{self.measure.key} of {a} and {b}: {number(self.value)}, {self.n_points:,} points",
            f"  {self.level:.0%} interval  {number(self.low)} to {number(self.high)}",
            f"  standard error {self.standard_error:.4g}, bias {self.bias:.2g} taken off; {self.method}",
        ]
        return "\n".join([*lines, *(f"! {c}" for c in self.cautions)])


SAME_HALVES = "every half of the points has the same value: more points may differ, but how much cannot be told"
#: largest part of the standard error by which two ways to take the bias off may differ
DOUBT = 0.3
#: share of points alone in their cell of the table up to which entropies are to be trusted
MOST_ALONE = 0.05


def confidence_interval(
    a: Any,
    b: Any,
    measure: str | Measure = "ari",
    level: float = 0.95,
    *,
    n_resamples: int = 1000,
    random_state: Any = None,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
    **options: Any,
) -> ConfidenceInterval:
    """Where a measure lies for the population that the points are a sample of, by random halves of the points.

    The bootstrap draws points with replacement, and copies of a point agree with each other: it finds agreement where
    there is none. Halves drawn without replacement vary about their mean as the value does about that of the population
    (the delete-half jackknife). What the value is too high or too low for this number of points is told from halves and
    taken off; quarters tell whether that may be trusted, and if not the interval is refused. Hard clusterings are drawn from
    their table, at a cost that does not depend on the number of points. The options are those of `compare`.

    >>> import congruence as cg
    >>> cg.confidence_interval([0] * 60 + [1] * 60, [0] * 50 + [1] * 70, "rand", random_state=0)
    rand of a and b: 0.8459, 120 points
      95% interval  0.7633 to 0.9312
      standard error 0.04279, bias -0.0013 taken off; 1,000 halves of the points, drawn without replacement
    """
    m = find(measure)
    _check_counts(n_resamples, level, None)
    if n_resamples < 20:
        raise InputError(f"an interval takes at least 20 resamples, better 1000; not {n_resamples}")
    t = problem_of(a, b, m, "permutation", "two", threads, **options)
    if t.n_points < 16:
        raise NotApplicable(f"an interval needs at least 16 points to take quarters of, and there are {t.n_points}")
    if math.isnan(t.value):
        raise InputError(f"{m.key} is undefined for this pair; there is no interval of it")
    needs = m.base.needs if isinstance(m, Adjusted) else m.needs
    if issubclass(needs, Info | MemberInfo) and t.alone > MOST_ALONE:
        raise NotApplicable(
            f"{t.alone:.0%} of the points are alone in their cell of the table, so that much of the entropy is still unseen: the "
            f"clusters are too small for an interval of {m.key}; take more points, or a measure that counts pairs (ari, jaccard)"
        )
    half, quarter = t.n_points // 2, t.n_points // 4
    streams = seed_sequence(random_state).spawn(2)
    with Progress(2 * n_resamples, progress, "resamples") as bar:

        def parts(points: int, stream: Any) -> Array:
            draw = partial(_parts, t, points)
            return drawn(draw, n_resamples, t.batch, stream, threads, lambda done, _: bar.add(done + first - bar.done))

        first = 0
        halves = parts(half, streams[0])
        first = n_resamples
        quarters = parts(quarter, streams[1])
    share = half / (t.n_points - half)
    mean_half, mean_quarter = float(halves.mean()), float(quarters.mean())
    error = float(halves.std(ddof=1)) * math.sqrt(share)
    bias = (mean_half - t.value) * share
    # the bias goes with 1/n: then quarters are off by twice as much again
    doubt = abs(2 * t.value - 3 * mean_half + mean_quarter) / 3
    noise = math.sqrt(float(halves.var()) + float(quarters.var()) / 9) / math.sqrt(n_resamples)
    # where no matching of clusters is clearly the best, the best of the sample is too good, and that goes with 1/√n
    vague = needs in (Table, Maxima) and abs(bias) > 0.5 * error + 2 * noise
    if not math.isfinite(doubt) or vague or doubt > DOUBT * error + 2 * noise + 1e-12:
        raise NotApplicable(_why_not(t, mean_half, mean_quarter))
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * error + doubt
    low, high = np.clip([t.value - bias - reach, t.value - bias + reach], *m.range).tolist()
    cautions = t.cautions
    if error < 1e-12:
        cautions += (SAME_HALVES,)
    return ConfidenceInterval(
        m, t.value, low, high, level, error, bias, n_resamples, t.n_points, cautions, t.names, t.kind
    )


def _parts(t: Problem, points: int, rng: np.random.Generator, draws: int) -> Array:
    return t.subset(rng, draws, points)


def _why_not(t: Problem, half: float, quarter: float) -> str:
    clusters = f" in {len(t.sizes[0])} and {len(t.sizes[1])} clusters" if t.sizes is not None else ""
    return (
        f"{t.measure.key} depends too much on the number of points for an interval: {number(t.value)} with all {t.n_points:,}"
        f"{clusters}, {number(half)} with half, {number(quarter)} with a quarter of them; the clusters are too small, or the "
        "agreement too near to chance; take more points, or a measure that counts pairs (ari, jaccard)"
    )


# --- beside the values of a comparison --------------------------------------------------------------------------


def beside(
    result: Comparison, a: Any, b: Any, *, p_values: bool, intervals: bool, n_permutations: int = 1000, level: float = 0.95,
    random_state: Any = 0, **options: Any,
) -> Comparison:  # fmt: skip
    """The comparison with p-values and intervals beside its values; where there is no such thing, NaN and a caution."""
    further: dict[str, dict[str, float]] = {}
    cautions: list[str] = []
    for key, m in result.measures.items():
        if p_values:
            p, said = _or_nan(lambda m=m: permutation_test(a, b, m, n_permutations, random_state, **options))  # type: ignore[misc]
            further.setdefault("p", {})[key] = p.p_value if p is not None else math.nan
            cautions += said + _own(p, f"p of {key}")
        if intervals:
            ci, said = _or_nan(lambda m=m: confidence_interval(a, b, m, level, random_state=random_state, **options))  # type: ignore[misc]
            for name, x in zip(("low", "high"), ci if ci is not None else (math.nan, math.nan), strict=True):
                further.setdefault(name, {})[key] = x
            cautions += [f"no interval of {key}: {c}" for c in said] + _own(ci, f"interval of {key}")
    if p_values:
        cautions.append(
            f"p: share of {n_permutations:,} random permutations that agree as well or better, with the +1 rule"
        )
    if intervals:
        cautions.append(
            f"low, high: {level:.0%} confidence interval, by halves of the points drawn without replacement"
        )
    return replace(result, further=further, cautions=(*result.cautions, *cautions))


def _or_nan(work: Callable[[], Any]) -> tuple[Any, list[str]]:
    try:
        return work(), []
    except NotApplicable as reason:
        return None, [str(reason)]


def _own(found: Any, what: str) -> list[str]:
    """What a test or an interval says of itself; what it says of the points is with the comparison already."""
    said = [] if found is None else found.cautions
    return [f"{what}: {c}" for c in said if c == SAME_HALVES or c.endswith(UNDEFINED)]


def beside_reference(
    result: AgainstReference, reference: Any, named: Mapping[str, Any], *, p_values: bool, intervals: bool,
    n_permutations: int = 1000, level: float = 0.95, correction: Correction = "holm", random_state: Any = 0, **options: Any,
) -> AgainstReference:  # fmt: skip
    """The same for several clusterings and a reference; p-values are corrected for the number of clusterings."""
    further: dict[str, Array] = {}
    cautions: list[str] = []
    for key, m in result.measures.items():
        if p_values:
            tests = permutation_tests(
                dict(named), m, n_permutations, random_state, reference=reference, correction=correction, **options
            )
            further[f"{key} p"] = tests.p_corrected
            cautions += [c for c in tests.cautions if "n_permutations" in c and c not in cautions]
        if intervals:
            noise = options.get("noise")
            found = np.full((2, len(named)), np.nan)
            for i, (name, b) in enumerate(named.items()):
                own = {**options, "noise": _noise_of(noise, result.reference, name)}
                ci, said = _or_nan(
                    lambda m=m, b=b, own=own: confidence_interval(
                        reference, b, m, level, random_state=random_state, **own
                    )  # type: ignore[misc]
                )
                found[:, i] = tuple(ci) if ci is not None else np.nan
                cautions += [f"no interval of {key} for {name}: {c}" for c in said]
                cautions += _own(ci, f"interval of {key} for {name}")
            further[f"{key} low"], further[f"{key} high"] = found
    if p_values:
        how = (
            "not corrected"
            if correction == "none"
            else f"corrected by {CORRECTIONS[correction]}, each measure by itself"
        )
        cautions.append(
            f"p: {n_permutations:,} random permutations with the +1 rule, {how} for {len(named)} clusterings"
        )
    if intervals:
        cautions.append(
            f"low, high: {level:.0%} confidence interval, by halves of the points drawn without replacement"
        )
    return replace(result, further=further, cautions=(*result.cautions, *cautions))
