"""p-values and intervals shown alongside the values of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from congruence.chance.intervals import ConfidenceInterval, confidence_interval
from congruence.chance.many_tests import CORRECTIONS, Correction, noise_of, permutation_tests
from congruence.chance.permutation import DRAWS, PermutationTest, permutation_test
from congruence.comparison.pair import Comparison
from congruence.comparison.results import AgainstReference
from congruence.errors import Caution, NotApplicable
from congruence.formulas.record import Measure
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, OptionValue, Seed

T = TypeVar("T")

#: cautions of tests and intervals to keep; those about the points are already in the comparison
OWN = ("undefined_draws", "same_halves")


@dataclass(frozen=True, kw_only=True)
class Extras:
    """Which extra columns a comparison gets, and how they are computed."""

    p_values: bool
    intervals: bool
    n_permutations: int | None = None
    level: float = 0.95
    random_state: Seed = 0
    #: for several clusterings: how p-values are corrected for their number
    correction: Correction = "holm"

    def interval(
        self, m: Measure, a: ClusteringLike, b: ClusteringLike, about: str, options: dict[str, OptionValue]
    ) -> tuple[tuple[float, float], list[Caution]]:
        """Both ends of the interval of a measure, NaN if it cannot be computed, and cautions."""
        work = partial(confidence_interval, a, b, m, self.level, random_state=self.random_state, **options)
        ci, said = _or_why(work)
        why = [Caution("no_interval", m.key, f"no interval of {{subject}}{about}: {text}") for text in said]
        return (math.nan, math.nan) if ci is None else (ci.low, ci.high), why + _own(ci, f"interval of {m.key}{about}")

    def notes(self, drawn: set[bool], more: str = "") -> list[Caution]:
        """How the extra columns were computed; `drawn` says whether p-values come from draws."""
        by_draws = f"(1 + permutations that agree as well or better) / (1 + {self.n_permutations or DRAWS:,} random permutations)"
        how = "exact moments under permutation, without draws"
        if True in drawn:
            how = f"{how}; for the others {by_draws}" if len(drawn) == 2 else by_draws
        halves = f"low, high: {self.level:.0%} confidence interval, from random halves of the points"
        made = [Caution("p_values", "", f"p: {how}{more}")] if self.p_values else []
        return made + ([Caution("intervals", "", halves)] if self.intervals else [])


def beside(
    result: Comparison, a: ClusteringLike, b: ClusteringLike, extras: Extras, **options: OptionValue
) -> Comparison:
    """The comparison with p-values and intervals; NaN and a caution for those that cannot be computed."""
    further: dict[str, dict[str, float]] = {}
    cautions: list[Caution] = []
    drawn: set[bool] = set()
    for key, m in result.measures.items():
        if extras.p_values:
            p, said = _or_why(partial(permutation_test, a, b, m, extras.n_permutations, extras.random_state, **options))
            further.setdefault("p", {})[key] = p.p_value if p is not None else math.nan
            drawn |= set() if p is None else {p.is_drawn}
            cautions += [Caution("no_p_value", key, why) for why in said] + _own(p, f"p of {key}")
        if extras.intervals:
            ends, said_of_it = extras.interval(m, a, b, "", options)
            cautions += said_of_it
            for name, x in zip(("low", "high"), ends, strict=True):
                further.setdefault(name, {})[key] = x
    return replace(result, further=further, cautions=(*result.cautions, *cautions, *extras.notes(drawn)))


def _or_why(work: Callable[[], T]) -> tuple[T | None, list[str]]:
    """The result, or None and the reason."""
    try:
        return work(), []
    except NotApplicable as reason:
        return None, [str(reason)]


def _own(found: PermutationTest | ConfidenceInterval | None, what: str) -> list[Caution]:
    said = [] if found is None else found.cautions
    return [Caution(c.code, what, f"{{subject}}: {c}") for c in said if c.code in OWN]


def beside_reference(
    result: AgainstReference, reference: ClusteringLike, named: Mapping[str, ClusteringLike], extras: Extras,
    **options: OptionValue,
) -> AgainstReference:  # fmt: skip
    """The same for several clusterings and a reference; p-values are corrected for the number of clusterings."""
    further: dict[str, dict[str, Array]] = {}
    cautions: list[Caution] = []
    drawn: set[bool] = set()
    for key, m in result.measures.items():
        if extras.p_values:
            tests = permutation_tests(
                dict(named), m, extras.n_permutations, extras.random_state, reference=reference,
                correction=extras.correction, **options,
            )  # fmt: skip
            further.setdefault("p", {})[key] = tests.p_corrected
            drawn |= {t.is_drawn for t in tests.tests}
            cautions += [c for c in tests.cautions if c.code == "few_permutations" and c not in cautions]
        if extras.intervals:
            found = np.empty((2, len(named)))
            for i, (name, b) in enumerate(named.items()):
                own = {**options, "noise": noise_of(options.get("noise"), result.reference, name)}
                found[:, i], said = extras.interval(m, reference, b, f" for {name}", own)
                cautions += said
            for name, values in zip(("low", "high"), found, strict=True):
                further.setdefault(name, {})[key] = values
    made = "not corrected"
    if extras.correction != "none":
        made = f"corrected by {CORRECTIONS[extras.correction]}, separately for each measure"
    notes = extras.notes(drawn, f", {made} for {len(named)} clusterings")
    return replace(result, further=further, cautions=(*result.cautions, *cautions, *notes))
