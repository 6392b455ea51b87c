"""Expected mutual information of two random clusterings with given cluster sizes."""

from __future__ import annotations

import math

import numpy as np

from congruence.machine.jit import compiled
from congruence.statistics.tables import Array

# --- expected mutual information --------------------------------------------------------------------------------

#: variance of a cell above which its moments give what it adds to full precision
WIDE = 1e8


def expected_mutual_information(sizes_a: Array, sizes_b: Array, threads: int = 1) -> float:
    """E[MI] in nats of two clusterings with these cluster sizes, over all ways to permute the points.

    >>> round(expected_mutual_information(np.array([2, 2]), np.array([1, 3])), 12)
    0.215761554339
    """
    (a, many_a), (b, many_b) = distinct(sizes_a), distinct(sizes_b)
    n = int(sizes_a.sum())
    return float(many_a @ expected_terms(a, b, n, threads) @ many_b)


def distinct(sizes: Array) -> tuple[Array, Array]:
    """The different positive sizes, and how often each occurs."""
    values, many = np.unique(sizes[sizes > 0].astype(np.int64), return_counts=True)
    return values, many.astype(np.float64)


def expected_terms(a: Array, b: Array, n: int, threads: int = 1) -> Array:
    """The contribution of clusters of sizes a[u] and b[v] to E[MI], for all u and v (only u ≤ v is computed if a is b)."""
    spread = np.sqrt(np.minimum(np.outer(a / n, b.astype(np.float64)), WIDE))
    steps = float(np.minimum(spread * 18 + 2, np.minimum.outer(a, b) + 1).sum())
    terms = compiled(_terms, steps)
    out = np.empty((len(a), len(b)))
    bounds = [(u, min(u + 16, len(a))) for u in range(0, len(a), 16)]
    if threads > 1 and steps > 2e6:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda bound: terms(a, b, n, a is b, *bound, out), bounds))
    else:
        terms(a, b, n, a is b, 0, len(a), out)
    if a is b:
        lower = np.tril_indices(len(a), -1)
        out[lower] = out.T[lower]
    return out


def _terms(a: Array, b: Array, n: int, symmetric: bool, first: int, last: int, out: Array) -> None:
    """E[x log(x/μ) − (x − μ)]/n of the hypergeometric count x with mean μ = ab/n: every term is ≥ 0, so nothing cancels.

    The ratio of neighbouring probabilities is followed in both directions from the mode, where the weight is set to 1, until it
    is below 1e-18; dividing by the sum of weights makes factorials unnecessary. Where the variance of x is large, that would
    be millions of steps: the central moments m₂, m₃, m₄ give m₂/2μ − m₃/6μ² + m₄/12μ³, with a relative error below 1/μ².
    """
    for u in range(first, last):
        for v in range(u if symmetric else 0, len(b)):
            size_a, size_b = float(a[u]), float(b[v])
            mean = size_a * size_b / n
            rest = n - size_a - size_b
            variance = mean * ((n - size_a) / n) * ((n - size_b) / (n - 1)) if n > 1 else 0.0
            if variance > WIDE:
                third = variance * ((n - 2 * size_a) / n) * ((n - 2 * size_b) / (n - 2))
                fourth = 3 * variance * variance
                out[u, v] = (variance / 2 - third / (6 * mean) + fourth / (12 * mean * mean)) / mean / n
                continue
            high = min(size_a, size_b)
            low = max(0.0, -rest)
            mode = min(max(float(math.floor((size_a + 1) * (size_b + 1) / (n + 2))), low), high)
            weights = 0.0
            total = 0.0
            weight = 1.0
            x = mode
            while weight > 1e-18:
                weights += weight
                off = (x - mean) / mean
                total += weight * (x * math.log1p(off) - (x - mean)) if x > 0 else weight * mean
                if x >= high:
                    break
                weight *= (size_a - x) * (size_b - x) / ((x + 1) * (rest + x + 1))
                x += 1.0
            weight = 1.0
            x = mode
            while x > low:
                weight *= x * (rest + x) / ((size_a - x + 1) * (size_b - x + 1))
                x -= 1.0
                if weight <= 1e-18:
                    break
                weights += weight
                off = (x - mean) / mean
                total += weight * (x * math.log1p(off) - (x - mean)) if x > 0 else weight * mean
            out[u, v] = total / weights / n
