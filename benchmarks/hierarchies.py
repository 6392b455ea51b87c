"""Time to compare trees, with clusim and scipy: `python -m benchmarks.hierarchies`.

Trees are random merges (for B_k) and linkages of two views of the same points (for the others). Times include everything
except making the trees; compiled loops were called once before.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import cophenet, cut_tree, linkage

import congruence as cg
from benchmarks.timing import wall
from congruence.engine import trees


def random_tree(n: int, rng: np.random.Generator) -> cg.Hierarchy:
    alive, merges = np.arange(n), []
    for m in range(n - 1):
        last = n - 1 - m
        for place in (last, last - 1):
            i = rng.integers(place + 1)
            alive[i], alive[place] = alive[place], alive[i]
        merges.append((alive[last], alive[last - 1]))
        alive[last - 1] = n + m
    return cg.Hierarchy((merges, np.sort(rng.random(n - 1))))


def linkages(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).normal(size=(n, 4))
    return linkage(X[:, :3], "average"), linkage(X[:, 1:], "complete")


def timed(work: Callable[[], Any], repeats: int = 3) -> float:
    return min(wall(work) for _ in range(repeats))


def clusim(one: np.ndarray, two: np.ndarray, value: float) -> str:
    """clusim's element-centric similarity of two linkages: as released, and with the scipy method that it needs added."""
    try:
        from clusim.clustering import Clustering
        from clusim.sim import element_sim
    except ImportError:
        return "not installed"

    def work() -> float:
        sides = [Clustering().from_scipy_linkage(z, dist_rescaled=True) for z in (one, two)]
        return float(element_sim(*sides, r=1.0, alpha=0.9, rescale_path_type="max"))

    from scipy.sparse import csr_matrix

    try:
        return f"{timed(work, 1):.2f} s"
    except AttributeError as error:
        csr_matrix.tolist = lambda self: self.toarray().tolist()
        try:
            seconds = timed(work, 1)
            return f"{seconds:.2f} s after a fix (difference {abs(work() - value):.0e}); as released, AttributeError: {error}"
        finally:
            del csr_matrix.tolist


def dense(a: cg.Hierarchy, b: cg.Hierarchy) -> float:
    """The definition with numpy: points × nodes, then two n × n matrices."""
    sides = []
    for h in (a, b):
        nodes, n = h.nodes, h.n_points
        level = nodes.depth / np.maximum(nodes.depth + nodes.far, 1)
        place = h.starts[:n]
        held = (place[:, None] >= nodes.start) & (place[:, None] < nodes.start + nodes.size)
        A = held * np.exp(level)
        W = (A / A.sum(axis=1, keepdims=True)) @ (A / A.sum(axis=0)).T
        sides.append(0.1 * np.linalg.inv(np.eye(n) - 0.9 * W))
    return float(np.mean(1 - np.abs(sides[0] - sides[1]).sum(axis=1) / 1.8))


def scipy_curve(one: np.ndarray, two: np.ndarray) -> list[float]:
    """B_k by scipy: all cuts of both trees by cut_tree, and a table for each k."""
    cuts = [cut_tree(z) for z in (one, two)]
    n = len(cuts[0])
    found = []
    for step in range(1, n - 1):
        cells = np.unique(cuts[0][:, step].astype(np.int64) * n + cuts[1][:, step], return_counts=True)[1]
        own = [np.unique(c[:, step], return_counts=True)[1] for c in cuts]
        found.append(((cells**2).sum() - n) / np.sqrt(((own[0] ** 2).sum() - n) * ((own[1] ** 2).sum() - n)))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the points")
    less = 10 if parser.parse_args().quick else 1
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(1)
    a, b = random_tree(700, rng), random_tree(700, rng)
    trees.point_scores(a, b), trees.merge_heights(a, b), trees.overlaps(a, b)  # compile
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; best of 3 for congruence, one run of the others\n")

    print("element-centric similarity of two linkages, r = 1, path = 'max'")
    for n in (50, 100, 200, 2_000 // less, 8_000 // less):
        one, two = linkages(n)
        a, b = cg.Hierarchy(one), cg.Hierarchy(two)
        ours = [timed(lambda a=a, b=b, t=t: trees.point_scores(a, b, threads=t)) for t in (1, 2)]
        peer = f"   numpy {timed(lambda a=a, b=b: dense(a, b), 1):8.3f} s" if n <= 2_000 else ""
        peer += f", difference {abs(dense(a, b) - cg.element_centric(a, b)):.0e}" if n <= 200 else ""
        peer += f"   clusim {clusim(one, two, cg.element_centric(a, b))}" if n <= 200 else ""
        print(f"  n = {n:>7,}  {ours[0]:8.3f} s, 2 threads {ours[1]:8.3f} s{peer}", flush=True)

    print("\nheights of all pairs: cophenetic, rank correlation and gamma together; scipy: cophenet and corrcoef alone")
    for n in (2_000 // less, 8_000 // less):
        one, two = linkages(n)
        a, b = cg.Hierarchy(one), cg.Hierarchy(two)
        ours = timed(lambda a=a, b=b: cg.compare(a, b, ["cophenetic", "cophenetic_spearman", "gamma"]))
        peer = timed(lambda one=one, two=two: np.corrcoef(cophenet(one), cophenet(two)), 1)
        same = abs(np.corrcoef(cophenet(one), cophenet(two))[0, 1] - cg.cophenetic(a, b))
        print(f"  n = {n:>7,}  {ours:8.3f} s   scipy {peer:8.3f} s, difference {same:.0e}", flush=True)

    print(
        "\nB_k with mean and standard deviation for every k; scipy: cut_tree of all k at once (n × n), and a table for each"
    )
    for n in (1_000, 10_000 // less, 100_000 // less):
        a, b = random_tree(n, rng), random_tree(n, rng)
        ours = timed(lambda a=a, b=b: cg.cut_curve(a, b))
        if n <= 1_000:
            rows = [h.linkage for h in (a, b)]
            peer = timed(lambda rows=rows: scipy_curve(*rows), 1)
            print(f"  n = {n:>7,}  {ours:8.3f} s   scipy {peer:10.1f} s, {peer / ours:,.0f}×", flush=True)
        else:
            print(f"  n = {n:>7,}  {ours:8.3f} s", flush=True)

    print("\nRobinson–Foulds distance")
    for n in (1_000, 100_000 // less):
        a, b = random_tree(n, rng), random_tree(n, rng)
        print(f"  n = {n:>7,}  {timed(lambda a=a, b=b: cg.robinson_foulds(a, b)):8.3f} s", flush=True)

    print("\ntanglegram of two linkages, all starts")
    one, two = linkages(300)
    a, b = cg.Hierarchy(one), cg.Hierarchy(two)
    plain = cg.tanglegram(a, b).crossings
    print(f"  n = {300:>7,}  {timed(lambda: cg.tanglegram(a, b), 1):8.3f} s, {plain:,} crossings", flush=True)


if __name__ == "__main__":
    main()
