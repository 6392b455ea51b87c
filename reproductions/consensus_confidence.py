"""Calibration of the confidence of a consensus: planted ensembles, `auto`, and the share of points in the right cluster
for each bin of confidence. `python -m reproductions.consensus_confidence`; `--fit` prints the constants of
`consensus_clustering/judging.py`, fitted on DEV; `--plot FILE` draws the curve; `--keep FILE` can be stopped and
resumed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import congruence as cg
from congruence.consensus_clustering import judging as constants
from congruence.consensus_clustering.evidence import evidence
from reproductions.collections_of_clusterings import DRAWS as ALL_DRAWS
from reproductions.collections_of_clusterings import Collection, collections
from reproductions.resuming import parser_of, results
from reproductions.rows import grid, heading, paragraph

BINS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


#: draws of the planted data: one of DEV, one of TEST; `--all` takes all of them
DRAWS = (0, 4)


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """The points of one planted ensemble: share of votes, whether they are right, and what log odds are made of."""

    half: str
    members: str
    share: np.ndarray
    right: np.ndarray
    #: what `consensus_clustering/judging.py` makes log odds of; one row per point
    features: np.ndarray

    @property
    def confidence(self) -> np.ndarray:
        """The probability that each point is right, as `cg.consensus` gives it."""
        return np.asarray(constants.calibrated(self.features, self.share))


def points(c: Collection) -> Points:
    """The consensus of a collection by auto, its clusters matched one to one with the truth."""
    members, truth = c.make()
    r = cg.consensus(members, len(np.unique(truth)), random_state=0, progress=False)
    right = cg.relabel(truth, r.labels) == truth
    e = evidence(members)
    labels = np.empty(e.n_rows, np.int64)
    labels[e.row] = r.labels
    features = constants.features(e, labels, r.n_clusters)[e.row]
    return Points(half=c.half, members=c.members, share=r.vote_share, right=right, features=features)


@cache
def _planted(draws: tuple[int, ...]) -> dict[str, Collection]:
    return {f"{c.name}, {c.members}": c for c in collections(draws) if c.source == "generated"}


def work(item: tuple[tuple[int, ...], str]) -> dict[str, Any]:
    """The points of one ensemble, by its name, as plain values."""
    draws, key = item
    p = points(_planted(draws)[key])
    values = {name: getattr(p, name).round(6).tolist() for name in ("share", "features")}
    return {"half": p.half, "members": p.members, "right": p.right.tolist(), **values}


def curve(confidence: np.ndarray, right: np.ndarray) -> list[tuple[int, float, float]]:
    """For each bin the number of points, their mean confidence, and the share that is right."""
    bins = np.clip(np.digitize(confidence, BINS) - 1, 0, len(BINS) - 2)
    found = []
    for b in range(len(BINS) - 1):
        here = bins == b
        found.append((int(here.sum()), *(float(x[here].mean()) if here.any() else np.nan for x in (confidence, right))))
    return found


def miscalibration(confidence: np.ndarray, right: np.ndarray) -> float:
    """Mean difference of confidence and share right over bins, weighted by their points."""
    return float(sum(n * abs(a - b) for n, a, b in curve(confidence, right) if n) / len(right))


def joined(found: Sequence[Points], name: str) -> np.ndarray:
    """One attribute of all points."""
    return np.concatenate([getattr(p, name) for p in found])


def table(found: Sequence[Points]) -> str:
    """One line per bin, confidence and vote share side by side."""
    right = joined(found, "right")
    lines = []
    pair = (curve(joined(found, name), right) for name in ("confidence", "share"))
    for low, high, (n, mean, share), (m, voted, said) in zip(BINS[:-1], BINS[1:], *pair, strict=True):
        cells = [f"{n:,}", f"{mean:.3f}", f"{share:.3f}", f"{m:,}", f"{voted:.3f}", f"{said:.3f}"]
        end = "]" if high == 1 else ")"
        lines.append([f"[{low:.1f}, {high:.1f}{end}", *(c.replace("nan", "-") for c in cells)])
    return grid(["bin", "points", "confidence", "right", "points", "vote share", "right"], lines)


def by_kind(found: Sequence[Points]) -> str:
    """One line per kind of members: share right, mean confidence and vote share, and how far both are off."""
    lines = []
    for kind in dict.fromkeys(p.members for p in found):
        part = [p for p in found if p.members == kind]
        right, sure, share = (joined(part, name) for name in ("right", "confidence", "share"))
        lines.append(
            [kind, f"{len(right):,}", f"{right.mean():.3f}", f"{sure.mean():.3f}", f"{miscalibration(sure, right):.3f}",
             f"{share.mean():.3f}", f"{miscalibration(share, right):.3f}"]
        )  # fmt: skip
    return grid(["members", "points", "right", "confidence", "off by", "vote share", "off by"], lines)


def fit(found: Sequence[Points]) -> str:
    """Logistic regression of being right, where members disagree, on the DEV half."""
    from sklearn.linear_model import LogisticRegression

    dev = [p for p in found if p.half == "DEV"]
    x, right, some = joined(dev, "features"), joined(dev, "right"), joined(dev, "share") < 1 - 1e-9
    model = LogisticRegression(C=1e3, max_iter=1000, fit_intercept=False).fit(x[some], right[some])
    numbers = ", ".join(f"{v:.2f}" for v in model.coef_[0])
    return f"POSTERIOR, SHARE, CONSTANT = {numbers}"


def plot(path: str, found: Sequence[Points]) -> None:
    """The calibration curve of both halves, and of the share of votes, as a figure; the suffix of the file says which kind."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams["svg.hashsalt"] = "congruence"  # the same file from the same numbers
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], linestyle=":", color="grey", label="calibrated")
    for name, half in (("confidence", "DEV"), ("confidence", "TEST"), ("share", "TEST")):
        part = [p for p in found if p.half == half]
        there = [(a, b) for n, a, b in curve(joined(part, name), joined(part, "right")) if n >= 50] if part else []
        words = "share of votes" if name == "share" else name
        axes.plot([a for a, _ in there], [b for _, b in there], marker="o", label=f"{words}, {half}")
    axes.set(xlabel="confidence", ylabel="share of points in the right cluster", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("consensus_confidence", __doc__)
    parser.add_argument("--fit", action="store_true", help="print the constants that DEV gives")
    parser.add_argument("--plot", metavar="FILE", help="draw the calibration curve into this file (svg, png, pdf)")
    parser.add_argument("--quick", type=int, metavar="N", help="only every N-th ensemble")
    parser.add_argument("--all", action="store_true", help="all draws, three times as many ensembles")
    args = parser.parse_args(argv)
    draws = tuple(ALL_DRAWS) if args.all else DRAWS
    every = list(_planted(draws))
    order = np.random.default_rng(0).permutation(len(every))[:: args.quick or 1]
    items = [(draws, every[which]) for which in order.tolist()]
    found = [
        Points(**{key: np.array(value) if isinstance(value, list) else value for key, value in row.items()})
        for row in results(work, items, args, lambda item: item[1])
    ]
    print(paragraph(f"""{len(found)} planted ensembles of 400 points: six kinds of members, equal and unequal sizes. Clusters are
        matched one to one with the truth; a point is right if its cluster is matched with its own. The constants of the
        confidence were fitted on DEV; TEST are other draws of the same kinds of data."""))  # fmt: skip
    for half in ("DEV", "TEST"):
        part = [p for p in found if p.half == half]
        if part:
            print(heading(half))
            print(table(part))
            print()
            print(by_kind(part))
    if args.fit:
        print(heading("Constants"))
        print(fit(found))
    if args.plot:
        plot(args.plot, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
