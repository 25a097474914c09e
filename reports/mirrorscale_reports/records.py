"""Record files as data: the frozen dataclasses of docs/records.md, and `load`, which refuses what does not fit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from mirrorscale_reports.decode import (
    Amount,
    Count,
    Hex,
    HexOrEmpty,
    Length,
    Pattern,
    PositiveCount,
    Refused,
    Text,
    decode,
    is_json,
    json_object,
)
from mirrorscale_reports.measured import Measurement, require_measurement

SCHEMAS = (1, 2)  # the second adds `evaluation`, `clocks` and the kind "disturbed"

Started = Annotated[
    str,
    Pattern(
        r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|\+00:00)",
        "ISO 8601 in UTC, such as 2024-06-07T09:30:00Z",
    ),
]
CrossDeviceOps = Literal["default", "nccl", "reduction_to_one_device", "hierarchical_copy"]
Schema = Literal[1, 2]


class RecordError(Exception):
    """A file that cannot be used; the text is one line: file, line, field, what was expected."""


@dataclass(frozen=True, slots=True)
class CudaDevice:
    """A GPU of the run; an emulated one is a stand-in that runs on the host."""

    name: Text
    model: Text
    uuid: str
    pci: str
    compute_capability: str
    memory_bytes: PositiveCount
    emulated: bool


@dataclass(frozen=True, slots=True)
class Environment:
    """Where and with what a run was made. Sizes in bytes; `cores` are those usable by the process."""

    host: str
    os: str
    kernel: str
    cpu_model: str
    cores: PositiveCount
    numa_nodes: Count
    l1d_bytes: Count
    l2_bytes: Count
    l3_bytes: Count
    memory_bytes: Count
    backend: Text
    target: Text
    targets: tuple[Text, ...]
    numerics: Literal["exact", "fast"]
    compiler: str
    build_type: str
    nvtx: bool
    libraries: dict[str, str]
    variables: dict[str, str]
    cuda_devices: tuple[CudaDevice, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """One launch that wrote to the file."""

    schema: Schema
    kind: Literal["run"]
    run_id: Text
    started: Started
    command: Annotated[tuple[str, ...], Length(1)]
    version: Text
    git_revision: Text
    plan: dict[str, object]
    plan_fingerprint: Hex
    machine_fingerprint: Hex
    environment: Environment


@dataclass(frozen=True, slots=True)
class Check:
    """One invariant's verdict on one cell, with the evidence in words."""

    invariant: Text
    verdict: Literal["passed", "failed", "skipped"]
    evidence: str


@dataclass(frozen=True, slots=True)
class Memory:
    predicted_bytes_per_device: Count
    process_peak_bytes: Count


@dataclass(frozen=True, slots=True)
class Cell:
    """One measured and judged point of a sweep."""

    schema: Schema
    kind: Literal["cell"]
    run_id: Text
    cell_key: Text
    workload: Text
    dataset: Text
    synthetic: bool
    strategy: Literal["one_device", "mirrored"]
    reduction: Literal["fused", "replicated", "bucketed"]
    devices: Annotated[tuple[Text, ...], Length(1)]
    replicas: PositiveCount
    global_batch: PositiveCount
    local_batch: PositiveCount
    scaling: Literal["strong", "weak"]
    optimizer: Text
    seed: Count
    backend: Text
    target: Text
    numerics: Literal["exact", "fast"]
    precision: Literal["fp32", "tf32", "bf16", "fp16"]
    oversubscribed: bool
    parameters: Count
    flops_per_sample: Amount
    status: Literal["ok", "failed", "error", "skipped"]
    reason: str
    checks: tuple[Check, ...]
    weight_hash: HexOrEmpty
    memory: Memory
    measurement: Measurement | None
    # a record may leave these out
    cross_device_ops: CrossDeviceOps = "default"
    graphs: bool = False
    registered_buffers: bool = False
    emulated: bool = False
    reason_kind: Literal["other", "out_of_memory", "device_failed", "disturbed"] = "other"
    evaluation: dict[str, float] | None = None

    @property
    def apart(self) -> bool:
        """Its times say nothing about scaling: more devices than cores, or stand-ins for GPUs."""
        return self.oversubscribed or self.emulated


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A whole file. `cells` holds one cell a key (the last one written), in order of first appearance;
    `notes` says what the reader did that a person should know."""

    name: str
    sha256: str
    runs: tuple[Run, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]

    def run_of(self, cell: Cell) -> Run:
        return next(run for run in self.runs if run.run_id == cell.run_id)


def load(path: Path) -> RecordFile:
    """Reads and checks every line. Raises RecordError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path}: cannot read it: {error.strerror}") from error
    return parse(data, str(path))


def parse(data: bytes, name: str) -> RecordFile:
    """As `load`, from bytes; `name` is what messages call the file."""
    runs: dict[str, Run] = {}
    cells: dict[str, Cell] = {}
    line_of: dict[str, int] = {}
    notes: list[str] = []
    replaced: list[str] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = _parse_line(line)
        except Refused as refused:
            if number == len(lines) and not is_json(line):
                notes.append(f"line {number} is torn (the writer was interrupted); it was dropped")
                break
            raise RecordError(f"{name}:{number}: {refused}") from None
        if isinstance(record, Run):
            if record.run_id in runs:
                raise RecordError(f"{name}:{number}: run_id {record.run_id!r} occurs twice")
            runs[record.run_id] = record
            continue
        if record.run_id not in runs:
            raise RecordError(
                f"{name}:{number}: field `run_id`: no run record {record.run_id!r} above this cell"
            )
        if record.cell_key in cells:
            replaced.append(
                f"{record.cell_key} (line {number} replaces {line_of[record.cell_key]})"
            )
        cells[record.cell_key] = record
        line_of[record.cell_key] = number
    if not runs:
        raise RecordError(
            f"{name}: no records in it; expected a file that `mirrorscale sweep` wrote"
        )
    if not cells:
        raise RecordError(f"{name}: a run but no cell in it, so there is nothing to report yet")
    if replaced:
        notes.append("measured more than once, the last record counts: " + "; ".join(replaced))
    notes.extend(_mixed(runs, cells))
    return RecordFile(
        name=name,
        sha256=hashlib.sha256(data).hexdigest(),
        runs=tuple(runs.values()),
        cells=tuple(cells.values()),
        notes=tuple(notes),
    )


def _mixed(runs: dict[str, Run], cells: dict[str, Cell]) -> list[str]:
    used = [runs[run_id] for run_id in dict.fromkeys(cell.run_id for cell in cells.values())]
    notes = []
    machines = {run.machine_fingerprint: run.environment.host for run in used}
    if len(machines) > 1:
        shown = ", ".join(f"{host} ({mark})" for mark, host in machines.items())
        notes.append(
            f"cells come from {len(machines)} different machines: {shown}; do not compare them"
        )
    plans = {run.plan_fingerprint for run in used}
    if len(plans) > 1:
        notes.append(f"cells come from {len(plans)} different plans")
    return notes


def _parse_line(line: bytes) -> Run | Cell:
    value = json_object(line)
    schema = value.get("schema")
    if type(schema) is not int or schema not in SCHEMAS:
        raise Refused(
            f"field `schema`: this reader knows schemas 1 and 2, the record has {schema!r}"
        )
    kind = value.get("kind")
    if kind == "run":
        run: Run = decode(Run, value)
        return run
    if kind == "cell":
        cell: Cell = decode(Cell, value)
        _require_consistent(cell)
        return cell
    raise Refused(f"field `kind`: expected 'run' or 'cell', got {kind!r}")


def _require_schema(cell: Cell) -> None:
    """What came with schema 2 is not in a record of schema 1."""
    measured = cell.measurement
    newer = {
        "evaluation": cell.evaluation is not None,
        "measurement.clocks": measured is not None and measured.clocks is not None,
        "reason_kind": cell.reason_kind == "disturbed",
    }
    for field, is_there in newer.items():
        if cell.schema == 1 and is_there:
            raise Refused(f"field `{field}`: it came with schema 2, the record has 1")


def _require_consistent(cell: Cell) -> None:
    """What the types cannot say."""
    _require_schema(cell)
    if cell.replicas != len(cell.devices):
        raise Refused(
            f"field `replicas`: {cell.replicas}, but {len(cell.devices)} devices are named"
        )
    local = -(-cell.global_batch // cell.replicas)
    if cell.local_batch != local:
        raise Refused(
            f"field `local_batch`: expected {local} (global batch {cell.global_batch} over "
            f"{cell.replicas}, rounded up), got {cell.local_batch}"
        )
    if cell.numerics == "exact" and cell.precision != "fp32":
        raise Refused(f"field `precision`: {cell.precision!r}, but exact results are of fp32")
    failed = [check.invariant for check in cell.checks if check.verdict == "failed"]
    measured = cell.measurement
    if cell.status == "ok":
        if failed:
            raise Refused(f"field `status`: 'ok', but check {failed[0]} failed")
        if measured is None:
            raise Refused("field `measurement`: null, but the status is 'ok'")
        if cell.reason_kind != "other":
            raise Refused("field `reason_kind`: expected 'other' when the status is 'ok'")
        if cell.reason:
            raise Refused("field `reason`: expected nothing when the status is 'ok'")
        if not cell.weight_hash:
            raise Refused("field `weight_hash`: empty, but the status is 'ok'")
    else:
        if measured is not None:
            raise Refused(f"field `measurement`: expected null when the status is {cell.status!r}")
        if not cell.reason:
            raise Refused(f"field `reason`: empty, but the status is {cell.status!r}")
        if cell.status == "failed" and not failed:
            raise Refused("field `status`: 'failed', but no check failed")
    if measured is None:
        return
    require_measurement(measured, cell.replicas)
    if cell.apart and (measured.speedup or measured.efficiency):
        why = "an oversubscribed" if cell.oversubscribed else "an emulated"
        raise Refused(f"field `measurement.efficiency`: expected null for {why} cell")
