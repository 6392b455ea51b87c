"""What `cg.sweep` is worth: ARI with the classes of the setting it picks, beside default parameters, the largest silhouette and
the largest stability, for k-means, HDBSCAN and DBSCAN, DEV and TEST apart; and how often it picks one in data without clusters.

Run `python -m reproductions.sweep`; `--draws N` sets per family, `--jobs` processes, `--keep FILE` can be resumed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

import congruence as cg
from reproductions import datasets
from reproductions.cluster_scenarios import CURVED, SUITE, is_test
from reproductions.cluster_shapes import draw
from reproductions.consensus_quality import interval
from reproductions.resuming import by_half, outcomes_of, parser_of
from reproductions.rows import Claim, claims_text, grid, heading, paragraph, signed

#: families of generated sets: compact ones, curved ones, and shapes as in the published suites
FAMILIES = ("blobs", "unequal_sizes", "unequal_spread", "outliers", *CURVED, *SUITE)
CLUSTERERS = ("k-means", "HDBSCAN", "DBSCAN")
RULES = ("default parameters", "largest silhouette", "largest stability", "sweep", "best setting (unknowable)")
NULLS = ("gaussian", "uniform", "t with 3 degrees", "exponential")
#: real data with classes and numeric columns
REAL = (
    "iris", "wine", "breast_w_diagnostic", "breast_w_original", "new_thyroid", "synthetic_control", "digits", "glass",
    "ionosphere", "sonar", "vehicle", "waveform21", "heart_statlog", "australian", "bupa", "pima", "haberman",
)  # fmt: skip
KINDS = (("generated sets", False), ("real data", True))
#: most points of a set, draws of data without clusters per kind and clusterer, and parts per setting
MOST, NULL_DRAWS, REPEATS = 1_000, 12, 6


def items(draws: int) -> list[tuple[str, str, int]]:
    """(clusterer, family, set or kind of null, seed) of every sweep."""
    sets = [(c, name, i) for name in FAMILIES for i in range(draws) for c in CLUSTERERS]
    real = [name for name in REAL if datasets.local(name) or name in datasets.BUNDLED]
    sets += [(c, name, 0) for name in real for c in CLUSTERERS]
    return sets + [(c, name, i) for name in NULLS for i in range(NULL_DRAWS) for c in CLUSTERERS]


def clusterer_of(name: str, X: np.ndarray) -> tuple[Any, dict[str, list[Any]], dict[str, Any]]:
    """A clusterer, its grid and its default parameters."""
    from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
    from sklearn.neighbors import NearestNeighbors

    if name == "k-means":
        return KMeans(n_init=3), {"n_clusters": list(range(2, 13))}, {"n_clusters": 8}
    if name == "HDBSCAN":
        return HDBSCAN(), {"min_cluster_size": [5, 8, 12, 18, 27, 40, 60]}, {"min_cluster_size": 5}
    fifth = float(np.median(NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X)[0][:, 5]))
    return DBSCAN(), {"eps": [round(fifth * f, 6) for f in (0.6, 0.8, 1.0, 1.3, 1.7, 2.2, 3.0, 4.0)]}, {"eps": 0.5}


def work(item: tuple[str, str, int]) -> dict[str, Any]:
    """The outcome of one sweep."""
    warnings.simplefilter("ignore")
    how, name, seed = item
    rng = np.random.default_rng([seed, len(name)])
    if name in NULLS:
        size = int(rng.integers(150, 500)), int(rng.choice([2, 3, 5, 10]))
        X = {
            "gaussian": lambda: rng.normal(size=size),
            "uniform": lambda: rng.uniform(size=size),
            "t with 3 degrees": lambda: rng.standard_t(3, size=size),
            "exponential": lambda: rng.exponential(size=size),
        }[name]()
        clusterer, settings, _ = clusterer_of(how, X)
        picked = cg.sweep(X, clusterer, settings, n_repeats=2).best
        return {"clusterer": how, "null": name, "is_picked": picked is not None}
    X, truth = datasets.load(name, standardise=True) if name in REAL else draw(name, seed)
    X, truth = X[truth >= 0], truth[truth >= 0]
    some = rng.permutation(len(X))[:MOST]
    X, truth = X[some] / X.std(), truth[some]
    clusterer, settings, default = clusterer_of(how, X)
    started = time.perf_counter()
    w = cg.sweep(X, clusterer, settings, n_repeats=REPEATS)
    seconds = time.perf_counter() - started
    ari = [cg.ari(truth, alone(labels)) for labels in w.found]
    plain = cg.ari(truth, alone(np.asarray(clusterer.set_params(**default).fit_predict(X))))
    picks = {
        "default parameters": plain,
        "largest silhouette": ari[int(np.argmax([silhouette(X, labels) for labels in w.found]))],
        "largest stability": ari[int(np.argmax([row["stability"] for row in w.rows]))],
        "sweep": plain if w.best is None else ari[w.order[0]],
        "best setting (unknowable)": max(ari),
    }
    half = "TEST" if is_test(name, seed) else "DEV"
    facts = {"clusterer": how, "name": name, "half": half, "ari": picks}
    return facts | {"is_picked": w.best is not None, "seconds": seconds}


def alone(labels: np.ndarray) -> np.ndarray:
    """Noise points as clusters of one."""
    lost = labels < 0
    return np.where(lost, labels.max() + np.cumsum(lost), labels)


def silhouette(X: np.ndarray, labels: np.ndarray) -> float:
    """The mean silhouette of the points in clusters; −1 without two clusters."""
    from sklearn.metrics import silhouette_score

    here = labels >= 0
    many = len(np.unique(labels[here]))
    return float(silhouette_score(X[here], labels[here])) if 1 < many < here.sum() else -1.0


def table(outcomes: Sequence[dict[str, Any]]) -> str:
    """Mean ARI of each rule: one line per clusterer and half, for one kind of sets."""
    lines = []
    for how in (*CLUSTERERS, "all"):
        for half, part in by_half(o for o in outcomes if how in (o["clusterer"], "all")):
            means = [f"{np.mean([o['ari'][rule] for o in part]):.3f}" for rule in RULES]
            lines.append([f"{how}, {half}", str(len(part)), *means, str(sum(not o["is_picked"] for o in part))])
    return grid(["", "sets", *RULES, "none picked"], lines)


def claims(outcomes: Sequence[dict[str, Any]], nulls: Sequence[dict[str, Any]]) -> list[Claim]:
    """What is asked of the sweep."""
    found = []
    for kind, sets in parted(outcomes).items():
        for half, part in by_half(sets):
            for rule in RULES[:3]:
                gain = interval([o["ari"]["sweep"] - o["ari"][rule] for o in part], [o["name"] for o in part])
                found.append(Claim.of(f"{kind}, {half}: a higher mean ARI than {rule}", gain[0] > 0, signed(gain)))
    if nulls:
        many = sum(o["is_picked"] for o in nulls)
        text = "a setting is recommended in at most 5% of data without clusters"
        found.append(Claim.of(text, many <= 0.05 * len(nulls), f"{many} of {len(nulls)}"))
    return found


def parted(outcomes: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The outcomes of generated sets and of real data."""
    found = {what: [o for o in outcomes if (o["name"] in REAL) == is_real] for what, is_real in KINDS}
    return {what: part for what, part in found.items() if part}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("sweep", __doc__, "sweeps")
    parser.add_argument("--draws", type=int, default=3, help="sets per family")
    done, many = outcomes_of(work, lambda args: items(args.draws), parser, argv)
    outcomes, nulls = [o for o in done if "ari" in o], [o for o in done if "null" in o]
    if not outcomes:
        return 1
    print(paragraph(f"""Mean ARI with the classes of the setting that each rule picks, {len(done)} of {many} sweeps of
        generated sets of {len(FAMILIES)} families and of {len(REAL)} real sets, standardised, at most {MOST:,} points. Noise
        points are clusters of one. Where the sweep recommends nothing, the default parameters count. Intervals: bootstrap over
        families and real sets."""))  # fmt: skip
    for what, part in parted(outcomes).items():
        print(heading(what))
        print(table(part))
    print(
        f"\nSeconds per sweep, with {REPEATS} parts per setting: median {np.median([o['seconds'] for o in outcomes]):.1f}."
    )
    print(heading("What is asked"))
    print(claims_text(claims(outcomes, nulls)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
