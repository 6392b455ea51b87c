"""The Λ statistic of Uglickich, Nagy & Vlčková, "Comparing clusterings using combination of the kappa statistic and
entropy-based measure": every printed number, the simulations, and the defects of Λ.
Run `python -m reproductions.lambda_statistic`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence

import numpy as np

import congruence as cg
from reproductions.lambda_simulations import (
    fixed_claims,
    fixed_number,
    growing_claims,
    growing_number,
    growing_size,
    limited_search_claim,
    show_fixed,
    show_growing,
    show_sizes,
    size_claims,
)
from reproductions.lambda_tables import NAMES, eeg, haematology, text_claims, values, worked_example
from reproductions.rows import (
    Claim,
    Row,
    claims_text,
    heading,
    paragraph,
    rows_text,
)

#: A agrees better than B by p_max, by kappa and by NMI
BETTER = np.array([[11, 1, 2], [7, 10, 2], [1, 0, 6]])
WORSE = np.array([[7, 9, 0], [0, 12, 1], [8, 2, 1]])


def merge_and_split(blocks: int, parts_of_each: int) -> np.ndarray:
    """Half of the objects in `blocks` clusters of a that b splits, half in `blocks` clusters of b that a splits."""
    k = blocks * (1 + parts_of_each)
    table = np.zeros((k, k), dtype=int)
    for block in range(blocks):
        start = blocks + block * parts_of_each
        inside = slice(start, start + parts_of_each)
        table[block, inside] = 1
        table[inside, block] = 1
    return table


def steepest_slope() -> float:
    """The largest d ln Λ / d p_max at fixed NMI, over 2 to 15 clusters and a grid of p_max and NMI."""
    k = np.arange(2, 16)[:, None, None]
    p = np.linspace(0.001, 1, 200)[None, :, None]
    nmi = np.linspace(0.001, 1, 200)[None, None, :]
    with np.errstate(over="ignore"):
        return float((0.8 / k - 1 / (nmi * (1 + np.exp(-p / nmi)))).max())


def unsound() -> list[Row]:
    """Numbers that show why Λ should not be used; none of them is printed."""
    better, worse = values(BETTER), values(WORSE)
    rows = [
        Row("largest d ln Lambda / d p_max, fixed NMI", None, steepest_slope(), "falls",
            "(0.8/n) − (1/NMI)·logistic(p_max/NMI) ≤ 0.8/n − 1/2 < 0: Lambda falls as the matching improves"),
        Row("A = (11,1,2;7,10,2;1,0,6)", None, better.value, "lower",
            f"p_max {better.p_max:.3f}, kappa {better.kappa_max:.3f}, NMI {better.nmi:.3f}: better than B by all three"),
        Row("B = (7,9,0;0,12,1;8,2,1)", None, worse.value, "higher",
            f"p_max {worse.p_max:.3f}, kappa {worse.kappa_max:.3f}, NMI {worse.nmi:.3f}"),
    ]  # fmt: skip
    for k in range(2, 16):
        note = "identical clusterings never reach 1, and the less the more clusters; limit 0.7311" if k == 2 else ""
        rows.append(
            Row(f"identical clusterings, {k} clusters", None, values(np.diag([10] * k), 0.0).value, "below 1", note)
        )
    split = values(np.array([[3, 3, 0], [0, 0, 3], [0, 0, 3]]), 0.0)
    twelve, many = (values(merge_and_split(*shape), 0.0) for shape in ((3, 3), (40, 9)))
    rows += [
        Row("T = (3,3,0;0,0,3;0,0,3)", None, split.value, "above identical",
            f"p_max {split.p_max:.2f}, NMI {split.nmi:.3f}: above the 0.8347 of identical clusterings with 3 clusters"),
        Row("3 clusters split in 3, 9 merged to 3", None, twelve.value, "above 1",
            f"12 clusters each, p_max {twelve.p_max:.3f}, NMI {twelve.nmi:.3f}"),
        Row("40 split in 9, 360 merged to 40", None, many.value, "above 1",
            f"400 clusters each, p_max {many.p_max:.3f}, NMI {many.nmi:.3f}; the supremum is e/2 = {math.e / 2:.4f}"),
        Row("independent clusterings, NMI = 0", None, values(np.full((3, 3), 4), 0.0).value, "limit",
            "(8) divides by NMI; the limit is 0"),
    ]  # fmt: skip
    return rows


def refusal() -> str:
    """What the library answers to unequal numbers of clusters, for which the paper has no Λ."""
    try:
        cg.lambda_statistic([0, 0, 1, 1], [0, 1, 2, 2])
    except ValueError as problem:
        return str(problem)
    return "accepted"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the reproduction."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.lambda_statistic", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    repeats, simulations, size_repeats = (6, 30, 10) if args.quick else (30, 300, 100)

    print(paragraph("""Uglickich, Nagy & Vlčková, Comparing clusterings using combination of the kappa statistic and
        entropy-based measure. Printed values are next to ours. 'agrees': the printed digits equal ours, rounded or truncated;
        'not reproducible': the described procedure does not give it, or the paper does not say enough; the note says what was
        tried. Lambda, and the NMI in it,
        are computed as the paper does, with 0.00001 in empty cells; kappa is the paper's, at the largest trace."""))  # fmt: skip
    print(heading("Worked example, section 4"))
    print(rows_text(worked_example()))
    print(heading("Haematological data, section 5.4"))
    print(rows_text(haematology()))
    print(heading("EEG, Table 1 (" + ", ".join(f"{k}: {v}" for k, v in NAMES.items()) + ")"))
    print(rows_text(eeg()))
    print(heading("Claims of the text"))
    print(claims_text(text_claims()))

    print(heading("Section 5.1: tables with 3 clusters, do the three statistics differ?"))
    print(paragraph(f"""{repeats} repeats of 30 tables, a third each with (i) a dominant diagonal, (ii) one dominant cell per
        row, (iii) uniform cells. The paper gives no numbers; ours: dominant cells 100..200, the others 0..s,
        uniform cells 0..100; the dominant cells of (ii) in random columns (two rows may share one) or in those of a
        permutation. The p-values are of Kruskal-Wallis over kappa, NMI and Lambda; Friedman is its paired form."""))  # fmt: skip
    print()
    fixed = [fixed_number(small, free, repeats, seed=args.seed) for free in (True, False) for small in (2, 10, 40)]
    print(show_fixed(fixed))
    print(claims_text(fixed_claims(fixed)))

    print(heading("Section 5.2: 3 to 15 clusters"))
    print(paragraph(f"""Means of {simulations} tables. The paper gives no numbers; ours: diagonal 50..100 and, off it, either
        the same share at any k ('same share': 5 to 30 per cluster in total, spread at random) or cells of 0..8; 'ideal' is a
        diagonal table."""))  # fmt: skip
    print()
    runs = {spread: growing_number(spread, simulations, seed=args.seed) for spread in ("share", "cells", "ideal")}
    print(show_growing(runs))
    print(claims_text([*growing_claims(runs), limited_search_claim(runs)]))

    print(heading("Section 5.3: 100 to 3000 objects, 5 clusters"))
    print(paragraph(f"""Means of {size_repeats} tables at each of 30 sizes; cell shares are uniform random numbers over their
        sum, either times n or as a sample of n objects (the paper does not say which). 'trend': rank correlation of the mean
        with n."""))  # fmt: skip
    print()
    scaled, sampled = (growing_size(how, size_repeats, args.seed) for how in ("scaled", "sampled"))
    print(show_sizes((scaled, sampled)))
    print(claims_text(size_claims(scaled, sampled)))

    print(heading("Defects of Lambda"))
    print(rows_text(unsound(), digits=4))
    print(
        paragraph(
            f"""Unequal numbers of clusters: the paper leaves them out, and the library refuses: "{refusal()}"."""
        )
    )
    print(claims_text([
        Claim.of("Lambda maps into the interval from zero to one", False, "values above 1 and a supremum of e/2, see above"),
        Claim.of("Lambda suits higher numbers of clusters, up to 11", False,
                 "the value of perfect agreement itself changes with the number of clusters (0.911 at 2, 0.753 at 11), so "
                 "values at different numbers cannot be compared; kappa_max and NMI stay 1"),
    ]))  # fmt: skip
    print(paragraph("Use kappa_max (exact, for any number of clusters), or an adjusted mutual information, instead."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
