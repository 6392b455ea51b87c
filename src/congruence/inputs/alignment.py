"""Validate clusterings of the same points, with indexes, weights and noise labels; two of them make a `PreparedPair`."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypedDict, cast, get_args

import numpy as np

from congruence.errors import A, B, Caution, InputError, Option, one_of, some_of
from congruence.inputs.coerce import as_clustering, as_disjoint
from congruence.inputs.cover import CoverLabels, SharedMemberships, as_cover_labels
from congruence.inputs.cover_points import on_same_points
from congruence.inputs.effects import refuse_idle
from congruence.inputs.kinds import Clustering, Unassigned
from congruence.inputs.labels import Labels, frame_kind, keep_is_for_covers
from congruence.inputs.weights import check_spread, least_exponent, weights_in, whole_numbers
from congruence.statistics.tables import Array, Table
from congruence.typing import ClusteringLike, ColumnLike, Index, NoiseLike, PointsLike, WeightsLike

if TYPE_CHECKING:
    from congruence.inputs.ensemble import Ensemble
    from congruence.scanning.columns import Column

Align = Literal["index", "position"]
RULES: tuple[str, ...] = get_args(Unassigned)


class InputKeywords(TypedDict, total=False):
    """Options for reading two clusterings, as in `compare`."""

    unassigned: Unassigned
    noise: NoiseLike
    sample_weight: WeightsLike
    frequency: WeightsLike
    align: Align | None


# --- several clusterings of the same points ---------------------------------------------------------------------


#: most labels that may mean noise
MOST_NOISE = 1_000_000


@dataclass(frozen=True)
class Mass:
    """Weights of the points: importance weights, or integer frequencies."""

    values: Array
    is_frequency: bool
    #: weights are stored divided by 2**exponent, so that the largest is about 1 and squares neither overflow nor underflow
    exponent: int = 0

    def taken(self, points: Array) -> Mass:
        """The same for these points only."""
        return Mass(self.values[points], self.is_frequency, self.exponent)

    @property
    def points(self) -> int:
        """Number of points: the sum of frequencies, or all points if they have weights."""
        return int(self.values.sum()) if self.is_frequency else len(self.values)

    @property
    def totals(self) -> tuple[float, float]:
        """Mass of all points, and their self-pair contribution."""
        weights, own = point_weights(self, len(self.values))
        assert weights is not None
        return float(weights.sum()), float(own.sum())

    @property
    def weights_of_mean_1(self) -> Array:
        """Importance weights with a mean of 1 over all points."""
        return np.asarray(self.values * (self.points / self.values.sum()))


def point_weights(mass: Mass | None, n: int) -> tuple[Array | None, Array]:
    """Weight of each point (None if all are 1), and its self-pair contribution."""
    if mass is None:
        return None, np.ones(n)
    if mass.is_frequency:
        return mass.values.astype(np.float64), mass.values.astype(np.float64)
    weights = mass.weights_of_mean_1
    return weights, weights**2


@dataclass(frozen=True, kw_only=True)
class Aligned:
    """Clusterings of the same points in the same order, with the options that apply to their points."""

    members: tuple[Clustering, ...]
    #: noise labels of each member; None if not given
    noise: tuple[Collection[Hashable] | None, ...]
    mass: Mass | None
    index: Index
    notes: tuple[Caution, ...]


@dataclass(frozen=True, kw_only=True)
class InputOptions:
    """How clusterings are read. Public functions take these five options separately; internal ones pass this object.

    Args:
        unassigned: How to treat points in no cluster: "error", "drop", "singletons", "cluster"; "partial" for ensembles.
        noise: Labels that mean "in no cluster": one, several, or a mapping from the name of a clustering to labels.
        sample_weight: Importance of each point.
        frequency: How often each point occurs.
        align: How indexes are joined: "index", "position", or None (they must be equal).
    """

    unassigned: Unassigned = "error"
    noise: NoiseLike = None
    sample_weight: WeightsLike = None
    frequency: WeightsLike = None
    align: Align | None = None

    @property
    def given(self) -> list[str]:
        """Names of the options that were given."""
        return [name for name, x in vars(self).items() if x is not None and not (name == "unassigned" and x == "error")]

    def applied(self, raw: Sequence[Clustering], who: Sequence[str], names: Sequence[str | None]) -> Aligned:
        """The aligned clusterings, with `unassigned` applied; `who` are names for messages, `names` those for `noise`."""
        same, notes = aligned(raw, self.align, who)
        check_noise(self.noise, [*names, *who])
        noise = tuple(noise_for(self.noise, both) for both in zip(names, who, strict=True))
        check_noise_of(same, self.noise, noise)
        index = next((c.index for c in same if c.index is not None), None)
        mass = as_mass(self.sample_weight, self.frequency, same[0], index, self.align)
        left = noise
        if self.unassigned == "singletons" and mass is not None and mass.is_frequency:
            same = [c.with_policy("partial", labels, name) for c, labels, name in zip(same, noise, who, strict=True)]
            for c, name in zip(same, who, strict=True):
                if often := c.repeated_outside(mass.values):
                    raise InputError(
                        f"{name}: points without a label that occur several times (frequency): {often}; "
                        f"{Option('unassigned', 'singletons')} makes each occurrence a separate cluster: repeat these rows "
                        "with frequency 1, or pass 'drop' or 'cluster'"
                    )
            left = (None,) * len(same)  # noise labels are gaps by now
        members = with_policies(same, self.unassigned, left, who)
        return Aligned(members=members, noise=noise, mass=mass, index=index, notes=tuple(notes))


def check_rule(unassigned: str) -> None:
    """Raise for an unknown rule for points in no cluster."""
    if unassigned not in RULES:
        one_of("unassigned", unassigned, RULES[:4])


def with_policies(
    clusterings: Sequence[Clustering],
    unassigned: Unassigned,
    noise: Sequence[Collection[Hashable] | None],
    who: Sequence[str],
) -> tuple[Clustering, ...]:
    """Apply `unassigned`; with "keep", labels compared with covers become covers, and covers beside memberships memberships."""
    each = zip(clusterings, noise, who, strict=True)
    check_rule(unassigned)
    if unassigned != "keep" or not any(c.overlapping for c in clusterings):
        if unassigned == "keep" and clusterings[0].lazy:
            raise keep_is_for_covers()
        found = [c.with_policy(unassigned, labels, name) for c, labels, name in each]
    else:
        found = [
            c.with_policy("keep" if c.overlapping or c.lazy else "partial", labels, name) for c, labels, name in each
        ]
        found = [as_cover_labels(c) if isinstance(c, Labels) and c.gaps and not c.overlapping else c for c in found]
    if any(c.soft for c in found) and any(c.overlapping for c in found):
        found = [SharedMemberships.of(c) if isinstance(c, CoverLabels) else c for c in found]
    return tuple(found)


def as_mass(
    sample_weight: WeightsLike, frequency: WeightsLike, first: Clustering, index: Index, align: Align | None
) -> Mass | None:
    """Validated weights of the points of a clustering, or None; a series is aligned with the index of the clusterings."""
    if sample_weight is None and frequency is None:
        return None
    if sample_weight is not None and frequency is not None:
        raise InputError(f"pass {Option('sample_weight')} (importance) or {Option('frequency')} (counts), not both")
    given: ColumnLike
    option, given = ("sample_weight", sample_weight) if frequency is None else ("frequency", frequency)
    name = str(Option(option))
    scanned = [getattr(x, "matched_by", "points") == "source" for x in (first, given)]
    if any(scanned):
        if not all(scanned):
            raise InputError(f"{name} of scanned columns must be a column of the same scan, as in s['weight']")
        return Mass(given, frequency is not None)  # a column that only its scan reads
    n = len(first)
    own_index = getattr(given, "index", None) if frame_kind(given) == "pandas" else None
    if own_index is not None and align == "index" and not own_index.is_unique:
        raise InputError(
            f"the index of {name} has repeated values; {Option('align', 'index')} needs one weight per point"
        )
    if own_index is not None and index is not None and align != "position" and not own_index.equals(index):
        if align != "index" or not index.isin(own_index).all():
            raise InputError(f"the index of {name} differs from that of the clusterings; give it the same index")
        given = given.reindex(index)
    values = weights_in(given, name)
    if values.shape != (n,):
        raise InputError(f"{name} has shape {values.shape}, but there are {n} points")
    if not values.any():
        raise InputError(f"{name} is 0 for every point")
    if frequency is None:
        exponent = int(np.frexp(values.max())[1])
        check_spread(least_exponent(values), exponent, name)
        return Mass(np.ldexp(values.astype(np.float64), -exponent), False, exponent)
    return Mass(whole_numbers(values, "frequency"), True)


def aligned(
    clusterings: Sequence[Clustering], align: Align | None, who: Sequence[str]
) -> tuple[list[Clustering], list[Caution]]:
    """The clusterings with the same points in the same order, and notes on points that were left out."""
    if align is not None:
        one_of("align", align, ("index", "position"))
    ways = {c.matched_by for c in clusterings}
    return next(matched for way, matched in MATCHED.items() if way in ways)(clusterings, align, who)


def _by_points(
    clusterings: Sequence[Clustering], align: Align | None, who: Sequence[str]
) -> tuple[list[Clustering], list[Caution]]:
    """Clusterings of points in one order, or with an index."""
    indexed = [(i, c) for i, c in enumerate(clusterings) if c.index is not None]
    if align == "index":
        if len(indexed) < len(clusterings):
            bare = next(w for c, w in zip(clusterings, who, strict=True) if c.index is None)
            raise InputError(f"{Option('align', 'index')} needs an index on every clustering, but {bare} has none")
        return _on_common_index(clusterings, who)
    if align is None and len(indexed) > 1:
        (first, a), *others = indexed
        for i, b in others:
            if not a.index.equals(b.index):
                same = len(a) == len(b) and set(a.index) == set(b.index)
                how = "have the same points in a different order" if same else "differ"
                raise InputError(
                    f"the indexes of {who[first]} and {who[i]} {how}; pass {Option('align', 'index')} to compare "
                    f"common points, or {Option('align', 'position')} to ignore the indexes"
                )
    lengths = [len(c) for c in clusterings]
    for i, length in enumerate(lengths):
        if length != lengths[0]:
            raise InputError(
                f"{who[0]} and {who[i]} have {lengths[0]} and {length} points; both must label the same points "
                f"(pandas: pass {Option('align', 'index')} to compare common points)"
            )
    return list(clusterings), []


def _by_source(
    clusterings: Sequence[Clustering], align: Align | None, who: Sequence[str]
) -> tuple[list[Clustering], list[Caution]]:
    """Scanned columns must come from one source: rows of different sources cannot be matched."""
    first = next(cast("Column", c) for c in clusterings if c.matched_by == "source")
    for clustering, name in zip(clusterings, who, strict=True):
        if clustering.matched_by != "source":
            raise InputError(
                f"{name} is in memory but {first.name!r} is scanned; put both into one source (a cover as a column of lists), "
                "or read both into memory"
            )
        c = cast("Column", clustering)
        if c.source != first.source and not first.source.same_rows(c.source):
            raise InputError(
                f"{first.name!r} and {c.name!r} come from different sources; columns are compared row by row within one source: "
                "write them to one table first"
            )
    return list(clusterings), []


def _on_common_index(clusterings: Sequence[Clustering], who: Sequence[str]) -> tuple[list[Clustering], list[Caution]]:
    for c, name in zip(clusterings, who, strict=True):
        if not c.index.is_unique:
            raise InputError(
                f"{Option('align', 'index')} needs an index without repeated values; that of {name} has repeated values"
            )
    common = clusterings[0].index
    for c in clusterings[1:]:
        if not common.equals(c.index):
            common = common[common.isin(c.index)]
    if len(common) == 0:
        raise InputError(f"the indexes of {who[0]} and {who[-1]} have no point in common")
    notes = [
        Caution(
            "not_in_all",
            name,
            f"{{subject}}: points left out because they are not in all clusterings: {len(c) - len(common)}",
        )
        for c, name in zip(clusterings, who, strict=True)
        if len(c) > len(common)
    ]
    chosen = []
    for c in clusterings:
        if not c.index.equals(common):
            c = c.taken(np.asarray(c.index.get_indexer(common)), common)
        chosen.append(c)
    return chosen, notes


#: how the points of clusterings are matched, by `Clustering.matched_by`; the first way that any of them needs
MATCHED = {"source": _by_source, "names": on_same_points, "points": _by_points}


def left_out(members: Sequence[Clustering]) -> tuple[Caution, ...]:
    """Parts of scanned members that were skipped because they could not be read."""
    return tuple(Caution("not_read", "", line) for line in members[0].not_read)


def noise_for(noise: NoiseLike, column: Iterable[str | None]) -> Collection[Hashable] | None:
    """The noise labels that apply to a column: a scalar or a set for all, or a mapping column → labels."""
    if noise is None:
        return None
    if isinstance(noise, Mapping):
        for name in column:
            if name is not None and name in noise:
                return noise_for(noise[name], ())
        return None
    listed = noise if isinstance(noise, Iterable) and not isinstance(noise, str | bytes) else [noise]
    try:
        labels = frozenset(x.item() if isinstance(x, np.generic) else x for x in islice(listed, MOST_NOISE + 1))
    except TypeError:
        raise InputError(
            f"noise must be a label, a set of labels, or a mapping column → labels; got {noise!r}"
        ) from None
    if len(labels) > MOST_NOISE:
        raise InputError(f"noise may name up to {MOST_NOISE:,} labels")
    return labels


def check_index(clustering: Clustering | Ensemble, X: PointsLike, who: str, of: str = "the data") -> None:
    """Raise if both sides have an index and the two differ."""
    other = X is None or frame_kind(X) not in (None, "pandas") or type(X).__module__.startswith("xarray")
    index: Index = None if other else getattr(X, "index", None)
    if clustering.index is not None and hasattr(index, "equals") and not index.equals(clustering.index):
        raise InputError(
            f"the index of {who} differs from that of {of}; reindex one of them, or pass values without an index by .to_numpy()"
        )


def check_noise_of(
    members: Sequence[Clustering], given: NoiseLike, noise: Sequence[Collection[Hashable] | None]
) -> None:
    """Refuse noise labels of memberships, which have no labels: if all are soft, or if a mapping names them."""
    soft = [c.soft and labels is not None for c, labels in zip(members, noise, strict=True)]
    if all(soft) or (isinstance(given, Mapping) and any(soft)):
        refuse_idle(InputOptions, {"noise": given}, "for memberships, which have no labels")


def check_noise(noise: NoiseLike, columns: Iterable[str | None]) -> None:
    """Raise if a mapping of noise labels names an unknown column."""
    if isinstance(noise, Mapping):
        known = list(dict.fromkeys(name for name in columns if name is not None))
        for name in noise:
            if name not in known:
                raise InputError(f"noise names an unknown column {name!r}; the columns are: {some_of(known)}")


WHO = (A, B)
SOFT = (
    "by most measures soft clusterings do not reach the best value even with themselves (by aci, ndc and fari they do): compare "
    "other values with the self-scores"
)
POSSIBILISTIC = "possibilistic memberships: the entropy of one clustering depends on the other it is compared with"


@dataclass(frozen=True, kw_only=True)
class PreparedPair:
    """Two validated clusterings of the same points. Made by `prepared`."""

    sides: tuple[Clustering, Clustering]
    options: InputOptions = field(default_factory=InputOptions)
    mass: Mass | None = None
    #: noise labels of a and b; None if not given
    noise: tuple[Collection[Hashable] | None, ...] = (None, None)
    notes: tuple[Caution, ...] = ()

    @property
    def is_soft(self) -> bool:
        """Whether either clustering is soft."""
        return self.sides[0].soft or self.sides[1].soft

    @property
    def has_covers(self) -> bool:
        """Whether a clustering is a cover, whose clusters may overlap or leave points out."""
        return self.sides[0].overlapping or self.sides[1].overlapping

    @property
    def is_weighted(self) -> bool:
        """Whether points have importance weights (not frequencies)."""
        return self.mass is not None and not self.mass.is_frequency

    @property
    def names(self) -> tuple[str, str]:
        """The titles of the clusterings, else a and b."""
        first, second = (c.title or w for c, w in zip(self.sides, ("a", "b"), strict=True))
        return (first, second) if first != second else ("a", "b")

    @property
    def kind(self) -> str | None:
        """The kind of frame of the inputs."""
        return next((c.kind for c in self.sides if c.kind), None)

    def _dropped(self, table: Table, n_used: int) -> list[Caution]:
        """Cautions on points dropped because they have no label, and on sides left with one cluster."""
        if self.options.unassigned != "drop" or not any(c.may_drop and c.clusters is None for c in self.sides):
            return []
        n = self.sides[0].total(self.mass)
        gone = n - n_used
        if not gone:
            return []
        found = [
            Caution("dropped", "", f"{n - gone:,} of {n:,} points are compared; {gone:,} without a label were dropped")
        ]
        alone = [who for who, names in zip(WHO, (table.rows, table.columns), strict=True) if len(names) == 1]
        text = "{subject} has one cluster left after points without a label were dropped"
        return found + [Caution("one_cluster_left", who, text) for who in alone]

    def cautions(self, table: Table, n_used: int) -> tuple[Caution, ...]:
        """Cautions about this pair: label −1, soft self-scores, parts that could not be read; `n_used` points are compared."""
        found = [*self.notes, *left_out(self.sides), *(caution for c in self.sides for caution in c.cautions)]
        for c, names, labels, who in zip(self.sides, (table.rows, table.columns), self.noise, WHO, strict=True):
            found += c.doubts(who, labels, names)
        found += self._dropped(table, n_used)
        if self.is_soft:
            found.append(Caution("soft", "", SOFT))
        if not all(c.is_probabilistic for c in self.sides):
            found.append(Caution("possibilistic", "", POSSIBILISTIC))
        return tuple(found)


def prepared(a: ClusteringLike, b: ClusteringLike, options: InputOptions) -> PreparedPair:
    """Two clusterings, validated and aligned, with `unassigned` applied, and weights."""
    raw = [as_clustering(x, who) for x, who in zip((a, b), WHO, strict=True)]
    if options.unassigned == "partial":
        raise InputError(
            f"{Option('unassigned', 'partial')} keeps the gaps of an Ensemble; for a pair pass 'drop', 'singletons' or 'cluster'"
        )
    same = options.applied(raw, WHO, [c.title for c in raw])
    first, second = same.members
    return PreparedPair(sides=(first, second), options=options, mass=same.mass, noise=same.noise, notes=same.notes)


def check_no_options(options: InputOptions) -> None:
    """Refuse options about points: a hierarchy contains every point once."""
    if options.given:
        raise InputError(f"{options.given[0]} is for labels and memberships; hierarchies contain every point once")


def decided(
    raw: Sequence[Clustering], options: InputOptions, who: Sequence[str], columns: Sequence[str] | None = None
) -> tuple[Clustering, ...]:
    """Clusterings of possibly different points, with `unassigned` applied to each by the same rules.

    `who` are their names in messages; `columns` are other names that `noise` accepts besides their titles.
    """
    if options.unassigned == "partial":
        raise InputError(
            f"{Option('unassigned', 'partial')} is for an Ensemble; pass 'drop', 'singletons' or 'cluster'"
        )
    check_rule(options.unassigned)
    columns = who if columns is None else columns
    check_noise(options.noise, [*(c.title for c in raw), *columns])
    noise = [noise_for(options.noise, (c.title, column)) for c, column in zip(raw, columns, strict=True)]
    check_noise_of(raw, options.noise, noise)
    return tuple(c.with_policy(options.unassigned, labels, w) for c, w, labels in zip(raw, who, noise, strict=True))


def whole_labels(
    labels: ClusteringLike, n: int, who: str = "labels", X: PointsLike = None, of: str | None = None
) -> Labels:
    """One hard clustering with a label for each of the n points; if both have an index, it must equal that of X."""
    found = as_disjoint(labels, who)
    if found.soft:
        raise InputError(f"{who}: expected one complete partition, got memberships; take the argmax of each row")
    if len(found) != n and of is not None:
        raise InputError(f"{of} has {n} points and the {who} {len(found)}; both must have the same points")
    if len(found) != n:
        raise InputError(f"{who}: {len(found)} labels for {n} points; pass one label per point")
    check_index(found, X, who)
    if found.gaps:
        raise InputError(
            f"{who}: expected one complete partition, but {found.gaps} of {n} points have no label; drop them, or label them"
        )
    return cast("Labels", found)
