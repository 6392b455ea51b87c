"""All pairs of complete hard clusterings by one compiled kernel, and the sums of each clustering by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from threading import Lock

import numpy as np

from congruence.engine.joint_codes import JointCodes, JointTables
from congruence.engine.plan import MEMORY, Counted, Progress, Run, in_threads, pairs_of, tiles
from congruence.inputs.labels import Labels
from congruence.statistics import Statistic
from congruence.statistics.information import (
    ChanceInfo,
    Info,
    terms_below,
    terms_of,
    unit_of,
)
from congruence.statistics.matrices import MatrixSums, MemberInfo
from congruence.statistics.maxima import Maxima
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array

#: most clusterings of which all pairs are summed by groups of clusterings, in tables of clusterings × clusterings
MOST_JOINT = 2_000

#: x·log(n/x) is looked up below this and computed above
LOOKUP = 1 << 20

#: from this many points, and up to this many cells of all tables, pairs are counted on one block of points after the other
BLOCKED_FROM, BLOCKED_CELLS, BLOCK = 1 << 22, 1 << 21, 1 << 15


def fused_tiles(
    labels: Sequence[Labels], sizes: Sequence[Array], runs: Sequence[Run], wanted: set[type],
    expected: Callable[[Array, Array], Array] | None, threads: int, progress: Progress | None,
) -> Iterator[Counted]:  # fmt: skip
    """Sums of all pairs, of clusters of these sizes, by the fused kernel, which keeps a table only while it is summed."""
    from congruence.engine.kernels import fused

    n = len(labels[0])
    stack: Array | None = None
    k = np.array([c.k for c in labels], dtype=np.int64)
    own = Own(n, sizes)
    known, unit = terms_below(n, min(n, LOOKUP) + 1), float(unit_of(n))
    maxima = Maxima in wanted
    per_task = max(1, int(5_000_000 // n))
    joint = JointCodes(k.tolist(), n)
    together = joint.pays and len(labels) <= MOST_JOINT and 2 * sum(map(len, runs)) >= len(labels) ** 2
    if together and n < BLOCKED_FROM:
        pair_i, pair_j = pairs_of(runs)
        sums = _jointly(labels, joint, (pair_i, pair_j), known, unit, maxima, threads, progress)
        yield own.counted(pair_i, pair_j, wanted, *sums, expected)
        return
    for tile in tiles(runs, lambda i, j: np.full(len(j), 64.0), MEMORY):
        pair_i, pair_j = pairs_of(tile)
        many = len(pair_i)
        if n >= BLOCKED_FROM and int((k[pair_i] * k[pair_j]).sum()) <= BLOCKED_CELLS:
            groups = joint if together and joint.cells <= BLOCKED_CELLS else JointCodes(k.tolist(), n, alone=True)
            sums = _by_blocks(labels, groups, pair_i, pair_j, maxima, threads)
            yield own.counted(pair_i, pair_j, wanted, *sums, expected)
            if progress is not None:
                progress.add(many)
            continue
        stack = stacked(labels) if stack is None else stack
        squares, logs = np.empty(many, np.int64), np.empty(many, np.int64)
        best_a, best_b = (np.empty(many if maxima else 0, np.int64) for _ in range(2))
        jobs, start = [], 0
        for run in tile:
            for first in range(run.first, run.last, per_task):
                last = min(first + per_task, run.last)
                at = slice(start, start + last - first)
                start = at.stop

                outputs = squares[at], logs[at], best_a[at], best_b[at]
                jobs.append((last - first, partial(fused, stack, k, run.i, first, last, known, unit, maxima, *outputs)))
        _run_counted(jobs, threads, progress)
        yield own.counted(pair_i, pair_j, wanted, squares, logs, best_a, best_b, expected)


def _jointly(
    labels: Sequence[Labels], joint: JointCodes, here: tuple[Array, Array], known: Array, unit: float, maxima: bool,
    threads: int, progress: Progress | None,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """Sums of these pairs, by the tables of all pairs of groups of clusterings."""
    from congruence.engine.kernels import fused_jointly

    codes, many = joint.encoded([c.codes for c in labels]), len(labels)
    groups, n = len(joint.groups), len(labels[0])
    squares, logs = np.empty((many, many), np.int64), np.empty((many, many), np.int64)
    best = np.zeros((many, many) if maxima else (0, 0), np.int64)
    step = max(1, int(5_000_000 // n))
    about = codes, joint.widths, joint.starts, joint.order, joint.k, joint.digits
    results = known, unit, maxima, squares, logs, best
    jobs = []
    for group, first in ((x, y) for x in range(groups) for y in range(x, groups, step)):
        last, own = min(first + step, groups), len(joint.groups[group])
        pairs = own * int(joint.starts[last] - joint.starts[first]) - (own * (own - 1) // 2 if first == group else 0)
        jobs.append((pairs, partial(fused_jointly, *about, group, first, last, *results)))
    _run_counted(jobs, threads, progress)
    none = np.empty(0, np.int64)
    return squares[here], logs[here], best[here] if maxima else none, best.T[here] if maxima else none


def joint_tables(
    labels: Sequence[Labels], joint: JointCodes, pairs: tuple[Array, Array], threads: int
) -> dict[tuple[int, int], Array]:
    """The tables of pairs of clusterings by their groups, counted on one block of points after the other."""
    n = len(labels[0])

    def block(here: slice) -> Array:
        return joint.filled(lambda c, out: labels[c].fill(here, out), here.stop - here.start)

    whole, adding = JointTables(joint, pairs), Lock()
    total = np.zeros(len(whole.counts), np.int64)

    def work(part: slice) -> None:
        tables = JointTables(joint, pairs)
        for start in range(part.start, part.stop, BLOCK):
            tables.add(block(slice(start, min(start + BLOCK, part.stop))))
        with adding:
            np.add(total, tables.counts, out=total)

    step = min(-(-n // (4 * threads)), 1 << 30)
    in_threads(threads, [partial(work, slice(at, min(at + step, n))) for at in range(0, n, step)])
    return whole.split(total)


def _by_blocks(
    labels: Sequence[Labels], joint: JointCodes, pair_i: Array, pair_j: Array, maxima: bool, threads: int
) -> tuple[Array, Array, Array, Array]:
    """Sums of all pairs of many points: every table is counted on one block of points, in cache, before the next block."""
    n = len(labels[0])
    each = joint_tables(labels, joint, (pair_i, pair_j), threads)
    tables = [each[i, j] for i, j in zip(pair_i.tolist(), pair_j.tolist(), strict=True)]
    best = [[int(t.max(axis=1 - side).sum()) for t in tables] if maxima else [] for side in (0, 1)]
    return (
        np.array([int((t**2).sum()) for t in tables], dtype=np.int64),
        np.array([int(terms_of(t.ravel(), n).sum()) for t in tables], dtype=np.int64),
        np.array(best[0], dtype=np.int64), np.array(best[1], dtype=np.int64),
    )  # fmt: skip


class Own:
    """Sums of each complete clustering by itself, Σ size² and Σ size·log(n/size); statistics need them too."""

    def __init__(self, n: int, sizes: Sequence[Array] | Array) -> None:
        self.n, self.sizes = n, sizes  # one row each; or an array, with zeros after the sizes of each
        if isinstance(sizes, np.ndarray):
            self.squares = (sizes**2).sum(axis=1)
        else:
            self.squares = np.array([int((x**2).sum()) for x in sizes])

    @cached_property
    def units(self) -> Array:
        """Σ size·log(n/size) of each clustering in whole units."""
        if isinstance(self.sizes, np.ndarray):
            return np.asarray(terms_of(self.sizes, self.n).sum(axis=1))
        first = np.concatenate([[0], np.cumsum([len(x) for x in self.sizes])[:-1]])
        return np.add.reduceat(terms_of(np.concatenate(self.sizes), self.n), first)

    def counted(
        self, pair_i: Array, pair_j: Array, wanted: set[type], squares: Array, logs: Array, best_a: Array,
        best_b: Array,
        expected: Callable[[Array, Array], Array] | None,
    ) -> Counted:  # fmt: skip
        """The statistics of pairs from Σn² and Σ n_ij·log(n/n_ij) in whole units, and from maxima if requested."""
        square_a, square_b = self.squares[pair_i], self.squares[pair_j]
        identical = (squares == square_a) & (squares == square_b)
        total = np.full(len(pair_i), self.n, dtype=np.int64)
        found: dict[type, Statistic] = {}
        for need in wanted & {Pairs, Gram}:
            found[need] = need.from_squares(total, total, squares, square_a, square_b, identical)  # type: ignore[attr-defined]
        if MatrixSums in wanted:
            found[MatrixSums] = MatrixSums.of_partitions(
                Pairs.from_squares(total, total, squares, square_a, square_b, identical), total, total
            )
        if wanted & {Info, ChanceInfo, MemberInfo}:
            info = Info.from_units(total, self.units[pair_i], self.units[pair_j], logs, identical)
            found[Info], found[MemberInfo] = info, MemberInfo(info)
            if ChanceInfo in wanted:
                assert expected is not None
                found[ChanceInfo] = ChanceInfo.with_expected(info, expected(pair_i, pair_j))
        if Maxima in wanted:
            found[Maxima] = Maxima(total, best_a, best_b, identical)
        return Counted(pair_i, pair_j, total, found)


def _run_counted(jobs: Sequence[tuple[int, Callable[[], object]]], threads: int, progress: Progress | None) -> None:
    """Run the jobs in threads and report progress in pairs; Ctrl-C cancels jobs that have not started."""
    pool = ThreadPoolExecutor(threads)
    try:
        for pairs, future in [(pairs, pool.submit(job)) for pairs, job in jobs]:
            future.result()
            if progress is not None:
                progress.add(pairs)
    finally:
        pool.shutdown(cancel_futures=True)


def stacked(labels: Sequence[Labels]) -> Array:
    """All codes as one array, one clustering per row, in the widest of their types."""
    return np.stack([c.codes for c in labels]).astype(np.result_type(*[c.codes.dtype for c in labels]), copy=False)
