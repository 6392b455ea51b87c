"""What a method for alternatives is given and returns: points as numbers and as bins, known clusterings, restarts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from congruence.density.binning import Binning
from congruence.density.columns import Columns, as_columns
from congruence.ensembles.soft_generators import seed_of
from congruence.errors import InputError, yes_or_no
from congruence.inputs.alignment import whole_labels
from congruence.inputs.ensemble import Ensemble, columns_of
from congruence.inputs.labels import Labels, frame_kind, is_frame
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, EnsembleLike, Label, OptionValue, PointsLike

if TYPE_CHECKING:
    from sklearn.cluster import KMeans

#: most cells of the 0/1 columns of one nominal attribute
MOST_CELLS = 100_000_000


@dataclass(frozen=True, eq=False)
class Points:
    """The points, prepared for the methods."""

    columns: Columns = field(repr=False)
    #: n × d: numbers, standardised if requested, and one 0/1 column per value of a nominal attribute
    numbers: Array
    #: the attribute that each column of `numbers` belongs to
    owners: tuple[int, ...]
    #: n × attributes: bin of each value, numbered over all attributes, 0 … n_items−1
    items: Array = field(default_factory=lambda: np.empty((0, 0), np.int64), repr=False)
    n_items: int = 0
    notes: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.numbers)

    @property
    def nominal(self) -> tuple[str, ...]:
        """Names of the nominal attributes."""
        pairs = zip(self.columns.names, self.columns.columns, strict=True)
        return tuple(name for name, column in pairs if isinstance(column, Labels))

    def profile(self, codes: Array, k: int | None = None) -> Array:
        """How many points of each cluster are in each bin (k × bins); k is by default what the codes say."""
        k = int(codes.max()) + 1 if k is None else k
        cells = codes[:, None] * self.n_items + self.items
        return np.bincount(cells.ravel(), minlength=k * self.n_items).reshape(k, self.n_items).astype(np.float64)

    def density(self, profile: Array) -> Array:
        """For each point and each cluster of a profile, the counts in the bins of the point, added up (n × k)."""
        found = np.zeros((self.n, len(profile)))
        for item in self.items.T:
            found += profile.T[item]
        return found


def as_points(X: PointsLike, scale: bool, nominal: Sequence[Label] = ()) -> Points:
    """Any table of points: an array of numbers, of objects, or a frame (strings, categories and booleans are nominal).

    A nominal attribute becomes one 0/1 column per value, so that two different values have squared distance 2, like two
    points of a standardised number on average. Missing numbers are set to the mean; a missing nominal value is a value.
    """
    columns = as_columns(X, nominal)
    blocks, owners, missing = [], list[int](), 0
    for i, (name, column) in enumerate(zip(columns.names, columns.columns, strict=True)):
        if isinstance(column, Labels):
            many = column.k + bool(column.gaps)
            if len(columns) * many > MOST_CELLS:
                raise InputError(
                    f"attribute {name!r} has {many:,} values, too many for 0/1 columns of {len(columns):,} points; leave "
                    "it out, or join its rare values"
                )
            owners += [i] * many
            blocks.append((column.codes[:, None] == np.arange(many)).astype(np.float64))
            continue
        gaps = np.isnan(column)
        if np.isinf(column).any():
            raise InputError(f"attribute {name!r} has infinite values; clip or drop them first")
        missing += int(gaps.sum())
        if gaps.all():
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = column[~gaps].mean(), column[~gaps].std()
        if not np.isfinite(spread):
            raise InputError(f"attribute {name!r} has values too large for squared distances; divide it by some unit")
        filled = np.where(gaps, mean, column)
        if yes_or_no(scale, "scale"):
            filled = (filled - mean) / (spread if spread > 1e-12 * abs(mean) else 1.0)
        owners.append(i)
        blocks.append(filled[:, None])
    if not blocks:
        raise InputError("every attribute is empty, so there are no distances")
    notes = (f"{missing} missing numbers were set to the mean of their attribute for distances",) if missing else ()
    return Points(columns, np.ascontiguousarray(np.hstack(blocks)), tuple(owners), notes=notes)


def binned(points: Points, binning: str | Binning, bins: int, labels: Array) -> Points:
    """The same points with the bins of their attributes."""
    rule = copy(binning) if isinstance(binning, Binning) else Binning(binning, bins)  # type: ignore[arg-type]
    if not rule.is_fitted:
        rule.fit(points.columns, labels)
    starts = np.concatenate([[0], np.cumsum(rule.n_bins)]).astype(np.int64)
    items = rule.transform(points.columns) + starts[:-1]
    return replace(points, items=items, n_items=int(starts[-1]))


def as_codes(labels: ClusteringLike, n: int, who: str = "labels", X: PointsLike = None) -> Array:
    """One clustering of the n points as codes 0 … k−1; if both have an index, it must equal that of X."""
    return whole_labels(labels, n, who, X).codes.astype(np.int64)


def as_knowns(given: EnsembleLike, n: int, X: PointsLike = None) -> dict[str, Array]:
    """One or several given clusterings by name: labels, columns of labels, a list or mapping of label vectors."""
    several = isinstance(given, Mapping | Ensemble) or is_frame(given)
    columns = isinstance(given, np.ndarray) and given.ndim == 2 and given.dtype.kind != "f"  # floats are memberships
    if several:
        parts = dict(columns_of(given)[0])
    elif columns or (isinstance(given, list | tuple) and len(given) and _is_vector(given[0])):
        found = [labels for _, labels in columns_of(given)[0]]
        parts = {f"given {i + 1}" if len(found) > 1 else "given": labels for i, labels in enumerate(found)}
    else:
        parts = {"given": cast("ClusteringLike", given)}
    if not parts:
        raise InputError("pass at least one given clustering")
    return {name: as_codes(labels, n, name, X) for name, labels in parts.items()}


def _is_vector(x: object) -> bool:
    return isinstance(x, list | tuple | np.ndarray | Labels) or frame_kind(x) is not None


# --- restarts -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Task:
    """What a method is given: points, known clusterings as codes 0 … k−1, and a number of clusters."""

    points: Points
    knowns: Sequence[Array]
    k: int
    #: one random stream per restart
    streams: Sequence[np.random.SeedSequence] = ()
    #: called with the number of finished restarts
    done: Callable[[int], object] = int  # does nothing

    def restarts(self) -> Iterator[np.random.Generator]:
        """A source of random numbers per restart, which is done when the next one begins."""
        for stream in self.streams:
            yield np.random.default_rng(stream)
            self.done(1)


@dataclass(frozen=True, eq=False)
class Found:
    """Labels 0 … k−1 (clusters may be empty), solver status and gap."""

    labels: Array
    status: str = "done"
    #: relative gap to the proved bound; NaN if there is none
    gap: float = math.nan
    notes: tuple[str, ...] = ()


def best_of(runs: Sequence[tuple[Array, float, bool]], what: str) -> Found:
    """The run (labels, value, whether it converged) with the largest value."""
    labels, _, rested = max(runs, key=lambda run: run[1])
    return Found(labels, f"converged: no {what}" if rested else "stopped while some points still moved")


def kmeans(X: Array, task: Task) -> Found:
    """k-means from one start per stream; the labels of smallest cost."""
    best = None
    for rng in task.restarts():
        model = start(X, task.k, rng)
        if best is None or model.inertia_ < best.inertia_:
            best = model
    assert best is not None
    rested = "k-means converged" if best.n_iter_ < best.max_iter else f"k-means stopped after {best.max_iter} steps"
    return Found(np.asarray(best.labels_, dtype=np.int64), rested)


def start(X: Array, k: int, rng: np.random.Generator, **options: OptionValue) -> KMeans:
    """One start of k-means; every cluster has a point if there are k distinct points."""
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1, random_state=seed_of(rng), **options).fit(X)
