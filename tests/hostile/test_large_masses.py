"""One cluster holds nearly all of the mass, or counts are huge: values keep their digits, and nothing runs for ever."""

from decimal import Decimal, localcontext
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


def pair_counts(a, b, mass, weighted):
    """Pairs, pairs together in a, in b, in both, exactly; a weighted point makes no pair with itself."""
    own = {}
    for i, j, m in zip(a, b, mass, strict=True):
        own[i, j] = own.get((i, j), 0) + (Fraction(m) ** 2 if weighted else Fraction(m))
    cells, rows, cols, n = masses(a, b, mass)

    def count(sizes, key):
        mine = {}
        for cell, x in own.items():
            mine[key(cell)] = mine.get(key(cell), 0) + x
        return sum(size**2 - mine[name] for name, size in sizes.items()) / 2

    together = [
        count(sizes, key) for sizes, key in ((rows, lambda c: c[0]), (cols, lambda c: c[1]), (cells, lambda c: c))
    ]
    return [(n**2 - sum(own.values())) / 2, *together]


def entropies(a, b, mass):
    """H_a, H_b and H_ab with 100 digits."""
    cells, rows, cols, n = masses(a, b, mass)
    with localcontext() as context:
        context.prec = 100
        shares = [
            [Decimal(x.numerator) / Decimal(x.denominator) for x in (m / n for m in y.values())]
            for y in (rows, cols, cells)
        ]
        return [sum((-p * p.ln() for p in ps), Decimal(0)) for ps in shares]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["frequency", "sample_weight"])
def test_pairs_and_entropies_of_a_giant_cluster(case, kind):
    """v11 − E and H_a + H_b − H_ab are differences of nearly equal numbers: at n = 10¹⁵ nmi was off by 5e-4, ari by 1e-9."""
    a, b, mass = case
    every, s_a, s_b, both = pair_counts(a, b, mass, kind == "sample_weight")
    chance = s_a * s_b / every
    h_a, h_b, h_ab = entropies(a, b, mass)
    with localcontext() as context:
        context.prec = 100
        shared, apart = h_a + h_b - h_ab, 2 * h_ab - h_a - h_b
        nmi, nvi = 2 * shared / (h_a + h_b), apart / h_ab
    r = cg.compare(a, b, ["ari", "nmi_sum", "vi", "nvi", "omega", "omega_soft", "aci"], **{kind: mass})
    ari = float((both - chance) / ((s_a + s_b) / 2 - chance))
    assert [r[key] for key in ("ari", "omega", "omega_soft", "aci")] == pytest.approx([ari] * 4, rel=1e-9, abs=1e-12)
    assert r["nmi_sum"] == pytest.approx(float(nmi), rel=1e-9, abs=1e-12)
    assert [r["vi"], r["nvi"]] == pytest.approx([float(apart), float(nvi)], rel=1e-9)


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


@pytest.mark.parametrize("shape", [([0, 0, 0], [0, 1, 0]), ([0, 1, 1], [0, 1, 0])])
def test_mari_of_a_giant_cluster(shape):
    """theta and theta_0 are nearly 1: their difference was rounding error. Against a single cluster mari is 0."""
    a, b = shape
    mass = [789117688698, 650745, 4221390811004]
    expected = 0.0 if len(set(a)) == 1 else cg.ari(a, b, frequency=mass)
    assert cg.mari(a, b, frequency=mass) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("mass", [[10**9, 5 * 10**9, 2 * 10**9], [10**10, 1, 1], [10**15, 10**14, 3]])
def test_covers_of_huge_counts(mass):
    """Squares of counts above 3·10⁹ do not fit 64 bits: the omega index was wrong, or ended in an OverflowError."""
    a, b = [[0, 1], [1, 2]], [[0, 1]]
    pairs = {
        (i, j): Fraction(mass[i] * (mass[i] - 1), 2) if i == j else Fraction(mass[i] * mass[j])
        for i in range(3)
        for j in range(i, 3)
    }
    every, agree, in_a, in_b = sum(pairs.values()), Fraction(0), {}, {}
    for (i, j), many in pairs.items():
        x, y = (sum(i in cluster and j in cluster for cluster in cover) for cover in (a, b))
        agree += many * (x == y)
        in_a[x], in_b[y] = in_a.get(x, 0) + many, in_b.get(y, 0) + many
    chance = sum(many * in_b.get(x, 0) for x, many in in_a.items()) / every**2
    found = cg.omega(cg.Cover(a, points=3), cg.Cover(b, points=3), frequency=mass)
    assert found == pytest.approx(float((agree / every - chance) / (1 - chance)), rel=1e-9)


def test_interval_of_huge_counts_is_refused():
    """numpy draws parts of fewer than 10⁹ points; its ValueError came through."""
    with pytest.raises(cg.InputError, match="fewer than"):
        cg.confidence_interval([0, 0, 1] * 10, [0, 1, 1] * 10, "ari", frequency=[10**9, 1, 1] * 10)
