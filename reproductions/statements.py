"""Statements of README and the guides, and a script for each that says whether it holds.

    python -m reproductions.statements            checks the statements below
    python -m reproductions.statements --draw 36  lists forty others at random, to be read

Samples of forty were drawn with seed 35 from three states of the pages. Of the first two, those that a script can check are
here. The third is whole: `statements_drawn` has a script for a statement, or says how a reader checked it.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

import congruence as cg
from reproductions import statements_drawn
from reproductions.declared import CHECKS, ROOT, checks, kept

MANY = 40
#: pages that are generated, so they cannot differ from the code
GENERATED = {"measures.md"}


def statements() -> list[tuple[str, str]]:
    """All sentences outside code, tables and headings, with their pages."""
    found = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        if page.name in GENERATED:
            continue
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for paragraph in re.split(r"\n\s*\n", text):
            if paragraph.startswith(("|", "#", "!", "<")):
                continue
            line = re.sub(r"\s+", " ", re.sub(r"^\s*(- |\d+\. )", "", paragraph)).strip()
            found += [
                (page.name, x) for x in re.split(r"(?<=[.!?]) (?=[A-Z`*\[])", line) if len(x) > 40 and x.endswith(".")
            ]
    return found


def drawn(seed: int) -> list[tuple[str, str]]:
    """Forty of them at random."""
    every = statements()
    return random.Random(seed).sample(every, min(MANY, len(every)))


@checks("`cg.partial_tables` counts one batch")
def _batches() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 1000))
    parts = [cg.partial_tables(pa.table({"a": a[x], "b": b[x]})) for x in (slice(0, 300), slice(300, 1000))]
    merged, added = cg.merge(*parts), parts[0] + parts[1]
    found = [cg.compare(x["a"], x["b"], "ari")["ari"] for x in (merged, added)]
    return f"ari {found[0]:.6f} merged, {found[1]:.6f} added, {cg.ari(a, b):.6f} at once", len(
        {*found, cg.ari(a, b)}
    ) == 1


@checks("A new nominal value, or a missing value")
def _new_values() -> tuple[str, bool]:
    old, new = {"x": np.array(["a", "b", "a", "b"])}, {"x": np.array(["a", "c", "a", "b"])}
    refused = False
    try:
        cg.density_profile(new, [0, 0, 1, 1], cg.Binning("width", nominal=["x"]).fit(old))
    except cg.InputError:
        refused = True
    cg.density_profile(new, [0, 0, 1, 1], cg.Binning("width", nominal=["x"], spare=True).fit(old))
    return f"without spare {'refused' if refused else 'taken'}, with spare taken", refused


@checks("Only points that differ in nothing but")
def _order_of_points() -> tuple[str, bool]:
    rng = np.random.default_rng(1)
    base = np.repeat([0, 1, 2], 60)
    runs = [np.where(rng.random(180) < 0.3, rng.integers(0, 3, 180), base) for _ in range(7)]
    order = rng.permutation(180)
    one, other = (
        cg.consensus(runs, 3, random_state=0).labels,
        cg.consensus([x[order] for x in runs], 3, random_state=0).labels,
    )
    signature = np.unique(np.column_stack(runs), axis=0, return_inverse=True)[1].ravel()
    moved = np.flatnonzero(cg.relabel(one[order], other) != one[order])
    alone = np.bincount(signature)[signature[order][moved]] == 1
    return f"{len(moved)} of 180 points swap, {int(alone.sum())} of them differ from all others", not alone.any()


@checks("Newick trees and frames name their points")
def _named_trees() -> tuple[str, bool]:
    a, b = cg.Hierarchy("((a:1,b:1):1,(c:1,d:1):1);"), cg.Hierarchy("((d:1,c:1):1,(b:1,a:1):1);")
    value = cg.compare(a, b, ["cophenetic"])["cophenetic"]
    return f"cophenetic correlation of a tree with itself, leaves in another order: {value:.3f}", bool(
        value > 1 - 1e-12
    )


@checks("A single point is no group")
def _single_points() -> tuple[str, bool]:
    base = np.repeat([0, 1, 2], 40)
    members = [np.where(np.arange(120) == (7 if i % 2 else 60), 3 + i, base) for i in range(9)]
    sizes = np.bincount(cg.consensus(members, random_state=0).labels)
    return f"sizes {sizes.tolist()}, where members put a point alone", sizes.min() > 1


@checks("All 45 pairs of ten columns with 10⁸ rows")
def _streaming() -> tuple[str, bool]:
    run = next(x for x in kept("benchmarks/streaming.txt").split("\n$ ") if "--rows 1e8 --peers duckdb,dask" in x)
    rows = dict(re.findall(r"^  (\S.*?) {2,}([\d.]+) s  CPU", run, flags=re.MULTILINE))
    names = (
        "congruence, scanned",
        "pyarrow read alone",
        "DuckDB, one GROUP BY per pair",
        "congruence, Dask, two workers",
    )
    found = [float(rows[name]) for name in names]
    return f"kept output: {', '.join(map(str, found))} s", np.allclose(found, [2.6, 1.4, 30, 4.6], rtol=0.02)


@checks("The number of pairs of points that both keep together")
def _moments() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 40)
    b = np.where(rng.random(40) < 0.75, rng.integers(0, 3, 40), a)
    exact = cg.permutation_test(a, b, "ari", method="moments").p_value
    often = cg.permutation_test(a, b, "ari", 20_000, random_state=0, method="draws").p_value
    return f"p = {exact:.4f} by moments, {often:.4f} by 20,000 draws", abs(exact - often) < 0.1 * often


@checks("`cg.generate(X, 100, n_clusters=range(2, 11)")
def _generate() -> tuple[str, bool]:
    X = np.random.default_rng(0).normal(size=(60, 3))
    e = cg.generate(X, 100, n_clusters=range(2, 11), method="kmeans", random_state=0)
    ks = sorted({c.k for c in e.members})
    return f"{len(e)} members with {ks[0]} to {ks[-1]} clusters", len(e) == 100 and ks[0] >= 2 and ks[-1] <= 10


@checks("Prefer ami for many small or unequal clusters")
def _metrics() -> tuple[str, bool]:
    rng, worst = np.random.default_rng(0), -np.inf
    keys = (("vi", 1), ("clustering_error", 1), ("irm", -1), ("element_centric", -1))
    for _ in range(300):
        three = [rng.integers(0, rng.integers(1, 5), 9) for _ in range(3)]
        for key, sign in keys:
            at = cg.compare_all(three, key)[key]
            d = at if sign > 0 else 1 - at
            worst = max(worst, d[0, 2] - d[0, 1] - d[1, 2])
    return f"largest d(a, c) − d(a, b) − d(b, c) in 300 triples and 4 measures: {worst:.2g}", worst < 1e-9


@checks("Public names are imported on first use")
def _imports() -> tuple[str, bool]:
    code = "import sys, congruence; print(sum(x in sys.modules for x in ('numba', 'scipy', 'sklearn', 'plotly', 'pyarrow')))"
    heavy = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    return f"{heavy.strip()} of 5 heavy packages are loaded by `import congruence`", heavy.strip() == "0"


@checks("`certainty` is not (eight random members")
def _certainty() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    mean = float(np.mean([cg.Ensemble(list(rng.integers(0, 3, (8, 200)))).certainty() for _ in range(20)]))
    return f"mean certainty of eight random members: {mean:.3f}", abs(mean - 0.12) < 0.01


@checks("No package has the name of a public function")
def _names() -> tuple[str, bool]:
    folders = {p.name for p in (ROOT / "src" / "congruence").iterdir() if p.is_dir()}
    clash = sorted(name for name in folders & set(dir(cg)) if callable(getattr(cg, name)))
    return f"folders with the name of a function: {clash or 'none'}", not clash


@checks("Each fix is an option")
def _maximus() -> tuple[str, bool]:
    text = re.sub(r"\s+", " ", kept("reproductions/adco_maximus.txt"))
    wanted = ("coala 0.473 (tiny or empty clusters on 7)", "maximus 0.467", "maximus_published 0.263")
    found = [x for x in wanted if x in text]
    return f"kept output: {'; '.join(found)}", len(found) == len(wanted)


@checks('`method="auto"`, the default, tries')
def _auto() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    runs = [np.where(rng.random(90) < 0.3, rng.integers(0, 4, 90), np.repeat([0, 1, 2], 30)) for _ in range(6)]
    tried = sorted({row["method"] for row in cg.consensus(runs, 5, random_state=0).tried})
    return f"tried {', '.join(tried)}", tried == ["average", "hbgf", "ncut"]


@checks("`tests.to_frame()` and `tests.matrix")
def _tables() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    tests = cg.permutation_tests(list(rng.integers(0, 3, (4, 40))), "ari", random_state=0)
    shapes = tests.to_frame("pandas").shape[0], np.asarray(tests.matrix("p_corrected")).shape
    return f"{shapes[0]} rows, a matrix of {shapes[1][0]} × {shapes[1][1]}", shapes == (6, (4, 4))


@checks("The interval estimates the value in the population")
def _coverage() -> tuple[str, bool]:
    rng, held = np.random.default_rng(0), 0
    table = np.array([[0.3, 0.05], [0.1, 0.25], [0.05, 0.25]])
    a, b = np.divmod(rng.choice(6, 200_000, p=table.ravel()), 2)
    whole = cg.ari(a, b)
    for i in range(60):
        rows = rng.choice(len(a), 200, replace=False)
        low, high = cg.confidence_interval(a[rows], b[rows], "ari", random_state=i, progress=False)
        held += low <= whole <= high
    return f"{held} of 60 intervals at 95% hold the population's value", held >= 52


@checks("`arimm` is not: it is 1 only if")
def _arimm() -> tuple[str, bool]:
    mixed = [[0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 1, 1]]
    same = [mixed[0]] * 2
    itself, one = cg.arimm(mixed, mixed), cg.arimm(same, same)
    return f"two different members with themselves {itself:.3f}, one partition with itself {one:.3f}", itself < 1 == one


@checks('The result says how many there are; `duplicates="drop"`')
def _repeated_clusters() -> tuple[str, bool]:
    clusters = [[1, 2], [2, 1], [3, 4]]
    cover = cg.Cover(clusters, points=4)
    said = [str(x) for x in cg.compare(cover, cover, ["omega"]).cautions if "repeat" in x]
    left = cg.Cover(clusters, points=4, duplicates="drop").k
    return f"{cover.k} clusters, dropped {left}; {said[0][:40] if said else 'nothing said'}", bool(said) and left == 2


@checks("`r.vote_share` is the plain share")
def _vote_share() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    runs = [np.where(rng.random(60) < 0.3, rng.integers(0, 3, 60), np.repeat([0, 1, 2], 20)) for _ in range(5)]
    r = cg.consensus(runs, 3, random_state=0)
    own = r.labels[:, None] == r.labels
    slow = np.mean([[(own[i] & (x == x[i])).sum() / (x == x[i]).sum() for i in range(60)] for x in runs], axis=0)
    apart = float(np.abs(slow - r.vote_share).max())
    return f"largest difference from the definition: {apart:.1g}", apart < 1e-12


@checks("Names that differ only in a number are sorted")
def _order_of_names() -> tuple[str, bool]:
    halves, thirds = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]
    one = cg.resolutions({"r_10": thirds, "r_2": halves}).names
    other = cg.resolutions({"fine": thirds, "coarse": halves}).names
    return f"{', '.join(one)}; {', '.join(other)}", one == ("r_2", "r_10") and other == ("fine", "coarse")


@checks("`labels` may be one clustering or several")
def _several_alternatives() -> tuple[str, bool]:
    rng = np.random.default_rng(0)
    views = [np.repeat([0, 1], 60), np.tile(np.repeat([0, 1], 30), 2), np.tile([0, 1], 60)]
    X = np.column_stack([8.0 * x + rng.normal(size=120) for x in views])
    found = cg.alternatives(X, views[0], 2, n_alternatives=2, method="residual", random_state=0)
    best = [[cg.ari(x.labels, view) for view in views] for x in found]
    text = "; ".join(", ".join(f"{value:.2f}" for value in row) for row in best)
    return f"ari of each with the three views: {text}", {int(np.argmax(row)) for row in best} == {1, 2}


@checks("Without `n_clusters`, every method takes the number")
def _number_of_members() -> tuple[str, bool]:
    base = np.repeat([0, 1, 2], 30)
    runs = [base, base, np.roll(base, 3), np.repeat([0, 1], 45)]
    found = {
        method: cg.consensus(runs, method=method, random_state=0).n_clusters for method in ("hbgf", "average", "voting")
    }
    return f"3 of 4 members have 3 clusters: {found}", set(found.values()) == {3}


@checks("A scan counts the same tables, part by part")
def _scanned() -> tuple[str, bool]:
    import tempfile

    from pyarrow import parquet

    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.integers(0, 4, 500), "b": rng.integers(0, 3, 500)})
    with tempfile.TemporaryDirectory() as folder:
        parquet.write_table(table, Path(folder) / "x.parquet", row_group_size=70)
        scan = cg.scan(Path(folder) / "x.parquet")
        parts = cg.contingency(scan["a"], scan["b"]).to_array()
    whole = cg.contingency(table["a"], table["b"]).to_array()
    return f"{whole.sum()} points in 8 parts, largest difference {int(abs(parts - whole).max())}", bool(
        (parts == whole).all()
    )


@checks("Files can be csv, tsv, parquet")
def _kinds_of_files() -> tuple[str, bool]:
    from congruence.inputs.files import READERS

    kinds = ("csv", "tsv", "parquet", "feather", "npy", "npz")
    return f"readers of {', '.join(sorted(READERS))}", all(f".{x}" in READERS for x in kinds)


@checks("The kernels of the paper are in")
def _profile_kernels() -> tuple[str, bool]:
    path = ROOT / "reproductions" / "profile_kernels.py"
    return f"{path.name} {'is there' if path.is_file() else 'is missing'}", path.is_file()


@checks("`pip install congruence` takes about 590 MB")
def _weight() -> tuple[str, bool]:
    rows = re.findall(r"^[\w-]+ +[\d.]+\w* +(\d+\.\d)\b", kept("benchmarks/weight.txt"), flags=re.MULTILINE)
    total = sum(map(float, rows))
    return f"kept output: {total:.0f} MB in {len(rows)} packages", abs(total - 590) < 15


@checks("On the command line: `congruence rank labels.csv`")
def _options_of_rank() -> tuple[str, bool]:
    words = [sys.executable, "-m", "congruence", "rank", "--help"]
    said = subprocess.run(words, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    found = [x for x in ("--k", "--data", "--plot") if re.search(rf"{x}\b", said)]
    return f"its help has {', '.join(found)}", len(found) == 3


@checks("The figures, with GPU and date, are in")
def _gpu() -> tuple[str, bool]:
    text = kept("benchmarks/gpu.txt")
    card, day = re.search(r"NVIDIA [\w ]+", text), re.search(r"20\d\d-\d\d-\d\d", text)
    return f"kept output: {card[0].strip() if card else 'no card'}, {day[0] if day else 'no date'}", bool(card and day)


def outcomes() -> Iterator[tuple[str, str, str, bool]]:
    """Page, statement, what was found, and whether it holds; a statement that no page has any more does not."""
    every = statements()
    for beginning, check in CHECKS.items():
        page, said = next((x for x in every if x[1].startswith(beginning)), ("", beginning))
        yield (page, said, *(check() if page else ("no page says so", False)))


def main() -> None:
    """Print the statements and what was found."""
    if "--draw" in sys.argv:
        for page, said in drawn(int(sys.argv[sys.argv.index("--draw") + 1])):
            print(f"{page}: {said}")
        return
    started, wrong = time.perf_counter(), 0
    for page, said, found, holds in outcomes():
        wrong += not holds
        print(f"{page}: {said}\n   {'holds' if holds else 'WRONG'}: {found}")
    gone, every = 0, statements()
    for beginning, how in statements_drawn.READ.items():
        page, said = next((x for x in every if x[1].startswith(beginning)), ("", beginning))
        gone += not page
        print(f"{page}: {said}\n   {'read' if page else 'WRONG, no page says so'}: {how}")
    read = len(statements_drawn.READ)
    print(
        f"\n{len(CHECKS) - wrong} of {len(CHECKS)} statements with a script hold, {read - gone} of {read} others were read"
    )
    print(f"{time.perf_counter() - started:.0f} s", file=sys.stderr)
    sys.exit(bool(wrong or gone))


if __name__ == "__main__":
    main()
