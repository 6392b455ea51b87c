"""Normalised cut of the graph whose weights are the consensus matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Found, Method
from congruence.consensus_clustering.spectral import directions, eigenvectors, kmeans, nearest_direction
from congruence.formulas.record import Better
from congruence.statistics.tables import Array


def degrees(e: Evidence) -> Array:
    """Row sums of the consensus matrix."""
    return e.scores(e.weight * e.sizes)


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_options: Any) -> Found:
    degree = degrees(e)
    places, left, _, solver = eigenvectors(e, 1 / np.sqrt(degree), np.sqrt(e.weight), k, rng)
    labels, centres, notes = kmeans(directions(left), e.mass, k, rng, n_init)
    inside = (e.totals(labels, k) ** 2 * e.weight).sum(axis=1)
    volume = np.bincount(labels, weights=degree * e.mass, minlength=k)
    cut = float((1 - inside[volume > 0] / volume[volume > 0]).sum())
    rule = nearest_direction(places, centres)
    return Found(labels, cut, f"spectral: {solver}, k-means on directions", notes, rule)


ncut = Method(
    key="ncut", title="Normalised cut of the consensus matrix", objective="normalised cut", better=Better.LOWER,
    reference="yu2007", run=_run,
    advice="best if many members are nearly one cluster; loses small true clusters",
)  # fmt: skip
