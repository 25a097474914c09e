"""The page's tables as HTML. Every text that comes from a record passes through `esc`."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

from mirrorscale_reports.metrics import (
    Group,
    batch_of,
    has_failed,
    is_base,
    lost_time,
    compared,
    serial_fractions,
)
from mirrorscale_reports.measured import PHASES, Interval
from mirrorscale_reports.records import Cell, Check, RecordFile
from mirrorscale_reports.words import (
    cell_name,
    milliseconds,
    per_second,
    plural,
    share,
    size,
    thousands,
    times,
)

DASH = "\N{EN DASH}"


def esc(text: object) -> str:
    """`text` for HTML, in elements and in quoted attributes."""
    return html.escape(str(text), quote=True)


def results_table(group: Group) -> str:
    """A row a cell: batches, step times, throughput, speed-up, efficiency, check."""
    head = (
        '<th class="n">devices</th><th class="n">global<br>batch</th><th class="n">local<br>batch</th>'
        '<th class="n">step p50<br>ms</th><th class="n">step p95<br>ms</th>'
        '<th class="n">samples/s</th><th class="i">[low, high]</th><th class="n">speed-up</th>'
        '<th class="n">efficiency</th><th class="i">[low, high]</th><th>check</th>'
    )
    rows = []
    for i, cell in enumerate(group.cells):
        first = i > 0 and batch_of(cell) != batch_of(group.cells[i - 1])
        rows.append(_results_row(cell, group, first))
    return table(head, rows, wide=True)


def _results_row(cell: Cell, group: Group, first: bool) -> str:
    classes = ["first"] if first else []
    if has_failed(cell) or cell.status == "error":
        classes.append("bad")
    elif cell.apart or cell.status == "skipped":
        classes.append("apart")
    numbers = [
        str(cell.replicas),
        thousands(str(cell.global_batch)),
        thousands(str(cell.local_batch)),
    ]
    fields = "".join(f'<td class="n">{number}</td>' for number in numbers)
    measured = cell.measurement
    if measured is None or cell.emulated:
        no_time = DASH if measured is None else "emulated"
        fields += f'<td class="n">{no_time}</td>' * 3 + '<td class="i"></td>'
        fields += f'<td class="n">{DASH}</td>' * 2 + '<td class="i"></td>'
    else:
        rate = measured.samples_per_s
        fields += (
            f'<td class="n">{milliseconds(measured.step_p50_s)}</td>'
            f'<td class="n">{milliseconds(measured.step_p95_s)}</td>'
            f'<td class="n strong">{per_second(rate.value)}</td>'
            f'<td class="i">[{per_second(rate.low)}, {per_second(rate.high)}]</td>'
        )
        fields += _claim_fields(measured.speedup, measured.efficiency, is_base(cell, group))
    return f'<tr class="{" ".join(classes)}">{fields}<td>{check_tag(cell)}</td></tr>'


def _claim_fields(speedup: Interval | None, efficiency: Interval | None, base: bool) -> str:
    if speedup is None or efficiency is None:
        return f'<td class="n">{DASH}</td>' * 2 + '<td class="i"></td>'
    if base and efficiency.low == efficiency.high == 1:
        return '<td class="n">1</td><td class="n">1</td><td class="i">base</td>'
    return (
        f'<td class="n strong">{times(speedup.value)}</td>'
        f'<td class="n strong">{share(efficiency.value)}</td>'
        f'<td class="i">[{share(efficiency.low)}, {share(efficiency.high)}]</td>'
    )


def check_tag(cell: Cell) -> str:
    """One word on how the cell was judged, and whether it stands apart."""
    failed = [check.invariant for check in cell.checks if check.verdict == "failed"]
    apart = ""
    for word in ("oversubscribed", "emulated"):
        if getattr(cell, word):
            apart += f' <span class="tag apart">{word}</span>'
    if failed:
        return f'<span class="tag failed">FAILED {esc(" ".join(failed))}</span>{apart}'
    if cell.status == "error":
        return f'<span class="tag failed">could not run</span>{apart}'
    if cell.status == "skipped":
        return f'<span class="tag skipped">skipped</span>{apart}'
    passed = sum(check.verdict == "passed" for check in cell.checks)
    if passed == 0:
        return f'<span class="tag warn">unchecked</span>{apart}'
    return f'<span class="tag passed">passed {passed}/{len(cell.checks)}</span>{apart}'


def failures(cells: Iterable[Cell]) -> str:
    """Each failed cell in a box of its own, with every failed check's evidence."""
    boxes = []
    for cell in cells:
        lines = [
            f'<p><span class="tag failed">{esc(check.invariant)} failed</span> {esc(check.evidence)}</p>'
            for check in cell.checks
            if check.verdict == "failed"
        ]
        reason = f'<p class="small">{esc(cell.reason)}</p>' if cell.reason else ""
        boxes.append(
            f'<div class="failure"><p class="strong">{esc(_full_name(cell))}</p>{"".join(lines)}{reason}</div>'
        )
    return "".join(boxes)


def _full_name(cell: Cell) -> str:
    return f"{cell.workload} on {cell.dataset}, {cell_name(cell)}, {cell.scaling} scaling"


def invariants_of(cells: Iterable[Cell]) -> list[str]:
    """Every invariant that occurs, in order of first appearance."""
    return list(dict.fromkeys(check.invariant for cell in cells for check in cell.checks))


def verdict_matrix(cells: Sequence[Cell]) -> str:
    """Cell x invariant: a mark each, failed cells first."""
    names = invariants_of(cells)
    head = (
        '<th class="n">devices</th><th class="n">global batch</th><th>scaling</th><th>workload</th>'
    )
    head += "".join(f'<th class="c">{esc(name)}</th>' for name in names)
    rows = []
    for cell in failed_first(cells):
        by_name = {name: [c for c in cell.checks if c.invariant == name] for name in names}
        marks = "".join(f'<td class="c">{_mark(found)}</td>' for found in by_name.values())
        rows.append(
            f'<tr class="{"bad" if has_failed(cell) else ""}"><td class="n">{cell.replicas}</td>'
            f'<td class="n">{thousands(str(cell.global_batch))}</td><td>{esc(cell.scaling)}</td>'
            f"<td>{esc(cell.workload)}</td>{marks}</tr>"
        )
    return table(head, rows)


def _mark(checks: list[Check]) -> str:
    verdicts = {check.verdict for check in checks}
    if "failed" in verdicts:
        return '<span class="tag failed">\N{HEAVY BALLOT X} failed</span>'
    if "passed" in verdicts:
        return '<span class="tag passed">\N{CHECK MARK}</span>'
    return '<span class="tag skipped">skipped</span>' if verdicts else DASH


def failed_first(cells: Iterable[Cell]) -> list[Cell]:
    """Failed cells, then those that could not run, then the rest; the order is kept otherwise."""
    return sorted(cells, key=lambda cell: (not has_failed(cell), cell.status == "ok"))


def evidence_table(cells: Sequence[Cell]) -> str:
    """Every verdict of every cell with its evidence, failed ones first."""
    head = (
        '<th class="n">devices</th><th class="n">global batch</th><th>invariant</th><th>verdict</th>'
        "<th>evidence</th>"
    )
    order = {"failed": 0, "skipped": 1, "passed": 2}
    rows = []
    for cell in failed_first(cells):
        for i, check in enumerate(sorted(cell.checks, key=lambda check: order[check.verdict])):
            classes = ["first"] if i == 0 else []
            if check.verdict == "failed":
                classes.append("bad")
            rows.append(
                f'<tr class="{" ".join(classes)}"><td class="n">{cell.replicas}</td>'
                f'<td class="n">{thousands(str(cell.global_batch))}</td><td>{esc(check.invariant)}</td>'
                f'<td><span class="tag {check.verdict}">{check.verdict}</span></td>'
                f'<td class="words">{esc(check.evidence)}</td></tr>'
            )
    return table(head, rows, wide=True)


def left_out_table(file: RecordFile) -> str:
    """Cells without a scaling claim because they failed, could not run, were skipped, or stand apart."""
    rows = []
    for cell in failed_first(file.cells):
        if cell.status == "ok" and not cell.apart:
            continue
        cores = file.run_of(cell).environment.cores
        on = f"{plural(cell.replicas, 'device')} on {plural(cores, 'core')}"
        why = cell.reason or (
            "emulated: the devices are stand-ins that run on the host, so times say nothing"
            if cell.emulated
            else f"oversubscribed: {on}, so no scaling claim"
        )
        what = "failed" if has_failed(cell) else cell.status
        word = {"ok": "measured, shown apart", "error": "could not run"}.get(what, what)
        if cell.emulated and cell.status == "ok":
            word = "checked, not timed"
        rows.append(
            f'<tr><td class="n">{cell.replicas}</td><td class="n">{thousands(str(cell.global_batch))}</td>'
            f"<td>{esc(cell.scaling)}</td><td>{esc(cell.workload)}</td><td>{esc(word)}</td>"
            f'<td class="words">{esc(why)}</td></tr>'
        )
    head = (
        '<th class="n">devices</th><th class="n">global batch</th><th>scaling</th><th>workload</th>'
        "<th>what</th><th>why</th>"
    )
    return table(head, rows, wide=True) if rows else ""


def lost_time_table(group: Group) -> str:
    """For each compared cell, the step against its perfect share of the base's, by phase."""
    rows = []
    for cell in compared(group):
        lost = lost_time(cell, group.bases[cell.cell_key])
        if lost is None:
            continue
        parts = "".join(
            f'<td class="n{" strong" if name == lost.largest() and lost.lost_s > 0 else ""}">'
            f"{_signed_ms(lost.by_phase_s[name])}</td>"
            for name in PHASES
        )
        rows.append(
            f'<tr><td class="n">{cell.replicas}</td><td class="n">{thousands(str(cell.global_batch))}</td>'
            f'<td class="n">{milliseconds(lost.ideal_s)}</td><td class="n">{milliseconds(lost.actual_s)}</td>'
            f'<td class="n strong">{_signed_ms(lost.lost_s)}</td>{parts}</tr>'
        )
    head = (
        '<th class="n">devices</th><th class="n">global<br>batch</th><th class="n">ideal step<br>ms</th>'
        '<th class="n">mean step<br>ms</th><th class="n">lost<br>ms</th>'
        + "".join(f'<th class="n">{name}</th>' for name in PHASES)
    )
    return table(head, rows) if rows else ""


def _signed_ms(seconds: float) -> str:
    sign = "\N{MINUS SIGN}" if seconds < 0 else "+"
    value = abs(seconds) * 1e3
    return "0" if value < 5e-4 else f"{sign}{value:.3f}"


def serial_fraction_table(group: Group) -> str:
    """The serial fraction at each device count, and Amdahl's fit where there are enough."""
    fractions = serial_fractions(group)
    counts = sorted({count for entry in fractions for count in entry.by_devices})
    head = f'<th class="n">{esc(group.batch_name)}</th>'
    head += "".join(f'<th class="n">{plural(c, "device")}</th>' for c in counts)
    fitted = any(entry.fitted is not None for entry in fractions)
    head += '<th class="n">Amdahl fit</th><th class="n">its limit</th>' if fitted else ""
    rows = []
    for entry in fractions:
        row = f'<td class="n">{thousands(str(entry.batch))}</td>'
        for count in counts:
            found = entry.by_devices.get(count)
            row += (
                f'<td class="n"><span class="strong">{found.value:.3f}</span>'
                f'<br><span class="small">[{found.low:.3f}, {found.high:.3f}]</span></td>'
                if found
                else f'<td class="n">{DASH}</td>'
            )
        if fitted:
            fit = entry.fitted
            limit = times(1 / fit) if fit is not None and fit > 0 else DASH
            row += f'<td class="n strong">{DASH if fit is None else f"{fit:.3f}"}</td>'
            row += f'<td class="n">{limit}</td>'
        rows.append(f"<tr>{row}</tr>")
    return table(head, rows) if rows else ""


def how_measured_table(cells: Iterable[Cell]) -> str:
    """Counts, stop reasons and other facts of each measured cell."""
    rows = []
    for cell in cells:
        m = cell.measurement
        if m is None or cell.emulated:
            continue
        peak = DASH if m.fma_peak_share is None else f"{m.fma_peak_share:.2f}"
        rows.append(
            f'<tr><td class="n">{cell.replicas}</td><td class="n">{thousands(str(cell.global_batch))}</td>'
            f'<td class="n">{m.slices}</td><td class="n">{m.steps_per_slice}</td>'
            f'<td class="n">{thousands(str(m.steps))}</td><td class="n">{m.warmup_steps}</td>'
            f"<td>{esc(m.stop_reason)}</td>"
            f'<td class="n">{milliseconds(m.step_min_s)}</td><td class="n">{peak}</td>'
            f'<td class="n">{size(cell.memory.predicted_bytes_per_device)}</td>'
            f'<td class="n">{size(cell.memory.process_peak_bytes)}</td>'
            f'<td class="hash">{esc(cell.weight_hash[:16])}</td></tr>'
        )
    head = (
        '<th class="n">devices</th><th class="n">global<br>batch</th><th class="n">slices</th>'
        '<th class="n">steps a<br>slice</th><th class="n">steps</th><th class="n">warm-up</th>'
        '<th>stopped<br>by</th><th class="n">step min<br>ms</th><th class="n">FMA<br>share</th>'
        '<th class="n">predicted<br>a device</th><th class="n">process<br>peak</th><th>weight hash</th>'
    )
    return table(head, rows, wide=True) if rows else ""


def environment_list(file: RecordFile) -> str:
    """What the newest run says of machine and build; the other runs' differences beneath."""
    e = file.runs[-1].environment
    run = file.runs[-1]
    facts = [
        ("host", e.host),
        ("operating system", f"{e.os}, kernel {e.kernel}"),
        (
            "processor",
            f"{e.cpu_model}, {plural(e.cores, 'core')} usable, {plural(e.numa_nodes, 'NUMA node')}",
        ),
        ("caches", f"L1d {size(e.l1d_bytes)}, L2 {size(e.l2_bytes)}, L3 {size(e.l3_bytes)}"),
        ("memory", size(e.memory_bytes)),
        ("backend", f"{e.backend}, {e.target} (this machine has {', '.join(e.targets)})"),
        (
            "GPUs",
            "; ".join(
                f"{d.name} {d.model}, {size(d.memory_bytes)}, {d.uuid}, PCI {d.pci}"
                + (" (emulated)" if d.emulated else "")
                for d in e.cuda_devices
            ),
        ),
        ("numerics", e.numerics),
        ("build", f"{e.compiler}, {e.build_type}, NVTX {'on' if e.nvtx else 'off'}"),
        (
            "libraries",
            ", ".join(f"{k} {v}" for k, v in sorted(e.libraries.items())) or "none named",
        ),
        ("variables", ", ".join(f"{k}={v}" for k, v in sorted(e.variables.items())) or "none set"),
        ("mirrorscale", f"{run.version}, revision {run.git_revision}"),
        ("machine fingerprint", run.machine_fingerprint),
    ]
    return "<dl>" + "".join(f"<dt>{esc(k)}</dt><dd>{esc(v)}</dd>" for k, v in facts if v) + "</dl>"


def table(head: str, rows: Sequence[str], wide: bool = False) -> str:
    kind = ' class="wide"' if wide else ""
    body = "".join(rows)
    return f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
