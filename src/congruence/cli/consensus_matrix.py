"""`congruence consensus-matrix`: how often two points are together."""

from pathlib import Path
from typing import Annotated

import typer

from congruence.cli.app import NEEDS_PARTIAL, Columns, Id, Long, MemberTable, Missing, Noise, Partial, Threads, app
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import say
from congruence.cli.reading import labels_of, listed, row_ids
from congruence.typing import ColumnLike

#: arrays of the file that are not ids
NAMES = ("matrix", "data", "indices", "indptr", "shape", "format")


@app.command("consensus-matrix", needs=NEEDS_PARTIAL)
def consensus_matrix(
    file: MemberTable,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Output file: npz (dense, or sparse with --threshold) or npy.")
    ],
    columns: Columns = None,
    id: Id = None,
    long: Long = None,
    partial: Partial = False,
    missing: Missing = "ratio",
    noise: Noise = None,
    threshold: Annotated[float | None, typer.Option(help="Keep entries at or above this, as a sparse matrix.")] = None,
    float32: Annotated[bool, typer.Option("--float32", help="Store float32 entries, in half the memory.")] = False,
    threads: Threads = None,
) -> None:
    """Write the share of members that put each pair of points together; an npz file keeps the ids of the points.

    Examples:

      congruence consensus-matrix runs.csv --out M.npz

      congruence compare M.npz labels.csv
    """
    import numpy as np

    import congruence as cg
    from congruence.inputs import files
    from congruence.machine.writing import check_target, replacing

    if files.suffix_of(out) not in (".npz", ".npy") or (threshold is not None and files.suffix_of(out) != ".npz"):
        raise cg.InputError(f"{out}: a consensus matrix is written as .npz or .npy, and with --threshold as .npz")
    check_target(out, [file])
    read = labels_of(file, columns, id, long, find_reference=True)
    found, _ = read.without_reference()
    members = cg.Ensemble(found, unassigned="partial" if partial else "error", noise=noise_labels(noise))
    dtype = np.float32 if float32 else np.float64
    matrix = cg.consensus_matrix(members, dtype=dtype, threshold=threshold, missing=missing, threads=threads)
    name, ids = next(iter(row_ids(file, id, long).items()), ("", None))
    rows: dict[str, ColumnLike] = (
        {} if ids is None else {name if name and name not in NAMES else "id": np.array(listed(ids))}
    )
    with replacing(out) as stream:
        if threshold is not None:
            parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            np.savez_compressed(stream, format=np.array(b"csr"), shape=np.array(matrix.shape), **parts, **rows)
        elif files.suffix_of(out) == ".npz":
            np.savez_compressed(stream, matrix=matrix, **rows)
        else:
            np.save(stream, matrix, allow_pickle=False)
    say([*members.cautions, f"wrote {out}: {members.n_points:,} × {members.n_points:,}"])
