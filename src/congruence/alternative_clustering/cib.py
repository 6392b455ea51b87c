"""Conditional information bottleneck, sequential: clusters that are informative about the attributes beyond the given ones.

Gondek and Hofmann (2003). With hard given clusters the objective separates into one per given cluster, and does not
determine how their clusters correspond. The method is included only for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.points import Points
from congruence.alternative_clustering.restarts import Found, Task, best_of
from congruence.statistics.tables import Array, xlogx


def cib(task: Task, *, passes: int = 5) -> Found:
    """The labels with the largest I(C; Y | Z) of one run per stream, each of several passes over the points.

    Y is a bin of an attribute, each of the R bins of a point with probability 1/R. Z is the given cluster (for several
    clusterings, their intersection). Points are removed in random order and put back where least information is lost.
    """
    groups = joint(task.knowns)
    return best_of([_run(task.points, groups, task.k, rng, passes) for rng in task.restarts()], "point moves")


def _run(points: Points, groups: Array, k: int, rng: np.random.Generator, passes: int) -> tuple[Array, float, bool]:
    """Labels, I(C; Y | Z) in nats, and whether the last pass moved no point."""
    n, attributes = points.items.shape
    counts = np.zeros((k, int(groups.max()) + 1, points.n_items), dtype=np.int64)
    sizes = np.zeros(counts.shape[:2], dtype=np.int64)
    codes = np.asarray(rng.integers(0, k, n))
    np.add.at(counts, (codes[:, None], groups[:, None], points.items), 1)
    np.add.at(sizes, (codes, groups), 1)
    # gain of adding a point to a bin with count m: (m+1)·log(m+1) − m·log m; T·log T for the totals
    table = xlogx(np.arange(n + 2, dtype=np.float64))
    step = np.diff(table)
    totals = np.diff(xlogx(attributes * np.arange(n + 2, dtype=np.float64)))
    settled = False
    for _ in range(passes):
        moved = 0
        for x in rng.permutation(n):
            z, items, old = groups[x], points.items[x], codes[x]
            counts[old, z, items] -= 1
            sizes[old, z] -= 1
            kept = step[counts[:, z, items]].sum(axis=1) - totals[sizes[:, z]]
            new = int(kept.argmax())
            new = old if kept[old] >= kept[new] - 1e-12 else new
            counts[new, z, items] += 1
            sizes[new, z] += 1
            codes[x] = new
            moved += new != old
        if not moved:
            settled = True
            break
    return codes, _information(counts, sizes, attributes, n), settled


def joint(knowns: Sequence[Array]) -> Array:
    """One clustering of several: points are together if they are together in each of them."""
    found = np.zeros(len(knowns[0]), dtype=np.int64)
    for codes in knowns:
        found = np.unique(found * (int(codes.max()) + 1) + codes, return_inverse=True)[1]
    return found


def _information(counts: Array, sizes: Array, attributes: int, n: int) -> float:
    """I(C; Y | Z) = H(Y|Z) − H(Y|C, Z)."""

    def entropy(cells: Array, totals: Array) -> float:
        full = totals.astype(np.float64) * attributes
        return float((xlogx(full).sum() - xlogx(cells.astype(np.float64)).sum()) / (n * attributes))

    return entropy(counts.sum(axis=0), sizes.sum(axis=0)) - entropy(counts, sizes)
