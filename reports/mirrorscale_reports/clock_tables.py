"""The page's tables of what was counted beside time, and of what the checked weights are worth."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence

from mirrorscale_reports.measured import Clocks, Interval, Measurement
from mirrorscale_reports.records import Cell
from mirrorscale_reports.tables import DASH, esc, table
from mirrorscale_reports.words import milliseconds, share, significant, spell_list, thousands


def _cell_columns(cell: Cell) -> str:
    return (
        f'<td class="n">{cell.replicas}</td><td class="n">{thousands(str(cell.global_batch))}</td>'
    )


def _mean_ms(seconds: Sequence[float]) -> str:
    return milliseconds(statistics.fmean(seconds)) if seconds else DASH


def _between(interval: Interval | None, unit: float, digits: int = 3) -> str:
    """Median, and the extremes where they differ from it."""
    if interval is None:
        return DASH
    low, middle, high = (
        significant(v / unit, digits) for v in (interval.low, interval.value, interval.high)
    )
    return middle if low == high else f"{middle} ({low}–{high})"


def _gpus(clocks: Clocks) -> str:
    said = []
    for gpu in clocks.gpus:
        facts = [
            f"{_between(value, unit)} {name}"
            for value, unit, name in (
                (gpu.sm_hz, 1e6, "MHz"),
                (gpu.temperature_c, 1, "°C"),
                (gpu.power_w, 1, "W"),
            )
            if value is not None
        ]
        if gpu.throttle_reasons:
            facts.append("slowed down: " + spell_list(list(gpu.throttle_reasons)))
        said.append(", ".join(facts))
    return "<br>".join(esc(text) for text in said) if said else DASH


def _clocks_row(cell: Cell, measured: Measurement, clocks: Clocks) -> str:
    disturbed = clocks.disturbed_steps / measured.steps
    steal = DASH if clocks.steal_share is None else share(clocks.steal_share)
    return (
        f"<tr>{_cell_columns(cell)}"
        f'<td class="n{" strong" if disturbed >= 0.1 else ""}">{share(disturbed)}</td>'
        f'<td class="n">{share(clocks.throttled_steps / measured.steps)}</td>'
        f'<td class="n">{_mean_ms(clocks.cpu_s_per_step)}</td>'
        f'<td class="n">{_mean_ms(clocks.core_wait_s_per_step)}</td>'
        f'<td class="n">{_between(clocks.core_hz, 1e9)}</td><td class="n">{steal}</td>'
        f"<td>{_gpus(clocks)}</td></tr>"
    )


def clocks_table(cells: Iterable[Cell]) -> str:
    """Of each measured cell: steps that others disturbed, CPU time, waits for a core, clocks, steal."""
    rows = [
        _clocks_row(cell, cell.measurement, cell.measurement.clocks)
        for cell in cells
        if cell.measurement is not None and cell.measurement.clocks is not None
    ]
    head = (
        '<th class="n">devices</th><th class="n">global<br>batch</th><th class="n">disturbed<br>steps</th>'
        '<th class="n">slowed by<br>heat or power</th><th class="n">CPU time<br>ms a step</th>'
        '<th class="n">wait for a core<br>ms a step</th><th class="n">core clock<br>GHz</th>'
        '<th class="n">stolen by the<br>hypervisor</th><th>GPUs</th>'
    )
    return table(head, rows, wide=True) if rows else ""


def evaluation_table(cells: Iterable[Cell]) -> str:
    """Of each checked cell, the metrics of the weights after the validation steps, on test rows."""
    judged = [(cell, cell.evaluation) for cell in cells if cell.evaluation]
    names = sorted({name for _, values in judged for name in values})
    head = '<th class="n">devices</th><th class="n">global<br>batch</th>'
    head += "".join(f'<th class="n">{esc(name)}</th>' for name in names)
    rows = [
        f"<tr>{_cell_columns(cell)}"
        + "".join(
            f'<td class="n">{significant(values[name], 6) if name in values else DASH}</td>'
            for name in names
        )
        + "</tr>"
        for cell, values in judged
    ]
    return table(head, rows) if rows else ""
