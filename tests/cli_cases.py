"""Files for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
from commands import Said

LABELS = pd.DataFrame(
    {
        "cell": [f"c{i}" for i in range(8)],
        "truth": [0, 0, 0, 1, 1, 1, 2, 2],
        "kmeans": list("aabbbbcc"),
        "leiden": [0, 0, 1, 1, 1, -1, 2, 2],
        "weight": [1.0, 2, 1, 1, 3, 1, 1, 1.5],
        "count": [1, 2, 1, 1, 3, 1, 1, 2],
    }
)
TRUTH, KMEANS, LEIDEN = (LABELS[name].tolist() for name in ("truth", "kmeans", "leiden"))
Command = Callable[..., Said]


def refused(said: Said, text: str) -> None:
    """Exit code 2, nothing on stdout, and exactly one line on stderr, besides notes, that holds the text."""
    assert said.code == 2
    assert said.out == ""
    (line,) = said.refusal
    assert line.startswith("congruence: ")
    assert "Traceback" not in said.err
    assert text in said.err


def shown(text: str) -> dict[str, float]:
    """Measure → value of a table printed by compare."""
    rows = (line.split() for line in text.split("\n")[2:] if line and not line.startswith(("!", " ")))
    return {row[0]: float(row[1]) for row in rows}
