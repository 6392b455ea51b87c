"""Methods that compare points, with distance 1 − consensus: linkage (evidence accumulation) and clustering aggregation."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import DTypeLike

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.judging import log_chances
from congruence.consensus_clustering.methods import Found, Method, check_size, why_so_many
from congruence.errors import InputError
from congruence.formulas.record import Better
from congruence.machine.jit import compiled
from congruence.statistics.tables import Array

#: (signature, signature, height) of each merge, in order of their heights; a cluster is named by any of its signatures
Merges = tuple[Array, Array, Array]
#: above this many signatures, a matrix of them is kept in single precision
DOUBLE_UP_TO = 12_000
#: most mean votes that average linkage without gaps keeps (4 GB)
PROFILES_UP_TO = 500_000_000
#: with gaps average linkage keeps two matrices in double precision
GAPS_UP_TO = 12_000
#: up to this many signatures a matrix is used, which needs no compiled code
MATRIX_BELOW = 500
#: distinct points linked by variant="sample", and the least number per requested cluster
SAMPLE, SAMPLE_PER_CLUSTER = 2_500, 20
#: smaller differences of similarities count as ties: the sums have different orders
TIE = 1e-12
#: points are joined only below this distance: above it, most members separate them
HALF = 0.5
#: largest mean distance of a ball by variant: the value recommended in practice, and that of the proof (at most 3 × the optimum)
BALLS = {"practical": 0.4, "proven": 0.25}


def average_merges(e: Evidence) -> tuple[Merges, str, tuple[str, ...]]:
    """UPGMA. The mean consensus of two clusters is the product of their mean votes, so no matrix of points is needed.

    With gaps the mean is over the pairs that some member labels, so matrices of their sums and numbers are kept.
    """
    wide = e.n_columns > e.n_rows and e.n_rows <= GAPS_UP_TO  # a matrix of the distinct points is smaller
    if not (e.has_gaps or wide or e.n_rows < MATRIX_BELOW):
        if e.n_rows * e.n_columns > PROFILES_UP_TO:
            raise InputError(
                f"average linkage keeps the mean vote of each distinct point for each cluster, up to {PROFILES_UP_TO:,} numbers, "
                f"but there are {e.n_rows:,} × {e.n_columns:,}; use hbgf or kcc, or fewer members"
            )
        profiles = np.ascontiguousarray((e.votes * np.sqrt(e.weight)[None, :]).toarray().T)
        run = compiled(_chain_profiles)
        return _sorted(run(profiles, e.mass.copy(), e.n_rows)), "nearest-neighbour chain on mean votes", ()
    if e.has_gaps:
        check_size(e, "average linkage of partial members", GAPS_UP_TO)
    mass = np.outer(e.mass, e.mass)
    sums, unseen = _matrix(e, np.float64, never=-1.0)  # without gaps every pair is labelled
    known = np.where(sums >= 0, mass, 0.0)
    sums = np.maximum(sums, 0.0) * mass
    run = compiled(_chain_matrix, float(e.n_rows) ** 2)
    return _sorted(run(sums, known, True)), "nearest-neighbour chain on a matrix", _said(unseen)


def complete_merges(e: Evidence) -> tuple[Merges, str, tuple[str, ...]]:
    """The distance of two clusters is that of their least similar points."""
    dtype = np.float64 if e.n_rows <= DOUBLE_UP_TO else np.float32
    matrix, unseen = _matrix(e, dtype, never=0.0)
    run = compiled(_chain_matrix, float(e.n_rows) ** 2)
    notes = _said(unseen, counted=True)
    if dtype == np.float32:
        notes += ("consensus values are kept in single precision",)
    return _sorted(run(matrix, np.zeros((1, 1)), False)), "nearest-neighbour chain on a matrix", notes


def single_merges(e: Evidence) -> tuple[Merges, str, tuple[str, ...]]:
    """Minimum spanning tree (Prim), one row of the consensus matrix at a time."""
    n = e.n_rows
    nearest, parent = np.full(n, -1.0), np.zeros(n, dtype=np.int64)
    outside = np.ones(n, dtype=bool)
    a, b, height = np.zeros(n - 1, np.int64), np.zeros(n - 1, np.int64), np.zeros(n - 1)
    current = 0
    for step in range(n - 1):
        outside[current] = False
        row = e.agreement(current)
        better = outside & (row > nearest)
        nearest[better], parent[better] = row[better], current
        current = int(np.where(outside, nearest, -2.0).argmax())
        a[step], b[step], height[step] = parent[current], current, 1 - nearest[current]
    return _sorted((a, b, height)), "minimum spanning tree", ()


def _matrix(e: Evidence, dtype: DTypeLike, never: float) -> tuple[Array, int]:
    """Consensus of all pairs of signatures, and the number of pairs that no member labels; those get the value `never`."""
    found = np.empty((e.n_rows, e.n_rows), dtype=dtype)
    unseen = 0
    for i in range(e.n_rows):
        found[i] = e.agreement(i)
        if e.has_gaps:
            apart = ~(e.seen[:, e.seen[i]].any(axis=1))
            unseen += int(apart.sum())
            found[i, apart] = never
    return found, unseen // 2


def _said(unseen: int, counted: bool = False) -> tuple[str, ...]:
    if not unseen:
        return ()
    how = "count as apart" if counted else "do not count, and clusters with only such pairs count as apart"
    return (f"{unseen:,} pairs of distinct points are not labelled together by any member; they {how}",)


def _chain_profiles(profiles: Array, mass: Array, n: int) -> tuple[Array, ...]:
    """Nearest-neighbour chain; profiles are columns, and the remaining clusters are always the first of them.

    A cluster is named by its first signature; ties are broken by the first.
    """
    id_at, at_id = np.arange(n), np.arange(n)
    chain = np.empty(n, dtype=np.int64)
    length, start = 0, 0
    a, b, height = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    sims = np.empty(n)
    left = n
    for step in range(n - 1):
        if length == 0:
            while at_id[start] < 0:
                start += 1
            chain[0] = start
            length = 1
        while True:
            here = at_id[chain[length - 1]]
            sims[:left] = 0.0
            seen = np.flatnonzero(profiles[:, here])
            for first in range(0, len(seen) - 3, 4):  # four at a time: `sims` is read and written a quarter as often
                u, v, w, x = seen[first], seen[first + 1], seen[first + 2], seen[first + 3]
                at_u, at_v, at_w, at_x = profiles[u, here], profiles[v, here], profiles[w, here], profiles[x, here]
                of_u, of_v, of_w, of_x = profiles[u], profiles[v], profiles[w], profiles[x]
                for j in range(left):
                    sims[j] += at_u * of_u[j] + at_v * of_v[j] + at_w * of_w[j] + at_x * of_x[j]
            for u in seen[len(seen) - len(seen) % 4 :]:
                for j in range(left):
                    sims[j] += profiles[u, here] * profiles[u, j]
            sims[here] = -1.0
            to = int(np.argmax(sims[:left]))
            least = sims[to] - TIE
            for j in range(left):
                if sims[j] >= least and id_at[j] < id_at[to]:
                    to = j
            if length > 1 and sims[at_id[chain[length - 2]]] >= least:
                to = at_id[chain[length - 2]]  # prefer the previous cluster in a tie, so that the chain ends
                break
            chain[length] = id_at[to]
            length += 1
        length -= 2
        low, high = min(here, to), max(here, to)
        one, other = min(id_at[low], id_at[high]), max(id_at[low], id_at[high])
        a[step], b[step], height[step] = one, other, 1.0 - sims[to]
        total = mass[low] + mass[high]
        for u in range(len(profiles)):  # compiles in half the time of an expression of columns
            profiles[u, low] = (mass[low] * profiles[u, low] + mass[high] * profiles[u, high]) / total
        mass[low] = total
        id_at[low], at_id[one], at_id[other] = one, low, -1
        left -= 1
        if high != left:  # the last cluster moves to the free column
            for u in range(len(profiles)):
                profiles[u, high] = profiles[u, left]
            mass[high] = mass[left]
            id_at[high] = id_at[left]
            at_id[id_at[high]] = high
    return a, b, height


def _chain_matrix(matrix: Array, known: Array, mean: bool) -> tuple[Array, ...]:
    """The same on a matrix that is overwritten: sums and numbers of pairs (mean linkage), or similarities (complete linkage)."""
    n = len(matrix)
    alive = np.ones(n, dtype=np.bool_)
    chain = np.empty(n, dtype=np.int64)
    length = 0
    a, b, height = np.empty(n - 1, dtype=np.int64), np.empty(n - 1, dtype=np.int64), np.empty(n - 1)
    sims = np.empty(n)
    for step in range(n - 1):
        if length == 0:
            chain[0] = np.argmax(alive)
            length = 1
        while True:
            here = chain[length - 1]
            if mean:
                sims[:] = matrix[here] / np.maximum(known[here], 1e-300)
            else:
                sims[:] = matrix[here]
            sims[~alive] = -1.0
            sims[here] = -1.0
            least = np.max(sims) - TIE
            if length > 1 and sims[chain[length - 2]] >= least:
                to = chain[length - 2]
                break
            to = int(np.argmax(sims >= least))
            chain[length] = to
            length += 1
        length -= 2
        low, high = min(here, to), max(here, to)
        a[step], b[step], height[step] = low, high, 1.0 - sims[to]
        if mean:
            matrix[low] += matrix[high]
            known[low] += known[high]
            known[:, low] = known[low]
        else:
            matrix[low] = np.minimum(matrix[low], matrix[high])
        matrix[:, low] = matrix[low]
        alive[high] = False
    return a, b, height


def _sorted(merges: Merges) -> Merges:
    a, b, height = merges
    height = np.where(np.abs(height) < 1e-12, 0.0, height)
    order = np.argsort(np.round(height, 12), kind="stable")
    return a[order], b[order], height[order]


def cut(merges: Merges, n: int, k: int) -> Array:
    """Clusters after all but the last k − 1 merges: exactly k of them, even if heights are equal."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    a, b, _ = merges
    kept = max(n - k, 0)
    graph = csr_array((np.ones(kept), (a[:kept], b[:kept])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


def longest_lived(heights: Array, most: int) -> int:
    """Number of clusters with the longest lifetime over heights; at least 2, and at most as many as a member has.

    >>> longest_lived(np.array([0.0, 0.4, 0.5, 0.7]), 4), longest_lived(np.array([0.0, 0.4, 0.5, 0.7]), 3)
    (4, 2)
    """
    if len(heights) < 2:
        return len(heights) + 1
    lives = np.diff(heights)
    lives[: max(len(heights) - max(most, 2), 0)] = -1.0
    return int(len(heights) - lives.argmax())


def most_clusters(e: Evidence) -> int:
    """The largest number of clusters of a member."""
    return int(np.bincount(e.member).max())


def _run(
    build: Callable[[Evidence], tuple[Merges, str, tuple[str, ...]]],
    e: Evidence,
    k: int | None,
    rng: np.random.Generator,
    **_: object,
) -> Found:
    if e.n_rows == 1:
        return Found(np.zeros(1, np.int64), 0.0, "one signature")
    merges, solver, notes = build(e)
    if k is None:
        k = longest_lived(merges[2], most_clusters(e))
        notes += (why_so_many(k, "the longest dendrogram lifetime"),)
    last = float(merges[2][-k]) if k <= len(merges[2]) else 0.0
    return Found(cut(merges, e.n_rows, k), last, solver, notes)


def lifetime(e: Evidence, rng: np.random.Generator) -> int:
    """Number of clusters with the longest lifetime in the dendrogram of average linkage, of a sample of many signatures."""
    most = most_clusters(e)
    if e.n_rows > SAMPLE:
        e = e.taken(e.drawn(SAMPLE, rng)).counted()[0]
    return 1 if e.n_rows == 1 else longest_lived(average_merges(e)[0][2], most)


def average_run(e: Evidence, k: int | None, rng: np.random.Generator, variant: str = "full", **_: object) -> Found:
    """Average linkage of all signatures, or of a sample of them, the others placed by the likelihood of their votes."""
    n = max(SAMPLE, SAMPLE_PER_CLUSTER * (k or 0))
    if variant == "full" or e.n_rows <= n:
        return _run(average_merges, e, k, rng)
    chosen = e.drawn(n, rng)
    few = e.taken(chosen)
    part = _run(average_merges, few.counted()[0], k, rng)
    totals = few.totals(part.labels, int(part.labels.max()) + 1)
    placed = e.scores(log_chances(e, totals)).argmax(axis=1)
    placed[chosen] = part.labels
    note = f"average linkage ran on {n:,} of the {e.n_rows:,} distinct points; the others were placed by their votes"
    return Found(placed, part.objective, f"{part.solver}, on a sample", (*part.notes, note))


average = Method(
    key="average", title="Average linkage on the consensus", objective="height of the last merge", better=Better.LOWER,
    reference="fred2005", run=average_run, limit=100_000, own_number=True, variants=("full", "sample"), sampled=("sample",),
    advice="good on runs of one algorithm; splits off outliers if algorithms are mixed",
)  # fmt: skip
single = Method(
    key="single", title="Single linkage on the consensus", objective="height of the last merge", better=Better.LOWER,
    reference="fred2005", run=partial(_run, single_merges), limit=50_000, sampled=(), own_number=True,
    advice="depends on single pairs of points; never the best with noise, for comparison only",
)  # fmt: skip
complete = Method(
    key="complete", title="Complete linkage on the consensus", objective="height of the last merge", better=Better.LOWER,
    reference="fred2005", run=partial(_run, complete_merges), limit=25_000, sampled=(), own_number=True,
    advice="depends on single pairs of points; worse than average, for comparison only",
)  # fmt: skip


# --- clustering aggregation of Gionis, Mannila and Tsaparas (2007): the fewest disagreements on pairs of points
#
# No number of clusters is given: joining two points costs their distance, separating them costs 1 minus it.


def disagreements(e: Evidence, labels: Array) -> float:
    """The share of pairs of points on which a member, on the points it labels, disagrees with the labels; mean over members."""
    totals = e.totals(labels, int(labels.max()) + 1) * e.points_per_mass
    inside = e.by_member(totals)
    same = np.square(inside).sum(axis=0) + e.by_member(np.square(totals.sum(axis=0)))
    apart = same - 2 * e.by_member(np.square(totals).sum(axis=0))
    n = inside.sum(axis=0)
    return float(e.share @ (apart / np.maximum(n * (n - 1), 1.0)))


def _merged(e: Evidence, k: int | None, rng: np.random.Generator, **_: object) -> Found:
    """Average linkage until the nearest two clusters are half apart."""
    if e.n_rows == 1:
        return Found(np.zeros(1, np.int64), 0.0, "one signature")
    merges, solver, notes = average_merges(e)
    if k is None:
        k = e.n_rows - int((merges[2] < HALF).sum())
        notes += (why_so_many(k, "clusters are merged while most members would join them"),)
    labels = cut(merges, e.n_rows, k)
    return Found(labels, disagreements(e, labels), solver, notes)


def _balls(e: Evidence, k: int | None, rng: np.random.Generator, variant: str = "practical", **_: object) -> Found:
    """Points near a point form a cluster with it if their mean distance is small; else it stays alone with its equals."""
    labels = np.full(e.n_rows, -1)
    point = 1 / e.points_per_mass  # the mass of one point
    found = 0
    for centre in np.argsort(_remoteness(e), kind="stable").tolist():
        if labels[centre] >= 0:
            continue
        distance = 1 - e.agreement(centre)
        distance[centre] = 0.0
        near = (labels < 0) & (distance <= HALF)
        others = float(e.mass[near].sum()) - point  # equal points have distance 0
        if others > 0 and float(e.mass[near] @ distance[near]) / others <= BALLS[variant]:
            labels[near] = found
        else:
            labels[centre] = found
        found += 1
    notes = (why_so_many(found, f"balls around points, of a mean distance up to {BALLS[variant]:g}"),)
    return Found(labels, disagreements(e, labels), "balls", notes)


def _remoteness(e: Evidence) -> Array:
    """For each signature, its distances to all points, summed: central signatures come first."""
    if not e.has_gaps:
        return np.asarray(-np.round(e.scores(e.weight * e.sizes), 9))
    return np.array([round(float(e.mass @ (1 - e.agreement(i))), 9) for i in range(e.n_rows)])


agglomerative = Method(
    key="agglomerative", title="Clustering aggregation by merging", objective="share of pairs in disagreement",
    better=Better.LOWER, reference="gionis2007", run=_merged, limit=100_000, sampled=(), own_number=True,
    advice="average linkage that merges while most members would",
)  # fmt: skip
balls = Method(
    key="balls", title="Clustering aggregation by balls", objective="share of pairs in disagreement", better=Better.LOWER,
    reference="gionis2007", run=_balls, limit=25_000, sampled=(), own_number=True, takes_number=False, variants=tuple(BALLS),
    advice="takes no number of clusters; for comparison only",
)  # fmt: skip
