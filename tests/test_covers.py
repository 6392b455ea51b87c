"""Covers as input, and results of covers."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter

import naive_covers as naive
import numpy as np
import pytest
from cover_cases import GOLDEN, KEYS, cover, pairs_of_covers
from doors import close, doors
from hypothesis import given, settings
from scipy import sparse

import congruence as cg
from congruence.figures.layout import cells_of
from congruence.statistics import concordance, elements

# --- inputs ----------------------------------------------------------------------------------------------------------


CLUSTERS = [["g1", "g2", "g3"], ["g3", "g4"]]
POINTS = ["g1", "g2", "g3", "g4", "g5"]


def test_every_kind_of_input_is_the_same_cover():
    """Lists, sets, matrices, mappings both ways and long tables give the same cover."""
    pd = pytest.importorskip("pandas")
    matrix = np.array([[1, 0], [1, 0], [1, 1], [0, 1], [0, 0]])
    by_point = {"g1": ["x"], "g2": ["x"], "g3": ["x", "y"], "g4": ["y"], "g5": []}
    long = pd.DataFrame({"gene": ["g1", "g2", "g3", "g3", "g4"], "module": ["x", "x", "x", "y", "y"]})
    given = [
        cg.Cover(CLUSTERS, POINTS),
        cg.Cover([set(c) for c in CLUSTERS], POINTS),
        cg.Cover({"x": CLUSTERS[0], "y": CLUSTERS[1]}, POINTS),
        cg.Cover(by_point, keys="points"),
        cg.Cover(long, POINTS),
        cg.Cover(pd.DataFrame(matrix, index=POINTS, columns=["x", "y"]).astype(bool).assign(z=False)),
        cg.Cover(cg.Cover(CLUSTERS, POINTS)),
    ]
    for other in given:
        assert len(other) == 5
        assert other.n_unassigned == 1
        assert sorted(map(sorted, other.clusters.values())) == CLUSTERS
        assert cg.omega(given[0], other) == 1.0
    numbered = [
        cg.Cover(matrix),
        cg.Cover(sparse.csr_array(matrix)),
        cg.Cover(matrix > 0),
        cg.Cover([[0, 1, 2], [2, 3]], 5),
    ]
    for other in numbered:
        assert other.to_sparse().toarray().tolist() == matrix.tolist()


def test_products_of_cover_matrices_count_points():
    """M.T @ M gives the points that clusters share, also more than fit into eight bits."""
    M = cg.Cover([range(300), range(100, 300)]).to_sparse()
    assert (M.T @ M).toarray().tolist() == [[300, 200], [200, 200]]


def test_points_are_those_listed_or_those_that_occur():
    """Without `points` the union of both sides is compared, and a note says so; their number changes omega."""
    a, b = cg.Cover([[0, 1, 2]]), cg.Cover([[0, 1]])
    open_ended = cg.compare(a, b, "omega")
    assert open_ended.n_points == 3
    assert any("the points are the 3 that occur" in c for c in open_ended.cautions)
    told = cg.compare(cg.Cover([[0, 1, 2]], 6), b, "omega")
    assert told.n_points == 6
    assert told["omega"] == pytest.approx(4 / 9)
    named = cg.compare(cg.Cover([["x", "y", "z"]], 6), cg.Cover([["x", "y"]], 6), "omega")
    assert named["omega"] == pytest.approx(4 / 9)
    assert cg.omega(cg.Cover([[0, 1, 2]], 6), [0, 0, 1, 2, 3, 4]) == pytest.approx(4 / 9)


def test_uncovered_points():
    """keep: in no cluster; drop: out of the comparison; singletons: each its own cluster; cluster: one together."""
    a, b = cover([[0, 1, 2]], 6), cover([[0, 1, 3]], 6)
    assert cg.compare(a, b, "omega", unassigned="keep")["omega"] == cg.compare(a, b, "omega")["omega"]
    dropped = cg.compare(a, b, "omega", unassigned="drop")
    assert dropped.n_points == 2
    alone = cg.compare(a, b, list(KEYS), unassigned="singletons")
    singletons = cg.compare(cover([[0, 1, 2], [3], [4], [5]], 6), cover([[0, 1, 3], [2], [4], [5]], 6), list(KEYS))
    assert alone.to_dict() == close(singletons.to_dict())
    together = cg.compare(a, b, list(KEYS), unassigned="cluster")
    expected = cg.compare(cover([[0, 1, 2], [3, 4, 5]], 6), cover([[0, 1, 3], [2, 4, 5]], 6), list(KEYS))
    assert together.to_dict() == close(expected.to_dict())


def test_labels_beside_covers_keep_their_gaps():
    """A missing label is an error, or with unassigned="keep" a point in no cluster."""
    b = cover([[0, 1, 3]], 6)
    labels = ["x", "x", "x", None, None, None]
    with pytest.raises(cg.InputError, match="3 of 6 points are unassigned"):
        cg.omega(labels, b)
    assert cg.omega(labels, b, unassigned="keep") == cg.omega(cover([[0, 1, 2]], 6), b)
    with pytest.raises(cg.InputError, match="is for covers"):
        cg.ari(labels, [0, 0, 1, 1, 2, 2], unassigned="keep")


def test_noise_names_clusters():
    """Clusters named as noise are taken out; their points may be in others."""
    a = cg.Cover({"x": [0, 1, 2], "noise": [2, 3]}, 4)
    assert cg.omega(a, cover([[0, 1, 2]], 4), noise="noise") == 1.0


def test_duplicates_count_twice_or_are_dropped():
    """A cluster given twice counts twice, with a caution; duplicates="drop" counts it once."""
    twice = [[0, 1, 2], [2, 1, 0], [3, 4]]
    result = cg.compare(cover(twice, 5), cover(twice[1:], 5), "omega")
    assert result["omega"] == pytest.approx(0.5)
    assert any("1 of 3 clusters repeat another" in c for c in result.cautions)
    assert cg.omega(cg.Cover(twice, 5, duplicates="drop"), cover(twice[1:], 5)) == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cg.Cover([[0, 1], 2]), "cluster 1 is 2; each cluster is a list of points"),
        (lambda: cg.Cover([[0, 5]], points=[0, 1]), "point 5 is in a cluster, but not among the 2 points"),
        (lambda: cg.Cover([[0, 5]], points=1), "points=1, but 2 different points"),
        (lambda: cg.Cover(np.array([[0.5, 1.0]])), r"must hold only 0 and 1, not 0.5; .* cg.Cover\(u >= 0.3\)"),
        (lambda: cg.Cover([[0, None]]), "a point is missing"),
        (lambda: cg.Cover([[[0], [1]]]), "not hashable"),
        (lambda: cg.Cover("file.txt"), "cg.read_cover reads files"),
        (lambda: cg.Cover([[0]], duplicates="no"), "duplicates must be 'keep' or 'drop'"),
        (lambda: cg.Cover([[0]], points=[0, 0]), "repeated values"),
        (lambda: cg.Cover([[0], [1]], names=["x", "x"]), "two clusters are named 'x'"),
        (lambda: cg.compare(cover([[0]], 2), cover([[0]], 3)), "have 2 and 3 points"),
        (
            lambda: cg.compare(cg.Cover([["x"]], ["x", "y"]), cg.Cover([["z"]])),
            "point 'z' of b is not among the 2 points",
        ),
        (lambda: cg.compare(cover([[0, 7]], 8), [0, 1]), "is not among the 2 points of b"),
        (lambda: cg.compare(cover([[0]], 2), cover([[0]], 2), "ari"), "ari compares partitions, but this is a cover"),
        (
            lambda: cg.omega(cover([[0]], 2), np.array([[0.5, 0.5], [1.0, 0.0]])),
            "ndc and aci do, or convert the memberships",
        ),
        (
            lambda: cg.element_scores(cover([[0]], 2), np.array([[0.5, 0.5], [1.0, 0.0]])),
            "convert the memberships to a cover",
        ),
        (
            lambda: cg.Ensemble([cover([[0]], 2), np.array([[0.5, 0.5], [1.0, 0.0]])]).consensus_matrix(),
            "covers and memberships have no common consensus matrix",
        ),
        (
            lambda: cg.arimm(cg.Ensemble([cover([[0]], 3)]), cg.Ensemble([np.full((3, 2), 0.5)])),
            "covers and memberships have no common consensus matrix",
        ),
        (lambda: cg.omega(np.array([[0.5, 0.5], [1.0, 0.0]]), [0, 1]), "convert the memberships to a cover"),
        (lambda: cg.average_f1(cover([[0]], 2), cover([[0]], 2), weights="size"), "weights must be 'clusters'"),
        (
            lambda: cg.consensus([cover([[0]], 2), cover([[0, 1]], 2)], 2),
            "a consensus puts each point into one cluster",
        ),
        (lambda: cg.relabel(cover([[0]], 2), cover([[0]], 2)), "relabel renames labels"),
        (
            lambda: cg.density_profile(np.zeros((2, 1)), cover([[0]], 2)),
            "expected one cluster per point, or memberships, got a cover",
        ),
        (lambda: cg.adco(cover([[0]], 2), [0, 1], np.zeros((2, 1))), "got a cover"),
        (lambda: cg.dunn(np.zeros((2, 1)), cover([[0]], 2)), "got a cover"),
        (lambda: cg.resolutions({"a": cover([[0]], 2), "b": [0, 1]}), "not scans, memberships or covers"),
        (lambda: cg.permutation_test(cover([[0]], 2), cover([[0]], 2), "omega", null="all"), "there are covers"),
    ],
)
def test_bad_input_is_one_clear_line(make, message):
    """What was given, what was expected, what to try."""
    with pytest.raises(cg.InputError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_files(tmp_path):
    """One cluster per line, points with clusters, long tables and JSON give the same cover; .gz is read through."""
    import gzip

    written = {
        "a.cover": "# a comment\ng1 g2\tg3\ng3,g4\n",
        "a.txt": "g1;g2;g3\n\ng3 g4\n",
        "a.json": json.dumps({"communities": CLUSTERS}),
        "b.json": json.dumps(CLUSTERS),
        "a.csv": "point,cluster,weight\ng1,x,1\ng2,x,1\ng3,x,2\ng3,y,1\ng4,y,1\n",
    }
    expected = cg.Cover(CLUSTERS, POINTS)
    for name, text in written.items():
        (tmp_path / name).write_text(text)
        assert cg.omega(cg.read_cover(tmp_path / name, points=POINTS), expected) == 1.0, name
    (tmp_path / "c.cover.gz").write_bytes(gzip.compress(written["a.cover"].encode()))
    assert cg.omega(cg.read_cover(tmp_path / "c.cover.gz"), cg.Cover(CLUSTERS)) == 1.0
    (tmp_path / "points.dat").write_text("1 10 11\n2 10\n3 11\n")
    assert cg.read_cover(tmp_path / "points.dat", "points").clusters == {10: [1, 2], 11: [1, 3]}
    (tmp_path / "p.json").write_text(json.dumps({"g1": ["x"], "g2": ["x", "y"]}))
    assert cg.read_cover(tmp_path / "p.json", keys="points").clusters == {"x": ["g1", "g2"], "y": ["g2"]}
    for name, message in (("none.cover", "there is no file"), ("a.cover", "no format 'covr'")):
        with pytest.raises(cg.InputError, match=message):
            cg.read_cover(tmp_path / name, "covr" if name == "a.cover" else None)
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(cg.InputError, match="is not JSON"):
        cg.read_cover(tmp_path / "bad.json")


# --- results ---------------------------------------------------------------------------------------------------------


def test_compare_shows_what_explains_omega():
    """Observed, expected, and the share of pairs that share nothing."""
    result = cg.compare(cover([[0, 1, 2]], 6), cover([[0, 1]], 6))
    assert list(result) == ["omega", "onmi_max", "average_f1", "bcubed_f", "element_centric"]
    said = next(c for c in result.cautions if c.startswith("omega"))
    assert "86.7% of the pairs" in said
    assert "76.0% expected" in said
    assert "80.0% share none" in said
    assert result.n_clusters == (1, 1)
    assert result.table.to_array().tolist() == [[2]]


def test_matching_of_covers():
    """Clusters are matched by the points they have in common, with their own sizes."""
    found = cg.match(cover([[0, 1, 2], [2, 3]], 5), cg.Cover({"x": [2, 3, 4], "y": [0, 1]}, 5))
    assert found.rows == ((0, "y", 2, 3, 2), (1, "x", 2, 2, 3))
    assert "4 points in common" in repr(found)


@settings(max_examples=6, deadline=None)
@given(pairs_of_covers(6))
def test_consensus_matrix_is_the_share_of_members(case):
    """Two points are together in the members in which they share a cluster; measures of the matrix follow."""
    a, b, n = case
    ensemble = cg.Ensemble([cover(a, n), cover(b, n)])
    share = [
        [1.0 if i == j else ((naive.shared(a, i, j) > 0) + (naive.shared(b, i, j) > 0)) / 2 for j in range(n)]
        for i in range(n)
    ]
    assert ensemble.consensus_matrix().tolist() == share
    if n > 2:
        other = cg.Ensemble([cover([[0, 1], [1, 2]], n)])
        matrix = cg.Similarity(other.consensus_matrix())
        for key in ("arimm", "kas", "nsf"):
            expected = cg.compare(cg.Similarity(np.array(share)), matrix, key)[key]
            assert cg.compare(ensemble, other, key)[key] == close(expected), key
            assert cg.compare(ensemble, matrix, key)[key] == close(expected), key


def test_item_consensus_of_covers():
    """The mean consensus with the other points of each cluster is that of the consensus matrix."""
    ensemble = cg.Ensemble([cover([[0, 1, 2], [2, 3]], 6), cover([[0, 3], [4, 5, 0]], 6)])
    matrix, labels = ensemble.consensus_matrix(), [0, 0, 0, 1, 1, 1]
    expected = [[np.mean([matrix[i, j] for j in g if j != i]) for g in ((0, 1, 2), (3, 4, 5))] for i in range(6)]
    assert cg.item_consensus(ensemble, labels) == pytest.approx(np.array(expected))


def test_consensus_of_covers_in_pictures_and_samples():
    """The distribution by exact count or by sampled pairs, and the cells of the heat map, are those of the consensus matrix."""
    rng = np.random.default_rng(4)
    ensemble = cg.Ensemble([cg.Cover(rng.random((24, 5)) < 0.25) for _ in range(3)])
    matrix = ensemble.consensus_matrix()
    values, times = np.unique(matrix[np.triu_indices(24, 1)], return_counts=True)
    exact = cg.consensus_cdf(ensemble)
    assert exact(values).tolist() == close((np.cumsum(times) / times.sum()).tolist())
    sampled = cg.consensus_cdf(ensemble, sample=20_000, random_state=0)
    assert sampled(values).tolist() == pytest.approx(exact(values).tolist(), abs=0.02)
    cells = cells_of(ensemble, most=6)
    groups = np.split(cells.order, cells.edges[1:-1])
    for i, j in itertools.product(range(6), repeat=2):
        pairs = [matrix[x, y] for x in groups[i] for y in groups[j] if x != y]
        assert cells.values[i, j] == close(np.mean(pairs))


def test_an_ensemble_of_covers_keeps_its_points():
    """Members of an ensemble can be compared with another cover by the names of the points."""
    runs = {"x": cg.Cover(CLUSTERS, POINTS), "y": cg.Cover([["g1", "g2"], ["g3", "g4", "g5"]], POINTS)}
    ensemble = cg.Ensemble(runs)
    assert repr(ensemble) == "Ensemble: 2 clusterings of 5 points, 2 clusters each"
    rows = cg.compare_to(cg.Cover(CLUSTERS, POINTS[::-1]), ensemble, "omega")
    assert rows["omega"][0] == 1.0
    assert list(cg.compare_all(ensemble)) == ["omega"]
    square = cg.compare_all(ensemble, ["omega", "nf1"])
    for (i, a), (j, b) in itertools.product(enumerate(runs.values()), repeat=2):
        assert square["nf1"][i, j] == close(cg.nf1(a, b))


@pytest.mark.slow
@pytest.mark.parametrize("key", ["onmi_max", "bcubed_f", "omega", "nf1"])
def test_permutation_tests_and_adjusted(key):
    """Draws of tables of signatures are draws of permuted points; adjusted gives the same through every entry point."""
    case = GOLDEN["chance"][0]
    a, b = (cover(case[side], case["n"]) for side in "ab")
    times = Counter(
        tuple(sorted(tuple(sorted(order[i] for i in c)) for c in case["b"]))
        for order in itertools.permutations(range(case["n"]))
    )  # many permutations give the same cover
    rows = cg.compare_to(a, [cover(x, case["n"]) for x in times], key, threads=1)
    mean = np.average(rows[key], weights=list(times.values()))
    test = cg.permutation_test(a, b, key, 60, random_state=1)
    assert test.expected == pytest.approx(mean, abs=5 * test.standard_error + 1e-12)
    adjusted = cg.adjusted(key, n_draws=8)
    assert cg.compare(a, b, [adjusted])[adjusted.key] == adjusted(a, b)
    assert cg.compare_all([a, b], [adjusted])[adjusted.key][0, 1] == pytest.approx(adjusted(a, b), abs=1e-12)


def test_shuffled_signatures_are_drawn_as_tables_are():
    """Where every signature differs, points are shuffled instead of tables drawn; the mean is the same."""
    rng = np.random.default_rng(3)
    a, b = (cover([np.flatnonzero(rng.random(40) < 0.4).tolist() for _ in range(9)], 40) for _ in range(2))
    test = cg.permutation_test(a, b, "comembership_jaccard", 60, random_state=0)
    orders = [rng.permutation(40) for _ in range(60)]
    moved = [cover([order[list(c)].tolist() for c in b.clusters.values()], 40) for order in orders]
    values = cg.compare_to(a, moved, "comembership_jaccard", threads=1)["comembership_jaccard"]
    error = math.hypot(values.std(), test.draws.std()) / math.sqrt(60)
    assert test.draws.mean() == pytest.approx(values.mean(), abs=5 * error)


@pytest.mark.parametrize("key", ["ndc", "aci"])
def test_concordance_of_memberships(key):
    """ndc and aci take memberships, labels and both; frequencies are repeated points."""
    rng = np.random.default_rng(0)
    u, v = (rng.dirichlet(np.ones(3), 7) for _ in range(2))
    value, chance = naive.concordance(u, v)
    expected = {"ndc": value, "aci": (value - chance) / (1 - chance)}[key]
    assert getattr(cg, key)(u, v) == pytest.approx(expected, rel=1e-12)
    labels = np.array([0, 0, 1, 1, 2, 2, 2])
    mixed, mean = naive.concordance(u, np.eye(3)[labels])
    assert getattr(cg, key)(u, labels) == pytest.approx(
        {"ndc": mixed, "aci": (mixed - mean) / (1 - mean)}[key], rel=1e-12
    )
    times = [1, 2, 1, 1, 1, 3, 1]
    repeated = getattr(cg, key)(np.repeat(u, times, axis=0), np.repeat(v, times, axis=0))
    assert getattr(cg, key)(u, v, frequency=times) == pytest.approx(repeated, rel=1e-12)


@pytest.mark.parametrize("key", ["ndc", "aci"])
def test_concordance_of_memberships_and_covers(key):
    """With memberships, a cover is 1/r in each of a point's r clusters, everywhere; a point in none is a row of zeros."""
    rng = np.random.default_rng(1)
    clusters, n = [[0, 1, 2], [2, 3], [1, 4, 5]], 7
    u = rng.dirichlet(np.ones(3), n)
    value, chance = naive.concordance(naive.rows(clusters, n), u)
    expected = {"ndc": value, "aci": (value - chance) / (1 - chance)}[key]
    given = cover(clusters, n)
    assert cg.compare(given, u)[key] == pytest.approx(expected, rel=1e-12)
    assert getattr(cg, key)(u, given) == pytest.approx(expected, rel=1e-12)
    assert cg.compare_all([given, u, [0, 0, 1, 1, 2, 2, 2]], [key])[key][0, 1] == pytest.approx(expected, rel=1e-12)
    assert cg.compare_to(u, [given], key)[key][0] == pytest.approx(expected, rel=1e-12)
    assert list(cg.compare(given, u)) == ["aci", "ndc"]
    shuffled = cg.permutation_test(given, u, key, 200, random_state=0)
    assert shuffled.expected == pytest.approx({"ndc": chance, "aci": 0.0}[key], abs=5 * shuffled.standard_error + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [False, True])
def test_concordance_without_all_pairs(monkeypatch, compiled):
    """Pairs in blocks and values of E in bins give what all pairs give: of fuzzy, crisp, sparse and possibilistic rows."""
    rng = np.random.default_rng(2)
    n = 60
    fuzzy = rng.dirichlet(np.ones(4), n)
    crisp = np.eye(5)[rng.integers(0, 5, n)]
    tenths = np.round(rng.dirichlet(np.ones(3), n), 1)
    loose = rng.random((n, 3))
    sides = [fuzzy, crisp, tenths / tenths.sum(axis=1, keepdims=True), loose, sparse.csr_array(crisp)]
    weights = rng.random(n)
    expected = [cg.compare(a, b, ["ndc", "aci"], sample_weight=weights).to_dict() for a in sides for b in sides]
    monkeypatch.setattr(concordance, "MOST_KEPT", 0)
    monkeypatch.setattr(concordance, "BLOCK", 500)
    monkeypatch.setattr(concordance, "COMPILED_FROM", 0 if compiled else math.inf)
    found = [cg.compare(a, b, ["ndc", "aci"], sample_weight=weights).to_dict() for a in sides for b in sides]
    for mine, theirs in zip(found, expected, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-8, abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["arimm", "kas", "sms"])
def test_ensembles_of_covers_are_permuted(key):
    """The mean and standard deviation over all permutations of the points are those of the test, as far as it knows them."""
    n = 4
    p = cg.Ensemble([cover([[0, 1, 2], [2, 3]], n), cover([[0, 1], [1, 3]], n)])
    q = cg.Ensemble([cover([[0, 1], [1, 2, 3]], n), [0, 0, 1, 2]])
    values = [cg.compare(p, q.taken(np.array(order)), key)[key] for order in itertools.permutations(range(n))]
    test = cg.permutation_test(p, q, key, 100, random_state=0)
    assert test.value == values[0]
    assert test.expected == pytest.approx(np.mean(values), abs=1e-12 if test.is_exact else 5 * test.standard_error)
    assert test.is_exact or key == "kas"
    assert test.standard_deviation == pytest.approx(np.std(values), rel=1e-9 if test.is_deviation_exact else 0.3)
    against = cg.permutation_test(p, cg.Similarity(q.consensus_matrix()), key, 100, random_state=0)
    assert against.value == pytest.approx(test.value)
    assert against.expected == pytest.approx(test.expected, abs=5 * max(against.standard_error, 1e-12))


def test_element_centric_of_large_covers(monkeypatch):
    """Large covers are solved by component, larger ones row by row, with the same values; long computations are refused."""
    rng = np.random.default_rng(1)
    a, b = (cover([np.flatnonzero(rng.random(60) < 0.1).tolist() for _ in range(20)], 60) for _ in range(2))
    for alpha in (0.9, 0.3, 0.05):
        exact = cg.element_centric(a, b, alpha=alpha)
        with monkeypatch.context() as patch:
            patch.setattr(elements, "SMALL", 0)
            assert cg.element_centric(a, b, alpha=alpha) == close(exact)
            assert cg.element_centric(a, b, alpha=alpha, limit=1) == pytest.approx(exact, rel=1e-11)
    dense = cg.element_scores(a, b)
    monkeypatch.setattr(elements, "SMALL", 0)
    sampled = cg.element_centric(a, b, limit=1, sample=4_000)
    assert sampled == pytest.approx(dense.mean(), abs=5 * dense.std() / math.sqrt(4_000))
    assert sampled != dense.mean()
    monkeypatch.setattr(elements, "MOST_SOLVED", 1)
    assert cg.element_scores(a, b) == pytest.approx(dense, rel=1e-11)
    monkeypatch.setattr(elements, "MOST_STEPS", 10)
    with pytest.raises(cg.NotApplicable, match="sample=10_000 to score that many random points"):
        cg.element_centric(a, b, limit=1)
    assert cg.element_centric(a, b, limit=None) == pytest.approx(dense.mean(), rel=1e-11)
    result = cg.compare(a, b)
    assert "element_centric" in result
    with pytest.raises(cg.InputError, match="sample must be at least 1, not 0"):
        cg.element_centric(a, b, sample=0)


def test_doors_take_labels_and_covers_together():
    """All pairs of a list of labels and covers are compared."""
    a, b = [0, 0, 1, 1], cover([[0, 1], [1, 2, 3]], 4)
    values = [value for _, value in doors(a, b, ["omega", "average_f1", "bcubed_f"])]
    for other in values[1:]:
        for key, value in other.items():
            assert value == close(values[0][key])
