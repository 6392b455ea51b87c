"""choose_k: the answer is compared with the known one."""

from __future__ import annotations

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from selection_cases import BLOBS, TRUTH
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

import congruence as cg
from congruence.selection import families, shapes
from reproductions import cluster_shapes

RNG_STRIPS = np.random.default_rng(8)


def test_four_blobs_in_a_square_are_four():
    """A case in which the agreement of clusterings from one random start each gave five."""
    rng = np.random.default_rng(0)
    X = np.repeat([[0, 0], [0, 6], [6, 0], [6, 6]], 50, axis=0) + rng.normal(size=(200, 2))
    choice = cg.choose_k(X)
    assert (choice.k, choice.verdict) == (4, "clusters")
    assert choice.probability > 0.9
    assert choice.sentence.startswith("4 clusters (probability ")
    assert choice.runner_up != 4
    assert np.bincount(choice.labels).tolist() == [50] * 4


@pytest.mark.slow
@pytest.mark.parametrize("centres", [3, 4, 5, 7, 10])
def test_blobs_in_ten_dimensions(centres):
    """The number of Gaussian clusters in ten dimensions is found for each of two seeds."""
    for seed in range(2):
        X, _ = make_blobs(200, n_features=10, centers=centres, random_state=seed)
        assert cg.choose_k(X, progress=False).k == centres


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_noise_has_no_clusters(kind):
    """At most 10% of sets without clusters, in two to seven dimensions, get an answer with clusters."""
    alarms = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        size = (100, 2 + seed % 6)
        X = rng.uniform(size=size) if kind == "uniform" else rng.normal(size=size)
        alarms += cg.choose_k(X, range(1, 6)).k != 1
    assert alarms <= 1


@pytest.mark.slow
def test_no_clusters_is_an_answer_and_names_the_best_of_two_or_more():
    """On noise the verdict is none; k_min=2 gives the runner-up."""
    X = np.random.default_rng(1).normal(size=(200, 4))
    choice = cg.choose_k(X)
    assert (choice.k, choice.verdict) == (1, "none")
    assert choice.sentence.startswith("No clusters (probability ")
    assert f"the best number is {choice.runner_up}" in choice.recommendation
    forced = cg.choose_k(X, k_min=2)
    assert forced.k == choice.runner_up
    assert 1 not in forced.probabilities
    assert sum(forced.probabilities.values()) == pytest.approx(1, rel=1e-12)
    assert 1 in cg.choose_k(X, range(2, 5)).probabilities


def test_the_verdict_follows_the_probabilities():
    """A tie is never called clear; without a probable number there is no answer."""

    def of(**p):
        ks = tuple(int(name[1:]) for name in p)
        return cg.KChoice(ks=ks, criteria={}, probabilities=dict(zip(ks, p.values(), strict=True)))

    tie = of(k1=0.05, k3=0.5, k4=0.45)
    assert (tie.verdict, tie.k, tie.runner_up) == ("tie", 3, 4)
    assert tie.sentence == "Tie between 3 (50%) and 4 clusters (45%)."
    assert of(k1=0.5, k2=0.45, k3=0.05).sentence == "Tie between no clusters (50%) and 2 clusters (45%)."
    unsure = of(k1=0.35, k2=0.2, k3=0.24, k4=0.21)
    assert unsure.verdict == "cannot tell"
    assert unsure.sentence.startswith("Cannot tell: no number of clusters is probable")
    assert of(k1=0.9, k2=0.1).verdict == "none"
    sure = of(k1=0.001, k2=0.997, k3=0.002)
    assert sure.sentence == "2 clusters (probability above 99%); next: 3 (below 1%)."
    for choice in (tie, unsure):
        assert "clear" not in choice.recommendation


def test_the_sentence_names_the_doubt_about_the_next_number():
    """The cluster that limits k + 1 is named."""
    choice = cg.choose_k(BLOBS)
    assert "Against 4: cluster " in choice.recommendation


@pytest.mark.slow
def test_jobs_do_not_change_the_answer():
    """Two jobs give identical results to one; so does a k that is tried alone."""
    one, two = cg.choose_k(BLOBS, random_state=5), cg.choose_k(BLOBS, random_state=5, n_jobs=2)
    pd.testing.assert_frame_equal(one.scores, two.scores, check_exact=True)
    assert one.probabilities == two.probabilities
    few = cg.choose_k(BLOBS, [3], random_state=5)
    assert few.criteria["icl"].values[-1] == one.criteria["icl"].values[2]


def test_the_answer_in_every_form():
    """The object, JSON, table and text say the same."""
    choice = cg.choose_k(BLOBS)
    again = json.loads(choice.to_json())
    assert again["k"] == choice.k == 3
    assert again["verdict"] == "clusters"
    assert again["probability"] == choice.probability
    assert again["sentence"] == choice.sentence
    assert choice.sentence.split(";")[0] in repr(choice).replace("\n", " ")
    assert choice.scores["probability"].tolist() == list(choice.probabilities.values())
    assert choice.best["probability"] == 3
    assert choice.scores["k"].tolist() == list(range(1, 11))


@pytest.mark.slow
def test_a_reference_is_compared_and_does_not_decide():
    """Agreement of each partition with known classes, and the answer as without them."""
    choice = cg.choose_k(BLOBS, reference=TRUTH)
    assert choice.probabilities == cg.choose_k(BLOBS).probabilities
    assert choice.with_reference["ari with reference"].values[2] == cg.ari(TRUTH, choice.partitions[3])
    assert choice.n_reference == 3
    assert "agree best with it at ari 3" in choice.recommendation


@pytest.mark.slow
def test_members_add_curves_that_do_not_vote():
    """With n_members the curves of agreement are added; the probabilities stay."""
    choice = cg.choose_k(BLOBS, range(1, 5), n_members=5)
    assert choice.probabilities == cg.choose_k(BLOBS, range(1, 5)).probabilities
    assert np.isnan(choice.criteria["ari"].values[0])
    assert not choice.criteria["ari"].votes
    assert len(choice.ensembles[3]) == 5


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["gaussian", "agglomerative", "spectral", AgglomerativeClustering(linkage="average"), GaussianMixture()]
)
def test_any_clusterer(method):
    """Three groups by every clusterer, noise by none; there is no probability, and the sentence names the clusterer."""
    choice = cg.choose_k(BLOBS, range(1, 6), method)
    assert (choice.k, choice.verdict, choice.probability) == (3, "clusters", None)
    called = method if isinstance(method, str) else type(method).__name__
    assert choice.sentence.startswith(f"3 clusters by {called}: the largest number")
    assert cg.ari(TRUTH, choice.labels) == 1
    again = cg.choose_k(BLOBS, range(1, 6), method)
    assert again.criteria["returns"].values.tolist()[1:] == choice.criteria["returns"].values.tolist()[1:]


@pytest.mark.slow
def test_clusterers_with_a_name_take_shapes_that_suit_them():
    """Rings by single linkage and spectral clustering, long clusters by mixtures, and noise by none of them."""
    rings, _ = make_circles(400, noise=0.04, factor=0.3, random_state=0)
    assert cg.choose_k(rings, range(1, 4), "spectral").k == 2
    assert cg.choose_k(rings, range(1, 4), "single").k == 2
    strips = RNG_STRIPS.normal(size=(200, 2)) * [6, 0.5] + np.array([[0, 0], [0, 4]])[np.repeat([0, 1], 100)]
    assert cg.choose_k(strips, range(1, 4), "gaussian").k == 2
    noise = np.random.default_rng(3).normal(size=(120, 3))
    for method in families.NAMES:
        assert cg.choose_k(noise, range(1, 5), method).k == 1


def test_agglomerative_and_spectral_are_scikit_learns():
    """Each linkage gives scikit-learn's clusters; spectral clustering of rings gives the rings."""
    for name in families.LINKAGES:
        labels = families.clusterer_of(name)(BLOBS, [1, 2, 4], 0)
        for k in (2, 4):
            assert cg.ari(labels[k], AgglomerativeClustering(k, linkage=name).fit_predict(BLOBS)) == 1
        assert not labels[1].any()
    for n in (180, 260):  # all eigenvectors, and the first
        rings, y = make_circles(n, noise=0.03, factor=0.4, random_state=1)
        labels = families.clusterer_of("spectral")(rings, [1, 2], 0)
        assert cg.ari(labels[2], y) == 1


def test_the_border_by_hand():
    """Log distance to the fifth neighbour: points with a neighbour in the other cluster minus the rest, as z."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2)) + np.array([[0, 0], [3.5, 0]])[np.repeat([0, 1], 40)]
    labels = (X[:, 0] > 1.7).astype(int)
    apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    order = np.argsort(apart, axis=1)
    edge = np.array([any(labels[j] != labels[i] for j in order[i, 1:9]) for i in range(80)])
    far = np.log(np.sort(apart, axis=1)[:, 5])
    z = (far[edge].mean() - far[~edge].mean()) / np.sqrt(
        far[edge].var() / edge.sum() + far[~edge].var() / (~edge).sum()
    )
    assert families.borders(X, {2: labels})[0] == pytest.approx(z, rel=1e-9)
    assert families.borders(BLOBS, {3: TRUTH})[0] == np.inf


def test_a_clusterer_that_gives_another_number_is_not_chosen():
    """Only a clustering into k clusters counts for k."""

    class Two(ClusterMixin, BaseEstimator):
        def __init__(self, n_clusters=2):
            self.n_clusters = n_clusters

        def fit_predict(self, X, y=None):
            return (X[:, 0] > X[:, 0].mean()).astype(int)

    far = np.concatenate([BLOBS[:30], BLOBS[30:60] + np.array([20, 0])])
    choice = cg.choose_k(far, range(1, 5), Two())
    assert choice.k == 2
    assert choice.criteria["returns"].values[2:].tolist() == [0, 0]


def test_known_clusters_without_a_stable_number_get_a_warning():
    """With k_min=2 and no stable number, the best is named with a warning."""
    noise = np.random.default_rng(3).normal(size=(120, 3))
    choice = cg.choose_k(noise, range(1, 5), "ward", k_min=2)
    assert choice.k >= 2
    assert choice.sentence.startswith(f"{choice.k} clusters by ward are the most stable, but not all are separated")
    one = cg.choose_k(noise, range(1, 5), "ward")
    assert (one.k, one.runner_up) == (1, choice.k)
    assert f"the best number is {choice.k}" in one.recommendation


@pytest.mark.parametrize("shape", ["moons", "circles", "long", "turned", "unequal"])
def test_auto_chooses_the_family(shape):
    """Curved clusters by connected groups, long ones by a mixture, unequal ones by any: the right k and labels."""
    rng = np.random.default_rng(0)
    if shape in ("moons", "circles"):
        make = partial(make_moons, noise=0.06) if shape == "moons" else partial(make_circles, noise=0.04, factor=0.4)
        X, y = make(240, random_state=0)
    elif shape == "unequal":
        y = np.repeat([0, 1, 2], [300, 50, 25])
        X = (
            rng.normal(size=(375, 3)) * np.array([1.5, 0.6, 0.4])[y][:, None]
            + np.array([[0, 0, 0], [7, 0, 0], [0, 6, 0]])[y]
        )
    else:
        y = np.repeat([0, 1, 2], 80)
        X = rng.normal(size=(240, 2)) * [6, 0.5] + np.array([[0, 0], [0, 4], [0, 8]])[y]
        X = X @ [[0.8, 0.6], [-0.6, 0.8]] if shape == "turned" else X
    choice = cg.choose_k(X, range(1, 7))
    assert choice.k == len(np.unique(y))
    assert cg.ari(y, choice.labels) > 0.95
    if shape in ("moons", "circles"):
        assert choice.method == "connected groups"
        assert any("k-means cannot be right" in note for note in choice.notes)
    if shape in ("long", "turned"):
        assert choice.method == "gaussian"
        assert any("Gaussian mixture" in note for note in choice.notes)


def test_auto_falls_back_on_spectral_clusters():
    """Two moons of few points are separated by spectral clustering, but not by connected groups."""
    X, y = cluster_shapes.draw("moons", 4)
    choice = cg.choose_k(X, range(1, 6))
    assert (choice.k, choice.method) == (2, "spectral")
    assert cg.ari(choice.labels, y) == 1
    assert any("spectral clustering" in note for note in choice.notes)
    noise = np.random.default_rng(0).normal(size=(200, 2))
    assert shapes.spectral_clusters(noise, [1, 2, 3], np.random.SeedSequence(0)) is None


def test_auto_finds_groups_that_thin_out():
    """Two spirals, sparser outside, are connected only by distances relative to the local density."""
    X, y = cluster_shapes.draw("spirals", 1)
    choice = cg.choose_k(X, range(1, 5))
    assert (choice.k, choice.method) == (2, "connected groups")
    assert cg.ari(choice.labels, y) == 1
    assert shapes.connected_groups(X, range(1, 5)) is None
    assert shapes.groups(np.repeat(X, 9, axis=0)[:400], 4, local=True).k == 1  # only copies are near


def test_isolated_points_do_not_hide_clusters():
    """One error of measurement, a thousand times too large, does not change the answer; it is named, and has a label."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2)) + np.repeat([[0, 0], [7, 0]], 50, axis=0)
    wrong = np.insert(X, 30, [900.0, 0], axis=0)
    choice = cg.choose_k(wrong, range(1, 5))
    assert (choice.k, choice.verdict) == (2, "clusters")
    assert "points far from all others were not used, and join the nearest centre: rows 30" in choice.notes
    assert np.delete(choice.labels, 30).tolist() == cg.choose_k(X, range(1, 5)).labels.tolist()
    assert choice.labels[30] == choice.labels[-1]
    four = np.vstack([rng.normal(size=(100, 2)), 90 + rng.normal(size=(4, 2))])
    assert cg.choose_k(four, range(1, 5)).verdict == "none"


def test_few_points_are_not_groups_of_varying_density():
    """Twenty points have gaps by chance."""
    for seed in (0, 8, 10):
        X = np.random.default_rng([20, 2, seed]).uniform(size=(20, 2))
        assert shapes.groups(X, 5, local=True).span > shapes.LOCAL_SPAN
        assert cg.choose_k(X).k == 1


def test_no_shapes_in_one_dimension():
    """Uniform numbers have gaps, but no clusters."""
    for seed in range(3):
        choice = cg.choose_k(np.random.default_rng(seed).uniform(size=(150, 1)), range(1, 5))
        assert (choice.k, choice.method) == (1, "kmeans")


@pytest.mark.parametrize("columns", [2, 3, 5, 8])
def test_gaps_between_values_are_not_clusters(columns):
    """Independent yes/no answers have no clusters, although nothing is halfway between two answers."""
    X = np.random.default_rng(columns).integers(0, 2, (200, columns))
    choice = cg.choose_k(X, range(1, 6))
    assert choice.verdict == "none"
    assert any("every column has few values" in note for note in choice.notes)


@pytest.mark.slow
def test_clusters_of_answers():
    """Answers from 1 to 5 with three profiles: three clusters; equal answers have the same label in every sample."""
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 1_000)
    profiles = np.array([[2, 2, 4, 4, 2, 4], [4, 4, 2, 2, 2, 4], [2, 4, 2, 4, 4, 2]])
    X = np.clip(np.rint(profiles[y] + 0.7 * rng.normal(size=(3_000, 6))), 1, 5)
    for data, truth in ((X[::15], y[::15]), (X, y)):
        choice = cg.choose_k(data, range(1, 5))
        assert choice.k == 3
        assert cg.ari(choice.labels, truth) > 0.95
        rows, kind = np.unique(data, axis=0, return_inverse=True)
        assert cg.homogeneity(choice.labels, kind) == 1
        assert len(rows) < len(data)


def test_criteria_of_any_clusterer():
    """Silhouette, Calinski–Harabasz and Davies–Bouldin are computed for the named clusterer; other criteria refuse it."""
    choice = cg.choose_k(BLOBS, range(1, 5), "average", criteria=["silhouette", "davies_bouldin"])
    labels = AgglomerativeClustering(3, linkage="average").fit_predict(BLOBS)
    assert choice.criteria["silhouette"].values[2] == pytest.approx(silhouette_score(BLOBS, labels), rel=1e-9)
    assert (choice.k, choice.method) == (3, "average")
    with pytest.raises(cg.InputError, match="gap cannot be computed with method 'average', only with k-means"):
        cg.choose_k(BLOBS, method="average", criteria=["gap", "silhouette"])
    with pytest.raises(cg.InputError, match="silhouette cannot be computed with method 'fuzzy'"):
        cg.choose_k(BLOBS, method="fuzzy", criteria="silhouette")
