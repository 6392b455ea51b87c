"""Random calls of public functions with odd arguments, and the faults they reveal."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import re
import warnings
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import congruence as cg
import congruence.typing
from hostile import broken_files, oracle
from hostile.odd_values import (
    Nothing,
    ensemble,
    label_vector,
    mass,
    memberships,
    odd,
    points,
    square,
    told_apart,
    tree,
    whole,
)

#: skip functions that cluster
QUICK = False
#: functions, methods and options that were called: "cg.compare(threads)", "matrix --memory"
REACHED: set[str] = set()


def consumed(result: Any) -> None:
    """Show a result, and run through an iterator."""
    if hasattr(result, "__next__"):
        for _ in zip(range(20), result, strict=False):
            pass
    f"{result!s}{result!r}"


#: an executor, as a place to count at
POOL = ThreadPoolExecutor(1)
#: typical values of arguments by name
BY_NAME: dict[str, Callable[[Random, int], Any]] = {
    "a": label_vector, "b": label_vector, "labels": label_vector, "reference": label_vector, "given": label_vector,
    "clusterings": ensemble, "ensemble": ensemble, "columns": ensemble, "X": points, "X_b": points, "data": points,
    "n_clusters": lambda r, n: r.choice([2, 2, 3, None, whole(r)]),
    "measures": lambda r, n: r.choice([None, "ari", ["ari", "vi"], ("ari",), "all", "nope", [], ["ari", "ari"], 3, cg.measure("ari")]),
    "measure": lambda r, n: r.choice(["ari", "vi", "jaccard", "nmi_sum", "nope", cg.measure("v_measure", beta=2), "certainty", None, 3]),
    "sample_weight": lambda r, n: mass(r, n, [[r.random() for _ in range(n)], [1e200] * n, [1e-200] * n, [float("nan")] * n, [float("inf")] * n, [0.5] * n]),
    "frequency": lambda r, n: mass(r, n, [[r.randrange(3) for _ in range(n)], [2] * n, [0.5] * n, [2**62] * n, [2**40 + i for i in range(n)]]),
    "member_weight": lambda r, n: r.choice([None, [1, 1], [0, 0], [-1], odd(r)]),
    "unassigned": lambda r, n: r.choice(["error", "drop", "drop", "singletons", "cluster", "partial", "x", None, 3]),
    "noise": lambda r, n: r.choice([None, None, -1, {0}, [0, 1], {"a": [0]}, "x", {"z": 1}, {"a": -1, "b": {0, 1}}, {"reference": 0}, {"m0": 0, "m1": ["x"]},
                                       np.int64(0), np.array([0]), ("c0", "c1"), {"a": None}, {0: 1}, frozenset({0.0}), range(2), odd(r)]),
    "align": lambda r, n: r.choice([None, None, "index", "position", "x", 3]),
    "threads": lambda r, n: r.choice([None, 1, 2, 0, -1, "2", 1.5, 10**9, np.int64(1), True]),
    "engine": lambda r, n: r.choice(["auto", "cpu", "cuda", "x", None, 3]),
    "random_state": lambda r, n: r.choice([0, 1, None, -1, "x", 1.5, np.random.default_rng(0), np.random.RandomState(0), 2**70, [1]]),
    "progress": lambda r, n: r.choice([None, False, True, lambda done, total: None, len, 3, "x"]),
    "n_members": lambda r, n: r.choice([2, 3, 0, -1, "2", 2.5, None]),
    "n_permutations": lambda r, n: r.choice([10, 5, 0, -1, "x", 2.5, None]),
    "n_resamples": lambda r, n: r.choice([10, 5, 0, -1, "x", 2.5, None]),
    "n_draws": lambda r, n: r.choice([10, 5, 0, -1, "x", 2.5, None]),
    "n_subsamples": lambda r, n: r.choice([2, 0, -1, "x"]),
    "k": lambda r, n: r.choice([[2, 3], range(1, 3), 2, [], [0], "x", None, [2.5], [-1]]),
    "n_jobs": lambda r, n: r.choice([None, 1, 0, "x", -3]),
    "kmax": lambda r, n: whole(r), "n": lambda r, n: r.choice([1, 3, 5, 0, -1, "x", 2.5, None]),
    "level": lambda r, n: r.choice([0.95, 0.5, 0, 1, -1, 2, "x", float("nan"), None]),
    "null": lambda r, n: r.choice(["permutation", "x", None, "all", "one_sided"]),
    "sided": lambda r, n: r.choice(["two", "a", "b", "x", None]),
    "block_p": square, "block_q": square, "matrix": square, "memberships": memberships,
    "rows": lambda r, n: r.choice([range(n), list(range(n)), slice(0, n), np.arange(n), -1, 256, 2, None, [n + 5], "x", [0, 0]]),
    "cols": lambda r, n: r.choice([range(n), list(range(n)), slice(0, n), np.arange(n), -1, None, [n + 5], "x", [0, 0]]),
    "batch": lambda r, n: r.choice([{"a": label_vector(r, n), "b": label_vector(r, n)}, ensemble(r, n), odd(r)]),
    "table": lambda r, n: r.choice([{"id": list(range(n)) * 2, "method": ["x"] * n + ["y"] * n, "label": [0, 1] * n}, odd(r)]),
    "ensembles": lambda r, n: r.choice([{2: ensemble(r, n), 3: ensemble(r, n)}, {}, {"x": ensemble(r, n)}, odd(r)]),
    "windows": lambda r, n: r.choice([[(points(r, n), label_vector(r, n)) for _ in range(2)], odd(r)]),
    "clusters": lambda r, n: r.choice([[[0, 1], [1, 2]], {"x": [0]}, [[]], np.eye(3), [[0, 0]], [["a"], [1]], odd(r)]),
    "points": lambda r, n: r.choice([None, 3, 5, ["a", "b", "c"], 0, -1, [0, 0], odd(r)]),
    "tree": tree,
    "ks": lambda r, n: r.choice([None, [1, 2], [2], [0], [10**9], "x", [2.5], []]),
    "ks_b": lambda r, n: r.choice([None, [1, 2], [0]]),
    "method": lambda r, n: r.choice(["auto", "kmeans", "average", "voting", "width", "x", None, 3, ["average", "x"]]),
    "criteria": lambda r, n: r.choice([None, ["silhouette"], "x", ["ari"], [], 3]),
    "clusterer": lambda r, n: r.choice([_kmeans(), None, "kmeans", len, lambda X: [0] * len(X)]),
    "fraction": lambda r, n: r.choice([0.8, 0.5, 0, 1, -1, 2, "x", None, float("nan")]),
    "threshold": lambda r, n: r.choice([None, 0.5, 0, 1, -1, "x", float("nan")]),
    "missing": lambda r, n: r.choice(["ratio", "plain", "pooled", "x", None, 3]),
    "bins": lambda r, n: r.choice([2, 3, 10, 0, -1, "x", 2.5, 10**15, None]),
    "binning": lambda r, n: r.choice(["width", "frequency", "mdl", "x", None, 3]),
    "inter": lambda r, n: r.choice([1, 4, 6, 0, 9, "x"]), "intra": lambda r, n: r.choice([1, 3, 0, 9, "x"]),
    "dtype": lambda r, n: r.choice([np.float64, np.float32, int, "x", None]),
    "n_alternatives": lambda r, n: r.choice([1, 2, 0, -1, "x"]),
    "n_init": lambda r, n: r.choice([None, 1, 2, 0, "x"]),
    "order": lambda r, n: r.choice([None, "n_clusters", ["m0", "m1"], ["x"], 3]),
    "out": lambda r, n: r.choice([None, None, 3, "", "/nope/x.html", "x.txt", odd(r)]),
    "names": lambda r, n: r.choice([None, ["x", "y"], ["x", "x"], [1, 2], 3, "xy"]),
    "key": lambda r, n: r.choice(["ari", "v_measure", "nope", 3, None]),
    "by": lambda r, n: r.choice(["cluster", "quality", "diversity", "joint", "x", None]),
    "alpha": lambda r, n: r.choice([0.5, 0, 1, -1, 2, "x", float("nan")]),
    "sample": lambda r, n: r.choice([None, 2, 100, 0, -1, "x"]),
    "tolerance": lambda r, n: r.choice([1e-8, -1, "x", None, float("nan")]),
    "correction": lambda r, n: r.choice(["holm", "bh", "none", "x", None]),
    "title": lambda r, n: r.choice([None, "x", 3, "<script>", "\udcff"]),
    "memory": lambda r, n: r.choice([None, "1GB", "1B", "x", -1, 0, float("nan"), 1e9]),
    "stop_after": lambda r, n: r.choice([None, 3, 0, -1, "x"]),
    "sizes": lambda r, n: r.choice(["given", "scaled", "sample", "x", None]),
    "nominal": lambda r, n: r.choice([(), [0], ["x"], 3, [99], None]),
    "balance": lambda r, n: r.choice([0.05, 0, -1, "x", float("nan")]),
    "scheme": lambda r, n: r.choice(["bootstrap", "subsample", "jitter", "noise", "x", None]),
    "jitter": lambda r, n: r.choice([0.05, 0, -1, "x"]),
    "backend": lambda r, n: r.choice([None, "plotly", "matplotlib", "pandas", "polars", "pyarrow", "x", 3]),
    "checkpoint": lambda r, n: r.choice([None, "kept", Path("kept"), "", "\0", 3, odd(r)]),
    "client": lambda r, n: r.choice([None, POOL, 3, "", "nope", Nothing(), [], "tcp://"]),
    "skip_bad": lambda r, n: r.choice([True, False, None, "x", 3, np.True_]),
    "na_values": lambda r, n: r.choice([None, [], ["0"], "NA", [1], ["", "x"], 3]),
    "limit": lambda r, n: r.choice([None, 1, 2, 10**6, 0, -1, 2.5, "x", True]),
    "bivariate": lambda r, n: r.choice([True, False, None, "x", np.array([1, 2])]),
    "adjusted": lambda r, n: r.choice([True, False, None, "x", 3]),
    "matching": lambda r, n: r.choice(["one", "soft", "x", None, 3]),
    "scale": lambda r, n: r.choice([True, False, None, "x"]),
    "mean": lambda r, n: r.choice(["arithmetic", "harmonic", "geometric", "x", None]),
    "weights": lambda r, n: r.choice(["clusters", "points", "x", None, [1, 2]]),
    "average_method": lambda r, n: r.choice(["arithmetic", "max", "min", "geometric", "x", None]),
    "normaliser": lambda r, n: r.choice(["max", "min", "sum", "sqrt", "x", None]),
    "normalised": lambda r, n: r.choice([True, False, None, "x"]),
    "min_size": lambda r, n: r.choice([None, 1, 2, 0, -1, 10**9, "x"]),
    "protocol": lambda r, n: r.choice([None, "paper", "x", 3]),
    "beta": lambda r, n: r.choice([1, 0.5, 2, 0, -1, float("inf"), float("nan"), "x"]),
    "k_min": lambda r, n: r.choice([1, 2, 0, -1, 99, "x", None]),
    "refine": lambda r, n: r.choice([True, False, None, "x"]),
    "window": lambda r, n: r.choice([None, "x", 3]), "features": lambda r, n: r.choice([None, ["x"], ["x", "x"], "x", [0], 3]),
    "r": lambda r, n: r.choice([1.0, 0, -2, 5, float("nan"), float("inf"), "x"]),
    "zero_cells": lambda r, n: r.choice([0.0, 1e-5, 1, -1, float("nan"), "x"]),
    "axes": lambda r, n: r.choice([None, ["x", "y"], ["x"], "xy", [0, 1], 3]), "ids": lambda r, n: r.choice([None, list(range(n)), ["x"] * n, [0], 3]),
    "duplicates": lambda r, n: r.choice(["keep", "drop", "error", "x", None]), "keys": lambda r, n: r.choice(["clusters", "points", "x", None]),
    "name": lambda r, n: r.choice(["ari", "v_measure", "lambda", "nope", "", None, 3, cg.measure("ari")]),
    "pairs": lambda r, n: r.choice([None, [("a", "b")], [("a", "a")], [("a", "z")], [], ["ab"], 3]),
    "id": lambda r, n: r.choice([None, "id", "a", "nope", 3]), "label": lambda r, n: r.choice(["label", "id", "x", None]),
    "spare": lambda r, n: r.choice([True, False, "x"]), "complete": lambda r, n: r.choice([True, False, "x"]),
    "solver": lambda r, n: r.choice(["auto", "metis", "spectral", "highs", "x", None, 3]),
    "variant": lambda r, n: r.choice([None, "spectral", "sparse", "x", 3]),
    "options": lambda r, n: r.choice([None, {}, {"epsilon": 0.1}, {"x": 1}, "x", 3]),
    "standardise": lambda r, n: r.choice([False, True, "x"]),
}  # fmt: skip


def _kmeans() -> Any:
    from sklearn.cluster import KMeans

    return KMeans(2, n_init=1)


FUNCTIONS = [
    "compare", "compare_all", "compare_to", "contingency", "match", "relabel", "element_scores", "Ensemble", "Similarity",
    "Memberships", "Cover", "Hierarchy", "consensus_matrix", "consensus_index", "member_agreement", "cluster_consensus",
    "consensus_silhouette", "item_consensus", "consensus_cdf", "delta_area", "random_partitions", "certainty_random", "pair_sums",
    "dunn", "dissimilarity_quality", "Binning", "density_profile", "compare_profiles", "drift", "merge", "partial_tables",
    "select_members", "permutation_test", "permutation_tests", "confidence_interval", "adjusted", "from_long", "measure",
    "resolutions", "cut_curve", "compare_cuts", "tanglegram", "scan", "read_cover", "ari", "vi", "ami_max", "arimp", "arimm", "kas",
    "nsf", "sms", "certainty", "pnmi", "anmi", "adco", "omega", "lambda_statistic", "v_measure", "cophenetic", "pooled_ami",
]  # fmt: skip
#: functions that cluster: fewer cases, as each takes long
SLOW = [
    "consensus",
    "generate",
    "stability",
    "choose_k",
    "alternatives",
    "report",
    "figure",
    "rank",
    "check_clusters",
    "sweep",
]
#: usual values that keep the slow ones fast
FAST: dict[str, dict[str, Any]] = {
    "consensus": {"method": "average", "n_clusters": 2},
    "generate": {"n_members": 2, "n_clusters": [2]},
    "stability": {"n_resamples": 3},
    "sweep": {"grid": {"n_clusters": [2, 3]}, "n_repeats": 2},
    "choose_k": {"k": [2, 3], "method": "kmeans"},
    "alternatives": {"method": "orthogonal", "n_clusters": 2, "n_init": 1},
    "report": {"n_clusters": 2},
    "permutation_test": {"n_permutations": 10},
    "permutation_tests": {"n_permutations": 10},
    "confidence_interval": {"n_resamples": 10},
}


def arguments(rng: Random, name: str, n: int) -> dict[str, Any]:
    """Keyword arguments of a public function."""
    return arguments_of(rng, getattr(cg, name), name, n)


def arguments_of(
    rng: Random, function: Callable[..., Any], name: str, n: int, turn: int | None = None
) -> dict[str, Any]:
    """Keyword arguments of a function: all that it needs, a few more, and the optional one whose turn it is; some are odd."""
    given = dict(FAST.get(name, {}))
    kept = [
        x for x in inspect.signature(function).parameters.values() if x.kind not in (x.VAR_KEYWORD, x.VAR_POSITIONAL)
    ]
    optional = [x.name for x in kept if x.default is not x.empty]
    asked = optional[turn % len(optional)] if turn is not None and optional else None
    for key, parameter in ((x.name, x) for x in kept if x.name != "self"):
        needed = parameter.default is parameter.empty or key == asked
        if not needed and rng.random() > 0.18:
            continue
        usual = BY_NAME.get(key)
        if key in given and key != asked and rng.random() < 0.8:
            continue
        given[key] = odd(rng) if usual is None or rng.random() < 0.04 else usual(rng, n)
    return given


def allowed(
    error: BaseException, function: Callable[..., Any] | None = None, given: Mapping[str, Any] | None = None
) -> bool:
    """Whether this is a proper refusal of bad input, Python's own error for an argument of a wholly different type, or an
    error of a method that an estimator inherits from scikit-learn."""
    if isinstance(error, cg.InputError):
        return bool(str(error)) and "\n" not in str(error)
    if function is None or not isinstance(error, TypeError | AttributeError | LookupError | ValueError):
        return False
    if function.__module__.startswith("sklearn."):
        return True  # a method of scikit-learn, which has no types to compare with
    kinds = {x.name: str(x.annotation) for x in inspect.signature(function).parameters.values()}
    return any(is_nonsense(value, kinds.get(name, "")) for name, value in (given or {}).items())


#: values of the types that annotations name; other names are classes, and those of `congruence.typing` take several kinds of objects
FITTING: dict[str, Callable[[Any], bool]] = {
    "None": lambda x: x is None, "str": lambda x: isinstance(x, str), "bytes": lambda x: isinstance(x, bytes),
    "bool": lambda x: isinstance(x, bool | np.bool_), "int": lambda x: isinstance(x, int | np.integer),
    "float": lambda x: isinstance(x, int | float | np.number), "Array": lambda x: isinstance(x, np.ndarray),
    "PathLike": lambda x: isinstance(x, str | os.PathLike), "Path": lambda x: isinstance(x, os.PathLike),
    **dict.fromkeys(
        ("Sequence", "Collection", "Iterable", "Several", "list", "tuple", "range"),
        lambda x: isinstance(x, list | tuple | set | frozenset | range | dict) or (isinstance(x, np.ndarray) and x.ndim == 1),
    ),
    **dict.fromkeys(("Mapping", "dict"), lambda x: isinstance(x, dict)), "Callable": callable,
}  # fmt: skip


def is_nonsense(value: Any, annotation: str) -> bool:
    """Whether a value is of no type that the annotation names."""
    if annotation in ("", str(inspect.Parameter.empty)):  # keys of a mapping
        return not isinstance(value, Hashable)
    for part in re.split(r"\|(?![^\[]*\])", annotation.strip("'")):
        name = re.sub(r"\[.*\]", "", part.strip()).rpartition(".")[2]
        if name in FITTING:
            fits = FITTING[name](value)
        elif name == "Literal":
            fits = isinstance(value, str)
        elif name.endswith("Like") or name == "Frame":
            fits = any(hasattr(value, x) for x in ("__len__", "__array__", "__arrow_c_stream__", "__next__", "collect"))
        else:
            foreign = type(value).__module__.partition(".")[0] in (
                "pyarrow",
                "pandas",
                "polars",
            )  # they have a Table too
            fits = hasattr(congruence.typing, name) or (
                not foreign and any(x.__name__ == name for x in type(value).__mro__)
            )
        if fits:
            return False
    return True


def complaints_of(rng: Random, folder: Path) -> tuple[str, list[str], str]:
    """(what was called, what is wrong with it, which kind of case it was) for one random call."""
    draw = rng.random()
    if draw < 0.3:
        return doors(rng, folder)
    name = rng.choice(SLOW if draw < 0.34 and not QUICK else FUNCTIONS)
    n = rng.choice([1, 2, 3, 6, 9])
    given: dict[str, Any] = {}
    wrong: list[str] = []
    result = None
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            given = arguments(rng, name, n)
        except cg.InputError:
            return f"{name}: an argument could not be made", [], name
        shown = f"cg.{name}({', '.join(f'{k}={v!r:.90}' for k, v in given.items())})".replace("\n", " ")
        kept = {k: told_apart(v) for k, v in given.items() if k in ("a", "b")}
        here = os.getcwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
                REACHED.update(f"cg.{name}({key})" for key in given)
                result = getattr(cg, name)(**given)
                consumed(result)
        except Exception as error:
            wrong += wrong_error(error, getattr(cg, name), given)
        else:
            if (out.getvalue() or err.getvalue()) and given.get("progress") is not True:
                wrong.append(f"printed {out.getvalue()[:80]!r}{err.getvalue()[:80]!r}")
        finally:
            os.chdir(here)
    wrong += raw_warnings(said)
    if left := [p.name for p in folder.iterdir() if p.name not in ("x.html", "kept")]:
        wrong.append(f"left behind: {left}")
    wrong += values_of_pair(name, given, kept, result)
    return shown, wrong, name


def wrong_error(
    error: BaseException, function: Callable[..., Any] | None = None, given: Mapping[str, Any] | None = None
) -> list[str]:
    """The complaint about an error, unless it is a proper refusal."""
    return [] if allowed(error, function, given) else [f"{type(error).__name__}: {str(error)[:300]}"]


def raw_warnings(said: list[Any]) -> list[str]:
    """Complaints about warnings of other libraries that reached the user."""
    return [f"raw warning: {w.category.__name__}: {w.message}"[:250] for w in said if is_raw(w)]


def is_raw(warning: Any) -> bool:
    """A warning of another library that reached the user."""
    if "it was read as cp1252" in str(warning.message) or "sheets; the first, " in str(warning.message):
        return False
    ours = (
        "congruence" in warning.filename or "hostile" in warning.filename
    )  # of the package, or the line that called it
    return not ours or issubclass(warning.category, RuntimeWarning | DeprecationWarning)


def values_of_pair(name: str, given: dict[str, Any], kept: dict[str, Any], result: Any) -> list[str]:
    """Whether the value of two label vectors equals the naive one."""
    if (
        result is None
        or name not in ("compare", "ari", "vi", "ami_max")
        or kept.get("a") is None
        or kept.get("b") is None
    ):
        return []
    if set(given) - {"a", "b", "measures", "unassigned", "threads", "engine"}:
        return []
    unassigned = given.get("unassigned", "error")
    if len(kept["a"]) != len(kept["b"]):
        return ["vectors of different lengths were compared"]
    values = {name: result} if name != "compare" else result.to_dict()
    wrong = []
    x, y, _ = oracle.pair(kept["a"], kept["b"], unassigned)
    for key, got in values.items():
        if key in oracle.CHEAP and x:
            right = oracle.value(key, x, y)
            if not oracle.close(got, right):
                wrong.append(f"{key} is {got}, not {right}")
    return wrong


def doors(rng: Random, folder: Path) -> tuple[str, list[str], str]:
    """Functions that read files: each gives the result of the independent reader and the naive formulas, or refuses."""
    return judged_doors(rng, broken_files.a_file(rng, folder, whole=0.5), folder)


def judged_doors(rng: Random, made: broken_files.Made, folder: Path) -> tuple[str, list[str], str]:
    """The same for a file that is there."""
    key = rng.choice(oracle.CHEAP)
    unassigned = rng.choice(["error", "drop", "cluster", "singletons"])
    ways: dict[str, Callable[[], Any]] = {
        "path": lambda: cg.compare_all(made.path, [key], unassigned=unassigned),
        "text": lambda: cg.compare_all(os.fspath(made.path), [key], unassigned=unassigned),
        "ensemble": lambda: cg.compare_all(cg.Ensemble(made.path, unassigned=unassigned), [key]),
        "scan": lambda: cg.compare_all(cg.scan(made.path), [key], unassigned=unassigned),
        "scan, little memory": lambda: cg.compare_all(cg.scan(made.path, memory="1MB"), [key], unassigned=unassigned),
        "scanned ensemble": lambda: cg.compare_all(cg.Ensemble(cg.scan(made.path), unassigned=unassigned), [key]),
        "scan, two threads": lambda: cg.compare_all(cg.scan(made.path, threads=2), [key], unassigned=unassigned),
    }
    wrong = []
    how = rng.sample(list(ways), 3)
    before = {p: p.stat(follow_symlinks=False).st_mtime_ns for p in folder.rglob("*")}
    found: dict[str, Any] = {}
    for way in how:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                found[way] = ways[way]()
            except Exception as error:
                if not allowed(error):
                    wrong.append(f"{way}: {type(error).__name__}: {str(error)[:300]}")
        wrong += [f"{way}: {text}" for text in raw_warnings(said)]
    if {p: p.stat(follow_symlinks=False).st_mtime_ns for p in folder.rglob("*")} != before:
        wrong.append("files were changed or left behind")
    if found and made.path.is_file():
        from hostile.commands import compared

        for way, r in found.items():
            try:  # a scan does not check columns that it does not count
                columns = oracle.read(made.path, r.names if "scan" in way else None)
            except oracle.Ambiguous:
                continue
            except oracle.Unreadable as error:
                wrong.append(f"{way} answered where the independent reader says {error}")
                continue
            answer = {"names": list(r.names), key: [[None if v != v else float(v) for v in row] for row in r[key]]}
            wrong += [f"{way}: {x}" for x in compared(answer, columns, unassigned, None, None)]
    return f"{made.how}: {made.path.name!r} {key} {unassigned} by {how}", wrong, f"doors: {made.how}"
