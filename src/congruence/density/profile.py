"""Counting density profiles, and holding two of them against each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from congruence.clustering import Memberships, Unassigned, as_clustering, noise_for
from congruence.density.binning import CHUNK, Binning, Columns
from congruence.engine import cpu
from congruence.frames import frame_kind
from congruence.statistics import Array, Attribute, InputError, Profile

#: cells that a profile may have
MOST_CELLS = 100_000_000


def density_profile(
    X: Any,
    labels: Any,
    binning: Binning | None = None,
    *,
    bivariate: bool = False,
    unassigned: Unassigned = "error",
    noise: Any = None,
    threads: int | None = None,
) -> Profile:
    """How many points of each cluster fall in each bin of each attribute; profiles of the same bins add.

    `binning` is fitted on X if it is not yet; give both sides of a comparison the same one. With `bivariate=True` the
    bins are those of all pairs of attributes. Memberships count by their amounts.

    >>> import congruence as cg
    >>> X = [[1.0, "red"], [2.0, "red"], [9.0, "blue"], [10.0, "red"]]
    >>> p = cg.density_profile(X, [0, 0, 1, 1], cg.Binning(bins=2))
    >>> p.counts.tolist(), p.n_bins
    ([[2, 0, 0, 2], [0, 2, 1, 1]], (2, 2))
    """
    binning = Binning() if binning is None else binning
    clustering = as_clustering(labels, "labels")
    check_index(clustering, X, "labels")
    clustering = clustering.with_policy(unassigned, noise_for(noise, (clustering.title, "labels")), "labels")
    if not binning.is_fitted:
        binning.fit(X, labels if binning.method == "mdl" else None)
    columns = binning.columns(X)
    if len(columns) != len(clustering):
        raise InputError(f"there are {len(columns)} points and {len(clustering)} labels; give one label a point")
    return counted(columns, clustering, binning, bivariate=bivariate, threads=threads)


def counted(
    columns: Columns, clustering: Any, binning: Binning, *, bivariate: bool = False, threads: int | None = None
) -> Profile:
    """The profile of checked data: pieces of points are binned and counted in threads, and added."""
    attributes = pairs_of(binning.attributes) if bivariate else binning.attributes
    k = clustering.k
    starts = np.concatenate([[0], np.cumsum([a.n_bins for a in attributes])]).astype(np.int64)
    if k * float(starts[-1]) > MOST_CELLS:
        raise InputError(
            f"a profile of {k} clusters and {int(starts[-1]):,} bins has more than {MOST_CELLS:,} cells; use fewer bins or "
            "attributes"
        )
    places = binning.places(columns)
    work = partial(_count_piece, columns, clustering, binning, places, starts, bivariate)
    pieces = columns.pieces(CHUNK)
    many = min(cpu.default_threads(threads), len(pieces))
    if many == 1:
        parts = [work(pieces)]
    else:
        with ThreadPoolExecutor(many) as pool:
            parts = list(pool.map(work, [pieces[i::many] for i in range(many)]))
    counts, sizes, outside = (np.sum([part[i] for part in parts], axis=0) for i in range(3))
    names = tuple(clustering.names.tolist() if isinstance(clustering.names, np.ndarray) else clustering.names)
    if bivariate:
        i, j = np.triu_indices(len(binning.attributes), 1)
        outside = outside[i] + outside[j]
    return Profile(counts, names, attributes, sizes, outside)


def _count_piece(
    columns: Columns,
    clustering: Any,
    binning: Binning,
    places: list[Array | None],
    starts: Array,
    bivariate: bool,
    pieces: list[slice],
) -> tuple[Array, Array, Array]:
    k, cells = clustering.k, int(starts[-1])
    soft = isinstance(clustering, Memberships)
    counts = np.zeros((k, cells), dtype=np.float64 if soft else np.int64)
    sizes = np.zeros(k, dtype=counts.dtype)
    outside = np.zeros(len(binning.attributes), dtype=np.int64)
    room = np.empty((min(CHUNK, len(columns)), len(binning.attributes)), dtype=np.int32)
    for piece in pieces:
        codes = room[: piece.stop - piece.start]
        outside += binning.bin_piece(columns, places, piece, codes)
        if bivariate:
            codes = _joint(codes, binning.n_bins)
        if soft:
            rows = clustering.matrix[piece]
            rows = rows.toarray() if hasattr(rows, "toarray") else rows
            sizes += rows.sum(axis=0)
            for i in range(codes.shape[1]):
                for c in range(k):
                    width = int(starts[i + 1] - starts[i])
                    counts[c, starts[i] : starts[i + 1]] += np.bincount(codes[:, i], rows[:, c], width)
            continue
        labels = clustering.codes[piece]
        sizes += np.bincount(labels, minlength=k + 1)[:k]
        if cpu._use_kernels(float(codes.size)):
            from congruence.density.kernels import count_bins

            count_bins(codes, starts, labels, counts)
            continue
        for i in range(codes.shape[1]):
            width = int(starts[i + 1] - starts[i])
            table = np.bincount(labels.astype(np.int64) * width + codes[:, i], minlength=(k + 1) * width)
            counts[:, starts[i] : starts[i + 1]] += table.reshape(k + 1, width)[:k]
    return counts, sizes, outside


def check_index(clustering: Any, X: Any, who: str) -> None:
    """Labels and data of pandas must be of the same points in the same order."""
    index = getattr(X, "index", None) if frame_kind(X) == "pandas" else None
    if index is not None and clustering.index is not None and not index.equals(clustering.index):
        raise InputError(
            f"the index of {who} differs from that of the data; reindex one of them, or pass {who}.to_numpy()"
        )


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
    return np.asarray(codes[:, i] * np.array(n_bins, dtype=np.int32)[j] + codes[:, j])


def similarity_matrix(a: Profile, b: Profile) -> Array:
    """For each cluster of a and each of b the sum over all bins of the products of their counts."""
    a.check_same_bins(b)
    return np.asarray(a.counts.astype(np.float64) @ b.counts.astype(np.float64).T)
