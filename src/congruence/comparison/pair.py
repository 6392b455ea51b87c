"""Compare two clusterings of the same points: `compare`, from its inputs to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, Unpack, cast

import numpy as np

from congruence.comparison.plans import BY_KIND, BY_POINT, NO_TABLE, PLANS, Plan, plan_in, quick, refusal
from congruence.comparison.presenting import (
    Result,
    key_of,
    named_table,
    notes_text,
    number,
    shortened,
    shown_beside,
    shown_notes,
    span,
)
from congruence.engine.cpu import statistics_of_one
from congruence.engine.plan import engine_for, on_card
from congruence.errors import A, B, Caution, InputError, NoSuchName, NotApplicable, Option, counted, hint, joined
from congruence.formulas.record import Measure, Measures, chosen_measures, is_among
from congruence.inputs.alignment import Align, InputKeywords, InputOptions, PreparedPair, prepared
from congruence.inputs.coerce import as_clustering, is_scanned
from congruence.inputs.counts import points_of
from congruence.inputs.frames import html_grid, text_grid
from congruence.inputs.kinds import Unassigned
from congruence.inputs.labels import is_mapping
from congruence.options import described
from congruence.statistics.concordance import Concordance
from congruence.statistics.tables import Array, Table, Tables
from congruence.typing import (
    Client,
    ClusteringLike,
    ColumnLike,
    Dynamic,
    EngineName,
    NoiseLike,
    OptionValue,
    PathLike,
    ProgressLike,
    Record,
    Scalar,
    WeightsLike,
)

if TYPE_CHECKING:
    from congruence.statistics import Statistic, TwoSided
    from congruence.statistics.pairs import Pairs

T = TypeVar("T")

#: the options of how clusterings are read
KNOWN = tuple(f.name for f in fields(InputOptions))


class PairKeywords(InputKeywords, total=False):
    """Options for reading and counting two clusterings, as in `compare`."""

    threads: int | None
    engine: EngineName
    client: Client
    checkpoint: PathLike | None
    memory: str | float | None
    skip_bad: bool | None
    progress: ProgressLike


@described
def compare(
    a: ClusteringLike | Table,
    b: ClusteringLike | None = None,
    measures: Measures = None,
    *,
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    sample_weight: WeightsLike = None,
    frequency: WeightsLike = None,
    align: Align | None = None,
    threads: int | None = None,
    engine: EngineName = "auto",
    client: Client = None,
    checkpoint: PathLike | None = None,
    memory: str | float | None = None,
    skip_bad: bool | None = None,
    progress: ProgressLike = None,
) -> Comparison:
    """Measures of two clusterings of the same points; `a` is the reference for asymmetric measures.

    Two hierarchies have their own measures. For a hierarchy and labels, the result is the best cut by each measure.

    Args:
        a: See `congruence.options`. A `cg.Table` of counts takes the place of both clusterings.
        b: Second clustering, of the same points in the same order. Default None: `a` is a `cg.Table`.
        measures: Keys or records of measures, one or several, or "all" for every measure that applies. Default None:
            ari, ami_max, nmi_sum, vi, jaccard, accuracy and element_centric; for memberships aci, ndc (both up to 4,000
            points), fari, nmi_sum, vi, accuracy and element_centric.
        unassigned, noise, sample_weight, frequency, align: See `congruence.options`.
        threads, engine, client, checkpoint, memory, skip_bad, progress: See `congruence.options`.

    Returns:
        A `Comparison`: `r["ari"]` is a float, `r.to_frame()` a table, and printing it shows the values with their
            ranges.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.compare_to` for several clusterings and a reference, `cg.compare_all` for all pairs, `cg.contingency`,
            `cg.match`.

    >>> import congruence as cg
    >>> r = cg.compare([0, 0, 1, 1, 2, 2], ["a", "a", "b", "b", "b", "c"])
    >>> round(r["ari"], 4), round(r["vi"], 4)
    (0.4444, 0.5493)
    >>> cg.compare([0, 0, 1, None], [0, 0, 1, 1], "ari", unassigned="drop")["ari"]
    1.0
    >>> round(cg.compare(cg.Table([[2, 0, 0], [0, 2, 1], [0, 0, 1]]), measures="vi")["vi"], 4)
    0.5493
    """
    if isinstance(a, Table):
        if b is not None or sample_weight is not None or frequency is not None:
            raise InputError("a cg.Table holds both clusterings and how many points there are: pass it alone")
        a, b, frequency = points_of(a)
    elif b is None:
        raise InputError("one clustering was given, but two are compared; a cg.Table of counts needs no second one")
    plan, pair = prepared_pair(
        a, b, engine=engine, client=client, checkpoint=checkpoint, memory=memory, skip_bad=skip_bad, progress=progress,
        unassigned=unassigned, noise=noise, sample_weight=sample_weight, frequency=frequency, align=align,
    )  # fmt: skip
    return plan.compared(pair, measures, threads, engine)


def prepared_pair(
    a: ClusteringLike, b: ClusteringLike, *, engine: EngineName = "auto", client: Client = None,
    checkpoint: PathLike | None = None, memory: str | float | None = None,
    skip_bad: bool | None = None, progress: ProgressLike = None, **options: Unpack[InputKeywords],
) -> tuple[Plan, Dynamic]:  # fmt: skip
    """How the two are compared, and both sides, validated: in memory, on a GPU, or columns of one scan."""
    border = input_options(**options)
    scanning = {
        "client": client, "checkpoint": checkpoint, "memory": memory, "skip_bad": skip_bad, "progress": progress,
    }  # fmt: skip
    given = [a, b, border.sample_weight, border.frequency]
    if is_scanned(given, scanning):
        from congruence.scanning.options import columns_of_frames, scan_options

        a, b, sample_weight, frequency = columns_of_frames(*given)
        a, b = scan_options([a, b], scanning)
        border = replace(border, sample_weight=sample_weight, frequency=frequency)
    a, b = (x if hasattr(type(x), "what") or is_mapping(x) else as_clustering(on_card(x, engine), who)
            for x, who in ((a, A), (b, B)))  # fmt: skip
    home = PLANS.get((getattr(type(a), "what", BY_POINT), getattr(type(b), "what", BY_POINT)))
    if home is None:
        raise refusal(a, b)
    plan = plan_in(home)
    return plan, plan.prepared(a, b, border)


def input_options(**options: Unpack[InputKeywords]) -> InputOptions:
    """The options as one object; an unknown name raises an error with similar names."""
    for name in options:
        if name not in KNOWN:
            raise TypeError(f"there is no option {name!r}; {hint(name, KNOWN, 'there are: ' + joined(KNOWN))}")
    return InputOptions(**options)


def table_pair(a: ClusteringLike, b: ClusteringLike, **options: OptionValue) -> PreparedPair:
    """Two validated clusterings that have a contingency table."""
    plan, pair = prepared_pair(a, b, **options)
    if plan.no_table:
        raise InputError(plan.no_table)
    return cast("PreparedPair", pair)


def counted_pair(pair: PreparedPair, threads: int | None = None, engine: EngineName = "auto") -> tuple[Table, Tables]:
    """The table of a prepared pair, with names, and the tile that holds it."""
    table, tables = engine_for(engine, pair.sides).table_of(*pair.sides, pair.mass, threads)
    if not tables.n_used[0] or not table.n:
        raise InputError(f"no point is assigned in both clusterings ({len(pair.sides[0])} points were given)")
    return table, tables


def compare_tables(pair: PreparedPair, measures: Measures, threads: int | None, engine: EngineName) -> Comparison:
    """The measures of two clusterings, from their table."""
    todo = Evaluation(
        measures, soft=pair.is_soft, weighted=pair.is_weighted, covers=pair.has_covers, points=len(pair.sides[0])
    )
    table, tables = counted_pair(pair, threads, engine)

    def measured(tile: Tables) -> dict[str, float]:
        kinds = {Tables if need is Table else need for need in todo.needs}
        return todo.values(statistics_of_one(tile, kinds))

    values = measured(tables)
    own = None
    if pair.is_soft:
        counter = engine_for(engine, pair.sides)
        mirrored = [measured(counter.table_of(c, c, pair.mass, threads)[1]) for c in pair.sides]
        own = (mirrored[0], mirrored[1])
    cautions = (*pair.cautions(table, int(tables.n_used[0])), *todo.cautions)
    if pair.has_covers and not pair.is_soft:
        from congruence.comparison.covers import intersections, what_explains

        cautions, table = (*cautions, *what_explains(tables, todo.measures)), intersections(table)
    return Comparison(
        values_=values, measures=todo.measures, counted=table, tables=tables, n_used=int(tables.n_used[0]),
        cautions=cautions, skipped=todo.skipped, self_values=own, kind=pair.kind, names=pair.names,
        has_covers=pair.has_covers,
    )  # fmt: skip


PLAN = Plan(prepared, compare_tables)


# --- which measures, and their values ----------------------------------------------------------------------------


def applied(
    measures: Iterable[Measure], strict: bool, work: Callable[[Measure], T]
) -> tuple[dict[str, T], dict[str, str]]:
    """What the work gives for each measure, and why others do not apply; that is an error if `strict`, if they were named."""
    found: dict[str, T] = {}
    skipped: dict[str, str] = {}
    for m in measures:
        try:
            found[m.key] = work(m)
        except NotApplicable as reason:
            if strict:
                raise
            skipped[m.key] = str(reason)
    return found, skipped


class Evaluation:
    """Applies measures to tiles of statistics; one that does not apply is skipped, or an error if it was named."""

    def __init__(self, measures: Measures, *, soft: bool, weighted: bool, covers: bool, points: int = 0) -> None:
        chosen, self.strict = chosen_measures(measures, BY_KIND[soft, covers])
        self.soft = soft
        self.skipped: dict[str, str] = {}
        if soft and not self.strict:
            chosen, self.skipped = quick(chosen, points)
        self.beyond: set[str] = set()
        #: (clustering, other, points) of pairs in which the clustering has one cluster left
        self.alone: list[tuple[int, int, int]] = []
        found, without = applied(chosen, self.strict, lambda m: m.check(soft=soft, weighted=weighted, covers=covers))
        self.measures = {m.key: m for m in chosen if m.key in found}
        self.skipped |= without

    def _leave_out(self, m: Measure, reason: NotApplicable) -> None:
        if self.strict:
            raise reason
        self.skipped[m.key] = str(reason)
        self.measures.pop(m.key, None)

    @property
    def needs(self) -> set[type]:
        """The statistics that these measures read."""
        return {m.needs for m in self.measures.values()}

    def note_alone(self, i: Array, j: Array, n_used: Array, p: Pairs) -> None:
        """Remember the pairs of a tile in which all points that remain are in one cluster of a side."""
        for mine, other, same in ((i, j, p.same_a), (j, i, p.same_b)):
            rows = np.flatnonzero((p.pairs - same <= p.tiny) & (i != j))
            self.alone += [(int(mine[r]), int(other[r]), int(n_used[r])) for r in rows]

    def values(
        self, statistics: dict[type, Statistic], n_used: Array | None = None, swapped: bool = False
    ) -> dict[str, Scalar]:
        """Each measure for every pair of a tile; NaN if no points are left. Without `n_used`: of one pair, as floats."""
        found = {}
        turned: dict[type, Statistic] = {}
        all_used = n_used is None or bool((n_used > 0).all())
        for m in list(self.measures.values()):
            if swapped and m.is_symmetric:
                continue
            kind = Tables if m.needs is Table else m.needs
            if swapped and kind not in turned:
                turned[kind] = cast("Statistic", cast("TwoSided", statistics[kind]).swapped())
            statistic = (turned if swapped else statistics)[kind]
            try:
                values: Scalar = m.value(statistic) if n_used is None else m.values(statistic)
            except NotApplicable as reason:
                self._leave_out(m, reason)
            else:
                found[m.key] = values if n_used is None or all_used else np.where(n_used > 0, values, np.nan)
                if self.soft and m.soft_range is not None and np.any((values < m.range[0]) | (values > m.range[1])):
                    self.beyond.add(m.key)
        return found

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """A caution about values of memberships outside the range of partitions."""
        if not self.beyond or not self.soft:
            return ()
        which = joined(key for key in self.measures if key in self.beyond)
        text = "outside the range of partitions: pairs of few soft points can count less than 0; use nmi_sum or vi"
        return (Caution("soft_pairs", "", f"{which}: {text}, or more points"),)


# --- the result --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Comparison(Result, Mapping[str, float]):
    """The measures of one pair of clusterings; `r["ari"]` is a float.

    Attributes:
        values_: The values by key of the measure.
        measures: The records of the measures by key.
        counted: The contingency table as it was counted; None for matrices, ensembles and hierarchies.
        tables: The table as the statistic that formulas read.
        n_used: Number of points used.
        cautions: Cautions about the input, as `Caution` records.
        skipped: Measures that were skipped, and why.
        self_values: For soft clusterings, the self-scores of a and of b.
        kind: Kind of frame of the inputs.
        names: Names of the two clusterings.
        has_covers: Whether a side is a cover.
        about: Descriptions of the two sides, if they are not single clusterings.
        further: Extra columns such as p-values, by name, then by measure.

    >>> import congruence as cg
    >>> r = cg.compare([0, 0, 1, 1], ["x", "x", "y", "z"], ["ari", "vi"])
    >>> round(r["ari"], 4), r.n_points, r.n_clusters
    (0.5714, 4, (2, 3))
    >>> r
    a: 2 clusters, b: 3 clusters, 4 points
          value       better
    ari  0.5714  ↑ -0.5 to 1  Adjusted Rand index
    vi   0.3466     ↓ 0 to ∞  Variation of information
    """

    values_: dict[str, float]
    measures: dict[str, Measure]
    counted: Table | None = field(default=None, repr=False)
    tables: Tables | None = field(default=None, repr=False)
    n_used: int
    cautions: tuple[Caution, ...] = ()
    skipped: dict[str, str] = field(default_factory=dict)
    self_values: tuple[dict[str, float], dict[str, float]] | None = None
    kind: str | None = None
    names: tuple[str, str] = ("a", "b")
    has_covers: bool = False
    about: tuple[str, str] | None = None
    further: dict[str, dict[str, float]] = field(default_factory=dict)

    def __getitem__(self, key: str) -> float:
        name = key_of(key, self.values_)
        if name not in self.values_:
            why = self.skipped.get(name)
            raise NoSuchName(f"{name} was not computed" + (f": {why}" if why else f"; name it in {Option('measures')}"))
        return self.values_[name]

    def __contains__(self, key: object) -> bool:
        return key in self.values_ or is_among(key, self.values_)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    @property
    def n_points(self) -> int:
        """Number of points used."""
        return self.n_used

    @property
    def n_clusters(self) -> tuple[int, int]:
        """Numbers of clusters of a and of b."""
        return self._counted.shape

    @property
    def _counted(self) -> Table:
        if self.counted is None:
            raise InputError(NO_TABLE)
        return self.counted

    @cached_property
    def table(self) -> Table:
        """The contingency table, with the names of the clusters."""
        return named_table(self._counted, self.kind)

    def to_dict(self) -> dict[str, float]:
        """The values by key."""
        return dict(self.values_)

    def table_columns(self) -> Record:
        """One row per measure: value, direction, range, title; for soft pairs the self-scores too."""
        rows = [self.measures[key] for key in self]
        columns: dict[str, ColumnLike] = {
            "measure": list(self),
            "value": list(self.values()),
            "better": [m.better.value for m in rows],
            "range_low": [m.range_for(soft=self.self_values is not None)[0] for m in rows],
            "range_high": [m.range_for(soft=self.self_values is not None)[1] for m in rows],
            "title": [m.title for m in rows],
        }
        if self.self_values is not None:
            columns["self_a"], columns["self_b"] = ([own[key] for key in self] for own in self.self_values)
        for name, column in self.further.items():
            columns[name] = [column[key] for key in self]
        return columns

    def facts(self) -> Record:
        """Everything in the comparison, for JSON."""
        return {
            "clusterings": self.names,
            "n_points": self.n_used,
            "n_clusters": self.n_clusters if self.counted is not None else None,
            "about": self.about,
            "values": self.values_,
            **self.further,
            "self_values": self.self_values and dict(zip(("a", "b"), self.self_values, strict=True)),
            "skipped": self.skipped,
            "cautions": self.all_cautions,
        }

    @property
    def all_cautions(self) -> tuple[Caution, ...]:
        """Cautions about the input, then those of the measures shown."""
        shown = [k for k in self if self.has_covers or self.measures[k].needs is not Concordance]
        own = {k: self.measures[k].caution for k in shown}  # that of Concordance is about points in no cluster
        return (*self.cautions, *(Caution("measure", k, f"{{subject}}: {text}") for k, text in own.items() if text))

    def grid(self) -> tuple[list[list[str]], list[str], list[str]]:
        """Cells, row names and column names of the displayed table."""
        cells = []
        for key, value in self.items():
            m = self.measures[key]
            own = [number(side[key]) for side in self.self_values] if self.self_values else []
            own += [shown_beside(name, column[key]) for name, column in self.further.items()]
            cells.append([number(value), *own, f"{'↑' if m.better == 'higher' else '↓'} {span(m)}", m.title])
        extra = [*(["self a", "self b"] if self.self_values else []), *self.further]
        return cells, list(self), ["value", *extra, "better", ""]

    def headline(self) -> str:
        """A line that says what was compared."""
        a, b = self.names
        if self.about is not None:
            return f"{a}: {self.about[0]}, {b}: {self.about[1]}, {self.n_used:,} points"
        k_a, k_b = self.n_clusters
        return f"{a}: {counted(k_a, 'cluster')}, {b}: {counted(k_b, 'cluster')}, {counted(self.n_used, 'point')}"

    def __repr__(self) -> str:
        cells, rows, columns = self.grid()
        lines = text_grid([line[:-1] for line in cells], rows, columns[:-1]).split("\n")
        shown = [lines[0], *(shortened(f"{line}  {cell[-1]}", 80) for line, cell in zip(lines[1:], cells, strict=True))]
        notes = shown_notes(self.all_cautions, self.skipped)
        return "\n".join([shortened(self.headline(), 80), *shown]) + notes_text(notes)

    def _repr_html_(self) -> str:
        from html import escape

        notes = shown_notes(self.all_cautions, self.skipped)
        listed = "".join(f"<li>{escape(n)}</li>" for n in notes)
        return html_grid(*self.grid(), caption=self.headline()) + (f"<ul>{listed}</ul>" if notes else "")
