"""Confidence intervals, and chance on the command line."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
from chance_cases import (
    LARGE,
    NOISY,
    RNG,
    A,
    B,
)

import congruence as cg
from congruence import cli
from congruence.chance import alongside

# --- intervals -------------------------------------------------------------------------------------------------------


def population(k, agreement):
    """Shares of the cells of a table: this share of the points agrees, the others are independent."""
    return (1 - agreement) * np.ones((k, k)) / k**2 + agreement * np.eye(k) / k


def labels_of(table):
    row, col = np.nonzero(table)
    return np.repeat(row, table[row, col]), np.repeat(col, table[row, col])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "k", "n", "agreement"),
    [("ari", 30, 200, 0.5), ("ari", 30, 200, 0), ("jaccard", 10, 200, 0.9), ("nmi_sum", 4, 400, 0.5), ("vi", 3, 300, 0.3),
     ("accuracy", 5, 200, 0.6)],
)  # fmt: skip
def test_intervals_cover_what_they_should(key, k, n, agreement):
    """Nearly all 95 % intervals contain the value of the population."""
    rng = np.random.default_rng(5)
    shares = population(k, agreement)
    truth = cg.compare(*labels_of(np.rint(shares * 10**6).astype(int)), key)[key]
    held = []
    for i in range(50):
        a, b = labels_of(rng.multinomial(n, shares.ravel()).reshape(k, k))
        r = cg.confidence_interval(a, b, key, n_resamples=128, random_state=i, threads=1)
        held.append(r.low <= truth <= r.high)
    assert sum(held) >= 43  # fewer of 50 have a chance of 0.4 % under a true 95 %


def test_the_bootstrap_is_wrong_and_this_is_not():
    """Two hundred points in thirty independent clusters: copies of points agree, halves do not."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 30, 200), rng.integers(0, 30, 200)
    copies = [cg.ari(a[i], b[i]) for i in rng.integers(0, 200, (200, 200))]
    assert np.quantile(copies, 0.025) > 0.08
    low, high = cg.confidence_interval(a, b, "ari", random_state=0)
    assert low < 0 < high
    assert high < 0.08


@pytest.mark.parametrize(
    ("key", "k", "n", "agreement"), [("nmi_sum", 30, 200, 0.5), ("vi", 10, 200, 0.9), ("ami_sum", 30, 1000, 0.7)]
)
def test_too_small_clusters_are_refused(key, k, n, agreement):
    """If the entropy cannot be estimated, the interval is refused with the reason."""
    a, b = labels_of(np.random.default_rng(0).multinomial(n, population(k, agreement).ravel()).reshape(k, k))
    with pytest.raises(
        cg.NotApplicable, match=f"alone in their cell.*too small for an interval of {key}.*pair-counting"
    ):
        cg.confidence_interval(a, b, key, random_state=0)


def test_matchings_by_chance_are_refused():
    """The bias of the best of many equal matchings is of order 1/√n, so there is no interval."""
    a, b = labels_of(np.random.default_rng(0).multinomial(200, population(10, 0).ravel()).reshape(10, 10))
    with pytest.raises(cg.NotApplicable, match="depends too much on the number of points"):
        cg.confidence_interval(a, b, "accuracy", random_state=0)


@pytest.mark.slow
def test_intervals_of_everything():
    """Memberships, weights, ensembles and matrices have intervals too, by halves of their points."""
    u = np.eye(4)[LARGE] * 0.8 + 0.05
    ensemble = cg.Ensemble([LARGE, NOISY])
    for a, b, key, options in [
        (u, NOISY, "ari", {}),
        (LARGE, NOISY, "ari", {"sample_weight": RNG.random(300)}),
        (ensemble, NOISY, "arimp", {}),
        (cg.Similarity(ensemble.consensus_matrix()), NOISY, "arimp", {}),
    ]:
        r = cg.confidence_interval(a, b, key, n_resamples=60, random_state=0, **options)
        assert r.low < r.value < r.high
    crisp = cg.confidence_interval(np.eye(4)[LARGE], NOISY, "ari", n_resamples=300, random_state=0)
    hard = cg.confidence_interval(LARGE, NOISY, "ari", n_resamples=300, random_state=0)
    assert crisp.standard_error == pytest.approx(hard.standard_error, rel=0.2)


def test_intervals_read_well_and_repeat():
    """The same seed gives the same interval for any threads; wider for a higher level; within the range of the measure."""
    r = cg.confidence_interval(LARGE, NOISY, "nmi_sum", random_state=0, threads=1)
    assert tuple(r) == tuple(cg.confidence_interval(LARGE, NOISY, "nmi_sum", random_state=0, threads=3))
    low, high = cg.confidence_interval(LARGE, NOISY, "nmi_sum", 0.99, random_state=0)
    assert low < r.low
    assert r.high < high
    assert r.bias > 0
    assert "without replacement" in repr(r)
    assert r.to_dict()["low"] == r.low == r.to_frame()["low"][0]
    assert json.loads(r.to_json())["level"] == 0.95
    with pytest.raises(cg.NotApplicable, match="no point lies outside"):
        cg.confidence_interval(LARGE, LARGE, "ari", random_state=0)
    nearly = np.where(np.arange(300) < 12, 1 - (LARGE > 0), LARGE)
    assert cg.confidence_interval(LARGE, nearly, "ari", random_state=0).high <= 1
    hardly = np.where(np.arange(300) < 2, 1 - (LARGE > 0), LARGE)
    with pytest.raises(cg.NotApplicable, match="so few differences"):
        cg.confidence_interval(LARGE, hardly, "ari", random_state=0)
    with pytest.raises(cg.NotApplicable, match="at least 16 points"):
        cg.confidence_interval(A, B)
    with pytest.raises(cg.InputError, match="at least 20 resamples"):
        cg.confidence_interval(LARGE, NOISY, n_resamples=5)
    with pytest.raises(cg.InputError, match="level must be"):
        cg.confidence_interval(LARGE, NOISY, "ari", 95)


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def congruence(tmp_path, monkeypatch, capsys):
    """The command in a folder with labels.csv (truth, good, bad) and other.csv (good)."""
    bad = np.random.default_rng(1).integers(0, 4, 300)
    rows = [f"{t},{g},{b}" for t, g, b in zip(LARGE, NOISY, bad, strict=True)]
    (tmp_path / "labels.csv").write_text("truth,good,bad\n" + "\n".join(rows) + "\n")
    (tmp_path / "truth.csv").write_text("truth\n" + "\n".join(map(str, LARGE)) + "\n")
    (tmp_path / "good.csv").write_text("good\n" + "\n".join(map(str, NOISY)) + "\n")
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["congruence", *words])
        with pytest.raises(SystemExit) as done:
            cli.main()
        out, err = capsys.readouterr()
        return done.value.code, out, err

    return run


@pytest.mark.slow
def test_the_command_adds_p_values_and_intervals(congruence):
    """`compare --p-values --ci` shows both, for two columns and for two files, and as JSON the numbers of the library."""
    code, out, _ = congruence("compare", "labels.csv", "truth", "good", "-m", "ari,vi", "--p-values", "--ci")
    assert code == 0
    assert out.splitlines()[1].split() == ["value", "p", "low", "high", "better"]
    pair = ("compare", "labels.csv", "truth", "good", "-m", "ari", "--p-values")
    _, said, _ = congruence(*pair, "--ci", "-f", "json", "--seed", "3")
    found = json.loads(said)
    assert found["p"]["ari"] == cg.permutation_test(LARGE, NOISY, "ari", 1000, 3).p_value
    interval = cg.confidence_interval(LARGE, NOISY, "ari", random_state=3)
    assert (found["low"]["ari"], found["high"]["ari"]) == tuple(interval)
    _, files, _ = congruence("compare", "truth.csv", "good.csv", "-m", "ari", "--p-values", "-f", "json", "--seed", "3")
    assert json.loads(files)["p"] == found["p"]
    _, rows, _ = congruence(*pair, "-f", "csv")
    assert rows.splitlines()[0].endswith(",p")


@pytest.mark.slow
def test_the_command_corrects_p_values_of_several_columns(congruence):
    """With --reference p-values are corrected for the number of columns, and the correction is named."""
    code, out, _ = congruence(
        "compare", "labels.csv", "--reference", "truth", "-m", "ari,accuracy", "--p-values", "--ci"
    )
    assert code == 0
    assert out.splitlines()[1].split() == ["ari", "p", "low", "high", "accuracy", "p", "low", "high"]
    assert "corrected by Holm" in " ".join(out.split())
    _, said, _ = congruence(
        "compare", "labels.csv", "--reference", "truth", "-m", "ari", "--p-values", "-f", "json", "--permutations", "99"
    )
    good, _ = json.loads(said)["rows"]
    assert good["ari p"] == pytest.approx(2 / 100)
    _, said, _ = congruence(
        "compare", "labels.csv", "--reference", "truth", "-m", "ari", "--p-values", "--correction", "none"
    )
    assert "not corrected" in said


def test_the_command_refuses_in_one_line(congruence):
    """An invalid level is refused; a measure without an interval has a dash and the reason."""
    code, _, err = congruence("compare", "labels.csv", "truth", "good", "--ci", "--level", "95")
    assert code == 2
    assert len([line for line in err.splitlines() if not line.startswith("note: ")]) == 1
    assert "level must be between 0 and 1" in err
    code, out, _ = congruence("compare", "labels.csv", "truth", "bad", "-m", "accuracy,ari", "--ci")
    assert code == 0
    assert "–" in out.splitlines()[2]
    assert "no interval of accuracy" in out


def test_an_adjusted_measure_is_definite_where_the_measure_is():
    """After adjusting, only identical clusterings reach the best value, so the measure may vote in choose_k."""
    assert "definite" in cg.adjusted("jaccard").axioms
    assert "definite" not in cg.adjusted("purity").axioms
    runs = {2: [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]], 3: [[0, 0, 1, 1, 2, 2]] * 2}
    assert cg.choose_k(runs, criteria=[cg.adjusted("jaccard")]).k == 3


@pytest.mark.filterwarnings("error")
def test_one_draw_and_undefined_draws_are_silent():
    """One draw has no deviation, and a measure that is undefined for one cluster has no mean: NaN, without a warning."""
    r = cg.permutation_test(A, B, "jaccard", 1, 0)
    assert math.isnan(r.z)
    assert "nan" in repr(r)
    assert math.isnan(cg.adjusted("sms", n_draws=20).expectation([0, 0, 0], [0, 0, 1]).value)
    with pytest.raises(cg.InputError, match="stop_after"):
        cg.permutation_test(A, B, "jaccard", stop_after=2.5)


def test_too_few_permutations_are_reported_only_if_needed():
    """Small p-values of all pairs stay small by Benjamini and Hochberg; by Holm they cannot."""
    runs = {str(i): np.repeat([0, 1, 2], 10) for i in range(4)}
    assert any("n_permutations" in c for c in cg.permutation_tests(runs, "ari", 50, 0).cautions)
    by_share = cg.permutation_tests(runs, "ari", 50, 0, correction="bh")
    assert by_share.p_corrected.max() < 0.05
    assert not any("n_permutations" in c for c in by_share.cautions)


def test_a_value_that_does_not_vary_has_no_interval():
    """All singletons: every half has the same value, so there is no interval, and compare says so."""
    a, b = np.arange(60), np.arange(60) % 3
    r = cg.confidence_interval(a, b, "ari", random_state=0, n_resamples=50)
    assert any("every half" in c for c in r.cautions)
    pair = alongside.beside(cg.compare(a, b, ["ari"]), a, b, alongside.Extras(p_values=False, intervals=True))
    assert any(c.startswith("interval of ari: every half") for c in pair.cautions)
    against = alongside.beside_reference(
        cg.compare_to(a, {"x": b}, ["ari"]), a, {"x": b}, alongside.Extras(p_values=False, intervals=True)
    )
    assert any(c.startswith("interval of ari for x: every half") for c in against.cautions)
