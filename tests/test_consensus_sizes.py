"""Consensus of odd sizes: no points, one cluster, as many clusters as points, hundreds of clusters; ties and notes."""

import numpy as np
import pytest
from consensus_cases import ALL, BASE, N, gappy, memberships, noisy

import congruence as cg
from congruence.consensus_clustering import alternating
from congruence.consensus_clustering import cumulative as cumulating
from congruence.consensus_clustering import evidence as evidence_module
from congruence.consensus_clustering import linkage as by_linkage
from congruence.consensus_clustering.cumulative import merged
from congruence.consensus_clustering.evidence import GRAM_LIMIT, evidence, medoid
from congruence.consensus_clustering.partition import partition_graph
from congruence.errors import InputError


@pytest.mark.parametrize("method", ALL)
def test_a_member_without_points_says_nothing(method):
    """It changes neither the clusters nor the scores, with any weight."""
    rng = np.random.default_rng(0)
    members, nothing = [noisy(rng) for _ in range(5)], np.full(N, np.nan)
    alone = cg.consensus(members, 3, method, 0)
    for weight in (1, 0):
        e = cg.Ensemble([*members, nothing], unassigned="partial", member_weight=[1] * 5 + [weight])
        r = cg.consensus(e, 3, method, 0)
        assert cg.ari(r.labels, alone.labels) == 1
        assert r["anmi"] == pytest.approx(alone["anmi"])


@pytest.mark.slow
def test_points_in_no_member():
    """They get −1 and no confidence, or the nearest point's cluster; with nothing at all there is one line."""
    rng = np.random.default_rng(0)
    members = np.array([gappy(rng, 0.1) for _ in range(5)])
    members[:, :2] = np.nan
    e = cg.Ensemble(members.T, unassigned="partial")
    for method in ALL:
        r = cg.consensus(e, 3, method, 0)
        assert r.labels[:2].tolist() == [-1, -1]
        assert r.labels[2:].min() == 0
        assert np.isnan(r.confidence[:2]).all()
        assert np.isfinite([r["arimp"], r["anmi"]]).all()
    near = cg.consensus(e, 3, "hbgf", 0, unseen="nearest", X=BASE[:, None] + np.zeros((N, 2)))
    assert near.labels[0] == near.labels[1] >= 0
    nothing = cg.Ensemble(np.full((4, 2), np.nan), unassigned="partial")
    with pytest.raises(InputError, match="so there is no consensus"):
        cg.consensus(nothing, 2)
    halves = np.full((4, 2), np.nan)
    halves[:2] = [[0, 1], [1, 1]]
    with pytest.raises(InputError, match="so there is no consensus"):
        cg.consensus(cg.Ensemble(halves, unassigned="partial", sample_weight=[0, 0, 1, 1]), 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", ALL)
def test_k_of_one_and_of_all(method):
    """k = 1 is one cluster; k above the kinds of points gives each kind one, and says so."""
    rng = np.random.default_rng(0)
    members = [noisy(rng) for _ in range(4)]
    kinds = len(np.unique(np.array(members), axis=1).T)
    assert cg.consensus(members, 1, method).n_clusters == 1
    r = cg.consensus(members, N, method)
    assert r.n_clusters == kinds < N
    assert f"only {kinds} kinds of points" in " ".join(r.notes)
    assert cg.consensus([np.arange(N)] * 2, N, method).n_clusters == N
    assert cg.consensus([np.zeros(N, int)] * 2, 3, method).n_clusters == 1
    assert cg.ari(cg.consensus([BASE], 3, method, 0).labels, BASE) == 1
    assert cg.ari(cg.consensus([BASE] * 4, 3, method, 0).labels, BASE) == 1
    singletons = cg.consensus([np.arange(N)] * 3, 3, method, 0)
    assert 1 <= singletons.n_clusters <= 3
    assert cg.consensus([[0], [0]], 1, method).labels.tolist() == [0]
    assert sorted(cg.consensus([[0, 1], [0, 0]], 2, method).labels.tolist()) == [0, 1]


@pytest.mark.slow
def test_auto_leaves_out_what_cannot_run():
    """With many members and clusters auto uses Lanczos iteration, and mcla refuses before anything starts."""
    rng = np.random.default_rng(0)
    members = rng.integers(0, 60, (120, 130))
    assert sum(len(np.unique(c)) for c in members.T) > GRAM_LIMIT
    r = cg.consensus(members, 3, random_state=0, n_init=1)
    assert {row["method"] for row in r.tried} == {"hbgf", "ncut", "average"}
    assert any("ARPACK" in row["solver"] for row in r.tried)
    with pytest.raises(InputError, match="mcla compares all pairs of clusters"):
        cg.consensus(members, 3, ["hbgf", "mcla"], progress=_never)
    assert "no complete member" in cg.consensus(members, 3, "voting", 0, n_init=1).solver


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kcc", "kmodes", "voting"])
def test_hundreds_of_clusters_start_at_a_member(method):
    """With very many clusters random starts fail, so the most central member with that many is the start."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(2000) % 250)
    members = [np.where(rng.random(2000) < 0.2, rng.integers(0, 250, 2000), truth) for _ in range(7)]
    r = cg.consensus(members, 250, method, 0)
    assert "started from the most central member" in r.solver
    assert cg.ari(r.labels, truth) > max(cg.ari(m, truth) for m in members) + 0.1


def test_the_most_central_member_is_found_by_tables_or_by_points(monkeypatch):
    """The member with the highest mean ARI, weighted, with gaps in others, for every way of counting."""
    rng = np.random.default_rng(3)
    members = [
        np.where(rng.random(N) < noise, rng.integers(0, 3, N), BASE).astype(float) for noise in (0.6, 0.1, 0.4, 0.7)
    ]
    members[3][:20] = np.nan
    times = rng.integers(1, 4, N)
    for mass in ({"frequency": times}, {"sample_weight": times + 0.5}):
        v = evidence(cg.Ensemble(members, unassigned="partial", **mass))
        by_tables = medoid(v, 3)
        assert cg.ari(by_tables[v.row], members[1]) == 1.0
        with monkeypatch.context() as patch:
            patch.setattr(evidence_module, "GRAM_LIMIT", 0)
            assert medoid(v, 3).tolist() == by_tables.tolist()
    assert medoid(v, 7) is None


@pytest.mark.parametrize("k", [3, 4, 7, 12])
@pytest.mark.parametrize("method", ["kcc", "kmodes"])
def test_the_most_central_member_is_a_start_at_any_k(method, k, monkeypatch):
    """With as many, fewer or more clusters than requested, it is one of the starts, and the cheaper result is kept."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(7), 30)
    members = [np.where(rng.random(210) < 0.2, rng.integers(0, 7, 210), truth) for _ in range(6)]
    both = cg.consensus(members, k, method, 0, n_init=1)
    assert both.n_clusters == k
    monkeypatch.setattr(alternating, "medoid", lambda *_: None)
    at_random = cg.consensus(members, k, method, 0, n_init=1)
    assert "central" not in at_random.solver
    assert both["value"] <= at_random["value"]
    assert ("central" in both.solver) == (both["value"] < at_random["value"])


@pytest.mark.parametrize("method", ["kcc", "kmodes"])
def test_a_start_at_a_finer_member_can_be_the_cheapest(method):
    """Noisy copies of seven groups, five requested: the start at a member beats one random start."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(7), 30)
    members = [np.where(rng.random(210) < 0.2, rng.integers(0, 7, 210), truth) for _ in range(6)]
    kept = [cg.consensus(members, 5, method, seed, n_init=1).solver for seed in range(6)]
    assert any("most central member" in solver for solver in kept)


def _never(done, total):
    raise AssertionError("a method was begun")


def test_weights_of_an_ensemble_reach_the_comparison():
    """compare_to takes the weights of the points from an ensemble, as compare_all does."""
    times = [3, 1, 2, 1]
    labels = [[0, 0, 1, 1], [0, 1, 1, 1]]
    e = cg.Ensemble(labels, frequency=times)
    expected = cg.compare_to([0, 1, 0, 1], labels, ["ari", "nmi_sum"], frequency=times)
    found = cg.compare_to([0, 1, 0, 1], e, ["ari", "nmi_sum"])
    assert found["ari"].tolist() == expected["ari"].tolist()
    assert found["ari"].tolist() != cg.compare_to([0, 1, 0, 1], labels, "ari")["ari"].tolist()


def test_members_of_very_many_clusters():
    """With some all-singleton members, average linkage by a matrix equals that by profiles, and cumulative voting ends."""
    rng = np.random.default_rng(0)
    e = cg.Ensemble([np.arange(N), *(memberships(rng) for _ in range(4))])  # no ties
    v = evidence(e)
    assert v.n_columns > v.n_rows
    profiles = np.ascontiguousarray((v.votes * np.sqrt(v.share[v.member])[None, :]).toarray().T)
    by_profiles = by_linkage._sorted(by_linkage._chain_profiles(profiles, v.mass.copy(), v.n_rows))
    by_matrix, solver, _ = by_linkage.average_merges(v)
    assert "matrix" in solver
    assert by_matrix[2] == pytest.approx(by_profiles[2])
    assert cg.consensus([np.arange(200), *rng.integers(0, 4, (4, 200))], 4, "cumulative").n_clusters == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_ties_are_broken_alike_by_votes_and_by_matrix(seed, monkeypatch):
    """With heights that are mostly equal both ways of average linkage join the same clusters, step by step."""
    rng = np.random.default_rng(seed)
    e = cg.Ensemble(list(rng.integers(0, 3, (7, 90))))
    by_matrix, solver, _ = by_linkage.average_merges(evidence(e))
    assert "matrix" in solver
    assert len(np.unique(by_matrix[2].round(9))) < 0.8 * len(by_matrix[2])
    monkeypatch.setattr(by_linkage, "MATRIX_BELOW", 0)
    by_votes, solver, _ = by_linkage.average_merges(evidence(e))
    assert "mean votes" in solver
    assert by_votes[0].tolist() == by_matrix[0].tolist()
    assert by_votes[1].tolist() == by_matrix[1].tolist()
    assert by_votes[2] == pytest.approx(by_matrix[2], abs=1e-12)
    again, _, _ = by_linkage.average_merges(evidence(e[list(rng.permutation(7))]))
    assert again[2] == pytest.approx(by_votes[2], abs=1e-12)


def test_cumulative_merges_by_the_information_lost():
    """The merges are those of the loss from its definition, I(X; C) before minus after, one at a time."""
    rng = np.random.default_rng(1)
    mean, mass = rng.dirichlet(np.ones(6), 30), rng.random(30)

    def information(joint):
        expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        return float((joint * np.log(joint / expected)).sum())

    joint = mean * (mass / mass.sum())[:, None]
    start = information(joint)
    while joint.shape[1] > 3:
        pairs = [(i, j) for j in range(joint.shape[1]) for i in range(j)]
        joined = [np.column_stack([np.delete(joint, [i, j], 1), joint[:, i] + joint[:, j]]) for i, j in pairs]
        joint = max(joined, key=information)
    found, lost = merged(mean, mass, 3)
    assert lost == pytest.approx(start - information(joint))
    assert sorted(found.sum(axis=0)) == pytest.approx(sorted(joint.sum(axis=0)))


def test_too_much_is_one_line(monkeypatch):
    """Above their limits, average linkage and cumulative voting refuse and name methods that work."""
    rng = np.random.default_rng(0)
    members = rng.integers(0, 5, (60, 4))
    monkeypatch.setattr(by_linkage, "PROFILES_UP_TO", 100)
    monkeypatch.setattr(by_linkage, "MATRIX_BELOW", 0)
    with pytest.raises(InputError, match="use hbgf or kcc"):
        cg.consensus(members, 3, "average")
    monkeypatch.setattr(cumulating, "MOST", 100)
    with pytest.raises(InputError, match="leave that member out"):
        cg.consensus(members, 3, "cumulative")


def test_of_equal_cuts_the_most_even_division():
    """A path of four may be cut at any of its three edges; in the middle the blocks are even, for any order of its vertices."""
    path = np.zeros((4, 4))
    for i, weight in enumerate([1, 1, 1]):
        path[i, i + 1] = path[i + 1, i] = weight
    for order in (np.arange(4), np.array([2, 0, 3, 1])):
        found = partition_graph(
            path[np.ix_(order, order)], 2, balance=1.0, rng=np.random.default_rng(0), solver="builtin"
        )
        assert found.cut == 1
        assert np.bincount(found.labels).tolist() == [2, 2]


def test_notes_name_near_trivial_members():
    """One giant cluster, and nearly every point alone: both are named, three at most, and not called the same."""
    lump = [np.append(np.zeros(N - 1, int), i + 1) for i in range(4)]
    named = {"good": BASE, **{f"lump {i}": np.roll(x, i) for i, x in enumerate(lump)}, "dust": np.arange(N) // 1}
    notes = cg.consensus(cg.Ensemble(named), 3, "hbgf", 0).notes
    said = [note for note in notes if note.startswith("near-trivial")]
    assert len(said) == 2
    assert "4 members (lump 0, lump 1, lump 2 and 1 more) with more than 95% of the points in one cluster" in said[0]
    assert "1 member (dust) with nearly every point alone" in said[1]
    assert not any("same clustering" in note for note in notes)


def test_notes_name_duplicate_members():
    """The same clustering under other names of its clusters is a duplicate; one point of difference is not."""
    rng = np.random.default_rng(0)
    first, other = noisy(rng), noisy(rng)
    nearly = np.where(np.arange(N) == 5, (first + 1) % 3, first)
    named = {"a": first, "b": (first + 1) % 3, "c": nearly, "d": other, "e": np.array(["x", "y", "z"])[first]}
    notes = cg.consensus(cg.Ensemble(named), 3, "hbgf", 0).notes
    assert "the same clustering as another member: 2 members (b, e); each counts separately" in notes
    without = cg.consensus(cg.Ensemble({"a": first, "c": nearly, "d": other}), 3, "hbgf", 0).notes
    assert not any("same clustering" in note or "near-trivial" in note for note in without)


def test_auto_keeps_voting_where_members_err_independently():
    """Noisy copies of very unequal clusters: voting is kept with a note; members with errors in common do not get it."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), [90, 54, 30, 16, 10])
    copies = [np.where(rng.random(200) < 0.45, rng.integers(0, 5, 200), truth) for _ in range(10)]
    r = cg.consensus(copies, 5, random_state=0)
    assert r.method == "voting"
    assert any(note.startswith("auto kept voting: ") for note in r.notes)
    best = max(row["pooled_ami"] for row in r.tried)
    assert r.tried[0]["pooled_ami"] >= 0.9 * best
    camps = [np.where(rng.random(200) < 0.4, rng.integers(0, 5, 200), truth) for _ in range(2)]
    alike = [np.where(rng.random(200) < 0.05, rng.integers(0, 5, 200), camps[i % 2]) for i in range(10)]
    r = cg.consensus(alike, 5, random_state=0)
    assert not any(note.startswith("auto kept voting: ") for note in r.notes)


def test_auto_does_not_keep_voting_that_collapses():
    """Useless members make voting collapse: its pooled AMI is far below the best, and it is not kept."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 40)
    sound = [np.where(rng.random(160) < 0.1, rng.integers(0, 4, 160), truth) for _ in range(6)]
    lumps = []
    for _ in range(12):
        lump = np.zeros(160, int)
        lump[rng.choice(160, 3, replace=False)] = [1, 2, 3]
        lumps.append(lump)
    r = cg.consensus([*sound, *lumps], 4, random_state=0)
    assert cg.ari(r.labels, truth) > 0.9
    assert r.method != "voting" or r["pooled_ami"] >= 0.9 * max(row["pooled_ami"] for row in r.tried)
