"""Write figures: HTML by plotly, images by matplotlib."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.typing import OptionValue

if TYPE_CHECKING:
    from congruence.comparison.presenting import Result

#: files that matplotlib writes
IMAGES = (".png", ".pdf", ".svg")


def check_plot(path: Path | None, *inputs: Path, open_page: bool = False, option: str = "--plot") -> None:
    """Raise, before any computation, if a figure cannot be written to this path, or the path is one of the inputs."""
    from congruence import InputError
    from congruence.inputs import files
    from congruence.machine.writing import check_target

    if path is None:
        if open_page:
            raise InputError(f"--open shows what {option} writes; pass {option} FILE too")
        return
    if files.suffix_of(path) not in (".html", ".htm", *IMAGES):
        raise InputError(f"{path}: figures are written as .html, {', '.join(IMAGES[:-1])} or {IMAGES[-1]}")
    check_target(path, inputs)


def write_plot(result: Result, path: Path, *, open_page: bool = False, **options: OptionValue) -> str:
    """Write the figure of a result atomically, and open it if requested; returns a message for the user."""
    from congruence.inputs import files
    from congruence.machine.writing import replacing, write_text

    if files.suffix_of(path) in IMAGES:
        with replacing(path) as stream:
            result.plot("matplotlib", **options).savefig(stream, format=files.suffix_of(path)[1:], dpi=200)
    else:
        write_text(path, result.plot(**options).to_html(include_plotlyjs=True))
    if open_page:
        show_page(path)
    return f"wrote {path}"


def show_page(path: Path) -> None:
    """Open a file that was written in the browser."""
    import webbrowser

    webbrowser.open(path.resolve().as_uri())
