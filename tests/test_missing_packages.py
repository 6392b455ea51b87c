"""Without a package, what does not need it works, and the rest says in one line what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: hides packages from Python, then prints what each call says
PROGRAM = """
import sys

class Hidden:
    def __init__(self, finder):
        self.finder = finder
    def __getattr__(self, name):
        return getattr(self.finder, name)
    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else self.finder.find_spec(name, path, target)

HIDDEN = set(sys.argv[1].split(","))
sys.meta_path[:] = map(Hidden, sys.meta_path)
import congruence as cg
import numpy as np

a, b, runs = [0, 0, 1, 1, 2, 2] * 9, [0, 1, 1, 1, 2, 0] * 9, [[0, 0, 1, 1] * 9, [1, 1, 0, 0] * 9, [0, 1, 1, 0] * 9]
big = np.arange(2_000_000) % 7
CALLS = {
    "compare": lambda: repr(cg.compare(a, b, "all")), "matrix": lambda: repr(cg.compare_all(runs)),
    "large": lambda: [cg.compare_all([big, big[::-1]])["ari"] for _ in range(6)],
    "certainty": lambda: cg.Ensemble(runs).certainty(), "match": lambda: cg.match(a, b),
    "plot": lambda: cg.compare(a, b).plot(), "image": lambda: cg.compare(a, b).plot("matplotlib"),
    "frame": lambda: cg.compare_all(runs).to_frame("ari"), "words": lambda: cg.ari(list("aab"), list("xyy")),
    "estimator": lambda: cg.ConsensusClustering(2), "generate": lambda: cg.generate(np.eye(20), 3, random_state=0),
    "consensus": lambda: cg.consensus(runs, 2, "average"),
}
for name, call in CALLS.items():
    try:
        call()
    except cg.InputError as error:
        assert isinstance(error, ModuleNotFoundError)
        print(name, error, sep=": ")
assert not HIDDEN & sys.modules.keys()
"""

#: package → what to install, and the calls that need it
NEEDED = {
    "plotly": ('"congruence[plot]"', ["plot"]),
    "matplotlib": ('"congruence[plot]"', ["image"]),
    "numba": ("numba", []),
    "sklearn": ("scikit-learn", ["estimator", "generate"]),
    "pyarrow": ("pyarrow", ["words"]),
    "narwhals": ("narwhals", ["plot", "frame", "estimator", "generate"]),  # scikit-learn and plotly need it themselves
    "joblib": ("joblib", ["estimator", "generate"]),
    "scipy": ("scipy", ["compare", "match", "plot", "image", "estimator", "generate", "consensus"]),
}


@pytest.mark.slow
@pytest.mark.parametrize("package", NEEDED)
def test_what_needs_a_package_says_so(package):
    """Exactly the calls that need the package name it and what to install; all others work without importing it."""
    install, needing = NEEDED[package]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, package], capture_output=True, text=True, check=False
    )
    assert not done.stderr
    expected = f"this needs {package}, which is not installed: pip install {install}"
    assert done.stdout.splitlines() == [f"{name}: {expected}" for name in needing]
