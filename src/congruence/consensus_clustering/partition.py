"""Partition a graph or hypergraph into k blocks of about equal weight with a small cut.

METIS and Mt-KaHyPar are used if they are installed. The built-in partitioner needs neither: several starts, one from
the spectral embedding and others by recursive bisection from grown seeds, are refined by moves between two blocks
at a time (see exchange.py), and the lowest cut is kept.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from types import ModuleType
from typing import NamedTuple

import numpy as np
from scipy import sparse

from congruence.consensus_clustering.exchange import exchange
from congruence.consensus_clustering.graph_problem import (
    Graph,
    Hypergraph,
    Problem,
    checked_weights,
    filled,
    on_grid,
    problem_of,
    scattered,
)
from congruence.errors import InputError, Option, hint, joined
from congruence.machine.jit import compiled
from congruence.statistics.tables import Array
from congruence.typing import Dynamic, MatrixLike, SparseMatrix

#: most divisions of a tiny input for which all are tried
DIVISIONS = 20_000
#: most blocks for which a start from eigenvectors is worth its cost
SPECTRAL_BLOCKS = 300
#: most passes over two blocks
PASSES = 12


@dataclass(frozen=True)
class Parts:
    """A partition of vertices into blocks.

    labels: block 0 … k − 1 of each vertex, in order of appearance; none is empty if there are k vertices.
    cut: weight of the edges, or hyperedges, that lie in more than one block.
    solver: the solver used.
    notes: requests that could not be met.
    """

    labels: Array
    cut: float
    solver: str
    notes: tuple[str, ...] = ()


def partition_graph(
    graph: MatrixLike,
    k: int,
    *,
    vertex_weight: Array | None = None,
    balance: float = 0.05,
    rng: np.random.Generator,
    solver: str = "auto",
    n_init: int = 4,
) -> Parts:
    """The vertices of a graph in k blocks, the heaviest at most 1 + balance times the mean, with a small cut.

    graph: symmetric, weights ≥ 0; the diagonal is ignored. solver: "metis", "builtin", or "auto" for the first that
    is installed. n_init: starts of the built-in partitioner; METIS makes as many runs by recursive bisection and as many
    k-way; fewer above seven million entries. For a tiny graph every division is tried, unless METIS is named.
    If vertices are too heavy or too few to keep the balance, the limit is the result of placing the heaviest first.

    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> found = partition_graph(ring, 2, rng=np.random.default_rng(0), solver="builtin")
    >>> np.bincount(found.labels).tolist(), found.cut
    ([3, 3], 2.0)
    """
    graph = sparse.csr_array(graph, dtype=np.float64)
    if graph.shape[0] != graph.shape[1]:
        raise InputError(f"a graph must be a square matrix, not {graph.shape[0]} × {graph.shape[1]}")
    if not (np.isfinite(graph.data).all() and (graph.data >= 0).all()):
        raise InputError("edge weights must be finite and not negative")
    graph = sparse.csr_array(graph - sparse.diags_array(graph.diagonal()))  # sorted, without zeros
    probe = np.cos(np.arange(graph.shape[0]))
    if not np.allclose(graph @ probe, probe @ graph, rtol=1e-6, atol=1e-9 * graph.data.max(initial=0.0)):
        raise InputError("the graph is not symmetric; pass (graph + graph.T) / 2")
    graph.data = on_grid(graph.data)
    problem = problem_of(Graph(graph), k, vertex_weight, balance, rng, n_init)
    return _solve(problem, solver, {"metis": by_metis, "builtin": by_builtin})


def partition_hypergraph(
    incidence: MatrixLike,
    k: int,
    *,
    edge_weight: Array | None = None,
    vertex_weight: Array | None = None,
    balance: float = 0.05,
    rng: np.random.Generator,
    solver: str = "auto",
    n_init: int = 4,
) -> Parts:
    """The vertices (rows) of a hypergraph in k blocks, so that little weight of hyperedges (columns) is cut.

    solver: "mtkahypar", "builtin", or "auto" for the first that is installed; other arguments as for `partition_graph`.

    >>> incidence = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 2))))
    >>> found = partition_hypergraph(incidence, 2, rng=np.random.default_rng(0), solver="builtin")
    >>> found.labels.tolist(), found.cut
    ([0, 0, 0, 1, 1, 1], 0.0)
    """
    incidence = sparse.csr_array(sparse.csr_array(incidence) != 0, dtype=np.float64)
    weight = checked_weights(edge_weight, incidence.shape[1], "edge_weight")
    problem = problem_of(Hypergraph(incidence, on_grid(weight)), k, vertex_weight, balance, rng, n_init)
    return _solve(problem, solver, {"mtkahypar": by_mtkahypar, "builtin": by_builtin})


class Tries(NamedTuple):
    """Partitions that a solver found, its name, and whether their blocks were evened already."""

    partitions: Iterable[Array]
    name: str
    is_evened: bool = False


Solver = Callable[[Problem], Tries]
#: solver: the package that it needs, and the extra that installs it
NEEDS = {"metis": ("pymetis", "metis"), "mtkahypar": ("mtkahypar", "hypergraph")}


def _solve(problem: Problem, name: str, solvers: dict[str, Solver]) -> Parts:
    if name != "auto" and name not in solvers:
        raise InputError(f"there is no solver {name!r}; {hint(name, solvers, 'there are: auto, ' + joined(solvers))}")
    there = [solver for solver in solvers if solver not in NEEDS or find_spec(NEEDS[solver][0])]
    if name not in ("auto", *there):
        package, extra = NEEDS[name]
        instead = Option("solver", "builtin")
        raise InputError(f'solver {name!r} needs {package}: pip install "congruence[{extra}]"; or use {instead}')
    n, k = problem.thing.n, problem.k
    if k == 1 or n <= k:
        labels = np.zeros(n, np.int64) if k == 1 else np.arange(n)
        few = (f"{n} vertices cannot fill {k} blocks: each vertex is a separate block",) if n < k else ()
        return Parts(labels, float(problem.thing.cut(labels)), "none needed", few)
    if name in ("auto", "builtin") and (n - 1) * math.log(k) <= math.log(DIVISIONS):
        found = by_enumeration(problem)
    else:
        found = solvers[there[0] if name == "auto" else name](problem)
    ranked = [(problem.rank(labels), labels) for labels in (filled(problem, c) for c in found.partitions)]
    (over, cut), labels = min(ranked, key=lambda entry: entry[0])
    notes = []
    if over and not found.is_evened:
        labels = evened(problem, labels)
        if problem.rank(labels) < (over, cut):
            notes.append(f"{found.name} did not keep the balance; the built-in refinement balanced the blocks")
    return Parts(_in_order(labels), problem.rank(labels)[1], found.name, (*notes, *_unbalance(problem, labels)))


def _unbalance(problem: Problem, labels: Array) -> Iterator[str]:
    """A note on the heaviest block, if it is too heavy."""
    mean = float(problem.mass.sum()) / problem.k
    heaviest = float(np.bincount(labels, problem.mass).max())
    alike = problem.mass.min() == problem.mass.max()
    if heaviest <= (1 + problem.balance) * mean * (1 + 1e-9) or (alike and heaviest <= problem.limit * (1 + 1e-9)):
        return
    why = "the vertices are too heavy for less" if heaviest <= problem.limit * (1 + 1e-9) else "none better was found"
    yield f"blocks are unbalanced by {heaviest / mean - 1:.0%}, not {problem.balance:.0%}: {why}"


def _in_order(labels: Array) -> Array:
    """The same blocks, numbered by first appearance."""
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code], dtype=np.int64)


# --- METIS and Mt-KaHyPar ---------------------------------------------------------------------------------------


def _integers(weight: Array, total: float) -> Array:
    """Weights as integers with at most a given sum; integers are unchanged."""
    if not ((weight == np.rint(weight)).all() and weight.sum() < total):
        weight = np.rint(weight * (total / weight.sum() * (1 - 1e-9)))
    return np.asarray(weight, dtype=np.int64)


def by_metis(problem: Problem) -> Tries:
    """n_init runs by recursive bisection and n_init k-way; tiny graphs, where k-way fails, get more of both."""
    import pymetis

    index = pymetis.zero_copy_dtype()
    most = 1e15 if np.dtype(index).itemsize == 8 else 2.0**30
    graph = problem.thing.matrix
    if (graph.data != np.rint(graph.data)).any():
        graph = sparse.csr_array((graph + graph.T) / 2)  # so that both entries of an edge round to the same value
    weight = _integers(graph.data, most)
    if (weight == 0).any():  # METIS accepts them without an error but gives wrong results
        graph, weight = _kept(graph, weight > 0), weight[weight > 0]
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(index), graph.indices.astype(index))
    weights: dict[str, Array] = {"eweights": weight.astype(index)}
    if problem.mass.min() != problem.mass.max():
        weights["vweights"] = _integers(problem.mass, min(most, 1e12)).astype(index)
    room = problem.limit * problem.k / float(problem.mass.sum())
    seeds = problem.rng.integers(2**31 - 1, size=max(problem.starts, 16 if problem.thing.n <= 200 else 0))

    def run(recursive: bool, seed: int) -> Array:
        # bisections multiply their tolerances; two-hop matching collapses bipartite graphs with large clusters
        levels = math.ceil(math.log2(problem.k)) if recursive else 1
        ufactor = max(1, math.floor(1000 * (room ** (1 / levels) - 1)))
        options = pymetis.Options(seed=seed, ufactor=ufactor, no2hop=1)
        parts = pymetis.part_graph(problem.k, adjacency, recursive=recursive, options=options, **weights)
        return np.asarray(parts.vertex_part)

    if not graph.nnz:
        return Tries([scattered(problem)], _metis_name(pymetis))
    return Tries((run(recursive, int(seed)) for recursive in (True, False) for seed in seeds), _metis_name(pymetis))


def _metis_name(pymetis: ModuleType) -> str:
    return f"METIS 5 (pymetis {pymetis.version})"


@cache
def _initialised() -> Dynamic:
    """Mt-KaHyPar, which can be initialised once per process; its deterministic preset does not depend on threads."""
    import os

    import mtkahypar

    return mtkahypar.initialize(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


def by_mtkahypar(problem: Problem) -> Tries:
    """n_init runs; the deterministic preset ignores the seed, so the vertices are permuted instead."""
    import mtkahypar

    thing = problem.thing
    assert isinstance(thing, Hypergraph)
    library = _initialised()
    weight = np.maximum(1, _integers(thing.weight, 2.0**30)).tolist()
    mass = _integers(problem.mass, 2.0**30)
    room = problem.limit * problem.k / float(problem.mass.sum())

    def run() -> Array:
        context = library.context_from_preset(mtkahypar.PresetType.DETERMINISTIC)
        context.set_partitioning_parameters(problem.k, room - 1, mtkahypar.Objective.CUT)
        context.logging = False
        place = problem.rng.permutation(thing.n)
        edges = [place[pins].tolist() for pins in np.split(thing.pins.indices, thing.pins.indptr[1:-1])]
        there = np.empty(thing.n, np.int64)
        there[place] = mass
        made = library.create_hypergraph(context, thing.n, len(edges), edges, there.tolist(), weight)
        return np.asarray(made.partition(context).get_partition())[place]

    name = f"Mt-KaHyPar {version('mtkahypar')}"
    if not thing.size:
        return Tries([scattered(problem)], name)
    return Tries((run() for _ in range(problem.starts)), name)


# --- the built-in partitioner -----------------------------------------------------------------------------------


def by_builtin(problem: Problem) -> Tries:
    """One start from the spectral embedding, the others grown from seeds; fewer on large graphs, more on tiny ones."""
    thing = problem.thing
    if not thing.size:
        return Tries([scattered(problem)], "built-in", is_evened=True)
    grown = max(problem.starts, 300 // thing.n)

    def starts() -> Iterator[Array]:
        if problem.k <= SPECTRAL_BLOCKS:
            yield evened(problem, _spectral(problem))
        for _ in range(grown):
            yield evened(problem, _grown(problem))

    kind = "hypergraph" if isinstance(thing, Hypergraph) else "graph"
    name = f"built-in {kind} partitioner (spectral and grown starts, Fiduccia-Mattheyses refinement)"
    return Tries(starts(), name, is_evened=True)


def _exchange(
    problem: Problem, labels: Array, pair: tuple[int, int], caps: Sequence[float], fewest: tuple[int, int]
) -> tuple[float, float]:
    thing = problem.thing
    kernel = compiled(exchange, steps=4.0 * thing.size * 2 / problem.k + thing.n)
    order = problem.rng.permutation(thing.n)
    over, cut = kernel(
        *thing.arrays, problem.mass, labels, order, np.array(pair), np.array(caps, float), np.array(fewest), PASSES
    )
    return float(over), float(cut)


def evened(problem: Problem, labels: Array) -> Array:
    """The partition after moves between all pairs of blocks, until no pair improves."""
    labels = labels.copy()
    changed = np.ones(problem.k, dtype=bool)
    caps, fewest = (problem.limit, problem.limit), (1, 1)
    for _ in range(8):
        heavy = np.bincount(labels, problem.mass) > problem.limit * (1 + 1e-9)
        worth = (problem.thing.adjacent(labels) | heavy[:, None] | heavy) & (changed[:, None] | changed)
        pairs = np.argwhere(np.tril(worth, -1))
        changed[:] = False
        for p in problem.rng.permutation(len(pairs)):
            a, b = pairs[p]
            before = labels == a
            _exchange(problem, labels, (a, b), caps, fewest)
            if not np.array_equal(before, labels == a):
                changed[[a, b]] = True
        if not changed.any():
            break
    return labels


def by_enumeration(problem: Problem) -> Tries:
    """The best of all divisions into k blocks; for equal cuts the most even one."""
    n, k = problem.thing.n, problem.k
    rest = np.unravel_index(np.arange(k ** (n - 1)), (k,) * (n - 1))
    labels = np.stack([np.zeros(k ** (n - 1), np.int64), *rest], axis=1)
    holds = np.stack([labels == block for block in range(k)])
    labels, holds = labels[holds.any(axis=2).all(axis=0)], holds[:, holds.any(axis=2).all(axis=0)]
    loads = np.where(holds, problem.mass, 0.0).sum(axis=2)
    over = np.maximum(0.0, loads.max(axis=0) - problem.limit)
    over[over <= 1e-9 * problem.limit] = 0.0
    cut = problem.thing.cut(labels)
    cut = np.round(cut / max(cut.max(), 1e-300), 9)
    best = labels[np.lexsort(((loads**2).sum(axis=0), cut, over))[0]]
    return Tries([best], "built-in (every division tried)", is_evened=True)


def _grown(problem: Problem) -> Array:
    """Recursive bisection: one side starts as a single vertex and takes the vertex of smallest cost until it is full."""
    labels = np.zeros(problem.thing.n, np.int64)
    todo = [(0, problem.k)]
    while todo:
        low, k = todo.pop()
        if k == 1:
            continue
        half = k // 2
        inside = np.flatnonzero(labels == low)
        total = float(problem.mass[inside].sum())
        # the tolerance of a block is divided over the levels of bisection
        room = max(1.0, problem.limit * k / total) ** (1 / math.ceil(math.log2(k))) if total else 1.0
        sizes = (k - half, half)
        caps = [min(problem.limit * size, total * size / k * room) for size in sizes]
        if problem.mass.min() == problem.mass.max() > 0:  # whole vertices
            unit = problem.mass[0]
            caps = [max(cap, math.ceil(len(inside) * size / k) * unit) for cap, size in zip(caps, sizes, strict=True)]
        best: tuple[tuple[float, float], Array] | None = None
        for seed in problem.rng.choice(inside, size=min(2, len(inside)), replace=False):
            trial = labels.copy()
            trial[seed] = low + k - half
            found = _exchange(problem, trial, (low, low + k - half), caps, sizes)
            if best is None or found < best[0]:
                best = found, trial
        assert best is not None
        labels = best[1]
        todo += [(low, k - half), (low + k - half, half)]
    return labels


def _spectral(problem: Problem) -> Array:
    """k-means on the rows of the leading eigenvectors of the normalised graph."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    graph = problem.thing.bipartite()
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.where(degree > 0, degree, np.inf))
    seed = int(problem.rng.integers(2**31 - 1))
    with threadpool_limits(1), warnings.catch_warnings():  # one thread: the same sums on all machines
        warnings.simplefilter("ignore")  # fewer distinct rows than blocks: empty blocks are filled later
        rows = _leading(graph, scale, problem.k, np.random.default_rng(seed))[: problem.thing.n]
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1)
        labels = KMeans(problem.k, n_init=5, random_state=seed).fit_predict(rows)
    return filled(problem, labels)


def _leading(graph: SparseMatrix, scale: Array, k: int, rng: np.random.Generator) -> Array:
    """The k leading eigenvectors of the graph with rows and columns scaled."""
    n = graph.shape[0]
    if n <= 300 or 4 * k > n:
        return np.asarray(np.linalg.eigh(scale[:, None] * graph.toarray() * scale)[1][:, -k:])
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    scaled = graph.copy()
    scaled.data *= scale[graph.indices] * np.repeat(scale, np.diff(graph.indptr))
    try:
        return np.asarray(eigsh(scaled, k, which="LA", v0=rng.random(n), tol=1e-4, maxiter=300)[1])
    except ArpackNoConvergence as error:  # a start need not be exact
        found = np.asarray(error.eigenvectors)
        return np.hstack([found, rng.normal(scale=1 / math.sqrt(n), size=(n, k - found.shape[1]))])


def _kept(matrix: SparseMatrix, keep: Array) -> SparseMatrix:
    """The matrix with some of its entries only."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[keep]
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=matrix.shape[0]))])
    return sparse.csr_array((matrix.data[keep], matrix.indices[keep], start), shape=matrix.shape)
