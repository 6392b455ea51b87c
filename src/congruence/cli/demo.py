"""`congruence demo`: compare clusterings of wine and digits, and write reports."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from congruence.cli.app import app


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the reports to this folder.")] = Path(
        "congruence-demo"
    ),
) -> None:
    """Cluster wine and digits with several algorithms, compare the results, and write a report on each.

    Examples:

      congruence demo

      congruence demo --out somewhere
    """
    from congruence.cli.showcase import show

    show(out)
