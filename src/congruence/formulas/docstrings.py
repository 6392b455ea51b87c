"""The docstring of the function of a measure, from its record."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from congruence.errors import NotApplicable
from congruence.formulas.record import Measure

#: what the parameters of measures mean
PARAMETERS = {
    "beta": "Weight of completeness relative to homogeneity, above 0.",
    "limit": "Largest product of the numbers of clusters for which it is computed; None: any.",
    "sample": "Of covers: number of random points to score; None: all.",
    "zero_cells": "Count that stands for an empty cell of the table.",
    "r": "How fast the weight of a level of a hierarchy decreases.",
    "path": 'How paths in a hierarchy are weighted: "max", "min" or "height".',
    "missing": 'How pairs of points count that a member lacks: "ratio", "plain" or "pooled".',
    "adjusted": "Whether to subtract the mean over matchings.",
    "normalised": "Whether to divide by the largest possible value.",
    "normaliser": 'What to divide by: "sum", "sqrt", "max" or "min" of the two entropies.',
    "alpha": "How fast similarity spreads, between 0 and 1.",
}

SIDE = "labels (1-D), memberships (2-D floats, points × clusters)"
OPTIONS = "Options of `compare`: `unassigned`, `noise`, `sample_weight`, `frequency`, `align`, `threads`, `engine`."
TWO = {
    "a": f"First clustering: {SIDE}, or an `Ensemble` or `Similarity`; the reference if the measure is asymmetric.",
    "b": "Second clustering, of the same points.",
}
TREES = {"a": "First `Hierarchy`.", "b": "Second `Hierarchy`, of the same points."}
#: what an example compares
LABELS = "[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 2, 2]"


def document(
    score: Callable[..., float], key: str, record: Measure, args: Mapping[str, str], sides: str, see: str
) -> Callable[..., float]:
    """Give the function of a measure its name, signature and docstring; the example shows the value that it has."""
    name = "lambda_statistic" if key == "lambda" else key
    score.__name__ = score.__qualname__ = name
    score.__module__ = "congruence"
    score.__signature__ = _signature(score, record)  # type: ignore[attr-defined]
    low, high = record.range
    own = {
        key: f"{PARAMETERS.get(key, 'Parameter of the measure.')} Default {x!r}."
        for key, x in record.parameters.items()
    }
    told = {**{k: v for k, v in args.items() if k != "options"}, **own}
    told |= {"options": args["options"]} if "options" in args else {}
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
            f"{record.title}: {record.better} is better, {low:g} to {high:g}.", "",
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


def _public() -> Any:
    import congruence

    return congruence


def _signature(score: Callable[..., float], record: Measure) -> inspect.Signature:
    """The signature with the parameters of the measure by name."""
    kind = inspect.Parameter.KEYWORD_ONLY
    given = list(inspect.signature(score, eval_str=False).parameters.values())
    own = [
        inspect.Parameter(key, kind, default=x, annotation=ANNOTATION.get(type(x), "Any"))
        for key, x in record.parameters.items()
        if key not in {p.name for p in given}
    ]
    before = [p for p in given if p.kind is not inspect.Parameter.VAR_KEYWORD]
    return inspect.Signature([*before, *own, *given[len(before) :]], return_annotation="float")


#: types of parameters by those of their defaults
ANNOTATION = {float: "float", int: "int | None", str: "str", bool: "bool"}
