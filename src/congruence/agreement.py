"""What an ensemble agrees on: its consensus matrix and all that follows from it, without n × n where a table will do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from congruence import card
from congruence.clustering import Labels, Memberships, Similarity, as_clustering
from congruence.comparison import compare_all
from congruence.engine import cpu, matrices
from congruence.engine.choice import engine_for
from congruence.engine.plan import Progress
from congruence.ensemble import Ensemble
from congruence.formulas import find
from congruence.formulas.matrices import certainty_random
from congruence.frames import make_frame
from congruence.registry import Measure
from congruence.statistics import Alone, Array, InputError, MatrixSums, NotApplicable

__all__ = [
    "ConsensusCdf", "PairSums", "certainty_random", "cluster_consensus", "consensus_blocks", "consensus_cdf",
    "consensus_index", "consensus_matrix", "consensus_silhouette", "delta_area", "item_consensus", "member_agreement",
    "pair_sums", "random_partitions",
]  # fmt: skip


def _as_ensemble(x: Any) -> Ensemble:
    return x if isinstance(x, Ensemble) else Ensemble(x)


# --- one ensemble or matrix by itself ---------------------------------------------------------------------------


def lone_scorer(key: str) -> Callable[..., float]:
    """The function of a measure that describes one ensemble or matrix: `lone_scorer("certainty")(x)`."""
    record = find(key)

    def score(x: Any, *, missing: str = "ratio", threads: int | None = None, engine: str = "auto") -> float:
        return float(record.values(_alone(record, x, missing, threads, engine))[0])

    score.__name__ = score.__qualname__ = key
    score.__module__ = "congruence"
    low, high = record.range
    score.__doc__ = (
        f"{record.title}: {low:g} to {high:g}; of an ensemble or a similarity matrix.\n\n{record.formula.__doc__}\n"
        + (f"\nCaution: {record.caution}.\n" if record.caution else "")
        + f"\n>>> import congruence as cg\n>>> isinstance(cg.{key}(cg.Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])), float)\nTrue\n"
    )
    return score


def _alone(record: Measure, x: Any, missing: str, threads: int | None, engine: str) -> Alone:
    about_members = record.key.startswith("pnmi")
    shape: Any = getattr(x, "shape", ())
    is_matrix = isinstance(x, Similarity) or (len(shape) == 2 and shape[0] == shape[1])
    if is_matrix:
        if about_members:
            raise NotApplicable(f"{record.key} is about the members of an ensemble; of a matrix ask for its certainty")
        x = x if isinstance(x, Similarity) else Similarity(x)
    else:
        x = _as_ensemble(x)
    nothing = MatrixSums.of(n=0, pairs=0, s_p=0, s_q=0, s_pq=0, s_pp=0, s_qq=0, diagonal=(0, 0, 0))
    sums = nothing
    if not about_members:
        sums = matrices.sums_of(x, x, within=False, missing=missing, threads=threads, engine=engine)
    if isinstance(x, Similarity) and not x.is_unit:
        raise NotApplicable(
            f"{record.key} needs entries between 0 and 1, and the matrix has {x.low:.4g} to {x.high:.4g}"
        )

    def mean_of_members(key: str) -> Array:
        return np.array([consensus_index(x, key, threads=threads, engine=engine)])

    return Alone(sums, len(x), mean_of_members)


def consensus_index(
    ensemble: Any, measure: str | Measure = "nmi_sum", *, threads: int | None = None, engine: str = "auto"
) -> float:
    """Mean of any measure over all pairs of different members (by the products of their weights, if they have any).

    >>> import congruence as cg
    >>> round(cg.consensus_index([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 0, 1]], "ari"), 4)
    -0.0714
    """
    e = _as_ensemble(ensemble)
    if len(e) < 2:
        raise InputError("the consensus index is a mean over pairs of members, and there is only one member")
    m = find(measure)
    values = compare_all(e, [m], threads=threads, engine=engine)[m.key]
    off = ~np.eye(len(e), dtype=bool)
    if e.member_weight is None:
        return float(values[off].mean())
    weights = np.outer(e.shares, e.shares)[off]
    if not weights.any():
        raise InputError(
            "the consensus index is a mean over pairs of members, and only one member has a weight above 0"
        )
    return float((values[off] * weights).sum() / weights.sum())


def member_agreement(ensemble: Any, measure: str | Measure = "ari", *, threads: int | None = None) -> dict[str, float]:
    """For each member its mean agreement with all the others, best first.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 1, 1], "y": [0, 0, 1, 2], "z": [0, 1, 0, 1]}
    >>> list(cg.member_agreement(runs))
    ['y', 'x', 'z']
    """
    e = _as_ensemble(ensemble)
    m = find(measure)
    values = compare_all(e, [m], threads=threads)[m.key]
    rest = np.where(np.eye(len(e), dtype=bool), 0.0, values).sum(axis=1) / max(len(e) - 1, 1)
    order = np.argsort(-rest if m.better == "higher" else rest, kind="stable")
    found: dict[str, float] = {}
    for i in order.tolist():
        name = e.names[i]
        while name in found:  # two members of one name are still two members
            name += "′"
        found[name] = float(rest[i])
    return found


# --- the consensus matrix ---------------------------------------------------------------------------------------


def _available_memory() -> float:
    """Bytes of memory that can be had now."""
    try:
        with open("/proc/meminfo") as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
        return float(line.split()[1]) * 1024
    except (OSError, StopIteration):
        try:
            return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (OSError, ValueError, AttributeError):
            return float("inf")


def consensus_matrix(
    ensemble: Any, *, dtype: Any = np.float64, threshold: float | None = None, missing: str = "ratio",
    threads: int | None = None,
) -> Any:  # fmt: skip
    """Share of the members that put each two points together: n × n, with 1 on the diagonal.

    With a `threshold` a scipy.sparse array of the entries at or above it. Pairs that no member has seen together are NaN
    under `missing="ratio"`, 0 under "plain".

    >>> import congruence as cg
    >>> cg.consensus_matrix([[0, 0, 1], [0, 1, 1]]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    e = _as_ensemble(ensemble)
    _no_pooled(missing)
    dtype = np.dtype(dtype)
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype must be float32 or float64, not {dtype}")
    tiles = matrices.tiles_of(e, missing)
    if threshold is not None:
        return _sparse_consensus(tiles, threshold, dtype)
    size, there = float(e.n_points) ** 2 * dtype.itemsize, _available_memory()
    if size > 0.8 * there:
        raise InputError(
            f"the consensus matrix of {e.n_points:,} points takes {size / 2**30:.1f} GB, and there are {there / 2**30:.1f} GB; "
            "pass dtype='float32' or threshold=… (sparse), read consensus_blocks(), or ask for measures: they need no matrix"
        )
    return matrices.dense(tiles, dtype, cpu.default_threads(threads))


def _no_pooled(missing: str) -> None:
    if missing not in ("ratio", "plain"):
        raise InputError(f"a consensus matrix counts gaps as missing='ratio' or 'plain', not {missing!r}")


def _sparse_consensus(tiles: matrices.Tiles, threshold: float, dtype: Any) -> Any:
    from scipy.sparse import csr_array, vstack

    if threshold <= 0:
        raise InputError("threshold must be above 0: at 0 every entry is kept, and the matrix is dense")
    rows = []
    for _, block in matrices.blocks(tiles, 256, dtype):
        rows.append(csr_array(np.where(block >= threshold, block, 0)))
    return vstack(rows, format="csr")


def consensus_blocks(
    ensemble: Any, *, rows: int = 256, dtype: Any = np.float64, missing: str = "ratio", engine: str = "auto"
) -> Iterator[tuple[slice, Any]]:
    """The consensus matrix in blocks of rows, one at a time, for what does not fit in memory.

    With engine="cuda" (or members that live on a CUDA card) blocks are CuPy arrays and stay on the card; an integer
    `dtype` gives the number of members that agree instead of their share.

    >>> import congruence as cg
    >>> for where, block in cg.consensus_blocks([[0, 0, 1], [0, 1, 1]], rows=2):
    ...     print(where.start, block.tolist())
    0 [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5]]
    2 [[0.0, 0.5, 1.0]]
    """
    _no_pooled(missing)
    if rows < 1:
        raise InputError(f"a block has at least one row, not {rows}")
    e = _as_ensemble(ensemble)
    if engine_for(engine, e.members) is not cpu:
        return _card_blocks(e, rows, np.dtype(dtype))
    return matrices.blocks(matrices.tiles_of(e, missing), rows, np.dtype(dtype))


def _complete(e: Ensemble) -> list[Labels]:
    """The members, if their consensus is a count: complete, hard, and all of the same weight."""
    hard = [c for c in e.members if isinstance(c, Labels)]
    if len(hard) < len(e) or e.has_gaps or e.member_weight is not None:
        raise card.refusal("on the card the consensus matrix is that of complete label vectors of equal weight")
    return hard


def _card_blocks(e: Ensemble, rows: int, dtype: Any) -> Iterator[tuple[slice, Any]]:
    from congruence.engine.cuda import Points

    points = Points(_complete(e))
    for piece in matrices.slices(e.n_points, rows):
        counts = points.counts(piece)
        yield piece, counts.astype(dtype, copy=False) if dtype.kind in "iu" else counts.astype(dtype) / len(e)


# --- consensus of items and clusters ----------------------------------------------------------------------------


def _partition(e: Ensemble, labels: Any) -> Labels:
    c = as_clustering(labels, "labels")
    if not isinstance(c, Labels) or c.gaps:
        raise InputError("labels must be one complete partition of the points")
    if len(c) != e.n_points:
        raise InputError(
            f"the ensemble has {e.n_points} points and the labels {len(c)}; both must be of the same points"
        )
    return c


def _point_mass(e: Ensemble) -> tuple[Array, Array]:
    """What each point counts, and how much of that is the point itself."""
    if e.mass is None:
        return np.ones(e.n_points), np.ones(e.n_points)
    values = e.mass.values.astype(np.float64)
    if e.mass.is_frequency:
        return values, np.minimum(values, 1.0)
    values = values / values.mean()
    return values, values


def item_consensus(ensemble: Any, labels: Any, *, engine: str = "auto") -> Array:
    """Mean consensus of each point (row) with the other points of each cluster (column, in sorted order of labels).

    Members that lack a point do not count for it: the mean is over the times the point was seen with another. A point
    alone in its cluster has consensus NaN with it.

    >>> import congruence as cg
    >>> cg.item_consensus([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 1]).tolist()
    [[0.5, 0.0], [0.5, 0.5], [0.25, 1.0], [0.25, 1.0]]
    """
    e = _as_ensemble(ensemble)
    c = _partition(e, labels)
    on_card = engine_for(engine, e.members) is not cpu
    xp: Any = card.cupy() if on_card else np  # the same lines, wherever the labels are
    weight, own = (xp.asarray(x) for x in _point_mass(e))
    codes = _codes(c, on_card)
    every = xp.arange(e.n_points)
    together, seen = xp.zeros((e.n_points, c.k)), xp.zeros((e.n_points, c.k))
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        if isinstance(member, Memberships):
            u = xp.asarray(member.dense() if member.card is None or not on_card else member.card)
            sums = xp.stack([xp.bincount(codes, weights=weight * column, minlength=c.k) for column in u.T])
            together += share * (u @ sums)
            together[every, codes] -= share * own * (u**2).sum(axis=1)
            per = xp.bincount(codes, weights=weight, minlength=c.k)
            here = xp.ones(e.n_points, dtype=bool)
        else:
            theirs = _codes(member, on_card)
            here = theirs < member.k
            cell = theirs.astype(np.int64) * c.k + codes
            table = xp.bincount(cell, weights=weight, minlength=(member.k + 1) * c.k).reshape(member.k + 1, c.k)
            per = table[: member.k].sum(axis=0)
            table[member.k] = 0
            together += share * table[theirs]
            together[every[here], codes[here]] -= share * own[here]
        times = here[:, None] * per[None, :]
        times[every[here], codes[here]] -= own[here]
        seen += share * times
    with np.errstate(invalid="ignore", divide="ignore"):
        found = xp.where(seen > 1e-12, together / seen, np.nan)
    return np.asarray(found.get() if on_card else found)


def _codes(labels: Labels, on_card: bool) -> Any:
    """The codes where they are to be worked on."""
    if not on_card:
        return labels.codes
    return labels.card.codes if labels.card is not None else card.cupy().asarray(labels.codes)


def cluster_consensus(ensemble: Any, labels: Any) -> dict[Any, float]:
    """Mean consensus over the pairs of points within each cluster; NaN for a cluster of one point.

    >>> import congruence as cg
    >>> cg.cluster_consensus([[0, 0, 1, 1], [0, 1, 1, 1]], ["x", "x", "y", "y"])
    {'x': 0.5, 'y': 1.0}
    """
    e = _as_ensemble(ensemble)
    c = _partition(e, labels)
    items = item_consensus(e, c)
    weight, own = _point_mass(e)
    mine = items[np.arange(e.n_points), c.codes]
    sizes = np.bincount(c.codes, weights=weight, minlength=c.k)
    others = weight * (sizes[c.codes] - own)
    total = np.bincount(c.codes, weights=np.where(np.isnan(mine), 0.0, mine * others), minlength=c.k)
    count = np.bincount(c.codes, weights=np.where(np.isnan(mine), 0.0, others), minlength=c.k)
    names = c.names.tolist() if isinstance(c.names, np.ndarray) else list(c.names)
    with np.errstate(invalid="ignore", divide="ignore"):
        return dict(zip(names, np.where(count > 0, total / count, np.nan).tolist(), strict=True))


def consensus_silhouette(ensemble: Any, labels: Any) -> Array:
    """Silhouette of each point with distance 1 − consensus, in O(points × members × clusters).

    >>> import congruence as cg
    >>> cg.consensus_silhouette([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 1]).round(3).tolist()
    [0.5, 0.0, 1.0, 1.0]
    """
    e = _as_ensemble(ensemble)
    c = _partition(e, labels)
    if c.k < 2:
        raise InputError("a silhouette needs at least two clusters")
    distance = 1 - item_consensus(e, c)
    here = np.arange(e.n_points), c.codes
    inside = distance[here].copy()
    distance[here] = np.inf
    outside = np.nanmin(distance, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        score = (outside - inside) / np.maximum(inside, outside)
    return np.asarray(
        np.nan_to_num(score, nan=0.0)
    )  # alone in its cluster, or at distance 0 from both: 0 by convention


# --- the distribution of consensus values -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ConsensusCdf:
    """Distribution of the consensus values over pairs of points: `cdf(x)` is the share of pairs at or below x.

    >>> import congruence as cg
    >>> f = cg.consensus_cdf([[0, 0, 1, 1], [0, 1, 1, 1]])
    >>> f.values.tolist(), f.shares.round(3).tolist(), round(f.area, 3), round(f.pac(), 3)
    ([0.0, 0.5, 1.0], [0.333, 0.5, 0.167], 0.583, 0.5)
    """

    #: different consensus values, ascending, and the share of the pairs that has each
    values: Array
    shares: Array
    #: pairs of points looked at, and whether those are all
    pairs: float
    is_exact: bool = True

    def __call__(self, x: Any) -> Any:
        """Share of the pairs with a consensus at or below x."""
        cumulative = np.concatenate([[0.0], np.cumsum(self.shares)])
        found = cumulative[np.searchsorted(self.values, np.asarray(x) + 1e-12, side="right")]
        return float(found) if np.ndim(x) == 0 else found

    def standard_error(self, x: float) -> float:
        """Standard error of `cdf(x)`: 0 where all pairs were looked at, √(F(1 − F) / pairs) for a sample."""
        share = float(self(x))
        return 0.0 if self.is_exact else float(np.sqrt(share * (1 - share) / self.pairs))

    @property
    def area(self) -> float:
        """Area under the distribution from 0 to 1, which is 1 − the mean consensus."""
        return float(1 - (self.values * self.shares).sum())

    def pac(self, lower: float = 0.1, upper: float = 0.9) -> float:
        """Proportion of ambiguous pairs: share of the pairs with a consensus above lower and up to upper."""
        if not 0 <= lower < upper <= 1:
            raise InputError(f"pac needs 0 ≤ lower < upper ≤ 1, not {lower} and {upper}")
        return max(float(self(upper)) - float(self(lower)), 0.0)

    def to_frame(self, backend: str | None = None) -> Any:
        """Columns: consensus value, share of the pairs, cumulative share."""
        columns = {"consensus": self.values, "share": self.shares, "cumulative": np.cumsum(self.shares)}
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        how = "all" if self.is_exact else "a sample of"
        return f"ConsensusCdf: {how} {self.pairs:,.0f} pairs, area {self.area:.4f}, PAC {self.pac():.4f}"


def consensus_cdf(
    ensemble: Any,
    *,
    sample: int | None = None,
    missing: str = "ratio",
    random_state: int | None = None,
    progress: Any = None,
    engine: str = "auto",
) -> ConsensusCdf:
    """Distribution of the consensus values over all pairs of points, exactly, or over a `sample` of that many pairs.

    Points with the same labels in every member are taken together, so complete ensembles need far fewer than n² steps.
    With engine="cuda" all pairs are compared on the card, in blocks that are never kept.
    """
    e = _as_ensemble(ensemble)
    _no_pooled(missing)
    if e.mass is not None and not e.mass.is_frequency:
        raise InputError("the distribution of consensus values is over pairs of points; it has no sample_weight")
    if sample is not None:
        return _sampled_cdf(e, sample, missing, random_state)
    if engine_for(engine, e.members) is not cpu:
        return _cdf_by_card(e, progress)
    tiles = matrices.tiles_of(e, missing)
    hard = not e.is_soft and e.member_weight is None and not e.has_gaps
    if hard:
        codes = np.stack([c.codes for c in e.members if isinstance(c, Labels)], axis=1)
        _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        many = np.bincount(group.ravel(), weights=_point_mass(e)[0])
        tiles = matrices.EnsembleTiles(Ensemble(codes[first]))
    else:
        many = _point_mass(e)[0]
    matrices.check_pairs(len(tiles), len(e))
    found: dict[float, float] = {}
    pieces = matrices.slices(len(tiles), 512)
    with Progress(len(tiles) * (len(tiles) + 1) // 2, progress, "pairs of points") as bar:
        for x, rows in enumerate(pieces):
            for cols in pieces[x:]:
                values = tiles.tile(rows, cols) / tiles.scale
                weight = many[rows, None] * many[None, cols]
                if rows == cols:  # each pair once; on the diagonal the pairs of copies of a point
                    weight = np.triu(weight, 1) + np.diag(many[rows] * (many[rows] - 1) / 2)
                keep = ~np.isnan(values) & (weight > 0)
                different, where = np.unique(np.round(values[keep], 12), return_inverse=True)
                shares = np.bincount(where, weights=weight[keep], minlength=len(different))
                for value, share in zip(different.tolist(), shares.tolist(), strict=True):
                    found[value] = found.get(value, 0.0) + share
                bar.add(values.size)
    return _cdf_of(found, is_exact=True)


def _cdf_by_card(e: Ensemble, progress: Any) -> ConsensusCdf:
    from congruence.engine.cuda import Points

    points = Points(_complete(e))
    many = None if e.mass is None else e.mass.values
    with Progress(e.n_points * (e.n_points + 1) // 2, progress, "pairs of points") as bar:
        counts = points.histogram(many, bar)
    shares = np.round(np.arange(len(e) + 1) / len(e), 12)
    return _cdf_of({v: float(c) for v, c in zip(shares.tolist(), counts.tolist(), strict=True) if c}, is_exact=True)


def _cdf_of(found: Mapping[float, float], is_exact: bool) -> ConsensusCdf:
    values = np.array(sorted(found))
    counts = np.array([found[v] for v in values.tolist()])
    if not len(values):
        raise InputError("there is no pair of points that any member has seen together")
    return ConsensusCdf(values, counts / counts.sum(), float(counts.sum()), is_exact)


def _sampled_cdf(e: Ensemble, sample: int, missing: str, random_state: int | None) -> ConsensusCdf:
    ends = np.cumsum(_point_mass(e)[0]).astype(np.int64)  # a point that occurs twice is two to draw from
    total = int(ends[-1])
    if sample < 1 or total < 2:
        raise InputError(
            f"cannot draw {sample} pairs from {total} points; there must be a pair, and at least one is drawn"
        )
    rng = np.random.default_rng(random_state)
    first = rng.integers(0, total, sample)
    second = (first + rng.integers(1, total, sample)) % total
    i, j = (np.searchsorted(ends, x, side="right") for x in (first, second))
    together, seen = np.zeros(sample), np.zeros(sample)
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        if isinstance(member, Memberships):
            u = member.dense()
            together += share * (u[i] * u[j]).sum(axis=1)
            seen += share
        else:
            both = (member.codes[i] < member.k) & (member.codes[j] < member.k)
            together += share * ((member.codes[i] == member.codes[j]) & both)
            seen += share * both if missing == "ratio" else share
    known = seen > 0
    different, counts = np.unique(np.round(together[known] / seen[known], 12), return_counts=True)
    return _cdf_of(dict(zip(different.tolist(), counts.astype(float).tolist(), strict=True)), is_exact=False)


def delta_area(ensembles: Mapping[int, Any]) -> dict[int, float]:
    """Relative growth of the area under the consensus distribution with k: A(k₀), then (A(k) − A(k−1)) / A(k−1).

    The area is 1 − the mean consensus, exact from cluster sizes alone where members are complete. `ensembles` maps
    numbers of clusters to ensembles.

    >>> import congruence as cg
    >>> {k: round(v, 3) for k, v in cg.delta_area({2: [[0, 0, 1, 1]] * 3, 3: [[0, 0, 1, 2]] * 3}).items()}
    {2: 0.667, 3: 0.25}
    """
    areas = {}
    for k in sorted(ensembles):
        e = _as_ensemble(ensembles[k])
        sums = matrices.sums_of(e, e if e.has_gaps else Ensemble([e.members[0]]), within=False)
        areas[k] = 1 - float(sums.s_p[0] / sums.pairs[0])
    found: dict[int, float] = {}
    before: float | None = None
    for k, area in areas.items():
        found[k] = area if before is None else (area - before) / before if before else float("nan")
        before = area
    return found


# --- random members, and matrices that live apart ---------------------------------------------------------------


def random_partitions(n: int, n_members: int, kmax: int, random_state: Any = None) -> Ensemble:
    """Members drawn at random: each has k ~ U{2 … kmax} clusters and puts every point in one of them.

    >>> import congruence as cg
    >>> cg.random_partitions(100, 5, 4, random_state=0)
    Ensemble: 5 clusterings of 100 points, 2 to 4 clusters each
    """
    if n < 1 or n_members < 1 or kmax < 2:
        raise InputError(f"random_partitions needs n ≥ 1, n_members ≥ 1 and kmax ≥ 2, not {n}, {n_members} and {kmax}")
    rng = np.random.default_rng(random_state)
    return Ensemble([rng.integers(0, rng.integers(2, kmax + 1), n) for _ in range(n_members)])


@dataclass(frozen=True)
class PairSums:
    """Sums of a block of two similarity matrices: they add over blocks, and a few numbers say it all.

    Only entries above the diagonal are counted, by their global indices: give all blocks, or those above and on it.
    How many entries lie below, and sums of the indices, tell whether a block is missing or was added twice.
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
        return PairSums(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    def __radd__(self, other: Any) -> PairSums:
        return self if other == 0 else NotImplemented  # so that sum() works

    def to_dict(self) -> dict[str, float]:
        """The numbers by name; `PairSums(**d)` makes the record again."""
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
        """The same, where the second matrix is a partition's."""
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


def pair_sums(block_p: Any, block_q: Any, rows: Any, cols: Any) -> PairSums:
    """Sums of a block of two matrices whose rows and columns have these global indices; blocks add.

    >>> import congruence as cg, numpy as np
    >>> p, q = np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]), np.eye(3)
    >>> halves = [cg.pair_sums(p[s], q[s], range(3)[s], range(3)) for s in (slice(0, 2), slice(2, 3))]
    >>> round((halves[0] + halves[1]).arimm(), 4) == round(cg.arimm(p, q), 4)
    True
    """
    p, q = (np.asarray(b.toarray() if hasattr(b, "toarray") else b, dtype=np.float64) for b in (block_p, block_q))
    i, j = (np.arange(x.start or 0, x.stop) if isinstance(x, slice) else np.asarray(x, np.int64) for x in (rows, cols))
    if p.shape != (len(i), len(j)) or q.shape != p.shape:
        raise InputError(f"blocks of shape {p.shape} and {q.shape} do not fit {len(i)} rows and {len(j)} columns")
    if np.isnan(p).any() or np.isnan(q).any():
        raise InputError("a block has missing entries (NaN)")
    upper, diagonal = i[:, None] < j[None, :], i[:, None] == j[None, :]
    x, y, dx, dy = p[upper], q[upper], p[diagonal], q[diagonal]
    return PairSums(
        int(upper.sum()), float(x.sum()), float(y.sum()), float((x * y).sum()), float((x * x).sum()), float((y * y).sum()),
        int(diagonal.sum()), float((dx * dy).sum()), float((dx * dx).sum()), float((dy * dy).sum()),
        int((~upper & ~diagonal).sum()), int((i[:, None] + j[None, :])[upper].sum()), int(i[diagonal.any(axis=1)].sum()),
    )  # fmt: skip
