"""What every clustering answers: its points, its clusters, and how they are counted. A kind of clustering is a class.

Kinds that do not keep the label of every point (scanned columns) are counted as tables; questions about single points are
refused here, for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn

from congruence.errors import Caution, NotApplicable, counted
from congruence.statistics.tables import Array, ClusterNames
from congruence.typing import DeviceArray, Index, Record, SparseMatrix

if TYPE_CHECKING:
    from congruence.inputs.alignment import Mass
    from congruence.statistics.covers import ClusterMap

Unassigned = Literal["error", "drop", "singletons", "cluster", "partial", "keep"]


class Clustering(ABC):
    """n points and k named clusters; a subclass says how points are in clusters, and is counted by its own rows.

    `comparison.plans.PLANS` says which kinds are compared with each other, and how.
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
    #: how its points are found in another clustering: by order or index, by their names, or as rows of one source
    matched_by: ClassVar[Literal["points", "names", "source"]] = "points"
    #: parts of its source that were skipped because they could not be read
    not_read: tuple[str, ...] = ()

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
    def n_clusters(self) -> int:
        """Number of clusters, also of a cover, whose codes are signatures."""
        return self.k if self.clusters is None else self.clusters.k

    @property
    def may_drop(self) -> bool:
        """Whether points in no cluster may be left out of tables."""
        return self.gaps > 0

    @abstractmethod
    def __len__(self) -> int: ...

    def __repr__(self) -> str:
        gaps = f", {counted(self.gaps, 'point')} in no cluster" if self.gaps else ""
        return f"{type(self).__name__}: {counted(self.n_clusters, 'cluster')} of {counted(len(self), 'point')}{gaps}"

    def _repr_html_(self) -> str:
        from congruence.inputs.frames import html_table  # late import; avoids a cycle

        return html_table(
            {"clusters": [self.n_clusters], "points": [len(self)], "in no cluster": [self.gaps]}, repr(self)
        )

    @abstractmethod
    def with_policy(self, unassigned: Unassigned, noise: Collection[Hashable] | None, who: str) -> Clustering:
        """The clustering with a rule for points in no cluster, and without the clusters that are noise."""

    def total(self, mass: Mass | None) -> int:
        """Number of points: with frequencies, their sum.

        Args:
            mass: Weights or frequencies of the points. None: there are none.
        """
        return len(self) if mass is None else mass.points

    def totals(self, mass: Mass | None) -> tuple[float, float]:
        """Mass of all points, and their self-pair contribution.

        Args:
            mass: Weights or frequencies of the points. None: there are none.
        """
        return (float(len(self)), float(len(self))) if mass is None else mass.totals

    def kept(self) -> Clustering:
        """The same, with labels encoded now, so that later changes of the array given do not reach them."""
        return self

    def doubts(self, who: str, noise: Collection[Hashable] | None, names: ClusterNames | None = None) -> list[Caution]:
        """Cautions about the names of clusters.

        Args:
            who: Name used in messages.
            noise: Labels that mean noise, if given.
            names: The clusters compared. None: all.
        """
        return []

    def as_columns(self, name: str) -> Record:
        """Its values as plain columns: the label of each point under this name."""
        self._refuse_points()

    # --- single points

    def _refuse_points(self) -> NoReturn:
        raise NotApplicable(
            f"{self.title} is scanned, but this needs the label of every point (or pairs of points), not tables; read the "
            "columns into memory"
        )

    @property
    def codes(self) -> Array:
        """The cluster of each point, 0 … k−1: that of its largest membership; k for none."""
        self._refuse_points()

    def repeated_outside(self, frequency: Array) -> int:
        """How many points in no cluster occur several times; as clusters of one point each would be several clusters.

        Args:
            frequency: How often each point occurs.
        """
        return 0

    def taken(self, points: Array, index: Index = None) -> Clustering:
        """The clustering of these points only, in this order."""
        self._refuse_points()

    def dense(self, points: slice = slice(None)) -> Array:
        """Memberships of some points in the clusters, as floats."""
        self._refuse_points()

    def sparse(self) -> SparseMatrix:
        """The same of all points, as a scipy.sparse CSR array."""
        self._refuse_points()

    def sums(self, weights: Array) -> tuple[Array, Array]:
        """For each point the sum of its squared memberships, and for each cluster the weighted sum of its memberships."""
        self._refuse_points()

    def together(self, rows: slice, cols: slice) -> tuple[Array, Array]:
        """For each of these points with each of those: how far they are together, and whether both are labelled."""
        self._refuse_points()

    def pairwise(self, first: Array, second: Array) -> tuple[Array, Array]:
        """The same for the first and the second point of each pair."""
        self._refuse_points()


class PointPairs(ABC):
    """Similarities of pairs of points: a matrix, or the consensus matrix of an ensemble.

    `engine.matrices.ROUTES` says how the sums of two of them are counted.
    """

    what: ClassVar[str]
    #: the clusterings whose co-memberships are added; none for a matrix
    members: tuple[Clustering, ...] = ()
    mass: Mass | None = None
    #: whether all entries read so far are between 0 and 1; whether they are all so small that their squares underflow
    is_unit: bool = True
    is_tiny: bool = False
    #: lowest and highest entry read so far
    span: tuple[float, float] = (0.0, 1.0)

    @property
    @abstractmethod
    def form(self) -> Literal["members", "scan", "entries", "sparse", "blocks"]:
        """What its sums are counted from."""

    @property
    def is_soft(self) -> bool:
        """Whether any member is soft."""
        return any(c.soft for c in self.members)

    @property
    def has_covers(self) -> bool:
        """Whether any member is a cover, whose clusters may overlap or leave points out."""
        return any(c.overlapping for c in self.members)

    @property
    def is_plain(self) -> bool:
        """Whether all members are labels: no memberships, and no covers."""
        return not (self.is_soft or self.has_covers)

    @property
    def has_gaps(self) -> bool:
        """Whether any member labels only some of the points."""
        return any(c.gaps for c in self.members)

    @property
    @abstractmethod
    def n_points(self) -> int:
        """Number of points."""

    @property
    @abstractmethod
    def described(self) -> str:
        """What it is, in a headline."""
