"""Hierarchies for the tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

GOLDEN = json.loads((Path(__file__).parent / "golden" / "hierarchies.json").read_text())
TREES = {case["id"]: case for case in GOLDEN["trees"]}


def linkage_of(rows) -> np.ndarray:
    return np.array(rows, dtype=float).reshape(-1, 4)


def random_linkage(n: int, rng: np.random.Generator, kind: str = "distinct") -> np.ndarray:
    """Clusters merged at random, at heights that rise, tie, or go up and down."""
    alive, rows = list(range(n)), []
    heights = {
        "distinct": np.sort(rng.random(n - 1)), "tied": np.sort(rng.integers(1, 4, n - 1)).astype(float),
        "inverted": rng.random(n - 1),
    }[kind]  # fmt: skip
    sizes = [1] * n
    for m in range(n - 1):
        x, y = sorted(alive.pop(rng.integers(len(alive))) for _ in range(2))
        sizes.append(sizes[x] + sizes[y])
        alive.append(n + m)
        rows.append((x, y, heights[m], sizes[-1]))
    return linkage_of(rows)


def close(x, tolerance: float = 1e-10):
    return pytest.approx(x, rel=0, abs=tolerance, nan_ok=True)
