"""Accuracy of p-values from exact moments, compared with many draws: `python -m reproductions.permutation_moments`.

Random cluster sizes of three kinds (balanced, skewed, many singletons) on both sides, 50 to 100,000 points. S, the number of
pairs together in both, is drawn under permutation. The p-value by moments at a quantile of the draws is divided by the share of
the draws that reach it (above 0.5: that do not exceed it). `auto` uses the moments where `is_reliable` is true; there the ratio
should stay within 15 % of 1, apart from the error of the draws, which is printed too.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np

from congruence.chance.draws import RandomPair
from congruence.chance.moments import Moments, is_reliable, p_values
from congruence.engine.plan import engine_for
from congruence.formulas import find

KINDS = ("balanced", "skewed", "singletons")
TAILS = (0.9999, 0.999, 0.99, 0.95, 0.9, 0.5, 0.1, 1e-2, 1e-3, 1e-4, 1e-5)


def sizes(rng: np.random.Generator, kind: str, n: int, k: int) -> np.ndarray:
    """Cluster sizes of n points."""
    if kind == "singletons":  # half of the points are alone
        return np.concatenate([np.ones(n // 2, dtype=np.int64), sizes(rng, "skewed", n - n // 2, k)])
    share = np.ones(k) if kind == "balanced" else rng.dirichlet(np.ones(k))
    found = np.maximum(1, np.floor(n * share / share.sum())).astype(np.int64)
    found[np.argmax(found)] += n - found.sum()
    return found


def cases(rng: np.random.Generator, many: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Pairs of margins, of every combination of kinds."""
    pairs = [(a, b) for i, a in enumerate(KINDS) for b in KINDS[i:]]
    for i in range(many):
        a, b = pairs[i % len(pairs)]
        n = int(10 ** rng.uniform(1.7, 5 if "singletons" not in (a, b) else 2.5))
        k_a, k_b = (max(2, min(int(2 ** rng.uniform(1, 4.5)), n // 5)) for _ in range(2))
        yield f"{a}, {b}", sizes(rng, a, n, k_a), sizes(rng, b, n, k_b)


def drawn(a: np.ndarray, b: np.ndarray, draws: int, seed: int, engine: str) -> np.ndarray:
    """Sorted draws of S under permutation."""
    n = int(a.sum())
    random = RandomPair(a, b, engine=engine_for(engine, []))
    m = find("rand")
    batch = random.draws_at_once(m) or random.batch
    streams = np.random.SeedSequence(seed).spawn(math.ceil(draws / batch))
    values = np.concatenate([random.values(m, np.random.default_rng(s), batch) for s in streams])[:draws]
    pairs, same = n * (n - 1) / 2, sum(float((x * (x - 1.0)).sum()) / 2 for x in (a, b))
    return np.sort(np.rint((values * pairs - pairs + same) / 2))


@dataclass(frozen=True)
class Row:
    """One pair of margins: its line, and for each tail where auto uses the moments the error beyond that of the draws."""

    line: str
    errors: dict[float, float]


def row(kind: str, a: np.ndarray, b: np.ndarray, draws: int, seed: int, engine: str) -> Row:
    """P-values by moments at the quantiles of draws, as multiples of the share of the draws."""
    found = drawn(a, b, draws, seed, engine)
    moments = Moments.of([a], [b])
    line = f"{kind:<22} {a.sum():>7,} {f'{len(a)}×{len(b)}':>9} {moments.skewness[0, 0]:>9.3f} {moments.excess[0, 0]:>8.3f}"
    line += f" {moments.fineness[0, 0]:>8.1f}"
    errors = {}
    for tail in TAILS:
        at = found[min(int(len(found) * (1 - tail)), len(found) - 1)]
        hits = len(found) - int(np.searchsorted(found, at))
        share = hits / len(found)
        if share > 3 * tail or hits < 20:  # a coarse distribution, or too few draws
            line += f"{'—':>15}"
            continue
        more, fewer = p_values(moments, at)
        p = float(more[0, 0])
        if tail > 0.5:  # the lower tail
            hits = int(np.searchsorted(found, at, "right"))
            share, p = hits / len(found), float(fewer[0, 0])
        ratio, trusted = p / share, bool(is_reliable(moments, more, fewer)[0, 0])
        line += f"  {ratio:>5.2f} ± {1 / math.sqrt(hits):.2f}{' ' if trusted else '*'}"
        if trusted:
            errors[tail] = max(0.0, abs(math.log(ratio)) - 2 / math.sqrt(hits))
    return Row(line, errors)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=36, help="number of pairs of margins")
    parser.add_argument("--draws", type=int, default=1_000_000, help="draws per pair")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", default="cpu", help="cpu, or cuda to draw on a GPU")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes; the table is the same")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    head = "  ".join(f"{t:>13g}" for t in TAILS)
    print(
        f"{options.draws:,} draws per pair; p-value by moments / share of draws, ± error of the draws; *: auto draws here"
    )
    print(f"{'margins':<22} {'n':>7} {'k':>9} {'skewness':>9} {'excess':>8} {'fineness':>8}  {head}")
    work = [(*case, options.draws, int(rng.integers(2**31)), options.engine) for case in cases(rng, options.cases)]
    rows = []
    with ExitStack() as stack:
        mapped: Any = map
        if options.jobs > 1:
            mapped = stack.enter_context(ProcessPoolExecutor(options.jobs, get_context("spawn"))).map
        for one in mapped(row, *zip(*work, strict=True)):
            print(one.line, flush=True)
            rows.append(one)
    print(
        "\nused by auto: number of pairs, the largest error beyond twice the error of the draws, and how many exceed 15 %"
    )
    for tail in TAILS:
        errors = [one.errors[tail] for one in rows if tail in one.errors]
        worst = f"{math.expm1(max(errors)):.1%}" if errors else "—"
        beyond = sum(math.expm1(x) > 0.15 for x in errors)
        print(f"  p near {tail:<8g} {len(errors):>4} of {options.cases}   {worst:>6} {beyond:>4}")


if __name__ == "__main__":
    main()
