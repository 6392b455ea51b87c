"""Labels for the tests of counting."""

from __future__ import annotations

from collections import Counter
from typing import Any

import doors
import numpy as np
import pytest

import congruence as cg
from congruence.engine import cpu, fused

ROUTES = {
    **doors.ROUTES,
    "numpy in small pieces": {**doors.NUMPY, (cpu, "CHUNK"): 7},
    "compiled, block by block": {**doors.COMPILED, (fused, "BLOCKED_FROM"): 1, (fused, "BLOCK"): 64},
}
#: measures of pairs of labels with equal numbers of clusters
KEYS = (*cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all"), *(m.key for m in cg.measures() if m.is_historical))


def take(monkeypatch: pytest.MonkeyPatch, route: str) -> None:
    for (module, name), value in ROUTES[route].items():
        monkeypatch.setattr(module, name, value)


def random_labels(n: int, clusters: list[int], seed: int = 0) -> list[Any]:
    """Label vectors that agree in part: each copies the first for half of the points."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, clusters[0], n)
    found = [first]
    for k in clusters[1:]:
        found.append(np.where(rng.random(n) < 0.5, first % k, rng.integers(0, k, n)))
    return found


def counted(a: Any, b: Any) -> dict[tuple[int, int], int]:
    """The table by a dictionary, point by point."""
    return dict(Counter(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True)))


def cells(table: cg.Table) -> dict[tuple[int, int], int]:
    where = zip(table.row.tolist(), table.col.tolist(), table.count.tolist(), strict=True)
    return {(table.rows[i], table.columns[j]): count for i, j, count in where}
