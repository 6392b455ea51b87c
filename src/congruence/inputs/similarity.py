"""Similarity matrices: points × points."""

from __future__ import annotations

from typing import Literal

import numpy as np

from congruence.errors import Caution, InputError, real_number
from congruence.inputs.frames import matrix_of
from congruence.inputs.kinds import PointPairs
from congruence.inputs.labels import from_dlpack, is_frame, is_sparse
from congruence.statistics.tables import Array
from congruence.typing import Client, MatrixLike

#: largest absolute entry: products of sums of squares of larger ones overflow
LARGEST = 1e60


class Similarity(PointPairs):
    """Similarities of points with points (a square array): a consensus matrix, a kernel, a graph.

    Takes numpy arrays and memory maps, scipy.sparse, frames, and anything with a shape that can be sliced in two
    dimensions. It is checked for NaN and symmetry at once, or block by block while it is read if it is large.

    Args:
        matrix: A square matrix, points × points: an array, a sparse matrix, a memory map, a Dask array or a frame.
        tolerance: Largest difference between two entries that should be equal. Default 1e-8.
        who: Name used in messages.

    Raises:
        InputError: If it is not square and symmetric.

    >>> import congruence as cg
    >>> m = cg.Similarity([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]])
    >>> len(m), round(cg.certainty(m), 4)
    (3, 0.4)
    """

    what = "a similarity matrix"
    notes: tuple[Caution, ...] = ()
    cautions: tuple[Caution, ...] = ()
    #: above this number of entries, a matrix is checked block by block while it is used
    CHECKED_AT_ONCE = 25_000_000

    def __init__(self, matrix: MatrixLike, *, tolerance: float = 1e-8, who: str = "matrix") -> None:
        self.index = None
        self.who, self.tolerance = who, real_number(tolerance, "tolerance", 0)
        self.low, self.high = np.inf, -np.inf
        #: for a Dask array: the client that sums its blocks
        self.client: Client = None
        if is_frame(matrix) or isinstance(matrix, list | tuple):
            matrix, self.index, *_ = matrix_of(matrix)
        self.is_sparse = is_sparse(matrix)
        self.matrix: MatrixLike = matrix.tocsr() if self.is_sparse else matrix
        shape = getattr(self.matrix, "shape", None)
        if shape is None or len(shape) != 2 or shape[0] != shape[1] or 0 in shape:
            raise InputError(f"{who}: a similarity matrix must be square, points × points; got shape {shape}")
        self.checked = False
        if self.is_sparse:
            self._check_sparse()
        elif is_dask_array(self.matrix):
            pass  # checked on the workers that hold its blocks
        elif len(self) ** 2 <= self.CHECKED_AT_ONCE and not isinstance(self.matrix, np.memmap):
            self.matrix = np.asarray(self._read(slice(None), slice(None)))
            self.checked_block(slice(None), slice(None))
            self.checked = True

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self)

    @property
    def form(self) -> Literal["entries", "sparse", "blocks"]:
        """How its entries are stored: dense, sparse, or in the blocks of a Dask array."""
        return "sparse" if self.is_sparse else "blocks" if is_dask_array(self.matrix) else "entries"

    @property
    def described(self) -> str:
        """What it is, in a headline."""
        return "similarity matrix"

    def __repr__(self) -> str:
        n = f"{len(self):,}"
        return f"Similarity: {n} × {n}{', sparse' if self.is_sparse else ''}"

    @property
    def span(self) -> tuple[float, float]:  # type: ignore[override]
        """Lowest and highest entry read so far."""
        return self.low, self.high

    @property
    def is_tiny(self) -> bool:  # type: ignore[override]
        """Whether all entries read so far are so close to 0 that products of their squares underflow, and not all are 0."""
        return 0 < max(abs(self.low), abs(self.high)) < 1 / LARGEST

    @property
    def is_unit(self) -> bool:  # type: ignore[override]
        """Whether all entries read so far are between 0 and 1."""
        return bool(self.low >= -1e-9 and self.high <= 1 + 1e-6)

    def _read(self, rows: slice, cols: slice) -> Array:
        block = self.matrix[rows, cols]
        if hasattr(block, "toarray"):
            block = block.toarray()
        elif not isinstance(block, np.ndarray) and hasattr(block, "__dlpack__"):
            block = from_dlpack(block)
        block = np.asarray(block)
        self._check_numbers(block)
        return block.astype(np.float64, copy=False)

    def _check_numbers(self, entries: Array) -> None:
        if entries.dtype.kind not in "fiub":
            raise InputError(f"{self.who}: similarities must be numbers, not {entries.dtype}")

    def checked_block(self, rows: slice, cols: slice) -> Array:
        """The entries of these rows and columns, as floats; checked for symmetry if not done before.

        Args:
            rows: Rows, as a slice.
            cols: Columns, as a slice.

        Raises:
            InputError: If the block has missing values or is not symmetric.
        """
        block = self._read(rows, cols)
        if self.checked:
            return block
        start = rows.indices(len(self))[0], cols.indices(len(self))[0]
        check_entries(self.who, block, self._read(cols, rows).T, start, self.tolerance)
        self.low, self.high = min(self.low, float(block.min())), max(self.high, float(block.max()))
        return block

    def _check_sparse(self) -> None:
        self._check_numbers(self.matrix.data)
        self.matrix = self.matrix.astype(np.float64)
        self.matrix.sum_duplicates()
        gap = abs(self.matrix - self.matrix.T).tocoo()
        entries = self.matrix.tocoo()
        for found, bad in ((entries, ~(np.abs(entries.data) <= LARGEST)), (gap, gap.data > self.tolerance)):
            if bad.any():
                i, j = (int(x[np.argmax(bad)]) for x in found.coords)
                here, there = (np.array([[self.matrix[x, y]]]) for x, y in ((i, j), (j, i)))
                check_entries(self.who, here, there, (i, j), self.tolerance)
        self.low = min(0.0, float(self.matrix.data.min(initial=0.0)))
        self.high = max(0.0, float(self.matrix.data.max(initial=0.0)))
        self.checked = True


def is_dask_array(x: object) -> bool:
    """Whether it is a Dask array."""
    return type(x).__module__.startswith("dask.") and hasattr(x, "chunks")


def check_entries(who: str, block: Array, mirror: Array, start: tuple[int, int], tolerance: float) -> None:
    """Raise if a block of a matrix has entries that are no numbers, or differs from its mirror; `start` is its first entry."""
    for part in (block, mirror):
        bad = ~(np.abs(part) <= LARGEST)
        if bad.any():
            i, j = np.argwhere(bad)[0]
            x, place = part[i, j], (start[0] + i, start[1] + j)
            row, column = place if part is block else place[::-1]
            large = f"{x:.3g}, too large: divide the matrix by its largest entry"
            what = "missing (NaN)" if np.isnan(x) else "infinite" if np.isinf(x) else large
            raise InputError(f"{who}: the entry at row {row}, column {column} is {what}")
    gap = np.abs(block - mirror)
    if (gap > tolerance).any():
        i, j = np.unravel_index(int(np.argmax(gap)), gap.shape)
        row, column = start[0] + int(i), start[1] + int(j)
        raise InputError(
            f"{who} is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {gap[i, j]:.3g}; pass "
            "(M + M.T) / 2 to make it symmetric"
        )
