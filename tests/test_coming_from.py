"""docs/coming_from.md: its statements about clusim are true (skipped if clusim, of the extra `bench`, is not installed)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import congruence as cg

sim = pytest.importorskip("clusim.sim")
clustering = pytest.importorskip("clusim.clustering")

A, B = [0, 1, 1, 0, 2, 1, 3, 3], [0, 1, 1, 0, 2, 2, 1, 0]
SINGLETONS, ONE = [0, 1, 2, 3], [0, 0, 0, 0]
#: clusim's call and ours
SAME = {
    "rand_index": (sim.rand_index, cg.rand),
    "jaccard_index": (sim.jaccard_index, cg.jaccard),
    "adjrand_index": (sim.adjrand_index, cg.ari),
    "num": (lambda a, b: sim.adjrand_index(a, b, random_model="num"), cg.adjusted("rand", null="n_clusters")),
    "all": (lambda a, b: sim.adjrand_index(a, b, random_model="all"), cg.adjusted("rand", null="all")),
    "num1": (
        lambda a, b: sim.adjrand_index(a, b, random_model="num1"),
        lambda a, b: cg.adjusted("rand", null="n_clusters", sided="one")(b, a),
    ),
    "all1": (
        lambda a, b: sim.adjrand_index(a, b, random_model="all1"),
        lambda a, b: cg.adjusted("rand", null="all", sided="one")(b, a),
    ),
    "nmi": (sim.nmi, cg.nmi_sum),
    "adj_mi": (sim.adj_mi, cg.ami_sum),
    "mi": (sim.mi, lambda a, b: cg.mi(a, b) / math.log(2)),
    "vi": (sim.vi, lambda a, b: cg.vi(a, b) / math.log(2)),
    "fmeasure": (sim.fmeasure, cg.dice),
    "fowlkes_mallows_index": (sim.fowlkes_mallows_index, cg.fowlkes_mallows),
    "element_sim": (sim.element_sim, cg.element_centric),
    "purity_index": (sim.purity_index, cg.purity),
    "classification_error": (sim.classification_error, lambda a, b: 1 - cg.purity(a, b)),
}


def of(labels: list[int]):
    return clustering.Clustering().from_membership_list(labels)


@pytest.mark.parametrize("name", SAME)
def test_the_same_call_gives_the_same_value(name):
    """clusim's function and the call next to it on the page agree."""
    theirs, ours = SAME[name]
    assert theirs(of(A), of(B)) == pytest.approx(ours(A, B), rel=1e-9)


def test_purity_there_takes_the_side_with_fewer_clusters():
    """With the arguments swapped, clusim's purity is the same; ours is of the clusters of b, so b has the fewer."""
    assert len(set(A)) > len(set(B))
    assert sim.purity_index(of(B), of(A)) == pytest.approx(cg.purity(A, B), rel=1e-9)
    assert cg.purity(A, B) != pytest.approx(cg.purity(B, A))


def test_where_the_values_differ():
    """Identical clusterings of singletons, or of one cluster, score 1 here, and 0 or NaN there."""
    assert sim.jaccard_index(of(SINGLETONS), of(SINGLETONS)) == 0
    assert cg.jaccard(SINGLETONS, SINGLETONS) == 1
    for labels in (SINGLETONS, ONE):
        assert sim.adjrand_index(of(labels), of(labels)) == 0
        assert cg.ari(labels, labels) == 1
    with np.errstate(all="ignore"):
        try:
            value = sim.nmi(of(ONE), of(ONE))
        except ZeroDivisionError:
            value = math.nan
    assert math.isnan(value)
    assert cg.nmi_sum(ONE, ONE) == 1
