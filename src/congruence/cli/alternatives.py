"""`congruence alternatives`: another good clustering."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from congruence.cli.app import NEEDS_BINS, Bins, BinsBy, Features, FeatureTable, Format, Id, Nominal, Output, Seed, app
from congruence.cli.printing import print_json, print_rows, say, show, write_table
from congruence.cli.reading import features_of, row_ids, split, table_of
from congruence.typing import OptionValue, Record


def _value(text: str) -> OptionValue:
    """The value of an option: a number, yes or no, or a word."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


@app.command(needs=NEEDS_BINS)
def alternatives(
    data: FeatureTable,
    labels: Annotated[list[str], typer.Option(help="Column of a known clustering; may be given several times.")],
    k: Annotated[
        int | None, typer.Option("--k", help="Number of clusters; default: as in the first known clustering.")
    ] = None,
    n: Annotated[
        str,
        typer.Option("--n", help="Number of alternatives, each different from those before; all: until none is left."),
    ] = "1",
    method: Annotated[
        Literal[
            "auto",
            "residual",
            "refined",
            "condens",
            "mincentropy",
            "orthogonal",
            "adft",
            "maximus",
            "coala",
            "cib",
            "metaclusters",
        ],
        typer.Option(help="Method that finds the alternatives."),
    ] = "auto",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the labels to this file, one column each.")
    ] = None,
    features: Features = None,
    nominal: Nominal = None,
    id: Id = None,
    min_size: Annotated[int | None, typer.Option(help="Minimum number of points per cluster.")] = None,
    binning: BinsBy = "width",
    bins: Bins = 10,
    scale: Annotated[bool, typer.Option(help="Standardise numbers first.")] = True,
    n_init: Annotated[int | None, typer.Option(help="Random restarts.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="OptionValue of the method, as in epsilon=0.1.")] = None,
    seed: Seed = None,
    format: Output = Format.table,
) -> None:
    """Find clusterings of the data that are good and different from the known ones.

    Examples:

      congruence alternatives data.csv --labels kmeans --k 3 --n 2 --out alternatives.csv

      congruence alternatives data.csv --labels kmeans --n all

      congruence alternatives data.csv --labels a --labels b --features x,y,z --method maximus --option epsilon=0.1
    """
    import congruence as cg
    from congruence.inputs import files

    if out is not None:
        files.check_writable(out, data)
    settings: dict[str, OptionValue] = {}
    for text in option or []:
        name, sign, value = text.partition("=")
        if not sign:
            raise cg.InputError(f"--option takes NAME=VALUE, as in epsilon=0.1; got {text!r}")
        settings[name.strip().replace("-", "_")] = _value(value.strip())
    table = table_of(data)
    known = files.pick(table, labels, str(data))
    files.pick(table, [id] if id is not None else [], str(data))
    X = features_of(table, features, {"labels": tuple(labels)}, data, id)
    settings |= {"binning": binning, "bins": bins, "nominal": split(nominal), "min_size": min_size, "scale": scale}
    if n != "all" and not n.isdecimal():
        raise cg.InputError(f"--n takes a whole number of at least 1, or all; got {n!r}")
    many: int | Literal["all"] = "all" if n == "all" else int(n)
    found = cg.alternatives(X, known, k, many, method, seed, n_init=n_init, **settings)
    names = [f"alternative_{i + 1}" for i in range(len(found))]
    _print(dict(zip(names, found, strict=True)), format)
    if n == "all":
        say([found.sentence])
    if out is not None:
        rows = row_ids(data, id, None)
        write_table({**rows, **known, **{name: r.labels for name, r in zip(names, found, strict=True)}}, out)
        say([f"wrote {out}: {', '.join([*rows, *known, *names])}"])


def _print(found: Record, format: Format) -> None:
    if format is Format.json:
        print_json({name: result.to_dict() for name, result in found.items()})
    elif format is Format.table:
        show("\n\n".join(f"{name}: {result}" for name, result in found.items()))
    else:
        rows = []
        for name, r in found.items():
            sizes = " ".join(map(str, r.sizes))
            rows.append({"alternative": name, "sizes": sizes, **r.scores, "status": r.status, "gap": r.gap})
            rows.append({"alternative": f"{name}, shuffled", "sizes": sizes, **r.random, "status": "", "gap": ""})
        print_rows(rows, format)
