"""Figures of hierarchies and sweeps by plotly."""

from __future__ import annotations

import numpy as np

from congruence.figures.layout import EIGHT
from congruence.figures.plotly_figures import escaped
from congruence.hierarchies.curves import CutCurve
from congruence.hierarchies.cut_tables import CutTable
from congruence.hierarchies.sweep import Resolutions
from congruence.hierarchies.sweep_layout import Node
from congruence.hierarchies.sweep_picture import sweep_picture
from congruence.hierarchies.tangling import Tanglegram
from congruence.typing import ColumnLike, Figure, OptionValue

#: most points or clusters with names in a figure, and most cells with their values
MOST_NAMES, MOST_CELLS = 80, 150


def draw_curve(curve: CutCurve) -> Figure:
    """The measure by number of clusters, with the band of chance."""
    from plotly import graph_objects as go

    shown = go.Figure()
    if curve.band is not None and curve.mean is not None:
        low, high = curve.band
        shown.add_scatter(
            x=[*curve.ks.tolist(), *curve.ks[::-1].tolist()], y=[*high.tolist(), *low[::-1].tolist()], fill="toself",
            fillcolor="rgba(120,120,120,0.2)", line={"width": 0}, hoverinfo="skip", name="chance, mean ± 2 sd",
        )  # fmt: skip
        shown.add_scatter(
            x=curve.ks, y=curve.mean, mode="lines", line={"color": "#777", "dash": "dot"}, name="mean under chance"
        )
    few = len(curve) <= MOST_NAMES
    shown.add_scatter(
        x=curve.ks, y=curve.values, mode="lines+markers" if few else "lines", line={"color": EIGHT[0]}, name=curve.measure.key,
        hovertemplate="k = %{x}<br>" + curve.measure.key + " %{y:.4f}<extra></extra>",
    )  # fmt: skip
    shown.update_layout(
        template="plotly_white", title=f"{curve.measure.title} at each number of clusters", width=760, height=440
    )
    shown.update_xaxes(title="number of clusters", type="linear" if few else "log")
    shown.update_yaxes(title=curve.measure.key)
    return shown


def draw_table(table: CutTable) -> Figure:
    """The heat map of two trees' cuts."""
    from plotly import graph_objects as go

    m = table.measure
    shown = go.Figure(
        go.Heatmap(
            x=[str(k) for k in table.ks_b], y=[str(k) for k in table.ks_a], z=table.values, colorscale="Viridis",
            reversescale=m.better == "lower", colorbar={"title": m.key},
            texttemplate="%{z:.2f}" if table.values.size <= MOST_CELLS else None,
            hovertemplate="a: k = %{y}<br>b: k = %{x}<br>" + m.key + " %{z:.4f}<extra></extra>",
        )
    )  # fmt: skip
    shown.update_layout(
        template="plotly_white", title=f"{m.title} of cuts ({m.better} is better)", width=640, height=560
    )
    shown.update_xaxes(title="clusters of b", type="category")
    shown.update_yaxes(title="clusters of a", type="category", autorange="reversed")
    return shown


def draw_tangle(tangle: Tanglegram) -> Figure:
    """A tanglegram: two trees, with lines between the same points."""
    from plotly import graph_objects as go

    shown = go.Figure()
    for side, begin, sign in (("a", 0.0, 1.0), ("b", 3.0, -1.0)):
        x: list[float | None] = []
        y: list[float | None] = []
        lines = tangle.segments(side)
        top = max(float(lines[:, [1, 3]].max(initial=0.0)), 1e-300)
        for p, low, q, high in lines.tolist():
            x += [begin + sign * (1 - low / top), begin + sign * (1 - high / top), None]
            y += [p, q, None]
        shown.add_scatter(x=x, y=y, mode="lines", line={"color": "#444", "width": 1}, hoverinfo="skip")
    place = np.empty(len(tangle.order_b), dtype=np.int64)
    place[tangle.order_b] = np.arange(len(place))
    left: list[float | None] = []
    right: list[float | None] = []
    n = tangle.a.n_points
    gap = 0.25 if n <= MOST_NAMES else 0.02  # room for the names
    for i, point in enumerate(tangle.order_a.tolist()):
        left += [1 + gap, 2 - gap, None]
        right += [i, int(place[point]), None]
    shown.add_scatter(
        x=left, y=right, mode="lines", line={"color": EIGHT[0], "width": 1}, opacity=0.5, hoverinfo="skip"
    )
    names = [str(x) for x in (range(n) if tangle.a.points is None else tangle.a.points)]
    if n <= MOST_NAMES:
        for order, at, side in ((tangle.order_a, 1.0, "middle right"), (tangle.order_b, 2.0, "middle left")):
            shown.add_scatter(
                x=[at] * n, y=list(range(n)), mode="text", text=[escaped(names[i]) for i in order.tolist()],
                textposition=side, textfont={"size": 9},
                hoverinfo="skip",
            )  # fmt: skip
    shown.update_layout(
        template="plotly_white", showlegend=False, width=900, height=max(400, min(1600, 12 * n)),
        title=f"{n} points, {tangle.crossings:,} crossings ({tangle.entanglement:.1%} of the pairs)",
    )  # fmt: skip
    shown.update_xaxes(visible=False)
    shown.update_yaxes(visible=False)
    return shown


def draw_sweep(r: Resolutions, color: ColumnLike = "stability", least: float = 0.1) -> Figure:
    """The tree of clusters: a layer per column, with edge widths by in_prop."""
    from plotly import graph_objects as go

    drawn = sweep_picture(r, color, least)
    total = max(r.ensemble.n_points, 1)
    shown = go.Figure()
    for strength in range(1, 6):  # plotly has one width per trace
        some = [e for e in drawn.edges if min(int(e.in_prop * 5) + 1, 5) == strength]
        x = [v for e in some for v in (drawn.nodes[e.first].x, drawn.nodes[e.second].x, None)]
        y = [v for e in some for v in (-drawn.nodes[e.first].y, -drawn.nodes[e.second].y, None)]
        line = {"color": f"rgba(90,90,90,{0.15 + 0.15 * strength:.2f})", "width": 0.5 + 0.8 * strength}
        shown.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    shown.add_scatter(  # a small mark in the middle of each edge carries its numbers
        x=[(drawn.nodes[e.first].x + drawn.nodes[e.second].x) / 2 for e in drawn.edges],
        y=[-(drawn.nodes[e.first].y + drawn.nodes[e.second].y) / 2 for e in drawn.edges],
        mode="markers", marker={"size": 8, "opacity": 0}, showlegend=False,
        hovertext=[f"{e.count:,} points<br>in_prop {e.in_prop:.3f}<br>out_prop {e.out_prop:.3f}" for e in drawn.edges],
        hoverinfo="text",
    )  # fmt: skip
    groups: list[tuple[str | None, list[Node]]] = [(None, list(drawn.nodes))]
    if drawn.labels is not None:
        groups = [
            (escaped(label), [node for node in drawn.nodes if node.value == i]) for i, label in enumerate(drawn.labels)
        ]
    for place, (label, nodes) in enumerate(groups):
        marker: dict[str, OptionValue] = {
            "size": [10 + 40 * (node.size / total) ** 0.5 for node in nodes], "line": {"color": "#333", "width": 0.5},
            "color": EIGHT[place % len(EIGHT)], "opacity": 1,
        }  # fmt: skip
        if label is None:
            marker |= {
                "color": [node.value for node in nodes], "colorscale": "Viridis", "showscale": True,
                "colorbar": {"title": escaped(drawn.title)},
            }  # fmt: skip
        if nodes:
            shown.add_scatter(
                x=[node.x for node in nodes], y=[-node.y for node in nodes], mode="markers+text", marker=marker,
                text=[escaped(node.cluster) for node in nodes] if len(drawn.nodes) <= 3 * MOST_NAMES else None,
                textfont={"size": 9, "color": "black" if label is not None else list(drawn.inks)}, name=label or drawn.title,
                showlegend=label is not None, hoverinfo="text",
                hovertext=[
                    f"{escaped(node.column)}, cluster {escaped(node.cluster)}<br>{node.size:,} points<br>"
                    f"stability {node.stability:.3f}<br>{escaped(node.text)}"
                    for node in nodes
                ],
            )  # fmt: skip
    hidden = f"; {drawn.n_hidden} edges with in_prop below {least:g} left out" if drawn.n_hidden else ""
    shown.update_layout(
        template="plotly_white", width=900, height=max(400, 70 * len(drawn.columns)),
        title={"text": escaped(r.sentence) + f"<br><sub>colour: {escaped(drawn.title)}{hidden}</sub>", "font": {"size": 14}},
    )  # fmt: skip
    shown.update_xaxes(visible=False)
    shown.update_yaxes(
        tickvals=[-i for i in range(len(drawn.columns))], ticktext=[escaped(name) for name in drawn.columns], showgrid=False,
        zeroline=False,
    )  # fmt: skip
    return shown
