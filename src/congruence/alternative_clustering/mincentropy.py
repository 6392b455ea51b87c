"""minCEntropy⁺: kernel clusters, with the kernel of the given clusterings subtracted (Vinh and Epps 2010)."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.restarts import Found, Task, best_of, start
from congruence.statistics.tables import Array


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
    runs = [_run(kernel, start(X, k, rng).labels_.astype(np.int64), k, rng, max_passes) for rng in task.restarts()]
    return best_of(runs, "move improves")


def _run(kernel: Array, codes: Array, k: int, rng: np.random.Generator, max_passes: int) -> tuple[Array, float, bool]:
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
