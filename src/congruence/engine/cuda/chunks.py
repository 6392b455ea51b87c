"""Tables of any shape: points sorted by the clusters of one clustering, cells found by hashing, or by sorting their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from congruence.engine.cuda.stacks import Stack, i32, i64
from congruence.machine.device import ctype, cupy, kernel
from congruence.statistics.information import terms_of
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray

#: (largest cluster, points per chunk, bits, threads): clusters up to this size are counted in chunks of about this many
#: points, in hash tables of 2^bits cells; the cells of larger clusters are sorted
CHUNKS = ((64, 1 << 10, 11, 256), (1 << 10, 1 << 10, 12, 256), (1 << 12, 1 << 12, 14, 512))

SQUARES, LOGS, ROWS, COLUMNS, SUMS = range(5)


def any_shape(
    stack: Stack,
    row: int,
    clusters: Clusters,
    others: Array,
    terms: tuple[DeviceArray, ...],
    maxima: bool,
    upload: Callable[[Array], DeviceArray],
) -> DeviceArray:
    """Sums of the tables of one clustering of a stack with others."""
    cp = cupy()
    order, begin = sorted_points(stack, row, clusters), clusters.begin
    rows, points = clusters.rows, clusters.points
    widths = stack.k[others]
    lines, across = upload(others.astype(np.int32)), upload(widths.astype(np.uint32))
    alone = stack.n - points[0]
    own = [alone, alone * int(terms_of(np.array([1]), stack.n)[0]), alone, 0]
    sums = cp.tile(upload(np.array(own, dtype=np.uint64)), (len(others), 1))
    sort_from = 0
    for kind, (most, size, bits, threads) in enumerate(CHUNKS):
        target = min(size, 2 * ((2**32 - 1) // int(widths.max())) - most)  # so that keys stay below 2³²
        if target < 2:
            break
        sort_from = kind + 1
        first, last, start, end = rows[kind + 1], rows[kind], points[kind + 1], points[kind]
        if first == last:
            continue
        # ranges of rows with fewer than target + most points
        cut = cp.searchsorted(begin[first + 1 : last + 1], cp.arange(start, end, target, dtype=np.uint32), side="right")
        chunks = cp.empty((len(cut), 2), np.int32)
        chunks[:, 0] = cut + first
        chunks[:-1, 1] = chunks[1:, 0]
        chunks[-1, 1] = last
        count = kernel("chunked", ctype(stack.codes), maxima)
        for top in range(0, len(others), 1 << 15):
            part = slice(top, top + (1 << 15))
            count(
                (len(chunks), len(lines[part])), (threads,),
                (stack.codes, i64(stack.codes.strides[0] // stack.codes.itemsize), lines[part], across[part], order,
                 begin, chunks, i32(bits), *terms, sums[part]),
                shared_mem=(8 << bits) + 4 * (size + most),
            )  # fmt: skip
    if rows[sort_from]:
        _by_sorting(stack, (order, begin), rows[sort_from], points[sort_from], others, terms, maxima, sums)
    return sums


@dataclass(frozen=True)
class Clusters:
    """The clusters of one clustering by size, the largest first."""

    #: the place of each cluster in this order, and where its points start, on the GPU
    place: DeviceArray
    begin: DeviceArray
    #: how many clusters have more than one point, and more than each kind of CHUNKS, and how many points these have
    rows: list[int]
    points: list[int]


def by_size(stack: Stack, rows: Sequence[int], upload: Callable[[Array], DeviceArray]) -> list[Clusters]:
    """The clusters of these clusterings by size."""
    cp = cupy()
    least = ~upload(np.array([1, *(kind[0] for kind in CHUNKS)], dtype=np.uint32))
    found, limits = [], []
    for row in rows:
        sizes = upload(stack.sizes[row].astype(np.uint32))
        order = cp.argsort(~sizes)
        place = cp.empty(len(sizes), np.uint32)
        place[order] = cp.arange(len(sizes), dtype=np.uint32)
        begin = cp.zeros(len(sizes) + 1, np.uint32)
        begin[1:] = cp.cumsum(sizes[order])
        above = cp.searchsorted(~sizes[order], least)
        found.append((place, begin))
        limits.append(cp.stack([above, begin[above].astype(np.int64)]))
    return [Clusters(*x, *limit) for x, limit in zip(found, cp.stack(limits).tolist(), strict=True)]


def sorted_points(stack: Stack, row: int, clusters: Clusters) -> DeviceArray:
    """The points of a clustering sorted by cluster, the largest first."""
    return cupy().argsort(clusters.place[stack.codes[row, : stack.n]]).astype(np.uint32)


def _by_sorting(
    stack: Stack, sorted_by: tuple[DeviceArray, DeviceArray], rows: int, points: int, others: Array,
    terms: tuple[DeviceArray, ...], maxima: bool, sums: DeviceArray,
) -> None:  # fmt: skip
    """Add the cells of the first rows and points: runs of equal keys, row · k + label, once these are sorted."""
    cp, (order, begin) = cupy(), sorted_by
    row = cp.searchsorted(begin[1 : rows + 1], cp.arange(points, dtype=np.uint32), side="right").astype(np.uint64)
    for line, other in enumerate(others.tolist()):
        k = np.uint64(stack.k[other])
        keys = cp.sort(row * k + stack.codes[other][order[:points]])
        new = cp.ones(points, bool)
        new[1:] = keys[1:] != keys[:-1]
        starts = cp.flatnonzero(new)
        tops = cp.zeros(rows if maxima else 1, np.uint32)
        kernel("run_sums", maxima)(
            (max(1, min(1024, len(starts) // 256)),), (256,),
            (keys, starts, i64(len(starts)), i64(points), k, *terms, tops, sums[line]),
        )  # fmt: skip
        if maxima:
            sums[line, ROWS] += tops.sum(dtype=np.uint64)
