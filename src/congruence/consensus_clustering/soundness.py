"""Notes on the members before a consensus: near-trivial ones and duplicates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.comparison.presenting import counted
from congruence.consensus_clustering.evidence import Evidence
from congruence.statistics.tables import Array

#: a member is near-trivial if one cluster has this share of its points, or its mean cluster size is below this
ONE, SMALL = 0.95, 1.5
#: most members named in a note; the others are counted
NAMED = 3


def said_of_members(e: Evidence, names: Sequence[str]) -> list[str]:
    """Notes on members that are nearly one cluster or all singletons, and on duplicates."""
    notes = []
    starts = np.searchsorted(e.member, np.arange(e.n_members))
    whole = np.add.reduceat(e.sizes, starts)
    largest = np.maximum.reduceat(e.sizes, starts)
    own = np.bincount(e.member, minlength=e.n_members)
    lump = largest >= ONE * whole
    if lump.any():
        who = _listed(e, names, np.flatnonzero(lump))
        notes.append(
            f"near-trivial: {who} with at least {ONE:.0%} of the points in one cluster; select or weight members"
        )
    dust = ~lump & (whole * e.points_per_mass < SMALL * own)
    if dust.any():
        notes.append(f"near-trivial: {_listed(e, names, np.flatnonzero(dust))} with nearly every point alone")
    same = duplicates(e)
    if same:
        again = np.concatenate([group[1:] for group in same])
        notes.append(f"the same clustering as another member: {_listed(e, names, again)}; each counts separately")
    return notes


def duplicates(e: Evidence) -> list[Array]:
    """Groups of members that are the same clustering."""
    if e.is_soft:
        return []
    starts = np.searchsorted(e.member, np.arange(e.n_members + 1))
    alike: dict[bytes, list[list[int]]] = {}
    for i in range(e.n_members):
        sizes = np.sort(np.round(e.sizes[starts[i] : starts[i + 1]], 9))
        groups = alike.setdefault(sizes.tobytes(), [])
        for group in groups:
            if _same(e.column[:, group[0]], e.column[:, i], e.n_columns + 1):
                group.append(i)
                break
        else:
            groups.append([i])
    return [np.array(group) for groups in alike.values() for group in groups if len(group) > 1]


def _same(a: Array, b: Array, most: int) -> bool:
    """Whether the two have the same clusters: each cluster of a lies in one of b, and both have as many."""
    to = np.full(most, -1)
    to[a] = b
    return bool((to[a] == b).all()) and len(np.unique(to[to >= 0])) == int((to >= 0).sum())


def _listed(e: Evidence, names: Sequence[str], which: Array) -> str:
    shown = [names[i] for i in np.sort(e.source[which])[:NAMED].tolist()]
    rest = len(which) - len(shown)
    return f"{counted(len(which), 'member')} ({', '.join(shown)}{f' and {rest:,} more' if rest else ''})"
