"""`congruence contingency`: how many points of one cluster are in another."""

from congruence.cli.app import app
from congruence.cli.joining import TwoLabels, cautions_of, two_columns
from congruence.cli.printing import print_columns, say, wrote
from congruence.typing import ColumnLike


@app.command()
def contingency(given: TwoLabels) -> None:
    """Count how many points of each cluster of one clustering are in each cluster of another.

    Examples:

      congruence contingency labels.csv kmeans leiden

      congruence contingency mine.csv theirs.csv --id cell --out table.csv
    """
    import congruence as cg

    pair = two_columns(given)
    table = cg.contingency(*pair.values, unassigned=given.unassigned, noise=pair.noise)
    say([*cautions_of(pair, given.unassigned, table)])
    dense = table.to_array()
    cells: dict[str, ColumnLike] = {" × ".join(pair.names): [str(name) for name in table.rows]}
    cells |= {str(name): dense[:, j].tolist() for j, name in enumerate(table.columns)}
    say(wrote(given.out, cells, f"{table.shape[0]} × {table.shape[1]} clusters"))
    if given.out is None or given.format != "table":
        print_columns(cells, given.format)
