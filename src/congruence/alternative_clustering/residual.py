"""Residuals: what remains of the points without the means of the given clusters, and clusterings of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from congruence.alternative_clustering.points import Found, Task, kmeans
from congruence.alternative_clustering.quality import apart
from congruence.selection.mixtures import same_partition
from congruence.statistics.tables import Array

#: rounds of whitening by the covariance within clusters and k-means, and its starts in each
ROUNDS, STARTS = 4, 10
#: weight of a sphere in a covariance, so that directions of little variance are not blown up: in whitening, and in a merit
SHRINKAGE, OF_MERIT = 0.3, 0.1
#: columns are redundant if a share of the variance of the residuals lies in this share of the axes: (.9, 1/8), (.99, 1/4)
REDUNDANT = ((0.9, 8), (0.99, 4))
#: shares of the variance, and a number of axes, in which redundant columns are clustered
SHARES, AXES = (0.9, 0.99, 0.999), 20
#: shuffles whose mean merit is subtracted, and most axes of a merit
SHUFFLES, MOST_AXES = 5, 200


def residuals(X: Array, knowns: Sequence[Array]) -> Array:
    """The points minus the means of the given clusters, all given clusterings together by least squares."""
    if len(knowns) == 1:
        return apart(X, knowns[0])
    given = np.hstack([np.eye(int(codes.max()) + 1)[codes] for codes in knowns])
    return np.asarray(X - given @ np.linalg.lstsq(given, X, rcond=None)[0])


def residual(task: Task) -> Found:
    """k-means of the residuals."""
    return kmeans(residuals(task.points.numbers, task.knowns), task)


def refined(task: Task) -> Found:
    """k-means of the residuals, refined; if columns are redundant, the best start in a few of their principal axes."""
    left, quiet = Residuals.of(task.points.numbers, task.knowns), replace(task, done=int)
    rng = np.random.default_rng(task.streams[0])
    found = [left.refined(kmeans(left.numbers, task).labels, task.k)]
    found += [left.refined(kmeans(white, quiet).labels, task.k, white) for white in left.whites]
    return Found(found[int(np.argmax(left.merits(found, rng)))], "refined by the covariance within clusters")


class Residuals:
    """The residuals, and what clusterings explain of them."""

    def __init__(self, numbers: Array, axes: Array, variances: Array) -> None:
        #: the residuals
        self.numbers = numbers
        #: their principal coordinates and variances, the largest first
        self.axes, self.variances = axes, variances

    @classmethod
    def of(cls, X: Array, knowns: Sequence[Array]) -> Residuals:
        """The residuals of points."""
        left = residuals(X, knowns)
        values, vectors = np.linalg.eigh(left.T @ left / len(left))
        values, vectors = values[::-1], vectors[:, ::-1]
        least = 1e-12 * float(np.square(X - X.mean(axis=0)).mean()) * X.shape[1]
        kept = values > max(least, 1e-300)  # axes that the given clusters do not determine
        return cls(left, left @ vectors[:, kept], values[kept])

    def n_axes(self, share: float) -> int:
        """How many principal axes hold this share of the variance."""
        total = np.cumsum(self.variances) / self.variances.sum()
        return int(np.searchsorted(total, share - 1e-9)) + 1

    @property
    def is_redundant(self) -> bool:
        """Whether many columns repeat what few axes hold."""
        d = self.numbers.shape[1]
        return any(self.n_axes(share) * parts <= d for share, parts in REDUNDANT if len(self.variances))

    @property
    def whites(self) -> list[Array]:
        """The first principal axes at unit variance, for several numbers of axes; none if columns are not redundant."""
        if not self.is_redundant:
            return []
        many = sorted({min(p, len(self.variances)) for p in (*map(self.n_axes, SHARES), AXES)})
        return [self.axes[:, :p] / np.sqrt(self.variances[:p]) for p in many]

    @property
    def compact(self) -> Array:
        """The residuals, or their first principal axes at unit variance if columns are redundant."""
        many = self.n_axes(SHARES[1])
        return self.axes[:, :many] / np.sqrt(self.variances[:many]) if self.is_redundant else self.numbers

    def refined(self, labels: Array, k: int, space: Array | None = None) -> Array:
        """The labels after rounds of whitening by the covariance within them, then k-means."""
        from sklearn.cluster import KMeans

        X = self.numbers if space is None else space
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        for _ in range(ROUNDS):
            white = X @ whitening(apart(X, labels))
            again = np.asarray(KMeans(k, n_init=STARTS, random_state=0).fit(white).labels_, dtype=np.int64)
            if same_partition(labels, again):
                break
            labels = again
        return labels

    def merits(self, found: Sequence[Array], rng: np.random.Generator) -> list[float]:
        """For each clustering, how much smaller the volume of the residuals is within its clusters, beyond chance.

        log det of the total covariance less that within clusters, both shrunk, minus the mean of the same for shuffled labels.
        Labels that repeat a known clustering, or have no structure, have no merit.
        """
        if not len(self.variances):
            return [0.0] * len(found)
        X = self.axes[:, : self.n_axes(0.99)] if self.is_redundant else self.axes
        X = X[:, :MOST_AXES]
        total = _log_det(X)

        def explained(codes: Array) -> float:
            return total - _log_det(apart(X, codes))

        return [
            explained(codes) - float(np.mean([explained(rng.permutation(codes)) for _ in range(SHUFFLES)]))
            for codes in found
        ]


def whitening(left: Array) -> Array:
    """The map that gives these residuals, whose covariance is shrunk, a covariance of 1."""
    values, vectors = np.linalg.eigh(_shrunk(left, SHRINKAGE))
    return np.asarray(vectors / np.sqrt(np.maximum(values, max(1e-9 * values[-1], 1e-300))))


def _shrunk(left: Array, weight: float) -> Array:
    d = left.shape[1]
    spread = left.T @ left / len(left)
    return np.asarray((1 - weight) * spread + weight * np.trace(spread) / d * np.eye(d))


def _log_det(left: Array) -> float:
    return float(np.linalg.slogdet(_shrunk(left, OF_MERIT))[1])
