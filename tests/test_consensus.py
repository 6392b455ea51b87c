"""Consensus clustering: results, odd ensembles, the choice of a method, and the estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from consensus_cases import ALL, planted, same, strehl, taken_by
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import congruence as cg
from congruence.consensus_clustering.evidence import evidence

# --- results ---------------------------------------------------------------------------------------------------------


def test_the_share_of_the_votes():
    """The share of the point's cluster in each member that has its consensus label; the mean over members that label it."""
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


@pytest.mark.parametrize("gaps", [False, True])
def test_scores_by_other_measures(gaps):
    """The mean of a measure with the members, each on its points, and the ARImp of resampled members, on request."""
    _, members = planted(0.5, n=90, k=3, members=6)
    given = [np.where(np.arange(90) % 7 == i, np.nan, m) if gaps else m for i, m in enumerate(members)]
    how = {"unassigned": "partial" if gaps else "error"}
    r = cg.consensus(cg.Ensemble(given, **how), 3, random_state=0)
    assert "irm" not in r.scores
    found = r.scores_by(["irm", "vi"], resamples=40, random_state=1)
    for key in ("irm", "vi"):
        expected = np.mean([getattr(cg, key)(r.labels, m, unassigned="drop") for m in given])
        assert found[key].iloc[0] == pytest.approx(expected, rel=1e-12)
    times = np.random.default_rng(np.random.SeedSequence(1)).multinomial(6, np.full(6, 1 / 6), size=40)
    drawn = [cg.Ensemble([given[i] for i in np.repeat(range(6), t)], **how) for t in times]
    missing = {"missing": "pooled"} if gaps else {}
    low, high = np.quantile([cg.arimp(x, r.labels, **missing) for x in drawn], [0.025, 0.975])
    assert found["arimp_low"].iloc[0] == pytest.approx(low, rel=1e-9)
    assert found["arimp_high"].iloc[0] == pytest.approx(high, rel=1e-9)
    with pytest.raises(cg.InputError, match="purity does not fit; it is not symmetric"):
        r.scores_by("purity")


def test_frames_in_and_out():
    """A pandas frame of labels keeps its index, a polars frame gives polars back."""
    frame = pd.DataFrame({"x": [0, 0, 1, 1], "y": ["a", "a", "b", "b"]}, index=list("pqrs"))
    r = cg.consensus(frame, 2, "kcc", random_state=0)
    assert r.to_frame().index.tolist() == list("pqrs")
    assert isinstance(cg.consensus(pl.DataFrame(frame), 2, "kcc").to_frame(), pl.DataFrame)
    assert isinstance(cg.consensus(pl.DataFrame(frame), 2, "kcc").scores, pl.DataFrame)
    assert r.to_dict()["labels"] == r.labels.tolist()
    assert "mean confidence 1.000" in repr(r)


# --- strange ensembles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ALL)
def test_strange_ensembles_are_decided(method):
    """One requested cluster, one member, equal members, all singletons, more clusters than kinds of points."""
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
def test_a_frequency_repeats_the_point(method):
    """frequency=2 is the point twice."""
    _, members = planted(0.3, n=60, k=3, members=8, seed=4)
    often = np.random.default_rng(0).integers(1, 4, size=60)
    weighted = cg.Ensemble(members, frequency=often)
    repeated = cg.Ensemble([np.repeat(m, often) for m in members])
    first = cg.consensus(weighted, 3, method, random_state=0, **taken_by(method, solver="builtin")).labels
    assert same(
        np.repeat(first, often),
        cg.consensus(repeated, 3, method, random_state=0, **taken_by(method, solver="builtin")).labels,
    )


@pytest.mark.parametrize("method", [m for m in ALL if m != "hgpa"])
def test_crisp_memberships_are_labels(method):
    """Memberships of 0 and 1 give the clusters that the labels give."""
    _, members = planted(0.15, n=90, k=3, members=8, seed=2)
    crisp = [cg.Memberships((m[:, None] == np.unique(m)).astype(float)) for m in members]
    labels = cg.consensus(members, 3, method, random_state=0, **taken_by(method, solver="builtin")).labels
    assert (
        cg.ari(labels, cg.consensus(crisp, 3, method, random_state=0, **taken_by(method, solver="builtin")).labels)
        > 0.8
    )


@pytest.mark.parametrize("method", ALL)
def test_members_of_weight_0_have_no_effect(method):
    """A member of weight 0 has no effect; a weight of 2 is the member twice."""
    _, members = planted(0.2, n=80, k=3, members=6)
    nonsense = np.random.default_rng(9).integers(3, size=80)
    with_it = cg.Ensemble([*members, nonsense], member_weight=[1] * 6 + [0])
    assert same(
        cg.consensus(with_it, 3, method, random_state=0, **taken_by(method, solver="builtin")).labels,
        cg.consensus(members, 3, method, random_state=0, **taken_by(method, solver="builtin")).labels,
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


def test_limits_are_checked_before_the_work_starts(monkeypatch):
    """A method that compares all pairs of points refuses too many points, and names methods that take them."""
    members = list(np.random.default_rng(0).integers(50, size=(4, 6000)))
    with pytest.raises(
        cg.InputError, match=r"up to 5,000 points, but there are [56],[0-9]+; methods without that limit: hbgf"
    ):
        cg.consensus(members, 3, "cspa")


def test_names_and_options_that_are_not_there():
    """Similar names are suggested; variants belong to their methods; a list must name something."""
    runs = [[0, 0, 1, 1], [0, 1, 1, 1]]
    with pytest.raises(cg.InputError, match="did you mean mcla"):
        cg.consensus(runs, 2, "mclaa")
    with pytest.raises(cg.InputError, match=r"kcc has no variants; got 'metis'"):
        cg.consensus(runs, 2, "kcc", variant="metis")
    with pytest.raises(cg.InputError, match="no method was named"):
        cg.consensus(runs, 2, [])


# --- selection -------------------------------------------------------------------------------------------------------


def test_selection_of_members():
    """Quality takes the most central; diversity and one of each kind take members of both groups."""
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


# --- the estimator ---------------------------------------------------------------------------------------------------


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
    """If there are too many clusters for tables side by side, members are encoded once, and the same one is most central."""
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
