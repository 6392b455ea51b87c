"""Marks drawn by plotly."""

from __future__ import annotations

from functools import partial, singledispatch
from html import escape

import numpy as np
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from congruence.figures.marks import Axis, Band, Bars, Dots, Flow, Heat, Line, Mark, Panel, Picture, Shapes, Span, Texts
from congruence.typing import Figure, OptionValue

#: pixels of plotly in a point of matplotlib
PIXELS = 4 / 3
#: more dots than this are drawn by WebGL
MOST_DOTS = 1000


def draw(p: Picture) -> Figure:
    """A picture as a plotly figure, which is also shown by what a notebook is exported to."""
    shown = _drawn(p)
    shown._ipython_display_ = partial(_display, shown)
    return shown


def _display(shown: Figure) -> None:
    """Show a figure in a notebook: with HTML besides plotly's own type, which exports cannot draw, unless the user chose how."""
    from plotly import io

    chosen = io.renderers.default
    io.show(shown, renderer=f"{chosen}+notebook_connected" if chosen == "plotly_mimetype" else chosen)


def _drawn(p: Picture) -> Figure:
    names = sum(1 for panel in p.panels for mark in panel.marks if mark.name)
    titled: dict[str, OptionValue] = {"title": {"text": escaped(p.title)}} if p.title else {}
    if p.note:
        titled = {"title": {"text": f"{escaped(p.title)}<br><sub>{escaped(p.note)}</sub>", "font": {"size": 14}}}
    across = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0} if names <= 3 and not p.note else {}
    legend = {"title": {"text": escaped(p.legend or "")}, **across}
    look = {"template": "plotly_white", "showlegend": p.legend is not None, "legend": legend, "width": p.width}
    first = next(iter(p.panels[0].marks), None)
    if isinstance(first, Flow):
        return _sankey(first).update_layout(**look, **titled, height=p.height)
    shown = make_subplots(
        rows=p.down, cols=p.across, row_heights=p.heights, column_widths=p.widths,
        subplot_titles=[_title(panel) for panel in p.panels] if any(panel.title for panel in p.panels) else None,
        shared_xaxes="all" if p.shared == "x" else False, shared_yaxes="all" if p.shared == "y" else False,
        **({"horizontal_spacing": p.gaps[0], "vertical_spacing": p.gaps[1]} if p.gaps is not None else {}),
    )  # fmt: skip
    for place, panel in enumerate(p.panels):
        at = {"row": place // p.across + 1, "col": place % p.across + 1}
        axes = shown.get_subplot(**at)
        for mark in panel.marks:
            if isinstance(mark, Span):
                look_of_span = {"fillcolor": mark.color, "opacity": mark.opacity, "line_width": 0}
                ends = {"y0": mark.low, "y1": mark.high} if mark.is_y else {"x0": mark.low, "x1": mark.high}
                add = shown.add_hrect if mark.is_y else shown.add_vrect
                add(**ends, **look_of_span, exclude_empty_subplots=False, **at)
                continue
            trace = _trace(mark)
            trace.update(name=escaped(mark.name) or None, showlegend=p.legend is not None and bool(mark.name))
            if mark.hover:
                trace.update(hovertemplate=mark.hover + "<extra></extra>")
            else:
                trace.update(hoverinfo="skip")
            if mark.notes is not None:
                trace.update(customdata=_escaped_all(mark.notes))
            if isinstance(mark, Heat):
                x, y = axes.xaxis.domain, axes.yaxis.domain
                trace.colorbar.update(x=x[1] + 0.01, y=(y[0] + y[1]) / 2, len=y[1] - y[0])
            shown.add_trace(trace, **at)
        heats = [mark for mark in panel.marks if isinstance(mark, Heat)]
        axes.xaxis.update(_axis(panel.x, any(heat.columns for heat in heats)))
        axes.yaxis.update(_axis(panel.y, any(heat.rows for heat in heats)))
        if panel.is_square:
            axes.xaxis.update(constrain="domain")
            axes.yaxis.update(scaleanchor=axes.yaxis.anchor, constrain="domain")
    return shown.update_layout(**look, **titled, height=p.height)


def escaped(text: str) -> str:
    """A name as text: plotly reads some markup in labels. A new line is a line break."""
    return escape(text, quote=False).replace("\n", "<br>")


def _escaped_all(notes: object) -> object:
    if isinstance(notes, list):
        return [_escaped_all(note) for note in notes]
    return escaped(notes) if isinstance(notes, str) else notes


def _title(panel: Panel) -> str:
    first, _, second = escaped(panel.title).partition("<br>")
    return f"<b>{first}</b><br><sub>{second}</sub>" if second else first


def _axis(axis: Axis, are_names: bool) -> dict[str, OptionValue]:
    found: dict[str, OptionValue] = {"visible": not axis.is_hidden}
    if axis.title:
        found["title"] = escaped(axis.title)
    if axis.ticks is not None:
        places, names = axis.ticks
        found |= {"tickvals": list(places), "ticktext": [escaped(name) for name in names]}
    if are_names:
        found["type"] = "category"
    if axis.is_log:
        found["type"] = "log"
    if not axis.has_grid:
        found |= {"showgrid": False, "zeroline": False}
    if axis.ends is not None:
        found["range"] = list(axis.ends)
    elif axis.is_reversed:
        found["autorange"] = "reversed"
    return found | ({"side": "top"} if axis.is_at_top else {})


@singledispatch
def _trace(mark: Mark) -> Figure:
    raise NotImplementedError(type(mark).__name__)


@_trace.register
def _(mark: Line) -> Figure:
    errors = {"array": mark.errors[1], "arrayminus": mark.errors[0]} if mark.errors is not None else None
    return go.Scatter(
        x=mark.x, y=mark.y, mode="lines+markers" if mark.has_dots else "lines", opacity=mark.opacity, error_y=errors,
        line={"color": mark.color, "width": mark.width * PIXELS, "dash": "dot" if mark.is_dotted else "solid"},
    )  # fmt: skip


@_trace.register
def _(mark: Dots) -> Figure:
    marker: dict[str, OptionValue] = {
        "color": list(mark.color), "size": mark.size, "opacity": mark.opacity,
        "symbol": "diamond" if mark.is_diamond else "circle",
    }  # fmt: skip
    if mark.has_outline:
        marker["line"] = {"color": "#333", "width": 0.5}
    if mark.scale:
        marker |= {"colorscale": "Viridis", "showscale": True, "colorbar": _colorbar(mark.scale)}
    if not mark.texts:
        kind = go.Scattergl if len(mark.x) > MOST_DOTS else go.Scatter
        return kind(x=mark.x, y=mark.y, mode="markers", marker=marker)
    texts = {"text": [escaped(text) for text in mark.texts], "textfont": {"size": 9, "color": list(mark.inks)}}
    return go.Scatter(x=mark.x, y=mark.y, mode="markers+text", marker=marker, **texts)


@_trace.register
def _(mark: Texts) -> Figure:
    return go.Scatter(
        x=mark.x, y=mark.y, mode="text", text=[escaped(text) for text in mark.texts], cliponaxis=False,
        textposition="middle left" if mark.is_left else "middle right", textfont={"size": mark.size + 4},
    )  # fmt: skip


@_trace.register
def _(mark: Heat) -> Figure:
    down, across = mark.values.shape
    low, high = mark.limits or (None, None)
    return go.Heatmap(
        x=[escaped(name) for name in mark.columns] or np.arange(across), zmin=low, zmax=high, z=mark.values,
        y=[escaped(name) for name in mark.rows] or np.arange(down), colorscale="Viridis", reversescale=mark.is_reversed,
        colorbar=_colorbar(mark.scale), texttemplate="%{z:.2f}" if mark.has_values else None,
    )  # fmt: skip


def _colorbar(title: str) -> dict[str, OptionValue]:
    return {"title": {"text": escaped(title), "side": "right"}}


@_trace.register
def _(mark: Band) -> Figure:
    x, y = np.concatenate([mark.x, mark.x[::-1]]), np.concatenate([mark.high, mark.low[::-1]])
    return go.Scatter(x=x, y=y, fill="toself", fillcolor="rgba(120,120,120,0.2)", line={"width": 0}, mode="lines")


@_trace.register
def _(mark: Bars) -> Figure:
    return go.Bar(x=list(mark.values), y=list(mark.places), orientation="h", marker={"color": mark.color})


@_trace.register
def _(mark: Shapes) -> Figure:
    x: list[float | None] = []
    y: list[float | None] = []
    for outline in mark.outlines:
        closed = np.column_stack([outline, outline[:, :1]]).round(5)
        x += [*closed[0].tolist(), None]
        y += [*closed[1].tolist(), None]
    fill = {"fill": "toself", "fillcolor": mark.color}
    return go.Scatter(x=x, y=y, mode="lines", line={"width": 0}, opacity=mark.opacity, **fill)


def _sankey(flow: Flow) -> Figure:
    """The flow between neighbours of several clusterings."""
    a = flow.alluvial
    start = np.concatenate([[0], np.cumsum([len(names) for names in a.names])])
    pad, room, last = 14, 260.0, len(a.names) - 1
    inside = room + pad * (max(len(names) for names in a.names) - 1)  # bars of total height `room`, `pad` between them
    x, y = [], []
    for c, names in enumerate(a.names):
        sums = a.counts[c].sum(axis=1) if c < last else a.counts[c - 1].sum(axis=0)
        heights = sums / (float(sums.sum()) or 1.0) * room
        y += np.clip((np.cumsum(heights + pad) - pad - heights / 2) / inside, 0.001, 0.999).tolist()
        x += [min(max(c / last, 0.001), 0.999)] * len(names)
    source, target, value, colour = [], [], [], []
    for c, counts in enumerate(a.counts):
        i, j = np.nonzero(counts)
        source += (start[c] + i).tolist()
        target += (start[c + 1] + j).tolist()
        value += counts[i, j].tolist()
        colour += [_faded(a.colours[c][k]) for k in i.tolist()]
    node = {
        "label": [escaped(name) for names in a.names for name in names], "color": [x for c in a.colours for x in c],
        "pad": pad, "thickness": 12, "x": x, "y": y,
    }  # fmt: skip
    link = {"source": source, "target": target, "value": value, "color": colour}
    shown = go.Figure(go.Sankey(arrangement="fixed", textfont={"size": 11}, node=node, link=link))
    shown.update_layout(margin={"l": 40, "r": 40, "t": 60, "b": 20})
    for c, name in enumerate(a.titles if last > 1 else ()):
        shown.add_annotation(x=c / last, y=1.06, xref="paper", yref="paper", text=escaped(name), showarrow=False)
    return shown


def _faded(colour: str) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:7], 16)},0.4)"
