"""Measures of shared information, in nats: entropies H_a, H_b, H_ab and MI = H_a + H_b − H_ab."""

from __future__ import annotations

import math
from functools import lru_cache
from math import inf, nan

import numpy as np

from congruence.errors import InputError
from congruence.formulas.record import measure, ratio
from congruence.statistics.information import ChanceInfo, Info
from congruence.statistics.tables import Array, Table, Tables

METRIC = ("symmetric", "definite", "triangle")
#: E[MI] and the norm are sums of many terms: a difference this small is rounding error, and the measure is 0/0
TINY = 1e-12


@measure(
    "mi", title="Mutual information", needs=Info, better="higher", range=(0, inf), axioms=("symmetric",),
    aliases=("mutual_info_score",),
    reference="shannon1948", definition="mi = H_a + H_b - H_ab", at_zero=0.0,
    caution="grows with the number of clusters: do not use it to choose among them",
)  # fmt: skip
def mi(i: Info) -> Array:
    """Information that one clustering gives about the other."""
    return i.MI


@measure(
    "nmi_joint", title="Normalised mutual information (joint)", needs=Info, better="higher", range=(0, 1),
    axioms=METRIC, reference="vinh2010", definition="nmi_joint = MI / H_ab",
)  # fmt: skip
def nmi_joint(i: Info) -> Array:
    """Mutual information as a share of the joint entropy."""
    return ratio(i.MI, i.H_ab)


@measure(
    "nmi_max", title="Normalised mutual information (max)", needs=Info, better="higher",
    range=(0, 1), axioms=METRIC, reference="vinh2010", definition="nmi_max = MI / max(H_a, H_b)",
)  # fmt: skip
def nmi_max(i: Info) -> Array:
    """Mutual information divided by the larger entropy."""
    return ratio(i.MI, np.maximum(i.H_a, i.H_b))


@measure(
    "nmi_sum", title="Normalised mutual information (mean)", needs=Info, better="higher", range=(0, 1),
    aliases=("nmi", "normalized_mutual_info_score",),
    axioms=("symmetric", "definite"), reference="vinh2010", definition="nmi_sum = MI / ((H_a + H_b) / 2)",
    caution="not corrected for chance: small clusters alone raise it; ami_* corrects for that",
)  # fmt: skip
def nmi_sum(i: Info) -> Array:
    """Mutual information divided by the mean entropy."""
    return ratio(i.MI, (i.H_a + i.H_b) / 2)


@measure(
    "nmi_sqrt", title="Normalised mutual information (geometric)", needs=Info, better="higher",
    range=(0, 1), axioms=("symmetric", "definite"), reference="strehl2002",
    definition="nmi_sqrt = MI / sqrt(H_a * H_b)",
)  # fmt: skip
def nmi_sqrt(i: Info) -> Array:
    """Mutual information divided by the geometric mean of the entropies."""
    return ratio(i.MI, np.sqrt(i.H_a * i.H_b))


@measure(
    "nmi_min", title="Normalised mutual information (min)", needs=Info, better="higher",
    range=(0, 1), axioms=("symmetric",), reference="vinh2010", definition="nmi_min = MI / min(H_a, H_b)",
    caution="1 for any refinement, so it favours many clusters",
)  # fmt: skip
def nmi_min(i: Info) -> Array:
    """Mutual information divided by the smaller entropy."""
    return ratio(i.MI, np.minimum(i.H_a, i.H_b))


@measure(
    "ami_max", title="Adjusted mutual information (max)", needs=ChanceInfo, better="higher",
    range=(-inf, 1), axioms=("symmetric", "definite", "baseline"), reference="vinh2010",
    definition="ami_max = (MI - E_MI) / (max(H_a, H_b) - E_MI)",
)  # fmt: skip
def ami_max(i: ChanceInfo) -> Array:
    """Mutual information minus its expected value, divided by the larger entropy minus that value."""
    return ratio(i.MI - i.E_MI, np.maximum(i.H_a, i.H_b) - i.E_MI, TINY)


@measure(
    "ami_sum", title="Adjusted mutual information (mean)", needs=ChanceInfo, better="higher",
    aliases=("ami", "adjusted_mutual_info_score",),
    range=(-inf, 1), axioms=("symmetric", "definite", "baseline"), reference="vinh2010",
    definition="ami_sum = (MI - E_MI) / ((H_a + H_b) / 2 - E_MI)",
)  # fmt: skip
def ami_sum(i: ChanceInfo) -> Array:
    """Mutual information minus its expected value, divided by the mean entropy minus that value (scikit-learn's default)."""
    return ratio(i.MI - i.E_MI, (i.H_a + i.H_b) / 2 - i.E_MI, TINY)


@measure(
    "ami_sqrt", title="Adjusted mutual information (geometric)", needs=ChanceInfo, better="higher",
    range=(-inf, 1), axioms=("symmetric", "definite", "baseline"), reference="vinh2010",
    definition="ami_sqrt = (MI - E_MI) / (sqrt(H_a * H_b) - E_MI)",
)  # fmt: skip
def ami_sqrt(i: ChanceInfo) -> Array:
    """Mutual information minus its expected value, divided by the geometric mean of the entropies minus that value."""
    return ratio(i.MI - i.E_MI, np.sqrt(i.H_a * i.H_b) - i.E_MI, TINY)


@measure(
    "ami_min", title="Adjusted mutual information (min)", needs=ChanceInfo, better="higher",
    range=(-inf, 1), axioms=("symmetric", "baseline"), reference="vinh2010",
    definition="ami_min = (MI - E_MI) / (min(H_a, H_b) - E_MI)", caution="1 for any refinement",
)  # fmt: skip
def ami_min(i: ChanceInfo) -> Array:
    """Mutual information minus its expected value, divided by the smaller entropy minus that value."""
    return ratio(i.MI - i.E_MI, np.minimum(i.H_a, i.H_b) - i.E_MI, TINY)


@measure(
    "vi", title="Variation of information", needs=Info, better="lower", range=(0, inf), axioms=METRIC,
    aliases=("variation_of_information",),
    reference="meila2007", definition="vi = H_a + H_b - 2 * MI",
)  # fmt: skip
def vi(i: Info) -> Array:
    """Information in each clustering that is not in the other; at most log n for hard clusterings."""
    return i.VI


@measure(
    "nvi", title="Normalised variation of information", needs=Info, better="lower", range=(0, 1), axioms=METRIC,
    reference="vinh2010", definition="nvi = 1 - MI / H_ab", at_zero=0.0,
)  # fmt: skip
def nvi(i: Info) -> Array:
    """Variation of information as a share of the joint entropy."""
    return ratio(i.VI, i.H_ab)


def _share(part: Array, whole: Array) -> Array:
    """part / whole, and 1 if there is nothing to explain (scikit-learn's convention)."""
    return np.where(whole == 0, 1.0, ratio(part, whole))


@measure(
    "homogeneity", title="Homogeneity", needs=Info, better="higher", range=(0, 1), reference="rosenberg2007",
    aliases=("homogeneity_score",),
    definition="homogeneity = MI / H_a", at_zero=1.0, caution="1 for any refinement of a",
)  # fmt: skip
def homogeneity(i: Info) -> Array:
    """1 if each cluster of b contains members of only one cluster of a."""
    return _share(i.MI, i.H_a)


@measure(
    "completeness", title="Completeness", needs=Info, better="higher", range=(0, 1), reference="rosenberg2007",
    aliases=("completeness_score",),
    definition="completeness = MI / H_b", at_zero=1.0, caution="1 when b is a single cluster",
)  # fmt: skip
def completeness(i: Info) -> Array:
    """1 if all members of each cluster of a are in one cluster of b."""
    return _share(i.MI, i.H_b)


def _v_workings(table: object, beta: float) -> dict[str, float]:
    assert isinstance(table, Table)
    info = Info.from_tables(Tables.of(table))
    return {"homogeneity": homogeneity(info)[0], "completeness": completeness(info)[0]}


def _v_axioms(beta: float) -> frozenset[str]:
    """With beta 1 both sides count the same; with beta 0 it is homogeneity, which is 1 for any refinement."""
    if not isinstance(beta, int | float | np.number) or not 0 <= beta < inf:
        raise InputError(f"beta must be a number of at least 0; got {beta!r}")
    return frozenset({"symmetric", "definite"} if beta == 1 else {"definite"} if beta > 0 else ())


@measure(
    "v_measure", title="V-measure", needs=Info, better="higher", range=(0, 1), axioms=("symmetric", "definite"),
    aliases=("v_measure_score",),
    reference="rosenberg2007", workings=_v_workings, axioms_for=_v_axioms,
    definition="v_measure = (1 + beta) * homogeneity * completeness / (beta * homogeneity + completeness)",
)  # fmt: skip
def v_measure(i: Info, beta: float = 1.0) -> Array:
    """Harmonic mean of homogeneity and completeness; beta > 1 gives completeness more weight. With beta 1 it equals nmi_sum."""
    h, c = homogeneity(i), completeness(i)
    return np.where(h + c == 0, 0.0, ratio((1 + beta) * h * c, beta * h + c))


def _reduced(t: Table) -> tuple[float, float]:
    """Code lengths of the labels of a, alone and given b, in nats per point minus log k."""
    rows, columns = t.row_sums, t.col_sums
    alone = code_length(np.array([t.n]), rows, len(rows))
    return alone / t.n, code_length(columns, t.count, len(rows)) / t.n


def _reduced_workings(t: Table) -> dict[str, float]:
    alone, given = _reduced(t)
    own = code_length(t.row_sums, t.row_sums, t.shape[0]) / t.n
    equal = np.log(t.shape[0])
    return {"length": equal + alone, "length_given_b": equal + given, "rmi": alone - given, "rmi_self": alone - own}


@measure(
    "rmi", title="Reduced mutual information", needs=Table, better="higher", range=(-inf, inf),
    reference="jerdee2024", definition="rmi = length - length_given_b", whole_points=True, workings=_reduced_workings,
    caution="of a given b, in nats per point; it may be negative, and it is not symmetric",
)  # fmt: skip
def rmi(t: Table) -> float:
    """How much knowing b shortens the code of the labels of a, including the cost of the table."""
    alone, given = _reduced(t)
    return alone - given


@measure(
    "nrmi", title="Normalised reduced mutual information", needs=Table, better="higher", range=(-inf, 1),
    axioms=("definite",), reference="jerdee2024", definition="nrmi = rmi / rmi_self", whole_points=True,
    workings=_reduced_workings, caution="it may be negative, and it is not symmetric",
)  # fmt: skip
def nrmi(t: Table) -> float:
    """rmi divided by the rmi of a with itself."""
    w = _reduced_workings(t)
    return w["rmi"] / w["rmi_self"] if abs(w["rmi_self"]) > TINY else nan


#: search range for the concentration of the Dirichlet-multinomial
LEAST, MOST = 1e-4, 1e4
#: up to this many factors are multiplied one by one, which stays precise for large concentrations
ONE_BY_ONE = 1_000
#: grid size and number of refinements: the last grid has steps of 10⁻⁶ on a log scale, where the length is flat
GRID, ROUNDS = 33, 6


def code_length(groups: Array, parts: Array, clusters: int) -> float:
    """Code length in nats, minus n log q, of the labels of the points of each group; `parts` are the counts by label.

    The smallest over α of Σ_j log (qα)^(b_j) − Σ_ij log α^(n_ij), with rising factorials and q clusters, minus the n log q
    of equally likely labels: the difference is small and is computed precisely.

    >>> float(round(code_length(np.array([4]), np.array([4]), 2) + 4 * np.log(2), 4))
    0.6933
    """
    found = [x.astype(np.int64).tobytes() for sizes in (groups, parts) for x in np.unique(sizes, return_counts=True)]
    return _least(*found, clusters)


@lru_cache(maxsize=4096)
def _least(group_sizes: bytes, group_counts: bytes, part_sizes: bytes, part_counts: bytes, clusters: int) -> float:
    """The same from the distinct sizes and their counts; cached, because sizes repeat over pairs."""
    packed = (group_sizes, group_counts, part_sizes, part_counts)
    group, many, part, times = (np.frombuffer(x, np.int64) for x in packed)

    def cost(log_alpha: Array) -> Array:
        alpha = np.exp(log_alpha)
        return np.asarray(_log_rising(clusters * alpha, group) @ many - _log_rising(alpha, part) @ times)

    low, high = ends = math.log(LEAST), math.log(MOST)
    least = math.inf
    for _ in range(ROUNDS):  # refine the grid around the best value
        grid = np.linspace(low, high, GRID)
        values = cost(grid)
        best = int(np.argmin(values))
        least = min(least, float(values[best]))
        step = (high - low) / (GRID - 1)
        low, high = max(ends[0], float(grid[best]) - step), min(ends[1], float(grid[best]) + step)
    return least


def _log_rising(alpha: Array, m: Array) -> Array:
    """log (1 + 1/α) (1 + 2/α) … (1 + (m − 1)/α) for each α (rows) and m (columns)."""
    from scipy.special import gammaln

    few = m <= ONE_BY_ONE
    factors = np.log1p(np.arange(int(m[few].max(initial=0))) / alpha[:, None])
    steps = np.concatenate([np.zeros((len(alpha), 1)), np.cumsum(factors, axis=1)], axis=1)
    out = np.empty((len(alpha), len(m)))
    out[:, few] = steps[:, m[few]]
    out[:, ~few] = gammaln(alpha[:, None] + m[~few]) - gammaln(alpha)[:, None] - m[~few] * np.log(alpha)[:, None]
    return out
