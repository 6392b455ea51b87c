"""`congruence hierarchies`: compare dendrograms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from congruence.cli.app import FailUnder, Format, Id, Measures, Open, Output, Threads, app
from congruence.cli.parsing import limits_of
from congruence.cli.plots import check_plot, write_plot
from congruence.cli.printing import fail_if_under, print_result, say
from congruence.cli.reading import listed, said_of, split, table_of
from congruence.errors import InputError
from congruence.typing import ColumnLike, Scalar

if TYPE_CHECKING:
    from congruence.formulas.record import Measures as MeasuresLike
    from congruence.inputs.hierarchy import Hierarchy

#: files that hold Newick text
NEWICK = (".nwk", ".newick", ".tree", ".tre", ".txt")


def _names_points(given: dict[str, ColumnLike]) -> bool:
    """Whether a file is a table, whose rows need names: trees in Newick text name their points."""
    return given["labels"] is not None or any(_is_table(given[side]) for side in ("a", "b"))


@app.command(needs={"id": ("a table", _names_points)})
def hierarchies(
    a: Annotated[Path, typer.Argument(help="A tree: Newick, a linkage (.npy), or a table of nested label columns.")],
    b: Annotated[Path, typer.Argument(help="Another tree of the same points; or, with --labels, a table.")],
    labels: Annotated[
        str | None, typer.Option(help="Column of b with one label per point: find the cut of a that fits it best.")
    ] = None,
    id: Id = None,
    measures: Measures = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write a tanglegram of the two trees here: .html, .png, .pdf or .svg.")
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(help="Write the agreement at each number of clusters here: .html, .png, .pdf or .svg."),
    ] = None,
    open_page: Open = False,
    fail_under: FailUnder = None,
    format: Output = Format.table,
    threads: Threads = None,
) -> None:
    """Compare two trees, or find the cut of a tree that fits known labels best.

    Examples:

      congruence hierarchies a.nwk b.nwk --plot tangle.html

      congruence hierarchies a.nwk truth.csv --labels species --id name
    """
    import congruence as cg
    from congruence.machine.writing import check_apart

    check_plot(plot, a, b, open_page=open_page and curve is None)
    check_plot(curve, a, b)
    check_apart(plot=plot, curve=curve)
    if plot is not None and labels is not None:
        raise cg.InputError("--plot draws two trees; with --labels pass --curve")
    limits = limits_of(fail_under)
    keys: MeasuresLike = None
    if measures is not None:
        keys = "all" if measures.strip() == "all" else [*split(measures), *limits]
    elif limits:
        keys = list(limits)
    first = _tree(a, id)
    second = _labels(b, labels, id) if labels is not None else _tree(b, id)
    result = cg.compare(first, second, keys, threads=threads)
    written = []
    if plot is not None:
        written.append(write_plot(cg.tanglegram(first, second), plot, open_page=open_page))
    if curve is not None:
        measure = "wallace" if labels is None else "ari"
        written.append(write_plot(cg.cut_curve(first, second, measure), curve, open_page=open_page))
    print_result(result, format)
    say(written)
    fail_if_under(result, limits)


def _is_table(path: Path) -> bool:
    from congruence.inputs.files import suffix_of

    return bool(path.suffix) and suffix_of(path) not in (*NEWICK, ".npy")


def _tree(path: Path, id: str | None) -> Hierarchy:
    """The tree of a file."""
    import congruence as cg
    from congruence.inputs import files
    from congruence.inputs.column_kinds import sorted_columns

    if not _is_table(path):
        return cg.Hierarchy(files.read_array(path) if files.suffix_of(path) == ".npy" else path)
    table = table_of(path)
    points = _listed(table, id, path) if id is not None else None
    found = sorted_columns(table, id=id, source=str(path))
    say(said_of(found))
    return cg.Hierarchy(dict(found.taken), points=points)


def _labels(path: Path, column: str, id: str | None) -> ColumnLike:
    """One label per point, by name if the table names its points."""
    from congruence.inputs import files

    table = table_of(path)
    if id is None:
        return files.pick(table, [column], str(path))[column]
    return dict(zip(_listed(table, id, path), _listed(table, column, path), strict=True))


def _listed(table: dict[str, ColumnLike], column: str, path: Path) -> list[Scalar]:
    """The values of one column; a matrix or memberships have none."""
    from congruence.inputs import files

    found = files.pick(table, [column], str(path))[column]
    if not hasattr(found, "to_pylist") and not hasattr(found, "tolist"):
        raise InputError(f"{path}: {column!r} is a matrix, not a column with one value per point")
    return listed(found)
