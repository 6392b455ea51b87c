"""Contingency tables of soft clusterings: matrix products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from congruence.engine.interface import Product
from congruence.engine.plan import MEMORY, Run, pairs_of, tiles
from congruence.errors import InputError, Option
from congruence.inputs.alignment import Mass, point_weights
from congruence.inputs.kinds import Clustering
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array, Tables
from congruence.typing import SparseMatrix


def soft_tiles(
    members: Sequence[Clustering], runs: Sequence[Run], mass: Mass | None, budget: float, product: Product
) -> Iterator[tuple[Array, Array, Tables]]:
    """Tables N* = φ UᵀV of memberships (labels count as memberships of 0 and 1), one product per tile of pairs."""
    if any(c.gaps for c in members):
        raise InputError(
            f"{Option('unassigned', 'drop')} is not defined between memberships and labels with gaps; drop those points first"
        )
    n = len(members[0])
    k = np.array([c.k for c in members], dtype=np.int64)
    weights, own_weights = point_weights(mass, n)
    weights = np.ones(n) if weights is None else weights
    total, own = float(n if mass is None else mass.points), float(own_weights.sum())
    crisp = np.array([c.is_crisp for c in members])
    sums = [c.sums(weights) for c in members]
    within = [_together(*own_sums, own_weights) for own_sums in sums]
    for tile in tiles(runs, lambda i, j: k[i] * k[j] * 24.0, budget):
        pair_i, pair_j = pairs_of(tile)
        cells, grams = [], []
        for i, j, (row, col, value) in _products(members, k, pair_i, pair_j, weights, product):
            self_pairs = (own_weights * sums[i][0] * sums[j][0]).sum()
            grams.append((float((value**2).sum() - self_pairs), within[i], within[j]))
            cells.append((row, col, value * (total / value.sum())))
        row, col, count = (np.concatenate(x) for x in zip(*cells, strict=True))
        starts = np.concatenate([[0], np.cumsum([len(c[0]) for c in cells])])
        each = np.ones(len(cells))
        shapes = np.column_stack([k[pair_i], k[pair_j]])
        tables = Tables(row, col, count, starts, shapes, own * each, np.full(len(cells), int(total), dtype=np.int64))
        alike = [members[i].digest == members[j].digest for i, j in zip(pair_i, pair_j, strict=True)]
        same = np.where(crisp[pair_i] & crisp[pair_j], tables.identical, alike)
        same |= (shapes == 1).all(axis=1)  # all in one cluster: there is only one such partition
        both, same_a, same_b = (np.array(x) + own for x in zip(*grams, strict=True))
        gram = Pairs.from_squares(total * each, own * each, both, same_a, same_b, same)
        rows = [
            partial(_both_rows, members[i], members[j], weights, own_weights)
            for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)
        ]
        yield pair_i, pair_j, replace(tables, same=same, gram=gram, memberships=rows)


def _both_rows(
    a: Clustering, b: Clustering, weights: Array, own: Array
) -> tuple[SparseMatrix, SparseMatrix, Array, Array]:
    """The memberships of two clusterings, sparse, with the weights of the points and their self-pair contributions."""
    u = a.sparse()
    return u, u if a is b else b.sparse(), weights, own


def _products(
    members: Sequence[Clustering], k: Array, pair_i: Array, pair_j: Array, weights: Array, product: Product
) -> Iterator[tuple[int, int, tuple[Array, Array, Array]]]:
    """(i, j, non-zero cells of UᵀWV): one dense product for the whole tile, or sparse products for large tables."""
    left, right = np.unique(pair_i), np.unique(pair_j)
    at_i, at_j = (np.concatenate([[0], np.cumsum(k[side])]) for side in (left, right))
    pairs = zip(pair_i.tolist(), pair_j.tolist(), strict=True)
    if int(at_i[-1]) * int(at_j[-1]) > MEMORY // 4:
        for i, j in pairs:
            cells = (members[i].sparse().T @ members[j].sparse().multiply(weights[:, None])).tocsr().tocoo()
            yield i, j, (cells.row, cells.col, cells.data)
        return
    whole = product([members[i] for i in left], [members[j] for j in right], weights)
    for i, j in pairs:
        x, y = at_i[np.searchsorted(left, i)], at_j[np.searchsorted(right, j)]
        block = whole[x : x + k[i], y : y + k[j]]
        row, col = np.nonzero(block)
        yield i, j, (row, col, block[row, col])


def dense_product(left: Sequence[Clustering], right: Sequence[Clustering], weights: Array) -> Array:
    """UᵀWV with all memberships as columns, in chunks of points."""
    across = sum(c.k for c in left), sum(c.k for c in right)
    whole = np.zeros(across)
    chunk = max(1, (32 << 20) // (8 * sum(across)))
    alike = len(left) == len(right) and all(x is y for x, y in zip(left, right, strict=True))
    for start in range(0, len(weights), chunk):
        piece = slice(start, start + chunk)
        u = np.hstack([c.dense(piece) for c in left])
        v = u if alike else np.hstack([c.dense(piece) for c in right])
        whole += u.T @ (v * weights[piece, None])
    return whole


def _together(norms: Array, margin: Array, own_weights: Array) -> float:
    """Σ over ordered pairs of different points of the Gram matrix UUᵀ, from the sums of U."""
    return float((margin**2).sum() - (own_weights * norms).sum())
