"""Random clusterings, memberships and weights for property tests; small edge cases are always included.

Everything is small enough for `naive.py`, which tries every permutation of clusters. Memberships and weights are
multiples of 1/8, so that sums that are equal mathematically are also equal in floating point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from hypothesis import strategies as st

MOST_POINTS = 12
MOST_CLUSTERS = 5


def partitions(n: int) -> list[list[int]]:
    """Every partition of n points, once: labels appear in the order 0, 1, 2, …"""

    def grown(labels: list[int], used: int) -> Iterator[list[int]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(used + 1):
            yield from grown([*labels, label], max(used, label + 1))

    return list(grown([], 0))


def profiles(n: int) -> list[list[int]]:
    """One partition of n points for each list of cluster sizes, largest first: [0, 0, 0, 1] for sizes 3 and 1."""
    sizes = {tuple(sorted(np.bincount(p).tolist(), reverse=True)) for p in partitions(n)}
    return [list(itertools.chain(*([i] * size for i, size in enumerate(s)))) for s in sorted(sizes)]


def same_partition(a: list[int], b: list[int]) -> bool:
    """Whether the labels put the same points together."""
    return len(set(a)) == len(set(b)) == len(set(zip(a, b, strict=True)))


def clusterings(n: int, most: int = MOST_CLUSTERS) -> st.SearchStrategy[list[int]]:
    """Labels of n points: random, or one cluster, or all singletons (where that is not too many clusters)."""
    random = st.integers(1, min(n, most)).flatmap(lambda k: st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    strange = [[0] * n] + ([list(range(n))] if n <= most + 1 else [])
    return st.one_of(random, random, st.sampled_from(strange))


def several(count: int, most_points: int = MOST_POINTS) -> st.SearchStrategy[tuple[list[int], ...]]:
    """This many clusterings of the same points, n = 1 included."""
    return st.integers(1, most_points).flatmap(lambda n: st.tuples(*[clusterings(n)] * count))


def pairs(most_points: int = MOST_POINTS) -> st.SearchStrategy[tuple[list[int], list[int]]]:
    """Two clusterings of the same points; sometimes the same partition under other names."""

    def renamed(a: list[int]) -> st.SearchStrategy[tuple[list[int], list[int]]]:
        return st.permutations(range(max(a) + 1)).map(lambda names: (a, [names[x] for x in a]))

    same = st.integers(1, most_points).flatmap(clusterings).flatmap(renamed)
    different = several(2, most_points)
    return st.one_of(different, different, different, same)


def rows_of_memberships(k: int, probabilistic: bool) -> st.SearchStrategy[list[float]]:
    """The memberships of one point in k clusters, in eighths: they add up to 1, or to anything but 0."""
    if probabilistic:
        cuts = st.lists(st.integers(0, 8), min_size=k - 1, max_size=k - 1).map(sorted)
        return cuts.map(lambda c: [(y - x) / 8 for x, y in itertools.pairwise([0, *c, 8])])
    return st.lists(st.integers(0, 8).map(lambda x: x / 8), min_size=k, max_size=k).filter(any)


def memberships(n: int, probabilistic: bool = True) -> st.SearchStrategy[list[list[float]]]:
    """Memberships of n points in 1 to 3 clusters, one row per point."""
    return st.integers(1, 3).flatmap(lambda k: st.lists(rows_of_memberships(k, probabilistic), min_size=n, max_size=n))


def pairs_of_memberships(probabilistic: bool = True) -> st.SearchStrategy[tuple[list[list[float]], list[list[float]]]]:
    """Memberships of the same points in two clusterings; one point has no pairs to count and is left to crisp input."""
    kind = st.integers(2, 7).flatmap(lambda n: st.tuples(memberships(n, probabilistic), memberships(n, probabilistic)))
    return kind.filter(lambda uv: bool((np.transpose(uv[0]) @ np.array(uv[1])).any()))


def weights(n: int) -> st.SearchStrategy[list[float]]:
    """Importance weights in eighths, not all 0."""
    return st.lists(st.integers(0, 16).map(lambda x: x / 8), min_size=n, max_size=n).filter(any)


def weighted_pairs() -> st.SearchStrategy[tuple[list[int], list[int], list[float]]]:
    """Two clusterings of the same points, and weights of the points."""
    return several(2, 9).flatmap(lambda ab: st.tuples(st.just(ab[0]), st.just(ab[1]), weights(len(ab[0]))))


def counted_pairs() -> st.SearchStrategy[tuple[list[int], list[int], list[int]]]:
    """Two clusterings of the same points, and how often each point occurs (0 to 3 times, not always 0)."""
    counts = lambda n: st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any)  # noqa: E731
    return several(2, 7).flatmap(lambda ab: st.tuples(st.just(ab[0]), st.just(ab[1]), counts(len(ab[0]))))
