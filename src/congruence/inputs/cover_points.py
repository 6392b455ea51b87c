"""Covers and labels of the same points in the same order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from congruence.errors import Caution, InputError, Option
from congruence.inputs.cover import Cover
from congruence.inputs.cover_reading import plain
from congruence.inputs.kinds import Clustering
from congruence.statistics.names import ranked
from congruence.typing import Label

if TYPE_CHECKING:
    from congruence.inputs.alignment import Align


def on_same_points(
    clusterings: Sequence[Clustering | Cover], align: Align | None, who: Sequence[str]
) -> tuple[list[Clustering], list[Caution]]:
    """Covers and labels of the same points in the same order, and notes on which points those are."""
    covers = [(i, c) for i, c in enumerate(clusterings) if isinstance(c, Cover)]
    others = [(i, c) for i, c in enumerate(clusterings) if not isinstance(c, Cover)]
    notes: list[Caution] = []
    if others:
        ids, total, taken = _points_of_labels(covers, others, align, who, notes)
    else:
        ids, total = _points_of_covers(covers, align, who, notes)
        taken = {}
    found: list[Clustering] = []
    for i, c in enumerate(clusterings):
        if isinstance(c, Cover):
            same = ids is c.ids or (len(ids) == len(c.ids) and ids == c.ids)
            found.append(c.encoded(c.ids if same else ids, total))
        else:
            found.append(taken.get(i, c))
    return found, notes


def _points_of_labels(
    covers: Sequence[tuple[int, Cover]], others: Sequence[tuple[int, Clustering]], align: Align | None,
    who: Sequence[str],
    notes: list[Caution],
) -> tuple[Sequence[Label], int, dict[int, Clustering]]:  # fmt: skip
    """Covers aligned with labels, whose index or positions name the points."""
    from congruence.inputs.alignment import aligned  # late import: that module imports this one

    labels, more = aligned([c for _, c in others], align, [who[i] for i, _ in others])
    notes += more
    first = labels[0]
    n = len(first)
    known = {x for _, cover in covers for x in cover.ids}
    named = getattr(first, "points", None) or (None if first.index is None else plain(first.index))
    by_index = named is not None and align != "position"
    ids: Sequence[Label] = named if by_index and named is not None else range(n)
    if by_index and not known <= set(ids) and all(isinstance(x, int) and 0 <= x < n for x in known):
        ids = range(n)
    outside = known - set(ids)
    if outside and align != "index":
        i, cover = next((i, c) for i, c in covers if outside & set(c.ids))
        point = next(x for x in cover.ids if x in outside)
        raise InputError(
            f"point {point!r} of {who[i]} is not among the {n} points of {who[others[0][0]]}; labels are of points "
            f"0 … {n - 1}, or of the index of a pandas series"
        )
    for i, cover in covers:
        if cover.total is not None and cover.total != n and align != "index":
            raise InputError(
                f"{who[i]} has {cover.total} points and {who[others[0][0]]} {n}; both must be of the same points"
            )
    return ids, n, {i: c for (i, _), c in zip(others, labels, strict=True)}


def _points_of_covers(
    covers: Sequence[tuple[int, Cover]], align: Align | None, who: Sequence[str], notes: list[Caution]
) -> tuple[Sequence[Label], int]:
    """The points listed with the covers, which must be equal, or all points that occur in any of them."""
    listed = [(i, c) for i, c in covers if c.is_listed]
    if align == "position":
        raise InputError(f"{Option('align', 'position')} is for labels; the points of covers have names")
    if listed:
        first, cover = listed[0]
        ids: Sequence[Label] = cover.ids
        known = set(ids)
        for i, other in covers:
            if other.total is not None and other.total != len(ids) and align != "index":
                raise InputError(
                    f"{who[first]} and {who[i]} have {len(ids)} and {other.total} points; list the same points for both, or "
                    f"pass {Option('align', 'index')} to compare common points"
                )
            there = set(other.ids)
            if there - known and align != "index":
                point = next(x for x in other.ids if x not in known)
                raise InputError(
                    f"point {point!r} of {who[i]} is not among the {len(ids)} points of {who[first]}; list the same points "
                    f"for both, or pass {Option('align', 'index')} to compare common points"
                )
        if align == "index":
            for _, other in listed[1:]:
                known &= set(other.ids)
            if not known:
                raise InputError("the covers have no point in common")
            for i, other in covers:
                gone = len(set(other.ids) - known)
                if gone:
                    text = f"{gone} points of {{subject}} are not in all covers and were left out"
                    notes.append(Caution("left_out", who[i], text))
            ids = [x for x in ids if x in known]
        return ids, len(ids)
    every: dict[Label, None] = {}
    for _, c in covers:
        every.update(dict.fromkeys(c.ids))
    names, _ = ranked(list(every))
    totals = {c.total for _, c in covers if c.total is not None}
    if len(totals) > 1:
        raise InputError(
            f"the covers have {' and '.join(map(str, sorted(totals)))} points; give the same number for all"
        )
    total = totals.pop() if totals else len(names)
    if len(names) > total:
        raise InputError(f"{Option('points', total)}, but {len(names)} different points are in the clusters")
    if not names and not total:
        raise InputError(f"the covers have no points; pass {Option('points', ...)}")
    if not any(c.total is not None for _, c in covers):
        text = (
            f"the points are the {total:,} that occur in a cluster; if there are more, pass "
            f"{Option('points', ...)} to Cover: their number changes omega and the overlapping NMI"
        )
        notes.append(Caution("points_that_occur", "", text))
    return names, total
