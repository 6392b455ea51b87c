"""The figure of a sweep as plain data: one record per cluster and per edge, with positions and colours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from congruence.errors import InputError, real_number
from congruence.hierarchies.sweep import Resolutions
from congruence.hierarchies.sweep_layout import Edge, Node
from congruence.inputs.coerce import as_clustering
from congruence.inputs.labels import Labels
from congruence.statistics.tables import Array
from congruence.typing import ColumnLike


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Clusters and edges of a sweep, ready to be drawn."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    columns: tuple[str, ...]
    #: what the colours show
    title: str
    #: labels by value, if the colours show labels
    labels: tuple[str, ...] | None
    #: number of edges hidden because their in_prop is small
    n_hidden: int

    @property
    def inks(self) -> tuple[str, ...]:
        """The colour of each node's name: white on the darker half of the scale, black elsewhere."""
        values = np.array([node.value for node in self.nodes])
        low, high = float(values.min()), float(values.max())
        dark = (values < (low + high) / 2) & (self.labels is None)
        return tuple("white" if x else "black" for x in dark.tolist())


def sweep_picture(r: Resolutions, color: ColumnLike = "stability", least: float = 0.1) -> Picture:
    """The figure of a sweep as plain data.

    Args:
        r: A sweep.
        color: "stability" (default), a float per point (the mean in each cluster is shown) or a label per point (the most
            frequent label of each cluster is shown).
        least: Edges with a smaller in_prop are hidden. Default: 0.1.

    Returns:
        A Picture with nodes, edges and the meaning of the colours.

    >>> import congruence as cg
    >>> drawn = sweep_picture(cg.resolutions({"k1": [0, 0, 0, 0], "k2": [0, 0, 1, 1]}))
    >>> [(node.column, node.cluster, node.x, node.y) for node in drawn.nodes]
    [('k1', '0', 0.5, 0), ('k2', '0', 0.0, 1), ('k2', '1', 1.0, 1)]
    """
    if not 0 <= real_number(least, "least") <= 1:
        raise InputError(f"least must be a share from 0 to 1, not {least!r}")
    values, title, labels, texts = _colours(r, color)
    nodes: list[Node] = []
    first: list[int] = []
    for y, (name, clusters) in enumerate(zip(r.names, r.clusters, strict=True)):
        first.append(len(nodes))
        for i, cluster in enumerate(clusters):
            nodes.append(
                Node(
                    column=name, cluster=str(cluster), x=float(r.places.x[y][i]), y=y, size=int(r.sizes[y][i]),
                    stability=float(r.scores[y][i]), value=float(values[y][i]), text=texts[y][i],
                )
            )  # fmt: skip
    edges, hidden = [], 0
    for step, link in enumerate(r.links):
        for i, j, count in zip(*(x.tolist() for x in link), strict=True):
            in_prop = count / int(r.sizes[step + 1][j])
            if in_prop < least:
                hidden += 1
                continue
            edges.append(
                Edge(
                    first=first[step] + i, second=first[step + 1] + j, count=count, in_prop=in_prop,
                    out_prop=count / int(r.sizes[step][i]),
                )
            )  # fmt: skip
    return Picture(
        nodes=tuple(nodes), edges=tuple(edges), columns=r.names, title=title, labels=labels, n_hidden=hidden
    )  # fmt: skip


def _colours(r: Resolutions, color: ColumnLike) -> tuple[list[Array], str, tuple[str, ...] | None, list[list[str]]]:
    """A value per cluster, its title, labels if it is a label, and the value as text."""
    if isinstance(color, str):
        if color != "stability":
            raise InputError(f"color must be 'stability', a float per point or a label per point; got {color!r}")
        words = [[f"stability {x:.3f}" for x in scores.tolist()] for scores in r.scores]
        return list(r.scores), "SC3 stability" + (" (normalised)" if r.normalised else ""), None, words
    title = str(getattr(color, "name", None) or "feature")
    try:
        given = np.asarray(color)
    except ValueError:  # lists of different lengths
        raise InputError(f"color must be one number or label per point; got {color!r}") from None
    if given.shape != (r.n_given,):
        raise InputError(f"color has shape {given.shape}; give one value for each of the {r.n_given} points")
    codes = [np.asarray(c.codes, dtype=np.int64) for c in r.ensemble.members if isinstance(c, Labels)]
    if given.dtype.kind == "f":
        feature = given[r.points].astype(np.float64)
        if not np.isfinite(feature).all():
            raise InputError("color must be finite numbers")
        means = [np.bincount(c, weights=feature) / np.bincount(c) for c in codes]
        return means, f"mean {title}", None, [[f"mean {title} {x:.4g}" for x in m.tolist()] for m in means]
    labels = as_clustering(color, "color")
    if not isinstance(labels, Labels):
        raise InputError("color must be 'stability', a float per point or a label per point")
    labels = labels.with_policy("error", None, "color").taken(r.points)
    names = tuple(str(x) for x in labels.names)
    values, words = [], []
    for c in codes:
        table = np.zeros((int(c.max()) + 1, labels.k), dtype=np.int64)
        np.add.at(table, (c, np.asarray(labels.codes, dtype=np.int64)), 1)
        most = table.argmax(axis=1)
        share = table.max(axis=1) / table.sum(axis=1)
        values.append(most.astype(float))
        words.append([f"{names[i]}: {s:.0%}" for i, s in zip(most.tolist(), share.tolist(), strict=True)])
    return values, "most frequent label" if title == "feature" else f"most frequent {title}", names, words
