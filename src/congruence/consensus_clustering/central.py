"""The most central of the members, where a consensus may start."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from congruence.comparison.many import compare_to
from congruence.consensus_clustering.evidence import GRAM_LIMIT, Evidence
from congruence.formulas import find
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array


def medoid(e: Evidence, k: int, among: Evidence | None = None) -> Array | None:
    """Of the complete members with k clusters the one with the highest mean ARI with all members.

    The ARI is that of all signatures, or of those in `among`, a part of them.
    """
    few = e if among is None else among
    sizes = np.bincount(e.member, minlength=e.n_members)
    ends = np.searchsorted(e.member, np.arange(e.n_members + 1))
    able = [i for i in range(e.n_members) if sizes[i] == k and e.seen[:, i].all()]
    best: tuple[float, int] | None = None
    members = _members(few) if able and e.n_columns > GRAM_LIMIT else None
    for i in able:
        score = float(np.nansum(_agreement(few, ends, i, members) * e.share)) if len(able) > 1 else 0.0
        if best is None or score > best[0] + 1e-12:
            best = score, i
    return None if best is None else (e.column[:, best[1]] - ends[best[1]]).astype(np.int64)


def _members(e: Evidence) -> Ensemble:
    """The members on the signatures, each as many points as its mass: encoded once, and compared many times."""
    whole = (e.mass == np.round(e.mass)).all()
    mass: Any = {"frequency": e.mass.astype(np.int64)} if whole else {"sample_weight": e.mass}
    columns = [np.where(column == e.n_columns, -1, column) for column in e.column.T]
    return Ensemble(columns, unassigned="partial", noise=-1, **mass)


def _agreement(e: Evidence, ends: Array, i: int, members: Ensemble | None) -> Array:
    """ARI of member i with each member, a signature being as many points as its mass."""
    if members is None:
        own = e.tables[ends[i] : ends[i + 1]]
        return _ari([own[:, first:last] for first, last in pairwise(ends)])
    how: Any = {"unassigned": "drop"} if members.has_gaps else {}
    return compare_to(members.members[i], members, "ari", **how)["ari"]


def _ari(tables: list[Array]) -> Array:
    squares = [(x.sum(), np.square(x).sum(), *(np.square(x.sum(axis=i)).sum() for i in (1, 0))) for x in tables]
    n, both, a, b = np.array(squares).T
    return find("ari").values(Pairs.from_squares(n, n, both, a, b, np.zeros(len(n), dtype=bool)))
