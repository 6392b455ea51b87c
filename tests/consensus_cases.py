"""Ensembles for the tests of consensus clustering."""

from __future__ import annotations

import numpy as np

import congruence as cg
from congruence.consensus_clustering.method_names import METHODS
from congruence.consensus_clustering.methods import find, options_of

#: the methods that take a number of clusters
ALL = tuple(method for method in METHODS if find(method).takes_number)


def same(a, b) -> bool:
    """Whether these are the same clusters, regardless of names."""
    return cg.rand(a, b) == 1.0


def planted(noise, n=3000, k=5, members=20, seed=0, p=None):
    """A truth and members that redraw a share of the labels uniformly over all k, each with its own names."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(k, n, p=p)
    return truth, [
        np.where(rng.random(n) < noise, rng.integers(k, size=n), truth)[None].T.ravel() * 7 % (7 * k) + rng.integers(99)
        for _ in range(members)
    ]


def strehl():
    """Strehl and Ghosh's seven points: the fourth member misses three of them."""
    rows = [[1, 1, 1, 2, 2, 3, 3], [2, 2, 2, 3, 3, 1, 1], [1, 1, 2, 2, 3, 3, 3], [1, 2, np.nan, 1, 2, np.nan, np.nan]]
    return cg.Ensemble([np.array(r) for r in rows], unassigned="partial")


N = 24
BASE = np.repeat([0, 1, 2], 8)


def noisy(rng, share=0.2):
    return np.where(rng.random(N) < share, rng.integers(0, 3, N), BASE)


def gappy(rng, share=0.25):
    labels = noisy(rng).astype(float)
    labels[rng.random(N) < share] = np.nan
    return labels


def memberships(rng, k=3):
    u = rng.random((N, k)) ** 4 + 1e-3
    return u / u.sum(axis=1, keepdims=True)


def taken_by(method, **options):
    """The options that have an effect on a method; others are refused."""
    return {name: x for name, x in options.items() if name in options_of(method, None)}
