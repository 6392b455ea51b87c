"""The figures of windows and steps, as marks: curves, and the flow of points through lasting clusters."""

from __future__ import annotations

import colorsys
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from congruence.density.changes import Drift
from congruence.figures.layout import EIGHT
from congruence.figures.marks import Axis, Dots, Heat, Line, Mark, Panel, Picture, Shapes, Span, Texts
from congruence.statistics.tables import Array
from congruence.tracking.results import Tracks
from congruence.typing import Label

#: most rows of the heat map of drift, and the p-value (log10) of its darkest cells
MOST_ROWS, DARKEST = 40, 20.0


def of_drift(drift: Drift) -> Picture:
    """Agreement of each window with the previous and with the first, alarms, and the evidence per cluster and feature."""
    n, names = len(drift.windows), [str(x) for x in drift.windows]
    rows, cells = evidence_of(drift)
    first = np.full(n, np.nan)
    first[n - len(drift.first) :] = drift.first
    previous = np.concatenate([[np.nan], drift.previous])
    said = ["; ".join(row.direction for row in x.moved[:3]) if x is not None else "" for x in drift.findings]
    low, high = drift.band
    marks: list[Mark] = [Span(low=low, high=high, opacity=0.2, is_y=True, name="no change")]
    marks += [Span(low=w - 0.5, high=w + 0.5, color=EIGHT[5], opacity=0.15) for w in np.flatnonzero(drift.alarms)]
    for values, name, color in (
        (previous, "with the previous window", EIGHT[0]),
        (first, "with the reference", EIGHT[5]),
    ):
        there = np.flatnonzero(~np.isnan(values)).tolist()
        marks.append(
            Line(
                x=there, y=values[there], name=name, color=color, has_dots=True, is_dotted=color != EIGHT[0],
                hover=f"{drift.measure} {name} %{{y:.4f}}<br>%{{customdata}}", notes=[said[w] for w in there],
            )
        )  # fmt: skip
    step = max(1, n // 40)
    windows = Axis(ticks=(range(n)[::step], names[::step]))
    heat = Heat(
        values=cells, rows=rows, is_reversed=True, limits=(0.0, max(1.0, float(np.nanmax(cells, initial=0.0)))),
        scale="−log10 p", hover="%{y}<br>p = 10<sup>−%{z:.1f}</sup>",
    )  # fmt: skip
    deep = 60 + 18 * len(rows)
    return Picture(
        panels=[
            Panel(marks=marks, x=windows, y=Axis(title=f"{drift.measure} (grey: no change)")),
            Panel(marks=[heat], x=windows, y=Axis(is_reversed=True)),
        ],
        title=drift.sentence, is_titled=True, legend="", width=900, height=420 + deep, heights=(300, deep), shared="x",
        gaps=(0.0, 40 / (300 + deep)), paper=(6.4, 3.1 + 0.16 * len(rows)),
    )  # fmt: skip


def evidence_of(d: Drift) -> tuple[list[str], Array]:
    """Clusters and features (or sizes) with the strongest evidence, and its −log10 p before correction in each window."""
    lines: dict[tuple[Label, int], Array] = {}
    for w, finding in enumerate(d.findings):
        if finding is not None:
            for cluster, evidence in zip(finding.clusters, -finding.log10_p, strict=True):
                for f, value in enumerate(evidence.tolist()):
                    line = lines.setdefault((cluster, f), np.full(len(d.windows), np.nan))
                    line[w] = np.fmax(line[w], min(value, DARKEST))
    called = ("size", *d.reference.names)
    clusters = list(dict.fromkeys(cluster for cluster, _ in lines))
    strongest = sorted(lines, key=lambda key: -float(np.nanmax(lines[key], initial=0.0)))[:MOST_ROWS]
    strongest.sort(key=lambda key: (clusters.index(key[0]), key[1]))
    cells = np.array([lines[key] for key in strongest]).reshape(len(strongest), len(d.windows))
    return [f"{c}: {called[f]}" for c, f in strongest], cells


def of_tracks(t: Tracks) -> Picture:
    """The flow of points over the steps, with one colour per lasting name."""
    lanes, n = lanes_of(t), len(t.steps)
    marks: list[Shapes | Dots | Texts] = []
    for lane in lanes:
        marks += [
            Shapes(outlines=lane.bands, color=lane.colour, opacity=0.35), Shapes(outlines=lane.bars(), color=lane.colour),
            Dots(
                x=lane.steps, y=[y + h / 2 for y, h in zip(lane.tops, lane.heights, strict=True)],
                color=[lane.colour] * len(lane.steps), size=9, opacity=0.0,
                hover="<b>%{customdata[0]}</b><br>%{customdata[1]}: %{customdata[2]:,.6g} points",
                notes=[[lane.name, t.steps[i], size] for i, size in zip(lane.steps, lane.sizes, strict=True)],
            ),
        ]  # fmt: skip
    labels = labels_of(lanes, n, 0.018)
    for right in (False, True):
        own = [label for label in labels if label[3] is right]
        at, texts = [(x, y) for x, y, _, _ in own], [name for _, _, name, _ in own]
        marks.append(Texts(x=[x for x, _ in at], y=[y for _, y in at], texts=texts, is_left=not right, size=7))
    deep = max(max(y + h for y, h in zip(x.tops, x.heights, strict=True)) for x in lanes) + 0.02
    panel = Panel(
        marks=marks, x=Axis(ticks=(range(n), t.steps), ends=(-0.6, n - 0.4), is_at_top=True, has_grid=False),
        y=Axis(is_hidden=True, ends=(deep, -0.02)),
    )  # fmt: skip
    return Picture(
        panels=[panel], title=f"{len({x for names in t.names for x in names}):,} clusters over {n} steps",
        width=160 + max(600, min(110 * n, 1600)), height=620, paper=(1.2 + max(5.0, min(0.9 * n, 14.0)), 4.8),
    )  # fmt: skip


#: most clusters with a colour of their own; bands with a smaller share of the points are hidden
MOST_LANES, LEAST_BAND = 40, 0.002
#: height of all gaps relative to that of all bars, width of a bar in steps, and points of a curve
GAPS, BAR, BEND = 0.35, 0.16, 24
#: the colour of clusters without their own
OTHER = "#bbbbbb"


@dataclass(frozen=True, eq=False)
class Lane:
    """A lasting cluster: its name and colour, its bars and the bands that leave it.

    Attributes:
        name: The lasting name, or how many other clusters the lane holds.
        colour: Its colour.
        steps: The steps in which it occurs.
        tops: The upper end of its bar in each of these.
        heights: The height of each bar, a share of the largest step.
        sizes: Its points in each of these steps.
        bands: Outlines of the bands from its bars to those of the next step: x and y, one array per band.
    """

    name: str
    colour: str
    steps: tuple[int, ...]
    tops: tuple[float, ...]
    heights: tuple[float, ...]
    sizes: tuple[float, ...]
    bands: tuple[Array, ...]

    def bars(self) -> list[Array]:
        """Outlines of the bars: x and y."""
        half = BAR / 2
        return [
            np.array([[t - half, t + half, t + half, t - half], [y, y, y + h, y + h]])
            for t, y, h in zip(self.steps, self.tops, self.heights, strict=True)
        ]


def lanes_of(t: Tracks) -> list[Lane]:
    """The lanes of all lasting clusters, from top to bottom; parts of a split are next to what they split from.

    >>> import congruence as cg
    >>> lanes = lanes_of(cg.track([list("aaaabbbb"), list("xxxxyyyz")]))
    >>> [(lane.name, lane.sizes) for lane in lanes]
    [('a', (4.0, 4.0)), ('b', (4.0, 3.0)), ('z', (1.0,))]
    """
    lane_of = _lane_of_names(t)
    many = max(lane_of.values()) + 1
    at = [np.array([lane_of[name] for name in names], dtype=np.int64) for names in t.names]
    sizes = np.array([
        np.bincount(where, weights=np.asarray(step.sizes, dtype=float), minlength=many)
        for where, step in zip(at, t.history.steps, strict=True)
    ])  # fmt: skip
    most = sizes.sum(axis=1).max() or 1.0
    heights = sizes / most
    gap = GAPS / max(many - 1, 1)
    tops = (
        np.cumsum(heights, axis=1)
        - heights
        + gap * np.cumsum(np.roll(sizes > 0, 1, axis=1) * (np.arange(many) > 0), axis=1)
    )
    tops += (1 + GAPS - (tops + heights).max(axis=1, keepdims=True)) / 2  # steps with fewer points are centred
    bands = _bands(t, at, tops, heights, sizes)
    listed: list[tuple[str, str]] = [("", "")] * many
    own = _colours(many)
    for name, lane in lane_of.items():
        listed[lane] = (str(name), own[lane])
    others = len(lane_of) - many + 1
    if others > 1:
        listed[-1] = (f"{others:,} other clusters", OTHER)
    found = []
    for lane, (name, colour) in enumerate(listed):
        steps = np.flatnonzero(sizes[:, lane] > 0)
        found.append(
            Lane(
                name, colour, tuple(steps.tolist()), tuple(tops[steps, lane].tolist()),
                tuple(heights[steps, lane].tolist()), tuple(sizes[steps, lane].tolist()), tuple(bands[lane]),
            )
        )  # fmt: skip
    return found


def _lane_of_names(t: Tracks) -> dict[Label, int]:
    """The lane of each lasting name: small clusters share the last one if there are many."""
    mass: dict[Label, float] = defaultdict(float)
    for step, names in zip(t.history.steps, t.names, strict=True):
        for name, size in zip(names, step.sizes.tolist(), strict=True):
            mass[name] += size
    large = set(sorted(mass, key=lambda name: -mass[name])[: MOST_LANES - (len(mass) > MOST_LANES)])
    order = [name for name in t.names[0] if name in large]
    for event in t.happened:
        near = next((order.index(name) + 1 for name in reversed(event.before) if name in order), len(order))
        for name in reversed([x for x in event.after if x in large and x not in order]):
            order.insert(near, name)
    order += [name for name in mass if name in large and name not in order]
    return {name: order.index(name) if name in large else len(order) for name in mass}


def _bands(t: Tracks, at: list[Array], tops: Array, heights: Array, sizes: Array) -> list[list[Array]]:
    """The outlines of the bands that leave each lane."""
    many = tops.shape[1]
    found: list[list[Array]] = [[] for _ in range(many)]
    bend = np.linspace(0, 1, BEND)
    curve = 3 * bend**2 - 2 * bend**3
    for i in range(len(at) - 1):
        counts = _between(t, i, at, many)
        used = tops[i].copy(), tops[i + 1].copy()
        least = LEAST_BAND * sizes.sum(axis=1).max()
        for a, b in zip(*np.nonzero(counts), strict=True):
            tall = heights[i, a] * counts[a, b] / max(sizes[i, a], 1e-12)
            high = heights[i + 1, b] * counts[a, b] / max(sizes[i + 1, b], 1e-12)
            if counts[a, b] >= least:
                top = used[0][a] + (used[1][b] - used[0][a]) * curve
                under = top + tall + (high - tall) * curve
                x = i + BAR / 2 + (1 - BAR) * bend
                found[a].append(np.array([np.concatenate([x, x[::-1]]), np.concatenate([top, under[::-1]])]))
            used[0][a] += tall
            used[1][b] += high
    return found


def _between(t: Tracks, i: int, at: list[Array], many: int) -> Array:
    """Points that lanes of neighbouring steps share; for steps with their own points, the smaller size of linked clusters."""
    counts = np.zeros((many, many))
    a, b = t.history.steps[i], t.history.steps[i + 1]
    if not t.history.own_points:
        table = a.shared(b)
        np.add.at(counts, (at[i][table.row], at[i + 1][table.col]), table.data)
        return counts
    sizes = (
        dict(zip(t.names[i], a.sizes.tolist(), strict=True)),
        dict(zip(t.names[i + 1], b.sizes.tolist(), strict=True)),
    )
    lanes = (
        dict(zip(t.names[i], at[i].tolist(), strict=True)),
        dict(zip(t.names[i + 1], at[i + 1].tolist(), strict=True)),
    )
    for event in t.happened:
        if event.step == b.name and event.before and event.after:
            whole = sum(sizes[0][x] for x in event.before), sum(sizes[1][y] for y in event.after)
            for x in event.before:
                for y in event.after:
                    part = min(sizes[0][x] * sizes[1][y] / whole[1], sizes[1][y] * sizes[0][x] / whole[0])
                    counts[lanes[0][x], lanes[1][y]] += part
    return counts


def _colours(many: int) -> list[str]:
    """One colour per lane: the eight that colour-blind people can tell apart, then even hues, alternately dark and light."""
    if many <= len(EIGHT):
        return list(EIGHT[:many])
    found = []
    for i in range(many):
        r, g, b = colorsys.hls_to_rgb(i * 0.381966 % 1, (0.38, 0.6)[i % 2], 0.65)
        found.append(f"#{round(r * 255):02x}{round(g * 255):02x}{round(b * 255):02x}")
    return found


def labels_of(lanes: list[Lane], n_steps: int, least: float) -> list[tuple[float, float, str, bool]]:
    """Names beside bars: x, y, name, and whether it stands on the right: at the first and the last bar of each lane,
    inside the figure only of bars of the least height.
    """
    found = []
    for lane in lanes:
        middle = [(t, y + h / 2, h) for t, y, h in zip(lane.steps, lane.tops, lane.heights, strict=True)]
        first, last = middle[0], middle[-1]
        if first[2] >= least or first[0] == 0:
            found.append((first[0] - BAR / 2, first[1], lane.name, False))
        if last[0] == n_steps - 1 and last[0] != first[0] and last[2] >= least / 3:
            found.append((last[0] + BAR / 2, last[1], lane.name, True))
    return found
