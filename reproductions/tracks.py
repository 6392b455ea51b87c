"""Lasting names beside other people's records: `python -m reproductions.tracks` (needs `tracking` in the data folder).

1. Listeria: what became of each cluster of isolates at two thresholds, beside ReporTree's own record.
2. Cape Verde: 200 runs of ADMIXTURE with 2 to 5 clusters: cost of the alignment and time, beside Clumppling if it is installed.
   The cost of two runs is half the mean squared difference of their memberships per person, which is what Clumppling minimises.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Mapping
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import congruence as cg
from reproductions.datasets import DataMissing, folders

Runs = dict[str, np.ndarray]


def tracking() -> Path:
    """The folder of the data."""
    found = [folder / "tracking" for folder in folders() if (folder / "tracking" / "INDEX.csv").is_file()]
    if not found:
        raise DataMissing(f"there is no folder tracking in {' or '.join(map(str, folders()))}")
    return found[0]


def listeria(data: Path, column: str) -> dict[str, Any]:
    """How our pairs and kinds of events agree with ReporTree's record at one threshold."""
    old = pd.read_csv(data / "Listeria_nomenclature.tsv.gz", sep="\t", index_col=0)[column].rename("old")
    new = pd.read_csv(data / "Lm_metadata_w_partitions.tsv.gz", sep="\t", index_col=0)[column].rename("new")
    record = pd.read_csv(data / "Lm_nomenclature_changes.tsv.gz", sep="\t")
    record = record[record["partition"] == column]
    t = cg.track([old, new])
    ours = {
        (*event.clusters_before, None)[0]: (event.event, tuple(event.clusters_after))
        for event in t.happened if event.event not in ("new", "gone")
    }  # fmt: skip
    theirs = {
        row.old_cluster: (row.nomenclature_change, tuple(str(row.new).split(",")))
        for row in record.rename(columns={"cluster_2023-03-28": "new"}).itertuples() if row.old_cluster != "new"
    }  # fmt: skip
    kinds = {"kept (none)": "kept", "kept (increase)": "kept"}
    return {
        "pairs": len(theirs), "same pairs": sum(ours.get(c, ("", ()))[1] == after for c, (_, after) in theirs.items()),
        "kept in both": sum(kinds.get(kind) == ours.get(c, ("",))[0] for c, (kind, _) in theirs.items()),
        "their split, one part is left": sum(
            kind == "new (split)" and ours.get(c, ("",))[0] == "kept" for c, (kind, _) in theirs.items()
        ),
        "other": sum(
            kind != "new (split)" and kinds.get(kind) != ours.get(c, ("",))[0] for c, (kind, _) in theirs.items()
        ),
        "new in both": sorted(record.loc[record["old_cluster"] == "new", "cluster_2023-03-28"])
        == sorted(e.clusters_after[0] for e in t.happened if e.event == "new"),
        "gone, not in their record": sum(e.event == "gone" for e in t.happened),
    }  # fmt: skip


def capeverde(data: Path) -> dict[int, Runs]:
    """The runs by number of clusters."""
    found: dict[int, Runs] = {}
    with zipfile.ZipFile(data / "capeverde_admixtureQ.zip") as archive:
        for name in sorted(x for x in archive.namelist() if x.endswith(".Q")):
            run, k = re.findall(r"\d+", Path(name).name)[-2:]
            found.setdefault(int(k), {})[f"K{k}R{run}"] = np.loadtxt(io.BytesIO(archive.read(name)))
    return found


def mean_cost(aligned: Mapping[str, np.ndarray]) -> float:
    """The mean cost over all pairs of runs whose columns are in one order."""
    pairs = list(combinations(aligned.values(), 2))
    return float(np.mean([((u - v) ** 2).sum() / (2 * len(u)) for u, v in pairs]))


def clumppling(runs: dict[int, Runs]) -> tuple[dict[int, Runs], dict[int, list[int]], float]:
    """Clumppling's runs with aligned columns, the sizes of its modes, and its seconds."""
    with tempfile.TemporaryDirectory() as name:
        inside, out = Path(name) / "in", Path(name) / "out"
        inside.mkdir()
        for k, found in runs.items():
            for run, u in found.items():
                np.savetxt(inside / f"x_Rep{run.partition('R')[2]}.{k}.Q", u)
        begun = time.perf_counter()
        words = [
            sys.executable,
            "-m",
            "clumppling",
            "-i",
            str(inside),
            "-o",
            str(out),
            "-f",
            "admixture",
            "-v",
            "False",
        ]
        subprocess.run(words, check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        order = dict(line.split(":") for line in _lines(out / "modes_aligned/all_modes_alignment_rep.txt"))
        aligned: dict[int, Runs] = {k: {} for k in runs}
        sizes: dict[str, int] = {}
        for line in _lines(out / "modes/mode_alignment.txt")[1:]:
            mode, _, run, columns = line.split(",")
            k = int(mode[1 : mode.index("M")])
            place = np.argsort(np.array(columns.split(), dtype=int))[np.array(order[mode].split(), dtype=int) - 1]
            aligned[k][run] = np.loadtxt(out / "input" / f"{run}.Q")[:, place]  # it numbers the runs anew
            sizes[mode] = sizes.get(mode, 0) + 1
    modes = {k: sorted((n for m, n in sizes.items() if m.startswith(f"K{k}M")), reverse=True) for k in runs}
    return aligned, modes, seconds


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line]


def main() -> None:
    """Print both tables."""
    data = tracking()
    print("Listeria: our events and ReporTree's record of each old cluster")
    for column in ("MST-4x1.0", "MST-7x1.0"):
        print(f"  {column}: " + ", ".join(f"{name} {value}" for name, value in listeria(data, column).items()))
    runs = capeverde(data)
    begun = time.perf_counter()
    tracks = {k: cg.track(found) for k, found in runs.items()}
    ours = {k: dict(zip(runs[k], t.aligned, strict=True)) for k, t in tracks.items()}
    modes = {k: t.modes["size"].tolist() for k, t in tracks.items()}
    seconds = time.perf_counter() - begun
    theirs = clumppling(runs) if find_spec("clumppling") else None
    print("\nCape Verde: mean cost over all pairs of runs of one k, and sizes of the modes")
    for k in runs:
        said = f"  k = {k}: cg.track {mean_cost(ours[k]):.6f} {modes[k]}"
        print(said + (f", Clumppling {mean_cost(theirs[0][k]):.6f} {theirs[1][k]}" if theirs else ""))
    print(f"  seconds: cg.track {seconds:.2f}" + (f", Clumppling {theirs[2]:.2f}" if theirs else ""))


if __name__ == "__main__":
    main()
