"""Permutation tests of one pair or many."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from congruence.chance.draws import Exactness, Null, pairs_value
from congruence.chance.moments import Margin, Moments, is_reliable, p_values
from congruence.chance.problems import Problem, Sided, drawn, problem_of
from congruence.comparison.presenting import Result, number
from congruence.errors import MOST_DRAWS, Caution, InputError, NotApplicable, Option, known_name, whole_number
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.effects import refuse_idle
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, EngineName, OptionValue, ProgressLike, Record, Seed

Method = Literal["auto", "draws", "moments"]

#: draws if no number is given
DRAWS = 1000


@dataclass(frozen=True, eq=False, kw_only=True)
class PermutationTest(Result):
    """A value compared with its distribution under a null model.

    Attributes:
        measure: The record of the measure.
        value: The value of the pair.
        expected: Mean under the null model.
        standard_deviation: Standard deviation under the null model.
        exactness: How the mean was computed: in closed form, by the expected mutual information, or from the draws.
        is_deviation_exact: Whether the standard deviation is exact.
        p_value: Probability of a value at least as good under the null model: (draws as good + 1) / (draws + 1), or the
            tail of a distribution with the exact moments.
        p_two_sided: Twice the smaller tail.
        p_interval: Interval for the exact p-value; NaN without draws.
        level: Level of that interval.
        null: Description of the null model.
        n_permutations: Number of draws; 0 if p comes from the moments.
        n_points: Number of points.
        draws: The values drawn, in order.
        is_stopped: Whether drawing stopped early.
        best: The best possible value.
        is_identical: Whether the two clusterings are identical; None for other inputs than two partitions or covers.
        cautions: Cautions about the input.
        names: Names of the two clusterings.
        kind: Kind of frame of the inputs.

    >>> import congruence as cg
    >>> r = cg.permutation_test([0] * 9 + [1] * 9, [0] * 8 + [1] * 10, "ari", random_state=0)
    >>> round(r.value, 4), r.expected, round(r.p_value, 4), r.is_drawn
    (0.7772, 0.0, 0.001, True)
    """

    measure: Measure
    value: float
    expected: float
    standard_deviation: float
    exactness: Exactness
    is_deviation_exact: bool
    p_value: float
    p_two_sided: float
    p_interval: tuple[float, float]
    level: float
    null: str
    n_permutations: int
    n_points: int
    draws: Array = field(repr=False)
    is_stopped: bool = False
    best: float = 1.0
    is_identical: bool | None = None
    cautions: tuple[Caution, ...] = ()
    names: tuple[str, str] = ("a", "b")
    kind: str | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether the p-value comes from draws (otherwise from the exact moments)."""
        return self.n_permutations > 0

    @property
    def method(self) -> str:
        """How the mean was computed, as text."""
        return self.exactness.in_words(len(self.draws))

    @property
    def is_exact(self) -> bool:
        """Whether the expected value is exact (otherwise it is the mean of the draws)."""
        return self.exactness.is_exact

    @property
    def standard_error(self) -> float:
        """Standard error of the expected value; 0 if it is exact."""
        if self.is_exact:
            return 0.0
        if not self.is_drawn:
            return math.nan
        return float(np.nanstd(self.draws, ddof=1) / math.sqrt(len(self.draws))) if len(self.draws) > 1 else math.nan

    @property
    def z(self) -> float:
        """Number of standard deviations between the value and its expected value."""
        return _divided(_difference(self.value, self.expected), self.standard_deviation)

    @property
    def adjusted(self) -> float:
        """The value adjusted for chance: (value − expected) / (best − expected), at 0/0 1 for identical clusterings, else 0."""
        room = self.best - self.expected
        if abs(room) >= 1e-12:
            return _difference(self.value, self.expected) / room
        equal = abs(self.value - self.best) < 1e-12 if self.is_identical is None else self.is_identical
        return 1.0 if equal else 0.0

    def to_dict(self) -> Record:
        """All numbers by name."""
        return {
            "measure": self.measure.key, "value": self.value, "expected": self.expected,
            "standard_deviation": self.standard_deviation, "z": self.z, "adjusted": self.adjusted,
            "p_value": self.p_value, "p_two_sided": self.p_two_sided, "p_low": self.p_interval[0],
            "p_high": self.p_interval[1], "n_permutations": self.n_permutations, "null": self.null,
            "method": self.method,
        }  # fmt: skip

    def __repr__(self) -> str:
        a, b = self.names
        low, high = self.p_interval
        exact = "exact" if self.is_exact else f"± {self.standard_error:.1g}" if self.is_drawn else "by moments"
        spread = "exact" if self.is_deviation_exact else "of the draws" if self.is_drawn else "by moments"
        count = f"{self.n_permutations:,} draws" + (", stopped early" if self.is_stopped else "")
        p = f"{self.p_value:.4g} as good or better ({self.level:.0%} interval {low:.2g} to {high:.2g})"
        if not self.is_drawn:
            p, count = f"≈ {self.p_value:.2g} as good or better (moments)", "no draws"
        lines = [
            f"{self.measure.key} of {a} and {b}: {number(self.value)}, {self.n_points:,} points",
            f"  by chance     {number(self.expected)} ({exact}), standard deviation {self.standard_deviation:.4g} ({spread}), "
            f"z = {self.z:.4g}",
            f"  p             {p}, {self.p_two_sided:{'.4g' if self.is_drawn else '.2g'}} two-sided",
            f"  null model    {self.null}; {count}",
        ]
        return "\n".join([*lines, *(f"! {c}" for c in self.cautions)])


def _difference(x: float, y: float) -> float:
    """x − y, and 0 if only rounding error is left."""
    return 0.0 if abs(x - y) < 1e-12 * max(1.0, abs(x)) else x - y


def _divided(x: float, y: float) -> float:
    if y > 0 or math.isnan(y):
        return x / y
    return math.nan if x == 0 or math.isnan(x) else math.copysign(math.inf, x)


@described
def permutation_test(
    a: ClusteringLike,
    b: ClusteringLike,
    measure: str | Measure = "ari",
    n_permutations: int | None = None,
    random_state: Seed = 0,
    *,
    method: Method = "auto",
    null: Null = "permutation",
    sided: Sided = "two",
    stop_after: int | None = None,
    level: float = 0.95,
    threads: int | None = None,
    engine: EngineName = "auto",
    progress: ProgressLike = None,
    **options: OptionValue,
) -> PermutationTest:
    """A permutation test of the agreement of two sides by any measure, for everything that `compare` takes.

    Pair-counting measures of hard clusterings need no draws. The number of pairs that both keep together has an exact mean,
    variance and skewness under permutation, and a Pearson type III distribution with these moments gives p, however small
    (`method="moments"`). For other measures and inputs the points are permuted. Hard clusterings are drawn as tables, at a
    cost that does not depend on the number of points. For memberships, ensembles and matrices the points of one side are
    permuted, all members together; sample weights stay with their points. Points dropped by `unassigned="drop"` take no
    part. The mean is exact for measures affine in Σ n² (ari: 0) or in the mutual information; `.method` says so.
    `stop_after=10` stops as soon as ten draws are as good as the value, and p is then 10 / draws (Besag & Clifford 1991).
    The options are those of `compare`. `engine="cuda"`, or labels on a CUDA GPU, draws on the GPU. The value and the mean are
    the same as on the CPU, but the draws are not; a `random_state` gives the same draws in every run and on every GPU.

    Args:
        a, b, measure: See `congruence.options`.
        n_permutations: Number of draws, at least 1; p is then computed from draws. Default None: 1000 if draws are needed.
        random_state: See `congruence.options`.
        method: How p is computed: "draws"; "moments", for pair-counting measures of hard clusterings; or "auto"
            (default): moments if they are within 15% of the exact p-value and no number of draws is given, else
            draws.
        null: Null model: "permutation" (default; fixed cluster sizes), "n_clusters" (partitions with the same
            numbers of clusters) or "all" (all partitions).
        sided: "two" (default: both are random) or "one" (a is fixed); for the last two null models.
        stop_after: Stop after this many draws as good as the value. Default None: never.
        level: Level of the interval of the p-value, between 0 and 1. Default 0.95.
        threads, engine, progress, options: See `congruence.options`.

    Returns:
        A `PermutationTest`: `.value`, `.expected`, `.p_value`, `.p_interval`, `.z`, `.adjusted`.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.permutation_tests`, `cg.adjusted`, `cg.confidence_interval`.

    >>> import congruence as cg
    >>> thirds, quarters = [i % 3 for i in range(600)], [i % 3 if i % 10 == 0 else i % 4 for i in range(600)]
    >>> cg.permutation_test(thirds, quarters)
    ari of a and b: 0.0067, 600 points
      by chance     0.0000 (exact), standard deviation 0.002311 (exact), z = 2.893
      p             ≈ 0.014 as good or better (moments), 0.027 two-sided
      null model    points permuted at random, cluster sizes fixed; no draws
    >>> a, b = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1, 1, 1, 2, 0]
    >>> cg.permutation_test(a, b, "vi", random_state=0)
    vi of a and b: 0.8387, 10 points
      by chance     1.4787 (exact), standard deviation 0.2563 (of the draws), z = -2.497
      p             0.03696 as good or better (95% interval 0.025 to 0.049), 0.07393 two-sided
      null model    points permuted at random, cluster sizes fixed; 1,000 draws
    """
    refuse_idle(permutation_test, locals())
    m = find(measure)
    check_counts(n_permutations, level, stop_after, method)
    problem = problem_of(a, b, m, null, sided, threads, engine=engine, **options)
    if not is_to_be_drawn(method, n_permutations, stop_after) and (found := by_moments(problem, level, method)):
        return found
    return tested(problem, n_permutations or DRAWS, random_state, stop_after, level, threads, progress)


def is_to_be_drawn(method: str, n_permutations: int | None, stop_after: int | None) -> bool:
    """Whether draws were requested."""
    return method == "draws" or n_permutations is not None or stop_after is not None


def check_counts(n_permutations: int | None, level: float, stop_after: int | None, method: str = "auto") -> None:
    """Refuse invalid numbers of permutations, levels, stopping counts and methods."""
    known_name("method", method, ("auto", "draws", "moments"))
    if method == "moments" and (n_permutations is not None or stop_after is not None):
        raise InputError(
            f"{Option('method', 'moments')} uses no draws; leave out n_permutations and stop_after, or pass "
            f"{Option('method', 'draws')}"
        )
    if n_permutations is not None:
        whole_number(n_permutations, "n_permutations", 1, MOST_DRAWS)
    if not isinstance(level, int | float | np.number) or not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, as in 0.95, not {level!r}")
    if stop_after is not None:
        whole_number(stop_after, "stop_after")


def by_moments(t: Problem, level: float, method: str) -> PermutationTest | None:
    """The test by exact moments; None if they do not apply, or with "auto" if they are not reliable."""
    if t.together is None or t.sizes is None or math.isnan(t.value):
        if method == "moments":
            raise NotApplicable(
                f"the moments are known for pair-counting measures of hard clusterings without weights whose points are "
                f"permuted, not for {t.measure.key} here; pass {Option('method', 'draws')}"
            )
        return None
    a, b = (Margin(x) for x in t.sizes)
    moments = Moments.of([a], [b])
    rises = rise_of(t.measure, t.n_points, a.pairs, b.pairs)
    if rises is None:
        if method == "moments":
            raise NotApplicable(
                f"{t.measure.key} is not monotonic in the number of pairs together; pass {Option('method', 'draws')}"
            )
        return None
    more, fewer = p_values(moments, t.together)
    if method == "auto" and not is_reliable(moments, more, fewer)[0, 0]:
        return None
    tails = float(more[0, 0]), float(fewer[0, 0])
    p, other = tails if rises == (t.measure.better == "higher") else tails[::-1]
    expected, deviation = t.expected, t.deviation
    if expected is None or deviation is None:
        around = pairs_value(
            t.measure,
            t.n_points,
            np.stack([np.full(2000, float(a.pairs)), np.full(2000, float(b.pairs)), moments.quantiles(2000)]),
        )
        expected, deviation = float(around.mean()) if expected is None else expected, float(around.std())
    return without_draws(
        **t.facts("null", "best", "is_identical"), expected=clean(expected), standard_deviation=deviation,
        exactness=Exactness.MOMENTS if t.expected is None else t.exactness, is_deviation_exact=t.deviation is not None,
        p_value=p, p_two_sided=min(1.0, 2 * min(p, other)), level=level,
    )  # fmt: skip


def without_draws(**facts: OptionValue) -> PermutationTest:
    """A test by moments: nothing was drawn, so its p-value has no interval."""
    return PermutationTest(p_interval=(math.nan, math.nan), n_permutations=0, draws=np.empty(0), **facts)


def rise_of(m: Measure, n: int, pairs_a: int, pairs_b: int) -> bool | None:
    """Whether a measure increases with the pairs together (True) or decreases (False); None if it is not monotonic."""
    low, high = max(0, pairs_a + pairs_b - n * (n - 1) // 2), min(pairs_a, pairs_b)
    at = np.stack([np.full(64, float(pairs_a)), np.full(64, float(pairs_b)), np.linspace(low, high, 64)])
    steps = np.diff(pairs_value(m, n, at))
    return True if (steps > 0).all() else False if (steps < 0).all() else None


def tested(
    t: Problem,
    total: int,
    random_state: Seed,
    stop_after: int | None,
    level: float,
    threads: int | None,
    progress: ProgressLike,
) -> PermutationTest:
    """The test of a prepared problem."""
    if math.isnan(t.value):
        raise InputError(f"{t.measure.key} is undefined for this pair; there is nothing to test")
    sign = 1.0 if t.measure.better == "higher" else -1.0
    tie = 1e-11 * max(1.0, abs(t.value))

    def as_good(draws: Array) -> Array:
        return np.asarray(~(sign * draws < sign * t.value - tie))  # an undefined draw counts against the value

    def enough(draws: Array) -> bool:
        return int(as_good(draws).sum()) >= stop_after if stop_after is not None else False

    # a GPU processes large batches one after the other
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
    if undefined:
        text = f"{undefined} of {many} draws are undefined and count as at least as good as the value"
        t = replace(t, cautions=(*t.cautions, Caution("undefined_draws", t.measure.key, text)))
    deviation = float(np.nanstd(draws, ddof=1)) if many > 1 else math.nan
    return PermutationTest(
        **t.facts("null", "best", "is_identical"), standard_deviation=deviation if t.deviation is None else t.deviation,
        expected=clean(float(np.nanmean(draws)) if t.expected is None else t.expected),
        exactness=Exactness.DRAWS if t.expected is None else t.exactness, is_deviation_exact=t.deviation is not None,
        p_value=p_value, p_two_sided=min(1.0, 2 * min(p_value, (bad + 1) / (many + 1))),
        p_interval=_interval_of_p(hits, many, level, is_stopped), level=level, n_permutations=many, draws=draws,
        is_stopped=is_stopped,
    )  # fmt: skip


def clean(x: float) -> float:
    """Set rounding error of 0 to 0."""
    return 0.0 if abs(x) < 1e-14 else x


def _interval_of_p(hits: int, many: int, level: float, is_stopped: bool) -> tuple[float, float]:
    """Clopper and Pearson's interval of a proportion; with `is_stopped`, for draws that stopped after a number of hits."""
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    misses = many - hits
    low = float(betaincinv(hits, misses + 1, tail)) if hits else 0.0
    if is_stopped:
        return low, float(betaincinv(hits, misses, 1 - tail)) if misses else 1.0
    return low, float(betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0
