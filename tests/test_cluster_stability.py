"""EM by the paper, and the stability of clusters, compared with loops."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from selection_cases import BLOBS, NOISE
from sklearn.cluster import DBSCAN, KMeans
from sklearn.mixture import GaussianMixture

import congruence as cg
from congruence.ensembles import soft_generators

# --- EM by the paper -------------------------------------------------------------------------------------------------


def slow_em(data, k, rng, kind, limit=100):
    """Section V.C by loops: random points as means, variances on the diagonal, equal priors; max change of means < 1e-3."""
    n, d = data.shape
    means = data[rng.choice(n, k, replace=False)].copy()
    covariances = [np.diag(data.var(axis=0, ddof=1)) for _ in range(k)]
    priors = np.full(k, 1 / k)

    def posterior():
        u = np.empty((n, k))
        for i in range(n):
            for j in range(k):
                gap = data[i] - means[j]
                density = np.exp(-0.5 * gap @ np.linalg.inv(covariances[j]) @ gap)
                u[i, j] = priors[j] * density / np.sqrt((2 * np.pi) ** d * np.linalg.det(covariances[j]))
            u[i] /= u[i].sum()
        return u

    for step in range(1, limit + 1):
        u = posterior()
        old = means.copy()
        for j in range(k):
            means[j] = sum(u[i, j] * data[i] for i in range(n)) / u[:, j].sum()
            covariances[j] = sum(u[i, j] * np.outer(data[i] - means[j], data[i] - means[j]) for i in range(n))
            covariances[j] = covariances[j] / u[:, j].sum()
            if kind == "diag":
                covariances[j] = np.diag(np.diag(covariances[j]))
            priors[j] = u[:, j].mean()
        if np.abs(means - old).max() < 1e-3:
            return posterior(), step
    return posterior(), limit


@pytest.mark.parametrize("kind", ["diag", "full"])
@pytest.mark.parametrize("seed", [0, 1])
def test_em_is_the_papers(seed, kind):
    """The memberships are those of the protocol written out in loops."""
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(40, 2)) * [1, 5] + np.array([[0, 0], [6, 9]])[rng.integers(0, 2, 40)]
    found = soft_generators._em_of_the_paper(data, 2, np.random.default_rng(seed), kind=kind)
    expected, steps = slow_em(data, 2, np.random.default_rng(seed), kind)
    assert steps < 100
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
def test_em_of_the_paper_repairs_singular_covariances_and_says_so():
    """A constant feature, or one that repeats another, does not crash: the notes say how many members were repaired."""
    twice = np.column_stack([BLOBS, BLOBS[:, 0]])
    constant = np.column_stack([BLOBS, np.ones(90)])
    few = np.repeat(BLOBS[:4], 5, axis=0)
    for data, kind in ((twice, "full"), (constant, "full"), (few, "full"), (constant, None), (few, None)):
        e = cg.generate(data, 3, 3, "em", random_state=0, protocol="paper", covariance_type=kind)
        assert any("of 3 members: singular covariances were regularised" in note for note in e.notes)
        assert all(np.isfinite(c.matrix).all() for c in e)
    for data, kind in ((BLOBS, "full"), (twice, None)):  # diagonal covariances of repeated features are not singular
        clean = cg.generate(data, 3, 3, "em", random_state=0, protocol="paper", covariance_type=kind)
        assert not any("singular" in note for note in clean.notes)
    chosen = cg.choose_k(twice, [2, 3], "em", 4, "ari", protocol="paper", covariance_type="full", random_state=0)
    assert any("singular covariances" in note for note in chosen.notes)


def test_em_of_the_paper_says_when_it_was_stopped():
    """Runs that use all 100 steps are kept and counted in the notes."""
    e = cg.generate(NOISE, 4, 6, "em", random_state=0, protocol="paper")
    assert any("EM stopped after 100 steps" in note for note in e.notes)


# --- cluster by cluster ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample"])
def test_stability_by_hand(scheme):
    """Jaccard to the best match, and how often each point was in it, are those of loops over sets."""
    model = KMeans(4, n_init=1)
    share = {"fraction": 0.7} if scheme == "subsample" else {}
    s = cg.stability(NOISE[:40], model, scheme=scheme, n_resamples=6, random_state=3, **share)
    streams = np.random.SeedSequence(3).spawn(7)
    inside, drawn = defaultdict(int), defaultdict(int)
    for r, stream in enumerate(streams[1:]):
        rng = np.random.default_rng(stream)
        if scheme == "bootstrap":
            chosen = sorted(set(rng.integers(0, 40, 40).tolist()))
        else:
            chosen = sorted(rng.choice(40, 28, replace=False).tolist())
        fitted = KMeans(4, n_init=1, random_state=int(rng.integers(2**31 - 1))).fit_predict(NOISE[chosen])
        new = [{p for p, x in zip(chosen, fitted, strict=True) if x == j} for j in range(4)]
        for p in chosen:
            drawn[p] += 1
        for c in s.clusters:
            mine = {p for p in chosen if s.labels[p] == c}
            scores = [len(mine & d) / len(mine | d) for d in new]
            assert s.jaccard[r, c] == max(scores)
            for p in new[int(np.argmax(scores))]:
                inside[p, c] += 1
    for p in range(40):
        for c in s.clusters:
            assert s.belonging[p, c] == inside[p, c] / drawn[p]


@pytest.mark.slow
def test_stability_tells_good_clusters_from_bad_and_names_the_points():
    """Two distant groups are stable; the halves of an arbitrarily split group are not, and points on the cut are listed."""
    rng = np.random.default_rng(0)
    bridge = np.array([[5.0, 0.0]])
    X = np.concatenate([rng.normal(size=(30, 2)), rng.normal(size=(30, 2)) + np.array([10, 0]), bridge])
    good = cg.stability(X, KMeans(2, n_init=5), n_resamples=30, random_state=0)
    assert min(good.mean.values()) > 0.9
    assert good.overall > 0.9
    worst = good.unstable(good.labels[-1].item(), limit=1)
    assert worst["point"].tolist() == [60]
    assert worst["does"].tolist() == ["leaves"]
    bad = cg.stability(X, KMeans(5, n_init=1), n_resamples=30, random_state=0)
    assert min(bad.mean.values()) < 0.7
    frame = bad.to_frame()
    assert frame["points"].sum() == 61
    assert ((frame["recovered"] + frame["dissolved"]) <= 1).all()
    assert "unreliable" in repr(bad) or "uncertain" in repr(bad)


def test_stability_takes_noise_mixtures_and_functions():
    """−1 is not a cluster; mixtures and plain functions are clusterers; names of rows are kept."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 2)) * 0.3, rng.normal(size=(30, 2)) * 0.3 + 5, [[50.0, 50.0]]])
    s = cg.stability(pd.DataFrame(X, index=[f"p{i}" for i in range(61)]), DBSCAN(), n_resamples=5, random_state=0)
    assert s.clusters == (0, 1)
    assert s.labels[-1] == -1
    assert s.points[3] == "p3"
    assert np.nan_to_num(s.belonging[-1]).sum() == 0
    assert len(cg.stability(X, GaussianMixture(2), n_resamples=3, random_state=0).clusters) == 2
    halves = cg.stability(X, lambda data: (data[:, 0] > 2.5).astype(int), n_resamples=5, random_state=0)
    assert set(halves.mean.values()) == {1.0}
    assert halves.unstable(0).empty


@pytest.mark.slow
def test_stability_does_not_depend_on_jobs():
    """Two jobs give the numbers of one."""
    one = cg.stability(NOISE, KMeans(3, n_init=1), n_resamples=4, random_state=0)
    two = cg.stability(NOISE, KMeans(3, n_init=1), n_resamples=4, random_state=0, n_jobs=2)
    assert np.array_equal(one.jaccard, two.jaccard)
    assert np.array_equal(one.belonging, two.belonging, equal_nan=True)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"clusterer": "kmeans"}, r"must be a scikit-learn clusterer, as in KMeans\(3\)"),
        ({"clusterer": KMeans}, "must be a scikit-learn clusterer"),
        ({"scheme": "boot"}, "'bootstrap', 'subsample', 'jitter' or 'noise'"),
        ({"scheme": "noise", "noise": (2, 4)}, "noise must be a probability"),
        ({"scheme": "jitter", "jitter": 2}, "jitter must be a quantile"),
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
        ({"clusterer": KMeans(89)}, "the clusterer failed on"),
        ({"clusterer": DBSCAN(eps=1e-9)}, "all points are noise"),
        ({"clusterer": lambda data: data.sum()}, "a whole number for each"),
    ],
)
def test_mistakes_in_stability_are_one_line(arguments, text):
    """Bad input says what was given and what was expected."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.stability(**{"X": BLOBS, "clusterer": KMeans(2), "n_resamples": 2, **arguments})
    assert "\n" not in str(error.value)


def test_an_unknown_cluster_is_one_line():
    """Asking for the points of an unknown cluster raises an error that lists the known ones."""
    s = cg.stability(BLOBS, KMeans(2), n_resamples=2, random_state=0)
    with pytest.raises(cg.InputError, match="there is no cluster 7; there are: 0 and 1"):
        s.unstable(7)


# --- real memberships ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("label", "words"), [(np.nan, "nan"), (0.5, "0.5")])
def test_labels_that_are_not_whole_numbers_are_refused(label, words):
    """A label of 0.5 is not rounded to another cluster, and NaN is no number."""
    with pytest.raises(cg.InputError, match=f"whole numbers, −1 for noise; it returned {words}"):
        cg.stability(BLOBS, lambda x: np.where(x[:, 0] > 4, label, 0.0), n_resamples=2, random_state=0)


@pytest.mark.filterwarnings("error")
def test_a_cluster_that_was_never_drawn_is_reported():
    """With few resamples a small cluster may never be drawn: undefined, without a warning, and not in the mean."""
    s = cg.stability(np.arange(8.0)[:, None], DBSCAN(eps=0.1, min_samples=1), n_resamples=1, random_state=0)
    missed = [cluster for cluster, mean in s.mean.items() if np.isnan(mean)]
    assert missed
    assert "never drawn" in repr(s)
    assert s.overall == 1.0
    frame = s.to_frame()
    assert frame["recovered"].isna().tolist() == [c in missed for c in s.clusters]
