"""Several clusterings of the same points, aligned and named, with one rule for unassigned points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Literal, cast, overload

import numpy as np

from congruence.errors import Caution, InputError, deprecated, known_name, names_in, one_of
from congruence.inputs.alignment import Align, InputOptions, Mass, aligned
from congruence.inputs.coerce import as_clustering, counted_there
from congruence.inputs.column_names import listed_names
from congruence.inputs.columns import (
    card_columns,
    card_vectors,
    check_columns,
    frame_columns,
    member_weights,
    title_of,
    without_ids,
    without_reference,
)
from congruence.inputs.cover import Cover
from congruence.inputs.effects import refuse_idle
from congruence.inputs.files import read_columns
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import frame_kind, from_dlpack, in_memory, is_mapping
from congruence.inputs.listing import Listing
from congruence.machine import device
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import (
    Backend,
    ClusteringLike,
    EnsembleLike,
    Figure,
    Label,
    MatrixLike,
    NoiseLike,
    OptionValue,
    WeightsLike,
)

if TYPE_CHECKING:
    from congruence.ensembles.distribution import ConsensusCdf
    from congruence.formulas.record import Measure
    from congruence.trust.ranking import Ranking


@described
class Ensemble(Listing):
    """Aligned, named clusterings of the same points.

    Use `unassigned="partial"` for members with gaps; the option `missing` of a measure says how gaps count.

    Args:
        clusterings: Label columns (a 2-D array or a frame), a list of label vectors or membership matrices, a mapping
            from name to clustering, an object with an `.obs` frame, the path of a file, a `cg.scan`, or an
            `Ensemble`.
        names: Names of the members. Default None: those of the columns, else their numbers.
        member_weight: Weight of each member, numbers of at least 0. Default None: all equal.
        sample_weight, frequency: See `congruence.options`.
        unassigned: What to do with points in no cluster, which are missing labels and labels named by `noise`:
            "error" (default) raises, "drop" leaves the points out, "singletons" makes each a separate cluster,
            "cluster" puts all in one cluster, "partial" keeps the gaps.
        noise, align: See `congruence.options`.

    See also:
        `cg.generate`, `cg.consensus`, `cg.compare_all`.

    >>> import congruence as cg
    >>> e = cg.Ensemble({"first": [0, 0, 1, 1], "second": ["a", "b", "b", "b"]})
    >>> len(e), e.names, e.n_points
    (2, ('first', 'second'), 4)
    >>> e["second"].names
    ('a', 'b')
    >>> round(e.certainty(), 4), round(e.consensus_index("ari"), 4)
    (0.4857, 0.0)
    """

    what = "an ensemble"
    #: whether labels are encoded at once, so that later changes of the arrays given do not reach the ensemble
    keeps = True
    #: whether a column of a table that is named truth, class or the like is the reference and not a member
    sets_reference_apart = True
    #: the name and the labels of the reference found in a table, if any
    reference: tuple[str, ClusteringLike] | None = None
    members: tuple[Clustering, ...]
    member_weight: Array | None

    def __init__(
        self,
        clusterings: EnsembleLike,
        *,
        names: Sequence[str] | None = None,
        member_weight: WeightsLike = None,
        sample_weight: WeightsLike = None,
        frequency: WeightsLike = None,
        unassigned: Unassigned = "error",
        noise: NoiseLike = None,
        align: Align | None = None,
    ) -> None:
        found, notes, kind = columns_of(clusterings)
        is_table = isinstance(clusterings, str | Path) or getattr(clusterings, "found", None) is not None
        is_table |= kind is not None and not isinstance(clusterings, Ensemble)
        if self.sets_reference_apart and names is None and is_table:
            found, self.reference, said = without_reference(found)
            notes += said
            if self.reference is not None and isinstance(noise, dict):
                noise = {name: labels for name, labels in noise.items() if name != self.reference[0]}
        if isinstance(clusterings, Ensemble) and unassigned == "error":
            unassigned = "partial"  # applied when that ensemble was created
        if not found:
            raise InputError("there are no clusterings to compare (an empty collection was given)")
        listed = listed_names(names) if names is not None else [name for name, _ in found]
        if len(listed) != len(found):
            raise InputError(f"{len(listed)} names for {len(found)} clusterings")
        who = [f"clustering {name}" if name.isdigit() else name for name in listed]
        raw = [as_clustering(data, who[i]) for i, (_, data) in enumerate(found)]
        options = InputOptions(
            unassigned=unassigned, noise=noise, sample_weight=sample_weight, frequency=frequency, align=align
        )
        same = options.applied(raw, who, listed)
        self.members = tuple(c.kept() for c in same.members) if self.keeps else same.members
        self.names: tuple[str, ...] = tuple(listed)
        self.index = same.index if align != "position" else None
        self.mass: Mass | None = same.mass
        self.kind = kind or next((c.kind for c in raw if c.kind), None)
        self.notes: tuple[Caution, ...] = (*notes, *same.notes)
        self._doubtful = tuple(
            caution
            for c, labels, name in zip(self.members, same.noise, listed, strict=True)
            for caution in c.doubts(name, labels)
        )
        if isinstance(clusterings, Ensemble):
            self._doubtful, self.mass = clusterings._doubtful, self.mass or clusterings.mass
        own: Array | None = clusterings.member_weight if isinstance(clusterings, Ensemble) else None
        self.member_weight = own if member_weight is None else member_weights(member_weight, len(self.members))

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.members[0])

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """Cautions about the members, to show with results."""
        return (*(caution for c in self.members for caution in c.cautions), *self._doubtful)

    @property
    def form(self) -> Literal["members", "scan"]:
        """What its sums are counted from."""
        return "scan" if self.is_lazy else "members"

    @property
    def is_lazy(self) -> bool:
        """Whether the members are columns of a scan."""
        return self.members[0].lazy

    @property
    def shares(self) -> Array:
        """The weights of the members, adding up to 1."""
        return np.full(len(self), 1 / len(self)) if self.member_weight is None else self.member_weight

    def __len__(self) -> int:
        return len(self.members)

    @overload
    def __getitem__(self, which: int | str) -> Clustering: ...
    @overload
    def __getitem__(self, which: slice | list[int] | list[str] | Array) -> Ensemble: ...

    def __getitem__(self, which: object) -> Clustering | Ensemble:
        if isinstance(which, str | int | np.integer):
            return self.members[self._place(which)]
        if isinstance(which, slice):
            chosen = list(range(len(self)))[which]
        elif not isinstance(which, Iterable) or getattr(which, "ndim", 1) != 1:
            raise InputError(f"members are selected by number, name, list or slice, not by {which!r}")
        else:
            names = which if isinstance(which, list) else names_in(which, "members")
            is_mask = bool(names) and all(isinstance(x, bool | np.bool_) for x in names)
            if is_mask and len(names) != len(self):
                raise InputError(f"a mask of members needs one entry per member ({len(self)}), not {len(names)}")
            chosen = np.flatnonzero(names).tolist() if is_mask else [self._place(x) for x in names]
        if not chosen:
            raise InputError("no members were selected; an ensemble needs at least one")
        return self._made_of(chosen)

    def _place(self, which: object) -> int:
        if not isinstance(which, str):
            if not isinstance(which, int | float | np.number) or which != which or which in (np.inf, -np.inf):
                raise InputError(f"members are selected by number or name, not by {which!r}")
            if not -len(self) <= int(which) < len(self):
                raise InputError(f"there is no member {int(which)}; there are {len(self)} members, counted from 0")
            return int(which)
        known_name("member", which, self.names)
        return self.names.index(which)

    def check_same_points(self, other: Ensemble, by_index: bool = True) -> None:
        """Raise if the points differ: in number, or by their indexes.

        Args:
            other: The other ensemble.
            by_index: Whether to compare the indexes too. Default True.

        Raises:
            InputError: If the points differ.
        """
        if self.is_lazy or other.is_lazy:
            aligned([self.members[0], other.members[0]], None, ("the first ensemble", "the second"))
            return
        if other.n_points != self.n_points:
            raise InputError(
                f"the ensembles have {self.n_points} and {other.n_points} points; both must have the same points"
            )
        if not by_index or self.index is None or other.index is None:
            return
        if not self.index.equals(other.index):
            raise InputError("the indexes of the two ensembles differ; reindex one to the points of the other first")

    def taken(self, points: Array) -> Ensemble:
        """The members restricted to these points, in this order; weights are kept.

        Args:
            points: Positions of the points.
        """
        part = copy(self)
        part.members, part.index = tuple(c.taken(points) for c in self.members), None
        part.mass = None if self.mass is None else self.mass.taken(points)
        return part

    def _made_of(self, chosen: Sequence[int]) -> Ensemble:
        part = copy(self)
        part.members = tuple(self.members[i] for i in chosen)
        part.names = tuple(self.names[i] for i in chosen)
        if self.member_weight is not None:
            part.member_weight = member_weights(self.member_weight[list(chosen)], len(chosen))
        return part

    def __add__(self, other: EnsembleLike) -> Ensemble:
        """The members of both ensembles; weights of points are taken from the first."""
        more = other if isinstance(other, Ensemble) else Ensemble(other, unassigned="partial")
        self.check_same_points(more)
        if (self.member_weight is None) != (more.member_weight is None):
            raise InputError(
                "one ensemble has member weights and the other has none; give weights to both or to neither"
            )
        joined = copy(self)
        joined.members, joined.names = self.members + more.members, self.names + more.names
        joined.notes, joined._doubtful = self.notes + more.notes, self._doubtful + more._doubtful
        if self.member_weight is not None and more.member_weight is not None:
            both = np.concatenate([self.member_weight * len(self), more.member_weight * len(more)])
            joined.member_weight = both / both.sum()
        return joined

    def __iter__(self) -> Iterator[Clustering]:
        return iter(self.members)

    # agreement within the ensemble; late imports, because these functions live in higher layers

    def consensus_matrix(self, **options: OptionValue) -> MatrixLike:
        """Share of members that put each pair of points together, n × n; see `cg.consensus_matrix`.

        Args:
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return _door().consensus_matrix(self, **options)

    def consensus_blocks(self, **options: OptionValue) -> Iterator[tuple[slice, Array]]:
        """The consensus matrix in blocks of rows, if it does not fit in memory; see `cg.consensus_blocks`.

        Args:
            options: Options of the function of the same name, such as `missing` or `rows`.
        """
        return _door().consensus_blocks(self, **options)  # type: ignore[no-any-return]

    def certainty(self, **options: OptionValue) -> float:
        """1 if all members agree on every pair of points; see `cg.certainty`.

        Args:
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().certainty(self, **options))

    def uncertainty(self, **options: OptionValue) -> float:
        """1 − certainty.

        Args:
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().uncertainty(self, **options))

    def consensus_index(self, measure: str | Measure = "nmi_sum", **options: OptionValue) -> float:
        """Mean of a measure over all pairs of members; see `cg.consensus_index`.

        Args:
            measure: Key or record of a measure; `cg.measures()` lists them. Default "nmi_sum".
            options: Options of the function of the same name: `threads` and `engine`.
        """
        return float(_door().consensus_index(self, measure, **options))

    def rank(self, **options: OptionValue) -> Ranking:
        """Which member to trust: the one that agrees best with the others and their consensus; see `cg.rank`.

        Args:
            options: Options of the function of the same name, such as `X` or `n_clusters`.
        """
        return _door().rank(self, **options)  # type: ignore[no-any-return]

    def pnmi(self) -> float:
        """Mean nmi_sqrt over pairs of members: low means diverse."""
        return float(_door().pnmi(self))

    def anmi(self, labels: ClusteringLike) -> float:
        """Mean nmi_sqrt of the members with a partition.

        Args:
            labels: One label per point, without gaps.
        """
        return float(_door().anmi(self, labels))

    def pooled_ami(self, labels: ClusteringLike) -> float:
        """AMI of the members with a partition, pooled over the members.

        Args:
            labels: One label per point, without gaps.
        """
        return float(_door().pooled_ami(self, labels))

    def arimp(self, labels: ClusteringLike, **options: OptionValue) -> float:
        """Adjusted Rand index of the consensus matrix and a partition.

        Args:
            labels: One label per point, without gaps.
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().arimp(self, labels, **options))

    def arimm(self, other: EnsembleLike, **options: OptionValue) -> float:
        """Adjusted Rand index of the consensus matrix and that of another ensemble, or a matrix.

        Args:
            other: An `Ensemble`, a `Similarity`, or labels, of the same points.
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().arimm(self, other, **options))

    def kas(self, other: EnsembleLike, **options: OptionValue) -> float:
        """Kernel alignment with another ensemble, matrix or partition.

        Args:
            other: An `Ensemble`, a `Similarity`, or labels, of the same points.
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().kas(self, other, **options))

    def nsf(self, other: EnsembleLike, **options: OptionValue) -> float:
        """1 − Frobenius distance / n to another ensemble, matrix or partition.

        Args:
            other: An `Ensemble`, a `Similarity`, or labels, of the same points.
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().nsf(self, other, **options))

    def sms(self, other: EnsembleLike, **options: OptionValue) -> float:
        """Correlation of the entries with those of another ensemble, matrix or partition.

        Args:
            other: An `Ensemble`, a `Similarity`, or labels, of the same points.
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().sms(self, other, **options))

    def ssms(self, other: EnsembleLike, **options: OptionValue) -> float:
        """(1 + sms) / 2.

        Args:
            other: An `Ensemble`, a `Similarity`, or labels, of the same points.
            options: Options of the function of the same name, such as `missing` or `threads`.
        """
        return float(_door().ssms(self, other, **options))

    def item_consensus(self, labels: ClusteringLike) -> Array:
        """Mean consensus of each point with each cluster of a partition; see `cg.item_consensus`.

        Args:
            labels: One label per point, without gaps.
        """
        return _door().item_consensus(self, labels)  # type: ignore[no-any-return]

    def cluster_consensus(self, labels: ClusteringLike) -> dict[Label, float]:
        """Mean consensus within each cluster of a partition; see `cg.cluster_consensus`.

        Args:
            labels: One label per point, without gaps.
        """
        return _door().cluster_consensus(self, labels)  # type: ignore[no-any-return]

    def silhouette(self, labels: ClusteringLike) -> Array:
        """Silhouette of each point on 1 − consensus; see `cg.consensus_silhouette`.

        Args:
            labels: One label per point, without gaps.
        """
        return _door().consensus_silhouette(self, labels)  # type: ignore[no-any-return]

    def cdf(self, **options: OptionValue) -> ConsensusCdf:
        """Distribution of the consensus values; see `cg.consensus_cdf`.

        Args:
            options: Options of `cg.consensus_cdf`, such as `missing` or `sample`.
        """
        return _door().consensus_cdf(self, **options)  # type: ignore[no-any-return]

    def pac(self, lower: float = 0.1, upper: float = 0.9, **options: OptionValue) -> float:
        """Proportion of ambiguous pairs: consensus between lower and upper.

        Args:
            lower: Consensus above which a pair is ambiguous. Default 0.1.
            upper: Consensus up to which a pair is ambiguous. Default 0.9.
            options: Options of `cg.consensus_cdf`.
        """
        return float(self.cdf(**options).pac(lower, upper))

    def plot(
        self, kind: str = "consensus", backend: Backend = "plotly", labels: ClusteringLike | None = None
    ) -> Figure:
        """A figure of the ensemble; see `cg.figure`.

        Args:
            kind (str): "consensus" (default), the ordered consensus matrix, its distribution; or "flow" through 2 to 8 members.
            backend (str): "plotly" (default) or "matplotlib".
            labels (ClusteringLike): Clusters that order the matrix of many points; default: those of the first complete member.

        Raises:
            InputError: If the kind is unknown, or a flow has fewer than two or more than eight clusterings.
        """
        if kind in ("plotly", "matplotlib"):  # in 0.1 the only argument was the backend
            deprecated(f"plot({kind!r})", f"plot(backend={kind!r})", since="0.2", until="0.3")
            kind, backend = "consensus", "plotly" if kind == "plotly" else "matplotlib"
        one_of("kind", kind, ("consensus", "flow"))
        refuse_idle(Ensemble.plot, locals())
        return _door().figure(self, backend, labels=labels, kind=kind)


def _door() -> ModuleType:
    return import_module("congruence")


def columns_of(data: EnsembleLike) -> tuple[list[tuple[str, ClusteringLike]], list[Caution], str | None]:
    """(name, clustering) of each member, notes, and the kind of frame they came in."""
    if isinstance(data, Ensemble):
        return list(zip(data.names, data.members, strict=True)), list(data.notes), data.kind
    data = counted_there(data)
    if hasattr(data, "lazy_columns"):  # a scan, or tables that were counted already
        return data.lazy_columns(), [Caution("not_labels", "", line) for line in getattr(data, "notes", ())], None
    if hasattr(data, "obs") and hasattr(data.obs, "columns"):
        return frame_columns(data.obs, ".obs")
    if isinstance(data, str | Path):
        columns, notes = without_ids(read_columns(data), str(data))
        return list(columns.items()), [Caution("not_labels", "", line) for line in notes], None
    if is_mapping(data):
        return _encoded([(str(name), column) for name, column in data.items()]), [], None
    data = in_memory(data)
    if (kind := frame_kind(data)) is not None and hasattr(data, "columns"):
        return frame_columns(data, "the frame")
    if isinstance(data, Clustering | Cover) or kind is not None:
        return [("0", cast("ClusteringLike", data))], [], kind
    if isinstance(data, list | tuple):
        if data and not any(hasattr(x, "__len__") for x in data):
            raise InputError(
                f"expected several clusterings, got one flat list of {len(data)} labels; pass a list of label vectors, "
                "a 2-D array of label columns, a frame or a mapping"
            )
        return _encoded([(title_of(column) or str(i), column) for i, column in enumerate(data)]), [], None
    if device.is_on_card(data):
        return card_columns(device.array(data)), [], None
    if not isinstance(data, np.ndarray) and hasattr(data, "__dlpack__"):
        data = from_dlpack(data)
    if isinstance(data, np.ndarray):
        check_columns(data)
        return [(str(j), data[:, j]) for j in range(data.shape[1])], [], None
    raise InputError(f"expected several clusterings (a 2-D array, frame, list or mapping), got {type(data).__name__}")


def _encoded(columns: list[tuple[str, ClusteringLike]]) -> list[tuple[str, ClusteringLike]]:
    """The same columns; vectors on a GPU are encoded together."""
    elsewhere = any(hasattr(x, "__dlpack_device__") and not isinstance(x, np.ndarray) for _, x in columns)
    return card_vectors(columns) if elsewhere else columns
