"""Columns of a source as clusterings, and their tables and statistics."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, cast

import numpy as np

from congruence.engine.cells import named_table, tables_of
from congruence.engine.cpu import in_one_order, statistics_of_tables
from congruence.engine.interface import Draws
from congruence.engine.plan import Counted, Progress, Run, pairs_of
from congruence.errors import Call, Caution, InputError, NotApplicable, Option, known_name
from congruence.inputs.cover_columns import map_of_sets
from congruence.inputs.encoding import arrow_library, named_clusters
from congruence.inputs.files import distinct_numbers
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import names_of_unassigned, noise_caution, unassigned_error
from congruence.scanning.room import TILE
from congruence.scanning.tables import PartialTables
from congruence.scanning.vocabulary import LabelKind
from congruence.statistics.covers import ClusterMap
from congruence.statistics.names import ranked
from congruence.statistics.tables import Array, ClusterNames, Table, Tables

if TYPE_CHECKING:
    from congruence.inputs.alignment import Mass
    from congruence.scanning.scan import Scan


def is_cover(part: PartialTables, c: int) -> bool:
    """Whether this column holds lists of clusters."""
    return part.kinds[c].element is not None


def map_of(part: PartialTables, c: int, names: ClusterNames) -> ClusterMap:
    """The clusters of each code of a column, without points in no cluster."""
    return map_of_sets(part.labels[c]) if is_cover(part, c) else ClusterMap.of_partition(tuple(names))


def with_unassigned(clusters: ClusterMap, rule: str, many: int) -> ClusterMap:
    """The map with a row for each kind of point in no cluster: in none ("keep"), together, or `many` alone."""
    if rule == "drop":
        return clusters
    if rule == "keep":
        return ClusterMap(np.append(clusters.starts, clusters.starts[-1]), clusters.clusters, clusters.names)
    return clusters.with_own(names_of_unassigned(list(clusters.names), rule, many))


# --- from counts to tables --------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Ready:
    """Tables as a scan that is already counted: it answers what columns ask a `Scan`."""

    part: PartialTables

    @property
    def n_rows(self) -> int | None:
        """Rows that were counted."""
        return self.part.rows

    def __getitem__(self, name: str) -> Column:
        known_name("column", name, self.part.names)
        return Column(self, name)

    def facts(self, column: Column, mass: Mass | None = None) -> PartialTables:
        """All that was counted."""
        return self.part

    known = facts

    def holds_sets(self, name: str) -> bool:
        """Whether the column holds lists of clusters."""
        return is_cover(self.part, self.part.names.index(name))

    def same_rows(self, other: object) -> bool:
        """Whether the other is the same tables."""
        return self == other

    def tables(
        self, columns: Sequence[Column], pairs: Array, mass: Mass | None, threads: int | None, progress: Progress | None
    ) -> Iterator[tuple[Array, PartialTables]]:
        """All pairs at once."""
        if mass is not None:
            raise InputError(f"pass weights when counting: {Call('cg.partial_tables(batch, sample_weight=…)')}")
        if any(c.noise is not None for c in columns):
            raise InputError(f"pass noise when counting: {Call('cg.partial_tables(batch, noise=…)')}")
        yield np.arange(len(pairs)), self.part


@dataclass(frozen=True, eq=False, repr=False)
class Column(Clustering):
    """One clustering of a source: nothing is read until it is compared, and only tables are kept."""

    source: Scan | Ready
    name: str
    unassigned: Unassigned = "error"
    noise: frozenset[Hashable] | None = None
    #: its name in messages
    who: str = ""
    #: whether a rule for points in no cluster was given, as by an Ensemble
    decided: bool = False
    what: ClassVar[str] = "a scanned column"
    lazy = is_crisp = is_probabilistic = True
    digest = b""
    matched_by: ClassVar[Literal["source"]] = "source"
    index = kind = None

    def __post_init__(self) -> None:
        if not self.who:
            object.__setattr__(self, "who", self.name)

    @property
    def title(self) -> str:  # type: ignore[override]
        """The name of the column."""
        return self.name

    @property
    def _counted(self) -> tuple[PartialTables, int]:
        part = self.source.facts(self)
        return part, part.names.index(self.name)

    @property
    def gaps(self) -> int:
        """Points in no cluster after applying `unassigned`."""
        part, c = self._counted
        many = int(part.gaps[c])
        rule = self.rule(part, c)
        if many and rule == "error":
            raise unassigned_error(self.who, f"{many} of {part.rows} points")
        return many if rule in ("drop", "partial") else 0

    def rule(self, part: PartialTables, c: int) -> str:
        """How points in no cluster are treated; a cover keeps them by default."""
        return "keep" if is_cover(part, c) and self.unassigned in ("error", "partial") else self.unassigned

    @property
    def overlapping(self) -> bool:  # type: ignore[override]
        """Whether rows are lists of clusters: by the type of the column, or once it is counted."""
        known = self.source.holds_sets(self.name)
        return is_cover(*self._counted) if known is None else known

    @property
    def clusters(self) -> ClusterMap | None:  # type: ignore[override]
        """The clusters of each signature of a column of lists."""
        part, c = self._counted
        return map_of(part, c, ()) if is_cover(part, c) else None

    @property
    def names(self) -> ClusterNames:
        """The labels of the clusters, sorted."""
        part, c = self._counted
        return named_labels(part, c)[1]

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about the column, once it is counted."""
        part = self.source.known(self)
        if part is None:
            return ()
        c = part.names.index(self.name)
        if is_cover(part, c):
            return ()
        found = [] if self.noise is not None else noise_caution(named_labels(part, c)[1], self.who)
        if (
            part.kinds[c] is LabelKind.FLOAT
            and len(part.labels[c]) > 2 * part.rows**0.5
            and any(isinstance(x, float) for x in part.labels[c])
        ):
            many = f"{len(part.labels[c])} different fractional values in {part.rows} points"
            text = f"{{subject}}: {many} look like measurements, not labels"
            found.append(Caution("fractions", self.who, text))
        return tuple(found)

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @property
    def may_drop(self) -> bool:
        """Whether points in no cluster are left out; the column is not counted for that."""
        return self.unassigned in ("drop", "partial")

    @property
    def not_read(self) -> tuple[str, ...]:  # type: ignore[override]
        """Parts of the source that were skipped."""
        return self.source.facts(self).left_out

    def total(self, mass: Mass | None) -> int:
        """Number of points: with frequencies, their sum."""
        return len(self) if mass is None else self.source.facts(self, mass).points

    def totals(self, mass: Mass | None) -> tuple[float, float]:
        """Mass of all rows, and their self-pair contribution."""
        part = self.source.facts(self, mass)
        total, own = float(part.total), float(part.rows if part.mass is None else part.total)
        if part.mass == "sample_weight":
            total, own = float(part.points), part.squares * (part.points / total) ** 2
        return total, own

    def __len__(self) -> int:
        rows = self.source.n_rows
        return int(rows if rows is not None else self._counted[0].rows)

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Column:
        """The same column with a rule for the points in no cluster."""
        more = frozenset(noise or ()) - (self.noise or frozenset())
        if self.decided and self.unassigned in ("error", "singletons", "cluster"):
            # as in memory, where such a clustering has no unassigned points left
            if more:
                raise InputError(
                    f"{who} already has a rule for points in no cluster; name its noise labels together with that rule"
                )
            return replace(self, who=who)
        if self.decided and self.unassigned == "drop" and unassigned == "partial" and self.source.holds_sets(self.name):
            unassigned = "drop"  # a cover of an ensemble that drops points; "partial" would keep them
        every = more | (self.noise or frozenset())
        return replace(self, unassigned=unassigned, noise=every or None, who=who, decided=True)

    def same_rows(self, other: object) -> bool:
        """Whether the other is this column of the same rows."""
        if not isinstance(other, Column) or other.name != self.name:
            return False
        return other.source is self.source or self.source.same_rows(other.source)

    def as_counted(self) -> Column:
        """The same column with points in no cluster unchanged."""
        return replace(self, unassigned="drop", decided=True)

    def __repr__(self) -> str:
        return f"column {self.name!r} of {self.source!r}"


def weights_of(mass: Mass) -> Column:
    """The column of the weights of scanned rows."""
    return cast("Column", mass.values)


def named_labels(part: PartialTables, c: int) -> tuple[Array, ClusterNames]:
    """The order of the labels by name, and the names in that order; sets of clusters stay in order of appearance."""
    if c not in part.named:
        part.named[c] = _named_labels(part, c)
    return part.named[c]


def _named_labels(part: PartialTables, c: int) -> tuple[Array, ClusterNames]:
    labels = list(part.labels[c])
    if is_cover(part, c):
        return np.arange(len(labels)), tuple(range(len(labels)))
    if (
        part.kinds[c] is LabelKind.FIELD
        and (numbers := distinct_numbers(arrow_library().array(labels, "string"))) is not None
    ):
        labels = numbers.to_pylist()
        if all(isinstance(x, float) and x.is_integer() and abs(x) < 2**62 for x in labels):
            labels = [int(x) for x in labels]
    if part.kinds[c] is LabelKind.FLOAT and any(isinstance(x, float) for x in labels):
        labels = [float(x) for x in labels]
    names, rank = ranked(labels)
    return rank, named_clusters(names)


def tables_of_columns(part: PartialTables, columns: Sequence[Column], pairs: Array) -> Tables:
    """The tables of these pairs of columns, with `unassigned` applied."""
    where = {name: i for i, name in enumerate(part.names)}
    place = {x: where[columns[x].name] for x in np.unique(pairs).tolist()}
    left, right = (np.array([place[x] for x in side], dtype=np.int64) for side in pairs.T.tolist())
    pair, row, col, count, within, used, own = _cells_of(part, left, right)
    rules = _rules_of(part, [(columns[at], c) for at, c in place.items()])
    ranks = {c: named_labels(part, c)[0] for c in rules}
    names = {c: named_labels(part, c)[1] for c in rules}
    k = {c: len(rank) for c, rank in ranks.items()}
    own_row = {c: rules[c] in ("cluster", "keep") for c in k}  # points in no cluster are a row of the table
    moved = {c: np.concatenate([[k[c]], rank]) for c, rank in ranks.items()}
    width = {c: k[c] + own_row[c] for c in k}
    offset = dict(zip(moved, np.cumsum([0, *(len(m) for m in moved.values())])[:-1].tolist(), strict=True))
    flat = np.concatenate(list(moved.values()))
    base = [np.array([offset[c] for c in side], dtype=np.int64)[pair] for side in (left.tolist(), right.tolist())]
    row, col = flat[base[0] + row], flat[base[1] + col]
    wide = [np.array([width[c] for c in side.tolist()], dtype=np.int64) for side in (left, right)]
    single = [np.array([rules[c] == "singletons" for c in side.tolist()])[pair] for side in (left, right)]
    if single[0].any() or single[1].any():
        pair, row, col, count, wide = _singled_out(pair, row, col, count, wide, single)
    order = np.lexsort((col, row, pair))
    counted = [x[order] for x in (pair, row, col, count, *([within] if part.mass == "sample_weight" else []))]
    maps, shapes = None, np.column_stack(wide)
    if any(is_cover(part, c) or rules[c] == "keep" for c in k):  # rows of covers keep the order of their maps
        plain = {c: map_of(part, c, names[c]) for c in k}
        maps = [
            (with_unassigned(plain[i], rules[i], int(a) - k[i]), with_unassigned(plain[j], rules[j], int(b) - k[j]))
            for i, j, (a, b) in zip(left.tolist(), right.tolist(), shapes.tolist(), strict=True)
        ]
    if part.mass != "sample_weight":
        return tables_of(counted, shapes, maps=maps)
    allowed = [np.array([[own_row[c], True] for c in side.tolist()]) for side in (left, right)]
    both = allowed[0][:, :, None] & allowed[1][:, None, :]
    used, own = np.where(both, used, 0).sum(axis=(1, 2)), np.where(both, own, 0.0).sum(axis=(1, 2))
    return tables_of(counted, shapes, used, own, maps)


def _rules_of(part: PartialTables, columns: Sequence[tuple[Column, int]]) -> dict[int, str]:
    """How the points in no cluster of each column are treated."""
    rules = {}
    for x, c in columns:
        rules[c] = x.rule(part, c) if part.gaps[c] else "drop"
        if rules[c] == "error":
            raise unassigned_error(x.who, f"{int(part.gaps[c])} of {part.rows} points")
    if part.mass is not None and "singletons" in rules.values():
        raise NotApplicable(
            f"{Option('unassigned', 'singletons')} with weights needs single points; pass 'drop' or 'cluster', or "
            "read the columns"
        )
    return rules


def _cells_of(part: PartialTables, left: Array, right: Array) -> tuple[Array, ...]:
    """Cells of the pairs (left, right), transposed if they were counted in the other order."""
    cells = []
    weighted = part.mass == "sample_weight"
    used, own = np.zeros((len(left), 2, 2), np.int64), np.zeros((len(left), 2, 2))
    for p, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        at = part.place.get((min(i, j), max(i, j)))
        if at is None:
            raise InputError(
                f"the table of {part.names[i]!r} and {part.names[j]!r} was not counted; count this pair too"
            )
        row, col, count, within = part.cells(min(i, j), max(i, j))
        row, col = (row, col) if i <= j else (col, row)
        if weighted:
            used[p], own[p] = (x[at] if i <= j else x[at].T for x in (part.used, part.own))
        cells.append((np.full(len(count), p), row, col, count, within))
    pair, row, col, count, within = (np.concatenate(x) for x in zip(*cells, strict=True))
    return pair, row, col, count, within, used, own


def _singled_out(
    pair: Array, row: Array, col: Array, count: Array, wide: list[Array], single: list[Array]
) -> tuple[Array, Array, Array, Array, list[Array]]:
    """Make each unassigned point a cluster: a cell of m such points becomes m cells."""
    alone = [(code == k[pair]) & asked for code, k, asked in zip((row, col), wide, single, strict=True)]
    times = np.where(alone[0] | alone[1], count, 1)
    pair, row, col = (np.repeat(x, times) for x in (pair, row, col))
    count = np.repeat(np.where(alone[0] | alone[1], 1, count), times)
    sides = []
    for side, code in enumerate((row, col)):
        mine = np.repeat(alone[side], times)
        before = np.concatenate([[0], np.cumsum(mine)])
        many = np.bincount(pair[mine], minlength=len(wide[side]))
        first = before[np.searchsorted(pair, np.arange(len(wide[side])))]
        sides.append(np.where(mine, wide[side][pair] + before[:-1] - first[pair], code))
        wide[side] = wide[side] + many
    return pair, sides[0], sides[1], count, wide


# --- the engine of scanned columns: `engine.interface.Engine` --------------------------------------------------------


on_card = False
#: random pairs are not drawn: they need labels of points
drawing: Draws | None = None


def statistics(
    members: Sequence[Clustering], runs: Sequence[Run], needs: set[type], *, mass: Mass | None = None,
    threads: int | None = None, progress: Progress | None = None,
) -> Iterator[Counted]:  # fmt: skip
    """The statistics of these kinds for all pairs of the runs of scanned columns, tile by tile."""
    columns = cast("Sequence[Column]", members)
    pair_i, pair_j = pairs_of(runs)
    pairs = np.column_stack([pair_i, pair_j])

    def tiles() -> Iterator[tuple[Array, Array, Tables]]:
        for here, part in columns[0].source.tables(columns, pairs, mass, threads, progress):
            for some in np.split(here, _tiles(part, columns, pairs[here])):
                yield pair_i[some], pair_j[some], tables_of_columns(part, columns, pairs[some])
            del part  # make room for the tables of the next pass

    return statistics_of_tables(tiles(), {Tables if need is Table else need for need in needs})


def _tiles(part: PartialTables, members: Sequence[Column], pairs: Array) -> Array:
    """Where to cut these pairs, so that few cells are worked on at a time: some thousands of pairs, or one large table."""
    where = {name: i for i, name in enumerate(part.names)}
    at = np.array([where.get(x.name, -1) for x in members])[pairs]
    cells = dict(zip(map(tuple, part.pairs.tolist()), np.diff(part.starts).tolist(), strict=True))
    many = [cells.get((min(i, j), max(i, j)), len(part.labels[i])) for i, j in at.tolist()]
    tile = np.cumsum(np.array(many, dtype=np.int64) + TILE // 4096) // TILE
    return np.flatnonzero(np.diff(tile)) + 1


def table_of(
    a: Clustering, b: Clustering, mass: Mass | None = None, threads: int | None = None
) -> tuple[Table, Tables]:
    """The table of one pair of scanned columns, with names, and the tile that holds it."""
    first, second = cast("tuple[Column, Column]", (a, b))
    ((_, part),) = first.source.tables([first, second], np.array([[0, 1]]), mass, threads, None)
    return one_table(part, first, second)


def one_table(part: PartialTables, a: Column, b: Column) -> tuple[Table, Tables]:
    """The table of two columns, with names, and the tile that holds it."""
    tables = tables_of_columns(part, [a, b], np.array([[0, 1]]))
    names: tuple[ClusterNames, ClusterNames] = range(tables.shapes[0, 0]), range(tables.shapes[0, 1])
    if tables.kept is not None:  # not of covers, whose rows and columns are signatures
        name_a, name_b = (named_labels(part, part.names.index(x.name))[1] for x in (a, b))
        names = name_a, name_b
    return named_table(tables, names, part.exponent or 0), in_one_order(tables)
