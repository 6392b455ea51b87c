"""The compiled loops. Importing this module takes numba half a second, so import it only for large work (see cpu.py)."""

from __future__ import annotations

import numpy as np

from congruence.engine.compiled_term import term
from congruence.machine.jit import njit
from congruence.statistics.tables import Array

#: tables up to this many cells are replicated, so that consecutive equal labels do not wait for each other's store
REPLICATED_CELLS = 2048
#: larger tables do not stay in the L2 cache
CACHE_BYTES = 2 << 20


@njit
def count_raw(a: Array, b: Array, low_a: int, low_b: int, k_a: int, k_b: int) -> Array:
    """Table of two raw integer vectors whose labels start at low_a and low_b; all zero if a label is out of range."""
    cells = k_a * k_b
    ways = 4 if cells <= REPLICATED_CELLS else 1
    table = np.zeros(ways * cells, np.uint32)
    n = len(a)
    ua, ub = np.uint64(k_a), np.uint64(k_b)
    p = 0
    if ways == 4:
        while p + 4 <= n:
            for w in range(4):
                i, j = np.uint64(a[p + w] - low_a), np.uint64(b[p + w] - low_b)
                if i >= ua or j >= ub:
                    return np.zeros((0, 0), np.int64)
                table[np.uint64(w * cells) + i * ub + j] += np.uint32(1)
            p += 4
    while p < n:
        i, j = np.uint64(a[p] - low_a), np.uint64(b[p] - low_b)
        if i >= ua or j >= ub:
            return np.zeros((0, 0), np.int64)
        table[i * ub + j] += np.uint32(1)
        p += 1
    out = np.zeros((k_a, k_b), np.int64)
    for w in range(ways):
        for i in range(k_a):
            for j in range(k_b):
                out[i, j] += table[w * cells + i * k_b + j]
    return out


@njit
def count_sorted(a: Array, b: Array, k_a: int, k_b: int) -> tuple[Array, Array, Array]:
    """Non-zero cells (row, column, count) of two encoded vectors, in O(n + k_a + k_b) memory: points sorted by a."""
    n = len(a)
    start = np.zeros(k_a + 1, np.int64)
    for p in range(n):
        start[a[p] + 1] += 1
    for i in range(k_a):
        start[i + 1] += start[i]
    fill = start[:-1].copy()
    member = np.empty(n, np.int32)
    for p in range(n):
        member[fill[a[p]]] = b[p]
        fill[a[p]] += 1
    table = np.zeros(k_b, np.int64)
    row = np.empty(n, np.int32)
    col = np.empty(n, np.int32)
    count = np.empty(n, np.int64)
    cells = 0
    for i in range(k_a):
        first = cells
        for p in range(start[i], start[i + 1]):
            j = member[p]
            if table[j] == 0:
                row[cells] = i
                col[cells] = j
                cells += 1
            table[j] += 1
        col[first:cells].sort()
        for c in range(first, cells):
            count[c] = table[col[c]]
            table[col[c]] = 0
    return row[:cells].copy(), col[:cells].copy(), count[:cells].copy()


@njit
def count_blocks(
    labels: Array, width: Array, pair_i: Array, pair_j: Array, offset: Array, mass: Array, out: Array
) -> None:
    """Dense tables of many pairs, one after the other in `out`; mass is empty if every point counts once."""
    n = labels.shape[1]
    for q in range(len(pair_i)):
        a, b = labels[pair_i[q]], labels[pair_j[q]]
        k_b = np.int64(width[pair_j[q]])
        base = offset[q]
        if len(mass) == 0:
            for p in range(n):
                out[base + np.int64(a[p]) * k_b + np.int64(b[p])] += 1
        else:
            for p in range(n):
                out[base + np.int64(a[p]) * k_b + np.int64(b[p])] += mass[p]


@njit
def _count(a: Array, b: Array, k_b: int, table: Array, spare: Array) -> None:
    """Add the points to the table; uses four tables in turn if available, so that stores do not wait."""
    n = len(a)
    wide = np.uint64(k_b)
    one = np.uint32(1)
    done = 0
    if len(spare) > 0:
        t1, t2, t3 = spare[0], spare[1], spare[2]
        for quad in range(n // 4):
            p = np.uint64(4 * quad)  # unsigned indices avoid the check for negative ones
            table[np.uint64(a[p]) * wide + np.uint64(b[p])] += one
            p += np.uint64(1)
            t1[np.uint64(a[p]) * wide + np.uint64(b[p])] += one
            p += np.uint64(1)
            t2[np.uint64(a[p]) * wide + np.uint64(b[p])] += one
            p += np.uint64(1)
            t3[np.uint64(a[p]) * wide + np.uint64(b[p])] += one
        done = n - n % 4
    for rest in range(done, n):
        p = np.uint64(rest)
        table[np.uint64(a[p]) * wide + np.uint64(b[p])] += one


@njit
def count_cells(a: Array, b: Array, k_b: int, cells: int, table: Array, spares: Array, none: Array) -> None:
    """Count into the first cells of a table; a small table is counted in four copies in turn."""
    if cells <= REPLICATED_CELLS and 8 * cells <= len(a):
        _count(a, b, k_b, table, spares)
        for w in range(3):
            for c in range(cells):
                table[c] += spares[w, c]
                spares[w, c] = 0
    else:
        _count(a, b, k_b, table, none)


@njit
def count_pairs(labels: Array, k: Array, pair_i: Array, pair_j: Array, offset: Array, tables: Array) -> None:
    """Add the points to the tables of these pairs, one after the other in `tables`."""
    none = np.zeros((0, 0), np.uint32)
    spares = np.zeros((3, REPLICATED_CELLS), np.uint32)
    for q in range(len(pair_i)):
        table = tables[offset[q] : offset[q + 1]]
        count_cells(labels[pair_i[q]], labels[pair_j[q]], np.int64(k[pair_j[q]]), len(table), table, spares, none)


@njit
def _sorted_by(labels: Array, k: int) -> tuple[Array, Array]:
    """Where the points of each cluster start, and the points in that order."""
    start = np.zeros(k + 1, np.int64)
    for p in range(len(labels)):
        start[labels[p] + 1] += 1
    for c in range(k):
        start[c + 1] += start[c]
    fill = start[:-1].copy()
    order = np.empty(len(labels), np.int32)
    for p in range(len(labels)):
        order[fill[labels[p]]] = p
        fill[labels[p]] += 1
    return start, order


@njit
def _maxima(table: Array, k_a: int, k_b: int, tallest: Array) -> tuple[int, int]:
    """Sums of the largest cells of rows, and of columns."""
    sum_a, sum_b = np.int64(0), np.int64(0)
    tallest[:k_b] = 0
    for r in range(k_a):
        top = np.uint32(0)
        for c in range(k_b):
            v = table[r * k_b + c]
            top = max(top, v)
            tallest[c] = max(tallest[c], v)
        sum_a += top
    for c in range(k_b):
        sum_b += tallest[c]
    return sum_a, sum_b


@njit
def fused(
    labels: Array, k: Array, i: int, first: int, last: int, terms: Array, unit: float, want_maxima: bool,
    squares: Array, information: Array, best_a: Array, best_b: Array,
) -> None:  # fmt: skip
    """Σn², Σ n_ij·log(n/n_ij) in whole units and, if wanted, Σ row and column maxima of label i against first … last−1.

    The table of one pair stays in cache and is reduced before the next pair is counted. Three routes by the
    size of the table: scan it; or read it again at each point; or, beyond the L2 cache, count over points sorted by i.
    """
    n = labels.shape[1]
    mine = labels[i]
    k_i = np.int64(k[i])
    widest = np.int64(0)
    for j in range(first, last):
        widest = max(widest, np.int64(k[j]))
    walk = not want_maxima and k_i * widest * 4 > CACHE_BYTES
    table = np.zeros(widest if walk else k_i * widest, np.uint32)
    if walk:
        start, order = _sorted_by(mine, k_i)
    none = np.zeros((0, 0), np.uint32)
    spares = np.zeros((3, min(k_i * widest, REPLICATED_CELLS)), np.uint32)
    tallest = np.zeros(widest, np.uint32)
    logs = len(terms)
    for j in range(first, last):
        k_j = np.int64(k[j])
        cells = k_i * k_j
        other = labels[j]
        square, info = np.int64(0), np.int64(0)
        if walk:
            for r in range(k_i):
                for p in range(start[r], start[r + 1]):
                    table[other[order[p]]] += np.uint32(1)
                for p in range(start[r], start[r + 1]):
                    v = np.int64(table[other[order[p]]])
                    if v > 0:
                        square += v * v
                        info += terms[v] if v < logs else term(v, n, unit)
                        table[other[order[p]]] = 0
        elif cells > n and not want_maxima:
            _count(mine, other, k_j, table, none)
            for p in range(n):
                c = np.uint64(mine[p]) * np.uint64(k_j) + np.uint64(other[p])
                v = np.int64(table[c])
                if v > 0:
                    square += v * v
                    info += terms[v] if v < logs else term(v, n, unit)
                    table[c] = 0
        else:
            count_cells(mine, other, k_j, cells, table, spares, none)
            if want_maxima:
                best_a[j - first], best_b[j - first] = _maxima(table, k_i, k_j, tallest)
            square, info = _sums(table, cells, n, terms, unit)
        squares[j - first] = square
        information[j - first] = info


@njit
def _sums(table: Array, cells: int, n: int, terms: Array, unit: float) -> tuple[int, int]:
    """Σn² and Σ n_ij·log(n/n_ij) in whole units of the first cells of a table, which is emptied."""
    square, info, logs = np.int64(0), np.int64(0), len(terms)
    if n < logs:
        for c in range(cells):
            u = table[c]  # unsigned, so that the look-up needs no check for negative indices
            table[c] = 0
            square += np.int64(u) * np.int64(u)
            info += terms[u]
    else:
        for c in range(cells):
            v = np.int64(table[c])
            table[c] = 0
            square += v * v
            info += terms[v] if v < logs else term(v, n, unit)
    return square, info


@njit
def split_joint(table: Array, a: Array, b: Array, wide: int, k: Array, digits: Array, part: Array, out: Array) -> None:
    """From the table of two groups of columns the tables of their pairs, one after the other in `out`; empties the table.

    Columns a and b are the groups, `wide` is the number of joint codes of b, and `digits` holds the code of each column in
    each joint code. `part` has room for the tables of one column of a with the joint codes of b.
    """
    rows, at = len(table) // wide, 0
    for i in a:
        part[: k[i] * wide] = 0
        for x in range(rows):
            mine, whole = part[digits[i, x] * wide : (digits[i, x] + 1) * wide], table[x * wide : (x + 1) * wide]
            for y in range(wide):
                mine[y] += whole[y]
        for j in b:
            here = out[at : at + k[i] * k[j]]
            here[:] = 0
            for r in range(k[i]):
                for y in range(wide):
                    here[r * k[j] + digits[j, y]] += part[r * wide + y]
            at += k[i] * k[j]
    table[:] = 0


@njit
def fused_jointly(
    codes: Array, widths: Array, starts: Array, order: Array, k: Array, digits: Array, group: int, first: int, last: int,
    terms: Array, unit: float, want_maxima: bool, squares: Array, information: Array, best: Array,
) -> None:  # fmt: skip
    """The same as `fused` for the columns of a group against those of groups first … last−1, into columns × columns."""
    n, widest = codes.shape[1], widths[first:last].max()
    whole, part = np.zeros(widths[group] * widest, np.uint32), np.empty(k.max() * widest, np.uint32)
    spares, none = np.zeros((3, REPLICATED_CELLS), np.uint32), np.zeros((0, 0), np.uint32)
    a = order[starts[group] : starts[group + 1]]
    room = np.diff(starts).max() * k.max()
    out, tallest = np.empty(room * room, np.uint32), np.zeros(k.max(), np.uint32)
    for other in range(first, last):
        b = order[starts[other] : starts[other + 1]]
        table = whole[: widths[group] * widths[other]]
        count_cells(codes[group], codes[other], widths[other], len(table), table, spares, none)
        split_joint(table, a, b, widths[other], k, digits, part, out)
        at = 0
        for i in a:
            for j in b:
                here = out[at : at + k[i] * k[j]]
                at += len(here)
                if want_maxima:
                    best[i, j], best[j, i] = _maxima(here, k[i], k[j], tallest)
                square, info = _sums(here, len(here), n, terms, unit)
                squares[i, j] = squares[j, i] = square
                information[i, j] = information[j, i] = info


@njit
def _same(a: Array, b: Array) -> int:
    """The number of positions where two rows have the same label; the length of rows is a multiple of 64.

    Sums of 64 fit in a byte, and a loop of fixed length over bytes compiles to a few vector instructions.
    """
    total = 0
    for block in range(len(a) // 64):
        some = np.uint8(0)
        for c in range(64):
            some = np.uint8(some + np.uint8(a[block * 64 + c] == b[block * 64 + c]))
        total += some
    return total


@njit
def count_agreement(a: Array, b: Array, less: int, out: Array) -> None:
    """out[i, j]: the number of columns in which row i of a and row j of b agree, without padding columns."""
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            out[i, j] = _same(a[i], b[j]) - less


@njit
def fill_consensus(
    points: Array, rows: int, rows_end: int, cols: int, cols_end: int, less: int, share: float, out: Array
) -> None:
    """One tile of the consensus matrix and its mirror image; only pairs above the diagonal are counted."""
    for i in range(rows, rows_end):
        for j in range(max(cols, i + 1), cols_end):
            value = (_same(points[i], points[j]) - less) * share
            out[i, j] = value
            out[j, i] = value


@njit
def shuffle(codes: Array, state: Array) -> None:
    """Shuffle the codes in place (Fisher and Yates), with splitmix64 from this state.

    32 bits times the range, high half (Lemire); draws that would bias the result are repeated.
    """
    low_half = np.uint64(0xFFFFFFFF)
    half = np.uint64(32)
    x = np.uint64(state)
    for p in range(len(codes) - 1, 0, -1):
        size = np.uint64(p + 1)
        while True:
            x += np.uint64(0x9E3779B97F4A7C15)
            z = x
            z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            product = ((z ^ (z >> np.uint64(31))) >> half) * size
            low = product & low_half
            if low >= size or low >= (low_half + np.uint64(1) - size) % size:
                break
        q = product >> half
        codes[p], codes[q] = codes[q], codes[p]


@njit
def look_up(values: Array, low: int, table: Array, out: Array) -> bool:
    """The code of each label, by a table over their range; False if a label is not in it."""
    span = np.uint64(len(table))
    for p in range(len(values)):
        place = np.uint64(np.int64(values[p]) - low)
        if place >= span:
            return False
        code = table[place]
        if code < 0:
            return False
        out[p] = code
    return True


@njit
def translate(values: Array, table: Array, out: Array) -> None:
    """The code of each label, by a table that has all of them."""
    for p in range(np.uint64(len(values))):
        out[p] = table[np.uint64(values[p])]


@njit
def count_more(a: Array, b: Array, table: Array) -> None:
    """Add the points of a batch to a table; small tables use four copies in turn, so that stores do not wait."""
    across = np.int64(table.shape[1])
    cells = table.shape[0] * across
    if cells > REPLICATED_CELLS:
        flat = table.ravel()
        for p in range(len(a)):
            flat[np.uint64(a[p]) * np.uint64(across) + np.uint64(b[p])] += 1
        return
    some, spare = np.zeros(cells, np.uint32), np.zeros((3, cells), np.uint32)
    _count(a, b, across, some, spare)
    for c in range(cells):
        table[c // across, c % across] += np.int64(some[c]) + spare[0, c] + spare[1, c] + spare[2, c]


@njit
def count_mass(a: Array, b: Array, mass: Array, table: Array) -> None:
    """The same with weighted points."""
    for p in range(len(a)):
        table[a[p], b[p]] += mass[p]
