"""How long choosing k takes, beside the plain way with scikit-learn: `python -m benchmarks.choose_k`.

100 clusterings for each of 9 numbers of clusters, n = 1,000, d = 10, and all criteria; scikit-learn does one of them.
"""

from __future__ import annotations

import argparse
import os
import time
from itertools import combinations

import numpy as np

import congruence as cg


def data(n: int, d: int) -> np.ndarray:
    """Five groups that overlap a little."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(5, d))[rng.integers(0, 5, n)]


def plain(X: np.ndarray, ks: range, members: int) -> tuple[float, float]:
    """Seconds for the k-means runs, and for the mean ari over all pairs of them, with scikit-learn."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score

    clustering = scoring = 0.0
    for k in ks:
        start = time.perf_counter()
        runs = [KMeans(k, init="random", n_init=1, random_state=i).fit(X).labels_ for i in range(members)]
        clustering += time.perf_counter() - start
        start = time.perf_counter()
        np.mean([adjusted_rand_score(a, b) for a, b in combinations(runs, 2)])
        scoring += time.perf_counter() - start
    return clustering, scoring


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 members instead of 100")
    members = 20 if parser.parse_args().quick else 100
    X, ks = data(1_000, 10), range(2, 11)
    cg.choose_k(X, [2, 3], n_members=3, random_state=0, progress=False)  # load what is loaded once
    cg.choose_k(X, [2, 3], n_members=4, random_state=0, progress=False, n_jobs=2)
    print(f"n = 1,000, d = 10, k = 2 … 10, {members} members each; load of the machine {os.getloadavg()[0]:.1f}")
    print(f"{'':<44}{'seconds':>9}{'cpu':>9}  k")
    for method, protocol, jobs in (("kmeans", None, 1), ("kmeans", None, 2), ("em", "paper", 2), ("fuzzy", None, 2)):
        start, spent = time.perf_counter(), time.process_time()
        options = {"n_members": members, "random_state": 0, "protocol": protocol, "n_jobs": jobs, "progress": False}
        choice = cg.choose_k(X, ks, method, **options)
        seconds, spent = time.perf_counter() - start, time.process_time() - spent
        criteria = f"{len(choice.criteria)} criteria"
        name = f"choose_k, {method}{' (paper)' if protocol else ''}, {criteria}, {jobs} job{'s' if jobs > 1 else ''}"
        print(f"{name:<44}{seconds:>9.1f}{spent if jobs == 1 else float('nan'):>9.1f}  {choice.k}", flush=True)
    clustering, scoring = plain(X, ks, members)
    print(
        f"{'scikit-learn, kmeans, ari alone':<44}{clustering + scoring:>9.1f}  ({clustering:.1f} k-means, {scoring:.1f} ari)"
    )


if __name__ == "__main__":
    main()
