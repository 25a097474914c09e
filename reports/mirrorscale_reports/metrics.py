"""From records to what is drawn and tabulated. Pure functions; nothing here formats or draws."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mirrorscale_reports.measured import PHASES
from mirrorscale_reports.records import Cell, RecordFile

# What may not differ between cells that one figure compares. Strategy is not in it: the base is one_device.
GROUP_FIELDS = (
    "workload",
    "dataset",
    "synthetic",
    "scaling",
    "optimizer",
    "seed",
    "backend",
    "target",
    "numerics",
    "precision",
    "reduction",
    "cross_device_ops",
    "graphs",
    "registered_buffers",
)


@dataclass(frozen=True, slots=True)
class Group:
    """Cells that differ only in devices and batch, sorted by batch, then devices. `bases` maps the key of a
    cell to the cell its speed-up refers to (which need not be in the group)."""

    settings: Mapping[str, object]
    cells: tuple[Cell, ...]
    bases: Mapping[str, Cell]

    @property
    def scaling(self) -> str:
        return self.cells[0].scaling

    @property
    def batch_name(self) -> str:
        """The batch that is held fixed while devices grow."""
        return "global batch" if self.scaling == "strong" else "local batch"

    def batches(self) -> list[int]:
        return sorted({batch_of(cell) for cell in self.cells})

    def device_counts(self) -> list[int]:
        return sorted({cell.replicas for cell in self.cells})

    def measured(self) -> list[Cell]:
        """The cells whose times say something: those of emulated devices never do."""
        return [c for c in self.cells if c.measurement is not None and not c.emulated]

    def at_batch(self, batch: int) -> list[Cell]:
        """The measured cells at this fixed batch, fewest devices first, their base among them."""
        found = [cell for cell in self.measured() if batch_of(cell) == batch]
        for base in [self.bases[c.cell_key] for c in found if c.cell_key in self.bases]:
            if base.cell_key not in [cell.cell_key for cell in found]:
                found.append(base)
        return sorted(found, key=lambda cell: (cell.replicas, cell.strategy != "one_device"))

    def at(self, devices: int, batch: int) -> Cell | None:
        """The cell here; a measured one before one that is not."""
        here = [c for c in self.cells if c.replicas == devices and batch_of(c) == batch]
        return min(here, key=lambda c: (c.measurement is None, c.cell_key)) if here else None


def batch_of(cell: Cell) -> int:
    """The batch that is held fixed while devices grow: global (strong) or local (weak)."""
    return cell.global_batch if cell.scaling == "strong" else cell.local_batch


def groups_of(file: RecordFile) -> list[Group]:
    """Cells sorted into groups, in order of first appearance."""
    sorted_out: dict[tuple[object, ...], list[Cell]] = {}
    for cell in file.cells:
        sorted_out.setdefault(tuple(getattr(cell, name) for name in GROUP_FIELDS), []).append(cell)
    by_key = {cell.cell_key: cell for cell in file.cells}
    groups = []
    for values, cells in sorted_out.items():
        bases = {cell.cell_key: base for cell in cells if (base := base_of(cell, by_key))}
        cells.sort(key=lambda cell: (batch_of(cell), cell.replicas, cell.strategy != "one_device"))
        groups.append(Group(dict(zip(GROUP_FIELDS, values)), tuple(cells), bases))
    return groups


def base_of(cell: Cell, by_key: Mapping[str, Cell]) -> Cell | None:
    """The measured cell that this one's speed-up refers to. An oversubscribed cell names none: for it, the
    fewest devices at the same settings and batch."""
    if cell.measurement is None or cell.emulated:
        return None
    if cell.measurement.base_key:
        base = by_key.get(cell.measurement.base_key)
        return base if base is not None and base.measurement is not None else None
    if not cell.oversubscribed:
        return None
    same = [
        other
        for other in by_key.values()
        if other.measurement is not None
        and not other.oversubscribed
        and batch_of(other) == batch_of(cell)
        and all(
            getattr(other, name) == getattr(cell, name)
            for name in GROUP_FIELDS
            if name != "reduction"
        )
    ]
    return min(same, key=lambda other: other.replicas) if same else None


def is_base(cell: Cell, group: Group) -> bool:
    """Whether some cell of the group (itself included) refers to this one."""
    return any(base.cell_key == cell.cell_key for base in group.bases.values())


def compared(group: Group) -> list[Cell]:
    """The cells with a scaling claim: measured, judged good, efficiency given, and not the base itself."""
    return [
        cell
        for cell in group.measured()
        if cell.measurement is not None
        and cell.measurement.efficiency is not None
        and not is_base(cell, group)
        and cell.cell_key in group.bases
    ]


def throughput_ratio(cell: Cell, base: Cell) -> float | None:
    """Throughput over the base's, for cells that make no claim; None if it cannot be told."""
    if cell.measurement is None or base.measurement is None:
        return None
    denominator = base.measurement.samples_per_s.value
    return cell.measurement.samples_per_s.value / denominator if denominator > 0 else None


def ideal_speedup(devices: int, base_devices: int) -> float:
    """What `devices` would reach over `base_devices` if nothing were lost."""
    return devices / base_devices


def karp_flatt(speedup: float, ratio: float) -> float:
    """The experimentally determined serial fraction e = (1/S - 1/p) / (1 - 1/p) of Karp and Flatt (1990),
    S the speed-up and p = devices / base devices > 1. Negative where S > p."""
    return (1 / speedup - 1 / ratio) / (1 - 1 / ratio)


def gustafson(speedup: float, ratio: float) -> float:
    """The serial fraction s of S = p - s (p - 1), Gustafson (1988), for weak scaling."""
    return (ratio - speedup) / (ratio - 1)


def amdahl_fit(points: Sequence[tuple[float, float]]) -> float | None:
    """The serial fraction s that best fits 1/S = s + (1 - s)/p over points (p, S), least squares in 1/S:
    with x = 1 - 1/p and y = 1/S - 1/p, s = sum(x y) / sum(x x). None without a point at p > 1."""
    usable = [(1 - 1 / p, 1 / s - 1 / p) for p, s in points if p > 1 and s > 0]
    if not usable:
        return None
    return sum(x * y for x, y in usable) / sum(x * x for x, _ in usable)


@dataclass(frozen=True, slots=True)
class SignedInterval:
    """Like records.Interval, but of any sign."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SerialFraction:
    """How much of the base's time behaves as if it did not divide, at one fixed batch. `by_devices` is the
    fraction at each device count alone (low and high from the speed-up's interval); `fitted` is Amdahl's
    over all of them (strong scaling with at least two counts beyond the base), else None."""

    batch: int
    by_devices: Mapping[int, SignedInterval]
    fitted: float | None


def serial_fractions(group: Group) -> list[SerialFraction]:
    """One entry a batch that has a claim; Karp-Flatt for strong scaling, Gustafson for weak."""
    fraction = karp_flatt if group.scaling == "strong" else gustafson
    found = []
    for batch in group.batches():
        by_devices = {}
        points = []
        for cell in compared(group):
            speedup = cell.measurement.speedup if cell.measurement else None
            ratio = cell.replicas / group.bases[cell.cell_key].replicas
            if batch_of(cell) != batch or speedup is None or ratio <= 1 or speedup.low <= 0:
                continue
            by_devices[cell.replicas] = SignedInterval(
                fraction(speedup.value, ratio),
                fraction(speedup.high, ratio),  # a higher speed-up is a lower fraction
                fraction(speedup.low, ratio),
            )
            points.append((ratio, speedup.value))
        if by_devices:
            fit = amdahl_fit(points) if group.scaling == "strong" and len(points) > 1 else None
            found.append(SerialFraction(batch, by_devices, fit))
    return found


@dataclass(frozen=True, slots=True)
class LostTime:
    """A step against the base's step shared out without loss, in seconds of phase means; negative is gained."""

    ideal_s: float
    actual_s: float
    by_phase_s: Mapping[str, float]

    @property
    def lost_s(self) -> float:
        return self.actual_s - self.ideal_s

    def largest(self) -> str:
        return max(self.by_phase_s, key=lambda name: self.by_phase_s[name])


def lost_time(cell: Cell, base: Cell) -> LostTime | None:
    """Each phase minus the base's phase x (global batch / base's) x (base devices / devices)."""
    if cell.measurement is None or base.measurement is None:
        return None
    scale = cell.global_batch / base.global_batch * base.replicas / cell.replicas
    mine, others = phase_seconds(cell), phase_seconds(base)
    return LostTime(
        ideal_s=scale * sum(others.values()),
        actual_s=sum(mine.values()),
        by_phase_s={name: mine[name] - scale * others[name] for name in PHASES},
    )


def phase_seconds(cell: Cell) -> dict[str, float]:
    """Phase name to mean seconds; all zero where nothing was measured."""
    if cell.measurement is None:
        return dict.fromkeys(PHASES, 0.0)
    return {name: float(getattr(cell.measurement.phases_s, name)) for name in PHASES}


@dataclass(frozen=True, slots=True)
class Tally:
    """How the judging went."""

    cells: int
    measured: int
    failed: tuple[Cell, ...]
    errors: tuple[Cell, ...]
    skipped: tuple[Cell, ...]
    oversubscribed: tuple[Cell, ...]
    unchecked: tuple[Cell, ...]  # measured, but no check passed
    checks_passed: int
    checks_failed: int
    checks_skipped: int


def tally(cells: Iterable[Cell]) -> Tally:
    all_cells = tuple(cells)

    def verdicts(name: str) -> int:
        return sum(check.verdict == name for cell in all_cells for check in cell.checks)

    def of_status(name: str) -> tuple[Cell, ...]:
        return tuple(cell for cell in all_cells if cell.status == name)

    return Tally(
        cells=len(all_cells),
        measured=len(of_status("ok")),
        failed=tuple(c for c in all_cells if has_failed(c)),
        errors=tuple(c for c in of_status("error") if not has_failed(c)),
        skipped=tuple(c for c in of_status("skipped") if not has_failed(c)),
        oversubscribed=tuple(c for c in of_status("ok") if c.oversubscribed),
        unchecked=tuple(
            c for c in of_status("ok") if not any(check.verdict == "passed" for check in c.checks)
        ),
        checks_passed=verdicts("passed"),
        checks_failed=verdicts("failed"),
        checks_skipped=verdicts("skipped"),
    )


def has_failed(cell: Cell) -> bool:
    return cell.status == "failed" or any(check.verdict == "failed" for check in cell.checks)


def same_training(cells: Iterable[Cell]) -> list[tuple[Cell, ...]]:
    """Sets of two or more measured cells that train the same thing under the `exact` contract: any device count
    and any machine must end with the same bits, so their weight hashes must be equal."""
    same: dict[tuple[object, ...], list[Cell]] = {}
    for cell in cells:
        if cell.status == "ok" and cell.numerics == "exact":
            key = (
                cell.workload,
                cell.dataset,
                cell.synthetic,
                cell.optimizer,
                cell.seed,
                cell.precision,
                cell.parameters,
                cell.global_batch,
            )
            same.setdefault(key, []).append(cell)
    return [tuple(found) for found in same.values() if len(found) > 1]


def hashes_agree(cells: tuple[Cell, ...]) -> bool:
    return len({cell.weight_hash for cell in cells}) == 1
