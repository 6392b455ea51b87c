"""Which kinds of clusterings are compared with each other, and how: one table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from congruence.errors import A, B, InputError, joined
from congruence.inputs.coerce import as_clustering
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
