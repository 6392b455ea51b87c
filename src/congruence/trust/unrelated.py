"""Whether clusterings of the same points agree more than unrelated ones: the members are permuted independently."""

from __future__ import annotations

from copy import copy

import numpy as np

from congruence.chance.bounds import chance_bound
from congruence.comparison.many import compare_all
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.tables import Array

#: most members whose pairs are compared in each draw, and the number of draws
FEW, DRAWS = 30, 199
#: draws stop when this many agree at least as well: the p-value is then clearly above 0.05
ENOUGH = 20
#: no draws are made if the bound from exact moments is below this p-value
BEYOND_DOUBT = 0.001


def mean_off_diagonal(square: Array) -> float:
    """Mean over pairs of different members; NaN without a defined pair."""
    values = square[np.triu_indices(len(square), 1)]
    known = ~np.isnan(values)
    return float(values[known].mean()) if known.any() else float("nan")


def p_value_of_agreement(e: Ensemble, square: Array, rng: np.random.Generator, threads: int | None = None) -> float:
    """P-value of the mean adjusted Rand index of all pairs, if the members were unrelated clusterings of the same sizes.

    The closest pair is tested first: after Bonferroni's correction, the bound of its p-value from exact moments needs no
    draws. Otherwise the points of every member are permuted independently.

    >>> import congruence as cg
    >>> halves, other = np.repeat([0, 1], 50), np.tile([0, 1], 50)
    >>> def p_value(*runs):
    ...     square = cg.compare_all(runs, ["ari"])["ari"]
    ...     return p_value_of_agreement(cg.Ensemble(runs), square, np.random.default_rng(0))
    >>> p_value(halves, other) > 0.2, p_value(halves, np.roll(halves, 5)) <= 0.01
    (True, True)
    """
    several = len(e) * (len(e) - 1) // 2
    away = np.where(np.eye(len(e), dtype=bool) | np.isnan(square), -np.inf, square)
    a, b = np.unravel_index(int(away.argmax()), away.shape)
    if np.isfinite(away[a, b]):
        bound = several * chance_bound(e.members[int(a)], e.members[int(b)])
        if bound < BEYOND_DOUBT and e.mass is None and not e.has_gaps:
            return float(bound)
    if len(e) > FEW:
        chosen = np.sort(rng.choice(len(e), FEW, replace=False))
        e, square = e[chosen.tolist()], square[np.ix_(chosen, chosen)]
    value = mean_off_diagonal(square)
    if np.isnan(value):
        return 1.0
    as_well = 0
    for done in range(1, DRAWS + 1):
        as_well += mean_off_diagonal(agreement_of(_permuted(e, rng), threads)) >= value - 1e-12
        if as_well >= ENOUGH:
            return (as_well + 1) / (done + 1)
    return (as_well + 1) / (DRAWS + 1)


def agreement_of(e: Ensemble, threads: int | None = None) -> Array:
    """Adjusted Rand index of all pairs of members, each on the points that both label."""
    found = compare_all(e, ["ari"], threads=threads, progress=False, unassigned="drop" if e.has_gaps else "error")
    return np.array(found["ari"])


def _permuted(e: Ensemble, rng: np.random.Generator) -> Ensemble:
    """The members with their points in independent random orders."""
    part = copy(e)
    part.members = tuple(c.taken(rng.permutation(len(c))) for c in e.members)
    return part
