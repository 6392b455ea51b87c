"""Columns of lists are covers, in memory, in scans, in parts and on Dask: every route gives the same values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from doors import OF_COVERS, ROUTES, close, on_route
from scanning_cases import folder_of, same

import congruence as cg

KEYS = (*OF_COVERS, "bcubed_precision", "bcubed_recall", "bcubed_f", "element_centric")
POLICIES = ("error", "keep", "drop", "singletons", "cluster")
#: the routes of the CPU and, where there is a card, its main one
MAIN = [name for name in ROUTES if "few" not in name and ("cuda" not in name or name == "cuda")]


def lists(n: int = 120, seed: int = 0) -> dict[str, list]:
    """Two columns of lists of clusters, some empty, some missing, some with a cluster twice; and labels."""
    rng = np.random.default_rng(seed)
    first, second = (
        [[f"m{j}" for j in np.flatnonzero(row)] for row in rng.random((n, k)) < share]
        for k, share in ((6, 0.2), (5, 0.3))
    )
    first[3], second[5] = None, ["m1", "m1", "m0"]
    return {"a": first, "b": second, "labels": rng.integers(0, 4, n).tolist()}


def in_memory(columns: dict[str, list]) -> dict[str, object]:
    """The same as covers and labels."""
    found: dict[str, object] = {
        name: cg.Cover({i: x or [] for i, x in enumerate(columns[name])}, keys="points") for name in "ab"
    }
    return found | {"labels": columns["labels"]}


@pytest.mark.parametrize("policy", POLICIES)
def test_scanned_covers_are_those_in_memory(tmp_path, policy):
    """Every measure of a scanned pair, cover with cover and with labels, for every rule for points in no cluster."""
    columns = lists()
    s, here = cg.scan(folder_of(columns, tmp_path / "d")), in_memory(columns)
    for other in ("b", "labels"):
        expected = cg.compare(here["a"], here[other], KEYS, unassigned=policy)
        found = cg.compare(s["a"], s[other], KEYS, unassigned=policy)
        assert found.to_dict() == expected.to_dict()
        assert found.n_points == expected.n_points


@pytest.mark.slow
@pytest.mark.parametrize("route", MAIN)
def test_all_pairs_of_scanned_covers(tmp_path, route):
    """All pairs, by every route of counting, any number of threads, an executor and little memory.

    Scans are counted on the CPU, also if covers in memory are counted on the GPU.
    """
    columns = lists()
    folder = folder_of(columns, tmp_path / "d")
    with on_route(route):
        expected = cg.compare_all(in_memory(columns), KEYS)
        same(cg.compare_all(cg.scan(folder), KEYS, threads=2, engine="cpu"), expected)
        with ThreadPoolExecutor(2) as pool:
            same(cg.compare_all(cg.scan(folder), KEYS, client=pool, engine="cpu"), expected)
        same(cg.compare_all(cg.scan(ds.dataset(folder), memory="60kB"), KEYS, engine="cpu"), expected)


def test_partial_tables_of_covers_add():
    """Parts counted separately, sent as bytes and added equal the whole; clusters may be of any type, noise is dropped."""
    columns = lists()
    table = pa.table(columns)
    first = cg.partial_tables(table.slice(0, 50), ["a", "b"], noise="m1")
    rest = cg.PartialTables.from_bytes(cg.partial_tables(table.slice(50), ["a", "b"], noise="m1").to_bytes())
    here = in_memory(columns)
    expected = cg.compare(here["a"], here["b"], KEYS, noise="m1").to_dict()
    total = first + rest
    assert cg.compare(total["a"], total["b"], KEYS).to_dict() == close(expected)
    for values in (
        [[1, 2], [2], [], [3]],
        [[b"x"], [b"x", b"y"], [], [b"z"]],
        [[], [], [], []],
        [[1.0], [2.0, 1.0], [], []],
    ):
        part = cg.partial_tables({"a": values, "b": [[1], [1, 2], [2], [2]]})
        again = cg.PartialTables.from_bytes(part.to_bytes())
        given = cg.Cover(dict(enumerate(values)), keys="points")
        other = cg.Cover({0: [1], 1: [1, 2], 2: [2], 3: [2]}, keys="points")
        assert cg.omega(again["a"], again["b"]) == close(cg.omega(given, other))


@pytest.mark.parametrize("how", ["sample_weight", "frequency"])
def test_weights_of_scanned_covers(tmp_path, how):
    """Weights and frequencies are a column of the same scan."""
    columns = lists()
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 4, 120) if how == "frequency" else rng.random(120)
    s = cg.scan(folder_of({**columns, "w": weights}, tmp_path / "d"))
    here = in_memory(columns)
    expected = cg.compare(here["a"], here["b"], KEYS, **{how: weights}).to_dict()
    assert cg.compare(s["a"], s["b"], KEYS, **{how: s["w"]}).to_dict() == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.slow
def test_scanned_covers_elsewhere(tmp_path):
    """Matching, ensembles, tests against chance and adjusted measures read the same tables."""
    columns = lists()
    s, here = cg.scan(folder_of(columns, tmp_path / "d")), in_memory(columns)
    assert cg.match(s["a"], s["b"]).rows == cg.match(here["a"], here["b"]).rows
    scanned, ensemble = cg.Ensemble(s), cg.Ensemble(here)
    assert scanned.certainty() == close(ensemble.certainty())
    assert scanned.arimm(scanned[:2]) == close(ensemble.arimm(ensemble[:2]))
    tests = [cg.permutation_test(x["a"], x["b"], "omega", 30, random_state=0) for x in (s, here)]
    assert tests[0].value == close(tests[1].value)
    assert tests[0].expected == 0.0
    adjusted = cg.adjusted("average_f1", n_draws=30)
    assert abs(adjusted(s["a"], s["b"]) - adjusted(here["a"], here["b"])) < 0.1
    with pytest.raises(cg.NotApplicable, match="is scanned, but this needs the label of every point"):
        cg.element_scores(s["a"], s["b"])
    with pytest.raises(cg.InputError, match="for covers; for labels pass"):
        cg.compare(s["labels"], s["labels"], unassigned="keep")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_with_columns_of_lists(kind):
    """A column of lists of a frame is a cover by points; an index names its points."""
    library = pytest.importorskip(kind)
    columns = lists(30)
    made = {"pandas": "DataFrame", "polars": "DataFrame", "pyarrow": "table"}[kind]
    frame = getattr(library, made)(columns)
    same(cg.compare_all(frame, KEYS), cg.compare_all(in_memory(columns), KEYS))
    assert cg.omega(frame["a"], in_memory(columns)["a"]) == 1.0


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ([[0.2, 0.8], [1.0]], "a list of clusters holds 0.2"),
        ([["x", None], ["y"]], "a list of clusters holds a missing value"),
        ([[["x"]], [["y"]]], "hold lists; give one label per point"),
    ],
)
def test_lists_that_are_not_clusters(column, message):
    """Fractions, missing clusters and lists of lists are refused in one line, in memory and in parts."""
    for call in (
        lambda: cg.omega(pa.array(column), pa.array([["x"], ["y"]])),
        lambda: cg.partial_tables({"a": column, "b": [0, 1]}),
    ):
        with pytest.raises(cg.InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_lists_and_labels_are_different_kinds():
    """A column that holds lists in one part and labels in another is an error, also with empty lists."""
    for first, second in (([["x"]], ["x"]), ([["x"]], [[1]]), ([[]], ["x"])):
        with pytest.raises(cg.InputError, match="holds labels of kind"):
            _ = cg.partial_tables({"a": first, "b": [0]}) + cg.partial_tables({"a": second, "b": [0]})
    empty_first = cg.partial_tables({"a": [[]], "b": [0]}) + cg.partial_tables({"a": [["x"]], "b": [0]})
    assert empty_first["a"].clusters.names == ("x",)


def test_an_ensemble_of_scanned_covers_drops_points_as_the_scan_does(tmp_path):
    """The rule given to the ensemble holds when its members are compared: points in no cluster are dropped."""
    table = pa.table({"c": [None, [0], [0], [1], [0, 1], [1]], "b": ["x", "x", "y", "y", None, "y"]})
    path = tmp_path / "covers.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)
    wanted = cg.compare_all(path, ["bcubed_f"], unassigned="drop")["bcubed_f"]
    assert wanted[0, 1] != cg.compare_all(path, ["bcubed_f"], unassigned="cluster")["bcubed_f"][0, 1]
    found = cg.compare_all(cg.Ensemble(cg.scan(path), unassigned="drop"), ["bcubed_f"])["bcubed_f"]
    assert np.array_equal(found, wanted)


def test_an_ensemble_lists_the_clusters_of_each_point():
    """The values of a cover in an ensemble are the clusters of each point, not the codes of sets of clusters."""
    runs = cg.Ensemble({"a": cg.Cover({"x": [0, 1], "y": [1, 2]}, points=4), "b": [0, 0, 1, None]}, unassigned="keep")
    assert runs.to_dict() == {"a": [["x"], ["x", "y"], ["y"], []], "b": [[0], [0], [1], []]}
    assert runs.to_frame("pyarrow")["a"].to_pylist() == [["x"], ["x", "y"], ["y"], []]


def test_covers_that_drop_points_are_together_if_they_share_a_cluster():
    """Sums over pairs of points of covers with gaps are those of their consensus matrices, where sharing a cluster is enough."""
    rng = np.random.default_rng(3)
    covers = [cg.Cover((rng.random((30, 4)) < 0.35).astype(int)) for _ in range(5)]
    first, second = (cg.Ensemble(some, unassigned="drop") for some in (covers[:3], covers[3:]))
    assert first.has_gaps
    assert second.has_gaps
    p, q = (np.asarray(e.consensus_matrix())[np.triu_indices(30, 1)] for e in (first, second))
    both = ~np.isnan(p) & ~np.isnan(q)
    assert cg.sms(first, second) == pytest.approx(np.corrcoef(p[both], q[both])[0, 1], rel=1e-12)
