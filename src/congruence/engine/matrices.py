"""Sums over pairs of points of similarity matrices and ensembles: from tables, or tile by tile; never n × n at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np

from congruence.clustering import Labels, Mass, Memberships, Similarity
from congruence.engine import cpu
from congruence.engine.choice import engine_for
from congruence.engine.plan import Progress, Run
from congruence.ensemble import Ensemble
from congruence.statistics import Array, Gram, InputError, MatrixSums, NotApplicable, Pairs

#: points on a side of a tile: tiles of two matrices and their products stay well inside 100 MB
SIDE = 1024
#: measured cost of counting one point of one pair of members, and of comparing one member on one pair of points (ns)
TABLE_COST, TILE_COST = 0.7, 0.12
#: work (point pairs × members) up to which a pass over all pairs of points starts without asking
PAIR_LIMIT = 2e13


class Tiles(Protocol):
    """Anything that can show a rectangle of its matrix; the true entries are tile / scale, NaN where undefined."""

    scale: float

    def __len__(self) -> int: ...

    def tile(self, rows: slice, cols: slice) -> Array:
        """The entries of these rows and columns."""


class MatrixTiles:
    """Tiles of a similarity matrix, checked as they are read if it was too large to check at once."""

    scale = 1.0

    def __init__(self, similarity: Similarity) -> None:
        self.similarity = similarity

    def __len__(self) -> int:
        return len(self.similarity)

    def tile(self, rows: slice, cols: slice) -> Array:
        """Entries as floats."""
        return self.similarity.checked_block(rows, cols)


class LabelTiles:
    """Tiles of the co-association matrix of one clustering: 1 where two points are together."""

    scale = 1.0

    def __init__(self, labels: Labels) -> None:
        self.codes = labels.codes

    def __len__(self) -> int:
        return len(self.codes)

    def tile(self, rows: slice, cols: slice) -> Array:
        """0 and 1 as integers."""
        return np.asarray(self.codes[rows, None] == self.codes[None, cols], dtype=np.int64)


class EnsembleTiles:
    """Tiles of the consensus matrix of an ensemble; integer counts of agreement where all members count the same."""

    def __init__(self, ensemble: Ensemble, missing: str = "ratio") -> None:
        self.ensemble, self.missing = ensemble, missing
        hard = [c for c in ensemble.members if isinstance(c, Labels)]
        self.plain = len(hard) == len(ensemble) and not ensemble.has_gaps
        self.equal = ensemble.member_weight is None
        self.share = ensemble.shares
        self.scale = float(len(ensemble)) if self.counts else 1.0
        if self.plain:
            # a point a row, padded with equal labels to whole vector registers
            width = -(-len(hard) // 64) * 64
            self.padding = width - len(hard)
            self.points = np.zeros((len(hard[0]), width), np.result_type(*[c.codes.dtype for c in hard]))
            for j, member in enumerate(hard):
                self.points[:, j] = member.codes

    @property
    def counts(self) -> bool:
        """Are tiles whole numbers of agreeing members?"""
        return self.equal and not self.ensemble.is_soft and (not self.ensemble.has_gaps or self.missing == "plain")

    def __len__(self) -> int:
        return self.ensemble.n_points

    def tile(self, rows: slice, cols: slice) -> Array:
        """How many members (or what share of them) put each pair of points together."""
        if self.plain and self.equal:
            return agreement(self.points[rows], self.points[cols], self.padding)
        n_rows, n_cols = (len(range(*s.indices(len(self)))) for s in (rows, cols))
        together, seen = np.zeros((n_rows, n_cols)), np.zeros((n_rows, n_cols))
        for member, share in zip(self.ensemble.members, self.share.tolist(), strict=True):
            weight = 1.0 if self.counts else share
            if isinstance(member, Memberships):
                together += weight * (member.dense(rows) @ member.dense(cols).T)
                seen += weight
                continue
            a, b = member.codes[rows, None], member.codes[None, cols]
            observed = (a < member.k) & (b < member.k)
            together += weight * ((a == b) & observed)
            seen += weight * observed
        if self.ensemble.has_gaps and self.missing == "ratio":
            with np.errstate(invalid="ignore", divide="ignore"):
                return np.where(seen > 0, together / seen, np.nan)
        return together


def agreement(a: Array, b: Array, padding: int) -> Array:
    """For each row of a and row of b, in how many columns they have the same label, padding aside."""
    if cpu._use_kernels(float(len(a)) * len(b) * a.shape[1] / 8):
        from congruence.engine.kernels import count_agreement

        out = np.empty((len(a), len(b)), np.int64)
        count_agreement(a, b, padding, out)
        return out
    a, b = (x[:, : x.shape[1] - padding] for x in (a, b))
    step = max(1, (1 << 24) // (len(b) * a.shape[1]))
    return np.concatenate([(a[i : i + step, None] == b[None]).sum(axis=2) for i in range(0, len(a), step)])


def slices(n: int, side: int | None = None) -> list[slice]:
    """0 … n in pieces."""
    side = side or SIDE
    return [slice(start, min(start + side, n)) for start in range(0, n, side)]


# --- sums tile by tile ------------------------------------------------------------------------------------------


def tile_sums(p: Tiles, q: Tiles, mass: Mass | None = None, progress: Progress | None = None) -> MatrixSums:
    """All sums over pairs of different points, and over the diagonal, in one pass and constant memory.

    Pairs that are undefined (NaN) in either matrix are left out, also of the number of pairs.
    """
    n = len(p)
    copies = None
    if mass is not None and mass.is_frequency:
        if isinstance(p, MatrixTiles) or isinstance(q, MatrixTiles):
            raise InputError("frequency is not defined for similarity matrices: repeat their rows and columns instead")
        copies = mass.values * (mass.values - 1) / 2
    weights, own_weights = _point_weights(mass, n)
    pieces = slices(n)
    total: list[Any] = [0.0] * 6
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
    diagonal = _diagonal_sums(p, q, own_weights)
    return MatrixSums.of(
        n=float(n if weights is None else weights.sum()), pairs=float(pairs),
        s_p=s_p / scale_p, s_q=s_q / scale_q, s_pq=s_pq / (scale_p * scale_q), s_pp=s_pp / scale_p**2, s_qq=s_qq / scale_q**2,
        diagonal=diagonal,
    )  # fmt: skip


def _point_weights(mass: Mass | None, n: int) -> tuple[Array | None, Array]:
    """Weight of each point (None where all are 1), and what it makes with itself."""
    if mass is None:
        return None, np.ones(n)
    if mass.is_frequency:
        return mass.values.astype(np.float64), mass.values.astype(np.float64)
    weights = mass.values * (n / mass.values.sum())
    return weights, weights**2


def _diagonal_sums(p: Tiles, q: Tiles, own_weights: Array) -> tuple[float, float, float]:
    """Σ P_ii Q_ii, Σ P_ii², Σ Q_ii²; the diagonal of an ensemble or a partition is 1."""
    a, b = _diagonal(p), _diagonal(q)
    return float((own_weights * a * b).sum()), float((own_weights * a * a).sum()), float((own_weights * b * b).sum())


def _diagonal(tiles: Tiles) -> Array:
    if not isinstance(tiles, MatrixTiles):
        return np.ones(len(tiles))
    return np.concatenate([np.diag(tiles.tile(piece, piece)) for piece in slices(len(tiles))])


# --- sparse matrices --------------------------------------------------------------------------------------------


def sparse_sums(p: Similarity, q: Similarity | Ensemble) -> MatrixSums:
    """Sums of a sparse matrix with a sparse matrix, an ensemble or a partition: only its non-zero entries are walked."""
    n = len(p)
    entries = p.matrix.tocoo()
    row, col, value = entries.row, entries.col, entries.data
    if isinstance(q, Similarity):
        other = np.asarray(q.matrix[row, col]).ravel()
        theirs = q.matrix.tocoo()
        s_q, s_qq = (_off_diagonal(theirs.row, theirs.col, theirs.data**power) for power in (1, 2))
        diagonal = q.matrix.diagonal()
    else:
        other = np.zeros(len(value))
        for member, share in zip(q.members, q.shares.tolist(), strict=True):
            if isinstance(member, Memberships):
                left, right = (member.matrix[x] for x in (row, col))
                same = np.asarray(
                    (left.multiply(right) if hasattr(left, "multiply") else left * right).sum(axis=1)
                ).ravel()
            else:
                same = member.codes[row] == member.codes[col]
            other += share * same
        within = table_sums(q, q, within=False, missing="plain")
        s_q, s_qq = float(within.s_q[0]), float(within.s_pq[0])
        diagonal = np.ones(n)
    own = p.matrix.diagonal()
    return MatrixSums.of(
        n=n, pairs=n * (n - 1) / 2, s_p=_off_diagonal(row, col, value), s_q=s_q, s_pq=_off_diagonal(row, col, value * other),
        s_pp=_off_diagonal(row, col, value**2), s_qq=s_qq,
        diagonal=(float((own * diagonal).sum()), float((own**2).sum()), float((diagonal**2).sum())),
    )  # fmt: skip


def _off_diagonal(row: Array, col: Array, value: Array) -> float:
    """Σ over i < j of a symmetric matrix given by its entries."""
    return float(value[row < col].sum())


# --- sums from tables -------------------------------------------------------------------------------------------


def ensemble_pairs(
    p: Ensemble, q: Ensemble, threads: int | None = None, progress: Progress | None = None, engine: str = "cpu"
) -> tuple[Array, Array, Array, Array]:
    """For every member of p and member of q: pairs of points together in both, in the one, in the other, and all pairs."""
    members = [*p.members, *q.members]
    first = len(p)
    runs = [Run(i, first, len(members)) for i in range(first)]
    shape = (first, len(q))
    both, own_p, own_q, pairs = (np.zeros(shape) for _ in range(4))
    counter = engine_for(engine, members)
    for tile in counter.statistics(members, runs, {Gram}, mass=p.mass, threads=threads, progress=progress):
        gram = tile.statistics[Gram]
        assert isinstance(gram, Pairs)
        at = tile.i, tile.j - first
        both[at], own_p[at], own_q[at], pairs[at] = gram.same_both, gram.same_a, gram.same_b, gram.pairs
    return both, own_p, own_q, pairs


def _weighted(values: Array, a: Array, b: Array, equal: bool) -> float:
    """Σ a_l b_m values; with equal weights the exact sum divided once, so that equal ensembles give equal floats."""
    if equal:
        return math.fsum(values.ravel().tolist()) / values.size
    return math.fsum((a[:, None] * b[None, :] * values).ravel().tolist())


def table_sums(
    p: Ensemble,
    q: Ensemble,
    *,
    within: bool,
    missing: str,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: str = "cpu",
) -> MatrixSums:
    """The same sums for two ensembles from the tables of their members: no n × n, exact integers until one division.

    `within` asks for the sums of each matrix with itself too (kas, nsf, sms). Members with gaps count as `missing` says:
    "plain" (a gap is a disagreement) or "pooled" (over pairs of members, the points that both have).
    """
    equal = p.member_weight is None and q.member_weight is None
    a, b = p.shares, q.shares
    both, own_p, own_q, pairs = ensemble_pairs(p, q, threads, progress, engine)
    total, own, all_pairs = _totals(p)
    if missing == "pooled" and (p.has_gaps or q.has_gaps):
        s_p, s_q, all_pairs = (_weighted(x, a, b, equal) for x in (own_p, own_q, pairs))
    elif p.has_gaps or q.has_gaps:  # plain: a member's own pairs, whatever the other member lacks
        s_p, s_q = (_weighted(_own_pairs(e), e.shares, np.ones(1), e.member_weight is None) for e in (p, q))
    else:
        s_p = _weighted(own_p[:, :1], a, np.ones(1), p.member_weight is None)
        s_q = _weighted(own_q[:1, :].T, b, np.ones(1), q.member_weight is None)
    s_pq = _weighted(both, a, b, equal)
    s_pp = s_qq = math.nan
    if within:
        s_pp, s_qq = (
            _weighted(ensemble_pairs(e, e, threads, progress, engine)[0], e.shares, e.shares, e.member_weight is None)
            for e in (p, q)
        )
    return MatrixSums.of(
        n=total, pairs=all_pairs, s_p=s_p, s_q=s_q, s_pq=s_pq, s_pp=s_pp, s_qq=s_qq, diagonal=(own, own, own)
    )


def _own_pairs(e: Ensemble) -> Array:
    """Pairs of points together in each member, over the points it has."""
    values = np.zeros((len(e), 1))
    for i, member in enumerate(e.members):
        for tile in cpu.statistics([member, member], [Run(0, 1, 2)], {Gram}, mass=e.mass):
            gram = tile.statistics[Gram]
            assert isinstance(gram, Pairs)
            values[i, 0] = gram.same_a[0]
    return values


def _totals(e: Ensemble) -> tuple[float, float, float]:
    """Mass of all points, what they make with themselves, and pairs of different points."""
    if e.is_lazy:
        from congruence.engine.partials import totals

        return totals(e.members[0], e.mass)
    weights, own_weights = _point_weights(e.mass, e.n_points)
    total = float(e.n_points if weights is None else weights.sum())
    own = float(own_weights.sum())
    return total, own, (total * total - own) / 2


# --- partial members: agreement over the times a pair was seen ---------------------------------------------------


def pattern_sums(p: Ensemble, q: Ensemble, limit: int = 256) -> MatrixSums | None:
    """Sums of Monti's ratio matrices, exact, by patterns of observation; None where there are too many patterns.

    Points seen by the same members share their denominators, so a pair of patterns needs one inner product of tables.
    """
    if p.is_soft or q.is_soft:
        return None
    seen = np.stack([c.codes < c.k for e in (p, q) for c in e.members if isinstance(c, Labels)], axis=1)
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    if len(patterns) > limit or p.mass is not None:
        return None
    first = len(p)
    columns_p, columns_q = _one_hot(p), _one_hot(q)
    groups = [np.flatnonzero(which == r) for r in range(len(patterns))]
    size = np.array([len(g) for g in groups], dtype=np.float64)
    d_p, d_q = (
        (side * _counts(e)) @ side.T for side, e in ((patterns[:, :first].astype(float), p), (patterns[:, first:], q))
    )
    defined = (d_p > 0) & (d_q > 0)
    d_p, d_q = np.where(defined, d_p, 1.0), np.where(defined, d_q, 1.0)
    own = size[np.diag(defined)].sum()

    def summed(products: Any, divisor: Any) -> float:
        """Σ over pairs of different points, from sums over ordered pairs of patterns; a point makes 1 with itself."""
        return float((np.where(defined, products / divisor, 0.0).sum() - own) / 2)

    joint = _inner([columns_p[g].T @ columns_q[g] for g in groups])
    square_p, square_q = (_inner([c[g].T @ c[g] for g in groups]) for c in (columns_p, columns_q))
    sum_p, sum_q = (_inner([c[g].sum(axis=0)[None] for g in groups]) for c in (columns_p, columns_q))
    n = float(p.n_points)
    return MatrixSums.of(
        n=n, pairs=summed(np.outer(size, size), 1.0), s_p=summed(sum_p, d_p), s_q=summed(sum_q, d_q),
        s_pq=summed(joint, d_p * d_q), s_pp=summed(square_p, d_p**2), s_qq=summed(square_q, d_q**2), diagonal=(n, n, n),
    )  # fmt: skip


def _counts(e: Ensemble) -> Array:
    """What each member counts: 1 where all count the same, so that sums of them are whole numbers."""
    return np.ones(len(e)) if e.member_weight is None else e.member_weight


def _one_hot(e: Ensemble) -> Any:
    """Points × all clusters, 1 where a point is in a cluster; scaled so that HHᵀ is the sum over members of weight × same."""
    from scipy.sparse import csr_array, hstack

    blocks = []
    for member, share in zip(e.members, _counts(e).tolist(), strict=True):
        assert isinstance(member, Labels)
        rows = np.flatnonzero(member.codes < member.k)
        data = np.full(len(rows), math.sqrt(share))
        blocks.append(csr_array((data, (rows, member.codes[rows])), shape=(len(member), member.k)))
    return hstack(blocks, format="csr")


def _inner(tables: Sequence[Any]) -> Array:
    """Inner products of every table with every other, all at once."""
    from scipy.sparse import csr_array, vstack

    flat = vstack([csr_array(t).reshape((1, -1)) for t in tables], format="csr")
    return np.asarray((flat @ flat.T).toarray())


# --- which way --------------------------------------------------------------------------------------------------


def sums_of(
    a: Any, b: Any, *, within: bool = True, missing: str = "ratio", threads: int | None = None, progress: Any = None,
    engine: str = "auto",
) -> MatrixSums:  # fmt: skip
    """The sums of two matrices, ensembles or partitions, by whichever route is cheaper; they agree to rounding."""
    if missing not in ("ratio", "plain", "pooled"):
        raise InputError(f"missing must be 'ratio', 'plain' or 'pooled', not {missing!r}")
    matrix = isinstance(a, Similarity) or isinstance(b, Similarity)
    p, q = (e if isinstance(e, Similarity | Ensemble) else Ensemble([e]) for e in (a, b))
    if any(isinstance(e, Ensemble) and e.is_lazy for e in (p, q)):
        return _scanned_sums(p, q, within=within, missing=missing, threads=threads, progress=progress)
    if len_of(p) != len_of(q):
        raise InputError(f"a and b have {len_of(p)} and {len_of(q)} points; both must be of the same points")
    if matrix:
        from congruence.engine.blocks import by_blocks, dask_sums

        if by_blocks(p, q):
            return dask_sums(p, q)
    mass = next((e.mass for e in (p, q) if isinstance(e, Ensemble) and e.mass is not None), None)
    gaps = any(isinstance(e, Ensemble) and e.has_gaps for e in (p, q))
    members = sum(len(e) for e in (p, q) if isinstance(e, Ensemble))
    n = len_of(p)
    if matrix and mass is None and not gaps:
        sparse = [isinstance(e, Similarity) and e.is_sparse for e in (p, q)]
        if sparse[0] and (sparse[1] or isinstance(q, Ensemble)):
            return sparse_sums(p, q)  # type: ignore[arg-type]
        if sparse[1] and isinstance(p, Ensemble):
            return sparse_sums(q, p).swapped()  # type: ignore[arg-type]
    if not matrix:
        assert isinstance(p, Ensemble)
        assert isinstance(q, Ensemble)
        by_patterns = pattern_sums(p, q) if gaps and missing == "ratio" else None
        if by_patterns is not None:
            return by_patterns
        beyond_tables = gaps and (p.is_soft or q.is_soft or (mass is not None and not mass.is_frequency))
        if not (gaps and missing == "ratio") and not beyond_tables:
            tables = n * (len(p) * len(q) + within * (len(p) ** 2 + len(q) ** 2)) * TABLE_COST
            tiles = n * n / 2 * (len(p) + len(q)) * TILE_COST
            plain = not gaps and mass is None and not (p.is_soft or q.is_soft)
            by_card = engine_for(engine, [*p.members, *q.members]) is not cpu
            few = plain and tiles < tables and p.member_weight is None and q.member_weight is None
            if by_card or not few:
                with Progress(len(p) * len(q) + within * (len(p) ** 2 + len(q) ** 2), progress) as bar:
                    return table_sums(
                        p, q, within=within, missing=missing, threads=threads, progress=bar, engine=engine
                    )
    if engine == "cuda":
        raise InputError("sums over all pairs of points (matrices, gaps with missing='ratio') are for engine='cpu'")
    if missing == "pooled" and gaps:
        what = "matrices" if matrix else "members with gaps beside memberships, or with sample_weight,"
        raise InputError(
            f"missing='pooled' is defined between ensembles and partitions; for {what} use 'ratio' or 'plain'"
        )
    check_pairs(n, max(members, 1))
    with Progress(n * (n + 1) // 2, progress, "pairs of points") as bar:
        return tile_sums(tiles_of(p, missing), tiles_of(q, missing), mass, bar)


def _scanned_sums(p: Any, q: Any, *, within: bool, missing: str, threads: int | None, progress: Any) -> MatrixSums:
    """Sums of ensembles whose members are scanned: from tables only, whatever the numbers of points and members."""
    if isinstance(p, Similarity) or isinstance(q, Similarity):
        raise NotApplicable(
            "a similarity matrix beside scanned members needs the labels of every point; read the members into memory, or add "
            "up cg.pair_sums of blocks"
        )
    p.check_same_points(q)
    with Progress(0, progress, "rows") as bar:
        sums = table_sums(p, q, within=within, missing=missing, threads=threads, progress=bar)
    if missing == "ratio" and (p.has_gaps or q.has_gaps):
        raise NotApplicable(
            "members with gaps under missing='ratio' need a pass over pairs of points, which a scan never makes; pass "
            "missing='plain' or 'pooled'"
        )
    return sums


def len_of(x: Similarity | Ensemble) -> int:
    """Number of points."""
    return x.n_points if isinstance(x, Ensemble) else len(x)


def tiles_of(x: Similarity | Ensemble, missing: str = "ratio") -> Tiles:
    """Tiles of a matrix, or of the consensus matrix of an ensemble."""
    if isinstance(x, Similarity):
        return MatrixTiles(x)
    if len(x) == 1 and not x.has_gaps and isinstance(x.members[0], Labels):
        return LabelTiles(x.members[0])
    return EnsembleTiles(x, missing)


def check_pairs(n: int, members: int) -> None:
    """Refuse a pass over all pairs of points that would take hours."""
    if float(n) * n / 2 * members > PAIR_LIMIT:
        hours = float(n) * n / 2 * members * TILE_COST * 1e-9 / 3600
        raise InputError(
            f"this needs a pass over all {n * (n - 1) // 2:,} pairs of points ({hours:.1f} hours); "
            "use complete members (their tables need no pairs), missing='plain' or 'pooled', or sample=… of consensus_cdf"
        )


def blocks(tiles: Tiles, rows: int, dtype: Any) -> Iterator[tuple[slice, Array]]:
    """The matrix in blocks of whole rows."""
    n = len(tiles)
    for piece in slices(n, rows):
        out = np.empty((piece.stop - piece.start, n), dtype=dtype)
        for cols in slices(n):
            out[:, cols] = tiles.tile(piece, cols) / tiles.scale
        if not isinstance(tiles, MatrixTiles):
            out[np.arange(piece.stop - piece.start), np.arange(piece.start, piece.stop)] = 1
        yield piece, out


def dense(tiles: Tiles, dtype: Any, threads: int) -> Array:
    """The whole matrix; only tiles above the diagonal are worked out."""
    n = len(tiles)
    out = np.empty((n, n), dtype=dtype)
    pieces = slices(n, 256)

    def fill(rows: slice, cols: slice) -> None:
        tile = tiles.tile(rows, cols) / tiles.scale
        out[rows, cols] = tile
        out[cols, rows] = tile.T

    if isinstance(tiles, EnsembleTiles) and tiles.plain and tiles.equal and cpu._use_kernels(float(n) * n):
        from congruence.engine.kernels import fill_consensus

        def fill(rows: slice, cols: slice) -> None:
            bounds = rows.start, rows.stop, cols.start, cols.stop
            fill_consensus(tiles.points, *bounds, tiles.padding, 1 / tiles.scale, out)

    jobs: Sequence[Any] = [partial(fill, rows, cols) for x, rows in enumerate(pieces) for cols in pieces[x:]]
    cpu._in_threads(threads, jobs)
    np.fill_diagonal(out, 1)
    return out
