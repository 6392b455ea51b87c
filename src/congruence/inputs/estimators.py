"""The base class of estimators: scikit-learn's, with its messages about bad arguments in one line."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from congruence.errors import InputError, Option, refused, some_of, warn, yes_or_no
from congruence.inputs.column_kinds import check_features, kind_of_column
from congruence.inputs.formats import is_anndata, matrix_of
from congruence.inputs.labels import in_memory, names_of_columns
from congruence.typing import Frame, MatrixLike, OptionValue, PointsLike


class Clusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn clusterer that answers bad arguments of inherited methods with an InputError."""

    def get_params(self, deep: bool = True) -> dict[str, OptionValue]:
        """The settings by name.

        Args:
            deep: Whether to include the settings of nested estimators. Default True.

        Returns:
            The settings.
        """
        return dict(super().get_params(yes_or_no(deep, "deep")))

    def set_params(self, **params: OptionValue) -> Self:
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


def as_table(X: PointsLike) -> Frame:
    """The input of an estimator in a form that scikit-learn accepts: read into memory, or the numbers of an AnnData object."""
    if isinstance(X, type):
        raise InputError(f"X is the class {X.__name__}; pass an object of it")
    if not is_anndata(X):
        return in_memory(X)
    matrix = matrix_of(X)[0]
    return matrix if hasattr(matrix, "tocsr") else np.asarray(matrix)


def is_labels(X: Frame) -> bool:
    """Whether these are label columns, by their type: integers, words, categories, or whole numbers with gaps.

    >>> is_labels(np.array([[0, 1]])), is_labels(np.array([[0.0, 16.0]])), is_labels(np.array([[0.0, np.nan]]))
    (True, False, True)
    """
    if hasattr(X, "tocsr"):
        return False
    if hasattr(X, "columns"):
        return any(is_labels(np.asarray(X[name])) for name in names_of_columns(X))
    try:
        values = np.asarray(X)
    except ValueError:
        raise InputError("the rows of X have different lengths; give every row the same number of values") from None
    if values.dtype.kind == "O":
        plain = [x for x in values.ravel().tolist() if x is not None and not (isinstance(x, float) and np.isnan(x))]
        return not all(isinstance(x, float) for x in plain) or len(plain) < values.size
    if values.dtype.kind != "f":
        return True
    missing = np.isnan(values)
    return bool(missing.any() and (values[~missing] == np.round(values[~missing])).all())


def check_one_kind(X: Frame) -> None:
    """Refuse a frame that mixes measurements and whole numbers: without a generator, the latter may or may not be clusterings."""
    if not hasattr(X, "columns"):
        return
    names = names_of_columns(X)
    measured = [
        str(name)
        for name in names
        if not is_labels(np.asarray(X[name])) and kind_of_column(str(name), X[name]).kind == "measurements"
    ]
    if measured:
        check_features(X, takes_text=False)
        others = [str(name) for name in names if str(name) not in measured]
        raise InputError(
            f"columns {some_of(measured, 3)} hold measurements, and {some_of(others, 3)} whole numbers or words; pass "
            f"{Option('generator', 'kmeans')} if all of them are measurements, or the label columns alone for their consensus"
        )


def check_container(X: Frame, who: str) -> None:
    """Refuse objects that scikit-learn cannot convert, such as iterators and sets."""
    arrays = ("__array__", "__array_interface__", "tocsr")
    if not isinstance(X, Sequence) and not any(hasattr(X, name) for name in arrays):
        raise InputError(f"{who} needs points × attributes, as an array or a frame; got {type(X).__name__}")


def new_points(model: Clusterer, X: PointsLike, **options: OptionValue) -> MatrixLike:
    """New data for `predict`, with the features that `fit` saw; the options are those of scikit-learn's `validate_data`."""
    check_is_fitted(model)
    X = as_table(X)
    check_container(X, "predict")
    try:
        with warnings.catch_warnings(record=True) as caught, refused():
            warnings.simplefilter("always")
            found = validate_data(model, X, dtype=np.float64, reset=False, **options)
    except TypeError as error:
        raise InputError(f"predict needs points × attributes: {error}") from None
    for one in caught:  # about names of features; at the user's line instead of scikit-learn's
        warn(str(one.message))
    return found
