"""The ranked adjusted Rand index."""

import naive
import numpy as np
import pytest
from scipy.spatial.distance import cdist

import congruence as cg

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("seed", range(4))
def test_it_is_its_definition(seed):
    """The value is that of the loop over all pairs, also with distances of two sources; equal distances share a rank."""
    rng = np.random.default_rng(seed)
    X, Y = rng.integers(0, 4, (2, 14, 2)).astype(float)
    a, b = rng.integers(0, 3, 14), rng.integers(0, 4, 14)
    D, E = cdist(X, X), cdist(Y, Y)
    assert cg.ranked_ari(a, b, distances=D, distances_b=E) == pytest.approx(naive.ranked_ari(a, b, D, E), abs=1e-12)
    assert cg.ranked_ari(a, b, distances=D) == pytest.approx(naive.ranked_ari(a, b, D, D), abs=1e-12)


def test_without_distances_it_is_ari():
    """All other clusters are then equally near; the same holds for two clusters with any distances."""
    a, b = RNG.integers(0, 5, 60), RNG.integers(0, 3, 60)
    assert cg.ranked_ari(a, b) == pytest.approx(cg.ari(a, b), abs=1e-12)
    assert cg.ranked_ari(a > 2, b > 1, RNG.normal(size=(60, 2))) == pytest.approx(cg.ari(a > 2, b > 1), abs=1e-12)


def test_the_means_of_clusters_give_the_ranks():
    """With X, far clusters are those with far means; names and the order of points change nothing; independent labels give 0."""
    X = np.repeat([[0.0], [1.0], [5.0]], 30, axis=0) + 0.01 * RNG.normal(size=(90, 1))
    truth = np.repeat(["a", "b", "c"], 30)
    near, far = truth.copy(), truth.copy()
    near[:10], far[:10] = "b", "c"
    assert cg.ranked_ari(truth, near, X) > cg.ranked_ari(truth, far, X) + 0.03
    order = RNG.permutation(90)
    assert cg.ranked_ari(truth[order], far[order], X[order]) == pytest.approx(cg.ranked_ari(truth, far, X), abs=1e-12)
    drawn = [cg.ranked_ari(RNG.integers(0, 3, 90), RNG.integers(0, 4, 90), X) for _ in range(200)]
    assert abs(np.mean(drawn)) < 0.01


@pytest.mark.parametrize("labels", [[0], [0, 0, 0], [0, 1, 2], [0, 0, 1]])
def test_identical_clusterings_have_one(labels):
    """Also a single point, one cluster and all singletons, where the formula is 0/0."""
    assert cg.ranked_ari(labels, labels) == 1
    assert cg.ranked_ari(labels, labels, [[float(i)] for i in range(len(labels))]) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cg.ranked_ari([0, 1], [0, 1, 1]), "b: 3 labels for 2 points"),
        (
            lambda: cg.ranked_ari([0, None], [0, 1]),
            "a: expected one complete partition, but 1 of 2 points have no label",
        ),
        (lambda: cg.ranked_ari([0, 1], [0, 1], [[1.0]]), "X has 1 row and the labels 2 elements"),
        (lambda: cg.ranked_ari([0, 1], [0, 1], distances=[[1.0]]), "must be n × n for 2 points; got 1 × 1"),
        (lambda: cg.ranked_ari([0, 1], [0, 1], [[1.0], [2.0]], distances=np.eye(2)), "pass X or distances, not both"),
        (
            lambda: cg.ranked_ari([[0.5, 0.5], [0.1, 0.9]], [0, 1]),
            "a: expected one complete partition, got memberships",
        ),
    ],
)
def test_what_it_cannot_take(call, message):
    """One line says what is wrong."""
    with pytest.raises(cg.InputError, match=message):
        call()
