"""Values of every measure by many routes, next to its naive definition: labels, gaps, noise, weights, memberships, ensembles."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import naive
import naive_matrices
import pyarrow as pa
from pyarrow import parquet

import congruence as cg
from hostile import oracle
from hostile.chains import batches, gapped, labels, soft

#: measures of ensembles and matrices that naive_matrices has
OF_MATRICES = ("arimp", "kas", "nsf", "sms", "ssms")


def close(x: float, y: float) -> bool:
    """Equal up to rounding; infinite values only to themselves."""
    return (math.isnan(x) and math.isnan(y)) or x == y or math.isclose(x, y, rel_tol=1e-7, abs_tol=1e-9)


#: what a route may answer instead of a value; the last if points without a label occur several times
REFUSED = ("scanned", "single point", "repeat these rows with frequency 1")


def valued(rng: Random, folder: Path) -> tuple[str, list[str], str]:
    """Every measure of two clusterings, or of an ensemble, by several routes, next to its naive definition."""
    how = rng.choice(["labels", "labels", "gaps", "gaps", "soft", "members"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shown, right, routes = {"soft": of_memberships, "members": of_members}.get(how, of_labels)(rng, folder, how)
        wrong = []
        for key, way in itertools.product(right, rng.sample(sorted(routes), min(3, len(routes)))):
            try:
                got = float(routes[way](key))
            except cg.InputError as error:
                fine = isinstance(error, cg.NotApplicable) or any(words in str(error) for words in REFUSED)
                if not fine:
                    wrong.append(f"{key} by {way}: refused: {str(error)[:160]}")
                continue
            except Exception as error:
                wrong.append(f"{key} by {way}: {type(error).__name__}: {str(error)[:160]}")
                continue
            if not close(got, right[key]):
                wrong.append(f"{key} by {way} is {got}, not {right[key]}")
    return shown, wrong, f"values: {how}"


Values = tuple[str, dict[str, float], dict[str, Callable[[str], Any]]]


def of_memberships(rng: Random, folder: Path, how: str) -> Values:
    """Two soft clusterings."""
    n = rng.choice([2, 3, 4, 6, 9])  # one point has no pairs to share
    u, v = soft(rng, n), soft(rng, n)
    right = {key: naive.SOFT[key](u.tolist(), v.tolist()) for key in sorted(naive.SOFT)}
    routes: dict[str, Callable[[str], Any]] = {
        "compare": lambda key: cg.compare(u, v, key)[key],
        "all": lambda key: cg.compare_all([u, v], [key])[key][0, 1],
        "ensemble": lambda key: cg.compare_all(cg.Ensemble([u, v]), [key])[key][0, 1],
        "to": lambda key: cg.compare_to(u, {"v": v}, [key])[key][0],
    }
    return f"soft {u.tolist()} {v.tolist()}", right, routes


def of_labels(rng: Random, folder: Path, how: str) -> Values:
    """Two vectors of labels, with gaps and noise or without, and weights, counts or neither."""
    n = rng.choice([1, 2, 3, 4, 6, 9])
    a, b = (gapped(rng, n), gapped(rng, n)) if how == "gaps" else (labels(rng, n), labels(rng, n))
    options: dict[str, Any] = {}
    noise: dict[str, list[int]] = {}
    if how == "gaps":
        options["unassigned"] = rng.choice(["drop", "cluster", "singletons"])
        noise = rng.choice([{}, {}, {"a": [0]}, {"a": [1], "b": [0, 2]}])
        if noise:
            options["noise"] = noise
    seen = [[None if v in noise.get(name, ()) else v for v in side] for name, side in (("a", a), ("b", b))]
    x, y, rows = oracle.pair(*seen, options.get("unassigned", "error"))
    kind = rng.choice(["none", "none", "sample_weight", "frequency"])
    mass: list[Any] = []
    w = None
    if kind == "sample_weight":
        scale = rng.choice([1, 1, 1e-150, 1e150, 0.1])
        mass = [rng.choice([0, 0.5, 1, 2, 3]) * scale for _ in range(n)]
        w = [mass[i] / scale for i in rows]
    elif kind == "frequency":
        mass = [rng.randrange(4) for _ in range(n)]
        alone = options.get("unassigned") == "singletons"
        x, y = (
            [
                f"{s}, {j}" if alone and given[i] is None else str(s)
                for s, i in zip(side, rows, strict=True)
                for j in range(mass[i])
            ]
            for side, given in zip((x, y), seen, strict=True)
        )
    shown = f"{how} {a} {b} {options} {kind} {mass}"
    right_of = naive.MEASURES if w is None else naive.WEIGHTED
    few = x and len(x) <= 20 and max(len(set(x)), len(set(y))) <= 6 and (w is None or sum(w))
    keys = rng.sample(sorted(right_of), 8) if few else []
    keys = [k for k in keys if k != "lambda" or len(set(x)) == len(set(y)) > 1]  # undefined else
    right = {key: right_of[key](x, y) if w is None else right_of[key](x, y, w) for key in keys}
    named = {kind: mass} if mass else {}
    columns = {"a": a, "b": b, **({"m": mass} if mass else {})}
    path = folder / "x.parquet"
    parquet.write_table(pa.table(columns), path, row_group_size=rng.choice([1, 2, 100]))
    executor = rng.choice([None, None, "kept"])

    def scanned(source: Any, **more: Any) -> Callable[[str], Any]:
        def value(key: str) -> Any:
            s = cg.scan(source, ["a", "b"], **more)
            weigh = {kind: s["m"]} if mass else {}
            return cg.compare(s["a"], s["b"], key, **options, **weigh)[key]

        return value

    def members(key: str) -> Any:
        s = cg.scan(path, ["a", "b"])
        e = cg.Ensemble(s, **options, **({kind: s["m"]} if mass else {}))
        return cg.compare_all(e, [key])[key][0, 1]

    def merged(key: str) -> Any:
        cut = rng.randint(1, max(n - 1, 1))
        parts = [cg.partial_tables({k: v[s] for k, v in columns.items()}, **({kind: "m"} if mass else {}))
                 for s in (slice(0, cut), slice(cut, n)) if len(a[s])]  # fmt: skip
        total = cg.merge(*parts) if len(parts) > 1 else parts[0]
        return cg.compare(total["a"], total["b"], key, **{k: v for k, v in options.items() if k != "noise"})[key]

    both = {"a": a, "b": b}
    to = {"reference": noise["a"], **{k: v for k, v in noise.items() if k == "b"}} if noise else None
    routes: dict[str, Callable[[str], Any]] = {
        "compare": lambda key: cg.compare(a, b, key, **options, **named)[key],
        "function": lambda key: getattr(cg, "lambda_statistic" if key == "lambda" else key)(a, b, **options, **named),
        "all": lambda key: cg.compare_all(both, [key], **options, **named)[key][0, 1],
        "all, turned": lambda key: cg.compare_all({"b": b, "a": a}, [key], **options, **named)[key][1, 0],
        "ensemble": lambda key: cg.compare_all(cg.Ensemble(both, **options, **named), [key])[key][0, 1],
        "to": lambda key: cg.compare_to(a, {"b": b}, [key], **{**options, **({"noise": to} if to else {})}, **named)[key][0],
        "scan": scanned(path), "scan, two threads": scanned(path, threads=2), "scan, 1 MB": scanned(path, memory="1MB"),
        "scan of batches": scanned(batches(columns)), "scanned ensemble": members,
        "scan, checkpoint": scanned(path, checkpoint=folder / executor) if executor else scanned(path, threads=1),
    }  # fmt: skip
    if not noise:
        routes["merged"] = merged
    return shown, right, routes


def of_members(rng: Random, folder: Path, how: str) -> Values:
    """Measures of an ensemble, in memory and scanned."""
    n, count = rng.choice([2, 3, 4, 6, 9]), rng.choice([2, 3, 4])
    runs = [labels(rng, n) for _ in range(count)]
    other = labels(rng, n)
    w = [rng.choice([0.5, 1, 2, 3]) for _ in range(n)] if rng.random() < 0.4 else None
    p, q = naive_matrices.consensus(runs), naive_matrices.consensus([other])
    right = {key: v for key, v in naive_matrices.measures(p, q, w).items() if key in OF_MATRICES}
    if w is None:
        right |= {
            "certainty": naive_matrices.certainty(p),
            "consensus_index": naive_matrices.consensus_index(runs, "ari"),
        }
        right["pooled_ami"] = naive_matrices.pooled_ami(runs, other)
    right = {key: v for key, v in right.items() if not math.isnan(v)}
    columns = {**{f"m{i}": run for i, run in enumerate(runs)}, "q": other, **({"w": w} if w else {})}
    names = [f"m{i}" for i in range(count)]

    def asked(e: Any, second: Any, key: str) -> Any:
        if key in ("certainty", "consensus_index"):
            return e.certainty() if key == "certainty" else e.consensus_index("ari")
        return cg.pooled_ami(e, second) if key == "pooled_ami" else getattr(cg, key)(e, second)

    def scanned(key: str) -> Any:
        s = cg.scan(batches(columns))
        weigh = {"sample_weight": s["w"]} if w else {}
        return asked(cg.Ensemble(s[names], **weigh), cg.Ensemble(s[["q"]], **weigh), key)

    weigh = {"sample_weight": w} if w else {}
    routes: dict[str, Callable[[str], Any]] = {
        "members": lambda key: asked(cg.Ensemble(runs, **weigh), cg.Ensemble([other], **weigh), key),
        "scan": scanned,
    }
    if w is None:
        routes["labels"] = lambda key: asked(cg.Ensemble(runs), other, key)
        routes["matrices"] = lambda key: (
            getattr(cg, key)(p, q) if key in OF_MATRICES else asked(cg.Ensemble(runs), other, key)
        )
    return f"members {runs} {other} {w}", right, routes
