"""Alarms of drift: their p-values, what they name, the reference, and the stream that is followed."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_cli_trees import run

import congruence as cg
from congruence.density.evidence import size_tests
from congruence.density.watching import share_of
from reproductions.drift_streams import KIND, RIGHT, stream


@pytest.mark.parametrize("change", [*KIND])
def test_changes_are_caught_at_once_and_named(change):
    """One cluster moves 1 sd in one of 8 features, splits, merges, appears, vanishes or mixes: an alarm that names it."""
    for seed in range(2):
        d = cg.drift(stream(seed, change, windows=7, at=6))
        assert d.frame["alarm"].tolist() == [False] * 6 + [True]
        first = d.moved[d.moved["alarm"]].iloc[0]
        assert (first["window"], first["kind"]) == (6, KIND[change])
        assert first["cluster"] in RIGHT.get(change, (2, 5))
        assert first["feature"] == "x3" or change not in ("move", "wide")


@pytest.mark.parametrize("change", [None, "renamed"])
def test_no_change_gives_uniform_p_values_and_no_alarm(change):
    """Without a change p-values are uniform, nothing is an alarm, and few changes are listed."""
    p = np.concatenate([
        cg.drift(stream(seed, change, windows=30, n=300, features=3)).frame["p_value"].dropna() for seed in range(4)
    ])  # fmt: skip
    assert abs(np.mean(p <= 0.5) - 0.5) < 0.15
    assert np.mean(p <= 0.05) < 0.11
    assert p.min() > 1e-5


def test_shares_of_alpha_add_up_to_one():
    """However many windows follow, they spend at most alpha."""
    total = sum(share_of(i) for i in range(1, 20_000))
    assert 0.85 < total < 1
    assert total + 1 / np.log(20_001) / 1.06906 == pytest.approx(1, abs=1e-4)


def test_size_test_is_exact():
    """The p-value of a cluster's share is twice the smaller tail of the hypergeometric distribution."""
    from scipy.stats import hypergeom

    a, b = np.array([30, 50, 0]), np.array([4, 70, 6])
    for found, x, y in zip(np.exp(size_tests(a, b)), b, a, strict=True):
        null = hypergeom(160, x + y, 80)
        assert found == pytest.approx(min(1, 2 * min(null.sf(x - 1), null.cdf(x))), rel=1e-9)


def test_one_outlier_changes_nothing():
    """A value of 1e6 in the first or a later window is no alarm, hides none, and is noted."""
    for where in (0, 3):
        parts = [(X.copy(), y) for X, y in stream(1, "move", windows=7, at=6, amount=2.0)]
        clean = cg.drift(parts)
        parts[where][0].iloc[0, 0] = 1e6
        d = cg.drift(parts)
        assert d.frame["alarm"].tolist() == [False] * 6 + [True]
        assert d.first == pytest.approx(clean.first, abs=0.02)
        assert "outside the bins" in " ".join(d.notes)
        assert d.moved[d.moved["alarm"]].iloc[0]["amount"] == pytest.approx(2, abs=0.4)


@pytest.mark.parametrize("reference", ["first", "previous"])
def test_history_does_not_change_when_windows_are_added(reference):
    """The rows of six windows are the same after two more, also of a table."""
    parts = list(stream(2, "move", windows=8, at=4, n=200, features=2))
    whole, part = (cg.drift(x, reference=reference).frame for x in (parts, parts[:6]))
    assert whole.iloc[:6].equals(part)
    tables = [X.assign(y=y, day=i) for i, (X, y) in enumerate(parts)]
    rows = [cg.drift(pd.concat(x), "y", "day", reference=reference).frame for x in (tables, tables[:6])]
    assert rows[0].iloc[:6].equals(rows[1])
    assert rows[0]["p_value"].tolist()[1:] == whole["p_value"].tolist()[1:]


def test_previous_alarms_once_under_lasting_names():
    """Against the previous window a lasting change is one alarm, and renamed clusters keep the name of the first window."""
    parts = list(stream(3, "move", windows=6, at=3, amount=3.0))
    d = cg.drift([(X, y if i == 0 else (y + i) % 5) for i, (X, y) in enumerate(parts)], reference="previous")
    assert d.frame["alarm"].tolist() == [False, False, False, True, False, False]
    found = d.findings[3].moved[0]
    assert (found.cluster, found.feature, found.direction) == (2, "x3", "up")


def test_saved_reference_gives_the_same(tmp_path):
    """A profile that was saved is the reference with the same p-values, and a plain profile is one with its own bins."""
    parts = list(stream(4, "move", windows=5, at=3))
    whole = cg.drift(parts)
    whole.reference.save(tmp_path / "r.npz")
    loaded = cg.load_profile(tmp_path / "r.npz")
    assert loaded == whole.reference
    for reference in (loaded, tmp_path / "r.npz", str(tmp_path / "r.npz")):
        d = cg.drift(parts[1:], reference=reference)
        assert d.frame["p_value"].tolist() == whole.frame["p_value"].tolist()[1:]
        assert d.first.tolist() == whole.first.tolist()
    plain = cg.density_profile(*parts[0], cg.Binning(bins=30, spare=True).fit(parts[0][0]))
    plain.save(tmp_path / "p.npz")
    d = cg.drift(parts[1:], reference=tmp_path / "p.npz")
    assert d.frame["alarm"].tolist() == [False, False, True, True]
    assert cg.drift(parts[3:4], reference=plain).alarms == [True]


def test_categories_and_missing_values_are_tested():
    """A cluster whose categories or whose number of missing values change is named, with the value."""
    rng = np.random.default_rng(0)
    days = []
    for i in range(6):
        y = rng.integers(0, 3, 400)
        kind, x = rng.choice(["tcp", "udp", "icmp"], 400, p=[0.6, 0.3, 0.1]), rng.normal(size=400)
        if i >= 4:
            kind[(y == 1) & (rng.random(400) < 0.4)] = "icmp"
        x[(rng.random(400) < (0.4 if i == 5 else 0.05)) & (y == 0)] = np.nan
        days.append(pd.DataFrame({"kind": kind, "x": x, "y": y, "day": i}))
    d = cg.drift(pd.concat(days), "y", "day")
    assert d.alarms == [False] * 4 + [True] * 2
    found = {(x.window, x.cluster, x.feature, x.direction) for f in d.findings[1:] for x in f.moved}
    assert found >= {(4, 1, "kind", "icmp ↑"), (5, 1, "kind", "icmp ↑"), (5, 0, "x", "missing ↑")}


def test_threshold_is_an_alarm_too():
    """A window whose measure with the first is worse than the threshold is an alarm, for distances if it is larger."""
    parts = list(stream(5, windows=4, n=200, features=2))
    assert cg.drift(parts, threshold=0.999).alarms == [False, True, True, True]
    assert cg.drift(parts, measure="adco_distance", threshold=0.001).alarms == [False, True, True, True]
    assert cg.drift(parts, threshold=0.1).alarms == [False] * 4


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"reference": "last"}, "reference must be 'first' or 'previous', not 'last'"),
        ({"reference": "none.npz"}, "there is no file none.npz"),
        ({"reference": 3}, "reference must be 'first', 'previous', a Profile or its path; got int"),
        ({"alpha": 2}, "alpha must be a number from 0 to 1; got 2"),
        ({"reference": cg.density_profile([[0.0], [1.0]], [0, 1]), "bins": 5}, "leave out binning, bins and nominal"),
    ],
)
def test_refusals(options, text):
    """Bad options are refused in one line."""
    with pytest.raises(cg.InputError, match=text):
        cg.drift(stream(0, windows=2, n=50, features=1), **options)


@pytest.fixture
def log(tmp_path, monkeypatch) -> Path:
    """A table of eight days, of which the last two have moved."""
    monkeypatch.chdir(tmp_path)
    days = [X.assign(kind=np.where(y % 2, "a", "b"), y=[f"c{c}" for c in y], day=f"d{i}")
            for i, (X, y) in enumerate(stream(6, "move", windows=8, at=6, n=300, features=2, amount=2.0))]  # fmt: skip
    pd.concat(days).to_csv("log.csv", index=False)
    pd.concat(days[:5]).to_csv("ref.csv", index=False)
    return tmp_path / "log.csv"


def test_command_fails_on_alarm(log, monkeypatch, capsys):
    """--fail-on-alarm exits with 1 and names the windows; tables, figures and the reference are written."""
    line = "drift log.csv --window day --labels y"
    out, err = run(f"{line} --fail-on-alarm --moved m.csv --plot d.html -f csv", monkeypatch, capsys, code=1)
    assert "alarm in window d6, d7" in err
    assert out.splitlines()[7].split(",")[6] == "True"
    assert pd.read_csv("m.csv")["cluster"].tolist()[0] == "c2"
    assert Path("d.html").stat().st_size > 1000
    run("drift ref.csv --window day --labels y --fail-on-alarm --save-profile r.npz", monkeypatch, capsys)
    out, _ = run(f"{line} --reference-profile r.npz -f json", monkeypatch, capsys)
    rows = json.loads(out)["windows"]
    assert [row["alarm"] for row in rows] == [False] * 6 + [True] * 2
    assert rows[0]["p_value"] == 1


def test_following_gives_the_same_windows(log, monkeypatch, capsys):
    """--follow prints a JSON line per window with the p-values of the table, from csv and from JSON lines."""
    d = cg.drift(pd.read_csv(log), "y", "day")
    lines = pd.read_csv(log).to_json(orient="records", lines=True)
    for text in (log.read_text(), lines):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        out, _ = run("drift --follow --window day --labels y --fail-on-alarm", monkeypatch, capsys, code=1)
        rows = [json.loads(line) for line in out.splitlines()]
        assert [row["window"] for row in rows] == list(d.windows)
        assert [row["p_value"] for row in rows[1:]] == pytest.approx(d.p_values[1:], rel=1e-9)
        assert rows[6]["moved"][0]["cluster"] == "c2"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("drift --window day --labels y", "name a table, or pass --follow"),
        ("drift log.csv --follow --window day --labels y", "--follow reads standard input"),
        ("drift --follow --window day --labels z", "has no column 'z'"),
        ("drift log.csv --window day --labels y --save-profile r.csv", "--save-profile is written as .npz"),
        ("drift log.csv --window day --labels y --reference-profile log.csv", "is not a file of a profile"),
        (
            "drift log.csv --window day --labels y --reference previous --reference-profile log.csv",
            "leave one of them out",
        ),
    ],
)
def test_bad_input_is_one_line(line, message, log, monkeypatch, capsys):
    """Exit code 2 and one line that says what to do."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(log.read_text()))
    _, err = run(line, monkeypatch, capsys, code=2)
    assert message in err
    assert len([x for x in err.splitlines() if not x.startswith("note: ")]) == 1
