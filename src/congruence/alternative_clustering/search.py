"""The search for alternatives: run one method, or several and keep the best, and score the result against chance."""

from __future__ import annotations

import inspect
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from congruence.alternative_clustering.coala import coala
from congruence.alternative_clustering.ensembles import condens, metaclusters
from congruence.alternative_clustering.maximus import maximus
from congruence.alternative_clustering.moves import cib, mincentropy
from congruence.alternative_clustering.points import Found, Points, Task, as_knowns, as_points, binned
from congruence.alternative_clustering.program import least_similarity, similarity
from congruence.alternative_clustering.projections import adft, orthogonal
from congruence.alternative_clustering.quality import centroids, check_index, dissimilarity, dq, dunn_index, silhouettes
from congruence.alternative_clustering.residual import Residuals, refined, residual
from congruence.alternative_clustering.results import SCORES, Alternative, Alternatives
from congruence.alternative_clustering.views import views
from congruence.density.binning import Binning
from congruence.engine.plan import Progress, seed_sequence
from congruence.errors import MOST_RUNS, InputError, Option, hint, joined, names_in, unused_name, whole_number
from congruence.inputs.effects import refuse_idle
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, EnsembleLike, OptionValue, PointsLike, ProgressLike, Record, Seed

#: number of shuffles for the scores of random labels
SHUFFLES = 5
#: most points for silhouettes of all pairs, and the size of the sample above
ALL_PAIRS, SOME = 20_000, 5_000


@dataclass(frozen=True)
class Method:
    """A method for alternatives, and its limits."""

    find: Callable[..., Found]
    title: str
    #: most points, and the reason
    most: int
    why: str
    nominal: bool = True
    #: random restarts unless `n_init` says otherwise
    n_init: int = 10

    @property
    def options(self) -> dict[str, OptionValue]:
        """Its options with their defaults."""
        kinds = inspect.signature(self.find).parameters.values()
        return {p.name: p.default for p in kinds if p.kind is p.KEYWORD_ONLY}


_SQUARE, _ALL = "it holds all pairs of points in memory", "k-means visits all points"
METHODS = {
    "residual": Method(residual, "k-means without the means of the given clusters", 1_000_000, _ALL, n_init=20),
    "refined": Method(refined, "the same, refined by the covariance within clusters", 1_000_000, _ALL, n_init=20),
    "maximus": Method(maximus, "k-means within caps on the similarity", 500_000, "each program visits all points"),
    "coala": Method(coala, "average linkage with cannot-links", 10_000, _SQUARE, n_init=1),
    "cib": Method(cib, "conditional information bottleneck", 100_000, "it visits points one at a time", n_init=5),
    "condens": Method(condens, "conditional ensemble", 1_000_000, _ALL),
    "metaclusters": Method(metaclusters, "meta clustering", 1_000_000, _ALL, n_init=60),
    "mincentropy": Method(mincentropy, "minimum conditional entropy", 10_000, _SQUARE),
    "orthogonal": Method(orthogonal, "k-means orthogonal to the given centroids", 1_000_000, _ALL, nominal=False),
    "adft": Method(adft, "k-means after a map that hides the given clusters", 1_000_000, _ALL, nominal=False),
}
#: tried by method="auto", each refined: they find different views, and more candidates make the choice worse (see
#: reproductions.second_views); and those tried if there are nominal attributes
AUTO, AUTO_NOMINAL = ("refined", "orthogonal", "adft"), ("refined", "condens", "mincentropy")
#: above this many points, "auto" skips methods that compare all pairs of points, because they take minutes
AUTO_PAIRS = 2_000
#: most alternatives with n_alternatives="all"
MOST_VIEWS = 10
#: most prices in the dual of MAXIMUS (clusters × all known clusters); the time grows with about their cube
MOST_PRICES = 600


def starts(method: str) -> bool:
    """Whether the method starts at random several times; unknown ones are refused later."""
    return not isinstance(method, str) or method not in METHODS or METHODS[method].n_init > 1


@described
def alternatives(
    X: PointsLike,
    labels: ClusteringLike | EnsembleLike,
    n_clusters: int | None = None,
    n_alternatives: int | Literal["all"] = 1,
    method: str = "auto",
    random_state: Seed = 0,
    *,
    min_size: int | None = None,
    scale: bool = True,
    binning: str | Binning = "width",
    bins: int = 10,
    nominal: str | Sequence[str | int] | None = (),
    n_init: int | None = None,
    inter: int = 4,
    intra: int = 3,
    progress: ProgressLike = None,
    **options: OptionValue,
) -> Alternatives:
    """Other clusterings of X, each good and different from the given labels and from those found before.

    Scores are for the prepared data. Compare `dq` and the others with those of `random` labels. The same
    `random_state` gives the same labels.

    Args:
        X: See `congruence.options`.
        labels: The given clustering, or several: label columns, a mapping, or a list of label vectors.
        n_clusters: Number of clusters. Default None: as many as the first given clustering has; with
            n_alternatives="all", as many as `choose_k` finds in what is left unexplained.
        n_alternatives: Number of alternatives, each different from those before (default 1), or "all": one after the
            other, until `choose_k` finds no clusters in what the clusterings so far leave unexplained.
        method: "auto" (default: tries "refined", "orthogonal" and "adft", or with nominal attributes "refined", "condens"
            and "mincentropy"; refines each, and keeps the labels that explain most beyond the given ones and beyond chance;
            no options), "residual", "refined", "condens", "mincentropy" (weight, sigma), "orthogonal" (weakest), "adft",
            "maximus" (epsilon=0.05, sample, finalists, solver), "coala" (omega=0.6), "cib" (passes=5), "metaclusters"
            (groups). "orthogonal" and "adft" need numbers; the others take nominal attributes too.
        random_state, min_size, scale, binning, bins, nominal, n_init: See `congruence.options`.
        inter: Distance between clusters in the Dunn index; see `cg.dunn`. Default 4.
        intra: Extent of a cluster in the Dunn index; see `cg.dunn`. Default 3.
        progress: See `congruence.options`.
        options: Options of the method.

    Returns:
        A list of `Alternative`, each with `.labels`, `.scores` and `.to_frame()`; the list has `.sentence` and `.plot()`.

    Raises:
        InputError: If an argument is invalid, or a method cannot take the data.

    See also:
        `cg.AlternativeClustering`, `cg.dissimilarity_quality`.

    >>> import congruence as cg
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> colour, shape = rng.integers(0, 3, 150), rng.integers(0, 3, 150)
    >>> X = np.hstack([5 * np.eye(3)[colour], 4 * np.eye(3)[shape]]) + rng.normal(size=(150, 6))
    >>> found = cg.alternatives(X, colour, random_state=0)[0]
    >>> round(cg.ari(found.labels, shape), 2), found.n_clusters
    (1.0, 3)
    >>> cg.alternatives(X, colour, n_alternatives="all", random_state=0).sentence
    'One further view, of 3 clusters; no other was found.'
    """
    refuse_idle(alternatives, {**locals(), "starts": starts(method)})
    check_index(inter, intra)
    named = names_in(() if nominal is None else nominal, "nominal")
    points = as_points(X, scale, [*named, *(binning.nominal_names if isinstance(binning, Binning) else [])])
    knowns = as_knowns(labels, points.n, X)
    given, first = knowns, next(iter(knowns.values()))
    k = int(first.max()) + 1 if n_clusters is None else n_clusters
    chosen, left_out = _methods(method, points, options)
    _check(chosen[0], points, knowns, k, n_alternatives, options, min_size)
    points = binned(points, binning, bins, first)
    runs = {name: METHODS[name].n_init if n_init is None or METHODS[name].n_init == 1 else n_init for name in chosen}
    for count in runs.values():
        _check_option("n_init", count, 1)
        whole_number(count, "n_init", 1, MOST_RUNS)
    results: list[Alternative] = []
    many = MOST_VIEWS if n_alternatives == "all" else n_alternatives
    is_last = False
    import scipy.optimize  # noqa: F401  (with its threads of linear algebra, or the limit would not reach them)
    import sklearn.cluster  # noqa: F401
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with (
        Progress(many * sum(runs.values()), progress, "restarts") as bar,
        threadpool_limits(1),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
        for i, stream in enumerate(seed_sequence(random_state).spawn(many)):
            began = time.perf_counter()
            part = points
            if n_alternatives == "all":
                there = views(Residuals.of(points.numbers, list(knowns.values())))
                if not there:
                    is_last = True
                    break
                part, k = replace(points, numbers=there[0].coordinates), n_clusters or there[0].n_clusters
            task = Task(part, list(knowns.values()), k, done=bar.add)
            left = Residuals.of(part.numbers, task.knowns) if method == "auto" else None
            tried = [_tried(name, task, stream, runs[name], min_size, options, left) for name in chosen]
            kept, about = (tried[0], {}) if left is None else _kept(tried, left, left_out)
            if kept.found is None:
                assert kept.reason is not None
                raise kept.reason
            seconds = time.perf_counter() - began
            result = _scored(points, knowns, kept.codes, (inter, intra), kept.chance)
            same = [name for name, apart in result["dissimilarity"].items() if apart == 0]
            notes = [*points.notes, *kept.found.notes, *kept.notes, *about.pop("notes", ())]
            notes += [f"these are the labels of {same[0]!r}: no alternative was found"] if same else []
            facts: Record = {"status": kept.found.status, "gap": kept.found.gap, "seconds": seconds, **about}
            results.append(Alternative(labels=kept.codes, method=kept.method, **result, **facts, notes=tuple(notes)))
            knowns = {**knowns, unused_name(f"alternative {i + 1}", knowns): kept.codes}
    return Alternatives(results, points.numbers, given, is_last)


@dataclass(frozen=True, eq=False)
class _Tried:
    """The result of one method, or why it failed."""

    method: str
    #: stream for the scores of shuffled labels
    chance: np.random.SeedSequence
    found: Found | None = None
    codes: Array = field(default_factory=lambda: np.empty(0, np.int64))
    notes: tuple[str, ...] = ()
    reason: InputError | None = None


def _methods(
    method: str, points: Points, options: Mapping[str, OptionValue]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The methods to run, and those that "auto" skips, with the reason."""
    if method != "auto":
        return (method,), ()
    if options:
        owners = [name for name in METHODS if set(options) <= set(METHODS[name].options)]
        named = f"; {joined(map(repr, owners))} {'has' if len(owners) == 1 else 'have'} it" if owners else ""
        raise InputError(f"method 'auto' has no option {next(iter(options))!r}; it has no options{named}")
    able = AUTO_NOMINAL if points.nominal else AUTO
    chosen, left_out = [], []
    for name in able:
        most = min(METHODS[name].most, AUTO_PAIRS) if METHODS[name].why == _SQUARE else METHODS[name].most
        if points.n > most:
            left_out.append(f"{name} (tried up to {most:,} points)")
        else:
            chosen.append(name)
    if not chosen:
        raise InputError(f"method 'auto' tries {', '.join(able)}, but none takes {points.n:,} points; use a sample")
    return tuple(chosen), tuple(left_out)


def _tried(
    method: str, task: Task, stream: np.random.SeedSequence, runs: int, least: int | None,
    options: Mapping[str, OptionValue], left: Residuals | None,
) -> _Tried:  # fmt: skip
    """The result of one method; with "auto" it has the same random streams as alone, and is refined in the residuals."""
    record, points, k = METHODS[method], task.points, task.k
    if "min_size" in record.options:
        if least is None and method == "maximus":
            least = min(max(2, points.n // (3 * k)), points.n // k)
        options = {**options, "min_size": least or 0}
    *streams, chance = np.random.SeedSequence(stream.entropy, spawn_key=stream.spawn_key).spawn(runs + 1)
    try:
        found = record.find(replace(task, streams=streams), **options)
    except InputError as reason:
        return _Tried(method, chance, reason=reason)
    if left is not None and method != "refined":
        found = replace(found, labels=left.refined(found.labels, k))
    codes, notes = _tidy(points, found, k, least)
    return _Tried(method, chance, found, codes, tuple(notes))


def _kept(tried: Sequence[_Tried], left: Residuals, left_out: Sequence[str]) -> tuple[_Tried, Record]:
    """The result with the largest merit, with all merits and a note on methods that did not run; the first if none ran."""
    there = [t for t in tried if t.found is not None]
    if not there:
        return tried[0], {}
    rng = np.random.default_rng(there[0].chance)
    found = left.merits([t.codes for t in there], rng)
    order = np.argsort(-np.array(found), kind="stable").tolist()
    reasons = [*left_out, *(f"{t.method} ({t.reason})" for t in tried if t.found is None)]
    notes = (f"auto skipped {'; '.join(reasons)}",) if reasons else ()
    return there[order[0]], {"tried": {there[i].method: found[i] for i in order}, "notes": notes}


def _check(
    method: str,
    points: Points,
    knowns: Mapping[str, Array],
    k: object,
    many: int | str,
    options: Mapping[str, OptionValue],
    least: int | None,
) -> None:
    """Validate a method and its options for these data, before anything starts."""
    if method not in METHODS:
        raise InputError(
            f"there is no method {method!r}; "
            + hint(str(method), ("auto", *METHODS), f"there are: {joined(('auto', *METHODS))}")
        )
    record = METHODS[method]
    own = [name for name in record.options if name != "min_size"]
    for name in options:
        if name not in own:
            there = f"it has {joined(own)}" if own else "it has no options"
            raise InputError(f"method {method!r} has no option {name!r}; {hint(name, own, there)}")
        _check_option(name, options[name], record.options[name])
    if not isinstance(k, int | np.integer) or not 2 <= k <= points.n // 2:
        raise InputError(
            f"{Option('n_clusters')} must be from 2 to half the number of points ({points.n // 2}), not {k!r}"
        )
    if isinstance(many, str) and many != "all":
        raise InputError(f"{Option('n_alternatives')} must be a whole number of at least 1 or 'all', not {many!r}")
    several = 1 if isinstance(many, str) else many
    _check_option("n_alternatives", several, 1)
    if least is not None and not (isinstance(least, int | np.integer) and 0 <= least <= points.n // k):
        raise InputError(
            f"{Option('min_size')} must be from 0 to {points.n // k} ({points.n} points in {k} clusters), not {least}"
        )
    if points.n > record.most:
        able = [name for name in METHODS if METHODS[name].most >= points.n]
        raise InputError(
            f"method {method!r} takes at most {record.most:,} points ({record.why}), but there are {points.n:,}; use "
            + (joined(able, "or") if able else "a sample of the points")
        )
    if points.nominal and not record.nominal:
        able = [name for name in METHODS if METHODS[name].nominal]
        raise InputError(
            f"method {method!r} needs numbers, but {points.nominal[0]!r} is nominal; encode it, leave it out, or use "
            + joined(able, "or")
        )
    clusters = sum(int(codes.max()) + 1 for codes in knowns.values()) + (several - 1) * k
    if method == "maximus" and k * clusters > MOST_PRICES and options.get("solver", "dual") == "dual":
        raise InputError(
            f"{k} clusters against {clusters} known ones make {k * clusters:,} rows, more than the {MOST_PRICES:,} that "
            "maximus can price; use fewer clusters, or mincentropy or condens"
        )


def _check_option(name: str, value: object, default: object) -> None:
    """Raise unless the value has the type of the default: a bool, a whole number or a number. Methods check text."""
    is_bool = isinstance(value, bool | np.bool_)
    if isinstance(default, bool):
        right, what = is_bool, "true or false"
    elif isinstance(default, int):
        right = isinstance(value, int | np.integer) and not is_bool and bool(value >= 1)
        what = "a whole number of at least 1"
    elif default is None or isinstance(default, float):
        right = isinstance(value, int | float | np.number) and not is_bool and bool(0 <= value < math.inf)
        right, what = right or (value is None and default is None), "a number of at least 0"
    else:
        return
    if not right:
        raise InputError(f"{name} must be {what}, not {value!r}")


def _tidy(points: Points, found: Found, k: int, least: int | None) -> tuple[Array, list[str]]:
    """Labels 0 … without empty clusters, with the minimum size enforced, and notes on changes."""
    codes, notes = found.labels, []
    if points.n > ALL_PAIRS:
        notes.append(f"silhouettes were computed on {SOME:,} random points")
    if least:
        codes, moved = _filled(points.numbers, codes, k, least)
        notes += [f"{moved} points were moved so that no cluster has fewer than {least}"] if moved else []
    sizes = np.bincount(codes, minlength=k)
    if (sizes == 0).any():
        notes.append(f"{int((sizes == 0).sum())} of the {k} clusters are empty; pass min_size to fill them")
    tiny = max(2, points.n // (20 * k))
    if least is None and ((sizes > 0) & (sizes < tiny)).any():
        notes.append(f"a cluster has fewer than {tiny} points, which can make the Dunn index look good; pass min_size")
    return np.unique(codes, return_inverse=True)[1].astype(np.int64), notes


def _filled(X: Array, codes: Array, k: int, least: int) -> tuple[Array, int]:
    """The labels after moving points, at the smallest loss, to clusters that are too small, and the number moved."""
    from scipy.spatial.distance import cdist

    codes, moved = codes.copy(), 0
    sizes = np.bincount(codes, minlength=k)
    while sizes.min() < least:
        small = int(sizes.argmin())
        centres = centroids(X, codes, k)
        own = np.square(X - centres[codes]).sum(axis=1)
        loose = np.flatnonzero(sizes[codes] > least)
        if sizes[small] == 0:  # starts from the point that fits worst
            chosen = loose[own[loose].argmax()][None]
        else:  # one at a time, or a twentieth of the missing points, so that about a hundred rounds are enough
            loss = cdist(X[loose], centres[[small]], "sqeuclidean")[:, 0] - own[loose]
            chosen = loose[np.argsort(loss, kind="stable")[: max(1, (least - sizes[small]) // 20)]]
        for x in chosen:
            if sizes[codes[x]] > least:
                sizes[codes[x]] -= 1
                sizes[small] += 1
                codes[x], moved = small, moved + 1
    return codes, moved


def _scored(
    points: Points,
    knowns: Mapping[str, Array],
    codes: Array,
    which: tuple[int, int],
    chance: np.random.SeedSequence,
) -> Record:
    """The scores of the labels, and the mean scores of the labels shuffled."""
    rng = np.random.default_rng(chance)
    labellings = [codes, *(rng.permutation(codes) for _ in range(SHUFFLES))]
    X, k = points.numbers, int(codes.max()) + 1
    some = np.arange(points.n) if points.n <= ALL_PAIRS else np.sort(rng.choice(points.n, SOME, replace=False))
    seen = [np.unique(labels[some], return_inverse=True)[1] for labels in labellings]
    smooth = silhouettes(X[some], seen)
    profiles = {name: points.profile(known) for name, known in knowns.items()}
    totals = points.profile(np.zeros(points.n, dtype=np.int64))[0]
    rows = []
    for labels, silhouette in zip(labellings, smooth, strict=True):
        own = points.profile(labels, k)
        sims = {name: similarity(profile @ own.T) for name, profile in profiles.items()}
        norms = {name: max(np.square(p).sum(), np.square(own).sum()) for name, p in profiles.items()}
        apart = {name: dissimilarity(known, labels) for name, known in knowns.items()}
        gdi = dunn_index(X, labels, *which) if k > 1 else math.nan
        rows.append(
            {
                "adco": {name: float(sims[name] / norms[name]) for name in knowns},
                "optimality": {name: sims[name] / least_similarity(profiles[name] @ totals, k) for name in knowns},
                "dissimilarity": apart,
                "gdi": gdi,
                "dq": dq(float(np.mean(list(apart.values()))), gdi) if k > 1 else math.nan,
                "silhouette": silhouette,
            }
        )
    flat = [
        {key: np.mean(list(v.values())) if isinstance(v, dict) else v for key, v in row.items()} for row in rows[1:]
    ]
    return {**rows[0], "random": {key: float(np.mean([row[key] for row in flat])) for key in SCORES}}
