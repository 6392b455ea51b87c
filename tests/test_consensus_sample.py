"""Consensus of many points: methods run on a sample, and all points are placed by the rule found there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from consensus_cases import taken_by

import congruence as cg
from congruence.consensus_clustering import methods, search, spectral
from congruence.consensus_clustering.evidence import evidence
from congruence.consensus_clustering.placing import placing_of
from congruence.consensus_clustering.spectral import directions


def planted(n=900, members=8, k=4, noise=0.25, seed=0, gaps=0.0):
    """A truth and noisy copies of it, some labels missing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    columns = []
    for _ in range(members):
        own = np.where(rng.random(n) < noise, rng.integers(0, k, n), truth).astype(float)
        own[rng.random(n) < gaps] = np.nan
        columns.append(own)
    return truth, cg.Ensemble(columns, unassigned="partial")


@pytest.fixture
def few(monkeypatch):
    """Many points are more than 600 here, and 400 of them take part in the search."""
    monkeypatch.setattr(search, "ALL_UP_TO", 600)
    monkeypatch.setattr(search, "SAMPLED", 400)
    monkeypatch.setattr(search, "PER_CLUSTER", 20)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("method", ["hbgf", "ncut", "kcc", "kmodes", "voting", "mcla", "lwgp"])
def test_a_rule_gives_the_labels_it_came_with(method, gaps):
    """Applied to the points it was found on, the rule of a method changes nothing."""
    _, e = planted(gaps=gaps)
    votes = evidence(e)
    found = methods.find(method)(votes, 4, np.random.default_rng(0), n_init=3)
    if found.rule is None:  # a mean over the members that have the point
        assert method == "mcla"
        assert gaps
        return
    sums = votes.scores(found.rule.table)
    scores = sums if found.rule.centres is None else directions(sums) @ found.rule.centres.T
    assert ((scores + found.rule.bias).argmax(axis=1) == found.labels).mean() > 0.995  # ties


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("refine", [False, True])
def test_all_points_as_the_sample_give_the_same_clusters_and_confidence(gaps, refine):
    """If the sample is all points, placing them again changes nothing: the kernel has the formulas of the confidence."""
    _, e = planted(gaps=gaps)
    request = search.Request(4, ("kcc",), np.random.SeedSequence(0), refine, {"n_init": 3, "variant": None})
    found = search.searched(e, request)
    labels, sure, voted = found.of_points()
    codes = [c.codes for c in e.members]
    place = placing_of(
        found.part, found.tried[0].labels, found.tried[0].found.rule, codes, [c.k + 1 for c in e.members],
        [c.k for c in e.members],
    )  # fmt: skip
    again, sure_again = place.run(codes)
    same = again == labels
    assert same.mean() > 0.995  # ties
    assert place.n_clusters == 4
    assert sure_again[same] == pytest.approx(sure[same], abs=2e-3 if not same.all() else 1e-9, nan_ok=True)
    assert place.votes(codes)[same] == pytest.approx(voted()[same], abs=2e-3 if not same.all() else 1e-9, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "hbgf", "ncut", "kcc", "voting", "mcla", "cumulative"])
def test_a_sample_represents_many_points(method, few):
    """The clusters are those that all points give, the note names the sample, and the random state decides it."""
    truth, e = planted()
    r = cg.consensus(e, 4, method, 0, progress=False)
    assert cg.ari(r.labels, truth) > 0.85
    assert any("400 of the 900 points" in note for note in r.notes)
    assert (cg.consensus(e, 4, method, 0, progress=False).labels == r.labels).all()
    assert r.memberships.shape == (900, 4)
    assert r.memberships.sum(axis=1) == pytest.approx(1.0)
    assert (r.vote_share >= 0).all()
    assert (r.confidence > 0).all()
    assert (r.confidence <= 1).all()


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("method", ["hbgf", "ncut", "mcla", "lwgp"])
def test_tables_are_those_of_all_points(method, gaps, few, monkeypatch):
    """Methods that read tables get those of all points, not of the sample: every pair of clusters that the sample has."""
    rng = np.random.default_rng(3)
    columns = [np.where(rng.random(900) < gaps, np.nan, rng.integers(0, 4, 900)) for _ in range(3)]
    seen = []
    record = methods.find(method)

    def run(e, *args, **options):
        seen.append(e)
        return original(e, *args, **options)

    original = record.run
    monkeypatch.setitem(record.__dict__, "run", run)
    r = cg.consensus(
        cg.Ensemble(columns, unassigned="partial"), 3, method, 0, progress=False, **taken_by(method, n_init=2)
    )
    (e,) = seen
    assert e.n_rows < 900
    for i in range(3):
        for j in range(3):
            block = e.everyone[np.ix_(e.member == i, e.member == j)]
            table = cg.contingency(columns[e.source[i]], columns[e.source[j]], unassigned="drop").to_array()
            assert sorted(block.ravel().tolist()) == sorted(table.ravel().tolist())
    assert any("tables of clusters are those of all points; everything else" in note for note in r.notes)


def test_weights_of_points_scale_the_tables_of_all():
    """A count of all points times the mean weight in the sample: exact if the sample is everything, else closer than it."""
    _, e = planted(3000, noise=0.6)
    everyone = evidence(e)
    weight = 1 / everyone.scores(everyone.weight * everyone.sizes)
    exact = everyone.gram(everyone.mass * weight)
    whole = replace(everyone, everyone=everyone.gram(everyone.mass))
    assert whole.scaled_tables(weight) == pytest.approx(exact, rel=1e-12)
    drawn = np.sort(np.random.default_rng(0).choice(everyone.n_rows, 400, replace=False))
    part = whole.taken(drawn)
    sampled = everyone.taken(drawn).scaled_tables(weight[drawn]) * everyone.mass.sum() / part.mass.sum()
    near, far = (np.abs(x - exact).mean() for x in (part.scaled_tables(weight[drawn]), sampled))
    assert near < far / 5


@pytest.mark.parametrize("method", ["hbgf", "ncut"])
def test_lanczos_finds_the_eigenvectors_of_the_tables(method, few, monkeypatch):
    """Many clusters in all: eigenvectors of the tables of all points by iteration give the same labels."""
    _, e = planted(900, members=12, k=4)
    dense = cg.consensus(e, 2, method, 0, n_init=2, progress=False)
    monkeypatch.setattr(spectral, "LANCZOS_ABOVE", 20)
    lanczos = cg.consensus(e, 2, method, 0, n_init=2, progress=False)
    assert "Lanczos" in lanczos.solver
    assert cg.ari(dense.labels, lanczos.labels) == 1


def test_points_with_the_same_votes_are_in_the_same_cluster(few):
    """Whether a point was drawn for the sample does not show in its cluster."""
    _, e = planted(noise=0.4, members=5)
    r = cg.consensus(e, 4, "hbgf", 1, progress=False)
    votes = np.column_stack([c.codes for c in e.members])
    _, kind = np.unique(votes, axis=0, return_inverse=True)
    for values in (r.labels, r.confidence):
        assert len(np.unique(np.column_stack([kind.ravel(), values]), axis=0)) == kind.max() + 1


def test_labels_outside_the_sample_have_no_votes(few):
    """A label that no point of the sample has adds no votes; a point in no member has no cluster and no confidence."""
    _truth, e = planted()
    columns = [np.array([c.names[x] for x in c.codes], dtype=object) for c in e.members]
    drawn = search.Request(4, ("kcc",), np.random.SeedSequence(0), None, {"variant": None}).sample(900)
    rare, nowhere = np.setdiff1d(np.arange(900), drawn)[:2]
    for j, column in enumerate(columns):
        column[nowhere] = None
        column[rare] = 9 if j < 7 else column[rare]
    odd = cg.Ensemble(columns, unassigned="partial")
    r = cg.consensus(odd, 4, "kcc", 0, progress=False)
    assert r.labels[nowhere] == -1
    assert np.isnan(r.confidence[nowhere])
    others = np.setdiff1d(np.arange(900), [rare, nowhere])
    assert (r.labels[others] == cg.consensus(e, 4, "kcc", 0, progress=False).labels[others]).all()
    assert r.labels[rare] >= 0
    assert np.isfinite(r.confidence[rare])


def test_methods_that_need_all_points_get_them(few):
    """Linkage of all points, weights and METIS see every point; nothing is drawn silently."""
    _, e = planted(900, k=3)
    for method in ("average", "single"):
        assert not any("drawn at random" in note for note in cg.consensus(e, 3, method, 0, progress=False).notes)
    weighted = cg.Ensemble(e, sample_weight=np.linspace(1, 2, 900))
    assert not any("drawn at random" in note for note in cg.consensus(weighted, 3, "kcc", 0, progress=False).notes)
    sampled = cg.consensus(e, 3, "average", 0, variant="sample", progress=False)
    assert any("400 of the 900 points" in note for note in sampled.notes)


@pytest.mark.slow
def test_auto_links_a_sample_of_more_kinds_than_linkage_takes(monkeypatch):
    """auto does not fail where average linkage alone would refuse."""
    _, e = planted(900, k=3, noise=0.6)
    monkeypatch.setattr(search, "SAMPLE_ABOVE", 100)
    weighted = cg.Ensemble(e, sample_weight=np.linspace(1, 2, 900))
    object.__setattr__(methods.find("average"), "limit", 100)
    try:
        assert cg.consensus(weighted, 3, "auto", 0, progress=False).n_clusters == 3
        with pytest.raises(cg.InputError, match="up to 100 points"):
            cg.consensus(weighted, 3, "average", 0, progress=False)
    finally:
        object.__setattr__(methods.find("average"), "limit", 100_000)
