"""Sizes, colours and fonts of every figure, in one place, and figures made without pyplot or global state."""

from __future__ import annotations

import functools
import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure

P = ParamSpec("P")

WIDTH_IN = 8.0
HEIGHT_IN = 4.4
PNG_DPI = 160

INK = "#1c2733"
MUTED = "#66727f"
FAINT = "#d9dee4"
GREY = "#9aa4ae"
BAD = "#b3261e"

# Okabe and Ito's set: told apart with any common colour blindness.
CATEGORIES = {
    "input": "#56b4e9",
    "forward": "#0072b2",
    "backward": "#004a75",
    "reduction": "#e69f00",
    "optimizer": "#009e73",
    "wait": "#c3cad1",
}
MARKERS = "osD^vph<>*"

# Light to dark blue through green: ordered in lightness, so it also survives a grey printer.
EFFICIENCY = LinearSegmentedColormap.from_list(
    "efficiency", ["#f7f3e3", "#d3e3c4", "#8fc4b0", "#4a9cab", "#22709b", "#123f73"]
)
_ORDERED = LinearSegmentedColormap.from_list(
    "ordered", ["#e69f00", "#cc5a71", "#8a3ffc", "#0072b2", "#00363a"]
)

_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 6.0,
    "axes.labelsize": 9.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": GREY,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6eaee",
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "text.color": INK,
    # text from records is text: a dollar sign in a name starts no formula
    "text.parse_math": False,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "mirrorscale",
}


@contextmanager
def settings() -> Iterator[None]:
    """Our settings over matplotlib's own defaults (not over a user's matplotlibrc), for this block only."""
    with matplotlib.rc_context(matplotlib.rcParamsDefault), warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes; that is no reason to print warnings
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcParams.update(_SETTINGS)
        yield


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """A function that makes a figure, with our settings around it."""

    @functools.wraps(draw)
    def with_settings(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with settings():
            return draw(*args, **kwargs)

    return with_settings


@dataclass(frozen=True, slots=True)
class Margins:
    """Inches between a figure's edges and its axes; the top holds the heading."""

    left: float = 0.85
    right: float = 1.75
    top: float = 0.8
    bottom: float = 0.6


def new_figure(height_in: float = HEIGHT_IN, width_in: float = WIDTH_IN) -> Figure:
    """An empty figure on the Agg canvas."""
    figure = Figure(figsize=(width_in, height_in))
    FigureCanvasAgg(figure)
    return figure


def panels(
    figure: Figure,
    margins: Margins = Margins(),
    rows: int = 1,
    columns: int = 1,
    gap_in: tuple[float, float] = (0.3, 0.5),
    **sharing: Any,
) -> list[Axes]:
    """Axes in a grid, row by row. Placed in inches, so that headings and legends never move; `gap_in` is the
    space between columns and between rows."""
    width, height = figure.get_size_inches()
    inner_w = (width - margins.left - margins.right - gap_in[0] * (columns - 1)) / columns
    inner_h = (height - margins.top - margins.bottom - gap_in[1] * (rows - 1)) / rows
    grid = figure.subplots(
        rows,
        columns,
        squeeze=False,
        gridspec_kw={
            "left": margins.left / width,
            "right": 1 - margins.right / width,
            "top": 1 - margins.top / height,
            "bottom": margins.bottom / height,
            "wspace": gap_in[0] / inner_w,
            "hspace": gap_in[1] / inner_h,
        },
        **sharing,
    )
    return list(grid.flat)


def heading(figure: Figure, title: str, subtitle: str) -> None:
    """A bold title at the upper left, and under it a muted line that says of what."""
    width, height = figure.get_size_inches()
    left = 0.14 / width
    figure.text(
        left, 1 - 0.14 / height, title, fontsize=12, fontweight="bold", va="top", gid="title"
    )
    figure.text(
        left, 1 - 0.42 / height, subtitle, fontsize=9, color=MUTED, va="top", gid="subtitle"
    )


def ordered_colours(count: int) -> list[Any]:
    """`count` colours for something that has an order."""
    return [_ORDERED(i / max(1, count - 1)) for i in range(count)]


def rendered(figure: Figure, format_name: str) -> bytes:
    """The figure as "png" or "svg"; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    metadata = {"Date": None} if format_name == "svg" else {"Software": None}
    with settings():
        figure.savefig(buffer, format=format_name, dpi=PNG_DPI, metadata=metadata)
    return buffer.getvalue()
