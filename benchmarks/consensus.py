"""Time and memory of the consensus methods as the number of points grows: `python -m benchmarks.consensus`.

Each line runs in a separate process, so that its peak memory can be measured; making the ensemble is not timed. Then many
clusters, from each start of kcc, kmodes and voting (`--starts`: only this part).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.timing import in_process, once, peak

MEMBERS, CLUSTERS, NOISE = 20, 10, 0.3
SIZES = (1_000, 3_000, 10_000, 20_000, 100_000, 300_000, 1_000_000)
#: largest sizes of methods that compare pairs of points; the others have no limit
UP_TO = {"cspa": 5_000, "average": 20_000, "single": 20_000, "complete": 20_000, "hgpa": 100_000}
#: the usual code for each method, and the most points it is run with, because it needs an n × n matrix
PEERS = {
    "floor": ("hbgf", 10**8), "scipy average": ("average", 10_000), "sklearn spectral": ("ncut", 5_000),
    "sklearn kmeans": ("kcc", 100_000),
}  # fmt: skip

#: the methods that may start from a member
SEEDED = ("kcc", "kmodes", "voting")
#: numbers of clusters for which starts are compared, each cluster of 8 points, and the random starts tried for each
MANY = {100: 10, 250: 10}


def planted(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The truth, and members that redraw a share of its labels uniformly, one column each."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, CLUSTERS, n).astype(np.int8)
    labels = np.empty((n, MEMBERS), dtype=np.int8, order="F")
    for j in range(MEMBERS):
        labels[:, j] = np.where(rng.random(n) < NOISE, rng.integers(0, CLUSTERS, n), truth)
    return truth, labels


def one_hot(labels: np.ndarray) -> np.ndarray:
    return np.hstack([np.eye(CLUSTERS)[column] for column in labels.T])


def by_scipy(labels: np.ndarray) -> np.ndarray:
    """Average linkage of 1 − the consensus matrix."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    hot = one_hot(labels)
    distance = 1 - hot @ hot.T / MEMBERS
    np.fill_diagonal(distance, 0.0)
    return np.asarray(fcluster(linkage(squareform(distance, checks=False), "average"), CLUSTERS, "maxclust"))


def by_spectral(labels: np.ndarray) -> np.ndarray:
    """Spectral clustering of the consensus matrix."""
    from sklearn.cluster import SpectralClustering

    hot = one_hot(labels)
    model = SpectralClustering(CLUSTERS, affinity="precomputed", n_init=10, random_state=0)
    return np.asarray(model.fit_predict(hot @ hot.T / MEMBERS))


def by_kmeans(labels: np.ndarray) -> np.ndarray:
    """k-means on the one-hot columns."""
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(CLUSTERS, n_init=10, random_state=0).fit_predict(one_hot(labels)))


def by_floor(labels: np.ndarray) -> np.ndarray:
    """The least work that hbgf needs: encode, k-means of the embedding of 30,000 points, and one gather for every point."""
    from concurrent.futures import ThreadPoolExecutor

    from sklearn.cluster import KMeans

    codes = np.stack([(column - column.min()).astype(np.uint8) for column in labels.T])
    some = np.sort(np.random.default_rng(0).choice(codes.shape[1], min(30_000, codes.shape[1]), replace=False))
    hot = one_hot(codes[:, some].T)
    scaled = hot / np.sqrt(hot.sum(axis=0))
    _, vectors = np.linalg.eigh(scaled.T @ scaled)
    places = np.ascontiguousarray(vectors[:, -CLUSTERS:] / np.sqrt(hot.sum(axis=0))[:, None])
    points = hot @ places
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    centres = KMeans(CLUSTERS, n_init=1, random_state=0).fit(points).cluster_centers_
    found = np.empty(codes.shape[1], np.int32)
    cuts = range(0, len(found), 1 << 16)
    with ThreadPoolExecutor() as pool:
        list(
            pool.map(
                lambda at: _nearest(codes[:, at : at + (1 << 16)], places, centres, found[at : at + (1 << 16)]), cuts
            )
        )
    return found


def _nearest(codes: np.ndarray, places: np.ndarray, centres: np.ndarray, found: np.ndarray) -> None:
    from congruence.machine.jit import compiled

    compiled(_gathered)(codes, places, centres, np.square(centres).sum(axis=1) / 2, found)


def _gathered(codes: Any, places: Any, centres: Any, half: Any, found: Any) -> None:
    members, n = codes.shape
    wide = places.shape[1]
    sums = np.empty(wide)
    for i in range(n):
        sums[:] = 0.0
        for member in range(members):
            row = np.uint64(10 * member) + np.uint64(codes[member, i])
            for j in range(wide):
                sums[j] += places[row, j]
        length = np.sqrt((sums * sums).sum())
        best, own = -np.inf, 0
        for c in range(len(centres)):
            score = -half[c] * length
            for j in range(wide):
                score += sums[j] * centres[c, j]
            if score > best:
                best, own = score, c
        found[i] = own


def measured(how: str, n: int) -> tuple[float, float, float, float, str]:
    """Seconds, CPU seconds, peak memory (GB, with Python and the labels), ARI with the planted clusters, and the solver."""
    import congruence as cg

    peers = {"floor": by_floor, "scipy average": by_scipy, "sklearn spectral": by_spectral, "sklearn kmeans": by_kmeans}
    truth, labels = planted(n)
    _, small = planted(600 if n <= 100_000 else 120_000, 1)  # more points are sampled, by other loops
    if how in peers:
        peers[how](small)  # warm up
        seconds, worked, found = once(lambda: peers[how](labels))
        solver = ""
    else:
        cg.consensus(small, CLUSTERS, how, 0)
        seconds, worked, r = once(lambda: cg.consensus(cg.Ensemble(labels), CLUSTERS, how, 0, progress=False))
        found, solver = r.labels, r.solver
    return seconds, worked, peak(), cg.ari(found, truth), solver


def by_itself(how: str, n: int) -> tuple[float, float, float, float, str]:
    """The same, measured in a process of its own."""
    found = in_process(measured, how, n)
    return (np.nan, np.nan, np.nan, np.nan, found) if isinstance(found, str) else found


def main() -> None:
    from congruence.consensus_clustering.method_names import METHODS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="1,000 and 3,000 points only")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--sizes", nargs="+", type=int, metavar="N", help="numbers of points")
    parser.add_argument("--starts", action="store_true", help="only the starts with many clusters")
    parser.add_argument(
        "--sample", action="store_true", help="only the ARI from a sample of the points and from all of them"
    )
    options = parser.parse_args()
    if options.sample:
        sampled(options.methods)
        return
    if not options.starts:
        growing_points(options)
    if options.starts or not options.methods:
        starts(list(MANY))


def growing_points(options: argparse.Namespace) -> None:
    """Each method at each size, next to its peer."""
    from congruence.consensus_clustering.method_names import METHODS

    sizes = options.sizes or (SIZES[:2] if options.quick else SIZES)
    chosen = options.methods or ["auto", *METHODS]
    print(
        f"{MEMBERS} members, {CLUSTERS} planted clusters, {100 * NOISE:.0f} % of the labels redrawn; seconds of "
        "cg.consensus including the construction of the Ensemble,\npeak memory of the process, which made the "
        "labels; 'times': the seconds "
        "of the peer over ours at that size, and its CPU seconds over ours\n"
    )
    print(f"{'method':<17} {'n':>9} {'seconds':>9} {'CPU':>9} {'peak GB':>8} {'ARI':>7} {'times':>11}  solver")
    for method in chosen:
        ours: dict[int, tuple[float, float]] = {}
        for n in sizes:
            if n > UP_TO.get(method, n):
                why = "takes minutes" if method == "hgpa" else "compares each two points"
                print(f"{method:<17} {n:>9,}  {why}: not run above {UP_TO[method]:,}", flush=True)
                continue
            ours[n] = _line(method, n)
        for peer, (beside, most) in PEERS.items():
            for n in ours if beside == method else ():
                if n <= most:
                    _line(peer, n, ours[n])


#: what `--sample` tries: share of the labels redrawn, sizes of the clusters, share of the labels missing, clusters of the members
DESIGNS = (
    (0.6, (1,) * 8, 0.0, None),
    (0.75, (1,) * 8, 0.0, None),
    (0.6, (40, 25, 15, 10, 7, 3), 0.0, None),
    (0.3, (40, 25, 15, 10, 7, 0.3), 0.0, None),
    (0.6, (40, 25, 15, 10, 7, 3), 0.2, None),
    (0.4, (40, 25, 15, 10, 7, 3), 0.0, (3, 24)),
)


def designed(n: int, noise: float, sizes: tuple[float, ...], gaps: float, groups: Any) -> tuple[np.ndarray, Any]:
    """The truth and an ensemble; members with other numbers of clusters cut the points of each cluster and merge the pieces."""
    import congruence as cg

    rng = np.random.default_rng(1)
    k = len(sizes)
    truth = rng.choice(k, n, p=np.array(sizes) / sum(sizes))
    columns = []
    for _ in range(MEMBERS):
        own, many = truth, k
        if groups is not None:
            many = int(rng.integers(*groups))
            own = rng.integers(0, many, 4 * k)[4 * truth + rng.integers(0, 4, n)]
        column = np.where(rng.random(n) < noise, rng.integers(0, many, n), own).astype(float)
        column[rng.random(n) < gaps] = np.nan
        columns.append(column)
    return truth, cg.Ensemble(columns, unassigned="partial" if gaps else "error")


def sampled(methods: Sequence[str] | None = None) -> None:
    """ARI of each method with the truth and with its labels from all points: from a sample, with tables of all, from all."""
    import congruence as cg
    from congruence.consensus_clustering import search

    n = 110_000
    print(
        f"{n:,} points; share of the labels redrawn, sizes of the clusters: ARI with the truth from {search.SAMPLED:,} points, "
        "from those and the tables of\nclusters of all points, and from all; ARI of the first two with the last\n"
    )
    for noise, sizes, gaps, groups in DESIGNS:
        truth, e = designed(n, noise, sizes, gaps, groups)
        k = len(sizes)
        missing = f", {gaps:.0%} missing" if gaps else ""
        print(f"{noise:.2f} {list(sizes)}{missing}{f', members of {groups[0]} to {groups[1] - 1}' if groups else ''}")
        for method in methods or ("hbgf", "ncut", "mcla", "lwgp", "kcc", "voting", "auto"):
            found = []
            for limit, with_tables in ((search.ALL_UP_TO, False), (search.ALL_UP_TO, True), (n, True)):
                with (
                    patch.object(search, "ALL_UP_TO", limit),
                    patch.object(search.Request, "takes_tables", with_tables and method not in ("kcc", "voting")),
                ):
                    found.append(cg.consensus(e, k, method, 0, progress=False).labels)
            cells = [cg.ari(x, truth) for x in found] + [cg.ari(x, found[2]) for x in found[:2]]
            print(f"  {method:<7} {'  '.join(f'{x:.4f}' for x in cells)}", flush=True)


def _line(how: str, n: int, beside: tuple[float, float] | None = None) -> tuple[float, float]:
    seconds, worked, peak, ari, solver = by_itself(how, n)
    times = "" if beside is None else f"{seconds / beside[0]:.1f}× {worked / beside[1]:.1f}×"
    name = how if beside is None else f"  {how}"
    print(
        f"{name:<17} {n:>9,} {seconds:9.3f} {worked:9.3f} {peak:8.2f} {ari:7.4f} {times:>11}  {solver}".rstrip(),
        flush=True,
    )
    return seconds, worked


def starts(many: list[int]) -> None:
    """kcc, kmodes and voting of 5 noisy runs with k clusters, started at the most central member and at random."""
    import congruence as cg
    from congruence.consensus_clustering import alternating

    print(
        "\n5 members, k planted clusters of 8 points, 20 % of the labels redrawn: ARI with what was planted, and CPU seconds\n"
        f"start: the most central member, or at random on all points or {alternating.STARTS_ON:,} of them, the best of 'tries' "
        "(voting:\nat the labels that kcc finds so); *: the start that cg.consensus takes\n"
    )
    columns = "".join(f"{method:>9} {'seconds':>8} " for method in SEEDED)
    print(f"{'k':>5} {'points':>6} {'best member':>11}  {'start':<13} {'tries':>5} {columns}".rstrip())
    cg.consensus(planted(600)[1], CLUSTERS, list(SEEDED), 0)  # warm up
    for k in many:
        rng = np.random.default_rng(0)
        truth = rng.permutation(np.arange(8 * k) % k)
        members = [np.where(rng.random(8 * k) < 0.2, rng.integers(0, k, 8 * k), truth) for _ in range(5)]
        best = max(cg.ari(m, truth) for m in members)
        e = cg.Ensemble(members)
        sizes = [None, 8 * k, alternating.STARTS_ON] if 8 * k > alternating.STARTS_ON else [None, 8 * k]
        by_member = {method: "the most central member" in cg.consensus(e, k, method, 0).solver for method in SEEDED}
        for size in sizes:
            cells = ""
            for method in SEEDED:
                found, seconds = started(e, k, method, size, MANY[k])
                mark = "*" if (size is None) == by_member[method] else " "
                cells += f"{cg.ari(found, truth):8.3f}{mark} {seconds:8.2f} "
            name = "member" if size is None else f"random {size:,}"
            tries = "" if size is None else MANY[k]
            print(f"{k:>5,} {8 * k:>6,} {best:11.3f}  {name:<13} {tries:>5} {cells}".rstrip(), flush=True)


def started(e: Any, k: int, method: str, size: int | None, n_init: int) -> tuple[np.ndarray, float]:
    """Labels and CPU seconds when it starts at the most central member (`size` none), or at random on this many signatures."""
    import congruence as cg
    from congruence.consensus_clustering import alternating

    few, on = (alternating.FEW, 0) if size is None else (0, size)
    medoid = alternating.medoid if size is None else lambda *_: None
    with (
        patch.object(alternating, "FEW", few),
        patch.object(alternating, "STARTS_ON", on),
        patch.object(alternating, "medoid", medoid),
    ):
        start = time.process_time()
        r = cg.consensus(e, k, method, 0, n_init=n_init, progress=False)
        seconds = time.process_time() - start
    assert ("the most central member" in r.solver) == (size is None)
    return r.labels, seconds


if __name__ == "__main__":
    main()
