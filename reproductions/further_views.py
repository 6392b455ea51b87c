"""How many views are left: `alternatives(n_alternatives="all")` on data with one view, which is given, and with two or three.

`python -m reproductions.further_views`; `--jobs` runs processes, `--keep FILE` resumes, `--peers N` runs AutoNR and NrKmeans of
ClustPy (if it is installed) on the first N sets of several views. They are given no labels; NrKmeans is told the numbers.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import pdist
from sklearn.cluster import KMeans

import congruence as cg
from reproductions.choosing_k import wilson
from reproductions.cluster_scenarios import COMPACT
from reproductions.resuming import parser_of, results
from reproductions.rows import grid, heading, paragraph

#: seeds of the sets that were looked at while the search was built (DEV), and of those drawn when it was done
ONE = {"DEV": range(4), "TEST": range(100, 104)}
SEVERAL = {"DEV": range(100, 112), "TEST": range(200, 230)}
#: a view is found if an alternative has at least this ARI with it
FOUND = 0.8


def one_view(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A set of a family of compact clusters, without outliers, and its clusters."""
    X, y = COMPACT[name](np.random.default_rng([seed, 5]))
    return X[y >= 0], np.unique(y[y >= 0], return_inverse=True)[1]


def several_views(seed: int) -> tuple[np.ndarray, list[np.ndarray]]:
    """Two to four independent groupings of 2 to 4 clusters, 4.5 to 7 standard deviations apart; half of the sets are rotated."""
    rng = np.random.default_rng(seed)
    many = int(rng.integers(2, 4)) + 1
    ks, dims = rng.integers(2, 5, many), rng.integers(2, 4, many)
    n, apart = int(rng.integers(300, 800)), rng.uniform(4.5, 7)
    noise, is_rotated = int(rng.integers(0, 4)), bool(rng.integers(2))
    truth = [rng.integers(0, k, n) for k in ks]
    columns = []
    for y, k, d in zip(truth, ks, dims, strict=True):
        trials = [rng.normal(size=(k, d)) for _ in range(50)]
        best = max(trials, key=lambda c: pdist(c).min() / pdist(c).mean())
        columns.append(best[y] * apart / pdist(best).min() + rng.normal(size=(n, d)))
    X = np.hstack([*columns, rng.normal(size=(n, noise))])
    return (X @ np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0] if is_rotated else X), truth


def looked_for(item: tuple[str, int, str]) -> dict[str, Any]:
    """What one way finds on one set: the ARI of each alternative with each hidden view, and seconds."""
    name, seed, way = item
    several = name == "several"
    X, truth = several_views(seed) if several else (lambda x, y: (x, [y]))(*one_view(name, seed))
    hidden = truth[1:] if several else []
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way in ("AutoNR", "NrKmeans"):
            from clustpy.alternative import AutoNR, NrKmeans

            ks = [int(y.max()) + 1 for y in truth]
            model = AutoNR(random_state=0) if way == "AutoNR" else NrKmeans([*ks, 1], n_init=10, random_state=0)
            columns = [y for y in model.fit(Z).labels_.T if len(np.unique(y)) > 1]
            own = [cg.ari(y, truth[0]) for y in columns]
            found = [y for i, y in enumerate(columns) if not own or i != int(np.argmax(own))]
        else:
            k = int(truth[0].max()) + 1
            given = truth[0] if way == "classes" else KMeans(k, n_init=10, random_state=0).fit_predict(Z)
            got = cg.alternatives(X, given, n_alternatives="all", method="refined", random_state=0, progress=False)
            found = [x.labels for x in got]
    seconds = time.perf_counter() - began
    scores = [[float(cg.ari(y, t)) for t in hidden] for y in found]
    return {
        "name": name,
        "seed": seed,
        "way": way,
        "n": len(found),
        "hidden": len(hidden),
        "ari": scores,
        "seconds": seconds,
    }


def recovered(row: dict[str, Any]) -> int:
    """How many hidden views have an alternative of their own."""
    if not row["n"] or not row["hidden"]:
        return 0
    good = (np.array(row["ari"]) >= FOUND).astype(int)
    return int(good[linear_sum_assignment(-good)].sum())


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("further_views", __doc__)
    parser.add_argument("--peers", type=int, default=0, metavar="N", help="sets of several views for ClustPy")
    parser.add_argument("--sets", type=int, metavar="N", help="only the first N sets of each kind")
    args = parser.parse_args(argv)
    items = []
    for half in ("DEV", "TEST"):
        ones = [(name, seed) for seed in ONE[half] for name in COMPACT][: args.sets]
        items += [(name, seed, way) for name, seed in ones for way in ("classes", "k-means")]
        severals = list(SEVERAL[half])[: args.sets]
        items += [("several", seed, "classes") for seed in severals]
        items += [("several", seed, way) for seed in severals[: args.peers] for way in ("AutoNR", "NrKmeans")]
    rows = results(looked_for, items, args, lambda item: " ".join(map(str, item)))
    about = f"""Views that n_alternatives="all" (method "refined") finds. One view: {len(COMPACT)} families of compact clusters,
        whose classes, or a k-means clustering with their number, are given; whatever is found is false. Several views: the
        first of two to four independent groupings is given; a view is found if an alternative has an ARI of at least
        {FOUND} with it. The peers are given no labels, and the view most like the given one is set aside; NrKmeans is told
        the number of views and of clusters in each. A grouping of four clusters in a square is also two of two clusters."""
    print(paragraph(about))
    for half in ("DEV", "TEST"):
        print(heading(half))
        lines = []
        for way in ("classes", "k-means"):
            part = [r for r in rows if r["name"] != "several" and r["way"] == way and r["seed"] in ONE[half]]
            false = sum(r["n"] > 0 for r in part)
            lines.append([f"one view, given: {way}", str(len(part)), wilson(false, len(part)), "", "", _seconds(part)])
        for way in ("classes", "AutoNR", "NrKmeans"):
            part = [r for r in rows if r["name"] == "several" and r["way"] == way and r["seed"] in SEVERAL[half]]
            if part:
                right = sum(r["n"] == r["hidden"] for r in part)
                got, there = sum(map(recovered, part)), sum(r["hidden"] for r in part)
                title = "several views: ours" if way == "classes" else f"several views: {way}"
                cells = [wilson(right, len(part)), wilson(got, there), _seconds(part)]
                lines.append([title, str(len(part)), "", *cells])
        print(grid(["", "sets", "false views", "right number of views", "views found", "seconds"], lines))
        false_in = sorted({r["name"] for r in rows if r["name"] != "several" and r["n"] and r["seed"] in ONE[half]})
        print(f"\nfalse views in sets of: {', '.join(false_in) or 'none'}")
    return 0


def _seconds(part: Sequence[dict[str, Any]]) -> str:
    return f"{np.mean([r['seconds'] for r in part]):.1f}"


if __name__ == "__main__":
    sys.exit(main())
