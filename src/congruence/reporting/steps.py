"""Clusterings that are steps in time: their lasting clusters, and the flow of points through them as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from congruence.figures.time_pictures import BEND, Lane, labels_of, lanes_of
from congruence.inputs.column_names import are_steps
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array
from congruence.tracking.lasting import track
from congruence.tracking.results import Tracks
from congruence.typing import Label, Record

#: pixels between two steps, of the whole figure at least, its height, and its margins at the sides and the top
BETWEEN, WIDEST, DEEP, SIDE, TOP = 110, 700, 420, 110, 24


def tracks_of(e: Ensemble, own: list[int]) -> Tracks | None:
    """The lasting clusters of these members if their names are those of steps; None for others, and for soft members."""
    names, members = [e.names[i] for i in own], [e.members[i] for i in own]
    if not are_steps(names) or any(c.soft for c in members):
        return None
    return track({name: _labels(c) for name, c in zip(names, members, strict=True) if isinstance(c, Labels)})


def _labels(c: Labels) -> list[Label | None]:
    """The label of each point, None for points in no cluster."""
    names: list[Label | None] = [*map(str, c.names), None]
    return [names[code] for code in c.codes.tolist()]


def rows_of(t: Tracks | None) -> list[list[object]]:
    """The events as rows for the page: step, event, names before and after, shared points, p-value."""
    if t is None:
        return []
    return [
        [x.step, x.event, "; ".join(map(str, x.before)), "; ".join(map(str, x.after)), x.shared, x.p_value]
        for x in t.happened
    ]


def flow(t: Tracks) -> Record:
    """The figure for the page: its parts with places in pixels, and its size."""
    lanes, n = lanes_of(t), len(t.steps)
    apart = max(BETWEEN, (WIDEST - 2 * SIDE) / max(n - 1, 1)) if n < 15 else BETWEEN
    deep = max(y + h for lane in lanes for y, h in zip(lane.tops, lane.heights, strict=True))
    across, down = float(apart), (DEEP - TOP) / deep

    def placed(x: Array, y: Array) -> tuple[Array, Array]:
        return SIDE + x * across, TOP + y * down

    texts = [(SIDE + x * across, TOP + y * down, name, right) for x, y, name, right in labels_of(lanes, n, 0.018)]
    return {
        "width": 2 * SIDE + (n - 1) * across,
        "height": DEEP + 10,
        "lanes": [
            (lane.colour, " ".join(_band(*placed(*band)) for band in lane.bands), list(_bars(lane, t, placed)))
            for lane in lanes
        ],
        "texts": texts,
        "steps": [(SIDE + i * across, name) for i, name in enumerate(t.steps)],
    }


def _band(x: Array, y: Array) -> str:
    """A band as two cubic curves, which are the curves of its outline."""
    left, right = float(x[0]), float(x[BEND - 1])
    third = (right - left) / 3
    a, b, c, d = float(y[0]), float(y[BEND - 1]), float(y[BEND]), float(y[-1])
    return (
        f"M{left:.1f},{a:.1f}C{left + third:.1f},{a:.1f} {right - third:.1f},{b:.1f} {right:.1f},{b:.1f}"
        f"L{right:.1f},{c:.1f}C{right - third:.1f},{c:.1f} {left + third:.1f},{d:.1f} {left:.1f},{d:.1f}Z"
    )


def _bars(
    lane: Lane, t: Tracks, placed: Callable[[Array, Array], tuple[Array, Array]]
) -> Iterator[tuple[float, float, float, float, str]]:
    """Left, top, width, height and text of each bar."""
    for outline, step, size in zip(lane.bars(), lane.steps, lane.sizes, strict=True):
        x, y = placed(*outline)
        yield x[0], y[0], x[1] - x[0], max(y[2] - y[0], 0.5), f"{lane.name}, {t.steps[step]}: {size:,.6g} points"
