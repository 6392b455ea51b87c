"""What the clusters of two steps have in common, for each kind of step, beside what chance would give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, ndtr

from congruence.inputs.steps import Step
from congruence.statistics.tables import Array

#: bins per feature in which the density profiles of two clusters are compared, and the tails outside them
BINS, TAIL = 20, 0.005
#: neighbours of a point in the other step, and the least share of them in a cluster that is compared
NEIGHBOURS, LEAST_NEAR = 10, 0.5
#: shuffles that give the spread of shared memberships, and of overlaps of profiles
SHUFFLES = 50
#: shares of a soft cluster that add up to less are divided by this
LEAST_RECOVERED = 0.5


@dataclass(frozen=True, eq=False)
class Overlap:
    """The pairs of clusters of two steps that have something in common.

    Attributes:
        row: Cluster of the earlier step, one per pair.
        col: Cluster of the later step.
        shared: Points in both (labels, covers), the sum of the smaller memberships, or the overlap of the profiles in points.
        share_before: The share of the earlier cluster that this is, corrected for chance for memberships.
        share_after: The share of the later cluster.
        p_value: The probability of as much in common if points were shuffled; None if it follows from the sizes.
        sizes: The sizes of all clusters of both steps.
        came: For each later cluster, how many of its points were absent before; None if steps have their own points.
        left: For each earlier cluster, how many of its points are absent after.
        totals: For both steps, the points present, and how many of them are absent in the other.
    """

    row: Array
    col: Array
    shared: Array
    share_before: Array
    share_after: Array
    p_value: Array | None
    sizes: tuple[Array, Array]
    came: Array | None = None
    left: Array | None = None
    totals: tuple[tuple[int, int], tuple[int, int]] = ((0, 0), (0, 0))

    def only(self, keep: Array) -> Overlap:
        """The overlap with some of its pairs only."""
        names = ("row", "col", "shared", "share_before", "share_after")
        return replace(
            self,
            p_value=None if self.p_value is None else self.p_value[keep],
            **{name: getattr(self, name)[keep] for name in names},
        )


def probability(overlap: Overlap) -> Array:
    """For each pair of clusters, the probability of as much in common if points were shuffled among the clusters."""
    if overlap.p_value is not None:
        return overlap.p_value.copy()
    assert overlap.left is not None  # both steps have the same points
    assert overlap.came is not None
    (present, gone), _ = overlap.totals
    here = [(size - moved)[of] for size, moved, of in zip(
        overlap.sizes, (overlap.left, overlap.came), (overlap.row, overlap.col), strict=True
    )]  # fmt: skip
    return upper_tail(overlap.shared, present - gone, *here)


def upper_tail(shared: Array, n: int | Array, a: Array, b: Array) -> Array:
    """The hypergeometric probability of at least this many points in common between a and b of n points.

    >>> upper_tail(np.array([2, 1]), 4, np.array([2, 2]), np.array([2, 2])).round(4).tolist()
    [0.1667, 0.8333]
    """
    x, n, a, b = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (shared, n, a, b)))
    most, least = np.minimum(a, b), np.maximum(a + b - n, 0)
    up = x > a * b / np.maximum(n, 1)  # sum the tail that falls off, from its largest term
    at = np.clip(np.where(up, x, x - 1), least, most)
    log_term = (
        gammaln(a + 1) - gammaln(at + 1) - gammaln(a - at + 1) + gammaln(n - a + 1) - gammaln(b - at + 1)
        - gammaln(n - a - b + at + 1) - gammaln(n + 1) + gammaln(b + 1) + gammaln(n - b + 1)
    )  # fmt: skip
    term = np.exp(log_term)
    total, going = term.copy(), np.ones(len(x), dtype=bool)
    while going.any():
        i = np.flatnonzero(going)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(
                up[i],
                (a[i] - at[i]) * (b[i] - at[i]) / ((at[i] + 1) * (n[i] - a[i] - b[i] + at[i] + 1)),
                at[i] * (n[i] - a[i] - b[i] + at[i]) / ((a[i] - at[i] + 1) * (b[i] - at[i] + 1)),
            )
        term[i] *= np.where(np.isfinite(ratio), ratio, 0.0)
        at[i] += np.where(up[i], 1, -1)
        total[i] += term[i]
        going[i] = term[i] > 1e-14 * total[i]
    found = np.where(up, total, 1 - total)
    return np.asarray(np.clip(np.where(x <= least, 1.0, np.where(x > most, 0.0, found)), 0.0, 1.0))


def _share(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.zeros(np.broadcast_shapes(part.shape, whole.shape)), where=whole > 0)


def overlap_of_members(a: Step, b: Step) -> Overlap:
    """The overlap of two steps of the same points, by the points or memberships they share.

    >>> from congruence.inputs.steps import history_of
    >>> found = overlap_of_members(*history_of([[0, 0, 1, 1], [0, 1, 1, 1]]).steps)
    >>> found.shared.tolist(), found.share_before.tolist()
    ([1, 1, 2], [0.5, 0.5, 1.0])
    """
    if a.is_soft or b.is_soft:
        return _overlap_of_memberships(a, b)
    table = a.shared(b)
    order = np.lexsort((table.col, table.row))
    row, col, shared = table.row[order], table.col[order], table.data[order]
    (n, here_a), (_, here_b) = a.also_in(b), b.also_in(a)
    totals = (a.n_present, a.n_present - n), (b.n_present, b.n_present - n)
    return Overlap(
        row, col, shared, _share(shared, a.sizes[row]), _share(shared, b.sizes[col]),
        None, (a.sizes, b.sizes),
        b.sizes - here_b, a.sizes - here_a, totals,
    )  # fmt: skip


def _overlap_of_memberships(a: Step, b: Step) -> Overlap:
    """Sums of the smaller memberships, and their excess over those of shuffled points."""
    u, v = (np.asarray(x.members.toarray() if not x.is_soft else x.members, dtype=float) for x in (a, b))
    both = a.present & b.present
    u, v = u[both], v[both]
    n, shape = len(u), (u.shape[1], v.shape[1])
    shared, expected, spread = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    rng = np.random.default_rng(0)
    orders = [rng.permutation(n) for _ in range(SHUFFLES)]
    for j in range(shape[1]):
        sorted_v = np.sort(v[:, j])
        below = np.concatenate([[0.0], np.cumsum(sorted_v)])
        for i in range(shape[0]):
            shared[i, j] = np.minimum(u[:, i], v[:, j]).sum()
            smaller = np.searchsorted(sorted_v, u[:, i])
            expected[i, j] = (below[smaller] + (n - smaller) * u[:, i]).sum() / max(n, 1)
            drawn = [np.minimum(u[:, i], v[order, j]).sum() for order in orders]
            spread[i, j] = np.sqrt(np.mean((np.array(drawn) - expected[i, j]) ** 2)) if n else 0.0
    sizes_a, sizes_b = u.sum(axis=0), v.sum(axis=0)
    excess = np.maximum(shared - expected, 0.0)
    before = _recovered(_share(excess, np.maximum(sizes_a[:, None] - expected, 0.0)), axis=1)
    after = _recovered(_share(excess, np.maximum(sizes_b[None, :] - expected, 0.0)), axis=0)
    p_value = ndtr(-_share(shared - expected, spread))
    row, col = np.nonzero(excess > 1e-12 * max(n, 1))
    totals = (
        (int(a.present.sum()), int((a.present & ~both).sum())),
        (int(b.present.sum()), int((b.present & ~both).sum())),
    )
    return Overlap(
        row, col, shared[row, col], before[row, col], after[row, col], p_value[row, col], (a.sizes, b.sizes),
        b.sizes - sizes_b, a.sizes - sizes_a, totals,
    )  # fmt: skip


def _recovered(share: Array, axis: int) -> Array:
    """Shares that add up to 1 where they add up to at least a half: noise in memberships lowers all shares of a cluster alike."""
    return np.asarray(share / np.clip(share.sum(axis=axis, keepdims=True), LEAST_RECOVERED, 1.0))


def overlap_of_profiles(a: Step, b: Step, x_a: Array, x_b: Array) -> Overlap:
    """The overlap of two steps of different points: the least overlap of the clusters' histograms over all features."""
    both = np.concatenate([x_a, x_b])
    low, high = np.quantile(both, [TAIL, 1 - TAIL], axis=0)
    width = np.where(high > low, high - low, 1.0)

    def binned(x: Array) -> Array:
        return np.asarray(np.clip(((x - low) / width * BINS).astype(np.int64) + 1, 0, BINS + 1) * (high > low))

    bins = binned(x_a), binned(x_b)
    counts = [_histograms(step, where) for step, where in zip((a, b), bins, strict=True)]
    shared = np.where(_near(a, b, (x_a - low) / width, (x_b - low) / width), _least(*counts), 0.0)
    rng = np.random.default_rng(0)
    drawn = np.zeros(shared.shape)
    for _ in range(SHUFFLES):
        shuffled = [rng.permutation(len(where)) for where in bins]
        drawn += _least(*(_histograms(s, w[o]) for s, w, o in zip((a, b), bins, shuffled, strict=True))) >= shared
    row, col = np.nonzero(shared)
    found = shared[row, col]
    return Overlap(
        row, col, found, _share(found, a.sizes[row]), _share(found, b.sizes[col]),
        (drawn[row, col] + 1) / (SHUFFLES + 1), (a.sizes, b.sizes),
    )  # fmt: skip


def _histograms(step: Step, where: Array) -> Array:
    """Clusters × features × bins: how many points of each cluster are in each bin."""
    features = where.shape[1]
    found = np.zeros((step.members.shape[1], features, BINS + 2))
    for f in range(features):
        table = np.zeros((len(where), BINS + 2))
        table[np.arange(len(where)), where[:, f]] = 1.0
        found[:, f] = step.members.T @ table
    return found


def _least(a: Array, b: Array) -> Array:
    """For each pair of clusters, the least overlap over the features."""
    found = np.array([np.minimum(one[None], b).sum(axis=2).min(axis=1) for one in a])
    return np.asarray(found.reshape(len(a), len(b)))


def _near(a: Step, b: Step, x_a: Array, x_b: Array) -> Array:
    """Whether half of the neighbours of either cluster in the other step is in the other cluster.

    Profiles of single features cannot tell clusters at opposite corners of a lattice from one cluster; neighbours can.
    """
    from scipy.spatial import cKDTree

    found = []
    for own, other, x, y in ((a, b, x_a, x_b), (b, a, x_b, x_a)):
        _, near = cKDTree(y).query(x, k=min(NEIGHBOURS, len(y)))
        near = near.reshape(len(x), -1)
        votes = sum(other.members[near[:, j]] for j in range(near.shape[1])) / near.shape[1]
        table = own.members.T @ votes
        table = np.asarray(table.toarray() if hasattr(table, "toarray") else table)
        found.append(table / np.maximum(own.sizes[:, None], 1e-300))
    return np.asarray((found[0] >= LEAST_NEAR) | (found[1].T >= LEAST_NEAR))
