"""`congruence demo`: compare clusterings of wine and digits, and write reports."""

from pathlib import Path
from typing import Annotated

import typer

from congruence.cli.app import Open, app
from congruence.cli.plots import show_page


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the reports to this folder.")] = Path(
        "congruence-demo"
    ),
    open_page: Open = False,
) -> None:
    """Cluster wine and digits with several algorithms, compare the results, and write a report on each.

    Examples:

      congruence demo

      congruence demo --out somewhere
    """
    from congruence.cli.showcase import show

    for page in show(out):
        if open_page:
            show_page(page)
