"""Centres of the clusters of some data, and the nearest of them for new points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix


@dataclass(frozen=True, eq=False)
class Centres:
    """The mean of each cluster, in columns divided by `scale`."""

    labels: Array
    means: Array
    scale: Array

    @classmethod
    def of(cls, X: Array | SparseMatrix, labels: Array, standardise: bool = False) -> Centres:
        """The centres of these clusters; points with label −1 are in no cluster."""
        data = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
        spread = data.std(axis=0) if standardise else np.ones(data.shape[1])
        scale = np.where(spread > 0, spread, 1.0)
        found = np.unique(labels[labels != -1])
        return cls(found, np.array([data[labels == x].mean(axis=0) / scale for x in found]), scale)

    def nearest(self, X: Array | SparseMatrix) -> Array:
        """The label of the nearest centre of each point."""
        from sklearn.metrics import pairwise_distances_argmin

        data = X.toarray() if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
        return np.asarray(self.labels[pairwise_distances_argmin(data / self.scale, self.means)])
