"""Regression tests: odd calls of public functions and odd files that crashed now work, or end with one line."""

import json
from collections import deque
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from sklearn.cluster import KMeans

import congruence as cg
from congruence.inputs import files, formats
from hostile import calls
from hostile.chains import batches
from hostile.running import run
from hostile.surface import annotated

ODD_CALLS = {
    "delta_area": lambda: cg.delta_area({"x": [[0, 1]]}),
    "pair_sums": lambda: cg.pair_sums(np.eye(3), np.eye(2), range(3), range(3)),
    "random_partitions": lambda: cg.random_partitions("x", 2, 2),
    "certainty_random": lambda: cg.certainty_random(0, 2),
    "merge": lambda: cg.merge(1, "x"),
    "runs of one point": lambda: cg.choose_k([[3.0]], [1, 2], criteria=["ari"]),
    "runs of one cluster": lambda: cg.choose_k([[3.0], [4.0], [7.0]], [1], criteria=["ari"]),
    "drift of one number": lambda: cg.drift(np.array(3)),
    "drift of a mapping of numbers": lambda: cg.drift({1: 2}),
    "a tree with a null character": lambda: cg.tanglegram("a\0b", "(a,b);"),
    "threads": lambda: cg.compare([0, 1], [0, 1], threads="2"),
    "ragged": lambda: cg.Memberships([[0.5, 0.5], [1.0]]),
    "report": lambda: cg.report([[0, 1, 1], [0, 0, 1]], out=3),
    "tampered": lambda: cg.PartialTables.from_bytes(b"x" * 100),
    "large features": lambda: cg.generate(np.arange(2**53, 2**53 + 20).reshape(10, 2), 2, [2]),
    "an array as an option": lambda: cg.ari([0, 1], [0, 1], align=np.array([1, 2])),
    "an array as an option passed on": lambda: cg.permutation_test([0, 1], [0, 1], align=np.array([1, 2])),
    "an array as a way": lambda: cg.Cover([[0, 1]], duplicates=np.array([])),
    "text as a number": lambda: cg.select_members({"a": [0, 1, 1], "b": [0, 1, 0]}, 2, alpha="x"),
    "a class as a parameter": lambda: cg.lambda_statistic([0, 1], [0, 1], zero_cells=object),
    "complex counts": lambda: cg.ari([0, 1], [0, 1], frequency=[1j, 1]),
    "no type of numbers": lambda: cg.consensus_matrix([[0, 1], [0, 1]], dtype="x"),
    "no type of blocks": lambda: cg.consensus_blocks([[0, 1], [0, 1]], dtype="x"),
    "blocks of truth values": lambda: cg.consensus_blocks([[0, 1], [0, 1]], dtype=bool),
    "an array as a switch of an estimator": lambda: cg.AlternativeClustering(2).get_params(deep=np.array([1, 2])),
    "no setting of an estimator": lambda: cg.ConsensusClustering(2).set_params(nope=1),
    "huge features of an estimator": lambda: cg.AlternativeClustering(2).fit(np.arange(20.0).reshape(10, 2) * 1e200),
    "more members than memory": lambda: cg.random_partitions(10**13, 2, 2),
    "a scalar of arrow as data": lambda: cg.generate(pa.scalar(3), 2, [2]),
    "a vector of arrow as data": lambda: cg.choose_k(pa.array([1.0, 2.0, 3.0]), [2]),
    "points of a cover that cannot be names": lambda: cg.Cover([[0, 1]]).encoded([[1], [2, 3]], 2),
    "an array as a kind of frame": lambda: cg.resolutions({"a": [0, 1], "b": [0, 0]}).to_frame(np.array([1, 2])),
    "ragged colours": lambda: cg.resolutions({"a": [0, 1], "b": [0, 0]}).plot(color=[1, [2]]),
    "lists as members": lambda: cg.Ensemble([[0, 1], [0, 0]])[[[], []]],
    "ragged members": lambda: cg.Ensemble([[0, 1], [0, 0]])[[1, [0]]],
    "a huge number as a member": lambda: cg.Ensemble([[0, 1], [0, 0]])[-(2**63) - 1],
    "nothing as a member": lambda: cg.Ensemble([[0, 1], [0, 0]])[[None]],
    "an array as a column of a scan": lambda: cg.scan(batches({"a": [0, 1], "b": [0, 1]}))[np.array([1, 2])],
    "a number as progress": lambda: cg.compare_all([[0, 1, 1], [0, 0, 1]], progress=3),
    "a function of one value as progress": lambda: cg.compare_all([[0, 1, 1], [0, 0, 1]], progress=len),
    "ragged counts of a profile": lambda: cg.Profile.of([1, [2]]),
    "jitter of one point": lambda: cg.stability([[1.0, 2.0]], len, scheme="jitter"),
    "an ensemble and no rows": lambda: cg.Ensemble([[0, 1, 0], [0, 0, 1]]).arimm(np.empty((0, 2))),
    "a number as names": lambda: cg.alternatives(np.eye(4), [0, 0, 1, 1], nominal=3),
    "a cover of no columns": lambda: cg.Cover(pa.table({})),
    "large similarities": lambda: cg.kas(np.eye(3) * 1e100, np.eye(3)),
    "large blocks": lambda: cg.pair_sums(np.eye(2) * 1e300, np.eye(2), range(2), range(2)),
    "tiny similarities": lambda: cg.kas(np.eye(3) * 1e-100, np.eye(3)),
    "lists as features": lambda: cg.alternatives(pa.table({"b": [[0], [1], [0], [1]]}), [0, 0, 1, 1]),
    "huge features": lambda: cg.generate(np.arange(20.0).reshape(10, 2) * 1e200, 2, [2]),
}


@pytest.mark.parametrize("name", ODD_CALLS)
def test_odd_calls(name):
    """An InputError of one line, never another kind of error."""
    with pytest.raises(cg.InputError) as error:
        ODD_CALLS[name]()
    assert "\n" not in str(error.value)


def test_odd_labels_that_are_fine():
    """UUIDs, lone surrogates and numpy scalars are labels like others."""
    import uuid

    ids = [uuid.UUID(int=i) for i in (1, 1, 2)]
    assert cg.ari(ids, [0, 0, 1]) == 1
    assert cg.ari(["\udcff", "\udcff", "x"], [np.int64(0), np.int64(0), np.int64(1)]) == 1


def test_smaller_values():
    """Asymmetric measures in adjusted() and consensus_index, and gaps everywhere in element_scores."""
    a, b = [0, 0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 1, 2, 2, 3, 4]
    m = cg.measure("v_measure", beta=2)
    both = [cg.compare(x, y, [m])["v_measure"] for x, y in ((a, b), (b, a))]
    assert cg.consensus_index([a, b], m) == pytest.approx(np.mean(both))
    adjusted = cg.adjusted(m, n_draws=50)
    r = cg.compare_all([a, b], [adjusted])[adjusted.key]
    assert r[1, 0] == cg.compare(b, a, [adjusted])[adjusted.key]
    assert r[0, 1] == cg.compare(a, b, [adjusted])[adjusted.key]
    with pytest.raises(cg.InputError, match=r"assigned|no point"):
        cg.element_scores([None, None], [0, 0], unassigned="drop")


def test_skip_bad_does_not_hide_a_changed_file(tmp_path):
    """A file that changes under a scan is an error, not a part to leave out."""
    path = tmp_path / "x.parquet"
    parquet.write_table(pa.table({"a": [0, 0, 1], "b": [0, 1, 1], "c": [0, 1, 1]}), path)
    s = cg.scan(path, skip_bad=True)
    assert cg.ari(s["a"], s["b"]) == pytest.approx(-0.5)
    parquet.write_table(pa.table({"a": [0, 0, 1, 1], "b": [0, 1, 1, 1], "c": [0, 1, 1, 1]}), path)
    with pytest.raises(cg.InputError, match="changed while it was read"):
        cg.ari(s["a"], s["c"])


def test_public_functions_are_pickled_and_keep_their_signatures():
    """Public functions, and those made for measures, can be pickled and documented."""
    import inspect
    import pickle

    for name in ("compare", "ari", "choose_k", "measure", "consensus"):
        function = getattr(cg, name)
        assert pickle.loads(pickle.dumps(function)) is function  # noqa: S301
        assert len(inspect.signature(function).parameters) > 1


def test_an_error_of_ours_stays_what_it_is(monkeypatch):
    """An internal fault is not blamed on the input."""
    from congruence.comparison import pair

    def broken(*_, **__):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(pair, "prepared_pair", broken)
    with pytest.raises(ZeroDivisionError, match="oops"):
        cg.compare([0, 1], [0, 1])


@pytest.mark.parametrize("kind", ["float16", "truth", "text"])
def test_odd_arrays_of_numpy_files(kind, tmp_path):
    """Half floats are labels, any byte but 0 is true, and invalid characters are refused."""
    made = {
        "float16": np.array([0.5, 0.5, 2], np.float16),
        "truth": np.frombuffer(b"\x00\x20\x01", np.bool_),
        "text": np.frombuffer(b"\xff" * 12, "<U1"),
    }[kind]
    np.savez(tmp_path / "x.npz", a=made, b=np.array([0, 1, 1]))
    if kind == "text":
        with pytest.raises(cg.InputError, match="invalid characters"):
            files.read_columns(tmp_path / "x.npz")
        return
    said = run(["compare", "x.npz", "a", "b", "--measures", "ari", "--format", "json"], tmp_path)
    assert json.loads(said.out)["values"]["ari"] == pytest.approx(-0.5 if kind == "float16" else 1.0)


@pytest.mark.parametrize("route", [files.read_columns, lambda p: cg.compare_all(cg.scan(p))])
def test_parquet_text_that_is_not_utf8(route, tmp_path):
    """It is found when the file is read, not when a label is shown."""
    bad = pa.StringArray.from_buffers(2, pa.py_buffer(np.array([0, 2, 4], np.int32)), pa.py_buffer(b"\xff\xfeab"))
    parquet.write_table(pa.table({"a": bad, "b": [0, 1]}), tmp_path / "x.parquet")
    with pytest.raises(cg.InputError, match="could not be read"):
        route(tmp_path / "x.parquet")


@pytest.mark.parametrize("column", [[[1], [2], [3]], [{"k": 1}, {"k": 2}, {"k": 3}], [[1], [1], [2]]])
def test_ids_of_lists_and_structures(column, tmp_path):
    """Such labels are distinguished by their text."""
    parquet.write_table(pa.table({"id": column, "a": [0, 1, 1], "b": [0, 0, 1]}), tmp_path / "x.parquet")
    said = run(["compare", "x.parquet", "a", "b", "--id", "id", "--measures", "ari", "--format", "json"], tmp_path)
    assert (said.code, "occurs more than once" in said.err) == ((2, True) if column[0] == column[1] else (0, False))


def test_clusters_with_numbers_beyond_64_bits_in_an_arrow_frame():
    """Arrow has no such integers: the names become text."""
    m = cg.match([10**20, 10**20, 2], [0, 0, 1])
    assert str(10**20) in str(m.to_frame("pyarrow").to_pydict())


def test_bytes_and_lists_in_text_files(tmp_path):
    """They are written as their text."""
    files.write_table({"id": [b"\xff", b"x"], "l": [[1], [2]]}, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text(encoding="utf-8").splitlines()[1] == '"b\'\\xff\'","[1]"'


def test_a_sweep_of_an_ensemble_with_gaps():
    """Points without a label in some column are left out, as the ensemble was made to do."""
    r = cg.resolutions(cg.Ensemble([[0, 0, 1, 1, None], [0, 1, 1, 2, 2]], unassigned="drop"))
    assert r.points.tolist() == [0, 1, 2, 3]
    with pytest.raises(cg.InputError, match="order names 1"):
        cg.resolutions({"a": [0, 1], "b": [0, 0]}, order=["a"])


def test_a_measure_that_was_not_computed():
    """An InputError, and a KeyError like that of any mapping."""
    r = cg.compare_to([0, 0, 1], {"b": [0, 1, 1]}, ["ari"])
    for error in (cg.InputError, KeyError):
        with pytest.raises(error, match="was not computed"):
            r.best("v_measure")


@pytest.mark.parametrize("command", ["matrix", "points", "ensemble", "consensus", "resolutions", "report"])
def test_no_column_of_ids(command, refused):
    """The name of a missing column gives one line."""
    assert "has no column 'nope'" in refused(command, "labels.csv", "--id", "nope")


@pytest.mark.parametrize("command", ["compare", "points", "ensemble", "consensus"])
def test_the_reference_is_the_column_of_ids(command, refused, tmp_path):
    """It is not a clustering: one line, no traceback."""
    (tmp_path / "ids.csv").write_text("id,a,b\n1,0,0\n2,0,1\n3,1,1\n", encoding="utf-8")
    more = ("--k", "2") if command == "consensus" else ()
    assert "id" in refused(command, "ids.csv", "--reference", "id", "--id", "id", *more)


@pytest.mark.parametrize("method", ["average", "voting", "kcc"])
def test_consensus_of_one_cluster_and_all_singletons(method):
    """A constant member and one of single points give a consensus, or a reason why not; never another error."""
    found = cg.consensus([[0] * 6, list(range(6))], 2, method, random_state=0)
    assert len(found.labels) == 6


@pytest.mark.slow
def test_damaged_hdf5_files(tmp_path, monkeypatch):
    """The HDF5 library crashes on some files and never returns from others: they are found in another process."""
    pytest.importorskip("anndata")
    content = annotated()
    path = tmp_path / "x.h5ad"
    path.write_bytes(content)
    assert [m.k for m in cg.Ensemble(path)] == [3, 3, 2]
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(cg.InputError, match="could not be read"):
        cg.Ensemble(path)
    for script, said in (
        ("import os; os.abort()", "HDF5 crashes"),
        ("import time; time.sleep(9)", "HDF5 did not finish"),
    ):
        monkeypatch.setattr(formats, "WALK", script)
        monkeypatch.setattr(formats, "WALKED", 0.3 if "sleep" in script else 10)
        path.write_bytes(content + script.encode())
        with pytest.raises(cg.InputError, match=said):
            cg.Ensemble(path)


@pytest.mark.parametrize("command", ["matrix", "ensemble", "consensus", "report"])
def test_a_square_array_is_not_a_label_column(command, refused, tmp_path):
    """Floats, points × points: one line that says what is expected."""
    np.save(tmp_path / "m.npy", np.eye(3))
    assert "is a similarity matrix" in refused(command, "m.npy")
    np.save(tmp_path / "m.npy", np.arange(9.0).reshape(3, 3))
    assert "is not symmetric" in refused(command, "m.npy")


def test_an_array_of_text_is_not_data(refused, tmp_path):
    """One line, before anything is clustered."""
    np.save(tmp_path / "x.npy", np.array([["1.5", "x"], ["2", "y"], ["3", "x"]]))
    assert "holds text, not numbers" in refused("choose-k", "x.npy", "--k", "2")


def test_predict_after_a_failed_fit():
    """No centres of other data are left."""
    model = cg.ConsensusClustering(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    with pytest.raises(cg.InputError):
        model.fit([[1.0, 2.0]])
    with pytest.raises(cg.InputError, match="the last fit failed"):
        model.predict([[1.0], [3.0]])


@pytest.mark.filterwarnings("error")
def test_a_figure_of_equal_points():
    """No raw warning of numpy."""
    found = cg.alternatives(np.ones((7, 5)), [0, 1, 0, 1, 0, 1, 0], 2, method="coala", random_state=0)
    assert len(found.plot().data) == 2


def test_numpy_scalars_as_arguments():
    """They count as numbers."""
    r = cg.compare_all([[0, 0, 1], [0, 1, 1]], threads=np.int64(1))
    assert r["ari"][0, 1] == pytest.approx(-0.5)
    assert cg.consensus([[0, 0, 1], [0, 1, 1]], np.int64(2), random_state=np.int64(0)).n_clusters == 2
    assert len(cg.random_partitions(np.int64(5), np.int32(2), np.uint8(2), random_state=0)) == 2


def test_half_floats_as_data(tmp_path):
    """No raw warning of numpy about numbers that half floats do not have."""
    np.save(tmp_path / "x.npy", np.array([[0.5], [0.25], [3], [3.5]], np.float16))
    said = run(["choose-k", "x.npy", "--k", "2,3", "--method", "kmeans", "--criteria", "silhouette"], tmp_path)
    assert (said.code, "overflow" in said.err) == (0, False)


def test_a_masked_number_of_bins_is_refused():
    """numpy's MaskError never reaches the user."""
    with pytest.raises(cg.InputError, match="n_bins must be a whole number"):
        cg.Profile.of([[1, 2]], np.ma.masked_array([1, 1], [True, False]))


def test_warnings_about_names_of_features_point_at_the_call():
    """scikit-learn's text, which its conventions ask for, at the line of the user instead of one of scikit-learn's."""
    model = cg.ConsensusClustering(2, random_state=0).fit([[0.0], [0.1], [5.0], [5.1]])
    with pytest.warns(UserWarning, match="X has feature names, but ConsensusClustering was fitted without") as said:
        model.predict(pa.table({"a": [0.0, 5.0]}))
    assert [w.filename for w in said] == [__file__]


def test_integers_above_2_to_the_63_are_written_as_text(tmp_path):
    """A column of ids that fits no signed integer is written with all its digits."""
    from congruence.inputs.files import write_table

    write_table({"id": pa.array([2**64 - 1, 0], pa.uint64()), "a": [1, 2]}, tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_text().splitlines() == ['"id","a"', '"18446744073709551615",1', '"0",2']


@pytest.mark.parametrize("X", [iter([[0.0, 1.0]] * 4), {1.0, 2.0}, object(), 5], ids=lambda x: type(x).__name__)
def test_estimators_refuse_objects_that_are_no_table(X):
    """One line instead of a TypeError of numpy."""
    with pytest.raises(cg.InputError):
        cg.AlternativeClustering(2).fit(X, [0, 0, 1, 1])
    with pytest.raises(cg.InputError):
        cg.ConsensusClustering(2).fit(X)


@pytest.mark.parametrize(
    "kind", [pa.timestamp("us"), pa.timestamp("ns", tz="UTC"), pa.date32(), pa.duration("s")], ids=str
)
def test_times_are_no_weights(kind, tmp_path):
    """In memory and scanned: scans took the number of seconds or days for a weight."""
    weights = pa.array([10**9, 2 * 10**9, 3 * 10**9] if kind != pa.date32() else [1, 2, 3]).cast(
        pa.int32() if kind == pa.date32() else pa.int64()
    )
    parquet.write_table(pa.table({"a": [0, 0, 1], "b": [0, 1, 1], "w": weights.cast(kind)}), tmp_path / "w.parquet")
    s = cg.scan(tmp_path / "w.parquet")
    with pytest.raises(cg.InputError, match="must be numbers"):
        cg.ari(s["a"], s["b"], sample_weight=s["w"])
    with pytest.raises(cg.InputError, match="must be numbers"):
        cg.ari([0, 0, 1], [0, 1, 1], sample_weight=weights.cast(kind))


@pytest.mark.filterwarnings("error")
def test_a_report_on_memberships_of_one_point():
    """No pair of points: the expected number of pairs is undefined, without numpy's warning."""
    assert "<html" in cg.report([np.array([[0.2, 0.2, 0.6]])], reference=["x"]).html


def test_an_estimator_takes_rows_in_any_sequence():
    """A deque of rows is clustered like a list of them."""
    rows = [[0.0, 1.0], [0.1, 1.0], [5.0, 9.0], [5.1, 9.0], [0.0, 9.0], [5.0, 1.0]]
    found = [
        cg.AlternativeClustering(2, random_state=0).fit(X, [0, 0, 1, 1, 0, 1]).labels_ for X in (rows, deque(rows))
    ]
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("engine", [np.empty((2, 0)), np.array(["cpu", "cuda"]), None], ids=["empty", "two", "None"])
@pytest.mark.parametrize("function", [cg.density_profile, cg.adco_distance], ids=lambda f: f.__name__)
def test_an_engine_that_is_no_word_is_refused_before_the_data_move(function, engine):
    """An array compared with "cpu" has no truth value."""
    X = np.arange(12.0).reshape(6, 2)
    labels = [[0, 0, 0, 1, 1, 1]] * (1 if function is cg.density_profile else 2)
    with pytest.raises(cg.InputError, match="is not available"):
        function(*([X, *labels] if function is cg.density_profile else [*labels, X]), engine=engine)


def test_a_decimal_nan_is_no_share():
    """Decimal('NaN') raises in comparisons; each of these says that a number is expected."""
    nan, e = Decimal("NaN"), cg.Ensemble([[0, 0, 1, 1], [0, 0, 1, 2]])
    X, sweep = np.arange(8.0).reshape(4, 2), cg.resolutions({"a": [0, 0, 1, 1], "b": [0, 1, 2, 2]})
    for name, call in {
        "lower": lambda: cg.consensus_cdf(e).pac(lower=nan),
        "upper": lambda: cg.consensus_cdf(e).pac(upper=nan),
        "fraction": lambda: cg.generate(X, 2, [2], "subsample", fraction=nan),
        "alpha": lambda: cg.select_members(e, 1, "joint", alpha=nan),
        "least": lambda: sweep.plot(least=nan),
        "most": lambda: cg.compare([0, 1], [0, 1]).plot(most=nan),
        "jitter": lambda: cg.stability(X, KMeans(2, n_init=1), scheme="jitter", jitter=nan),
    }.items():
        with pytest.raises(cg.InputError, match=f"{name} must be a"):
            call()


def test_a_list_among_numbers_of_cuts():
    """A list is not hashable: one line instead of a TypeError."""
    with pytest.raises(cg.InputError, match=r"ks must be a whole number; got \[2\]"):
        cg.Hierarchy([[0, 1], [2, 3]]).tie_notes([1, [2]])


def test_a_height_that_is_a_decimal_nan():
    """Decimal('NaN') raises in comparisons with an array."""
    with pytest.raises(cg.InputError, match="height must be a number"):
        cg.Hierarchy([[0, 1], [2, 3]]).cut(height=Decimal("NaN"))


def test_rows_of_different_lengths_are_no_data_of_an_estimator():
    """One line instead of numpy's error about shapes."""
    with pytest.raises(cg.InputError, match="rows of X have different lengths"):
        cg.ConsensusClustering(2).fit_predict([1, [2]])


def test_points_of_a_long_table_are_written(tmp_path):
    """The labels of a long table are written like those of a wide one."""
    rows = [("p", "a", 0), ("q", "a", 1), ("p", "b", 0), ("q", "b", 0)]
    lines = ["point,column,label", *(f"{point},{column},{label}" for point, column, label in rows)]
    (tmp_path / "x.csv").write_text("\n".join(lines), encoding="utf-8")
    said = run(["points", "x.csv", "--long", "point,column,label", "--out", "out.csv"], tmp_path)
    assert said.code == 0, said.err
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == '"point","score","a","b"'


def test_lists_as_names_of_scanned_columns():
    """A list is not hashable: one line instead of a TypeError."""
    with pytest.raises(cg.InputError, match="names must be a list of names"):
        cg.scan(batches({"a": [0, 1]})).labels_at_first([[], []])


def test_methods_of_scikit_learn_raise_its_errors():
    """What an estimator inherits may raise errors of scikit-learn; a TypeError of ours for fitting arguments is a failure."""
    inherited = cg.ConsensusClustering.get_feature_names_out
    assert calls.allowed(TypeError("len() of unsized object"), inherited, {"input_features": -0.0})
    assert not calls.allowed(TypeError("len() of unsized object"), cg.random_partitions, {"n": 3})


@pytest.mark.parametrize("call", [cg.report, cg.compare_all, cg.read_cover])
def test_a_name_that_is_too_long_for_a_file(call):
    """One line instead of an OSError."""
    with pytest.raises(cg.InputError):
        call("é" * 300)


def test_a_cover_of_a_file_whose_name_is_too_long(command):
    """The same for commands that look into a file before they read it."""
    for words in (("compare", "é" * 300 + ".json"), ("report", "é" * 300 + ".parquet"), ("track", "é" * 300)):
        assert command(*words)[0] == 2
