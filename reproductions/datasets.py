"""The data sets of the papers, as numbers ready for k-means: `load("wine")` returns (X, y).

A data set is read from `sets/NAME.csv.gz` (a header line, the class in the column `class`) in the folder named by the
environment variable CONGRUENCE_DATA, or in `../shared/data` next to the repository. If neither has it, scikit-learn's
bundled copy or OpenML is used. Nothing is copied into the repository.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

#: OpenML names and versions that differ
OPENML: dict[str, tuple[str, int | str]] = {
    "australian": ("Australian", 4),
    "breast_w_original": ("breast-w", 1),
    "bupa": ("bupa", 1),
    "car": ("car", 1),
    "colic": ("colic", 1),
    "eucalyptus": ("eucalyptus", 1),
    "german": ("credit-g", 1),
    "glass": ("glass", 1),
    "haberman": ("haberman", 1),
    "heart_statlog": ("heart-statlog", 1),
    "hepatitis": ("hepatitis", 1),
    "ionosphere": ("ionosphere", 1),
    "kr_vs_kp": ("kr-vs-kp", 1),
    "lenses": ("lenses", 1),
    "mushroom": ("mushroom", 1),
    "new_thyroid": ("thyroid-new", 1),
    "pima": ("diabetes", 1),
    "postoperative": ("postoperative-patient-data", 1),
    "sick": ("sick", 1),
    "sonar": ("sonar", 1),
    "spect": ("SPECT", 1),
    "splice": ("splice", 1),
    "synthetic_control": ("synthetic_control", 1),
    "tic_tac_toe": ("tic-tac-toe", 1),
    "vehicle": ("vehicle", 1),
    "waveform40": ("waveform-5000", 1),
}
#: scikit-learn's bundled copies, by the name of their loader
BUNDLED = {
    "iris": "load_iris",
    "wine": "load_wine",
    "breast_w_diagnostic": "load_breast_cancer",
    "digits": "load_digits",
}


class DataMissing(FileNotFoundError):
    """A data set that was not found; the message says where we looked."""


class Dataset(NamedTuple):
    """Features as numbers, classes as 0..k-1, and what was done to get there."""

    X: np.ndarray
    y: np.ndarray
    notes: tuple[str, ...]


def folders() -> list[Path]:
    """The folders that may hold the sets, the first choice first."""
    named = os.environ.get("CONGRUENCE_DATA")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return [*([Path(named)] if named else []), beside]


def local(name: str) -> Path | None:
    """The file of a set, if one of the folders has it."""
    for folder in folders():
        path = folder / "sets" / f"{name}.csv.gz"
        if path.is_file():
            return path
    return None


def load(name: str, *, standardise: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Features (n × d, float64) and classes (n, 0..k-1) of a set; text columns one-hot, gaps filled, see `read`."""
    found = read(name, standardise=standardise)
    return found.X, found.y


def read(name: str, *, standardise: bool = False) -> Dataset:
    """The set with notes on what was encoded, filled or rescaled.

    Text columns become one 0/1 column per value; missing numbers become the median, missing texts the most frequent value.
    Codes written as numbers stay numbers. `standardise` gives every column mean 0 and variance 1 (constant ones 0).
    """
    frame, y, source = _raw(name)
    X, notes = _as_numbers(frame)
    if standardise:
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        notes.append("columns standardised")
    return Dataset(X, np.unique(np.asarray(y).astype(str), return_inverse=True)[1], (source, *notes))


def _raw(name: str) -> tuple[Any, Any, str]:
    """Features as a pandas frame, classes, and where they came from."""
    import pandas as pd

    path = local(name)
    if path is not None:
        frame = pd.read_csv(path, na_values=["", "?"], keep_default_na=False)
        return frame.drop(columns="class"), frame["class"], "data folder"
    if name in BUNDLED:
        from sklearn import datasets

        bunch = getattr(datasets, BUNDLED[name])(as_frame=True)
        return bunch.data, bunch.target, "scikit-learn's copy"
    looked = f"not in {' or '.join(str(folder / 'sets') for folder in folders())}"
    if name not in OPENML:
        raise DataMissing(f"there is no data set {name!r}: {looked}; set CONGRUENCE_DATA to the folder that has it")
    from sklearn.datasets import fetch_openml

    known_as, version = OPENML[name]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "a network error occurred, retrying": our own message is clearer
            bunch = fetch_openml(known_as, version=version, as_frame=True, n_retries=1, delay=0.1)
    except (OSError, ValueError) as problem:  # no network; a set or version OpenML does not have
        raise DataMissing(
            f"data set {name!r}: {looked}, and OpenML ({known_as}) did not answer ({type(problem).__name__}); "
            "set CONGRUENCE_DATA to the folder that has it"
        ) from problem
    return bunch.data, bunch.target, f"OpenML {known_as}"


def _as_numbers(frame: Any) -> tuple[np.ndarray, list[str]]:
    """All columns as float64, with notes on encoding and filling."""
    import pandas as pd

    columns, encoded, filled = [], 0, 0
    for name in frame:
        column = frame[name]
        filled += int(column.isna().sum())
        if column.notna().sum() == 0:
            continue
        if pd.api.types.is_numeric_dtype(column) and not isinstance(column.dtype, pd.CategoricalDtype):
            numbers = column.astype(float)
            columns.append(numbers.fillna(numbers.median()).to_numpy()[:, None])
        else:
            texts = column.astype(object).where(column.notna(), column.mode().iloc[0]).astype(str)
            columns.append(pd.get_dummies(texts).to_numpy(dtype=float))
            encoded += 1
    notes = [f"{encoded} text columns one-hot"] if encoded else []
    notes += [f"{filled} missing cells filled (median, commonest value)"] if filled else []
    return np.hstack(columns), notes
