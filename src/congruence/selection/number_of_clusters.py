"""The number of clusters that the data support."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from congruence.engine.plan import seed_sequence
from congruence.ensembles.generators import as_data, numbers_of
from congruence.ensembles.soft_generators import Mixtures
from congruence.errors import InputError, Option, joined
from congruence.inputs.alignment import check_index
from congruence.inputs.coerce import as_disjoint
from congruence.inputs.effects import refuse_idle
from congruence.inputs.kinds import Clustering
from congruence.inputs.labels import is_mapping
from congruence.options import described
from congruence.selection.agreement_curves import (
    PAPER,
    Making,
    checked_ensembles,
    member_curves,
    named_criteria,
)
from congruence.selection.by_criteria import Criteria, by_criteria, kinds_of_criteria
from congruence.selection.calibrated import calibrated
from congruence.selection.choice import KChoice
from congruence.selection.families import by_rule, is_clusterer
from congruence.selection.partitions import Question, lacking
from congruence.selection.points import prepare
from congruence.typing import ClusteringLike, CovarianceType, EnsembleLike, Estimator, PointsLike, ProgressLike, Seed

__all__ = ["choose_k"]

#: members per k if agreement criteria are requested
MEMBERS = 100

ENSEMBLES = (
    "this answer comes from the agreement of runs, which cannot show that there are no clusters, and finds the right number less "
    "often than on the data"
)


@described
def choose_k(
    data: PointsLike,
    k: int | Iterable[int] = range(1, 11),
    method: str | Estimator = "auto",
    n_members: int | None = None,
    criteria: Criteria = None,
    *,
    k_min: int = 1,
    reference: ClusteringLike | None = None,
    random_state: Seed = 0,
    protocol: str | None = None,
    covariance_type: CovarianceType | None = None,
    standardise: bool = False,
    fraction: float = 0.8,
    n_subsamples: int = 20,
    n_jobs: int | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> KChoice:
    """The number of clusters in the data: k clusters with a probability, a tie, no clusters, or no clear answer.

    For each k, k-means is run on all points and on random halves of them. A good k has two properties: its worst cluster
    is found again in the halves, and a valley separates that cluster from its neighbour on points not used for the
    centres. The largest good k counts most. Together with the ICL of Gaussian mixtures, this gives a probability for each
    k, calibrated on generated data (docs/choosing_k.md).

    Args:
        data: Points × features (array, frame or sparse matrix), or a mapping {k: ensemble} of runs you already have.
        k: Numbers of clusters to try; default 1 to 10. 1 (no clusters) is always included unless `k_min` is larger.
        method: "auto" (default) chooses the clusterer too: k-means, a Gaussian mixture if it separates the clusters better, and
            connected groups or spectral clusters if k-means cuts through them, or two clusters along one axis. "kmeans":
            only k-means, with a note if it cannot be right. "gaussian", "agglomerative" ("ward"), "average",
            "complete", "single", "spectral", or a scikit-learn clusterer: the largest k whose clusters are found again in
            halves and are separated, without a probability. With agreement `criteria`: any method of `cg.generate`.
        n_members: Number of clusterings per k for agreement curves; the curves have no vote unless
            `criteria` names them. Default: none, or 100 if agreement criteria are named.
        criteria: None (default) for the calibrated answer; otherwise names of criteria that vote: keys of measures (the
            consensus index: their mean over pairs of members), a key with "/self" (divided by the mean self-score of the
            members; for distances, minus it), "certainty", "pac", "delta_area", "stability"; published criteria: "silhouette",
            "calinski_harabasz" and "davies_bouldin" for any method, and for k-means "gap", "gap_max", "prediction_strength",
            "clusterboot", "nselectboot", "pac", "m3c", "bic", "icl", "jump"; "paper" is Lei et al. (2014). "pac" uses
            members if there are any, otherwise subsamples as in ConsensusClusterPlus.
        k_min: Smallest k; 2 if the data are known to have clusters; default 1.
        reference: Known classes of the points. Agreement with them is added as curves without a vote.
        random_state: See `congruence.options`.
        protocol: None or "paper", EM by Lei et al. (2014), with method "em".
        covariance_type: Covariances of the mixtures of method "em", as in `cg.generate`: "full", "tied", "diag" or
            "spherical". Default None: "diag" with protocol "paper", else "full".
        standardise: Give every column variance 1 first; default False.
        fraction: Share of the points in each subsample of "stability"; default 0.8.
        n_subsamples: Subsamples of "stability"; default 20.
        n_jobs, threads: See `congruence.options`.
        progress: Called with (done, total); None or True for a bar on a terminal, False for none.

    Returns:
        KChoice: `.k`, `.probability`, `.verdict` ("clusters", "tie", "none", "cannot tell"), `.runner_up`, `.sentence`,
        `.probabilities`, `.labels`, `.scores` (a frame), `.best` (the k each criterion favours), `.plot()`. Ctrl-C stops
        the computation and returns the finished part, with `is_complete` False.

    Raises:
        InputError: The data, k or a criterion cannot be used; the message says what to pass instead.

    See also:
        `stability`: cluster stability under resampling. `generate`: ensembles from data.

    >>> import congruence as cg
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 30, axis=0)
    >>> choice = cg.choose_k(X)
    >>> choice.k, choice.verdict
    (3, 'clusters')
    >>> cg.choose_k(rng.uniform(size=(90, 2))).k
    1
    """
    given = locals()
    if is_mapping(data):
        refuse_idle(choose_k, given, "for ensembles; it is for data")
    if isinstance(criteria, str) and criteria == "paper":
        if method != "em":
            refuse_idle(choose_k, given, "with the criteria of the paper, which are for method 'em'")
        criteria, method, protocol = PAPER, "em", "paper"
    mixtures = Mixtures(protocol, covariance_type)
    if is_mapping(data):
        return _of_ensembles(data, criteria, reference, threads, progress)
    X = as_data(data)
    n = X.shape[0]
    truth = _truth(reference, n, [data], "the data")
    seeds = seed_sequence(random_state)
    ks = _checked_numbers(k, k_min, n)
    is_kmeans = isinstance(method, str) and method in ("auto", "kmeans")
    if criteria is None and n_members is None and (is_kmeans or is_clusterer(method)):
        refuse_idle(choose_k, given, "without criteria that compare members")
    if criteria is None and n_members is None and is_clusterer(method):
        refuse_idle(choose_k, given, "without method 'em'")
        points = prepare(data, X, standardise, seeds)
        return by_rule(Question(points, ks, method, seeds, truth, progress=progress))
    if criteria is not None or not is_kmeans:
        peers, others = kinds_of_criteria(criteria, n_members is None and is_kmeans)
        found = None
        if others is None or others or not peers:
            wanted = None if others is None else named_criteria(others, False)
            if wanted is not None and all(w.name != "stability" for w in wanted):
                refuse_idle(choose_k, given, "without the criterion 'stability'")
            if not peers:
                refuse_idle(choose_k, given, "on criteria that compare members")
            many = MEMBERS if n_members is None else n_members
            maker = "kmeans" if is_kmeans else method
            making = Making.of(data, X, maker, seeds, (many, n_subsamples), fraction, mixtures, n_jobs)
            found = member_curves(_several(ks, n), making, wanted, truth, threads, progress)
        else:
            refuse_idle(choose_k, given, "without criteria that compare members")
        if peers:
            points = prepare(data, X, standardise, seeds)
            return by_criteria(Question(points, ks, method, seeds, truth, found, n_jobs, progress), peers)
        assert found is not None
        return replace(found, notes=(*lacking(truth, n), *found.notes), method=str(method))
    mixtures.check(method)
    points = prepare(data, X, standardise, seeds, robust=True)
    members = None
    if n_members is not None:
        making = Making.of(data, X, "kmeans", seeds, (n_members, n_subsamples), fraction, mixtures, n_jobs)
        members = member_curves(_several(ks, n), making, None, truth, threads, progress)
    return calibrated(Question(points, ks, str(method), seeds, truth, members, n_jobs, progress))


# --- validation -------------------------------------------------------------------------------------------------


def _checked_numbers(k: int | Iterable[int], k_min: int, n: int) -> list[int]:
    """Numbers of clusters in order, with 1 unless k_min is larger."""
    if not isinstance(k_min, int | np.integer) or isinstance(k_min, bool) or k_min < 1:
        raise InputError(f"{Option('k_min')} must be 1, or 2 if there are certainly clusters; got {k_min!r}")
    ks = numbers_of(k, "k")
    if not ks or ks[0] < 1 or ks[0] > n:
        raise InputError(f"k must be from 1 to the number of points ({n}), not {ks or 'none'}")
    ks = [x for x in ks if x <= n]
    found = sorted({*ks, 1}) if k_min == 1 else [x for x in ks if x >= k_min]
    if not found:
        raise InputError(f"no k is left: k is {joined(ks)}, but k_min is {k_min}")
    return found


def _several(ks: list[int], n: int) -> list[int]:
    """The numbers of clusters that criteria that compare members can judge: those above 1."""
    if several := [x for x in ks if x > 1]:
        return several
    raise InputError(f"these criteria need k of at least 2, and only k = 1 is left ({n} points); pass a larger k")


def _truth(reference: ClusteringLike | None, n: int, others: Sequence[object], called: str) -> Clustering | None:
    if reference is None:
        return None
    truth = as_disjoint(reference, "reference")
    if len(truth) != n:
        raise InputError(f"the reference has {len(truth)} points and the data {n}; both must have the same points")
    if truth.gaps and not truth.k:
        raise InputError("the reference has no labels")
    for other in others:
        check_index(truth, other, "the reference", called)
    return truth


def _of_ensembles(
    data: Mapping[int, EnsembleLike],
    criteria: Criteria,
    reference: ClusteringLike | None,
    threads: int | None,
    progress: ProgressLike,
) -> KChoice:
    ks, ensembles = checked_ensembles(data)
    n = ensembles[ks[0]].n_points
    truth = _truth(reference, n, list(ensembles.values()), "the ensembles")
    wanted = None if criteria is None else named_criteria(criteria, True)
    found = member_curves(ks, ensembles, wanted, truth, threads, progress)
    return replace(found, notes=(*lacking(truth, n), *found.notes, ENSEMBLES), method="ensembles")
