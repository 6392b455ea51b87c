"""The record of a consensus method, and the table of all methods: one file and one record per method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from congruence.consensus_clustering.evidence import Evidence
from congruence.consensus_clustering.method_names import ALIASES, METHODS
from congruence.errors import Caution, InputError, Option, hint, joined
from congruence.formulas.record import Better
from congruence.statistics.tables import Array
from congruence.typing import OptionValue, Several


@dataclass(frozen=True, eq=False)
class Rule:
    """Assigns a point by its votes: the largest Σ table + bias over the clusters it is in, the first in a tie.

    With centres, the centre nearest to the direction of Σ table.
    """

    #: clusters × consensus clusters, or × dimensions of the centres
    table: Array
    bias: Array
    centres: Array | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """The result of a method: a cluster for each signature (−1: undecided), its objective, and notes."""

    labels: Array
    objective: float
    solver: str
    #: notes for users: a sampled start, a solver that stopped early, fewer clusters than requested
    notes: tuple[str, ...] = ()
    #: the rule that assigns other points to these clusters; None: the likelihood of their votes
    rule: Rule | None = None


def why_so_many(k: int, why: str) -> Caution:
    """The note on a number of clusters that was not given."""
    return Caution("n_clusters", "", f"n_clusters = {k}: {why}")


def filled(labels: Array, cost: Array, mass: Array, k: int) -> int:
    """Give each empty cluster the signature that fits worst where it is, at no cost; in place. Returns their number."""
    alone = np.bincount(labels, minlength=k)
    missing = np.flatnonzero(alone == 0)
    worst = iter(np.lexsort((np.arange(len(labels)), -cost * mass)).tolist() if len(missing) else ())
    moved = 0
    for cluster in missing.tolist():
        i = next((i for i in worst if alone[labels[i]] > 1), None)
        if i is None:
            break
        alone[labels[i]] -= 1
        labels[i], cost[i] = cluster, 0.0
        moved += 1
    return moved


def won_nothing(many: int) -> tuple[str, ...]:
    """The note on clusters that had no points until `filled` gave them some, if there are any."""
    who = "1 cluster won no points and was" if many == 1 else f"{many} clusters won no points and were"
    return (f"{who} given the points that fit worst elsewhere; try fewer clusters",) if many else ()


def unsettled(settled: bool, steps: int) -> tuple[str, ...]:
    """The note on a method that stopped too early."""
    return () if settled else (f"stopped after {steps} steps, before it converged",)


@dataclass(frozen=True, kw_only=True)
class Method:
    """A consensus method: its title, objective and size limits."""

    key: str
    title: str
    #: its objective, and which direction is better
    objective: str
    better: Better
    reference: str
    #: when to use it, from `python -m reproductions.consensus_quality`
    advice: str
    run: Callable[..., Found]
    #: most signatures, because it compares all pairs
    limit: int | None = None
    #: most clusters of all members together, because it compares all pairs
    cluster_limit: int | None = None
    #: the first is the default
    variants: tuple[str, ...] = ()
    #: variants that may run on a sample of many points; ("",) for a method without variants, () for none
    sampled: tuple[str, ...] = ("",)
    #: variants that read the tables of clusters × clusters, which count all points even if points are sampled
    reads_tables: tuple[str, ...] = ()
    #: whether it finds its own number of clusters if none is requested, and whether one may be requested
    own_number: bool = False
    takes_number: bool = True
    #: variants that cut a graph, by `solver` and `balance`, and those that start at random `n_init` times
    partitions: tuple[str, ...] = ()
    restarts: tuple[str, ...] = ()

    def __call__(self, e: Evidence, k: int, rng: np.random.Generator, **options: OptionValue) -> Found:
        """Clusters of the signatures; see `cg.consensus`."""
        variant = options.pop("variant", None)
        self.check(e, variant)
        if variant is not None:
            if variant not in self.variants:
                known = f"the variants {', '.join(self.variants)}" if self.variants else "no variants"
                raise InputError(f"{self.key} has {known}; got {variant!r}")
            options["variant"] = variant
        return self.run(e, k, rng, **options)

    def takes_sample(self, variant: str | None) -> bool:
        """Whether it may run on a sample of many points and place the others by its rule."""
        return self._default(variant) in self.sampled

    def takes_tables(self, variant: str | None) -> bool:
        """Whether it reads the tables of clusters × clusters."""
        return self._default(variant) in self.reads_tables

    def takes(self, option: str, variant: str | None) -> bool:
        """Whether an option has an effect: `n_init`, `solver` or `balance`."""
        return self._default(variant) in (self.restarts if option == "n_init" else self.partitions)

    def _default(self, variant: str | None) -> str:
        return variant or (self.variants[0] if self.variants else "")

    def check(self, e: Evidence, variant: str | None = None) -> None:
        """Raise, before any computation, if the input exceeds a limit."""
        if self.limit is not None and variant != "sample":
            check_size(e, self.key, self.limit)
        if self.cluster_limit is not None and e.n_columns > self.cluster_limit:
            raise InputError(
                f"{self.key} compares all pairs of clusters of the members, up to {self.cluster_limit:,} clusters, but there are "
                f"{e.n_columns:,}; use hbgf, ncut or kcc, or fewer members"
            )


def check_size(e: Evidence, what: str, limit: int) -> None:
    """Raise if there are more signatures than a method takes."""
    if e.n_rows > limit:
        able = joined(key for key in METHODS if find(key).limit is None)
        raise InputError(
            f"{what} compares all pairs of points that some member separates, up to {limit:,} points, but there are "
            f"{e.n_rows:,}; methods without that limit: {able}"
        )


def find(name: str) -> Method:
    """The record of a method, by its name."""
    key = ALIASES.get(name, name)
    if key not in METHODS:
        raise InputError(f"there is no method {name!r}; {hint(name, METHODS, 'there are: auto, ' + joined(METHODS))}")
    record: Method = getattr(import_module(f"congruence.consensus_clustering.{METHODS[key]}"), key)
    return record


def refuse_number(chosen: Sequence[str]) -> None:
    """Raise if a method among those named takes no number of clusters."""
    if own := [name for name in chosen if name != "auto" and not find(name).takes_number]:
        raise InputError(f"{joined(own)} finds the number of clusters itself; leave out {Option('n_clusters')}")


def options_of(method: str | Several[str], variant: str | None) -> set[str]:
    """The options `n_init`, `solver` and `balance` that have an effect on a method among those named."""
    named = [method] if isinstance(method, str) else list(method)
    records = [find(name) for name in named if name != "auto"]
    found = {option for option in ("n_init", "solver", "balance") if any(m.takes(option, variant) for m in records)}
    return found | ({"n_init"} if "auto" in named else set())
