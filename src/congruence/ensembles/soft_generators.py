"""Soft members from data: Gaussian mixtures, fuzzy and possibilistic c-means."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, get_args

import numpy as np

from congruence.errors import InputError, Option, one_of, warn
from congruence.statistics.tables import Array
from congruence.typing import CovarianceType, SparseMatrix


class Mixtures(NamedTuple):
    """The options of method "em": a protocol, and the kind of covariances."""

    protocol: str | None = None
    covariance_type: str | None = None

    def check(self, method: object) -> None:
        """Raise for an unknown option, or one without method "em"."""
        by_em = isinstance(method, str) and method == "em"
        if self.protocol is not None and not (self.protocol == "paper" and by_em):
            raise InputError(
                f"protocol must be None, or 'paper' with method 'em'; not {self.protocol!r} with {method!r}"
            )
        if self.covariance_type is not None:
            one_of("covariance_type", self.covariance_type, get_args(CovarianceType))
            if not by_em:
                raise InputError(f"{Option('covariance_type')} is for method 'em'; the method is {method!r}")

    @property
    def maker(self) -> Callable[[Array | SparseMatrix, int, np.random.Generator], Array]:
        """The function that makes a member."""
        if self.protocol is None:
            return partial(_em, kind=self.covariance_type or "full")
        return partial(_em_of_the_paper, kind=self.covariance_type or "diag")


def seed_of(rng: np.random.Generator) -> int:
    """An integer seed."""
    return int(rng.integers(2**31 - 1))


def _em(data: Array | SparseMatrix, k: int, rng: np.random.Generator, *, kind: str) -> Array:
    """Memberships of a Gaussian mixture started at random points; 1e-6 of the mean variance is added to covariances."""
    from sklearn.mixture import GaussianMixture

    ridge = 1e-6 * (float(data.var(axis=0).mean()) or 1.0)  # in the units of the data
    model = GaussianMixture(
        k, covariance_type=kind, init_params="random_from_data", reg_covar=ridge, random_state=seed_of(rng)
    )
    try:
        return np.asarray(model.fit(data).predict_proba(data))
    except ValueError as error:
        raise InputError(f"a Gaussian mixture of {k} components could not be fitted: {error}") from None


def _em_of_the_paper(
    data: Array | SparseMatrix,
    k: int,
    rng: np.random.Generator,
    *,
    kind: str,
    tolerance: float = 1e-3,
    steps: int = 100,
) -> Array:
    """Memberships by EM as in Lei et al. (2014), section V.C; 1e-6 of the variances is added to a singular covariance."""
    n, d = data.shape
    variances = data.var(axis=0, ddof=1) if n > 1 else np.zeros(d)
    ridge = 1e-6 * np.where(variances > 0, variances, variances.mean() or 1.0)
    means = data[rng.choice(n, k, replace=False)]
    columns = np.ascontiguousarray(data.T)  # arrays below are components × features × points
    apart = columns - means[:, :, None]
    covariances = _of_kind(np.repeat(np.diag(variances)[None], k, axis=0), kind, np.full(k, 1 / k))
    priors = np.full(k, 1 / k)
    repaired, change = False, math.inf
    for _ in range(steps):
        factors, singular = _factors(covariances, ridge)
        repaired |= singular
        memberships = _responsibilities(apart, factors, priors)
        sizes = memberships.sum(axis=1)
        there = sizes > 0  # a component without points is not updated
        share = memberships / np.where(there, sizes, 1.0)[:, None]
        updated = np.where(there[:, None], share @ data, means)
        change, means = float(np.abs(updated - means).max()), updated
        apart = columns - means[:, :, None]
        spread = (apart * share[:, None, :]) @ apart.transpose(0, 2, 1)
        covariances = np.where(there[:, None, None], _of_kind(spread, kind, sizes / n), covariances)
        priors = sizes / n
        if change < tolerance:
            break
    else:
        warn(f"EM stopped after {steps} steps, as the protocol says, before it converged")
    factors, singular = _factors(covariances, ridge)
    if repaired or singular:
        warn("singular covariances were regularised: 1e-6 of the features' variances added")
    return np.ascontiguousarray(_responsibilities(apart, factors, priors).T)


def _of_kind(spread: Array, kind: str, priors: Array) -> Array:
    """The covariances of this kind that fit best, from those of each component."""
    if kind == "full":
        return spread
    if kind == "tied":
        return np.broadcast_to((priors[:, None, None] * spread).sum(axis=0), spread.shape)
    variances = np.diagonal(spread, axis1=1, axis2=2)
    if kind == "spherical":
        variances = np.broadcast_to(variances.mean(axis=1, keepdims=True), variances.shape)
    return np.asarray(variances[:, :, None] * np.eye(spread.shape[1]))


def _factors(covariances: Array, ridge: Array) -> tuple[Array, bool]:
    """Cholesky factors of the covariances, and whether any was singular and regularised."""
    factors = _cholesky(covariances, ridge)
    if factors is not None:
        return factors, False
    found = np.empty_like(covariances)
    for i, covariance in enumerate(covariances):
        trials = (_cholesky(covariance + np.diag(times * ridge), ridge) for times in (0, 1, 1e3, 1e6))
        found[i] = next(factor for factor in trials if factor is not None)
    return found, True


def _cholesky(covariances: Array, ridge: Array) -> Array | None:
    """Cholesky factors; None if one is singular: a pivot is below 1e-9 of the variance."""
    try:
        factors = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(factors, axis1=-2, axis2=-1) ** 2
    return np.asarray(factors) if (pivots > 1e-3 * ridge).all() else None


def _responsibilities(apart: Array, factors: Array, priors: Array) -> Array:
    """p(component | point) of a Gaussian mixture from the centred points, computed in logarithms."""
    whitened = np.linalg.inv(factors) @ apart
    pivots = np.diagonal(factors, axis1=1, axis2=2)
    with np.errstate(divide="ignore"):
        logs = (np.log(priors) - np.log(pivots).sum(axis=1))[:, None] - np.einsum("kdn,kdn->kn", whitened, whitened) / 2
    scaled = np.exp(logs - logs.max(axis=0))
    return np.asarray(scaled / scaled.sum(axis=0))


def fuzzy(
    data: Array | SparseMatrix, k: int, rng: np.random.Generator, m: float = 2.0, tolerance: float = 1e-5
) -> Array:
    """Fuzzy c-means: memberships ∝ distance^(−2/(m−1)), centres the means weighted by membership^m."""
    centres = data[rng.choice(len(data), k, replace=False)]
    memberships = np.zeros((len(data), k))
    for _ in range(300):
        each = [
            ((data - centre) ** 2).sum(axis=1) for centre in centres
        ]  # avoids an array of points × clusters × features
        squares = np.maximum(np.column_stack(each), np.finfo(float).tiny)
        nearness = (squares.min(axis=1, keepdims=True) / squares) ** (1 / (m - 1))  # at most 1, so nothing overflows
        updated = nearness / nearness.sum(axis=1, keepdims=True)
        weight = updated**m
        centres = (weight.T @ data) / weight.sum(axis=0)[:, None]
        change, memberships = float(np.abs(updated - memberships).max()), updated
        if change < tolerance:
            return np.asarray(memberships)
    warn(f"fuzzy c-means stopped after 300 steps before it converged (last change {change:.0e})")
    return np.asarray(memberships)


def possibilistic(
    data: Array | SparseMatrix, k: int, rng: np.random.Generator, m: float = 2.0, tolerance: float = 1e-5
) -> Array:
    """Possibilistic c-means (Krishnapuram and Keller 1993), started from fuzzy c-means: 1 / (1 + (distance²/η)^(1/(m−1))).

    η of a cluster is its mean squared distance, weighted by the fuzzy memberships to the power of m. Rows do not add up to 1,
    and clusters may coincide.
    """
    memberships = fuzzy(data, k, rng, m)
    scale = np.zeros(0)
    for _ in range(300):
        weight = memberships**m
        total = np.maximum(weight.sum(axis=0), np.finfo(float).tiny)
        centres = (weight.T @ data) / total[:, None]
        squares = np.column_stack([((data - centre) ** 2).sum(axis=1) for centre in centres])
        if not len(scale):
            scale = np.maximum((weight * squares).sum(axis=0) / total, 1e-12 * (float(data.var()) or 1.0))
        updated = 1 / (1 + (squares / scale) ** (1 / (m - 1)))
        change, memberships = float(np.abs(updated - memberships).max()), updated
        if change < tolerance:
            return np.asarray(memberships)
    warn(f"possibilistic c-means stopped after 300 steps before it converged (last change {change:.0e})")
    return np.asarray(memberships)
