"""The input of a partitioner: a graph or a hypergraph, the number of blocks, and the largest weight of a block."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from congruence.errors import InputError
from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix, WeightsLike

#: most entries of all starts together; larger inputs get fewer starts than n_init
START_ENTRIES = 30_000_000


def _integers(*indices: Array) -> list[Array]:
    """The indices of sparse matrices as int32, or int64 if there are too many; the moves are compiled for each type."""
    kind = np.int32 if max(len(x) for x in indices) < 2**31 else np.int64
    return [x.astype(kind, copy=False) for x in indices]


class Graph:
    """A symmetric matrix of edge weights."""

    def __init__(self, matrix: SparseMatrix) -> None:
        self.matrix = matrix
        self.n, self.size = matrix.shape[0], matrix.nnz
        start, other, none = _integers(matrix.indptr, matrix.indices, np.empty(0, np.int32))
        self.arrays = (start, other, matrix.data, none, none)

    def _ends(self, labels: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Blocks of both ends and weight of the entries, a million at a time."""
        start, step = self.matrix.indptr, 1 + 1_000_000 * self.n // max(1, self.size)
        for low in range(0, self.n, step):
            part = slice(start[low], start[min(low + step, self.n)])
            row = np.repeat(labels[..., low : low + step], np.diff(start[low : low + step + 1]), axis=-1)
            yield row, labels[..., self.matrix.indices[part]], self.matrix.data[part]

    def cut(self, labels: Array) -> Array:
        """Cut of each row of labels; the order of summation does not depend on threads."""
        cut = np.zeros(labels.shape[:-1])
        for row, col, weight in self._ends(labels):
            cut += np.where(row != col, weight, 0.0).sum(axis=-1)
        return np.asarray(cut / 2)

    def adjacent(self, labels: Array) -> Array:
        """Which pairs of blocks are joined by an edge (k × k)."""
        found = np.zeros((int(labels.max()) + 1,) * 2, dtype=bool)
        for row, col, _ in self._ends(labels):
            found[row, col] = True
        return found

    def bipartite(self) -> SparseMatrix:
        """The graph whose leading eigenvectors hold the blocks."""
        return self.matrix


class Hypergraph:
    """Hyperedges as columns of an incidence matrix, with their weights."""

    def __init__(self, incidence: SparseMatrix, weight: Array) -> None:
        pins = incidence.tocsc()
        some = (np.diff(pins.indptr) > 1) & (weight > 0)  # others cannot be cut, or have no weight
        self.matrix, self.weight = incidence[:, some], weight[some]
        self.pins = self.matrix.tocsc()
        self.n, self.size = incidence.shape[0], self.matrix.nnz
        start, other, *pins = _integers(self.matrix.indptr, self.matrix.indices, self.pins.indptr, self.pins.indices)
        self.arrays = (start, other, self.weight, *pins)

    def _ends(self, labels: Array) -> tuple[Array, Array]:
        """The lowest and highest block of each hyperedge."""
        pin, first = labels[..., self.pins.indices], self.pins.indptr[:-1]
        return np.minimum.reduceat(pin, first, axis=-1), np.maximum.reduceat(pin, first, axis=-1)

    def cut(self, labels: Array) -> Array:
        """Cut of each row of labels."""
        low, high = self._ends(labels) if self.size else (np.zeros((*labels.shape[:-1], 0)),) * 2
        return np.asarray(np.where(low < high, self.weight, 0.0).sum(axis=-1))

    def adjacent(self, labels: Array) -> Array:
        """Which pairs of blocks contain a whole hyperedge (k × k); moves cannot uncut one in three blocks."""
        found = np.zeros((int(labels.max()) + 1,) * 2, dtype=bool)
        low, high = self._ends(labels)
        pin, size = labels[self.pins.indices], np.diff(self.pins.indptr)
        ends = (pin == np.repeat(low, size)) | (pin == np.repeat(high, size))
        two = np.logical_and.reduceat(ends, self.pins.indptr[:-1])
        found[high[two], low[two]] = True
        return found

    def bipartite(self) -> SparseMatrix:
        """The graph of vertices and hyperedges."""
        weighted = self.matrix * self.weight
        return sparse.block_array([[None, weighted], [weighted.T, None]], format="csr")


@dataclass(frozen=True)
class Problem:
    """A partitioning problem: the graph, the number of blocks, and the largest weight of a block."""

    thing: Graph | Hypergraph
    k: int
    mass: Array
    balance: float
    limit: float  # a feasible limit
    rng: np.random.Generator
    n_init: int

    @property
    def starts(self) -> int:
        """n_init, or fewer on a large input."""
        return max(1, min(self.n_init, START_ENTRIES // max(1, int(self.thing.size))))

    def rank(self, labels: Array) -> tuple[float, float]:
        """Sort key, smaller is better: first the overload, then the cut."""
        heaviest = float(np.bincount(labels, self.mass).max())
        over = heaviest - self.limit
        return (over if over > 1e-9 * self.limit else 0.0, float(self.thing.cut(labels)))


def problem_of(
    thing: Graph | Hypergraph, k: int, vertex_weight: WeightsLike, balance: float, rng: np.random.Generator, n_init: int
) -> Problem:
    """The validated problem."""
    if int(k) != k or k < 1:
        raise InputError(f"the number of blocks must be a whole number of at least 1, not {k!r}")
    if not balance >= 0:
        raise InputError(f"balance must be a share of the mean block weight of at least 0, not {balance!r}")
    mass = checked_weights(vertex_weight, thing.n, "vertex_weight")
    if thing.n and not mass.any():
        raise InputError("vertex_weight is zero everywhere; leave it out to count vertices")
    return Problem(thing, int(k), mass, balance, _limit(mass, int(k), balance), rng, max(1, n_init))


def _limit(mass: Array, k: int, balance: float) -> float:
    """(1 + balance) times the mean; if that may be impossible, the result of placing the heaviest vertices first."""
    mean = float(mass.sum()) / k
    heaviest = float(mass.max(initial=0.0))
    if heaviest * (1 - 1 / k) <= balance * mean:  # then placing the heaviest first never exceeds it
        return (1 + balance) * mean
    if len(mass) and mass.min() == heaviest:
        return max((1 + balance) * mean, math.ceil(len(mass) / k) * heaviest)
    loads = [0.0] * k
    for weight in np.sort(mass)[::-1].tolist():
        heapq.heapreplace(loads, loads[0] + weight)
    return max((1 + balance) * mean, max(loads))


def checked_weights(given: WeightsLike, size: int, name: str) -> Array:
    """Weights as given, checked, or 1 for each."""
    if given is None:
        return np.ones(size)
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (size,):
        raise InputError(f"{name} has shape {weight.shape}; expected one number for each of {size}")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InputError(f"{name} must be finite and not negative")
    return weight


def on_grid(weight: Array) -> Array:
    """Weights as multiples of 2⁻³² of the largest: their sums are exact, so ties do not depend on the order of summation."""
    largest = float(weight.max(initial=0.0))
    unit = math.ldexp(1.0, math.frexp(largest)[1] - 32)
    return np.asarray(np.rint(weight / unit) * unit) if largest else weight


def filled(problem: Problem, labels: Array) -> Array:
    """Labels with no block empty: the lightest vertex of the heaviest block goes there."""
    labels = np.asarray(labels, dtype=np.int64).copy()
    count = np.bincount(labels, minlength=problem.k)
    for empty in np.flatnonzero(count == 0):
        crowded = np.flatnonzero(labels == np.bincount(labels, (problem.mass + 1e-300) * (count[labels] > 1)).argmax())
        labels[crowded[problem.mass[crowded].argmin()]] = empty
        count = np.bincount(labels, minlength=problem.k)
    return labels


def scattered(problem: Problem) -> Array:
    """Blocks of vertices without edges: the heaviest first, each to the lightest block."""
    labels = np.empty(problem.thing.n, np.int64)
    loads = [(0.0, block) for block in range(problem.k)]
    for v in np.argsort(-problem.mass, kind="stable"):
        load, labels[v] = loads[0]
        heapq.heapreplace(loads, (load + float(problem.mass[v]), int(labels[v])))
    return labels
