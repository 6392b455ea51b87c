"""Tests of a window against the reference: sizes of clusters, and every attribute within each cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.special import log_ndtr

from congruence.density.identities import Kin
from congruence.density.profile import Attribute, Profile
from congruence.statistics.tables import Array
from congruence.tracking.overlaps import upper_tail

#: what a test of a numeric attribute sees
LOCATION, SPREAD, SHAPE, VALUES = 0, 1, 2, 3
#: drawn cells that tell how conservative the tests are, and the p-value at which that is read
DRAWS, AT = 4_000, 0.05
#: p-values are not smaller than this
LEAST = 1e-300


@dataclass(frozen=True, eq=False)
class Cells:
    """The tests of attributes within clusters.

    Attributes:
        log_p: Clusters × attributes: logarithm of the p-value of the strongest test, corrected for their number.
        which: The strongest test: of location, spread, shape, or the values of a nominal attribute.
        sign: Its direction: 1 for larger values or more spread, −1 for smaller values or less spread.
    """

    log_p: Array
    which: Array
    sign: Array


def united(p: Profile, groups: Sequence[Sequence[int]]) -> Array:
    """The counts of groups of clusters: groups × bins."""
    return np.array([p.counts[list(group)].sum(axis=0) for group in groups]).reshape(len(groups), p.counts.shape[1])


def cells_of(a: Array, b: Array, attributes: Sequence[Attribute]) -> Cells:
    """The tests of all attributes within each cluster."""
    shape = (len(a), len(attributes))
    found = Cells(np.zeros(shape), np.zeros(shape, dtype=np.int64), np.zeros(shape))
    start = 0
    for f, attribute in enumerate(attributes):
        end = start + attribute.n_bins
        test = _nominal if attribute.values is not None else _numeric
        found.log_p[:, f], found.which[:, f], found.sign[:, f] = test(a[:, start:end], b[:, start:end], attribute)
        start = end
    return found


def _numeric(a: Array, b: Array, attribute: Attribute) -> tuple[Array, Array, Array]:
    """Rank tests of location and spread, and Kolmogorov–Smirnov; missing values by their number."""
    some_missing = attribute.takes_missing and bool((a[:, -1] + b[:, -1]).any())
    if some_missing:
        missing = _two_sided(b[:, -1], a[:, -1], b.sum(axis=1), a.sum(axis=1))
        more = np.sign(b[:, -1] * a.sum(axis=1) - a[:, -1] * b.sum(axis=1))
    a, b = (x[:, : attribute.regular].astype(float) for x in (a, b))
    n, m = a.sum(axis=1), b.sum(axis=1)
    both, whole = a + b, np.maximum(n + m, 1.0)
    rank = (np.cumsum(both, axis=1) - both / 2) / whole[:, None] - 0.5
    z = np.array([_rank_test(score, b, both, n, m) for score in (rank, np.abs(rank))])
    log_p = np.log(2) + log_ndtr(-np.abs(z))
    p, q = (np.cumsum(x, axis=1) / np.maximum(many, 1.0)[:, None] for x, many in ((a, n), (b, m)))
    apart = np.abs(p - q).max(axis=1, initial=0.0)
    ks = np.minimum(np.log(2) - 2 * apart**2 * n * m / whole, 0.0)
    tests = [*log_p, ks]
    signs = [*np.sign(z), np.zeros(len(a))]
    if some_missing:
        tests.append(missing)
        signs.append(more)
    stacked, directions = np.where((n > 0) & (m > 0), tests, 0.0), np.array(signs)
    if some_missing:
        stacked[-1] = missing
    which = stacked.argmin(axis=0)
    at = which, np.arange(len(a))
    return np.minimum(stacked[at] + np.log(len(stacked)), 0.0), which, directions[at]


def _rank_test(score: Array, b: Array, both: Array, n: Array, m: Array) -> Array:
    """The normal deviate of the sum of scores in the window, given those of both together."""
    whole = np.maximum(n + m, 1.0)
    centred = score - ((both * score).sum(axis=1) / whole)[:, None]
    variance = (both * centred**2).sum(axis=1) / whole * n * m / np.maximum(whole - 1, 1.0)
    total = (b * centred).sum(axis=1)
    return np.asarray(np.divide(total, np.sqrt(variance), out=np.zeros(len(b)), where=variance > 1e-300))


def _nominal(a: Array, b: Array, attribute: Attribute) -> tuple[Array, Array, Array]:
    """The value whose share changed most, by exact tests."""
    n, m = a.sum(axis=1), b.sum(axis=1)
    tests = np.array([_two_sided(y, x, m, n) for x, y in zip(a.T, b.T, strict=True)]).reshape(a.shape[1], len(a))
    if not len(tests):
        return np.zeros(len(a)), np.zeros(len(a), dtype=np.int64), np.zeros(len(a))
    which = tests.argmin(axis=0)
    rows = np.arange(len(a))
    used = np.maximum((a + b > 0).sum(axis=1), 1)
    sign = np.sign(b[rows, which] * n - a[rows, which] * m)
    return np.minimum(tests[which, rows] + np.log(used), 0.0), which, sign


def _two_sided(x: Array, y: Array, m: Array, n: Array) -> Array:
    """Logarithm of the exact p-value that x of m and y of n points differ in their share, twice the smaller tail."""
    x, y, m, n = (np.rint(np.asarray(v, dtype=float)).astype(np.int64) for v in (x, y, m, n))
    # a large x has a small upper tail, a small x a large y
    least = np.minimum(upper_tail(x, m + n, x + y, m), upper_tail(y, m + n, x + y, n))
    return np.asarray(np.minimum(np.log(np.maximum(2 * least, LEAST)), 0.0))


def size_tests(a: Array, b: Array) -> Array:
    """Logarithm of the p-value that each cluster's share of the points is the same in the reference and in the window.

    >>> import numpy as np
    >>> np.exp(size_tests(np.array([50, 50]), np.array([10, 90]))).round(9).tolist()
    [1e-09, 1e-09]
    """
    return _two_sided(b, a, np.full(len(b), b.sum()), np.full(len(a), a.sum()))


def conservative(a: Array, sizes: Array, attributes: Sequence[Attribute], seed: int = 0) -> float:
    """How many small p-values the tests of cells give where nothing changes, relative to uniform ones: at most 1.

    Cells of the size of the window are drawn from the reference, which is drawn again too.
    """
    rng = np.random.default_rng(seed)
    starts = np.concatenate([[0], np.cumsum([x.n_bins for x in attributes])])
    n_cells = len(a) * len(attributes)
    small = total = 0
    share = max(1, DRAWS // max(n_cells, 1))
    chosen = np.arange(n_cells) if n_cells <= DRAWS else rng.choice(n_cells, DRAWS, replace=False)
    for f in np.unique(chosen % max(len(attributes), 1)).tolist():
        own = slice(starts[f], starts[f + 1])
        drawn_a, drawn_b = [], []
        for i in (chosen[chosen % len(attributes) == f] // len(attributes)).tolist():
            n, m = round(float(a[i, own].sum())), round(float(sizes[i]))
            if n and m:
                p = a[i, own] / a[i, own].sum()
                drawn_a.append(rng.multinomial(n, p, size=share))
                drawn_b.append(rng.multinomial(m, p, size=share))
        if drawn_a:
            log_p = cells_of(np.vstack(drawn_a), np.vstack(drawn_b), [attributes[f]]).log_p
            small += int((log_p <= np.log(AT)).sum())
            total += log_p.size
    return min(1.0, max(small, 1) / (AT * total)) if total else 1.0


def kin_sizes(a: Profile, b: Profile, kin: Sequence[Kin]) -> tuple[Array, Array]:
    """The points of each kin in both profiles."""
    before = np.array([a.sizes[list(x.before)].sum() if x.before else 0 for x in kin])
    after = np.array([b.sizes[list(x.after)].sum() if x.after else 0 for x in kin])
    return before, after


def drawn_windows(p: Profile, many: int, draws: int, seed: int = 0) -> list[Profile]:
    """Windows drawn from a profile: sizes of clusters first, then each attribute by itself."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(draws):
        sizes = rng.multinomial(many, p.sizes / max(float(p.sizes.sum()), 1e-300)) if p.n else p.sizes
        counts = np.zeros(p.counts.shape, dtype=np.int64)
        for start, end in pairwise(p.starts.tolist()):
            own = p.counts[:, start:end].astype(float)
            whole = own.sum(axis=1)
            share = np.divide(
                own, whole[:, None], out=np.full(own.shape, 1 / max(end - start, 1)), where=whole[:, None] > 0
            )
            counts[:, start:end] = rng.multinomial(sizes, share / share.sum(axis=1, keepdims=True))
        found.append(replace(p, counts=counts, sizes=sizes, outside=np.zeros_like(p.outside), detail=None))
    return found
