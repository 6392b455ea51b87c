"""Covers for the tests."""

from __future__ import annotations

import json
from pathlib import Path

import naive_covers as naive
from hypothesis import strategies as st

import congruence as cg

GOLDEN = json.loads((Path(__file__).parent / "golden" / "covers.json").read_text())
KEYS = tuple(naive.MEASURES)


def cover(clusters, n):
    return cg.Cover(clusters, points=n)


@st.composite
def pairs_of_covers(draw, most=7):
    """(a, b, n): two lists of clusters; clusters may repeat, overlap, and leave points out."""
    n = draw(st.integers(1, most))
    cluster = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    a, b = (draw(st.lists(cluster, max_size=5)) for _ in range(2))
    return a, b, n
