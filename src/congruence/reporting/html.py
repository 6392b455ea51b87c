"""The report as one HTML file that needs nothing else: `cg.report`."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from congruence.comparison.results import counted, number, plain, span
from congruence.errors import InputError
from congruence.formulas import find
from congruence.formulas.explain import pretty
from congruence.formulas.record import Measure
from congruence.formulas.references import REFERENCES
from congruence.reporting import words
from congruence.reporting.members import Member, Scale
from congruence.reporting.model import Model, build
from congruence.statistics.tables import Array

#: characters of ids, as the page writes them, up to which the page knows them all
MOST_ID_LETTERS = 1_000_000
#: the modules of the page in the order in which they build on one another
SCRIPTS = ("tools", "colours", "values", "matrix", "pair", "ranking", "points", "ensemble", "downloads", "controls")
PARTS = (
    ("summary", "Summary"), ("matrix", "All pairs"), ("pair", "One pair"), ("reference", "Reference"),
    ("points", "Points"), ("ensemble", "Ensemble"), ("making", "How it was made"),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Report:
    """A report: its data (`model`), its words (`summary`), and the page (`html`, `save`); a notebook shows the page."""

    model: Model = field(repr=False)
    path: Path | None = None

    @cached_property
    def summary(self) -> words.Summary:
        """The plain-language summary."""
        return words.summary(self.model)

    @cached_property
    def html(self) -> str:
        """The page."""
        return page(self.model)

    def save(self, path: str | Path) -> Path:
        """Write the page, whole or not at all."""
        path = Path(path)
        check_page(path)
        part = path.with_name(path.name + ".part")
        part.write_text(self.html, encoding="utf-8")
        part.replace(path)
        return path

    def __repr__(self) -> str:
        import textwrap

        lines = [textwrap.fill(text, 80) for text in self.summary.findings]
        lines += [textwrap.fill(x, 80, initial_indent="- ", subsequent_indent="  ") for x in self.summary.stands_out]
        return "\n".join([*lines, *([f"The page: {self.path}"] if self.path is not None else [])])

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts allow-downloads" '
            'style="width:100%;height:800px;border:1px solid #ccc"></iframe>'
        )


def check_page(path: Path) -> None:
    """Refuse, before the work, a place that the page cannot be written to."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is written as .html")
    if not path.parent.is_dir():
        raise InputError(f"there is no folder {path.parent} to write {path.name} in")


def report(
    clusterings: Any,
    out: str | Path | None = None,
    *,
    reference: Any = None,
    data: Any = None,
    axes: Sequence[str] | None = None,
    ids: Any = None,
    measures: Sequence[str | Measure] | None = None,
    n_clusters: int | None = None,
    unassigned: str = "drop",
    noise: Any = None,
    title: str | None = None,
    command: str | None = None,
    source: str | None = None,
    random_state: Any = 0,
    threads: int | None = None,
    progress: Callable[[int, int], Any] | bool | None = None,
) -> Report:
    """One self-contained HTML page that explains a set of clusterings: how they agree, on what, and where they differ.

    `clusterings` is all that `compare_all` takes; `reference` is a clustering, or the name of one of them. `data` (points ×
    features) adds a picture of the points, by principal components or the two columns named by `axes`; `ids` name the
    points. The page shows up to six symmetric `measures`. `n_clusters` is that of the consensus clusterings. Written to
    `out` if that is given; it works offline, and `r.model` is the same as plain data.

    >>> import congruence as cg
    >>> runs = {"x": [0, 0, 0, 1, 1, 1], "y": [0, 0, 1, 1, 1, 1], "z": [0, 0, 0, 1, 1, 2]}
    >>> r = cg.report(runs, reference="x")
    >>> r.summary.findings[2]
    'Nearest to the reference is “z” (ari 0.7059).'
    >>> r.html.startswith("<!doctype html>")
    True
    """
    if out is not None:
        check_page(Path(out))
    if isinstance(clusterings, str | Path):
        title, source = title or Path(clusterings).name, source or str(clusterings)
    model = build(
        clusterings, reference=reference, data=data, axes=axes, ids=ids, measures=measures, n_clusters=n_clusters,
        unassigned=unassigned, noise=noise, title=title or "Clusterings compared", command=command, source=source,
        random_state=random_state, threads=threads, progress=progress,
    )  # fmt: skip
    made = Report(model, None if out is None else Path(out))
    if out is not None:
        made.save(out)
    return made


# --- the data of the page ---------------------------------------------------------------------------------------

_KINDS = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "int32": "i32", "float32": "f32"}


def packed(values: Array, kind: Any = None) -> dict[str, str]:
    """An array as the page reads it: its type and its bytes in base64."""
    array = np.ascontiguousarray(values if kind is None else np.asarray(values).astype(kind))
    little = array.astype(array.dtype.newbyteorder("<"))
    return {"t": _KINDS[array.dtype.name], "b": b64encode(little.tobytes()).decode("ascii")}


def payload(model: Model) -> dict[str, Any]:
    """Everything the script of the page reads, as plain values."""
    members = model.members
    first = (model.reference, model.against.rows[0].member) if model.against else _nearest_to_central(model)
    return {
        "n": model.n_points,
        "names": [m.name for m in members],
        "ks": [m.k for m in members],
        "soft": [m.is_soft for m in members],
        "assigned": [m.n_assigned for m in members],
        "means": [m.mean for m in members],
        "group": [m.group for m in members],
        "groups_count": len(model.groups),
        "same": [m.same_as for m in members],
        "reference": model.reference,
        "central": model.central,
        "first": first,
        "measures": [_scale(s) for s in model.scales],
        "labels": None if model.pairs.labels is None else [packed(x) for x in model.pairs.labels],
        "clusters": [] if model.pairs.labels is None else [_cluster_names(m) for m in members],
        "tables": [_table(p) for p in model.pairs.tables],
        "command": _pair_command(model),
        "arguments": model.arguments,
        "against": _against(model),
        "points": _points(model),
        "consensus": _consensus(model),
        "together": _together(model),
    }


def _nearest_to_central(model: Model) -> tuple[int, int]:
    row = model.square(model.main)[model.central]
    if np.isnan(row).all():
        return model.central, (model.central + 1) % len(model.members)
    return model.central, int(np.nanargmax(row) if model.main.measure.better == "higher" else np.nanargmin(row))


def _scale(s: Scale) -> dict[str, Any]:
    m = s.measure
    low, high, steps = s.quantised
    return {
        "key": m.key, "title": m.title, "better": m.better, "high": m.range[1] if np.isfinite(m.range[1]) else None,
        "span": span(m), "caution": m.caution, "min": low, "max": high, "q": packed(steps),
        "order": packed(s.tree.order, np.int32), "branches": packed(s.tree.branches, np.float32),
        "place": None if s.place is None else packed(s.place, np.float32), "shown": s.shown,
    }  # fmt: skip


def _cluster_names(m: Member) -> Any:
    """Names of the clusters, or the first of a run of whole numbers."""
    if m.clusters and re.fullmatch("-?[0-9]{1,15}", m.clusters[0]):  # more digits a script cannot hold
        first = int(m.clusters[0])
        if m.clusters == tuple(str(first + i) for i in range(m.k)):
            return {"first": first}
    return list(m.clusters)


def _table(p: Any) -> dict[str, Any]:
    kind = np.float32 if p.flow.counts.dtype.kind == "f" else np.uint32
    return {
        "a": p.a, "b": p.b, "rows": p.flow.rows, "columns": p.flow.columns, "counts": packed(p.flow.counts, kind),
        "matched": p.flow.matched, "agreed": p.agreed, "worst": p.worst, "n_rows": p.flow.n_rows, "n_columns": p.flow.n_columns,
    }  # fmt: skip


def _pair_command(model: Model) -> tuple[str, str] | None:
    """What stands before and after the names of a pair in the command that compares them."""
    from shlex import quote

    return None if model.source is None else (f"congruence compare {quote(model.source)}", model.options)


def _against(model: Model) -> dict[str, Any] | None:
    if model.against is None:
        return None
    rows = [
        {
            "member": r.member, "values": list(r.values.values()), "interval": r.interval, "p": r.p_value,
            "pc": r.p_corrected, "note": r.note,
        }
        for r in model.against.rows
    ]  # fmt: skip
    return {"name": model.against.name, "rows": rows}


def _points(model: Model) -> dict[str, Any] | None:
    p = model.points
    if p is None:
        return None
    steps = np.where(np.isnan(p.scores), 65535, np.rint(np.nan_to_num(p.scores) * 65534)).astype(np.uint16)
    ids = p.ids if p.ids is not None and sum(len(x) + 3 for x in p.ids) <= MOST_ID_LETTERS else None
    place = None
    if p.place is not None:
        shown = p.place if p.drawn is None else p.place[p.drawn]
        low, high = shown.min(axis=0), shown.max(axis=0)
        place = packed(np.rint((shown - low) / np.where(high > low, high - low, 1.0) * 65535), np.uint16)
    return {
        "scores": packed(steps), "ids": ids, "counts": p.counts, "unstable": p.unstable, "place": place,
        "drawn": None if p.drawn is None else packed(p.drawn, np.uint32),
    }  # fmt: skip


def _consensus(model: Model) -> dict[str, Any] | None:
    best = model.together.best if model.together is not None else None
    if best is None:
        return None
    k = best.n_clusters
    kind = np.uint8 if k < 255 else np.uint16 if k < 65535 else np.uint32
    return {"method": best.method, "k": k, "labels": packed(np.where(best.labels < 0, k, best.labels), kind)}


def _together(model: Model) -> dict[str, Any] | None:
    t = model.together
    if t is None:
        return None
    values = t.cells.values
    steps = np.where(np.isnan(values), 255, np.rint(np.nan_to_num(values) * 254)).astype(np.uint8)
    choice = None
    if t.choice is not None:
        curves = [*t.choice.criteria.values(), *t.choice.with_reference.values()]
        choice = {
            "ks": t.choice.ks,
            "curves": [
                {key: getattr(c, key) for key in ("name", "title", "better", "values", "errors", "best", "votes")}
                for c in curves
            ],
        }  # fmt: skip
    return {
        "size": len(values), "cells": packed(steps), "edges": t.cells.edges,
        "order": None if t.cells.is_aggregated else packed(t.cells.order, np.int32),
        "cdf_values": t.cdf_values, "cdf": t.cdf, "methods": t.methods, "choice": choice,
    }  # fmt: skip


# --- the page ---------------------------------------------------------------------------------------------------


def page_script() -> str:
    """The script of the page: its modules one after another, in a scope of their own."""
    room = files("congruence.reporting").joinpath("page")
    parts = [room.joinpath(f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "".join(parts) + "})();\n"


def page(model: Model) -> str:
    """The whole page; every text of the file is escaped, and the only script it may run is ours."""
    from jinja2 import Environment
    from markupsafe import Markup

    room = files("congruence.reporting").joinpath("page")
    script = page_script()
    style = room.joinpath("page.css").read_text(encoding="utf-8")
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["span"] = lambda limits: f"{limits[0]:.4g} to {limits[1]:.4g}".replace("inf", "∞")
    environment.filters["pretty"] = pretty
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
    return template.render(
        model=model, summary=words.summary(model), parts=PARTS, css=Markup(style), script=Markup(script),
        script_hash=Markup(f"sha256-{digest}"), data=Markup(data), **_said(model),
    )  # fmt: skip


def _said(model: Model) -> dict[str, Any]:
    """The smaller sentences of the page."""
    own = [m for m in model.members if not m.is_reference]
    made = f"{counted(len(own), 'clustering')} of {counted(model.n_points, 'point')}"
    against = f", held against {model.against.name}" if model.against else ""
    found: dict[str, Any] = {"subtitle": f"{made}{against} · {model.created}"}
    shown = [s.measure for s in model.scales]
    also = [find(key) for key in ("arimp", "anmi", "certainty")] if model.together else []
    found["definitions"] = [(m, REFERENCES.get(m.reference, m.reference)) for m in dict.fromkeys([*shown, *also])]
    found["making"] = [
        ("version", f"congruence {model.version}"),
        ("made", f"{model.created}, in {model.seconds:.1f} s"),
        *([("file", model.source)] if model.source else []),
        ("points and clusterings", made + against),
        ("order and tree", "average linkage on the distance of each measure (best value − value), "
         + ("leaves in the optimal order" if model.main.tree.is_optimal else "leaves in the order of the tree")),
        *([("groups", f"Ward's linkage by {model.main.measure.key}, cut where groups are clearest (silhouette "
            f"{model.silhouette:.2f})")] if len(model.groups) > 1 else []),
        ("values", "each of 65,535 steps between the smallest and the largest value of a measure"),
    ]  # fmt: skip
    if model.points is not None:
        p = model.points
        found["points_over"] = f"all {p.pairs:,} pairs of members" if p.pairs_used == p.pairs else (
            f"{p.pairs_used:,} of the {p.pairs:,} pairs of members, drawn at random"
        )  # fmt: skip
        more = f", {len(p.drawn):,} of them drawn at random" if p.drawn is not None else ""
        found["plane"] = f"The points by {p.about}: {p.axes[0]} to the right, {p.axes[1]} upwards{more}."
    if model.together is not None:
        found |= _said_of_ensemble(model)
    return found


def _said_of_ensemble(model: Model) -> dict[str, Any]:
    t = model.together
    assert t is not None
    n, size = len(t.cells.order), len(t.cells.values)
    each = -(-n // size)
    if t.cells.is_aggregated:
        cells = (
            f"{n:,} points in {size} × {size} cells: a cell is the mean over the pairs of some {each:,} × {each:,} points. "
            "Points stand by the consensus clustering, clusters beside those they are alike."
        )
    else:
        cells = "Every point has a row and a column, in the optimal order of its tree."
    how = (
        f"all {t.cdf_pairs:,.0f} pairs of points"
        if t.cdf_is_exact
        else f"{t.cdf_pairs:,.0f} pairs of points drawn at random"
    )
    cdf = (
        f"Over {how}. Steep at 0 and 1 and flat between means that the members agree; pairs in the shaded band (above 0.1, "
        "up to 0.9) are ambiguous."
    )
    figures = [
        (number(t.certainty), "certainty, 0 to 1"),
        (number(t.random_certainty), f"certainty of random members with up to {t.kmax} clusters"),
        (f"{t.pac:.1%}", "of the pairs of points are ambiguous (PAC)"),
    ]
    if t.best is not None:
        known = t.best.confidence[t.best.labels >= 0]
        figures.append((number(float(known.mean())), f"mean confidence of the consensus ({t.best.method})"))
    notes = [f"{note[0].upper()}{note[1:]}." for note in t.choice.notes] if t.choice is not None else []
    no_choice = (
        "The curves over the number of clusters need two numbers of clusters or more, each with two clusterings or more; "
        "`congruence choose-k` makes them from data."
    )
    return {"cells": cells, "cdf": cdf, "ensemble_figures": figures, "choice_notes": notes, "no_choice": no_choice}
