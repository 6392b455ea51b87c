"""Counts of some of the rows: tables that add, their columns, and the statistics read from them.

A code of 0 means "in no cluster" here; label i of a column has code i + 1, in order of appearance. Names
are put in order, and the points in no cluster dealt with, when everything has been counted (`tables_of`).
"""

from __future__ import annotations

import io as bytes_io
import json
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from congruence.engine.hard_tables import closed_up
from congruence.engine.interface import Counted
from congruence.engine.plan import Progress, Run, pairs_of
from congruence.errors import Caution, InputError, NotApplicable
from congruence.inputs.encoding import named_clusters
from congruence.inputs.labels import Labels, Unassigned, name_of_unassigned, noise_caution, unassigned_error
from congruence.statistics import Statistic
from congruence.statistics.tables import Array, Table, Tables, label_order

#: conversion of labels to JSON and back
_WRITTEN: dict[str, tuple[Any, Any]] = {"bytes": (bytes.hex, bytes.fromhex), "decimal": (str, Decimal)}


# --- tables that add --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartialTables:
    """The contingency tables of pairs of columns over some of the rows; they add with `+`, in any order, exactly.

    Created by `cg.partial_tables`; `to_bytes` and `from_bytes` send them to other machines. The sum over
    all rows is a source of clusterings: `cg.compare_all(total)`, `cg.compare(total["a"], total["b"])`, `cg.Ensemble(total)`.

    >>> import congruence as cg
    >>> first = cg.partial_tables({"a": [0, 0, 1], "b": ["x", "y", "y"]})
    >>> total = first + cg.partial_tables({"a": [1, 2], "b": ["y", "z"]})
    >>> total
    PartialTables: 2 columns, 1 pair, 5 rows
    >>> total.table("a", "b").to_array().tolist()
    [[1, 1, 0], [0, 2, 0], [0, 0, 1]]
    >>> round(cg.ari(total["a"], total["b"]), 4)
    0.2105
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    #: labels of each column in order of appearance; label i has code i + 1, and code 0 is "in no cluster"
    labels: tuple[tuple[Any, ...], ...]
    pairs: Array
    #: cells of pair p are starts[p]:starts[p+1]
    starts: Array
    row: Array
    col: Array
    count: Array
    #: sizes of the clusters of each column, by code
    sizes: tuple[Array, ...]
    #: rows in no cluster, by column
    gaps: Array
    rows: int
    mass: str | None
    total: Any
    squares: float
    #: for weighted rows: how many are in a cluster of both columns (of the column), and their Σw²
    used: Array
    own: Array
    used_alone: Array
    own_alone: Array
    #: notes on parts that were skipped
    left_out: tuple[str, ...] = ()

    def __add__(self, other: PartialTables) -> PartialTables:
        if not isinstance(other, PartialTables):
            return NotImplemented
        from congruence.scanning.accumulate import merged

        return merged([self, other])

    def __radd__(self, other: Any) -> PartialTables:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __getitem__(self, name: str) -> Column:
        return _Ready(self)[name]

    def lazy_columns(self) -> list[tuple[str, Any]]:
        """Its columns by name, as clusterings."""
        return [(name, self[name]) for name in self.names]

    @cached_property
    def _place(self) -> dict[tuple[int, int], int]:
        return {(int(i), int(j)): p for p, (i, j) in enumerate(self.pairs)}

    def without_cells(self) -> PartialTables:
        """Labels and sizes of the columns."""
        return replace(
            self, pairs=self.pairs[:0], starts=self.starts[:1], row=self.row[:0], col=self.col[:0], count=self.count[:0],
            used=self.used[:0], own=self.own[:0],
        )  # fmt: skip

    def table(self, a: str, b: str) -> Table:
        """The contingency table of two columns; rows without a label in either are left out."""
        return _one_table(self, self[a].with_policy("drop", None, a), self[b].with_policy("drop", None, b))[0]

    def to_bytes(self) -> bytes:
        """The tables as bytes, without pickle."""
        if "mixed" in self.kinds:
            raise InputError("labels of mixed types cannot be written; convert them to strings")
        words = [
            [_WRITTEN[kind][0](x) for x in labels] if kind in _WRITTEN else list(labels)
            for kind, labels in zip(self.kinds, self.labels, strict=True)
        ]
        about = {
            "format": 1, "names": self.names, "kinds": self.kinds, "labels": words, "rows": self.rows, "mass": self.mass,
            "total": self.total.item(), "squares": self.squares, "left_out": self.left_out,
        }  # fmt: skip
        arrays = {key: getattr(self, key) for key in _ARRAYS}
        arrays["sizes"] = np.concatenate([*self.sizes, np.empty(0, self.count.dtype)])
        stream = bytes_io.BytesIO()
        np.savez(stream, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> PartialTables:
        """The tables that `to_bytes` wrote.

        >>> import congruence as cg
        >>> part = cg.partial_tables({"a": [0, 1], "b": [1, 1]})
        >>> cg.PartialTables.from_bytes(part.to_bytes()).rows
        2
        """
        try:
            with np.load(bytes_io.BytesIO(data), allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in (*_ARRAYS, "sizes")}
                about = json.loads(stored["about"].tobytes())
            assert about["format"] == 1
        except Exception as error:
            raise InputError(f"these bytes are not partial tables ({type(error).__name__})") from None
        labels = tuple(
            tuple(map(_WRITTEN[kind][1], words)) if kind in _WRITTEN else tuple(words)
            for kind, words in zip(about["kinds"], about["labels"], strict=True)
        )
        ends = np.cumsum([len(words) + 1 for words in labels])
        sizes = tuple(np.split(arrays.pop("sizes"), ends[:-1])) if labels else ()
        total = arrays["count"].dtype.type(about["total"])
        return cls(
            names=tuple(about["names"]), kinds=tuple(about["kinds"]), labels=labels, sizes=sizes, rows=about["rows"],
            mass=about["mass"], total=total, squares=about["squares"], left_out=tuple(about["left_out"]), **arrays,
        )  # fmt: skip

    def __repr__(self) -> str:
        pairs = f"{len(self.pairs)} pair" + ("s" if len(self.pairs) != 1 else "")
        return f"PartialTables: {len(self.names)} columns, {pairs}, {self.rows:,} rows"


_ARRAYS = ("pairs", "starts", "row", "col", "count", "gaps", "used", "own", "used_alone", "own_alone")


# --- from counts to tables --------------------------------------------------------------------------------------


class Source(Protocol):
    """A source of tables of its columns: a scan, or tables that are counted already."""

    def tables(
        self, columns: Sequence[Column], pairs: Array, mass: Any, threads: int | None, progress: Progress | None
    ) -> Iterator[tuple[Array, PartialTables]]:
        """(positions of some pairs, their tables), until all pairs are done."""

    def facts(self, column: Column, mass: Any = None) -> PartialTables:
        """Tables with this column, at least of the column alone."""

    def known(self, column: Column, mass: Any = None) -> PartialTables | None:
        """The same if it is counted already."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, if known."""


class _Ready:
    """A source that is counted already."""

    def __init__(self, part: PartialTables) -> None:
        self.part = part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Ready) and other.part is self.part

    def __hash__(self) -> int:
        return id(self.part)

    @property
    def n_rows(self) -> int | None:
        return self.part.rows

    def __getitem__(self, name: str) -> Column:
        if name not in self.part.names:
            raise InputError(f"there is no column {name!r}; the columns are: {', '.join(self.part.names[:8])}")
        return Column(self, name)

    def facts(self, column: Column, mass: Any = None) -> PartialTables:
        return self.part

    known = facts

    def tables(
        self, columns: Sequence[Column], pairs: Array, mass: Any, threads: int | None, progress: Progress | None
    ) -> Iterator[tuple[Array, PartialTables]]:
        if mass is not None:
            raise InputError("pass weights when counting: cg.partial_tables(batch, sample_weight='column')")
        if any(c.noise is not None for c in columns):
            raise InputError("pass noise when counting: cg.partial_tables(batch, noise=…)")
        yield np.arange(len(pairs)), self.part


class Column(Labels):
    """One clustering of a source: nothing is read until it is compared."""

    lazy = True

    def __init__(
        self, source: Any, name: str, unassigned: Unassigned = "error", noise: Any = None, who: str | None = None
    ) -> None:
        for key, value in {
            "values": None, "encoded": None, "index": None, "kind": None, "title": name, "source": source, "name": name,
            "unassigned": unassigned, "noise": noise, "who": who or name,
        }.items():  # fmt: skip
            object.__setattr__(self, key, value)

    source: Any
    name: str
    unassigned: Unassigned
    noise: Any
    who: str

    @property
    def _counted(self) -> tuple[PartialTables, int]:
        part = self.source.facts(self)
        return part, part.names.index(self.name)

    @property
    def gaps(self) -> int:
        """Points in no cluster after applying `unassigned`."""
        part, c = self._counted
        many = int(part.gaps[c])
        if many and self.unassigned == "error":
            raise unassigned_error(self.who, f"{many} of {part.rows} points")
        return many if self.unassigned in ("drop", "partial") else 0

    @property
    def names(self) -> Array | tuple[Any, ...]:
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
        found = [] if self.noise is not None else noise_caution(named_labels(part, c)[1], self.who)
        if (
            part.kinds[c] == "float"
            and len(part.labels[c]) > 2 * part.rows**0.5
            and any(isinstance(x, float) for x in part.labels[c])
        ):
            many = f"{len(part.labels[c])} different fractional values in {part.rows} points"
            text = f"{{subject}}: {many} look like measurements, not labels"
            found.append(Caution("fractions", self.who, text))
        return tuple(found)

    @property
    def codes(self) -> Array:
        """Unavailable for scanned columns: labels of single points are not kept."""
        raise NotApplicable(
            f"{self.who} is scanned, and this needs the label of every point (or pairs of points), not tables; read the "
            "columns into memory for it"
        )

    def __len__(self) -> int:
        rows = self.source.n_rows
        return int(rows if rows is not None else self._counted[0].rows)

    def taken(self, points: Array, index: Any = None) -> Labels:
        """Unavailable for scanned columns, like codes."""
        return Labels(self.codes)

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Column:
        """The same column with a rule for the points in no cluster."""
        if unassigned not in ("error", "drop", "singletons", "cluster", "partial"):
            raise InputError(f"unassigned must be 'error', 'drop', 'singletons' or 'cluster', not {unassigned!r}")
        return Column(self.source, self.name, unassigned, frozenset(noise) if noise else None, who)

    def __repr__(self) -> str:
        return f"column {self.name!r} of {self.source!r}"


def named_labels(part: PartialTables, c: int) -> tuple[Array, Array | tuple[Any, ...]]:
    """The order of the labels by name, and the names in that order."""
    labels = list(part.labels[c])
    if part.kinds[c] == "float" and any(isinstance(x, float) for x in labels):
        labels = [float(x) for x in labels]
    order = label_order(labels)
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels))
    return rank, named_clusters([labels[i] for i in order])


def tables_of(part: PartialTables, columns: Sequence[Column], pairs: Array) -> tuple[Tables, Any]:
    """The tables of these pairs of columns, with `unassigned` applied; for one pair also the names of its clusters."""
    where = {name: i for i, name in enumerate(part.names)}
    place = {x: where[columns[x].name] for x in np.unique(pairs).tolist()}
    left, right = (np.array([place[x] for x in side], dtype=np.int64) for side in pairs.T.tolist())
    pair, row, col, count, used, own = _gathered(part, left, right)
    ranks, names, rules = {}, {}, {}
    for at, c in place.items():
        x = columns[at]
        ranks[c], names[c] = named_labels(part, c)
        rules[c] = x.unassigned if part.gaps[c] else "drop"
        if part.gaps[c] and x.unassigned == "error":
            raise unassigned_error(x.who, f"{int(part.gaps[c])} of {part.rows} points")
    if part.mass is not None and "singletons" in rules.values():
        raise NotApplicable(
            "unassigned='singletons' with weights needs single points; pass 'drop' or 'cluster', or read the columns"
        )
    k = {c: len(rank) for c, rank in ranks.items()}
    moved = {c: np.concatenate([[k[c] if rules[c] == "cluster" else -1], rank]) for c, rank in ranks.items()}
    width = {c: k[c] + (rules[c] == "cluster") for c in k}
    offset = dict(zip(moved, np.cumsum([0, *(len(m) for m in moved.values())])[:-1].tolist(), strict=True))
    flat = np.concatenate(list(moved.values()))
    base = [np.array([offset[c] for c in side], dtype=np.int64)[pair] for side in (left.tolist(), right.tolist())]
    row, col = flat[base[0] + row], flat[base[1] + col]
    wide = [np.array([width[c] for c in side.tolist()], dtype=np.int64) for side in (left, right)]
    single = [np.array([rules[c] == "singletons" for c in side.tolist()])[pair] for side in (left, right)]
    if single[0].any() or single[1].any():
        pair, row, col, count, wide = _singled_out(pair, row, col, count, wide, single)
    kept = (row >= 0) & (col >= 0)
    pair, row, col, count = pair[kept], row[kept], col[kept], count[kept]
    order = np.lexsort((col, row, pair))
    pair, row, col, count = pair[order], row[order], col[order], count[order]
    row, shape_a, keep_a = closed_up(pair, row, wide[0])
    col, shape_b, keep_b = closed_up(pair, col, wide[1])
    starts = np.searchsorted(pair, np.arange(len(pairs) + 1))
    sums = np.bincount(pair, weights=count, minlength=len(pairs))
    if part.mass == "sample_weight":
        scale = used / np.maximum(sums, np.finfo(float).tiny)
        count, own = count * scale[pair], own * scale**2
    else:
        used = own = sums.astype(np.int64)
    tables = Tables(row, col, count, starts, np.column_stack([shape_a, shape_b]), own, used)
    if len(pairs) != 1:
        return tables, None
    named = [_kept_names(names[c], keep) for c, keep in ((int(left[0]), keep_a), (int(right[0]), keep_b))]
    return tables, named


def _gathered(part: PartialTables, left: Array, right: Array) -> tuple[Array, ...]:
    """Cells of the pairs (left, right), transposed if they were counted in the other order."""
    cells = []
    used, own = np.zeros(len(left), np.int64), np.zeros(len(left))
    for p, (i, j) in enumerate(zip(left.tolist(), right.tolist(), strict=True)):
        if i == j:
            there = np.flatnonzero(part.sizes[i])
            row = col = there.astype(np.int32)
            count = part.sizes[i][there]
            used[p], own[p] = part.used_alone[i], part.own_alone[i]
        else:
            at = part._place.get((min(i, j), max(i, j)))
            if at is None:
                raise InputError(
                    f"the table of {part.names[i]!r} and {part.names[j]!r} was not counted; count this pair too"
                )
            here = slice(part.starts[at], part.starts[at + 1])
            row, col, count = part.row[here], part.col[here], part.count[here]
            row, col = (row, col) if i < j else (col, row)
            used[p], own[p] = part.used[at], part.own[at]
        cells.append((np.full(len(count), p), row, col, count))
    pair, row, col, count = (np.concatenate(x) for x in zip(*cells, strict=True))
    return pair, row, col, count, used, own


def _singled_out(
    pair: Array, row: Array, col: Array, count: Array, wide: list[Array], single: list[Array]
) -> tuple[Array, Array, Array, Array, list[Array]]:
    """Make each unassigned point a cluster: a cell of m such points becomes m cells."""
    alone = [(code < 0) & asked for code, asked in zip((row, col), single, strict=True)]
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


def _kept_names(names: Any, keep: Array) -> Any:
    """Names of the remaining clusters; those beyond the names are unassigned points."""
    if not len(keep) or keep[-1] < len(names):
        return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)
    listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
    word = name_of_unassigned(listed)
    extra = [i for i in keep.tolist() if i >= len(listed)]
    added = [word] if len(extra) == 1 and keep[-1] == len(listed) else [f"{word} {i - len(listed) + 1}" for i in extra]
    return (*(listed[i] for i in keep.tolist() if i < len(listed)), *added)


# --- interface of the engine ------------------------------------------------------------------------------------


def statistics(
    members: Sequence[Any], runs: Sequence[Run], needs: set[type], mass: Any, threads: int | None,
    progress: Progress | None,
) -> Iterator[Counted]:  # fmt: skip
    """The statistics of these kinds for all pairs of the runs of scanned columns, tile by tile."""
    wanted = {Tables if need is Table else need for need in needs}
    pair_i, pair_j = pairs_of(runs)
    pairs = np.column_stack([pair_i, pair_j])
    for here, part in members[0].source.tables(members, pairs, mass, threads, progress):
        for some in np.array_split(here, max(1, len(here) // 4096)):  # cells of a few thousand pairs at a time
            tables, _ = tables_of(part, members, pairs[some])
            found: dict[type, Statistic] = {need: need.from_tables(tables) for need in wanted}  # type: ignore[attr-defined]
            yield Counted(pair_i[some], pair_j[some], tables.n_used, found)


def table_of(a: Any, b: Any, mass: Any, threads: int | None) -> tuple[Table, Tables]:
    """The table of one pair of scanned columns, with names, and the tile that holds it."""
    ((_, part),) = a.source.tables([a, b], np.array([[0, 1]]), mass, threads, None)
    return _one_table(part, a, b)


def _one_table(part: PartialTables, a: Column, b: Column) -> tuple[Table, Tables]:
    tables, (rows, columns) = tables_of(part, [a, b], np.array([[0, 1]]))
    return Table(tables.row, tables.col, tables.count, rows, columns, tables.own[0].item()), tables


def totals(column: Any, mass: Any) -> tuple[float, float, float]:
    """Mass of all rows, their self-pair contribution, and pairs of different rows."""
    part = column.source.facts(column, mass)
    total, own = float(part.total), float(part.rows if part.mass is None else part.total)
    if part.mass == "sample_weight":
        scale = part.rows / total
        total, own = float(part.rows), part.squares * scale**2
    return total, own, (total * total - own) / 2
