"""What a figure shows, as plain data: panels of marks. plotly and matplotlib draw the same list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from congruence.figures.layout import EIGHT, Alluvial
from congruence.statistics.tables import Array

Numbers = Array | Sequence[float] | Sequence[float | None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Mark:
    """Something drawn in a panel; its name is shown in the legend."""

    name: str = ""
    #: what plotly shows at a point, in its syntax, and what that takes from there; a new line is a line break
    hover: str = ""
    notes: object = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Line(Mark):
    """Points joined by lines, with a gap at None."""

    x: Numbers
    y: Numbers
    color: str = EIGHT[0]
    #: in points
    width: float = 1.5
    is_dotted: bool = False
    opacity: float = 1.0
    #: whether each point has a mark
    has_dots: bool = False
    #: lengths of error bars below and above
    errors: Array | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Dots(Mark):
    """Points, with diameters in pixels; colours are names, or numbers on a scale that has a title."""

    x: Numbers
    y: Numbers
    color: Sequence[str] | Sequence[float]
    size: float | Sequence[float] = 8.0
    scale: str = ""
    is_diamond: bool = False
    has_outline: bool = False
    #: 0 for points that only carry the text shown there
    opacity: float = 1.0
    #: texts in the points, and their colours
    texts: Sequence[str] = ()
    inks: Sequence[str] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Texts(Mark):
    """Texts to the right of points, or to their left."""

    x: Numbers
    y: Numbers
    texts: Sequence[str]
    is_left: bool = False
    size: float = 6.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Heat(Mark):
    """A matrix as colours."""

    values: Array
    #: names of rows and columns
    rows: Sequence[str] = ()
    columns: Sequence[str] = ()
    is_reversed: bool = False
    limits: tuple[float, float] | None = None
    scale: str = ""
    #: whether the values are written into the cells
    has_values: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Band(Mark):
    """A grey area between two curves."""

    x: Numbers
    low: Array
    high: Array


@dataclass(frozen=True, eq=False, kw_only=True)
class Span(Mark):
    """An area between two places of the x axis, or of the y axis."""

    low: float
    high: float
    color: str = "#888"
    opacity: float = 0.12
    is_y: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class Bars(Mark):
    """Horizontal bars."""

    places: Sequence[float]
    values: Numbers
    color: str | Sequence[str]


@dataclass(frozen=True, eq=False, kw_only=True)
class Shapes(Mark):
    """Filled outlines (x and y) of one colour."""

    outlines: Sequence[Array]
    color: str
    opacity: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Flow(Mark):
    """The flow between neighbours of several clusterings."""

    alluvial: Alluvial
    #: tops and heights of the bars of each clustering, in inches
    places: Sequence[tuple[Array, Array]]


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis: its title, its ticks as places and names (None: automatic), and its direction."""

    title: str = ""
    ticks: tuple[Sequence[float], Sequence[str]] | None = None
    is_hidden: bool = False
    is_log: bool = False
    is_reversed: bool = False
    ends: tuple[float, float] | None = None
    is_at_top: bool = False
    #: whether lines of a grid mark the ticks
    has_grid: bool = True


NO_AXIS = Axis(is_hidden=True)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """Marks on two axes; the second line of a title is smaller."""

    marks: Sequence[Mark]
    title: str = ""
    x: Axis = Axis()
    y: Axis = Axis()
    is_square: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Panels in rows, with their size in pixels, and in inches on paper."""

    panels: Sequence[Panel]
    across: int = 1
    title: str = ""
    note: str = ""
    width: int | None = 760
    height: int = 440
    paper: tuple[float, float]
    #: the title of the legend; None for no legend
    legend: str | None = None
    #: whether a figure for a paper has the title too
    is_titled: bool = False
    #: relative sizes of rows and columns
    heights: tuple[float, ...] | None = None
    widths: tuple[float, ...] | None = None
    #: "x" or "y" for an axis that all panels share
    shared: str = ""
    #: gaps between columns and rows, as shares of the figure
    gaps: tuple[float, float] | None = None

    @property
    def down(self) -> int:
        """Number of rows."""
        return -(-len(self.panels) // self.across)
