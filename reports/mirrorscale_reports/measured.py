"""What a record holds of a measured cell: its times, and what was counted beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from mirrorscale_reports.decode import (
    Amount,
    Bounds,
    Count,
    Length,
    PositiveCount,
    Refused,
    Text,
)

Share = Annotated[float, Bounds(0, most=1.0)]
Fraction = Annotated[float, Bounds(5e-324, below=1.0)]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value and its confidence interval."""

    value: Amount
    low: Amount
    high: Amount


@dataclass(frozen=True, slots=True)
class Phases:
    """Mean seconds a step, by phase, mean over replicas."""

    input: Amount
    forward: Amount
    backward: Amount
    reduction: Amount
    optimizer: Amount
    wait: Amount


PHASES = tuple(Phases.__dataclass_fields__)


@dataclass(frozen=True, slots=True)
class GpuClocks:
    """What was read of a GPU: median (`value`), least and largest."""

    uuid: str
    looks: PositiveCount
    sm_hz: Interval | None
    memory_hz: Interval | None
    temperature_c: Interval | None
    power_w: Interval | None
    throttle_reasons: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Clocks:
    """What else was counted of the slices; lists are by replica, and empty where the system doesn't tell."""

    preempted_steps: Count
    throttled_steps: Count
    disturbed_steps: Count
    cpu_s_per_step: Annotated[tuple[Amount, ...], Length(1)]
    preemptions: Annotated[tuple[Count, ...], Length(1)]
    core_wait_s_per_step: tuple[Amount, ...]
    instructions_per_step: tuple[Amount, ...]
    core_hz: Interval | None
    steal_share: Share | None
    gpus: tuple[GpuClocks, ...]
    not_measured: dict[str, str]


@dataclass(frozen=True, slots=True)
class Measurement:
    """The times of one cell. `steps` does not count warm-up; a step is the maximum over replicas."""

    slices: PositiveCount
    steps_per_slice: PositiveCount
    steps: PositiveCount
    warmup_steps: Count
    stop_reason: Literal["interval", "budget", "slices"]
    step_p50_s: Amount
    step_p95_s: Amount
    step_min_s: Amount
    samples_per_s: Interval
    speedup: Interval | None
    efficiency: Interval | None
    confidence: Fraction
    method: Text
    base_key: str
    phases_s: Phases
    fma_peak_share: Amount | None
    slice_samples_per_s: Annotated[tuple[Amount, ...], Length(1)]
    slice_start_s: Annotated[tuple[float, ...], Length(1)]
    step_s: Annotated[tuple[Amount, ...], Length(1, most=2000)]
    clocks: Clocks | None = None


def require_measurement(measured: Measurement, replicas: int) -> None:
    """What the types cannot say. Raises Refused."""
    if measured.clocks is not None:
        _require_clocks(measured.clocks, measured.steps, replicas)
    for name in ("samples_per_s", "speedup", "efficiency"):
        interval = getattr(measured, name)
        if interval and interval.low > interval.high:
            raise Refused(
                f"field `measurement.{name}`: low {interval.low} is above high {interval.high}"
            )
    for name in ("slice_samples_per_s", "slice_start_s"):
        if len(getattr(measured, name)) != measured.slices:
            raise Refused(
                f"field `measurement.{name}`: {len(getattr(measured, name))} values for "
                f"{measured.slices} slices"
            )


def _require_clocks(clocks: Clocks, steps: int, replicas: int) -> None:
    for name in ("preempted_steps", "throttled_steps", "disturbed_steps"):
        if getattr(clocks, name) > steps:
            raise Refused(
                f"field `measurement.clocks.{name}`: {getattr(clocks, name)} of {steps} steps"
            )
    for name in ("cpu_s_per_step", "preemptions", "core_wait_s_per_step", "instructions_per_step"):
        values = getattr(clocks, name)
        if values and len(values) != replicas:
            raise Refused(
                f"field `measurement.clocks.{name}`: {len(values)} values for {replicas} replicas"
            )
