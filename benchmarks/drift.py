"""Time and memory of `cg.drift` per window, beside tests of raw values: `python -m benchmarks.drift`.

First a stream whose windows are made one after the other: memory with 10 and 40 windows. Then streams of windows × points, 5
clusters and 8 features. "KS" is scipy's Kolmogorov–Smirnov per cluster and feature against the first window, which must stay in
memory. "ADWIN" is river's, per feature and row; "Evidently" is its preset of tests per column, on one window. Both are timed up
to 10,000 points, if they are installed.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import congruence as cg
from reproductions.drift_power import adwin, drifted, ks_of_clusters
from reproductions.drift_streams import stream


def generated(windows: int, n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Windows that are made when they are asked for."""
    rng = np.random.default_rng(0)
    for _ in range(windows):
        y = rng.integers(0, 5, n)
        yield rng.normal(size=(n, 8)) + 3.0 * y[:, None], y


def seconds(call: Callable[[Any], object], parts: Any) -> float:
    """Seconds of one core."""
    begun = time.process_time()
    call(parts)
    return time.process_time() - begun


def main() -> None:
    """Print the memory first, as peers import much, then the times."""
    cg.drift(list(stream(0, windows=3)))  # imports
    print("memory of the process after a stream of windows of 200,000 points that is never in memory as a whole")
    for windows in (10, 40):
        cg.drift(generated(windows, 200_000))
        print(f"  {windows} windows: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    print("\nms of one core per window: cg.drift, KS per cluster and feature, ratio")
    for n in (1_000, 10_000, 100_000):
        parts = list(stream(0, windows=8, n=n))
        ours, theirs = (1000 * seconds(call, parts) / len(parts) for call in (cg.drift, ks_of_clusters))
        print(f"  {n:>7,} points  {ours:8.1f}  {theirs:8.1f}  {theirs / ours:5.1f}×")
        if n > 10_000:
            continue
        if find_spec("river"):
            print(f"{'':18}{1000 * seconds(adwin, parts) / len(parts):8.1f}  ADWIN")
        if find_spec("evidently"):
            drifted(parts[7][0], parts[0][0])  # imports
            print(f"{'':18}{1000 * seconds(lambda parts: drifted(parts[7][0], parts[0][0]), parts):8.1f}  Evidently")


if __name__ == "__main__":
    main()
