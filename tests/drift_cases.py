"""Streams of windows in which one thing changes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

#: clusters that count as right for each kind of change: cluster 2 changes, 5 is a new name
RIGHT = {"mix": (1, 2)}
KIND = {"move": "moved", "split": "split", "cut": "split", "merge": "merged", "new": "new", "gone": "gone", "mix": "moved",
        "wide": "moved", "size": "size"}  # fmt: skip


def stream(
    seed: int, change: str | None = None, *, windows: int = 50, at: int = 25, n: int = 1000, k: int = 5, features: int = 8,
    amount: float = 1.0, scale: float = 4.0,
) -> Iterator[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    """(X, labels) of windows; from window `at` on, cluster 2 changes; labels are those of a fixed model unless renamed."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, scale, (k, features))
    for w in range(windows):
        y = rng.integers(0, k, n)
        X, labels = centres[y] + rng.normal(size=(n, features)), y.copy()
        here, half = y == 2, rng.random(n) < 0.5
        if w >= at:
            if change == "move":
                X[here, 3 % features] += amount
            elif change == "wide":
                X[here, 3 % features] += np.where(half, 1.5, -1.5)[here] * amount
            elif change == "split":
                labels[here & half] = k
            elif change == "cut":
                labels[here & (X[:, 3 % features] > centres[2, 3 % features])] = k
            elif change == "merge":
                labels[here] = 1
            elif change == "mix":
                both = (here | (y == 1)) & half
                labels[both] = np.where(y[both] == 2, 1, 2)
            elif change == "new":
                those = rng.random(n) < 0.1
                X[those] = centres.mean(axis=0) + 8 + rng.normal(size=(int(those.sum()), features))
                labels[those] = k
            elif change in ("gone", "size"):
                keep = ~here if change == "gone" else ~here | (rng.random(n) < 1 / (1 + 2 * amount))
                X, labels = X[keep], labels[keep]
        if change == "renamed" and w:
            labels = rng.permutation(k)[labels]
        yield X, labels
