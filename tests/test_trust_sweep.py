"""cg.sweep: which parameters of a clusterer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr
from sklearn.cluster import DBSCAN, KMeans

import congruence as cg
from congruence.trust import clouds

TRUTH = np.repeat([0, 1, 2], 60)
X = np.random.default_rng(0).normal(size=(180, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[TRUTH]
GRID = {"n_clusters": [2, 3, 4, 5]}


def swept(**options):
    return cg.sweep(X, KMeans(n_init=2), GRID, **{"n_repeats": 2, **options})


def test_the_best_setting_finds_the_separated_clusters():
    """Three blobs: three clusters, all separated; the score is their information times their stability."""
    w = swept()
    assert w.best == {"n_clusters": 3}
    assert w.verdict == "setting"
    assert cg.ari(TRUTH, w.labels) == 1
    rows = w.scores.set_index("n_clusters", drop=False) if w.scores.columns.is_unique else w.scores
    assert w.rows[1]["separated"] == 1
    assert w.rows[1]["score"] == pytest.approx(np.log2(3) * w.rows[1]["stability"])
    assert w.rows[3]["separated"] < 0.5
    assert len(rows) == 4
    assert w.sentence.startswith("Use n_clusters=3: 3 clusters, 100% of the points")
    ari = [cg.ari(a, b) for a, b in zip(w.found, w.found[1:], strict=False)]
    assert w.agreement[0] == pytest.approx(ari[0])
    assert w.agreement[1] == pytest.approx(np.mean(ari[:2]))


def test_stability_alone_would_choose_another():
    """Two far pairs of near blobs: 2 is as stable as 4, and the sweep chooses 4."""
    rng = np.random.default_rng(1)
    four = np.repeat(np.arange(4), 60)
    Y = rng.normal(size=(240, 2)) + np.array([[0, 0], [7, 0], [40, 0], [47, 0]])[four]
    w = cg.sweep(Y, KMeans(n_init=3), {"n_clusters": [2, 3, 4, 5]}, n_repeats=3)
    assert w.rows[0]["stability"] >= w.rows[2]["stability"] - 1e-12
    assert w.best == {"n_clusters": 4}


def test_data_without_clusters_get_no_setting():
    """One Gaussian, one cube: no setting of k-means or DBSCAN in at least 11 of 12."""
    picked = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        for Y in (rng.normal(size=(150, 3)), rng.uniform(size=(150, 2))):
            for clusterer, grid in ((KMeans(n_init=1), GRID), (DBSCAN(), {"eps": [0.05, 0.1, 0.2, 0.5, 1.0]})):
                picked += cg.sweep(Y, clusterer, grid, n_repeats=2).best is not None
    assert picked <= 1
    w = cg.sweep(np.random.default_rng(0).normal(size=(100, 2)), KMeans(n_init=1), GRID, n_repeats=2)
    assert w.best is w.n_clusters is None
    assert w.equal == ()
    assert w.sentence.startswith("No setting can be recommended")
    with pytest.raises(cg.InputError, match="no setting beats data without clusters"):
        _ = w.labels


def overlapping():
    """Three groups in twenty columns that overlap in each."""
    rng, groups = np.random.default_rng(0), np.repeat([0, 1, 2], 40)
    return rng.normal(size=(120, 20)) + 0.9 * rng.normal(size=(3, 20))[groups], groups


def test_stable_clusters_without_empty_borders_are_more_compact_than_chance():
    """No border between overlapping groups is empty, and three clusters are recommended all the same.

    The same columns put together at random, as heavy-tailed and skewed clouds, get no setting.
    """
    Y, groups = overlapping()
    w = cg.sweep(Y, KMeans(n_init=3), GRID, n_repeats=3)
    assert (w.evidence, w.best) == ("compact", {"n_clusters": 3})
    assert cg.ari(groups, w.labels) > 0.9
    assert w.beyond[1] == np.nanmax(w.beyond) > 0.05
    assert w.scores.columns.tolist()[-2:] == ["beyond", "agreement"]
    assert "not separated, but more compact than in data without clusters" in w.sentence
    assert w.to_dict()["evidence"] == "compact"
    assert swept().evidence == "separated"
    rng = np.random.default_rng(0)
    for cloud in (rng.permuted(Y, axis=0), rng.standard_t(3, size=(120, 4)), rng.exponential(size=(120, 4))):
        w = cg.sweep(cloud, KMeans(n_init=3), GRID, n_repeats=3)
        assert (w.evidence, w.best) == ("", None)


def test_data_without_clusters_keep_what_they_should():
    """Each kind of cloud keeps its promise: the columns of the data, their covariance, the box of the principal axes."""
    rng = np.random.default_rng(0)
    Y = np.column_stack([rng.exponential(size=400), rng.integers(0, 3, 400)]) @ np.array([[1.0, 1.0], [0.0, 1.0]])
    same, normal, box = (make(Y, rng) for make in clouds.CLOUDS)
    assert np.array_equal(np.sort(same, axis=0), np.sort(Y, axis=0))
    assert spearmanr(*same.T)[0] == pytest.approx(spearmanr(*Y.T)[0], abs=0.1)
    assert np.cov(normal.T) == pytest.approx(np.cov(Y.T), abs=0.3)
    axes = np.linalg.svd(Y - Y.mean(axis=0), full_matrices=False)[2]
    along, drawn = (Y - Y.mean(axis=0)) @ axes.T, box @ axes.T
    assert (drawn.min(axis=0) >= along.min(axis=0)).all()
    assert (drawn.max(axis=0) <= along.max(axis=0)).all()


def test_an_interruption_on_data_without_clusters_keeps_the_settings():
    """Ctrl-C while settings are tried on data without clusters: their scores are kept, and a note says so."""

    def stop(done, total):
        if total < len(GRID["n_clusters"]):  # the stable settings only
            raise KeyboardInterrupt

    w = cg.sweep(overlapping()[0], KMeans(n_init=3), GRID, n_repeats=2, progress=stop)
    assert not w.is_complete
    assert len(w.settings) == 4
    assert "stopped before all settings were tried on data without clusters" in w.notes


def test_settings_with_the_same_labels_are_equal():
    """DBSCAN with several radii between the spacing and the gap: all of them are as good, and noise is in no cluster."""
    w = cg.sweep(X, DBSCAN(min_samples=4), {"eps": [1.6, 1.9, 2.2]}, n_repeats=2)
    assert w.verdict == "equal"
    assert len(w.equal) > 1
    assert "as good" in w.sentence
    assert w.rows[0]["unassigned"] == (w.found[0] < 0).sum()


def test_any_function_and_a_list_of_settings():
    """A function of data, seed and parameters; other grids; each seed is whole and passed on."""
    seeds = []

    def cut(data, seed, at):
        seeds.append(seed)
        return np.where(data[:, 0] > at, "right", "left")

    w = cg.sweep(X, cut, [{"at": 4.5}, {"at": 0.0}], n_repeats=2)
    assert w.best == {"at": 4.5}
    assert all(isinstance(s, int) for s in seeds)
    assert set(w.labels.tolist()) == {0, 1}
    one = cg.sweep(X, KMeans(n_init=1), {"n_clusters": 3}, n_repeats=1)
    assert one.best == {"n_clusters": 3}
    assert np.isnan(one.agreement[0])


def test_processes_and_a_checkpoint_do_not_change_the_result(tmp_path):
    """The same for two processes; an interrupted sweep says so, keeps its rows and continues from its file."""
    whole = swept()
    assert swept(n_jobs=2) == whole

    def stop(done, total):
        if done == 2:
            raise KeyboardInterrupt

    file = tmp_path / "sweep.jsonl"
    part = swept(progress=stop, checkpoint=file)
    assert not part.is_complete
    assert "stopped after 2 of 4 settings" in part.notes
    assert [s["n_clusters"] for s in part.settings] == [2, 3]
    with file.open("a") as out:
        out.write('{"position": 2, "se')  # an incomplete last line is ignored
    again = swept(checkpoint=file)
    assert again == whole
    assert len(file.read_text().splitlines()) >= 5
    with pytest.raises(cg.InputError, match="checkpoint of another sweep"):
        swept(checkpoint=file, n_repeats=3)
    (tmp_path / "other").write_text("hello\n")
    with pytest.raises(cg.InputError, match="is not a checkpoint"):
        swept(checkpoint=tmp_path / "other")


def test_refusals():
    """Unknown parameters, empty grids, clusterers that are none, few points, and failures of every setting."""
    for clusterer, grid, text in (
        (KMeans(), {"k": [2]}, "KMeans has no parameter 'k'; there are: algorithm"),
        (KMeans(), {}, "the grid has no settings"),
        (KMeans(), "n_clusters", "expected values by parameter"),
        (KMeans, GRID, "clusterer must be a scikit-learn clusterer"),
        (KMeans(n_init=1), {"n_clusters": [-1]}, "failed with every setting: n_clusters=-1"),
        (lambda x, seed, a: x[:3, 0], {"a": [1]}, "must return a label per point"),
    ):
        with pytest.raises(cg.InputError, match=text):
            cg.sweep(X, clusterer, grid, n_repeats=1)
    with pytest.raises(cg.InputError, match="at least 10; there are 4"):
        cg.sweep(X[:4], KMeans(), GRID)
    w = cg.sweep(X, KMeans(n_init=1), {"n_clusters": [3, 1000]}, n_repeats=1)
    assert w.best == {"n_clusters": 3}
    assert "1 setting failed: n_clusters=1000" in w.notes[0]


def test_the_command(command, tmp_path):
    """`congruence sweep` tries a range, prints the same, writes labels and JSON, and refuses a bad grid in one line."""
    pd.DataFrame({"cell": [f"c{i}" for i in range(180)], "x": X[:, 0], "y": X[:, 1]}).to_csv(
        tmp_path / "d.csv", index=False
    )
    words = ["sweep", "d.csv", "--clusterer", "kmeans", "--repeats", "2"]
    said = command(*words, "--grid", "n_clusters=2..4", "--out", "l.csv", "--plot", "s.svg", "--format", "json")
    assert said.code == 0
    assert json.loads(said.out)["best"] == {"n_clusters": 3}
    assert cg.ari(pd.read_csv(tmp_path / "l.csv")["cluster"], TRUTH) == 1
    for grid, text in (
        ("n_clusters", "takes NAME=VALUES"),
        ("n_clusters=5..2", "expected a range"),
        ("a=1", "no parameter 'a'"),
    ):
        refused = command(*words, "--grid", grid)
        assert refused.code == 2
        assert text in refused.err
