"""Commands do their work once: a file is parsed once, and all pairs of members are counted once."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from congruence.engine import cpu
from congruence.inputs import files

RNG = np.random.default_rng(0)


def table(n=40):
    labels = {name: RNG.integers(0, 3, n) for name in ("truth", "kmeans", "leiden", "ward")}
    return pd.DataFrame({"id": [f"p{i}" for i in range(n)], **labels})


def test_an_ensemble_counts_all_pairs_once(command, monkeypatch):
    """Means of four measures, the certainty and the ranking of the members come from one pass over all pairs."""
    counted = []
    original = cpu.statistics

    def statistics(members, runs, *args, **options):
        counted.append(sum(len(run) for run in runs))
        return original(members, runs, *args, **options)

    monkeypatch.setattr(cpu, "statistics", statistics)
    table().to_csv("t.csv", index=False)
    code, out, _ = command("ensemble", "t.csv", "--id", "id", "--reference", "none")
    assert code == 0
    assert "mean nmi_sum" in out
    assert counted == [4 * 5 // 2]


@pytest.mark.parametrize(
    "line",
    [
        "compare {} kmeans leiden --id id",
        "compare {} --reference truth --id id --p-values --permutations 5",
        "matrix {} --id id -o m.csv",
        "ensemble {} --id id --reference truth",
        "consensus {} --k 3 --method kcc --id id -o out.csv",
        "points {} --id id -o out.csv",
        "match {} kmeans leiden --id id",
        "contingency {} kmeans leiden --id id",
        "resolutions {} --columns kmeans,leiden,ward",
        "adco {} --labels kmeans --labels leiden --features ward",
    ],
)
def test_a_file_is_parsed_once_per_command(command, monkeypatch, line):
    """Labels, ids, weights, reference and features of a command come from one reading of the file."""
    read: Counter[str] = Counter()
    original = files.read_columns

    def read_columns(path, *args, **options):
        read[str(path)] += 1
        return original(path, *args, **options)

    monkeypatch.setattr(files, "read_columns", read_columns)
    table().to_csv("t.csv", index=False)
    code, _, err = command(*line.format("t.csv").split())
    assert code == 0, err
    assert dict(read) == {"t.csv": 1}
