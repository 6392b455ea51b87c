"""Type checkers find wrong calls, and accept right ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import congruence as cg

SOURCE = Path(cg.__file__).parents[1]
HEAD = """
import numpy as np
import congruence as cg
from pathlib import Path
a, b, runs, X = [0, 0, 1], np.array([0, 1, 1]), [[0, 0, 1], [0, 1, 1]], [[0.0], [1.0], [2.0]]
keys = ["ari", "vi"]
"""
WRONG = (
    "cg.ari(5, None)",
    "cg.ari(a)",
    "cg.consensus(3.5, 2)",
    'cg.compare(a, a, "arii")',
    'cg.consensus(runs, 3, method="kmods")',
    'cg.compare(a, b, engine="gpuu")',
    'cg.ami(a, b, average_method="maximum")',
    'cg.adjusted_mutual_info_score(a, b, average_method="maximum")',
    'cg.choose_k(X, k="2..4")',
    'cg.compare(a, b, unassigned="dropp")',
    "cg.v_measure(a, b, alpha=2)",
)
RIGHT = (
    "cg.ari(a, b, noise=-1)",
    "cg.ari(labels_true=a, labels_pred=b)",
    "cg.v_measure(a, b, beta=2, threads=1)",
    "cg.compare(a, b, keys)",
    'cg.compare(a, b, ["ari", cg.measure("v_measure", beta=2)], unassigned="drop")',
    'cg.compare_all({"a": a, "b": b}, "all", engine="cpu")',
    'cg.compare_all(Path("runs.csv"), ("ari", "vi"))',
    'cg.consensus(runs, 2, "k-modes")',
    'cg.consensus(runs, 2, ["hbgf", "ncut"])',
    'cg.choose_k(X, range(2, 4), criteria="silhouette")',
    "cg.compare_to(a, cg.Ensemble(runs)).to_frame()",
    "cg.element_scores(a, b)",
    "cg.ConsensusClustering(2).fit_predict(runs)",
)


#: calls, and the types of what they return
RETURNED = {
    "cg.element_scores(a, a)": "ndarray",
    "cg.relabel(a, a)": "ndarray",
    "cg.compare(a, b).to_frame()": "DataFrame",
    'cg.compare(a, b).to_frame("polars")': "DataFrame",
    'cg.compare(a, b).plot("matplotlib")': "Figure",
    "cg.contingency(a, b).to_frame()": "DataFrame",
    "cg.ConsensusClustering(2).fit_predict(runs)": "ndarray",
    "cg.AlternativeClustering(2).fit_predict(X)": "ndarray",
}


def said_of(tmp_path: Path, command: list[str], calls: tuple[str, ...]) -> list[tuple[int, str]]:
    """(number of a call, what the type checker says about it)."""
    file = tmp_path / "calls.py"
    file.write_text(HEAD + "\n".join(calls) + "\n", encoding="utf-8")
    env = {**os.environ, "MYPYPATH": str(SOURCE)} if SOURCE.name == "src" else None  # an installed package is found
    done = subprocess.run([*command, str(file)], capture_output=True, text=True, check=False, timeout=300, env=env)
    assert done.returncode in (0, 1), done.stderr
    said = [line.split(":", 2) for line in done.stdout.splitlines() if "calls.py:" in line]
    return [(int(line) - HEAD.count("\n") - 1, text) for _, line, text in said]


CHECKERS = {
    "mypy": [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "--no-pretty", "--hide-error-context"],
    "pyright": ["pyright", "--pythonpath", sys.executable],
}


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checkers_find_wrong_calls(checker, tmp_path):
    """mypy and pyright refuse each wrong call, a misspelt name of a measure, method or engine among them, and no right one."""
    if checker == "mypy":
        pytest.importorskip("mypy", reason="mypy is not installed: pip install '.[lint]'")
    elif shutil.which("pyright") is None:
        pytest.skip("pyright is not installed: pip install '.[lint]'")
    returned = tuple(f"reveal_type({call})" for call in RETURNED)
    said = said_of(tmp_path, CHECKERS[checker], WRONG + RIGHT + returned)
    assert {i for i, text in said if "error" in text} == set(range(len(WRONG)))
    shown = {i - len(WRONG + RIGHT): text for i, text in said if "eveal" in text or "Type of" in text}
    assert all(kind in shown[i] for i, kind in enumerate(RETURNED.values())), shown
