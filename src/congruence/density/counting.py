"""Counting density profiles, and comparing two of them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from congruence.density.binning import Binning, Coder
from congruence.density.columns import Columns, brought
from congruence.density.profile import Attribute, Profile
from congruence.engine import plan
from congruence.engine.plan import engine_for, on_card, seed_sequence
from congruence.errors import Call, InputError, Option, yes_or_no
from congruence.inputs.alignment import InputOptions, check_index, decided
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.formats import is_anndata
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import Labels, in_memory
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, EngineName, NoiseLike, PointsLike, Seed

#: maximum number of cells of a profile
MOST_CELLS = 100_000_000


@described
def density_profile(
    X: PointsLike,
    labels: ClusteringLike,
    binning: Binning | None = None,
    *,
    bivariate: bool = False,
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    threads: int | None = None,
    engine: EngineName = "auto",
) -> Profile:
    """How many points of each cluster fall in each bin of each attribute; profiles with the same bins can be added.

    Args:
        X: See `congruence.options`.
        labels: One label per point, or memberships, which are added up.
        binning: Bins of the attributes, fitted on X if not yet fitted; use the same for both sides of a comparison.
            Default None: ten bins of equal width.
        bivariate, unassigned, noise, threads, engine: See `congruence.options`.

    Returns:
        A `Profile`; profiles with the same bins can be added.

    See also:
        `cg.adco`, `cg.compare_profiles`, `cg.Binning`.

    >>> import congruence as cg
    >>> X = [[1.0, "red"], [2.0, "red"], [9.0, "blue"], [10.0, "red"]]
    >>> p = cg.density_profile(X, [0, 0, 1, 1], cg.Binning(bins=2))
    >>> p.counts.tolist(), p.n_bins
    ([[2, 0, 0, 2], [0, 2, 1, 1]], (2, 2))
    """
    binning = Binning() if binning is None else binning
    if not isinstance(binning, Binning):
        raise InputError(
            f"binning must be a Binning, as in {Call(f'cg.Binning({binning!r})')}; got {type(binning).__name__}"
        )
    X, labels = brought(X if is_anndata(X) else in_memory(X), engine), on_card(labels, engine)
    options = InputOptions(unassigned=unassigned, noise=noise)
    columns, clustering = ready(X, labels, binning, options)
    return counted(columns, [clustering], binning, bivariate=bivariate, threads=threads, engine=engine)[0]


def ready(
    X: PointsLike, labels: ClusteringLike, binning: Binning, options: InputOptions, window: str = ""
) -> tuple[Columns, Clustering]:
    """The checked columns and labels of the points of X, which are the first to be binned if the bins are not fitted."""
    who = f"{window}: labels" if window else "labels"
    raw = as_disjoint(labels, who)
    check_index(raw, X, f"the labels of {window}" if window else "labels")
    (clustering,) = decided([raw], options, [who], ["labels"])
    if not binning.is_fitted:
        binning.fit(X, clustering)
    columns = binning.columns(X)
    if len(columns) != len(clustering):
        has = f"{window} has" if window else "there are"
        raise InputError(f"{has} {len(columns)} points and {len(clustering)} labels; give one label per point")
    return columns, clustering


def counted(
    columns: Columns,
    clusterings: Sequence[Clustering],
    binning: Binning,
    *,
    bivariate: bool = False,
    threads: int | None = None,
    engine: EngineName = "auto",
) -> list[Profile]:
    """The profiles of validated clusterings of the same points: chunks are binned once, counted in threads and added."""
    counter = engine_for(engine, [columns])
    bivariate = yes_or_no(bivariate, "bivariate")
    attributes = pairs_of(binning.attributes) if bivariate else binning.attributes
    starts = np.concatenate([[0], np.cumsum([a.n_bins for a in attributes])]).astype(np.int64)
    for k in (c.k for c in clusterings):
        if k * float(starts[-1]) > MOST_CELLS:
            raise InputError(
                f"a profile of {k} clusters and {int(starts[-1]):,} bins has more than {MOST_CELLS:,} cells; use fewer bins "
                "or attributes"
            )
    coder = Coder(binning.attributes, columns)
    pieces = columns.pieces()
    many = min(plan.default_threads(threads), len(pieces))
    work = partial(_count_pieces, coder, clusterings, binning.n_bins, starts, bivariate)
    if counter.on_card:
        from congruence.density.cuda_profiles import count_on_card

        parts = [count_on_card(coder, clusterings, binning.n_bins, starts, bivariate)]
    elif many == 1:
        parts = [work(pieces)]
    else:
        with ThreadPoolExecutor(many) as pool:
            parts = list(pool.map(work, [pieces[i::many] for i in range(many)]))
    outside = np.sum([part[0] for part in parts], axis=0)
    if bivariate:
        i, j = np.triu_indices(len(binning.attributes), 1)
        outside = outside[i] + outside[j]
    found = []
    for c, clustering in enumerate(clusterings):
        counts, sizes = (np.sum([part[1][c][x] for part in parts], axis=0) for x in range(2))
        names = tuple(clustering.names.tolist() if isinstance(clustering.names, np.ndarray) else clustering.names)
        found.append(Profile(counts=counts, clusters=names, attributes=attributes, sizes=sizes, outside=outside))
    return found


def _count_pieces(
    coder: Coder,
    clusterings: Sequence[Clustering],
    n_bins: tuple[int, ...],
    starts: Array,
    bivariate: bool,
    pieces: Sequence[slice],
) -> tuple[Array, list[tuple[Array, Array]]]:
    """Values outside, and for each clustering its counts and sizes, over these chunks of points."""
    outside = np.zeros(len(n_bins), dtype=np.int64)
    found = []
    for c in clusterings:
        kind = np.float64 if c.soft else np.int64
        found.append((np.zeros((c.k, int(starts[-1])), dtype=kind), np.zeros(c.k, dtype=kind)))
    for piece in pieces:
        codes, beyond = coder(piece)
        outside += beyond
        if bivariate:
            codes = _joint(codes, n_bins)
        for clustering, (counts, sizes) in zip(clusterings, found, strict=True):
            _add(clustering, piece, codes, starts, counts, sizes, coder.compiled)
    return outside, found


def _add(
    clustering: Clustering, piece: slice, codes: Array, starts: Array, counts: Array, sizes: Array, compiled: bool
) -> None:
    """Add a chunk of points to the counts and sizes of a clustering."""
    k = clustering.k
    if clustering.soft:
        rows = clustering.dense(piece)
        sizes += rows.sum(axis=0)
        for i, bins in enumerate(codes):
            for c in range(k):
                counts[c, starts[i] : starts[i + 1]] += np.bincount(bins, rows[:, c], int(starts[i + 1] - starts[i]))
        return
    labels = clustering.codes[piece]
    sizes += np.bincount(labels, minlength=k + 1)[:k]
    if compiled:
        from congruence.density.kernels import count_bins

        count_bins(codes, starts, labels, counts)
        return
    for i, bins in enumerate(codes):
        width = int(starts[i + 1] - starts[i])
        table = np.bincount(labels.astype(np.int64) * width + bins, minlength=(k + 1) * width)
        counts[:, starts[i] : starts[i + 1]] += table.reshape(k + 1, width)[:k]


def pairs_of(attributes: tuple[Attribute, ...]) -> tuple[Attribute, ...]:
    """All pairs of attributes, as attributes."""
    if len(attributes) < 2:
        raise InputError("a bivariate profile needs at least two attributes")
    return tuple(
        Attribute(f"{a.name} × {b.name}", pair=(a, b)) for i, a in enumerate(attributes) for b in attributes[i + 1 :]
    )


def _joint(codes: Array, n_bins: tuple[int, ...]) -> Array:
    """The bins of all pairs of attributes."""
    i, j = np.triu_indices(len(n_bins), 1)
    return np.asarray(codes[i] * np.array(n_bins, dtype=np.int32)[j, None] + codes[j])


def similarity_matrix(a: Profile, b: Profile) -> Array:
    """For each pair of clusters of a and b, the sum over all bins of the products of their counts."""
    a.check_same_bins(b)
    return np.asarray(a.counts.astype(np.float64) @ b.counts.astype(np.float64).T)


def equal_samples(
    data: Sequence[Columns], sides: Sequence[Clustering], random_state: Seed
) -> tuple[list[Columns], list[Labels]]:
    """A stratified random sample of the larger side with the size of the smaller."""
    columns, labels = list(data), [side for side in sides if isinstance(side, Labels)]
    if len(labels) < len(sides):
        raise InputError(f"memberships have no clusters to sample from; pass {Option('sizes', 'scaled')}")
    assigned = [len(side) - side.gaps for side in labels]
    if assigned[0] == assigned[1]:
        return columns, labels
    large = int(np.argmax(assigned))
    points = stratified_sample(labels[large].codes, labels[large].k, min(assigned), random_state)
    columns[large], labels[large] = columns[large].taken(points), labels[large].taken(points)
    return columns, labels


def stratified_sample(codes: Array, k: int, size: int, random_state: Seed) -> Array:
    """A stratified sample of points; rounding goes to the largest remainders."""
    rng = np.random.default_rng(seed_sequence(random_state))
    many = np.bincount(codes, minlength=k + 1)[:k]
    exact = many * (size / many.sum())
    share = np.floor(exact).astype(np.int64)
    rest = np.argsort(-(exact - share), kind="stable")[: size - int(share.sum())]
    share[rest] += 1
    drawn = [rng.choice(np.flatnonzero(codes == c), share[c], replace=False) for c in range(k) if share[c]]
    return np.sort(np.concatenate(drawn))
