"""Figure 4 of Zhang, Wong & Shen, "Generalized Adjusted Rand Indices for cluster ensembles" (Pattern Recognition 45, 2012):
ARImp as a filter of consensus functions that needs no labels. Run `python -m reproductions.consensus_filtering`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from reproductions import datasets
from reproductions.ensemble_indices import COLOURS, TABLE2, available, in_processes
from reproductions.rows import NOT_REPRODUCIBLE, Claim, Row, claims_text, grid, heading, paragraph, rows_text, spread

#: the six consensus functions in the paper's order, and their titles
SIX = {"cspa": "CSPA", "mcla": "MCLA", "hgpa": "HGPA", "hbgf": "HBGF", "ncut": "NCUT", "average": "AL"}


@dataclass(frozen=True, eq=False)
class Trials:
    """Figure 4 for one data set: ARImp with the ensemble and ARI with the classes, method × trial."""

    title: str
    standardised: bool
    arimp: np.ndarray
    ari: np.ndarray
    #: ARI with the classes of each member of the library; clusters found, method × trial; points of each class
    members: np.ndarray
    clusters: np.ndarray
    sizes: np.ndarray

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    @property
    def evenness(self) -> float:
        """Entropy of the sizes of the classes over its maximum: 1 where all are of one size."""
        p = self.sizes / self.sizes.sum()
        return float(-(p * np.log(p)).sum() / np.log(len(p)))

    @property
    def correlation(self) -> float:
        """Pearson's correlation of ARImp and ARI over the points of the scatter plot."""
        return correlation(self.arimp.ravel(), self.ari.ravel())

    @property
    def between(self) -> float:
        """The same of the means of the methods: does ARImp order the methods as ARI does?"""
        return correlation(self.arimp.mean(axis=1), self.ari.mean(axis=1))

    @property
    def spread(self) -> float:
        """Correlation of the variance of ARImp of a method with its mean ARI."""
        return correlation(self.arimp.var(axis=1, ddof=1), self.ari.mean(axis=1))

    @property
    def within(self) -> float:
        """Mean over trials of the correlation over the methods of one trial, where it is defined."""
        found = [correlation(x, y) for x, y in zip(self.arimp.T, self.ari.T, strict=True)]
        known = [r for r in found if r == r]
        return float(np.mean(known)) if known else float("nan")

    @property
    def kept(self) -> float:
        """Mean ARI of the solution with the highest ARImp of each trial."""
        return float(self.ari[self.arimp.argmax(axis=0), np.arange(self.ari.shape[1])].mean())

    @property
    def filtered(self) -> int:
        """The method that the paper's filter drops first: the lowest mean ARImp."""
        return int(self.arimp.mean(axis=1).argmin())


def correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's; NaN where one of the two does not vary.

    >>> correlation(np.array([1.0, 2, 3]), np.array([2.0, 4, 6])), correlation(np.ones(2), np.arange(2))
    (1.0, nan)
    """
    if np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return float("nan")
    return round(float(np.corrcoef(x, y)[0, 1]), 12)


def trials(
    title: str, name: str, standardised: bool = True, count: int = 20, library: int = 600, sample: int = 50, seed: int = 0
) -> Trials:  # fmt: skip
    """Figure 4: `count` times `sample` members of a library of k-means solutions, and the six consensus functions of each."""
    X, y = datasets.load(name, standardise=standardised)
    return trials_of(title, X, y, standardised, count, library, sample, seed)


def trials_of(
    title: str, X: np.ndarray, y: np.ndarray, standardised: bool = True, count: int = 20, library: int = 600,
    sample: int = 50, seed: int = 0,
) -> Trials:  # fmt: skip
    """The same on given data."""
    classes = int(y.max()) + 1
    made = cg.generate(X, library, range(2, 2 * classes + 1), "mixed", seed, progress=False)
    drawn = [
        made[np.random.default_rng([seed, t]).choice(library, sample, replace=False)] for t in range(count)
    ]  # fmt: skip
    arimp, ari, clusters = (np.zeros((len(SIX), count)) for _ in range(3))
    for (m, method), (t, members) in product(enumerate(SIX), enumerate(drawn)):
        found = cg.consensus(members, classes, method, np.random.SeedSequence([seed, t]), progress=False)
        arimp[m, t], ari[m, t], clusters[m, t] = found["arimp"], cg.ari(found.labels, y), found.n_clusters
    own = np.asarray(cg.compare_to(y, made, ["ari"], threads=1)["ari"])
    return Trials(title, standardised, arimp, ari, own, clusters, np.bincount(y))


# --- tables -----------------------------------------------------------------------------------------------------


def show_trials(runs: Sequence[Trials]) -> str:
    """Means and standard deviations over trials, one line per data set and method."""
    lines = []
    for r in runs:
        for m, title in enumerate(SIX.values()):
            fewer = int((r.clusters[m] < r.classes).sum())
            lines.append(
                [r.title if m == 0 else "", title, f"{r.arimp[m].mean():.4f}", f"{_sd(r.arimp[m]):.4f}",
                 f"{r.ari[m].mean():.4f}", f"{_sd(r.ari[m]):.4f}", "" if not fewer else f"{fewer} trials < {r.classes} clusters"]
            )  # fmt: skip
    return grid(["", "method", "ARImp", "± sd", "ARI", "± sd", ""], lines, left=2)


def _sd(values: np.ndarray) -> float:
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def show_correlations(runs: Sequence[Trials]) -> str:
    """Correlations for each data set, and the gain of the filter there."""
    lines = []
    for r in runs:
        best = int(r.ari.mean(axis=1).argmax())
        lines.append(
            [r.title, "z-scores" if r.standardised else "raw", f"{r.evenness:.3f}", f"{r.correlation:.3f}", f"{r.between:.3f}",
             f"{r.within:.3f}", f"{r.spread:.3f}", list(SIX.values())[r.filtered], f"{r.ari[r.filtered].mean():.3f}",
             f"{r.ari.mean():.3f}", f"{r.kept:.3f}", f"{r.ari[best].mean():.3f} {list(SIX.values())[best]}",
             f"{np.median(r.members):.3f}", f"{r.members.max():.3f}"]
        )  # fmt: skip
    head = ["", "data", "evenness", "r", "r of means", "r in trials", "r of var", "dropped", "its ARI", "mean ARI", "kept",
            "best method", "median member", "best member"]  # fmt: skip
    return grid(head, lines, left=2)


def _equal_blocks(runs: Sequence[Trials], what: str) -> str:
    """How CSPA and HGPA, whose blocks are of one size, do where the classes are `what`."""
    own = np.isin(list(SIX), ("cspa", "hgpa"))
    gaps = {name: np.mean([(v[own].mean() - v[~own].mean()) for v in values])
            for name, values in (("ARI", [r.ari for r in runs]), ("ARImp", [r.arimp for r in runs]))}  # fmt: skip
    return (
        f"With classes of {what} ({', '.join(r.title for r in runs)}) CSPA and HGPA, whose blocks are of one size, have "
        f"{gaps['ARImp']:+.3f} of ARImp and {gaps['ARI']:+.3f} of ARI compared with the other four."
    )


def claims(runs: Sequence[Trials]) -> list[Claim]:
    """The sentences of section 5.2.1 and of the caption."""
    half = len(runs) / 2

    def many(values: Sequence[bool]) -> str:
        return f"{sum(values)} of {len(runs)}"

    positive = [r.correlation > 0 for r in runs]
    strong = [r.between > 0.5 for r in runs]
    steady = [r.spread < 0 for r in runs]
    worse = [bool(r.ari[r.filtered].mean() < r.ari.mean()) for r in runs]
    worst = [bool(r.filtered == r.ari.mean(axis=1).argmin()) for r in runs]
    unsteady = [int(r.arimp.var(axis=1).argmax()) for r in runs]
    shaky = [bool(r.ari[u].mean() < r.ari.mean()) for r, u in zip(runs, unsteady, strict=True)]
    kept = [r.kept > r.ari.mean() for r in runs]
    low = [r for r in runs if not r.correlation > 0]
    where = ", ".join(f"{r.title} {'z' if r.standardised else 'raw'} {r.correlation:+.2f}" for r in low) or "none"
    times = [sum(r.filtered == m for r in runs) for m in range(len(SIX))]
    dropped = ", ".join(
        f"{title} {many_times}×" for title, many_times in zip(SIX.values(), times, strict=True) if many_times
    )
    even, uneven = ([r for r in runs if (r.evenness > 0.99) is wanted] for wanted in (True, False))
    return [
        Claim.of("in most of the cases, approaches with large ARImp also have large ARI, and those with low ARImp low ARI "
                 "(ours: r over all trials and methods above 0 on more than half of the sets)", sum(positive) > half,
                 f"r > 0 on {many(positive)}; median {np.nanmedian([r.correlation for r in runs]):.2f}; not on: {where}. "
                 + " ".join(_equal_blocks(part, what) for part, what in ((even, "nearly one size (evenness above 0.99)"),
                                                                         (uneven, "different sizes")) if part)),
        Claim.of("the same of the methods' means (ours: r of the six means above 0.5 on more than half of the sets)",
                 sum(strong) > half,
                 f"{many(strong)}; " + ", ".join(f"{r.title} {r.between:+.2f}" for r in runs)),
        Claim.of("approaches with large variances of ARImp tend to have low ARI (ours: the variance correlates negatively with "
                 "the mean ARI over the six on more than half of the sets)", sum(steady) > half,
                 f"{many(steady)}; the method of largest variance is below the mean ARI on {many(shaky)}"),
        Claim.of("ARImp identifies less effective approaches (ours: the method with the lowest mean ARImp has an ARI below the "
                 "mean of the six on more than half of the sets)", sum(worse) > half,
                 f"below the mean on {many(worse)}, the very worst on {many(worst)}; dropped: {dropped}"),
        Claim.of("for a large variety of data sets (ours: the same on all of them)", all(worse) and all(positive),
                 f"lowest ARImp, ARI below the mean: {many(worse)}; r > 0: {many(positive)}"),
        Claim.of("ours: to keep, in each trial, the solution with the highest ARImp is better than a method taken at random",
                 sum(kept) > half,
                 f"mean ARI kept above the mean of the six on {many(kept)}: on average {np.mean([r.kept for r in runs]):.3f} "
                 f"against {np.mean([r.ari.mean() for r in runs]):.3f}; best method on each set known: "
                 f"{np.mean([r.ari.mean(axis=1).max() for r in runs]):.3f}; median member "
                 f"{np.mean([np.median(r.members) for r in runs]):.3f}"),
    ]  # fmt: skip


# --- the figure -------------------------------------------------------------------------------------------------


def plot(folder: Path, runs: Sequence[Trials]) -> str:
    """Write Figure 4 as HTML into a folder; the answer says what was written, or why not."""
    try:
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots
    except ImportError:
        return 'no figures: plotly is not installed (pip install ".[plot]")'
    folder.mkdir(parents=True, exist_ok=True)
    rows = -(-len(runs) // 4)
    titles = [f"{r.title}: r = {r.correlation:.3f}" for r in runs]
    figure = make_subplots(rows, 4, subplot_titles=titles, vertical_spacing=0.25 / rows, x_title="ARImp", y_title="ARI")
    for i, r in enumerate(runs):
        for m, title in enumerate(SIX.values()):
            dots: Any = go.Scatter(
                x=r.arimp[m], y=r.ari[m], name=title, legendgroup=title, showlegend=i == 0, mode="markers",
                marker={"color": COLOURS[m % len(COLOURS)], "symbol": m, "size": 6},
            )  # fmt: skip
            figure.add_trace(dots, 1 + i // 4, 1 + i % 4)
    figure.update_layout(
        title="Figure 4: ARImp with the ensemble and ARI with the classes",
        template="plotly_white",
        height=330 * rows + 80,
    )
    figure.write_html(folder / "figure4.html", include_plotlyjs="directory")
    return f"figures written to {folder}: figure4.html"


# --- printing ---------------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Print the reproduction."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.consensus_filtering", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="120 solutions per data set, 5 trials of 20, z-scores")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", nargs="+", metavar="NAME", help="data sets of Table 2, e.g. iris wine")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the figure there as HTML (needs plotly)")
    args = parser.parse_args(argv)
    known = {row[0].lower(): row for row in TABLE2} | {row[1]: row for row in TABLE2}
    chosen = list(TABLE2) if args.sets is None else [known.get(name.lower()) for name in args.sets]
    if None in chosen:
        parser.error(f"--sets: the data sets of Table 2 are {', '.join(row[0] for row in TABLE2)}")
    there = available(chosen)
    if not there:
        return 1
    count, library, sample = (5, 120, 20) if args.quick else (20, 600, 50)
    prepared = {True: "z-scores"} if args.quick else {True: "z-scores", False: "raw"}

    print(paragraph(f"""Zhang, Wong & Shen, Generalized Adjusted Rand Indices for cluster ensembles (Pattern Recognition 45,
        2012), Figure 4: {library} k-means solutions per data set; {count} times {sample} of them, drawn without replacement; six
        consensus functions into as many clusters as classes; ARImp of each solution with its ensemble compared with
        its ARI with the classes.
        'confirmed' and 'not confirmed' are about sentences; 'ours' is a threshold that we set."""))  # fmt: skip
    print()
    print(paragraph(f"""Not specified in the paper, and our choice: the three ways to make solutions ('as performed
        in' Fern & Lin)
        are a third each of random starts, half to all but one of the features, and 80 % of the points with the others to the
        nearest centre (cg.generate, method "mixed"), one start each, k ~ U{{2..2·classes}} as in section 5.1; the data are
        {' and '.join(prepared.values())}; CSPA, MCLA and HGPA divide by METIS, Mt-KaHyPar or the built-in partitioner, with
        blocks at most 5 % above equal; HBGF and NCUT are spectral."""))  # fmt: skip
    runs: list[Trials] = []
    for scaled, how in prepared.items():
        print(heading(f"Figure 4, {how}"))
        tasks = [(title, name, scaled, count, library, sample, args.seed) for title, name in there]
        found = in_processes(trials, tasks, args.jobs)
        print(show_trials(found))
        runs += found
    print(heading("Correlation for each set"))
    print(paragraph("""r: of all points of the scatter plot; 'r of means': of the six methods' means; 'r in trials': of the six
        solutions of a trial, mean over trials; 'r of var': variance of ARImp and mean ARI; 'dropped': the method with the
        lowest mean ARImp, which the paper would filter out; 'kept': mean ARI of the solution with the highest ARImp of each
        trial; members: of the whole library; 'evenness': entropy of the sizes of the classes over its maximum."""))  # fmt: skip
    print()
    print(show_correlations(runs))
    print(heading("Claims of section 5.2.1"))
    tried = ", ".join(f"{how} (r {spread([r.correlation for r in runs if r.standardised is scaled])})"
                      for scaled, how in prepared.items())  # fmt: skip
    why = f"no number is in the text, and neither are the solutions: only the sentences can be tested. Tried: {tried}"
    print(rows_text([Row("positions of the points in Figure 4", None, None, NOT_REPRODUCIBLE, why)]))
    for scaled, how in prepared.items():
        print(f"\n{how}:")
        print(claims_text(claims([r for r in runs if r.standardised is scaled])))
    if args.plots:
        print()
        print(plot(args.plots, [r for r in runs if r.standardised]))
    return 0


if __name__ == "__main__":
    from reproductions import consensus_filtering  # by its name, so that the processes of joblib find its functions

    sys.exit(consensus_filtering.main())
