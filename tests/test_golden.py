"""Values from the papers (golden.json, recomputed from the definitions) and from the documentation and tests of peers.

`expected` in golden.json is the raw formula, null where it is 0/0; `expected_with_convention` fills some of those in.
Left out, here, of golden.json:

* keys ending in `_as_printed`, and `lambda_minus_signs`: misprints of the papers, kept there as errata;
* lambda of one cluster each (the library says undefined, the paper's oracle takes NMI = 1) and of unequal numbers of
  clusters (the library refuses);
* `irm_greedy_min`, `irm_greedy_max`: bounds over all orders of ties, which the library's one order must respect;
* `nsf_*`, `kas`, `sms`, `ssms`, `arim*` of hard cases, and the kinds matrix, ensemble, formula and adco_*: measures of
  matrices, ensembles and profiles have separate tests.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from doors import scorer

import congruence as cg

CASES = json.loads((Path(__file__).parent / "golden" / "golden.json").read_text())["cases"]


def cases(kind: str) -> list[Any]:
    """The cases of one kind, named by their ids."""
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


def close(value: float) -> Any:
    """Equal to the golden value, which was itself computed in floating point."""
    return pytest.approx(value, rel=1e-12, abs=1e-12)


NMI = {f"NMI_{norm}": f"nmi_{norm}" for norm in ("joint", "max", "sum", "sqrt", "min")}
INFORMATION = {"MI": "mi", "VI": "vi", "NVI": "nvi", **NMI}
#: golden name → key, where `golden/README.md` says so or the names are the same
HARD = {
    **INFORMATION,
    "rand": "rand",
    "jaccard": "jaccard",
    "wallace_fm": "wallace",
    "ari": "ari",
    "irm_optimal": "irm",
    "irm_greedy_rowtie": "irm_greedy",
    "p_max_accuracy": "accuracy",
    "kappa_trace": "kappa_trace",
    "kappa_max_exact": "kappa_max",
}
TABLE = {
    "p_max": "accuracy",
    "kappa_trace": "kappa_trace",
    "kappa_max_exact": "kappa_max",
    "kappa_max_dinkelbach": "kappa_max",
    "nmi_003": "nmi_sqrt",
}
SOFT = {**INFORMATION, "soft_rand": "rand", "soft_ari": "ari", "soft_jaccard": "jaccard", "arimm_gram": "ari_gram"}
LEFT_OUT = {
    "hard": {
        "irm_greedy_min", "irm_greedy_max", "nsf_printed", "nsf_unit", "kas", "sms", "ssms", "arimp_Ma_b", "arimp_Mb_a",
        "arimm", "nmi_001_as_printed", "jaccard_001_as_printed",
    },
    "table": {"lambda_minus_signs"},
    "soft": set(),
}  # fmt: skip
#: checked by separate tests below
APART = {
    "hard": {"v11", "v10", "v01", "v00", "H_a", "H_b", "H_ab", "MI_bits", "lambda_003"},
    "table": {
        "p_exp", "H_rows_bits", "H_cols_bits", "lambda_plus", "nmi_003_eps1e-5", "lambda_plus_eps1e-5",
        "z_plus_eps1e-5",
    },
    "soft": {"H_U", "H_V", "H_UV", "phi", "soft_a11", "soft_b01", "soft_c10", "soft_d00", "N_star"},
}  # fmt: skip


@pytest.mark.parametrize(("kind", "names"), [("hard", HARD), ("table", TABLE), ("soft", SOFT)])
def test_every_golden_name_is_accounted_for(kind, names):
    """A value of golden.json is mapped to a measure, checked separately, or left out for a stated reason."""
    found = {name for case in CASES if case["kind"] == kind for name in case["expected"]}
    assert found == set(names) | APART[kind] | LEFT_OUT[kind]


def expected_of(case: dict[str, Any], names: dict[str, str]) -> dict[str, dict[str, float]]:
    """For each key the golden values by name; a 0/0 has its conventional value, or none."""
    values = {**case["expected"], **case.get("expected_with_convention", {})}
    found: dict[str, dict[str, float]] = {}
    for name, key in names.items():
        if values.get(name) is not None:
            found.setdefault(key, {})[name] = values[name]
    return found


def assert_values(found: cg.Comparison, expected: dict[str, dict[str, float]], case: str) -> None:
    for key, named in expected.items():
        for name, value in named.items():
            assert found[key] == close(value), f"{case}: {name} ({key})"


@pytest.mark.parametrize("case", cases("hard"))
def test_hard_cases(case):
    """Every measure of two label vectors, with the 0/0 of golden.json decided by its convention."""
    a, b = case["inputs"]["a"], case["inputs"]["b"]
    expected = expected_of(case, HARD)
    found = cg.compare(a, b, list(expected))
    assert_values(found, expected, case["id"])
    raw = case["expected"]
    assert raw["irm_greedy_min"] - 1e-12 <= found["irm_greedy"] <= raw["irm_greedy_max"] + 1e-12
    assert found["mi"] / math.log(2) == close(raw["MI_bits"])


@pytest.mark.parametrize("case", cases("hard"))
def test_hard_statistics(case):
    """Pair counts and entropies, as the printed definitions of jaccard, rand and vi show them."""
    a, b = case["inputs"]["a"], case["inputs"]["b"]
    counts = {**cg.measure("rand").explain(a, b).symbols, **cg.measure("vi").explain(a, b).symbols}
    for name in ("v11", "v10", "v01", "v00", "H_a", "H_b", "H_ab"):
        assert counts[name] == close(case["expected"][name]), name


@pytest.mark.parametrize("case", cases("hard"))
def test_hard_lambda(case):
    """lambda as published where both have the same number of clusters, undefined for one each, refused otherwise."""
    a, b = case["inputs"]["a"], case["inputs"]["b"]
    k_a, k_b = len(set(a)), len(set(b))
    if k_a != k_b:
        with pytest.raises(cg.NotApplicable, match=f"{k_a} and {k_b}"):
            cg.lambda_statistic(a, b)
    elif k_a == 1:
        assert math.isnan(cg.lambda_statistic(a, b))
    else:
        assert cg.lambda_statistic(a, b) == close(case["expected"]["lambda_003"])


def labels_of(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Two label vectors with this table."""
    counts = np.array(table)
    row, col = np.indices(counts.shape)
    return np.repeat(row, counts.ravel()), np.repeat(col, counts.ravel())


@pytest.mark.parametrize("case", cases("table"))
def test_table_cases(case):
    """The measures of the κ/Λ paper from its tables: labels by repetition."""
    a, b = labels_of(case["inputs"]["T"])
    assert np.array_equal(cg.contingency(a, b).to_array(), case["inputs"]["T"])
    expected = expected_of(case, TABLE)
    assert_values(cg.compare(a, b, list(expected)), expected, case["id"])


@pytest.mark.parametrize("case", cases("table"))
def test_table_statistics(case):
    """Expected agreement of the best trace and entropies in bits."""
    a, b = labels_of(case["inputs"]["T"])
    raw = case["expected"]
    assert cg.measure("kappa_trace").explain(a, b).symbols["p_exp"] == close(raw["p_exp"])
    entropies = cg.measure("vi").explain(a, b).symbols
    for name, symbol in (("H_rows_bits", "H_a"), ("H_cols_bits", "H_b")):
        if name in raw:
            assert entropies[symbol] / math.log(2) == close(raw[name]), name


@pytest.mark.parametrize("case", cases("table"))
def test_table_lambda(case):
    """lambda, with empty cells as they are and filled with 1e-5 as the paper does."""
    a, b = labels_of(case["inputs"]["T"])
    k_a, k_b = np.shape(case["inputs"]["T"])
    raw = case["expected"]
    if k_a != k_b or k_a == 1:
        return  # refused, or undefined: see test_hard_lambda
    assert cg.lambda_statistic(a, b) == close(raw["lambda_plus"])
    if "lambda_plus_eps1e-5" in raw:
        filled = cg.measure("lambda", zero_cells=1e-5)
        assert filled(a, b) == close(raw["lambda_plus_eps1e-5"])
        symbols = filled.explain(a, b).symbols
        assert symbols["z"] == close(raw["z_plus_eps1e-5"])
        assert symbols["NMI"] == close(raw["nmi_003_eps1e-5"])


@pytest.mark.parametrize("case", cases("soft"))
def test_soft_cases(case):
    """Memberships (stored clusters × points): N*, its pair counts and entropies, and the measures of it."""
    u, v = (cg.Memberships(np.array(case["inputs"][side]).T) for side in ("U", "V"))
    raw = case["expected"]
    expected = expected_of(case, SOFT)
    found = cg.compare(u, v, [*expected, "rand", "vi"])
    assert_values(found, expected, case["id"])
    assert found.table.to_array() == pytest.approx(np.array(raw["N_star"]), rel=1e-12, abs=1e-12)
    counts = {**cg.measure("rand").explain(u, v).symbols, **cg.measure("vi").explain(u, v).symbols}
    pair_counts = {"soft_a11": "v11", "soft_b01": "v01", "soft_c10": "v10", "soft_d00": "v00"}
    for name, symbol in {**pair_counts, "H_U": "H_a", "H_V": "H_b", "H_UV": "H_ab"}.items():
        assert counts[symbol] == close(raw[name]), name
    product = np.array(case["inputs"]["U"]) @ np.array(case["inputs"]["V"]).T
    assert raw["phi"] * product.sum() == close(len(u))


PRINTED = {**HARD, **TABLE, "lambda_plus": "lambda"}


@pytest.mark.parametrize(
    "case", [case for kind in ("hard", "table") for case in cases(kind) if "paper" in case.values[0]]
)
def test_what_papers_print(case):
    """Wherever a paper's printed value is right, the library gives it to the digits printed."""
    a, b = labels_of(case["inputs"]["T"]) if case["kind"] == "table" else (case["inputs"]["a"], case["inputs"]["b"])
    checked = 0
    for name, printed in case["paper"]["printed"].items():
        if not case["paper"]["agrees"][name]:
            continue
        if name in PRINTED:
            value = scorer(PRINTED[name])(a, b)
        elif name == "lambda_plus_eps1e-5":
            value = cg.lambda_statistic(a, b, zero_cells=1e-5)
        else:
            continue
        assert value == pytest.approx(printed["value"], abs=printed["tol"]), name
        checked += 1
    assert checked >= 2


# --- other packages --------------------------------------------------------------------------------------------------

HALF_HALF_REST = [1] * 6 + [2] * 6 + [3] * 5
SKLEARN_B = [1, 1, 1, 1, 2, 1, 2, 2, 2, 2, 3, 1, 3, 3, 3, 2, 2]
P, Q, R, S = [0, 0, 1, 1, 1], [0, 0, 0, 1, 1], [0, 0, 1, 0, 0], [0, 0, 1, 2, 2]
IR_A = [1] * 8 + [2] * 5 + [3] * 4
IR_B = [1, 1, 1, 1, 1, 2, 3, 3, 1, 2, 2, 2, 2, 2, 3, 3, 3]
GENIE_X = [1, 1, 2, 1, 2, 2, 2, 2, 1, 1, 2, 1, 1, 1, 1, 2, 2, 1, 2, 1, 2]
GENIE_Y = [2, 2, 1, 2, 2, 1, 1, 1, 2, 2, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2, 1]
FIVES = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
LN2, R2, R3, R6 = math.log(2), math.sqrt(2), math.sqrt(3), math.sqrt(6)

#: (where it comes from, a, b, values with all their digits)
EXACT: list[tuple[str, list[Any], list[Any], dict[str, float]]] = [
    ("clusim", [0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2], {
        "rand": 0.8, "jaccard": 0.4, "wallace": 0.5773502691896258, "dice": 0.5714285714285714,
        "purity": 0.8333333333333333, "nmi_sum": 0.7396673768007593, "vi": 0.792481250360578 * LN2,
        "ari": 0.44444444444444453, "ami_sum": 0.5023607027202741, "element_centric": 0.6944444444444443,
    }),
    ("partitionComparison p q", P, Q, {
        "rand": 0.6, "ari": 1 / 6, "jaccard": 1 / 3, "wallace_ab": 1 / 2, "wallace_ba": 1 / 2, "wallace": 1 / 2,
        "mirkin": 8, "hubert": 0.2, "dice": 1 / 2, "van_dongen": 2 / 10, "clustering_error": 0.2, "accuracy": 0.8,
        "mi": 4 / 5 * math.log(5 / 3) + 1 / 5 * math.log(5 / 9),
    }),
    ("partitionComparison p r", P, R, {
        "rand": 0.4, "ari": -2 / 13, "jaccard": 1 / 4, "wallace_ab": 1 / 2, "wallace_ba": 1 / 3, "wallace": R6 / 6,
        "mirkin": 12, "hubert": -0.2, "dice": 0.4, "van_dongen": 3 / 10, "clustering_error": 0.4,
    }),
    ("partitionComparison p s", P, S, {
        "rand": 0.8, "ari": 6 / 11, "jaccard": 1 / 2, "wallace_ab": 1 / 2, "wallace_ba": 1, "wallace": R2 / 2,
        "mirkin": 4, "hubert": 0.6, "dice": 2 / 3, "van_dongen": 1 / 10, "clustering_error": 0.2, "nmi_min": 1,
    }),
    ("partitionComparison r s", R, S, {
        "rand": 0.6, "ari": 2 / 7, "jaccard": 1 / 3, "wallace_ab": 1 / 3, "wallace_ba": 1, "wallace": R3 / 3,
        "mirkin": 8, "hubert": 0.2, "dice": 1 / 2, "van_dongen": 2 / 10, "clustering_error": 0.4, "nmi_min": 1,
    }),
    ("scikit-learn, genieclust", HALF_HALF_REST, SKLEARN_B, {"psi": 0.5165986394557823}),
    ("scikit-learn Rand", [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 2, 2], {"rand": 2 / 3, "ari": 8 / 33}),
    ("scikit-learn Rand with gaps", [0, 0, 0, 1, 1, 1], [0, 4, 0, 4, 2, 2], {"rand": 2 / 3, "ari": 8 / 33}),
    ("scikit-learn FM", [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], {"wallace": 4 / math.sqrt(72)}),
    ("scikit-learn FM 2", [0, 0, 0, 1, 1, 2], [1, 1, 2, 2, 0, 0], {"wallace": 1 / math.sqrt(12)}),
    ("scikit-learn homogeneous", [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 2, 2], {"homogeneity": 1}),
    ("scikit-learn complete", [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], {"completeness": 1}),
    ("scikit-learn ARI", [0, 0, 1, 2], [0, 0, 1, 1], {"ari": 4 / 7}),
    ("clevr 1", [1, 1, 2, 2, 2], [1, 1, 1, 2, 2], {
        "rand": 0.6, "ari": 0.16666666666666666, "wallace": 0.5, "homogeneity": 0.43253806776631243,
        "completeness": 0.43253806776631243, "v_measure": 0.43253806776631243, "vi": 0.7638170019537754,
        "mi": 0.2911031660323686,
    }),
    ("clevr 2", [1, 1, 1, 2, 3], [1, 2, 3, 4, 4], {
        "rand": 0.6, "ari": -0.176470588235294, "wallace": 0, "homogeneity": 0.7082316448032829,
        "completeness": 0.5051961085524235, "v_measure": 0.5897275217561567, "vi": 0.936426245424844,
        "mi": 0.6730116670092563,
    }),
    ("clevr singletons, one cluster", [1, 2, 3, 4, 5], [1] * 5, {
        "rand": 0, "ari": 0, "wallace": 0, "homogeneity": 0, "completeness": 1, "v_measure": 0,
        "vi": math.log(5), "mi": 0,
    }),
    ("igraph", [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], {"van_dongen": 3 / 12, "rand": 2 / 3, "ari": 8 / 33}),
    ("igraph one cluster, singletons", [0] * 6, list(range(6)), {
        "vi": math.log(6), "nmi_sum": 0, "van_dongen": 5 / 12, "rand": 0, "ari": 0,
    }),
    ("igraph 2", [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3], [3, 1, 2, 1, 3, 1, 3, 1, 2, 1, 4, 2], {
        "van_dongen": 11 / 24, "purity": 1 - 5 / 12, "inverse_purity": 1 - 6 / 12,
        "vi": 1.7030593564895358, "nmi_sum": 0.27299150207124906,
    }),
    ("igraph 3", [2, 0, 2, 1, 1, 0, 2, 2, 1, 2], [1, 1, 2, 1, 1, 0, 2, 2, 0, 2], {"van_dongen": 6 / 20}),
    ("ClustPy", FIVES, [-1, -1, 1, 1, 1, 2, 3, 3, 4, 4], {"accuracy": 0.9}),
    ("ClustPy singletons", FIVES, list(range(10)), {"accuracy": 0.5, "purity": 1.0}),
    ("ClustPy one cluster", FIVES, [0] * 10, {"accuracy": 0.2}),
    ("ClustPy -1", FIVES, [0, 0, 0, 0, 2, 2, 3, 3, 4, -1], {"accuracy": 0.7}),
    ("ClustPy purity", FIVES, [0, 1, 2, 3, 4, 4, 5, 5, 5, 6], {"purity": 0.9}),
    ("ClustPy pairs", [0] * 3 + [1] * 3 + [2] * 3, [0] * 5 + [1] * 4, {
        "jaccard": 7 / 18, "rand": 25 / 36, "wallace_ab": 7 / 9, "wallace_ba": 7 / 16,
        "bcubed_precision": 0.5666666666666667, "bcubed_recall": 0.8518518518518517,
    }),
    ("genieclust", GENIE_X, GENIE_Y, {"accuracy": 18 / 21}),
]  # fmt: skip

#: (where it comes from, a, b, values, absolute tolerance: they are printed with few digits)
ROUNDED: list[tuple[str, list[Any], list[Any], dict[str, float], float]] = [
    ("partitionComparison p q", P, Q, {
        "vi": 0.763817002, "mi": 0.291103166, "nmi_max": 0.4325, "nmi_sum": 0.4325, "nmi_min": 0.4325,
    }, 5e-5),
    ("partitionComparison p r", P, R, {
        "vi": 0.936426245, "mi": 0.118493923, "nmi_max": 0.176065, "nmi_sum": 0.201964, "nmi_min": 0.236797,
    }, 5e-7),
    ("partitionComparison p s", P, S, {
        "vi": 0.381908501, "mi": 0.673011667, "nmi_max": 0.637974, "nmi_sum": 0.778979,
    }, 5e-7),
    ("partitionComparison r s", R, S, {
        "vi": 0.554517744, "mi": 0.500402424, "nmi_max": 0.474351, "nmi_sum": 0.643471,
    }, 5e-7),
    ("scikit-learn", HALF_HALF_REST, SKLEARN_B, {
        "ari": 0.266940451745, "nmi_sum": 0.378349927872, "nmi_max": 0.374602242389, "nmi_min": 0.382173358125,
        "nmi_sqrt": 0.378368863591, "nmi_joint": 0.233311695522, "ami_max": 0.275015062446, "vi": 1.348024236976,
    }, 5e-12),
    ("scikit-learn AMI", HALF_HALF_REST, SKLEARN_B, {"mi": 0.41022, "ami_sum": 0.27821}, 5e-6),
    ("scikit-learn AMI × 110", HALF_HALF_REST * 110, SKLEARN_B * 110, {"ami_sum": 0.38}, 5e-3),
    ("scikit-learn h c v", [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 2, 2], {
        "homogeneity": 0.67, "completeness": 0.42, "v_measure": 0.52,
    }, 5e-3),
    ("scikit-learn h c v 2", [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 2, 2], {"completeness": 0.69, "v_measure": 0.81}, 5e-3),
    ("scikit-learn h c v 3", [0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 1, 1], {"homogeneity": 0.58, "v_measure": 0.73}, 5e-3),
    ("scikit-learn entropy", [0, 0, 42], [0, 0, 42], {"mi": 0.6365141}, 1e-7),
    ("Clustering.jl", [1, 1, 1, 2, 2, 2, 3, 3, 3, 3], [1, 1, 1, 1, 2, 2, 2, 2, 2, 2], {
        "ari": 0.403669, "rand": 0.711111, "hubert": 0.422222,
    }, 1e-6),
    ("Clustering.jl, IR book", IR_A, IR_B, {"mi": 0.391936620573, "nmi_sum": 0.364561771857}, 5e-12),
    ("igraph", [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], {"vi": 0.8675, "nmi_sum": 0.5158}, 1e-4),
    ("igraph 2", [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3], [3, 1, 2, 1, 3, 1, 3, 1, 2, 1, 4, 2], {
        "rand": 0.590909, "ari": -0.04700353,
    }, 5e-7),
    ("igraph 3", [2, 0, 2, 1, 1, 0, 2, 2, 1, 2], [1, 1, 2, 1, 1, 0, 2, 2, 0, 2], {"vi": 1.1343}, 5e-5),
    ("igraph 3 more", [2, 0, 2, 1, 1, 0, 2, 2, 1, 2], [1, 1, 2, 1, 1, 0, 2, 2, 0, 2], {
        "rand": 0.711111, "ari": 0.312573, "nmi_sum": 0.455859,
    }, 5e-7),
    ("ClustPy VI", [1] * 4 + [0] * 4, [0, 0] + [1] * 6, {"vi": 0.82395922}, 5e-9),
    ("genieclust ARI", GENIE_X, GENIE_Y, {"ari": 0.485013623978}, 5e-12),
    ("genieclust", GENIE_X, GENIE_Y, {
        "rand": 0.74, "wallace": 0.73, "mi": 0.29, "nmi_sum": 0.41, "ami_sum": 0.39, "psi": 0.65,
    }, 5e-3),
]  # fmt: skip


@pytest.mark.parametrize(("source", "a", "b", "expected"), EXACT, ids=[case[0] for case in EXACT])
def test_known_values_of_peers(source, a, b, expected):
    """Values that other packages document or test, with all their digits."""
    found = cg.compare(a, b, list(expected))
    for key, value in expected.items():
        assert found[key] == close(value), f"{source}: {key}"


@pytest.mark.parametrize(("source", "a", "b", "expected", "digits"), ROUNDED, ids=[case[0] for case in ROUNDED])
def test_rounded_values_of_peers(source, a, b, expected, digits):
    """Values that other packages print with few digits."""
    found = cg.compare(a, b, list(expected))
    for key, value in expected.items():
        assert found[key] == pytest.approx(value, rel=0, abs=digits), f"{source}: {key}"


def test_pair_counts_of_peers():
    """Pair counts as clusim, scikit-learn (ordered pairs) and ClustPy give them."""
    names = ("v11", "v10", "v01", "v00")
    cases = {
        (2, 2, 1, 10): ([0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2]),
        (2, 4, 1, 8): ([0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 2, 2]),
        (2, 0, 0, 4): ([0, 0, 1, 1], [1, 1, 0, 0]),
        (1, 0, 1, 4): ([0, 0, 1, 2], [0, 0, 1, 1]),
        (7, 2, 9, 18): ([0] * 3 + [1] * 3 + [2] * 3, [0] * 5 + [1] * 4),
    }
    for expected, (a, b) in cases.items():
        symbols = cg.measure("rand").explain(a, b).symbols
        assert tuple(symbols[name] for name in names) == expected


def test_normalised_mirkin_of_clustering_jl():
    """Clustering.jl divides the Mirkin distance by n(n − 1): 0.288888."""
    a, b = [1, 1, 1, 2, 2, 2, 3, 3, 3, 3], [1, 1, 1, 1, 2, 2, 2, 2, 2, 2]
    assert cg.mirkin(a, b) / 90 == pytest.approx(0.288888, abs=1e-6)


def test_element_scores_of_clusim():
    """The element-centric scores of clusim's example, point by point."""
    scores = cg.element_scores([0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2])
    assert scores == pytest.approx([1, 2 / 3, 2 / 3, 1, 1 / 2, 1 / 3], rel=1e-12)


def test_table_of_genieclust():
    """The contingency table of genieclust's example."""
    assert cg.contingency(GENIE_X, GENIE_Y).to_array().tolist() == [[1, 10], [8, 2]]


PERFECT = ["ari", "rand", "homogeneity", "completeness", "v_measure", "ami_sum", "nmi_sum"]


@pytest.mark.parametrize(
    ("a", "b"), [([0], [1]), ([0, 0, 0], [7, 7, 7]), ([0, 1, 2], [5, 3, 4])], ids=["n = 1", "one cluster", "singletons"]
)
def test_perfect_match_of_scikit_learn(a, b):
    """scikit-learn's convention: trivial clusterings that are the same partition score exactly 1."""
    found = cg.compare(a, b, PERFECT)
    assert {key: found[key] for key in PERFECT} == dict.fromkeys(PERFECT, 1.0)


@pytest.mark.parametrize("n", [2, 3, 10, 100])
def test_one_cluster_against_singletons_of_scikit_learn(n):
    """scikit-learn's convention: one cluster against singletons scores exactly 0 by NMI, AMI and V."""
    for a, b in (([0] * n, list(range(n))), (list(range(n)), [0] * n)):
        found = cg.compare(a, b, ["nmi_sum", "ami_sum", "v_measure"])
        assert list(found.values()) == [0.0, 0.0, 0.0]
