"""Density profiles by double loops, from the definitions alone; slow and obvious."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any


def width_bin(x: float, values: Sequence[float], bins: int) -> int:
    """The bin of x among `bins` of equal width over the range of the values; the last is closed."""
    low, high = min(values), max(values)
    if low == high:
        return 0
    for j in range(bins - 1, 0, -1):
        if x >= low + j * ((high - low) / bins):
            return j
    return 0


def profile(codes: Sequence[Sequence[int]], labels: Sequence[Any], n_bins: Sequence[int]) -> list[list[int]]:
    """Counts of cluster × (attribute, bin), clusters in sorted order."""
    rows = []
    for cluster in sorted(set(labels)):
        row = []
        for i, q in enumerate(n_bins):
            row += [sum(1 for c, x in zip(codes, labels, strict=True) if x == cluster and c[i] == j) for j in range(q)]
        rows.append(row)
    return rows


def product(v: Sequence[float], w: Sequence[float]) -> float:
    return sum(x * y for x, y in zip(v, w, strict=True))


def matchings(k: int, m: int) -> list[list[tuple[int, int]]]:
    """Every way to match the clusters of the side with fewer with as many of the other."""
    if k <= m:
        return [list(enumerate(order)) for order in itertools.permutations(range(m), k)]
    return [[(i, j) for j, i in enumerate(order)] for order in itertools.permutations(range(k), m)]


def sim(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    return max(sum(product(a[i], b[j]) for i, j in pairs) for pairs in matchings(len(a), len(b)))


def norm(a: Sequence[Sequence[float]]) -> float:
    return sum(x * x for row in a for x in row)


def adco(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    return sim(a, b) / max(norm(a), norm(b))


def adco_cosine(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    return sim(a, b) / math.sqrt(norm(a) * norm(b))


def adco_metric(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    padded_a, padded_b = sorted(map(tuple, a)), sorted(map(tuple, b))
    empty = (0,) * len(a[0])
    same = [r for r in padded_a if r != empty] == [r for r in padded_b if r != empty]
    return 0.0 if same else 2 - adco(a, b)


def adjusted(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]]) -> float:
    """adco minus its mean over all matchings."""
    every = [sum(product(a[i], b[j]) for i, j in pairs) for pairs in matchings(len(a), len(b))]
    mean = sum(every) / len(every)
    top = max(norm(a), norm(b))
    return 1.0 if math.isclose(top, mean, rel_tol=1e-12) else (max(every) - mean) / (top - mean)


def kernel_of_profiles(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], kernel: Any) -> float:
    """max over matchings of κ(V, ρ(V')), vectors padded to equal length, over the larger κ with itself."""
    size, width = max(len(a), len(b)), len(a[0])
    pad = [[*map(list, x), *([[0] * width] * (size - len(x)))] for x in (a, b)]
    flat = [x for row in pad[0] for x in row]
    best = max(kernel(flat, [x for k in order for x in pad[1][k]]) for order in itertools.permutations(range(size)))
    other = [x for row in pad[1] for x in row]
    return best / max(kernel(flat, flat), kernel(other, other))


def kernel_of_clusters(a: Sequence[Sequence[float]], b: Sequence[Sequence[float]], kernel: Any) -> float:
    best = max(sum(kernel(a[i], b[j]) for i, j in pairs) for pairs in matchings(len(a), len(b)))
    return best / max(sum(kernel(v, v) for v in x) for x in (a, b))


def mdl_cuts(values: Sequence[float], classes: Sequence[Any]) -> list[float]:
    """Fayyad and Irani (1993): the best cut of all midpoints, if its gain is above the length of its description."""

    def entropy(kinds: Sequence[Any]) -> float:
        return -sum(kinds.count(c) / len(kinds) * math.log2(kinds.count(c) / len(kinds)) for c in set(kinds))

    points = sorted(zip(values, classes, strict=True), key=lambda p: p[0])
    kinds = [c for _, c in points]
    n = len(points)
    best: tuple[float, float] | None = None
    for i in range(1, n):
        if points[i - 1][0] == points[i][0]:
            continue
        left, right = kinds[:i], kinds[i:]
        mixed = (len(left) * entropy(left) + len(right) * entropy(right)) / n
        if best is None or mixed < best[0] - 1e-12:
            best = (mixed, (points[i - 1][0] + points[i][0]) / 2)
    if best is None:
        return []
    mixed, cut = best
    left, right = [c for v, c in points if v < cut], [c for v, c in points if v > cut]
    k, k1, k2 = (len(set(x)) for x in (kinds, left, right))
    delta = math.log2(3**k - 2) - (k * entropy(kinds) - k1 * entropy(left) - k2 * entropy(right))
    if entropy(kinds) - mixed <= (math.log2(n - 1) + delta) / n:
        return []
    below = mdl_cuts([v for v in values if v < cut], [c for v, c in zip(values, classes, strict=True) if v < cut])
    above = mdl_cuts([v for v in values if v > cut], [c for v, c in zip(values, classes, strict=True) if v > cut])
    return sorted([*below, cut, *above])
