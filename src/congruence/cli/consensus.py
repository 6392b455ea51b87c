"""`congruence consensus`: one clustering from many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from congruence.cli.app import (
    Checkpoint,
    Client,
    Columns,
    Format,
    Id,
    Long,
    Noise,
    Output,
    Partial,
    Seed,
    SkipBad,
    Threads,
    app,
)
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_json, print_result, print_rows, say, show, write_table
from congruence.cli.reading import labels_of, row_ids, scanned_columns, split
from congruence.consensus_clustering.method_names import METHODS
from congruence.typing import OptionValue, Record

if TYPE_CHECKING:
    from congruence.consensus_clustering.results import Consensus
    from congruence.consensus_clustering.scanned import ConsensusFiles
    from congruence.inputs.ensemble import Ensemble


@app.command(needs={"select_by": ("--select", lambda given: given["select"] is not None)})
def consensus(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one per member; or a folder of such tables.")],
    k: Annotated[
        int | None, typer.Option("--k", min=1, help="Number of clusters; chosen from the members if omitted.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(help=f"auto, {', '.join(METHODS)}; or several, separated by commas."),
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the cluster and confidence of each row: csv, tsv, parquet, feather; a folder of Parquet files if "
            "the name has no ending.",
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="Column to compare the result with, not a member; default: a column called truth or class; none: no column."
        ),
    ] = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Partial = False,
    noise: Noise = None,
    select: Annotated[int | None, typer.Option(min=1, help="Select this many members.")] = None,
    select_by: Annotated[
        Literal["quality", "diversity", "joint", "cluster"], typer.Option(help="How members are selected.")
    ] = "cluster",
    refine: Annotated[
        bool | None,
        typer.Option("--refine/--no-refine", help="Refine the result by its votes. Default: only for auto."),
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Variant of the method, such as metis for hbgf.")] = None,
    solver: Annotated[
        Literal["auto", "metis", "mtkahypar", "builtin"], typer.Option(help="Graph partitioner.")
    ] = "auto",
    balance: Annotated[float, typer.Option(help="Allowed imbalance of the blocks of a cut.")] = 0.05,
    seed: Seed = 0,
    format: Output = Format.table,
    threads: Threads = None,
    client: Client = None,
    checkpoint: Checkpoint = None,
    skip_bad: SkipBad = False,
) -> None:
    """Find the consensus of all label columns of a file.

    Folders, and files with --client, --checkpoint, --skip-bad or a folder as --out, are not read into memory.

    Examples:

      congruence consensus labels.parquet --k 5 --out consensus.csv

      congruence consensus runs.csv --k 3 --method hbgf,average --reference truth

      congruence consensus runs.csv --method lwea --refine

      congruence consensus nodes.csv --partial --k 4 --noise -1

      congruence consensus labels/ --k 10 --out consensus/ --checkpoint saved/
    """
    import congruence as cg
    from congruence.inputs import files

    policy: Literal["partial", "error"] = "partial" if partial else "error"
    scanning: dict[str, OptionValue] = {"client": client, "checkpoint": checkpoint, "skip_bad": skip_bad}
    how: dict[str, OptionValue] = {
        "refine": refine, "variant": variant, "solver": solver, "balance": balance, "threads": threads
    }  # fmt: skip
    to_folder = out is not None and not out.suffix

    def selected(members: Ensemble, notes: list[str]) -> Ensemble:
        if select is None:
            return members
        members = cg.select_members(members, select, select_by, random_state=seed)
        notes.append(f"members used: {', '.join(members.names)}")
        return members

    if file.is_dir() or "*" in file.name or any(scanning.values()) or to_folder:
        if out is not None and not to_folder:
            raise cg.InputError(
                f"--out {out}: the consensus of scanned rows is written to a folder; give a name without an ending"
            )
        if long is not None:
            raise cg.InputError("--long tables are read into memory; give a file, and --out a name with an ending")
        scanned = scanned_columns(file, columns, id, None, (), reference, True, always=True, **scanning)
        assert scanned is not None
        read, source = scanned
        taken, notes = source.narrowed(list(read.without_reference()[0])), list[str]()
        members = cg.Ensemble(taken, unassigned=policy, noise=noise_labels(noise))
        if read.reference is not None:
            notes.append(f"{read.reference} is not a member; compare the result with it by id")
        placed = cg.consensus(selected(members, notes), k, split(method), seed, out=out, **how)
        _show(placed, format, notes)
        return
    if out is not None:
        files.check_writable(out, file)
    check_width(file, columns, long, MOST_COLUMNS, ", or call consensus in Python")
    read = labels_of(file, columns, id, long, (), reference, find_reference=True)
    (found, truth), notes = read.without_reference(), list[str]()
    check_number(found, MOST_COLUMNS, ", or call consensus in Python")
    members = selected(cg.Ensemble(found, unassigned=policy, noise=noise_labels(noise)), notes)
    result: Consensus = cg.consensus(members, k, split(method), seed, **how)
    against: dict[str, Record] = {}
    if truth is not None:
        agreed = cg.compare(truth, result.labels, ["ari", "nmi_sum", "accuracy"], unassigned="drop", noise={"b": [-1]})
        against[str(read.reference)] = agreed.to_dict()
    if out is not None:
        write_table({**row_ids(file, id, long), "cluster": result.labels, "confidence": result.confidence}, out)
        notes.append(f"wrote {out}: {result.n_clusters} clusters of {len(result.labels):,} points")
    _show_with_reference(result, against, format, [*notes, *members.cautions])


def _show(result: Consensus | ConsensusFiles, format: Format, notes: list[str]) -> None:
    """Print the result of scanned rows."""
    print_result(result, format, lambda: print_rows([dict(row) for row in result.tried], format))
    say(notes if format in (Format.table, Format.json) else [*notes, *result.notes])


def _show_with_reference(result: Consensus, against: dict[str, Record], format: Format, notes: list[str]) -> None:
    """Print the result, and how it agrees with the reference if there is one."""
    said = [
        f"against {name}: " + ", ".join(f"{key} {value:.4f}" for key, value in values.items())
        for name, values in against.items()
    ]
    if format is Format.table:
        show(result)
        for line in said:
            show(f"\n{line}")
    elif format is Format.json:
        print_json(result.to_dict() | ({"against": against} if against else {}))
    else:
        print_rows([dict(row) for row in result.tried], format)
        notes = [*notes, *result.notes, *said]
    say(notes)
