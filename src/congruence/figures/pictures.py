"""The figure of each kind of result, as marks."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.results import Alternatives
from congruence.comparison.pair import Comparison
from congruence.comparison.presenting import number, short_names
from congruence.comparison.results import AllPairs
from congruence.consensus_clustering.results import Consensus
from congruence.errors import counted
from congruence.figures.features import NAMED, features_of, numbers_of
from congruence.figures.layout import (
    EIGHT,
    MOST_FLOWS,
    MOST_NAMES,
    MOST_VALUES,
    VERDICTS,
    Alluvial,
    alluvial_of,
    arranged,
    curve_title,
    ensemble_parts,
    error_bars,
    flow_between,
    flow_heights,
    steps,
    views,
)
from congruence.figures.marks import NO_AXIS, Axis, Bars, Dots, Flow, Heat, Line, Mark, Panel, Picture, Span
from congruence.inputs.ensemble import Ensemble
from congruence.selection.choice import KChoice
from congruence.trust.cluster_check import ClusterCheck
from congruence.trust.ranking import Ranking
from congruence.trust.settings import Sweep, said_of
from congruence.typing import ClusteringLike, PointsLike

#: most cards of a consensus, the largest clusters first
MOST_CARDS = 12


def of_pairs(result: AllPairs, measure: str | None = None) -> Picture:
    """The matrix of a measure in the order of its tree, with the tree."""
    m, tree, values, names = arranged(result, measure)
    x: list[float | None] = []
    y: list[float | None] = []
    for left, right, low_left, low_right, top in tree.branches.tolist():
        x += [left, left, right, right, None]
        y += [low_left, top, top, low_right, None]
    heat = Heat(
        values=values, is_reversed=m.better == "lower", scale=f"{m.title} ({m.better} is better)",
        has_values=len(names) <= MOST_VALUES,
        hover="%{customdata[0]}<br>%{customdata[1]}<br>" + m.key + " %{z:.4f}",
        notes=[[[a, b] for b in names] for a in names],
    )  # fmt: skip
    ticks = (range(len(names)), names) if len(names) <= MOST_NAMES else ((), ())
    tree_panel = Panel(
        marks=[Line(x=x, y=y, color="#777", width=0.8)],
        x=Axis(is_hidden=True, ends=(-0.5, len(names) - 0.5)),
        y=NO_AXIS,
    )
    return Picture(
        panels=[tree_panel, Panel(marks=[heat], x=Axis(ticks=ticks), y=Axis(ticks=ticks, is_reversed=True))],
        title=f"{m.title}: {len(names)} clusterings ({m.better} is better)", shared="x", height=800, paper=(6.2, 6.6),
        heights=(0.16, 0.84), gaps=(0.0, 0.01),
    )  # fmt: skip


def of_flow(result: Comparison, most: int = MOST_FLOWS) -> Picture:
    """The flow between the clusters of two clusterings."""
    a, b = result.names
    first = next(iter(result), None)
    said = f", {first} {number(result[first])}" if first is not None else ""
    return _flow(flow_between(result, most), f"{a} (left) and {b} (right){said}")


def _flow(a: Alluvial, title: str = "") -> Picture:
    places, last = [], len(a.names) - 1
    for c in range(last + 1):  # inches of a label, and of all bars together
        left, right = flow_heights(np.asarray(a.counts[min(c, last - 1)], dtype=float), 2.6, 0.13)
        places.append(left if c < last else right)
    deep = max(float((tops + heights).max()) for tops, heights in places)
    panel = Panel(marks=[Flow(alluvial=a, places=places)], x=NO_AXIS, y=NO_AXIS)
    widest = max(len(names) for names in a.names)
    return Picture(
        panels=[panel], title=title, width=max(760, 240 * len(a.names)), height=350 + 14 * (widest - 1),
        paper=(max(6.2, 2.4 * (last + 1)), deep + 0.6),
    )  # fmt: skip


def of_ensemble(e: Ensemble, labels: ClusteringLike | None = None, kind: str = "consensus") -> Picture:
    """The consensus matrix of an ensemble, and its distribution; or the flow through its members."""
    if kind == "flow":
        return _flow(alluvial_of(e))
    cells, cdf, said = ensemble_parts(e, labels)
    matrix = Panel(
        marks=[Heat(values=cells.values, limits=(0.0, 1.0), scale="consensus", hover="consensus %{z:.3f}")],
        title="consensus matrix, ordered", x=Axis(ticks=((), ())), y=Axis(ticks=((), ()), is_reversed=True), is_square=True,
    )  # fmt: skip
    x, y = steps(cdf)
    distribution = Panel(
        marks=[Span(low=0.1, high=0.9), Line(x=x, y=y, hover="%{x:.3f}, %{y:.3f}")], title="distribution",
        x=Axis(title="consensus of two points"),
        y=Axis(title=f"share of {'the' if cdf.is_exact else 'sampled'} pairs", ends=(0.0, 1.0)),
    )  # fmt: skip
    return Picture(
        panels=[matrix, distribution], across=2, widths=(0.57, 0.43), gaps=(0.2, 0.0), width=980, height=520,
        title=f"{said}; certainty {e.certainty():.3f}, ambiguous pairs {cdf.pac():.1%}", is_titled=True, paper=(7.2, 3.4),
    )  # fmt: skip


def of_choice(choice: KChoice) -> Picture:
    """One curve per criterion over the number of clusters."""
    ks, panels = list(choice.ks), []
    for c in choice.curves:
        errors = error_bars(c) if not np.isnan(c.errors).all() else None
        marks: list[Line | Dots] = [
            Line(x=ks, y=c.values, has_dots=True, errors=errors, name=c.name, hover="%{x}: %{y}")
        ]
        if c.best is not None:
            color = EIGHT[5] if c.votes else EIGHT[7]
            top = [float(c.values[ks.index(c.best)])]
            name = f"{c.name} best"
            marks.append(
                Dots(x=[c.best], y=top, color=[color], size=13, is_diamond=True, name=name, hover="%{x}: %{y}")
            )
        panels.append(Panel(marks=marks, title=curve_title(c), x=Axis(ticks=(ks, [str(k) for k in ks]))))
    across = min(3, max(1, len(panels)))  # no criterion applies: empty axes below the headline
    down = -(-max(1, len(panels)) // across)
    return Picture(
        panels=panels or [Panel(marks=[])], across=across, title=choice.headline, is_titled=True, width=None,
        height=120 + 260 * down, paper=(2.5 * across, 2.0 * down + 0.4),
    )  # fmt: skip


def of_cards(found: Consensus, data: PointsLike = None) -> Picture:
    """A card per cluster: its size, its votes, and the features of the data that distinguish it, else the votes for others."""
    k, share, features = found.n_clusters, found.vote_share, None
    if data is not None:
        numbers, named = numbers_of(data, len(found.labels))
        features = features_of(numbers, named, np.where(found.labels < 0, k, found.labels), k)
    shown = min(k, MOST_CARDS)
    across = min(3, shown)
    down = -(-shown // across)
    axis = "standard deviations from the other points" if features is not None else "share of votes"
    panels = []
    for c in range(shown):
        inside = found.labels == c
        if features is not None:
            names, values = short_names([name for name, _ in features.named[c]], 22), [d for _, d in features.named[c]]
        else:
            mean = found.memberships[inside].mean(axis=0) if inside.any() else np.zeros(k)
            order = [j for j in np.argsort(-mean, kind="stable")[:NAMED].tolist() if mean[j] > 0]
            names, values = [f"cluster {j}" for j in order], mean[order].tolist()
        called = f"cluster {c}: {counted(int(inside.sum()), 'point')}"
        disputed = f"vote share {share[inside].mean() if inside.any() else np.nan:.2f}, {(share[inside] < 0.5).sum():,} disputed"
        bars = Bars(
            places=range(len(names)), values=values, name=called, color=EIGHT[c % 7], hover="%{customdata}: %{x:.3f}",
            notes=names,
        )  # fmt: skip
        rows = Axis(ticks=(range(len(names)), names), is_reversed=True)
        below = Axis(title=axis if c >= shown - across else "")
        panels.append(Panel(marks=[bars], title=f"{called}\n{disputed}", x=below, y=rows))
    many = f"{k} clusters" if k <= MOST_CARDS else f"the {MOST_CARDS} largest of {k} clusters"
    return Picture(
        panels=panels, across=across, title=f"{many} by {found.method}", is_titled=True, width=330 * across + 60,
        height=130 + 200 * down, paper=(3.3 * across, 1.7 * down + 0.5), shared="x", gaps=(0.16, min(0.3, 0.6 / down)),
    )  # fmt: skip


def of_alternatives(found: Alternatives) -> Picture:
    """The data, coloured by the given clusterings and by each alternative."""
    X, shown = views(found)
    panels = []
    for name, codes in shown:
        dots = Dots(
            x=X[:, 0], y=X[:, 1], color=[EIGHT[c % 8] for c in codes.tolist()], size=6 if len(X) < 2000 else 3,
            hover="cluster %{customdata}", notes=codes.tolist(),
        )  # fmt: skip
        panels.append(Panel(marks=[dots], title=name))
    return Picture(
        panels=panels,
        across=len(panels),
        shared="y",
        width=max(420, 400 * len(panels)),
        height=420,
        paper=(3.0 * len(panels), 3.0),
    )


def of_ranking(ranking: Ranking) -> Picture:
    """Agreement of each clustering with the consensus and with the others, the best first; equal ones in one colour."""
    rows = {name: values[:MOST_NAMES] for name, values in ranking.table_columns().items()}
    names, places = rows["clustering"], list(range(len(rows["clustering"])))
    hover = "%{customdata}<br>%{x:.4f}"
    marks = [
        Bars(
            places=places, values=rows["score"], color=[EIGHT[0] if equal else EIGHT[7] for equal in rows["equal"]],
            name="with the consensus", hover=hover, notes=names,
        ),
        Dots(
            x=rows["agreement"], y=places, color=[EIGHT[5]] * len(names), name="with the others, on average", hover=hover,
            notes=names,
        ),
    ]  # fmt: skip
    return Picture(
        panels=[Panel(marks=marks, x=Axis(title="adjusted Rand index"), y=Axis(ticks=(places, names), is_reversed=True))],
        title=f"best: {ranking.best}" if ranking.best is not None else "no recommendation",
        height=170 + 22 * len(names), paper=(5.6, 1.4 + 0.2 * len(names)), legend="",
    )  # fmt: skip


def of_clusters(check: ClusterCheck) -> Picture:
    """How empty the border of each cluster with its nearest neighbour is, by verdict."""
    rows = {name: list(values)[:MOST_NAMES] for name, values in check.table_columns().items()}
    names, marks = [str(name) for name in rows["cluster"]], []
    hover = "%{customdata[0]}: %{customdata[1]:,} points<br>nearest %{customdata[2]}<br>valley %{x:.3f}<br>p %{customdata[3]:.3g}"
    for word, color in VERDICTS.items():
        here = [i for i, verdict in enumerate(rows["verdict"]) if verdict == word]
        notes = [[names[i], rows["size"][i], str(rows["nearest"][i]), rows["p_value"][i]] for i in here]
        values = [rows["valley"][i] for i in here]
        if here:
            marks.append(Bars(places=here, values=values, color=color, name=word, hover=hover, notes=notes))
    panel = Panel(
        marks=marks, x=Axis(title="valley to the nearest neighbour (1: the border is empty)"),
        y=Axis(title="cluster", ticks=(range(len(names)), names), is_reversed=True),
    )  # fmt: skip
    return Picture(
        panels=[panel], title=f"{len(check.names)} clusters, {check.n_merged} after merging", height=170 + 22 * len(names),
        paper=(5.6, 1.4 + 0.2 * len(names)), legend="",
    )  # fmt: skip


def of_settings(w: Sweep) -> Picture:
    """Score, separation and stability of each setting in the order of the grid; the best one is marked."""
    names, places = [said_of(setting) for setting in w.settings], list(range(len(w.settings)))
    most = max((row["score"] for row in w.rows), default=0.0) or 1.0
    hover = "%{customdata[0]}<br>%{y:.3f}<br>%{customdata[1]} clusters, score %{customdata[2]:.3f}"
    notes = [[name, row["n_clusters"], row["score"]] for name, row in zip(names, w.rows, strict=True)]
    marks: list[Mark] = [
        Line(
            x=places,
            y=[row[key] / top for row in w.rows],
            name=name,
            color=color,
            has_dots=True,
            hover=hover,
            notes=notes,
        )
        for name, key, top, color in (
            ("score (1: the largest)", "score", most, EIGHT[0]),
            ("share of points in separated clusters", "separated", 1.0, EIGHT[5]),
            ("stability", "stability", 1.0, EIGHT[7]),
        )
    ]
    if w.verdict != "none":
        marks.append(Span(low=w.order[0] - 0.4, high=w.order[0] + 0.4, name="best"))
    step = max(1, len(names) // 40)
    panel = Panel(marks=marks, x=Axis(title="setting", ticks=(places[::step], names[::step])), y=Axis(ends=(0.0, 1.05)))
    return Picture(panels=[panel], title="which parameters?", width=860, height=460, paper=(6.4, 3.8), legend="")
