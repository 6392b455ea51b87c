"""The reproduction of the filter of consensus functions, and consensus functions on ensembles that others made."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import congruence as cg
from congruence.consensus_clustering import strehl
from congruence.consensus_clustering.method_names import METHODS
from reproductions import consensus_filtering as cf
from reproductions import consensus_real as cr
from reproductions import datasets
from reproductions.rows import CONFIRMED, NOT_CONFIRMED

needs_data = pytest.mark.skipif(
    datasets.local("iris") is None,
    reason="no data folder: set CONGRUENCE_DATA to the folder that holds sets/iris.csv.gz",
)
SMALL = {s.title: s for s in cr.SETS}
needs_clusterings = pytest.mark.skipif(
    cr.path_of(SMALL["cassini"]) is None,
    reason="no data folder: set CONGRUENCE_DATA to the folder that holds clusterings/cassini_kmeans_ensemble.csv.gz",
)


@pytest.fixture(scope="module")
def three():
    """Three clouds of points, 3 trials of 8 members from 15."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 3 * np.eye(3)[y]
    return cf.trials_of("toy", X, y, count=3, library=15, sample=8)


def made(arimp, ari):
    """Trials with these values, the last axis a trial."""
    arimp, ari = np.array(arimp, dtype=float), np.array(ari, dtype=float)
    return cf.Trials("made", True, arimp, ari, np.array([0.1, 0.3]), np.full(arimp.shape, 3), np.array([10, 10, 10]))


@pytest.mark.slow
def test_trials_are_the_library_s(three):
    """The values are those of cg.consensus on the members drawn; the same again from the same seed."""
    assert three.arimp.shape == three.ari.shape == (len(cf.SIX), 3)
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 3)) + 3 * np.eye(3)[y]
    library = cg.generate(X, 15, range(2, 7), "mixed", 0, progress=False)
    members = library[np.random.default_rng([0, 2]).choice(15, 8, replace=False)]
    for row, method in ((4, "ncut"), (5, "average")):
        found = cg.consensus(members, 3, method, np.random.SeedSequence([0, 2]))
        assert three.ari[row, 2] == pytest.approx(cg.ari(found.labels, y), rel=1e-12)
        assert three.arimp[row, 2] == pytest.approx(cg.arimp(members, found.labels), rel=1e-12)
    assert three.members == pytest.approx([cg.ari(m, y) for m in library])
    assert three.ari.min() > 0.5


def test_correlations_and_the_filter():
    """If ARImp orders the methods as ARI does, all claims are confirmed; in reverse order, none is."""
    level = np.linspace(0.3, 0.8, 6)[:, None]
    spread = np.linspace(0.1, 0.01, 6)[:, None] * [-1, 0, 1]
    good = made(level + spread, level + 0.1 * spread)
    assert good.correlation > 0.9
    assert good.between == pytest.approx(1)
    assert good.spread < -0.9
    assert good.filtered == 0
    assert good.kept == pytest.approx(level[-1, 0])
    assert {c.verdict for c in cf.claims([good])} == {CONFIRMED}
    bad = made(level + spread, level[::-1] + 0.1 * spread)
    assert bad.between == pytest.approx(-1)
    assert {c.verdict for c in cf.claims([bad])} == {NOT_CONFIRMED}
    assert good.evenness == pytest.approx(1)
    assert "nearly one size" in cf.claims([good])[0].evidence
    assert np.isnan(cf.correlation(np.ones(3), np.arange(3)))


def test_tables_of_the_filter(three):
    """One line per method; fewer clusters than classes are noted; one line of correlations per set."""
    lines = cf.show_trials([three]).splitlines()
    assert [line.split()[-5] for line in lines[2:]] == list(cf.SIX.values())
    few = made(np.zeros((6, 2)), np.zeros((6, 2)))
    few.clusters[2] = 2
    assert "2 trials < 3 clusters" in cf.show_trials([few]).splitlines()[4]
    assert len(cf.show_correlations([three, few]).splitlines()) == 4


@pytest.mark.slow
def test_figure_is_written(three, tmp_path):
    """With plotly there is a page."""
    pytest.importorskip("plotly", reason="plotly is not installed: no figures")
    assert "figure4.html" in cf.plot(tmp_path / "figures", [three])
    assert (tmp_path / "figures" / "figure4.html").stat().st_size > 1000


def test_figure_says_when_plotly_is_missing(three, tmp_path, monkeypatch):
    """Without plotly the answer is one line, and nothing is written."""
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    assert "plotly is not installed" in cf.plot(tmp_path / "figures", [three])
    assert not (tmp_path / "figures").exists()


@pytest.mark.slow
@needs_data
def test_iris_in_small():
    """Iris with few members: six methods, each claim with a verdict."""
    found = cf.trials("iris", "iris", True, count=2, library=12, sample=8)
    assert found.classes == 3
    assert found.ari.min() > 0.2
    assert len(cf.claims([found])) == 6


def test_missing_data_are_one_line(monkeypatch, capsys):
    """Each missing set prints one line, and the exit status is 1."""

    def missing(name, **_):
        raise datasets.DataMissing(f"data set {name!r}: set CONGRUENCE_DATA")

    monkeypatch.setattr(datasets, "read", missing)
    assert cf.main(["--sets", "iris", "wine"]) == 1
    monkeypatch.setattr(cr, "path_of", lambda source: None)
    assert cr.main(["--sets", "nba_players"]) == 1
    said = capsys.readouterr()
    assert len(said.err.splitlines()) == 3
    assert not said.out


# --- ensembles that others made -----------------------------------------------------------------------------------


@pytest.mark.slow
@needs_clusterings
def test_cassini():
    """50 runs of k-means, every method: the values of the library, next to those of the members."""
    source = SMALL["cassini"]
    found = cr.outcome(source, methods=("kcc", "average", "voting"))
    members, truth = cr.load(source)
    assert (found.points, found.members, found.classes) == (1000, 50, 3)
    assert found.signatures < 100
    assert found.single == pytest.approx([cg.ari(m, truth) for m in members])
    r = cg.consensus(members, 3, "average", 0)
    assert found.ari["average"] == pytest.approx(cg.ari(r.labels, truth), rel=1e-12)
    assert found.arimp["average"] == pytest.approx(cg.arimp(members, r.labels), rel=1e-12)
    assert found.by_arimp(("kcc", "average")) in ("kcc", "average")


@pytest.mark.slow
@needs_clusterings
def test_members_of_another_k_are_kept(capsys, tmp_path):
    """The players of k-means with k = 1..5: all five stay, and the page has one column per method; kept work is reread."""
    keep = tmp_path / "kept.jsonl"
    assert cr.main(["--sets", "nba_players", "--keep", str(keep)]) == 0
    out = capsys.readouterr().out
    assert cr.main(["--sets", "nba_players", "--keep", str(keep)]) == 0
    assert capsys.readouterr().out == out
    members, _ = cr.load(SMALL["NBA"])
    assert [c.k for c in members.members] == [1, 2, 3, 4, 5]
    head = next(line for line in out.splitlines() if "hbgf" in line and "ncut" in line)
    assert all(m in head.split() for m in METHODS)
    assert "better than the median member" in out


@pytest.mark.slow
@needs_clusterings
def test_limits_and_noise(monkeypatch):
    """A method above its limit is left out with its reason; the noise of the reference is not compared."""
    monkeypatch.setattr(strehl, "cspa", replace(strehl.cspa, limit=10))
    source = cr.Source("x2", "wut_x2", "four classes and noise", "reference1", noise=0)
    found = cr.outcome(source, methods=("cspa", "kcc"))
    assert "up to 10 points" in found.refused["cspa"]
    assert (found.points, found.compared, found.classes) == (120, 110, 4)
    assert "limit" in cr.show([found], "ari")


@pytest.mark.slow
@needs_clusterings
def test_memberships_are_read_as_such():
    """ADMIXTURE's columns kK_runR:j are memberships, one member per run."""
    members, truth = cr.load(SMALL["1000 genomes"])
    assert members.is_soft
    assert len(members) == 59
    assert len(np.unique(truth)) == 5
