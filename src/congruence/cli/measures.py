"""`congruence measures`: the list, or one measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from congruence.cli.app import app
from congruence.cli.options import Printing, argument, measures_like, option
from congruence.cli.printing import print_rows, show
from congruence.typing import ColumnLike

if TYPE_CHECKING:
    from congruence.formulas.record import Measure


class Given(Printing):
    """The options of the command."""

    key: str | None = argument("Show this measure in detail.", None, autocompletion=measures_like)
    historical: bool = option(
        False,
        "List the measures that are kept only to reproduce a paper.",
        needs=("the list of all measures", lambda given: given.key is None),
    )


@app.command()
def measures(given: Given) -> None:
    """List the measures, or show the definition of one.

    Examples:

      congruence measures

      congruence measures ari
    """
    import congruence as cg
    from congruence.comparison.presenting import span
    from congruence.formulas.references import REFERENCES
    from congruence.formulas.symbols import symbols_of

    if given.key is not None:
        m = cg.measure(given.key)
        if given.format != "table":
            print_rows([_facts(m)], given.format)
            return
        names = f" (also {', '.join(m.aliases)})" if m.aliases else ""
        lines = [
            f"{m.key}{names}: {m.title}",
            "",
            f"  {m.formula.__doc__.splitlines()[0] if m.formula.__doc__ else ''}",
            "",
        ]
        lines += [f"  {line}" for line in m.definition]
        meanings = symbols_of(m)
        wide = max(map(len, meanings), default=0)
        lines += ["", *(f"  {name:<{wide}}  {meaning}" for name, meaning in meanings.items())] if meanings else []
        lines += [
            "",
            f"  {m.better} is better, {span(m)}",
            f"  properties: {', '.join(sorted(m.axioms)) or 'none'}",
        ]
        lines += [f"  parameter {name} = {value}" for name, value in m.parameters.items()]
        lines += [f"  caution: {m.caution}"] if m.caution else []
        lines += ["  kept only to reproduce a paper; 'all' skips it"] if m.is_historical else []
        lines += [f"  {REFERENCES[m.reference]}"]
        show("\n".join(lines))
        return
    print_rows([_facts(m) for m in cg.measures() if m.is_historical is given.historical], given.format)


def _facts(m: Measure) -> dict[str, ColumnLike]:
    from congruence.comparison.presenting import span

    return {
        "key": m.key, "title": m.title, "better": m.better, "range": span(m), "range_low": m.range[0],
        "range_high": m.range[1], "family": m.family,
        "axioms": " ".join(sorted(m.axioms)), "caution": m.caution,
    }  # fmt: skip
