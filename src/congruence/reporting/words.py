"""What the report says in words, sentence by sentence, from the data of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from congruence.comparison.results import counted, number
from congruence.formulas.record import Measure
from congruence.reporting.model import Model

#: how people read an adjusted index (after Steinley 2004, doi:10.1037/1082-989X.9.3.386)
READINGS = (
    (0.9, "almost completely"),
    (0.8, "well"),
    (0.65, "moderately"),
    (0.4, "partly"),
    (0.2, "weakly"),
    (-1.0, "hardly more than by chance"),
)


@dataclass(frozen=True)
class Summary:
    """The first part of the page: a few numbers, what was found, what stands out, what to be careful about."""

    figures: tuple[tuple[str, str], ...]
    findings: tuple[str, ...]
    stands_out: tuple[str, ...]
    careful: tuple[str, ...]


def summary(model: Model) -> Summary:
    """The plain-language summary of a report."""
    return Summary(figures(model), findings(model), stands_out(model), careful(model))


def listed(words: Sequence[str], most: int = 4) -> str:
    """“a”, “b” and “c”, or “a”, “b”, “c”, “d” and 7 more."""
    shown = [f"“{word}”" for word in words[:most]]
    if len(words) > most:
        return f"{', '.join(shown)} and {len(words) - most} more"
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)


def _own(model: Model) -> list[int]:
    return [i for i, m in enumerate(model.members) if not m.is_reference]


def _values(model: Model) -> np.ndarray:
    """Values of the first measure over the pairs of members, without the reference."""
    own = _own(model)
    square = model.square(model.main)[np.ix_(own, own)]
    values = square[np.triu_indices(len(own), 1)]
    return np.asarray(values[~np.isnan(values)])


def span_of(ks: Sequence[int]) -> str:
    """'3', or '2 to 8'."""
    return str(min(ks)) if min(ks) == max(ks) else f"{min(ks)} to {max(ks)}"


def reading(value: float) -> str:
    """How much two clusterings agree, in words, by an index that is 0 for chance and 1 for identical ones."""
    return next(word for low, word in READINGS if value >= low or low == -1.0)


def is_adjusted(m: Measure) -> bool:
    """Is it 0 for what chance gives, whatever the numbers of clusters?"""
    return "baseline" in m.axioms


def figures(model: Model) -> tuple[tuple[str, str], ...]:
    """The numbers at the top."""
    own = _own(model)
    found = [
        (f"{len(own):,}", "clustering" if len(own) == 1 else "clusterings"),
        (f"{model.n_points:,}", "points"),
        (span_of([model.members[i].k for i in own]), "clusters each"),
    ]
    values = _values(model)
    if len(values):
        found.append((number(float(np.median(values))), f"median {model.main.measure.key} of two of them"))
    if model.together is not None:
        found.append(
            (number(model.together.certainty), f"certainty (random members: {number(model.together.random_certainty)})")
        )
    if model.against is not None:
        best = model.against.rows[0].values[model.main.measure.key]
        found.append((number(best), f"best {model.main.measure.key} with {model.against.name}"))
    return tuple(found)


def findings(model: Model) -> tuple[str, ...]:
    """How many, how much they agree, which groups there are, which member is most central."""
    own, m = _own(model), model.main.measure
    names = model.names
    ks = [model.members[i].k for i in own]
    distinct = len({model.members[i].same_as if model.members[i].same_as is not None else i for i in own})
    there = "is" if len(own) == 1 else "are"
    what = f"{counted(len(own), 'clustering')} of {counted(model.n_points, 'point')}"
    first = f"There {there} {what}, with {span_of(ks)} cluster{'' if set(ks) == {1} else 's'}"
    first += f" ({counted(distinct, 'different one')})." if distinct < len(own) else "."
    if model.against is not None:
        has = counted(model.members[0].k, "cluster")
        held = "It is" if len(own) == 1 else "They are"
        first += f" {held} held against the reference “{model.against.name}”, which has {has}."
    said = [first]
    values = _values(model)
    if len(values):
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
        spread = f"the median {m.title} of two of them is {number(middle)}"
        if len(values) > 2:
            spread += f", and half of the pairs lie between {number(low)} and {number(high)}"
        if is_adjusted(m):
            said.append(
                f"They agree {reading(middle)}: {spread}. 0 is what chance gives, 1 would be identical clusterings."
            )
        else:
            said.append(f"{spread[0].upper()}{spread[1:]} ({m.better} is better).")
    if len(own) > 2:
        said += _groups(model)
        best = model.members[model.central]
        said.append(
            f"The most central is “{best.name}” ({counted(best.k, 'cluster')}): "
            f"its mean {m.key} with the others is {number(best.mean)}. "
            "If one clustering has to stand for all, start from it, or from the consensus below."
        )
    if model.against is not None and not np.isnan(model.against.rows[0].values[m.key]):
        row = model.against.rows[0]
        text = f"Nearest to the reference is “{names[row.member]}” ({m.key} {number(row.values[m.key])}"
        if row.interval is not None:
            text += f", 95% interval {number(row.interval[0])} to {number(row.interval[1])}"
        said.append(text + ").")
    if model.together is not None:
        said += _consensus(model)
    return tuple(said)


def _groups(model: Model) -> list[str]:
    m = model.main.measure
    if len(model.groups) < 2:
        return ["There are no clear groups of clusterings: they lie around one another without a gap."]
    square = model.square(model.main)
    parts = []
    for group in model.groups:
        inside = square[np.ix_(group, group)][np.triu_indices(len(group), 1)]
        inside = inside[~np.isnan(inside)]
        sums = np.nansum(square[np.ix_(group, group)], axis=1)
        middle = group[int(np.argmax(sums if m.better == "higher" else -sums))]
        text = f"{len(group)} around “{model.names[middle]}”" if len(group) > 1 else f"“{model.names[group[0]]}” alone"
        parts.append(text + (f" (median {m.key} {number(float(np.median(inside)))})" if len(inside) else ""))
    return [f"The clusterings fall into {len(model.groups)} groups: {'; '.join(parts)}."]


def _consensus(model: Model) -> list[str]:
    t = model.together
    assert t is not None
    found = []
    if t.certainty > t.random_certainty + 0.05:
        compared = "more than"
    else:
        compared = "no more than" if t.certainty <= t.random_certainty + 0.005 else "little more than"
    found.append(
        f"Over pairs of points the ensemble has a certainty of {number(t.certainty)}, {compared} members drawn at random would "
        f"({number(t.random_certainty)}); {t.pac:.0%} of the pairs of points are ambiguous."
    )
    if t.choice is not None:
        found.append(f"How many clusters: {t.choice.recommendation}")
    if t.best is not None:
        found.append(
            f"The consensus of {counted(t.n_clusters, 'cluster')} ({t.why_n_clusters}) that fits the members best "
            f"is by {t.best.method} "
            f"(arimp {number(float(t.best['arimp']))})."
        )
    return found


def stands_out(model: Model) -> tuple[str, ...]:
    """Duplicates, members of one cluster or of single points, noise, a member unlike all others, unstable points."""
    own, m = _own(model), model.main.measure
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
        said.append(f"Duplicates: {what} ({'as in ' if len(copies) > 1 else ''}{shown}).")
    lonely = [model.names[i] for i in own if model.members[i].k == 1]
    if lonely:
        said.append(
            f"All points in one cluster: {listed(lonely)}. Such a member says nothing of which points belong together."
        )
    single = [model.names[i] for i in own if 1 < model.members[i].k == model.members[i].n_assigned]
    if single:
        said.append(
            f"Every point a cluster of its own: {listed(single)}. A column that names the points belongs in `ids` (`--id`)."
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
    said += _unlike(model, own)
    if model.points is not None and len(model.points.unstable):
        p = model.points
        low = int(np.nansum(p.scores < 0.5))
        if low:
            which = "all points" if low == len(p.scores) else f"{counted(low, 'point')} ({low / len(p.scores):.1%})"
            said.append(f"On {which} two members agree by less than half on average; the points part lists the worst.")
    if not said:
        said.append(f"Nothing: no duplicates, no trivial members, and none unlike all others (by {m.key}).")
    return tuple(said)


def _unlike(model: Model, own: Sequence[int]) -> list[str]:
    """Members whose nearest other member is far away, measured by what is usual."""
    if len(own) < 4:
        return []
    m = model.main.measure
    nearest = np.array([model.members[i].nearest for i in own])
    apart = (m.range[1] - nearest) if m.better == "higher" else nearest
    known = apart[~np.isnan(apart)]
    if not len(known):
        return []
    pairs = _values(model)  # farther from its nearest than two members usually are from one another
    usual = float(np.median(m.range[1] - pairs if m.better == "higher" else pairs))
    far = [i for i, x in zip(own, apart.tolist(), strict=True) if x > usual + 1e-9]
    if not far:
        return []
    far.sort(key=lambda i: -abs(m.best - model.members[i].nearest))
    shown = [f"“{model.names[i]}” (its nearest is at {m.key} {number(model.members[i].nearest)})" for i in far[:3]]
    more = f", and {len(far) - 3} more" if len(far) > 3 else ""
    return [f"Unlike all others: {', '.join(shown)}{more}."]


def careful(model: Model) -> tuple[str, ...]:
    """What a reader should keep in mind."""
    own, said = _own(model), []
    ks = [model.members[i].k for i in own]
    if min(ks) != max(ks):
        shown = [s.measure for s in model.scales]
        fair = [m.key for m in shown if is_adjusted(m)]
        first = f"; trust {' and '.join(fair)} first" if fair else ""
        others = ", ".join(m.key for m in shown if not is_adjusted(m))
        if others:
            said.append(
                f"The clusterings have {span_of(ks)} clusters. Measures that are not corrected for chance ({others}) move "
                f"with that number alone{first}."
            )
    if any(m.is_soft for m in model.members):
        said.append(
            "Soft clusterings do not reach the best value even with themselves; compare values with one another, not with 1."
        )
    if 1 < len(own) < 10:
        said.append(f"{len(own)} members are few: the certainty of an ensemble and its baseline mean more with dozens.")
    if model.n_points < 50:
        said.append(f"With {counted(model.n_points, 'point')} single points move the values a good deal.")
    if model.pairs.labels is None:
        said.append(
            "The labels are too large to be in this page: pairs with the reference or the most central member can be looked at "
            "here, for others the page shows the command."
        )
    if not model.main.tree.is_optimal:
        said.append("There are too many clusterings for the best order of rows; they stand in the order of the tree.")
    return (*said, *(f"{c[0].upper()}{c[1:]}{'' if c.endswith('.') else '.'}" for c in model.cautions))
