"""Figures by plotly."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.results import Alternatives
from congruence.comparison.pair import Comparison
from congruence.comparison.presenting import number
from congruence.comparison.results import AllPairs
from congruence.consensus_clustering.results import Consensus
from congruence.figures.cards import cards_of
from congruence.figures.layout import (
    EIGHT,
    MOST_FLOWS,
    MOST_NAMES,
    MOST_VALUES,
    Alluvial,
    alluvial_of,
    arranged,
    curve_title,
    ensemble_parts,
    error_bars,
    flow_between,
    steps,
    views,
)
from congruence.inputs.ensemble import Ensemble
from congruence.selection.choice import KChoice
from congruence.typing import ClusteringLike, Figure, PointsLike


def draw_pairs(result: AllPairs, measure: str | None = None) -> Figure:
    """The matrix of a measure in the order of its tree, with the tree."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    m, tree, values, names = arranged(result, measure)
    shown = make_subplots(rows=2, cols=1, row_heights=[0.16, 0.84], vertical_spacing=0.01, shared_xaxes=True)
    x: list[float | None] = []
    y: list[float | None] = []
    for left, right, low_left, low_right, top in tree.branches.tolist():
        x += [left, left, right, right, None]
        y += [low_left, top, top, low_right, None]
    shown.add_trace(
        go.Scatter(x=x, y=y, mode="lines", line={"color": "#777", "width": 1}, hoverinfo="skip"), row=1, col=1
    )
    hover = "%{customdata[0]}<br>%{customdata[1]}<br>" + m.key + " %{z:.4f}<extra></extra>"
    both = np.array([[[escaped(a), escaped(b)] for b in names] for a in names])
    places = list(range(len(names)))
    shown.add_trace(
        go.Heatmap(
            x=places, y=places, z=values, customdata=both, hovertemplate=hover, colorscale="Viridis",
            reversescale=m.better == "lower", colorbar={"title": m.key, "len": 0.84, "y": 0.42},
            texttemplate="%{z:.2f}" if len(names) <= MOST_VALUES else None,
        ),
        row=2, col=1,
    )  # fmt: skip
    few = len(names) <= MOST_NAMES
    ticks = {"tickvals": places, "ticktext": [escaped(n) for n in names]} if few else {"showticklabels": False}
    shown.update_xaxes(showgrid=False, zeroline=False)
    shown.update_xaxes(row=1, col=1, showticklabels=False)
    shown.update_xaxes(row=2, col=1, **ticks)
    shown.update_yaxes(row=2, col=1, autorange="reversed", **ticks)
    shown.update_yaxes(row=1, col=1, visible=False)
    title = f"{m.title}: {len(names)} clusterings ({m.better} is better)"
    shown.update_layout(title=title, template="plotly_white", showlegend=False, width=760, height=800)
    return shown


def draw_flow(result: Comparison, most: int = MOST_FLOWS) -> Figure:
    """The flow between the clusters of two clusterings."""
    shown, tall = _sankey(flow_between(result, most))
    a, b = (escaped(name) for name in result.names)
    first = next(iter(result), None)
    said = f", {first} {number(result[first])}" if first is not None else ""
    edge = {"l": 40, "r": 40, "t": 60, "b": 20}
    shown.update_layout(title=f"{a} (left) and {b} (right){said}", width=760, height=int(tall) + 80, margin=edge)
    return shown


def draw_alluvial(e: Ensemble) -> Figure:
    """The flow of points through the members of an ensemble, from left to right."""
    a = alluvial_of(e)
    shown, tall = _sankey(a)
    for c, name in enumerate(a.titles):
        shown.add_annotation(
            x=c / (len(a.titles) - 1), y=1.06, xref="paper", yref="paper", text=escaped(name), showarrow=False
        )
    shown.update_layout(width=max(760, 240 * len(a.names)), height=int(tall) + 100)
    return shown


def _sankey(a: Alluvial) -> tuple[Figure, float]:
    """The flow between neighbours of several clusterings, and its height."""
    from plotly import graph_objects as go

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
    shown.update_layout(template="plotly_white")
    return shown, inside


def _faded(colour: str) -> str:
    return f"rgba({int(colour[1:3], 16)},{int(colour[3:5], 16)},{int(colour[5:7], 16)},0.4)"


def draw_ensemble(e: Ensemble, labels: ClusteringLike | None = None, kind: str = "consensus") -> Figure:
    """The consensus matrix of an ensemble, and its distribution; or the flow through its members."""
    if kind == "flow":
        return draw_alluvial(e)
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    cells, cdf, said = ensemble_parts(e, labels)
    titles = ["consensus matrix, ordered", "distribution"]
    shown = make_subplots(rows=1, cols=2, column_widths=[0.57, 0.43], horizontal_spacing=0.2, subplot_titles=titles)
    hover = "consensus %{z:.3f}<extra></extra>"
    beside = shown.layout.xaxis.domain[1] + 0.01
    shown.add_trace(
        go.Heatmap(z=cells.values, zmin=0, zmax=1, colorscale="Viridis", hovertemplate=hover, colorbar={"x": beside}),
        row=1, col=1,
    )  # fmt: skip
    x, y = steps(cdf)
    shown.add_vrect(x0=0.1, x1=0.9, fillcolor="#888", opacity=0.12, line_width=0, row=1, col=2)
    shown.add_trace(go.Scatter(x=x, y=y, mode="lines", line={"color": EIGHT[0]}), row=1, col=2)
    shown.update_xaxes(row=1, col=1, showticklabels=False, constrain="domain")
    shown.update_yaxes(row=1, col=1, showticklabels=False, autorange="reversed", scaleanchor="x", constrain="domain")
    shown.update_xaxes(row=1, col=2, title="consensus of two points")
    shown.update_yaxes(row=1, col=2, title=f"share of {'the' if cdf.is_exact else 'sampled'} pairs", range=[0, 1])
    title = f"{said}; certainty {e.certainty():.3f}, ambiguous pairs {cdf.pac():.1%}"
    shown.update_layout(title=title, template="plotly_white", showlegend=False, width=980, height=520)
    return shown


def draw_choice(choice: KChoice) -> Figure:
    """One curve per criterion over the number of clusters."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    curves = choice.curves
    across = min(3, max(1, len(curves)))  # no criterion applies: empty axes below the headline
    down = -(-max(1, len(curves)) // across)
    shown = make_subplots(rows=down, cols=across, subplot_titles=[curve_title(c) for c in curves])
    for place, c in enumerate(curves):
        at = {"row": place // across + 1, "col": place % across + 1}
        below, above = error_bars(c)
        errors = {"array": above, "arrayminus": below, "visible": not np.isnan(c.errors).all()}
        shown.add_trace(
            go.Scatter(x=choice.ks, y=c.values, error_y=errors, name=c.name, line={"color": EIGHT[0]}), **at
        )
        if c.best is not None:
            top = [c.values[choice.ks.index(c.best)]]
            mark = {"size": 13, "symbol": "diamond", "color": EIGHT[5] if c.votes else EIGHT[7]}
            shown.add_trace(go.Scatter(x=[c.best], y=top, mode="markers", marker=mark, name=f"{c.name} best"), **at)
    shown.update_xaxes(tickvals=list(choice.ks))
    shown.update_layout(showlegend=False, height=120 + 260 * down, title=choice.headline, template="plotly_white")
    return shown


def draw_cards(found: Consensus, data: PointsLike = None) -> Figure:
    """A card per cluster: its size, its votes, and the features that distinguish it."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    drawn = cards_of(found, data)
    across = min(3, len(drawn.cards))
    down = -(-len(drawn.cards) // across)
    titles = [f"<b>{card.title}</b><br><sub>{card.line}</sub>" for card in drawn.cards]
    shown = make_subplots(
        rows=down, cols=across, subplot_titles=titles, shared_xaxes="all", horizontal_spacing=0.16,
        vertical_spacing=min(0.3, 0.6 / down),
    )  # fmt: skip
    for place, card in enumerate(drawn.cards):
        names, values = [escaped(name) for name, _ in card.bars], [value for _, value in card.bars]
        at = {"row": place // across + 1, "col": place % across + 1}
        bar = {"color": EIGHT[card.cluster % 7]}
        shown.add_trace(go.Bar(x=values, y=names, orientation="h", marker=bar, name=card.title), **at)
        if place >= len(drawn.cards) - across:
            shown.update_xaxes(title=drawn.axis, **at)
    shown.update_yaxes(autorange="reversed", type="category")
    shown.update_layout(
        template="plotly_white",
        showlegend=False,
        title=drawn.headline,
        width=330 * across + 60,
        height=130 + 200 * down,
    )
    return shown


def draw_alternatives(found: Alternatives) -> Figure:
    """The data, coloured by the given clusterings and by each alternative."""
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    X, shown_views = views(found)
    shown = make_subplots(
        rows=1, cols=len(shown_views), subplot_titles=[escaped(name) for name, _ in shown_views], shared_yaxes=True
    )
    for place, (_, codes) in enumerate(shown_views):
        marks = {"color": [EIGHT[c % 8] for c in codes.tolist()], "size": 6 if len(X) < 2000 else 3}
        hover = "cluster %{customdata}<extra></extra>"
        shown.add_trace(
            go.Scattergl(x=X[:, 0], y=X[:, 1], mode="markers", marker=marks, customdata=codes, hovertemplate=hover),
            row=1, col=place + 1,
        )  # fmt: skip
    shown.update_layout(template="plotly_white", showlegend=False, width=max(420, 400 * len(shown_views)), height=420)
    return shown


def escaped(text: str) -> str:
    """A name as text: plotly reads some markup in labels."""
    from html import escape

    return escape(text, quote=False)
