"""The Λ statistic of Uglickich, Nagy & Vlčková, "Comparing clusterings using combination of the kappa statistic and
entropy-based measure": every printed number, the simulations, and the defects of Λ.
Run `python -m reproductions.lambda_statistic`.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

import congruence as cg
from reproductions.rows import (
    AGREES,
    NOT_REPRODUCIBLE,
    Claim,
    Row,
    checked,
    claims_text,
    grid,
    heading,
    paragraph,
    rows_text,
)

#: what the paper puts in empty cells (section 4; section 5.5 says 0.000001)
ZERO = 1e-5
LAMBDA = cg.measure("lambda", zero_cells=ZERO)

WORKED = np.array([[133, 0, 93], [1, 86, 138], [70, 129, 0]])
HAEMATOLOGY = np.array([[21, 0, 0], [0, 0, 23], [6, 15, 16]])
EEG = {
    "N-U": np.array([[227, 518, 511, 154, 145], [77, 3337, 1744, 3, 1], [16, 1642, 727, 0, 0], [18, 1445, 665, 0, 0],
                     [5, 183, 81, 0, 1]]),
    "N-R": np.array([[1358, 37, 51, 71, 38], [569, 1428, 1332, 800, 1033], [53, 678, 714, 270, 670],
                     [308, 130, 171, 1104, 415], [12, 27, 32, 55, 144]]),
    "N-KM": np.array([[18, 52, 650, 68, 767], [82, 132, 2217, 199, 2532], [40, 64, 999, 109, 1173],
                      [38, 54, 892, 96, 1048], [1, 9, 117, 7, 136]]),
    "U-R": np.array([[255, 27, 23, 17, 21], [953, 1487, 1527, 1572, 1586], [799, 776, 750, 710, 693], [155, 2, 0, 0, 0],
                     [138, 8, 0, 1, 0]]),
}  # fmt: skip
#: Table 1: kappa, NMI, Λ
EEG_PRINTED = {
    "N-U": ("0.0324529", "0.0781617", "0.0209253"),
    "N-R": ("0.266087", "0.183074", "0.2403329"),
    "N-KM": ("-0.0006052", "0.0005609", "0"),
    "U-R": ("0.0345652", "0.0578645", "0.0468144"),
    "U-KM": ("-0.0010054", "0.0007411", "0"),
    "KM-R": ("0.0091304", "0.0004312", "0"),
}
NAMES = {"N": "normal mixture", "U": "uniform mixture", "KM": "k-means", "R": "recorded categories"}


# --- from tables ------------------------------------------------------------------------------------------------


def as_labels(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two label vectors with this contingency table, one entry per non-empty cell, and how often each counts."""
    rows, columns = np.nonzero(table)
    return rows, columns, table[rows, columns]


@dataclass(frozen=True)
class Values:
    """The statistics of one table: kappa of the largest trace and its true maximum, NMI, Λ, and the parts of Λ."""

    kappa_trace: float
    kappa_max: float
    nmi: float
    value: float
    p_max: float

    @property
    def three(self) -> tuple[float, float, float]:
        """What the paper compares: kappa, NMI, Λ."""
        return self.kappa_trace, self.nmi, self.value


def values(table: np.ndarray, zero: float = ZERO) -> Values:
    """The statistics by the library; `zero` fills empty cells in Λ as the paper does."""
    a, b, frequency = as_labels(table)
    measures = ["kappa_trace", "kappa_max", "nmi_sqrt", cg.measure("lambda", zero_cells=zero), "accuracy"]
    found = cg.compare(a, b, measures, frequency=frequency)
    return Values(found["kappa_trace"], found["kappa_max"], found["nmi_sqrt"], found["lambda"], found["accuracy"])


def parts(table: np.ndarray, key: str | object) -> dict[str, float]:
    """The symbols of a measure's definition with this table's numbers in them."""
    a, b, frequency = as_labels(table)
    return cg.measure(key).explain(a, b, frequency=frequency).symbols


def lambda_value(p_max: float, nmi: float, k: int, sign: int = 1) -> float:
    """Equations (8) to (11) as they stand; `sign` −1 reads the separators of (11) as minus signs."""
    z = math.exp(-0.8 / k) + sign * (0.8 * p_max + 0.3 * nmi) / k
    x = p_max / nmi
    return math.exp(z - (x + math.log1p(math.exp(-x))))


def entropy_bits(sizes: np.ndarray) -> float:
    """Entropy of cluster sizes in bits."""
    p = sizes / sizes.sum()
    return float(-(p * np.log2(p)).sum())


def information_term(table: np.ndarray, i: int, j: int, zero: float = 0.0) -> float:
    """The cell's term of the mutual information (4) in bits; empty cells filled with `zero`, n as it was."""
    filled = np.where(table == 0, zero, table)
    p = filled / table.sum()
    return float(p[i, j] * np.log2(p[i, j] / (p[i].sum() * p[:, j].sum())))


def worked_example() -> list[Row]:
    """Every number of the worked example of section 4."""
    kappa, parts_of = parts(WORKED, "kappa_trace"), parts(WORKED, LAMBDA)
    found = values(WORKED)
    minus = lambda_value(parts_of["p_max"], parts_of["NMI"], 3, sign=-1)
    return [
        checked("p_max", "0.6153846", kappa["p_o"]),
        checked("p_exp", "0.3334059", kappa["p_exp"]),
        checked("kappa_max", "0.4230141", found.kappa_trace, "the largest trace and the largest kappa are the same here"),
        checked("kappa_max, true maximum", "0.4230141", found.kappa_max),
        checked("H(k-means), bits", "1.5825274", entropy_bits(WORKED.sum(1))),
        checked("H(CWM), bits", "1.5830801", entropy_bits(WORKED.sum(0))),
        checked("I term of clusters 1 and 1", "0.1855808", information_term(WORKED, 0, 0)),
        checked("I term of an empty cell", "-0.0000004", information_term(WORKED, 0, 1, ZERO), "empty cells of T are 0.00001"),
        checked("NMI", "0.3863443", parts_of["NMI"], f"with 0 log 0 = 0: {found.nmi:.7f}"),
        checked("z", "0.9686653", parts_of["z"]),
        checked("Lambda", "0.4451777", found.value, f"with 0 log 0 = 0: {values(WORKED, 0.0).value:.7f}. All printed digits "
                "need: empty cells 0.00001, margins summed again, n kept at 650"),
        Row("Lambda, minus signs in (11)", "0.4451777", minus, NOT_REPRODUCIBLE,
            "theta seems printed with '-' between its entries; they are column separators (the same stand in p_exp). "
            "Tried: minus signs (this row), plus signs (the row above, which agrees)"),
    ]  # fmt: skip


def haematology() -> list[Row]:
    """The haematological example of section 5.4."""
    found = values(HAEMATOLOGY)
    nmi = parts(HAEMATOLOGY, LAMBDA)["NMI"]
    return [
        checked("kappa_max", "0.6076618", found.kappa_trace),
        checked("kappa_max, true maximum", "0.6076618", found.kappa_max),
        checked("NMI", "0.5372067", nmi, f"with 0 log 0 = 0: {found.nmi:.7f}"),
        checked("Lambda", "0.5647885", found.value),
    ]


#: what was tried for the pairs of Table 1 whose tables are not printed
TRIED = {
    "NMI": "Tried: the clusters' sizes, known from the other tables; they do not determine it",
    "Lambda": "Tried: p_max from the trace above with the printed NMI; this gives 0 to the printed digits, and needs no table",
}


def eeg() -> list[Row]:
    """Table 1: four pairs from their printed tables, two without."""
    rows = []
    for pair, table in EEG.items():
        kappa, nmi, value = EEG_PRINTED[pair]
        found = values(table)
        rows.append(checked(f"{pair} kappa", kappa, found.kappa_trace))
        differs = abs(found.kappa_max - found.kappa_trace) > 1e-9
        note = (
            "the text says the permutation with the largest kappa. Tried: that one (this row), and that with the largest trace "
            "(the row above, which agrees)"
            if differs
            else ""
        )
        rows.append(checked(f"{pair} kappa, true maximum", kappa, found.kappa_max, note))
        rows.append(checked(f"{pair} NMI", nmi, parts(table, LAMBDA)["NMI"]))
        if value == "0":
            tiny = f"not 0 but {found.value:.1e}: p_max/NMI = {found.p_max / found.nmi:.0f}"
            rows.append(Row(f"{pair} Lambda", value, found.value, AGREES, tiny))
        else:
            rows.append(checked(f"{pair} Lambda", value, found.value))
    for pair, remark in (("U-KM", uniform_kmeans_remark()), ("KM-R", kmeans_recorded_remark())):
        for title, printed in zip(("kappa", "NMI", "Lambda"), EEG_PRINTED[pair], strict=True):
            note = remark if title == "kappa" else TRIED[title]
            rows.append(Row(f"{pair} {title}", printed, None, NOT_REPRODUCIBLE, f"the table is not printed. {note}"))
    return rows


def possible_traces(sizes_a: np.ndarray, sizes_b: np.ndarray, kappa: str) -> list[int]:
    """The whole traces that give the printed kappa, one for each matching of clusters of these sizes that has one."""
    n = int(sizes_a.sum())
    half = 0.5 * 10.0 ** -len(kappa.partition(".")[2])
    found = []
    for order in permutations(range(len(sizes_b))):
        p_exp = float(sizes_a @ sizes_b[list(order)]) / n**2
        trace = n * (p_exp + float(kappa) * (1 - p_exp))
        if abs(trace - round(trace)) <= n * (1 - p_exp) * half:
            found.append(round(trace))
    return found


def kmeans_recorded_remark() -> str:
    """What the sizes of k-means' clusters and of the categories say of the printed kappa."""
    sizes, recorded = EEG["N-KM"].sum(0), EEG["N-R"].sum(0)
    kappa, nmi, _ = EEG_PRINTED["KM-R"]
    (trace,) = set(possible_traces(sizes, recorded, kappa))
    return (
        "Tried: all 120 matchings of the clusters' sizes, known from the other tables. The categories have 2300 objects each, "
        f"so p_exp is 0.2 for every matching and the printed kappa needs the whole trace {trace}; "
        f"Lambda is then {lambda_value(trace / sizes.sum(), float(nmi), 5):.0e}, printed 0"
    )


def uniform_kmeans_remark() -> str:
    """What the sizes of the clusters of the uniform mixture and of k-means say of the printed kappa."""
    sizes = EEG["N-U"].sum(0)
    kappa, nmi, _ = EEG_PRINTED["U-KM"]
    traces = possible_traces(sizes, EEG["N-KM"].sum(0), kappa)
    return (
        "Tried: all 120 matchings of the clusters' sizes, known from the other tables; "
        f"{len(traces)} of them gives the printed kappa with a whole trace "
        f"({traces[0]}); Lambda is then {lambda_value(traces[0] / sizes.sum(), float(nmi), 5):.0e}, printed 0. "
        "A negative kappa cannot be the maximum"
    )


def text_claims() -> list[Claim]:
    """Claims of sections 3, 4 and 5.4 that follow from the printed tables."""
    from scipy.stats import chi2_contingency

    fine, filled = values(WORKED, 0.0).value, values(WORKED).value
    diagonal = np.diag([10, 10, 10])
    perfect = {zero: parts(diagonal, cg.measure("lambda", zero_cells=zero))["NMI"] for zero in (1e-5, 1e-6)}
    expected = {pair: parts(table, "kappa_trace")["p_exp"] for pair, table in EEG.items()}
    chance = {pair: chi2_contingency(table, correction=False).pvalue for pair, table in EEG.items()}
    chance_shown = {pair: "< 1e-300" if p < 1e-300 else f"= {p:.2g}" for pair, p in chance.items()}
    found = values(EEG["N-R"])
    smallest = np.array([[0, 1], [1, 3]])
    return [
        Claim.of(
            "kappa_max is the kappa of the permutation with the largest kappa", False,
            "the printed values are those of the largest trace. The largest kappa is never negative (over all permutations p_o "
            "and p_exp both average 1/n), so the printed −0.0006052 and −0.0010054 cannot be maxima. Smallest case "
            f"(0,1;1,3): {values(smallest).kappa_trace:.4f} at the largest trace, {values(smallest).kappa_max:.4f} at most",
        ),
        Claim.of("filling empty cells with 0.00001 does not influence the result", abs(fine - filled) < 1e-5,
                 f"to 5 decimals: Lambda {filled:.7f} filled, {fine:.7f} with 0 log 0 = 0"),
        Claim.of(
            "the filling is needed, and keeps NMI of perfect agreement at 0.99999", False,
            f"0 log 0 = 0 needs no filling; NMI = 1 is no obstacle in (8); diag(10, 10, 10) has NMI {perfect[1e-5]:.7f} with "
            f"0.00001 and {perfect[1e-6]:.7f} with the 0.000001 of section 5.5 (the two sections differ)",
        ),
        Claim.of(
            "p_exp has very close values for pairs with the same number of clusters", False,
            "EEG, 5 clusters: " + ", ".join(f"{pair} {p:.3f}" for pair, p in expected.items()),
        ),
        Claim.of(
            "EEG: the agreement of N and R is fair by all statistics (0.21 to 0.40)",
            all(0.21 <= x <= 0.40 for x in found.three),
            f"kappa {found.kappa_trace:.3f} and Lambda {found.value:.3f} are, NMI {found.nmi:.3f} is slight",
        ),
        Claim.of(
            "EEG: the other agreements are equivalent to chance", all(chance[p] > 0.05 for p in ("N-U", "N-KM", "U-R")),
            "chi-square test of independence: " + ", ".join(f"{pair} p {shown}" for pair, shown in chance_shown.items())
            + "; only N-KM is like chance, N-U and U-R are weak but certain",
        ),
        Claim("driving data: Kruskal-Wallis p = 0.9099 over the three statistics", NOT_REPRODUCIBLE,
              "tried: nothing, as neither the data nor the tables are given"),
    ]  # fmt: skip


# --- simulations ------------------------------------------------------------------------------------------------

Generator = np.random.Generator


def no_empty_cluster(draw: Callable[[Generator], np.ndarray], rng: Generator) -> np.ndarray:
    """A table of the generator that has something in every row and column."""
    while True:
        table = draw(rng)
        if (table.sum(0) > 0).all() and (table.sum(1) > 0).all():
            return table


def dominated(rng: Generator, k: int, small: int, columns: np.ndarray) -> np.ndarray:
    """Cells 0..small, and one of 100..200 in each row, in the column given."""
    table = rng.integers(0, small + 1, (k, k))
    table[np.arange(k), columns] = rng.integers(100, 201, k)
    return table


@dataclass(frozen=True)
class FixedNumber:
    """Section 5.1 with one generator: p-values over repeats, and mean values of kappa, NMI, Λ."""

    title: str
    kruskal: np.ndarray
    friedman: np.ndarray
    means: np.ndarray
    kappa_highest: float


def fixed_number(small: int, shared_columns: bool, repeats: int = 30, tables: int = 30, seed: int = 0) -> FixedNumber:
    """Section 5.1: tables of three clusters and three types; do the three statistics differ?

    Type (i): `dominated` on the diagonal; (ii): in a column drawn for each row, which may be shared by two rows, or in
    the columns of a random permutation; (iii): all cells uniform on 0..100. A third of the tables is of each type.
    """
    from scipy.stats import friedmanchisquare, kruskal

    rng = np.random.default_rng([seed, 1, small, int(shared_columns)])
    kinds = (
        lambda r: dominated(r, 3, small, np.arange(3)),
        lambda r: dominated(r, 3, small, r.integers(0, 3, 3) if shared_columns else r.permutation(3)),
        lambda r: r.integers(0, 101, (3, 3)),
    )
    differ, paired, means, highest = [], [], [], []
    for _ in range(repeats):
        found = np.array([values(no_empty_cluster(kinds[t % 3], rng)).three for t in range(tables)])
        differ.append(kruskal(*found.T).pvalue)
        paired.append(friedmanchisquare(*found.T).pvalue)
        means.append(found.mean(axis=0))
        highest.append((found.argmax(axis=1) == 0).mean())
    columns = "free" if shared_columns else "a permutation"
    return FixedNumber(
        f"small cells 0..{small}, columns of (ii) {columns}", np.array(differ), np.array(paired),
        np.mean(means, axis=0), float(np.mean(highest)),
    )  # fmt: skip


def limited_search(table: np.ndarray, nmi: float, rng: Generator, tries: int = 720) -> tuple[float, float]:
    """kappa and Λ if the matching is looked for among `tries` random permutations only (all of them up to 6 clusters)."""
    k, n = len(table), table.sum()
    if math.factorial(k) <= tries:
        orders = np.array(list(permutations(range(k))))
    else:
        orders = rng.permuted(np.tile(np.arange(k), (tries, 1)), axis=1)
    best = orders[table[np.arange(k), orders].sum(axis=1).argmax()]
    p_max = table[np.arange(k), best].sum() / n
    p_exp = (table.sum(1) * table.sum(0)[best]).sum() / n**2
    return float((p_max - p_exp) / (1 - p_exp)), lambda_value(float(p_max), nmi, k)


def substantial(rng: Generator, k: int, spread: str) -> np.ndarray:
    """A table for section 5.2 of k clusters: diagonal 50..100, small numbers elsewhere.

    "cells": each other cell 0..8, so that their sum grows with k; "share": all others together 5 to 30 per cluster, thrown
    at random, so that the share of matched elements is the same for any k.
    """
    if spread == "cells":
        table = rng.integers(0, 9, (k, k))
    else:
        table = rng.multinomial(k * rng.integers(5, 31), np.full(k * k, 1 / k**2)).reshape(k, k)
    np.fill_diagonal(table, rng.integers(50, 101, k))
    return table


@dataclass(frozen=True)
class Growing:
    """Section 5.2 at one number of clusters: mean values, exact and with a limited search of the matching."""

    k: int
    kappa: float
    nmi: float
    value: float
    limited_kappa: float
    limited_value: float


def growing_number(
    spread: str, simulations: int = 300, ks: Sequence[int] = range(3, 16), seed: int = 0
) -> list[Growing]:
    """Section 5.2: mean statistics as the number of clusters grows; `spread` "ideal" takes diagonal tables."""
    rng = np.random.default_rng([seed, 2, ("cells", "share", "ideal").index(spread)])
    result = []
    for k in ks:
        rows = []
        for _ in range(simulations):
            table = np.diag(rng.integers(50, 101, k)) if spread == "ideal" else substantial(rng, k, spread)
            found = values(table)
            rows.append([found.kappa_max, found.nmi, found.value, *limited_search(table, found.nmi, rng)])
        result.append(Growing(k, *(float(x) for x in np.mean(rows, axis=0))))
    return result


def growing_claims(runs: dict[str, list[Growing]]) -> list[Claim]:
    """Claims of section 5.2 against the exact maxima."""
    share, cells, ideal = ({g.k: g for g in runs[spread]} for spread in ("share", "cells", "ideal"))

    def path(of: dict[int, Growing], name: str, ks: Sequence[int] = (3, 6, 7, 9, 11, 15)) -> str:
        return ", ".join(f"{getattr(of[k], name):.3f}" for k in ks if k in of)

    before, after = (cells[k].kappa - cells[k + 3].kappa for k in (3, 6))
    return [
        Claim.of(
            "kappa_max falls sharply after 6 clusters", after > 1.5 * before,
            f"exact maxima at k = 3, 6, 7, 9, 11, 15: {path(share, 'kappa')} (same share of matched elements) and "
            f"{path(cells, 'kappa')} (cells of the same size: matching itself gets worse, and evenly: from 3 to 6 clusters "
            f"−{before:.3f}, from 6 to 9 −{after:.3f})",
        ),
        Claim.of(
            "NMI falls as the number of clusters grows", share[15].nmi < share[3].nmi,
            f"only where the matching itself gets worse ({path(cells, 'nmi')}); at the same share matched it is "
            f"{path(share, 'nmi')}",
        ),
        Claim.of(
            "Lambda keeps its level to 11 clusters and comes too close to 1 at 13 to 15", share[15].value > 0.9,
            f"with exact p_max it is {path(share, 'value')} and {path(cells, 'value')} at k = 3, 6, 7, 9, 11, 15: nowhere near 1",
        ),
        Claim.of("ideal tables: kappa_max drops abruptly above 6 clusters", ideal[7].kappa < 0.95,
                 f"kappa_max of a diagonal table is 1 for every k (least found {min(g.kappa for g in ideal.values()):.6f})"),
        Claim.of("ideal tables: NMI stays 1", all(abs(g.nmi - 1) < 1e-9 for g in ideal.values()), "it does"),
        Claim.of(
            "ideal tables: Lambda approaches 1 until 10 or 11 clusters, then is just above 1", ideal[15].value > 1,
            f"it falls: {path(ideal, 'value')} at k = 3, 6, 7, 9, 11, 15, and is never 1",
        ),
    ]  # fmt: skip


def limited_search_claim(runs: dict[str, list[Growing]]) -> Claim:
    """Whether a search among 6! permutations would give what section 5.2 observed: an inference, not the paper's claim."""
    share, ideal = ({g.k: g for g in runs[spread]} for spread in ("share", "ideal"))
    fits = (
        all(of[6].limited_kappa - of[9].limited_kappa > 0.3 for of in (share, ideal))
        and 0.9 < share[14].limited_value < 1.1
        and 0.9 < ideal[10].limited_value < 1.05
        and min(ideal[k].limited_value for k in (12, 13, 14, 15)) > 1
    )
    ks = (6, 7, 9, 11, 13, 15)

    def path(of: dict[int, Growing], name: str) -> str:
        return ", ".join(f"{getattr(of[k], name):.2f}" for k in ks)

    return Claim(
        "what would give all four observations above: a search for the matching among 720 = 6! permutations, complete to 6 "
        "clusters and incomplete above",
        "fits, an inference" if fits else "does not fit",
        f"at k = 6, 7, 9, 11, 13, 15: ideal tables kappa {path(ideal, 'limited_kappa')}, Lambda {path(ideal, 'limited_value')}; "
        f"same share kappa {path(share, 'limited_kappa')}, Lambda {path(share, 'limited_value')}",
    )


@dataclass(frozen=True)
class Sizes:
    """Section 5.3 with one generator: mean kappa, NMI, Λ at each number of objects, and tests between them."""

    title: str
    n: np.ndarray
    means: np.ndarray
    p_kappa_nmi: float
    p_kappa_lambda: float
    p_nmi_lambda: float
    trend: np.ndarray  # Spearman correlation of the means with n


def growing_size(sampling: str, repeats: int = 100, seed: int = 0) -> Sizes:
    """Section 5.3: five clusters, almost uniform tables, 100 to 3000 objects in 30 steps.

    Cell shares are uniform random numbers over their sum. "scaled" tables are shares times n, rounded; "sampled" ones a
    multinomial sample of n objects. The tests are two-sample Kolmogorov–Smirnov between the 30 means of two statistics.
    """
    from scipy.stats import ks_2samp, spearmanr

    rng = np.random.default_rng([seed, 3, int(sampling == "sampled")])
    n = np.arange(100, 3001, 100)
    found = np.empty((repeats, len(n), 3))

    def draw(size: int) -> np.ndarray:
        shares = rng.random((5, 5))
        shares /= shares.sum()
        if sampling == "scaled":
            return np.rint(size * shares).astype(int)
        return rng.multinomial(size, shares.ravel()).reshape(5, 5)

    for r in range(repeats):
        for s, size in enumerate(n.tolist()):
            found[r, s] = values(no_empty_cluster(lambda _, size=size: draw(size), rng)).three
    kappa, nmi, value = means = found.mean(axis=0).T
    return Sizes(
        "shares × n, rounded" if sampling == "scaled" else "samples of n objects", n, means,
        float(ks_2samp(kappa, nmi).pvalue), float(ks_2samp(kappa, value).pvalue), float(ks_2samp(nmi, value).pvalue),
        np.array([spearmanr(n, row).statistic for row in means]),
    )  # fmt: skip


def size_claims(scaled: Sizes, sampled: Sizes) -> list[Claim]:
    """Claims of section 5.3."""
    both = (scaled, sampled)

    def ends(s: Sizes, which: int) -> str:
        return f"{s.means[which, 0]:.3f} at n = 100, {s.means[which, -1]:.3f} at n = 3000"

    return [
        Claim.of(
            "the size of the data set has no effect on the statistics", bool((np.abs(sampled.trend) < 0.5).all()),
            "true by construction if tables are only scaled; of samples all three fall with n: "
            f"kappa {ends(sampled, 0)}; NMI {ends(sampled, 1)}; Lambda {ends(sampled, 2)}",
        ),
        Claim.of("kappa_max has the highest values", all((s.means.argmax(axis=0) == 0).mean() > 0.9 for s in both),
                 "; ".join(f"{s.title}: at {(s.means.argmax(axis=0) == 0).sum()} of the {len(s.n)} sizes" for s in both)),
        Claim.of("kappa_max differs from NMI and from Lambda (printed p = 0.0001)",
                 all(max(s.p_kappa_nmi, s.p_kappa_lambda) < 0.05 for s in both),
                 "; ".join(f"{s.title}: p = {s.p_kappa_nmi:.2g} and {s.p_kappa_lambda:.2g}" for s in both)),
        Claim.of("NMI and Lambda do not differ (printed p = 0.32128)", all(s.p_nmi_lambda > 0.05 for s in both),
                 "; ".join(f"{s.title}: p = {s.p_nmi_lambda:.2g}" for s in both)),
    ]  # fmt: skip


# --- defects ----------------------------------------------------------------------------------------------------

#: A agrees better than B by p_max, by kappa and by NMI
BETTER = np.array([[11, 1, 2], [7, 10, 2], [1, 0, 6]])
WORSE = np.array([[7, 9, 0], [0, 12, 1], [8, 2, 1]])


def merge_and_split(blocks: int, parts_of_each: int) -> np.ndarray:
    """Half of the objects in `blocks` clusters of a that b splits, half in `blocks` clusters of b that a splits."""
    k = blocks * (1 + parts_of_each)
    table = np.zeros((k, k), dtype=int)
    for block in range(blocks):
        start = blocks + block * parts_of_each
        inside = slice(start, start + parts_of_each)
        table[block, inside] = 1
        table[inside, block] = 1
    return table


def steepest_slope() -> float:
    """The largest d ln Λ / d p_max at fixed NMI, over 2 to 15 clusters and a grid of p_max and NMI."""
    k = np.arange(2, 16)[:, None, None]
    p = np.linspace(0.001, 1, 200)[None, :, None]
    nmi = np.linspace(0.001, 1, 200)[None, None, :]
    with np.errstate(over="ignore"):
        return float((0.8 / k - 1 / (nmi * (1 + np.exp(-p / nmi)))).max())


def unsound() -> list[Row]:
    """Numbers that show why Λ should not be used; none of them is printed."""
    better, worse = values(BETTER), values(WORSE)
    rows = [
        Row("largest d ln Lambda / d p_max, fixed NMI", None, steepest_slope(), "falls",
            "(0.8/n) − (1/NMI)·logistic(p_max/NMI) ≤ 0.8/n − 1/2 < 0: Lambda falls as the matching improves"),
        Row("A = (11,1,2;7,10,2;1,0,6)", None, better.value, "lower",
            f"p_max {better.p_max:.3f}, kappa {better.kappa_max:.3f}, NMI {better.nmi:.3f}: better than B by all three"),
        Row("B = (7,9,0;0,12,1;8,2,1)", None, worse.value, "higher",
            f"p_max {worse.p_max:.3f}, kappa {worse.kappa_max:.3f}, NMI {worse.nmi:.3f}"),
    ]  # fmt: skip
    for k in range(2, 16):
        note = "identical clusterings never reach 1, and the less the more clusters; limit 0.7311" if k == 2 else ""
        rows.append(
            Row(f"identical clusterings, {k} clusters", None, values(np.diag([10] * k), 0.0).value, "below 1", note)
        )
    split = values(np.array([[3, 3, 0], [0, 0, 3], [0, 0, 3]]), 0.0)
    twelve, many = (values(merge_and_split(*shape), 0.0) for shape in ((3, 3), (40, 9)))
    rows += [
        Row("T = (3,3,0;0,0,3;0,0,3)", None, split.value, "above identical",
            f"p_max {split.p_max:.2f}, NMI {split.nmi:.3f}: above the 0.8347 of identical clusterings with 3 clusters"),
        Row("3 clusters split in 3, 9 merged to 3", None, twelve.value, "above 1",
            f"12 clusters each, p_max {twelve.p_max:.3f}, NMI {twelve.nmi:.3f}"),
        Row("40 split in 9, 360 merged to 40", None, many.value, "above 1",
            f"400 clusters each, p_max {many.p_max:.3f}, NMI {many.nmi:.3f}; the supremum is e/2 = {math.e / 2:.4f}"),
        Row("independent clusterings, NMI = 0", None, values(np.full((3, 3), 4), 0.0).value, "limit",
            "(8) divides by NMI; the limit is 0"),
    ]  # fmt: skip
    return rows


def refusal() -> str:
    """What the library answers to unequal numbers of clusters, for which the paper has no Λ."""
    try:
        cg.lambda_statistic([0, 0, 1, 1], [0, 1, 2, 2])
    except ValueError as problem:
        return str(problem)
    return "accepted"


# --- printing ---------------------------------------------------------------------------------------------------


def show_fixed(found: Sequence[FixedNumber]) -> str:
    """p-values and means of section 5.1, one line per generator."""
    head = [
        "generator",
        "mean p",
        "max p",
        "min p",
        "p > .05",
        "Friedman p > .05",
        "kappa",
        "NMI",
        "Lambda",
        "kappa highest",
    ]
    lines = [["printed", "0.341", "0.675", "0.135", "100 %", "-", "-", "-", "-", "as a rule"]]
    lines += [
        [f.title, f"{f.kruskal.mean():.3f}", f"{f.kruskal.max():.3f}", f"{f.kruskal.min():.4f}",
         f"{100 * (f.kruskal > 0.05).mean():.0f} %", f"{100 * (f.friedman > 0.05).mean():.0f} %", *(f"{x:.3f}" for x in f.means),
         f"{100 * f.kappa_highest:.0f} %"]
        for f in found
    ]  # fmt: skip
    return grid(head, lines)


def fixed_claims(found: Sequence[FixedNumber]) -> list[Claim]:
    """Claims of section 5.1."""
    above = [bool((f.kruskal > 0.05).all()) for f in found]
    return [
        Claim.of(
            "Kruskal-Wallis finds no difference between the three statistics (mean p 0.34056, max 0.675, min 0.1346)", all(above),
            f"all p-values above 0.05 with {sum(above)} of {len(found)} generators; mean p from "
            f"{min(f.kruskal.mean() for f in found):.1e} to {max(f.kruskal.mean() for f in found):.2f}: it depends on the tables",
        ),
        Claim.of(
            "so the statistics agree in evaluating the matching", False,
            "the values are of the same tables and so are paired: Friedman's test, which uses that, finds a difference at the "
            f"0.05 level in {100 * np.mean([f.friedman < 0.05 for f in found]):.0f} % of all repeats. Pooling good, middling and "
            "random tables hides it from Kruskal-Wallis, and a test without significance does not show agreement",
        ),
        Claim.of("kappa_max is highest as a rule", min(f.kappa_highest for f in found) > 0.5,
                 f"in {100 * min(f.kappa_highest for f in found):.0f} to "
                 f"{100 * max(f.kappa_highest for f in found):.0f} % of tables"),
    ]  # fmt: skip


def show_growing(runs: dict[str, list[Growing]]) -> str:
    """Mean values of section 5.2 by number of clusters: exact, then with the limited search."""
    titles = {"share": "same share", "cells": "cells 0..8", "ideal": "ideal"}

    def table(names: dict[str, str], word: str) -> str:
        head = ["k"]
        for spread, title in titles.items():
            head += [f"{title}: {next(iter(names.values()))}" if i == 0 else x for i, x in enumerate(names.values())]
            head += ["|"] if spread != "ideal" else []
        lines = []
        for at in zip(*(runs[spread] for spread in titles), strict=True):
            cells = [" ".join(f"{getattr(g, name):.3f}" for name in names) for g in at]
            lines.append([str(at[0].k), *" | ".join(cells).split()])
        return f"{word}\n{grid(head, lines)}"

    exact = table({"kappa": "kappa", "nmi": "NMI", "value": "Lambda"}, "exact:")
    limited = table(
        {"limited_kappa": "kappa", "limited_value": "Lambda"}, "matching looked for among 720 permutations:"
    )
    return f"{exact}\n\n{limited}"


def show_sizes(both: Sequence[Sizes]) -> str:
    """Mean values of section 5.3 at some sizes."""
    lines = []
    for s in both:
        for i in (0, 1, 4, 9, 19, 29):
            lines.append([s.title if i == 0 else "", str(s.n[i]), *(f"{x:.4f}" for x in s.means[:, i])])
        lines.append(["", "trend", *(f"{x:+.2f}" for x in s.trend)])
    return grid(["generator", "n", "kappa", "NMI", "Lambda"], lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the reproduction."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.lambda_statistic", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    repeats, simulations, size_repeats = (6, 30, 10) if args.quick else (30, 300, 100)

    print(paragraph("""Uglickich, Nagy & Vlčková, Comparing clusterings using combination of the kappa statistic and
        entropy-based measure. Printed values are next to ours. 'agrees': the printed digits equal ours, rounded or truncated;
        'not reproducible': the described procedure does not give it, or the paper does not say enough; the note says what was
        tried. Lambda, and the NMI in it,
        are computed as the paper does, with 0.00001 in empty cells; kappa is the paper's, at the largest trace."""))  # fmt: skip
    print(heading("Worked example, section 4"))
    print(rows_text(worked_example()))
    print(heading("Haematological data, section 5.4"))
    print(rows_text(haematology()))
    print(heading("EEG, Table 1 (" + ", ".join(f"{k}: {v}" for k, v in NAMES.items()) + ")"))
    print(rows_text(eeg()))
    print(heading("Claims of the text"))
    print(claims_text(text_claims()))

    print(heading("Section 5.1: tables with 3 clusters, do the three statistics differ?"))
    print(paragraph(f"""{repeats} repeats of 30 tables, a third each with (i) a dominant diagonal, (ii) one dominant cell per
        row, (iii) uniform cells. The paper gives no numbers; ours: dominant cells 100..200, the others 0..s,
        uniform cells 0..100; the dominant cells of (ii) in random columns (two rows may share one) or in those of a
        permutation. The p-values are of Kruskal-Wallis over kappa, NMI and Lambda; Friedman is its paired form."""))  # fmt: skip
    print()
    fixed = [fixed_number(small, free, repeats, seed=args.seed) for free in (True, False) for small in (2, 10, 40)]
    print(show_fixed(fixed))
    print(claims_text(fixed_claims(fixed)))

    print(heading("Section 5.2: 3 to 15 clusters"))
    print(paragraph(f"""Means of {simulations} tables. The paper gives no numbers; ours: diagonal 50..100 and, off it, either
        the same share at any k ('same share': 5 to 30 per cluster in total, spread at random) or cells of 0..8; 'ideal' is a
        diagonal table."""))  # fmt: skip
    print()
    runs = {spread: growing_number(spread, simulations, seed=args.seed) for spread in ("share", "cells", "ideal")}
    print(show_growing(runs))
    print(claims_text([*growing_claims(runs), limited_search_claim(runs)]))

    print(heading("Section 5.3: 100 to 3000 objects, 5 clusters"))
    print(paragraph(f"""Means of {size_repeats} tables at each of 30 sizes; cell shares are uniform random numbers over their
        sum, either times n or as a sample of n objects (the paper does not say which). 'trend': rank correlation of the mean
        with n."""))  # fmt: skip
    print()
    scaled, sampled = (growing_size(how, size_repeats, args.seed) for how in ("scaled", "sampled"))
    print(show_sizes((scaled, sampled)))
    print(claims_text(size_claims(scaled, sampled)))

    print(heading("Defects of Lambda"))
    print(rows_text(unsound(), digits=4))
    print(
        paragraph(
            f"""Unequal numbers of clusters: the paper leaves them out, and the library refuses: "{refusal()}"."""
        )
    )
    print(claims_text([
        Claim.of("Lambda maps into the interval from zero to one", False, "values above 1 and a supremum of e/2, see above"),
        Claim.of("Lambda suits higher numbers of clusters, up to 11", False,
                 "the value of perfect agreement itself changes with the number of clusters (0.911 at 2, 0.753 at 11), so "
                 "values at different numbers cannot be compared; kappa_max and NMI stay 1"),
    ]))  # fmt: skip
    print(paragraph("Use kappa_max (exact, for any number of clusters), or an adjusted mutual information, instead."))
    return 0


if __name__ == "__main__":
    sys.exit(main())
