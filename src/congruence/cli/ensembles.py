"""Commands for ensembles: ensemble, consensus-matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from congruence.cli.app import (
    Checkpoint,
    Client,
    Columns,
    Format,
    Id,
    Long,
    Memory,
    Missing,
    Noise,
    Output,
    SkipBad,
    Threads,
    app,
)
from congruence.cli.printing import print_result, print_rows, say
from congruence.cli.reading import check_same_rows, label_columns, noise_labels, scanned_columns, split


@app.command()
def ensemble(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one a member.")],
    reference: Annotated[str | None, typer.Option(help="Column to hold the ensemble against; not a member.")] = None,
    against: Annotated[Path | None, typer.Option(help="File of a second ensemble of the same points.")] = None,
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Annotated[bool, typer.Option("--partial", help="Members may cover part of the points.")] = False,
    missing: Missing = "ratio",
    noise: Noise = None,
    format: Output = Format.table,
    threads: Threads = None,
    client: Client = None,
    checkpoint: Checkpoint = None,
    skip_bad: SkipBad = False,
    memory: Memory = None,
) -> None:
    """Say how much the members of an ensemble agree, with each other, with a reference, with another ensemble.

    Examples:

      congruence ensemble runs.csv --reference truth

      congruence ensemble mine.parquet --against theirs.parquet

      congruence ensemble nodes.csv --partial --missing ratio
    """
    import congruence as cg

    scanning = {"client": client, "checkpoint": checkpoint, "skip_bad": skip_bad, "memory": memory}
    scanned = scanned_columns(file, split(columns), id, long, (), reference, **scanning)
    if scanned is None:
        found, notes = label_columns(file, split(columns), id, long, (), reference)
    elif against is not None:
        raise cg.InputError(
            "--against a scanned ensemble: its rows cannot be told to be the same; put both into one table"
        )
    else:
        found, notes, _ = scanned
    truth = found.pop(reference) if reference is not None else None
    options: dict[str, Any] = {"unassigned": "partial" if partial else "error", "noise": noise_labels(noise)}
    members = cg.Ensemble(found, **options)
    ranked = cg.member_agreement(members, "ari", threads=threads) if len(members) > 1 else {}
    kmax = max(max(c.k for c in members), 2)
    facts: dict[str, Any] = {
        "members": len(members),
        "points": members.n_points,
        "certainty": cg.certainty(members, missing=missing, threads=threads),
        "certainty of random members": cg.certainty_random(kmax, len(members)),
    }
    if len(members) > 1:
        for name, key in (("mean ari", "ari"), ("mean nmi_sum", "nmi_sum"), ("mean vi", "vi")):
            facts[name] = cg.consensus_index(members, key, threads=threads)
        facts["pnmi (low is diverse)"] = cg.pnmi(members, threads=threads)
    if truth is not None:
        facts[f"arimp with {reference}"] = cg.arimp(members, truth, missing=missing)
        if not members.has_gaps:
            facts[f"anmi with {reference}"] = cg.anmi(members, truth)
    result = None
    if against is not None:
        other, more = label_columns(against, [], id, long, (), None)
        check_same_rows((file, against), id, long)
        keys = [cg.measure(key, missing=missing) for key in ("arimm", "kas", "nsf", "sms")]
        result = cg.compare(members, cg.Ensemble(other, **options), keys, threads=threads)
        notes += more
    left_out = cg.compare_all(members, "ari", threads=threads).cautions if scanned is not None else members.cautions
    say([*notes, *left_out])
    _print_ensemble(facts, ranked, result, format)


def _print_ensemble(facts: dict[str, Any], ranked: dict[str, float], result: Any, format: Format) -> None:
    import json

    from congruence.comparison.results import plain

    if format is Format.json:
        about = {"ensemble": facts, "mean ari of members with the rest": ranked, "against": result and result.to_dict()}
        print(json.dumps(plain(about), indent=2, ensure_ascii=False))
        return
    print_rows([{"": name, "value": value} for name, value in facts.items()], format)
    if ranked:
        print()
        rows = [{"member": name, "mean ari with the rest": value} for name, value in ranked.items()]
        shown = rows if format is not Format.table or len(rows) <= 20 else [*rows[:10], *rows[-5:]]
        print_rows(shown, format)
        if len(shown) < len(rows):
            print(f"(the 10 most and the 5 least central of {len(rows)} members; --format csv shows all)")
    if result is not None:
        print()
        print_result(result, format)


@app.command("consensus-matrix")
def consensus_matrix(
    file: Annotated[Path, typer.Argument(help="Table of label columns, one a member.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Write it here: npz (dense, or sparse with --threshold) or npy.")
    ],
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Annotated[bool, typer.Option("--partial", help="Members may cover part of the points.")] = False,
    missing: Missing = "ratio",
    noise: Noise = None,
    threshold: Annotated[float | None, typer.Option(help="Keep entries at or above this, as a sparse matrix.")] = None,
    float32: Annotated[bool, typer.Option("--float32", help="Half the memory.")] = False,
    threads: Threads = None,
) -> None:
    """Write the share of the members that put each two points together.

    Examples:

      congruence consensus-matrix runs.csv --out M.npz

      congruence compare M.npz labels.csv
    """
    import numpy as np

    import congruence as cg
    from congruence.inputs import files

    if files.suffix_of(out) not in (".npz", ".npy") or (threshold is not None and files.suffix_of(out) != ".npz"):
        raise cg.InputError(f"{out}: a consensus matrix is written as .npz or .npy, and with --threshold as .npz")
    found, notes = label_columns(file, split(columns), id, long, (), None)
    members = cg.Ensemble(found, unassigned="partial" if partial else "error", noise=noise_labels(noise))
    dtype = np.float32 if float32 else np.float64
    matrix = cg.consensus_matrix(members, dtype=dtype, threshold=threshold, missing=missing, threads=threads)
    part = out.with_name(out.name + ".part")
    with part.open("wb") as stream:
        if threshold is not None:
            parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            np.savez_compressed(stream, format=np.array(b"csr"), shape=np.array(matrix.shape), **parts)
        elif files.suffix_of(out) == ".npz":
            np.savez_compressed(stream, matrix=matrix)
        else:
            np.save(stream, matrix, allow_pickle=False)
    part.replace(out)
    say([*notes, *members.cautions, f"wrote {out}: {members.n_points:,} × {members.n_points:,}"])
