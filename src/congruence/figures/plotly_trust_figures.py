"""Figures of what to trust, by plotly."""

from __future__ import annotations

from congruence.figures.layout import EIGHT, MOST_NAMES, VERDICTS
from congruence.figures.plotly_figures import escaped
from congruence.trust.cluster_check import ClusterCheck
from congruence.trust.ranking import Ranking
from congruence.typing import Figure


def draw_ranking(ranking: Ranking) -> Figure:
    """Agreement of each clustering with the consensus and with the others, the best first; equal ones in one colour."""
    from plotly import graph_objects as go

    rows = {name: values[:MOST_NAMES] for name, values in ranking.table_columns().items()}
    names = [escaped(name) for name in rows["clustering"]]
    places = list(range(len(names)))
    shown = go.Figure()
    colours = [EIGHT[0] if equal else EIGHT[7] for equal in rows["equal"]]
    hover = "%{customdata}<br>%{x:.4f}<extra></extra>"
    shown.add_trace(
        go.Bar(x=rows["score"], y=places, orientation="h", marker={"color": colours}, customdata=names, hovertemplate=hover,
               name="with the consensus")
    )  # fmt: skip
    shown.add_trace(
        go.Scatter(x=rows["agreement"], y=places, mode="markers", marker={"color": EIGHT[5], "size": 8}, customdata=names,
                   hovertemplate=hover, name="with the others, on average")
    )  # fmt: skip
    shown.update_yaxes(autorange="reversed", tickvals=places, ticktext=names)
    shown.update_xaxes(title="adjusted Rand index")
    title = f"best: {escaped(ranking.best)}" if ranking.best is not None else "no recommendation"
    legend = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    shown.update_layout(
        template="plotly_white", width=760, height=160 + 22 * len(names), title={"text": title, "y": 0.99, "yanchor": "top"},
        legend=legend, margin={"t": 90},
    )  # fmt: skip
    return shown


def draw_clusters(check: ClusterCheck) -> Figure:
    """How empty the border of each cluster with its nearest neighbour is, by verdict."""
    from plotly import graph_objects as go

    rows = {name: list(values)[:MOST_NAMES] for name, values in check.table_columns().items()}
    names = [escaped(str(name)) for name in rows["cluster"]]
    shown = go.Figure()
    for word, colour in VERDICTS.items():
        here = [i for i, verdict in enumerate(rows["verdict"]) if verdict == word]
        if here:
            said = [[escaped(str(rows["nearest"][i])), rows["p_value"][i], rows["size"][i]] for i in here]
            hover = "%{y}: %{customdata[2]:,} points<br>nearest %{customdata[0]}<br>valley %{x:.3f}<br>p %{customdata[1]:.3g}"
            shown.add_trace(
                go.Bar(x=[rows["valley"][i] for i in here], y=[names[i] for i in here], orientation="h", name=word,
                       marker={"color": colour}, customdata=said, hovertemplate=hover + "<extra></extra>")
            )  # fmt: skip
    shown.update_yaxes(
        autorange="reversed", type="category", categoryorder="array", categoryarray=names, title="cluster"
    )
    shown.update_xaxes(title="valley to the nearest neighbour (1: the border is empty)")
    title = f"{len(check.names)} clusters, {check.n_merged} after merging"
    shown.update_layout(template="plotly_white", width=760, height=160 + 22 * len(names), title=title)
    return shown
