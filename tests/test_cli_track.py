"""The command `track`: what it prints and writes, and one line for bad input; the flow it draws."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_cli_trees import run

import congruence as cg
from congruence.figures.time_pictures import MOST_LANES, lanes_of
from congruence.inputs.column_names import are_steps
from reproductions.planted_tracks import planted


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """A table of four steps, and the same steps as one file each, in other orders and without absent points."""
    monkeypatch.chdir(tmp_path)
    labels, _, _ = planted(3, steps=4, n=300)
    columns = {f"week_{i}": pd.array(x, dtype="Int64") for i, x in enumerate(labels)}
    pd.DataFrame({"customer": [f"c{i}" for i in range(len(labels[0]))], **columns}).to_csv("steps.csv", index=False)
    for i, x in enumerate(columns.values()):
        table = pd.DataFrame({"customer": np.arange(len(x)) + 100, "segment": x, "x": np.arange(len(x)) / 7}).dropna()
        table = table.sample(frac=1, random_state=i)
        if i % 2:
            table.to_csv(f"w{i}.csv", index=False)
        else:
            table.to_parquet(f"w{i}.parquet", index=False)
    return tmp_path


def test_columns_of_one_file(here, monkeypatch, capsys):
    """The columns are the steps; the result is that of cg.track, and tables and figures are written."""
    line = "track steps.csv --columns week_* --out n.csv --events e.csv --lives l.csv --plot flow.html"
    out, err = run(f"{line} -f json", monkeypatch, capsys)
    t = cg.track(pd.read_csv("steps.csv").convert_dtypes().set_index("customer"))
    assert json.loads(out)["sentence"] == t.sentence
    assert err.count("wrote") == 4
    written = pd.read_csv("n.csv").convert_dtypes()
    assert written["customer"].tolist() == t.labels.index.tolist()
    assert [None if x is pd.NA else x for x in written["week_3"]] == t.labels["week_3"].tolist()
    assert pd.read_csv("e.csv")["event"].tolist() == [e.event for e in t.happened]
    assert pd.read_csv("l.csv")["size_max"].tolist() == t.tracks["size_max"].tolist()
    text, _ = run("track steps.csv --columns week_*", monkeypatch, capsys)
    assert text.startswith(t.sentence)
    rows, _ = run("track steps.csv --columns week_* -f csv", monkeypatch, capsys)
    assert len(rows.splitlines()) == len(t.happened) + 1


def test_covers_are_steps(tmp_path, monkeypatch, capsys):
    """Files of covers are followed by their points; a point in two clusters has both lasting names."""
    monkeypatch.chdir(tmp_path)
    for name, clusters in (("may", [range(9), range(8, 30)]), ("june", [range(8, 30), range(4), range(4, 9)])):
        Path(f"{name}.cover").write_text("\n".join(" ".join(map(str, c)) for c in clusters))
    out, _ = run("track may.cover june.cover --out names.csv -f csv", monkeypatch, capsys)
    assert [line.split(",")[1:4] for line in out.splitlines()[1:]] == [["split", "0", "2; 0"], ["kept", "1", "1"]]
    assert pd.read_csv("names.csv")["june"].tolist()[8] == "1; 0"
    _, err = run("track may.cover june.cover --id x", monkeypatch, capsys, code=2)
    assert "--id is for tables of labels, but the files hold covers" in err


@pytest.mark.parametrize("stored", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_ids_of_different_types_are_joined_as_text(here, monkeypatch, capsys, stored):
    """Whole numbers in one file and texts in another, of any type that Parquet has for them, name the same points."""
    table = pd.read_csv("w1.csv")
    ids = pa.array(table["customer"].astype(str).tolist()).cast(stored)
    pq.write_table(pa.table({"customer": ids, "segment": table["segment"].to_numpy()}), "text.parquet")
    run("track w1.csv text.parquet --columns segment --id customer --out n.csv", monkeypatch, capsys)
    written = pd.read_csv("n.csv")
    assert sorted(written["customer"]) == sorted(table["customer"])
    assert written["w1"].tolist() == written["text"].tolist()


def test_files_are_joined_by_id_and_go_on(here, monkeypatch, capsys):
    """Four files at once give the names that three and a later one give, whatever their order of rows."""
    files = "w0.parquet w1.csv w2.parquet"
    run(f"track {files} w3.csv --columns segment --id customer --out all.csv", monkeypatch, capsys)
    run(f"track {files} --columns segment --id customer --save t.npz", monkeypatch, capsys)
    run("track w3.csv --columns segment --id customer --previous t.npz --out later.csv", monkeypatch, capsys)
    every, later = (pd.read_csv(name).set_index("customer") for name in ("all.csv", "later.csv"))
    assert list(later.columns) == ["w0", "w1", "w2", "w3"]
    assert every.sort_index().equals(later.sort_index())


def test_own_points_and_memberships(here, monkeypatch, capsys):
    """--features matches clusters by their profiles; --memberships takes every column as a cluster."""
    rng = np.random.default_rng(0)
    for name, order in (("a", [0, 1]), ("b", [1, 0])):
        c = np.repeat(order, 60)
        data = {"x": c * 8 + rng.normal(size=120), "y": rng.normal(size=120), "cluster": np.repeat([0, 1], 60)}
        pd.DataFrame(data).to_csv(f"{name}.csv", index=False)
        u = np.clip(c * 0.8 + 0.1 + rng.normal(0, 0.02, 120), 0, 1)
        np.save(f"{name}.npy", np.column_stack([u, 1 - u]))
    for line in ("a.csv b.csv --columns cluster --features x,y", "a.npy b.npy --memberships"):
        out, _ = run(f"track {line} -f json", monkeypatch, capsys)
        events = json.loads(out)["events"]
        assert [x["event"] for x in events] == ["kept", "kept"]
        assert all(x["before"] == x["after"] for x in events)
        assert all(x["clusters_before"] != x["clusters_after"] for x in events)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("w0.parquet w1.csv --id client", "w0.parquet has no column 'client'"),
        ("w0.parquet none.csv", "there is no file none.csv"),
        ("steps.csv --columns month_*", "no column 'month_*'"),
        ("steps.csv --plot flow.gif", "--plot is written as .html"),
        ("steps.csv --save t.csv", "--save is written as .npz"),
        ("steps.csv --previous w1.csv", "w1.csv is not a file of tracks"),
        ("w0.parquet w1.csv --columns segment,customer --features x", "has 2 label columns"),
        ("w0.parquet --memberships --features x", "leave out --memberships or --features"),
    ],
)
def test_bad_input_is_one_line(line, message, here, monkeypatch, capsys):
    """Exit code 2 and one line that says what to do."""
    _, err = run(f"track {line}", monkeypatch, capsys, code=2)
    assert message in err
    assert len([x for x in err.splitlines() if not x.startswith("note: ")]) == 1


def test_report_offers_tracks_for_steps(here, monkeypatch, capsys):
    """The report of columns named like steps says which command follows their clusters; that of a sweep does not."""
    assert are_steps(["2024_w01", "2024_w02", "2024_w03"])
    assert not are_steps(["kmeans", "leiden", "ward"])
    assert not are_steps(["week_1", "day_2", "week_3"])
    _, err = run("report steps.csv --out r.html --unassigned drop", monkeypatch, capsys)
    assert "congruence track steps.csv" in err
    page = Path("r.html").read_text()
    assert [x for x in re.findall(r'<section id="(\w+)">', page) if x in ("compare", "steps", "points")] == [
        "compare", "steps", "points",
    ]  # fmt: skip


def test_page_shows_the_flow_of_steps():
    """The page of columns that are steps has the lasting clusters of cg.track, with a bar for each cluster of each step."""
    labels, _, _ = planted(2, steps=4, n=300)
    named = {f"week_{i}": ["<b>" if x == 0 else x for x in step] for i, step in enumerate(labels)}
    made, t = cg.report(named, unassigned="drop", progress=False), cg.track(named)
    assert [e.event for e in made.model.steps.happened] == [e.event for e in t.happened]
    figure = re.search(r'<section id="steps">(.*?)</section>', made.html, re.S)[1]
    assert figure.count("<rect") == sum(len(names) for names in t.names)
    assert "&lt;b&gt;" in figure
    assert "<b>" not in figure
    other = cg.report(dict(zip(("a", "b", "c"), labels, strict=False)), unassigned="drop", progress=False)
    assert other.model.steps is None
    assert 'id="steps"' not in other.html


def test_flow_has_all_points():
    """Each step has bars for all its points, bars do not overlap, and small clusters share a lane."""
    labels, _, _ = planted(1)
    t = cg.track(labels)
    lanes = lanes_of(t)
    for i, step in enumerate(t.history.steps):
        bars = sorted(
            (lane.tops[k], lane.heights[k], lane.sizes[k])
            for lane in lanes for k, at in enumerate(lane.steps) if at == i
        )  # fmt: skip
        assert sum(size for *_, size in bars) == step.sizes.sum()
        assert all(a[0] + a[1] <= b[0] + 1e-9 for a, b in pairwise(bars))
    many = lanes_of(cg.track([np.arange(100) // 2] * 2))
    assert len(many) == MOST_LANES
    assert many[-1].name == "11 other clusters"
    assert len({lane.colour for lane in many}) == MOST_LANES


def test_steps_without_common_points_are_named():
    """A warning says that two steps have no point in common."""
    with pytest.warns(UserWarning, match="steps a and b have no point in common"):
        cg.track([pd.Series([0, 1], index=["p", "q"], name="a"), pd.Series([0, 1], index=["r", "s"], name="b")])
