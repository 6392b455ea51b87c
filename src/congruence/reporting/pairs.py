"""Single pairs of a report: labels from which the page counts tables, or precomputed tables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.engine.cpu import table_of
from congruence.figures.layout import Flow, flow_of
from congruence.inputs.coerce import Clustering
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array, Table

#: largest size of all labels in the page, in bytes; above it, only some pairs are shown
EMBEDDED = 4_000_000


@dataclass(frozen=True, eq=False)
class Pair:
    """A precomputed pair of clusterings, for pages that cannot hold all labels."""

    a: int
    b: int
    flow: Flow
    #: share of the points in matched clusters
    agreed: float
    #: name, side (0: a), size, best partner, Jaccard similarity with it; the worst first
    worst: tuple[tuple[str, int, float, str, float], ...]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Data for single pairs: all labels, or tables of some pairs."""

    #: labels of every member (0 … k−1, k for none), or memberships; None if they are too large
    labels: tuple[Array, ...] | None
    tables: tuple[Pair, ...]
    #: size of the labels in the page, in bytes, even if they are left out
    n_bytes: int


def pairs_of(e: Ensemble, n_used: Array, reference: int | None, central: int) -> Pairs:
    """The labels of all members, or tables of the pairs with the reference and the most central one."""
    names = sum(len(str(x)) + 3 for c in e.members for x in c.names)
    raw = sum(len(c) * c.codes.dtype.itemsize if isinstance(c, Labels) else 2 * len(c) * c.k for c in e.members)
    n_bytes = -(-raw // 3) * 4 + names
    if n_bytes <= EMBEDDED:
        return Pairs(tuple(_embedded(c) for c in e.members), (), n_bytes)
    bases = [central] if reference is None else [reference, central]
    wanted = {(min(a, b), max(a, b)) for a in bases for b in range(len(e)) if a != b}
    meet = [(a, b) for a, b in sorted(wanted) if n_used[a, b]]  # other pairs have no table
    return Pairs(None, tuple(pair_of(e, a, b) for a, b in meet), n_bytes)


def _embedded(c: Clustering) -> Array:
    if isinstance(c, Labels):
        return c.codes
    return np.asarray(np.rint(c.dense() * 65535).clip(0, 65535).astype(np.uint16))


def pair_of(e: Ensemble, a: int, b: int) -> Pair:
    """One pair: the flow between its clusters, the share of points in matched clusters, and the clusters that match worst."""
    table, _ = table_of(e.members[a], e.members[b])
    flow = flow_of(table)
    return Pair(a, b, flow, compare_matched(table), worst_matches(table))


def compare_matched(table: Table) -> float:
    """Share of the points that are in clusters matched one to one."""
    from congruence.formulas.matching import assignment

    best = assignment(table.row, table.col, table.count, table.shape)
    return float(table.count[best].sum() / table.n)


def worst_matches(table: Table, most: int = 8) -> tuple[tuple[str, int, float, str, float], ...]:
    """Clusters of both sides by the Jaccard similarity with their best match, the worst first."""
    size_a, size_b = table.row_sums, table.col_sums
    jaccard = table.count / (size_a[table.row] + size_b[table.col] - table.count)
    found = []
    for side, here, there, sizes, names, others in (
        (0, table.row, table.col, size_a, table.rows, table.columns),
        (1, table.col, table.row, size_b, table.columns, table.rows),
    ):
        order = np.lexsort((-jaccard, here))
        best = order[np.unique(here[order], return_index=True)[1]]
        found += [
            (str(names[here[x]]), side, float(sizes[here[x]]), str(others[there[x]]), float(jaccard[x]))
            for x in best.tolist()
        ]
    return tuple(sorted(found, key=lambda row: (row[4], -row[2]))[:most])
