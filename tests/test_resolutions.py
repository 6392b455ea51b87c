"""Sweeps of resolutions: nodes, edges and stability as clustree and SC3 define them, and the sentences about them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import naive_hierarchies as naive
import numpy as np
import pandas as pd
import pytest

import congruence as cg
from congruence.hierarchies.sweep import number_order
from congruence.hierarchies.sweep_layout import tree_places

GOLDEN = json.loads((Path(__file__).parent / "golden" / "hierarchies.json").read_text())
CASES = {case["id"]: case for case in GOLDEN["resolutions"]}


def close(x, tolerance: float = 1e-10):
    return pytest.approx(x, rel=0, abs=tolerance)


def sweep(columns, **options) -> cg.Resolutions:
    return cg.resolutions({f"r{i}": column for i, column in enumerate(columns)}, **options)


@pytest.mark.parametrize("name", CASES)
def test_golden_sweeps(name):
    """Edges are those of clustree, stabilities those of SC3."""
    case = CASES[name]
    r = sweep(case["columns"])
    edges = r.edges
    found = sorted(
        [int(column[1:]), int(a), int(b), *numbers]
        for column, a, b, *numbers in zip(
            *(edges[key] for key in ("from_column", "from_cluster", "to_cluster", "count", "in_prop", "out_prop")),
            strict=True,
        )
    )
    assert np.array(found) == close(np.array(sorted(case["expected"]["edges"])))
    for column, cluster, value in case["expected"]["sc3_stability"]:
        assert r.stability[f"r{column}"][cluster] == close(value)


def test_stability_of_random_sweeps():
    """Stability is what its definition by sets says, as published and normalised."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, k, 20).tolist() for k in (1, 2, 3, 5)]
    published, normalised = sweep(columns), sweep(columns, normalised=True)
    for k, column in enumerate(columns):
        for cluster in sorted(set(column)):
            assert published.stability[f"r{k}"][cluster] == close(naive.sc3(columns, k, cluster))
            assert normalised.stability[f"r{k}"][cluster] == close(naive.sc3(columns, k, cluster, True))
    nodes = published.nodes
    assert nodes["size"].sum() == 20 * 4
    assert list(nodes.columns) == ["column", "cluster", "size", "stability"]


def test_a_cluster_that_never_changes():
    """It scores (m − 1)/m as published and 1 normalised, and its points are core points."""
    columns = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 2, 3]]
    assert sweep(columns).stability["r1"][0] == close(2 / 3)
    r = sweep(columns, normalised=True)
    assert r.stability["r1"][0] == 1
    assert r.core.tolist() == [True] * 3 + [False] * 3
    assert r.point_scores[:, 0].tolist() == close(cg.element_scores(columns[0], columns[1]).tolist())


def test_steps_between_neighbours():
    """Agreement, nestedness, crossings and unchanged points of each step are those of the two columns."""
    rng = np.random.default_rng(1)
    columns = [rng.integers(0, k, 60).tolist() for k in (2, 3, 4)]
    r = sweep(columns)
    for step in range(2):
        a, b = columns[step], columns[step + 1]
        assert r.agreement[step] == close(cg.ari(a, b))
        assert r.nestedness[step] == close(cg.wallace_ba(a, b))
        table = cg.contingency(a, b).to_array()
        assert r.crossing[step] == (table / table.sum(axis=0) < 0.5)[table > 0].sum()
        assert r.summary["element_centric_next"][step] == close(cg.element_centric(a, b))
    assert np.isnan(r.summary["ari_next"].iloc[-1])
    nested = sweep([[0] * 6, [0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2]])
    assert nested.nestedness.tolist() == [1, 1]
    assert nested.crossing.tolist() == [0, 0]


def test_names_order_themselves():
    """Columns whose names differ only in a number are ordered by it; others stay as given; order= overrides both."""
    assert number_order(["leiden_2.0", "leiden_0.2", "leiden_10.0"]) == [1, 0, 2]
    assert number_order(["RNA_snn_res.1.2", "RNA_snn_res.0.4", "RNA_snn_res.0.8"]) == [1, 2, 0]
    assert number_order(["K10", "K9", "K1"]) == [2, 1, 0]
    assert number_order(["res_1e-2_x", "res_1e-3_x"]) == [1, 0]
    assert number_order(["coarse", "fine"]) == [0, 1]
    assert number_order(["b2", "a1"]) == [0, 1]
    columns = {"leiden_1.0": [0, 0, 1, 2], "leiden_0.5": [0, 0, 1, 1], "leiden_2.0": [0, 1, 2, 3]}
    assert cg.resolutions(columns).names == ("leiden_0.5", "leiden_1.0", "leiden_2.0")
    assert cg.resolutions(columns, order=["leiden_2.0", "leiden_0.5"]).names == ("leiden_2.0", "leiden_0.5")
    given = {"fine": [0, 1, 2, 2], "coarse": [0, 0, 1, 1]}
    assert cg.resolutions(given).names == ("fine", "coarse")
    assert cg.resolutions(given, order="n_clusters").names == ("coarse", "fine")


def test_plateaus():
    """A plateau is a run of columns that all agree; one cluster makes none; the sentence names the columns."""
    three = np.repeat([0, 1, 2], 20)
    moved = three.copy()
    moved[0] = 1
    fine = np.arange(60) // 6
    r = cg.resolutions({"leiden_0.1": [0] * 60, "leiden_0.2": [0] * 60, "leiden_0.4": three, "leiden_0.6": moved,
                        "leiden_0.8": three, "leiden_1.0": fine})  # fmt: skip
    assert r.plateau.names == ("leiden_0.4", "leiden_0.6", "leiden_0.8")
    assert r.plateau.n_clusters == (3, 3)
    assert len(r.plateaus) == 1
    assert "leiden_0.4 to leiden_0.8 form a plateau: 3 columns with 3 clusters" in r.sentence
    assert "leiden_0.4 to leiden_0.8" in repr(r)
    none = sweep([three, fine])
    assert none.plateau is None
    assert "There is no plateau" in none.sentence
    assert len(sweep([three, moved, three, fine, fine, fine]).plateaus) == 2
    assert sweep([three, three, fine]).plateau is None
    for bad in (0, 1.5):
        with pytest.raises(cg.InputError, match="threshold"):
            sweep([three, fine], threshold=bad)


def test_splitting_one_of_many_clusters_is_not_a_plateau():
    """From 19 to 20 clusters and on, ari stays above 0.9, yet every column has another number of clusters."""
    columns = [np.minimum(np.arange(400) // 10, k) for k in range(30, 36)]
    r = sweep(columns)
    assert (r.agreement > 0.9).all()
    assert r.plateau is None


def test_inputs():
    """Frames, arrays, lists and ensembles are taken; one column, memberships, unknown names and gaps are refused."""
    columns = np.array([[0, 0, 1, 1], [0, 1, 2, 2]]).T
    wanted = cg.resolutions(columns).edges["count"].tolist()
    for form in (pd.DataFrame(columns, columns=["k2", "k3"]), cg.Ensemble(columns), columns.T.tolist()):
        assert cg.resolutions(form).edges["count"].tolist() == wanted
    with pytest.raises(cg.InputError, match="at least two columns"):
        cg.resolutions({"a": [0, 1]})
    with pytest.raises(cg.InputError, match="no column 'k9'"):
        cg.resolutions({"k2": [0, 1], "k3": [0, 1]}, order=["k9"])
    with pytest.raises(cg.InputError, match="named twice"):
        cg.resolutions({"k2": [0, 1], "k3": [0, 1]}, order=["k2", "k2"])
    with pytest.raises(cg.InputError, match="'n_clusters'"):
        cg.resolutions({"k2": [0, 1], "k3": [0, 1]}, order="size")
    with pytest.raises(cg.InputError, match="memberships"):
        cg.resolutions([np.eye(3), np.eye(3)])
    with pytest.raises(cg.InputError):
        cg.resolutions({"a": [0, 1, None], "b": [0, 1, 1]})
    r = cg.resolutions({"a": ["x", "y", None, "y"], "b": [0, 1, 1, 1]}, unassigned="drop")
    assert r.ensemble.n_points == 3
    assert any(note.startswith("1 points that are unassigned") for note in r.notes)
    assert r.stability["a"].keys() == {"x", "y"}
    with pytest.raises(cg.InputError, match="no point"):
        cg.resolutions({"a": [0, None], "b": [None, 1]}, unassigned="drop")
    with pytest.raises(cg.InputError, match="weights"):
        cg.resolutions(cg.Ensemble(columns, sample_weight=[1, 1, 2, 2]))
    assert json.dumps(cg.resolutions(columns).to_dict())


def test_a_nested_sweep_has_no_crossings():
    """Clusters that only split can be drawn without crossings, and the layout finds such an order."""
    rng = np.random.default_rng(2)
    for _ in range(5):
        fine = rng.integers(0, 12, 200)
        middle = rng.permutation(5)[rng.integers(0, 5, 12)][fine]
        coarse = rng.integers(0, 2, 5)[middle]
        r = sweep([coarse, middle, fine])
        assert r.places.crossings == 0
        for order, x in zip(r.places.orders, r.places.x, strict=True):
            assert (np.diff(x[order]) >= 1 - 1e-9).all()
        assert min(x.min() for x in r.places.x) == 0


def test_orders_have_few_crossings():
    """On two small columns the layout reaches the fewest crossings of any orders."""
    rng = np.random.default_rng(3)
    for _ in range(5):
        table = rng.integers(0, 5, (3, 4))
        first, second = np.nonzero(table)
        count = table[first, second]
        sizes = [table.sum(axis=1), table.sum(axis=0)]
        found = tree_places(sizes, [(first, second, count)])
        fewest = min(
            sum(
                count[e] * count[f]
                for e, f in itertools.combinations(range(len(count)), 2)
                if (p[first[e]] - p[first[f]]) * (q[second[e]] - q[second[f]]) < 0
            )
            for p in itertools.permutations(range(3))
            for q in itertools.permutations(range(4))
        )
        assert found.crossings * table.sum() ** 2 == pytest.approx(fewest, abs=1e-9)


def test_many_clusters_need_no_table_of_all_clusters():
    """With more clusters than fit in a table of all clusters, point scores are those of each pair of columns."""
    rng = np.random.default_rng(5)
    base = rng.integers(0, 60_000, 90_000)
    a, b = base, np.where(rng.random(len(base)) < 0.2, rng.integers(0, 60_000, len(base)), base)
    r = cg.resolutions({"r_1": a, "r_2": b})  # a dense table would have 3·10⁹ cells
    mine, theirs = np.bincount(a, minlength=60_000), np.bincount(b, minlength=60_000)
    pairs, where = np.unique(a * 60_000 + b, return_inverse=True)
    shared = np.bincount(where, minlength=len(pairs))[where]
    assert np.array_equal(r.point_scores[:, 0], shared / np.maximum(mine[a], theirs[b]))


def test_columns_of_two_methods_get_a_note():
    """The step from one method to another is no step of resolution, so the sweep says so; an order that was given is trusted."""
    halves, thirds = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    columns = {"sc3_2": halves, "sc3_3": thirds, "seurat_0.2": halves, "seurat_0.4": thirds}
    (note,) = cg.resolutions(columns).notes
    assert "2 sweeps (sc3_#, seurat_#)" in note
    assert cg.resolutions(columns, list(columns)).notes == ()
    assert cg.resolutions({x: columns[x] for x in ("sc3_2", "sc3_3")}).notes == ()


def test_clusters_of_one_point_get_a_note():
    """A cluster of one point is stable in every sweep, which says nothing."""
    (note,) = cg.resolutions({"k_2": [0, 0, 0, 1, 1, 1], "k_3": [0, 0, 0, 1, 1, 2]}).notes
    assert note == "clusters of one point, which no other column can split: 1 in k_3"


@pytest.mark.parametrize("label", ["-1", "noise", "singleton", "unassigned", "Outliers"])
def test_words_for_no_cluster_get_the_caution_of_compare(label):
    """Text labels that mean no cluster are cautioned about as −1 is, by compare and in a sweep; noise= silences it."""
    a, b = ["0", "0", "0", "1", "1", label], ["0", "0", "1", "1", label, label]
    said = f"has label {label!r} among others, counted as a cluster; if it means noise pass noise={label!r}"
    assert [str(x) for x in cg.compare(a, b, ["ari"]).cautions] == [f"a {said}", f"b {said}"]
    assert f"k_3 {said}" in cg.resolutions({"k_2": b, "k_3": a}).notes
    assert not [
        x for x in cg.compare(a, b, ["ari"], noise=label, unassigned="drop").cautions if x.code == "noise_label"
    ]


def test_the_command_colours_by_a_column_of_an_h5ad_file(command, tmp_path):
    """A categorical column of .obs colours the tree, and the table has no nan."""
    anndata = pytest.importorskip("anndata", reason="anndata makes the file", exc_type=ImportError)
    names = [f"c{i}" for i in range(6)]
    obs = pd.DataFrame({"k_2": list("000111"), "k_3": list("001122"), "cell_type": list("TTTBBB")}, index=names)
    for name in obs:
        obs[name] = pd.Categorical(obs[name].to_numpy(dtype=object))
    anndata.AnnData(np.zeros((6, 2)), obs=obs).write_h5ad(tmp_path / "cells.h5ad")
    code, out, err = command("resolutions", "cells.h5ad", "--color", "cell_type", "--plot", "tree.html")
    assert code == 0, err
    assert "nan" not in out
    assert (tmp_path / "tree.html").stat().st_size > 0
