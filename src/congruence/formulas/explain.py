"""The formula of a measure with the numbers of one pair."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from congruence.statistics.tables import Table, Tables
from congruence.typing import Function, Record, Scalar

if TYPE_CHECKING:
    from congruence.formulas.record import Measure
    from congruence.statistics import Statistic


@dataclass(frozen=True)
class Explanation:
    """A measure's formula, the numbers of one pair, and the value; prints as lines."""

    measure: Measure
    symbols: Record
    lines: tuple[str, ...]
    value: float

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__


#: functions that a definition may use besides the symbols
FUNCTIONS: dict[str, Function] = {"log": np.log, "sqrt": np.sqrt, "exp": np.exp, "max": max, "min": min}


def explanation(measure: Measure, tables: Tables, value: float) -> Explanation:
    """Evaluate a definition for one pair; a line that gives 0/0 names the rule for 0/0."""
    known: Record = {"points": tables.n_used[0]}
    if measure.workings is not None:
        (table,) = tables.each()
        known.update(measure.workings(table, **measure.parameters))
    statistic: Statistic = tables
    if measure.needs not in (Table, Tables):
        statistic = made = measure.needs.from_tables(tables)  # type: ignore[attr-defined]
        known.update({s: getattr(made, s)[0] for s in made.symbols})
    known.update(measure.parameters)
    # numpy floats give inf and NaN, Python floats would raise
    known = {k: v if isinstance(v, str) or v is None else np.float64(v) for k, v in known.items()}

    low, high = (f"{x:g}" for x in measure.range)
    lines = [f"{measure.key}: {measure.title} ({measure.better} is better, {low} to {high})"]
    words = set(re.findall(r"[A-Za-z_]\w*", " ".join(measure.definition)))
    lines.append("  " + ", ".join(f"{k} = {_number(v)}" for k, v in known.items() if k in words))
    for line in measure.definition:
        name, expression = line.split(" = ", 1)
        numbers = re.sub(r"[A-Za-z_]\w*", lambda m: _number(known[m[0]]) if m[0] in known else m[0], expression)
        with np.errstate(all="ignore"):
            # the expressions are literals in our own decorators, and a test checks them against the formulas
            result = eval(expression, {"__builtins__": {}}, {**FUNCTIONS, **known})  # noqa: S307
        if line is measure.definition[-1] and np.isnan(measure.raw(statistic)[0]):
            result = np.nan  # 0/0, or a denominator that is 0 up to rounding
        known[name] = result
        pad = " " * len(name)
        lines += [f"  {pretty(line)}", f"  {pad} = {pretty(numbers)}"]
        if np.isnan(result):
            lines.append(f"  {pad} = 0/0, by the rule for 0/0: {_number(value)}")
        else:
            lines.append(f"  {pad} = {_number(result)}")
    if measure.caution:
        lines.append(f"  Caution: {measure.caution}")
    return Explanation(measure, known, tuple(lines), value)


def _number(x: Scalar) -> str:
    return f"{float(x):.6g}" if x is not None and not isinstance(x, str) else str(x)


def pretty(text: str) -> str:
    """A line of Python as a formula."""
    return text.replace(" ** 2", "²").replace("*", "·").replace(" - ", " − ")
