"""Confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from congruence.chance.adjusted import Adjusted
from congruence.chance.permutation import check_counts
from congruence.chance.problems import Problem, drawn, problem_of
from congruence.comparison.presenting import Result, number
from congruence.engine.plan import Progress, seed_sequence
from congruence.errors import Caution, InputError, NotApplicable
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.options import described
from congruence.statistics.information import Info
from congruence.statistics.matrices import MemberInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.tables import Array, Table
from congruence.typing import ClusteringLike, OptionValue, ProgressLike, Record, Seed


@dataclass(frozen=True, eq=False, kw_only=True)
class ConfidenceInterval(Result):
    """A confidence interval for the value in the population from which the points were sampled; `low, high = interval`.

    Attributes:
        measure: The record of the measure.
        value: The value of the pair.
        low: Lower bound.
        high: Upper bound.
        level: Level of the interval.
        standard_error: Standard error of the value.
        bias: Estimated bias of the value; it is subtracted.
        n_resamples: Number of halves drawn.
        n_points: Number of points.
        cautions: Cautions about the input.
        names: Names of the two clusterings.
        kind: Kind of frame of the inputs.

    >>> import congruence as cg
    >>> a = [0] * 50 + [1] * 50
    >>> b = [0] * 35 + [1] * 65
    >>> low, high = cg.confidence_interval(a, b, "ari", random_state=0)
    >>> round(low, 2), round(cg.ari(a, b), 2), round(high, 2)
    (0.28, 0.49, 0.76)
    """

    measure: Measure
    value: float
    low: float
    high: float
    level: float
    standard_error: float
    bias: float
    n_resamples: int
    n_points: int
    cautions: tuple[Caution, ...] = ()
    names: tuple[str, str] = ("a", "b")
    kind: str | None = None

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    @property
    def method(self) -> str:
        """How the interval was computed."""
        return f"{self.n_resamples:,} halves of the points, drawn without replacement"

    def to_dict(self) -> Record:
        """All numbers by name."""
        names = ("value", "low", "high", "level", "standard_error", "bias", "n_resamples", "n_points", "method")
        return {"measure": self.measure.key, **{name: getattr(self, name) for name in names}}

    def __repr__(self) -> str:
        a, b = self.names
        lines = [
            f"{self.measure.key} of {a} and {b}: {number(self.value)}, {self.n_points:,} points",
            f"  {self.level:.0%} interval  {number(self.low)} to {number(self.high)}",
            f"  standard error {self.standard_error:.4g}, bias {self.bias:.2g} subtracted; {self.method}",
        ]
        return "\n".join([*lines, *(f"! {c}" for c in self.cautions)])


SAME_HALVES = Caution(
    "same_halves", "", "every half of the points has the same value: the uncertainty cannot be estimated"
)

#: two bias corrections may differ by at most this share of the standard error
DOUBT = 0.3

#: largest share of points alone in their cell for which entropies are trusted
MOST_ALONE = 0.05

#: fewest points on which the clusterings differ; with fewer, intervals miss too often (reproductions/interval_coverage.py)
FEWEST_ASTRAY = 10


@described
def confidence_interval(
    a: ClusteringLike,
    b: ClusteringLike,
    measure: str | Measure = "ari",
    level: float = 0.95,
    *,
    n_resamples: int = 1000,
    random_state: Seed = 0,
    threads: int | None = None,
    progress: ProgressLike = None,
    **options: OptionValue,
) -> ConfidenceInterval:
    """A confidence interval for a measure in the population from which the points were sampled, by random halves.

    The bootstrap is not used: it draws points with replacement, and copies of a point always agree, so it finds agreement
    where there is none. Halves drawn without replacement vary about their mean as the value varies about that of the
    population (the delete-half jackknife). The bias for this number of points is estimated from the halves and subtracted.
    Quarters show whether that estimate can be trusted; if not, there is no interval. Clusterings that differ on little more
    than ten points have an interval that reaches further towards agreement, because those that differ on fewer have none.
    Hard clusterings are drawn from their table, at a cost that does not depend on the number of points. The options are
    those of `compare`.

    Args:
        a, b, measure: See `congruence.options`.
        level: Level of the interval, between 0 and 1. Default 0.95.
        n_resamples: Number of random halves, at least 20. Default 1000.
        random_state, threads, progress: See `congruence.options`.
        options: See `congruence.options`. They may include `engine`.

    Returns:
        A `ConfidenceInterval`: `low, high = interval`, `.standard_error`, `.bias`.

    Raises:
        NotApplicable: If the points are too few, or the value depends too much on their number.
        InputError: If an argument is invalid.

    See also:
        `cg.permutation_test`.

    >>> import congruence as cg
    >>> cg.confidence_interval([0] * 60 + [1] * 60, [0] * 45 + [1] * 75, "rand", random_state=0)
    rand of a and b: 0.7794, 120 points
      95% interval  0.6914 to 0.8974
      standard error 0.0449, bias -0.00051 subtracted; 1,000 halves of the points, drawn without replacement
    """
    m = find(measure)
    check_counts(n_resamples, level, None)
    if n_resamples < 20:
        raise InputError(f"an interval needs at least 20 resamples (1000 are recommended), not {n_resamples}")
    t = problem_of(a, b, m, "permutation", "two", threads, **options)
    needs = m.base.needs if isinstance(m, Adjusted) else m.needs
    _check(t, m, needs)
    halves, quarters = _resampled(t, n_resamples, random_state, threads, progress)
    half = t.n_points // 2
    share = half / (t.n_points - half)
    mean_half, mean_quarter = float(halves.mean()), float(quarters.mean())
    error = float(halves.std(ddof=1)) * math.sqrt(share)
    bias = (mean_half - t.value) * share
    # if the bias is proportional to 1/n, quarters are biased twice as much as halves
    doubt = abs(2 * t.value - 3 * mean_half + mean_quarter) / 3
    noise = math.sqrt(float(halves.var()) + float(quarters.var()) / 9) / math.sqrt(n_resamples)
    # without a clearly best matching, the bias of the best matching is proportional to 1/√n
    vague = needs in (Table, Maxima) and abs(bias) > 0.5 * error + 2 * noise
    if not math.isfinite(doubt) or vague or doubt > DOUBT * error + 2 * noise + 1e-12:
        raise NotApplicable(_why_not(t, mean_half, mean_quarter))
    within = m.range_for(soft=t.is_soft, weighted=options.get("sample_weight") is not None)
    low, high = np.clip(_ends(t, m, bias, error, doubt, level), *within).tolist()
    if error < 1e-12:
        t = replace(t, cautions=(*t.cautions, SAME_HALVES))
    return ConfidenceInterval(
        **t.facts(), low=low, high=high, level=level, standard_error=error, bias=bias, n_resamples=n_resamples
    )


def _check(t: Problem, m: Measure, needs: type) -> None:
    """Refuse pairs whose intervals would be wrong too often."""
    if t.n_points < 16:
        raise NotApplicable(f"an interval needs at least 16 points; there are {t.n_points}")
    if math.isnan(t.value):
        raise InputError(f"{m.key} is undefined for this pair, so it has no interval")
    if issubclass(needs, Info | MemberInfo) and t.alone > MOST_ALONE:
        raise NotApplicable(
            f"{t.alone:.0%} of the points are alone in their cell of the table, so the entropy cannot be estimated: the "
            f"clusters are too small for an interval of {m.key}; use more points, or a pair-counting measure (ari, jaccard)"
        )
    if t.astray is not None and t.astray < FEWEST_ASTRAY:
        only = f"only {t.astray} points lie" if t.astray else "no point lies"
        raise NotApplicable(
            f"{only} outside the largest overlap of their cluster: intervals from so few differences are wrong too often (at "
            f"least {FEWEST_ASTRAY} are needed); use more points"
        )


def _resampled(
    t: Problem, many: int, random_state: Seed, threads: int | None, progress: ProgressLike
) -> tuple[Array, Array]:
    """Values of random halves of the points, and of random quarters."""
    streams = seed_sequence(random_state).spawn(2)
    with Progress(2 * many, progress, "resamples") as bar:

        def parts(points: int, stream: Seed, first: int) -> Array:
            draw = partial(_parts, t, points)
            return drawn(draw, many, t.batch, stream, threads, lambda done, _: bar.add(done + first - bar.done))

        return parts(t.n_points // 2, streams[0], 0), parts(t.n_points // 4, streams[1], many)


def _ends(t: Problem, m: Measure, bias: float, error: float, doubt: float, level: float) -> tuple[float, float]:
    """Both ends of the interval, not yet within the range of the measure."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * error + doubt
    low, high = t.value - bias - reach, t.value - bias + reach
    if t.astray is None:
        return low, high
    # pairs with fewer differences would have been refused: extend towards their agreement
    share = _fewest_expected(t.astray, level, FEWEST_ASTRAY) / _fewest_expected(t.astray, level)
    if m.better == "higher":
        return low, max(high, m.best + (high - m.best) * share)
    return min(low, m.best + (low - m.best) * share), high


def _fewest_expected(seen: int, level: float, least: int = 0) -> float:
    """Lower bound of the mean of a Poisson count that is observed only if it is at least `least`.

    >>> round(_fewest_expected(14, 0.95), 2), round(_fewest_expected(14, 0.95, 10), 2), _fewest_expected(10, 0.95, 10)
    (7.65, 5.18, 0.0)
    """
    from scipy.optimize import brentq
    from scipy.special import pdtrc

    def too_likely(mean: float) -> float:
        return float(pdtrc(seen - 1, mean) / (pdtrc(least - 1, mean) if least else 1.0) - (1 - level) / 2)

    return float(brentq(too_likely, 1e-2, seen)) if seen > least and too_likely(1e-2) < 0 else 0.0


def _parts(t: Problem, points: int, rng: np.random.Generator, draws: int) -> Array:
    return t.subset(rng, draws, points)


def _why_not(t: Problem, half: float, quarter: float) -> str:
    clusters = f" in {len(t.sizes[0])} and {len(t.sizes[1])} clusters" if t.sizes is not None else ""
    return (
        f"{t.measure.key} depends too much on the number of points for an interval: {number(t.value)} with all {t.n_points:,}"
        f"{clusters}, {number(half)} with half, {number(quarter)} with a quarter of them; the clusters are too small, or the "
        "agreement too close to chance; use more points, or a pair-counting measure (ari, jaccard)"
    )
