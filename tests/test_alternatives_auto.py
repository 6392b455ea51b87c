"""Alternatives by method="auto": what is tried, what is kept and why; and the merit that decides."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import congruence as cg
from congruence.alternative_clustering.merit import merits
from congruence.alternative_clustering.search import AUTO
from reproductions import hidden_views
from reproductions.rows import CONFIRMED, NOT_CONFIRMED


def planted(n=90, k=3, noise=1, seed=0):
    """Two independent groupings in separate columns, then columns of noise."""
    rng = np.random.default_rng(seed)
    given, hidden = rng.integers(0, k, n), rng.integers(0, k, n)
    X = np.hstack([6 * np.eye(k)[given], 5 * np.eye(k)[hidden]]) + rng.normal(size=(n, 2 * k))
    return np.hstack([X, rng.normal(size=(n, noise))]), given, hidden


def test_auto_keeps_what_one_of_its_methods_finds():
    """The labels are those of the method kept, run alone with the same seed; it has the largest merit."""
    X, given, hidden = planted()
    found = cg.alternatives(X, given, method="auto", random_state=3, n_init=2)[0]
    assert set(found.tried) == set(AUTO)
    assert list(found.tried.values()) == sorted(found.tried.values(), reverse=True)
    assert found.method == next(iter(found.tried))
    alone = cg.alternatives(X, given, method=found.method, random_state=3, n_init=2)[0]
    assert np.array_equal(found.labels, alone.labels)
    assert found.scores == alone.scores
    assert found.random == alone.random
    assert alone.tried == {}
    assert cg.ari(found.labels, hidden) > 0.9
    assert "auto tried: " in repr(found)
    assert found.to_dict()["tried"] == pytest.approx(found.tried)


def naive_merit(X, knowns, labels, rng, shuffles):
    """From the definition, one attribute and one cluster at a time; one known clustering."""
    left = X.copy()
    for c in set(knowns.tolist()):
        left[knowns == c] -= left[knowns == c].mean(axis=0)

    def explained(codes):
        value = 0.0
        for column in left.T:
            within = sum(((column[codes == c] - column[codes == c].mean()) ** 2).sum() for c in set(codes.tolist()))
            value += np.log((column**2).sum() / within)
        return value

    return explained(labels) - np.mean([explained(rng.permutation(labels)) for _ in range(shuffles)])


def test_merit_by_definition(monkeypatch):
    """The hidden view has most merit; the given labels and shuffled ones have none."""
    X, given, hidden = planted()
    monkeypatch.setattr("congruence.alternative_clustering.merit.SHUFFLES", 3)
    shuffled = np.random.default_rng(9).permutation(hidden)
    values = merits(X, [given], [hidden, given, shuffled], np.random.default_rng(1))
    assert values[0] == pytest.approx(naive_merit(X, given, hidden, np.random.default_rng(1), 3), rel=1e-9)
    assert values[0] > 3
    assert abs(values[1]) < 0.3
    assert abs(values[2]) < 0.3


def test_merit_where_nothing_is_left():
    """Data determined entirely by the given clusters leave nothing to explain."""
    given = np.repeat([0, 1], 10)
    X = given[:, None] * np.array([1.0, 2.0])
    assert merits(X, [given], [given, np.arange(20) % 2], np.random.default_rng(0)) == [0.0, 0.0]


def test_merit_of_two_known_clusterings():
    """With both views known, either of them explains nothing more; a third does."""
    X, a, b = planted(n=120)
    third = np.arange(120) % 2
    X = np.hstack([X, 5.0 * third[:, None] + np.random.default_rng(0).normal(size=(120, 1))])
    values = merits(X, [a, b], [a, b, third], np.random.default_rng(0))
    assert values[2] > 1 > 0.3 > max(abs(values[0]), abs(values[1]))


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
    """Nominal attributes exclude methods that need numbers; given clusters that span all dimensions exclude orthogonal."""
    X, given, hidden = planted()
    frame = pd.DataFrame({"a": np.array(list("xyz"))[given], "b": np.array(list("uvw"))[hidden]})
    found = cg.alternatives(frame, given, method="auto", random_state=0, n_init=1)[0]
    assert set(found.tried) == {"condens", "mincentropy"}
    assert "auto skipped adft (it needs numbers); orthogonal (it needs numbers)" in found.notes
    found = cg.alternatives(X[:, [0, 3]], given, method="auto", random_state=0, n_init=1)[0]
    assert set(found.tried) == {"adft", "condens", "mincentropy"}
    assert any(note.startswith("auto skipped orthogonal (the given clusters span all 2 dim") for note in found.notes)


def test_many_points_leave_out_all_pairs():
    """Above 2,000 points auto does not compare all pairs, and says so."""
    rng = np.random.default_rng(0)
    given, hidden = rng.integers(0, 2, (2, 2_001))
    X = np.column_stack([6.0 * given, 5.0 * hidden]) + rng.normal(size=(2_001, 2))
    found = cg.alternatives(
        np.hstack([X, rng.normal(size=(2_001, 1))]), given, method="auto", random_state=0, n_init=1
    )[0]
    assert "mincentropy" not in found.tried
    assert any("mincentropy (tried up to 2,000 points)" in note for note in found.notes)
    assert cg.ari(found.labels, hidden) > 0.9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0.1}, "method 'auto' has no options; got epsilon"),
        ({"n_clusters": 1}, "from 2 to half"),
        ({"min_size": 60}, "min_size must be from 0 to"),
        ({"n_init": 0}, "at least 1"),
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
