"""Agreement within an ensemble: consensus matrix, consensus index, agreement of members."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import cast

import numpy as np
from numpy.typing import DTypeLike

from congruence.comparison.many import compare_all
from congruence.comparison.results import AllPairs
from congruence.engine import matrices, plan, tiles
from congruence.engine.plan import engine_for
from congruence.errors import Caution, InputError, NotApplicable, Option, real_number, unused_name
from congruence.formulas import find
from congruence.formulas.docstrings import document
from congruence.formulas.record import Better, Measure
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.inputs.similarity import Similarity
from congruence.machine import device
from congruence.options import described
from congruence.statistics.matrices import Alone, MatrixSums
from congruence.statistics.pairs import Gram, near_trivial
from congruence.statistics.tables import Array
from congruence.typing import DeviceArray, EngineName, EnsembleLike, MatrixLike, Scalar, SparseMatrix


def as_ensemble(x: EnsembleLike) -> Ensemble:
    """An ensemble from any accepted input."""
    return x if isinstance(x, Ensemble) else Ensemble(x)


def point_mass(e: Ensemble) -> tuple[Array, Array]:
    """The weight of each point, and its self-pair contribution."""
    if e.mass is None:
        return np.ones(e.n_points), np.ones(e.n_points)
    values = e.mass.values.astype(np.float64)
    if e.mass.is_frequency:
        return values, np.minimum(values, 1.0)
    values = e.mass.weights_of_mean_1
    return values, values


# --- one ensemble or matrix alone -------------------------------------------------------------------------------


def lone_scorer(key: str) -> Callable[..., float]:
    """The function of a measure that describes one ensemble or matrix: `lone_scorer("certainty")(x)`."""

    def score(
        x: EnsembleLike, *, missing: str = "ratio", threads: int | None = None, engine: EngineName = "auto"
    ) -> float:
        return lone_value(key, x, missing=missing, threads=threads, engine=engine)

    args = {
        "x": "An `Ensemble`, or input for one; a `Similarity`, or a square array.",
        "missing": 'How pairs of points without a label in a member count: "ratio" (default), "plain" or "pooled".',
    }
    return document(
        score, key, find(key), args, "[[0, 0, 1, 1], [0, 1, 1, 1]]", "`cg.consensus_index`, `cg.consensus_matrix`."
    )


def lone_value(
    key: str, x: EnsembleLike, *, missing: str = "ratio", threads: int | None = None, engine: EngineName = "auto"
) -> float:
    """A measure of one ensemble or matrix."""
    record = find(key)
    return float(record.values(_alone(record, x, missing, threads, engine))[0])


def _alone(record: Measure, x: EnsembleLike, missing: str, threads: int | None, engine: EngineName) -> Alone:
    shape: tuple[int, ...] = getattr(x, "shape", ())
    known = len(shape) == 2 and all(
        isinstance(m, int | np.integer) for m in shape
    )  # a Dask frame counts its rows later
    is_matrix = isinstance(x, Similarity) or (known and shape[0] == shape[1])
    if is_matrix or record.of_members:
        where = "for a matrix, which has no missing labels" if is_matrix else "on this measure, which counts no gaps"
        refuse_idle(lone_value, locals(), where)
    if is_matrix:
        if record.of_members:
            raise NotApplicable(f"{record.key} describes the members of an ensemble; for a matrix use certainty")
        x = x if isinstance(x, Similarity) else Similarity(x)
    else:
        x = as_ensemble(x)
    nothing = MatrixSums.of(n=0, pairs=0, s_p=0, s_q=0, s_pq=0, s_pp=0, s_qq=0, diagonal=(0, 0, 0))
    sums = nothing
    if not record.of_members:
        sums = matrices.sums_of(x, x, within=False, missing=missing, threads=threads, engine=engine)
    if isinstance(x, Similarity) and not x.is_unit:
        raise NotApplicable(f"{record.key} needs entries between 0 and 1; the matrix has {x.low:.4g} to {x.high:.4g}")

    def mean_of_members(key: str) -> Array:
        return np.array([consensus_index(x, key, threads=threads, engine=engine)])

    return Alone(sums, len(x), mean_of_members)


@described
def consensus_index(
    ensemble: EnsembleLike,
    measure: str | Measure = "nmi_sum",
    *,
    threads: int | None = None,
    engine: EngineName = "auto",
) -> float:
    """Mean of any measure over all pairs of different members (weighted by the products of their weights, if given).

    Args:
        ensemble, measure, threads, engine: See `congruence.options`.

    Returns:
        A float: the mean over pairs of members.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.member_agreement`, `cg.certainty`.

    >>> import congruence as cg
    >>> round(cg.consensus_index([[0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 0, 1]], "ari"), 4)
    -0.0714
    """
    e = as_ensemble(ensemble)
    if len(e) < 2:
        raise InputError("the consensus index is a mean over pairs of members, but there is only one member")
    m = find(measure)
    return mean_of_pairs(e, compare_all(e, [m], threads=threads, engine=engine)[m.key])


#: counts of pairs of points in two members, from which the certainty follows
PAIR_COUNTS = tuple(
    Measure(
        key=key, title=key, needs=Gram, formula=attrgetter(key), better=Better.HIGHER, range=(0, math.inf), definition=(),
        axioms=frozenset(axioms), at_zero=math.nan, reference="", takes_covers=True,
    )
    for key, axioms in (("same_both", ["symmetric"]), ("same_a", []), ("pairs", ["symmetric"]))
)  # fmt: skip


def members_and_certainty(
    e: Ensemble, measures: Sequence[str], missing: str = "ratio", threads: int | None = None
) -> tuple[AllPairs, float]:
    """All pairs of members by these measures, and the certainty; pairs of members are counted once.

    The certainty follows from the same tables. With gaps and missing="ratio" it does not: each pair of points has its own
    denominator, so it is computed from the patterns of missing labels, or from pairs of points.
    """
    if not matrices.by_tables([e], missing):
        return compare_all(e, list(measures), threads=threads), lone_value(
            "certainty", e, missing=missing, threads=threads
        )
    found = compare_all(e, [*map(find, measures), *PAIR_COUNTS], threads=threads)
    both, own, pairs = (np.nan_to_num(found[m.key]) for m in PAIR_COUNTS)
    sums = matrices.table_sums(e, e, within=False, missing=missing, counted=(both, own, own.T, pairs))
    return found, float(find("certainty").values(Alone(sums, len(e), lambda key: np.empty(0)))[0])


def mean_of_pairs(e: Ensemble, values: Array) -> float:
    """Mean over pairs of different members, by the products of their weights if they have any."""
    off = ~np.eye(len(e), dtype=bool)
    if e.member_weight is None:
        return float(values[off].mean())
    weights = np.outer(e.shares, e.shares)[off]
    if not weights.any():
        raise InputError(
            "the consensus index is a mean over pairs of members, but only one member has a weight above 0"
        )
    return float((values[off] * weights).sum() / weights.sum())


@described
def member_agreement(
    ensemble: EnsembleLike, measure: str | Measure = "ari", *, threads: int | None = None
) -> dict[str, float]:
    """The mean agreement of each member with all others, best first.

    Args:
        ensemble, measure, threads: See `congruence.options`.

    Returns:
        A mapping from the name of a member to its mean agreement with the others.

    Raises:
        NotApplicable: If a named measure is not defined for this input.
        InputError: If the clusterings cannot be compared.

    See also:
        `cg.consensus_index`, `cg.select_members`.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 1, 1], "y": [0, 0, 1, 2], "z": [0, 1, 0, 1]}
    >>> list(cg.member_agreement(runs))
    ['y', 'x', 'z']
    """
    e = as_ensemble(ensemble)
    m = find(measure)
    return ranked_members(e, m, compare_all(e, [m], threads=threads)[m.key])


def ranked_members(e: Ensemble, m: Measure, values: Array) -> dict[str, float]:
    """Members by their mean agreement with all the others, best first."""
    rest = np.where(np.eye(len(e), dtype=bool), 0.0, values).sum(axis=1) / max(len(e) - 1, 1)
    order = np.argsort(-rest if m.better == "higher" else rest, kind="stable")
    found: dict[str, float] = {}
    for i in order.tolist():
        found[unused_name(e.names[i], found)] = float(rest[i])  # members may share a name
    return found


def why_trivial(c: Clustering) -> Caution:
    """Why a clustering is near-trivial, about a percentage of its points; empty if it is not.

    >>> import congruence as cg
    >>> runs = cg.Ensemble([[0] * 98 + [1] * 2, list(range(100)), [0, 1] * 50])
    >>> [why_trivial(c) for c in runs.members]
    ['98% of the points in one cluster', 'nearly every point alone in its cluster', '']
    """
    sizes = c.sums(np.ones(len(c)))[1][: c.k]
    kind = near_trivial(sizes)
    if kind == "dust":
        return Caution(kind, "", "nearly every point alone in its cluster")
    if kind == "lump" and (sizes > 0).sum() > 1:
        percentage = f"{np.floor(100 * sizes.max() / sizes.sum()):.0f}%"
        return Caution(kind, percentage, "{subject} of the points in one cluster")
    return Caution(kind, "", kind and "all points in one cluster")


# --- the consensus matrix ---------------------------------------------------------------------------------------


def _available_memory() -> float:
    """Bytes of available memory."""
    try:
        with open("/proc/meminfo") as file:
            line = next(line for line in file if line.startswith("MemAvailable"))
        return float(line.split()[1]) * 1024
    except (OSError, StopIteration):
        try:
            return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        except (OSError, ValueError, AttributeError):
            return float("inf")


@described
def consensus_matrix(
    ensemble: EnsembleLike, *, dtype: DTypeLike = np.float64, threshold: float | None = None, missing: str = "ratio",
    threads: int | None = None,
) -> MatrixLike:  # fmt: skip
    """Share of members that put each pair of points together: n × n, with 1 on the diagonal.

    With a `threshold`, a scipy.sparse array of the entries at or above it. Pairs that no member labels are NaN
    with `missing="ratio"`, and 0 with "plain".

    Args:
        ensemble: See `congruence.options`.
        dtype: Type of the entries. Default float64.
        threshold: Entries below it are dropped, and the matrix is sparse. Default None: dense.
        missing, threads: See `congruence.options`.

    Returns:
        An n × n array, or a sparse matrix with `threshold`.

    Raises:
        InputError: If the matrix does not fit in memory.

    See also:
        `cg.consensus_blocks`, `cg.consensus_cdf`.

    >>> import congruence as cg
    >>> cg.consensus_matrix([[0, 0, 1], [0, 1, 1]]).tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    e = as_ensemble(ensemble)
    no_pooled(missing)
    dtype = _type_of(dtype, "float32 or float64")
    if dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise InputError(f"dtype must be float32 or float64, not {dtype}")
    source = tiles.tiles_of(e, missing)
    if threshold is not None:
        return _sparse_consensus(source, threshold, dtype)
    size, there = float(e.n_points) ** 2 * dtype.itemsize, _available_memory()
    if size > 0.8 * there:
        raise InputError(
            f"the consensus matrix of {e.n_points:,} points takes {size / 2**30:.1f} GB, but {there / 2**30:.1f} GB are free; "
            f"pass {Option('dtype', 'float32')} or {Option('threshold', ...)} (sparse), use consensus_blocks(), "
            "or compute measures, which need no matrix"
        )
    return tiles.dense(source, dtype, plan.default_threads(threads))


def no_pooled(missing: str) -> None:
    """Raise for missing="pooled" if single entries are needed: pooling is over entries."""
    if missing not in ("ratio", "plain"):
        raise InputError(f"a consensus matrix counts gaps as {Option('missing', 'ratio', 'plain')}, not {missing!r}")


def _sparse_consensus(source: tiles.Tiles, threshold: float, dtype: DTypeLike) -> SparseMatrix:
    from scipy.sparse import csr_array, vstack

    if real_number(threshold, "threshold") <= 0:
        raise InputError("threshold must be above 0: at 0 every entry is kept, and the matrix is dense")
    rows = []
    for _, block in tiles.blocks(source, 256, dtype):
        rows.append(csr_array(np.where(block >= threshold, block, 0)))
    return vstack(rows, format="csr")


@described
def consensus_blocks(
    ensemble: EnsembleLike,
    *,
    rows: int = 256,
    dtype: DTypeLike = np.float64,
    missing: str = "ratio",
    engine: EngineName = "auto",
) -> Iterator[tuple[slice, DeviceArray]]:
    """The consensus matrix in blocks of rows, one at a time, if it does not fit in memory.

    With engine="cuda" (or members on a CUDA GPU) blocks are CuPy arrays and stay on the GPU.

    Args:
        ensemble: See `congruence.options`.
        rows: Number of rows per block. Default 256.
        dtype: Type of the entries: floats are the share of members that put two points together, integers their number.
            Default float64.
        missing, engine: See `congruence.options`.

    Returns:
        An iterator of (slice of rows, block).

    Raises:
        InputError: If an argument is invalid, or if integers are wanted and members are soft or weighted.

    See also:
        `cg.consensus_matrix`.

    >>> import congruence as cg
    >>> for where, block in cg.consensus_blocks([[0, 0, 1], [0, 1, 1]], rows=2):
    ...     print(where.start, block.tolist())
    0 [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5]]
    2 [[0.0, 0.5, 1.0]]
    >>> [block.tolist() for _, block in cg.consensus_blocks([[0, 0, 1], [0, 1, 1]], dtype="uint8")]
    [[[2, 1, 0], [1, 2, 1], [0, 1, 2]]]
    """
    no_pooled(missing)
    if rows < 1:
        raise InputError(f"a block needs at least one row, not {rows}")
    kind = _type_of(dtype, "a type of floats or integers")
    if kind.kind not in "fiu":
        raise InputError(f"dtype must be a type of floats or integers, not {kind}")
    e = as_ensemble(ensemble)
    if kind.kind in "iu" and len(e) > np.iinfo(kind).max:
        raise InputError(f"{kind} cannot count {len(e):,} members; pass {Option('dtype', 'int32')}")
    if engine_for(engine, e.members).on_card:
        return _card_blocks(e, rows, kind)
    source = tiles.tiles_of(e, missing)
    if kind.kind in "iu" and not source.counts:
        raise InputError(
            f"dtype {kind} counts members, which must be labels of equal weight, without gaps unless "
            f"{Option('missing', 'plain')}; pass a type of floats for shares"
        )
    return tiles.blocks(source, rows, kind)


def _type_of(dtype: DTypeLike, allowed: str) -> np.dtype[Scalar]:
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        raise InputError(f"dtype must be {allowed}, not {dtype!r}") from None


def complete_labels(e: Ensemble) -> list[Labels]:
    """The members, if their consensus is a count: complete, hard, and of equal weight."""
    if not e.is_plain or e.has_gaps or e.member_weight is not None:
        raise device.refusal("on the GPU, the consensus matrix needs complete label vectors of equal weight")
    return cast("list[Labels]", list(e.members))


def _card_blocks(e: Ensemble, rows: int, dtype: np.dtype[Scalar]) -> Iterator[tuple[slice, DeviceArray]]:
    from congruence.engine.cuda.points import Points

    points = Points(complete_labels(e))
    for piece in tiles.slices(e.n_points, rows):
        counts = points.counts(piece)
        yield piece, counts.astype(dtype, copy=False) if dtype.kind in "iu" else counts.astype(dtype) / len(e)
