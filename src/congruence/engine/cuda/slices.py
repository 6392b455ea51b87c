"""Tables larger than shared memory: points sorted by cluster, rows counted in slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from congruence.engine.cuda.stacks import Stack
from congruence.machine import device
from congruence.machine.device import cupy
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray

#: a row of a large table has one cell per cluster up to this many cells per point; above that it is hashed
DENSE = 5

#: minimum number of cells per point of a hashed row
SLOTS = 1.5

#: share of a multiprocessor's shared memory for a row against 16 clusterings; larger rows are counted against fewer
ROW_SHARE = 0.5


def shared_bytes() -> int:
    """Shared memory for tables of one block."""
    return device.facts()[1] - 1024


def sorted_points(stack: Stack, block: Array, upload: Callable[[Array], DeviceArray]) -> tuple[DeviceArray, Array]:
    """For each of these clusterings: its points sorted by cluster, largest first, and where each cluster starts."""
    cp = cupy()
    widest = int(stack.k[block].max())
    sizes = np.zeros((len(block), widest), dtype=np.int64)
    for line, row in enumerate(block.tolist()):
        sizes[line, : len(stack.sizes[row])] = stack.sizes[row]
    begin = np.zeros((len(block), widest + 1), dtype=np.int64)
    np.cumsum(np.sort(sizes, axis=1)[:, ::-1], axis=1, out=begin[:, 1:])
    by_size = cp.argsort(-upload(sizes), axis=1)
    kind = np.uint16 if widest <= 0x10000 else np.uint32
    place = cp.empty(by_size.shape, kind)
    place[cp.arange(len(block))[:, None], by_size] = cp.arange(widest, dtype=kind)[None, :]
    order = cp.empty((len(block), stack.n), np.uint32)
    for line, row in enumerate(block.tolist()):
        order[line] = cp.argsort(place[line][stack.codes[row, : stack.n]])
    return order, begin


def units_of(begin: Array, first: Array, last: Array, points: int) -> Array:
    """Ranges of rows of about equal numbers of points: (clustering, first row, last row)."""
    target = int(np.clip(points // (device.facts()[0] * 32), 1 << 10, 1 << 18))
    found = [np.empty((0, 3))]
    for x, (r0, r1) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        if r1 > r0:
            ends = begin[x, r0 + 1 : r1 + 1]
            cut = np.searchsorted(ends, np.arange(begin[x, r0], ends[-1], target), side="right")
            edges = np.unique(np.concatenate([cut, [0, r1 - r0]])) + r0
            found.append(np.column_stack([np.full(len(edges) - 1, x), edges[:-1], edges[1:]]))
    return np.concatenate(found).astype(np.int32)


def alike(widths: Array, tiles: Array) -> list[list[int]]:
    """Tiles of 16 clusterings each, the widest first, in groups of tables with similar width."""
    groups: list[list[int]] = []
    for tile in tiles.tolist():
        if groups and widths[tile * 16] > 0.95 * widths[groups[-1][0] * 16]:
            groups[-1].append(tile)
        else:
            groups.append([tile])
    return groups


def against_tile(units: Array, tile: int) -> Array:
    """The units of work against one tile of clusterings."""
    return np.column_stack([units, np.full(len(units), tile, dtype=np.int32)])


def sliceable(k_rows: Array, largest: Array, k_columns: Array) -> Array:
    """Whether tables can be counted in slices: rows of up to `largest` points, one cell per label or hashed."""
    fits = (k_columns <= _most_cells()) | (largest <= most_hashed())
    return np.asarray(fits & (np.maximum(k_rows, k_columns) <= 0xFFFF))


def most_hashed() -> int:
    """The largest number of points of a hashed row."""
    return 1 << (_most_cells().bit_length() - 1)


def _most_cells() -> int:
    """The largest row of a table in shared memory: four times an odd number of cells."""
    return (shared_bytes() // 4 - 4) // 8 * 8 + 4


def slice_shape(width: int, largest: int, mean: float) -> tuple[int, int, int, int]:
    """How rows of up to `largest` points are counted: bits of the hash or 0, clusterings at a time, threads, cells per row."""
    most = _most_cells()
    bits = 0
    if width > min(DENSE * mean, most):
        bits = min(max(2, int(SLOTS * largest - 1).bit_length()), most.bit_length() - 1)
    cells = 4 * (-(-(1 << bits if bits else width) // 4) | 1)
    assert cells <= most
    assert not bits or largest <= 1 << bits  # see `sliceable`
    others = next((j for j in (16, 8, 4, 2) if j * cells <= ROW_SHARE * most), 1)
    wanted = 1.1 * mean * max(1, others // 4) / 4  # four points per thread, each with four of the others
    threads = next((t for t in (32, 64, 96, 128, 192, 256, 384) if t >= wanted), 512)
    return bits, others, threads, cells
