"""From what halves and mixtures say about each number of clusters to a probability for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import numpy as np

from congruence.statistics.tables import Array

#: a cluster has come back where its mean Jaccard similarity in halves is this much, and neighbours are parted from this depth
RETURNS, VALLEY = 0.8, -0.6
#: how soft these two borders are
RETURNS_SCALE, VALLEY_SCALE = 0.04, 0.15


@cache
def weights() -> dict[str, float]:
    """The weights of the features, written by `python -m reproductions.choosing_k --fit`."""
    table = json.loads(files("congruence.selection").joinpath("calibration.json").read_text(encoding="utf-8"))
    return {str(name): float(value) for name, value in table["weights"].items()}


def features(ks: Sequence[int], returns: Array, valley: Array, valley_of_all: Array, bic: Array) -> dict[str, Array]:
    """What the probabilities are made of, one value per k.

    Args:
        ks: numbers of clusters in order.
        returns: of the worst cluster of each k, its mean Jaccard similarity in halves.
        valley: depth of the shallowest valley, median over halves.
        valley_of_all: the same on all points.
        bic: 2 log L − p log n of the best mixture; NaN where none was fitted.
    """
    one = np.asarray(ks) == 1
    held = np.where(one, 0.0, _step((returns - RETURNS) / RETURNS_SCALE) * _step((valley - VALLEY) / VALLEY_SCALE))
    later = np.maximum.accumulate(np.append(held, 0.0)[::-1])[::-1][1:]
    known = ~np.isnan(bic)
    behind = np.where(known, (bic[known].max() if known.any() else 0.0) - bic, 0.0)
    return {
        "one": one.astype(float),
        "held": held - later,
        "bic": -np.log1p(np.minimum(behind, 1e4)),
        "valley": np.where(one, 0.0, np.clip(valley_of_all, -2, 3)),
    }


def _step(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -500, 500))))


def probabilities(ks: Sequence[int], found: Mapping[str, Array]) -> dict[int, float]:
    """A probability for each k: the softmax of the weighted features.

    >>> held = {"one": np.array([1.0, 0, 0]), "held": np.array([0, -1, 1.0]), "bic": np.zeros(3), "valley": np.zeros(3)}
    >>> [round(p, 2) for p in probabilities([1, 2, 3], held).values()][0] > 0.5
    True
    """
    utility = sum(weight * found[name] for name, weight in weights().items())
    share = np.exp(utility - np.max(utility))
    return dict(zip(ks, (share / share.sum()).tolist(), strict=True))


def by_rule(ks: Sequence[int], returns: Array, valley: Array) -> int:
    """The largest k whose worst cluster comes back and is parted from its neighbour; 1 where there is none.

    >>> by_rule([1, 2, 3, 4], np.array([1, 0.99, 0.95, 0.5]), np.array([math.nan, 3, 2, 1]))
    3
    """
    good = [k for k, r, v in zip(ks, returns, valley, strict=True) if k > 1 and r >= RETURNS and v >= VALLEY]
    return max(good, default=1)
