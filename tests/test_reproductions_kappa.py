"""The reproduction of sizes and shapes of clusters with kappa_max, NMI and Λ."""

import numpy as np
import pytest

from reproductions import kappa_shapes
from reproductions.rows import CONFIRMED, NOT_CONFIRMED


def test_sizes_of_single_clusters_hardly_matter():
    """With a fifth of the labels redrawn, kappa stays near 0.8 whether the largest cluster has 20 % or 90 % of the points."""
    means = {share: kappa_shapes.unequal(share, 5) for share in (0.2, 0.9)}
    assert [m[0] for m in means.values()] == pytest.approx([0.8, 0.8], abs=0.03)
    assert kappa_shapes.size_claims(means)[0].verdict == CONFIRMED
    assert kappa_shapes.size_claims({0: np.zeros(3), 1: np.full(3, 0.2)})[0].verdict == NOT_CONFIRMED


@pytest.mark.parametrize("shape", kappa_shapes.SHAPES)
def test_shapes_have_the_same_spread(shape):
    """Clusters of every shape have a mean variance of 1 per axis around the same centres."""
    X = kappa_shapes.shaped(shape, 3, np.random.default_rng(0), each=4_000).reshape(3, 4_000, 2)
    assert X.var(axis=1).mean() == pytest.approx(1, abs=0.05)
    round_ones = kappa_shapes.shaped("round", 3, np.random.default_rng(1), 4_000).reshape(3, 4_000, 2)
    assert np.allclose(X.mean(axis=1), round_ones.mean(axis=1), atol=0.1)
