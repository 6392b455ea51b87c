"""Measures that match clusters with clusters, or points with points, and so read the whole table n_ij.

a_i and b_j are the sizes of the clusters; the first clustering is the reference in every asymmetric measure.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from congruence.errors import Call, InputError, NotApplicable, one_of, real_number
from congruence.formulas.record import measure, ratio
from congruence.formulas.solvers import best_kappa, greedy_shipment, sparse_assignment, transport
from congruence.statistics.covers import overlap_of
from congruence.statistics.elements import MOST_SOLVED, mean_score
from congruence.statistics.information import Info
from congruence.statistics.maxima import Maxima
from congruence.statistics.tables import Array, Table, Tables, xlogx
from congruence.statistics.trees import PointScores
from congruence.typing import Record

METRIC = ("symmetric", "definite", "triangle")
#: default limits of a sparse and a dense matching: number of clusters of the side with fewer clusters
SPARSE_LIMIT, DENSE_LIMIT = 50_000, 2_000


def _within(t: Table, key: str, limit: int | None, dense: bool) -> None:
    """Raise before starting a matching that would take too long or too much memory."""
    k_a, k_b = t.shape
    if type(limit) is not int and not isinstance(limit, int | float | np.number | None):
        raise InputError(f"limit must be a number of clusters, or None; got {limit!r}")
    if limit is not None and min(k_a, k_b) > limit:
        cost = f"{k_a * k_b * 8 / 1e9:.3g} GB" if dense else "minutes"
        raise NotApplicable(
            f"{key} would match {k_a:,} with {k_b:,} clusters ({cost}); its limit is {limit:,}: pass "
            f"{Call(f'cg.measure({key!r}, limit=None)')} to run it anyway, or use element_centric, ari or vi"
        )


def assignment(row: Array, col: Array, weight: Array, shape: tuple[int, int]) -> Array:
    """The non-zero cells of the best one-to-one matching of rows and columns (weights ≥ 0).

    >>> assignment(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([3, 2, 2]), (2, 2)).tolist()
    [1, 2]
    """
    if shape[0] * shape[1] <= 4_000_000:
        from scipy.optimize import linear_sum_assignment

        dense = np.zeros(shape)
        dense[row, col] = weight
        rows, columns = linear_sum_assignment(dense, maximize=True)
        partner = np.full(shape[0], -1)
        partner[rows] = columns
        return np.asarray((partner[row] == col).nonzero()[0])
    return sparse_assignment(row, col, weight, shape)


def _matched(t: Table, weight: Array) -> float:
    """Weight of the best one-to-one matching of clusters."""
    return float(weight[assignment(t.row, t.col, weight, t.shape)].sum())


def _accuracy_workings(t: Table, limit: int | None = None) -> Record:
    return {"matched": _matched(t, t.count), "n": t.n}


@measure(
    "accuracy", title="Accuracy of the best matching", needs=Table, better="higher", range=(0, 1), axioms=METRIC,
    reference="kuhn1955", definition="accuracy = matched / n", workings=_accuracy_workings,
)  # fmt: skip
def accuracy(t: Table, limit: int | None = SPARSE_LIMIT) -> float:
    """Share of the points in matched clusters, under the best one-to-one matching."""
    _within(t, "accuracy", limit, dense=False)
    return _matched(t, t.count) / t.n if t.n else math.nan


@measure(
    "clustering_error", title="Clustering error", needs=Table, better="lower", range=(0, 1), axioms=METRIC,
    reference="meila2007", definition="clustering_error = 1 - matched / n", workings=_accuracy_workings,
)  # fmt: skip
def clustering_error(t: Table, limit: int | None = SPARSE_LIMIT) -> float:
    """Share of the points outside matched clusters: 1 − accuracy."""
    _within(t, "clustering_error", limit, dense=False)
    return (t.n - _matched(t, t.count)) / t.n if t.n else math.nan


def _kappa_workings(t: Table, rule: str) -> Record:
    missed, chance = best_kappa(t.to_array(), rule)
    return {"p_o": 1 - missed, "p_exp": 1 - chance}


def _kappa(t: Table, rule: str) -> float:
    if not t.n:
        return math.nan
    missed, chance = best_kappa(t.to_array(), rule)
    return 1 - missed / chance if chance > 0 else math.nan


@measure(
    "kappa_max", title="Largest Cohen's kappa over all matchings", needs=Table, better="higher", range=(0, 1),
    axioms=("symmetric", "definite"), reference="reilly2005", definition="kappa_max = (p_o - p_exp) / (1 - p_exp)",
    workings=lambda t, limit=None: _kappa_workings(t, "kappa"),
)  # fmt: skip
def kappa_max(t: Table, limit: int | None = DENSE_LIMIT) -> float:
    """The largest Cohen's kappa over all one-to-one matchings, exactly."""
    _within(t, "kappa_max", limit, dense=True)
    return _kappa(t, "kappa")


@measure(
    "kappa_trace", title="Cohen's kappa of the matching with the largest trace", needs=Table, better="higher",
    range=(-1, 1), axioms=("symmetric", "definite"), reference="uglickich",
    definition="kappa_trace = (p_o - p_exp) / (1 - p_exp)", workings=lambda t, limit=None: _kappa_workings(t, "trace"),
    caution="what the κ/Λ paper computes and calls κ_max; unlike the true maximum it can be negative",
    status="historical",
)  # fmt: skip
def kappa_trace(t: Table, limit: int | None = DENSE_LIMIT) -> float:
    """Cohen's kappa of the matching with the most points; among ties, the largest kappa."""
    _within(t, "kappa_trace", limit, dense=True)
    return _kappa(t, "trace")


def _lambda_workings(t: Table, zero_cells: float = 0.0, limit: int | None = None) -> Record:
    k = _filled(t)[0]
    if real_number(zero_cells, "zero_cells", 0, 1):  # as in the paper: fill zero cells, recompute margins, keep n
        dense = t.to_array().astype(np.float64)
        dense[dense == 0] = zero_cells
        h_a, h_b, h_ab = (
            math.log(t.n) * x.sum() / t.n - xlogx(x).sum() / t.n for x in (dense.sum(1), dense.sum(0), dense)
        )
        nmi = (h_a + h_b - h_ab) / math.sqrt(h_a * h_b)
    else:
        info = Info.from_tables(Tables.of(t))
        nmi = float(ratio(info.MI, np.sqrt(info.H_a * info.H_b))[0])
    return {"k": k, "p_max": _matched(t, t.count) / t.n, "NMI": nmi}


@measure(
    "lambda", title="Λ statistic of kappa and entropy", needs=Table, better="higher", range=(0, math.e / 2),
    axioms=("symmetric",), at_zero=math.nan, reference="uglickich", workings=_lambda_workings,
    definition=("z = exp(-0.8 / k) + 0.8 * p_max / k + 0.3 * NMI / k", "Lambda = exp(z) / (1 + exp(p_max / NMI))"),
    caution="unsound: at equal NMI it falls as the matching improves, identical clusterings score 0.911 (k=2) … 0.731, "
    "and others can beat them; use kappa_max or ami_max instead",
)  # fmt: skip
def lambda_statistic(t: Table, zero_cells: float = 0.0, limit: int | None = SPARSE_LIMIT) -> float:
    """Λ as published, with plus signs; `zero_cells=1e-5` fills empty cells as the paper does.

    One cluster in each: undefined. NMI = 0: the limit, 0.
    """
    k_a, k_b = _filled(t)
    if k_a != k_b:
        raise NotApplicable(
            f"lambda is defined only for equal numbers of clusters, but these have {k_a} and {k_b}; kappa_max takes any"
        )
    _within(t, "lambda", limit, dense=False)
    if k_a <= 1:
        return math.nan
    w = _lambda_workings(t, zero_cells)
    if w["NMI"] <= 0:
        return 0.0
    z = math.exp(-0.8 / k_a) + 0.8 * w["p_max"] / k_a + 0.3 * w["NMI"] / k_a
    x = w["p_max"] / w["NMI"]
    return math.exp(z - (x + math.log1p(math.exp(-x))))  # log(1 + exp(x)) without overflow


def _overlap(t: Table) -> Array:
    """Jaccard similarity of each cluster of a with each cluster of b, on the non-zero cells."""
    return np.asarray(t.count / (t.row_sums[t.row] + t.col_sums[t.col] - t.count))


def _irm_workings(t: Table, limit: int | None = None) -> Record:
    d = np.zeros(t.shape)
    d[t.row, t.col] = _overlap(t)
    return {"shipped": transport(d, t.row_sums, t.col_sums), "n": t.n}


@measure(
    "irm", title="IRM index, transportation optimum", needs=Table, better="higher", range=(0, 1), axioms=METRIC,
    reference="irm2010", definition="irm = shipped / n", workings=_irm_workings,
)  # fmt: skip
def irm(t: Table, limit: int | None = DENSE_LIMIT) -> float:
    """Optimal transport of points between clusters, weighted by their Jaccard similarity: 1 − Wasserstein-1."""
    _within(t, "irm", limit, dense=True)
    return _irm_workings(t)["shipped"] / t.n if t.n else math.nan


@measure(
    "irm_greedy", title="IRM index by the paper's greedy rule", needs=Table, better="higher", range=(0, 1),
    axioms=("symmetric", "definite"), reference="irm2010", definition="irm_greedy = shipped / n",
    workings=lambda t: {"shipped": greedy_shipment(t.row, t.col, _overlap(t), t.row_sums, t.col_sums), "n": t.n},
    caution="depends on the order of clusters if similarities tie; irm is the optimum and does not",
    status="historical",
)  # fmt: skip
def irm_greedy(t: Table) -> float:
    """The paper's rule: ship as many points as possible between the most similar clusters first; ties by (row, column)."""
    return greedy_shipment(t.row, t.col, _overlap(t), t.row_sums, t.col_sums) / t.n if t.n else math.nan


@measure(
    "van_dongen", title="Van Dongen distance", needs=Maxima, better="lower", range=(0, 1), axioms=METRIC,
    reference="vandongen2000", definition="van_dongen = (2 * n - best_of_a - best_of_b) / (2 * n)",
)  # fmt: skip
def van_dongen(m: Maxima) -> Array:
    """Points outside the best overlap of their cluster, in both directions, divided by 2n."""
    return ratio(2 * m.n - m.best_of_a - m.best_of_b, 2 * m.n)


@measure(
    "purity", title="Purity of b", needs=Maxima, better="higher", range=(0, 1), axioms=("triangle",),
    reference="manning2008", definition="purity = best_of_b / n", caution="1 when every point of b is its own cluster",
)  # fmt: skip
def purity(m: Maxima) -> Array:
    """Share of the points in the most frequent reference cluster of their cluster."""
    return ratio(m.best_of_b, m.n)


@measure(
    "inverse_purity", title="Inverse purity", needs=Maxima, better="higher", range=(0, 1), axioms=("triangle",),
    reference="meila1999", definition="inverse_purity = best_of_a / n", aliases=("meila_heckerman",),
    caution="1 when b is a single cluster",
)  # fmt: skip
def inverse_purity(m: Maxima) -> Array:
    """Share of the points in the most frequent cluster of their reference cluster (Meilă–Heckerman)."""
    return ratio(m.best_of_a, m.n)


def _by_row_best(t: Tables) -> Array:
    a, b = t.row_total, t.col_total
    return t.best_of(a * (2 * t.count / (a + b)), 0)


@measure(
    "f_measure", title="F-measure of best matches (Larsen & Aone)", needs=Tables, better="higher", range=(0, 1),
    axioms=("definite",), reference="larsen1999", definition="f_measure = best / n",
    workings=lambda t: {"best": _by_row_best(Tables.of(t))[0], "n": t.n},
)  # fmt: skip
def f_measure(t: Tables) -> Array:
    """Mean over reference clusters, weighted by size, of the best F1 = 2 n_ij / (a_i + b_j)."""
    return ratio(_by_row_best(t), t.n)


def _squares_over(t: Table, size: Array) -> float:
    """Σ n_ij² / size; the squares themselves do not fit 64 bits."""
    return float((t.count * (t.count / size)).sum())


def _element_workings(
    t: Table, r: float = 1.0, path: str = "max", alpha: float = 0.9, limit: int | None = MOST_SOLVED,
    sample: int | None = None,
) -> Record:  # fmt: skip
    if t.maps is not None:
        return {"shared": mean_score(overlap_of(t), alpha, limit, sample) * t.n, "n": t.n}
    return {"shared": _squares_over(t, np.maximum(t.row_sums[t.row], t.col_sums[t.col])), "n": t.n}


def _element_axioms(path: str, alpha: float, **_: object) -> frozenset[str]:
    """The axioms, the same for all allowed parameters."""
    one_of("path", path, ("max", "min", "height"))
    if not isinstance(alpha, int | float | np.number) or not 0 < alpha < 1:
        raise InputError(f"alpha is a probability between 0 and 1; got {alpha!r}")
    return frozenset(METRIC)


@measure(
    "element_centric", title="Element-centric similarity", needs=Tables, better="higher", range=(0, 1), axioms=METRIC,
    reference="gates2019", definition="element_centric = shared / n", workings=_element_workings, takes_covers=True,
    axioms_for=_element_axioms,
)  # fmt: skip
def element_centric(
    t: Tables | PointScores, r: float = 1.0, path: str = "max", alpha: float = 0.9, limit: int | None = MOST_SOLVED,
    sample: int | None = None,
) -> Array:  # fmt: skip
    """Mean over points of the overlap of their two clusters, divided by the larger of the two.

    For covers: mean over points of the similarity of random walks that start there; `alpha` is the probability to continue.
    Up to `limit` unknowns a dense system is solved, above it rows are iterated to 1e-12; None removes the time limit.
    `sample` scores only that many random points, with a standard error of at most 0.5 / √sample. For hierarchies: mean over
    points of the similarity of their affinities to all points. A node at level l, from 0 (root) to 1 (points), has weight
    exp(r·l). `path` defines l: "max" or "min", the depth of the node divided by the length of the longest or shortest path
    through it from the root to a point; "height", 1 − height / height of the root.
    """
    if isinstance(t, PointScores):
        return t.mean
    if t.maps is not None:
        return np.array([mean_score(o, alpha, limit, sample) for o in t.overlaps])
    return ratio(t.sum(t.count * (t.count / np.maximum(t.row_total, t.col_total))), t.n)


def _bcubed(t: Tables, side: int) -> Array:
    """Precision (side 0) or recall (side 1)."""
    if t.maps is not None:
        return np.array([o.bcubed[side] for o in t.overlaps])
    return ratio(t.sum(t.count * (t.count / (t.row_total if side else t.col_total))), t.n)


def _bcubed_workings(side: int) -> Callable[[Table], Record]:
    def workings(t: Table) -> Record:
        if t.maps is not None:
            o = overlap_of(t)
            covered = o.mass[o.lengths[1 - side] > 0].sum()
            return {"shared": o.bcubed[side] * covered, "n": covered}
        return {"shared": _squares_over(t, t.row_sums[t.row] if side else t.col_sums[t.col]), "n": t.n}

    return workings


@measure(
    "bcubed_precision", title="B-cubed precision", needs=Tables, better="higher", range=(0, 1), axioms=("triangle",),
    reference="bagga1998", definition="bcubed_precision = shared / n", caution="1 for any refinement of a",
    workings=_bcubed_workings(0), takes_covers=True,
)  # fmt: skip
def bcubed_precision(t: Tables) -> Array:
    """Mean over points of the share of its cluster in b that is in its cluster in a."""
    return _bcubed(t, 0)


@measure(
    "bcubed_recall", title="B-cubed recall", needs=Tables, better="higher", range=(0, 1), axioms=("triangle",),
    reference="bagga1998", definition="bcubed_recall = shared / n", caution="1 when b is a single cluster",
    workings=_bcubed_workings(1), takes_covers=True,
)  # fmt: skip
def bcubed_recall(t: Tables) -> Array:
    """Mean over points of the share of its cluster in a that is in its cluster in b."""
    return _bcubed(t, 1)


@measure(
    "bcubed_f", title="B-cubed F1", needs=Tables, better="higher", range=(0, 1), axioms=("symmetric", "definite"),
    reference="amigo2009", definition="bcubed_f = 2 * precision * recall / (precision + recall)",
    workings=lambda t: {"precision": bcubed_precision(Tables.of(t))[0], "recall": bcubed_recall(Tables.of(t))[0]},
    takes_covers=True,
)  # fmt: skip
def bcubed_f(t: Tables) -> Array:
    """Harmonic mean of B-cubed precision and recall."""
    p, r = bcubed_precision(t), bcubed_recall(t)
    return ratio(2 * p * r, p + r)


def _filled(t: Table) -> tuple[int, int]:
    """Numbers of clusters that have points."""
    k_a, k_b = Tables.of(t).filled[0].tolist()
    return k_a, k_b


def _psi_workings(t: Table, limit: int | None = None) -> Record:
    larger = np.maximum(t.row_sums[t.row], t.col_sums[t.col])
    filled = _filled(t)
    a, b = (np.sort(sizes)[::-1][: min(filled)] for sizes in (t.row_sums, t.col_sums))
    return {"S": _matched(t, t.count / larger), "E": float((a * (b / np.maximum(a, b))).sum() / t.n), "K": max(filled)}


@measure(
    "psi", title="Pair sets index", needs=Table, better="higher", range=(0, 1), axioms=("symmetric", "definite"),
    reference="rezaei2016", definition="psi = (max(S, E) - E) / (K - E)", workings=_psi_workings,
)  # fmt: skip
def psi(t: Table, limit: int | None = SPARSE_LIMIT) -> float:
    """Best matching of clusters by n_ij / max(a_i, b_j), adjusted for the value expected from the sizes."""
    _within(t, "psi", limit, dense=False)
    if not t.n:
        return math.nan
    w = _psi_workings(t)
    return max(w["S"] - w["E"], 0.0) / (w["K"] - w["E"]) if w["K"] > w["E"] else math.nan


def _nca_workings(t: Table, limit: int | None = None) -> Record:
    return {"recalls": _matched(t, t.count / t.row_sums[t.row]), "K": t.shape[0]}


@measure(
    "nca", title="Normalised clustering accuracy", needs=Table, better="higher", range=(-1, 1),
    axioms=("definite",), reference="gagolewski2025", definition="nca = (recalls - 1) / (K - 1)", workings=_nca_workings,
)  # fmt: skip
def nca(t: Table, limit: int | None = SPARSE_LIMIT) -> float:
    """Mean share of each cluster of a in its match in b, adjusted for the value of a single cluster; a is the reference."""
    _within(t, "nca", limit, dense=False)
    w = _nca_workings(t)
    return (w["recalls"] - 1) / (w["K"] - 1) if w["K"] > 1 else math.nan


@measure(
    "npa", title="Normalised pivoted accuracy", needs=Table, better="higher", range=(0, 1),
    axioms=("symmetric", "definite"), reference="gagolewski2025", definition="npa = (matched / n - 1 / K) / (1 - 1 / K)",
    workings=lambda t, limit=None: {"matched": _matched(t, t.count), "n": t.n, "K": max(t.shape)},
)  # fmt: skip
def npa(t: Table, limit: int | None = SPARSE_LIMIT) -> float:
    """Accuracy of the best matching, adjusted for that of equal clusters matched at random."""
    _within(t, "npa", limit, dense=False)
    k = max(t.shape)
    return (_matched(t, t.count) / t.n - 1 / k) / (1 - 1 / k) if k > 1 and t.n else math.nan


# --- independence of the table ----------------------------------------------------------------------------------


def _dependence(t: Tables) -> Array:
    """Σ (n_ij − e_ij)² / e_ij as a share of n, with e_ij = a_i b_j / n; 0 if one side has a single cluster."""
    with np.errstate(divide="ignore", invalid="ignore"):
        phi = np.maximum(t.sum(t.count * (t.count / (t.row_total * t.col_total.astype(np.float64)))) - 1, 0.0)
    return np.where((t.filled.min(axis=1) > 1) & (phi > 1e-14), phi, 0.0)


def _dependence_workings(table: Table) -> Record:
    t = Tables.of(table)
    return {"phi": float(_dependence(t)[0]), "k": int(t.filled.min())}


@measure(
    "chi_square", title="Chi-squared statistic of the table", needs=Tables, better="higher", range=(0, math.inf),
    axioms=("symmetric",), reference="wagner2007", definition="chi_square = points * phi", workings=_dependence_workings,
    caution="grows with the number of points and of clusters: compare cramers_v instead",
)  # fmt: skip
def chi_square(t: Tables) -> Array:
    """How far the table is from that of independent clusterings."""
    return np.asarray(t.n_used * _dependence(t))


@measure(
    "cramers_v", title="Cramér’s V", needs=Tables, better="higher", range=(0, 1), axioms=("symmetric",), reference="cramer1946",
    definition="cramers_v = sqrt(phi / (k - 1))", workings=_dependence_workings, at_zero=math.nan,
    caution="1 for any refinement, not corrected for chance, and undefined if a side has one cluster",
)  # fmt: skip
def cramers_v(t: Tables) -> Array:
    """The chi-squared statistic per point, divided by its largest value for these numbers of clusters, as a root."""
    return np.asarray(np.sqrt(ratio(_dependence(t), t.filled.min(axis=1) - 1.0)))
