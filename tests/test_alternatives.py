"""Alternative clusterings: planted views are found, and the properties of every method hold."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from alternatives_cases import IRIS, SPECIES, few_starts, views
from sklearn.base import clone
from sklearn.metrics import silhouette_score

import congruence as cg
from congruence.alternative_clustering.points import as_points, binned
from congruence.alternative_clustering.search import METHODS
from reproductions import maximus_published

# --- planted views ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_maximus_finds_the_planted_view(seed):
    """Given one of two planted clusterings, maximus finds the other (ARI > 0.8); the published stages do not (< 0.3)."""
    X, (given, hidden) = views(300, 3, 4.0, seed=seed)
    found = cg.alternatives(X, given, method="maximus", random_state=0)[0]
    assert cg.ari(found.labels, hidden) > 0.8
    assert abs(cg.ari(found.labels, given)) < 0.1
    assert found.optimality["given"] <= 1.05 + 1e-9
    assert 0 <= found.gap < 0.01
    assert found.scores["dq"] > 0.5 > 0.2 > found.random["dq"]
    with maximus_published.available():
        literal = cg.alternatives(X, given, method="maximus_published", random_state=0, time_limit=10)[0]
    assert cg.ari(literal.labels, hidden) < 0.3
    assert not literal.silhouette > 0.1  # undefined where the vote has put all points in one cluster


@pytest.mark.slow
def test_maximus_finds_two_hidden_views_one_after_the_other():
    """Given one of three planted clusterings, the two alternatives are the other two."""
    X, hidden = views(300, 3, 4.5, 3)
    found = cg.alternatives(X, hidden[0], 3, 2, "maximus", random_state=0)
    scores = np.array([[cg.ari(r.labels, h) for h in hidden[1:]] for r in found])
    assert scores.max(axis=1).min() > 0.8
    assert set(scores.argmax(axis=1)) == {0, 1}
    assert list(found[1].dissimilarity) == ["given", "alternative 1"]
    assert min(found[1].dissimilarity.values()) > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1e-6, 1e4])
def test_maximus_does_not_depend_on_the_unit(unit):
    """Data in micrometres or in kilometres, not standardised, have the same alternative, within its caps."""
    X, (given, hidden) = views(200, 3, 5)
    found = cg.alternatives(unit * X, given, method="maximus", random_state=0, scale=False)[0]
    assert cg.ari(found.labels, hidden) > 0.8
    assert "above" not in found.status
    assert found.gap < 0.05


def test_small_and_huge_numbers_are_standardised_or_refused():
    """A spread of 1e-13 is not constant; data whose squares overflow are an error."""
    numbers = as_points(1e-13 * IRIS, scale=True).numbers
    assert numbers.std(axis=0) == pytest.approx(np.ones(4), rel=1e-9)
    assert not as_points(np.full((9, 1), 0.1), scale=True).numbers.any()
    with pytest.raises(cg.InputError, match="'x0' has values too large"):
        as_points(1e200 * IRIS, scale=True)


def test_maximus_on_a_sample_first():
    """With more points than the sample, restarts use a sample, and the caps hold for all points."""
    X, (given, hidden) = views(1500, 3, 4.0)
    found = cg.alternatives(X, given, method="maximus", random_state=0, sample=300, n_init=4)[0]
    assert cg.ari(found.labels, hidden) > 0.8
    assert found.optimality["given"] <= 1.05 + 1e-9


@pytest.mark.parametrize("k", [2, 5])
def test_other_numbers_of_clusters_than_the_known(k):
    """Fewer or more clusters than the given one keep the cap too, which is then of the largest known clusters."""
    X, (given, _) = views(150, 3, 4.0)
    found = cg.alternatives(X, given, k, method="maximus", random_state=0, n_init=3)[0]
    assert found.n_clusters == k
    assert found.optimality["given"] <= 1.05 + 1e-9
    assert min(found.sizes) >= 150 // (3 * k)


def test_labels_that_are_the_given_ones_are_called_that():
    """A method that returns the known clustering reports that it found no alternative."""
    X = np.repeat([[0.0], [9.0]], 10, axis=0)
    found = cg.alternatives(X, X[:, 0], method="metaclusters", random_state=0)[0]
    assert found.dq == 0
    assert any("no alternative was found" in note for note in found.notes)


@pytest.mark.slow
def test_both_solvers_find_the_same():
    """The linear program and its dual give clusterings of similar cost, within the same caps."""
    X, (given, hidden) = views(150, 3, 4.0)
    exact = cg.alternatives(X, given, method="maximus", random_state=0, solver="highs", n_init=2)[0]
    dual = cg.alternatives(X, given, method="maximus", random_state=0, n_init=2)[0]
    assert exact.status.startswith("optimal")
    assert cg.ari(exact.labels, dual.labels) > 0.9
    assert cg.ari(exact.labels, hidden) > 0.8


@pytest.mark.slow
def test_epsilon_trades_difference_for_quality():
    """On iris a larger epsilon costs less by k-means, and is more similar; each keeps its cap."""
    found = [
        cg.alternatives(IRIS, SPECIES, method="maximus", random_state=0, epsilon=e, n_init=4)[0] for e in (0.05, 0.3)
    ]
    assert found[0].optimality["given"] <= 1.05 + 1e-9
    assert found[1].optimality["given"] <= 1.3 + 1e-9
    assert found[1].silhouette > found[0].silhouette
    assert found[0].scores["dissimilarity"] > found[1].scores["dissimilarity"]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["residual", "refined", "condens", "mincentropy", "orthogonal", "adft"])
def test_the_later_methods_find_the_planted_view(method):
    """The fast methods also find the hidden view."""
    X, (given, hidden) = views(300, 3, 4.0)
    assert cg.ari(cg.alternatives(X, given, method=method, random_state=0)[0].labels, hidden) > 0.8


# --- properties of all methods ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_deterministic_and_complete(method):
    """The same seed gives the same labels; every result has finite scores, and finite scores of shuffled labels."""
    X, (given, _) = views(90, 3, 4.0)
    runs = [cg.alternatives(X, given, 3, 2, method, random_state=5, **few_starts(method)) for _ in range(2)]
    for one, two in zip(*runs, strict=True):
        assert np.array_equal(one.labels, two.labels)
        assert one.scores == two.scores
        assert one.random == two.random
        assert len(one.labels) == 90
        assert sum(one.sizes) == 90
        assert one.status
        assert one.seconds > 0
        assert set(one.random) == set(one.scores)
        assert np.isfinite(list(one.random.values())).all()
        assert json.loads(one.to_json())["labels"] == one.labels.tolist()
        assert one.method in repr(one)
    first, second = runs[0]
    assert list(second.adco) == ["given", "alternative 1"]
    assert first.adco["given"] == pytest.approx(cg.adco(given, first.labels, X), abs=0.05)
    assert first.dissimilarity["given"] == pytest.approx(1 - cg.jaccard(given, first.labels))


@pytest.mark.slow
def test_the_scores_are_those_of_the_public_functions():
    """ADCO, GDI, DQ and the silhouette of a result are those of the same data by cg.adco, cg.dunn, …"""
    found = cg.alternatives(IRIS, SPECIES, method="condens", random_state=0, inter=3, intra=2)[0]
    Z = (IRIS - IRIS.mean(axis=0)) / IRIS.std(axis=0)
    assert found.adco["given"] == pytest.approx(cg.adco(SPECIES, found.labels, IRIS), rel=1e-12)
    assert found.gdi == pytest.approx(cg.dunn(Z, found.labels, 3, 2))
    assert found.gdi == pytest.approx(cg.dunn(IRIS, found.labels, 3, 2, scale=True))
    assert found.dq == pytest.approx(cg.dissimilarity_quality(Z, SPECIES, found.labels, 3, 2))
    assert found.silhouette == pytest.approx(silhouette_score(Z, found.labels))
    assert found.to_frame()["value"].tolist() == list(found.scores.values())


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_nominal_and_mixed_data(method):
    """Nominal attributes and missing values are accepted, or refused in one line that names methods that accept them."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, 120), rng.integers(0, 2, 120)
    frame = pd.DataFrame({f"g{i}": np.where(rng.random(120) < 0.1, 1 - given, given).astype(str) for i in range(3)})
    for i in range(3):
        frame[f"h{i}"] = np.where(rng.random(120) < 0.1, 1 - hidden, hidden).astype(str)
    frame["x"] = hidden * 3 + rng.normal(size=120)
    frame.loc[3, "x"] = np.nan
    frame.loc[5, "g0"] = None
    if not METHODS[method].nominal:
        with pytest.raises(cg.InputError, match=r"'g0' is nominal.*maximus"):
            cg.alternatives(frame, given, method=method)
        return
    found = cg.alternatives(frame, given, method=method, random_state=0)[0]
    assert any("missing" in note for note in found.notes)
    if method in ("maximus", "condens", "mincentropy"):
        assert cg.ari(found.labels, hidden) > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_several_known_and_a_least_size(method):
    """Two known clusterings by name, and no cluster under min_size."""
    X, (a, b, _) = views(120, 3, 4.0, 3)
    found = cg.alternatives(X, {"a": a, "b": b}, method=method, random_state=0, min_size=25, **few_starts(method))[0]
    assert list(found.adco) == ["a", "b"]
    assert found.n_clusters == 3
    assert min(found.sizes) >= 25


def test_ways_to_give_known_clusterings():
    """Columns, lists, mappings, frames and an ensemble of the same labels are the same."""
    X, (a, b, _) = views(60, 2, 4.0, 3)
    doors = (
        np.column_stack([a, b]),
        [a, b],
        {"u": a, "v": b.astype(str)},
        pd.DataFrame({"u": a, "v": b}),
        [a.tolist(), b.tolist()],
        cg.Ensemble([a, b]),
    )
    labels = [cg.alternatives(X, door, method="mincentropy", random_state=0)[0].labels for door in doors]
    assert all(np.array_equal(labels[0], other) for other in labels[1:])


def test_the_index_of_labels_and_data_must_agree():
    """Labels in another order than the frame are not silently compared row by row."""
    X = pd.DataFrame(IRIS)
    y, other = pd.Series(SPECIES), pd.Series(SPECIES)[::-1]
    for call in (
        lambda: cg.alternatives(X, other),
        lambda: cg.alternatives(X, pd.DataFrame({"y": other})),
        lambda: cg.dunn(X, other),
        lambda: cg.dissimilarity_quality(X, y, other),
        lambda: cg.dissimilarity_quality(X, other, y),
    ):
        with pytest.raises(cg.InputError, match="differs from that of the data; reindex one"):
            call()
    assert cg.dunn(X, other.to_numpy()) == cg.dunn(X, y[::-1].to_numpy())


def test_collapsed_results_say_so():
    """Empty and tiny clusters are in the notes, and scores that one cluster does not have are undefined."""
    from congruence.alternative_clustering.points import Found
    from congruence.alternative_clustering.search import _scored, _tidy

    points = binned(as_points(IRIS, True), "width", 10, SPECIES)
    codes, notes = _tidy(points, Found(np.zeros(150, np.int64)), 3, None)
    assert "2 of the 3 clusters are empty" in notes[0]
    scored = _scored(points, {"given": SPECIES}, codes, (4, 3), np.random.SeedSequence(0))
    assert np.isnan(scored["gdi"])
    assert np.isnan(scored["silhouette"])
    codes, notes = _tidy(points, Found(np.append(np.zeros(149, np.int64), 1)), 2, None)
    assert "fewer than 3 points" in notes[0]
    codes, notes = _tidy(points, Found(np.zeros(150, np.int64)), 3, 40)
    assert np.bincount(codes).min() == 40
    assert "80 points were moved" in notes[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "maximums"}, "did you mean maximus"),
        ({"n_clusters": 1}, "from 2 to half"),
        ({"n_clusters": 100}, "from 2 to half"),
        ({"n_alternatives": 0}, "a whole number of at least 1, not 0"),
        ({"n_init": 1.5}, "n_init must be a whole number of at least 1, not 1.5"),
        ({"method": "maximus", "epsilon": "a"}, "epsilon must be a number of at least 0, not 'a'"),
        ({"method": "maximus", "epsilon": np.nan}, "epsilon must be a number of at least 0, not nan"),
        ({"method": "maximus", "sample": 1}, "sample must be at least the 3 clusters, not 1"),
        ({"method": "coala", "omega": "x"}, "omega must be a number of at least 0"),
        ({"method": "mincentropy", "sigma": -1}, "sigma must be a number of at least 0, not -1"),
        ({"method": "maximus_published", "consistent": "maybe"}, "consistent must be true or false"),
        ({"min_size": "2"}, "min_size must be from 0 to"),
        ({"labels": np.full((150, 2), 0.5)}, "got memberships"),
        ({"min_size": 60}, "from 0 to 50"),
        ({"method": "maximus", "omega": 1}, "no option 'omega'"),
        ({"method": "maximus", "epsilon": -1}, "at least 0, not -1"),
        ({"inter": 7}, "inter must be 1 to 6"),
        ({"n_init": 0}, "at least 1"),
        ({"method": "maximus", "solver": "cplex"}, "'dual' or 'highs'"),
        ({"labels": SPECIES[:100]}, "100 labels for 150 points"),
        ({"labels": np.where(SPECIES == 0, np.nan, SPECIES)}, "have no label"),
        ({"X": IRIS[:, 0]}, "2-D"),
        ({"X": np.where(IRIS > 7, np.inf, IRIS)}, "infinite"),
        ({"binning": "widht"}, "width"),
        ({"method": "maximus_published", "rho": "one"}, "'each' or 'shared'"),
        ({"method": "coala", "labels": []}, "no points"),
    ],
)
def test_bad_input_is_one_line(change, words):
    """What was given, what was expected, what to try."""
    call = {"X": IRIS, "labels": SPECIES, **change}
    with maximus_published.available(), pytest.raises(cg.InputError, match=words) as error:
        cg.alternatives(**call)
    assert "\n" not in str(error.value)


def test_filling_a_cluster_takes_few_rounds(monkeypatch):
    """Thousands of points are moved several at a time, and no cluster gives more than it can."""
    from congruence.alternative_clustering import search

    rounds = []
    real = search.centroids
    monkeypatch.setattr(search, "centroids", lambda *a: rounds.append(1) or real(*a))
    X = np.random.default_rng(0).normal(size=(9000, 2))
    codes, moved = search._filled(X, np.repeat([0, 1], [8990, 10]), 3, 3000)
    assert np.bincount(codes).tolist() == [3000, 3000, 3000]
    assert moved == 5990
    assert len(rounds) < 400


def test_too_many_nominal_values_are_refused():
    """A column of names, one per point, is refused before its 0/1 columns fill the memory."""
    with pytest.raises(cg.InputError, match="'name' has 20,000 values, too many"):
        cg.alternatives({"name": [str(i) for i in range(20_000)]}, np.arange(20_000) % 2)


def test_limits_are_checked_before_anything_starts():
    """A method refuses too many points or rows immediately and names methods that take them."""
    X = np.random.default_rng(0).normal(size=(10_001, 2))
    with pytest.raises(cg.InputError, match=r"at most 10,000 points .* use residual, refined"):
        cg.alternatives(X, np.arange(10_001) % 3, method="coala")
    with pytest.raises(cg.InputError, match="rows, more than"):
        cg.alternatives(X[:2000], np.arange(2000) % 40, n_clusters=20, method="maximus")


def test_silhouettes_of_some_points_are_called_that(monkeypatch):
    """Above a limit the silhouette is that of a sample, close to that of all points, and the notes say so."""
    X, (given, _) = views(400, 3, 4.0)
    exact = cg.alternatives(X, given, method="condens", random_state=0)[0]
    monkeypatch.setattr("congruence.alternative_clustering.search.ALL_PAIRS", 100)
    monkeypatch.setattr("congruence.alternative_clustering.search.SOME", 200)
    some = cg.alternatives(X, given, method="condens", random_state=0)[0]
    assert some.silhouette == pytest.approx(exact.silhouette, abs=0.05)
    assert any("200 random points" in note for note in some.notes)
    assert not any("random points" in note for note in exact.notes)


def test_alternatives_keep_apart_from_known_ones_of_their_name():
    """A known clustering called "alternative 1" is not overwritten by the first that is found."""
    X, (given, other) = views(90, 3, 4.0)
    found = cg.alternatives(X, {"alternative 1": given}, 3, 2, "condens", random_state=0)
    assert list(found[1].adco) == ["alternative 1", "alternative 1′"]
    assert cg.ari(found[0].labels, other) > 0.8


def test_progress_counts_restarts():
    """A progress function is called for every restart of every alternative."""
    heard = []
    X, (given, _) = views(60, 2, 4.0)
    cg.alternatives(
        X, given, 2, 2, "condens", random_state=0, n_init=3, progress=lambda done, total: heard.append((done, total))
    )
    assert heard == [(i, 6) for i in range(1, 7)]
    heard.clear()
    cg.alternatives(X, given, 2, 1, "coala", progress=lambda done, total: heard.append((done, total)))
    assert heard == [(1, 1)]


@pytest.mark.slow
def test_the_estimator_is_scikit_learn_compatible():
    """clone, get_params and set_params; fit gives what the function gives."""
    X, (given, hidden) = views(100, 2, 4.0)
    model = cg.AlternativeClustering(2, method="mincentropy", options={"weight": 0.8}, random_state=1)
    copy = clone(model).set_params(method="maximus", options=None)
    assert copy.get_params()["method"] == "maximus"
    assert model.get_params()["method"] == "mincentropy"
    assert copy.fit(X, given) is copy
    assert np.array_equal(copy.labels_, cg.alternatives(X, given, 2, method="maximus", random_state=1)[0].labels)
    assert copy.n_features_in_ == 4
    assert clone(model).fit(dict(zip("abcd", IRIS.T, strict=True)), SPECIES).n_features_in_ == 4
    assert cg.ari(model.fit_predict(X, given), hidden) > 0.8
    assert len(model.set_params(n_alternatives=2).fit(X, given).alternatives_) == 2


@pytest.mark.slow
def test_the_command(command):
    """The command prints the scores next to those of chance, writes the labels, and refuses bad input in one line."""
    X, (given, hidden) = views(80, 2, 4.0)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(known=given, row=[f"r{i}" for i in range(80)])
    frame.to_csv("data.csv", index=False)
    words = ["alternatives", "data.csv", "--labels", "known"]
    asked = ["--k", "2", "--n", "2", "--method", "mincentropy", "--seed", "0", "--id", "row", "--out", "two.csv"]
    done = command(*words, *asked)
    assert done.code == 0, done.err
    assert "random" in done.out
    assert "alternative_2" in done.out
    written = pd.read_csv("two.csv")
    assert list(written) == ["row", "known", "alternative_1", "alternative_2"]
    assert cg.ari(written["alternative_1"], hidden) > 0.8
    extra = ["--features", "a,b,c,d", "--format", "json", "--seed", "0", "--method", "maximus"]
    extra += ["--option", "epsilon=0.2", "--n-init", "2"]
    assert json.loads(command(*words, *extra).out)["alternative_1"]["optimality"]["known"] <= 1.2 + 1e-9
    refused = command(*words, "--option", "epsilon")
    assert (refused.code, refused.err.count("\n")) == (2, 1)


def test_the_command_without_a_further_view(command):
    """Where no view is left, the command says so in one line, and prints no empty one; csv has its header."""
    rng = np.random.default_rng(0)
    known = np.repeat([0, 1], 60)
    pd.DataFrame({"x": known * 9 + rng.normal(size=120), "y": rng.normal(size=120), "known": known}).to_csv(
        "data.csv", index=False
    )
    words = ["alternatives", "data.csv", "--labels", "known", "--features", "x,y", "--n", "all"]
    done = command(*words)
    assert (done.code, done.out) == (0, "")
    assert "No further view: no clusters were found" in done.err
    assert json.loads(command(*words, "--format", "json").out) == {}
    assert command(*words, "--format", "csv").out.startswith("alternative,sizes,adco")


def test_the_whole_set_has_its_dissimilarity_and_quality():
    """Definitions 3 and 4 of Bae et al.: means over all pairs and over all clusterings, the given ones among them."""
    rng = np.random.default_rng(3)
    X, given = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    views = cg.alternatives(X, given, 3, 2, method="residual", random_state=0)
    every = [given, *(view.labels for view in views)]
    apart = [1 - cg.jaccard(every[i], every[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    quality = [cg.dunn(X, labels, scale=True) for labels in every]
    assert views.overall["dissimilarity"] == pytest.approx(np.mean(apart), rel=1e-12)
    assert views.overall["quality"] == pytest.approx(np.mean(quality), rel=1e-12)
    assert 2 / views.overall["dq"] == pytest.approx(1 / np.mean(apart) + 1 / np.mean(quality), rel=1e-12)
