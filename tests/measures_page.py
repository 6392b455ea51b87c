"""Writes `docs/measures.md` from the registry: `python -m tests.measures_page`."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import congruence as cg
from congruence.comparison.presenting import span
from congruence.errors import joined
from congruence.formulas import current_measures
from congruence.formulas.explain import pretty
from congruence.formulas.record import AXIOMS
from congruence.formulas.references import REFERENCES
from congruence.formulas.symbols import symbols_of

PAGE = Path(__file__).parents[1] / "docs" / "measures.md"
HEAD = """# The measures

<!-- written by `python -m tests.measures_page` from the declarations in src/congruence/formulas; do not edit by hand -->

This page is generated from the declarations of the measures. `congruence measures KEY` shows one of them
in the terminal, `cg.measure(KEY)` is its record in Python, and `cg.measure(KEY).explain(a, b)` shows the formula with the
numbers of two clusterings in it. Each key is a function too: `cg.ari(a, b)`. How to choose one:
[which measure to trust](which_measure.md).

If a measure is not symmetric, `a` is the reference. If a formula is 0/0, identical clusterings get the best value, and
others the value in the column "0/0".
"""
FAMILIES = {
    "pairs": ("Pairs of points", "Numbers of pairs of points that are together in both, in one, in neither."),
    "information": ("Information", "Information shared by the clusterings; natural logarithms."),
    "matching": (
        "Clusters and points",
        "Corresponding clusters, and overlap of the clusters of each point.",
    ),
    "covers": (
        "Covers",
        "Overlapping clusters; points may be in no cluster. B-cubed and `element_centric`, above, take covers too; their "
        "listed properties are those for partitions. See [covers](covers.md).",
    ),
    "soft": (
        "Memberships",
        "Measures made for soft clusterings; for partitions they are the plain ones. `aci` and `ndc`, above, are 1 for "
        "identical memberships too. See [soft clusterings](soft.md).",
    ),
    "matrices": (
        "Ensembles and similarity matrices",
        "P and Q are similarity matrices, or the consensus matrices of ensembles, or partitions (1 if two points are "
        "together). See [ensembles](ensembles.md).",
    ),
    "trees": (
        "Hierarchies",
        "Two trees of the same points: the heights at which they merge points, their clades, their levels. "
        "See [hierarchies](hierarchies.md).",
    ),
    "profiles": (
        "Density profiles",
        "Where the clusters lie in the data. See [density profiles](density_profiles.md).",
    ),
}


def function(m: cg.Measure) -> str:
    """The name to call it by in Python."""
    return "lambda_statistic" if m.key == "lambda" else m.key


HISTORICAL = """## Kept for papers

Three measures exist only to reproduce a paper. They are available by name, and `"all"` leaves them out;
`congruence measures --historical` lists them.
"""


def summary(found: list[cg.Measure]) -> list[str]:
    """One row per measure: direction, range, axioms, and its value at 0/0."""
    lines = ["| key | measure | range | properties | 0/0 |", "|---|---|---|---|---|"]
    for m in found:
        true = ", ".join(axiom for axiom in AXIOMS if axiom in m.axioms)
        zero = "undefined" if m.at_zero != m.at_zero else f"{m.at_zero:g}"
        arrow = "↑" if m.better == "higher" else "↓"
        lines.append(f"| [`{m.key}`](#{m.key}) | {m.title} | {arrow} {span(m)} | {true} | {zero} |")
    return lines


def letters(found: list[cg.Measure]) -> list[str]:
    """The meanings of the symbols of a family; a symbol with two meanings names its measures."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for m in found:
        for letter, meaning in symbols_of(m).items():
            meanings.setdefault(letter, {}).setdefault(meaning, []).append(m.key)
    lines = ["| letter | meaning |", "|---|---|"]
    for letter, by_meaning in meanings.items():
        for meaning, keys in by_meaning.items():
            of = f" (for {', '.join(f'`{key}`' for key in keys)})" if len(by_meaning) > 1 and len(keys) <= 3 else ""
            lines.append(f"| `{letter}` | {meaning}{of} |")
    return lines


def entry(m: cg.Measure) -> list[str]:
    """The section of one measure."""
    said = (m.formula.__doc__ or "").splitlines()[0]
    names = [f"also {joined(f'`cg.{name}`' for name in m.aliases)}"] if m.aliases else []
    names += [f"in Python `cg.{function(m)}`"] if function(m) != m.key else []
    lines = [f"### {m.key}", "", f"**{m.title}**{' (' + ', '.join(names) + ')' if names else ''}. {said}", ""]
    lines += [*(f"    {pretty(line)}" for line in m.definition), ""]
    true = ", ".join(axiom for axiom in AXIOMS if axiom in m.axioms) or "none"
    facts = [f"{m.better.capitalize()} is better, {span(m)}. Properties: {true}{'; a metric' if m.is_metric else ''}."]
    if m.weighted_range is not None:
        facts.append("With `sample_weight`: {:g} to {:g}.".format(*m.weighted_range))
    if m.soft_range is not None:
        facts.append("For memberships: {:g} to {:g}.".format(*m.soft_range).replace("-inf to inf", "any number"))
    facts += [f"Parameters: {', '.join(f'`{k}={v!r}`' for k, v in m.parameters.items())}."] if m.parameters else []
    lines += ["\n".join(facts), ""]
    lines += [f"Caution: {m.caution}.", ""] if m.caution else []
    return [*lines, f"*{REFERENCES[m.reference]}*", ""]


def page() -> str:
    """The text of docs/measures.md."""
    lines = [HEAD, "Possible properties of a measure:", "", "| property | meaning |", "|---|---|"]
    lines += [f"| {axiom} | {meaning} |" for axiom, meaning in AXIOMS.items()]
    lines += [
        "",
        "A measure with the first three (or 1 − the measure) is a metric, suitable for maps and dendrograms.",
        "",
    ]
    for family, group in groupby(current_measures(), key=lambda m: m.family):
        title, said = FAMILIES[family]
        found = list(group)
        lines += [f"## {title}", "", said, "", *summary(found), "", *letters(found), ""]
        for m in found:
            lines += entry(m)
    kept = [m for m in cg.measures() if m.is_historical]
    lines += [HISTORICAL, *summary(kept), "", *letters(kept), ""]
    for m in kept:
        lines += entry(m)
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
