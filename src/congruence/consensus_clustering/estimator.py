"""The consensus as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self, TypedDict, Unpack

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from congruence.consensus_clustering import methods
from congruence.consensus_clustering.results import Consensus
from congruence.consensus_clustering.search import consensus
from congruence.engine.plan import seed_sequence
from congruence.ensembles.agreement import point_mass
from congruence.ensembles.generators import generate, takes_numbers
from congruence.ensembles.nearest import Centres
from congruence.errors import Call, InputError, Option, refused
from congruence.inputs.column_kinds import check_features
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.estimators import (
    Clusterer,
    as_table,
    check_container,
    check_one_kind,
    is_labels,
    new_points,
)
from congruence.options import described
from congruence.statistics.names import plain_names
from congruence.statistics.tables import Array
from congruence.typing import (
    Frame,
    Label,
    NoiseLike,
    OptionValue,
    PointsLike,
    Record,
    Seed,
    Several,
    SparseMatrix,
    WeightsLike,
)

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from congruence import MethodName


def _was_given_data(model: object) -> bool:
    """Whether `predict` is available: not after a fit on labels alone."""
    if not getattr(model, "_has_data", True):
        raise AttributeError("this consensus was fitted on labels alone: predict needs data, as in fit(X) with floats")
    return True


def _weight_of(given: FitKeywords) -> WeightsLike:
    """The weights; anything else is refused, as Python refuses it."""
    unknown = [name for name in given if name != "sample_weight"]
    if unknown:
        raise TypeError(f"fit() got an unexpected keyword argument {unknown[0]!r}")
    return given.get("sample_weight")


class FitKeywords(TypedDict, total=False):
    """What `fit` takes beside the data."""

    sample_weight: WeightsLike


@described
class ConsensusClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):  # type: ignore[misc]
    """Consensus of many clusterings, scikit-learn compatible.

    `fit` takes data, which it first clusters n_members times, or the clusterings themselves, points × members. Without
    a `generator` the type of X decides: an `Ensemble`, integers, words, categories, and whole numbers with gaps (NaN) are
    label columns; other floats are data, clustered by k-means. After fit: `labels_`, `confidence_`, `memberships_`,
    `n_clusters_`, `scores_`, `consensus_` (the whole result), `ensemble_`. `transform` gives the share of the members' votes
    for each cluster, also for new points, so that the consensus can be a step of a pipeline.

    Args:
        n_clusters: Number of clusters. Default 8; None: chosen from the members.
        method: Method of `cg.consensus`. Default "auto".
        generator: How to make members from data: a method of `cg.generate`, a clusterer, a list of these, or a
            function of X and a seed that gives an `Ensemble`. Default None: "kmeans" for floats; integers and words are
            label columns.
        n_members: Number of members to make. Default 100.
        member_clusters: Numbers of clusters of the members. Default None.
        noise: Labels that mean "in no cluster". Default None.
        n_init: Number of random starts. Default 10.
        variant: Variant of the method. Default None.
        solver: Graph partitioner. Default "auto".
        balance: Allowed imbalance of the blocks. Default 0.05.
        unseen: What to do with points in no member: "unassigned" (default) or "nearest".
        random_state, n_jobs: See `congruence.options`.

    See also:
        `cg.consensus`, `cg.generate`.

    >>> import congruence as cg
    >>> import numpy as np
    >>> labels = np.array([[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 1]])
    >>> cg.ConsensusClustering(2, method="average").fit_predict(labels).tolist()
    [0, 0, 1, 1]
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = cg.ConsensusClustering(3, generator="kmeans", n_members=10, random_state=0).fit(X)
    >>> model.n_clusters_, len(model.ensemble_)
    (3, 10)
    >>> model.transform(X).shape
    (50, 3)
    """

    #: `fit` takes weights by keyword: scikit-learn requires of a named argument that a weight of 2 gives the clusters of a
    #: repeated row, which random starts cannot promise
    __metadata_request__fit: ClassVar[dict[str, object]] = {"sample_weight": None}

    def __init__(
        self,
        n_clusters: int | None = 8,
        *,
        method: MethodName | Several[str] = "auto",
        generator: OptionValue = None,
        n_members: int = 100,
        member_clusters: int | Iterable[int] | None = None,
        noise: NoiseLike = None,
        n_init: int = 10,
        variant: str | None = None,
        solver: str = "auto",
        balance: float = 0.05,
        unseen: str = "unassigned",
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.generator = generator
        self.n_members = n_members
        self.member_clusters = member_clusters
        self.noise = noise
        self.n_init = n_init
        self.variant = variant
        self.solver = solver
        self.balance = balance
        self.unseen = unseen
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: PointsLike, y: object = None, **weights: Unpack[FitKeywords]) -> Self:
        """Find the consensus of the label columns X, or of clusterings of the data X if there is a generator.

        Args:
            X: Label columns, points × members, or an `Ensemble`; the data, also sparse, if there is a generator. Arrays,
                frames of any library (also lazy: polars, DuckDB, Dask, Arrow streams, xarray) and AnnData objects.
            y: Ignored.
            weights: `sample_weight`, the importance of each point in the consensus; members are made from data without weights.

        Returns:
            The estimator.
        """
        weight = _weight_of(weights)
        X = X if isinstance(X, Ensemble) else as_table(X)
        for_members, for_consensus = seed_sequence(self.random_state).spawn(2)
        self._is_fitted = False
        self._centres = self._shares = data = None  # a failed fit must not keep the centres of other data
        refuse_idle(consensus, {**vars(self), "taken": methods.options_of(self.method, self.variant)})
        if isinstance(X, Ensemble):
            if self.generator is not None:
                raise InputError("an Ensemble was given, but generator is set; pass data, or leave the generator out")
            refuse_idle(ConsensusClustering, vars(self), "for an Ensemble, which has its members")
            if weight is not None:
                raise InputError(
                    f"an Ensemble has its own weights; pass {Call('cg.Ensemble')} with {Option('sample_weight')}"
                )
            self.ensemble_, self.n_features_in_ = X, len(X)
        elif self.generator is None and is_labels(X):
            check_one_kind(X)
            with refused():
                given = validate_data(self, X, dtype=None, ensure_all_finite=False)
            if given.dtype.kind == "c":
                raise InputError("Complex data not supported: labels are numbers, words or categories")
            own = X if hasattr(X, "columns") else given
            self.ensemble_ = Ensemble(own, unassigned="partial", noise=self.noise, sample_weight=weight)
        else:
            if self.generator is not None:  # without one, the type of X decides, and both are possible
                refuse_idle(ConsensusClustering, vars(self), "with a generator; it is for label columns")
            if self._is_function:
                refuse_idle(ConsensusClustering, vars(self), "for a generator that is a function, which makes them")
            check_features(X, takes_text=False)
            sparse = "csr" if self._takes_sparse else False
            with refused():
                data = validate_data(self, X, accept_sparse=sparse, dtype=np.float64, ensure_min_samples=2)
            made = self._generated(data, for_members)
            self.ensemble_ = made if weight is None else Ensemble(made, unassigned="partial", sample_weight=weight)
        self._has_data = data is not None
        self.consensus_: Consensus = consensus(
            self.ensemble_, self.n_clusters, self.method, for_consensus, n_init=self.n_init, variant=self.variant,
            solver=self.solver, balance=self.balance, unseen=self.unseen,
            X=data if self.unseen == "nearest" else None, progress=False,
        )  # fmt: skip
        self.labels_: Array = self.consensus_.labels
        self.confidence_: Array = self.consensus_.confidence
        self.memberships_: Array = self.consensus_.memberships
        self.n_clusters_: int = self.consensus_.n_clusters
        self.scores_: Frame = self.consensus_.scores
        self._centres = None if data is None else Centres.of(data, np.asarray(self.labels_))
        self._shares = None if data is None else self._shares_of(data)
        self._n_features_out = self.n_clusters_
        self._is_fitted = True
        return self

    def fit_predict(self, X: PointsLike, y: object = None, **weights: Unpack[FitKeywords]) -> Array:
        """The consensus cluster of each point, after `fit`.

        Args:
            X: Data, or clusterings, as in `fit`.
            y: Ignored, as in scikit-learn.
            weights: `sample_weight`, as in `fit`.

        Returns:
            Cluster of each point; −1 for points that no member labels.
        """
        return np.asarray(self.fit(X, y, **weights).labels_)

    def transform(self, X: PointsLike) -> Array:
        """Share of the members' votes for each consensus cluster; a member votes as the points of its cluster are spread.

        After a fit on data, a point is in the cluster of a member with the nearest mean. After a fit on label columns, X is
        label columns too, and `transform` of the same columns gives `memberships_`. The shares are no probabilities of
        being right, so there is no `predict_proba`; `confidence_` is calibrated.

        Args:
            X: Data, or label columns, with the features that `fit` saw, in the same kinds of containers.

        Returns:
            Points × clusters; rows add to 1. NaN for points without a label that `fit` saw.
        """
        check_is_fitted(self)
        if not self._is_fitted:
            raise InputError("the last fit failed, so there are no clusters; fit again")
        if self._shares is not None:
            return self._shares.of_data(new_points(self, X, accept_sparse="csr"))
        shares = self._shares_of(None)
        if isinstance(X, Ensemble):
            columns = [[*plain_names(m.names), None] for m in X.members]
            columns = [[x[c] for c in m.codes.tolist()] for x, m in zip(columns, X.members, strict=True)]
            if len(columns) != self.n_features_in_:
                raise InputError(f"fit saw {self.n_features_in_} members; this ensemble has {len(columns)}")
            return shares.of_labels(columns)
        given = as_table(X)
        check_container(given, "transform")
        with refused():
            table = validate_data(self, given, dtype=None, ensure_all_finite=False, reset=False)
        return shares.of_labels([np.asarray(table)[:, j].tolist() for j in range(self.n_features_in_)])

    @available_if(_was_given_data)  # type: ignore[untyped-decorator]
    def predict(self, X: PointsLike) -> Array:
        """The consensus cluster with the nearest mean, for each point of new data.

        `labels_` comes from the votes of the members, so for the data of `fit` the nearest mean can be that of another cluster.

        Args:
            X: Data with the features that `fit` saw, in the same kinds of containers; an estimator fitted on labels alone has
                no `predict`.

        Returns:
            Cluster of each point.
        """
        data = new_points(self, X, accept_sparse="csr")
        if self._centres is None:
            raise InputError("the last fit failed, so there are no clusters to predict; fit again")
        return self._centres.nearest(data)

    def _shares_of(self, data: Array | SparseMatrix | None) -> Shares:
        return Shares.of(self.ensemble_, np.asarray(self.labels_), self.n_clusters_, data)

    def _generated(self, data: Array | SparseMatrix, seeds: np.random.SeedSequence) -> Ensemble:
        if self._is_function:
            made = self.generator(data, int(seeds.generate_state(1)[0]))
            return made if isinstance(made, Ensemble) else Ensemble(made, unassigned="partial")
        k = self.member_clusters
        if k is None:
            most = min(2 * (self.n_clusters or 4), data.shape[0])
            k = range(min(2, most), most + 1)
        maker = self.generator or "kmeans"
        subsamples = isinstance(maker, str) and maker in ("subsample", "mixed")
        options: Record = {"n_clusters": k}
        if not takes_numbers(maker):
            refuse_idle(ConsensusClustering, vars(self), "for a clusterer without a number of clusters")
            options = {}
        options["complete"] = not (subsamples and self.unseen == "nearest")
        return generate(
            data, self.n_members, method=maker, random_state=seeds, n_jobs=self.n_jobs, progress=False, **options
        )

    @property
    def _is_function(self) -> bool:
        """Whether the generator is a function of X and a seed."""
        return callable(self.generator) and not hasattr(self.generator, "fit")

    @property
    def _takes_sparse(self) -> bool:
        """Mixtures and fuzzy clusters need dense data."""
        return not (isinstance(self.generator, str) and self.generator in ("em", "fuzzy"))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        labels = self.generator is None
        tags.input_tags.allow_nan = labels
        tags.input_tags.categorical = tags.input_tags.string = labels
        tags.input_tags.sparse = self._takes_sparse
        return tags


# --- votes on new points ------------------------------------------------------------------------------------------


def _codes_of(e: Ensemble) -> list[Array]:
    """Cluster of each point in each member, −1 for none; the largest membership of soft members."""
    return [
        m.dense().argmax(axis=1) if m.soft else np.where(m.codes < m.k, m.codes.astype(np.int64), -1) for m in e.members
    ]


@dataclass(frozen=True, eq=False)
class Shares:
    """How the clusters of each member are spread over the clusters of a consensus, and how new points find theirs.

    A point votes as the points of its clusters are spread.
    """

    #: names of the clusters of each member, and the mean of each if the members are clusterings of data
    names: tuple[list[Label], ...]
    centres: tuple[Centres, ...] | None
    #: share of each cluster of a member in each cluster of the consensus, and the weight of the member
    tables: tuple[Array, ...]
    weight: tuple[float, ...]

    @classmethod
    def of(cls, e: Ensemble, labels: Array, k: int, data: Array | SparseMatrix | None) -> Shares:
        """The shares of an ensemble, given the consensus cluster of each point."""
        codes, mass, tables = _codes_of(e), point_mass(e)[0], []
        for own, member in zip(codes, e.members, strict=True):
            counts = np.zeros((member.k, k))
            used = (own >= 0) & (labels >= 0)
            np.add.at(counts, (own[used], labels[used]), mass[used])
            tables.append(counts / np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny))
        centres = None
        if data is not None:
            dense = data.toarray() if hasattr(data, "toarray") else data  # once for all members
            centres = tuple(Centres.of(dense, own) for own in codes)
        return cls(tuple(plain_names(m.names) for m in e.members), centres, tuple(tables), tuple(e.shares.tolist()))

    def of_data(self, X: Array | SparseMatrix) -> Array:
        """Share of the votes for each cluster: in every member, a point is in the cluster with the nearest mean."""
        assert self.centres is not None
        dense = X.toarray() if hasattr(X, "toarray") else X
        return self._votes([centres.nearest(dense) for centres in self.centres])

    def of_labels(self, columns: Sequence[Sequence[Label]]) -> Array:
        """Share of the votes for each cluster, of points with these labels in the members; NaN for points without votes."""
        known = [{name: i for i, name in enumerate(names)} for names in self.names]
        return self._votes(
            [np.array([at.get(x, -1) for x in column], np.int64) for at, column in zip(known, columns, strict=True)]
        )

    def _votes(self, codes: Sequence[Array]) -> Array:
        votes = np.zeros((len(codes[0]), self.tables[0].shape[1]))
        said = np.zeros(len(votes))
        for own, table, weight in zip(codes, self.tables, self.weight, strict=True):
            used = own >= 0
            votes[used] += weight * table[own[used]]
            said[used] += weight
        return np.asarray(np.divide(votes, said[:, None], out=np.full_like(votes, np.nan), where=said[:, None] > 0))
