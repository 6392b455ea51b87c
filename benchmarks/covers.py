"""Covers compared with clusim, cdlib and networkit, and a cover as large as com-DBLP: `python -m benchmarks.covers`.

Peers that are not installed are skipped and named. Data: the folder `covers` of CONGRUENCE_DATA, else of ../shared/data.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from benchmarks.timing import once

DATA = Path(os.environ.get("CONGRUENCE_DATA", Path(__file__).parents[2] / "shared" / "data")) / "covers"
#: whether peers are timed
peers_wanted = True
#: seconds after which a peer is stopped
LIMIT = 200
#: number of points, clusters, and most clusters per point of com-DBLP
DBLP = (260_998, 13_477, 124)


def shortest(call: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Shortest wall time of a call after one warm-up call, and its result."""
    call()
    found = [once(call) for _ in range(repeats)]
    return min(seconds for seconds, _, _ in found), found[0][2]


def peer(name: str) -> Any:
    """The module of a peer, or None."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def loaded(name: str) -> Any:
    return json.loads(gzip.decompress((DATA / name).read_bytes()))


# --- peers -----------------------------------------------------------------------------------------------------------


def naive_omega(a: cg.Cover, b: cg.Cover) -> float:
    """A dictionary of pairs for each cover, as most programs count: n² for the pairs that share nothing."""
    counts: list[dict[tuple[Any, Any], int]] = []
    for cover in (a, b):
        shared: dict[tuple[Any, Any], int] = {}
        for cluster in cover.clusters.values():
            for pair in combinations(sorted(cluster), 2):
                shared[pair] = shared.get(pair, 0) + 1
        counts.append(shared)
    n = len(set(a.points) | set(b.points))
    pairs = n * (n - 1) // 2
    most = max(max(x.values(), default=0) for x in counts)
    agree = sum(counts[1].get(pair, 0) == many for pair, many in counts[0].items())
    agree += pairs - len(counts[0].keys() | counts[1].keys())
    numbers = [np.bincount(list(x.values()), minlength=most + 1).astype(object) for x in counts]
    for x, shared in zip(numbers, counts, strict=True):
        x[0] = pairs - len(shared)
    expected = sum(numbers[0] * numbers[1])
    return float((pairs * agree - expected) / (pairs**2 - expected))


def clusim_omega(a: cg.Cover, b: cg.Cover) -> Callable[[], float]:
    """clusim's omega_index of the same covers."""
    sim, clustering = peer("clusim.sim"), peer("clusim.clustering")
    place = {point: i for i, point in enumerate(a.points)}
    sides = []
    for cover in (a, b):
        by_point: dict[int, list[int]] = {i: [] for i in place.values()}
        for k, cluster in enumerate(cover.clusters.values()):
            for point in cluster:
                by_point[place[point]].append(k)
        sides.append(clustering.Clustering(elm2clu_dict=by_point))
    return lambda: float(sim.omega_index(*sides))


def cdlib_communities(a: cg.Cover, b: cg.Cover) -> list[Any]:
    """Both covers as cdlib's communities on a graph of the points."""
    import networkx as nx

    cdlib = peer("cdlib")
    graph = nx.Graph()
    graph.add_nodes_from(a.points)
    return [cdlib.NodeClustering([list(c) for c in x.clusters.values()], graph, "x", overlap=True) for x in (a, b)]


def networkit_onmi(a: cg.Cover, b: cg.Cover) -> Callable[[], float]:
    """networkit's overlapping NMI, normalised by the larger entropy."""
    nk = peer("networkit")
    place = {point: i for i, point in enumerate(a.points)}
    sides = []
    for cover in (a, b):
        made = nk.Cover(len(place))
        made.setUpperBound(cover.k)
        for k, cluster in enumerate(cover.clusters.values()):
            for point in cluster:
                made.addToSubset(k, place[point])
        sides.append(made)
    graph = nk.Graph(len(place))
    distance = nk.community.OverlappingNMIDistance(nk.community.Normalization.MAX)
    return lambda: 1 - float(distance.getDissimilarity(graph, *sides))


# --- covers ----------------------------------------------------------------------------------------------------------


def noisy(clusters: list[list[int]], share: float, points: np.ndarray, seed: int = 0) -> list[list[int]]:
    """The clusters with this share of their members replaced by random points."""
    rng = np.random.default_rng(seed)
    found = []
    for cluster in clusters:
        members = np.array(cluster)
        moved = rng.random(len(members)) < share
        members[moved] = rng.choice(points, int(moved.sum()))
        found.append(np.unique(members).tolist())
    return found


def dblp_sized(seed: int = 0, scale: int = 1) -> tuple[list[list[int]], int]:
    """Clusters of a cover with the points, clusters and overlaps of com-DBLP: sizes and memberships by power laws."""
    n, clusters, most = DBLP[0] // scale, DBLP[1] // scale, DBLP[2]
    rng = np.random.default_rng(seed)
    times = np.minimum(rng.zipf(2.0, n), most)
    sizes = np.minimum(rng.zipf(1.6, clusters) + 5, 7_556 // scale).astype(np.float64)
    members = np.repeat(np.arange(n), times)
    # points of a cluster are near each other, so that clusters overlap with few others, as in a graph
    centre = rng.integers(0, n, clusters)
    order = np.argsort(centre)
    share = np.cumsum(sizes[order]) / sizes.sum()
    where = np.clip(members / n + rng.normal(0, 0.002, len(members)), 0, 1 - 1e-12)
    chosen = order[np.minimum(np.searchsorted(share, where), clusters - 1)]
    # one point is in as many clusters as the busiest author, and no cluster is empty
    author = rng.integers(n)
    chosen, members = chosen[members != author], members[members != author]
    busiest = np.arange(most) * np.int64(n) + author
    empty = np.setdiff1d(np.arange(clusters), chosen) * np.int64(n) + centre[np.setdiff1d(np.arange(clusters), chosen)]
    pairs = np.unique(np.concatenate([chosen * np.int64(n) + members, busiest, empty]))
    cluster, point = pairs // n, pairs % n
    cuts = np.searchsorted(cluster, np.arange(1, clusters))
    return [part.tolist() for part in np.split(point, cuts) if len(part)], n


def row(what: str, ours: float, value: float, others: dict[str, tuple[float, float] | str]) -> None:
    """One line: our time and value, then each peer's time, how many times ours that is, and its value."""
    print(f"{what:<34} congruence {ours:>8.3f} s  {value:.6f}")
    for name, found in others.items():
        if isinstance(found, str):
            print(f"{'':<34} {name:<10} {found}")
        else:
            print(f"{'':<34} {name:<10} {found[0]:>8.3f} s  {found[1]:.6f}  {found[0] / ours:,.0f}×")


def timed(name: str | None, make: Callable[[], Callable[[], float]]) -> tuple[float, float] | str:
    """The time and value of a peer or of plain Python, or why it is missing; stopped after LIMIT seconds."""
    if not peers_wanted:
        return "not timed"
    if name is not None and peer(name) is None:
        return "not installed"

    def stop(*_: object) -> None:
        raise TimeoutError(f"stopped after {LIMIT} s")

    signal.signal(signal.SIGALRM, stop)
    try:
        call = make()
        signal.alarm(LIMIT)
        seconds, _, value = once(call)
        return seconds, value
    except Exception as error:  # a peer that fails is a result
        return f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
    finally:
        signal.alarm(0)


def philosophy() -> None:
    """Wikipedia categories and detected communities of philosophers: every signature is different."""
    names = ("ground_truth_community_Philosophy.json.gz", "detected_community_Philosophy.json.gz")
    a, b = (cg.Cover(loaded(name), keys="points") for name in names)
    print(f"Philosophy: {a.k:,} and {b.k:,} clusters of {len(a):,} points")

    def cdlib_score(name: str) -> Callable[[], Callable[[], float]]:
        def made() -> Callable[[], float]:
            first, second = cdlib_communities(a, b)
            return lambda: float(getattr(peer("cdlib.evaluation"), name)(first, second).score)

        return made

    seconds, value = shortest(lambda: cg.omega(a, b))
    row("omega", seconds, value, {
        "naive": timed(None, lambda: lambda: naive_omega(a, b)), "clusim": timed("clusim", lambda: clusim_omega(a, b)),
        "cdlib": timed("cdlib", cdlib_score("omega")),
    })  # fmt: skip
    seconds, value = shortest(lambda: cg.onmi_max(a, b))
    row("onmi_max", seconds, value, {
        "networkit": timed("networkit", lambda: networkit_onmi(a, b)),
        "cdlib": timed("cdlib", cdlib_score("overlapping_normalized_mutual_information_MGH")),
    })  # fmt: skip
    seconds, value = shortest(lambda: cg.element_centric(a, b), 1)
    row("element_centric", seconds, value, {})


def youtube() -> None:
    """Groups of YouTube users, and the same with noise."""
    clusters = loaded("youtube.json.gz")["communities"]
    points = np.unique(np.concatenate([np.array(c) for c in clusters]))
    a, b = cg.Cover(clusters, points), cg.Cover(noisy(clusters, 0.1, points), points)
    print(f"YouTube and the same with 10 % of the memberships moved: {a.k:,} clusters of {len(a):,} points")
    seconds, value = shortest(lambda: cg.omega(a, b), 1)
    row("omega", seconds, value, {"naive": timed(None, lambda: lambda: naive_omega(a, b))})
    seconds, value = shortest(lambda: cg.onmi_max(a, b), 1)
    row("onmi_max", seconds, value, {"networkit": timed("networkit", lambda: networkit_onmi(a, b))})


def dblp(scale: int = 1) -> None:
    """A cover as large as com-DBLP, and the same with noise; the memory is that of this process."""
    made, n = dblp_sized(scale=scale)
    start = time.perf_counter()
    a, b = cg.Cover(made, n), cg.Cover(noisy(made, 0.1, np.arange(n)), n)
    built = time.perf_counter() - start
    print(f"As large as com-DBLP, with 10 % noise: {a!r}, {int(a.sizes.sum()):,} memberships")
    print(f"{'building both covers':<34} congruence {built:>8.3f} s")
    busy = time.process_time()
    seconds, _, found = once(lambda: cg.compare(a, b, ["omega", "onmi_max", "average_f1", "bcubed_f"]))
    busy = time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{'all four in one call':<34} congruence {seconds:>8.3f} s, of which processors worked {busy:.1f} s")
    print(f"{'largest memory of this process':<34} {peak:.2f} GB")
    for key in found:
        seconds, _, value = once(lambda key=key: getattr(cg, key)(a, b))  # type: ignore[misc]
        row(key, seconds, value, {})


PARTS: dict[str, Callable[[], None]] = {
    "philosophy": philosophy, "youtube": youtube, "dblp": dblp, "dblp-tenth": lambda: dblp(10),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="default: philosophy, youtube and dblp")
    parser.add_argument("--no-peers", action="store_true", help="time congruence alone")
    given = parser.parse_args()
    global peers_wanted
    peers_wanted = not given.no_peers
    chosen = given.parts or ["philosophy", "youtube", "dblp"]
    if len(chosen) == 1:
        PARTS[chosen[0]]()
        return
    load = os.getloadavg()[0]
    print(
        f"{len(os.sched_getaffinity(0))} cores, load {load:.1f}; wall time: best of 5 for congruence, one call for peers"
    )
    for part in chosen:  # a process for each, so that its memory can be measured
        print(flush=True)
        command = [sys.executable, "-m", "benchmarks.covers", part, *(["--no-peers"] if given.no_peers else [])]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
