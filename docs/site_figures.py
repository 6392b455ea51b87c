"""Figures of the guides and the sample reports. `mkdocs build` makes them, so that they show what this version draws."""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from congruence.cli import showcase

DOCS = Path(__file__).parent
FIGURES: dict[str, tuple[str, Callable[[], Any]]] = {}


def figure(page: str, said: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Declare the figure of a guide, and what it shows."""

    def declared(draw: Callable[[], Any]) -> Callable[[], Any]:
        FIGURES[page] = said, draw
        return draw

    return declared


def svg(page: str) -> str:
    """The figure of a page as SVG."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    shown = FIGURES[page][1]()
    out = io.StringIO()
    with rc_context({"svg.hashsalt": page, "svg.fonttype": "path"}):
        FigureCanvasSVG(shown).print_svg(out, metadata={"Date": None})
    return out.getvalue()


def illustrated(page: str, text: str) -> str:
    """The text of a guide with its figure before its second heading."""
    said = FIGURES[page][0]
    shown = f"![{said.replace('`', '')}](figures/{page}.svg)\n\n*{said}*\n\n"
    before, heading, after = text.partition("\n## ")
    return f"{before.rstrip()}\n\n{shown}## {after}" if heading else f"{text.rstrip()}\n\n{shown}"


# --- sample reports ---------------------------------------------------------------------------------------------

SAMPLES = (
    "Two reports to try: [29 clusterings of the wine data](samples/wine.html), and "
    "[a resolution sweep of simulated cells](samples/cells.html)."
)


def samples() -> dict[str, str]:
    """The pages of two reports by name."""
    with tempfile.TemporaryDirectory() as folder:
        showcase.pages(Path(folder), ["wine"])
        wine = (Path(folder) / "wine.html").read_text(encoding="utf-8")
    X, types, sweep = cells()
    genes = {f"gene {j + 1}": column for j, column in enumerate(X.T)}
    made = cg.report(
        {"cell type": types, **sweep}, reference="cell type", data=genes, title="A resolution sweep of 1,200 simulated cells",
        progress=False,
    )  # fmt: skip
    return {"wine": wine, "cells": made.html}


@cache
def cells() -> tuple[Any, Any, dict[str, Any]]:
    """Simulated cells: expression, types, and clusterings at ten resolutions. Three lineages split into seven types."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs

    rng = np.random.default_rng(0)
    lineages = rng.normal(scale=9, size=(3, 12))
    centres = np.vstack([lineages[i] + rng.normal(scale=3, size=(many, 12)) for i, many in enumerate((3, 2, 2))])
    X, code = make_blobs(
        [300, 250, 150, 200, 100, 120, 80], centers=centres, cluster_std=[1.6] * 6 + [2.6], random_state=0
    )
    names = np.array(["T naive", "T memory", "T cytotoxic", "B naive", "B memory", "monocyte", "dendritic"])
    sweep = {}
    for many, resolution in enumerate((0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0), start=2):
        sweep[f"resolution {resolution}"] = KMeans(many, n_init=2, random_state=many).fit_predict(X)
    return X, names[code], sweep


@cache
def wine() -> tuple[Any, Any, dict[str, Any]]:
    """The wine data: numbers, classes, clusterings."""
    return showcase.data_of("wine")[0], *showcase.clusterings("wine")


# --- a figure per guide -----------------------------------------------------------------------------------------


@figure("compare_two", "Wine: which classes go to which cluster of Ward linkage. `cg.compare(classes, ward).plot()`")
def _flow() -> Any:
    _, classes, found = wine()
    return cg.compare(classes, found["ward linkage"]).plot(backend="matplotlib")


@figure(
    "compare_many", "Wine: the adjusted Rand index of all pairs of eight clusterings. `cg.compare_all(runs).plot()`"
)
def _pairs() -> Any:
    _, classes, found = wine()
    return cg.compare_all({"classes": classes, **dict(list(found.items())[:8])}, "ari").plot(backend="matplotlib")


@figure("soft", "Wine: classes and the memberships of a Gaussian mixture. `cg.compare(classes, memberships).plot()`")
def _soft() -> Any:
    from sklearn.mixture import GaussianMixture

    X, classes, _ = wine()
    mixture = GaussianMixture(3, covariance_type="diag", n_init=3, random_state=0).fit(X)
    return cg.compare(classes, cg.Memberships(mixture.predict_proba(X))).plot(backend="matplotlib")


@figure("covers", "Points that clusters of two covers share; a point in two clusters counts in both")
def _cover() -> Any:
    rng = np.random.default_rng(1)
    truth = [list(range(start, start + 30)) for start in (0, 20, 45, 60)]
    found = [[p for p in cluster if rng.random() < 0.85] for cluster in truth]
    a, b = (cg.Cover(clusters, points=90) for clusters in (truth, [*found, [2, 5, 80, 85, 88]]))
    table = cg.contingency(a, b).to_array()
    shown = _canvas(5.2, 3.4)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    axes.imshow(table, cmap="viridis")
    for (i, j), count in np.ndenumerate(table):
        axes.text(j, i, str(count), ha="center", va="center", color="white" if count < table.max() / 2 else "black")
    axes.set(xlabel="found", ylabel="truth", xticks=range(table.shape[1]), yticks=range(table.shape[0]))
    return shown


@figure(
    "chance", "Wine: the adjusted Rand index of 999 random permutations, and of Ward linkage with the classes (orange)"
)
def _chance() -> Any:
    _, classes, found = wine()
    rng = np.random.default_rng(0)
    drawn = [cg.ari(classes, rng.permutation(found["ward linkage"])) for _ in range(999)]
    shown = _canvas(5.6, 2.6)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    axes.hist(drawn, bins=30, color="#0072B2")
    axes.axvline(cg.ari(classes, found["ward linkage"]), color="#D55E00", linewidth=2)
    axes.set(xlabel="adjusted Rand index", ylabel="permutations")
    return shown


@figure("ensembles", "Wine: consensus matrix of 29 clusterings, and its distribution. `cg.Ensemble(runs).plot()`")
def _ensemble() -> Any:
    return cg.Ensemble(wine()[2]).plot(backend="matplotlib")


@figure("consensus", "Wine: a card per cluster of the consensus. `cg.consensus(runs, 3).plot(data=X)`")
def _cards() -> Any:
    X, _, found = wine()
    numbers = dict(zip(showcase.features_of("wine"), X.T, strict=True))
    return cg.consensus(found, 3, random_state=0).plot(backend="matplotlib", data=numbers)


@figure("trust", "Wine: agreement of 29 clusterings with their consensus and with each other. `cg.rank(runs).plot()`")
def _ranking() -> Any:
    return cg.rank(wine()[2], progress=False).plot(backend="matplotlib")


@figure("choosing_k", "Wine: criteria over the number of clusters. `cg.choose_k(X).plot()`")
def _choice() -> Any:
    return cg.choose_k(wine()[0], range(1, 7), progress=False).plot(backend="matplotlib")


@figure(
    "hierarchies", "Two trees of 24 wines, untangled: average and Ward linkage. `cg.tanglegram(first, second).plot()`"
)
def _tangle() -> Any:
    from scipy.cluster.hierarchy import linkage

    X = wine()[0][::8][:24]
    first, second = (cg.Hierarchy(linkage(X, method)) for method in ("average", "ward"))
    return cg.tanglegram(first, second).plot(backend="matplotlib")


@figure("resolutions", "Simulated cells at ten resolutions: clusters split and stay. `cg.resolutions(columns).plot()`")
def _sweep() -> Any:
    return cg.resolutions(cells()[2]).plot(backend="matplotlib")


@figure(
    "tracking",
    "Simulated customers in twelve months: clusters split, merge, appear and vanish. `cg.track(steps).plot()`",
)
def _tracks() -> Any:
    rng = np.random.default_rng(2)
    now, steps = rng.integers(0, 5, 1500), {}
    for month in range(12):
        names = rng.permutation(20)
        steps[f"month {month + 1}"] = [None if c < 0 else int(names[c]) for c in now.tolist()]
        now = now.copy()
        largest, *_, small, smallest = np.argsort(-np.bincount(now[now >= 0])).tolist()
        if month % 4 == 1:
            now[(now == largest) & (rng.random(len(now)) < 0.45)] = now.max() + 1
        elif month % 4 == 3:
            now[now == smallest] = small
        moved = rng.random(len(now)) < 0.02
        now[moved] = rng.permutation(now[moved])
    return cg.track(steps).plot(backend="matplotlib")


@figure("density_profiles", "Twenty points of cluster 0 join the distant cluster 2. `cg.compare(a, far).plot()`")
def _profiles() -> Any:
    a = np.repeat([0, 1, 2], 50)
    far = a.copy()
    far[:20] = 2
    return cg.compare(a, far, "ari").plot(backend="matplotlib")


@figure("drift", "Clusters move from the fourth window on. `cg.drift(windows).plot()`")
def _drift() -> Any:
    rng = np.random.default_rng(0)
    windows = []
    for shift in (4, 4, 4, 6, 8, 8):
        labels = rng.integers(0, 2, 400)
        windows.append((rng.normal(size=(400, 2)) + np.column_stack([shift * labels, 0 * labels]), labels))
    return cg.drift(windows).plot(backend="matplotlib")


@figure(
    "alternatives", "A square of four groups: the split that is known, and another. `cg.alternatives(X, labels).plot()`"
)
def _other() -> Any:
    rng = np.random.default_rng(0)
    corners = np.array([[0, 0], [0, 6], [6, 0], [6, 6]])
    X = np.vstack([rng.normal(corner, 1, (60, 2)) for corner in corners])
    return cg.alternatives(X, np.repeat([0, 0, 1, 1], 60), 2, random_state=0).plot(backend="matplotlib")


#: the run of benchmarks/streaming.txt that the figure shows
LARGE = "python -m benchmarks.streaming --rows 1e8 --peers duckdb,dask --tries 2"


@figure(
    "large_data",
    f"All 45 pairs of 10 columns with 100 million rows, two cores (`{LARGE}`, in benchmarks/streaming.txt)",
)
def _streaming() -> Any:
    rows = re.findall(r"^  (\S.*?) {2,}([\d.]+) s  CPU.*peak +([\d.]+) GB", _printed("streaming", LARGE), flags=re.M)
    shown = _canvas(6.4, 2.6)
    left, right = shown.subplots(1, 2, sharey=True)
    names = [name for name, _, _ in rows]
    left.barh(names, [float(s) for _, s, _ in rows], color="#0072B2")
    right.barh(names, [float(gb) for _, _, gb in rows], color="#E69F00")
    left.invert_yaxis()
    left.set_xlabel("seconds")
    right.set_xlabel("peak memory, GB")
    left.tick_params(axis="y", labelsize=7)
    return shown


@figure("where_labels_live", "Wine: the counts that one GROUP BY fetches. `cg.compare(cg.Table(counts)).plot()`")
def _counts() -> Any:
    _, classes, found = wine()
    return cg.compare(cg.contingency(classes, found["ward linkage"])).plot(backend="matplotlib")


@figure("gpu", "All pairs of 256 clusterings of a million points on one GPU (benchmarks/gpu.txt)")
def _gpu() -> Any:
    rows = re.findall(r"^  k = (\d+), 256 members, tables in shared memory +([\d,]+)", _printed("gpu"), flags=re.M)
    shown = _canvas(5.2, 2.6)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    axes.plot([int(k) for k, _ in rows], [float(x.replace(",", "")) for _, x in rows], marker="o", color="#0072B2")
    axes.set(xlabel="clusters per clustering", ylabel="billion counts per second", ylim=(0, None))
    return shown


def _printed(name: str, run: str = "") -> str:
    """The kept output of a benchmark, or the latest output of one run in it."""
    runs = (DOCS / "benchmarks" / f"{name}.txt").read_text(encoding="utf-8")
    return runs if not run else next(x for x in f"\n{runs}".split("\n$ ") if x.startswith(run))


def _canvas(width: float, height: float) -> Any:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
