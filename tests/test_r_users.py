"""docs/r.md: R runs its code through reticulate, and prints what the page shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "reproductions" / "r_users.R"
KEPT = (ROOT / "docs" / "reproductions" / "r_users.txt").read_text(encoding="utf-8")


def test_the_page_shows_the_script_and_its_output():
    """Each block of R is in the script, and each block of output in the kept output."""
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```", page, flags=re.M | re.S)
    assert len(blocks) > 10
    for language, block in blocks:
        assert block in (SCRIPT.read_text(encoding="utf-8") if language == "r" else KEPT), block


@pytest.mark.slow
def test_r_prints_what_is_kept(tmp_path):
    """Rscript runs the script to its end with this Python, and prints the kept output."""
    run = shutil.which("Rscript")
    if run is None:
        pytest.skip("needs R: apt-get install r-base-core r-cran-reticulate")
    if subprocess.run([run, "-e", "library(reticulate)"], capture_output=True, check=False).returncode:
        pytest.skip("needs reticulate: apt-get install r-cran-reticulate")
    path = os.pathsep.join(x for x in sys.path if x)  # this congruence, wherever it is installed
    environment = {**os.environ, "RETICULATE_PYTHON": sys.executable, "PYTHONPATH": path, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [run, SCRIPT], capture_output=True, encoding="utf-8", env=environment, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == KEPT
