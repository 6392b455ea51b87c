"""Helpers for tests of reproductions: rows by label, claims by text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def by_label(rows: Iterable[Any]) -> dict[str, Any]:
    """The rows of a table by label."""
    return {row.label: row for row in rows}


def by_text(claims: Iterable[Any], words: str) -> Any:
    """The one claim with these words."""
    (found,) = [claim for claim in claims if words in claim.text]
    return found
