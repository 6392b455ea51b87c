"""Element-centric scores of two covers: the similarity of random walks from each point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import MOST_DRAWS, Call, NotApplicable, whole_number
from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix

if TYPE_CHECKING:
    from congruence.statistics.covers import Overlap

#: most signatures (or clusters, if fewer) for which a dense system is solved; larger ones are iterated
MOST_SOLVED = 6_000

#: most multiplications of iterations by default: about a minute
_UNLIMITED = "cg.measure('element_centric', limit=None)"
MOST_STEPS = 5e10

#: largest error of an iteration, relative to the right-hand side
TOLERANCE = 1e-12

#: largest cells × (cells + clusters) for which dense matrices of all cells are the fastest
SMALL = 40_000


def element_scores(o: Overlap, alpha: float, limit: int | None, wanted: Array | None = None) -> Array:
    """The score of each cell, (1 − α) Σ_j min(G_a, G_b) over the points j; a point in no cluster only reaches itself.

    G of one cover is the walk without its start: p = (1 − α)(I + α G). Both rows of G sum to 1/(1 − α), so their overlap
    is the sum of the smaller entries. Cells that are not `wanted` are NaN.
    """
    if max(len(o.mass) * (len(o.mass) + m.k) for m in o.maps) <= SMALL:
        return _of_few(o, alpha)
    chosen = np.ones(len(o.mass), dtype=bool) if wanted is None else wanted
    sides = [_Side(m.sparse(s), o.mass, s, alpha, limit) for m, s in zip(o.maps, o.signatures, strict=True)]
    steps = sum(side.steps for side in sides) * float(chosen.mean())
    if limit is not None and steps > MOST_STEPS:
        raise NotApplicable(
            f"element_centric of these covers takes about {steps:.0e} steps, many minutes; pass "
            f"{Call(_UNLIMITED)} to compute it, or sample=10_000 to score that many random points"
        )
    covered = [length > 0 for length in o.lengths]
    scores = np.full(len(o.mass), np.nan)
    scores[~covered[0] & ~covered[1]] = 1.0
    for side, here, there in ((sides[0], covered[0], covered[1]), (sides[1], covered[1], covered[0])):
        alone = np.flatnonzero(here & ~there & chosen)
        scores[alone] = (1 - alpha) * side.own(alone) * (o.own[alone] / o.mass[alone])
    both = np.flatnonzero(covered[0] & covered[1])
    block = sides[0].component[both] * np.int64(len(o.mass) + 1) + sides[1].component[both]
    order = np.argsort(block, kind="stable")
    cuts = np.flatnonzero(np.diff(block[order], prepend=-1))
    for cells in np.split(both[order], cuts[1:]):
        step = max(1, 4_000_000 // max(len(cells), 1))
        scored = cells[chosen[cells]]
        for first in range(0, len(scored), step):
            part = scored[first : first + step]
            least = np.minimum(sides[0].block(part, cells), sides[1].block(part, cells))
            scores[part] = (1 - alpha) * (least @ o.mass[cells])
    return scores


def mean_score(o: Overlap, alpha: float, limit: int | None, sample: int | None) -> float:
    """The mean score of the points, or of a random sample of them, drawn with replacement."""
    if sample is None:
        return float(element_scores(o, alpha, limit) @ o.mass / o.n)
    whole_number(sample, "sample", 1, MOST_DRAWS)
    share = np.asarray(o.mass, dtype=np.float64) / float(o.n)
    drawn = np.random.default_rng(0).multinomial(sample, share / share.sum())
    scores = element_scores(o, alpha, limit, drawn > 0)
    return float(scores[drawn > 0] @ drawn[drawn > 0] / sample)


def _of_few(o: Overlap, alpha: float) -> Array:
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

    def __init__(self, rows: SparseMatrix, mass: Array, signatures: Array, alpha: float, limit: int | None) -> None:
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
        self.factors: dict[int, _Solved | _Iterated] = {}
        #: number of multiplications of the iterations for all rows
        self.steps = 0.0
        self.within = np.zeros(len(first), dtype=np.int64)
        by_row, by_cluster = (np.argsort(x, kind="stable") for x in (component, of_cluster))
        at_row, at_cluster = component[by_row], of_cluster[by_cluster]
        for c in np.unique(component).tolist():
            mine = by_row[np.searchsorted(at_row, c) : np.searchsorted(at_row, c, side="right")]
            theirs = by_cluster[np.searchsorted(at_cluster, c) : np.searchsorted(at_cluster, c, side="right")]
            if not len(theirs):
                continue  # points in no cluster
            self.within[mine] = np.arange(len(mine))
            part, many = rows[mine][:, theirs], len(mine)
            if min(len(mine), len(theirs)) * len(mine) <= (MOST_SOLVED if limit is None else limit) ** 2:
                self.factors[c] = _Solved(part, weight[mine], alpha)
            else:
                self.factors[c] = iterated = _Iterated(part, weight[mine], alpha)
                self.steps += 2.0 * many * iterated.iterations * part.nnz

    def block(self, cells: Array, others: Array) -> Array:
        """G between these cells, all of one component."""
        here, there = (self.within[self.place[x]] for x in (cells, others))
        return np.asarray(self.factors[int(self.component[cells[0]])].block(here, there))

    def own(self, cells: Array) -> Array:
        """The diagonal of G."""
        return np.array([self.block(cells[i : i + 1], cells[i : i + 1])[0, 0] for i in range(len(cells))])


class _Solved:
    """G of one component from a dense system of its clusters or its signatures, whichever are fewer."""

    def __init__(self, rows: SparseMatrix, weight: Array, alpha: float) -> None:
        g, k = rows.shape
        lengths, sizes = np.asarray(rows.sum(axis=1)).ravel(), np.asarray(rows.T @ weight).ravel()
        b = rows.multiply(1 / lengths[:, None]).tocsr()
        c = rows.multiply(1 / sizes[None, :]).tocsr()
        self.b = None
        if k <= g:
            self.b = b
            system = np.eye(k) - alpha * (c.multiply(weight[:, None]).T @ b).toarray()
            self.right = np.linalg.solve(system, c.T.toarray())
        else:
            step = (b @ c.T).toarray()
            self.right = np.linalg.solve(np.eye(g) - alpha * step * weight[None, :], step)

    def block(self, here: Array, there: Array) -> Array:
        """G between these signatures."""
        if self.b is None:
            return np.asarray(self.right[np.ix_(here, there)])
        return np.asarray(self.b[here] @ self.right[:, there])


class _Iterated:
    """G of one component, rows on request, by Chebyshev iteration: memory of a few rows, error below 1e-12.

    With D the sizes of the clusters, the system is I − α FᵀF for F = (weight / length)^½ A D^−½, whose eigenvalues lie
    between 1 − α and 1; so the error is known beforehand.
    """

    def __init__(self, rows: SparseMatrix, weight: Array, alpha: float) -> None:
        self.lengths, sizes = np.asarray(rows.sum(axis=1)).ravel(), np.asarray(rows.T @ weight).ravel()
        self.scaled = rows.multiply(1 / np.sqrt(sizes)[None, :]).tocsr()
        self.f = self.scaled.multiply(np.sqrt(weight / self.lengths)[:, None]).tocsr()
        self.transposed = self.f.T.tocsr()
        self.alpha = alpha
        root = np.sqrt(1 / (1 - alpha))
        self.iterations = int(np.ceil(np.log(TOLERANCE / 2) / np.log((root - 1) / (root + 1)))) if alpha else 1

    def block(self, here: Array, there: Array) -> Array:
        """G between these signatures; each distinct row is solved once."""
        wanted, place = np.unique(here, return_inverse=True)
        solved = self._solve((self.scaled[wanted] / self.lengths[wanted][:, None]).toarray().T)
        columns, back = np.unique(there, return_inverse=True)
        return np.asarray((self.scaled[columns] @ solved)[back].T[place])

    def _solve(self, right: Array) -> Array:
        """(I − α FᵀF)⁻¹ of these columns."""
        middle, half = 1 - self.alpha / 2, self.alpha / 2
        if not half:
            return right
        found, left, rate = np.zeros_like(right), right.copy(), half / middle
        move = left / middle
        for _ in range(self.iterations):
            found += move
            left -= move - self.alpha * (self.transposed @ (self.f @ move))
            faster = 1 / (2 * middle / half - rate)
            move = faster * rate * move + 2 * faster / half * left
            rate = faster
        return found
