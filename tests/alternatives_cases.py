"""Data with two views."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_iris

from congruence.alternative_clustering.search import METHODS

IRIS, SPECIES = load_iris(return_X_y=True)


def views(n, k, sep, count=2, seed=0, noise=1.0):
    """Data with independent clusterings, each in separate attributes, with equidistant centres."""
    rng = np.random.default_rng(seed)
    hidden = [rng.integers(0, k, n) for _ in range(count)]
    return np.hstack([sep * np.eye(k)[h] + noise * rng.normal(size=(n, k)) for h in hidden]), hidden


def few_starts(method):
    """Two random starts, for methods that start at random."""
    return {"n_init": 2} if METHODS[method].n_init > 1 else {}
