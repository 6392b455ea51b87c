"""Element-centric scores of two covers: how alike a random walk from each point sees the two."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.errors import NotApplicable
from congruence.statistics.tables import Array

#: cells × (cells + clusters) up to which dense matrices of all cells are the fastest
SMALL = 40_000


def element_scores(o: Any, alpha: float, limit: int | None) -> Array:
    """The score of the points of each cell, (1 − α) Σ_j min(G_a, G_b) over the points j; a point in no cluster sees itself.

    G of one cover is the walk without its start: p = (1 − α)(I + α G). Both rows of G sum to 1/(1 − α), so what two of
    them have in common is the sum of the smaller entries.
    """
    if max(len(o.mass) * (len(o.mass) + m.k) for m in o.maps) <= SMALL:
        return _of_few(o, alpha)
    sides = [_Side(m.sparse(s), o.mass, s, alpha, limit) for m, s in zip(o.maps, o.signatures, strict=True)]
    covered = [length > 0 for length in o.lengths]
    scores = np.zeros(len(o.mass))
    scores[~covered[0] & ~covered[1]] = 1.0
    for side, here, there in ((sides[0], *covered), (sides[1], *covered[::-1])):
        alone = np.flatnonzero(here & ~there)
        scores[alone] = (1 - alpha) * side.own(alone) * (o.own[alone] / o.mass[alone])
    both = np.flatnonzero(covered[0] & covered[1])
    block = sides[0].component[both] * np.int64(len(o.mass) + 1) + sides[1].component[both]
    order = np.argsort(block, kind="stable")
    cuts = np.flatnonzero(np.diff(block[order], prepend=-1))
    for cells in np.split(both[order], cuts[1:]):
        step = max(1, 4_000_000 // max(len(cells), 1))
        for first in range(0, len(cells), step):
            part = cells[first : first + step]
            least = np.minimum(sides[0].block(part, cells), sides[1].block(part, cells))
            scores[part] = (1 - alpha) * (least @ o.mass[cells])
    return scores


def _of_few(o: Any, alpha: float) -> Array:
    """The same for small covers, by dense matrices of cells × cells."""
    inside = []
    for (starts, clusters), length, m in zip(o.rows, o.lengths, o.maps, strict=True):
        rows = np.zeros((len(o.mass), m.k))
        rows[np.repeat(np.arange(len(o.mass)), np.diff(starts)), clusters] = 1.0
        b = rows / np.maximum(length, 1)[:, None]
        sizes = o.mass @ rows
        c = rows / np.where(sizes > 0, sizes, 1.0)
        g = b @ np.linalg.solve(np.eye(m.k) - alpha * (c * o.mass[:, None]).T @ b, c.T)
        inside.append(g)
    scores = (1 - alpha) * np.minimum(*inside) @ o.mass
    in_a, in_b = (length > 0 for length in o.lengths)
    for g, alone in ((inside[0], in_a & ~in_b), (inside[1], in_b & ~in_a)):
        scores[alone] = (1 - alpha) * (np.diag(g) * o.own / o.mass)[alone]
    scores[~in_a & ~in_b] = 1.0
    return np.asarray(scores)


class _Side:
    """One cover: which component each cell is in, and the entries of G between cells of a component."""

    def __init__(self, rows: Any, mass: Array, signatures: Array, alpha: float, limit: int | None) -> None:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        cells, k = rows.shape
        entries = rows.tocoo()
        graph = coo_array((np.ones(entries.nnz), (entries.row, cells + entries.col)), shape=(cells + k, cells + k))
        _, parts = connected_components(graph, directed=False)
        self.component, of_cluster = parts[:cells], parts[cells:]
        # cells with the same signature are one row
        _, first, self.place = np.unique(signatures, return_index=True, return_inverse=True)
        rows, weight = rows[first], np.bincount(self.place, weights=mass)
        component = self.component[first]
        self.factors: dict[int, tuple[Array, Array, Any, Array | None]] = {}
        self.within = np.zeros(len(first), dtype=np.int64)
        by_row, by_cluster = (np.argsort(x, kind="stable") for x in (component, of_cluster))
        at_row, at_cluster = component[by_row], of_cluster[by_cluster]
        for c in np.unique(component).tolist():
            mine = by_row[np.searchsorted(at_row, c) : np.searchsorted(at_row, c, side="right")]
            theirs = by_cluster[np.searchsorted(at_cluster, c) : np.searchsorted(at_cluster, c, side="right")]
            if not len(theirs):
                continue  # points in no cluster
            self.within[mine] = np.arange(len(mine))
            self.factors[c] = _solved(rows[mine][:, theirs], weight[mine], alpha, limit)

    def block(self, cells: Array, others: Array) -> Array:
        """G between these cells, all of one component."""
        rows, right = self.factors[int(self.component[cells[0]])]  # type: ignore[misc]
        here, there = (self.within[self.place[x]] for x in (cells, others))
        return np.asarray(rows[here] @ right[:, there]) if rows is not None else np.asarray(right[np.ix_(here, there)])

    def own(self, cells: Array) -> Array:
        """The diagonal of G."""
        return np.array([self.block(cells[i : i + 1], cells[i : i + 1])[0, 0] for i in range(len(cells))])


def _solved(rows: Any, weight: Array, alpha: float, limit: int | None) -> Any:
    """G of one component as (rows B, dense right factor), or (None, G): a system of clusters or of signatures, the smaller."""
    g, k = rows.shape
    if limit is not None and (min(g, k) * g > limit**2 or g > 5 * limit):
        raise NotApplicable(
            f"element_centric would solve a system of {min(g, k):,} unknowns for {g:,} different sets of clusters; its limit is "
            f"{limit:,}: pass cg.measure('element_centric', limit=None) to do it all the same, or use omega or onmi_max"
        )
    lengths, sizes = np.asarray(rows.sum(axis=1)).ravel(), np.asarray(rows.T @ weight).ravel()
    b = rows.multiply(1 / lengths[:, None]).tocsr()
    c = rows.multiply(1 / sizes[None, :]).tocsr()
    if k <= g:
        system = np.eye(k) - alpha * (c.multiply(weight[:, None]).T @ b).toarray()
        return b, np.linalg.solve(system, c.T.toarray())
    step = (b @ c.T).toarray()
    system = np.eye(g) - alpha * step * weight[None, :]
    return None, np.linalg.solve(system, step)
