"""The flow of points through lasting clusters as plain numbers: bars per step, and bands between neighbouring steps."""

from __future__ import annotations

import colorsys
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from congruence.figures.layout import EIGHT
from congruence.statistics.tables import Array
from congruence.tracking.results import Tracks
from congruence.typing import Label

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
