"""How often 95 % intervals contain the value of the population: `python -m reproductions.interval_coverage [repeats]`.

Points are drawn from a population of four clusters of very different sizes; b copies a, except for some points, which it
puts into a random cluster. The value of the population is that of the joint probabilities. Refused intervals are counted
separately: with few differences, samples with enough of them for an interval are unlike the population, so the share
of all samples whose interval misses is printed as well.
"""

import sys

import numpy as np

import congruence as cg

SIZES = np.array([0.6, 0.25, 0.1, 0.05])
MEASURES = ("ari", "vi", "accuracy", "ami_max", "nmi_sum", "jaccard")
#: share of points that b puts elsewhere
MOVED = (0.05, 0.1, 0.3)


def joint(moved):
    """Probabilities of the cells: a copied, or redrawn from the sizes."""
    return (1 - moved) * np.diag(SIZES) + moved * np.outer(SIZES, SIZES)


def of_population(measure, moved):
    """The value of a measure for a population of 10⁹ points."""
    cells = np.rint(joint(moved) * 1e9).astype(int)
    row, col = np.nonzero(cells)
    return cg.compare(row, col, measure, frequency=cells[row, col])[measure]


def coverage(measure, n, moved, repeats, seed=0):
    """(share of the intervals that hold the value of the population, share of samples whose interval misses it, share of
    samples without an interval)."""
    rng = np.random.default_rng(seed)
    right = of_population(measure, moved)
    held, refused = [], 0
    for _ in range(repeats):
        cell = rng.choice(16, n, p=joint(moved).ravel())
        try:
            low, high = cg.confidence_interval(
                cell // 4, cell % 4, measure, n_resamples=200, random_state=rng, threads=1
            )
        except cg.NotApplicable:
            refused += 1
            continue
        held.append(low - 1e-9 <= right <= high + 1e-9)
    missed = len(held) - sum(held)
    return float(np.mean(held)) if held else float("nan"), missed / repeats, refused / repeats


def main():
    """Print the coverage of each measure, number of points and share of moved points."""
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{repeats} samples each, nominal 95 %; missed: share of all samples whose interval misses the value")
    print(f"{'measure':<10} {'n':>5} {'moved':>6} {'coverage':>9} {'missed':>7} {'refused':>8}")
    worst = 0.0
    for measure in MEASURES:
        for n in (60, 200, 1000):
            for moved in MOVED:
                share, missed, refused = coverage(measure, n, moved, repeats)
                worst = max(worst, missed)
                print(f"{measure:<10} {n:>5} {moved:>6} {share:>9.3f} {missed:>7.3f} {refused:>8.2f}", flush=True)
    print(f"the largest share of samples whose interval misses: {worst:.3f}")


if __name__ == "__main__":
    main()
