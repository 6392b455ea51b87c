"""`congruence alternatives`: another good clustering."""

from pathlib import Path
from typing import Literal

from congruence.cli.app import app
from congruence.cli.options import TABLE, Features, Format, Printing, option, required
from congruence.cli.parsing import value_of
from congruence.cli.printing import print_json, print_rows, say, show, wrote
from congruence.cli.reading import features_of, row_ids, split, table_of
from congruence.typing import OptionValue, Record


class Given(Features, Printing):
    """The options of the command."""

    labels: list[str] = required("Column of a known clustering; may be given several times.")
    k: int | None = option(None, "Number of clusters; default: as in the first known clustering.")
    n: str = option("1", "Number of alternatives, each different from those before; all: until none is left.")
    method: Literal[
        "auto", "residual", "refined", "condens", "mincentropy", "orthogonal", "adft", "maximus", "coala", "cib", "metaclusters",
    ] = option("auto", "Method that finds the alternatives.")  # fmt: skip
    out: Path | None = option(None, "Write the labels to this file, one column each.", writes=TABLE)
    id: str | None = option(None)
    min_size: int | None = option(None, "Minimum number of points per cluster.")
    scale: bool = option(True, "Standardise numbers first.")
    n_init: int | None = option(None, "Random restarts.")
    seed: int | None = option(0)
    option: list[str] | None = option(None, "Option of the method, as in epsilon=0.1.")


@app.command()
def alternatives(given: Given) -> None:
    """Find clusterings of the data that are good and different from the known ones.

    Examples:

      congruence alternatives data.csv --labels kmeans --k 3 --n 2 --out alternatives.csv

      congruence alternatives data.csv --labels kmeans --n all

      congruence alternatives data.csv --labels a --labels b --features x,y,z --method maximus --option epsilon=0.1
    """
    import congruence as cg
    from congruence.inputs import files

    settings: dict[str, OptionValue] = {}
    for text in given.option or []:
        name, sign, value = text.partition("=")
        if not sign:
            raise cg.InputError(f"--option takes NAME=VALUE, as in epsilon=0.1; got {text!r}")
        settings[name.strip().replace("-", "_")] = {"true": True, "false": False}.get(
            value.strip().lower(), value_of(value.strip())
        )
    table = table_of(given.data)
    known = files.pick(table, given.labels, str(given.data))
    files.pick(table, [given.id] if given.id is not None else [], str(given.data))
    X = features_of(table, given.features, {"labels": tuple(given.labels)}, given.data, given.id)
    settings |= given.values_of("binning bins min_size scale") | {"nominal": split(given.nominal)}
    if given.n != "all" and not given.n.isdecimal():
        raise cg.InputError(f"--n takes a whole number of at least 1, or all; got {given.n!r}")
    many: int | Literal["all"] = "all" if given.n == "all" else int(given.n)
    found = cg.alternatives(X, known, given.k, many, given.method, given.seed, n_init=given.n_init, **settings)
    names = [f"alternative_{i + 1}" for i in range(len(found))]
    _print(dict(zip(names, found, strict=True)), given.format)
    if given.n == "all":
        say([found.sentence])
    rows = row_ids(given.data, given.id, None)
    table = {**rows, **known, **{name: r.labels for name, r in zip(names, found, strict=True)}}
    say(wrote(given.out, table, ", ".join(table)))


def _print(found: Record, format: Format) -> None:
    if format == "json":
        print_json({name: result.to_dict() for name, result in found.items()})
    elif format == "table":
        if found:
            show("\n\n".join(f"{name}: {result}" for name, result in found.items()))
    else:
        from congruence.alternative_clustering.results import SCORES

        rows = []
        for name, r in found.items():
            sizes = " ".join(map(str, r.sizes))
            rows.append({"alternative": name, "sizes": sizes, **r.scores, "status": r.status, "gap": r.gap})
            rows.append({"alternative": f"{name}, shuffled", "sizes": sizes, **r.random, "status": "", "gap": ""})
        print_rows(rows, format, ["alternative", "sizes", *SCORES, "status", "gap"])
