"""The ensemble of a report: consensus matrix, consensus clusterings, number of clusters, and the tree over that number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from congruence.consensus_clustering.results import Consensus
from congruence.consensus_clustering.search import consensus
from congruence.ensembles.agreement import lone_value
from congruence.figures.layout import Cells, cdf_of, cells_of
from congruence.formulas.matrices import expected_certainty
from congruence.hierarchies.sweep_layout import Edge, Links, Node, tree_places
from congruence.inputs.ensemble import Ensemble
from congruence.reporting.answer import cells_of_pair
from congruence.selection.choice import KChoice
from congruence.selection.number_of_clusters import choose_k
from congruence.statistics.tables import Array
from congruence.typing import Record, Seed

#: points × clusterings above which certainty and slow measures are skipped
LARGE = 5_000_000
#: most pairs of a consensus cluster and a member's cluster; above, the consensus takes minutes
MOST_CENTRES = 20_000_000


@dataclass(frozen=True, eq=False)
class ConsensusSection:
    """The ensemble: its consensus matrix, certainty, and consensus clusterings."""

    cells: Cells
    cdf_values: Array
    cdf: Array
    cdf_pairs: float
    cdf_is_exact: bool
    pac: float
    #: None if it would take too long
    certainty: float | None
    random_certainty: float
    kmax: int
    #: what `cg.consensus` finds for the clusterings of the report, or None and why
    best: Consensus | None
    left_out: str
    choice: KChoice | None = None

    @property
    def methods(self) -> tuple[Record, ...]:
        """One row per method tried: its scores, the one kept first."""
        return () if self.best is None else tuple(map(dict, self.best.tried))


def consensus_section(
    e: Ensemble, everyone: Ensemble, n_clusters: int | None, random_state: Seed, threads: int | None, central: Array
) -> ConsensusSection:
    """The counted clusterings as a whole, and the consensus of everyone as `cg.consensus` finds it."""
    best, why = _consensus(everyone, n_clusters, random_state)
    is_large = e.n_points * len(e) > LARGE
    cells = cells_of(
        e, None if best is None else best.labels, order=np.argsort(central, kind="stable") if is_large else None
    )
    cdf = cdf_of(e)
    kmax = max(max(c.k for c in e.members), 2)
    values = np.unique(np.concatenate([[0.0], cdf.values, [1.0]]))
    if len(values) > 201:
        values = np.linspace(0, 1, 201)
    return ConsensusSection(
        cells, values, np.asarray(cdf(values)), cdf.pairs, cdf.is_exact, cdf.pac(),
        None if is_large else lone_value("certainty", e, threads=threads), expected_certainty(kmax, len(e)), kmax, best,
        why, _choice(e, threads),
    )  # fmt: skip


def _choice(e: Ensemble, threads: int | None) -> KChoice | None:
    """The curves over the number of clusters, if at least two numbers have at least two members each."""
    by_k: dict[int, list[int]] = {}
    for i, c in enumerate(e.members):
        by_k.setdefault(c.k, []).append(i)
    several = {k: e[found] for k, found in sorted(by_k.items()) if k > 1 and len(found) > 1}
    if len(several) < 2 or e.has_gaps:
        return None
    return choose_k(several, threads=threads, progress=False)


def _consensus(e: Ensemble, n_clusters: int | None, random_state: Seed) -> tuple[Consensus | None, str]:
    """What `cg.consensus` finds for these members, or why it is left out."""
    ks = sorted(c.k for c in e.members)
    k, clusters = n_clusters or ks[len(ks) // 2], sum(ks)
    if k * clusters > MOST_CENTRES:
        return None, (
            f"the consensus of {clusters:,} clusters takes minutes, so the groups are those of a vote; "
            "`congruence consensus` finds it"
        )
    return consensus(e, n_clusters, random_state=random_state, progress=False), ""


# --- the clusterings by number of clusters: one for each number, the flow between them, and the agreement at each number

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
    labels = {i: e.members[i].codes for i in {*shown, *counted}}
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
