"""Density profiles counted on a CUDA GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from congruence.density.binning import Coder, check_values
from congruence.engine.cuda.stacks import in_memory
from congruence.inputs.labels import Labels
from congruence.machine import device
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray

if TYPE_CHECKING:
    from congruence.inputs.kinds import Clustering

#: threads of a block; blocks for each multiprocessor; points of one block, at least
THREADS, BLOCKS, POINTS = 512, 8, 1 << 14

_i32, _i64 = np.int32, np.int64


def count_on_card(
    coder: Coder, clusterings: Sequence[Clustering], n_bins: tuple[int, ...], starts: Array, bivariate: bool
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Values outside, and for each clustering its counts and sizes, as on the CPU."""
    cp = device.cupy()
    total = int(starts[-1])
    n, attributes = len(coder.columns[0]), len(coder.columns)
    axes = cp.asarray(_axes(n_bins, bivariate))
    on_card = cp.asarray(starts)
    with in_memory():
        found = []
        for c in clusterings:
            kind: type[np.number] = np.float64 if c.soft else np.uint64
            found.append((cp.zeros((c.k, total), kind), cp.zeros(c.k, np.float64)))
        seen = cp.zeros((attributes, 2), np.uint64)
        # bin as many points at a time as fit next to one column of numbers
        room = int(max(1, device.free_memory() // 2 // (4 * attributes + 16)))
        for start in range(0, n, room):
            piece = slice(start, min(start + room, n))
            codes = _binned(coder, piece, seen)
            for clustering, (counts, sizes) in zip(clusterings, found, strict=True):
                _add(clustering, piece, codes, axes, on_card, starts, counts, sizes)
        gaps, outside = seen.get().astype(np.int64).T
        for i in coder.numeric.tolist():
            check_values(coder.attributes[i], int(gaps[i]), n - int(gaps[i]))
        host = [(counts.get(), sizes.get()) for counts, sizes in found]
    return outside, [
        (counts, sizes) if counts.dtype == np.float64 else (counts.astype(np.int64), sizes.astype(np.int64))
        for counts, sizes in host
    ]


def _axes(n_bins: tuple[int, ...], bivariate: bool) -> Array:
    """Attributes, or pairs of them: (one, two or −1, bins of two, bins)."""
    bins = np.array(n_bins)
    one = np.arange(len(bins))
    if not bivariate:
        return np.column_stack([one, np.full_like(one, -1), np.ones_like(one), bins]).astype(np.int32)
    one, two = np.triu_indices(len(bins), 1)
    return np.column_stack([one, two, bins[two], bins[one] * bins[two]]).astype(np.int32)


def _parts(n: int, beside: int) -> int:
    """The number of blocks over the points, given the other blocks."""
    return int(max(1, min(-(-n // POINTS), -(-device.facts()[0] * BLOCKS // beside))))


def _binned(coder: Coder, piece: slice, seen: DeviceArray) -> DeviceArray:
    """The bins of a chunk of points, attributes × points; adds to `seen` how many values were missing, and outside."""
    cp = device.cupy()
    n = piece.stop - piece.start
    codes = cp.empty((len(coder.columns), n), np.int32)
    for i, place in coder.places.items():
        column = coder.columns[i]
        assert isinstance(column, Labels)
        codes[i] = cp.asarray(place)[_codes(column, piece)]
        if coder.attributes[i].takes_unseen:
            seen[i, 1] += (codes[i] == coder.attributes[i].regular).sum().astype(np.uint64)
    for r, i in enumerate(coder.numeric.tolist()):
        column = coder.columns[i]
        values = column[piece] if device.is_on_card(column) else device.moved(np.ascontiguousarray(column[piece]))
        cuts = cp.asarray(coder.cuts[coder.starts[r] : coder.starts[r + 1]])
        kind = {"f": {4: "float", 8: "double"}}.get(values.dtype.kind, {}).get(values.itemsize) or device.ctype(values)
        device.kernel("binned", kind)(
            (_parts(n, 1),), (THREADS,),
            (values, _i64(values.strides[0] // values.itemsize), _i64(n), cuts, _i32(len(cuts)),
             np.float64(coder.low[r]), np.float64(coder.high[r]), _i32(coder.missing[r]), codes[i], seen[i]),
        )  # fmt: skip
    return codes


def _codes(labels: Clustering, piece: slice) -> DeviceArray:
    return labels.card.codes[piece] if labels.card is not None else device.cupy().asarray(labels.codes[piece])


def _add(
    clustering: Clustering,
    piece: slice,
    codes: DeviceArray,
    axes: DeviceArray,
    on_card: DeviceArray,
    starts: Array,
    counts: DeviceArray,
    sizes: DeviceArray,
) -> None:
    """Add a chunk of points to the counts and sizes of a clustering."""
    cp = device.cupy()
    k, n = clustering.k, piece.stop - piece.start
    if clustering.soft:
        u = device.here(clustering.card[piece]) if clustering.card is not None else cp.asarray(clustering.dense(piece))
        sizes += u.sum(axis=0)
        _add_memberships(u, codes, axes.get(), starts, counts)
        return
    labels = _codes(clustering, piece)
    sizes += cp.bincount(labels, minlength=k + 1)[:k]
    held = (device.facts()[1] - 1024) // 4
    cells = k * np.diff(starts)
    for some in device.parts(len(axes)):
        many = some.stop - some.start
        device.kernel("profiled", device.ctype(labels))(
            (_parts(n, many), many), (THREADS,),
            (labels, codes, _i64(n), _i32(k), axes[some], on_card[some], _i64(counts.shape[1]), _i32(held), counts),
            shared_mem=int(cells[cells <= held].max(initial=0)) * 4,
        )  # fmt: skip


def _add_memberships(u: DeviceArray, codes: DeviceArray, axes: Array, starts: Array, counts: DeviceArray) -> None:
    """Sums of memberships in each bin: products with bin indicators, some points at a time."""
    cp = device.cupy()
    for (one, two, across, bins), start in zip(axes.tolist(), starts.tolist(), strict=False):
        where = codes[one] if two < 0 else codes[one] * across + codes[two]
        step = max(1, (1 << 26) // bins)
        for first in range(0, len(where), step):
            some = slice(first, first + step)
            hit = (where[some, None] == cp.arange(bins)[None, :]).astype(np.float64)
            counts[:, start : start + bins] += u[some].T @ hit
