"""The parts of choose_k, compared with slow definitions."""

from __future__ import annotations

import numpy as np
import pytest
from selection_cases import BLOBS, TRUTH
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

import congruence as cg
from congruence.selection import calibration, halves, kmeans, mixtures, shapes
from reproductions.cluster_scenarios import cell_lines


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


def test_icl_is_compared_among_kinds_that_many_clusters_allow():
    """Full covariances cannot be fitted for many clusters in few points; ICL of few clusters is then compared without them."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(30, 8)) + 9 * np.eye(8)[j] for j in range(4)])
    done, _ = halves.fits_of(halves.Sample.of(X, 4, np.random.SeedSequence(0)), [1, 2, 3, 4])
    found = list(done.values())
    assert [kind for kind in mixtures.KINDS if kind in done[1].icls and kind not in done[4].icls] == ["full"]
    assert done[1].icls["tied"] == done[1].icls["full"]
    without = [max(fit.icls[kind] for kind in ("tied", "diag", "spherical")) for fit in found]
    assert halves.comparable_icl(found, 4).tolist() == without
    assert halves.comparable_icl(found, 1).tolist() == [max(fit.icls.values()) for fit in found]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [9, 24])
def test_tight_lines_in_principal_components_are_counted(seed):
    """Embeddings in which ICL of all kinds answers too few lines; k-means with their number is perfect."""
    X, lines = cell_lines(np.random.default_rng([seed, 77]))
    found = cg.choose_k(X, range(1, 11), progress=False)
    assert found.k == len(np.unique(lines))
    assert cg.ari(found.labels, lines) == 1


@pytest.mark.slow
def test_two_modes_with_a_valley_at_half_their_height_are_two_clusters():
    """Two normal densities 3.33 standard deviations apart: half the height of the modes remains between them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2)) + np.outer(np.repeat([0, 3.33], 1000), [1, 0])
    found = cg.choose_k(X, range(1, 6), progress=False)
    assert found.k == 2
    assert found.probabilities[2] > 0.8


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
    found = shapes.groups(rings, 10)
    assert found.k == 2
    assert found.span > 0.5
    assert cg.ari(found.labels, np.repeat([0, 1], 200)) == 1
    assert shapes.groups(rng.uniform(size=(300, 2)), 10).span < 0.5
    strays = np.concatenate([rings, rng.uniform(-4, 4, (4, 2))])
    assert cg.ari(shapes.groups(strays, 10).labels[:400], np.repeat([0, 1], 200)) == 1


@pytest.mark.slow
def test_curved_clusters_are_found_with_a_note():
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
