"""Compare all counting routes, all entry points of the library and both orders with one assertion.

`everywhere(a, b, keys)` returns the values of cg.compare(a, b), after checking that all other ways give the same;
`with on_route("sparse"):` forces counting to take this route for data of any size.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import naive
import numpy as np
import pytest

import congruence as cg
from congruence.engine import cpu, fused, plan
from congruence.machine import device, jit

Settings = dict[tuple[Any, str], Any]
NUMPY: Settings = {(jit, "COMPILED_FROM"): math.inf, (jit, "LOADED_FROM"): math.inf}
COMPILED: Settings = {(jit, "COMPILED_FROM"): 0, (jit, "LOADED_FROM"): 0, (jit, "MOST_OF_PAIR"): 0}
#: settings that make small data take the route of large data
ROUTES: dict[str, Settings] = {
    "numpy": NUMPY,
    "compiled": COMPILED,
    "compiled, pair by pair": {**COMPILED, (jit, "MOST_OF_PAIR"): math.inf},
    "compiled, few logarithms looked up": {**COMPILED, (fused, "LOOKUP"): 2},
    "sparse": {**NUMPY, (cpu, "DENSE_CELLS"): 0},
    "sparse, compiled": {**COMPILED, (cpu, "DENSE_CELLS"): 0},
}


def missing_card() -> str:
    """Why the GPU cannot be used here; empty if it can."""
    try:
        device.cupy()
    except cg.InputError as error:
        return str(error)
    return ""


if not missing_card():
    from congruence.engine.cuda import chunks, slices, sums

    CUDA: Settings = {(plan, "AUTO"): "cuda"}

    def nothing(k: Any, largest: Any, others: Any) -> Any:
        """No table is counted in slices."""
        return np.zeros(len(k), dtype=bool)

    ROUTES |= {
        "cuda": CUDA,
        "cuda, few logarithms looked up": {**CUDA, (sums, "LOOKUP"): 2},
        "cuda, slices": {**CUDA, (sums, "LARGEST"): 0, (sums, "SORTED_AT_ONCE"): 2},
        "cuda, hashed slices": {**CUDA, (sums, "LARGEST"): 0, (slices, "DENSE"): 0},
        "cuda, chunks": {**CUDA, (sums, "LARGEST"): 0, (sums, "sliceable"): nothing},
        "cuda, sorted cells": {**CUDA, (sums, "LARGEST"): 0, (sums, "sliceable"): nothing, (chunks, "CHUNKS"): ()},
        "cuda, parts": {**CUDA, (sums, "SPLIT_FROM"): 0, (sums, "SPLIT_POINTS"): 1},
        "cuda, sparse": {**CUDA, (cpu, "DENSE_CELLS"): 0},
    }
#: for tests that only make sense on a GPU
needs_card = pytest.mark.skipif(bool(missing_card()), reason=f"no CUDA GPU: {missing_card()}")
#: measures of similarity matrices and ensembles, which have separate tests
OF_MATRICES = (
    "arimp", "arimm", "kas", "nsf", "nsf_printed", "sms", "ssms", "anmi", "pooled_ami", "certainty", "uncertainty", "pnmi",
    "pnmi_sum",
)  # fmt: skip
#: measures of density profiles, which need the data too and have separate tests
OF_PROFILES = ("adco", "adco_distance", "adco_metric", "adco_cosine")
#: measures of two hierarchies, which have separate tests
OF_TREES = ("cophenetic", "cophenetic_spearman", "gamma", "robinson_foulds", "hmi", "nhmi", "ahmi")
#: measures of covers, which have separate tests
OF_COVERS = tuple(m.key for m in cg.measures() if m.family == "covers")
#: measures of two clusterings
KEYS = tuple(m.key for m in cg.measures() if m.key in naive.MEASURES)


@contextmanager
def on_route(name: str) -> Iterator[None]:
    """Count by this route."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, setting), value in ROUTES[name].items():
            patch.setattr(module, setting, value)
        yield


def close(value: Any) -> Any:
    """Equal up to rounding; undefined equals undefined."""
    return pytest.approx(value, rel=1e-12, abs=1e-12, nan_ok=True)


def applicable(a: Sequence[Any], b: Sequence[Any]) -> list[str]:
    """Keys of the measures for hard labels; lambda needs equal numbers of clusters."""
    return [key for key in KEYS if key != "lambda" or len(set(a)) == len(set(b))]


def scorer(key: str) -> Any:
    """The function of a measure: cg.ari, and cg.lambda_statistic for lambda."""
    return getattr(cg, "lambda_statistic" if key == "lambda" else key)


def by_need(keys: Sequence[str]) -> list[list[str]]:
    """The keys by the statistic they read: sums of all pairs need no tables and take a separate route."""
    groups: dict[type, list[str]] = {}
    for key in keys:
        groups.setdefault(cg.measure(key).needs, []).append(key)
    return list(groups.values())


def doors(a: Any, b: Any, keys: Sequence[str], **options: Any) -> Iterator[tuple[str, dict[str, float]]]:
    """(entry point, values of the pair (a, b)) for every entry point; compare first."""
    yield "compare", cg.compare(a, b, keys, **options).to_dict()
    yield "scorer", {key: scorer(key)(a, b, **options) for key in keys}
    for group in (list(keys), *by_need(keys)):
        one_way = cg.compare_all([a, b], group, threads=1, **options)
        yield "compare_all [a, b]", {key: one_way[key][0, 1] for key in group}
        other_way = cg.compare_all([b, a], group, threads=1, **options)
        yield "compare_all [b, a]", {key: other_way[key][1, 0] for key in group}
        rows = cg.compare_to(a, [a, b], group, threads=1, **options)
        yield "compare_to", {key: rows[key][1] for key in group}


def everywhere(a: Any, b: Any, keys: Sequence[str], routes: Iterable[str] = ROUTES, **options: Any) -> dict[str, float]:
    """The values of cg.compare(a, b), after checking every entry point on these routes."""
    expected: dict[str, float] = {}
    for route in routes:
        with on_route(route):
            for door, values in doors(a, b, keys, **options):
                expected = expected or values
                for key, value in values.items():
                    assert value == close(expected[key]), f"{key} by {door}, {route}: {a}, {b}, {options}"
    return expected


def matrices(clusterings: Sequence[Any], keys: Sequence[str]) -> dict[str, np.ndarray]:
    """All ordered pairs, each counted separately (compare_all computes symmetric measures once per pair)."""
    rows = [cg.compare_to(a, list(clusterings), list(keys), threads=1) for a in clusterings]
    return {key: np.array([row[key] for row in rows]) for key in keys}
