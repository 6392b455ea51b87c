"""How much a clustering explains that the known ones do not: what method="auto" chooses by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.alternative_clustering.quality import centroids
from congruence.statistics.tables import Array

#: shuffles whose mean is taken away
SHUFFLES = 20


def merits(X: Array, knowns: Sequence[Array], found: Sequence[Array], rng: np.random.Generator) -> list[float]:
    """For each clustering found, what it explains of the data beyond the known ones, less what its labels explain shuffled.

    The means of the known clusters are taken out of each attribute (all known clusterings together, least squares). What
    is left has a total and a within-cluster sum of squares; the merit is Σ log(total ÷ within) over attributes. Labels that
    repeat a known clustering explain nothing that is left, and neither do labels without structure.
    """
    given = np.hstack([np.eye(int(codes.max()) + 1)[codes] for codes in knowns])
    left = X - given @ np.linalg.lstsq(given, X, rcond=None)[0]
    total = np.square(left).sum(axis=0)
    some = total > 1e-12 * np.square(X - X.mean(axis=0)).sum()  # attributes that the known clusters do not fix
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
