"""A hierarchy of clusters: a rooted tree whose leaves are the points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from congruence.errors import (
    Call,
    Caution,
    InputError,
    Option,
    check_different,
    counted,
    names_in,
    real_number,
    some_of,
    whole_number,
)
from congruence.inputs import tree_formats
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import html_table
from congruence.inputs.labels import is_frame
from congruence.inputs.tree_formats import Merges
from congruence.statistics.tables import Array
from congruence.typing import Label, TreeLike


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes of a tree: the points first, then the merges from the bottom up; the root is the last."""

    parent: Array
    size: Array
    #: position of the first point of each node in the order of the leaves
    start: Array
    height: Array
    #: depth, and the largest and smallest number of steps down to a point
    depth: Array
    far: Array
    near: Array


class Hierarchy:
    """A rooted tree whose leaves are the points, read from a linkage, merges, Newick text, nested lists or label columns.

    Args:
        tree: A scipy linkage (a float array, (n − 1) × 4); a pair `(children, heights)`, as scikit-learn's `children_` and
            `distances_` or R's `merge` and `height`; a fitted AgglomerativeClustering; Newick text or the path of a Newick
            file; nested lists of points, as `[[0, 1], [2, [3, 4]]]`; or label columns (an integer or string
            array, a frame, a mapping, an Ensemble), each of which refines the next coarser one.
        points: Names of the points, in the order of the linkage. Two hierarchies with named points are aligned by name.
            Default: the names in the Newick text, in the lists or in the index of the frame; otherwise none.

    Attributes:
        children: The n − 1 merges of two clusters each; points are 0 … n − 1 and merge i makes cluster n + i.
        heights: The height of each merge.
        points: Names of the points, or None.
        levels: The label columns, coarsest first, if the tree was given by levels; otherwise None.
        notes: Notes on how the tree was read.

    Raises:
        InputError: If the input is not a tree, or the columns are not nested.

    See also:
        `cg.compare`, `cg.cut_curve`, `cg.compare_cuts`; `cg.resolutions` for columns that are not nested.

    >>> import congruence as cg
    >>> h = cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);")
    >>> h.n_points, h.cut(2).tolist(), h.cut(height=1.5).tolist()
    (4, [0, 0, 1, 1], [0, 0, 1, 2])
    >>> cg.Hierarchy([[0, 1], [2, [3, 4]]]).cut(3).tolist()
    [0, 0, 1, 2, 2]
    """

    what = "a hierarchy"

    def __init__(self, tree: TreeLike, *, points: Sequence[Label] | None = None) -> None:
        merges = _read(tree)
        self.children: Array = merges.children
        self.heights: Array = merges.heights
        #: False if the next merge belongs to the same node: a node with m children is m − 1 merges
        self.whole: Array = merges.whole
        self.levels: Array | None = merges.levels
        self.level_names: tuple[str, ...] = merges.level_names
        self.notes: tuple[str, ...] = merges.notes
        named = merges.points if points is None else tuple(names_in(points, "points"))
        if named is not None and len(named) != self.n_points:
            raise InputError(f"{len(named)} names for {self.n_points} points")
        check_different(named or (), "points", "the tree")
        self.points: tuple[Label, ...] | None = named
        if named is not None and {str(x) for x in named} == {str(i) for i in range(len(named))}:
            # names that are point numbers are positions
            self._place(np.array([int(str(x)) for x in named], dtype=np.int64), None)

    def _place(self, place: Array, points: tuple[Label, ...] | None) -> None:
        """Renumber point i as place[i]; used only while the tree is built."""
        n = self.n_points
        self.children = np.concatenate([place, np.arange(n, 2 * n - 1)])[self.children]
        self.points = points
        if self.levels is not None:
            levels = np.empty_like(self.levels)
            levels[:, place] = self.levels
            self.levels = levels

    # --- the tree ---

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.children) + 1

    @cached_property
    def sizes(self) -> Array:
        """Number of points of each cluster: the points, then the clusters made by the merges."""
        size = [1] * self.n_points
        for left, right in self.children.tolist():
            size.append(size[left] + size[right])
        return np.array(size, dtype=np.int64)

    @cached_property
    def starts(self) -> Array:
        """Position of the first point of each cluster in the order of the leaves."""
        n, size = self.n_points, self.sizes.tolist()
        start = [0] * (2 * n - 1)
        for merge in range(n - 2, -1, -1):
            left, right = self.children[merge].tolist()
            start[left] = start[n + merge]
            start[right] = start[n + merge] + size[left]
        return np.array(start, dtype=np.int64)

    @cached_property
    def order(self) -> Array:
        """The points from left to right: every cluster is an interval."""
        order = np.empty(self.n_points, dtype=np.int64)
        order[self.starts[: self.n_points]] = np.arange(self.n_points)
        return order

    @cached_property
    def joins(self) -> Array:
        """The merge that joins each pair of neighbours in the order; the merge of any two points is the largest between them."""
        joins = np.empty(self.n_points - 1, dtype=np.int64)
        joins[self.starts[self.children[:, 1]] - 1] = np.arange(self.n_points - 1)
        return joins

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes; a merge of several clusters at once is one node."""
        n, ends = self.n_points, np.flatnonzero(self.whole)
        kept = np.concatenate([np.arange(n), n + ends])  # clusters that are nodes
        above = np.full(2 * n - 1, -1, dtype=np.int64)
        above[self.children] = np.searchsorted(ends, np.arange(n - 1))[:, None] + n
        parent = above[kept]
        total = len(kept)
        depth, far, near = ([0] * total for _ in range(3))
        for node in range(total - 1):
            up = int(parent[node])
            far[up] = max(far[up], far[node] + 1)
            near[up] = min(near[up] or total, near[node] + 1)
        for node in range(total - 2, -1, -1):
            depth[node] = depth[parent[node]] + 1
        heights = np.concatenate([np.zeros(n), self.heights[ends]])
        return Nodes(
            parent, self.sizes[kept], self.starts[kept], heights, *(np.array(x, np.int64) for x in (depth, far, near))
        )

    @property
    def has_inversions(self) -> bool:
        """Whether some merge is lower than one below it, as in centroid and median linkage."""
        inner = np.arange(self.n_points, len(self.nodes.parent) - 1)
        return bool((self.nodes.height[inner] > self.nodes.height[self.nodes.parent[inner]]).any())

    @property
    def linkage(self) -> Array:
        """The tree as scipy's linkage matrix; a node with several children is several merges of one height."""
        return np.column_stack([np.sort(self.children, axis=1), self.heights, self.sizes[self.n_points :]])

    # --- cuts ---

    @cached_property
    def ks(self) -> Array:
        """Numbers of clusters for which a cut exists, from n down to 1; a merge of several clusters at once skips some."""
        return np.concatenate([[self.n_points], self.n_points - 1 - np.flatnonzero(self.whole)])

    @property
    def tied_ks(self) -> Array:
        """Numbers of clusters at which the last merge made and the next one have the same height: the cut is arbitrary."""
        inner = self.ks[(self.ks > 1) & (self.ks < self.n_points)]
        last = self.n_points - inner - 1
        return np.asarray(inner[self.heights[last] == self.heights[last + 1]])

    def cut(self, k: int | None = None, *, height: float | None = None) -> Array:
        """The clusters of one cut: a number per point, counted from 0 in the order of the points.

        Args:
            k: Number of clusters, 1 … n: the first n − k merges are made, in the order given. If heights tie, the cut
                depends on that order (`tied_ks` lists these k).
            height: Instead of k, the largest height of a merge inside a cluster.

        Returns:
            An integer array with one cluster per point, in the order of the points.

        Raises:
            InputError: If no cut has k clusters, or neither or both of k and height are given.

        See also:
            `cuts` for several cuts as an Ensemble.

        >>> import congruence as cg
        >>> cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);").cut(3).tolist()
        [0, 0, 1, 2]
        """
        if (k is None) == (height is None):
            raise InputError("pass the number of clusters, as in cut(3), or a height, as in cut(height=0.5)")
        if height is not None:
            apart = self._highest[self.joins] > real_number(height, "height")
        else:
            apart = self.joins >= self.n_points - self.checked_k(k)
        codes = np.empty(self.n_points, dtype=np.int64)
        codes[self.order] = np.concatenate([[0], np.cumsum(apart)])
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        return np.asarray(np.argsort(np.argsort(first))[inverse])

    @cached_property
    def _highest(self) -> Array:
        """The highest merge inside each cluster that a merge makes."""
        n, found = self.n_points, self.heights.tolist()
        for merge, (left, right) in enumerate(self.children.tolist()):
            found[merge] = max([found[merge], *(found[c - n] for c in (left, right) if c >= n)])
        return np.array(found)

    def checked_k(self, k: object) -> int:
        """The number of clusters, if a cut has that many.

        Args:
            k: Number of clusters.

        Raises:
            InputError: If there is no such cut.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer):
            raise InputError(
                f"the number of clusters must be a whole number, not {k!r}; for a height use cut(height=…)"
            )
        if not 1 <= k <= self.n_points:
            raise InputError(f"a tree of {self.n_points} points has cuts into 1 to {self.n_points} clusters, not {k}")
        if k not in self.ks:
            low, high = self.ks[self.ks < k].max(), self.ks[self.ks > k].min()
            raise InputError(
                f"no cut has {k} clusters: a node has more than two children; the nearest cuts have {low} and {high}"
            )
        return int(k)

    def cuts(self, ks: Iterable[int] | Literal["heights"]) -> Ensemble:
        """Several cuts as an Ensemble, named k=2, k=3, …

        Args:
            ks: Numbers of clusters, or "heights" for every cut between two different heights, the largest k first.

        Returns:
            An Ensemble with one member per cut; its notes name the cuts that are arbitrary because heights tie.

        >>> import congruence as cg
        >>> cg.Hierarchy([[0, 1], [2, [3, 4]]]).cuts([2, 3]).names
        ('k=2', 'k=3')
        """
        if isinstance(ks, str):
            if ks != "heights":
                raise InputError(f"ks must be a list of numbers of clusters, or 'heights'; got {ks!r}")
            listed = [int(k) for k in self.ks if k not in set(self.tied_ks.tolist())]
        else:
            listed = [self.checked_k(k) for k in ks]
        if not listed:
            raise InputError("no numbers of clusters were given")
        ensemble = Ensemble([self.cut(k) for k in listed], names=[f"k={k}" for k in listed])
        ensemble.notes += tuple(Caution("tie", "", note) for note in self.tie_notes(listed))
        return ensemble

    def tie_notes(self, ks: Iterable[int]) -> tuple[str, ...]:
        """A sentence on the cuts among these that are arbitrary because heights tie, if there are any.

        Args:
            ks: Numbers of clusters.
        """
        tied = set(self.tied_ks.tolist())
        listed = [str(k) for k in ks if whole_number(k, "ks") in tied]
        if not listed:
            return ()
        shown = some_of(listed, 5)
        return (
            f"heights tie, so the cut depends on the order of the merges at k = {shown}; "
            f"{Option('ks', 'heights')} leaves these out",
        )

    # --- other trees ---

    def at_levels(self, ks: Iterable[int]) -> Hierarchy:
        """The hierarchy of these cuts only, as the named levels that `hmi`, `nhmi` and `ahmi` compare.

        Args:
            ks: Numbers of clusters, one per level.

        Returns:
            A Hierarchy with `levels`, coarsest first.

        >>> import congruence as cg
        >>> cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);").at_levels([2, 3]).level_names
        ('k=2', 'k=3')
        """
        return Hierarchy(self.cuts(ks), points=self.points)

    def collapsed(self) -> Hierarchy:
        """The tree with ties collapsed: a node as high as its parent is merged into it.

        >>> import congruence as cg
        >>> cg.Hierarchy(([[0, 1], [2, 4], [3, 5]], [1.0, 2.0, 2.0])).collapsed().ks.tolist()
        [4, 3, 1]
        """
        n, nodes = self.n_points, self.nodes
        total = len(nodes.parent)
        holder = np.arange(total)
        for node in range(total - 2, n - 1, -1):  # parents first
            if nodes.height[node] == nodes.height[nodes.parent[node]]:
                holder[node] = holder[nodes.parent[node]]
        kept = [node for node in range(n, total) if holder[node] == node]
        number = {node: n + i for i, node in enumerate(kept)}
        children: list[list[int]] = [[] for _ in kept]
        for node in [*range(n), *kept]:
            if node != total - 1:
                children[number[int(holder[nodes.parent[node]])] - n].append(number.get(node, node))
        merges = tree_formats.from_nodes(n, children, [float(nodes.height[node]) for node in kept])
        tree = Hierarchy(merges, points=self.points)
        tree.levels, tree.level_names, tree.notes = self.levels, self.level_names, self.notes
        return tree

    def reordered(self, points: Sequence[Label]) -> Hierarchy:
        """The same tree with its named points in this order.

        Args:
            points: Names of the points, in the new order.
        """
        named = self._named
        place = {name: i for i, name in enumerate(points)}
        check_same(tuple(points), named)
        tree = copy(self)
        for name in ("sizes", "starts", "order", "joins", "nodes", "_highest", "ks"):
            tree.__dict__.pop(name, None)
        tree._place(np.array([place[name] for name in named], dtype=np.int64), tuple(points))
        return tree

    def only(self, points: Sequence[Label]) -> Hierarchy:
        """The tree of some of its named points, in this order; nodes with one child left vanish, heights stay.

        Args:
            points: Names of the points to keep, at least two.

        Raises:
            InputError: If the points have no names, or a name is unknown.

        >>> import congruence as cg
        >>> cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);").only(["a", "c", "d"]).to_newick()
        '(a:3,(c:2,d:2):1);'
        """
        place = {name: i for i, name in enumerate(self._named)}
        unknown = [name for name in points if name not in place]
        if unknown or len(set(points)) < max(len(points), 2):
            raise InputError(
                f"expected two or more different points of the tree; unknown: {some_of(unknown, 3) or 'none'}"
            )
        return Hierarchy(tree_formats.restricted(_read(self), [place[name] for name in points]))

    def to_newick(self) -> str:
        """The tree as Newick text with branch lengths.

        >>> import congruence as cg
        >>> cg.Hierarchy("((a:1,b:1):2,(c:2,d:2):1);").to_newick()
        '((a:1,b:1):2,(c:2,d:2):1);'
        """
        nodes, n = self.nodes, self.n_points
        names = [str(x) for x in (range(n) if self.points is None else self.points)]
        written = ["'" + x.replace("'", "''") + "'" if not x or set(x) & set(" ()[]':;,") else x for x in names]
        parts: list[list[str]] = [[] for _ in nodes.parent]
        for node in np.lexsort((nodes.start, -nodes.depth))[:-1].tolist():
            up = int(nodes.parent[node])
            text = written[node] if node < n else f"({','.join(parts[node])})"
            parts[up].append(f"{text}:{repr(float(nodes.height[up] - nodes.height[node])).removesuffix('.0')}")
        return (f"({','.join(parts[-1])})" if n > 1 else written[0]) + ";"

    @property
    def _named(self) -> tuple[Label, ...]:
        """The names of the points; raises if there are none."""
        if self.points is None:
            raise InputError(f"the points of this hierarchy have no names; pass {Option('points', ...)} to Hierarchy")
        return self.points

    def __len__(self) -> int:
        return self.n_points

    def __iter__(self) -> NoReturn:
        raise InputError("a hierarchy is not one clustering; cut it first, as in h.cut(3) or h.cuts([2, 3, 4])")

    def __repr__(self) -> str:
        return f"Hierarchy: {counted(self.n_points, 'point')}, {self.described}"

    def _repr_html_(self) -> str:
        some = [k for k in self.ks[::-1].tolist() if k > 1][:10]
        sizes = [sorted(np.bincount(self.cut(k)).tolist(), reverse=True) for k in some]
        return html_table({"k": some, "sizes of its clusters": sizes}, repr(self))

    @property
    def described(self) -> str:
        """Its levels or merges, as text."""
        if self.levels is not None:
            return f"{counted(len(self.levels), 'level')} ({some_of(self.level_names, 6)})"
        return counted(len(self.ks) - 1, "merge")


def same_points(a: Hierarchy, b: Hierarchy) -> Hierarchy:
    """The second hierarchy with its points in the order of the first; by name if both have names."""
    if a.points is not None and b.points is not None:
        check_same(a.points, b.points)
    if a.n_points != b.n_points:
        raise InputError(f"the hierarchies have {a.n_points} and {b.n_points} points; both must be of the same points")
    if a.points is None and b.points is None:
        return b
    if a.points is None or b.points is None:
        raise InputError(
            f"the points of only one hierarchy have names; name the others with {Call('cg.Hierarchy(tree, points=[…])')}"
        )
    return b if a.points == b.points else b.reordered(a.points)


def check_same(first: Sequence[Label], second: Sequence[Label]) -> None:
    """Raise if two trees have different points, and say which."""
    one, other = set(first), set(second)
    if one == other:
        return
    sides = (("first", [x for x in first if x not in other]), ("second", [x for x in second if x not in one]))
    missing = "; ".join(f"only in the {side}: {some_of(names, 5)}" for side, names in sides if names)
    raise InputError(
        f"the points are not the same ones: {len(one)} and {len(other)} points, {len(one & other)} in both; {missing}; "
        f"{Call('h.only(points)', '--common')} keeps common points"
    )


def _read(tree: TreeLike) -> Merges:
    """The merges of a tree in any accepted form."""
    if isinstance(tree, Merges):
        return tree
    if isinstance(tree, Hierarchy):
        return Merges(
            tree.children, tree.heights, tree.whole, tree.points, tree.levels, tree.level_names, tree.notes
        )  # fmt: skip
    if isinstance(tree, str) and not tree.strip():
        raise InputError("the tree is an empty text; expected Newick, as in '((a,b),c);'")
    if isinstance(tree, str) and "\0" in tree:
        raise InputError(f"the tree {tree[:40]!r} holds a null character; expected Newick, as in '((a,b),c);'")
    if isinstance(tree, Path) or (isinstance(tree, str) and "(" not in tree and not tree.rstrip().endswith(";")):
        try:
            return tree_formats.from_newick(Path(tree).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise InputError(f"the tree {str(tree)!r} is not UTF-8 text; expected Newick, as in '((a,b),c);'") from None
        except OSError as error:
            raise InputError(f"the tree {str(tree)!r} is neither Newick text nor a file: {error.strerror}") from None
    if isinstance(tree, str):
        return tree_formats.from_newick(tree)
    if hasattr(tree, "children_"):  # a fitted AgglomerativeClustering
        notes: tuple[str, ...] = ()
        if getattr(tree, "distances_", None) is None:
            notes = ("fit with compute_distances=True to get heights",)
        return tree_formats.from_children(tree.children_, getattr(tree, "distances_", None), notes)
    if isinstance(tree, Ensemble | dict) or is_frame(tree):
        return tree_formats.from_columns(tree)
    if isinstance(tree, np.ndarray) and tree.ndim == 2:
        return tree_formats.from_linkage(tree) if tree.dtype.kind == "f" else tree_formats.from_columns(tree)
    if isinstance(tree, tuple) and len(tree) == 2 and all(hasattr(x, "__len__") or x is None for x in tree):
        first = np.asarray(tree[0]) if _is_rectangular(tree[0]) else None
        if first is not None and first.ndim == 2 and first.shape[1] == 2:
            return tree_formats.from_children(first, tree[1])
    if isinstance(tree, list | tuple | set | frozenset):
        return tree_formats.from_nested(tree)
    raise InputError(
        f"expected a tree (a scipy linkage, (children, heights), Newick text, nested lists or nested label columns), "
        f"got {type(tree).__name__}"
    )


def _is_rectangular(x: object) -> bool:
    if isinstance(x, np.ndarray):
        return True
    return isinstance(x, list | tuple) and bool(x) and all(isinstance(y, list | tuple) and len(y) == 2 for y in x)
