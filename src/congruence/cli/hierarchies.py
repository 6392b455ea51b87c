"""`congruence hierarchies`: compare dendrograms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from congruence.cli.app import app
from congruence.cli.options import FIGURE, Figure, Limits, Printing, Reading, argument, option
from congruence.cli.parsing import limits_of, named_measures
from congruence.cli.printing import fail_if_under, print_result, say, write_plot
from congruence.cli.reading import label_columns, listed, said_of, table_of
from congruence.errors import InputError, some_of
from congruence.inputs.formats import TREES
from congruence.typing import ClusteringLike, ColumnLike, Scalar

if TYPE_CHECKING:
    from congruence.inputs.hierarchy import Hierarchy

#: files that hold a tree as Newick or NEXUS text
NEWICK = (*TREES, ".txt")


def _names_points(given: Given) -> bool:
    """Whether a file is a table, whose rows need names: trees in Newick text name their points."""
    return given.labels is not None or _is_table(given.a) or _is_table(given.b)


class Given(Reading, Limits, Figure, Printing):
    """The options of the command."""

    a: Path = argument("A tree: Newick, NEXUS, a linkage (.npy), or a table of nested label columns.")
    b: Path = argument("Another tree of the same points; or, with --labels, a table.")
    labels: str | None = option(None, "Column of b with one label per point: find the cut of a that fits it best.")
    id: str | None = option(None, needs=("a table", _names_points))
    plot: Path | None = option(
        None, "Write a tanglegram of the two trees here: .html, .png, .pdf or .svg.", writes=FIGURE
    )
    curve: Path | None = option(
        None, "Write the agreement at each number of clusters here: .html, .png, .pdf or .svg.", writes=FIGURE
    )
    common: bool = option(False, "Keep the points that both trees have; they must have names.")
    open: bool = option(False, needs=("--plot or --curve", lambda given: given.plot or given.curve))
    threads: int | None = option(None)


@app.command()
def hierarchies(given: Given) -> None:
    """Compare two trees, or find the cut of a tree that fits known labels best.

    Examples:

      congruence hierarchies a.nwk b.nwk --plot tangle.html

      congruence hierarchies a.nwk truth.csv --labels species --id name
    """
    import congruence as cg

    if given.plot is not None and given.labels is not None:
        raise cg.InputError("--plot draws two trees; with --labels pass --curve")
    limits = limits_of(given.fail_under)
    keys = named_measures(given.measures, limits, ())
    first = _tree(given.a, given.id)
    second = _labels(given.b, given.labels, given.id) if given.labels is not None else _tree(given.b, given.id)
    if given.common:
        first, second = _common(first, second)
    result = cg.compare(first, second, keys, threads=given.threads)
    written = write_plot(given, cg.tanglegram(first, second)) if given.plot is not None else []
    if given.curve is not None:
        written += write_plot(
            given, cg.cut_curve(first, second, "wallace" if given.labels is None else "ari"), given.curve
        )
    print_result(result, given.format)
    say(written)
    fail_if_under(result, limits)


def _common(a: Hierarchy, b: ClusteringLike) -> tuple[Hierarchy, Hierarchy]:
    """Both trees of the points that both have; prints the others."""
    import congruence as cg

    if not isinstance(b, cg.Hierarchy) or a.points is None or b.points is None:
        raise InputError("--common needs two trees whose points have names; leave it out")
    shared = set(a.points) & set(b.points)
    if len(shared) < 2:
        raise InputError(f"the trees have {len(shared)} points in common; two are needed")
    gone = [x for x in (*a.points, *b.points) if x not in shared]
    say([f"{len(shared)} points in both trees; left out: {some_of(gone)}"] if gone else [])
    kept = [x for x in a.points if x in shared]
    return a.only(kept), b.only(kept)


def _is_table(path: Path) -> bool:
    from congruence.inputs.files import suffix_of

    return bool(path.suffix) and suffix_of(path) not in (*NEWICK, ".npy")


def _tree(path: Path, id: str | None) -> Hierarchy:
    """The tree of a file."""
    import congruence as cg
    from congruence.inputs import files

    if not _is_table(path):
        return cg.Hierarchy(files.read_array(path) if files.suffix_of(path) == ".npy" else path)
    table = table_of(path)
    points = _listed(table, id, path) if id is not None else None
    found = label_columns(table, None, str(path), id)
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
