"""Which kinds of clusterings are compared with each other, how, and by which measures if none are named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from congruence.errors import A, B, InputError, Option, joined
from congruence.formulas.record import Measure
from congruence.inputs.coerce import as_clustering
from congruence.statistics.bonds import Degrees
from congruence.statistics.concordance import Concordance
from congruence.typing import Dynamic, EngineName

if TYPE_CHECKING:
    from congruence.comparison.pair import Comparison


class Plan(NamedTuple):
    """How two kinds are compared: first both sides are validated together, then measured."""

    #: (a, b, options of the inputs) → a validated pair
    prepared: Callable[[Dynamic, Dynamic, Dynamic], Dynamic]
    #: (pair, measures, threads, engine) → the result
    compared: Callable[[Dynamic, Dynamic, int | None, EngineName], Comparison]
    #: why the two have no contingency table; empty if they have one
    no_table: str = ""
    #: why the two have no null model; empty if they have one
    no_null: str = ""


NO_TABLE = "matrices and ensembles have no contingency table; their measures come from sums over pairs"

#: the kind of a mapping from point to label
BY_POINT = "labels by point"

_ROWS = {
    ("labels", "labels"): "pair",
    ("labels", "memberships"): "pair",
    ("labels", "a cover"): "pair",
    ("labels", "a scanned column"): "pair",
    ("memberships", "memberships"): "pair",
    ("memberships", "a cover"): "pair",
    ("memberships", "a scanned column"): "pair",
    ("a cover", "a cover"): "pair",
    ("a cover", "a scanned column"): "pair",
    ("a scanned column", "a scanned column"): "pair",
    ("an ensemble", "labels"): "matrices",
    ("an ensemble", "memberships"): "matrices",
    ("an ensemble", "a cover"): "matrices",
    ("an ensemble", "a scanned column"): "matrices",
    ("an ensemble", "an ensemble"): "matrices",
    ("an ensemble", "a similarity matrix"): "matrices",
    ("a similarity matrix", "labels"): "matrices",
    ("a similarity matrix", "memberships"): "matrices",
    ("a similarity matrix", "a cover"): "matrices",
    ("a similarity matrix", "a scanned column"): "matrices",
    ("a similarity matrix", "a similarity matrix"): "matrices",
    ("a hierarchy", "labels"): "trees",
    ("a hierarchy", "a cover"): "trees",
    ("a hierarchy", BY_POINT): "trees",
    ("a hierarchy", "a hierarchy"): "trees",
    ("a nested cover", "a cover"): "trees",
    ("a nested cover", "a hierarchy"): "trees",
    ("a nested cover", "a nested cover"): "trees",
}
#: (kind of a, kind of b) → the module of `comparison` whose PLAN compares them
PLANS = _ROWS | {(b, a): plan for (a, b), plan in _ROWS.items()}


@cache
def plan_in(home: str) -> Plan:
    """The plan of a module of `comparison`."""
    plan: Plan = import_module(f"congruence.comparison.{home}").PLAN
    return plan


def kind_of(x: object) -> str:
    """The name of the kind of a clustering, as in the table; a mapping is labels by point."""
    return getattr(type(x), "what", BY_POINT)


def refusal(a: object, b: object) -> InputError:
    """The error for kinds that no row of the table compares, with the rows of the first."""
    for x, who in ((a, A), (b, B)):
        if kind_of(x) == BY_POINT:
            as_clustering(x, who)  # raises: these are for hierarchies only
    near = joined(other for kind, other in PLANS if kind == kind_of(a))
    return InputError(f"{A} is {kind_of(a)} and {B} is {kind_of(b)}; {kind_of(a)} can be compared with: {near}")


#: default measures of labels
DEFAULT = ("ari", "ami_max", "nmi_sum", "vi", "jaccard", "accuracy", "element_centric")
#: by whether a side is soft, and whether a side is a cover
BY_KIND = {
    (False, False): DEFAULT,
    (False, True): ("omega", "onmi_max", "average_f1", "bcubed_f", "element_centric"),
    (True, False): ("aci", "ndc", "fari", "nmi_sum", "vi", "accuracy", "element_centric"),
    (True, True): ("aci", "ndc"),
}
#: most points of memberships for which measures that were not named may compare all pairs of points, and their statistics
MOST_PAIRED = 4_000
OF_ALL_PAIRS = (Concordance, Degrees)


def quick(measures: Sequence[Measure], points: int) -> tuple[list[Measure], dict[str, str]]:
    """The measures of this many points of memberships that do not take long, and why the others are left out."""
    slow = [m.key for m in measures if m.needs in OF_ALL_PAIRS] if points > MOST_PAIRED else []
    why = f"it compares all pairs of the {points:,} points; name it in {Option('measures')}"
    return [m for m in measures if m.key not in slow], dict.fromkeys(slow, why)
