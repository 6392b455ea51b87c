"""Consensus of single points and clusters, in memory or of scanned rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import cast, overload

import numpy as np

from congruence.comparison.matching import refuse_out
from congruence.comparison.scanned import places, row_values
from congruence.engine.plan import engine_for
from congruence.ensembles.agreement import as_ensemble, point_mass
from congruence.errors import InputError, Option
from congruence.inputs.alignment import whole_labels
from congruence.inputs.cover import CoverLabels, check_one_kind
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.machine import device
from congruence.options import described
from congruence.scanning.checkpoint import digest
from congruence.scanning.columns import Column, table_of
from congruence.scanning.rows import Written
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import ClusteringLike, DeviceArray, EngineName, EnsembleLike, Label, PathLike

#: most clusters for which each point is compared with every cluster to find its neighbours
MOST_DENSE = 200


def _partition(e: Ensemble, labels: ClusteringLike) -> Labels:
    return whole_labels(labels, e.n_points, of="the ensemble")


@overload
def item_consensus(
    ensemble: EnsembleLike, labels: ClusteringLike, *, engine: EngineName = ..., out: None = ...
) -> Array: ...  # fmt: skip
@overload
def item_consensus(
    ensemble: EnsembleLike, labels: ClusteringLike, *, engine: EngineName = ..., out: PathLike
) -> Written: ...  # fmt: skip
@described
def item_consensus(
    ensemble: EnsembleLike, labels: ClusteringLike, *, engine: EngineName = "auto", out: PathLike | None = None
) -> Array | Written:
    """Mean consensus of each point (row) with the other points of each cluster (column, in sorted order of labels).

    Members without a label for a point do not count for it: the mean is over all members and pairs of points that they
    label. A point alone in its cluster has NaN for it.

    Args:
        ensemble: See `congruence.options`.
        labels: One label per point, without gaps.
        engine: See `congruence.options`.
        out: Folder for Parquet files with the values of each row of a scan, and the column that names the rows. Default
            None: the values are returned.

    Returns:
        An array, points × clusters. With `out`, a `Written`: where the files are.

    See also:
        `cg.cluster_consensus`, `cg.consensus_silhouette`.

    >>> import congruence as cg
    >>> cg.item_consensus([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 1]).tolist()
    [[0.5, 0.0], [0.5, 0.5], [0.25, 1.0], [0.25, 1.0]]
    """
    e = as_ensemble(ensemble)
    if e.is_lazy:
        refuse_idle(item_consensus, locals(), "for scanned columns")
        return scanned_items(e, labels, out)
    if out is not None:
        refuse_out(out)
    c = _partition(e, labels)
    on_card = engine_for(engine, e.members).on_card
    if on_card and e.has_covers:
        raise InputError(
            f"members that are covers are counted on the CPU; pass {Option('engine', 'cpu')} or leave it out"
        )
    together, seen = _sums(e, c, on_card)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(seen > 1e-12, together / seen, np.nan)


def _sums(e: Ensemble, c: Labels, on_card: bool) -> tuple[Array, Array]:
    """For each point and cluster: the weight of pairs that members put together, and of pairs that they label."""
    check_one_kind(e.members)
    xp: ModuleType = device.cupy() if on_card else np  # the same code on host and GPU
    weight, own = (xp.asarray(x) for x in point_mass(e))
    codes = _codes(c, on_card)
    every = xp.arange(e.n_points)
    together, seen = xp.zeros((e.n_points, c.k)), xp.zeros((e.n_points, c.k))
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        if member.soft:
            u = xp.asarray(member.dense() if member.card is None or not on_card else device.here(member.card))
            sums = xp.stack([xp.bincount(codes, weights=weight * column, minlength=c.k) for column in u.T])
            together += share * (u @ sums)
            together[every, codes] -= share * own * (u**2).sum(axis=1)
            per = xp.bincount(codes, weights=weight, minlength=c.k)
            here = xp.ones(e.n_points, dtype=bool)
        else:
            theirs = _codes(member, on_card)
            here = theirs < member.k
            cell = theirs.astype(np.int64) * c.k + codes
            table = xp.bincount(cell, weights=weight, minlength=(member.k + 1) * c.k).reshape(member.k + 1, c.k)
            per = table[: member.k].sum(axis=0)
            table[member.k] = 0
            with_self = here
            if isinstance(member, CoverLabels):  # points are together if their signatures share a cluster
                rows = member.clusters.sparse(np.arange(member.k))
                table[: member.k] = ((rows @ rows.T) > 0) @ table[: member.k]
                with_self = here & np.append(member.clusters.lengths > 0, False)[theirs]
            together += share * table[theirs]
            together[every[with_self], codes[with_self]] -= share * own[with_self]
        times = here[:, None] * per[None, :]
        times[every[here], codes[here]] -= own[here]
        seen += share * times
    return (together.get(), seen.get()) if on_card else (together, seen)


def _own_sums(e: Ensemble, c: Labels) -> tuple[Array, Array]:
    """The sums of each point with its own cluster."""
    if not e.is_plain:
        mine = np.arange(e.n_points), c.codes
        together, seen = _sums(e, c, False)
        return together[mine], seen[mine]
    weight, own = point_mass(e)
    inside, seen = np.zeros(e.n_points), np.zeros(e.n_points)
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        here = member.codes < member.k
        _, cell = np.unique(member.codes.astype(np.int64) * c.k + c.codes, return_inverse=True)
        inside[here] += share * (np.bincount(cell, weights=weight)[cell] - own)[here]
        per = np.bincount(c.codes[here], weights=weight[here], minlength=c.k)
        seen[here] += share * (per[c.codes] - own)[here]
    return inside, seen


def item_cells(e: Ensemble, c: Labels) -> DeviceArray:
    """The entries of `item_consensus` that are not 0, as a sparse array, for members that are labels."""
    from scipy.sparse import coo_array, csr_array

    weight, own = point_mass(e)
    n = e.n_points
    together = csr_array((n, c.k))
    there, sizes = [], []
    for member, share in zip(e.members, e.shares.tolist(), strict=True):
        here = np.flatnonzero(member.codes < member.k)
        theirs, mine = member.codes[here], c.codes[here]
        table = coo_array((weight[here], (theirs, mine)), shape=(member.k, c.k)).tocsr()
        placed = csr_array((np.full(len(here), share), (here, theirs)), shape=(n, member.k))
        with_self = csr_array((share * own[here], (here, mine)), shape=(n, c.k))
        together = together + placed @ table - with_self
        there.append(share * (member.codes < member.k))
        sizes.append(table.sum(axis=0))
    cells = together.tocoo()
    row, column = cells.row, cells.col
    seen = np.sum([x[row] * per[column] for x, per in zip(there, sizes, strict=True)], axis=0)
    seen -= np.where(column == c.codes[row], np.sum(there, axis=0)[row] * own[row], 0.0)
    kept = (seen > 1e-12) & (cells.data > 1e-12)
    return csr_array((cells.data[kept] / seen[kept], (row[kept], column[kept])), shape=(n, c.k))


def _codes(labels: Clustering, on_card: bool) -> DeviceArray:
    """The codes on the host or the GPU."""
    if not on_card:
        return labels.codes
    return labels.card.codes if labels.card is not None else device.cupy().asarray(labels.codes)


def neighbours(e: Ensemble, codes: Array) -> tuple[Array, Array, Array]:
    """Consensus of each point with its own cluster, of clusters with clusters, and the second-best cluster of each point."""
    k, every = int(codes.max()) + 1, np.arange(len(codes))
    sizes = np.maximum(np.bincount(codes, minlength=k), 1)
    second = codes.copy()
    if k <= MOST_DENSE or not e.is_plain:
        near = np.nan_to_num(item_consensus(e, codes))
        own = near[every, codes]
        sums = np.stack([np.bincount(codes, weights=column, minlength=k) for column in near.T], axis=1)
        near[every, codes] = 0
        best = near.argmax(axis=1)
        some = near[every, best] > 0
        second[some] = best[some]
        return own, sums / sizes[:, None], second
    cells = item_cells(e, _partition(e, codes)).tocoo()
    mine = cells.col == codes[cells.row]
    own = np.bincount(cells.row[mine], weights=cells.data[mine], minlength=len(codes))
    sums = np.bincount(codes[cells.row] * k + cells.col, weights=cells.data, minlength=k * k).reshape(k, k)
    row, column, value = (x[~mine] for x in (cells.row, cells.col, cells.data))
    order = np.lexsort((column, -value, row))
    first = order[np.flatnonzero(np.diff(row[order], prepend=-1))]
    second[row[first]] = column[first]
    return own, np.divide(sums, sizes[:, None], out=sums), second


@described
def cluster_consensus(ensemble: EnsembleLike, labels: ClusteringLike) -> dict[Label, float]:
    """Mean consensus over the pairs of points within each cluster; NaN for a cluster of one point.

    Members without a label for a point do not count for its pairs: of all (member, pair of points) in which both points
    have a label, the share that puts them together.

    Args:
        ensemble: See `congruence.options`.
        labels: One label per point, without gaps.

    Returns:
        A mapping from cluster to mean consensus.

    See also:
        `cg.item_consensus`.

    >>> import congruence as cg
    >>> cg.cluster_consensus([[0, 0, 1, 1], [0, 1, 1, 1]], ["x", "x", "y", "y"])
    {'x': 0.5, 'y': 1.0}
    """
    e = as_ensemble(ensemble)
    c = _partition(e, labels)
    weight, _ = point_mass(e)
    total, count = (np.bincount(c.codes, weights=weight * x, minlength=c.k) for x in _own_sums(e, c))
    names = plain_names(c.names)
    with np.errstate(invalid="ignore", divide="ignore"):
        return dict(zip(names, np.where(count > 1e-12, total / count, np.nan).tolist(), strict=True))


@described
def consensus_silhouette(ensemble: EnsembleLike, labels: ClusteringLike) -> Array:
    """Silhouette of each point with distance 1 − consensus, in O(points × members × clusters).

    Args:
        ensemble: See `congruence.options`.
        labels: One label per point, without gaps.

    Returns:
        An array with one value per point, from −1 to 1.

    Raises:
        InputError: If there is only one cluster.

    See also:
        `cg.item_consensus`.

    >>> import congruence as cg
    >>> cg.consensus_silhouette([[0, 0, 1, 1], [0, 1, 1, 1]], [0, 0, 1, 1]).round(3).tolist()
    [0.5, 0.0, 1.0, 1.0]
    """
    e = as_ensemble(ensemble)
    c = _partition(e, labels)
    if c.k < 2:
        raise InputError("a silhouette needs at least two clusters")
    distance = np.clip(1 - item_consensus(e, c), 0.0, 1.0)
    distance[distance < 1e-12] = 0.0  # rounding errors of shares; their difference would become ±1
    here = np.arange(e.n_points), c.codes
    inside = distance[here].copy()
    distance[here] = np.nan
    outside = np.where(np.isnan(distance), np.inf, distance).min(axis=1)
    known = np.isfinite(inside) & np.isfinite(outside) & (np.maximum(inside, outside) > 0)
    score = np.zeros(e.n_points)  # by convention for a point alone in its cluster, or at distance 0 from both
    score[known] = (outside - inside)[known] / np.maximum(inside, outside)[known]
    return score


@dataclass(frozen=True, eq=False)
class Items:
    """Mean consensus of rows with the other rows of each cluster, from the tables of members and clusters."""

    names: tuple[str, ...]
    #: for each member: its weight, the points of each of its codes in each cluster, the points it labels in each cluster
    members: tuple[tuple[float, Array, Array], ...]
    #: cluster of each code of the partition
    clusters: Array

    def __call__(self, codes: list[Array], group: int, first: int) -> dict[str, Array]:
        """The values of the rows of a batch; the sums are those of `item_consensus` in memory, in the same order."""
        own, every = self.clusters[codes[-1]], np.arange(len(codes[-1]))
        together, seen = np.zeros((len(own), len(self.names))), np.zeros((len(own), len(self.names)))
        for (share, table, per), theirs in zip(self.members, codes[:-1], strict=True):
            here = theirs > 0
            together += share * table[theirs]
            together[every[here], own[here]] -= share
            times: Array = np.where(here[:, None], per[None, :], 0.0)
            times[every[here], own[here]] -= 1.0
            seen += share * times
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.where(seen > 1e-12, together / seen, np.nan)
        return {name: found[:, j] for j, name in enumerate(self.names)}


def scanned_items(e: Ensemble, labels: ClusteringLike, out: PathLike | None) -> Array | Written:
    """The consensus of each row with each cluster: an array, rows × clusters, or the folder it was written to."""
    if not isinstance(labels, Column):
        raise InputError("labels must be a column of the same scan, such as s['truth'], if the members are scanned")
    if e.mass is not None:
        raise InputError("item_consensus of scanned columns does not take weights; read the columns into memory")
    c = replace(labels, unassigned="error", decided=True)
    members = cast("list[Column]", list(e.members))
    pairs = np.column_stack([np.arange(len(members)), np.full(len(members), len(members))])
    for _ in c.source.tables([*members, c], pairs, None, None, None):  # counted together, then read one by one
        pass
    parts, listed = [], []
    for member, share in zip(members, e.shares.tolist(), strict=True):
        table, _ = table_of(member, c, None, None)
        here, row = places(member, table.rows)
        counts = table.to_array().astype(float)
        full = np.zeros((len(row), counts.shape[1]))
        full[row >= 0] = counts[row[row >= 0]]
        parts.append((share, full, table.columns))
        listed.append(here)
    names = plain_names(c.names)
    labels_of, cluster = places(c, names)
    wide = [(share, _on(names, columns, full)) for share, full, columns in parts]
    tables = tuple((share, table, table.sum(axis=0)) for share, table in wide)
    values = Items(tuple(f"consensus_{name}" for name in names), tables, cluster)
    what = digest("items", *(table.tobytes() for _, table in wide), cluster.tobytes())
    found = row_values([*members, c], values, [*listed, labels_of], out, what)
    return found if isinstance(found, Written) else np.column_stack([found[name] for name in values.names])


def _on(names: list[Label], columns: ClusterNames, table: Array) -> Array:
    """The table with a column for each of these clusters, including those that a member does not have."""
    at = {name: j for j, name in enumerate(names)}
    found = np.zeros((len(table), len(names)))
    found[:, [at[x] for x in plain_names(columns)]] = table
    return found
