"""Figures of hierarchies and sweeps by matplotlib, for papers."""

from __future__ import annotations

import numpy as np

from congruence.figures.layout import EIGHT
from congruence.figures.matplotlib_figures import canvas
from congruence.hierarchies.curves import CutCurve
from congruence.hierarchies.cut_tables import CutTable
from congruence.hierarchies.sweep import Resolutions
from congruence.hierarchies.sweep_picture import sweep_picture
from congruence.hierarchies.tangling import Tanglegram
from congruence.typing import ColumnLike, Figure

#: most points or clusters with names in a figure, and most cells with their values
MOST_NAMES, MOST_CELLS = 80, 150


def draw_curve(curve: CutCurve) -> Figure:
    """The measure by number of clusters, with the band of chance."""
    shown = canvas(5.6, 3.4)
    axes = shown.subplots()
    if curve.band is not None and curve.mean is not None:
        low, high = curve.band
        axes.fill_between(curve.ks, low, high, color="#777", alpha=0.2, linewidth=0, label="chance, mean ± 2 sd")
        axes.plot(curve.ks, curve.mean, color="#777", linestyle=":", linewidth=1)
    few = len(curve) <= MOST_NAMES
    axes.plot(
        curve.ks, curve.values, color=EIGHT[0], marker="o" if few else None, markersize=3, label=curve.measure.key
    )
    if not few:
        axes.set_xscale("log")
    axes.set_xlabel("number of clusters")
    axes.set_ylabel(curve.measure.key)
    axes.legend(fontsize=8, frameon=False)
    return shown


def draw_table(table: CutTable) -> Figure:
    """The heat map of two trees' cuts."""
    shown = canvas(4.8, 4.2)
    axes = shown.subplots()
    m = table.measure
    image = axes.imshow(table.values, cmap="viridis" if m.better == "higher" else "viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(table.values if table.values.size <= MOST_CELLS else np.empty((0, 0))):
        bright = float(np.dot(image.to_rgba(value)[:3], (0.3, 0.6, 0.1))) > 0.5
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="black" if bright else "white")
    axes.set_xticks(range(len(table.ks_b)), [str(k) for k in table.ks_b], fontsize=7)
    axes.set_yticks(range(len(table.ks_a)), [str(k) for k in table.ks_a], fontsize=7)
    axes.set_xlabel("clusters of b")
    axes.set_ylabel("clusters of a")
    shown.colorbar(image, label=f"{m.title} ({m.better} is better)")
    return shown


def draw_tangle(tangle: Tanglegram) -> Figure:
    """A tanglegram: two trees, with lines between the same points."""
    n = tangle.a.n_points
    shown = canvas(7.0, max(3.0, min(14.0, 0.12 * n)))
    axes = shown.subplots()
    for side, begin, sign in (("a", 0.0, 1.0), ("b", 3.0, -1.0)):
        lines = tangle.segments(side)
        top = max(float(lines[:, [1, 3]].max(initial=0.0)), 1e-300)
        for p, low, q, high in lines.tolist():
            axes.plot(
                [begin + sign * (1 - low / top), begin + sign * (1 - high / top)], [p, q], color="#444", linewidth=0.7
            )
    place = np.empty(n, dtype=np.int64)
    place[tangle.order_b] = np.arange(n)
    gap = 0.25 if n <= MOST_NAMES else 0.02
    for i, point in enumerate(tangle.order_a.tolist()):
        axes.plot([1 + gap, 2 - gap], [i, place[point]], color=EIGHT[0], linewidth=0.6, alpha=0.5)
    names = [str(x) for x in (range(n) if tangle.a.points is None else tangle.a.points)]
    if n <= MOST_NAMES:
        for order, at, side in ((tangle.order_a, 1.03, "left"), (tangle.order_b, 1.97, "right")):
            for i, point in enumerate(order.tolist()):
                text = axes.text(at, i, names[point], ha=side, va="center", fontsize=5, parse_math=False)
                text.set_in_layout(False)
    axes.set_axis_off()
    return shown


def draw_sweep(r: Resolutions, color: ColumnLike = "stability", least: float = 0.1) -> Figure:
    """The tree of clusters: a layer per column, with edge widths by in_prop."""
    drawn = sweep_picture(r, color, least)
    total = max(r.ensemble.n_points, 1)
    shown = canvas(7.0, max(3.0, 0.55 * len(drawn.columns)))
    axes = shown.subplots()
    for e in drawn.edges:
        first, second = drawn.nodes[e.first], drawn.nodes[e.second]
        axes.plot(
            [first.x, second.x], [-first.y, -second.y], color="#555", linewidth=0.4 + 2 * e.in_prop,
            alpha=0.25 + 0.6 * e.in_prop, zorder=1,
        )  # fmt: skip
    x, y = [node.x for node in drawn.nodes], [-node.y for node in drawn.nodes]
    sizes = [30 + 400 * node.size / total for node in drawn.nodes]
    values = [node.value for node in drawn.nodes]
    if drawn.labels is None:
        dots = axes.scatter(x, y, s=sizes, c=values, cmap="viridis", edgecolors="#333", linewidths=0.4, zorder=2)
        shown.colorbar(dots, label=drawn.title, shrink=0.7)
    else:
        for i, label in enumerate(drawn.labels):
            some = [p for p, value in enumerate(values) if value == i]
            axes.scatter(
                [x[p] for p in some], [y[p] for p in some], s=[sizes[p] for p in some], color=EIGHT[i % len(EIGHT)],
                edgecolors="#333", linewidths=0.4, zorder=2, label=label,
            )  # fmt: skip
        legend = axes.legend(fontsize=6, title=drawn.title, title_fontsize=6, frameon=False, bbox_to_anchor=(1, 1))
        for text in legend.get_texts():
            text.set_parse_math(False)
        for handle in legend.legend_handles:
            handle.set_sizes([20])
    if len(drawn.nodes) <= 3 * MOST_NAMES:
        for node, ink in zip(drawn.nodes, drawn.inks, strict=True):
            axes.text(
                node.x,
                -node.y,
                node.cluster,
                ha="center",
                va="center",
                fontsize=5,
                color=ink,
                parse_math=False,
                zorder=3,
            )
    axes.set_yticks([-i for i in range(len(drawn.columns))], drawn.columns, fontsize=7, parse_math=False)
    axes.set_xticks([])
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)
    return shown
