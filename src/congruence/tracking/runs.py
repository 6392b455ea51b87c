"""Runs with the same number of clusters: their alignment, and which of them are the same solution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from congruence.inputs.steps import Step
from congruence.statistics.tables import Array

#: steps are runs of one solution if matched memberships correlate at least this much
LEAST_CORRELATION = 0.5
#: runs are the same solution if at most this share of their memberships differs
SAME = 0.1
#: most rounds of aligning to the mean of all runs
ROUNDS = 20


@dataclass(frozen=True, eq=False)
class Runs:
    """Aligned runs of one number of clusters.

    Attributes:
        medoid: The position of the run that is nearest to the others.
        order: For each run, its cluster for each cluster of the medoid.
        distance: Runs × runs: half the mean squared difference of aligned memberships per point, 0 to 1.
    """

    medoid: int
    order: tuple[Array, ...]
    distance: Array

    def modes(self) -> list[list[int]]:
        """Groups of runs that are the same solution, the largest first."""
        from scipy.cluster.hierarchy import fcluster, linkage
        from scipy.spatial.distance import squareform

        if len(self.order) == 1:
            return [[0]]
        tree = linkage(squareform(self.distance, checks=False), "complete")
        found = fcluster(tree, SAME, criterion="distance")
        modes = [np.flatnonzero(found == m).tolist() for m in np.unique(found)]
        return sorted(modes, key=lambda mode: (-len(mode), mode))

    def medoid_of(self, members: Sequence[int]) -> int:
        """The run of a group that is nearest to the others of the group.

        Args:
            members: The positions of the runs.
        """
        within = self.distance[np.ix_(members, members)].sum(axis=1)
        return int(members[int(within.argmin())])


def runs_of(steps: Sequence[Step]) -> Runs:
    """The alignment of steps that have the same number of clusters.

    Runs are matched to their medoid and then, until nothing changes, to the mean of all: no step raises the sum of squared
    differences over all pairs of runs.

    >>> import numpy as np
    >>> from congruence.inputs.steps import history_of
    >>> u = np.array([[0.9, 0.1], [0.8, 0.2], [0.1, 0.9]])
    >>> [order.tolist() for order in runs_of(history_of([u, u[:, ::-1], u]).steps).order]
    [[0, 1], [1, 0], [0, 1]]
    """
    columns = [_dense(step) for step in steps]
    n, k = columns[0].shape
    stacked = np.hstack(columns)
    products = (stacked.T @ stacked).reshape(len(steps), k, len(steps), k)
    squares = np.einsum("iaia->ia", products)

    distance = np.zeros((len(steps), len(steps)))
    for i in range(len(steps)):
        for j in range(i):
            cost = squares[i][:, None] + squares[j][None, :] - 2 * products[i, :, j, :]
            rows, cols = linear_sum_assignment(cost)
            distance[i, j] = distance[j, i] = max(cost[rows, cols].sum() / (2 * n), 0.0)
    medoid = int(distance.sum(axis=1).argmin())
    target = columns[medoid]
    order: list[Array] = []
    for _ in range(ROUNDS):
        new = [linear_sum_assignment(target.T @ u, maximize=True)[1] for u in columns]
        back = np.argsort(new[medoid])
        new = [o[back] for o in new]  # clusters in the order of the medoid
        if order and all((a == b).all() for a, b in zip(order, new, strict=True)):
            break
        order = new
        target = np.mean([u[:, o] for u, o in zip(columns, order, strict=True)], axis=0)
    return Runs(medoid, tuple(order), distance)


def modes_of(steps: Sequence[Step]) -> tuple[list[int], list[int], list[Array]]:
    """For each step its mode, for each mode its medoid, and for each step the cluster of the medoid for each of its clusters.

    A run in which a cluster does not correlate with its partner in the medoid is a mode by itself: the order of clusters
    is not all that differs.
    """
    mode_of, medoids, partner = [-1] * len(steps), list[int](), [np.zeros(0, dtype=np.int64)] * len(steps)
    by_k: dict[int, list[int]] = {}
    for i, step in enumerate(steps):
        by_k.setdefault(len(step.clusters), []).append(i)
    for which in by_k.values():
        runs = runs_of([steps[i] for i in which])
        for members in runs.modes():
            medoid = runs.medoid_of(members)
            target = _dense(steps[which[medoid]])[:, runs.order[medoid]]
            for i in members:
                alike = _correlates(_dense(steps[which[i]])[:, runs.order[i]], target)
                if i == medoid or not alike:
                    medoids.append(which[i])
            for i in members:
                t = which[i]
                mode_of[t] = medoids.index(t) if t in medoids else medoids.index(which[medoid])
                back = np.argsort(runs.order[i])
                partner[t] = np.arange(len(back)) if t in medoids else runs.order[medoid][back]
    return mode_of, medoids, partner


def _correlates(u: Array, v: Array) -> bool:
    """Whether every column correlates with its partner."""
    u, v = u - u.mean(axis=0), v - v.mean(axis=0)
    scale = np.sqrt((u**2).sum(axis=0) * (v**2).sum(axis=0))
    return bool(((u * v).sum(axis=0) >= LEAST_CORRELATION * scale).all())


def _dense(step: Step) -> Array:
    return np.asarray(step.members if step.is_soft else step.members.toarray(), dtype=np.float64)
