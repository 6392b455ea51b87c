"""Clusters that valleys do not show: connected groups and spectral clusters of any shape, and round ones that overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from congruence.selection import calibration, connected, families
from congruence.selection.bimodal import two_along_an_axis
from congruence.selection.fits import Fits
from congruence.statistics.tables import Array

#: k-means cuts through a shape if more than this share of the points is on the wrong side
MOST_CUT = 0.05
#: k-means is uncertain below this probability; its clusters are fragments if their border is less empty than this
DOUBT, EMPTY = 0.6, 3.0
#: smallest emptiness of the border, and smallest stability of the worst cluster, of accepted spectral clusters
SPECTRAL_BORDER, SPECTRAL_RETURNS = 8.0, 0.85
#: two clusters along an axis are looked for if no others are found, or two with less than this probability
HIDDEN = 0.9
#: overlapping clusters count if their BIC exceeds that of one Gaussian by this much ("strong" after Kass and Raftery 1995)
STRONG = 6.0


@dataclass(frozen=True, eq=False)
class Shapes:
    """Clusters of any shape: the method, their number, their probability, and the cluster of each point."""

    method: str
    k: int
    probability: float
    labels: Array


def shapes(
    points: Array, ks: Sequence[int], k: int, probability: float, fit: Fits, seeds: np.random.SeedSequence
) -> Shapes | None:
    """Shapes that k-means and the mixture cut through; None if there are none.

    Connected groups are tried first. If there are none and k-means finds no clusters, groups by distances relative to the
    local density are tried. If there are none of these and k-means finds no clusters or is uncertain, spectral clusters are
    tried; they can also separate groups that nearly touch. In one dimension there are no shapes to cut through.
    """
    if points.shape[1] == 1:
        return None
    groups = connected_groups(points, ks)
    if groups is not None and is_cut(points, groups.labels, k, probability, fit):
        return groups
    if k > 1 and (probability >= DOUBT or (groups is not None and groups.k == k)):
        return None
    if k == 1:
        groups = local_groups(points, ks)
        if groups is not None:
            return groups
    clusters = spectral_clusters(points, ks, seeds)
    if clusters is not None and is_cut(points, clusters.labels, k, probability, fit):
        return clusters
    return None


def overlapping(fits: Mapping[int, Fits]) -> Shapes | None:
    """Round clusters of one size that overlap, so that no valley separates them, if there are any.

    Of all mixtures, with any number of components of any shape, the one with the best BIC has such components, and it is
    clearly better than one Gaussian of any shape.
    """
    known = {k: fit for k, fit in fits.items() if fit.bic == fit.bic}
    if 1 not in known:
        return None
    k = max(known, key=lambda x: known[x].bic)
    best = known[k]
    if not best.is_round or k == max(fits) or best.bic < known[1].bic + STRONG or len(np.unique(best.mixture)) < k:
        return None
    return Shapes("gaussian", k, calibration.certainty_of("overlapping"), best.mixture)


def along_an_axis(points: Array, ks: Sequence[int], k: int, probability: float) -> Shapes | None:
    """Two clusters separated along one axis, if k-means finds none or is in doubt; other columns that vary as much hide them."""
    if 2 not in ks or k > 2 or (k == 2 and probability >= HIDDEN):
        return None
    labels = two_along_an_axis(points)
    return None if labels is None else Shapes("axis", 2, calibration.certainty_of("axis"), labels)


def connected_groups(points: Array, ks: Sequence[int]) -> Shapes | None:
    """Connected groups that stay separated over a long span of distances, if there are any."""
    found = connected.groups(points, ks[-1])
    if found.k not in ks or found.span < connected.SPAN:
        return None
    return Shapes("connected groups", found.k, calibration.certainty_of_groups(found.span), found.labels)


def local_groups(points: Array, ks: Sequence[int]) -> Shapes | None:
    """Connected groups by distances relative to the local density, such as spirals that thin out, if there are any."""
    if len(points) < connected.LOCAL_POINTS:
        return None
    found = connected.groups(points, ks[-1], local=True)
    if found.k not in ks or found.span < connected.LOCAL_SPAN:
        return None
    return Shapes("connected groups", found.k, calibration.certainty_of("local"), found.labels)


def spectral_clusters(points: Array, ks: Sequence[int], seeds: np.random.SeedSequence) -> Shapes | None:
    """The largest number of spectral clusters that are found again in halves and have empty borders, if there is one."""
    clusterer = families.clusterer_of("spectral")
    whole = clusterer(points, ks, 0)
    parted = [x for x, z in zip(ks, families.borders(points, whole), strict=True) if x > 1 and z >= SPECTRAL_BORDER]
    if not parted:
        return None
    found = families.family_of(points, parted, clusterer, seeds)
    kept = [x for x, again in zip(parted, found.returns, strict=True) if again >= SPECTRAL_RETURNS]
    if not kept:
        return None
    return Shapes("spectral", kept[-1], calibration.certainty_of("spectral"), found.labels[kept[-1]])


def is_cut(points: Array, shape: Array, k: int, probability: float, fit: Fits) -> bool:
    """Whether k-means and the mixture, with k clusters, cut through a shape, or split it without an empty border."""
    clusterings = (fit.halves.labels, fit.mixture)
    if min(_across(labels, shape) for labels in clusterings) > MOST_CUT:
        return True
    if k <= len(np.unique(shape)):
        return False
    held = float(calibration.holds([k], fit.halves.returns.min(keepdims=True), np.array([fit.halves.valley]))[0])
    if held < 0.5 and fit.fisher < 1:
        return True
    return probability < DOUBT and bool(families.borders(points, dict(enumerate(clusterings))).max() < EMPTY)


def _across(labels: Array, groups: Array) -> float:
    """Share of the points outside the majority group of their cluster."""
    table = np.zeros((labels.max() + 1, groups.max() + 1))
    np.add.at(table, (labels, groups), 1)
    return float(1 - table.max(axis=1).sum() / len(labels))
