"""The simulations of sections 5.1 to 5.3 of the paper on Λ, and what it says of them; see `lambda_statistic`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from reproductions.lambda_tables import lambda_value, values
from reproductions.rows import (
    Claim,
    grid,
)

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
