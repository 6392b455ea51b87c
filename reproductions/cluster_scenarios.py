"""Generated data with a known number of clusters: families of compact clusters, and of data without clusters (k = 1)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

#: points, and the cluster of each, −1 for outliers
Drawn = tuple[np.ndarray, np.ndarray]
Family = Callable[[np.random.Generator], Drawn]
COMPACT: dict[str, Family] = {}
NULL: dict[str, Family] = {}
CURVED: dict[str, Family] = {}
SUITE: dict[str, Family] = {}


def family(group: dict[str, Family]) -> Callable[[Family], Family]:
    def add(function: Family) -> Family:
        group[function.__name__] = function
        return function

    return add


def is_test(name: str, seed: int) -> bool:
    """The half of the sets that is not used for the weights, by a hash of the name."""
    return bool(hashlib.sha256(f"{name}/{seed}".encode()).digest()[0] & 1)


# --- pieces -----------------------------------------------------------------------------------------------------


def centres(rng: np.random.Generator, k: int, d: int, sep: float) -> np.ndarray:
    """Centres whose nearest pair is exactly `sep` apart, drawn in a box that they fill."""
    found = rng.uniform(size=(k, d))
    for _ in range(200):
        trial = rng.uniform(size=(k, d))
        if _nearest(trial) > _nearest(found):
            found = trial
        if _nearest(found) > 0.35 * d**0.5 * k ** (-1 / min(d, 4)):
            break
    return found * sep / _nearest(found)


def _nearest(c: np.ndarray) -> float:
    apart = ((c[:, None] - c[None]) ** 2).sum(axis=-1)
    np.fill_diagonal(apart, np.inf)
    return float(apart.min() ** 0.5)


def sizes(rng: np.random.Generator, n: int, k: int, unequal: bool) -> np.ndarray:
    share = rng.dirichlet(np.full(k, 2.0)) if unequal else np.full(k, 1 / k)
    return np.maximum((share * n).astype(int), min(15, n // k))


def grouped(rng: np.random.Generator, c: np.ndarray, many: np.ndarray, shape: str = "normal") -> Drawn:
    """Points of unit variance about each centre, of one of several shapes."""
    d = c.shape[1]
    return joined([c[j] + noise(rng, (int(m), d), shape) for j, m in enumerate(many)])


def joined(parts: Sequence[np.ndarray]) -> Drawn:
    """Groups one after the other, and the number of each point's group."""
    return np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(x) for x in parts])


def one(X: np.ndarray) -> Drawn:
    """Data without clusters."""
    return X, np.zeros(len(X), dtype=int)


def noise(rng: np.random.Generator, size: tuple[int, int], shape: str) -> np.ndarray:
    if shape == "heavy":
        return rng.standard_t(5, size) / np.sqrt(5 / 3)
    if shape == "skewed":
        return (rng.gamma(3.0, size=size) - 3) / np.sqrt(3)
    if shape == "uniform":
        return rng.uniform(-1, 1, size) * np.sqrt(3)
    if shape == "ball":
        x = rng.normal(size=size)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        return x * rng.uniform(size=(size[0], 1)) ** (1 / size[1]) * np.sqrt(size[1] + 2)
    if shape == "long":
        ratio = rng.uniform(1.5, 4, size[1]) ** rng.choice([-1, 1], size[1])
        turn = np.linalg.qr(rng.normal(size=(size[1], size[1])))[0]
        ratio /= np.exp(np.log(ratio).mean())
        return (rng.normal(size=size) * ratio) @ turn
    return rng.normal(size=size)


def points(rng: np.random.Generator, low: int = 80, high: int = 900) -> int:
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


# --- compact clusters -------------------------------------------------------------------------------------------


@family(COMPACT)
def blobs(rng):
    k, d = int(rng.integers(2, 9)), int(rng.integers(2, 31))
    return grouped(rng, centres(rng, k, d, rng.uniform(4.5, 8)), sizes(rng, max(points(rng), 20 * k), k, False))


@family(COMPACT)
def boxed(rng):
    """As scikit-learn's make_blobs: centres anywhere in a box; nearest pairs below 4 sd are drawn again."""
    k, d = int(rng.integers(2, 11)), int(rng.integers(2, 13))
    while True:
        c = rng.uniform(-10, 10, (k, d))
        if _nearest(c) >= 4.2:
            return grouped(rng, c, sizes(rng, max(points(rng), 25 * k), k, False))
        k = max(2, k - 1)


@family(COMPACT)
def overlapping(rng):
    """Round clusters of one size, so near that there is hardly a valley between them."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(2, 17))
    return grouped(rng, centres(rng, k, d, rng.uniform(2.2, 3.4)), sizes(rng, points(rng, 200, 2000), k, False))


@family(COMPACT)
def lattice(rng):
    side = int(rng.integers(2, 4))
    d = int(rng.integers(2, 4)) if side == 2 else 2
    c = np.stack(np.meshgrid(*[np.arange(side)] * d), -1).reshape(-1, d) * rng.uniform(4.5, 7)
    return grouped(rng, c, sizes(rng, max(points(rng), 25 * len(c)), len(c), False))


@family(COMPACT)
def unequal_sizes(rng):
    k, d = int(rng.integers(2, 8)), int(rng.integers(2, 15))
    return grouped(rng, centres(rng, k, d, rng.uniform(5, 8)), sizes(rng, max(points(rng), 30 * k), k, True))


@family(COMPACT)
def unequal_spread(rng):
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 12))
    c, spread = centres(rng, k, d, 1.0), rng.uniform(0.5, 2, k)
    scale = max((spread[a] + spread[b]) / np.linalg.norm(c[a] - c[b]) for a in range(k) for b in range(a))
    many = sizes(rng, max(points(rng), 25 * k), k, bool(rng.integers(2)))
    c = c * scale * rng.uniform(2.6, 4)
    return joined([c[j] + spread[j] * rng.normal(size=(int(m), d)) for j, m in enumerate(many)])


@family(COMPACT)
def long(rng):
    k, d = int(rng.integers(2, 6)), int(rng.integers(2, 9))
    return grouped(rng, centres(rng, k, d, rng.uniform(5, 9)), sizes(rng, max(points(rng), 30 * k), k, False), "long")


@family(COMPACT)
def noise_features(rng):
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 6))
    X, y = grouped(rng, centres(rng, k, d, rng.uniform(5, 8)), sizes(rng, max(points(rng, 120), 25 * k), k, False))
    return np.hstack([X, rng.normal(size=(len(X), int(rng.integers(2, 21))))]), y


@family(COMPACT)
def outliers(rng):
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 10))
    X, y = grouped(rng, centres(rng, k, d, rng.uniform(5, 8)), sizes(rng, max(points(rng, 120), 30 * k), k, False))
    low, high = X.min(axis=0), X.max(axis=0)
    some = max(1, int(rng.uniform(0.01, 0.08) * len(X)))
    wide = rng.uniform(0.1, 0.5)
    far = rng.uniform(low - wide * (high - low), high + wide * (high - low), (some, d))
    return np.vstack([X, far]), np.append(y, np.full(some, -1))


@family(COMPACT)
def heavy(rng):
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 10))
    return grouped(rng, centres(rng, k, d, rng.uniform(6, 9)), sizes(rng, max(points(rng), 25 * k), k, False), "heavy")


@family(COMPACT)
def skewed(rng):
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 10))
    return grouped(rng, centres(rng, k, d, rng.uniform(5, 9)), sizes(rng, max(points(rng), 25 * k), k, False), "skewed")


@family(COMPACT)
def uniform_groups(rng):
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 7))
    shape = ["uniform", "ball"][int(rng.integers(2))]
    sep = rng.uniform(4.3, 7) if shape == "uniform" else rng.uniform(4.6, 7) * np.sqrt(d + 2) / 2
    return grouped(rng, centres(rng, k, d, sep), sizes(rng, max(points(rng), 30 * k), k, False), shape)


@family(COMPACT)
def nested(rng):
    d, outer, inner = int(rng.integers(2, 8)), int(rng.integers(2, 4)), int(rng.integers(2, 4))
    near = [centres(rng, inner, d, rng.uniform(5, 6)) for _ in range(outer)]
    far = centres(rng, outer, d, rng.uniform(16, 24))
    c = np.concatenate([far[i] + x - x.mean(axis=0) for i, x in enumerate(near)])
    return grouped(rng, c, sizes(rng, max(points(rng), 30 * len(c)), len(c), False))


@family(COMPACT)
def few_wide(rng):
    k, d = int(rng.integers(2, 5)), int(rng.integers(40, 200))
    sep = rng.uniform(1.6, 2.6) * d**0.25 * 2
    return grouped(rng, centres(rng, k, d, sep), sizes(rng, int(rng.integers(20 * k, 40 * k)), k, False))


@family(COMPACT)
def binary(rng):
    k, d = int(rng.integers(2, 5)), int(rng.integers(15, 40))
    p = np.where(rng.uniform(size=(k, d)) < 0.5, rng.uniform(0.05, 0.15, (k, d)), rng.uniform(0.85, 0.95, (k, d)))
    return joined([rng.uniform(size=(int(points(rng) / k) + 20, d)) < p[j] for j in range(k)])


@family(COMPACT)
def likert(rng):
    k, d = int(rng.integers(2, 5)), int(rng.integers(8, 25))
    mean = rng.choice([1.8, 4.2], (k, d))
    n = int(points(rng) / k) + 20
    return joined([np.clip(np.rint(rng.normal(mean[j], 0.8, (n, d))), 1, 5) for j in range(k)])


@family(COMPACT)
def many(rng):
    k, d = int(rng.integers(9, 15)), int(rng.integers(2, 8))
    return grouped(rng, centres(rng, k, d, rng.uniform(5, 8)), sizes(rng, int(rng.integers(30 * k, 70 * k)), k, False))


def cell_lines(rng: np.random.Generator, n_columns: int | None = None) -> Drawn:
    """Tight small groups in principal components, as single cells of known lines: own means, own and shared factors."""
    k, n, genes = int(rng.integers(3, 9)), int(rng.integers(150, 251)), 400
    lines, shared = rng.normal(size=(k, genes)), rng.normal(size=(2, genes))
    strength, y = rng.uniform(0.7, 1.4), np.repeat(np.arange(k), sizes(rng, n, k, bool(rng.integers(2))))
    X = strength * lines[y] + rng.uniform(0.1, 0.5) * rng.normal(size=(len(y), 2)) @ shared
    for j in range(k):
        own = y == j
        X[own] += rng.uniform(0.1, 0.4) * rng.normal(size=(own.sum(), 3)) @ rng.normal(size=(3, genes))
    X += rng.normal(size=X.shape)
    left, length, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    d = n_columns or int(rng.integers(10, 51))
    return (left * length)[:, :d], y


@family(COMPACT)
def embedded(rng):
    return cell_lines(rng)


@family(COMPACT)
def gap_paper(rng):
    """Tibshirani, Walther and Hastie (2001), simulations b to e."""
    which = int(rng.integers(4))
    if which == 0:
        c = np.array([[0, 0], [0, 5], [5, -3.0]])
        return joined([x + rng.normal(size=(m, 2)) for x, m in zip(c, (25, 25, 50), strict=True)])
    if which in (1, 2):
        d, spread = (3, 5.0) if which == 1 else (10, 1.9)
        while True:
            c = rng.normal(size=(4, d)) * spread
            X = [x + rng.normal(size=(int(rng.choice([25, 50])), d)) for x in c]
            if min(_apart(X[a], X[b]) for a in range(4) for b in range(a)) >= 1:
                return joined(X)
    line = np.linspace(-0.5, 0.5, 100)[:, None] * np.ones(3)
    return joined([line + 0.1 * rng.normal(size=(100, 3)), line + 10 + 0.1 * rng.normal(size=(100, 3))])


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1).min()))


def _random(rng: np.random.Generator) -> Drawn:
    k, d = int(rng.integers(2, 9)), int(np.exp(rng.uniform(np.log(2), np.log(40))))
    shape = str(rng.choice(["normal", "normal", "heavy", "skewed", "uniform", "long", "ball"]))
    sep = rng.uniform(3.6, 8) * (np.sqrt(d + 2) / 2 if shape == "ball" else 1.0) * (1.15 if shape == "long" else 1.0)
    n = max(points(rng), 25 * k)
    X, y = grouped(rng, centres(rng, k, d, sep), sizes(rng, n, k, bool(rng.integers(2))), shape)
    if rng.uniform() < 0.25:
        X = np.hstack([X, rng.normal(size=(len(X), int(rng.integers(1, 11))))])
    if rng.uniform() < 0.2:
        some = max(1, int(rng.uniform(0.01, 0.05) * len(X)))
        low, high = X.min(axis=0), X.max(axis=0)
        X = np.vstack([X, rng.uniform(low - 0.2 * (high - low), high + 0.2 * (high - low), (some, X.shape[1]))])
        y = np.append(y, np.full(some, -1))
    return X, y


@family(COMPACT)
def random_a(rng):
    return _random(rng)


@family(COMPACT)
def random_b(rng):
    return _random(rng)


@family(COMPACT)
def random_c(rng):
    return _random(rng)


@family(COMPACT)
def random_d(rng):
    return _random(rng)


# --- no clusters ------------------------------------------------------------------------------------------------


@family(NULL)
def cube(rng):
    return one(rng.uniform(size=(points(rng, 60), int(rng.integers(1, 9)))))


@family(NULL)
def gaussian(rng):
    return one(rng.normal(size=(points(rng, 60), int(rng.integers(1, 31)))))


@family(NULL)
def stretched(rng):
    d = int(rng.integers(2, 11))
    X = rng.normal(size=(points(rng, 60), d)) * np.exp(rng.uniform(0, 2.5, d))
    return one(X @ np.linalg.qr(rng.normal(size=(d, d)))[0])


@family(NULL)
def stretched_box(rng):
    d = int(rng.integers(2, 5))
    return one(rng.uniform(size=(points(rng, 60), d)) * np.exp(rng.uniform(0, 1.5, d)))


@family(NULL)
def one_ball(rng):
    return one(noise(rng, (points(rng, 60), int(rng.integers(2, 7))), "ball"))


@family(NULL)
def heavy_tails(rng):
    return one(rng.standard_t(rng.choice([3, 4, 5, 8]), (points(rng, 60), int(rng.integers(1, 11)))))


@family(NULL)
def skew(rng):
    size = (points(rng, 60), int(rng.integers(1, 11)))
    return one((rng.gamma(rng.uniform(1, 4), size=size), np.exp(0.6 * rng.normal(size=size)))[int(rng.integers(2))])


@family(NULL)
def binary_noise(rng):
    d = int(rng.integers(8, 40))
    return one(rng.uniform(size=(points(rng, 60), d)) < rng.uniform(0.2, 0.8, d))


@family(NULL)
def likert_noise(rng):
    return one(np.clip(np.rint(rng.normal(3, 1.1, (points(rng, 60), int(rng.integers(5, 20))))), 1, 5))


@family(NULL)
def wide(rng):
    return one(rng.normal(size=(int(rng.integers(40, 120)), int(rng.integers(50, 300)))))


@family(NULL)
def factors(rng):
    n, d, r = points(rng, 60), int(rng.integers(5, 25)), int(rng.integers(1, 4))
    return one(rng.normal(size=(n, r)) @ rng.normal(size=(r, d)) + rng.uniform(0.3, 1.5) * rng.normal(size=(n, d)))


@family(NULL)
def arc(rng):
    n, angle = points(rng, 60), rng.uniform(0.7, 1.6) * np.pi
    t = rng.uniform(0, angle, n)
    return one(np.column_stack([np.cos(t), np.sin(t)]) + rng.uniform(0.05, 0.25) * rng.normal(size=(n, 2)))


@family(NULL)
def triangle(rng):
    u = rng.dirichlet(np.ones(3), points(rng, 60))
    return one(u @ np.array([[0, 0], [1, 0], [0.5, 0.87]]))


@family(NULL)
def sphere(rng):
    x = rng.normal(size=(points(rng, 60), int(rng.integers(2, 5))))
    return one(x / np.linalg.norm(x, axis=1, keepdims=True) * rng.normal(1, 0.03, (len(x), 1)))
