"""Write figures: HTML by plotly, images by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.options import Figure
from congruence.typing import OptionValue

if TYPE_CHECKING:
    from congruence.comparison.presenting import Result

#: files that matplotlib writes
IMAGES = (".png", ".pdf", ".svg")


def write_plot(given: Figure, result: Result, path: Path | None = None, **options: OptionValue) -> list[str]:
    """Write the figure of a result atomically if a file is named, and open it if requested; a note that says so."""
    from congruence.inputs import files
    from congruence.machine.writing import replacing, write_text

    path = path or given.plot
    if path is None:
        return []
    if files.suffix_of(path) in IMAGES:
        with replacing(path) as stream:
            result.plot("matplotlib", **options).savefig(stream, format=files.suffix_of(path)[1:], dpi=200)
    else:
        write_text(path, result.plot(**options).to_html(include_plotlyjs=True))
    if given.open:
        show_page(path)
    return [f"wrote {path}"]


def show_page(path: Path) -> None:
    """Open a file that was written in the browser."""
    import webbrowser

    webbrowser.open(path.resolve().as_uri())
