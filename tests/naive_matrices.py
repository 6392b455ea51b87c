"""Similarity matrices and ensembles by their definitions: the whole n × n matrix, and loops over pairs of points.

Members are lists of labels (None: no label) or of rows of memberships. `w` are weights of the points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

import naive
import numpy as np

Members = Sequence[Sequence[Any]]


def together(member: Sequence[Any], i: int, j: int) -> float:
    """1 if the member has the two points in one cluster; the inner product of their memberships if it is soft."""
    if isinstance(member[i], list | tuple | np.ndarray):
        return float(sum(x * y for x, y in zip(member[i], member[j], strict=True)))
    return float(member[i] is not None and member[i] == member[j])


def seen(member: Sequence[Any], i: int, j: int) -> bool:
    """Whether the member labels both points."""
    return member[i] is not None and member[j] is not None


def consensus(members: Members, shares: Sequence[float] | None = None, missing: str = "ratio") -> np.ndarray:
    """The consensus matrix, 1 on the diagonal; NaN if no member labels both points ("ratio")."""
    n = len(members[0])
    a = [1.0] * len(members) if shares is None else list(shares)
    found = np.ones((n, n))
    for i, j in permutations(range(n), 2):
        same = sum(share * together(m, i, j) for m, share in zip(members, a, strict=True))
        times = sum(share * (seen(m, i, j) or missing == "plain") for m, share in zip(members, a, strict=True))
        found[i, j] = same / times if times else math.nan
    return found


def sums(p: np.ndarray, q: np.ndarray, w: Sequence[float] | None = None) -> dict[str, float]:
    """Sums over pairs i < j (undefined ones left out) and over the diagonal; weights are scaled to a mean of 1."""
    n = len(p)
    weight = [1.0] * n if w is None else [x * n / sum(w) for x in w]
    found = dict.fromkeys(("pairs", "s_p", "s_q", "s_pq", "s_pp", "s_qq", "d_pq", "d_pp", "d_qq"), 0.0)
    for i, j in combinations(range(n), 2):
        x, y, v = float(p[i][j]), float(q[i][j]), weight[i] * weight[j]
        if not (math.isnan(x) or math.isnan(y)):
            for key, value in zip(list(found)[:6], (1, x, y, x * y, x * x, y * y), strict=True):
                found[key] += v * value
    for i in range(n):
        x, y, v = float(p[i][i]), float(q[i][i]), weight[i] ** 2
        for key, value in zip(list(found)[6:], (x * y, x * x, y * y), strict=True):
            found[key] += v * value
    return {"n": float(n), **found}


def pooled_sums(p: Members, q: Members, a: Sequence[float], b: Sequence[float]) -> dict[str, float]:
    """Sums over (pair, member of p, member of q) where both members have both points, by the shares of the members."""
    found = dict.fromkeys(("pairs", "s_p", "s_q", "s_pq"), 0.0)
    for (x, v), (y, u) in ((s, t) for s in zip(p, a, strict=True) for t in zip(q, b, strict=True)):
        for i, j in combinations(range(len(x)), 2):
            if seen(x, i, j) and seen(y, i, j):
                values = (1, together(x, i, j), together(y, i, j), together(x, i, j) * together(y, i, j))
                for key, value in zip(found, values, strict=True):
                    found[key] += v * u * value
    return found


def arimm(s: dict[str, float]) -> float:
    """(s_pq − E) / ((s_p + s_q)/2 − E); 0/0 (both all 0, both all 1, no pairs) is 1."""
    if not s["pairs"]:
        return 1.0
    expected = s["s_p"] * s["s_q"] / s["pairs"]
    most = (s["s_p"] + s["s_q"]) / 2 - expected
    return 1.0 if abs(most) < 1e-12 * s["pairs"] else (s["s_pq"] - expected) / most


def kas(s: dict[str, float]) -> float:
    """tr(PQ) / √(tr PP tr QQ)."""
    own = (2 * s["s_pp"] + s["d_pp"]) * (2 * s["s_qq"] + s["d_qq"])
    return (2 * s["s_pq"] + s["d_pq"]) / math.sqrt(own)


def frobenius(s: dict[str, float]) -> float:
    """‖P − Q‖."""
    squared = 2 * (s["s_pp"] + s["s_qq"] - 2 * s["s_pq"]) + s["d_pp"] + s["d_qq"] - 2 * s["d_pq"]
    return math.sqrt(squared) if squared > 1e-12 else 0.0


def sms(s: dict[str, float]) -> float:
    """Pearson correlation of the entries above the diagonal; NaN for a constant matrix and for one pair."""
    if s["pairs"] <= 1:
        return math.nan
    var_p, var_q = (s[f"s_{x}{x}"] - s[f"s_{x}"] ** 2 / s["pairs"] for x in "pq")
    if min(var_p, var_q) < 1e-12 * s["pairs"]:
        return math.nan
    return (s["s_pq"] - s["s_p"] * s["s_q"] / s["pairs"]) / math.sqrt(var_p * var_q)


def measures(p: np.ndarray, q: np.ndarray, w: Sequence[float] | None = None) -> dict[str, float]:
    """Every measure of two matrices."""
    s = sums(p, q, w)
    return {
        "arimp": arimm(s), "arimm": arimm(s), "kas": kas(s), "nsf": 1 - frobenius(s) / s["n"],
        "nsf_printed": 1 - frobenius(s) / s["n"] ** 2, "sms": sms(s), "ssms": (1 + sms(s)) / 2,
    }  # fmt: skip


def certainty(m: np.ndarray) -> float:
    """Var(M) / (m̄(1 − m̄)) over the pairs that are defined; 1 where that is 0/0."""
    x = m[np.triu_indices(len(m), 1)]
    x = x[~np.isnan(x)]
    mean = x.mean() if len(x) else 0.0
    return float(x.var() / (mean * (1 - mean))) if 1e-12 < mean < 1 - 1e-12 else 1.0


def anmi(members: Members, labels: Sequence[Any]) -> float:
    """Mean of nmi_sqrt of the members with the partition."""
    return float(np.mean([naive.MEASURES["nmi_sqrt"](list(m), list(labels)) for m in members]))


def pooled_ami(members: Members, labels: Sequence[Any], weights: Sequence[float] | None = None) -> float:
    """Σ w (I − E) ÷ Σ w ((H + H_l) / 2 − E) over the members, E = min((k − 1)(k_l − 1) / 2n, H, H_l); 0/0 by the rule."""
    n, q = len(labels), list(labels)
    above = most = 0.0
    for m, w in zip(members, weights or [1.0] * len(members), strict=True):
        m = list(m)

        def entropy(x: list[Any]) -> float:
            return -sum(x.count(v) / n * math.log(x.count(v) / n) for v in set(x))

        h, own, both = entropy(q), entropy(m), entropy(list(zip(q, m, strict=True)))
        chance = min((len(set(q)) - 1) * (len(set(m)) - 1) / (2 * n), h, own)
        above += w * (h + own - both - chance)
        most += w * ((h + own) / 2 - chance)
    if most < 1e-12:
        return float(all(naive.MEASURES["ari"](list(m), q) == 1 for m in members))
    return above / most


def consensus_index(members: Members, key: str) -> float:
    """Mean of a measure over ordered pairs of different members."""
    values = [naive.MEASURES[key](list(a), list(b)) for a, b in permutations(members, 2)]
    return float(np.mean(values))


def item_consensus(m: np.ndarray, labels: Sequence[Any]) -> np.ndarray:
    """Mean of the consensus of each point with the other points of each cluster."""
    found = np.full((len(labels), len(set(labels))), math.nan)
    for i in range(len(labels)):
        for k, name in enumerate(sorted(set(labels))):
            others = [m[i][j] for j in range(len(labels)) if j != i and labels[j] == name]
            if others:
                found[i, k] = sum(others) / len(others)
    return found


def cluster_consensus(m: np.ndarray, labels: Sequence[Any]) -> dict[Any, float]:
    """Mean of the consensus over the pairs within each cluster."""
    found = {}
    for name in sorted(set(labels)):
        inside = [i for i, x in enumerate(labels) if x == name]
        values = [m[i][j] for i, j in combinations(inside, 2)]
        found[name] = sum(values) / len(values) if values else math.nan
    return found


def histogram(m: np.ndarray) -> dict[float, float]:
    """Consensus value → share of the pairs i < j, undefined ones left out."""
    x = m[np.triu_indices(len(m), 1)]
    values, counts = np.unique(np.round(x[~np.isnan(x)], 12), return_counts=True)
    return dict(zip(values.tolist(), (counts / counts.sum()).tolist(), strict=True))
