"""Random command lines on odd files, run in this process, and the faults they reveal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random
from typing import Any

from hostile import broken_files, oracle
from hostile.running import Said, run, state_of

#: 0 success, 1 --fail-under, 2 bad input, 3 out of memory (or an internal error, always a fault here), 130 stopped
CODES = {0, 1, 2, 3}
#: control characters that a terminal would interpret
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
#: raw warnings of libraries
RAW = re.compile(
    r"\b[A-Z][a-zA-Z]{0,40}Warning|sklearn|divide by zero|invalid value enc|overflow encountered|Traceback \(most recent"
)
#: skip commands that cluster
QUICK = False
SLOW = ("choose-k", "alternatives", "consensus", "generate", "report")


ODD_WORDS = [
    "",
    " ",
    ",",
    "a,a,b",
    "nope",
    "-1",
    "0",
    "1e400",
    "nan",
    "\x1b[31m",
    "é",
    "a\nb",
    "x" * 300,
    "\udcff",
    "*",
    "none",
]


class Line:
    """A random command line: options are added with usual or odd values."""

    def __init__(self, rng: Random, folder: Path) -> None:
        self.rng, self.folder = rng, folder
        self.argv: list[str] = []
        self.outs: list[Path] = []
        self.formats = "table"
        self.unassigned = "error"
        self.noise: set[str] | None = None
        self.is_odd = False
        #: folder of the checkpoint, which stays for the next run
        self.kept = "kept"

    def maybe(self, share: float, *words: Any) -> None:
        """Add these words with this probability."""
        if self.rng.random() < share:
            self.argv += [str(w) for w in words]

    def odd(self, share: float, option: str, words: list[Any] | None = None) -> None:
        """Add an option with an odd value with this probability."""
        if self.rng.random() < share:
            self.argv += [option, str(self.rng.choice(words or ODD_WORDS))]
            self.is_odd = True

    def format(self) -> None:
        """--format, mostly json so that values can be checked."""
        self.formats = self.rng.choice(["json", "json", "json", "csv", "markdown", "table"])
        self.argv += ["--format", self.formats]

    def policy(self, default: str = "error") -> None:
        """--unassigned and --noise."""
        self.unassigned = default
        if self.rng.random() < 0.5:
            self.unassigned = self.rng.choice(["error", "drop", "singletons", "cluster"])
            self.argv += ["--unassigned", self.unassigned]
        if self.rng.random() < 0.15:
            self.noise = set(self.rng.choice([["-1"], ["-1", "x"]]))
            self.argv += ["--noise", ",".join(sorted(self.noise))]
        elif self.rng.random() < 0.02:
            self.odd(1, "--noise", ["=", ";", "a=", "zz=-1", "=x;=", ","])
            self.noise = set()

    def out(self, share: float, kinds: list[str], option: str = "--out") -> None:
        """--out to a usual or an odd place."""
        if self.rng.random() > share:
            return
        name = f"out.{self.rng.choice(kinds)}"
        place = self.folder / self.rng.choice([name] * 8 + [f"none/{name}", "", "out", f"out\n.{kinds[0]}"])
        if self.rng.random() < 0.1:
            place.parent.mkdir(exist_ok=True)
            (self.folder / name).write_bytes(b"old")
        self.argv += [option, str(place)]
        self.outs.append(place)

    def limits(self) -> None:
        """Numbers far beyond any machine."""
        self.odd(0.03, "--threads", ["1000000000", "0", "-1", "two", "1"])


def columns_of(path: Path) -> list[str]:
    """The names in a file, where there are any."""
    try:
        return list(oracle.read(path))
    except (oracle.Unreadable, oracle.Ambiguous):
        return []


def labels_line(rng: Random, folder: Path) -> tuple[Line, broken_files.Made, str]:
    """A command over label columns."""
    command = rng.choice(
        ["compare"] * 4 + ["matrix"] * 4
        + ["match", "contingency", "points", "ensemble", "consensus-matrix", "resolutions", "report", "consensus"]
    )  # fmt: skip
    kinds = broken_files.KINDS if command in ("compare", "matrix") else (*broken_files.KINDS, "csv", "parquet")
    made = broken_files.a_file(rng, folder, whole=0.55, kinds=kinds)
    names = columns_of(made.path) if made.path.is_file() else []
    line = Line(rng, folder)
    line.argv = [command, str(made.path)]
    usual = [name for name in names if "," not in name and name.strip() == name and name and not name.startswith("-")]
    if command in ("compare", "match", "contingency") and len(usual) >= 2 and rng.random() < 0.7:
        line.argv += rng.sample(usual, 2)
    elif len(usual) >= 2 and rng.random() < 0.3:
        line.argv += ["--columns", ",".join(rng.sample(usual, rng.randint(2, len(usual))))]
    if command in ("compare", "matrix"):
        line.format()
        keys = rng.sample(oracle.CHEAP, rng.choice([1, 2, 3]))
        line.argv += ["--measures", ",".join(keys)]
        line.policy()
        if usual and rng.random() < 0.1:
            line.argv += [rng.choice(["--weight", "--frequency"]), rng.choice([*usual, "w", "n"])]
            line.is_odd = True
        if rng.random() < 0.15:
            line.argv += ["--memory", rng.choice(["1GB", "2MB", "1GB", "1B", "zero", "-1", "1e99GB", "nan"])]
        line.maybe(0.04, "--checkpoint", folder / "kept")
        line.odd(0.03, "--measures", ["ari,ari", "aro", "", "all", "certainty", "omega", "=", "cophenetic"])
        line.odd(0.03, "--fail-under", ["ari=0.9", "ari", "ari=x", "=1", "nope=1", "vi=-1", "ari=nan"])
        line.odd(0.02, "--client", ["tcp://", "nope", "tcp://host:99999999", ":::", "", "tcp://127.0.0.1:1"])
        line.odd(0.02, "--engine", ["cuda", "gpu", "", "cpu"])
        line.odd(0.01, "--format-in", ["cover", "json", "long", "points", "x"])
        if command == "matrix":
            line.out(0.15, ["csv", "npz", "json", "parquet", "txt", "tsv", "feather"])
        else:
            if usual and rng.random() < 0.15:
                line.argv += ["--reference", rng.choice(usual)]
            line.odd(0.02, "--reference")
            if rng.random() < 0.03:
                line.argv.append("--p-values")
                line.odd(1, "--permutations", ["20", "0", "x"])
            line.maybe(0.03, "--ci")
    else:
        if command in ("match", "contingency", "points", "report", "resolutions"):
            line.policy("drop" if command == "report" else "error")
        if command not in ("report", "consensus-matrix"):
            line.format()
        tables = ["csv", "tsv", "parquet", "feather", "txt", "json"]
        if command in ("match", "contingency", "points", "consensus"):
            line.out(0.3, tables)
        if command == "consensus":
            line.argv += ["--method", rng.choice(["average", "voting", "kcc", "single", "nope", "", "cumulative"])]
            line.argv += ["--k", rng.choice(["2", "2", "3", "1000000000", "0"]), "--seed", "0"]
            line.maybe(0.3, "--partial")
        if command == "consensus-matrix":
            line.out(1.0, ["npz", "npy", "csv"])
            line.maybe(0.3, "--partial")
            line.odd(0.2, "--threshold", ["0.5", "-1", "nan", "2"])
        if command == "report":
            line.out(1.0, ["html", "html", "html", "txt"])
        if command == "ensemble":
            line.maybe(0.3, "--partial")
            line.odd(0.1, "--missing", ["ratio", "plain", "pooled", "x"])
        if command == "points":
            line.odd(0.1, "--least", ["1", "0", "1000000000000"])
        if command == "resolutions":
            line.odd(0.1, "--columns", ["*", "[", "a*", "?"])
            line.odd(0.1, "--order", ["n_clusters", "a,b", ""])
    if command != "resolutions":
        if len(usual) > 2 and rng.random() < 0.04:
            line.argv += ["--long", ",".join(rng.choice([usual[:3], [usual[0]] * 2 + usual[1:2], usual[:2]]))]
            line.is_odd = True
        line.odd(0.01, "--long")
    if usual and rng.random() < 0.06:
        line.argv += ["--id", rng.choice(usual)]
        line.is_odd = True
    line.odd(0.02, "--id")
    line.odd(0.02, "--columns")
    if command not in ("match", "contingency", "points", "report", "consensus"):
        line.limits()
    return line, made, command


def data_line(rng: Random, folder: Path) -> tuple[Line, broken_files.Made, str]:
    """A command over numbers."""
    command = rng.choice(["choose-k", "generate", "generate", "adco", "drift", "alternatives"])
    made = broken_files.numbers_file(rng, folder)
    line = Line(rng, folder)
    line.argv = [command, str(made.path)]
    if command in ("choose-k", "generate"):
        line.argv += ["--k", rng.choice(["2", "2..3", "2,2", "0", "-1", "3..2", "2..1000000000", "x", "1..2", "999"])]
        line.odd(0.1, "--columns", ["x0", "x0,x1", "nope", "lab", "x0,x0"])
        line.odd(0.1, "--id", ["lab", "nope", "x0"])
        line.odd(0.08, "--jobs", ["100000", "0", "-1", "-5", "1"])
    if command == "generate":
        line.argv += ["--members", rng.choice(["2", "3", "0"])]
        line.argv += [
            "--method",
            rng.choice(["kmeans", "kmeans", "projection", "features", "subsample", "em", "fuzzy", "x"]),
        ]
        line.out(1.0, ["csv", "parquet", "npz", "tsv"])
        line.odd(0.1, "--fraction", ["0.5", "0", "1", "-1", "nan", "0.01"])
    elif command == "choose-k":
        line.format()
        line.argv += ["--method", rng.choice(["auto", "kmeans", "gaussian", "agglomerative", "spectral", "em", "x"])]
        line.odd(0.1, "--criteria", ["silhouette", "pac", "x", "paper", "certainty", ""])
        line.odd(0.1, "--members", ["2", "1", "-3"])
        line.odd(0.1, "--reference", ["lab", "nope", "x0"])
    elif command == "adco":
        line.argv += ["--labels", "lab", "--labels", rng.choice(["lab2", "lab", "nope", "x0"])]
        line.odd(0.2, "--bins", ["1", "3", "0", "1000000000000"])
        line.odd(0.2, "--binning", ["frequency", "mdl", "x"])
        line.odd(0.2, "--features", ["x0", "nope", "win", "x0,x0", ""])
        line.odd(0.1, "--nominal", ["x0", "nope"])
        line.odd(0.1, "--sizes", ["scaled", "sample", "x"])
        line.format()
    elif command == "drift":
        line.argv += [
            "--window",
            rng.choice(["win", "win", "lab", "nope"]),
            "--labels",
            rng.choice(["lab", "lab", "win"]),
        ]
        line.odd(0.2, "--measure", ["adco_metric", "ari", "x"])
        line.odd(0.1, "--features", ["x0", "nope", "win"])
        line.format()
    else:
        methods = ["coala", "orthogonal", "adft", "mincentropy", "cib", "condens", "metaclusters", "maximus", "x"]
        line.argv += ["--labels", rng.choice(["lab", "lab", "nope"]), "--method", rng.choice(methods), "--seed", "0"]
        line.odd(0.3, "--k", ["2", "0", "-1", "1000"])
        line.odd(0.1, "--option", ["epsilon=0.1", "x", "=", "epsilon=nan", "omega=x"])
        line.odd(0.1, "--n-init", ["1", "0", "x"])
        line.out(0.2, ["csv", "parquet"])
        line.format()
    return line, made, command


def cover_line(rng: Random, folder: Path) -> tuple[Line, broken_files.Made, str]:
    """Covers and hierarchies, and commands without files."""
    line = Line(rng, folder)
    paths = []
    kind = "cover"
    for name in ("a", "b"):
        content, kind = broken_files.cover_bytes(rng)
        how = kind
        if rng.random() < 0.4:
            content, how = broken_files.spoil(rng, content)
        path = folder / f"{name}.{rng.choice(['cover', 'json', 'csv', 'nwk', 'txt'])}"
        path.write_bytes(content)
        paths.append(path)
    command = rng.choice(["compare", "matrix", "hierarchies", "hierarchies", "measures", "other"])
    if command == "measures":
        line.argv = ["measures", *rng.choice([[], ["ari"], ["nope"], ["v_measure"], [""], ["\x1b[31m"]])]
        line.format()
    elif command == "other":
        line.argv = rng.choice(
            [
                ["nope"],
                ["--nope"],
                ["compare"],
                ["compare", "--help"],
                ["\x1b[31m"],
                ["matrix", "\udcff"],
                ["--version"],
            ]
        )
    elif command == "hierarchies":
        trees = [
            "((a,b),c);",
            "(a,(b,c));",
            "((a:1,b:2):1,c:3);",
            "(a,b",
            "",
            ";",
            "(" * 2000,
            "((a,a),b);",
            "(a:x,b);",
            "((a,b),c)\x00;",
        ]
        for path in paths:
            if rng.random() < 0.8:
                path.unlink(missing_ok=True)
        paths = [folder / f"{name}.{rng.choice(['nwk', 'nwk', 'npy', 'csv'])}" for name in ("a", "b")]
        for path in paths:
            path.write_text(rng.choice(trees), encoding="utf-8")
        line.argv = ["hierarchies", *map(str, paths)]
        line.format()
        line.odd(0.1, "--labels", ["a", "nope"])
    else:
        line.argv = [command, *map(str, paths), "--format-in", rng.choice(["cover", "points", "long", "json", kind])]
        line.odd(0.3, "--n", ["3", "6", "0", "-1", "100000000000000"])
        line.odd(0.1, "--keys", ["clusters", "points", "x"])
        line.format()
    return line, broken_files.Made(paths[0], False, how), command


def complaints_of(rng: Random, folder: Path) -> tuple[str, list[str], str]:
    """(what was run, what is wrong with it, which kind of case it was) for one random command line."""
    from hostile.calls import REACHED
    from hostile.surface import any_line

    maker = rng.choices([labels_line, data_line, cover_line, any_line], [0.5, 0.12, 0.08, 0.3])[0]
    line, made, command = maker(rng, folder)
    if QUICK and command in SLOW:
        return f"{command}: left out", [], command
    REACHED.update([line.argv[0], *(f"{line.argv[0]} {word}" for word in line.argv if word.startswith("--"))])
    before = state_of(folder)
    said = run(line.argv, folder)
    after = state_of(folder)
    wrong = []
    if said.raised is not None:
        wrong.append(f"{type(said.raised).__name__}: {said.raised}")
    elif said.code not in CODES:
        wrong.append(f"exit code {said.code}")
    elif said.code in (2, 3):
        last = said.err.strip().splitlines()
        if not last or not last[-1].startswith("congruence: "):
            wrong.append(f"exit {said.code} without a line that says why: {said.err[-200:]!r}")
        if said.code == 3 and "not enough memory" not in said.err:
            wrong.append(said.err.strip())
        if said.out.strip():
            wrong.append(f"refused after printing {said.out[:80]!r}")
    if RAW.search(said.err):
        wrong.append(f"raw warning: {RAW.search(said.err).group()!r} in {said.err[:300]!r}")  # type: ignore[union-attr]
    for stream, text in (("stdout", said.out), ("stderr", said.err)):
        if found := CONTROL.search(text.replace("\r\n", "\n")):
            wrong.append(
                f"{stream} has the control character {found.group()!r}: {text[max(0, found.start() - 40) : found.end() + 40]!r}"
            )
    places = {str(p.relative_to(folder)) for p in line.outs if p.is_relative_to(folder)} | {line.kept, "report.html"}
    for name in before:
        if after.get(name) != before[name] and name not in places:
            wrong.append(f"{name!r} was changed or lost")
    for name in after:
        if name not in before and name not in places and name.partition("/")[0] not in places:
            wrong.append(f"{name!r} was left behind")
        if said.code in (2, 3) and name in places and name not in before and name != line.kept:
            wrong.append(f"{name!r} was written by a command that failed")
    if said.code == 0 and line.formats == "json" and command in ("compare", "matrix") and maker is labels_line:
        wrong += wrong_values(line, made, said)
    elif (
        said.code == 2 and made.whole and not line.is_odd and command in ("compare", "matrix") and maker is labels_line
    ):
        wrong += wrongly_refused(line, made, said)
    return " ".join(repr(x) for x in line.argv).replace(str(folder), "."), wrong, f"{command}: {made.how}"


def wrong_values(line: Line, made: broken_files.Made, said: Said) -> list[str]:
    """Values that differ from those of the independent reader and the naive formulas."""
    if line.noise == set():  # odd noise labels: not checked
        return []
    if any(x in line.argv for x in ("--long", "--weight", "--frequency", "--skip-bad", "--format-in", "--id")):
        return weighted_wrong(line, made, said) if "--weight" in line.argv or "--frequency" in line.argv else []
    answer = json.loads(said.out)
    if made.path.is_dir():
        return []
    try:
        columns = oracle.read(made.path)
    except oracle.Ambiguous:
        return []
    except oracle.Unreadable as error:
        return [f"answered where the independent reader says {error}"]
    return compared(answer, columns, line.unassigned, line.noise, None)


def weighted_wrong(line: Line, made: broken_files.Made, said: Said) -> list[str]:
    """The same with weights or counts."""
    if any(x in line.argv for x in ("--long", "--skip-bad", "--format-in", "--id")) or made.path.is_dir():
        return []
    option = "--weight" if "--weight" in line.argv else "--frequency"
    name = line.argv[line.argv.index(option) + 1]
    try:
        columns = oracle.read(made.path)
        mass = [
            float({"true": 1, "false": 0}.get(str(x).lower(), x)) for x in columns[name]
        ]  # booleans count as 0 and 1
    except oracle.Ambiguous:
        return []
    except (oracle.Unreadable, KeyError, TypeError, ValueError) as error:
        return [f"weights that the independent reader cannot take: {error}"]
    return compared(json.loads(said.out), columns, line.unassigned, line.noise, (option, mass))


def compared(
    answer: dict[str, Any],
    columns: oracle.Columns,
    unassigned: str,
    noise: set[str] | None,
    mass: tuple[str, list[float]] | None,
) -> list[str]:
    """Each value of a result next to the naive one."""
    wrong: list[str] = []
    found: list[tuple[str, str, str, float | None]] = []
    if "rows" in answer:
        for row in answer["rows"]:
            found += [(answer["reference"], row["clustering"], k, v) for k, v in row.items() if k in oracle.CHEAP]
    elif "names" in answer:
        names = answer["names"]
        for key in (k for k in answer if k in oracle.CHEAP):
            found += [(a, b, key, answer[key][i][j]) for i, a in enumerate(names) for j, b in enumerate(names)]
    else:
        a, b = answer["clusterings"]
        found += [(a, b, k, v) for k, v in answer["values"].items() if k in oracle.CHEAP]
    for a, b, key, got in found:
        if a not in columns or b not in columns:  # memberships and matrices of numpy files have no labels
            continue
        x, y, rows = oracle.pair(columns[a], columns[b], unassigned, noise)
        if unassigned == "error" and any(v is None for v in [*columns[a], *columns[b]]):
            wrong.append(f"{key} of {a!r} and {b!r} was answered although labels are missing")
            break
        w = None
        if mass is not None:
            w = [mass[1][i] for i in rows]
            if mass[0] == "--frequency":
                x, y = ([v for v, f in zip(side, w, strict=True) for _ in range(int(f))] for side in (x, y))
                w = None
        if not x or (w is not None and not sum(w)):
            if got is not None:
                wrong.append(f"{key} of {a!r} and {b!r} is {got} of no points")
            continue
        if len(x) > 60 or max(len(set(x)), len(set(y))) > 12 or (w is not None and key not in oracle.naive.WEIGHTED):
            continue
        right = oracle.value(key, x, y, w)
        if got is None or not oracle.close(got, right):
            wrong.append(f"{key} of {a!r} and {b!r} is {got}, not {right}")
    return wrong


def wrongly_refused(line: Line, made: broken_files.Made, said: Said) -> list[str]:
    """An intact text file with usual columns that was refused without a reason that the independent reader finds."""
    if made.path.suffix not in (".csv", ".tsv") or "--memory" in line.argv or made.how == "link":
        return []
    try:
        columns = oracle.read(made.path)
    except (oracle.Unreadable, oracle.Ambiguous):
        return []
    if len(columns) < 2 or "--columns" not in line.argv or line.unassigned == "error" or line.outs or line.noise:
        return []
    if line.unassigned == "drop" and any(None in c for c in columns.values()):
        return []
    if re.search(r"control character|all different|named twice|name two of them|is not UTF-8; rename", said.err):
        return []
    return [f"a whole file was refused: {said.err.strip()!r}"]
