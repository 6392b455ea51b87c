"""Finer bins between those of a reference, in which windows are tested, and profiles folded back into the coarse ones."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

import numpy as np

from congruence.density.binning import Binning
from congruence.density.columns import Columns, on_host
from congruence.density.profile import Attribute, Profile
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array

#: cuts per cluster between its quantiles, and most cuts per attribute
PER_CLUSTER, MOST_CUTS = 15, 240
#: points of a cluster that place its quantiles: more do not move the cuts noticeably
MOST_POINTS = 5_000
#: cuts beyond the fitted range: from this share of it outwards, doubling
BEYOND = 0.02 * 2.0 ** np.arange(10)


def refined(binning: Binning, columns: Columns, clustering: Labels | None) -> Binning:
    """The binning with more cuts: quantiles of each cluster, and cuts beyond the range. The given cuts stay."""
    codes = (
        np.zeros(len(columns), dtype=np.int64) if clustering is None else np.asarray(clustering.codes).astype(np.int64)
    )
    k = 1 if clustering is None else clustering.k
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=k + 1))[:k]
    rows = [part[:: -(-len(part) // MOST_POINTS)] for part in np.split(order, ends)[:-1] if len(part)]
    many = min(PER_CLUSTER, MOST_CUTS // max(len(rows), 1))
    if many < 3:  # too many clusters: quantiles of all points
        every = order[: ends[-1]] if len(ends) else order
        rows, many = [every[:: -(-len(every) // (10 * MOST_POINTS))]], MOST_CUTS
    finer = copy(binning)
    finer.attributes = tuple(
        a if a.values is not None or isinstance(column, Labels) else _with_cuts(a, on_host(column), rows, many)
        for a, column in zip(binning.attributes, columns.columns, strict=True)
    )
    return finer


def _with_cuts(a: Attribute, values: Array, rows: Sequence[Array], many: int) -> Attribute:
    if a.low != a.low:
        return a
    values = np.asarray(values, dtype=np.float64)
    levels = (np.arange(many) + 1) / (many + 1)
    found = [np.array(a.cuts)]
    for part in rows:
        here = values[part]
        here = here[~np.isnan(here)]
        if len(here):
            distinct = np.unique(here)
            cuts = np.quantile(here, levels)
            if len(distinct) <= many:  # few values: cuts between them
                cuts = (distinct[1:] + distinct[:-1]) / 2
            found.append(cuts)
    width = (a.high - a.low) or max(abs(a.high), 1.0)
    with np.errstate(over="ignore"):
        found += [a.low - BEYOND * width, a.high + BEYOND * width]
    cuts = np.unique(np.concatenate(found))
    return replace(a, cuts=tuple(cuts[np.isfinite(cuts)].tolist()))


def folded(fine: Profile, coarse: Sequence[Attribute]) -> Profile:
    """The profile in coarser bins, whose cuts are some of its cuts; it keeps the finer one as its detail.

    Args:
        fine: A profile in finer bins.
        coarse: The coarser bins.
    """
    starts = np.concatenate([[0], np.cumsum([a.n_bins for a in coarse])])
    counts = np.zeros((len(fine.counts), int(starts[-1])), dtype=fine.counts.dtype)
    for f, (a, b) in enumerate(zip(fine.attributes, coarse, strict=True)):
        if a.values is not None or not a.regular:
            place = np.arange(a.n_bins)
        else:
            place = np.searchsorted(b.cuts, [-np.inf, *a.cuts], side="right")
            place = np.concatenate([place, [b.n_bins - 1] * a.takes_missing]).astype(np.int64)
        np.add.at(counts.T, starts[f] + place, fine.counts.T[fine.starts[f] : fine.starts[f + 1]])
    return replace(fine, counts=counts, attributes=tuple(coarse), detail=fine)
