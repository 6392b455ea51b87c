"""The scripts that score what to trust: small runs and their tables."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import congruence as cg
from reproductions import check_clusters, equal_clusterings, rank, sweep
from reproductions.cluster_shapes import draw
from reproductions.collections_of_clusterings import Collection

ROOT = Path(__file__).resolve().parents[1]
KEPT, README = ROOT / "docs" / "reproductions", (ROOT / "README.md").read_text(encoding="utf-8")


def toy(name, half):
    """Twelve noisy copies of three clusters of 20 points, and the points."""
    truth = np.repeat([0, 1, 2], 20)

    def make():
        rng = np.random.default_rng(len(name))
        return cg.Ensemble(
            [np.where(rng.random(60) < 0.05 * i, rng.integers(0, 3, 60), truth) for i in range(12)]
        ), truth

    def data():
        return truth[:, None] * 9.0 + np.random.default_rng(0).normal(size=(60, 2))

    return Collection(name=name, source="real data", members="noisy copies", half=half, make=make, data=data)


@pytest.mark.slow
def test_rank_is_scored_beside_simple_rules(monkeypatch, capsys):
    """The picks are those of the library, a pick below the median member is listed, and both halves are printed."""
    toys = {c.name: c for c in (toy("a", "DEV"), toy("bb", "TEST"))}
    monkeypatch.setattr(rank, "_collections", lambda: toys)
    found = rank.outcome(toys["a"])
    members, truth = toys["a"].make()
    assert set(found["ari"]) == set(rank.RULES)
    assert found["ari"]["rank"] == cg.ari(truth, members[str(cg.rank(members).best)])
    assert found["ari"]["median"] < found["ari"]["rank"] <= found["ari"]["best"] == 1
    assert found["is_refused_of_unrelated"]
    assert not found["is_refused"]
    assert rank.main([]) == 0
    text = capsys.readouterr().out
    assert "rank with the data" in text
    assert "[confirmed] TEST: the pick is better than the median member" in text
    found["ari"]["rank"] = found["ari"]["median"] - 0.1
    assert [o["name"] for o in rank.worse([found])] == ["a"]
    assert "worse on 1 of 1: a, noisy copies" in rank.claims([found])[-2].evidence


def test_equal_clusterings_are_those_of_one_level(monkeypatch, capsys):
    """The shares are those of the library, and the table has both rules."""
    monkeypatch.setattr(equal_clusterings, "DESIGNS", {"better": (0.05, 0.4, 0.4), "one level": (0.2,) * 4})
    (found,) = equal_clusterings.outcomes((0.05, 0.4, 0.4), 1)
    assert np.isnan(found["rank"][0])
    assert found["rank"][1:] == (0, False)
    assert equal_clusterings.main(["2"]) == 0
    text = capsys.readouterr().out
    assert "resampled members" in text
    assert "[confirmed] at most 5% of the worse ones are equal" in text


@pytest.mark.slow
def test_check_clusters_is_scored_on_sets_and_clouds(monkeypatch, capsys):
    """Outcomes are those of the library, sets with mixed clusters are cut within the true ones, and both tables are printed."""
    some = [("separated", "hepta", 0), ("shapes", "moons", 1), ("gaussian", "ward 2", 0)]
    found = [check_clusters.work(item) for item in some]
    X, truth = draw("hepta", 0)
    given = check_clusters.too_many(X, truth, np.random.default_rng([3, 0]))
    assert found[0]["after"] == cg.ari(truth, cg.check_clusters(X, given).merged)
    assert 0.3 < found[0]["before"] < found[0]["after"]
    moons, moon = draw("moons", 1)
    pieces = check_clusters.too_many(moons, moon, np.random.default_rng([3, 1]))
    assert all(len(set(moon[pieces == i])) == 1 for i in set(pieces))
    assert found[2]["left"] >= 1
    monkeypatch.setattr(check_clusters, "items", lambda draws: some)
    assert check_clusters.main([]) == 0
    text = capsys.readouterr().out
    assert "true groups merged" in text
    assert "gaussian: a cluster of one cloud that was cut is kept" in text
    assert check_clusters.rates([found[0] | {"is_false_merge": True, "unsure": 2, "true": 4}])[1:] == (1.0, 0.5)


@pytest.mark.slow
def test_sweep_is_scored_beside_simple_rules(monkeypatch, capsys):
    """The pick is that of the library; without one the default parameters count; sets and data without clusters are printed."""
    some = [("k-means", "hepta", 0), ("DBSCAN", "hepta", 0), ("k-means", "gaussian", 0)]
    monkeypatch.setattr(sweep, "REPEATS", 2)
    monkeypatch.setattr(sweep, "items", lambda draws: some)
    found = sweep.work(some[0])
    assert set(found["ari"]) == set(sweep.RULES)
    assert found["ari"]["sweep"] <= found["ari"]["best setting (unknowable)"]
    assert found["is_picked"]
    assert sweep.main([]) == 0
    text = capsys.readouterr().out
    assert "largest silhouette" in text
    assert "a setting is recommended in at most 5% of data without clusters" in text
    assert sweep.alone(np.array([0, -1, 1, -1])).tolist() == [0, 2, 1, 3]


def test_the_readme_has_the_kept_figures():
    """The figures of the README's decisions are those of the kept tables, on data that were held back."""
    table = [line.split("|") for line in README.splitlines() if line.startswith("| `")]
    said = {row[1].strip(" `").partition("`")[0]: "".join(row[3:5]) for row in table if len(row) > 5}

    def kept(name: str, line: str, column: int) -> list[float]:
        text = (KEPT / f"{name}.txt").read_text(encoding="utf-8")
        rows = [re.split(r"  +", row.strip()) for row in text.splitlines() if re.match(line, row)]
        return [round(float(row[column]), 2) for row in rows]

    def figures(decision: str) -> list[float]:
        return [float(x) for x in re.findall(r"\d?\.\d\d", said[decision])]

    rules = ("rank  ", "median member", "agrees most with the others")
    assert figures("rank") == [kept("rank", rule, 3)[0] for rule in rules]
    assert figures("sweep") == [x for column in (5, 2, 3) for x in kept("sweep", "all, TEST", column)]
    text = (KEPT / "check_clusters.txt").read_text(encoding="utf-8")
    rows = [re.findall(r"(\d+)% \[", row) for row in text.splitlines() if re.match(r"\w+, TEST   ", row)]
    assert figures("check_clusters") == [int(row[column]) / 100 for column in (2, 1) for row in rows]
