"""One function a figure: a group of cells in, a matplotlib Figure out. No global state, no files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from mirrorscale_reports import style
from mirrorscale_reports.drawing import (
    MANY_DEVICES,
    bands,
    beside,
    device_axis,
    legend_at_right,
    line_with_intervals,
    row_labels,
    thinned,
    thousands_k,
    ticks_at,
)
from mirrorscale_reports.metrics import (
    Group,
    batch_of,
    has_failed,
    ideal_speedup,
    is_base,
    phase_seconds,
    throughput_ratio,
)
from mirrorscale_reports.measured import PHASES, Interval
from mirrorscale_reports.records import Cell
from mirrorscale_reports.words import milliseconds, plural, share, significant, thousands


@style.styled
def speedup_figure(group: Group, subtitle: str) -> Figure:
    """(a) Speed-up against devices, a line a batch, with intervals and the ideal; oversubscribed hollow grey."""
    figure = style.new_figure()
    (axes,) = style.panels(figure)
    counts = sorted({*group.device_counts(), *(base.replicas for base in group.bases.values())})
    base_devices = min((base.replicas for base in group.bases.values()), default=counts[0])
    span = np.linspace(base_devices, max(counts[-1], base_devices + 1), 50)
    ideal = [ideal_speedup(devices, base_devices) for devices in span]
    axes.plot(span, ideal, "--", color=style.GREY, lw=1.4, label="ideal", zorder=1)
    batches = group.batches()
    for i, (batch, colour) in enumerate(zip(batches, style.ordered_colours(len(batches)))):
        cells = group.at_batch(batch)
        claims = [
            (beside(i, len(batches), cell.replicas, counts), cell.measurement.speedup)
            for cell in cells
            if cell.measurement and cell.measurement.speedup
        ]
        if claims:
            x, intervals = zip(*claims)
            label = f"{group.batch_name} {thousands(str(batch))}"
            line_with_intervals(axes, x, intervals, colour, i, label)
        for cell in cells:
            base = group.bases.get(cell.cell_key)
            ratio = throughput_ratio(cell, base) if cell.oversubscribed and base else None
            if ratio is not None:
                place = beside(i, len(batches), cell.replicas, counts)
                axes.plot(place, ratio, marker=style.MARKERS[i % len(style.MARKERS)], **_HOLLOW)
    handles, labels = axes.get_legend_handles_labels()
    if any(cell.oversubscribed for cell in group.measured()):
        handles.append(Line2D([], [], marker="o", **_HOLLOW))
        labels.append("oversubscribed:\nmore devices than\ncores, no claim")
    legend_at_right(axes, handles, labels)
    device_axis(axes, counts)
    if counts[-1] > MANY_DEVICES:
        axes.set_yscale("log", base=2)
        axes.yaxis.set_major_formatter(lambda value, _: significant(value))
    else:
        axes.set_ylim(bottom=0)
    axes.set_ylabel(f"speed-up over {plural(base_devices, 'device')}")
    style.heading(figure, "Speed-up against devices", subtitle)
    return figure


_HOLLOW: dict[str, Any] = {
    "linestyle": "none",
    "mfc": "white",
    "mec": style.GREY,
    "mew": 1.4,
    "ms": 7,
    "gid": "oversubscribed",
}


@style.styled
def efficiency_figure(group: Group, subtitle: str) -> Figure:
    """(b) Efficiency over devices x batch: the value and its interval in each cell, words where there is none."""
    counts, batches = group.device_counts(), group.batches()
    width = max(style.WIDTH_IN, 1.0 * len(counts) + 2.0)
    figure = style.new_figure(height_in=1.5 + 0.62 * len(batches), width_in=width)
    (axes,) = style.panels(figure, style.Margins(left=0.95, right=0.3))
    values = np.full((len(batches), len(counts)), np.nan)
    for row, batch in enumerate(batches):
        for column, devices in enumerate(counts):
            cell = group.at(devices, batch)
            claim = cell.measurement.efficiency if cell and cell.measurement else None
            if cell is not None and claim is not None:
                values[row, column] = claim.value
                is_one = is_base(cell, group) and claim.low == claim.high == 1
                _efficiency_value(axes, column, row, claim, is_one)
            else:
                _efficiency_words(axes, column, row, cell)
    image = axes.imshow(values, cmap=style.EFFICIENCY, vmin=0.5, vmax=1, aspect="auto", zorder=0)
    axes.set_xticks(range(len(counts)), [str(count) for count in counts])
    axes.set_yticks(range(len(batches)), [thousands(str(batch)) for batch in batches])
    axes.set_xticks(np.arange(len(counts) - 1) + 0.5, minor=True)
    axes.set_yticks(np.arange(len(batches) - 1) + 0.5, minor=True)
    axes.set_xlabel("devices")
    axes.set_ylabel(group.batch_name)
    axes.grid(False)
    axes.grid(which="minor", color="white", lw=3)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)
    bar = figure.colorbar(image, ax=axes, pad=0.02, fraction=0.035, aspect=25, extend="both")
    bar.outline.set_visible(False)
    bar.ax.grid(False)
    style.heading(figure, "Efficiency: 1 is ideal, [low, high] its interval", subtitle)
    return figure


def _efficiency_value(axes: Axes, column: int, row: int, claim: Interval, is_one: bool) -> None:
    words = f"{share(claim.value)}\n[{share(claim.low)}, {share(claim.high)}]"
    colour = "white" if claim.value > 0.82 else style.INK
    text = "1\nbase" if is_one else words
    axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=9, gid="value")


def _efficiency_words(axes: Axes, column: int, row: int, cell: Cell | None) -> None:
    if cell is None:
        words, face, colour = "\N{EN DASH}", "#f5f6f8", style.GREY
    elif has_failed(cell):
        words, face, colour = "FAILED\nits checks", "#f9dedc", style.BAD
    elif cell.status == "error":
        words, face, colour = "could\nnot run", "#f9dedc", style.BAD
    elif cell.status == "skipped":
        words, face, colour = "skipped", "#eceff2", style.MUTED
    elif cell.emulated:
        words, face, colour = "emulated", "#eceff2", style.MUTED
    elif cell.oversubscribed:
        words, face, colour = "over-\nsubscribed", "#eceff2", style.MUTED
    else:
        words, face, colour = "no base", "#eceff2", style.MUTED
    box = Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=face, edgecolor="none", zorder=0.5)
    axes.add_patch(box)
    axes.text(column, row, words, ha="center", va="center", color=colour, fontsize=8.5, gid="words")


@style.styled
def throughput_figure(group: Group, subtitle: str) -> Figure:
    """(c) Samples a second against global batch, a line a device count, with intervals."""
    figure = style.new_figure()
    (axes,) = style.panels(figure)
    measured = group.measured()
    counts = sorted({cell.replicas for cell in measured})
    for i, (devices, colour) in enumerate(zip(counts, style.ordered_colours(len(counts)))):
        cells = sorted(
            (cell for cell in measured if cell.replicas == devices),
            key=lambda cell: (cell.global_batch, cell.cell_key),
        )
        over = all(cell.oversubscribed for cell in cells)
        line_with_intervals(
            axes,
            [float(cell.global_batch) for cell in cells],
            [cell.measurement.samples_per_s for cell in cells if cell.measurement],
            style.GREY if over else colour,
            i,
            plural(devices, "device") + ("\n(oversubscribed)" if over else ""),
            hollow=over,
        )
    batches = sorted({cell.global_batch for cell in measured})
    axes.set_xscale("log", base=2)
    axes.set_xlim(batches[0] / 1.25, batches[-1] * 1.25)
    ticks_at(axes.xaxis, thinned(batches))
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(lambda value, _: thousands_k(value))
    axes.set_xlabel("global batch (samples a step, over all devices)")
    axes.set_ylabel("samples a second")
    handles, labels = axes.get_legend_handles_labels()
    legend_at_right(axes, handles[::-1], labels[::-1])
    style.heading(figure, "Throughput against global batch", subtitle)
    return figure


@style.styled
def step_time_figure(group: Group, subtitle: str) -> Figure:
    """(d) How steps scatter: a panel a batch, for each cell the share of steps that took at most x times its p50.
    Steps beyond the panel are counted in it."""
    measured = group.measured()
    counts = sorted({cell.replicas for cell in measured})
    colours = dict(zip(counts, style.ordered_colours(len(counts))))
    batches = sorted({batch_of(cell) for cell in measured})
    columns = min(2, len(batches))
    rows = math.ceil(len(batches) / columns)
    figure = style.new_figure(height_in=1.75 + 2.6 * rows + 0.85 * (rows - 1))
    margins = style.Margins(left=0.8, right=0.3, top=1.1, bottom=0.65)
    grid = style.panels(figure, margins, rows, columns, (0.35, 0.85), sharey=True)
    for axes in grid[len(batches) :]:
        axes.remove()
    for axes, batch in zip(grid, batches):
        _distributions(axes, [cell for cell in measured if batch_of(cell) == batch], colours)
        axes.set_title(f"{group.batch_name} {thousands(str(batch))}")
        axes.set_xlabel("step time / p50")
    for axes in grid[::columns]:
        axes.set_ylabel("share of steps")
    style.heading(figure, "How single steps scatter", subtitle + _dagger(group))
    return figure


def _distributions(axes: Axes, cells: list[Cell], colours: Mapping[int, Any]) -> None:
    beyond, slowest = 0, 0.0
    ratios = []
    for cell in cells:
        steps = np.sort(np.asarray(cell.measurement.step_s if cell.measurement else ()))
        p50 = cell.measurement.step_p50_s if cell.measurement else 0.0
        ratios.append(steps / p50 if p50 > 0 else np.ones_like(steps))
    left = min(ratio[0] for ratio in ratios)
    right = max(float(np.quantile(ratio, 0.99)) for ratio in ratios)
    margin = max(0.05 * (right - left), 0.005)
    left, right = left - margin, right + margin
    for cell, ratio in zip(cells, ratios):
        # at most 400 order statistics: a line of 2000 would look the same and weigh more
        kept = np.unique(np.linspace(0, len(ratio) - 1, 400).round().astype(int))
        measured = cell.measurement
        label = (
            f"{plural(cell.replicas, 'device')}{' †' if cell.oversubscribed else ''}: "
            f"p50 {milliseconds(measured.step_p50_s)}, p95 {milliseconds(measured.step_p95_s)} ms"
            if measured
            else ""
        )
        axes.step(
            np.concatenate(([left], ratio[kept], [right * 2])),
            np.concatenate(([0], (kept + 1) / len(ratio), [1])),
            where="post",
            color=style.GREY if cell.oversubscribed else colours[cell.replicas],
            ls=":" if cell.oversubscribed else "-",
            lw=1.7,
            label=label,
        )
        beyond += int(np.count_nonzero(ratio > right))
        slowest = max(slowest, float(ratio[-1]))
    axes.set_xlim(left, right)
    axes.set_ylim(0, 1.03)
    legend = axes.legend(
        loc="lower right", fontsize=8, handlelength=1.4, frameon=True, borderpad=0.3
    )
    legend.get_frame().set(linewidth=0, facecolor="white", alpha=0.85)
    if beyond:
        words = f"{plural(beyond, 'step')} beyond, up to {significant(slowest)}"
        axes.set_title(
            words + " \N{RIGHTWARDS ARROW}", loc="right", fontsize=8, fontweight="normal"
        )


_WIDE_RANGE = 30  # longest over shortest step


@style.styled
def phase_figure(group: Group, subtitle: str) -> Figure:
    """(e) Where a step goes: phases stacked, a row a cell, in milliseconds and as shares of the step. Steps of
    very different length are drawn as time a sample, with the milliseconds written beside them."""
    cells = group.measured()
    places = bands(cells)
    figure = style.new_figure(height_in=1.75 + 0.27 * places[-1])
    margins = style.Margins(left=1.15, right=0.3, top=1.1, bottom=0.6)
    left, right = style.panels(figure, margins, 1, 2, (0.3, 0.3), sharey=True)
    totals = [sum(phase_seconds(cell).values()) for cell in cells]
    long = [total for total in totals if total > 0]
    # bars of milliseconds would vanish beside others a hundred times as long
    per_sample = bool(long) and max(long) > _WIDE_RANGE * min(long)
    scales = [1e6 / cell.global_batch if per_sample else 1e3 for cell in cells]
    so_far = np.zeros(len(cells))
    for phase in PHASES:
        seconds = np.array([phase_seconds(cell)[phase] for cell in cells])
        look: dict[str, Any] = {
            "height": 0.72,
            "color": style.CATEGORIES[phase],
            "edgecolor": "white",
            "linewidth": 0.6,
        }
        left.barh(places, seconds * scales, left=so_far * scales, label=phase, **look)
        shares = [100 / total if total > 0 else 0.0 for total in totals]
        right.barh(places, seconds * shares, left=so_far * shares, **look)
        so_far += seconds
    ends = [total * scale for total, scale in zip(totals, scales)]
    for place, end, total in zip(places, ends, totals):
        words = milliseconds(total) + (" ms" if per_sample else "")
        left.text(end + 0.015 * max(ends), place, words, va="center", fontsize=8)
    left.set_xlim(0, (1.28 if per_sample else 1.16) * max(ends) if max(ends) > 0 else 1)
    right.set_xlim(0, 100)
    ticks_at(left.yaxis, places, row_labels(cells))
    left.set_ylim(places[-1] + 0.6, places[0] - 0.6)
    left.set_ylabel("devices \N{MULTIPLICATION SIGN} global batch")
    left.set_xlabel(
        "microseconds a sample; beside it ms a step" if per_sample else "mean milliseconds a step"
    )
    right.set_xlabel("share of the step, %")
    for axes in (left, right):
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
    _legend_row(figure, left)
    style.heading(figure, "Where a step goes", subtitle + _dagger(group))
    return figure


def _dagger(group: Group) -> str:
    over = any(cell.oversubscribed for cell in group.measured())
    return "  ·  † oversubscribed: more devices than cores" if over else ""


def _legend_row(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    _, height = figure.get_size_inches()
    where = (1.15 / style.WIDTH_IN, 1 - 1.0 / height)
    figure.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=where,
        ncol=len(labels),
        borderaxespad=0,
        columnspacing=1.4,
        handlelength=1.0,
        handleheight=1.0,
    )


@style.styled
def steadiness_figure(group: Group, subtitle: str) -> Figure:
    """(f) Was the machine steady: each slice's throughput over its cell's median, against when it was taken."""
    figure = style.new_figure(height_in=3.4)
    (axes,) = style.panels(figure)
    measured = group.measured()
    counts = sorted({cell.replicas for cell in measured})
    colours = style.ordered_colours(len(counts))
    axes.axhline(1, color=style.GREY, lw=1)
    for i, (devices, colour) in enumerate(zip(counts, colours)):
        x: list[float] = []
        y: list[float] = []
        for cell in measured:
            if cell.replicas == devices and cell.measurement:
                median = float(np.median(cell.measurement.slice_samples_per_s))
                x.extend(cell.measurement.slice_start_s)
                y.extend(
                    v / median if median else 1.0 for v in cell.measurement.slice_samples_per_s
                )
        axes.plot(
            x,
            y,
            ls="none",
            marker=style.MARKERS[i % len(style.MARKERS)],
            ms=3.6,
            alpha=0.75,
            mec="none",
            color=colour,
            label=plural(devices, "device"),
            rasterized=len(x) > 2000,
        )
    axes.set_xlabel("seconds since measuring began")
    axes.set_ylabel("slice / median of its cell")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.3g}")
    legend_at_right(axes, *axes.get_legend_handles_labels())
    style.heading(figure, "Was the machine steady?", subtitle)
    return figure
