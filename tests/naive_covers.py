"""Measures of covers from their definitions: sets, double loops over points, a dense matrix inverse. Slow and plain.

A cover is a list of clusters, each a list of points 0 … n−1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np

Cover = Sequence[Sequence[int]]


def shared(cover: Cover, i: int, j: int) -> int:
    """Number of clusters that hold both points."""
    return sum(i in cluster and j in cluster for cluster in cover)


def of_pairs(n: int) -> list[tuple[int, int]]:
    return list(itertools.combinations(range(n), 2))


def same(a: Cover, b: Cover) -> bool:
    """Whether both have the same clusters, each equally often."""
    return sorted(sorted(c) for c in a) == sorted(sorted(c) for c in b)


def same_sets(a: Cover, b: Cover) -> bool:
    return {frozenset(c) for c in a} == {frozenset(c) for c in b}


# --- pairs of points


def omega_parts(a: Cover, b: Cover, n: int) -> tuple[float, float]:
    """Observed and expected share of pairs with the same number of common clusters in both."""
    pairs = of_pairs(n)
    counts = [[shared(x, i, j) for i, j in pairs] for x in (a, b)]
    observed = sum(s == t for s, t in zip(*counts, strict=True)) / len(pairs)
    expected = sum(s == t for s in counts[0] for t in counts[1]) / len(pairs) ** 2
    return observed, expected


def omega(a: Cover, b: Cover, n: int) -> float:
    if n < 2:
        return 1.0
    observed, expected = omega_parts(a, b, n)
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def _alike(s: int, t: int) -> float:
    return 1.0 if s == t == 0 else min(s, t) / max(s, t)


def omega_soft(a: Cover, b: Cover, n: int) -> float:
    if n < 2:
        return 1.0
    pairs = of_pairs(n)
    counts = [[shared(x, i, j) for i, j in pairs] for x in (a, b)]
    observed = sum(_alike(s, t) for s, t in zip(*counts, strict=True)) / len(pairs)
    expected = sum(_alike(s, t) for s in counts[0] for t in counts[1]) / len(pairs) ** 2
    return 1.0 if abs(1 - expected) < 1e-15 else (observed - expected) / (1 - expected)


def comembership_jaccard(a: Cover, b: Cover, n: int) -> float:
    least = sum(min(shared(a, i, j), shared(b, i, j)) for i, j in of_pairs(n))
    most = sum(max(shared(a, i, j), shared(b, i, j)) for i, j in of_pairs(n))
    return least / most if most else float(same(a, b))


def bcubed_precision(a: Cover, b: Cover, n: int) -> float:
    means = []
    for e in range(n):
        seen = [other for other in range(n) if shared(b, e, other) > 0]
        if seen:
            means.append(np.mean([min(shared(a, e, x), shared(b, e, x)) / shared(b, e, x) for x in seen]))
    return float(np.mean(means)) if means else math.nan


def bcubed_recall(a: Cover, b: Cover, n: int) -> float:
    return bcubed_precision(b, a, n)


def bcubed_f(a: Cover, b: Cover, n: int) -> float:
    p, r = bcubed_precision(a, b, n), bcubed_recall(a, b, n)
    return 2 * p * r / (p + r) if p + r > 0 else (math.nan if math.isnan(p + r) else 0.0)


def rows(cover: Cover, n: int) -> np.ndarray:
    """Memberships 1/r for each of the r clusters of a point."""
    matrix = np.zeros((n, max(len(cover), 1)))
    for k, cluster in enumerate(cover):
        matrix[list(cluster), k] = 1.0
    total = matrix.sum(axis=1, keepdims=True)
    return matrix / np.where(total > 0, total, 1.0)


def concordance(u: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """NDC of two membership matrices, and its mean over permutations of the points."""
    pairs = of_pairs(len(u))
    e_a, e_b = ([1 - abs(x[i] - x[j]).sum() / 2 for i, j in pairs] for x in (u, v))
    value = 1 - np.mean([abs(s - t) for s, t in zip(e_a, e_b, strict=True)])
    return float(value), float(1 - np.mean([abs(s - t) for s in e_a for t in e_b]))


def ndc(a: Cover, b: Cover, n: int) -> float:
    return concordance(rows(a, n), rows(b, n))[0] if n > 1 else 1.0


def aci(a: Cover, b: Cover, n: int) -> float:
    if n < 2:
        return 1.0
    value, expected = concordance(rows(a, n), rows(b, n))
    return 1.0 if abs(1 - expected) < 1e-15 else (value - expected) / (1 - expected)


# --- clusters


def _h(w: float, n: int) -> float:
    return -(w / n) * math.log(w / n) if w > 0 else 0.0


def _entropy(size: int, n: int) -> float:
    return _h(size, n) + _h(n - size, n)


def _given(cluster: set[int], cover: Cover, n: int) -> float:
    """H(X given a cover): the smallest over its clusters that pass the constraint, at most H(X)."""
    best = _entropy(len(cluster), n)
    for other in cover:
        y = set(other)
        d, c, b = len(cluster & y), len(cluster - y), len(y - cluster)
        a = n - b - c - d
        if _h(a, n) + _h(d, n) > _h(b, n) + _h(c, n):
            best = min(best, _h(a, n) + _h(b, n) + _h(c, n) + _h(d, n) - _entropy(len(y), n))
    return best


def _onmi_parts(a: Cover, b: Cover, n: int) -> tuple[float, float, float]:
    h_a, h_b = (sum(_entropy(len(c), n) for c in x) for x in (a, b))
    given = [sum(_given(set(c), y, n) for c in x) for x, y in ((a, b), (b, a))]
    return h_a, h_b, (h_a - given[0] + h_b - given[1]) / 2


def _onmi(a: Cover, b: Cover, n: int, norm: Callable[[float, float, float], float]) -> float:
    h_a, h_b, i = _onmi_parts(a, b, n)
    return i / norm(h_a, h_b, i) if h_a > 0 or h_b > 0 else float(same_sets(a, b))


def onmi_max(a: Cover, b: Cover, n: int) -> float:
    return _onmi(a, b, n, lambda x, y, i: max(x, y))


def onmi_sum(a: Cover, b: Cover, n: int) -> float:
    return _onmi(a, b, n, lambda x, y, i: (x + y) / 2)


def onmi_joint(a: Cover, b: Cover, n: int) -> float:
    return _onmi(a, b, n, lambda x, y, i: x + y - i)


def onmi_lfk(a: Cover, b: Cover, n: int) -> float:
    if not a or not b:
        return float(not a and not b)

    def lost(x: Cover, y: Cover) -> float:
        shares = []
        for cluster in x:
            h = _entropy(len(cluster), n)
            there = any(set(cluster) == set(other) for other in y)
            shares.append(_given(set(cluster), y, n) / h if h > 0 else float(not there))
        return float(np.mean(shares))

    return 1 - (lost(a, b) + lost(b, a)) / 2


def _best(a: Cover, b: Cover, alike: Callable[[set[int], set[int]], float]) -> list[float]:
    return [max(alike(set(x), set(y)) for y in b) for x in a]


def f1(x: set[int], y: set[int]) -> float:
    return 2 * len(x & y) / (len(x) + len(y))


def jaccard(x: set[int], y: set[int]) -> float:
    return len(x & y) / len(x | y)


def _average(
    a: Cover,
    b: Cover,
    alike: Callable[[set[int], set[int]], float],
    weights: str = "clusters",
    mean: str = "arithmetic",
) -> float:
    if not a or not b:
        return float(not a and not b)
    sides = []
    for x, y in ((a, b), (b, a)):
        by = [len(c) if weights == "points" else 1 for c in x]
        sides.append(float(np.average(_best(x, y, alike), weights=by)))
    if mean == "harmonic":
        return 2 * sides[0] * sides[1] / sum(sides) if sum(sides) else 0.0
    return sum(sides) / 2


def average_f1(a: Cover, b: Cover, n: int, **options: str) -> float:
    return _average(a, b, f1, **options)


def average_jaccard(a: Cover, b: Cover, n: int, **options: str) -> float:
    return _average(a, b, jaccard, **options)


def nf1(a: Cover, b: Cover, n: int) -> float:
    if not a or not b:
        return float(not a and not b)
    scores, matched = [], set()
    for y in b:
        common = [len(set(x) & set(y)) for x in a]
        if not max(common):
            continue
        k = min((k for k in range(len(a)) if common[k] == max(common)), key=lambda k: (len(a[k]), k))
        matched.add(k)
        scores.append(f1(set(a[k]), set(y)))
    return float(np.mean(scores)) * (len(matched) / len(a)) * (len(matched) / len(b)) if scores else 0.0


# --- points


def walk(cover: Cover, n: int, alpha: float) -> np.ndarray:
    """Personalised PageRank of every point; a point in no cluster is a separate cluster."""
    alone = [[i] for i in range(n) if not any(i in c for c in cover)]
    clusters = [list(c) for c in cover] + alone
    a = np.zeros((n, len(clusters)))
    for k, cluster in enumerate(clusters):
        a[cluster, k] = 1.0
    w = (a / a.sum(axis=1, keepdims=True)) @ (a / a.sum(axis=0, keepdims=True)).T
    return (1 - alpha) * np.linalg.inv(np.eye(n) - alpha * w)


def element_scores(a: Cover, b: Cover, n: int, alpha: float = 0.9) -> np.ndarray:
    return 1 - np.abs(walk(a, n, alpha) - walk(b, n, alpha)).sum(axis=1) / (2 * alpha)


def element_centric(a: Cover, b: Cover, n: int, alpha: float = 0.9) -> float:
    return float(element_scores(a, b, n, alpha).mean())


MEASURES: dict[str, Callable[..., float]] = {
    f.__name__: f
    for f in (
        omega, omega_soft, comembership_jaccard, bcubed_precision, bcubed_recall, bcubed_f, ndc, aci, onmi_max, onmi_sum,
        onmi_joint, onmi_lfk, average_f1, average_jaccard, nf1, element_centric,
    )
}  # fmt: skip
