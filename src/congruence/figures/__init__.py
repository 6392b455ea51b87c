"""Figures of results, by plotly or matplotlib. Each function takes a result and returns a figure."""

from __future__ import annotations

from importlib import import_module

from congruence.alternative_clustering.results import Alternatives
from congruence.comparison.pair import Comparison
from congruence.comparison.results import AllPairs
from congruence.consensus_clustering.results import Consensus
from congruence.density.changes import Drift
from congruence.errors import InputError, joined, one_of
from congruence.hierarchies.cuts import CutCurve, CutTable
from congruence.hierarchies.sweep import Resolutions
from congruence.hierarchies.tangling import Tanglegram
from congruence.inputs.ensemble import Ensemble
from congruence.selection.choice import KChoice
from congruence.tracking.results import Tracks
from congruence.trust.cluster_check import ClusterCheck
from congruence.trust.ranking import Ranking
from congruence.trust.settings import Sweep
from congruence.typing import Backend, Figure, OptionValue

#: for each type of result the module and the function that says what its figure shows
DRAWN: dict[type, tuple[str, str]] = {
    AllPairs: ("pictures", "of_pairs"), Comparison: ("pictures", "of_flow"), Ensemble: ("pictures", "of_ensemble"),
    KChoice: ("pictures", "of_choice"), Drift: ("time_pictures", "of_drift"), Consensus: ("pictures", "of_cards"),
    Alternatives: ("pictures", "of_alternatives"), Tracks: ("time_pictures", "of_tracks"),
    CutCurve: ("tree_pictures", "of_curve"),
    CutTable: ("tree_pictures", "of_table"), Tanglegram: ("tree_pictures", "of_tangle"), Ranking: ("pictures", "of_ranking"),
    Resolutions: ("tree_pictures", "of_sweep"), ClusterCheck: ("pictures", "of_clusters"),
    Sweep: ("pictures", "of_settings"),
}  # fmt: skip


def figure(result: object, backend: Backend = "plotly", **options: OptionValue) -> Figure:
    """A figure of a result: a plotly figure, or with backend="matplotlib" a matplotlib figure for papers (extra `plot`).

    Save a plotly figure with `.write_html`, or with `.write_image` if kaleido is installed. Save a matplotlib figure with
    `.savefig`.

    Args:
        result: The result of `compare`, `compare_all`, `consensus`, `rank`, `check_clusters`, `sweep`, `choose_k`, `drift`,
            `alternatives`, `cut_curve`, `compare_cuts`, `tanglegram`, `resolutions` or `track`, or an `Ensemble`.
        backend: "plotly" (default) or "matplotlib".
        options: Options of the figure: `measure` for all pairs; `most` clusters of a flow shown one by one per side (120);
            `labels` and `kind` for an ensemble; `data` for a consensus; for resolutions `color` ("stability", a number per
            point, shown as its mean in each cluster, or labels, shown as the most frequent one) and `least` (edges with a
            smaller in_prop are hidden, 0.1).

    Returns:
        A plotly or matplotlib figure.

    Raises:
        InputError: If there is no figure for this type of result.

    See also:
        `cg.report`.

    >>> import congruence as cg
    >>> shown = cg.figure(cg.compare([0, 0, 1, 1], ["x", "x", "y", "z"]))
    >>> shown.data[0].type, list(shown.data[0].link.value)
    ('sankey', [2, 1, 1])
    """
    one_of("backend", backend, ("plotly", "matplotlib"))
    draws = next((found for kind, found in DRAWN.items() if isinstance(result, kind)), None)
    if draws is None:
        known = joined(kind.__name__ for kind in DRAWN)
        raise InputError(f"there is no figure of a {type(result).__name__}; there are figures of {known}")
    import_module(backend)  # says what to install if it is missing
    module, function = draws
    picture = getattr(import_module(f"congruence.figures.{module}"), function)(result, **options)
    return import_module(f"congruence.figures.by_{backend}").draw(picture)
