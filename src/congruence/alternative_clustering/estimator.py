"""Alternatives in the manner of scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, ClusterMixin

from congruence.alternative_clustering.search import Alternative, alternatives
from congruence.density.columns import raw_columns
from congruence.statistics.tables import Array


class AlternativeClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A clusterer that gives what the given labels do not show; see `alternatives` for the parameters.

    After `fit(X, given_labels)`: `labels_` of the first alternative, `alternatives_` with all of them and their scores.

    >>> import congruence as cg
    >>> X = [[a, b] for a in (0.0, 5.0) for b in (0.0, 9.0) for _ in range(5)]
    >>> model = cg.AlternativeClustering(2, random_state=0).fit(X, [i // 10 for i in range(20)])
    >>> cg.ari(model.labels_, [i // 5 % 2 for i in range(20)])
    1.0
    """

    labels_: Array
    alternatives_: list[Alternative]

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
        """Find alternatives to the given labels (one clustering, or several)."""
        settings = {key: value for key, value in self.get_params(deep=False).items() if key != "options"}
        self.alternatives_ = alternatives(X, given_labels, **settings, **(self.options or {}))
        self.labels_ = self.alternatives_[0].labels
        self.n_features_in_ = len(raw_columns(X)[0])
        return self

    def fit_predict(self, X: Any, given_labels: Any) -> Array:
        """The labels of the first alternative."""
        return self.fit(X, given_labels).labels_
