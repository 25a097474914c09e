"""What several figures share: lines with intervals, legends beside the axes, ticks at given values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from mirrorscale_reports import style
from mirrorscale_reports.metrics import batch_of
from mirrorscale_reports.measured import Interval
from mirrorscale_reports.records import Cell
from mirrorscale_reports.words import thousands

MANY_DEVICES = 16  # beyond this count, device axes are logarithmic


def line_with_intervals(
    axes: Axes,
    x: Sequence[float],
    intervals: Sequence[Interval],
    colour: Any,
    order: int,
    label: str,
    hollow: bool = False,
) -> None:
    """Values joined by a line, each with its interval as a bar; `order` picks the marker."""
    low = [interval.low for interval in intervals]
    high = [interval.high for interval in intervals]
    axes.vlines(x, low, high, color=colour, lw=1.6, zorder=2, gid="intervals")
    axes.plot(
        x,
        [interval.value for interval in intervals],
        color=colour,
        lw=1.6,
        ls=":" if hollow else "-",
        marker=style.MARKERS[order % len(style.MARKERS)],
        ms=5.5,
        mfc="white" if hollow else colour,
        mec=colour if hollow else "white",
        mew=1.3 if hollow else 0.8,
        label=label,
        zorder=3,
    )


def legend_at_right(axes: Axes, handles: Sequence[Any], labels: Sequence[str]) -> None:
    axes.legend(
        handles,
        labels,
        loc="upper left",
        bbox_to_anchor=(1.02, 1.0),
        borderaxespad=0,
        labelspacing=0.8,
    )


def ticks_at(axis: Any, values: Sequence[float], words: Sequence[str] | None = None) -> None:
    """Ticks at these values and nowhere else, on any scale."""
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(
        FixedFormatter(list(words or [thousands(f"{value:g}") for value in values]))
    )
    axis.set_minor_locator(NullLocator())


def thinned(values: Sequence[int], most: int = 12) -> list[int]:
    """At most about `most` of the values, evenly, the first always among them."""
    stride = -(-len(values) // most)
    return list(values[::stride])


def device_axis(axes: Axes, counts: Sequence[int]) -> None:
    """Device counts along x: their true distances up to a point, logarithmic beyond."""
    span = counts[-1] - counts[0]
    if counts[-1] > MANY_DEVICES:
        axes.set_xscale("log", base=2)
        axes.set_xlim(counts[0] / 1.12, counts[-1] * 1.12)
    else:
        margin = max(0.3, 0.05 * span)
        axes.set_xlim(counts[0] - margin, counts[-1] + margin)
    ticks_at(axes.xaxis, thinned(counts))
    axes.set_xlabel("devices")


def beside(order: int, of: int, devices: int, counts: Sequence[int]) -> float:
    """Where line `order` of `of` puts its mark for `devices`: a little aside, so that intervals stay apart."""
    offset = order - (of - 1) / 2
    if counts[-1] > MANY_DEVICES:
        return float(devices * 2 ** (0.05 * offset))
    return devices + min(0.012 * max(1, counts[-1] - counts[0]), 0.2 / of) * offset


def thousands_k(value: float) -> str:
    """Axis labels for throughputs: 0, 800, 50 k, 1.2 M."""
    for limit, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= limit:
            return f"{value / (1e3 if unit == ' k' else limit):g}{unit}"
    return f"{value:g}"


def row_labels(cells: Sequence[Cell]) -> list[str]:
    """Devices and batch of each cell, and why it is apart if it is."""
    return [
        f"{cell.replicas} \N{MULTIPLICATION SIGN} {thousands(str(cell.global_batch))}"
        + (" \N{DAGGER}" if cell.oversubscribed else "")
        for cell in cells
    ]


def bands(cells: Sequence[Cell]) -> list[float]:
    """A place for each cell's bar, a gap where the batch changes."""
    places: list[float] = []
    for i, cell in enumerate(cells):
        step = 1.0 if i == 0 or batch_of(cell) == batch_of(cells[i - 1]) else 1.5
        places.append(step + (places[-1] if places else 0.0))
    return places
