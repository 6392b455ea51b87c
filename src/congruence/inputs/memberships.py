"""Soft clusterings: a matrix of points × clusters."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from functools import cached_property

import numpy as np

from congruence.errors import Caution, InputError, names_in, some_of
from congruence.inputs.frames import matrix_of
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.machine import device
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import DeviceArray, Index, Label, MatrixLike, Record, SparseMatrix

# --- memberships ------------------------------------------------------------------------------------------------


class Memberships(Clustering):
    """Memberships of n points in k clusters (a 2-D array): fuzzy, probabilistic or possibilistic.

    Args:
        memberships: Memberships of points in clusters, points × clusters, from 0 to 1: an array, a sparse matrix or a
            frame.
        names: Names of the clusters. Default None: those of the columns, else their numbers.
        who: Name used in messages.

    Raises:
        InputError: If they are not numbers from 0 to 1, or a point has none.

    >>> import congruence as cg
    >>> u = cg.Memberships([[0.9, 0.1], [0.2, 0.8]])
    >>> len(u), u.k, u.is_probabilistic
    (2, 2, True)
    """

    what = "memberships"
    soft = True
    names: tuple[Label, ...] = ()
    cautions: tuple[Caution, ...] = ()
    card: DeviceArray = None

    def __init__(self, memberships: MatrixLike, names: ClusterNames | None = None, *, who: str = "memberships") -> None:
        #: the same values on the GPU, if they were given there
        self.card = device.array(memberships).astype(np.float64) if device.is_on_card(memberships) else None
        data, index, kind, columns = matrix_of(memberships)
        sparse = hasattr(data, "tocsr")
        matrix: MatrixLike = data.tocsr().astype(np.float64) if sparse else np.asarray(data)
        if not sparse:
            if matrix.dtype.kind not in "fiub":
                raise InputError(f"{who}: memberships must be numbers, not {matrix.dtype}")
            matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        if matrix.ndim != 2:
            raise InputError(f"{who}: memberships must be a 2-D array, points × clusters, not {matrix.ndim}-D")
        if 0 in matrix.shape:
            raise InputError(f"{who}: there are no points (memberships of shape {matrix.shape} were given)")
        self.index, self.title, self.kind = index, None, kind
        cells = matrix.data if sparse else matrix
        self._check(matrix, cells, sparse, who)
        used = np.asarray(matrix.sum(axis=0)).ravel() > 0
        listed = list(
            names_in(names, "names")
            if names is not None
            else columns
            if columns is not None
            else range(matrix.shape[1])
        )
        if len(listed) != matrix.shape[1]:
            raise InputError(f"{who}: {len(listed)} names for {matrix.shape[1]} clusters")
        if not used.all():
            empty = some_of((listed[i] for i in np.flatnonzero(~used)), 5)
            text = f"{{subject}}: clusters without any membership were dropped: {empty}"
            self.cautions += (Caution("empty_clusters", who, text),)
            matrix = matrix[:, np.flatnonzero(used)]
            self.card = self.card[:, np.flatnonzero(used)] if self.card is not None else None
        self.matrix = matrix
        self.names = tuple(listed[i] for i in np.flatnonzero(used))

    @staticmethod
    def _check(matrix: MatrixLike, cells: Array, sparse: bool, who: str) -> None:
        def where(bad: Array) -> str:
            first = int(np.flatnonzero(bad.ravel())[0])
            row, col = (x[first] for x in matrix.tocoo().coords) if sparse else np.unravel_index(first, matrix.shape)
            return f"row {row}, column {col} is {cells.ravel()[first]:.6g}"

        if np.isnan(cells).any():
            raise InputError(
                f"{who}: memberships must not be missing ({where(np.isnan(cells))}); drop those points first"
            )
        if (cells < 0).any():
            raise InputError(f"{who}: memberships must not be negative ({where(cells < 0)})")
        if (cells > 1 + 1e-6).any():
            raise InputError(
                f"{who}: memberships must not exceed 1 ({where(cells > 1 + 1e-6)}); divide rows by their sums"
            )
        if 0 < cells.max(initial=0) < 1e-100:
            raise InputError(f"{who}: all memberships are below {1e-100:g}; divide rows by their sums")
        total = np.asarray(matrix.sum(axis=1)).ravel()
        if (total == 0).any():
            raise InputError(
                f"{who}: row {int(np.flatnonzero(total == 0)[0])} of the memberships is all zero "
                f"({int((total == 0).sum())} such rows); drop those points, or give them a separate cluster"
            )

    @property
    def k(self) -> int:
        """Number of clusters."""
        return len(self.names)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    @cached_property
    def is_probabilistic(self) -> bool:
        """Whether the memberships of each point add up to 1."""
        return bool(np.allclose(np.asarray(self.matrix.sum(axis=1)).ravel(), 1.0, atol=1e-6))

    @cached_property
    def is_crisp(self) -> bool:
        """Whether every point belongs to one cluster only."""
        cells = self.matrix.data if hasattr(self.matrix, "tocsr") else self.matrix
        return bool(((cells == 0) | (cells == 1)).all() and (np.asarray(self.matrix.sum(axis=1)) == 1).all())

    def as_columns(self, name: str) -> Record:
        """The memberships in each cluster, as columns NAME:CLUSTER.

        Args:
            name: What these memberships are called.
        """
        return {f"{name}:{x}": share for x, share in zip(self.names, self.dense().T.tolist(), strict=True)}

    @property
    def codes(self) -> Array:
        """The cluster of the largest membership of each point."""
        return np.asarray(self.dense().argmax(axis=1))

    @cached_property
    def digest(self) -> bytes:
        """A digest that does not depend on the order of the columns."""
        from hashlib import blake2b

        columns = self.matrix.tocsc() if hasattr(self.matrix, "tocsc") else self.matrix
        hashes = [
            blake2b(np.ascontiguousarray(_dense(columns[:, [j]])).tobytes(), digest_size=16).digest()
            for j in range(self.k)
        ]
        return b"".join(sorted(hashes))

    def dense(self, points: slice = slice(None)) -> Array:
        """Rows of the memberships as a dense array.

        Args:
            points: Which points, as a slice.
        """
        return _dense(self.matrix[points])

    def sparse(self) -> SparseMatrix:
        """All memberships as a CSR array."""
        from scipy.sparse import csr_array

        return csr_array(self.matrix)

    def sums(self, weights: Array) -> tuple[Array, Array]:
        """For each point the sum of its squared memberships, and for each cluster the weighted sum of its memberships.

        Args:
            weights: Weights of the points.
        """
        squares = self.matrix.multiply(self.matrix) if hasattr(self.matrix, "tocsr") else self.matrix**2
        return np.asarray(squares.sum(axis=1)).ravel(), np.asarray(self.matrix.T @ weights).ravel()

    def together(self, rows: slice, cols: slice) -> tuple[Array, Array]:
        """The products of the memberships of each of these points with each of those; every point is labelled.

        Args:
            rows: Points, as a slice.
            cols: Other points, as a slice.
        """
        products = self.dense(rows) @ self.dense(cols).T
        return products, np.ones(products.shape, dtype=bool)

    def pairwise(self, first: Array, second: Array) -> tuple[Array, Array]:
        """The same for the first and the second point of each pair.

        Args:
            first: Positions of points.
            second: Positions of their partners.
        """
        left, right = self.matrix[first], self.matrix[second]
        products = left.multiply(right) if hasattr(left, "multiply") else left * right
        return np.asarray(products.sum(axis=1)).ravel(), np.ones(len(first), dtype=bool)

    def taken(self, points: Array, index: Index = None) -> Memberships:
        """The memberships of these points, in this order.

        Args:
            points: Positions of the points.
            index: Their index. Default None.
        """
        part = type(self)(self.matrix[points], self.names)
        part.index, part.title, part.kind = index, self.title, self.kind
        part.cautions = self.cautions + part.cautions
        return part

    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Memberships:
        """The memberships themselves: every point is in a cluster.

        Args:
            unassigned: Not used: every point has memberships.
            noise: Not used: it applies to hard clusterings that are compared with these.
            who: Name used in messages.
        """
        return self


def _dense(matrix: MatrixLike) -> Array:
    return np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
