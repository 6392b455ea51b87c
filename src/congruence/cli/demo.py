"""`congruence demo`: compare clusterings of wine and digits, and write reports."""

from pathlib import Path

from congruence.cli.app import app
from congruence.cli.options import Options, option
from congruence.cli.printing import show_page


class Given(Options):
    """The options of the command."""

    out: Path = option(Path("congruence-demo"), "Write the reports to this folder.")
    open: bool = option(False)


@app.command()
def demo(given: Given) -> None:
    """Cluster wine and digits with several algorithms, compare the results, and write a report on each.

    Examples:

      congruence demo

      congruence demo --out somewhere
    """
    from congruence.cli.showcase import show

    for page in show(given.out):
        if given.open:
            show_page(page)
