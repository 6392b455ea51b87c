"""Similarity matrices for the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

import congruence as cg

OF_TWO = ("arimp", "arimm", "kas", "nsf", "nsf_printed", "sms", "ssms")


def random_matrix(n: int, seed: int) -> np.ndarray:
    """Symmetric, in sixteenths, some zeros, any diagonal."""
    rng = np.random.default_rng(seed)
    m = rng.integers(0, 17, (n, n)) * (rng.random((n, n)) < 0.7) / 16
    return np.triu(m) + np.triu(m, 1).T


def coassociation(labels: Any) -> np.ndarray:
    return np.equal.outer(np.asarray(labels), np.asarray(labels)).astype(float)


def scores(p: Any, q: Any, keys: tuple[str, ...] = OF_TWO[1:], **options: Any) -> dict[str, float]:
    return {key: getattr(cg, key)(p, q, **options) for key in keys}
