"""Labels in order of appearance: their kind, and a growing vocabulary that gives each a code.

A code of 0 means "in no cluster" here; label i of a column has code i + 1, in order of appearance.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Collection, Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise, repeat
from typing import TYPE_CHECKING

import numpy as np

from congruence.errors import InputError, TooLarge, Word
from congruence.inputs.cover_columns import sets_of_rows
from congruence.inputs.encoding import arrow_library, holds_lists, refuse_type
from congruence.inputs.files import why_unreadable
from congruence.inputs.labels import Labels, above, unassigned_error
from congruence.machine import jit
from congruence.scanning.room import COPIES, Room
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, code_type
from congruence.typing import ColumnLike, Label

if TYPE_CHECKING:
    import pyarrow as pa

#: bytes of a label's entries in a list and a dictionary
PLACE = 110

#: size of the lookup table for codes of integers; labels with a wider range are hashed
LOOKUP_SPAN = 1 << 20


class LabelKind(Word):
    """The kind of the labels of a column, without their width; only labels of one kind can be equal."""

    NULL = "null"
    INTEGER = "integer"
    FLOAT = "float"
    BOOLEAN = "boolean"
    TEXT = "text"
    BYTES = "bytes"
    DECIMAL = "decimal"
    #: text of a text file: whether it is numbers is decided after all rows are read
    FIELD = "field"
    MIXED = "mixed"
    # lists, the clusters of each point
    NULL_SETS = "sets of null"
    INTEGER_SETS = "sets of integer"
    FLOAT_SETS = "sets of float"
    BOOLEAN_SETS = "sets of boolean"
    TEXT_SETS = "sets of text"
    BYTES_SETS = "sets of bytes"
    DECIMAL_SETS = "sets of decimal"

    @property
    def element(self) -> LabelKind | None:
        """The kind of the clusters, if these are lists of clusters."""
        return ELEMENTS.get(self)

    def takes(self, other: LabelKind) -> bool:
        """Whether labels of the other kind may be in the same column: missing values, empty lists, or the same kind."""
        empty = other is LabelKind.NULL_SETS and self.element is not None
        return other in (self, LabelKind.NULL) or empty


#: kinds of lists of clusters, and of the clusters in them
ELEMENTS = {kind: LabelKind(kind.value.removeprefix("sets of ")) for kind in LabelKind if "sets of " in kind.value}


class BadBatch(InputError):
    """Rows that cannot be read, or differ in type; they can be skipped."""


class LargeBatch(BadBatch, TooLarge):
    """Rows that do not fit in memory, or a damaged file that declares too many of them."""


def unreadable(where: str, error: BaseException) -> BadBatch:
    """The error of a reader, with the name of the part."""
    kind = LargeBatch if isinstance(error, MemoryError) else BadBatch
    return kind(f"{where} could not be read: {why_unreadable(error)}")


@lru_cache(maxsize=256)
def kind_of(type: pa.DataType) -> LabelKind:
    """The kind of the labels of an arrow type."""
    pa = arrow_library()
    kinds = pa.types
    if kinds.is_dictionary(type):
        return kind_of(type.value_type)
    if holds_lists(type):
        refuse_type(type.value_type)
        inner = kind_of(type.value_type)
        return next(kind for kind, element in ELEMENTS.items() if element is inner)
    for name, tests in (
        (LabelKind.NULL, (kinds.is_null,)),
        (LabelKind.INTEGER, (kinds.is_integer,)),
        (LabelKind.FLOAT, (kinds.is_floating,)),
        (LabelKind.BOOLEAN, (kinds.is_boolean,)),
        (LabelKind.TEXT, (kinds.is_string, kinds.is_large_string, getattr(kinds, "is_string_view", kinds.is_string))),
        (LabelKind.BYTES, (kinds.is_binary, kinds.is_large_binary, kinds.is_fixed_size_binary)),
        (LabelKind.DECIMAL, (kinds.is_decimal,)),
    ):
        if any(test(type) for test in tests):
            return name
    refuse_type(type)
    raise InputError(f"labels of type {type} cannot be counted; convert them to strings if they are labels")


def check_kind(column: ColumnLike, wanted: LabelKind | None, who: str) -> None:
    """Raise if an arrow column has another kind elsewhere; Labels have any kind."""
    if wanted is None or isinstance(column, Labels):
        return
    found: LabelKind | str
    try:
        found = kind = kind_of(column.type)
        if (kind is LabelKind.TEXT and wanted is LabelKind.FIELD) or wanted.takes(kind) or kind.takes(wanted):
            return
    except InputError:
        if wanted is LabelKind.NULL:
            raise
        found = str(column.type)
    raise BadBatch(f"{who} holds labels of kind {found}, and of kind {wanted} elsewhere")


def check_complete(codes: Array, called: str | None, where: str) -> int:
    """The number of points in no cluster; raises if there are some in a column of this name that must be complete."""
    gaps = len(codes) - int(np.count_nonzero(codes))
    if gaps and called is not None:
        raise unassigned_error(called, f"{gaps} of the {len(codes)} points of {where}")
    return gaps


class Crowded(Exception):
    """The labels of a batch would not fit in memory; holds how many there would be."""

    def __init__(self, width: int, size: float) -> None:
        super().__init__(f"{width - 1} labels")
        self.width, self.size = width, size


class Vocabulary:
    """The labels of one column, in order of appearance; noise labels and empty sets of clusters have code 0.

    Threads may share it. Labels that exceed its room raise `Crowded`, those of a large batch before they are made.
    """

    def __init__(
        self, noise: Collection[Hashable] | None = None, fields: bool = False, room: Room | None = None
    ) -> None:
        self.kind, self.fields, self.room = LabelKind.NULL, fields, room
        self.labels: list[Label] = []
        self.place: dict[Label, int] = {(): 0}
        self.noise = {x for label in noise or () for x in (label, str(label))}
        #: the smallest label and the codes of a range of integers from there; None if the range is too wide
        self.table: tuple[int, Array] | None = (0, np.empty(0, np.int32))
        #: the last dictionary, the number of labels known then, and their codes
        self.seen: tuple[pa.Array, int, Array] | None = None
        self.lock = threading.RLock()
        #: bytes of the labels, with their entries in the list and the dictionary
        self.held = 0

    @property
    def width(self) -> int:
        """Number of codes, including that of "no cluster"."""
        return len(self.labels) + 1

    @property
    def size(self) -> int:
        """Bytes that the vocabulary takes."""
        copies = self.held if self.fields else 0  # fields are converted to numbers, if they can be
        return self.held + copies + (0 if self.table is None else self.table[1].nbytes)

    def joined(self, kind: LabelKind, who: str) -> None:
        """Fix the kind; labels of another kind are refused."""
        with self.lock:
            if self.kind.takes(kind):
                return
            if not kind.takes(self.kind):
                raise BadBatch(f"{who} holds labels of kind {kind}, and of kind {self.kind} elsewhere")
            self.kind = kind

    def known(self, labels: Iterable[Label]) -> Array:
        """The codes of these labels; new labels are added."""
        given = labels if isinstance(labels, list | tuple) else list(labels)
        with self.lock:
            codes = np.fromiter(map(self.place.get, given, repeat(-1)), np.int64, len(given))
            most = self._most
            for i in np.flatnonzero(codes < 0).tolist():
                codes[i] = self._added(given[i], most)
        return codes

    def begin(self, labels: Sequence[Label]) -> None:
        """Add these labels, and look integers among them up without a first pass over a batch."""
        self.known(labels)
        if labels and all(type(label) is int and abs(label) < 2**62 for label in labels):
            self._meet(np.array(labels, dtype=np.int64))

    def _added(self, label: Label, most: float) -> int:
        """The code of a new label; raises above this many bytes."""
        code = self.place.get(label)  # 0.0 and −0.0 are equal, so that they are one label
        if code is None:
            if isinstance(label, float) and label.is_integer() and abs(label) < 2**62:
                label = int(label)  # as in memory: a column of integral floats holds integers
            noise = bool(self.noise) and (label in self.noise or str(label) in self.noise)
            if not noise:
                self.labels.append(label)
            code = self.place[label] = 0 if noise else len(self.labels)
            self.held += sys.getsizeof(label) + PLACE
            if self.held > most:
                raise Crowded(self.width, self.held)
        return code

    @property
    def _most(self) -> float:
        """Bytes that its labels may take, with the room that is free now."""
        return (
            float("inf")
            if self.room is None
            else self.held + max(0.0, self.room.free_for_labels / COPIES / (1 + self.fields))
        )

    def codes(self, column: ColumnLike, who: str) -> Array:
        """The codes of a column: an arrow array, or Labels."""
        pa = arrow_library()
        if isinstance(column, Labels):
            names = plain_names(column.names)
            self.joined(_kind_of_names(names), who)
            return self._placed(np.append(self.known(names), 0), column.codes)
        if isinstance(column, pa.ChunkedArray):
            column = column.unify_dictionaries() if pa.types.is_dictionary(column.type) else column
            column = column.combine_chunks()
        kind = kind_of(column.type)
        if self.fields and kind is LabelKind.TEXT:
            kind = LabelKind.FIELD
        self.joined(kind, who)
        if kind is LabelKind.NULL:
            return np.zeros(len(column), np.uint8)
        if pa.types.is_dictionary(column.type):
            if kind is not LabelKind.INTEGER or jit.use_kernels(len(column)):
                return self._hashed(column)
            column = column.dictionary_decode()
        if kind.element is not None:
            return self._sets(column, who)
        if kind is LabelKind.INTEGER:
            if not column.null_count:
                return self._integers(column.to_numpy())
            there = column.is_valid().to_numpy(zero_copy_only=False)
            solid = self._integers(column.drop_null().to_numpy()) if there.any() else np.empty(0, np.uint8)
            codes = np.zeros(len(column), solid.dtype)
            codes[there] = solid
            return codes
        if kind is LabelKind.FLOAT:  # −0.0 is 0.0, NaN is missing
            values = column.to_numpy(zero_copy_only=False).astype(np.float64) + 0.0
            column = pa.array(values, from_pandas=True)
        return self._hashed(column.dictionary_encode())

    def _sets(self, column: ColumnLike, who: str) -> Array:
        """The codes of sets of clusters; noise clusters are removed from their sets."""
        codes, clusters = sets_of_rows(column, who)
        kept = [name not in self.noise and str(name) not in self.noise for name in clusters.names]
        members, ends = clusters.clusters.tolist(), clusters.starts.tolist()
        sets = (tuple(clusters.names[i] for i in members[first:last] if kept[i]) for first, last in pairwise(ends))
        return self._placed(self.known(sets), codes)

    def _check_room(self, labels: ColumnLike) -> None:
        """Raise if the labels of a batch that must be new, judged by their number, would exceed the memory."""
        new = len(labels) - self.width
        size = self.held + new * (PLACE + sys.getsizeof("") + labels.nbytes / max(len(labels), 1))
        if new > 0 and size > self._most:
            raise Crowded(len(labels) + 1, size)

    def _hashed(self, column: pa.DictionaryArray) -> Array:
        names, stored = column.dictionary, column.indices
        if str(stored.type) in ("uint8", "uint16") and jit.use_kernels(len(stored)):
            from congruence.engine.kernels import look_up, translate

            place = self._places(names)
            if column.null_count:  # a gap is one name more, with code 0
                wide = np.promote_types(stored.type.to_pandas_dtype(), np.min_scalar_type(len(names)))
                stored, place = stored.cast(str(wide)).fill_null(len(names)), np.append(place, np.int32(0))
            indices = stored.to_numpy()
            codes = np.empty(len(indices), code_type(len(self.labels)))
            if indices.max() < len(place) and place.min() >= 0:
                translate(indices, place.astype(codes.dtype), codes)
                return codes
            if look_up(indices, 0, place, codes):
                return codes
        if stored.type.bit_width < 32:  # 128 names use all codes of a byte
            stored = stored.cast("int32")
        elif str(stored.type) == "uint64":
            stored = stored.cast("int64")
        indices = stored.fill_null(len(names)).to_numpy(zero_copy_only=False)
        there = np.zeros(len(names) + 1, bool)  # unused categories are not labels
        there[indices] = True
        there = there[:-1] & ~names.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        used = names if there.all() else names.filter(arrow_library().array(there))
        self._check_room(used)
        place = np.zeros(len(names) + 1, np.int64)
        new = used.to_pylist()
        if self.kind is LabelKind.INTEGER:  # the order of integers that are not read as codes
            self.known(sorted(new))
        place[:-1][there] = self.known(new)
        return self._placed(place, indices)

    def _places(self, names: pa.Array) -> Array:
        """The codes of the labels of a dictionary, −1 for new ones."""
        seen, many = self.seen, len(self.place)
        if seen is None or seen[1] != many or not seen[0].equals(names):
            codes = map(self.place.get, names.to_pylist(), repeat(-1))
            self.seen = seen = names, many, np.fromiter(codes, np.int32, len(names))
        return seen[2]

    def _placed(self, place: Array, indices: Array) -> Array:
        return place.astype(code_type(len(self.labels)))[indices]

    def _integers(self, values: Array) -> Array:
        if values.dtype == np.uint64:
            if len(values) and values.max() > np.iinfo(np.int64).max:
                self.table = None
            else:
                values = values.astype(np.int64)
        compiled = jit.use_kernels(len(values))
        while (table := self.table) is not None:  # the table first: other threads may add labels and widen it
            codes = np.empty(len(values), code_type(len(self.labels)))
            if not len(values) or _looked_up(values, *table, codes, compiled):
                return codes
            with self.lock:
                self._meet(values)
        return self._hashed(arrow_library().array(values).dictionary_encode())

    def _meet(self, values: Array) -> None:
        """Add the new labels among these, with a table over their range."""
        if self.table is None:
            return
        first, lookup = self.table
        low, high = int(values.min()), int(values.max())
        if len(lookup):
            low, high = min(low, first), max(high, first + len(lookup) - 1)
        if high - low >= LOOKUP_SPAN or max(abs(low), abs(high)) > 2**62:
            self.table = None
            return
        wider = np.full(high - low + 1, -1, np.int32)
        wider[first - low : first - low + len(lookup)] = lookup
        there = np.zeros(len(wider), bool)
        there[above(values, low)] = True
        new = np.flatnonzero(there & (wider < 0))
        wider[new] = self.known((new + low).tolist())
        self.table = low, wider


def _looked_up(values: Array, low: int, lookup: Array, codes: Array, compiled: bool) -> bool:
    """Write the codes of these labels; False if there are new labels."""
    if compiled:
        from congruence.engine.kernels import look_up

        return bool(look_up(values, low, lookup, codes))
    if values.min() < low or values.max() >= low + len(lookup):
        return False
    found = lookup[above(values, low)]
    codes[:] = found
    return bool((found >= 0).all())


def _kind_of_names(names: Sequence[Label]) -> LabelKind:
    kinds = {type(name) for name in names}
    for kind, types in (
        (LabelKind.BOOLEAN, {bool}),
        (LabelKind.INTEGER, {int}),
        (LabelKind.FLOAT, {int, float}),
        (LabelKind.TEXT, {str}),
        (LabelKind.BYTES, {bytes}),
    ):
        if kinds <= types:
            return kind if kinds else LabelKind.NULL
    return LabelKind.MIXED
