"""Alternatives in the manner of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin

from congruence.alternative_clustering.search import Alternative, alternatives
from congruence.density.columns import raw_columns
from congruence.errors import misnamed
from congruence.statistics.tables import Array


class AlternativeClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer that gives what the given labels do not show; see `alternatives` for the parameters.

    After `fit(X, given_labels)`: `labels_` of the first alternative, `alternatives_` with all of them and their scores.

    Args:
        n_clusters: Number of clusters. Default None: as many as the first given clustering has.
        method: "maximus" (default; options epsilon=0.05, sample, finalists, solver), "coala" (omega=0.6), "cib"
            (passes=5), "condens", "metaclusters" (groups), "mincentropy" (weight, sigma), "orthogonal", "adft";
            historical: "maximus_published". "orthogonal" and "adft" need numbers; the others take nominal attributes
            too.
        n_alternatives: Number of alternatives, each different from those before. Default 1.
        min_size: Smallest number of points of a cluster. Default None: max(2, n/(3k)) for maximus, none for the
            others.
        scale: Whether to standardise numeric attributes. Default True.
        binning: How attributes are cut for profiles: "width" (default), "frequency", "mdl", or a `Binning`.
        bins: Number of bins of a numeric attribute. Default 10.
        nominal: Names of attributes that are nominal although they are numbers. Default: none.
        n_init: Number of random starts. Default None: what the method uses.
        options: Options of the method, as {"epsilon": 0.1}. Default None.
        random_state: Seed, `numpy.random.Generator` or `SeedSequence`. Default None: different at every call.

    See also:
        `cg.alternatives`.

    >>> import congruence as cg
    >>> X = [[a, b] for a in (0.0, 5.0) for b in (0.0, 9.0) for _ in range(5)]
    >>> model = cg.AlternativeClustering(2, random_state=0).fit(X, [i // 10 for i in range(20)])
    >>> cg.ari(model.labels_, [i // 5 % 2 for i in range(20)])
    1.0
    """

    labels_: Array
    alternatives_: list[Alternative]

    @misnamed(k="n_clusters")
    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        method: str = "maximus",
        n_alternatives: int = 1,
        min_size: int | None = None,
        scale: bool = True,
        binning: Any = "width",
        bins: int = 10,
        nominal: Any = (),
        n_init: int | None = None,
        options: dict[str, Any] | None = None,
        random_state: Any = None,
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
        #: options of the method, as {"epsilon": 0.1}
        self.options = options
        self.random_state = random_state

    def fit(self, X: Any, given_labels: Any) -> AlternativeClustering:
        """Find alternatives to the given labels (one clustering, or several).

        Args:
            X: The data, points × attributes: an array or a frame.
            given_labels: The given clustering, or several.

        Returns:
            The estimator.
        """
        settings = {key: value for key, value in self.get_params(deep=False).items() if key != "options"}
        self.alternatives_ = alternatives(X, given_labels, **settings, **(self.options or {}))
        self.labels_ = self.alternatives_[0].labels
        self.n_features_in_ = len(raw_columns(X)[0])
        return self

    def fit_predict(self, X: Any, given_labels: Any) -> Array:
        """The labels of the first alternative.

        Args:
            X: The data, points × attributes: an array or a frame.
            given_labels: The given clustering, or several.

        Returns:
            Cluster of each point.
        """
        return self.fit(X, given_labels).labels_
