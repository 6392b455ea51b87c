"""`congruence consensus-matrix`: how often two points are together."""

from pathlib import Path

from congruence.cli.app import app
from congruence.cli.options import Gappy, option, required
from congruence.cli.parsing import noise_labels
from congruence.cli.printing import say
from congruence.cli.reading import labels_of, listed, row_ids
from congruence.typing import ColumnLike

#: arrays of the file that are not ids
NAMES = ("matrix", "data", "indices", "indptr", "shape", "format")


class Given(Gappy):
    """The options of the command."""

    out: Path = required("Output file: npz (dense, or sparse with --threshold) or npy.", writes=(".npz", ".npy"))
    threshold: float | None = option(None, "Keep entries at or above this, as a sparse matrix.")
    float32: bool = option(False, "Store float32 entries, in half the memory.")
    threads: int | None = option(None)


@app.command("consensus-matrix")
def consensus_matrix(given: Given) -> None:
    """Write the share of members that put each pair of points together; an npz file keeps the ids of the points.

    Examples:

      congruence consensus-matrix runs.csv --out M.npz

      congruence compare M.npz labels.csv
    """
    import numpy as np

    import congruence as cg
    from congruence.inputs.files import suffix_of
    from congruence.machine.writing import replacing

    if given.threshold is not None and suffix_of(given.out) != ".npz":
        raise cg.InputError(f"{given.out}: a sparse matrix, as with --threshold, is written as .npz")
    read = labels_of(given, find_reference=True)
    found, _ = read.without_reference()
    members = cg.Ensemble(found, unassigned=given.policy, noise=noise_labels(given.noise))
    dtype = np.float32 if given.float32 else np.float64
    matrix = cg.consensus_matrix(
        members, dtype=dtype, threshold=given.threshold, missing=given.missing, threads=given.threads
    )
    name, ids = next(iter(row_ids(given.file, given.id, given.long).items()), ("", None))
    rows: dict[str, ColumnLike] = (
        {} if ids is None else {name if name and name not in NAMES else "id": np.array(listed(ids))}
    )
    with replacing(given.out) as stream:
        if given.threshold is not None:
            parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
            np.savez_compressed(stream, format=np.array(b"csr"), shape=np.array(matrix.shape), **parts, **rows)
        elif suffix_of(given.out) == ".npz":
            np.savez_compressed(stream, matrix=matrix, **rows)
        else:
            np.save(stream, matrix, allow_pickle=False)
    say([*members.cautions, f"wrote {given.out}: {members.n_points:,} × {members.n_points:,}"])
