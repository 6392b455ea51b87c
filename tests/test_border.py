"""Every function that takes two clusterings validates them by the same rules."""

from __future__ import annotations

import copy
from pathlib import Path

import numpy as np
import pytest

import congruence as cg
from congruence.comparison import pair as pairs
from congruence.comparison.plans import BY_POINT, PLANS
from congruence.errors import Caution
from congruence.inputs.cover import Cover, CoverLabels
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.labels import Labels
from congruence.inputs.memberships import Memberships
from congruence.inputs.nested_cover import NestedCover
from congruence.inputs.similarity import Similarity
from congruence.scanning.columns import Column

A, B = [0, 0, 0, 1, 1, 1, -1, 2], [0, 0, 1, 1, 1, 1, 2, 2]
X = np.arange(16.0).reshape(8, 2)

#: every function of two clusterings, as f(a, b, **options)
DOORS = {
    "compare": cg.compare,
    "contingency": cg.contingency,
    "match": cg.match,
    "relabel": cg.relabel,
    "element_scores": cg.element_scores,
    "ari": cg.ari,
    "measure": cg.measure("vi"),
    "explain": cg.measure("rand").explain,
    "adjusted": cg.adjusted("jaccard", n_draws=20),
    "expectation": cg.adjusted("jaccard", n_draws=20).expectation,
    "permutation_test": lambda a, b, **o: cg.permutation_test(a, b, "ari", 20, 0, **o),
    "confidence_interval": lambda a, b, **o: cg.confidence_interval(a * 9, b * 9, n_resamples=20, random_state=0, **o),
    "compare_to": lambda a, b, **o: cg.compare_to(a, {"b": b}, **o),
    "compare_all": lambda a, b, **o: cg.compare_all({"a": a, "b": b}, **o),
    "density": lambda a, b, **o: cg.adco(a, b, X, **o),
}


@pytest.mark.parametrize("door", DOORS)
def test_a_mistyped_column_of_noise_is_an_error_everywhere(door):
    """noise={"typo": −1} is refused by every function."""
    with pytest.raises(cg.InputError, match=r"noise names .*'typo'"):
        DOORS[door](A, B, noise={"typo": -1})


@pytest.mark.parametrize("door", [d for d in DOORS if d not in ("compare_to", "compare_all")])
def test_a_pair_has_no_partial_members(door):
    """unassigned="partial" belongs to ensembles; no function of a pair takes it."""
    with pytest.raises(cg.InputError, match="unassigned='partial'"):
        DOORS[door](A, B, unassigned="partial")


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_rule_for_unassigned_points_is_an_error_everywhere(door):
    """Values of `unassigned` are validated."""
    with pytest.raises(cg.InputError, match="unassigned must be"):
        DOORS[door](A, B, unassigned="ignore")


@pytest.mark.parametrize("door", [d for d in DOORS if d not in ("confidence_interval", "density")])
def test_lengths_are_compared_everywhere(door):
    """Clusterings with different numbers of points are refused with the same message."""
    with pytest.raises(cg.InputError, match="8 and 7"):
        DOORS[door](A, B[:-1])


@pytest.mark.parametrize("door", ["contingency", "match", "relabel", "ari", "permutation_test"])
def test_a_mistyped_option_gives_similar_names(door):
    """An unknown option is named in the error, with the most similar one."""
    with pytest.raises(TypeError, match=r"unasigned.*did you mean unassigned|unexpected keyword argument 'unasigned'"):
        DOORS[door](A, B, unasigned="drop")


def test_a_table_needs_no_measure(monkeypatch):
    """contingency and match count the table and compute no measure."""

    def none(*_, **__):
        raise AssertionError("a measure was computed")

    monkeypatch.setattr(pairs, "Evaluation", none)
    assert cg.contingency(A, B).to_array().sum() == 8
    assert cg.match(A, B).n == 8
    with pytest.raises(AssertionError):
        cg.compare(A, B)


@pytest.mark.parametrize("option", ["client", "checkpoint", "memory", "skip_bad", "progress"])
def test_an_option_without_effect_is_an_error(option):
    """Options of a scan do nothing for labels in memory, and are refused rather than ignored."""
    for door in (cg.compare, cg.contingency, cg.match):
        with pytest.raises(cg.InputError, match=f"{option}="):
            door(A, B, **{option: True})


def test_options_of_an_ensemble_belong_to_the_ensemble():
    """Options for reading points are refused for two ensembles, which are already read."""
    e = cg.Ensemble([A, B])
    for options in ({"unassigned": "drop"}, {"noise": -1}):
        with pytest.raises(cg.InputError, match=r"cg\.Ensemble"):
            cg.compare(e, e, "arimm", **options)
    assert cg.compare(e, A, "arimp", noise=-1, unassigned="drop")["arimp"] == cg.arimp(
        e, A, noise=-1, unassigned="drop"
    )


def test_a_prepared_pair_gives_what_compare_gives():
    """A prepared pair can be evaluated again without being validated again."""
    plan, pair = pairs.prepared_pair(A, B)
    assert plan.compared(pair, ["ari", "vi"], None, "auto").to_dict() == cg.compare(A, B, ["ari", "vi"]).to_dict()
    e = cg.Ensemble([A, B])
    plan, both = pairs.prepared_pair(e, B)
    assert plan.compared(both, "arimp", None, "auto")["arimp"] == cg.arimp(e, B)


#: one input of each kind of clustering, of the same four points
KINDS = {
    "labels": np.array([0, 0, 1, 1]),
    "memberships": np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0, 1]]),
    "a cover": cg.Cover([[0, 1], [1, 2, 3]], points=4),
    "an ensemble": cg.Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]]),
    "a similarity matrix": cg.Similarity(np.eye(4)),
    "a hierarchy": cg.Hierarchy([[0, 1], [2, 3]]),
    "a nested cover": cg.NestedCover({"x": [0, 1], "y": [1, 2, 3]}, {"x": "all", "y": "all"}),
}


@pytest.mark.parametrize("a", KINDS)
@pytest.mark.parametrize("b", KINDS)
def test_kinds_are_compared_if_the_table_has_a_row_for_them(a, b):
    """A row of the table of kinds gives a comparison; without a row, the error names the kinds of the other rows."""
    if (a, b) in PLANS:
        assert len(cg.compare(KINDS[a], KINDS[b]))
        return
    with pytest.raises(cg.InputError, match=f"a is {a} and b is {b}; {a} can be compared with: ") as refused:
        cg.compare(KINDS[a], KINDS[b])
    assert all(other in str(refused.value) for kind, other in PLANS if kind == a)


def test_rows_of_the_table_of_kinds_are_classes():
    """Each kind in the table is the name of a class, and has a row with itself."""
    names = {
        c.what for c in (Labels, Memberships, Cover, CoverLabels, Column, Ensemble, Similarity, Hierarchy, NestedCover)
    }
    assert {kind for pair in PLANS for kind in pair} == {*names, BY_POINT}
    assert all((name, name) in PLANS for name in names)


def test_cautions_are_records_and_strings():
    """A caution has a code and a subject, prints as its text, and survives a copy."""
    (caution,) = cg.compare(A, B, "ari").cautions
    assert isinstance(caution, Caution)
    assert (caution.code, caution.subject) == ("noise_label", "a")
    assert caution.startswith("a has label −1")
    assert caution.renamed({"a": "leiden"}).startswith("leiden has label −1")
    again = copy.deepcopy(caution)
    assert (again, again.code, again.subject) == (caution, caution.code, caution.subject)
    for result in (cg.compare_all({"x": A, "y": B}), cg.compare_to(A, {"y": B}), cg.permutation_test(A, B, "ari", 9)):
        assert {c.code for c in result.cautions} == {"noise_label"}


def test_records_hold_enums_that_compare_as_strings():
    """Direction, exactness and status are enums; comparisons with strings stay true."""
    m = cg.measure("vi")
    assert m.better == "lower"
    assert m.better is type(m.better)("lower")
    assert m.status == "current"
    test = cg.permutation_test([0, 0, 1, 1], [0, 1, 1, 1], "ari", 9, 0)
    assert test.exactness == "closed form" == test.method
    assert cg.permutation_test([0, 0, 1, 1], [0, 1, 1, 1], "jaccard", 9, 0).method == "mean of 9 draws"


def test_extra_columns_have_unique_names():
    """The bounds of an interval do not overwrite the range of the measure in a frame."""
    from congruence.chance.alongside import Extras, beside, beside_reference

    a, b = [0] * 60 + [1] * 60, [0] * 50 + [1] * 70
    frame = beside(cg.compare(a, b, "ari"), a, b, Extras(p_values=True, intervals=True, n_permutations=9)).to_frame()
    assert list(frame.columns[-3:]) == ["p", "low", "high"]
    assert (frame["range_low"][0], frame["range_high"][0]) == (-0.5, 1.0)
    against = cg.compare_to(a, {"x": b}, ["ari", "vi"])
    against = beside_reference(against, a, {"x": b}, Extras(p_values=True, intervals=False, n_permutations=9))
    assert list(against.to_frame().columns) == ["clustering", "n_used", "ari", "vi", "ari p", "vi p"]


def test_result_classes_take_keywords_only():
    """Result classes take keyword arguments only."""
    for name in ("Comparison", "AllPairs", "AgainstReference", "Matching", "PermutationTest", "PermutationTests",
                 "ConfidenceInterval", "Measure"):  # fmt: skip
        with pytest.raises(TypeError, match="positional"):
            getattr(cg, name)(1, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, y: cg.compare(x, y),
        lambda x, y: cg.ari(x, y),
        lambda x, y: cg.measure("ari")(x, y),
        lambda x, y: cg.contingency(x, y),
        lambda x, y: cg.match(x, y),
        lambda x, y: cg.compare_all([x, y]),
        lambda x, y: cg.compare_to(x, [y]),
        lambda x, y: cg.Ensemble([x, y]),
        lambda x, y: cg.permutation_test(x, y, "ari", 10, 0),
    ],
)
def test_warnings_name_the_line_of_the_user(call):
    """A warning points at the line that called the public function, not into the package."""
    with pytest.warns(UserWarning, match="look like measurements") as said:
        call(np.linspace(0, 1, 100), np.arange(100) % 2)
    assert {Path(warning.filename).name for warning in said} == {Path(__file__).name}
