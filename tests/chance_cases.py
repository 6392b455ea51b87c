"""Clusterings, matrices and enumerations for the tests of chance."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import naive
import numpy as np
import pytest
from scipy import sparse

import congruence as cg

A, B = (0, 0, 0, 1, 1, 2, 2), (0, 0, 1, 1, 1, 1, 2)
#: two clusterings that agree somewhat, of enough points for intervals and continuous p-values
RNG = np.random.default_rng(7)
LARGE = RNG.integers(0, 4, 300)
NOISY = np.where(RNG.random(300) < 0.5, LARGE, RNG.integers(0, 4, 300))


def close(value):
    return pytest.approx(value, rel=1e-10, abs=1e-12)


@lru_cache
def all_orders(b):
    """Every different order of the labels; each comes from the same number of permutations."""
    return sorted(set(itertools.permutations(b)))


@lru_cache
def naive_values(key):
    """The measure of A and every order of B, by naive code."""
    return np.array([naive.MEASURES[key](A, order) for order in all_orders(B)])


def as_good(key, values, value):
    """Share of the values as good as this one or better."""
    sign = 1 if cg.measure(key).better == "higher" else -1
    return float(np.mean(sign * np.array(values) >= sign * value - 1e-10))


def near(share, true, draws):
    """Within four standard errors of a share."""
    return abs(share - true) <= 4 * math.sqrt(true * (1 - true) / draws) + 2 / draws


SOFT_A = RNG.dirichlet([1, 1], 5)
SOFT_B = RNG.dirichlet([0.5, 0.5, 0.5], 5)
MEMBERS_P = [[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 1, 1, 1, 2, 2]]
MEMBERS_Q = [[0, 0, 1, 1, 1, 2], [0, 1, 0, 1, 1, 0]]
KERNEL = np.round(RNG.random((6, 6)), 2)
KERNEL = (KERNEL + KERNEL.T) / 2
SIDES = {
    "ensemble, labels": (cg.Ensemble(MEMBERS_P), MEMBERS_Q[0], [MEMBERS_Q[0]]),
    "labels, ensemble": (MEMBERS_Q[0], cg.Ensemble(MEMBERS_P), MEMBERS_P),
    "two ensembles": (cg.Ensemble(MEMBERS_P), cg.Ensemble(MEMBERS_Q), MEMBERS_Q),
    "matrix, labels": (cg.Similarity(KERNEL), MEMBERS_Q[0], [MEMBERS_Q[0]]),
    "matrix, ensemble": (cg.Similarity(KERNEL), cg.Ensemble(MEMBERS_Q), MEMBERS_Q),
    "sparse matrix, labels": (cg.Similarity(sparse.csr_array(np.where(KERNEL > 0.5, KERNEL, 0))), MEMBERS_Q[0], None),
    "two matrices": (cg.Similarity(KERNEL), cg.Similarity(np.round(KERNEL[::-1, ::-1] ** 2, 3)), None),
    "sparse, dense matrix": (
        cg.Similarity(sparse.csr_array(np.where(KERNEL > 0.5, KERNEL, 0))),
        cg.Similarity(KERNEL),
        None,
    ),
}
