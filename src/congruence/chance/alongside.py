"""p-values and intervals shown alongside the values of a comparison."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from congruence.chance.intervals import SAME_HALVES, confidence_interval
from congruence.chance.permutation import (
    CORRECTIONS,
    UNDEFINED,
    Correction,
    noise_of,
    permutation_test,
    permutation_tests,
)
from congruence.comparison.results import AgainstReference, Comparison
from congruence.errors import NotApplicable
from congruence.statistics.tables import Array

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
                own = {**options, "noise": noise_of(noise, result.reference, name)}
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
