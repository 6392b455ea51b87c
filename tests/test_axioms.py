"""Declared axioms hold on all partitions of few points; undeclared ones are refuted.

For each measure and each axiom of the registry there is either the declaration, checked exhaustively here, or a stored
counter-example (`golden/counterexamples.json`), checked too. So a missing declaration fails like a false one.
"""

from __future__ import annotations

import itertools
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from doors import KEYS, matrices
from strategies import partitions, profiles, same_partition

import congruence as cg
from congruence.formulas.record import AXIOMS

COUNTEREXAMPLES = json.loads((Path(__file__).parent / "golden" / "counterexamples.json").read_text())
DECLARED = {key: cg.measure(key).axioms for key in KEYS}
MOST_POINTS = 5  # 52 partitions


@cache
def against_profiles(n: int, swapped: bool = False) -> dict[str, np.ndarray]:
    """Each measure for one partition of each list of sizes (rows) and all partitions of n points; NaN where undefined.

    Up to the order of the points these are all ordered pairs of partitions.
    """
    every, some = partitions(n), profiles(n)
    found = against(some, every, swapped, [key for key in KEYS if key != "lambda"])
    found["lambda"] = np.full((len(some), len(every)), np.nan)
    for k in range(2, n + 1):  # lambda compares equal numbers of clusters, and more than one
        rows, columns = ([i for i, p in enumerate(x) if max(p) + 1 == k] for x in (some, every))
        alike = against([some[i] for i in rows], [every[j] for j in columns], swapped, ["lambda"])
        found["lambda"][np.ix_(rows, columns)] = alike["lambda"]
    return found


def against(some: list[list[int]], every: list[list[int]], swapped: bool, keys: list[str]) -> dict[str, np.ndarray]:
    """The matrices of `some` (rows) against `every`, with the rows as references, or the columns if swapped."""
    references, others = (every, some) if swapped else (some, every)
    tables = [cg.compare_to(a, others, keys, threads=1) for a in references]
    found = {key: np.array([table[key] for table in tables]) for key in keys}
    return {key: values.T for key, values in found.items()} if swapped else found


@cache
def every_pair(n: int) -> dict[str, np.ndarray]:
    """The matrices over all ordered pairs of partitions of n points, of measures with a triangle inequality."""
    return matrices(partitions(n), that_declare("triangle"))


def distance(key: str, values: np.ndarray) -> np.ndarray:
    """The values as distances: 1 − s for similarities."""
    return values if cg.measure(key).better == "lower" else 1 - values


def that_declare(axiom: str) -> list[str]:
    return [key for key in KEYS if axiom in DECLARED[key]]


def that_do_not_declare(axiom: str) -> list[str]:
    return [key for key in KEYS if axiom not in DECLARED[key]]


def mean_over_permutations(key: str, a: list[int], b: list[int]) -> float:
    """The mean of the measure when the points of b are permuted in every way (each arrangement comes equally often)."""
    arrangements = [list(order) for order in sorted(set(itertools.permutations(b)))]
    return float(cg.compare_to(a, arrangements, key, threads=1)[key].mean())


def test_every_axiom_of_every_measure_is_decided():
    """Declared, or refuted by a stored counter-example: nothing is left open, and nothing is both."""
    refuted = {(key, axiom) for key, found in COUNTEREXAMPLES.items() for axiom in found}
    declared = {(key, axiom) for key in KEYS for axiom in DECLARED[key]}
    assert refuted.isdisjoint(declared)
    assert refuted | declared == {(key, axiom) for key in KEYS for axiom in AXIOMS}


# --- declared: true everywhere ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("key", that_declare("symmetric"))
def test_symmetric(key):
    """Swapping the two clusterings changes nothing, for all pairs of partitions of n ≤ 5 points."""
    for n in range(1, MOST_POINTS + 1):
        values, swapped = against_profiles(n)[key], against_profiles(n, swapped=True)[key]
        assert values == pytest.approx(swapped, rel=1e-12, abs=1e-12, nan_ok=True), n


@pytest.mark.parametrize("key", that_declare("definite"))
def test_definite(key):
    """Identical partitions reach the best value exactly, and no others come close to it, for all pairs of n ≤ 5 points."""
    best = cg.measure(key).best
    for n in range(1, MOST_POINTS + 1):
        values = against_profiles(n)[key]
        same = np.array([[same_partition(a, b) for b in partitions(n)] for a in profiles(n)])
        assert (values[same] == best).all(), n
        assert (np.abs(values[~same] - best) > 1e-3).all(), n


@pytest.mark.parametrize("key", that_declare("triangle"))
def test_triangle(key):
    """d(a, c) ≤ d(a, b) + d(b, c) for all ordered triples of partitions of n ≤ 5 points."""
    for n in range(1, MOST_POINTS + 1):
        d = distance(key, every_pair(n)[key])
        assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all(), n


@cache
def larger_pairs() -> list[dict[str, np.ndarray]]:
    """The matrices of some clusterings of 7 to 40 points: random ones, their refinements and one with points moved."""
    rng = np.random.default_rng(9)
    keys = [key for key in KEYS if "triangle" in DECLARED[key]]
    found = []
    for n in (7, 8, 12, 20, 40):
        clusterings = [rng.integers(0, k, n) for k in (2, 2, 3, 4, 6)]
        clusterings += [3 * clusterings[0] + clusterings[2], np.arange(n), np.zeros(n, dtype=np.int64)]
        moved = clusterings[2].copy()
        moved[:2] = (moved[:2] + 1) % 3
        found.append(matrices([c.tolist() for c in (*clusterings, moved)], keys))
    return found


@pytest.mark.parametrize("key", that_declare("triangle"))
def test_triangle_on_more_points(key):
    """The inequality holds for larger clusterings too (the greedy IRM, say, breaks it first at n = 7)."""
    for values in larger_pairs():
        d = distance(key, values[key])
        assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12 * max(1.0, d.max())).all()


#: sizes of clusters, n ≤ 6, but not both trivial in the same way: then every permutation is the same partition
SIZES = [
    ([0, 0, 1], [0, 0, 1]),
    ([0, 0, 1, 1], [0, 0, 0, 1]),
    ([0, 0, 1, 2], [0, 0, 1, 1]),
    ([0, 0, 0, 0], [0, 0, 1, 1]),
    ([0, 1, 2, 3], [0, 0, 0, 1]),
    ([0, 0, 0, 1, 1], [0, 0, 1, 1, 2]),
    ([0, 0, 0, 0, 1], [0, 0, 0, 1, 2]),
    ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]),
    ([0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 2]),
    ([0, 0, 0, 0, 1, 1], [0, 0, 1, 2, 3, 4]),
]


@pytest.mark.parametrize("key", that_declare("baseline"))
def test_baseline(key):
    """The mean over all permutations of the points of one clustering is 0, for any cluster sizes."""
    for a, b in SIZES:
        assert mean_over_permutations(key, a, b) == pytest.approx(0, abs=1e-12), (a, b)
        assert mean_over_permutations(key, b, a) == pytest.approx(0, abs=1e-12), (b, a)


# --- not declared: false somewhere -----------------------------------------------------------------------------------


def stored(key: str, axiom: str) -> list[list[int]]:
    """The clusterings of the counter-example: a, b and, for the triangle, c."""
    found = COUNTEREXAMPLES.get(key, {}).get(axiom)
    assert found is not None, f"{key} does not declare {axiom!r}, and no counter-example is stored"
    return list(found.values())


@pytest.mark.parametrize("key", that_do_not_declare("symmetric"))
def test_not_symmetric(key):
    """A stored pair scores differently when swapped."""
    a, b = stored(key, "symmetric")
    assert abs(cg.compare(a, b, key)[key] - cg.compare(b, a, key)[key]) > 1e-3


@pytest.mark.parametrize("key", that_do_not_declare("definite"))
def test_not_definite(key):
    """A stored clustering that is not a scores as well against a as a itself, or better."""
    a, b = stored(key, "definite")
    assert not same_partition(a, b)
    own, other = (distance(key, cg.compare(a, x, key)[key]) for x in (a, b))
    assert other <= own + 1e-12


@pytest.mark.parametrize("key", that_do_not_declare("triangle"))
def test_not_triangle(key):
    """In a stored triple the path through b is shorter."""
    a, b, c = stored(key, "triangle")
    direct, first, second = (distance(key, cg.compare(x, y, key)[key]) for x, y in ((a, c), (a, b), (b, c)))
    assert direct > first + second + 1e-3


@pytest.mark.parametrize("key", that_do_not_declare("baseline"))
def test_no_baseline(key):
    """The mean over all permutations of a stored pair is not 0."""
    a, b = stored(key, "baseline")
    assert abs(mean_over_permutations(key, a, b)) > 1e-3


# --- ranges and best values ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("key", KEYS)
def test_values_stay_in_the_declared_range(key):
    """No pair of partitions of n ≤ 6 points leaves the range of the measure, not even by rounding."""
    low, high = cg.measure(key).range
    for n in range(1, 7):
        values = against_profiles(n)[key]
        assert key in ("lambda", "cramers_v") or not np.isnan(values).any(), n
        assert not (values < low).any(), (n, values.min())
        assert not (values > high).any(), (n, values.max())


@pytest.mark.slow
@pytest.mark.parametrize("key", that_declare("definite"))
def test_identical_partitions_score_exactly_the_best(key):
    """For any cluster sizes, a clustering with renamed clusters scores exactly the best value with itself."""
    rng = np.random.default_rng(2)
    best = cg.measure(key).best
    for n, k in [(6, 3), (6, 4), (7, 3), (30, 7), (100, 3), (100, 60), (1000, 40)]:
        for _ in range(2):
            a = rng.integers(0, k, n)
            assert cg.compare(a, rng.permutation(k)[a], key)[key] == best, a.tolist()
            assert (np.diag(cg.compare_all([a, rng.permutation(k)[a]], key)[key]) == best).all(), a.tolist()


@pytest.mark.parametrize("key", KEYS)
def test_better_is_the_direction_of_agreement(key):
    """A clustering with two points moved scores worse than itself, and one drawn at random worse still."""
    a = np.repeat(np.arange(4), 10)
    moved = a.copy()
    moved[[0, 10]] = moved[[10, 0]]
    random = np.random.default_rng(0).permutation(a)
    own, near, far = (distance(key, cg.compare(a, b, key)[key]) for b in (a, moved, random))
    assert own < near < far
