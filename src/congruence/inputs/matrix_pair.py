"""Validate a pair in which one side is a matrix or an ensemble."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np

from congruence.errors import Call, Caution, InputError, Option
from congruence.inputs.alignment import WHO, InputOptions
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import PointPairs
from congruence.inputs.similarity import Similarity
from congruence.statistics.tables import Array
from congruence.typing import MatrixLike

#: compared by sums over pairs of points
Matrix = Ensemble | Similarity


@dataclass(frozen=True, kw_only=True)
class PairOfMatrices:
    """Two validated matrices or ensembles of the same points. Made by `of_matrices`."""

    a: Matrix
    b: Matrix
    options: InputOptions
    #: which of the two was given as a single clustering
    single: tuple[bool, bool]

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about both sides."""
        return tuple(c for e in (self.a, self.b) for c in (*e.notes, *e.cautions))


def of_matrices(a: MatrixLike, b: MatrixLike, options: InputOptions) -> PairOfMatrices:
    """Two sides of which one is a matrix or ensemble: a single clustering becomes an ensemble of one."""
    if options.align == "index":
        raise InputError(
            f"{Option('align', 'index')} joins single clusterings; reindex the frames of an ensemble or matrix first"
        )
    single = tuple(not isinstance(x, PointPairs) for x in (a, b))
    if not any(single) and (options.unassigned != "error" or options.noise is not None):
        name = "noise" if options.noise is not None else "unassigned"
        raise InputError(
            f"{Option(name)} belongs to the ensemble, where its members are read: {Call(f'cg.Ensemble(…, {name}=…)')}"
        )
    weighed = options.sample_weight is not None or options.frequency is not None
    # points that a single clustering drops are gaps, and pairs with a gap are not counted
    own = replace(options, align=None, unassigned="partial" if options.unassigned == "drop" else options.unassigned)
    sides = []
    for x, who, is_single in zip((a, b), WHO, single, strict=True):
        if weighed and not is_single:
            raise InputError(f"weights of points belong to the ensemble: {Call('cg.Ensemble(…, sample_weight=…)')}")
        sides.append(Ensemble([x], names=[who], **vars(own)) if is_single else x)
    p, q = sides
    if isinstance(p, Ensemble) and isinstance(q, Ensemble):
        p.check_same_points(q, by_index=options.align is None)
        p, q = _with_one_mass(p, q)
    return PairOfMatrices(a=p, b=q, options=options, single=(single[0], single[1]))


def _with_one_mass(p: Ensemble, q: Ensemble) -> tuple[Ensemble, Ensemble]:
    """The point weights of both sides: those given on one side apply to both; different ones are an error."""
    if p.mass is q.mass:
        return p, q
    if p.mass is not None and q.mass is not None:
        if p.mass.is_frequency != q.mass.is_frequency or not _same_values(p.mass.values, q.mass.values):
            raise InputError("the two ensembles have different point weights; give both the same weights")
        return p, q
    mass = p.mass or q.mass
    p, q = copy(p), copy(q)
    p.mass = q.mass = mass
    return p, q


def _same_values(a: Array, b: Array) -> bool:
    """Whether these are the same weights: equal numbers, or one column of one scan."""
    return a.same_rows(b) if hasattr(a, "same_rows") else np.array_equal(a, b)
