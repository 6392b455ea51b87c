"""Consensus: every method finds the planted clusters, for any order, names, gaps and weights."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.linalg import eigh, subspace_angles
from scipy.spatial.distance import squareform
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import congruence as cg
from congruence.consensus_clustering import linkage
from congruence.consensus_clustering.cumulative import merged
from congruence.consensus_clustering.evidence import evidence
from congruence.consensus_clustering.kcc import squared_error
from congruence.consensus_clustering.mcla import association, jaccard
from congruence.consensus_clustering.methods import METHODS
from congruence.consensus_clustering.spectral import degrees, eigenvectors
from congruence.inputs.coerce import as_clustering

ALL = tuple(METHODS)
#: methods that the noise of the planted ensembles does not disturb
STURDY = ("hbgf", "ncut", "kcc", "mcla", "voting", "average")


def same(a, b) -> bool:
    """Whether these are the same clusters, regardless of names."""
    return cg.rand(a, b) == 1.0


def planted(noise, n=3000, k=5, members=20, seed=0, p=None):
    """A truth and members that redraw a share of the labels uniformly over all k, each with its own names."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, n, p=p)
    return truth, [
        np.where(rng.random(n) < noise, rng.integers(k, size=n), truth)[None].T.ravel() * 7 % (7 * k) + rng.integers(99)
        for _ in range(members)
    ]


def strehl():
    """Strehl and Ghosh's seven points: the fourth member misses three of them."""
    rows = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, np.nan, 1, 2, np.nan, np.nan]]
    return cg.Ensemble([np.array(r) for r in rows], unassigned="partial")


@pytest.mark.parametrize("method", ALL)
def test_the_seven_points_of_strehl(method):
    """The example of the paper, with its gaps, gives {0,1,2}, {3,4}, {5,6} in every method."""
    assert cg.consensus(strehl(), 3, method, random_state=0).labels.tolist() == [0, 0, 0, 1, 1, 2, 2]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["builtin", "metis"])
def test_the_seven_points_by_each_partitioner(solver):
    """METIS and the built-in partitioner both give it; the result says which one ran."""
    if solver == "metis":
        pytest.importorskip("pymetis", reason="the METIS partitioner is the extra `metis`")
    for method in ("cspa", "mcla"):
        r = cg.consensus(strehl(), 3, method, random_state=0, solver=solver)
        assert r.labels.tolist() == [0, 0, 0, 1, 1, 2, 2]
        assert ("METIS" if solver == "metis" else "built-in") in r.solver
    assert same(cg.consensus(strehl(), 3, "hbgf", variant="metis", solver=solver).labels, [0, 0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("method", ALL)
def test_members_without_noise_give_the_truth_back(method):
    """Members that only rename the clusters have one consensus: the clusters."""
    truth, members = planted(0.0, n=200, members=5)
    assert same(cg.consensus(members, 5, method, random_state=0).labels, truth)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "least"), [(0.1, 0.99), (0.3, 0.99), (0.4, 0.99)])
@pytest.mark.parametrize("method", STURDY)
def test_planted_clusters_come_back(method, noise, least):
    """With 20 members of 3,000 points up to 40 % of the labels may be noise."""
    truth, members = planted(noise)
    found = cg.consensus(members, 5, method, random_state=0).labels
    assert cg.ari(truth, found) >= (0.97 if (method, noise) == ("average", 0.4) else least)


@pytest.mark.parametrize("method", ["ncut", "kcc", "kmodes", "mcla", "voting", "average"])
def test_planted_clusters_of_unequal_sizes_come_back(method):
    """Clusters of 50 to 3 % of the points, with 20 % noise."""
    truth, members = planted(0.2, n=1500, p=[0.5, 0.25, 0.15, 0.07, 0.03])
    assert cg.ari(truth, cg.consensus(members, 5, method, random_state=0).labels) >= 0.99


@pytest.mark.slow
@pytest.mark.parametrize("method", [m for m in ALL if m != "hgpa"])
def test_order_and_names_change_nothing(method):
    """Points in another order, members in another order, clusters with other names: the same clusters, to the last point."""
    rng = np.random.default_rng(5)
    _, members = planted(0.35, n=120, k=4, members=9, seed=3)
    first = cg.consensus(members, 4, method, random_state=1, solver="builtin").labels
    order = rng.permutation(120)
    renamed = []
    for m in (members[i] for i in rng.permutation(9)):
        names = rng.permutation(np.unique(m))
        renamed.append([f"c{names[np.searchsorted(np.unique(m), x)]}" for x in m[order]])
    again = cg.consensus(renamed, 4, method, random_state=1, solver="builtin").labels
    assert same(first[order], again)


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL)
def test_the_random_state_decides(method):
    """A seed gives one result, and a method in a list, in any order, gives the same result as alone."""
    _, members = planted(0.45, n=150, k=3, members=6)
    alone = cg.consensus(members, 3, method, random_state=7)
    assert np.array_equal(alone.labels, cg.consensus(members, 3, method, random_state=7).labels)
    for methods in ([method, "voting"], ["voting", method]):
        both = cg.consensus(members, 3, methods, random_state=7)
        assert {r["method"]: r["arimp"] for r in both.tried}[method] == alone["arimp"]


def test_the_border_is_entered_once(monkeypatch):
    """Clusterings found by methods are not validated again, for the result or for its scores."""
    read = []
    monkeypatch.setattr(
        "congruence.inputs.ensemble.as_clustering", lambda c, who: read.append(who) or as_clustering(c, who)
    )
    runs = {"a": [0, 0, 1, 1, 2], "b": [1, 1, 0, 0, 2], "c": [0, 0, 0, 1, 2]}
    found = cg.consensus(runs, 3, random_state=0)
    assert len(found.tried) > 2
    assert read == list(runs)


def test_scores_are_computed_on_request():
    """arimp and anmi of the clusterings tried are computed with `tried`; a copy from a file has them too."""
    e = cg.Ensemble([[0, 0, 1, 1, 2], [1, 1, 0, 0, 2], [0, 0, 0, 1, 2]])
    found = cg.consensus(e, 3, random_state=0)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert "tried" not in vars(found)
    assert found["arimp"] == again["arimp"] == e.arimp(found.labels)
    assert found["anmi"] == again["anmi"] == e.anmi(found.labels)


# --- linkage ----------------------------------------------------------------------------------------------------


def distances(e) -> np.ndarray:
    """1 − consensus, by the definition, with pairs that no member has seen as NaN."""
    return 1 - cg.consensus_matrix(e)


@pytest.mark.parametrize("how", ["average", "average, mean votes", "single", "complete"])
def test_heights_are_those_of_scipy(how, monkeypatch):
    """Without ties (members of random weights) the heights are scipy's, on the full matrix of points."""
    how, _, votes = how.partition(", ")
    if votes:
        monkeypatch.setattr(linkage, "MATRIX_BELOW", 0)
    rng = np.random.default_rng(0)
    members = rng.integers(4, size=(7, 40))
    members[:, 30:] = members[:, :10]  # ten signatures stand for two points each
    e = cg.Ensemble(list(members), member_weight=rng.random(7))
    (_, _, heights), solver, _ = getattr(linkage, f"{how}_merges")(evidence(e))
    assert votes in solver
    d = distances(e)
    np.fill_diagonal(d, 0.0)
    expected = scipy_linkage(squareform(d, checks=False), how)[:, 2]
    assert np.allclose(np.sort(expected)[10:], heights, rtol=1e-12, atol=1e-12)
    assert np.allclose(np.sort(expected)[:10], 0.0, atol=1e-12)


def naive_average(d: np.ndarray, k: int) -> list[set[int]]:
    """Average linkage by the definition: the mean over the pairs that are known."""
    clusters = [{i} for i in range(len(d))]
    while len(clusters) > k:
        _, i, j = min(
            (np.nanmean([[d[x, y] for x in clusters[i]] for y in clusters[j]]), i, j)
            for i, j in itertools.combinations(range(len(clusters)), 2)
        )
        clusters[i] |= clusters[j]
        del clusters[j]
    return clusters


def test_average_linkage_with_gaps_is_the_mean_over_known_pairs():
    """With members that miss points, pairs count by the share of the members that have both."""
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=24)
    members = [
        np.where(rng.random(24) < 0.25, np.nan, np.where(rng.random(24) < 0.2, rng.integers(3, size=24), truth))
        for _ in range(12)
    ]
    e = cg.Ensemble(members, unassigned="partial", member_weight=rng.random(12))
    found = cg.consensus(e, 3, "average").labels
    expected = np.empty(24, int)
    for c, points in enumerate(naive_average(distances(e), 3)):
        expected[list(points)] = c
    assert same(found, expected)


@pytest.mark.parametrize("how", ["average", "single", "complete"])
@pytest.mark.parametrize("k", [2, 3, 5, 11])
def test_linkage_gives_exactly_k_clusters(how, k):
    """Ties do not lose clusters: heights are multiples of 1/3 here, and most are equal."""
    members = np.random.default_rng(0).integers(3, size=(3, 40))
    assert cg.consensus(list(members), k, how).n_clusters == k


def test_the_number_that_lives_longest():
    """Linkage without a number of clusters takes the one with the longest lifetime, with a note."""
    truth, members = planted(0.1, n=200, k=4)
    r = cg.consensus(members, method="average")
    assert same(r.labels, truth)
    assert any("n_clusters = 4: the longest dendrogram lifetime" in note for note in r.notes)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", *ALL])
def test_without_a_number_of_clusters(method):
    """Every method finds one: what most members have, or the longest lifetime, or for linkage always that; and says so."""
    truth, members = planted(0.1, n=200, k=4)
    r = cg.consensus(members, method=method, random_state=0)
    assert r.n_clusters == 4
    assert any(note.startswith("n_clusters = 4: ") for note in r.notes)
    rng = np.random.default_rng(0)
    finer = [truth + 4 * ((truth < split) & (rng.random(200) < 0.5)) for split in (0, 0, 1, 2, 3, 4)]  # 4 to 8 clusters
    r = cg.consensus(finer, method=method, random_state=0)
    assert any("longest dendrogram lifetime" in note for note in r.notes)
    assert r.n_clusters == 4


# --- eigenvectors, k-means, votes -------------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [False, True])
def test_eigenvectors_are_those_of_the_whole_graph(gaps):
    """hbgf: those of the bipartite graph, points + clusters; ncut: those of the consensus matrix. Both dense, by definition."""
    rng = np.random.default_rng(1)
    members = rng.integers(3, size=(6, 30)).astype(float)
    if gaps:
        members[rng.random(members.shape) < 0.2] = np.nan
    members[:, 25:] = members[:, :5]
    e = cg.Ensemble(list(members), unassigned="partial", member_weight=rng.random(6))
    votes = evidence(e)
    h = votes.votes.toarray()[votes.row]  # one row per point
    a = votes.share[votes.member]
    edges = h * a
    graph = np.block([[np.zeros((30, 30)), edges], [edges.T, np.zeros((len(a), len(a)))]])
    root = 1 / np.sqrt(graph.sum(axis=1))
    dense = eigh(graph * root[:, None] * root)[1][:, -4:] * root[:, None]
    _, left, right, _ = eigenvectors(votes, 1 / np.sqrt(votes.seen_share), np.sqrt(a / votes.sizes), 4, rng)
    ours = np.vstack([left[votes.row] * root[:30, None], right * root[30:, None]])
    assert subspace_angles(dense, ours).max() < 1e-6
    m = (h * a) @ h.T
    root = 1 / np.sqrt(m.sum(axis=1))
    dense = eigh(m * root[:, None] * root)[1][:, -4:]
    _, left, _, _ = eigenvectors(votes, 1 / np.sqrt(degrees(votes)), np.sqrt(a), 4, rng)
    assert np.allclose(degrees(votes)[votes.row], m.sum(axis=1), rtol=1e-12)
    assert subspace_angles(dense, left[votes.row]).max() < 1e-6


def test_many_clusters_go_without_the_gram_matrix(monkeypatch):
    """Above the limit of the clusters × clusters matrix, Lanczos iteration gives the same clusters."""
    truth, members = planted(0.2, n=300, k=4)
    small = cg.consensus(members, 4, "hbgf", random_state=0)
    monkeypatch.setattr("congruence.consensus_clustering.spectral.GRAM_LIMIT", 10)
    large = cg.consensus(members, 4, "hbgf", random_state=0)
    assert "ARPACK" in large.solver
    assert "ARPACK" not in small.solver
    assert same(small.labels, large.labels)
    assert same(large.labels, truth)


@pytest.mark.parametrize("soft", [False, True])
def test_the_error_of_kcc_is_the_squared_error(soft):
    """The objective is Σ |h − centre|² over the points, with member weights; checked on the dense votes."""
    rng = np.random.default_rng(0)
    if soft:
        e = cg.Ensemble(
            [cg.Memberships(rng.dirichlet([0.3] * 3, size=20)) for _ in range(4)], member_weight=[1, 2, 1, 1]
        )
    else:
        e = cg.Ensemble(list(rng.integers(3, size=(6, 40))), member_weight=rng.random(6))
    r = cg.consensus(e, 3, "kcc", random_state=0)
    votes = evidence(e)
    h = votes.votes.toarray()[votes.row] * np.sqrt(votes.share[votes.member])
    error = sum(((h[r.labels == c] - h[r.labels == c].mean(axis=0)) ** 2).sum() for c in range(3))
    assert r["value"] == pytest.approx(error, rel=1e-9)


def test_kcc_counts_only_what_is_seen():
    """With gaps the centre in a member is the mean over the points it has, and a gap costs nothing."""
    e = cg.Ensemble([[0, 0, 1, 1, np.nan], [0, 1, 1, np.nan, 1]], unassigned="partial")
    votes = evidence(e)
    labels = np.array([0, 0, 1, 1, 1])
    group = np.empty(votes.n_rows, int)
    group[votes.row] = labels
    cost = votes.scores(squared_error(votes, votes.totals(group, 2)))[votes.row]
    # point 0 in cluster 0: member 0 puts both of its points together (0), member 1 splits them: (1 − ½)² + ½²
    assert cost[0, 0] == pytest.approx((0 + 0.5) / 2)
    # point 4 in cluster 1: only member 1 has it, and all of that cluster's points it has are together
    assert cost[4, 1] == pytest.approx(0.0)
    assert cost[4, 0] == pytest.approx(0.5 / 2)


def test_kmodes_counts_labels_that_are_not_the_mode():
    """Its objective is the mean number of members that differ from the commonest label of the cluster, summed over points."""
    rng = np.random.default_rng(3)
    members = rng.integers(3, size=(5, 30))
    r = cg.consensus(list(members), 3, "kmodes", random_state=0)
    off = sum(
        (row[r.labels == c] != np.bincount(row[r.labels == c]).argmax()).sum() for row in members for c in range(3)
    )
    assert r["value"] == pytest.approx(off / 5)


def test_columns_are_merged_by_the_information_they_lose():
    """The loss of a merge is (p_i + p_j) · JS, and the pair with the smallest goes first."""
    rng = np.random.default_rng(0)
    mean, mass = rng.dirichlet([1, 1, 1, 1], size=15), rng.integers(1, 4, size=15).astype(float)
    p = mean * (mass / mass.sum())[:, None]

    def entropy(x):
        return -(x[x > 0] * np.log(x[x > 0])).sum()

    def loss(i, j):
        a, b = p[:, i].sum(), p[:, j].sum()
        mixed = (p[:, i] + p[:, j]) / (a + b)
        js = entropy(mixed) - (a * entropy(p[:, i] / a) + b * entropy(p[:, j] / b)) / (a + b)
        return (a + b) * js

    best = min(itertools.combinations(range(4), 2), key=lambda pair: loss(*pair))
    columns, lost = merged(mean, mass, 3)
    assert lost == pytest.approx(loss(*best), rel=1e-9)
    assert columns.shape == (15, 3)
    assert np.allclose(columns.sum(axis=1), p.sum(axis=1))


def test_meta_clusters():
    """Edges are Jaccard indices; a point's association is the mean over the clusters of members that have it."""
    e = strehl()
    votes = evidence(e)
    h = votes.votes.toarray()[votes.row]
    j = jaccard(votes)
    for u, v in itertools.permutations(range(h.shape[1]), 2):
        assert j[u, v] == pytest.approx((h[:, u] * h[:, v]).sum() / np.maximum(h[:, u], h[:, v]).sum())
    assert not j.diagonal().any()
    meta = np.arange(h.shape[1]) % 3
    seen = votes.seen[votes.row][:, votes.member]
    for c in range(3):
        inside = (h * (meta == c)).sum(axis=1)
        could = (seen * (meta == c)).sum(axis=1)
        expected = np.divide(inside, could, out=np.zeros(7), where=could > 0)
        assert np.allclose(association(votes, meta, 3)[votes.row][:, c], expected)


def test_voting_does_not_need_members_of_k_clusters():
    """Members with too many clusters vote many to one; the start is then kcc's, and the solver says so."""
    truth, members = planted(0.1, n=300, k=3)
    split = [m * 2 + np.random.default_rng(i).integers(2, size=300) for i, m in enumerate(members)]
    r = cg.consensus(split, 3, "voting", random_state=0)
    assert same(r.labels, truth)
    assert "kcc" in r.solver


# --- what comes back --------------------------------------------------------------------------------------------


def test_the_share_of_the_votes():
    """For each member the share of the point's cluster there that went its way; mean over the members that have it."""
    e = strehl()
    r = cg.consensus(e, 3, "ncut", random_state=0)
    for i in range(7):
        shares = []
        for c in e:
            if c.codes[i] < c.k:
                own = c.codes == c.codes[i]
                shares.append((r.labels[own] == r.labels[i]).mean())
        assert r.vote_share[i] == pytest.approx(np.mean(shares))
    assert np.allclose(r.memberships.sum(axis=1), 1)


def test_clusters_are_numbered_from_the_largest():
    """Label 0 is the largest cluster."""
    _, members = planted(0.1, n=400, k=4, p=[0.1, 0.4, 0.2, 0.3])
    sizes = np.bincount(cg.consensus(members, 4, "kcc", random_state=0).labels)
    assert sizes.tolist() == sorted(sizes.tolist(), reverse=True)


def test_the_scores():
    """One row per method, the highest pooled AMI first; scores are those of the registry; the best is refined and kept.

    Members that err independently keep voting instead; the others follow by pooled AMI.
    """
    _, members = planted(0.5, n=200, k=3, members=6)
    finer = [m * 2 + np.random.default_rng(i).integers(2, size=200) for i, m in enumerate(members)]
    r = cg.consensus(finer, 3, random_state=0)
    plain = r.scores[~r.scores["refined"]]
    assert set(plain["method"]) == {"hbgf", "ncut", "average"}  # none has 3 clusters to match
    assert plain["pooled_ami"].is_monotonic_decreasing
    assert r.method == plain["method"].iloc[0]
    r = cg.consensus(members, 3, random_state=0)
    plain = r.scores[~r.scores["refined"]]
    assert set(plain["method"]) == {"hbgf", "ncut", "average", "voting"}
    assert r.method == plain["method"].iloc[0] == "voting"
    assert plain["pooled_ami"].iloc[1:].is_monotonic_decreasing
    assert r["arimp"] == pytest.approx(cg.arimp(cg.Ensemble(members), r.labels), rel=1e-12)
    assert r["anmi"] == pytest.approx(cg.anmi(cg.Ensemble(members), r.labels), rel=1e-12)
    assert r.method == r.scores["method"].iloc[0]
    with pytest.raises(KeyError, match="there is no score 'ari'"):
        r["ari"]


def test_frames_in_and_out():
    """A pandas frame of labels keeps its index, a polars frame gives polars back."""
    frame = pd.DataFrame({"x": [0, 0, 1, 1], "y": ["a", "a", "b", "b"]}, index=list("pqrs"))
    r = cg.consensus(frame, 2, "kcc", random_state=0)
    assert r.to_frame().index.tolist() == list("pqrs")
    assert isinstance(cg.consensus(pl.DataFrame(frame), 2, "kcc").to_frame(), pl.DataFrame)
    assert isinstance(cg.consensus(pl.DataFrame(frame), 2, "kcc").scores, pl.DataFrame)
    assert r.to_dict()["labels"] == r.labels.tolist()
    assert "mean confidence 1.000" in repr(r)


# --- strange ensembles ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL)
def test_strange_ensembles_are_decided(method):
    """One cluster asked for, one member, equal members, all singletons, more clusters than kinds of points."""
    one = cg.consensus([[0, 0, 1, 2]], 1, method)
    assert (one.n_clusters, one.labels.tolist()) == (1, [0, 0, 0, 0])
    alone = cg.consensus([[0, 0, 1, 2, 2, 2]], 3, method, random_state=0)
    assert same(alone.labels, [0, 0, 1, 2, 2, 2])
    equal = cg.consensus([[0, 0, 1, 1, 2]] * 4, 3, method, random_state=0)
    assert same(equal.labels, [0, 0, 1, 1, 2])
    assert np.allclose(equal.confidence, 1)
    apart = cg.consensus([np.arange(6), np.arange(6)[::-1]], 3, method, random_state=0)
    assert 1 <= apart.n_clusters <= 3
    every = cg.consensus([np.arange(6), np.arange(6)[::-1]], 6, method, random_state=0)
    assert every.n_clusters == 6
    fewer = cg.consensus([[0, 0, 1, 1], [0, 0, 1, 1]], 3, method)
    assert fewer.n_clusters == 2
    assert any(
        "3 clusters were requested, but 2 were found" in note and "2 kinds of points" in note for note in fewer.notes
    )


@pytest.mark.parametrize("k", [0, 5, -1, 2.5, True, "3"])
def test_impossible_numbers_are_refused(k):
    """The number of clusters is a whole number from 1 to the number of points."""
    with pytest.raises(cg.InputError, match="n_clusters must be a whole number from 1 to the number of points"):
        cg.consensus([[0, 0, 1, 1]], k)


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL)
def test_a_frequency_is_the_point_so_many_times(method):
    """frequency=2 is the point twice."""
    _, members = planted(0.3, n=60, k=3, members=8, seed=4)
    often = np.random.default_rng(0).integers(1, 4, size=60)
    weighted = cg.Ensemble(members, frequency=often)
    repeated = cg.Ensemble([np.repeat(m, often) for m in members])
    first = cg.consensus(weighted, 3, method, random_state=0, solver="builtin").labels
    assert same(np.repeat(first, often), cg.consensus(repeated, 3, method, random_state=0, solver="builtin").labels)


@pytest.mark.parametrize("method", [m for m in ALL if m != "hgpa"])
def test_crisp_memberships_are_labels(method):
    """Memberships of 0 and 1 give the clusters that the labels give."""
    _, members = planted(0.15, n=90, k=3, members=8, seed=2)
    crisp = [cg.Memberships((m[:, None] == np.unique(m)).astype(float)) for m in members]
    labels = cg.consensus(members, 3, method, random_state=0, solver="builtin").labels
    assert cg.ari(labels, cg.consensus(crisp, 3, method, random_state=0, solver="builtin").labels) > 0.8


@pytest.mark.parametrize("method", ALL)
def test_members_that_count_for_nothing_do_not(method):
    """A member of weight 0 has no effect; a weight of 2 is the member twice."""
    _, members = planted(0.2, n=80, k=3, members=6)
    nonsense = np.random.default_rng(9).integers(3, size=80)
    with_it = cg.Ensemble([*members, nonsense], member_weight=[1] * 6 + [0])
    assert same(
        cg.consensus(with_it, 3, method, random_state=0, solver="builtin").labels,
        cg.consensus(members, 3, method, random_state=0, solver="builtin").labels,
    )


def test_points_that_no_member_has():
    """They get −1 and no confidence, or, by option, the cluster of the nearest point in the data."""
    members = [[0, 0, 1, 1, np.nan], [0, np.nan, 1, 1, np.nan]]
    e = cg.Ensemble(members, unassigned="partial")
    r = cg.consensus(e, 2, "ncut", random_state=0)
    assert r.labels.tolist() == [0, 0, 1, 1, -1] or r.labels.tolist() == [1, 1, 0, 0, -1]
    assert np.isnan(r.confidence[4])
    assert any("in no member, and so without a cluster (label −1): 1 point" in note for note in r.notes)
    near = cg.consensus(e, 2, "ncut", random_state=0, unseen="nearest", X=[[0], [1], [8], [9], [7]])
    assert near.labels[4] == near.labels[2]
    with pytest.raises(cg.InputError, match="needs the data: pass X="):
        cg.consensus(e, 2, "ncut", unseen="nearest")


def test_limits_are_said_before_the_work_starts(monkeypatch):
    """A method that compares each two points refuses too many of them, and names methods that take them."""
    members = list(np.random.default_rng(0).integers(50, size=(4, 6000)))
    with pytest.raises(
        cg.InputError, match=r"up to 5,000 points, but there are [56],[0-9]+; methods without that limit: hbgf"
    ):
        cg.consensus(members, 3, "cspa")


def test_names_and_options_that_are_not_there():
    """Near names are offered; variants belong to their methods; a list must name something."""
    runs = [[0, 0, 1, 1], [0, 1, 1, 1]]
    with pytest.raises(cg.InputError, match="did you mean mcla"):
        cg.consensus(runs, 2, "mclaa")
    with pytest.raises(cg.InputError, match=r"kcc has no variants; got 'metis'"):
        cg.consensus(runs, 2, "kcc", variant="metis")
    with pytest.raises(cg.InputError, match="no method was named"):
        cg.consensus(runs, 2, [])


# --- selection --------------------------------------------------------------------------------------------------


def test_selection_of_members():
    """Quality takes the most central; diversity and one of each kind take members of both camps."""
    _, good = planted(0.1, n=200, k=3, members=6)
    _, other = planted(0.1, n=200, k=3, members=4, seed=8)
    names = [f"good {i}" for i in range(6)] + [f"other {i}" for i in range(4)]
    e = cg.Ensemble([*good, *other], names=names)
    agreement = cg.member_agreement(e, "nmi_sqrt")
    assert set(cg.select_members(e, 5, "quality").names) == set(list(agreement)[:5])
    for by in ("diversity", "cluster"):
        chosen = cg.select_members(e, 2, by, random_state=0).names
        assert {name.split()[0] for name in chosen} == {"good", "other"}
    assert cg.select_members(e, 3, "joint", alpha=1.0).names == cg.select_members(e, 3, "quality").names
    assert cg.select_members(e, 10, "cluster").names == e.names
    with pytest.raises(cg.InputError, match="did you mean quality"):
        cg.select_members(e, 3, "qualty")
    with pytest.raises(cg.InputError, match="not by vi"):
        cg.select_members(e, 3, measure="vi")


# --- the estimator ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_estimator_in_a_pipeline():
    """It clusters wine after scaling, clones, and gives what `consensus` of the same members gives."""
    X, y = load_wine(return_X_y=True)
    model = cg.ConsensusClustering(3, generator="kmeans", n_members=20, random_state=0)
    found = make_pipeline(StandardScaler(), clone(model)).fit_predict(X)
    assert cg.ari(y, found) > 0.8
    fitted = model.fit(StandardScaler().fit_transform(X))
    assert np.array_equal(fitted.labels_, found)
    assert fitted.confidence_.shape == (178,)
    assert fitted.n_clusters_ == 3
    again = cg.ConsensusClustering(3, method=fitted.consensus_.method, random_state=0).fit(fitted.ensemble_)
    assert cg.ari(again.labels_, found) > 0.9


def test_the_estimator_takes_label_columns():
    """Arrays with NaN, frames of words, ensembles; a function as generator."""
    labels = np.array([[0, 1, 0], [0, 1, np.nan], [1, 0, 0], [1, 0, 1]])
    assert same(cg.ConsensusClustering(2, method="average").fit_predict(labels), [0, 0, 1, 1])
    words = pd.DataFrame({"a": list("xxyy"), "b": list("uuvv")})
    assert same(cg.ConsensusClustering(2, method="kcc").fit_predict(words), [0, 0, 1, 1])
    assert same(cg.ConsensusClustering(2, method="kcc").fit_predict(cg.Ensemble(words)), [0, 0, 1, 1])
    made = cg.ConsensusClustering(2, generator=lambda X, seed: [X[:, 0] > 0, X[:, 0] > 1], method="kcc")
    assert same(made.fit_predict(np.array([[-1.0], [-2], [3], [4]])), [0, 0, 1, 1])
    with pytest.raises(cg.InputError, match="leave the generator out"):
        made.fit(cg.Ensemble(words))


def test_data_in_another_order_are_refused():
    """Points in no member get the cluster of the nearest row; rows in another order would be other points."""
    names = list("abcdef")
    labels = pd.DataFrame({"x": [0, 0, 0, 1, 1, None], "y": [0, 0, 0, 1, 1, None]}, index=names)
    X = pd.DataFrame({"at": [0.0, 0.1, 0.2, 9.0, 9.1, 9.2]}, index=names)
    e = cg.Ensemble(labels, unassigned="partial")
    assert cg.consensus(e, 2, "kcc", unseen="nearest", X=X).labels.tolist() == [0, 0, 0, 1, 1, 1]
    with pytest.raises(cg.InputError, match="index of X"):
        cg.consensus(e, 2, "kcc", unseen="nearest", X=X[::-1])
    with pytest.raises(cg.InputError, match="n_init"):
        cg.consensus(e, 2, "kcc", n_init=2.5)


def test_the_most_central_member_with_many_clusters(monkeypatch):
    """Where the clusters are too many for tables side by side, members are encoded once, and the same one is central."""
    from congruence.consensus_clustering import evidence as module

    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 80)
    runs = [np.where(rng.random(80) < 0.1 * i, rng.integers(0, 3, 80), truth).astype(float) for i in range(5)]
    gaps = np.where(rng.random(80) < 0.2, np.nan, truth)
    votes = evidence(cg.Ensemble([*runs, gaps], unassigned="partial"))
    by_tables, made = module.medoid(votes, 3), []
    monkeypatch.setattr(module, "GRAM_LIMIT", 0)
    monkeypatch.setattr(module, "Ensemble", lambda *a, own=module.Ensemble, **o: made.append(own(*a, **o)) or made[-1])
    assert np.array_equal(module.medoid(votes, 3), by_tables)
    assert len(made) == 1
