"""Files for the tests of scanning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import congruence as cg

KEYS = ["ari", "rand", "mirkin", "vi", "nmi_sum", "ami_max", "accuracy", "purity", "element_centric", "van_dongen"]


def labels(n: int = 3000, seed: int = 0) -> dict[str, np.ndarray]:
    """Columns of every kind: integers narrow and wide, negative, text, booleans, whole floats."""
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 6, n)
    noisy = [np.where(rng.random(n) < 0.3, rng.integers(0, 6, n), base) for _ in range(6)]
    return {
        "int": noisy[0],
        "wide": noisy[1].astype(np.int64) * 10**12 - 3,
        "negative": (noisy[2] - 4).astype(np.int8),
        "text": np.array(["a", "b", "cc", "ddd", "é", ""])[noisy[3]],
        "flag": noisy[4] > 2,
        "float": noisy[5].astype(float),
    }


def folder_of(columns: dict, path: Path, files: int = 3, groups: int = 4) -> Path:
    """The columns in Parquet files of several row groups each."""
    table = pa.table(columns)
    path.mkdir(exist_ok=True)
    rows = -(-len(table) // files)
    for i in range(files):
        parquet.write_table(table.slice(i * rows, rows), path / f"part-{i}.parquet", row_group_size=-(-rows // groups))
    return path


def same(a: cg.AllPairs, b: cg.AllPairs, exact: bool = True) -> None:
    """The same numbers of points and the same values to the last bit; not exact: weights, whose sums depend on the order."""
    assert a.names == b.names
    assert (a.n_used == b.n_used).all()
    for key in a:
        if exact:
            assert a[key].tobytes() == b[key].tobytes(), key
        else:
            assert a[key] == pytest.approx(b[key], rel=1e-12, abs=1e-12, nan_ok=True), key
