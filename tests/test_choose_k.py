"""choose_k: each value is compared with a slow definition, and the answer with the known one."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture

import congruence as cg
from congruence.selection import calibration, connected, families, halves, kmeans, mixtures, shapes
from congruence.selection.criteria import PEERS, Context, consensus, gap
from congruence.selection.looks import look_at
from reproductions import choosing_k, choosing_k_r, cluster_shapes, foreign_sets

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1, 2], 30)
RNG_STRIPS = np.random.default_rng(8)
BLOBS = RNG.normal(size=(90, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[TRUTH]


# --- the parts, against loops -----------------------------------------------------------------------------------


def test_squares_are_squared_distances():
    """The expanded product is the sum of squared differences."""
    rng = np.random.default_rng(1)
    points, centres = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    slow = [[sum((x - c) ** 2) for x in points] for c in centres]
    assert kmeans.squares(points, centres) == pytest.approx(np.array(slow), rel=1e-9)


@pytest.mark.slow
def test_k_means_is_as_good_as_scikit_learns():
    """The sum of squares of the best of twenty starts is that of scikit-learn's best of twenty, within half a percent."""
    for seed in range(4):
        X, _ = make_blobs(200, n_features=3, centers=6, random_state=seed)
        X = X - X.mean(axis=0)
        sample = halves.Sample.of(X, 6, np.random.SeedSequence(0))
        for k in (2, 4, 6):
            ours = halves.evidence(sample, k)
            theirs = KMeans(k, n_init=20, random_state=0).fit(X)
            assert ours.inertia <= 1.005 * theirs.inertia_
            assert ours.inertia == pytest.approx(((X - ours.centres[ours.labels]) ** 2).sum(), rel=1e-6)


def slow_valley(points, labels, centres):
    worst = np.inf
    for a in range(len(centres)):
        for b in range(a + 1, len(centres)):
            line = centres[b] - centres[a]
            u = [(x - centres[a]) @ line / (line @ line) for x, j in zip(points, labels, strict=True) if j in (a, b)]
            near_a, middle, near_b = (sum(abs(v - at) < 0.15 for v in u) for at in (0, 0.5, 1))
            few = min((labels == a).sum(), (labels == b).sum()) < 2
            m = min(near_a, near_b)
            worst = min(worst, -1.0 if few else (m - middle) / np.sqrt(m + middle + 1))
    return worst


def test_the_valley_is_that_of_loops():
    """Counts at the two centres and midway, pair by pair; a cluster of one point has none."""
    rng = np.random.default_rng(2)
    X = np.concatenate([rng.normal(size=(60, 3)), [[20.0, 0, 0]]])
    centres = X[[3, 14, 60]]
    apart = kmeans.squares(X, centres)
    labels = apart.argmin(axis=0)
    assert halves.valley(apart, labels, centres)[0] == pytest.approx(slow_valley(X, labels, centres), rel=1e-12)
    assert halves.valley(apart, labels, centres)[0] <= -1
    two = kmeans.squares(X[:60], centres[:2])
    slow = slow_valley(X[:60], two.argmin(axis=0), centres[:2])
    assert halves.valley(two, two.argmin(axis=0), centres[:2])[0] == pytest.approx(slow, rel=1e-12)


def test_returns_are_the_best_jaccard_similarities():
    """The mean over halves of each cluster's best Jaccard similarity, by sets."""
    rng = np.random.default_rng(3)
    labels, again = rng.integers(0, 3, 40), rng.integers(0, 3, (5, 40))
    sets = [set(np.flatnonzero(labels == j)) for j in range(3)]
    for row, found in zip(again, halves.returned(labels, again, 3), strict=True):
        others = [set(np.flatnonzero(row == j)) for j in range(3)]
        slow = [max(len(mine & other) / len(mine | other) for other in others) for mine in sets]
        assert found == pytest.approx(slow, rel=1e-12)


@pytest.mark.parametrize("kind", mixtures.KINDS)
def test_mixtures_are_scikit_learns(kind):
    """Log-likelihood, BIC and ICL of each kind of covariance are those of scikit-learn from the same partition."""
    fitted = {f.kind: f for f in mixtures.fits(BLOBS, TRUTH, 3, 500, 1e-10)}[kind]
    model = GaussianMixture(3, covariance_type=kind, random_state=0, tol=1e-9, max_iter=500).fit(BLOBS)
    assert fitted.log_likelihood == pytest.approx(90 * model.score(BLOBS), rel=1e-4)
    assert fitted.bic == pytest.approx(-model.bic(BLOBS), rel=1e-4)
    icl = -model.bic(BLOBS) + 2 * np.log(model.predict_proba(BLOBS).max(axis=1)).sum()
    assert fitted.icl == pytest.approx(icl, rel=1e-4)


def test_probabilities_are_those_of_the_written_formula():
    """Utilities from loops over k, then a softmax."""
    ks = [1, 2, 3, 4]
    returns, valley = np.array([1.0, 0.99, 0.95, 0.6]), np.array([np.inf, 4.0, 2.0, -1.5])
    fisher, icl = np.array([0.0, 5.0, 2.0, -1.0]), np.array([-900.0, -700.0, -600.0, -610.0])
    found = calibration.features(ks, returns, valley, fisher, icl)
    returned, parted = 1 / (1 + np.exp(-(returns - 0.8) / 0.04)), 1 / (1 + np.exp(-(valley + 0.6) / 0.15))
    held = [0.0, *(returned * parted)[1:]]
    for i in range(4):
        assert found["held"][i] == pytest.approx(held[i] - max([0.0, *held[i + 1 :]]), rel=1e-9)
        assert found["icl"][i] == pytest.approx(-np.log(1 + icl.max() - icl[i]), rel=1e-12)
        assert found["fisher"][i] == (0 if i == 0 else min(max(fisher[i], -2), 3))
    weights = calibration.table()["weights"]
    utility = np.array([sum(w * found[name][i] for name, w in weights.items()) for i in range(4)])
    given = calibration.probabilities(ks, found)
    assert list(given.values()) == pytest.approx((np.exp(utility) / np.exp(utility).sum()).tolist(), rel=1e-12)
    assert max(given, key=given.get) == 3


def test_the_fisher_valley_sees_long_clusters_side_by_side():
    """Two long strips: along the line of their centres the discriminant is taken, and the valley is deep."""
    rng = np.random.default_rng(0)
    strip = rng.normal(size=(100, 2)) * [8, 0.4]
    X = np.concatenate([strip, strip[:, :] * [1, -1] + [3, 4]])
    labels = np.repeat([0, 1], 100)
    assert mixtures.fisher_valley(X, labels, 2) > 4
    assert mixtures.fisher_valley(strip, (strip[:, 1] > 0).astype(int), 2) < 1
    assert mixtures.fisher_valley(X, np.r_[labels[:-1], 2], 3) == -1.0


def test_connected_groups_of_any_shape():
    """Two rings are two groups over a long span; uniform noise is none; a few outliers do not count."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 400)
    rings = np.column_stack([np.cos(t), np.sin(t)]) * np.repeat([1, 3], 200)[:, None] + 0.05 * rng.normal(size=(400, 2))
    found = connected.groups(rings, 10)
    assert found.k == 2
    assert found.span > 0.5
    assert cg.ari(found.labels, np.repeat([0, 1], 200)) == 1
    assert connected.groups(rng.uniform(size=(300, 2)), 10).span < 0.5
    strays = np.concatenate([rings, rng.uniform(-4, 4, (4, 2))])
    assert cg.ari(connected.groups(strays, 10).labels[:400], np.repeat([0, 1], 200)) == 1


@pytest.mark.slow
def test_curved_clusters_are_said_and_found():
    """If k-means cuts through connected groups, they are the answer, with a note; method="kmeans" only adds the note."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 400)
    rings = np.column_stack([np.cos(t), np.sin(t)]) * np.repeat([1, 3], 200)[:, None] + 0.05 * rng.normal(size=(400, 2))
    choice = cg.choose_k(rings)
    assert (choice.k, choice.method) == (2, "connected groups")
    assert cg.ari(choice.labels, np.repeat([0, 1], 200)) == 1
    assert any("k-means cannot be right here" in note for note in choice.notes)
    alone = cg.choose_k(rings, method="kmeans")
    assert alone.method == "kmeans"
    assert any("try method='auto'" in note for note in alone.notes)


# --- the answer -------------------------------------------------------------------------------------------------


def test_four_blobs_in_a_square_are_four():
    """The case that members of one random start got wrong: they said five."""
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
    """The number of Gaussian clusters in ten dimensions is found for each of four seeds."""
    for seed in range(4):
        X, _ = make_blobs(200, n_features=10, centers=centres, random_state=seed)
        assert cg.choose_k(X, progress=False).k == centres


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["uniform", "normal"])
def test_noise_has_no_clusters(kind):
    """At most 10 % of sets without clusters, in two to seven dimensions, get an answer with clusters."""
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
    assert tie.sentence == "Tie between 3 (50 %) and 4 clusters (45 %)."
    assert of(k1=0.5, k2=0.45, k3=0.05).sentence == "Tie between no clusters (50 %) and 2 clusters (45 %)."
    unsure = of(k1=0.35, k2=0.2, k3=0.24, k4=0.21)
    assert unsure.verdict == "cannot tell"
    assert unsure.sentence.startswith("Cannot tell: no number of clusters is probable")
    assert of(k1=0.9, k2=0.1).verdict == "none"
    sure = of(k1=0.001, k2=0.997, k3=0.002)
    assert sure.sentence == "2 clusters (probability above 99 %); next: 3 (below 1 %)."
    for choice in (tie, unsure):
        assert "clear" not in choice.recommendation


def test_the_sentence_says_what_speaks_against_the_next_number():
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
def test_members_are_shown_beside_and_do_not_decide():
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
    """Log distance to the fifth neighbour, of points with one of the other cluster among their eight, less the rest's, as z."""
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


def test_known_clusters_by_rule_are_not_said_to_hold():
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
    assert any("by spectral clustering" in note for note in choice.notes)
    noise = np.random.default_rng(0).normal(size=(200, 2))
    assert shapes.spectral_clusters(noise, [1, 2, 3], np.random.SeedSequence(0)) is None


def test_auto_finds_groups_that_thin_out():
    """Two spirals, sparser outside, are connected only by distances relative to the local density."""
    X, y = cluster_shapes.draw("spirals", 1)
    choice = cg.choose_k(X, range(1, 5))
    assert (choice.k, choice.method) == (2, "connected groups")
    assert cg.ari(choice.labels, y) == 1
    assert shapes.connected_groups(X, range(1, 5)) is None
    assert connected.groups(np.repeat(X, 9, axis=0)[:400], 4, local=True).k == 1  # only copies are near


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


def test_few_points_are_no_groups_of_varying_density():
    """Twenty points have gaps by chance."""
    for seed in (0, 8, 10):
        X = np.random.default_rng([20, 2, seed]).uniform(size=(20, 2))
        assert connected.groups(X, 5, local=True).span > connected.LOCAL_SPAN
        assert cg.choose_k(X).k == 1


def test_no_shapes_in_one_dimension():
    """Uniform numbers have gaps, but no clusters."""
    for seed in range(3):
        choice = cg.choose_k(np.random.default_rng(seed).uniform(size=(150, 1)), range(1, 5))
        assert (choice.k, choice.method) == (1, "kmeans")


@pytest.mark.parametrize("columns", [2, 3, 5, 8])
def test_gaps_between_values_are_no_clusters(columns):
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


# --- odd data ---------------------------------------------------------------------------------------------------


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
def test_many_points_are_sampled_and_it_is_said():
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
def test_too_little_is_said(data, text):
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
    look = look_at(halves.Sample.of(overlapping_pair(200), 3, np.random.SeedSequence(0)), [1, 2, 3])[0]
    assert shapes.overlapping(look).k == 2
    assert shapes.overlapping({k: look[k] for k in (1, 2)}) is None
    assert shapes.overlapping({k: look[k] for k in (2, 3)}) is None
    assert shapes.overlapping({**look, 1: replace(look[1], bic=look[2].bic - 5.9)}) is None
    assert shapes.overlapping({**look, 2: replace(look[2], is_round=False)}) is None
    assert shapes.overlapping({**look, 2: replace(look[2], bic=np.nan)}) is None


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
    look = look_at(halves.Sample.of(BLOBS, 3, np.random.SeedSequence(0)), [3])[0][3]
    assert shapes.shapes(BLOBS, [1, 2, 3], 3, 0.4, look, np.random.SeedSequence(0)) is None


@pytest.mark.parametrize("method", ["gaussian", "agglomerative", "average", "spectral", KMeans(n_init=1)], ids=str)
def test_ctrl_c_keeps_the_halvings_that_are_done(method):
    """An interrupt after two halvings gives the answer of these with any clusterer; before one is done it is an interrupt."""

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
    """An interrupt in the second criterion leaves the first one's vote; in the first it is an interrupt."""

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


# --- published criteria, against R ------------------------------------------------------------------------------

GOLDEN = json.loads((Path(__file__).parent / "golden" / "choosing_k.json").read_text(encoding="utf-8"))
IRIS = load_iris().data


@pytest.fixture(scope="module")
def iris():
    """The evidence for one to six clusters of iris, with 100 halvings."""
    points = IRIS - IRIS.mean(axis=0)
    root = np.random.SeedSequence(0)
    axes = np.linalg.svd(points, full_matrices=False)[2].T
    parts = halves.Sample.of(points @ axes, 6, root, halvings=100)
    return Context(parts, look_at(parts, list(range(1, 7)))[0], root)


@pytest.mark.slow
def test_gap_is_clusgap(iris):
    """Gap and its error are those of cluster::clusGap within the error of simulation, and both rules take its k."""
    values, errors = gap.gap(iris, references=60)
    spread = np.array(GOLDEN["gap_error"]) * np.sqrt(1 / 60 + 1 / 200)
    assert (np.abs(values - GOLDEN["gap"]) < 4 * spread).all()
    assert errors == pytest.approx(GOLDEN["gap_error"], rel=0.4)
    theirs = np.array(GOLDEN["gap"]), np.array(GOLDEN["gap_error"])
    assert gap.first_rule(iris.ks, *theirs) == GOLDEN["gap_rule"]["Tibs2001SEmax"] == 4
    assert gap.global_rule(iris.ks, *theirs) == GOLDEN["gap_rule"]["globalSEmax"] == 5


def test_prediction_strength_is_fpcs(iris):
    """Mean prediction strength for two to four clusters within the error of simulation; 1 for one cluster."""
    found = PEERS["prediction_strength"].curve(iris)
    assert found.values[:4] == pytest.approx(GOLDEN["prediction_strength"][:4], abs=0.06)


def test_mixtures_are_mclusts(iris):
    """BIC and ICL of iris: mclust's at one to three components, where both reach the same maximum; the best is not worse."""
    models = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}
    for k in (1, 2, 3):
        for f in mixtures.fits(IRIS, iris.looks[k].halves.labels, k, steps=2000, tolerance=1e-9, ridge=1e-7):
            assert f.bic == pytest.approx(GOLDEN[f"bic_{models[f.kind]}"][k - 1], abs=0.5)
            assert f.icl == pytest.approx(GOLDEN[f"icl_{models[f.kind]}"][k - 1], abs=1.5)
    best = PEERS["bic"].curve(iris)
    assert best.best == 2
    for i in range(6):
        theirs = [GOLDEN[f"bic_{m}"][i] for m in models.values()]
        if 0 < i < 5:  # one component: in principal axes "diag" is "full" with fewer parameters; six: other maxima
            assert best.values[i] > max(theirs) - 1


def test_geometry_is_that_of_r(iris):
    """Silhouette and Calinski–Harabasz are those of cluster::silhouette and fpc::calinhara where k-means agrees."""
    for name in ("silhouette", "calinski_harabasz"):
        found = PEERS[name].curve(iris).values
        assert found[1:4] == pytest.approx([GOLDEN[f"{name}_{k}"] for k in (2, 3, 4)], rel=1e-3)
        assert np.isnan(found[0])


def test_jump_by_hand(iris):
    """Sugar and James: the largest difference of distortions to the power of −d/2, from 0 for no cluster."""
    n, d = iris.points.shape
    power = [(look.halves.inertia / (n * d)) ** (-d / 2) for look in iris.looks.values()]
    jumps = np.diff([0, *power])
    found = PEERS["jump"].curve(iris)
    assert found.values / found.values[0] == pytest.approx(jumps / jumps[0], rel=1e-9)
    assert found.best == iris.ks[int(np.argmax(jumps))]


def test_davies_bouldin_by_hand(iris):
    """Each cluster's worst ratio of spreads to the distance of centres, averaged over clusters."""
    for k, value in zip(iris.ks[1:], PEERS["davies_bouldin"].curve(iris).values[1:], strict=True):
        groups = [iris.points[iris.looks[k].halves.labels == j] for j in range(k)]
        centres = [g.mean(axis=0) for g in groups]
        spread = [np.mean([np.linalg.norm(x - c) for x in g]) for g, c in zip(groups, centres, strict=True)]
        worst = [
            max((spread[i] + spread[j]) / np.linalg.norm(centres[i] - centres[j]) for j in range(k) if j != i)
            for i in range(k)
        ]
        assert value == pytest.approx(np.mean(worst), rel=1e-9)


def test_clusterboot_is_fpcs(iris):
    """Mean Jaccard similarity of the worst cluster is that of fpc::clusterboot within the error of simulation."""
    found = PEERS["clusterboot"].curve(iris)
    theirs = np.array([GOLDEN[f"worst_{k}"] for k in (2, 3, 4, 5)])
    assert (np.abs(found.values[1:5] - theirs) < 3 * np.sqrt(1 + 30 / 100) * found.errors[1:5] + 0.005).all()


def test_nselectboot_is_fpcs(iris):
    """Instability of pairs of bootstrap samples is that of fpc::nselectboot within the error of simulation, and so is k."""
    found = PEERS["nselectboot"].curve(iris)
    errors = np.hypot(found.errors[1:5], GOLDEN["nselectboot_error"])
    assert (np.abs(found.values[1:5] - GOLDEN["nselectboot"]) < 4 * errors).all()
    assert found.best == GOLDEN["nselectboot_k"] == 2


def test_pac_is_that_of_consensus_cluster_plus():
    """PAC of k-means on 80 % of iris is that of ConsensusClusterPlus with the same number of starts."""
    found = consensus.ambiguous(IRIS - IRIS.mean(axis=0), [1, 2, 3, 4], np.random.default_rng(0), 120, 20)
    assert np.isnan(found[0])
    assert found[1:] == pytest.approx([GOLDEN[f"pac_{k}"] for k in (2, 3, 4)], abs=0.03)
    assert cg.choose_k(IRIS, range(1, 5), criteria="pac").best == {"pac": 2}
    runs = cg.choose_k(IRIS, range(2, 4), criteria="pac", n_members=5)
    assert runs.criteria["pac"].values[0] == runs.ensembles[2].pac()


def test_m3c_by_hand(monkeypatch):
    """PAC, the log ratio to the references and the p-value are those of the definition, pair by pair."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(24, 2)) + np.array([[0, 0], [5, 0]])[np.repeat([0, 1], 12)]
    labels = []
    monkeypatch.setattr(kmeans, "nearest", lambda *a, f=kmeans.nearest: labels.append(f(*a)) or labels[-1])
    rows = np.sort(np.argsort(np.random.default_rng(9).random((10, 24)), axis=1)[:, :19], axis=1)
    found = consensus.ambiguous(X, [3], np.random.default_rng(9), 10)
    ambiguous = pairs = 0
    for i in range(24):
        for j in range(i):
            both = [(r.tolist().index(i), r.tolist().index(j), row) for r, row in zip(rows, labels[0], strict=True)
                    if i in r and j in r]  # fmt: skip
            share = np.mean([row[a] == row[b] for a, b, row in both])
            ambiguous, pairs = ambiguous + (0.1 < share < 0.9), pairs + 1
    assert 0 < found[0] == pytest.approx(ambiguous / pairs, rel=1e-12)
    ours, references = np.array([0.0, 0.2]), rng.uniform(0.1, 0.3, (8, 2))
    index, p = consensus.relative(ours, references)
    for j in range(2):
        mean, var = references[:, j].mean(), references[:, j].var(ddof=1)
        assert index[j] == pytest.approx(np.log(mean) - np.log(max(ours[j], 1e-7)), rel=1e-12)
        a = ((1 - mean) / var - 1 / mean) * mean**2
        assert p[j] == pytest.approx(beta.cdf(max(ours[j], 1e-7), a, a * (1 / mean - 1)), rel=1e-9)


@pytest.mark.slow
def test_m3c_says_that_it_sampled():
    """Above 400 points M3C uses 400, and a note says so; noise has no clusters."""
    X = np.random.default_rng(0).normal(size=(450, 2))
    choice = cg.choose_k(X, range(1, 4), criteria="m3c")
    assert choice.k == 1
    assert "m3c used 400 of 450 points, drawn at random" in choice.notes


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(PEERS))
def test_every_criterion_finds_three_groups(name):
    """Each finds three groups far apart by name, with a vote of its own."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 2)) + np.array([[0, 0], [12, 0], [5, 11]])[TRUTH]
    choice = cg.choose_k(X, range(1, 6), criteria=name)
    assert choice.best[name] == choice.k == 3
    assert choice.probability is None
    assert "clear" not in choice.sentence


def test_criteria_vote_together():
    """Published criteria and the agreement of members in one vote; a tie is called one."""
    choice = cg.choose_k(IRIS, range(1, 6), criteria=["silhouette", "calinski_harabasz"])
    assert choice.best == {"silhouette": 2, "calinski_harabasz": 3}
    assert choice.verdict == "tie"
    assert choice.sentence == "Tie between 2 and 3 clusters: 1 of 2 criteria each."
    mixed = cg.choose_k(BLOBS, range(1, 5), criteria=["silhouette", "ari"], n_members=5)
    assert set(mixed.best) == {"silhouette", "ari"}
    assert mixed.k == 3
    with pytest.raises(cg.InputError, match="did you mean silhouette"):
        cg.choose_k(BLOBS, criteria="silhouete")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["boot", "subset", "noise", "jitter"])
@pytest.mark.parametrize(("name", "k"), [("iris", 3), ("wine", 3), ("three", 4), ("square", 4), ("unequal", 3)])
def test_stability_is_clusterboot(name, k, scheme):
    """Mean Jaccard similarity of each cluster is that of fpc::clusterboot within the error of simulation."""
    ours = {"boot": "bootstrap", "subset": "subsample"}.get(scheme, scheme)
    clusterer = KMeans(k, n_init=10)
    s = cg.stability(choosing_k_r.data(name), clusterer, scheme=ours, fraction=0.5, n_resamples=60, random_state=0)
    table = s.to_frame().sort_values("points", ascending=False)
    assert table["points"].tolist() == GOLDEN["sizes"][name][scheme]
    theirs = np.array(GOLDEN["clusterboot"][name][scheme])
    errors = table["error"].to_numpy() * np.sqrt(1 + 60 / 100)
    assert (np.abs(table["mean"].to_numpy() - theirs) < 4 * errors + 0.02).all()


# --- other people's sets ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_other_peoples_sets_are_scored(tmp_path, capsys, monkeypatch):
    """Each way is asked about each set of a folder; finished work is kept and read again."""
    monkeypatch.setattr(choosing_k, "PEERS", {"silhouette": PEERS["silhouette"], "m3c": PEERS["jump"]})
    np.savetxt(tmp_path / "two_2.csv", BLOBS[:60:2], delimiter=",")
    np.savetxt(tmp_path / "qiu_joe-1_5.csv", BLOBS[::2], delimiter=",")
    tasks = [(str(file), 0) for file in foreign_sets.files(tmp_path)]
    keep = tmp_path / "keep"
    keep.mkdir()
    choosing_k.foreign(tasks, 1, keep)
    said = capsys.readouterr().out
    rows = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in said.splitlines() if line.startswith("| ")}
    assert list(rows) == ["share right", "choose_k", "choose_k, k_min=2", "silhouette", "m3c (n ≤ 200)"]
    assert rows["choose_k"][-2].startswith(" .50 ")  # five clusters are not there to be found
    assert "qiu_joe-1_5                 5    3    3" in said
    choosing_k.foreign(tasks, 1, keep)
    assert capsys.readouterr().out == said
    with pytest.raises(FileNotFoundError, match=r"run `python -m reproductions\.foreign_sets"):
        foreign_sets.files(keep)
