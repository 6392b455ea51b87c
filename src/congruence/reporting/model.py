"""The report as plain data: everything the page shows, before anything is drawn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from congruence.comparison.many import compare_all
from congruence.density.changes import Drift
from congruence.engine.plan import Progress, seed_sequence
from congruence.ensembles.agreement import why_trivial
from congruence.errors import Call, Caution, InputError, Option, With
from congruence.figures.features import Features, features_of
from congruence.figures.layout import distances, groups_of
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.files import width_of
from congruence.reporting.answer import Answer, answer_of, counted_of, names_of_groups, settled
from congruence.reporting.consensus_section import ConsensusSection, Levels, consensus_section, levels_of
from congruence.reporting.families import Families, families_of
from congruence.reporting.members import (
    Member,
    Pairs,
    Request,
    Scale,
    agreement,
    clusterings_shown,
    is_adjusted,
    measures_shown,
    pairs_of,
    relative,
    same_partitions,
    scale_of,
    worse,
)
from congruence.reporting.points import Points, Support, check_of, points_of, silhouettes_of, support_of
from congruence.reporting.ranking import Against, against_of
from congruence.reporting.steps import drift_of, tracks_of
from congruence.statistics.tables import Array
from congruence.tracking.results import Tracks
from congruence.trust.cluster_check import ClusterCheck
from congruence.trust.ranking import Known, ranking_of
from congruence.typing import EnsembleLike, Seed

#: smallest median agreement of a group of clusterings
A_GROUP = 0.3


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a report shows."""

    title: str
    n_points: int
    members: tuple[Member, ...]
    #: index of the reference among the members, and of the most central counted one
    reference: int | None
    central: int
    groups: tuple[tuple[int, ...], ...]
    silhouette: float
    scales: tuple[Scale, ...]
    pairs: Pairs
    against: Against | None
    points: Points
    together: ConsensusSection | None
    answer: Answer
    #: the names of its groups
    groups_called: tuple[str, ...]
    families: Families | None
    #: the best clustering by `cg.rank`, and its score; None if they agree no more than unrelated ones, or families differ
    pick: tuple[int, float] | None
    distinct: bool
    levels: Levels | None
    features: Features | None
    #: mean silhouette of each group in the data
    silhouettes: Array | None
    #: the number of clusters in the data; None without data
    support: Support | None
    #: whether the groups are separated in the data; None without data
    check: ClusterCheck | None
    #: lasting clusters, if the names of the clusterings are those of steps
    steps: Tracks | None
    #: what changed in the data over the steps; None without data
    drift: Drift | None
    cautions: tuple[Caution, ...]
    command: str | None
    source: str | None
    #: options of `congruence compare` and `cg.compare` that reproduce the values of the page
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
    def counted(self) -> tuple[int, ...]:
        """Indices of the clusterings that count in the answer."""
        return tuple(i for i, m in enumerate(self.members) if m.counts)

    @property
    def is_alone(self) -> bool:
        """Whether one clustering counts and there is no reference, so that nothing can agree with it."""
        return self.answer.is_pair and self.names[self.answer.counted[0]] == self.answer.by

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

    @property
    def agreement(self) -> Array:
        """The first measure over all pairs, relative to the self-scores; NaN on the diagonal."""
        square = self.square(self.main)
        np.fill_diagonal(square, self.main.selfs)
        square = relative(square, self.main.measure).copy()
        np.fill_diagonal(square, np.nan)
        return square


#: most clusterings on one page, which shows all pairs of them
MOST_CLUSTERINGS = 1000
#: most columns of a table that is read to find the clusterings among them
WIDEST = 5_000


def build(r: Request) -> Model:
    """The data of a report."""
    import congruence

    started = time.perf_counter()
    _check_width(r.clusterings)
    e, with_reference, cautions = clusterings_shown(r.clusterings, r.reference, r.unassigned, r.noise)
    size = len(e)
    _check_sizes(e, r.n_clusters)
    asked, left_out = measures_shown(r.measures, e)
    cautions += left_out
    scored = compare_all(e, asked, threads=r.threads, progress=r.progress)
    cautions += [c for c in scored.cautions if c not in cautions]
    cautions += [Caution("left_out", key, f"{{subject}} is left out: {why}") for key, why in scored.skipped.items()]
    own = [i for i in range(size) if not (with_reference and i == 0)]
    m = scored.measures[next(iter(scored))]
    square = relative(scored[m.key], m)
    same = same_partitions(e)
    trivial = [why_trivial(c) for c in e.members]
    counted = counted_of(own, trivial, same, r.distinct)
    mean, nearest = agreement(square, m, counted)
    central = min(counted, key=lambda i: (worse(mean[i], m), i))
    groups, group_of, silhouette = _groups(square, m, counted, size)
    members = tuple(
        Member(
            e.names[i], c.k, len(c) - c.gaps, c.soft, with_reference and i == 0, mean[i], nearest[i], int(group_of[i]),
            same[i], trivial[i], i in counted, tuple(str(x) for x in c.names),
        )
        for i, c in enumerate(e.members)
    )  # fmt: skip
    with Progress(4, r.progress if r.progress is False else None, "parts of the report") as bar:
        pairs = pairs_of(e, scored.n_used, 0 if with_reference else None, central)
        bar.add(1)
        against = against_of(e, scored, same, r.random_state, r.threads) if with_reference else None
        bar.add(1)
        points = points_of(e, r.ids, r.data, r.axes, r.random_state)
        together, everyone = None, list(counted if r.distinct else own)
        if len(counted) > 1:
            together = consensus_section(
                e[list(counted)], e[everyone], r.n_clusters, r.random_state, r.threads, e.members[central].codes
            )
        found = _answer(e, counted, with_reference, central, together)
        bar.add(1)
        support = support_of(points, e, counted, r.random_state)
        bar.add(1)
    families = pick = None
    if not found.is_pair:
        index = find("fari" if e.is_soft else "ari")
        aris = square if is_adjusted(m) else relative(compare_all(e, index, threads=r.threads)[index.key], index)
        pick = _pick(e, everyone, together, trivial, r.random_state, r.threads, r.n_clusters is not None)
        families = families_of(e, aris, groups, counted, found.chance.agreement)
    names = names_of_groups(e, found)
    features = None if points.numbers is None else features_of(points.numbers, points.features, found.labels, found.k)
    scales, tracks = tuple(scale_of(scored, key) for key in scored), tracks_of(e, own)
    return Model(
        r.title, e.n_points, members, 0 if with_reference else None, central,
        groups, silhouette, scales, pairs, against, points, together, found,
        names, families, pick, r.distinct,
        levels_of(e, counted, square) if m.better == "higher" else None, features,
        silhouettes_of(points, found.labels, found.k, r.random_state), support,
        check_of(points, support, found, names, r.random_state), tracks,
        drift_of(tracks, points.numbers, points.features),
        tuple(dict.fromkeys(cautions)), r.command, r.source,
        f"--unassigned {r.unassigned}" if r.options is None and r.unassigned != "error" else r.options or "",
        f"unassigned={r.unassigned!r}" + ("" if r.noise is None else f", noise={r.noise!r}"),
        time.strftime("%Y-%m-%d %H:%M"), congruence.__version__, time.perf_counter() - started,
    )  # fmt: skip


def _check_width(clusterings: EnsembleLike) -> None:
    """Refuse a file with too many columns before it is read."""
    if isinstance(clusterings, str | Path) and (width := width_of(clusterings)) > WIDEST:
        raise InputError(
            f"a report shows at most {MOST_CLUSTERINGS:,} clusterings, but {clusterings} has {width:,} columns; read "
            "those of the clusterings into a frame"
        )


def _check_sizes(e: Ensemble, n_clusters: int | None) -> None:
    """Refuse too many clusterings, and an impossible number of clusters."""
    if len(e) > MOST_CLUSTERINGS:
        many = f"a report shows at most {MOST_CLUSTERINGS:,} clusterings, but there are {len(e):,}; choose some"
        raise InputError(f"{many}{With('columns')}, or compare them with {Call('cg.compare_all')}")
    if n_clusters is not None and not 1 <= n_clusters <= e.n_points:
        raise InputError(
            f"{Option('n_clusters')} must be from 1 to the number of points ({e.n_points}), not {n_clusters}"
        )


def _groups(
    square: Array, m: Measure, counted: tuple[int, ...], size: int
) -> tuple[tuple[tuple[int, ...], ...], Array, float]:
    """Groups of counted clusterings that agree with one another: the group of each, −1 for none."""
    inside = square[np.ix_(counted, counted)]
    labels, silhouette = groups_of(distances(inside, m))
    of = np.full(size, -1)
    groups: list[tuple[int, ...]] = []
    for g in range(int(labels.max()) + 1):
        here = np.flatnonzero(labels == g)
        values = inside[np.ix_(here, here)][np.triu_indices(len(here), 1)]
        values = values[~np.isnan(values)]
        if m.better == "higher" and len(values) and float(np.median(values)) < A_GROUP:
            continue  # clusterings that do not agree are not a group
        of[[counted[x] for x in here]] = len(groups)
        groups.append(tuple(counted[x] for x in here.tolist()))
    return tuple(groups), of, silhouette


def _pick(
    e: Ensemble, everyone: list[int], together: ConsensusSection | None, trivial: Sequence[str], random_state: Seed,
    threads: int | None, is_k_known: bool,
) -> tuple[int, float] | None:  # fmt: skip
    """The best clustering by `cg.rank`, and its score."""
    reasons = [trivial[i] for i in everyone]
    if together is None or together.best is None or reasons.count("") < 2:
        return None
    seeds = seed_sequence(random_state)
    ranking = ranking_of(
        e[everyone], together.best, reasons, seeds, Known(is_k_known), finds_equal=False,
        threads=threads,
    )  # fmt: skip
    best = ranking.order[0]
    return None if ranking.best is None else (everyone[best], float(ranking.score[best]))


def _answer(
    e: Ensemble, counted: tuple[int, ...], has_reference: bool, central: int, together: ConsensusSection | None
) -> Answer:
    """The shared clusters: those of the consensus, or with two clusterings those of the first or of the reference."""
    if len(counted) == 1 or (len(counted) == 2 and together is not None):
        first = 0 if has_reference and len(counted) == 1 else counted[0]
        others = tuple(i for i in counted if i != first) or counted
        base = e.members[first]
        return answer_of(e, others, base.codes, base.k, ("clustering", e.names[first]), True)
    best = None if together is None else together.best
    if best is not None:
        return answer_of(e, counted, best.labels, best.n_clusters, ("consensus", best.method), False)
    return answer_of(e, counted, settled(e, counted, central), e.members[central].k, ("vote", e.names[central]), False)
