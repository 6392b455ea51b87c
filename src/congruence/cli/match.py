"""`congruence match`: which clusters of two clusterings correspond."""

from congruence.cli.app import app
from congruence.cli.joining import TwoLabels, cautions_of, two_columns
from congruence.cli.printing import print_rows, say, show, wrote
from congruence.typing import Record


@app.command()
def match(given: TwoLabels) -> None:
    """Find the one-to-one matching of clusters with the most points in common.

    Examples:

      congruence match labels.csv kmeans leiden

      congruence match mine.csv theirs.csv --id cell --format csv
    """
    import congruence as cg

    pair = two_columns(given)
    result = cg.match(*pair.values, unassigned=given.unassigned, noise=pair.noise)
    rows: list[Record] = result.to_frame(backend="pyarrow").to_pylist()
    table = cg.contingency(*pair.values, unassigned=given.unassigned, noise=pair.noise)
    say([*cautions_of(pair, given.unassigned, table)])
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    say(wrote(given.out, columns, f"{len(rows)} matched clusters"))
    if given.format != "table":
        print_rows(rows, given.format)
    elif given.out is None:
        show(f"a = {pair.names[0]}, b = {pair.names[1]}")
        show(result)
