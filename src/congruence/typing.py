"""Names of the types in signatures: values that users may pass, and objects of libraries without type stubs.

A name that ends in "Like" is a value that users may pass: mostly any object, which the inputs convert or refuse with a message.
`Any` is used only where type checkers cannot know the type; no other module uses it (tests/test_house.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence, Sized
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import matplotlib.figure
    import numpy as np
    import pandas as pd
    import plotly.graph_objects as go
    import polars as pl
    import pyarrow as pa

T_co = TypeVar("T_co", covariant=True)

# --- what the values below have in common ---


class Several(Sized, Protocol[T_co]):
    """A list, tuple, set or mapping, but not a text, whose `in` takes texts only."""

    def __iter__(self) -> Iterator[T_co]: ...
    def __contains__(self, value: object, /) -> bool: ...


class HasArray(Protocol):
    """An array of any library that numpy can read."""

    def __array__(self) -> Any: ...


class HasDlpack(Protocol):
    """An array of any library, perhaps on a GPU."""

    def __dlpack__(self) -> Any: ...


class HasArrow(Protocol):
    """A frame or column of any library that Arrow can read."""

    def __arrow_c_stream__(self) -> Any: ...


class HasCollect(Protocol):
    """A lazy frame, or a column of one."""

    def collect(self) -> Any:
        """The rows."""


# --- values that users may pass ---

#: one clustering: labels in a list, an array or a column of a frame or scan, memberships, a matrix, a cover, a hierarchy
ClusteringLike: TypeAlias = "Sized | HasArray | HasDlpack | HasArrow | HasCollect"
#: clusterings of the same points: an Ensemble, label columns, a frame, a list, a mapping by name, a path, or a scan
EnsembleLike: TypeAlias = "ClusteringLike | os.PathLike[str]"
#: a Hierarchy or input for one: a linkage matrix, Newick text, nested lists, a fitted estimator
TreeLike: TypeAlias = object
#: data with one row per point: an array, a sparse matrix, a frame, or a mapping of columns
PointsLike: TypeAlias = object
#: a matrix: an array, a sparse matrix, a memory map, a Dask array, Similarity or Memberships
MatrixLike: TypeAlias = Any
#: one value per row: a list, an array, or a column of a frame
ColumnLike: TypeAlias = Any
#: one number per point or member: a list, an array, or a column of a frame or scan; None: all equal
WeightsLike: TypeAlias = object
#: labels that mean "unassigned": one label, a set of them, or a mapping from column to labels; None: no label
NoiseLike: TypeAlias = object
#: rows that stay where they are: a path, several paths, a folder, a Dask frame, a function that yields batches
ScanLike: TypeAlias = object
#: a seed, a numpy generator, or None for a different result each time
Seed: TypeAlias = "int | np.random.Generator | np.random.RandomState | np.random.SeedSequence | None"
#: a function of (done, total), True for a progress bar, False for none, None for a bar on a terminal
ProgressLike: TypeAlias = Callable[[int, int], object] | bool | None
#: a Dask client, its address, or an executor of `concurrent.futures`; None: this machine
Client: TypeAlias = object
#: a path of a file or folder
PathLike: TypeAlias = str | os.PathLike[str]
#: scikit-learn's names for the mean of two entropies
AverageMethod: TypeAlias = Literal["arithmetic", "geometric", "min", "max"]
#: where to count: the GPU if the data are there, the processor, a CUDA GPU
EngineName: TypeAlias = Literal["auto", "cpu", "cuda"]
#: covariances of mixtures of normal distributions
CovarianceType: TypeAlias = Literal["full", "tied", "diag", "spherical"]
#: an object with `fit_predict` or `fit` and `labels_`, or a function from data to labels
Estimator: TypeAlias = object
#: the value of an option that is passed on to another function, which checks it
OptionValue: TypeAlias = Any

# --- values ---

#: the name of a cluster or point: a text, a number, a date, None
Label: TypeAlias = Any
#: one value of an array or frame, of Python or numpy
Scalar: TypeAlias = Any
#: a JSON value: None, a number, a text, a list, or a mapping of these
Json: TypeAlias = Any
#: values by name, as `to_dict` returns them
Record: TypeAlias = dict[str, Any]
#: a function of any signature
Function: TypeAlias = Callable[..., Any]

# --- objects of other libraries ---

#: the library that draws a figure
Backend: TypeAlias = Literal["plotly", "matplotlib"]
#: a frame of any library: pandas, polars, pyarrow, …
Frame: TypeAlias = Any
#: the index of a pandas object, or None
Index: TypeAlias = Any
#: what `to_frame` returns: a frame of the library of the inputs, or of the one that was named
DataFrame: TypeAlias = "pd.DataFrame | pl.DataFrame | pa.Table"
#: one value per point: a numpy array, or a series for a series
Values: TypeAlias = "np.ndarray[Any, np.dtype[Any]] | pd.Series[Any] | pl.Series"
#: labels whose values per point are a numpy array
PlainLabels: TypeAlias = "Sequence[object] | np.ndarray[Any, np.dtype[Any]]"
#: what `plot` returns by default
PlotlyFigure: TypeAlias = "go.Figure"
#: what `plot` returns with backend="matplotlib"
MatplotlibFigure: TypeAlias = "matplotlib.figure.Figure"
#: a figure of plotly or matplotlib
Figure: TypeAlias = Any
#: a sparse matrix of SciPy
SparseMatrix: TypeAlias = Any
#: an array on a GPU (CuPy), or of numpy where the same code serves both
DeviceArray: TypeAlias = Any
#: an object of a library without type stubs, or whose types differ between its versions (Mt-KaHyPar, Typer)
Dynamic: TypeAlias = Any
