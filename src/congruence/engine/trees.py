"""Statistics of two trees: sums over pairs of points, clades, affinities, overlaps of all cuts."""

from __future__ import annotations

from typing import Literal

import numpy as np

from congruence.engine import tree_kernels as kernels
from congruence.engine.plan import default_threads, in_threads
from congruence.errors import NotApplicable, Option
from congruence.inputs.hierarchy import Hierarchy
from congruence.machine.jit import compiled
from congruence.statistics.tables import Array
from congruence.statistics.trees import Clades, MergeHeights

Path = Literal["max", "min", "height"]
#: rows of scores that one thread computes at a time
ROWS = 256


def _levels(tree: Hierarchy) -> tuple[Array, Array, Array, Array]:
    """The level of each merge, and for each level the pairs of points, the centred height and the centred mid-rank."""
    heights, level = np.unique(tree.heights, return_inverse=True)
    pairs = np.prod(tree.sizes[tree.children].astype(np.float64), axis=1)
    many = np.bincount(level, weights=pairs, minlength=len(heights))
    total = many.sum()
    centred = heights - (many @ heights) / total
    rank = np.cumsum(many) - many / 2 - total / 2
    if len(heights) == 1:  # exactly 0, regardless of rounding in the mean
        centred, rank = np.zeros(1), np.zeros(1)
    return level, many, centred, rank


def merge_heights(a: Hierarchy, b: Hierarchy) -> MergeHeights:
    """Sums over pairs of points of the heights and ranks at which they merge; n² time, memory of the order of n log n."""
    if a.n_points < 2:
        return MergeHeights(*[*(np.zeros(1) for _ in range(8)), np.array([True])])
    level_a, many_a, height_a, rank_a = _levels(a)
    level_b, many_b, height_b, rank_b = _levels(b)
    n = a.n_points
    place_b = np.empty(n, dtype=np.int64)
    place_b[b.order] = np.arange(n)
    steps = n * n / 2 + len(many_a) * len(many_b)
    maxima = compiled(kernels.range_maxima, n * np.log2(n))(b.joins)
    s_uv, r_uv, concordant, discordant = compiled(kernels.pair_sums, steps)(
        a.children, a.order, a.starts, a.sizes, np.argsort(level_a, kind="stable"), level_a, place_b, maxima, level_b,
        height_a, height_b, rank_a, rank_b,
    )  # fmt: skip
    own = [many @ x**2 for many, x in ((many_a, height_a), (many_b, height_b), (many_a, rank_a), (many_b, rank_b))]
    same = discordant == 0 and np.array_equal(many_a, many_b)
    found = (s_uv, own[0], own[1], r_uv, own[2], own[3], concordant, discordant)
    return MergeHeights(*[*(np.array([float(x)]) for x in found), np.array([same])])


def clades(a: Hierarchy, b: Hierarchy) -> Clades:
    """Clusters of 2 … n − 1 points that are nodes of a, of b and of both, by intervals of the leaves of a; exact, O(n)."""
    n = a.n_points
    place = a.starts[:n]
    inner_a = slice(n, len(a.nodes.parent) - 1)
    known = set(zip(a.nodes.start[inner_a].tolist(), a.nodes.size[inner_a].tolist(), strict=True))
    parent = b.nodes.parent.tolist()
    low = place.tolist() + [n] * (len(parent) - n)
    high = place.tolist() + [-1] * (len(parent) - n)
    size = b.nodes.size.tolist()
    shared = 0
    for node in range(len(parent) - 1):
        if node >= n and high[node] - low[node] + 1 == size[node] and (low[node], size[node]) in known:
            shared += 1
        up = parent[node]
        low[up], high[up] = min(low[up], low[node]), max(high[up], high[node])
    counts = [max(len(t.nodes.parent) - n - 1, 0) for t in (a, b)]
    same = counts == [shared, shared]
    return Clades(*[*(np.array([float(x)]) for x in (*counts, shared)), np.array([same])])


def weights_of(tree: Hierarchy, r: float, path: Path) -> Array:
    """exp(r·l) of each node, l from 0 (root) to 1 (points); scaled by a constant, which cancels, so that it stays finite."""
    nodes = tree.nodes
    if path == "height":
        top = nodes.height[-1]
        if tree.n_points > 1 and not top > 0:
            raise NotApplicable(
                f"{Option('path', 'height')} needs a root above the points; use {Option('path', 'max')}"
            )
        level = 1 - nodes.height / (top if tree.n_points > 1 else 1.0)
    else:
        below = nodes.far if path == "max" else nodes.near
        level = nodes.depth / np.maximum(nodes.depth + below, 1)
    scaled = r * level
    return np.asarray(np.exp(scaled - scaled.max()))


def point_scores(
    a: Hierarchy, b: Hierarchy, *, r: float = 1.0, path: Path = "max", alpha: float = 0.9, threads: int | None = None
) -> Array:
    """Element-centric score of every point; n² time, memory of the order of n per thread."""
    n = a.n_points
    sides: list[Array] = []
    for tree in (a, b):
        nodes = tree.nodes
        spread = compiled(kernels.spread, 10 * n)
        x, reach, own, y = spread(nodes.parent, nodes.size, weights_of(tree, r, path), n, alpha)
        sides += [nodes.parent, nodes.start, nodes.size, x, reach[tree.order], own, y]
    place = a.starts[:n][b.order]
    scores = compiled(kernels.point_scores, 2.0 * n * n)
    jobs = [
        lambda first=first: scores(first, min(first + ROWS, n), alpha, *sides, place) for first in range(0, n, ROWS)
    ]
    return np.concatenate(in_threads(default_threads(threads), jobs))


def squares(tree: Hierarchy) -> tuple[Array, Array]:
    """Σa² − n and Σa(a−1)(a−2) of the cluster sizes after each merge, as floats if integers would overflow."""
    x, y = tree.sizes[tree.children].astype(np.float64).T
    both = np.concatenate([[0.0], np.cumsum(2 * x * y)])
    thirds = ((x + y) * (x + y - 1) * (x + y - 2)) - x * (x - 1) * (x - 2) - y * (y - 1) * (y - 2)
    return both, np.concatenate([[0.0], np.cumsum(thirds)])


def overlaps(a: Hierarchy, b: Hierarchy | tuple[Array, int]) -> Array:
    """Σn_ij² − n of the tables of both trees cut after the same number of merges, for every number; O(n log² n).

    b may be one clustering: its codes, and how many clusters it has.
    """
    n = a.n_points
    merges, codes, k = (b.children, np.arange(n), n) if isinstance(b, Hierarchy) else (np.empty((0, 2), np.int64), *b)
    curve = compiled(kernels.overlap_curve, 60.0 * n * max(np.log2(n), 1))
    return np.asarray(curve(a.children, merges, codes.astype(np.int64), k))
