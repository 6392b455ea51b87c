"""Votes of the members of a consensus on new points: a point votes as the points of its clusters are spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.ensembles.agreement import point_mass
from congruence.ensembles.nearest import Centres
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array
from congruence.typing import Label, SparseMatrix


def codes_of(e: Ensemble) -> list[Array]:
    """Cluster of each point in each member, −1 for none; the largest membership of soft members."""
    return [
        m.dense().argmax(axis=1) if m.soft else np.where(m.codes < m.k, m.codes.astype(np.int64), -1) for m in e.members
    ]


@dataclass(frozen=True, eq=False)
class Shares:
    """How the clusters of each member are spread over the clusters of a consensus, and how new points find their clusters."""

    #: names of the clusters of each member, and the mean of each if the members are clusterings of data
    names: tuple[list[Label], ...]
    centres: tuple[Centres, ...] | None
    #: share of each cluster of a member in each cluster of the consensus, and the weight of the member
    tables: tuple[Array, ...]
    weight: tuple[float, ...]

    @classmethod
    def of(cls, e: Ensemble, labels: Array, k: int, data: Array | SparseMatrix | None) -> Shares:
        """The shares of an ensemble, given the consensus cluster of each point."""
        codes, mass, tables = codes_of(e), point_mass(e)[0], []
        for own, member in zip(codes, e.members, strict=True):
            counts = np.zeros((member.k, k))
            used = (own >= 0) & (labels >= 0)
            np.add.at(counts, (own[used], labels[used]), mass[used])
            tables.append(counts / np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny))
        centres = None
        if data is not None:
            dense = data.toarray() if hasattr(data, "toarray") else data  # once for all members
            centres = tuple(Centres.of(dense, own) for own in codes)
        return cls(tuple(plain_names(m.names) for m in e.members), centres, tuple(tables), tuple(e.shares.tolist()))

    def of_data(self, X: Array | SparseMatrix) -> Array:
        """Share of the votes for each cluster: in every member, a point is in the cluster with the nearest mean."""
        assert self.centres is not None
        dense = X.toarray() if hasattr(X, "toarray") else X
        return self._votes([centres.nearest(dense) for centres in self.centres])

    def of_labels(self, columns: Sequence[Sequence[Label]]) -> Array:
        """Share of the votes for each cluster, of points with these labels in the members; NaN for points without votes."""
        known = [{name: i for i, name in enumerate(names)} for names in self.names]
        return self._votes(
            [np.array([at.get(x, -1) for x in column], np.int64) for at, column in zip(known, columns, strict=True)]
        )

    def _votes(self, codes: Sequence[Array]) -> Array:
        votes = np.zeros((len(codes[0]), self.tables[0].shape[1]))
        said = np.zeros(len(votes))
        for own, table, weight in zip(codes, self.tables, self.weight, strict=True):
            used = own >= 0
            votes[used] += weight * table[own[used]]
            said[used] += weight
        return np.asarray(np.divide(votes, said[:, None], out=np.full_like(votes, np.nan), where=said[:, None] > 0))
