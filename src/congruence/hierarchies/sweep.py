"""Resolution sweeps: which clusters stay, split or mix from one resolution to the next."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from congruence.comparison.many import compare_all
from congruence.comparison.presenting import Result, plain
from congruence.comparison.results import AllPairs
from congruence.engine import cpu
from congruence.errors import InputError, Option, With, names_in, real_number, some_of
from congruence.hierarchies.sweep_layout import Links, Places, tree_places
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import make_frame
from congruence.inputs.kinds import Unassigned
from congruence.inputs.labels import Labels
from congruence.options import described
from congruence.statistics.tables import Array, Table
from congruence.typing import (
    EnsembleLike,
    Frame,
    Label,
    NoiseLike,
    Record,
    Scalar,
)

#: measures between columns: agreement, agreement per point, and whether the finer clusters lie inside the coarser ones
MEASURES = ("ari", "element_centric", "wallace_ba")
#: an edge with a smaller in_prop comes from another branch
CROSSING = 0.5
#: fewest columns of a plateau, and largest difference of their effective numbers of clusters
SHORTEST, SAME_CLUSTERS = 3, 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class Plateau(Result):
    """Neighbouring columns that all agree with each other.

    Attributes:
        names: Names of the columns.
        n_clusters: Smallest and largest number of clusters.
        agreement: Smallest ari of any two of the columns.

    >>> import congruence as cg
    >>> halves = [0] * 6 + [1] * 6
    >>> r = cg.resolutions({"r_1": halves, "r_2": halves, "r_3": halves})
    >>> r.plateaus[0].names, r.plateaus[0].agreement
    (('r_1', 'r_2', 'r_3'), 1.0)
    """

    names: tuple[str, ...]
    n_clusters: tuple[int, int]
    agreement: float

    def __str__(self) -> str:
        low, high = self.n_clusters
        clusters = f"{low}" if low == high else f"{low} to {high}"
        return (
            f"{self.names[0]} to {self.names[-1]} form a plateau: {len(self.names)} columns with {clusters} clusters, any two "
            f"of which agree with ari {self.agreement:.2f} or more"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Resolutions(Result):
    """Label columns in the order of their resolution, and how clusters change from one to the next.

    Attributes:
        names: Names of the columns, in order.
        clusters: For each column the names of its clusters.
        sizes: For each column the numbers of points of its clusters.
        links: For each two neighbouring columns (first cluster, second cluster, points in common), clusters by number.
        scores: For each column the SC3 stability of its clusters.
        normalised: Whether the stability is divided by the number of other columns, so that it can reach 1.
        pairs: ari, element_centric and wallace_ba of all pairs of columns.
        point_scores: Element-centric score of each point for each two neighbouring columns, points × steps.
        threshold: Smallest ari of any two columns of a plateau.
        ensemble: The columns, in order.
        points: Positions of the points used, among the `n_given` points.
        n_given: Number of points given.
        notes: Notes on how the columns were read.

    >>> import congruence as cg
    >>> r = cg.resolutions({"k_2": [0] * 4 + [1] * 4, "k_1": [0] * 8})
    >>> r.names, r.sizes
    (('k_1', 'k_2'), (array([8]), array([4, 4])))
    """

    names: tuple[str, ...]
    clusters: tuple[tuple[Label, ...], ...]
    sizes: tuple[Array, ...] = field(repr=False)
    links: tuple[Links, ...] = field(repr=False)
    scores: tuple[Array, ...] = field(repr=False)
    normalised: bool
    pairs: AllPairs = field(repr=False)
    point_scores: Array = field(repr=False)
    threshold: float
    ensemble: Ensemble = field(repr=False)
    points: Array = field(repr=False)
    n_given: int
    notes: tuple[str, ...] = ()

    # --- nodes and edges ---

    @property
    def nodes(self) -> Frame:
        """A frame with one row per cluster: column, cluster, size, stability."""
        return make_frame(self.node_columns, self.ensemble.kind)

    @property
    def edges(self) -> Frame:
        """A frame with one row per pair of clusters in neighbouring columns that share points.

        `count` is the number of common points, `in_prop` their share of the cluster the edge leads to, `out_prop` their
        share of the cluster it comes from.
        """
        return make_frame(self.edge_columns, self.ensemble.kind)

    @property
    def node_columns(self) -> dict[str, list[Scalar]]:
        """The columns of `nodes`."""
        return {
            "column": [name for name, c in zip(self.names, self.clusters, strict=True) for _ in c],
            "cluster": [str(x) for c in self.clusters for x in c],
            "size": np.concatenate(self.sizes).tolist(),
            "stability": np.concatenate(self.scores).tolist(),
        }

    @property
    def edge_columns(self) -> dict[str, list[Scalar]]:
        """The columns of `edges`."""
        columns: dict[str, list[Scalar]] = {
            key: []
            for key in ("from_column", "from_cluster", "to_column", "to_cluster", "count", "in_prop", "out_prop")
        }
        for step, (first, second, count) in enumerate(self.links):
            columns["from_column"] += [self.names[step]] * len(count)
            columns["to_column"] += [self.names[step + 1]] * len(count)
            columns["from_cluster"] += [str(self.clusters[step][i]) for i in first.tolist()]
            columns["to_cluster"] += [str(self.clusters[step + 1][j]) for j in second.tolist()]
            columns["count"] += count.tolist()
            columns["in_prop"] += (count / self.sizes[step + 1][second]).tolist()
            columns["out_prop"] += (count / self.sizes[step][first]).tolist()
        return columns

    @property
    def stability(self) -> dict[str, dict[Label, float]]:
        """SC3 stability by column and cluster: `r.stability["leiden_0.4"]["3"]`."""
        return {
            name: dict(zip(clusters, scores.tolist(), strict=True))
            for name, clusters, scores in zip(self.names, self.clusters, self.scores, strict=True)
        }

    # --- from column to column ---

    @property
    def agreement(self) -> Array:
        """ari of each pair of neighbouring columns."""
        return np.diagonal(self.pairs["ari"], 1)

    @property
    def nestedness(self) -> Array:
        """Share of the pairs of points together in a column that are together in the previous one; 1 if clusters only split."""
        return np.diagonal(self.pairs["wallace_ba"], 1)

    @property
    def crossing(self) -> Array:
        """For each step, the number of edges with in_prop below one half: clusters that mix."""
        return np.array(
            [
                int((count / self.sizes[step + 1][second] < CROSSING).sum())
                for step, (_, second, count) in enumerate(self.links)
            ]
        )

    @property
    def core(self) -> Array:
        """Points whose cluster never changes, one boolean per point."""
        return np.asarray((self.point_scores == 1).all(axis=1))

    @property
    def summary(self) -> Frame:
        """A frame with one row per column: clusters, mean stability weighted by size, and the step to the next column."""
        return make_frame(self.summary_columns, self.ensemble.kind)

    @property
    def summary_columns(self) -> dict[str, list[Scalar]]:
        """The columns of `summary`; the last column has no next step, so its entries are NaN."""
        unchanged = (self.point_scores == 1).mean(axis=0)
        steps = {
            "ari_next": self.agreement,
            "element_centric_next": np.diagonal(self.pairs["element_centric"], 1),
            "nested_next": self.nestedness,
            "crossing_next": self.crossing,
            "unchanged_next": unchanged,
        }
        return {
            "column": list(self.names),
            "n_clusters": [len(c) for c in self.clusters],
            "stability": [float(np.average(s, weights=w)) for s, w in zip(self.scores, self.sizes, strict=True)],
            **{name: [*np.asarray(values, dtype=float).tolist(), np.nan] for name, values in steps.items()},
        }

    # --- plateaus ---

    @cached_property
    def plateaus(self) -> tuple[Plateau, ...]:
        """Runs of three or more columns in which any two agree with ari ≥ threshold, the longest first.

        Their effective numbers of clusters (the exponential of the entropy) differ by less than 0.5: with many clusters,
        splitting one changes the ari little. Columns with one cluster are in no plateau.
        """
        many = [len(c) for c in self.clusters]
        shares = [size / size.sum() for size in self.sizes]
        effective = np.array([float(np.exp(-(p * np.log(p)).sum())) for p in shares])
        alike = (self.pairs["ari"] >= self.threshold) & (np.abs(effective[:, None] - effective) < SAME_CLUSTERS)
        alike &= np.minimum.outer(many, many) > 1
        found: list[Plateau] = []
        last = 0
        for start in range(len(self.names)):
            end = start
            while end < len(self.names) and alike[start : end + 1, end].all():
                end += 1
            if end - start >= SHORTEST and end > last:  # otherwise it is part of the previous run
                span = many[start:end]
                worst = float(self.pairs["ari"][start:end, start:end].min())
                found.append(Plateau(names=self.names[start:end], n_clusters=(min(span), max(span)), agreement=worst))
                last = end
        return tuple(sorted(found, key=lambda p: (-len(p.names), -p.agreement)))

    @property
    def plateau(self) -> Plateau | None:
        """The longest plateau, or None."""
        return self.plateaus[0] if self.plateaus else None

    @property
    def sentence(self) -> str:
        """One sentence on which columns form a plateau."""
        if self.plateau is None:
            return (
                f"There is no plateau: no {SHORTEST} neighbouring columns have the same clusters "
                f"(any two with ari {self.threshold:g} or more)"
            )
        rest = len(self.plateaus) - 1
        more = f"; there {'is' if rest == 1 else 'are'} {rest} more" if rest else ""
        return f"{self.plateau}{more}"

    # --- shown ---

    @cached_property
    def places(self) -> Places:
        """Positions of the clusters in the figure."""
        return tree_places(self.sizes, self.links)

    def table_columns(self) -> Record:
        """One row per cluster: the columns of `nodes`."""
        return self.node_columns

    def to_dict(self) -> Record:
        """Everything as plain lists, for JSON."""
        columns = [
            {"column": name, "clusters": [str(x) for x in c], "sizes": size, "stability": score, "x": x}
            for name, c, size, score, x in zip(
                self.names, self.clusters, self.sizes, self.scores, self.places.x, strict=True
            )
        ]
        steps = [
            {
                "from": self.names[i], "to": self.names[i + 1], "edges": np.stack(link, axis=1), "ari": self.agreement[i],
                "nested": self.nestedness[i], "crossing": int(self.crossing[i]),
            }
            for i, link in enumerate(self.links)
        ]  # fmt: skip
        return dict(plain({"columns": columns, "steps": steps, "plateau": self.sentence, "notes": self.notes}))

    def __repr__(self) -> str:
        ks = [len(c) for c in self.clusters]
        head = f"{len(self.names)} columns, {self.names[0]} to {self.names[-1]}, {min(ks)} to {max(ks)} clusters"
        crossing, core = int(self.crossing.sum()), int(self.core.sum())
        lines = [head, self.sentence + ".", f"{crossing} crossing edges; {core:,} points whose cluster never changes."]
        return "\n".join([*lines, *(f"! {note}" for note in self.notes)])


@described
def resolutions(
    columns: EnsembleLike,
    order: Sequence[str] | str | None = None,
    *,
    normalised: bool = False,
    threshold: float = 0.9,
    unassigned: Unassigned = "error",
    noise: NoiseLike = None,
    threads: int | None = None,
) -> Resolutions:
    """How clusters split and mix over a resolution sweep: nodes, edges, stability, plateaus.

    Args:
        columns: Label columns of the same points: a frame, a mapping, a 2-D array of label columns, a list, or an Ensemble.
        order: Names of the columns in order, or "n_clusters" for the number of clusters. Default: by the number in the
            names, as in leiden_0.2, leiden_0.4 …, if they differ only in that number; otherwise as given.
        normalised: Divide the SC3 stability by the number of other columns, so that a cluster that never changes scores 1.
            Default: False, as published, where it scores (m − 1)/m for m columns.
        threshold: Smallest ari of any two columns of a plateau, 0 to 1. Default: 0.9.
        unassigned: What to do with missing labels: "error" (default), "drop" (points unassigned in any column are left out),
            "singletons" or "cluster".
        noise, threads: See `congruence.options`.

    Returns:
        A Resolutions with `nodes`, `edges`, `stability`, `summary`, `plateaus` and `plot()`.

    Raises:
        InputError: If there are fewer than two columns, memberships, or names in `order` that are not columns.

    See also:
        `cg.Hierarchy` for columns that are nested, `cg.choose_k` to choose a number of clusters from data.

    >>> import congruence as cg
    >>> r = cg.resolutions({"k_4": [0, 0, 1, 1, 2, 2, 3, 3], "k_1": [0] * 8, "k_2": [0] * 4 + [1] * 4})
    >>> r.names, r.stability["k_2"]
    (('k_1', 'k_2', 'k_4'), {0: 0.3333333333333333, 1: 0.3333333333333333})
    >>> r.nestedness.tolist(), r.crossing.tolist()
    ([1.0, 1.0], [0, 0])
    """
    if not 0 < real_number(threshold, "threshold") <= 1:
        raise InputError(f"threshold must be an ari above 0 and at most 1, not {threshold!r}")
    policy: Unassigned = "partial" if unassigned == "drop" else unassigned
    ensemble = Ensemble(columns, unassigned=policy, noise=noise)
    if ensemble.is_lazy or ensemble.is_soft or ensemble.has_covers:
        raise InputError("a resolution sweep needs label columns in memory, not scans, memberships or covers")
    if len(ensemble) < 2:
        raise InputError(f"a sweep needs at least two columns; got {len(ensemble)}")
    if ensemble.mass is not None:
        raise InputError("a resolution sweep does not use weights; leave them out")
    notes: list[str] = list(dict.fromkeys([*ensemble.notes, *ensemble.cautions]))
    notes += [] if order is not None else mixed_note(ensemble.names)
    ensemble = ensemble[_ordered(ensemble, order)]
    if len(ensemble) < 2:
        raise InputError(f"a sweep needs at least two columns; order names {len(ensemble)}")
    n_given = ensemble.n_points
    kept = np.arange(n_given)
    if ensemble.has_gaps:  # "drop", or an Ensemble that was made with gaps
        kept = np.flatnonzero(np.all([_codes(c) < c.k for c in _labels(ensemble)], axis=0))
        if not len(kept):
            raise InputError("no point is assigned in every column")
        notes.append(f"{ensemble.n_points - len(kept):,} points that are unassigned in some column were left out")
        ensemble = Ensemble(
            [np.asarray(c.names, dtype=object)[_codes(c)[kept]] for c in _labels(ensemble)], names=ensemble.names
        )
    members = _labels(ensemble)
    many = len(members)
    alone = [int((np.bincount(_codes(c), minlength=c.k) == 1).sum()) for c in members]
    if max(alone) > 0:
        listed = [f"{many} in {name}" for many, name in zip(alone, ensemble.names, strict=True) if many]
        notes.append(f"clusters of one point, which no other column can split: {some_of(listed, 4)}")
    pairs = compare_all(ensemble, MEASURES, threads=threads)
    tables = {(k, m): cpu.table_of(members[k], members[m])[0] for k in range(many) for m in range(k + 1, many)}
    scores = tuple(_stability(k, many, tables, normalised) for k in range(many))
    links = tuple((t.row, t.col, t.count) for t in (tables[k, k + 1] for k in range(many - 1)))
    per_point = np.empty((ensemble.n_points, many - 1))
    for step in range(many - 1):
        t = tables[step, step + 1]
        share = t.count / np.maximum(t.row_sums[t.row], t.col_sums[t.col])
        per_point[:, step] = share[_cell_of(t, _codes(members[step]), _codes(members[step + 1]))]
    return Resolutions(
        names=ensemble.names, clusters=tuple(tuple(plain(c.names)) for c in members),
        sizes=tuple(np.bincount(_codes(c), minlength=c.k) for c in members), links=links, scores=scores,
        normalised=normalised, pairs=pairs, point_scores=per_point, threshold=float(threshold), ensemble=ensemble,
        points=kept, n_given=n_given, notes=tuple(notes),
    )  # fmt: skip


def _labels(e: Ensemble) -> list[Labels]:
    """The members of a sweep, which are all labels."""
    return [c for c in e.members if isinstance(c, Labels)]


def _codes(c: Labels) -> Array:
    return np.asarray(c.codes, dtype=np.int64)


def _cell_of(t: Table, a: Array, b: Array) -> Array:
    """The cell of each point with these codes."""
    wide = t.shape[1]
    cells = t.row * np.int64(wide) + t.col
    order = np.argsort(cells, kind="stable")
    return order[np.searchsorted(cells[order], a * wide + b)]


def _stability(k: int, many: int, tables: dict[tuple[int, int], Table], normalised: bool) -> Array:
    """SC3 stability of the clusters of column k: how intact they are in the other columns, averaged over all columns."""
    total = np.zeros(())
    for other in range(many):
        if other == k:
            continue
        t = tables[min(k, other), max(k, other)]
        mine, theirs, sizes = (t.row, t.col, t.col_sums) if k < other else (t.col, t.row, t.row_sums)
        parts = np.bincount(mine)
        held = np.bincount(mine, weights=t.count / sizes[theirs])
        total = total + held / np.square(parts)
    return np.asarray(total / (many - 1 if normalised else many))


_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=\D*$)")


def _ordered(ensemble: Ensemble, order: Sequence[str] | str | None) -> list[int]:
    """The members in order of resolution."""
    names = list(ensemble.names)
    if isinstance(order, str):
        if order != "n_clusters":
            raise InputError(f"order must be a list of column names, or 'n_clusters'; got {order!r}")
        return sorted(range(len(names)), key=lambda i: ensemble.members[i].k)
    if order is not None:
        listed = [str(x) for x in names_in(order, "order")]
        unknown = [x for x in listed if x not in names]
        if unknown:
            raise InputError(f"there is no column {unknown[0]!r}; there are: {some_of(names)}")
        if len(set(listed)) < len(listed):
            raise InputError(f"a column is named twice in {Option('order')}")
        return [names.index(x) for x in listed]
    return number_order(names)


def number_order(names: Sequence[str]) -> list[int]:
    """Order of names that differ only in a number, by that number; otherwise as given.

    >>> number_order(["leiden_2.0", "leiden_0.2", "leiden_10"])
    [1, 0, 2]
    """
    found = [_NUMBER.search(name) for name in names]
    if any(m is None for m in found) or len(set(map(without_number, names))) != 1:
        return list(range(len(names)))
    values = [float(m[0]) for m in found if m]
    return sorted(range(len(names)), key=lambda i: values[i])


def without_number(name: str) -> str:
    """The name with "#" in place of its last number: what columns of one sweep have in common.

    >>> without_number("leiden_0.2"), without_number("sc3_4_clusters"), without_number("louvain")
    ('leiden_#', 'sc3_#_clusters', 'louvain')
    """
    m = _NUMBER.search(name)
    return name if m is None else f"{name[: m.start()]}#{name[m.end() :]}"


def mixed_note(names: Sequence[str]) -> list[str]:
    """A note if the columns belong to several sweeps, as those of two methods: a step between them changes more than k.

    >>> mixed_note(["sc3_1", "sc3_2", "seurat_1", "seurat_2"])  # doctest: +NORMALIZE_WHITESPACE
    ['the columns seem to be of 2 sweeps (sc3_#, seurat_#), followed here as one: the step from one to the next changes
      the method; choose those of one, as in sc3_*']
    """
    kinds = list(dict.fromkeys(map(without_number, names)))
    if len(kinds) == 1 or len(kinds) == len(names):
        return []
    pattern = kinds[0].replace("#", "*")
    return [
        f"the columns seem to be of {len(kinds)} sweeps ({some_of(kinds, 4)}), followed here as one: the step from one to the "
        f"next changes the method; choose those of one{With('columns')}, as in {pattern}"
    ]
