"""The number of clusters by calibrated probabilities: k-means and mixtures, and other shapes where these cannot be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from congruence.errors import Option
from congruence.selection import calibration, halves, mixtures
from congruence.selection.choice import Criterion, KChoice, curve_of
from congruence.selection.halves import Fits, comparable_icl, fits_of
from congruence.selection.partitions import Question, placed, placed_by_centres
from congruence.selection.points import Points
from congruence.selection.sentences import stopped
from congruence.selection.shapes import Shapes, along_an_axis, overlapping, shapes
from congruence.statistics.tables import Array
from congruence.typing import Record

SAME = "all points are identical"
#: how much deeper the valley of the mixture must be for its clusters to replace those of k-means
DEEPER = 1.0
INSTEAD = {
    "gaussian": (
        "the clusters overlap: no valley separates them, but round Gaussians of one size fit better than one Gaussian of any "
        "shape; the labels come from that mixture"
    ),
    "axis": (
        "k-means overlooks two clusters, because other columns vary as much; the labels are those along the axis that separates "
        "them best"
    ),
    "connected groups": (
        "k-means cannot be right here: its clusters cut through connected groups; the answer is the number of connected groups, "
        "and the labels are these groups"
    ),
    "spectral": (
        "k-means cannot be right here: its clusters cut through clusters of another shape; the answer and the labels come from "
        "spectral clustering"
    ),
}


def calibrated(asked: Question) -> KChoice:
    """The answer by calibrated probabilities, with the curves behind it."""
    from threadpoolctl import threadpool_limits

    points, method = asked.points, asked.called
    sample = points.sample
    able, notes, refused = asked.able("kmeans")
    if asked.ks[0] == 1 and len(sample) > 1 and not (sample[1:] != sample[0]).any():
        one = {1: np.zeros(len(points.all), dtype=np.int64)}
        return KChoice(
            ks=(1,), criteria={}, probabilities={1: 1.0}, partitions=one, notes=(*notes, SAME), method="kmeans"
        )
    if refused is not None:
        return refused
    with threadpool_limits(1):  # one BLAS thread: the same sums for any number of cores
        parts = halves.Sample.of(sample, able[-1], asked.seeds)
        done, complete = fits_of(parts, able, asked.n_jobs, asked.progress)
        if not complete:
            notes.append(stopped(done, len(able)))
        finished, fitted = list(done), list(done.values())
        known = evidence(fitted)
        probabilities = calibration.probabilities(finished, calibration.features(finished, *known))
        k = max(probabilities, key=lambda x: (probabilities[x], -x))
        found = shapes(sample, finished, k, probabilities[k], done[k], asked.seeds)
        if method == "auto" and (found is None or found.method == "spectral"):
            found = along_an_axis(sample, finished, k, probabilities[k]) or found
        if found is None and k == 1 and method == "auto":
            found = overlapping(done)
    partitions = {x.halves.k: placed_by_centres(points, x.halves) for x in fitted}
    if found is not None and method == "auto":
        probabilities = _with_shapes(probabilities, found)
    used, note = _labelled(points, method, k, done[k], found, partitions)
    notes += note
    curves = _curves(finished, probabilities, *known)
    doubts = {x.halves.k: _doubt(x.halves) for x in fitted if x.halves.k > 1} if used in ("kmeans", "gaussian") else {}
    about: Record = {"probabilities": probabilities, "method": used, "doubts": doubts}
    return asked.answer(finished, curves, partitions, notes, complete, **about)


def evidence(fitted: Sequence[Fits]) -> tuple[Array, Array, Array, Array]:
    """For each k: stability of the worst cluster, shallowest valley, that of the mixture, and the ICL of the mixture.

    Args:
        fitted: The results for each number of clusters. ICL is compared among the kinds of covariance that can be fitted for
            the largest number whose clusters are stable and separated.
    """
    returns = np.array([x.halves.returns.min() for x in fitted])
    valley = np.array([x.halves.valley for x in fitted])
    largest = calibration.by_rule([x.halves.k for x in fitted], returns, valley)
    return returns, valley, np.array([x.fisher for x in fitted]), comparable_icl(fitted, largest)


def _labelled(
    points: Points, method: str, k: int, fit: Fits, found: Shapes | None, partitions: dict[int, Array]
) -> tuple[str, list[str]]:
    """The method that gives the labels of the answer, put into `partitions`, and a note if it is not k-means."""
    if found is not None and method == "auto":
        partitions[found.k] = placed(points, found.labels)
        return found.method, [INSTEAD[found.method]]
    if found is not None:
        cut = f"k-means cannot be right here: its clusters cut through others ({found.k} by {found.method})"
        return "kmeans", [f"{cut}; try {Option('method', 'auto')}"]
    if method == "auto" and k > 1 and is_long(points.sample, k, fit):
        partitions[k] = placed(points, fit.mixture)
        return "gaussian", ["the labels come from a Gaussian mixture, which separates the clusters better than k-means"]
    return "kmeans", []


def _with_shapes(probabilities: Mapping[int, float], found: Shapes) -> dict[int, float]:
    sure = found.probability
    return {x: (1 - sure) * p + sure * (x == found.k) for x, p in probabilities.items()}


def is_long(points: Array, k: int, fit: Fits) -> bool:
    """Whether the mixture separates k clusters by deeper valleys than k-means, along Fisher's discriminants."""
    if k == 1 or len(np.unique(fit.mixture)) < k:
        return False
    return fit.fisher > mixtures.fisher_valley(mixtures.first_axes(points), fit.halves.labels, k) + DEEPER


def _curves(
    ks: Sequence[int], probabilities: Mapping[int, float], returns: Array, valley: Array, fisher: Array, icl: Array
) -> dict[str, Criterion]:
    several = np.asarray(ks) > 1
    likely = np.array([probabilities[k] for k in ks])
    chosen = max(probabilities, key=lambda k: (probabilities[k], -k))
    found = [curve_of("probability", "Calibrated probability", likely, chosen, votes=True)]
    for name, title, values, least in (
        ("returns", "Stability of the worst cluster in halves", returns, calibration.RETURNS),
        ("valley", "Depth of the shallowest valley in halves", valley, calibration.VALLEY),
        ("mixture_valley", "Depth of the shallowest valley of the mixture", fisher, 1.0),
    ):
        shown = np.where(several, values, np.nan)
        largest = max((k for k, value in zip(ks, shown, strict=True) if value >= least), default=None)
        found.append(curve_of(name, title, shown, largest))
    best = None if np.isnan(icl).all() else ks[int(np.nanargmax(icl))]
    found.append(curve_of("icl", "ICL of the best Gaussian mixture", icl, best))
    return {c.name: c for c in found}


def _doubt(e: halves.Evidence) -> str:
    """Reasons against this number of clusters; empty if there are none."""
    said = []
    worst = int(e.returns.argmin())
    if e.returns[worst] < calibration.RETURNS:
        said.append(f"cluster {worst} has a stability of {e.returns[worst]:.2f} in halves of the points, below 0.8")
    if e.valley < calibration.VALLEY:
        a, b = e.pair
        said.append(f"no valley between clusters {a} and {b}")
    return ", and ".join(said)
