"""Cumulative voting: each member's clusters are spread over those of a reference, and columns that are alike are merged."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from congruence.aggregation.evidence import Evidence
from congruence.aggregation.methods import Found, Method
from congruence.statistics import Array


def _run(e: Evidence, k: int, rng: np.random.Generator, **_: Any) -> Found:
    ends = np.searchsorted(e.member, np.arange(e.n_members + 1))
    sizes = [e.sizes[a:b] / e.sizes[a:b].sum() for a, b in pairwise(ends)]
    entropy = np.array([-(p[p > 0] * np.log(p[p > 0])).sum() for p in sizes])
    order = np.argsort(-entropy, kind="stable").tolist()  # members are in an order of their own already
    first = order[0]
    mean, weight = _member(e, first, ends), e.share[first] * e.seen[:, first].astype(float)
    for member in order[1:]:
        u = _member(e, member, ends)
        known = ((weight > 0) & e.seen[:, member]) * e.mass
        size = np.asarray(u.T @ known)
        mapping = (u.T @ (known[:, None] * mean)) / np.where(size > 0, size, 1.0)[:, None]
        here = e.share[member] * e.seen[:, member] * (np.asarray(u @ (size > 0).astype(float)) > 0)
        total = weight + here
        mean = (weight[:, None] * mean + here[:, None] * (u @ mapping)) / np.where(total > 0, total, 1.0)[:, None]
        weight = total
    columns, lost = _merged(mean, e.mass, k)
    labels = np.where(columns.any(axis=1), columns.argmax(axis=1), -1)
    notes = () if mean.shape[1] >= k else (f"the reference, the member of most entropy, has {mean.shape[1]} clusters",)
    return Found(labels, lost, "adaptive cumulative voting", notes)


def _member(e: Evidence, member: int, ends: Array) -> Array:
    """Votes of one member, signatures × its clusters."""
    return np.asarray(e.votes[:, ends[member] : ends[member + 1]].toarray())


def _merged(mean: Array, mass: Array, k: int) -> tuple[Array, float]:
    """Merge the two columns that lose least information on the points, until k are left; and what was lost, in nats.

    The loss is (p_i + p_j) · JS of the two distributions over points: I(X; C) before less after.
    """
    joint = mean * (mass / mass.sum())[:, None]

    def carried(column: Array) -> float:
        """Σ p log p − (Σ p) log Σ p: what a column adds to the information, but for what all columns share."""
        p = column[column > 0]
        return float((p * np.log(p)).sum() - p.sum() * np.log(p.sum())) if len(p) else 0.0

    columns = [joint[:, c] for c in range(joint.shape[1])]
    own = [carried(c) for c in columns]
    lost = 0.0
    loss = {(i, j): own[i] + own[j] - carried(columns[i] + columns[j]) for j in range(len(columns)) for i in range(j)}
    alive = list(range(len(columns)))
    while len(alive) > max(k, 1):
        i, j = min(((a, b) for n, b in enumerate(alive) for a in alive[:n]), key=lambda pair: loss[pair])
        lost += loss[i, j]
        columns[i] = columns[i] + columns[j]
        own[i] = carried(columns[i])
        alive.remove(j)
        for other in alive:
            if other != i:
                loss[min(i, other), max(i, other)] = own[i] + own[other] - carried(columns[i] + columns[other])
    return np.column_stack([columns[c] for c in alive]), lost


cumulative = Method(
    "cumulative",
    "Cumulative voting",
    "information lost by merging, in nats",
    "lower",
    "ayad2008",
    _run,
)
