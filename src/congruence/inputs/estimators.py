"""The base class of estimators: scikit-learn's, with its messages about bad arguments in one line."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, ClusterMixin

from congruence.errors import refused, yes_or_no


class Clusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn clusterer that answers bad arguments of inherited methods with an InputError."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings by name.

        Args:
            deep: Whether to add the settings of estimators among the settings. Default True.

        Returns:
            The settings.
        """
        return dict(super().get_params(yes_or_no(deep, "deep")))

    def set_params(self, **params: Any) -> Self:
        """Change settings.

        Args:
            params: New values by name.

        Returns:
            The estimator.

        Raises:
            InputError: If there is no such setting.
        """
        with refused():
            super().set_params(**params)
        return self
