"""Clustering aggregation of Gionis, Mannila and Tsaparas (2007): the clustering with the fewest disagreements on pairs of points.

The distance of two points is the share of the members that separate them. No number of clusters is given: joining two points
costs their distance, separating them costs 1 minus it.
"""

from __future__ import annotations

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.linkage import average_merges, cut
from congruence.consensus_clustering.methods import Found, Method, why_so_many
from congruence.formulas.record import Better
from congruence.statistics.tables import Array

#: points are joined only below this distance: above it, most members separate them
HALF = 0.5
#: largest mean distance of a ball by variant: the value recommended in practice, and that of the proof (at most 3 × the optimum)
BALLS = {"practical": 0.4, "proven": 0.25}


def disagreements(e: Evidence, labels: Array) -> float:
    """The share of pairs of points on which a member, on the points it labels, disagrees with the labels; mean over members."""
    totals = e.totals(labels, int(labels.max()) + 1) * e.points_per_mass
    inside = e.by_member(totals)
    same = np.square(inside).sum(axis=0) + e.by_member(np.square(totals.sum(axis=0)))
    apart = same - 2 * e.by_member(np.square(totals).sum(axis=0))
    n = inside.sum(axis=0)
    return float(e.share @ (apart / np.maximum(n * (n - 1), 1.0)))


def _merged(e: Evidence, k: int | None, rng: np.random.Generator, **_: object) -> Found:
    """Average linkage until the nearest two clusters are half apart."""
    if e.n_rows == 1:
        return Found(np.zeros(1, np.int64), 0.0, "one signature")
    merges, solver, notes = average_merges(e)
    if k is None:
        k = e.n_rows - int((merges[2] < HALF).sum())
        notes += (why_so_many(k, "clusters are merged while most members would join them"),)
    labels = cut(merges, e.n_rows, k)
    return Found(labels, disagreements(e, labels), solver, notes)


def _balls(e: Evidence, k: int | None, rng: np.random.Generator, variant: str = "practical", **_: object) -> Found:
    """Points near a point form a cluster with it if their mean distance is small; else it stays alone with its equals."""
    labels = np.full(e.n_rows, -1)
    point = 1 / e.points_per_mass  # the mass of one point
    found = 0
    for centre in np.argsort(_remoteness(e), kind="stable").tolist():
        if labels[centre] >= 0:
            continue
        distance = 1 - e.agreement(centre)
        distance[centre] = 0.0
        near = (labels < 0) & (distance <= HALF)
        others = float(e.mass[near].sum()) - point  # equal points have distance 0
        if others > 0 and float(e.mass[near] @ distance[near]) / others <= BALLS[variant]:
            labels[near] = found
        else:
            labels[centre] = found
        found += 1
    notes = (why_so_many(found, f"balls around points, of a mean distance up to {BALLS[variant]:g}"),)
    return Found(labels, disagreements(e, labels), "balls", notes)


def _remoteness(e: Evidence) -> Array:
    """For each signature, its distances to all points, summed: central signatures come first."""
    if not e.has_gaps:
        return np.asarray(-np.round(e.scores(e.weight * e.sizes), 9))
    return np.array([round(float(e.mass @ (1 - e.agreement(i))), 9) for i in range(e.n_rows)])


agglomerative = Method(
    key="agglomerative", title="Clustering aggregation by merging", objective="share of pairs in disagreement",
    better=Better.LOWER, reference="gionis2007", run=_merged, limit=100_000, sampled=(), own_number=True,
    advice="average linkage that merges while most members would",
)  # fmt: skip
balls = Method(
    key="balls", title="Clustering aggregation by balls", objective="share of pairs in disagreement", better=Better.LOWER,
    reference="gionis2007", run=_balls, limit=25_000, sampled=(), own_number=True, takes_number=False, variants=tuple(BALLS),
    advice="takes no number of clusters; for comparison only",
)  # fmt: skip
