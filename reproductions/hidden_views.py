"""How well alternatives recover a hidden view: data with two planted groupings, one of them given, and the ARI of each
method's result with the other one. `python -m reproductions.hidden_views`; `--keep FILE` can be stopped and resumed.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

import congruence as cg
from congruence.alternative_clustering.search import AUTO, METHODS
from reproductions import maximus_published
from reproductions.resuming import parser_of, results
from reproductions.rows import Claim, claims_text, grid, heading, paragraph

#: seeds of the sets that were looked at while "auto" was built (DEV), and of those drawn for the first time when it was done
SEEDS = {"DEV": range(40), "TEST": range(1000, 1040)}
#: slow: on every eighth set only
SELDOM, EVERY = ("maximus", "maximus_published"), 8
EVERYTHING = ("auto", *SELDOM, *(name for name in METHODS if name not in SELDOM))


@dataclass(frozen=True, eq=False, kw_only=True)
class Views:
    """Data, the given grouping and the hidden one, and what was drawn."""

    X: np.ndarray
    given: np.ndarray
    hidden: np.ndarray
    unequal: bool
    noise: int
    is_rotated: bool


def views(seed: int) -> Views:
    """120 to 240 points with two groupings of 2 to 8 clusters, independent or nearly, in separate columns, and noise.

    Half of the sets have clusters of very unequal sizes, half have up to eight columns of noise, half are rotated, so that
    every column holds some of each view.
    """
    rng = np.random.default_rng([seed, 7])
    n = int(rng.integers(120, 241))
    unequal, is_rotated = bool(rng.integers(2)), bool(rng.integers(2))
    noise = int(rng.integers(1, 9)) if rng.integers(2) else 0
    labels, columns = [], []
    for separation in (rng.uniform(2.5, 5.0), rng.uniform(2.5, 5.0)):
        k, dims = int(rng.integers(2, 9)), int(rng.integers(2, 5))
        shares = rng.dirichlet(np.full(k, 2.0)) if unequal else np.full(k, 1 / k)
        shares = np.maximum(shares, 0.04) / np.maximum(shares, 0.04).sum()
        y = np.repeat(np.arange(k), np.maximum(np.round(n * shares).astype(int), 5))
        y = rng.permutation(np.resize(rng.permutation(y), n))
        centres = rng.normal(size=(k, dims))
        centres *= separation / pdist(centres).min()
        labels.append(np.unique(y, return_inverse=True)[1])
        columns.append(centres[y] + rng.normal(size=(n, dims)))
    X = np.hstack([*columns, rng.normal(size=(n, noise)) * rng.uniform(1.0, 2.0)])
    if is_rotated:
        X = X @ np.linalg.qr(rng.normal(size=(X.shape[1], X.shape[1])))[0]
    return Views(X=X, given=labels[0], hidden=labels[1], unequal=unequal, noise=noise, is_rotated=is_rotated)


def labels_of(item: tuple[int, str]) -> dict[str, Any]:
    """What one method finds on the set of one seed: labels, the method that "auto" kept, seconds; no labels if it cannot."""
    seed, method = item
    v = views(seed)
    began = time.perf_counter()
    with warnings.catch_warnings(), maximus_published.available():
        warnings.simplefilter("ignore")
        try:
            found = cg.alternatives(
                v.X, v.given, int(v.hidden.max()) + 1, method=method, random_state=seed, progress=False
            )[0]
        except cg.InputError:
            return {"seed": seed, "method": method, "labels": None, "kept": "", "seconds": 0.0}
    seconds = time.perf_counter() - began
    return {"seed": seed, "method": method, "labels": found.labels.tolist(), "kept": found.method, "seconds": seconds}


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """ARI with the hidden and with the given view of each method on one set; 0 for a method that cannot take it."""

    seed: int
    v: Views
    hidden: dict[str, float]
    given: dict[str, float]
    seconds: dict[str, float]
    kept: str


def outcomes(found: Sequence[dict[str, Any]]) -> list[Outcome]:
    """The results of all methods, set by set; sets that some method has not finished are left out."""
    made = []
    methods = {row["method"] for row in found} - set(SELDOM)
    for seed in sorted({row["seed"] for row in found}):
        rows = {row["method"]: row for row in found if row["seed"] == seed}
        if not methods <= set(rows):
            continue
        v = views(seed)
        scores = [
            {m: float(cg.ari(row["labels"], truth)) if row["labels"] else 0.0 for m, row in rows.items()}
            for truth in (v.hidden, v.given)
        ]
        seconds = {m: row["seconds"] for m, row in rows.items()}
        kept = rows["auto"]["kept"] if "auto" in rows else ""
        made.append(Outcome(seed=seed, v=v, hidden=scores[0], given=scores[1], seconds=seconds, kept=kept))
    return made


def interval(values: Sequence[float]) -> str:
    """The mean with its 95 % interval by the bootstrap over sets."""
    drawn = np.random.default_rng(0).choice(np.asarray(values), size=(4_000, len(values)))
    low, high = np.quantile(drawn.mean(axis=1), [0.025, 0.975])
    return f"{np.mean(values):+.3f} [{low:+.3f}, {high:+.3f}]"


#: groups of sets that are shown separately
PARTS: dict[str, Callable[[Views], bool]] = {
    "equal": lambda v: not v.unequal,
    "unequal": lambda v: v.unequal,
    "no noise": lambda v: v.noise == 0,
    "noise": lambda v: v.noise > 0,
    "k ≤ 4": lambda v: v.hidden.max() < 4,
    "k > 4": lambda v: v.hidden.max() >= 4,
    "rotated": lambda v: v.is_rotated,
}


def table(part: Sequence[Outcome]) -> str:
    """One line per method, the best first: mean ARI with the hidden view, in parts, with the given view, seconds."""
    methods = {m: [o for o in part if m in o.hidden] for m in dict.fromkeys(m for o in part for m in o.hidden)}
    lines = []
    for m, ran in sorted(methods.items(), key=lambda entry: -np.mean([o.hidden[entry[0]] for o in entry[1]])):
        shares = [[o.hidden[m] for o in ran if holds(o.v)] for holds in PARTS.values()]
        apart = [o.hidden["auto"] - o.hidden[m] for o in ran] if "auto" in methods and m != "auto" else []
        lines.append(
            [m, str(len(ran)), f"{np.mean([o.hidden[m] for o in ran]):.3f}", interval(apart) if apart else ""]
            + [f"{np.mean(s):.3f}" if s else "-" for s in shares]
            + [f"{np.mean([o.given[m] for o in ran]):.3f}", f"{np.mean([o.seconds[m] for o in ran]):.1f}"]
        )
    return grid(["method", "sets", "hidden", "auto − it, 95 %", *PARTS, "given", "seconds"], lines)


def claims(part: Sequence[Outcome], half: str) -> list[Claim]:
    """What the documentation says of auto."""
    methods = dict.fromkeys(m for o in part for m in o.hidden if m != "auto")
    ahead = {m: float(np.mean([o.hidden["auto"] - o.hidden[m] for o in part if m in o.hidden])) for m in methods}
    text = f"{half}: the mean ARI of auto with the hidden view is no worse than that of the best single method"
    if not ahead:
        return []
    best = min(ahead, key=lambda m: ahead[m])
    return [Claim.of(text, ahead[best] >= 0, f"auto − {best} = {ahead[best]:+.3f}")]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the tables."""
    parser = parser_of("hidden_views", __doc__)
    parser.add_argument("--sets", type=int, metavar="N", help="only the first N sets of each half")
    parser.add_argument("--methods", default=",".join(EVERYTHING), help="methods, separated by commas")
    args = parser.parse_args(argv)
    seeds = {half: list(seeds)[: args.sets] for half, seeds in SEEDS.items()}
    items = [
        (seed, method)
        for of_half in seeds.values()
        for seed in of_half
        for method in args.methods.split(",")
        if method not in SELDOM or seed % EVERY == 0
    ]
    found = results(labels_of, items, args, lambda item: f"{item[0]} {item[1]}")
    made = outcomes(found)
    print(paragraph(f"""Mean ARI of alternatives with the hidden one of two planted groupings of the same 120 to 240 points; the
        other is given, and so is the number of clusters of the hidden one. {len(made)} sets: 2 to 8 clusters in each
        grouping, whose nearest centres are 2.5 to 5 standard deviations apart, in 2 to 4 columns of its own; half of the
        sets have clusters of unequal sizes, half have 1 to 8 columns of noise, half are rotated. DEV was looked at while auto was
        built, TEST was not. auto tries {', '.join(AUTO)}. {' and '.join(SELDOM)} ran on
        every eighth set. 'given': mean ARI with the given grouping. A method that cannot take a set has 0."""))  # fmt: skip
    checked = []
    for half, of_half in seeds.items():
        part = [o for o in made if o.seed in of_half]
        if part:
            print(heading(f"{half}: {len(part)} sets"))
            print(table(part))
            if part[0].kept:
                kept = [o.kept for o in part]
                counts = sorted(set(kept), key=kept.count, reverse=True)
                print(f"\nauto kept: {', '.join(f'{m} {kept.count(m)} times' for m in counts)}")
                checked += claims(part, half)
    if checked:
        print(heading("What the documentation says"))
        print(claims_text(checked))
    return 0 if made else 1


if __name__ == "__main__":
    sys.exit(main())
