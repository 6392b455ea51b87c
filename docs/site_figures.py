"""Figures of the pages and the sample reports. `mkdocs build` makes them, so that they show what this version draws."""

from __future__ import annotations

import contextlib
import doctest
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
#: figures of guides that no page draws
FIGURES: dict[str, tuple[str, Callable[[], Any]]] = {}
#: pages whose examples draw figures
DRAWN = ("gallery", "tutorial_decision", "tutorial_cells", "tutorial_monitoring", "tutorial_warehouse")


def figure(page: str, said: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Declare the figure of a guide, and what it shows."""

    def declared(draw: Callable[[], Any]) -> Callable[[], Any]:
        FIGURES[page] = said, draw
        return draw

    return declared


def svg(name: str, shown: Any) -> str:
    """A matplotlib figure as SVG, the same for the same figure."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    out = io.StringIO()
    with rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        FigureCanvasSVG(shown).print_svg(out, metadata={"Date": None})
    return out.getvalue()


def illustrated(page: str, text: str) -> str:
    """The text of a guide with its figure after its first paragraph."""
    said, name = (FIGURES[page][0], page) if page in FIGURES else opening()[page]
    shown = f"{image(said, name)}\n\n*{said}*\n\n"
    title, first, rest = text.split("\n\n", 2)
    return f"{title}\n\n{first}\n\n{shown}{rest}"


def image(said: str, name: str) -> str:
    """A line that shows a figure."""
    return f"![{said.replace('`', '')}](figures/{name}.svg)"


# --- pages whose code draws their figures -----------------------------------------------------------------------


@cache
def drawn(page: str) -> tuple[str, dict[str, Any]]:
    """The text of a page that binds `figure` in its examples, with an image after each such block, and the figures by name.

    The examples run in the order of the page, in one namespace, as they do in its test.
    """
    blocks = re.split(r"^(```python\n.*?^```\n)", (DOCS / f"{page}.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    values: dict[str, Any] = {}
    found: dict[str, Any] = {}
    lines = []
    for block in blocks:
        lines.append(block)
        if block.startswith("```python"):
            with contextlib.redirect_stdout(io.StringIO()):
                for example in doctest.DocTestParser().get_examples(block):
                    exec(compile(example.source, page, "exec"), values)
            if "figure" in values:
                name = f"{page}_{len(found) + 1}"
                found[name] = values.pop("figure")
                heading = re.findall(r"^##+ (.*)$", "".join(lines), flags=re.M)[-1]
                lines.append(f"\n{image(heading, name)}\n")
    return "".join(lines), found


@cache
def opening() -> dict[str, tuple[str, str]]:
    """For each guide the first figure of a section that links to it: what the section says it shows, and its name."""
    found: dict[str, tuple[str, str]] = {}
    for page in DRAWN:
        for section in re.split(r"^##+ .*\n", drawn(page)[0], flags=re.M):
            names = re.findall(r"^!\[.*\]\(figures/(\w+)\.svg\)$", section, flags=re.M)
            said = " ".join(section.strip().partition("\n\n")[0].split())
            for guide in re.findall(r"\]\((\w+)\.md\)", section) if names and len(said) < 200 else ():
                found.setdefault(guide, (said, names[0]))
    return found


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


# --- figures of guides -----------------------------------------------------------------------------------------


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
    classes, found = showcase.clusterings("wine")
    rng = np.random.default_rng(0)
    permuted = [cg.ari(classes, rng.permutation(found["ward linkage"])) for _ in range(999)]
    shown = _canvas(5.6, 2.6)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    axes.hist(permuted, bins=30, color="#0072B2")
    axes.axvline(cg.ari(classes, found["ward linkage"]), color="#D55E00", linewidth=2)
    axes.set(xlabel="adjusted Rand index", ylabel="permutations")
    return shown


@figure("density_profiles", "Twenty points of cluster 0 join the distant cluster 2. `cg.compare(a, far).plot()`")
def _profiles() -> Any:
    a = np.repeat([0, 1, 2], 50)
    far = a.copy()
    far[:20] = 2
    return cg.compare(a, far, "ari").plot(backend="matplotlib")


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
