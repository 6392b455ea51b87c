"""Marks drawn by matplotlib, for papers."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.figure import Figure as MatplotlibFigure
from matplotlib.patches import Polygon, Rectangle

from congruence.figures.marks import Band, Bars, Dots, Flow, Heat, Line, Mark, Panel, Picture, Shapes, Span, Texts
from congruence.typing import Figure

#: points across a dot of plotly's pixels
DOT = 0.5


def draw(p: Picture) -> Figure:
    """A picture as a new matplotlib figure: no window, no global state."""
    shown = MatplotlibFigure(figsize=p.paper, layout="constrained")
    places = shown.subplots(
        p.down, p.across, squeeze=False, sharex=p.shared == "x", sharey=p.shared == "y", height_ratios=p.heights,
        width_ratios=p.widths,
    )  # fmt: skip
    for place, axes in enumerate(places.ravel()):
        if place >= len(p.panels):
            axes.set_axis_off()
            continue
        panel = p.panels[place]
        for mark in panel.marks:
            drawn = _drawn(mark, axes)
            if isinstance(mark, Heat | Dots) and mark.scale:
                shown.colorbar(drawn, ax=list(places[:, place % p.across]), label=mark.scale, shrink=0.8)
        _set_axes(axes, panel, p.paper[0] / p.across)
    if p.is_titled:
        shown.suptitle(p.title, fontsize=9, parse_math=False)
    if p.legend is not None:
        _add_legend(shown, places[0, 0], p.legend)
    return shown


def _set_axes(axes: Figure, panel: Panel, wide: float) -> None:
    """The title and the axes of a panel that is so many inches wide."""
    if panel.title:
        axes.set_title(panel.title, fontsize=7 if "\n" in panel.title else 8, parse_math=False)
    for axis, own in ((axes.xaxis, panel.x), (axes.yaxis, panel.y)):
        is_x = axis is axes.xaxis
        axis.set_label_text(own.title, fontsize=8)
        axis.set_tick_params(labelsize=7)
        if own.is_log:
            (axes.set_xscale if is_x else axes.set_yscale)("log")
        if own.ticks is not None:
            at, names = own.ticks
            turned = 90 if is_x and sum(len(name) for name in names) > 12 * wide else 0
            axis.set_ticks(list(at), list(names), rotation=turned, fontsize=7, parse_math=False)
        if own.is_reversed and not axis.get_inverted():
            axis.set_inverted(True)
        if own.ends is not None:
            (axes.set_xlim if is_x else axes.set_ylim)(*own.ends)
        if own.is_at_top:
            axis.tick_top()
        axis.set_visible(not own.is_hidden)
        if not own.has_grid:
            axis.set_tick_params(length=0)
    if panel.x.is_hidden and panel.y.is_hidden:
        axes.set_axis_off()
    elif not (panel.x.has_grid and panel.y.has_grid):
        for side in axes.spines.values():
            side.set_visible(False)


def _add_legend(shown: Figure, axes: Figure, title: str) -> None:
    many = len(axes.get_legend_handles_labels()[1])
    if many <= 3:
        legend = shown.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=many, title=title or None)
    else:
        legend = axes.legend(
            frameon=False, fontsize=6, title=title, title_fontsize=6, bbox_to_anchor=(1, 1), loc="upper left"
        )
    for text in (*legend.get_texts(), legend.get_title()):
        text.set_parse_math(False)
    for handle in legend.legend_handles:
        if isinstance(handle, PathCollection):
            handle.set_sizes([20])


@singledispatch
def _drawn(mark: Mark, axes: Figure) -> Figure:
    raise NotImplementedError(type(mark).__name__)


@_drawn.register
def _(mark: Line, axes: Figure) -> Figure:
    look = {"color": mark.color, "linewidth": mark.width, "alpha": mark.opacity, "zorder": 1 if mark.opacity < 1 else 2}
    look |= {"linestyle": ":" if mark.is_dotted else "-", "label": mark.name or None, "markersize": 3}
    x, y = np.asarray(mark.x, dtype=float), np.asarray(mark.y, dtype=float)
    return axes.errorbar(x, y, yerr=mark.errors, marker="o" if mark.has_dots else None, **look)


@_drawn.register
def _(mark: Dots, axes: Figure) -> Figure:
    if not mark.opacity:
        return None  # only for what plotly shows there
    outline = {"edgecolors": "#333", "linewidths": 0.4} if mark.has_outline else {"linewidths": 0}
    dots = axes.scatter(
        mark.x, mark.y, s=(DOT * np.asarray(mark.size, dtype=float)) ** 2, c=mark.color, cmap="viridis" if mark.scale else None,
        marker="D" if mark.is_diamond else "o", zorder=3, label=mark.name or None, **outline,
    )  # fmt: skip
    for x, y, text, ink in zip(mark.x, mark.y, mark.texts, mark.inks, strict=False):
        axes.text(x, y, text, ha="center", va="center", fontsize=5, color=ink, parse_math=False, zorder=4)
    return dots


@_drawn.register
def _(mark: Texts, axes: Figure) -> Figure:
    side, away = ("right", -3) if mark.is_left else ("left", 3)
    for x, y, text in zip(mark.x, mark.y, mark.texts, strict=True):
        shown = axes.annotate(
            text,
            (x, y),
            (away, 0),
            textcoords="offset points",
            ha=side,
            va="center",
            fontsize=mark.size,
            parse_math=False,
        )
        shown.set_in_layout(False)


@_drawn.register
def _(mark: Heat, axes: Figure) -> Figure:
    low, high = mark.limits or (None, None)
    image = axes.imshow(
        mark.values, vmin=low, vmax=high, cmap="viridis_r" if mark.is_reversed else "viridis", aspect="auto"
    )
    for (i, j), value in np.ndenumerate(mark.values if mark.has_values else np.empty((0, 0))):
        bright = float(np.dot(image.to_rgba(value)[:3], (0.3, 0.6, 0.1))) > 0.5
        axes.text(j, i, f"{value:z.2f}", ha="center", va="center", fontsize=7, color="black" if bright else "white")
    if mark.columns:
        axes.set_xticks(range(len(mark.columns)), mark.columns, parse_math=False)
    if mark.rows:
        axes.set_yticks(range(len(mark.rows)), mark.rows, parse_math=False)
    return image


@_drawn.register
def _(mark: Band, axes: Figure) -> Figure:
    return axes.fill_between(mark.x, mark.low, mark.high, color="#777", alpha=0.2, linewidth=0, label=mark.name or None)


@_drawn.register
def _(mark: Span, axes: Figure) -> Figure:
    return (axes.axhspan if mark.is_y else axes.axvspan)(
        mark.low, mark.high, color=mark.color, alpha=mark.opacity, linewidth=0, label=mark.name or None
    )


@_drawn.register
def _(mark: Bars, axes: Figure) -> Figure:
    return axes.barh(mark.places, mark.values, color=mark.color, label=mark.name or None)


@_drawn.register
def _(mark: Shapes, axes: Figure) -> Figure:
    outlines = [outline.T for outline in mark.outlines]
    return axes.add_collection(PolyCollection(outlines, facecolor=mark.color, alpha=mark.opacity, linewidth=0))


@_drawn.register
def _(mark: Flow, axes: Figure) -> Figure:
    a, places, wide, last = mark.alluvial, mark.places, 0.04, len(mark.places) - 1
    bend = np.linspace(0, 1, 30)
    curve = 3 * bend**2 - 2 * bend**3
    for c, counts in enumerate(a.counts):
        used_left, used_right = places[c][0].copy(), places[c + 1][0].copy()
        x = c + wide + (1 - wide) * bend
        for i, j in zip(*np.nonzero(counts), strict=True):
            tall = counts[i, j] / max(counts[i].sum(), 1e-12) * places[c][1][i]
            high = counts[i, j] / max(counts[:, j].sum(), 1e-12) * places[c + 1][1][j]
            top = used_left[i] + (used_right[j] - used_left[i]) * curve
            under = used_left[i] + tall + (used_right[j] + high - used_left[i] - tall) * curve
            used_left[i], used_right[j] = used_left[i] + tall, used_right[j] + high
            edge = np.column_stack([np.concatenate([x, x[::-1]]), np.concatenate([top, under[::-1]])])
            axes.add_patch(Polygon(edge, facecolor=a.colours[c][i], alpha=0.4, linewidth=0))
    for c, (names, (tops, heights)) in enumerate(zip(a.names, places, strict=True)):
        at, side = (c + wide + 0.02, "left") if c else (-0.02, "right")
        for k, (y, h) in enumerate(zip(tops.tolist(), heights.tolist(), strict=True)):
            axes.add_patch(Rectangle((c, y), wide, h, facecolor=a.colours[c][k], linewidth=0))
            axes.text(at, y + h / 2, names[k], ha=side, va="center", fontsize=7, parse_math=False)
        axes.text(c + wide / 2, -0.22, a.titles[c], ha="center", fontsize=9, weight="bold", parse_math=False)
    axes.set_xlim(-0.25, last + 0.3)
    axes.set_ylim(max(float((tops + heights).max()) for tops, heights in places) + 0.1, -0.4)
