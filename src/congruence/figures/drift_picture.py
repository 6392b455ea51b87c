"""The figure of drift as plain numbers: curves, the band without a change, alarms, and the cells of the heat map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.density.changes import Drift
from congruence.statistics.tables import Array
from congruence.typing import Label

#: most rows of the heat map, and the p-value (log10) of its darkest cells
MOST_ROWS, DARKEST = 40, 20.0


@dataclass(frozen=True, eq=False)
class DriftPicture:
    """The curves and cells of a figure of drift.

    Attributes:
        windows: Names of the windows.
        previous: The measure with the previous window; NaN for the first.
        first: The measure with the reference; NaN where the window is the reference.
        band: Values of the measure between the reference and windows drawn from it: 1 % and 99 % quantiles.
        alarms: The windows that are alarms.
        rows: Names of the rows: cluster and feature, or cluster and size.
        cells: Rows × windows: −log10 of the p-values before correction, at most `DARKEST`; NaN where nothing was tested.
        n_hidden: Rows that are left out: those with the weakest evidence.
    """

    windows: tuple[str, ...]
    previous: Array
    first: Array
    band: tuple[float, float]
    alarms: tuple[int, ...]
    rows: tuple[str, ...]
    cells: Array
    n_hidden: int


def drift_picture(d: Drift) -> DriftPicture:
    """The figure of a result of `cg.drift`, as plain numbers."""
    n = len(d.windows)
    lines: dict[tuple[Label, int], Array] = {}
    for w, finding in enumerate(d.findings):
        if finding is not None:
            for cluster, evidence in zip(finding.clusters, -finding.log10_p, strict=True):
                for f, value in enumerate(evidence.tolist()):
                    line = lines.setdefault((cluster, f), np.full(n, np.nan))
                    line[w] = np.fmax(line[w], min(value, DARKEST))
    called = ("size", *d.reference.names)
    clusters = list(dict.fromkeys(cluster for cluster, _ in lines))
    strongest = sorted(lines, key=lambda key: -float(np.nanmax(lines[key], initial=0.0)))[:MOST_ROWS]
    strongest.sort(key=lambda key: (clusters.index(key[0]), key[1]))
    cells = np.array([lines[key] for key in strongest]).reshape(len(strongest), n)
    first = np.full(n, np.nan)
    first[n - len(d.first) :] = d.first
    previous = np.concatenate([[np.nan], d.previous])
    alarms = tuple(i for i, alarm in enumerate(d.alarms) if alarm)
    return DriftPicture(
        tuple(map(str, d.windows)), previous, first, d.band, alarms, tuple(f"{c}: {called[f]}" for c, f in strongest),
        cells, len(lines) - len(strongest),
    )  # fmt: skip
