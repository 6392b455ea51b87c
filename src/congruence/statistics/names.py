"""Names of clusters: their order, and those of two sides together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.statistics.segments import Array
from congruence.typing import Label

#: names of clusters: an array, a tuple or a range
ClusterNames = Array | Sequence[Label]


def plain_names(names: ClusterNames) -> list[Label]:
    """The names as Python values."""
    return names.tolist() if isinstance(names, np.ndarray) else list(names)


def label_order(labels: Sequence[Label]) -> list[int]:
    """Positions of the labels in sorted order; labels that cannot be compared are ordered by type, then by text."""
    try:
        return sorted(range(len(labels)), key=labels.__getitem__)
    except TypeError:
        return sorted(range(len(labels)), key=lambda i: (type(labels[i]).__name__, str(labels[i])))


def ranked(labels: Sequence[Label]) -> tuple[list[Label], Array]:
    """The labels in sorted order, and the place of each of those given in it."""
    order = label_order(labels)
    rank = np.empty(len(labels), dtype=np.int64)
    rank[order] = np.arange(len(labels))
    return [labels[i] for i in order], rank


def union(left: ClusterNames, right: ClusterNames) -> tuple[tuple[Label, ...], tuple[Array, Array]]:
    """All names, sorted, and the positions of each side's names."""
    names, _ = ranked(list(dict.fromkeys([*left, *right])))
    place = {name: i for i, name in enumerate(names)}
    maps = tuple(np.array([place[x] for x in side], dtype=np.int64) for side in (left, right))
    return tuple(names), (maps[0], maps[1])
