"""The result of `choose_k` as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from congruence.errors import joined
from congruence.formulas import find, names
from congruence.selection.choice import Criterion, Judged, KChoice, Verdict

CRISP = "crisp memberships agree more, so the index also rewards crispness; the /self forms correct for that"

#: members whose agreement at the chosen k is below this agree little
WEAK = 0.5


def stopped(done: Iterable[object], many: int, what: str = "numbers of clusters") -> str:
    """A note on what was done before Ctrl-C."""
    listed = list(done)
    return f"stopped: {len(listed)} of {many} {what} are done, {joined(listed)}"


def _if_several(k: int | None) -> list[str]:
    """The best number of two or more clusters, if there is one."""
    return [] if k is None else [f"If there are two or more, the best number is {k}."]


def _if_largest(k: int, ks: Sequence[int]) -> list[str]:
    """Advice if the largest number of clusters that was tried is the best."""
    return [f"It is the largest k tried: try more than {k}."] if k == ks[-1] > 1 else []


def percent(p: float) -> str:
    """A probability as text.

    >>> percent(0.42), percent(0.9999), percent(0.0001)
    ('42%', 'above 99%', 'below 1%')
    """
    return "above 99%" if p > 0.99 else "below 1%" if p < 0.01 else f"{p:.0%}"


def sentences(choice: KChoice) -> list[str]:
    """The recommendation, sentence by sentence; the first is the verdict."""
    said = _by_probability(choice) if choice.probabilities or choice.reason else _by_vote(choice)
    if choice.n_reference is not None and choice.with_reference:
        found = [f"{c.measure} {c.best}" for c in choice.with_reference.values()]
        rates = [f"{key} {rate:.0%}" for key, rate in choice.success.items()]
        who = "members agree" if choice.ensembles else "the clusterings agree"
        said.append(
            f"The reference has {choice.n_reference} clusters; {who} best with it at {joined(found)}"
            + (f"; success rates: {joined(rates)}." if rates else ".")
        )
    return said


# --- by probabilities -------------------------------------------------------------------------------------------


def _by_probability(choice: KChoice) -> list[str]:
    if choice.k is None:
        return [Judged.doubt(f"{choice.reason}.")]
    k, p = choice.k, percent(choice.probabilities[choice.k])
    other = choice.runner_up
    q = "" if other is None else percent(choice.probabilities[other])
    said: list[str] = []
    if choice.verdict is Verdict.CANNOT_TELL:
        reason = choice.reason or f"no number of clusters is probable; {_groups(k)} has {p}, {_groups(other or 1)} {q}"
        said.append(Judged.doubt(f"{reason}."))
    elif choice.verdict is Verdict.TIE:
        few, many = sorted([k, other or 1])
        first, second = (p, q) if few == k else (q, p)
        if few == 1:
            said.append(Judged("Tie", " ", f"between no clusters ({first}) and {many} clusters ({second})."))
        else:
            said.append(Judged("Tie", " ", f"between {few} ({first}) and {many} clusters ({second})."))
    elif choice.verdict is Verdict.NONE:
        said.append(f"No clusters (probability {p}): the points form one group.")
        said += _if_several(other)
    else:
        said.append(f"{k} clusters (probability {p})" + (f"; next: {_groups(other)} ({q})." if other else "."))
    more = [x for x in choice.ks if x > k]
    if more and choice.doubts.get(more[0]) and choice.verdict is not Verdict.CANNOT_TELL:
        said.append(f"Against {more[0]}: {choice.doubts[more[0]]}.")
    return [*said, *_if_largest(k, choice.ks)]


def _groups(k: int) -> str:
    return "no clusters" if k == 1 else str(k)


# --- by a vote --------------------------------------------------------------------------------------------------


def _by_vote(choice: KChoice) -> list[str]:
    voters = choice.voters
    if [c.name for c in voters] == ["rule"]:
        return _by_rule(choice)
    said = _in_favour(choice, voters) if voters else [_no_vote(choice)]
    silent = [c for c in choice.criteria.values() if not c.votes and c.best is not None]
    for caution, group in _by_caution(silent).items():
        favoured = joined([f"{name} ({choice.best[name]})" for name in group])
        said.append(f"Not counted: {favoured}, {caution}.")
    return said


def _by_rule(choice: KChoice) -> list[str]:
    if choice.k == 1:
        said = [
            f"No clusters by {choice.method}: for no number are all clusters stable in halves of the points and separated."
        ]
        return said + _if_several(choice.runner_up)
    if not choice.criteria["rule"].values.any():
        again = choice.criteria["returns"].values[choice.ks.index(choice.k or 0)]
        return [
            f"{choice.k} clusters by {choice.method} are the most stable, but not all are separated "
            f"(stability of the worst: {again:.2f})."
        ]
    return [
        f"{choice.k} clusters by {choice.method}: the largest number whose clusters are stable in halves of the points and "
        "separated."
    ]


def _no_vote(choice: KChoice) -> str:
    flat = [c.name for c in choice.criteria.values() if c.votes]
    if flat:
        return Judged.doubt(
            f"every criterion with a vote ({joined(flat)}) is undefined, or the same at every number of clusters."
        )
    return Judged.doubt(f"none of the criteria has a vote ({joined(list(choice.criteria))}); add ari or vi.")


def _in_favour(choice: KChoice, voters: Sequence[Criterion]) -> list[str]:
    """The recommendation, how certain it is, which criteria disagree, and known reasons."""
    vote = choice.vote
    level = _level(choice, vote.k)
    if len(choice.ks) == 1:
        agreed = f": the members agree at {level[0]} {level[1]:.2f}" if level is not None else ""
        return [f"Only {vote.k} clusters were tried, so there is nothing to choose between{agreed}."]
    weak = level is not None and level[1] < WEAK
    firm = [c for c in voters if c.best == vote.k and not c.near]
    crisp_only = all(c.caution == CRISP for c in firm)  # also if none is firm
    sure = "a clear choice" if is_clear(choice) else f"probably {vote.k}" if vote.share > 0.5 else "no clear choice"
    counted = _counted_votes(vote.counts[vote.k], len(voters))
    if choice.verdict is Verdict.TIE:
        pair = sorted([vote.k, choice.runner_up or vote.k])
        each = f"{vote.counts[vote.k]} of {len(voters)} criteria each."
        said: list[str] = [Judged("Tie", " ", f"between {pair[0]} and {pair[1]} clusters: {each}")]
    elif vote.k == 1:
        said = [f"No clusters: {counted} it, {sure.replace('probably 1', 'probably none')}."]
    else:
        said = [f"{vote.k} clusters: {counted} it, {sure}."]
    against = [k for k in vote.counts if k != vote.k]
    if against:
        dissent = [f"{joined([c.name for c in voters if c.best == k])} for {k}" for k in against]
        said.append(f"Others: {'; '.join(dissent)}.")
    alike: dict[tuple[int, ...], list[str]] = {}
    for c in voters:
        if c.near:
            alike.setdefault(tuple(sorted([*c.near, c.best or 0])), []).append(c.name)
    if alike:
        shown = [f"{joined(ks)} by {joined(group)}" for ks, group in alike.items()]
        said.append(f"Tied: {'; '.join(shown)}.")
    flat = [c.name for c in choice.criteria.values() if c.votes and c.best is None]
    if flat:
        said.append(f"Without a vote, the same at every k: {joined(flat)}.")
    leans = {"many": lambda k: k > vote.k, "few": lambda k: k < vote.k, "": lambda k: k != vote.k}
    doubtful = [c for c in voters if leans[c.favours](c.best) or (crisp_only and c in firm)]
    for caution, group in _by_caution(doubtful).items():
        said.append(f"{joined(group)}: {caution}.")
    if level is not None:
        doubt = ", which is low, so the data may have no clear clusters" if weak else ""
        said.append(f"At this k the members agree at {level[0]} {level[1]:.2f}{doubt}.")
    said += _if_largest(vote.k, choice.ks)
    if choice.ks[0] > 1:
        said.append("These criteria cannot show that there are no clusters.")
    return said


def is_clear(choice: KChoice) -> bool:
    """Whether a vote is clear: most criteria agree, few of them are tied, and the members agree well there."""
    vote, voters = choice.vote, choice.voters
    level = _level(choice, vote.k)
    firm = [c for c in voters if c.best == vote.k and not c.near]
    return (
        len(voters) > 1
        and vote.share >= 0.8
        and 2 * len(firm) >= vote.counts[vote.k]
        and not (level is not None and level[1] < WEAK)
        and any(c.caution != CRISP for c in firm)
    )


def _counted_votes(many: int, of: int) -> str:
    return "the only criterion with a preference favours" if of == 1 else f"{many} of {of} criteria favour"


def _by_caution(criteria: Iterable[Criterion]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for c in criteria:
        if c.caution:
            found.setdefault(c.caution, []).append(c.name)
    return found


def _level(choice: KChoice, k: int) -> tuple[str, float] | None:
    """How well the members agree at this k, by a criterion that is 0 for independent and 1 for identical members."""
    soft = any(e.is_soft for e in choice.ensembles.values())
    for c in choice.criteria.values():
        measure, _, form = c.name.partition("/")
        level = measure in names() and "baseline" in find(measure).axioms and bool(form) == soft
        if (level or c.name == "stability") and k in choice.ensembles:
            return c.name, float(c.values[choice.ks.index(k)])
    return None
