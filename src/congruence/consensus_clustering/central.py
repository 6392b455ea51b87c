"""The most central member, a start for a consensus."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.comparison.many import compare_to
from congruence.consensus_clustering.evidence import GRAM_LIMIT, Evidence
from congruence.formulas import find
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array


def medoid(e: Evidence, k: int | None, among: Evidence | None = None) -> Array | None:
    """Labels of the most central complete member with k clusters, or at least two if k is None; None if there is none.

    The most central member has the highest mean ARI with all members, on all signatures or on those in `among`.
    """
    few = e if among is None else among
    sizes = np.bincount(e.member, minlength=e.n_members)
    ends = np.searchsorted(e.member, np.arange(e.n_members + 1))
    fits = sizes == k if k is not None else sizes > 1
    able = [i for i in np.flatnonzero(fits).tolist() if e.seen[:, i].all()]
    if not able:
        return None
    best = able[0] if len(able) == 1 else able[_most_central(few, able, ends)]
    return np.asarray(e.column[:, best] - ends[best], dtype=np.int64)


def _most_central(e: Evidence, able: list[int], ends: Array) -> int:
    """Which of the eligible members has the highest mean ARI with all members; the first in a tie."""
    agreement = _by_points(e, able) if e.n_columns > GRAM_LIMIT else _by_tables(e, ends[:-1])[able]
    means = np.nansum(agreement * e.share, axis=1)
    return int(np.flatnonzero(means >= means.max() - 1e-12)[0])


def _by_points(e: Evidence, able: list[int]) -> Array:
    """ARI of the eligible members with all members; a signature counts by its mass, and members are encoded once."""
    whole = (e.mass == np.round(e.mass)).all()
    mass: Any = {"frequency": e.mass.astype(np.int64)} if whole else {"sample_weight": e.mass}
    columns = [np.where(column == e.n_columns, -1, column) for column in e.column.T]
    members = Ensemble(columns, unassigned="partial", noise=-1, **mass)
    how: Any = {"unassigned": "drop"} if members.has_gaps else {}
    return np.stack([compare_to(members.members[i], members, "ari", **how)["ari"] for i in able])


def _by_tables(e: Evidence, starts: Array) -> Array:
    """ARI of all pairs of members, from the tables of clusters × clusters."""

    def blocks(x: Array) -> Array:
        return np.asarray(np.add.reduceat(np.add.reduceat(x, starts, axis=0), starts, axis=1))

    own = np.add.reduceat(np.square(np.add.reduceat(e.tables, starts, axis=1)), starts, axis=0)
    n, both = blocks(e.tables), blocks(np.square(e.tables))
    sums = (x.ravel() for x in (n, n, both, own, own.T, np.zeros(n.shape, dtype=bool)))
    return np.asarray(find("ari").values(Pairs.from_squares(*sums))).reshape(n.shape)
