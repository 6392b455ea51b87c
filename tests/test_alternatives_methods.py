"""The programs, qualities and methods of alternative clustering, compared with their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from alternatives_cases import IRIS, SPECIES, views
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_wine
from sklearn.metrics import silhouette_score

import congruence as cg
from congruence.alternative_clustering import moves, program
from congruence.alternative_clustering.coala import coala
from congruence.alternative_clustering.points import Task, as_points, binned
from congruence.alternative_clustering.quality import silhouettes
from reproductions import maximus_published as published
from reproductions.integer_programs import solve
from tests import naive_alternatives as naive

WINE, CULTIVAR = load_wine(return_X_y=True)


def random_profiles(rng, clusters, bins, attributes=1):
    """A table of points in bins, as counts of clusters × bins."""
    return rng.integers(0, 6, (clusters, bins * attributes)).astype(float)


# --- the programs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("integer", [False, True])
def test_dual_rows_are_all_matchings(seed, integer):
    """K·K' rows of prices give the optimum of a row for each matching, for one to two known and up to four clusters."""
    rng = np.random.default_rng(seed)
    k, clusters, bins = int(rng.integers(2, 5)), int(rng.integers(2, 5)), int(rng.integers(3, 5))
    knowns = [random_profiles(rng, clusters, bins) for _ in range(1 + seed % 2)]
    totals = knowns[0].sum(axis=0)
    wanted = naive.least_similar(knowns, totals, k, integer)
    profile, found = published.least_similar_profile(knowns, totals, k, integer=integer, gap=0.0)
    assert found.status == "optimal"
    assert found.value == pytest.approx(wanted, rel=1e-7, abs=1e-7)
    assert np.allclose(profile.sum(axis=0), totals)
    assert sum(naive.similarity(known, profile) for known in knowns) == pytest.approx(wanted, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("seed", range(20))
def test_the_least_similarity_in_closed_form(seed):
    """LP* = (1/k)·the largest totals is the optimum of the program, also with equal sizes on all attributes."""
    rng = np.random.default_rng(seed)
    n, attributes, bins = 60, int(rng.integers(1, 4)), 4
    k = int(rng.integers(2, 6))
    items = rng.integers(0, bins, (n, attributes)) + bins * np.arange(attributes)
    size = bins * attributes
    knowns = []
    for clusters in rng.integers(2, 6, 1 + seed % 3):
        codes = rng.integers(0, clusters, n)
        counts = np.zeros((clusters, size))
        np.add.at(counts, (codes[:, None], items), 1)
        knowns.append(counts)
    totals = np.bincount(items.ravel(), minlength=size).astype(float)
    wanted = sum(program.least_similarity(known @ totals, k) for known in knowns)
    for of, least in ((None, 0), (np.arange(size) // bins, n / (2 * k))):
        _, found = published.least_similar_profile(knowns, totals, k, attributes=of, min_size=least, integer=False)
        assert found.value == pytest.approx(wanted, rel=1e-9)
    even = np.tile(totals / k, (k, 1))
    assert sum(naive.similarity(known, even) for known in knowns) == pytest.approx(wanted, rel=1e-9)
    largest = max(len(known) for known in knowns)
    if k == largest == min(len(known) for known in knowns):  # then it is the floor of ADCO
        assert wanted == pytest.approx(len(knowns) * (totals**2).sum() / k)


def floor_bins(X):
    """Ten bins of equal width as in the cited study, where rounding decides values at an edge."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return np.minimum(((Z - Z.min(axis=0)) / np.ptp(Z, axis=0) * 10).astype(int), 9).astype(str)


def test_the_numbers_of_iris_and_wine():
    """LP* 4637.3 and 21535.3 (ten bins, three clusters); all points in one cluster reach 1.149 and 1.221 of it."""
    for X, y, least, one in ((IRIS, SPECIES, 4637.3, 1.149), (WINE, CULTIVAR, 21535.3, 1.221)):
        points = binned(as_points(floor_bins(X), True), "width", 10, y)
        profile, totals = points.profile(y, 3), points.profile(np.zeros(len(y), np.int64), 1)[0]
        assert program.least_similarity(profile @ totals, 3) == pytest.approx(least, abs=0.05)
        assert max(profile @ totals) / program.least_similarity(profile @ totals, 3) == pytest.approx(one, abs=5e-4)
        assert (totals**2).sum() / 3 / (profile**2).sum() == pytest.approx({150: 0.468, 178: 0.643}[len(y)], abs=5e-4)


def test_one_matching_for_all_known_lets_the_known_pass():
    """Eq. 12 with one ρ: knowing C and C with other labels, every profile is optimal, C itself too; not with a ρ each."""
    points = binned(as_points(IRIS, True), "width", 10, SPECIES)
    c = points.profile((SPECIES > 0).astype(np.int64), 2)
    knowns, totals = [c, c[::-1]], c.sum(axis=0)
    _, shared = published.least_similar_profile([sum(knowns)], totals, 2, integer=False)
    assert naive.similarity(sum(knowns), c) == pytest.approx(shared.value)
    _, each = published.least_similar_profile(knowns, totals, 2, integer=False)
    assert each.value == pytest.approx(shared.value)
    assert sum(naive.similarity(known, c) for known in knowns) > 1.1 * each.value


@pytest.mark.slow
def test_without_rows_for_sizes_the_attributes_disagree():
    """The published program gives clusters different sizes on each attribute; with the extra rows they are equal."""
    points = binned(as_points(floor_bins(IRIS), True), "width", 10, SPECIES)
    totals = points.profile(np.zeros(150, np.int64), 1)[0]
    kept = np.flatnonzero(totals)
    attribute = np.zeros(points.n_items, np.int64)
    attribute[points.items] = np.arange(4)
    for of, same in ((None, False), (attribute[kept], True)):
        profile, found = published.least_similar_profile(
            [points.profile(SPECIES, 3)[:, kept]], totals[kept], 3, attributes=of, min_size=15, gap=1e-3, time_limit=20
        )
        sizes = np.array([profile[:, attribute[kept] == i].sum(axis=1) for i in range(4)])
        assert found.value / 4637.33 < 1.002
        assert bool(np.abs(sizes - sizes[0]).max() < 1e-6) is same


@pytest.mark.parametrize("count", [1, 2])
def test_prices_bound_the_program_from_below(count):
    """The dual is never above the linear program, within 0.1 % of it, and neither is any labelling within the caps."""
    X, hidden = views(250, 3, 3.0, 3)
    points = binned(as_points(X, True), "width", 10, hidden[0])
    densities = [points.density(points.profile(h, 3)) for h in hidden[:count]]
    p = program.Assignment.of(densities, 3, 0.05, 20)
    rng = np.random.default_rng(0)
    for _ in range(3):
        cost = cdist(X, X[rng.choice(250, 3, replace=False)], "sqeuclidean")
        exact, dual = program.assign_by_highs(cost, p), program.assign_by_prices(cost, p)
        assert exact.status == "optimal"
        assert dual.bound <= exact.bound * (1 + 1e-9)
        assert dual.bound > exact.bound * (1 - 1e-3)
        fractional = (exact.shares.max(axis=1) < 1 - 1e-6).sum()
        assert fractional <= 3 * 3 * count + 3 + count  # as many as there are rows that join points
        assert max(p.excess(exact.shares.argmax(axis=1))) < 0.02
        labels = rng.integers(0, 3, 250)
        if max(p.excess(labels)) <= 0:
            assert cost[np.arange(250), labels].sum() >= exact.bound


def test_the_excess_is_similarity_by_its_cap():
    """What a point adds is the known counts in its bins: the sum over a cluster is the product of profiles."""
    X, (a, b) = views(80, 3, 2.0)
    points = binned(as_points(X, True), "width", 5, a)
    p = program.Assignment.of([points.density(points.profile(a, 3))], 3, 0.1, 0)
    wanted = naive.similarity(points.profile(a, 3), points.profile(b, 3)) / p.caps[0] - 1
    assert p.excess(b)[0] == pytest.approx(wanted)
    some = np.arange(0, 80, 2)
    assert p.on(some).caps[0] / p.caps[0] == pytest.approx(0.5, abs=0.1)


def test_a_solver_that_stops_says_so():
    """A time limit that is too short, and an infeasible program, are reported."""
    rng = np.random.default_rng(0)
    # market split: whole numbers with given sums, hard to prove
    A = rng.integers(0, 100, (5, 60)).astype(float)
    spare = np.hstack([A, np.eye(5), -np.eye(5)])
    whole = np.concatenate([np.ones(60), np.zeros(10)])
    cost = np.concatenate([np.zeros(60), np.ones(10)])
    bounded = (np.hstack([np.eye(60), np.zeros((60, 10))]), np.ones(60))
    short = solve(
        cost, at_most=bounded, equal=(spare, np.floor(A.sum(axis=1) / 2)), integer=whole, time_limit=0.3, gap=0
    )
    assert short.status == "stopped at the time limit"
    assert not short.is_optimal
    nothing = solve(np.ones(1), at_most=(np.array([[1.0]]), np.array([-1.0])))
    assert nothing.status == "infeasible"
    with pytest.raises(cg.InputError, match="infeasible"):
        nothing.variables()


# --- quality ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inter", range(1, 7))
@pytest.mark.parametrize("intra", range(1, 4))
def test_all_eighteen_dunn_indices(inter, intra):
    """Each pair of distances is that of its definition by double loops; a cluster of one point has no extent."""
    rng = np.random.default_rng(inter)
    X, labels = rng.normal(size=(30, 3)), np.append(rng.integers(0, 3, 29), 3)
    assert cg.dunn(X, labels, inter, intra) == pytest.approx(naive.dunn(X, labels.tolist(), inter, intra), rel=1e-12)


def test_dunn_in_blocks_and_at_its_limits(monkeypatch):
    """Any block of distances gives the same; zero extent is infinite quality; one cluster or a wrong number is an error."""
    labels = SPECIES
    whole = cg.dunn(IRIS, labels, 6, 2)
    monkeypatch.setattr("congruence.alternative_clustering.quality._CELLS", 1000)
    assert cg.dunn(IRIS, labels, 6, 2) == pytest.approx(whole, rel=1e-12)
    assert cg.dunn(IRIS, labels) == pytest.approx(0.9889, abs=5e-5)
    assert cg.dunn([[0.0], [0.0], [1.0], [1.0]], [0, 0, 1, 1]) == np.inf
    assert cg.dunn([[0.0], [0.0], [0.0], [0.0]], [0, 0, 1, 1]) == 0
    for wrong in ({"inter": 7}, {"intra": 0}):
        with pytest.raises(cg.InputError, match="inter must be 1 to 6"):
            cg.dunn(IRIS, labels, **wrong)
    with pytest.raises(cg.InputError, match="two clusters"):
        cg.dunn(IRIS, np.zeros(150))


def test_dq_is_the_harmonic_mean():
    """DQ of 1 − Jaccard and the index; 0 for the given labels; several given count by their mean."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 150)
    jd, gdi = 1 - cg.jaccard(SPECIES, labels), cg.dunn(IRIS, labels, 3, 1)
    assert cg.dissimilarity_quality(IRIS, SPECIES, labels, 3, 1) == pytest.approx(2 * jd * gdi / (jd + gdi))
    assert cg.dissimilarity_quality(IRIS, SPECIES, SPECIES) == 0
    other = rng.permutation(SPECIES)
    both = (jd + 1 - cg.jaccard(other, labels)) / 2
    assert cg.dissimilarity_quality(IRIS, [SPECIES, other], labels, 3, 1) == pytest.approx(
        2 * both * gdi / (both + gdi)
    )


@pytest.mark.parametrize(
    ("X", "y", "average", "centres"), [(IRIS, SPECIES, 0.515, 0.06), (WINE, CULTIVAR, 0.581, 0.08)]
)
def test_random_labels_score_well_on_dq_with_average_linkage(X, y, average, centres):
    """With δ3/Δ1 random labels reach 0.5 and more, as in the paper; with δ4/Δ3 less than 0.15."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(10):
        labels = rng.integers(0, 3, len(y))
        found.append([cg.dissimilarity_quality(X, y, labels, *which, scale=True) for which in ((3, 1), (4, 3))])
    assert np.mean(found, axis=0)[0] == pytest.approx(average, abs=0.02)
    assert np.mean(found, axis=0)[1] == pytest.approx(centres, abs=0.07)


def test_silhouettes_are_those_of_scikit_learn():
    """One pass for several labellings gives each its mean silhouette."""
    rng = np.random.default_rng(1)
    labellings = [SPECIES, rng.integers(0, 4, 150), np.append(np.zeros(149, np.int64), 1)]
    for ours, labels in zip(silhouettes(IRIS, labellings), labellings, strict=True):
        assert ours == pytest.approx(silhouette_score(IRIS, labels), abs=1e-12)


# --- the methods against their definitions ---------------------------------------------------------------------------


@pytest.mark.parametrize("omega", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("several", [False, True])
def test_coala_is_its_definition(omega, several):
    """Row minima find the same merges as a search over all pairs."""
    rng = np.random.default_rng(3)
    X, knowns = rng.normal(size=(24, 2)), [rng.integers(0, 3, 24) for _ in range(1 + several)]
    found = coala(Task(as_points(X, False), knowns, 3), omega=omega).labels
    assert cg.ari(found, naive.coala(X.tolist(), knowns, 3, omega)) == 1


def test_a_larger_omega_merges_more_for_quality():
    """ω trades dissimilarity for quality."""
    words = [cg.alternatives(IRIS, SPECIES, method="coala", omega=omega)[0].status for omega in (0.2, 0.6, 0.9)]
    counts = [int(word.split()[0]) for word in words]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.slow
def test_mincentropy_counts_its_objective():
    """The final objective equals the definition, and no single move improves it."""
    rng = np.random.default_rng(0)
    X, known = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    sigma = pdist(X).mean() / 2
    kernel = np.exp(-(cdist(X, X) ** 2) / (4 * sigma**2)) - 0.7 * (known[:, None] == known)
    labels, value, rested = moves._improved(kernel, rng.integers(0, 3, 30), 3, rng, 100)
    assert rested
    assert value == pytest.approx(naive.kernel_objective(X.tolist(), [known], labels.tolist(), 0.7, sigma), rel=1e-9)
    for x in range(30):
        for c in range(3):
            other = labels.copy()
            other[x] = c
            if len(set(other.tolist())) == 3:
                moved = naive.kernel_objective(X.tolist(), [known], other.tolist(), 0.7, sigma)
                assert moved <= value + 1e-9


def test_cib_counts_conditional_information():
    """The counts give I(C; Y | Z) as the joint distribution does; more passes never lower it; two known ones are intersected."""
    points = binned(as_points(IRIS, True), "width", 4, SPECIES)
    groups = moves.joint([SPECIES, (IRIS[:, 0] > 5.8).astype(np.int64)])
    assert cg.ari(groups, [f"{a} {b > 5.8}" for a, b in zip(SPECIES, IRIS[:, 0], strict=True)]) == 1
    values = []
    for passes in (1, 2, 5):
        labels, value, _ = moves._moved(points, groups, 3, np.random.default_rng(0), passes)
        wanted = naive.conditional_information(points.items.tolist(), labels.tolist(), groups.tolist())
        assert value == pytest.approx(wanted, rel=1e-9)
        values.append(value)
    assert values == sorted(values)


@pytest.mark.parametrize("seed", range(6))
def test_assignments_with_sizes(seed):
    """Proposals give the pairs of least cost first; cyclic exchanges give the least total cost."""
    rng = np.random.default_rng(seed)
    n, k = 25, 2 + seed % 3
    cost = rng.random((n, k))
    sizes = np.bincount(rng.integers(0, k, n), minlength=k)
    assert published.nearest_first(cost, sizes).tolist() == naive.nearest_first(cost.tolist(), sizes.tolist())
    labels = published.least_cost(cost, sizes)
    assert np.bincount(labels, minlength=k).tolist() == sizes.tolist()
    columns = np.repeat(np.arange(k), sizes)
    rows, chosen = linear_sum_assignment(cost[:, columns])
    assert cost[np.arange(n), labels].sum() == pytest.approx(cost[rows, columns[chosen]].sum())


@pytest.mark.slow
def test_shared_centroids_recover_a_profile_and_random_ones_do_not():
    """Given the true hidden profile, k-means in bins and a vote find it from implied centroids, not from random ones."""
    X, (a, hidden) = views(300, 3, 4.0)
    points = binned(as_points(X, True), "width", 10, a)
    profile = points.profile(hidden, 3)
    rng = np.random.default_rng(0)
    found = {}
    for name in ("implied", "random"):
        votes = np.zeros((300, 3))
        for item in np.flatnonzero(profile.sum(axis=0)):
            inside = np.flatnonzero((points.items == item).any(axis=1))
            part = points.numbers[inside]
            start = (
                published.implied_centroids(points, profile)
                if name == "implied"
                else part[rng.integers(0, len(part), 3)]
            )
            votes[inside, published.distribution_kmeans(part, profile[:, item].astype(int), start)] += 1
        found[name] = cg.ari(votes.argmax(axis=1), hidden)
    assert found["implied"] > 0.85
    assert found["random"] < 0.6


def test_orthogonal_removes_the_given_directions():
    """After the projection the given centroids coincide; if nothing is left, an error says so."""
    from congruence.alternative_clustering.projections import left_over
    from congruence.alternative_clustering.quality import centroids

    rest = left_over(as_points(IRIS, True), [SPECIES])
    assert np.abs(centroids(rest, SPECIES, 3)).max() < 1e-9
    with pytest.raises(cg.InputError, match="all 2 dimensions"):
        cg.alternatives(IRIS[:, :2], SPECIES, method="orthogonal")
