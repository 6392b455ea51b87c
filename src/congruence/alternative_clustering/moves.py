"""Methods that move one point at a time: the conditional information bottleneck, and minCEntropy⁺."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.points import Found, Points, Task, best_of, start
from congruence.statistics.tables import Array, xlogx

# --- sequential: clusters that are informative about the attributes beyond the given ones -----------------------------
#
# Gondek and Hofmann (2003). With hard given clusters the objective separates into one per given cluster, and does not
# determine how their clusters correspond. The method is included only for comparison.


def cib(task: Task, *, passes: int = 5) -> Found:
    """The labels with the largest I(C; Y | Z) of one run per stream, each of several passes over the points.

    Y is a bin of an attribute, each of the R bins of a point with probability 1/R. Z is the given cluster (for several
    clusterings, their intersection). Points are removed in random order and put back where least information is lost.
    """
    groups = joint(task.knowns)
    return best_of([_moved(task.points, groups, task.k, rng, passes) for rng in task.restarts()], "point moves")


def _moved(points: Points, groups: Array, k: int, rng: np.random.Generator, passes: int) -> tuple[Array, float, bool]:
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


# --- kernel clusters, with the kernel of the given clusterings subtracted (Vinh and Epps 2010) ------------------------


def mincentropy(task: Task, *, weight: float = 1.0, sigma: float | None = None, max_passes: int = 100) -> Found:
    """The best labels of one run per stream.

    Maximises Σ_clusters (1/size) Σ_pairs in it S, S = exp(−d²/4σ²) − `weight` · [how many given clusterings join the
    two], by moving one point at a time from k-means clusters. `sigma` is half the mean distance if not given.
    """
    from scipy.spatial.distance import pdist, squareform

    X, n, k = task.points.numbers, task.points.n, task.k
    distances = pdist(X)
    sigma = float(distances.mean()) / 2 if sigma is None else sigma
    kernel = squareform(np.exp(-(distances**2) / (4 * sigma**2))) if sigma > 0 else np.zeros((n, n))
    np.fill_diagonal(kernel, 1.0)
    for codes in task.knowns:
        kernel -= weight * (codes[:, None] == codes[None, :])
    runs = [_improved(kernel, start(X, k, rng).labels_.astype(np.int64), k, rng, max_passes) for rng in task.restarts()]
    return best_of(runs, "move improves")


def _improved(
    kernel: Array, codes: Array, k: int, rng: np.random.Generator, max_passes: int
) -> tuple[Array, float, bool]:
    """Labels, their objective, and whether no move of a point improves it."""
    own = kernel.diagonal()
    ties = kernel @ np.eye(k)[codes]  # n × k: kernel of each point with each cluster
    sizes = np.bincount(codes, minlength=k).astype(np.float64)
    inner = np.array([ties[codes == c, c].sum() for c in range(k)])
    for _ in range(max_passes):
        moved = False
        for x in rng.permutation(len(codes)):
            a = codes[x]
            if sizes[a] == 1:
                continue
            left = (inner[a] - 2 * ties[x, a] + own[x]) / (sizes[a] - 1) - inner[a] / sizes[a]
            gain = (inner + 2 * ties[x] + own[x]) / (sizes + 1) - inner / np.maximum(sizes, 1)
            gain[a] = -left
            b = int(gain.argmax())
            if b != a and left + gain[b] > 1e-10 * abs(inner[a]) / sizes[a] + 1e-12:
                inner[a] -= 2 * ties[x, a] - own[x]
                inner[b] += 2 * ties[x, b] + own[x]
                sizes[a] -= 1
                sizes[b] += 1
                ties[:, a] -= kernel[:, x]
                ties[:, b] += kernel[:, x]
                codes[x] = b
                moved = True
        if not moved:
            return codes, float((inner / np.maximum(sizes, 1)).sum()), True
    return codes, float((inner / np.maximum(sizes, 1)).sum()), False
