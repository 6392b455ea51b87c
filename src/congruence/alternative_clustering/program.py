"""The program of MAXIMUS: labels within caps on the similarity to the profiles of the known clusterings.

The similarity of two clusterings is the best matching of their clusters, Σ M over matched pairs, M_kl the product of
profiles k and l. By duality it is the least Σu + Σv with u_k + v_l ≥ M_kl and u, v ≥ 0: K·K' rows instead of K! matchings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from congruence.errors import InputError
from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix

#: status codes of HiGHS as text
SOLVED = {0: "optimal", 1: "stopped at the time limit", 2: "infeasible", 3: "unbounded", 4: "numerical difficulties"}


def similarity(products: Array) -> float:
    """The best matching of the clusters of two profiles: the largest sum of M over a one-to-one assignment."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(products, maximize=True)
    return float(products[rows, columns].sum())


def least_similarity(totals: Array, k: int) -> float:
    """LP*: the smallest similarity that any profile of k clusters can have, given the `totals` of each known cluster.

    Σ_l M_kl is fixed, and the mean over random matchings is (1/k)·Σ of the min(K, k) largest; spreading every bin evenly
    attains it.
    """
    return float(np.sort(totals)[::-1][:k].sum() / k)


def matching_rows(densities: Sequence[Array], k: int) -> tuple[SparseMatrix, Array]:
    """Rows A·(x, u¹, v¹, u², v², …) ≤ 0 that say u_k + v_l ≥ M_kl, and which known clustering each u, v belongs to.

    densities: for each known clustering, clusters × places; x is k × places, row by row.
    """
    from scipy import sparse

    blocks, owner = [], []
    for h, density in enumerate(densities):
        many = len(density)
        products = sparse.kron(sparse.eye_array(k), sparse.csr_array(density))  # rows (l, k)
        u = sparse.kron(np.ones((k, 1)), sparse.eye_array(many))
        v = sparse.kron(sparse.eye_array(k), np.ones((many, 1)))
        blocks.append((products, -sparse.hstack([u, v])))
        owner += [h] * (many + k)
    left = sparse.vstack([products for products, _ in blocks])
    right = sparse.block_diag([dual for _, dual in blocks])
    return sparse.hstack([left, right], format="csr"), np.array(owner)


@dataclass(frozen=True, eq=False)
class Assignment:
    """The joint program: assign n points to k clusters at least cost, with the similarity to each known clustering capped."""

    #: for each known clustering, n × K: what a point adds to the product of its cluster with each known cluster
    densities: tuple[Array, ...]
    caps: tuple[float, ...]
    k: int
    min_size: float

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.densities[0])

    @classmethod
    def of(cls, densities: Sequence[Array], k: int, epsilon: float, min_size: float) -> Assignment:
        """The program with caps (1 + epsilon)·LP*."""
        caps = tuple((1 + epsilon) * least_similarity(d.sum(axis=0), k) for d in densities)
        return cls(tuple(densities), caps, k, min_size)

    def on(self, points: Array) -> Assignment:
        """The same program of some of the points."""
        share = len(points) / self.n
        parts = tuple(d[points] for d in self.densities)
        caps = tuple(
            cap * least_similarity(part.sum(axis=0), self.k) / least_similarity(whole.sum(axis=0), self.k)
            for cap, part, whole in zip(self.caps, parts, self.densities, strict=True)
        )
        return Assignment(parts, caps, self.k, self.min_size * share)

    def excess(self, labels: Array) -> tuple[float, ...]:
        """For each known clustering, the relative excess of the similarity over its cap (negative: below)."""
        into = np.eye(self.k)[labels]
        return tuple(similarity(d.T @ into) / cap - 1 for d, cap in zip(self.densities, self.caps, strict=True))

    def tightened(self, shares: Sequence[float], more: float) -> Assignment:
        """The program with smaller caps and a larger minimum size."""
        caps = tuple(cap * (1 - share) for cap, share in zip(self.caps, shares, strict=True))
        return replace(self, caps=caps, min_size=self.min_size + more)


@dataclass(frozen=True, eq=False)
class Assigned:
    """A solution of the joint program for one set of centroids."""

    #: n × k, rows add to 1; all but a few rows are 0 and 1
    shares: Array
    #: no assignment within the caps costs less
    bound: float
    status: str
    #: multipliers to start the next program from
    prices: Array | None = None


def assign_by_highs(
    cost: Array, p: Assignment, prices: Array | None = None, steps: int = 0, *, time_limit: float = 60.0
) -> Assigned:
    """The linear program, exactly."""
    from scipy import sparse
    from scipy.optimize import linprog

    n, k = cost.shape
    # similarities relative to their caps: numbers near 1
    rows, owner = matching_rows([(d / cap).T for d, cap in zip(p.densities, p.caps, strict=True)], k)
    caps = sparse.hstack([sparse.csr_array((len(p.caps), n * k)), np.eye(len(p.caps))[:, owner]])
    sizes = sparse.hstack([-sparse.kron(sparse.eye_array(k), np.ones((1, n))), sparse.csr_array((k, len(owner)))])
    one = sparse.hstack([sparse.hstack([sparse.eye_array(n)] * k), sparse.csr_array((n, len(owner)))], format="csr")
    limits = np.concatenate([np.zeros(rows.shape[0]), np.ones(len(p.caps)), np.full(k, -p.min_size)])
    objective = np.concatenate([cost.T.ravel(), np.zeros(len(owner))])
    # the interior point method is faster for large programs (with crossover to a vertex), simplex for small ones
    method = "highs" if len(objective) < 20_000 else "highs-ipm"
    found = linprog(
        objective, sparse.vstack([rows, caps, sizes], format="csr"), limits, one, np.ones(n), bounds=(0, None), method=method,
        options={"time_limit": float(time_limit)},
    )  # fmt: skip
    status = SOLVED.get(int(found.status), str(found.message))
    if found.x is None:
        raise InputError(f"the program was not solved ({status}); pass a longer time_limit or a larger epsilon")
    return Assigned(found.x[: n * k].reshape(k, n).T, float(found.fun), status)


def assign_by_prices(cost: Array, p: Assignment, prices: Array | None = None, steps: int = 200) -> Assigned:
    """The Lagrangian dual: prices on the few rows that join the points; given those, each point is assigned separately.

    max over π ≥ 0 (one per row u_k + v_l ≥ M_kl), μ ≥ 0 (sizes) and θ ≥ all row and column sums of π of
    Σ_n min_l (cost_nl − μ_l + Σ_k s_kn π_kl) + min_size·Σμ − Σθ·cap, with the minimum over l smoothed: O(n·k·K) per step.
    The bound is that of the unsmoothed function, so it holds for any prices.
    """
    from scipy.optimize import minimize

    n, k = cost.shape
    density = np.hstack([d * (n / cap) for d, cap in zip(p.densities, p.caps, strict=True)])  # the caps are scaled to n
    many = density.shape[1]
    base = cost.min(axis=1, keepdims=True)
    cost = cost - base
    smooth = 0.01 * float(cost.mean()) + 1e-300

    def unpack(x: Array) -> tuple[Array, Array, Array]:
        return x[: many * k].reshape(many, k), x[many * k : many * k + k], x[many * k + k :]

    def priced(x: Array) -> Array:
        pi, mu, _ = unpack(x)
        return np.asarray(cost - mu + density @ pi)

    def value(x: Array) -> tuple[float, Array]:
        _, mu, theta = unpack(x)
        offers = priced(x)
        best = offers.min(axis=1, keepdims=True)
        shares = np.exp((best - offers) / smooth)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        dual = float((best - smooth * np.log(total)).sum()) + p.min_size * float(mu.sum()) - n * float(theta.sum())
        slope = [(density.T @ shares).ravel(), p.min_size - shares.sum(axis=0), np.full(len(theta), -float(n))]
        return -dual / n, -np.concatenate(slope) / n

    limits = _price_limits([d.shape[1] for d in p.densities], k)
    found = minimize(
        value,
        np.zeros(limits.shape[1]) if prices is None else prices,
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * limits.shape[1],
        constraints=[{"type": "ineq", "fun": lambda x: limits @ x, "jac": lambda x: limits}],
        options={"maxiter": steps, "ftol": 1e-7 * smooth},
    )
    x = np.maximum(found.x, 0)
    pi, mu, _ = unpack(x)
    offers = priced(x)
    heaviest = 0.0
    for block in np.split(pi, np.cumsum([d.shape[1] for d in p.densities])[:-1]):
        heaviest += max(float(block.sum(axis=0).max()), float(block.sum(axis=1).max()))
    bound = float(offers.min(axis=1).sum()) + p.min_size * float(mu.sum()) - n * heaviest
    shares = np.exp((offers.min(axis=1, keepdims=True) - offers) / smooth)
    shares /= shares.sum(axis=1, keepdims=True)
    status = "dual converged" if found.success else f"dual stopped after {steps} steps"
    return Assigned(shares, max(bound, 0.0) + float(base.sum()), status, x)


def _price_limits(knowns: Sequence[int], k: int) -> Array:
    """Rows for θ_h ≥ every row sum and column sum of π_h."""
    size, rows = sum(knowns) * k + k + len(knowns), []
    start = 0
    for h, many in enumerate(knowns):
        for over in (np.eye(many).repeat(k, axis=1), np.tile(np.eye(k), many)):
            block = np.zeros((len(over), size))
            block[:, start : start + many * k] = -over
            block[:, sum(knowns) * k + k + h] = 1
            rows.append(block)
        start += many * k
    return np.vstack(rows)
