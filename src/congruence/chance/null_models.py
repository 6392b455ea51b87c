"""Null models that draw partitions uniformly: their cluster sizes, and their expectations."""

from __future__ import annotations

import math

import numpy as np

from congruence.statistics.tables import Array, xlogx

# --- sizes of random partitions ---------------------------------------------------------------------------------


def random_sizes(rng: np.random.Generator, n: int, k: int | None, draws: int) -> Array:
    """Cluster sizes (draws, clusters) of partitions drawn uniformly: all into k clusters, or (None) all partitions.

    Sizes are in descending order, padded with 0.

    >>> random_sizes(np.random.default_rng(0), 5, 4, 1).tolist()
    [[2, 1, 1, 1]]
    """
    sizes = _sizes_of_any(rng, n, draws) if k is None else _sizes_of_k(rng, n, k, draws)
    return np.asarray(-np.sort(-sizes, axis=1))


def _sizes_of_any(rng: np.random.Generator, n: int, draws: int) -> Array:
    """Stam (1983): draw a number of urns m with weight mⁿ/m!, throw the points into them, drop empty urns."""
    urns, weight = _urns(n)
    drawn = [rng.multinomial(n, np.full(m, 1 / m)) for m in rng.choice(urns, size=draws, p=weight).tolist()]
    filled = [sizes[sizes > 0] for sizes in drawn]
    out = np.zeros((draws, max(len(sizes) for sizes in filled)), dtype=np.int64)
    for line, sizes in zip(out, filled, strict=True):
        line[: len(sizes)] = sizes
    return out


def _urns(n: int) -> tuple[Array, Array]:
    """Numbers of urns m and their probabilities, proportional to mⁿ/m! (Dobinski's sum for the Bell number)."""
    from scipy.special import gammaln

    m = np.arange(1, 2 * n + 30, dtype=np.float64)
    log = n * np.log(m) - gammaln(m + 1)
    keep = log > log.max() - 80
    weight = np.exp(log[keep] - log.max())
    return m[keep].astype(np.int64), weight / weight.sum()


def _sizes_of_k(rng: np.random.Generator, n: int, k: int, draws: int) -> Array:
    """Points thrown into k urns, repeated if one is empty; if that is likely, zero-truncated Poisson counts instead."""
    if k * math.exp(-n / k) < 1:
        sizes = rng.multinomial(n, np.full(k, 1 / k), size=draws)
        while (empty := np.flatnonzero((sizes == 0).any(axis=1))).size:
            sizes[empty] = rng.multinomial(n, np.full(k, 1 / k), size=len(empty))
        return sizes
    # k − 1 zero-truncated Poisson counts; the last is the remainder, accepted with its probability
    rate = _rate(n / k)
    x = np.arange(1, n - k + 2)
    log = x * math.log(rate) - np.cumsum(np.log(x)) if rate > 0 else np.where(x == 1, 0.0, -np.inf)
    weight = np.exp(log - log.max())
    steps = np.cumsum(weight) / weight.sum()
    found: list[Array] = []
    while len(found) < draws:
        sizes = 1 + np.searchsorted(steps, rng.random((64, k - 1)), side="right")
        last = n - sizes.sum(axis=1)
        chance = np.where((last >= 1) & (last <= len(x)), weight[np.clip(last - 1, 0, len(x) - 1)], 0.0)
        kept = rng.random(64) < chance
        found += list(np.column_stack([sizes, last])[kept])
    return np.array(found[:draws])


def _rate(mean: float) -> float:
    """The rate λ of a Poisson whose mean above 0, λ/(1 − e^−λ), is this."""
    low, high = 0.0, mean
    for _ in range(200):
        mid = (low + high) / 2
        if mid > 0 and mid / -math.expm1(-mid) > mean:
            high = mid
        else:
            low = mid
    return low


# --- expectations of random partitions ---------------------------------------------------------------------------


def together(n: int, k: int | None) -> float:
    """Probability that two points are together in a random partition of n into k clusters, or (None) of any number.

    S(n−1, k)/S(n, k) by Stirling numbers, or B(n−1)/B(n) by Bell numbers.

    >>> together(4, 2), round(together(4, None), 6)
    (0.42857142857142855, 0.333333)
    """
    if k is None:
        urns, weight = _urns(n)
        return float((weight / urns).sum())
    return float(_stirling_steps(n, k)[-1]) if n > k else 0.0


def _stirling_steps(n: int, k: int) -> Array:
    """S(m−1, k)/S(m, k) for m = k … n, by a recurrence over ratios without cancellation."""
    ks = np.arange(2, k + 1, dtype=np.float64)
    up = np.zeros(k - 1)  # S(m, j)/S(m, j−1) for j = 2 … k, at m = 1
    steps = np.zeros(n - k + 1)
    if k == 1:
        steps[1:] = 1.0
        return steps
    with np.errstate(divide="ignore", over="ignore"):
        for m in range(2, n + 1):
            before = np.concatenate([[0.0], 1 / up[:-1]])
            if m > k:
                steps[m - k] = 1 / (k + 1 / up[-1])
                if up[-1] > 1e17 and steps[m - k] == steps[m - k - 1]:  # equal to 1/k from here on
                    steps[m - k :] = steps[m - k]
                    break
            up = (ks * up + 1) / (ks - 1 + before)
    return steps


def chance_of_one(n: int, k: int | None) -> float:
    """Probability of each partition if all of n points into k clusters, or (None) all of any number, are equally likely.

    >>> round(chance_of_one(3, None), 12), round(chance_of_one(4, 2), 12), chance_of_one(4, 1)
    (0.2, 0.142857142857, 1.0)
    """
    if k is not None:
        return float(np.prod(_stirling_steps(n, k)[1:]))
    from scipy.special import gammaln, logsumexp

    m = np.arange(1, 2 * n + 30, dtype=np.float64)
    return math.exp(1 - logsumexp(n * np.log(m) - gammaln(m + 1)))


def expected_blocks(n: int, k: int | None) -> tuple[Array, Array]:
    """Sizes, and how many clusters of each size a random partition has on average.

    >>> sizes, many = expected_blocks(4, 2)
    >>> dict(zip(sizes.tolist(), many.round(6).tolist()))
    {1: 0.571429, 2: 0.857143, 3: 0.571429}
    """
    from scipy.special import gammaln

    size = np.arange(1, n + 1)
    log_choose = gammaln(n + 1) - gammaln(size + 1) - gammaln(n - size + 1)
    if k is None:  # m urns hold m · Binomial(n, 1/m) clusters of each size
        urns, weight = _urns(n)
        many = np.zeros(n)
        for m, share in zip(urns.tolist(), weight.tolist(), strict=True):
            rest = (n - size) * math.log1p(-1 / m) if m > 1 else np.where(size == n, 0.0, -np.inf)
            many += share * m * np.exp(log_choose - size * math.log(m) + rest)
    elif k == 1:
        many = (size == n).astype(np.float64)
    else:  # C(n, s) · S(n−s, k−1)/S(n, k)
        log = np.full(n + 1, -np.inf)
        log[k - 1 :] = np.concatenate([[0.0], -np.cumsum(np.log(_stirling_steps(n, k - 1)[1:]))])
        log_many = log_choose + log[n - size]
        many = np.exp(log_many - log_many.max())
    keep = many > 1e-17 * many.max()
    many = many * (n / (many * size).sum())  # the clusters hold all the points
    return size[keep], many[keep]


def expected_entropy(n: int, blocks: tuple[Array, Array]) -> float:
    """Expected entropy in nats of a clustering with these expected numbers of clusters of these sizes."""
    sizes, many = blocks
    entropy = math.log(n) - float((many * xlogx(sizes)).sum()) / n
    return entropy if entropy > 1e-13 else 0.0  # one cluster: below that is rounding error
