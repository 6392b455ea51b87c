"""Columns with few clusters, counted together: the table of two groups of columns holds the tables of all their pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from congruence.statistics.tables import Array, code_type

#: most joint codes of a group, so that a byte holds them
MOST = 256

#: fewer counts than this share of all pairs pay for splitting the tables
WORTHWHILE = 0.7


class JointCodes:
    """Groups of columns, and the joint code of each group: its codes as the digits of one number.

    The table of two groups of several columns has at most as many cells as there are points. `alone`: each column is a group.

    >>> joint = JointCodes([3, 2, 40], n=1_000)
    >>> joint.groups, joint.widths.tolist()
    ([[2], [0, 1]], [40, 6])
    >>> joint.encoded([np.array(x) for x in ([2, 0, 2], [0, 1, 1], [7, 8, 9])]).tolist()
    [[7, 8, 9], [4, 1, 5]]
    """

    def __init__(self, widths: Sequence[int], n: int, alone: bool = False) -> None:
        self.k = np.array(widths, dtype=np.int64)
        most, least = 0 if alone else min(MOST, int(n**0.5)), max(int(self.k.min()), 1)
        self.groups: list[list[int]] = []
        spare: list[tuple[int, list[int]]] = []  # groups that others fit into, and how many codes more
        for column in np.argsort(-self.k, kind="stable").tolist():  # the widest first: narrow ones fill their groups
            width = max(int(self.k[column]), 1)
            at = next((x for x, (room, _) in enumerate(spare) if width <= room), None)
            room, group = (most, []) if at is None else spare.pop(at)
            group.append(column)
            if at is None:
                self.groups.append(group)
            if room // width >= least:
                spare.append((room // width, group))
        self.widths = np.array([int(np.prod(self.k[group])) for group in self.groups], dtype=np.int64)

    @property
    def pays(self) -> bool:
        """Whether all columns fit into bytes, and groups have clearly fewer pairs than columns."""
        groups, columns = len(self.groups), len(self.k)
        return bool(self.k.max() <= MOST) and groups * (groups + 1) <= WORTHWHILE * columns * (columns + 1)

    @property
    def cells(self) -> int:
        """Number of cells of the tables of all pairs of groups."""
        return int(self.widths.sum() ** 2 + (self.widths**2).sum()) // 2

    @property
    def order(self) -> Array:
        """The columns, group by group."""
        return np.concatenate([np.array(group, dtype=np.int64) for group in self.groups])

    @property
    def starts(self) -> Array:
        """Where each group starts in the order, and the number of columns."""
        return np.concatenate([[0], np.cumsum([len(group) for group in self.groups])])

    @cached_property
    def digits(self) -> Array:
        """Columns × joint codes: the code of the column in each joint code of its group."""
        found = np.zeros((len(self.k), int(self.widths.max())), np.int64)
        for group, wide in zip(self.groups, self.widths.tolist(), strict=True):
            left = np.arange(wide)
            for column in reversed(group):
                found[column, :wide] = left % self.k[column]
                left //= self.k[column]
        return found

    def encoded(self, codes: Sequence[Array]) -> Array:
        """Groups × points: the joint codes, from the codes of each column."""
        return self.filled(lambda column, out: np.copyto(out, codes[column], casting="unsafe"), len(codes[0]))

    def filled(self, fill: Callable[[int, Array], object], n: int) -> Array:
        """The same, from a function that writes the codes of a column."""
        wide = np.uint8 if self.widths.max() <= MOST else code_type(int(self.widths.max()))
        found, own = np.empty((len(self.groups), n), wide), np.empty(n, wide)
        for joint, group in zip(found, self.groups, strict=True):
            fill(group[0], joint)
            for column in group[1:]:
                fill(column, own)
                joint *= wide(self.k[column])
                joint += own
        return found


class JointTables:
    """Tables of pairs of groups of columns, counted batch by batch, from which the tables of pairs of columns follow.

    >>> counts = JointTables(JointCodes([2, 3, 2], n=1_000))
    >>> counts.add(counts.joint.encoded([np.array(x) for x in ([0, 1, 1], [2, 0, 2], [1, 0, 0])]))
    >>> counts.split()[0, 2].tolist()
    [[0, 1], [2, 0]]
    """

    def __init__(self, joint: JointCodes, pairs: tuple[Array, Array] | None = None) -> None:
        self.joint, at = joint, np.empty(len(joint.k), np.int64)
        at[joint.order] = np.repeat(np.arange(len(joint.groups)), np.diff(joint.starts))
        i, j = np.triu_indices(len(joint.k)) if pairs is None else pairs
        self.first, self.second = np.unique(np.sort(np.column_stack([at[i], at[j]]), axis=1), axis=0).T.copy()
        self.ends = np.concatenate([[0], np.cumsum(joint.widths[self.first] * joint.widths[self.second])])
        self.counts, self.n = np.zeros(self.ends[-1], np.uint32), 0

    def add(self, codes: Array) -> None:
        """Count points with these joint codes, at most 2³² in all."""
        from congruence.engine.kernels import count_pairs

        count_pairs(codes, self.joint.widths, self.first, self.second, self.ends, self.counts)
        self.n += codes.shape[1]

    def split(self, counts: Array | None = None) -> dict[tuple[int, int], Array]:
        """The tables of the pairs of columns; of given counts, or of those so far, which are emptied."""
        from congruence.engine.kernels import split_joint

        joint, found = self.joint, dict[tuple[int, int], Array]()
        tables = np.split(self.counts if counts is None else counts, self.ends[1:-1])
        for table, first, second in zip(tables, self.first.tolist(), self.second.tolist(), strict=True):
            a, b, wide = joint.groups[first], joint.groups[second], int(joint.widths[second])
            pairs = [(i, j) for i in a for j in b]
            ends = np.cumsum([0, *(joint.k[i] * joint.k[j] for i, j in pairs)]).tolist()
            out, part = np.empty(ends[-1], table.dtype), np.empty(int(joint.k[a].max()) * wide, table.dtype)
            split_joint(table, np.array(a), np.array(b), wide, joint.k, joint.digits, part, out)
            for (i, j), (at, end) in zip(pairs, pairwise(ends), strict=True):
                found[i, j] = out[at:end].reshape(joint.k[i], joint.k[j])
                found[j, i] = found[i, j].T
        self.n = 0
        return found
