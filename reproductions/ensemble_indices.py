"""ARImp and ARImm of Zhang, Wong & Shen, "Generalized Adjusted Rand Indices for cluster ensembles" (Pattern Recognition 45,
2012): the example of section 4.3, Figures 2, 3 and 5 to 10, and the claims. Run `python -m reproductions.ensemble_indices`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np

import congruence as cg
from reproductions import datasets
from reproductions.rows import (
    MISPRINT,
    NOT_REPRODUCIBLE,
    Claim,
    Row,
    checked,
    claims_text,
    grid,
    heading,
    paragraph,
    rows_text,
    spread,
)

#: Table 2: title, our name, classes, instances, dimension
TABLE2 = (
    ("chart", "synthetic_control", 6, 600, 60),
    ("glass", "glass", 6, 214, 9),
    ("iris", "iris", 3, 150, 4),
    ("pima", "pima", 2, 768, 8),
    ("wine", "wine", 3, 178, 13),
    ("vehicle", "vehicle", 4, 846, 18),
    ("BCW-O", "breast_w_original", 2, 699, 9),
    ("BCW-D", "breast_w_diagnostic", 2, 569, 30),
)
#: the measures of two matrices in the paper's order, and their titles
MATRIX_KEYS = {"arimm": "ARImm", "nsf": "NSF", "kas": "KAS", "ssms": "sSMS"}


def in_processes(function: Callable[..., Any], tasks: Iterable[tuple], jobs: int) -> list[Any]:
    """`function(*task)` of each task in its order; the answers do not depend on the number of processes."""
    if jobs == 1:
        return [function(*task) for task in tasks]
    from joblib import Parallel, delayed

    return list(Parallel(n_jobs=jobs)(delayed(function)(*task) for task in tasks))


def rank_correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Spearman's rank correlation of values without ties."""
    return float(np.corrcoef(np.argsort(np.argsort(x)), np.argsort(np.argsort(y)))[0, 1])


# --- section 4.3 and the formulas as printed --------------------------------------------------------------------

M1 = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=float)
M2_PRINTED = np.array([[0, 0.5, 0], [0, 0.5, 0], [0, 0, 0]])
M2 = np.array([[0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
#: {12|34}, {13|24}, {14|23}
PAIRINGS = [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]


def literal_arimm(p: np.ndarray, q: np.ndarray) -> float:
    """Equations (14) and (15) as they stand, also of matrices that are not symmetric (which the library refuses)."""
    off = ~np.eye(len(p), dtype=bool)
    t0, t1, t2 = (p * q)[off].sum() / 2, p[off].sum() / 2, q[off].sum() / 2
    t3 = 2 * t1 * t2 / (len(p) * (len(p) - 1))
    return float((t0 - t3) / (0.5 * (t1 + t2) - t3))


def middle_of_eq35(kmax: int, members: int) -> float:
    """The middle expression of Eq. (35) as printed, with expectations in it: (1/L − alpha) / (1 − alpha)."""
    alpha = float((1 / np.arange(2, kmax + 1)).mean())
    return (1 / members - alpha) / (1 - alpha)


def toy() -> list[Row]:
    """Section 4.3: certainty of two matrices of three points."""
    rows = [
        checked("ARImm(M1, M1)", "1", cg.arimm(M1, M1)),
        checked("ARImm(M2, M2), M2 = [0 .5 0; .5 0 0; 0 0 0]", "0.4", cg.arimm(M2, M2)),
        Row(
            "ARImm(M2, M2), M2 as printed", "0.4", literal_arimm(M2_PRINTED, M2_PRINTED), MISPRINT,
            "[0 .5 0; 0 .5 0; 0 0 0] is not symmetric and gives 5/11; the second row must be .5 0 0",
        ),
    ]  # fmt: skip
    for key in ("nsf", "kas", "ssms"):
        same = [getattr(cg, key)(m, m) for m in (M1, M2)]
        rows.append(
            Row(f"{MATRIX_KEYS[key]} of M2 with itself", None, same[1], "1, as of M1" if same[0] == same[1] else "differs")
        )  # fmt: skip
    return rows


def errata() -> list[Row]:
    """Formulas that cannot be meant as they are printed."""
    same = cg.Ensemble([[0, 0, 1, 1]] * 3)
    apart, together = cg.Ensemble([list(range(100))]), cg.Ensemble([[0] * 100])
    a = np.random.default_rng(0).random(45)  # the entries i < j
    with_population_sd = float((((a - a.mean()) / a.std()) ** 2).sum() / (len(a) - 1))
    return [
        Row("Eq. 7, PNMI of 3 identical partitions, as printed", "1", float(cg.pnmi_sum(same)), MISPRINT,
            "printed as a sum over i ≠ j; section 4.3 says its upper bound is 1, so the mean over the L(L−1) pairs is meant"),
        Row("Eq. 7, PNMI of 3 identical partitions, mean", "1", same.pnmi(), "agrees"),
        Row("Eq. 8, NSF of the most different matrices, N = 100", None, float(cg.nsf_printed(apart, together)), MISPRINT,
            "the norm is not squared and is at most N, so division by N² leaves only [1 − 1/N, 1]; "
            f"divided by N it is {cg.nsf(apart, together):.4f}"),
        Row("Eq. 10, SMS of a 10 × 10 matrix with itself, population sd", "1", with_population_sd, "above 1",
            "s must be the sample standard deviation (d − 1); then SMS is Pearson's correlation"),
        Row("Eq. 35, K_max = 5, L = 10, last expression", None, cg.certainty_random(5, 10), "sound"),
        Row("Eq. 35, K_max = 5, L = 10, middle expression as printed", None, middle_of_eq35(5, 10), MISPRINT,
            "negative, which ARImm(M, M) never is: the second term of the numerator must be (λ/L²) Σ p_l², as in Eq. 33"),
        Row("Eq. 30, second line; end of Proposition 3", None, None, MISPRINT,
            "a division by 2 is missing; 'ARImp(M^P, M^Q) = 0' must read ARImm"),
    ]  # fmt: skip


def proposition1(pairs: int = 50, seed: int = 0) -> Claim:
    """Proposition 1 on random pairs of partitions."""
    rng = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(pairs):
        p, q = (rng.integers(0, k, 40) for k in rng.integers(2, 7, 2))
        mp, mq = (np.equal.outer(x, x).astype(float) for x in (p, q))
        four = (cg.ari(p, q), cg.arimp(mp, q), cg.arimp(mq, p), cg.arimm(mp, mq))
        worst = max(worst, max(four) - min(four))
    return Claim.of(
        "Proposition 1: ARI(P, Q) = ARImp(M^P, Q) = ARImp(P, M^Q) = ARImm(M^P, M^Q)", worst < 1e-12,
        f"{pairs} random pairs of partitions of 40 points: largest difference {worst:.1e}",
    )  # fmt: skip


def text_claims() -> list[Claim]:
    """Claims of section 4."""
    same = {key: [getattr(cg, key)(m, m) for m in (M1, M2)] for key in ("nsf", "kas", "ssms")}
    constant = cg.Ensemble(PAIRINGS)
    return [
        proposition1(),
        Claim.of(
            "of the measures compared, only ARImm tells an uncertain matrix from a certain one by sim(M, M)",
            all(x == y for x, y in same.values()) and cg.arimm(M2, M2) < cg.arimm(M1, M1),
            "NSF, KAS and sSMS are 1 for M1 and for M2; ARImm(M, M) = Var(M) / (m(1 − m)) over i < j, m the mean entry",
        ),
        Claim.of(
            "Proposition 4: Eq. 35 is a lower bound of ARImm(M, M)", constant.certainty() >= cg.certainty_random(2, 3),
            f"the three partitions {{12|34}}, {{13|24}}, {{14|23}} have ARImm(M, M) = {constant.certainty():.4f}; Eq. 35 with "
            f"K_max = 2, L = 3 says {cg.certainty_random(2, 3):.4f}. The lower bound is 0; Eq. 35 is a mean, see Figure 3",
        ),
    ]  # fmt: skip


# --- Figure 2 ---------------------------------------------------------------------------------------------------

FIGURE2 = {
    "anmi": "ANMI", "arimp": "ARImp", "arimm": "ARImm", "nsf_printed": "NSF /N²", "nsf": "NSF /N", "kas": "KAS", "ssms": "sSMS",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Uncorrelated:
    """Figure 2 at one N and L: values of each measure, number of clusters × trial."""

    n: int
    members: int
    k: np.ndarray
    values: dict[str, np.ndarray]

    @property
    def title(self) -> str:
        """N and L in words."""
        return f"N = {self.n}, L = {self.members}"

    def mean(self, key: str, first: int = 2, last: int = 10**9) -> float:
        """Mean over trials and over the K from `first` to `last`."""
        return float(self.values[key][(self.k >= first) & (self.k <= last)].mean())

    def curve(self, key: str) -> np.ndarray:
        """Mean over trials by K."""
        return self.values[key].mean(axis=1)


def _unrelated(n: int, members: int, k: int, trials: int, seed: int) -> list[list[float]]:
    """The seven measures of each trial: an ensemble with a random partition, and with another ensemble."""
    rng = np.random.default_rng([seed, n, members, k])
    rows = []
    for _ in range(trials):
        truth = rng.integers(0, k, n)
        p, q = (cg.random_partitions(n, members, 2 * k, random_state=rng) for _ in range(2))
        found = {
            **cg.compare(p, truth, ["anmi", "arimp"], threads=1),
            **cg.compare(p, q, [key for key in FIGURE2 if key not in ("anmi", "arimp")], threads=1),
        }
        rows.append([found[key] for key in FIGURE2])
    return rows


def uncorrelated(
    sizes: Sequence[int] = (100, 500, 1000), members: Sequence[int] = (10, 100), k: Sequence[int] = tuple(range(2, 51)),
    trials: int = 5, seed: int = 0, jobs: int = 1,
) -> list[Uncorrelated]:  # fmt: skip
    """Figure 2: random ensembles, k ~ U{2..2K}, against a random partition into K and against each other."""
    settings = list(product(sizes, members))
    found = in_processes(_unrelated, [(n, m, x, trials, seed) for n, m in settings for x in k], jobs)
    runs = []
    for i, (n, m) in enumerate(settings):
        block = np.array(found[i * len(k) : (i + 1) * len(k)])
        runs.append(Uncorrelated(n, m, np.array(k), {key: block[:, :, c] for c, key in enumerate(FIGURE2)}))
    return runs


def k_ranges(k: np.ndarray) -> list[tuple[int, int]]:
    """Ranges of K for the table: to 10, to 20, to 35, and the rest, as far as there are any."""
    limits = [2, 11, 21, 36, 10**9]
    return [(first, int(k[(k < end)].max())) for first, end in pairwise(limits) if ((k >= first) & (k < end)).any()]


def show_uncorrelated(runs: Sequence[Uncorrelated]) -> str:
    """Means over ranges of K, one line per range, N and L."""
    lines = []
    for run in runs:
        for first, last in k_ranges(run.k):
            cells = [f"{run.mean(key, first, last):.{5 if key == 'nsf_printed' else 4}f}" for key in FIGURE2]
            title = run.title if first == 2 else ""
            lines.append([title, f"{first}..{last}", *cells])
    return grid(["", "K", *FIGURE2.values()], lines)


def uncorrelated_claims(runs: Sequence[Uncorrelated]) -> list[Claim]:
    """Claims of section 5.1.1."""
    by = {(r.n, r.members): r for r in runs}
    sizes, members = sorted({r.n for r in runs}), sorted({r.members for r in runs})
    small, large = by[sizes[0], members[-1]], by[sizes[-1], members[-1]]

    def ends(r: Uncorrelated, key: str, digits: int = 3) -> str:
        curve = r.curve(key)
        return f"{curve[0]:.{digits}f} at K = {r.k[0]}, {curve[-1]:.{digits}f} at K = {r.k[-1]} ({r.title})"

    trends = [rank_correlation(r.k, r.curve("anmi")) for r in runs]
    rise = {at: float(r.curve("anmi")[-1] - r.curve("anmi")[0]) for at, r in by.items()}
    spread = {at: float(r.values["arimp"].std()) for at, r in by.items()}

    def worst(key: str) -> float:
        return max(float(np.abs(r.curve(key)).max()) for r in runs)

    def fall_with_n(table: dict[tuple[int, int], float]) -> bool:
        return all(table[a, m] > table[b, m] for a, b in pairwise(sizes) for m in members)

    def listed(table: dict[tuple[int, int], float], form: str) -> str:
        return ", ".join(f"{x:{form}} (N = {n}, L = {m})" for (n, m), x in table.items())

    off = {at: float(np.abs(r.values["ssms"] - 0.5).mean()) for at, r in by.items()}
    kas = {at: r.mean("kas") for at, r in by.items()}
    least_kas = min(runs, key=lambda r: r.curve("kas").min())
    lowest = {key: min(float(r.values[key].min()) for r in runs) for key in ("nsf_printed", "nsf", "kas", "ssms")}
    return [
        Claim.of("ANMI increases as K increases", min(trends) > 0.9,
                 f"rank correlation with K at least {min(trends):.3f}; {ends(small, 'anmi')}, {ends(large, 'anmi')}"),
        Claim.of("especially when N/K is small", fall_with_n(rise), f"rise from the first K to the last: {listed(rise, '.3f')}"),
        Claim.of("ARImp is close to 0 and does not depend on K", worst("arimp") < 0.01,
                 f"largest |mean over trials| at any K, N, L: {worst('arimp'):.4f}"),
        Claim.of("ARImp varies less when N is large", fall_with_n(spread),
                 f"standard deviation over K and trials: {listed(spread, '.1e')}"),
        Claim.of("ARImm is close to 0 and does not depend on K", worst("arimm") < 0.01,
                 f"largest |mean over trials| at any K, N, L: {worst('arimm'):.4f}. It is also small by its scale: "
                 "ARImm(M, M) of such an ensemble is only about 1/L"),
        Claim.of("NSF, KAS and sSMS are all greater than 0", min(lowest.values()) > 0,
                 ", ".join(f"smallest {FIGURE2[key]} {x:.4f}" for key, x in lowest.items())),
        Claim.of("NSF is near 1", lowest["nsf_printed"] > 0.99,
                 f"as printed at least {lowest['nsf_printed']:.5f}, but it cannot be below 1 − 1/N whatever the matrices; "
                 f"divided by N it averages {min(r.mean('nsf') for r in runs):.3f} to {max(r.mean('nsf') for r in runs):.3f}"),
        Claim.of("KAS is near 1 (ours: at least 0.9 on average at each N and L)", min(kas.values()) >= 0.9,
                 f"means {listed(kas, '.3f')}; it rises with L and falls with N and with K, "
                 f"{ends(least_kas, 'kas')}"),
        Claim.of("sSMS tends to 0.5 with increasing N", fall_with_n(off),
                 f"mean |sSMS − 0.5|: {listed(off, '.4f')}; the mean itself is {min(r.mean('ssms') for r in runs):.4f} to "
                 f"{max(r.mean('ssms') for r in runs):.4f}, already at the smallest N"),
        Claim.of("sSMS tends to 0.5 with increasing L_p and L_q",
                 all(off[n, b] < 0.8 * off[n, a] for n in sizes for a, b in pairwise(members)),
                 "from the fewest members to the most, mean |sSMS − 0.5| changes by "
                 + ", ".join(f"{100 * (off[n, members[-1]] / off[n, members[0]] - 1):+.0f} % (N = {n})" for n in sizes)
                 + ": a correlation is not scaled by L"),
    ]  # fmt: skip


# --- Figure 3 ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Certainties:
    """Figure 3 at one N, L and K_max: ARImm(M, M) of random ensembles, and Eq. 35."""

    n: int
    members: int
    kmax: int
    values: np.ndarray
    eq35: float

    @property
    def off(self) -> float:
        """Relative difference of the simulated mean from Eq. 35."""
        return float(self.values.mean() / self.eq35 - 1)

    @property
    def off_once(self) -> float:
        """Mean relative distance of a single ensemble from Eq. 35."""
        return float(np.abs(self.values / self.eq35 - 1).mean())

    @property
    def below(self) -> float:
        """Share of the ensembles below Eq. 35."""
        return float((self.values < self.eq35).mean())


def _certainty(n: int, members: int, kmax: int, ensembles: int, seed: int) -> Certainties:
    rng = np.random.default_rng([seed, n, members, kmax])
    values = [cg.random_partitions(n, members, kmax, random_state=rng).certainty(threads=1) for _ in range(ensembles)]
    return Certainties(n, members, kmax, np.array(values), cg.certainty_random(kmax, members))


def certainties(
    sizes: Sequence[int] = (50, 100, 500, 1000), members: Sequence[int] = (5, 10, 50),
    kmax: Sequence[int] = (4, 10, 20, 40), ensembles: int = 30, seed: int = 0, jobs: int = 1,
) -> list[Certainties]:  # fmt: skip
    """Figure 3: ARImm(M, M) of random ensembles with k ~ U{2..K_max}."""
    return in_processes(_certainty, [(*at, ensembles, seed) for at in product(sizes, members, kmax)], jobs)


def show_certainties(runs: Sequence[Certainties]) -> str:
    """Simulated mean, standard deviation, minimum and Eq. 35, one line per setting."""
    lines = [
        [str(r.n), str(r.members), str(r.kmax), f"{r.eq35:.5f}", f"{r.values.mean():.5f}", f"{100 * r.off:+.1f} %",
         f"{100 * r.off_once:.1f} %", f"{r.values.min():.5f}", f"{100 * r.below:.0f} %"]
        for r in runs
    ]  # fmt: skip
    return grid(["N", "L", "K_max", "Eq. 35", "mean", "off", "one off", "minimum", "below"], lines, left=0)


def certainty_claims(runs: Sequence[Certainties]) -> list[Claim]:
    """Claims of sections 4.3 and 5.1.2."""
    sizes, members = sorted({r.n for r in runs}), sorted({r.members for r in runs})

    def average(attribute: str, n: int, m: int) -> float:
        return float(np.mean([abs(getattr(r, attribute)) for r in runs if (r.n, r.members) == (n, m)]))

    corners = [(n, m) for n in (sizes[0], sizes[-1]) for m in (members[0], members[-1])]
    shown = {
        name: ", ".join(f"{100 * average(name, n, m):.1f} % (N = {n}, L = {m})" for n, m in corners)
        for name in ("off", "off_once")
    }
    worst = max(runs, key=lambda r: abs(r.off))
    below = float(np.mean([r.below for r in runs]))
    lowest = min(runs, key=lambda r: r.values.min() / r.eq35)
    return [
        Claim.of("simulation and Eq. 35 are similar (ours: means within 10 %)", abs(worst.off) < 0.1,
                 f"mean |difference|: {shown['off']}; largest {100 * worst.off:+.1f} % (N = {worst.n}, L = {worst.members}, "
                 f"K_max = {worst.kmax}). The mean of a ratio is above the ratio of the means that Eq. 35 is"),
        Claim.of("with slight differences when both N and L are small (ours: with few members, twice as large at the smallest "
                 "N as at the largest)", average("off_once", *corners[0]) > 2 * average("off_once", *corners[2]),
                 f"a single ensemble, as in a curve of one trial, is off by {shown['off_once']}: few members suffice for a "
                 "difference, as their numbers of clusters are drawn, and a large N does not change that"),
        Claim.of("Eq. 35 is a lower bound", below == 0,
                 f"{100 * below:.0f} % of {sum(len(r.values) for r in runs)} ensembles are below it, the lowest at "
                 f"{lowest.values.min():.5f} where Eq. 35 is {lowest.eq35:.5f} (N = {lowest.n}, L = {lowest.members}, "
                 f"K_max = {lowest.kmax}): it is a mean. {{12|34}}, {{13|24}}, {{14|23}} give "
                 f"{cg.Ensemble(PAIRINGS).certainty():.0f}, the true bound"),
    ]  # fmt: skip


# --- Figure 5 ---------------------------------------------------------------------------------------------------


def _solution(X: np.ndarray, classes: int, manner: int, seed: np.random.SeedSequence) -> np.ndarray:
    """One k-means solution; manner 0: random start, 1: part of the features or a projection, 2: part of the points."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng(seed)
    n, d = X.shape
    k = int(rng.integers(2, 2 * classes + 1))
    means = KMeans(k, init="random", n_init=1, random_state=int(rng.integers(2**31)))
    if manner == 2:
        return means.fit(X[rng.permutation(n)[: round(0.8 * n)]]).predict(X)
    if manner == 1:
        fewer = int(rng.integers(max((d + 1) // 2, 1), max(d - 1, 1) + 1))
        if rng.random() < 0.5:
            X = X[:, rng.permutation(d)[:fewer]]
        else:
            X = X @ rng.standard_normal((d, fewer)) / np.sqrt(fewer)
    return means.fit_predict(X)


def solutions(X: np.ndarray, classes: int, members: int = 600, seed: int = 0) -> cg.Ensemble:
    """k-means solutions in the manner of Fern & Lin: a third each by start, by features and by points; k ~ U{2..2·classes}."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    seeds = np.random.SeedSequence(seed).spawn(members)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # fewer distinct points than clusters: fewer clusters, and fine
        return cg.Ensemble([_solution(X, classes, 3 * i // members, s) for i, s in enumerate(seeds)])


def conditions(similarity: np.ndarray, seed: int = 0) -> list[np.ndarray]:
    """Members of the nine conditions: the smallest of three spectral groups, then quarters of the next and the largest."""
    from sklearn.cluster import SpectralClustering

    groups = SpectralClustering(3, affinity="precomputed", random_state=seed).fit_predict(similarity)
    order = np.argsort(np.bincount(groups, minlength=3), kind="stable")
    rng = np.random.default_rng(seed)
    chosen = [np.flatnonzero(groups == order[0])]
    for group in order[1:]:
        for part in np.array_split(rng.permutation(np.flatnonzero(groups == group)), 4):
            chosen.append(np.concatenate([chosen[-1], part]))
    return chosen


@dataclass(frozen=True, eq=False)
class Diversity:
    """Figure 5 for one data set and one library of solutions: the curves of the nine conditions."""

    title: str
    standardised: bool
    sizes: np.ndarray
    pnmi: np.ndarray
    certainty: np.ndarray
    mean_ari: np.ndarray  # over pairs of members, as PNMI is of NMI

    @property
    def correlation(self) -> float:
        """Pearson's correlation of the two curves."""
        return float(np.corrcoef(self.pnmi, self.certainty)[0, 1])

    @property
    def correlation_ari(self) -> float:
        """The same of ARImm(M, M) and the mean ARI of pairs of members."""
        return float(np.corrcoef(self.mean_ari, self.certainty)[0, 1])


def diversity(title: str, name: str, standardised: bool, members: int = 600, seed: int = 0) -> Diversity:
    """Figure 5: 600 solutions in three groups; PNMI and ARImm(M, M) as the groups are joined."""
    X, y = datasets.load(name, standardise=standardised)
    library = solutions(X, int(y.max()) + 1, members, seed)
    pairs = cg.compare_all(library, ["nmi_sqrt", "ari"], threads=1)
    nmi, ari = pairs["nmi_sqrt"], pairs["ari"]
    chosen = [c for c in conditions(nmi, seed) if len(c) > 1]  # PNMI of a single member is not defined

    def means(values: np.ndarray) -> np.ndarray:
        return np.array([(values[np.ix_(c, c)].sum() - len(c)) / (len(c) * (len(c) - 1)) for c in chosen])

    certainty = np.array([library[c].certainty(threads=1) for c in chosen])
    return Diversity(title, standardised, np.array([len(c) for c in chosen]), means(nmi), certainty, means(ari))


def show_diversity(found: Sequence[Diversity]) -> str:
    """The curves of the first library of each data set, with the sizes of the conditions."""
    lines = []
    for d in found:
        lines.append([d.title, "members", *map(str, d.sizes), ""])
        lines.append(["", "PNMI", *(f"{x:.3f}" for x in d.pnmi), ""])
        lines.append(["", "ARImm", *(f"{x:.3f}" for x in d.certainty), f"{d.correlation:.3f}"])
    columns = max(len(d.sizes) for d in found)
    lines = [[*line[:2], *[""] * (columns + 3 - len(line)), *line[2:]] for line in lines]
    return grid(["", "", *map(str, range(1, columns + 1)), "r"], lines, left=2)


def by_set(found: Sequence[Diversity], standardised: bool) -> dict[str, list[Diversity]]:
    """The libraries of each data set."""
    result: dict[str, list[Diversity]] = {}
    for d in found:
        if d.standardised == standardised:
            result.setdefault(d.title, []).append(d)
    return result


def show_correlations(found: Sequence[Diversity]) -> str:
    """Correlation of ARImm(M, M) with PNMI, and with the mean ARI, by data set, library and preparation."""
    lines = []
    for prepared in (True, False):
        for title, libraries in by_set(found, prepared).items():
            cells = [
                " ".join(f"{getattr(d, name):6.3f}" for d in libraries) for name in ("correlation", "correlation_ari")
            ]
            lines.append([title, "z-scores" if prepared else "raw", *cells])
    return grid(["", "data", "with PNMI, by library", "with mean ARI, by library"], lines, left=2)


def diversity_claims(found: Sequence[Diversity]) -> list[Claim]:
    """Claims of section 5.2.2."""
    claims = []
    for prepared, words in ((True, "z-scores"), (False, "raw data")):
        table = by_set(found, prepared)
        if not table:
            continue
        middle = {title: float(np.median([d.correlation for d in ds])) for title, ds in table.items()}
        ari = {title: float(np.median([d.correlation_ari for d in ds])) for title, ds in table.items()}
        above = [title for title, x in middle.items() if x > 0.95]
        rest = ", ".join(f"{title} {x:.3f}" for title, x in middle.items() if x <= 0.95)
        every = [d.correlation for ds in table.values() for d in ds]
        claims.append(
            Claim.of(
                f"most of the correlations of ARImm(M, M) with PNMI are above 0.95 ({words})", 2 * len(above) > len(middle),
                f"{len(above)} of {len(middle)} data sets (median of the libraries){f'; not: {rest}' if rest else ''}; "
                f"{sum(x > 0.95 for x in every)} of {len(every)} single libraries, lowest {min(every):.3f}. With the mean ARI of "
                f"pairs, which is adjusted for chance as ARImm is: {sum(x > 0.95 for x in ari.values())} of {len(ari)} data sets",
            )
        )  # fmt: skip
    return claims


# --- Figures 6 to 10 --------------------------------------------------------------------------------------------

PROPORTIONS = np.arange(1, 10) / 10
NORMS = ("min-max", "z-score")


def normalised(X: np.ndarray, norm: str) -> np.ndarray:
    """Columns scaled to [0, 1], or to mean 0 and standard deviation 1; constant columns become 0."""
    low, spread = (X.min(axis=0), np.ptp(X, axis=0)) if norm == "min-max" else (X.mean(axis=0), X.std(axis=0, ddof=1))
    return (X - low) / np.where(spread > 0, spread, 1.0)


def upper_pairs(X: np.ndarray, y: np.ndarray, seed: int = 0, nested: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """The entries i < j of the 18 matrices (min-max at 0.1..0.9, z-score at 0.1..0.9), and of the truth.

    With `nested` one random order of the pairs serves all 18, so that a larger proportion replaces what a smaller one did
    and more; without, each matrix has its own.
    """
    from scipy.spatial.distance import pdist

    i, j = np.triu_indices(len(y), 1)
    truth = (y[i] == y[j]).astype(float)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(truth))
    rows = []
    for norm in NORMS:
        kernel = np.exp(-pdist(normalised(X, norm), "sqeuclidean") / 2)
        for share in PROPORTIONS:
            here = (order if nested else rng.permutation(len(truth)))[: round(share * len(truth))]
            row = kernel.copy()
            row[here] = truth[here]
            rows.append(row)
    return np.array(rows), truth


@dataclass(frozen=True, eq=False)
class Replaced:
    """Figures 6 to 10 for one data set: ARImp by normalisation and proportion, and the 18 × 18 table of each measure."""

    title: str
    density: tuple[float, float]  # mean kernel similarity of two points, of the two normalisations
    arimp: np.ndarray
    tables: dict[str, np.ndarray]
    apart: dict[str, np.ndarray]  # the tables when each matrix has its own random order of pairs


def similarity_tables(V: np.ndarray, n: int) -> dict[str, np.ndarray]:
    """ARImm, NSF, KAS and sSMS of each pair of rows of V, the entries i < j of matrices with 1 on the diagonal."""
    products, sums = V @ V.T, V.sum(axis=1)
    tables = {key: np.empty_like(products) for key in MATRIX_KEYS}
    for i, j in product(range(len(V)), repeat=2):
        pair = cg.PairSums(
            pairs=V.shape[1],
            s_p=sums[i],
            s_q=sums[j],
            s_pq=products[i, j],
            s_pp=products[i, i],
            s_qq=products[j, j],
            points=n,
            d_pq=n,
            d_pp=n,
            d_qq=n,
        )  # the library's formulas from sums taken once: 324 matrices of n × n would be read otherwise
        for key, table in tables.items():
            table[i, j] = getattr(pair, key)()
    return tables


def replaced(title: str, name: str, seed: int = 0) -> Replaced:
    """Figures 6 to 10: a Gaussian kernel of which a proportion is replaced by the truth."""
    X, y = datasets.load(name)
    return replaced_in(title, X, y, seed)


def replaced_in(title: str, X: np.ndarray, y: np.ndarray, seed: int = 0) -> Replaced:
    """The same of given data."""
    from scipy.spatial.distance import pdist

    n = len(y)
    V, truth = upper_pairs(X, y, seed)
    s, t = V.sum(axis=1), truth.sum()
    arimp = [
        cg.PairSums(
            pairs=len(truth),
            s_p=s[i],
            s_q=t,
            s_pq=V[i] @ truth,
            s_pp=V[i] @ V[i],
            s_qq=t,
            points=n,
            d_pq=n,
            d_pp=n,
            d_qq=n,
        ).arimp()
        for i in range(len(V))
    ]
    means = [float(np.exp(-pdist(normalised(X, norm), "sqeuclidean") / 2).mean()) for norm in NORMS]
    tables = similarity_tables(V, n)
    V, _ = upper_pairs(X, y, seed, nested=False)
    return Replaced(title, (means[0], means[1]), np.array(arimp).reshape(2, 9), tables, similarity_tables(V, n))


def blocks(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The 9 × 9 blocks: min-max with itself, z-score with itself, min-max with z-score."""
    return table[:9, :9], table[9:, 9:], table[:9, 9:]


def down_right(table: np.ndarray) -> tuple[float, float]:
    """Share of the steps inside the blocks that rise: both proportions up by 0.1, and one of them.

    The main diagonal is left out of the first, since most measures are 1 all along it.
    """
    both, single = [], []
    off = ~np.eye(8, dtype=bool)
    for place, block in enumerate(blocks(table)):
        steps = np.diff(np.diagonal(block))[:, None] if place == 2 else np.empty((0, 1))
        both += [*(block[1:, 1:] - block[:-1, :-1])[off], *steps.ravel()]
        single += [*np.diff(block, axis=0).ravel(), *np.diff(block, axis=1).ravel()]
    return float((np.array(both) > 1e-9).mean()), float((np.array(single) > 1e-9).mean())


def diagonal_blocks_ahead(table: np.ndarray) -> float:
    """Share of (p, q), p ≠ q, where both blocks of one normalisation are above the block of two at the same p, q."""
    first, second, cross = blocks(table)
    off = ~np.eye(9, dtype=bool)
    return float((np.minimum(first, second) > np.maximum(cross, cross.T))[off].mean())


def block_means(table: np.ndarray) -> tuple[float, float, float]:
    """Means of the three blocks at p ≠ q: the main diagonal, 1 for most measures, is not counted."""
    off = ~np.eye(9, dtype=bool)
    first, second, cross = (float(block[off].mean()) for block in blocks(table))
    return first, second, cross


def block_contrast(table: np.ndarray) -> float:
    """Mean of the blocks of one normalisation minus that of two, at p ≠ q, over the range of the table."""
    first, second, cross = block_means(table)
    return float(((first + second) / 2 - cross) / np.ptp(table))


def crest(table: np.ndarray) -> float:
    """Mean step from the diagonal to its neighbours, over the mean step between other neighbours of the same block."""
    at, elsewhere = [], []
    for block in blocks(table)[:2]:
        steps = np.abs(np.diff(block, axis=1))
        row, column = np.indices(steps.shape)
        beside = (column == row) | (column == row - 1)
        at.append(steps[beside].mean())
        elsewhere.append(steps[~beside].mean())
    return float(np.mean(at) / np.mean(elsewhere))


def show_arimp(found: Sequence[Replaced]) -> str:
    """ARImp with the truth by proportion (Figure 6)."""
    lines = []
    for r in found:
        for place, norm in enumerate(NORMS):
            cells = [f"{r.density[place]:.3f}", *(f"{x:.3f}" for x in r.arimp[place])]
            lines.append([r.title if place == 0 else "", norm, *cells])
    return grid(["", "", "mean kernel", *(f"{p:.1f}" for p in PROPORTIONS)], lines, left=2)


def show_tables(found: Sequence[Replaced]) -> str:
    """What the heat maps show in numbers: ARImm's diagonal, the means of the blocks, steps, contrast and crest."""
    lines = []
    for r in found:
        for key, title in MATRIX_KEYS.items():
            table = r.tables[key]
            diagonal = np.diagonal(table)
            first, second, cross = block_means(table)
            both, single = down_right(table)
            cells = [f"{diagonal[i]:.3f}" for i in (0, 4, 8, 9, 13, 17)]
            cells += [f"{x:.3f}" for x in (float(table.mean()), first, second, cross)]
            cells += [f"{100 * both:.0f} %", f"{100 * single:.0f} %"]
            cells += [
                f"{100 * diagonal_blocks_ahead(table):.0f} %",
                f"{block_contrast(table):.2f}",
                f"{crest(table):.1f}",
            ]
            lines.append([r.title if key == "arimm" else "", title, *cells])
    head = ["mm .1", "mm .5", "mm .9", "z .1", "z .5", "z .9", "mean", "mm-mm", "z-z", "mm-z", "both up", "one up"]
    return grid(["", "diagonal:", *head, "ahead", "contrast", "crest"], lines, left=2)


def replaced_claims(found: Sequence[Replaced]) -> list[Claim]:
    """Claims of section 5.2.3."""
    steps = np.array([np.diff(r.arimp, axis=1) for r in found])
    claims = [
        Claim.of("Figure 6: ARImp increases with the proportion replaced, for all the data sets", bool((steps > 0).all()),
                 f"{int((steps > 0).sum())} of {steps.size} steps of 0.1 rise, the smallest by {steps.min():.4f}")
    ]  # fmt: skip
    for key, title in MATRIX_KEYS.items():
        both, single = np.array([down_right(r.tables[key]) for r in found]).T
        apart = np.array([down_right(r.apart[key])[0] for r in found])
        notes = {
            "nsf": ". Within a block the matrices of p and q differ in the pairs replaced between p and q, whose number depends "
            "on |p − q| alone: NSF does not see where on the diagonal it is",
        }
        claims.append(
            Claim.of(
                f"{title} increases towards the bottom right, for all the data sets (ours: 90 % of the steps)",
                bool((both > 0.9).all()),
                f"steps with both proportions up by 0.1 (main diagonal aside) that rise: {100 * both.mean():.0f} % on average, "
                f"{100 * both.min():.0f} % at least; with one up: {100 * single.mean():.0f} %; both up when each matrix has its "
                f"own random order of pairs: {100 * apart.mean():.0f} %, {100 * apart.min():.0f} % at least" + notes.get(key, ""),
            )
        )  # fmt: skip
    ahead = {key: [diagonal_blocks_ahead(r.tables[key]) for r in found] for key in MATRIX_KEYS}
    contrast = {key: [block_contrast(r.tables[key]) for r in found] for key in MATRIX_KEYS}
    crests = {key: [crest(r.tables[key]) for r in found] for key in MATRIX_KEYS}
    for key in ("nsf", "kas", "ssms"):
        darker = [min(first, second) > cross for first, second, cross in (block_means(r.tables[key]) for r in found)]
        claims.append(
            Claim.of(
                f"{MATRIX_KEYS[key]}: the diagonal blocks are distinctively dark (ours: on average, main diagonal aside)",
                all(darker),
                f"both are above the block of two normalisations in {sum(darker)} of {len(found)} sets, by "
                f"{np.mean(contrast[key]):.2f} of the range of the table ({min(contrast[key]):.2f} to {max(contrast[key]):.2f}); "
                f"entry by entry at {100 * np.mean(ahead[key]):.0f} % of the (p, q), {100 * min(ahead[key]):.0f} % in the worst",
            )
        )  # fmt: skip
    others = ("nsf", "kas", "ssms")
    gentler = [all(abs(contrast["arimm"][i]) < contrast[key][i] for key in others) for i in range(len(found))]
    smoother = [all(crests["arimm"][i] < crests[key][i] for key in others) for i in range(len(found))]
    diagonal = np.array([np.diagonal(r.tables["arimm"]).reshape(2, 9) for r in found])
    rises = np.diff(diagonal, axis=2) > 0
    grown = diagonal[..., -1] - diagonal[..., 0]
    slight = [
        f"{r.title} {norm} ({diagonal[i, j, 0]:.3f} to {diagonal[i, j, -1]:.3f})"
        for i, r in enumerate(found) for j, norm in enumerate(NORMS) if grown[i, j] < 0.05
    ]  # fmt: skip
    flat = max(float(np.abs(np.diagonal(r.tables[key]) - 1).max()) for r in found for key in others)
    claims += [
        Claim.of("ARImm: the transition is more gradual than with NSF, KAS and sSMS",
                 np.mean(gentler) > 0.5 and np.mean(smoother) > 0.5,
                 f"its diagonal blocks stand out least (contrast) in {sum(gentler)} of {len(found)} sets, on average "
                 + ", ".join(f"{MATRIX_KEYS[key]} {np.mean(np.abs(x)):.2f}" for key, x in contrast.items())
                 + f"; the step beside the diagonal over the other steps (crest) is least in {sum(smoother)}, on average "
                 + ", ".join(f"{MATRIX_KEYS[key]} {np.mean(x):.1f}" for key, x in crests.items())),
        Claim.of("sim(M, M) grows with the proportion replaced for ARImm only", bool(rises.all()) and flat < 1e-9,
                 f"ARImm's diagonal rises in {int(rises.sum())} of {rises.size} steps; NSF, KAS and sSMS are 1 throughout "
                 f"(largest difference {flat:.0e})"),
        Claim.of("so ARImm(M, M) tells degrees of uncertainty apart (ours: it rises by 0.05 or more over the nine)",
                 not slight, f"in {2 * len(found) - len(slight)} of {2 * len(found)} cases, by up to {grown.max():.3f}"
                 + (f"; not: {', '.join(slight)}, where the kernel is nearly 0: a matrix of 0 and 1 counts as certain, "
                    "however little of it is true" if slight else "")),
    ]  # fmt: skip
    return claims


# --- figures ----------------------------------------------------------------------------------------------------


#: distinguishable with colour vision deficiency (Okabe and Ito)
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000")


def plots(
    folder: Path, fig2: Sequence[Uncorrelated], fig3: Sequence[Certainties], fig5: Sequence[Diversity],
    fig6: Sequence[Replaced],
) -> str:  # fmt: skip
    """Write the figures as HTML; says what was written, or that plotly is missing."""
    try:
        import plotly.graph_objects as go
        from plotly.subplots import make_subplots
    except ImportError:
        return 'no figures: plotly is not installed (pip install ".[plot]")'
    folder.mkdir(parents=True, exist_ok=True)
    written = []

    def write(figure: Any, name: str, title: str) -> None:
        colours: dict[str, str] = {}
        for trace in figure.select_traces(selector={"type": "scatter"}):  # one colour per series, in every panel
            series = trace.name.removesuffix(", simulated").removesuffix(", Eq. 35")
            trace.line.color = colours.setdefault(series, COLOURS[len(colours) % len(COLOURS)])
        figure.update_layout(title=title, template="plotly_white")
        figure.write_html(folder / f"{name}.html", include_plotlyjs="directory")
        written.append(f"{name}.html")

    def panels(titles: Sequence[str], columns: int = 4) -> tuple[Any, list[tuple[int, int]]]:
        rows = -(-len(titles) // columns)
        places = [(1 + i // columns, 1 + i % columns) for i in range(len(titles))]
        figure = make_subplots(rows, columns, subplot_titles=titles, vertical_spacing=0.12)
        figure.update_layout(height=330 * rows + 80)
        return figure, places

    figure, places = panels(list(FIGURE2.values()))
    for key, (row, column) in zip(FIGURE2, places, strict=True):
        for r in fig2:
            line = go.Scatter(x=r.k, y=r.curve(key), name=r.title, legendgroup=r.title, showlegend=key == "anmi")
            figure.add_trace(line, row, column)
    write(figure, "figure2", "Figure 2: unrelated partitions and ensembles, by K")

    sizes = sorted({r.n for r in fig3})
    figure, places = panels([f"N = {n}" for n in sizes])
    for n, (row, column) in zip(sizes, places, strict=True):
        for m in sorted({r.members for r in fig3}):
            here = [r for r in fig3 if (r.n, r.members) == (n, m)]
            x = [r.kmax for r in here]
            for name, y, dash in (
                ("simulated", [r.values.mean() for r in here], "solid"),
                ("Eq. 35", [r.eq35 for r in here], "dot"),
            ):
                line = go.Scatter(x=x, y=y, name=f"L = {m}, {name}", line={"dash": dash}, showlegend=n == sizes[0])
                figure.add_trace(line, row, column)
    write(figure, "figure3", "Figure 3: ARImm(M, M) of random ensembles and Eq. 35, by K_max")

    if fig5:
        figure, places = panels([f"{d.title}: r = {d.correlation:.3f}" for d in fig5])
        for d, (row, column) in zip(fig5, places, strict=True):
            for name, y in (("PNMI", d.pnmi), ("ARImm", d.certainty)):
                figure.add_trace(go.Scatter(y=y, x=d.sizes, name=name, showlegend=d is fig5[0]), row, column)
        write(figure, "figure5", "Figure 5: PNMI and ARImm(M, M), by number of members")
    if fig6:
        figure, places = panels([r.title for r in fig6])
        for r, (row, column) in zip(fig6, places, strict=True):
            for norm, y in zip(NORMS, r.arimp, strict=True):
                figure.add_trace(go.Scatter(x=PROPORTIONS, y=y, name=norm, showlegend=r is fig6[0]), row, column)
        write(figure, "figure6", "Figure 6: ARImp with the truth, by proportion replaced")
        labels = [f"{norm} {p:.1f}" for norm in NORMS for p in PROPORTIONS]
        for number, (key, title) in enumerate(MATRIX_KEYS.items(), start=7):
            figure, places = panels([r.title for r in fig6])
            for r, (row, column) in zip(fig6, places, strict=True):
                z = r.tables[key]
                figure.add_trace(go.Heatmap(z=z, x=labels, y=labels, colorscale="Greys", showscale=False), row, column)
            middles = [labels[len(PROPORTIONS) // 2], labels[len(PROPORTIONS) + len(PROPORTIONS) // 2]]
            figure.update_xaxes(tickvals=middles, ticktext=list(NORMS))
            figure.update_yaxes(tickvals=middles, ticktext=list(NORMS), tickangle=-90, autorange="reversed")
            write(figure, f"figure{number}", f"Figure {number}: {title} of each two similarity matrices")
    return f"figures written to {folder}: {', '.join(written)}"


# --- printing ---------------------------------------------------------------------------------------------------


def available(chosen: Sequence[tuple]) -> list[tuple[str, str]]:
    """(title, name) of the data sets that are there; a line on the error stream for each that is not."""
    there = []
    for title, name, *_ in chosen:
        try:
            datasets.read(name)
            there.append((title, name))
        except datasets.DataMissing as problem:
            print(f"{title} is left out. {problem}", file=sys.stderr)
    return there


def main(argv: Sequence[str] | None = None) -> int:
    """Print the reproduction."""
    parser = argparse.ArgumentParser(prog="python -m reproductions.ensemble_indices", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer trials; 120 solutions per data set, z-scores, one library"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", nargs="*", metavar="NAME", help="data sets of Table 2, e.g. iris wine; none: no data")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--plots", type=Path, metavar="DIR", help="write the figures there as HTML (needs plotly)")
    args = parser.parse_args(argv)
    known = {row[0].lower(): row for row in TABLE2} | {row[1]: row for row in TABLE2}
    chosen = list(TABLE2) if args.sets is None else [known.get(name.lower()) for name in args.sets]
    if None in chosen:
        parser.error(f"--sets: the data sets of Table 2 are {', '.join(row[0] for row in TABLE2)}")
    k = tuple(range(2, 51, 8)) if args.quick else tuple(range(2, 51))
    trials, ensembles, members, libraries = (2, 10, 120, 1) if args.quick else (5, 30, 600, 3)

    print(paragraph("""Zhang, Wong & Shen, Generalized Adjusted Rand Indices for cluster ensembles (Pattern Recognition 45,
        2012). 'agrees': the printed digits are ours; 'misprint': the formula or matrix is clearly an error; 'confirmed' and
        'not confirmed' are about sentences. Where a sentence has no number, 'ours' is a threshold that we set, for some after
        a first look at the results; the evidence gives the values. The numbers of the figures are not in the text, and
        neither are the settings of Figures 2 and 3: only the statements of the text can be checked. Figure 4 (consensus
        functions filtered by ARImp) is in reproductions.consensus_filtering."""))  # fmt: skip
    print(heading("Section 4.3: the example"))
    print(rows_text(toy()))
    print(heading("Formulas as printed"))
    print(rows_text(errata()))
    print(heading("Claims of section 4"))
    print(claims_text(text_claims()))

    print(heading("Figure 2: unrelated partitions and ensembles"))
    print(paragraph(f"""Our choice: N = 100, 500, 1000; L = L_p = L_q = 10, 100; K = {k[0]}..{k[-1]}
        in steps of {k[1] - k[0]}; {trials} trials each. Members have k ~ U{{2..2K}} clusters, the
        'truth' K; every point is in each cluster with equal probability. ANMI and ARImp are of an ensemble and the
        truth, the others of two independent ensembles. NSF as printed divides the norm by N², soundly by N.
        Means over trials and K."""))  # fmt: skip
    print()
    fig2 = uncorrelated(k=k, trials=trials, seed=args.seed, jobs=args.jobs)
    print(show_uncorrelated(fig2))
    print(claims_text(uncorrelated_claims(fig2)))

    print(heading("Figure 3: ARImm(M, M) of random ensembles and Eq. 35"))
    print(paragraph(f"""Our choice of N, L and K_max (= 2K of Figure 2); {ensembles} ensembles each. 'off': the mean from
        Eq. 35; 'one off': a single ensemble from it, on average; 'below': share of the ensembles below Eq. 35."""))  # fmt: skip
    print()
    fig3 = certainties(ensembles=ensembles, seed=args.seed, jobs=args.jobs)
    print(show_certainties(fig3))
    print(claims_text(certainty_claims(fig3)))

    there = available(chosen)
    fig5: list[Diversity] = []
    fig6: list[Replaced] = []
    if there:
        prepared = {True: "z-scores"} if args.quick else {True: "z-scores", False: "raw"}
        print(heading("Figure 5: diversity by PNMI and by ARImm(M, M)"))
        print(paragraph(f"""{members} k-means solutions per data set 'in the manner of' Fern & Lin, whose details the paper does
            not repeat: a third from random starts, a third on half to all but one of the features or of as many random
            projections, a third on 80 % of the points with the others to the nearest centre; k ~ U{{2..2·classes}}, one start.
            Spectral clustering of their NMI matrix into three groups; the smallest is the base, the next and the largest are
            added in quarters: nine conditions. The paper does not say how the data were prepared:
            {' and '.join(prepared.values())}, {libraries} {'library' if libraries == 1 else 'libraries'} each.
            Curves of the first with z-scores:"""))  # fmt: skip
        print()
        tasks = [
            (title, name, scaled, members, args.seed + library)
            for scaled, (title, name), library in product(prepared, there, range(libraries))
        ]
        fig5 = in_processes(diversity, tasks, args.jobs)
        first = [d for d, task in zip(fig5, tasks, strict=True) if task[2] and task[4] == args.seed]
        print(show_diversity(first))
        print()
        print(show_correlations(fig5))
        tried = ", ".join(f"{how} (r {spread([d.correlation for d in fig5 if d.standardised is scaled])})"
                          for scaled, how in prepared.items())  # fmt: skip
        print(rows_text([Row("correlations in the titles of Figure 5", None, None, NOT_REPRODUCIBLE,
                             "not in the text, and neither are the solutions: 'most above 0.95' can be tested. "
                             f"Tried: {tried}")]))  # fmt: skip
        print(claims_text(diversity_claims(fig5)))
        fig5 = first

        print(heading("Figure 6: ARImp of a kernel matrix and the truth, by proportion replaced"))
        print(paragraph("""exp(−|x − y|²/2) of min-max and z-score data (as the paper: no bandwidth); a proportion of the pairs,
            the same random order for all proportions and both normalisations, replaced by 1 (same class) or 0. 'mean
            kernel': mean similarity of two points before; with z-scores of many features it is nearly 0, so that what is
            measured there is what was put in."""))  # fmt: skip
        print()
        fig6 = in_processes(replaced, [(title, name, args.seed) for title, name in there], args.jobs)
        print(show_arimp(fig6))
        print(heading("Figures 7 to 10: the 18 matrices with each other"))
        print(paragraph("""mm: min-max, z: z-score. Values on the diagonal at 0.1, 0.5, 0.9; means of the table, and of its
            blocks at p ≠ q; 'both up', 'one up': share of the steps of 0.1 within blocks that rise; 'ahead': share of (p, q)
            where both blocks of one normalisation are above that of two; 'contrast': by how much on average, over the
            range of the table; 'crest': the step beside the diagonal over the other steps."""))  # fmt: skip
        print()
        print(show_tables(fig6))
        print(claims_text(replaced_claims(fig6)))
    if args.plots:
        print()
        print(plots(args.plots, fig2, fig3, fig5, fig6))
    return 0 if there or not chosen else 1


if __name__ == "__main__":
    from reproductions import ensemble_indices  # by its name, so that the processes of joblib find its functions

    sys.exit(ensemble_indices.main())
