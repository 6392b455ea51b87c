"""Whether plateaus contain the true clusters: `python -m benchmarks.resolutions` (needs igraph).

Sweeps of Leiden over 20 resolutions and of k-means over k = 1 … 15, on Gaussian groups of unequal sizes and on uniform
points. Seeds 1 and 2 were used to choose the rule; the others were not.
"""

from __future__ import annotations

import argparse
import random
import time

import numpy as np

import congruence as cg

RESOLUTIONS = [round(0.1 * i, 1) for i in range(1, 21)]


def groups(
    k: int, distance: float, rng: np.random.Generator, n: int = 400, d: int = 6
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian groups with centres at one distance from the origin and unequal sizes."""
    centres = rng.normal(size=(k, d))
    centres *= distance / np.linalg.norm(centres, axis=1, keepdims=True)
    labels = rng.choice(k, n, p=rng.dirichlet(np.full(k, 8.0)))
    return centres[labels] + rng.normal(size=(n, d)), labels


def leiden(X: np.ndarray) -> dict[str, np.ndarray]:
    """Leiden on the graph of 12 nearest neighbours, at each resolution."""
    import igraph
    from sklearn.neighbors import kneighbors_graph

    near = kneighbors_graph(X, 12)
    near = near.maximum(near.T).tocoo()
    upper = near.row < near.col
    graph = igraph.Graph(n=len(X), edges=list(zip(near.row[upper].tolist(), near.col[upper].tolist(), strict=True)))
    random.seed(1)
    return {
        f"leiden_{r}": np.array(graph.community_leiden("modularity", resolution=r, n_iterations=3).membership)
        for r in RESOLUTIONS
    }


def kmeans(X: np.ndarray) -> dict[str, np.ndarray]:
    from sklearn.cluster import KMeans

    return {f"k_{k}": KMeans(k, n_init=2, random_state=k).fit_predict(X) for k in range(1, 16)}


def many_clusters(n: int = 133_541, columns: int = 15) -> None:
    """Seconds of a sweep with a tenth as many clusters as points, as in graphs with many small communities."""
    rng = np.random.default_rng(0)
    base = rng.integers(0, n // 10, n)
    ks = [int(n * (0.09 + 0.002 * j)) for j in range(columns)]
    made = {
        f"r_{(j + 1) / 10}": np.where(rng.random(n) < 0.1, rng.integers(0, k, n), rng.integers(0, k, n // 10)[base])
        for j, k in enumerate(ks)
    }
    start, processor = time.perf_counter(), time.process_time()
    cg.resolutions(made)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    print(
        f"{n:,} points × {columns} columns, {ks[0]:,} to {ks[-1]:,} clusters: {seconds:.1f} s ({processor:.1f} s of processor)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=8, help="data sets of each kind")
    parser.add_argument("--large", action="store_true", help="only time one sweep with many clusters")
    options = parser.parse_args()
    if options.large:
        many_clusters()
        return
    seeds = options.seeds
    for title, chosen in (("seeds 1 and 2", range(1, 3)), (f"seeds 3 to {seeds}", range(3, seeds + 1))):
        print(title)
        for name, make in (("Leiden", leiden), ("k-means", kmeans)):
            found = right = cases = noisy = noise = 0
            best: list[float] = []
            start = time.perf_counter()
            for seed in chosen:
                rng = np.random.default_rng(seed)
                for k in (2, 3, 5, 8, 12):
                    for distance in (6, 9):
                        X, truth = groups(k, distance, rng)
                        r = cg.resolutions(make(X))
                        cases += 1
                        if r.plateau is not None:
                            found += 1
                            right += r.plateau.n_clusters[0] <= k <= r.plateau.n_clusters[1]
                            place = r.names.index(r.plateau.names[len(r.plateau.names) // 2])
                            best.append(cg.ari(truth, r.ensemble[place]))
                for _ in range(3):
                    noise += 1
                    noisy += cg.resolutions(make(rng.random((400, 4)))).plateau is not None
            mean = f", mean ari with the groups {np.mean(best):.2f}" if best else ""
            seconds = time.perf_counter() - start
            print(
                f"  {name:<8} groups: plateau in {found} of {cases}, with the true number of clusters in {right}{mean}; "
                f"uniform points: plateau in {noisy} of {noise}  ({seconds:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    main()
