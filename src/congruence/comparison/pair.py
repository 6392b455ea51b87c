"""Compare two clusterings of the same points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from congruence.comparison.evaluation import DEFAULT, Evaluation, Measures
from congruence.comparison.matrices import compare_matrices
from congruence.comparison.results import Comparison
from congruence.comparison.trees import compare_trees, unused_options
from congruence.engine.choice import engine_for, on_card
from congruence.errors import InputError
from congruence.inputs.alignment import SCANNED, Align, Mass, aligned, as_mass, check_noise, noise_for
from congruence.inputs.coerce import as_clustering
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.labels import Labels, Unassigned, noise_caution
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity
from congruence.scanning.scan import columns_of_frames, scan_options
from congruence.statistics.tables import Table, Tables


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
    `engine`: "cpu", "cuda", or "auto": labels that are on a CUDA GPU are counted there.
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
    if isinstance(a, Hierarchy) or isinstance(b, Hierarchy):
        given = unused_options(unassigned, noise, sample_weight, frequency, align)
        return compare_trees(a, b, measures, threads, given)
    if any(isinstance(x, Ensemble | Similarity) for x in (a, b)):
        return compare_matrices(a, b, measures, unassigned, noise, sample_weight, frequency, align, threads, engine)
    a, b = on_card(a, engine), on_card(b, engine)
    pair, mass, notes, own_noise = bordered(a, b, unassigned, noise, sample_weight, frequency, align)
    soft = any(c.soft for c in pair)
    todo = Evaluation(measures, DEFAULT, soft=soft, weighted=mass is not None and not mass.is_frequency)

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
        (*notes, *left_out(pair), *cautions_of(pair, table, own_noise, soft)),
        todo.skipped, own, next((c.kind for c in pair if c.kind), None), titles_of(pair),
    )  # fmt: skip


def bordered(
    a: Any, b: Any, unassigned: Unassigned, noise: Any, sample_weight: Any, frequency: Any, align: Align | None
) -> tuple[list[Any], Mass | None, list[str], list[Any]]:
    """The two prepared clusterings (aligned, `unassigned` applied), the weights, notes, and the noise labels of each."""
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


def left_out(members: Sequence[Any]) -> tuple[str, ...]:
    """Notes on parts of scanned members that were skipped."""
    return tuple(members[0].source.facts(members[0]).left_out) if members[0].lazy else ()


def titles_of(pair: Sequence[Any]) -> tuple[str, str]:
    """The titles of the clusterings, else a and b."""
    first, second = (c.title or w for c, w in zip(pair, ("a", "b"), strict=True))
    return (first, second) if first != second else ("a", "b")


def cautions_of(pair: Sequence[Any], table: Table, noise: Sequence[Any], soft: bool) -> tuple[str, ...]:
    """Cautions about this pair: −1 among labels, soft self-scores, trivial clusterings."""
    found = [caution for c in pair for caution in c.cautions]
    for c, names, labels, who in zip(pair, (table.rows, table.columns), noise, ("a", "b"), strict=True):
        found += noise_caution(names, who) if isinstance(c, Labels) and not c.lazy and labels is None else []
    if soft:
        found.append(
            "soft clusterings do not reach the best value even with themselves: compare each value with the "
            "self-scores; ari_gram is centred on 0"
        )
    if any(isinstance(c, Memberships) and not c.is_probabilistic for c in pair):
        found.append(
            "possibilistic memberships: the entropy of one clustering depends on the other it is compared with"
        )
    return tuple(found)
