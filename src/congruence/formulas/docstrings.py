"""The docstring of the function of a measure, from its record."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import ModuleType

from congruence.errors import NotApplicable
from congruence.formulas.record import Measure
from congruence.options import sentences
from congruence.typing import Function, OptionValue

#: descriptions of the parameters of measures
PARAMETERS = {
    "beta": "Weight of completeness relative to homogeneity, at least 0; above 1, completeness counts more.",
    "limit": "Largest number of clusters of the side with fewer clusters; larger inputs are refused. None: no limit.",
    "sample": "For covers: number of random points to score; None: all.",
    "zero_cells": "Number put into empty cells of the table before entropies are computed; the paper uses 1e-5.",
    "r": "For hierarchies: a node at level l, from 0 (root) to 1 (points), has weight exp(r·l). No effect on other inputs.",
    "path": 'For hierarchies: the level of a node is its depth divided by the length of the longest ("max") or shortest '
    '("min") path through it from the root to a point, or 1 − its height divided by that of the root ("height").',
    "missing": 'How pairs of points without a label in a member count: "ratio" (among members that label both), "plain" (a gap '
    'is a disagreement) or "pooled" (over pairs of members, on the points that both label).',
    "adjusted": "Whether to subtract the mean over matchings.",
    "normalised": "Whether to divide by the number of clades of both trees.",
    "normaliser": 'Normaliser: "sum" (arithmetic mean), "max" or "sqrt" (geometric mean) of the self-informations.',
    "alpha": "For covers and hierarchies: probability that a random walk continues, between 0 and 1.",
    "weights": 'How clusters count in the mean over best matches: "clusters" (equally) or "points" (by size).',
    "mean": 'Mean of the two directions: "arithmetic" or "harmonic".',
}
#: descriptions that differ for one measure
OF_MEASURE = {("element_centric", "limit"): "For covers: largest number of unknowns to solve for; None: no limit."}

SIDE = "labels (1-D), memberships (2-D floats, points × clusters)"
#: the options of `compare`
COMPARING = (
    "unassigned", "noise", "sample_weight", "frequency", "align", "threads", "engine", "client", "checkpoint", "memory",
    "skip_bad", "progress",
)  # fmt: skip
TWO = {
    "a": f"First clustering: {SIDE}, or an `Ensemble` or `Similarity`; the reference if the measure is asymmetric. "
    "Alias: labels_true.",
    "b": "Second clustering, of the same points. Alias: labels_pred.",
}
TREES = {"a": "First `Hierarchy`.", "b": "Second `Hierarchy`, of the same points."}
#: inputs of the example
LABELS = "[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2]"


def document(
    score: Callable[..., float], key: str, record: Measure, args: Mapping[str, str], sides: str, see: str
) -> Callable[..., float]:
    """Give the function of a measure its name, signature and docstring, with an example that shows a value."""
    name = "lambda_statistic" if key == "lambda" else key
    score.__name__ = score.__qualname__ = name
    score.__module__ = "congruence"
    score.__signature__ = _signature(score, record)  # type: ignore[attr-defined]
    low, high = record.range
    weighted = " With sample_weight: {:g} to {:g}.".format(*record.weighted_range) if record.weighted_range else ""
    weighted += " For memberships: {:g} to {:g}.".format(*record.soft_range) if record.soft_range else ""
    given = inspect.signature(score).parameters.values()
    defaults = {p.name: p.default for p in given if p.default is not p.empty}
    told = {p.name: args.get(p.name) or _description(p.name, record, defaults) for p in given}
    described = [
        textwrap.fill(f"{k}: {v}", 110, initial_indent="    ", subsequent_indent="        ") for k, v in told.items()
    ]
    example: list[str] = []
    with suppress(NotApplicable):
        value = score(*eval(f"({sides},)", {"cg": _public()}))  # noqa: S307 (a literal of ours)
        example = [">>> import congruence as cg", f">>> round(cg.{name}({sides}), 6)", f"{round(value, 6)!r}", ""]
    formula = inspect.cleandoc(record.formula.__doc__ or "")
    score.__doc__ = "\n".join(
        [
            f"{record.title}: {record.better} is better, {low:g} to {high:g}.{weighted}", "",
            f"    {'; '.join(record.definition)}", "",
            formula, "",
            *([f"Caution: {record.caution}.", ""] if record.caution else []),
            "Args:", *described, "",
            "Returns:", "    A float.", "",
            "Raises:",
            "    NotApplicable: If the measure is not defined for this input.",
            "    InputError: If the input cannot be compared.", "",
            "See also:", f"    {see} Reference: {record.reference}.", "",
            *example,
        ]
    )  # fmt: skip
    return score


def _description(name: str, record: Measure, defaults: Mapping[str, OptionValue]) -> str:
    """What a parameter of the measure, or a shared option, is."""
    if name not in record.parameters:
        return sentences(name, defaults)
    return f"{OF_MEASURE.get((record.key, name), PARAMETERS[name])} Default {record.parameters[name]!r}."


def described_arguments(function: Function) -> dict[str, str]:
    """The descriptions of the arguments of a function."""
    text = inspect.getdoc(function) or ""
    lines = text.partition("Args:\n")[2].partition("\n\n")[0].splitlines()
    found: dict[str, str] = {}
    for line in lines:
        name, colon, rest = line.strip().partition(": ")
        if line.startswith("    ") and not line.startswith("     ") and colon:
            found[name.partition(" ")[0]] = rest
        elif found:
            found[list(found)[-1]] += f" {line.strip()}"
    return found


def _public() -> ModuleType:
    import congruence

    return congruence


def _signature(score: Callable[..., float], record: Measure) -> inspect.Signature:
    """The signature with the parameters of the measure by name."""
    kind = inspect.Parameter.KEYWORD_ONLY
    given = list(inspect.signature(score, eval_str=False).parameters.values())
    own = [
        inspect.Parameter(key, kind, default=x, annotation=ANNOTATION.get(type(x), "OptionValue"))
        for key, x in record.parameters.items()
        if key not in {p.name for p in given}
    ]
    before = [p for p in given if p.kind is not inspect.Parameter.VAR_KEYWORD and p.name not in COMPARING]
    rest = [p for p in given if p not in before]
    return inspect.Signature(_in_order([*before, *own, *rest]), return_annotation="float")


def _in_order(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Parameters by name, each once, those by position first."""
    once = {p.name: p for p in parameters}
    return sorted(once.values(), key=lambda p: p.kind)


#: types of parameters by those of their defaults
ANNOTATION = {float: "float", int: "int | None", str: "str", bool: "bool"}
