"""A hierarchy whose clusters may overlap: a point may be in several leaves, and a cluster in several larger ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import ClassVar

import numpy as np

from congruence.errors import InputError, counted, hint, names_in, some_of
from congruence.statistics.tables import Array
from congruence.typing import Label


class NestedCover:
    """Overlapping clusters that are nested, for `element_centric`: the points of a cluster are also those of its parents.

    Args:
        clusters: A mapping from cluster to its points; those of the clusters inside it may be left out.
        parents: A mapping from cluster to the cluster that contains it, or to a list of several. Others contain all there is.

    Attributes:
        points: The points, in order of appearance.
        names: The clusters.
        depth: For each cluster, the longest and the shortest way up to a cluster without parents.
        below: The longest and the shortest way down to a cluster without parts.

    Raises:
        InputError: If a parent is unknown, or clusters contain one another in a circle.

    See also:
        `cg.Hierarchy`, in which each point is one leaf; `cg.Cover` for overlapping clusters that are not nested.

    >>> import congruence as cg
    >>> one = cg.NestedCover({"a": [0, 1], "b": [1, 2]}, parents={"a": "all", "b": "all"})
    >>> one
    NestedCover: 3 clusters of 3 points, up to 3 clusters per point
    >>> round(cg.element_centric(one, cg.Cover([[0, 1], [2]])), 4)
    0.5957
    """

    what: ClassVar[str] = "a nested cover"
    notes: tuple[str, ...] = ()

    def __init__(
        self, clusters: Mapping[Label, Sequence[Label]], parents: Mapping[Label, Label | Sequence[Label]]
    ) -> None:
        if not isinstance(clusters, Mapping) or not isinstance(parents, Mapping):
            raise InputError("expected a mapping from cluster to points, and a mapping from cluster to its parents")
        above = {name: [x] if _is_one(x) else names_in(x, "parents") for name, x in parents.items()}
        self.names: tuple[Label, ...] = tuple(dict.fromkeys([*clusters, *(x for own in above.values() for x in own)]))
        if unknown := [x for x in above if x not in self.names]:
            raise InputError(f"{unknown[0]!r} has parents but is no cluster; {hint(str(unknown[0]), self.names)}")
        at = {name: i for i, name in enumerate(self.names)}
        try:
            order = [at[x] for x in TopologicalSorter({name: above.get(name, []) for name in at}).static_order()]
        except CycleError as error:
            raise InputError(f"clusters contain one another in a circle: {some_of(error.args[1])}") from None
        parts: list[list[int]] = [[] for _ in at]
        holders = [[at[x] for x in above.get(name, [])] for name in at]
        for i, own in enumerate(holders):
            for larger in own:
                parts[larger].append(i)
        self.depth, self.below = _ways(order, holders), _ways(order[::-1], parts)
        listed = {name: names_in(clusters.get(name, []), f"the points of {name}") for name in at}
        place = {x: i for i, x in enumerate(dict.fromkeys(x for own in listed.values() for x in own))}
        if not place:
            raise InputError("the clusters have no points")
        self.points: tuple[Label, ...] = tuple(place)
        self._members = np.zeros((len(place), len(at)), dtype=bool)
        for name, points in listed.items():
            self._members[[place[x] for x in points], at[name]] = True
        for i in reversed(order):  # parts first
            self._members[:, holders[i]] |= self._members[:, [i]]

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.points)

    def memberships(self) -> tuple[Array, Array]:
        """The point and the cluster of each membership, those of larger clusters included."""
        point, cluster = np.nonzero(self._members)
        return point, cluster

    def __repr__(self) -> str:
        most = int(self._members.sum(axis=1).max())
        return (
            f"NestedCover: {counted(len(self.names), 'cluster')} of {counted(self.n_points, 'point')}, "
            f"up to {counted(most, 'cluster')} per point"
        )


def _ways(order: Sequence[int], near: Sequence[list[int]]) -> Array:
    """For each cluster, the longest and the shortest way to one that has none near it; the order has those near it first."""
    found = np.zeros((2, len(order)), dtype=np.int64)
    for i in order:
        if near[i]:
            found[:, i] = found[0, near[i]].max() + 1, found[1, near[i]].min() + 1
    return found


def _is_one(x: Label | Sequence[Label]) -> bool:
    return isinstance(x, str | bytes) or not hasattr(x, "__len__") or isinstance(x, tuple)
