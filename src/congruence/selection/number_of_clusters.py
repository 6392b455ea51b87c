"""How many clusters the data support."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from congruence.comparison.many import compare_to
from congruence.ensembles.generators import as_data, numbers_of
from congruence.errors import InputError, misnamed
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.alignment import check_index
from congruence.inputs.arrays import seed_sequence
from congruence.inputs.coerce import as_clustering
from congruence.inputs.ensemble import Ensemble
from congruence.selection import calibration, connected, families, halves, kmeans
from congruence.selection.agreement_curves import (
    PAPER,
    Making,
    check_counts,
    checked_ensembles,
    member_curves,
    wanted_criteria,
)
from congruence.selection.choice import Criterion, KChoice
from congruence.selection.criteria import PEERS, Context
from congruence.selection.looks import is_cut, look_at
from congruence.selection.points import Points, prepare
from congruence.selection.sentences import listed
from congruence.statistics.tables import Array

__all__ = ["choose_k"]

#: fewer points than this for each cluster are too few to look for them
POINTS_PER_CLUSTER = 4
#: members of each k where criteria of agreement are asked for
MEMBERS = 100

SAME = "all points are the same"
CUTS = "k-means cannot be right here: its clusters cut across connected groups"
CURVED = f"{CUTS}; the answer is the number of connected groups, and the labels are these groups"
ENSEMBLES = (
    "ensembles were given, not data: agreement of runs cannot answer that there are no clusters, and finds the right number "
    "less often than `choose_k` on the data"
)


@misnamed(n_clusters="k")
def choose_k(
    data: Any,
    k: int | Iterable[int] = range(1, 11),
    method: Any = "auto",
    n_members: int | None = None,
    criteria: Iterable[str | Measure] | str | Measure | None = None,
    *,
    k_min: int = 1,
    reference: Any = None,
    random_state: Any = 0,
    protocol: str | None = None,
    standardise: bool = False,
    fraction: float = 0.8,
    n_subsamples: int = 20,
    n_jobs: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> KChoice:
    """How many clusters the data have: k clusters with a probability, a tie, no clusters, or that the data cannot tell.

    For each k, k-means is run on all points and on random halves of them. A number of clusters is good where its worst
    cluster comes back in the halves, and where a valley parts it from its neighbour on points not used for the centres;
    among the good the largest counts most. With the BIC of Gaussian mixtures this becomes a probability for each k,
    calibrated on generated data (docs/choosing_k.md).

    Args:
        data: points × features (array, frame or sparse matrix), or a mapping {k: ensemble} of runs you already have.
        k: numbers of clusters to try; default 1 to 10. 1, no clusters, is always among them unless `k_min` is larger.
        method: "auto" (default): k-means and Gaussian mixtures, and connected groups of any shape where k-means cuts across
            them. "kmeans": the same without the groups. "gaussian", "agglomerative" (Ward), "spectral", or a scikit-learn
            clusterer: the largest number whose clusters come back in halves and are parted, without a probability. With
            `criteria` of agreement: any method of `cg.generate`.
        n_members: make so many clusterings of each k and add the curves of their agreement; they do not decide unless
            `criteria` names them. Default: none, or 100 where criteria of agreement are named.
        criteria: None (default) for the calibrated answer; otherwise names of criteria that vote: keys of measures (the
            consensus index: their mean over pairs of members), a key with "/self" (divided by the mean self-score of the
            members; for distances, less it), "certainty", "pac", "delta_area", "stability"; published criteria on k-means:
            "silhouette", "calinski_harabasz", "davies_bouldin", "gap", "gap_max", "prediction_strength", "clusterboot",
            "m3c", "bic", "icl", "jump"; "paper" is Lei et al. (2014).
        k_min: 2 for data that are known to have clusters; default 1.
        reference: known classes of the points. Agreement with them is added as curves, and does not vote.
        random_state: a seed or generator; default 0. The same seed gives the same answer for any `n_jobs`.
        protocol: None or "paper", EM by Lei et al. (2014), with method "em".
        standardise: give every column variance 1 first; default False.
        fraction: share of the points in each subsample of "stability"; default 0.8.
        n_subsamples: subsamples of "stability"; default 20.
        n_jobs: numbers of clusters, or members, worked on at the same time; default 1, −1 for all cores.
        threads: threads of comparisons between members; default: all cores.
        progress: called with (done, total); None or True for a bar on a terminal, False for none.

    Returns:
        KChoice: `.k`, `.probability`, `.verdict` ("clusters", "tie", "none", "cannot tell"), `.runner_up`, `.sentence`,
        `.probabilities`, `.labels`, `.scores` (a frame), `.best` (the k each criterion favours), `.plot()`. Ctrl-C ends
        the work: what is finished comes back, with `is_complete` False.

    Raises:
        InputError: the data, k or a criterion cannot be used; the message says what to pass instead.

    See also:
        `stability`: which clusters come back under resampling. `generate`: ensembles from data.

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
    if isinstance(criteria, str) and criteria == "paper":
        criteria, method, protocol = PAPER, "em", "paper"
    if isinstance(data, Mapping):
        return _of_ensembles(data, criteria, reference, threads, progress)
    X = as_data(data)
    n = X.shape[0]
    truth = _truth(reference, n, [data], "the data")
    seeds = seed_sequence(random_state)
    ks = _checked_numbers(k, k_min, n)
    if criteria is None and n_members is None and _is_family(method):
        return _by_family(prepare(data, X, standardise, seeds), ks, method, seeds, truth, progress)
    if criteria is not None or not (isinstance(method, str) and method in ("auto", "kmeans")):
        plain = n_members is None and isinstance(method, str) and method in ("auto", "kmeans")
        peers, others = _sorted_out(criteria, plain)
        found = None
        if others is None or others or not peers:
            wanted = None if others is None else wanted_criteria(others, False)
            many = MEMBERS if n_members is None else n_members
            maker = "kmeans" if isinstance(method, str) and method == "auto" else method
            making = Making.of(data, X, maker, seeds, many, n_subsamples, fraction, protocol, n_jobs)
            found = member_curves([x for x in ks if x > 1], making, wanted, truth, threads, progress)
        if peers:
            return _by_peers(prepare(data, X, standardise, seeds), ks, peers, seeds, found, truth, n_jobs, progress)
        assert found is not None
        return KChoice(
            ks=found.ks, criteria=found.curves, with_reference=found.with_reference, success=found.success,
            n_reference=found.n_reference, ensembles=found.ensembles,
            notes=(*_lacking(truth, n), *found.notes), is_complete=found.is_complete, method=str(method),
        )  # fmt: skip
    if protocol is not None:
        raise InputError(f"protocol is None, or 'paper' with method 'em'; not {protocol!r} with {method!r}")
    points = prepare(data, X, standardise, seeds)
    members = None
    if n_members is not None:
        making = Making.of(data, X, "kmeans", seeds, n_members, n_subsamples, fraction, None, n_jobs)
        members = member_curves([x for x in ks if x > 1], making, None, truth, threads, progress)
    return _calibrated(points, ks, method, seeds, members, truth, n_jobs, progress)


# --- the border -------------------------------------------------------------------------------------------------


def _checked_numbers(k: Any, k_min: int, n: int) -> list[int]:
    """Numbers of clusters in order, with 1 unless k_min is larger."""
    if not isinstance(k_min, int | np.integer) or isinstance(k_min, bool) or k_min < 1:
        raise InputError(f"k_min is 1, or 2 where there are clusters for sure; not {k_min!r}")
    ks = numbers_of(k, "k")
    if not ks or ks[0] < 1 or ks[0] > n:
        raise InputError(f"k must be from 1 to the number of points ({n}), not {ks or 'none'}")
    ks = [x for x in ks if x <= n]
    found = sorted({*ks, 1}) if k_min == 1 else [x for x in ks if x >= k_min]
    if not found:
        raise InputError(f"no k is left: k is {listed(ks)}, and k_min {k_min}")
    return found


def _truth(reference: Any, n: int, others: Sequence[Any], called: str) -> Any:
    if reference is None:
        return None
    truth = as_clustering(reference, "reference")
    if len(truth) != n:
        raise InputError(f"the reference has {len(truth)} points and the data {n}; both must have the same points")
    if truth.gaps and not truth.k:
        raise InputError("the reference has no label at all")
    for other in others:
        check_index(truth, other, "the reference", called)
    return truth


def _lacking(truth: Any, n: int) -> list[str]:
    if truth is None or not truth.gaps:
        return []
    return [f"the reference lacks {truth.gaps} of {n} points: clusterings are compared with it on the others"]


def _of_ensembles(data: Mapping[Any, Any], criteria: Any, reference: Any, threads: Any, progress: Any) -> KChoice:
    ks, ensembles = checked_ensembles(data)
    n = ensembles[ks[0]].n_points
    truth = _truth(reference, n, list(ensembles.values()), "the ensembles")
    wanted = None if criteria is None else wanted_criteria(criteria, True)
    found = member_curves(ks, ensembles, wanted, truth, threads, progress)
    return KChoice(
        ks=found.ks, criteria=found.curves, with_reference=found.with_reference, success=found.success,
        n_reference=found.n_reference, ensembles=found.ensembles,
        notes=(*_lacking(truth, n), *found.notes, ENSEMBLES), is_complete=found.is_complete, method="ensembles",
    )  # fmt: skip


# --- by another clusterer ---------------------------------------------------------------------------------------


def _is_family(method: Any) -> bool:
    if isinstance(method, str):
        return method in ("gaussian", "agglomerative", "spectral")
    return hasattr(method, "fit_predict") and not isinstance(method, type)


def _by_family(
    points: Points, ks: Sequence[int], method: Any, seeds: np.random.SeedSequence, truth: Any, progress: Any
) -> KChoice:
    """The largest number of clusters that comes back in halves and is parted, by any clusterer."""
    from threadpoolctl import threadpool_limits

    check_counts(method)
    called = method if isinstance(method, str) else type(method).__name__
    sample = points.sample
    most = min(len(sample) // POINTS_PER_CLUSTER, len(np.unique(sample, axis=0)) if sample.shape[1] else 1)
    able = [x for x in ks if x <= max(most, 1)]
    if len(able) < 2:
        reason = f"{len(sample)} points are too few, or only {listed(able)} clusters were tried"
        return KChoice(ks=tuple(able or ks[:1]), criteria={}, notes=points.notes, method=called, reason=reason)
    with threadpool_limits(1):
        whole, returns, border = families.looked(sample, able, families.clusterer_of(method), seeds, progress)
    several = np.asarray(able) > 1
    holds = several & (returns >= calibration.RETURNS) & (border >= families.BORDER)
    best = max((k for k, held in zip(able, holds, strict=True) if held), default=able[0])
    no = np.full(len(able), np.nan)
    curves = {
        "rule": Criterion(
            name="rule", title="Comes back and is parted", better="higher", values=holds.astype(float), errors=no, best=best,
        ),
        "returns": Criterion(
            name="returns", title="How well the worst cluster comes back in halves", better="higher",
            values=np.where(several, returns, np.nan), errors=no, best=None, votes=False,
        ),
        "border": Criterion(
            name="border", title="How empty the border of the nearest clusters is", better="higher",
            values=np.where(several & np.isfinite(border), border, np.nan), errors=no, best=None, votes=False,
        ),
    }  # fmt: skip
    partitions = {k: _placed(points, labels) for k, labels in whole.items()}
    agreed, classes = _with_reference(truth, able, partitions)
    notes = (*points.notes, *_lacking(truth, len(points.all)))
    return KChoice(
        ks=tuple(able), criteria=curves, with_reference=agreed, n_reference=classes, notes=notes, partitions=partitions,
        method=called,
    )  # fmt: skip


# --- by published criteria --------------------------------------------------------------------------------------


def _sorted_out(criteria: Any, plain: bool) -> tuple[list[str], list[Any] | None]:
    """Published criteria, and those of the agreement of members; None for the default ones.

    "pac" is both: of members where others ask for members, otherwise of subsamples as in ConsensusClusterPlus.
    """
    if criteria is None:
        return [], None
    named = [criteria] if isinstance(criteria, str | Measure) else list(criteria)
    named = [x.strip() if isinstance(x, str) else x for x in named]
    published = [x for x in named if isinstance(x, str) and x in PEERS]
    if not plain or len(published) < len(named):
        published = [x for x in published if x != "pac"]
    return list(dict.fromkeys(published)), [x for x in named if x not in published]


def _by_peers(
    points: Points, ks: Sequence[int], names: Sequence[str], seeds: np.random.SeedSequence, members: Any, truth: Any,
    n_jobs: int | None, progress: Any,
) -> KChoice:  # fmt: skip
    """The vote of published criteria on the partitions of k-means, and of agreement where it was asked for."""
    from threadpoolctl import threadpool_limits

    sample = points.sample
    most = min(len(sample) // POINTS_PER_CLUSTER, len(np.unique(sample, axis=0)) if sample.shape[1] else 1)
    able = [x for x in ks if x <= max(most, 1)]
    if len(able) < 2:
        reason = f"{len(sample)} points are too few, or only {listed(able)} clusters were tried"
        return KChoice(ks=tuple(able or ks[:1]), criteria={}, notes=points.notes, method="kmeans", reason=reason)
    with threadpool_limits(1):
        parts = halves.Sample.of(sample, able[-1], seeds)
        done, complete = look_at(parts, able, n_jobs, progress)
        context = Context(parts, done, seeds)
        found = {name: PEERS[name].curve(context) for name in names}
    finished = tuple(done)
    curves = {
        name: Criterion(
            name=name, title=PEERS[name].title, better=PEERS[name].better, values=c.values, errors=c.errors, best=c.best
        )
        for name, c in found.items()
    }
    partitions = {k: _placed_by_centres(points, look.halves) for k, look in done.items()}
    agreed, classes = _with_reference(truth, finished, partitions)
    notes = [*points.notes, *_lacking(truth, len(points.all)), *(c.note for c in found.values() if c.note)]
    if members is None:
        return KChoice(
            ks=finished, criteria=curves, with_reference=agreed, n_reference=classes, notes=tuple(notes),
            is_complete=complete, partitions=partitions, method="kmeans",
        )  # fmt: skip
    curves |= {name: replace(_padded(c, members.ks, finished), votes=c.votes) for name, c in members.curves.items()}
    agreed |= {name: _padded(c, members.ks, finished) for name, c in members.with_reference.items()}
    return KChoice(
        ks=finished, criteria=curves, with_reference=agreed, success=members.success, n_reference=classes,
        ensembles=members.ensembles, notes=(*notes, *members.notes),
        is_complete=complete and members.is_complete, partitions=partitions, method="kmeans",
    )  # fmt: skip


# --- by halves, valleys and mixtures ----------------------------------------------------------------------------


def _calibrated(
    points: Points, ks: Sequence[int], method: str, seeds: np.random.SeedSequence, members: Any, truth: Any,
    n_jobs: int | None, progress: Any,
) -> KChoice:  # fmt: skip
    """The answer by calibrated probabilities, with the curves behind it."""
    from threadpoolctl import threadpool_limits

    sample = points.sample
    n = len(sample)
    notes = [*points.notes, *_lacking(truth, len(points.all))]
    distinct = len(np.unique(sample, axis=0)) if sample.shape[1] else 1
    most = min(n // POINTS_PER_CLUSTER, distinct)
    able = [x for x in ks if x <= max(most, 1)]
    if distinct == 1 and ks[0] == 1 and n > 1:
        one = {1: np.zeros(len(points.all), dtype=np.int64)}
        return KChoice(
            ks=(1,), criteria={}, probabilities={1: 1.0}, partitions=one, notes=(*notes, SAME), method="kmeans"
        )
    if len(able) < 2:
        reason = f"{n} points are too few to look for clusters; at least {2 * POINTS_PER_CLUSTER} are needed"
        if distinct < n // POINTS_PER_CLUSTER:
            reason = f"only {distinct} of {n} points are distinct"
        elif most >= 2:
            reason = f"only {listed(able or ks)} clusters were tried, so that there is nothing to choose between"
        return KChoice(ks=tuple(able or ks[:1]), criteria={}, notes=tuple(notes), method="kmeans", reason=reason)
    if len(able) < len(ks):
        why = f"{n} points" if most < distinct else f"{distinct} distinct points"
        notes.append(f"up to {able[-1]} clusters were tried: {why} are too few for more")
    with threadpool_limits(1):  # products in one thread: the same sums for any number of cores
        parts = halves.Sample.of(sample, able[-1], seeds)
        done, complete = look_at(parts, able, n_jobs, progress)
        found = connected.groups(sample, able[-1])
    if not complete:
        notes.append(f"stopped: {len(done)} of {len(able)} numbers of clusters are done, {listed(list(done))}")
    finished = list(done)
    looked = [done[x] for x in finished]
    returns = np.array([x.halves.returns.min() for x in looked])
    valley = np.array([x.halves.valley for x in looked])
    fisher, icl = np.array([x.fisher for x in looked]), np.array([x.icl for x in looked])
    probabilities = calibration.probabilities(finished, calibration.features(finished, returns, valley, fisher, icl))
    partitions = {x.halves.k: _placed_by_centres(points, x.halves) for x in looked}
    used = "kmeans"
    k = max(probabilities, key=lambda x: (probabilities[x], -x))
    if found.k in done and is_cut(found, k, done[k]):
        if method == "auto":
            used = "connected groups"
            sure = calibration.certainty_of_groups(found.span)
            probabilities = {x: (1 - sure) * p + sure * (x == found.k) for x, p in probabilities.items()}
            partitions[found.k] = _placed(points, found.labels)
            notes.append(CURVED)
        else:
            notes.append(f"{CUTS}, which are {found.k}; try method='auto'")
    curves = _curves(finished, probabilities, returns, valley, fisher, icl)
    agreed, classes = _with_reference(truth, finished, partitions)
    success: dict[str, float] = {}
    ensembles: dict[int, Ensemble] = {}
    if members is not None:
        notes += members.notes
        curves |= {name: _padded(c, members.ks, finished) for name, c in members.curves.items()}
        agreed |= {name: _padded(c, members.ks, finished) for name, c in members.with_reference.items()}
        success, ensembles = members.success, members.ensembles
        complete = complete and members.is_complete
    doubts = {x.halves.k: _doubt(x.halves) for x in looked if x.halves.k > 1} if used == "kmeans" else {}
    return KChoice(
        ks=tuple(finished), criteria=curves, with_reference=agreed, success=success, n_reference=classes,
        ensembles=ensembles, notes=tuple(notes), is_complete=complete, probabilities=probabilities, partitions=partitions,
        method=used, doubts=doubts,
    )  # fmt: skip


def _placed_by_centres(points: Points, found: halves.Evidence) -> Array:
    return found.labels if points.chosen is None else kmeans.nearest(points.all, found.centres)


def _placed(points: Points, labels: Array) -> Array:
    """Labels of all points: of those not looked at, that of the nearest point that was."""
    if points.chosen is None:
        return labels
    from scipy.spatial import cKDTree

    return np.asarray(labels[cKDTree(points.sample).query(points.all)[1]])


def _curves(
    ks: Sequence[int], probabilities: Mapping[int, float], returns: Array, valley: Array, fisher: Array, icl: Array
) -> dict[str, Criterion]:
    several = np.asarray(ks) > 1
    no = np.full(len(ks), np.nan)
    likely = np.array([probabilities[k] for k in ks])
    chosen = max(probabilities, key=lambda k: (probabilities[k], -k))
    found = {
        "probability": Criterion(
            name="probability", title="Calibrated probability", better="higher", values=likely, errors=no, best=chosen
        )
    }
    for name, title, values, least in (
        ("returns", "How well the worst cluster comes back in halves", returns, calibration.RETURNS),
        ("valley", "Depth of the shallowest valley in halves", valley, calibration.VALLEY),
        ("mixture_valley", "Depth of the shallowest valley of the mixture", fisher, 1.0),
    ):
        shown = np.where(several, values, np.nan)
        largest = max((k for k, value in zip(ks, shown, strict=True) if value >= least), default=None)
        found[name] = Criterion(
            name=name, title=title, better="higher", values=shown, errors=no, best=largest, votes=False
        )
    best = None if np.isnan(icl).all() else ks[int(np.nanargmax(icl))]
    found["icl"] = Criterion(
        name="icl", title="ICL of the best Gaussian mixture", better="higher", values=icl, errors=no, best=best,
        votes=False,
    )  # fmt: skip
    return found


def _padded(c: Criterion, ks: Sequence[int], wanted: Sequence[int]) -> Criterion:
    """A curve of agreement at the k of the others, NaN where it has none; it does not vote."""
    place = {k: i for i, k in enumerate(ks)}
    values, errors = (np.array([x[place[k]] if k in place else np.nan for k in wanted]) for x in (c.values, c.errors))
    best = c.best if c.best in wanted else None
    return replace(c, values=values, errors=errors, best=best, votes=False)


def _doubt(e: halves.Evidence) -> str:
    """What speaks against this number of clusters; empty where nothing does."""
    said = []
    worst = int(e.returns.argmin())
    if e.returns[worst] < calibration.RETURNS:
        said.append(f"cluster {worst} comes back at {e.returns[worst]:.2f} in halves of the points, below 0.8")
    if e.valley < calibration.VALLEY:
        a, b = e.pair
        said.append(f"no valley between clusters {a} and {b}")
    return ", and ".join(said)


def _with_reference(
    truth: Any, ks: Sequence[int], partitions: Mapping[int, Array]
) -> tuple[dict[str, Criterion], int | None]:
    if truth is None:
        return {}, None
    there = np.flatnonzero(truth.codes < truth.k) if truth.gaps else np.arange(len(truth))
    known = truth.taken(there) if truth.gaps else truth
    found = {}
    for key in ("ari", "ami_max"):
        values = np.asarray(compare_to(known, [partitions[k][there] for k in ks], [key])[key])
        name, m = f"{key} with reference", find(key)
        best = ks[int(np.nanargmax(values))]
        no = np.full(len(ks), np.nan)
        found[name] = Criterion(
            name=name, title=f"{m.title} with the reference", better=m.better, values=values, errors=no, best=best,
            votes=False, measure=key,
        )  # fmt: skip
    return found, truth.k
