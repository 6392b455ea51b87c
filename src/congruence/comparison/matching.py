"""Corresponding clusters: contingency tables, matchings, scores per point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack, overload

import numpy as np

from congruence.comparison.covers import intersections
from congruence.comparison.pair import PairKeywords, counted_pair, table_pair
from congruence.comparison.presenting import Result, named_table
from congruence.comparison.scanned import scanned_names, scanned_scores, values_at
from congruence.comparison.trees import scores_of_points
from congruence.errors import Call, InputError, NotApplicable, Option, counted, unused_name
from congruence.formulas import find
from congruence.formulas.matching import assignment
from congruence.inputs.alignment import Align, InputKeywords, InputOptions, PreparedPair, check_no_options
from congruence.inputs.coerce import as_clustering
from congruence.inputs.effects import refuse_idle
from congruence.inputs.frames import text_grid
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import Labels, frame_kind
from congruence.inputs.memberships import Memberships
from congruence.inputs.nested_cover import NestedCover
from congruence.options import described
from congruence.scanning.columns import Column
from congruence.statistics import elements
from congruence.statistics.covers import overlap_of
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, Table
from congruence.typing import (
    ClusteringLike,
    ColumnLike,
    EngineName,
    Index,
    Label,
    NoiseLike,
    OptionValue,
    PathLike,
    PlainLabels,
    Record,
    Values,
    WeightsLike,
)

if TYPE_CHECKING:
    from congruence.scanning.rows import Written


@dataclass(frozen=True, eq=False, kw_only=True)
class Matching(Result):
    """A one-to-one matching of clusters: matched pairs with their overlaps, and unmatched clusters.

    Attributes:
        rows: For each matched pair: name in a, name in b, points in common, size in a, size in b.
        only_a: Clusters of a without a match.
        only_b: Clusters of b without a match.
        n: Number of points.
        kind: Kind of frame of the inputs.
        overlapping: Whether a point may be in several matched clusters.

    >>> import congruence as cg
    >>> m = cg.match(["x", "x", "y", "y"], [7, 7, 8, 9])
    >>> m.mapping, m.only_b
    ({7: 'x', 8: 'y'}, (9,))
    """

    rows: tuple[tuple[Label, Label, float, float, float], ...]
    only_a: tuple[Label, ...]
    only_b: tuple[Label, ...]
    n: float
    kind: str | None = None
    overlapping: bool = False

    @property
    def mapping(self) -> dict[Label, Label]:
        """For each matched cluster of b, its partner in a."""
        return {b: a for a, b, *_ in self.rows}

    def to_dict(self) -> Record:
        """The matched pairs, and the clusters without a match."""
        return {"rows": self.rows, "only_a": self.only_a, "only_b": self.only_b, "n": self.n}

    def table_columns(self) -> Record:
        """One row per matched pair: both names, points in common, sizes, and the Jaccard similarity of the two."""
        a, b, common, size_a, size_b = (list(x) for x in zip(*self.rows, strict=True)) if self.rows else ([],) * 5
        jaccard = [c / (x + y - c) for c, x, y in zip(common, size_a, size_b, strict=True)]
        return {"a": a, "b": b, "common": common, "size_a": size_a, "size_b": size_b, "jaccard": jaccard}

    def __repr__(self) -> str:
        cells = [
            [str(b), f"{common:g}", f"{x:g}", f"{y:g}", f"{common / (x + y - common):.3f}"]
            for _, b, common, x, y in self.rows
        ]
        grid = text_grid(cells, [str(a) for a, *_ in self.rows], ["b", "common", "size a", "size b", "jaccard"])
        total = sum(row[2] for row in self.rows)
        left = [
            f"only in {side}: {', '.join(map(str, names))}"
            for side, names in (("a", self.only_a), ("b", self.only_b))
            if names
        ]
        of_all = "points" if self.overlapping else f"of {self.n:g} points"
        return "\n".join([f"{counted(len(self.rows), 'cluster')} matched, {total:g} {of_all} in common", grid, *left])


# --- tables and matchings ---------------------------------------------------------------------------------------


def contingency(a: ClusteringLike, b: ClusteringLike, **options: Unpack[PairKeywords]) -> Table:
    """The contingency table of two clusterings, with the names of the clusters.

    Args:
        a: First clustering: labels (a list, numpy, pandas, polars, arrow or DLPack array, 1-D), memberships (2-D
            floats or sparse, points × clusters).
        b: Second clustering, of the same points in the same order.
        options: Options of `compare`: `unassigned`, `noise`, `sample_weight`, `frequency`, `align`, `threads`,
            `engine`, and those of a scan.

    Returns:
        A `Table`: `.to_array()`, `.to_frame()`, `.to_sparse()`, `.rows`, `.columns`.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.match`, `cg.compare`.

    >>> import congruence as cg
    >>> cg.contingency(["x", "x", "y"], [5, 6, 6])
    Table: 2 clusters × 2 clusters, 3 points
       5  6
    x  1  1
    y  0  1
    """
    return _paired(a, b, **options)[1]


def _paired(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    threads: int | None = None,
    engine: EngineName = "auto",
    **options: OptionValue,
) -> tuple[PreparedPair, Table]:
    """The validated pair, and its table."""
    pair = table_pair(a, b, engine=engine, **options)
    table = counted_pair(pair, threads, engine)[0]
    return pair, named_table(intersections(table) if pair.has_covers and not pair.is_soft else table, pair.kind)


@overload
def element_scores(a: PlainLabels, b: PlainLabels, *, out: None = ..., **options: Unpack[InputKeywords]) -> Array: ...
@overload
def element_scores(
    a: ClusteringLike, b: ClusteringLike, *, out: None = ..., **options: Unpack[InputKeywords]
) -> Values: ...
@overload
def element_scores(
    a: ClusteringLike, b: ClusteringLike, *, out: PathLike, **options: Unpack[InputKeywords]
) -> Written: ...
@described
def element_scores(
    a: ClusteringLike,
    b: ClusteringLike,
    *,
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    align: Align | None = None,
    sample_weight: WeightsLike = None,
    frequency: WeightsLike = None,
    out: PathLike | None = None,
) -> ColumnLike:
    """How well the two clusterings agree on each point, 0 to 1; their mean is `element_centric`.

    For a pandas or polars series the result is a series too; dropped points are NaN.

    Args:
        a: First clustering: labels (a list, numpy, pandas, polars, arrow or DLPack array, 1-D), memberships (2-D
            floats or sparse, points × clusters), a cover or a hierarchy. A hierarchy is compared with another or with a
            cover; scores are in the order of its points.
        b, unassigned, noise, align: See `congruence.options`.
        sample_weight: Refused: weights do not change the score of a single point.
        frequency: Refused, for the same reason.
        out: Folder for Parquet files with the score of each row of scanned columns, and the column that names the rows;
            the library of a lazy frame writes them. Default None: the scores are returned.

    Returns:
        One score from 0 to 1 per point, NaN for dropped points: an array, or a series if a series was given. With `out`, a
        `Written`: where the files are.

    See also:
        `cg.element_centric`, the mean of these scores.

    >>> import congruence as cg
    >>> cg.element_scores([0, 1, 1, 0, 2, 1], [0, 1, 1, 0, 2, 2]).round(3).tolist()
    [1.0, 0.667, 0.667, 1.0, 0.5, 0.333]
    """
    refuse_idle(element_scores, locals())
    if isinstance(a, Hierarchy | NestedCover) or isinstance(b, Hierarchy | NestedCover):
        check_no_options(InputOptions(unassigned=unassigned, noise=noise, align=align))
        return scores_of_points(a, b, find("element_centric"))
    pair = table_pair(a, b, unassigned=unassigned, noise=noise, align=align)
    if pair.has_covers and pair.is_soft:
        raise NotApplicable(
            f"element_scores compares covers and labels; convert the memberships to a cover: {Call('cg.Cover(u >= 0.3)')}"
        )
    table = counted_pair(pair)[0]
    first, second = pair.sides
    if not first.lazy:
        refuse_out(out)
    if pair.has_covers:
        return _like(a if frame_kind(a) else b, _cover_scores(pair.sides, table), "element_score", first.index)
    share = table.count / np.maximum(table.row_sums[table.row], table.col_sums[table.col])
    if isinstance(first, Column) and isinstance(second, Column):
        return scanned_scores(first, second, table, share, out)
    return _like(a if frame_kind(a) else b, _point_scores(pair.sides, table, share), "element_score", first.index)


def refuse_out(out: PathLike | None) -> None:
    """Raise if values of labels in memory are to be written."""
    if out is not None:
        raise InputError(
            f"{Option('out', ...)} writes values of scanned rows: pass {Call('cg.scan(…)')}; values in memory are returned"
        )


def _cover_scores(pair: tuple[Clustering, Clustering], table: Table) -> Array:
    """The scores of points of two covers, one per cell of the table of their signatures."""
    key = table.row * np.int64(table.shape[1]) + table.col  # cells are in order of row and column
    codes = [c.codes.astype(np.int64) for c in pair]
    used = (codes[0] < pair[0].k) & (codes[1] < pair[1].k)
    scores = np.full(len(used), np.nan)
    where = codes[0][used] * table.shape[1] + codes[1][used]
    scores[used] = elements.element_scores(overlap_of(table), 0.9, elements.MOST_SOLVED)[np.searchsorted(key, where)]
    return scores


def _point_scores(pair: tuple[Clustering, Clustering], table: Table, share: Array) -> Array:
    first, second = pair
    if first.soft or second.soft:
        left, right = (c.dense() for c in pair)
        overlap = np.zeros(table.shape)
        overlap[table.row, table.col] = share
        scores = np.einsum("pi,ij,pj->p", left, overlap, right, optimize=True)
        return np.asarray(scores * (len(first) / (left.sum(axis=1) * right.sum(axis=1)).sum()))
    places = []
    for c, names in zip((first, second), (table.rows, table.columns), strict=True):
        # empty clusters are not in the table
        place = np.full(c.k + 1, -1)
        known = {name: i for i, name in enumerate(plain_names(names))}
        for code, name in enumerate(plain_names(c.names)):
            place[code] = known.get(name, -1)
        places.append(place[c.codes])
    row, col = places
    scores = np.full(len(row), np.nan)
    used = (row >= 0) & (col >= 0)
    scores[used] = values_at(table, share, row[used], col[used])
    return scores


def _like(source: ColumnLike, values: Array, name: str, index: Index = None) -> ColumnLike:
    """The values as a series of the kind passed in, with its index; else unchanged."""
    kind = frame_kind(source)
    if kind == "pandas":
        import pandas as pd

        index = getattr(source, "index", None) if index is None else index
        return pd.Series(values, index=index if index is not None and len(index) == len(values) else None, name=name)
    if kind == "polars":
        import polars as pl

        if values.dtype != object:
            return pl.Series(name, values)
        if len({type(value) for value in values} - {type(None)}) > 1:  # a polars series holds one type
            values = np.array([None if value is None else str(value) for value in values], dtype=object)
        return pl.Series(name, values.tolist())
    return values


def match(a: ClusteringLike, b: ClusteringLike, **options: Unpack[PairKeywords]) -> Matching:
    """The one-to-one matching of clusters with the most points in common, and the unmatched clusters.

    Args:
        a: First clustering: labels (a list, numpy, pandas, polars, arrow or DLPack array, 1-D), memberships (2-D
            floats or sparse, points × clusters).
        b: Second clustering, of the same points in the same order.
        options: Options of `compare`: `unassigned`, `noise`, `sample_weight`, `frequency`, `align`, `threads`,
            `engine`, and those of a scan.

    Returns:
        A `Matching`: `.mapping` from clusters of b to clusters of a, `.only_a`, `.only_b`, `.to_frame()`.

    Raises:
        InputError: If an argument is invalid.

    See also:
        `cg.relabel`, `cg.contingency`.

    >>> import congruence as cg
    >>> cg.match([0, 0, 1, 1, 1], ["u", "v", "v", "v", "w"])
    2 clusters matched, 3 of 5 points in common
       b  common  size a  size b  jaccard
    0  u       1       2       1    0.500
    1  v       2       3       3    0.500
    only in b: w
    """
    pair, table = _paired(a, b, **options)
    return _matching(table, pair.kind, pair.has_covers and not pair.is_soft)


def _matching(table: Table, kind: str | None, overlapping: bool = False) -> Matching:
    cells = assignment(table.row, table.col, table.count, table.shape)
    cells = cells[np.argsort(table.row[cells], kind="stable")]
    row, col = table.row[cells], table.col[cells]
    rows = tuple(
        (table.rows[i], table.columns[j], common, table.row_sums[i].item(), table.col_sums[j].item())
        for i, j, common in zip(row.tolist(), col.tolist(), table.count[cells].tolist(), strict=True)
    )
    only_a = tuple(table.rows[i] for i in range(table.shape[0]) if i not in set(row.tolist()))
    only_b = tuple(table.columns[j] for j in range(table.shape[1]) if j not in set(col.tolist()))
    return Matching(rows=rows, only_a=only_a, only_b=only_b, n=table.n.item(), kind=kind, overlapping=overlapping)


@overload
def relabel(
    reference: ClusteringLike, b: PlainLabels, *, out: None = ..., **options: Unpack[PairKeywords]
) -> Array: ...
@overload
def relabel(
    reference: ClusteringLike, b: ClusteringLike, *, out: None = ..., **options: Unpack[PairKeywords]
) -> Values: ...
@overload
def relabel(
    reference: ClusteringLike, b: ClusteringLike, *, out: PathLike, **options: Unpack[PairKeywords]
) -> Written: ...
def relabel(
    reference: ClusteringLike, b: ClusteringLike, *, out: PathLike | None = None, **options: Unpack[PairKeywords]
) -> ColumnLike:
    """b with its clusters renamed to fit the reference, so that names and colours agree; for a series, a series.

    A cluster of b without a match gets a new name: the next free number, or its old name. Memberships get their columns in
    the order of the reference; columns without a match come last.

    Args:
        reference: Labels whose names to use, or memberships whose order of columns to use.
        b: Labels to rename, or memberships to reorder, of the same points.
        options: Options of `compare`: `unassigned`, `noise`, `sample_weight`, `frequency`, `align`, `threads`,
            `engine`, and those of a scan.
        out: Folder for Parquet files with the new label of each row of scanned columns, and the column that names the
            rows; the library of a lazy frame writes them. Default None: the labels are returned.

    Returns:
        The labels of b with new names: an array, or a series if b is one (in polars, text if names differ in type). For
        memberships, the matrix of b with its columns in the order of the reference.

    Raises:
        InputError: If b is a cover, or the two cannot be compared.

    See also:
        `cg.match`.

    >>> import congruence as cg
    >>> cg.relabel([0, 0, 1, 1, 2], [5, 5, 3, 3, 4]).tolist()
    [0, 0, 1, 1, 2]
    >>> cg.relabel(["x", "x", "y", "y"], [0, 0, 1, 2]).tolist()
    ['x', 'x', 'y', '2']
    >>> cg.relabel(cg.Memberships([[0.9, 0.1], [0.2, 0.8]]), cg.Memberships([[0.1, 0.9], [0.7, 0.3]])).tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """
    found = match(reference, b, **options)
    taken = {a for a, *_ in found.rows} | set(found.only_a)
    new = dict(found.mapping)
    whole = all(isinstance(x, int) and not isinstance(x, bool) for x in taken)
    labels = as_clustering(b, "b")
    if isinstance(labels, Memberships):
        refuse_out(out)
        return _reordered(reference, labels)
    if not isinstance(labels, Labels | Column):
        raise InputError("relabel renames labels and reorders memberships; for covers, see match")
    names = plain_names(labels.names)
    for name in (name for name in names if name not in found.mapping):
        if whole:
            fresh: Label = max([-1, *taken]) + 1
        else:
            fresh = unused_name(str(name), taken)
        new[name] = fresh
        taken.add(fresh)
    if isinstance(labels, Column):
        return scanned_names(labels, new, whole and all(-(2**63) <= new[name] < 2**63 for name in names), out)
    refuse_out(out)
    renamed = [new[name] for name in names]
    complete = whole and not labels.gaps and all(isinstance(x, int) for x in renamed)
    dictionary = np.empty(len(renamed) + 1, dtype=object)
    dictionary[:-1], dictionary[-1] = renamed, None
    values = dictionary[labels.codes]
    if complete:
        values = values.astype(np.int64 if all(-(2**63) <= x < 2**63 for x in renamed) else object)
    elif not labels.gaps and all(isinstance(x, str) for x in renamed):
        values = values.astype(str) if frame_kind(b) is None else values
    return _like(b, values, labels.title or "relabelled")


def _reordered(reference: ClusteringLike, b: Memberships) -> Array:
    """The memberships of b with columns in the order of the reference's clusters, by the least sum of squared differences."""
    from scipy.optimize import linear_sum_assignment

    first = as_clustering(reference, "reference")
    u = first.dense()
    v = b.dense()
    cost = (u**2).sum(axis=0)[:, None] + (v**2).sum(axis=0)[None, :] - 2 * u.T @ v
    _, columns = linear_sum_assignment(cost)
    rest = [j for j in range(v.shape[1]) if j not in set(columns.tolist())]
    return np.asarray(v[:, [*columns.tolist(), *rest]])
