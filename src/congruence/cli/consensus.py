"""`congruence consensus`: one clustering from many."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from congruence.cli.app import app
from congruence.cli.options import TABLE, Format, Members, Printing, Scanned, argument, option
from congruence.cli.parsing import MOST_COLUMNS, check_number, check_width, noise_labels
from congruence.cli.printing import print_json, print_result, print_rows, say, show, wrote
from congruence.cli.reading import labels_of, row_ids, scanned_columns, split
from congruence.consensus_clustering.method_names import METHODS
from congruence.typing import Record

if TYPE_CHECKING:
    from congruence.consensus_clustering.results import Consensus
    from congruence.consensus_clustering.scanned import ConsensusFiles
    from congruence.inputs.ensemble import Ensemble


class Given(Members, Scanned, Printing):
    """The options of the command."""

    file: Path = argument("Table of label columns, one per member; or a folder of such tables.")
    k: int | None = option(None, "Number of clusters; chosen from the members if omitted.", least=1)
    method: str = option("auto", f"auto, {', '.join(METHODS)}; or several, separated by commas.")
    out: Path | None = option(
        None,
        "Write the cluster and confidence of each row: csv, tsv, parquet, feather; a folder of Parquet files if "
        "the name has no ending.",
        writes=(*TABLE, ""),
    )
    select: int | None = option(None, "Select this many members.", least=1)
    select_by: Literal["quality", "diversity", "joint", "cluster"] = option(
        "cluster", "How members are selected.", needs=("--select", lambda given: given.select is not None)
    )
    refine: bool | None = option(
        None, "Refine the result by its votes. Default: only for auto.", "--refine/--no-refine"
    )
    variant: str | None = option(None, "Variant of the method, such as metis for hbgf.")
    solver: Literal["auto", "metis", "mtkahypar", "builtin"] = option("auto", "Graph partitioner.")
    balance: float = option(0.05, "Allowed imbalance of the blocks of a cut.")
    seed: int | None = option(0)


@app.command()
def consensus(given: Given) -> None:
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

    how = given.values_of("refine variant solver balance threads")
    to_folder = given.out is not None and not given.out.suffix

    def selected(members: Ensemble, notes: list[str]) -> Ensemble:
        if given.select is None:
            return members
        members = cg.select_members(members, given.select, given.select_by, random_state=given.seed)
        notes.append(f"members used: {', '.join(members.names)}")
        return members

    if given.file.is_dir() or "*" in given.file.name or given.scanning() or to_folder:
        if given.out is not None and not to_folder:
            raise cg.InputError(
                f"--out {given.out}: the consensus of scanned rows is written to a folder; give a name without an ending"
            )
        if given.long is not None:
            raise cg.InputError("--long tables are read into memory; give a file, and --out a name with an ending")
        scanned = scanned_columns(given, find_reference=True, always=True)
        assert scanned is not None
        read, source = scanned
        taken, notes = source.narrowed(list(read.without_reference()[0])), list[str]()
        members = cg.Ensemble(taken, unassigned=given.policy, noise=noise_labels(given.noise))
        if read.reference is not None:
            notes.append(f"{read.reference} is not a member; compare the result with it by id")
        placed = cg.consensus(selected(members, notes), given.k, split(given.method), given.seed, out=given.out, **how)
        _show(placed, given.format, notes)
        return
    check_width(given.file, given.columns, given.long, MOST_COLUMNS, ", or call consensus in Python")
    read = labels_of(given, find_reference=True)
    (found, truth), notes = read.without_reference(), list[str]()
    check_number(found, MOST_COLUMNS, ", or call consensus in Python")
    members = selected(cg.Ensemble(found, unassigned=given.policy, noise=noise_labels(given.noise)), notes)
    result: Consensus = cg.consensus(members, given.k, split(given.method), given.seed, **how)
    against: dict[str, Record] = {}
    if truth is not None:
        agreed = cg.compare(truth, result.labels, ["ari", "nmi_sum", "accuracy"], unassigned="drop", noise={"b": [-1]})
        against[str(read.reference)] = agreed.to_dict()
    rows = {**row_ids(given.file, given.id, given.long), "cluster": result.labels, "confidence": result.confidence}
    notes += wrote(given.out, rows, f"{result.n_clusters} clusters of {len(result.labels):,} points")
    _show_with_reference(result, against, given.format, [*notes, *members.cautions])


def _show(result: Consensus | ConsensusFiles, format: Format, notes: list[str]) -> None:
    """Print the result of scanned rows."""
    print_result(result, format, lambda: print_rows([dict(row) for row in result.tried], format))
    say(notes if format in ("table", "json") else [*notes, *result.notes])


def _show_with_reference(result: Consensus, against: dict[str, Record], format: Format, notes: list[str]) -> None:
    """Print the result, and how it agrees with the reference if there is one."""
    said = [
        f"against {name}: " + ", ".join(f"{key} {value:.4f}" for key, value in values.items())
        for name, values in against.items()
    ]
    if format == "table":
        show(result)
        for line in said:
            show(f"\n{line}")
    elif format == "json":
        print_json(result.to_dict() | ({"against": against} if against else {}))
    else:
        print_rows([dict(row) for row in result.tried], format)
        notes = [*notes, *result.notes, *said]
    say(notes)
