"""Agreement with the reference, with intervals and p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from congruence.chance.intervals import confidence_interval
from congruence.chance.permutation import corrected, permutation_test
from congruence.comparison.results import AllPairs
from congruence.ensembles.generators import seed_sequence
from congruence.errors import InputError
from congruence.formulas.record import Measure
from congruence.inputs.coerce import Clustering
from congruence.inputs.ensemble import Ensemble
from congruence.reporting.members import worse

#: most pairs of clusters for which chance is drawn; above FEW, or with so many clusterings, there are fewer draws
MOST_DRAWN, FEW, MANY = 1_000_000, 2000, 100


@dataclass(frozen=True, eq=False)
class Ranked:
    """One row of the agreement with the reference."""

    member: int
    values: dict[str, float]
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    p_corrected: float | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class Against:
    """Agreement with the reference, best first by the first measure."""

    name: str
    rows: tuple[Ranked, ...]
    notes: tuple[str, ...] = ()


def against_of(
    e: Ensemble, scored: AllPairs, same: Sequence[int | None], random_state: Any, threads: int | None
) -> Against:
    """Every member with the reference: all measures, and for the first one an interval and a p-value."""
    first = next(iter(scored))
    m = scored.measures[first]
    order = sorted(range(1, len(e)), key=lambda i: (worse(scored[first][0, i], m), i))
    streams = seed_sequence(random_state).spawn(len(order))
    drawn: dict[int, Any] = {}
    found = []
    for i, stream in zip(order, streams, strict=True):
        values = {key: float(scored[key][0, i]) for key in scored}
        first_one = same[i]
        one = i if first_one is None else first_one  # the same partition has the same interval, whatever was drawn
        if one not in drawn:
            drawn[one] = _chance(e.members[0], e.members[i], m, stream, threads, len(order) > MANY)
        found.append((i, values, *drawn[one]))
    p = [x[3] for x in found if x[3] is not None]
    fixed = dict(zip((x[0] for x in found if x[3] is not None), corrected(p, "bh").tolist(), strict=True)) if p else {}
    rows = tuple(Ranked(i, values, interval, p, fixed.get(i), note) for i, values, interval, p, note, _ in found)
    draws = sorted({x[5] for x in found if x[3] is not None})
    notes = []
    if any(x[2] for x in found):
        notes.append(
            f"The intervals are for {m.key}, 95%, from random halves of the points: where the value lies for the population that "
            "the points are a sample of."
        )
    if draws:
        many = " to ".join(dict.fromkeys(f"{x:,}" for x in (draws[0], draws[-1])))
        notes.append(
            f"p is how often {many} random permutations of the points agree as well as that or better, corrected for the number "
            "of clusterings by Benjamini and Hochberg."
        )
    why = dict.fromkeys(x[4] for x in found if x[4])
    notes += [f"{sum(x[4] == text for x in found)} without an interval or p-value: {text}." for text in list(why)[:3]]
    return Against(e.names[0], rows, tuple(notes))


def _chance(
    a: Clustering, b: Clustering, m: Measure, stream: np.random.SeedSequence, threads: int | None, many: bool
) -> tuple[tuple[float, float] | None, float | None, str, int]:
    """Interval, p-value, why one of them is not there, and the number of permutations."""
    cells = a.k * b.k
    if cells > MOST_DRAWN:
        return None, None, f"more than {MOST_DRAWN:,} pairs of clusters", 0
    draws = 99 if a.soft or b.soft else 199 if many or cells > FEW else 999  # soft ones are dealt out point by point
    test, interval = stream.spawn(2)
    options: Any = {"random_state": test, "unassigned": "drop", "progress": False, "threads": threads}
    p, low_high, why = None, None, ""
    try:
        p = permutation_test(a, b, m, draws, **options).p_value
        options["random_state"] = interval
        low, high = confidence_interval(a, b, m, n_resamples=min(draws + 1, 400), **options)
        low_high = (low, high)
    except InputError as reason:
        why = str(reason)
    return low_high, p, why, draws
