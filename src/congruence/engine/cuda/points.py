"""The number of clusterings in which two points are together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from congruence.engine.cuda.stacks import i32, i64, whole_stack
from congruence.engine.plan import Progress
from congruence.inputs.labels import Labels
from congruence.machine import device
from congruence.machine.device import ctype, cupy, kernel
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray

# --- agreement of points ----------------------------------------------------------------------------------------


class Points:
    """Complete clusterings on the GPU, one point per row, to count in how many two points are together."""

    def __init__(self, labels: Sequence[Labels]) -> None:
        cp = cupy()
        stack = whole_stack(labels)
        if stack is None:
            raise device.refusal(f"{len(labels)} clusterings of {len(labels[0]):,} points do not fit on the GPU")
        self.n, self.members = stack.n, len(labels)
        self.kind = ctype(stack.codes)
        packed = 4 // stack.codes.itemsize
        self.words = -(-self.members // packed)
        self.padding = self.words * packed - self.members
        self.labels = cp.empty((self.n, self.words * packed), stack.codes.dtype)
        kernel("by_point", self.kind)(
            (-(-self.n // 32), -(-self.labels.shape[1] // 32)), (256,),
            (*stack.arguments, i32(self.members), i32(self.labels.shape[1]), self.labels),
        )  # fmt: skip

    def _run(self, rows: slice, many: DeviceArray, out: DeviceArray, shared: int) -> None:
        kind = "u64" if out.dtype == np.uint64 else ctype(out)
        high = rows.stop - rows.start
        kernel("agreement", self.kind, kind)(
            (-(-self.n // 64), -(-high // 64)), (256,),
            (self.labels, i32(self.words), i64(self.n), i64(rows.start), i64(high), i64(0), i64(self.n),
             i32(self.padding), np.uint64(0) if many is None else many, out),
            shared_mem=shared,
        )  # fmt: skip

    def counts(self, rows: slice) -> DeviceArray:
        """How many members put these points together with each point, in the smallest type of codes, on the GPU."""
        out = cupy().empty((rows.stop - rows.start, self.n), device.code_kind(self.members))
        self._run(rows, None, out, 0)
        return out

    def histogram(self, many: Array | None, progress: Progress) -> Array:
        """The number of pairs of points that are together in 0, 1, … all members; `many` is the frequency of each point."""
        cp = cupy()
        most = int(kernel("agreement", self.kind, "u64").max_dynamic_shared_size_bytes) // 8 - 1
        if self.members > most:  # a block counts in shared memory
            raise device.refusal(f"a CUDA GPU counts pairs of points for up to {most:,} members, not {self.members:,}")
        bins = cp.zeros(self.members + 1, np.uint64)
        often = None if many is None else cp.asarray(many, dtype=np.uint32)
        for start in range(0, self.n, 4096):
            rows = slice(start, min(start + 4096, self.n))
            self._run(rows, often, bins, 8 * (self.members + 1))
            cp.cuda.get_current_stream().synchronize()
            progress.add((rows.stop - rows.start) * (2 * self.n - rows.start - rows.stop + 1) // 2)
        return np.asarray(bins.get().astype(np.int64))
