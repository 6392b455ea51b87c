"""One direction of a pair, so that a symmetric measure has the same bits whichever clustering comes first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar, cast

import numpy as np

from congruence.statistics.covers import Intersections, Overlap
from congruence.statistics.tables import Array, Tables

T = TypeVar("T")


def in_one_direction(statistic: T) -> T:
    """Tables and intersections of each pair as they are or swapped, the same for both orders; other statistics unchanged."""
    if isinstance(statistic, Tables):
        return cast("T", statistic.once(_tables))
    if isinstance(statistic, Intersections):
        return cast("T", replace(statistic, overlaps=_overlaps(statistic.overlaps)))
    return statistic


def _tables(t: Tables) -> Tables:
    if t.memberships is not None or not len(t.count):  # sums of memberships do not have the same bits in both orders
        return t
    turn = t.shapes[:, 1] < t.shapes[:, 0]
    if (t.shapes[:, 1] == t.shapes[:, 0]).any():
        turn = np.where(t.shapes[:, 1] == t.shapes[:, 0], _is_later(t.row, t.col, t.count, t.starts), turn)
    if not turn.any():
        return t
    other = t.swapped()
    if turn.all():
        return other
    cells = turn[t.pair]  # the cells of a pair have the same places in both
    row, col, count = (np.where(cells, *x) for x in ((other.row, t.row), (other.col, t.col), (other.count, t.count)))
    within, maps = t.within, t.maps
    if t.within is not None and other.within is not None:
        within = np.where(cells, other.within, t.within)
    if t.maps is not None and other.maps is not None:
        maps = [y if turned else x for x, y, turned in zip(t.maps, other.maps, turn.tolist(), strict=True)]
    shapes = np.where(turn[:, None], other.shapes, t.shapes)
    return replace(t, row=row, col=col, count=count, shapes=shapes, within=within, maps=maps)


def _overlaps(overlaps: Sequence[Overlap]) -> list[Overlap]:
    found = []
    for o in overlaps:
        (a, b), (row, col, count) = o.sizes, o.common
        turn = len(b) < len(a)
        if len(a) == len(b) and len(count):
            turn = bool(_is_later(row, col, count, np.array([0, len(count)]))[0])
        found.append(o.swapped() if turn else o)
    return found


def _is_later(row: Array, col: Array, count: Array, starts: Array) -> Array:
    """For each pair, whether the number of its cells is larger than that of the cells of the pair swapped.

    It has 64 bits (by the finaliser of splitmix64) and does not depend on the order of the cells.
    """
    codes = np.stack([row, col]).astype(np.uint64)
    mass = count.view(np.uint64) if count.dtype == np.float64 else count.astype(np.uint64)
    x = mass * np.uint64(0x9E3779B97F4A7C15)
    for code, factor in ((codes, np.uint64(0xBF58476D1CE4E5B9)), (codes[::-1], np.uint64(0x94D049BB133111EB))):
        x = (x + (code + np.uint64(1)) * factor) * factor
        x = x ^ (x >> np.uint64(29))
    if len(starts) == 2:
        first, second = x.sum(axis=1, dtype=np.uint64).tolist()
        return np.array([first > second])
    running = np.zeros((2, len(count) + 1), np.uint64)
    np.cumsum(x, axis=1, out=running[:, 1:])
    first, second = running[:, starts[1:]] - running[:, starts[:-1]]
    return np.asarray(first > second)
