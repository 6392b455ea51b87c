"""Other people's data with a known number of clusters: `python -m reproductions.foreign_sets FOLDER` writes them there.

Published sets: FCPS and the samples of pyclustering, four sets of Barton's collection from pycvi, and sets of R packages.
Draws of other people's generators: mlbench, and clusterGeneration (Qiu and Joe 2006). Needs pip with an index, and R with
mclust, cluster, kernlab, clue, MASS, fpc, flexmix, mlbench and clusterGeneration. Nothing is copied into the repository.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import numpy as np

#: FCPS: clusters; Target has two and twelve outliers
FCPS = {"Atom": 2, "Chainlink": 2, "EngyTime": 2, "GolfBall": 1, "Hepta": 7, "Lsun": 3, "Target": 2, "Tetra": 4,
        "TwoDiamonds": 2, "WingNut": 2}  # fmt: skip
BARTON = {"banana": 2, "diamond9": 9, "long1": 2, "zelnik1": 3}
#: names of draws begin so
GENERATORS = ("mlbench-", "qiu_joe-")


def files(folder: Path) -> list[Path]:
    """The file of each set."""
    found = sorted(folder.glob("*_*.csv"))
    if not found:
        raise FileNotFoundError(f"no sets in {folder}: run `python -m reproductions.foreign_sets {folder}` first")
    return found


def load_one(file: Path) -> tuple[np.ndarray, int]:
    """Points and number of clusters of a set."""
    return np.loadtxt(file, delimiter=",", ndmin=2), int(file.stem.rpartition("_")[2])


def group_of(file: Path) -> str:
    """Published, or drawn by a generator."""
    return "drawn" if file.stem.startswith(GENERATORS) else "published"


def get(folder: Path) -> None:
    """Write each set to FOLDER/NAME_K.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with tarfile.open(_download("pyclustering==0.10.1.2", place, "--no-binary=:all:")) as archive:
            _pyclustering(folder, archive)
        with zipfile.ZipFile(_download("pycvi-lib==1.0.1", place, "--only-binary=:all:")) as wheel:
            for each, k in BARTON.items():
                text = wheel.read(f"pycvi/datasets/Barton/{each}_data.csv").decode()
                _write(folder, f"barton-{each}", k, np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2))
    subprocess.run(["Rscript", str(Path(__file__).with_suffix(".R")), str(folder)], check=True)


def _download(package: str, place: Path, kind: str) -> Path:
    before = set(place.iterdir())
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", kind, "-d", str(place), package], check=True
    )
    return next(iter(set(place.iterdir()) - before))


def _pyclustering(folder: Path, archive: tarfile.TarFile) -> None:
    texts = {}
    for member in archive.getmembers():
        if "/samples/samples/" in member.name and member.isfile():
            file = archive.extractfile(member)
            assert file is not None
            texts["/".join(member.name.split("/")[-2:])] = file.read().decode()
    for name, k in FCPS.items():
        _write(folder, f"fcps-{name}", k, np.loadtxt(io.StringIO(texts[f"fcps/{name}.data"]), ndmin=2))
    for name, text in texts.items():
        if name.startswith("simple/") and name.endswith(".data"):
            answer = {line[0] for line in texts[name.replace(".data", ".answer")].split()} - {"n"}  # n: noise
            points = np.loadtxt(io.StringIO(text), ndmin=2)
            _write(folder, f"pyclustering-{name[7:-5]}", len(answer), points)


def _write(folder: Path, name: str, k: int, points: np.ndarray) -> None:
    np.savetxt(folder / f"{name}_{k}.csv", points, delimiter=",", fmt="%.8g")


if __name__ == "__main__":
    get(Path(sys.argv[1]))
