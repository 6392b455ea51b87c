"""The report as plain data: everything the page shows, before anything is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from congruence.comparison.many import compare_all
from congruence.engine.plan import Progress
from congruence.errors import InputError
from congruence.figures.layout import distances, groups_of
from congruence.formulas.record import Measure
from congruence.reporting.members import Member, Scale, agreement, gathered, same_partitions, scale_of, wanted, worse
from congruence.reporting.pairs import Pairs, pairs_of
from congruence.reporting.points import Points, points_of
from congruence.reporting.ranking import Against, against_of
from congruence.reporting.together import Together, together_of
from congruence.statistics.tables import Array


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a report shows."""

    title: str
    n_points: int
    members: tuple[Member, ...]
    #: place of the reference among the members, and of the most central one
    reference: int | None
    central: int
    groups: tuple[tuple[int, ...], ...]
    silhouette: float
    scales: tuple[Scale, ...]
    pairs: Pairs
    against: Against | None
    points: Points | None
    together: Together | None
    cautions: tuple[str, ...]
    command: str | None
    source: str | None
    #: what `congruence compare` and `cg.compare` are told beside the pair, so that they count as the page does
    options: str
    arguments: str
    created: str
    version: str
    seconds: float

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the clusterings."""
        return tuple(m.name for m in self.members)

    @property
    def main(self) -> Scale:
        """The first measure."""
        return self.scales[0]

    def square(self, scale: Scale) -> Array:
        """The values of a measure as a square, NaN on the diagonal."""
        size = len(self.members)
        square = np.full((size, size), np.nan)
        square[np.triu_indices(size, 1)] = scale.values
        square.T[np.triu_indices(size, 1)] = scale.values
        return square


def build(
    clusterings: Any,
    *,
    reference: Any = None,
    data: Any = None,
    axes: Sequence[str] | None = None,
    ids: Any = None,
    measures: Sequence[str | Measure] | None = None,
    n_clusters: int | None = None,
    unassigned: str = "drop",
    noise: Any = None,
    title: str = "Clusterings",
    command: str | None = None,
    source: str | None = None,
    options: str | None = None,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> Model:
    """The data of a report; see `cg.report` for what is asked."""
    import congruence

    started = time.perf_counter()
    e, with_reference, cautions = gathered(clusterings, reference, unassigned, noise)
    size = len(e)
    if n_clusters is not None and not 1 <= n_clusters <= e.n_points:
        raise InputError(f"n_clusters must be from 1 to the number of points ({e.n_points}), not {n_clusters}")
    scored = compare_all(e, wanted(measures, e), threads=threads, progress=progress)
    cautions += [c for c in scored.cautions if c not in cautions]
    cautions += [f"{key} is left out: {why}" for key, why in scored.skipped.items()]
    own = [i for i in range(size) if not (with_reference and i == 0)]
    first = next(iter(scored))
    away = distances(scored[first], scored.measures[first])
    scales = tuple(scale_of(scored, key) for key in scored)
    mean, nearest = agreement(scored, first, own)
    central = min(own, key=lambda i: (worse(mean[i], scored.measures[first]), i))
    inside = away[np.ix_(own, own)]
    group_of, silhouette = groups_of(inside)
    same = same_partitions(e)
    everyone = np.full(size, -1)
    everyone[own] = group_of
    members = tuple(
        Member(
            e.names[i], c.k, len(c) - c.gaps, c.soft, with_reference and i == 0, mean[i], nearest[i], int(everyone[i]),
            same[i], tuple(str(x) for x in c.names),
        )
        for i, c in enumerate(e.members)
    )  # fmt: skip
    ensemble = e[own]
    sections = 2 + (len(own) > 1)
    with Progress(sections, progress if progress is False else None, "parts of the report") as bar:
        pairs = pairs_of(e, scored.n_used, 0 if with_reference else None, central)
        bar.add(1)
        against = against_of(e, scored, same, random_state, threads) if with_reference else None
        bar.add(1)
        points, together = None, None
        if len(own) > 1:
            points = points_of(ensemble, ids, data, axes, random_state)
            together = together_of(ensemble, n_clusters, random_state, threads)
            bar.add(1)
    return Model(
        title, e.n_points, members, 0 if with_reference else None, central,
        tuple(tuple(int(own[x]) for x in np.flatnonzero(group_of == g)) for g in range(int(group_of.max()) + 1)), silhouette,
        scales, pairs, against, points, together, tuple(dict.fromkeys(cautions)), command, source,
        f"--unassigned {unassigned}" if options is None else options,
        f"unassigned={unassigned!r}" + ("" if noise is None else f", noise={noise!r}"),
        time.strftime("%Y-%m-%d %H:%M"), congruence.__version__, time.perf_counter() - started,
    )  # fmt: skip
