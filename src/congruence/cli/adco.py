"""`congruence adco`: where clusters lie in the data."""

from pathlib import Path
from typing import Literal

from congruence.cli.app import app
from congruence.cli.options import Engine, Features, Gaps, Printing, option, required
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import print_result, print_rows, say, show
from congruence.cli.reading import features_of, split, table_of


class Given(Features, Gaps, Printing, Engine):
    """The options of the command."""

    labels: list[str] = required("Label columns: two of the table, or one of each table.")
    against: Path | None = option(None, "Table of other points, with the second label column.")
    adjusted: bool = option(False, "Subtract the mean score over matchings.")
    bivariate: bool = option(False, "Use bins of all pairs of features.")
    matching: Literal["one", "soft"] = option("one", "How to match clusters: one to one, or with shares (soft).")
    sizes: Literal["given", "sample", "scaled"] = option("given", "How to treat unequal numbers of points.")
    seed: int | None = option(0, needs=("--sizes sample", lambda given: given.sizes == "sample"))


@app.command()
def adco(given: Given) -> None:
    """Compare two clusterings by where their clusters lie in the data; they may be of different points.

    Examples:

      congruence adco data.csv --labels kmeans --labels truth

      congruence adco monday.csv --against friday.csv --labels cluster --labels cluster --features x,y
    """
    import congruence as cg
    from congruence.inputs import files

    if len(given.labels) != 2:
        raise cg.InputError(f"--labels names two columns, as in --labels a --labels b; got {len(given.labels)}")
    first, second = given.labels
    table = table_of(given.data)
    other = table_of(given.against) if given.against is not None else table
    a = files.pick(table, [first], str(given.data))[first]
    b = files.pick(other, [second], str(given.against or given.data))[second]
    apart = {"labels": tuple(dict.fromkeys(given.labels if given.against is None else [first]))}
    X = features_of(table, given.features, apart, given.data)
    X_b = files.pick(other, list(X), str(given.against)) if given.against is not None else None
    result = cg.compare_profiles(
        a, b, X, X_b, nominal=split(given.nominal), noise=noise_labels(given.noise), random_state=given.seed,
        **given.values_of("binning bins adjusted bivariate matching sizes unassigned threads engine"),
    )  # fmt: skip

    def rows() -> None:
        say(result.notes)
        print_rows([{"measure": key, "value": value} for key, value in result.to_dict().items()], given.format)
        show()
        print_rows(result.cluster_rows(), given.format, ["a", "b", "weight", "similarity", "size_a", "size_b"])
        show()
        print_rows(result.attribute_rows(), given.format)

    print_result(result, given.format, rows)
