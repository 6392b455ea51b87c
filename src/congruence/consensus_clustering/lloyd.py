"""Alternating minimisation on the votes: assign each signature to its best centre and update the centres until convergence."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from congruence.consensus_clustering.evidence import Evidence, medoid
from congruence.consensus_clustering.methods import Rule, filled
from congruence.statistics.tables import Array

#: signatures on which starts are tried; the best start continues with all of them
STARTS_ON = 4_000
#: smallest number of signatures per cluster for random starts; with fewer, only the most central member is a start
FEW = 20
CENTRAL = ", started from the most central member"
STEPS = 300
#: cost of each cluster of the members (rows) in each consensus cluster (columns), from the contingency tables
Cost = Callable[[Evidence, Array], Array]


def lloyd(
    e: Evidence, k: int, rng: np.random.Generator, cost: Cost, n_init: int
) -> tuple[Array, float, str, tuple[str, ...]]:
    """Labels with the lowest total cost found, that cost, the start unless it was random, and notes.

    Starts are random, plus the most central member; above 200 clusters only that member is used, if it has k clusters.
    """
    few = e
    some = max(STARTS_ON, FEW * k)
    if e.n_rows > some:
        few = e.taken(np.sort(rng.choice(e.n_rows, some, replace=False, p=e.mass / e.mass.sum())))
    central = medoid(e, k, few)
    alone = central is not None and FEW * k > STARTS_ON
    if central is None and (other := medoid(e, None, few)) is not None:
        central = _with_k(e, other, k, cost)
    from_member = None if central is None else _descend(e, central, k, cost)
    if from_member is not None and alone:
        return *from_member[:2], CENTRAL, _notes(from_member[2])
    best: tuple[float, Array] | None = None
    for _ in range(n_init):
        labels, total, _ = _descend(few, spread(few, k, rng), k, cost)
        if best is None or total < best[0] - 1e-9 * abs(best[0]):
            best = total, labels
    assert best is not None
    labels, total, settled = best[1], best[0], True
    if few is not e:
        start = e.scores(cost(few, few.totals(best[1], k))).argmin(axis=1)
        labels, total, settled = _descend(e, start, k, cost)
    else:
        labels, total, settled = _descend(e, labels, k, cost)
    if from_member is not None and from_member[1] < total - 1e-9 * abs(total):
        return *from_member[:2], CENTRAL, _notes(from_member[2])
    return labels, total, "", _notes(settled)


def cheapest(cost: Array) -> Rule:
    """The rule that assigns a point to the cluster where its votes cost least."""
    return Rule(-cost, np.zeros(cost.shape[1]))


def _with_k(e: Evidence, labels: Array, k: int, cost: Cost) -> Array:
    """The k largest clusters of a member; points of the others go where they cost least. Missing clusters stay empty."""
    size = np.bincount(labels, weights=e.mass)
    rank = np.empty(len(size), np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    labels = rank[labels]
    inside = np.flatnonzero(labels < k)
    if len(inside) < e.n_rows:
        part = e.taken(inside)
        nearest = e.scores(cost(part, part.totals(labels[inside], k))).argmin(axis=1)
        labels = np.where(labels < k, labels, nearest)
    return labels


def _notes(settled: bool) -> tuple[str, ...]:
    return () if settled else (f"stopped after {STEPS} steps, before it converged",)


def _descend(e: Evidence, labels: Array, k: int, cost: Cost) -> tuple[Array, float, bool]:
    total = np.inf
    rows = np.arange(e.n_rows)
    for _ in range(STEPS):
        costs = e.scores(cost(e, e.totals(labels, k)))
        nearest = costs.argmin(axis=1)
        own = costs[rows, nearest]
        filled(nearest, own, e.mass, k)
        new_total = float((own * e.mass).sum())
        if (nearest == labels).all() or new_total > total - 1e-12 * abs(total):
            return nearest, min(new_total, total), True
        labels, total = nearest, new_total
    return labels, total, False


def spread(e: Evidence, k: int, rng: np.random.Generator) -> Array:
    """A k-means++ start: each next centre is drawn with probability proportional to its distance from the previous ones."""
    weight = e.mass.astype(float)
    nearest, labels = np.full(e.n_rows, np.inf), np.zeros(e.n_rows, dtype=np.int64)
    for cluster in range(k):
        chances = weight * (nearest if cluster else 1.0)
        total = chances.sum()
        if total <= 0:
            break
        chosen = int(rng.choice(e.n_rows, p=chances / total))
        distance = np.maximum(1 - e.agreement(chosen), 0.0)
        distance[distance < 1e-12] = 0.0
        closer = distance < nearest
        labels[closer] = cluster
        nearest = np.minimum(nearest, distance)
    return labels
