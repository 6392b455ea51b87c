"""The tables of clusters × clusters of all points, for a search on a sample of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np

from congruence.consensus_clustering.evidence import GRAM_LIMIT, Evidence
from congruence.engine.cpu import cluster_sizes, table_tiles
from congruence.engine.fused import BLOCKED_CELLS, joint_tables
from congruence.engine.joint_codes import JointCodes
from congruence.engine.plan import MEMORY, Run, default_threads
from congruence.inputs.labels import Labels
from congruence.scanning.room import Overfull
from congruence.scanning.sampling import Sample
from congruence.scanning.tables import PartialTables
from congruence.statistics.tables import Array
from congruence.typing import Label

if TYPE_CHECKING:
    from congruence.scanning.columns import Column
    from congruence.scanning.rows import Rows

#: (one member, another or the same, codes of their clusters, number of points in both)
Cells = tuple[int, int, Array, Array, Array]
#: positions of some pairs of columns, and their tables
Block = tuple[Array, PartialTables]
#: the tables of all points by the clusters of a sample; None if there are too many clusters
Everyone = Callable[[Evidence], Array | None]


def of_labels(members: Sequence[Labels], codes: Sequence[Array], threads: int | None) -> Everyone:
    """The tables of labels in memory, of which `codes` are those of a sample."""

    def cells() -> Iterator[Cells]:
        for i, c in enumerate(members):
            sizes = cluster_sizes(c)
            yield i, i, np.arange(len(sizes)), np.arange(len(sizes)), sizes
        joint = JointCodes([c.k + (c.gaps > 0) for c in members], len(members[0]))
        if joint.pays and joint.cells <= BLOCKED_CELLS:
            tables = joint_tables(members, joint, np.triu_indices(len(members), 1), default_threads(threads))
            for i, j in combinations(range(len(members)), 2):
                counts = tables[i, j][: members[i].k, : members[j].k]
                row, col = np.nonzero(counts)
                yield i, j, row, col, counts[row, col]
            return
        runs = [Run(i, i + 1, len(members)) for i in range(len(members) - 1)]
        for pair_i, pair_j, tile in table_tiles(members, runs, None, MEMORY, default_threads(threads)) if runs else ():
            for i, j, table in zip(pair_i.tolist(), pair_j.tolist(), tile.each(), strict=True):
                yield i, j, table.row, table.col, table.count

    return lambda e: _everyone(e, e.columns_of(codes, [c.k + 1 for c in members]), cells())


def _pairs(many: int) -> Array:
    return np.column_stack(np.triu_indices(many, 1)) if many > 1 else np.array([[0, 0]])


def counted_beside(rows: Rows, sample: Sample) -> Iterator[Block]:
    """The tables of scanned columns, block by block; the pass over the rows that counts the first block takes the sample.

    Columns that seem to have too many clusters, or whose tables exceed the memory, are left to later passes.
    """
    source, columns, pairs = rows.scan, rows.columns, _pairs(len(rows.columns))
    later = source.tables(columns, pairs, None, None, None)
    if source.labels_at_first([c.name for c in columns]) > GRAM_LIMIT:
        return later
    blocks = source.tables(columns, pairs, None, None, None, sample)
    try:
        return chain([next(blocks)], blocks)
    except Overfull:
        return later


def of_columns(
    columns: Sequence[Column], codes: Sequence[Array], labels: Sequence[Sequence[Label]], blocks: Iterable[Block]
) -> Everyone:
    """The tables of scanned columns, of which `codes` are those of a sample, with these labels."""
    pairs = _pairs(len(columns))
    known = [{label: code + 1 for code, label in enumerate(names)} for names in labels]

    def cells() -> Iterator[Cells]:
        sized: set[int] = set()
        for here, part in blocks:
            place = {name: at for at, name in enumerate(part.names)}
            at = [place.get(c.name, -1) for c in columns]
            # 0 is no label, and the last code is that of labels that are not in the sample
            moved = {
                i: np.array([0, *(known[i].get(label, len(labels[i]) + 1) for label in part.labels[x])], dtype=np.int64)
                for i, x in enumerate(at)
                if x >= 0
            }
            for i in sorted(set(moved) - sized):
                yield i, i, moved[i], moved[i], part.sizes[at[i]]
            sized |= set(moved)
            for i, j in pairs[here].tolist():
                if i != j:
                    p = part.place[min(at[i], at[j]), max(at[i], at[j])]
                    inside = slice(part.starts[p], part.starts[p + 1])
                    row, col = part.row[inside], part.col[inside]
                    row, col = (row, col) if at[i] < at[j] else (col, row)
                    yield i, j, moved[i][row], moved[j][col], part.count[inside]

    return lambda e: _everyone(e, e.columns_of(codes, [len(names) + 2 for names in labels]), cells())


def _everyone(e: Evidence, columns: Sequence[Array], cells: Iterable[Cells]) -> Array | None:
    """Clusters × clusters of the sample; clusters that it lacks are left out."""
    if e.n_columns > GRAM_LIMIT:
        return None
    found = np.zeros((e.n_columns + 1, e.n_columns + 1), np.int64)
    for i, j, row, col, count in cells:
        here = columns[i][row], columns[j][col]
        np.add.at(found, here, count)
        if i != j:
            np.add.at(found, here[::-1], count)
    return found[:-1, :-1]
