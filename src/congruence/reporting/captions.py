"""What stands beside the tables and pictures of the page."""

from __future__ import annotations

from congruence.comparison.presenting import number
from congruence.errors import counted
from congruence.reporting.model import Model
from congruence.typing import Record


def groups_said(model: Model) -> str:
    """Where the groups come from."""
    a = model.answer
    if model.is_alone:
        return f"The groups are the clusters of “{a.by}”."
    if a.is_pair:
        return f"The groups are the clusters of “{a.by}”; disputed points are those that the other clustering puts elsewhere."
    by = f"the consensus of the clusterings, as `congruence consensus` finds it (method: {a.by})"
    if a.source == "vote":
        by = f"the clusters of “{a.by}”, each point moved to where most clusterings put it"
    return f"The groups are {by}. Each cluster of a clustering counts for the group with which it shares most points."


def ranking_said(model: Model) -> str:
    """By what the table of clusterings is sorted."""
    many = counted(sum(not m.is_reference for m in model.members), "clustering")
    if model.against is not None:
        by = f"agreement with “{model.against.name}”; black lines are 95% intervals, where there is one"
    else:
        by = "mean agreement with the others; black lines span the middle half"
    return f"{many}, sorted by {by}. Click a name to compare it."


def of_ensemble(model: Model) -> Record:
    """What the consensus matrix and its distribution show."""
    t = model.together
    assert t is not None
    n, size = len(t.cells.order), len(t.cells.values)
    each = -(-n // size)
    if t.cells.is_aggregated:
        cells = (
            f"{n:,} points in {size} × {size} cells: each cell is the mean over about {each:,} × {each:,} pairs of points. "
            "Points are ordered by the consensus, similar clusters next to each other."
        )
    else:
        cells = "Every point has a row and a column, in the optimal order of its tree."
    how = (
        f"all {t.cdf_pairs:,.0f} pairs of points"
        if t.cdf_is_exact
        else f"{t.cdf_pairs:,.0f} pairs of points drawn at random"
    )
    cdf = (
        f"Over {how}. A curve that is steep at 0 and 1 and flat in between means agreement. Pairs in the shaded band (above 0.1, "
        f"up to 0.9) are ambiguous: {t.pac:.1%}."
    )
    if t.certainty is not None:
        cdf += (
            f" Certainty (0 to 1): {number(t.certainty)}; random clusterings with up to {t.kmax} clusters have "
            f"{number(t.random_certainty)}."
        )
    notes = [f"{note[0].upper()}{note[1:]}." for note in t.choice.notes] if t.choice is not None else []
    return {"cells": cells, "cdf": cdf, "choice_notes": notes}
