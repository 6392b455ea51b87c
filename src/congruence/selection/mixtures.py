"""Gaussian mixtures started from a partition: BIC and ICL of four kinds of covariance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.selection import kmeans
from congruence.statistics.tables import Array

#: covariances: one each, one for all, one each without correlations, one variance each (mclust: VVV, EEE, VVI, VII)
KINDS = ("full", "tied", "diag", "spherical")
#: a kind is skipped if it has more parameters than this share of the points
MOST_PARAMETERS = 0.8
STEPS, TOLERANCE, RIDGE = 100, 1e-4, 1e-3
#: steps from the second start; if it is better, its clusters are far apart and EM converges fast
SECOND_STEPS = 20
#: rounds of scaling by the covariance within clusters, and k-means starts in each
ROUNDS, ROUND_STARTS = 4, 6
#: mixtures of data with more features than this are fitted to the first axes
MOST_AXES, SOME_AXES = 15, 10
#: round components are clusters of one size if their variances differ by at most this factor, their centres are this many
#: standard deviations apart, and each has this share of the points
ROUND_RATIO, ROUND_APART, ROUND_SHARE = 1.6, 1.8, 0.05
#: half-width of the windows at two centres and halfway between, in units of their distance
WINDOW = 0.15


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted mixture: log-likelihood, number of parameters, and the memberships (components × points)."""

    kind: str
    log_likelihood: float
    parameters: int
    memberships: Array

    @property
    def bic(self) -> float:
        """2 log L − p log n: larger is better, as in mclust."""
        return 2 * self.log_likelihood - self.parameters * math.log(self.memberships.shape[1])

    @property
    def icl(self) -> float:
        """BIC minus twice the entropy of the assignments of points to their most likely components."""
        return self.bic + 2 * float(np.log(self.memberships.max(axis=0)).sum())


def count_parameters(kind: str, k: int, d: int) -> int:
    """Free parameters of a mixture.

    >>> [count_parameters(kind, 3, 4) for kind in KINDS]
    [44, 24, 26, 17]
    """
    spread = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d, "spherical": k}[kind]
    return spread + k * d + k - 1


def first_axes(points: Array) -> Array:
    """The principal axes that mixtures are fitted to: all, or the first few of many."""
    n, d = points.shape
    return points if d <= MOST_AXES else points[:, : max(2, min(SOME_AXES, n // 10))]


def fits(
    X: Array, labels: Array, k: int, steps: int = STEPS, tolerance: float = TOLERANCE, ridge: float = RIDGE,
    kinds: Sequence[str] = KINDS,
) -> list[Fit]:  # fmt: skip
    """Mixtures of k components, one for each kind of covariance that does not have too many parameters.

    Args:
        X: Points × features, dense.
        labels: The partition EM starts from, 0 … k − 1.
        k: Number of components.
        steps: EM stops after this many steps.
        tolerance: EM also stops when the mean log-likelihood per point grows by less than this.
        ridge: Added to variances, as a share of the mean variance within clusters.
        kinds: Kinds of covariance, from `KINDS`.
    """
    n, d = X.shape
    own = (labels == np.arange(k)[:, None]).astype(np.float64)
    able = [kind for kind in kinds if count_parameters(kind, k, d) <= MOST_PARAMETERS * n]
    if k == 1:  # one component has a closed form, and tied is full
        able = [kind for kind in able if kind != "tied"]
    if not able:
        return []
    within = float(((X - (own.T @ _means(X, own))) ** 2).mean())
    floor = max(ridge * within, 1e-9 * float(X.var(axis=0).mean()), 1e-300)
    powers = _Powers.of(X, "full" in able or "tied" in able)
    return [_em(powers, own, kind, steps, tolerance, floor) for kind in able]


def fits_of_two(X: Array, labels: Array, k: int) -> list[Fit]:
    """Mixtures from this partition, and from one that does not cut elongated parallel clusters."""
    found = fits(X, labels, k)
    if k == 1 or not found:
        return found
    return found + fits(X, along(X, k), k, SECOND_STEPS, kinds=("full", "tied"))


def along(points: Array, k: int) -> Array:
    """A k-means partition that does not cut elongated parallel clusters.

    The points are scaled to unit covariance, then to unit covariance within the clusters found, until these stay the same.
    """
    labels = np.zeros(len(points), dtype=np.int64)
    rng = np.random.default_rng(k)
    for _ in range(ROUNDS):
        own = (labels == np.arange(k)[:, None]).astype(np.float64)
        apart = points - (own @ points / np.maximum(own.sum(axis=1), 1.0)[:, None])[labels]
        variances, axes = np.linalg.eigh(apart.T @ apart / len(points))
        white = points @ axes / np.sqrt(np.maximum(variances, 1e-6 * max(variances[-1], 1e-300)))
        starts = kmeans.seeds(white[None], k, ROUND_STARTS, rng)
        again = kmeans.nearest(white, kmeans.fit(white[None], starts)[0][0])
        if same_partition(labels, again):
            break
        labels = again
    return labels


def same_partition(a: Array, b: Array) -> bool:
    """Whether two partitions are the same, regardless of cluster numbers."""
    return len(np.unique(a)) == len(np.unique(b)) == len(np.unique(np.stack([a, b]), axis=1).T)


def is_round(X: Array, fit: Fit) -> bool:
    """Whether a mixture has several round components of one size, apart from each other.

    Boxes and arcs are covered by flattened components, and heavy or skewed tails by components of different sizes.
    """
    own = fit.memberships
    k, d = len(own), X.shape[1]
    if fit.kind != "spherical" or k == 1 or d == 1:  # in one dimension every component is round
        return False
    mass, means = own.sum(axis=1), _means(X, own)
    variances = np.array([m @ ((X - mean) ** 2).sum(axis=1) for m, mean in zip(own, means, strict=True)]) / mass / d
    if mass.min() < ROUND_SHARE * len(X) or variances.max() > ROUND_RATIO * variances.min():
        return False
    apart = kmeans.squares(means, means)[np.triu_indices(k, 1)]
    return bool(apart.min() >= ROUND_APART**2 * variances.mean())


def fisher_valley(X: Array, labels: Array, k: int) -> float:
    """Depth of the shallowest valley between two clusters, each pair projected on its Fisher discriminant.

    As `halves.valley`, but on the line that separates two clusters best given their covariance, so that elongated parallel
    clusters are recognised as two. −1 if a cluster has fewer than three points or there is no direction.
    """
    _n, d = X.shape
    own = (labels == np.arange(k)[:, None]).astype(np.float64)
    many = own.sum(axis=1)
    if many.min() < 3:
        return -1.0
    means = own @ X / many[:, None]
    apart = X - means[labels]
    spreads = np.stack([apart[labels == j].T @ apart[labels == j] for j in range(k)])
    worst = math.inf
    for a in range(k):
        for b in range(a):
            both = many[a] + many[b]
            pooled = (spreads[a] + spreads[b]) / both
            ridge = (1e-3 + d / both) * np.trace(pooled) / d
            if ridge <= 0:
                continue  # both clusters are copies of a single point
            pair = (labels == a) | (labels == b)
            along = (X[pair] - means[a]) @ np.linalg.solve(pooled + ridge * np.eye(d), means[b] - means[a])
            length = float(along[labels[pair] == b].mean())
            if length <= 0:
                return -1.0
            near_a, middle, near_b = (float((np.abs(along / length - at) < WINDOW).sum()) for at in (0.0, 0.5, 1.0))
            least = min(near_a, near_b)
            worst = min(worst, (least - middle) / math.sqrt(least + middle + 1))
    return worst


@dataclass(frozen=True, eq=False)
class _Powers:
    """Powers of the coordinates, one row each: a density is a weighted sum of them, and a step of EM two matrix products."""

    #: coordinates, and a row of ones
    linear: Array
    #: squares of the coordinates
    squares: Array
    #: products of coordinates i ≤ j; empty if no covariance needs them
    products: Array
    pairs: tuple[Array, Array]

    @classmethod
    def of(cls, X: Array, correlated: bool) -> _Powers:
        n, d = X.shape
        across = np.ascontiguousarray(X.T)
        i, j = np.triu_indices(d)
        products = across[i] * across[j] if correlated else np.empty((0, n))
        return cls(np.concatenate([across, np.ones((1, n))]), across**2, products, (i, j))

    def matrices(self, sums: Array) -> Array:
        """Symmetric matrices (components, d, d) from the sums of products."""
        i, j = self.pairs
        d = len(self.squares)
        found = np.empty((len(sums), d, d))
        found[:, i, j] = sums
        found[:, j, i] = sums
        return found


def _em(powers: _Powers, memberships: Array, kind: str, steps: int, tolerance: float, ridge: float) -> Fit:
    d, n = powers.squares.shape
    k = len(memberships)
    before = -math.inf
    for _ in range(steps):
        logs = _log_densities(powers, memberships, kind, ridge)
        top = logs.max(axis=0)
        logs -= top
        np.exp(logs, out=logs)
        total = logs.sum(axis=0)
        now = float((np.log(total) + top).mean())
        logs /= total
        memberships = logs
        if k == 1 or now - before < tolerance:
            break
        before = now
    return Fit(kind, n * now, count_parameters(kind, k, d), memberships)


def _means(X: Array, memberships: Array) -> Array:
    return np.asarray((memberships @ X) / np.maximum(memberships.sum(axis=1), 1e-12)[:, None])


def _log_densities(powers: _Powers, memberships: Array, kind: str, ridge: float) -> Array:
    """log(weight · density) of each component (rows) at each point, after a maximisation step.

    The squared Mahalanobis distance is multiplied out: x'Px − 2x'Pm + m'Pm, with P the inverse covariance and m the mean.
    """
    d, n = powers.squares.shape
    sums = memberships @ powers.linear.T
    mass = np.maximum(sums[:, d], 1e-12)
    means = sums[:, :d] / mass[:, None]
    if kind in ("full", "tied"):
        if kind == "full":
            second = powers.matrices(memberships @ powers.products.T) / mass[:, None, None]
            spread = second - means[:, :, None] * means[:, None, :]
        else:
            spread = (powers.matrices(powers.products.sum(axis=1)[None]) - (means.T * mass) @ means) / n
        factors = _cholesky(spread + ridge * np.eye(d), ridge)
        inverse = np.linalg.inv(factors)
        precision = np.swapaxes(inverse, -1, -2) @ inverse
        volume = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        i, j = powers.pairs
        logs = (precision[:, i, j] * np.where(i == j, -0.5, -1.0)) @ powers.products  # one row for all of "tied"
        slope = (precision @ means[:, :, None])[:, :, 0]
    else:
        variance = memberships @ powers.squares.T / mass[:, None] - means**2
        if kind == "spherical":
            variance = np.repeat(variance.mean(axis=1, keepdims=True), d, axis=1)
        variance = np.maximum(variance, 0.0) + ridge
        volume = np.log(variance).sum(axis=1) / 2
        logs = (-0.5 / variance) @ powers.squares
        slope = means / variance
    constant = np.log(mass / n) - volume - 0.5 * d * math.log(2 * math.pi) - 0.5 * (slope * means).sum(axis=1)
    return np.asarray(logs + np.column_stack([slope, constant]) @ powers.linear)


def _cholesky(spread: Array, ridge: float) -> Array:
    """Cholesky factors; a matrix that is indefinite because of rounding gets a larger ridge."""
    times = 1.0
    while True:
        try:
            return np.asarray(np.linalg.cholesky(spread + (times - 1) * ridge * np.eye(spread.shape[-1])))
        except np.linalg.LinAlgError:
            times *= 10
