"""Alternatives by method="auto": what is tried, what is kept and why; and the merit that decides."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import congruence as cg
from congruence.alternative_clustering import residual
from congruence.alternative_clustering.projections import transformed
from congruence.alternative_clustering.residual import Residuals
from congruence.alternative_clustering.search import AUTO
from congruence.alternative_clustering.views import views
from reproductions import hidden_views, second_views
from reproductions.rows import CONFIRMED, NOT_CONFIRMED


def planted(n=90, k=3, noise=1, seed=0):
    """Two independent groupings in separate columns, then columns of noise."""
    rng = np.random.default_rng(seed)
    given, hidden = rng.integers(0, k, n), rng.integers(0, k, n)
    X = np.hstack([6 * np.eye(k)[given], 5 * np.eye(k)[hidden]]) + rng.normal(size=(n, 2 * k))
    return np.hstack([X, rng.normal(size=(n, noise))]), given, hidden


def test_auto_keeps_what_one_of_its_methods_finds():
    """The labels are those of the method kept, run alone with the same seed and refined; it has the largest merit."""
    X, given, hidden = planted()
    found = cg.alternatives(X, given, random_state=3, n_init=2)[0]
    assert set(found.tried) == set(AUTO)
    assert list(found.tried.values()) == sorted(found.tried.values(), reverse=True)
    assert found.method == next(iter(found.tried))
    alone = cg.alternatives(X, given, method=found.method, random_state=3, n_init=2)[0]
    left = Residuals.of((X - X.mean(axis=0)) / X.std(axis=0), [given])
    refined = alone.labels if found.method == "refined" else left.refined(alone.labels, 3)
    assert np.array_equal(found.labels, refined)
    assert alone.tried == {}
    assert cg.ari(found.labels, hidden) > 0.9
    assert "auto tried: " in repr(found)
    assert found.to_dict()["tried"] == pytest.approx(found.tried)


def naive_merit(X, knowns, labels, rng, shuffles):
    """From the definition; one known clustering."""
    left = X.copy()
    for c in set(knowns.tolist()):
        left[knowns == c] -= left[knowns == c].mean(axis=0)

    def volume(codes):
        apart = left.copy()
        for c in set(codes.tolist()):
            apart[codes == c] -= left[codes == c].mean(axis=0)
        spread = sum(np.outer(x, x) for x in apart) / len(apart)
        return np.log(np.linalg.det(0.9 * spread + 0.1 * np.trace(spread) / len(spread) * np.eye(len(spread))))

    return np.mean([volume(rng.permutation(labels)) for _ in range(shuffles)]) - volume(labels)


def test_merit_by_definition():
    """The hidden view has most merit; the given labels and shuffled ones have none."""
    X, given, hidden = planted()
    shuffled = np.random.default_rng(9).permutation(hidden)
    values = Residuals.of(X, [given]).merits([hidden, given, shuffled], np.random.default_rng(1))
    assert values[0] == pytest.approx(naive_merit(X, given, hidden, np.random.default_rng(1), 5), rel=1e-9)
    assert values[0] > 3
    assert abs(values[1]) < 0.3
    assert abs(values[2]) < 0.3


def test_merit_where_nothing_is_left():
    """Data determined entirely by the given clusters leave nothing to explain, and no further view."""
    given = np.repeat([0, 1], 10)
    left = Residuals.of(given[:, None] * np.array([1.0, 2.0]), [given])
    assert left.merits([given, np.arange(20) % 2], np.random.default_rng(0)) == [0.0, 0.0]
    assert views(left) == []


def test_merit_of_two_known_clusterings():
    """With both views known, either of them explains nothing more; a third does."""
    X, a, b = planted(n=120)
    third = np.arange(120) % 2
    X = np.hstack([X, 5.0 * third[:, None] + np.random.default_rng(0).normal(size=(120, 1))])
    values = Residuals.of(X, [a, b]).merits([a, b, third], np.random.default_rng(0))
    assert values[2] > 1 > 0.3 > max(abs(values[0]), abs(values[1]))


def test_residuals_have_no_means_in_the_given_clusters():
    """One clustering or several: the mean of the residuals of each given cluster is zero."""
    X, a, b = planted(n=120)
    for knowns in ([a], [a, b]):
        left = residual.residuals(X, knowns)
        means = [left[codes == c].mean(axis=0) for codes in knowns for c in range(3)]
        assert np.abs(means).max() < 1e-9


def test_adft_gives_the_span_of_the_centroids_the_covariance_within_clusters():
    """Between the given centroids the covariance becomes that of the residuals; other directions stay as they are."""
    X, given, _ = planted()
    mapped, left = transformed(X, [given]), residual.residuals(X, [given])
    apart = X - X.mean(axis=0)
    centres = np.stack([apart[given == c].mean(axis=0) for c in range(3)])
    span = np.linalg.svd(centres, full_matrices=False)[2][:2].T
    inside, wanted = mapped @ span, left @ span
    assert inside.T @ inside == pytest.approx(wanted.T @ wanted, rel=1e-9)
    across = np.eye(X.shape[1]) - span @ span.T
    assert mapped @ across == pytest.approx(apart @ across, abs=1e-9)


def test_refinement_finds_long_parallel_clusters():
    """k-means of the residuals cuts three long strips; rounds of whitening within the clusters find them."""
    rng = np.random.default_rng(6)
    given, hidden = rng.integers(0, 2, 300), rng.integers(0, 3, 300)
    strips = np.column_stack([np.zeros(300), 4 * hidden]) + rng.normal(size=(300, 2)) * [3, 0.7]
    X = np.column_stack([6 * given + rng.normal(size=300), strips @ np.array([[1, 1], [-1, 1]]) / 2**0.5])
    runs = [cg.alternatives(X, given, 3, 1, m, 0, scale=False)[0] for m in ("residual", "refined")]
    assert cg.ari(runs[0].labels, hidden) < 0.6
    assert cg.ari(runs[1].labels, hidden) > 0.9


def test_a_view_in_a_hundred_columns_that_mix_twenty():
    """Redundant columns are clustered in their principal axes."""
    X, given, hidden = second_views.mixed(5)
    assert cg.ari(cg.alternatives(X, given, method="residual", random_state=0)[0].labels, hidden) < 0.1
    assert cg.ari(cg.alternatives(X, given, method="refined", random_state=0)[0].labels, hidden) > 0.9


@pytest.mark.slow
def test_all_views_are_found_and_no_more():
    """Three views, one given: the two others, each with its number of clusters; given all, none is left."""
    rng = np.random.default_rng(1)
    truth = [rng.integers(0, k, 180) for k in (2, 3, 4)]
    X = np.hstack([6 * np.eye(4)[t] for t in truth]) + rng.normal(size=(180, 12))
    found = cg.alternatives(X, truth[0], n_alternatives="all", random_state=0, n_init=3)
    assert sorted(f.n_clusters for f in found) == [3, 4]
    assert all(max(cg.ari(f.labels, t) for t in truth[1:]) > 0.9 for f in found)
    assert found.is_complete
    assert found.sentence.endswith("clusters; no other was found.")
    assert found.sentence in repr(found)
    none = cg.alternatives(X, np.column_stack(truth), n_alternatives="all", random_state=0)
    assert list(none) == []
    assert (
        none.sentence
        == repr(none)
        == "No further view: no clusters were found in what the given ones leave unexplained."
    )
    asked = cg.alternatives(X, truth[0], 3, method="residual", random_state=0)
    assert asked.sentence == "One further view, of 3 clusters; whether others are left was not tested."
    model = cg.AlternativeClustering(n_alternatives="all", random_state=0).fit(X[:, :4], truth[0])
    assert model.alternatives_ == []
    assert not model.labels_.any()


@pytest.mark.slow
def test_a_second_alternative_differs_from_the_first():
    """Three views, one given: the two others are found one after the other."""
    rng = np.random.default_rng(0)
    truth = [rng.integers(0, 3, 150) for _ in range(3)]
    X = np.hstack([6 * np.eye(3)[t] for t in truth]) + rng.normal(size=(150, 9))
    found = cg.alternatives(X, truth[0], n_alternatives=2, method="auto", random_state=0, n_init=3)
    best = [[cg.ari(f.labels, t) for t in truth[1:]] for f in found]
    assert sorted(np.argmax(best, axis=1).tolist()) == [0, 1]
    assert np.max(best, axis=1).min() > 0.9


def test_methods_that_cannot_run_are_named():
    """With nominal attributes, methods that take them are tried; given clusters that span all dimensions exclude orthogonal."""
    X, given, hidden = planted()
    frame = pd.DataFrame({"a": np.array(list("xyz"))[given], "b": np.array(list("uvw"))[hidden]})
    found = cg.alternatives(frame, given, method="auto", random_state=0, n_init=1)[0]
    assert set(found.tried) == {"refined", "condens", "mincentropy"}
    found = cg.alternatives(X[:, [0, 3]], given, method="auto", random_state=0, n_init=1)[0]
    assert set(found.tried) == {"refined", "adft"}
    assert any(note.startswith("auto skipped orthogonal (the given clusters span all 2 dim") for note in found.notes)


def test_many_points_leave_out_all_pairs():
    """Above 2,000 points with nominal attributes auto does not compare all pairs, and says so."""
    given, hidden = np.random.default_rng(0).integers(0, 2, (2, 2_001))
    found = cg.alternatives(
        np.column_stack([given, hidden, hidden]), given, nominal=[0, 1, 2], random_state=0, n_init=1
    )[0]
    assert "mincentropy" not in found.tried
    assert any("mincentropy (tried up to 2,000 points)" in note for note in found.notes)
    assert cg.ari(found.labels, hidden) > 0.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0.1}, "method 'auto' has no option 'epsilon'; it has no options; 'maximus' has it"),
        ({"n_clusters": 1}, "from 2 to half"),
        ({"min_size": 60}, "min_size must be from 0 to"),
        ({"n_init": 0}, "at least 1"),
        ({"n_alternatives": "some"}, "at least 1 or 'all', not 'some'"),
    ],
)
def test_bad_input_to_auto_is_one_line(change, words):
    """What was given, what was expected, what to try."""
    X, given, _ = planted()
    with pytest.raises(cg.InputError, match=words) as error:
        cg.alternatives(X, given, method="auto", **change)
    assert "\n" not in str(error.value)


def test_too_many_points_for_every_method(monkeypatch):
    """If no method of auto takes that many points, the error is one line."""
    X, given, _ = planted()
    monkeypatch.setattr("congruence.alternative_clustering.search.AUTO", ("mincentropy",))
    monkeypatch.setattr("congruence.alternative_clustering.search.AUTO_PAIRS", 50)
    with pytest.raises(cg.InputError, match="none takes 90 points; use a sample"):
        cg.alternatives(X, given, method="auto")


@pytest.mark.slow
def test_auto_on_the_command_line(command, tmp_path):
    """--method auto writes labels of the hidden view and prints what was tried."""
    X, given, hidden = planted()
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(given=given)
    frame.to_csv(tmp_path / "data.csv", index=False)
    words = ["--labels", "given", "--method", "auto", "--seed", "0", "--n-init", "2", "--out", "found.csv"]
    said = command("alternatives", "data.csv", *words, "--format", "json")
    assert said.code == 0
    assert set(json.loads(said.out)["alternative_1"]["tried"]) == set(AUTO)
    assert cg.ari(pd.read_csv(tmp_path / "found.csv")["alternative_1"], hidden) > 0.9


# --- the script ------------------------------------------------------------------------------------------------------


def test_hidden_views_are_as_described():
    """Sizes, clusters and noise are in the ranges that the script prints; every kind of set is there; seeds repeat."""
    made = [hidden_views.views(seed) for seed in range(40)]
    assert all(120 <= len(v.X) <= 240 for v in made)
    assert {int(v.hidden.max()) + 1 for v in made} == set(range(2, 9))
    assert all(2 <= len(set(v.given.tolist())) <= 8 for v in made)
    assert all(np.bincount(v.hidden).min() >= 2 for v in made)
    assert {(v.unequal, v.noise > 0, v.is_rotated) for v in made} == {
        (a, b, c) for a in (False, True) for b in (False, True) for c in (False, True)
    }
    assert np.array_equal(made[3].X, hidden_views.views(3).X)
    assert not set(hidden_views.SEEDS["DEV"]) & set(hidden_views.SEEDS["TEST"])


@pytest.mark.slow
def test_the_script_prints_every_method_and_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    """A table of both halves with a claim each; a second run reads the finished work and prints the same."""
    monkeypatch.setattr(hidden_views, "SEEDS", {"DEV": [3], "TEST": [1003]})
    words = ["--methods", "auto,adft,orthogonal", "--keep", str(tmp_path / "done.jsonl")]
    assert hidden_views.main(words) == 0
    first = capsys.readouterr().out
    assert "DEV: 1 sets" in first
    assert "TEST: 1 sets" in first
    assert first.count("orthogonal  ") == 2
    assert CONFIRMED in first or NOT_CONFIRMED in first
    monkeypatch.setattr(hidden_views, "labels_of", lambda item: 1 / 0)
    assert hidden_views.main(words) == 0
    assert capsys.readouterr().out == first
    assert len((tmp_path / "done.jsonl").read_text().splitlines()) == 6
