"""Values of R's packages for the criteria of `choose_k` and for `stability`: `python -m reproductions.choosing_k_r`.

Writes five data sets, runs choosing_k.R on them (R with cluster, fpc, mclust and ConsensusClusterPlus), and keeps its output
in docs/reproductions/choosing_k_R.txt and, for the tests, in tests/golden/choosing_k.json. `--parse` only reads the output.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_iris, load_wine

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "docs" / "reproductions" / "choosing_k_R.txt"
GOLDEN = ROOT / "tests" / "golden" / "choosing_k.json"
NAMES = ("iris", "wine", "three", "square", "unequal")


def data(name: str) -> np.ndarray:
    """Iris, standardised wine, and three generated sets: three groups (cut in four), a square of four, unequal sizes."""
    rng = np.random.default_rng(20)
    three = rng.normal(size=(150, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[np.repeat([0, 1, 2], 50)]
    square = rng.normal(size=(200, 2)) + np.array([[0, 0], [5, 0], [0, 5], [5, 5]])[np.repeat(range(4), 50)]
    unequal = (
        rng.normal(size=(160, 3)) + np.array([[0, 0, 0], [5, 0, 0], [0, 4.5, 0]])[np.repeat([0, 1, 2], [100, 40, 20])]
    )
    wine = load_wine().data
    sets = {"iris": load_iris().data, "wine": (wine - wine.mean(axis=0)) / wine.std(axis=0)}
    return (sets | {"three": three, "square": square, "unequal": unequal})[name]


def parsed(text: str) -> dict[str, Any]:
    """Values by name: one number, several, or clusterboot's by data set and scheme."""
    found: dict[str, Any] = {"gap_rule": {}, "clusterboot": {}, "sizes": {}}
    for line in text.splitlines():
        name, *rest = line.split()
        if name in ("clusterboot", "sizes"):
            found[name].setdefault(rest[0], {})[rest[1]] = [float(x) for x in rest[2:]]
        elif name == "gap_rule":
            found[name][rest[0]] = int(rest[1])
        elif name == "versions":
            found["source"] = f"python -m reproductions.choosing_k_r; {' '.join(rest)}"
        else:
            found[name] = [float(x) for x in rest] if len(rest) > 1 else float(rest[0])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parse", action="store_true", help="only make the JSON from the kept output of R")
    if not parser.parse_args().parse:
        with tempfile.TemporaryDirectory() as folder:
            for name in NAMES[1:]:
                np.savetxt(Path(folder) / f"{name}.csv", data(name), delimiter=",", fmt="%.17g")
            command = ["Rscript", str(ROOT / "reproductions" / "choosing_k.R"), folder]
            OUTPUT.write_text(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    GOLDEN.write_text(json.dumps(parsed(OUTPUT.read_text(encoding="utf-8")), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
