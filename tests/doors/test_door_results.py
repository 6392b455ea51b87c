"""Everything that is returned pickles, has to_dict, to_json and to_frame, and equals its copy."""

from __future__ import annotations

import inspect
import json
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from sklearn.cluster import KMeans

import congruence as cg
from congruence.comparison.presenting import Result

A, B = [0, 0, 0, 1, 1, 1, 2, 2] * 6, [0, 0, 1, 1, 1, 2, 2, 2] * 6
X = np.random.default_rng(0).normal(size=(48, 3)) + 4 * np.array(A)[:, None]
RUNS = {"x": A, "y": B, "z": [i % 3 for i in range(48)]}


def trees() -> tuple[Any, Any]:
    return cg.Hierarchy(linkage(X, "ward")), cg.Hierarchy(linkage(X, "average"))


MADE = {
    "Comparison": lambda: cg.compare(A, B),
    "AgainstReference": lambda: cg.compare_to(A, RUNS),
    "AllPairs": lambda: cg.compare_all(RUNS),
    "Table": lambda: cg.contingency(A, B),
    "Matching": lambda: cg.match(A, B),
    "Consensus": lambda: cg.consensus(RUNS, 3, random_state=0),
    "KChoice": lambda: cg.choose_k(X, k=[2, 3]),
    "ClusterStability": lambda: cg.stability(X, KMeans(3, n_init=1, random_state=0), n_resamples=3, random_state=0),
    "PermutationTest": lambda: cg.permutation_test(A, B, "ari", 19, 0),
    "PermutationTests": lambda: cg.permutation_tests(RUNS, "ari", n_permutations=19, random_state=0),
    "ConfidenceInterval": lambda: cg.confidence_interval(A, B, "ari"),
    "Alternative": lambda: cg.alternatives(X, A, random_state=0)[0],
    "Profile": lambda: cg.density_profile(X, A, cg.Binning().fit(X)),
    "ProfileComparison": lambda: cg.compare_profiles(A, B, X),
    "Drift": lambda: cg.drift({"v": X[:, 0], "c": A, "day": [i // 24 for i in range(48)]}, "c", "day"),
    "Resolutions": lambda: cg.resolutions({"leiden_1": A, "leiden_2": B}),
    "CutCurve": lambda: cg.cut_curve(*trees()),
    "CutTable": lambda: cg.compare_cuts(*trees(), [2, 3]),
    "Tanglegram": lambda: cg.tanglegram(*trees()),
    "ConsensusCdf": lambda: cg.Ensemble(RUNS).cdf(),
    "Tracks": lambda: cg.track(RUNS),
    "ClusterCheck": lambda: cg.check_clusters(X, A),
    "Ranking": lambda: cg.rank(RUNS),
    "Report": lambda: cg.report(RUNS),
    "Ensemble": lambda: cg.Ensemble(RUNS),
    "Sweep": lambda: cg.sweep(X, KMeans(n_init=1), {"n_clusters": [2, 3]}, n_repeats=2, random_state=0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MADE)
def test_results_are_values(name):
    """A copy by pickle is equal, another result is not; the dictionary, JSON and frame are there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = MADE[name]()
    assert type(result).__name__ == name
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own bytes)
    assert copy == result
    assert hash(copy) == hash(result)
    assert result != "something else"
    assert json.loads(result.to_json()) is not None
    assert isinstance(result.to_dict(), dict)
    assert len(result.to_frame(backend="pyarrow")) > 0
    assert len(result.to_frame(backend="pandas")) > 0


def test_different_results_differ():
    """Equality compares the content of results."""
    assert cg.compare(A, B, "ari") == cg.compare(A, B, "ari")
    assert cg.compare(A, B, "ari") != cg.compare(A, A, "ari")
    assert cg.compare_all(RUNS) != cg.compare_all({"x": A, "y": A, "z": B})
    assert cg.contingency(A, B) == cg.contingency(A, B) != cg.contingency(B, A)
    assert cg.Ensemble([A, B]) == cg.Ensemble([A, B]) != cg.Ensemble([A, A])


def test_every_public_result_is_tried():
    """Every class of results is tested here, except those that are parts of others or need files."""
    results = {x for x in dir(cg) if inspect.isclass(getattr(cg, x)) and issubclass(getattr(cg, x), Result)}
    assert results <= {*MADE, "Criterion", "Vote", "Plateau", "ConsensusFiles", "Result"}, results - {*MADE}


def test_an_ensemble_is_written_as_it_is_read():
    """to_frame of soft members has columns NAME:CLUSTER, which reading turns into memberships again; gaps are None."""
    e = cg.Ensemble([np.array([[0.9, 0.1], [0.2, 0.8]])])
    assert list(e.to_dict()) == ["0:0", "0:1"]
    gaps = cg.Ensemble({"x": ["a", "a", None, "b"], "y": [0, 0, 1, 1]}, unassigned="partial")
    assert gaps.to_dict() == {"x": ["a", "a", None, "b"], "y": [0, 0, 1, 1]}
    frame = gaps.to_frame("pandas")
    assert cg.Ensemble(frame, unassigned="partial") == gaps
