"""How well a clustering fits the votes of an ensemble: scores, confidence of points, notes on members, hard EM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy

import numpy as np

from congruence.comparison.many import compare_to
from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.methods import Rule
from congruence.engine import matrices
from congruence.errors import counted
from congruence.formulas import find
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels
from congruence.statistics.information import Info
from congruence.statistics.matrices import MemberInfo, PooledInfo
from congruence.statistics.pairs import TRIVIAL, near_trivial
from congruence.statistics.tables import Array, xlogx
from congruence.typing import Record


def pooled_ami(e: Evidence, labels: Array) -> float:
    """Pooled AMI with the members, each on the points it labels; −∞ for a single cluster, which has no information."""
    totals = e.totals(labels, int(labels.max()) + 1) * e.points_per_mass
    inside, sizes = e.by_member(totals), totals.sum(axis=0)
    if (inside > 0).sum(axis=0).max() < 2:
        return -np.inf
    never = np.zeros(e.n_members, dtype=bool)
    info = Info.from_sums(
        inside.sum(axis=0), xlogx(inside).sum(axis=0), e.by_member(xlogx(sizes)), e.by_member(xlogx(totals).sum(axis=0)),
        never, never, never,
    )  # fmt: skip
    counts = (inside > 0).sum(axis=0), e.by_member((sizes > 0).astype(np.int64))
    return float(find("pooled_ami").values(PooledInfo(info, e.share, *counts))[0])


def agreement(e: Ensemble, labels: Array, **missing: str) -> dict[str, float]:
    """arimp of a clustering with the consensus matrix of the members, and anmi with the members themselves."""
    one = _alone(e, labels)
    if e.has_gaps or e.has_covers:
        anmi = mean_agreement(e, labels, ["nmi_sqrt"])["nmi_sqrt"]
    else:
        anmi = float(find("anmi").values(matrices.member_info(e, one, MemberInfo))[0])
    return {"arimp": _arimp(e, one, missing), "anmi": anmi}


def _alone(e: Ensemble, labels: Array) -> Ensemble:
    """The ensemble of this one clustering of the same points."""
    one = copy(e)
    one.members, one.names, one.member_weight = (Labels(labels),), ("consensus",), None
    return one


def _arimp(e: Ensemble, one: Ensemble, missing: dict[str, str]) -> float:
    arimp = find("arimp", **missing)
    return float(arimp.values(matrices.sums_of(e, one, within=False, missing=arimp.parameters["missing"]))[0])


def mean_agreement(e: Ensemble, labels: Array, measures: Sequence[str]) -> dict[str, float]:
    """The mean of each measure with the members, each on its points; members without points are ignored."""
    values = {key: np.full(len(e), np.nan) for key in measures}
    for gaps in (False, True):
        those = [i for i, c in enumerate(e.members) if bool(c.gaps) is gaps and e.shares[i] > 0]
        if those and measures:
            found = compare_to(labels, e[those], list(measures), unassigned="drop" if gaps else "error")
            for key, value in values.items():
                value[those] = found[key]
    known = {key: ~np.isnan(value) for key, value in values.items()}
    return {
        key: float(np.average(value[known[key]], weights=e.shares[known[key]])) if known[key].any() else float("nan")
        for key, value in values.items()
    }


def resampled_arimp(e: Ensemble, labels: Array, draws: Array, **missing: str) -> Array:
    """The arimp of a clustering with resamples of the members; a draw says how often each member occurs in it."""
    one, found = _alone(e, labels), []
    for times in draws:
        resample = copy(e)
        resample.member_weight = times * e.shares / (times @ e.shares)
        found.append(_arimp(resample, one, missing))
    return np.array(found)


def rows_of_scores(
    e: Ensemble,
    row: Array,
    tried: list[tuple[Record, Array]],
    measures: Sequence[str] = (),
    draws: Callable[[int], Array] | None = None,
) -> tuple[Record, ...]:
    """The rows of the clusterings tried, with their agreement with the members."""
    found = []
    for scores, labels in tried:
        everyone = np.where(row >= 0, labels[row], -1)
        mine = scores | agreement(e, everyone, **counting_of_gaps(e)) | mean_agreement(e, everyone, measures)
        if draws is not None:
            spread = resampled_arimp(e, everyone, draws(len(e)), **counting_of_gaps(e))
            mine |= {"arimp_low": float(np.quantile(spread, 0.025)), "arimp_high": float(np.quantile(spread, 0.975))}
        found.append(mine)
    return tuple(found)


def counting_of_gaps(e: Ensemble) -> dict[str, str]:
    """How arimp counts gaps: like the consensus methods, each member on its points, if that is defined."""
    if not e.has_gaps:
        return {}
    weighted = e.mass is not None and not e.mass.is_frequency
    return {"missing": "ratio" if e.is_soft or weighted else "pooled"}


#: log odds of being right = POSTERIOR · (1 − g) · log odds of the posterior + g · (CONSTANT + SHARE · log odds of the share
#: of votes), where g = ρ ÷ (ρ + HALF) and ρ is the correlation of the members' errors: 0 if they err independently, 1 if all
#: err alike; fitted by `python -m reproductions.consensus_confidence --fit` on the DEV half of its planted ensembles
POSTERIOR, SHARE, CONSTANT, HALF = 0.55, 1.05, -1.28, 0.05

#: log odds beyond these occur for too few points to be calibrated
MOST_POSTERIOR, MOST_SHARE = 8.0, 3.9


def shares(e: Evidence, labels: Array, k: int) -> Array:
    """For each signature and consensus cluster, the mean share of its member clusters that lies in the consensus cluster."""
    return _shares(e, e.totals(labels, k), e.weight)


def _shares(e: Evidence, totals: Array, weight: Array) -> Array:
    weight = weight * (e.sizes > 0)
    towards = totals / np.where(e.sizes > 0, e.sizes, 1.0) * weight
    said = e.scores(weight)[:, None]  # 0 for a point of weight 0 that is alone in its cluster
    k = len(totals)
    return np.asarray(np.divide(e.scores(towards.T), said, out=np.full((e.n_rows, k), np.nan), where=said > 0))


def confidence(e: Evidence, labels: Array, k: int, votes: Array) -> Array:
    """Probability that each signature is in the right cluster; 1 if all members agree, NaN without votes.

    Args:
        e: The votes.
        labels: Cluster of each signature, 0 to k − 1.
        k: Number of clusters.
        votes: The result of `shares` for them.
    """
    return calibrated(features(e, labels, k), votes[np.arange(e.n_rows), labels])


def calibrated(features: Array, share: Array) -> Array:
    """Probabilities from the results of `features` and the share of votes: 1 if the share is 1, NaN without votes."""
    odds = features @ np.array([POSTERIOR, SHARE, CONSTANT])
    return np.where(share > 1 - 1e-9, 1.0, np.where(np.isnan(share), np.nan, 1 / (1 + np.exp(-odds))))


def features(e: Evidence, labels: Array, k: int) -> Array:
    """For each signature (1 − g) · log odds of the posterior, g · log odds of the share of votes, and g.

    The posterior is that of naive Bayes with the effective number of independent members. Votes are weighted by how informative
    their member is, so useless members do not matter.
    """
    rows = np.arange(e.n_rows)
    weight, totals = informativeness(e, labels, k), e.totals(labels, k)
    overlap, correlation = common_errors(e, labels, k)
    g = correlation / (correlation + HALF)
    size = np.bincount(labels, weights=e.mass, minlength=k)
    logits = e.scores(log_chances(e, totals)) * (e.n_members / overlap) + np.log(np.maximum(size, 1e-300) / size.sum())
    own = logits[rows, labels]
    logits[rows, labels] = -np.inf
    best = np.maximum(logits.max(axis=1), -1e300)  # with one cluster there is no alternative
    others = best + np.log(np.exp(logits - best[:, None]).sum(axis=1) + 1e-300)
    posterior = np.clip(own - others, -MOST_POSTERIOR, MOST_POSTERIOR)
    share = np.clip(_shares(e, totals, weight[e.member])[rows, labels], 1e-9, 1 - 1e-9)
    share = np.clip(np.log(share / (1 - share)), -MOST_SHARE, MOST_SHARE)
    return np.column_stack([posterior * (1 - g), share * g, np.full(e.n_rows, g)])


def informativeness(e: Evidence, labels: Array, k: int) -> Array:
    """Weight of each member times its mutual information with the labels minus the expected value, scaled to sum to 1."""
    totals, sizes = e.totals(labels, k) * e.points_per_mass, e.sizes * e.points_per_mass
    inside = e.by_member(totals)
    n = np.maximum(inside.sum(axis=0), 1e-300)
    sums = xlogx(inside).sum(axis=0), e.by_member(xlogx(sizes)), e.by_member(xlogx(totals).sum(axis=0))
    entropy, own, both = (np.log(n) - each / n for each in sums)
    chance = (k - 1) * (e.by_member((sizes > 0).astype(np.int64)) - 1) / (2 * n)
    told = np.clip((entropy + own - both - chance) / np.maximum(entropy, 1e-300), 1e-9, 1.0)
    return np.asarray(e.share * told / (e.share * told).sum())


def common_errors(e: Evidence, labels: Array, k: int) -> tuple[float, float]:
    """The number of members equivalent to one independent member, and the correlation ρ of their errors, 0 to 1.

    The first is the variance, within consensus clusters, of the information in the votes of a point, summed over members,
    divided by its value for independent members. With m informative members it is 1 + (m − 1) ρ.
    """
    weight = informativeness(e, labels, k)
    logs = log_chances(e, e.totals(labels, k)) / np.where(e.weight > 0, e.weight, 1.0)[:, None]
    everywhere = e.by_member(e.sizes)[e.member]
    some = e.sizes > 0
    logs -= np.log(np.where(some, e.sizes, 1.0) / np.where(some, everywhere, 1.0))[:, None]
    plain = np.vstack([logs, np.zeros((1, k))])  # the last: a gap
    together, alone = np.zeros(e.n_rows), 0.0
    mass = np.maximum(np.bincount(labels, weights=e.mass, minlength=k), 1e-300)
    for share, column in zip(weight.tolist(), e.column.T, strict=True):
        told = plain[column, labels]
        told = share * (told - (np.bincount(labels, weights=e.mass * told, minlength=k) / mass)[labels])
        together += told
        alone += float(e.mass @ told**2)
    members = max(1.0, 1 / float(np.square(weight).sum()))
    overlap = float(np.clip(e.mass @ together**2 / alone, 1.0, members)) if alone > 0 else members
    return overlap, float((overlap - 1) / (members - 1)) if members > 1 + 1e-9 else 1.0


#: most members named in a note; the others are counted
NAMED = 3


def near_trivial_members(e: Ensemble) -> tuple[list[int], list[str]]:
    """The members that do not count, because they are nearly one cluster or all singletons; and notes on them.

    They count if there are no others, or if only they label some of the points.
    """
    if e.has_covers:
        return [], []
    mass = np.ones(e.n_points) if e.mass is None else e.mass.values.astype(np.float64)
    scale = np.count_nonzero(mass) / mass.sum() if mass.any() and not (e.mass and e.mass.is_frequency) else 1.0
    kinds = [
        near_trivial(scale * (mass @ c.dense() if c.soft else np.bincount(c.codes, mass, c.k + 1)[: c.k]))
        for c in e.members
    ]
    some = [i for i, kind in enumerate(kinds) if not kind]
    left = [i for i, kind in enumerate(kinds) if kind]
    gone = bool(some and left and np.array_equal(_labelled(e, range(len(e))), _labelled(e, some)))
    notes = []
    named = {
        "lump": f"with more than {TRIVIAL:.0%} of the points in one cluster",
        "dust": "with nearly every point alone",
    }
    for kind, text in named.items():
        if own := [e.names[i] for i in left if kinds[i] == kind]:
            notes.append(
                f"near-trivial: {_listed(own)} {text}; {'not counted' if gone else 'select or weight members'}"
            )
    return left if gone else [], notes


def _labelled(e: Ensemble, those: Sequence[int]) -> Array:
    """Which points some of these members label."""
    found = np.zeros(e.n_points, bool)
    for i in those:
        if not e.members[i].gaps:
            return np.ones(e.n_points, bool)
        found |= e.members[i].codes < e.members[i].k
    return found


def without_cluster(many: int) -> list[str]:
    """The note on points without a cluster, if there are any."""
    return [f"in no member, and so without a cluster (label −1): {counted(many, 'point')}"] if many else []


def said_of_members(e: Evidence, names: Sequence[str]) -> list[str]:
    """Notes on members that are duplicates."""
    same = duplicates(e)
    if not same:
        return []
    again = np.sort(e.source[np.concatenate([group[1:] for group in same])])
    return [f"the same clustering as another member: {_listed([names[i] for i in again])}; each counts separately"]


def duplicates(e: Evidence) -> list[Array]:
    """Groups of members that are the same clustering."""
    if e.is_soft:
        return []
    alike: dict[bytes, list[list[int]]] = {}
    for i in range(e.n_members):
        sizes = np.sort(np.round(e.sizes[e.ends[i] : e.ends[i + 1]], 9))
        groups = alike.setdefault(sizes.tobytes(), [])
        for group in groups:
            if _same(e.column[:, group[0]], e.column[:, i], e.n_columns + 1):
                group.append(i)
                break
        else:
            groups.append([i])
    return [np.array(group) for groups in alike.values() for group in groups if len(group) > 1]


def _same(a: Array, b: Array, most: int) -> bool:
    """Whether the two have the same clusters: each cluster of a lies in one of b, and both have as many."""
    to = np.full(most, -1)
    to[a] = b
    return bool((to[a] == b).all()) and len(np.unique(to[to >= 0])) == int((to >= 0).sum())


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return f"{counted(len(names), 'member')} ({', '.join(names[:NAMED])}{f' and {rest:,} more' if rest > 0 else ''})"


def completed(votes: Evidence, labels: Array) -> Array:
    """Signatures that a method could not place go to the cluster with most of their votes."""
    lost = labels < 0
    if not lost.any():
        return labels
    if lost.all():
        return np.zeros(len(labels), np.int64)
    placed = votes.taken(np.flatnonzero(~lost))
    k = int(labels.max()) + 1
    totals = placed.totals(labels[~lost], k)
    support = votes.taken(np.flatnonzero(lost)).scores((totals / np.maximum(votes.sizes, 1e-300)).T)
    labels = labels.copy()
    labels[lost] = support.argmax(axis=1)
    return labels


def by_size(votes: Evidence, labels: Array) -> Array:
    """Clusters numbered from the largest; equal sizes by their first point."""
    names, codes = np.unique(labels, return_inverse=True)
    mass = np.bincount(codes.ravel(), weights=votes.mass, minlength=len(names))
    here = np.flatnonzero(votes.row >= 0)[::-1]
    first = np.empty(len(names), np.int64)
    first[codes.ravel()[votes.row[here]]] = here  # the last assignment wins: the first point
    rank = np.empty(len(names), np.int64)
    rank[np.lexsort((first, -np.round(mass, 9)))] = np.arange(len(names))
    return np.asarray(rank[codes.ravel()])


# --- hard EM on the votes: each distinct point goes to its most probable cluster, until no point moves ---------------

#: most rounds
STEPS = 50


def refined(e: Evidence, labels: Array) -> Array:
    """Labels after classification EM of Topchy's mixture (2004), started at the given labels; no cluster is lost."""
    k = int(labels.max()) + 1
    for _ in range(STEPS):
        rule = likeliest(e, labels, k)
        better = (e.scores(rule.table) + rule.bias).argmax(axis=1)
        if (better == labels).all() or len(np.unique(better)) < k:
            break
        labels = better
    return labels


def is_settled(e: Evidence, labels: Array) -> bool:
    """Whether hard EM would move nothing, so that the likelihood of the votes gives these labels."""
    rule = likeliest(e, labels, int(labels.max()) + 1)
    return bool(((e.scores(rule.table) + rule.bias).argmax(axis=1) == labels).all())


def likeliest(e: Evidence, labels: Array, k: int) -> Rule:
    """The rule that puts a point into the cluster that its votes make most probable, given the clusters of others.

    The size of a cluster counts like the vote of an additional member. Without it, large clusters of noisy members lose points
    to small ones.
    """
    size = np.bincount(labels, weights=e.mass, minlength=k)
    return Rule(log_chances(e, e.totals(labels, k)), np.log(np.maximum(size, 1e-300)) / e.n_members)


def log_chances(e: Evidence, totals: Array) -> Array:
    """a_l · log p(cluster u of member l | consensus cluster c), clusters × k, from the tables of both.

    One pseudo-point is added to each consensus cluster, distributed over the member's clusters like all its points.
    """
    totals, sizes = totals * e.points_per_mass, e.sizes * e.points_per_mass
    inside = e.by_member(totals)[:, e.member]
    everywhere = e.by_member(sizes)[e.member]
    chance = (totals + sizes / np.where(everywhere > 0, everywhere, 1.0)) / (inside + 1)
    return np.asarray(
        (e.weight * np.log(np.where(chance > 0, chance, 1.0))).T
    )  # clusters of weight 0 have no information
