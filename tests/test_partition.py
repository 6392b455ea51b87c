"""Partitioners: optimal on small inputs, as good as METIS on large ones, with a note if they are unbalanced."""

from __future__ import annotations

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from congruence.consensus_clustering import exchange, graph_problem, partition
from congruence.consensus_clustering.partition import partition_graph, partition_hypergraph
from congruence.errors import InputError
from congruence.machine.jit import compiled

#: Strehl and Ghosh's seven points in four clusterings, the last of them partial (0: no label)
SEVEN = np.array([[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, 0, 1, 2, 0, 0]]).T
BLOCKS = [0, 0, 0, 1, 1, 2, 2]


def rng(seed=0):
    return np.random.default_rng(seed)


def needs(solver):
    if solver in partition.NEEDS:
        pytest.importorskip(partition.NEEDS[solver][0])
    return solver


def incidence(labels):
    return sparse.csr_array(
        np.array([column == c for column in labels.T for c in np.unique(column[column > 0])]).T.astype(float)
    )


def bipartite(h):
    return sparse.block_array([[None, h], [h.T, None]], format="csr")


def planted(n, k, members, noise, seed=0):
    """Point-by-cluster incidence of an ensemble in which a share of the labels is redrawn at random, and the truth."""
    random, truth = rng(seed), np.arange(n) % k
    labels = [
        1 + np.where(random.random(n) < noise, random.integers(k, size=n), random.permutation(k)[truth])
        for _ in range(members)
    ]
    return incidence(np.array(labels).T), truth


def cut_of(graph, labels):
    dense = graph.toarray()
    n = len(labels)
    return sum(dense[i, j] for i in range(n) for j in range(i) if labels[i] != labels[j])


def cut_of_nets(h, labels, weight):
    dense = h.toarray()
    return sum(weight[e] for e in range(h.shape[1]) if len({labels[i] for i in np.flatnonzero(dense[:, e])}) > 1)


def tiny(seed):
    """A random weighted graph, a random hypergraph and vertex weights."""
    random = rng(seed)
    n, k = int(random.integers(4, 8)), int(random.integers(2, 4))
    weight = np.triu(random.integers(0, 6, (n, n)) * (random.random((n, n)) < 0.7), 1).astype(float)
    h = sparse.csr_array((random.random((n, 7)) < 0.45).astype(float))
    mass = random.integers(1, 4, n).astype(float) if seed % 2 else np.ones(n)
    return sparse.csr_array(weight + weight.T), h, mass, k


def lowest(cut, mass, k, balance=0.05):
    """(smallest cut within the balance over all divisions in k blocks, heaviest block allowed)."""
    divisions = [c for c in product(range(k), repeat=len(mass)) if len(set(c)) == k]
    heaviest = {c: np.bincount(c, mass).max() for c in divisions}
    loads = np.zeros(k)
    for weight in sorted(mass, reverse=True):
        loads[loads.argmin()] += weight
    limit = max((1 + balance) * mass.sum() / k, loads.max()) + 1e-9
    return min(cut(c) for c in divisions if heaviest[c] <= limit), limit


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "metis", "builtin"])
@pytest.mark.parametrize("seed", range(3))
def test_seven_points_come_apart_as_in_the_paper(solver, seed):
    """{0,1,2}, {3,4}, {5,6} by co-association, by the bipartite graph and by the graph of clusters."""
    needs(solver)
    h = incidence(SEVEN)
    similarity = partition_graph(h @ h.T, 3, rng=rng(seed), solver=solver)
    assert similarity.labels.tolist() == BLOCKS
    assert similarity.cut == cut_of(h @ h.T, BLOCKS)
    assert partition_graph(bipartite(h), 3, rng=rng(seed), solver=solver).labels[:7].tolist() == BLOCKS
    shared, size = (h.T @ h).toarray(), h.sum(axis=0)
    jaccard = sparse.csr_array(shared / (size[:, None] + size - shared))
    meta = partition_graph(jaccard, 3, rng=rng(seed), vertex_weight=size, solver=solver).labels
    votes = np.stack([h[:, meta == c].mean(axis=1) for c in range(3)], axis=1)
    assert adjusted_rand_score(BLOCKS, votes.argmax(axis=1)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["mtkahypar", "builtin"])
def test_seven_points_as_a_hypergraph(solver):
    """Four of the eleven clusters must be cut, by any solver."""
    found = partition_hypergraph(incidence(SEVEN), 3, rng=rng(), solver=needs(solver))
    assert (found.labels.tolist(), found.cut) == (BLOCKS, 4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("counted_out", [True, False])
def test_tiny_inputs_are_cut_as_little_as_possible(seed, counted_out, monkeypatch):
    """The built-in cut is the smallest of all divisions within the balance, also where moves must find it."""
    if not counted_out:
        monkeypatch.setattr(partition, "DIVISIONS", 1)
    graph, h, mass, k = tiny(seed)
    weight = np.arange(1.0, 8.0)
    found = partition_graph(graph, k, vertex_weight=mass, rng=rng(), solver="builtin")
    least, limit = lowest(lambda c: cut_of(graph, c), mass, k)
    assert (found.cut, cut_of(graph, found.labels)) == (least, least)
    assert np.bincount(found.labels, mass).max() <= limit
    found = partition_hypergraph(h, k, edge_weight=weight, vertex_weight=mass, rng=rng(), solver="builtin")
    least, limit = lowest(lambda c: cut_of_nets(h, c, weight), mass, k)
    assert (found.cut, cut_of_nets(h, found.labels, weight)) == (least, least)
    assert np.bincount(found.labels, mass).max() <= limit
    assert ("every division" in found.solver) == counted_out


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["metis", "builtin"])
@pytest.mark.parametrize(("k", "noise"), [(5, 0.0), (5, 0.4), (8, 0.3)])
def test_planted_blocks_of_an_ensemble_are_found(solver, k, noise):
    """On the similarity of points and on the bipartite graph of points and clusters, 40 % of the labels redrawn."""
    needs(solver)
    h, truth = planted(600, k, 20, noise)
    for graph in (h @ h.T, bipartite(h)):
        found = partition_graph(graph, k, rng=rng(), solver=solver)
        assert adjusted_rand_score(truth, found.labels[:600]) >= 0.99
        assert found.cut == pytest.approx(cut_of(graph, found.labels), rel=1e-12) if noise else found.cut == 0
        assert np.bincount(found.labels).max() <= 1.05 * graph.shape[0] / k
        assert found.notes == ()


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["metis", "builtin"])
def test_points_and_clusters_of_a_large_noisy_ensemble(solver):
    """3,000 points, 100 clusters, 40 % noise."""
    h, truth = planted(3000, 5, 20, 0.4)
    found = partition_graph(bipartite(h), 5, rng=rng(), solver=needs(solver))
    assert adjusted_rand_score(truth, found.labels[:3000]) >= 0.99


def test_metis_gets_valid_input(monkeypatch):
    """No two-hop matching (it collapses large bipartite graphs), no self loops, integer weights > 0, both ways, the same."""
    pymetis = pytest.importorskip("pymetis")
    seen, part_graph = [], pymetis.part_graph

    def record(k, adjacency, **given):
        seen.append((adjacency, given))
        return part_graph(k, adjacency, **given)

    monkeypatch.setattr(pymetis, "part_graph", record)
    weight = rng().random((30, 30))
    weight = (weight + weight.T) * np.where(np.add.outer(range(30), range(30)) % 7, 1, 1e-17)
    partition_graph(weight, 3, rng=rng(), solver="metis")
    assert {given["recursive"] for _, given in seen} == {True, False}
    adjacency, given = seen[0]
    assert given["options"].no2hop == 1
    assert given["eweights"].min() > 0
    sent = sparse.csr_array((given["eweights"], adjacency.adjacent, adjacency.adj_starts), shape=(30, 30))
    assert sent.diagonal().max() == 0
    assert (sent != sent.T).nnz == 0
    assert 0 < sent.nnz < (weight > 0).sum() - 30  # the tiny weights are rounded to 0


@pytest.mark.slow
def test_mt_kahypar_gives_the_same_on_any_number_of_threads():
    """It can be initialised once per process: two processes, one and two threads."""
    pytest.importorskip("mtkahypar")
    code = """if True:
        import sys, numpy as np, mtkahypar
        from congruence.consensus_clustering import partition
        partition._initialised = lambda started=mtkahypar.initialize(int(sys.argv[1])): started
        h = (np.random.default_rng(0).random((200, 30)) < 0.1).astype(float)
        print(partition.partition_hypergraph(h, 4, rng=np.random.default_rng(1), solver="mtkahypar").labels.tolist())
    """
    one, two = (subprocess.check_output([sys.executable, "-c", code, threads]) for threads in ("1", "2"))
    assert one == two
    assert one.startswith(b"[0, ")


@pytest.mark.parametrize("seed", range(4))
def test_edges_and_hyperedges_of_two_move_alike(seed):
    """From the same start, the moves on a graph and on the hypergraph of its edges are the same, one by one."""
    weight = np.triu(rng(seed).integers(0, 9, (40, 40)) * (rng(seed + 9).random((40, 40)) < 0.2), 1)
    i, j = np.nonzero(weight)
    nets = np.zeros((40, len(i)))
    nets[i, range(len(i))] = nets[j, range(len(i))] = 1
    graph = graph_problem.Graph(sparse.csr_array(weight + weight.T, dtype=float))
    hyper = graph_problem.Hypergraph(sparse.csr_array(nets), weight[i, j].astype(float))
    start, order, mass = rng(seed).integers(3, size=40), rng(seed).permutation(40), np.ones(40)
    found = []
    for thing in (graph, hyper):
        labels = start.copy()
        over, cut = exchange.exchange(
            *thing.arrays, mass, labels, order, np.array([0, 2]), np.array([15.0, 15.0]), np.array([1, 1]), 3
        )
        others = np.where(labels == 1, 3 + np.arange(40), labels)  # edges of the third block are cut anyway
        assert over == 0
        assert cut == pytest.approx(thing.cut(others) - thing.cut(np.where(labels == 1, others, 0)), rel=1e-12)
        found.append(labels)
    assert np.array_equal(*found)
    assert not np.array_equal(found[0], start)


@pytest.mark.slow  # to compile the moves takes seconds
def test_many_blocks_stay_quick():
    """Nearly as many blocks as vertices."""
    path = sparse.diags_array([np.ones(239)] * 2, offsets=[-1, 1])
    found = partition_graph(path, 160, rng=rng(), solver="builtin", n_init=1)
    assert np.bincount(found.labels, minlength=160).min() == 1
    assert np.bincount(found.labels).max() == 2
    assert found.cut == 159


@pytest.mark.slow
def test_the_built_in_cut_is_no_worse_than_that_of_metis():
    """Within a hundredth on noisy ensembles, a grid and a graph with real weights."""
    pytest.importorskip("pymetis")
    h, _ = planted(500, 5, 12, 0.5)
    path = sparse.diags_array([np.ones(29)] * 2, offsets=[-1, 1])
    points = rng(1).normal(size=(400, 3))
    near = np.exp(-((points[:, None] - points) ** 2).sum(-1))
    for graph, k in (
        (h @ h.T, 5),
        (bipartite(h), 5),
        (sparse.kronsum(path, path), 4),
        (np.where(near > 0.3, near, 0), 6),
    ):
        cuts = [partition_graph(graph, k, rng=rng(), solver=solver).cut for solver in ("builtin", "metis")]
        assert cuts[0] <= 1.01 * cuts[1]


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.0, 0.05, 0.2])
def test_hyperedges_are_cut_no_more_than_by_mt_kahypar(noise):
    """Nor more than by the truth; without noise nothing is cut and the truth is found."""
    h, truth = planted(300, 3, 10, noise)
    found = partition_hypergraph(h, 3, rng=rng(), solver="builtin")
    assert found.cut == cut_of_nets(h, found.labels, np.ones(h.shape[1]))
    assert found.cut <= cut_of_nets(h, truth, np.ones(h.shape[1]))
    assert np.bincount(found.labels).max() <= 105
    if not noise:
        assert adjusted_rand_score(truth, found.labels) == 1
    pytest.importorskip("mtkahypar")
    other = partition_hypergraph(h, 3, rng=rng(), solver="mtkahypar")
    assert other.cut == cut_of_nets(h, other.labels, np.ones(h.shape[1]))
    assert found.cut <= other.cut * 1.04


@pytest.mark.parametrize("solver", ["metis", "mtkahypar", pytest.param("builtin", marks=pytest.mark.slow)])
def test_the_random_state_alone_decides(solver):
    """The same state gives the same blocks; another state may give others, and does somewhere."""
    needs(solver)
    h, _ = planted(200, 4, 6, 0.8)
    divide, thing = (partition_hypergraph, h) if solver == "mtkahypar" else (partition_graph, bipartite(h))
    first, again, *others = (divide(thing, 4, rng=rng(s), solver=solver, n_init=1).labels for s in (1, 1, 2, 3, 4))
    assert np.array_equal(first, again)
    assert any(not np.array_equal(first, other) for other in others)


@pytest.mark.slow
def test_interpreted_and_compiled_moves_are_the_same(monkeypatch):
    """Small work runs without numba, and gives the same blocks."""
    h, _ = planted(40, 3, 8, 0.5)
    found = []
    for kernel in (lambda function, steps: function, compiled):
        monkeypatch.setattr(partition, "compiled", kernel)
        found.append(
            [
                partition_graph(bipartite(h) * 0.1, 3, rng=rng(), solver="builtin").labels,
                partition_hypergraph(h, 3, rng=rng(), solver="builtin").labels,
            ]
        )
        monkeypatch.setattr("congruence.machine.jit.INTERPRETED_STEPS", 0)
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("solver", ["metis", "mtkahypar", "builtin"])
def test_small_strange_inputs(solver):
    """One block, as many blocks as vertices, more, no edges, isolated vertices, self loops, no vertices."""
    needs(solver)
    hyper = solver == "mtkahypar"

    def divide(n, edges, k, loops=0.0):
        matrix = np.zeros((n, n))
        for i, j in edges:
            matrix[i, j] = matrix[j, i] = 1
        nets = np.zeros((n, len(edges) + 1))
        for e, pair in enumerate(edges):
            nets[list(pair), e] = 1
        if hyper:
            return partition_hypergraph(sparse.csr_array(nets), k, rng=rng(), solver=solver)
        return partition_graph(sparse.csr_array(matrix + loops * np.eye(n)), k, rng=rng(), solver=solver)

    pairs = [(2 * i, 2 * i + 1) for i in range(10)]
    assert divide(20, pairs, 1).labels.tolist() == [0] * 20
    assert divide(20, pairs, 20).labels.tolist() == list(range(20))
    assert divide(3, [(0, 1)], 5).labels.tolist() == [0, 1, 2]
    assert divide(3, [(0, 1)], 5).notes == ("3 vertices cannot fill 5 blocks: each vertex is a separate block",)
    assert divide(0, [], 2).labels.tolist() == []
    assert sorted(np.bincount(divide(20, [], 3).labels)) == [6, 7, 7]
    for found in (divide(20, pairs, 10), divide(20, pairs, 10, loops=9.0)):
        assert found.cut == 0
        assert np.bincount(found.labels).tolist() == [2] * 10
    few = divide(30, pairs[:2], 6)  # more blocks than vertices with an edge
    assert sorted(np.bincount(few.labels)) == [5] * 6
    assert few.cut == 0
    assert np.bincount(divide(40, pairs, 19).labels, minlength=19).min() > 0


@pytest.mark.parametrize("solver", ["metis", "mtkahypar", "builtin"])
def test_vertex_weights_balance_the_blocks_and_too_heavy_ones_are_named(solver):
    """Blocks weigh the same, not hold the same number; a vertex heavier than a block gives a note."""
    needs(solver)
    n = 120
    ring = sparse.csr_array(np.roll(np.eye(n), 1, axis=0) + np.roll(np.eye(n), -1, axis=0))
    nets = sparse.csr_array(np.eye(n) + np.roll(np.eye(n), 1, axis=0))
    divide, thing = (partition_hypergraph, nets) if solver == "mtkahypar" else (partition_graph, ring)
    weight = np.where(np.arange(n) < 20, 5.0, 1.0)
    found = divide(thing, 4, vertex_weight=weight, rng=rng(), solver=solver)
    assert np.bincount(found.labels, weight).max() <= 1.05 * weight.sum() / 4
    assert found.cut == 4
    assert found.notes == ()
    weight[0] = 200.0
    found = divide(thing, 4, vertex_weight=weight, rng=rng(), solver=solver)
    assert any(note.startswith("blocks are unbalanced by ") for note in found.notes)


@pytest.mark.parametrize("solver", ["metis", "builtin"])
def test_a_looser_balance_finds_unequal_blocks(solver):
    """40 and 20 points that only a balance of a third allows."""
    graph = sparse.block_diag([sparse.coo_array(np.ones((n, n))) for n in (40, 20)], format="csr")
    assert partition_graph(graph, 2, rng=rng(), solver=needs(solver)).cut > 0
    loose = partition_graph(graph, 2, rng=rng(), solver=solver, balance=0.34)
    assert (loose.cut, np.bincount(loose.labels).tolist()) == (0, [40, 20])


def test_integers_are_kept_and_the_rest_is_scaled():
    """Whole weights stay exact; others become integers of a bounded sum in the same proportions."""
    assert partition._integers(np.array([1.0, 3.0, 0.0]), 1e9).tolist() == [1, 3, 0]
    scaled = partition._integers(np.array([0.1, 0.2, 0.3, 1e-12]), 1e9)
    assert scaled.sum() <= 1e9
    assert scaled / scaled.sum() == pytest.approx([1 / 6, 2 / 6, 3 / 6, 0], abs=1e-8)


@pytest.mark.parametrize(("solver", "package", "extra"), [(s, *needed) for s, needed in partition.NEEDS.items()])
def test_without_the_extra_the_built_in_partitioner_works(solver, package, extra, monkeypatch):
    """Requesting a solver that is not installed raises an error that says how to install it; "auto" works without it."""
    monkeypatch.setitem(sys.modules, package, None)
    h, truth = planted(60, 3, 5, 0.0)
    divide, thing = (partition_hypergraph, h) if solver == "mtkahypar" else (partition_graph, bipartite(h))
    with pytest.raises(InputError, match=rf'pip install "congruence\[{extra}\]"'):
        divide(thing, 3, rng=rng(), solver=solver)
    found = divide(thing, 3, rng=rng())
    assert found.solver.startswith("built-in")
    assert adjusted_rand_score(truth, found.labels[:60]) == 1


def test_auto_takes_what_is_installed():
    """METIS and Mt-KaHyPar report their versions."""
    pytest.importorskip("pymetis")
    pytest.importorskip("mtkahypar")
    h, _ = planted(60, 3, 5, 0.0)
    assert partition_graph(bipartite(h), 3, rng=rng()).solver.startswith("METIS 5 (pymetis 20")
    assert partition_hypergraph(h, 3, rng=rng()).solver.startswith("Mt-KaHyPar 1.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"graph": np.ones((2, 3))}, "square"),
        ({"graph": np.array([[0, -1], [-1, 0]])}, "not negative"),
        ({"graph": np.array([[0, np.nan], [np.nan, 0]])}, "finite"),
        ({"graph": np.array([[0.0, 1], [0, 0]])}, "not symmetric"),
        ({"k": 0}, "whole number of at least 1"),
        ({"k": 1.5}, "whole number of at least 1"),
        ({"balance": -0.1}, "balance"),
        ({"vertex_weight": np.ones(3)}, "one number for each of 2"),
        ({"vertex_weight": np.array([1, -1])}, "not negative"),
        ({"vertex_weight": np.zeros(2)}, "zero everywhere"),
        ({"solver": "metsi"}, "metis"),
    ],
)
def test_bad_input_is_named(arguments, said):
    """One line: what was given, what was expected."""
    with pytest.raises(InputError, match=said):
        partition_graph(**{"graph": np.ones((2, 2)), "k": 2, "rng": rng(), **arguments})


def test_empty_blocks_are_filled_for_any_weights():
    """From blocks that have vertices to spare, also where those weigh nothing."""
    graph = graph_problem.Graph(sparse.csr_array((5, 5)))
    problem = graph_problem.problem_of(graph, 4, np.array([1.0, 0, 0, 0, 0]), 0.05, rng(), 1)
    assert len(set(graph_problem.filled(problem, np.array([0, 1, 1, 1, 1])))) == 4
