"""Measures of similarity matrices and ensembles: sums over pairs of points i < j, written s_p, s_q, s_pq, s_pp, s_qq.

An ensemble means its consensus matrix, a partition its co-association matrix; these are never built.
"""

from __future__ import annotations

import math

import numpy as np

from congruence.errors import whole_number
from congruence.formulas.information import nmi_sqrt
from congruence.formulas.pairs import ANY, ari
from congruence.formulas.record import measure, ratio
from congruence.statistics.matrices import Alone, MatrixSums, MemberInfo, PooledInfo
from congruence.statistics.pairs import Gram, Pairs
from congruence.statistics.tables import Array
from congruence.typing import Record

ARI = ("E = s_a * s_b / pairs",)


@measure(
    "arimp", title="Adjusted Rand index of a matrix and a partition", needs=Gram, better="higher",
    wants_partition=True, range=(-1, 1), soft_range=ANY,
    axioms=("symmetric", "definite", "baseline"), reference="zhang2012",
    definition=(*ARI, "arimp = (v11 - E) / ((s_a + s_b) / 2 - E)"),
)  # fmt: skip
def arimp(p: Pairs, missing: str = "ratio") -> Array:
    """ARI with the sums of the matrix instead of counts of pairs; `missing` says how gaps of members count."""
    return np.asarray(ari(p))


@measure(
    "arimm", title="Adjusted Rand index of two matrices", needs=Gram, better="higher", range=(-1, 1), soft_range=ANY,
    axioms=("symmetric", "definite", "baseline"), reference="zhang2012",
    definition=(*ARI, "arimm = (v11 - E) / ((s_a + s_b) / 2 - E)"),
    caution="a matrix scores 1 with itself only if its entries are 0 and 1: compare the value with the certainty of each",
)  # fmt: skip
def arimm(p: Pairs, missing: str = "ratio") -> Array:
    """ARI with the sums of both matrices instead of counts of pairs; `missing` says how gaps of members count."""
    return np.asarray(ari(p))


@measure(
    "kas", title="Kernel alignment", needs=MatrixSums, better="higher",
    takes_kernels=True, range=(-1, 1), axioms=("symmetric", "definite"),
    reference="cristianini2002", definition="kas = (2 * s_pq + d_pq) / sqrt((2 * s_pp + d_pp) * (2 * s_qq + d_qq))",
    caution="not corrected for chance: independent ensembles score well above 0",
)  # fmt: skip
def kas(m: MatrixSums, missing: str = "ratio") -> Array:
    """Cosine of the angle between the two matrices, their diagonals included."""
    p, q = 2 * m.s_pp + m.d_pp, 2 * m.s_qq + m.d_qq
    return ratio(2 * m.s_pq + m.d_pq, np.sqrt(p * q))


def _distance(m: MatrixSums) -> Array:
    """Frobenius norm of P − Q; rounding error of equal matrices is set to 0 (its root would be 1e-8)."""
    squared = 2 * (m.s_pp + m.s_qq - 2 * m.s_pq) + m.d_pp + m.d_qq - 2 * m.d_pq
    noise = np.where(m.tiny > 0, 1e-14 * (2 * (m.s_pp + m.s_qq) + m.d_pp + m.d_qq), 0.0)
    return np.asarray(np.sqrt(np.where(squared <= noise, 0.0, squared)))


FROBENIUS = "distance = sqrt(max(2 * (s_pp + s_qq - 2 * s_pq) + d_pp + d_qq - 2 * d_pq, 0))"


@measure(
    "nsf", title="Normalised similarity by Frobenius norm", needs=MatrixSums, better="higher", range=(0, 1),
    axioms=("symmetric", "definite", "triangle"), reference="zhang2012", definition=(FROBENIUS, "nsf = 1 - distance / n"),
)  # fmt: skip
def nsf(m: MatrixSums, missing: str = "ratio") -> Array:
    """1 − ‖P − Q‖ / n."""
    return 1 - ratio(_distance(m), m.n)


@measure(
    "nsf_printed", title="Normalised similarity by Frobenius norm, as printed", needs=MatrixSums, better="higher",
    range=(0, 1), axioms=("symmetric", "definite", "triangle"), reference="zhang2012",
    definition=(FROBENIUS, "nsf_printed = 1 - distance / n ** 2"),
    caution="divides by n² as printed in the paper, so it lies in [1 − 1/n, 1]; use nsf", status="historical",
)  # fmt: skip
def nsf_printed(m: MatrixSums, missing: str = "ratio") -> Array:
    """1 − ‖P − Q‖ / n²."""
    return 1 - ratio(_distance(m), np.square(m.n))


def _correlation(m: MatrixSums) -> Array:
    covariance = m.s_pq - m.s_p * m.s_q / m.pairs
    var_p, var_q = m.s_pp - m.s_p**2 / m.pairs, m.s_qq - m.s_q**2 / m.pairs
    # a constant matrix has no variance except rounding error
    constant = (var_p <= 1e-13 * m.s_pp) | (var_q <= 1e-13 * m.s_qq)
    return np.where(constant, np.nan, ratio(covariance, np.sqrt(np.where(constant, 1.0, var_p * var_q))))


PEARSON = (
    "cov = s_pq - s_p * s_q / pairs",
    "var_p = s_pp - s_p ** 2 / pairs",
    "var_q = s_qq - s_q ** 2 / pairs",
)


@measure(
    "sms", title="Standardised Mantel statistic", needs=MatrixSums, better="higher",
    takes_kernels=True, range=(-1, 1),
    axioms=("symmetric", "definite"), at_zero=math.nan, reference="mantel1967",
    definition=(*PEARSON, "sms = cov / sqrt(var_p * var_q)"),
)  # fmt: skip
def sms(m: MatrixSums, missing: str = "ratio") -> Array:
    """Pearson correlation of the entries above the diagonal; undefined if a matrix is constant there, or n ≤ 2."""
    return np.where(m.pairs > 1, _correlation(m), np.nan)


@measure(
    "ssms", title="Standardised Mantel statistic, scaled to 0 … 1", needs=MatrixSums, better="higher",
    takes_kernels=True, range=(0, 1),
    axioms=("symmetric", "definite"), at_zero=math.nan, reference="zhang2012",
    definition=(*PEARSON, "ssms = (1 + cov / sqrt(var_p * var_q)) / 2"),
    caution="unrelated matrices score 0.5",
)  # fmt: skip
def ssms(m: MatrixSums, missing: str = "ratio") -> Array:
    """(1 + sms) / 2."""
    return np.asarray((1 + sms(m)) / 2)


@measure(
    "anmi", title="Average normalised mutual information", needs=MemberInfo, better="higher",
    wants_partition=True, range=(0, 1),
    axioms=("symmetric", "definite"), reference="strehl2002", definition="anmi = mean_nmi_sqrt",
    workings=lambda t: {"mean_nmi_sqrt": anmi(MemberInfo.of_table(t))[0]},
)  # fmt: skip
def anmi(m: MemberInfo) -> Array:
    """Mean over the members of nmi_sqrt with the partition."""
    raw = nmi_sqrt(m.info)
    return m.mean(np.where(np.isnan(raw), m.info.identical.astype(float), raw))


@measure(
    "pooled_ami", title="Pooled adjusted mutual information", needs=PooledInfo, better="higher", wants_partition=True,
    range=(-float("inf"), 1), axioms=("symmetric", "definite"), reference="vinh2010",
    definition=("E_MI = min((k_a - 1) * (k_b - 1) / (2 * n), H_a, H_b)",
                "pooled_ami = (MI - E_MI) / ((H_a + H_b) / 2 - E_MI)"),
    workings=lambda t: _pooled_workings(PooledInfo.of_table(t)),
    caution="chance is subtracted to first order, so independent clusterings score near 0, but not exactly 0 on average",
)  # fmt: skip
def pooled_ami(m: PooledInfo) -> Array:
    """AMI with numerator and denominator averaged over the members before dividing, as arimp does for ARI."""
    return ratio(m.mean(m.info.MI - m.E_MI), m.mean((m.info.H_a + m.info.H_b) / 2 - m.E_MI))


def _pooled_workings(m: PooledInfo) -> Record:
    names = {"n": m.info.n, "k_a": m.k_a, "k_b": m.k_b, "H_a": m.info.H_a, "H_b": m.info.H_b, "MI": m.info.MI}
    return {name: value[0] for name, value in names.items()}


def _alone(x: Alone) -> Array:
    raw = ari(x.sums)
    return np.where(np.isnan(raw), 1.0, raw)


@measure(
    "certainty", title="Certainty of a consensus matrix", needs=Alone, better="higher", range=(0, 1), reference="zhang2012",
    definition="certainty = (s_pp - s_p ** 2 / pairs) / (s_p - s_p ** 2 / pairs)",
    caution="random members reach certainty_random(kmax, members), not 0",
)  # fmt: skip
def certainty(x: Alone) -> Array:
    """arimm of a matrix with itself: 1 if every entry is 0 or 1, 0 if all entries have the same value in between."""
    return _alone(x)


@measure(
    "uncertainty", title="Uncertainty of a consensus matrix", needs=Alone, better="lower", range=(0, 1), reference="zhang2012",
    definition="uncertainty = 1 - (s_pp - s_p ** 2 / pairs) / (s_p - s_p ** 2 / pairs)",
)  # fmt: skip
def uncertainty(x: Alone) -> Array:
    """1 − certainty."""
    return 1 - _alone(x)


@measure(
    "pnmi", title="Pairwise normalised mutual information of members", needs=Alone, better="higher", range=(0, 1),
    at_zero=math.nan, reference="fern2008", definition="pnmi = mean_nmi_sqrt", caution="low means diverse, not bad",
    of_members=True,
)  # fmt: skip
def pnmi(x: Alone) -> Array:
    """Mean nmi_sqrt over pairs of different members; undefined for a single member."""
    return x.mean_of_members("nmi_sqrt") if x.members > 1 else np.full(1, np.nan)


@measure(
    "pnmi_sum", title="Pairwise normalised mutual information, summed as printed", needs=Alone, better="higher",
    range=(0, math.inf), reference="zhang2012", definition="pnmi_sum = members * (members - 1) * mean_nmi_sqrt",
    caution="the sum over ordered pairs, so it grows with the number of members; use pnmi", of_members=True,
)  # fmt: skip
def pnmi_sum(x: Alone) -> Array:
    """Sum of nmi_sqrt over ordered pairs of different members; 0 for a single member."""
    return x.members * (x.members - 1) * x.mean_of_members("nmi_sqrt") if x.members > 1 else np.zeros(1)


def certainty_random(kmax: int, n_members: int) -> float:
    """Mean certainty of random members: a baseline, not a bound (the paper's Eq. 35).

    Each member has a number of clusters drawn from 2 … kmax and puts every point in one of them at random.

    Args:
        kmax: Largest number of clusters of a member, at least 2.
        n_members: Number of members.

    Returns:
        A float.

    See also:
        `cg.certainty`, `cg.random_partitions`.

    >>> import congruence as cg
    >>> round(cg.certainty_random(5, 10), 6)
    0.094048
    """
    return expected_certainty(whole_number(kmax, "kmax", 2, 10**7), whole_number(n_members, "n_members"))


def expected_certainty(kmax: int, n_members: int) -> float:
    """Mean certainty of random members, of checked numbers; see `certainty_random`."""
    k = np.arange(2, kmax + 1, dtype=np.float64)
    alpha, beta = float((1 / k).mean()), float((1 / k**2).mean())
    return (alpha - beta) / (n_members * (alpha - alpha**2))
