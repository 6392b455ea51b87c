"""The number of clusters by a vote of published criteria and, if requested, of agreement criteria."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from congruence.errors import InputError, Option, joined
from congruence.formulas.record import Measure
from congruence.selection import families, halves
from congruence.selection.agreement_curves import check_counts
from congruence.selection.choice import KChoice, curve_of
from congruence.selection.criteria import PEERS, Clusterings, Context, Curve
from congruence.selection.halves import fits_of
from congruence.selection.partitions import Question, placed, placed_by_centres
from congruence.selection.sentences import stopped
from congruence.statistics.tables import Array
from congruence.typing import Estimator

#: criteria that a user requests, by name, or measures
Criteria = str | Measure | Iterable[str | Measure] | None


def kinds_of_criteria(criteria: Criteria, plain: bool) -> tuple[list[str], list[str | Measure] | None]:
    """Published criteria and agreement criteria; None for the default ones.

    "pac" is computed from members if other criteria need members, otherwise from subsamples as in ConsensusClusterPlus.
    """
    if criteria is None:
        return [], None
    if not isinstance(criteria, str | Measure | Iterable):
        raise InputError(f"criteria must be names of criteria; got {criteria!r}")
    named = [criteria] if isinstance(criteria, str | Measure) else list(criteria)
    named = [x.strip() if isinstance(x, str) else x for x in named]
    published = [x for x in named if isinstance(x, str) and x in PEERS]
    if not plain or len(published) < len(named):
        published = [x for x in published if x != "pac"]
    return list(dict.fromkeys(published)), [x for x in named if x not in published]


def by_criteria(asked: Question, names: Sequence[str]) -> KChoice:
    """The vote of published criteria and, if requested, of agreement criteria."""
    from threadpoolctl import threadpool_limits

    called = "kmeans" if asked.called == "auto" else asked.called
    if called != "kmeans":
        _check_any(names, asked.method, called)
    able, notes, refused = asked.able(called)
    if refused is not None:
        return refused
    with threadpool_limits(1):
        if called == "kmeans":
            found, partitions, complete = _of_kmeans(asked, able, names)
        else:
            (found, partitions), complete = _of_any(asked, able, names), True
    finished = tuple(partitions)
    if not complete:
        notes.append(stopped(finished, len(able)))
    if len(found) < len(names):
        complete = False
        notes.append(stopped(found, len(names), "criteria"))
    curves = {
        name: curve_of(name, PEERS[name].title, c.values, c.best, True, better=PEERS[name].better, errors=c.errors)
        for name, c in found.items()
    }
    notes += [c.note for c in found.values() if c.note]
    return asked.answer(finished, curves, partitions, notes, complete, votes=True, method=called)


def _check_any(names: Sequence[str], method: str | Estimator, called: str) -> None:
    able = [name for name, peer in PEERS.items() if peer.of_any is not None]
    if not families.is_clusterer(method):
        raise InputError(
            f"{joined(names)} cannot be computed with method {called!r}; try {Option('method', 'kmeans', 'gaussian')}"
        )
    unable = [name for name in names if name not in able]
    if unable:
        raise InputError(
            f"{joined(unable)} cannot be computed with method {called!r}, only with k-means; {joined(able)} can, and without "
            "criteria any clusterer can be used"
        )
    check_counts(method)


def _of_kmeans(
    asked: Question, able: Sequence[int], names: Sequence[str]
) -> tuple[dict[str, Curve], dict[int, Array], bool]:
    parts = halves.Sample.of(asked.points.sample, able[-1], asked.seeds)
    done, complete = fits_of(parts, able, asked.n_jobs, asked.progress)
    context = Context(parts, done, asked.seeds)
    partitions = {k: placed_by_centres(asked.points, fit.halves) for k, fit in done.items()}
    curves: dict[str, Curve] = {}
    try:
        for name in names:
            curves[name] = PEERS[name].curve(context)
    except KeyboardInterrupt:
        if not curves:
            raise
    return curves, partitions, complete


def _of_any(asked: Question, able: Sequence[int], names: Sequence[str]) -> tuple[dict[str, Curve], dict[int, Array]]:
    points, seed = asked.points, int(np.random.default_rng(asked.seeds).integers(2**31 - 1))
    labels: Mapping[int, Array] = families.clusterer_of(asked.method)(points.sample, able, seed)
    found = Clusterings(points.sample, {k: labels[k] for k in able})
    curves = {name: of_any(found) for name in names if (of_any := PEERS[name].of_any) is not None}
    return curves, {k: placed(points, x) for k, x in found.labels.items()}
