"""Numbers and findings in words, shared by figures and page. Plain text; escaping is the page's work."""

from __future__ import annotations

import unicodedata

from mirrorscale_reports.metrics import (
    Group,
    Tally,
    batch_of,
    compared,
    hashes_agree,
    lost_time,
    same_training,
)
from mirrorscale_reports.records import Cell

NARROW_SPACE = "\N{NARROW NO-BREAK SPACE}"


def plain(text: str, most: int = 80) -> str:
    """`text` on one line without control characters, cut to `most` characters."""
    clean = "".join(" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    return clean if len(clean) <= most else clean[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"


def milliseconds(seconds: float) -> str:
    """Three significant digits, never an exponent: 0.0412, 4.10, 15.6, 1240."""
    return significant(seconds * 1e3)


def significant(value: float, digits: int = 3) -> str:
    """`value` to at least so many significant digits (whole numbers are not rounded further), thousands apart,
    no exponent between 1e-6 and 1e15."""
    if value == 0:
        return "0"
    if not 1e-6 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    magnitude = int(f"{abs(value):e}".split("e")[1])
    rounded = round(value, max(0, digits - 1 - magnitude))
    # rounding may carry into the next power of ten
    magnitude = int(f"{abs(rounded):e}".split("e")[1])
    return thousands(f"{rounded:.{max(0, digits - 1 - magnitude)}f}")


def thousands(number: str) -> str:
    """A narrow space between groups of three digits, from five digits on."""
    whole, point, rest = number.partition(".")
    if len(whole.lstrip("-")) < 5:
        return number
    return f"{int(whole):,}".replace(",", NARROW_SPACE) + point + rest


def per_second(value: float) -> str:
    """A throughput to a whole number, or three digits where it is small."""
    return thousands(f"{value:.0f}") if value >= 100 else significant(value)


def share(value: float) -> str:
    """A fraction as people of scaling write it: 0.93."""
    return f"{value:.2f}"


def times(value: float) -> str:
    return f"{value:.2f}\N{MULTIPLICATION SIGN}"


def size(count_bytes: int) -> str:
    """Bytes in binary units: 512 B, 10.2 MiB."""
    value = float(count_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if value < 1024 or unit == "TiB":
            break
        value /= 1024
    number = f"{value:.0f}" if unit == "B" or value >= 100 else significant(value)
    return f"{number.removesuffix('.0')} {unit}"


def plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def spell_list(items: list[str], most: int = 8) -> str:
    """a, b and c; the rest counted when there are many."""
    shown = items if len(items) <= most else [*items[:most], f"{len(items) - most} more"]
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " and " + shown[-1]


def cell_name(cell: Cell) -> str:
    return f"{plural(cell.replicas, 'device')} at global batch {thousands(str(cell.global_batch))}"


def group_title(group: Group, others: list[Group]) -> str:
    """Workload, data and scaling, and whatever else tells this group from the others."""
    s = group.settings
    title = f"{s['workload']} on {s['dataset']}, {s['scaling']} scaling"
    told = {"workload", "dataset", "scaling"}
    extra = [f"{name} {s[name]}" for name in _differing(group, others) if name not in told]
    return plain(", ".join([title, *extra]), 110)


def group_label(group: Group, others: list[Group]) -> str:
    """Only what tells this group from the others."""
    words = {"scaling": f"{group.scaling} scaling"}
    return plain(
        ", ".join(
            words.get(name, f"{name} {group.settings[name]}") for name in _differing(group, others)
        )
    )


def _differing(group: Group, others: list[Group]) -> list[str]:
    return [
        name for name in group.settings if len({str(other.settings[name]) for other in others}) > 1
    ]


def scaling_sentence(group: Group) -> str:
    """The best and the worst batch at the most devices that make a claim; why there is none otherwise."""
    claims = compared(group)
    if not claims:
        return "no speed-up to show: " + why_no_speedup(group)
    most = max(cell.replicas for cell in claims)
    at_most = [cell for cell in claims if cell.replicas == most]

    def efficiency(cell: Cell) -> float:
        claim = cell.measurement.efficiency if cell.measurement else None
        return claim.value if claim else 0.0

    best, worst = max(at_most, key=efficiency), min(at_most, key=efficiency)
    sentence = (
        f"{plural(most, 'device')} {'trains' if most == 1 else 'train'} {_claim(best, group)}"
    )
    if worst is not best:
        sentence += f", and {_claim(worst, group, brief=True)}"
    return sentence


def _claim(cell: Cell, group: Group, brief: bool = False) -> str:
    measured = cell.measurement
    if measured is None or measured.speedup is None or measured.efficiency is None:
        return ""
    base = group.bases[cell.cell_key].replicas
    against = "one" if base == 1 else f"{base}"
    fast = times(measured.speedup.value) + ("" if brief else f" as fast as {against}")
    e = measured.efficiency
    return (
        f"{fast} at {group.batch_name} {thousands(str(batch_of(cell)))} "
        f"(efficiency {share(e.value)} [{share(e.low)}, {share(e.high)}])"
    )


def why_no_speedup(group: Group) -> str:
    """Why no cell of the group makes a scaling claim."""
    measured = group.measured()
    if not measured and any(cell.emulated for cell in group.cells):
        return "the devices are emulated (they run on the host), so times say nothing"
    if not measured:
        return "no cell was measured"
    fair = sorted({cell.replicas for cell in measured if not cell.oversubscribed})
    if len(fair) == 1:
        rest = len(measured) - sum(not cell.oversubscribed for cell in measured)
        tail = "; the other cells are oversubscribed (more devices than cores)" if rest else ""
        return (
            f"only {plural(fair[0], 'device')} {'was' if fair[0] == 1 else 'were'} measured{tail}"
        )
    if not fair:
        return "every measured cell is oversubscribed (more devices than cores)"
    return "no cell has a base with fewer devices at the same " + group.batch_name


def loss_sentence(group: Group) -> str:
    """Where the time of the least efficient cell with the most devices goes; empty if nothing is compared."""
    claims = compared(group)
    if not claims:
        return ""
    most = max(cell.replicas for cell in claims)

    def efficiency(cell: Cell) -> float:
        claim = cell.measurement.efficiency if cell.measurement else None
        return claim.value if claim else 0.0

    cell = min((c for c in claims if c.replicas == most), key=efficiency)
    lost = lost_time(cell, group.bases[cell.cell_key])
    if lost is None or lost.lost_s <= 0:
        return ""
    largest = lost.largest()
    return (
        f"With {cell_name(cell)}, a step takes {milliseconds(lost.lost_s)} ms more than a perfect share "
        f"of the base's step; the largest part is {largest} ({milliseconds(lost.by_phase_s[largest])} ms)"
    )


def checks_sentence(count: Tally) -> str:
    """How the judging went, failures first."""
    parts = []
    if count.failed:
        parts.append(
            f"{len(count.failed)} of {plural(count.cells, 'cell')} FAILED "
            f"{'its' if len(count.failed) == 1 else 'their'} checks: "
            + spell_list([cell_name(cell) for cell in count.failed])
        )
    if count.errors:
        parts.append(
            f"{plural(len(count.errors), 'cell')} could not run: "
            + spell_list([cell_name(cell) for cell in count.errors])
        )
    if count.skipped:
        parts.append(f"{plural(len(count.skipped), 'cell')} skipped")
    if count.unchecked:
        parts.append(f"{plural(len(count.unchecked), 'measured cell')} without any passed check")
    good = count.measured - len(count.unchecked)
    if good:
        rest = "the other" if parts else "the"
        which = (
            ("both" if good == 2 else f"all {good}")
            if good == count.cells > 1
            else f"{rest} {good}"
        )
        parts.append(f"{which} {'cell' if good == 1 else 'cells'} passed all checks")
    if count.checks_skipped:
        parts.append(f"{plural(count.checks_skipped, 'check')} skipped")
    return "; ".join(parts)


def hash_sentence(cells: tuple[Cell, ...]) -> str:
    """Whether the same training ended in the same bits; empty when nothing can be compared."""
    sets = same_training(cells)
    wrong = [found for found in sets if not hashes_agree(found)]
    if wrong:
        named = spell_list([f"{cell_name(c)} ({c.weight_hash[:12]})" for c in wrong[0]])
        return f"weight hashes DISAGREE where they must be equal: {named}"
    counts = {cell.replicas for found in sets for cell in found}
    if len(counts) > 1:
        return "cells that passed end with the same bits at every device count (their weight hashes agree)"
    return ""
