"""The consensus of an ensemble: one clustering that represents all members, by one method or the best of several."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, cast, overload

import numpy as np

from congruence.consensus_clustering import method_names, methods
from congruence.consensus_clustering.evidence import Evidence, evidence
from congruence.consensus_clustering.judging import (
    by_size,
    common_errors,
    completed,
    confidence,
    counting_of_gaps,
    is_settled,
    near_trivial_members,
    pooled_ami,
    refined,
    rows_of_scores,
    said_of_members,
    shares,
    without_cluster,
)
from congruence.consensus_clustering.linkage import lifetime
from congruence.consensus_clustering.methods import Found, Method, why_so_many
from congruence.consensus_clustering.population import Everyone, of_labels
from congruence.consensus_clustering.results import Consensus
from congruence.engine.plan import Progress, seed_sequence
from congruence.errors import Call, Caution, InputError, Option, counted, joined, yes_or_no
from congruence.inputs.alignment import check_index
from congruence.inputs.coerce import is_scanned, lazy_frame
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.labels import Labels, in_memory
from congruence.options import described
from congruence.scanning.options import scan_options
from congruence.statistics.tables import Array
from congruence.typing import (
    Client,
    EnsembleLike,
    OptionValue,
    PathLike,
    PointsLike,
    ProgressLike,
    Record,
    Seed,
    Several,
)

if TYPE_CHECKING:
    from congruence import MethodName
    from congruence.consensus_clustering.placing import Placing
    from congruence.consensus_clustering.scanned import ConsensusFiles

#: tried by method="auto": they fail on different ensembles, and more candidates make the choice worse
AUTO = ("hbgf", "ncut", "average")
#: also tried if at least half of the members, all hard, have the requested number of clusters, so that clusters match
MATCHED = "voting"
#: correlation of errors below which the result of voting is kept, unless its pooled AMI is less than this share of the best
INDEPENDENT, NEARLY = 0.04, 0.9
#: tried instead of eigenvector methods above this many requested and total clusters, where those take minutes
MANY, MANY_CLUSTERS, MANY_COLUMNS = ("kcc", "voting"), 300, 4_000
#: above this many distinct points, method="auto" links a sample
SAMPLE_ABOVE = 8_000
#: most points that all take part in the search, the sample size above it, and the least number per requested cluster
ALL_UP_TO, SAMPLED, PER_CLUSTER = 100_000, 30_000, 200


@overload
def consensus(
    ensemble: EnsembleLike, n_clusters: int | None = ..., method: MethodName | Several[str] = ..., random_state: Seed = ..., *,
    refine: bool | None = ..., n_init: int = ..., variant: str | None = ..., solver: str = ..., balance: float = ...,
    unseen: str = ..., X: PointsLike = ..., out: None = ..., client: Client = ..., checkpoint: PathLike | None = ...,
    threads: int | None = ..., progress: ProgressLike = ...,
) -> Consensus: ...  # fmt: skip
@overload
def consensus(
    ensemble: EnsembleLike, n_clusters: int | None = ..., method: MethodName | Several[str] = ..., random_state: Seed = ..., *,
    refine: bool | None = ..., n_init: int = ..., variant: str | None = ..., solver: str = ..., balance: float = ...,
    unseen: str = ..., X: PointsLike = ..., out: PathLike, client: Client = ..., checkpoint: PathLike | None = ...,
    threads: int | None = ..., progress: ProgressLike = ...,
) -> ConsensusFiles: ...  # fmt: skip
@described
def consensus(
    ensemble: EnsembleLike,
    n_clusters: int | None = None,
    method: MethodName | Several[str] = "auto",
    random_state: Seed = 0,
    *,
    refine: bool | None = None,
    n_init: int = 10,
    variant: str | None = None,
    solver: str = "auto",
    balance: float = 0.05,
    unseen: str = "unassigned",
    X: PointsLike = None,
    out: PathLike | None = None,
    client: Client = None,
    checkpoint: PathLike | None = None,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Consensus | ConsensusFiles:
    """One clustering into n_clusters that agrees best with the members of an ensemble.

    The members may be partial (`cg.Ensemble(…, unassigned="partial")`), weighted or soft. The order of points and members
    and the names of clusters do not change the result, except for points that are indistinguishable. Above 100,000 points,
    methods that do not compare points run on a sample of 30,000, and all points are placed by the rule found there; "hbgf",
    "ncut", "mcla" and "lwgp", if named, read the tables of clusters of all points.

    Args:
        ensemble: An `Ensemble`, or input for one: a list of label vectors, label columns, a frame, a `cg.scan`.
        n_clusters: Number of clusters, from 1 to the number of points. Default None: the number that most members have, if
            more than half have the same, else the one with the longest dendrogram lifetime, at most that of the member with
            most clusters; the notes say which. Then no cluster has a single point: such points join the cluster with most of
            their votes.
        method: "auto" (default): "hbgf", "ncut" and "average", the one with the highest `pooled_ami` kept and refined;
            "voting" if members have n_clusters clusters each and err independently. Or one method, or a list of
            methods, of which the one with the highest `pooled_ami` is kept: "hbgf" (bipartite graph, spectral), "ncut"
            (normalised cut), "kcc" (k-means on the votes), "kmodes", "voting" (iterated plurality), "cumulative"
            (cumulative voting), "mcla", "cspa", "hgpa" (Strehl and Ghosh), "average", "single", "complete" (linkage on the
            consensus matrix), "lwea", "lwgp" (locally weighted), "kmeans_matrix" (on its rows), "em" (mixture of votes),
            "agglomerative", "balls" (Gionis et al.; both find the number of clusters).
        random_state: See `congruence.options`. Each method has its own stream.
        refine: Whether to improve the clustering kept by hard EM on the votes; no cluster is lost. Default None: True for
            "auto", else False.
        n_init: Number of random starts, at least 1. Default 10.
        variant: Variant of the method: "metis" for hbgf, "strehl" for mcla, "size" for hgpa, "sample" for average and lwea.
            Default None: the standard one.
        solver: Graph partitioner: "auto" (default), "metis" (extra `metis`), "mtkahypar" (extra `hypergraph`),
            "builtin".
        balance: Allowed imbalance of the blocks of a partitioner. Default 0.05.
        unseen: What to do with points in no member: "unassigned" (default: label −1) or "nearest" (the cluster of the
            nearest point in X).
        X: The data, for `unseen="nearest"`; one row per point.
        out: Folder for Parquet files with the cluster and confidence of each row of a scan, and the column that names the
            rows. It must be new or empty, unless `checkpoint` knows its files. Default None: labels are returned.
        client: Where scanned rows are read: a Dask client, the address of a scheduler, or any executor. Default None: here.
        checkpoint: Folder that records the files finished in `out`; a second run continues from there. Default None.
        threads, progress: See `congruence.options`.

    Returns:
        A `Consensus`: `.labels`, `.confidence`, `.n_clusters`, `.scores` (one row per method tried), `.notes`. With `out`, a
        `ConsensusFiles`: `.folder`, `.sizes`, `.n_clusters`, `.scores`, `.notes`.

    Raises:
        InputError: If an argument is invalid, or there are too many points for a method.

    See also:
        `cg.select_members`, `cg.ConsensusClustering`, `cg.choose_k`.

    >>> import congruence as cg
    >>> runs = [[0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]]
    >>> cg.consensus(runs, 2, random_state=0).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    refuse_idle(consensus, {**locals(), "taken": methods.options_of(method, variant)})
    started = time.perf_counter()
    scanning = {"client": client, "checkpoint": checkpoint}
    if lazy_frame(ensemble) is not None:  # the cluster of each row is wanted
        ensemble = in_memory(ensemble)
    given = scan_options(ensemble, scanning) if is_scanned(ensemble, scanning) else ensemble
    e = given if isinstance(given, Ensemble) else Ensemble(given)
    chosen = [method] if isinstance(method, str) else list(method)
    _check(n_clusters, e, chosen, unseen, X, n_init)
    request = Request(
        n_clusters, tuple(chosen), seed_sequence(random_state), refine,
        {"n_init": n_init, "variant": variant, "solver": solver, "balance": balance}, progress,
    )  # fmt: skip
    if e.is_lazy:
        from congruence.consensus_clustering.scanned import scanned_consensus

        if X is not None or unseen == "nearest":
            raise InputError(f"{Option('unseen', 'nearest')} and X need points in memory, not scanned columns")
        return scanned_consensus(scan_options(e, {"threads": threads, "progress": progress}), request, out)
    if out is not None:
        raise InputError(f"{Option('out')} needs scanned columns: pass {Call('cg.scan(…)')}; other labels are returned")
    check_index(e, X, "X", "the ensemble")
    sampled = request.sample(e.n_points) if e.mass is None and not (e.is_soft or e.has_covers) else None
    if sampled is None:
        found = searched(e, request)
        labels, sure, voted = found.of_points()
        n_found = found.n_clusters
    else:
        members = cast("Sequence[Labels]", e.members)  # neither soft nor covers
        codes = [c.codes for c in members]
        drawn = [own[sampled] for own in codes]
        everyone = of_labels(members, drawn, threads) if request.takes_tables else None
        found = searched(e.taken(sampled), request, everyone)
        placing = found.placing(drawn, [c.k + 1 for c in members], [c.k for c in members])
        labels, sure = placing.run(codes, threads)
        n_found, voted = placing.n_clusters, partial(placing.votes, codes)
    notes = list(found.notes)
    nowhere = int((labels < 0).sum())
    if nowhere and unseen == "nearest":
        from congruence.consensus_clustering.placing import of_nearest

        labels = of_nearest(labels, X, e.n_points)
        notes.append(f"{counted(nowhere, 'point')} without a member got the cluster of the nearest point in X")
    else:
        notes += without_cluster(nowhere)
    if found.e.n_points < e.n_points:
        notes.append(found.said_of_sample(e.n_points))
    row = found.tried[0].row
    return Consensus(
        labels=labels, confidence=sure, votes=voted, n_clusters=n_found, method=row["method"],
        solver=row["solver"], notes=tuple(dict.fromkeys(notes)), seconds=time.perf_counter() - started,
        scored=found.scored(), index=e.index, kind=e.kind,
    )  # fmt: skip


@dataclass(frozen=True)
class Request:
    """A request to `consensus`: number of clusters, methods, seeds, refinement, options of the methods, progress."""

    n_clusters: int | None
    chosen: tuple[str, ...]
    seeds: np.random.SeedSequence
    refine: bool | None
    options: dict[str, OptionValue]
    progress: ProgressLike = None

    @cached_property
    def records(self) -> list[Method]:
        """The named methods."""
        return [methods.find(name) for name in self.chosen if name != "auto"]

    @property
    def takes_tables(self) -> bool:
        """Whether a named method reads the tables of clusters; "auto" gains nothing from them, because it refines its result."""
        return "auto" not in self.chosen and any(m.takes_tables(self.options["variant"]) for m in self.records)

    def sample(self, n: int) -> Array | None:
        """Which of many points take part in the search, by position; None for all of them."""
        many = max(SAMPLED, PER_CLUSTER * (self.n_clusters or 0))
        if n <= max(ALL_UP_TO, 2 * many) or not all(m.takes_sample(self.options["variant"]) for m in self.records):
            return None
        return np.sort(_stream(self.seeds, "sample").choice(n, many, replace=False, shuffle=False))


@dataclass(frozen=True)
class Outcome:
    """The result of a search: the points used, their votes, the clusterings tried with the one kept first, and notes."""

    e: Ensemble
    votes: Evidence
    part: Evidence
    tried: list[_Tried]
    notes: tuple[str, ...]
    refines: bool = False

    @property
    def n_clusters(self) -> int:
        """Number of clusters of the one kept."""
        return int(self.tried[0].labels.max()) + 1 if len(self.tried[0].labels) else 0

    def said_of_sample(self, many: int) -> str:
        """The note on a consensus from a sample of this many points."""
        drawn = f"{self.e.n_points:,} of the {many:,} points, drawn at random; all were placed by the rule found there"
        if self.votes.everyone is None:
            return f"methods and scores used {drawn}"
        return f"the tables of clusters are those of all points; everything else comes from {drawn}"

    def of_points(self) -> tuple[Array, Array, Callable[[], Array]]:
        """Cluster and confidence of each point, and a function for its votes for each cluster."""
        row, labels, k = self.votes.row, self.tried[0].labels, self.n_clusters
        everyone = np.where(row >= 0, labels[row], -1) if len(labels) else np.full(self.e.n_points, -1)
        voted = shares(self.votes, labels, k)
        sure = np.where(row >= 0, confidence(self.votes, labels, k, voted)[row], np.nan)
        return everyone, sure, partial(_of_points, voted, row)

    def scored(self) -> Callable[[], tuple[Record, ...]]:
        """A function for the rows of the clusterings tried, with their agreement with the members; each takes a pass."""
        return partial(rows_of_scores, self.e, self.votes.row, [(t.row, t.labels) for t in self.tried])

    def placing(self, codes: Sequence[Array], widths: Sequence[int], gaps: Sequence[int]) -> Placing:
        """The placing of all points, of which these are a sample; see `placing_of`."""
        from congruence.consensus_clustering.placing import placing_of

        kept = self.tried[0]
        rule = None if self.refines and is_settled(self.part, kept.labels) else kept.found.rule
        return placing_of(self.part, kept.labels, rule, codes, widths, gaps)


def _of_points(voted: Array, row: Array) -> Array:
    return np.where((row >= 0)[:, None], voted[row], np.nan)


def searched(e: Ensemble, request: Request, everyone: Everyone | None = None) -> Outcome:
    """The clusterings of these points that the methods find, the one to keep first; `everyone` gives the tables of all points."""
    chosen, seeds = request.chosen, request.seeds
    records = list(request.records)
    trivial, said_of_trivial = near_trivial_members(e)
    votes = evidence(e, trivial)
    if everyone is not None:
        votes = replace(votes, everyone=everyone(votes))
    if not votes.mass.any():
        raise InputError("no member labels any point with a positive weight, so there is no consensus")
    weighing = votes.counted()
    notes = [*e.notes, *votes.notes, *said_of_trivial, *said_of_members(weighing[0], e.names)]
    k = request.n_clusters
    if k is None and not (records and all(m.own_number for m in records) and "auto" not in chosen):
        k, why = _number_of_clusters(weighing[0], _stream(seeds, "n_clusters"))
        notes.append(why)
    if "auto" in chosen:
        added, left_out = _candidates(weighing[0], k)
        records += [methods.find(key) for key in added if key not in chosen]
        notes += left_out
    task = _Task(votes, *weighing, k, request.options)
    if k != 1:
        for record in records:  # check all methods before the first starts
            record.check(weighing[0], task.variant(record, record.key not in chosen))
    tried = []
    with Progress(len(records), request.progress, "methods") as bar:
        for record in records:
            tried.append(task.tried(record, _stream(seeds, record.key), record.key not in chosen))
            bar.add(1)
    tried.sort(key=lambda t: -t.row["pooled_ami"])
    if "auto" in chosen and (by_vote := task.independent(tried)) is not None:
        tried.sort(key=lambda t: t is not by_vote)
        notes.append("auto kept voting: the members have the requested number of clusters and err independently")
    refines = "auto" in chosen if request.refine is None else yes_or_no(request.refine, "refine")
    if refines and (better := task.refined(tried[0])) is not None:
        tried.insert(0, better)
    kept = tried[0]
    n_found = int(kept.labels.max()) + 1 if len(kept.labels) else 0
    notes += kept.found.notes
    if k is not None and n_found < k:
        wanted = "requested" if request.n_clusters else "expected"
        kinds = f"the members distinguish only {counted(votes.n_rows, 'kind')} of points"
        reason = kinds if votes.n_rows < k else "the others won no points"
        notes.append(f"{k} clusters were {wanted}, but {n_found} were found: {reason}")
    if request.n_clusters is None and (placed := task.without_singles(tried[0])) is not None:
        lost = tried[0].row["n_clusters"] - placed.row["n_clusters"]
        tried[0] = placed
        notes.append(f"{counted(lost, 'cluster')} of one point joined the cluster with most of its votes")
    if e.has_gaps:
        how = counting_of_gaps(e)["missing"]
        notes.append(
            f"some members do not label all points: anmi uses each member's points, arimp uses {Option('missing', how)}"
        )
    return Outcome(e, votes, weighing[0], tried, tuple(notes), refines)


def _check(k: int | None, e: Ensemble, chosen: Sequence[str], unseen: str, X: PointsLike, n_init: int) -> None:
    n = None if e.is_lazy else e.n_points
    if not chosen:
        raise InputError("no method was named; pass 'auto', " + joined(method_names.METHODS, "or"))
    whole = isinstance(k, int | np.integer) and not isinstance(k, bool)
    if k is not None and not (whole and 1 <= k <= (n if n is not None else k)):
        many = "" if n is None else f" ({n})"
        raise InputError(
            f"{Option('n_clusters')} must be a whole number from 1 to the number of points{many}, not {k!r}"
        )
    if k is not None:
        methods.refuse_number(chosen)
    if unseen not in ("unassigned", "nearest"):
        raise InputError(f"unseen must be 'unassigned' or 'nearest', not {unseen!r}")
    if unseen == "nearest" and X is None and (e.is_lazy or e.has_gaps):
        raise InputError(f"{Option('unseen', 'nearest')} needs the data: pass X=…")
    if not isinstance(n_init, int | np.integer) or n_init < 1:
        raise InputError(f"{Option('n_init')} must be at least 1 (the number of random starts); got {n_init}")


def _stream(seeds: np.random.SeedSequence, name: str) -> np.random.Generator:
    """A separate random stream per method name, so that "auto" gives the same result as the method alone."""
    return np.random.default_rng(
        np.random.SeedSequence(seeds.entropy, spawn_key=(*seeds.spawn_key, zlib.crc32(name.encode())))
    )


def _candidates(e: Evidence, k: int | None) -> tuple[tuple[str, ...], list[str]]:
    """The methods that "auto" tries, and notes on those it skips."""
    if e.n_columns <= MANY_COLUMNS or k is None or k <= MANY_CLUSTERS:
        own = np.bincount(e.member, minlength=e.n_members)
        return (*AUTO, MATCHED) if not e.is_soft and e.share[own == k].sum() >= 0.5 else AUTO, []
    return (*MANY, "average"), [
        f"auto skipped hbgf and ncut, which are slow for {k:,} consensus clusters and {e.n_columns:,} clusters of all members, "
        f"and tried {' and '.join(MANY)} instead"
    ]


def _number_of_clusters(e: Evidence, rng: np.random.Generator) -> tuple[int, Caution]:
    """The number that more than half of the members have, else the one with the longest dendrogram lifetime; and why."""
    own = np.bincount(e.member, minlength=e.n_members)
    numbers = np.unique(own)
    shares_of = np.array([e.share[own == number].sum() for number in numbers])
    mode = int(numbers[shares_of.argmax()])
    if shares_of.max() > 0.5 and mode > 1:
        return mode, why_so_many(mode, f"{'all' if len(numbers) == 1 else 'most'} members have this number")
    k = lifetime(e, rng)
    return k, why_so_many(k, "the longest dendrogram lifetime, by average linkage")


@dataclass(frozen=True)
class _Tried:
    """One clustering: its row of scores, the result of the method, and the clusters of the signatures, the largest first."""

    row: Record
    found: Found
    labels: Array


@dataclass(frozen=True)
class _Task:
    """The input of every method: the votes, those with positive weight and their indices, k, options."""

    votes: Evidence
    part: Evidence
    rows: Array
    k: int | None
    options: dict[str, OptionValue]

    def variant(self, record: Method, by_auto: bool) -> str | None:
        """The requested variant; "auto" links a sample if there are many signatures."""
        many = by_auto and record.key == "average" and self.part.n_rows > SAMPLE_ABOVE
        return "sample" if many else self.options["variant"]

    def tried(self, record: Method, rng: np.random.Generator, by_auto: bool) -> _Tried:
        """The result of one method."""
        started = time.perf_counter()
        part, k = self.part, self.k
        if k is not None and (k == 1 or k >= part.n_rows):
            labels = np.arange(part.n_rows) if k > 1 else np.zeros(part.n_rows, np.int64)
            found = Found(labels, np.nan, "nothing to choose")
        else:
            options = dict(self.options)
            options["variant"] = self.variant(record, by_auto)
            found = record(part, k, rng, **options)  # type: ignore[arg-type]
        objective = f"{record.objective}, {record.better} is better"
        return self._scored(record.key, False, found, objective, started)

    def independent(self, tried: Sequence[_Tried]) -> _Tried | None:
        """The result of voting, if it is nearly as good as the best by pooled AMI and members err independently given it."""
        for t in tried:
            good = t.row["pooled_ami"] >= NEARLY * tried[0].row["pooled_ami"]
            good = good and t.found.rule is not None  # without one, votes left clusters empty
            if t.row["method"] == MATCHED and t.row["n_clusters"] == self.k and good:
                _, correlation = common_errors(self.part, t.labels[self.rows], t.row["n_clusters"])
                return t if correlation < INDEPENDENT else None
        return None

    def refined(self, kept: _Tried) -> _Tried | None:
        """The clustering after hard EM on the votes; None if it has too few clusters, or nothing moves."""
        k = kept.row["n_clusters"]
        if k < 2 or (self.k is not None and k < self.k):
            return None
        started = time.perf_counter()
        before = kept.labels[self.rows]
        after = refined(self.part, before)
        if np.array_equal(before, after):
            return None
        solver = f"{kept.found.solver}, refined by hard EM on the votes"
        found = replace(kept.found, labels=after, rule=None, objective=np.nan, solver=solver)
        return self._scored(kept.row["method"], True, found, kept.row["objective"], started)

    def without_singles(self, kept: _Tried) -> _Tried | None:
        """The clustering with single points in the cluster of most of their votes; None if there are none, or only such."""
        votes = self.votes
        small = np.bincount(kept.labels, votes.mass) * votes.points_per_mass < 1.5
        if not small.any() or small.all():
            return None
        labels = by_size(votes, completed(votes, np.where(small[kept.labels], -1, kept.labels)))
        scores = {"n_clusters": int(labels.max()) + 1, "pooled_ami": pooled_ami(self.part, labels[self.rows])}
        return replace(kept, row=kept.row | scores, labels=labels)

    def _scored(self, key: str, is_refined: bool, found: Found, objective: str, started: float) -> _Tried:
        votes = self.votes
        labels = np.full(votes.n_rows, -1)
        labels[self.rows] = found.labels  # points of weight 0 take no part, and are placed by their votes
        labels = by_size(votes, completed(votes, labels))
        spent = time.perf_counter() - started
        row = {
            "method": key, "refined": is_refined, "n_clusters": int(labels.max()) + 1,
            "pooled_ami": pooled_ami(self.part, labels[self.rows]), "arimp": np.nan, "anmi": np.nan,  # on request
            "value": found.objective, "objective": objective, "seconds": spent, "solver": found.solver,
        }  # fmt: skip
        return _Tried(row, found, labels)
