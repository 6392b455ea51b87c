"""Methods that alternate: signatures go to the clusters that fit their votes best, and what fits a cluster is computed anew."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.optimize import linear_sum_assignment

from congruence.consensus_clustering.evidence import Evidence, medoid
from congruence.consensus_clustering.methods import Found, Method, Rule, filled, unsettled, won_nothing
from congruence.formulas.record import Better
from congruence.statistics.tables import Array

#: signatures on which starts are tried; the best start continues with all of them
STARTS_ON = 4_000
#: smallest number of signatures per cluster for random starts; with fewer, only the most central member is a start
FEW = 20
CENTRAL = ", started from the most central member"
#: most steps, also of EM; of plurality voting; and smallest relative gain of a step of EM
STEPS, ROUNDS, TOLERANCE = 300, 100, 1e-7
#: added to the share of each vote in each consensus cluster, so that a vote not seen there is unlikely but not impossible
SMOOTHING = 1e-6
#: distinct points on which voting looks for the most central member
VOTING_SAMPLE = 20_000
#: cost of each cluster of the members (rows) in each consensus cluster (columns), from the contingency tables
Cost = Callable[[Evidence, Array], Array]


def lloyd(
    e: Evidence, k: int, rng: np.random.Generator, cost: Cost, n_init: int
) -> tuple[Array, float, str, tuple[str, ...]]:
    """Labels with the lowest total cost found, that cost, the start unless it was random, and notes.

    Starts are random, plus the most central member; above 200 clusters only that member is used, if it has k clusters.
    """
    few = e
    some = max(STARTS_ON, FEW * k)
    if e.n_rows > some:
        few = e.taken(e.drawn(some, rng))
    central = medoid(e, k, few)
    alone = central is not None and FEW * k > STARTS_ON
    if central is None and (other := medoid(e, None, few)) is not None:
        central = _with_k(e, other, k, cost)
    from_member = None if central is None else _descend(e, central, k, cost)
    if from_member is not None and alone:
        return *from_member[:2], CENTRAL, unsettled(from_member[2], STEPS)
    best: tuple[float, Array] | None = None
    for _ in range(n_init):
        labels, total, _ = _descend(few, spread(few, k, rng), k, cost)
        if best is None or total < best[0] - 1e-9 * abs(best[0]):
            best = total, labels
    assert best is not None
    start = best[1] if few is e else e.scores(cost(few, few.totals(best[1], k))).argmin(axis=1)
    labels, total, settled = _descend(e, start, k, cost)
    if from_member is not None and from_member[1] < total - 1e-9 * abs(total):
        return *from_member[:2], CENTRAL, unsettled(from_member[2], STEPS)
    return labels, total, "", unsettled(settled, STEPS)


def cheapest(cost: Array) -> Rule:
    """The rule that assigns a point to the cluster where its votes cost least."""
    return Rule(-cost, np.zeros(cost.shape[1]))


def _with_k(e: Evidence, labels: Array, k: int, cost: Cost) -> Array:
    """The k largest clusters of a member; points of the others go where they cost least. Missing clusters stay empty."""
    size = np.bincount(labels, weights=e.mass)
    rank = np.empty(len(size), np.int64)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    labels = rank[labels]
    inside = np.flatnonzero(labels < k)
    if len(inside) < e.n_rows:
        part = e.taken(inside)
        nearest = e.scores(cost(part, part.totals(labels[inside], k))).argmin(axis=1)
        labels = np.where(labels < k, labels, nearest)
    return labels


def _descend(e: Evidence, labels: Array, k: int, cost: Cost) -> tuple[Array, float, bool]:
    total = np.inf
    rows = np.arange(e.n_rows)
    for _ in range(STEPS):
        costs = e.scores(cost(e, e.totals(labels, k)))
        nearest = costs.argmin(axis=1)
        own = costs[rows, nearest]
        filled(nearest, own, e.mass, k)
        new_total = float((own * e.mass).sum())
        if (nearest == labels).all() or new_total > total - 1e-12 * abs(total):
            return nearest, min(new_total, total), True
        labels, total = nearest, new_total
    return labels, total, False


def spread(e: Evidence, k: int, rng: np.random.Generator) -> Array:
    """A k-means++ start: each next centre is drawn with probability proportional to its distance from the previous ones."""
    weight = e.mass.astype(float)
    nearest, labels = np.full(e.n_rows, np.inf), np.zeros(e.n_rows, dtype=np.int64)
    for cluster in range(k):
        chances = weight * (nearest if cluster else 1.0)
        total = chances.sum()
        if total <= 0:
            break
        chosen = int(rng.choice(e.n_rows, p=chances / total))
        distance = np.maximum(1 - e.agreement(chosen), 0.0)
        distance[distance < 1e-12] = 0.0
        closer = distance < nearest
        labels[closer] = cluster
        nearest = np.minimum(nearest, distance)
    return labels


# --- k-means and k-modes ------------------------------------------------------------------------------------------------


def squared_error(e: Evidence, totals: Array) -> Array:
    """Squared distance of a vote to each centre, up to a constant: a_l (1 − 2 c_u + Σ_v c_v²).

    The centre of a cluster in member l is the mean over its points that l labels, or the mean of all points if there are none.
    """
    per_member = _by_member(e, totals)
    everywhere = _by_member(e, e.sizes[None, :])
    mean = np.where(
        per_member > 0, totals / np.where(per_member > 0, per_member, 1.0), e.sizes / np.maximum(everywhere, 1e-300)
    )
    squares = _by_member(e, mean**2)
    return np.asarray((e.weight * (1 - 2 * mean + squares)).T)


def _by_member(e: Evidence, values: Array) -> Array:
    """For each column the sum of the values over the clusters of its member."""
    return np.asarray(e.by_member(values)[:, e.member])


def _kcc(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    labels, total, start, notes = lloyd(e, k, rng, squared_error, n_init)
    if e.is_soft:  # |h|² is not 1; it is the same for every centre
        weights = e.weight
        total += float((e.mass * ((e.votes.power(2) @ weights) - e.seen_share)).sum())
    return Found(labels, total, f"k-means on the votes{start}", notes, cheapest(squared_error(e, e.totals(labels, k))))


kcc = Method(
    key="kcc", title="K-means-based consensus clustering", objective="squared error", better=Better.LOWER,
    reference="wu2015", run=_kcc, restarts=("",), advice="fast; as good as ncut on mixed algorithms; weak on runs of k-means",
)  # fmt: skip


def disagreement(e: Evidence, totals: Array) -> Array:
    """a_l if a vote is not the mode of the cluster in member l, else 0."""
    cost = np.tile(e.weight, (len(totals), 1))
    for first, last in pairwise(e.ends.tolist()):
        mode = first + totals[:, first:last].argmax(axis=1)
        some = np.flatnonzero(totals[np.arange(len(totals)), mode] > 0)  # without points there is no mode
        cost[some, mode[some]] = 0.0
    return np.asarray(cost.T)


def _kmodes(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    labels, total, start, notes = lloyd(e, k, rng, disagreement, n_init)
    notes += ("memberships were used as shares of votes; the modes are labels",) if e.is_soft else ()
    return Found(labels, total, f"alternating modes{start}", notes, cheapest(disagreement(e, e.totals(labels, k))))


kmodes = Method(
    key="kmodes", title="k-modes", objective="labels that differ from the mode, mean over members", better=Better.LOWER,
    reference="huang1998", run=_kmodes, restarts=("",), advice="similar to kcc, slightly worse; never the best on average",
)  # fmt: skip


# --- k-means on the rows of the consensus matrix, which is never built ------------------------------------------------


def _kmeans_matrix(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    # rows i and j of C = H W Hᵀ differ by (h_i − h_j) W Hᵀ; with M the masses of the columns, their squared distance is that
    # of h_i R and h_j R for any R with R Rᵀ = W Hᵀ M H W, which has clusters × clusters entries
    root = _root(e.weight[:, None] * e.tables * e.weight[None, :])
    points = e.scores(root)
    with threadpool_limits(1):
        model = KMeans(k, n_init=n_init, random_state=int(rng.integers(2**31 - 1))).fit(points, sample_weight=e.mass)
    labels, centres = model.labels_.astype(np.int64), model.cluster_centers_
    empty = filled(labels, np.square(points - centres[labels]).sum(axis=1), e.mass, k)
    rule = None if empty else Rule(2 * root @ centres.T, -np.square(centres).sum(axis=1))
    solver = "k-means on the rows of the consensus matrix"
    return Found(labels, float(model.inertia_), solver, won_nothing(empty), rule)


def _root(matrix: Array) -> Array:
    """R with R Rᵀ equal to a positive semidefinite matrix."""
    values, vectors = np.linalg.eigh(matrix)
    some = values > 1e-12 * values[-1]
    return np.asarray(vectors[:, some] * np.sqrt(values[some]))


kmeans_matrix = Method(
    key="kmeans_matrix", title="K-means on the rows of the consensus matrix", objective="squared error", better=Better.LOWER,
    reference="kuncheva2006", run=_kmeans_matrix, cluster_limit=3_000, restarts=("",),
    advice="groups points that agree with the same other points",
)  # fmt: skip


# --- a mixture of multinomials: within a cluster the members vote independently ---------------------------------------


def _em(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    central = medoid(e, k)
    starts = [spread(e, k, rng) for _ in range(n_init)] + ([] if central is None else [central])
    best = max((_fitted(e, labels, k) for labels in starts), key=lambda fit: fit[0])
    likelihood, table, bias, settled = best
    support = e.scores(table) + bias
    labels = support.argmax(axis=1)
    empty = filled(labels, -support.max(axis=1), e.mass, k)
    notes = won_nothing(empty) + unsettled(settled, STEPS)
    return Found(labels, likelihood, "EM of a mixture of votes", notes, None if empty else Rule(table, bias))


def _fitted(e: Evidence, labels: Array, k: int) -> tuple[float, Array, Array, bool]:
    """Log-likelihood per unit of mass, log of the votes of each cluster × weight, log of the shares, whether it converged."""
    share = np.eye(k)[labels]
    weight = e.weight * e.n_members
    total, before = float(e.mass.sum()), -np.inf
    for _ in range(STEPS):
        mass = e.mass[:, None] * share
        counts = np.asarray(e.votes.T @ mass) + SMOOTHING * total
        table = weight[:, None] * np.log(counts / e.by_member(counts, axis=0)[e.member])
        bias = np.log((mass.sum(axis=0) + SMOOTHING * total) / (total * (1 + k * SMOOTHING)))
        logs = e.scores(table) + bias
        top = logs.max(axis=1, keepdims=True)
        raised = np.exp(logs - top)
        share = raised / raised.sum(axis=1, keepdims=True)
        likelihood = float(e.mass @ (top[:, 0] + np.log(raised.sum(axis=1)))) / total
        if likelihood - before < TOLERANCE * max(1.0, abs(likelihood)):
            return likelihood, table, bias, True
        before = likelihood
    return likelihood, table, bias, False


em = Method(
    key="em", title="Mixture of multinomials (EM)", objective="log-likelihood per point", better=Better.HIGHER,
    reference="topchy2005", run=_em, restarts=("",), advice="members that err independently of each other",
)  # fmt: skip


# --- plurality voting: members' clusters are matched with those of the consensus, and vote ----------------------------


def _voting(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: object) -> Found:
    few = e
    if e.n_rows > VOTING_SAMPLE:
        few = e.taken(e.drawn(VOTING_SAMPLE, rng))
    labels, start = medoid(e, k, few), "the most central member"
    if labels is None:
        labels, start = kcc(e, k, rng, n_init=n_init).labels, f"kcc, because no complete member has {k} clusters"
    before: list[bytes] = []
    for _step in range(ROUNDS):
        table = matched(e, labels, k)
        support = e.scores(table)
        voted = support.argmax(axis=1)
        before.append(labels.tobytes())
        if voted.tobytes() in before:  # converged, or in a cycle
            break
        labels = voted
    settled = voted.tobytes() == before[-1]
    empty = filled(voted, e.seen_share - support.max(axis=1), e.mass, k)
    agreed = float((support[np.arange(e.n_rows), voted] * e.mass).sum() / (e.seen_share * e.mass).sum())
    notes = won_nothing(empty)
    if not settled:
        notes = ("voting did not converge; the last round was used", *notes)
    rule = None if empty else Rule(table, np.zeros(k))
    return Found(voted, agreed, f"matching and voting, started from {start}", notes, rule)


def matched(e: Evidence, labels: Array, k: int) -> Array:
    """Votes of each cluster: a_l for the consensus cluster it is matched with, 0 for the others.

    One to one if possible; remaining clusters go to the one they overlap most.
    """
    totals = e.totals(labels, k)
    votes = np.zeros((e.n_columns, k))
    for (first, last), share in zip(pairwise(e.ends.tolist()), e.share.tolist(), strict=True):
        table = totals[:, first:last]
        to = table.argmax(axis=0)
        rows, cols = linear_sum_assignment(table, maximize=True)
        to[cols] = np.where(table[rows, cols] > 0, rows, to[cols])
        votes[np.arange(first, last), to] = share
    return votes


voting = Method(
    key="voting", title="Iterated plurality voting", objective="share of the votes for the winner", better=Better.HIGHER,
    reference="dimitriadou2002", run=_voting, restarts=("",),
    advice="best with sound members and very unequal sizes, or hundreds of clusters; collapses with poor members",
)  # fmt: skip
