"""What `cg.check_clusters` does to clusterings with too many clusters, to the true clusters, and to one cloud that was cut.

`python -m reproductions.check_clusters` draws generated sets (separated, embeddings of cell lines, shapes), DEV and TEST
apart, and clouds without clusters; `--draws N` sets per family, `--jobs` processes, `--keep FILE` can be resumed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import congruence as cg
from reproductions.cluster_scenarios import COMPACT, CURVED, SUITE, cell_lines, is_test
from reproductions.cluster_shapes import draw
from reproductions.resuming import by_half, drawn, parser_of, results
from reproductions.rows import Claim, claims_text, grid, heading, paragraph

#: families without separated clusters, in which no answer is right
NOT_SEPARATED = ("overlapping", "random_a", "random_b", "random_c", "random_d", "binary", "embedded")
GROUPS = ("separated", "embeddings", "shapes")
NULLS = ("gaussian", "uniform", "t with 3 degrees", "exponential")
CUTS = ("k-means 2", "k-means 5", "ward 2", "ward 5")
#: embeddings per draw, nulls per kind and cut in all
EMBEDDINGS, NULL_DRAWS = 20, 50
#: clusterings count as the truth from this ARI
BACK = 0.95
#: quantiles of the p-values of one cloud that was cut
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: clusterings compared with the truth: as given, merged by the silhouette, merged by check_clusters
WAYS = ("before", "silhouette", "after")


def items(draws: int) -> list[tuple[str, str, int]]:
    """(group, family, seed) of every set, and (null, cut, seed) of every cloud."""
    found = [("separated", name, i) for name in COMPACT if name not in NOT_SEPARATED for i in range(draws)]
    found += [("embeddings", "cell_lines", i) for i in range(EMBEDDINGS * draws // 2)]
    found += [("shapes", name, i) for name in (*CURVED, *SUITE) for i in range(draws)]
    return found + [(null, cut, i) for null in NULLS for cut in CUTS for i in range(NULL_DRAWS)]


def work(item: tuple[str, str, int]) -> dict[str, Any]:
    """The outcome of one set or cloud."""
    warnings.simplefilter("ignore")
    return of_null(*item) if item[0] in NULLS else of_set(*item)


def of_set(group: str, name: str, seed: int) -> dict[str, Any]:
    """Too many clusters merged, and the true clusters checked."""
    X, truth = cell_lines(np.random.default_rng([7, seed])) if group == "embeddings" else draw(name, seed)
    X, truth = X[truth >= 0], truth[truth >= 0]
    given = too_many(X, truth, np.random.default_rng([3, seed]))
    started = time.perf_counter()
    merged = cg.check_clusters(X, given)
    seconds = time.perf_counter() - started
    true = cg.check_clusters(X, truth)
    return {
        "group": group, "name": name, "half": "TEST" if is_test(name, seed) else "DEV", "before": cg.ari(truth, given),
        "silhouette": cg.ari(truth, by_silhouette(X, given)), "after": cg.ari(truth, merged.merged),
        "is_false_merge": true.n_merged < len(true.names),
        "unsure": true.verdict.count("unsure"), "true": len(true.names), "seconds": seconds,
    }  # fmt: skip


def by_silhouette(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The simplest alternative: nearest centres are merged one after the other, and the largest silhouette is taken."""
    from sklearn.metrics import silhouette_score

    found = np.unique(labels, return_inverse=True)[1]
    best, most = found, silhouette_score(X, found) if found.max() else -1.0
    while found.max() > 1:
        centres = np.stack([X[found == i].mean(axis=0) for i in range(found.max() + 1)])
        away = ((centres[:, None] - centres[None]) ** 2).sum(axis=-1) + np.diag(np.full(len(centres), np.inf))
        i, j = sorted(int(x) for x in np.unravel_index(away.argmin(), away.shape))
        found = np.unique(np.where(found == j, i, found), return_inverse=True)[1]
        score = silhouette_score(X, found)
        if score > most:
            best, most = found, score
    return best


def too_many(X: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """k-means with two to three times as many clusters; within the true clusters, if its clusters mix them."""
    k = len(np.unique(truth))
    labels = kmeans(X, int(rng.integers(2 * k, 3 * k + 1)), rng)
    majority = np.array([np.bincount(truth[labels == i]).argmax() for i in range(labels.max() + 1)])[labels]
    if cg.ari(majority, truth) >= BACK + 0.02:
        return labels
    found, last = np.zeros(len(truth), dtype=int), 0
    for cluster in np.unique(truth):
        here = np.flatnonzero(truth == cluster)
        parts = min(int(rng.integers(2, 4)), max(1, len(here) // 10))
        found[here] = last + kmeans(X[here], parts, rng)
        last += parts
    return found


def kmeans(X: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    from sklearn.cluster import KMeans

    return np.asarray(KMeans(k, n_init=3, random_state=int(rng.integers(2**31))).fit_predict(X))


def of_null(null: str, cut: str, seed: int) -> dict[str, Any]:
    """One cloud that was cut: whether the first cluster is separated from its neighbour, and how many clusters are left."""
    rng = np.random.default_rng([NULLS.index(null), CUTS.index(cut), seed, 1])
    size = int(rng.integers(100, 600)), int(rng.choice([2, 5, 10, 30]))
    X = {
        "gaussian": lambda: rng.normal(size=size) * np.exp(rng.normal(size=size[1]) / 2),
        "uniform": lambda: rng.uniform(size=size),
        "t with 3 degrees": lambda: rng.standard_t(3, size=size),
        "exponential": lambda: rng.exponential(size=size),
    }[null]()
    k = int(cut[-1])
    if cut.startswith("k"):
        labels = kmeans(X, k, rng)
    else:
        from sklearn.cluster import AgglomerativeClustering

        labels = AgglomerativeClustering(k).fit_predict(X)
    found = cg.check_clusters(X, labels)
    p_value = float(found.p_value[0])
    return {"group": null, "name": cut, "is_rejected": "keep" in found.verdict, "left": found.n_merged, "p": p_value}


def table(outcomes: Sequence[dict[str, Any]]) -> str:
    """One line per group of sets and half, with 95 % intervals of the shares of sets."""
    lines = []
    for group in GROUPS:
        for half, part in by_half(o for o in outcomes if o["group"] == group):
            _, false, share = rates(part)
            means = [f"{np.mean([o[way] for o in part]):.3f}" for way in WAYS]
            back = [_with_interval(sum(o[way] >= BACK for o in part), len(part)) for way in WAYS]
            merged = _with_interval(round(false * len(part)), len(part))
            seconds = f"{np.median([o['seconds'] for o in part]):.2f}"
            lines.append([f"{group}, {half}", str(len(part)), *means, *back, merged, f"{share:.0%}", seconds])
    ways = ["not merged", "silhouette", "check_clusters"]
    head = ["", "sets", *ways, *(f"{way} ≥ {BACK}" for way in ways), "true groups merged", "unsure", "seconds"]
    return grid(head, lines)


def _with_interval(many: int, of: int) -> str:
    """A share with its 95 % interval (Wilson)."""
    from scipy.stats import binomtest

    low, high = binomtest(many, of).proportion_ci(method="wilson")
    return f"{many / of:.0%} [{100 * low:.0f}, {100 * high:.0f}]"


def rates(part: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Share of the sets back at the truth, share with a false merge of true clusters, share of true clusters unsure."""
    back = float(np.mean([o["after"] >= BACK for o in part]))
    false = float(np.mean([o["is_false_merge"] for o in part]))
    return back, false, sum(o["unsure"] for o in part) / sum(o["true"] for o in part)


def nulls(outcomes: Sequence[dict[str, Any]]) -> str:
    """Rejections by kind of cloud and by cut."""
    lines = []
    for null in NULLS:
        cells = [[o["is_rejected"] for o in outcomes if o["group"] == null and o["name"] == cut] for cut in CUTS]
        lines.append([null, *(f"{sum(cell)} of {len(cell)}" for cell in cells)])
    return grid(["", *CUTS], lines)


def p_values(outcomes: Sequence[dict[str, Any]]) -> str:
    """The p-values of the first cluster by kind of cloud and by cut: distance from uniform ones, and quantiles."""
    from scipy.stats import kstest

    lines = []
    for null in NULLS:
        for cut in CUTS:
            found = [o["p"] for o in outcomes if o["group"] == null and o["name"] == cut]
            if found:
                test = kstest(found, "uniform")
                quantiles = [f"{x:.2f}" for x in np.quantile(found, QUANTILES)]
                small = f"{np.mean(np.array(found) <= 0.05):.0%}"
                near = f"{test.statistic:.2f}", f"{test.pvalue:.2g}"
                lines.append([f"{null}, {cut}", str(len(found)), *near, small, *quantiles])
    return grid(["", "clouds", "distance", "p of uniform", "≤ .05", *(f"{q:.0%}" for q in QUANTILES)], lines)


def claims(outcomes: Sequence[dict[str, Any]]) -> list[Claim]:
    """What is asked of the check."""
    found = []
    for group, back, false in (("separated", 0.9, 0.05), ("embeddings", 0.85, 0.05), ("shapes", 0.75, 0.2)):
        for half, part in by_half(o for o in outcomes if o["group"] == group):
            got = rates(part)
            text = f"{group}, {half}: back at the truth in at least {back:.0%}, true clusters merged in at most {false:.0%}"
            said = f"{got[0]:.0%} and {got[1]:.0%} of {len(part)}"
            found.append(Claim.of(text, got[0] >= back and got[1] <= false, said))
            if group == "separated":
                text = f"{group}, {half}: at most 10% of the true clusters are unsure"
                found.append(Claim.of(text, got[2] <= 0.1, f"{got[2]:.0%}"))
    for null in NULLS:
        part = [o for o in outcomes if o["group"] == null]
        if part:
            small, many = sum(o["p"] <= 0.05 for o in part), sum(o["is_rejected"] for o in part)
            text = f"{null}: at most 5 % of the p-values are at most .05"
            found.append(Claim.of(text, small <= 0.05 * len(part), f"{small} of {len(part)}"))
            text = f"{null}: a cluster of one cloud that was cut is kept as separated in at most 5 %"
            found.append(Claim.of(text, many <= 0.05 * len(part), f"{many} of {len(part)}"))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("check_clusters", __doc__, "sets and clouds")
    parser.add_argument("--draws", type=int, default=12, help="sets per family")
    parser.add_argument("--nulls", action="store_true", help="only the clouds without clusters")
    args = parser.parse_args(argv)
    every = [item for item in items(args.draws) if item[0] in NULLS or not args.nulls]
    chosen = drawn(every, args.some)
    outcomes = results(work, chosen, args)
    if not outcomes:
        return 1
    if args.nulls:
        print(
            f"{len(outcomes)} of {len(every)} clouds without clusters, cut in 2 or in 5 by k-means or Ward's linkage."
        )
    else:
        print(paragraph(f"""Clusterings with two to three times too many clusters (by k-means; within the true clusters where
            k-means mixes them): mean ARI with the truth as they are, with nearest centres merged to the largest silhouette,
            and after check_clusters; and the share of sets with an ARI of at least {BACK}. The true clusters checked: sets in
            which some are merged, and the share of clusters that are unsure. {len(outcomes)} of {len(every)} sets and clouds.
            Families without separated clusters are left out: {', '.join(NOT_SEPARATED[:-1])}. Intervals: 95 %."""))  # fmt: skip
        print()
        print(table(outcomes))
    print(heading("One cloud that was cut: how often some cluster is kept as separated"))
    print(nulls(outcomes))
    print(
        heading(
            "Its p-values: the largest distance from the uniform distribution (Kolmogorov and Smirnov), and quantiles"
        )
    )
    print(p_values(outcomes))
    print(heading("What is asked"))
    print(claims_text(claims(outcomes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
