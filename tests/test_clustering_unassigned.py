"""Points in no cluster, and noise."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from clustering_cases import SIX, U, everything, objects, one_line

import congruence as cg


@cache
def plain(a: tuple[int, ...], b: tuple[int, ...]) -> dict[str, float]:
    """Every measure of two plain lists."""
    return everything(list(a), list(b))


# --- points in no cluster --------------------------------------------------------------------------------------------


GAPPED = {
    "None": [2, None, 0, None, 1, 1],
    "NaN in a list": [2, float("nan"), 0, float("nan"), 1, 1],
    "None and NaN": [2, None, 0, float("nan"), 1, 1],
    "NaN in an array": np.array([2, np.nan, 0, np.nan, 1, 1]),
    "NaN in float32": np.array([2, np.nan, 0, np.nan, 1, 1], dtype=np.float32),
    "NaN in float16": np.array([2, np.nan, 0, np.nan, 1, 1], dtype=np.float16),
    "NaN among fractions": [2.5, float("nan"), 0.5, float("nan"), 1.5, 1.5],
    "object": objects([2, None, 0, np.nan, 1, 1]),
    "pandas NA in a list": [2, pd.NA, 0, pd.NA, 1, 1],
    "pandas NA among words": ["c", pd.NA, "a", None, "b", "b"],
    "pandas NA among mixed": ["c", pd.NA, 0, None, 1, 1],
    "pandas Int64": pd.Series([2, None, 0, None, 1, 1], dtype="Int64"),
    "pandas float": pd.Series([2, None, 0, None, 1, 1]),
    "pandas object": pd.Series([2, None, 0, pd.NA, 1, 1], dtype=object),
    "pandas object, mixed": pd.Series(["2", None, 0, pd.NA, 1, 1], dtype=object),
    "pandas str": pd.Series(["c", None, "a", None, "b", "b"]),
    "pandas category": pd.Series(["c", None, "a", None, "b", "b"], dtype="category"),
    "polars": pl.Series([2, None, 0, None, 1, 1]),
    "polars NaN and null": pl.Series([2.0, None, 0.0, float("nan"), 1.0, 1.0]),
    "polars words": pl.Series(["c", None, "a", None, "b", "b"]),
    "polars Categorical": pl.Series(["c", None, "a", None, "b", "b"], dtype=pl.Categorical),
    "arrow": pa.array([2, None, 0, None, 1, 1]),
    "arrow uint8": pa.array([2, None, 0, None, 1, 1], pa.uint8()),
    "arrow double": pa.array([2, None, 0, float("nan"), 1, 1], pa.float64()),
    "arrow words": pa.array(["c", None, "a", None, "b", "b"]),
    "arrow, chunked": pa.chunked_array([[2, None], [0, None, 1, 1]]),
    "arrow dictionary": pa.array(["c", None, "a", None, "b", "b"]).dictionary_encode(),
    "arrow dictionary with a null word": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2, None, 3, 3]), pa.array(["c", None, "a", "b"])
    ),
    "masked": np.ma.array([2, 9, 0, 9, 1, 1], mask=[0, 1, 0, 1, 0, 0]),
    "masked words": np.ma.array(["c", "z", "a", "z", "b", "b"], mask=[0, 1, 0, 1, 0, 0]),
    "masked floats": np.ma.array([2.0, 9.0, 0.0, np.nan, 1.0, 1.0], mask=[0, 1, 0, 0, 0, 0]),
}


@pytest.mark.parametrize("name", GAPPED)
def test_missing_labels_of_every_kind_are_unassigned(name):
    """None, NaN, NA, null and masked values mean "in no cluster" and never silently form a cluster."""
    data = GAPPED[name]
    result = cg.compare(data, SIX, "all", unassigned="drop")
    assert result.n_used == 4
    assert result.to_dict() == pytest.approx(plain((2, 0, 1, 1), (0, 1, 2, 2)), rel=1e-12, nan_ok=True)
    with pytest.raises(cg.InputError, match="2 of 6 points are unassigned"):
        cg.compare(data, SIX)
    assert cg.compare_all([data, SIX], unassigned="drop").n_used.tolist() == [[4, 4], [4, 6]]


def random_gapped(seed: int, members: int = 4, n: int = 60) -> list[list[Any]]:
    """Label vectors with a fifth of the points in no cluster; all have the same number of clusters, for lambda."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(members):
        labels = rng.integers(0, 4, n).astype(object)
        labels[rng.random(n) < 0.2] = None
        found.append(labels.tolist())
    return found


def mass_of(kind: str | None, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    if kind is None:
        return {}
    return {kind: rng.random(n) + 0.1 if kind == "sample_weight" else rng.integers(0, 4, n)}


@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_dropping_is_comparing_the_rest(kind):
    """unassigned='drop' compares the points that both label, for every measure, with and without weights, in every function."""
    vectors = random_gapped(3, members=3)
    mass = mass_of(kind, 60)
    matrix = cg.compare_all(vectors, "all", unassigned="drop", **mass)
    against = cg.compare_to(vectors[0], vectors[1:], "all", unassigned="drop", **mass)
    assert len(matrix.keys()) >= 36 - 5
    for i, a in enumerate(vectors):
        for j, b in enumerate(vectors):
            kept = [p for p in range(60) if a[p] is not None and b[p] is not None]
            rest = {name: values[kept] for name, values in mass.items()}
            by_hand = cg.compare([a[p] for p in kept], [b[p] for p in kept], "all", **rest)
            direct = cg.compare(a, b, "all", unassigned="drop", **mass)
            used = int(mass["frequency"][kept].sum()) if kind == "frequency" else len(kept)
            assert direct.n_used == by_hand.n_used == matrix.n_used[i, j] == used
            assert direct.to_dict() == pytest.approx(by_hand.to_dict(), rel=1e-9, abs=1e-9)
            assert direct.table.to_array() == pytest.approx(by_hand.table.to_array(), rel=1e-12)
            for key in matrix:
                assert matrix[key][i, j] == pytest.approx(by_hand[key], rel=1e-9, abs=1e-9), key
            if i == 0 and j > 0:
                assert against.n_used[j - 1] == used
                for key in against:
                    assert against[key][j - 1] == pytest.approx(by_hand[key], rel=1e-9, abs=1e-9), key


@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_clusters_that_lose_all_their_points_are_gone(kind):
    """A cluster whose points are all dropped does not count: not for accuracy, not for the number of clusters."""
    a = [0, 0, 1, 1, 9, 9]
    b = [0, 0, 1, 1, None, None]
    mass = mass_of(kind, 6) if kind != "frequency" else {"frequency": [1, 2, 1, 3, 1, 1]}
    result = cg.compare(a, b, ["ari", "accuracy", "psi", "lambda"], unassigned="drop", **mass)
    assert result.n_clusters == (2, 2)
    assert result.table.rows == (0, 1)
    assert (result["ari"], result["accuracy"], result["psi"]) == (1.0, 1.0, 1.0)
    assert cg.compare_all([a, b], ["psi"], unassigned="drop", **mass)["psi"][0, 1] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_members_without_a_common_point_are_undefined_and_named(kind):
    """Two members that label no point in common score NaN by every measure, and the cautions name them."""
    keys = list(cg.compare([0, 0, 1, 1], [0, 1, 1, 1], "all"))
    if kind == "sample_weight":
        keys = [key for key in keys if cg.measure(key).takes_weights]
    assert len(keys) > 40
    vectors = {"left": [0, 0, 1, 1, None, None, None], "right": [None] * 4 + [0, 1, 1], "whole": [0, 0, 1, 1, 0, 1, 0]}
    mass = mass_of(kind, 7) if kind != "frequency" else {"frequency": [1, 2, 1, 1, 3, 1, 1]}
    result = cg.compare_all(vectors, keys, unassigned="drop", **mass)
    against = cg.compare_to("left", vectors, keys, unassigned="drop", **mass)
    for key in keys:
        assert np.isnan(result[key][[0, 1], [1, 0]]).all(), key
        assert not np.isnan(result[key][[0, 1, 2, 2], [0, 1, 0, 1]]).any(), key
        assert np.isnan(against[key]).tolist() == [True, False], key
    assert result.n_used[0, 1] == 0
    assert any("left and right" in note for note in result.cautions)
    assert any("right" in note for note in against.cautions)


def test_a_member_without_any_point_is_named():
    """A member that labels no point at all is undefined everywhere, itself included, and is named."""
    result = cg.compare_all({"none": [None] * 4, "some": [0, 0, 1, 1]}, ["ari", "vi"], unassigned="drop")
    assert np.isnan(result["ari"]).tolist() == [[True, True], [True, False]]
    assert any("no point is assigned in: none" in note for note in result.cautions)


def test_one_pair_without_a_common_point_is_refused():
    """For a single pair without common points there is no result: an error says so."""
    with pytest.raises(cg.InputError, match="no point is assigned in both clusterings") as error:
        cg.compare([None, None, 1], [0, 0, None], unassigned="drop")
    one_line(error)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, "sample_weight", "frequency"])
def test_singletons_and_cluster_say_what_unassigned_points_are(kind):
    """'singletons' gives each unassigned point a separate cluster, 'cluster' puts them all in one."""
    a, b = random_gapped(11, members=2)
    mass = mass_of(kind, 60)
    if kind == "frequency":  # an unassigned point that occurs several times cannot be one singleton
        mass = {kind: np.where([None in pair for pair in zip(a, b, strict=True)], 1, mass[kind])}
    alone = [[f"alone {i}" if x is None else str(x) for i, x in enumerate(v)] for v in (a, b)]
    together = [["together" if x is None else str(x) for x in v] for v in (a, b)]
    for policy, (left, right) in (("singletons", alone), ("cluster", together)):
        got = cg.compare(a, b, "all", unassigned=policy, **mass)
        wanted = cg.compare(left, right, "all", **mass)
        assert got.to_dict() == pytest.approx(wanted.to_dict(), rel=1e-9, abs=1e-9)
        assert got.n_used == wanted.n_used
        matrix = cg.compare_all([a, b], ["ari", "vi", "accuracy"], unassigned=policy, **mass)
        for key in matrix:
            assert matrix[key][0, 1] == pytest.approx(wanted[key], rel=1e-9, abs=1e-9)


def test_the_cluster_of_the_unassigned_does_not_meet_a_label_of_that_name():
    """Points labelled 'unassigned' and points without a label are two clusters with two names."""
    table = cg.contingency(["unassigned", "unassigned", None, "b"], [0, 0, 1, 1], unassigned="cluster")
    assert table.shape == (3, 2)
    assert len(set(table.rows)) == 3


def test_memberships_with_labels_that_have_gaps():
    """Memberships have no unassigned points; with labels that have gaps, 'drop' is refused and 'cluster' works."""
    gaps = [None, *SIX[1:]]
    with pytest.raises(cg.InputError, match="not defined between memberships and labels with gaps") as error:
        cg.compare(U, gaps, unassigned="drop")
    one_line(error)
    assert cg.ari(U, gaps, unassigned="cluster") == cg.ari(U, ["z", *(str(x) for x in SIX[1:])])


# --- noise -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [-1, {-1}, [-1], (-1,), np.array([-1]), "-1", frozenset([-1, 99])])
@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, pa.array, lambda x: [str(v) for v in x]])
def test_noise_labels_are_unassigned(noise, make):
    """Labels named as noise, by number or by text, in any container, count as missing."""
    a = make([0, 0, 1, 1, -1, -1])
    b = make([0, -1, 1, 1, 0, 1])
    result = cg.compare(a, b, "all", noise=noise, unassigned="drop")
    assert result.n_used == 3
    assert result.to_dict() == pytest.approx(plain((0, 1, 1), (0, 1, 1)), nan_ok=True)
    with pytest.raises(cg.InputError, match="2 of 6 points are unassigned") as error:
        cg.compare(a, b, noise=noise)
    assert "unassigned='drop'" in one_line(error)


def test_several_noise_labels_and_categories():
    """A set of noise labels applies to all columns; categories and strings are matched by name."""
    words = ["a", "b", "unknown", "b", "doublet", "a"]
    for data in (words, pd.Series(words, dtype="category"), pl.Series(words, dtype=pl.Categorical)):
        result = cg.compare(data, SIX, "ari", noise={"unknown", "doublet"}, unassigned="drop")
        assert result.n_used == 4
        assert result.n_clusters[0] == 2
    coded = pd.Series([-1, 0, 1, 1, 0, 0], dtype="category")
    assert cg.compare(coded, SIX, "ari", noise=-1, unassigned="drop").n_used == 5


def test_noise_by_column():
    """A mapping names the noise of some columns only: by name in an ensemble, by series name or a/b in a pair."""
    x, y = [-1, 0, 0, 1, 1, 1], [0, 0, -1, -1, 1, 1]
    result = cg.compare_all({"x": x, "y": y}, noise={"x": -1}, unassigned="drop")
    assert result.n_used.tolist() == [[5, 5], [5, 6]]
    result = cg.compare_all({"x": x, "y": y}, noise={"x": -1, "y": {-1, 0}}, unassigned="drop")
    assert result.n_used.tolist() == [[5, 2], [2, 2]]
    assert cg.compare(x, y, noise={"b": -1}, unassigned="drop").n_used == 4
    assert cg.compare(pd.Series(x, name="hdbscan"), y, noise={"hdbscan": [-1]}, unassigned="drop").n_used == 5
    assert cg.compare_to("x", {"x": x, "y": y}, noise={"y": -1}, unassigned="drop").n_used.tolist() == [4]


def test_noise_that_no_point_has_changes_nothing():
    """Noise labels that do not occur, of any type, are accepted and leave every point in."""
    assert cg.compare([-1, 0, 0], [0, 0, 1], noise=-1.0, unassigned="drop").n_used == 2
    for noise in (-1, 99, "x", 0.5, float("nan"), float("inf"), None, set()):
        assert cg.compare(SIX, SIX[::-1], "ari", noise=noise).n_used == 6


@pytest.mark.parametrize(
    "data",
    [
        [-1, 0, 1, 1, 0, 0],
        np.array([-1, 0, 1, 1, 0, 0], dtype=np.int8),
        np.array([-1.0, 0, 1, 1, 0, 0]),
        pd.Series([-1, 0, 1, 1, 0, 0], dtype="Int64"),
        pd.Series([-1, 0, 1, 1, 0, 0], dtype="category"),
        pl.Series([-1, 0, 1, 1, 0, 0]),
        pa.array([-1, 0, 1, 1, 0, 0]).dictionary_encode(),
    ],
    ids=lambda x: str(getattr(x, "dtype", type(x).__name__)),
)
def test_minus_one_among_other_labels_is_pointed_out(data):
    """−1 among non-negative labels often means noise: the result says it was counted as a cluster."""
    for result in (cg.compare(data, SIX), cg.compare_all({"a": data, "b": SIX}), cg.compare_to(SIX, {"a": data})):
        assert any("a has label −1 among others" in note for note in result.cautions)
    silent = cg.compare(data, SIX, noise=-1, unassigned="drop")
    assert not any("−1" in note for note in silent.cautions)


@pytest.mark.parametrize("policy", ["drop", "cluster", "singletons"])
def test_minus_one_is_pointed_out_with_missing_labels(policy):
    """The caution about −1 does not depend on how points without a label are treated."""
    result = cg.compare([-1, 0, 1, 1, 0, None], SIX, unassigned=policy)
    assert any("label −1" in note for note in result.cautions)


def test_minus_one_is_not_pointed_out_where_it_is_an_ordinary_label():
    """All −1, or −1 among other negative labels, does not suggest noise."""
    for data in ([-1] * 6, [-2, -1, 0, 0, 1, 1], [0, 1, 2, 0, 1, 2]):
        assert not cg.compare(data, SIX).cautions


def test_singletons_of_points_that_occur_several_times():
    """A point without a label that occurs three times would be three clusters: refused, unless it occurs once."""
    a, b = [None, 0, 0, 1], [0, 0, 1, 1]
    with pytest.raises(cg.InputError, match="repeat these rows with frequency 1"):
        cg.ari(a, b, frequency=[3, 2, 1, 2], unassigned="singletons")
    rows = cg.ari([None, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1], unassigned="singletons")
    assert cg.ari(a, b, frequency=[1, 2, 1, 2], unassigned="singletons") == rows


def test_the_cluster_of_unassigned_points_is_no_word_for_noise():
    """unassigned="cluster" names a cluster "unassigned"; a label that is called so gets a caution, that name does not."""
    gaps, named = ["a", "a", "b", None], ["a", "a", "b", "unassigned"]
    assert cg.compare(gaps, gaps, ["ari"], unassigned="cluster").cautions == ()
    assert len(cg.compare(named, named, ["ari"]).cautions) == 2
