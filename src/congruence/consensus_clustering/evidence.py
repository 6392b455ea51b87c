"""The votes of the members on each point, as all consensus methods read them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from congruence.comparison.many import compare_to
from congruence.errors import InputError
from congruence.formulas import find
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import Labels
from congruence.inputs.memberships import Memberships
from congruence.statistics.pairs import Pairs
from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix

#: most clusters for which their Gram matrix is built; above it, only products with H are used
GRAM_LIMIT = 6_000


@dataclass(frozen=True, eq=False)
class Evidence:
    """The votes on each signature: points with the same cluster in every member are one row, with their mass.

    Rows, columns and members are sorted by content, so cluster names and the order of points and members do not affect
    ties or random starts.
    """

    #: H, signatures × clusters: 1 in the cluster of each member (its memberships, for soft ones), 0 for a gap
    votes: SparseMatrix
    #: the cluster (column) of each signature in each member, n_clusters if it has none; the largest membership for soft ones
    column: Array
    #: member of each cluster, and the weight of each member; they add up to 1
    member: Array
    share: Array
    #: index of each member in the ensemble; here they are sorted by content
    source: Array
    #: number of points of each signature, or their weight
    mass: Array
    #: signature of each point; −1: no member labels it
    row: Array
    is_soft: bool
    notes: tuple[str, ...] = ()
    #: points per unit of mass: 1 unless points have weights, whose scale has no meaning
    points_per_mass: float = 1.0
    #: factor of each cluster on the weight of its member; None: 1 for all
    certainty: Array | None = None
    #: the contingency tables of all points, clusters × clusters, if these are a sample of them
    everyone: Array | None = None

    @property
    def n_rows(self) -> int:
        """Number of different signatures."""
        return len(self.mass)

    @property
    def n_members(self) -> int:
        """Number of members."""
        return len(self.share)

    @property
    def n_columns(self) -> int:
        """Number of clusters of all members together."""
        return len(self.member)

    @cached_property
    def seen(self) -> Array:
        """Which signature has a label in which member, signatures × members."""
        return np.asarray(self.column < self.n_columns)

    @cached_property
    def has_gaps(self) -> bool:
        """Whether any member has gaps."""
        return not bool(self.seen.all())

    @cached_property
    def seen_share(self) -> Array:
        """Weight of the members that label each signature."""
        return np.asarray(self.seen @ self.share) if self.has_gaps else np.ones(self.n_rows)

    @cached_property
    def weight(self) -> Array:
        """Weight of the votes in each cluster: that of its member, times its certainty."""
        own = self.share[self.member]
        return own if self.certainty is None else own * self.certainty

    @cached_property
    def sizes(self) -> Array:
        """Mass of each cluster."""
        return np.asarray(self.votes.T @ self.mass)

    @cached_property
    def ends(self) -> Array:
        """The first cluster of each member, and the number of all clusters."""
        return np.searchsorted(self.member, np.arange(self.n_members + 1))

    def by_member(self, values: Array, axis: int = -1) -> Array:
        """Sums over the clusters of each member."""
        return np.asarray(np.add.reduceat(values, self.ends[:-1], axis=axis))

    def drawn(self, many: int, rng: np.random.Generator) -> Array:
        """Some signatures, drawn by their mass."""
        return np.sort(rng.choice(self.n_rows, many, replace=False, p=self.mass / self.mass.sum()))

    def scores(self, table: Array) -> Array:
        """For each signature, the sum of the table rows of its clusters: H · table."""
        return np.asarray(self.votes @ table)

    def totals(self, labels: Array, k: int) -> Array:
        """Mass of each consensus cluster in each cluster of the members, k × clusters: the contingency tables side by side."""
        if self.is_soft:
            from scipy.sparse import csr_array

            one_hot = csr_array((self.mass, (labels, np.arange(self.n_rows))), shape=(k, self.n_rows))
            return np.asarray((one_hot @ self.votes).toarray())
        wide = self.n_columns + 1
        found = np.zeros(k * wide)
        start = labels.astype(np.int64) * wide
        for column in self.column.T:
            found += np.bincount(start + column, weights=self.mass, minlength=k * wide)
        return np.asarray(found.reshape(k, wide)[:, :-1])

    def gram(self, weight: Array) -> Array:
        """Hᵀ · diag(weight) · H, clusters × clusters."""
        K = self.n_columns
        if self.is_soft or self.n_rows < 2_000:  # for few rows one sparse product is faster than a count for each pair
            scaled = self.votes.multiply(weight[:, None]).tocsr()
            return np.asarray((self.votes.T @ scaled).toarray())
        found = np.zeros((K + 1, K + 1))
        ends = self.ends
        local = [self._local(i) for i in range(self.n_members)]
        for i, (own, k_i) in enumerate(local):
            for j in range(i, self.n_members):
                other, k_j = local[j]
                table = np.bincount(own * (k_j + 1) + other, weights=weight, minlength=(k_i + 1) * (k_j + 1))
                block = table.reshape(k_i + 1, k_j + 1)[:-1, :-1]
                found[ends[i] : ends[i + 1], ends[j] : ends[j + 1]] = block
                found[ends[j] : ends[j + 1], ends[i] : ends[i + 1]] = block.T
        return found[:-1, :-1]

    @cached_property
    def tables(self) -> Array:
        """The contingency tables of all pairs of members, side by side: clusters × clusters."""
        return self.gram(self.mass) if self.everyone is None else self.everyone

    def scaled_tables(self, scale: Array) -> Array:
        """Hᵀ · diag(mass · scale) · H, of all points if their tables are there: the count of a cell times its mean scale here."""
        if self.everyone is None:
            return self.gram(self.mass * scale)
        if (scale == scale[0]).all():
            return np.asarray(self.everyone * scale[0])
        here, scaled = self.gram(self.mass), self.gram(self.mass * scale)
        own = np.diag(scaled) / np.diag(here)
        mean = (own[:, None] + own[None, :]) / 2  # for cells without a point here
        return np.asarray(self.everyone * np.divide(scaled, here, out=mean, where=here > 0))

    @property
    def sizes_in_tables(self) -> Array:
        """Mass of each cluster in `tables`."""
        return self.sizes if self.everyone is None else np.diag(self.everyone)

    def columns_of(self, codes: Sequence[Array], widths: Sequence[int]) -> list[Array]:
        """The cluster (column) of each code of each member of the ensemble; n_columns for codes that no point here has.

        Args:
            codes: For each member of the ensemble, the codes of the points.
            widths: For each member, the number of its codes.
        """
        found = [np.full(width, self.n_columns) for width in widths]
        some = self.row >= 0
        for at, member in enumerate(self.source.tolist()):
            found[member][codes[member][some]] = self.column[self.row[some], at]
        return found

    def _local(self, i: int) -> tuple[Array, int]:
        """Clusters of one member counted from 0, its gaps last."""
        first, end = self.ends[i : i + 2].tolist()
        column = self.column[:, i]
        return np.where(column == self.n_columns, end - first, column - first).astype(np.int64), end - first

    def taken(self, rows: Array) -> Evidence:
        """The same votes on some of the signatures."""
        return replace(self, votes=self.votes[rows], column=np.asfortranarray(self.column[rows]), mass=self.mass[rows])

    def counted(self) -> tuple[Evidence, Array]:
        """The signatures with positive weight, with the clusters and members that contain them, and their indices."""
        rows, full = np.flatnonzero(self.mass > 0), self.sizes > 0
        members = np.unique(self.member[full])
        if len(rows) == self.n_rows and full.all() and len(members) == self.n_members:
            return self, rows
        place = np.full(self.n_columns + 1, full.sum(), dtype=np.int32)
        place[:-1][full] = np.arange(full.sum())
        share = self.share[members]
        smaller = replace(
            self, votes=self.votes[rows][:, full], column=np.asfortranarray(place[self.column[np.ix_(rows, members)]]),
            member=np.searchsorted(members, self.member[full]), share=share / share.sum(), source=self.source[members],
            mass=self.mass[rows], certainty=None if self.certainty is None else self.certainty[full],
            everyone=None if self.everyone is None else self.everyone[np.ix_(full, full)],
        )  # fmt: skip
        return smaller, rows

    def agreement(self, i: int) -> Array:
        """Consensus of signature i with all signatures: the share of the members that label both and put them together."""
        if self.is_soft:
            together = self.votes @ (self.votes[[i]].multiply(self.weight[None, :])).toarray().ravel()
        else:
            together = np.zeros(self.n_rows)
            for member, column in enumerate(self.column[i].tolist()):
                if column < self.n_columns:
                    together += self.weight[column] * (self.column[:, member] == column)
        if not self.has_gaps:
            return np.asarray(together)
        both = self.seen @ (self.share * self.seen[i])
        return np.asarray(np.divide(together, both, out=np.zeros_like(together), where=both > 0))


def evidence(ensemble: Ensemble, left_out: Collection[int] = ()) -> Evidence:
    """The votes of an ensemble without the members left out; points in no member have no row."""
    from scipy.sparse import hstack

    n, members = ensemble.n_points, ensemble.members
    mass = np.ones(n)
    if ensemble.mass is not None:  # unscaled: objectives are sums over points
        mass = np.ldexp(ensemble.mass.values.astype(np.float64), ensemble.mass.exponent)
    kept = [i for i, share in enumerate(ensemble.shares.tolist()) if share > 0 and members[i].k > 0]
    kept = [i for i in kept if i not in left_out] or kept
    if ensemble.has_covers:
        raise InputError(
            "a consensus puts each point into one cluster, but some members are covers, whose clusters overlap; compare them "
            "with compare_all, or use consensus_matrix() to see which points share clusters"
        )
    if not kept:
        raise InputError("no member labels any point, so there is no consensus")
    share = ensemble.shares[kept]
    share = share / math.fsum(share)  # exact, so that the order of the members does not change the last digits
    notes: list[str] = []
    parts = [_matrix(members[i], ensemble.names[i], notes) for i in kept]
    codes = np.empty((n, len(kept)), dtype=np.int32, order="F")  # each member is contiguous in memory
    for j, (own, _, _) in enumerate(parts):
        codes[:, j] = own
    is_soft = any(matrix is not None for _, _, matrix in parts)
    sizes = [k for _, k, _ in parts]
    first, group, total = _signatures(codes, mass, is_soft)
    if len(first) < n:
        codes = np.asfortranarray(codes[first])
    soft = {j: matrix[first] for j, (_, _, matrix) in enumerate(parts) if matrix is not None}
    row_colour, cluster_colour = _colours(codes, sizes, soft, total, share)
    # drop rows without a member, and sort the rest by content; ties by position, never by the names of clusters
    member_colour = np.array([np.add.reduce(_mixed(c)) for c in cluster_colour], dtype=np.uint64)
    in_order = np.lexsort((np.arange(len(kept)), member_colour, share))
    rows = np.lexsort((first, row_colour))
    somewhere = np.any(codes < np.asarray(sizes), axis=1)
    rows = rows[np.asarray(somewhere)[rows]]
    place = np.full(len(codes), -1, dtype=np.int64)
    place[rows] = np.arange(len(rows))
    column = np.empty((len(rows), len(kept)), dtype=np.int32, order="F")
    K = sum(sizes)
    start, owner, pieces = 0, [], []
    for new, old in enumerate(in_order.tolist()):
        ranked = np.lexsort((_places(codes[rows, old], sizes[old], soft.get(old), rows), cluster_colour[old]))
        rank = np.empty(sizes[old] + 1, dtype=np.int64)
        rank[ranked] = start + np.arange(sizes[old])
        rank[sizes[old]] = K
        column[:, new] = rank[codes[:, old][rows]]
        owner += [new] * sizes[old]
        if is_soft:
            pieces.append(_one_hot(codes[rows, old], sizes[old], soft[old][rows] if old in soft else None)[:, ranked])
        start += sizes[old]
    votes = hstack(pieces, format="csr") if is_soft else _hard_votes(column, K)
    weighted = ensemble.mass is not None and not ensemble.mass.is_frequency and mass.any()
    return Evidence(
        votes, column, np.asarray(owner, np.int64), share[in_order], np.asarray(kept)[in_order], total[rows], place[group],
        is_soft, tuple(notes),
        np.count_nonzero(mass) / mass.sum() if weighted else 1.0,
    )  # fmt: skip


def _places(codes: Array, k: int, u: Array | None, rows: Array) -> Array:
    """A number for each cluster of a member, from which rows it holds: the first, or for soft members a hash of all."""
    if u is None:
        earliest = np.full(k + 1, len(rows), dtype=np.int64)
        earliest[codes[::-1]] = np.arange(len(rows))[::-1]
        return earliest[:k]
    return np.asarray(np.add.reduce(_mixed(_bits(u[rows]) ^ _mixed(np.arange(len(rows)))[:, None]), axis=0))


def _matrix(c: Clustering, name: str, notes: list[str]) -> tuple[Array, int, Array | None]:
    """Codes (k: none), number of clusters, and for soft members the rows of memberships, each adding up to 1."""
    if isinstance(c, Labels):
        return c.codes, c.k, None
    assert isinstance(c, Memberships)
    u = c.dense()
    sums = np.sort(u, axis=1).sum(axis=1)  # the same to the last digit in any order of the clusters
    if not c.is_probabilistic:
        notes.append(f"the memberships of {name} do not add up to 1; they were scaled per point")
    u = np.divide(u, sums[:, None], out=np.zeros_like(u), where=sums[:, None] > 0)
    return np.where(sums > 0, u.argmax(axis=1), u.shape[1]), u.shape[1], u


def _signatures(codes: Array, mass: Array, is_soft: bool) -> tuple[Array, Array, Array]:
    """First point of each signature, signature of each point, mass of each."""
    n = len(codes)
    if is_soft:
        return np.arange(n), np.arange(n), mass
    key = np.zeros(n, dtype=np.uint64)
    for j, column in enumerate(codes.T):
        key += _mixed(column.astype(np.uint64) + np.uint64(j << 32))
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if any((column[first][group] != column).any() for column in codes.T):  # hash collision of two signatures
        _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    if len(first) == n:
        return np.arange(n), np.arange(n), mass
    group = group.ravel()
    light = np.argsort(mass, kind="stable")  # the same sums to the last digit in any order of the points
    return first, group, np.bincount(group[light], weights=mass[light], minlength=len(first))


def _mixed(x: Array) -> Array:
    """Hashes of 64 bits (the finaliser of splitmix64); sums of them distinguish sets."""
    x = x.astype(np.uint64)  # a copy
    x += np.uint64(0x9E3779B97F4A7C15)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return x


def _bits(x: Array) -> Array:
    """Numbers as integers of single precision, because the last digits depend on the order of summation."""
    return np.asarray(x, dtype=np.float32).view(np.uint32).astype(np.uint64)


def _colours(
    codes: Array, sizes: list[int], soft: dict[int, Array], mass: Array, share: Array
) -> tuple[Array, list[Array]]:
    """A number for each signature and each cluster that depends on which points share clusters, not on names or order.

    Colours of rows are summed into their clusters, those of clusters into their rows, three times (Weisfeiler and Leman).
    """
    rows, weights = _mixed(_bits(mass)), _mixed(_bits(share))
    clusters: list[Array] = []
    for _ in range(3):
        clusters = []
        renewed = _mixed(rows)
        for j, k in enumerate(sizes):
            colour = np.zeros(k + 1, dtype=np.uint64)
            if j in soft:
                bits = _bits(soft[j])
                for u in range(k):
                    colour[u] = np.add.reduce(_mixed(bits[:, u] ^ rows))
                colour = _mixed(colour ^ weights[j])
                renewed += np.add.reduce(_mixed(bits ^ colour[None, :k]) * (bits > 0), axis=1)
            else:
                np.add.at(colour, codes[:, j], _mixed(rows))
                colour = _mixed(colour ^ weights[j])
                colour[k] = 0
                renewed += _mixed(colour)[codes[:, j]]
            clusters.append(colour[:k])
        rows = renewed
    return rows, clusters


def _hard_votes(column: Array, K: int) -> SparseMatrix:
    from scipy.sparse import csr_array

    here = column < K
    ends = np.concatenate([[0], np.cumsum(here.sum(axis=1))])
    return csr_array((np.ones(int(ends[-1])), column[here], ends), shape=(len(column), K))


def _one_hot(codes: Array, k: int, u: Array | None) -> SparseMatrix:
    from scipy.sparse import csr_array

    if u is not None:
        return csr_array(u)
    here = np.flatnonzero(codes < k)
    return csr_array((np.ones(len(here)), (here, codes[here])), shape=(len(codes), k))


def medoid(e: Evidence, k: int | None, among: Evidence | None = None) -> Array | None:
    """Labels of the most central complete member with k clusters, or at least two if k is None; None if there is none.

    The most central member has the highest mean ARI with all members, on all signatures or on those in `among`.
    """
    few = e if among is None else among
    sizes = np.diff(e.ends)
    fits = sizes == k if k is not None else sizes > 1
    able = [i for i in np.flatnonzero(fits).tolist() if e.seen[:, i].all()]
    if not able:
        return None
    best = able[0] if len(able) == 1 else able[_most_central(few, able)]
    return np.asarray(e.column[:, best] - e.ends[best], dtype=np.int64)


def _most_central(e: Evidence, able: list[int]) -> int:
    """Which of the eligible members has the highest mean ARI with all members; the first in a tie."""
    agreement = _by_points(e, able) if e.n_columns > GRAM_LIMIT else _by_tables(e)[able]
    means = np.nansum(agreement * e.share, axis=1)
    return int(np.flatnonzero(means >= means.max() - 1e-12)[0])


def _by_points(e: Evidence, able: list[int]) -> Array:
    """ARI of the eligible members with all members; a signature counts by its mass, and members are encoded once."""
    whole = (e.mass == np.round(e.mass)).all()
    frequency, weight = (e.mass.astype(np.int64), None) if whole else (None, e.mass)
    columns = [np.where(column == e.n_columns, -1, column) for column in e.column.T]
    members = Ensemble(columns, unassigned="partial", noise=-1, frequency=frequency, sample_weight=weight)
    rule: Unassigned = "drop" if members.has_gaps else "error"
    return np.stack([compare_to(members.members[i], members, "ari", unassigned=rule)["ari"] for i in able])


def _by_tables(e: Evidence) -> Array:
    """ARI of all pairs of members, from the tables of clusters × clusters."""
    own = e.by_member(np.square(e.by_member(e.tables)), axis=0)
    n, both = (e.by_member(e.by_member(x, axis=0)) for x in (e.tables, np.square(e.tables)))
    sums = (x.ravel() for x in (n, n, both, own, own.T, np.zeros(n.shape, dtype=bool)))
    return np.asarray(find("ari").values(Pairs.from_squares(*sums))).reshape(n.shape)
