"""Consensus of each row of scanned columns with the clusters of one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from congruence.comparison.scanned import places, row_values
from congruence.errors import InputError
from congruence.inputs.ensemble import Ensemble
from congruence.scanning.checkpoint import digest
from congruence.scanning.columns import Column, table_of
from congruence.scanning.rows import Written
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import ClusteringLike, Label, PathLike


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
    tables = tuple(
        (share, _on(names, columns, full), _on(names, columns, full).sum(axis=0)) for share, full, columns in parts
    )
    values = Items(tuple(f"consensus_{name}" for name in names), tables, cluster)
    what = digest("items", *(x.tobytes() for _, table, _ in tables for x in (table,)), cluster.tobytes())
    found = row_values([*members, c], values, [*listed, labels_of], out, what)
    return found if isinstance(found, Written) else np.column_stack([found[name] for name in values.names])


def _on(names: list[Label], columns: ClusterNames, table: Array) -> Array:
    """The table with a column for each of these clusters, including those that a member does not have."""
    at = {name: j for j, name in enumerate(names)}
    found = np.zeros((len(table), len(names)))
    found[:, [at[x] for x in plain_names(columns)]] = table
    return found
