"""The loop of the built-in partitioners: vertices move one by one (Fiduccia and Mattheyses 1982)."""

from __future__ import annotations

import numpy as np

from congruence.machine.jit import helper


def exchange(start, other, weight, pin_start, pin, mass, label, order, blocks, caps, fewest, passes):
    """Reduce, in place, first the overload and then the cut between two blocks; returns the final values of both.

    A pass moves every vertex at most once. It always makes the allowed move with the largest gain (the last touched in a
    tie), even if the gain is negative, and finally returns to the best state. A block may temporarily be too heavy by one
    vertex, so that full blocks can still swap. If one block is a single seed, the seed grows.

    Graph: row v of (start, other) holds the neighbours of v, weight is that of the entry, pin_start and pin are empty.
    Hypergraph: row v holds the hyperedges of v, row e of (pin_start, pin) the vertices of hyperedge e, weight is that of
    the hyperedge; one that reaches into a third block is cut in any case.
    """
    n, n_nets = len(label), len(pin_start) - 1
    nets = n_nets >= 0
    slot, member, m = np.full(n, -1, np.int64), np.empty(n, np.int64), 0
    for v in order:
        if label[v] == blocks[0] or label[v] == blocks[1]:
            member[m], slot[v] = v, m
            m += 1
    leaves, height = 1, 1
    while leaves < m:
        leaves, height = 2 * leaves, height + 1
    side, gain, mine = np.empty(m, np.int64), np.empty(m), np.empty(m)
    for i in range(m):
        side[i] = 0 if label[member[i]] == blocks[0] else 1
        mine[i] = mass[member[i]]
    slack = 0.0  # allowed overload during a pass
    for i in range(m):
        slack = max(slack, mine[i])
    little = 1e-9 * (caps[0] + caps[1])
    stamp, touched, moved = np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64)
    free = np.empty(m, np.bool_)
    best = np.empty((2, 2 * leaves), np.int64)  # tournament of the free vertices of each side; -1: none
    pins = np.zeros((max(n_nets, 0), 2), np.int64)  # pins of each hyperedge on each side
    alone = np.zeros((max(n_nets, 0), 2), np.int64)  # xor of the slots of these pins: the pin itself if it is alone
    load, count = np.zeros(2), np.zeros(2, np.int64)
    cut = over = 0.0
    for turn in range(passes + 1):
        # recomputed, so that rounding errors do not accumulate over passes
        _weigh(side, mine, load, count)
        if nets:
            _count_pins(start, other, member, side, pins, alone)
        cut = _find_gains(nets, start, other, weight, pin_start, member, slot, side, pins, gain)
        over = _overload(load, caps)
        if turn == passes:
            break
        for i in range(m):
            free[i], stamp[i] = True, -1
        for i in range(leaves):
            for s in range(2):
                best[s, leaves + i] = i if i < m and side[i] == s else -1
        least, most, reached, keep, steps, many = over, 0.0, 0.0, 0, 0, leaves
        while steps < m and steps - keep <= max(200, m // 4):
            _replay(best, leaves, height, touched, many, side, gain, stamp)
            chosen = _choice(best, load, count, caps, fewest, mine, gain, slack, little)
            if chosen < 0:
                break
            source = side[chosen]
            reached += gain[chosen]
            load[source] -= mine[chosen]
            load[1 - source] += mine[chosen]
            count[source] -= 1
            count[1 - source] += 1
            free[chosen] = False
            best[source, leaves + chosen] = -1
            moved[steps], touched[0], stamp[chosen], many = chosen, chosen, steps, 1
            v = member[chosen]
            own = other[start[v] : start[v + 1]]
            if nets:
                many = _move_pins(
                    own, weight, pin_start, pin, slot, chosen, source, steps,
                    pins, alone, free, gain, stamp, touched, many,
                )  # fmt: skip
            else:  # not a helper: the whole partitioner would take a third more time
                for e in range(start[v], start[v + 1]):
                    u = slot[other[e]]
                    if u >= 0 and free[u]:
                        gain[u] += 2.0 * weight[e] if side[u] == source else -2.0 * weight[e]
                        touched[many], stamp[u] = u, steps
                        many += 1
            steps += 1
            now = _overload(load, caps)
            if now < least - little or (now <= least + little and reached > most + 1e-12 * (cut + 1.0)):
                least, most, keep = now, reached, steps
        for i in range(keep):  # later moves are not applied
            side[moved[i]] = 1 - side[moved[i]]
        if keep == 0:
            break
    for i in range(m):
        label[member[i]] = blocks[side[i]]
    return over, cut


@helper
def _overload(load, caps):
    return max(0.0, load[0] - caps[0]) + max(0.0, load[1] - caps[1])


@helper
def _weigh(side, mine, load, count):
    """Load and number of vertices of each side."""
    load[:], count[:] = 0.0, 0
    for i in range(len(side)):
        load[side[i]] += mine[i]
        count[side[i]] += 1


@helper
def _count_pins(start, other, member, side, pins, alone):
    """Pins of each hyperedge on each side, and the xor of their slots."""
    pins[:], alone[:] = 0, 0
    for i in range(len(side)):
        for e in range(start[member[i]], start[member[i] + 1]):
            pins[other[e], side[i]] += 1
            alone[other[e], side[i]] ^= i


@helper
def _find_gains(nets, start, other, weight, pin_start, member, slot, side, pins, gain):
    """The gain of moving each vertex to the other side; returns the cut."""
    cut = 0.0
    for i in range(len(side)):
        s, total = side[i], 0.0
        for e in range(start[member[i]], start[member[i] + 1]):
            if nets:
                net = other[e]
                here, there = pins[net, s], pins[net, 1 - s]
                if here + there < pin_start[net + 1] - pin_start[net]:
                    continue
                if here == 1:
                    total += weight[net]
                if there == 0:
                    total -= weight[net]
                else:
                    cut += weight[net] / (here + there)
            elif slot[other[e]] >= 0:
                if side[slot[other[e]]] == s:
                    total -= weight[e]
                else:
                    total += weight[e]
                    cut += 0.5 * weight[e]
        gain[i] = total
    return cut


@helper
def _replay(best, leaves, height, touched, many, side, gain, stamp):
    """Update the tournaments: all matches after many changes of gains, those of the touched vertices after few."""
    anew = many * height >= leaves
    for c in range(leaves - 1 if anew else many):
        s = 0 if anew else side[touched[c]]
        p = leaves - 1 - c if anew else (leaves + touched[c]) // 2
        while p > 0:
            left, right = best[s, 2 * p], best[s, 2 * p + 1]
            if left < 0 or right < 0:
                best[s, p] = max(left, right)
            elif gain[right] > gain[left] or (gain[right] == gain[left] and stamp[right] > stamp[left]):
                best[s, p] = right
            else:
                best[s, p] = left
            if not anew:
                p //= 2
            elif s == 0:
                s = 1
            else:
                p = 0


@helper
def _choice(best, load, count, caps, fewest, mine, gain, slack, little):
    """The vertex to move next: the best of the side that is too heavy, else the better of both; -1: no move is allowed."""
    chosen = -1
    for s in range(2):
        i = best[s, 1]
        if i < 0 or count[s] <= fewest[s]:
            continue
        excess = load[1 - s] + mine[i] - caps[1 - s]
        if excess > slack + little and excess >= load[s] - caps[s]:
            continue
        if chosen < 0 or load[s] > caps[s] + little or (load[0] <= caps[0] + little and gain[i] > gain[chosen]):
            chosen = i
    return chosen


@helper
def _move_pins(
    own, weight, pin_start, pin, slot, chosen, source, steps, pins, alone, free, gain, stamp, touched, many
):  # fmt: skip
    """Move a vertex away from `source` in its own hyperedges, and update gains; returns the number of touched vertices."""
    for net in own:
        first, size = pin_start[net], pin_start[net + 1] - pin_start[net]
        if pins[net, 0] + pins[net, 1] < size:
            continue
        for moment in range(2):  # before the move the other side counts, after it the side that was left
            s = 1 - source if moment == 0 else source
            change = weight[net] if moment == 0 else -weight[net]
            if pins[net, s] == 0:  # the hyperedge begins, or ceases, to be cut: every pin sees it
                for q in range(first, first + size):
                    u = slot[pin[q]]
                    if free[u]:
                        gain[u] += change
                        if stamp[u] != steps:
                            touched[many], stamp[u] = u, steps
                            many += 1
            elif pins[net, s] == 1 and free[alone[net, s]]:  # moving the last pin of a side would uncut the hyperedge
                u = alone[net, s]
                gain[u] -= change
                if stamp[u] != steps:
                    touched[many], stamp[u] = u, steps
                    many += 1
            if moment == 0:
                pins[net, source] -= 1
                pins[net, 1 - source] += 1
                alone[net, source] ^= chosen
                alone[net, 1 - source] ^= chosen
    return many
