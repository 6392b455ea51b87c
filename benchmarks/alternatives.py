"""How long alternatives take: `python -m benchmarks.alternatives` (a quarter of an hour; `--quick` two minutes).

The data have two independent clusterings, each in half of the attributes; the first is given, and ARI says how well the
second is found. Seconds are as waited, and of one core, which other work on the machine does not lengthen. One program: the
same centroids by HiGHS (the linear program, exactly) and by prices (its dual).
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import congruence as cg
from congruence.alternative.points import as_points, binned
from congruence.alternative.program import Assignment, assign_by_highs, assign_by_prices


def planted(n: int, k: int, attributes: int, separation: float = 2.5, seed: int = 0) -> tuple[np.ndarray, Any]:
    """Data and their two clusterings."""
    rng = np.random.default_rng(seed)
    views = [rng.integers(0, k, n) for _ in range(2)]
    half = attributes // 2
    return np.hstack([separation * rng.normal(size=(k, half))[v] + rng.normal(size=(n, half)) for v in views]), views


def one_program(n: int, k: int) -> None:
    """One assignment of all points, by either solver."""
    from threadpoolctl import threadpool_limits

    X, (given, _) = planted(n, k, 20)
    points = binned(as_points(X, True), "width", 10, given)
    program = Assignment.of([points.density(points.profile(given, k))], k, 0.05, n // (3 * k))
    rng = np.random.default_rng(1)
    centres = points.numbers[rng.choice(n, k, replace=False)]
    cost = np.square(points.numbers[:, None] - centres[None]).sum(axis=2)
    with threadpool_limits(1):
        times = []
        for assign in (assign_by_highs, assign_by_prices):
            start = time.process_time()
            found = assign(cost, program)
            times.append((time.process_time() - start, found))
    (slow, exact), (fast, dual) = times
    print(
        f"one program n={n:,} K={k}, seconds of one core: HiGHS {slow:.2f} ({exact.status}), prices {fast:.2f} ({dual.status}), "
        f"{slow / fast:.0f} times faster, bound {1 - dual.bound / exact.bound:.1e} below the optimum",
        flush=True,
    )


def one_alternative(n: int, k: int, method: str, target: float | None, **options: Any) -> None:
    """One alternative with all its scores, as a user waits for it."""
    X, (given, hidden) = planted(n, k, 20)
    start, worked = time.perf_counter(), time.process_time()
    found = cg.alternatives(X, given, k, method=method, random_state=0, **options)[0]
    seconds, worked = time.perf_counter() - start, time.process_time() - worked
    wanted = "" if target is None else f" (target {target:g} s: {'met' if seconds < target else 'MISSED'})"
    gap = "" if np.isnan(found.gap) else f", gap {found.gap:.2%}"
    print(
        f"{method:18} n={n:,} R=20 K={k}: {seconds:.1f} s{wanted}, {worked:.1f} s of one core, "
        f"ARI with the hidden {cg.ari(found.labels, hidden):.3f}, {found.status}{gap}",
        flush=True,
    )


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="without n = 10,000 by HiGHS")
    quick = parser.parse_args().quick
    one_alternative(200, 2, "maximus", None, n_init=1)  # load and compile
    for n in (1000, 2000) if quick else (1000, 2000, 10_000):
        one_program(n, 8)
    one_alternative(2000, 8, "maximus", 60)
    one_alternative(10_000, 8, "maximus", 300)
    one_alternative(2000, 8, "coala", 10)
    for method in ("maximus_published", "cib", "condens", "metaclusters", "mincentropy", "orthogonal", "adft"):
        one_alternative(2000, 8, method, None)
    if not quick:
        one_alternative(50_000, 8, "maximus", None)


if __name__ == "__main__":
    main()
