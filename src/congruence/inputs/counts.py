"""Counts that were made elsewhere (a crosstab) as the cells of a contingency table."""

from __future__ import annotations

import numpy as np

from congruence.errors import InputError, names_in
from congruence.inputs.frames import matrix_of
from congruence.statistics.tables import Array, ClusterNames, Table
from congruence.typing import Label, MatrixLike

#: most points whose number fits in the sums of counts
MOST = 2**62


#: row, column and count of each cell, names of the rows and columns, number of points, kind of frame
Cells = tuple[Array, Array, Array, tuple[Label, ...], tuple[Label, ...], float, str | None]


def cells_of(counts: MatrixLike, rows: ClusterNames | None, columns: ClusterNames | None) -> Cells:
    """The arguments of `table_of_cells` for counts, clusters of a × clusters of b; clusters without points are left out.

    Names are by default those of a frame, else 0, 1, ….

    >>> cells_of([[2, 0, 0], [1, 0, 4]], None, ["x", "y", "z"])[4]
    ('x', 'z')
    """
    matrix, index, kind, titles = matrix_of(counts)
    if len(matrix.shape) != 2:
        raise InputError(f"counts must be a table, clusters of a × clusters of b; got {len(matrix.shape)} dimension(s)")
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocsr().tocoo()
        row, col, found = entries.row, entries.col, entries.data
    else:
        row, col = (x.ravel() for x in np.indices(matrix.shape))
        found = np.asarray(matrix).ravel()
    if found.dtype == object:
        try:
            found = found.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError("counts must be numbers; pass names of clusters as rows= and columns=") from None
    if found.dtype.kind not in "iufb":
        raise InputError(f"counts must be numbers, not {found.dtype}; pass names of clusters as rows= and columns=")
    bad = np.flatnonzero(~((found >= 0) & (found == np.floor(found)) & (found < MOST)))
    if len(bad):
        at = f"row {row[bad[0]]}, column {col[bad[0]]} is {found[bad[0]]:g}"
        raise InputError(
            f"counts must be whole numbers of at least 0, but {at}; compare weighted points by their labels"
        )
    count = found.astype(np.int64)
    if not count.any() or float(count.sum(dtype=np.float64)) >= MOST:
        raise InputError(
            f"counts must add up to between 1 and {MOST:.0e} points; they are {count.sum(dtype=np.float64):g}"
        )
    solid = count > 0
    sides = []
    for place, many, names, own in (
        (row[solid], matrix.shape[0], rows, index), (col[solid], matrix.shape[1], columns, titles)
    ):  # fmt: skip
        listed = names_in(names, "rows and columns") if names is not None else list(range(many) if own is None else own)
        if len(listed) != many or len(set(listed)) != many:
            raise InputError(f"{many} different names are needed for {many} clusters; got {len(set(listed))}")
        kept, codes = np.unique(place, return_inverse=True)
        sides.append((codes, tuple(listed[i] for i in kept.tolist())))
    (row, rows_kept), (col, columns_kept) = sides
    order = np.lexsort((col, row))
    whole = count[solid][order]
    return row[order], col[order], whole, rows_kept, columns_kept, int(whole.sum()), kind


def points_of(table: Table) -> tuple[list[Label], list[Label], Array]:
    """A point for each cell of a table of counts: its cluster of a, that of b, and how often it occurs.

    >>> from congruence import Table
    >>> points_of(Table([[2, 0], [1, 4]], rows=["x", "y"]))
    (['x', 'y', 'y'], [0, 0, 1], array([2, 1, 4]))
    """
    if table.count.dtype.kind not in "iu" or table.maps is not None:
        raise InputError("this table is of memberships, weights or covers; compare the clusterings themselves")
    a, b = (
        [names[i] for i in codes.tolist()] for names, codes in ((table.rows, table.row), (table.columns, table.col))
    )
    return a, b, table.count
