"""What `choose_k` is asked, and how an answer on the sample is extended to all points and compared with a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from congruence.comparison.many import compare_to
from congruence.errors import joined
from congruence.formulas import find
from congruence.inputs.labels import Labels
from congruence.selection import halves, kmeans
from congruence.selection.choice import Criterion, KChoice, curve_of
from congruence.selection.points import Points
from congruence.statistics.tables import Array
from congruence.typing import Estimator, OptionValue, ProgressLike

if TYPE_CHECKING:
    from congruence.inputs.kinds import Clustering

#: smallest number of points per cluster
POINTS_PER_CLUSTER = 4


@dataclass(frozen=True, eq=False)
class Question:
    """What `choose_k` is asked: the points used, numbers of clusters in order, and a clusterer by name or as an object."""

    points: Points
    ks: Sequence[int]
    method: str | Estimator
    #: for starts, halves and resamples
    seeds: np.random.SeedSequence
    #: a reference, and agreement curves to show
    truth: Clustering | None = None
    members: KChoice | None = None
    n_jobs: int | None = None
    progress: ProgressLike = None

    @property
    def called(self) -> str:
        """The name of the clusterer."""
        return self.method if isinstance(self.method, str) else type(self.method).__name__

    def able(self, method: str) -> tuple[list[int], list[str], KChoice | None]:
        """The numbers of clusters that can be tried, notes, and the answer if there is nothing to choose."""
        able, said, reason = too_few(self.points, self.ks)
        notes = [*self.points.notes, *lacking(self.truth, len(self.points.all)), *said]
        if not reason:
            return able, notes, None
        ks = tuple(able or self.ks[:1])
        return able, notes, KChoice(ks=ks, criteria={}, notes=tuple(notes), method=method, reason=reason)

    def answer(
        self, ks: Sequence[int], curves: dict[str, Criterion], partitions: dict[int, Array], notes: Sequence[str],
        is_complete: bool, votes: bool = False, **facts: OptionValue,
    ) -> KChoice:  # fmt: skip
        """The choice by these curves, with the agreement with the reference and the curves of members, which may vote."""
        agreed, classes = with_reference(self.truth, ks, partitions)
        if self.members is not None:
            m = self.members
            curves |= {name: padded(c, m.ks, ks, votes) for name, c in m.criteria.items()}
            agreed |= {name: padded(c, m.ks, ks) for name, c in m.with_reference.items()}
            facts |= {"success": m.success, "ensembles": m.ensembles}
            notes, is_complete = [*notes, *m.notes], is_complete and m.is_complete
        return KChoice(
            ks=tuple(ks), criteria=curves, with_reference=agreed, n_reference=classes, notes=tuple(notes),
            is_complete=is_complete, partitions=partitions, **facts,
        )  # fmt: skip


def too_few(points: Points, ks: Sequence[int]) -> tuple[list[int], list[str], str]:
    """The numbers of clusters that can be tried, notes on those left out, and why none can be chosen; empty if one can."""
    n = len(points.sample)
    distinct = len(np.unique(points.given, axis=0)) if points.sample.shape[1] else 1
    most = min(n // POINTS_PER_CLUSTER, distinct)
    able = [x for x in ks if x <= max(most, 1)]
    if len(able) < 2:
        reason = f"{n} points are too few to look for clusters; at least {2 * POINTS_PER_CLUSTER} are needed"
        if distinct < n // POINTS_PER_CLUSTER:
            reason = f"only {distinct} of {n} points are distinct"
        elif most >= 2:
            reason = f"only {joined(able or ks)} clusters were tried, so there is nothing to choose between"
        return able, [], reason
    if len(able) == len(ks):
        return able, [], ""
    why = f"{n} points" if most < distinct else f"{distinct} distinct points"
    return able, [f"up to {able[-1]} clusters were tried: {why} are too few for more"], ""


def placed_by_centres(points: Points, found: halves.Evidence) -> Array:
    """Labels of all points: the nearest centre."""
    return found.labels if points.sample is points.all else kmeans.nearest(points.all, found.centres)


def placed(points: Points, labels: Array) -> Array:
    """Labels of all points: the label of the nearest point in the sample."""
    if points.sample is points.all:
        return labels
    from scipy.spatial import cKDTree

    return np.asarray(labels[cKDTree(points.sample).query(points.all)[1]])


def padded(c: Criterion, ks: Sequence[int], wanted: Sequence[int], votes: bool = False) -> Criterion:
    """An agreement curve at the k of the others, NaN if undefined; it keeps its vote only if these vote."""
    place = {k: i for i, k in enumerate(ks)}
    values, errors = (np.array([x[place[k]] if k in place else np.nan for k in wanted]) for x in (c.values, c.errors))
    best = c.best if c.best in wanted else None
    return replace(c, values=values, errors=errors, best=best, votes=votes and c.votes)


def lacking(truth: Clustering | None, n: int) -> list[str]:
    """A note on points without a label in the reference."""
    if truth is None or not truth.gaps:
        return []
    return [
        f"the reference has no label for {truth.gaps} of {n} points; clusterings are compared with it on the others"
    ]


def with_reference(
    truth: Clustering | None, ks: Sequence[int], partitions: Mapping[int, Array]
) -> tuple[dict[str, Criterion], int | None]:
    """Agreement of each clustering with the reference, as curves without a vote, and the reference's number of clusters."""
    if truth is None:
        return {}, None
    known, there = truth, np.arange(len(truth))
    if isinstance(truth, Labels) and truth.gaps:
        there = np.flatnonzero(truth.codes < truth.k)
        known = truth.taken(there)
    found = {}
    for key in ("ari", "ami_max"):
        values = np.asarray(compare_to(known, [partitions[k][there] for k in ks], [key])[key])
        name, m = f"{key} with reference", find(key)
        best = ks[int(np.nanargmax(values))]
        found[name] = curve_of(name, f"{m.title} with the reference", values, best, better=m.better, measure=key)
    return found, truth.k
