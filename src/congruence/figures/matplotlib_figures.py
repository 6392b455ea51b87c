"""Figures by matplotlib, for papers."""

from __future__ import annotations

import numpy as np

from congruence.alternative_clustering.results import Alternatives
from congruence.comparison.pair import Comparison
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
    flow_heights,
    steps,
    views,
)
from congruence.inputs.ensemble import Ensemble
from congruence.selection.choice import KChoice
from congruence.typing import ClusteringLike, Figure, PointsLike


def draw_pairs(result: AllPairs, measure: str | None = None) -> Figure:
    """The matrix of a measure in the order of its tree, with the tree."""
    m, tree, values, names = arranged(result, measure)
    shown = canvas(6.2, 6.6)
    top, below = shown.subplots(2, 1, height_ratios=[0.16, 0.84])
    for left, right, low_left, low_right, height in tree.branches.tolist():
        top.plot([left, left, right, right], [low_left, height, height, low_right], color="#777", linewidth=0.8)
    top.set_xlim(-0.5, len(names) - 0.5)
    top.set_axis_off()
    image = below.imshow(values, cmap="viridis" if m.better == "higher" else "viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values if len(names) <= MOST_VALUES else np.empty((0, 0))):
        bright = float(np.dot(image.to_rgba(value)[:3], (0.3, 0.6, 0.1))) > 0.5
        below.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="black" if bright else "white")
    if len(names) <= MOST_NAMES:
        below.set_xticks(range(len(names)), names, rotation=90, fontsize=7, parse_math=False)
        below.set_yticks(range(len(names)), names, fontsize=7, parse_math=False)
    else:
        below.set_xticks([])
        below.set_yticks([])
    shown.colorbar(image, ax=[top, below], label=f"{m.title} ({m.better} is better)", shrink=0.8)
    return shown


def draw_flow(result: Comparison, most: int = MOST_FLOWS) -> Figure:
    """The flow between the clusters of two clusterings."""
    return _flow(flow_between(result, most))


def draw_alluvial(e: Ensemble) -> Figure:
    """The flow of points through the members of an ensemble, from left to right."""
    return _flow(alluvial_of(e))


def _flow(a: Alluvial) -> Figure:
    """The flow between neighbours of several clusterings."""
    from matplotlib.patches import Polygon, Rectangle

    slot, room, wide, last = 0.13, 2.6, 0.04, len(a.names) - 1  # inches of a label, and of all bars together
    places = []
    for c in range(last + 1):
        left, right = flow_heights(np.asarray(a.counts[min(c, last - 1)], dtype=float), room, slot)
        places.append(left if c < last else right)
    deep = max(float((tops + heights).max()) for tops, heights in places)
    shown = canvas(max(6.2, 2.4 * (last + 1)), deep + 0.6)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    bend = np.linspace(0, 1, 30)
    curve = 3 * bend**2 - 2 * bend**3
    for c, counts in enumerate(a.counts):
        used_left, used_right = places[c][0].copy(), places[c + 1][0].copy()
        x = c + wide + (1 - wide) * bend
        for i, j in zip(*np.nonzero(counts), strict=True):
            tall = counts[i, j] / max(counts[i].sum(), 1e-12) * places[c][1][i]
            high = counts[i, j] / max(counts[:, j].sum(), 1e-12) * places[c + 1][1][j]
            top = used_left[i] + (used_right[j] - used_left[i]) * curve
            under = used_left[i] + tall + (used_right[j] + high - used_left[i] - tall) * curve
            used_left[i], used_right[j] = used_left[i] + tall, used_right[j] + high
            edge = np.column_stack([np.concatenate([x, x[::-1]]), np.concatenate([top, under[::-1]])])
            axes.add_patch(Polygon(edge, facecolor=a.colours[c][i], alpha=0.4, linewidth=0))
    for c, (names, (tops, heights)) in enumerate(zip(a.names, places, strict=True)):
        at, side = (c + wide + 0.02, "left") if c else (-0.02, "right")
        for k, (y, h) in enumerate(zip(tops.tolist(), heights.tolist(), strict=True)):
            axes.add_patch(Rectangle((c, y), wide, h, facecolor=a.colours[c][k], linewidth=0))
            axes.text(at, y + h / 2, names[k], ha=side, va="center", fontsize=7, parse_math=False)
        axes.text(c + wide / 2, -0.22, a.titles[c], ha="center", fontsize=9, weight="bold", parse_math=False)
    axes.set_xlim(-0.25, last + 0.3)
    axes.set_ylim(deep + 0.1, -0.4)
    axes.set_axis_off()
    return shown


def draw_ensemble(e: Ensemble, labels: ClusteringLike | None = None, kind: str = "consensus") -> Figure:
    """The consensus matrix of an ensemble, and its distribution; or the flow through its members."""
    if kind == "flow":
        return draw_alluvial(e)
    cells, cdf, said = ensemble_parts(e, labels)
    shown = canvas(7.2, 3.4)
    left, right = shown.subplots(1, 2, width_ratios=[1, 1])
    image = left.imshow(cells.values, vmin=0, vmax=1, cmap="viridis")
    left.set_xticks([])
    left.set_yticks([])
    left.set_title(said, fontsize=8)
    shown.colorbar(image, ax=left, shrink=0.85, label="consensus")
    right.axvspan(0.1, 0.9, color="#888", alpha=0.12, linewidth=0)
    right.plot(*steps(cdf), color=EIGHT[0])
    right.set_xlabel("consensus of two points")
    right.set_ylabel(f"share of {'the' if cdf.is_exact else 'sampled'} pairs")
    right.set_title(f"ambiguous pairs {cdf.pac():.1%}", fontsize=8)
    return shown


def draw_choice(choice: KChoice) -> Figure:
    """One curve per criterion over the number of clusters."""
    curves = choice.curves
    across = min(3, max(1, len(curves)))  # no criterion applies: empty axes below the headline
    down = -(-max(1, len(curves)) // across)
    shown = canvas(2.5 * across, 2.0 * down + 0.4)
    places = shown.subplots(down, across, squeeze=False).ravel()
    for axes, c in zip(places, curves, strict=False):
        axes.errorbar(choice.ks, c.values, yerr=error_bars(c), color=EIGHT[0], marker="o", markersize=3)
        if c.best is not None:
            top = c.values[choice.ks.index(c.best)]
            axes.plot([c.best], [top], marker="D", markersize=8, color=EIGHT[5] if c.votes else EIGHT[7])
        axes.set_title(curve_title(c), fontsize=8, parse_math=False)
        axes.set_xticks(list(choice.ks))
    for axes in places[len(curves) :]:
        axes.set_axis_off()
    shown.suptitle(choice.headline, fontsize=9)
    return shown


def draw_cards(found: Consensus, data: PointsLike = None) -> Figure:
    """A card per cluster: its size, its votes, and the features that distinguish it."""
    drawn = cards_of(found, data)
    across = min(3, len(drawn.cards))
    down = -(-len(drawn.cards) // across)
    shown = canvas(3.3 * across, 1.7 * down + 0.5)
    places = shown.subplots(down, across, squeeze=False, sharex=True).ravel()
    for axes, card in zip(places, drawn.cards, strict=False):
        y = range(len(card.bars))
        axes.barh(y, [value for _, value in card.bars], color=EIGHT[card.cluster % 7])
        axes.set_yticks(y, [name for name, _ in card.bars], fontsize=7, parse_math=False)
        axes.invert_yaxis()
        axes.set_title(f"{card.title}\n{card.line}", fontsize=7, parse_math=False)
        axes.tick_params(axis="x", labelsize=7)
    for axes in places[len(drawn.cards) :]:
        axes.set_axis_off()
    shown.supxlabel(drawn.axis, fontsize=8)
    shown.suptitle(drawn.headline, fontsize=9)
    return shown


def draw_alternatives(found: Alternatives) -> Figure:
    """The data, coloured by the given clusterings and by each alternative."""
    X, shown_views = views(found)
    shown = canvas(3.0 * len(shown_views), 3.0)
    for axes, (name, codes) in zip(
        shown.subplots(1, len(shown_views), squeeze=False).ravel(), shown_views, strict=True
    ):
        axes.scatter(
            X[:, 0], X[:, 1], c=[EIGHT[c % 8] for c in codes.tolist()], s=8 if len(X) < 2000 else 2, linewidths=0
        )
        axes.set_title(name, fontsize=7, parse_math=False)
        axes.set_xticks([])
        axes.set_yticks([])
    return shown


def canvas(width: float, height: float) -> Figure:
    """A new matplotlib figure: no window, no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
