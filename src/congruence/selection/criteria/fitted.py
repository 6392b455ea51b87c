"""Criteria from one clustering per number of clusters: distances within and between clusters, and Gaussian mixtures."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from congruence.selection import mixtures
from congruence.selection.criteria.record import Clusterings, Context, Curve, Peer, top
from congruence.statistics.tables import Array


def _scores(name: str, better: str, found: Clusterings) -> Curve:
    from sklearn import metrics

    score: Callable[[Array, Array], float] = getattr(metrics, name)
    values = np.array([
        float(score(found.points, labels)) if 1 < len(np.unique(labels)) < len(labels) else math.nan
        for labels in found.labels.values()
    ])  # fmt: skip
    return Curve(values, top(found.ks, values, better))


def _by_scikit_learn(name: str, title: str, better: Literal["higher", "lower"]) -> Peer:
    scores = partial(_scores, f"{name}_score", better)
    return Peer(name, title, better, lambda context: scores(context.clusterings), scores)


def _jump(context: Context) -> Curve:
    """Sugar and James (2003): the largest jump of the distortion to the power of −d/2, from 0 for no cluster."""
    n, d = context.points.shape
    distortion = np.array([fit.halves.inertia / (n * d) for fit in context.fits.values()])
    scaled = distortion / distortion.max() if distortion.max() > 0 else np.ones(len(distortion))
    power = np.maximum(scaled, 1e-300) ** (-d / 2)  # relative to k = 1, to avoid overflow
    power = np.minimum(power, 1e300)
    ks = context.ks
    before = np.concatenate([[0.0 if ks[0] == 1 else power[0]], power[:-1]])
    jumps = power - before
    if ks[0] > 1:
        jumps[0] = math.nan
    return Curve(jumps, top(ks, jumps))


def _fitted(context: Context) -> list[list[mixtures.Fit]]:
    return [
        mixtures.fits(context.points, fit.halves.labels, k, steps=500, tolerance=1e-6, ridge=1e-6)
        for k, fit in context.fits.items()
    ]


def _best(name: str, context: Context) -> Curve:
    fitted = context.once(_fitted)
    found = np.array([max((float(getattr(f, name)) for f in each), default=math.nan) for each in fitted])
    return Curve(found, top(context.ks, found))


PEERS = (
    _by_scikit_learn("silhouette", "Mean silhouette width (Rousseeuw 1987)", "higher"),
    _by_scikit_learn("calinski_harabasz", "Calinski–Harabasz index (1974)", "higher"),
    _by_scikit_learn("davies_bouldin", "Davies–Bouldin index (1979)", "lower"),
    Peer("jump", "Jump of the distortion (Sugar and James 2003)", "higher", _jump),
    Peer("bic", "BIC of the best Gaussian mixture (Fraley and Raftery 2002)", "higher", partial(_best, "bic")),
    Peer("icl", "ICL of the best Gaussian mixture (Biernacki et al. 2000)", "higher", partial(_best, "icl")),
)
