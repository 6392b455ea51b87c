"""MAXIMUS as published (2010): an integer program for the profile, k-means in every bin, a vote.

The program has very many optima, of which the solver picks one regardless of quality. The clusters of different bins are
unrelated, and the vote destroys the profile. An option fixes each of these problems, but the result is still far from
that of the one-stage program of `cg.alternatives(method="maximus")`. Within `available()`, `cg.alternatives` has it as
method "maximus_published".
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Literal
from unittest.mock import patch

import numpy as np

from congruence.alternative_clustering.maximus import cost_of
from congruence.alternative_clustering.points import Found, Points, Task
from congruence.alternative_clustering.program import least_similarity, matching_rows, similarity
from congruence.alternative_clustering.search import METHODS, Method
from congruence.errors import InputError
from congruence.statistics.tables import Array
from reproductions.integer_programs import Solution, solve


def available() -> AbstractContextManager[object]:
    """Within this context, `cg.alternatives(method="maximus_published")` runs the three stages."""
    title, why = "integer program, k-means in bins, vote", "each bin is clustered separately"
    return patch.dict(METHODS, maximus_published=Method(maximus_published, title, 100_000, why, n_init=1))


def maximus_published(
    task: Task,
    *,
    min_size: int = 0,
    solver: Literal["milp", "lp"] = "milp",
    consistent: bool = False,
    rho: Literal["each", "shared"] = "each",
    assignment: Literal["greedy", "optimal"] = "greedy",
    centroids: Literal["random", "implied"] = "random",
    ties: Literal["random", "nearest"] = "random",
    time_limit: float = 30.0,
    gap: float = 1e-3,
) -> Found:
    """The three stages; the defaults follow the paper, and the other value of each option is the fix.

    `solver`: "milp", or "lp" and rounding each bin. `consistent`: clusters have the same size on all attributes, at least
    `min_size`. `rho`: one matching per known clustering, or one for all as in eq. 12, which allows a known clustering to be
    its own alternative. `assignment` in a bin: nearest pair first, or at least cost. `centroids` of a bin: random
    points, or those that the profile implies, the same for all bins. `ties` of the vote: at random, or to the nearest.
    """
    points, knowns, k = task.points, task.knowns, task.k
    choices: dict[str, tuple[str, tuple[str, str]]] = {
        "solver": (solver, ("milp", "lp")),
        "rho": (rho, ("each", "shared")),
        "assignment": (assignment, ("greedy", "optimal")),
        "centroids": (centroids, ("random", "implied")),
        "ties": (ties, ("random", "nearest")),
    }
    for name, (value, allowed) in choices.items():
        if value not in allowed:
            raise InputError(f"{name} must be {' or '.join(map(repr, allowed))}, not {value!r}")
    rng = np.random.default_rng(task.streams[0])
    densities = [points.profile(codes, int(codes.max()) + 1) for codes in knowns]
    if rho == "shared":
        if len({len(d) for d in densities}) > 1:
            raise InputError("rho='shared' needs known clusterings with the same number of clusters; use rho='each'")
        densities = [np.sum(densities, axis=0)]
    totals = points.profile(np.zeros(points.n, dtype=np.int64), 1)[0]
    kept = np.flatnonzero(totals)  # skip empty bins
    attribute = np.zeros(points.n_items, dtype=np.int64)
    attribute[points.items] = np.arange(points.items.shape[1])
    wanted, solution = least_similar_profile(
        [d[:, kept] for d in densities],
        totals[kept],
        k,
        attributes=attribute[kept] if consistent else None,
        min_size=min_size,
        integer=solver == "milp",
        time_limit=time_limit,
        gap=gap,
    )
    profile = np.zeros((k, points.n_items))
    profile[:, kept] = rounded(wanted, totals[kept])
    votes = np.zeros((points.n, k))
    centres = implied_centroids(points, profile)
    for item in kept:
        inside = np.flatnonzero((points.items == item).any(axis=1))
        X = points.numbers[inside]
        start = centres if centroids == "implied" else X[rng.integers(0, len(X), k)]
        votes[inside, distribution_kmeans(X, profile[:, item].astype(np.int64), start, assignment)] += 1
    task.done(1)
    best = votes == votes.max(axis=1, keepdims=True)
    order = rng.random(best.shape) if ties == "random" else cost_of(points.numbers, centres)
    labels = np.where(best, order, np.inf).argmin(axis=1)
    least = sum(least_similarity((d @ totals), k) for d in densities)
    first = sum(similarity(d @ profile.T) for d in densities) / least
    tied = float((best.sum(axis=1) > 1).mean())
    notes = (f"the profile has {first:.4f} times the smallest possible similarity; {tied:.0%} of the votes were ties",)
    return Found(labels, solution.status, solution.gap, notes)


def least_similar_profile(
    densities: Sequence[Array],
    totals: Array,
    k: int,
    *,
    attributes: Array | None = None,
    min_size: float = 0,
    integer: bool = True,
    time_limit: float = 60.0,
    gap: float = 1e-3,
) -> tuple[Array, Solution]:
    """The profile (k × bins) least similar to the known ones, and the solver status: the integer program of section 6.2.

    `totals` are the points in each bin. `attributes` (the attribute of each bin) adds constraints that the paper omits: a
    cluster has the same size on every attribute, at least `min_size`. u and v can be restricted to whole numbers without
    loss, which makes the search much shorter.
    """
    from scipy import sparse

    bins = len(totals)
    rows, owner = matching_rows(densities, k)
    spare = sparse.csr_array((bins, len(owner)))
    filled = sparse.hstack([sparse.hstack([sparse.eye_array(bins)] * k), spare])
    equal, equal_to = [filled], [totals]
    at_most, limits = [rows], [np.zeros(rows.shape[0])]
    if attributes is not None:
        names = np.unique(attributes)
        first = (attributes == names[0]).astype(np.float64)
        for name in names[1:]:
            same = sparse.kron(sparse.eye_array(k), ((attributes == name) - first)[None, :])
            equal.append(sparse.hstack([same, sparse.csr_array((k, len(owner)))]))
            equal_to.append(np.zeros(k))
        at_most.append(
            sparse.hstack([-sparse.kron(sparse.eye_array(k), first[None, :]), sparse.csr_array((k, len(owner)))])
        )
        limits.append(np.full(k, -float(min_size)))
    objective = np.concatenate([np.zeros(k * bins), np.ones(len(owner))])
    found = solve(
        objective,
        at_most=(sparse.vstack(at_most, format="csr"), np.concatenate(limits)),
        equal=(sparse.vstack(equal, format="csr"), np.concatenate(equal_to)),
        integer=np.ones(len(objective)) if integer else None,
        time_limit=time_limit,
        gap=gap,
    )
    return found.variables()[: k * bins].reshape(k, bins), found


def rounded(profile: Array, totals: Array) -> Array:
    """Integers with the same total in every bin: the rest after rounding down goes to the largest remainders."""
    whole = np.floor(profile + 1e-6)
    left = np.rint(totals - whole.sum(axis=0)).astype(np.int64)
    rank = np.argsort(np.argsort(-(profile - whole), axis=0, kind="stable"), axis=0)
    return np.asarray(whole + (rank < left))


def implied_centroids(points: Points, profile: Array) -> Array:
    """The centroids of clusters with this profile, with each bin of an attribute represented by its mean."""
    centres = np.empty((len(profile), points.numbers.shape[1]))
    for c, owner in enumerate(points.owners):
        items, weights = points.items[:, owner], points.numbers[:, c]
        many = np.bincount(items, minlength=points.n_items)
        mean = np.bincount(items, weights=weights, minlength=points.n_items) / np.maximum(many, 1)
        share = profile * (many > 0)
        size = share.sum(axis=1)
        centres[:, c] = np.where(size > 0, share @ mean / np.maximum(size, 1), weights.mean())
    return centres


def distribution_kmeans(X: Array, sizes: Array, centres: Array, assignment: str = "optimal", most: int = 100) -> Array:
    """k-means in which cluster l has exactly sizes[l] points (Algorithm 2, corrected); the best labels found.

    >>> distribution_kmeans(np.array([[0.0], [1.0], [2.0], [9.0]]), np.array([3, 1]), np.array([[0.0], [8.0]])).tolist()
    [0, 0, 0, 1]
    """
    assign = nearest_first if assignment == "greedy" else least_cost
    if np.count_nonzero(sizes) == 1:
        return np.full(len(X), int(sizes.argmax()))
    centres, best, labels, seen = centres.copy(), (np.inf, np.zeros(len(X), np.int64)), None, set[bytes]()
    for _ in range(most):
        cost = cost_of(X, centres)
        labels = assign(cost, sizes)
        best = min(best, (float(cost[np.arange(len(X)), labels].sum()), labels), key=lambda pair: pair[0])
        if labels.tobytes() in seen:  # converged, or in a cycle
            break
        seen.add(labels.tobytes())
        for c in np.flatnonzero(sizes):
            centres[c] = X[labels == c].mean(axis=0)
    return best[1]


def nearest_first(cost: Array, sizes: Array) -> Array:
    """Assign the cheapest pair of point and cluster first, while there is room: a stable matching, found by proposals."""
    n, k = cost.shape
    labels = np.full(n, -1)
    offers = np.where(sizes > 0, cost, np.inf)
    while (free := np.flatnonzero(labels < 0)).size:
        labels[free] = offers[free].argmin(axis=1)
        for c in range(k):
            members = np.flatnonzero(labels == c)
            if len(members) > sizes[c]:
                ranked = members[np.argsort(cost[members, c], kind="stable")]
                labels[ranked[sizes[c] :]] = -1
                offers[ranked[sizes[c] :], c] = np.inf
    return labels


def least_cost(cost: Array, sizes: Array) -> Array:
    """Labels of least total cost with these sizes: from `nearest_first`, by cyclic exchanges while they reduce the cost."""
    labels = nearest_first(cost, sizes)
    k = cost.shape[1]
    while True:
        # w[a, b]: the smallest cost of moving a point from a to b
        w, who = np.full((k, k), np.inf), np.zeros((k, k), dtype=np.int64)
        for a in range(k):
            members = np.flatnonzero(labels == a)
            if len(members):
                extra = cost[members] - cost[members, a][:, None]
                place = extra.argmin(axis=0)
                w[a], who[a] = extra[place, np.arange(k)], members[place]
        cycle = _negative_cycle(w)
        if cycle is None:
            return labels
        for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True):
            labels[who[a, b]] = b


def _negative_cycle(w: Array) -> list[int] | None:
    """Nodes of a cycle of negative length, by Bellman and Ford."""
    k = len(w)
    w = np.where(np.eye(k, dtype=bool), np.inf, w)
    length, before = np.zeros(k), np.full(k, -1)
    changed = -1
    for _ in range(k):
        changed = -1
        for a in range(k):
            better = length[a] + w[a] < length - 1e-9 * (1 + np.abs(length))
            if better.any():
                length = np.where(better, length[a] + w[a], length)
                before[better] = a
                changed = int(np.flatnonzero(better)[0])
    if changed < 0:
        return None
    node = changed
    for _ in range(k):
        node = int(before[node])
    cycle, at = [node], int(before[node])
    while at != node:
        cycle.append(at)
        at = int(before[at])
    return cycle[::-1]
