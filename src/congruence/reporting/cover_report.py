"""A report on covers: similarities, ranking and matched clusters, on one page without a script."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

import numpy as np

from congruence.chance.permutation import permutation_test
from congruence.comparison.many import compare_all
from congruence.comparison.matching import match
from congruence.comparison.plans import BY_KIND
from congruence.comparison.results import AllPairs
from congruence.errors import Call, Caution, InputError, visible
from congruence.figures.layout import distances, map_of, tree_of
from congruence.formulas.record import Measure
from congruence.formulas.references import REFERENCES
from congruence.inputs.cover import as_cover_labels
from congruence.inputs.ensemble import Ensemble, columns_of
from congruence.inputs.labels import Labels
from congruence.reporting.html import Report
from congruence.reporting.members import Request, clusterings_shown, is_adjusted, worse
from congruence.reporting.phrases import Fact, said
from congruence.reporting.words import Summary
from congruence.statistics.tables import Array
from congruence.typing import ClusteringLike, EnsembleLike, NoiseLike, OptionValue, Record, Seed

#: most pairs whose matched clusters the page lists; above it, only pairs with the reference or the most central cover
MOST_PAIRS = 45
#: matched clusters that the page lists for a pair
MOST_ROWS = 30
#: permutations per p-value, and the most signatures of a pair for which they are drawn
DRAWS, MOST_SIGNATURES = 199, 5_000


@dataclass(frozen=True, eq=False)
class CoverRow:
    """One cover: its values with the reference, or its mean values with the others."""

    member: int
    values: dict[str, float]
    #: p-value, and why it is missing
    p_value: float | None
    note: str


@dataclass(frozen=True, eq=False)
class CoverPair:
    """Two covers: matched clusters with common points, sizes and Jaccard index, the largest first; clusters without a match."""

    a: int
    b: int
    values: dict[str, float]
    rows: tuple[tuple[str, str, int, int, int, float], ...]
    n_matched: int
    only_a: int
    only_b: int


@dataclass(frozen=True, eq=False)
class CoverModel:
    """Everything that a report on covers shows."""

    title: str
    n_points: int
    names: tuple[str, ...]
    #: clusters, covered points and most clusters per point of each cover
    sizes: tuple[tuple[int, int, int], ...]
    reference: int | None
    central: int
    measures: tuple[Measure, ...]
    squares: dict[str, Array]
    #: order of the covers in the matrix; positions on the map, and the share of the distances that it shows
    order: tuple[int, ...]
    place: Array
    shown: float
    ranking: tuple[CoverRow, ...]
    pairs: tuple[CoverPair, ...]
    cautions: tuple[Caution, ...]
    command: str | None
    created: str
    version: str
    seconds: float

    @property
    def main(self) -> Measure:
        """The measure used for order, map and ranking."""
        return self.measures[0]


class CoverReport(Report):
    """A report on covers: its data (`model`), its text (`summary`), and the page (`html`, `save`).

    Attributes:
        model: The report as plain data.
        path: Where the page was written, or None.
    """

    model: CoverModel  # type: ignore[assignment]

    @cached_property
    def summary(self) -> Summary:
        """The plain-language summary."""
        return summary_of(self.model)

    @property
    def answer(self) -> Record:
        """The answer: its sentence; clusters of covers overlap, so points have no labels."""
        return {"sentence": self.summary.answer}

    @property
    def labels(self) -> Array:
        """Refused: clusters of covers overlap."""
        raise InputError("a report on covers has no labels, because clusters of covers overlap")

    @cached_property
    def html(self) -> str:
        """The page."""
        return page(self.model)


def joined(
    clusterings: EnsembleLike, reference: ClusteringLike | None, unassigned: OptionValue, noise: NoiseLike
) -> Ensemble:
    """All covers on the same points; a reference that is not one of their names is added first."""
    if isinstance(clusterings, Ensemble) and (reference is None or isinstance(reference, str)):
        return clusterings
    columns = columns_of(clusterings)[0]
    if reference is not None and not isinstance(reference, str):
        columns = [("reference", reference), *columns]
    return Ensemble([x for _, x in columns], names=[name for name, _ in columns], unassigned=unassigned, noise=noise)


def build(r: Request) -> CoverModel:
    """The data of a report on covers; by default, points in no cluster are kept."""
    import congruence

    started = time.perf_counter()
    given = joined(r.clusterings, r.reference, "keep" if r.unassigned == "error" else r.unassigned, r.noise)
    reference = "reference" if r.reference is not None and not isinstance(r.reference, str) else r.reference
    e, with_reference, cautions = clusterings_shown(given, reference, "keep", None)
    scored = compare_all(e, list(r.measures or BY_KIND[False, True]), threads=r.threads, progress=r.progress)
    chosen = [m for m in scored.measures.values() if m.is_symmetric]
    if not chosen:
        raise InputError("a report needs a symmetric measure, such as omega, onmi_max or average_f1")
    covers = _covers(e)
    cautions += [c for c in scored.cautions if c not in cautions]
    cautions += [Caution("left_out", key, f"{{subject}} is left out: {why}") for key, why in scored.skipped.items()]
    uneven = [m.key for m in scored.measures.values() if not m.is_symmetric]
    cautions += [Caution("left_out", key, "{subject} is left out: it is not symmetric") for key in uneven]
    m, size = chosen[0], len(e)
    square = scored[m.key]
    others = square + np.diag(np.full(size, np.nan))
    central = min(range(size), key=lambda i: (worse(float(np.nanmean(others[i])), m), i))
    away = distances(square, m)
    place, shown = map_of(away)
    base = 0 if with_reference else central
    wanted = [(i, j) for i in range(size) for j in range(i + 1, size)]
    if len(wanted) > MOST_PAIRS:
        wanted = [(min(base, i), max(base, i)) for i in range(size) if i != base]
    return CoverModel(
        r.title, e.n_points, e.names, tuple(map(_sizes, covers)), 0 if with_reference else None, central,
        tuple(chosen), {x.key: scored[x.key] for x in chosen}, tuple(tree_of(away).order.tolist()), place, shown,
        _ranking(e, scored, chosen, with_reference, r.random_state, r.threads),
        tuple(_pair(e, scored, chosen, i, j) for i, j in wanted), tuple(dict.fromkeys(cautions)), r.command,
        time.strftime("%Y-%m-%d %H:%M"), congruence.__version__, time.perf_counter() - started,
    )  # fmt: skip


def _covers(e: Ensemble) -> list[Labels]:
    """The members, if none of them are memberships."""
    found = [c for c in e.members if isinstance(c, Labels)]
    if len(found) < len(e):
        raise InputError(
            f"a report on covers does not take memberships; convert them to covers: {Call('cg.Cover(u >= 0.3)')}"
        )
    return found


def _sizes(c: Labels) -> tuple[int, int, int]:
    cover = as_cover_labels(c)
    lengths = cover.clusters.lengths[cover.codes]
    return cover.clusters.k, int((lengths > 0).sum()), int(lengths.max(initial=0))


def _n_cells(a: Labels, b: Labels) -> int:
    """Number of different pairs of sets of clusters."""
    return len(np.unique(a.codes.astype(np.int64) * (b.k + 1) + b.codes))


def _ranking(
    e: Ensemble, scored: AllPairs, chosen: list[Measure], with_reference: bool, random_state: Seed, threads: int | None
) -> tuple[CoverRow, ...]:
    """The covers by agreement with the reference, or without one by their mean agreement with the others."""
    found, covers = [], _covers(e)
    for i in range(1 if with_reference else 0, len(e)):
        if with_reference:
            values = {m.key: float(scored[m.key][0, i]) for m in chosen}
        else:
            values = {m.key: float(np.delete(scored[m.key][i], i).mean()) for m in chosen}
        p, note = None, ""
        if with_reference and _n_cells(covers[0], covers[i]) > MOST_SIGNATURES:
            note = f"no p-value: more than {MOST_SIGNATURES:,} different pairs of sets of clusters"
        elif with_reference:
            p = permutation_test(
                covers[0], covers[i], chosen[0], DRAWS, random_state, threads=threads, progress=False
            ).p_value
        found.append(CoverRow(i, values, p, note))
    return tuple(sorted(found, key=lambda row: (worse(row.values[chosen[0].key], chosen[0]), row.member)))


def _pair(e: Ensemble, scored: AllPairs, chosen: list[Measure], i: int, j: int) -> CoverPair:
    found = match(e.members[i], e.members[j])
    rows = sorted(found.rows, key=lambda row: (-row[3], str(row[0])))
    shown = tuple((str(a), str(b), int(o), int(x), int(y), o / (x + y - o)) for a, b, o, x, y in rows[:MOST_ROWS])
    values = {m.key: float(scored[m.key][i, j]) for m in chosen}
    return CoverPair(i, j, values, shown, len(rows), len(found.only_a), len(found.only_b))


def summary_of(model: CoverModel) -> Summary:
    """The report in a few sentences."""
    values = model.squares[model.main.key][np.triu_indices(len(model.names), 1)]
    first = model.ranking[0]
    facts: dict[str, Fact] = {
        "is_adjusted": is_adjusted(model.main), "recovered": 0, "p": np.nan if first.p_value is None else first.p_value,
        "typical": float(np.median([row.values[model.main.key] for row in model.ranking])),
        "other": model.names[model.ranking[-1].member], "covers": len(model.names), "points": model.n_points,
        "measure": model.main.title, "low": values.min(),
        "high": values.max(), "median": np.median(values), "name": model.names[first.member],
        "value": first.values[model.main.key],
    }  # fmt: skip
    if model.reference is not None:
        facts |= {"reference": model.names[model.reference], "recovered": len(model.ranking)}
    outside = [1 - covered / model.n_points for _, covered, _ in model.sizes]
    found = [said("covers_said", facts)] if facts["is_adjusted"] else []
    if len(model.names) > 2 or model.reference is not None:
        found.append(said("central_cover" if model.reference is None else "closest_cover", facts))
    found.append(said("uncovered", {"least": min(outside), "most": max(outside)}))
    return Summary(said("cover_answer", facts), (), tuple(found), (), model.cautions)


def page(model: CoverModel) -> str:
    """The whole page; all text is escaped, and there is no script."""
    from jinja2 import Environment
    from markupsafe import Markup

    room = files("congruence.reporting").joinpath("page")
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(room.joinpath("covers.html").read_text(encoding="utf-8"))
    style = room.joinpath("page.css").read_text(encoding="utf-8")
    dots = _dots(model)
    text = template.render(
        model=model, summary=summary_of(model), css=Markup(style), shade=_shade, dots=dots, draws=DRAWS,
        deepest=max(x[3] for x in dots), numbered=_is_numbered(model), most=MOST_ROWS,
        definitions=[(m, REFERENCES.get(m.reference, m.reference)) for m in model.measures],
    )  # fmt: skip
    return visible(text, keep="\n\t")  # names may hold control characters


def _shade(value: float, m: Measure | None = None) -> str:
    """Background and text colour of a cell, from white (worst) to blue (best); without a measure from 0 to 1."""
    low, high = (0.0, 1.0) if m is None else (max(m.range[0], 0.0), m.range[1])
    share = float(np.clip((value - low) / (high - low), 0, 1)) if value == value else 0.0
    share = share if m is None or m.better == "higher" else 1 - share
    rgb = [round(255 + share * (x - 255)) for x in (11, 98, 168)]
    return f"background:rgb({rgb[0]},{rgb[1]},{rgb[2]});color:{'#fff' if share > 0.55 else '#1b1f24'}"


#: longest name that heads a column and stands on the map; with longer ones, both have numbers; width of a letter on the map
LONGEST, WIDE = 12, 9


def _is_numbered(model: CoverModel) -> bool:
    return max(map(len, model.names)) > LONGEST


def _dots(model: CoverModel) -> list[tuple[float, float, float, float, str, str, bool]]:
    """The covers on a map of 640 × 380: position, position and anchor of the name, the name, and which is the reference."""
    low, high = model.place.min(axis=0), model.place.max(axis=0)
    scale = min(480 / max(high[0] - low[0], 1e-12), 320 / max(high[1] - low[1], 1e-12))
    middle = (low + high) / 2
    x, y = 320 + scale * (model.place[:, 0] - middle[0]), 190 - scale * (model.place[:, 1] - middle[1])
    places = {i: str(place) for place, i in enumerate(model.order, 1)}
    names = [places[i] if _is_numbered(model) else name for i, name in enumerate(model.names)]
    lengths = np.array([WIDE * len(name) for name in names])
    is_right = x + 9 + lengths < 640
    left, text = np.where(is_right, x + 9, x - 9 - lengths), y.copy()
    order = np.argsort(y, kind="stable").tolist()
    for place, i in enumerate(order):  # move names down that would overlap
        for j in order[:place]:
            if left[i] < left[j] + lengths[j] and left[j] < left[i] + lengths[i] and text[i] - text[j] < 16:
                text[i] = text[j] + 16
    return [
        (
            float(x[i]), float(y[i]), float(x[i] + 9 if is_right[i] else x[i] - 9), float(text[i]),
            "start" if is_right[i] else "end", name, i == model.reference,
        )
        for i, name in enumerate(names)
    ]  # fmt: skip
