"""Cumulative voting: each member's clusters are spread over those of a reference, and similar columns are merged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Found, Method, filled, won_nothing
from congruence.errors import InputError
from congruence.formulas.record import Better
from congruence.statistics.tables import Array

#: most numbers to compare when columns are merged: distinct points × clusters of the reference squared
MOST = 2 * 10**10


def _run(e: Evidence, k: int, rng: np.random.Generator, **_: object) -> Found:
    sizes = [e.sizes[a:b] / e.sizes[a:b].sum() for a, b in pairwise(e.ends)]
    entropy = np.array([-(p[p > 0] * np.log(p[p > 0])).sum() for p in sizes])
    order = np.argsort(-entropy, kind="stable").tolist()  # members are already in a canonical order
    first = order[0]
    reference = len(sizes[first])
    if reference > k and e.n_rows * reference**2 > MOST:
        raise InputError(
            f"cumulative voting compares all pairs of the {reference:,} clusters of the member with the highest entropy, over "
            f"{e.n_rows:,} distinct points; leave that member out, or use kcc, voting or hbgf"
        )
    mean, weight = _member(e, first), e.share[first] * e.seen[:, first].astype(float)
    for member in order[1:]:
        u = _member(e, member)
        known = ((weight > 0) & e.seen[:, member]) * e.mass
        size = np.asarray(u.T @ known)
        mapping = (u.T @ (known[:, None] * mean)) / np.where(size > 0, size, 1.0)[:, None]
        here = e.share[member] * e.seen[:, member] * (np.asarray(u @ (size > 0).astype(float)) > 0)
        total = weight + here
        mean = (weight[:, None] * mean + here[:, None] * (u @ mapping)) / np.where(total > 0, total, 1.0)[:, None]
        weight = total
    columns, lost = merged(mean, e.mass, k)
    labels = np.where(columns.any(axis=1), columns.argmax(axis=1), -1)
    somewhere = np.flatnonzero(labels >= 0)
    placed = labels[somewhere]
    share = columns[somewhere].max(axis=1) / columns[somewhere].sum(axis=1)
    empty = filled(placed, 1 - share, e.mass[somewhere], k)
    labels[somewhere] = placed
    notes = won_nothing(empty)
    if mean.shape[1] < k:
        notes = (f"the reference, the member with the highest entropy, has {mean.shape[1]} clusters", *notes)
    return Found(labels, lost, "adaptive cumulative voting", notes)


def _member(e: Evidence, member: int) -> Array:
    """Votes of one member, signatures × its clusters."""
    return np.asarray(e.votes[:, e.ends[member] : e.ends[member + 1]].toarray())


def merged(mean: Array, mass: Array, k: int) -> tuple[Array, float]:
    """Merge the two columns that lose least information about the points, until k are left; also the loss, in nats.

    The loss is (p_i + p_j) · JS of the two distributions over points: I(X; C) before minus after.
    """
    joint = mean * (mass / mass.sum())[:, None]
    columns = joint.shape[1]
    own, lost = _carried(joint), 0.0
    alive, loss = np.ones(columns, dtype=bool), np.full((columns, columns), np.inf)
    if columns > k:
        for j in range(1, columns):
            loss[:j, j] = own[:j] + own[j] - _carried(joint[:, :j] + joint[:, [j]])
    for _ in range(columns - max(k, 1)):
        i, j = divmod(int(np.round(loss, 12).argmin()), columns)  # the first in a tie: columns are sorted by content
        lost += float(loss[i, j])
        joint[:, i] += joint[:, j]
        own[i] = _carried(joint[:, [i]])[0]
        alive[j] = False
        loss[j, :] = loss[:, j] = np.inf
        others = np.flatnonzero(alive & (np.arange(columns) != i))
        loss[np.minimum(i, others), np.maximum(i, others)] = (
            own[i] + own[others] - _carried(joint[:, others] + joint[:, [i]])
        )
    return joint[:, alive], lost


def _carried(columns: Array) -> Array:
    """Σ p log p − (Σ p) log Σ p: what each column adds to the information, up to a common constant."""
    from scipy.special import xlogy

    total = columns.sum(axis=0)
    return np.asarray(xlogy(columns, columns).sum(axis=0) - xlogy(total, total))


cumulative = Method(
    key="cumulative", title="Cumulative voting", objective="information lost by merging, in nats", better=Better.LOWER,
    reference="ayad2008", run=_run,
    advice="good on runs of k-means with many clusters",
)  # fmt: skip
