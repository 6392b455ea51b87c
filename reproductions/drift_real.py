"""Drift on real streams of network connections: `python -m reproductions.drift_real` (needs `sets` in the data folder).

1. KDD Cup 1999, the corrected test set in its order of time: windows of 10,000 connections, labels of a k-means model of the
   first window. Which windows are alarms, what is listed first, and the attack that a window has most of.
2. NSL-KDD, whose records are in random order: nothing changes, so nothing should be an alarm.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans

import congruence as cg
from congruence.density.changes import said
from reproductions.datasets import DataMissing, local

WINDOW, CLUSTERS, SHOWN = 10_000, 6, 31


def connections(name: str, columns: list[str] | None = None) -> pd.DataFrame:
    """A table of connections, the kind of traffic in the column `class`."""
    path = local(name)
    if path is None:
        raise DataMissing(f"there is no data set {name!r}: set CONGRUENCE_DATA to the folder that has it")
    found = pd.read_csv(path, header="infer" if columns is None else None, names=columns)
    found["class"] = found["class"].astype(str).str.rstrip(".")
    return found


def windows(table: pd.DataFrame, size: int) -> list[tuple[str, pd.DataFrame, np.ndarray]]:
    """(name, features, labels) of successive windows; the labels are those of k-means of the first."""
    X = table.drop(columns="class")
    numbers = np.log1p(X.select_dtypes("number").clip(lower=0))
    start = numbers.iloc[:size]
    spread = start.std().replace(0.0, 1.0)
    model = KMeans(CLUSTERS, n_init=3, random_state=0).fit((start - start.mean()) / spread)
    labels = model.predict((numbers - start.mean()) / spread)
    return [
        (f"{w + 1}", X[w * size : (w + 1) * size], labels[w * size : (w + 1) * size]) for w in range(len(X) // size)
    ]


def streams() -> list[tuple[str, pd.DataFrame, int]]:
    """Name, table and size of the windows of each stream."""
    columns = list(pd.read_csv(_path("kddcup99_sample"), nrows=0).columns)
    return [
        ("KDD Cup 1999, in order of time", connections("kddcup99_corrected", columns), WINDOW),
        ("NSL-KDD, in random order", connections("nsl_kdd_20pct"), 1000),
    ]


def _path(name: str) -> Path:
    found = local(name)
    if found is None:
        raise DataMissing(f"there is no data set {name!r}")
    return found


def drift_of(table: pd.DataFrame, size: int) -> tuple[Any, float]:
    """The drift of a stream, and its seconds."""
    parts = windows(table, size)
    begun = time.perf_counter()
    return cg.drift(iter(parts)), time.perf_counter() - begun


def main() -> None:
    """Print the windows of both streams."""
    for name, table, size in streams():
        d, seconds = drift_of(table, size)
        print(f"{name}: {len(d.windows)} windows of {size:,} rows × {table.shape[1] - 1} features, {seconds:.1f} s")
        print(f"  {sum(d.alarms)} of {len(d.windows) - 1} windows are alarms")
        for w, (window, finding, alarm) in enumerate(zip(d.windows[:SHOWN], d.findings, d.alarms, strict=False)):
            if not alarm and size != WINDOW:
                continue
            traffic = table["class"].iloc[w * size : (w + 1) * size].value_counts(normalize=True)
            most = ", ".join(f"{kind} {share:.0%}" for kind, share in traffic.head(2).items())
            first = (
                said(finding.moved[0]) if finding is not None and finding.moved else "the reference" if not w else ""
            )
            print(
                f"  {window:>3}  adco {d.first[w - 1] if w else 1:.3f}  {'alarm' if alarm else '     '}  {first:42} {most}"
            )


if __name__ == "__main__":
    main()
