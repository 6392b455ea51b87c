"""The merit of a clustering for method="auto": what it explains beyond the known clusterings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.quality import centroids
from congruence.statistics.tables import Array

#: number of shuffles whose mean is subtracted
SHUFFLES = 20


def merits(X: Array, knowns: Sequence[Array], found: Sequence[Array], rng: np.random.Generator) -> list[float]:
    """For each clustering found, what it explains of the data beyond the known ones, minus the same for shuffled labels.

    The means of the known clusters are removed from each attribute (all known clusterings together, least squares). The
    residuals have a total and a within-cluster sum of squares; the merit is Σ log(total ÷ within) over attributes. Labels
    that repeat a known clustering, or have no structure, have no merit.
    """
    given = np.hstack([np.eye(int(codes.max()) + 1)[codes] for codes in knowns])
    left = X - given @ np.linalg.lstsq(given, X, rcond=None)[0]
    total = np.square(left).sum(axis=0)
    some = total > 1e-12 * np.square(X - X.mean(axis=0)).sum()  # attributes that the known clusters do not determine
    left, total = left[:, some], total[some]

    def explained(codes: Array) -> float:
        within = np.square(left - centroids(left, codes, int(codes.max()) + 1)[codes]).sum(axis=0)
        return float(np.log(total / np.maximum(within, 1e-12 * total)).sum())

    if not some.any():
        return [0.0] * len(found)
    return [
        explained(codes) - float(np.mean([explained(rng.permutation(codes)) for _ in range(SHUFFLES)]))
        for codes in found
    ]  # fmt: skip
