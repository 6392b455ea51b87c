"""Which parameters of a clusterer to use: settings judged by clusters that are found again and separated from each other."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import product
from pathlib import Path

import numpy as np

from congruence.comparison.many import compare_all
from congruence.comparison.presenting import Result, verdict_text
from congruence.engine.plan import Progress, seed_sequence
from congruence.ensembles.generators import as_data, configured, hard, in_order
from congruence.ensembles.soft_generators import seed_of
from congruence.errors import MOST_RUNS, InputError, counted, joined, whole_number
from congruence.inputs.frames import make_frame
from congruence.options import described
from congruence.selection import kmeans
from congruence.selection.cluster_stability import matched
from congruence.selection.points import different_scales, names_of_columns
from congruence.statistics.tables import Array
from congruence.trust.clouds import gaussian
from congruence.trust.cluster_check import MOST_CLUSTERS, checked
from congruence.trust.compact import beyond_chance
from congruence.typing import Estimator, Frame, OptionValue, PathLike, PointsLike, ProgressLike, Record, Seed

#: share of the points in each repeat; less would change the meaning of parameters that count points
PART = 0.8
#: level of the tests of all settings together
ALPHA = 0.05
#: settings are equal to the best one from this share of its score, or from this adjusted Rand index with its labels
NEARLY, SAME = 0.97, 0.95
#: data sets without clusters on which the best setting is tried, and most settings
NULLS, MOST_SETTINGS = 5, 2_000
#: least stability of a setting without separated clusters, and of its worst cluster (stable, and not dissolved: Hennig 2007)
STABLE, WORST = 0.75, 0.5
#: columns of `scores` after the parameters
MEASURED = ("n_clusters", "unassigned", "stability", "worst", "separated", "score")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Sweep(Result):
    """Settings of a clusterer, each with its clusters, their stability and their separation.

    Attributes:
        settings: Parameters of each setting.
        rows: What was measured for each.
        found: Labels of all points for each, −1 for none.
        agreement: Mean adjusted Rand index of each with the settings one step away in one parameter; NaN without one.
        null: Largest score of the best setting on data without clusters.
        beyond: How far the silhouette of each stable setting is above that in data without clusters, NaN if it is not clearly
            above; computed if no setting has separated clusters.
        notes: Notes on the settings.
        is_complete: False if it was interrupted before the last setting.

    >>> import congruence as cg
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> w = cg.sweep(X, KMeans(n_init=3), {"n_clusters": range(2, 6)}, n_repeats=3)
    >>> w.best, w.verdict, w.n_clusters
    ({'n_clusters': 3}, 'setting', 3)
    """

    _told = ("best verdict evidence equal sentence null notes is_complete", "scores")
    settings: tuple[Record, ...]
    rows: tuple[Record, ...] = field(repr=False)
    found: tuple[Array, ...] = field(repr=False)
    agreement: Array = field(repr=False)
    null: float
    beyond: Array = field(repr=False)
    notes: tuple[str, ...] = ()
    is_complete: bool = True

    @property
    def order(self) -> list[int]:
        """Positions of the settings, the best first: by score, or without separated clusters by `beyond`, then by agreement."""
        worth = self._worth
        return sorted(
            range(len(self.settings)), key=lambda i: (-worth[i], -np.nan_to_num(self.agreement[i], nan=-1.0), i)
        )

    @property
    def evidence(self) -> str:
        """What is better than in data without clusters: "separated" (empty borders), "compact" (the silhouette) or ""."""
        if max((row["score"] for row in self.rows), default=0.0) > self.null:
            return "separated"
        return "" if np.isnan(self.beyond).all() else "compact"

    @property
    def _worth(self) -> Array:
        if self.evidence == "compact":
            return np.nan_to_num(self.beyond, nan=-1.0)
        return np.array([row["score"] for row in self.rows])

    @property
    def verdict(self) -> str:
        """One of: "setting" (one is best), "equal" (several are), "none" (no setting beats data without clusters)."""
        if not self.evidence:
            return "none"
        return "equal" if len(self._equal) > 1 else "setting"

    @property
    def best(self) -> Record | None:
        """The parameters to use; None if no setting beats data without clusters."""
        return None if self.verdict == "none" else dict(self.settings[self.order[0]])

    @property
    def _equal(self) -> list[int]:
        first, worth = self.order[0], self._worth
        close = [i for i in self.order if worth[i] >= NEARLY * worth[first]]
        return [i for i in close if i == first or _agree(self.found[first], self.found[i]) >= SAME]

    @property
    def equal(self) -> tuple[Record, ...]:
        """The settings that are as good as the best one and give nearly the same labels; the best one first."""
        return () if self.verdict == "none" else tuple(dict(self.settings[i]) for i in self._equal)

    @property
    def labels(self) -> Array:
        """The labels of all points with the best setting, −1 for none."""
        if self.verdict == "none":
            raise InputError("no setting beats data without clusters, so there are no labels; see .scores")
        return self.found[self.order[0]]

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters of the best setting."""
        return None if self.verdict == "none" else int(self.rows[self.order[0]]["n_clusters"])

    @property
    def scores(self) -> Frame:
        """One row per setting in the order of the grid: parameters, n_clusters, unassigned, stability, worst, separated, …"""
        return make_frame(self.table_columns())

    def table_columns(self) -> Record:
        """The columns of `scores`."""
        names = list(dict.fromkeys(name for setting in self.settings for name in setting))
        found: Record = {name: [setting.get(name) for setting in self.settings] for name in names}
        measured = {name: [row[name] for row in self.rows] for name in MEASURED}
        beyond = {} if np.isnan(self.beyond).all() else {"beyond": self.beyond}
        return {**found, **measured, **beyond, "agreement": self.agreement}

    @property
    def sentence(self) -> str:
        """Which setting to use, how good it is, and which others are as good."""
        if self.verdict == "none":
            most = max((row["score"] for row in self.rows), default=0.0)
            return (
                f"No setting can be recommended: none of {counted(len(self.settings), 'setting')} gives separated or stable "
                f"compact clusters that data without clusters do not give (best score {most:.2f}, without clusters "
                f"{self.null:.2f})."
            )
        row, beyond = self.rows[self.order[0]], self.beyond[self.order[0]]
        what = (
            f"{row['separated']:.0%} of the points in clusters separated from all others"
            if self.evidence == "separated"
            else f"not separated, but more compact than in data without clusters (silhouette {beyond:.2f} above)"
        )
        text = (
            f"Use {said_of(self.settings[self.order[0]])}: {counted(int(row['n_clusters']), 'cluster')}, {what}, stability "
            f"{row['stability']:.2f} (worst cluster {row['worst']:.2f})."
        )
        others = [said_of(self.settings[i]) for i in self._equal[1:]]
        if others:
            verb = "is" if len(others) == 1 else "are"
            text += f" {counted(len(others), 'other setting')} {verb} as good: {'; '.join(others[:3])}"
            text += f" and {len(others) - 3} more." if len(others) > 3 else "."
        return text

    def __repr__(self) -> str:
        marks = ["best" if self.verdict != "none" and i == self.order[0] else "" for i in range(len(self.settings))]
        return verdict_text(self.sentence, self.table_columns(), marks, self.notes, len(marks), decimals=3)


def said_of(setting: Mapping[str, object]) -> str:
    """A setting as text: min_cluster_size=5, eps=0.3."""
    return ", ".join(f"{name}={f'{x:.4g}' if isinstance(x, float) else x}" for name, x in setting.items())


@described
def sweep(
    X: PointsLike,
    clusterer: Estimator,
    grid: Mapping[str, Iterable[OptionValue]] | Sequence[Mapping[str, OptionValue]],
    *,
    n_repeats: int = 10,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    checkpoint: PathLike | None = None,
    progress: ProgressLike = None,
) -> Sweep:
    """Which parameters of a clusterer to use.

    Every setting clusters all points, and parts of 80% with other seeds. Its score is the information in its separated
    clusters, in bits (−p log₂ p, summed over the clusters that `cg.check_clusters` keeps, where p is the share of the points),
    times their mean stability, the Jaccard similarity with the best match in the parts. Stability alone favours few clusters,
    or many that any run finds.

    If no setting has separated clusters that data without clusters do not have, the stable ones (0.75 or more, the worst
    cluster 0.5) are compared with data without clusters by their silhouette, and the one that is farthest above is recommended.

    Args:
        X: Points × features.
        clusterer: A scikit-learn clusterer, as in KMeans(n_init=3), or a function `f(X, seed, **parameters)` that returns
            labels, −1 for noise.
        grid: Values by name of the parameter, of which all combinations are tried; or a list of settings.
        n_repeats: Parts per setting. Default 10.
        random_state, n_jobs: See `congruence.options`.
        checkpoint: File of finished settings, from which the same call continues. Default None.
        progress: Called with (done, total); None or True for a bar on a terminal, False for none.

    Returns:
        A `Sweep`: `.best` (a dict, or None if no setting beats data without clusters), `.verdict` ("setting", "equal", "none"),
        `.evidence` ("separated", "compact", ""), `.equal`, `.labels`, `.scores` (a frame, a row per setting), `.sentence`,
        `.plot()`. Ctrl-C keeps the finished settings, with `is_complete` False.

    Raises:
        InputError: If the grid is empty, a parameter does not exist, or the clusterer fails on all settings.

    See also:
        `cg.check_clusters`, `cg.choose_k`, `cg.stability`.

    >>> import congruence as cg
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.random.default_rng(0).normal(size=(300, 2)) + np.repeat([[0, 0], [9, 0], [0, 9]], 100, axis=0)
    >>> print(cg.sweep(X, KMeans(n_init=3), {"n_clusters": range(2, 6)}, n_repeats=3).sentence)  # doctest: +NORMALIZE_WHITESPACE
    Use n_clusters=3: 3 clusters, 100% of the points in clusters separated from all others, stability 1.00 (worst cluster
    1.00).
    """
    data = as_data(X)
    data = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=np.float64)
    if len(data) < 10:
        raise InputError(f"a sweep clusters parts of the points and needs at least 10; there are {len(data)}")
    n_repeats = whole_number(n_repeats, "n_repeats", 1, MOST_RUNS)
    settings = settings_of(grid)
    fit = _fit_of(clusterer, settings[0])
    first, last = seed_sequence(random_state).spawn(2)
    level = ALPHA / len(settings)
    jobs = [partial(_measured, fit, data, setting, n_repeats, level, stream)
            for setting, stream in zip(settings, first.spawn(len(settings)), strict=True)]  # fmt: skip
    kept = _Kept(checkpoint, data, n_repeats, [said_of(s) for s in settings], str(first.entropy))
    left = [i for i in range(len(settings)) if i not in kept.done]
    is_complete = True
    with Progress(len(settings), progress, "settings") as bar:
        bar.add(len(kept.done))
        try:
            for i, outcome in zip(left, in_order([jobs[i] for i in left], n_jobs), strict=True):
                kept.add(i, outcome)
                bar.add(1)
        except KeyboardInterrupt:
            is_complete = False
            if not kept.done:
                raise
    order = sorted(kept.done)
    rows = [kept.done[i] for i in order]
    failed = [row["error"] for row in rows if row["error"]]
    if len(failed) == len(rows):
        raise InputError(f"the clusterer failed with every setting: {failed[0]}")
    notes = [] if is_complete else [f"stopped after {len(rows)} of {counted(len(settings), 'setting')}"]
    notes = [*different_scales(names_of_columns(X, data.shape[1]), data.std(axis=0)), *notes]
    notes += [f"{counted(len(failed), 'setting')} failed: {failed[0]}"] if failed else []
    shown = [settings[i] for i in order]
    found = [np.asarray(row["labels"], dtype=np.int64) for row in rows]
    top = max(range(len(rows)), key=lambda i: rows[i]["score"])
    null = _null(fit, data, shown[top], level, last) if rows[top]["score"] > 0 else 0.0
    beyond = np.full(len(rows), np.nan)
    if rows[top]["score"] <= null and is_complete:
        stable = [i for i, row in enumerate(rows)
                  if row["stability"] >= STABLE and row["worst"] >= WORST and row["n_clusters"] > 1]  # fmt: skip
        compact = [partial(beyond_chance, data, found[i], partial(_again, fit, shown[i]), stream)
                   for i, stream in zip(stable, last.spawn(len(stable)), strict=True)]  # fmt: skip
        with Progress(len(stable), progress, "settings on data without clusters") as bar:
            try:
                for i, value in zip(stable, in_order(compact, n_jobs), strict=True):
                    beyond[i] = value
                    bar.add(1)
            except KeyboardInterrupt:
                is_complete = False
                notes.append("stopped before all settings were tried on data without clusters")
    return Sweep(
        settings=tuple(shown), rows=tuple({name: row[name] for name in MEASURED} for row in rows), found=tuple(found),
        agreement=_with_neighbours(shown, found), null=null, beyond=beyond, notes=tuple(notes), is_complete=is_complete,
    )  # fmt: skip


def settings_of(grid: Mapping[str, Iterable[OptionValue]] | Sequence[Mapping[str, OptionValue]]) -> list[Record]:
    """All combinations of a grid, or the settings of a list.

    >>> settings_of({"eps": [0.1, 0.2], "min_samples": [5]})
    [{'eps': 0.1, 'min_samples': 5}, {'eps': 0.2, 'min_samples': 5}]
    """
    expected = f"expected values by parameter, as in {{'eps': [0.1, 0.2]}}, or a list of settings; got {grid!r:.80}"
    if isinstance(grid, Mapping):
        values = {
            str(name): list(x) if isinstance(x, Iterable) and not isinstance(x, str) else [x]
            for name, x in grid.items()
        }
        found = [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())] if values else []
    elif isinstance(grid, Sequence) and not isinstance(grid, str) and all(isinstance(x, Mapping) for x in grid):
        found = [dict(x) for x in grid]
    else:
        raise InputError(expected)
    if not found or not all(found):
        raise InputError(f"the grid has no settings; {expected}")
    if len(found) > MOST_SETTINGS:
        raise InputError(f"the grid has {len(found):,} settings; at most {MOST_SETTINGS:,} are tried")
    return [{name: x.item() if hasattr(x, "item") else x for name, x in setting.items()} for setting in found]


def _fit_of(clusterer: Estimator, setting: Record) -> partial[Array]:
    """A function of (data, setting, seed) that gives labels."""
    if hasattr(clusterer, "fit") and hasattr(clusterer, "get_params") and not isinstance(clusterer, type):
        unknown = [name for name in setting if name not in clusterer.get_params(deep=True)]
        if unknown:
            known = joined(sorted(clusterer.get_params(deep=False)))
            raise InputError(f"{type(clusterer).__name__} has no parameter {unknown[0]!r}; there are: {known}")
        return partial(_of_estimator, clusterer)
    if callable(clusterer) and not isinstance(clusterer, type):
        return partial(_of_function, clusterer)
    raise InputError(
        f"clusterer must be a scikit-learn clusterer, as in KMeans(), or a function f(X, seed, **parameters); got {clusterer!r}"
    )


def _of_estimator(clusterer: Estimator, data: Array, setting: Record, seed: int) -> Array:
    model: OptionValue = configured(clusterer, seed)
    return np.asarray(model.set_params(**setting).fit_predict(data))


def _of_function(clusterer: OptionValue, data: Array, setting: Record, seed: int) -> Array:
    return np.asarray(clusterer(data, seed, **setting))


def _labels(fit: partial[Array], data: Array, setting: Record, rng: np.random.Generator) -> Array:
    """Labels, −1 for noise; an InputError if the clusterer fails or gives something else."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = hard(fit(data, setting, seed_of(rng)))
        except (ValueError, TypeError) as error:
            raise InputError(f"{said_of(setting)}: {str(error).splitlines()[0]}") from None
    if made.shape != (len(data),):
        raise InputError(f"the clusterer must return a label per point; it returned an array of shape {made.shape}")
    codes = np.unique(made, return_inverse=True)[1].ravel()
    is_noise = made < 0 if made.dtype.kind in "if" else np.zeros(len(made), dtype=bool)
    return np.where(is_noise, -1, codes - (int(codes[is_noise].max()) + 1 if is_noise.any() else 0)).astype(np.int64)


def _again(fit: partial[Array], setting: Record, data: Array, rng: np.random.Generator) -> Array:
    """The labels of other data with the same setting."""
    return _labels(fit, data, setting, rng)


def _measured(
    fit: partial[Array], data: Array, setting: Record, n_repeats: int, level: float, stream: np.random.SeedSequence
) -> Record:
    """The row of one setting and its labels; a row of zeros and the reason if the clusterer fails."""
    rng = np.random.default_rng(stream)
    try:
        labels = _labels(fit, data, setting, rng)
        separated, information = _separated(data, labels, level, rng)
        jaccard = []
        for _ in range(n_repeats):
            part = np.sort(rng.choice(len(data), max(2, round(PART * len(data))), replace=False))
            again = _labels(fit, data[part], setting, rng)
            jaccard.append(matched(labels[part], again, np.arange(int(labels.max()) + 1))[0])
    except InputError as error:
        row = dict.fromkeys(MEASURED, 0.0) | {"n_clusters": 0, "unassigned": len(data)}
        return {**row, "labels": [-1] * len(data), "error": str(error)}
    sizes = np.bincount(labels[labels >= 0])
    found = np.nanmean(np.array(jaccard), axis=0) if len(sizes) else np.zeros(0)
    stability = float((found * sizes).sum() / sizes.sum()) if len(sizes) else 0.0
    return {
        "n_clusters": len(sizes), "unassigned": int((labels < 0).sum()), "stability": stability,
        "worst": float(found.min()) if len(sizes) else 0.0, "separated": separated, "score": information * stability,
        "labels": labels.tolist(), "error": "",
    }  # fmt: skip


def _separated(data: Array, labels: Array, level: float, rng: np.random.Generator) -> tuple[float, float]:
    """Share of the points in separated clusters, and the information in these clusters in bits.

    Noise joins the nearest cluster before borders are tested: without it, every border would be empty.
    """
    many = int(labels.max()) + 1
    if not 2 <= many <= MOST_CLUSTERS:
        return 0.0, 0.0
    placed, known, lost = labels.copy(), np.flatnonzero(labels >= 0), np.flatnonzero(labels < 0)
    for first in range(0, len(lost), 500):
        some = lost[first : first + 500]
        placed[some] = labels[known[kmeans.squares(data[known], data[some]).argmin(axis=1)]]
    check = checked(data, placed, alpha=level, random_state=seed_of(rng), refits=0)
    kept = [int(name) for name, verdict in zip(check.names, check.verdict, strict=True) if verdict == "keep"]
    share = np.bincount(labels[labels >= 0], minlength=many)[kept] / len(labels)
    share = share[share > 0]
    return float(share.sum()), float(np.abs(share * np.log2(share)).sum())


def _null(fit: partial[Array], data: Array, setting: Record, level: float, seeds: np.random.SeedSequence) -> float:
    """The largest information in separated clusters of the setting on Gaussian data with the covariance of these."""
    rng = np.random.default_rng(seeds)
    found = 0.0
    for _ in range(NULLS):
        cloud = gaussian(data, rng)
        try:
            labels = _labels(fit, cloud, setting, rng)
        except InputError:
            continue
        found = max(found, _separated(cloud, labels, level, rng)[1])
    return found


def _agree(a: Array, b: Array) -> float:
    """Adjusted Rand index of two clusterings; points without a cluster are alone."""
    return float(compare_all([_alone(a), _alone(b)], ["ari"], threads=1)["ari"][0, 1])


def _alone(labels: Array) -> Array:
    lost = labels < 0
    return np.where(lost, labels.max() + np.cumsum(lost), labels)


def _with_neighbours(settings: Sequence[Record], found: Sequence[Array]) -> Array:
    """Mean adjusted Rand index of each setting with those one step away in one parameter."""
    names = list(dict.fromkeys(name for setting in settings for name in setting))
    places = {name: list(dict.fromkeys(repr(s.get(name)) for s in settings)) for name in names}
    at = np.array([[places[name].index(repr(s.get(name))) for name in names] for s in settings])
    values = []
    for i in range(len(settings)):
        near = np.flatnonzero(np.abs(at - at[i]).sum(axis=1) == 1)
        values.append(
            float(np.mean([_agree(found[i], found[j]) for j in near.tolist()])) if len(near) else float("nan")
        )
    return np.array(values)


class _Kept:
    """Finished settings by their position, also in a file if there is one: a line that says of what, and one per setting."""

    def __init__(self, file: PathLike | None, data: Array, n_repeats: int, settings: Sequence[str], seed: str) -> None:
        self.file = None if file is None else Path(file)
        self.done: dict[int, Record] = {}
        self.settings = settings
        digest = blake2b(np.ascontiguousarray(data).tobytes(), digest_size=12).hexdigest()
        head = {"sweep": 1, "data": digest, "n_repeats": n_repeats, "seed": seed, "settings": len(settings)}
        if self.file is None:
            return
        if not self.file.exists():
            self.file.write_text(json.dumps(head) + "\n", encoding="utf-8")
            return
        try:
            whole = self.file.read_text(encoding="utf-8").rpartition("\n")[0]  # an incomplete last line is dropped
            first, *lines = map(json.loads, whole.splitlines())
        except (ValueError, OSError):
            raise InputError(f"{self.file} is not a checkpoint of a sweep; name another file") from None
        if first != head:
            raise InputError(
                f"{self.file} is the checkpoint of another sweep (other data, grid, n_repeats or random_state); name another file"
            )
        self.file.write_text(whole + "\n", encoding="utf-8")
        self.done = {x["position"]: x["row"] for x in lines if settings[x["position"]] == x["setting"]}

    def add(self, i: int, row: Record) -> None:
        """Keep a finished setting."""
        self.done[i] = row
        if self.file is not None:
            line = json.dumps({"position": i, "setting": self.settings[i], "row": row})
            with self.file.open("a", encoding="utf-8") as out:
                out.write(line + "\n")
