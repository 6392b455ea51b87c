"""Tanglegrams: leaf orders of two trees with few crossing lines, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.comparison.presenting import Result, plain
from congruence.errors import InputError, counted
from congruence.inputs.hierarchy import Hierarchy, same_points
from congruence.statistics.tables import Array
from congruence.typing import Record, TreeLike

#: most points for which random starts are also tried
MOST_RESTARTED, RESTARTS = 500, 8
#: points above which a tanglegram is refused
MOST_POINTS = 5000


@dataclass(frozen=True, eq=False, kw_only=True)
class Tanglegram(Result):
    """Two hierarchies of the same points with leaf orders that untangle them.

    Attributes:
        a: The first hierarchy.
        b: The second, its points in the order of the first.
        order_a: The points along the first tree.
        order_b: The points along the second tree.
        crossings: Pairs of lines that cross.

    >>> import congruence as cg
    >>> t = cg.tanglegram([[0, 1], [2, 3]], [[3, 0], [1, 2]])
    >>> t.crossings, t.order_b.tolist()
    (1, [0, 3, 1, 2])
    """

    a: Hierarchy
    b: Hierarchy
    order_a: Array
    order_b: Array
    crossings: int

    @property
    def entanglement(self) -> float:
        """Share of the pairs of lines that cross, 0 to 1."""
        n = self.a.n_points
        return self.crossings / max(n * (n - 1) / 2, 1)

    def segments(self, side: str) -> Array:
        """The branches of one tree ("a" or "b") as lines: position, height, position, height.

        Args:
            side: "a" or "b".
        """
        tree, order = (self.a, self.order_a) if side == "a" else (self.b, self.order_b)
        return branch_segments(tree, order)

    def to_dict(self) -> Record:
        """The two orders, the crossings and the entanglement, as plain Python values."""
        orders = {"order_a": self.order_a, "order_b": self.order_b}
        return dict(plain({**orders, "crossings": self.crossings, "entanglement": self.entanglement}))

    def table_columns(self) -> Record:
        """One row per point: its position along each tree."""
        points = np.arange(self.a.n_points)
        return {"point": points, "place_a": np.argsort(self.order_a), "place_b": np.argsort(self.order_b)}

    @property
    def sentence(self) -> str:
        """Its points and crossings in words."""
        crossings = counted(self.crossings, "crossing")
        return f"{counted(self.a.n_points, 'point')}, {crossings} ({self.entanglement:.1%} of the pairs)"

    def __repr__(self) -> str:
        return f"Tanglegram: {self.sentence}"


def tanglegram(a: TreeLike, b: TreeLike) -> Tanglegram:
    """Leaf orders that untangle two hierarchies, so that few of the lines between the same points cross.

    With one tree fixed, every node of the other is rotated to reduce crossings, which is optimal for nodes with two
    children. The two trees alternate until nothing improves. Up to 500 points, eight random starts are tried as well.

    Args:
        a: A Hierarchy, or what `cg.Hierarchy` takes.
        b: A Hierarchy of the same points, or what `cg.Hierarchy` takes.

    Returns:
        A Tanglegram with `order_a`, `order_b`, `crossings`, `entanglement` and `plot()`.

    Raises:
        InputError: If the points differ, or there are more than 5,000.

    See also:
        `cg.compare` for numbers, `cg.cut_curve` for the agreement at each number of clusters.

    >>> import congruence as cg
    >>> t = cg.tanglegram([[0, 1], [2, 3]], [[3, 2], [1, 0]])
    >>> t.order_a.tolist(), t.order_b.tolist(), t.crossings
    ([0, 1, 2, 3], [0, 1, 2, 3], 0)
    """
    first, second = (x if isinstance(x, Hierarchy) else Hierarchy(x) for x in (a, b))
    second = same_points(first, second)
    if first.n_points > MOST_POINTS:
        raise InputError(f"a tanglegram of {first.n_points:,} points is unreadable; cut the trees, or use a sample")
    rng = np.random.default_rng(0)
    starts = [first.order]
    if first.n_points <= MOST_RESTARTED:
        starts += [_turned(first, rng.permutation(first.n_points)) for _ in range(RESTARTS)]
    best: tuple[int, Array, Array] | None = None
    for order_a in starts:
        order_b = _turned(second, _places(order_a))
        crossings = _inversions(_places(order_a)[order_b])
        while crossings:
            next_a = _turned(first, _places(order_b))
            next_b = _turned(second, _places(next_a))
            fewer = _inversions(_places(next_a)[next_b])
            if fewer >= crossings:
                break
            order_a, order_b, crossings = next_a, next_b, fewer
        if best is None or crossings < best[0]:
            best = crossings, order_a, order_b
        if not best[0]:
            break
    if best is None:
        raise InputError("there are no points")
    return Tanglegram(a=first, b=second, order_a=best[1], order_b=best[2], crossings=best[0])


def _places(order: Array) -> Array:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return place


def _inversions(sequence: Array) -> int:
    """Number of inversions, by merge sort."""
    runs, total = [sequence[i : i + 1] for i in range(len(sequence))], 0
    while len(runs) > 1:
        joined = []
        for i in range(0, len(runs) - 1, 2):
            left, right = runs[i], runs[i + 1]
            total += len(left) * len(right) - int(np.searchsorted(left, right).sum())
            joined.append(np.sort(np.concatenate([left, right]), kind="stable"))
        runs = joined + (runs[-1:] if len(runs) % 2 else [])
    return total


def _turned(tree: Hierarchy, place: Array) -> Array:
    """The points along the tree, each node rotated for the fewest crossings."""
    nodes, n = tree.nodes, tree.n_points
    children: list[list[int]] = [[] for _ in nodes.parent]
    for node in np.argsort(nodes.start[:-1], kind="stable").tolist():
        children[int(nodes.parent[node])].append(node)
    held = {i: place[i : i + 1] for i in range(n)}
    for node in range(n, len(nodes.parent)):
        own = children[node]
        if len(own) == 2:
            left, right = (held[c] for c in own)
            crossing = int(np.searchsorted(right, left).sum())
            if 2 * crossing > len(left) * len(right):
                own.reverse()
        else:
            own.sort(key=lambda c: float(held[c].mean()))
        held[node] = np.sort(np.concatenate([held.pop(c) for c in own]), kind="stable")
    order: list[int] = []
    waiting = [len(nodes.parent) - 1]
    while waiting:
        node = waiting.pop()
        if node < n:
            order.append(node)
        else:
            waiting += reversed(children[node])
    return np.array(order, dtype=np.int64)


def branch_segments(tree: Hierarchy, order: Array) -> Array:
    """The branches of a tree with its points in this order, as lines: position, height, position, height."""
    nodes, n = tree.nodes, tree.n_points
    total = len(nodes.parent)
    place = np.zeros(total)
    place[:n] = _places(order)
    low, high = np.full(total, np.inf), np.full(total, -np.inf)
    lines = []
    for node in range(total):
        if node >= n:
            place[node] = (low[node] + high[node]) / 2
            lines.append((low[node], nodes.height[node], high[node], nodes.height[node]))
        if node < total - 1:
            up = int(nodes.parent[node])
            low[up], high[up] = min(low[up], place[node]), max(high[up], place[node])
            lines.append((place[node], nodes.height[node], place[node], nodes.height[up]))
    return np.array(lines, dtype=np.float64).reshape(-1, 4)
