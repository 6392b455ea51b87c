"""Figures of results: plotly to look at, matplotlib for papers. Each takes a result and gives back a figure."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np

from congruence.agreement import consensus_cdf
from congruence.alternative_clustering.search import Alternatives
from congruence.arrangement import Flow, cells_of, distances, flow_of, tree_of
from congruence.density.windows import Drift
from congruence.ensemble import Ensemble
from congruence.formulas import find
from congruence.results import AllPairs, Comparison, number
from congruence.selection import KChoice
from congruence.statistics import Array, InputError

Backend = Literal["plotly", "matplotlib"]
#: colours that everyone can tell apart (Okabe and Ito), for clusters and curves
EIGHT = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")
#: up to so many clusterings their values are written into the picture
MOST_VALUES = 12
#: above so many names they are left out of a picture; above so many points a picture of the distribution is of a sample
MOST_NAMES, EXACT_POINTS, DRAWN_PAIRS = 60, 1000, 200_000


def figure(result: Any, backend: Backend = "plotly", **options: Any) -> Any:
    """A figure of a result: plotly's, or with backend="matplotlib" (extra `plot`) a matplotlib Figure for papers.

    Takes what `compare`, `compare_all`, `choose_k`, `drift` and `alternatives` give back, and an Ensemble; `result.plot()` is
    the same. Options: `measure` for all pairs, `most` clusters of a flow. A plotly figure is written by
    `.write_html`, and by `.write_image` where kaleido is installed; a matplotlib one by `.savefig`.

    >>> import congruence as cg
    >>> shown = cg.figure(cg.compare([0, 0, 1, 1], ["x", "x", "y", "z"]))
    >>> shown.data[0].type, list(shown.data[0].link.value)
    ('sankey', [2, 1, 1])
    """
    if backend not in ("plotly", "matplotlib"):
        raise InputError(f"backend must be 'plotly' or 'matplotlib', not {backend!r}")
    draws = next((draws for kind, draws in _DRAWN.items() if isinstance(result, kind)), None)
    if draws is None:
        known = ", ".join(kind.__name__ for kind in _DRAWN)
        raise InputError(f"there is no figure of a {type(result).__name__}; there are figures of {known}")
    if importlib.util.find_spec(backend) is None:
        what = "plotly" if backend == "plotly" else '"congruence[plot]"'
        raise InputError(f"a figure by {backend} needs {backend}, which is not installed: pip install {what}")
    return draws[backend == "matplotlib"](result, **options)


# --- all pairs --------------------------------------------------------------------------------------------------


def _arranged(result: AllPairs, measure: str | None) -> tuple[Any, Any, Array, list[str]]:
    """The record of the measure, the tree, the values in its order, and the names in its order."""
    key = find(measure).key if measure is not None else next(iter(result))
    if key not in result:
        raise InputError(f"{key} was not measured here; there are: {', '.join(result)}")
    m = result.measures[key]
    values = result[m.key]
    tree = tree_of(distances(values, m))
    return m, tree, values[np.ix_(tree.order, tree.order)], [result.names[i] for i in tree.order]


def _pairs_plotly(result: AllPairs, measure: str | None = None) -> Any:
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    m, tree, values, names = _arranged(result, measure)
    shown = make_subplots(rows=2, cols=1, row_heights=[0.16, 0.84], vertical_spacing=0.01, shared_xaxes=True)
    x: list[float | None] = []
    y: list[float | None] = []
    for left, right, low_left, low_right, top in tree.branches.tolist():
        x += [left, left, right, right, None]
        y += [low_left, top, top, low_right, None]
    shown.add_trace(
        go.Scatter(x=x, y=y, mode="lines", line={"color": "#777", "width": 1}, hoverinfo="skip"), row=1, col=1
    )
    hover = "%{customdata[0]}<br>%{customdata[1]}<br>" + m.key + " %{z:.4f}<extra></extra>"
    both = np.array([[[_escaped(a), _escaped(b)] for b in names] for a in names])
    places = list(range(len(names)))
    shown.add_trace(
        go.Heatmap(
            x=places, y=places, z=values, customdata=both, hovertemplate=hover, colorscale="Viridis",
            reversescale=m.better == "lower", colorbar={"title": m.key, "len": 0.84, "y": 0.42},
            texttemplate="%{z:.2f}" if len(names) <= MOST_VALUES else None,
        ),
        row=2, col=1,
    )  # fmt: skip
    few = len(names) <= MOST_NAMES
    ticks = {"tickvals": places, "ticktext": [_escaped(n) for n in names]} if few else {"showticklabels": False}
    shown.update_xaxes(showgrid=False, zeroline=False)
    shown.update_xaxes(row=1, col=1, showticklabels=False)
    shown.update_xaxes(row=2, col=1, **ticks)
    shown.update_yaxes(row=2, col=1, autorange="reversed", **ticks)
    shown.update_yaxes(row=1, col=1, visible=False)
    title = f"{m.title}: {len(names)} clusterings ({m.better} is better)"
    shown.update_layout(title=title, template="plotly_white", showlegend=False, width=760, height=800)
    return shown


def _pairs_matplotlib(result: AllPairs, measure: str | None = None) -> Any:
    m, tree, values, names = _arranged(result, measure)
    shown = _canvas(6.2, 6.6)
    top, below = shown.subplots(2, 1, height_ratios=[0.16, 0.84])
    for left, right, low_left, low_right, height in tree.branches.tolist():
        top.plot([left, left, right, right], [low_left, height, height, low_right], color="#777", linewidth=0.8)
    top.set_xlim(-0.5, len(names) - 0.5)
    top.set_axis_off()
    image = below.imshow(values, cmap="viridis" if m.better == "higher" else "viridis_r", aspect="auto")
    for (i, j), value in np.ndenumerate(values if len(names) <= MOST_VALUES else np.empty((0, 0))):
        bright = float(np.dot(image.to_rgba(value)[:3], (0.3, 0.6, 0.1))) > 0.5
        below.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="black" if bright else "white")
    if len(names) <= MOST_NAMES:
        below.set_xticks(range(len(names)), names, rotation=90, fontsize=7, parse_math=False)
        below.set_yticks(range(len(names)), names, fontsize=7, parse_math=False)
    else:
        below.set_xticks([])
        below.set_yticks([])
    shown.colorbar(image, ax=[top, below], label=f"{m.title} ({m.better} is better)", shrink=0.8)
    return shown


# --- one pair ---------------------------------------------------------------------------------------------------


def _flow(result: Comparison, most: int) -> tuple[Flow, list[str]]:
    """The flow, and a colour for each cluster of both sides: matched ones share theirs."""
    flow = flow_of(result.table, most)
    left = [EIGHT[i % 8] for i in range(len(flow.rows))]
    partner = {j: i for i, j in flow.matched}
    right = [left[partner[j]] if j in partner else EIGHT[7] for j in range(len(flow.columns))]
    return flow, [*left, *right]


def _flow_plotly(result: Comparison, most: int = 24) -> Any:
    from plotly import graph_objects as go

    flow, colours = _flow(result, most)
    i, j = np.nonzero(flow.counts)
    names = [_escaped(f"{name}") for name in (*flow.rows, *flow.columns)]
    faded = [f"rgba({int(c[1:3], 16)},{int(c[3:5], 16)},{int(c[5:7], 16)},0.4)" for c in colours]
    trace = go.Sankey(
        arrangement="fixed" if len(names) < 3 else "snap",
        node={"label": names, "color": colours, "pad": 10, "thickness": 12},
        link={
            "source": i.tolist(), "target": (j + len(flow.rows)).tolist(), "value": flow.counts[i, j].tolist(),
            "color": [faded[x] for x in i],
        },
    )  # fmt: skip
    shown = go.Figure(trace)
    a, b = (_escaped(name) for name in result.names)
    first = next(iter(result), None)
    said = f", {first} {number(result[first])}" if first is not None else ""
    height = max(320, 26 * max(len(flow.rows), len(flow.columns)))
    edge = {"l": 40, "r": 40, "t": 60, "b": 20}
    title = f"{a} (left) and {b} (right){said}"
    shown.update_layout(title=title, template="plotly_white", width=760, height=height, margin=edge)
    return shown


def _flow_matplotlib(result: Comparison, most: int = 24) -> Any:
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    flow, colours = _flow(result, most)
    counts = np.asarray(flow.counts, dtype=np.float64)
    total, gap = counts.sum(), 0.012
    sides = []
    for sums in (counts.sum(axis=1), counts.sum(axis=0)):
        heights = sums / total * (1 - gap * (len(sums) - 1))
        sides.append((1 - np.concatenate([[0], np.cumsum(heights + gap)[:-1]]), heights))
    shown = _canvas(6.2, max(3.2, 0.2 * max(counts.shape)))
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    (left, tall), (right, high) = sides
    used_left, used_right = left.copy(), right.copy()
    for i, j in zip(*np.nonzero(counts), strict=True):
        at_left, at_right = counts[i, j] / counts[i].sum() * tall[i], counts[i, j] / counts[:, j].sum() * high[j]
        a, b = used_left[i], used_right[j]
        used_left[i], used_right[j] = a - at_left, b - at_right
        corners = [(0.03, a), (0.5, a), (0.5, b), (0.97, b), (0.97, b - at_right), (0.5, b - at_right),
                   (0.5, a - at_left), (0.03, a - at_left), (0.03, a)]  # fmt: skip
        bend = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
        axes.add_patch(PathPatch(Path(corners, bend), facecolor=colours[i], alpha=0.4, linewidth=0))
    nodes = (
        (0.0, left, tall, flow.rows, "right", -0.015, 0),
        (0.97, right, high, flow.columns, "left", 1.015, len(flow.rows)),
    )
    for x, tops, heights, names, side, label, offset in nodes:
        for k, (y, h) in enumerate(zip(tops.tolist(), heights.tolist(), strict=True)):
            axes.add_patch(Rectangle((x, y - h), 0.03, h, facecolor=colours[offset + k], linewidth=0))
            axes.text(label, y - h / 2, names[k], ha=side, va="center", fontsize=7, parse_math=False)
    axes.set_xlim(-0.25, 1.25)
    axes.set_ylim(-0.05, 1.08)
    axes.set_axis_off()
    for x, name in zip((0.015, 0.985), result.names, strict=True):
        axes.text(x, 1.04, name, ha="center", fontsize=9, weight="bold", parse_math=False)
    return shown


# --- an ensemble ------------------------------------------------------------------------------------------------


def _ensemble_parts(e: Ensemble, labels: Any) -> tuple[Any, Any, str]:
    cells = cells_of(e, labels)
    exact = e.n_points <= EXACT_POINTS
    cdf = consensus_cdf(e, progress=False) if exact else consensus_cdf(e, sample=DRAWN_PAIRS, random_state=0)
    size = len(cells.values)
    said = f"{len(e)} clusterings of {e.n_points:,} points"
    said += f", in {size} × {size} cells of their means" if cells.is_aggregated else ""
    return cells, cdf, said


def _ensemble_plotly(e: Ensemble, labels: Any = None) -> Any:
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    cells, cdf, said = _ensemble_parts(e, labels)
    titles = ["consensus matrix, ordered", "distribution"]
    shown = make_subplots(rows=1, cols=2, column_widths=[0.57, 0.43], horizontal_spacing=0.2, subplot_titles=titles)
    hover = "consensus %{z:.3f}<extra></extra>"
    beside = shown.layout.xaxis.domain[1] + 0.01
    shown.add_trace(
        go.Heatmap(z=cells.values, zmin=0, zmax=1, colorscale="Viridis", hovertemplate=hover, colorbar={"x": beside}),
        row=1, col=1,
    )  # fmt: skip
    x, y = _steps(cdf)
    shown.add_vrect(x0=0.1, x1=0.9, fillcolor="#888", opacity=0.12, line_width=0, row=1, col=2)
    shown.add_trace(go.Scatter(x=x, y=y, mode="lines", line={"color": EIGHT[0]}), row=1, col=2)
    shown.update_xaxes(row=1, col=1, showticklabels=False, constrain="domain")
    shown.update_yaxes(row=1, col=1, showticklabels=False, autorange="reversed", scaleanchor="x", constrain="domain")
    shown.update_xaxes(row=1, col=2, title="consensus of two points")
    shown.update_yaxes(row=1, col=2, title=f"share of {'the' if cdf.is_exact else 'sampled'} pairs", range=[0, 1])
    title = f"{said}; certainty {e.certainty():.3f}, ambiguous pairs {cdf.pac():.1%}"
    shown.update_layout(title=title, template="plotly_white", showlegend=False, width=980, height=520)
    return shown


def _steps(cdf: Any) -> tuple[list[float], list[float]]:
    total = np.cumsum(cdf.shares)
    x, y = [0.0], [0.0]
    for value, before, now in zip(cdf.values.tolist(), [0.0, *total.tolist()], total.tolist(), strict=False):
        x += [value, value]
        y += [before, now]
    return [*x, 1.0], [*y, 1.0]


def _ensemble_matplotlib(e: Ensemble, labels: Any = None) -> Any:
    cells, cdf, said = _ensemble_parts(e, labels)
    shown = _canvas(7.2, 3.4)
    left, right = shown.subplots(1, 2, width_ratios=[1, 1])
    image = left.imshow(cells.values, vmin=0, vmax=1, cmap="viridis")
    left.set_xticks([])
    left.set_yticks([])
    left.set_title(said, fontsize=8)
    shown.colorbar(image, ax=left, shrink=0.85, label="consensus")
    right.axvspan(0.1, 0.9, color="#888", alpha=0.12, linewidth=0)
    right.plot(*_steps(cdf), color=EIGHT[0])
    right.set_xlabel("consensus of two points")
    right.set_ylabel(f"share of {'the' if cdf.is_exact else 'sampled'} pairs")
    right.set_title(f"ambiguous pairs {cdf.pac():.1%}", fontsize=8)
    return shown


# --- choosing k, drift, alternatives ----------------------------------------------------------------------------


def _choice_plotly(choice: KChoice) -> Any:
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    curves = choice.curves
    across = min(3, len(curves))
    down = -(-len(curves) // across)
    shown = make_subplots(rows=down, cols=across, subplot_titles=[_curve_title(c) for c in curves])
    for place, c in enumerate(curves):
        at = {"row": place // across + 1, "col": place % across + 1}
        errors = {"array": np.nan_to_num(2 * c.errors), "visible": not np.isnan(c.errors).all()}
        shown.add_trace(
            go.Scatter(x=choice.ks, y=c.values, error_y=errors, name=c.name, line={"color": EIGHT[0]}), **at
        )
        if c.best is not None:
            top = [c.values[choice.ks.index(c.best)]]
            mark = {"size": 13, "symbol": "diamond", "color": EIGHT[5] if c.votes else EIGHT[7]}
            shown.add_trace(go.Scatter(x=[c.best], y=top, mode="markers", marker=mark, name=f"{c.name} best"), **at)
    shown.update_xaxes(tickvals=list(choice.ks))
    shown.update_layout(showlegend=False, height=120 + 260 * down, title=choice.headline, template="plotly_white")
    return shown


def _curve_title(c: Any) -> str:
    return f"{c.name} ({c.better} is better)" if c.better != "elbow" else str(c.name)


def _choice_matplotlib(choice: KChoice) -> Any:
    curves = choice.curves
    across = min(3, len(curves))
    down = -(-len(curves) // across)
    shown = _canvas(2.5 * across, 2.0 * down + 0.4)
    places = shown.subplots(down, across, squeeze=False).ravel()
    for axes, c in zip(places, curves, strict=False):
        axes.errorbar(choice.ks, c.values, yerr=np.nan_to_num(2 * c.errors), color=EIGHT[0], marker="o", markersize=3)
        if c.best is not None:
            top = c.values[choice.ks.index(c.best)]
            axes.plot([c.best], [top], marker="D", markersize=8, color=EIGHT[5] if c.votes else EIGHT[7])
        axes.set_title(_curve_title(c), fontsize=8, parse_math=False)
        axes.set_xticks(list(choice.ks))
    for axes in places[len(curves) :]:
        axes.set_axis_off()
    shown.suptitle(choice.headline, fontsize=9)
    return shown


def _drift_plotly(drift: Drift) -> Any:
    from plotly import graph_objects as go

    windows = [_escaped(str(w)) for w in drift.windows]
    shown = go.Figure()
    moved = [", ".join(attribute for attribute, _ in drift.moved_attributes(i)[:3]) for i in range(1, len(windows))]
    for values, name, colour in (
        (drift.previous, "with the window before", EIGHT[0]),
        (drift.first, "with the first window", EIGHT[5]),
    ):
        hover = f"%{{x}}<br>{drift.measure} {name} %{{y:.4f}}<br>most changed: %{{customdata}}<extra></extra>"
        shown.add_trace(
            go.Scatter(x=windows[1:], y=values, name=name, customdata=[_escaped(m) for m in moved], hovertemplate=hover,
                       mode="lines+markers", line={"color": colour})
        )  # fmt: skip
    shown.update_xaxes(type="category", categoryorder="array", categoryarray=windows, title="window")
    shown.update_yaxes(title=f"{drift.measure} (1: nothing has moved)")
    shown.update_layout(template="plotly_white", width=760, height=420, title=f"{len(windows)} windows")
    return shown


def _drift_matplotlib(drift: Drift) -> Any:
    shown = _canvas(5.6, 3.2)
    (axes,) = shown.subplots(1, 1, squeeze=False).ravel()
    windows, x = [str(w) for w in drift.windows], list(range(1, len(drift.windows)))
    axes.plot(x, drift.previous, color=EIGHT[0], marker="o", label="with the window before")
    axes.plot(x, drift.first, color=EIGHT[5], marker="s", linestyle="--", label="with the first window")
    axes.set_xticks(x, windows[1:], rotation=90 if len(windows) > 8 else 0, fontsize=7, parse_math=False)
    axes.set_xlabel("window")
    axes.set_ylabel(f"{drift.measure} (1: nothing has moved)")
    axes.legend(frameon=False, fontsize=8)
    return shown


def _views(found: Alternatives) -> tuple[Array, list[tuple[str, Array]]]:
    """The data in two dimensions, and the given clusterings and alternatives to colour it by."""
    X = found.data
    if X.shape[1] > 2:
        from sklearn.decomposition import PCA

        X = PCA(2, random_state=0).fit_transform(X)
    X = np.column_stack([X, np.zeros((len(X), 2 - X.shape[1]))])
    views = [(f"given: {name}", codes) for name, codes in found.given.items()]
    for i, one in enumerate(found):
        scores = one.scores
        views.append(
            (f"alternative {i + 1}: dissimilarity {scores['dissimilarity']:.2f}, dq {scores['dq']:.2f}", one.labels)
        )
    return X, views


def _alternatives_plotly(found: Alternatives) -> Any:
    from plotly import graph_objects as go
    from plotly.subplots import make_subplots

    X, views = _views(found)
    shown = make_subplots(
        rows=1, cols=len(views), subplot_titles=[_escaped(name) for name, _ in views], shared_yaxes=True
    )
    for place, (_, codes) in enumerate(views):
        marks = {"color": [EIGHT[c % 8] for c in codes.tolist()], "size": 6 if len(X) < 2000 else 3}
        hover = "cluster %{customdata}<extra></extra>"
        shown.add_trace(
            go.Scattergl(x=X[:, 0], y=X[:, 1], mode="markers", marker=marks, customdata=codes, hovertemplate=hover),
            row=1, col=place + 1,
        )  # fmt: skip
    shown.update_layout(template="plotly_white", showlegend=False, width=max(420, 400 * len(views)), height=420)
    return shown


def _alternatives_matplotlib(found: Alternatives) -> Any:
    X, views = _views(found)
    shown = _canvas(3.0 * len(views), 3.0)
    for axes, (name, codes) in zip(shown.subplots(1, len(views), squeeze=False).ravel(), views, strict=True):
        axes.scatter(
            X[:, 0], X[:, 1], c=[EIGHT[c % 8] for c in codes.tolist()], s=8 if len(X) < 2000 else 2, linewidths=0
        )
        axes.set_title(name, fontsize=7, parse_math=False)
        axes.set_xticks([])
        axes.set_yticks([])
    return shown


# --- shared -----------------------------------------------------------------------------------------------------


def _canvas(width: float, height: float) -> Any:
    """A matplotlib figure of its own: no window, no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def _escaped(text: str) -> str:
    """A name as text: plotly reads some markup in labels."""
    from html import escape

    return escape(text, quote=False)


_DRAWN: dict[type, Sequence[Callable[..., Any]]] = {
    AllPairs: (_pairs_plotly, _pairs_matplotlib),
    Comparison: (_flow_plotly, _flow_matplotlib),
    Ensemble: (_ensemble_plotly, _ensemble_matplotlib),
    KChoice: (_choice_plotly, _choice_matplotlib),
    Drift: (_drift_plotly, _drift_matplotlib),
    Alternatives: (_alternatives_plotly, _alternatives_matplotlib),
}
