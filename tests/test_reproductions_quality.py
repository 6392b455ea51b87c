"""The scripts that score consensus methods and their confidence: small runs, their tables, and resuming."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import congruence as cg
from congruence.consensus_clustering import judging as constants
from congruence.consensus_clustering.method_names import METHODS
from reproductions import collections_of_clusterings, consensus_confidence, consensus_quality, resuming
from reproductions.rows import CONFIRMED, NOT_CONFIRMED


def toy(name="equal k=3 0", half="DEV", members="noisy copies", noise=0.3):
    """Six noisy copies of three clusters of 20 points."""

    def make():
        rng = np.random.default_rng(len(name))
        truth = np.repeat([0, 1, 2], 20)
        return cg.Ensemble([np.where(rng.random(60) < noise, rng.integers(0, 3, 60), truth) for _ in range(6)]), truth

    return collections_of_clusterings.Collection(
        name=name, source="generated", members=members, half=half, make=make
    )  # fmt: skip


#: those of the script that are fast and need no partitioner
NAMES = ("hbgf", "ncut", "kcc", "voting", "average", "single", "hbgf, refined", "auto")


@pytest.mark.slow
def test_an_outcome_has_every_method_and_what_the_library_gives(monkeypatch):
    """ARI, NMI, clusters, seconds and ARImp of all methods and auto; the former rule takes the highest ARImp of six."""
    assert set(NAMES) < set(consensus_quality.NAMES) == {*METHODS, "hbgf, refined", "auto"}
    monkeypatch.setattr(consensus_quality, "NAMES", NAMES)
    o = consensus_quality.with_former_rule(consensus_quality.outcome(toy()))
    assert set(o.ari) == {*consensus_quality.NAMES, "highest ARImp of six"}
    members, truth = toy().make()
    assert o.ari["ncut"] == cg.ari(truth, cg.consensus(members, 3, "ncut", 0).labels)
    assert o.ari["auto"] == cg.ari(truth, cg.consensus(members, 3, random_state=0).labels)
    assert o.best_member == max(cg.ari(truth, m) for m in members)
    best = max((m for m in consensus_quality.BY_ARIMP if m in NAMES), key=lambda m: o.arimp[m])
    assert o.ari["highest ARImp of six"] == o.ari[best]
    rare = consensus_quality.outcome(toy(), seldom=False)
    assert set(NAMES) - set(rare.ari) == {"single"}


def made(name, half, **ari):
    """An outcome with these values."""
    return consensus_quality.Outcome(
        name=name, members="m", source="generated", half=half, classes=3, median_member=0.2, best_member=0.8, ari=ari,
        nmi=dict(ari), clusters=dict.fromkeys(ari, 3), seconds=dict.fromkeys(ari, 0.1), arimp=dict(ari), kept="hbgf",
    )  # fmt: skip


def test_intervals_and_claims_follow_from_the_outcomes():
    """A constant difference has an interval of width 0; a claim is confirmed only if the numbers say so."""
    both = [made(f"{half} {i}", half, auto=0.5 + i / 10, hbgf=0.4 + i / 10, **{"hbgf, refined": 0.4 + i / 10})
            for half in ("DEV", "TEST") for i in range(3)]  # fmt: skip
    for o in both:
        o.ari["highest ARImp of six"] = o.ari["auto"] + 0.1
    assert consensus_quality.difference(both, "auto", "hbgf") == pytest.approx((0.1, 0.1, 0.1))
    found = consensus_quality.claims(both)
    assert [c.verdict for c in found] == [CONFIRMED, NOT_CONFIRMED, CONFIRMED] * 2
    assert "the nearest is hbgf: auto − hbgf = +0.100" in found[0].evidence


@pytest.mark.slow
def test_the_scripts_print_both_halves_and_go_on_where_they_stopped(monkeypatch, tmp_path, capsys):
    """Two toys: a table per half, calibration, constants, a plot; a second run reads the finished work."""
    pair = [toy(), toy("45/27 TEST 4", "TEST")]
    monkeypatch.setattr(consensus_quality, "NAMES", NAMES)
    monkeypatch.setattr(consensus_quality, "collections", lambda draws: pair)
    monkeypatch.setattr(consensus_confidence, "collections", lambda draws: pair)
    consensus_quality._collections.cache_clear()
    consensus_confidence._planted.cache_clear()
    runs = (
        (consensus_quality, [], ["Mean ARI by kind of collection, TEST", "auto kept:", "noisy copies, unequal sizes"]),
        (
            consensus_confidence,
            ["--fit", "--plot", str(tmp_path / "p.svg")],
            ["[0.8, 0.9)", "POSTERIOR, SHARE, CONSTANT ="],
        ),
    )
    for script, words, texts in runs:
        file = tmp_path / f"{script.__name__}.jsonl"
        assert script.main([*words, "--keep", str(file)]) == 0
        first = capsys.readouterr().out
        assert all(text in first for text in texts)
        assert len(file.read_text().splitlines()) == 2
        monkeypatch.setattr(script, "work", lambda item: 1 / 0)
        assert script.main([*words, "--keep", str(file)]) == 0
        assert capsys.readouterr().out == first
    assert (tmp_path / "p.svg").read_text().count("<g id=") > 10
    consensus_quality._collections.cache_clear()
    consensus_confidence._planted.cache_clear()


def test_the_curve_counts_points_by_bins():
    """Points of confidence 0.85 that are right in 3 of 4 cases: one bin, off by 0.10."""
    sure, right = np.array([0.85] * 4 + [1.0]), np.array([True, True, True, False, True])
    bins = dict(zip(consensus_confidence.BINS[:-1], consensus_confidence.curve(sure, right), strict=True))
    assert bins[0.8] == (4, pytest.approx(0.85), 0.75)
    assert bins[0.9] == (1, 1.0, 1.0)
    assert consensus_confidence.miscalibration(sure, right) == pytest.approx(0.1 * 4 / 5)


def test_the_points_have_the_confidence_of_the_library():
    """The script computes `.confidence` from its features."""
    p = consensus_confidence.points(toy())
    members, _ = toy().make()
    assert p.confidence == pytest.approx(cg.consensus(members, 3, random_state=0).confidence, nan_ok=True)


def test_the_constants_are_those_that_were_fitted():
    """The kept output of --fit has the constants of the code; in [0.8, 0.9) of TEST the share right is about the confidence."""
    text = (Path(__file__).parents[1] / "docs/reproductions/consensus_confidence.txt").read_text()
    fitted = text.split("POSTERIOR, SHARE, CONSTANT = ")[1].split("\n")[0]
    assert fitted == f"{constants.POSTERIOR:.2f}, {constants.SHARE:.2f}, {constants.CONSTANT:.2f}"
    line = next(x for x in text.split("\nTEST\n")[1].splitlines() if x.startswith("[0.8, 0.9)"))
    assert float(line.split()[4]) == pytest.approx(float(line.split()[3]), abs=0.06)


def half_of(item):
    """Work for the test below; it must be found by its name in another process."""
    return {"half": item / 2}


@pytest.mark.slow
def test_processes_do_not_change_what_is_found(tmp_path):
    """One process, two, or read from the file: the same results, one line per item; a broken last line is done again."""
    alone = list(resuming.finished(half_of, range(4), str, tmp_path / "a.jsonl"))
    both = list(resuming.finished(half_of, range(4), str, tmp_path / "b.jsonl", jobs=2))
    assert alone == sorted(both, key=lambda x: x["half"]) == [{"half": i / 2} for i in range(4)]
    file = tmp_path / "a.jsonl"
    file.write_text(file.read_text().rsplit("\n", 2)[0] + '\n{"key": "3", "ha')
    assert list(resuming.finished(half_of, range(4), str, file)) == alone
    assert [json.loads(line)["key"] for line in file.read_text().splitlines()] == ["0", "1", "2", "3"]
