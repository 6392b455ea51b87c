"""Finding alternatives: one method after the other known clusterings, each result with its scores and those of chance."""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from congruence.alternative_clustering.adft import adft
from congruence.alternative_clustering.cib import cib
from congruence.alternative_clustering.coala import coala
from congruence.alternative_clustering.condens import condens
from congruence.alternative_clustering.maximus import maximus
from congruence.alternative_clustering.metaclusters import metaclusters
from congruence.alternative_clustering.mincentropy import mincentropy
from congruence.alternative_clustering.orthogonal import orthogonal
from congruence.alternative_clustering.points import Points, as_knowns, as_points, binned
from congruence.alternative_clustering.program import least_similarity, similarity
from congruence.alternative_clustering.published import maximus_published
from congruence.alternative_clustering.quality import centroids, check_index, dissimilarity, dq, dunn_index, silhouettes
from congruence.alternative_clustering.restarts import Found
from congruence.comparison.presenting import Result, figure_of, number, plain
from congruence.density.binning import Binning
from congruence.engine.plan import Progress
from congruence.errors import InputError, hint, joined, misnamed
from congruence.formulas.record import Status
from congruence.inputs.arrays import seed_sequence
from congruence.inputs.frames import html_grid, text_grid
from congruence.statistics.tables import Array

#: shuffles of the labels that the scores of chance are the mean of
SHUFFLES = 5
#: points up to which silhouettes look at all pairs, and how many are looked at above
ALL_PAIRS, SOME = 20_000, 5_000


@dataclass(frozen=True)
class Method:
    """A way to find an alternative, and what it can take."""

    find: Callable[..., Found]
    title: str
    #: points that it can take, and why no more
    most: int
    why: str
    nominal: bool = True
    #: random restarts unless `n_init` says otherwise
    n_init: int = 10
    #: "historical" if it is kept only to reproduce a paper: messages do not suggest it
    status: Status = Status.CURRENT

    @property
    def options(self) -> dict[str, Any]:
        """Its own options, and what they are if not said."""
        kinds = inspect.signature(self.find).parameters.values()
        return {p.name: p.default for p in kinds if p.kind is p.KEYWORD_ONLY}


_SQUARE = "it holds all pairs of points in memory"
METHODS = {
    "maximus": Method(maximus, "k-means within caps on the similarity", 500_000, "each program visits all points"),
    "maximus_published": Method(
        maximus_published,
        "integer program, k-means in bins, vote",
        100_000,
        "each bin is clustered on its own",
        n_init=1,
        status=Status.HISTORICAL,
    ),
    "coala": Method(coala, "average linkage with cannot-links", 10_000, _SQUARE, n_init=1),
    "cib": Method(cib, "conditional information bottleneck", 100_000, "it visits points one at a time", n_init=5),
    "condens": Method(condens, "conditional ensemble", 1_000_000, "k-means visits all points"),
    "metaclusters": Method(metaclusters, "meta clustering", 1_000_000, "k-means visits all points", n_init=60),
    "mincentropy": Method(mincentropy, "minimum conditional entropy", 10_000, _SQUARE),
    "orthogonal": Method(orthogonal, "k-means orthogonal to the given centroids", 1_000_000, "k-means", nominal=False),
    "adft": Method(adft, "k-means after a map that hides the given", 1_000_000, "k-means", nominal=False),
}
#: the methods for use; the others are kept only to reproduce a paper
CURRENT = tuple(name for name, method in METHODS.items() if method.status is Status.CURRENT)
#: prices that the dual of MAXIMUS may have: clusters × all known clusters; the time of an alternative grows with about their cube
MOST_PRICES = 600


@dataclass(frozen=True, eq=False, kw_only=True)
class Alternative(Result):
    """An alternative clustering: labels, scores, the same scores of shuffled labels, and how it was found.

    Attributes:
        labels: Cluster of each point.
        method: The method.
        adco: ADCO with each known clustering.
        optimality: The same as a multiple of the smallest possible.
        dissimilarity: 1 − Jaccard with each known clustering.
        gdi: Generalised Dunn index; NaN for one cluster.
        dq: Harmonic mean of dissimilarity and Dunn index.
        silhouette: Mean silhouette.
        random: The same scores of shuffled labels, mean of five.
        status: Solver status.
        gap: How far above the optimum, NaN if unknown.
        seconds: Time used.
        notes: What to know about the input or the search.

    >>> import congruence as cg
    >>> X = [[a, b] for a in (0.0, 5.0) for b in (0.0, 9.0) for _ in range(5)]
    >>> found = cg.alternatives(X, [i // 10 for i in range(20)], random_state=0)[0]
    >>> found.labels.tolist() in ([0] * 5 + [1] * 5 + [0] * 5 + [1] * 5, [1] * 5 + [0] * 5 + [1] * 5 + [0] * 5)
    True
    >>> round(found.scores["dissimilarity"], 4), found.sizes
    (0.7143, (10, 10))
    """

    labels: Array = field(repr=False)
    method: str
    #: for each known clustering: ADCO, similarity as a multiple of the least possible, 1 − Jaccard
    adco: dict[str, float]
    optimality: dict[str, float]
    dissimilarity: dict[str, float]
    #: the generalised Dunn index, DQ, the mean silhouette; NaN where there is one cluster
    gdi: float
    dq: float
    silhouette: float
    #: the same scores of labels shuffled over the points: mean of five
    random: dict[str, float]
    #: the solver's or method's own word, and how far above the optimum of its last program; NaN where not known
    status: str
    gap: float
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[int, ...]:
        """Points in each cluster."""
        return tuple(np.bincount(self.labels).tolist())

    @property
    def n_clusters(self) -> int:
        """Number of clusters that have points."""
        return len(self.sizes)

    @property
    def scores(self) -> dict[str, float]:
        """One number a score; of those for each known clustering the mean."""
        return {
            "adco": float(np.mean(list(self.adco.values()))),
            "optimality": float(np.mean(list(self.optimality.values()))),
            "dissimilarity": float(np.mean(list(self.dissimilarity.values()))),
            "gdi": self.gdi,
            "dq": self.dq,
            "silhouette": self.silhouette,
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the labels, as plain values."""
        about = {
            "method": self.method, "sizes": self.sizes, "adco": self.adco, "optimality": self.optimality,
            "dissimilarity": self.dissimilarity, "gdi": self.gdi, "dq": self.dq, "silhouette": self.silhouette,
            "random labels": self.random, "status": self.status, "gap": self.gap, "seconds": self.seconds,
            "notes": self.notes,
        }  # fmt: skip
        found: dict[str, Any] = plain(about)
        return found

    def facts(self) -> dict[str, Any]:
        """Everything, with the labels."""
        return {**self.to_dict(), "labels": self.labels}

    def table_columns(self) -> dict[str, Any]:
        """One row per score: its value, and that of shuffled labels."""
        values, random = list(self.scores.values()), [self.random[key] for key in _SCORES]
        return {"score": list(_SCORES), "value": values, "random": random}

    def _grid(self) -> tuple[list[list[str]], list[str], list[str]]:
        cells = [[number(self.scores[key]), number(self.random[key]), words] for key, words in _SCORES.items()]
        return cells, list(_SCORES), ["value", "random", ""]

    def _headline(self) -> str:
        return f"alternative by {self.method}: {self.n_clusters} clusters of {', '.join(map(str, self.sizes))} points"

    def __repr__(self) -> str:
        cells, rows, columns = self._grid()
        lines = text_grid([line[:-1] for line in cells], rows, columns[:-1]).split("\n")
        shown = [lines[0], *(f"{line}  {cell[-1]}" for line, cell in zip(lines[1:], cells, strict=True))]
        gap = "" if math.isnan(self.gap) else f", gap {self.gap:.2%}"
        return "\n".join(
            [self._headline(), *shown, f"{self.status}{gap}, {self.seconds:.2f} s", *map("! {}".format, self.notes)]
        )

    def _repr_html_(self) -> str:
        return html_grid(*self._grid(), caption=f"{self._headline()}; {self.status}")


class Alternatives(list[Alternative]):
    """The alternatives found, in order: a list that knows the prepared data and the given clusterings, and `plot()`s."""

    def __init__(self, found: Iterable[Alternative], data: Array, given: Mapping[str, Array]) -> None:
        super().__init__(found)
        self.data, self.given = data, dict(given)

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self)) or "no alternatives"

    def plot(self, backend: Any = "plotly") -> Any:
        """A figure: the data in two dimensions, coloured by the given clusterings and by each alternative; see `cg.figure`."""
        return figure_of(self, backend)


_SCORES = {
    "adco": "similarity of density profiles (low is different)",
    "optimality": "the same by the least that any clustering can have (1 is the least)",
    "dissimilarity": "1 − Jaccard (high is different)",
    "gdi": "generalised Dunn index (high is good)",
    "dq": "harmonic mean of dissimilarity and gdi",
    "silhouette": "mean silhouette (high is good)",
}


@misnamed(k="n_clusters")
def alternatives(
    X: Any,
    labels: Any,
    n_clusters: int | None = None,
    n_alternatives: int = 1,
    method: str = "maximus",
    random_state: Any = None,
    *,
    min_size: int | None = None,
    scale: bool = True,
    binning: Any = "width",
    bins: int = 10,
    nominal: Any = (),
    n_init: int | None = None,
    inter: int = 4,
    intra: int = 3,
    progress: Callable[[int, int], Any] | bool | None = None,
    **options: Any,
) -> Alternatives:
    """Other clusterings of X, each good and different from the given labels and from those found before.

    Scores are of the data as prepared: compare `dq` and the others with those of `random` labels. The same
    `random_state` gives the same labels.

    Args:
        X: The data, points × attributes: an array or a frame.
        labels: The given clustering, or several: label columns, a mapping, or a list of label vectors.
        n_clusters: Number of clusters. Default None: as many as the first given clustering has.
        n_alternatives: Number of alternatives, each different from those before. Default 1.
        method: "maximus" (default; options epsilon=0.05, sample, finalists, solver), "coala" (omega=0.6), "cib"
            (passes=5), "condens", "metaclusters" (groups), "mincentropy" (weight, sigma), "orthogonal", "adft";
            historical: "maximus_published". "orthogonal" and "adft" need numbers; the others take nominal attributes
            too.
        random_state: Seed, `numpy.random.Generator` or `SeedSequence`. Default None: different at every call.
        min_size: Smallest number of points of a cluster. Default None: max(2, n/(3k)) for maximus, none for the
            others.
        scale: Whether to standardise numeric attributes. Default True.
        binning: How attributes are cut for profiles: "width" (default), "frequency", "mdl", or a `Binning`.
        bins: Number of bins of a numeric attribute. Default 10.
        nominal: Names of attributes that are nominal although they are numbers. Default: none.
        n_init: Number of random starts. Default None: what the method uses.
        inter: Distance between clusters in the Dunn index; see `cg.dunn`. Default 4.
        intra: Extent of a cluster in the Dunn index; see `cg.dunn`. Default 3.
        progress: Function of (done, total), True for a progress bar, or False for none. Default None: a bar on a
            terminal.
        options: Options of the method.

    Returns:
        A list of `Alternative`, with `.to_frame()` and `.plot()`.

    Raises:
        InputError: If an argument is not what is described here, or a method cannot take the data.

    See also:
        `cg.AlternativeClustering`, `cg.dissimilarity_quality`.

    >>> import congruence as cg
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> colour, shape = rng.integers(0, 3, 150), rng.integers(0, 3, 150)
    >>> X = np.hstack([5 * np.eye(3)[colour], 4 * np.eye(3)[shape]]) + rng.normal(size=(150, 6))
    >>> found = cg.alternatives(X, colour, random_state=0)[0]
    >>> bool(cg.ari(found.labels, shape) > 0.9), found.n_clusters
    (True, 3)
    """
    check_index(inter, intra)
    named = [nominal] if isinstance(nominal, str) else list(nominal)
    points = as_points(X, scale, [*named, *(binning.nominal_names if isinstance(binning, Binning) else [])])
    knowns = as_knowns(labels, points.n, X)
    given, first = knowns, next(iter(knowns.values()))
    k = int(first.max()) + 1 if n_clusters is None else n_clusters
    record = _checked(method, points, knowns, k, n_alternatives, options, min_size)
    points = binned(points, binning, bins, first)
    if "min_size" in record.options:
        if min_size is None and method == "maximus":
            min_size = min(max(2, points.n // (3 * k)), points.n // k)
        options = {**options, "min_size": min_size or 0}
    runs = record.n_init if n_init is None or record.n_init == 1 else n_init
    _check_option("n_init", runs, 1)
    results: list[Alternative] = []
    import scipy.optimize  # noqa: F401  (with its threads of linear algebra, or the limit would not reach them)
    import sklearn.cluster  # noqa: F401
    from threadpoolctl import threadpool_limits

    with Progress(n_alternatives * runs, progress, "restarts") as bar, threadpool_limits(1):
        for i, stream in enumerate(seed_sequence(random_state).spawn(n_alternatives)):
            *streams, chance = stream.spawn(runs + 1)
            began = time.perf_counter()
            found = record.find(points, list(knowns.values()), k, streams, bar.add, **options)
            seconds = time.perf_counter() - began
            codes, notes = _tidy(points, found, k, min_size)
            result = _scored(points, knowns, codes, (inter, intra), chance)
            same = [name for name, apart in result["dissimilarity"].items() if apart == 0]
            notes += [f"these are the labels of {same[0]!r}: no alternative was found"] if same else []
            facts: dict[str, Any] = {"status": found.status, "gap": found.gap, "seconds": seconds}
            results.append(
                Alternative(labels=codes, method=method, **result, **facts, notes=(*points.notes, *found.notes, *notes))
            )
            name = f"alternative {i + 1}"
            while name in knowns:
                name += "′"
            knowns = {**knowns, name: codes}
    return Alternatives(results, points.numbers, given)


def _checked(
    method: str, points: Points, knowns: Mapping[str, Array], k: Any, many: int, options: Mapping[str, Any], least: Any
) -> Method:
    """The method, after a look whether it can take these data: said before anything starts."""
    if method not in METHODS:
        raise InputError(
            f"there is no method {method!r}; {hint(str(method), METHODS, 'there are: ' + joined(CURRENT))}"
        )
    record = METHODS[method]
    own = [name for name in record.options if name != "min_size"]
    for name in options:
        if name not in own:
            there = f"it has {', '.join(own)}" if own else "it has none of its own"
            raise InputError(f"method {method!r} has no option {name!r}; {hint(name, own, there)}")
        _check_option(name, options[name], record.options[name])
    if not isinstance(k, int | np.integer) or not 2 <= k <= points.n // 2:
        raise InputError(f"n_clusters must be from 2 to half the number of points ({points.n // 2}), not {k!r}")
    _check_option("n_alternatives", many, 1)
    if least is not None and not (isinstance(least, int | np.integer) and 0 <= least <= points.n // k):
        raise InputError(f"min_size must be from 0 to {points.n // k} ({points.n} points in {k} clusters), not {least}")
    if points.n > record.most:
        able = [name for name in CURRENT if METHODS[name].most >= points.n]
        raise InputError(
            f"method {method!r} takes at most {record.most:,} points ({record.why}), and there are {points.n:,}; take "
            + (joined(able, "or") if able else "a sample of the points")
        )
    if points.nominal and not record.nominal:
        able = [name for name in CURRENT if METHODS[name].nominal]
        raise InputError(
            f"method {method!r} needs numbers, and {points.nominal[0]!r} is nominal; encode it, leave it out, or take "
            + joined(able, "or")
        )
    clusters = sum(int(codes.max()) + 1 for codes in knowns.values()) + (many - 1) * k
    if method == "maximus" and k * clusters > MOST_PRICES and options.get("solver", "dual") == "dual":
        raise InputError(
            f"{k} clusters against {clusters} known ones are {k * clusters:,} rows, more than the {MOST_PRICES:,} that "
            "maximus can price; ask for fewer clusters, or take mincentropy or condens"
        )
    return record


def _check_option(name: str, value: Any, default: Any) -> None:
    """Is it of the kind of the default: yes or no, a whole number, a number? Words are looked at by the methods."""
    right: Any
    is_bool = isinstance(value, bool | np.bool_)
    if isinstance(default, bool):
        right, what = is_bool, "true or false"
    elif isinstance(default, int):
        right, what = isinstance(value, int | np.integer) and not is_bool and value >= 1, "a whole number of at least 1"
    elif default is None or isinstance(default, float):
        right = isinstance(value, int | float | np.number) and not is_bool and 0 <= value < math.inf
        right, what = right or (value is None and default is None), "a number of at least 0"
    else:
        return
    if not right:
        raise InputError(f"{name} must be {what}, not {value!r}")


def _tidy(points: Points, found: Found, k: int, least: int | None) -> tuple[Array, list[str]]:
    """Labels 0 … without empty clusters, the wanted size kept, and notes on what had to be done or is missing."""
    codes, notes = found.labels, []
    if points.n > ALL_PAIRS:
        notes.append(f"silhouettes are of {SOME:,} random points")
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
    """The labels after moving to each cluster that is too small the points that lose least by it; how many moved."""
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
        else:  # one at a time, or a twentieth of what is missing, so that some hundred rounds are enough
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
) -> dict[str, Any]:
    """The scores of the labels, and the mean scores of the labels shuffled."""
    rng = np.random.default_rng(chance)
    labellings = [codes, *(rng.permutation(codes) for _ in range(SHUFFLES))]
    X, k = points.numbers, int(codes.max()) + 1
    some = np.arange(points.n) if points.n <= ALL_PAIRS else np.sort(rng.choice(points.n, SOME, replace=False))
    seen = [np.unique(labels[some], return_inverse=True)[1] for labels in labellings]
    smooth = silhouettes(X[some], seen)
    profiles = {name: points.profile(known, int(known.max()) + 1) for name, known in knowns.items()}
    totals = points.profile(np.zeros(points.n, dtype=np.int64), 1)[0]
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
    return {**rows[0], "random": {key: float(np.mean([row[key] for row in flat])) for key in _SCORES}}
