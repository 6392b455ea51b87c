"""Every option of every command and every public function and method, found by inspection, with usual and odd values."""

from __future__ import annotations

import contextlib
import gzip
import inspect
import io
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import congruence as cg
from hostile import broken_files, calls
from hostile.chains import NOT_CALLED, batches
from hostile.commands import ODD_WORDS, Line, columns_of
from hostile.running import COMMAND

# --- files of further kinds, and text as attackers write it -----------------------------------------------------------

TEXTS: dict[str, Callable[[Random], bytes]] = {
    "header only": lambda r: b"a,b,c\n",
    "no line end": lambda r: b"a,b",
    "one column": lambda r: b"a\n0\n1\n",
    "empty names": lambda r: b",,\n0,1,2\n1,1,2\n",
    "an empty name": lambda r: b"a,,c\n0,1,2\n1,1,2\n0,0,1\n",
    "names twice": lambda r: b"a,a,b\n0,1,2\n1,1,2\n",
    "ragged": lambda r: b"a,b,c\n0,1\n0,1,2\n0,1,2,3\n",
    "unclosed": lambda r: b'a,b\n"0,1\n1,1\n0,0\n',
    "quotes": lambda r: b'a,b\n"0"x,1\n"1""",1\n0,"0"\n',
    "line ends in fields": lambda r: b'a,b\n"0\n1",1\n"1\r\n",1\n0,0\n',
    "old mac": lambda r: b"a,b\r0,1\r1,1\r0,0\r",
    "mixed ends": lambda r: b"a,b\r\n0,1\n1,1\r0,0\n",
    "NUL": lambda r: b"a,b\n0\x00,1\n1,1\n\x000,0\n",
    "huge field": lambda r: b"a,b\n" + b"x" * r.choice([70_000, 2_000_000]) + b",1\nx,1\ny,0\n",
    "huge header": lambda r: b"x" * 100_000 + b",b\n0,1\n1,1\n",
    "many columns": lambda r: ",".join(f"c{i}" for i in range(60)).encode() + b"\n" + (b"0," * 59 + b"1\n") * 3,
    "UTF-16": lambda r: "a,b\né,1\nü,1\né,0\n".encode("utf-16"),
    "UTF-16 without mark": lambda r: "a,b\né,1\nü,1\né,0\n".encode("utf-16-le"),
    "UTF-32": lambda r: "a,b\né,1\nü,1\né,0\n".encode("utf-32"),
    "two marks": lambda r: b"\xef\xbb\xbf\xef\xbb\xbfa,b\n0,1\n1,1\n",
    "latin-1": lambda r: "a,b\né,1\nü,1\né,0\n".encode("latin-1"),
    "not cp1252": lambda r: b"a,b\n\x81,1\n\x8d,1\n0,0\n",
    "overlong UTF-8": lambda r: b"a,b\n\xc0\xaf,1\n\xed\xa0\x80,1\n0,0\n",
    "spaces": lambda r: b"a b\n0 1\n1  1\n0 0\n",
    "semicolons and commas": lambda r: b"a;b\n0,5;1,5\n1,5;1,5\n0;1\n",
    "comments": lambda r: b"# made by me\na,b\n0,1\n1,1\n",
    "only line ends": lambda r: b"\n\n\r\n\n",
    "only commas": lambda r: b",,,\n,,,\n,,,\n",
    "only gaps": lambda r: b"a,b\nNA,NA\nNA,\n",
    "numbers as names": lambda r: b"0,1\n0,1\n1,1\n",
    "html": lambda r: b"<html><body><table></table></body></html>",
    "sep line": lambda r: b"sep=;\na;b\n0;1\n1;1\n",
    "form feeds": lambda r: b"a,b\x0c\n0,1\x0b\n1,1\x85\n",
    "trailing commas": lambda r: b"a,b,\n0,1,\n1,1,\n0,0,\n",
    "fullwidth digits": lambda r: "a,b\n１,1\n1,1\n２,0\n".encode(),
    "large numbers": lambda r: b"a,b\n" + b"9" * 400 + b",1\n1e999,1\n-1e999,0\n",
    "hexadecimal": lambda r: b"a,b\n0x10,1\n16,1\n1_6,0\n",
    "inf and nan": lambda r: b"a,b\ninf,1\n-inf,1\nnan,0\nInfinity,0\n",
}
JSON: list[Any] = [
    None, 3, "x", [], {}, [[]], [{}], [{}, {}], {"a": []}, {"a": [0, 1], "b": [0]}, {"a": [0, 1], "b": [1, 1]},
    [{"a": 0, "b": 1}, {"a": 1}], [{"a": 0}, 3], {"a": {"0": 1, "1": 2}}, {"a": [[0], [1]], "b": [0, 1]},
    {"a": [10**30, 1], "b": [1.5, "x"]}, {"a": [True, "x"], "b": [None, None]}, {"": [0, 1], "b": [0, 1]},
    [{"a": {"x": 1}, "b": 2}, {"a": {"x": 2}, "b": 2}], {"a": ["\ud800", "x"], "b": [0, 1]}, {"a": [1e400, 2], "b": [0, 1]},
    {"a": ["0", "0", "1"], "b": ["x", "y", "y"]}, [{"id": i, "a": i % 2, "b": i % 3} for i in range(6)], [[0, 1], [1, 0]],
]  # fmt: skip


def further_file(rng: Random, folder: Path) -> broken_files.Made:
    """A text file by hand, JSON, a workbook, something compressed, or a file with the name of another kind."""
    draw = rng.random()
    if draw < 0.5:
        how = rng.choice(list(TEXTS))
        content, kind = TEXTS[how](rng), rng.choice(["csv", "csv", "txt", "tsv"])
    elif draw < 0.75:
        how, kind = "json", rng.choice(["json", "jsonl", "ndjson"])
        thing = rng.choice(JSON)
        lines = isinstance(thing, list) and kind != "json"
        content = ("\n".join(map(json.dumps, thing)) if lines else json.dumps(thing)).encode("utf-8", "surrogatepass")
        if rng.random() < 0.2:
            content, how = broken_files.spoil(rng, content)
    elif draw < 0.9:
        kind = rng.choice(["xlsx", "xlsx", "ods", "ods", "xls"])
        how, content = "workbook", workbook(rng, kind)
        if rng.random() < 0.4:
            content, how = broken_files.spoil(rng, content)
    else:
        how, kind = "h5ad", "h5ad"
        content = rng.choice([b"", b"\x89HDF\r\n\x1a\n" + bytes(80), rng.randbytes(100), *[annotated()] * 7])
        if rng.random() < 0.7:
            content, how = broken_files.spoil(rng, content)
            how = f"h5ad, {how}"
    if rng.random() < 0.1:
        kind, content = f"{kind}.gz", gzip.compress(content) if rng.random() < 0.7 else content
    if rng.random() < 0.05:
        kind = rng.choice(["csv", "parquet", "npy", "npz", "feather", "json", "xlsx", "zip", "pkl", ""])
    path = folder / f"labels.{kind}"
    path.write_bytes(content)
    return broken_files.Made(path, False, f"by hand: {how}")


@lru_cache(maxsize=1)
def annotated() -> bytes:
    """An h5ad file with labels, numbers and an embedding."""
    try:
        import anndata
        import pandas as pd
    except ImportError:
        return b"\x89HDF\r\n\x1a\n"
    names = pd.Index([f"cell{i}" for i in range(24)], dtype=object)
    obs = pd.DataFrame({"leiden": pd.Categorical(A), "louvain": B, "kmeans": pd.Categorical([0, 1] * 12)}, index=names)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        anndata.AnnData(
            X, obs=obs, var=pd.DataFrame(index=pd.Index(list("wxyz"), dtype=object)), obsm={"X_umap": X[:, :2]}
        ).write_h5ad(f"{folder}/x.h5ad")
        return Path(f"{folder}/x.h5ad").read_bytes()


def workbook(rng: Random, kind: str = "xlsx") -> bytes:
    """A workbook with cells of many types."""
    cells: list[Any] = [0, 1, 1.5, "x", "", None, True, "=1/0", "#N/A", "2024-01-01", 10**20, " x "]
    try:
        import openpyxl

        if kind == "ods":
            import odf  # noqa: F401
            import pandas as pd

            rows = [[rng.choice(cells[:7]) for _ in range(3)] for _ in range(rng.choice([0, 1, 5]))]
            stream = io.BytesIO()
            pd.DataFrame(rows, columns=list("abc")).to_excel(stream, engine="odf", index=False)
            return stream.getvalue()
    except ImportError:
        return b"PK\x03\x04"
    book = openpyxl.Workbook()
    sheet = book.active
    for _ in range(rng.choice([0, 1, 2, 5])):
        sheet.append([rng.choice(cells) for _ in range(rng.choice([1, 2, 3, 3]))])
    if rng.random() < 0.3:
        book.create_sheet("more").append(["z"])
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


# --- every option of every command ------------------------------------------------------------------------------------

#: usual values of options, by name; "{column}" is a column of the file and "{file}" a file
USUAL: dict[str, list[str]] = {
    "measures": ["ari", "ari,vi", "all", "nope", "element_centric"], "k": ["2", "2..3", "2,3", "1"], "k_min": ["1", "2", "0"],
    "columns": ["{column}", "{column},{column}", "*"], "data_columns": ["{column}", "*"], "features": ["{column}", "*"],
    "reference": ["{column}"], "id": ["{column}"], "long": ["{column},{column},{column}", "{column}"], "labels": ["{column}", "{file}"],
    "weight": ["{column}"], "frequency": ["{column}"], "nominal": ["{column}"], "window": ["{column}"], "axes": ["{column},{column}", "umap"],
    "order": ["{column}", "n_clusters"], "color": ["{column}"], "against": ["{file}", "{column}"], "data": ["{file}"],
    "unassigned": ["error", "drop", "singletons", "cluster", "keep"], "noise": ["-1", "0", "x", "{column}=0"], "title": ["<b>", "x"],
    "seed": ["0", "1", "-1", "99999999999999999999"], "threads": ["1", "2", "0", "-1", "1000000000"], "jobs": ["1", "0", "-1", "x"],
    "format": ["json", "csv", "markdown", "table", "x"], "format_in": ["cover", "points", "long", "json", "x"], "n": ["3", "0", "-1", "x"],
    "keys": ["points", "clusters", "x"], "na_values": ["NA", "-", ",", "0"], "layer": ["X", "nope"], "engine": ["cpu", "auto", "cuda", "x"],
    "fail_under": ["ari=0.5", "ari=2", "x"], "permutations": ["20", "1", "0", "x"], "level": ["0.9", "0", "1", "95", "nan"],
    "correction": ["holm", "bh", "none", "x"], "client": ["nope"], "checkpoint": ["kept", "{file}"], "memory": ["1GB", "1MB", "1B", "x"],
    "least": ["1", "0", "-1", "x"], "members": ["2", "1", "0", "x"], "method": ["kmeans", "average", "voting", "orthogonal", "x"],
    "fraction": ["0.5", "0", "1", "nan"], "missing": ["ratio", "plain", "pooled", "x"], "threshold": ["0.5", "0", "-1", "nan", "2"],
    "select": ["2", "1", "0", "100"], "select_by": ["quality", "x"], "variant": ["x", "sparse"], "solver": ["x", "metis"],
    "balance": ["0.05", "-1", "nan"], "criteria": ["silhouette", "x", "pac"], "protocol": ["paper", "x"], "curve": ["wallace", "ari", "x"],
    "min_size": ["1", "0", "100"], "binning": ["width", "frequency", "mdl", "x"], "bins": ["2", "0", "1000000000000"], "n_init": ["1", "0"],
    "option": ["x", "epsilon=0.1", "="], "matching": ["one", "soft", "x"], "sizes": ["given", "scaled", "x"],
    "measure": ["adco", "ari", "x"], "key": ["ari", "x"],
}  # fmt: skip
#: options that are never given: one opens a browser, one shows tracebacks
LEFT_OUT = ("open_page", "debug", "help")
#: options that name a file to write
WRITTEN = {"out": ["csv", "json", "html", "npz", "parquet", "txt", "x"], "plot": ["html", "svg", "png", "x"],
           "nodes": ["csv", "x"], "edges": ["parquet", "x"]}  # fmt: skip
#: what keeps commands that cluster fast
FAST = {"generate": ["--members", "2", "--k", "2"], "choose-k": ["--members", "2", "--k", "2,3", "--method", "kmeans"],
        "alternatives": ["--method", "orthogonal", "--k", "2"], "consensus": ["--k", "2", "--method", "average"]}  # fmt: skip


def any_line(rng: Random, folder: Path) -> tuple[Line, broken_files.Made, str]:
    """Any command with any of its options."""
    command = rng.choice([name for name in COMMAND.commands if name != "demo"])
    maker = rng.choices([further_file, broken_files.a_file, broken_files.numbers_file], [5, 3, 2])[0]
    made = maker(rng, folder)
    names = (columns_of(made.path) if made.path.is_file() else []) or ["a", "b"]
    line = Line(rng, folder)
    line.is_odd = True
    line.argv = [command]

    def filled(text: str) -> str:
        while "{column}" in text:
            text = text.replace("{column}", rng.choice(names), 1)
        return text.replace("{file}", str(made.path))

    calls.REACHED.add(command)
    for parameter in COMMAND.commands[command].params:
        name = str(parameter.name)
        if parameter.param_type_name == "argument":
            if name in ("file", "data", "a", "b"):
                line.argv.append(str(made.path))
            elif rng.random() < 0.6:
                line.argv += (
                    [filled("{column}") for _ in range(rng.choice([1, 2, 2, 3]))] if parameter.nargs < 0 else ["ari"]
                )
            continue
        needed = parameter.required or name in ("labels", "window")
        if name in LEFT_OUT or (not needed and rng.random() > 0.12):
            continue
        option = rng.choice(parameter.opts)
        calls.REACHED.add(f"{command} {parameter.opts[0]}")
        if getattr(parameter, "is_flag", False):
            line.argv.append(option)
        elif name in WRITTEN:
            place = folder / f"{name}.{rng.choice(WRITTEN[name])}"
            line.outs.append(place)
            line.argv += [option, str(place)]
        else:
            words = USUAL.get(name, ODD_WORDS) if rng.random() < 0.8 else ODD_WORDS
            line.argv += [option, filled(rng.choice(words))]
            if name == "checkpoint":
                line.kept = str(Path(line.argv[-1]))
    line.argv += FAST.get(command, []) if rng.random() < 0.9 else []
    return line, made, command


# --- every public function and method ---------------------------------------------------------------------------------

A, B = [0, 0, 1, 1, 2, 2, 0, 1] * 3, [0, 1, 1, 1, 2, 2, 0, 0] * 3
X = np.random.default_rng(0).normal(size=(24, 4)) + np.array(A)[:, None] * 4.0
TREE = cg.Hierarchy([[0, 1], [2, 3]])
MADE: dict[str, Callable[[], Any]] = {
    "Ensemble": lambda: cg.Ensemble([A, B, A[::-1]]), "Cover": lambda: cg.Cover([[0, 1], [1, 2], [3]], points=5),
    "Hierarchy": lambda: cg.Hierarchy([[0, 1], [2, [3, 4]]]), "Table": lambda: cg.contingency(A, B),
    "Memberships": lambda: cg.Memberships(np.eye(3)[A]), "Similarity": lambda: cg.Similarity(np.eye(4)),
    "Measure": lambda: cg.measure("v_measure", beta=2), "Comparison": lambda: cg.compare(A, B),
    "AllPairs": lambda: cg.compare_all([A, B, A[::-1]], ["ari", "vi"]), "AgainstReference": lambda: cg.compare_to(A, {"b": B}),
    "PartialTables": lambda: cg.partial_tables({"a": A, "b": B}), "Matching": lambda: cg.match(A, B),
    "Binning": lambda: cg.Binning().fit(X), "Profile": lambda: cg.density_profile(X, A, cg.Binning().fit(X)),
    "PermutationTest": lambda: cg.permutation_test(A, B, "ari", 20, 0), "Adjusted": lambda: cg.adjusted("jaccard"),
    "PermutationTests": lambda: cg.permutation_tests([A, B, A[::-1]], "ari", 20, 0),
    "Resolutions": lambda: cg.resolutions({"a": A, "b": B}), "CutCurve": lambda: cg.cut_curve(TREE, [0, 0, 0, 1]),
    "CutTable": lambda: cg.compare_cuts(TREE, TREE), "Consensus": lambda: cg.consensus([A, B], 2, "average"),
    "Tanglegram": lambda: cg.tanglegram(TREE, cg.Hierarchy([[0, 1, 2], 3])), "Drift": lambda: cg.drift([(X, A), (X, B)]),
    "ProfileComparison": lambda: cg.compare_profiles(*[cg.density_profile(X, y, cg.Binning().fit(X)) for y in (A, B)]),
    "KChoice": lambda: cg.choose_k(X, [2, 3], method="kmeans", random_state=0), "Report": lambda: cg.report([A, B], n_clusters=2),
    "Alternative": lambda: cg.alternatives(X, A, 2, method="orthogonal", random_state=0)[0],
    "ConsensusClustering": lambda: cg.ConsensusClustering(2, method="average").fit(np.column_stack([A, B])),
    "AlternativeClustering": lambda: cg.AlternativeClustering(2, method="orthogonal", random_state=0).fit(X, A),
    "PairSums": lambda: cg.pair_sums(np.eye(3), np.eye(3), range(3), range(3)),
    "Scan": lambda: cg.scan(batches({"a": A, "b": B})), "ConfidenceInterval": lambda: cg.confidence_interval(A * 3, B * 3, "ari", n_resamples=20),
    "ConsensusDistribution": lambda: cg.consensus_cdf([A, B]),
    "ClusterStability": lambda: cg.stability(X, lambda z: (z[:, 0] > 3).astype(int), n_resamples=3, random_state=0),
}  # fmt: skip


def everything() -> tuple[set[str], set[str]]:
    """(public functions, classes and methods; options of commands and arguments of functions) that cases can reach."""
    names, options = set(COMMAND.commands) - {"demo"}, set[str]()
    for name in names:
        params = COMMAND.commands[name].params
        options |= {
            f"{name} {p.opts[0]}" for p in params if p.param_type_name == "option" and p.name not in LEFT_OUT
        }  # fmt: skip
    for name in dir(cg):
        thing = getattr(cg, name)
        if (
            name.startswith("_")
            or not callable(thing)
            or (isinstance(thing, type) and issubclass(thing, BaseException))
        ):
            continue
        if name[0].islower():
            names.add(f"cg.{name}")
            kinds = inspect.signature(thing).parameters.values()
            kept = [p.name for p in kinds if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name != "client"]
            options |= {f"cg.{name}({p})" for p in kept}
    for kind in MADE:
        thing = made(kind)
        found = [x for x in dir(type(thing)) if not x.startswith("_") and x not in NOT_CALLED]
        names |= {f"{kind}.{x}" for x in found if callable(getattr(thing, x, None))}
    return names, options


@lru_cache(maxsize=64)
def made(name: str) -> Any:
    """An object of a public class, made once."""
    return MADE[name]()


def any_call(rng: Random, folder: Path, quick: bool = False, turn: int = 0) -> tuple[str, list[str], str]:
    """Any public function or method with any arguments: an answer, or an InputError of one line.

    Functions and methods take turns, and so do their optional arguments: each is given in some case.
    """
    turn, of_method = divmod(turn, 2)
    if not of_method:
        names = [x for x in dir(cg) if not x.startswith("_") and x[0].islower() and callable(getattr(cg, x))]
        turn, place = divmod(turn, len(names))
        name = names[place]
        if quick and name in calls.SLOW:
            return f"{name}: left out", [], name
        function, shown = getattr(cg, name), f"cg.{name}"
    else:
        kinds = list(MADE)
        turn, place = divmod(turn, len(kinds))
        kind = kinds[place]
        if quick and kind in ("KChoice", "Report", "ClusterStability"):
            return f"{kind}: left out", [], kind
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thing = made(kind)
        names = [x for x in dir(type(thing)) if not x.startswith("_") and x not in NOT_CALLED]
        names = [x for x in names if callable(getattr(thing, x, None))]
        names.append("__getitem__" if hasattr(type(thing), "__getitem__") else "__repr__")
        turn, place = divmod(turn, len(names))
        function, shown, name = getattr(thing, names[place]), f"{kind}.{names[place]}", kind
    wrong: list[str] = []
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            own = (
                {} if "__repr__" in shown else calls.arguments_of(rng, function, name, rng.choice([1, 3, 24, 24]), turn)
            )
        except cg.InputError:
            return f"{shown}: an argument could not be made", [], name
        given, reached, asked = own, list(own) or [""], dict(own)
        positional = [
            given.pop(k) for k, p in inspect.signature(function).parameters.items() if p.kind is p.POSITIONAL_ONLY
        ]
        shown += f"({', '.join([*map(repr, positional), *(f'{k}={v!r:.90}' for k, v in given.items())])})".replace(
            "\n", " "
        )
        here = os.getcwd()
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                calls.REACHED.update(f"{shown.partition('(')[0]}({key})" for key in reached)
                calls.consumed(function(*positional, **given))
        except Exception as error:
            wrong += calls.wrong_error(error, function, asked)
        finally:
            os.chdir(here)
    wrong += calls.raw_warnings(said)
    return shown, wrong, f"any: {name}"


def further_doors(rng: Random, folder: Path) -> tuple[str, list[str], str]:
    """Handwritten text files through every entry point: all that can read them give the same answer, or refuse."""
    from hostile.calls import judged_doors

    return judged_doors(rng, further_file(rng, folder), folder)
