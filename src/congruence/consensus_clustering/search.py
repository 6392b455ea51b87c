"""The consensus of an ensemble: one clustering that stands for all, by one method or by the best of several."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from congruence.clustering import check_index
from congruence.comparison import compare, compare_to
from congruence.consensus_clustering import methods
from congruence.consensus_clustering.evidence import Evidence, evidence
from congruence.consensus_clustering.methods import METHODS, Found, Method
from congruence.engine.plan import Progress
from congruence.ensemble import Ensemble
from congruence.formulas import find as measure_of
from congruence.frames import make_frame, text_grid
from congruence.generators import as_data, seed_sequence
from congruence.results import counted, number, plain, shortened
from congruence.statistics import Array, InputError


@dataclass(frozen=True, eq=False)
class Consensus:
    """One clustering of the points, how sure it is of each, and how it was found.

    >>> import congruence as cg
    >>> r = cg.consensus([[0, 0, 1, 1, 2], [1, 1, 0, 0, 2], [0, 0, 0, 1, 2]], 3, method="average")
    >>> r.labels.tolist(), r.n_clusters, r.method
    ([0, 0, 1, 1, 2], 3, 'average')
    >>> r.confidence.round(2).tolist()
    [0.89, 0.89, 0.78, 1.0, 1.0]
    """

    #: cluster of each point, the largest first; −1: no member has the point
    labels: Array
    #: for each point and cluster the share of its votes, points × clusters; NaN where no member has the point
    memberships: Array = field(repr=False)
    n_clusters: int
    method: str
    solver: str
    #: what was approximated or stopped early, and other things to know
    notes: tuple[str, ...]
    seconds: float
    #: one row for each method tried: n_clusters, arimp, anmi, its own objective, seconds, solver
    tried: tuple[dict[str, Any], ...] = field(repr=False)
    index: Any = field(default=None, repr=False)
    kind: str | None = field(default=None, repr=False)

    @property
    def confidence(self) -> Array:
        """Share of each point's votes for its own cluster: how much of its cluster in each member went the same way."""
        rows = np.arange(len(self.labels))
        return np.where(self.labels >= 0, self.memberships[rows, np.maximum(self.labels, 0)], np.nan)

    @property
    def approximations(self) -> tuple[str, ...]:
        """The same as `notes`."""
        return self.notes

    def __getitem__(self, key: str) -> Any:
        """A score of the clustering kept: r["arimp"], r["anmi"], r["objective"]."""
        row = next(row for row in self.tried if row["method"] == self.method)
        if key not in row:
            raise KeyError(f"there is no score {key!r}; there are: {', '.join(row)}")
        return row[key]

    @property
    def scores(self) -> Any:
        """A frame with one row for each method tried, the best by arimp first."""
        return make_frame({name: [row[name] for row in self.tried] for name in self.tried[0]}, self.kind)

    def to_frame(self, backend: str | None = None) -> Any:
        """Columns cluster and confidence, one row a point; a pandas frame has the index of the ensemble."""
        frame = make_frame({"cluster": self.labels, "confidence": self.confidence}, backend or self.kind)
        if self.index is not None and type(frame).__module__.split(".")[0] == "pandas":
            frame.index = self.index
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Everything but the memberships, as plain Python values."""
        about = {"method": self.method, "n_clusters": self.n_clusters, "solver": self.solver, "seconds": self.seconds}
        points = {"labels": self.labels, "confidence": self.confidence}
        found: dict[str, Any] = plain({**about, "notes": self.notes, "scores": list(self.tried), **points})
        return found

    def __repr__(self) -> str:
        from textwrap import fill

        sizes = np.bincount(self.labels[self.labels >= 0], minlength=self.n_clusters).tolist()
        shown = ", ".join(f"{s:,}" for s in sizes[:8]) + (", …" if len(sizes) > 8 else "")
        found = f"{counted(self.n_clusters, 'cluster')} of {counted(len(self.labels), 'point')}"
        head = f"{self.method}: {found} ({shown}), mean confidence "
        known = self.confidence[self.labels >= 0]
        lines = [head + (f"{known.mean():.3f}" if len(known) else "undefined"), fill(f"by {self.solver}", 80), ""]
        cells = []
        for r in self.tried:
            what, _, better = r["objective"].rpartition(", ")
            own = f"{number(r['value'])}  {'↓' if better.startswith('lower') else '↑'} {what}"
            scores = [number(r["arimp"]), number(r["anmi"]), f"{r['seconds']:.2f}"]
            cells.append([str(r["n_clusters"]), *scores, shortened(own, 34)])
        names = [r["method"] for r in self.tried]
        grid = text_grid(cells, names, ["clusters", "arimp", "anmi", "seconds", "own objective"], left=True)
        notes = [fill(note, 80, initial_indent="! ", subsequent_indent="  ") for note in self.notes]
        return "\n".join([*lines, grid, *notes])


def consensus(
    ensemble: Any,
    n_clusters: int | None = None,
    method: str | Sequence[str] = "auto",
    random_state: Any = None,
    *,
    n_init: int = 10,
    variant: str | None = None,
    solver: str = "auto",
    balance: float = 0.05,
    unseen: str = "unassigned",
    X: Any = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> Consensus:
    """One clustering into n_clusters that stands for the members of an ensemble.

    `method`: "hbgf" (bipartite graph, spectral; `variant="metis"` cuts it), "ncut" (normalised cut), "kcc" (k-means on the
    votes), "kmodes", "voting" (iterated plurality), "cumulative" (cumulative voting), "mcla", "cspa", "hgpa" (Strehl and
    Ghosh), "average", "single", "complete" (linkage on the consensus matrix), a list of these, or "auto". Of several
    methods the clustering with the highest `arimp` is kept, and `scores` shows them all. n_clusters may be left out for
    linkage: then it is the number that lives longest.

    Members may be partial (`cg.Ensemble(…, unassigned="partial")`), weighted, soft. Points that no member has get −1, or,
    with `unseen="nearest"`, the cluster of the nearest point in the data X. The order of points and members and the names
    of clusters do not change the result, but for points that nothing tells apart. `solver` chooses the partitioner of
    graphs: "metis" (extra `metis`), "mtkahypar" (extra `hypergraph`), "builtin", or what there is; `balance` is how much
    larger than equal its blocks may be.

    >>> import congruence as cg
    >>> runs = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]]
    >>> cg.consensus(runs, 2, random_state=0).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    e = ensemble if isinstance(ensemble, Ensemble) else Ensemble(ensemble)
    chosen = [method] if isinstance(method, str) else list(method)
    if not chosen:
        raise InputError("no method was named; pass 'auto', or one of " + ", ".join(METHODS))
    records = [methods.find(name) for name in chosen if name != "auto"]
    _check(n_clusters, e.n_points, records, chosen)
    if unseen not in ("unassigned", "nearest"):
        raise InputError(f"unseen must be 'unassigned' or 'nearest', not {unseen!r}")
    if unseen == "nearest" and X is None:
        raise InputError("unseen='nearest' needs the data, X=…: no member says anything of points that it lacks")
    check_index(e, X, "X", "the ensemble")
    if not isinstance(n_init, int | np.integer) or n_init < 1:
        raise InputError(f"n_init is the number of random starts, at least 1; got {n_init}")
    votes = evidence(e)
    if not votes.mass.any():
        raise InputError("no member has any point that counts: there is nothing to find a consensus of")
    left_out: list[str] = []
    if "auto" in chosen:
        tried_by_auto = [m for m in map(methods.find, METHODS) if m.tried_up_to and m not in records]
        records += [m for m in tried_by_auto if m.is_cheap(votes)]
        left_out = [m.key for m in tried_by_auto if not m.is_cheap(votes)]
    weighing = votes.counted()
    if n_clusters != 1:
        for record in records:  # one that cannot says so before the first begins
            record.check(weighing[0])
    started = time.perf_counter()
    seeds = seed_sequence(random_state)
    options = {"n_init": n_init, "variant": variant, "solver": solver, "balance": balance}
    tried = []
    with Progress(len(records), progress, "methods") as bar:
        for record in records:
            # the stream of a method is its own: "auto" finds what the method alone would find
            place = list(METHODS).index(record.key)
            stream = np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, place))
            rng = np.random.default_rng(stream)
            tried.append(_tried(e, votes, weighing, record, n_clusters, rng, options))
            bar.add(1)
    tried.sort(key=lambda t: -t[0]["arimp"] if t[0]["arimp"] == t[0]["arimp"] else np.inf)
    row, found, labels = tried[0]
    k = int(labels.max()) + 1 if len(labels) else 0
    notes = [*e.notes, *votes.notes, *found.notes]
    if n_clusters is not None and k < n_clusters:
        notes.append(f"{n_clusters} clusters were asked for and {k} found: {_why(votes, n_clusters)}")
    if left_out:
        notes.append(f"auto left out what takes long here: {', '.join(left_out)}")
    if e.has_gaps:
        how = _gaps(e)["missing"]
        notes.append(f"some members lack some points: anmi counts each member's own, arimp as missing={how!r} does")
    everyone = np.where(votes.row >= 0, labels[votes.row], -1) if len(labels) else np.full(e.n_points, -1)
    memberships = np.where((votes.row >= 0)[:, None], shares(votes, labels, k)[votes.row], np.nan)
    nowhere = int((everyone < 0).sum())
    if nowhere and unseen == "nearest":
        everyone = _nearest(everyone, X, e.n_points)
        notes.append(f"{counted(nowhere, 'point')} that no member has got the cluster of the nearest point in X")
    elif nowhere:
        notes.append(f"in no member, and so without a cluster (label −1): {counted(nowhere, 'point')}")
    spent = time.perf_counter() - started
    return Consensus(
        everyone, memberships, k, row["method"], found.solver, tuple(dict.fromkeys(notes)), spent,
        tuple(t[0] for t in tried), e.index, e.kind,
    )  # fmt: skip


def _check(k: Any, n: int, records: Sequence[Method], chosen: Sequence[str]) -> None:
    if k is None:
        if records and all(METHODS[m.key] == "linkage" for m in records) and "auto" not in chosen:
            return
        raise InputError(
            "n_clusters is needed, but for average, single and complete linkage; `cg.choose_k` helps to choose it"
        )
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= n:
        raise InputError(f"n_clusters must be a whole number from 1 to the number of points ({n}), not {k!r}")


def _why(votes: Evidence, k: int) -> str:
    if votes.n_rows < k:
        return f"the members tell only {counted(votes.n_rows, 'kind')} of points apart"
    return "the others won no points"


def _tried(
    e: Ensemble, votes: Evidence, counted: tuple[Evidence, Array], record: Method, k: int | None,
    rng: np.random.Generator, options: dict[str, Any],
) -> tuple[dict[str, Any], Found, Array]:  # fmt: skip
    """One method: its row of scores, what it gave, and the clusters of the signatures, the largest first."""
    started = time.perf_counter()
    part, rows = counted  # what weighs nothing does not take part, and is placed by its votes
    if k is not None and (k == 1 or k >= part.n_rows):
        found = Found(np.arange(part.n_rows) if k > 1 else np.zeros(part.n_rows, np.int64), np.nan, "nothing to choose")
    else:
        found = record(part, k, rng, **options)  # type: ignore[arg-type]
    labels = np.full(votes.n_rows, -1)
    labels[rows] = found.labels
    labels = _by_size(votes, _completed(votes, labels))
    spent = time.perf_counter() - started
    everyone = np.where(votes.row >= 0, labels[votes.row], -1)
    arimp = compare(e, everyone, [measure_of("arimp", **_gaps(e))], noise=None)["arimp"]
    row = {
        "method": record.key, "n_clusters": int(labels.max()) + 1, "arimp": arimp, "anmi": _anmi(e, everyone),
        "value": found.objective, "objective": f"{record.objective}, {record.better} is better", "seconds": spent,
        "solver": found.solver,
    }  # fmt: skip
    return row, found, labels


def _gaps(e: Ensemble) -> dict[str, str]:
    """How arimp counts gaps: as the consensus functions do, each member on its points, where that is defined."""
    if not e.has_gaps:
        return {}
    weighted = e.mass is not None and not e.mass.is_frequency
    return {"missing": "ratio" if e.is_soft or weighted else "pooled"}


def _anmi(e: Ensemble, labels: Array) -> float:
    """Mean NMI with the members, each on its own points; one without any says nothing."""
    nmi = np.full(len(e), np.nan)
    for gaps in (False, True):
        those = [i for i, c in enumerate(e.members) if bool(c.gaps) is gaps and e.shares[i] > 0]
        if those:
            how: Any = {"unassigned": "drop"} if gaps else {}
            nmi[those] = compare_to(labels, e[those], ["nmi_sqrt"], **how)["nmi_sqrt"]
    known = ~np.isnan(nmi)
    return float(np.average(nmi[known], weights=e.shares[known])) if known.any() else float("nan")


def _completed(votes: Evidence, labels: Array) -> Array:
    """Signatures that a method could not place go where most of their votes go."""
    lost = labels < 0
    if not lost.any():
        return labels
    if lost.all():
        return np.zeros(len(labels), np.int64)
    placed = votes.taken(np.flatnonzero(~lost))
    k = int(labels.max()) + 1
    totals = placed.totals(labels[~lost], k)
    support = votes.taken(np.flatnonzero(lost)).scores((totals / np.maximum(votes.sizes, 1e-300)).T)
    labels = labels.copy()
    labels[lost] = support.argmax(axis=1)
    return labels


def _by_size(votes: Evidence, labels: Array) -> Array:
    """Clusters numbered from the largest; those of one size by their first point."""
    names, codes = np.unique(labels, return_inverse=True)
    mass = np.bincount(codes.ravel(), weights=votes.mass, minlength=len(names))
    here = np.flatnonzero(votes.row >= 0)[::-1]
    first = np.empty(len(names), np.int64)
    first[codes.ravel()[votes.row[here]]] = here  # the last to be written is the first point
    rank = np.empty(len(names), np.int64)
    rank[np.lexsort((first, -np.round(mass, 9)))] = np.arange(len(names))
    return np.asarray(rank[codes.ravel()])


def shares(votes: Evidence, labels: Array, k: int) -> Array:
    """For each signature and cluster the mean, over members, of the share of its cluster there that is in the cluster."""
    weight = votes.share[votes.member] * (votes.sizes > 0)
    towards = votes.totals(labels, k) / np.where(votes.sizes > 0, votes.sizes, 1.0) * weight
    said = votes.scores(weight)[:, None]  # nothing, for a point that weighs nothing and is with no other
    return np.asarray(np.divide(votes.scores(towards.T), said, out=np.full((votes.n_rows, k), np.nan), where=said > 0))


def _nearest(labels: Array, X: Any, n: int) -> Array:
    """Points without a cluster get that of the nearest point of the data that has one."""
    data = as_data(X)
    if data.shape[0] != n:
        raise InputError(f"X has {data.shape[0]} rows and the ensemble {n} points")
    from sklearn.neighbors import NearestNeighbors

    known = np.flatnonzero(labels >= 0)
    near = NearestNeighbors(n_neighbors=1).fit(data[known])
    lost = np.flatnonzero(labels < 0)
    labels = labels.copy()
    labels[lost] = labels[known[near.kneighbors(data[lost], return_distance=False)[:, 0]]]
    return labels
