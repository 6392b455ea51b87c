"""Every measure written straight from its definition: slow, obvious, and independent of the library.

Hard labels are read point by point: pairs are counted by looping over i < j, clusters are sets of points, matchings are
tried exhaustively. Counts, masses and memberships are exact fractions until the last step, so rounding never decides
a tie or a 0/0. Only `irm` uses a solver (for a linear program). Meant for tens of points and a handful of clusters.

    MEASURES[key](a, b)      hard labels, reference first
    WEIGHTED[key](a, b, w)   the same with importance weights, rescaled to mean 1; a point of weight 0 is left out
    SOFT[key](U, V)          memberships, one row per point, through N* = phi U'V (`ari_gram`: through UU' and VV')
    element_scores(a, b)     the element-centric similarity of every point

A 0/0 gives identical partitions the measure's best value, and otherwise the value its docstring names.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

from scipy.optimize import linprog

Labels = Sequence[Any]
Weights = Sequence[float]
Memberships = Sequence[Sequence[float]]
Table = list[list[Fraction]]

MOST_PERMUTED = 8  # 8! = 40,320 permutations
MOST_MATCHED = 16  # 2^16 sets of columns


# --- What is counted -------------------------------------------------------------------------------------------------


class Pairs(NamedTuple):
    """Pairs of points: together in both, only in a, only in b, in neither; and whether a and b are one partition."""

    v11: Fraction
    v10: Fraction
    v01: Fraction
    v00: Fraction
    identical: bool

    @property
    def total(self) -> Fraction:
        """All pairs."""
        return self.v11 + self.v10 + self.v01 + self.v00

    @property
    def same_a(self) -> Fraction:
        """Pairs together in a."""
        return self.v11 + self.v10

    @property
    def same_b(self) -> Fraction:
        """Pairs together in b."""
        return self.v11 + self.v01


def points(a: Labels, b: Labels, w: Weights | None = None) -> tuple[list[Any], list[Any], list[Fraction]]:
    """The points that count and their masses: 1 each, or weights rescaled to mean 1 without the points of weight 0."""
    if len(a) != len(b) or len(a) == 0:
        raise ValueError(f"labels have {len(a)} and {len(b)} elements; expected the same number, at least one")
    if w is None:
        return list(a), list(b), [Fraction(1)] * len(a)
    if len(w) != len(a):
        raise ValueError(f"{len(w)} weights for {len(a)} points")
    exact = [Fraction(float(x)) for x in w]
    if min(exact) < 0 or sum(exact) == 0:
        raise ValueError("weights must be at least 0, and one of them above 0")
    scale = len(exact) / Fraction(sum(exact))
    kept = [i for i, x in enumerate(exact) if x > 0]
    return [a[i] for i in kept], [b[i] for i in kept], [exact[i] * scale for i in kept]


def pair_counts(a: Labels, b: Labels, w: Weights | None = None) -> Pairs:
    """The four pair counts, by looking at every pair i < j of points; a pair weighs w_i w_j."""
    a, b, mass = points(a, b, w)
    v11 = v10 = v01 = v00 = Fraction(0)
    for i in range(len(a)):
        for j in range(i + 1, len(a)):
            weight = mass[i] * mass[j]
            if a[i] == a[j] and b[i] == b[j]:
                v11 += weight
            elif a[i] == a[j]:
                v10 += weight
            elif b[i] == b[j]:
                v01 += weight
            else:
                v00 += weight
    return Pairs(v11, v10, v01, v00, identical=v10 == 0 and v01 == 0)


def clusters(labels: Labels) -> list[set[int]]:
    """The clusters as sets of points, in sorted order of their labels."""
    return [{i for i, label in enumerate(labels) if label == value} for value in sorted(set(labels))]


def table(a: Labels, b: Labels, w: Weights | None = None) -> Table:
    """n_ij = the mass of the points that lie in cluster i of a and in cluster j of b."""
    a, b, mass = points(a, b, w)
    return [[Fraction(sum(mass[i] for i in in_a & in_b)) for in_b in clusters(b)] for in_a in clusters(a)]


def row_sums(t: Table) -> list[Fraction]:
    """a_i, the sizes of the clusters of a."""
    return [Fraction(sum(row)) for row in t]


def column_sums(t: Table) -> list[Fraction]:
    """b_j, the sizes of the clusters of b."""
    return row_sums(transposed(t))


def total(t: Table) -> Fraction:
    """n, the mass of all points."""
    return Fraction(sum(row_sums(t)))


def transposed(t: Table) -> Table:
    """The table with a and b swapped."""
    return [list(column) for column in zip(*t, strict=True)]


def cells(t: Table) -> Iterator[tuple[Fraction, Fraction, Fraction]]:
    """(n_ij, a_i, b_j) of every cell, row by row."""
    for row, a_i in zip(t, row_sums(t), strict=True):
        for n_ij, b_j in zip(row, column_sums(t), strict=True):
            yield n_ij, a_i, b_j


def padded(t: Table) -> Table:
    """The table made square with rows or columns of zeros."""
    k = max(len(t), len(t[0]))
    wide = [row + [Fraction(0)] * (k - len(row)) for row in t]
    return wide + [[Fraction(0)] * k for _ in range(k - len(t))]


def best_matching(values: Table) -> Fraction:
    """The largest sum of cells, one in each row and column, over all one-to-one matchings of the padded square."""
    square = padded(values)
    if len(square) > MOST_MATCHED:
        raise ValueError(f"{len(square)} clusters are too many to try every matching; at most {MOST_MATCHED}")

    @cache
    def best(i: int, free: frozenset[int]) -> Fraction:
        """The best sum of rows i, i + 1, ... when these columns are free."""
        if i == len(square):
            return Fraction(0)
        return max(square[i][j] + best(i + 1, free - {j}) for j in free)

    return best(0, frozenset(range(len(square))))


def ratio(numerator: Fraction, denominator: Fraction, otherwise: float) -> float:
    """numerator / denominator, or the value agreed for a denominator of 0."""
    return float(numerator / denominator) if denominator != 0 else float(otherwise)


# --- Pair counting ---------------------------------------------------------------------------------------------------


def rand(v: Pairs) -> float:
    """(v11 + v00) / N, the share of pairs on which a and b agree; no pair: 1."""
    return ratio(v.v11 + v.v00, v.total, otherwise=1)


def ari(v: Pairs) -> float:
    """(v11 - E) / ((s_a + s_b)/2 - E), E = s_a s_b / N; 0/0: 1 if identical, else 0."""
    if v.total == 0:
        return 1.0
    expected = v.same_a * v.same_b / v.total
    return ratio(v.v11 - expected, (v.same_a + v.same_b) / 2 - expected, otherwise=v.identical)


def jaccard(v: Pairs) -> float:
    """v11 / (v11 + v10 + v01); 0/0: 1 if identical, else 0."""
    return ratio(v.v11, v.v11 + v.v10 + v.v01, otherwise=v.identical)


def wallace(v: Pairs) -> float:
    """v11 / sqrt(s_a s_b), the Fowlkes-Mallows index; no pair together in a or in b: 1 if identical, else 0."""
    product = v.same_a * v.same_b
    return float(v.v11) / math.sqrt(product) if product > 0 else float(v.identical)


def wallace_ab(v: Pairs) -> float:
    """v11 / s_a, the share of a's pairs that b keeps together; 0/0: 1 if identical, else 0."""
    return ratio(v.v11, v.same_a, otherwise=v.identical)


def wallace_ba(v: Pairs) -> float:
    """v11 / s_b, the share of b's pairs that a keeps together; 0/0: 1 if identical, else 0."""
    return ratio(v.v11, v.same_b, otherwise=v.identical)


def mirkin(v: Pairs) -> float:
    """2 (v10 + v01), the ordered pairs on which a and b disagree."""
    return float(2 * (v.v10 + v.v01))


def dice(v: Pairs) -> float:
    """2 v11 / (2 v11 + v10 + v01), the F1 of pairs; 0/0: 1 if identical, else 0."""
    return ratio(2 * v.v11, 2 * v.v11 + v.v10 + v.v01, otherwise=v.identical)


def hubert(v: Pairs) -> float:
    """(agreements - disagreements) / N; no pair: 1."""
    return ratio(v.v11 + v.v00 - v.v10 - v.v01, v.total, otherwise=1)


# --- Information -----------------------------------------------------------------------------------------------------


def entropy(sizes: Iterable[Fraction]) -> float:
    """-sum p log p over the sizes' shares p, natural logarithm, 0 log 0 = 0."""
    sizes = [x for x in sizes if x > 0]
    n = Fraction(sum(sizes))
    return math.fsum(float(x / n) * math.log(n / x) for x in sizes)


def joint_entropy(t: Table) -> float:
    """H_ab, the entropy of the cells."""
    return entropy(n_ij for row in t for n_ij in row)


def mi(t: Table) -> float:
    """sum (n_ij / n) log(n n_ij / (a_i b_j)), never below 0."""
    n = total(t)
    terms = [float(n_ij / n) * math.log(n * n_ij / (a_i * b_j)) for n_ij, a_i, b_j in cells(t) if n_ij > 0]
    return max(0.0, math.fsum(terms))


def vi(t: Table) -> float:
    """H(a|b) + H(b|a) = sum (n_ij / n) (log(b_j / n_ij) + log(a_i / n_ij))."""
    n = total(t)
    inside = [(n_ij, size) for n_ij, a_i, b_j in cells(t) if n_ij > 0 for size in (a_i, b_j)]
    return math.fsum(float(n_ij / n) * math.log(size / n_ij) for n_ij, size in inside)


def joint_norm(t: Table) -> float:
    """H_ab."""
    return joint_entropy(t)


def max_norm(t: Table) -> float:
    """max(H_a, H_b)."""
    return max(entropy(row_sums(t)), entropy(column_sums(t)))


def sum_norm(t: Table) -> float:
    """(H_a + H_b) / 2."""
    return (entropy(row_sums(t)) + entropy(column_sums(t))) / 2


def sqrt_norm(t: Table) -> float:
    """sqrt(H_a H_b)."""
    return math.sqrt(entropy(row_sums(t)) * entropy(column_sums(t)))


def min_norm(t: Table) -> float:
    """min(H_a, H_b)."""
    return min(entropy(row_sums(t)), entropy(column_sums(t)))


NORMS = {"joint": joint_norm, "max": max_norm, "sum": sum_norm, "sqrt": sqrt_norm, "min": min_norm}


def nmi(t: Table, norm: str) -> float:
    """MI / norm; one cluster each: 1; one cluster against several: 0."""
    if len(t) == 1 and len(t[0]) == 1:
        return 1.0
    if len(t) == 1 or len(t[0]) == 1:
        return 0.0
    return mi(t) / NORMS[norm](t)


def nvi(t: Table) -> float:
    """1 - nmi_joint, the share of H_ab that is not common to a and b."""
    return 1.0 - nmi(t, "joint")


def homogeneity(t: Table) -> float:
    """MI / H_a; H_a = 0: 1."""
    return mi(t) / entropy(row_sums(t)) if len(t) > 1 else 1.0


def completeness(t: Table) -> float:
    """MI / H_b; H_b = 0: 1."""
    return homogeneity(transposed(t))


def v_measure(t: Table) -> float:
    """2 h c / (h + c), the harmonic mean of homogeneity and completeness; 0/0: 0 (never identical)."""
    h, c = homogeneity(t), completeness(t)
    return 2 * h * c / (h + c) if h + c > 0 else 0.0


def expected_mi(a: Labels, b: Labels) -> float:
    """E[MI] for points placed at random, sizes kept: sum_ij sum_k P(n_ij = k) (k/n) log(n k / (a_i b_j))."""
    n = len(a)
    terms = []
    for in_a, in_b in itertools.product(clusters(a), clusters(b)):
        a_i, b_j = len(in_a), len(in_b)
        for k in range(1, min(a_i, b_j) + 1):
            probability = Fraction(math.comb(a_i, k) * math.comb(n - a_i, b_j - k), math.comb(n, b_j))
            terms.append(float(probability * k / n) * math.log(Fraction(n * k, a_i * b_j)))
    return math.fsum(terms)


def ami(a: Labels, b: Labels, norm: str) -> float:
    """(MI - E[MI]) / (norm - E[MI]); a denominator under 1e-12: 1 if identical, else 0."""
    t = table(a, b)
    expected = expected_mi(a, b)
    denominator = NORMS[norm](t) - expected
    if abs(denominator) < 1e-12:
        return float(pair_counts(a, b).identical)
    return (mi(t) - expected) / denominator


# --- Matching --------------------------------------------------------------------------------------------------------


def accuracy(t: Table) -> float:
    """The largest share of points on a one-to-one matching of clusters."""
    return float(best_matching(t) / total(t))


def clustering_error(t: Table) -> float:
    """1 - accuracy."""
    return float(1 - best_matching(t) / total(t))


def kappas(t: Table) -> list[tuple[Fraction, Fraction]]:
    """(p_o, (p_o - p_e) / (1 - p_e)) of every permutation s of the padded square, p_e = sum_i a_i b_s(i) / n^2."""
    square, n = padded(t), total(t)
    k = len(square)
    if k > MOST_PERMUTED:
        raise ValueError(f"{k} clusters are too many to try every permutation; at most {MOST_PERMUTED}")
    rows, columns = row_sums(square), column_sums(square)
    found = []
    for order in itertools.permutations(range(k)):
        observed = sum(square[i][order[i]] for i in range(k)) / n
        chance = sum(rows[i] * columns[order[i]] for i in range(k)) / n**2
        found.append((observed, (observed - chance) / (1 - chance) if chance != 1 else Fraction(1)))
    return found


def kappa_max(t: Table) -> float:
    """The largest kappa over all permutations; one cluster each: 1."""
    return float(max(kappa for _, kappa in kappas(t)))


def kappa_trace(t: Table) -> float:
    """The kappa of the permutation with the largest trace (of equal traces, the largest kappa); one cluster each: 1."""
    return float(max(kappas(t))[1])


def lambda_(t: Table) -> float:
    """exp(z) / (1 + exp(p/q)), z = exp(-.8/k) + .8 p/k + .3 q/k, p = accuracy, q = nmi_sqrt; q = 0: 0; k = 1: nan."""
    k = len(t)
    if k != len(t[0]):
        raise ValueError(f"lambda needs equal numbers of clusters, got {k} and {len(t[0])}")
    if k == 1:
        return math.nan
    p, q = accuracy(t), nmi(t, "sqrt")
    if q == 0:
        return 0.0
    z = math.exp(-0.8 / k) + 0.8 * p / k + 0.3 * q / k
    return math.exp(z - p / q - math.log1p(math.exp(-p / q)))


def jaccard_of_clusters(t: Table) -> Table:
    """d_ij = n_ij / (a_i + b_j - n_ij), the common points of two clusters divided by their union."""
    rows, columns = row_sums(t), column_sums(t)
    return [[x / (rows[i] + columns[j] - x) for j, x in enumerate(row)] for i, row in enumerate(t)]


def irm(t: Table) -> float:
    """max sum d_ij s_ij / n over shipments s >= 0 with row sums a_i and column sums b_j (a transportation problem)."""
    gain = [float(d) for row in jaccard_of_clusters(t) for d in row]
    where = list(itertools.product(range(len(t)), range(len(t[0]))))
    from_row = [[float(i == row) for i, _ in where] for row in range(len(t))]
    to_column = [[float(j == column) for _, j in where] for column in range(len(t[0]))]
    margins = [float(x / total(t)) for x in row_sums(t) + column_sums(t)]
    solution = linprog([-d for d in gain], A_eq=from_row + to_column, b_eq=margins, method="highs")
    if not solution.success:
        raise RuntimeError(solution.message)
    return -float(solution.fun)


def irm_greedy(t: Table) -> float:
    """sum d_ij s_ij / n when the largest d_ij left ships all it can, again and again; ties by (row, column)."""
    d = jaccard_of_clusters(t)
    supply, demand = row_sums(t), column_sums(t)
    shipped = Fraction(0)
    for i, j in sorted(itertools.product(range(len(supply)), range(len(demand))), key=lambda c: (-d[c[0]][c[1]], c)):
        load = min(supply[i], demand[j])
        supply[i] -= load
        demand[j] -= load
        shipped += d[i][j] * load
    return float(shipped / total(t))


def van_dongen(t: Table) -> float:
    """(2n - sum_i max_j n_ij - sum_j max_i n_ij) / 2n."""
    n = total(t)
    return float((2 * n - sum(max(row) for row in t) - sum(max(column) for column in transposed(t))) / (2 * n))


def purity(t: Table) -> float:
    """sum_j max_i n_ij / n."""
    return float(sum(max(column) for column in transposed(t)) / total(t))


def inverse_purity(t: Table) -> float:
    """sum_i max_j n_ij / n."""
    return float(sum(max(row) for row in t) / total(t))


def f_measure(t: Table) -> float:
    """sum_i (a_i / n) max_j 2 n_ij / (a_i + b_j)."""
    rows, columns = row_sums(t), column_sums(t)
    best = [max(2 * x / (rows[i] + columns[j]) for j, x in enumerate(row)) for i, row in enumerate(t)]
    return float(sum(a_i * x for a_i, x in zip(rows, best, strict=True)) / total(t))


def nca(t: Table) -> float:
    """(sum of matched n_ij / a_i - 1) / (K - 1), the best matching, K clusters of a; K = 1: 1 if identical, else 0."""
    sizes = row_sums(t)
    if len(t) == 1:
        return 1.0 if len(t[0]) == 1 else 0.0
    return float((best_matching([[x / sizes[i] for x in row] for i, row in enumerate(t)]) - 1) / (len(t) - 1))


def npa(t: Table) -> float:
    """(accuracy - 1/K) / (1 - 1/K), K the larger number of clusters; K = 1: 1."""
    k = max(len(t), len(t[0]))
    return (accuracy(t) - 1 / k) / (1 - 1 / k) if k > 1 else 1.0


def psi(t: Table) -> float:
    """(S - E) / (max(K, K') - E), S = best matching of n_ij / max(a_i, b_j), E of sorted sizes; S < E: 0; 0/0: 1."""
    rows, columns = row_sums(t), column_sums(t)
    shares = [[x / max(rows[i], columns[j]) for j, x in enumerate(row)] for i, row in enumerate(t)]
    in_order = zip(sorted(rows, reverse=True), sorted(columns, reverse=True), strict=False)
    expected = Fraction(sum(a_i * b_i / (total(t) * max(a_i, b_i)) for a_i, b_i in in_order))
    return ratio(max(Fraction(0), best_matching(shares) - expected), max(len(t), len(t[0])) - expected, otherwise=1)


# --- Point by point --------------------------------------------------------------------------------------------------


def cluster_of(labels: Labels, i: int) -> set[int]:
    """The points that share point i's cluster, i among them."""
    return {j for j in range(len(labels)) if labels[j] == labels[i]}


def exact_element_scores(a: Labels, b: Labels, mass: Sequence[Fraction]) -> list[Fraction]:
    """1 - (1/2) sum_j |p_ij - q_ij| of every point i: p_ij, q_ij = j's share of i's cluster in a, in b (0 outside)."""
    scores = []
    for i in range(len(a)):
        in_a, in_b = cluster_of(a, i), cluster_of(b, i)
        size_a, size_b = sum(mass[j] for j in in_a), sum(mass[j] for j in in_b)
        apart = Fraction(0)
        for j in range(len(a)):
            p_ij = mass[j] / size_a if j in in_a else Fraction(0)
            q_ij = mass[j] / size_b if j in in_b else Fraction(0)
            apart += abs(p_ij - q_ij)
        scores.append(1 - apart / 2)
    return scores


def element_scores(a: Labels, b: Labels) -> list[float]:
    """The element-centric similarity of every point."""
    return [float(score) for score in exact_element_scores(*points(a, b))]


def element_centric(a: Labels, b: Labels, w: Weights | None = None) -> float:
    """The mean of the element-centric similarities of the points."""
    a, b, mass = points(a, b, w)
    scores = exact_element_scores(a, b, mass)
    return float(sum(m * score for m, score in zip(mass, scores, strict=True)) / sum(mass))


def bcubed_precision(a: Labels, b: Labels, w: Weights | None = None) -> float:
    """The mean over points of the share of their cluster in b that lies in their cluster in a."""
    a, b, mass = points(a, b, w)
    found = Fraction(0)
    for i in range(len(a)):
        in_a, in_b = cluster_of(a, i), cluster_of(b, i)
        found += mass[i] * sum(mass[j] for j in in_a & in_b) / sum(mass[j] for j in in_b)
    return float(found / sum(mass))


def bcubed_recall(a: Labels, b: Labels, w: Weights | None = None) -> float:
    """The mean over points of the share of their cluster in a that lies in their cluster in b."""
    return bcubed_precision(b, a, w)


def bcubed_f(a: Labels, b: Labels, w: Weights | None = None) -> float:
    """The harmonic mean of B-cubed precision and recall."""
    precision, recall = bcubed_precision(a, b, w), bcubed_recall(a, b, w)
    return 2 * precision * recall / (precision + recall)


# --- Gram matrices ---------------------------------------------------------------------------------------------------


def ari_of_matrices(p: Table, q: Table) -> float:
    """(s_pq - E) / ((s_p + s_q)/2 - E), E = s_p s_q / N, sums over i < j; 0/0: 1 if equal off the diagonal, else 0."""
    n = len(p)
    s_p = s_q = s_pq = Fraction(0)
    equal = True
    for i in range(n):
        for j in range(i + 1, n):
            s_p += p[i][j]
            s_q += q[i][j]
            s_pq += p[i][j] * q[i][j]
            equal = equal and p[i][j] == q[i][j]
    expected = s_p * s_q / Fraction(n * (n - 1), 2) if n > 1 else Fraction(0)
    return ratio(s_pq - expected, (s_p + s_q) / 2 - expected, otherwise=equal)


def gram(u: Memberships) -> Table:
    """UU', how much two points share their clusters."""
    rows = exact_memberships(u)
    return [[Fraction(sum(x * y for x, y in zip(p, q, strict=True))) for q in rows] for p in rows]


def coassociation(labels: Labels) -> Table:
    """1 where two points are in the same cluster, else 0."""
    return [[Fraction(p == q) for q in labels] for p in labels]


def ari_gram(a: Labels, b: Labels) -> float:
    """The adjusted Rand index of the two co-association matrices."""
    a, b, _ = points(a, b)
    return ari_of_matrices(coassociation(a), coassociation(b))


# --- Memberships -----------------------------------------------------------------------------------------------------


def exact_memberships(u: Memberships) -> Table:
    """The memberships as exact fractions, without clusters to which no point belongs."""
    rows = [[Fraction(float(x)) for x in row] for row in u]
    kept = [k for k in range(len(rows[0])) if any(row[k] != 0 for row in rows)]
    return [[row[k] for k in kept] for row in rows]


def soft_table(u: Memberships, v: Memberships) -> Table:
    """N* = phi U'V, n*_ij = phi sum_p u_pi v_pj, phi such that all cells sum to n; empty rows and columns left out."""
    if len(u) != len(v) or len(u) == 0:
        raise ValueError(f"memberships have {len(u)} and {len(v)} points; expected the same number, at least one")
    p, q = exact_memberships(u), exact_memberships(v)
    product = [[Fraction(0)] * len(q[0]) for _ in p[0]]
    for point in range(len(p)):
        for i in range(len(p[0])):
            for j in range(len(q[0])):
                product[i][j] += p[point][i] * q[point][j]
    if total(product) == 0:
        raise ValueError("U'V is 0: no point belongs to a cluster in both")
    phi = len(p) / total(product)
    without_empty_rows = [row for row in product if any(row)]
    without_empty = transposed([column for column in transposed(without_empty_rows) if any(column)])
    return [[phi * x for x in row] for row in without_empty]


def soft_pair_counts(u: Memberships, v: Memberships) -> Pairs:
    """v11 = (S - n)/2, v10 = (A - S)/2, v01 = (B - S)/2, v00 the rest of N; sums of squares of N* and its margins."""
    t, n = soft_table(u, v), len(u)
    s = Fraction(sum(x**2 for row in t for x in row))
    v11 = (s - n) / 2
    v10 = (sum(x**2 for x in row_sums(t)) - s) / 2
    v01 = (sum(x**2 for x in column_sums(t)) - s) / 2
    v00 = Fraction(n * (n - 1), 2) - v11 - v10 - v01
    same = sorted(transposed(exact_memberships(u))) == sorted(transposed(exact_memberships(v)))
    one_cluster_each = len(t) == 1 and len(t[0]) == 1
    return Pairs(v11, v10, v01, v00, identical=same or one_cluster_each)


def soft_element_centric(t: Table) -> float:
    """sum n_ij^2 / max(a_i, b_j) / n."""
    return float(sum(n_ij**2 / max(a_i, b_j) for n_ij, a_i, b_j in cells(t)) / total(t))


def soft_bcubed_precision(t: Table) -> float:
    """sum n_ij^2 / b_j / n."""
    return float(sum(n_ij**2 / b_j for n_ij, _, b_j in cells(t)) / total(t))


def soft_bcubed_recall(t: Table) -> float:
    """sum n_ij^2 / a_i / n."""
    return soft_bcubed_precision(transposed(t))


def soft_bcubed_f(t: Table) -> float:
    """The harmonic mean of soft B-cubed precision and recall."""
    precision, recall = soft_bcubed_precision(t), soft_bcubed_recall(t)
    return 2 * precision * recall / (precision + recall)


def soft_ari_gram(u: Memberships, v: Memberships) -> float:
    """The adjusted Rand index of the Gram matrices UU' and VV', off the diagonal."""
    return ari_of_matrices(gram(u), gram(v))


def pairs_of_points(n: int) -> list[tuple[int, int]]:
    """All pairs i < j."""
    return list(itertools.combinations(range(n), 2))


def fari(u: Memberships, v: Memberships) -> float:
    """(RI - E) / (1 - E) of A' = s/q UU' and B', s the sum and q the sum of squares of all entries; 0/0: 1."""
    n = len(u)
    if n < 2:
        return 1.0
    sums = []
    for x in (u, v):
        entries = gram(x)
        s, q = (sum(y**power for row in entries for y in row) for power in (1, 2))
        mean = s / n
        sums.append((entries, s, q, mean, sum(entries[i][i] for i in range(n)) - mean))
    (a, s_a, q_a, m_a, r_a), (b, s_b, q_b, m_b, r_b) = sums
    every = n * (n - 1)
    cells_ = [(s_a / q_a * x, s_b / q_b * y) for p, q in zip(a, b, strict=True) for x, y in zip(p, q, strict=True)]
    value = (sum(x * y + (1 - x) * (1 - y) for x, y in cells_) - n) / every
    expected = 2 * s_a * s_b / (q_a * q_b) * (m_a * m_b + r_a * r_b / (n - 1)) - s_a**2 / q_a - s_b**2 / q_b + n**2 - n
    return ratio(value - expected / every, 1 - expected / every, otherwise=1)


def degrees(u: Memberships, v: Memberships) -> Pairs:
    """Campello: together max_c min(u_ic, u_jc), apart the same for two different clusters; the smaller degree of both sides."""
    found = [Fraction(0)] * 4
    for i, j in pairs_of_points(len(u)):
        sides = []
        for rows in (exact_memberships(u), exact_memberships(v)):
            every = itertools.product(range(len(rows[0])), repeat=2)
            values = [(c == d, min(rows[i][c], rows[j][d])) for c, d in every]
            sides.append(
                [max((x for same, x in values if same is together), default=Fraction(0)) for together in (True, False)]
            )
        for place, (x, y) in enumerate(itertools.product(*sides)):
            found[place] += min(x, y)
    return Pairs(*found, identical=soft_pair_counts(u, v).identical)


def bonds(u: Memberships, v: Memberships) -> Pairs:
    """Brouwer: together to the degree of the cosine p of the memberships, apart to the degree 1 - p; products of both sides."""
    found = [0.0] * 4
    for i, j in pairs_of_points(len(u)):
        p, q = (cosine(rows[i], rows[j]) for rows in (exact_memberships(u), exact_memberships(v)))
        for place, x in enumerate((p * q, p * (1 - q), (1 - p) * q, (1 - p) * (1 - q))):
            found[place] += x
    rounded = [Fraction(round(x, 13)) for x in found]  # rounding must not decide a 0/0
    return Pairs(*rounded, identical=soft_pair_counts(u, v).identical)


def cosine(x: Sequence[Fraction], y: Sequence[Fraction]) -> float:
    """The cosine of two rows, exactly 1 for proportional ones."""
    product, norms = sum(s * t for s, t in zip(x, y, strict=True)), sum(s * s for s in x) * sum(t * t for t in y)
    return 1.0 if product**2 == norms else float(product) / math.sqrt(norms)


def indicator(labels: Labels) -> Memberships:
    """Labels as memberships of 0 and 1."""
    return [[float(x == name) for name in sorted(set(labels), key=str)] for x in labels]


# --- Whole points ----------------------------------------------------------------------------------------------------


def mari(a: Labels, b: Labels) -> float:
    """(theta - theta_0) / (max - theta_0), theta_0 over pairs of disjoint pairs; 0/0 and fewer than 4 points: 0."""
    every = list(itertools.combinations(range(len(a)), 2))
    same = same_partition(a, b)
    if len(a) < 4:
        return 1.0 if same else 0.0
    in_a, in_b = ([x[i] == x[j] for i, j in every] for x in (a, b))
    theta = Fraction(sum(x and y for x, y in zip(in_a, in_b, strict=True)), len(every))
    apart = [(p, q) for p, first in enumerate(every) for q, second in enumerate(every) if not set(first) & set(second)]
    theta_0 = Fraction(sum(in_a[p] and in_b[q] for p, q in apart), len(apart))
    most = Fraction(sum(in_a) + sum(in_b), 2 * len(every))
    return float((theta - theta_0) / (most - theta_0)) if most != theta_0 else (1.0 if same else 0.0)


def same_partition(a: Labels, b: Labels) -> bool:
    """Whether the same points are together in both."""
    return all((a[i] == a[j]) == (b[i] == b[j]) for i in range(len(a)) for j in range(i))


def _written(groups: Sequence[Labels], clusters: int) -> float:
    """Code length in nats per point, minus log q, of the labels of each group, with the best concentration."""

    def cost(log_alpha: float) -> float:
        alpha, nats = math.exp(log_alpha), 0.0
        for group in groups:
            seen: dict[Any, int] = {}
            for many, label in enumerate(group):
                # the label has probability (seen + alpha) / (many + q alpha)
                nats -= math.log1p((clusters * seen.get(label, 0) - many) / (many + clusters * alpha))
                seen[label] = seen.get(label, 0) + 1
        return nats

    low, high = math.log(1e-4), math.log(1e4)
    at = [low + (high - low) * i / 60 for i in range(61)]
    best = min(range(61), key=lambda i: cost(at[i]))
    left, right = at[max(best - 1, 0)], at[min(best + 1, 60)]
    for _ in range(60):  # ternary search
        first, second = left + (right - left) / 3, right - (right - left) / 3
        left, right = (left, second) if cost(first) < cost(second) else (first, right)
    return min(cost((left + right) / 2), cost(at[best]))


@cache
def _reduced(a: tuple[Any, ...], b: tuple[Any, ...]) -> float:
    clusters = len(set(a))
    within = [[x for x, y in zip(a, b, strict=True) if y == label] for label in dict.fromkeys(b)]
    return (_written([list(a)], clusters) - _written(within, clusters)) / len(a)


def rmi(a: Labels, b: Labels) -> float:
    """How much b shortens the code of a, in nats per point."""
    return _reduced(tuple(a), tuple(b))


def nrmi(a: Labels, b: Labels) -> float:
    """rmi(a; b) / rmi(a; a); 0/0: 1 if identical, else 0."""
    own = rmi(a, a)
    if abs(own) < 1e-12:
        return 1.0 if same_partition(a, b) else 0.0
    return rmi(a, b) / own


# --- By key ----------------------------------------------------------------------------------------------------------


def of_norm(formula: Callable[..., float], norm: str) -> Callable[..., float]:
    """The formula with its normaliser chosen."""
    return lambda *clusterings: formula(*clusterings, norm)


def counted(statistic: Callable[..., Any], formula: Callable[..., float]) -> Callable[..., float]:
    """The measure that takes this statistic of two clusterings (and weights) and puts it into the formula."""
    return lambda *clusterings: formula(statistic(*clusterings))


def chi_square(t: Table) -> float:
    """Sum of (n_ij - e_ij)^2 / e_ij, e_ij = a_i b_j / n."""
    return float(dependence(t))


def dependence(t: Table) -> Fraction:
    """The same, exactly."""
    expected = [[a * b / total(t) for b in column_sums(t)] for a in row_sums(t)]
    cells_ = [(x, e) for row, line in zip(t, expected, strict=True) for x, e in zip(row, line, strict=True)]
    return sum(((x - e) ** 2 / e for x, e in cells_), Fraction(0))


def cramers_v(t: Table) -> float:
    """The root of chi_square / (n (k - 1)), k clusters in the side with fewer; one cluster: undefined."""
    k = min(len(t), len(t[0]))
    return math.sqrt(dependence(t) / total(t) / (k - 1)) if k > 1 else math.nan


def partition_difference(v: Pairs) -> float:
    """Pairs of points that are apart in both."""
    return float(v.v00)


OF_PAIRS: dict[str, Callable[[Pairs], float]] = {
    "partition_difference": partition_difference,
    "rand": rand,
    "ari": ari,
    "jaccard": jaccard,
    "wallace": wallace,
    "wallace_ab": wallace_ab,
    "wallace_ba": wallace_ba,
    "mirkin": mirkin,
    "dice": dice,
    "hubert": hubert,
}

#: fuzzy forms; of partitions they are the plain ones
FUZZY: dict[str, Callable[[Pairs], float]] = {"rand": rand, "ari": ari, "jaccard": jaccard}

OF_TABLE: dict[str, Callable[[Table], float]] = {
    "chi_square": chi_square,
    "cramers_v": cramers_v,
    "mi": mi,
    **{f"nmi_{norm}": of_norm(nmi, norm) for norm in NORMS},
    "vi": vi,
    "nvi": nvi,
    "homogeneity": homogeneity,
    "completeness": completeness,
    "v_measure": v_measure,
    "accuracy": accuracy,
    "clustering_error": clustering_error,
    "irm": irm,
    "van_dongen": van_dongen,
    "purity": purity,
    "inverse_purity": inverse_purity,
    "f_measure": f_measure,
    "psi": psi,
    "nca": nca,
    "npa": npa,
}

OF_COUNTS: dict[str, Callable[[Table], float]] = {
    "kappa_max": kappa_max,
    "kappa_trace": kappa_trace,
    "lambda": lambda_,
    "irm_greedy": irm_greedy,
}

#: defined for whole points only: no weights, no memberships
OF_POINTS: dict[str, Callable[..., float]] = {"mari": mari, "rmi": rmi, "nrmi": nrmi}

WEIGHTED: dict[str, Callable[..., float]] = {
    **{key: counted(pair_counts, formula) for key, formula in OF_PAIRS.items()},
    **{key: counted(table, formula) for key, formula in OF_TABLE.items()},
    "element_centric": element_centric,
    "bcubed_precision": bcubed_precision,
    "bcubed_recall": bcubed_recall,
    "bcubed_f": bcubed_f,
    **{f"{key}_{who}": counted(pair_counts, f) for who in ("campello", "brouwer") for key, f in FUZZY.items()},
}

MEASURES: dict[str, Callable[..., float]] = {
    **WEIGHTED,  # without weights, every point has mass 1
    **{f"ami_{norm}": of_norm(ami, norm) for norm in ("max", "sum", "sqrt", "min")},
    **{key: counted(table, formula) for key, formula in OF_COUNTS.items()},
    **OF_POINTS,
    "ari_gram": ari_gram,
    "fari": lambda a, b: fari(indicator(a), indicator(b)),
}

SOFT: dict[str, Callable[..., float]] = {
    **{key: counted(soft_pair_counts, formula) for key, formula in OF_PAIRS.items()},
    **{key: counted(soft_table, formula) for key, formula in OF_TABLE.items()},
    "element_centric": counted(soft_table, soft_element_centric),
    "bcubed_precision": counted(soft_table, soft_bcubed_precision),
    "bcubed_recall": counted(soft_table, soft_bcubed_recall),
    "bcubed_f": counted(soft_table, soft_bcubed_f),
    "ari_gram": soft_ari_gram,
    "fari": fari,
    **{f"{key}_campello": counted(degrees, formula) for key, formula in FUZZY.items()},
    **{f"{key}_brouwer": counted(bonds, formula) for key, formula in FUZZY.items()},
}


def ranked_ari(a, b, distances_a, distances_b):
    """Ranked adjusted Rand index of Pinto et al. (2007), pair by pair; distances between points, n × n."""
    points = range(len(a))

    def ranks(labels, distances):
        def apart(p, q):
            found = [distances[i][j] for i in points for j in points if labels[i] == p and labels[j] == q]
            return -1.0 if p == q else round(sum(found) / len(found), 9)

        clusters = sorted(set(labels))
        steps = {q: sorted({apart(p, q) for p in clusters}) for q in clusters}
        return {(p, q): steps[q].index(apart(p, q)) for p in clusters for q in clusters}

    one, two = ranks(a, distances_a), ranks(b, distances_b)
    last = [max(max(r.values()), 1) for r in (one, two)]
    seen = [(one[a[i], a[j]] / last[0], two[b[i], b[j]] / last[1]) for i in points for j in points if i != j]
    found = sum(abs(x - y) for x, y in seen) / len(seen)
    chance = sum(abs(x - y) for x, _ in seen for _, y in seen) / len(seen) ** 2
    return 1 - found / chance if chance else 1.0
