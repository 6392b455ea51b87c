"""The number of clusters by a vote of published criteria and, if requested, of agreement criteria."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import InputError, Option
from congruence.formulas.record import Measure
from congruence.selection import families, halves
from congruence.selection.agreement_curves import check_counts
from congruence.selection.by_rule import is_clusterer
from congruence.selection.choice import Criterion, KChoice
from congruence.selection.criteria import PEERS, Clusterings, Context, Curve
from congruence.selection.fits import fits_of
from congruence.selection.partitions import lacking, padded, placed, placed_by_centres, too_few, with_reference
from congruence.selection.points import Points
from congruence.selection.sentences import listed
from congruence.statistics.tables import Array
from congruence.typing import Estimator, ProgressLike

if TYPE_CHECKING:
    from congruence.inputs.kinds import Clustering
    from congruence.selection.agreement_curves import MemberCurves


#: criteria that a user requests, by name, or measures
Criteria = str | Measure | Iterable[str | Measure] | None


def sorted_out(criteria: Criteria, plain: bool) -> tuple[list[str], list[str | Measure] | None]:
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


def by_criteria(
    points: Points, ks: Sequence[int], names: Sequence[str], method: str | Estimator,
    seeds: np.random.SeedSequence, members: MemberCurves | None,
    truth: Clustering | None, n_jobs: int | None, progress: ProgressLike,
) -> KChoice:  # fmt: skip
    """The vote of published criteria and, if requested, of agreement criteria."""
    from threadpoolctl import threadpool_limits

    called = method if isinstance(method, str) else type(method).__name__
    called = "kmeans" if called == "auto" else called
    if called != "kmeans":
        _check_any(names, method, called)
    able, notes, reason = too_few(points, ks)
    notes = [*points.notes, *notes, *lacking(truth, len(points.all))]
    if reason:
        return KChoice(ks=tuple(able or ks[:1]), criteria={}, notes=tuple(notes), method=called, reason=reason)
    with threadpool_limits(1):
        if called == "kmeans":
            found, partitions, complete = _of_kmeans(points, able, names, seeds, n_jobs, progress)
        else:
            found, partitions = _of_any(points, able, names, method, seeds)
            complete = True
    finished = tuple(partitions)
    if not complete:
        notes.append(f"stopped: {len(finished)} of {len(able)} numbers of clusters are done, {listed(finished)}")
    if len(found) < len(names):
        complete = False
        notes.append(f"stopped: {len(found)} of {len(names)} criteria are done, {listed(list(found))}")
    curves = {
        name: Criterion(
            name=name, title=PEERS[name].title, better=PEERS[name].better, values=c.values, errors=c.errors, best=c.best
        )
        for name, c in found.items()
    }
    agreed, classes = with_reference(truth, finished, partitions)
    notes += [c.note for c in found.values() if c.note]
    if members is None:
        return KChoice(
            ks=finished, criteria=curves, with_reference=agreed, n_reference=classes, notes=tuple(notes),
            is_complete=complete, partitions=partitions, method=called,
        )  # fmt: skip
    curves |= {name: replace(padded(c, members.ks, finished), votes=c.votes) for name, c in members.curves.items()}
    agreed |= {name: padded(c, members.ks, finished) for name, c in members.with_reference.items()}
    return KChoice(
        ks=finished, criteria=curves, with_reference=agreed, success=members.success, n_reference=classes,
        ensembles=members.ensembles, notes=(*notes, *members.notes),
        is_complete=complete and members.is_complete, partitions=partitions, method=called,
    )  # fmt: skip


def _check_any(names: Sequence[str], method: str | Estimator, called: str) -> None:
    able = [name for name, peer in PEERS.items() if peer.of_any is not None]
    if not is_clusterer(method):
        raise InputError(
            f"{listed(names)} cannot be computed with method {called!r}; try {Option('method', 'kmeans', 'gaussian')}"
        )
    unable = [name for name in names if name not in able]
    if unable:
        raise InputError(
            f"{listed(unable)} cannot be computed with method {called!r}, only with k-means; {listed(able)} can, and without "
            "criteria any clusterer can be used"
        )
    check_counts(method)


def _of_kmeans(
    points: Points,
    able: Sequence[int],
    names: Sequence[str],
    seeds: np.random.SeedSequence,
    n_jobs: int | None,
    progress: ProgressLike,
) -> tuple[dict[str, Curve], dict[int, Array], bool]:
    parts = halves.Sample.of(points.sample, able[-1], seeds)
    done, complete = fits_of(parts, able, n_jobs, progress)
    context = Context(parts, done, seeds)
    partitions = {k: placed_by_centres(points, fit.halves) for k, fit in done.items()}
    curves: dict[str, Curve] = {}
    try:
        for name in names:
            curves[name] = PEERS[name].curve(context)
    except KeyboardInterrupt:
        if not curves:
            raise
    return curves, partitions, complete


def _of_any(
    points: Points, able: Sequence[int], names: Sequence[str], method: str | Estimator, seeds: np.random.SeedSequence
) -> tuple[dict[str, Curve], dict[int, Array]]:
    seed = int(np.random.default_rng(seeds).integers(2**31 - 1))
    labels: Mapping[int, Array] = families.clusterer_of(method)(points.sample, able, seed)
    found = Clusterings(points.sample, {k: labels[k] for k in able})
    curves = {name: of_any(found) for name in names if (of_any := PEERS[name].of_any) is not None}
    return curves, {k: placed(points, x) for k, x in found.labels.items()}
