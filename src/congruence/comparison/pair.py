"""Compare two clusterings of the same points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypedDict, Unpack

from congruence.comparison.covers import intersections, what_explains
from congruence.comparison.evaluation import Evaluation, Measures
from congruence.comparison.matrices import compare_matrices
from congruence.comparison.results import Comparison
from congruence.comparison.trees import compare_trees
from congruence.engine.plan import engine_for, on_card
from congruence.errors import InputError, hint, joined
from congruence.inputs.alignment import Align, InputOptions
from congruence.inputs.coerce import is_scanned
from congruence.inputs.labels import Unassigned
from congruence.inputs.pair import PreparedPair, prepared
from congruence.statistics.tables import Table, Tables

Progressing = Callable[[int, int], Any] | bool | None


class InputKeywords(TypedDict, total=False):
    """How two clusterings are read, as keywords; they mean what they mean in `compare`."""

    unassigned: Unassigned
    noise: Any
    sample_weight: Any
    frequency: Any
    align: Align | None


class PairKeywords(InputKeywords, total=False):
    """How two clusterings are read and counted, as keywords; they mean what they mean in `compare`."""

    threads: int | None
    engine: str
    client: Any
    checkpoint: Any
    memory: str | float | None
    skip_bad: bool | None
    progress: Progressing


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

    Two hierarchies have measures of their own; a hierarchy and labels give the best cut by each measure.

    Args:
        a: First clustering: labels (a list, numpy, pandas, polars, arrow or DLPack array, 1-D), memberships (2-D
            floats or sparse, points × clusters), or an `Ensemble`, `Similarity` or `Hierarchy`. It is the reference
            where a measure is asymmetric.
        b: Second clustering, of the same points in the same order.
        measures: Keys or records of measures, one or several, or "all" for every measure that applies. Default None:
            ari, ami_max, nmi_sum, vi, jaccard, accuracy and element_centric.
        unassigned: What to do with points in no cluster, which are missing labels and labels named by `noise`:
            "error" (default) raises, "drop" leaves the points out, "singletons" makes each a separate cluster,
            "cluster" puts all in one cluster.
        noise: Labels that mean "in no cluster": one label, several, or a mapping from the name of a clustering to
            labels. Default None.
        sample_weight: Importance of each point, numbers of at least 0; only ratios matter. Default None: all points
            are equal.
        frequency: How often each point occurs, whole numbers. Default None: once.
        align: How pandas indexes are joined: "index" keeps common elements, "position" ignores indexes. Default None:
            indexes must be equal.
        threads: Number of threads; it does not change results. Default None: all cores.
        engine: Where to count: "auto" (default) uses the GPU if the labels are on one, else the CPU; "cpu"; or
            "cuda".
        client: Dask client, for columns of a `cg.scan`. Default None.
        checkpoint: Folder in which a count of scanned columns saves finished parts. Default None.
        memory: Memory that tables of scanned columns may use, as "2GB" or bytes. Default None.
        skip_bad: Whether to skip parts of a scan that cannot be read. Default None: no.
        progress: Function of (done, total) or True, for columns of a `cg.scan`. Default None.

    Returns:
        A `Comparison`: `r["ari"]` is a float, `r.to_frame()` a table, and printing it shows the values with their
            ranges.

    Raises:
        NotApplicable: If a named measure is not defined for this input. InputError: If the clusterings cannot be
            compared.

    See also:
        `cg.compare_to` for several clusterings and a reference, `cg.compare_all` for all pairs, `cg.contingency`,
            `cg.match`.

    >>> import congruence as cg
    >>> r = cg.compare([0, 0, 1, 1, 2, 2], ["a", "a", "b", "b", "b", "c"])
    >>> round(r["ari"], 4), round(r["vi"], 4)
    (0.4444, 0.5493)
    >>> cg.compare([0, 0, 1, None], [0, 0, 1, 1], "ari", unassigned="drop")["ari"]
    1.0
    """
    pair = prepared_pair(
        a, b, engine=engine, client=client, checkpoint=checkpoint, memory=memory, skip_bad=skip_bad, progress=progress,
        unassigned=unassigned, noise=noise, sample_weight=sample_weight, frequency=frequency, align=align,
    )  # fmt: skip
    return compare_prepared(pair, measures, threads=threads, engine=engine)


def prepared_pair(
    a: Any, b: Any, *, engine: str = "auto", client: Any = None, checkpoint: Any = None, memory: str | float | None = None,
    skip_bad: bool | None = None, progress: Progressing = None, **options: Unpack[InputKeywords],
) -> PreparedPair:  # fmt: skip
    """Two sides ready to be counted, wherever they are: in memory, on a card, or in columns of one scan."""
    border = input_options(**options)
    scanning = {
        "client": client,
        "checkpoint": checkpoint,
        "memory": memory,
        "skip_bad": skip_bad,
        "progress": progress,
    }
    given = [a, b, border.sample_weight, border.frequency]
    if is_scanned(given, scanning):
        from congruence.scanning.options import columns_of_frames, scan_options

        a, b, sample_weight, frequency = columns_of_frames(*given)
        a, b = scan_options([a, b], scanning)
        border = replace(border, sample_weight=sample_weight, frequency=frequency)
    return prepared(on_card(a, engine), on_card(b, engine), border)


def input_options(**options: Unpack[InputKeywords]) -> InputOptions:
    """The options as one object; a name that is none is an error with the nearest one."""
    known = [field.name for field in fields(InputOptions)]
    for name in options:
        if name not in known:
            raise TypeError(f"there is no option {name!r}; {hint(name, known, 'there are: ' + joined(known))}")
    return InputOptions(**options)


def counted_pair(pair: PreparedPair, threads: int | None = None, engine: str = "auto") -> tuple[Table, Tables]:
    """The table of a prepared pair, with names, and the tile that holds it."""
    if pair.is_of_trees:
        raise InputError("hierarchies have no contingency table; cut them first: h.cut(k)")
    if pair.is_of_matrices:
        raise InputError("matrices and ensembles have no contingency table; their measures come from sums over pairs")
    table, tables = engine_for(engine, pair.sides).table_of(pair.a, pair.b, pair.mass, threads)
    if not tables.n_used[0] or not table.n:
        raise InputError(f"no point is assigned in both clusterings ({len(pair.a)} points were given)")
    return table, tables


def compare_prepared(
    pair: PreparedPair, measures: Measures = None, *, threads: int | None = None, engine: str = "auto"
) -> Comparison:
    """The measures of a prepared pair: what `compare` does behind its border."""
    if pair.is_of_trees:
        return compare_trees(pair.a, pair.b, measures, threads)
    if pair.is_of_matrices:
        return compare_matrices(pair, measures, threads, engine)
    todo = Evaluation(measures, soft=pair.is_soft, weighted=pair.is_weighted, covers=pair.has_covers)
    table, tables = counted_pair(pair, threads, engine)

    def measured(tile: Tables) -> dict[str, float]:
        kinds = {Tables if need is Table else need for need in todo.needs}
        values = todo.values({kind: kind.from_tables(tile) for kind in kinds}, tables.n_used)  # type: ignore[attr-defined]
        return {key: float(value[0]) for key, value in values.items()}

    values = measured(tables)
    own = None
    if pair.is_soft:
        counter = engine_for(engine, pair.sides)
        mirrored = [measured(counter.table_of(c, c, pair.mass, threads)[1]) for c in pair.sides]
        own = (mirrored[0], mirrored[1])
    cautions = pair.cautions(table)
    if pair.has_covers and not pair.is_soft:
        cautions, table = (*cautions, *what_explains(tables, todo.measures)), intersections(table)
    return Comparison(
        values_=values, measures=todo.measures, counted=table, tables=tables, n_used=int(tables.n_used[0]),
        cautions=cautions, skipped=todo.skipped, self_values=own, kind=pair.kind, names=pair.names,
    )  # fmt: skip
