"""Figures of steps and windows by matplotlib, for papers."""

from __future__ import annotations

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
