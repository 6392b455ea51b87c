"""The sentences of the report, written from the data of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.comparison.presenting import number
from congruence.errors import counted, joined, some_of
from congruence.reporting.answer import FOUND
from congruence.reporting.families import middle_of
from congruence.reporting.members import Member, is_adjusted
from congruence.reporting.model import Model
from congruence.reporting.phrases import Fact, in_words, plain_name, said, shown
from congruence.selection.choice import Judged, KChoice, Verdict
from congruence.selection.sentences import is_clear
from congruence.statistics.tables import Array


@dataclass(frozen=True)
class Summary:
    """The text of a report: the answer, which clustering to use, the next command, up to three figures, findings, and so on."""

    answer: str
    figures: tuple[tuple[str, str], ...]
    findings: tuple[str, ...]
    stands_out: tuple[str, ...]
    careful: tuple[str, ...]
    use: str = ""
    next_command: str = ""


def summary(model: Model) -> Summary:
    """The plain-language summary of a report."""
    return Summary(
        answer(model),
        figures(model),
        findings(model),
        stands_out(model),
        careful(model),
        use(model),
        next_command(model),
    )


def listed(words: Sequence[str], most: int = 4) -> str:
    """“a”, “b” and “c”, or “a”, “b”, “c”, “d” and 7 more."""
    quoted = [f"“{word}”" for word in words]
    return some_of(quoted, most) if len(quoted) > most else joined(quoted)


def span_of(ks: Sequence[int]) -> str:
    """3, or 2 to 5."""
    return f"{min(ks):,}" if min(ks) == max(ks) else f"{min(ks):,} to {max(ks):,}"


def _own(model: Model) -> list[int]:
    return [i for i, m in enumerate(model.members) if not m.is_reference]


def _values(model: Model) -> Array:
    """Agreement over the pairs of counted members."""
    count = list(model.counted)
    values = model.agreement[np.ix_(count, count)][np.triu_indices(len(count), 1)]
    return np.asarray(values[~np.isnan(values)])


# --- the answer -------------------------------------------------------------------------------------------------


def answer(model: Model) -> str:
    """One or two sentences: whether the clusterings agree, on how many groups, and how many points are disputed."""
    a, own = model.answer, [model.members[i] for i in _own(model)]
    plain = sum(not m.trivial for m in own)
    facts: dict[str, Fact] = {
        "is_pair": a.is_pair, "many": len(model.counted), "plain": plain, "alike": plain or len(own), "k": a.k,
        "consistent": a.consistent, "disputed": len(a.disputed), "chance": a.chance.consistent,
        "is_beyond": a.is_beyond_chance, "shown": len(model.members), "smallest": int(a.sizes.min(initial=model.n_points)),
        "largest": int(a.sizes.max(initial=0)),
    }  # fmt: skip
    if a.is_pair:
        other, first = a.counted[0], model.names.index(a.by)
        facts |= {
            "other": model.names[other], "by": a.by, "is_reference": model.members[first].is_reference,
            "value": float(model.agreement[first, other]), "is_adjusted": is_adjusted(model.main.measure),
            "is_same": first == other or (model.members[other].same_as == first and first != model.reference),
        }  # fmt: skip
    else:
        unstable = sum(in_words(x, "stability") == "unstable" for x in a.firmness)
        further = sum(model.members[i].k > a.k for i in a.counted if a.agreement[i] >= FOUND)
        facts |= {
            "is_same": all(model.members[i].same_as == _first(model) for i in model.counted[1:]),
            "found": a.n_found, "share": a.n_found / len(model.counted), "unstable": unstable, "stable": a.k - unstable,
            "split": further / max(a.n_found, 1), **_of_families(model), **_of_reference(model),
        }  # fmt: skip
    return said("answer", facts)


def _first(model: Model) -> int:
    """The first clustering with the partition of the first counted one."""
    same = model.members[model.counted[0]].same_as
    return model.counted[0] if same is None else same


def _of_families(model: Model) -> dict[str, Fact]:
    f = model.families
    if f is None:
        return {"families": 0}
    parts = [said("family", {"many": len(group), "name": name}) for group, name in zip(f.members, f.names, strict=True)]
    return {
        "families": len(parts),
        "inside": f.inside,
        "across": f.across,
        "listed": some_of(parts, 4) if parts[4:] else joined(parts),
    }


def _of_reference(model: Model) -> dict[str, Fact]:
    """The best and the typical agreement of the counted clusterings with the reference, if it is an adjusted index."""
    rows = [] if model.against is None else [r for r in model.against.rows if r.member in set(model.counted)]
    values = [r.agreement for r in rows if not np.isnan(r.agreement)]
    if not values or not is_adjusted(model.main.measure):
        return {"best": np.nan}
    return {"best_name": model.names[rows[0].member], "best": values[0], "typical": float(np.median(values))}


def use(model: Model) -> str:
    """Which clustering to use, and why; empty if there are fewer than three."""
    if model.answer.is_pair:
        return ""
    facts: dict[str, Fact] = {"many": len(model.counted), "related": model.pick is not None, "families": 0}
    if model.families is not None:
        first, second = model.families.middle[:2]
        facts |= {"families": len(model.families.members), "first": model.names[first], "second": model.names[second]}
    elif model.pick is not None:
        facts |= {"name": model.names[model.pick[0]]}
    return said("use", facts)


def next_command(model: Model) -> str:
    """The next command for the file of the report; the call in Python if there is none."""
    from shlex import join, quote

    pair = () if model.families is None else tuple(model.names[i] for i in model.families.middle[:2])
    if model.answer.is_pair:
        others = [name for name in (model.names[model.answer.counted[0]], *model.names) if name != model.answer.by]
        pair = (model.answer.by, others[0]) if others else ()
    if len(model.members) == 1:
        if model.points.place is not None:
            return ""
        file = model.source and quote(model.source)
        return f"congruence report {file} --data numbers.csv" if file else "cg.report(clusterings, data=X)"
    if model.source is None:
        return (
            f"cg.compare(clusterings[{pair[0]!r}], clusterings[{pair[1]!r}])"
            if pair
            else "cg.consensus(clusterings, random_state=0).labels"
        )
    if pair:
        return f"congruence compare {join([model.source, *pair])} {model.options}".strip()
    return f"congruence consensus {quote(model.source)} --out consensus.csv"


def figures(model: Model) -> tuple[tuple[str, str], ...]:
    """Up to three numbers with their labels."""
    found: list[tuple[float, str, dict[str, Fact]]] = []
    values, m = _values(model), model.main.measure
    measure: dict[str, Fact] = {"is_adjusted": is_adjusted(m), "measure": plain_name(m)}
    if len(values):
        found.append((float(np.median(values)), "typical", {**measure, "pairs": len(values)}))
    recovered = _of_reference(model)
    if "typical" in recovered and len(model.counted) > 2:
        found.append((float(recovered["typical"]), "ordinary", measure))
    elif len(model.counted) > 2:
        best = model.members[model.central]
        found.append((best.mean, "central", {"name": best.name}))
    if model.against is not None and not np.isnan(model.against.rows[0].agreement):
        rows = model.against.rows
        tied = sum(abs(r.agreement - rows[0].agreement) < 1e-9 for r in rows)
        facts: dict[str, Fact] = {"name": model.names[rows[0].member], "rows": len(rows), "tied": tied}
        found.append((rows[0].agreement, "closest", {**measure, **facts}))
    return tuple((shown(value, "two"), said(key, facts)) for value, key, facts in found)


# --- how many clusters ------------------------------------------------------------------------------------------


def how_many(model: Model) -> tuple[str, str]:
    """The verdict on the number of clusters, of four kinds (clear, probable, tie, cannot tell), and a sentence."""
    ks = sorted({model.members[i].k for i in model.counted})
    t = model.together
    choice = None if t is None else t.choice
    if len(ks) == 1:
        return "cannot tell", (
            f"All clusterings have {counted(ks[0], 'cluster')}, so the file cannot show whether another number fits better."
        )
    if choice is None:
        return "cannot tell", Judged.doubt(
            f"The clusterings have {span_of(ks)} clusters. A verdict needs at least two numbers of clusters with at "
            "least two clusterings each, and no points without a label; `congruence choose-k` decides from data.", ". ",
        )  # fmt: skip
    if 2 * len(choice.ks) < len(ks):
        return "cannot tell", Judged.doubt(
            f"The clusterings have {span_of(ks)} clusters, but only {joined(choice.ks)} occur more than once.", ". "
        )
    if choice.k is None or choice.verdict == Verdict.CANNOT_TELL:
        return "cannot tell", choice.sentence
    if choice.verdict == Verdict.TIE:
        both = f"between {choice.k} and {choice.runner_up} clusters: the criteria favour both equally."
        return "tie", Judged("Tie", " ", both)
    largest, votes = max(choice.ks), choice.vote
    if choice.k == largest and ks[-1] > largest:
        return "cannot tell", Judged.doubt(
            f"Of the numbers with at least two clusterings ({span_of(choice.ks)}), {largest} fits best, but the file goes up to "
            f"{ks[-1]}, with one clustering each.", ". ",
        )  # fmt: skip
    favoured = ", ".join(f"{k} ({count})" for k, count in votes.counts.items())
    if votes.share <= 0.5:
        return "cannot tell", Judged.doubt(f"The criteria favour different numbers of clusters: {favoured}.", ". ")
    share = f"{votes.counts[choice.k]} of {sum(votes.counts.values())}"
    last = ", the largest in the file" if choice.k == ks[-1] else ""
    said = f"{counted(choice.k, 'cluster')}: {share} criteria favour this number{last}."
    return ("clear", said) if is_clear(choice) else ("probable", f"Probably {said}")


def of_data(model: Model) -> tuple[str, str, str] | None:
    """The number of clusters in the data: the verdict of `choose_k`, its sentence, and what it means for the clusterings.

    None without data.
    """
    if model.support is None:
        return None
    choice = model.support.choice
    if choice is None:
        return str(Verdict.CANNOT_TELL), Judged.doubt(f"{model.support.left_out}."), ""
    return str(choice.verdict), choice.sentence, _for_clusterings(model, choice)


def scales(model: Model) -> str:
    """That one column dominates the distances, which is said before the verdict on the data; otherwise empty."""
    return "" if model.support is None else "".join(f"{x[0].upper()}{x[1:]}. " for x in model.support.scales)


def _for_clusterings(model: Model, choice: KChoice) -> str:
    """Which of the counted clusterings have the number of clusters that the data support."""
    ks = {i: model.members[i].k for i in model.counted}
    if choice.k is None or choice.verdict is Verdict.CANNOT_TELL:
        return ""
    if choice.verdict is Verdict.NONE:
        divided = sum(k > 1 for k in ks.values())
        if not divided:
            return ""
        units = " in these units" if model.support is not None and model.support.scales else ""
        if len(ks) == 1:
            return f"The clustering divides one group{units}."
        return f"{divided:,} of {len(ks):,} clusterings divide one group{units}; their agreement is not evidence of clusters."
    supported = sorted({choice.k, *([choice.runner_up] if choice.verdict is Verdict.TIE and choice.runner_up else [])})
    having = {k: [model.names[i] for i in ks if ks[i] == k] for k in supported}
    parts = [f"{k} ({listed(names)})" for k, names in having.items() if names]
    wanted = joined(supported, "or")
    if parts:
        has = (
            f"{joined(parts)} clusters" if len(supported) > 1 else f"{wanted} clusters: {listed(having[supported[0]])}"
        )
        many = sum(map(len, having.values()))
        said = f"{many:,} of {counted(len(ks), 'clustering')} ha{'s' if many == 1 else 've'} {has}."
    else:
        said = f"No clustering has {wanted}: they have {span_of(list(ks.values()))}."
    if model.support is not None and model.support.nearest is not None:
        place, value = model.support.nearest
        said += f" Closest to the {choice.k} clusters found is “{model.names[place]}” (agreement {number(value, 2)})."
    return said


# --- findings ---------------------------------------------------------------------------------------------------


def findings(model: Model) -> tuple[str, ...]:
    """How many clusterings, how much they agree, which groups there are, which is most central, how many clusters."""
    own, m = _own(model), model.main.measure
    ks = [model.members[i].k for i in own]
    there = "is" if len(own) == 1 else "are"
    what = f"{counted(len(own), 'clustering')} of {counted(model.n_points, 'point')}"
    many = f"{ks[0]:,} and {ks[1]:,}" if len(ks) == 2 and ks[0] != ks[1] else span_of(ks)
    first = f"There {there} {what}, with {many} cluster{'' if set(ks) == {1} else 's'}."
    if model.against is not None:
        has = counted(model.members[0].k, "cluster")
        whom = "It is" if len(own) == 1 else "They are"
        first += f" {whom} compared with the reference “{model.against.name}”, which has {has}."
    said = [first]
    said += _set_aside(model)
    values = _values(model)
    if len(values):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        spread = f"the median {plain_name(m)} of a pair is" if len(values) > 1 else f"their {plain_name(m)} is"
        spread += f" {number(middle, 2)}"
        if len(values) > 2:
            spread += f", and half of the pairs lie between {number(low, 2)} and {number(high, 2)}"
        if is_adjusted(m):
            said.append(
                f"They agree {in_words(middle, 'reading')}: {spread}. Unrelated clusterings have 0, identical ones 1."
            )
        else:
            said.append(f"{spread[0].upper()}{spread[1:]} ({m.better} is better).")
    if len(model.counted) > 2:
        said += _groups(model)
        best = model.members[model.central]
        said.append(
            f"The most central is “{best.name}” ({counted(best.k, 'cluster')}): its mean agreement with the others is "
            f"{number(best.mean, 2)}."
        )
    if model.pick is not None:
        place, value = model.pick
        text = f"“{model.names[place]}” agrees best with the others and their consensus: {number(value, 2)} on average"
        rows = [] if model.against is None else [r.agreement for r in model.against.rows if r.member == place]
        said.append(text + "".join(f", with the reference {number(x, 2)}" for x in rows if not np.isnan(x)) + ".")
    if model.against is not None and not np.isnan(model.against.rows[0].agreement):
        said.append(_nearest(model))
    if len(model.members) == 1:
        said.append(f"By cluster: {some_of([_of_group(model, c) for c in range(model.answer.k)], 20)}.")
    data = of_data(model)
    if data is not None:
        said.append(f"By the data: {scales(model)}{' '.join(data[1:])}".rstrip())
    if model.check is not None:
        said.append(f"The groups in the data: {model.check.sentence}")
    if model.together is not None and not model.answer.is_pair:
        alone = how_many(model)[1]
        said.append(alone if data is None else f"By the clusterings alone (less reliable): {alone}")
    return tuple(said)


def _of_group(model: Model, c: int) -> str:
    """“a” has 69 points, a silhouette of 0.31 and a stability of 0.92."""
    parts = [counted(int(model.answer.sizes[c]), "point")]
    parts += [] if model.silhouettes is None else [f"a silhouette of {number(model.silhouettes[c], 2)}"]
    parts += [] if model.check is None else [f"a stability of {number(model.check.stability[c], 2)}"]
    return f"“{model.groups_called[c]}” has {joined(parts)}"


def _set_aside(model: Model) -> list[str]:
    """How many clusterings are not counted, and why."""
    aside = [model.members[i] for i in _own(model) if i not in model.counted]
    if not aside:
        return []
    trivial = sum(bool(m.trivial) for m in aside)
    copies = len(aside) - trivial
    if len(aside) == 1:
        return [
            f"One clustering is not counted because it is {'near-trivial' if trivial else 'a duplicate'} (see below)."
        ]
    both = f"{trivial:,} near-trivial, {counted(copies, 'duplicate')}"
    why = both if trivial and copies else "near-trivial" if trivial else "duplicates"
    return [f"{len(aside):,} clusterings are not counted: {why} (see below)."]


def _nearest(model: Model) -> str:
    assert model.against is not None
    rows = model.against.rows
    top = [r for r in rows if abs(r.agreement - rows[0].agreement) < 1e-9]
    who = listed([model.names[r.member] for r in top])
    text = (
        f"Closest to the reference {'is' if len(top) == 1 else 'are'} {who} (agreement {number(rows[0].agreement, 2)}"
    )
    if rows[0].interval is not None:
        text += f", 95% interval {number(rows[0].interval[0], 2)} to {number(rows[0].interval[1], 2)}"
    p = rows[0].p_corrected
    return text + (f"; p = {p:.2g}, which chance may explain)." if p is not None and p >= 0.01 else ").")


def _groups(model: Model) -> list[str]:
    groups = [group for group in model.groups if len(group) > 1]
    if len(model.groups) < 2 or not groups:
        return []
    middles = [model.names[middle_of(model.agreement, group)] for group in groups]
    parts = [f"{len(group)} around “{name}”" for group, name in zip(groups, middles, strict=True)]
    rest = len(model.counted) - sum(len(g) for g in groups)
    if len(groups) == 1:
        others = "the other one does not" if rest == 1 else f"the other {rest:,} do not"
        return [f"Clusterings that agree with one another: {parts[0]}; {others}."]
    alone = "; the other one agrees with no group" if rest == 1 else f"; the other {rest:,} agree with no group"
    more = alone if rest else ""
    return [f"The clusterings form {len(groups)} groups that agree among themselves: {'; '.join(parts)}{more}."]


# --- what stands out --------------------------------------------------------------------------------------------


def stands_out(model: Model) -> tuple[str, ...]:
    """Duplicates, near-trivial members, noise, a member unlike all others, disputed points."""
    own = _own(model)
    said = []
    copies: dict[int, list[int]] = {}
    for i in own:
        first = model.members[i].same_as
        if first is not None:
            copies.setdefault(first, []).append(i)
    reference_copies = copies.pop(0, []) if model.reference == 0 else []
    if reference_copies:
        said.append(f"The same partition as the reference: {listed([model.names[i] for i in reference_copies])}.")
    if copies:
        largest = max(copies, key=lambda i: len(copies[i]))
        extra = sum(len(x) for x in copies.values())
        shown = listed([model.names[i] for i in (largest, *copies[largest])])
        what = "one is the same partition as another" if extra == 1 else f"{extra} are the same partition as another"
        said.append(f"Duplicates: {what} ({'for example ' if len(copies) > 1 else ''}{shown}).")
    trivial: dict[str, list[Member]] = {}  # by kind
    for one in (model.members[i] for i in own):
        if one.trivial:
            trivial.setdefault(one.trivial.text, []).append(one)
    if trivial:
        parts = []
        for found in trivial.values():
            values = sorted({x.trivial.subject for x in found})
            why = found[0].trivial.about(" to ".join(dict.fromkeys((values[0], values[-1]))))
            parts.append(f"{listed([x.name for x in found])} ({why})")
        said.append(
            f"Near-trivial: {'; '.join(parts)}. Such a clustering says almost nothing about which points belong together."
        )
    gaps = [i for i in range(len(model.members)) if model.members[i].n_assigned < model.n_points]
    if gaps:
        worst = min(gaps, key=lambda i: model.members[i].n_assigned)
        share = 1 - model.members[worst].n_assigned / model.n_points
        who = listed([model.names[i] for i in gaps])
        said.append(
            f"Points without a label (missing, or noise) in {counted(len(gaps), 'clustering')}: {who}"
            + (f"; most in “{model.names[worst]}”" if len(gaps) > 1 else "")
            + f" ({share:.1%} of the points)."
        )
    said += _unlike(model)
    return tuple(said)


def _unlike(model: Model) -> list[str]:
    """Members that are unusually far from their nearest member."""
    if len(model.counted) < 4:
        return []
    m = model.main.measure
    apart = {
        i: m.range[1] - model.members[i].nearest if m.better == "higher" else model.members[i].nearest
        for i in model.counted
    }
    pairs = _values(model)  # farther from its nearest member than two members usually are from each other
    if not len(pairs):
        return []
    usual = float(np.median(m.range[1] - pairs if m.better == "higher" else pairs))
    far = sorted((i for i, x in apart.items() if x > usual + 1e-9), key=lambda i: -apart[i])
    if not far or len(far) > len(model.counted) / 4:
        return []
    shown = [f"“{model.names[i]}” (agreement with the nearest {number(model.members[i].nearest, 2)})" for i in far[:3]]
    more = f", and {len(far) - 3} more" if len(far) > 3 else ""
    return [f"Unlike all others: {', '.join(shown)}{more}."]


def careful(model: Model) -> tuple[str, ...]:
    """Cautions for the reader."""
    own, found = _own(model), []
    ks = [model.members[i].k for i in own]
    if min(ks) != max(ks):
        shown = [s.measure for s in model.scales]
        others = [m for m in shown if not is_adjusted(m)]
        fair = [plain_name(m) for m in shown if is_adjusted(m)]
        if others:
            first = f"; trust {' and '.join(fair)} first" if fair else ""
            found.append(
                f"The clusterings have {span_of(ks)} clusters. Measures that are not corrected for chance change "
                f"with that number alone: {joined(plain_name(m) for m in others)}{first}."
            )
    if any(m.is_soft for m in model.members):
        found.append(
            "Soft clusterings do not reach the best value of most measures even with themselves. Where they do not, agreement "
            "is relative to the self-scores, and a point counts for the cluster of its largest membership."
        )
    if 1 < len(own) < 10:
        found.append(f"{len(own)} clusterings are few: a consensus of dozens is more reliable.")
    if model.n_points < 50:
        found.append(f"With {counted(model.n_points, 'point')} each point changes the values noticeably.")
    if model.pairs.labels is None:
        found.append(
            f"{said('too_large', {})}. It shows pairs with the reference or the most central clustering, and the "
            "command for other pairs; hiding a clustering changes the agreement, not the groups."
        )
    if not model.main.tree.is_optimal:
        found.append("There are too many clusterings for the optimal order of rows; they are in the order of the tree.")
    return (*found, *(f"{c[0].upper()}{c[1:]}{'' if c.endswith('.') else '.'}" for c in model.cautions))
