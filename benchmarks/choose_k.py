"""Time of choose_k, compared with plain scikit-learn: `python -m benchmarks.choose_k`.

100 clusterings for each of 9 numbers of clusters, n = 1,000, d = 10, and all criteria; scikit-learn computes one of them.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

import congruence as cg


def data(n: int, d: int) -> np.ndarray:
    """Five groups that overlap a little."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, d)) + 4 * rng.normal(size=(5, d))[rng.integers(0, 5, n)]


def plain(X: np.ndarray, ks: range, members: int) -> None:
    """The k-means runs and the mean ari over all pairs of them, with scikit-learn."""
    from sklearn.cluster import KMeans
    from sklearn.metrics import adjusted_rand_score
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # so small a problem is slower with more
        for k in ks:
            runs = [KMeans(k, init="random", n_init=1, random_state=i).fit(X).labels_ for i in range(members)]
            np.mean([adjusted_rand_score(a, b) for a, b in combinations(runs, 2)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 members instead of 100")
    parser.add_argument("--soft", action="store_true", help="mixtures and fuzzy c-means too: minutes")
    options = parser.parse_args()
    members = 20 if options.quick else 100
    X, ks = data(1_000, 10), range(2, 11)
    cg.choose_k(X, [2, 3], n_members=3, random_state=0, progress=False)  # load what is loaded once
    cg.choose_k(X, [2, 3], n_members=4, random_state=0, progress=False, n_jobs=2)
    print(
        f"n = 1,000, d = 10, k = 2 … 10, {members} members each; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    print("seconds by the clock and of this process (not of the workers of 2 jobs)")

    def timed(name: str, work: Callable[[], Any]) -> None:
        start, spent = time.perf_counter(), time.process_time()
        found = work()
        seconds, spent = time.perf_counter() - start, time.process_time() - spent
        print(f"{name:<44}{seconds:>9.1f}{spent:>9.1f}{'' if found is None else f'  k = {found.k}'}", flush=True)

    timed("choose_k, kmeans, 7 criteria, 1 job", lambda: cg.choose_k(X, ks, n_members=members, random_state=0))
    timed(
        "choose_k, kmeans, 7 criteria, 2 jobs", lambda: cg.choose_k(X, ks, n_members=members, random_state=0, n_jobs=2)
    )
    timed("scikit-learn, kmeans, ari alone", lambda: plain(X, ks, members))
    if options.soft:
        for method, protocol in (("em", "paper"), ("fuzzy", None)):
            again = partial(cg.choose_k, X, ks, method, members, random_state=0, protocol=protocol, n_jobs=2)
            timed(f"choose_k, {method}, 10 criteria, 2 jobs", again)


if __name__ == "__main__":
    main()
