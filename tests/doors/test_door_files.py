"""Realistic files and frames, written by pandas, openpyxl, anndata, polars, DuckDB and others, are read correctly."""

from __future__ import annotations

import http.server
import io
import json
import sys
import threading
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import congruence as cg
from congruence.inputs import files, formats
from congruence.inputs.column_kinds import sorted_columns
from congruence.inputs.column_names import named_columns

N = 60
RNG = np.random.default_rng(0)
TRUTH = np.repeat(["gold", "silver", "bronze"], N // 3)
FRAME = pd.DataFrame(
    {
        "customer_no": RNG.permutation(np.arange(5000, 5000 + N)),
        "truth": TRUTH,
        "kmeans": pd.Series(pd.factorize(TRUTH)[0]).where(RNG.random(N) > 0.1, 1).astype(int),
        "leiden": np.where(RNG.random(N) > 0.2, TRUTH, "gold"),
        "n_genes": RNG.integers(200, 5000, N),
        "pct_mito": RNG.random(N).round(4),
    }
)
KNOWN = cg.ari(FRAME["kmeans"].tolist(), FRAME["leiden"].tolist())
LINE = "labels: truth, kmeans, leiden · id: customer_no · left out: n_genes, pct_mito (measurements)"


def write_excel(frame: pd.DataFrame, path: Path) -> None:
    pytest.importorskip("openpyxl", reason="openpyxl makes the file")
    pytest.importorskip("python_calamine", reason="python-calamine reads it")
    frame.to_excel(path, index=False)


def as_anndata(frame: pd.DataFrame) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata = pytest.importorskip("anndata", reason="anndata makes the file", exc_type=ImportError)
        obs = frame.drop(columns="customer_no").set_index(
            pd.Index(frame["customer_no"].astype(str).to_numpy(dtype=object))
        )
        for name in ("truth", "leiden"):
            obs[name] = pd.Categorical(obs[name].to_numpy(dtype=object))
        made = anndata.AnnData(RNG.normal(size=(len(frame), 5)), obs=obs)
        made.obsm["X_pca"] = RNG.normal(size=(len(frame), 2)) + 8 * pd.factorize(frame["truth"])[0][:, None]
        return made


def write_h5ad(frame: pd.DataFrame, path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    made = as_anndata(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.settings.allow_write_nullable_strings = True
        made.write_h5ad(path)


DOORS = {
    "table.csv": lambda f, p: f.to_csv(p, index=False),
    "index.csv": lambda f, p: f.set_index("customer_no").to_csv(p),
    "quoted.csv": lambda f, p: f.to_csv(p, index=False, quoting=2),
    "german.csv": lambda f, p: f.to_csv(p, index=False, sep=";", decimal=","),
    "tabs.txt": lambda f, p: f.to_csv(p, index=False, sep="\t", decimal=","),
    "excel16.csv": lambda f, p: f.to_csv(p, index=False, sep=";", encoding="utf-16"),
    "table.parquet": lambda f, p: f.to_parquet(p, index=False),
    "indexed.parquet": lambda f, p: f.set_index("customer_no").to_parquet(p),
    "table.feather": lambda f, p: f.to_feather(p),
    "records.json": lambda f, p: f.to_json(p, orient="records"),
    "columns.json": lambda f, p: p.write_text(json.dumps(f.to_dict("list"))),
    "lines.jsonl": lambda f, p: f.to_json(p, orient="records", lines=True),
    "book.xlsx": write_excel,
}


@pytest.mark.parametrize("name", DOORS)
def test_the_same_table_in_every_file_gives_the_same_answer(tmp_path, name):
    """Ids, labels and measurements are recognised in the same way, and values are the same, in every file format."""
    DOORS[name](FRAME, tmp_path / name)
    found = sorted_columns(files.read_columns(tmp_path / name))
    assert found.line == LINE
    result = cg.compare_all(str(tmp_path / name))
    assert result.names == ("truth", "kmeans", "leiden")
    assert result["ari"][1, 2] == KNOWN


@pytest.mark.slow
def test_an_h5ad_file_and_its_object(tmp_path, command):
    """.obs gives the labels, .obsm["X_pca"] the data, in a file and in memory; choose_k takes the object."""
    write_h5ad(FRAME, tmp_path / "cells.h5ad")
    data = as_anndata(FRAME)
    assert cg.compare_all(data)["ari"][1, 2] == cg.compare_all(str(tmp_path / "cells.h5ad"))["ari"][1, 2] == KNOWN
    assert cg.choose_k(data, k=range(2, 5)).k == 3
    assert len(cg.generate(data, 3, 3, random_state=0)) == 3
    code, out, err = command("choose-k", "cells.h5ad", "--k", "2..5")
    assert code == 0
    assert '.obsm["X_pca"]' in err
    assert "3 clusters" in out
    assert "there is no layer 'X_pcs'; did you mean X_pca?" in command("choose-k", "cells.h5ad", "--layer", "X_pcs")[2]


def test_an_ods_file(tmp_path):
    """LibreOffice files are read like Excel files."""
    pytest.importorskip("odf", reason="odfpy makes the file")
    pytest.importorskip("python_calamine", reason="python-calamine reads it")
    FRAME.to_excel(tmp_path / "table.ods", index=False, engine="odf")
    assert cg.compare_all(tmp_path / "table.ods")["ari"][1, 2] == KNOWN


def test_the_code_page_of_windows(tmp_path):
    """cp1252 is read, with a warning."""
    (tmp_path / "win.csv").write_bytes("größe;b\nklein;1\ngroß;2\ngroß;2\n".encode("cp1252"))
    with pytest.warns(UserWarning, match="read as cp1252"):
        found = files.read_columns(tmp_path / "win.csv")
    assert list(found) == ["größe", "b"]
    assert found["größe"].to_pylist() == ["klein", "groß", "groß"]


@pytest.mark.slow
def test_every_kind_of_frame():
    """pandas, polars, lazy polars, arrow, readers, DuckDB, xarray, Dask and narwhals give the same result and the same note."""
    table = pa.Table.from_pandas(FRAME, preserve_index=False)
    frames = {
        "pandas": FRAME, "polars": pl.from_pandas(FRAME), "lazy": pl.from_pandas(FRAME).lazy(), "arrow": table,
        "reader": table.to_reader(),
    }  # fmt: skip
    import dask.dataframe as dd
    import narwhals as nw

    frames["dask"] = dd.from_pandas(FRAME, npartitions=3)
    frames["narwhals"] = nw.from_native(FRAME)
    for name, frame in frames.items():
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            result = cg.compare_all(frame)
        assert any("left out" in str(x.message) for x in said) == (name != "dask"), (
            name
        )  # rows of Dask are only scanned
        assert result.names == ("truth", "kmeans", "leiden"), name
        assert result["ari"][1, 2] == KNOWN, name
        assert LINE in result.cautions, name


def test_duckdb_and_xarray():
    """A DuckDB relation and an xarray dataset are tables too; a data array is a column."""
    duckdb = pytest.importorskip("duckdb", reason="duckdb makes the relation")
    labels = FRAME[["truth", "kmeans", "leiden"]]
    assert cg.compare_all(duckdb.sql("select * from labels"))["ari"][1, 2] == KNOWN
    assert cg.choose_k(duckdb.sql("select random() as a, random() as b from labels"), k=[2]).k in (1, 2)
    xarray = pytest.importorskip("xarray", reason="xarray makes the dataset")
    assert cg.compare_all(xarray.Dataset.from_dataframe(labels))["ari"][1, 2] == KNOWN
    assert cg.ari(xarray.DataArray(FRAME["kmeans"]), FRAME["leiden"].tolist()) == KNOWN
    assert cg.choose_k(xarray.Dataset({"x": ("p", RNG.normal(size=N)), "y": ("p", RNG.normal(size=N))}), k=[2]).k in (
        1,
        2,
    )


WORDS = ["kmeans", "leiden", "-m", "ari", "-f", "json"]


def test_addresses(command, tmp_path):
    """fsspec's addresses are read, in Python and on the command line: files, folders and patterns; messages name them."""
    fsspec = pytest.importorskip("fsspec", reason="fsspec reads addresses")
    FRAME.to_csv("labels.csv", index=False)
    FRAME.iloc[:50].to_parquet("1.parquet", index=False)
    FRAME.iloc[50:].to_parquet("2.parquet", index=False)
    for name in ("labels.csv", "parts/1.parquet", "parts/2.parquet"):
        with fsspec.open(f"memory://bucket/{name}", "wb") as target:
            target.write(Path(Path(name).name).read_bytes())
    assert cg.compare_all("memory://bucket/labels.csv")["ari"][1, 2] == KNOWN
    assert json.loads(command("compare", "memory://bucket/labels.csv", *WORDS)[1])["values"] == {"ari": KNOWN}
    for many in ("memory://bucket/parts/*.parquet", "memory://bucket/parts/", "memory://bucket/parts"):
        assert json.loads(command("compare", many, *WORDS)[1])["values"] == {"ari": KNOWN}
        scan = cg.scan(many)
        assert cg.ari(scan["kmeans"], scan["leiden"]) == KNOWN
    said = command("compare", "memory://bucket/labels.csv", "memory://bucket/labels.csv")[2]
    assert "memory://bucket/labels.csv has 3 label columns" in said
    assert "congruence-" not in said
    for wrong in ("memory://bucket/other.csv", "memory://bucket/none/*.csv"):
        assert f"{wrong} could not be read: it does not exist, or cannot be reached" in command("compare", wrong)[2]
    with pytest.raises(cg.InputError, match=r"nosuch://b/l.csv could not be read: Protocol not known: nosuch"):
        cg.compare_all("nosuch://b/l.csv")


@pytest.mark.slow
def test_an_address_of_the_web(command, tmp_path):
    """https and http: a server of this machine."""
    pytest.importorskip("aiohttp", reason="fsspec reads the web with aiohttp")
    pytest.importorskip("fsspec", reason="fsspec reads addresses")
    FRAME.to_csv("labels.csv", index=False)
    FRAME.to_parquet("labels.parquet", index=False)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for name in ("labels.csv", "labels.parquet", "labels.csv?version=2"):
            address = f"http://127.0.0.1:{server.server_port}/{name}"
            assert json.loads(command("compare", address, *WORDS)[1])["values"] == {"ari": KNOWN}
        code, _, err = command("compare", f"http://127.0.0.1:{server.server_port}/none.csv", *WORDS)
        assert code == 2
        assert "none.csv could not be read: it does not exist, or cannot be reached" in err
    finally:
        server.shutdown()
        server.server_close()


def stdin_of(path: Path) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(path.read_bytes()))


@pytest.mark.parametrize(
    "name", ["t.csv", "t.json", "t.jsonl", "t.parquet", "t.feather", "t.csv.gz", "t.xlsx", "t.ods"]
)
def test_standard_input(command, monkeypatch, tmp_path, name):
    """`-` is standard input; its first bytes tell the format."""
    if name in ("t.xlsx", "t.ods"):
        pytest.importorskip("openpyxl" if name == "t.xlsx" else "odf", reason="makes the file")
        pytest.importorskip("python_calamine", reason="python-calamine reads it")
    MAKERS = {
        "t.csv": lambda: FRAME.to_csv(name, index=False), "t.csv.gz": lambda: FRAME.to_csv(name, index=False),
        "t.json": lambda: FRAME.to_json(name, orient="records"), "t.parquet": lambda: FRAME.to_parquet(name, index=False),
        "t.jsonl": lambda: FRAME.to_json(name, orient="records", lines=True), "t.feather": lambda: FRAME.to_feather(name),
        "t.xlsx": lambda: FRAME.to_excel(name, index=False), "t.ods": lambda: FRAME.to_excel(name, index=False, engine="odf"),
    }  # fmt: skip
    MAKERS[name]()
    formats._standard_input.cache_clear()
    monkeypatch.setattr(sys, "stdin", stdin_of(Path(name)))
    code, out, err = command("compare", "-", *WORDS)
    assert code == 0, err
    assert json.loads(out)["values"] == {"ari": KNOWN}
    code, _, err = command("compare", "-", "kmeans", "none")
    assert "congruence: standard input has no column 'none'" in err
    formats._standard_input.cache_clear()


def test_arrays_from_standard_input(command, monkeypatch, tmp_path):
    """npy and npz from standard input; nothing at all, and an archive that is broken, are refused."""
    labels = FRAME[["kmeans", "leiden"]].apply(lambda x: pd.factorize(x)[0]).to_numpy()
    np.save("t.npy", labels)
    np.savez("t.npz", kmeans=labels[:, 0], leiden=labels[:, 1])
    Path("broken").write_bytes(b"PK\x03\x04 nothing")
    Path("empty").write_bytes(b"")
    for name, code in (("t.npy", 0), ("t.npz", 0), ("broken", 2), ("empty", 2)):
        formats._standard_input.cache_clear()
        monkeypatch.setattr(sys, "stdin", stdin_of(Path(name)))
        done, out, err = command("matrix", "-", "-f", "json")
        assert done == code, err
        assert code or json.loads(out)["ari"][0][1] == pytest.approx(KNOWN, rel=1e-12)
    formats._standard_input.cache_clear()


def test_a_quoted_na_is_a_label(command):
    """A quoted NA is a label; an unquoted one is missing, unless --na-values says otherwise."""
    Path("countries.csv").write_text('country,k\n"NA",1\nNA,1\n"DE",2\n"NA",1\n"",2\n-,2\n')
    found = files.read_columns("countries.csv")["country"].to_pylist()
    assert found == ["NA", None, "DE", "NA", None, "-"]
    assert files.read_columns("countries.csv", ["-"])["country"].to_pylist() == ["NA", "NA", "DE", "NA", None, None]
    words = ["countries.csv", "country", "k", "--unassigned", "drop", "-f", "csv"]
    assert "NA,2,0" in command("contingency", *words)[1]
    assert "NA,3,0" in command("contingency", *words, "--na-values", "-")[1]


def test_one_line_says_how_columns_are_used(command):
    """Every command prints how it uses columns in one line; --verbose gives the reasons; options override them."""
    FRAME.to_csv("t.csv", index=False)
    assert f"note: {LINE}\n" in command("matrix", "t.csv")[2]
    err = command("matrix", "t.csv", "--verbose")[2]
    assert "n_genes: measurements, its name says so; " in err
    assert "customer_no: id, its name says so, and its values are all different" in err
    assert json.loads(command("matrix", "t.csv", "--columns", "k*,leid*", "-f", "json")[1])["names"] == [
        "kmeans",
        "leiden",
    ]
    code, out, err = command("compare", "t.csv", "-m", "ari")
    assert code == 0
    assert "reference: truth" in err
    assert "2 clusterings against truth" in out


def test_names_with_commas_and_patterns():
    """A name with a comma is one name; patterns take columns in the order of the table, each once."""
    there = ["id", "k=3, seed 1", "leiden_1", "leiden_2", "a"]
    assert named_columns("k=3, seed 1,a", there) == ["k=3, seed 1", "a"]
    assert named_columns("leiden_2,leiden*", there) == ["leiden_2", "leiden_1"]
    assert named_columns(["a", "k=3, seed 1"], there) == ["a", "k=3, seed 1"]
    with pytest.raises(cg.InputError, match=r"has no column 'ledien\*'; did you mean leiden_2 or leiden_1"):
        named_columns("ledien*", there)


@pytest.mark.slow
def test_nothing_clusters_by_ids_or_labels(command):
    """choose-k and generate list the columns used, warn of scales, and --standardise gives every column the same weight."""
    numbers = FRAME.assign(x=RNG.normal(size=N), y=1000 * RNG.normal(size=N)).drop(columns=["n_genes", "pct_mito"])
    numbers.to_csv("n.csv", index=False)
    err = command("generate", "n.csv", "--k", "3", "--members", "2", "--seed", "0", "--out", "runs.csv")[2]
    assert "note: data: x, y · id: customer_no · left out: truth, kmeans, leiden (labels)\n" in err
    assert "(--standardise)" in err
    assert pd.read_csv("runs.csv").columns[0] == "customer_no"
    err = command("generate", "n.csv", "--k", "3", "--members", "2", "--standardise", "--out", "runs.csv")[2]
    assert "--standardise" not in err
    err = command("generate", "n.csv", "--k", "3", "--members", "2", "--data-columns", "x", "--out", "runs.csv")[2]
    assert "note: data: x · id: customer_no · left out: truth, kmeans, leiden, y (not named)" in err


def test_frames_are_not_clustered_by_ids_or_labels():
    """In Python too: whole numbers called customer_no or kmeans are refused by name; floats are taken."""
    frame = pd.DataFrame({"x": RNG.normal(size=N), "y": RNG.normal(size=N)})
    for name, kind in (("customer_no", "ids"), ("kmeans", "labels")):
        for call in (lambda X: cg.generate(X, 2, 3), lambda X: cg.choose_k(X, k=[2])):
            for made in (pd.DataFrame, pl.from_pandas, pa.Table.from_pandas):
                with pytest.raises(cg.InputError, match=f"column '{name}' holds {kind}, by its name"):
                    call(made(frame.assign(**{name: FRAME[name]})))
    assert len(cg.generate(frame.assign(kmeans=FRAME["kmeans"].astype(float)), 2, 3, random_state=0)) == 2
    assert len(cg.generate(frame.assign(age=FRAME["kmeans"]), 2, 3, random_state=0)) == 2


def test_rows_are_joined_by_their_ids(command):
    """Files are joined by text or number ids, in any order; joining shuffled files by position gave −0.006 instead of 0.853."""
    FRAME[["customer_no", "kmeans"]].to_csv("m1.csv", index=False)
    FRAME[["customer_no", "leiden", "truth"]].sample(frac=1, random_state=0).to_csv("m2.csv", index=False)
    for words in (["--columns", "kmeans,leiden"], ["--columns", "kmeans,leiden", "--id", "customer_no"]):
        code, out, err = command("compare", "m1.csv", "m2.csv", "-m", "ari", "-f", "json", *words)
        assert json.loads(out)["values"]["ari"] == KNOWN
        assert "joined by 'customer_no': 60 points" in err
    code, _, err = command("compare", "m1.csv", "m2.csv")
    assert code == 2
    assert "pass --columns COL_A,COL_B" in err
    FRAME[["truth", "leiden"]].sample(frac=1, random_state=0).to_csv("bare.csv", index=False)
    FRAME[["truth", "kmeans"]].to_csv("bare1.csv", index=False)
    code, _, err = command("compare", "bare1.csv", "bare.csv", "--columns", "kmeans,leiden")
    assert code == 2
    assert "not in the same order by column 'truth'" in err


def test_repeated_ids_are_named(command):
    """A repeated id is an error, also in a single file, with or without --id."""
    twice = pd.concat([FRAME, FRAME.iloc[:2]])
    twice.to_csv("t.csv", index=False)
    both = " and ".join(map(str, FRAME["customer_no"][:2]))
    for words in ([], ["--id", "customer_no"]):
        code, _, err = command("matrix", "t.csv", *words)
        assert code == 2
        assert "2 ids in column 'customer_no' occur more than once" in err
        assert both.split(" and ")[0] in err


def test_a_consensus_matrix_keeps_the_ids(command):
    """`compare M.npz labels.csv` joins by the ids of the matrix, dense or sparse, for any order of rows."""
    FRAME[["customer_no", "kmeans", "leiden"]].to_csv("runs.csv", index=False)
    FRAME[["customer_no", "truth"]].sample(frac=1, random_state=0).to_csv("truth.csv", index=False)
    e = cg.Ensemble({name: FRAME[name].tolist() for name in ("kmeans", "leiden")})
    known = cg.compare(cg.Similarity(e.consensus_matrix()), FRAME["truth"].tolist(), "arimp")["arimp"]
    for words in ([], ["--threshold", "0.1"]):
        assert command("consensus-matrix", "runs.csv", "--out", "M.npz", *words)[0] == 0
        code, out, err = command("compare", "M.npz", "truth.csv", "-m", "arimp", "-f", "json")
        assert code == 0
        assert "joined by 'customer_no': 60 points" in err
        assert json.loads(out)["values"]["arimp"] == pytest.approx(known, rel=1e-12)
    np.savez("bare.npz", matrix=e.consensus_matrix())
    FRAME[["customer_no", "truth"]].iloc[:50].to_csv("fewer.csv", index=False)
    code, _, err = command("compare", "bare.npz", "fewer.csv", "-m", "arimp")
    assert code == 2
    assert "bare.npz has 60 rows and fewer.csv has 50" in err


def test_parts_of_one_table_have_the_same_columns(command):
    """A quoted pattern names parts of one table; a part without a column is named, and so are the columns it has."""
    FRAME[["kmeans", "leiden"]].iloc[:30].to_csv("p1.csv", index=False)
    FRAME[["kmeans", "leiden"]].iloc[30:].to_csv("p2.csv", index=False)
    assert json.loads(command("matrix", "p*.csv", "-f", "json")[1])["ari"][0][1] == pytest.approx(KNOWN)
    FRAME[["truth", "leiden"]].iloc[30:].to_csv("p2.csv", index=False)
    code, _, err = command("matrix", "p*.csv")
    assert code == 2
    assert "p2.csv has no column 'kmeans'; it has: truth, leiden; the files of one folder or pattern hold rows" in err


def test_matrix_joins_several_tables(command):
    """Files are joined by ids, in the order of the first, on their common points; equal column names get the name of the file."""
    parts = {"a.csv": ["kmeans"], "b.csv": ["leiden", "truth"], "c.csv": ["kmeans"]}
    for number, (name, columns) in enumerate(parts.items()):
        FRAME[["customer_no", *columns]].sample(frac=1, random_state=number).iloc[number:].to_csv(name, index=False)
    code, out, err = command("matrix", *parts, "-f", "json")
    assert code == 0
    found = json.loads(out)
    assert found["names"] == ["a.csv:kmeans", "leiden", "truth", "c.csv:kmeans"]
    assert "b.csv: rows are joined by 'customer_no': 59 points" in err
    every = set.intersection(*(set(pd.read_csv(name)["customer_no"]) for name in parts))
    both = FRAME[FRAME["customer_no"].isin(every)]
    assert len(both) < len(FRAME)
    result = json.loads(command("matrix", *parts, "--columns", "kmeans,leiden", "-f", "json")[1])
    assert result["ari"][0][1] == pytest.approx(cg.ari(both["kmeans"].tolist(), both["leiden"].tolist()))
    assert "--weight is for one table, but 3 files were given" in command("matrix", *parts, "--weight", "w")[2]


@pytest.mark.slow
def test_a_report_draws_the_embedding(tmp_path, command):
    """UMAP before PCA; `--layer` and `--axes` choose another; in Python from the object."""
    anndata = pytest.importorskip("anndata")
    data = as_anndata(FRAME)
    assert cg.report(data, reference="truth").model.points.axes == ("X_pca_1", "X_pca_2")
    data.obsm["X_umap"] = RNG.normal(size=(N, 2))
    data.obsm["X_tsne"] = RNG.normal(size=(N, 2))
    found = cg.report(data, reference="truth").model.points
    assert found.axes == ("X_umap_1", "X_umap_2")
    assert found.place.tolist() == data.obsm["X_umap"].tolist()
    assert found.features == ("PC1", "PC2")
    assert cg.report(data, reference="truth", axes=("X_tsne_2", "X_pca_1")).model.points.axes == ("X_tsne_2", "X_pca_1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.settings.allow_write_nullable_strings = True
        data.write_h5ad(tmp_path / "cells.h5ad")
    for words, axis in (
        ([], "X_umap_1"),
        (["--layer", "X_tsne"], "X_tsne_1"),
        (["--axes", "X_pca_2,X_pca_1"], "X_pca_2"),
        (["--data", "cells.h5ad"], "X_umap_1"),
    ):
        code, _, err = command("report", "cells.h5ad", *words)
        assert code == 0, err
        assert axis in Path("report.html").read_text(encoding="utf-8")
