"""The report as one self-contained HTML file: `cg.report`."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

import numpy as np

from congruence.comparison.presenting import plain
from congruence.errors import InputError, counted, path_of, visible
from congruence.formulas import find
from congruence.formulas.explain import pretty
from congruence.formulas.record import Measure
from congruence.formulas.references import REFERENCES
from congruence.inputs.cover import Cover, CoverLabels
from congruence.inputs.effects import refuse_idle
from congruence.inputs.ensemble import Ensemble
from congruence.inputs.frames import make_frame
from congruence.machine.writing import check_target, write_text
from congruence.options import described
from congruence.reporting import captions, words
from congruence.reporting.members import Request
from congruence.reporting.model import A_GROUP, Model, build
from congruence.reporting.payload import payload
from congruence.reporting.phrases import TERMS, plain_name
from congruence.reporting.steps import LEFT_OUT, flow, heat_map
from congruence.selection.choice import Judged
from congruence.statistics.tables import Array
from congruence.typing import (
    ClusteringLike,
    ColumnLike,
    EnsembleLike,
    Frame,
    NoiseLike,
    OptionValue,
    PointsLike,
    ProgressLike,
    Record,
    Seed,
)

#: the modules of the page, in order of dependence
SCRIPTS = (
    "tools", "colours", "algorithms", "values", "state", "answer", "clusters", "levels", "ranking", "matrix", "compare", "points",
    "details", "controls",
)  # fmt: skip
PARTS = (
    ("answer", "Answer"), ("clusters", "The clusters"), ("many", "How many?"), ("ranking", "Which clustering?"),
    ("relations", "How they relate"), ("compare", "Compare"), ("steps", "Over the steps"), ("points", "Points"),
    ("details", "Details"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Report:
    """A report: its data (`model`), its text (`summary`), and the page (`html`, `save`); a notebook shows the page.

    Attributes:
        model: The report as plain data.
        path: Where the page was written, or None.

    >>> import congruence as cg
    >>> r = cg.report({"x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 1, 1, 1, 1], "z": [0, 0, 0, 1, 1, 2]})
    >>> r.html[:15], r.path
    ('<!doctype html>', None)
    """

    model: Model = field(repr=False)
    path: Path | None = None

    @cached_property
    def summary(self) -> words.Summary:
        """The plain-language summary."""
        return words.summary(self.model)

    @property
    def labels(self) -> Array:
        """Group of each point, the largest group first; −1: none."""
        a = self.model.answer
        return np.where(a.labels < a.k, a.labels, -1)

    @cached_property
    def html(self) -> str:
        """The page."""
        return page(self.model)

    def save(self, path: str | Path) -> Path:
        """Write the page atomically.

        Args:
            path: Path of the page, ending in .html.

        Returns:
            The path.
        """
        path = path_of(path)
        check_page(path)
        write_text(path, self.html)
        return path

    def to_dict(self) -> Record:
        """The report as plain values: the answer with its labels and baselines, figures, findings, and so on.

        >>> import congruence as cg
        >>> runs = {str(i): [0] * 30 + [1] * 30 for i in range(3)}
        >>> answer = cg.report(runs).to_dict()["answer"]
        >>> answer["consistent"], round(answer["chance"], 1), answer["use"], answer["labels"][:2]
        (1.0, 0.2, '0', [0, 0])
        """
        words_of = {name: value for name, value in vars(self.summary).items() if name != "answer"}
        return {"answer": plain(self.answer), **{name: plain(value) for name, value in words_of.items()}}

    @property
    def answer(self) -> Record:
        """The answer with its labels, and what unrelated clusterings would give."""
        m = self.model
        a = m.answer
        return {
            "sentence": self.summary.answer, "use": None if m.pick is None or m.families else m.names[m.pick[0]],
            "labels": self.labels, "n_groups": a.k, "consistent": a.consistent, "chance": a.chance.consistent,
            "stability": None if m.is_alone else a.stability, "stability_by_chance": a.chance.stability,
            "groups": m.groups_called, "silhouettes": m.silhouettes,
            "families": [] if m.families is None else [[m.names[i] for i in g] for g in m.families.members],
        }  # fmt: skip

    def to_json(self, **options: OptionValue) -> str:
        """The same as JSON.

        Args:
            options: Options of `json.dumps`, such as `indent=2`.

        Returns:
            A JSON string.
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, **options)

    def to_markdown(self) -> str:
        """The words of the report as Markdown, as for a pull request.

        >>> import congruence as cg
        >>> print(cg.report({str(i): [0] * 30 + [1] * 30 for i in range(3)}).to_markdown().split("\\n")[0])
        **All 3 clusterings are the same: 2 groups.**
        """
        s = self.summary
        lines = [f"**{escaped(s.answer)}**", "", *([escaped(s.use), ""] if s.use else [])]
        lines += [f"Next: `{s.next_command}`", ""] if s.next_command else []
        if s.figures:
            lines += ["| | |", "|---|---|", *(f"| {value} | {escaped(label)} |" for value, label in s.figures), ""]
        for title, texts in (("Findings", s.findings), ("What stands out", s.stands_out), ("Cautions", s.careful)):
            lines += [f"**{title}**", "", *(f"- {escaped(text)}" for text in texts), ""] if texts else []
        return "\n".join(lines).rstrip() + "\n"

    def to_frame(self, backend: str | None = None) -> Frame:
        """One row per sentence: which part of the report it is in, and its text.

        Args:
            backend: Kind of frame: "pandas", "polars" or "pyarrow". Default None: pandas if it is installed, else pyarrow.

        Returns:
            A data frame.
        """
        rows = [
            (part, text if isinstance(text, str) else ": ".join(text))
            for part, texts in vars(self.summary).items()
            for text in ([texts] if isinstance(texts, str) else texts)
        ]
        return make_frame({"part": [x for x, _ in rows], "text": [x for _, x in rows]}, backend)

    def __eq__(self, other: object) -> bool:
        """Whether the other is a report with the same text."""
        return type(other) is type(self) and (other is self or self.to_json() == other.to_json())

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        import textwrap

        lines = [textwrap.fill(text, 80) for text in (self.summary.answer, self.summary.use) if text]
        lines += [f"Next: {self.summary.next_command}", ""] if self.summary.next_command else [""]
        lines += [textwrap.fill(text, 80) for text in self.summary.findings]
        lines += [textwrap.fill(x, 80, initial_indent="- ", subsequent_indent="  ") for x in self.summary.stands_out]
        return "\n".join([*lines, *([f"The page: {self.path}"] if self.path is not None else [])])

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts allow-downloads" '
            'style="width:100%;height:800px;border:1px solid #ccc"></iframe>'
        )


def escaped(text: str) -> str:
    """Text from files, without meaning in Markdown or HTML; code in backticks stays.

    >>> escaped("a*b <i> `x_1`")
    'a\\\\*b &lt;i&gt; `x_1`'
    """
    from html import escape

    parts = text.split("`")
    return "`".join(
        re.sub(r"([\\*_\[\]|])", r"\\\1", escape(x, quote=False)) if i % 2 == 0 else x for i, x in enumerate(parts)
    )


def check_page(path: Path, *inputs: object) -> None:
    """Refuse, before any computation, a path that the page cannot be written to, or that is one of the inputs."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is written as .html")
    check_target(path, [x for x in inputs if isinstance(x, str | Path)])


@described
def report(
    clusterings: EnsembleLike,
    out: str | Path | None = None,
    *,
    reference: ClusteringLike | None = None,
    data: PointsLike = None,
    axes: Sequence[str] | None = None,
    ids: ColumnLike = None,
    measures: Sequence[str | Measure] | None = None,
    n_clusters: int | None = None,
    distinct: bool = False,
    unassigned: str = "error",
    noise: NoiseLike = None,
    title: str | None = None,
    command: str | None = None,
    source: str | None = None,
    random_state: Seed = 0,
    threads: int | None = None,
    progress: ProgressLike = None,
) -> Report:
    """A self-contained HTML report on a set of clusterings: how well they agree, on which groups, and where they differ.

    The page works offline. For covers it has a matrix, a map, a ranking and matched clusters.

    Args:
        clusterings: What `cg.compare_all` takes.
        out: Path of the page, ending in .html. Default None: not written.
        reference: A clustering, or the name of one. Default None.
        data: The data, points × attributes, for a scatter plot and the answer of `cg.choose_k`. Default None: an
            AnnData object itself, drawn by its UMAP, t-SNE or other embedding; otherwise none.
        axes: Two columns of the data to draw, of an AnnData object as in ("X_umap_1", "X_umap_2"). Default None:
            principal components.
        ids: Names of the points. Default None.
        measures: Up to six symmetric measures. Default None: the default set.
        n_clusters: Number of clusters of the consensus. Default None: chosen as by `cg.consensus`.
        distinct: Whether clusterings that are the same count once. Default False: how often one is found counts.
        unassigned, noise: See `congruence.options`.
        title: Title of the page. Default None.
        command: Command to show on the page. Default None.
        source: Source of the data to show on the page. Default None.
        random_state, threads, progress: See `congruence.options`.

    Returns:
        A `Report`: `.summary`, `.html`, `.model` (the same as plain data), `.save(path)`.

    See also:
        `cg.figure`, `cg.compare_all`.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 1, 1, 1, 1], "z": [0, 0, 0, 1, 1, 2]}
    >>> r = cg.report(runs, reference="x")
    >>> r.summary.answer.partition(" (")[0]
    '“z” and “y” agree hardly at all. 67% of the points are in matching clusters'
    >>> r.labels.tolist()
    [1, 1, 0, 0, 0, 0]
    """
    refuse_idle(report, locals())
    if out is not None:
        check_page(path_of(out, "out"), clusterings, data)
    if isinstance(clusterings, str | Path):
        title, source = title or Path(clusterings).name, source or str(clusterings)
    if isinstance(clusterings, Ensemble) and (reference is None or isinstance(reference, str)):
        refuse_idle(report, locals(), "for an Ensemble, which was read with its own")
    covers = holds_covers(clusterings, reference)
    if covers:
        refuse_idle(report, locals(), "for covers")
    elif data is None and hasattr(clusterings, "obsm"):
        data = clusterings
    title = title or ("Covers compared" if covers else "Clusterings compared")
    request = Request(
        clusterings=clusterings, title=title, reference=reference, data=data, axes=axes, ids=ids, measures=measures,
        n_clusters=n_clusters, distinct=distinct, unassigned=unassigned, noise=noise, command=command, source=source,
        random_state=random_state, threads=threads, progress=progress,
    )  # fmt: skip
    return report_of(request, None if out is None else Path(out), covers)


def report_of(request: Request, out: Path | None = None, covers: bool = False) -> Report:
    """The report that was asked for, written if there is a path."""
    made = Report(build(request), out) if not covers else _report_on_covers(request, out)
    if out is not None:
        made.save(out)
    return made


def _report_on_covers(request: Request, out: Path | None) -> Report:
    from congruence.reporting import cover_report  # a report on covers has the same interface

    return cover_report.CoverReport(cover_report.build(request), out)  # type: ignore[arg-type]


def holds_covers(clusterings: EnsembleLike, reference: ClusteringLike | None = None) -> bool:
    """Whether any of these is a cover."""
    listed = clusterings.members if isinstance(clusterings, Ensemble) else clusterings
    if isinstance(listed, Mapping):
        listed = list(listed.values())
    every = [*(listed if isinstance(listed, list | tuple) else ()), reference]
    return any(isinstance(x, Cover | CoverLabels) for x in every)


# --- the page ---------------------------------------------------------------------------------------------------


def page_script() -> str:
    """The script of the page: its modules concatenated, in one scope."""
    room = files("congruence.reporting").joinpath("page")
    parts = [room.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def page(model: Model) -> str:
    """The whole page; all text from the file is escaped, and the page may run only its own script."""
    from jinja2 import Environment
    from markupsafe import Markup, escape

    room = files("congruence.reporting").joinpath("page")
    script = page_script()
    style = room.joinpath("page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["span"] = lambda limits: f"{limits[0]:.4g} to {limits[1]:.4g}".replace("inf", "∞")
    environment.filters["pretty"] = pretty
    environment.filters["coded"] = lambda text: Markup(re.sub("`([^`]*)`", r"<code>\1</code>", str(escape(text))))
    digest = b64encode(sha256(script.encode("utf-8")).digest()).decode("ascii")
    data = json.dumps(plain(payload(model)), ensure_ascii=False, separators=(",", ":"))
    for sign, code in (
        ("<", "\\u003c"),
        (">", "\\u003e"),
        ("&", "\\u0026"),
        ("\u2028", "\\u2028"),
        ("\u2029", "\\u2029"),
    ):
        data = data.replace(sign, code)
    template = environment.from_string(room.joinpath("template.html").read_text(encoding="utf-8"))
    is_pair = len(model.members) == 2
    parts = _parts(model)
    text = template.render(
        model=model, summary=words.summary(model), parts=parts, shown=dict(parts), is_pair=is_pair, css=Markup(style),
        script=Markup(script), script_hash=Markup(f"sha256-{digest}"), data=Markup(data), **_said(model),
    )  # fmt: skip
    return visible(text, keep="\n\t")  # names may hold control characters


def _parts(model: Model) -> list[tuple[str, str]]:
    """The parts of the page in order; for two clusterings the comparison comes first."""
    left_out = set() if model.steps is not None else {"steps"}
    if len(model.members) == 1:
        left_out |= {"ranking", "relations", "compare"}
        left_out |= set() if model.support is not None else {"many"}
    parts = [(name, title) for name, title in PARTS if name not in left_out]
    if len(model.members) == 2:
        parts.insert(1, parts.pop([name for name, _ in parts].index("compare")))
    return parts


def _said(model: Model) -> Record:
    """The captions and details of the page."""
    own = [m for m in model.members if not m.is_reference]
    made = f"{counted(len(own), 'clustering')} of {counted(model.n_points, 'point')}"
    against = f", compared with {model.against.name}" if model.against else ""
    shown = [s.measure for s in model.scales]
    also = [find(key) for key in ("arimp", "anmi", "certainty")] if model.together else []
    every = dict.fromkeys([*shown, *also])
    found: Record = {
        "plain": [plain_name(m) for m in shown],
        "definitions": [(m, plain_name(m), REFERENCES.get(m.reference, m.reference)) for m in every],
        "terms": TERMS.items(),
        "panel": _panel(model),
        "scales": words.scales(model),
        "groups_said": captions.groups_said(model),
        "ranking_said": captions.ranking_said(model),
        "choice_notes": [],
        "flow": None if model.steps is None else flow(model.steps),
        "heat": None if model.drift is None else heat_map(model.drift),
        "no_heat": LEFT_OUT,
    }
    found["making"] = [
        ("version", f"congruence {model.version}"),
        ("made", f"{model.created}, in {model.seconds:.1f} s"),
        *([("file", model.source)] if model.source else []),
        ("points and clusterings", made + against),
        ("order and tree", "average linkage on the distance of each measure (best value − value), "
         + ("leaves in the optimal order" if model.main.tree.is_optimal else "leaves in the order of the tree")),
        *([("groups of clusterings", f"Ward's linkage by {model.main.measure.title}, cut where groups are clearest (silhouette "
            f"{model.silhouette:.2f}); a group has a median agreement of {A_GROUP} or more")] if len(model.groups) > 1 else []),
        ("values", "stored in 65,535 steps between the smallest and the largest value of a measure"),
    ]  # fmt: skip
    p = model.points
    if p.place is not None:
        more = f", {len(p.drawn):,} of them drawn at random" if p.drawn is not None else ""
        found["plane"] = f"The points by {p.about}: {p.axes[0]} to the right, {p.axes[1]} upwards{more}."
        found["making"].append(("columns of the scatter plot", ", ".join(p.features)))
    if model.together is not None:
        found |= captions.of_ensemble(model)
    return found


def _panel(model: Model) -> list[tuple[str, str, str, str, str]]:
    """The statements on the number of clusters: what says it, an id, the verdict, the sentence without the verdict, and notes."""
    found = []
    data = words.of_data(model)
    if data is not None:
        kind, text, here = data
        found.append(("The data", "data-verdict", kind, f"{_rest(text)} {here}".rstrip(), " ".join(_data_notes(model))))
    if len(model.members) == 1:
        return found
    kind, text = words.how_many(model)
    found.append(
        (
            "The clusterings",
            "verdict",
            kind,
            _rest(text),
            "How often clusterings with the same number agree; less reliable than the data.",
        )
    )
    return found


def _rest(text: str) -> str:
    """A sentence without its verdict, which is shown before it."""
    return text.rest if isinstance(text, Judged) else text


def _data_notes(model: Model) -> list[str]:
    """How the number of clusters was found in the data: numbers tried, points used, time."""
    if model.support is None or model.support.choice is None:
        return []
    choice = model.support.choice
    before = model.support.scales  # said before the verdict
    said = [f"{note[0].upper()}{note[1:]}." for note in choice.notes if note not in before]
    tried = (
        f"choose_k tried {choice.ks[0]} to {choice.ks[-1]} clusters of {model.points.source}, which took "
        f"{model.support.seconds:.1f} s."
    )
    return [tried, *said]
