"""Clusters and confidence of all points, by the rule that a method found on a sample."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.judging import (
    CONSTANT,
    HALF,
    MOST_POSTERIOR,
    MOST_SHARE,
    POSTERIOR,
    SHARE,
    common_errors,
    informativeness,
    likeliest,
    log_chances,
)
from congruence.consensus_clustering.methods import Rule
from congruence.consensus_clustering.spectral import directions
from congruence.engine.plan import default_threads
from congruence.ensembles.generators import as_data
from congruence.errors import InputError
from congruence.machine import jit
from congruence.statistics.tables import Array
from congruence.typing import PointsLike

#: points per chunk of a thread
CHUNK = 1 << 16

#: points whose sums are computed before their clusters are chosen
BLOCK = 64

#: most joint codes of members looked up together: of the clusters in the sample, so that a byte holds them; and of all codes
JOINT, MOST_JOINT = 256, 4096


@dataclass(frozen=True, eq=False)
class Placing:
    """Assigns points to clusters, with a confidence, from their codes in each member.

    Rows of the tables are the codes of the members, one member after the other. A code without points in the sample has
    a row of zeros.
    """

    #: first row of each member, and its clusters in the sample
    starts: Array
    clusters: Array
    rule: Rule
    #: log p(code | cluster), scaled to the effective number of independent members; empty: `factor` times the table of the rule
    chances: Array
    factor: float
    prior: Array
    #: share of the points of a code in each cluster, times its weight: by how informative its member is, and plain
    shares: Array
    #: these weights of each code, whether it is a cluster, and whether it has no information; and the sums over all members
    said: Array
    everywhere: Array
    #: how correlated the errors of the members are, from 0 to 1
    g: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.prior)

    @property
    def widths(self) -> Array:
        """Number of codes of each member."""
        return np.diff(self.starts, append=len(self.said))

    @property
    def counts_votes(self) -> bool:
        """Whether the share of the votes for a cluster can matter: members err together, or all can agree on a point."""
        most = self.shares.reshape(len(self.said), -1)[:, 1 : 2 * self.n_clusters : 2].max(axis=1)
        return self.g > 0 or bool((most > (1 - 1e-6) * self.said[:, 1])[self.said[:, 1] > 0].any())

    @cached_property
    def joint(self) -> tuple[list[list[int]], Array, Array, Array, Array, Array]:
        """Groups of members with few codes; the first row of each group, and the tables by their joint codes.

        Every table is added up over members, so that the row of a joint code is the sum of the rows of its codes.
        """
        # by the clusters of the sample, which are the same in memory and in scans; a member without any is a group alone
        groups: list[list[int]] = []
        room, rows = 0, 0
        for member in np.argsort(self.clusters == 0, kind="stable").tolist():
            width, own = int(self.clusters[member]) + 2, int(self.widths[member])
            if groups and self.clusters[member] and width <= room and own * rows <= MOST_JOINT:
                groups[-1].append(member)
                room, rows = room // width, rows * own
            else:
                groups.append([member])
                room, rows = JOINT // width, own

        def added(flat: Array) -> Array:
            each = np.split(flat.reshape(len(self.said), -1), self.starts[1:])
            found = []
            for members in groups:
                whole = each[members[0]]
                for member in members[1:]:
                    whole = (whole[:, None] + each[member][None]).reshape(-1, whole.shape[1])
                found.append(whole)
            return np.concatenate(found)

        many = [int(np.prod(self.widths[members])) for members in groups]
        table, chances, shares = (
            added(x).ravel() if len(x) else x for x in (self.rule.table, self.chances, self.shares)
        )
        return groups, np.cumsum([0, *many])[:-1], table, chances, shares, added(self.said)

    def run(self, codes: Sequence[Array], threads: int | None = None) -> tuple[Array, Array]:
        """Cluster and confidence of each point, from its codes in each member; −1 and NaN for points in none."""
        n = len(codes[0])
        labels, sure = np.empty(n, np.int32), np.empty(n)
        groups, starts, table, chances, shares, said = self.joint
        arguments = (
            starts, table, self.rule.bias, np.zeros(0) if self.rule.centres is None else self.rule.centres, chances,
            self.factor, self.prior, shares, said, said[:, 3] > 0, self.everywhere, self.g, self.counts_votes,
        )  # fmt: skip
        kernel = jit.compiled(_place, float(n) * len(codes), slp=True)
        widths = self.widths.tolist()
        wide = np.uint8 if np.diff(starts, append=len(said)).max() <= JOINT else np.int32  # only two kernels to compile

        def work(first: int) -> None:
            here = slice(first, first + CHUNK)
            stacked = np.empty((len(groups), len(labels[here])), wide)
            for own, members in zip(stacked, groups, strict=True):
                own[:] = codes[members[0]][here]
                for member in members[1:]:
                    own *= widths[member]
                    np.add(own, codes[member][here], out=own, casting="unsafe")
            kernel(stacked, *arguments, labels[here], sure[here])

        many = default_threads(threads)
        if n <= CHUNK or many == 1:
            for first in range(0, n, CHUNK):
                work(first)
        else:
            with ThreadPoolExecutor(many) as pool:
                list(pool.map(work, range(0, n, CHUNK)))
        return labels, sure

    def votes(self, codes: Sequence[Array]) -> Array:
        """Share of the votes of each point for each cluster, points × clusters; NaN for points without votes."""
        plain = self.shares.reshape(len(self.said), -1)[:, 1 : 2 * self.n_clusters : 2]
        votes, said = np.zeros((len(codes[0]), self.n_clusters)), np.zeros(len(codes[0]))
        for start, column in zip(self.starts.tolist(), codes, strict=True):
            row = column.astype(np.int64) + start
            votes += plain[row]
            said += self.said[row, 1]
        return np.asarray(np.divide(votes, said[:, None], out=np.full_like(votes, np.nan), where=said[:, None] > 0))


def placing_of(
    e: Evidence, labels: Array, rule: Rule | None, codes: Sequence[Array], widths: Sequence[int], gaps: Sequence[int]
) -> Placing:
    """The placing of all points, from a clustering of the signatures of a sample and the rule that gave it.

    Clusters are numbered from the largest of the sample; clusters to which the rule assigns no points are dropped.

    Args:
        e: The votes of the sample, every signature of some mass.
        labels: Cluster of each signature.
        rule: The rule of the method; None: the likelihood of the votes, as for refinement.
        codes: For each member of the ensemble, the codes of the points of the sample.
        widths: For each member, the number of its codes.
        gaps: For each member, the code of points without a label.
    """
    columns = e.columns_of(codes, widths)
    is_cluster = [np.zeros(width) for width in widths]
    for member in e.source.tolist():
        is_cluster[member][:] = np.arange(widths[member]) != gaps[member]
    clusters = np.zeros(len(widths), np.int64)
    clusters[e.source] = np.bincount(e.member, minlength=len(e.source))
    likely = rule is None
    if rule is None:
        rule = likeliest(e, labels, int(labels.max()) + 1)
    scores = e.scores(rule.table) if rule.centres is None else directions(e.scores(rule.table)) @ rule.centres.T
    placed = (scores + rule.bias).argmax(axis=1)
    settled = likely and bool((placed == labels).all())  # then the votes count as they do in the confidence
    sizes = np.bincount(placed, weights=e.mass, minlength=len(rule.bias))
    order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    rank = np.empty(len(sizes), np.int64)
    rank[order] = np.arange(len(order))
    placed, sizes, k = rank[placed], sizes[order], len(order)
    weight, totals = informativeness(e, placed, k), e.totals(placed, k)
    overlap, correlation = common_errors(e, placed, k)
    part = (totals / np.where(e.sizes > 0, e.sizes, 1.0)).T
    factor = e.n_members / overlap

    def spread(table: Array) -> Array:
        """The rows of a table by code, zeros for codes that are not in the sample; padded to a multiple of four, and flat."""
        wide = -(-table.shape[1] // 4) * 4
        whole = np.zeros((e.n_columns + 1, wide))
        whole[:-1, : table.shape[1]] = table
        return np.asarray(whole[np.concatenate(columns)].ravel())

    informed, plain = weight[e.member] * (e.sizes > 0), e.weight * (e.sizes > 0)
    said = spread(np.column_stack([informed, plain])).reshape(-1, 4)
    said[:, 2] = np.concatenate(is_cluster)
    said[:, 3] = said[:, 1] == 0
    if rule.centres is None:
        kept = Rule(spread(rule.table[:, order]), rule.bias[order])
    else:
        centres = np.zeros((-(-rule.table.shape[1] // 4) * 4, -(-k // 4) * 4))
        centres[: rule.table.shape[1], :k] = rule.centres[order].T
        kept = Rule(spread(rule.table), rule.bias[order], centres.ravel())
    return Placing(
        np.cumsum([0, *widths])[:-1], clusters, kept,
        np.zeros(0) if settled else spread(log_chances(e, totals) * factor), factor, np.log(sizes / sizes.sum()),
        spread(np.stack([part * informed[:, None], part * plain[:, None]], axis=2).reshape(e.n_columns, 2 * k)),
        said, np.array([weight.sum(), e.share.sum(), 1.0]), correlation / (correlation + HALF),
    )  # fmt: skip


def _place(
    codes: Array, starts: Array, table: Array, bias: Array, centres: Array, chances: Array, factor: float,
    prior: Array, shares: Array, said: Array, lacking: Array, everywhere: Array, g: float, counts_votes: bool,
    labels: Array, sure: Array,
) -> None:  # fmt: skip
    """Cluster and confidence of each point, into `labels` and `sure`; see `Placing.run`.

    Points are placed in blocks. Sums over the members are clusters × points, so that loops over points are vectorised.
    """
    members, n = codes.shape
    k, width, across = len(prior), len(table) // len(said), len(shares) // len(said)
    sums, logits = np.zeros((width, BLOCK)), np.zeros(((k + 3) // 4 * 4, BLOCK))
    rows, lacks = np.zeros((BLOCK, members), np.uint64), np.zeros(BLOCK, np.bool_)
    own, mine, top = np.zeros(BLOCK, np.int64), np.zeros(BLOCK), np.zeros(BLOCK)
    most, surest = MOST_POSTERIOR + np.log(k), 1 / (1 + np.exp(-POSTERIOR * MOST_POSTERIOR))
    for first in range(0, n, BLOCK):
        size = min(BLOCK, n - first)
        _find_rows(codes, starts, lacking, first, size, rows, lacks)
        _add_up(rows, table, size, sums)
        if len(centres):
            _project(sums, centres, size, mine, logits)
            _choose(logits, bias, size, top, own)
        else:
            _choose(sums, bias, size, top, own)
        if len(chances):
            _add_up(rows, chances, size, logits)
        else:
            for cluster in range(k):
                for p in range(size):
                    logits[cluster, p] = factor * sums[cluster, p]
        _weigh(logits, prior, own, size, mine, top)
        for p in range(size):
            share, voted = 0.0, 0.0
            share_said, voted_said, seen = everywhere[0], everywhere[1], everywhere[2]
            if lacks[p]:
                share_said, voted_said, seen = 0.0, 0.0, 0.0
                for member in range(members):
                    share_said += said[rows[p, member], 0]
                    voted_said += said[rows[p, member], 1]
                    seen += said[rows[p, member], 2]
            labels[first + p] = own[p] if seen > 0 else -1
            if voted_said == 0.0:  # in no member, or only in clusters that are not in the sample
                sure[first + p] = np.nan
                continue
            if counts_votes:
                for member in range(members):
                    at = rows[p, member] * np.uint64(across) + np.uint64(2 * own[p])
                    share += shares[at]
                    voted += shares[at + np.uint64(1)]
                if voted > (1 - 1e-9) * voted_said:
                    sure[first + p] = 1.0
                    continue
            posterior = mine[p] - top[p]
            if posterior < most:  # larger values are clipped
                others = 0.0
                for cluster in range(k):
                    if cluster != own[p]:
                        others += np.exp(logits[cluster, p] - top[p])
                posterior -= np.log(others)
            posterior = min(max(posterior, -MOST_POSTERIOR), MOST_POSTERIOR)
            if posterior == MOST_POSTERIOR and g == 0:
                sure[first + p] = surest
                continue
            odds = POSTERIOR * (1 - g) * posterior
            if g > 0:
                share = min(max(share / share_said, 1e-9), 1 - 1e-9) if share_said > 0 else 0.5
                odds += g * (SHARE * min(max(np.log(share / (1 - share)), -MOST_SHARE), MOST_SHARE) + CONSTANT)
            sure[first + p] = 1 / (1 + np.exp(-odds))


@jit.subroutine
def _find_rows(codes: Array, starts: Array, lacking: Array, first: int, size: int, rows: Array, lacks: Array) -> None:
    """The row of each member of some points in the tables, and whether one of them has no information."""
    for p in range(size):
        lack = False
        for member in range(len(codes)):
            row = np.uint64(starts[member]) + np.uint64(codes[member, first + p])
            rows[p, member] = row
            lack |= lacking[row]
        lacks[p] = lack


@jit.subroutine
def _add_up(rows: Array, table: Array, size: int, sums: Array) -> None:
    """Sums of the rows of a table over the members, columns × points; four sums at a time stay in registers."""
    width = np.uint64(len(sums))
    for p in range(size):
        for j in range(0, len(sums), 4):
            a, b, c, d = 0.0, 0.0, 0.0, 0.0
            for member in range(rows.shape[1]):
                at = rows[p, member] * width + np.uint64(j)
                a += table[at]
                b += table[at + np.uint64(1)]
                c += table[at + np.uint64(2)]
                d += table[at + np.uint64(3)]
            sums[j, p], sums[j + 1, p], sums[j + 2, p], sums[j + 3, p] = a, b, c, d


@jit.subroutine
def _project(sums: Array, centres: Array, size: int, lengths: Array, scores: Array) -> None:
    """How similar the direction of the sums of each point is to that of each centre, clusters × points."""
    for p in range(size):
        lengths[p] = 0.0
    for j in range(len(sums)):
        for p in range(size):
            lengths[p] += sums[j, p] * sums[j, p]
    for p in range(size):
        lengths[p] = 1.0 / np.sqrt(lengths[p]) if lengths[p] > 0 else 0.0
    for cluster in range(len(scores)):
        for p in range(size):
            scores[cluster, p] = 0.0
        for j in range(0, len(sums), 4):
            at, wide = j * len(scores) + cluster, len(scores)
            a, b, c, d = centres[at], centres[at + wide], centres[at + 2 * wide], centres[at + 3 * wide]
            for p in range(size):
                score = scores[cluster, p] + sums[j, p] * a
                score += sums[j + 1, p] * b
                score += sums[j + 2, p] * c
                scores[cluster, p] = score + sums[j + 3, p] * d
        for p in range(size):
            scores[cluster, p] *= lengths[p]


@jit.subroutine
def _choose(scores: Array, bias: Array, size: int, best: Array, own: Array) -> None:
    """The cluster with the highest score of each point; `best` is overwritten."""
    for p in range(size):
        best[p], own[p] = -np.inf, 0
    for cluster in range(len(bias)):
        for p in range(size):
            score = scores[cluster, p] + bias[cluster]
            more = score > best[p]
            best[p] = score if more else best[p]
            own[p] = cluster if more else own[p]


@jit.subroutine
def _weigh(logits: Array, prior: Array, own: Array, size: int, mine: Array, top: Array) -> None:
    """Posterior log odds, up to a constant, of the cluster of each point, and of its best other cluster."""
    for p in range(size):
        top[p] = -np.inf
    for cluster in range(len(prior)):
        for p in range(size):
            logit = logits[cluster, p] + prior[cluster]
            logits[cluster, p] = logit
            is_own = own[p] == cluster
            mine[p] = logit if is_own else mine[p]
            other = -np.inf if is_own else logit
            top[p] = other if other > top[p] else top[p]


def of_nearest(labels: Array, X: PointsLike, n: int) -> Array:
    """Points without a cluster get that of the nearest point of the data that has one."""
    data = as_data(X)
    if data.shape[0] != n:
        raise InputError(f"X has {data.shape[0]} rows and the ensemble {n} points")
    from sklearn.neighbors import NearestNeighbors

    known = np.flatnonzero(labels >= 0)
    near = NearestNeighbors(n_neighbors=1).fit(data[known])
    lost = np.flatnonzero(labels < 0)
    labels = labels.copy()
    labels[lost] = labels[known[near.kneighbors(data[lost], return_distance=False)[:, 0]]]
    return labels
