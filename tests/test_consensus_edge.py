"""Consensus of every kind of ensemble: weights, frequencies, order and names, and values by brute force."""

import numpy as np
import pytest
from consensus_cases import ALL, BASE, N, gappy, memberships, noisy
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import congruence as cg
from congruence.consensus_clustering import judging as constants
from congruence.consensus_clustering.evidence import evidence
from congruence.consensus_clustering.local_weights import certainties


def ensemble(kind, seed=0, **options):
    rng = np.random.default_rng(seed)
    make = {"hard": noisy, "partial": gappy, "soft": memberships}
    given = [
        make[kind if kind != "mixed" else ("soft", "partial")[i % 2]](rng) for i in range(6)
    ]  # fmt: skip
    return cg.Ensemble(given, unassigned="partial", **options)


def no_weight(n=N, first=8):
    return np.where(np.arange(n) < first, 0, 1)


WEIGHTS = {
    "none": {},
    "member": {"member_weight": [1, 0, 2, 3, 0.5, 1]},
    "sample": {"sample_weight": np.linspace(0.1, 2, N)},
    "sample with zeros": {"sample_weight": no_weight()},
    "frequency with zeros": {"frequency": 3 * no_weight()},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "weights"),
    [*((kind, weights) for kind in ("hard", "mixed") for weights in WEIGHTS), ("partial", "none"), ("soft", "none")],
)
def test_every_method_on_every_kind(kind, weights):
    """Labels for all points, the largest cluster first, defined scores, shares of votes that add up to 1."""
    e = ensemble(kind, **WEIGHTS[weights])
    mass = np.ones(N) if e.mass is None else e.mass.values
    for method in ALL:
        r = cg.consensus(e, 3, method, 0)
        assert set(r.labels) == set(range(r.n_clusters))
        assert (np.diff(np.bincount(r.labels, mass)) <= 1e-9).all()
        assert np.isfinite([r["arimp"], r["anmi"], r["value"]]).all()
        assert r.memberships.sum(axis=1) == pytest.approx(np.ones(N))


@pytest.mark.parametrize("method", ALL)
def test_points_that_weigh_nothing_change_nothing(method):
    """Without them the others get the same clusters; they themselves go where their votes go."""
    rng = np.random.default_rng(3)
    labels = np.array([noisy(rng) for _ in range(6)])
    weight = np.where(np.arange(N) % 4 == 0, 0.0, 1.0)
    with_all = cg.consensus(cg.Ensemble(labels.T, sample_weight=weight), 3, method, 0)
    without = cg.consensus(cg.Ensemble(labels[:, weight > 0].T), 3, method, 0)
    assert cg.ari(with_all.labels[weight > 0], without.labels) == 1
    assert with_all["value"] == pytest.approx(without["value"])
    assert with_all.labels.min() == 0


@pytest.mark.parametrize("method", ALL)
def test_clusters_without_weight(method):
    """A cluster of points that weigh nothing, in every member; and a membership column of zeros."""
    r = cg.consensus(cg.Ensemble([BASE] * 3, sample_weight=no_weight()), 2, method, 0)
    assert r.n_clusters == 2
    assert cg.ari(r.labels[8:], BASE[8:]) == 1
    u = memberships(np.random.default_rng(0), 2)
    empty = cg.consensus([np.column_stack([u, np.zeros(N)])] * 2, 2, method, 0)
    assert np.array_equal(empty.labels, cg.consensus([u] * 2, 2, method, 0).labels)


@pytest.mark.parametrize("method", ALL)
def test_frequency_is_repetition(method):
    """A point counted three times is three points, in labels, confidence and scores."""
    rng = np.random.default_rng(5)
    times = rng.integers(1, 4, N)
    for make in (noisy, gappy):
        members = [make(rng) for _ in range(5)]
        weights = {"member_weight": [1, 2, 3, 4, 5], "unassigned": "partial"}
        counted = cg.consensus(cg.Ensemble(members, frequency=times, **weights), 3, method, 1)
        repeated = cg.consensus(cg.Ensemble([np.repeat(m, times) for m in members], **weights), 3, method, 1)
        assert np.array_equal(np.repeat(counted.labels, times), repeated.labels)
        assert np.repeat(counted.confidence, times) == pytest.approx(repeated.confidence)
        for score in ("arimp", "anmi", "value"):
            assert counted[score] == pytest.approx(repeated[score], rel=1e-9)


@pytest.mark.parametrize("kind", ["hard", "partial", "soft", "mixed"])
def test_the_votes_do_not_depend_on_order_to_the_last_bit(kind):
    """Sums over points, members and clusters do not depend on the order, so ties stay ties."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        e = ensemble(kind, seed)
        given = [c.dense() if c.soft else np.where(c.codes < c.k, c.codes, np.nan) for c in e.members]
        weight, mass, points, order = rng.random(6), rng.random(N) + 0.1, rng.permutation(N), rng.permutation(6)
        swapped = [
            given[i][points] if given[i].ndim == 1 else given[i][points][:, rng.permutation(3)] for i in order
        ]  # fmt: skip
        a = evidence(cg.Ensemble(given, member_weight=weight, sample_weight=mass, unassigned="partial"))
        b = evidence(
            cg.Ensemble(swapped, member_weight=weight[order], sample_weight=mass[points], unassigned="partial")
        )
        assert np.array_equal(a.votes.toarray(), b.votes.toarray())
        for x, y in ((a.column, b.column), (a.share, b.share), (a.mass, b.mass), (a.row[points], b.row)):
            assert np.array_equal(x, y)


@pytest.mark.slow
def test_the_builtin_partitioner_does_not_read_rounding():
    """Member weights times 3, which round differently, give hgpa the same blocks without any package installed."""
    weight = np.random.default_rng(3).random(6) + 0.1
    members = ensemble("soft", 3).members
    first, second = (cg.Ensemble(members, member_weight=w) for w in (weight, 3 * weight))
    a, b = (cg.consensus(e, 3, "hgpa", 0, solver="builtin").labels for e in (first, second))
    assert np.array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["hard", "partial", "soft", "mixed"])
def test_order_and_names_do_not_matter(kind):
    """Points, members and clusters in another order, weights whose sums differ in the last digit: the same clusters."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        e = ensemble(kind, seed)
        given = [c.dense() if c.soft else np.where(c.codes < c.k, c.codes, np.nan) for c in e.members]
        weight, points, order = rng.random(6) + 0.1, rng.permutation(N), rng.permutation(6)
        swapped = [
            given[i][points] if given[i].ndim == 1 else given[i][points][:, rng.permutation(3)] for i in order
        ]  # fmt: skip
        first = cg.Ensemble(given, member_weight=weight, unassigned="partial")
        second = cg.Ensemble(swapped, member_weight=weight[order], unassigned="partial")
        for method in ALL:
            a, b = (cg.consensus(x, 3, method, 0) for x in (first, second))
            assert cg.ari(a.labels[points], b.labels) == 1, method
            assert a["value"] == pytest.approx(b["value"]), method


@pytest.mark.parametrize("method", ["mcla", "kmodes", "ncut", "voting", "average", "lwgp"])
def test_names_do_not_break_ties(method):
    """Members so symmetric that several answers are equally good: the names of clusters do not choose among them."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        members = [rng.integers(0, 2, 4) for _ in range(5)] + [np.array([0, 1, 0, 0]), np.array([1, 0, 0, 0])]
        renamed = [1 - m if rng.random() < 0.5 else m for m in members]
        a, b = (cg.consensus(x, 2, method, 1).labels.tolist() for x in (members, renamed))
        assert a == b, seed


@pytest.mark.parametrize("kind", ["hard", "partial", "soft", "mixed"])
def test_agreement_and_objectives_by_brute_force(kind):
    """Rows of the consensus matrix, squared error, modes, normalised cut and heights, from their definitions."""
    e = ensemble(kind, 11, member_weight=np.sqrt([2, 3, 5, 7, 11, 13]), frequency=np.arange(N) % 3 + 1)
    mass, share = e.mass.values.astype(float), e.shares
    votes = [c.dense() if c.soft else np.eye(c.k + 1)[c.codes][:, : c.k] for c in e.members]
    seen = [u.sum(axis=1) > 0 for u in votes]
    together = sum(a * u @ u.T for a, u in zip(share, votes, strict=True))
    both = sum(a * np.outer(s, s) for a, s in zip(share, seen, strict=True))
    v = evidence(e)
    one = np.array([np.flatnonzero(v.row == i)[0] for i in range(v.n_rows)])
    rows = np.array([v.agreement(i) for i in range(v.n_rows)])
    matrix = np.divide(together, both, out=np.zeros_like(both), where=both > 0)
    assert rows == pytest.approx(matrix[np.ix_(one, one)])

    found = {
        method: cg.consensus(e, 3, method, 0) for method in ("kcc", "kmodes", "ncut", "average", "complete", "single")
    }
    error = differ = 0.0
    for a, u, s in zip(share, votes, seen, strict=True):
        for c in range(3):
            here = s & (found["kcc"].labels == c)
            error += a * mass[here] @ ((u[here] - np.average(u[here], axis=0, weights=mass[here])) ** 2).sum(axis=1)
            here = s & (found["kmodes"].labels == c)
            differ += a * (mass[here].sum() - (mass[here] @ u[here]).max())
    assert found["kcc"]["value"] == pytest.approx(error)
    assert found["kmodes"]["value"] == pytest.approx(differ)
    weights = together * np.outer(mass, mass)
    blocks = [found["ncut"].labels == c for c in range(3)]
    assert found["ncut"]["value"] == pytest.approx(
        sum(1 - weights[np.ix_(b, b)].sum() / weights[b].sum() for b in blocks)
    )
    if kind == "hard":  # memberships: a point is not at distance 0 from its copies
        copies = np.repeat(np.arange(N), e.mass.values)
        distance = 1 - matrix[np.ix_(copies, copies)]
        distance = np.where(copies[:, None] == copies, 0.0, np.maximum(distance, 0.0))
        for method in ("average", "complete", "single"):
            heights = linkage(squareform((distance + distance.T) / 2, checks=False), method)[:, 2]
            assert found[method]["value"] == pytest.approx(heights[-3], abs=1e-9)


@pytest.mark.parametrize("kind", ["hard", "partial", "soft"])
def test_local_weights_by_brute_force(kind):
    """Certainties of clusters, and average linkage with them, from the definitions of Huang, Wang and Lai."""
    e = ensemble(kind, 4, member_weight=np.sqrt([2, 3, 5, 7, 11, 13]))
    v = evidence(e)
    h, certain = v.votes.toarray()[v.row], np.zeros(v.n_columns)
    for u in range(v.n_columns):
        total = weight = 0.0
        for member in range(v.n_members):
            there = [h[:, u] @ h[:, w] for w in np.flatnonzero(v.member == member)]
            if sum(there) > 0:
                shares = np.array([x / sum(there) for x in there if x > 0])
                total += v.share[member] * -(shares * np.log2(shares)).sum()
                weight += v.share[member]
        certain[u] = np.exp(-total / weight / 0.4)
    assert certainties(v) == pytest.approx(certain, rel=1e-9)
    if kind == "hard":
        distance = 1 - (h * v.share[v.member] * certain) @ h.T
        np.fill_diagonal(distance, 0.0)
        heights = linkage(squareform((distance + distance.T) / 2, checks=False), "average")[:, 2]
        assert cg.consensus(e, 3, "lwea", 0)["value"] == pytest.approx(heights[-3], abs=1e-9)


@pytest.mark.parametrize("method", ["lwea", "lwgp"])
def test_local_weights_on_finer_members(method):
    """Clusters that others cut count less: six true clusters are recovered from members with up to twice as many."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 20)
    members = [truth + 6 * ((rng.random(120) < 0.5) & (rng.random(6) < 0.5)[truth]) for _ in range(15)]
    assert cg.ari(cg.consensus(members, 6, method, 0).labels, truth) == 1


def test_vote_shares_by_brute_force():
    """The mean, over members that have the point, of the share of its cluster there that got its own label."""
    rng = np.random.default_rng(2)
    members = [gappy(rng) for _ in range(5)]
    r = cg.consensus(cg.Ensemble(members, unassigned="partial"), 3, "kcc", 0)
    for i in range(N):
        mine = [m == m[i] for m in members if m[i] == m[i]]
        assert r.vote_share[i] == pytest.approx(np.mean([(r.labels[same] == r.labels[i]).mean() for same in mine]))


def test_confidence_by_brute_force():
    """Log odds from the posterior of naive Bayes, the weighted share of votes and the correlation of errors, by definition."""
    rng = np.random.default_rng(2)
    base = noisy(rng, 0.3)  # errors that the members have in common
    members = np.array([np.where(rng.random(N) < 0.3, rng.integers(0, 3, N), base) for _ in range(6)])
    r = cg.consensus(list(members), 3, "kcc", 0)
    size = np.bincount(r.labels)

    def chance(member, label, c):
        there = (members[member] == label) & (r.labels == c)
        return (there.sum() + (members[member] == label).mean()) / (size[c] + 1)

    logs = np.array([[[np.log(chance(m, members[m, i], c)) for c in range(3)] for m in range(6)] for i in range(N)])
    entropy = -(size / N * np.log(size / N)).sum()
    told = np.array([cg.mi(m, r.labels) - 2 * 2 / (2 * N) for m in members]) / entropy
    weight = told / told.sum()
    own = np.array(
        [[logs[i, m, r.labels[i]] - np.log((members[m] == members[m, i]).mean()) for m in range(6)] for i in range(N)]
    )
    for c in range(3):
        own[r.labels == c] -= own[r.labels == c].mean(axis=0)
    own *= weight
    informative = 1 / (weight**2).sum()
    overlap = np.clip((own.sum(axis=1) ** 2).sum() / (own**2).sum(), 1, informative)
    common = (overlap - 1) / (informative - 1)
    common = common / (common + constants.HALF)
    joint = np.exp(logs.sum(axis=1) / overlap) * size / N
    right = joint[np.arange(N), r.labels]
    posterior = np.clip(np.log(right / (joint.sum(axis=1) - right)), -8, 8)
    voted = [[(r.labels[m == m[i]] == r.labels[i]).mean() for m in members] for i in range(N)]
    share = np.array(voted) @ weight
    share = np.clip(np.log(share / (1 - share)), -3.9, 3.9)
    odds = constants.POSTERIOR * (1 - common) * posterior + common * (constants.CONSTANT + constants.SHARE * share)
    assert 0.05 < common < 0.95
    assert r.vote_share.max() < 1
    assert r.confidence == pytest.approx(1 / (1 + np.exp(-odds)))


def test_useless_members_do_not_change_the_confidence_much():
    """Twenty random members next to ten sound ones: they have almost no weight in the correlation of errors."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat(np.arange(3), 100))
    camps = [np.where(rng.random(300) < 0.2, rng.integers(0, 3, 300), truth) for _ in range(2)]  # errors in common
    sound = [np.where(rng.random(300) < 0.1, rng.integers(0, 3, 300), camps[i % 2]) for i in range(10)]
    useless = [rng.integers(0, 3, 300) for _ in range(20)]
    found = []
    for members in (sound, [*sound, *useless]):
        e = evidence(cg.Ensemble(members))
        labels = np.empty(e.n_rows, np.int64)
        labels[e.row] = truth  # rows that several points share get the cluster of one of them
        found.append((constants.common_errors(e, labels, 3)[1], constants.informativeness(e, labels, 3), e.source))
    (alone, _, _), (both, weight, source) = found
    assert weight[source >= 10].sum() < 0.05
    assert both == pytest.approx(alone, abs=0.1)
    assert both > 0.05


@pytest.mark.slow
def test_confidence_is_calibrated():
    """On noisy copies of a planted truth, points of a confidence of 0.6 to 0.8 are right in about that share."""
    sure, right = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.permutation(np.repeat(np.arange(4), 100))
        members = [np.where(rng.random(400) < 0.65, rng.integers(4, size=400), truth) for _ in range(10)]
        r = cg.consensus(members, 4, random_state=0)
        sure.append(r.confidence)
        right.append(cg.relabel(truth, r.labels) == truth)
    sure, right = np.concatenate(sure), np.concatenate(right)
    some = (sure >= 0.6) & (sure < 0.8)
    assert some.sum() > 300
    assert abs(right[some].mean() - sure[some].mean()) < 0.1
    assert right[sure >= 0.95].mean() > 0.95


@pytest.mark.parametrize("method", ["cumulative", "voting"])
def test_methods_of_voting_give_the_requested_number_of_clusters(method):
    """Clusters that win no points take those that fit worst elsewhere, and a note says so."""
    rng = np.random.default_rng(0)
    noted = 0
    for _ in range(40):
        n, k = int(rng.integers(6, 40)), int(rng.integers(2, 6))
        members = [rng.integers(0, rng.integers(2, 7), n) for _ in range(int(rng.integers(2, 8)))]
        if len(np.unique(np.array(members), axis=1).T) < k:
            continue
        r = cg.consensus(members, k, method, random_state=0)
        assert len(set(r.labels.tolist())) == r.n_clusters == k
        noted += any("won no points" in note for note in r.notes)
    assert noted
