"""MAXIMUS in one stage: k-means with the similarity to every known clustering kept near the smallest possible.

The three published stages (reproductions/maximus_published.py) find a profile but do not keep it. Here the variables are
the points: the program of program.py, which assigns every point to a cluster, alternates with the means of the clusters.
Both steps lower the same cost, and every step corresponds to labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from congruence.alternative_clustering.points import Found, Task
from congruence.alternative_clustering.program import (
    Assigned,
    Assignment,
    assign_by_highs,
    assign_by_prices,
    least_similarity,
    similarity,
)
from congruence.ensembles.soft_generators import seed_of
from congruence.errors import InputError
from congruence.statistics.tables import Array

Solve = Callable[[Array, Assignment, Array | None, int], Assigned]
#: tolerances of the price search: for the program whose bound is reported, and for those of a restart
STEPS, FEW_STEPS = 200, 20


def maximus(
    task: Task, *, min_size: int, epsilon: float = 0.05, sample: int = 1000, finalists: int = 2, solver: str = "dual",
    time_limit: float = 60.0,
) -> Found:  # fmt: skip
    """Labels, solver status, and how much more they cost than the bound of the last program, as a share.

    `epsilon`: allowed excess over the least similarity, for better clusters. One restart per stream: on a random
    `sample` if there are more points; the best `finalists` then continue on all points. `solver`: "dual" (prices, fast for
    any n) or "highs" (the exact linear program).
    """
    from sklearn.cluster import kmeans_plusplus

    points, knowns, k = task.points, task.knowns, task.k
    if sample < k:
        raise InputError(f"sample must be at least the {k} clusters, not {sample}")
    solves: dict[str, Solve] = {"dual": assign_by_prices, "highs": partial(assign_by_highs, time_limit=time_limit)}
    if solver not in solves:
        raise InputError(f"solver must be 'dual' or 'highs', not {solver!r}")
    solve = solves[solver]
    X = points.numbers / _unit(points.numbers)
    densities = [points.density(points.profile(codes)) for codes in knowns]
    program = Assignment.of(densities, k, epsilon, min_size)
    floors = [least_similarity(d.sum(axis=0), k) for d in densities]
    started = []
    for rng in task.restarts():
        some = np.sort(rng.choice(points.n, sample, replace=False)) if points.n > sample else np.arange(points.n)
        part = program.on(some) if points.n > sample else program
        centres, _ = kmeans_plusplus(X[some], k, random_state=seed_of(rng))
        started.append(_descend(X[some], part, centres, solve, FEW_STEPS))
    order = sorted(range(len(started)), key=lambda i: started[i][0])[: max(1, finalists)]
    ended = [_descend(X, program, started[i][1], solve) for i in order]
    _, centres, prices = min(ended, key=lambda e: e[0])
    return Found(*_labels(X, program, floors, centres, prices, solve))


def _unit(X: Array) -> float:
    """A power of two near the spread of the points: the price search needs costs near 1, and scaling by it is exact."""
    spread = float(np.sqrt(X.var(axis=0).mean()))
    return float(2.0 ** np.rint(np.log2(spread))) if spread > 0 else 1.0


def cost_of(X: Array, centres: Array) -> Array:
    """Squared distances of all points to all centres."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(X, centres, "sqeuclidean"))


def _descend(
    X: Array, program: Assignment, centres: Array, solve: Solve, steps: int = STEPS, tolerance: float = 1e-4
) -> tuple[float, Array, Array | None]:
    """(bound of the cost, centres, prices) after alternating until the cost falls by less than the tolerance."""
    best, last, prices = np.inf, np.inf, None
    kept = centres
    for _ in range(50):
        found = solve(cost_of(X, centres), program, prices, steps)
        prices = found.prices
        if found.bound < best:
            best, kept, last = found.bound, centres, best
        if found.bound >= last * (1 - tolerance):
            break
        weight = found.shares.sum(axis=0)[:, None]
        centres = np.where(weight > 0, (found.shares.T @ X) / np.maximum(weight, 1e-300), centres)
    return best, kept, prices


def _labels(
    X: Array, program: Assignment, floors: Sequence[float], centres: Array, prices: Array | None, solve: Solve
) -> tuple[Array, str, float]:
    """Integer labels within the caps: if rounding exceeds a cap, the program is solved again with a tighter one."""
    cost = cost_of(X, centres)
    target, bound, status = program, -np.inf, ""
    best: tuple[tuple[float, float], Array] | None = None
    for attempt in range(10):
        found = solve(cost, target, prices, STEPS)
        if attempt == 0:
            bound, status = found.bound, found.status
        labels = found.shares.argmax(axis=1)
        over = [max(o, 0.0) for o in program.excess(labels)]
        short = max(0.0, program.min_size - float(np.bincount(labels, minlength=program.k).min()))
        paid = float(cost[np.arange(len(X)), labels].sum())
        if best is None or (max(over) + short, paid) < best[0]:
            best = (max(over) + short, paid), labels
        if best[0][0] <= 1e-12:
            break
        target = target.tightened([(1 + attempt / 4) * o for o in over], short)
        # never below the smallest possible value: a quarter of the slack above it is kept
        rooms = zip(target.caps, program.caps, floors, strict=True)
        caps = tuple(max(cap, low + (first - low) / 4) for cap, first, low in rooms)
        target = Assignment(target.densities, caps, target.k, min(target.min_size, len(X) / program.k))
    assert best is not None
    labels = best[1]
    if best[0][0] <= 1e-12:
        labels = _cheaper(labels, cost, program)
    else:
        left = max(program.excess(labels))
        status += (
            f"; after rounding to whole points the similarity exceeds its cap by {left:.1e} of it" if left > 0 else ""
        )
    paid = float(cost[np.arange(len(X)), labels].sum())
    return labels, status, max(0.0, (paid - bound) / paid) if paid > 0 else 0.0


def _cheaper(labels: Array, cost: Array, program: Assignment, most: int = 2000) -> Array:
    """The labels after moving single points to nearer centres, largest gains first, as far as the caps allow."""
    labels = labels.copy()
    paid = cost[np.arange(len(cost)), labels]
    gains = paid[:, None] - cost
    sizes = np.bincount(labels, minlength=program.k)
    products = [d.T @ np.eye(program.k)[labels] for d in program.densities]
    order = np.argsort(-gains, axis=None, kind="stable")[:most]
    for n, to in zip(*np.unravel_index(order, gains.shape), strict=True):
        own = labels[n]
        if cost[n, to] >= cost[n, own]:
            continue
        moved = []
        for M, d in zip(products, program.densities, strict=True):
            M = M.copy()
            M[:, own] -= d[n]
            M[:, to] += d[n]
            moved.append(M)
        within = all(similarity(M) <= cap for M, cap in zip(moved, program.caps, strict=True))
        if within and sizes[own] > program.min_size:
            products, labels[n] = moved, to
            sizes[own] -= 1
            sizes[to] += 1
    return labels
