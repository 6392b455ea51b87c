"""Plurality of the members' votes, after each member's clusters were matched with those of the consensus, until it stands."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from congruence.aggregation.evidence import GRAM_LIMIT, Evidence
from congruence.aggregation.kcc import kcc
from congruence.aggregation.methods import Found, Method
from congruence.formulas import find
from congruence.statistics import Array, Pairs

STEPS = 100


def _run(e: Evidence, k: int, rng: np.random.Generator, n_init: int = 10, **_: Any) -> Found:
    labels, start = medoid(e, k), "the most central member"
    if labels is None:
        many = e.n_columns > GRAM_LIMIT
        why = f"there are more than {GRAM_LIMIT:,} clusters" if many else f"no complete member has {k} clusters"
        labels, start = kcc(e, k, rng, n_init=n_init).labels, f"kcc, as {why}"
    before: list[bytes] = []
    for _step in range(STEPS):
        support = e.scores(matched(e, labels, k))
        voted = support.argmax(axis=1)
        before.append(labels.tobytes())
        if voted.tobytes() in before:  # it stands, or it goes in a circle: then this one has been seen
            break
        labels = voted
    settled = voted.tobytes() == before[-1]
    agreed = float((support[np.arange(e.n_rows), voted] * e.mass).sum() / (e.seen_share * e.mass).sum())
    notes = () if settled else ("the votes did not settle; the last of them are given",)
    return Found(voted, agreed, f"matching and voting, started at {start}", notes)


def matched(e: Evidence, labels: Array, k: int) -> Array:
    """Votes of each cluster: a_l for the consensus cluster it is matched with, 0 for the others.

    One to one where it can be, and the clusters left over go to the one they overlap most.
    """
    totals = e.totals(labels, k)
    ends = np.searchsorted(e.member, np.arange(e.n_members + 1)).tolist()
    votes = np.zeros((e.n_columns, k))
    for first, last, share in zip(ends[:-1], ends[1:], e.share.tolist(), strict=True):
        table = totals[:, first:last]
        to = table.argmax(axis=0)
        rows, cols = linear_sum_assignment(table, maximize=True)
        to[cols] = np.where(table[rows, cols] > 0, rows, to[cols])
        votes[np.arange(first, last), to] = share
    return votes


def medoid(e: Evidence, k: int) -> Array | None:
    """Of the complete members with k clusters the one with the highest mean ARI with all members."""
    sizes = np.bincount(e.member, minlength=e.n_members)
    able = [i for i in range(e.n_members) if sizes[i] == k and e.seen[:, i].all() and e.n_columns <= GRAM_LIMIT]
    ends = np.searchsorted(e.member, np.arange(e.n_members + 1))
    best: tuple[float, Array] | None = None
    tables = e.tables if able else np.empty((0, 0))
    for i in able:
        own = tables[ends[i] : ends[i + 1]]
        score = float(_ari([own[:, first:last] for first, last in pairwise(ends)]) @ e.share)
        if best is None or score > best[0] + 1e-12:
            best = score, (e.column[:, i] - ends[i]).astype(np.int64)
    return None if best is None else best[1]


def _ari(tables: list[Array]) -> Array:
    """ARI of each table of masses, a signature being as many points as its mass."""
    squares = [(x.sum(), np.square(x).sum(), *(np.square(x.sum(axis=i)).sum() for i in (1, 0))) for x in tables]
    n, both, a, b = np.array(squares).T
    return find("ari").values(Pairs.from_squares(n, n, both, a, b, np.zeros(len(n), dtype=bool)))


voting = Method(
    "voting", "Iterated plurality voting", "share of the votes for the winner", "higher", "dimitriadou2002", _run,
    tried_up_to=np.inf,
)  # fmt: skip
