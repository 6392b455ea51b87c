"""Time of choose_k, compared with scikit-learn: `python -m benchmarks.choose_k`.

n = 1,000, d = 10, k = 1 … 10, and n = 100,000; scikit-learn's k-means and silhouette, and with `--peers` every published
criterion, in the same run.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from typing import Any

import numpy as np

import congruence as cg
from benchmarks.timing import once
from congruence.selection.criteria import PEERS


def data(n: int, d: int) -> np.ndarray:
    """Five groups that overlap a little."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(5, d))[rng.integers(0, 5, n)]


def plain(X: np.ndarray, ks: range, starts: int = 20, looked_at: int | None = None) -> Any:
    """k-means and the silhouette with scikit-learn, the latter of all points or of a sample."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import silhouette_score
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # a problem this small is slower with more threads
        for k in ks:
            labels = KMeans(k, n_init=starts, random_state=0).fit(X).labels_
            silhouette_score(X, labels, sample_size=looked_at, random_state=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="each published criterion too: m3c takes half a minute")
    options = parser.parse_args()
    X, ks = data(1_000, 10), range(1, 11)
    cg.choose_k(X[:100], [1, 2], progress=False)  # warm up
    print(f"n = 1,000, d = 10, k = 1 … 10; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print("wall time and CPU time in seconds")

    def timed(name: str, work: Callable[[], Any]) -> None:
        seconds, spent, found = once(work)
        print(f"{name:<44}{seconds:>9.1f}{spent:>9.1f}{'' if found is None else f'  k = {found.k}'}", flush=True)

    timed("choose_k, 1 job", lambda: cg.choose_k(X, ks))
    timed("choose_k, 2 jobs", lambda: cg.choose_k(X, ks, n_jobs=2))
    timed("scikit-learn, k-means and silhouette", lambda: plain(X, range(2, 11)))
    many = data(100_000, 10)
    timed("choose_k, n = 100,000, 2 jobs", lambda: cg.choose_k(many, ks, n_jobs=2))
    timed("scikit-learn, n = 100,000, 1 start, 2,000 pts", lambda: plain(many, range(2, 11), 1, 2_000))
    if options.peers:
        print("published criteria, each with the k-means it needs")
        for name in PEERS:
            timed(f'criteria="{name}"', lambda name=name: cg.choose_k(X, ks, criteria=name))
            if name == "silhouette":
                timed(f'criteria="{name}", n = 100,000', lambda name=name: cg.choose_k(many, ks, criteria=name))


if __name__ == "__main__":
    main()
