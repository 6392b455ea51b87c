"""Ensembles from data: the same for any number of jobs, and diverse."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import congruence as cg
from congruence.ensembles.generators import counts_of

WINE, CLASSES = load_wine(return_X_y=True)
WINE = StandardScaler().fit_transform(WINE)
METHODS = ("kmeans", "projection", "features", "subsample", "em", "fuzzy", "mixed")


def arrays(e):
    return [c.matrix if c.soft else c.codes for c in e]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_members_depend_on_the_seed_alone(method):
    """The same random_state gives the same members for one job and for two, and for a prefix of the ensemble."""
    first = cg.generate(WINE, 6, range(2, 5), method, random_state=1)
    second = cg.generate(WINE, 6, range(2, 5), method, random_state=1, n_jobs=2)
    fewer = cg.generate(WINE, 3, range(2, 5), method, random_state=1)
    for a, b in zip(arrays(first), arrays(second), strict=True):
        assert np.array_equal(a, b)
    for a, b in zip(arrays(first), arrays(fewer), strict=False):
        assert np.array_equal(a, b)
    other = cg.generate(WINE, 6, range(2, 5), method, random_state=2)
    assert any(
        a.shape != b.shape or not np.array_equal(a, b) for a, b in zip(arrays(first), arrays(other), strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_members_find_structure(method):
    """With the right number of clusters the members agree with the classes of wine, and with each other."""
    e = cg.generate(WINE, 9, 3, method, random_state=0)
    assert (len(e), e.n_points) == (9, 178)
    # in 13 dimensions fuzzy memberships are near 1/3 each: what counts is the cluster each point leans to
    hard = cg.Ensemble([c.matrix.argmax(axis=1) if c.soft else c for c in e])
    assert hard.arimp(CLASSES) > 0.4
    assert hard.certainty() > 2 * cg.certainty_random(3, 9)


@pytest.mark.parametrize("method", ["em", "fuzzy"])
def test_soft_methods_give_memberships(method):
    """Rows of memberships add up to 1."""
    e = cg.generate(WINE, 3, 3, method, random_state=0)
    assert e.is_soft
    assert all(c.is_probabilistic for c in e)


def test_partial_members_have_gaps():
    """complete=False leaves the points outside the subsample without a label; complete=True gives them the nearest."""
    partial = cg.generate(WINE, 4, 3, "subsample", random_state=0, fraction=0.5, complete=False)
    assert [c.gaps for c in partial] == [89] * 4
    assert not cg.generate(WINE, 4, 3, "subsample", random_state=0, fraction=0.5).has_gaps
    assert partial.arimp(CLASSES) > 0.5


def test_any_clusterer_or_a_list_of_them():
    """Clusterers are copied, given the number of clusters and a random state, and taken in turn."""
    model = KMeans(n_init=1)
    e = cg.generate(WINE, 4, 3, [model, AgglomerativeClustering()], random_state=0)
    assert [name.split()[0] for name in e.names] == ["KMeans", "AgglomerativeClustering"] * 2
    assert {c.k for c in e} == {3}
    assert not hasattr(model, "labels_")
    assert np.array_equal(e[1].codes, e[3].codes)


def test_data_of_every_kind():
    """Frames and sparse matrices give what their arrays give."""
    plain = cg.generate(WINE, 2, 3, random_state=0)
    for data in (pd.DataFrame(WINE), WINE.tolist(), np.asfortranarray(WINE)):
        again = cg.generate(data, 2, 3, random_state=0)
        assert all(np.array_equal(a, b) for a, b in zip(arrays(plain), arrays(again), strict=True))
    words = sparse.random_array((50, 20), density=0.2, rng=np.random.default_rng(0))
    for method in ("kmeans", "projection", "features", "subsample"):
        assert cg.generate(words, 2, 3, method, random_state=0).n_points == 50


def test_members_with_fewer_clusters_are_kept():
    """Three distinct points cannot make five clusters; the members have three."""
    data = np.repeat([[0.0, 0], [1, 0], [0, 1]], 5, axis=0)
    assert {c.k for c in cg.generate(data, 3, 5, random_state=0)} <= {1, 2, 3}


@pytest.mark.slow
def test_k_is_drawn_from_the_range():
    """Every number of clusters of the range occurs, and no other."""
    assert {c.k for c in cg.generate(WINE, 40, range(2, 6), random_state=0)} == {2, 3, 4, 5}


def test_progress_counts_members():
    """The callable sees (done, total) for every member."""
    seen = []
    cg.generate(WINE, 3, 3, random_state=0, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"method": "kmean"}, "there is no method 'kmean'; did you mean kmeans"),
        ({"method": 3}, "a scikit-learn clusterer or a list"),
        ({"method": KMeans}, "a scikit-learn clusterer or a list"),
        ({"n_clusters": 200}, r"from 1 to the number of points \(178\)"),
        ({"n_clusters": []}, "not none"),
        ({"n_members": 0}, "at least 1"),
        ({"fraction": 0, "method": "subsample"}, "fraction must be above 0"),
        ({"X": WINE[:, 0]}, "points × features"),
        ({"X": np.where(WINE > 2, np.nan, WINE)}, "missing or infinite"),
        ({"X": [["a", "b"], ["c", "d"]]}, "must be numbers"),
        ({"X": sparse.csr_array(WINE), "method": "em"}, "needs dense data"),
        ({"random_state": "seed"}, "random_state must be"),
    ],
)
def test_mistakes_are_one_line(arguments, text):
    """Bad input says what was expected."""
    with pytest.raises(cg.InputError, match=text) as error:
        cg.generate(**{"X": WINE, "n_members": 2, "n_clusters": 3, **arguments})
    assert "\n" not in str(error.value)


def test_members_that_did_not_converge_are_reported():
    """A mixture that stops early is kept, and the ensemble says how many did."""
    from sklearn.mixture import GaussianMixture

    e = cg.generate(WINE, 3, 3, GaussianMixture(max_iter=1), random_state=0)
    assert any(note.startswith("3 of 3 members: ") and "converge" in note for note in e.notes)


@pytest.mark.slow
def test_the_first_member_is_made_by_one_thread_too():
    """In a fresh interpreter the thread pools of scikit-learn are loaded before they are limited."""
    program = """
import numpy as np
from threadpoolctl import threadpool_info
from congruence.ensembles import generators
seen = []
def probe(data, k, rng):
    import sklearn.cluster
    seen.extend(pool["num_threads"] for pool in threadpool_info())
    return np.arange(len(data)) % k
generators._kmeans = probe
generators.generate(np.zeros((9, 2)), 1, 3, random_state=0)
assert seen and set(seen) == {1}, seen
"""
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, "OMP_NUM_THREADS": "2"})


def test_em_does_not_depend_on_the_units():
    """Features in metres or in microns: the ridge that keeps covariances regular is a share of their variances."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [9, 0]], 20, axis=0)
    large, small = (cg.generate(X * unit, 3, 2, "em", random_state=0) for unit in (1.0, 1e-6))
    for a, b in zip(arrays(large), arrays(small), strict=True):
        assert a == pytest.approx(b, abs=1e-6)
        assert a.max(axis=1).min() > 0.9


def test_noise_of_a_clusterer_has_no_label():
    """−1 of a scikit-learn clusterer is not a cluster: the member has no label for those points."""
    from sklearn.cluster import DBSCAN

    X = np.vstack([np.zeros((5, 2)), np.full((5, 2), 9.0), [[50.0, 50.0]]])
    e = cg.generate(X, 2, method=DBSCAN(), random_state=0)
    assert (e.has_gaps, e.members[0].k) == (True, 2)
    assert e.cautions == ()
    assert cg.consensus(e, 2).labels.tolist() == [0] * 5 + [1] * 5 + [-1]
    assert cg.generate(X[:9], 1, method=DBSCAN(), random_state=0)[0].k == 1
    nothing = cg.generate(X, 2, method=[DBSCAN(), DBSCAN(eps=1e-9, min_samples=20)], random_state=0)
    assert [c.k for c in nothing] == [2, 0]
    assert cg.consensus(nothing, 2).n_clusters == 2


def test_a_pipeline_is_a_clusterer():
    """The number of clusters goes to the last step of a pipeline, the random state to all."""
    from sklearn.cluster import SpectralClustering
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    method = make_pipeline(PCA(2), KMeans(n_init=1))
    e = cg.generate(WINE, 4, 5, method, random_state=0)
    assert {c.k for c in e} == {5}
    again = cg.generate(WINE, 4, 5, method, random_state=0)
    assert all(np.array_equal(a, b) for a, b in zip(arrays(e), arrays(again), strict=True))
    assert counts_of(method) == ["kmeans__n_clusters"]
    assert counts_of(SpectralClustering(n_components=7)) == ["n_clusters"]


def test_members_have_the_index_of_the_frame():
    """Labels of a frame's rows are not compared with rows in another order, and their consensus has its index."""
    names = [f"p{i}" for i in range(len(WINE))]
    for method in ("kmeans", "em"):
        e = cg.generate(pd.DataFrame(WINE, index=names), 3, 3, method, random_state=0)
        assert e.index.tolist() == names
        shuffled = pd.Series(CLASSES, index=names).sample(frac=1, random_state=0)
        with pytest.raises(cg.InputError, match="a different order"):
            cg.compare_to(shuffled, e, ["vi"])
        assert cg.consensus(e, 3, "kcc").to_frame().index.tolist() == names


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (pd.DataFrame({"x": [1, 2, None], "y": [0.5, 1, 2]}).convert_dtypes(), {}, "missing"),
        (np.ones((3, 2)) * 1j, {}, "must be numbers"),
        (WINE, {"n_clusters": "12"}, "n_clusters must be a whole number"),
        (WINE, {"n_clusters": 3.0}, "n_clusters must be a whole number"),
        (WINE, {"n_clusters": [2.7]}, "n_clusters must be a whole number"),
        (WINE, {"n_members": 3.0}, "n_members must be a whole number"),
        (WINE, {"random_state": -1}, "0 or more"),
        (WINE, {"n_jobs": 0}, "number of processes"),
    ],
)
def test_values_that_are_not_numbers_are_refused(data, options, words):
    """Bad input is one line, before anything is clustered, and never silently replaced."""
    with pytest.raises(cg.InputError, match=words):
        cg.generate(data, **{"n_members": 2, "n_clusters": 2, **options})


def test_a_lazy_frame_is_read():
    """A polars LazyFrame works like its frame."""
    polars = pytest.importorskip("polars")
    assert cg.generate(polars.DataFrame(WINE).lazy(), 2, 3, random_state=0).n_points == len(WINE)


def test_fuzzy_does_not_hold_every_difference_at_once():
    """Its memory is that of the data and the memberships, not points × clusters × features."""
    import tracemalloc

    X = np.random.default_rng(0).normal(size=(2000, 50))
    cg.generate(X[:50], 1, 2, "fuzzy", random_state=0)  # imports do not count
    tracemalloc.start()
    cg.generate(X, 1, 20, "fuzzy", random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2000 * 20 * 50 * 8 / 2


@pytest.mark.parametrize("protocol", [None, "paper"])
def test_covariances_of_mixtures_are_of_the_requested_kind(protocol):
    """Two long parallel clusters are found with correlations, and not without."""
    rng = np.random.default_rng(0)
    stretched = rng.normal(size=(300, 2)) @ np.array([[4.0, 3.9], [0.0, 0.3]])
    X = np.vstack([stretched, stretched + np.array([0.0, 8.0])])
    truth = np.repeat([0, 1], 300)
    kinds = ("full", "tied", "diag", "spherical")
    best, digests = {}, set()
    for kind in kinds:
        runs = cg.generate(X, 12, 2, "em", 0, covariance_type=kind, protocol=protocol, progress=False)
        best[kind] = max(cg.ari(truth, m.codes) for m in runs.members)
        digests.add(runs.members[0].dense().tobytes())
    assert best["full"] > 0.95 > 0.5 > max(best["diag"], best["spherical"])
    assert len(digests) == len(kinds)
    default = cg.generate(X, 2, 2, "em", 0, protocol=protocol, progress=False)
    named = cg.generate(
        X, 2, 2, "em", 0, protocol=protocol, covariance_type="full" if protocol is None else "diag", progress=False
    )
    assert np.array_equal(default.members[1].dense(), named.members[1].dense())


def test_covariance_types_are_checked():
    """An unknown kind, and a kind without mixtures, are refused."""
    X = np.random.default_rng(0).normal(size=(20, 2))
    for options, message in (
        ({"method": "em", "covariance_type": "round"}, "'full', 'tied', 'diag' or 'spherical'"),
        ({"method": "kmeans", "covariance_type": "diag"}, "is for method 'em'"),
    ):
        with pytest.raises(cg.InputError, match=message):
            cg.generate(X, 2, 2, **options)
    with pytest.raises(cg.InputError, match="is for method 'em'"):
        cg.choose_k(X, [2, 3], covariance_type="diag")


def test_possibilistic_memberships_solve_their_equations():
    """Memberships are 1 / (1 + d²/η) of the centres they give; they do not add up to 1, and far points belong nowhere."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 10, [[200.0, -200.0]]])
    u = cg.generate(X, 1, 2, "possibilistic", 0, progress=False).members[0].dense()
    centres = (u**2).T @ X / (u**2).sum(axis=0)[:, None]
    squares = ((X[:, None] - centres) ** 2).sum(axis=2)
    eta = squares * u / (1 - u)
    assert np.allclose(eta, np.median(eta, axis=0), rtol=1e-2)
    assert u.max() > 0.9
    assert u[-1].max() < 0.1
    assert not np.allclose(u.sum(axis=1), 1)
