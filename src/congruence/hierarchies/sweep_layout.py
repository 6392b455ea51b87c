"""Layout of the tree of a sweep: orders with few crossings, and positions, as plain numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.statistics.tables import Array

#: the links between two neighbouring columns: cluster of the first, cluster of the second, points in common
Links = tuple[Array, Array, Array]
#: passes down and up the columns, and most clusters for which single swaps are tried
PASSES, MOST_SWAPPED = 12, 400
#: random starts, and most clusters for which they are tried
RESTARTS, MOST_RESTARTED = 6, 120


@dataclass(frozen=True, eq=False)
class Places:
    """Positions of clusters in layers: x from left to right in units of one cluster, y the number of the column, from 0."""

    orders: tuple[Array, ...]
    x: tuple[Array, ...]
    #: remaining weighted crossings: Σ count·count of crossing links divided by n², over all columns
    crossings: float


@dataclass(frozen=True, kw_only=True)
class Node:
    """A cluster: its column, name, position (y is the number of the column) and colour value."""

    column: str
    cluster: str
    x: float
    y: int
    size: int
    stability: float
    #: stability, the mean of a feature, or the index of its most frequent label
    value: float
    text: str


@dataclass(frozen=True, kw_only=True)
class Edge:
    """Points that two clusters of neighbouring columns share; `first` and `second` are positions of clusters."""

    first: int
    second: int
    count: int
    in_prop: float
    out_prop: float


def tree_places(sizes: Sequence[Array], links: Sequence[Links]) -> Places:
    """Positions of the clusters of a sweep, ordered within layers so that few links cross.

    Args:
        sizes: For each column the number of points of each cluster.
        links: For each two neighbouring columns (first cluster, second cluster, points in common).

    Returns:
        The order and the x of each cluster, by column; layers are centred over their links.

    >>> import numpy as np
    >>> one, two = np.array([4, 4]), np.array([2, 4, 2])
    >>> link = (np.array([0, 0, 1]), np.array([0, 2, 1]), np.array([2, 2, 4]))
    >>> places = tree_places([one, two], [link])
    >>> [order.tolist() for order in places.orders], places.crossings
    ([[0, 1], [0, 2, 1]], 0.0)
    """
    best, fewest = _settled([np.argsort(np.argsort(-size, kind="stable")).astype(float) for size in sizes], links)
    if sum(map(len, sizes)) <= MOST_SWAPPED:
        best, fewest = _swapped(best, links, fewest)
    rng = np.random.default_rng(0)
    for _ in range(RESTARTS if fewest > 0 and sum(map(len, sizes)) <= MOST_RESTARTED else 0):
        start = [rng.permutation(len(size)).astype(float) for size in sizes]
        tried, found = _settled(start, links)
        tried, found = _swapped(tried, links, found)
        if found < fewest:
            best, fewest = tried, found
    orders = tuple(np.argsort(r, kind="stable") for r in best)
    n = max(float(sizes[0].sum()), 1.0) if sizes else 1.0
    return Places(orders, tuple(_x_of(orders, sizes, links)), float(fewest) / n**2)


def _settled(rank: list[Array], links: Sequence[Links]) -> tuple[list[Array], float]:
    """The best orders found by passing down and up the layers, each ordered by the mean position of its neighbours."""
    layers = len(rank)
    best, fewest = [r.copy() for r in rank], _total(rank, links)
    for _ in range(PASSES):
        for down in (True, False):
            for layer in range(1, layers) if down else range(layers - 2, -1, -1):
                link = links[layer - 1] if down else _turned(links[layer])
                near = rank[layer - 1] if down else rank[layer + 1]
                rank[layer] = _by_neighbours(rank[layer], _pulled(near, link, len(rank[layer])))
            found = _total(rank, links)
            if found < fewest:
                best, fewest = [r.copy() for r in rank], found
    return best, fewest


def _turned(link: Links) -> Links:
    return link[1], link[0], link[2]


def _pulled(place: Array, link: Links, clusters: int) -> Array:
    """Mean position of the neighbours in the previous layer, weighted by common points; NaN without neighbours."""
    first, second, count = link
    total = np.bincount(second, weights=count, minlength=clusters)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.bincount(second, weights=count * place[first], minlength=clusters) / total)


def _by_neighbours(rank: Array, pulled: Array) -> Array:
    wanted = np.where(np.isnan(pulled), rank, pulled)
    return np.asarray(np.argsort(np.lexsort((rank, wanted))).astype(float))


def _crossings(upper: Array, lower: Array, link: Links) -> float:
    """Σ count·count over pairs of links that cross."""
    first, second, count = link
    table = np.zeros((len(upper), len(lower)))
    table[upper[first].astype(np.int64), lower[second].astype(np.int64)] = count
    after = np.cumsum(table[::-1], axis=0)[::-1]  # links from this cluster and those right of it
    left = np.cumsum(after, axis=1)[1:, :-1]  # that lead to this cluster or left of it
    return float((table[:-1, 1:] * left).sum())


def _total(rank: Sequence[Array], links: Sequence[Links]) -> float:
    return sum(_crossings(rank[i], rank[i + 1], link) for i, link in enumerate(links))


def _swapped(rank: list[Array], links: Sequence[Links], fewest: float) -> tuple[list[Array], float]:
    """Swap neighbours in a layer as long as that reduces crossings."""
    improved = fewest > 0
    while improved:
        improved = False
        for layer in range(len(rank)):
            near = [i for i in (layer - 1, layer) if 0 <= i < len(links)]
            now = sum(_crossings(rank[i], rank[i + 1], links[i]) for i in near)
            for place in range(len(rank[layer]) - 1):
                order = np.argsort(rank[layer], kind="stable")
                tried = rank[layer].copy()
                tried[order[place]], tried[order[place + 1]] = place + 1, place
                before, rank[layer] = rank[layer], tried
                after = sum(_crossings(rank[i], rank[i + 1], links[i]) for i in near)
                if after < now - 1e-9:
                    now, improved = after, True
                else:
                    rank[layer] = before
    return rank, _total(rank, links)


def _x_of(orders: Sequence[Array], sizes: Sequence[Array], links: Sequence[Links]) -> list[Array]:
    """Positions at least 1 apart that keep the orders and are near the mean position of the neighbours."""
    widest = max((len(order) for order in orders), default=1)
    x = []
    for order in orders:
        place = np.empty(len(order))
        place[order] = np.arange(len(order)) + (widest - len(order)) / 2
        x.append(place)
    for _ in range(PASSES):
        for layer in range(1, len(orders)):
            x[layer] = _spaced(
                _pulled(x[layer - 1], links[layer - 1], len(orders[layer])), x[layer], orders[layer], sizes[layer]
            )
        for layer in range(len(orders) - 2, -1, -1):
            x[layer] = _spaced(
                _pulled(x[layer + 1], _turned(links[layer]), len(orders[layer])), x[layer], orders[layer], sizes[layer]
            )
    low = min(float(place.min()) for place in x)
    return [place - low for place in x]


def _spaced(wanted: Array, now: Array, order: Array, weight: Array) -> Array:
    """The positions nearest to the wanted ones (weighted least squares) that are in order and at least 1 apart."""
    from scipy.optimize import isotonic_regression

    place = np.arange(len(order), dtype=np.float64)
    goal = np.where(np.isnan(wanted), now, wanted)[order] - place
    place[order] = isotonic_regression(goal, weights=np.maximum(weight[order], 1e-12)).x + place
    return place
