"""Sections 5.3 and 5.4 of Uglickich, Nagy & Vlčková: do sizes of single clusters and shapes of clusters matter to kappa_max, NMI
and Λ? Run `python -m reproductions.kappa_shapes`. The paper gives no data for these parts; ours are described in the output.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

import numpy as np

from reproductions.lambda_tables import values
from reproductions.rows import Claim, claims_text, grid, heading, paragraph

#: share of the largest of five clusters
LARGEST = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SHAPES = ("round", "elongated", "boxes")
NUMBERS = range(3, 8)
NAMES = ("kappa", "NMI", "Lambda")


def table_of(a: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """The contingency table of labels 0 to k − 1."""
    return np.bincount(a * k + b, minlength=k * k).reshape(k, k)


def unequal(largest: float, repeats: int, n: int = 1_000, seed: int = 0) -> np.ndarray:
    """Means of kappa, NMI and Λ where a fifth of the points get a new label by the sizes, and one cluster is this large."""
    rng = np.random.default_rng([seed, int(100 * largest)])
    shares = np.array([largest, *[(1 - largest) / 4] * 4])
    found = []
    for _ in range(repeats):
        a = rng.choice(5, n, p=shares)
        b = np.where(rng.random(n) < 0.2, rng.choice(5, n, p=shares), a)
        found.append(values(table_of(a, b, 5)).three)
    return np.mean(found, axis=0)


def shaped(shape: str, k: int, rng: np.random.Generator, each: int = 80) -> np.ndarray:
    """k clusters of equal sizes around the same centres, of the same variance along each axis on average, in another shape."""
    angles = 2 * np.pi * np.arange(k) / k
    centres = 2.2 / np.sin(np.pi / k) * np.column_stack([np.cos(angles), np.sin(angles)])
    points = rng.uniform(-np.sqrt(3), np.sqrt(3), (k, each, 2)) if shape == "boxes" else rng.normal(size=(k, each, 2))
    if shape == "elongated":
        points *= np.array([1.38, 0.31])  # variances 1.9 and 0.1
        turned = rng.uniform(0, np.pi, k)
        spin = np.stack([np.cos(turned), -np.sin(turned), np.sin(turned), np.cos(turned)], axis=1).reshape(k, 2, 2)
        points = points @ spin
    return (points + centres[:, None]).reshape(-1, 2)


def by_shape(repeats: int, seed: int = 0) -> dict[tuple[str, int], np.ndarray]:
    """For each shape and number of clusters, repeats × (kappa, NMI, Λ) of k-means with a mixture of normal components."""
    from sklearn.cluster import KMeans
    from sklearn.mixture import GaussianMixture

    found = {}
    for shape in SHAPES:
        for k in NUMBERS:
            rng = np.random.default_rng([seed, k])  # the same points before they are shaped
            rows = []
            for _ in range(repeats):
                X = shaped(shape, k, rng)
                start = int(rng.integers(2**31))
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    a = KMeans(k, n_init=3, random_state=start).fit_predict(X)
                    b = GaussianMixture(k, reg_covar=1e-3, random_state=start).fit_predict(X)
                rows.append(values(table_of(a, b, k)).three)
            found[shape, k] = np.array(rows)
    return found


def size_claims(means: dict[float, np.ndarray]) -> list[Claim]:
    """Whether the sizes of single clusters matter."""
    moves = {name: float(np.ptp([m[i] for m in means.values()])) for i, name in enumerate(NAMES)}
    return [
        Claim.of(
            "an arbitrary size of individual clusters has no effect (section 5.3)", max(moves.values()) < 0.1,
            "range of the means while the largest of five clusters grows from 20 % to 90 % of the points: "
            + ", ".join(f"{name} {x:.3f}" for name, x in moves.items()),
        )
    ]  # fmt: skip


def shape_claims(found: dict[tuple[str, int], np.ndarray]) -> list[Claim]:
    """Whether shape matters, and whether the three statistics agree."""
    from scipy.stats import kruskal

    by_name = {
        name: [np.concatenate([found[s, k][:, i] for k in NUMBERS]) for s in SHAPES] for i, name in enumerate(NAMES)
    }
    between = {name: float(kruskal(*sets).pvalue) for name, sets in by_name.items()}
    agree = {s: float(kruskal(*(by_name[name][j] for name in NAMES)).pvalue) for j, s in enumerate(SHAPES)}
    return [
        Claim.of(
            "the shape of clusters has no effect on the statistics", min(between.values()) > 0.05,
            "Kruskal-Wallis over the shapes: " + ", ".join(f"{name} p = {p:.2g}" for name, p in between.items())
            + ". A statistic sees the table only, so it depends on shape exactly as far as the algorithms do",
        ),
        Claim.of(
            "the three statistics agree whatever the shape (printed p = 0.9099)", min(agree.values()) > 0.05,
            "Kruskal-Wallis over the statistics: " + ", ".join(f"{s} p = {p:.2g}" for s, p in agree.items()),
        ),
    ]  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Print the reproduction."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.kappa_shapes", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    args = parser.parse_args(argv)
    repeats = 10 if args.quick else 100
    print(heading("Section 5.3: sizes of single clusters"))
    print(
        paragraph(f"""Means of {repeats} tables of 1,000 points in five clusters. A fifth of the points get a new label, drawn by
        the sizes of the clusters; one cluster has the given share, the others share the rest.""")
    )
    means = {share: unequal(share, repeats) for share in LARGEST}
    print(grid(["largest cluster", *NAMES], [[f"{share:.0%}", *(f"{x:.3f}" for x in m)] for share, m in means.items()]))
    print(claims_text(size_claims(means)))
    print(heading("Section 5.4: shapes of clusters"))
    few = max(repeats // 5, 2)
    print(
        paragraph(f"""{few} data sets of 80 points per cluster for each shape and number of clusters, around the same centres:
        round normal clusters, elongated ones (variances 1.9 and 0.1 in random directions), uniform boxes. Compared are k-means
        and a mixture of normal components with full covariances, as the paper compares algorithms.""")
    )
    found = by_shape(few)
    lines = [[s, str(k), *(f"{x:.3f}" for x in found[s, k].mean(axis=0))] for s in SHAPES for k in NUMBERS]
    print(grid(["shape", "clusters", *NAMES], lines))
    print(claims_text(shape_claims(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
