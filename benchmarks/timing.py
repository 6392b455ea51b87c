"""Times of calls, and calls in a process of their own, so that their peak memory can be measured."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from queue import Empty
from typing import Any


def once(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock and of the processor of one call, and its result."""
    start, worked = time.perf_counter(), time.process_time()
    found = call()
    return time.perf_counter() - start, time.process_time() - worked, found


def wall(call: Callable[[], Any]) -> float:
    """Wall time of one call."""
    return once(call)[0]


def times(call: Callable[[], Any], repeats: int) -> list[float]:
    """Wall times of some calls, after one call to warm up (compiled kernels, file cache)."""
    call()
    return [wall(call) for _ in range(repeats)]


def median(call: Callable[[], Any], repeats: int = 5) -> float:
    """Median wall time of a call, after one to warm up."""
    return statistics.median(times(call, repeats))


def best(call: Callable[[], Any], repeats: int = 7) -> float:
    """Shortest wall time of a call, after one to warm up."""
    return min(times(call, repeats))


def peak() -> float:
    """The most memory this process has used, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def in_process(work: Callable[..., Any], *args: Any) -> Any:
    """The result of a function of a module in a new process; the exit code as text if that ends without one."""
    context = multiprocessing.get_context("spawn")
    queue: Any = context.Queue()
    process = context.Process(target=_put, args=(queue, work, *args))
    process.start()
    while True:
        over = not process.is_alive()
        try:
            answer = queue.get(timeout=1)
            break
        except Empty:
            if over:
                return f"ended with code {process.exitcode}"
    process.join()
    return answer


def _put(queue: Any, work: Callable[..., Any], *args: Any) -> None:
    queue.put(work(*args))
