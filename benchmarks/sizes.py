"""One ARI and one NMI from 10 to 10⁷ points beside other packages: `python -m benchmarks.small` and `benchmarks.pairs` print it.

Microseconds of processor time per call. The packages take turns, and the smallest of some runs counts. A package whose
previous size took more than a second is left out of larger sizes. Inputs are made before the clock starts, in the form
that each package takes: int64 arrays for congruence, genieclust and scikit-learn, lists for igraph, tensors for
torchmetrics, `Clustering` objects for clusim. `--picture FILE` draws the times.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {10: 3, 20: 3, 100: 5, 1_000: 10, 10_000: 50, 30_000: 50, 100_000: 50, 1_000_000: 50, 10_000_000: 100}
MEASURES = ("ari", "nmi")
#: a package that took more seconds than this is not timed at the next size
PATIENCE = 1.0
RUNS = 15

Call = Callable[[], Any]


def has(peer: str) -> bool:
    """Whether a peer is installed."""
    return importlib.util.find_spec(peer) is not None


def seconds_of(calls: dict[str, Call], runs: int = RUNS) -> dict[str, float]:
    """Processor seconds per call of each, the smallest of some runs in turn; a run takes about 10 ms, or one call."""
    many, best = {}, dict.fromkeys(calls, float("inf"))
    for name, call in calls.items():
        call()
        start = time.process_time()
        call()
        once = max(time.process_time() - start, 1e-7)
        many[name] = max(1, int(0.01 / once)), 1 if once > 1 else 3 if once > 0.1 else runs
    for turn in range(runs):
        for name, call in calls.items():
            repeats, turns = many[name]
            if turn < turns:
                start = time.process_time()
                for _ in range(repeats):
                    call()
                best[name] = min(best[name], (time.process_time() - start) / repeats)
    return best


def peers(a: np.ndarray, b: np.ndarray, left_out: set[str]) -> Iterator[tuple[str, dict[str, Call]]]:
    """Name and calls by measure of each package that is installed; the inputs are made here."""
    import congruence as cg

    yield "congruence", {"ari": lambda: cg.ari(a, b), "nmi": lambda: cg.nmi(a, b)}
    if has("genieclust"):
        import genieclust.compare_partitions as genie

        yield (
            "genieclust",
            {"ari": lambda: genie.adjusted_rand_score(a, b), "nmi": lambda: genie.normalized_mi_score(a, b)},
        )
    from sklearn import metrics

    yield (
        "scikit-learn",
        {
            "ari": lambda: metrics.adjusted_rand_score(a, b),
            "nmi": lambda: metrics.normalized_mutual_info_score(a, b),
        },
    )
    if has("igraph") and "igraph" not in left_out:
        import igraph

        x, y = a.tolist(), b.tolist()
        yield (
            "igraph",
            {
                "ari": lambda: igraph.compare_communities(x, y, "adjusted_rand"),
                "nmi": lambda: igraph.compare_communities(x, y, "nmi"),
            },
        )
    if has("torchmetrics") and "torchmetrics" not in left_out:
        import torch
        from torchmetrics.functional import clustering as torched

        s, t = torch.from_numpy(a), torch.from_numpy(b)
        yield (
            "torchmetrics",
            {
                "ari": lambda: torched.adjusted_rand_score(s, t),
                "nmi": lambda: torched.normalized_mutual_info_score(s, t),
            },
        )
    if has("clusim") and "clusim" not in left_out:
        from clusim import sim
        from clusim.clustering import Clustering

        p, q = (Clustering().from_membership_list(v.tolist()) for v in (a, b))
        yield "clusim", {"ari": lambda: sim.adjrand_index(p, q), "nmi": lambda: sim.nmi(p, q, norm_type="sum")}


def _times(ratio: float) -> str:
    return f"{ratio:.2f}×" if ratio < 10 else f"{ratio:,.0f}×"


def table(most: int = max(SIZES)) -> dict[str, dict[str, dict[int, float]]]:
    """Print the times by measure, package and number of points up to `most`, and return them in seconds."""
    missing = [x for x in ("genieclust", "igraph", "torchmetrics", "clusim") if not has(x)]
    print(
        "one pair of clusterings that agree on 70 % of the points: microseconds of processor time per call, and times ours"
    )
    if missing:
        print(f"left out, because not installed: {', '.join(missing)}")
    found: dict[str, dict[str, dict[int, float]]] = {measure: {} for measure in MEASURES}
    slow: dict[str, set[str]] = {measure: set() for measure in MEASURES}
    won = lost = 0
    for n, k in SIZES.items():
        if n > most:
            break
        rng = np.random.default_rng(n)
        a = rng.integers(0, k, n)
        b = np.where(rng.random(n) < 0.7, a, rng.integers(0, k, n))
        calls = list(peers(a, b, slow["ari"] & slow["nmi"]))
        for measure in MEASURES:
            seconds = seconds_of({who: by[measure] for who, by in calls if who not in slow[measure]})
            ours = seconds["congruence"]
            shown = []
            for who, took in seconds.items():
                found[measure].setdefault(who, {})[n] = took
                if took > PATIENCE:
                    slow[measure].add(who)
                if who != "congruence":
                    won, lost = won + (took > ours), lost + (took <= ours)
                shown.append(f"{who} {took * 1e6:,.1f}" + ("" if who == "congruence" else f" ({_times(took / ours)})"))
            print(f"  {measure} n = {n:>10,} k = {k:>3}: {', '.join(shown)}", flush=True)
    print(f"congruence is faster in {won} and slower in {lost} of {won + lost} comparisons")
    return found


def picture(found: dict[str, dict[str, dict[int, float]]], file: str | Path) -> None:
    """Time over the number of points, one panel per measure, as SVG."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.4), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True)
    for panel, (measure, by) in zip(panels, found.items(), strict=True):
        ends: list[tuple[float, int, str, Any]] = []
        for who, times in by.items():
            ours = who == "congruence"
            line = panel.loglog(
                list(times), [t * 1e6 for t in times.values()], marker="o", markersize=4 if ours else 3,
                linewidth=2.6 if ours else 1.3, zorder=3 if ours else 2, label=who,
            )[0]  # fmt: skip
            ends.append((list(times.values())[-1] * 1e6, max(times), who, line.get_color()))
        lowest: dict[int, float] = {}
        for took, n, who, colour in sorted(ends):  # names that would overlap are moved up
            lowest[n] = max(took, 1.9 * lowest.get(n, 0))
            weight = "bold" if who == "congruence" else "normal"
            panel.text(n * 1.25, lowest[n], who, va="center", fontsize=8, color=colour, fontweight=weight)
        panel.set(title=f"one {measure.upper()}", xlabel="points", xlim=(7, 2e8))
        panel.grid(alpha=0.25)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("microseconds of processor time")
    with rc_context({"svg.hashsalt": "sizes", "svg.fonttype": "path"}):
        FigureCanvasSVG(figure).print_svg(str(file), metadata={"Date": None})
