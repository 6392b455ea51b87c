"""Which clusters of two steps are linked, by rule, and the groups of linked clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from congruence.statistics.tables import Array
from congruence.tracking.overlaps import Overlap

Rules = Literal["overlap", "monic", "greene"]

#: the least share of either cluster that links two, for points; for profiles, whose tails overlap by chance, it is larger
LEAST_SHARE, LEAST_PROFILE = 0.25, 0.5
#: Greene et al. (2010): the least Jaccard similarity of two communities of successive steps
LEAST_JACCARD = 0.3
#: MONIC (Spiliopoulou et al., 2006): the share of a cluster that survives, and the share that goes to a part of a split
SURVIVAL, PART = 0.5, 0.25


@dataclass(frozen=True)
class Group:
    """Linked clusters of two steps, several on one side at least.

    Attributes:
        before: Clusters of the earlier step.
        after: Clusters of the later step.
        pairs: The positions of their links in the overlap.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    pairs: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """All clusters of two steps, by how they are linked.

    Attributes:
        single: Positions in the overlap of the links of two clusters that are linked to no other.
        gone: Clusters of the earlier step without a link.
        new: Clusters of the later step without a link.
        several: The groups of more than two linked clusters.
    """

    single: Array
    gone: Array
    new: Array
    several: tuple[Group, ...]


def linked(overlap: Overlap, rules: Rules = "overlap", least: float = LEAST_SHARE) -> Array:
    """Whether each pair of clusters is linked.

    Args:
        overlap: What the clusters have in common.
        rules: "overlap" (default): they share at least a quarter of either; "monic" and "greene": the definitions of
            Spiliopoulou et al. (2006) and Greene et al. (2010).
        least: The least share for "overlap".
    """
    if rules == "overlap":
        return np.maximum(overlap.share_before, overlap.share_after) >= least - 1e-12
    if rules == "greene":
        union = overlap.sizes[0][overlap.row] + overlap.sizes[1][overlap.col] - overlap.shared
        return overlap.shared >= LEAST_JACCARD * union
    # MONIC: a cluster survives in the one that holds half of it, else it splits into parts that together hold half
    survives = overlap.share_before >= SURVIVAL
    part = overlap.share_before >= PART
    k = len(overlap.sizes[0])
    goes_on = np.bincount(overlap.row, weights=survives, minlength=k) > 0
    held = np.bincount(overlap.row, weights=overlap.share_before * part, minlength=k)
    splits = ~goes_on & (held >= SURVIVAL)
    return np.asarray(survives | (part & splits[overlap.row]))


def groups(overlap: Overlap, keep: Array) -> Groups:
    """The groups of linked clusters."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    k = tuple(len(sizes) for sizes in overlap.sizes)
    pairs = np.flatnonzero(keep)
    row, col = overlap.row[pairs], overlap.col[pairs]
    links = np.bincount(row, minlength=k[0]), np.bincount(col, minlength=k[1])
    alone = (links[0][row] == 1) & (links[1][col] == 1)
    rest = pairs[~alone]
    graph = coo_array((np.ones(len(rest)), (row[~alone], col[~alone] + k[0])), shape=(sum(k), sum(k)))
    part = connected_components(graph, directed=False)[1][row[~alone]]
    order = np.argsort(part, kind="stable")
    several = [rest[piece] for piece in np.split(order, np.flatnonzero(np.diff(part[order])) + 1) if len(piece)]
    return Groups(
        pairs[alone], np.flatnonzero(links[0] == 0), np.flatnonzero(links[1] == 0),
        tuple(
            Group(tuple(np.unique(overlap.row[p]).tolist()), tuple(np.unique(overlap.col[p]).tolist()), tuple(p.tolist()))
            for p in several
        ),
    )  # fmt: skip
