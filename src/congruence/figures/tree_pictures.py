"""The figures of hierarchies and resolution sweeps, as marks."""

from __future__ import annotations

import numpy as np

from congruence.errors import InputError, real_number
from congruence.figures.layout import EIGHT
from congruence.figures.marks import NO_AXIS, Axis, Band, Dots, Heat, Line, Mark, Panel, Picture, Texts
from congruence.hierarchies.cuts import CutCurve, CutTable
from congruence.hierarchies.sweep import Resolutions
from congruence.hierarchies.sweep_layout import Edge, Node
from congruence.hierarchies.tangling import Tanglegram
from congruence.inputs.coerce import as_clustering
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array
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


#: letters of a name in a tanglegram, and the width of one as a share of the picture's
LETTERS, WIDE = 30, 0.0058


def of_tangle(tangle: Tanglegram) -> Picture:
    """A tanglegram: two trees, with lines between the same points; the longer the names, the farther apart are the trees."""
    n, marks = tangle.a.n_points, list[Mark]()
    names = [str(x) for x in (range(n) if tangle.a.points is None else tangle.a.points)]
    names = [
        x if len(x) <= LETTERS else f"{x[: LETTERS - 14]}…{x[-13:]}" for x in names
    ]  # they often differ at their end
    gap, second = 0.02, 2.0  # room for the names, and where the second tree begins
    if n <= MOST_NAMES:
        share = 0.012 + WIDE * max(map(len, names))
        gap = max(0.25, 2.5 * share / (1 - 2 * share))
        second = 2.0 if gap == 0.25 else 1.5 + 2 * gap
    for side, begin, sign in (("a", 0.0, 1.0), ("b", second + 1, -1.0)):
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
    for i, point in enumerate(tangle.order_a.tolist()):
        left += [1 + gap, second - gap, None]
        right += [i, int(place[point]), None]
    marks.append(Line(x=left, y=right, width=0.6, opacity=0.5))
    for at, side, is_left in ((0.5, "a", False), (second + 0.5, "b", True)):
        marks.append(Texts(x=[at], y=[n + 0.5], texts=[side], is_left=is_left, size=9))
    if n <= MOST_NAMES:
        for order, at, is_left in ((tangle.order_a, 1.0, False), (tangle.order_b, second, True)):
            texts = [names[i] for i in order.tolist()]
            marks.append(Texts(x=[at] * n, y=list(range(n)), texts=texts, is_left=is_left, size=5))
    return Picture(
        panels=[Panel(marks=marks, x=NO_AXIS, y=NO_AXIS)], width=900, height=max(400, min(1600, 180 + 12 * n)),
        title=tangle.sentence,
        paper=(7.0, max(3.0, min(14.0, 0.12 * n))),
    )  # fmt: skip


#: most clusters with names in the figure
MOST_NODES = 240


def of_sweep(r: Resolutions, color: ColumnLike = "stability", least: float = 0.1) -> Picture:
    """The tree of clusters: a layer per column, with edge widths by in_prop."""
    if not 0 <= real_number(least, "least") <= 1:
        raise InputError(f"least must be a share from 0 to 1, not {least!r}")
    values, title, labels, texts = _colours(r, color)
    every = [
        Node(
            column=name, cluster=str(cluster), x=float(r.places.x[y][i]), y=y, size=int(r.sizes[y][i]),
            stability=float(r.scores[y][i]), value=float(values[y][i]), text=texts[y][i],
        )
        for y, (name, clusters) in enumerate(zip(r.names, r.clusters, strict=True)) for i, cluster in enumerate(clusters)
    ]  # fmt: skip
    edges = _edges(r)
    shown, marks = [e for e in edges if e.in_prop >= least], list[Mark]()
    total = max(r.ensemble.n_points, 1)
    ends = [(every[e.first], every[e.second]) for e in shown]
    for strength in range(1, 6):  # plotly has one width per trace
        some = [ab for e, ab in zip(shown, ends, strict=True) if min(int(e.in_prop * 5) + 1, 5) == strength]
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
            notes=[f"{e.count:,} points\nin_prop {e.in_prop:.3f}\nout_prop {e.out_prop:.3f}" for e in shown],
        )
    )  # fmt: skip
    groups = [("", every)]
    if labels is not None:
        groups = [(label, [node for node in every if node.value == i]) for i, label in enumerate(labels)]
    middle = (min(node.value for node in every) + max(node.value for node in every)) / 2
    for place, (label, nodes) in enumerate(groups):
        if nodes:
            marks.append(
                Dots(
                    x=[node.x for node in nodes], y=[-node.y for node in nodes], name=label, has_outline=True,
                    color=[EIGHT[place % len(EIGHT)]] * len(nodes) if label else [node.value for node in nodes],
                    scale="" if label else title, size=[10 + 40 * (node.size / total) ** 0.5 for node in nodes],
                    texts=[node.cluster for node in nodes] if len(every) <= MOST_NODES else (),
                    inks=["black" if label or node.value >= middle else "white" for node in nodes], hover="%{customdata}",
                    notes=[
                        f"{node.column}, cluster {node.cluster}\n{node.size:,} points\n"
                        f"stability {node.stability:.3f}\n{node.text}"
                        for node in nodes
                    ],
                )
            )  # fmt: skip
    layers, n_hidden = [-i for i in range(len(r.names))], len(edges) - len(shown)
    hidden = f"; {n_hidden} edges with in_prop below {least:g} left out" if n_hidden else ""
    return Picture(
        panels=[Panel(marks=marks, x=NO_AXIS, y=Axis(ticks=(layers, r.names), has_grid=False))], title=r.sentence,
        note=f"colour: {title}{hidden}", width=900, height=max(400, 70 * len(r.names)),
        paper=(7.0, max(3.0, 0.55 * len(r.names))), legend=title if labels is not None else None,
    )  # fmt: skip


def _edges(r: Resolutions) -> list[Edge]:
    """The edges between clusters, which are numbered column after column."""
    starts = np.cumsum([0, *map(len, r.clusters)]).tolist()
    found = []
    for step, link in enumerate(r.links):
        for i, j, count in zip(*(x.tolist() for x in link), strict=True):
            in_prop, out_prop = count / int(r.sizes[step + 1][j]), count / int(r.sizes[step][i])
            first, second = starts[step] + i, starts[step + 1] + j
            found.append(Edge(first=first, second=second, count=count, in_prop=in_prop, out_prop=out_prop))
    return found


def _colours(r: Resolutions, color: ColumnLike) -> tuple[list[Array], str, tuple[str, ...] | None, list[list[str]]]:
    """A value per cluster, its title, labels if it is a label, and the value as text."""
    if isinstance(color, str):
        if color != "stability":
            raise InputError(f"color must be 'stability', a float per point or a label per point; got {color!r}")
        words = [[f"stability {x:.3f}" for x in scores.tolist()] for scores in r.scores]
        return list(r.scores), "SC3 stability" + (" (normalised)" if r.normalised else ""), None, words
    title = str(getattr(color, "name", None) or "feature")
    try:
        given = np.asarray(color)
    except ValueError:  # lists of different lengths
        raise InputError(f"color must be one number or label per point; got {color!r}") from None
    if given.shape != (r.n_given,):
        raise InputError(f"color has shape {given.shape}; give one value for each of the {r.n_given} points")
    codes = [np.asarray(c.codes, dtype=np.int64) for c in r.ensemble.members if isinstance(c, Labels)]
    if given.dtype.kind == "f":
        feature = given[r.points].astype(np.float64)
        if not np.isfinite(feature).all():
            raise InputError("color must be finite numbers")
        means = [np.bincount(c, weights=feature) / np.bincount(c) for c in codes]
        return means, f"mean {title}", None, [[f"mean {title} {x:.4g}" for x in m.tolist()] for m in means]
    labels = as_clustering(color, "color")
    if not isinstance(labels, Labels):
        raise InputError("color must be 'stability', a float per point or a label per point")
    labels = labels.with_policy("error", None, "color").taken(r.points)
    names = tuple(str(x) for x in labels.names)
    values, words = [], []
    for c in codes:
        table = np.zeros((int(c.max()) + 1, labels.k), dtype=np.int64)
        np.add.at(table, (c, np.asarray(labels.codes, dtype=np.int64)), 1)
        most = table.argmax(axis=1)
        share = table.max(axis=1) / table.sum(axis=1)
        values.append(most.astype(float))
        words.append([f"{names[i]}: {s:.0%}" for i, s in zip(most.tolist(), share.tolist(), strict=True)])
    return values, "most frequent label" if title == "feature" else f"most frequent {title}", names, words
