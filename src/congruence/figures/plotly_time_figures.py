"""Figures of steps and windows by plotly."""

from __future__ import annotations

import numpy as np

from congruence.figures.plotly_figures import escaped
from congruence.figures.track_flow import labels_of, lanes_of
from congruence.statistics.tables import Array
from congruence.tracking.results import Tracks
from congruence.typing import Figure


def draw_tracks(t: Tracks) -> Figure:
    """The flow of points over the steps, with one colour per lasting name."""
    from plotly import graph_objects as go

    lanes, n = lanes_of(t), len(t.steps)
    shown = go.Figure()
    for lane in lanes:
        for outlines, opacity in ((lane.bands, 0.35), (lane.bars(), 1.0)):
            x, y = _outlines(outlines)
            shown.add_scatter(
                x=x, y=y, mode="lines", fill="toself", fillcolor=lane.colour, opacity=opacity, line={"width": 0},
                hoverinfo="skip",
            )  # fmt: skip
        middle = [y + h / 2 for y, h in zip(lane.tops, lane.heights, strict=True)]
        hover = "<b>" + escaped(lane.name) + "</b><br>%{customdata[0]}: %{customdata[1]:,.6g} points<extra></extra>"
        at = [[escaped(t.steps[i]), size] for i, size in zip(lane.steps, lane.sizes, strict=True)]
        shown.add_scatter(
            x=lane.steps, y=middle, mode="markers", marker={"color": lane.colour, "size": 9, "opacity": 0},
            customdata=at, hovertemplate=hover,
        )  # fmt: skip
    for at_x, at_y, name, right in labels_of(lanes, n, 0.018):
        shown.add_annotation(
            x=at_x, y=at_y, text=escaped(name), showarrow=False, xanchor="left" if right else "right", font={"size": 11}
        )
    width = 160 + max(600, min(110 * n, 1600))
    ticks = [escaped(name) for name in t.steps]
    shown.update_xaxes(
        tickvals=list(range(n)), ticktext=ticks, showgrid=False, zeroline=False, side="top", range=[-0.6, n - 0.4]
    )
    shown.update_yaxes(autorange="reversed", visible=False)
    shown.update_layout(
        template="plotly_white", showlegend=False, width=width, height=620, margin={"l": 60, "r": 60, "t": 90, "b": 20},
        title=f"{len({x for names in t.names for x in names}):,} clusters over {n} steps",
    )  # fmt: skip
    return shown


def _outlines(polygons: list[Array] | tuple[Array, ...]) -> tuple[list[float | None], list[float | None]]:
    """Closed outlines as one line with gaps."""
    x: list[float | None] = []
    y: list[float | None] = []
    for polygon in polygons:
        closed = np.column_stack([polygon, polygon[:, :1]]).round(5)
        x += [*closed[0].tolist(), None]
        y += [*closed[1].tolist(), None]
    return x, y
