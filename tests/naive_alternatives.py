"""Alternatives by their definitions: double loops, all permutations, no code of the package."""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.optimize import linprog


def distance(x, y):
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(x, y, strict=True)))


def mean_point(points):
    return [sum(c) / len(points) for c in zip(*points, strict=True)]


def inter(kind, s, t):
    """Bezdek and Pal's six distances of two sets of points."""
    pairs = [distance(x, y) for x in s for y in t]
    v, w = mean_point(s), mean_point(t)
    if kind == 1:
        return min(pairs)
    if kind == 2:
        return max(pairs)
    if kind == 3:
        return sum(pairs) / len(pairs)
    if kind == 4:
        return distance(v, w)
    if kind == 5:
        return (sum(distance(x, w) for x in s) + sum(distance(y, v) for y in t)) / (len(s) + len(t))
    forth = max(min(distance(x, y) for y in t) for x in s)
    back = max(min(distance(x, y) for x in s) for y in t)
    return max(forth, back)


def intra(kind, s):
    """Their three extents of a set of points."""
    if kind == 1:
        return max(distance(x, y) for x in s for y in s)
    if kind == 2:
        return sum(distance(x, y) for x in s for y in s) / (len(s) * (len(s) - 1)) if len(s) > 1 else 0.0
    v = mean_point(s)
    return 2 * sum(distance(x, v) for x in s) / len(s)


def dunn(X, labels, i, j):
    parts = [[list(x) for x, own in zip(X, labels, strict=True) if own == c] for c in sorted(set(labels))]
    return min(inter(i, s, t) for s, t in itertools.combinations(parts, 2)) / max(intra(j, s) for s in parts)


def similarity(p, q):
    """The best matching of two profiles, over all injections of the smaller into the larger."""
    small, large = (p, q) if len(p) <= len(q) else (q, p)
    return max(
        sum(float(np.dot(small[k], large[m])) for k, m in enumerate(chosen))
        for chosen in itertools.permutations(range(len(large)), len(small))
    )


def least_similar(knowns, totals, k, integer, shared=False):
    """min over profiles x of Σ_h max over matchings: one row per matching."""
    bins = len(totals)
    groups = [[sum(knowns)]] if shared else [[known] for known in knowns]
    size = k * bins + len(groups)
    rows = []
    for h, (profile,) in enumerate(groups):
        clusters = len(profile)
        few = min(clusters, k)
        for left in itertools.combinations(range(clusters), few):
            for right in itertools.permutations(range(k), few):
                row = np.zeros(size)
                for a, b in zip(left, right, strict=True):
                    row[b * bins : (b + 1) * bins] += profile[a]
                row[k * bins + h] = -1
                rows.append(row)
    filled = np.zeros((bins, size))
    for r in range(bins):
        filled[r, [c * bins + r for c in range(k)]] = 1
    objective = np.zeros(size)
    objective[k * bins :] = 1
    found = linprog(
        objective,
        np.array(rows),
        np.zeros(len(rows)),
        filled,
        totals,
        bounds=(0, None),
        integrality=np.ones(size) if integer else None,
        options={"mip_rel_gap": 0.0} if integer else {},
    )
    assert found.status == 0
    return found.fun


def coala(X, knowns, k, omega):
    """Merge by merge, comparing all pairs of clusters."""
    clusters = [[i] for i in range(len(X))]
    gap = [[distance(x, y) for y in X] for x in X]

    def linkage(a, b):
        return sum(gap[i][j] for i in a for j in b) / (len(a) * len(b))

    def admissible(a, b):
        return not any(known[i] == known[j] for known in knowns for i in a for j in b)

    while len(clusters) > k:
        pairs = [(linkage(a, b), a, b) for a, b in itertools.combinations(clusters, 2)]
        nearest = min(pairs, key=lambda pair: pair[0])
        allowed = [pair for pair in pairs if admissible(pair[1], pair[2])]
        other = min(allowed, key=lambda pair: pair[0]) if allowed else None
        _, a, b = nearest if other is None or nearest[0] < omega * other[0] else other
        clusters = [c for c in clusters if c is not a and c is not b] + [a + b]
    labels = [0] * len(X)
    for c, members in enumerate(clusters):
        for i in members:
            labels[i] = c
    return labels


def nearest_first(cost, sizes):
    """Pairs of point and cluster in order of cost, taken while both are free."""
    left, labels = list(sizes), [-1] * len(cost)
    for _, n, c in sorted((cost[n][c], n, c) for n in range(len(cost)) for c in range(len(sizes))):
        if labels[n] < 0 and left[c] > 0:
            labels[n] = c
            left[c] -= 1
    return labels


def kernel_objective(X, knowns, labels, weight, sigma):
    """Σ over clusters of (1/size) Σ over pairs of exp(−d²/4σ²) − weight · [how many known join the two]."""
    total = 0.0
    for c in set(labels):
        members = [i for i in range(len(X)) if labels[i] == c]
        inner = 0.0
        for i in members:
            for j in members:
                inner += math.exp(-(distance(X[i], X[j]) ** 2) / (4 * sigma**2))
                inner -= weight * sum(known[i] == known[j] for known in knowns)
        total += inner / len(members)
    return total


def conditional_information(items, labels, groups):
    """I(C; Y | Z), Y one of a point's bins with equal probability, from the joint distribution."""
    joint: dict[tuple[int, int, int], float] = {}
    share = 1 / (len(items) * len(items[0]))
    for row, c, z in zip(items, labels, groups, strict=True):
        for y in row:
            joint[c, y, z] = joint.get((c, y, z), 0.0) + share

    def margin(*keep):
        found: dict[tuple[int, ...], float] = {}
        for key, p in joint.items():
            short = tuple(key[i] for i in keep)
            found[short] = found.get(short, 0.0) + p
        return found

    z_only, cz, yz = margin(2), margin(0, 2), margin(1, 2)
    return sum(p * math.log(p * z_only[z,] / (cz[c, z] * yz[y, z])) for (c, y, z), p in joint.items())
