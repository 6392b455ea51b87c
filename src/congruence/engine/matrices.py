"""Sums over pairs of points of similarity matrices and ensembles: from tables, or tile by tile, without a full n × n matrix."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from congruence.engine.plan import Progress, Run, against_first, engine_for
from congruence.engine.tiles import tile_sums, tiles_of
from congruence.errors import A, B, Call, InputError, NotApplicable, Option, one_of
from congruence.inputs.cover import check_one_kind
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import PointPairs
from congruence.inputs.similarity import Similarity
from congruence.statistics.information import Info
from congruence.statistics.matrices import MatrixSums, MemberInfo, PooledInfo
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array, Tables
from congruence.typing import Dynamic, EngineName, ProgressLike, SparseMatrix

#: measured cost of counting one point of one pair of members, and of comparing one member on one pair of points (ns)
TABLE_COST, TILE_COST = 0.7, 0.12

#: largest work (point pairs × members) of a pass over all pairs of points; more is an error
PAIR_LIMIT = 2e13


# --- sparse matrices --------------------------------------------------------------------------------------------


def _sparse_with_sparse(t: Task) -> MatrixSums:
    """Sums of two sparse matrices."""
    theirs = t.q.matrix.tocoo()
    s_q, s_qq = (_off_diagonal(theirs.row, theirs.col, theirs.data**power) for power in (1, 2))
    entries = t.p.matrix.tocoo()
    return _of_entries(t.p, np.asarray(t.q.matrix[entries.row, entries.col]).ravel(), s_q, s_qq, t.q.matrix.diagonal())


def _sparse_with_members(t: Task) -> MatrixSums:
    """Sums of a sparse matrix and an ensemble or partition: only the entries of the matrix are visited."""
    if t.q.mass is not None or t.q.has_gaps:
        return _of_tiles(t)
    entries = t.p.matrix.tocoo()
    other = np.zeros(len(entries.data))
    for member, share in zip(t.q.members, t.q.shares.tolist(), strict=True):
        other += share * member.pairwise(entries.row, entries.col)[0]
    within = table_sums(t.q, t.q, within=False, missing="plain")
    return _of_entries(t.p, other, float(within.s_q[0]), float(within.s_pq[0]), np.ones(len(t.p)))


def _of_entries(p: Similarity, other: Array, s_q: float, s_qq: float, diagonal: Array) -> MatrixSums:
    """Sums of a sparse matrix with the values of another at its entries; pairs that are 0 add nothing."""
    n, own, entries = len(p), p.matrix.diagonal(), p.matrix.tocoo()
    row, col, value = entries.row, entries.col, entries.data
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
    total, own = p.members[0].totals(p.mass)
    all_pairs = (total * total - own) / 2
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


# --- partial members: agreement over the members that label a pair ---------------------------------------------------


def pattern_sums(p: Ensemble, q: Ensemble, limit: int = 256) -> MatrixSums | None:
    """Sums of Monti's ratio matrices, exact, by patterns of missing labels; None if there are too many patterns.

    Points labelled by the same members share denominators, so a pair of patterns needs one inner product of tables.
    """
    if not (p.is_plain and q.is_plain):  # points of covers can be together without the same code
        return None
    seen = np.stack([c.codes < c.k for e in (p, q) for c in e.members], axis=1)
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
    from scipy.sparse import hstack

    shares = zip(e.members, _counts(e).tolist(), strict=True)
    return hstack([member.sparse() * math.sqrt(share) for member, share in shares], format="csr")


def _inner(tables: Sequence[Tables]) -> Array:
    """Inner products of every table with every other, all at once."""
    from scipy.sparse import csr_array, vstack

    flat = vstack([csr_array(t).reshape((1, -1)) for t in tables], format="csr")
    return np.asarray((flat @ flat.T).toarray())


# --- choice of route --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Task:
    """The sums that are wanted: of which two, with the sums of each with itself or without, and how gaps count."""

    p: Dynamic
    q: Dynamic
    within: bool
    missing: str
    threads: int | None
    progress: ProgressLike
    engine: EngineName

    @property
    def has_gaps(self) -> bool:
        """Whether a member labels only some of the points."""
        return bool(self.p.has_gaps or self.q.has_gaps)


def sums_of(
    a: Ensemble | Similarity, b: Ensemble | Similarity, *, within: bool = True, missing: str = "ratio",
    threads: int | None = None, progress: ProgressLike = None,
    engine: EngineName = "auto",
) -> MatrixSums:  # fmt: skip
    """The sums of two matrices, ensembles or partitions, by whichever route is cheaper; they agree to rounding."""
    one_of("missing", missing, ("ratio", "plain", "pooled"))
    p, q = (e if isinstance(e, PointPairs) else Ensemble([e]) for e in (a, b))
    check_one_kind([*p.members, *q.members])
    forms = p.form, q.form
    if "scan" not in forms and p.n_points != q.n_points:
        raise InputError(f"{A} and {B} have {p.n_points} and {q.n_points} points; both must have the same points")
    task = Task(p, q, within, missing, threads, progress, engine)
    if forms in ROUTES:
        return ROUTES[forms](task)
    if forms[::-1] in ROUTES:
        return ROUTES[forms[::-1]](replace(task, p=q, q=p)).swapped()
    return _of_tiles(task)


def _of_members(t: Task) -> MatrixSums:
    """Sums of two ensembles: by patterns of gaps, by the tables of members, or, for few points, by tiles."""
    p, q = t.p, t.q
    by_patterns = pattern_sums(p, q) if t.has_gaps and t.missing == "ratio" else None
    if by_patterns is not None:
        return by_patterns
    if not by_tables((p, q), t.missing):
        return _of_tiles(t)
    pairs = len(p) * len(q) + t.within * (len(p) ** 2 + len(q) ** 2)
    plain = not t.has_gaps and p.mass is None and q.mass is None and not (p.is_soft or q.is_soft)
    few = p.n_points**2 / 2 * (len(p) + len(q)) * TILE_COST < p.n_points * pairs * TABLE_COST
    few = few and plain and p.member_weight is None and q.member_weight is None
    if few and not engine_for(t.engine, [*p.members, *q.members]).on_card:
        return _of_tiles(t)
    with Progress(pairs, t.progress) as bar:
        return table_sums(p, q, within=t.within, missing=t.missing, threads=t.threads, progress=bar, engine=t.engine)


def _of_tiles(t: Task) -> MatrixSums:
    """Sums over all pairs of points, tile by tile: matrices, and gaps that need the members of each pair."""
    if t.engine == "cuda":
        raise InputError(
            f"sums over all pairs of points (matrices, gaps with {Option('missing', 'ratio')}) are for {Option('engine', 'cpu')}"
        )
    members = len(t.p.members) + len(t.q.members)
    if t.missing == "pooled" and t.has_gaps:
        matrix = not (t.p.members and t.q.members)
        what = "matrices" if matrix else f"members with gaps together with memberships or {Option('sample_weight')}"
        raise InputError(
            f"{Option('missing', 'pooled')} is defined between ensembles and partitions; for {what} use 'ratio' or 'plain'"
        )
    n = t.p.n_points
    check_pairs(n, max(members, 1))
    with Progress(n * (n + 1) // 2, t.progress, "pairs of points") as bar:
        return tile_sums(tiles_of(t.p, t.missing), tiles_of(t.q, t.missing), t.p.mass or t.q.mass, bar)


def _of_blocks(t: Task) -> MatrixSums:
    """Sums of a Dask array and anything that can be cut into blocks like it."""
    from congruence.engine.dask_matrices import by_blocks, dask_sums

    return dask_sums(t.p, t.q) if by_blocks(t.p, t.q) else _of_tiles(t)


def _of_scans(t: Task) -> MatrixSums:
    """Sums of ensembles whose members are scanned: only from tables, for any numbers of points and members."""
    p, q = t.p, t.q
    p.check_same_points(q)
    with Progress(0, t.progress, "rows") as bar:
        sums = table_sums(p, q, within=t.within, missing=t.missing, threads=t.threads, progress=bar)
    if t.missing == "ratio" and t.has_gaps:
        raise NotApplicable(
            f"members with gaps under {Option('missing', 'ratio')} need a pass over pairs of points, which a scan "
            f"does not make; pass {Option('missing', 'plain', 'pooled')}"
        )
    if p.mass is not None and not p.mass.is_frequency and t.has_gaps:
        raise NotApplicable(
            f"members with gaps and {Option('sample_weight')} are not added up from tables; read the columns into memory"
        )
    return sums


def _no_points(t: Task) -> MatrixSums:
    raise NotApplicable(
        "a similarity matrix with scanned members needs the labels of every point; read the members into memory, or add "
        f"up {Call('cg.pair_sums')} of blocks"
    )


#: (form of a, form of b) → how their sums are counted, in either order; others by tiles
ROUTES: dict[tuple[str, str], Callable[[Task], MatrixSums]] = {
    ("members", "members"): _of_members,
    ("scan", "scan"): _of_scans,
    ("scan", "members"): _of_scans,
    ("sparse", "sparse"): _sparse_with_sparse,
    ("sparse", "members"): _sparse_with_members,
    ("blocks", "blocks"): _of_blocks,
    ("blocks", "entries"): _of_blocks,
    ("blocks", "members"): _of_blocks,
    ("scan", "entries"): _no_points,
    ("scan", "sparse"): _no_points,
    ("scan", "blocks"): _no_points,
}


def by_tables(ensembles: Sequence[Ensemble], missing: str) -> bool:
    """Whether tables of pairs of members give the sums; with gaps, some need a pass over pairs of points."""
    if not any(e.has_gaps for e in ensembles):
        return True
    weighted = any(e.mass is not None and not e.mass.is_frequency for e in ensembles)
    return missing != "ratio" and not weighted and not any(e.is_soft for e in ensembles)


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
