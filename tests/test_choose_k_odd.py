"""choose_k on odd data, interrupted, and on the command line."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from selection_cases import BLOBS
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import congruence as cg
from congruence.selection import halves, mixtures, shapes
from congruence.selection.criteria import PEERS
from congruence.selection.families import clusterer_of
from congruence.selection.halves import fits_of
from congruence.selection.shapes import two_along_an_axis


@pytest.mark.slow
def test_odd_columns_are_named():
    """Constant columns are dropped by name, very different scales get a caution with what to do."""
    frame = pd.DataFrame(BLOBS, columns=["x", "y"]).assign(same=1.0, big=np.random.default_rng(0).normal(size=90) * 1e4)
    choice = cg.choose_k(frame, range(1, 4))
    assert "constant columns were left out: same" in choice.notes
    assert any("big varies " in note and "standardise=True" in note for note in choice.notes)
    assert not any("differ in scale" in note for note in cg.choose_k(frame, range(1, 4), standardise=True).notes)
    scaled = frame.drop(columns="same") / frame.drop(columns="same").std(ddof=0)
    assert cg.choose_k(frame, standardise=True).probabilities == pytest.approx(
        cg.choose_k(scaled).probabilities, rel=1e-6
    )


@pytest.mark.slow
def test_many_points_are_sampled_with_a_note():
    """Above 2,000 points a sample is used; all points get a cluster."""
    X, y = make_blobs(5_000, centers=4, cluster_std=0.5, random_state=3)
    choice = cg.choose_k(X, range(1, 7))
    assert choice.k == 4
    assert any("2,000 of 5,000 points" in note for note in choice.notes)
    assert cg.ari(y, choice.labels) > 0.99


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (np.zeros((1, 2)), "1 points are too few"),
        (np.arange(12.0).reshape(6, 2), "6 points are too few to look for clusters; at least 8 are needed"),
    ],
)
def test_too_little_data_gives_a_reason(data, text):
    """If there is too little data, there is no k, with the reason."""
    choice = cg.choose_k(data)
    assert (choice.k, choice.verdict, choice.probability) == (None, "cannot tell", None)
    assert text in choice.sentence
    assert json.loads(choice.to_json())["k"] is None


def test_points_that_are_all_the_same_are_one_cluster():
    """The answer is no clusters, with certainty."""
    choice = cg.choose_k(np.ones((20, 3)))
    assert (choice.k, choice.verdict, choice.probability) == (1, "none", 1.0)


def test_few_distinct_points():
    """Three distinct points, five times each, make at most three clusters."""
    choice = cg.choose_k(np.repeat([[0.0, 0], [1, 0], [0, 1]], 5, axis=0))
    assert choice.ks == (1, 2, 3)
    assert any("3 distinct points are too few for more" in note for note in choice.notes)


def test_graph_of_repeated_points_has_spectral_clusters():
    """A graph of more pieces than clusters, as of integers that repeat, gives clusters; the sparse solver did not converge."""
    X = np.rint(np.random.default_rng(2).normal(size=(600, 2)) * 2)
    found = clusterer_of("spectral")(X, range(1, 11), 0)
    assert [len(np.unique(found[k])) for k in (1, 2, 10)] == [1, 2, 10]
    assert all(len(set(labels[(X == 0).all(axis=1)].tolist())) == 1 for labels in found.values())


@pytest.mark.slow
def test_one_feature_and_few_points_work():
    """A single column, more columns than points, and whole numbers are data."""
    rng = np.random.default_rng(0)
    assert cg.choose_k(np.concatenate([rng.normal(size=50), rng.normal(size=50) + 12])[:, None]).k == 2
    wide = rng.normal(size=(40, 300))
    wide[:20] += 2
    assert cg.choose_k(wide).k == 2
    assert cg.choose_k(rng.integers(0, 5, (60, 4))).ks[0] == 1


def test_ctrl_c_keeps_the_numbers_that_are_done():
    """An interrupt after three values of k returns three; before two are finished it is raised."""

    def after(many):
        def report(done, total):
            if done > many:
                raise KeyboardInterrupt

        return report

    choice = cg.choose_k(BLOBS, progress=after(3))
    assert choice.ks == (1, 2, 3, 4)
    assert not choice.is_complete
    assert any("stopped: 4 of 10" in note for note in choice.notes)
    with pytest.raises(KeyboardInterrupt):
        cg.choose_k(BLOBS, progress=after(0))


def overlapping_pair(n: int = 500) -> np.ndarray:
    """Two round Gaussians 2.8 standard deviations apart in four dimensions: one mode, or hardly two."""
    rng = np.random.default_rng(2)
    return rng.normal(size=(n, 4)) + np.repeat([0, 1.4], n // 2)[:, None]


@pytest.mark.slow
def test_round_clusters_that_overlap():
    """Without a valley, a mixture of round Gaussians of one size is the answer if it fits better than one Gaussian."""
    X = overlapping_pair()
    choice = cg.choose_k(X, range(1, 5))
    assert (choice.k, choice.method, choice.runner_up) == (2, "gaussian", 1)
    assert any("the clusters overlap: no valley separates them" in note for note in choice.notes)
    assert cg.ari(np.repeat([0, 1], 250), choice.labels) > 0.6
    assert cg.choose_k(X, range(1, 5), "kmeans").k == 1


def test_overlapping_clusters_need_the_best_mixture_of_all():
    """None if one Gaussian is as good, the components are not round, or the best number is the largest tried."""
    fit = fits_of(halves.Sample.of(overlapping_pair(200), 3, np.random.SeedSequence(0)), [1, 2, 3])[0]
    assert shapes.overlapping(fit).k == 2
    assert shapes.overlapping({k: fit[k] for k in (1, 2)}) is None
    assert shapes.overlapping({k: fit[k] for k in (2, 3)}) is None
    assert shapes.overlapping({**fit, 1: replace(fit[1], bic=fit[2].bic - 5.9)}) is None
    assert shapes.overlapping({**fit, 2: replace(fit[2], is_round=False)}) is None
    assert shapes.overlapping({**fit, 2: replace(fit[2], bic=np.nan)}) is None


def test_round_components():
    """Components are round if the best model says so, their variances are alike, and they are apart; a loop agrees."""
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1], 100)
    near, far = (rng.normal(size=(200, 3)) + truth[:, None] * gap for gap in (0.5, 2.5))
    wide = np.where(truth[:, None] == 1, 2.0, 1.0) * far
    for X, wanted in ((near, False), (far, True), (wide, False)):
        fit = mixtures.Fit("spherical", 0.0, 0, np.stack([truth == 0, truth == 1]).astype(float))
        means = [X[truth == j].mean(axis=0) for j in (0, 1)]
        variances = [((X[truth == j] - means[j]) ** 2).sum() / 100 / 3 for j in (0, 1)]
        apart = np.linalg.norm(means[0] - means[1]) / np.sqrt(np.mean(variances))
        assert (apart >= 1.8 and max(variances) <= 1.6 * min(variances)) == wanted
        assert mixtures.is_round(X, fit) == wanted
        assert not mixtures.is_round(X, replace(fit, kind="tied"))
        assert not mixtures.is_round(X[:, :1], fit)


def test_connected_groups_confirm_k_means(monkeypatch):
    """Spectral clusters are not tried if connected groups are those of k-means, however unsure it is."""
    monkeypatch.setattr(shapes, "spectral_clusters", lambda *_: pytest.fail("tried"))
    fit = fits_of(halves.Sample.of(BLOBS, 3, np.random.SeedSequence(0)), [3])[0][3]
    assert shapes.shapes(BLOBS, [1, 2, 3], 3, 0.4, fit, np.random.SeedSequence(0)) is None


@pytest.mark.parametrize("method", ["gaussian", "agglomerative", "average", "spectral", KMeans(n_init=1)], ids=str)
def test_ctrl_c_keeps_the_halvings_that_are_done(method):
    """An interrupt after two halvings returns the answer from these with any clusterer; before the first is done it is raised."""

    def after(many):
        def report(done, total):
            if done > many:
                raise KeyboardInterrupt

        return report

    choice = cg.choose_k(BLOBS, range(1, 4), method, progress=after(4))
    assert choice.k == 3
    assert not choice.is_complete
    assert "stopped: 2 of 6 halvings of the points are done" in choice.notes
    assert len(choice.labels) == len(BLOBS)
    with pytest.raises(KeyboardInterrupt):
        cg.choose_k(BLOBS, range(1, 4), method, progress=after(1))


def test_ctrl_c_keeps_the_criteria_that_are_done(monkeypatch):
    """An interrupt in the second criterion keeps the vote of the first; in the first it is raised."""

    def interrupted(_context):
        raise KeyboardInterrupt

    monkeypatch.setitem(PEERS, "gap", replace(PEERS["gap"], curve=interrupted))
    choice = cg.choose_k(BLOBS, range(1, 5), criteria=["silhouette", "gap", "jump"])
    assert choice.best == {"silhouette": 3}
    assert not choice.is_complete
    assert "stopped: 1 of 3 criteria are done, silhouette" in choice.notes
    with pytest.raises(KeyboardInterrupt):
        cg.choose_k(BLOBS, range(1, 5), criteria=["gap", "silhouette"])


def test_jobs_of_the_command_do_not_change_the_answer(command, tmp_path):
    """`--jobs 2` prints what `--jobs 1` prints."""
    np.save(tmp_path / "x.npy", BLOBS)
    one, two = (command("choose-k", "x.npy", "--k", "1..4", "--jobs", str(jobs), "--format", "json") for jobs in (1, 2))
    assert one.code == two.code == 0
    assert one.out == two.out
    assert json.loads(one.out)["k"] == 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"k_min": 0}, "k_min must be 1, or 2"),
        ({"k": [2, 3], "k_min": 4}, "no k is left"),
        ({"n_jobs": 0}, "-1 for all cores"),
        ({"protocol": "paper"}, "'paper' with method 'em'"),
    ],
)
def test_mistakes_are_one_line(arguments, text):
    """Bad input says what was given and what was expected."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.choose_k(BLOBS, **arguments)
    assert "\n" not in str(error.value)


def test_the_paper_is_as_it_was():
    """criteria="paper" is Lei et al.: EM by their protocol, and their eight indices."""
    choice = cg.choose_k(BLOBS, range(2, 4), n_members=4, criteria="paper")
    same = cg.choose_k(BLOBS, range(2, 4), "em", 4, ["nmi_max", "vi"], protocol="paper")
    assert list(choice.criteria) == ["nmi_max", "ari", "nmi_joint", "nmi_sum", "nmi_sqrt", "vi", "mi", "nmi_min"]
    for key in same.criteria:
        assert choice.criteria[key].values.tolist() == same.criteria[key].values.tolist()


def bimodal_axis(seed: int, n: int = 2_000, columns: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Standardised columns, one of them with two modes whose valley has half their height."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, columns))
    X[:, 0] += 3.325 * y
    return X / X.std(axis=0), y


@pytest.mark.slow
def test_a_bimodal_axis_is_no_tie():
    """Columns that vary as much as the distance of two clusters do not hide them; the labels are along the axis."""
    methods = set()
    for seed in range(3):
        X, y = bimodal_axis(seed)
        found = cg.choose_k(X, range(1, 5), progress=False)
        assert (found.k, str(found.verdict)) == (2, "clusters")
        assert cg.ari(found.labels, y) > 0.7
        assert (found.method == "axis") == any("along the axis" in note for note in found.notes)
        methods.add(found.method)
    assert "axis" in methods


def test_one_cloud_has_no_axis():
    """Gaussians, boxes, heavy tails, an arc and a ring are not cut; neither are few points or many columns."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, np.pi, 2_000)
    clouds = {
        "Gaussian": rng.normal(size=(2_000, 4)), "box": rng.random((2_000, 3)), "tails": rng.standard_t(3, (2_000, 3)),
        "arc": np.column_stack([np.cos(t), np.sin(t)]) + 0.1 * rng.normal(size=(2_000, 2)),
        "ring": np.column_stack([np.cos(2 * t), np.sin(2 * t)]) + 0.1 * rng.normal(size=(2_000, 2)),
        "few": bimodal_axis(0, 150)[0], "wide": bimodal_axis(0, 400, 25)[0],
    }  # fmt: skip
    assert [name for name, X in clouds.items() if two_along_an_axis(X) is not None] == []
    assert two_along_an_axis(bimodal_axis(0)[0]) is not None
