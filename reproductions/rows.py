"""Results of a reproduction: rows with the paper's number next to ours, claims, and plain-text tables of both."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

AGREES, MISPRINT, NOT_REPRODUCIBLE = "agrees", "misprint", "not reproducible"
CONFIRMED, NOT_CONFIRMED = "confirmed", "not confirmed"


@dataclass(frozen=True)
class Row:
    """One number as printed in the paper, and ours; None where there is none."""

    label: str
    printed: str | None
    ours: float | None
    verdict: str
    note: str = ""


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether it holds, and the evidence."""

    text: str
    verdict: str
    evidence: str

    @classmethod
    def of(cls, text: str, holds: bool, evidence: str) -> Claim:
        """The claim with its verdict."""
        return cls(text, CONFIRMED if holds else NOT_CONFIRMED, evidence)


def same_digits(printed: str, ours: float) -> bool:
    """Whether the printed digits equal ours, rounded or truncated.

    >>> same_digits("0.9642", 27 / 28), same_digits("0.70721", 0.5**0.5)
    (True, False)
    """
    decimals = len(printed.partition(".")[2])
    return abs(float(printed) - ours) < 10.0**-decimals * (1 + 1e-9)


def checked(label: str, printed: str, ours: float, note: str = "", otherwise: str = NOT_REPRODUCIBLE) -> Row:
    """A row with the verdict "agrees" if the printed digits equal ours, else `otherwise`."""
    return Row(label, printed, ours, AGREES if same_digits(printed, ours) else otherwise, note)


def grid(head: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table of texts; the first `left` columns are left-aligned, the others right-aligned."""
    cells = [list(head), *(list(line) for line in lines)]
    widths = [max(len(line[c]) for line in cells) for c in range(len(head))]

    def put(line: Sequence[str]) -> str:
        sides = (
            cell.ljust(w) if c < left else cell.rjust(w) for c, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join(sides).rstrip()

    return "\n".join([put(cells[0]), "  ".join("-" * w for w in widths), *map(put, cells[1:])])


def _number(x: float | None, digits: int) -> str:
    if x is None:
        return "-"
    return f"{x:.{digits}f}" if x == 0 or abs(x) >= 0.5 * 10.0**-digits else f"{x:.1e}"


def rows_text(rows: Iterable[Row], digits: int = 7) -> str:
    """Rows as a table: label, printed, ours, verdict, and the note, if any, on the next line."""
    rows = list(rows)
    width = max(len(r.label) for r in rows)
    lines = [f"{'':{width}}  {'printed':>11}  {'ours':>11}  verdict"]
    for r in rows:
        lines.append(f"{r.label:{width}}  {r.printed or '-':>11}  {_number(r.ours, digits):>11}  {r.verdict}")
        lines += textwrap.wrap(r.note, 100, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines)


def claims_text(claims: Iterable[Claim]) -> str:
    """Claims as a list, each with its verdict and evidence."""
    lines = []
    for c in claims:
        lines += textwrap.wrap(f"[{c.verdict}] {c.text}", 110, subsequent_indent="    ")
        lines += textwrap.wrap(c.evidence, 106, initial_indent="      ", subsequent_indent="      ")
    return "\n".join(lines)


def signed(values: tuple[float, float, float]) -> str:
    """A difference with its interval.

    >>> signed((0.0312, -0.001, 0.06))
    '+0.031 [-0.001, +0.060]'
    """
    return f"{values[0]:+.3f} [{values[1]:+.3f}, {values[2]:+.3f}]"


def spread(values: Sequence[float]) -> str:
    """The lowest and the highest value.

    >>> spread([0.5, -0.25, 0.75])
    '-0.250 to 0.750'
    """
    return f"{min(values):.3f} to {max(values):.3f}"


def heading(text: str) -> str:
    """An underlined heading after an empty line."""
    return f"\n{text}\n{'=' * len(text)}"


def paragraph(text: str) -> str:
    """Text wrapped at 110 columns."""
    return textwrap.fill(" ".join(text.split()), 110)
