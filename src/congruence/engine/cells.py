"""The cells of tables: counted from the codes of points, added, and finished as tables, in memory and in scanned parts.

The code of a point in no cluster is the number of clusters, so that such points have a row (or column) of their own until
tables are finished.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.inputs.labels import names_of_unassigned
from congruence.machine import jit
from congruence.statistics.covers import ClusterMap
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, ClusterNames, Table, Tables, changed

# --- counting ---------------------------------------------------------------------------------------------------


def sorted_cells(a: Array, b: Array, wide: int, across: int, mass: Array | None = None) -> tuple[Array, ...]:
    """The non-zero cells of a table that is larger than the data: row, column, count, and for weights those within.

    `wide` and `across` are the numbers of codes of a and of b; `mass` are frequencies (integers) or weights.
    """
    if mass is None and jit.use_kernels(len(a)):
        from congruence.engine.kernels import count_sorted

        common = np.promote_types(a.dtype, b.dtype)  # the loop is compiled for each type
        found: tuple[Array, ...] = count_sorted(
            a.astype(common, copy=False), b.astype(common, copy=False), wide, across
        )
        return found
    key, where, times = np.unique(a.astype(np.int64) * across + b, return_inverse=True, return_counts=True)
    counts: tuple[Array, ...] = (times,)
    if mass is not None and mass.dtype.kind == "f":
        counts = weighted_cells(where, mass, len(key))
    elif mass is not None:
        counts = (np.zeros(len(key), np.int64),)
        np.add.at(counts[0], where, mass)
    there = counts[0] > 0
    return tuple(x[there] for x in (key // across, key % across, *counts))


def weighted_cells(key: Array, weights: Array, cells: int) -> tuple[Array, Array]:
    """For points with these keys below `cells`: Σw of each cell, and Σ w_p·w_q over its pairs of points.

    Sums of positive terms in the order of the points, by the same loop on every route: there is no cancellation, and the
    result is identical whether or not the loop is compiled.
    """
    total, within = np.zeros(cells), np.zeros(cells)
    compiled_or_not = jit.compiled(_add_weighted, steps=float(len(key)))
    compiled_or_not(key, weights, total, within)
    return total, within


def _add_weighted(key: Array, weights: Array, total: Array, within: Array) -> None:
    for p in range(len(key)):
        c, w = key[p], weights[p]
        within[c] += total[c] * w
        total[c] += w


def merge_weighted(where: Array, count: Array, within: Array | None, total: Array, inside: Array) -> None:
    """Add cells of other rows in order: pairs within a cell are those of either part, and one row of each."""
    run = jit.compiled(_merge, steps=float(len(where)))
    run(where, count, np.zeros(len(count)) if within is None else within, total, inside)


def _merge(where: Array, count: Array, within: Array, total: Array, inside: Array) -> None:
    for c in range(len(where)):
        at = where[c]
        inside[at] += within[c] + total[at] * count[c]
        total[at] += count[c]


# --- finished tables ----------------------------------------------------------------------------------------------


def tables_of(
    cells: Sequence[Array], shapes: Array, used: Array | None = None, own: Array | None = None,
    maps: Sequence[tuple[ClusterMap | None, ClusterMap | None]] | None = None,
) -> Tables:  # fmt: skip
    """The tables of these cells, without points in no cluster and without empty clusters.

    Args:
        cells: Pair, row, column and count of each cell, pair after pair in row-major order; for weighted points also the
            weight of the pairs within it.
        shapes: (pairs, 2): numbers of clusters.
        used: For weighted points, how many each pair uses.
        own: For weighted points, the sum of their squared weights.
        maps: For covers, whose rows and columns keep the order of their maps; see `Table.maps`.
    """
    pair, row, col = cells[:3]
    there = (row < shapes[pair, 0]) & (col < shapes[pair, 1])
    pair, row, col, count, *within = (x[there] for x in cells)
    starts = np.searchsorted(pair, np.arange(len(shapes) + 1))
    if used is None or own is None:
        used = own = np.zeros(len(shapes), np.int64)
        np.add.at(used, pair, count)
    else:
        used = np.where(np.diff(starts) > 0, used, 0)  # all weights are 0: no points
    kept = None
    if maps is None:
        row, k_a, kept_a = closed_up(pair, row, shapes[:, 0])
        col, k_b, kept_b = closed_up(pair, col, shapes[:, 1])
        kept = (kept_a, kept_b) if len(shapes) == 1 else None
        shapes = np.column_stack([k_a, k_b])
    return Tables(
        row, col, count, starts, shapes, own, used, within=within[0] if within else None, maps=maps, kept=kept
    )


def closed_up(pair: Array, code: Array, k: Array) -> tuple[Array, Array, Array]:
    """Codes renumbered so that each pair has only clusters with points; their numbers; which codes were kept."""
    offset = np.concatenate([[0], np.cumsum(k)])
    seen = np.zeros(offset[-1], dtype=bool)
    seen[offset[:-1][pair] + code] = True
    rank = np.concatenate([[0], np.cumsum(seen)])
    left = rank[offset[1:]] - rank[offset[:-1]]
    place = offset[:-1][pair] + code
    return rank[place] - rank[offset[:-1]][pair], left, np.flatnonzero(seen)


def named_table(tables: Tables, names: tuple[ClusterNames, ClusterNames], exponent: int = 0) -> Table:
    """The table of one pair, with the names of its clusters.

    Weights are counted divided by 2**exponent; those of the table are the given ones.
    """
    table = next(tables.each())
    if tables.kept is not None:
        names = _kept_names(names[0], tables.kept[0]), _kept_names(names[1], tables.kept[1])
    table = changed(table, rows=names[0], columns=names[1])
    if exponent:
        with np.errstate(over="ignore", under="ignore"):
            own = float(np.ldexp(table.own, 2 * exponent))
            within = None if table.within is None else np.ldexp(table.within, 2 * exponent)
            table = changed(table, count=np.ldexp(table.count, exponent), own=own, within=within)
    return table


def _kept_names(names: ClusterNames, keep: Array) -> ClusterNames:
    """Names of the remaining clusters; those beyond the names are unassigned points."""
    if not len(keep) or keep[-1] < len(names):
        return names[keep] if isinstance(names, np.ndarray) else tuple(names[i] for i in keep)
    known = plain_names(names)
    extra = [i - len(known) for i in keep.tolist() if i >= len(known)]
    added = names_of_unassigned(known, "cluster" if extra == [0] else "singletons", extra[-1] + 1)
    return (*(known[i] for i in keep.tolist() if i < len(known)), *(added[i] for i in extra))
