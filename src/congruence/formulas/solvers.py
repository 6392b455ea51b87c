"""Solvers for matching measures: assignment and transport."""

from __future__ import annotations

import math

import numpy as np

from congruence.machine.jit import compiled, helper
from congruence.statistics.tables import Array

# --- assignment -------------------------------------------------------------------------------------------------


def sparse_assignment(row: Array, col: Array, weight: Array, shape: tuple[int, int]) -> Array:
    """Cells of the best one-to-one matching in large tables: each row may also be matched with a dummy column of weight 0."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    k_a, k_b = shape
    highest = float(weight.max()) + 1.0  # costs must be positive: an explicit 0 would not be an edge
    cost = np.concatenate([highest - weight, np.full(k_a, highest)])
    rows, cols = np.concatenate([row, np.arange(k_a)]), np.concatenate([col, k_b + np.arange(k_a)])
    matched_row, matched_col = min_weight_full_bipartite_matching(
        csr_array((cost, (rows, cols)), shape=(k_a, k_a + k_b))
    )
    partner = np.full(k_a, -1, dtype=np.int64)
    partner[matched_row] = matched_col
    return np.flatnonzero(partner[row] == col)


def best_kappa(table: Array, rule: str) -> tuple[float, float]:
    """Observed and expected disagreement of the matching with the largest kappa, or with the largest trace.

    rule "kappa": kappa = 1 − d_o/d_e is a ratio of two sums over the matching, so its maximum follows by
    Dinkelbach's iteration: maximise numerator − λ·denominator (an assignment), raise λ to the ratio found, repeat.
    rule "trace": largest Σ n_ij, and among equals the smallest Σ a_i·b_j, hence the largest kappa.
    Disagreements are sums of positive terms: 1 − agreement would lose its digits if one cluster holds nearly all points.
    """
    from scipy.optimize import linear_sum_assignment

    n = float(table.sum())
    observed, rows, cols = table / n, table.sum(1) / n, table.sum(0) / n
    expected = np.outer(rows, cols)  # products of counts do not fit 64 bits
    match = linear_sum_assignment(observed, maximize=True)

    others = np.concatenate([[0.0], np.cumsum(cols)[:-1]]) + np.concatenate([np.cumsum(cols[::-1])[-2::-1], [0.0]])

    def disagreement() -> tuple[float, float]:
        missed = observed.copy()
        missed[match] = 0.0
        unmatched = np.delete(rows, match[0]).sum() if len(match[0]) < len(rows) else 0.0
        return float(missed.sum()), float(rows[match[0]] @ others[match[1]] + unmatched)

    if rule == "trace":
        match = _least_among_best(table, expected)
        return disagreement()
    best = (-math.inf, 0.0, 0.0)
    while True:
        seen, chance = disagreement()
        if chance <= 0:  # one cluster on each side: kappa is 0/0
            return seen, chance
        kappa = 1 - seen / chance
        if kappa <= best[0] + 1e-15:
            return best[1], best[2]
        best = (kappa, seen, chance)
        match = linear_sum_assignment(observed - (1 - kappa) * expected, maximize=True)


def _least_among_best(table: Array, cost: Array) -> tuple[Array, Array]:
    """The cheapest of all matchings with the most points; it uses only cells that are tight under the dual prices."""
    from scipy.optimize import linear_sum_assignment

    size = max(table.shape)
    square, price = np.zeros((size, size)), np.zeros(size)
    square[: table.shape[0], : table.shape[1]] = -table
    row, col = linear_sum_assignment(square)
    loss = square - square[row, col][:, None]  # ≥ price[j] − price[partner of i] once prices settle
    for _ in range(size):
        lower = np.minimum(price, (price[col][:, None] + loss).min(0))
        if np.array_equal(lower, price):
            break
        price = lower
    slack = price[col][:, None] + loss - price
    # integers below 2⁵² are exact, so only true ties count; weights need a tolerance
    exact = table.dtype.kind in "iu" and float(table.sum()) < 2**52
    tight = slack <= (0.0 if exact else 4e-16 * float(table.sum()))
    padded = np.zeros((size, size))
    padded[: table.shape[0], : table.shape[1]] = cost
    row, col = linear_sum_assignment(np.where(tight, padded, 1e6))
    real = (row < table.shape[0]) & (col < table.shape[1])
    return row[real], col[real]


# --- transport --------------------------------------------------------------------------------------------------


def transport(value: Array, supply: Array, demand: Array) -> float:
    """The largest Σ value·flow over flows ≥ 0 that meet the supply of each row and the demand of each column.

    >>> transport(np.eye(2), np.array([3.0, 1.0]), np.array([2.0, 2.0]))
    3.0
    """
    return transport_plan(value, supply, demand)[0]


def transport_plan(value: Array, supply: Array, demand: Array) -> tuple[float, Array]:
    """The same, with the optimal flows.

    >>> transport_plan(np.eye(2), np.array([3.0, 1.0]), np.array([2.0, 2.0]))[1].tolist()
    [[2.0, 1.0], [0.0, 1.0]]
    """
    supply, demand, unit = _in_units(supply.astype(np.float64), demand.astype(np.float64))
    ship = compiled(_ship, steps=4.0 * value.size * sum(value.shape))
    total, flow = ship(1.0 - value, supply, demand, value)
    return float(total) * unit, flow * unit


def _in_units(supply: Array, demand: Array) -> tuple[Array, Array, float]:
    """Supply and demand in whole units, equal in total, and the unit: sums are then exact, and nothing is left to ship.

    >>> _in_units(np.array([0.5, 0.25]), np.array([0.75]))[2] == 2.0**-52
    True
    """
    total, unit = float(supply.sum()), 1.0
    if total > 2.0**53 or total != float(demand.sum()) or any((x % 1 != 0).any() for x in (supply, demand)):
        unit = 2.0 ** (math.frexp(total)[1] - 52)
        supply, demand = np.rint(supply / unit), np.rint(demand / unit)
        demand[demand.argmax()] += supply.sum() - demand.sum()  # a few units of 2⁵², from rounding
    return supply, demand, unit


def _ship(cost: Array, supply: Array, demand: Array, value: Array) -> tuple[float, Array]:
    """Successive shortest paths with prices (primal–dual): each path starts at a row that still has supply."""
    k_a, k_b = cost.shape
    flow = np.zeros((k_a, k_b))
    price_row = np.zeros(k_a)
    price_col = np.zeros(k_b)
    for i in range(k_a):
        price_row[i] = cost[i, 0]
        for j in range(1, k_b):
            price_row[i] = min(price_row[i], cost[i, j])
    distance, row_distance = np.empty(k_b), np.empty(k_a)
    via = np.empty(k_b, np.int64)  # the row from which a column was reached
    back = np.empty(k_a, np.int64)  # the column from which a row was reached
    for source in range(k_a):
        while supply[source] > 0.0:
            sink: int = _shortest_path(
                source, cost, flow, demand, price_row, price_col, distance, row_distance, via, back
            )
            amount = min(supply[source], demand[sink])
            j = sink
            while True:
                i = via[j]
                if back[i] < 0:
                    break
                j = back[i]
                amount = min(amount, flow[i, j])
            supply[source] -= amount
            demand[sink] -= amount
            j = sink
            while True:
                i = via[j]
                flow[i, j] += amount
                if back[i] < 0:
                    break
                j = back[i]
                flow[i, j] -= amount
    total = 0.0  # in a fixed order, so that interpreted and compiled code give identical results
    for i in range(k_a):
        for j in range(k_b):
            total += flow[i, j] * value[i, j]
    return total, flow


@helper
def _shortest_path(
    source: int, cost: Array, flow: Array, demand: Array, price_row: Array, price_col: Array, distance: Array,
    row_distance: Array, via: Array, back: Array,
) -> int:  # fmt: skip
    """The nearest column with demand left (Dijkstra); updates prices and the path that leads to it."""
    k_a, k_b = cost.shape
    done, seen = np.zeros(k_b, np.bool_), np.zeros(k_a, np.bool_)
    seen[source] = True
    row_distance[source] = 0.0
    back[source] = -1
    for j in range(k_b):
        distance[j] = cost[source, j] - price_row[source] - price_col[j]
        via[j] = source
    sink = -1
    while sink < 0:
        nearest, j = np.inf, -1
        for c in range(k_b):
            if not done[c] and (distance[c] < nearest or (distance[c] == nearest and demand[c] > 0.0)):
                nearest, j = distance[c], c
        done[j] = True
        if demand[j] > 0.0:
            sink = j
            break
        for i in range(k_a):  # rows that ship to j could ship elsewhere
            if not seen[i] and flow[i, j] > 0.0:
                seen[i] = True
                row_distance[i] = nearest
                back[i] = j
                for c in range(k_b):
                    if not done[c]:
                        reached = nearest + cost[i, c] - price_row[i] - price_col[c]
                        if reached < distance[c]:
                            distance[c] = reached
                            via[c] = i
    far = distance[sink]
    for i in range(k_a):
        if seen[i]:
            price_row[i] += far - row_distance[i]
    for j in range(k_b):
        if done[j]:
            price_col[j] -= far - distance[j]
    return sink


def greedy_shipment(row: Array, col: Array, value: Array, supply: Array, demand: Array) -> float:
    """Σ value·flow of the greedy rule: fill the most valuable remaining cell first; ties by (row, column)."""
    order = np.lexsort((col, row, -value))
    walk = compiled(_walk, steps=10.0 * len(order))
    return float(walk(row[order], col[order], value[order], supply.astype(np.float64), demand.astype(np.float64)))


def _walk(row: Array, col: Array, value: Array, supply: Array, demand: Array) -> float:
    total = 0.0
    for c in range(len(row)):
        amount = min(supply[row[c]], demand[col[c]])
        total += amount * value[c]
        supply[row[c]] -= amount
        demand[col[c]] -= amount
    return total
