"""Clusterings that are steps in time: their lasting clusters, the flow of points through them, and what changed, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from congruence.density.changes import Drift
from congruence.density.windows import drift
from congruence.figures.time_pictures import BEND, Lane, evidence_of, labels_of, lanes_of
from congruence.inputs.column_names import are_steps
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array
from congruence.tracking.lasting import track
from congruence.tracking.results import Tracks
from congruence.typing import Label, Record

#: pixels between two steps, of the whole figure at least, its height, and its margins at the sides and the top
BETWEEN, WIDEST, DEEP, SIDE, TOP = 110, 700, 420, 110, 24

#: of the figure of drift: pixels per row of the heat map, of the curves, and for the names of the rows
ROW, CURVES, NAMES = 16, 150, 210
#: most values (points × features × steps) that are compared, and most features
MOST_VALUES, MOST_FEATURES = 10**8, 200
#: what the page says instead
LEFT_OUT = (
    f"What changed in the data is shown for dense data of at most {MOST_FEATURES} features and {MOST_VALUES:,} values over all "
    "steps."
)


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


def drift_of(t: Tracks | None, X: Array | None, features: Sequence[str]) -> Drift | None:
    """How the lasting clusters change in the data from step to step; None without steps or data, or for too many values."""
    if t is None or X is None or hasattr(X, "toarray") or len(features) > MOST_FEATURES:
        return None
    if X.size * len(t.steps) > MOST_VALUES:
        return None
    columns = t.label_columns()
    windows = []
    for step in t.steps:
        names = np.array([None if x is None else str(x) for x in columns[step]], dtype=object)
        there = np.array([x is not None for x in names])
        own = dict(zip(features, X[there].T, strict=True))
        windows.append((step, own, names[there].tolist()))
    return drift(windows, progress=False)


def changes_of(d: Drift | None) -> list[list[object]]:
    """What changed, as rows for the page: those of `d.moved`."""
    return [] if d is None else [list(row) for x in d.findings if x is not None for row in x.moved]


def heat_map(d: Drift) -> Record:
    """The figure of drift for the page: two curves over the band without a change, alarms, and evidence per feature."""
    n, (names, cells) = len(d.windows), evidence_of(d)
    across = max(24.0, min(110.0, (WIDEST - SIDE) / n))
    left, under = float(NAMES), TOP + CURVES + 24.0
    centre = left + across * (np.arange(n) + 0.5)
    lines = (
        ("with the step before", [None, *d.previous.tolist()]),
        ("with the first step", [*[None] * (n - len(d.first)), *d.first.tolist()]),
    )
    known = [x for _, own in lines for x in own if x is not None]
    low, high = min([*known, *d.band]), max([1.0, *known, *d.band])

    def placed(value: float) -> float:
        return float(TOP + CURVES * (high - value) / max(high - low, 1e-12))

    curves = []
    for name, values in lines:
        at = [
            (float(x), placed(v), f"{w}: {d.measure} {name} {v:.4f}")
            for x, v, w in zip(centre, values, d.windows, strict=True)
            if v is not None
        ]
        curves.append((name, "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y, _ in at) if at else "", at))
    most = max(1.0, float(np.nanmax(cells, initial=0.0)))
    return {
        "width": left + across * n + 20, "height": under + ROW * len(names) + 30, "left": left, "right": left + across * n,
        "band": (placed(d.band[1]), max(placed(d.band[0]) - placed(d.band[1]), 1.0)), "curves": curves,
        "ticks": [(placed(v), f"{v:.2f}") for v in (low, high)], "across": across, "bottom": under + ROW * len(names),
        "alarms": [(float(x) - across / 2, str(w)) for x, w, is_one in zip(centre, d.windows, d.alarms, strict=True) if is_one],
        "windows": [(float(x), str(w)) for x, w in list(zip(centre, d.windows, strict=True))[:: max(1, n // 20)]],
        "rows": [(under + ROW * (i + 0.5), name) for i, name in enumerate(names)],
        "cells": [
            (left + across * w, under + ROW * i, float(cells[i, w]) / most, f"{d.windows[w]}, {name}: p = 10^−{cells[i, w]:.1f}")
            for i, name in enumerate(names) for w in range(n) if cells[i, w] > 0
        ],
    }  # fmt: skip
