"""Measures of trees and sweeps from their definitions: sets of points, double loops, no code of the library.

A tree is a list of (height, set of points), one entry per node above the points.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np

Tree = list[tuple[float, frozenset[int]]]


def tree_of(linkage) -> Tree:
    """The nodes of a linkage: each merge is the union of two clusters."""
    n = len(linkage) + 1
    clusters = [frozenset([i]) for i in range(n)]
    tree = []
    for i, j, height, *_ in linkage:
        clusters.append(clusters[int(i)] | clusters[int(j)])
        tree.append((float(height), clusters[-1]))
    return tree


def n_points(tree: Tree) -> int:
    return max(len(points) for _, points in tree)


def merge_height(tree: Tree, i: int, j: int) -> float:
    """Height of the smallest node that holds both points."""
    return min((len(points), height) for height, points in tree if i in points and j in points)[1]


def heights(a: Tree, b: Tree) -> tuple[list[float], list[float]]:
    pairs = list(itertools.combinations(range(n_points(a)), 2))
    return [merge_height(a, i, j) for i, j in pairs], [merge_height(b, i, j) for i, j in pairs]


def pearson(u: list[float], v: list[float]) -> float:
    if len(set(u)) < 2 or len(set(v)) < 2:
        return math.nan
    mu, mv = sum(u) / len(u), sum(v) / len(v)
    cov = sum((x - mu) * (y - mv) for x, y in zip(u, v, strict=True))
    return cov / math.sqrt(sum((x - mu) ** 2 for x in u) * sum((y - mv) ** 2 for y in v))


def ranks(u: list[float]) -> list[float]:
    """Mid-ranks: how many are smaller, and half of those that are equal."""
    return [sum(y < x for y in u) + (sum(y == x for y in u) + 1) / 2 for x in u]


def cophenetic(a: Tree, b: Tree) -> float:
    return pearson(*heights(a, b))


def cophenetic_spearman(a: Tree, b: Tree) -> float:
    u, v = heights(a, b)
    return pearson(ranks(u), ranks(v))


def gamma(a: Tree, b: Tree) -> float:
    u, v = heights(a, b)
    order = [(u[p] - u[q]) * (v[p] - v[q]) for p, q in itertools.combinations(range(len(u)), 2)]
    same, opposite = sum(x > 0 for x in order), sum(x < 0 for x in order)
    return (same - opposite) / (same + opposite) if same + opposite else math.nan


def clades(tree: Tree) -> set[frozenset[int]]:
    return {points for _, points in tree if len(points) < n_points(tree)}


def robinson_foulds(a: Tree, b: Tree) -> float:
    return len(clades(a) ^ clades(b))


# --- element-centric ------------------------------------------------------------------------------------------------


def affinities(tree: Tree, r: float, path: str, alpha: float = 0.9) -> np.ndarray:
    """p = (1 − α)(I − αW)⁻¹ with W the walk from points to nodes and back; nodes weigh exp(r·l)."""
    n = n_points(tree)
    top = max(tree, key=lambda node: len(node[1]))[0]
    nodes = [(0.0, frozenset([i])) for i in range(n)] + list(tree)

    def depth(points: frozenset[int]) -> int:
        return sum(points < other for _, other in nodes)

    def ways_down(points: frozenset[int]) -> list[int]:
        return [sum(frozenset([i]) <= other < points for _, other in nodes) for i in points]

    weights = []
    for height, points in nodes:
        if path == "height":
            level = 1 - height / top
        else:
            down = ways_down(points)
            below = 0 if len(points) == 1 else (max(down) if path == "max" else min(down))
            level = depth(points) / (depth(points) + below)
        weights.append(math.exp(r * level))
    return walk([(w, points) for w, (_, points) in zip(weights, nodes, strict=True)], n, alpha)


def affinities_of_nested(clusters: dict, parents: dict, n: int, r: float, path: str) -> np.ndarray:
    """The same where clusters may have several parents, and points may be in several clusters of any level."""
    best = max if path == "max" else min

    def ways(c: int, step: dict) -> int:
        return best((1 + ways(x, step) for x in step.get(c, [])), default=0)

    parts: dict = {}
    for c, own in parents.items():
        for x in own:
            parts.setdefault(x, []).append(c)

    def held(c: int) -> set[int]:
        return set(clusters[c]).union(*(held(x) for x in parts.get(c, [])))

    weighted = []
    for c in clusters:
        up, down = ways(c, parents), ways(c, parts)
        weighted.append((math.exp(r * up / max(up + down, 1)), held(c)))
    return walk(weighted, n, 0.9)


def walk(weighted: list, n: int, alpha: float) -> np.ndarray:
    """(1 − α)(I − αW)⁻¹ of points in weighted clusters."""
    A = np.array([[w * (i in points) for w, points in weighted] for i in range(n)])
    B = A / A.sum(axis=1, keepdims=True)
    C = A / A.sum(axis=0, keepdims=True)
    return (1 - alpha) * np.linalg.inv(np.eye(n) - alpha * B @ C.T)


def element_centric(a: Tree, b: Tree, r: float = 1, path: str = "max", alpha: float = 0.9) -> float:
    p, q = affinities(a, r, path, alpha), affinities(b, r, path, alpha)
    return float(np.mean(1 - np.abs(p - q).sum(axis=1) / (2 * alpha)))


# --- cuts -----------------------------------------------------------------------------------------------------------


def cut(linkage, k: int) -> list[int]:
    """The first n − k merges, made one by one; clusters numbered by their first point."""
    n = len(linkage) + 1
    clusters = {i: {i} for i in range(n)}
    for step in range(n - k):
        i, j = int(linkage[step][0]), int(linkage[step][1])
        clusters[n + step] = clusters.pop(i) | clusters.pop(j)
    ordered = sorted(clusters.values(), key=min)
    return [next(c for c, points in enumerate(ordered) if i in points) for i in range(n)]


def wallace(a, b) -> float:
    pairs = list(itertools.combinations(range(len(a)), 2))
    both = sum(a[i] == a[j] and b[i] == b[j] for i, j in pairs)
    own = [sum(x[i] == x[j] for i, j in pairs) for x in (a, b)]
    return both / math.sqrt(own[0] * own[1]) if all(own) else float(own == [0, 0])


def wallace_moments(a, b) -> tuple[float, float]:
    """Mean and variance over all permutations of the points of b."""
    values = [wallace(a, [b[i] for i in order]) for order in itertools.permutations(range(len(b)))]
    return float(np.mean(values)), float(np.var(values))


# --- levels ---------------------------------------------------------------------------------------------------------


def hmi(a, b) -> float:
    """Recursion over the clusters of the two roots: mutual information of the children, then into each pair of them."""

    def inside(level: int, points: list[int]) -> float:
        if level == min(len(a), len(b)) or not points:
            return 0.0
        n = len(points)
        both = Counter((a[level][i], b[level][i]) for i in points)
        x, y = Counter(a[level][i] for i in points), Counter(b[level][i] for i in points)
        own = sum(c / n * math.log(c * n / (x[u] * y[v])) for (u, v), c in both.items())
        return own + sum(
            c / n * inside(level + 1, [i for i in points if (a[level][i], b[level][i]) == uv]) for uv, c in both.items()
        )

    return inside(0, list(range(len(a[0]))))


# --- sweeps ---------------------------------------------------------------------------------------------------------


def sc3(columns, k: int, cluster, normalised: bool = False) -> float:
    """SC3 stability of one cluster of column k."""
    own = {i for i, x in enumerate(columns[k]) if x == cluster}
    total = 0.0
    for other, column in enumerate(columns):
        if other == k:
            continue
        met = {column[i] for i in own}
        for d in met:
            there = {i for i, x in enumerate(column) if x == d}
            total += len(own & there) / (len(there) * len(met) ** 2)
    return total / (len(columns) - normalised)
