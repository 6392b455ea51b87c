"""The figures of hierarchies and sweeps, as marks."""

from __future__ import annotations

import numpy as np

from congruence.figures.layout import EIGHT
from congruence.figures.marks import NO_AXIS, Axis, Band, Dots, Heat, Line, Mark, Panel, Picture, Texts
from congruence.hierarchies.curves import CutCurve
from congruence.hierarchies.cut_tables import CutTable
from congruence.hierarchies.sweep import Resolutions
from congruence.hierarchies.sweep_layout import Node
from congruence.hierarchies.sweep_picture import sweep_picture
from congruence.hierarchies.tangling import Tanglegram
from congruence.typing import ColumnLike

#: most points or clusters with names in a figure, and most cells with their values
MOST_NAMES, MOST_CELLS = 80, 150


def of_curve(curve: CutCurve) -> Picture:
    """The measure by number of clusters, with the band of chance."""
    key, few = curve.measure.key, len(curve) <= MOST_NAMES
    marks: list[Mark] = []
    if curve.band is not None and curve.mean is not None:
        (low, high), mean = curve.band, "mean under chance"
        marks += [
            Band(x=curve.ks, low=low, high=high, name="chance, mean ± 2 sd"),
            Line(
                x=curve.ks, y=curve.mean, color="#777", width=1, is_dotted=True, name=mean, hover=f"{mean} %{{y:.4f}}"
            ),
        ]
    marks.append(Line(x=curve.ks, y=curve.values, has_dots=few, name=key, hover="k = %{x}<br>" + key + " %{y:.4f}"))
    panel = Panel(marks=marks, x=Axis(title="number of clusters", is_log=not few), y=Axis(title=key))
    title = f"{curve.measure.title} at each number of clusters"
    return Picture(panels=[panel], title=title, paper=(5.6, 3.4), legend="")


def of_table(table: CutTable) -> Picture:
    """The heat map of two trees' cuts."""
    m = table.measure
    heat = Heat(
        values=table.values, rows=[str(k) for k in table.ks_a], columns=[str(k) for k in table.ks_b],
        is_reversed=m.better == "lower", scale=f"{m.title} ({m.better} is better)", has_values=table.values.size <= MOST_CELLS,
        hover="a: k = %{y}<br>b: k = %{x}<br>" + m.key + " %{z:.4f}",
    )  # fmt: skip
    panel = Panel(marks=[heat], x=Axis(title="clusters of b"), y=Axis(title="clusters of a", is_reversed=True))
    return Picture(panels=[panel], title=f"{m.title} of cuts", width=640, height=560, paper=(4.8, 4.2))


def of_tangle(tangle: Tanglegram) -> Picture:
    """A tanglegram: two trees, with lines between the same points."""
    n, marks = tangle.a.n_points, list[Mark]()
    for side, begin, sign in (("a", 0.0, 1.0), ("b", 3.0, -1.0)):
        x: list[float | None] = []
        y: list[float | None] = []
        lines = tangle.segments(side)
        top = max(float(lines[:, [1, 3]].max(initial=0.0)), 1e-300)
        for p, low, q, high in lines.tolist():
            x += [begin + sign * (1 - low / top), begin + sign * (1 - high / top), None]
            y += [p, q, None]
        marks.append(Line(x=x, y=y, color="#444", width=0.7))
    place = np.empty(n, dtype=np.int64)
    place[tangle.order_b] = np.arange(n)
    left: list[float | None] = []
    right: list[float | None] = []
    gap = 0.25 if n <= MOST_NAMES else 0.02  # room for the names
    for i, point in enumerate(tangle.order_a.tolist()):
        left += [1 + gap, 2 - gap, None]
        right += [i, int(place[point]), None]
    marks.append(Line(x=left, y=right, width=0.6, opacity=0.5))
    names = [str(x) for x in (range(n) if tangle.a.points is None else tangle.a.points)]
    if n <= MOST_NAMES:
        for order, at, is_left in ((tangle.order_a, 1.0, False), (tangle.order_b, 2.0, True)):
            texts = [names[i] for i in order.tolist()]
            marks.append(Texts(x=[at] * n, y=list(range(n)), texts=texts, is_left=is_left, size=5))
    return Picture(
        panels=[Panel(marks=marks, x=NO_AXIS, y=NO_AXIS)], width=900, height=max(400, min(1600, 12 * n)),
        title=f"{n} points, {tangle.crossings:,} crossings ({tangle.entanglement:.1%} of the pairs)",
        paper=(7.0, max(3.0, min(14.0, 0.12 * n))),
    )  # fmt: skip


def of_sweep(r: Resolutions, color: ColumnLike = "stability", least: float = 0.1) -> Picture:
    """The tree of clusters: a layer per column, with edge widths by in_prop."""
    drawn, marks = sweep_picture(r, color, least), list[Mark]()
    total = max(r.ensemble.n_points, 1)
    ends = [(drawn.nodes[e.first], drawn.nodes[e.second]) for e in drawn.edges]
    for strength in range(1, 6):  # plotly has one width per trace
        some = [ab for e, ab in zip(drawn.edges, ends, strict=True) if min(int(e.in_prop * 5) + 1, 5) == strength]
        marks.append(
            Line(
                x=[v for a, b in some for v in (a.x, b.x, None)], y=[v for a, b in some for v in (-a.y, -b.y, None)],
                color="#5a5a5a", opacity=0.15 + 0.15 * strength, width=0.4 + 0.4 * strength,
            )
        )  # fmt: skip
    marks.append(  # an invisible mark in the middle of each edge carries its numbers
        Dots(
            x=[(a.x + b.x) / 2 for a, b in ends], y=[-(a.y + b.y) / 2 for a, b in ends], color=["#555"] * len(ends),
            opacity=0.0, hover="%{customdata}",
            notes=[
                f"{e.count:,} points\nin_prop {e.in_prop:.3f}\nout_prop {e.out_prop:.3f}" for e in drawn.edges
            ],
        )
    )  # fmt: skip
    groups: list[tuple[str, list[Node]]] = [("", list(drawn.nodes))]
    if drawn.labels is not None:
        groups = [(label, [node for node in drawn.nodes if node.value == i]) for i, label in enumerate(drawn.labels)]
    for place, (label, nodes) in enumerate(groups):
        if nodes:
            marks.append(
                Dots(
                    x=[node.x for node in nodes], y=[-node.y for node in nodes], name=label, has_outline=True,
                    color=[EIGHT[place % len(EIGHT)]] * len(nodes) if label else [node.value for node in nodes],
                    scale="" if label else drawn.title, size=[10 + 40 * (node.size / total) ** 0.5 for node in nodes],
                    texts=[node.cluster for node in nodes] if len(drawn.nodes) <= 3 * MOST_NAMES else (),
                    inks=["black"] * len(nodes) if label else drawn.inks, hover="%{customdata}",
                    notes=[
                        f"{node.column}, cluster {node.cluster}\n{node.size:,} points\n"
                        f"stability {node.stability:.3f}\n{node.text}"
                        for node in nodes
                    ],
                )
            )  # fmt: skip
    layers = [-i for i in range(len(drawn.columns))]
    hidden = f"; {drawn.n_hidden} edges with in_prop below {least:g} left out" if drawn.n_hidden else ""
    return Picture(
        panels=[Panel(marks=marks, x=NO_AXIS, y=Axis(ticks=(layers, drawn.columns), has_grid=False))], title=r.sentence,
        note=f"colour: {drawn.title}{hidden}", width=900, height=max(400, 70 * len(drawn.columns)),
        paper=(7.0, max(3.0, 0.55 * len(drawn.columns))), legend=drawn.title if drawn.labels is not None else None,
    )  # fmt: skip
