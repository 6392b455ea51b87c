"""The reproductions print the values of the papers and whether they hold."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from reproduced import by_label, by_text

import congruence as cg
from reproductions import datasets, irm, lambda_simulations, lambda_statistic, lambda_tables
from reproductions.rows import AGREES, CONFIRMED, MISPRINT, NOT_CONFIRMED, NOT_REPRODUCIBLE, same_digits

needs_data = pytest.mark.skipif(
    datasets.local("lenses") is None,
    reason="no data folder: set CONGRUENCE_DATA to the folder that holds sets/lenses.csv.gz",
)


KEPT = Path(__file__).parents[1] / "docs" / "reproductions"


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.txt")), ids=lambda path: path.stem)
def test_what_is_not_reproducible_lists_what_was_tried(path):
    """Each section of a kept output with "not reproducible" lists the preparations tried; so does the note of each such row."""
    _, *sections = re.split(r"\n(?=.+\n=+\n)", path.read_text(encoding="utf-8"))
    for section in sections:
        if "not reproducible" in section:
            assert re.search("tried|preparation", section, re.IGNORECASE), section
        for note in re.findall(r"  not reproducible\n((?: {6}.*\n)+)", section + "\n"):
            assert "tried" in note.lower(), note


# --- IRM --------------------------------------------------------------------------------------------------------


def test_irm_table_1_verdicts():
    """Of Table 1 only Wallace, Rand (P1, P3) and NMI (P1, P2) are not what their definitions give."""
    rows = {label: row for label, row in by_label(irm.table1()).items() if row.printed}
    odd = {label: row.verdict for label, row in rows.items() if row.verdict != AGREES}
    assert odd == {
        "Wallace (P1, P2)": MISPRINT,
        "Wallace (P1, P3)": MISPRINT,
        "Rand (P1, P3)": MISPRINT,
        "NMI as printed (P1, P2)": NOT_REPRODUCIBLE,
    }
    assert rows["Rand (P1, P3)"].ours == pytest.approx(26 / 28, rel=1e-12)
    assert rows["NMI as printed (P1, P2)"].ours == pytest.approx(2.5 / 42, rel=1e-12)
    assert rows["IRM, greedy (P1, P2)"].ours == pytest.approx(0.875, rel=1e-12)


def test_irm_errata_explain_the_printed_numbers():
    """The printed Jaccard formula gives 1/27 and 2/26; an NMI cut off at 4 clusters gives the printed digits."""
    jaccard_2, jaccard_3, nmi = irm.errata()
    assert (jaccard_2.ours, jaccard_3.ours) == pytest.approx((1 / 27, 2 / 26), rel=1e-12)
    assert nmi.verdict == AGREES
    assert same_digits(nmi.printed, nmi.ours)


def test_rand_slip_gives_both_printed_values():
    """v10 written for v11 gives 27/28 and 24/28, the two Rand values of Table 1."""
    found = [irm.pair_counts(irm.P1, other) for other in (irm.P2, irm.P3)]
    assert [v["v00"] + v["v10"] for v in found] == [27, 24]


def test_irm_text_claims():
    """AR is not equidistant, NMI is not negative, and the algorithm is not the Northwest corner."""
    claims = irm.text_claims()
    assert by_text(claims, "same distance").verdict == NOT_CONFIRMED
    assert by_text(claims, "NMI can be negative").verdict == NOT_CONFIRMED
    assert by_text(claims, "Northwest").verdict == NOT_CONFIRMED
    assert by_text(claims, "AR can be negative").verdict == CONFIRMED


def test_northwest_depends_on_numbering():
    """The Northwest corner of identical clusterings is 1 only if they are numbered alike."""
    assert irm.northwest([0, 0, 1], [0, 0, 1]) == 1
    assert irm.northwest([0, 0, 1], [1, 1, 0]) < 1


def test_printed_table_2_has_irm_smallest():
    """As printed, IRM is the smallest of each row; the table has ten rows of six."""
    assert [len(row.sums) for row in irm.TABLE2] == [6] * 10
    assert all(min(map(float, row.sums)) == float(row.sums[0]) for row in irm.TABLE2)


@needs_data
def test_irm_table_2_on_small_data():
    """A short run on Lenses and Iris gives sums, a verdict for each printed one, and stops at k = n = 24."""
    chosen = [row for row in irm.TABLE2 if row.title in ("Lenses", "Iris")]
    iris, lenses = irm.deviations(chosen, runs=2, step=12, jobs=1)
    assert lenses.k[-1] == 24
    assert iris.k[-1] == 50
    assert (iris.absolute >= np.abs(iris.signed) - 1e-12).all()
    # the optimum is never below the greedy rule, and the printed NMI is NMI_sum / 2n
    greedy, best = (iris.signed[:, irm.KEYS.index(key)] for key in ("irm_greedy", "irm"))
    assert (best <= greedy + 1e-12).all()
    assert iris.accuracy == pytest.approx(iris.signed[:, -1], abs=1 / 300)
    rows = irm.table2([iris, lenses])
    assert len(rows) == 12
    assert {row.verdict for row in rows} <= {AGREES, NOT_REPRODUCIBLE}
    assert by_text(irm.table2_claims([iris, lenses]), "Lenses").verdict == NOT_CONFIRMED
    assert all(np.isfinite(row.ours) for row in irm.readings([iris, lenses]))
    assert "Lenses" in irm.show_table2([iris, lenses])
    scaled = irm.prepared("iris", "min–max").X
    assert (scaled.min(axis=0), scaled.max(axis=0)) == (pytest.approx(0), pytest.approx(1))
    nearer = irm.off_by_preparation({"raw": [iris], "z": [lenses]})
    assert len(nearer) == 1
    assert "raw for 2 of 2 sets" in irm.preparation_sentence({"raw": [iris, lenses], "z": [iris, lenses]})


def test_irm_prints_table_1(capsys):
    """Without data sets the module prints Table 1 and the claims."""
    assert irm.main(["--sets"]) == 0
    shown = capsys.readouterr().out
    assert "0.0757575" in shown
    assert "Claims of section 4" not in shown


# --- Λ ----------------------------------------------------------------------------------------------------------


def test_worked_example_to_the_printed_digits():
    """Every printed number of the worked example is ours; only minus signs in theta are not."""
    rows = by_label(lambda_tables.worked_example())
    wrong = [label for label, row in rows.items() if row.verdict != AGREES]
    assert wrong == ["Lambda, minus signs in (11)"]
    assert len(rows) == 12
    assert rows["Lambda"].ours == pytest.approx(0.4451777, abs=5e-8)


def test_haematology_to_the_printed_digits():
    """kappa, NMI and Λ of the haematological data agree."""
    assert {row.verdict for row in lambda_tables.haematology()} == {AGREES}


def test_eeg_rows():
    """Four pairs agree with the kappa of the largest trace; two of them are not the largest kappa; two have no table."""
    rows = by_label(lambda_tables.eeg())
    off = [label for label, row in rows.items() if row.verdict != AGREES]
    assert off == [
        "N-U kappa, true maximum", "N-KM kappa, true maximum",
        "U-KM kappa", "U-KM NMI", "U-KM Lambda", "KM-R kappa", "KM-R NMI", "KM-R Lambda",
    ]  # fmt: skip
    assert rows["N-U kappa, true maximum"].ours == pytest.approx(0.0465061, abs=5e-8)
    assert rows["N-KM kappa, true maximum"].ours == pytest.approx(0.0062693, abs=5e-8)
    assert "5099" in rows["U-KM kappa"].note
    assert "2384" in rows["KM-R kappa"].note


def test_what_is_not_reproducible_says_what_was_tried():
    """Every row and claim about Λ with this verdict lists the readings or preparations that were tried."""
    rows = [*lambda_tables.worked_example(), *lambda_tables.haematology(), *lambda_tables.eeg()]
    notes = [row.note for row in rows if row.verdict == NOT_REPRODUCIBLE]
    notes += [claim.evidence for claim in lambda_tables.text_claims() if claim.verdict == NOT_REPRODUCIBLE]
    assert len(notes) == 10
    assert all("tried: " in note.lower() for note in notes)


def test_missing_eeg_tables_are_consistent():
    """One matching of the 120 gives U-KM's kappa with a whole trace, and all of them give KM-R's with 2384."""
    uniform, means, recorded = (lambda_tables.EEG[pair].sum(0) for pair in ("N-U", "N-KM", "N-R"))
    assert lambda_tables.possible_traces(uniform, means, "-0.0010054") == [5099]
    assert lambda_tables.possible_traces(means, recorded, "0.0091304") == [2384] * 120


def test_lambda_text_claims():
    """The printed kappa is not the maximum; filling empty cells changes Λ in the seventh decimal only."""
    claims = lambda_tables.text_claims()
    assert by_text(claims, "largest kappa").verdict == NOT_CONFIRMED
    assert by_text(claims, "does not influence").verdict == CONFIRMED
    assert by_text(claims, "equivalent to chance").verdict == NOT_CONFIRMED


def test_unsound_examples():
    """Λ falls as matching improves, is below 1 for identical clusterings, and above 1 for others."""
    rows = by_label(lambda_statistic.unsound())
    assert rows["largest d ln Lambda / d p_max, fixed NMI"].ours < 0
    assert rows["A = (11,1,2;7,10,2;1,0,6)"].ours < rows["B = (7,9,0;0,12,1;8,2,1)"].ours
    same = [rows[f"identical clusterings, {k} clusters"].ours for k in range(2, 16)]
    assert same == sorted(same, reverse=True)
    assert (same[0], same[1], same[-1]) == pytest.approx((0.9112, 0.8347, 0.7469), abs=5e-5)
    assert rows["T = (3,3,0;0,0,3;0,0,3)"].ours == pytest.approx(0.8429, abs=5e-5)
    assert rows["3 clusters split in 3, 9 merged to 3"].ours == pytest.approx(1.0433, abs=5e-5)
    assert rows["40 split in 9, 360 merged to 40"].ours < math.e / 2
    assert rows["independent clusterings, NMI = 0"].ours == 0
    assert "2 and 3" in lambda_statistic.refusal()


def test_better_and_worse_are_what_they_are_called():
    """The pair that Λ orders the wrong way round is ordered alike by p_max, kappa and NMI."""
    better, worse = (lambda_tables.values(t) for t in (lambda_statistic.BETTER, lambda_statistic.WORSE))
    assert better.p_max > worse.p_max
    assert better.kappa_max > worse.kappa_max
    assert better.nmi > worse.nmi
    assert better.value < worse.value


def test_lambda_formula_is_the_library_s():
    """Equations (8) to (11) with plus signs are the library's Λ."""
    found = lambda_tables.values(lambda_tables.WORKED, zero=0.0)
    assert lambda_tables.lambda_value(found.p_max, found.nmi, 3) == pytest.approx(found.value, rel=1e-12)


def test_frequencies_are_repeated_points():
    """A table given by frequencies has the statistics of the labels it represents."""
    a, b, frequency = lambda_tables.as_labels(lambda_tables.HAEMATOLOGY)
    repeated = cg.compare(np.repeat(a, frequency), np.repeat(b, frequency), ["kappa_trace", "nmi_sqrt"])
    found = lambda_tables.values(lambda_tables.HAEMATOLOGY)
    assert (repeated["kappa_trace"], repeated["nmi_sqrt"]) == pytest.approx((found.kappa_trace, found.nmi), rel=1e-12)


@pytest.mark.slow
def test_simulations_in_small():
    """With exact matchings κ does not fall after 6 clusters; with 720 permutations it does, and Λ passes 1."""
    runs = {spread: lambda_simulations.growing_number(spread, simulations=8) for spread in ("share", "cells", "ideal")}
    claims = lambda_simulations.growing_claims(runs)
    assert {c.text: c.verdict for c in claims if c.verdict == CONFIRMED} == {"ideal tables: NMI stays 1": CONFIRMED}
    assert lambda_simulations.limited_search_claim(runs).verdict.startswith("fits")
    again = lambda_simulations.growing_number("ideal", simulations=8)
    assert again == runs["ideal"]


@pytest.mark.slow
def test_p_values_in_small():
    """Section 5.1 and 5.3 give p-values in [0, 1] and κ above NMI and Λ."""
    fixed = lambda_simulations.fixed_number(10, True, repeats=2)
    assert ((fixed.kruskal >= 0) & (fixed.kruskal <= 1)).all()
    assert fixed.means[0] > fixed.means[1] > fixed.means[2]
    assert by_text(lambda_simulations.fixed_claims([fixed]), "highest").verdict == CONFIRMED
    sizes = lambda_simulations.growing_size("sampled", repeats=3)
    assert sizes.means.shape == (3, 30)
    assert 0 <= sizes.p_nmi_lambda <= 1


# --- data sets --------------------------------------------------------------------------------------------------


def test_unknown_data_set_is_one_clear_line():
    """A missing data set is named, with the places searched and the variable to set."""
    with pytest.raises(datasets.DataMissing, match="CONGRUENCE_DATA") as caught:
        datasets.load("no such set")
    assert "\n" not in str(caught.value)


def test_data_folder_text_gaps_and_scale(tmp_path, monkeypatch):
    """Text becomes 0/1 columns, gaps become the median or the most frequent value, and both are noted."""
    import gzip

    (tmp_path / "sets").mkdir()
    with gzip.open(tmp_path / "sets" / "toy.csv.gz", "wt") as file:
        file.write("x,colour,class\n1,red,no\n,red,yes\n3,,no\n8,blue,yes\n")
    monkeypatch.setenv("CONGRUENCE_DATA", str(tmp_path))
    found = datasets.read("toy")
    assert found.X.tolist() == [[1, 0, 1], [3, 0, 1], [3, 0, 1], [8, 1, 0]]
    assert found.y.tolist() == [0, 1, 0, 1]
    assert found.notes[1:] == ("1 text columns one-hot", "2 missing cells filled (median, commonest value)")
    X, _ = datasets.load("toy", standardise=True)
    assert X.mean(axis=0) == pytest.approx(0, abs=1e-12)
    assert X.std(axis=0) == pytest.approx(1, rel=1e-12)


def test_bundled_copy_serves_without_a_folder(monkeypatch):
    """Wine is available without a data folder."""
    monkeypatch.setattr(datasets, "folders", list)
    X, y = datasets.load("wine")
    assert X.shape == (178, 13)
    assert np.bincount(y).tolist() == [59, 71, 48]


@needs_data
def test_data_folder_sets_have_the_papers_sizes():
    """The ten sets of Table 2 have the sizes printed there."""
    for row in irm.TABLE2:
        X, y = datasets.load(row.name)
        assert (len(X), len(y)) == (row.n, row.n)
        assert np.isfinite(X).all()


def test_statements_of_the_guides_that_a_script_checks_are_there():
    """Each checked statement is in README or a guide, so that a changed sentence is not checked in vain; a wrong one is found."""
    from reproductions import statements

    every = statements.statements()
    assert not [
        x
        for x in (*statements.CHECKS, *statements.statements_drawn.READ)
        if not any(said.startswith(x) for _, said in every)
    ]
    assert len(statements.drawn(35)) == 40
    for beginning in (
        "`cg.partial_tables` counts one batch",
        "A single point is no group",
        "`tests.to_frame()` and `tests.matrix",
    ):
        found, holds = statements.CHECKS[beginning]()
        assert holds, found
