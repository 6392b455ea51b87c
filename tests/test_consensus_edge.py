"""Edge cases of consensus: gaps, weights of 0, empty clusters, one member, as many clusters as points."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import congruence as cg
from congruence.consensus_clustering import cumulative as cumulating
from congruence.consensus_clustering import evidence as evidence_module
from congruence.consensus_clustering import judging as constants
from congruence.consensus_clustering import linkage as by_linkage
from congruence.consensus_clustering import lloyd
from congruence.consensus_clustering.cumulative import merged
from congruence.consensus_clustering.evidence import GRAM_LIMIT, evidence, medoid
from congruence.consensus_clustering.local_weights import certainties
from congruence.consensus_clustering.methods import METHODS
from congruence.consensus_clustering.partition import partition_graph
from congruence.errors import InputError

N = 24
BASE = np.repeat([0, 1, 2], 8)


def noisy(rng, share=0.2):
    return np.where(rng.random(N) < share, rng.integers(0, 3, N), BASE)


def gappy(rng, share=0.25):
    labels = noisy(rng).astype(float)
    labels[rng.random(N) < share] = np.nan
    return labels


def memberships(rng, k=3):
    u = rng.random((N, k)) ** 4 + 1e-3
    return u / u.sum(axis=1, keepdims=True)


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
@pytest.mark.parametrize("kind", ["hard", "partial", "soft", "mixed"])
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_method_on_every_kind(kind, weights):
    """Labels for all points, the largest cluster first, defined scores, shares of votes that add up to 1."""
    e = ensemble(kind, **WEIGHTS[weights])
    mass = np.ones(N) if e.mass is None else e.mass.values
    for method in METHODS:
        r = cg.consensus(e, 3, method, 0)
        assert set(r.labels) == set(range(r.n_clusters))
        assert (np.diff(np.bincount(r.labels, mass)) <= 1e-9).all()
        assert np.isfinite([r["arimp"], r["anmi"], r["value"]]).all()
        assert r.memberships.sum(axis=1) == pytest.approx(np.ones(N))


@pytest.mark.parametrize("method", METHODS)
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


@pytest.mark.parametrize("method", METHODS)
def test_clusters_without_weight(method):
    """A cluster of points that weigh nothing, in every member; and a membership column of zeros."""
    r = cg.consensus(cg.Ensemble([BASE] * 3, sample_weight=no_weight()), 2, method, 0)
    assert r.n_clusters == 2
    assert cg.ari(r.labels[8:], BASE[8:]) == 1
    u = memberships(np.random.default_rng(0), 2)
    empty = cg.consensus([np.column_stack([u, np.zeros(N)])] * 2, 2, method, 0)
    assert np.array_equal(empty.labels, cg.consensus([u] * 2, 2, method, 0).labels)


@pytest.mark.parametrize("method", METHODS)
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
    for seed in range(3):
        rng = np.random.default_rng(seed)
        e = ensemble(kind, seed)
        given = [c.dense() if c.soft else np.where(c.codes < c.k, c.codes, np.nan) for c in e.members]
        weight, points, order = rng.random(6) + 0.1, rng.permutation(N), rng.permutation(6)
        swapped = [
            given[i][points] if given[i].ndim == 1 else given[i][points][:, rng.permutation(3)] for i in order
        ]  # fmt: skip
        first = cg.Ensemble(given, member_weight=weight, unassigned="partial")
        second = cg.Ensemble(swapped, member_weight=weight[order], unassigned="partial")
        for method in METHODS:
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
    """Clusters that others cut count less: six true clusters come back from members with up to twice as many."""
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


@pytest.mark.parametrize("method", METHODS)
def test_a_member_without_points_says_nothing(method):
    """It changes neither the clusters nor the scores, with any weight."""
    rng = np.random.default_rng(0)
    members, nothing = [noisy(rng) for _ in range(5)], np.full(N, np.nan)
    alone = cg.consensus(members, 3, method, 0)
    for weight in (1, 0):
        e = cg.Ensemble([*members, nothing], unassigned="partial", member_weight=[1] * 5 + [weight])
        r = cg.consensus(e, 3, method, 0)
        assert cg.ari(r.labels, alone.labels) == 1
        assert r["anmi"] == pytest.approx(alone["anmi"])


@pytest.mark.slow
def test_points_in_no_member():
    """They get −1 and no confidence, or the nearest point's cluster; with nothing at all there is one line."""
    rng = np.random.default_rng(0)
    members = np.array([gappy(rng, 0.1) for _ in range(5)])
    members[:, :2] = np.nan
    e = cg.Ensemble(members.T, unassigned="partial")
    for method in METHODS:
        r = cg.consensus(e, 3, method, 0)
        assert r.labels[:2].tolist() == [-1, -1]
        assert r.labels[2:].min() == 0
        assert np.isnan(r.confidence[:2]).all()
        assert np.isfinite([r["arimp"], r["anmi"]]).all()
    near = cg.consensus(e, 3, "hbgf", 0, unseen="nearest", X=BASE[:, None] + np.zeros((N, 2)))
    assert near.labels[0] == near.labels[1] >= 0
    nothing = cg.Ensemble(np.full((4, 2), np.nan), unassigned="partial")
    with pytest.raises(InputError, match="so there is no consensus"):
        cg.consensus(nothing, 2)
    halves = np.full((4, 2), np.nan)
    halves[:2] = [[0, 1], [1, 1]]
    with pytest.raises(InputError, match="so there is no consensus"):
        cg.consensus(cg.Ensemble(halves, unassigned="partial", sample_weight=[0, 0, 1, 1]), 2)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_k_of_one_and_of_all(method):
    """k = 1 is one cluster; k above the kinds of points gives each kind one, and says so."""
    rng = np.random.default_rng(0)
    members = [noisy(rng) for _ in range(4)]
    kinds = len(np.unique(np.array(members), axis=1).T)
    assert cg.consensus(members, 1, method).n_clusters == 1
    r = cg.consensus(members, N, method)
    assert r.n_clusters == kinds < N
    assert f"only {kinds} kinds of points" in " ".join(r.notes)
    assert cg.consensus([np.arange(N)] * 2, N, method).n_clusters == N
    assert cg.consensus([np.zeros(N, int)] * 2, 3, method).n_clusters == 1
    assert cg.ari(cg.consensus([BASE], 3, method, 0).labels, BASE) == 1
    assert cg.ari(cg.consensus([BASE] * 4, 3, method, 0).labels, BASE) == 1
    singletons = cg.consensus([np.arange(N)] * 3, 3, method, 0)
    assert 1 <= singletons.n_clusters <= 3
    assert cg.consensus([[0], [0]], 1, method).labels.tolist() == [0]
    assert sorted(cg.consensus([[0, 1], [0, 0]], 2, method).labels.tolist()) == [0, 1]


@pytest.mark.slow
def test_auto_leaves_out_what_cannot_run():
    """With many members and clusters auto takes Lanczos iteration; mcla says before anything begins that it cannot."""
    rng = np.random.default_rng(0)
    members = rng.integers(0, 60, (120, 130))
    assert sum(len(np.unique(c)) for c in members.T) > GRAM_LIMIT
    r = cg.consensus(members, 3, random_state=0, n_init=1)
    assert {row["method"] for row in r.tried} == {"hbgf", "ncut", "average"}
    assert any("ARPACK" in row["solver"] for row in r.tried)
    with pytest.raises(InputError, match="mcla compares all pairs of clusters"):
        cg.consensus(members, 3, ["hbgf", "mcla"], progress=_never)
    assert "no complete member" in cg.consensus(members, 3, "voting", 0, n_init=1).solver


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kcc", "kmodes", "voting"])
def test_hundreds_of_clusters_start_at_a_member(method):
    """With very many clusters random starts fail, so the most central member with that many is the start."""
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.arange(2000) % 250)
    members = [np.where(rng.random(2000) < 0.2, rng.integers(0, 250, 2000), truth) for _ in range(7)]
    r = cg.consensus(members, 250, method, 0)
    assert "started from the most central member" in r.solver
    assert cg.ari(r.labels, truth) > max(cg.ari(m, truth) for m in members) + 0.1


def test_the_most_central_member_is_found_by_tables_or_by_points(monkeypatch):
    """The member with the highest mean ARI, weighted, with gaps in others, whichever way it is counted."""
    rng = np.random.default_rng(3)
    members = [
        np.where(rng.random(N) < noise, rng.integers(0, 3, N), BASE).astype(float) for noise in (0.6, 0.1, 0.4, 0.7)
    ]
    members[3][:20] = np.nan
    times = rng.integers(1, 4, N)
    for mass in ({"frequency": times}, {"sample_weight": times + 0.5}):
        v = evidence(cg.Ensemble(members, unassigned="partial", **mass))
        by_tables = medoid(v, 3)
        assert cg.ari(by_tables[v.row], members[1]) == 1.0
        with monkeypatch.context() as patch:
            patch.setattr(evidence_module, "GRAM_LIMIT", 0)
            assert medoid(v, 3).tolist() == by_tables.tolist()
    assert medoid(v, 7) is None


@pytest.mark.parametrize("k", [3, 4, 7, 12])
@pytest.mark.parametrize("method", ["kcc", "kmodes"])
def test_the_most_central_member_is_a_start_at_any_k(method, k, monkeypatch):
    """With as many, fewer or more clusters than asked for, it is one of the starts, and the cheaper result is kept."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(7), 30)
    members = [np.where(rng.random(210) < 0.2, rng.integers(0, 7, 210), truth) for _ in range(6)]
    both = cg.consensus(members, k, method, 0, n_init=1)
    assert both.n_clusters == k
    monkeypatch.setattr(lloyd, "medoid", lambda *_: None)
    at_random = cg.consensus(members, k, method, 0, n_init=1)
    assert "central" not in at_random.solver
    assert both["value"] <= at_random["value"]
    assert ("central" in both.solver) == (both["value"] < at_random["value"])


@pytest.mark.parametrize("method", ["kcc", "kmodes"])
def test_a_start_at_a_finer_member_can_be_the_cheapest(method):
    """Noisy copies of seven groups: asked for five, the start at a member beats one random start."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(7), 30)
    members = [np.where(rng.random(210) < 0.2, rng.integers(0, 7, 210), truth) for _ in range(6)]
    kept = [cg.consensus(members, 5, method, seed, n_init=1).solver for seed in range(6)]
    assert any("most central member" in solver for solver in kept)


def _never(done, total):
    raise AssertionError("a method was begun")


def test_weights_of_an_ensemble_reach_the_comparison():
    """compare_to takes the weights of the points from an ensemble, as compare_all does."""
    times = [3, 1, 2, 1]
    labels = [[0, 0, 1, 1], [0, 1, 1, 1]]
    e = cg.Ensemble(labels, frequency=times)
    expected = cg.compare_to([0, 1, 0, 1], labels, ["ari", "nmi_sum"], frequency=times)
    found = cg.compare_to([0, 1, 0, 1], e, ["ari", "nmi_sum"])
    assert found["ari"].tolist() == expected["ari"].tolist()
    assert found["ari"].tolist() != cg.compare_to([0, 1, 0, 1], labels, "ari")["ari"].tolist()


def test_members_of_very_many_clusters():
    """With some all-singleton members, average linkage by a matrix equals that by profiles, and cumulative voting ends."""
    rng = np.random.default_rng(0)
    e = cg.Ensemble([np.arange(N), *(memberships(rng) for _ in range(4))])  # no ties
    v = evidence(e)
    assert v.n_columns > v.n_rows
    profiles = np.ascontiguousarray((v.votes * np.sqrt(v.share[v.member])[None, :]).toarray().T)
    by_profiles = by_linkage._sorted(by_linkage._chain_profiles(profiles, v.mass.copy(), v.n_rows))
    by_matrix, solver, _ = by_linkage.average_merges(v)
    assert "matrix" in solver
    assert by_matrix[2] == pytest.approx(by_profiles[2])
    assert cg.consensus([np.arange(200), *rng.integers(0, 4, (4, 200))], 4, "cumulative").n_clusters == 4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_ties_are_broken_alike_by_votes_and_by_matrix(seed, monkeypatch):
    """With heights that are mostly equal both ways of average linkage join the same clusters, step by step."""
    rng = np.random.default_rng(seed)
    e = cg.Ensemble(list(rng.integers(0, 3, (7, 90))))
    by_matrix, solver, _ = by_linkage.average_merges(evidence(e))
    assert "matrix" in solver
    assert len(np.unique(by_matrix[2].round(9))) < 0.8 * len(by_matrix[2])
    monkeypatch.setattr(by_linkage, "MATRIX_BELOW", 0)
    by_votes, solver, _ = by_linkage.average_merges(evidence(e))
    assert "mean votes" in solver
    assert by_votes[0].tolist() == by_matrix[0].tolist()
    assert by_votes[1].tolist() == by_matrix[1].tolist()
    assert by_votes[2] == pytest.approx(by_matrix[2], abs=1e-12)
    again, _, _ = by_linkage.average_merges(evidence(e[list(rng.permutation(7))]))
    assert again[2] == pytest.approx(by_votes[2], abs=1e-12)


def test_cumulative_merges_by_the_information_lost():
    """The merges are those of the loss from its definition, I(X; C) before less after, one at a time."""
    rng = np.random.default_rng(1)
    mean, mass = rng.dirichlet(np.ones(6), 30), rng.random(30)

    def information(joint):
        expected = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
        return float((joint * np.log(joint / expected)).sum())

    joint = mean * (mass / mass.sum())[:, None]
    start = information(joint)
    while joint.shape[1] > 3:
        pairs = [(i, j) for j in range(joint.shape[1]) for i in range(j)]
        joined = [np.column_stack([np.delete(joint, [i, j], 1), joint[:, i] + joint[:, j]]) for i, j in pairs]
        joint = max(joined, key=information)
    found, lost = merged(mean, mass, 3)
    assert lost == pytest.approx(start - information(joint))
    assert sorted(found.sum(axis=0)) == pytest.approx(sorted(joint.sum(axis=0)))


def test_too_much_is_one_line(monkeypatch):
    """Above their limits, average linkage and cumulative voting refuse and name methods that work."""
    rng = np.random.default_rng(0)
    members = rng.integers(0, 5, (60, 4))
    monkeypatch.setattr(by_linkage, "PROFILES_UP_TO", 100)
    monkeypatch.setattr(by_linkage, "MATRIX_BELOW", 0)
    with pytest.raises(InputError, match="use hbgf or kcc"):
        cg.consensus(members, 3, "average")
    monkeypatch.setattr(cumulating, "MOST", 100)
    with pytest.raises(InputError, match="leave that member out"):
        cg.consensus(members, 3, "cumulative")


def test_of_equal_cuts_the_most_even_division():
    """A path of four may be cut at any of its three edges; in the middle the blocks are even, for any order of its vertices."""
    path = np.zeros((4, 4))
    for i, weight in enumerate([1, 1, 1]):
        path[i, i + 1] = path[i + 1, i] = weight
    for order in (np.arange(4), np.array([2, 0, 3, 1])):
        found = partition_graph(
            path[np.ix_(order, order)], 2, balance=1.0, rng=np.random.default_rng(0), solver="builtin"
        )
        assert found.cut == 1
        assert np.bincount(found.labels).tolist() == [2, 2]


def test_notes_name_near_trivial_members():
    """One giant cluster, and nearly every point alone: both are named, three at most, and not called the same."""
    lump = [np.append(np.zeros(N - 1, int), i + 1) for i in range(4)]
    named = {"good": BASE, **{f"lump {i}": np.roll(x, i) for i, x in enumerate(lump)}, "dust": np.arange(N) // 1}
    notes = cg.consensus(cg.Ensemble(named), 3, "hbgf", 0).notes
    said = [note for note in notes if note.startswith("near-trivial")]
    assert len(said) == 2
    assert "4 members (lump 0, lump 1, lump 2 and 1 more) with at least 95% of the points in one cluster" in said[0]
    assert "1 member (dust) with nearly every point alone" in said[1]
    assert not any("same clustering" in note for note in notes)


def test_notes_name_duplicate_members():
    """The same clustering under other names of its clusters is a duplicate; one point of difference is not."""
    rng = np.random.default_rng(0)
    first, other = noisy(rng), noisy(rng)
    nearly = np.where(np.arange(N) == 5, (first + 1) % 3, first)
    named = {"a": first, "b": (first + 1) % 3, "c": nearly, "d": other, "e": np.array(["x", "y", "z"])[first]}
    notes = cg.consensus(cg.Ensemble(named), 3, "hbgf", 0).notes
    assert "the same clustering as another member: 2 members (b, e); each counts separately" in notes
    without = cg.consensus(cg.Ensemble({"a": first, "c": nearly, "d": other}), 3, "hbgf", 0).notes
    assert not any("same clustering" in note or "near-trivial" in note for note in without)


def test_auto_keeps_voting_where_members_err_independently():
    """Noisy copies of very unequal clusters: voting is kept with a note; members with errors in common do not get it."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(5), [90, 54, 30, 16, 10])
    copies = [np.where(rng.random(200) < 0.45, rng.integers(0, 5, 200), truth) for _ in range(10)]
    r = cg.consensus(copies, 5, random_state=0)
    assert r.method == "voting"
    assert any(note.startswith("auto kept voting: ") for note in r.notes)
    best = max(row["pooled_ami"] for row in r.tried)
    assert r.tried[0]["pooled_ami"] >= 0.9 * best
    camps = [np.where(rng.random(200) < 0.4, rng.integers(0, 5, 200), truth) for _ in range(2)]
    alike = [np.where(rng.random(200) < 0.05, rng.integers(0, 5, 200), camps[i % 2]) for i in range(10)]
    r = cg.consensus(alike, 5, random_state=0)
    assert not any(note.startswith("auto kept voting: ") for note in r.notes)


def test_auto_does_not_keep_voting_that_collapses():
    """Useless members make voting collapse: its pooled AMI is far below the best, and it is not kept."""
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(4), 40)
    sound = [np.where(rng.random(160) < 0.1, rng.integers(0, 4, 160), truth) for _ in range(6)]
    lumps = []
    for _ in range(12):
        lump = np.zeros(160, int)
        lump[rng.choice(160, 3, replace=False)] = [1, 2, 3]
        lumps.append(lump)
    r = cg.consensus([*sound, *lumps], 4, random_state=0)
    assert cg.ari(r.labels, truth) > 0.9
    assert r.method != "voting" or r["pooled_ami"] >= 0.9 * max(row["pooled_ami"] for row in r.tried)
