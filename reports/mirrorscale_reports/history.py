"""The figure of `mirrorscale history show --figure`: a panel a series, its levels, and where they changed."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mirrorscale_reports import style
from mirrorscale_reports.cli import CANNOT, GOOD, write_atomically
from mirrorscale_reports.decode import Amount, Count, Length, PositiveCount, Refused, Text, decode
from mirrorscale_reports.drawing import ticks_at
from mirrorscale_reports.words import significant

MOST_SERIES = 40  # more panels than that are no figure any more

Metric = Literal[
    "throughput",
    "efficiency",
    "step_min",
    "step_p95",
    "memory",
    "accuracy",
    "validation_loss",
]
# unit, its size, and whether more of it is better
UNITS = {
    "throughput": ("samples/s", 1.0, True),
    "efficiency": ("", 1.0, True),
    "step_min": ("ms", 1e-3, False),
    "step_p95": ("ms", 1e-3, False),
    "memory": ("MiB", 2.0**20, False),
    "accuracy": ("", 1.0, True),
    "validation_loss": ("", 1.0, False),
}


@dataclass(frozen=True, slots=True)
class Point:
    """Launches of one session and revision; `value` is their median."""

    started: Text
    git_revision: Text
    launches: PositiveCount
    value: Amount


@dataclass(frozen=True, slots=True)
class Change:
    """The level is another one from point `index` on."""

    index: Count
    before: Amount
    after: Amount
    p: Amount
    last_before: Text
    first_after: Text


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one cell over time, as `mirrorscale history show --json` writes it."""

    cell_key: Text
    metric: Metric
    points: Annotated[tuple[Point, ...], Length(1)]
    changes: tuple[Change, ...]
    machine_fingerprint: Text
    plan_fingerprint: Text


def load(path: Path) -> list[Series]:
    """Raises Refused, or OSError."""
    try:
        objects = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Refused(f"not JSON: {error}") from None
    if not isinstance(objects, list):
        raise Refused("expected a list of series")
    return [decode(Series, item, f"[{i}]") for i, item in enumerate(objects)]


@style.styled
def history_figure(all_series: Sequence[Series]) -> Figure:
    """A panel a series. Points stand in order, not at their dates: what happened between two is what counts."""
    count = len(all_series)
    margins = style.Margins(left=0.95, right=0.35, bottom=0.55)
    panel_in, gap_in = 1.25, 0.75
    height = margins.top + margins.bottom + count * panel_in + (count - 1) * gap_in
    figure = style.new_figure(height_in=height)
    metric = all_series[0].metric
    axes = style.panels(figure, margins, rows=count, gap_in=(0.3, gap_in))
    several = len({(s.machine_fingerprint, s.plan_fingerprint) for s in all_series}) > 1
    for series, panel in zip(all_series, axes):
        where = f" (machine {series.machine_fingerprint}, plan {series.plan_fingerprint})"
        _draw(series, panel, series.cell_key + where * several)
    changed = sum(bool(series.changes) for series in all_series)
    style.heading(
        figure,
        f"History of {metric.replace('_', ' ')}",
        f"{count} series, {changed} with a change of level; a point is a session of launches",
    )
    return figure


def _draw(series: Series, axes: Axes, title: str) -> None:
    unit, size, more_is_better = UNITS[series.metric]
    values = [point.value / size for point in series.points]
    axes.plot(range(len(values)), values, "o", ms=3.5, color=style.GREY, mew=0, gid="points")
    starts = [0, *(change.index for change in series.changes), len(values)]
    for begin, end in zip(starts, starts[1:]):
        level = sorted(values[begin:end])[(end - begin) // 2]
        axes.hlines(level, begin - 0.4, end - 0.6, color=style.INK, lw=1.6, gid="level")
    for change in series.changes:
        by = change.after / change.before - 1 if change.before > 0 else float("inf")
        colour = style.CATEGORIES["optimizer"] if (by > 0) == more_is_better else style.BAD
        axes.axvline(change.index - 0.5, color=colour, lw=1.2, gid="change")
        axes.annotate(
            f" {by:+.1%}  {commits(change)}",
            (change.index - 0.5, 1.0),
            xycoords=("data", "axes fraction"),
            color=colour,
            fontsize=8,
            va="top",
            ha="left" if change.index < 0.6 * len(values) else "right",
        )
    axes.set_title(title, fontsize=7.5)
    axes.set_ylabel(unit or series.metric.replace("_", " "))
    axes.yaxis.set_major_formatter(lambda value, _: significant(value))
    axes.margins(y=0.3)
    days = [point.started[:10] for point in series.points]
    at = sorted({0, len(days) - 1, *(change.index for change in series.changes)})
    ticks_at(axes.xaxis, at, [days[i] for i in at])


def commits(change: Change) -> str:
    """What may have done it."""
    if change.last_before == change.first_after:
        return "no commit: the machine"
    return f"{change.last_before[:12]}..{change.first_after[:12]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status; argparse exits by itself with 2 on misuse."""
    parser = argparse.ArgumentParser(
        prog="mirrorscale_reports.history",
        description="Draw what `mirrorscale history show --json` wrote as PNG or SVG.",
        allow_abbrev=False,
    )
    parser.add_argument("series", type=Path, metavar="SERIES.json")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.png|FILE.svg")
    chosen = parser.parse_args(arguments)
    suffix = chosen.out.suffix[1:]
    if suffix not in ("png", "svg"):
        parser.error(f"{chosen.out}: a figure is a .png or a .svg")
    try:
        series = load(chosen.series)
        if not 1 <= len(series) <= MOST_SERIES:
            raise Refused(f"{len(series)} series; expected 1 to {MOST_SERIES} (choose with --cell)")
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(chosen.out, style.rendered(history_figure(series), suffix))
    except (Refused, OSError) as error:
        print(f"mirrorscale_reports: {chosen.series}: {error}", file=sys.stderr)
        return CANNOT
    print(chosen.out)
    return GOOD


if __name__ == "__main__":
    sys.exit(main())
