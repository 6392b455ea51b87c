"""Sums of similarity matrices that are Dask arrays: each block is summed on its worker, and only sums are sent."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from congruence.errors import InputError, Option
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.similarity import Similarity, check_entries, is_dask_array
from congruence.scanning.schedule import connected, ended_on, named_errors
from congruence.statistics.matrices import MatrixSums
from congruence.statistics.tables import Array
from congruence.typing import MatrixLike

#: nine sums of a block of two matrices, and the lowest and highest entry of each
BlockSums = tuple[list[float], list[tuple[float, float]]]


def dask_sums(p: Ensemble | Similarity, q: Ensemble | Similarity) -> MatrixSums:
    """Sums over pairs of points of a Dask array and another matrix, ensemble or partition."""
    from dask import compute, delayed

    lead = next(x.matrix for x in (p, q) if isinstance(x, Similarity) and x.form == "blocks")
    edges = np.concatenate([[0], np.cumsum(lead.chunks[0])]).tolist()
    sides = [_Side(x, lead.chunks[0], edges) for x in (p, q)]
    jobs = [
        delayed(block_sums, pure=False)(
            [(side.block(i, j), side.block(j, i)) for side in sides],
            (edges[i], edges[j]),
            [side.facts for side in sides],
        )
        for i in range(len(edges) - 1)
        for j in range(i, len(edges) - 1)
    ]
    client = next((x.client for x in (p, q) if isinstance(x, Similarity) and x.client is not None), None)
    if client is None:  # Dask's default: the current client if there is one, else threads
        found: Sequence[BlockSums] = compute(*jobs)
    else:
        with connected(client) as (dask, _):
            if dask is None:
                raise InputError(
                    f"Dask arrays are counted by Dask: {Option('client', ...)} must be a Dask client or the "
                    "address of a scheduler"
                )
            with named_errors():
                futures = dask.compute(jobs)
                for _ in ended_on(dask, futures):  # says so if the workers finish nothing
                    pass
                found = dask.gather(futures)
    for x, k in ((p, 0), (q, 1)):
        if isinstance(x, Similarity):
            x.low, x.high = (
                min([x.low, *(f[1][k][0] for f in found)]), max([x.high, *(f[1][k][1] for f in found)])
            )  # fmt: skip
    # exact sums: the order of the blocks does not matter
    pairs, s_p, s_q, s_pq, s_pp, s_qq, *diagonal = (math.fsum(f[0][k] for f in found) for k in range(9))
    d_pq, d_pp, d_qq = diagonal
    return MatrixSums.of(
        n=edges[-1], pairs=pairs, s_p=s_p, s_q=s_q, s_pq=s_pq, s_pp=s_pp, s_qq=s_qq, diagonal=(d_pq, d_pp, d_qq)
    )


class _Side:
    """One of the two matrices as blocks: of an array, or computed from labels."""

    def __init__(self, x: Ensemble | Similarity, chunks: tuple[int, ...], edges: Sequence[int]) -> None:
        self.edges, self.members, self.blocks = edges, [], None
        self.facts: tuple[str, float] | None = None
        if isinstance(x, Similarity):
            from dask import array

            matrix = x.matrix if is_dask_array(x.matrix) else array.from_array(x.matrix, chunks=(chunks, chunks))
            self.blocks = matrix.rechunk((chunks, chunks)).to_delayed()
            self.facts = x.who, x.tolerance
            return
        assert isinstance(x, Ensemble)
        for member, share in zip(x.members, x.shares.tolist(), strict=True):
            self.members.append((member.dense() if member.soft else member.codes, share))

    def block(self, i: int, j: int) -> MatrixLike:
        """The inputs of block (i, j)."""
        if self.blocks is not None:
            return self.blocks[i, j]
        rows, cols = (slice(self.edges[x], self.edges[x + 1]) for x in (i, j))
        return [(values[rows], values[cols], share) for values, share in self.members]


def _entries(given: MatrixLike, on_diagonal: bool) -> Array:
    if not isinstance(given, list):
        return np.asarray(given.todense() if hasattr(given, "todense") else given, dtype=np.float64)
    total = np.zeros((len(given[0][0]), len(given[0][1])))
    for rows, cols, share in given:
        total += share * (rows @ cols.T if rows.ndim == 2 else rows[:, None] == cols[None, :])
    if on_diagonal:
        np.fill_diagonal(total, 1.0)
    return total


def block_sums(
    given: Sequence[tuple[MatrixLike, MatrixLike]], start: tuple[int, int], facts: Sequence[tuple[str, float] | None]
) -> BlockSums:
    """Nine sums of a block of two matrices, and the lowest and highest entries; blocks are compared with their mirrors."""
    on_diagonal = start[0] == start[1]
    blocks, limits = [], []
    for (here, mirror), about in zip(given, facts, strict=True):
        block = _entries(here, on_diagonal)
        if about is not None:
            check_entries(about[0], block, _entries(mirror, on_diagonal).T, start, about[1])
        blocks.append(block)
        limits.append((float(block.min()), float(block.max())))
    p, q = blocks
    above = np.triu(np.ones(p.shape, dtype=bool), 1) if on_diagonal else np.ones(p.shape, dtype=bool)
    a, b = p[above], q[above]
    d, e = (np.diag(x) if on_diagonal else np.empty(0) for x in (p, q))
    return [float(above.sum()), *(float(np.sum(x)) for x in (a, b, a * b, a * a, b * b, d * e, d * d, e * e))], limits


def by_blocks(p: Ensemble | Similarity, q: Ensemble | Similarity) -> bool:
    """Whether both can be split into blocks: not members with weights or gaps, nor covers."""
    return not any(x.mass is not None or x.has_gaps or x.has_covers for x in (p, q))
