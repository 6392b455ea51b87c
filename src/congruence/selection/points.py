"""The points used: column checks, a sample if there are many, principal axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.errors import InputError, Option, joined, some_of
from congruence.inputs import labels
from congruence.inputs.labels import is_frame
from congruence.selection import kmeans
from congruence.statistics.tables import Array
from congruence.typing import PointsLike, SparseMatrix

#: most points used; from more points a random sample is drawn
MOST_POINTS = 2_000
#: columns whose standard deviations differ by more than this factor get a caution
SCALES = 50
#: columns with at most this many values, each of four points on average, are answers, counts or codes on a grid
GRID_VALUES, POINTS_PER_VALUE = 12, 4
#: up to this many distinct points may be clusters of copies, unless they fill a grid of several columns
FEW_KINDS = 10
GRID = (
    "every column has few values: each was replaced by a random number in the step around it, because the gaps between values "
    "are not gaps between clusters"
)
#: points are isolated if their fifth neighbour is this many times farther than that of nine points in ten
NEIGHBOUR, FAR, USUAL = 5, 10.0, 0.9
#: most cells of a sparse matrix that is converted to a dense one
MOST_CELLS = 20_000_000


@dataclass(frozen=True, eq=False)
class Points:
    """Points in principal axes: the same distances as the data, the axes of largest variance first."""

    #: the points used; values on a grid are replaced by random numbers in the steps around them
    sample: Array
    #: which rows of the data these are; None for all
    chosen: Array | None
    #: all points, in the same axes
    all: Array
    notes: tuple[str, ...]

    @property
    def given(self) -> Array:
        """The points used, with the values that were given."""
        return self.all if self.chosen is None else self.all[self.chosen]


def different_scales(names: Sequence[str], spread: Array) -> list[str]:
    """A note if one column dominates all distances."""
    varying = np.flatnonzero(spread > 0)
    if len(varying) < 2:
        return []
    wide, narrow = (int(varying[i]) for i in (spread[varying].argmax(), spread[varying].argmin()))
    if spread[wide] <= SCALES * spread[narrow]:
        return []
    return [
        f"columns differ in scale: {names[wide]} varies {spread[wide] / spread[narrow]:,.0f} times as much as {names[narrow]} "
        "and dominates the distances; standardise the columns if the units are arbitrary"
    ]


def scales_to_standardise(names: Sequence[str], spread: Array) -> list[str]:
    """The same note, with the option that standardises the columns."""
    return [f"{note} ({Option('standardise', True)})" for note in different_scales(names, spread)]


def prepare(
    frame: PointsLike, data: Array | SparseMatrix, standardise: bool, seed: np.random.SeedSequence, robust: bool = False
) -> Points:
    """The points to use, with notes on dropped columns, scales, sampling and what was left out.

    Args:
        frame: The data as given; its column names are used in notes.
        data: Points × features, an array or a sparse matrix.
        standardise: Give every column variance 1.
        seed: For the sample.
        robust: Leave out isolated points, and replace values on a grid by random numbers in the steps around them.
    """
    notes: list[str] = []
    if hasattr(data, "toarray"):
        if data.shape[0] * data.shape[1] > MOST_CELLS:
            raise InputError(
                f"sparse data of {data.shape[0]:,} × {data.shape[1]:,} are too large to convert to a dense array; reduce the "
                "features first, as with sklearn.decomposition.TruncatedSVD"
            )
        data = data.toarray()
    names = names_of_columns(frame, data.shape[1])
    spread = data.std(axis=0)
    constant = np.ptp(data, axis=0) == 0
    if constant.any():
        notes.append(f"constant columns were left out: {_some([names[i] for i in np.flatnonzero(constant)])}")
        data, spread = data[:, ~constant], spread[~constant]
        names = [name for name, gone in zip(names, constant, strict=True) if not gone]
    if standardise:
        data = data / np.where(spread > 0, spread, 1.0)
    elif data.shape[1] > 1:
        notes += scales_to_standardise(names, spread)
    n = len(data)
    chosen = None
    if n > MOST_POINTS:
        chosen = np.sort(np.random.default_rng(seed).choice(n, MOST_POINTS, replace=False))
        notes.append(f"{MOST_POINTS:,} of {n:,} points, drawn at random, were used; the others join the nearest centre")
    looked = data if chosen is None else data[chosen]
    if not data.shape[1]:
        return Points(looked, chosen, data, tuple(notes))
    alone = _isolated(looked) if robust else np.empty(0, dtype=np.int64)
    if len(alone):
        rows = np.arange(n) if chosen is None else chosen
        notes.append(
            f"points far from all others were not used, and join the nearest centre: rows {_some([str(i) for i in rows[alone]])}"
        )
        chosen = np.delete(rows, alone)
        looked = data[chosen]
    steps = _steps(looked) if robust else None
    if steps is not None:
        notes.append(GRID)
        key = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, 1))
        looked = looked + steps * np.random.default_rng(key).uniform(-0.5, 0.5, looked.shape)
    centre, axes = _axes(looked)
    whole = (data - centre) @ axes
    if steps is not None:
        return Points((looked - centre) @ axes, chosen, whole, tuple(notes))
    return Points(whole if chosen is None else whole[chosen], chosen, whole, tuple(notes))


def _isolated(X: Array) -> Array:
    """Rows of points far from all but at most four others, such as errors of measurement, which would dominate k-means."""
    if len(X) <= 2 * NEIGHBOUR:
        return np.empty(0, dtype=np.int64)
    apart = X - X.mean(axis=0)
    to_fifth = np.sqrt(np.partition(kmeans.squares(apart, apart), NEIGHBOUR, axis=1)[:, NEIGHBOUR])
    usual = np.quantile(to_fifth, USUAL)
    return np.flatnonzero(to_fifth > FAR * usual) if usual > 0 else np.empty(0, dtype=np.int64)


def _steps(X: Array) -> Array | None:
    """The smallest step between the values of each column if all columns have few values; None otherwise."""
    n = len(X)
    most = min(GRID_VALUES, n // POINTS_PER_VALUE)
    values = []
    for column in X.T:
        values.append(np.unique(column))
        if len(values[-1]) > most:
            return None
    kinds = len(np.unique(X, axis=0))
    if kinds <= FEW_KINDS and (len(values) == 1 or kinds < np.prod([len(v) for v in values])):
        return None
    return np.array([np.diff(v).min() if len(v) > 1 else 0.0 for v in values])


def names_of_columns(frame: PointsLike, columns: int) -> list[str]:
    """The names of the columns of a frame, or their numbers."""
    found = labels.names_of_columns(frame) if is_frame(frame) else []
    return [str(name) for name in found] if len(found) == columns else [f"column {i}" for i in range(columns)]


def _some(words: Sequence[str]) -> str:
    return joined(words) if len(words) <= 8 else some_of(words)


def _axes(X: Array) -> tuple[Array, Array]:
    """The mean and the principal axes (columns, of the largest variance first), at most the number of points minus one."""
    centre = X.mean(axis=0)
    apart = X - centre
    n, d = X.shape
    if d <= n:
        variance, axes = np.linalg.eigh(apart.T @ apart)
        axes = axes[:, ::-1]
    else:
        variance, sides = np.linalg.eigh(apart @ apart.T)
        keep = np.flatnonzero(variance > 1e-12 * max(variance[-1], 1e-300))[::-1]
        axes = (apart.T @ sides[:, keep]) / np.sqrt(variance[keep])
    signs = np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])  # the same on every machine
    return centre, axes * np.where(signs == 0, 1.0, signs)
