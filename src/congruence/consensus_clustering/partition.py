"""Partition a graph or hypergraph into k blocks of about equal weight with a small cut.

METIS and Mt-KaHyPar are used if they are installed. The built-in partitioner needs neither: several starts, one from
the spectral embedding and others by recursive bisection from grown seeds, are refined by moves between two blocks
at a time (see exchange.py), and the lowest cut is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from scipy import sparse

from congruence.consensus_clustering.graph_problem import (
    Graph,
    Hypergraph,
    Problem,
    checked_weights,
    filled,
    on_grid,
    problem_of,
)
from congruence.consensus_clustering.graph_solvers import (
    Tries,
    by_builtin,
    by_enumeration,
    by_metis,
    by_mtkahypar,
    evened,
)
from congruence.errors import InputError, Option, hint, joined
from congruence.statistics.tables import Array
from congruence.typing import MatrixLike

#: most divisions of a tiny input for which all are tried
DIVISIONS = 20_000


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
