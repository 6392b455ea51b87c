"""Options that have no effect are refused: with one line, in Python and on the command line."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

import congruence as cg

A, B = [0, 0, 0, 1, 1, 1] * 3, [0, 0, 1, 1, 2, 2] * 3
RUNS = {"a": A, "b": B, "c": [0, 1] * 9}
X = np.random.default_rng(0).normal(size=(18, 2))
U = np.eye(2)[A] * 0.8 + 0.1
TREES = [cg.Hierarchy("((0,1),(2,3));"), cg.Hierarchy("((0,2),(1,3));")]
PROFILES = [cg.density_profile(X, A, cg.Binning().fit(X)) for _ in range(2)]
M = cg.consensus_matrix(RUNS)
WINDOWS = [(X, A), (X, B)]

#: a function, the arguments of a call in which options have no effect, and those options with a value
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], dict[str, Any]]] = [
    (cg.compare, (A, B), {}, {"progress": True, "client": "x", "checkpoint": "x", "memory": "2GB", "skip_bad": True}),
    (cg.compare, (U, U), {}, {"noise": -1}),
    (cg.compare_all, ([U, U],), {}, {"noise": {"0": -1}}),
    (cg.compare_all, (RUNS,), {}, {"client": "x", "checkpoint": "x", "memory": "2GB", "skip_bad": True}),
    (cg.compare_all, (TREES,), {}, {"progress": True, "unassigned": "drop", "noise": -1}),
    (cg.compare_to, (TREES[0], TREES), {}, {"progress": True}),
    (cg.element_scores, (A, B), {}, {"sample_weight": [1.0] * 18, "frequency": [1] * 18, "out": "x"}),
    (cg.element_scores, (cg.Cover([[0, 1], [1, 2]]), cg.Cover([[0], [1, 2]])), {}, {"out": "x"}),
    (cg.relabel, (A, B), {}, {"out": "x"}),
    (cg.item_consensus, (RUNS, A), {}, {"out": "x"}),
    (cg.permutation_test, (A, B), {}, {"sided": "one"}),
    (cg.permutation_test, (A, B), {"method": "moments"}, {"level": 0.9, "progress": True, "stop_after": 5}),
    (cg.permutation_tests, (RUNS,), {}, {"sided": "one"}),
    (cg.permutation_tests, (RUNS,), {"method": "moments"}, {"progress": True}),
    (cg.adjusted, ("jaccard",), {}, {"sided": "one"}),
    (cg.consensus, (RUNS, 2), {}, {"solver": "builtin", "balance": 0.1, "X": X, "out": "x", "client": "x"}),
    (cg.consensus, (RUNS, 2, "average"), {}, {"solver": "builtin", "balance": 0.1, "n_init": 3}),
    (cg.consensus, (RUNS, 2, ["kcc", "voting"]), {}, {"solver": "builtin", "variant": "metis"}),
    (cg.consensus, (RUNS, 2, "mcla"), {}, {"n_init": 3}),
    (cg.consensus, (RUNS, 2, "hbgf"), {"variant": "metis"}, {"n_init": 3}),
    (cg.generate, (X, 2, 2), {}, {"fraction": 0.5, "complete": False, "protocol": "paper"}),
    (cg.generate, (X, 2), {"method": DBSCAN()}, {"n_clusters": 3}),
    (cg.select_members, (RUNS, 2), {}, {"alpha": 0.2}),
    (cg.stability, (X, np.argmin), {}, {"fraction": 0.5, "jitter": 0.1, "noise": (0.1, 2.0)}),
    (cg.stability, (X, np.argmin), {"scheme": "noise"}, {"fraction": 0.5, "jitter": 0.1}),
    (cg.choose_k, (X,), {}, {"fraction": 0.5, "n_subsamples": 5, "protocol": "paper"}),
    (cg.choose_k, (X,), {"method": "average"}, {"fraction": 0.5, "n_subsamples": 5, "protocol": "paper"}),
    (cg.choose_k, (X,), {"criteria": "silhouette"}, {"fraction": 0.5, "n_subsamples": 5, "n_members": 5}),
    (cg.choose_k, (X,), {"criteria": "ari"}, {"fraction": 0.5, "n_subsamples": 5, "standardise": True}),
    (cg.choose_k, (X,), {"criteria": "paper"}, {"method": "kmeans"}),
    (
        cg.choose_k,
        ({2: [A, B], 3: [A, B]},),
        {},
        {
            "k": 3,
            "method": "kmeans",
            "n_members": 5,
            "k_min": 2,
            "protocol": "paper",
            "standardise": True,
            "fraction": 0.5,
        },
    ),
    (cg.adco, (A, B, X), {}, {"random_state": 1}),
    (cg.adco, (A, B, X), {"binning": "mdl"}, {"bins": 5}),
    (cg.compare_profiles, (A, B, X), {"binning": cg.Binning()}, {"bins": 5, "nominal": ["x"]}),
    (
        cg.compare_profiles,
        tuple(PROFILES),
        {},
        {"binning": "mdl", "bins": 5, "nominal": ["x"], "bivariate": True, "unassigned": "drop", "noise": -1, "X": X},
    ),
    (cg.Binning, ("mdl",), {}, {"bins": 5}),
    (cg.drift, (WINDOWS,), {}, {"progress": True, "features": ["x"]}),
    (cg.drift, (WINDOWS,), {"binning": cg.Binning()}, {"bins": 5, "nominal": ["x"]}),
    (cg.alternatives, (X, A), {"method": "coala"}, {"n_init": 3}),
    (cg.alternatives, (X, A), {"binning": cg.Binning()}, {"bins": 5}),
    (cg.consensus_cdf, (RUNS,), {}, {"random_state": 1}),
    (cg.consensus_cdf, (RUNS,), {"sample": 5}, {"progress": True}),
    (cg.certainty, (cg.Similarity(M),), {}, {"missing": "plain"}),
    (cg.pnmi, (RUNS,), {}, {"missing": "plain"}),
    (cg.kas, (cg.Similarity(M), cg.Similarity(M)), {}, {"missing": "plain"}),
    (cg.Cover, ([[0, 1], [1, 2]],), {}, {"keys": "points"}),
    (cg.Ensemble(RUNS).plot, ("flow",), {}, {"labels": A}),
    (cg.report, (RUNS,), {}, {"axes": ["x", "y"]}),
    (cg.report, (cg.Ensemble(RUNS),), {}, {"unassigned": "cluster", "noise": -1}),
    (
        cg.report,
        ([cg.Cover([[0, 1], [1, 2]])] * 2,),
        {},
        {"n_clusters": 2, "data": X, "axes": ["x", "y"], "source": "x"},
    ),
]


def refusals() -> list[Any]:
    return [
        pytest.param(function, args, {**beside, name: value}, id=f"{function.__qualname__}-{name}-{i}")
        for i, (function, args, beside, options) in enumerate(CASES)
        for name, value in options.items()
    ]


@pytest.mark.parametrize(("function", "args", "options"), refusals())
def test_an_option_without_effect_is_refused(function, args, options):
    """An option that changes nothing in this call is an InputError that names it."""
    with pytest.raises(cg.InputError, match=list(options)[-1]):
        function(*args, **options)


@pytest.mark.parametrize(
    ("function", "args", "beside", "names"),
    [
        pytest.param(function, args, beside, list(options), id=f"{function.__qualname__}-{i}")
        for i, (function, args, beside, options) in enumerate(CASES)
        if function not in (cg.choose_k, cg.stability) and "metis" not in beside.values()  # slow, or not installed
    ],
)
def test_the_default_is_not_refused(function, args, beside, names):
    """An option equal to its default is not refused: it requests nothing else."""
    known = inspect.signature(function).parameters
    defaults = {name: known[name].default for name in names if name in known}
    assert function(*args, **beside, **defaults) is not None


@pytest.mark.parametrize(
    ("model", "data", "name"),
    [
        (cg.ConsensusClustering(2, n_members=5), cg.Ensemble(RUNS), "n_members"),
        (cg.ConsensusClustering(2, member_clusters=3), cg.Ensemble(RUNS), "member_clusters"),
        (cg.ConsensusClustering(2, noise=-1), cg.Ensemble(RUNS), "noise"),
        (cg.ConsensusClustering(2, noise=-1, generator="kmeans"), X, "noise"),
        (cg.ConsensusClustering(2, generator=lambda X, seed: [A, B], n_members=5), X, "n_members"),
        (cg.ConsensusClustering(2, generator=DBSCAN(), member_clusters=[2]), X, "member_clusters"),
        (cg.ConsensusClustering(2, method="average", n_init=3), np.column_stack([A, B]), "n_init"),
        (cg.ConsensusClustering(2, solver="builtin"), np.column_stack([A, B]), "solver"),
        (cg.AlternativeClustering(2, method="coala", n_init=3), X, "n_init"),
        (cg.AlternativeClustering(2, binning="mdl", bins=5), X, "bins"),
    ],
)
def test_a_parameter_of_an_estimator_without_effect_is_refused(model, data, name):
    """`fit` refuses parameters that change nothing for these data and this method."""
    with pytest.raises(cg.InputError, match=f"{name} has no effect"):
        model.fit(data)


def test_what_options_need_is_said_of_real_parameters():
    """`needs` names parameters that exist, and its conditions take all arguments by name."""
    for name in dir(cg):
        public = getattr(cg, name)
        for option, (what, _) in getattr(public, "needs", {}).items():
            assert option in inspect.signature(public).parameters, (name, option)
            assert what, name


def test_seeds_and_threads_are_always_taken():
    """A seed or a number of threads may be given to every method, even if nothing is drawn or counted in parallel."""
    assert cg.consensus(RUNS, 2, "average", random_state=0, threads=1).n_clusters == 2
    assert cg.permutation_test(A, B, method="moments", random_state=0, threads=1).n_permutations == 0
    assert cg.compare(*TREES, threads=1)
