"""Element-centric scores of clusterings whose clusters overlap or are nested: walks from points to clusters and back."""

from __future__ import annotations

import numpy as np

from congruence.engine.trees import Path, weights_of
from congruence.errors import Call, NotApplicable, Option
from congruence.inputs.hierarchy import Hierarchy
from congruence.inputs.nested_cover import NestedCover
from congruence.statistics.tables import Array
from congruence.typing import SparseMatrix


def nodes_of_points(tree: Hierarchy, r: float, path: Path) -> SparseMatrix:
    """Points × nodes: the weight of every node that holds the point, from the point itself to the root."""
    from scipy.sparse import csr_array

    parent, weight, n = tree.nodes.parent, weights_of(tree, r, path), tree.n_points
    points, nodes = [np.arange(n)], [np.arange(n)]
    while True:
        below = nodes[-1] < len(parent) - 1
        if not below.any():
            break
        points.append(points[-1][below])
        nodes.append(parent[nodes[-1][below]])
    rows, columns = np.concatenate(points), np.concatenate(nodes)
    return csr_array((weight[columns], (rows, columns)), shape=(n, len(parent)))


def weights_of_nested(cover: NestedCover, r: float, path: Path) -> Array:
    """exp(r·l) of each cluster, l from 0 (no parents) to 1 (no parts), by the longest ways up and down or the shortest."""
    if path == "height":
        raise NotApplicable(f"a nested cover has no heights; use {Option('path', 'max')}")
    depth, below = (ways[0 if path == "max" else 1] for ways in (cover.depth, cover.below))
    scaled = r * depth / np.maximum(depth + below, 1)
    return np.asarray(np.exp(scaled - scaled.max()))


def point_scores(a: SparseMatrix, b: SparseMatrix, alpha: float, limit: int | None) -> Array:
    """The score of each point: 1 − Σ_j |p_ij − q_ij| / 2α, where p and q are the affinities of the points on both sides.

    Both sides are points × clusters, with the weight of each cluster at its points. n × n matrices are inverted.
    """
    n = a.shape[0]
    if limit is not None and n > limit:
        raise NotApplicable(
            f"element_centric of a cover and a hierarchy inverts a matrix of points × points, and there are {n:,}; compare "
            f"the cover with cuts, as in {Call('h.cut(k)')}, or pass {Call(_UNLIMITED)}"
        )
    p, q = (_affinities(side, alpha) for side in (a, b))
    return np.asarray(1 - np.abs(p - q).sum(axis=1) / (2 * alpha))


_UNLIMITED = "cg.measure('element_centric', limit=None)"


def _affinities(side: SparseMatrix, alpha: float) -> Array:
    """(1 − α)(I − αW)⁻¹, W the walk from points to clusters and back; a point in no cluster stays where it is."""
    n = side.shape[0]
    of_point, of_cluster = np.asarray(side.sum(axis=1)).ravel(), np.asarray(side.sum(axis=0)).ravel()
    entries = side.tocoo()
    to, back = entries.copy(), entries.copy()
    to.data = entries.data / of_point[entries.row]
    back.data = entries.data / of_cluster[entries.col]
    walk = (to.tocsr() @ back.tocsr().T).toarray()
    nowhere = np.flatnonzero(of_point == 0)
    walk[nowhere, nowhere] = 1.0
    return np.asarray((1 - alpha) * np.linalg.inv(np.eye(n) - alpha * walk))
