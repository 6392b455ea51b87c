"""Λ from the tables that Uglickich, Nagy & Vlčková print: worked example, haematology, EEG; see `lambda_statistic`."""

from __future__ import annotations

import math
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
