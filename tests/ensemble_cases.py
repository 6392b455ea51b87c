"""Ensembles for the tests."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from strategies import MOST_POINTS, clusterings

import congruence as cg

A, B, C = [0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
U = [[0.5, 0.5], [1, 0], [0.25, 0.75], [0, 1], [0.5, 0.5], [0.75, 0.25]]
OF_TWO = ("arimm", "kas", "nsf", "nsf_printed", "sms", "ssms")


def members(n: int, gaps: bool = False, most: int = 4) -> st.SearchStrategy[list[list[Any]]]:
    hard = clusterings(n, 4)
    if gaps:
        holes = st.lists(st.booleans(), min_size=n, max_size=n).filter(lambda h: not all(h))
        hard = st.tuples(hard, holes).map(lambda lh: [None if hole else x for x, hole in zip(*lh, strict=True)])
    return st.lists(hard, min_size=1, max_size=most)


def several(gaps: bool = False, least: int = 2) -> st.SearchStrategy[list[list[Any]]]:
    return st.integers(least, MOST_POINTS - 2).flatmap(lambda n: members(n, gaps))


def with_labels(gaps: bool = False) -> st.SearchStrategy[tuple[list[list[Any]], list[int]]]:
    return st.integers(2, MOST_POINTS - 2).flatmap(lambda n: st.tuples(members(n, gaps), clusterings(n, 3)))


def partial(given: list[list[Any]], **options: Any) -> cg.Ensemble:
    return cg.Ensemble(given, unassigned="partial", **options)


def scores(p: Any, q: Any, **options: Any) -> dict[str, float]:
    return dict(cg.compare(p, q, [cg.measure(key, **options) for key in OF_TWO]))
