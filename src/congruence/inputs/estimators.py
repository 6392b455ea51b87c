"""The base class of estimators: scikit-learn's, with its messages about bad arguments in one line."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from congruence.errors import InputError, refused, yes_or_no
from congruence.inputs.formats import is_anndata, matrix_of
from congruence.inputs.labels import in_memory


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


def as_table(X: Any) -> Any:
    """The input of an estimator as scikit-learn takes it: frames of every library in memory, the numbers of an AnnData object."""
    if not is_anndata(X):
        return in_memory(X)
    matrix = matrix_of(X)[0]
    return matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)


def new_points(model: Clusterer, X: Any, **options: Any) -> Any:
    """New data for `predict`, with the features that `fit` saw; the options are those of scikit-learn's `validate_data`."""
    check_is_fitted(model)
    X = as_table(X)
    known = isinstance(X, list | tuple) or any(hasattr(X, name) for name in ("__array__", "tocsr"))
    if not known:
        raise InputError(f"predict needs points × attributes, as an array or a frame; got {type(X).__name__}")
    try:
        with refused():
            return validate_data(model, X, dtype=np.float64, reset=False, **options)
    except TypeError as error:
        raise InputError(f"predict needs points × attributes: {error}") from None
