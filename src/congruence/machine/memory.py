"""Memory use of this process, and a memory limit."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

#: seconds between two checks
EVERY = 0.01


def used() -> int:
    """Memory use of this process in bytes; its peak, if the system does not report the current value.

    >>> used() > 1_000_000
    True
    """
    try:
        with open("/proc/self/statm", "rb") as about:
            return int(about.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


@contextmanager
def at_most(limit: float, over: Callable[[int], object]) -> Iterator[None]:
    """Call `over` with the bytes used, in a separate thread, as soon as this process exceeds the limit in bytes.

    >>> found = []
    >>> with at_most(1, found.append):
    ...     while not found:
    ...         pass
    >>> len(found)
    1
    """
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(EVERY):
            now = used()
            if now > limit:
                over(now)
                return

    thread = threading.Thread(target=watch, daemon=True, name="memory")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def release() -> None:
    """Return unused memory to the system: collect reference cycles, and trim the pools of arrow and of the C library."""
    gc.collect()
    trim()


def trim() -> None:
    """Give memory that arrow and C have freed back to the system."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # only glibc has it
        ctypes.CDLL(None).malloc_trim(0)
