"""One cluster holds nearly all of the mass, or counts are huge: values keep their digits, and nothing runs for ever."""

from fractions import Fraction
from itertools import permutations

import pytest

import congruence as cg

#: labels of a and b, and the mass of each point; the first cell holds nearly everything
CASES = [
    ([0, 1, 1, 0], [0, 1, 2, 2], [10**8, 1, 1, 2]),
    ([0, 1, 0], [0, 1, 2], [97170706083312, 359506, 565968]),
    ([0, 0], [0, 1], [24714552402091, 442843]),
    ([0, 1, 1, 2, 0, 2], [0, 1, 1, 1, 2, 2], [10**15, 3, 2, 1, 5, 7]),
    ([1, 1, 1, 0, 0, 2], [0, 1, 2, 0, 1, 2], [10**13 + 1, 10**13, 10**13, 1, 10**12 + 7, 3]),
]


def masses(a, b, mass):
    """Cells, clusters of a, clusters of b and total, exactly."""
    cells, rows, cols = {}, {}, {}
    for i, j, m in zip(a, b, mass, strict=True):
        for where, key in ((cells, (i, j)), (rows, i), (cols, j)):
            where[key] = where.get(key, 0) + Fraction(m)
    return cells, rows, cols, sum(rows.values())


@pytest.mark.parametrize("case", CASES)
def test_matchings_of_huge_counts(case):
    """a_i·b_j and a_i·n_ij do not fit 64 bits: kappa_max was 1 for 0, f_measure 0 for 1, and irm ran for ever."""
    a, b, mass = case
    cells, rows, cols, n = masses(a, b, mass)
    size = max(len(rows), len(cols))
    kappas = []
    for match in permutations(range(size)):
        p_o = sum(cells.get((i, j), 0) for i, j in enumerate(match)) / n
        p_e = sum(rows.get(i, 0) * cols.get(j, 0) for i, j in enumerate(match)) / n**2
        kappas.append((p_o - p_e) / (1 - p_e) if p_e != 1 else Fraction(0))
    best = sum(rows[i] * max(2 * cells.get((i, j), 0) / (rows[i] + cols[j]) for j in cols) for i in rows) / n
    r = cg.compare(a, b, ["kappa_max", "f_measure", "irm", "irm_greedy"], frequency=mass)
    assert r["kappa_max"] == pytest.approx(float(max(kappas)), rel=1e-9, abs=1e-12)
    assert r["f_measure"] == pytest.approx(float(best), rel=1e-9)
    assert r["irm_greedy"] <= r["irm"] + 1e-12


@pytest.mark.parametrize("kind", ["frequency", "sample_weight"])
def test_transport_of_masses_of_every_size_ends(kind):
    """What is left after rounding has somewhere to go: columns with less than 1e-12 of the mass had none."""
    mass = [10**14, *(7 * 10**k for k in range(14)), *range(1, 20)]
    a = [i % 5 for i in range(len(mass))]
    b = [i * i % 11 for i in range(len(mass))]
    assert cg.irm_greedy(a, b, **{kind: mass}) <= cg.irm(a, b, **{kind: mass}) + 1e-12


@pytest.mark.parametrize("key", ["element_centric", "bcubed_precision", "bcubed_recall", "f_measure", "kappa_max"])
def test_workings_of_huge_counts(key):
    """`explain` shows the value of the measure: n_ij² does not fit 64 bits."""
    a, b, mass = [0, 1, 1, 0], [0, 1, 0, 1], [10**12, 10**12, 10**11, 5]
    text = str(cg.measure(key).explain(a, b, frequency=mass))
    assert f"= {getattr(cg, key)(a, b, frequency=mass):.6g}" in text
