"""Figures of steps and windows by plotly."""

from __future__ import annotations

import numpy as np

from congruence.density.changes import Drift
from congruence.figures.drift_picture import drift_picture
from congruence.figures.layout import EIGHT
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


def draw_drift(drift: Drift) -> Figure:
    """Agreement of each window with the previous and with the first, alarms, and the evidence per cluster and feature."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    drawn = drift_picture(drift)
    windows, rows = [escaped(w) for w in drawn.windows], [escaped(x) for x in drawn.rows]
    places = list(range(len(windows)))
    deep = 60 + 18 * len(rows)
    whole = 300 + deep
    shown = make_subplots(
        rows=2, cols=1, shared_xaxes=True, row_heights=[300 / whole, deep / whole], vertical_spacing=40 / whole,
    )  # fmt: skip
    said = ["; ".join(row.direction for row in x.moved[:3]) if x is not None else "" for x in drift.findings]
    for values, name, colour in (
        (drawn.previous, "with the previous window", EIGHT[0]), (drawn.first, "with the reference", EIGHT[5]),
    ):  # fmt: skip
        hover = f"{drift.measure} {name} %{{y:.4f}}<br>%{{customdata}}<extra></extra>"
        there = np.flatnonzero(~np.isnan(values)).tolist()
        shown.add_trace(
            go.Scatter(x=there, y=values[there], name=name, customdata=[escaped(said[w]) for w in there], hovertemplate=hover,
                       mode="lines+markers", line={"color": colour}),
            row=1, col=1,
        )  # fmt: skip
    low, high = drawn.band
    shown.add_hrect(y0=low, y1=high, fillcolor="#888", opacity=0.18, line_width=0, row=1, col=1)
    for w in drawn.alarms:
        shown.add_vrect(x0=w - 0.5, x1=w + 0.5, fillcolor=EIGHT[5], opacity=0.15, line_width=0, row=1, col=1)
    shown.add_trace(
        go.Heatmap(
            x=places, y=rows, z=drawn.cells, colorscale="Viridis", reversescale=True, zmin=0, colorbar={
                "title": "−log10 p", "len": deep / whole, "y": deep / whole / 2,
            }, hovertemplate="%{y}<br>p = 10<sup>−%{z:.1f}</sup><extra></extra>",
        ),
        row=2, col=1,
    )  # fmt: skip
    step = max(1, len(places) // 40)
    shown.update_xaxes(tickvals=places[::step], ticktext=windows[::step])
    shown.update_yaxes(row=1, col=1, title=f"{drift.measure} (grey: no change)")
    shown.update_yaxes(row=2, col=1, autorange="reversed", type="category")
    shown.update_layout(
        template="plotly_white", width=900, height=whole + 120, title=escaped(drift.sentence),
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )  # fmt: skip
    return shown
