"""Results of small and odd data, and every method of them."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa

import congruence as cg
from hostile import calls

#: methods that open windows, that scikit-learn makes at run time, or that engines call
NOT_CALLED = (
    "with_policy", "taken", "checked_block", "renamed", "on", "values", "check", "formula", "workings", "raw", "check_same_bins", "tables",
    "show", "open", "together", "pairwise", "sums", "value", "get_metadata_routing", "set_fit_request", "set_predict_request", "set_output",
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
    "alternatives": lambda r, n: cg.alternatives(data(r, n), labels(r, n), 2, method=r.choice(["orthogonal", "condens", "adft"]), n_init=1, random_state=0),
    "Binning": lambda r, n: cg.Binning(r.choice(["width", "frequency"]), r.choice([1, 3])).fit(data(r, n)),
    "density_profile": lambda r, n: (lambda x: cg.density_profile(x, labels(r, n), cg.Binning().fit(x)))(data(r, n)),
    "compare_profiles": lambda r, n: (lambda x, y: cg.compare_profiles(*[cg.density_profile(x, labels(r, n), cg.Binning().fit(x)) for _ in y]))(data(r, n), "ab"),
    "pair_sums": lambda r, n: cg.pair_sums(*[np.asarray(cg.consensus_matrix([labels(r, n) for _ in "xy"])) for _ in "pq"], range(n), range(n)),
    "alternative": lambda r, n: cg.alternatives(data(r, max(n, 4)), [0, 1] * (max(n, 4) // 2) + [0] * (max(n, 4) % 2), 2, method="orthogonal", random_state=0)[0],
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
    "alternative",
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
                    asked = dict(given)
                    by_place = [
                        given.pop(k) for k, p in inspect.signature(method).parameters.items() if p.kind is p.POSITIONAL_ONLY
                    ]  # fmt: skip
                    try:
                        calls.consumed(method(*by_place, **given))
                    except Exception as error:
                        wrong += calls.wrong_error(error, method, asked)
            except Exception as error:
                wrong += calls.wrong_error(error)
    finally:
        os.chdir(here)
    wrong += calls.raw_warnings(said)
    return shown, wrong, f"chain: {made}"
