"""Events, names and time of `cg.track`, beside cdlib's LifeCycle if it is installed: `python -m benchmarks.track`.

1. Planted panels (splits, mergers, growth, comers and leavers; 2 % of the points move): the share of clusters of successive steps
   whose fate and origin are right. cdlib's facets give each cluster shares of several events; the largest counts, and
   kept, grew and shrank count as one, as its continuation does.
2. A large history: 133,541 points, 15 steps, about 14,000 clusters each; seconds and memory.
"""

from __future__ import annotations

import resource
import time
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

import congruence as cg
from benchmarks.timing import once
from reproductions.planted_tracks import f1, found_in, planted

STAYS = "stays"
#: cdlib's facets in our words, of the fate of a cluster and of its origin
FATE = {"Death": "gone", "Split": "split", "Disassemble": "split", "Dispersion": "split", "Ancestor": "merged"}
ORIGIN = {"Birth": "new", "Merge": "merged", "Accumulation": "merged", "Offspring": "split", "Reorganization": "split"}

Clusters = dict[tuple[str, int, int], str]


def true_ends(truth: list[Any]) -> Clusters:
    """The fate and origin of each planted cluster: ("fate" or "origin", step, planted name)."""
    found: Clusters = {}
    for step, kind, before, after in truth:
        word = STAYS if kind in ("kept", "grew", "shrank") else kind
        found |= {("fate", step - 1, c): word for c in before} | {("origin", step, c): word for c in after}
    return found


def facets(labels: list[Any], called: list[dict[Any, int]]) -> tuple[Clusters, float]:
    """The same by cdlib's LifeCycle, and its seconds."""
    from cdlib import LifeCycle, NodeClustering, TemporalClustering

    steps = TemporalClustering()
    for t, step in enumerate(labels):
        groups: dict[Any, list[int]] = {}
        for point, label in enumerate(step):
            if label is not None:
                groups.setdefault(label, []).append(point)
        steps.add_clustering(NodeClustering(list(groups.values()), None, "planted"), t)
    begun = time.process_time()
    life = LifeCycle(steps)
    life.compute_events("facets")
    seconds = time.process_time() - begun
    found: Clusters = {}
    for name, event in life.get_events().items():
        step = int(name.partition("_")[0])
        members = steps.get_clustering_at(step).named_communities[name]
        cluster = called[step][labels[step][members[0]]]
        for end, table, words in (("fate", event.to_event, FATE), ("origin", event.from_event, ORIGIN)):
            if table:
                found[(end, step, cluster)] = words.get(max(table, key=table.get), STAYS)
    return found, seconds


def panels(many: int) -> None:
    """Print the shares of right fates and origins, of exact events and names, and milliseconds per panel."""
    right: dict[str, list[float]] = {}
    exact, names = [], []
    cg.track(planted(0)[0])  # imports
    for seed in range(1000, 1000 + many):
        labels, called, truth = planted(seed)
        wanted = true_ends(truth)
        begun = time.process_time()
        t = cg.track(labels)
        seconds = time.process_time() - begun
        events = found_in(t, called)
        rows = [("cg.track", true_ends(events), seconds)]
        if find_spec("cdlib"):
            rows.append(("cdlib LifeCycle, facets", *facets(labels, called)))
        for method, found, took in rows:
            shares = right.setdefault(f"{method}: right fates and origins", [])
            shares.append(float(np.mean([found.get(key) == word for key, word in wanted.items()])))
            right.setdefault(f"{method}: median ms of one core per panel", []).append(1000 * took)
        exact.append(f1(events, truth))
        pairs = {(name, called[i][label]) for i, step in enumerate(t.names)
                 for name, label in zip(step, t.history.steps[i].clusters, strict=True)}  # fmt: skip
        names.append(len(pairs) == len({x for x, _ in pairs}) == len({x for _, x in pairs}))
    print(f"{many} planted panels of 6 steps and about 900 points")
    for what, values in right.items():
        print(f"  {what:58} {np.median(values) if what.endswith('panel') else np.mean(values):.3f}")
    print(f"  {'cg.track: F1 of events, exact kind and clusters':58} {np.mean(exact):.3f}")
    print(f"  {'cg.track: panels with lasting names one to one':58} {np.mean(names):.3f}")


def large() -> pd.DataFrame:
    """A history of 133,541 points with splits, mergers, points that move, and gaps."""
    rng, n = np.random.default_rng(0), 133_541
    now = np.minimum(np.repeat(np.arange(14_000), rng.geometric(1 / 9.6, 14_000)), 13_999)[:n]
    now = np.concatenate([now, np.full(n - len(now), 13_999)])
    columns, fresh = {}, 14_000
    for step in range(15):
        names = np.unique(now)
        for c in rng.choice(names, 60, replace=False):
            rows = np.flatnonzero(now == c)
            now[rows[: len(rows) // 2]] = fresh
            fresh += 1
        for a, b in rng.choice(names, (160, 2)):
            now[now == a] = b
        now[rng.choice(n, 500)] = rng.choice(names, 500)
        labels = now.astype(float)
        labels[rng.random(n) < 0.03] = np.nan
        columns[f"release {step + 1}"] = labels
    return pd.DataFrame(columns)


def main() -> None:
    """Print both tables."""
    panels(40)
    table = large()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    clock, cpu, t = once(lambda: cg.track(table))
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"\n133,541 points × 15 steps, {len(t.names[0]):,} clusters in the first: {clock:.1f} s ({cpu:.1f} s of one core)"
    )
    print(f"  memory of the process: {used:,.0f} MB, {before:,.0f} MB of it before")
    print(f"  {t.sentence}")


if __name__ == "__main__":
    main()
