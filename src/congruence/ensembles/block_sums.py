"""Additive sums over blocks of two similarity matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from congruence.errors import InputError
from congruence.formulas import find
from congruence.inputs.similarity import LARGEST
from congruence.statistics.matrices import MatrixSums
from congruence.statistics.tables import Array
from congruence.typing import MatrixLike


@dataclass(frozen=True, kw_only=True)
class PairSums:
    """Sums of a block of two similarity matrices: a few numbers that can be added over blocks.

    Only entries above the diagonal are counted, by their global indices: pass all blocks, or those on and above it.
    The number of entries below the diagonal and sums of the indices show whether a block is missing or was added twice.

    Attributes:
        pairs: Number of entries above the diagonal.
        s_p: Σ P over them.
        s_q: Σ Q.
        s_pq: Σ PQ.
        s_pp: Σ P².
        s_qq: Σ Q².
        points: Number of entries on the diagonal.
        d_pq: Σ PQ over them.
        d_pp: Σ P².
        d_qq: Σ Q².
        below: Number of entries below the diagonal.
        index_of_pairs: Sum of the indices of the pairs.
        index_of_points: Sum of the indices of the points.

    >>> import congruence as cg
    >>> import numpy as np
    >>> P, Q = np.array([[1, 0.8], [0.8, 1]]), np.array([[1, 0.5], [0.5, 1]])
    >>> sums = cg.pair_sums(P, Q, [0, 1], [0, 1])
    >>> sums.pairs, sums.s_p, sums.s_pq
    (1, 0.8, 0.4)
    """

    pairs: int = 0
    s_p: float = 0.0
    s_q: float = 0.0
    s_pq: float = 0.0
    s_pp: float = 0.0
    s_qq: float = 0.0
    points: int = 0
    d_pq: float = 0.0
    d_pp: float = 0.0
    d_qq: float = 0.0
    below: int = 0
    index_of_pairs: int = 0
    index_of_points: int = 0

    def __add__(self, other: PairSums) -> PairSums:
        if not isinstance(other, PairSums):
            return NotImplemented
        return PairSums(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})

    def __radd__(self, other: object) -> PairSums:
        return self if other == 0 else NotImplemented  # so that sum() works

    def to_dict(self) -> dict[str, float]:
        """The numbers by name; `PairSums(**d)` restores the record."""
        return asdict(self)

    def _whole(self) -> MatrixSums:
        wanted = self.points * (self.points - 1) // 2
        indices = (self.points - 1) * self.index_of_points  # each point is in points − 1 pairs
        if self.pairs != wanted or self.below > wanted or self.index_of_pairs != indices:
            raise InputError(
                f"the blocks hold {self.pairs:,} pairs above the diagonal, {self.below:,} below and {self.points:,} points; for "
                f"that many points there must be {wanted:,} pairs, each once: a block is missing or was added twice"
            )
        return MatrixSums.of(
            n=self.points, pairs=self.pairs, s_p=self.s_p, s_q=self.s_q, s_pq=self.s_pq, s_pp=self.s_pp, s_qq=self.s_qq,
            diagonal=(self.d_pq, self.d_pp, self.d_qq),
        )  # fmt: skip

    def _measured(self, key: str) -> float:
        return float(find(key).values(self._whole())[0])

    def arimm(self) -> float:
        """Adjusted Rand index of the two matrices."""
        return self._measured("arimm")

    def arimp(self) -> float:
        """The same, if the second matrix is that of a partition."""
        return self._measured("arimp")

    def kas(self) -> float:
        """Kernel alignment of the two matrices."""
        return self._measured("kas")

    def nsf(self) -> float:
        """1 − Frobenius distance / n."""
        return self._measured("nsf")

    def sms(self) -> float:
        """Correlation of the entries above the diagonal."""
        return self._measured("sms")

    def ssms(self) -> float:
        """(1 + sms) / 2."""
        return self._measured("ssms")


def pair_sums(
    block_p: MatrixLike, block_q: MatrixLike, rows: slice | Sequence[int] | Array, cols: slice | Sequence[int] | Array
) -> PairSums:
    """Sums of a block of two matrices whose rows and columns have these global indices.

    Args:
        block_p: Block of the first matrix.
        block_q: The same block of the second matrix.
        rows: Positions of its rows in the whole matrix.
        cols: Positions of its columns.

    Returns:
        A `PairSums`; the sum over all blocks gives `.arimm()`, `.kas()` and the others.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.merge`, `cg.Similarity`.

    >>> import congruence as cg, numpy as np
    >>> p, q = np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]), np.eye(3)
    >>> halves = [cg.pair_sums(p[s], q[s], range(3)[s], range(3)) for s in (slice(0, 2), slice(2, 3))]
    >>> round(sum(halves).kas(), 4), round(cg.kas(p, q), 4)
    (0.9258, 0.9258)
    """
    try:
        p, q = (np.asarray(b.toarray() if hasattr(b, "toarray") else b, dtype=np.float64) for b in (block_p, block_q))
        i, j = (
            np.arange(x.start or 0, x.stop)
            if isinstance(x, slice)
            else np.asarray(x).astype(np.int64, casting="same_kind")
            for x in (rows, cols)
        )
    except (TypeError, ValueError) as error:
        raise InputError(
            f"pair_sums takes two blocks of numbers and the global indices of rows and columns ({error})"
        ) from None
    if i.ndim != 1 or j.ndim != 1:
        raise InputError("rows and cols must be the global indices of the block, as in range(0, 1000)")
    if p.shape != (len(i), len(j)) or q.shape != p.shape:
        raise InputError(f"blocks of shape {p.shape} and {q.shape} do not fit {len(i)} rows and {len(j)} columns")
    if np.isnan(p).any() or np.isnan(q).any():
        raise InputError("a block has missing entries (NaN)")
    if max(np.abs(p).max(initial=0), np.abs(q).max(initial=0)) > LARGEST:
        raise InputError(f"a block has entries above {LARGEST:g}, whose squares overflow; divide by the largest entry")
    upper, diagonal = i[:, None] < j[None, :], i[:, None] == j[None, :]
    x, y, dx, dy = p[upper], q[upper], p[diagonal], q[diagonal]
    return PairSums(
        pairs=int(upper.sum()), s_p=float(x.sum()), s_q=float(y.sum()), s_pq=float((x * y).sum()),
        s_pp=float((x * x).sum()), s_qq=float((y * y).sum()),
        points=int(diagonal.sum()), d_pq=float((dx * dy).sum()), d_pp=float((dx * dx).sum()), d_qq=float((dy * dy).sum()),
        below=int((~upper & ~diagonal).sum()), index_of_pairs=int((i[:, None] + j[None, :])[upper].sum()),
        index_of_points=int(i[diagonal.any(axis=1)].sum()),
    )  # fmt: skip
