"""Similarity matrices and ensembles, read as square tiles of points × points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from congruence.engine import plan
from congruence.engine.plan import Progress
from congruence.errors import InputError
from congruence.inputs.alignment import Mass, point_weights
from congruence.inputs.cover import check_one_kind
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering
from congruence.inputs.similarity import Similarity
from congruence.machine import jit
from congruence.statistics.matrices import MatrixSums
from congruence.statistics.tables import Array

#: points on a side of a tile: tiles of two matrices and their products stay well below 100 MB
SIDE = 1024


class MatrixTiles:
    """Tiles of a similarity matrix, checked as they are read if it was too large to check at once."""

    scale, counts, unit_diagonal = 1.0, False, False

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity

    def __len__(self) -> int:
        return len(self.similarity)

    def tile(self, rows: slice, cols: slice) -> Array:
        """Entries as floats."""
        return self.similarity.checked_block(rows, cols)


class LabelTiles:
    """Tiles of the co-association matrix of one clustering: 1 if two points are together."""

    scale, counts, unit_diagonal = 1.0, True, True

    def __init__(self, labels: Clustering) -> None:
        self.codes = labels.codes

    def __len__(self) -> int:
        return len(self.codes)

    def tile(self, rows: slice, cols: slice) -> Array:
        """0 and 1 as integers."""
        return np.asarray(self.codes[rows, None] == self.codes[None, cols], dtype=np.int64)


class EnsembleTiles:
    """Tiles of the consensus matrix of an ensemble; integer counts if all members have equal weights."""

    unit_diagonal = True

    def __init__(self, ensemble: Ensemble, missing: str = "ratio") -> None:
        check_one_kind(ensemble.members)
        self.ensemble, self.missing, hard = ensemble, missing, ensemble.members
        self.plain = ensemble.is_plain and not ensemble.has_gaps
        self.equal = ensemble.member_weight is None
        self.share = ensemble.shares
        self.scale = float(len(ensemble)) if self.counts else 1.0
        if self.plain:
            # one point per row, padded with equal labels to full vector registers
            width = -(-len(hard) // 64) * 64
            self.padding = width - len(hard)
            self.points = np.zeros((len(hard[0]), width), np.result_type(*[c.codes.dtype for c in hard]))
            for j, member in enumerate(hard):
                self.points[:, j] = member.codes

    @property
    def counts(self) -> bool:
        """Whether tiles are integer counts of agreeing members."""
        return self.equal and not self.ensemble.is_soft and (not self.ensemble.has_gaps or self.missing == "plain")

    def __len__(self) -> int:
        return self.ensemble.n_points

    def tile(self, rows: slice, cols: slice) -> Array:
        """The number (or share) of members that put each pair of points together."""
        if self.plain and self.equal:
            return agreement(self.points[rows], self.points[cols], self.padding)
        n_rows, n_cols = (len(range(*s.indices(len(self)))) for s in (rows, cols))
        together, seen = np.zeros((n_rows, n_cols)), np.zeros((n_rows, n_cols))
        for member, share in zip(self.ensemble.members, self.share.tolist(), strict=True):
            weight = 1.0 if self.counts else share
            same, both = member.together(rows, cols)
            together += weight * same
            seen += weight * both
        if self.ensemble.has_gaps and self.missing == "ratio":
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.where(seen > 0, together / seen, np.nan)
        return together


#: a matrix that can be read in rectangles: the entries are tile / scale, NaN if undefined; `unit_diagonal` says whether each
#: point is together with itself, as in ensembles and partitions
Tiles: TypeAlias = MatrixTiles | LabelTiles | EnsembleTiles


def agreement(a: Array, b: Array, padding: int) -> Array:
    """For each row of a and row of b, the number of columns with the same label, without padding."""
    if jit.use_kernels(float(len(a)) * len(b) * a.shape[1] / 8):
        from congruence.engine.kernels import count_agreement

        out = np.empty((len(a), len(b)), np.int64)
        count_agreement(a, b, padding, out)
        return out
    a, b = (x[:, : x.shape[1] - padding] for x in (a, b))
    step = max(1, (1 << 24) // (len(b) * a.shape[1]))
    return np.concatenate([(a[i : i + step, None] == b[None]).sum(axis=2) for i in range(0, len(a), step)])


def slices(n: int, side: int | None = None) -> list[slice]:
    """0 … n in chunks."""
    side = side or SIDE
    return [slice(start, min(start + side, n)) for start in range(0, n, side)]


# --- sums tile by tile ------------------------------------------------------------------------------------------


def tile_sums(p: Tiles, q: Tiles, mass: Mass | None = None, progress: Progress | None = None) -> MatrixSums:
    """All sums over pairs of different points, and over the diagonal, in one pass and constant memory.

    Pairs that are undefined (NaN) in either matrix are left out, and the number of pairs does not include them.
    """
    n = len(p)
    copies = None
    if mass is not None and mass.is_frequency:
        if not (p.unit_diagonal and q.unit_diagonal):
            raise InputError("frequency is not defined for similarity matrices: repeat their rows and columns instead")
        copies = mass.values * (mass.values - 1) / 2
    weights, own_weights = point_weights(mass, n)
    pieces = slices(n)
    total: list[float] = [0.0] * 6
    exact: list[int] = [0] * 6
    for x, rows in enumerate(pieces):
        for cols in pieces[x:]:
            a, b = p.tile(rows, cols), q.tile(rows, cols)
            upper = np.ones(a.shape, dtype=bool) if rows != cols else np.triu(np.ones(a.shape, dtype=bool), 1)
            if a.dtype.kind == "i" and b.dtype.kind == "i" and weights is None:
                a, b = np.where(upper, a, 0), np.where(upper, b, 0)
                sums = [upper.sum(), a.sum(), b.sum(), (a * b).sum(), (a * a).sum(), (b * b).sum()]
                exact = [have + int(more) for have, more in zip(exact, sums, strict=True)]
            else:
                keep = (upper & ~np.isnan(a) & ~np.isnan(b)).astype(np.float64)
                if weights is not None:
                    keep *= weights[rows, None] * weights[None, cols]
                if copies is not None and rows == cols:  # copies of a point are pairs too
                    np.fill_diagonal(keep, np.where(np.isnan(np.diag(a)) | np.isnan(np.diag(b)), 0.0, copies[rows]))
                a, b = np.where(keep > 0, a, 0.0), np.where(keep > 0, b, 0.0)
                sums = [keep.sum(), *((keep * z).sum() for z in (a, b, a * b, a * a, b * b))]
                total = [have + float(more) for have, more in zip(total, sums, strict=True)]
            if progress is not None:
                progress.add(a.size)
    pairs, s_p, s_q, s_pq, s_pp, s_qq = (whole + part for whole, part in zip(exact, total, strict=True))
    scale_p, scale_q = p.scale, q.scale
    d_p, d_q = diagonal_of(p), diagonal_of(q)
    d_pq, d_pp, d_qq = (float((own_weights * x * y).sum()) for x, y in ((d_p, d_q), (d_p, d_p), (d_q, d_q)))
    return MatrixSums.of(
        n=float(n if weights is None else weights.sum()), pairs=float(pairs),
        s_p=s_p / scale_p, s_q=s_q / scale_q, s_pq=s_pq / (scale_p * scale_q), s_pp=s_pp / scale_p**2, s_qq=s_qq / scale_q**2,
        diagonal=(d_pq, d_pp, d_qq),
    )  # fmt: skip


def diagonal_of(tiles: Tiles) -> Array:
    """The diagonal of the matrix."""
    if tiles.unit_diagonal:
        return np.ones(len(tiles))
    return np.concatenate([np.diag(tiles.tile(piece, piece)) for piece in slices(len(tiles))])


def tiles_of(x: Similarity | Ensemble, missing: str = "ratio") -> Tiles:
    """Tiles of a matrix, or of the consensus matrix of an ensemble."""
    if isinstance(x, Similarity):
        return MatrixTiles(x)
    if len(x) == 1 and x.is_plain and not x.has_gaps:
        return LabelTiles(x.members[0])
    return EnsembleTiles(x, missing)


def blocks(tiles: Tiles, rows: int, dtype: DTypeLike) -> Iterator[tuple[slice, Array]]:
    """The matrix in blocks of whole rows; counts of members if the type is one of integers."""
    n, counts = len(tiles), np.dtype(dtype).kind in "iu"
    for piece in slices(n, rows):
        out = np.empty((piece.stop - piece.start, n), dtype=dtype)
        for cols in slices(n):
            tile = tiles.tile(piece, cols)
            out[:, cols] = tile if counts else tile / tiles.scale
        if tiles.unit_diagonal:
            out[np.arange(piece.stop - piece.start), np.arange(piece.start, piece.stop)] = tiles.scale if counts else 1
        yield piece, out


def dense(tiles: Tiles, dtype: DTypeLike, threads: int) -> Array:
    """The whole matrix; only tiles above the diagonal are computed."""
    n = len(tiles)
    out = np.empty((n, n), dtype=dtype)
    pieces = slices(n, 256)

    def fill(rows: slice, cols: slice) -> None:
        tile = tiles.tile(rows, cols) / tiles.scale
        out[rows, cols] = tile
        out[cols, rows] = tile.T

    if isinstance(tiles, EnsembleTiles) and tiles.plain and tiles.equal and jit.use_kernels(float(n) * n):
        from congruence.engine.kernels import fill_consensus

        def fill(rows: slice, cols: slice) -> None:
            bounds = rows.start, rows.stop, cols.start, cols.stop
            fill_consensus(tiles.points, *bounds, tiles.padding, 1 / tiles.scale, out)

    jobs: Sequence[Callable[[], None]] = [
        partial(fill, rows, cols) for x, rows in enumerate(pieces) for cols in pieces[x:]
    ]
    plan.in_threads(threads, jobs)
    np.fill_diagonal(out, 1)
    return out
