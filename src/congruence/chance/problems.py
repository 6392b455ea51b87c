"""Resampling two sides of any kind: labels, memberships, matrices, ensembles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, Unpack

import numpy as np

from congruence.chance.draws import (
    BATCH,
    BATCH_CELLS,
    Exactness,
    RandomPair,
    check_null,
    check_points,
    in_words,
    is_affine,
    sums_of_gram,
    variance_of_sums,
)
from congruence.comparison.matrices import compare_matrices
from congruence.comparison.pair import counted_pair, prepared_pair
from congruence.engine import cpu, matrices, plan, tiles
from congruence.engine.cells import tables_of
from congruence.engine.interface import Engine
from congruence.engine.plan import Progress, Run, engine_for, seed_sequence
from congruence.errors import Caution, InputError, NotApplicable, Option
from congruence.formulas.record import Measure, ratio
from congruence.inputs.alignment import InputKeywords, Mass, PreparedPair
from congruence.inputs.cover import CoverLabels
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import Labels
from congruence.inputs.matrix_pair import Matrix, PairOfMatrices
from congruence.inputs.similarity import Similarity
from congruence.statistics.bonds import Bonds, Degrees
from congruence.statistics.covers import ClusterMap, overlap_of
from congruence.statistics.matrices import MatrixSums
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array, Table, Tables, table_of_cells
from congruence.typing import ClusteringLike, EngineName, OptionValue, ProgressLike, Seed

Sided = Literal["two", "one"]

Draw = Callable[[np.random.Generator, int], Array]

#: largest total frequency if points are drawn one by one
MOST_REPEATED = 20_000_000


# --- test problems for any two sides -------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem:
    """A test problem: the value, how to draw it under the null model, and its exact moments if known."""

    measure: Measure
    value: float
    draw: Draw
    batch: int
    n_points: int
    null: str
    #: values of this many draws of this many points, without replacement
    subset: Callable[[np.random.Generator, int, int], Array]
    expected: float | None = None
    exactness: Exactness = Exactness.DRAWS
    deviation: float | None = None
    best: float = 1.0
    #: whether two partitions or covers are identical; None for other inputs
    is_identical: bool | None = None
    cautions: tuple[Caution, ...] = ()
    names: tuple[str, str] = ("a", "b")
    kind: str | None = None
    #: cluster sizes of two hard clusterings, and the share of the points that are alone in their cell of the table
    sizes: tuple[Array, Array] | None = None
    alone: float = 0.0
    #: points of two hard clusterings outside the largest cell of their cluster, for the side with more of them
    astray: int | None = None
    #: pairs that two hard clusterings both keep together, if points are permuted with fixed sizes
    together: float | None = None
    is_soft: bool = False
    #: draws per stream on a CUDA GPU
    on_card: int | None = None

    def facts(self, *names: str) -> dict[str, OptionValue]:
        """What every result says of its problem, and these facts."""
        every = ("measure", "value", "n_points", "cautions", "names", "kind", *names)
        return {name: getattr(self, name) for name in every}


def problem_of(
    a: ClusteringLike, b: ClusteringLike, m: Measure, null: str, sided: str, threads: int | None, *,
    engine: EngineName = "auto",
    **options: Unpack[InputKeywords],
) -> Problem:  # fmt: skip
    """The test problem for any two inputs of `compare`, under a null model."""
    check_null(null, sided)
    plan, pair = prepared_pair(a, b, engine=engine, **options)
    if plan.no_null:
        raise NotApplicable(plan.no_null)
    if isinstance(pair, PairOfMatrices):
        _only_permutation(null, "matrices and ensembles")
        if engine_for(engine, []).on_card:
            raise InputError(
                f"matrices and ensembles are permuted on the CPU; pass {Option('engine', 'cpu')} or leave it out"
            )
        if pair.options.unassigned == "drop":
            pair = _without_dropped(pair)
        return _of_matrices(pair, m, threads)
    counter = engine_for(engine, pair.sides)
    m.check(soft=pair.is_soft, weighted=pair.is_weighted, covers=pair.has_covers)
    if pair.has_covers:
        _only_permutation(null, "covers")
        if counter.on_card:  # it draws tables of partitions
            raise InputError(f"covers are permuted on the CPU; pass {Option('engine', 'cpu')} or leave it out")
    table, tile = counted_pair(pair, threads, engine)
    if pair.is_soft or pair.is_weighted:
        problem = _of_points(pair, tile, m, null, counter)
    else:
        problem = _of_table(tile, m, null, sided, counter)
    cautions = (*pair.cautions(table, int(tile.n_used[0])), *problem.cautions)
    return replace(problem, cautions=cautions, names=pair.names, kind=pair.kind, is_soft=pair.is_soft)


def _only_permutation(null: str, what: str) -> None:
    if null != "permutation":
        raise NotApplicable(
            f"{Option('null', null)} draws partitions, but there are {what}; use {Option('null', 'permutation')}"
        )


def measured(m: Measure, tile: Tables) -> Array:
    """The measure of every pair of a tile."""
    kind = Tables if m.needs is Table else m.needs
    return m.values(kind.from_tables(tile))  # type: ignore[attr-defined]


def _of_table(tile: Tables, m: Measure, null: str, sided: str, engine: Engine) -> Problem:
    """Two hard clusterings, drawn from their table."""
    (table,) = tile.each()
    n = int(table.n)
    random = random_pair(table, null, sided, engine)
    expected, exactness = random.expected(m) or (None, Exactness.DRAWS)
    permuted = table.maps is None and null == "permutation" and issubclass(m.needs, Pairs)

    def draw(rng: np.random.Generator, draws: int) -> Array:
        check_points(n)
        return random.values(m, rng, draws)

    def subset(rng: np.random.Generator, draws: int, points: int) -> Array:
        check_points(n)
        counts = rng.multivariate_hypergeometric(table.count, points, size=draws)
        pair, cell = np.nonzero(counts)
        cells = pair, table.row[cell], table.col[cell], counts[pair, cell]
        maps = None if table.maps is None else [table.maps] * draws
        return measured(m, tables_of(cells, np.tile(table.shape, (draws, 1)), maps=maps))

    return Problem(
        measure=m, value=float(measured(m, tile)[0]), draw=draw, batch=random.batch, n_points=n,
        null=in_words(null, sided), subset=subset, expected=expected, exactness=exactness, deviation=random.deviation(m),
        best=best_value(m, tile), is_identical=bool(tile.identical[0]),
        sizes=(table.row_sums, table.col_sums) if table.maps is None else None, alone=float((table.count == 1).sum()) / n,
        astray=_astray(table, n),
        on_card=random.draws_at_once(m), together=float(Pairs.from_tables(tile).same_both[0]) if permuted else None,
    )  # fmt: skip


def _astray(table: Table, n: int) -> int:
    """Points outside the largest cell of their cluster, for the side with more of them."""
    best = []
    for side, clusters in zip((table.row, table.col), table.shape, strict=True):
        largest = np.zeros(clusters, np.int64)
        np.maximum.at(largest, side, table.count)
        best.append(int(largest.sum()))
    return n - min(best)


def _known(expected: float | None) -> Exactness:
    return Exactness.DRAWS if expected is None else Exactness.CLOSED_FORM


def random_pair(table: Table, null: str, sided: str, engine: Engine = cpu) -> RandomPair:
    """Random pairs for two hard clusterings: partitions, or the signatures of covers."""
    maps = None
    if table.maps is not None:
        a, b = (
            ClusterMap.of_partition(range(k)) if x is None else x for x, k in zip(table.maps, table.shape, strict=True)
        )
        maps = (a, b)
    return RandomPair(table.row_sums, table.col_sums, null, sided, engine, maps)


def best_value(m: Measure, tile: Tables) -> float:
    """The best value of the measure or, if it has none, the better self-score of a and b."""
    if math.isfinite(m.best):
        return m.best
    if tile.gram is not None:
        return math.nan
    own = []
    for table in tile.each():
        for sizes in (table.row_sums, table.col_sums):
            at = np.arange(len(sizes))
            own.append(
                float(
                    measured(m, Tables.of(table_of_cells(at, at, sizes, range(len(at)), range(len(at)), table.own)))[0]
                )
            )
    return max(own) if m.better == "higher" else min(own)


def _of_points(prepared: PreparedPair, tile: Tables, m: Measure, null: str, engine: Engine) -> Problem:
    """Memberships or weighted points: the points of b are permuted, weights stay with their points."""
    pair: Sequence[Clustering] = prepared.sides
    mass = prepared.mass
    _only_permutation(null, "memberships" if any(c.soft for c in pair) else "sample weights")
    points = np.arange(len(pair[0]))
    if any(c.gaps for c in pair):
        points = np.flatnonzero(np.all([c.codes < c.k for c in pair if isinstance(c, Labels)], axis=0))
    if mass is not None and mass.is_frequency:
        points, mass = _repeated(points, mass), None
    if len(points) < len(pair[0]) or not np.array_equal(points, np.arange(len(points))):
        pair = [c.taken(points) for c in pair]
        mass = None if mass is None else mass.taken(points)
    a, b = pair
    n = len(a)
    kind = Tables if m.needs is Table else m.needs

    def draw(rng: np.random.Generator, draws: int) -> Array:
        members = [a, *(b.taken(rng.permutation(n)) for _ in range(draws))]
        counted = engine.statistics(members, [Run(0, 1, draws + 1)], {m.needs}, mass=mass, threads=1)
        return np.concatenate([m.values(t.statistics[kind]) for t in counted])

    def subset(rng: np.random.Generator, draws: int, size: int) -> Array:
        found = np.empty(draws)
        for i in range(draws):
            chosen = rng.choice(n, size, replace=False)
            part = None if mass is None else mass.taken(chosen)
            found[i] = measured(m, cpu.table_of(a.taken(chosen), b.taken(chosen), part, 1)[1])[0]
        return found

    expected = deviation = None
    statistic = m.needs.from_tables(tile) if issubclass(m.needs, Pairs) else None
    if statistic is not None and mass is None and not isinstance(statistic, Bonds | Degrees):
        if issubclass(m.needs, Gram):
            together = float(ratio(statistic.same_a * statistic.same_b, statistic.pairs)[0])
            expected, deviation = _on_line(m, statistic, together, n, sums_of_gram(a.dense()), sums_of_gram(b.dense()))
        elif all(c.is_probabilistic for c in pair):
            (own_a, all_a), (own_b, all_b) = (_squares(c) for c in pair)
            # E Σ n_ij²: a point with itself, and two different points
            squares = own_a * own_b / n + (all_a - own_a) * (all_b - own_b) / (n * max(n - 1, 1))
            expected, _ = _on_line(m, statistic, (squares - n) / 2, n, None, None)
    batch = int(max(1, min(BATCH, BATCH_CELLS // (n * (a.k + b.k)))))
    return Problem(
        measure=m, value=float(measured(m, tile)[0]), draw=draw, batch=batch, n_points=n, null=in_words(null, "two"),
        subset=subset, expected=expected, exactness=_known(expected), deviation=deviation, best=best_value(m, tile),
        on_card=batch if engine.on_card else None,
    )  # fmt: skip


def _repeated(points: Array, mass: Mass) -> Array:
    """Each point repeated by its frequency: copies of a point are permuted separately."""
    many = int(mass.values[points].sum())
    if many > MOST_REPEATED:
        raise InputError(
            f"memberships and ensembles are drawn point by point, up to {MOST_REPEATED:,} points, but the frequencies add "
            f"up to {many:,}; divide them, or use a sample"
        )
    return np.repeat(points, mass.values[points])


def _squares(c: Clustering) -> tuple[float, float]:
    """Σ_p |u_p|² and |Σ_p u_p|²."""
    u = c.dense()
    return float((u**2).sum()), float((u.sum(axis=0) ** 2).sum())


def _on_line(
    m: Measure, s: Pairs, together: float, n: int, a: tuple[float, float, float] | None,
    b: tuple[float, float, float] | None,
) -> tuple[float | None, float | None]:  # fmt: skip
    """Mean and standard deviation of a measure that is affine in the pairs together in both, whose mean is `together`."""

    def f(x: Array) -> Array:
        return m.raw(replace(s, same_both=x[0], only_a=s.same_a - x[0], only_b=s.same_b - x[0]))

    width = max(abs(float(s.same_both[0]) - together), 0.01 * float(s.pairs[0]))
    if not is_affine(f, together + width * np.random.default_rng(0).uniform(-1, 1, (1, 64))):
        return None, None
    low, mean, high = f(np.array([[together - width, together, together + width]]))
    if a is None or b is None:
        return float(mean), None
    return float(mean), abs(float(high - low)) / (2 * width) * math.sqrt(variance_of_sums(n, a, b))


# --- matrices and ensembles -------------------------------------------------------------------------------------


def _taken(x: Matrix, points: Array) -> Matrix:
    """A matrix or ensemble restricted to these points, in this order; weights are kept."""
    if isinstance(x, Similarity):
        return Similarity(x.matrix[points][:, points], tolerance=x.tolerance, who=x.who)
    return x.taken(points)


def _without_dropped(pair: PairOfMatrices) -> PairOfMatrices:
    """Both sides without the points that a single clustering does not label; members of an ensemble keep their gaps."""
    p, q = pair.a, pair.b
    for x, is_single in zip((p, q), pair.single, strict=True):
        only = x.members[0] if is_single and isinstance(x, Ensemble) else None
        if isinstance(only, Labels) and only.gaps:
            there = np.flatnonzero(only.codes < only.k)
            if not len(there):
                raise InputError("no point of the clustering is assigned")
            p, q = _taken(p, there), _taken(q, there)
    return replace(pair, a=p, b=q)


def _dealt(x: Ensemble, order: Array) -> Ensemble:
    """The members with permuted points, all in the same way; weights stay with their points."""
    dealt = copy(x)
    dealt.members = tuple(c.taken(order) for c in x.members)
    return dealt


def _of_matrices(pair: PairOfMatrices, m: Measure, threads: int | None) -> Problem:
    """A matrix or ensemble against another, or against labels: all members of one side are permuted together."""
    p, q = pair.a, pair.b

    def value(a: Matrix, b: Matrix) -> float:
        return compare_matrices(replace(pair, a=a, b=b), [m], 1, "auto")[m.key]

    result = compare_matrices(pair, [m], threads, "auto")
    mass = p.mass if isinstance(p, Ensemble) else None
    if mass is not None and mass.is_frequency:
        every = _repeated(np.arange(len(mass.values)), mass)
        p, q = _taken(p, every), _taken(q, every)
        for x in (p, q):
            if isinstance(x, Ensemble):
                x.mass = None
        result = replace(result, n_used=len(every))
    n = p.n_points
    plain_points = not any(isinstance(x, Ensemble) and (x.has_gaps or x.mass is not None) for x in (p, q))
    if any(isinstance(x, Similarity) for x in (p, q)):  # members are permuted as columns, which covers do not have
        plain_points = plain_points and not any(isinstance(x, Ensemble) and x.has_covers for x in (p, q))

    def subset(rng: np.random.Generator, draws: int, size: int) -> Array:
        chosen = (np.sort(rng.choice(n, size, replace=False)) for _ in range(draws))
        return np.array([value(_taken(p, c), _taken(q, c)) for c in chosen])

    expected = deviation = None
    if plain_points and issubclass(m.needs, Pairs):
        draw, expected, deviation = _of_sums(p, q, m, n, threads)
    else:

        def draw(rng: np.random.Generator, draws: int) -> Array:
            orders = [rng.permutation(n) for _ in range(draws)]
            if isinstance(q, Ensemble):
                return np.array([value(p, _dealt(q, o)) for o in orders])
            assert isinstance(p, Ensemble)  # two matrices have sums over pairs
            return np.array([value(_dealt(p, o), q) for o in orders])

    members = min((len(x.members) for x in (p, q) if isinstance(x, Ensemble)), default=1)
    batch = int(max(1, min(BATCH, BATCH_CELLS // (n * members))))
    return Problem(
        measure=m, value=result[m.key], draw=draw, batch=batch, n_points=result.n_used,
        null=in_words("permutation", "two"), subset=subset, expected=expected, exactness=_known(expected),
        deviation=deviation, best=m.best, cautions=result.cautions,
    )  # fmt: skip


def _of_sums(p: Matrix, q: Matrix, m: Measure, n: int, threads: int | None) -> tuple[Draw, float | None, float | None]:
    """Draws of a measure of sums over pairs: permuting one side changes only Σ PQ, whose mean is known."""
    within = issubclass(m.needs, MatrixSums)
    cheap = sum(len(x) ** 2 for x in (p, q) if isinstance(x, Ensemble)) * n < 1e9
    sums = matrices.sums_of(p, q, within=within or cheap, missing=m.parameters.get("missing", "ratio"), threads=threads)

    def at(both: Array, diagonal: Array | None = None) -> Array:
        own = sums.diagonal if diagonal is None else diagonal
        return m.values(
            replace(sums, same_both=both, only_a=sums.same_a - both, only_b=sums.same_b - both, diagonal=own,
                    identical=np.zeros(len(both), dtype=bool))
        )  # fmt: skip

    # permute an ensemble if there is one, else the smaller of the two
    turned = isinstance(q, Similarity) or (isinstance(p, Ensemble) and len(p) < len(q))
    fixed, moved = (q, p) if turned else (p, q)
    fixed_diagonal, moved_diagonal = (tiles.diagonal_of(tiles.tiles_of(x)) for x in (fixed, moved))
    order_matters = bool(np.ptp(fixed_diagonal) * np.ptp(moved_diagonal) > 0)

    def draw(rng: np.random.Generator, draws: int) -> Array:
        orders = [rng.permutation(n) for _ in range(draws)]
        if isinstance(moved, Similarity):
            assert isinstance(fixed, Similarity)
            own = np.array([float(fixed_diagonal @ moved_diagonal[o]) for o in orders])
            return at(np.array([_matched_sum(fixed, moved, o) for o in orders]), own)
        if isinstance(fixed, Similarity):
            return at(_sums_with_matrix(fixed, moved, orders))
        every = _dealt(moved, orders[0])
        every.members, every.member_weight = tuple(c.taken(o) for o in orders for c in moved.members), None
        together = matrices.ensemble_pairs(fixed, every, threads=1)[0].reshape(len(fixed), draws, len(moved))
        return at(np.einsum("l,ldm,m->d", fixed.shares, together, moved.shares))

    if order_matters:
        return draw, None, None
    a, b = (_sums_of_side(x, s, n) for x, s in ((p, sums.squares_a), (q, sums.squares_b)))
    mean = float((sums.same_a * sums.same_b / sums.pairs)[0])
    expected, deviation = _on_line(m, sums, mean, n, a, b)
    return draw, expected, None if within is False and not cheap else deviation


def _matched_sum(fixed: Similarity, moved: Similarity, order: Array) -> float:
    """Σ_{i<j} P_ij Q_σ(i)σ(j) of two matrices."""
    for walked, other, where in ((fixed, moved, order), (moved, fixed, np.argsort(order))):
        if walked.is_sparse:
            entries = walked.matrix.tocoo()
            upper = entries.row < entries.col
            row, col = where[entries.row[upper]], where[entries.col[upper]]
            return float(entries.data[upper] @ np.asarray(other.matrix[row, col]).ravel())
    total = 0.0
    for piece in tiles.slices(len(order)):
        block = fixed.checked_block(piece, slice(None))
        total += float((block * moved.matrix[order[piece]][:, order]).sum())
    mine, theirs = (tiles.diagonal_of(tiles.tiles_of(x)) for x in (fixed, moved))
    return (total - float(mine @ theirs[order])) / 2


def _sums_with_matrix(matrix: Similarity, moved: Ensemble, orders: Sequence[Array]) -> Array:
    """Σ_{i<j} P_ij C_σ(i)σ(j) of a matrix and the consensus matrix C of an ensemble, for each order of its points."""
    total = np.zeros(len(orders))
    diagonal = tiles.diagonal_of(tiles.tiles_of(matrix))
    for member, share in zip(moved.members, moved.shares.tolist(), strict=True):
        u = member.dense()
        columns = np.hstack([u[o] for o in orders])
        together = np.zeros(columns.shape[1])
        for piece in tiles.slices(len(matrix)):
            block = matrix.matrix[piece] if matrix.is_sparse else matrix.checked_block(piece, slice(None))
            together += (columns[piece] * (block @ columns)).sum(axis=0)
        own = np.array([diagonal @ (u[o] ** 2).sum(axis=1) for o in orders])
        total += share * (together.reshape(len(orders), -1).sum(axis=1) - own) / 2
    return total


def _sums_of_side(x: Matrix, squares: Array, n: int) -> tuple[float, float, float]:
    """The sums that `variance_of_sums` takes, for a matrix or the consensus matrix of an ensemble."""
    if isinstance(x, Similarity):
        read = tiles.tiles_of(x)
        whole = [read.tile(piece, slice(None)).sum(axis=1) for piece in tiles.slices(n)]
        rows = np.concatenate(whole) - tiles.diagonal_of(read)
    else:
        rows = np.zeros(n)
        for member, share in zip(x.members, x.shares.tolist(), strict=True):
            if member.soft:
                u = member.dense()
                rows += share * (u @ u.sum(axis=0) - (u**2).sum(axis=1))
            elif isinstance(member, CoverLabels):
                rows += share * _sharing(member)
            else:
                rows += share * (np.bincount(member.codes, minlength=member.k)[member.codes] - 1.0)
    return float(rows.sum()), 2 * float(squares[0]), float((rows**2).sum())


def _sharing(cover: CoverLabels) -> Array:
    """The number of other points that share a cluster with each point."""
    overlap = overlap_of(cpu.table_of(cover, cover)[0])
    reach = np.zeros(cover.k)
    reach[overlap.signatures[0]] = overlap.walk.reach[0]
    return np.maximum(reach[cover.codes] - 1.0, 0.0)


# --- drawing ----------------------------------------------------------------------------------------------------


def drawn(
    draw: Draw, total: int, batch: int, random_state: Seed, threads: int | None, progress: ProgressLike,
    enough: Callable[[Array], bool] | None = None, what: str = "permutations",
) -> Array:  # fmt: skip
    """`total` draws in order, with a random stream per batch, so that threads do not matter; fewer if drawing stops early."""
    workers = plan.default_threads(threads)
    batches = -(-total // batch)
    streams = seed_sequence(random_state).spawn(batches)
    found = np.empty(0)
    with Progress(total, progress, what) as bar:
        for first in range(0, batches, 4 * workers):
            jobs = [
                partial(draw, np.random.default_rng(stream), batch) for stream in streams[first : first + 4 * workers]
            ]
            found = np.concatenate([found, *plan.in_threads(workers, jobs)])[:total]
            bar.add(len(found) - bar.done)
            if enough is not None and enough(found):
                break
    return found
