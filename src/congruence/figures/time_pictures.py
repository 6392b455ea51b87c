"""The figures of windows and steps, as marks."""

from __future__ import annotations

import numpy as np

from congruence.density.changes import Drift
from congruence.figures.layout import EIGHT
from congruence.figures.marks import Axis, Dots, Heat, Line, Mark, Panel, Picture, Shapes, Span, Texts
from congruence.figures.track_flow import labels_of, lanes_of
from congruence.statistics.tables import Array
from congruence.tracking.results import Tracks
from congruence.typing import Label

#: most rows of the heat map of drift, and the p-value (log10) of its darkest cells
MOST_ROWS, DARKEST = 40, 20.0


def of_drift(drift: Drift) -> Picture:
    """Agreement of each window with the previous and with the first, alarms, and the evidence per cluster and feature."""
    n, names = len(drift.windows), [str(x) for x in drift.windows]
    rows, cells = _evidence(drift)
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


def _evidence(d: Drift) -> tuple[list[str], Array]:
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
