"""Data for the tests of density profiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

import congruence as cg

FIG3 = ([[8, 0, 5, 3], [0, 6, 3, 3]], [[5, 2, 2, 5], [3, 4, 6, 1]])


def close(x: float) -> Any:
    return pytest.approx(x, rel=1e-12, abs=1e-12)


def of(counts: list[list[float]], widths: list[int] | None = None) -> cg.Profile:
    return cg.Profile.of(counts, widths)


@st.composite
def clusterings(draw: st.DrawFn) -> tuple[np.ndarray, list[int], list[int]]:
    """Data on a grid of eighths, and two clusterings of their points."""
    n, r = draw(st.integers(1, 12)), draw(st.integers(1, 3))
    cells = draw(st.lists(st.integers(-8, 8), min_size=n * r, max_size=n * r))
    labels = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    return np.array(cells).reshape(n, r) / 8, draw(labels), draw(labels)
