"""Quality of consensus methods: ARI with the truth on generated and real collections of clusterings, separately for the half
that was used while `auto` was built (DEV) and the half that was not (TEST). `python -m reproductions.consensus_quality`;
`--keep FILE` can be stopped and resumed, `--jobs` uses several processes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import congruence as cg
from congruence.consensus_clustering.method_names import METHODS
from congruence.consensus_clustering.search import AUTO
from reproductions.collections_of_clusterings import DRAWS as ALL_DRAWS
from reproductions.collections_of_clusterings import Collection, collections
from reproductions.resuming import parser_of, results
from reproductions.rows import Claim, claims_text, grid, heading, paragraph, signed

#: the methods of the former rule, which kept the highest ARImp
BY_ARIMP = ("hbgf", "ncut", "kcc", "voting", "mcla", "average")
#: known to be poor or slow: on every eighth collection only, and up to this many points
SELDOM = {"hgpa": 1_000, "cspa": 1_000, "single": 1_000, "complete": 1_000}
EVERY = 8
#: these get no number of clusters: they find it
OWN_NUMBER = ("agglomerative", "balls")
#: draws of generated data: one of DEV, one of TEST; `--all` takes all of them
DRAWS = (0, 4)
REFINED = ("hbgf",)
COLUMNS = ("auto", "highest ARImp of six", *METHODS, *(f"{m}, refined" for m in REFINED))


NAMES = (*METHODS, *(f"{m}, refined" for m in REFINED), "auto")


@dataclass(eq=False, kw_only=True)
class Outcome:
    """What each method gave on one collection: ARI, NMI, number of clusters, seconds, ARImp; and what auto kept."""

    name: str
    members: str
    source: str
    half: str
    classes: int
    median_member: float
    best_member: float
    ari: dict[str, float] = field(default_factory=dict)
    nmi: dict[str, float] = field(default_factory=dict)
    clusters: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    arimp: dict[str, float] = field(default_factory=dict)
    kept: str = ""


def outcome(c: Collection, seed: int = 0, seldom: bool = True) -> Outcome:
    """Every method, and auto, into as many clusters as there are classes."""
    members, truth = c.make()
    known = truth != -1 if truth.dtype.kind in "iu" else np.ones(len(truth), bool)
    classes = len(np.unique(truth[known]))
    hard = [np.asarray(m.dense()).argmax(axis=1) if m.soft else m.codes for m in members.members]
    scores = [cg.ari(codes[known], truth[known]) for codes in hard]
    found = Outcome(
        name=c.name, members=c.members, source=c.source, half=c.half, classes=classes,
        median_member=float(np.median(scores)), best_member=float(np.max(scores)),
    )  # fmt: skip
    for name in NAMES:
        method = name.removesuffix(", refined")
        if method in SELDOM and not (seldom and members.n_points <= SELDOM[method]):
            continue
        started = time.perf_counter()
        try:
            k = None if method in OWN_NUMBER else classes
            r = cg.consensus(members, k, method, seed, refine=True if name != method else None, progress=False)
        except cg.InputError:  # more points or clusters than the method takes
            continue
        found.seconds[name] = time.perf_counter() - started
        values = cg.compare(truth[known], r.labels[known], ["ari", "nmi_sum"])
        found.ari[name], found.nmi[name], found.clusters[name] = values["ari"], values["nmi_sum"], r.n_clusters
        found.arimp[name] = r["arimp"]
        if name == "auto":
            found.kept = r.method
    return found


@cache
def _collections(draws: tuple[int, ...]) -> dict[str, Collection]:
    return {f"{c.name}, {c.members}": c for c in collections(draws)}


def work(item: tuple[tuple[int, ...], str, int, bool]) -> dict[str, Any]:
    """The outcome of one collection, by its name, as plain values."""
    draws, key, seed, seldom = item
    return vars(outcome(_collections(draws)[key], seed, seldom))


def with_former_rule(o: Outcome) -> Outcome:
    """The outcome with a column for the former rule: the highest ARImp of six methods."""
    best = max((m for m in BY_ARIMP if m in o.ari), key=lambda m: o.arimp[m])
    for values in (o.ari, o.nmi, o.clusters, o.seconds):
        values["highest ARImp of six"] = values[best]
    return o


def interval(values: Sequence[float], data: Sequence[str], draws: int = 2_000) -> tuple[float, float, float]:
    """Mean and its 95 % interval by the bootstrap over sets of data, whose collections stay together."""
    names, code = np.unique(np.asarray(data), return_inverse=True)
    sums = np.bincount(code, weights=values)
    counts = np.bincount(code)
    drawn = np.random.default_rng(0).integers(len(names), size=(draws, len(names)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)


def difference(outcomes: Sequence[Outcome], a: str, b: str) -> tuple[float, float, float]:
    """Mean difference of ARI of two methods where both ran, with its interval."""
    both = [o for o in outcomes if a in o.ari and b in o.ari]
    return interval([o.ari[a] - o.ari[b] for o in both], [o.name for o in both])


def table(outcomes: Sequence[Outcome]) -> str:
    """One line per method: mean ARI with interval, NMI, by half, at or above the median and the best member, seconds."""
    lines = []
    for m in COLUMNS:
        ran = [o for o in outcomes if m in o.ari]
        if not ran:
            continue
        mean, low, high = interval([o.ari[m] for o in ran], [o.name for o in ran])
        halves = [[o.ari[m] for o in ran if o.half == half] for half in ("DEV", "TEST")]
        lines.append(
            [m, str(len(ran)), f"{mean:.3f}", f"{low:.3f} to {high:.3f}", f"{np.mean([o.nmi[m] for o in ran]):.3f}"]
            + [f"{np.mean(h):.3f}" if h else "-" for h in halves]
            + [signed(difference(outcomes, "auto", m)) if m != "auto" else ""]
            + [f"{np.mean([o.ari[m] >= o.median_member for o in ran]):.2f}",
               f"{np.mean([o.ari[m] >= o.best_member for o in ran]):.2f}",
               f"{np.mean([o.clusters[m] < o.classes for o in ran]):.2f}", f"{np.mean([o.seconds[m] for o in ran]):.2f}"]
        )  # fmt: skip
    head = ["", "n", "ARI", "95 %", "NMI", "DEV", "TEST", "auto − it, 95 %", "≥ median", "≥ best", "< k", "seconds"]
    return grid(head, lines)


def by_group(outcomes: Sequence[Outcome], group: Callable[[Outcome], str], half: str) -> str:
    """Mean ARI, one line per group of collections of one half, one column per method."""
    names = list(dict.fromkeys(group(o) for o in outcomes))
    columns = [m for m in COLUMNS if not m.endswith("refined")]
    lines = []
    for name in names:
        here = [o for o in outcomes if group(o) == name and o.half == half]
        if here:
            means = [[o.ari[m] for o in here if m in o.ari] for m in columns]
            lines.append([name, str(len(here)), *(f"{np.mean(m):.3f}" if m else "-" for m in means)])
    return grid(["", "n", *columns], lines)


def kind_of(o: Outcome) -> str:
    """Members, and whether the clusters of generated data are of unequal size."""
    if o.source != "generated":
        return f"{o.source}: {o.members}" if o.source == "real data" else o.source
    return f"{o.members}, {'unequal' if o.name.startswith(('45', 'geometric')) else 'equal'} sizes"


def claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """What the documentation says of auto."""
    found = []
    for half in ("DEV", "TEST"):
        part = [o for o in outcomes if o.half == half]
        if not part:
            continue
        single = {m: difference(part, "auto", m) for m in METHODS if any(m in o.ari for o in part)}
        worst = min(single, key=lambda m: single[m][0])
        found.append(
            Claim.of(f"{half}: auto has a higher mean ARI than every single method", single[worst][0] > 0,
                     f"the nearest is {worst}: auto − {worst} = {signed(single[worst])}")
        )  # fmt: skip
        before = difference(part, "auto", "highest ARImp of six")
        found.append(Claim.of(f"{half}: better than keeping the highest ARImp", before[1] > 0, signed(before)))
        refined = {m: difference(part, f"{m}, refined", m) for m in REFINED}
        found.append(
            Claim.of(f"{half}: refining does no harm on average", all(d[0] > -0.002 for d in refined.values()),
                     ", ".join(f"{m} {signed(d)}" for m, d in refined.items()))
        )  # fmt: skip
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("consensus_quality", __doc__, "collections")
    parser.add_argument(
        "--all", action="store_true", help="all draws of generated data, three times as many collections"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    draws = tuple(ALL_DRAWS) if args.all else DRAWS
    every = list(_collections(draws))
    order = np.random.default_rng(0).permutation(len(every))[: args.some]  # a stopped run is a random sample
    items = [(draws, every[which], args.seed, i % EVERY == 0) for i, which in enumerate(order.tolist())]
    done = results(work, items, args, lambda item: item[1])
    outcomes = [with_former_rule(Outcome(**found)) for found in done]
    if not outcomes:
        return 1
    print(paragraph(f"""ARI with the truth of {len(outcomes)} of {len(every)} collections of clusterings; the true number of
        clusters is given. DEV was looked at while auto was built. The generated sets of TEST were drawn afterwards; its
        real sets are other sets than those of DEV. A set of data belongs to one half with all its collections. Intervals:
        bootstrap over sets of data. '≥ median', '≥ best': share of the collections where a method is at least as good as
        the median and the best member. '< k': share with fewer clusters than asked for. {', '.join(SELDOM)} ran on every
        eighth collection, up to 1,000 points. auto tries {', '.join(AUTO)}, and voting where at least half of the members
        have as many clusters as asked for."""))  # fmt: skip
    print()
    print(table(outcomes))
    kept = [o.kept for o in outcomes]
    print(
        f"\nauto kept: {', '.join(f'{m} {kept.count(m)} times' for m in sorted(set(kept), key=kept.count, reverse=True))}"
    )
    for half in ("DEV", "TEST"):
        print(heading(f"Mean ARI by kind of collection, {half}"))
        print(by_group(outcomes, kind_of, half))
    print(heading("What the documentation says"))
    print(claims_text(claims(outcomes)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
