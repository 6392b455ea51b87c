"""Results of small and odd data, and every method of them; values of memberships and weights next to the naive ones."""

from __future__ import annotations

import contextlib
import inspect
import io
import itertools
import math
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import naive
import numpy as np
import pyarrow as pa

import congruence as cg
from hostile import calls, oracle

#: methods that open windows, that scikit-learn makes at run time, or that engines call
NOT_CALLED = (
    "with_policy", "taken", "checked_block", "renamed", "on", "values", "check", "formula", "workings", "raw", "check_same_bins", "tables",
    "show", "open", "get_metadata_routing", "set_fit_request", "set_predict_request", "set_output",
)  # fmt: skip


def labels(rng: Random, n: int) -> list[int]:
    """n plain labels: some clusters, one cluster, or all alone."""
    k = rng.choice([1, 2, 2, 3, 3, n])
    return [rng.randrange(k) for _ in range(n)] if k < n else list(range(n))


def data(rng: Random, n: int) -> Any:
    """n points: groups, constant, equal, with one outlier, or of one feature."""
    draws = np.random.default_rng(rng.randrange(2**32))
    x = draws.normal(size=(n, rng.choice([1, 2, 5]))) + 4.0 * draws.integers(0, 2, (n, 1))
    how = rng.choice(["plain", "plain", "equal", "constant", "outlier", "integers", "tiny"])
    if how == "equal":
        x[:] = 1
    elif how == "constant":
        x[:, 0] = 0
    elif how == "outlier":
        x[0] = 1e6
    elif how == "integers":
        x = np.rint(x)
    return x * 1e-9 if how == "tiny" else x


def gapped(rng: Random, n: int) -> list[int | None]:
    """Labels of which some are missing."""
    return [None if rng.random() < 0.3 else x for x in labels(rng, n)]


def tree(rng: Random, n: int) -> Any:
    """A hierarchy of n points, with ties and levels of many branches."""
    from scipy.cluster.hierarchy import linkage

    if rng.random() < 0.3:
        return cg.Hierarchy({f"l{i}": labels(rng, n) for i in range(2)}) if n > 1 else cg.Hierarchy([0, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy takes a square array for distances
        return cg.Hierarchy(linkage(np.rint(data(rng, max(n, 2)) * 2), rng.choice(["single", "average", "ward"])))


def cover(rng: Random, n: int) -> Any:
    """Overlapping clusters of n points."""
    return cg.Cover([rng.sample(range(n), rng.randint(1, n)) for _ in range(rng.choice([1, 2, 3]))], points=n)


def batches(columns: dict[str, Any]) -> Callable[[], Iterator[Any]]:
    """Columns as a source of a scan."""
    return lambda: iter([pa.record_batch({k: pa.array(v) for k, v in columns.items()})])


def soft(rng: Random, n: int) -> Any:
    """Memberships in eighths."""
    k = rng.choice([1, 2, 3])
    cuts = [[0, *sorted(rng.randint(0, 8) for _ in range(k - 1)), 8] for _ in range(n)]
    return np.diff(np.array(cuts), axis=1) / 8  # sums that are equal are equal in floats too


#: results of valid calls on a few points
MADE: dict[str, Callable[[Random, int], Any]] = {
    "compare": lambda r, n: cg.compare(labels(r, n), labels(r, n), r.choice([None, "all"])),
    "compare, gaps": lambda r, n: cg.compare(gapped(r, n), gapped(r, n), unassigned=r.choice(["drop", "cluster", "singletons"])),
    "compare, soft": lambda r, n: cg.compare(soft(r, n), soft(r, n)),
    "compare, covers": lambda r, n: cg.compare(cover(r, n), cover(r, n)),
    "compare, trees": lambda r, n: cg.compare(tree(r, n), tree(r, n)),
    "compare, ensembles": lambda r, n: cg.compare(*[cg.Ensemble([labels(r, n) for _ in range(3)]) for _ in "ab"]),
    "compare_all": lambda r, n: cg.compare_all([labels(r, n) for _ in range(3)], r.choice([["ari"], "all"])),
    "compare_to": lambda r, n: cg.compare_to(labels(r, n), {"x": labels(r, n), "y": labels(r, n)}, r.choice([None, "all"])),
    "contingency": lambda r, n: cg.contingency(labels(r, n), labels(r, n)), "match": lambda r, n: cg.match(labels(r, n), labels(r, n)),
    "scan": lambda r, n: cg.scan(batches({"a": labels(r, n), "b": labels(r, n)})),
    "column": lambda r, n: cg.scan(batches({"a": labels(r, n), "b": gapped(r, n)}))[r.choice("ab")],
    "scanned": lambda r, n: cg.compare_all(cg.scan(batches({"a": labels(r, n), "b": labels(r, n)})), ["ari", "vi"]),
    "partial_tables": lambda r, n: cg.partial_tables({"a": labels(r, n), "b": gapped(r, n)}),
    "Ensemble": lambda r, n: cg.Ensemble([gapped(r, n) for _ in range(3)], unassigned=r.choice(["partial", "cluster"])),
    "Ensemble, soft": lambda r, n: cg.Ensemble([soft(r, n) for _ in range(2)]), "Cover": cover, "Hierarchy": tree,
    "Similarity": lambda r, n: cg.Similarity(cg.consensus_matrix([labels(r, n) for _ in range(3)])),
    "Memberships": lambda r, n: cg.Memberships(soft(r, n)),
    "consensus": lambda r, n: cg.consensus([labels(r, n) for _ in range(3)], r.choice([None, 1, 2]), r.choice(["auto", "average"]), 0),
    "consensus, gaps": lambda r, n: cg.consensus(cg.Ensemble([gapped(r, n) for _ in range(3)], unassigned="partial"), 2, "voting", 0),
    "consensus_cdf": lambda r, n: cg.consensus_cdf([labels(r, n) for _ in range(3)]),
    "permutation_test": lambda r, n: cg.permutation_test(labels(r, n), labels(r, n), r.choice(["ari", "vi", "nmi_sum"]), 20, 0),
    "permutation_tests": lambda r, n: cg.permutation_tests([labels(r, n) for _ in range(3)], "ari", 20, 0),
    "confidence_interval": lambda r, n: cg.confidence_interval(labels(r, 60), labels(r, 60), r.choice(["ari", "rand"]), n_resamples=20),
    "adjusted": lambda r, n: cg.adjusted(r.choice(["jaccard", "accuracy"]), n_draws=20),
    "resolutions": lambda r, n: cg.resolutions({"r1": labels(r, n), "r2": labels(r, n), "r3": labels(r, n)}),
    "cut_curve": lambda r, n: cg.cut_curve(tree(r, n), tree(r, n)), "compare_cuts": lambda r, n: cg.compare_cuts(tree(r, n), tree(r, n)),
    "tanglegram": lambda r, n: cg.tanglegram(tree(r, n), tree(r, n)),
    "generate": lambda r, n: cg.generate(data(r, n), 2, [2], r.choice(["kmeans", "subsample", "projection", "features", "em"]), 0),
    "choose_k": lambda r, n: cg.choose_k(data(r, n), [2, 3], r.choice(["kmeans", "ward", "gaussian"]), random_state=0),
    "choose_k, criteria": lambda r, n: cg.choose_k(data(r, n), [2, 3], "kmeans", criteria=["silhouette", "gap"], random_state=0),
    "stability": lambda r, n: cg.stability(data(r, n), lambda z: (z[:, 0] > 2).astype(int), n_resamples=3, random_state=0),
    "alternatives": lambda r, n: cg.alternatives(data(r, n), labels(r, n), 2, method=r.choice(["orthogonal", "coala", "adft"]), n_init=1, random_state=0),
    "Binning": lambda r, n: cg.Binning(r.choice(["width", "frequency"]), r.choice([1, 3])).fit(data(r, n)),
    "density_profile": lambda r, n: (lambda x: cg.density_profile(x, labels(r, n), cg.Binning().fit(x)))(data(r, n)),
    "drift": lambda r, n: (lambda x: cg.drift([(x, labels(r, n)), (x, labels(r, n))]))(data(r, n)),
    "report": lambda r, n: cg.report([labels(r, n) for _ in range(2)], n_clusters=r.choice([None, 2])),
    "measure": lambda r, n: cg.measure(r.choice(["ari", "v_measure", "lambda", "omega", "adco", "cophenetic", "certainty"])),
    "ConsensusClustering": lambda r, n: cg.ConsensusClustering(2, random_state=0).fit(data(r, n)),
    "AlternativeClustering": lambda r, n: cg.AlternativeClustering(2, method="orthogonal", random_state=0).fit(data(r, n)),
}  # fmt: skip
#: results that take a second or more
SLOW = (
    "report",
    "choose_k",
    "choose_k, criteria",
    "alternatives",
    "generate",
    "stability",
    "ConsensusClustering",
    "consensus",
)


def methods_of(thing: Any) -> list[str]:
    """The public methods of a result."""
    names = [x for x in dir(type(thing)) if not x.startswith("_") and x not in NOT_CALLED]
    return [
        x
        for x in names
        if callable(getattr(thing, x, None)) and not inspect.ismethoddescriptor(getattr(type(thing), x))
    ]  # those of built-in types are left out


def chained(rng: Random, folder: Path, quick: bool = False) -> tuple[str, list[str], str]:
    """A result of a few points, and up to four of its methods and properties: all answer, or refuse in one line."""
    made = rng.choice([x for x in MADE if not quick or x not in SLOW])
    n = rng.choice([1, 2, 3, 4, 7, 12])
    shown, wrong = f"{made} of {n} points", []
    here = os.getcwd()
    os.chdir(folder)
    try:
        with (
            warnings.catch_warnings(record=True) as said,
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            warnings.simplefilter("always")
            try:
                thing = MADE[made](rng, n)
                f"{thing!s}{thing!r}"
                for name in rng.sample(methods_of(thing), min(4, len(methods_of(thing)))):
                    method = getattr(thing, name, None)  # `predict` depends on what was fitted
                    if method is None:
                        continue
                    given = {} if rng.random() < 0.5 else calls.arguments_of(rng, method, name, n)
                    needed = [p for p in inspect.signature(method).parameters.values() if p.default is p.empty]
                    if not given and any(p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in needed):
                        given = calls.arguments_of(rng, method, name, n)
                    shown += f", .{name}({', '.join(f'{k}={v!r:.60}' for k, v in given.items())})".replace("\n", " ")
                    calls.REACHED.add(f"{type(thing).__name__}.{name}")
                    by_place = [
                        given.pop(k) for k, p in inspect.signature(method).parameters.items() if p.kind is p.POSITIONAL_ONLY
                    ]  # fmt: skip
                    try:
                        calls.consumed(method(*by_place, **given))
                    except cg.InputError as error:
                        if not calls.allowed(error):
                            wrong.append(f"{type(error).__name__}: {str(error)[:300]}")
            except Exception as error:
                if not calls.allowed(error):
                    wrong.append(f"{type(error).__name__}: {str(error)[:300]}")
    finally:
        os.chdir(here)
    wrong += [f"raw warning: {w.category.__name__}: {w.message}"[:250] for w in said if calls.is_raw(w)]
    return shown, wrong, f"chain: {made}"


# --- values -----------------------------------------------------------------------------------------------------------


def close(x: float, y: float) -> bool:
    """Equal up to rounding; infinite values only to themselves."""
    return (math.isnan(x) and math.isnan(y)) or x == y or math.isclose(x, y, rel_tol=1e-7, abs_tol=1e-9)


def valued(rng: Random, folder: Path) -> tuple[str, list[str], str]:
    """Every measure of two clusterings by several routes, next to its naive definition."""
    n = rng.choice([1, 2, 3, 4, 6, 9])
    how = rng.choice(["labels", "weights", "counts", "soft", "gaps"])
    wrong: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if how == "soft":
            n = max(n, 2)  # one point has no pairs to share
            u, v = soft(rng, n), soft(rng, n)
            shown = f"soft {u.tolist()} {v.tolist()}"
            right = {key: naive.SOFT[key](u.tolist(), v.tolist()) for key in sorted(naive.SOFT)}
            routes = {
                "compare": lambda key: cg.compare(u, v, key)[key],
                "all": lambda key: cg.compare_all([u, v], [key])[key][0, 1],
            }
        else:
            a, b = labels(rng, n), labels(rng, n)
            options: dict[str, Any] = {}
            x, y, right_of = a, b, naive.MEASURES
            if how == "gaps":
                a, b = gapped(rng, n), gapped(rng, n)
                options["unassigned"] = rng.choice(["drop", "cluster", "singletons"])
                x, y, _ = oracle.pair(a, b, options["unassigned"])
            if how == "counts":
                options["frequency"] = [rng.randrange(4) for _ in range(n)]
                x, y = (
                    [s for s, f in zip(side, options["frequency"], strict=True) for _ in range(f)] for side in (a, b)
                )
            w = None
            if how == "weights":
                w = options["sample_weight"] = [rng.choice([0, 0.5, 1, 2, 3]) for _ in range(n)]
                right_of = naive.WEIGHTED
            shown = f"{how} {a} {b} {options}"
            if not x or len(x) > 20 or (w is not None and not sum(w)):
                return shown, [], f"values: {how}"
            keys = [k for k in rng.sample(sorted(right_of), 8) if max(len(set(x)), len(set(y))) <= 6]
            keys = [k for k in keys if k != "lambda" or len(set(x)) == len(set(y)) > 1]  # undefined else
            right = {key: right_of[key](x, y, w) if w is not None else right_of[key](x, y) for key in keys}
            mass = {} if how in ("labels", "gaps") else {"m": options.get("frequency", options.get("sample_weight"))}
            kept = {k: v for k, v in options.items() if k == "unassigned"}

            def scanned(key: str) -> float:
                s = cg.scan(batches({"a": a, "b": b, **mass}))
                weigh = {k: s["m"] for k in options if k != "unassigned"}
                return float(cg.compare(s["a"], s["b"], key, **kept, **weigh)[key])

            routes = {
                "compare": lambda key: cg.compare(a, b, key, **options)[key],
                "all": lambda key: cg.compare_all([a, b], [key], **options)[key][0, 1],
                "to": lambda key: cg.compare_to(a, {"b": b}, [key], **options)[key][0],
                "scan": scanned,
            }
        for key, way in itertools.product(right, rng.sample(sorted(routes), 2)):
            try:
                got = float(routes[way](key))
            except cg.InputError as error:
                if (
                    not isinstance(error, cg.NotApplicable)
                    and "scanned" not in str(error)
                    and "single point" not in str(error)
                ):
                    wrong.append(f"{key} by {way}: refused: {str(error)[:160]}")
                continue
            except Exception as error:
                wrong.append(f"{key} by {way}: {type(error).__name__}: {str(error)[:160]}")
                continue
            if not close(got, right[key]):
                wrong.append(f"{key} by {way} is {got}, not {right[key]}")
    return shown, wrong, f"values: {how}"
