"""`congruence report`: one page of HTML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import Columns, Id, Long, Measures, Noise, Policy, Threads, Unassigned, app
from congruence.cli.printing import say
from congruence.cli.reading import (
    check_same_row_names,
    label_columns,
    noise_labels,
    row_ids,
    split,
    table_of,
)
from congruence.cli.reading import data_columns as read_data


@app.command()
def report(
    file: Annotated[Path, typer.Argument(help="Table of label columns, or of memberships in columns NAME:CLUSTER.")],
    data: Annotated[
        Path | None, typer.Option(help="Table of numbers of the same points, for a picture of them.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Column to compare with; else one called truth, class, label or reference; or none."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Write the page here.")] = Path("report.html"),
    data_columns: Annotated[
        str | None, typer.Option(help="Columns of the data for the picture, as in a,b,c; by default all numbers.")
    ] = None,
    axes: Annotated[
        str | None, typer.Option(help="Two columns of the data for the picture, as in x,y; else PCA.")
    ] = None,
    measures: Measures = None,
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Number of clusters of the consensus clusterings.")
    ] = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    unassigned: Unassigned = Policy.drop,
    noise: Noise = None,
    title: Annotated[str | None, typer.Option(help="Title of the page; by default the name of the file.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same page.")] = 0,
    threads: Threads = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in the browser.")] = False,
) -> None:
    """Explain the clusterings of a file on one page that works offline: how they agree, on what, where they differ.

    Examples:

      congruence report labels.csv --reference truth

      congruence report runs.parquet --data numbers.csv --axes x,y --out runs.html

      congruence report cells.csv --id barcode --noise -1 --measures ari,vi,jaccard
    """
    import shlex

    import congruence as cg
    from congruence.inputs import files
    from congruence.inputs.column_kinds import reference_among
    from congruence.machine.writing import check_target
    from congruence.reporting.html import Report, check_page
    from congruence.reporting.model import build

    check_page(out)
    check_target(out, [file])
    asked = None if reference is not None and reference.lower() == "none" else reference
    found, notes = label_columns(file, split(columns), id, long, (), asked)
    found, more = files.with_memberships(found)
    if asked is not None:
        files.pick(found, [asked], str(file))
    elif reference is None and len(found) > 2 and (asked := reference_among(found)) is not None:
        more.append(f"column {asked!r} is taken for the reference; pass --reference none to count it as a clustering")
    name, ids = next(iter(row_ids(file, id, long).items()), (None, None))
    numbers: Any = None
    if data is not None:
        by = id if long is None else name
        numbers, named, said = _numbers(data, split(axes), split(data_columns), by, [*table_of(file)])
        if by is None and files.suffix_of(data) != ".npy":
            check_same_row_names([table_of(file), table_of(data)], (file, data))
        elif by in named:
            numbers, joined = _placed(numbers, named[by], ids, (file, data))
            said += joined
        elif by is not None:
            said.append(f"{data} has no column {by!r}: its rows are taken to be those of {file}, in the same order")
        numbers, left_out = _without_labels(numbers, found, [*split(axes), *split(data_columns)])
        more += [*said, *left_out, f"columns of the picture: {', '.join(numbers)}"]
    elif axes is not None or data_columns is not None:
        option = "--axes" if axes is not None else "--data-columns"
        raise cg.InputError(f"{option} names columns of the data; pass them with --data FILE")
    beside = ["--unassigned", unassigned.value, *(["--noise", noise] if noise else [])]
    beside += ["--long", long] if long else []
    model = build(
        found, reference=asked, data=numbers, axes=split(axes) or None, ids=ids, measures=split(measures) or None,
        n_clusters=k, unassigned=unassigned.value, noise=noise_labels(noise), title=title or file.name,
        command=shlex.join(["congruence", *sys.argv[1:]]), source=str(file), options=shlex.join(beside),
        random_state=seed, threads=threads,
    )  # fmt: skip
    made = Report(model, out)
    made.save(out)
    print(made)
    say([*notes, *more, f"wrote {out}: {out.stat().st_size / 1e6:.1f} MB"])
    if open_page:
        import webbrowser

        webbrowser.open(out.resolve().as_uri())


def _numbers(
    file: Path, axes: list[str], chosen: list[str], id: str | None, labels: list[str]
) -> tuple[dict[str, Any], dict[str, Any], list[str]]:
    """The numbers of the data file by name: the columns named, or all that have no name of a label column or a reference."""
    import numpy as np

    from congruence.inputs import files
    from congruence.inputs.column_kinds import reference_among

    if files.suffix_of(file) == ".npy":
        X, named, notes = read_data(file, [], id)
        return {f"column {j + 1}": X[:, j] for j in range(X.shape[1])}, named, notes
    table = table_of(file)
    own = id if id in table else None
    if chosen or axes:
        wanted = list(dict.fromkeys([*chosen, *axes]))
        X, named, notes = read_data(file, wanted, own)
        return {name: X[:, j] for j, name in enumerate(wanted)}, named, notes
    taken = [name for name in table if name != own and (name in labels or reference_among([name]))]
    rest, said = files.without_ids(
        {name: x for name, x in table.items() if name != own and name not in taken}, is_data=True
    )
    numbers = [name for name, x in rest.items() if np.asarray(x).dtype.kind in "iufb"]
    X, named, notes = read_data(file, numbers, own)
    words = [name for name in rest if name not in numbers]
    said += [f"columns that are not numbers were left out: {', '.join(words)}"] if words else []
    said += [f"columns that are labels were left out of the picture: {', '.join(taken)}"] if taken else []
    return {name: X[:, j] for j, name in enumerate(numbers)}, named, [*said, *notes]


def _without_labels(
    numbers: dict[str, Any], found: dict[str, Any], named: list[str]
) -> tuple[dict[str, Any], list[str]]:
    """The numbers less columns that are one of the clusterings under another name; those named by hand stay."""
    import numpy as np

    import congruence as cg
    from congruence.inputs.memberships import Memberships

    same = []
    for name, x in numbers.items():
        values = np.asarray(x)
        if name in named or (values != np.round(values)).any() or len(np.unique(values)) > len(values) / 2:
            continue
        hard = {other: labels for other, labels in found.items() if not isinstance(labels, Memberships)}
        codes = values.astype(np.int64)
        for other, labels in hard.items():
            if len(labels) == len(codes) and cg.ari(labels, codes, unassigned="singletons") == 1.0:
                same.append((name, other))
                break
    kept = {name: x for name, x in numbers.items() if name not in dict(same)}
    return kept, [
        f"column {name!r} of the data is the clustering {other!r}: left out of the picture" for name, other in same
    ]


def _placed(numbers: Any, own: Any, ids: Any, paths: tuple[Path, Path]) -> tuple[Any, list[str]]:
    """The rows of the data in the order of the labels, by their ids."""
    from congruence import InputError
    from congruence.inputs import files

    there, rows, notes = files.join(ids, own, (str(paths[0]), str(paths[1])))
    if len(there) < len(ids):
        raise InputError(f"{len(ids) - len(there)} of the {len(ids)} ids of {paths[0]} are not in {paths[1]}")
    return {key: column[rows] for key, column in numbers.items()}, notes
