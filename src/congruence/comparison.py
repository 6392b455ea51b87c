"""Comparing clusterings: one pair, several against a reference, all pairs. Border → plan → result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import fields
from typing import Any

import numpy as np

from congruence.clustering import (
    SCANNED,
    Align,
    Labels,
    Mass,
    Memberships,
    Similarity,
    Unassigned,
    aligned,
    as_clustering,
    as_mass,
    check_noise,
    noise_caution,
    noise_for,
)
from congruence.engine import cpu, matrices
from congruence.engine.choice import engine_for, on_card
from congruence.engine.plan import Progress, Run, against_first, all_pairs
from congruence.ensemble import Ensemble, _columns
from congruence.formulas import find, hint
from congruence.formulas import measures as every_measure
from congruence.frames import frame_kind
from congruence.numerics import assignment
from congruence.registry import Measure
from congruence.results import AgainstReference, AllPairs, Comparison, Matching, named_table
from congruence.scanning import Scan, columns_of_frames, scan_options
from congruence.statistics import (
    Alone,
    Array,
    Gram,
    Info,
    InputError,
    MatrixSums,
    MemberInfo,
    NotApplicable,
    Profiles,
    Table,
    Tables,
)

#: what `measures=None` means
DEFAULT = ("ari", "ami_max", "nmi_sum", "vi", "jaccard", "accuracy", "element_centric")
Measures = str | Measure | Iterable[str | Measure] | None


def _chosen(measures: Measures, default: Sequence[str] = DEFAULT) -> tuple[list[Measure], bool]:
    """The measures meant, and whether they were named one by one (then one that does not apply is an error)."""
    if measures is None:
        return [find(key) for key in default], False
    if isinstance(measures, str) and measures == "all":
        return list(every_measure()), False
    if not isinstance(measures, str | Measure | Iterable):
        raise InputError(f"measures must be keys, as in ['ari', 'vi'], or 'all'; got {measures!r}")
    listed = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not listed:
        raise InputError("no measures were named; leave `measures` out for the usual ones, or pass 'all'")
    chosen: dict[str, Measure] = {}
    for m in (find(x) for x in listed):
        if chosen.setdefault(m.key, m).parameters != m.parameters:
            raise InputError(f"{m.key} is named twice with different parameters; compare once for each")
    return list(chosen.values()), True


class _Evaluation:
    """Applies measures to tiles of statistics; one that does not apply is left out, or is an error if it was named."""

    def __init__(self, measures: Measures, default: Sequence[str], *, soft: bool, weighted: bool) -> None:
        chosen, self.strict = _chosen(measures, default)
        self.skipped: dict[str, str] = {}
        self.measures: dict[str, Measure] = {}
        for m in chosen:
            try:
                m.check(soft=soft, weighted=weighted)
            except NotApplicable as reason:
                self._leave_out(m, reason)
            else:
                self.measures[m.key] = m

    def _leave_out(self, m: Measure, reason: NotApplicable) -> None:
        if self.strict:
            raise reason
        self.skipped[m.key] = str(reason)
        self.measures.pop(m.key, None)

    @property
    def needs(self) -> set[type]:
        return {m.needs for m in self.measures.values()}

    def values(self, statistics: dict[type, Any], n_used: Array, swapped: bool = False) -> dict[str, Array]:
        """Each measure for every pair of a tile; NaN where no point was left to compare."""
        found = {}
        turned: dict[type, Any] = {}
        for m in list(self.measures.values()):
            if swapped and m.is_symmetric:
                continue
            kind = Tables if m.needs is Table else m.needs
            if swapped and kind not in turned:
                turned[kind] = statistics[kind].swapped()
            try:
                values = m.values((turned if swapped else statistics)[kind])
            except NotApplicable as reason:
                self._leave_out(m, reason)
            else:
                found[m.key] = np.where(n_used > 0, values, np.nan)
        return found


def compare(
    a: Any,
    b: Any,
    measures: Measures = None,
    *,
    unassigned: Unassigned = "error",
    noise: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
    align: Align | None = None,
    threads: int | None = None,
    engine: str = "auto",
    client: Any = None,
    checkpoint: Any = None,
    memory: str | float | None = None,
    skip_bad: bool | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> Comparison:
    """Measures of two clusterings of the same points; `a` is the reference where a measure is asymmetric.

    Labels are 1-D (lists, numpy, pandas, polars, arrow, torch …), memberships 2-D floats or sparse, points × clusters.
    `measures` are keys or records, or "all"; `unassigned` says what becomes of missing labels and those named by `noise`:
    "error", "drop", "singletons" or "cluster". `sample_weight` is importance, `frequency` counts of each point.
    `engine`: "cpu", "cuda", or "auto": labels that are on a CUDA card are counted there.
    `client`, `checkpoint`, `memory`, `skip_bad` and `progress` are for columns of a `cg.scan`, and mean what they mean there.

    >>> import congruence as cg
    >>> r = cg.compare([0, 0, 1, 1, 2, 2], ["a", "a", "b", "b", "b", "c"])
    >>> round(r["ari"], 4), round(r["vi"], 4)
    (0.4444, 0.5493)
    >>> cg.compare([0, 0, 1, None], [0, 0, 1, 1], "ari", unassigned="drop")["ari"]
    1.0
    """
    scanning = {
        "client": client,
        "checkpoint": checkpoint,
        "memory": memory,
        "skip_bad": skip_bad,
        "progress": progress,
    }
    a, b, sample_weight, frequency = columns_of_frames(a, b, sample_weight, frequency)
    a, b = scan_options([a, b], scanning)
    if any(isinstance(x, Ensemble | Similarity) for x in (a, b)):
        return _compare_matrices(a, b, measures, unassigned, noise, sample_weight, frequency, align, threads, engine)
    a, b = on_card(a, engine), on_card(b, engine)
    pair, mass, notes, own_noise = bordered(a, b, unassigned, noise, sample_weight, frequency, align)
    soft = any(c.soft for c in pair)
    todo = _Evaluation(measures, DEFAULT, soft=soft, weighted=mass is not None and not mass.is_frequency)

    counter = engine_for(engine, pair)
    table, tables = counter.table_of(pair[0], pair[1], mass, threads)
    n_used = tables.n_used
    if not n_used[0] or not table.n:
        raise InputError(f"no point is assigned in both clusterings ({len(pair[0])} points were given)")

    def measured(tile: Tables) -> dict[str, float]:
        kinds = {Tables if need is Table else need for need in todo.needs}
        values = todo.values({kind: kind.from_tables(tile) for kind in kinds}, n_used)  # type: ignore[attr-defined]
        return {key: float(value[0]) for key, value in values.items()}

    values = measured(tables)
    own = None
    if soft:
        mirrored = [measured(counter.table_of(c, c, mass, threads)[1]) for c in pair]
        own = (mirrored[0], mirrored[1])
    return Comparison(
        values, todo.measures, table, tables, int(n_used[0]),
        (*notes, *_left_out(pair), *_cautions(pair, table, own_noise, soft)),
        todo.skipped, own, next((c.kind for c in pair if c.kind), None), _titles(pair),
    )  # fmt: skip


def bordered(
    a: Any, b: Any, unassigned: Unassigned, noise: Any, sample_weight: Any, frequency: Any, align: Align | None
) -> tuple[list[Any], Mass | None, list[str], list[Any]]:
    """The two clusterings as `compare` takes them: aligned, with the policy; what points weigh, notes, noise of each."""
    pair = [as_clustering(a, "a"), as_clustering(b, "b")]
    pair, notes = aligned(pair, align, ("a", "b"))
    if unassigned == "partial":
        raise InputError(
            "unassigned='partial' keeps the gaps of an Ensemble; for a pair pass 'drop', 'singletons' or 'cluster'"
        )
    check_noise(noise, [*(c.title for c in pair), "a", "b"])
    own_noise = [noise_for(noise, (c.title, w)) for c, w in zip(pair, ("a", "b"), strict=True)]
    pair = [c.with_policy(unassigned, labels, w) for c, labels, w in zip(pair, own_noise, ("a", "b"), strict=True)]
    index = next((c.index for c in pair if c.index is not None), None)
    mass = as_mass(sample_weight, frequency, SCANNED if pair[0].lazy else len(pair[0]), index, align)
    return pair, mass, list(notes), own_noise


def _compare_matrices(
    a: Any,
    b: Any,
    measures: Measures,
    unassigned: Unassigned,
    noise: Any,
    sample_weight: Any,
    frequency: Any,
    align: Align | None,
    threads: int | None,
    engine: str,
) -> Comparison:
    """Measures of two matrices, ensembles, or a matrix or ensemble and a partition."""
    p, q = bordered_matrices(a, b, unassigned, noise, sample_weight, frequency, align)
    chosen, strict = _chosen(measures, [m.key for m in every_measure() if m.needs in (Gram, MatrixSums, MemberInfo)])
    values: dict[str, float] = {}
    skipped: dict[str, str] = {}
    sums: dict[tuple[str, bool], MatrixSums] = {}
    within = any(m.needs is MatrixSums for m in chosen)
    for m in chosen:
        try:
            _check_matrices(m, p, q)
            if m.needs is MemberInfo:
                values[m.key] = float(m.values(_member_info(p, q))[0])
                continue
            missing = m.parameters.get("missing", "ratio")
            if (missing, within) not in sums:
                sums[missing, within] = matrices.sums_of(
                    p, q, within=within, missing=missing, threads=threads, engine=engine
                )
            _check_unit(m, p, q)
            values[m.key] = float(m.values(sums[missing, within])[0])
        except NotApplicable as reason:
            if strict:
                raise
            skipped[m.key] = str(reason)
    shown = {m.key: m for m in chosen if m.key in values}
    own = None
    if within and sums:

        def with_itself(m: Measure, side: str) -> float:
            if m.needs is MemberInfo:
                return np.nan
            return float(m.values(sums[m.parameters.get("missing", "ratio"), within].alone(side))[0])

        own = ({k: with_itself(m, "a") for k, m in shown.items()}, {k: with_itself(m, "b") for k, m in shown.items()})
    cautions = tuple(c for e in (p, q) if isinstance(e, Ensemble) for c in (*e.notes, *e.cautions))
    return Comparison(
        values,
        shown,
        None,
        None,
        matrices.len_of(p),
        cautions,
        skipped,
        own,
        None,
        ("a", "b"),
        (_described(p), _described(q)),
    )


def bordered_matrices(
    a: Any, b: Any, unassigned: Unassigned, noise: Any, sample_weight: Any, frequency: Any, align: Align | None
) -> tuple[Ensemble | Similarity, Ensemble | Similarity]:
    """Two sides of which one is a matrix or ensemble, as `compare` takes them: a single clustering is an ensemble of one."""
    if align == "index":
        raise InputError("align='index' joins single clusterings; reindex the frames of an ensemble or matrix before")
    sides = []
    for x, who in ((a, "a"), (b, "b")):
        if not isinstance(x, Ensemble | Similarity):
            # one clustering is an ensemble of one; points it drops are gaps, and pairs with a gap are not counted
            policy: Unassigned = "partial" if unassigned == "drop" else unassigned
            x = Ensemble(
                [x], names=[who], unassigned=policy, noise=noise, sample_weight=sample_weight, frequency=frequency
            )
        elif sample_weight is not None or frequency is not None:
            raise InputError("weights of points belong to the ensemble: cg.Ensemble(…, sample_weight=…)")
        sides.append(x)
    p, q = sides
    if isinstance(p, Ensemble) and isinstance(q, Ensemble):
        p.check_same_points(q, by_index=align is None)
        p, q = _with_one_mass(p, q)
    return p, q


def _with_one_mass(p: Ensemble, q: Ensemble) -> tuple[Ensemble, Ensemble]:
    """Weights of the points given on one side hold for both; different ones cannot."""
    if p.mass is q.mass:
        return p, q
    if p.mass is not None and q.mass is not None:
        if p.mass.is_frequency != q.mass.is_frequency or not np.array_equal(p.mass.values, q.mass.values):
            raise InputError("the two ensembles weigh their points differently; give both the same weights")
        return p, q
    mass = p.mass or q.mass
    p, q = copy(p), copy(q)
    p.mass = q.mass = mass
    return p, q


def _described(x: Ensemble | Similarity) -> str:
    if isinstance(x, Similarity):
        return "similarity matrix"
    if len(x) > 1:
        return f"ensemble of {len(x)} clusterings"
    return f"{x.members[0].k} clusters"


def _check_matrices(m: Measure, p: Ensemble | Similarity, q: Ensemble | Similarity) -> None:
    """Why a measure does not apply to matrices and ensembles, if it does not."""
    if m.needs is Profiles:
        m.check(soft=False, weighted=False)
    one = [isinstance(x, Ensemble) and len(x) == 1 for x in (p, q)]
    if m.needs not in (Gram, MatrixSums, MemberInfo):
        why = (
            "describes one ensemble or matrix: " + f"cg.{m.key}(a)" if m.needs is Alone else "compares two clusterings"
        )
        raise NotApplicable(f"{m.key} {why}; for the members one by one see consensus_index and compare_all")
    if m.family != "matrices" and not all(one):
        raise NotApplicable(f"{m.key} compares two clusterings; for matrices and ensembles see arimm")
    if m.wants_partition and not any(one):
        raise NotApplicable(
            f"{m.key} compares a matrix or ensemble with one partition, and neither side is one; use arimm"
        )
    if m.needs is MemberInfo:
        if not (isinstance(p, Ensemble) and isinstance(q, Ensemble) and any(one)):
            raise NotApplicable(f"{m.key} compares the members of an ensemble with one partition")
        if p.has_gaps or q.has_gaps:
            raise NotApplicable(f"{m.key} is not defined for members that cover part of the points")


def _check_unit(m: Measure, p: Ensemble | Similarity, q: Ensemble | Similarity) -> None:
    """Kernels beyond 0 … 1 have an alignment and a correlation, but no adjusted Rand index."""
    for x, who in ((p, "a"), (q, "b")):
        if isinstance(x, Similarity) and not x.is_unit and not m.takes_kernels:
            raise NotApplicable(
                f"{m.key} needs entries between 0 and 1, and {who} has {x.low:.4g} to {x.high:.4g}; kas and sms take any kernel"
            )


def _member_info(p: Any, q: Any) -> MemberInfo:
    """Entropies of the members of the ensemble with the partition."""
    first, many = (q, p) if len(q) == 1 else (p, q)
    members = [first.members[0], *many.members]
    tiles = cpu.statistics(members, against_first(len(members)), {Info}, mass=p.mass)
    infos = [tile.statistics[Info] for tile in tiles]
    joined = Info(*(np.concatenate([getattr(i, f.name) for i in infos]) for f in fields(Info)))
    return MemberInfo(joined, many.shares)


def _left_out(members: Sequence[Any]) -> tuple[str, ...]:
    """What could not be read of scanned members and was skipped."""
    return tuple(members[0].source.facts(members[0]).left_out) if members[0].lazy else ()


def _titles(pair: Sequence[Any]) -> tuple[str, str]:
    first, second = (c.title or w for c, w in zip(pair, ("a", "b"), strict=True))
    return (first, second) if first != second else ("a", "b")


def _cautions(pair: Sequence[Any], table: Table, noise: Sequence[Any], soft: bool) -> tuple[str, ...]:
    found = [caution for c in pair for caution in c.cautions]
    for c, names, labels, who in zip(pair, (table.rows, table.columns), noise, ("a", "b"), strict=True):
        found += noise_caution(names, who) if isinstance(c, Labels) and not c.lazy and labels is None else []
    if soft:
        found.append(
            "soft clusterings do not score their best even with themselves: hold each value against the self-values "
            "beside it; ari_gram is the form that is centred on 0"
        )
    if any(isinstance(c, Memberships) and not c.is_probabilistic for c in pair):
        found.append(
            "possibilistic memberships: the entropy of one clustering depends on the other it is compared with"
        )
    return tuple(found)


def compare_all(
    clusterings: Any,
    measures: Measures = ("ari",),
    *,
    engine: str = "auto",
    client: Any = None,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
    unassigned: Unassigned = "error",
    noise: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
    align: Align | None = None,
    checkpoint: Any = None,
    memory: str | float | None = None,
    skip_bad: bool | None = None,
) -> AllPairs:
    """Measures of all pairs of clusterings, in one pass over the labels for any number of measures.

    `clusterings`: label columns (2-D array or frame), a list or mapping of clusterings, an Ensemble, an object with
    `.obs`, or a `cg.scan`. The result is the same to the bit for any number of `threads`; `progress` is called with (done,
    total). `engine`: "cpu", "cuda", or "auto": labels that are on a CUDA card (CuPy, torch) are counted there. `client`,
    `checkpoint`, `memory` and `skip_bad` are for scans, and mean what they mean in `cg.scan`.

    >>> import congruence as cg
    >>> r = cg.compare_all([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 0, 1]], ["ari", "vi"], threads=1)
    >>> r["ari"].round(3).tolist()
    [[1.0, 0.571, -0.5], [0.571, 1.0, -0.286], [-0.5, -0.286, 1.0]]
    """
    scanning = {"client": client, "checkpoint": checkpoint, "memory": memory, "skip_bad": skip_bad}
    clusterings = scan_options(clusterings, scanning)
    ensemble = Ensemble(
        on_card(clusterings, engine),
        sample_weight=sample_weight, frequency=frequency, unassigned=unassigned, noise=noise, align=align,
    )  # fmt: skip
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
        {key: square[key] for key in todo.measures}, todo.measures, ensemble.names, used, _named_gaps(ensemble, used),
        todo.skipped, ensemble.kind,
    )  # fmt: skip


def _named_gaps(ensemble: Ensemble, used: Array) -> tuple[str, ...]:
    """The ensemble's cautions, and pairs that have no point in common."""
    i, j = np.nonzero(np.triu(used == 0, 1))
    gone = [f"{ensemble.names[x]} and {ensemble.names[y]}" for x, y in zip(i[:5].tolist(), j[:5].tolist(), strict=True)]
    more = f", and {len(i) - 5} pairs more" if len(i) > 5 else ""
    words: tuple[str, ...] = ()
    if gone:
        words = (f"no point is assigned in both, so the value is undefined: {'; '.join(gone)}{more}",)
    empty = (
        [ensemble.names[x] for x in np.flatnonzero(np.diag(used) == 0)[:5]] if used.shape[0] == used.shape[1] else []
    )
    words += (f"no point is assigned at all in: {', '.join(empty)}",) if empty else ()
    return (*ensemble.notes, *_left_out(ensemble.members), *ensemble.cautions, *words)


def _evaluate(
    ensemble: Ensemble, measures: Measures, runs: Sequence[Run], keep: Callable[..., None], threads: int | None,
    progress: Any, engine: str,
) -> _Evaluation:  # fmt: skip
    """Every measure for every pair of the runs, a tile at a time: keep(i, j, n_used, values of (i, j), of (j, i))."""
    mass = ensemble.mass
    todo = _Evaluation(measures, DEFAULT, soft=ensemble.is_soft, weighted=mass is not None and not mass.is_frequency)
    counter = engine_for(engine, ensemble.members)
    with Progress(sum(len(r) for r in runs), progress) as bar:
        for tile in counter.statistics(ensemble.members, runs, todo.needs, mass=mass, threads=threads, progress=bar):
            forward = todo.values(tile.statistics, tile.n_used)
            backward = todo.values(tile.statistics, tile.n_used, swapped=True)
            keep(tile.i, tile.j, tile.n_used, forward, backward)
    return todo


def compare_to(
    reference: Any,
    clusterings: Any,
    measures: Measures = None,
    *,
    engine: str = "auto",
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
    unassigned: Unassigned = "error",
    noise: Any = None,
    sample_weight: Any = None,
    frequency: Any = None,
    align: Align | None = None,
    client: Any = None,
    checkpoint: Any = None,
    memory: str | float | None = None,
    skip_bad: bool | None = None,
) -> AgainstReference:
    """Measures of several clusterings against one reference: one row a clustering.

    `reference` is a clustering, or the name of one of the `clusterings`; `engine` as in `compare_all`. `client`,
    `checkpoint`, `memory` and `skip_bad` are for scans, and mean what they mean in `cg.scan`.

    >>> import congruence as cg
    >>> r = cg.compare_to("truth", {"truth": [0, 0, 1, 1], "x": [0, 0, 1, 2], "y": [0, 1, 0, 1]}, "ari")
    >>> r.names, r["ari"].round(3).tolist()
    (('x', 'y'), [0.571, -0.5])
    """
    scanning = {"client": client, "checkpoint": checkpoint, "memory": memory, "skip_bad": skip_bad}
    clusterings = scan_options(clusterings, scanning)
    if isinstance(reference, str) and isinstance(clusterings, Scan) and reference not in clusterings.names:
        clusterings = clusterings.narrowed([reference, *clusterings.names])  # a column that is no member can be it
    columns, _, kind = _columns(on_card(clusterings, engine))
    title = "reference"
    if isinstance(reference, str):
        named = dict(columns)
        if reference not in named:
            raise InputError(
                f"there is no clustering {reference!r} to be the reference; "
                f"{hint(reference, named, 'there are: ' + ', '.join(list(named)[:8]))}"
            )
        title, reference, columns = reference, named[reference], [c for c in columns if c[0] != reference]
    own = clusterings.mass if isinstance(clusterings, Ensemble) else None
    if own is not None and sample_weight is None and frequency is None:  # an ensemble brings the weights of its points
        sample_weight, frequency = (None, own.values) if own.is_frequency else (own.values, None)
    ensemble = Ensemble(
        [on_card(reference, engine), *(data for _, data in columns)], names=[title, *(name for name, _ in columns)],
        sample_weight=sample_weight, frequency=frequency, unassigned=unassigned, noise=noise, align=align,
    )  # fmt: skip
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
    words = (f"no point is assigned in both, so the value is undefined: {', '.join(empty[:5])}",) if empty else ()
    return AgainstReference(
        {key: rows[key] for key in todo.measures}, todo.measures, ensemble.names[1:], title, used,
        (*ensemble.notes, *_left_out(ensemble.members), *ensemble.cautions, *words), todo.skipped, kind or ensemble.kind,
    )  # fmt: skip


def scorer(key: str) -> Callable[..., float]:
    """The function of one measure: `scorer("ari")(a, b)` is the adjusted Rand index."""
    record = find(key)

    def score(a: Any, b: Any, **options: Any) -> float:
        own = {name: options.pop(name) for name in list(options) if name in record.parameters}
        if record.family == "matrices":
            a, b = (_as_matrix(x, who) for x, who in ((a, "a"), (b, "b")))
        return find(record, **own)(a, b, **options)

    score.__name__ = score.__qualname__ = "lambda_statistic" if key == "lambda" else key
    score.__module__ = "congruence"
    low, high = record.range
    parameters = "".join(f", {name}={value!r}" for name, value in record.parameters.items())
    score.__doc__ = (
        f"{record.title}: {record.better} is better, {low:g} to {high:g}.\n\n"
        f"    {score.__name__}(a, b{parameters}, **options of compare) → float\n\n"
        f"    {'; '.join(record.definition)}\n\n{record.formula.__doc__}\n"
        + (f"\nCaution: {record.caution}.\n" if record.caution else "")
        + f"\n>>> import congruence as cg\n>>> isinstance(cg.{score.__name__}([0, 0, 1, 1], [0, 1, 1, 0]), float)\nTrue\n"
    )
    return score


def _as_matrix(x: Any, who: str) -> Any:
    """For measures of matrices a square array is one; `compare` must be told by `cg.Similarity`."""
    shape: Any = getattr(x, "shape", ())
    square = len(shape) == 2 and shape[0] == shape[1] and shape[0] > 1
    return Similarity(x, who=who) if square and not isinstance(x, Memberships) else x


# --- tables and matchings ---------------------------------------------------------------------------------------


def contingency(a: Any, b: Any, **options: Any) -> Table:
    """The contingency table of two clusterings, with the clusters' own names; options as in `compare`.

    >>> import congruence as cg
    >>> cg.contingency(["x", "x", "y"], [5, 6, 6])
    Table: 2 clusters × 2 clusters, 3 points
       5  6
    x  1  1
    y  0  1
    """
    return compare(a, b, "rand", **options).table


def element_scores(
    a: Any,
    b: Any,
    *,
    unassigned: Unassigned = "error",
    noise: Any = None,
    align: Align | None = None,
    sample_weight: Any = None,
    frequency: Any = None,
) -> Any:
    """How well the two clusterings agree on each point, 0 to 1; their mean is `element_centric`.

    A pandas or polars series gives one back; dropped points are NaN.

    >>> import congruence as cg
    >>> cg.element_scores([0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2]).round(3).tolist()
    [1.0, 0.667, 0.667, 1.0, 0.5, 0.333]
    """
    if sample_weight is not None or frequency is not None:
        raise InputError("element_scores are the scores of single points; weights do not change them, leave them out")
    pair, _ = aligned([as_clustering(a, "a"), as_clustering(b, "b")], align, ("a", "b"))
    pair = [c.with_policy(unassigned, noise_for(noise, (c.title, w)), w) for c, w in zip(pair, ("a", "b"), strict=True)]
    table, _ = cpu.table_of(pair[0], pair[1])
    overlap = np.zeros(table.shape)
    share = table.count / np.maximum(table.row_sums[table.row], table.col_sums[table.col])
    overlap[table.row, table.col] = share
    return _like(a if frame_kind(a) else b, _point_scores(pair, table, overlap), "element_score", pair[0].index)


def _point_scores(pair: Sequence[Any], table: Table, overlap: Array) -> Array:
    first, second = pair
    if first.soft or second.soft:
        left, right = (cpu._rows(c, slice(None)) for c in pair)
        scores = np.einsum("pi,ij,pj->p", left, overlap, right, optimize=True)
        return np.asarray(scores * (len(first) / (left.sum(axis=1) * right.sum(axis=1)).sum()))
    places = []
    for c, names in zip(pair, (table.rows, table.columns), strict=True):
        # clusters that lost all their points are not in the table
        place = np.full(c.k + 1, -1)
        known = {name: i for i, name in enumerate(names.tolist() if isinstance(names, np.ndarray) else names)}
        for code, name in enumerate(c.names.tolist() if isinstance(c.names, np.ndarray) else c.names):
            place[code] = known.get(name, -1)
        places.append(place[c.codes])
    row, col = places
    return np.where((row >= 0) & (col >= 0), overlap[row, col], np.nan)


def _like(source: Any, values: Array, name: str, index: Any = None) -> Any:
    """The values as the kind of series that came in (with the index of the points they are for), else as they are."""
    kind = frame_kind(source)
    if kind == "pandas":
        import pandas as pd

        index = getattr(source, "index", None) if index is None else index
        return pd.Series(values, index=index if index is not None and len(index) == len(values) else None, name=name)
    if kind == "polars":
        import polars as pl

        return pl.Series(name, values.tolist() if values.dtype == object else values)
    return values


def match(a: Any, b: Any, **options: Any) -> Matching:
    """Which cluster of b is which of a: the one-to-one matching with the most points in common, and what is left over.

    >>> import congruence as cg
    >>> cg.match([0, 0, 1, 1, 1], ["u", "v", "v", "v", "w"])
    2 clusters matched, 3 of 5 points in common
       b  common  size a  size b  jaccard
    0  u       1       2       1    0.500
    1  v       2       3       3    0.500
    only in b: w
    """
    result = compare(a, b, "rand", **options)
    table = result.table
    cells = assignment(table.row, table.col, table.count, table.shape)
    cells = cells[np.argsort(table.row[cells], kind="stable")]
    row, col = table.row[cells], table.col[cells]
    rows = tuple(
        (table.rows[i], table.columns[j], common, table.row_sums[i].item(), table.col_sums[j].item())
        for i, j, common in zip(row.tolist(), col.tolist(), table.count[cells].tolist(), strict=True)
    )
    only_a = tuple(table.rows[i] for i in range(table.shape[0]) if i not in set(row.tolist()))
    only_b = tuple(table.columns[j] for j in range(table.shape[1]) if j not in set(col.tolist()))
    return Matching(rows, only_a, only_b, table.n.item(), result.kind)


def relabel(reference: Any, b: Any, **options: Any) -> Any:
    """b with its clusters renamed to fit the reference, so that names and colours agree; a series gives a series.

    A cluster of b that stands for none of the reference gets a name of its own: the next free number, or its own name.

    >>> import congruence as cg
    >>> cg.relabel([0, 0, 1, 1, 2], [5, 5, 3, 3, 4]).tolist()
    [0, 0, 1, 1, 2]
    >>> cg.relabel(["x", "x", "y", "y"], [0, 0, 1, 2]).tolist()
    ['x', 'x', 'y', '2']
    """
    found = match(reference, b, **options)
    taken = {a for a, *_ in found.rows} | set(found.only_a)
    new = dict(found.mapping)
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in taken)
    labels = as_clustering(b, "b")
    if not isinstance(labels, Labels):
        raise InputError("relabel renames labels; memberships have columns to reorder: see match")
    names = labels.names.tolist() if isinstance(labels.names, np.ndarray) else list(labels.names)
    for name in (name for name in names if name not in found.mapping):
        if whole:
            fresh: Any = max([-1, *taken]) + 1
        else:
            fresh = str(name)
            while fresh in taken:
                fresh += "′"
        new[name] = fresh
        taken.add(fresh)
    renamed = [new[name] for name in names]
    complete = whole and not labels.gaps and all(isinstance(x, int) for x in renamed)
    dictionary = np.empty(len(renamed) + 1, dtype=object)
    dictionary[:-1], dictionary[-1] = renamed, None
    values = dictionary[labels.codes]
    if complete:
        values = values.astype(np.int64)
    elif not labels.gaps and all(isinstance(x, str) for x in renamed):
        values = values.astype(str) if frame_kind(b) is None else values
    return _like(b, values, labels.title or "relabelled")


__all__ = [
    "compare", "compare_all", "compare_to", "contingency", "element_scores", "match", "named_table", "relabel", "scorer",
]  # fmt: skip
