"""Permutation tests compared with a loop over scikit-learn: `python -m benchmarks.chance`.

The peer permutes the labels with numpy and calls scikit-learn for each permutation. It is timed on a few permutations, and the
time for all of them is extrapolated.
"""

from __future__ import annotations

import argparse
import os
import resource

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import congruence as cg
from benchmarks.timing import once
from benchmarks.timing import wall as seconds

PEERS = {"ari": adjusted_rand_score, "nmi_sum": normalized_mutual_info_score}


def labels(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    a = rng.integers(0, k, n)
    return a, np.where(rng.random(n) < 0.01, a, rng.integers(0, k, n))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes")
    parser.add_argument("--moments", action="store_true", help="only all pairs of many clusterings, by moments")
    options = parser.parse_args()
    draws, few = 1000, 5
    sizes = [(10_000, 10)] if options.quick else [(100_000, 10), (100_000, 100), (100_000, 2_000), (10_000_000, 10)]
    cg.permutation_test(*labels(300_000, 1000), "ari", 70, 0)  # load the compiled kernels
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if options.moments:
        by_moments(100 if options.quick else 1000)
        return
    print(
        f"{draws} permutations, two threads; numpy.random.permutation and scikit-learn on {few} of them, in proportion"
    )
    print(f"{'measure':<9} {'n':>12} {'clusters':>9} {'congruence':>11} {'peer':>11} {'ratio':>9}")
    for n, k in sizes:
        a, b = labels(n, k)
        for key, peer in PEERS.items():
            rng = np.random.default_rng(0)
            theirs = seconds(lambda peer=peer, rng=rng, a=a, b=b: [peer(a, rng.permutation(b)) for _ in range(few)])
            theirs *= draws / few
            mine = seconds(lambda key=key, a=a, b=b: cg.permutation_test(a, b, key, draws, 0, threads=2))
            print(f"{key:<9} {n:>12,} {k:>9,} {mine:9.2f} s {theirs:9.1f} s {theirs / mine:8.0f}×")
    a, b = labels(*sizes[0])
    print(f"\nother work at n = {len(a):,}, {sizes[0][1]} clusters")
    print(
        f"  confidence_interval of ari, 1000 halves and quarters   {seconds(lambda: cg.confidence_interval(a, b, 'ari')):6.2f} s"
    )
    m = cg.adjusted("jaccard")
    print(f"  adjusted('jaccard'), 1000 draws                        {seconds(lambda: m(a, b)):6.2f} s")
    runs = [np.random.default_rng(i).integers(0, 10, len(a)) for i in range(10)]
    took = seconds(lambda: cg.permutation_tests(runs, "ari", 1000, 0))
    print(f"  permutation_tests of all 45 pairs of 10 clusterings    {took:6.2f} s")
    by_moments(100 if options.quick else 1000)


def by_moments(many: int) -> None:
    """All pairs of many clusterings, tested without draws where that is reliable."""
    runs = [np.random.default_rng(i).integers(0, 10, 10_000) for i in range(many)]
    took, cpu, found = once(lambda: cg.permutation_tests(runs))
    tests = found.tests
    drawn = sum(t.is_drawn for t in tests)
    print(f"  permutation_tests of all {len(tests):,} pairs of {many:,} clusterings of 10,000 points")
    print(f"    {took:.1f} s ({cpu:.1f} s of CPU); by moments, and by draws for {drawn:,} pairs")
    print(f"peak memory of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")


if __name__ == "__main__":
    main()
