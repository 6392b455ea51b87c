"""Density profiles: how many points of each cluster fall into each bin of each attribute. Profiles can be added."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property

import numpy as np

from congruence.errors import InputError, counted, real_number, refused, some_of, whole_number
from congruence.inputs.frames import html_table, make_frame
from congruence.machine.writing import read_archive, write_archive
from congruence.options import described
from congruence.statistics.names import union
from congruence.statistics.tables import Array, AsJson
from congruence.typing import Frame, Label, PathLike, Record, Scalar

#: version of the files, and the arrays in them
FORMAT, COUNTED = 1, ("counts", "sizes", "outside")


@dataclass(frozen=True, eq=False)
class Attribute:
    """The bins of one attribute: between cuts, or one bin per value."""

    name: str
    #: numbers: a value on a cut belongs to the bin above it; the range that was fitted
    cuts: tuple[float, ...] = ()
    low: float = math.nan
    high: float = math.nan
    #: nominal attributes: their values, one bin each
    values: tuple[Label, ...] | None = None
    #: extra bins, in this order: for new values, for missing values
    takes_unseen: bool = False
    takes_missing: bool = False
    #: the two attributes of a pair, each bin of one with each of the other
    pair: tuple[Attribute, Attribute] | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Attribute) and self._facts() == other._facts()

    def __hash__(self) -> int:
        return hash(self._facts())

    def _facts(self) -> tuple[object, ...]:
        """The fields compared for equality, with NaN equal to NaN."""
        ends = (self.low, self.high) if self.low == self.low else None
        return self.name, self.cuts, ends, self.values, self.takes_unseen, self.takes_missing, self.pair

    @property
    def regular(self) -> int:
        """Number of bins without the extra ones."""
        if self.pair is not None:
            return self.pair[0].n_bins * self.pair[1].n_bins
        if self.values is not None:
            return len(self.values)
        return len(self.cuts) + 1 if self.low == self.low or self.takes_unseen else 0

    @property
    def n_bins(self) -> int:
        """Number of bins with the extra ones."""
        return self.regular + (self.values is not None and self.takes_unseen) + self.takes_missing

    @property
    def bins(self) -> tuple[str, ...]:
        """Descriptions of the bins."""
        if self.pair is not None:
            first, second = (part.bins for part in self.pair)
            return tuple(f"{x} & {y}" for x in first for y in second)
        if self.values is not None:
            spare = ("(never seen)",) * self.takes_unseen
            return (*(str(v) for v in self.values), *spare, *(("(missing)",) * self.takes_missing))
        edges = [f"{x:.6g}" for x in (self.low, *self.cuts, self.high)]
        closed = [*(")" * (self.regular - 1)), "]"]
        inner = [f"[{x}, {y}{end}" for x, y, end in zip(edges, edges[1:], closed, strict=False)][: self.regular]
        return (*inner, *(("(missing)",) * self.takes_missing))


@dataclass(frozen=True, eq=False, kw_only=True)
class Profile(AsJson):
    """Density profile of a clustering: how many points of each cluster fall in each bin of each attribute; profiles can be added.

    Attributes:
        counts: Number of points per cluster (rows) and bin (columns, attribute after attribute).
        clusters: Names of the clusters.
        attributes: The attributes and their bins.
        sizes: Number of points per cluster.
        outside: Number of values outside the fitted range, per attribute.
        detail: The profile of the same points in finer bins, or None; `cg.drift` tests windows in them.

    >>> import congruence as cg
    >>> p = cg.density_profile([[0.0], [1.0], [9.0], [10.0]], ["x", "x", "y", "y"], cg.Binning(bins=2))
    >>> p
    Profile: 2 clusters, 4 points, 1 attribute in 2 bins
    >>> p.counts.tolist(), (p + p).counts.tolist()
    ([[2, 0], [0, 2]], [[4, 0], [0, 4]])
    """

    counts: Array
    clusters: tuple[Label, ...]
    attributes: tuple[Attribute, ...]
    sizes: Array
    outside: Array
    detail: Profile | None = None

    @classmethod
    def of(cls, counts: Array, n_bins: Sequence[int] | None = None, clusters: Sequence[Label] | None = None) -> Profile:
        """The profile with these counts (clusters × bins); `n_bins` of each attribute, by default one attribute.

        >>> Profile.of([[8, 0, 5, 3], [0, 6, 3, 3]], n_bins=[2, 2])
        Profile: 2 clusters, 14 points, 2 attributes in 4 bins
        """
        with refused():  # rows of different lengths
            table = np.asarray(counts)
        if table.ndim != 2 or 0 in table.shape or table.dtype.kind not in "iuf" or not (table >= 0).all():
            raise InputError(
                f"a profile must be a table of non-negative counts, clusters × bins; got {table.dtype} of shape {table.shape}"
            )
        widths = [table.shape[1]] if n_bins is None else [whole_number(q, "n_bins") for q in n_bins]
        if sum(widths) != table.shape[1] or min(widths) < 1:
            raise InputError(f"n_bins {widths} are {sum(widths)} bins, but the counts have {table.shape[1]} columns")
        names = tuple(range(len(table))) if clusters is None else tuple(clusters)
        if len(names) != len(table) or len(set(names)) < len(names):
            raise InputError(f"{len(table)} clusters need {len(table)} different names, not {list(names)}")
        table = table.astype(np.float64 if table.dtype.kind == "f" else np.int64)
        attributes = tuple(Attribute(f"x{i}", values=tuple(range(q))) for i, q in enumerate(widths))
        sizes = table[:, : widths[0]].sum(axis=1)
        outside = np.zeros(len(widths), dtype=np.int64)
        return cls(counts=table, clusters=names, attributes=attributes, sizes=sizes, outside=outside)

    @property
    def n_bins(self) -> tuple[int, ...]:
        """Number of bins of each attribute."""
        return tuple(a.n_bins for a in self.attributes)

    @cached_property
    def starts(self) -> Array:
        """The bins of attribute i are columns starts[i]:starts[i+1] of the counts."""
        return np.concatenate([[0], np.cumsum(self.n_bins)]).astype(np.int64)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the attributes."""
        return tuple(a.name for a in self.attributes)

    @property
    def n(self) -> Scalar:
        """Number of points."""
        return self.sizes.sum().item()

    @property
    def totals(self) -> Array:
        """Points in each bin, all clusters together."""
        return np.asarray(self.counts.sum(axis=0))

    def scaled(self, factor: float) -> Profile:
        """The counts times a factor: the mean of stratified samples of that share.

        Args:
            factor: Factor of all counts.
        """
        factor = real_number(factor, "factor", 0, 1e15)
        return replace(self, counts=self.counts * factor, sizes=self.sizes * factor, detail=None)

    def check_same_bins(self, other: Profile) -> None:
        """Raise if two profiles have different bins.

        Args:
            other: The other profile.

        Raises:
            InputError: If the bins differ.
        """
        if self.attributes == other.attributes:
            return
        if self.names != other.names:
            raise InputError(
                f"the profiles are of different attributes ({_few(self.names)} and {_few(other.names)}); count both with "
                "one Binning"
            )
        different = [a.name for a, b in zip(self.attributes, other.attributes, strict=True) if a != b]
        raise InputError(f"the profiles have different bins for {_few(different)}; count both with one fitted Binning")

    def __add__(self, other: Profile) -> Profile:
        if not isinstance(other, Profile):
            return NotImplemented
        self.check_same_bins(other)
        clusters, places = union(self.clusters, other.clusters)
        counts = np.zeros((len(clusters), self.counts.shape[1]), dtype=np.result_type(self.counts, other.counts))
        sizes = np.zeros(len(clusters), dtype=np.result_type(self.sizes, other.sizes))
        for profile, place in zip((self, other), places, strict=True):
            counts[place] += profile.counts
            sizes[place] += profile.sizes
        outside = self.outside + other.outside
        detail = None if self.detail is None or other.detail is None else self.detail + other.detail
        return Profile(
            counts=counts, clusters=clusters, attributes=self.attributes, sizes=sizes, outside=outside, detail=detail
        )

    def save(self, path: PathLike) -> None:
        """Write to a file that `cg.load_profile` reads.

        Args:
            path: The file, named .npz.
        """
        arrays: dict[str, Array] = {}
        facts: Record = {"format": FORMAT, "profiles": []}
        for i, level in enumerate([self] if self.detail is None else [self, self.detail]):
            arrays |= {f"{name}{i}": getattr(level, name) for name in COUNTED}
            if any(a.pair is not None for a in level.attributes):
                raise InputError("profiles of pairs of attributes cannot be saved; save the one of single attributes")
            attributes = [asdict(replace(a, pair=None)) for a in level.attributes]
            facts["profiles"].append({"clusters": list(level.clusters), "attributes": attributes})
        write_archive(path, arrays, facts)

    def to_dict(self) -> Record:
        """The columns of `to_frame`: cluster, attribute, bin and count of each cell."""
        table = self.to_frame("pyarrow")
        return {name: table[name].to_pylist() for name in table.column_names}

    def __eq__(self, other: object) -> bool:
        """Whether the other is a profile with the same bins, clusters and counts."""
        return isinstance(other, Profile) and (other is self or self.to_dict() == other.to_dict())

    def __hash__(self) -> int:
        return hash(Profile)

    @described
    def to_frame(self, backend: str | None = None) -> Frame:
        """One row per cluster and bin: cluster, attribute, bin, count.

        Args:
            backend: See `congruence.options`.

        Returns:
            A data frame.
        """

        k = len(self.clusters)
        cells = [(a.name, b) for a in self.attributes for b in a.bins]
        columns = {
            "cluster": np.repeat(np.array([str(c) for c in self.clusters], dtype=object), len(cells)).tolist(),
            "attribute": [name for name, _ in cells] * k,
            "bin": [b for _, b in cells] * k,
            "count": self.counts.ravel().tolist(),
        }
        return make_frame(columns, backend)

    def _repr_html_(self) -> str:
        return html_table({"cluster": list(self.clusters), "points": self.sizes.tolist()}, repr(self))

    def __repr__(self) -> str:
        k, r = len(self.clusters), len(self.attributes)
        return (
            f"Profile: {counted(k, 'cluster')}, {self.n:g} points, {counted(r, 'attribute')} in "
            f"{self.counts.shape[1]} bins"
        )


def _few(names: Sequence[str]) -> str:
    return some_of(map(str, names), 4)


def load_profile(path: PathLike) -> Profile:
    """The profile in a file that `Profile.save` wrote.

    Args:
        path: The file.

    Returns:
        A `Profile` with the same bins, clusters and counts.

    Raises:
        InputError: If there is no such file, or it holds no profile.

    See also:
        `cg.density_profile`, `cg.drift`.

    >>> import congruence as cg, tempfile, pathlib
    >>> p = cg.density_profile([[0.0], [1.0], [9.0], [10.0]], ["x", "x", "y", "y"], cg.Binning(bins=2))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "p.npz"
    ...     p.save(path)
    ...     cg.load_profile(path).counts.tolist()
    [[2, 0], [0, 2]]
    """
    return read_archive(path, "a profile, as Profile.save writes", _profile)


def _profile(arrays: dict[str, Array], facts: Record) -> Profile:
    levels = []
    for i, level in enumerate(facts["profiles"]):
        counted: Record = {name: arrays[f"{name}{i}"] for name in COUNTED}
        attributes = tuple(_attribute(a) for a in level["attributes"])
        levels.append(Profile(clusters=tuple(level["clusters"]), attributes=attributes, **counted))
    return replace(levels[0], detail=levels[1] if len(levels) > 1 else None)


def _attribute(facts: Record) -> Attribute:
    values = facts["values"]
    return Attribute(**{**facts, "cuts": tuple(facts["cuts"]), "values": None if values is None else tuple(values)})
