"""Scanned columns as covers: the clusters of each counted signature, with `unassigned` applied."""

from __future__ import annotations

import numpy as np

from congruence.inputs.cover_columns import map_of_sets
from congruence.inputs.labels import names_of_unassigned
from congruence.scanning.tables import PartialTables
from congruence.statistics.covers import ClusterMap
from congruence.statistics.tables import ClusterNames


def is_cover(part: PartialTables, c: int) -> bool:
    """Whether this column holds lists of clusters."""
    return part.kinds[c].element is not None


def map_of(part: PartialTables, c: int, names: ClusterNames) -> ClusterMap:
    """The clusters of each code of a column, without points in no cluster."""
    return map_of_sets(part.labels[c]) if is_cover(part, c) else ClusterMap.of_partition(tuple(names))


def with_unassigned(clusters: ClusterMap, rule: str, many: int) -> ClusterMap:
    """The map with a row for each kind of point in no cluster: in none ("keep"), together, or `many` alone."""
    if rule == "drop":
        return clusters
    if rule == "keep":
        return ClusterMap(np.append(clusters.starts, clusters.starts[-1]), clusters.clusters, clusters.names)
    return clusters.with_own(names_of_unassigned(list(clusters.names), rule, many))
