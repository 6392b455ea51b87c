"""Figures of what to trust, by matplotlib, for papers."""

from __future__ import annotations

from congruence.figures.layout import EIGHT, MOST_NAMES, VERDICTS
from congruence.figures.matplotlib_figures import canvas
from congruence.trust.cluster_check import ClusterCheck
from congruence.trust.ranking import Ranking
from congruence.typing import Figure


def draw_ranking(ranking: Ranking) -> Figure:
    """Agreement of each clustering with the consensus and with the others, the best first; equal ones in one colour."""
    rows = {name: values[:MOST_NAMES] for name, values in ranking.table_columns().items()}
    places = list(range(len(rows["clustering"])))
    shown = canvas(5.6, 1.2 + 0.2 * len(places))
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    colours = [EIGHT[0] if equal else EIGHT[7] for equal in rows["equal"]]
    axes.barh(places, rows["score"], color=colours, label="with the consensus")
    axes.plot(rows["agreement"], places, "o", color=EIGHT[5], label="with the others, on average")
    axes.set_yticks(places, rows["clustering"], fontsize=7, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel("adjusted Rand index")
    shown.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=2)
    return shown


def draw_clusters(check: ClusterCheck) -> Figure:
    """How empty the border of each cluster with its nearest neighbour is, by verdict."""
    rows = {name: list(values)[:MOST_NAMES] for name, values in check.table_columns().items()}
    places = list(range(len(rows["cluster"])))
    shown = canvas(5.6, 1.2 + 0.2 * len(places))
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    for word, colour in VERDICTS.items():
        here = [i for i in places if rows["verdict"][i] == word]
        if here:
            axes.barh(here, [rows["valley"][i] for i in here], color=colour, label=word)
    axes.set_yticks(places, [str(name) for name in rows["cluster"]], fontsize=7, parse_math=False)
    axes.invert_yaxis()
    axes.set_xlabel("valley to the nearest neighbour (1: the border is empty)")
    shown.legend(frameon=False, fontsize=8, loc="outside upper center", ncols=3)
    return shown
