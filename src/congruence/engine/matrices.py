"""Sums over pairs of points of similarity matrices and ensembles: from tables, or tile by tile, without a full n × n matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from congruence.engine.plan import Progress, Run, against_first, engine_for
from congruence.engine.tiles import tile_sums, tiles_of
from congruence.errors import Call, InputError, NotApplicable, Option
from congruence.inputs.alignment import point_weights
from congruence.inputs.cover import check_one_kind
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels
from congruence.inputs.similarity import Similarity
from congruence.statistics.information import Info
from congruence.statistics.matrices import MatrixSums, MemberInfo, PooledInfo
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array
from congruence.typing import EngineName, ProgressLike, SparseMatrix

if TYPE_CHECKING:
    from congruence.scanning.columns import Column
    from congruence.statistics.tables import Tables

#: measured cost of counting one point of one pair of members, and of comparing one member on one pair of points (ns)
TABLE_COST, TILE_COST = 0.7, 0.12

#: largest work (point pairs × members) of a pass over all pairs of points; more is an error
PAIR_LIMIT = 2e13


# --- sparse matrices --------------------------------------------------------------------------------------------


def sparse_sums(p: Similarity, q: Similarity | Ensemble) -> MatrixSums:
    """Sums of a sparse matrix with a sparse matrix, an ensemble or a partition: only its non-zero entries are visited."""
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
            other += share * member.pairwise(row, col)[0]
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


#: members × members: pairs of points together in both, in the first, in the second, and all pairs
PairsOfMembers = tuple[Array, Array, Array, Array]


def ensemble_pairs(
    p: Ensemble, q: Ensemble, threads: int | None = None, progress: Progress | None = None, engine: EngineName = "cpu"
) -> PairsOfMembers:
    """For every member of p and of q: pairs of points together in both, in the first, in the second, and all pairs."""
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
    engine: EngineName = "cpu",
    counted: PairsOfMembers | None = None,
) -> MatrixSums:
    """The same sums for two ensembles, from the tables of their members, without an n × n matrix.

    Sums are exact integers until one division.

    `within` also computes the sums of each matrix with itself (kas, nsf, sms). `missing` says how members with gaps count:
    "plain" (a gap is a disagreement) or "pooled" (over pairs of members, on the points that both label). `counted` is the
    result of `ensemble_pairs`, if it is known.
    """
    equal = p.member_weight is None and q.member_weight is None
    a, b = p.shares, q.shares
    both, own_p, own_q, pairs = counted or ensemble_pairs(p, q, threads, progress, engine)
    total, own, all_pairs = _totals(p)
    if missing == "pooled" and (p.has_gaps or q.has_gaps):
        s_p, s_q, all_pairs = (_weighted(x, a, b, equal) for x in (own_p, own_q, pairs))
    elif p.has_gaps or q.has_gaps:  # plain: a member's pairs, also of points that the other member does not label
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
    """Pairs of points together in each member, over the points it labels."""
    values = np.zeros((len(e), 1))
    for i, member in enumerate(e.members):
        for tile in engine_for("cpu", [member]).statistics([member, member], [Run(0, 1, 2)], {Gram}, mass=e.mass):
            gram = tile.statistics[Gram]
            assert isinstance(gram, Pairs)
            values[i, 0] = gram.same_a[0]
    return values


def _totals(e: Ensemble) -> tuple[float, float, float]:
    """Mass of all points, their self-pair contribution, and pairs of different points."""
    if e.is_lazy:
        from congruence.scanning.columns import totals

        return totals(cast("Column", e.members[0]), e.mass)
    weights, own_weights = point_weights(e.mass, e.n_points)
    total = float(e.n_points if weights is None else weights.sum())
    own = float(own_weights.sum())
    return total, own, (total * total - own) / 2


# --- partial members: agreement over the members that label a pair ---------------------------------------------------


def pattern_sums(p: Ensemble, q: Ensemble, limit: int = 256) -> MatrixSums | None:
    """Sums of Monti's ratio matrices, exact, by patterns of missing labels; None if there are too many patterns.

    Points labelled by the same members share denominators, so a pair of patterns needs one inner product of tables.
    """
    if p.is_soft or q.is_soft:
        return None
    seen = np.stack([c.codes < c.k for e in (p, q) for c in e.members if isinstance(c, Labels)], axis=1)
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    if len(patterns) > limit or p.mass is not None:
        return None
    first = len(p)
    columns_p = _one_hot(p)
    columns_q = columns_p if q is p else _one_hot(q)
    groups = [np.flatnonzero(which == r) for r in range(len(patterns))]
    size = np.array([len(g) for g in groups], dtype=np.float64)
    d_p, d_q = (
        (side * _counts(e)) @ side.T for side, e in ((patterns[:, :first].astype(float), p), (patterns[:, first:], q))
    )
    defined = (d_p > 0) & (d_q > 0)
    d_p, d_q = np.where(defined, d_p, 1.0), np.where(defined, d_q, 1.0)
    own = size[np.diag(defined)].sum()

    def summed(products: Array, divisor: Array | float) -> float:
        """Σ over pairs of different points, from ordered pairs of patterns; the self-pair of a point counts 1."""
        return float((np.where(defined, products / divisor, 0.0).sum() - own) / 2)

    def products(c: SparseMatrix, d: SparseMatrix) -> Array:
        return _inner([c[g].T @ d[g] for g in groups])

    square_p, sum_p = products(columns_p, columns_p), _inner([columns_p[g].sum(axis=0)[None] for g in groups])
    joint, square_q, sum_q = square_p, square_p, sum_p
    if q is not p:
        joint, square_q = products(columns_p, columns_q), products(columns_q, columns_q)
        sum_q = _inner([columns_q[g].sum(axis=0)[None] for g in groups])
    n = float(p.n_points)
    return MatrixSums.of(
        n=n, pairs=summed(np.outer(size, size), 1.0), s_p=summed(sum_p, d_p), s_q=summed(sum_q, d_q),
        s_pq=summed(joint, d_p * d_q), s_pp=summed(square_p, d_p**2), s_qq=summed(square_q, d_q**2), diagonal=(n, n, n),
    )  # fmt: skip


def _counts(e: Ensemble) -> Array:
    """The weight of each member: 1 if all weights are equal, so that sums are integers."""
    return np.ones(len(e)) if e.member_weight is None else e.member_weight


def _one_hot(e: Ensemble) -> SparseMatrix:
    """Points × all clusters, 1 if a point is in a cluster; scaled so that HHᵀ is the sum over members of weight × same."""
    from scipy.sparse import csr_array, hstack

    blocks = []
    for member, share in zip(e.members, _counts(e).tolist(), strict=True):
        assert isinstance(member, Labels)
        rows = np.flatnonzero(member.codes < member.k)
        data = np.full(len(rows), math.sqrt(share))
        blocks.append(csr_array((data, (rows, member.codes[rows])), shape=(len(member), member.k)))
    return hstack(blocks, format="csr")


def _inner(tables: Sequence[Tables]) -> Array:
    """Inner products of every table with every other, all at once."""
    from scipy.sparse import csr_array, vstack

    flat = vstack([csr_array(t).reshape((1, -1)) for t in tables], format="csr")
    return np.asarray((flat @ flat.T).toarray())


# --- choice of route --------------------------------------------------------------------------------------------


def sums_of(
    a: Ensemble | Similarity, b: Ensemble | Similarity, *, within: bool = True, missing: str = "ratio",
    threads: int | None = None, progress: ProgressLike = None,
    engine: EngineName = "auto",
) -> MatrixSums:  # fmt: skip
    """The sums of two matrices, ensembles or partitions, by whichever route is cheaper; they agree to rounding."""
    if missing not in ("ratio", "plain", "pooled"):
        raise InputError(f"missing must be 'ratio', 'plain' or 'pooled', not {missing!r}")
    matrix = isinstance(a, Similarity) or isinstance(b, Similarity)
    p, q = (e if isinstance(e, Similarity | Ensemble) else Ensemble([e]) for e in (a, b))
    if any(isinstance(e, Ensemble) and e.has_covers for e in (p, q)):
        check_one_kind([c for e in (p, q) if isinstance(e, Ensemble) for c in e.members])
    if any(isinstance(e, Ensemble) and e.is_lazy for e in (p, q)):
        return _scanned_sums(p, q, within=within, missing=missing, threads=threads, progress=progress)
    if len_of(p) != len_of(q):
        raise InputError(f"a and b have {len_of(p)} and {len_of(q)} points; both must have the same points")
    if matrix:
        from congruence.engine.dask_matrices import by_blocks, dask_sums

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
        if by_tables((p, q), missing):
            tables = n * (len(p) * len(q) + within * (len(p) ** 2 + len(q) ** 2)) * TABLE_COST
            tiles = n * n / 2 * (len(p) + len(q)) * TILE_COST
            plain = not gaps and mass is None and not (p.is_soft or q.is_soft)
            by_card = engine_for(engine, [*p.members, *q.members]).on_card
            few = plain and tiles < tables and p.member_weight is None and q.member_weight is None
            if by_card or not few:
                with Progress(len(p) * len(q) + within * (len(p) ** 2 + len(q) ** 2), progress) as bar:
                    return table_sums(
                        p, q, within=within, missing=missing, threads=threads, progress=bar, engine=engine
                    )
    if engine == "cuda":
        raise InputError(
            f"sums over all pairs of points (matrices, gaps with {Option('missing', 'ratio')}) are for {Option('engine', 'cpu')}"
        )
    if missing == "pooled" and gaps:
        what = "matrices" if matrix else f"members with gaps together with memberships or {Option('sample_weight')}"
        raise InputError(
            f"{Option('missing', 'pooled')} is defined between ensembles and partitions; for {what} use 'ratio' or 'plain'"
        )
    check_pairs(n, max(members, 1))
    with Progress(n * (n + 1) // 2, progress, "pairs of points") as bar:
        return tile_sums(tiles_of(p, missing), tiles_of(q, missing), mass, bar)


def by_tables(ensembles: Sequence[Ensemble], missing: str) -> bool:
    """Whether tables of pairs of members give the sums; with gaps, some need a pass over pairs of points."""
    if not any(e.has_gaps for e in ensembles):
        return True
    weighted = any(e.mass is not None and not e.mass.is_frequency for e in ensembles)
    return missing != "ratio" and not weighted and not any(e.is_soft for e in ensembles)


def _scanned_sums(
    p: Ensemble | Similarity,
    q: Ensemble | Similarity,
    *,
    within: bool,
    missing: str,
    threads: int | None,
    progress: ProgressLike,
) -> MatrixSums:
    """Sums of ensembles whose members are scanned: only from tables, for any numbers of points and members."""
    if isinstance(p, Similarity) or isinstance(q, Similarity):
        raise NotApplicable(
            "a similarity matrix with scanned members needs the labels of every point; read the members into memory, or add "
            f"up {Call('cg.pair_sums')} of blocks"
        )
    p.check_same_points(q)
    with Progress(0, progress, "rows") as bar:
        sums = table_sums(p, q, within=within, missing=missing, threads=threads, progress=bar)
    if missing == "ratio" and (p.has_gaps or q.has_gaps):
        raise NotApplicable(
            f"members with gaps under {Option('missing', 'ratio')} need a pass over pairs of points, which a scan "
            f"does not make; pass {Option('missing', 'plain', 'pooled')}"
        )
    if p.mass is not None and not p.mass.is_frequency and (p.has_gaps or q.has_gaps):
        raise NotApplicable(
            f"members with gaps and {Option('sample_weight')} are not added up from tables; read the columns into memory"
        )
    return sums


def len_of(x: Similarity | Ensemble) -> int:
    """Number of points."""
    return x.n_points if isinstance(x, Ensemble) else len(x)


def check_pairs(n: int, members: int) -> None:
    """Raise if a pass over all pairs of points would take hours."""
    if float(n) * n / 2 * members > PAIR_LIMIT:
        hours = float(n) * n / 2 * members * TILE_COST * 1e-9 / 3600
        raise InputError(
            f"this needs a pass over all {n * (n - 1) // 2:,} pairs of points ({hours:.1f} hours); "
            f"use complete members (their tables need no pairs), {Option('missing', 'plain', 'pooled')}, or "
            f"{Option('sample', ...)} of consensus_cdf"
        )


def member_info(p: Ensemble, q: Ensemble, needs: type[MemberInfo]) -> MemberInfo:
    """Entropies of the members of the ensemble with the partition, and the numbers of clusters if they are needed."""
    first, many = (q, p) if len(q) == 1 else (p, q)
    members = [first.members[0], *many.members]
    tiles = engine_for("cpu", members).statistics(members, against_first(len(members)), {needs}, mass=p.mass)
    found = [cast("MemberInfo", tile.statistics[needs]) for tile in tiles]
    joined = Info.joined([m.info for m in found])
    counts = ("k_a", "k_b") if issubclass(needs, PooledInfo) else ()
    return needs(joined, many.shares, **{name: np.concatenate([getattr(m, name) for m in found]) for name in counts})
