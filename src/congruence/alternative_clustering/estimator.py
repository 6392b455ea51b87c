"""Alternatives as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from congruence.alternative_clustering.points import as_knowns, as_points
from congruence.alternative_clustering.results import Alternative
from congruence.alternative_clustering.search import alternatives, starts
from congruence.engine.plan import seed_sequence
from congruence.ensembles.nearest import Centres
from congruence.errors import InputError, NotApplicable, names_in, refused, warn
from congruence.inputs.column_kinds import check_features
from congruence.inputs.effects import refuse_idle
from congruence.inputs.estimators import Clusterer, as_table, check_container, new_points
from congruence.inputs.labels import frame_kind, names_of_columns
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import Dynamic, EnsembleLike, Frame, OptionValue, PointsLike, Seed

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from congruence.density.binning import Binning


@described
class AlternativeClustering(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Clusterer):  # type: ignore[misc]
    """A clusterer that finds alternatives to given labels; see `cg.alternatives`.

    After `fit(X, labels)`: `labels_` of the first alternative, `alternatives_` with all of them and their scores. `transform`
    gives a label column per alternative, also for new points. The methods weigh all points equally, and their clusters have
    no probabilities: there are no `sample_weight` and `predict_proba`.

    Args:
        n_clusters: Number of clusters. Default None: as many as the first given clustering has.
        method: Method of `cg.alternatives`. Default "auto".
        n_alternatives: Number of alternatives, each different from those before (default 1), or "all": until nothing is left
            to find; if there is none, `labels_` is one cluster.
        min_size, scale, binning, bins, nominal, n_init: See `congruence.options`.
        options: Options of the method, such as {"epsilon": 0.1}. Default None.
        random_state: See `congruence.options`.

    See also:
        `cg.alternatives`.

    >>> import congruence as cg
    >>> X = [[a, b] for a in (0.0, 5.0) for b in (0.0, 9.0) for _ in range(5)]
    >>> model = cg.AlternativeClustering(2, random_state=0).fit(X, [i // 10 for i in range(20)])
    >>> cg.ari(model.labels_, [i // 5 % 2 for i in range(20)])
    1.0
    >>> model.transform(X).shape
    (20, 1)
    """

    labels_: Array
    alternatives_: list[Alternative]

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        method: str = "auto",
        n_alternatives: int | Literal["all"] = 1,
        min_size: int | None = None,
        scale: bool = True,
        binning: str | Binning = "width",
        bins: int = 10,
        nominal: Sequence[str | int] = (),
        n_init: int | None = None,
        options: dict[str, OptionValue] | None = None,
        random_state: Seed = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.method = method
        self.n_alternatives = n_alternatives
        self.min_size = min_size
        self.scale = scale
        self.binning = binning
        self.bins = bins
        self.nominal = nominal
        self.n_init = n_init
        #: options of the method, such as {"epsilon": 0.1}
        self.options = options
        self.random_state = random_state

    def fit(self, X: PointsLike, y: object = None, given_labels: EnsembleLike | None = None) -> Self:
        """Find alternatives to the given labels (one clustering, or several).

        Args:
            X: The data, points × attributes: an array, a frame of any library (also lazy: polars, DuckDB, Dask, Arrow
                streams, xarray), a mapping of columns, or an AnnData object.
            y: The given clustering, or several. Default None: `labels_` is the k-means clustering,
                and `alternatives_` are alternatives to it.
            given_labels: The given clustering, if `y` is a target for the scorers of scikit-learn. Default None: `y`.

        Returns:
            The estimator.
        """
        data = X = as_table(X)
        self._centres, self._views = None, []  # a failed fit must not keep the centres of other data
        if frame_kind(X) is not None:
            check_features(X, names_in(self.nominal, "nominal"))
        if not isinstance(X, dict):
            check_container(X, "fit")
        if isinstance(X, dict) and not hasattr(X, "tocsr"):
            self.n_features_in_ = len(X)
        elif _has_words(X):
            with refused():
                validate_data(self, X, skip_check_array=True)
        else:
            with refused():
                data = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
            data = X if hasattr(X, "columns") else data
        given = y if given_labels is None else given_labels
        known: Dynamic = given if given is not None else self._obvious(data)
        settings = {key: value for key, value in self.get_params(deep=False).items() if key != "options"}
        if self.n_clusters is None and self.n_alternatives != "all":
            n = len(next(iter(data.values()))) if isinstance(data, dict) else len(data)
            first = next(iter(as_knowns(known, n, data).values()))
            settings["n_clusters"] = max(2, min(int(first.max()) + 1, n // 2))
        self.alternatives_ = []
        refuse_idle(alternatives, {**settings, "starts": starts(self.method)})
        if self.n_clusters == 1:
            self.labels_ = np.zeros(len(data), dtype=np.int64)
        else:
            options = dict(self.options or {})
            try:
                self.alternatives_ = alternatives(data, known, **settings, **options)
            except NotApplicable as error:
                if self.method != "orthogonal" or "weakest" in options:
                    raise
                warn(f"{error}; that direction was kept")
                self.alternatives_ = alternatives(data, known, **settings, **options, weakest=True)
            nothing = np.zeros(len(data), dtype=np.int64)
            found = self.alternatives_[0].labels if self.alternatives_ else nothing
            self.labels_ = np.asarray(known) if given is None else found
        self._n_features_out = len(self.alternatives_)
        if not _has_words(X):
            points = np.asarray(data)
            self._centres = Centres.of(points, np.asarray(self.labels_), self.scale)
            self._views = [Centres.of(points, np.asarray(one.labels), self.scale) for one in self.alternatives_]
        return self

    def _obvious(self, data: PointsLike) -> Array:
        """The k-means clustering, for data without labels."""
        from sklearn.cluster import KMeans
        from sklearn.exceptions import ConvergenceWarning

        if _has_words(data):
            raise InputError("data with text attributes need the known labels: fit(X, labels)")
        as_points(data, scale=True)  # refuses values whose squares are not finite
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct points than clusters
            return np.asarray(KMeans(self.n_clusters or 3, n_init=3, random_state=seed).fit_predict(np.asarray(data)))

    def fit_predict(self, X: PointsLike, y: object = None, given_labels: EnsembleLike | None = None) -> Array:
        """The labels of the first alternative.

        Args:
            X: The data, points × attributes: an array, a frame of any library (also lazy: polars, DuckDB, Dask, Arrow
                streams, xarray), a mapping of columns, or an AnnData object.
            y: The given clustering, or several. Default None: the k-means clustering of X.
            given_labels: The given clustering, if `y` is a target for the scorers of scikit-learn. Default None: `y`.

        Returns:
            Cluster of each point.
        """
        return self.fit(X, y, given_labels).labels_

    def predict(self, X: PointsLike) -> Array:
        """The cluster of the first alternative with the nearest mean, for each point of new data.

        Args:
            X: Numbers, with the attributes that `fit` saw; the same kinds of containers.

        Returns:
            Cluster of each point.

        Raises:
            InputError: If `fit` saw text attributes, which have no mean.
        """
        return self._numbers().nearest(new_points(self, X))

    def transform(self, X: PointsLike) -> Array:
        """The cluster with the nearest mean in each alternative: label columns, as for `cg.compare_all` or `cg.consensus`.

        Args:
            X: Numbers, with the attributes that `fit` saw; the same kinds of containers.

        Returns:
            Points × alternatives.

        Raises:
            InputError: If `fit` saw text attributes, which have no mean.
        """
        self._numbers()
        points = new_points(self, X)
        return np.array([one.nearest(points) for one in self._views], dtype=np.int64).reshape(-1, len(points)).T

    def _numbers(self) -> Centres:
        """The centres of the first alternative."""
        check_is_fitted(self)
        if self._centres is None:
            raise InputError("new points need numeric attributes: text has no mean")
        return self._centres

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []  # `transform` gives labels
        return tags


def _has_words(X: Frame) -> bool:
    """Whether the data have nominal attributes."""
    if hasattr(X, "columns"):
        return any(_has_words(np.asarray(X[name])) for name in names_of_columns(X))
    if isinstance(X, dict) and not hasattr(X, "tocsr"):
        return True
    values = np.asarray(X) if not hasattr(X, "tocsr") else np.empty(0)
    return values.dtype.kind in "US" or (values.dtype.kind == "O" and any(isinstance(x, str) for x in values.ravel()))
