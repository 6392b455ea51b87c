"""Rows of a scan taken by position, on their own or while the scan is read to count tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from congruence.inputs.encoding import arrow_library
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike, Frame

#: rows taken from one batch: the part they are from, and their columns
Piece = tuple[str, dict[str, ColumnLike]]


@dataclass(frozen=True, eq=False)
class RowsToTake:
    """Rows of one part to take."""

    names: tuple[str, ...]
    #: position of the part's first row among all rows
    first: int
    #: positions in the part, in order
    rows: Array

    @property
    def key(self) -> int:
        """Position of the first of these rows among all rows."""
        return self.first + int(self.rows[0])

    def found_in(self, batch: Frame, first: int, n: int, where: str) -> dict[int, Piece]:
        """The wanted rows of a batch of n rows that begins at this row of the part, by the position of the first."""
        start, end = np.searchsorted(self.rows, [first, first + n])
        if start == end:
            return {}
        here, held = self.rows[start:end] - first, isinstance(batch, dict)
        columns = {name: _take(batch[name] if held else batch.column(name), here) for name in self.names}
        return {self.first + int(self.rows[start]): (where, columns)}


def _take(column: ColumnLike, rows: Array) -> ColumnLike:
    return column.taken(rows) if isinstance(column, Labels) else column.take(arrow_library().array(rows))


class Sample:
    """Rows to take from the parts of a scan, by their positions among all rows, in order, and those taken so far."""

    def __init__(self, names: tuple[str, ...], rows: Array, counts: Sequence[Sequence[int]]) -> None:
        ends = [0, *accumulate(chain.from_iterable(counts))]
        at = np.searchsorted(rows, ends).tolist()
        parts = iter(
            RowsToTake(names, first, rows[start:end] - first) if start < end else None
            for first, start, end in zip(ends[:-1], at[:-1], at[1:], strict=True)
        )
        self.groups = [tuple(next(parts) for _ in group) for group in counts]
        #: rows taken so far, by the position of the first
        self.found: dict[int, Piece] = {}

    def of(self, number: int) -> tuple[RowsToTake | None, ...]:
        """Rows of the parts of a group that are still to be taken; none of a group that was not counted."""
        wanted = self.groups[number] if number < len(self.groups) else ()
        return tuple(None if x is None or x.key in self.found else x for x in wanted)
