"""scikit-learn compatibility: names of arguments and functions, scorers, and estimators in pipelines and searches."""

from __future__ import annotations

import os
import pickle
import re
import warnings
from itertools import cycle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context, metrics
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import congruence as cg
from congruence.alternative_clustering.search import METHODS as ALTERNATIVE_METHODS
from tests.consensus_cases import ALL as CONSENSUS_METHODS
from tests.consensus_cases import taken_by

A, B = [0, 0, 0, 1, 1, 2, 2, 2], [1, 1, 0, 0, 0, 2, 2, 1]
X, Y = make_blobs(90, centers=3, random_state=0, cluster_std=0.6)


@pytest.mark.parametrize(
    "name",
    [
        "adjusted_rand_score", "rand_score", "mutual_info_score", "normalized_mutual_info_score", "adjusted_mutual_info_score",
        "homogeneity_score", "completeness_score", "v_measure_score", "fowlkes_mallows_score",
    ],
)  # fmt: skip
def test_scikit_learns_functions_have_the_same_names_and_values(name):
    """A function of sklearn.metrics can be replaced by that of the same name: same arguments, same value."""
    expected = getattr(metrics, name)(labels_true=A, labels_pred=B)
    assert getattr(cg, name)(labels_true=A, labels_pred=B) == pytest.approx(expected, rel=1e-12)
    assert getattr(cg, name)(A, labels_pred=B) == getattr(cg, name)(A, B) == getattr(cg, name)(a=A, b=B)


@pytest.mark.parametrize("mean", ["arithmetic", "geometric", "min", "max"])
def test_the_mean_of_entropies_is_an_option_as_in_scikit_learn(mean):
    """average_method picks the same normalisation."""
    for name in ("normalized_mutual_info_score", "adjusted_mutual_info_score"):
        expected = getattr(metrics, name)(A, B, average_method=mean)
        assert getattr(cg, name)(A, B, average_method=mean) == pytest.approx(expected, rel=1e-12)
    with pytest.raises(cg.InputError, match="average_method must be"):
        cg.normalized_mutual_info_score(A, B, average_method="mean")
    with pytest.raises(TypeError, match="has no option 'average_method'"):
        cg.ari(A, B, average_method=mean)


def test_the_names_of_the_literature():
    """nmi and ami are those with the arithmetic mean; dir shows public names only."""
    assert cg.nmi(A, B) == cg.nmi_sum(A, B)
    assert cg.ami(A, B) == cg.ami_sum(A, B)
    assert cg.variation_of_information(A, B) == cg.vi(A, B)
    assert not [name for name in dir(cg) if name.startswith("_") and name != "__version__"]
    assert "import_module" not in dir(cg)
    assert "Any" not in dir(cg)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"unasigned": "drop"}, "ari.. has no option 'unasigned'; did you mean unassigned"),
        ({"labels_true": A}, "two values for a .labels_true."),
        ({"beta": 2}, "has no option 'beta'"),
    ],
)
def test_a_mistyped_option_is_an_error(given, text):
    """An option that a measure does not have is refused by name."""
    with pytest.raises(TypeError, match=text):
        cg.ari(A, B, **given)


def test_two_clusterings_are_needed():
    """One clustering, or three, is a TypeError that says what is missing."""
    with pytest.raises(TypeError, match=r"needs two clusterings: b .labels_pred. is missing"):
        cg.ari(A)
    with pytest.raises(TypeError, match="3 were given by position"):
        cg.ari(A, B, A)


def test_scorers_in_searches():
    """cg.scorer works in cross_validate and GridSearchCV, also with several processes; distances change sign."""
    found = cross_validate(
        KMeans(3, n_init=3, random_state=0), X, Y, cv=3, scoring={"ami": cg.scorer("ami_max"), "vi": cg.scorer("vi")}
    )
    assert found["test_ami"].mean() > 0.8
    assert (found["test_vi"] <= 0).all()
    search = GridSearchCV(KMeans(n_init=3, random_state=0), {"n_clusters": [2, 3, 6]}, scoring=cg.scorer("ari"), cv=3)
    assert search.fit(X, Y).best_params_ == {"n_clusters": 3}
    assert pickle.loads(pickle.dumps(cg.scorer("v_measure", beta=2.0)))(search.best_estimator_, X, Y) > 0.8  # noqa: S301


@pytest.mark.slow
def test_consensus_of_data_predicts():
    """Floats are data: they are clustered, and predict finds the nearest consensus cluster, also in a pipeline."""
    model = make_pipeline(StandardScaler(), cg.ConsensusClustering(3, n_members=10, random_state=0))
    frame = pd.DataFrame(X, columns=["x", "y"])
    labels = model.set_output(transform="pandas").fit_predict(frame)
    assert cg.ari(labels, Y) > 0.8
    assert cg.ari(model.predict(frame), labels) > 0.9
    assert cg.ari(clone(model).fit_predict(frame), labels) == 1.0
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert again.predict(frame).tolist() == model.predict(frame).tolist()
    search = GridSearchCV(
        cg.ConsensusClustering(n_members=5, random_state=0), {"n_clusters": [2, 3]}, scoring=cg.scorer("ari"), cv=2
    )
    assert search.fit(X, Y).best_params_ == {"n_clusters": 3}


def test_several_scorers_with_weights():
    """Several measures are a dictionary of scorers; with metadata routing fit and scorers get the weights of their points."""
    weight = np.where(np.arange(len(X)) % 3, 1.0, 0.25)
    model = cg.ConsensusClustering(3, n_members=3, random_state=0)
    with config_context(enable_metadata_routing=True):
        scorers = {key: x.set_score_request(sample_weight=True) for key, x in cg.scorer(["ari", "vi"]).items()}
        model.set_fit_request(sample_weight=True)
        found = cross_validate(
            model,
            X,
            Y,
            cv=2,
            scoring=scorers,
            params={"sample_weight": weight},
            return_estimator=True,
            return_indices=True,
        )
    for i, (fitted, rows) in enumerate(zip(found["estimator"], found["indices"]["test"], strict=True)):
        expected = {
            key: getattr(cg, key)(Y[rows], fitted.predict(X[rows]), sample_weight=weight[rows]) for key in scorers
        }
        assert found["test_ari"][i] == expected["ari"]
        assert found["test_vi"][i] == -expected["vi"]
        assert (fitted.ensemble_.mass.values / fitted.ensemble_.mass.values.max()).tolist() == weight[
            found["indices"]["train"][i]
        ].tolist()
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        model.fit(X, weight=weight)
    with pytest.raises(cg.InputError, match="an Ensemble has its own weights"):
        cg.ConsensusClustering(3).fit(cg.Ensemble([A, B]), sample_weight=np.ones(len(A)))


def test_label_columns_of_alternatives():
    """transform gives a label column per alternative, as a frame if asked; with metadata routing fit gets the given labels."""
    grid = np.array([[a, b, c] for a in (0.0, 9.0) for b in (0.0, 9.0) for c in (0.0, 9.0) for _ in range(5)])
    known, frame = grid[:, 0].astype(int), pd.DataFrame(grid, columns=list("abc"))
    model = cg.AlternativeClustering(2, n_alternatives=2, random_state=0).set_output(transform="pandas")
    found = model.fit(frame, known).transform(frame)
    assert list(found.columns) == ["alternativeclustering0", "alternativeclustering1"]
    assert [found[name].tolist() for name in found] == [one.labels.tolist() for one in model.alternatives_]
    assert model.transform(frame[:1]).shape == (1, 2)
    alone = cg.AlternativeClustering(1).fit(grid, known)
    assert alone.transform(grid).shape == (len(grid), 0)
    assert not hasattr(model, "predict_proba")
    order = np.random.default_rng(0).permutation(len(grid))
    with config_context(enable_metadata_routing=True):
        model = cg.AlternativeClustering(2, random_state=0).set_fit_request(given_labels=True)
        scores = cross_validate(
            model,
            grid[order, :2],
            grid[order, 1] > 0,
            cv=2,
            scoring=cg.scorer("ari"),
            params={"given_labels": known[order]},
        )
    assert scores["test_score"].tolist() == [1.0, 1.0]


def test_weights_of_a_consensus_of_labels():
    """Weights of fit are those of the ensemble."""
    rng = np.random.default_rng(0)
    columns, weight = rng.integers(0, 3, (60, 4)), rng.random(60)
    model = cg.ConsensusClustering(3, random_state=0).fit(columns, sample_weight=weight)
    plain = cg.ConsensusClustering(3, random_state=0).fit(cg.Ensemble(columns, sample_weight=weight))
    assert model.labels_.tolist() == plain.labels_.tolist()
    assert np.array_equal(model.memberships_, plain.memberships_)


def test_shares_of_votes():
    """transform gives the memberships of the points of fit, from labels, words, gaps and an Ensemble, and places new rows."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 3, (60, 4))
    gaps = np.where(rng.random((60, 4)) < 0.2, np.nan, columns)
    gaps[0] = np.nan
    for given in (columns, columns.astype(str), gaps, pd.DataFrame(columns), cg.Ensemble(columns)):
        model = cg.ConsensusClustering(3, random_state=0).fit(given)
        assert np.allclose(model.transform(given), model.memberships_, rtol=1e-12, equal_nan=True)
    model = cg.ConsensusClustering(3, random_state=0).fit(columns, sample_weight=rng.random(60))
    assert np.allclose(model.transform(columns), model.memberships_, rtol=1e-12)
    assert np.isnan(model.transform(np.full((1, 4), 9))).all()
    frame = pd.DataFrame(X, columns=["x", "y"])
    model = cg.ConsensusClustering(3, n_members=5, random_state=0).set_output(transform="pandas")
    found = model.fit_transform(frame)
    assert list(found.columns) == [f"consensusclustering{i}" for i in range(3)]
    assert np.allclose(
        found, model.memberships_, atol=1e-12
    )  # k-means puts points into the cluster with the nearest mean
    assert model.transform(frame[:5]).index.tolist() == [0, 1, 2, 3, 4]
    assert not hasattr(model, "predict_proba")
    with pytest.raises(cg.InputError):
        model.fit([[1]])
    with pytest.raises(cg.InputError, match="the last fit failed"):
        model.transform(X)


@pytest.mark.slow
def test_pixels_are_not_clusterings():
    """The digits are floats, so fit clusters them instead of reading 64 pixels as 64 clusterings."""
    digits, truth = load_digits(return_X_y=True)
    model = cg.ConsensusClustering(10, n_members=6, random_state=0).fit(digits[:400])
    assert len(model.ensemble_) == 6
    assert cg.ari(model.labels_, truth[:400]) > 0.4


def test_consensus_of_labels_has_no_predict():
    """Integers, words and whole numbers with gaps are label columns; labels alone cannot place new points."""
    labels = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    gaps = np.where([[0, 0, 1]] * 4, np.nan, labels)
    for given in (labels, gaps, labels.astype(str), pd.DataFrame(labels), cg.Ensemble(labels)):
        model = cg.ConsensusClustering(2, method="average").fit(given)
        assert model.labels_.tolist() == [0, 0, 1, 1]
        assert not hasattr(model, "predict")
    with pytest.raises(AttributeError) as error:
        model.predict(labels)
    assert "fitted on labels alone" in str(error.value.__cause__)


@pytest.mark.slow
def test_alternatives_as_an_estimator():
    """Known labels are y; without y, labels_ is the k-means clustering; predict assigns new points."""
    rng = np.random.default_rng(0)
    colour, shape = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    points = np.column_stack([6.0 * colour, 5.0 * shape]) + rng.normal(size=(60, 2))
    model = cg.AlternativeClustering(2, random_state=0, n_init=2).fit(points, colour)
    assert cg.ari(model.labels_, shape) > 0.8
    assert cg.ari(model.predict(points), model.labels_) > 0.8
    assert cg.ari(cg.AlternativeClustering(2, random_state=0, n_init=2).fit(points).labels_, colour) > 0.5
    same = cg.AlternativeClustering(2, random_state=0, n_init=2).fit_predict(points, given_labels=colour)
    assert same.tolist() == model.labels_.tolist()


GENERATORS = (None, "kmeans", "projection", "features", "subsample", "em", "fuzzy", "mixed", KMeans(3, n_init=1))
OPTIONS = (
    {},
    {"n_clusters": None},
    {"unseen": "nearest"},
    {"n_jobs": 1},
    {"member_clusters": [2, 4]},
    {"solver": "builtin"},
)
CONFIGURATIONS = [
    *(
        cg.ConsensusClustering(
            **{"n_clusters": 3, "method": m, "generator": g, "n_members": 3, "random_state": 0, **taken_by(m, n_init=1)}
            | (taken_by(m, **options) if "solver" in options else options)
        )
        for m, g, options in zip(("auto", *CONSENSUS_METHODS), cycle(GENERATORS), cycle(OPTIONS), strict=False)
    ),
    cg.ConsensusClustering(3, n_members=3, noise=-1, random_state=0),
    cg.AlternativeClustering(method="auto", n_init=1, random_state=0),
    *(
        cg.AlternativeClustering(method=name, n_init=1 if method.n_init > 1 else None, random_state=0)
        for name, method in ALTERNATIVE_METHODS.items()
    ),
    cg.AlternativeClustering(5, n_alternatives=2, scale=False, method="adft", n_init=1, random_state=0),
]


#: all of them take about 100 s of processor time: by default every sixth one is checked
SOME_ONLY = pytest.mark.skipif(
    "CONGRUENCE_EVERY_ESTIMATOR" not in os.environ, reason="set CONGRUENCE_EVERY_ESTIMATOR=1 to check every estimator"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "estimator",
    [pytest.param(x, marks=[SOME_ONLY] if i % 6 else []) for i, x in enumerate(CONFIGURATIONS)],
    ids=lambda x: re.sub(r"\s+", " ", repr(x))[:120],
)
def test_estimators_keep_the_rules_of_scikit_learn(estimator):
    """Every check of check_estimator passes, in every configuration."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns about checks that it skips; some data have no alternative
        found = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(found) > 40
    assert [(x["check_name"], str(x["exception"])) for x in found if x["status"] not in ("passed", "skipped")] == []


def test_the_configurations_are_all_there():
    """Every method of both estimators and every generator is checked."""
    assert {*CONSENSUS_METHODS, *ALTERNATIVE_METHODS} <= {x.method for x in CONFIGURATIONS}
    assert {str(x) for x in GENERATORS} == {str(x.generator) for x in CONFIGURATIONS if hasattr(x, "generator")}


def test_the_weakest_direction_is_kept_with_a_warning():
    """An estimator always has labels; the function refuses, and says what to pass."""
    with pytest.raises(cg.NotApplicable, match="pass weakest=True"):
        cg.alternatives(X, Y, 3, method="orthogonal", random_state=0)
    with pytest.warns(UserWarning, match="span all 2 dimensions.*that direction was kept"):
        model = cg.AlternativeClustering(3, method="orthogonal", random_state=0).fit(X, Y)
    wanted = cg.alternatives(X, Y, 3, method="orthogonal", random_state=0, weakest=True)[0]
    assert model.labels_.tolist() == wanted.labels.tolist()
    with pytest.raises(cg.NotApplicable):
        cg.AlternativeClustering(3, method="orthogonal", options={"weakest": False}).fit(X, Y)
