"""Lists of names and numbers may come as arrays, series and views; whatever else comes is refused in one line."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg

LISTS = {
    "array": np.array,
    "objects": lambda x: np.array(x, dtype=object),
    "pandas": pd.Series,
    "odd index": lambda x: pd.Series(x, index=range(7, 7 + len(x))),
    "index": pd.Index,
    "polars": pl.Series,
    "arrow": pa.array,
    "keys": lambda x: dict.fromkeys(x).keys(),
}
RUNS = {"x": [0, 0, 1, 1, 2, 2], "y": [0, 0, 0, 1, 1, 2], "z": [0, 1, 1, 1, 2, 2]}
DATA = pd.DataFrame(
    {"p": [0.5, 1.5, 7.0, 8.0, 3.0, 3.5], "q": [1.5, 2.5, 3.0, 9.0, 0.5, 0.1], "w": [1, 1, 1, 2, 2, 2], "c": RUNS["x"]}
)


class Unreadable:
    """An object that says it is an array, and is none."""

    def __array__(self, *_args, **_options):
        raise ValueError("no array")


@pytest.fixture
def path(tmp_path):
    """The runs in a Parquet file."""
    parquet.write_table(pa.table(RUNS), tmp_path / "runs.parquet")
    return tmp_path / "runs.parquet"


@pytest.mark.parametrize("kind", LISTS)
def test_columns_of_a_scan_in_any_list(kind, path):
    """The truth value of an array or a series was asked for."""
    names = LISTS[kind](["x", "z"])
    assert cg.scan(path, columns=names).names == ("x", "z") == cg.scan(path)[names].names
    assert cg.scan(cg.scan(path), columns=names).names == ("x", "z")
    assert cg.partial_tables(pa.table(RUNS), names).names == ("x", "z")


@pytest.mark.parametrize("kind", LISTS)
def test_names_in_any_list(kind):
    """The same for features, axes, members and orders."""
    make = LISTS[kind]
    assert cg.drift(DATA, "c", "w", features=make(["p", "q"])).profiles[0].attributes[1].name == "q"
    assert cg.report(RUNS, data=DATA[["p", "q", "w"]], axes=make(["q", "p"])).model.points.axes == ("q", "p")
    assert cg.Ensemble(RUNS)[make(["x", "z"])].names == ("x", "z") == cg.Ensemble(RUNS)[make([0, 2])].names
    assert cg.resolutions(RUNS, order=make(["z", "x"])).names == ("z", "x")


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cg.ari(pd.Series, [0, 1]), "got type"),
        (lambda: cg.tanglegram([np.array([0, 1])], [[0, 1]]), "nested lists"),
        (lambda: cg.Ensemble(RUNS)[np.array(None)], "members are selected"),
        (lambda: cg.Ensemble(RUNS)[np.eye(3)], "members are selected"),
        (lambda: cg.choose_k(DATA[["p", "q"]], k=np.array([2, 3], "m8[s]")), "k must be"),
        (lambda: cg.Binning(spare={"x": 1}), "spare must be True or False"),
        (lambda: cg.random_partitions(10, 2, 10**30), "kmax must be at most"),
        (lambda: cg.ari([0, 1], [0, 1], noise=range(10**12)), "noise may name up to"),
        (lambda: cg.element_scores(RUNS["x"], cg.Ensemble(RUNS)), "ensemble"),
        (lambda: cg.partial_tables([RUNS["x"], cg.Cover(RUNS["y"])]), "column of lists"),
        (lambda: cg.ari(Unreadable(), RUNS["x"]), "cannot be listed"),
        (lambda: cg.partial_tables(pa.table(RUNS), ["x", "y"], pairs=pl.Series([["x", "y"]])), "pairs must be"),
    ],
)  # fmt: skip
def test_odd_values_are_refused(call, says):
    """Each ended in an error of numpy, polars or Python, or ran for ever."""
    with pytest.raises(cg.InputError, match=says):
        call()


@pytest.mark.parametrize(
    "kind", [pd.Series, pd.DataFrame, pl.DataFrame, pa.Table, np.ndarray, list, cg.Cover, cg.Hierarchy]
)
def test_a_class_is_no_object_of_it(kind):
    """A class has the attributes of its objects, and was read like one."""
    for call in (
        lambda: cg.ari(kind, [0, 1]), lambda: cg.compare_all([kind, kind]), lambda: cg.arimp(kind, [0, 1]),
        lambda: cg.Similarity(kind), lambda: cg.scan(kind), lambda: cg.choose_k(kind), lambda: cg.generate(kind),
        lambda: cg.ConsensusClustering(2).fit(kind),
    ):  # fmt: skip
        with pytest.raises((cg.InputError, TypeError)):
            call()
