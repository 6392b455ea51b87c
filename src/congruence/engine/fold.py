"""Counting what does not fit: tables of batches of rows, which add; vocabularies grow as labels are met.

A code of 0 means "in no cluster" here; label i of a column has code i + 1, in the order in which labels were met. Names
are put in order, and the points in no cluster dealt with, when everything has been counted (`tables_of`).
"""

from __future__ import annotations

import io as bytes_io
import json
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from congruence.clustering import (
    Labels,
    Memberships,
    Unassigned,
    _arrow,
    _code_type,
    _named,
    _refuse_type,
    above,
    noise_caution,
    noise_for,
    unassigned_error,
)
from congruence.clustering import as_clustering as _as_clustering
from congruence.engine.cpu import Counted, _closed_up, _use_kernels
from congruence.engine.plan import Progress, Run, pairs_of
from congruence.ensemble import _columns
from congruence.statistics import Array, InputError, NotApplicable, Statistic, Table, Tables, label_order

#: entries of the table that finds the code of an integer; labels spread wider are found by hashing
LOOKUP_SPAN = 1 << 20
#: a table of a pair is dense up to this many cells in any case, and up to the second where memory allows
DENSE_CELLS, MOST_DENSE_CELLS = 1 << 16, 1 << 22
#: how labels are written down: to JSON and back
_WRITTEN: dict[str, tuple[Any, Any]] = {"bytes": (bytes.hex, bytes.fromhex), "decimal": (str, Decimal)}


class BadBatch(InputError):
    """Rows that cannot be read, or not as the others: a person may want to go on without them."""


class Overfull(Exception):
    """The tables outgrew the memory they may take; carries the numbers of labels met so far."""

    def __init__(self, widths: Array, size: float) -> None:
        super().__init__(f"tables of {size / 2**20:.0f} MB")
        self.widths, self.size = widths, size

    def __reduce__(self) -> tuple[Any, ...]:
        return Overfull, (self.widths, self.size)


# --- labels as they are met -------------------------------------------------------------------------------------


def kind_of(type: Any) -> str:
    """What an arrow type holds, widths aside: labels of one kind can be the same label."""
    pa = _arrow()
    kinds = pa.types
    if kinds.is_dictionary(type):
        return kind_of(type.value_type)
    for name, tests in (
        ("null", (kinds.is_null,)),
        ("integer", (kinds.is_integer,)),
        ("float", (kinds.is_floating,)),
        ("boolean", (kinds.is_boolean,)),
        ("text", (kinds.is_string, kinds.is_large_string, getattr(kinds, "is_string_view", kinds.is_string))),
        ("bytes", (kinds.is_binary, kinds.is_large_binary, kinds.is_fixed_size_binary)),
        ("decimal", (kinds.is_decimal,)),
    ):
        if any(test(type) for test in tests):
            return name
    _refuse_type(type)
    raise InputError(f"labels of type {type} cannot be counted; convert them to strings if they are labels")


def check_kind(type: Any, wanted: str, who: str) -> None:
    """Refuse a column of another kind than it is elsewhere."""
    try:
        kind = kind_of(type)
    except InputError:
        if wanted == "null":
            raise
        kind = str(type)
    if kind not in (wanted, "null") and wanted != "null":
        raise BadBatch(f"{who} holds labels of kind {kind}, and of kind {wanted} elsewhere")


class Vocabulary:
    """The labels of one column, in the order they were met; labels named as noise have code 0."""

    def __init__(self, noise: Collection[Hashable] | None = None) -> None:
        self.kind = "null"
        self.labels: list[Any] = []
        self.place: dict[Any, int] = {}
        self.noise = {x for label in noise or () for x in (label, str(label))}
        self.low = 0
        self.lookup: Array | None = np.empty(0, np.int32)

    @property
    def width(self) -> int:
        """Codes there are, that of no cluster included."""
        return len(self.labels) + 1

    def joined(self, kind: str, who: str) -> None:
        """From now on of this kind; labels of another kind are refused."""
        if kind in ("null", self.kind):
            return
        if self.kind != "null":
            raise BadBatch(f"{who} holds labels of kind {kind}, and of kind {self.kind} elsewhere")
        self.kind = kind

    def known(self, labels: Iterable[Any]) -> Array:
        """The codes of these labels; new ones are met."""
        place = self.place
        found = []
        for label in labels:
            code = place.get(label)
            if code is None:
                if isinstance(label, float) and label.is_integer() and abs(label) < 2**62:
                    label = int(label)  # as in memory: a column of whole floats holds whole numbers
                noise = bool(self.noise) and (label in self.noise or str(label) in self.noise)
                if not noise:
                    self.labels.append(label)
                code = place[label] = 0 if noise else len(self.labels)
            found.append(code)
        return np.array(found, dtype=np.int64)

    def codes(self, column: Any, who: str) -> Array:
        """The codes of a column: an arrow array, or Labels."""
        pa = _arrow()
        if isinstance(column, Labels):
            names = column.names.tolist() if isinstance(column.names, np.ndarray) else list(column.names)
            self.joined(_kind_of_names(names), who)
            return self._placed(np.append(self.known(names), 0), column.codes)
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column
            column = column.combine_chunks()
        kind = kind_of(column.type)
        self.joined(kind, who)
        if kind == "null":
            return np.zeros(len(column), np.uint8)
        if pa.types.is_dictionary(column.type):
            return self._hashed(column)
        if kind == "integer":
            if not column.null_count:
                return self._integers(column.to_numpy())
            there = column.is_valid().to_numpy(zero_copy_only=False)
            solid = self._integers(column.drop_null().to_numpy()) if there.any() else np.empty(0, np.uint8)
            codes = np.zeros(len(column), solid.dtype)
            codes[there] = solid
            return codes
        if kind == "float":  # −0.0 is 0.0, NaN is missing
            values = column.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
            column = pa.array(values, from_pandas=True)
        return self._hashed(column.dictionary_encode())

    def _hashed(self, column: Any) -> Array:
        names = column.dictionary.to_pylist()
        stored = column.indices
        if stored.type.bit_width < 32:  # 128 names fill the codes of a byte, and no label needs one more
            stored = stored.cast("int32")
        elif str(stored.type) == "uint64":
            stored = stored.cast("int64")
        indices = stored.fill_null(len(names)).to_numpy(zero_copy_only=False)
        missing = [i for i, name in enumerate(names) if name is None or name != name]
        used = names  # categories that no row has do not become labels
        if len(names) > 1:
            there = np.bincount(indices, minlength=len(names) + 1)[: len(names)] > 0
            there[missing] = False
            used = [names[i] for i in np.flatnonzero(there)]
        else:
            there = np.array([i not in missing and len(column) > column.null_count for i in range(len(names))], bool)
            used = [name for name, is_there in zip(names, there, strict=True) if is_there]
        place = np.zeros(len(names) + 1, np.int64)
        place[:-1][there] = self.known(used)
        return self._placed(place, indices)

    def _placed(self, place: Array, indices: Array) -> Array:
        return place.astype(_code_type(len(self.labels)))[indices]

    def _integers(self, values: Array) -> Array:
        if values.dtype == np.uint64:
            if len(values) and values.max() > np.iinfo(np.int64).max:
                self.lookup = None
            else:
                values = values.astype(np.int64)
        compiled = _use_kernels(len(values))
        while self.lookup is not None:
            codes = np.empty(len(values), _code_type(len(self.labels)))
            if not len(values) or self._looked_up(values, codes, compiled):
                return codes
            self._meet(values)
        return self._hashed(_arrow().array(values).dictionary_encode())

    def _looked_up(self, values: Array, codes: Array, compiled: bool) -> bool:
        """Write the codes of these labels, or say that there are new ones."""
        assert self.lookup is not None
        if compiled:
            from congruence.engine.kernels import look_up

            return bool(look_up(values, self.low, self.lookup, codes))
        if values.min() < self.low or values.max() >= self.low + len(self.lookup):
            return False
        found = self.lookup[above(values, self.low)]
        codes[:] = found
        return bool((found >= 0).all())

    def _meet(self, values: Array) -> None:
        """Meet the new labels among these, over a range as wide as they need."""
        assert self.lookup is not None
        low, high = int(values.min()), int(values.max())
        if len(self.lookup):
            low, high = min(low, self.low), max(high, self.low + len(self.lookup) - 1)
        if high - low >= LOOKUP_SPAN or max(abs(low), abs(high)) > 2**62:
            self.lookup = None
            return
        wider = np.full(high - low + 1, -1, np.int32)
        wider[self.low - low : self.low - low + len(self.lookup)] = self.lookup
        there = np.zeros(len(wider), bool)
        there[above(values, low)] = True
        new = np.flatnonzero(there & (wider < 0))
        wider[new] = self.known((new + low).tolist())
        self.low, self.lookup = low, wider


def _kind_of_names(names: Sequence[Any]) -> str:
    kinds = {type(name) for name in names}
    for kind, types in (
        ("boolean", {bool}),
        ("integer", {int}),
        ("float", {int, float}),
        ("text", {str}),
        ("bytes", {bytes}),
    ):
        if kinds <= types:
            return kind if kinds else "null"
    return "mixed"


# --- tables that grow -------------------------------------------------------------------------------------------


class _Cells:
    """The table of one pair: dense while it is small, else its non-zero cells, sorted, and those yet to be sorted in."""

    def __init__(self, dtype: Any, most: float) -> None:
        self.dtype, self.most = dtype, most
        self.dense: Array | None = np.zeros((0, 0), dtype)
        self.key, self.total = np.empty(0, np.int64), np.empty(0, dtype)
        self.waiting: list[tuple[Array, Array]] = []
        self.many = 0

    @property
    def size(self) -> int:
        """Bytes it takes."""
        return self.dense.nbytes if self.dense is not None else 16 * (len(self.key) + self.many)

    def fit(self, wide: int, across: int) -> None:
        """Room for so many codes on both sides."""
        if self.dense is None or (wide <= self.dense.shape[0] and across <= self.dense.shape[1]):
            return
        old = self.dense
        shape = [have if k <= have else k + k // 4 for k, have in zip((wide, across), old.shape, strict=True)]
        if shape[0] * shape[1] > self.most:
            row, col = np.nonzero(old)
            self.dense = None
            self.put(row, col, old[row, col])
            return
        self.dense = np.zeros(shape, self.dtype)
        self.dense[: old.shape[0], : old.shape[1]] = old

    def put(self, row: Array, col: Array, count: Array) -> None:
        """Add these cells."""
        if self.dense is not None:
            np.add.at(self.dense, (row, col), count)
            return
        self.waiting.append(((row.astype(np.int64) << 32) | col.astype(np.int64), count))
        self.many += len(row)
        if self.many > max(len(self.key), 1 << 16):
            self.settle()

    def settle(self) -> None:
        """Sort in what is waiting."""
        key = np.concatenate([self.key, *(k for k, _ in self.waiting)])
        total = np.concatenate([self.total, *(c for _, c in self.waiting)])
        order = np.argsort(key, kind="stable")
        key, total = key[order], total[order]
        first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]])) if len(key) else np.empty(0, np.int64)
        self.key, self.total = key[first], np.add.reduceat(total, first) if len(key) else total
        self.waiting, self.many = [], 0

    def count(self, a: Array, b: Array, wide: int, across: int, mass: Array | None) -> None:
        """Add the points of a batch."""
        self.fit(wide, across)
        if self.dense is None:
            self._count_sparse(a, b, wide, across, mass)
        elif _use_kernels(len(a)):
            from congruence.engine.kernels import count_mass, count_more

            if mass is None:
                count_more(a, b, self.dense)
            else:
                count_mass(a, b, mass, self.dense)
        else:
            place = a.astype(np.int64) * self.dense.shape[1] + b
            flat = self.dense.ravel()
            more = np.bincount(place, weights=mass, minlength=flat.size)
            flat += more.astype(self.dtype, copy=False)

    def _count_sparse(self, a: Array, b: Array, wide: int, across: int, mass: Array | None) -> None:
        if mass is None and _use_kernels(len(a)):
            from congruence.engine.kernels import count_sorted

            self.put(*count_sorted(a, b, wide, across))
            return
        key, where = np.unique((a.astype(np.int64) << 32) | b.astype(np.int64), return_inverse=True)
        count = np.bincount(where, weights=mass, minlength=len(key)).astype(self.dtype, copy=False)
        self.put(key >> 32, key & 0xFFFFFFFF, count)

    def cells(self) -> tuple[Array, Array, Array]:
        """Its non-zero cells, row after row."""
        if self.dense is not None:
            row, col = np.nonzero(self.dense)
            return row.astype(np.int32), col.astype(np.int32), self.dense[row, col]
        self.settle()
        there = self.total != 0
        key = self.key[there]
        return (key >> 32).astype(np.int32), (key & 0xFFFFFFFF).astype(np.int32), self.total[there]


@dataclass(frozen=True, eq=False)
class Counting:
    """What to count: columns, pairs of them, which labels are noise, which columns must be complete, what a row weighs."""

    names: tuple[str, ...]
    #: (pairs, 2): positions among the names, the smaller first
    pairs: Array
    noise: tuple[Collection[Hashable] | None, ...]
    #: what a column that must be complete is called in the error, or None
    complete: tuple[str | None, ...]
    #: the column of weights, and whether they are frequencies
    mass: tuple[str, bool] | None = None
    #: bytes that the tables may take
    limit: float = float("inf")
    skip_bad: bool = False
    #: kinds of labels of the columns, where they are known beforehand
    kinds: tuple[str | None, ...] | None = None
    rows: int = 1 << 18
    #: columns (and their kinds) of other passes: what cannot be read of them is left out of this one too
    beside: tuple[tuple[str, str | None], ...] = ()

    @property
    def read(self) -> tuple[str, ...]:
        """The columns that have to be read."""
        more = [name for name, _ in self.beside] + ([] if self.mass is None else [self.mass[0]])
        return (*dict.fromkeys((*self.names, *more)),)


class Accumulator:
    """Tables of pairs of columns over all the batches it has been given."""

    def __init__(self, counting: Counting) -> None:
        self.counting = counting
        weighted = counting.mass is not None and not counting.mass[1]
        self.words = [Vocabulary(noise) for noise in counting.noise]
        pairs = np.asarray(counting.pairs, dtype=np.int64).reshape(-1, 2)
        self.pairs: list[tuple[int, int]] = [(int(i), int(j)) for i, j in pairs]
        dtype = np.float64 if weighted else np.int64
        share = counting.limit / (8 * max(len(self.pairs), 1))
        most = max(DENSE_CELLS, min(MOST_DENSE_CELLS, share))
        self.tables = [_Cells(dtype, most) for _ in self.pairs]
        self.alone = sorted(set(range(len(counting.names))) - set(pairs.ravel().tolist()))
        self.sizes = {c: np.zeros(1, dtype) for c in self.alone}
        self.gaps = np.zeros(len(counting.names), np.int64)
        self.rows = 0
        self.total, self.squares = dtype(0), 0.0
        self.used = np.zeros(len(self.pairs), np.int64)
        self.own = np.zeros(len(self.pairs))
        self.used_alone, self.own_alone = np.zeros(len(counting.names), np.int64), np.zeros(len(counting.names))
        self.left_out: list[str] = []

    def add_batch(self, batch: Any, where: str = "a batch") -> int:
        """Count the rows of a batch (an arrow RecordBatch or Table, or a mapping of columns); says how many there were."""
        counting = self.counting
        columns = {name: _taken(batch, name, where) for name in counting.read}
        first = next(iter(columns), "")
        for name, column in columns.items():
            if len(column) != len(columns[first]):
                raise BadBatch(
                    f"{where}: column {first!r} has {len(columns[first])} rows and column {name!r} has {len(column)}"
                )
        for name, kind in counting.beside:
            if kind is not None and not isinstance(columns[name], Labels):
                check_kind(columns[name].type, kind, f"{where}: column {name!r}")
        codes = []
        for c, name in enumerate(counting.names):
            who = f"{where}: column {name!r}"
            if counting.kinds is not None and counting.kinds[c] is not None and not isinstance(columns[name], Labels):
                check_kind(columns[name].type, counting.kinds[c] or "null", who)
            codes.append(self.words[c].codes(columns[name], who))
        n = len(codes[0]) if codes else 0
        gaps = [n - int(np.count_nonzero(x)) for x in codes]
        for many, called in zip(gaps, counting.complete, strict=True):
            if many and called is not None:
                raise unassigned_error(called, f"{many} of the {n} points of {where}")
        mass = None if counting.mass is None else _mass(columns[counting.mass[0]], counting.mass, where)
        if n:
            self._count(codes, gaps, mass)
        if self.size > counting.limit:
            raise Overfull(np.array([w.width for w in self.words]), self.size)
        return n

    def _count(self, codes: list[Array], gaps: Sequence[int], mass: Array | None) -> None:
        n = len(codes[0])
        common = np.result_type(*codes)
        codes = [x.astype(common, copy=False) for x in codes]
        weighted = mass is not None and mass.dtype.kind == "f"
        for p, ((i, j), table) in enumerate(zip(self.pairs, self.tables, strict=True)):
            table.count(codes[i], codes[j], self.words[i].width, self.words[j].width, mass)
            if weighted and mass is not None:
                both = slice(None) if not (gaps[i] or gaps[j]) else (codes[i] > 0) & (codes[j] > 0)
                self.used[p] += len(mass[both])
                self.own[p] += float((mass[both] ** 2).sum())
        for c in self.alone:
            more: Any = np.bincount(codes[c], weights=mass, minlength=self.words[c].width)
            more[: len(self.sizes[c])] += self.sizes[c]
            self.sizes[c] = more.astype(self.sizes[c].dtype, copy=False)
        self.gaps += np.array(gaps, dtype=np.int64)
        self.rows += n
        self.total += n if mass is None else mass.sum()
        if weighted and mass is not None:
            self.squares += float((mass**2).sum())
            for c, x in enumerate(codes):
                self.used_alone[c] += n - gaps[c]
                self.own_alone[c] += float((mass[x > 0] ** 2).sum())

    @property
    def size(self) -> int:
        """Bytes that the tables take."""
        return sum(table.size for table in self.tables)

    def add(self, part: PartialTables) -> None:
        """Add what was counted elsewhere."""
        if part.names != self.counting.names or not np.array_equal(part.pairs, np.array(self.pairs).reshape(-1, 2)):
            raise InputError(
                f"tables of columns {', '.join(self.counting.names[:4])} and {', '.join(part.names[:4])} do not add: give "
                "both the same columns and pairs"
            )
        if part.mass != _mass_kind(self.counting.mass):
            raise InputError("tables counted with and without weights do not add: weigh both the same way")
        moved = []
        for word, kind, labels, name in zip(self.words, part.kinds, part.labels, part.names, strict=True):
            word.joined(kind, f"column {name!r}")
            moved.append(np.concatenate([[0], word.known(labels)]))
        for p, ((i, j), table) in enumerate(zip(self.pairs, self.tables, strict=True)):
            cells = slice(part.starts[p], part.starts[p + 1])
            table.fit(self.words[i].width, self.words[j].width)
            table.put(moved[i][part.row[cells]], moved[j][part.col[cells]], part.count[cells])
        for c in self.alone:
            more = np.zeros(self.words[c].width, self.sizes[c].dtype)
            more[: len(self.sizes[c])] = self.sizes[c]
            np.add.at(more, moved[c], part.sizes[c])
            self.sizes[c] = more
        self.gaps += part.gaps
        self.rows += part.rows
        self.total += part.total
        self.squares += part.squares
        self.used += part.used
        self.own += part.own
        self.used_alone += part.used_alone
        self.own_alone += part.own_alone
        self.left_out += part.left_out
        if self.size > self.counting.limit:
            raise Overfull(np.array([w.width for w in self.words]), self.size)

    def partial(self) -> PartialTables:
        """What has been counted so far."""
        cells = [table.cells() for table in self.tables]
        none = np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, self.total.dtype)
        row, col, count = (np.concatenate(x) for x in zip(none, *cells, strict=True))
        starts = np.concatenate([[0], np.cumsum([len(c[0]) for c in cells])]).astype(np.int64)
        return PartialTables(
            self.counting.names, tuple(w.kind for w in self.words), tuple(tuple(w.labels) for w in self.words),
            np.array(self.pairs, dtype=np.int64).reshape(-1, 2), starts, row, col, count, self._sizes(cells),
            self.gaps.copy(), self.rows, _mass_kind(self.counting.mass), self.total, self.squares, self.used.copy(),
            self.own.copy(), self.used_alone.copy(), self.own_alone.copy(), tuple(self.left_out),
        )  # fmt: skip

    def _sizes(self, cells: Sequence[tuple[Array, Array, Array]]) -> tuple[Array, ...]:
        """Sizes of the clusters of every column: margins of a table it is in, or counted by themselves."""
        found: dict[int, Array] = {c: _widened(s, self.words[c].width) for c, s in self.sizes.items()}
        for (i, j), (row, col, count) in zip(self.pairs, cells, strict=True):
            for c, code in ((i, row), (j, col)):
                if c not in found:
                    found[c] = np.bincount(code, weights=count, minlength=self.words[c].width).astype(count.dtype)
        return tuple(found[c] for c in range(len(self.words)))


def _widened(x: Array, width: int) -> Array:
    return np.concatenate([x, np.zeros(width - len(x), x.dtype)])


def _mass_kind(mass: tuple[str, bool] | None) -> str | None:
    return None if mass is None else "frequency" if mass[1] else "sample_weight"


def _taken(batch: Any, name: str, where: str) -> Any:
    """One column of a batch, as an arrow array or Labels."""
    names = batch if isinstance(batch, dict) else batch.schema.names
    if name not in names:
        listed = ", ".join(list(names)[:8])
        raise BadBatch(f"{where} has no column {name!r}; it has: {listed}")
    return batch[name] if isinstance(batch, dict) else batch.column(name)


def _mass(column: Any, mass: tuple[str, bool], where: str) -> Array:
    """Checked weights of a batch."""
    name, is_frequency = mass
    if isinstance(column, Labels):
        column = _arrow().array(np.asarray(column.names)[column.codes])
    try:
        values = column.to_numpy(zero_copy_only=False) if not hasattr(column, "chunks") else column.to_numpy()
        values = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{where}: column {name!r} of weights must be numbers") from None
    if not np.isfinite(values).all() or (values < 0).any():
        raise InputError(f"{where}: column {name!r} of weights must be finite, not missing and not negative")
    if not is_frequency:
        return values
    if (values != np.rint(values)).any():
        raise InputError(
            f"{where}: column {name!r} of frequencies must be whole numbers; for importance use sample_weight"
        )
    return values.astype(np.int64)


# --- what comes out: tables that add ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartialTables:
    """The contingency tables of pairs of columns over some of the rows; they add with `+`, in any order, exactly.

    Made by `cg.partial_tables`, wherever the rows are; `to_bytes` and `from_bytes` carry them over a wire. The sum over
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
    #: labels of each column as they were met; label i has code i + 1, and code 0 is "in no cluster"
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
    #: of weighted rows: how many are in a cluster of both columns (of the column), and their Σw²
    used: Array
    own: Array
    used_alone: Array
    own_alone: Array
    #: what could not be read and was skipped, in words
    left_out: tuple[str, ...] = ()

    def __add__(self, other: PartialTables) -> PartialTables:
        if not isinstance(other, PartialTables):
            return NotImplemented
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
        """What is known of the columns one by one."""
        return replace(
            self, pairs=self.pairs[:0], starts=self.starts[:1], row=self.row[:0], col=self.col[:0], count=self.count[:0],
            used=self.used[:0], own=self.own[:0],
        )  # fmt: skip

    def table(self, a: str, b: str) -> Table:
        """The contingency table of two columns; rows without a label in either are left out."""
        return _one_table(self, self[a].with_policy("drop", None, a), self[b].with_policy("drop", None, b))[0]

    def _counting(self) -> Counting:
        mass = None if self.mass is None else ("", self.mass == "frequency")
        return Counting(self.names, self.pairs, (None,) * len(self.names), (None,) * len(self.names), mass)

    def to_bytes(self) -> bytes:
        """Everything in it as bytes (no pickle), for a file or a wire."""
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


def merged(parts: Iterable[PartialTables], limit: float = float("inf")) -> PartialTables:
    """The sum of any number of partial tables."""
    total: Accumulator | None = None
    for part in parts:
        if total is None:
            total = Accumulator(replace(part._counting(), limit=limit))
        total.add(part)
    if total is None:
        raise InputError("there are no partial tables to add")
    return total.partial()


def merge(a: Any, b: Any) -> Any:
    """The sum of two partial results: of `partial_tables`, `contingency` or `pair_sums`; the same as `a + b`.

    >>> import congruence as cg
    >>> from functools import reduce
    >>> batches = [{"a": [0, 0], "b": [1, 2]}, {"a": [1, 1], "b": [2, 2]}, {"a": [0], "b": [1]}]
    >>> total = reduce(cg.merge, map(cg.partial_tables, batches))
    >>> total.table("a", "b").to_array().tolist()
    [[2, 1], [0, 2]]
    """
    if type(a) is not type(b) or not hasattr(a, "__add__"):
        raise InputError(f"merge adds two partial results of one kind, not {type(a).__name__} and {type(b).__name__}")
    return a + b


def partial_tables(
    batch: Any,
    columns: Sequence[str] | None = None,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    noise: Any = None,
    sample_weight: str | None = None,
    frequency: str | None = None,
) -> PartialTables:
    """The contingency tables of all pairs of label columns (or of these `pairs`) over the rows of one batch; they add.

    A batch is an arrow RecordBatch or Table, a pandas or polars frame, a mapping of columns or a 2-D array of label
    columns. `sample_weight` and `frequency` name a column of it; labels in `noise` count as missing.

    >>> import congruence as cg
    >>> part = cg.partial_tables({"a": [0, 0, 1, None], "b": ["x", "x", "y", "y"]})
    >>> part.table("a", "b").to_array().tolist(), part.rows
    ([[2, 0], [0, 1]], 4)
    """
    found = _batch_columns(batch)
    weights = sample_weight if sample_weight is not None else frequency
    if sample_weight is not None and frequency is not None:
        raise InputError("pass sample_weight (importance) or frequency (counts), not both")
    listed = list(columns) if columns is not None else [name for name in found if name != weights]
    for name in [*listed, *([weights] if weights is not None else [])]:
        if name not in found:
            raise InputError(f"the batch has no column {name!r}; it has: {', '.join(list(found)[:8])}")
    counting = Counting(
        tuple(listed), pair_positions(listed, pairs), tuple(noise_for(noise, (name,)) for name in listed),
        (None,) * len(listed), None if weights is None else (weights, frequency is not None),
    )  # fmt: skip
    total = Accumulator(counting)
    total.add_batch({name: found[name] for name in counting.read}, "the batch")
    return total.partial()


def pair_positions(names: Sequence[str], pairs: Sequence[tuple[str, str]] | None = None) -> Array:
    """(pairs, 2): positions of all pairs of different columns, or of the pairs named."""
    if pairs is None:
        return np.column_stack(np.triu_indices(len(names), 1))
    place = {name: i for i, name in enumerate(names)}
    wrong = [name for pair in pairs for name in pair if name not in place]
    if wrong:
        raise InputError(
            f"pairs names a column {wrong[0]!r} that is not there; the columns are: {', '.join(names[:8])}"
        )
    found = sorted({(min(place[a], place[b]), max(place[a], place[b])) for a, b in pairs if a != b})
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _batch_columns(batch: Any) -> dict[str, Any]:
    """The columns of a batch as arrow arrays, or as Labels where arrow has no type for them."""
    pa = _arrow()
    if isinstance(batch, pa.RecordBatch | pa.Table):
        return dict(zip(batch.schema.names, batch.columns, strict=True))
    return {name: _as_arrow(column, name) for name, column in _columns(batch)[0]}


def _as_arrow(column: Any, name: str) -> Any:
    pa = _arrow()
    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    try:
        array = column.to_arrow() if hasattr(column, "to_arrow") else pa.array(column, from_pandas=True)
        kind_of(array.type)
    except InputError:
        raise
    except Exception:  # arrow has no type for it, each library with an error of its own: let the border decide
        array = _as_clustering(column, name)
    if isinstance(array, Memberships):
        raise InputError(f"{name}: tables of memberships are not counted in parts; pass columns of labels")
    return array


# --- from counts to tables --------------------------------------------------------------------------------------


class Source(Protocol):
    """Anything that can give the tables of its columns: a scan, or tables that were counted already."""

    def tables(
        self, columns: Sequence[Column], pairs: Array, mass: Any, threads: int | None, progress: Progress | None
    ) -> Iterator[tuple[Array, PartialTables]]:
        """(positions of some pairs, their tables), until all pairs have been."""

    def facts(self, column: Column, mass: Any = None) -> PartialTables:
        """Tables that this column is in, at least by itself."""

    def known(self, column: Column, mass: Any = None) -> PartialTables | None:
        """The same where it has been counted already."""

    @property
    def n_rows(self) -> int | None:
        """Rows there are, where that is known."""


class _Ready:
    """A source that was counted already."""

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
            raise InputError(f"there is no column {name!r}; there are: {', '.join(self.part.names[:8])}")
        return Column(self, name)

    def facts(self, column: Column, mass: Any = None) -> PartialTables:
        return self.part

    known = facts

    def tables(
        self, columns: Sequence[Column], pairs: Array, mass: Any, threads: int | None, progress: Progress | None
    ) -> Iterator[tuple[Array, PartialTables]]:
        if mass is not None:
            raise InputError("weights belong to the counting: cg.partial_tables(batch, sample_weight='column')")
        if any(c.noise is not None for c in columns):
            raise InputError("noise belongs to the counting: cg.partial_tables(batch, noise=…)")
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
        """Points in no cluster, as far as the policy leaves them so."""
        part, c = self._counted
        many = int(part.gaps[c])
        if many and self.unassigned == "error":
            raise unassigned_error(self.who, f"{many} of {part.rows} points")
        return many if self.unassigned in ("drop", "partial") else 0

    @property
    def names(self) -> Array | tuple[Any, ...]:
        """The clusters' own labels, sorted."""
        part, c = self._counted
        return named_labels(part, c)[1]

    @property
    def cautions(self) -> tuple[str, ...]:
        """What a reader of results should know, once the column has been counted."""
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
            found.append(
                f"{self.who}: {len(part.labels[c])} different fractional values in {part.rows} points look like "
                "measurements, not labels"
            )
        return tuple(found)

    @property
    def codes(self) -> Array:
        """Not to be had: the labels of single points stay where they are."""
        raise NotApplicable(
            f"{self.who} is scanned, and this needs the label of every point (or pairs of points), not tables; read the "
            "columns into memory for it"
        )

    def __len__(self) -> int:
        rows = self.source.n_rows
        return int(rows if rows is not None else self._counted[0].rows)

    def taken(self, points: Array, index: Any = None) -> Labels:
        """Not to be had, as codes."""
        return Labels(self.codes)

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Column:
        """The same column with a rule for the points in no cluster."""
        if unassigned not in ("error", "drop", "singletons", "cluster", "partial"):
            raise InputError(f"unassigned must be 'error', 'drop', 'singletons' or 'cluster', not {unassigned!r}")
        return Column(self.source, self.name, unassigned, frozenset(noise) if noise else None, who)

    def __repr__(self) -> str:
        return f"column {self.name!r} of {self.source!r}"


def named_labels(part: PartialTables, c: int) -> tuple[Array, Array | tuple[Any, ...]]:
    """Which label comes where, by its name, and the names in that order."""
    labels = list(part.labels[c])
    if part.kinds[c] == "float" and any(isinstance(x, float) for x in labels):
        labels = [float(x) for x in labels]
    order = label_order(labels)
    rank = np.empty(len(labels), np.int64)
    rank[order] = np.arange(len(labels))
    return rank, _named([labels[i] for i in order])


def tables_of(part: PartialTables, columns: Sequence[Column], pairs: Array) -> tuple[Tables, Any]:
    """The tables of these pairs of columns, points in no cluster dealt with; for one pair also its clusters' names."""
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
            "unassigned='singletons' with weights needs every single point; pass 'drop' or 'cluster', or read the columns"
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
    row, shape_a, keep_a = _closed_up(pair, row, wide[0])
    col, shape_b, keep_b = _closed_up(pair, col, wide[1])
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
    """Cells of the pairs (left, right) as they were counted, turned where they were counted the other way."""
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
    """Each point in no cluster becomes a cluster of its own: a cell of m such points becomes m cells."""
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
    """Names of the clusters that are left; those beyond the names are points in no cluster."""
    if not len(keep) or keep[-1] < len(names):
        return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)
    listed = names.tolist() if isinstance(names, np.ndarray) else list(names)
    word = "unassigned"
    while any(str(name).startswith(word) for name in listed):
        word += "′"
    extra = [i for i in keep.tolist() if i >= len(listed)]
    added = [word] if len(extra) == 1 and keep[-1] == len(listed) else [f"{word} {i - len(listed) + 1}" for i in extra]
    return (*(listed[i] for i in keep.tolist() if i < len(listed)), *added)


# --- the doors of the engine ------------------------------------------------------------------------------------


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
    """Mass of all rows, what they make with themselves, and pairs of different rows."""
    part = column.source.facts(column, mass)
    total, own = float(part.total), float(part.rows if part.mass is None else part.total)
    if part.mass == "sample_weight":
        scale = part.rows / total
        total, own = float(part.rows), part.squares * scale**2
    return total, own, (total * total - own) / 2
