"""Cost of `cg.rank`, `cg.check_clusters` and `cg.sweep`: `python -m benchmarks.trust`.

The largest silhouette, as in scikit-learn, is timed on the same clusterings in the same run.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import congruence as cg
from benchmarks.timing import once


def groups(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian groups of equal size."""
    rng = np.random.default_rng(0)
    truth = np.arange(n) % k
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(k, d))[truth], truth


def main() -> None:
    """Print one line per task."""
    from sklearn.cluster import KMeans, MiniBatchKMeans
    from sklearn.metrics import silhouette_score

    print(f"{'':58}  {'wall':>7}  {'cpu':>7}  seconds")
    X, _ = groups(2_000, 10, 8)
    runs = [KMeans(k, n_init=1, random_state=i).fit_predict(X) for i, k in enumerate([4, 6, 8, 10, 12] * 6)]
    tasks: dict[str, Callable[[], object]] = {
        "rank: 30 clusterings of 2,000 points": lambda: cg.rank(runs, progress=False),
        "silhouettes of the same (scikit-learn)": lambda: [silhouette_score(X, labels) for labels in runs],
    }
    many, truth = groups(100_000, 10, 8)
    pieces = MiniBatchKMeans(24, n_init=1, random_state=0).fit_predict(many)
    tasks["check_clusters: 100,000 points, 10 columns, 24 pieces"] = lambda: cg.check_clusters(many, pieces)
    tasks["sweep: k-means, 2 to 12 clusters, 2,000 points"] = lambda: cg.sweep(
        X, KMeans(n_init=3), {"n_clusters": range(2, 13)}, progress=False
    )
    for name, call in tasks.items():
        call()  # loads libraries
        wall, used, _ = once(call)
        print(f"{name:58}  {wall:7.2f}  {used:7.2f}", flush=True)
    merged = cg.check_clusters(many, pieces).merged
    print(
        f"\nARI of the 24 pieces with the 8 groups {cg.ari(truth, pieces):.2f}, after merging {cg.ari(truth, merged):.2f}"
    )


if __name__ == "__main__":
    main()
