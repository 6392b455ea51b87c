"""Validate a pair of clusterings, matrices or ensembles, and align them on the same points."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from congruence.errors import Caution, InputError
from congruence.inputs.alignment import InputOptions, Mass, check_index, check_noise, left_out, noise_for
from congruence.inputs.coerce import Clustering, as_clustering, as_disjoint
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.labels import Labels, noise_caution, spelling_caution
from congruence.inputs.memberships import Memberships
from congruence.inputs.similarity import Similarity
from congruence.statistics.tables import Table

WHO = ("a", "b")

SOFT = (
    "soft clusterings do not reach the best value even with themselves: compare each value with the "
    "self-scores; ari_gram is centred on 0"
)

POSSIBILISTIC = "possibilistic memberships: the entropy of one clustering depends on the other it is compared with"


@dataclass(frozen=True, kw_only=True)
class PreparedPair:
    """Two validated sides: both single clusterings, or both matrices or ensembles. Made by `prepared`."""

    a: Any
    b: Any
    options: InputOptions = field(default_factory=InputOptions)
    mass: Mass | None = None
    #: noise labels of a and b; None if not given
    noise: tuple[Collection[Hashable] | None, ...] = (None, None)
    notes: tuple[Caution, ...] = ()
    #: which of the two was given as a single clustering
    single: tuple[bool, bool] = (True, True)

    @property
    def sides(self) -> tuple[Any, Any]:
        """Both sides."""
        return self.a, self.b

    @property
    def is_of_matrices(self) -> bool:
        """Whether the sides are matrices or ensembles instead of two clusterings."""
        return isinstance(self.a, Ensemble | Similarity)

    @property
    def is_of_trees(self) -> bool:
        """Whether either side is a hierarchy."""
        return isinstance(self.a, Hierarchy) or isinstance(self.b, Hierarchy)

    @property
    def is_soft(self) -> bool:
        """Whether either clustering is soft."""
        return any(c.soft for c in self.sides)

    @property
    def has_covers(self) -> bool:
        """Whether a clustering is a cover, whose clusters may overlap or leave points out."""
        return any(c.overlapping for c in self.sides)

    @property
    def is_weighted(self) -> bool:
        """Whether points have importance weights (not frequencies)."""
        return self.mass is not None and not self.mass.is_frequency

    @property
    def names(self) -> tuple[str, str]:
        """The titles of the clusterings, else a and b."""
        if self.is_of_matrices:
            return "a", "b"
        first, second = (c.title or w for c, w in zip(self.sides, WHO, strict=True))
        return (first, second) if first != second else ("a", "b")

    @property
    def kind(self) -> str | None:
        """The kind of frame of the inputs."""
        return None if self.is_of_matrices else next((c.kind for c in self.sides if c.kind), None)

    def _dropped(self, table: Table) -> list[Caution]:
        """Cautions on points dropped because they have no label, and on sides left with one cluster."""
        plain = [c for c in self.sides if isinstance(c, Labels) and not c.lazy and c.clusters is None and c.gaps]
        if self.options.unassigned != "drop" or not plain:
            return []
        gone = int(np.logical_or.reduce([c.codes == c.k for c in plain]).sum())
        n = len(plain[0])
        found = [
            Caution("dropped", "", f"{n - gone:,} of {n:,} points are compared; {gone:,} without a label were dropped")
        ]
        alone = [who for who, names in zip(WHO, (table.rows, table.columns), strict=True) if len(names) == 1]
        text = "{subject} has one cluster left after points without a label were dropped"
        return found + [Caution("one_cluster_left", who, text) for who in alone]

    def cautions(self, table: Table | None = None) -> tuple[Caution, ...]:
        """Cautions about this pair: label −1, soft self-scores, parts that could not be read."""
        if table is None:
            return tuple(c for e in self.sides if isinstance(e, Ensemble) for c in (*e.notes, *e.cautions))
        found = [*self.notes, *left_out(self.sides), *(caution for c in self.sides for caution in c.cautions)]
        for c, names, labels, who in zip(self.sides, (table.rows, table.columns), self.noise, WHO, strict=True):
            labelled = isinstance(c, Labels) and not c.lazy and c.clusters is None
            found += noise_caution(names, who) if labelled and labels is None else []
            found += spelling_caution(names, who) if labelled else []
        found += self._dropped(table)
        if self.is_soft:
            found.append(Caution("soft", "", SOFT))
        if any(isinstance(c, Memberships) and not c.is_probabilistic for c in self.sides):
            found.append(Caution("possibilistic", "", POSSIBILISTIC))
        return tuple(found)


def prepared(a: Any, b: Any, options: InputOptions) -> PreparedPair:
    """The two sides, validated and aligned, with unassigned points decided, and weights."""
    if isinstance(a, Hierarchy) or isinstance(b, Hierarchy):
        check_no_options(options)
        return PreparedPair(a=a, b=b, options=options)
    if any(isinstance(x, Ensemble | Similarity) for x in (a, b)):
        return _of_matrices(a, b, options)
    raw = [as_clustering(a, "a"), as_clustering(b, "b")]
    if options.unassigned == "partial":
        raise InputError(
            "unassigned='partial' keeps the gaps of an Ensemble; for a pair pass 'drop', 'singletons' or 'cluster'"
        )
    same = options.applied(raw, WHO, [c.title for c in raw])
    first, second = same.members
    return PreparedPair(a=first, b=second, options=options, mass=same.mass, noise=same.noise, notes=same.notes)


def check_no_options(options: InputOptions) -> None:
    """Hierarchies have every point once: options about points are refused."""
    if options.given:
        raise InputError(f"{options.given[0]} is for labels and memberships; hierarchies have every point once")


def _of_matrices(a: Any, b: Any, options: InputOptions) -> PreparedPair:
    """Two sides of which one is a matrix or ensemble: a single clustering becomes an ensemble of one."""
    if options.align == "index":
        raise InputError("align='index' joins single clusterings; reindex the frames of an ensemble or matrix first")
    single = tuple(not isinstance(x, Ensemble | Similarity) for x in (a, b))
    if not any(single) and (options.unassigned != "error" or options.noise is not None):
        name = "noise" if options.noise is not None else "unassigned"
        raise InputError(f"{name}= belongs to the ensemble, where its members are read: cg.Ensemble(…, {name}=…)")
    weighed = options.sample_weight is not None or options.frequency is not None
    # points that a single clustering drops are gaps, and pairs with a gap are not counted
    own = replace(options, align=None, unassigned="partial" if options.unassigned == "drop" else options.unassigned)
    sides = []
    for x, who, is_single in zip((a, b), WHO, single, strict=True):
        if weighed and not is_single:
            raise InputError("weights of points belong to the ensemble: cg.Ensemble(…, sample_weight=…)")
        sides.append(Ensemble([x], names=[who], **vars(own)) if is_single else x)
    p, q = sides
    if isinstance(p, Ensemble) and isinstance(q, Ensemble):
        p.check_same_points(q, by_index=options.align is None)
        p, q = _with_one_mass(p, q)
    mass = next((x.mass for x in (p, q) if isinstance(x, Ensemble)), None)
    return PreparedPair(a=p, b=q, options=options, mass=mass, single=(single[0], single[1]))


def _with_one_mass(p: Ensemble, q: Ensemble) -> tuple[Ensemble, Ensemble]:
    """The point weights of both sides: those given on one side apply to both; different ones are an error."""
    if p.mass is q.mass:
        return p, q
    if p.mass is not None and q.mass is not None:
        if p.mass.is_frequency != q.mass.is_frequency or not _same_values(p.mass.values, q.mass.values):
            raise InputError("the two ensembles weigh their points differently; give both the same weights")
        return p, q
    mass = p.mass or q.mass
    p, q = copy(p), copy(q)
    p.mass = q.mass = mass
    return p, q


def _same_values(a: Any, b: Any) -> bool:
    """Whether these are the same weights: equal numbers, or one column of one scan."""
    if getattr(a, "lazy", False) and getattr(b, "lazy", False):
        return bool(a.name == b.name and (a.source is b.source or a.source.same_rows(b.source)))
    return np.array_equal(a, b)


def decided(
    raw: Sequence[Clustering], options: InputOptions, who: Sequence[str], columns: Sequence[str] | None = None
) -> tuple[Clustering, ...]:
    """Clusterings of points that need not be the same, each with its unassigned points decided by the same rules.

    `who` are their names in messages; `columns` are other names that `noise` accepts besides their titles.
    """
    if options.unassigned == "partial":
        raise InputError("unassigned='partial' is for an Ensemble; pass 'drop', 'singletons' or 'cluster'")
    columns = who if columns is None else columns
    check_noise(options.noise, [*(c.title for c in raw), *columns])
    return tuple(
        c.with_policy(options.unassigned, noise_for(options.noise, (c.title, column)), w)
        for c, w, column in zip(raw, who, columns, strict=True)
    )


def whole_labels(labels: Any, n: int, who: str = "labels", X: Any = None, of: str | None = None) -> Labels:
    """One hard clustering with a label for each of the n points; if both have an index, it must equal that of X."""
    found = as_disjoint(labels, who)
    if not isinstance(found, Labels):
        raise InputError(f"{who}: expected one complete partition, got memberships; take the argmax of each row")
    if len(found) != n and of is not None:
        raise InputError(f"{of} has {n} points and the {who} {len(found)}; both must have the same points")
    if len(found) != n:
        raise InputError(f"{who}: {len(found)} labels for {n} points; pass one label per point")
    check_index(found, X, who)
    if found.gaps:
        raise InputError(
            f"{who}: expected one complete partition, but {found.gaps} points have no label; drop them, or label them"
        )
    return found
