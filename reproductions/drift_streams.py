"""Streams of windows in which one thing changes, for tests and for `reproductions.drift_power`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

#: clusters that count as right for each kind of change: cluster 2 changes, 5 is a new name
RIGHT = {"mix": (1, 2)}
KIND = {"move": "moved", "split": "split", "cut": "split", "merge": "merged", "new": "new", "gone": "gone", "mix": "moved",
        "wide": "moved", "size": "size"}  # fmt: skip


def stream(
    seed: int, change: str | None = None, *, windows: int = 50, at: int = 25, n: int = 1000, k: int = 5, features: int = 8,
    amount: float = 1.0, scale: float = 4.0, outlier: bool = False, words: int = 0, gaps: float = 0.0,
) -> Iterator[tuple[pd.DataFrame, np.ndarray]]:  # fmt: skip
    """(X, labels) of windows; from window `at` on, cluster 2 changes; labels are those of a fixed model unless renamed.

    Args:
        seed: Seed of the stream.
        change: One of `KIND`, "renamed" (no change but other labels in each window), or None.
        windows: Number of windows.
        at: First window that is changed.
        n: Points per window.
        k: Number of clusters.
        features: Number of features with a normal distribution around the centre of the cluster.
        amount: Size of the change in standard deviations, where it has one.
        scale: Standard deviation of the centres.
        outlier: Whether one value of the first and of every tenth window is 1e6.
        words: Number of nominal features, with probabilities that depend on the cluster.
        gaps: Share of missing values in the first feature.
    """
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, scale, (k, features))
    chances = rng.dirichlet(np.ones(6), (words, k))
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
        if outlier and w % 10 == 0:
            X[0, 0] = 1e6
        X[rng.random(n) < gaps, 0] = np.nan
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(features)])
        for j in range(words):
            drawn = (rng.random(n)[:, None] > np.cumsum(chances[j][y], axis=1)).sum(axis=1)
            table[f"word{j}"] = np.array(list("abcdef"))[np.minimum(drawn, 5)]
        if w >= at and change in ("gone", "size"):
            keep = ~here if change == "gone" else ~here | (rng.random(n) < 1 / (1 + 2 * amount))
            table, labels = table[keep], labels[keep]
        if change == "renamed" and w:
            labels = rng.permutation(k)[labels]
        yield table, labels
