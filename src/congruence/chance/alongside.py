"""p-values and intervals shown alongside the values of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

import numpy as np

from congruence.chance.intervals import ConfidenceInterval, confidence_interval
from congruence.chance.many_tests import CORRECTIONS, Correction, noise_of, permutation_tests
from congruence.chance.permutation import DRAWS, PermutationTest, permutation_test
from congruence.comparison.pair import Comparison
from congruence.comparison.results import AgainstReference
from congruence.errors import Caution, NotApplicable
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, OptionValue, Seed

T = TypeVar("T")

#: cautions of tests and intervals to keep; those about the points are already in the comparison
OWN = ("undefined_draws", "same_halves")


def beside(
    result: Comparison, a: ClusteringLike, b: ClusteringLike, *, p_values: bool, intervals: bool,
    n_permutations: int | None = None,
    level: float = 0.95, random_state: Seed = 0, **options: OptionValue,
) -> Comparison:  # fmt: skip
    """The comparison with p-values and intervals; NaN and a caution for those that cannot be computed."""
    further: dict[str, dict[str, float]] = {}
    cautions: list[Caution] = []
    ways: set[bool] = set()
    for key, m in result.measures.items():
        if p_values:
            p, said = _or_why(partial(permutation_test, a, b, m, n_permutations, random_state, **options))
            further.setdefault("p", {})[key] = p.p_value if p is not None else math.nan
            ways |= set() if p is None else {p.is_drawn}
            cautions += [Caution("no_p_value", key, why) for why in said] + _own(p, f"p of {key}")
        if intervals:
            ci, said = _or_why(partial(confidence_interval, a, b, m, level, random_state=random_state, **options))
            for name, x in zip(("low", "high"), ci if ci is not None else (math.nan, math.nan), strict=True):
                further.setdefault(name, {})[key] = x
            cautions += [Caution("no_interval", key, f"no interval of {{subject}}: {why}") for why in said]
            cautions += _own(ci, f"interval of {key}")
    drawn = f"(1 + permutations that agree as well or better) / (1 + {n_permutations or DRAWS:,} random permutations)"
    how = f"p: {_ways(ways, drawn)}"
    return replace(
        result, further=further, cautions=(*result.cautions, *cautions, *_how(p_values and how, intervals, level))
    )


def _or_why(work: Callable[[], T]) -> tuple[T | None, list[str]]:
    """The result, or None and the reason."""
    try:
        return work(), []
    except NotApplicable as reason:
        return None, [str(reason)]


def _own(found: PermutationTest | ConfidenceInterval | None, what: str) -> list[Caution]:
    said = [] if found is None else found.cautions
    return [Caution(c.code, what, f"{{subject}}: {c}") for c in said if c.code in OWN]


def _ways(drawn: set[bool], by_draws: str) -> str:
    """How the p-values were computed: by draws, by exact moments, or both."""
    by_moments = "exact moments under permutation, without draws"
    return f"{by_moments}; for the others {by_draws}" if len(drawn) == 2 else by_draws if True in drawn else by_moments


def _how(p_values: str | bool, intervals: bool, level: float) -> list[Caution]:
    """Notes on how the extra columns were computed."""
    halves = f"low, high: {level:.0%} confidence interval, from random halves of the points"
    made = [Caution("p_values", "", p_values)] if isinstance(p_values, str) else []
    return made + ([Caution("intervals", "", halves)] if intervals else [])


def beside_reference(
    result: AgainstReference, reference: ClusteringLike, named: Mapping[str, ClusteringLike], *, p_values: bool,
    intervals: bool,
    n_permutations: int | None = None, level: float = 0.95, correction: Correction = "holm", random_state: Seed = 0,
    **options: OptionValue,
) -> AgainstReference:  # fmt: skip
    """The same for several clusterings and a reference; p-values are corrected for the number of clusterings."""
    further: dict[str, dict[str, Array]] = {}
    cautions: list[Caution] = []
    ways: set[bool] = set()
    for key, m in result.measures.items():
        if p_values:
            tests = permutation_tests(
                dict(named), m, n_permutations, random_state, reference=reference, correction=correction, **options
            )
            further.setdefault("p", {})[key] = tests.p_corrected
            ways |= {t.is_drawn for t in tests.tests}
            cautions += [c for c in tests.cautions if c.code == "few_permutations" and c not in cautions]
        if intervals:
            found = np.full((2, len(named)), np.nan)
            for i, (name, b) in enumerate(named.items()):
                own = {**options, "noise": noise_of(options.get("noise"), result.reference, name)}
                ci, said = _or_why(
                    partial(confidence_interval, reference, b, m, level, random_state=random_state, **own)
                )
                found[:, i] = tuple(ci) if ci is not None else np.nan
                cautions += [
                    Caution("no_interval", key, f"no interval of {{subject}} for {name}: {why}") for why in said
                ]
                cautions += _own(ci, f"interval of {key} for {name}")
            for name, values in zip(("low", "high"), found, strict=True):
                further.setdefault(name, {})[key] = values
    made = (
        "not corrected"
        if correction == "none"
        else f"corrected by {CORRECTIONS[correction]}, separately for each measure"
    )
    drawn = f"(1 + permutations that agree as well or better) / (1 + {n_permutations or DRAWS:,} random permutations)"
    how = f"p: {_ways(ways, drawn)}, {made} for {len(named)} clusterings"
    return replace(
        result, further=further, cautions=(*result.cautions, *cautions, *_how(p_values and how, intervals, level))
    )
