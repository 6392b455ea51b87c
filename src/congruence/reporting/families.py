"""Families of clusterings that agree inside and not across."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

import numpy as np

from congruence.inputs.ensemble import Ensemble
from congruence.reporting.answer import votes_of
from congruence.statistics.tables import Array

#: families agree inside by at least this; across by at most that share of it, or by as little as unrelated clusterings may;
#: and they hold most of the clusterings
INSIDE, ACROSS, LITTLE, MOST_OF_THEM = 0.3, 1 / 3, 0.1, 0.75
#: groups that agree across by this or more are one family
SAME = 0.4


@dataclass(frozen=True)
class Families:
    """Groups of clusterings that agree inside and not across, the largest first."""

    members: tuple[tuple[int, ...], ...]
    #: the clustering of each family that agrees most with the others in it, and what the family is called
    middle: tuple[int, ...]
    names: tuple[str, ...]
    #: the smallest median agreement inside a family, and the largest across two
    inside: float
    across: float


def families_of(
    e: Ensemble, square: Array, groups: Sequence[Sequence[int]], counted: Sequence[int], chance: float
) -> Families | None:
    """The families, if there are any.

    Inside a family a median pair agrees by 0.3 or more, and by more than any shuffled clusterings do; across two families by at
    most a third of that, also if clusters that split a cluster of the other count as one: finer and coarser clusterings are no
    families.
    """
    found = [tuple(g) for g in groups if len(g) > 1]
    while len(found) > 1:
        between = {(a, b): _median(square[np.ix_(found[a], found[b])]) for a, b in combinations(range(len(found)), 2)}
        (a, b), across = max(between.items(), key=lambda x: x[1])
        if across < SAME:
            break
        found[a] += found.pop(b)
    if len(found) < 2 or sum(map(len, found)) < MOST_OF_THEM * len(counted):
        return None
    found.sort(key=lambda g: (-len(g), g))
    inside = min(_median(square[np.ix_(g, g)][np.triu_indices(len(g), 1)]) for g in found)
    middle = [middle_of(square, g) for g in found]
    if not inside >= max(INSIDE, chance + 1e-9) or across > max(LITTLE, ACROSS * inside):
        return None
    if any(_splits(e, a, b) for a, b in combinations(middle, 2)):
        return None
    called = tuple(_called(e.names, g, middle[x], counted) for x, g in enumerate(found))
    return Families(tuple(found), tuple(middle), called, inside, across)


def middle_of(square: Array, group: Sequence[int]) -> int:
    """The member of a group that agrees most with the others in it."""
    return group[int(np.argmax(np.nansum(square[np.ix_(group, group)], axis=1)))]


def _median(values: Array) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else float("nan")


def _splits(e: Ensemble, a: int, b: int) -> bool:
    """Whether one of the two splits the clusters of the other."""
    own = [(e.members[i].codes, e.members[i].k) for i in (a, b)]
    return any(
        votes_of(x[0].astype(np.int64), x[1], [y], [True], False).agreement[0] >= SAME for x, y in (own, own[::-1])
    )


def _called(names: Sequence[str], group: Sequence[int], middle: int, counted: Sequence[int]) -> str:
    """What the names of a family begin with, if no other name does; otherwise the name of its middle."""
    columns = zip(*(names[i] for i in group), strict=False)
    start = re.sub(r"[\W\d_]+$", "", "".join(x[0] for x in takewhile(lambda x: len(set(x)) == 1, columns)))
    alone = len(start) > 1 and not any(names[i].startswith(start) for i in counted if i not in set(group))
    return start if alone else names[middle]
