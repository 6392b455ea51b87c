"""Vertices of a graph or hypergraph into k blocks of about equal weight that cut as little as possible.

METIS and Mt-KaHyPar do it where they are installed. The built-in partitioner needs neither: several starts, one from
the spectral embedding and others by recursive bisection from grown seeds, are refined by moves between two blocks
at a time (see refine.py), and the lowest cut is kept.
"""

from __future__ import annotations

import heapq
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from congruence.consensus_clustering.refine import exchange
from congruence.numerics import Array, compiled
from congruence.registry import hint
from congruence.statistics import InputError

#: entries of all starts together: larger inputs get fewer starts than n_init
START_ENTRIES = 30_000_000
#: divisions of a tiny input that are all tried
DIVISIONS = 20_000
#: eigenvectors for more blocks cost more than they help
SPECTRAL_BLOCKS = 300
#: moves go to and fro between two blocks at most so many times
PASSES = 12


@dataclass(frozen=True)
class Parts:
    """A partition of vertices into blocks.

    labels: block 0 … k − 1 of each vertex, in order of appearance; none is empty if there are k vertices.
    cut: weight of the edges, or hyperedges, that lie in more than one block.
    solver: what found it.
    notes: what the caller asked for and did not get.
    """

    labels: Array
    cut: float
    solver: str
    notes: tuple[str, ...] = ()


def partition_graph(
    graph: Any,
    k: int,
    *,
    vertex_weight: Array | None = None,
    balance: float = 0.05,
    rng: np.random.Generator,
    solver: str = "auto",
    n_init: int = 4,
) -> Parts:
    """The vertices of a graph in k blocks, the heaviest at most 1 + balance times the mean, with a small cut.

    graph: symmetric, weights ≥ 0; the diagonal is ignored. solver: "metis", "builtin", or "auto" for the first that is
    there. n_init: starts of the built-in partitioner; METIS runs as many by recursive bisection and as many k-way;
    fewer from seven million entries on. Of a tiny graph every division is tried, unless METIS is asked for by name.
    Where vertices are too heavy or too few to keep the balance, the limit is what comes of dividing them heaviest first.

    >>> ring = sparse.csr_array(np.roll(np.eye(6), 1, axis=0) + np.roll(np.eye(6), -1, axis=0))
    >>> found = partition_graph(ring, 2, rng=np.random.default_rng(0), solver="builtin")
    >>> np.bincount(found.labels).tolist(), found.cut
    ([3, 3], 2.0)
    """
    graph = sparse.csr_array(graph, dtype=np.float64)
    if graph.shape[0] != graph.shape[1]:
        raise InputError(f"a graph is a square matrix, not one of {graph.shape[0]} × {graph.shape[1]}")
    if not (np.isfinite(graph.data).all() and (graph.data >= 0).all()):
        raise InputError("edge weights must be finite and not negative")
    graph = sparse.csr_array(graph - sparse.diags_array(graph.diagonal()))  # sorted, without zeros
    probe = np.cos(np.arange(graph.shape[0]))
    if not np.allclose(graph @ probe, probe @ graph, rtol=1e-6, atol=1e-9 * graph.data.max(initial=0.0)):
        raise InputError("the graph is not symmetric; pass (graph + graph.T) / 2")
    problem = _problem(_Graph(graph), k, vertex_weight, balance, rng, n_init)
    return _solve(problem, solver, {"metis": _metis, "builtin": _builtin})


def partition_hypergraph(
    incidence: Any,
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

    solver: "mtkahypar", "builtin", or "auto" for the first that is there; the rest as for `partition_graph`.

    >>> incidence = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 2))))
    >>> found = partition_hypergraph(incidence, 2, rng=np.random.default_rng(0), solver="builtin")
    >>> found.labels.tolist(), found.cut
    ([0, 0, 0, 1, 1, 1], 0.0)
    """
    incidence = sparse.csr_array(sparse.csr_array(incidence) != 0, dtype=np.float64)
    weight = _weights(edge_weight, incidence.shape[1], "edge_weight")
    problem = _problem(_Hypergraph(incidence, weight), k, vertex_weight, balance, rng, n_init)
    return _solve(problem, solver, {"mtkahypar": _mtkahypar, "builtin": _builtin})


# --- the problem ------------------------------------------------------------------------------------------------


class _Graph:
    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.n, self.size = matrix.shape[0], matrix.nnz
        none = np.empty(0, matrix.indptr.dtype)  # the same types as a hypergraph's: compiled once
        self.arrays = (matrix.indptr, matrix.indices, matrix.data, none, none)

    def _ends(self, labels: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Blocks of both ends and weight of the entries, a million at a time."""
        start, step = self.matrix.indptr, 1 + 1_000_000 * self.n // max(1, self.size)
        for low in range(0, self.n, step):
            part = slice(start[low], start[min(low + step, self.n)])
            row = np.repeat(labels[..., low : low + step], np.diff(start[low : low + step + 1]), axis=-1)
            yield row, labels[..., self.matrix.indices[part]], self.matrix.data[part]

    def cut(self, labels: Array) -> Array:
        """Of each row of labels; added up by numpy in one order, whatever the threads."""
        cut = np.zeros(labels.shape[:-1])
        for row, col, weight in self._ends(labels):
            cut += np.where(row != col, weight, 0.0).sum(axis=-1)
        return np.asarray(cut / 2)

    def adjacent(self, labels: Array) -> Array:
        """Which two blocks an edge joins (k × k)."""
        found = np.zeros((int(labels.max()) + 1,) * 2, dtype=bool)
        for row, col, _ in self._ends(labels):
            found[row, col] = True
        return found

    def bipartite(self) -> Any:
        """The graph whose leading eigenvectors hold the blocks."""
        return self.matrix


class _Hypergraph:
    def __init__(self, incidence: Any, weight: Array) -> None:
        pins = incidence.tocsc()
        some = (np.diff(pins.indptr) > 1) & (weight > 0)  # others cannot be cut, or do not matter
        self.matrix, self.weight = incidence[:, some], weight[some]
        self.pins = self.matrix.tocsc()
        self.n, self.size = incidence.shape[0], self.matrix.nnz
        self.arrays = (self.matrix.indptr, self.matrix.indices, self.weight, self.pins.indptr, self.pins.indices)

    def _ends(self, labels: Array) -> tuple[Array, Array]:
        """The lowest and highest block of each hyperedge."""
        pin, first = labels[..., self.pins.indices], self.pins.indptr[:-1]
        return np.minimum.reduceat(pin, first, axis=-1), np.maximum.reduceat(pin, first, axis=-1)

    def cut(self, labels: Array) -> Array:
        """Of each row of labels."""
        low, high = self._ends(labels) if self.size else (np.zeros((*labels.shape[:-1], 0)),) * 2
        return np.asarray(np.where(low < high, self.weight, 0.0).sum(axis=-1))

    def adjacent(self, labels: Array) -> Array:
        """Which two blocks hold all of a hyperedge between them (k × k): one in three blocks they cannot mend."""
        found = np.zeros((int(labels.max()) + 1,) * 2, dtype=bool)
        low, high = self._ends(labels)
        pin, size = labels[self.pins.indices], np.diff(self.pins.indptr)
        ends = (pin == np.repeat(low, size)) | (pin == np.repeat(high, size))
        two = np.logical_and.reduceat(ends, self.pins.indptr[:-1])
        found[high[two], low[two]] = True
        return found

    def bipartite(self) -> Any:
        weighted = self.matrix * self.weight
        return sparse.block_array([[None, weighted], [weighted.T, None]], format="csr")


@dataclass(frozen=True)
class _Problem:
    """What to divide, in how many blocks, and how heavy the heaviest may be."""

    thing: _Graph | _Hypergraph
    k: int
    mass: Array
    balance: float
    limit: float  # no block heavier, which can be done
    rng: np.random.Generator
    n_init: int

    @property
    def starts(self) -> int:
        """n_init, or fewer on a large input."""
        return max(1, min(self.n_init, START_ENTRIES // max(1, int(self.thing.size))))

    def rank(self, labels: Array) -> tuple[float, float]:
        """Smaller is better: first the overload, then the cut."""
        heaviest = float(np.bincount(labels, self.mass).max())
        over = heaviest - self.limit
        return (over if over > 1e-9 * self.limit else 0.0, float(self.thing.cut(labels)))


def _problem(thing: Any, k: int, vertex_weight: Any, balance: float, rng: np.random.Generator, n_init: int) -> _Problem:
    if int(k) != k or k < 1:
        raise InputError(f"the number of blocks is a whole number from 1, not {k!r}")
    if not balance >= 0:
        raise InputError(f"balance is a share of the mean block weight, 0 or more, not {balance!r}")
    mass = _weights(vertex_weight, thing.n, "vertex_weight")
    if thing.n and not mass.any():
        raise InputError("vertex_weight is zero everywhere; leave it out to count vertices")
    return _Problem(thing, int(k), mass, balance, _limit(mass, int(k), balance), rng, max(1, n_init))


def _limit(mass: Array, k: int, balance: float) -> float:
    """(1 + balance) times the mean; or, where that cannot be promised, what comes of dividing heaviest first."""
    mean = float(mass.sum()) / k
    heaviest = float(mass.max(initial=0.0))
    if heaviest * (1 - 1 / k) <= balance * mean:  # then putting the heaviest first never exceeds it
        return (1 + balance) * mean
    if len(mass) and mass.min() == heaviest:
        return max((1 + balance) * mean, math.ceil(len(mass) / k) * heaviest)
    loads = [0.0] * k
    for weight in np.sort(mass)[::-1].tolist():
        heapq.heapreplace(loads, loads[0] + weight)
    return max((1 + balance) * mean, max(loads))


def _weights(given: Any, size: int, name: str) -> Array:
    if given is None:
        return np.ones(size)
    weight = np.asarray(given, dtype=np.float64)
    if weight.shape != (size,):
        raise InputError(f"{name} has shape {weight.shape}; expected one number for each of {size}")
    if not (np.isfinite(weight).all() and (weight >= 0).all()):
        raise InputError(f"{name} must be finite and not negative")
    return weight


def _kept(matrix: Any, keep: Array) -> Any:
    """The matrix with some of its entries only."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[keep]
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=matrix.shape[0]))])
    return sparse.csr_array((matrix.data[keep], matrix.indices[keep], start), shape=matrix.shape)


Solver = Callable[[_Problem], tuple[Iterable[Array], str]]
#: solver: the package that it needs, and the extra that installs it
NEEDS = {"metis": ("pymetis", "metis"), "mtkahypar": ("mtkahypar", "hypergraph")}


def _solve(problem: _Problem, name: str, solvers: dict[str, Solver]) -> Parts:
    if name != "auto" and name not in solvers:
        raise InputError(
            f"there is no solver {name!r}; {hint(name, solvers, 'there are: auto, ' + ', '.join(solvers))}"
        )
    there = [solver for solver in solvers if solver not in NEEDS or find_spec(NEEDS[solver][0])]
    if name not in ("auto", *there):
        package, extra = NEEDS[name]
        raise InputError(
            f'solver {name!r} needs {package}: pip install "congruence[{extra}]"; or take solver="builtin"'
        )
    n, k = problem.thing.n, problem.k
    if k == 1 or n <= k:
        labels = np.zeros(n, np.int64) if k == 1 else np.arange(n)
        few = (f"{n} vertices cannot fill {k} blocks: each is its own",) if n < k else ()
        return Parts(labels, float(problem.thing.cut(labels)), "none needed", few)
    if name in ("auto", "builtin") and (n - 1) * math.log(k) <= math.log(DIVISIONS):
        found = _enumerated(problem)
    else:
        found = solvers[there[0] if name == "auto" else name](problem)
    candidates, solver_name = found
    ranked = [(problem.rank(labels), labels) for labels in (_filled(problem, c) for c in candidates)]
    (over, cut), labels = min(ranked, key=lambda entry: entry[0])
    notes = []
    if over and not solver_name.startswith("built-in"):
        labels = _refined(problem, labels)
        if problem.rank(labels) < (over, cut):
            notes.append(f"{solver_name} did not keep the balance; the built-in refinement evened the blocks out")
    return Parts(_in_order(labels), problem.rank(labels)[1], solver_name, (*notes, *_unbalance(problem, labels)))


def _unbalance(problem: _Problem, labels: Array) -> Iterator[str]:
    """What there is to say about the heaviest block."""
    mean = float(problem.mass.sum()) / problem.k
    heaviest = float(np.bincount(labels, problem.mass).max())
    alike = problem.mass.min() == problem.mass.max()
    if heaviest <= (1 + problem.balance) * mean * (1 + 1e-9) or (alike and heaviest <= problem.limit * (1 + 1e-9)):
        return
    why = "the vertices are too heavy for less" if heaviest <= problem.limit * (1 + 1e-9) else "no better was found"
    yield f"blocks are unbalanced by {heaviest / mean - 1:.0%}, not {problem.balance:.0%}: {why}"


def _in_order(labels: Array) -> Array:
    """The same blocks, numbered as they appear."""
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[code], dtype=np.int64)


def _filled(problem: _Problem, labels: Array) -> Array:
    """Labels with no block empty: the lightest vertex of the heaviest block goes there."""
    labels = np.asarray(labels, dtype=np.int64).copy()
    count = np.bincount(labels, minlength=problem.k)
    for empty in np.flatnonzero(count == 0):
        crowded = np.flatnonzero(labels == np.bincount(labels, (problem.mass + 1e-300) * (count[labels] > 1)).argmax())
        labels[crowded[problem.mass[crowded].argmin()]] = empty
        count = np.bincount(labels, minlength=problem.k)
    return labels


# --- METIS and Mt-KaHyPar ---------------------------------------------------------------------------------------


def _integers(weight: Array, total: float) -> Array:
    """Weights as integers of a given sum at most; integers stay what they are."""
    if not ((weight == np.rint(weight)).all() and weight.sum() < total):
        weight = np.rint(weight * (total / weight.sum() * (1 - 1e-9)))
    return np.asarray(weight, dtype=np.int64)


def _metis(problem: _Problem) -> tuple[Iterable[Array], str]:
    """n_init runs by recursive bisection and n_init k-way; tiny graphs, where k-way fails, get more of both."""
    import pymetis

    index = pymetis.zero_copy_dtype()
    most = 1e15 if np.dtype(index).itemsize == 8 else 2.0**30
    graph = problem.thing.matrix
    if (graph.data != np.rint(graph.data)).any():
        graph = sparse.csr_array((graph + graph.T) / 2)  # so that both entries of an edge round alike
    weight = _integers(graph.data, most)
    if (weight == 0).any():  # METIS takes them without a word, and answers wrongly
        graph, weight = _kept(graph, weight > 0), weight[weight > 0]
    adjacency = pymetis.CSRAdjacency(graph.indptr.astype(index), graph.indices.astype(index))
    weights: dict[str, Any] = {"eweights": weight.astype(index)}
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
        return [_scattered(problem)], _metis_name(pymetis)
    return (run(recursive, int(seed)) for recursive in (True, False) for seed in seeds), _metis_name(pymetis)


def _metis_name(pymetis: Any) -> str:
    return f"METIS 5 (pymetis {pymetis.version})"


def _scattered(problem: _Problem) -> Array:
    """Blocks of vertices that no edge holds together: the heaviest first, each to the lightest block."""
    labels = np.empty(problem.thing.n, np.int64)
    loads = [(0.0, block) for block in range(problem.k)]
    for v in np.argsort(-problem.mass, kind="stable"):
        load, labels[v] = loads[0]
        heapq.heapreplace(loads, (load + float(problem.mass[v]), int(labels[v])))
    return labels


@cache
def _initialised() -> Any:
    """Mt-KaHyPar, which can be initialised once a process; its deterministic preset gives the same on any threads."""
    import os

    import mtkahypar

    return mtkahypar.initialize(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count())


def _mtkahypar(problem: _Problem) -> tuple[Iterable[Array], str]:
    """n_init runs; the deterministic preset does not read a seed, so that a permutation of the vertices stands for it."""
    import mtkahypar

    thing = problem.thing
    assert isinstance(thing, _Hypergraph)
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
        return [_scattered(problem)], name
    return (run() for _ in range(problem.starts)), name


# --- the built-in partitioner -----------------------------------------------------------------------------------


def _builtin(problem: _Problem) -> tuple[Iterable[Array], str]:
    """One start from the spectral embedding, the others grown; as many as the size allows, many on tiny graphs."""
    thing = problem.thing
    if not thing.size:
        return [_scattered(problem)], "built-in"
    grown = max(problem.starts, 300 // thing.n)

    def starts() -> Iterator[Array]:
        if problem.k <= SPECTRAL_BLOCKS:
            yield _refined(problem, _spectral(problem))
        for _ in range(grown):
            yield _refined(problem, _grown(problem))

    kind = "hypergraph" if isinstance(thing, _Hypergraph) else "graph"
    return starts(), f"built-in {kind} partitioner (spectral and grown starts, Fiduccia-Mattheyses refinement)"


def _exchange(problem: _Problem, labels: Array, pair: Any, caps: Any, fewest: Any) -> tuple[float, float]:
    thing = problem.thing
    kernel = compiled(exchange, steps=4.0 * thing.size * 2 / problem.k + thing.n)
    order = problem.rng.permutation(thing.n)
    over, cut = kernel(
        *thing.arrays, problem.mass, labels, order, np.array(pair), np.array(caps, float), np.array(fewest), PASSES
    )
    return float(over), float(cut)


def _refined(problem: _Problem, labels: Array) -> Array:
    """After moves between all pairs of blocks, until no pair has anything to gain."""
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


def _enumerated(problem: _Problem) -> tuple[Iterable[Array], str]:
    """The best of all divisions in k blocks; of those with one cut the most even."""
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
    return [labels[np.lexsort(((loads**2).sum(axis=0), cut, over))[0]]], "built-in (every division tried)"


def _grown(problem: _Problem) -> Array:
    """Recursive bisection: one side starts as a single vertex and takes over whoever costs least, till it is full."""
    labels = np.zeros(problem.thing.n, np.int64)
    todo = [(0, problem.k)]
    while todo:
        low, k = todo.pop()
        if k == 1:
            continue
        half = k // 2
        inside = np.flatnonzero(labels == low)
        total = float(problem.mass[inside].sum())
        # the room of a block is shared out over the levels of bisection
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


def _spectral(problem: _Problem) -> Array:
    """k-means on the rows of the leading eigenvectors of the normalised graph."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    graph = problem.thing.bipartite()
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = 1 / np.sqrt(np.where(degree > 0, degree, np.inf))
    seed = int(problem.rng.integers(2**31 - 1))
    with threadpool_limits(1), warnings.catch_warnings():  # one thread: the same sums on every machine
        warnings.simplefilter("ignore")  # fewer distinct rows than blocks: the rest is filled
        rows = _leading(graph, scale, problem.k, np.random.default_rng(seed))[: problem.thing.n]
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(length > 0, length, 1)
        labels = KMeans(problem.k, n_init=5, random_state=seed).fit_predict(rows)
    return _filled(problem, labels)


def _leading(graph: Any, scale: Array, k: int, rng: np.random.Generator) -> Array:
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
