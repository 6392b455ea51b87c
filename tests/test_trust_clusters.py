"""cg.check_clusters: which clusters are real."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine

import congruence as cg
from congruence.trust.borders import border_of
from congruence.trust.cluster_check import checked

TRUTH = np.repeat([0, 1, 2], 150)


def blobs(seed=0, apart=7.0):
    """Three round clusters of 150 points."""
    return np.random.default_rng(seed).normal(size=(450, 2)) + np.array([[0, 0], [apart, 0], [0, apart]])[TRUTH]


def kmeans(X, k, seed=0):
    return KMeans(k, n_init=2, random_state=seed).fit_predict(X)


def test_true_clusters_are_kept():
    """Three separated clusters: all are kept, with empty borders, whatever the labels are called."""
    c = cg.check_clusters(blobs(), np.array(["x", "y", "z"])[TRUTH])
    assert c.verdict == ("keep",) * 3
    assert (c.merged == np.array(["x", "y", "z"])[TRUTH]).all()
    assert c.valley.min() > 0.8
    assert c.p_value.max() < 0.001
    assert c.stability.min() > 0.95
    assert c.sentence == "No two clusters need merging. 3 clusters are separated from all neighbours."


@pytest.mark.parametrize("seed", range(3))
def test_pieces_are_merged(seed):
    """k-means with 7 clusters on three blobs comes back to the three; only clusters of verdict merge change their label."""
    X = blobs(seed)
    labels = kmeans(X, 7, seed)
    c = cg.check_clusters(X, labels)
    assert cg.ari(TRUTH, c.merged) > 0.97
    kept = np.isin(labels, [name for name, verdict in zip(c.names, c.verdict, strict=True) if verdict != "merge"])
    assert (c.merged[kept] == labels[kept]).all()
    assert "Merge 7 clusters into 3" in c.sentence
    assert cg.check_clusters(X, c.merged).n_merged == 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "uniform", "heavy"])
def test_p_values_of_one_cloud_are_nearly_uniform(kind):
    """One cloud cut in two by k-means: the p-value is small as often as it says, and not mostly 1."""
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        size = (200, 2 + seed % 9)
        if kind == "heavy":
            cloud = rng.standard_t(3, size)
        else:
            cloud = rng.normal(size=size) if kind == "normal" else rng.uniform(size=size)
        found.append(cg.check_clusters(cloud, kmeans(cloud, 2)).p_value[0])
    assert kstest(found, "uniform").statistic < 0.3
    assert np.mean(np.array(found) <= 0.05) <= 0.15


def test_refitted_p_values_change_no_verdict():
    """The p-values shown are at most those of the valleys, which decide; verdicts and merged labels are the same without them."""
    X = blobs(apart=4.5)
    for k in (3, 6):
        shown, plain = (checked(X, kmeans(X, k), refits=refits) for refits in (8, 0))
        assert shown.verdict == plain.verdict
        assert (shown.merged == plain.merged).all()
        assert (shown.p_value <= plain.p_value).all()
        assert (shown.p_value[np.array(shown.verdict) == "keep"] <= 0.05).all()


@pytest.mark.parametrize("seed", range(4))
def test_small_clusters_are_not_merged(seed):
    """Two clusters of 30 points, 6 sd apart, stay apart though no valley need be significant; halves of one do not."""
    rng = np.random.default_rng(seed)
    two = rng.normal(size=(60, 3)) + np.repeat([[0, 0, 0], [6, 0, 0]], 30, axis=0)
    c = cg.check_clusters(two, np.repeat([0, 1], 30))
    assert c.n_merged == 2
    assert c.gain.min() > 2.4
    one = rng.normal(size=(60, 3))
    cut = cg.check_clusters(one, one[:, 0] > 0)
    assert cut.verdict == ("merge", "merge")
    assert cut.gain.max() < 2.4


def test_minus_one_that_may_be_noise_is_noted():
    """Labels of −1 without `noise` are a cluster, and a note says what to pass; with `noise` there is no note."""
    labels = np.where(np.arange(450) % 20 == 0, -1, TRUTH)
    c = cg.check_clusters(blobs(), labels)
    assert "labels has label −1 among others" in c.notes[0]
    assert "noise=-1" in c.notes[0]
    assert (len(c.names), len(cg.check_clusters(blobs(), labels, noise=-1).notes)) == (4, 0)


@pytest.mark.parametrize("kind", ["counts", "ratings"])
def test_gaps_between_integers_are_no_valleys(kind):
    """One cloud of integers in two columns, cut in four, is merged; two clouds of integers with a gap between them are kept."""
    rng = np.random.default_rng(1)
    one = (rng.poisson(4, (600, 2)) if kind == "counts" else np.clip(rng.normal(3, 1.1, (600, 2)).round(), 1, 5)) * 1.0
    c = cg.check_clusters(one, kmeans(one, 4))
    assert "keep" not in c.verdict
    assert c.n_merged == 1
    two = one + np.repeat([[0], [20]], 300, axis=0)
    assert cg.check_clusters(two, np.repeat([0, 1], 300)).verdict == ("keep", "keep")


def test_shapes_without_a_centre():
    """Two moons: the moons stay apart though no straight line separates them, and quarters of them are merged."""
    rng = np.random.default_rng(0)
    t, moon = rng.uniform(0, np.pi, 600), np.arange(600) % 2
    X = np.where(moon[:, None], np.c_[1 - np.cos(t), 0.5 - np.sin(t)], np.c_[np.cos(t), np.sin(t)])
    X = X + 0.05 * rng.normal(size=X.shape)
    assert cg.check_clusters(X, moon).verdict == ("keep", "keep")
    assert cg.ari(moon, cg.check_clusters(X, 2 * moon + (t > np.pi / 2)).merged) == 1


@pytest.mark.parametrize("cut", ["k-means", "ward"])
def test_one_cloud_that_was_cut_is_rarely_separated(cut):
    """Gaussians, cubes and heavy tails cut into two or four: a cluster is kept in at most 2 of 24."""
    kept = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        size = (300, (2, 5, 15)[seed % 3])
        X = (rng.normal(size=size), rng.uniform(size=size), rng.standard_t(3, size=size))[seed // 3 % 3]
        k = 2 + 2 * (seed % 2)
        labels = kmeans(X, k, seed) if cut == "k-means" else AgglomerativeClustering(k).fit_predict(X)
        kept += "keep" in cg.check_clusters(X, labels).verdict
    assert kept <= 2


def test_what_cannot_be_told_is_unsure():
    """Clusters of four points with nothing between them are neither kept nor merged."""
    X = np.concatenate([np.random.default_rng(0).normal(size=(4, 2)) + at for at in ([0, 0], [5, 0])])
    c = cg.check_clusters(X, np.repeat(["a", "b"], 4))
    assert c.verdict == ("unsure", "unsure")
    assert c.merged.tolist() == ["a"] * 4 + ["b"] * 4
    assert "2 cannot be told: “a”, “b”" in c.sentence


def test_p_values_are_not_too_small_for_one_cloud():
    """Halves of one Gaussian: p is below 0.05 in at most 3 of 60."""
    small = 0
    for seed in range(60):
        X = np.random.default_rng(seed).normal(size=(200, 4))
        left = kmeans(X, 2, seed) == 0
        small += border_of(X[left], X[~left], np.random.default_rng(seed)).p_value <= 0.05
    assert small <= 3


def test_points_without_a_cluster_and_one_cluster():
    """Missing and noise labels are in no cluster and stay so; one cluster has no neighbour."""
    X = blobs()
    labels = TRUTH.astype(object)
    labels[::10] = None
    c = cg.check_clusters(X, labels)
    assert c.merged[:3].tolist() == [None, 0, 0]
    noisy = np.where(np.arange(450) % 10 == 0, -1, TRUTH)
    assert cg.check_clusters(X, noisy, noise=-1).sizes.tolist() == [135] * 3
    one = cg.check_clusters(X, np.zeros(450, int))
    assert one.verdict == ("keep",)
    assert one.sentence == "There is one cluster, and nothing to compare it with."
    assert one.to_dict()["clusters"][0]["nearest"] is None


def test_many_points_are_sampled_and_said():
    """Above 5,000 points a sample is used, which a note says; all points get labels; the same seed gives the same result."""
    rng = np.random.default_rng(0)
    truth = np.arange(20_000) % 3
    X = rng.normal(size=(20_000, 3)) + 8 * np.eye(3)[truth]
    labels = np.where(X[:, 0] > 8, 3, truth)
    c = cg.check_clusters(X, labels)
    assert cg.ari(truth, c.merged) > 0.999
    assert "of 20,000 points were used" in c.notes[0]
    assert c == cg.check_clusters(X, labels)
    wide = cg.check_clusters(np.hstack([blobs(), rng.normal(size=(450, 60))]), TRUTH)
    assert "the first 50 principal axes of 62 columns" in wide.notes[0]
    assert wide.n_merged == 3


def test_refusals():
    """Different numbers of points, memberships, an alpha outside 0 to 1 and no labels at all are refused in a line."""
    for X, labels, options, text in (
        (blobs()[:9], TRUTH, {}, "X has 9 rows and labels 450"),
        (blobs(), np.eye(3)[TRUTH], {}, "one label per point"),
        (blobs(), TRUTH, {"alpha": 2}, "alpha must be between 0 and 1, not 2"),
        (blobs(), [None] * 450, {}, "labels have 0 clusters"),
    ):
        with pytest.raises(cg.InputError, match=text):
            cg.check_clusters(X, labels, **options)


def test_the_command(command, tmp_path):
    """`congruence check-clusters` prints the same, writes the merged labels by id, and names the columns used."""
    X = blobs()
    frame = pd.DataFrame({"cell": [f"c{i}" for i in range(450)], "x": X[:, 0], "y": X[:, 1], "leiden": kmeans(X, 6)})
    frame.to_csv(tmp_path / "data.csv", index=False)
    said = command("check-clusters", "data.csv", "--labels", "leiden", "--out", "merged.csv", "--plot", "c.svg")
    assert said.code == 0
    assert "features: x, y" in said.err
    assert said.out == f"{cg.check_clusters(X, frame['leiden'].to_numpy())}\n"
    merged = pd.read_csv(tmp_path / "merged.csv")
    assert merged.columns.tolist() == ["cell", "leiden", "merged"]
    assert cg.ari(TRUTH, merged["merged"]) > 0.97
    refused = command("check-clusters", "data.csv", "--labels", "leiden", "--features", "cell")
    assert refused.code == 2
    assert len(refused.refusal) == 1


def test_columns_of_different_scale_get_a_note():
    """A wide column hides the clusters of the others: the note says so, and is not there when columns are standardised."""
    X, y = load_wine(return_X_y=True)
    assert any("columns differ in scale" in note for note in cg.check_clusters(X, y).notes)
    assert not any("scale" in note for note in cg.check_clusters(X / X.std(axis=0), y).notes)
