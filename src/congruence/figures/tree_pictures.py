"""The figures of hierarchies, as marks."""

from __future__ import annotations

import numpy as np

from congruence.figures.marks import NO_AXIS, Axis, Band, Heat, Line, Mark, Panel, Picture, Texts
from congruence.hierarchies.curves import CutCurve
from congruence.hierarchies.cut_tables import CutTable
from congruence.hierarchies.tangling import Tanglegram

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
