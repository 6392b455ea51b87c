"""Density measures in the registry, drift, and the commands adco and drift."""

from __future__ import annotations

import json
import math
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from density_cases import FIG3, close, of
from sklearn.datasets import load_iris

import congruence as cg
from congruence import cli

# --- the registry ----------------------------------------------------------------------------------------------------


def test_they_are_measures_that_need_the_data():
    """Named without data they raise one clear line, "all" leaves them out and says why, and the records are whole."""
    a, b = [0, 0, 1, 1], [0, 1, 1, 1]
    keys = [m.key for m in cg.measures() if m.family == "profiles"]
    assert keys == ["adco", "adco_distance", "adco_metric", "adco_cosine"]
    for key in keys:
        with pytest.raises(cg.NotApplicable, match=rf"so it needs the data: cg.{key}\(a, b, X\)"):
            cg.compare(a, b, key)
        with pytest.raises(cg.NotApplicable, match="so it needs the data"):
            cg.compare_all([a, b], key)
        with pytest.raises(cg.NotApplicable, match="so it needs the data"):
            cg.compare(cg.Ensemble([a, b]), a, key)
        assert "so it needs the data" in cg.compare(a, b, "all").skipped[key]
        assert cg.measure(key)(a, b, X=[[0], [1], [2], [3]]) == getattr(cg, key)(a, b, [[0], [1], [2], [3]])


def test_the_definitions_give_the_values():
    """The lines of each definition, evaluated with the statistic's numbers, give the formula."""
    for a, b in ((FIG3[0], FIG3[1]), (FIG3[0], FIG3[0]), ([[1, 1]], [[100, 100]])):
        r = cg.compare_profiles(of(a), of(b))
        for key, value in r.to_dict().items():
            m = cg.measure(key)
            known = {s: float(getattr(r.statistic, s)[0]) for s in r.statistic.symbols}
            for line in m.definition:
                name, expression = line.split(" = ", 1)
                known[name] = eval(expression, {"max": max, "sqrt": math.sqrt}, known)  # noqa: S307
            assert known[key] == close(value), key
            assert m.range[0] <= value <= m.range[1]


# --- drift -----------------------------------------------------------------------------------------------------------


def _stream(windows: int = 4, n: int = 200) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two clusters; in the last window the second one has moved along the first attribute."""
    rng = np.random.default_rng(6)
    found = []
    for w in range(windows):
        labels = np.repeat([0, 1], n // 2)
        X = rng.normal(size=(n, 3)) + labels[:, None] * 4
        X[labels == 1, 0] += 6 * (w == windows - 1)
        found.append((X, labels))
    return found


def test_drift_finds_what_moved():
    """adco falls where a cluster moves, and the attribute and the cluster that moved come first."""
    stream = _stream()
    d = cg.drift(iter(stream), bins=8)
    assert d.windows == (0, 1, 2, 3)
    assert d.previous[:2].min() > 0.9 > 0.85 > d.previous[2]
    assert d.first[0] == d.previous[0]
    assert d.moved_attributes(3)[0][0] == "x0"
    assert d.moved_clusters(3)[0][:2] == (1, 1)
    assert d.moved_attributes(3, "first")[0][0] == "x0"
    b = cg.Binning(bins=8, spare=True).fit(stream[0][0])
    p = [cg.density_profile(X, y, b) for X, y in stream]
    assert d.previous.tolist() == [cg.adco(p[i], p[i + 1]) for i in range(3)]
    assert d.first.tolist() == [cg.adco(p[0], p[i]) for i in (1, 2, 3)]
    assert any("window 3" in note and "outside the bins, most in x0" in note for note in d.notes)


def test_a_stream_adds_up():
    """Parts of a window may come in pieces, in any order: profiles add, and the result is the same."""
    stream = _stream()
    b = cg.Binning(bins=5).fit(np.vstack([X for X, _ in stream]))
    whole = cg.drift(dict(enumerate(stream)), binning=b)
    pieces = [(w, X[s], y[s]) for s in (slice(0, 90), slice(90, None)) for w, (X, y) in enumerate(stream)]
    added = cg.drift((piece for piece in pieces), binning=b)
    assert added.previous.tolist() == whole.previous.tolist()
    assert added.first.tolist() == whole.first.tolist()
    assert [p.counts.tolist() for p in added.profiles] == [p.counts.tolist() for p in whole.profiles]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "mapping"])
def test_a_table_with_a_window_column(kind):
    """Columns are named; features are those named, or all others; the bins are fitted on the first window."""
    stream = _stream(3, 40)
    frame = pd.DataFrame(np.vstack([X for X, _ in stream]), columns=["p", "q", "r"])
    frame["cluster"] = np.concatenate([y for _, y in stream])
    frame["day"] = np.repeat(["mo", "tu", "we"], 40)
    frame["noise"] = np.arange(120)
    table = {
        "pandas": frame, "polars": pl.from_pandas(frame), "arrow": pa.Table.from_pandas(frame),
        "mapping": frame.to_dict("list"),
    }[kind]  # fmt: skip
    d = cg.drift(table, "cluster", "day", features=["p", "q", "r"])
    b = cg.Binning(spare=True, robust=True).fit(frame.loc[frame["day"] == "mo", ["p", "q", "r"]])
    p = [cg.density_profile(g[["p", "q", "r"]], g["cluster"], b) for _, g in frame.groupby("day")]
    assert d.windows == ("mo", "tu", "we")
    assert d.previous.tolist() == [close(cg.adco(p[0], p[1])), close(cg.adco(p[1], p[2]))]
    assert [note[:9] for note in d.notes] == ["window tu", "window we"]
    everything = cg.drift(table, "cluster", "day")
    assert everything.profiles[0].names == ("p", "q", "r", "noise")
    assert d.to_frame("polars").height == 3
    assert json.loads(d.to_json())["windows"][1]["previous"] == d.previous[0]
    assert "3 windows, adco with the previous" in repr(d)


MONTHS = ["Jan", "Feb", "Mar", "Apr"]
DAYS = ["2024-03-01", "2024-01-01", "2024-02-01"]


@pytest.mark.parametrize(
    ("windows", "order"),
    [
        ([11, 9, 10], (9, 10, 11)),
        (["week 11", "week 9", "week 10"], ("week 9", "week 10", "week 11")),
        (np.array(DAYS, dtype="M8[D]"), tuple(sorted(DAYS))),
        (pd.Series(pd.to_datetime(DAYS)), tuple(sorted(DAYS))),
        (pl.Series(DAYS).str.to_date(), tuple(sorted(DAYS))),
        ([date.fromisoformat(day) for day in DAYS], tuple(sorted(DAYS))),
        (pa.chunked_array([pd.to_datetime(DAYS[:1]), pd.to_datetime(DAYS[1:])]), tuple(sorted(DAYS))),
        (pd.Series(pd.Categorical(["Mar", "Jan", "Feb"], MONTHS, ordered=True)), ("Jan", "Feb", "Mar")),
        (pl.Series(["Mar", "Jan", "Feb"], dtype=pl.Enum(MONTHS)), ("Jan", "Feb", "Mar")),
    ],
)
def test_windows_come_in_order(windows, order):
    """Numbers, dates, ordered categories and numbers in text are in their order, not that of the rows or the alphabet."""
    d = cg.drift({"w": windows, "x": [3.0, 1.0, 2.0], "y": ["c", "a", "b"]}, "y", "w")
    assert d.windows == order
    assert [p.clusters for p in d.profiles] == [("a",), ("b",), ("c",)]


def test_windows_may_be_periods_and_miss_some():
    """Periods of pandas are dates; a row without a date has no window."""
    table = pd.DataFrame({"w": pd.period_range("2024-01", periods=2, freq="M")[::-1], "x": [1.0, 2.0], "y": [0, 0]})
    assert cg.drift(table, "y", "w").windows == ("2024-01-01", "2024-02-01")
    table["w"] = pd.to_datetime(["2024-01-01", None])
    with pytest.raises(cg.InputError, match="1 rows have no window"):
        cg.drift(table, "y", "w")


def test_moved_clusters_ignore_sizes_if_the_measure_does():
    """A window that contains another twice has cosine 1 with it, and nothing moved."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    parts = [(X, y), (np.vstack([X, X, X]), np.concatenate([y, y, y]))]
    last = cg.drift(parts, measure="adco_cosine").rows()[1]
    assert last["previous"] == close(1.0)
    assert (last["attributes"], last["clusters moved"]) == ("", "")
    assert cg.drift(parts).moved_attributes(1)[0][1] < 1


def test_a_window_without_points_and_a_note_on_noise():
    """A window whose points are all unassigned has nothing in common with others; −1 is reported as a cluster."""
    X = [[0.0], [1.0], [2.0]]
    for sizes in ("given", "scaled"):
        d = cg.drift([(X, [0, 1, 1]), (X, [None] * 3), (X, [None] * 3)], unassigned="drop", sizes=sizes)
        assert d.previous.tolist() == [0.0, 1.0]
    assert "label −1" in cg.drift([(X, [0, 1, -1]), (X, [0, 1, 1])]).notes[-1]
    assert cg.drift([(X, [0, 1, -1]), (X, [0, 1, 1])], noise=-1, unassigned="cluster").notes == ()


def test_windows_of_unequal_size_and_new_values():
    """Windows of unequal size give a note, and are scaled on request; new values have a separate bin in a stream."""
    one = ({"w": ["u", "u", "v", "v"]}, [0, 0, 1, 1])
    two = ({"w": ["u", "v"] * 10}, [0, 1] * 10)
    d = cg.drift([one, two])
    assert d.previous.tolist() == [close(8 * 5 / 200)]
    assert "windows have 4 to 20 points" in d.notes[-1]
    assert cg.drift([one, two], sizes="scaled").previous.tolist() == [close(1)]
    assert cg.drift([one, two], measure="adco_cosine").previous.tolist() == [close(1)]
    new = cg.drift([one, ({"w": ["t", None, "v", "v"]}, [0, 0, 1, 2])])
    assert new.profiles[1].counts.tolist() == [[0, 0, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]]
    assert (None, 2, 0.0) in new.moved_clusters(1) or (None, 1, 0.0) in new.moved_clusters(1)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: cg.drift([]), "there are none"),
        (lambda: cg.drift([([[1.0]], [0])]), "there is only one"),
        (lambda: cg.drift(pd.DataFrame({"x": [1]})), "name the columns of a table"),
        (lambda: cg.drift([[1.0]]), r"\(X, labels\) or \(name, X, labels\)"),
        (lambda: cg.drift({"x": [1], "y": [0]}, "y"), "both names"),
        (lambda: cg.drift({"x": [1, 2]}, np.zeros(2), np.arange(2)), "labels must be the name of a column"),
        (lambda: cg.drift({"x": [1], "y": [0]}, "y", "dat"), "no column 'dat'"),
        (lambda: cg.drift({"x": [1], "y": [0]}, "y", "y"), "'y' cannot hold both"),
        (lambda: cg.drift({"y": [1], "d": [0]}, "y", "d"), "features are missing"),
        (lambda: cg.drift({"x": [1], "y": [1], "d": [0]}, "y", "d", features=["y"]), "cannot be a feature"),
        (lambda: cg.drift({"x": [1, 2], "y": [1, 2], "d": [0, None]}, "y", "d"), "1 rows have no window"),
        (lambda: cg.drift([([[1.0]], [0]), ([[1.0]], [0, 1])]), "window 1 has 1 points and 2 labels"),
        (lambda: cg.drift([], measure="adco_cos"), "did you mean adco_cosine"),
        (lambda: cg.drift([], features=["x"]), "features names columns of a table"),
        (lambda: cg.drift([([[1.0]], [0]), (0, [[1.0]], [0])]), "name all parts of a stream or none"),
        (lambda: cg.drift([(math.nan, [[1.0]], [0]), (math.nan, [[1.0]], [0])]), "a number or a date, not nan"),
        (lambda: cg.drift([([1], [[1.0]], [0])]), r"a number or a date, not \[1\]"),
        (lambda: cg.drift([(0, [[1.0]], [None])] * 2, unassigned="singletons"), "window 0 comes in parts"),
        (lambda: cg.drift({"x": [1], "y": [1], "d": [0]}, "y", "d", features="xy"), "no column 'xy'"),
        (lambda: cg.drift(_stream(2)).moved_attributes(2), r"from 1 \(the second\) to 1, not 2"),
    ],
)
def test_one_line_for_what_drift_cannot_do(make, text):
    """Bad input of drift is an InputError of one line."""
    with pytest.raises(cg.InputError, match=text) as caught:
        make()
    assert "\n" not in str(caught.value)


# --- the commands ----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """iris with its species, a second clustering and a window, as a csv file."""
    iris = load_iris()
    frame = pd.DataFrame(iris.data, columns=["sl", "sw", "pl", "pw"])
    frame["species"] = iris.target_names[iris.target]
    frame["other"] = (frame["pl"] > 2.5).astype(int)
    frame["day"] = np.arange(150) % 3
    frame.to_csv(tmp_path / "iris.csv", index=False)
    return tmp_path / "iris.csv"


def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: Any) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["congruence", *map(str, words)])
    with pytest.raises(SystemExit) as done:
        cli.main()
    said = capsys.readouterr()
    return int(done.value.code or 0), said.out, said.err


def test_the_command_adco(table, capsys, monkeypatch):
    """`congruence adco` prints what compare_profiles finds, as text, JSON and csv, and takes a table of other points."""
    frame = pd.read_csv(table)
    X = frame[["sl", "sw", "pl", "pw"]]
    words = ("adco", table, "--labels", "species", "--labels", "other", "--features", "sl,sw,pl,pw")
    code, out, err = run(capsys, monkeypatch, *words, "--format", "json")
    r = cg.compare_profiles(frame["species"], frame["other"], X)
    assert (code, err) == (0, "note: features: sl, sw, pl, pw · labels: species, other · left out: day (not named)\n")
    assert json.loads(out)["values"] == {k: close(v) for k, v in r.to_dict().items()}
    code, out, _ = run(capsys, monkeypatch, *words, "--adjusted", "--binning", "mdl")
    assert code == 0
    assert f"{cg.adco(frame['species'], frame['other'], X, binning='mdl', adjusted=True):.4f}" in out
    code, out, _ = run(capsys, monkeypatch, *words, "-f", "csv")
    assert out.startswith("measure,value\nadco,")
    code, out, _ = run(capsys, monkeypatch, *words, "--against", table, "-f", "json")
    assert json.loads(out)["n_points"] == [150, 150]
    code, out, err = run(capsys, monkeypatch, *words[:6])
    assert "note: features: sl, sw, pl, pw, day" in err
    code, out, err = run(capsys, monkeypatch, "adco", table, "--labels", "species")
    assert (code, out) == (2, "")
    assert err.strip() == "congruence: --labels names two columns, as in --labels a --labels b; got 1"


def test_the_command_drift(table, capsys, monkeypatch):
    """`congruence drift` prints one row per window, and refuses a misspelt column in one line."""
    frame = pd.read_csv(table)
    words = ("drift", table, "--window", "day", "--labels", "species", "--features", "sl,sw,pl,pw")
    code, out, err = run(capsys, monkeypatch, *words, "-f", "json")
    d = cg.drift(frame, "species", "day", features=["sl", "sw", "pl", "pw"])
    said = "note: features: sl, sw, pl, pw · labels: species · window: day · left out: other (not named)\n"
    assert (code, err) == (0, said)
    rows = json.loads(out)["windows"]
    assert [row["previous"] for row in rows[1:]] == [close(x) for x in d.previous]
    code, out, _ = run(capsys, monkeypatch, *words)
    assert code == 0
    assert out.startswith("3 windows, adco with the previous")
    code, out, err = run(capsys, monkeypatch, *words, "-f", "csv")
    assert (
        out.splitlines()[0] == "window,points,clusters,previous,first,p_value,alarm,outside,attributes,clusters moved"
    )
    code, _, err = run(capsys, monkeypatch, "drift", table, "--window", "dya", "--labels", "species")
    assert code == 2
    assert err.count("\n") == 1
    assert "no column 'dya'; did you mean day?" in err
