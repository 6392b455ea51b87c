"""Generated data with a known number of clusters, all families: `draw("moons", 3)` gives points and clusters.

Curved clusters, and shapes as in the published suites (FCPS, SIPU, WUT, Graves, g2mg, h2mg), rebuilt from their
descriptions; the compact ones and the data without clusters are in `cluster_scenarios`.
"""

from __future__ import annotations

import hashlib

import numpy as np

from reproductions.cluster_scenarios import (
    COMPACT,
    CURVED,
    NULL,
    SUITE,
    Drawn,
    Family,
    centres,
    family,
    grouped,
    joined,
    noise,
    points,
)


def families() -> dict[str, Family]:
    return {**COMPACT, **NULL, **CURVED, **SUITE}


def group_of(name: str) -> str:
    groups = {"compact": COMPACT, "null": NULL, "curved": CURVED, "suite": SUITE}
    return next(title for title, members in groups.items() if name in members)


def draw(name: str, seed: int) -> Drawn:
    """Points of one set, and the cluster of each (−1 for outliers)."""
    code = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    X, y = families()[name](np.random.default_rng([code, seed]))
    return np.asarray(X, dtype=float), y


# --- clusters that no centre describes --------------------------------------------------------------------------


def _ring(rng, n, radius, spread, d=2):
    t = rng.uniform(0, 2 * np.pi, n)
    X = np.zeros((n, d))
    X[:, 0], X[:, 1] = radius * np.cos(t), radius * np.sin(t)
    return X + spread * rng.normal(size=(n, d))


@family(CURVED)
def moons(rng):
    n = points(rng, 150)
    t = rng.uniform(0, np.pi, n)
    side = np.arange(n) % 2
    X = np.where(
        side[:, None], np.column_stack([1 - np.cos(t), 0.5 - np.sin(t)]), np.column_stack([np.cos(t), np.sin(t)])
    )
    return X + rng.uniform(0.03, 0.09) * rng.normal(size=(n, 2)), side


@family(CURVED)
def rings(rng):
    n, k = points(rng, 200), int(rng.integers(2, 4))
    return joined([_ring(rng, n // k, 1.0 + i, rng.uniform(0.03, 0.1)) for i in range(k)])


@family(CURVED)
def core_and_ring(rng):
    n = points(rng, 150)
    return joined([0.3 * rng.normal(size=(n // 2, 2)), _ring(rng, n - n // 2, rng.uniform(2, 4), 0.15)])


@family(CURVED)
def spirals(rng):
    n, k = points(rng, 250), int(rng.integers(2, 4))
    t = rng.uniform(0.25, 1, n) * 3 * np.pi
    turn = 2 * np.pi * (np.arange(n) % k) / k
    return np.column_stack([t * np.cos(t + turn), t * np.sin(t + turn)]) + 0.2 * rng.normal(size=(n, 2)), np.arange(
        n
    ) % k


@family(CURVED)
def chainlink(rng):
    n = points(rng, 200) // 2
    a, b = _ring(rng, n, 1, 0.08, 3), _ring(rng, n, 1, 0.08, 3)[:, [0, 2, 1]]
    return joined([a, b + np.array([1, 0, 0])])


@family(CURVED)
def shells(rng):
    n = points(rng, 200) // 2
    x = rng.normal(size=(n, 3))
    return joined([rng.normal(size=(n, 3)) * 0.4, 4 * x / np.linalg.norm(x, axis=1, keepdims=True)])


@family(CURVED)
def stripes(rng):
    n, k = points(rng, 150), int(rng.integers(2, 5))
    long = rng.uniform(0, 12, n)
    X = np.column_stack([long, (np.arange(n) % k) * rng.uniform(1.2, 2) + 0.1 * rng.normal(size=n)])
    turn = rng.uniform(0, np.pi)
    return X @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]), np.arange(n) % k


# --- as in the published suites ---------------------------------------------------------------------------------


@family(SUITE)
def g2(rng):
    """Two Gaussians at the corners of a cube, from overlapping to far apart."""
    d = int(2 ** rng.integers(0, 7))
    sep = rng.uniform(3.0, 10)
    X = rng.normal(size=(900, d))
    X[:450] += sep / np.sqrt(d)
    return X, np.repeat([0, 1], 450)


@family(SUITE)
def h2(rng):
    """Two hubs: directions at random, distances from the hub half normal."""
    d = int(2 ** rng.integers(0, 7))
    x = rng.normal(size=(900, d))
    X = x / np.linalg.norm(x, axis=1, keepdims=True) * np.abs(rng.normal(size=(900, 1)))
    X[:450] += rng.uniform(3.0, 8) / np.sqrt(d)
    return X, np.repeat([0, 1], 450)


@family(SUITE)
def hepta(rng):
    c = np.vstack([np.zeros(3), np.eye(3), -np.eye(3)]) * rng.uniform(5, 7)
    return grouped(rng, c, np.full(7, int(rng.integers(30, 60))), "ball")


@family(SUITE)
def tetra(rng):
    c = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1.0]]) * rng.uniform(1.75, 2.2)
    return grouped(rng, c, np.full(4, 100), "ball")


@family(SUITE)
def two_diamonds(rng):
    n = int(rng.integers(150, 450))
    X = rng.uniform(-1, 1, (2 * n, 2)) @ np.array([[1, 1], [-1, 1]]) / 2
    X[:n, 0] -= 1.02
    X[n:, 0] += 1.02
    return X, np.repeat([0, 1], n)


@family(SUITE)
def lsun(rng):
    many = int(rng.integers(80, 160))
    a = rng.uniform([0, 0], [4, 0.6], (many, 2))
    b = rng.uniform([0, 1.2], [0.6, 4], (many, 2))
    return joined([a, b, 0.35 * rng.normal(size=(2 * many, 2)) + np.array([3, 3])])


@family(SUITE)
def wingnut(rng):
    n = int(rng.integers(200, 450))
    X = rng.beta(1, 2, (n, 2)) * [1, 1]
    return joined([X * [2, 3], np.array([4.4, 3]) - rng.beta(1, 2, (n, 2)) * [2, 3]])


@family(SUITE)
def engytime(rng):
    n = int(rng.integers(300, 450))
    return joined([rng.normal(size=(n, 2)), rng.normal(size=(n, 2)) * [1.8, 1.2] + np.array([3.4, 3.4])])


@family(SUITE)
def s_sets(rng):
    """Fifteen Gaussians of random covariances, with some overlap."""
    c = centres(rng, 15, 2, rng.uniform(5, 8))
    return grouped(rng, c, np.full(15, 60), "long")


@family(SUITE)
def a_sets(rng):
    k = int(rng.choice([12, 16, 20]))
    return grouped(rng, centres(rng, k, 2, rng.uniform(4.5, 7)), np.full(k, 45))


@family(SUITE)
def unbalance(rng):
    far, near = np.array([[40, 0], [40, 10], [40, 20], [50, 5], [50, 15.0]]), np.array([[0, 0], [4, 8], [-4, 8.0]])
    (sparse, y), (dense_ones, z) = grouped(rng, far, np.full(5, 25)), grouped(rng, near, np.full(3, 250))
    return np.concatenate([sparse, dense_ones]), np.concatenate([y, z + 5])


@family(SUITE)
def aggregation(rng):
    """Blobs of unequal size and density, some joined by thin bridges."""
    many, spread = [170, 34, 45, 102, 130, 34, 273], [2.2, 0.9, 1.0, 1.6, 1.9, 0.9, 2.7]
    c = np.array([[0, 0], [-4.5, 7], [5, 10], [12, 2], [20, 12], [27, 3], [12, 18.0]])
    return joined([x + s * noise(rng, (m, 2), "ball") / 2 for x, s, m in zip(c, spread, many, strict=True)])


@family(SUITE)
def flame_like(rng):
    n = int(rng.integers(150, 400))
    t = rng.uniform(0, np.pi, n)
    bowl = np.column_stack([3.2 * np.cos(t), -2.6 * np.sin(t)]) + 0.35 * rng.normal(size=(n, 2))
    return joined([bowl, 0.7 * rng.normal(size=(n // 2, 2)) * [1, 0.7] + np.array([0, 0.9])])


@family(SUITE)
def x_lines(rng):
    """Three to five parallel or fanned strokes of points."""
    k = int(rng.integers(2, 6))
    parts = []
    for j in range(k):
        t = rng.normal(size=(int(rng.integers(40, 100)), 1))
        turn = rng.uniform(-0.3, 0.3)
        parts.append(t * [np.cos(turn), np.sin(turn)] * 2 + [0, 3.2 * j] + 0.35 * rng.normal(size=(len(t), 2)))
    return joined(parts)


@family(SUITE)
def mk(rng):
    """Uniform disks and bars of different sizes."""
    k = int(rng.integers(2, 5))
    c = centres(rng, k, 2, 6.0)
    parts = [
        c[j]
        + noise(rng, (int(rng.integers(60, 200)), 2), "ball" if rng.integers(2) else "uniform")
        * rng.uniform(0.6, 1.4, 2)
        for j in range(k)
    ]
    return joined(parts)


@family(SUITE)
def fuzzy_x(rng):
    """Five Gaussians as on a die, near each other."""
    c = np.array([[0, 0], [1, 1], [1, -1], [-1, 1], [-1, -1.0]]) * rng.uniform(2.8, 4)
    return grouped(rng, c, np.full(5, int(rng.integers(60, 180))))


@family(SUITE)
def dense(rng):
    """A dense cluster beside a sparse one."""
    a, b = int(rng.integers(60, 200)), int(rng.integers(60, 200))
    return joined([0.15 * rng.normal(size=(a, 2)), rng.normal(size=(b, 2)) + np.array([rng.uniform(3.5, 5), 0])])
