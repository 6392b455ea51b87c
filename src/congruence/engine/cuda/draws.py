"""Random tables and permutations, drawn on the GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from congruence.engine import cpu, fused
from congruence.engine.cuda.chunks import SUMS
from congruence.engine.cuda.counting import FUSED, expected_all, statistics
from congruence.engine.cuda.stacks import code_kind, i32, i64, in_memory
from congruence.engine.cuda.sums import terms_for
from congruence.engine.plan import Run
from congruence.inputs.labels import Labels
from congruence.machine import device
from congruence.machine.device import cupy, kernel
from congruence.statistics.information import ChanceInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.tables import Array, Table, Tables, as_tile
from congruence.typing import DeviceArray

if TYPE_CHECKING:
    from congruence.statistics import Statistic

#: random tables are drawn cell by cell while they have no more cells than this many per point, else points are permuted
DRAWN_CELLS = 0.25

#: threads of a block that draws tables, one table each
DRAW_THREADS = 32


# --- draws from the null model ----------------------------------------------------------------------------------


def draws_at_once(need: type, sizes: tuple[int, int], n: int, free: bool) -> int:
    """Draws per batch; depends only on the data, so that a seed gives the same draws on every GPU."""
    k_a, k_b = sizes
    if not by_tables(k_a, k_b, n):
        return int(np.clip((1 << 27) // n, 1, 1024))
    if need in FUSED and not free:
        return int(np.clip((1 << 27) // k_b, 32, 1 << 14))
    return int(np.clip((1 << 26) // (k_a * k_b), 1, 1024))


def by_tables(k_a: int, k_b: int, n: int) -> bool:
    """Whether cells of tables are drawn (or else points permuted)."""
    return k_a * k_b <= DRAWN_CELLS * n


def random_statistic(need: type, a: Array, b: Array, seed: int, information: float | None = None) -> Statistic:
    """The statistic of pairs that are independent given their sizes (draws × clusters), drawn on the GPU.

    `information` is E[MI] if all draws have the same sizes.
    """
    with in_memory():
        draws = len(a)
        fixed = [not x.strides[0] or draws == 1 for x in (a, b)]
        if need not in FUSED:
            tables = random_sums(a, b, fixed, seed, False, True)[-1]
            return need.from_tables(as_tile(tables))  # type: ignore[attr-defined, no-any-return]
        sums = random_sums(a, b, fixed, seed, need is Maxima, False)
        sizes = [line[line > 0] for x, same in zip((a, b), fixed, strict=True) for line in (x[:1] if same else x)]
        i = np.zeros(draws, dtype=np.int64) if fixed[0] else np.arange(draws)
        j = np.full(draws, len(sizes) - 1) if fixed[1] else np.arange(draws) + len(sizes) - draws
        n = int(sizes[0].sum())
        expected: Callable[[Array, Array], Array] | None = None
        if need is ChanceInfo and information is not None:
            expected = lambda i, _: np.full(len(i), information)  # noqa: E731
        elif need is ChanceInfo:
            runs = [Run(x, y, y + 1) for x, y in zip(i.tolist(), j.tolist(), strict=True)]
            expected = expected_all(sizes, runs, n)
        return fused.Own(n, sizes).counted(i, j, {need}, *sums[:4], expected).statistics[need]


def random_sums(
    a: Array, b: Array, fixed: Sequence[bool], seed: int, maxima: bool, whole: bool
) -> tuple[Array, Array, Array, Array, Array]:
    """Sums of random tables, as those of `Sums.result`, and, if requested, the tables (draws, k_a, k_b)."""
    cp = cupy()
    draws, n = len(a), int(a[0].sum())
    sides: list[DeviceArray] = []
    for x, same in zip((a, b), fixed, strict=True):
        there = cp.asarray(np.ascontiguousarray(x[:1] if same else x, dtype=np.uint32))
        sides += [there, i32(x.shape[1]), i32(0 if same else x.shape[1])]
    left = cp.empty((b.shape[1], draws), np.uint32)
    tops = cp.empty_like(left) if maxima else left
    sums = cp.empty((draws, SUMS), np.uint64)
    tables = cp.zeros((draws, a.shape[1], b.shape[1]), np.uint32) if whole else None
    kernel("random_tables", maxima)(
        (-(-draws // DRAW_THREADS),), (DRAW_THREADS,),
        (np.uint64(seed), i32(draws), i64(n), *sides, left, tops, *terms_for(n), sums,
         np.uint64(0) if tables is None else tables),
    )  # fmt: skip
    squares, logs, best_a, best_b = sums.get().astype(np.int64).T
    found = np.empty(0) if tables is None else tables.get().astype(np.int64)
    return squares, logs, best_a, best_b, found


def permuted(a: Labels, b: Labels, orders: Iterable[DeviceArray]) -> Iterator[list[Labels]]:
    """a, then b in each of these orders (permutations × points, on host or GPU), all on the GPU, batch by batch."""
    cp = cupy()
    n, kind = len(a), code_kind([a, b])
    on_card = [c.card.codes if c.card is not None else cp.asarray(c.codes) for c in (a, b)]
    sizes = [cpu.cluster_sizes(c) for c in (a, b)]
    with in_memory():
        for batch in orders:
            given = cp.asarray(batch)
            codes = device.stack_for(len(given) + 1, n, kind)
            codes[0, :n] = on_card[0]
            codes[1:, :n] = on_card[1][given]
            yield [
                Labels(None, card=device.Codes(codes, row, n, np.asarray(c.names), own))
                for row, (c, own) in enumerate([(a, sizes[0]), *[(b, sizes[1])] * len(given)])
            ]


def permuted_statistic(need: type, a: Labels, b: Labels, draws: int, seed: int) -> Iterator[Statistic]:
    """The statistic of a with random permutations of b, batch by batch."""
    kind = Tables if need is Table else need
    for members in permuted(a, b, permutations(len(a), draws, seed)):
        for tile in statistics(members, [Run(0, 1, len(members))], {need}):
            yield tile.statistics[kind]


def permutations(n: int, many: int, seed: int) -> Iterator[DeviceArray]:
    """Batches of random orders of n points, on the GPU: random keys, sorted. The orders follow from the seed alone."""
    cp = cupy()
    batch = max(1, min(many, int(device.free_memory() // 4 // (24 * n)), (1 << 27) // n))
    for start in range(0, many, batch):
        keys = cp.empty((min(batch, many - start), n), np.uint64)
        kernel("random_keys")((_key_blocks(n), len(keys)), (256,), (np.uint64(seed), i64(start), i64(n), keys))
        yield cp.argsort(keys, axis=1)


def _key_blocks(n: int) -> int:
    return max(1, min(256, n // 1024))
