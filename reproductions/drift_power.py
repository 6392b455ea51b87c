"""How often drift is caught, named rightly, and alarmed falsely, beside tests per column: `python -m reproductions.drift_power`.

Streams of 50 windows × 1000 points, 5 clusters and 8 features; from window 25 on, one cluster changes. "Caught": window 25 is an
alarm. "Named": the change listed first has the right cluster; "kind": and the right kind. Beside `cg.drift` stand

- Kolmogorov–Smirnov per feature, and per cluster and feature with χ² of the sizes, Bonferroni over tests and windows;
- ADCO: mean − 3 standard deviations of the nine windows after the first, which is what an ADCO without tests can do;
- river's ADWIN per feature on the rows (within three windows), if it is installed, and, on fewer streams and windows, Evidently's
  column tests.

Then false alarms and p-values of streams without a change: outliers, renamed labels, 3 to 30 clusters, few points, categories,
missing values. `--seeds` says how many streams, `--jobs` how many processes.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

import congruence as cg
from reproductions.drift_streams import KIND, RIGHT, stream

WINDOWS, AT, ALPHA = 50, 25, 0.01
#: windows before the change that slow peers see, and the changes that peers are tried on
BEFORE, MOVES = 3, ("moves 1 sd", "moves 2 sd")
#: the changes: name, kind of stream, options
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "moves 1 sd": ("move", {"amount": 1.0}), "moves 2 sd": ("move", {"amount": 2.0}), "two lumps, one label": ("wide", {}),
    "split, half of the points": ("split", {}), "split, cut in two": ("cut", {}), "merge": ("merge", {}), "appear": ("new", {}),
    "vanish": ("gone", {}), "mix": ("mix", {}), "a third as large": ("size", {"amount": 1.0}),
}  # fmt: skip
#: streams without a change
NULLS: dict[str, tuple[str | None, dict[str, Any]]] = {
    "as above": (None, {}), "renamed labels": ("renamed", {}), "outliers of 1e6": (None, {"outlier": True}),
    "3 clusters": (None, {"k": 3}), "30 clusters": (None, {"k": 30}), "100 points, 5 clusters": (None, {"n": 100}),
    "100 points, 30 clusters": (None, {"n": 100, "k": 30}), "5 nominal features": (None, {"words": 5}),
    "missing values": (None, {"gaps": 0.1}), "5,000 points": (None, {"n": 5000}),
    "overlapping clusters": (None, {"scale": 0.5, "features": 2}),
    "renamed, overlapping, 100 points": ("renamed", {"scale": 1.5, "n": 100}),
}  # fmt: skip


@dataclass
class Tally:
    """What a method says of the windows of a stream.

    Attributes:
        alarms: One per window.
        cluster: The cluster named first at the change, if the method names one.
        kind: The kind of change named first.
        p_values: Of windows before the change.
    """

    alarms: list[bool]
    cluster: object = None
    kind: str | None = None
    p_values: list[float] = field(default_factory=list)


def ours(parts: list[Any]) -> Tally:
    """`cg.drift` at its defaults."""
    d = cg.drift(parts)
    first = next(iter(d.findings[AT].moved), None) if len(parts) > AT else None
    p = [x.p_value for x in d.findings[1:] if x is not None]
    return Tally(d.alarms, None if first is None else first.cluster, None if first is None else first.kind, p)


def adco_only(parts: list[Any]) -> Tally:
    """ADCO with the first window below its mean − 3 standard deviations in the nine windows after the first."""
    first = cg.drift(parts).first
    limit = first[:9].mean() - 3 * first[:9].std(ddof=1)
    return Tally([False] * 10 + (first[9:] < limit).tolist())


def ks_of_columns(parts: list[Any]) -> Tally:
    """Kolmogorov–Smirnov of each feature against the first window."""
    start = parts[0][0]
    level = ALPHA / (start.shape[1] * (len(parts) - 1))
    return Tally([False] + [min(ks_2samp(start[c], X[c]).pvalue for c in X) <= level for X, _ in parts[1:]])


def ks_of_clusters(parts: list[Any]) -> Tally:
    """The same per cluster and feature, and χ² of the sizes; a label that is new or gone counts as certain."""
    (start, before), found = parts[0], Tally([False])
    for w, (X, labels) in enumerate(parts[1:], 1):
        names = np.union1d(before, labels)
        level = ALPHA / ((len(names) * X.shape[1] + 1) * (len(parts) - 1))
        sizes = np.array([[(y == c).sum() for c in names] for y in (before, labels)])
        tests = [(float(chi2_contingency(sizes).pvalue), None)]
        for c, (n, m) in zip(names.tolist(), sizes.T.tolist(), strict=True):
            tests += [
                (float(ks_2samp(start.loc[before == c, x], X.loc[labels == c, x]).pvalue) if n and m else 0.0, c)
                for x in X
            ]
        p, cluster = min(tests, key=lambda test: test[0])
        found.alarms.append(p <= level)
        if w == AT:
            named = min((test for test in tests if test[1] is not None), key=lambda test: test[0])
            found.cluster = named[1] if cluster is None else cluster
    return found


def adwin(parts: list[Any]) -> Tally:
    """river's ADWIN on every feature, row after row; an alarm counts for the window and the two before it."""
    from river.drift import ADWIN

    detectors = [ADWIN(delta=ALPHA / parts[0][0].shape[1] / len(parts)) for _ in parts[0][0]]
    alarms = []
    for X, _ in parts:
        alarms.append(False)
        for row in X.to_numpy().tolist():
            for detector, x in zip(detectors, row, strict=True):
                detector.update(x)
                alarms[-1] |= detector.drift_detected
    return Tally([any(alarms[w : w + 3]) for w in range(len(alarms))])


def drifted(X: Any, start: Any) -> float:
    """The share of the columns that have drifted, by Evidently's data drift at its defaults."""
    from evidently import Dataset, Report
    from evidently.presets import DataDriftPreset

    run = Report([DataDriftPreset()]).run(Dataset.from_pandas(X), Dataset.from_pandas(start))
    return float(run.dict()["metrics"][0]["value"]["share"])


def evidently(name: str, seed: int) -> list[float]:
    """Evidently's share of columns that have drifted: in the last windows before the change, and in the first after it."""
    kind, options = CHANGES[name]
    parts = list(stream(seed, kind, windows=AT + 1, **options))
    return [drifted(X, parts[0][0]) for X, _ in parts[AT - BEFORE :]]


METHODS: dict[str, Callable[[list[Any]], Tally]] = {
    "cg.drift": ours, "KS per cluster and feature, χ²": ks_of_clusters, "KS per feature": ks_of_columns, "ADCO alone": adco_only,
}  # fmt: skip


def one(name: str, seed: int, peers: bool) -> dict[str, Tally]:
    """What each method says of one stream with a change."""
    kind, options = CHANGES[name]
    parts = list(stream(seed, kind, windows=AT + 3, **options))
    methods = dict(METHODS)
    if peers and find_spec("river") and name in MOVES:
        methods["river's ADWIN per feature"] = adwin
    return {method: run(parts) for method, run in methods.items()}


def null(name: str, seed: int, windows: int) -> Tally:
    """What `cg.drift` says of one stream without a change."""
    kind, options = NULLS[name]
    return ours(list(stream(seed, kind, windows=windows, **options)))


def report_changes(seeds: int, pool: Any, peers: bool) -> None:
    """Print a table per change: caught, named, kind, and false alarms before the change."""
    print(
        f"\n{seeds} streams per change; caught at once, right cluster first, right kind; false alarms per window before"
    )
    for name, (change, _) in CHANGES.items():
        found = list(pool.map(partial(one, name, peers=peers), range(seeds)))
        print(f"\n{name}")
        for method in dict.fromkeys(m for tally in found for m in tally):
            tallies = [tally[method] for tally in found if method in tally]
            caught = np.mean([t.alarms[AT] for t in tallies])
            false = np.mean([t.alarms[1:AT] for t in tallies])
            right = RIGHT.get(change, (2, 5))
            named = (
                np.mean([t.cluster in right for t in tallies])
                if any(t.cluster is not None for t in tallies)
                else np.nan
            )
            kind = np.mean([t.kind == KIND[change] for t in tallies]) if any(t.kind for t in tallies) else np.nan
            print(
                f"  {method:32} caught {caught:5.2f}  named {_number(named)}  kind {_number(kind)}  false {false:.4f}"
            )


def _number(x: float) -> str:
    return "    –" if np.isnan(x) else f"{x:5.2f}"


def report_nulls(seeds: int, pool: Any, windows: int) -> None:
    """Print false alarms and how many p-values are below .01, .05 and .5 without a change."""
    print(f"\nno change: {seeds} streams of {windows} windows; false alarms per window, p-values at most .01, .05, .5")
    for name in NULLS:
        tallies = list(pool.map(partial(null, name, windows=windows), range(1000, 1000 + seeds)))
        p = np.concatenate([t.p_values for t in tallies])
        false = np.mean([t.alarms[1:] for t in tallies])
        shares = "  ".join(f"{np.mean(p <= level):.3f}" for level in (0.01, 0.05, 0.5))
        print(f"  {name:34} false {false:.4f}   p ≤ .01, .05, .5: {shares}")


def report_evidently(seeds: int, pool: Any) -> None:
    """Print what Evidently catches at its default, and with any column as an alarm."""
    print(
        f"\nEvidently's preset (a test per column at .05): only {seeds} streams per change, as it is slow; false alarms per "
        f"window in the {BEFORE} windows before the change, the only ones on which it ran"
    )
    for name in MOVES:
        shares = np.array(list(pool.map(partial(evidently, name), range(seeds))))
        for title, alarms in (("half of the columns drifted", shares >= 0.5), ("any column drifted", shares > 0)):
            caught, false = alarms[:, BEFORE].mean(), alarms[:, :BEFORE].mean()
            print(f"  {name:12} {title:32} caught {caught:5.2f}  false {false:.4f}")


def main() -> None:
    """Print the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=20)
    options.add_argument("--windows", type=int, default=100, help="windows of the streams without a change")
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument(
        "--evidently", type=int, default=10, help="streams per change for Evidently, if it is installed"
    )
    options.add_argument("--no-peers", action="store_true")
    given = options.parse_args()
    with ProcessPoolExecutor(given.jobs) as pool:
        report_nulls(given.seeds, pool, given.windows)
        report_changes(given.seeds, pool, not given.no_peers)
        if find_spec("evidently") and not given.no_peers:
            report_evidently(given.evidently, pool)


if __name__ == "__main__":
    main()
