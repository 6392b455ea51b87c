"""Figures of steps and windows by matplotlib, for papers."""

from __future__ import annotations

from congruence.density.changes import Drift
from congruence.figures.drift_picture import drift_picture
from congruence.figures.layout import EIGHT
from congruence.figures.matplotlib_figures import canvas
from congruence.figures.track_flow import labels_of, lanes_of
from congruence.tracking.results import Tracks
from congruence.typing import Figure


def draw_tracks(t: Tracks) -> Figure:
    """The flow of points over the steps, with one colour per lasting name."""
    from matplotlib.collections import PolyCollection

    lanes, n = lanes_of(t), len(t.steps)
    shown = canvas(1.2 + max(5.0, min(0.9 * n, 14.0)), 4.8)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    for lane in lanes:
        for outlines, opacity in ((lane.bands, 0.35), (lane.bars(), 1.0)):
            axes.add_collection(
                PolyCollection([x.T for x in outlines], facecolor=lane.colour, alpha=opacity, linewidth=0)
            )
    for x, y, name, right in labels_of(lanes, n, 0.018):
        axes.text(
            x + (0.04 if right else -0.04),
            y,
            name,
            ha="left" if right else "right",
            va="center",
            fontsize=7,
            parse_math=False,
        )
    axes.set_xlim(-0.6, n - 0.4)
    axes.set_ylim(max(max(y + h for y, h in zip(x.tops, x.heights, strict=True)) for x in lanes) + 0.02, -0.02)
    axes.set_xticks(range(n), t.steps, rotation=90 if n > 12 else 0, fontsize=7, parse_math=False)
    axes.xaxis.tick_top()
    axes.yaxis.set_visible(False)
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    return shown


def draw_drift(drift: Drift) -> Figure:
    """Agreement of each window with the previous and with the first, alarms, and the evidence per cluster and feature."""
    drawn = drift_picture(drift)
    deep = 0.5 + 0.16 * len(drawn.rows)
    shown = canvas(6.4, 2.6 + deep)
    top, below = shown.subplots(2, 1, height_ratios=[2.4, deep], sharex=True)
    x = range(len(drawn.windows))
    top.axhspan(*drawn.band, color="#888", alpha=0.25, linewidth=0, label="no change")
    top.plot(x, drawn.previous, color=EIGHT[0], marker="o", markersize=4, label="with the previous window")
    top.plot(x, drawn.first, color=EIGHT[5], marker="s", markersize=4, linestyle="--", label="with the reference")
    for w in drawn.alarms:
        top.axvspan(w - 0.5, w + 0.5, color=EIGHT[5], alpha=0.15, linewidth=0)
    top.set_ylabel(drift.measure)
    top.legend(frameon=False, fontsize=7)
    image = below.imshow(drawn.cells, cmap="viridis_r", aspect="auto", vmin=0, interpolation="nearest")
    below.set_yticks(range(len(drawn.rows)), drawn.rows, fontsize=6, parse_math=False)
    step = max(1, len(drawn.windows) // 30)
    ticks = list(x)[::step]
    below.set_xticks(ticks, drawn.windows[::step], rotation=90 if len(ticks) > 8 else 0, fontsize=7, parse_math=False)
    shown.colorbar(image, ax=below, label="−log10 p", shrink=0.9)
    shown.suptitle(drift.sentence, fontsize=8, parse_math=False)
    return shown
