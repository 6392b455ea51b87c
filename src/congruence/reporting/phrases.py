"""The phrases of the reports: one table, from which Python and the script of the page fill the same sentences."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping

from congruence.comparison.presenting import number
from congruence.formulas.record import Measure

#: a phrase, or phrases by condition: the first one whose conditions hold is used
Phrase = str | dict[str, str]
#: what a phrase may name
Fact = str | float | bool

#: plain names of measures
PLAIN = {
    "ari": "agreement (adjusted Rand)",
    "ari_gram": "agreement (adjusted Rand of memberships)",
    "fari": "agreement (Frobenius adjusted Rand)",
    "ami_max": "chance-adjusted shared information",
    "nmi_sum": "normalised shared information",
    "vi": "distance (variation of information)",
    "jaccard": "pairs in common (Jaccard)",
    "element_centric": "agreement point by point (element-centric)",
    "wallace": "pairs kept (Fowlkes–Mallows)",
}

#: words for values, by their lower limits: of an adjusted index (after Steinley 2004, doi:10.1037/1082-989X.9.3.386), and of
#: the stability of a cluster (after Hennig 2007, doi:10.1016/j.csda.2006.11.025)
BANDS = {
    "reading": (
        (0.9, "almost completely"), (0.8, "well"), (0.65, "moderately"), (0.4, "partly"), (0.2, "weakly"),
        (-1.0, "hardly at all"),
    ),
    "stability": ((0.85, "very stable"), (0.75, "stable"), (0.6, "uncertain"), (-1.0, "unstable")),
}  # fmt: skip

#: in a phrase, {name} is a fact or another phrase, {name:format} a number as percentage, with two or four decimals or in the
#: words of a band, and {name|one|many} a word that depends on the number; "" is used if no other condition holds
PHRASES: dict[str, Phrase] = {
    "answer": {
        "many = 0": "Every clustering is hidden.",
        "is_pair = 0, is_same = 0": "{recovered}{shared}",
        "is_pair = 0": "{recovered}All {alike} clusterings are the same: {k} {k|group|groups}.",
        "shown = 1": "“{other}” has {k} {k|cluster|clusters}{of_sizes}.",
        "is_same = 1, many = 1, alike = 1": "Only “{other}” counts: {k} {k|group|groups}.",
        "is_same = 1, alike = 2": "Both clusterings are the same: {k} {k|group|groups}.",
        "is_same = 1": "All {alike} clusterings are the same: {k} {k|group|groups}.",
        "value = undefined": "{both} have no point in common.",
        "": "{both} {agree}. {consistent:percent} of the points are in matching clusters "
        "(unrelated clusterings of these sizes: {chance:percent}){rest}.",
    },
    "of_sizes": {"k = 1": " of {largest} points", "": " of {smallest} to {largest} points"},
    "recovered": {
        "best = undefined": "",
        "": "“{best_name}” recovers the reference {best:reading}, a typical clustering {typical:reading}. ",
    },
    "shared": {
        "families > 1": "The clusterings form {families} families that agree inside ({inside:two} or more) and not across "
        "({across:two} or less): {listed}.",
        "": "{groups_found} {placement}",
    },
    "both": {"is_reference = 1": "“{other}” and the reference “{by}”", "": "“{other}” and “{by}”"},
    "agree": {"is_adjusted = 1": "agree {value:reading}", "": "have a value of {value:four}"},
    "rest": {"disputed = 0": "", "": "; {disputed} {disputed|is|are} not"},
    "groups_found": {
        "share < 0.2": "These {clusterings} do not find the same groups.",
        "share > 0.5, unstable = k": "These {clusterings} do not find the same groups.",
        "share <= 0.5": "Only {found} of these {clusterings} {found|finds|find} the same {k} {k|group|groups}.",
        "unstable = 1": "{most} of these {clusterings} agree on {stable} of {k} groups; the other one is unstable.",
        "unstable > 1": "{most} of these {clusterings} agree on {stable} of {k} groups; the other {unstable} are unstable.",
        "split > 0.5": "{most} of these {clusterings} find the same {k} {k|group|groups}, and most of them split these further.",
        "": "{most} of these {clusterings} find the same {k} {k|group|groups}.",
    },
    "clusterings": {"many < plain": "{many} different clusterings", "": "{many} clusterings"},
    "most": {"share = 1": "All", "share >= 0.8": "Nearly all", "": "Most"},
    "placement": {
        "consistent = undefined": "No point is in any of them.",
        "is_beyond = 0": "Three quarters of them place {consistent:percent} of the points alike, as unrelated clusterings of "
        "these sizes do ({chance:percent}): no point can be called consistent or disputed.",
        "disputed = 0": "Every point is placed consistently (by unrelated clusterings of these sizes: {chance:percent}).",
        "": "{consistent:percent} of the points are placed consistently (by unrelated clusterings of these sizes: "
        "{chance:percent}); {disputed} {disputed|is|are} disputed.",
    },
    "use": {
        "many < 3": "",
        "families > 1": "Compare “{first}” with “{second}”, one of each family, before you use one.",
        "related = 0": "Use none of them as it is: they agree no more than unrelated clusterings do.",
        "": "Use “{name}”: it agrees best with the others and their consensus.",
    },
    "what": {"is_adjusted = 1": "agreement", "": "{measure}"},
    "typical": {"pairs = 1": "{what} of the two clusterings", "": "{what} of a typical pair of clusterings"},
    "central": "“{name}” agrees most with the others",
    "ordinary": "{what} of a typical clustering with the reference",
    "closest": {
        "rows = 1": "{what} with the reference",
        "tied > 1": "“{name}” and others agree most with the reference",
        "": "“{name}” agrees most with the reference",
    },
    "family": "{many} like “{name}”",
    "too_large": "The labels are too large for this page",
    "kept": {
        "is_partial = 1": "{too_large}: the groups are those of all clusterings.",
        "": "The groups are adapted from those of all clusterings.",
    },
    "cover_answer": {
        "is_adjusted = 0": "{covers_said}",
        "recovered = 1": "“{name}” recovers “{reference}” {value:reading}{doubt}.",
        "recovered > 1": "“{name}” recovers “{reference}” {value:reading}{doubt}, a typical cover {typical:reading}.",
        "covers = 2": "“{name}” and “{other}” agree {median:reading}.",
        "": "These {covers} covers agree {median:reading}: a typical pair has {median:two}, unrelated covers have 0.",
    },
    "doubt": {"p < 0.01": "", "p = undefined": "", "": " (as well as unrelated covers may, p = {p:two})"},
    "covers_said": "{covers} {covers|cover|covers} of {points} {points|point|points}: {measure} from {low:two} to {high:two}, "
    "median {median:two}.",
    "central_cover": "“{name}” agrees best with the others: {measure} {value:two} on average.",
    "closest_cover": "“{name}” agrees best with “{reference}”: {measure} {value:two}.",
    "uncovered": {
        "most = 0": "Every point is in a cluster of every cover.",
        "": "Points in no cluster: {least:percent} to {most:percent} per cover.",
    },
}

#: the terms of the reports; the question marks of the page show the same texts
TERMS = {
    "agreement": "1 for the same groups, about 0 for unrelated ones: the adjusted Rand index, or for soft clusterings "
    "the Frobenius adjusted Rand index.",
    "group": "a cluster of the consensus, as `congruence consensus` finds it, or with two clusterings a cluster of the first",
    "unrelated clusterings": "the same clusterings, the labels of each shuffled over the points, 5 to 19 times: what a figure "
    "is if nothing is there",
    "family": "clusterings that agree with one another by 0.3 or more (median), and with those of other families by at most a "
    "third of that",
    "finds the groups": "an adjusted Rand index of 0.65 or more with the groups; clusters that split a group count as one",
    "placed consistently": "at least three quarters of the clusterings put the point with its group",
    "disputed": "not placed consistently: fewer than three quarters of the clusterings put the point with its group",
    "stability": "of a group: the Jaccard similarity with the points that a clustering puts there, averaged over the "
    "clusterings. The words follow from how far it is above that of unrelated clusterings, as a share of what is possible: "
    "0.85 very stable, 0.75 stable, 0.6 uncertain",
    "silhouette": "how much nearer the points of a group are to their own group than to the next one: 1 is far apart, 0 is no "
    "nearer; groups put together at random have 0 or less",
    "near-trivial": "more than 95% of the points in one cluster, or more than 95% alone in theirs; it does not count",
    "duplicate": "the same partition as another clustering, regardless of cluster names; it counts, unless you count distinct "
    "ones only",
    "effect": "of a feature: the mean of a group minus that of all other points, in pooled standard deviations (Cohen's d)",
}

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?(?:\|([^|}]*)\|([^}]*))?\}")
_SIGNS = {"=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def said(key: str, facts: Mapping[str, Fact]) -> str:
    """A phrase of the table with its places filled. The script of the page has the same function.

    >>> said("placement", {"consistent": 0.925, "chance": 0.3, "is_beyond": True, "disputed": 1})
    '92% of the points are placed consistently (by unrelated clusterings of these sizes: 30%); 1 is disputed.'
    """

    def holds(condition: str) -> bool:
        name, sign, limit = condition.split(" ")
        value = float(facts[name])
        if limit == "undefined":
            return value != value
        return bool(_SIGNS[sign](value, float(facts.get(limit, limit))))

    def filled(place: re.Match[str]) -> str:
        name, form, one, many = place.groups()
        if name not in facts:
            return said(name, facts)
        value = facts[name]
        if one is not None:
            return one if value == 1 else many
        return value if isinstance(value, str) else shown(value, form)

    phrase = PHRASES[key]
    if not isinstance(phrase, str):
        phrase = next(text for when, text in phrase.items() if not when or all(map(holds, when.split(", "))))
    return _PLACE.sub(filled, phrase)


def shown(value: float, form: str | None = None) -> str:
    """A number in a sentence: whole, as a percentage, with two or four decimals, or in the words of a band."""
    if form is None:
        return f"{value:,}"
    if form == "percent":
        return percent(value)
    return in_words(value, form) if form in BANDS else number(value, {"two": 2, "four": 4}[form])


def percent(share: float) -> str:
    """A share in whole percent; 100% only if it is all, 0% only if it is none."""
    whole = round(100 * share)
    return f"{min(max(whole, 1 if share > 0 else 0), 99 if share < 1 else 100)}%"


def in_words(value: float, band: str) -> str:
    """A value in the words of a band, judged after rounding to two decimals as shown.

    >>> in_words(0.896, "reading"), in_words(float("nan"), "stability")
    ('almost completely', 'unknown')
    """
    return next((text for low, text in BANDS[band] if round(value, 2) >= low), "unknown")


def plain_name(m: Measure) -> str:
    """The plain name of a measure."""
    return PLAIN.get(m.key, m.title)
