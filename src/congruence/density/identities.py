"""Which cluster of a window is which of the reference, by where they lie; renamed labels are no change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from congruence.density.profile import Profile
from congruence.statistics.tables import Array

#: clusters of different names can be the same if no attribute's distribution functions differ by more than this
MOST_APART = 0.5
#: or if the squares of these differences are at most this on average: it moved far along one of eight attributes
ON_THE_WHOLE = 0.125
#: a name stays unless the evidence against it (n · D², summed over the attributes) exceeds this times their root, plus 1:
#: three standard deviations of what two equal clusters differ by
NAME = 1.5
#: a part lies inside a cluster if this share of its points is between these quantiles of the cluster, in every attribute
INSIDE, TAIL = 0.75, 0.01
#: a cluster that split or merged must have lost or gained at least this share of the part's points
PASSED_ON = 0.5
#: pairs of clusters × bins above which clusters are matched by name only
MOST_WORK = 2e8

Fate = Literal["same", "new", "gone", "split", "merged"]


@dataclass(frozen=True)
class Kin:
    """Clusters of the reference and of a window that are the same, or what became of one.

    Attributes:
        before: Rows of the reference.
        after: Rows of the window.
        fate: "same", "new", "gone", "split" (one row before, several after) or "merged" (several before).
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    fate: Fate = "same"


def kin_of(a: Profile, b: Profile, named: bool = True) -> list[Kin]:
    """The clusters of two profiles by kinship: every row of either is in exactly one. Names count, if `named`,
    unless the data contradict them.

    >>> from congruence.density.profile import Profile
    >>> a = Profile.of([[90, 10, 0], [0, 20, 80]], clusters=["x", "y"])
    >>> b = Profile.of([[0, 20, 80], [90, 10, 0]], clusters=["x", "y"])
    >>> [(kin.before, kin.after) for kin in kin_of(a, b)]
    [((0,), (1,)), ((1,), (0,))]
    """
    rows, cols = (np.flatnonzero(p.sizes > 0) for p in (a, b))
    matched = _by_name(a, b, rows, cols)
    if len(rows) * len(cols) * float(a.counts.shape[1]) <= MOST_WORK and len(rows) and len(cols):
        matched = _by_place(a, b, rows, cols, named)
    partner = dict(matched)
    lost = [i for i in rows.tolist() if i not in partner]
    found = [j for j in cols.tolist() if j not in partner.values()]
    groups = {i: ([i], [j]) for i, j in matched}
    fates: list[Kin] = []
    scale = float(a.sizes.sum()) / max(float(b.sizes.sum()), 1e-300)
    for j in found:
        parent = next(
            (i for i, k in matched if a.sizes[i] - b.sizes[k] * scale >= PASSED_ON * b.sizes[j] * scale
             and _inside(a, i, b, j)), None,
        )  # fmt: skip
        if parent is None:
            fates.append(Kin((), (j,), "new"))
        else:
            groups[parent][1].append(j)
    back = {j: i for i, j in matched}
    for i in lost:
        into = next(
            (j for j, k in back.items() if b.sizes[j] * scale - a.sizes[k] >= PASSED_ON * a.sizes[i]
             and _inside(b, j, a, i)), None,
        )  # fmt: skip
        if into is None:
            fates.append(Kin((i,), (), "gone"))
        else:
            groups[back[into]][0].append(i)
    for before, after in groups.values():
        before.sort(key=lambda i: a.clusters[i] != b.clusters[after[0]])  # a merger keeps the name that it has
        fate: Fate = "split" if len(after) > 1 else "merged" if len(before) > 1 else "same"
        fates.append(Kin(tuple(before), tuple(after), fate))
    return sorted(fates, key=lambda kin: (kin.before[:1] or (len(a.sizes),), kin.after))


def _by_name(a: Profile, b: Profile, rows: Array, cols: Array) -> list[tuple[int, int]]:
    place = {b.clusters[j]: j for j in cols.tolist()}
    return [(i, place[a.clusters[i]]) for i in rows.tolist() if a.clusters[i] in place]


def _by_place(a: Profile, b: Profile, rows: Array, cols: Array, named: bool) -> list[tuple[int, int]]:
    """Pairs by an optimal assignment on the distance of their distributions; names count unless the data contradict them."""
    many = np.array([[a.sizes[i] * b.sizes[j] / (a.sizes[i] + b.sizes[j]) for j in cols] for i in rows], dtype=float)
    cost, apart = np.zeros(many.shape), np.zeros(many.shape)
    for f in range(len(a.attributes)):
        distance = _apart(a, b, f, rows, cols)
        cost += many * distance**2
        apart = np.maximum(apart, distance)
    n_attributes = max(len(a.attributes), 1)
    same = np.array([[named and a.clusters[i] == b.clusters[j] for j in cols] for i in rows])
    noise = np.sqrt(np.log(2 * n_attributes / 0.01) / 2 / np.maximum(many, 1e-9))
    alike = (apart - noise <= MOST_APART) | (cost <= ON_THE_WHOLE * n_attributes * many)
    unlike = MOST_APART**2 * n_attributes * many
    wanted = np.where(alike | same, np.minimum(cost, unlike), unlike) - same * (NAME * np.sqrt(n_attributes) + 1)
    pairs = [(i, j) for i, j in zip(*linear_sum_assignment(wanted), strict=True) if alike[i, j] or same[i, j]]
    known = {a.clusters[i] for i in rows.tolist()}
    renamed = any(not same[i, j] and b.clusters[cols[j]] in known for i, j in pairs)
    return [(int(rows[i]), int(cols[j])) for i, j in pairs if alike[i, j] or not renamed]


def shares(p: Profile, f: int, rows: Array | Sequence[int]) -> Array:
    """The share of each cluster's points in each bin of an attribute."""
    counts = p.counts[rows, p.starts[f] : p.starts[f + 1]].astype(float)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300))


def _apart(a: Profile, b: Profile, f: int, rows: Array, cols: Array) -> Array:
    """Largest difference of the distribution functions, or half the sum of differences for nominal attributes."""
    p, q = shares(a, f, rows), shares(b, f, cols)
    if a.attributes[f].values is not None:
        return np.array([np.abs(x - q).sum(axis=1) / 2 for x in p])
    p, q = np.cumsum(p, axis=1), np.cumsum(q, axis=1)
    return np.array([np.abs(x - q).max(axis=1) for x in p])


def _inside(a: Profile, i: int, b: Profile, j: int) -> bool:
    """Whether the points of cluster j of b lie where those of cluster i of a are, in every attribute."""
    for f, attribute in enumerate(a.attributes):
        (p,), (q,) = shares(a, f, [i]), shares(b, f, [j])
        if attribute.values is not None:
            here = p >= TAIL
        else:
            reached = np.cumsum(p)
            here = (reached >= TAIL) & (reached - p <= 1 - TAIL)
        if q[here].sum() < INSIDE:
            return False
    return True
