"""Functions and estimators take labels and data in every container, with the same values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import congruence as cg

RNG = np.random.default_rng(0)
TRUTH = np.repeat([0, 1], 20)
RUNS = pd.DataFrame({f"r{i}": np.where(RNG.random(40) < 0.1 * i, 1, TRUTH) for i in range(3)})
NUMBERS = pd.DataFrame({"x": RNG.normal(size=40) + 6 * TRUTH, "y": RNG.normal(size=40)})


class Stream:
    """Anything with `__arrow_c_stream__`."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def held(frame: pd.DataFrame, kind: str) -> Any:
    """The frame in another container."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if kind in ("duckdb", "xarray", "dask"):
        library = pytest.importorskip(f"{kind}.dataframe" if kind == "dask" else kind, reason=f"{kind} makes the table")
        if kind == "dask":
            return library.from_pandas(frame, npartitions=2)
        return library.sql("select * from frame") if kind == "duckdb" else library.Dataset.from_dataframe(frame)
    makers: dict[str, Any] = {
        "polars": lambda: pl.from_pandas(frame), "lazy": lambda: pl.from_pandas(frame).lazy(), "arrow": lambda: table,
        "reader": lambda: pa.RecordBatchReader.from_batches(table.schema, table.to_batches()), "stream": lambda: Stream(table),
    }  # fmt: skip
    return makers[kind]()


KINDS = ("polars", "lazy", "arrow", "reader", "stream", "duckdb", "xarray", "dask")
OF_LABELS = {
    "compare_all": lambda d: cg.compare_all(d)["ari"][0, 1],
    "certainty": cg.certainty,
    "consensus": lambda d: cg.consensus(d, 2, method="voting", random_state=0).labels.tolist(),
    "partial_tables": lambda d: cg.partial_tables(d).rows,
    "ConsensusClustering": lambda d: cg.ConsensusClustering(2, method="voting", random_state=0).fit(d).labels_.tolist(),
}
MODEL = cg.ConsensusClustering(2, method="voting", n_members=2, random_state=0)
OF_DATA = {
    "AlternativeClustering": lambda d: cg.AlternativeClustering(2, method="coala").fit(d, TRUTH).labels_.tolist(),
    "predict": lambda d: MODEL.fit(NUMBERS).predict(d).tolist(),
    "density_profile": lambda d: cg.density_profile(d, TRUTH).counts.ravel().tolist(),
    "dunn": lambda d: cg.dunn(d, TRUTH),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_container_gives_the_same(kind):
    """Label columns and data may be frames, streams and relations of every library."""
    for functions, frame in ((OF_LABELS, RUNS), (OF_DATA, NUMBERS)):
        for name, function in functions.items():
            assert function(held(frame, kind)) == pytest.approx(function(frame), rel=1e-12), name


@pytest.mark.slow
def test_estimators_take_anndata():
    """The estimators read the principal components of an AnnData object."""
    anndata = pytest.importorskip("anndata", reason="anndata makes the object", exc_type=ImportError)
    data = anndata.AnnData(np.zeros((40, 3), dtype="float32"))
    data.obsm["X_pca"] = NUMBERS.to_numpy()
    plain = NUMBERS.to_numpy()
    assert MODEL.fit(data).labels_.tolist() == MODEL.fit(plain).labels_.tolist()
    assert MODEL.predict(data).tolist() == MODEL.predict(plain).tolist()
