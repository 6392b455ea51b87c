"""Compare similarity matrices and ensembles."""

from __future__ import annotations

import numpy as np

from congruence.comparison.pair import Comparison
from congruence.comparison.plans import Plan
from congruence.engine import matrices
from congruence.errors import InputError, NotApplicable
from congruence.formulas import current_measures
from congruence.formulas.record import Measure, Measures, chosen_measures
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.matrix_pair import PairOfMatrices, of_matrices
from congruence.inputs.similarity import Similarity
from congruence.statistics.matrices import Alone, MatrixSums, MemberInfo
from congruence.statistics.pairs import Gram
from congruence.statistics.profiles import Profiles
from congruence.typing import EngineName


def compare_matrices(pair: PairOfMatrices, measures: Measures, threads: int | None, engine: EngineName) -> Comparison:
    """Measures of two matrices, ensembles, or a matrix or ensemble and a partition."""
    p, q = pair.a, pair.b
    chosen, strict = chosen_measures(
        measures, [m.key for m in current_measures() if issubclass(m.needs, Gram | MatrixSums | MemberInfo)]
    )
    values: dict[str, float] = {}
    skipped: dict[str, str] = {}
    sums: dict[tuple[str, bool], MatrixSums] = {}
    within = any(m.needs is MatrixSums for m in chosen)
    for m in chosen:
        try:
            _check_matrices(m, p, q)
            if issubclass(m.needs, MemberInfo):
                assert isinstance(p, Ensemble)  # checked above
                assert isinstance(q, Ensemble)
                values[m.key] = float(m.values(matrices.member_info(p, q, m.needs))[0])
                continue
            missing = m.parameters.get("missing", "ratio")
            if (missing, within) not in sums:
                sums[missing, within] = matrices.sums_of(
                    p, q, within=within, missing=missing, threads=threads, engine=engine
                )
            _check_unit(m, p, q)
            values[m.key] = float(m.values(sums[missing, within])[0])
        except NotApplicable as reason:
            if strict:
                raise
            skipped[m.key] = str(reason)
    shown = {m.key: m for m in chosen if m.key in values}
    own = None
    if within and sums:

        def with_itself(m: Measure, side: str) -> float:
            if issubclass(m.needs, MemberInfo):
                return np.nan
            return float(m.values(sums[m.parameters.get("missing", "ratio"), within].alone(side))[0])

        own = ({k: with_itself(m, "a") for k, m in shown.items()}, {k: with_itself(m, "b") for k, m in shown.items()})
    return Comparison(
        values_=values, measures=shown, counted=None, tables=None, n_used=matrices.len_of(p), cautions=pair.cautions,
        skipped=skipped, self_values=own, about=(_described(p), _described(q)),
    )  # fmt: skip


def _described(x: Ensemble | Similarity) -> str:
    if isinstance(x, Similarity):
        return "similarity matrix"
    if len(x) > 1:
        return f"ensemble of {len(x)} clusterings"
    return f"{x.members[0].k} clusters"


def _check_matrices(m: Measure, p: Ensemble | Similarity, q: Ensemble | Similarity) -> None:
    """The reason why a measure does not apply to matrices and ensembles, if it does not."""
    if isinstance(p, Similarity) and isinstance(q, Similarity):
        refuse_idle(matrices.sums_of, m.parameters, "for matrices, which have no missing labels")
    if m.needs is Profiles:
        m.check(soft=False, weighted=False)
    covers = any(isinstance(x, Ensemble) and x.has_covers for x in (p, q))
    if covers and issubclass(m.needs, MemberInfo):
        raise NotApplicable(f"{m.key} is not defined for members that are covers; see compare_all")
    one = [isinstance(x, Ensemble) and len(x) == 1 and not x.has_covers for x in (p, q)]
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
        if not (isinstance(p, Ensemble) and isinstance(q, Ensemble) and any(one)):
            raise NotApplicable(f"{m.key} compares the members of an ensemble with one partition")
        if p.has_gaps or q.has_gaps:
            raise NotApplicable(f"{m.key} is not defined for members that label only some of the points")
        m.check(soft=False, weighted=p.mass is not None and not p.mass.is_frequency)


def _check_unit(m: Measure, p: Ensemble | Similarity, q: Ensemble | Similarity) -> None:
    """Raise for kernels with entries outside 0 … 1, except for alignment and correlation."""
    for x, who in ((p, "a"), (q, "b")):
        if isinstance(x, Similarity) and x.is_tiny:
            raise InputError(
                f"{who}: all entries are within {max(abs(x.low), abs(x.high)):.3g} of 0; multiply the matrix"
            )
        if isinstance(x, Similarity) and not x.is_unit and not m.takes_kernels:
            raise NotApplicable(
                f"{m.key} needs entries between 0 and 1; {who} has {x.low:.4g} to {x.high:.4g}; kas and sms take any kernel"
            )


PLAN = Plan(
    of_matrices,
    compare_matrices,
    "matrices and ensembles have no contingency table; their measures come from sums over pairs",
)
