"""Read trees: linkages, scikit-learn and R merges, Newick, nested lists, nested label columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from congruence.errors import Call, InputError, check_different, some_of
from congruence.inputs.ensemble import Ensemble
from congruence.statistics.tables import Array
from congruence.typing import Dynamic, Label

#: heights from branch lengths are sums, rounded to this many digits so that rounding errors do not break ties
DIGITS = 12


@dataclass(frozen=True, eq=False)
class Merges:
    """A tree as n − 1 merges of two clusters: points are 0 … n − 1, and merge i makes cluster n + i."""

    children: Array
    heights: Array
    #: False if the next merge belongs to the same node: a node with m children is m − 1 merges
    whole: Array
    points: tuple[Label, ...] | None = None
    #: named levels, coarsest first, one row of cluster codes per level
    levels: Array | None = None
    level_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def from_linkage(matrix: Array) -> Merges:
    """The merges of scipy's linkage matrix, (n − 1) × 4: two clusters, height, size."""
    if matrix.ndim != 2 or matrix.shape[1] != 4:
        raise InputError(
            f"an array of floats is read as scipy's linkage, (n − 1) × 4, but this one has shape {matrix.shape}; label "
            "columns are integers or strings"
        )
    return from_children(matrix[:, :2], matrix[:, 2])


def from_children(children: object, heights: object = None, notes: tuple[str, ...] = ()) -> Merges:
    """Merges given as pairs of clusters: scikit-learn's `children_`, or the `merge` of R's hclust (negative: points)."""
    pairs = np.asarray(children)
    if pairs.size == 0:
        pairs = np.empty((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iuf":
        raise InputError(f"the merges of a tree are an (n − 1) × 2 array of clusters, not of shape {pairs.shape}")
    if (pairs != np.rint(pairs)).any():
        raise InputError("the merges of a tree must name clusters by whole numbers; some are not whole")
    pairs = pairs.astype(np.int64)
    n = len(pairs) + 1
    if (pairs < 0).any():  # R counts from 1: −i is point i, j the cluster made by merge j
        pairs = np.where(pairs < 0, -pairs - 1, pairs + n - 1)
    own = np.arange(n - 1)
    if ((pairs < 0) | (pairs >= (n + own)[:, None])).any() or len(np.unique(pairs)) != pairs.size:
        raise InputError(
            "these are not the merges of a tree: each point and each cluster must be merged once, after it was made "
            "(points are 0 … n − 1, and row i makes cluster n + i)"
        )
    if heights is None:
        high = np.arange(1.0, n)
        notes = (*notes, "no heights were given: the order of the merges is used instead")
    else:
        high = np.asarray(heights, dtype=np.float64)
    if high.shape != (n - 1,) or not np.isfinite(high).all():
        raise InputError(f"a tree of {n} points has {n - 1} finite heights, one per merge; got shape {high.shape}")
    return Merges(pairs, high, np.ones(n - 1, dtype=bool), notes=notes)


def from_nodes(n: int, nodes: Sequence[Sequence[int]], heights: Sequence[float]) -> Merges:
    """The merges of a tree with any number of children per node; nodes come after their children.

    Points are 0 … n − 1 and node i is n + i. A node with one child is that child.
    """
    made: dict[int, int] = {}
    merged: list[tuple[float, int, list[int]]] = []
    for i, (children, height) in enumerate(zip(nodes, heights, strict=True)):
        own = [made.get(c, c) for c in children]
        if len(own) == 1:
            made[n + i] = own[0]
        else:
            made[n + i] = n + i
            merged.append((height, i, own))
    merged.sort(key=lambda node: node[:2])
    place: dict[int, int] = {}
    pairs, high, whole = [], [], []
    for height, i, children in merged:
        left = place.get(children[0], children[0])
        for child in children[1:]:
            pairs.append((left, place.get(child, child)))
            high.append(height)
            whole.append(child is children[-1])
            left = n + len(pairs) - 1
        place[n + i] = left
    shape = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Merges(shape, np.array(high, dtype=np.float64), np.array(whole, dtype=bool))


def restricted(tree: Merges, points: Sequence[int]) -> Merges:
    """The tree of some of its points, in this order: nodes that have one child left vanish."""
    n = len(tree.children) + 1
    place = dict(zip(points, range(len(points)), strict=True))
    standing: dict[int, int | None] = {i: place.get(i) for i in range(n)}  # a point or node of the new tree
    open_nodes: dict[int, list[int]] = {}
    nodes: list[list[int]] = []
    heights: list[float] = []
    for i, pair in enumerate(tree.children.tolist()):
        own: list[int] = []
        for child in pair:
            left = standing.get(child)
            own += open_nodes.pop(child, []) if child in open_nodes else [] if left is None else [left]
        if not tree.whole[i]:
            open_nodes[n + i] = own
        elif len(own) < 2:
            standing[n + i] = own[0] if own else None
        else:
            nodes.append(own)
            heights.append(float(tree.heights[i]))
            standing[n + i] = len(points) + len(nodes) - 1
    found = from_nodes(len(points), nodes, heights)
    names = None if tree.points is None else tuple(tree.points[i] for i in points)
    return Merges(found.children, found.heights, found.whole, names, notes=tree.notes)


# --- Newick -----------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s+|\[[^\]]*\]|'(?:[^']|'')*'|[(),:;]|[^\s()\[\],:;']+")


#: children of a node: cluster and branch length; points are numbered −1, −2, … until their number is known
_Children = list[tuple[int, float | None]]


def from_newick(text: str) -> Merges:
    """The tree of a Newick text; the height of a node is its largest distance to a point, by branch lengths if there are any."""
    text, called, first = _first_of_nexus(text) if text.lstrip()[:6].upper() == "#NEXUS" else (text, {}, [])
    names, nodes = _parsed(_tokens(text))
    names = [called.get(name, name) for name in names]
    check_different(names, "points", "the tree")
    heights, notes = _heights(nodes)
    notes = [*first, *notes]
    n = len(names)
    rounded = [float(f"{x:.{DIGITS}g}") for x in heights]
    found = from_nodes(n, [[c + n if c >= 0 else -c - 1 for c, _ in node] for node in nodes], rounded)
    return Merges(found.children, found.heights, found.whole, tuple(names), notes=tuple(notes))


_TREES = re.compile(r"\bbegin\s+trees\s*;(.*?)\bend(block)?\s*;", re.IGNORECASE | re.DOTALL)
_TRANSLATE = re.compile(r"\btranslate\b(.*?);", re.IGNORECASE | re.DOTALL)
_TREE = re.compile(r"\bu?tree\s*\*?\s*('[^']*'|[^\s=]+)\s*=\s*(?:\[[^\]]*\]\s*)*([^;]*;)", re.IGNORECASE)


def _first_of_nexus(text: str) -> tuple[str, dict[str, str], list[str]]:
    """The first tree of a NEXUS file as Newick text, what its points are called, and a note if there are more trees."""
    block = _TREES.search(text)
    found = _TREE.findall(block[1]) if block else []
    if block is None or not found:
        raise InputError("this NEXUS file has no tree; expected a block that begins with 'begin trees;'")
    words = _TRANSLATE.search(block[1])
    pairs = [line.split(None, 1) for line in words[1].split(",")] if words else []
    called = {pair[0]: pair[1].strip().strip("'") for pair in pairs if len(pair) == 2}
    names = [name for name, _ in found]
    more = [f"the first of {len(names)} trees was read: {names[0]}; not read: {some_of(names[1:], 3)}"]
    return found[0][1], called, more if len(names) > 1 else []


def _tokens(text: str) -> list[str]:
    """The words and marks of a Newick text, without white space and comments."""
    tokens, at = [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise InputError(f"this is not a Newick tree: {text[at : at + 20]!r} at character {at + 1} cannot be read")
        if not token[0].isspace() and token[0][0] != "[":
            tokens.append(token[0])
        at = token.end()
    if ";" in tokens[:-1]:
        raise InputError("the text holds several Newick trees; pass one of them")
    return tokens


def _parsed(tokens: list[str]) -> tuple[list[str], list[_Children]]:
    """The names of the points and the children of each node, inner nodes before the nodes that contain them."""
    stack: list[_Children] = [[]]  # the open nodes
    names: list[str] = []
    nodes: list[_Children] = []
    expects_child, is_length = True, False
    for word in tokens:
        if word == "(":
            if not expects_child:
                raise InputError("this is not a Newick tree: a comma is missing before an opening bracket")
            stack.append([])
        elif word in (",", ")"):
            if expects_child or len(stack) == 1:
                raise InputError(f"this is not a Newick tree: unexpected {word!r}")
            expects_child = word == ","
            if word == ")":
                nodes.append(stack.pop())
                stack[-1].append((len(nodes) - 1, None))
        elif word == ":":
            is_length = True
        elif word == ";":
            break
        elif is_length:
            is_length = False
            stack[-1][-1] = (stack[-1][-1][0], _branch_length(word))
        elif expects_child:
            names.append(word[1:-1].replace("''", "'") if word[0] == "'" else word)
            stack[-1].append((-len(names), None))
            expects_child = False
        # else: the name of an inner node, or a support value
    if len(stack) != 1 or len(stack[0]) != 1 or is_length:
        raise InputError("this is not a Newick tree: brackets are not closed, or there are several trees")
    return names, nodes


def _branch_length(word: str) -> float:
    try:
        length = float(word)
    except ValueError:
        raise InputError(f"this is not a Newick tree: the branch length {word!r} is not a number") from None
    if not np.isfinite(length) or length < 0:
        raise InputError(f"branch lengths must be finite and not negative; got {word}")
    return length


def _heights(nodes: list[_Children]) -> tuple[list[float], list[str]]:
    """The largest distance of each node to a point below it, and notes; branches count 1 if none has a length."""
    lengths = [length for node in nodes for _, length in node]
    known = [x for x in lengths if x is not None]
    notes: list[str] = []
    if known and len(known) < len(lengths):
        notes.append(f"{len(lengths) - len(known)} branches have no length; it is set to 0")
    missing = 0.0 if known else 1.0
    high: list[float] = []
    short: list[float] = []
    for node in nodes:
        steps = [(c, missing if x is None else x) for c, x in node]
        high.append(max((high[c] if c >= 0 else 0.0) + x for c, x in steps))
        short.append(min((short[c] if c >= 0 else 0.0) + x for c, x in steps))
    if high and known and high[-1] - short[-1] > 1e-6 * high[-1]:
        notes.append(
            "points are not equally far from the root; the height of a node is its largest distance to a point below it"
        )
    return high, notes


# --- nested lists -----------------------------------------------------------------------------------------------


def _is_list(x: object) -> TypeGuard[Collection[object]]:
    return isinstance(x, list | tuple | set | frozenset)


def from_nested(tree: Collection[object]) -> Merges:
    """The tree of nested lists, such as [[0, 1], [2, [3, 4]]]; levels are counted from the root."""
    points: dict[Label, int] = {}
    nodes: list[list[tuple[str, int]]] = []
    depths: list[list[int]] = []  # for each point, the clusters that contain it, from the root down
    # walk without recursion: (list, its children found so far, entries still to come, depth)
    open_lists: list[tuple[list[tuple[str, int]], Iterator[object]]] = [([], iter(tree))]
    held: list[int] = []
    clusters = 0
    bare: list[bool] = [not any(_is_list(x) for x in tree)]
    while open_lists:
        found, rest = open_lists[-1]
        entry = next(rest, open_lists)
        if entry is open_lists:
            open_lists.pop()
            bare.pop()
            if held:
                held.pop()
            if not found:
                raise InputError("nested lists must not be empty")
            nodes.append(found)
            if open_lists:
                open_lists[-1][0].append(("node", len(nodes) - 1))
        elif _is_list(entry):
            if len(open_lists) > 10_000:
                raise InputError("nested lists are more than 10,000 levels deep")
            clusters += 1
            held.append(clusters)
            bare.append(not any(_is_list(x) for x in entry))
            open_lists.append(([], iter(entry)))
        else:
            entry = entry.item() if isinstance(entry, np.generic) else entry
            if not isinstance(entry, Hashable):
                raise InputError(f"a point of nested lists is a number or a text, not {type(entry).__name__}")
            if entry in points:
                raise InputError(
                    f"the point {entry!r} occurs twice in the nested lists; each point must occur once "
                    f"(a linkage is an array: pass np.asarray(linkage); points in several leaves: {Call('cg.NestedCover')})"
                )
            points[entry] = len(points)
            own = list(held)
            if not bare[-1]:  # a point next to lists is a separate cluster
                clusters += 1
                own.append(clusters)
            depths.append(own)
            found.append(("point", points[entry]))
    n = len(points)
    listed = [[n + i if kind == "node" else i for kind, i in node] for node in nodes]
    high: list[float] = []
    for children in listed:
        high.append(1.0 + max(high[c - n] if c >= n else 0.0 for c in children))
    deepest = max(max((len(own) for own in depths), default=0), 1)
    levels = np.zeros((deepest, n), dtype=np.int64)
    for point, own in enumerate(depths):
        for depth in range(deepest):
            levels[depth, point] = own[min(depth, len(own) - 1)] if own else 0
    merges = from_nodes(n, listed, high)
    names = tuple(f"level {i + 1}" for i in range(deepest))
    return Merges(merges.children, merges.heights, merges.whole, tuple(points), levels, names)


# --- nested label columns ---------------------------------------------------------------------------------------


def from_columns(columns: Dynamic) -> Merges:
    """The tree of nested label columns, sorted from coarsest to finest."""
    ensemble = columns if isinstance(columns, Ensemble) else Ensemble(columns, unassigned="partial")
    if ensemble.is_lazy or not ensemble.is_plain or ensemble.has_gaps:
        raise InputError("the levels of a hierarchy must be label columns in memory that label every point")
    order = sorted(range(len(ensemble)), key=lambda i: ensemble.members[i].k)
    codes = np.array([ensemble.members[i].codes for i in order], dtype=np.int64)
    names = tuple(ensemble.names[i] for i in order)
    for level in range(1, len(codes)):
        pairs = np.unique(codes[level] * (codes.max() + 1) + codes[level - 1])
        fine = pairs // (codes.max() + 1)
        if len(np.unique(fine)) < len(pairs):
            cluster = int(fine[np.flatnonzero(np.diff(fine) == 0)[0]])
            label = ensemble.members[order[level]].names[cluster]
            raise InputError(
                f"the columns are not nested: cluster {label} of {names[level]} lies in several clusters of "
                f"{names[level - 1]}; {Call('cg.resolutions')} compares columns that are not nested"
            )
    depth, n = codes.shape
    nodes: list[list[int]] = []
    heights: list[float] = []
    below: Array = np.arange(n)  # the node that contains each point so far
    for level in range(depth - 1, -2, -1):
        held: Array = codes[level] if level >= 0 else np.zeros(n, dtype=np.int64)
        parts = np.unique(np.stack([held, below]), axis=1)
        first = np.searchsorted(parts[0], np.arange(int(held.max()) + 2))
        made = len(nodes) + n
        for c in range(int(held.max()) + 1):
            nodes.append(parts[1, first[c] : first[c + 1]].tolist())
            heights.append(float(depth - level))
        below = made + held
    merges = from_nodes(n, nodes, heights)
    points = None if ensemble.index is None else tuple(ensemble.index.tolist())
    return Merges(merges.children, merges.heights, merges.whole, points, codes, names, ensemble.notes)
