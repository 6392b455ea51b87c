"""Pairs of columns with few labels, counted together over many batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import chain

from congruence.engine.joint_codes import MOST, JointCodes, JointTables
from congruence.machine import jit
from congruence.scanning.cells import Cells
from congruence.statistics.tables import Array

#: most cells of the tables of groups of columns, and points that they count before they are split
MOST_CELLS, MOST_POINTS = 1 << 23, 1 << 31

#: bytes of memory per cell of these tables, so that they take a small part of it
SHARE = 64


class JointCounts:
    """Tables of groups of columns with few labels, and the tables of pairs of columns to which they are added at the end.

    `limit` is the memory of this thread, in bytes.
    """

    def __init__(self, pairs: Sequence[tuple[int, int]], tables: Sequence[Cells], limit: float) -> None:
        self.pairs, self.tables, self.most = pairs, tables, min(MOST_CELLS, limit / SHARE)
        self.widths: list[int] = []
        self.counts: JointTables | None = None
        #: the columns that are counted together, and the positions of their pairs
        self.columns: list[int] = []
        self.places: set[int] = set()

    @property
    def nbytes(self) -> int:
        """Bytes of the tables of groups."""
        return 0 if self.counts is None else self.counts.counts.nbytes

    def count(self, codes: Sequence[Array], widths: list[int], fit: Callable[[int], object]) -> Collection[int]:
        """Count a batch; returns the positions of the pairs that it counts. `fit` makes room in the table of a pair."""
        n = len(codes[0])
        if widths != self.widths or (self.counts is not None and self.counts.n + n > MOST_POINTS):
            if not jit.use_kernels(float(n) * len(self.pairs)):
                return ()
            self.settle()
            self._begin(widths)
            for place in self.places:
                fit(place)
        if self.counts is not None:
            self.counts.add(self.counts.joint.encoded([codes[c] for c in self.columns]))
        return self.places

    def _begin(self, widths: list[int]) -> None:
        """Form groups of the columns with few codes, if that pays."""
        self.widths, self.counts, self.places = widths, None, set()
        self.columns = [c for c in sorted({*chain.from_iterable(self.pairs)}) if widths[c] <= MOST]
        inside = {*self.columns}
        places = {p for p, pair in enumerate(self.pairs) if inside.issuperset(pair)}
        if len(self.columns) < 3 or 2 * len(places) < len(self.columns) * (len(self.columns) - 1):
            return
        joint = JointCodes([widths[c] for c in self.columns], MOST**2)
        if joint.pays and joint.cells <= self.most:
            self.counts, self.places = JointTables(joint), places

    def settle(self) -> None:
        """Add the counts so far to the tables of the pairs."""
        if self.counts is None or not self.counts.n:
            return
        found, at = self.counts.split(), {column: x for x, column in enumerate(self.columns)}
        for place in self.places:
            i, j = self.pairs[place]
            self.tables[place].add(found[at[i], at[j]])
