"""One self-contained HTML page from a record file, and the figures in it as PNG and SVG."""

from __future__ import annotations

import base64
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from mirrorscale_reports import __version__, clock_tables, figures, style, tables, words
from mirrorscale_reports.metrics import (
    Group,
    Tally,
    compared,
    groups_of,
    hashes_agree,
    same_training,
    tally,
)
from mirrorscale_reports.records import RecordFile, Run
from mirrorscale_reports.tables import esc

Draw = Callable[[Group, str], Figure]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure ready to be embedded or written: `name` without suffix, what it shows, and its two forms."""

    name: str
    caption: str
    svg: bytes
    png: bytes


# name, needs a comparison of device counts, function, caption
_FIGURES: tuple[tuple[str, bool, Draw, str], ...] = (
    (
        "speedup",
        True,
        figures.speedup_figure,
        "Throughput over that of the base, with its interval. The dashed line is the ideal. "
        "A bar that cannot be seen is narrower than its mark.",
    ),
    (
        "efficiency",
        True,
        figures.efficiency_figure,
        "Speed-up × base devices / devices, with its interval. A cell that failed its checks has no number.",
    ),
    (
        "throughput",
        False,
        figures.throughput_figure,
        "Median over slices, with its interval. A line that still rises has work to gain from larger batches.",
    ),
    (
        "step-time",
        False,
        figures.step_time_figure,
        "Share of single steps that took at most so many times the cell's p50. Steep is steady; a tail to "
        "the right is jitter.",
    ),
    (
        "phases",
        False,
        figures.phase_figure,
        "Mean time a step by phase, mean over replicas. “wait” is time a replica spends for the others.",
    ),
    (
        "steadiness",
        False,
        figures.steadiness_figure,
        "Each point is one slice. Slices of all cells are taken in random order, so that a disturbance hits "
        "all cells alike and cancels in ratios.",
    ),
)


def draw_all(file: RecordFile) -> list[list[Drawn]]:
    """The figures of each group. Names are unique over the file; groups after the first carry a number."""
    groups = groups_of(file)
    return [_draw_group(group, groups, number) for number, group in enumerate(groups, start=1)]


def _draw_group(group: Group, groups: list[Group], number: int) -> list[Drawn]:
    if not group.measured():
        return []
    subtitle = words.group_title(group, groups)
    suffix = "" if len(groups) == 1 else f"-{number}-{_slug(group)}"
    drawn = []
    for name, needs_comparison, draw, caption in _FIGURES:
        if needs_comparison and not compared(group):
            continue
        figure = draw(group, subtitle)
        svg, png = style.rendered(figure, "svg"), style.rendered(figure, "png")
        drawn.append(Drawn(name + suffix, caption, svg, png))
    return drawn


def _slug(group: Group) -> str:
    name = f"{group.settings['workload']}-{group.scaling}".lower()
    return re.sub(r"[^a-z0-9]+", "-", name).strip("-")[:40] or "group"


def render(file: RecordFile, drawn: list[list[Drawn]], title: str | None = None) -> str:
    """The whole page. `drawn` is what `draw_all` gave for the same file."""
    groups = groups_of(file)
    count = tally(file.cells)
    heading = title if title else _default_title(groups)
    body = [
        f"<h1>{esc(heading)}</h1>",
        f'<p class="sub">{esc(_subtitle(file))}</p>',
        _verdict(file, groups, count),
        _notes(file),
        *(_group_section(g, groups, d) for g, d in zip(groups, drawn)),
        _checks_section(file, count),
        _left_out_section(file),
        _method_section(file),
        _clocks_section(file),
        _environment_section(file),
        _evidence_section(file),
        f"<footer>Made by mirrorscale_reports {esc(__version__)} from {esc(Path(file.name).name)} "
        f'(SHA-256 <span class="mono">{file.sha256}</span>). The page holds everything it shows; '
        "it loads nothing.</footer>",
    ]
    css = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        # a second fence: even if a text slipped through unescaped, nothing could run or load
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "img-src data:; style-src 'unsafe-inline'\">"
        f"<title>{esc(heading)}</title><style>\n{css}</style></head>\n<body><main>\n"
        + "\n".join(part for part in body if part)
        + "\n</main></body></html>\n"
    )


def _default_title(groups: list[Group]) -> str:
    what = dict.fromkeys(
        f"{group.settings['workload']} on {group.settings['dataset']}" for group in groups
    )
    return words.plain("How does training scale? " + words.spell_list(list(what), 3), 140)


def _subtitle(file: RecordFile) -> str:
    run = file.runs[-1]
    e = run.environment
    date = run.started[:16].replace("T", " ")
    return f"{e.host} · {e.cpu_model}, {words.plural(e.cores, 'core')} · {e.backend} {e.target}, {e.numerics} · {date} UTC"


def _verdict(file: RecordFile, groups: list[Group], count: Tally) -> str:
    disagree = [cells for cells in same_training(file.cells) if not hashes_agree(cells)]
    if count.failed or count.errors or disagree:
        kind, stamp = "bad", "FAILED" if count.failed or disagree else "INCOMPLETE"
    elif count.unchecked or count.skipped or not any(compared(group) for group in groups):
        kind, stamp = "warn", "NOT EVERYTHING WAS SHOWN"
    else:
        kind, stamp = "", "GOOD"
    lines = []
    for group in groups:
        about = f"{words.group_label(group, groups)}: " if len(groups) > 1 else ""
        lines.append(_sentence(about + words.scaling_sentence(group)))
    # failures lead; otherwise the answer to the reader's question does
    lines.insert(0 if kind == "bad" else len(lines), _sentence(words.checks_sentence(count)))
    shown = [f'<p class="lead">{esc(lines[0])}</p>', *(f"<p>{esc(line)}</p>" for line in lines[1:])]
    if hashes := words.hash_sentence(file.cells):
        shown.append(f"<p>{esc(_sentence(hashes))}</p>")
    if len(groups) == 1 and (loss := words.loss_sentence(groups[0])):
        shown.append(f"<p>{esc(_sentence(loss))}</p>")
    return f'<div class="verdict {kind}"><div class="stamp">{stamp}</div>{"".join(shown)}</div>'


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "."


def _notes(file: RecordFile) -> str:
    if not file.notes:
        return ""
    lines = "".join(f"<p>{esc(_sentence(note))}</p>" for note in file.notes)
    return f'<div class="notes"><p class="strong">About this file</p>{lines}</div>'


def _group_section(group: Group, groups: list[Group], drawn: list[Drawn]) -> str:
    title = "Results" if len(groups) == 1 else words.group_title(group, groups)
    held = "global batch is held while devices grow (strong scaling)"
    if group.scaling == "weak":
        held = "local batch is held while devices grow (weak scaling)"
    s = group.settings
    about = (
        f"The {held}. Optimizer {s['optimizer']}, seed {s['seed']}, {s['precision']}, "
        f"{s['numerics']} numerics on {s['backend']} ({s['target']}), {s['reduction']} reduction"
        + (", synthetic data." if s["synthetic"] else ".")
    )
    parts = [
        f"<h2>{esc(title)}</h2>",
        f'<p class="small">{esc(about)}</p>',
        tables.results_table(group),
    ]
    if not compared(group):
        reason = words.why_no_speedup(group)
        parts.append(f'<p><span class="tag warn">no speed-up</span> {esc(_sentence(reason))}</p>')
    parts.extend(_embedded(figure) for figure in drawn)
    if lost := tables.lost_time_table(group):
        parts += ["<h3>Where the efficiency goes</h3>", lost, f'<p class="small">{_LOST}</p>']
    if fractions := tables.serial_fraction_table(group):
        strong = group.scaling == "strong"
        name = "Serial fraction" + (" (Karp–Flatt)" if strong else " (Gustafson)")
        note = _KARP_FLATT if strong else _GUSTAFSON
        parts += [f"<h3>{name}</h3>", fractions, f'<p class="small">{note}</p>']
    return "\n".join(parts)


_LOST = (
    "Milliseconds a step against the base's step shared out perfectly (base phases × global batch / base's × "
    "base devices / devices); means over steps and replicas, so they differ a little from the medians above. "
    "The largest part is bold; negative is gained."
)
_KARP_FLATT = (
    "e = (1/S − 1/p) / (1 − 1/p), S the speed-up and p the devices over the base's: the share of the base's "
    "time that behaves as if it did not divide. It falls with the number of devices when overheads do not grow; "
    "it rises when they do. Its interval is the speed-up's, carried over. The Amdahl fit is the one fraction "
    "that fits all device counts best (least squares in 1/S), its limit the speed-up at infinitely many devices."
)
_GUSTAFSON = (
    "s = (p − S) / (p − 1), S the speed-up and p the devices over the base's: the share of a step on p devices "
    "that is not divided. Its interval is the speed-up's, carried over."
)


def _embedded(figure: Drawn) -> str:
    data = base64.b64encode(figure.svg).decode("ascii")
    return (
        f'<figure><img alt="{esc(figure.caption)}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{esc(figure.caption)}</figcaption></figure>"
    )


def _checks_section(file: RecordFile, count: Tally) -> str:
    parts = ["<h2>Checks</h2>"]
    total = count.checks_passed + count.checks_failed + count.checks_skipped
    parts.append(
        f'<p class="small">Each cell is judged before it is timed: {words.plural(total, "check")}, '
        f"{count.checks_passed} passed, {count.checks_failed} failed, {count.checks_skipped} skipped. "
        "A cell that fails keeps its row and gets no numbers. The evidence stands at the end of the page.</p>"
    )
    parts.append(tables.failures(count.failed))
    if total:
        parts.append(tables.verdict_matrix([cell for cell in file.cells if cell.checks]))
    return "\n".join(parts)


def _left_out_section(file: RecordFile) -> str:
    table = tables.left_out_table(file)
    text = (
        table
        if table
        else '<p class="small">Nothing: every cell was measured and takes part in the comparison.</p>'
    )
    return f"<h2>What was left out</h2>\n{text}"


def _method_section(file: RecordFile) -> str:
    measured = [c.measurement for c in file.cells if c.measurement and not c.emulated]
    if not measured:
        return ""
    methods = words.spell_list(sorted({m.method for m in measured}))
    levels = words.spell_list(sorted({f"{m.confidence * 100:g} %" for m in measured}))
    stops = {
        "interval": "the interval was narrow enough",
        "budget": "the time was spent",
        "slices": "the count was reached",
    }
    seen = [
        f"“{name}”: {stops[name]}" for name in stops if any(m.stop_reason == name for m in measured)
    ]
    text = (
        "A step's time is the maximum over replicas from a common start; warm-up steps are not counted. "
        "Cells are timed in short slices. Throughput is the median over slices; intervals are "
        f"{levels}, by {methods}. Measuring stopped for {'; '.join(seen)}. Weight hashes are those after the "
        "validation steps; under exact numerics the same training gives the same hash at any device count."
    )
    return f"<h2>How the numbers were made</h2>\n<p>{esc(text)}</p>\n" + tables.how_measured_table(
        file.cells
    )


def _clocks_section(file: RecordFile) -> str:
    parts = []
    if table := clock_tables.clocks_table(file.cells):
        text = (
            "Counted beside the clock; nothing was left out of the numbers above. A step is disturbed where a replica "
            "waited for a core for more than a twentieth of its slice, or a device was slowed down by heat or power. CPU "
            "times and waits are means over replicas; clocks are medians with their extremes."
        )
        parts += ["<h2>What else the machine did</h2>", f"<p>{esc(text)}</p>", table]
    if table := clock_tables.evaluation_table(file.cells):
        text = (
            "Metrics of the weights after the validation steps, on up to 257 test rows. They are as good as so few steps "
            "make them; that cells agree is what counts."
        )
        parts += ["<h2>What the checked weights are worth</h2>", f"<p>{esc(text)}</p>", table]
    return "\n".join(parts)


def _environment_section(file: RecordFile) -> str:
    parts = ["<h2>Environment, command, plan</h2>", tables.environment_list(file)]
    for run in file.runs:
        parts += [
            f"<h3>Run {esc(run.run_id)}, started {esc(run.started)}</h3>",
            f"<pre>{esc(shlex.join(run.command))}</pre>",
            f"<pre>{esc(_plan_text(run))}</pre>",
        ]
    return "\n".join(parts)


def _plan_text(run: Run) -> str:
    lines = [f"plan {run.plan_fingerprint}"]
    for name, value in run.plan.items():
        if isinstance(value, dict):
            lines.append(f"  {name}")
            lines += [f"    {k} = {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
        else:
            lines.append(f"  {name} = {json.dumps(value, ensure_ascii=False)}")
    return "\n".join(lines)


def _evidence_section(file: RecordFile) -> str:
    cells = [cell for cell in file.cells if cell.checks]
    if not cells:
        return ""
    return f"<h2>Evidence of every check</h2>\n{tables.evidence_table(cells)}"
