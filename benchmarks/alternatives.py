"""Time to find an alternative clustering: `python -m benchmarks.alternatives` (20 minutes; `--quick`: 3).

The data have two independent clusterings, each in half of the attributes. The first is given, and ARI measures how well the
second is found. Both wall time and CPU time are printed. "One program" assigns points to the same centroids by HiGHS (the
linear program, exactly) and by prices (its dual). The number of prices is clusters to find × known clusters.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import Any

import numpy as np

import congruence as cg
from benchmarks.timing import once
from congruence.alternative_clustering.maximus import FEW_STEPS, STEPS
from congruence.alternative_clustering.points import as_points, binned
from congruence.alternative_clustering.program import Assignment, assign_by_highs, assign_by_prices
from congruence.alternative_clustering.search import MOST_PRICES

#: clusters to find and known clusters: each line has twice the prices of the line before
PAIRS = ((5, 15), (10, 15), (15, 20), (24, 25))


def planted(
    n: int, k: int, attributes: int, separation: float = 2.5, seed: int = 0, known: int | None = None
) -> tuple[np.ndarray, Any]:
    """Data and their two clusterings; the first has `known` clusters, or k like the second."""
    rng = np.random.default_rng(seed)
    sizes = (known or k, k)
    views = [rng.integers(0, size, n) for size in sizes]
    half = attributes // 2
    parts = [
        separation * rng.normal(size=(size, half))[v] + rng.normal(size=(n, half))
        for size, v in zip(sizes, views, strict=True)
    ]
    return np.hstack(parts), views


def one_cost(n: int, k: int, known: int) -> tuple[np.ndarray, Assignment]:
    """Squared distances of all points to k of them, and the program."""
    X, (given, _) = planted(n, k, 20, known=known)
    points = binned(as_points(X, True), "width", 10, given)
    program = Assignment.of([points.density(points.profile(given, known))], k, 0.05, n // (3 * k))
    rng = np.random.default_rng(1)
    centres = points.numbers[rng.choice(n, k, replace=False)]
    return np.square(points.numbers[:, None] - centres[None]).sum(axis=2), program


def one_program(n: int, k: int) -> None:
    """One assignment of all points, by either solver."""
    from threadpoolctl import threadpool_limits

    cost, program = one_cost(n, k, k)
    with threadpool_limits(1):
        times = []
        for assign in (assign_by_highs, assign_by_prices):
            start = time.process_time()
            found = assign(cost, program)
            times.append((time.process_time() - start, found))
    (slow, exact), (fast, dual) = times
    print(
        f"one program n={n:,} K={k}, CPU seconds: HiGHS {slow:.2f} ({exact.status}), prices {fast:.2f} ({dual.status}), "
        f"{slow / fast:.0f} times faster, bound {1 - dual.bound / exact.bound:.1e} below the optimum",
        flush=True,
    )


def one_alternative(n: int, k: int, method: str, target: float | None, **options: Any) -> None:
    """Wall time of one alternative with all its scores."""
    X, (given, hidden) = planted(n, k, 20)
    seconds, worked, (found,) = once(lambda: cg.alternatives(X, given, k, method=method, random_state=0, **options))
    wanted = "" if target is None else f" (target {target:g} s: {'met' if seconds < target else 'MISSED'})"
    gap = "" if np.isnan(found.gap) else f", gap {found.gap:.2%}"
    print(
        f"{method:18} n={n:,} R=20 K={k}: {seconds:.1f} s{wanted}, {worked:.1f} s CPU, "
        f"ARI with the hidden clustering {cg.ari(found.labels, hidden):.3f}, {found.status}{gap}",
        flush=True,
    )


def prices(n: int, pairs: tuple[tuple[int, int], ...]) -> None:
    """CPU time as the number of prices of maximus grows, and the message above the limit."""
    print(
        f"\nmaximus against the number of prices, n={n:,} R=20, CPU seconds: one program of {FEW_STEPS} steps and of "
        f"up to {STEPS}, one\nalternative of one restart; 'power': of the prices, from the line before"
    )
    print(
        f"{'prices':>6} {'K × known':>9} {'steps':>7} {'power':>5} {'program':>8} {'power':>5} {'whole':>8} {'power':>5}"
    )
    before: tuple[int, list[float]] | None = None
    for k, known in pairs:
        times, powers = seconds_of_prices(n, k, known), ["", "", ""]
        if before is not None:
            more = np.log(k * known / before[0])
            powers = [f"{np.log(now / then) / more:.1f}" for now, then in zip(times, before[1], strict=True)]
        before = k * known, times
        (a, b, c), (p, q, r) = times, powers
        print(
            f"{k * known:6,} {f'{k} × {known}':>9} {a:7.2f} {p:>5} {b:8.2f} {q:>5} {c:8.1f} {r:>5}".rstrip(), flush=True
        )
    k, known = 25, MOST_PRICES // 25 + 1
    X, (given, _) = planted(n, k, 20, known=known)
    try:
        cg.alternatives(X, given, k, method="maximus")
    except cg.InputError as refused:
        print(f"{k * known:6,} {f'{k} × {known}':>9} refused: {refused}")


def seconds_of_prices(n: int, k: int, known: int) -> list[float]:
    """Times of a program with few steps, one with many, and an alternative."""
    from threadpoolctl import threadpool_limits

    X, (given, _) = planted(n, k, 20, known=known)
    cost, program = one_cost(n, k, known)
    calls = [partial(assign_by_prices, cost, program, None, steps) for steps in (FEW_STEPS, STEPS)]
    times = []
    with threadpool_limits(1):
        for call in (*calls, partial(cg.alternatives, X, given, k, n_init=1, random_state=0)):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
    return times


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without n = 10,000 by HiGHS and without 600 prices")
    parser.add_argument("--prices", action="store_true", help="only maximus against the number of prices")
    options = parser.parse_args()
    quick = options.quick
    one_alternative(200, 2, "maximus", None, n_init=1)  # load and compile
    if not options.prices:
        all_methods(quick)
    prices(2000, PAIRS[:-1] if quick else PAIRS)


def all_methods(quick: bool) -> None:
    """One program by either solver, and one alternative by each method."""
    for n in (1000, 2000) if quick else (1000, 2000, 10_000):
        one_program(n, 8)
    one_alternative(2000, 8, "maximus", 60)
    one_alternative(10_000, 8, "maximus", 300)
    one_alternative(2000, 8, "coala", 10)
    for method in (
        "cib",
        "condens",
        "metaclusters",
        "mincentropy",
        "orthogonal",
        "adft",
        "residual",
        "refined",
        "auto",
    ):
        one_alternative(2000, 8, method, None)
    if not quick:
        one_alternative(50_000, 8, "maximus", None)


if __name__ == "__main__":
    main()
