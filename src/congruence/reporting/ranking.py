"""Agreement with the reference, with intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.chance.draws import chance_bound
from congruence.chance.intervals import confidence_interval
from congruence.chance.many_tests import corrected
from congruence.chance.permutation import permutation_test
from congruence.comparison.results import AllPairs
from congruence.engine.plan import seed_sequence
from congruence.errors import InputError, counted
from congruence.formulas.record import Measure
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering
from congruence.reporting.members import relative, worse
from congruence.typing import Seed

#: most pairs of clusters for which permutations are drawn; above FEW, or with many clusterings, fewer are drawn
MOST_DRAWN, FEW, MANY = 1_000_000, 2000, 100
#: above MANY clusterings, only the BEST ones get intervals
BEST = 50
#: halves per interval of many clusterings
FEW_HALVES = 100

#: no permutations are drawn if the bound from the moments is below this p-value
BEYOND_DOUBT = 0.001


@dataclass(frozen=True, eq=False)
class Ranked:
    """One row of the agreement with the reference."""

    member: int
    #: value of each measure, and that of the first relative to the self-scores
    values: dict[str, float]
    agreement: float
    interval: tuple[float, float] | None = None
    #: p-value, or an upper bound
    p_value: float | None = None
    p_corrected: float | None = None
    is_bound: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class Against:
    """Agreement with the reference, best first by the first measure."""

    name: str
    rows: tuple[Ranked, ...]
    notes: tuple[str, ...] = ()


def against_of(
    e: Ensemble, scored: AllPairs, same: Sequence[int | None], random_state: Seed, threads: int | None
) -> Against:
    """Every member with the reference: all measures, and for the first one an interval and a p-value."""
    first = next(iter(scored))
    m = scored.measures[first]
    agreement = relative(scored[first], m)[0]
    order = sorted(range(1, len(e)), key=lambda i: (worse(agreement[i], m), i))
    streams = seed_sequence(random_state).spawn(len(order))
    drawn: dict[int, Chance] = {}
    found = []
    many = len(order) > MANY
    for place, (i, stream) in enumerate(zip(order, streams, strict=True)):
        first_one = same[i]
        one = i if first_one is None else first_one  # duplicates share one interval
        if one not in drawn:
            drawn[one] = _chance(e.members[0], e.members[i], m, stream, threads, many, not many or place < BEST)
        found.append((i, drawn[one]))
    tested = [(i, x.p) for i, x in found if x.p is not None]
    fixed = (
        dict(zip([i for i, _ in tested], corrected([p for _, p in tested], "bh").tolist(), strict=True))
        if tested
        else {}
    )
    rows = []
    for i, x in found:
        values = {key: float(scored[key][0, i]) for key in scored}
        share = agreement[i] / values[first] if values[first] else 1.0
        interval = None if x.interval is None else (x.interval[0] * share, min(x.interval[1] * share, m.range[1]))
        rows.append(Ranked(i, values, float(agreement[i]), interval, x.p, fixed.get(i), x.draws == 0, x.why))
    return Against(e.names[0], tuple(rows), tuple(_notes(m, [x for _, x in found], many)))


def _notes(m: Measure, found: Sequence[Chance], many: bool) -> list[str]:
    notes = []
    if any(x.interval for x in found):
        notes.append(
            f"95% intervals ({m.title}) come from random halves of the points. They estimate the value in the population "
            "from which the points were sampled."
            + (
                f" With more than {MANY} clusterings, only the {BEST} best have one, from {FEW_HALVES} halves."
                if many
                else ""
            )
        )
    draws = sorted({x.draws for x in found if x.p is not None and x.draws})
    if draws:
        times = " to ".join(dict.fromkeys(f"{x:,}" for x in (draws[0], draws[-1])))
        notes.append(
            f"p: share of {times} random permutations of the points that agree as well or better, corrected for the number of "
            "clusterings by the method of Benjamini and Hochberg."
        )
    if any(x.p is not None and not x.draws for x in found):
        notes.append(
            f"Without permutations, p comes from their exact moments, or p < {BEYOND_DOUBT} follows from the exact variance "
            "(Cantelli's inequality)."
        )
    why = dict.fromkeys(x.why for x in found if x.why)
    for text in list(why)[:3]:
        n = sum(x.why == text for x in found)
        notes.append(f"{counted(n, 'clustering')} without an interval or p-value: {text}.")
    return notes


@dataclass(frozen=True)
class Chance:
    """Interval, p-value and number of permutations (0: none needed) of one pair, and why a value is missing."""

    interval: tuple[float, float] | None
    p: float | None
    why: str
    draws: int


def _chance(
    a: Clustering,
    b: Clustering,
    m: Measure,
    stream: np.random.SeedSequence,
    threads: int | None,
    many: bool,
    with_interval: bool,
) -> Chance:
    cells = a.k * b.k
    if cells > MOST_DRAWN:
        return Chance(None, None, f"more than {MOST_DRAWN:,} pairs of clusters", 0)
    draws = (
        99 if a.soft or b.soft else 199 if many or cells > FEW else 999
    )  # soft clusterings are shuffled point by point
    test, interval = stream.spawn(2)
    p, low_high, why, used = None, None, "", draws
    try:
        if m.key in ("ari", "ari_gram") and (bound := chance_bound(a, b)) < BEYOND_DOUBT:
            p, used = bound, 0
        if p is None:
            many_draws = draws if a.soft or b.soft else None
            alone = permutation_test(a, b, m, many_draws, test, threads=threads, progress=False, unassigned="drop")
            p, used = alone.p_value, alone.n_permutations
        if with_interval:
            low, high = confidence_interval(
                a, b, m, n_resamples=FEW_HALVES if many else min(draws + 1, 400), random_state=interval,
                threads=threads, progress=False, unassigned="drop",
            )  # fmt: skip
            low_high = (low, high)
    except InputError as reason:
        why = str(reason)
    return Chance(low_high, p, why, used)
