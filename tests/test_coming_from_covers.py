"""docs/coming_from.md: its statements about covers in clusim, cdlib and networkit are true (each skipped if not installed)."""

from __future__ import annotations

import math
import warnings

import pytest

import congruence as cg

#: solution V of Collins and Dent (1988), among 10 points
A, B = [[0, 1, 2, 3], [3, 4, 5, 6], [7, 8], [9]], [[0, 1, 2, 3], [2, 3, 4, 5, 6], [7, 8, 9]]
ONE = [[0, 1, 2, 3]]


def ours(key: str, a, b, n: int = 10) -> float:
    return getattr(cg, key)(cg.Cover(a, points=n), cg.Cover(b, points=n))


# --- clusim ----------------------------------------------------------------------------------------------------------


def of_clusim(clusters):
    clustering = pytest.importorskip("clusim.clustering")
    by_point: dict[int, list[int]] = {}
    for k, cluster in enumerate(clusters):
        for point in cluster:
            by_point.setdefault(point, []).append(k)
    return clustering.Clustering(elm2clu_dict=by_point)


def test_clusim_omega():
    """The value is ours; identical covers of one cluster are NaN there and 1 here; points must be the same."""
    sim = pytest.importorskip("clusim.sim")
    assert sim.omega_index(of_clusim(A), of_clusim(B)) == pytest.approx(ours("omega", A, B), rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            alone = sim.omega_index(of_clusim(ONE), of_clusim(ONE))
        except ZeroDivisionError:
            alone = math.nan
    assert math.isnan(alone)
    assert ours("omega", ONE, ONE, 4) == 1.0


def test_clusim_onmi_is_wrong():
    """It is 0.80 there; by the definition of Lancichinetti, Fortunato and Kertész it is 0.69."""
    sim = pytest.importorskip("clusim.sim")
    assert sim.onmi(of_clusim(A), of_clusim(B)) == pytest.approx(0.798976209571, rel=1e-9)
    assert ours("onmi_lfk", A, B) == pytest.approx(0.69, abs=0.005)


# --- cdlib -----------------------------------------------------------------------------------------------------------


def of_cdlib(clusters, n: int = 10):
    cdlib = pytest.importorskip("cdlib")
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_nodes_from(range(n))
    return cdlib.NodeClustering([list(c) for c in clusters], graph, "x", overlap=True)


@pytest.mark.filterwarnings("ignore")
def test_cdlib():
    """omega and both overlapping NMI are ours; f1 of identical covers is below 1 there."""
    evaluation = pytest.importorskip("cdlib.evaluation")
    a, b = of_cdlib(A), of_cdlib(B)
    assert evaluation.omega(a, b).score == pytest.approx(ours("omega", A, B), rel=1e-9)
    largest = evaluation.overlapping_normalized_mutual_information_MGH(a, b).score
    assert largest == pytest.approx(ours("onmi_max", A, B), rel=1e-9)
    older = evaluation.overlapping_normalized_mutual_information_LFK(a, b).score
    assert older == pytest.approx(ours("onmi_lfk", A, B), rel=1e-9)
    overlapping = [[0, 1, 2], [1, 2, 3], [0, 3]]
    twice = evaluation.f1(of_cdlib(overlapping, 4), of_cdlib(overlapping, 4)).score
    assert twice < 1
    assert ours("average_f1", overlapping, overlapping, 4) == 1.0
    with pytest.raises(ValueError):  # noqa: PT011 (theirs)
        evaluation.omega(of_cdlib([[0, 1, 2]], 3), of_cdlib([[0, 1]], 3))


# --- networkit -------------------------------------------------------------------------------------------------------


def test_networkit():
    """Its overlapping NMI is ours where no two disjoint clusters pass the constraint and no terms tie."""
    networkit = pytest.importorskip("networkit")
    sides = []
    for clusters in (A, B):
        made = networkit.Cover(10)
        made.setUpperBound(len(clusters))
        for k, cluster in enumerate(clusters):
            for point in cluster:
                made.addToSubset(k, point)
        sides.append(made)
    graph = networkit.Graph(10)
    for name, key in (("MAX", "onmi_max"), ("ARITHMETIC_MEAN", "onmi_sum"), ("JOINT_ENTROPY", "onmi_joint")):
        how = getattr(networkit.community.Normalization, name)
        distance = networkit.community.OverlappingNMIDistance(how).getDissimilarity(graph, *sides)
        assert 1 - distance == pytest.approx(ours(key, A, B), rel=1e-9), name
