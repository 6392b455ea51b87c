"""Methods of consensus clustering, compared with slow definitions."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from consensus_cases import ALL, planted, same, strehl, taken_by
from scipy.cluster.hierarchy import fcluster
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.linalg import eigh, subspace_angles
from scipy.spatial.distance import squareform

import congruence as cg
from congruence.consensus_clustering import linkage
from congruence.consensus_clustering.alternating import squared_error
from congruence.consensus_clustering.cumulative import merged
from congruence.consensus_clustering.evidence import evidence
from congruence.consensus_clustering.spectral import degrees, eigenvectors
from congruence.consensus_clustering.strehl import association, jaccard
from congruence.inputs.coerce import as_clustering

#: methods that the noise of the planted ensembles does not disturb
STURDY = ("hbgf", "ncut", "kcc", "mcla", "voting", "average")


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
    first = cg.consensus(members, 4, method, random_state=1, **taken_by(method, solver="builtin")).labels
    order = rng.permutation(120)
    renamed = []
    for m in (members[i] for i in rng.permutation(9)):
        names = rng.permutation(np.unique(m))
        renamed.append([f"c{names[np.searchsorted(np.unique(m), x)]}" for x in m[order]])
    again = cg.consensus(renamed, 4, method, random_state=1, **taken_by(method, solver="builtin")).labels
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


# --- linkage ---------------------------------------------------------------------------------------------------------


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
    members[:, 30:] = members[:, :10]  # ten signatures represent two points each
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


def test_the_number_with_the_longest_lifetime():
    """Linkage without a number of clusters takes the one with the longest lifetime, with a note."""
    truth, members = planted(0.1, n=200, k=4)
    r = cg.consensus(members, method="average")
    assert same(r.labels, truth)
    assert any("n_clusters = 4: the longest dendrogram lifetime" in note for note in r.notes)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", *ALL])
def test_without_a_number_of_clusters(method):
    """Every method chooses k: what most members have, or the longest lifetime (for linkage always that), with a note."""
    truth, members = planted(0.1, n=200, k=4)
    r = cg.consensus(members, method=method, random_state=0)
    assert r.n_clusters == 4
    assert any(note.startswith("n_clusters = 4: ") for note in r.notes)
    rng = np.random.default_rng(0)
    finer = [truth + 4 * ((truth < split) & (rng.random(200) < 0.5)) for split in (0, 0, 1, 2, 3, 4)]  # 4 to 8 clusters
    r = cg.consensus(finer, method=method, random_state=0)
    why = "merged while most members would" if method == "agglomerative" else "longest dendrogram lifetime"
    assert any(why in note for note in r.notes)
    assert r.n_clusters == 4


def test_no_more_clusters_than_a_member_and_no_single_points():
    """Without a number of clusters: at most those of the member with most, and a point that members put alone joins a cluster."""
    rng = np.random.default_rng(0)
    unrelated = [rng.integers(0, 2 + i % 5, 300) for i in range(12)]
    assert cg.consensus(unrelated, random_state=0).n_clusters <= 6
    base = np.repeat([0, 1, 2], 40)
    members = [
        np.where(np.arange(120) == (7 if i % 2 else 60), 3 + i, base + 9 * (rng.random(120) < 0.03)) for i in range(9)
    ]
    found = cg.consensus(members, random_state=0)
    assert np.bincount(found.labels).min() > 1
    assert cg.ari(found.labels, base) > 0.9
    assert cg.consensus([[0, 1, 2, 3]] * 3, random_state=0).n_clusters == 4  # nothing else is known


# --- eigenvectors, k-means, votes ------------------------------------------------------------------------------------


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
    _, left, right, _ = eigenvectors(votes, 1 / np.sqrt(votes.seen_share), np.sqrt(a / votes.sizes), 4)
    ours = np.vstack([left[votes.row] * root[:30, None], right * root[30:, None]])
    assert subspace_angles(dense, ours).max() < 1e-6
    m = (h * a) @ h.T
    root = 1 / np.sqrt(m.sum(axis=1))
    dense = eigh(m * root[:, None] * root)[1][:, -4:]
    _, left, _, _ = eigenvectors(votes, 1 / np.sqrt(degrees(votes)), np.sqrt(a), 4)
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
    """Its objective is the mean number of members that differ from the most frequent label of the cluster, summed over points."""
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


def test_kmeans_matrix_is_kmeans_on_the_rows_of_the_consensus_matrix():
    """Its objective is the squared error of the rows of the n × n matrix, which it does not build."""
    rng = np.random.default_rng(0)
    members = [np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), np.arange(60) % 3) for _ in range(9)]
    found = cg.consensus(members, 3, "kmeans_matrix", random_state=0)
    rows = cg.Ensemble(members).consensus_matrix()
    centres = np.array([rows[found.labels == c].mean(axis=0) for c in range(3)])
    error = ((rows - centres[found.labels]) ** 2).sum()
    assert found.scores["value"].iloc[0] == pytest.approx(error, rel=1e-9)
    assert cg.ari(found.labels, np.arange(60) % 3) > 0.9


def test_em_finds_the_truth_among_random_members():
    """Its objective is a log-likelihood; four good members outweigh six random ones."""
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 3
    good = [np.where(rng.random(90) < 0.15, rng.integers(0, 3, 90), truth) for _ in range(4)]
    bad = [rng.integers(0, 4, 90) for _ in range(6)]
    found = cg.consensus([*good, *bad], 3, "em", random_state=0)
    assert cg.ari(found.labels, truth) > 0.8
    assert found.scores["value"].iloc[0] < 0


def disagreement(labels, members):
    """The mean Mirkin distance to the members as a share of the pairs, from the definition."""
    i, j = np.triu_indices(len(labels), 1)
    together = labels[i] == labels[j]
    return np.mean([(together != (m[i] == m[j])).mean() for m in members])


def separated(members):
    """The share of the members that separate each pair of points."""
    return np.mean([m[:, None] != m[None, :] for m in members], axis=0)


def naive_balls(members, alpha):
    """The algorithm of Gionis et al. on the n × n matrix; equal points stay together, also where the ball is refused."""
    d = separated(members)
    left = list(np.argsort(np.round(d.sum(axis=1), 9), kind="stable"))
    labels = np.zeros(len(d), int)
    while left:
        v = left[0]
        near = [u for u in left if u != v and d[u, v] <= 0.5]
        ball = [v, *(near if near and np.mean(d[v, near]) <= alpha else [u for u in near if d[u, v] == 0])]
        labels[ball] = labels.max() + 1
        left = [u for u in left if u not in ball]
    return labels


@pytest.mark.parametrize(("variant", "alpha"), [("practical", 0.4), ("proven", 0.25)])
@pytest.mark.parametrize("seed", range(3))
def test_balls_are_those_of_the_paper(variant, alpha, seed):
    """The clusters are those of the algorithm on the n × n matrix, and the value is the share of pairs in disagreement."""
    _, members = planted(0.35, n=60, k=3, members=7, seed=seed)
    votes = evidence(cg.Ensemble(members))
    found = linkage.balls(votes, None, np.random.default_rng(0), variant=variant)
    labels = found.labels[votes.row]
    order = np.concatenate([np.flatnonzero(votes.row == r) for r in range(votes.n_rows)])  # equal sums: by content
    expected = naive_balls([m[order] for m in members], alpha)
    assert same(labels[order], expected)
    assert found.objective == pytest.approx(disagreement(labels, members), rel=1e-12)


def test_agglomeration_merges_while_most_members_would():
    """It is average linkage cut at one half, finds the number of clusters, and disagrees less than the members do."""
    truth, members = planted(0.2, n=90, k=3, members=9, seed=1)
    found = cg.consensus(members, method="agglomerative", random_state=0)
    merges = scipy_linkage(squareform(separated(members), checks=False), "average")
    expected = fcluster(merges, 0.5 - 1e-9, "distance")
    sizes = np.bincount(expected)
    kept = sizes[expected] > 1  # single points join the cluster with most of their votes
    assert found.n_clusters == (sizes > 1).sum() == 3
    assert same(found.labels[kept], expected[kept])
    assert found["value"] <= min(disagreement(m, members) for m in members)
    assert cg.ari(found.labels, truth) == 1


def test_balls_refuse_a_number_of_clusters():
    """A number that would have no effect is refused by name."""
    with pytest.raises(cg.InputError, match="balls finds the number of clusters itself; leave out n_clusters"):
        cg.consensus([[0, 0, 1, 1], [0, 0, 1, 1]], 2, "balls")
