"""Lazy frames are counted where they are, with the values of memory: Polars, DuckDB, Ibis, SQLFrame, PostgreSQL, Spark."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
import warehouses

import congruence as cg
from congruence.errors import InputError, NotApplicable
from congruence.scanning import lazy_frames

Maker = Callable[[pd.DataFrame], Any]


@pytest.fixture(autouse=True)
def few_first_rows(monkeypatch):
    """Frames of 1,000 rows are large enough to be counted where they are."""
    monkeypatch.setattr(lazy_frames, "FIRST_ROWS", 100)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Any]:
    """A connection to a server of PostgreSQL."""
    ibis = pytest.importorskip("ibis", reason="ibis speaks to PostgreSQL")
    pytest.importorskip("psycopg", reason="psycopg speaks to PostgreSQL")
    if warehouses.postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    with warehouses.postgres() as where:
        connection = ibis.postgres.connect(**where)
        yield connection
        connection.disconnect()


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session of Spark."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if not warehouses.has_java():
        pytest.skip("Java is not installed, which Spark needs")
    with warehouses.spark() as session:
        yield session


def _polars(frame: pd.DataFrame) -> Any:
    return pl.from_pandas(frame).lazy()


def _duckdb(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("duckdb", reason="duckdb makes the relation").from_arrow(
        pl.from_pandas(frame).to_arrow()
    )


def _ibis(frame: pd.DataFrame) -> Any:
    return pytest.importorskip("ibis", reason="ibis makes the table").memtable(pl.from_pandas(frame).to_arrow())


def _sqlframe(frame: pd.DataFrame) -> Any:
    session = pytest.importorskip("sqlframe.duckdb", reason="sqlframe makes the frame").DuckDBSession()
    return session.createDataFrame(frame.astype(object).where(frame.notna(), None))


LIBRARIES = ["polars", "duckdb", "ibis", "postgres", pytest.param("spark", marks=pytest.mark.slow)]


@pytest.fixture(params=LIBRARIES)
def made(request) -> Maker:
    """Makes a lazy frame of each library from one of pandas."""
    if request.param == "postgres":
        connection = request.getfixturevalue("postgres")
        return lambda frame: warehouses.in_postgres(connection, frame)
    if request.param == "spark":
        session = request.getfixturevalue("spark")
        return lambda frame: session.createDataFrame(pl.from_pandas(frame).to_arrow()).cache()
    return {"polars": _polars, "duckdb": _duckdb, "ibis": _ibis}[request.param]


def labels(n: int = 1000) -> pd.DataFrame:
    """Label columns of every kind with gaps, noise, awkward names, weights and counts."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 6, n)
    frame = pd.DataFrame({
        "truth": truth,
        "Größe (zweite Wahl)": np.array(["klein", "größer", "漢字", "it's", '"x"', ""])[rng.permuted(truth)],
        "gaps": np.where(rng.random(n) < 0.2, np.nan, truth // 2),
        "noise": np.where(rng.random(n) < 0.2, -1, truth),
        "flag": truth > 2,
        "weight": rng.random(n) ** 3,
        "often": rng.integers(0, 5, n),
    })  # fmt: skip
    frame.loc[rng.random(n) < 0.1, "Größe (zweite Wahl)"] = None
    return frame


COLUMNS = ["truth", "Größe (zweite Wahl)", "gaps", "noise", "flag"]
RULES: list[dict[str, Any]] = [
    {"unassigned": "drop"}, {"unassigned": "cluster", "noise": {"noise": -1}}, {"unassigned": "singletons"},
    {"unassigned": "drop", "sample_weight": "weight"}, {"unassigned": "cluster", "frequency": "often"},
]  # fmt: skip


def in_memory(frame: pd.DataFrame, names: list[str]) -> dict[str, Any]:
    """The columns in memory; whole numbers with gaps are whole numbers."""
    return {name: pl.from_pandas(frame)[name] for name in names}


def same_values(lazy: Any, frame: pd.DataFrame, rules: list[dict[str, Any]]) -> None:
    """All pairs of columns have the values of memory under these rules; without weights to the last bit."""
    scan, names = cg.scan(lazy, COLUMNS), [*COLUMNS, "weight", "often"]
    measures = ["ari", "vi", "accuracy"]
    plain = in_memory(frame, names)
    for rule in rules:
        weights = {key: x for key, x in rule.items() if key in ("sample_weight", "frequency")}
        expected = cg.compare_all(
            {name: plain[name] for name in COLUMNS}, measures, **rule | {key: plain[x] for key, x in weights.items()}
        )
        found = cg.compare_all(scan, measures, **rule | {key: scan[x] for key, x in weights.items()})
        assert (found.n_used == expected.n_used).all(), rule
        tolerance = 1e-12 if "sample_weight" in rule else 0.0
        for measure in measures:
            assert np.allclose(found[measure], expected[measure], rtol=tolerance, atol=tolerance), (rule, measure)


def test_values_are_those_of_memory(made):
    """Columns with gaps, noise, unicode, weights and counts have the values of memory in every library."""
    frame = labels()
    same_values(made(frame), frame, RULES)


def test_a_dot_in_a_name(made, tmp_path):
    """A column, a weight and an id may have a dot in their names, though Spark reads it as a field and DuckDB as a table."""
    frame = labels()[["truth", "noise", "weight"]].rename(columns={"noise": "a.b", "weight": "w.`x`"})
    scan = cg.scan(made(frame.assign(**{"row.id": np.arange(len(frame))})), ["truth", "a.b"], id="row.id")
    assert cg.ari(scan["truth"], scan["a.b"]) == cg.ari(frame["truth"], frame["a.b"], noise=())
    assert cg.ari(scan["truth"], scan["a.b"], sample_weight=scan["w.`x`"]) == pytest.approx(
        cg.ari(frame["truth"], frame["a.b"], noise=(), sample_weight=frame["w.`x`"]), rel=1e-12
    )
    found = cg.relabel(scan["truth"], scan["a.b"], out=tmp_path / "out").read().sort_by("row.id")
    assert found.column_names == ["row.id", "a.b"]
    assert found["a.b"].to_pylist() == cg.relabel(frame["truth"], frame["a.b"], noise=()).tolist()


def test_every_entry_point_counts_there(made):
    """compare, compare_to, Ensemble sums, tables and matches of a lazy frame are those of memory."""
    frame = labels()[["truth", "noise", "flag"]]
    lazy, plain = made(frame), in_memory(frame, ["truth", "noise", "flag"])
    scan = cg.scan(lazy)
    assert (
        cg.compare(scan["truth"], scan["noise"], noise=-1, unassigned="drop").to_dict()
        == cg.compare(plain["truth"], plain["noise"], noise=-1, unassigned="drop").to_dict()
    )
    assert (
        cg.compare_to("truth", lazy, "nmi_sum")["nmi_sum"].tolist()
        == cg.compare_to("truth", plain, "nmi_sum")["nmi_sum"].tolist()
    )
    assert cg.certainty(lazy) == cg.Ensemble(plain).certainty()
    assert (
        cg.contingency(scan["truth"], scan["flag"]).to_array().tolist()
        == cg.contingency(plain["truth"], plain["flag"]).to_array().tolist()
    )
    assert repr(cg.match(scan["truth"], scan["noise"])) == repr(cg.match(plain["truth"], plain["noise"]))


def test_sqlframe(tmp_path):
    """A frame of SQLFrame is counted where it is, and writes values per row."""
    frame = labels(300)[["truth", "noise"]]
    scan = cg.scan(_sqlframe(frame))
    assert cg.compare_all(scan)["ari"][0, 1] == cg.ari(frame["truth"], frame["noise"], noise=())
    written = cg.relabel(scan["truth"], scan["noise"], out=tmp_path / "out")
    assert sorted(written.read()["noise"].to_pylist()) == sorted(
        cg.relabel(frame["truth"], frame["noise"], noise=()).tolist()
    )


def same_rows(lazy: Any, frame: pd.DataFrame, out: Path) -> None:
    """Scores and new names of rows that the library joins and writes are those of memory."""
    scan, plain = cg.scan(lazy, COLUMNS, id="often"), in_memory(frame, COLUMNS)
    for a, b in (("truth", "noise"), ("Größe (zweite Wahl)", "gaps"), ("flag", "Größe (zweite Wahl)")):
        rules: dict[str, Any] = {"unassigned": "drop", "noise": {"noise": -1}}
        rules = rules if b == "noise" else {"unassigned": "drop"}
        for call, name in ((cg.element_scores, "element_score"), (cg.relabel, b)):
            written = call(scan[a], scan[b], out=out / f"{name}-{a}", **rules)
            found, expected = written.read().sort_by("often"), np.asarray(call(plain[a], plain[b], **rules), object)
            assert (written.n_rows, written.columns, found.column_names) == (
                len(frame),
                ("often", name),
                ["often", name],
            )
            missing = [x is None or x != x for x in expected.tolist()]
            own = [None if gone else x for x, gone in zip(expected.tolist(), missing, strict=True)]
            assert found[name].to_pylist() == own, (a, b, name)


def test_values_per_row_are_written_there(made, tmp_path):
    """Scores and new names are joined and written by the library, with the id of each row or else all columns."""
    frame = labels().assign(often=np.arange(1000))
    same_rows(made(frame), frame, tmp_path)
    scan = cg.scan(made(frame[["truth", "noise", "often"]]), ["truth", "noise"])
    found = cg.relabel(scan["truth"], scan["noise"], out=tmp_path / "all").read().sort_by("often")
    assert found.column_names == ["truth", "often", "noise"]
    assert found["noise"].to_pylist() == cg.relabel(frame["truth"], frame["noise"], noise=()).tolist()
    with pytest.raises(InputError, match="holds other files"):
        cg.relabel(scan["truth"], scan["noise"], out=tmp_path / "all")
    assert cg.element_scores(scan["truth"], scan["truth"], out=tmp_path / "self").read()[
        "element_score"
    ].to_pylist() == [1.0] * len(frame)


def test_steps_are_tracked_there(made, tmp_path):
    """Tables of steps are counted by the library, which also writes the lasting names; no row is fetched."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 6, 1000)
    frame = pd.DataFrame({
        "customer": np.arange(1000) * 7, "may": [f"m{x}" for x in first], "june": np.where(first == 5, 4, 9 - first),
        "july": pd.array(np.where(first == 5, 5, 9 - first), dtype="Int64"),
    })  # fmt: skip
    frame.loc[::9, "july"] = None
    plain = cg.track(pl.from_pandas(frame))
    lazy = made(frame)
    t = cg.track(lazy)
    assert (t.names, t.happened, t.sentence) == (plain.names, plain.happened, plain.sentence)
    with pytest.raises(InputError, match=r"t\.write_labels\(out\)"):
        print(t.labels)
    for id, out in ((None, "all"), ("customer", "named")):
        tracked = t if id is None else cg.track(cg.scan(lazy, id=id))
        written = tracked.write_labels(tmp_path / out)
        assert written.columns == ("customer", "may", "june", "july")
        found = written.read().sort_by("customer")
        for name in t.steps:
            assert found[name].to_pylist() == plain.labels[name].to_list()
    assert cg.track(lazy, unassigned="singletons").labels.shape == (1000, 4)  # needs the rows


def test_categories_and_new_rows(tmp_path, monkeypatch):
    """Categories are joined as text; a table with new rows since it was counted is an error."""
    frame = pl.from_pandas(labels()[["truth", "Größe (zweite Wahl)"]]).rename({"Größe (zweite Wahl)": "size"})
    frame = frame.with_row_index("row")
    scan = cg.scan(frame.with_columns(pl.col("size").cast(pl.Categorical)).lazy(), id="row")
    found = (
        cg.element_scores(scan["truth"], scan["size"], unassigned="drop", out=tmp_path / "out").read().sort_by("row")
    )
    expected = cg.element_scores(frame["truth"], frame["size"], unassigned="drop").to_list()
    assert found["element_score"].fill_null(np.nan).to_numpy().tolist() == pytest.approx(expected, rel=0, nan_ok=True)
    monkeypatch.setattr(scan.input, "frame", nw.from_native(frame[:500].lazy()))
    with pytest.raises(InputError, match="changed between two queries: 1000 and 500 rows"):
        cg.relabel(scan["truth"], scan["size"], unassigned="drop", out=tmp_path / "new")


def test_values_per_row_are_not_fetched(made, tmp_path):
    """What needs the label of each row says in one line how to stream the rows."""
    scan = cg.scan(made(labels()[["truth", "noise"]]))
    calls: list[Callable[[], object]] = [
        lambda: cg.relabel(scan["truth"], scan["noise"]),
        lambda: cg.element_scores(scan["truth"], scan["noise"]),
        lambda: cg.item_consensus(cg.Ensemble(scan), scan["truth"]),
        lambda: cg.consensus(scan, 3, out=tmp_path / "out"),
    ]
    for call in calls:
        with pytest.raises(NotApplicable, match=r"is counted where it is, .* cg\.scan\(lambda: "):
            call()


def test_two_frames_have_no_common_order(made):
    """Rows of two queries are put beside each other only where a library keeps their order."""
    frame = labels()[["truth", "noise"]]
    lazy, values = made(frame[["truth"]]), frame["noise"].to_numpy()
    if nw.from_native(lazy).implementation.value in ("polars", "duckdb"):
        assert cg.ari(lazy, values, noise=()) == cg.ari(frame["truth"], values, noise=())
    else:
        with pytest.raises(InputError, match=r"a: .* in no order.* cg\.scan\(frame\)"):
            cg.ari(lazy, values)


def test_bad_weights_are_refused(made):
    """Weights that are negative, missing or words, and counts that are not whole, are refused as in a file."""
    frame = labels()
    frame["negative"], frame["missing"] = frame["weight"] - 0.5, frame["weight"].where(frame["weight"] > 0.1)
    scan = cg.scan(made(frame), ["truth", "noise"])
    for name, option, why in (
        ("negative", "sample_weight", "finite, not missing and not negative"),
        ("missing", "frequency", "finite, not missing and not negative"),
        ("weight", "frequency", "whole numbers"),
        ("Größe (zweite Wahl)", "sample_weight", "must be numbers"),
    ):
        with pytest.raises(InputError, match=why):
            cg.ari(scan["truth"], scan["noise"], **{option: scan[name]})


def test_small_frames_are_read(monkeypatch):
    """A frame with few rows is read in one query, so that everything works as for a frame in memory."""
    monkeypatch.setattr(lazy_frames, "FIRST_ROWS", 1 << 16)
    frame = labels()
    lazy = _polars(frame[["truth", "noise"]])
    assert cg.Ensemble(lazy)["truth"].codes.tolist() == frame["truth"].tolist()
    assert isinstance(cg.compare_all(lazy).to_frame("ari"), pl.DataFrame)
    scan = cg.scan(lazy)
    assert len(cg.relabel(scan["truth"], scan["noise"])) == len(frame)


def test_ids_and_measurements_are_left_out():
    """Columns are sorted into labels, ids and measurements by their first rows, as for a file."""
    frame = labels().reset_index(names="id")
    assert cg.scan(_polars(frame)).names == (*COLUMNS, "often")


def _million(library: str, request: Any) -> Any:
    """Columns of a million labels, made by the library itself where that is much faster."""
    if library == "spark":
        return request.getfixturevalue("spark").range(1_000_000).selectExpr("id % 999983 as a", "id % 7 as b")
    if library == "postgres":
        connection = request.getfixturevalue("postgres")
        with connection.con.cursor() as cursor:
            cursor.execute("drop table if exists million")
            cursor.execute(
                "create table million as select i % 999983 as a, i % 7 as b from generate_series(0, 999999) i"
            )
        return connection.table("million")
    rows = np.arange(1_000_000)
    return {"polars": _polars, "duckdb": _duckdb, "ibis": _ibis}[library](
        pd.DataFrame({"a": rows % 999_983, "b": rows % 7})
    )


@pytest.mark.slow
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_million_labels(library, request):
    """Columns of a million different labels have the table of memory; above the memory limit they are refused."""
    lazy, rows = _million(library, request), np.arange(1_000_000)
    scan = cg.scan(lazy, ["a", "b"])
    assert cg.ari(scan["a"], scan["b"]) == cg.ari(rows % 999_983, rows % 7)
    if library == "polars":
        small = cg.scan(lazy, ["a", "b"], memory="5MB")
        with pytest.raises(InputError, match="more than 5 MB"):
            cg.ari(small["a"], small["b"])


def test_a_table_that_changes_is_refused(monkeypatch):
    """Two queries that find different numbers of rows are an error, not a mixture."""
    monkeypatch.setattr(lazy_frames, "JOINT_CELLS", 4)
    scan = cg.scan(_polars(labels()), ["truth", "noise", "flag"])
    fetch, seen = lazy_frames.Grouped._fetched, itertools.count()

    def changing(self: Any, group: Any, most: int) -> Any:
        table = fetch(self, group, most)
        return table.slice(1) if next(seen) else table

    monkeypatch.setattr(lazy_frames.Grouped, "_fetched", changing)
    with pytest.raises(InputError, match="changed between two queries"):
        cg.compare_all(scan)


def test_options_of_files_are_refused(tmp_path):
    """A checkpoint, a client and skip_bad have no effect for a frame that counts itself."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        for option in ({"checkpoint": tmp_path}, {"client": pool}, {"skip_bad": True}):
            with pytest.raises(InputError, match="no effect"):
                cg.compare_all(cg.scan(_polars(labels()), COLUMNS[:2]), unassigned="drop", **option)


def test_errors_of_the_database_are_one_line():
    """An error of a query names the frame and the database's first line."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb makes the relation")
    relation = duckdb.sql(
        "select case when i > 5000 then 1 // cast('x' as int) else 0 end as a, 1 as b from range(9999) t(i)"
    )
    with pytest.raises(InputError, match=r"^a DuckDB relation could not be read: [^\n]+$"):
        cg.compare_all(cg.scan(relation, ["a", "b"]))


@pytest.mark.parametrize("widths", [[3, 4, 5, 6], [200, 200, 200, 2], [10**6] * 4])
def test_groups_hold_all_pairs(widths):
    """Every pair is in a group; a group has a small joint table, or one pair."""
    pairs = {(i, j) for i in range(4) for j in range(i, 4)}
    groups = list(lazy_frames.groups_of(pairs, widths))
    assert pairs <= {(i, j) for group in groups for i in group for j in group}
    for group in groups:
        assert len(group) <= 2 or np.prod([widths[c] for c in group]) <= lazy_frames.JOINT_CELLS


def test_lists_are_covers():
    """A column of lists holds overlapping clusters, as in a file."""
    lists = [[i % 3, (i // 2) % 4] for i in range(1000)]
    frame = pl.DataFrame({"a": lists, "b": [i % 5 for i in range(1000)]})
    scan = cg.scan(frame.lazy(), ["a", "b"])
    assert cg.omega(scan["a"], scan["b"]) == pytest.approx(cg.omega(frame["a"], frame["b"]), rel=1e-12)


def test_narwhals_frames():
    """A lazy frame of narwhals is that of its library."""
    frame = labels()
    assert cg.compare_all(nw.from_native(_polars(frame[["truth", "noise"]])))["ari"][0, 1] == cg.ari(
        frame["truth"].to_numpy(), frame["noise"].to_numpy(), noise=()
    )
    assert find_spec("narwhals")


@pytest.mark.filterwarnings("ignore:fetch_arrow_table")  # Ibis 12 calls a method that DuckDB 2 renamed
def test_tables_of_files_of_duckdb(command):
    """The command counts a table of a DuckDB file where it is, by its address; what needs rows says so."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb makes the file")
    pytest.importorskip("ibis", reason="ibis opens the file")
    frame = labels()
    with duckdb.connect("labels.db") as connection:
        connection.register("given", pl.from_pandas(frame).to_arrow())
        connection.execute("create table runs as select * from given")
    expected = cg.ari(frame["truth"], frame["noise"], noise=())
    found = command("compare", "duckdb:labels.db#runs", "truth", "noise", "-m", "ari", "-f", "json")
    assert json.loads(found.out)["values"]["ari"] == expected
    for address, why in (
        ("duckdb:labels.db#main.others", "table 'main.others' of duckdb could not be opened"),
        ("duckdb:labels.db", "name the table after the address"), ("duckdb:other.db#runs", "there is no file other.db"),
    ):  # fmt: skip
        assert why in command("compare", address, "truth", "noise").err
    assert "this needs the label of every row" in command("report", "duckdb:labels.db#runs", "--out", "x.html").err


def test_passwords_are_never_shown(command, monkeypatch):
    """A password in an address is refused by every command without showing it; one of the environment is in no message."""
    pytest.importorskip("ibis", reason="ibis opens the database")
    pytest.importorskip("psycopg", reason="psycopg speaks to PostgreSQL")
    for address in (
        "postgresql://me:geheim@localhost/db#runs", "postgresql://me:geheim@localhost/db",
        "postgresql://localhost/db?user=me&password=geheim#runs",
    ):  # fmt: skip
        for name in ("compare", "report", "consensus", "matrix"):
            found = command(name, address)
            assert found.code == 2
            assert "leave the password out" in found.err
            assert "geheim" not in found.out + found.err
        with pytest.raises(InputError, match="leave the password out") as refused:
            cg.scan(address)
        assert "geheim" not in str(refused.value)
    monkeypatch.setenv("PGPASSWORD", "geheim")
    found = command("compare", "postgresql://me@127.0.0.1:1/db#runs", "truth", "noise")
    assert "table 'runs' of postgresql could not be opened" in found.err
    assert "geheim" not in found.out + found.err


def test_queries_in_other_dialects(monkeypatch):
    """Every query of a comparison with weights can be written in the SQL of the warehouses that the guide names."""
    ibis = pytest.importorskip("ibis", reason="ibis writes the SQL")
    asked, fetched = [], lazy_frames.LazyRows.fetched
    monkeypatch.setattr(
        lazy_frames.LazyRows, "fetched", lambda self, query: asked.append(query.to_native()) or fetched(self, query)
    )
    scan = cg.scan(_ibis(labels()), COLUMNS)
    for weights in ({"sample_weight": scan["weight"]}, {"frequency": scan["often"]}):
        cg.compare_all(scan, ["ari"], unassigned="drop", **weights)
    assert len(asked) == 5  # the first rows, and twice the range of the weights and the counts
    for dialect in ("bigquery", "snowflake", "trino", "mysql", "clickhouse", "databricks"):
        for query in asked:
            assert "SELECT" in ibis.to_sql(query, dialect=dialect)


def test_tables_of_postgres(postgres, command):
    """The command counts a table of PostgreSQL by its address."""
    frame = labels()
    warehouses.in_postgres(postgres, frame)
    where = postgres.con.info
    found = command(
        "compare",
        f"postgresql://{where.user}@/postgres?host={where.host}#public.runs",
        "truth",
        "noise",
        "-m",
        "ari",
        "-f",
        "json",
    )
    assert json.loads(found.out)["values"]["ari"] == cg.ari(frame["truth"], frame["noise"], noise=())
