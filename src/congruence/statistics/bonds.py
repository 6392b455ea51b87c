"""Sums over pairs of points of how far two memberships are together: normalised Gram matrices, bonds and degrees.

All of them equal the counts of pairs for partitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from congruence.machine.jit import compiled
from congruence.statistics.concordance import distinct_rows
from congruence.statistics.pairs import Pairs
from congruence.statistics.sides import TwoSided
from congruence.statistics.tables import Array, Tables
from congruence.typing import SparseMatrix

#: number of steps over pairs of rows above which the loop is compiled
COMPILED_FROM = 20_000_000

#: cells per block of the numpy loop
BLOCK = 1 << 20


def cross(u: SparseMatrix, v: SparseMatrix, weights: Array) -> Array:
    """UᵀWV, clusters × clusters."""
    return np.asarray((u.T @ v.multiply(weights[:, None]).tocsr()).toarray())


# --- normalised Gram matrices -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Frobenius(TwoSided):
    """Squared distance of the Gram matrices, diagonals included, each scaled to Σ A = Σ A²; and its mean by chance."""

    distance: Array
    #: its mean when the points of b are permuted
    chance: Array
    identical: Array
    #: tolerance for 0
    tiny: Array
    symbols: ClassVar[tuple[str, ...]] = ("distance", "chance")

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """The statistic of every table of the tile."""
        if t.memberships is None:
            p = Pairs.from_tables(t)
            with np.errstate(divide="ignore", invalid="ignore"):
                chance = 4 * p.beyond_chance[1]
            return cls(2 * (p.only_a + p.only_b), np.where(p.pairs > 0, chance, 0.0), p.identical, 0 * p.pairs)
        rows = [_of_grams(*read()[:3]) for read in t.memberships]
        distance, chance, size = np.array(rows, dtype=np.float64).reshape(-1, 3).T
        return cls(distance, chance, t.identical, 1e-13 * size)


def _of_grams(u: SparseMatrix, v: SparseMatrix, weights: Array) -> tuple[float, float, float]:
    """Distance, its mean by chance, and the sum of both squared norms."""
    n = float(weights.sum())
    norms, diagonal, rest = [], [], []
    for x in (u, v):
        margin = np.asarray(x.T @ weights)
        total, own = float(margin @ margin), float(weights @ np.asarray(x.multiply(x).sum(axis=1)).ravel())
        scale = total / float((cross(x, x, weights) ** 2).sum())
        norms.append(total * scale)
        diagonal.append(scale * total / n)  # what the sum of all entries adds to the mean by chance
        rest.append(scale * (own - total / n))
        if x is u:
            scale_u = scale
    inner = scale_u * scale * float((cross(u, v, weights) ** 2).sum())
    size = sum(norms)
    expected = diagonal[0] * diagonal[1] + (rest[0] * rest[1] / (n - 1) if n > 1 else 0.0)
    return max(size - 2 * inner, 0.0), size - 2 * expected, size


# --- bonds ------------------------------------------------------------------------------------------------------


class Bonds(Pairs):
    """Pair sums in which two points are together to the degree of the cosine of their memberships (Brouwer 2009)."""

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of every table of the tile, from the Gram sums of rows of length 1."""
        if t.memberships is None:
            return cls(**vars(Pairs.from_tables(t)))
        rows = []
        for read in t.memberships:
            u, v, weights, own = read()
            u, v = (
                x.multiply(1 / np.sqrt(np.asarray(x.multiply(x).sum(axis=1)).ravel())[:, None]).tocsr() for x in (u, v)
            )
            same = (float(np.square(x.T @ weights).sum()) for x in (u, v))
            rows.append((float(weights.sum()), float(own.sum()), float(np.square(cross(u, v, weights)).sum()), *same))
        n, own_pairs, both, same_a, same_b = np.array(rows).reshape(-1, 5).T
        return cls(**vars(Pairs.from_squares(n, own_pairs, both, same_a, same_b, t.identical)))


# --- degrees ----------------------------------------------------------------------------------------------------


class Degrees(Pairs):
    """Pair sums in which two points are together to one degree and apart to another (Campello 2007).

    Together: max over clusters of min(u_ic, u_jc). Apart: the same over two different clusters. A pair counts in v11 to the
    smaller of its degrees together in a and together in b, and so on; v11 + v10 + v01 + v00 takes the place of all pairs.
    """

    @classmethod
    def from_tables(cls, t: Tables) -> Self:
        """Pair sums of every table of the tile."""
        if t.memberships is None:
            return cls(**vars(Pairs.from_tables(t)))
        rows = [_degrees(*read()) for read in t.memberships]
        both, only_a, only_b, neither = np.array(rows, dtype=np.float64).reshape(-1, 4).T
        pairs, same_a, same_b = both + only_a + only_b + neither, both + only_a, both + only_b
        return cls(
            pairs, same_a, same_b, both, only_a, only_b, t.identical, 1e-13 * pairs, rest_a=only_b + neither,
            rest_b=only_a + neither,
        )  # fmt: skip


def _degrees(u: SparseMatrix, v: SparseMatrix, weights: Array, own: Array) -> tuple[float, float, float, float]:
    """Σ over pairs of points of min(together, together), min(together, apart), min(apart, together), min(apart, apart)."""
    u, v, mass, inside = distinct_rows(u, v, weights, own)
    a, b = (np.ascontiguousarray(x.toarray()) for x in (u, v))
    sides = [(x, *_two_largest(x)) for x in (a, b)]
    (top_a, next_a), (top_b, next_b) = (side[1:3] for side in sides)
    total = [float(inside @ np.minimum(x, y)) for x in (top_a, next_a) for y in (top_b, next_b)]  # pairs of equal rows
    if len(mass) ** 2 / 2 * (a.shape[1] + b.shape[1]) > COMPILED_FROM:
        found = np.zeros(4)
        compiled(_walk)(mass, *sides[0], *sides[1], found)
    else:
        found = _walk_by_numpy(mass, sides)
    both, only_a, only_b, neither = (x + y for x, y in zip(found.tolist(), total, strict=True))
    return both, only_a, only_b, neither


def _two_largest(rows: Array) -> tuple[Array, Array, Array]:
    """The two largest memberships of each row, and the cluster of the largest."""
    place = rows.argmax(axis=1)
    largest = rows[np.arange(len(rows)), place]
    rest = rows.copy()
    rest[np.arange(len(rows)), place] = 0.0
    return largest, rest.max(axis=1), place


def _walk_by_numpy(mass: Array, sides: list[tuple[Array, Array, Array, Array]]) -> Array:
    """The four sums over pairs of different rows, block by block."""
    found = np.zeros(4)
    step = max(1, BLOCK // max(len(mass), 1))
    for start in range(0, len(mass), step):
        here = np.arange(start, min(start + step, len(mass)))
        weight = np.where(here[:, None] < np.arange(len(mass)), np.outer(mass[here], mass), 0.0)
        degrees = []
        for rows, top, second, place in sides:
            together = np.zeros(weight.shape)
            for column in rows.T:
                np.maximum(together, np.minimum.outer(column[here], column), out=together)
            crossed = np.maximum(np.minimum.outer(top[here], second), np.minimum.outer(second[here], top))
            apart = np.where(place[here][:, None] == place, crossed, np.minimum.outer(top[here], top))
            degrees.append((together, apart))
        found += [float((weight * np.minimum(x, y)).sum()) for x in degrees[0] for y in degrees[1]]
    return found


def _walk(
    mass: Array, rows_a: Array, top_a: Array, next_a: Array, place_a: Array, rows_b: Array, top_b: Array, next_b: Array,
    place_b: Array, found: Array,
) -> None:  # fmt: skip
    """The same, pair by pair."""
    for i in range(len(mass)):
        for j in range(i + 1, len(mass)):
            in_a, in_b = 0.0, 0.0
            for c in range(rows_a.shape[1]):
                in_a = max(in_a, min(rows_a[i, c], rows_a[j, c]))
            for c in range(rows_b.shape[1]):
                in_b = max(in_b, min(rows_b[i, c], rows_b[j, c]))
            if place_a[i] == place_a[j]:
                out_a = max(min(top_a[i], next_a[j]), min(next_a[i], top_a[j]))
            else:
                out_a = min(top_a[i], top_a[j])
            if place_b[i] == place_b[j]:
                out_b = max(min(top_b[i], next_b[j]), min(next_b[i], top_b[j]))
            else:
                out_b = min(top_b[i], top_b[j])
            w = mass[i] * mass[j]
            found[0] += w * min(in_a, in_b)
            found[1] += w * min(in_a, out_b)
            found[2] += w * min(out_a, in_b)
            found[3] += w * min(out_a, out_b)
