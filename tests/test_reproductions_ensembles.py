"""The reproduction of ARImp and ARImm says what the paper prints and whether it holds."""

import sys
from itertools import pairwise

import numpy as np
import pytest
from reproduced import by_label, by_text

import congruence as cg
from reproductions import datasets
from reproductions import ensemble_indices as ei
from reproductions.rows import AGREES, CONFIRMED, MISPRINT, NOT_CONFIRMED

needs_data = pytest.mark.skipif(
    datasets.local("glass") is None,
    reason="no data folder: set CONGRUENCE_DATA to the folder that holds sets/glass.csv.gz",
)


# --- section 4 --------------------------------------------------------------------------------------------------


def test_toy_values():
    """ARImm(M, M) is 1 and 0.4; with M2 as printed it is 5/11; the other measures are 1 for both."""
    rows = by_label(ei.toy())
    assert rows["ARImm(M1, M1)"].verdict == AGREES
    assert rows["ARImm(M2, M2), M2 = [0 .5 0; .5 0 0; 0 0 0]"].ours == pytest.approx(0.4, rel=1e-12)
    printed = rows["ARImm(M2, M2), M2 as printed"]
    assert (printed.verdict, printed.ours) == (MISPRINT, pytest.approx(5 / 11, rel=1e-12))
    assert [rows[f"{name} of M2 with itself"].ours for name in ("NSF", "KAS", "sSMS")] == [1, 1, 1]


def test_library_refuses_the_printed_matrix():
    """M2 as printed is not symmetric; of symmetric matrices the literal formula is the library's."""
    with pytest.raises(ValueError, match="not symmetric"):
        cg.arimm(ei.M2_PRINTED, ei.M2_PRINTED)
    assert ei.literal_arimm(ei.M1, ei.M2) == pytest.approx(cg.arimm(ei.M1, ei.M2), rel=1e-12)


def test_errata():
    """PNMI as printed is 6 for three identical partitions, and the middle of Eq. 35 is negative."""
    rows = by_label(ei.errata())
    assert rows["Eq. 7, PNMI of 3 identical partitions, as printed"].ours == pytest.approx(6, rel=1e-12)
    assert rows["Eq. 7, PNMI of 3 identical partitions, mean"].ours == pytest.approx(1, rel=1e-12)
    assert rows["Eq. 35, K_max = 5, L = 10, last expression"].ours == pytest.approx(0.094048, abs=5e-7)
    assert rows["Eq. 35, K_max = 5, L = 10, middle expression as printed"].ours == pytest.approx(-0.325, abs=5e-4)
    assert rows["Eq. 8, NSF of the most different matrices, N = 100"].ours > 0.99
    assert rows["Eq. 10, SMS of a 10 × 10 matrix with itself, population sd"].ours == pytest.approx(45 / 44)


@pytest.mark.parametrize(("kmax", "members", "middle"), [(5, 50, -0.443), (10, 10, -0.146), (20, 100, -0.147)])
def test_middle_of_eq35(kmax, members, middle):
    """The printed middle expression from its sums is (1/L − α) / (1 − α)."""
    p = np.tile(1 / np.arange(2, kmax + 1), 60)  # many members, so that the sums are their expectations
    inner, total = p.mean() / members - p.mean() ** 2, p.mean() - p.mean() ** 2
    assert ei.middle_of_eq35(kmax, members) == pytest.approx(inner / total, rel=1e-12)
    assert ei.middle_of_eq35(kmax, members) == pytest.approx(middle, abs=5e-4)


def test_section_4_claims():
    """Proposition 1 holds; Eq. 35 is not a lower bound."""
    claims = ei.text_claims()
    assert by_text(claims, "Proposition 1").verdict == CONFIRMED
    assert by_text(claims, "only ARImm").verdict == CONFIRMED
    assert by_text(claims, "lower bound").verdict == NOT_CONFIRMED
    assert cg.Ensemble(ei.PAIRINGS).certainty() == pytest.approx(0, abs=1e-15)


# --- figures 2 and 3 --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_figure_2_in_small():
    """ANMI grows with K, ARImp and ARImm stay near 0, NSF as printed is above 1 − 1/N, sSMS nears 0.5."""
    runs = ei.uncorrelated(sizes=(60, 300), members=(5, 20), k=(2, 8, 14, 20), trials=4)
    claims = ei.uncorrelated_claims(runs)
    assert by_text(claims, "ANMI increases").verdict == CONFIRMED
    assert by_text(claims, "ARImm is close").verdict == CONFIRMED
    assert by_text(claims, "NSF is near 1").verdict == CONFIRMED
    assert by_text(claims, "KAS is near 1").verdict == NOT_CONFIRMED
    assert by_text(claims, "increasing N").verdict == CONFIRMED
    for run in runs:
        assert (run.values["nsf_printed"] >= 1 - 1 / run.n).all()
        assert np.abs(run.curve("arimp")).max() < 0.03
        assert np.abs(run.curve("ssms") - 0.5).max() < 0.03
    again = ei.uncorrelated(sizes=(60,), members=(5,), k=(8,), trials=4)[0]
    assert np.array_equal(again.values["anmi"][0], runs[0].values["anmi"][1])
    assert "2..8" in ei.show_uncorrelated(runs)


@pytest.mark.slow
def test_figure_3_in_small():
    """Simulated certainty is near Eq. 35, on both sides of it."""
    runs = ei.certainties(sizes=(200,), members=(10, 40), kmax=(4, 10), ensembles=12)
    assert [r.eq35 for r in runs] == [cg.certainty_random(kmax, m) for m in (10, 40) for kmax in (4, 10)]
    assert max(abs(r.off) for r in runs) < 0.05
    assert by_text(ei.certainty_claims(runs), "lower bound").verdict == NOT_CONFIRMED
    assert 0 < np.mean([r.below for r in runs]) < 1
    assert len(ei.show_certainties(runs).splitlines()) == 6


# --- figures 5 to 10 --------------------------------------------------------------------------------------------


def test_conditions_grow_by_quarters():
    """The smallest group first, then each condition holds the one before; the last is everything."""
    groups = np.repeat([0, 1, 2], [4, 8, 12])
    chosen = ei.conditions(np.where(groups[:, None] == groups, 1.0, 0.05))
    assert [len(c) for c in chosen] == [4, 6, 8, 10, 12, 15, 18, 21, 24]
    assert set(chosen[0]) == {0, 1, 2, 3}
    assert all(set(a) < set(b) for a, b in pairwise(chosen))


@pytest.mark.slow
def test_tables_are_the_library_s():
    """ARImp and the 18 × 18 tables agree with the library on the matrices themselves."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.integers(0, 3, 30)
    found = ei.replaced_in("toy", X, y)
    V, truth = ei.upper_pairs(X, y)
    matrices = []
    for row in V:
        M = np.eye(30)
        M[np.triu_indices(30, 1)] = row
        matrices.append(np.maximum(M, M.T))
    for i, j in ((0, 0), (2, 7), (4, 13), (17, 9)):
        for key, table in found.tables.items():
            assert table[i, j] == pytest.approx(getattr(cg, key)(matrices[i], matrices[j]), rel=1e-9)
    assert found.arimp[1, 4] == pytest.approx(cg.arimp(matrices[13], y), rel=1e-12)
    assert (V[8] == truth).mean() >= 0.9
    assert by_text(ei.replaced_claims([found]), "Figure 6").verdict == CONFIRMED
    assert "crest" in ei.show_tables([found])


@pytest.mark.slow
@needs_data
def test_glass_diversity_in_small():
    """A small library of glass: nine conditions, PNMI as the library has it, the same again from the same seed."""
    found = ei.diversity("glass", "glass", True, members=45)
    again = ei.diversity("glass", "glass", True, members=45)
    assert np.array_equal(found.certainty, again.certainty)
    assert found.sizes[-1] == 45
    X, y = datasets.load("glass", standardise=True)
    library = ei.solutions(X, int(y.max()) + 1, 45)
    assert found.pnmi[-1] == pytest.approx(library.pnmi(), rel=1e-12)
    assert found.certainty[-1] == pytest.approx(library.certainty(), rel=1e-12)
    assert found.mean_ari[-1] == pytest.approx(library.consensus_index("ari"), rel=1e-12)
    assert -1 <= found.correlation <= 1
    assert len(ei.diversity_claims([found])) == 1


@pytest.mark.slow
@needs_data
def test_sets_have_the_papers_sizes():
    """The eight sets of Table 2 have the classes, instances and dimensions printed there."""
    for _, name, classes, instances, dimension in ei.TABLE2:
        X, y = datasets.load(name)
        assert (y.max() + 1, *X.shape) == (classes, instances, dimension)


def test_missing_set_is_one_line(monkeypatch, capsys):
    """A missing data set prints one line on the error stream."""

    def missing(name):
        raise datasets.DataMissing(f"data set {name!r}: set CONGRUENCE_DATA")

    monkeypatch.setattr(datasets, "read", missing)
    assert ei.available(ei.TABLE2[:2]) == []
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_plots_say_when_plotly_is_missing(monkeypatch, tmp_path):
    """Without plotly the answer is one line, and nothing is written."""
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    assert "plotly is not installed" in ei.plots(tmp_path / "figures", [], [], [], [])
    assert not (tmp_path / "figures").exists()


@pytest.mark.slow
def test_plots_are_written(tmp_path):
    """With plotly there is one file per figure."""
    pytest.importorskip("plotly", reason="plotly is not installed: no figures")
    random = np.random.default_rng(0)
    fig2 = ei.uncorrelated(sizes=(30,), members=(3,), k=(2, 4), trials=1)
    fig3 = ei.certainties(sizes=(30,), members=(3,), kmax=(4, 6), ensembles=2)
    fig5 = [ei.Diversity("toy", True, np.arange(2, 11), *np.linspace([0.1, 0.2, 0.3], 1, 9).T)]
    fig6 = [ei.replaced_in("toy", random.normal(size=(12, 2)), random.integers(0, 2, 12))]
    said = ei.plots(tmp_path / "figures", fig2, fig3, fig5, fig6)
    pages = {path.stem for path in (tmp_path / "figures").glob("*.html")}
    assert pages == {f"figure{i}" for i in (2, 3, 5, 6, 7, 8, 9, 10)}
    assert all(page in said for page in pages)
