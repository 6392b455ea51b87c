"""Selection of members for a consensus: the best, the most diverse, or the best of each group."""

from __future__ import annotations

import numpy as np

from congruence.comparison.many import compare_all
from congruence.engine.plan import seed_sequence
from congruence.errors import InputError, Option, hint, joined, real_number
from congruence.formulas import find
from congruence.formulas.record import Measure
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.options import described
from congruence.statistics.tables import Array
from congruence.typing import EnsembleLike, Seed


@described
def select_members(
    ensemble: EnsembleLike,
    n_members: int,
    by: str = "cluster",
    *,
    measure: str | Measure = "nmi_sqrt",
    alpha: float = 0.5,
    random_state: Seed = 0,
    threads: int | None = None,
) -> Ensemble:
    """Select members of an ensemble for a consensus.

    The quality of a member is its mean agreement with all others (Fern and Lin 2008).

    Args:
        ensemble: See `congruence.options`.
        n_members: Number of members to keep.
        by: "cluster" (default; members are clustered by their agreement and the best of each group is kept),
            "quality" (the best), "diversity" (starting from the best, always the least similar to those kept) or
            "joint" (alpha · quality + (1 − alpha) · diversity).
        measure: See `congruence.options`.
        alpha: Weight of quality for "joint", from 0 to 1. Default 0.5.
        random_state, threads: See `congruence.options`.

    Returns:
        An `Ensemble` of these members.

    See also:
        `cg.consensus`, `cg.member_agreement`.

    >>> import congruence as cg
    >>> runs = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 1], "c": [0, 1, 0, 1], "d": [0, 0, 1, 2]}
    >>> cg.select_members(runs, 2, "quality").names
    ('a', 'd')
    >>> cg.select_members(runs, 2, "diversity").names
    ('c', 'd')
    """
    refuse_idle(select_members, locals())
    e = ensemble if isinstance(ensemble, Ensemble) else Ensemble(ensemble)
    ways = ("quality", "diversity", "joint", "cluster")
    if by not in ways:
        raise InputError(f"members cannot be selected by {by!r}; {hint(by, ways, 'there are: ' + joined(ways))}")
    if isinstance(n_members, bool) or not isinstance(n_members, int | np.integer) or not 1 <= n_members <= len(e):
        raise InputError(
            f"{Option('n_members')} must be a whole number from 1 to {len(e)}, the number of members, not {n_members!r}"
        )
    if not 0 <= (alpha := real_number(alpha, "alpha")) <= 1:
        raise InputError(f"alpha must be from 0 to 1 (the weight of quality); got {alpha}")
    m = find(measure)
    if m.better != "higher" or m.range[1] != 1:
        raise InputError(f"members are selected by an agreement of at most 1, such as nmi_sqrt or ari, not by {m.key}")
    agreement = np.array(compare_all(e, [m], threads=threads, unassigned="drop" if e.has_gaps else "error")[m.key])
    if np.isnan(agreement).any():
        raise InputError("two members have no point in common; selection compares all pairs of members")
    quality = np.where(np.eye(len(e), dtype=bool), 0.0, agreement).sum(axis=1) / max(len(e) - 1, 1)
    if by == "quality":
        chosen = np.argsort(-quality, kind="stable")[:n_members].tolist()
    elif by == "cluster":
        chosen = _best_of_groups(agreement, quality, int(n_members), random_state)
    else:
        chosen = _one_by_one(agreement, quality, int(n_members), 0.0 if by == "diversity" else alpha)
    return e[sorted(int(i) for i in chosen)]


def _one_by_one(agreement: Array, quality: Array, n: int, alpha: float) -> list[int]:
    chosen = [int(quality.argmax())]
    left = [i for i in range(len(quality)) if i != chosen[0]]
    while len(chosen) < n:
        different = 1 - agreement[np.ix_(left, chosen)].mean(axis=1)
        best = int((alpha * quality[left] + (1 - alpha) * different).argmax())
        chosen.append(left.pop(best))
    return chosen


def _best_of_groups(agreement: Array, quality: Array, n: int, random_state: Seed) -> list[int]:
    if n >= len(quality):
        return list(range(len(quality)))
    if n == 1:
        return [int(quality.argmax())]
    from sklearn.cluster import SpectralClustering

    seed = int(seed_sequence(random_state).generate_state(1)[0]) % (2**31)
    likeness = np.clip(agreement, 0.0, None) + 1e-9  # keeps the graph connected
    groups = SpectralClustering(n, affinity="precomputed", random_state=seed).fit_predict(likeness)
    return [int(max(np.flatnonzero(groups == g), key=lambda i: quality[i])) for g in np.unique(groups)]
