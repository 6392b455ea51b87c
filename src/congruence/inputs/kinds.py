"""What every clustering answers: its points, its clusters, and how they are counted. A kind of clustering is a class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, ClassVar, Literal

from congruence.errors import counted
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import DeviceArray, Index, SparseMatrix

if TYPE_CHECKING:
    from congruence.errors import Caution
    from congruence.statistics.covers import ClusterMap

Unassigned = Literal["error", "drop", "singletons", "cluster", "partial", "keep"]


class Clustering(ABC):
    """n points and k named clusters; a subclass says how points are in clusters, and is counted by its own rows.

    `comparison.pair.PLANS` says which kinds are compared with each other, and how.
    """

    #: the name of the kind, in the table of kinds and in messages
    what: ClassVar[str]
    index: Index
    #: the name of the column it was read from
    title: str | None
    #: the library of the frame it was read from
    kind: str | None
    #: the clusters of each signature of a cover, in which a point is in several clusters
    clusters: ClassVar[ClusterMap | None] = None
    #: whether this is a cover, whose clusters may overlap or leave points out
    overlapping = False
    #: whether a point may be in a cluster with a membership below 1
    soft = False
    #: whether it is a scanned column, read when it is counted (`cg.scan`)
    lazy = False

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What is doubtful about it, to show with results."""
        return ()

    @property
    def card(self) -> DeviceArray:
        """The same on a GPU; None if it is on the host."""
        return None

    @property
    def gaps(self) -> int:
        """Number of points in no cluster."""
        return 0

    @property
    @abstractmethod
    def is_crisp(self) -> bool:
        """Whether every point belongs to one cluster only."""

    @property
    @abstractmethod
    def is_probabilistic(self) -> bool:
        """Whether the memberships of each point add up to 1."""

    @property
    @abstractmethod
    def digest(self) -> bytes:
        """Equal for equal memberships; empty for labels, which are compared by their tables."""

    @property
    @abstractmethod
    def names(self) -> ClusterNames:
        """The names of the clusters, in order."""

    @property
    @abstractmethod
    def k(self) -> int:
        """Number of clusters."""

    @property
    @abstractmethod
    def codes(self) -> Array:
        """The cluster of each point, 0 … k−1: that of its largest membership; k for none."""

    @abstractmethod
    def __len__(self) -> int: ...

    def __repr__(self) -> str:
        gaps = f", {counted(self.gaps, 'point')} in no cluster" if self.gaps else ""
        k = self.k if self.clusters is None else self.clusters.k
        return f"{type(self).__name__}: {counted(k, 'cluster')} of {counted(len(self), 'point')}{gaps}"

    @abstractmethod
    def taken(self, points: Array, index: Index = None) -> Clustering:
        """The clustering of these points only, in this order."""

    @abstractmethod
    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Clustering:
        """The clustering with a rule for points in no cluster, and without the clusters that are noise."""

    @abstractmethod
    def dense(self, points: slice = slice(None)) -> Array:
        """Memberships of some points in the clusters, as floats."""

    @abstractmethod
    def sparse(self) -> SparseMatrix:
        """The same of all points, as a scipy.sparse CSR array."""

    @abstractmethod
    def sums(self, weights: Array) -> tuple[Array, Array]:
        """For each point the sum of its squared memberships, and for each cluster the weighted sum of its memberships."""

    @abstractmethod
    def together(self, rows: slice, cols: slice) -> tuple[Array, Array]:
        """For each of these points with each of those: how far they are together, and whether both are labelled."""

    @abstractmethod
    def pairwise(self, first: Array, second: Array) -> tuple[Array, Array]:
        """The same for the first and the second point of each pair."""
