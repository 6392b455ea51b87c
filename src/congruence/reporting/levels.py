"""The clusterings by number of clusters: one for each number, the flow between them, and the agreement at each number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from congruence.inputs.ensemble import Ensemble
from congruence.reporting.answer import cells_of_pair, hard_labels
from congruence.resolution_sweeps.layout import Links, tree_places
from congruence.resolution_sweeps.picture import Edge, Node
from congruence.statistics.tables import Array

#: most numbers of clusters that the tree shows; most clusters in all
MOST_LEVELS, MOST_NODES = 14, 250


@dataclass(frozen=True, eq=False)
class Levels:
    """A tree of clusterings over the number of clusters, and the agreement of clusterings with the same number."""

    members: tuple[int, ...]
    ks: tuple[int, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    #: numbers of clusters with at least two clusterings, their mean agreement, its standard error, and their number
    curve: tuple[tuple[int, float, float, int], ...]
    #: numbers of clusters that the tree leaves out
    left_out: tuple[int, ...]


def levels_of(e: Ensemble, counted: Sequence[int], square: Array) -> Levels | None:
    """The tree and the curve; None if all clusterings have the same number of clusters."""
    by_k: dict[int, list[int]] = {}
    for i in counted:
        by_k.setdefault(e.members[i].k, []).append(i)
    if len(by_k) < 2:
        return None
    chosen: list[int] = []
    curve = []
    for k in sorted(by_k):
        here = by_k[k]
        others = here if len(here) > 1 else list(counted)
        means = [
            np.nanmean([square[i, j] for j in others if j != i] or [np.nan]) if len(others) > 1 else 0 for i in here
        ]
        chosen.append(here[int(np.nanargmax(np.nan_to_num(means, nan=-np.inf)))])
        values = square[np.ix_(here, here)][np.triu_indices(len(here), 1)]
        values = values[~np.isnan(values)]
        if len(values):
            error = float(values.std(ddof=1) / np.sqrt(len(here))) if len(values) > 1 else float("nan")
            curve.append((k, float(values.mean()), error, len(here)))
    shown = _thinned(chosen, [e.members[i].k for i in chosen])
    left_out = tuple(e.members[i].k for i in chosen if i not in set(shown))
    nodes, edges = _tree(e, shown, counted)
    return Levels(tuple(shown), tuple(e.members[i].k for i in shown), nodes, edges, tuple(curve), left_out)


def _thinned(chosen: list[int], ks: list[int]) -> list[int]:
    """The levels within the limits; the smallest numbers of clusters are kept."""
    kept: list[int] = []
    nodes = 0
    for i, k in zip(chosen, ks, strict=True):
        if len(kept) == MOST_LEVELS or (kept and nodes + k > MOST_NODES):
            break
        kept.append(i)
        nodes += k
    return kept


def _tree(e: Ensemble, shown: Sequence[int], counted: Sequence[int]) -> tuple[tuple[Node, ...], tuple[Edge, ...]]:
    labels = {i: hard_labels(e.members[i]) for i in {*shown, *counted}}
    sizes = [np.bincount(labels[i], minlength=e.members[i].k + 1)[: e.members[i].k] for i in shown]
    links: list[Links] = [
        cells_of_pair(labels[i], e.members[i].k, labels[j], e.members[j].k) for i, j in pairwise(shown)
    ]
    places = tree_places(sizes, links)
    wide = max(float(x.max()) for x in places.x) + 1
    nodes: list[Node] = []
    edges: list[Edge] = []
    for level, i in enumerate(shown):
        start = len(nodes)
        if level:
            row, col, count = links[level - 1]
            above, total = start - len(sizes[level - 1]), np.maximum(np.bincount(col, count, len(sizes[level])), 1)
            edges += [
                Edge(
                    first=above + int(r), second=start + int(c), count=int(w), in_prop=float(w / total[c]),
                    out_prop=float(w / max(sizes[level - 1][r], 1)),
                )
                for r, c, w in zip(row.tolist(), col.tolist(), count.tolist(), strict=True)
            ]  # fmt: skip
        found = _found_again(labels, e, i, [j for j in counted if j != i])
        nodes += [
            Node(
                column=e.names[i], cluster=str(name), x=float((places.x[level][c] + 0.5) / wide), y=level,
                size=int(sizes[level][c]), stability=float(found[c]), value=float(found[c]), text="",
            )
            for c, name in enumerate(e.members[i].names)
        ]  # fmt: skip
    return tuple(nodes), tuple(edges)


def _found_again(labels: dict[int, Array], e: Ensemble, i: int, others: Sequence[int]) -> Array:
    """For each cluster, the mean over the other clusterings of its best Jaccard similarity."""
    k = e.members[i].k
    total, seen = np.zeros(k), np.zeros(k)
    for j in others:
        row, col, count = cells_of_pair(labels[i], k, labels[j], e.members[j].k)
        sizes, theirs = np.bincount(row, count, k), np.bincount(col, count, e.members[j].k)
        best = np.zeros(k)
        np.maximum.at(best, row, count / (sizes[row] + theirs[col] - count))
        total += best
        seen += sizes > 0
    return np.where(seen > 0, total / np.maximum(seen, 1), np.nan)
