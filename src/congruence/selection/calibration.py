"""Turn the results of halves and mixtures into a probability for each number of clusters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal

import numpy as np

from congruence.statistics.tables import Array

#: smallest mean Jaccard similarity of a stable cluster in halves, and smallest valley depth of separated neighbours
RETURNS, VALLEY = 0.8, -0.6
#: how gradual these two thresholds are
RETURNS_SCALE, VALLEY_SCALE = 0.04, 0.15


@cache
def table() -> dict[str, dict[str, float]]:
    """The weights of the features, written by `python -m reproductions.choosing_k`."""
    text = files("congruence.selection").joinpath("calibration.json").read_text(encoding="utf-8")
    found: dict[str, dict[str, float]] = json.loads(text)
    return found


def features(ks: Sequence[int], returns: Array, valley: Array, fisher: Array, icl: Array) -> dict[str, Array]:
    """The features behind the probabilities, one value per k.

    Args:
        ks: Numbers of clusters in order.
        returns: Mean Jaccard similarity in halves of the worst cluster of each k.
        valley: Depth of the shallowest valley, median over halves.
        fisher: Depth of the shallowest valley of the best mixture, along Fisher's discriminants.
        icl: ICL of the best mixture; NaN if none was fitted.
    """
    one = np.asarray(ks) == 1
    held = holds(ks, returns, valley)
    later = np.maximum.accumulate(np.append(held, 0.0)[::-1])[::-1][1:]
    known = ~np.isnan(icl)
    behind = np.full(len(ks), 0.0 if not known.any() else icl[known].max() - icl[known].min())
    behind[known] = icl[known].max() - icl[known] if known.any() else 0.0
    return {
        "one": one.astype(float),
        "held": held - later,
        "icl": -np.log1p(np.minimum(behind, 1e4)),
        "fisher": np.where(one, 0.0, np.clip(fisher, -2, 3)),
    }


def holds(ks: Sequence[int], returns: Array, valley: Array) -> Array:
    """From 0 to 1: whether the worst cluster is found again and separated from its neighbour. 0 for one cluster."""
    both = _step((returns - RETURNS) / RETURNS_SCALE) * _step((valley - VALLEY) / VALLEY_SCALE)
    return np.where(np.asarray(ks) == 1, 0.0, both)


def _step(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-np.clip(x, -500, 500))))


def probabilities(ks: Sequence[int], found: Mapping[str, Array]) -> dict[int, float]:
    """A probability for each k: the softmax of the weighted features.

    >>> found = {"one": np.array([1.0, 0, 0]), "held": np.zeros(3), "icl": np.zeros(3), "fisher": np.array([0, 3.0, -2])}
    >>> p = probabilities([1, 2, 3], found)
    >>> p[2] > p[3], round(sum(p.values()), 6)
    (True, 1.0)
    """
    utility = sum(weight * found[name] for name, weight in table()["weights"].items())
    share = np.exp(utility - np.max(utility))
    return dict(zip(ks, (share / share.sum()).tolist(), strict=True))


def certainty_of_groups(span: float) -> float:
    """The probability that connected groups are the clusters, if k-means cuts through them."""
    fitted = table()["connected"]
    return float(_step(np.array(fitted["constant"] + fitted["span"] * min(span, 2.0))))


def certainty_of(what: Literal["local", "spectral", "overlapping", "axis"]) -> float:
    """The probability that such clusters are the clusters, if k-means finds none, cuts through them, or is in doubt.

    They are groups by distances relative to the local density, spectral clusters, round clusters without a valley between
    them, or two clusters along one axis.
    """
    return table()[what]["probability"]


def by_rule(ks: Sequence[int], returns: Array, valley: Array) -> int:
    """The largest k whose worst cluster is found again and separated from its neighbour; 1 if there is none.

    >>> by_rule([1, 2, 3, 4], np.array([1, 0.99, 0.95, 0.5]), np.array([np.nan, 3, 2, 1]))
    3
    """
    good = [k for k, r, v in zip(ks, returns, valley, strict=True) if k > 1 and r >= RETURNS and v >= VALLEY]
    return max(good, default=1)
