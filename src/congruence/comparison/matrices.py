"""Compare similarity matrices and ensembles."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, cast

import numpy as np

from congruence.comparison.pair import Comparison, applied
from congruence.comparison.plans import NO_TABLE, Plan
from congruence.engine import matrices
from congruence.errors import A, B, InputError, NotApplicable
from congruence.formulas import current_measures
from congruence.formulas.record import Measure, Measures, chosen_measures
from congruence.inputs.effects import refuse_idle
from congruence.inputs.kinds import PointPairs
from congruence.inputs.matrix_pair import PairOfMatrices, of_matrices
from congruence.statistics.matrices import Alone, MatrixSums, MemberInfo
from congruence.statistics.pairs import Gram
from congruence.statistics.profiles import Profiles
from congruence.typing import EngineName

if TYPE_CHECKING:
    from congruence.inputs.ensemble import Ensemble


def compare_matrices(pair: PairOfMatrices, measures: Measures, threads: int | None, engine: EngineName) -> Comparison:
    """Measures of two matrices, ensembles, or a matrix or ensemble and a partition."""
    p, q = pair.a, pair.b
    chosen, strict = chosen_measures(
        measures, [m.key for m in current_measures() if issubclass(m.needs, Gram | MatrixSums | MemberInfo)]
    )
    within = any(m.needs is MatrixSums for m in chosen)
    counted = cache(partial(matrices.sums_of, p, q, within=within, threads=threads, engine=engine))

    def sums_for(m: Measure) -> MatrixSums:
        return counted(missing=m.parameters.get("missing", "ratio"))

    def value(m: Measure) -> float:
        _check_matrices(m, p, q)
        if issubclass(m.needs, MemberInfo):
            return float(m.values(matrices.member_info(cast("Ensemble", p), cast("Ensemble", q), m.needs))[0])
        sums = sums_for(m)
        _check_unit(m, p, q)
        return float(m.values(sums)[0])

    values, skipped = applied(chosen, strict, value)
    shown = {m.key: m for m in chosen if m.key in values}
    own = None
    if within and any(not issubclass(m.needs, MemberInfo) for m in shown.values()):

        def with_itself(m: Measure, side: str) -> float:
            return np.nan if issubclass(m.needs, MemberInfo) else float(m.values(sums_for(m).alone(side))[0])

        own = ({k: with_itself(m, "a") for k, m in shown.items()}, {k: with_itself(m, "b") for k, m in shown.items()})
    return Comparison(
        values_=values, measures=shown, n_used=p.n_points, cautions=pair.cautions,
        skipped=skipped, self_values=own, about=(p.described, q.described),
    )  # fmt: skip


def _check_matrices(m: Measure, p: PointPairs, q: PointPairs) -> None:
    """The reason why a measure does not apply to matrices and ensembles, if it does not."""
    if not (p.members or q.members):
        refuse_idle(matrices.sums_of, m.parameters, "for matrices, which have no missing labels")
    if m.needs is Profiles:
        m.check(soft=False, weighted=False)
    if (p.has_covers or q.has_covers) and issubclass(m.needs, MemberInfo):
        raise NotApplicable(f"{m.key} is not defined for members that are covers; see compare_all")
    one = [len(x.members) == 1 and not x.has_covers for x in (p, q)]
    if not issubclass(m.needs, Gram | MatrixSums | MemberInfo):
        why = (
            "describes one ensemble or matrix: " + f"cg.{m.key}(a)" if m.needs is Alone else "compares two clusterings"
        )
        raise NotApplicable(f"{m.key} {why}; for the members one by one see consensus_index and compare_all")
    if m.family != "matrices" and not all(one):
        raise NotApplicable(f"{m.key} compares two clusterings; for matrices and ensembles see arimm")
    if m.wants_partition and not any(one):
        raise NotApplicable(
            f"{m.key} compares a matrix or ensemble with one partition; neither side is a partition; use arimm"
        )
    if issubclass(m.needs, MemberInfo):
        if not (p.members and q.members and any(one)):
            raise NotApplicable(f"{m.key} compares the members of an ensemble with one partition")
        if p.has_gaps or q.has_gaps:
            raise NotApplicable(f"{m.key} is not defined for members that label only some of the points")
        m.check(soft=False, weighted=p.mass is not None and not p.mass.is_frequency)


def _check_unit(m: Measure, p: PointPairs, q: PointPairs) -> None:
    """Raise for kernels with entries outside 0 … 1, except for alignment and correlation."""
    for x, who in ((p, A), (q, B)):
        if x.is_tiny:
            raise InputError(f"{who}: all entries are within {max(map(abs, x.span)):.3g} of 0; multiply the matrix")
        if not x.is_unit and not m.takes_kernels:
            low, high = x.span
            raise NotApplicable(
                f"{m.key} needs entries between 0 and 1; {who} has {low:.4g} to {high:.4g}; kas and sms take any kernel"
            )


PLAN = Plan(of_matrices, compare_matrices, NO_TABLE)
