"""Compare several clusterings: all pairs, or against one reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from congruence.comparison.at_once import IntegerVectors, Several, integer_vectors
from congruence.comparison.pair import Evaluation
from congruence.comparison.results import AgainstReference, AllPairs
from congruence.comparison.trees import all_pairs_of_trees, check_cpu, trees_to
from congruence.engine.in_place import counted_in_place
from congruence.engine.plan import Counted, Progress, Run, against_first, all_pairs, engine_for, on_card
from congruence.errors import Caution, InputError, joined, known_name, some_of
from congruence.formulas.record import Measures
from congruence.inputs.alignment import Align, InputOptions, left_out, noise_for
from congruence.inputs.coerce import as_clustering, is_scanned
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble, columns_of
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.kinds import Unassigned
from congruence.inputs.labels import is_frame
from congruence.options import described
from congruence.scanning.options import scan_options
from congruence.scanning.scan import Scan
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array
from congruence.typing import (
    Client,
    ClusteringLike,
    ColumnLike,
    EngineName,
    EnsembleLike,
    Frame,
    NoiseLike,
    PathLike,
    ProgressLike,
    WeightsLike,
)

#: default measure of `compare_all`; for hierarchies, the cophenetic correlation
ARI = ("ari",)


class Passing(Ensemble):
    """An ensemble for the duration of one call: integers stay in the given arrays, and are encoded when they are counted."""

    keeps = False
    sets_reference_apart = False


@described
def compare_all(
    clusterings: EnsembleLike,
    measures: Measures = ARI,
    *,
    engine: EngineName = "auto",
    client: Client = None,
    threads: int | None = None,
    progress: ProgressLike = None,
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    sample_weight: WeightsLike = None,
    frequency: WeightsLike = None,
    align: Align | None = None,
    checkpoint: PathLike | None = None,
    memory: str | float | None = None,
    skip_bad: bool | None = None,
) -> AllPairs:
    """Measures of all pairs of clusterings.

    All measures are computed in one pass over the labels. The result is identical to the last bit for any number of threads.

    Args:
        clusterings: Label columns (a 2-D array or a frame), a list or mapping of clusterings, an `Ensemble`, an
            object with `.obs`, a list or mapping of hierarchies, or a `cg.scan`.
        measures: Keys or records of measures, one or several, or "all". Default "ari" ("cophenetic" for hierarchies,
            "omega" for covers).
        engine, client, threads, progress: See `congruence.options`.
        unassigned, noise, sample_weight, frequency, align, checkpoint, memory, skip_bad: See `congruence.options`.

    Returns:
        An `AllPairs`: `r["ari"]` is an L × L array in the order of `r.names`; `r.n_used` counts the points of each
            pair.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.compare_to`, `cg.consensus_index`, `cg.member_agreement`.

    >>> import congruence as cg
    >>> r = cg.compare_all([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 0, 1]], ["ari", "vi"], threads=1)
    >>> r["ari"].round(3).tolist()
    [[1.0, 0.571, -0.5], [0.571, 1.0, -0.286], [-0.5, -0.286, 1.0]]
    """
    scanning = {"client": client, "checkpoint": checkpoint, "memory": memory, "skip_bad": skip_bad}
    if is_scanned(clusterings, scanning):
        clusterings = scan_options(clusterings, scanning)
    options = InputOptions(
        unassigned=unassigned, noise=noise, sample_weight=sample_weight, frequency=frequency, align=align
    )
    trees = _named_trees(clusterings)
    if trees is not None:
        check_cpu(engine)
        refuse_idle(compare_all, locals(), "for hierarchies")
        return all_pairs_of_trees(trees, ("cophenetic",) if measures is ARI else measures, threads, options)
    ensemble = Passing(on_card(clusterings, engine), **vars(options))
    if measures is ARI and ensemble.has_covers:
        measures = "omega" if not ensemble.is_soft else "aci"
    size = len(ensemble)
    square: dict[str, Array] = {}
    used = np.empty((size, size), dtype=np.int64)

    def keep(i: Array, j: Array, n_used: Array, forward: dict[str, Array], backward: dict[str, Array]) -> None:
        used[i, j] = used[j, i] = n_used
        for key, values in forward.items():
            matrix = square.setdefault(key, np.empty((size, size)))
            matrix[i, j] = values
            matrix[j, i] = backward.get(key, values)

    todo = _evaluate(ensemble, measures, all_pairs(size), keep, threads, progress, engine)
    return AllPairs(
        _values={key: square[key] for key in todo.measures}, measures=todo.measures, names=ensemble.names, n_used=used,
        cautions=(*_named_gaps(ensemble, used, todo), *todo.cautions), skipped=todo.skipped, kind=ensemble.kind,
    )  # fmt: skip


NO_COMMON_POINT = "no point is assigned in both, so the value is undefined"


def _named_gaps(ensemble: Ensemble, used: Array, todo: Evaluation) -> tuple[Caution, ...]:
    """The ensemble's cautions, and pairs that have no point in common."""
    i, j = np.nonzero(np.triu(used == 0, 1))
    gone = [f"{ensemble.names[x]} and {ensemble.names[y]}" for x, y in zip(i[:5].tolist(), j[:5].tolist(), strict=True)]
    more = f", and {len(i) - 5} more pairs" if len(i) > 5 else ""
    words = [Caution("no_common_point", "", f"{NO_COMMON_POINT}: {'; '.join(gone)}{more}")] if gone else []
    empty = [ensemble.names[x] for x in np.flatnonzero(np.diag(used) == 0)[:5]]
    words += [Caution("empty", "", f"no point is assigned in: {joined(empty)}")] if empty else []
    pairs = used[np.triu_indices(len(used), 1)] if len(used) > 1 else used
    return (*ensemble.notes, *left_out(ensemble.members), *ensemble.cautions, *_dropped(ensemble, pairs, todo), *words)


def _dropped(ensemble: Ensemble, used: Array, todo: Evaluation) -> list[Caution]:
    """How many points the pairs compare, if some points have no label, and clusterings left with one cluster."""
    total = ensemble.members[0].total(ensemble.mass)
    low, high = int(used.min()), int(used.max())
    if low == total:
        return []
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    said = f"{span} of {total:,} points are compared per pair; those without a label were dropped"
    alone = [(ensemble.names[i], ensemble.names[j]) for i, j, n in todo.alone if 0 < n < total]
    if not alone:
        return [Caution("dropped", "", said)]
    listed = [f"{one} (compared with {other})" for one, other in alone[:3]]
    more = f", and {len(alone) - 3:,} more" if len(alone) > 3 else ""
    left = f"one cluster is left after points without a label were dropped: {', '.join(listed)}{more}"
    return [Caution("dropped", "", said), Caution("one_cluster_left", "", left)]


def _evaluate(
    ensemble: Ensemble, measures: Measures, runs: Sequence[Run], keep: Callable[..., None], threads: int | None,
    progress: ProgressLike, engine: EngineName,
) -> Evaluation:  # fmt: skip
    """Every measure for every pair of the runs, one tile at a time: keep(i, j, n_used, values of (i, j), of (j, i))."""
    mass = ensemble.mass
    weighted = mass is not None and not mass.is_frequency
    todo = Evaluation(measures, soft=ensemble.is_soft, weighted=weighted, covers=ensemble.has_covers)
    counter = engine_for(engine, ensemble.members)
    drops = ensemble.is_plain and any(c.may_drop for c in ensemble.members)
    needs = todo.needs | {Pairs} if drops else todo.needs
    with Progress(sum(len(r) for r in runs), progress) as bar:
        for tile in counter.statistics(ensemble.members, runs, needs, mass=mass, threads=threads, progress=bar):
            _measure(todo, tile, keep)
            if drops:
                todo.note_alone(tile.i, tile.j, tile.n_used, cast("Pairs", tile.statistics[Pairs]))
    return todo


def _measure(todo: Evaluation, tile: Counted, keep: Callable[..., None]) -> None:
    forward = todo.values(tile.statistics, tile.n_used)
    backward = todo.values(tile.statistics, tile.n_used, swapped=True)
    keep(tile.i, tile.j, tile.n_used, forward, backward)


def _vectors_to(
    given: IntegerVectors, measures: Measures, threads: int | None, progress: ProgressLike
) -> AgainstReference | None:
    """The result of `compare_to` for vectors of integers, counted in place; None if their ranges are too wide."""
    todo = Evaluation(measures, soft=False, weighted=False, covers=False)
    values: dict[str, Array] = {}
    n_used = np.full(len(given.names) - 1, len(given.values[0]), dtype=np.int64)
    with Progress(len(n_used), progress) as bar:
        counted = counted_in_place(given.values, todo.needs, threads, bar)
        if counted is None:
            return None
        for tile in counted[1]:
            values |= todo.values(tile.statistics, tile.n_used)
    return AgainstReference(
        _values={key: values[key] for key in todo.measures}, measures=todo.measures, names=tuple(given.names[1:]),
        reference=given.names[0], n_used=n_used, cautions=(*given.cautions(counted[0]), *todo.cautions),
        skipped=todo.skipped, kind=None,
    )  # fmt: skip


@described
def compare_to(
    reference: ClusteringLike,
    clusterings: EnsembleLike,
    measures: Measures = None,
    *,
    engine: EngineName = "auto",
    threads: int | None = None,
    progress: ProgressLike = None,
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    sample_weight: WeightsLike = None,
    frequency: WeightsLike = None,
    align: Align | None = None,
    client: Client = None,
    checkpoint: PathLike | None = None,
    memory: str | float | None = None,
    skip_bad: bool | None = None,
) -> AgainstReference:
    """Measures of several clusterings against one reference: one row per clustering.

    Args:
        reference: A clustering, or the name of one of the clusterings.
        clusterings: Label columns, a list or mapping of clusterings, an `Ensemble`, or a `cg.scan`.
        measures: Keys or records of measures, one or several, or "all" for every measure that applies. Default None:
            ari, ami_max, nmi_sum, vi, jaccard, accuracy and element_centric.
        engine, client, threads, progress: See `congruence.options`.
        unassigned, noise, sample_weight, frequency, align, checkpoint, memory, skip_bad: See `congruence.options`.

    Returns:
        An `AgainstReference`: `r["ari"]` is an array with one value per clustering, `r.best("ari")` the name of the
            best.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.compare`, `cg.compare_all`, `cg.permutation_tests`.

    >>> import congruence as cg
    >>> r = cg.compare_to("truth", {"truth": [0, 0, 1, 1], "x": [0, 0, 1, 2], "y": [0, 1, 0, 1]}, "ari")
    >>> r.names, r["ari"].round(3).tolist()
    (('x', 'y'), [0.571, -0.5])
    """
    options = InputOptions(
        unassigned=unassigned, noise=noise, sample_weight=sample_weight, frequency=frequency, align=align
    )
    scanning = {"client": client, "checkpoint": checkpoint, "memory": memory, "skip_bad": skip_bad}
    plain = engine in ("auto", "cpu") and not options.given and all(x is None for x in scanning.values())
    if plain and type(clusterings) in (dict, list, tuple, np.ndarray):
        vectors = integer_vectors(reference, cast("Several", clusterings))
        found = None if vectors is None else _vectors_to(vectors, measures, threads, progress)
        if found is not None:
            return found
    if is_scanned(clusterings, scanning):
        clusterings = scan_options(clusterings, scanning)
    if isinstance(reference, str) and isinstance(clusterings, Scan) and reference not in clusterings.names:
        clusterings = clusterings.narrowed(
            [reference, *clusterings.names]
        )  # the reference can be a column that is not a member
    trees = _named_trees(clusterings)
    if trees is not None:
        check_cpu(engine)
        refuse_idle(compare_to, locals(), "for hierarchies")
        return trees_to(reference, trees, measures, threads, options)
    columns, _, kind = columns_of(on_card(clusterings, engine))
    title = "reference"
    if isinstance(reference, str):
        title, reference = reference, _named_reference(reference, columns, clusterings)
        columns = [c for c in columns if c[0] != title]
    own = clusterings.mass if isinstance(clusterings, Ensemble) else None
    if own is not None and sample_weight is None and frequency is None:  # an ensemble has its own point weights
        weights = (None, own.values) if own.is_frequency else (own.values, None)
        options = replace(options, sample_weight=weights[0], frequency=weights[1])
    first = on_card(reference, engine)
    if (
        isinstance(clusterings, Ensemble) and unassigned == "error"
    ):  # `unassigned` is already applied to its members, but not to the reference
        first = as_clustering(first, title).with_policy("error", noise_for(noise, (title, "reference")), title)
        options = replace(options, unassigned="partial")
    sides = [first, *(data for _, data in columns)]
    ensemble = Passing(sides, names=[title, *(name for name, _ in columns)], **vars(options))
    if len(ensemble) < 2:
        raise InputError("there are no clusterings to compare with the reference")
    rows: dict[str, Array] = {}
    used = np.empty(len(ensemble) - 1, dtype=np.int64)

    def keep(i: Array, j: Array, n_used: Array, forward: dict[str, Array], backward: dict[str, Array]) -> None:
        used[j - 1] = n_used
        for key, values in forward.items():
            rows.setdefault(key, np.empty(len(used)))[j - 1] = values

    todo = _evaluate(ensemble, measures, against_first(len(ensemble)), keep, threads, progress, engine)
    empty = [name for name, n in zip(ensemble.names[1:], used.tolist(), strict=True) if n == 0]
    words = [Caution("no_common_point", "", f"{NO_COMMON_POINT}: {some_of(empty, 5)}")] if empty else []
    return AgainstReference(
        _values={key: rows[key] for key in todo.measures}, measures=todo.measures, names=ensemble.names[1:], reference=title,
        n_used=used,
        cautions=(
            *ensemble.notes, *left_out(ensemble.members), *ensemble.cautions, *_dropped(ensemble, used, todo), *words,
            *todo.cautions,
        ),
        skipped=todo.skipped, kind=kind or ensemble.kind,
    )  # fmt: skip


def _named_reference(name: str, columns: Sequence[tuple[str, ClusteringLike]], clusterings: Frame) -> ColumnLike:
    """The clustering of this name; a column of a frame may be of any kind, because it is requested by name."""
    named = dict(columns)
    if name not in named and is_frame(clusterings) and name in clusterings.columns:
        return clusterings[name]
    known_name("clustering", name, named)
    return named[name]


def _named_trees(given: EnsembleLike) -> list[tuple[str, Hierarchy]] | None:
    """Names and trees, if a list or mapping of hierarchies was given; None if there is no hierarchy in it."""
    if isinstance(given, Mapping):
        listed = [(str(name), x) for name, x in given.items()]
    elif isinstance(given, list | tuple):
        listed = [(str(i), x) for i, x in enumerate(given)]
    else:
        return None
    if not any(isinstance(x, Hierarchy) for _, x in listed):
        return None
    other = next((name for name, x in listed if not isinstance(x, Hierarchy)), None)
    if other is not None:
        raise InputError(f"{other} is not a hierarchy, but others are; compare a hierarchy with labels one by one")
    return listed
