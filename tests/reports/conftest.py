"""What the report tests share: the golden record file, and plans of any size made from it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "records_v1.jsonl"
GOLDEN_2 = ROOT / "tests" / "golden" / "records_v2.jsonl"
SCHEMA = ROOT / "reports" / "record.schema.json"

Json = dict[str, Any]


def golden_lines(path: Path = GOLDEN) -> list[Json]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def as_bytes(lines: list[Json]) -> bytes:
    return b"".join(json.dumps(line).encode("utf-8") + b"\n" for line in lines)


def find(lines: list[Json], devices: int, batch: int) -> Json:
    return next(
        line
        for line in lines
        if line["kind"] == "cell" and (line["replicas"], line["global_batch"]) == (devices, batch)
    )


def make_cell(
    devices: int,
    batch: int,
    speedup: float = 1.0,
    base_s: float = 4e-3,
    half_width: float = 0.0,
    base_key: str | None = None,
    **changes: Any,
) -> Json:
    """A good cell whose steps all take `base_s` / `speedup`; four phases are known shares of it, the rest waits."""
    cell = copy.deepcopy(find(golden_lines(), 2, 256))
    step_s = base_s / speedup
    cell.update(
        cell_key=f"key {devices} {batch} {changes.get('scaling', 'strong')}",
        strategy="mirrored" if devices > 1 else "one_device",
        devices=[f"cpu:{i}" for i in range(devices)],
        replicas=devices,
        global_batch=batch,
        local_batch=-(-batch // devices),
        weight_hash=f"{batch:08x}",
    )
    rate = batch / step_s
    compute_s = min(step_s, base_s / devices)
    cell["measurement"].update(
        slices=2,
        steps_per_slice=2,
        steps=4,
        step_p50_s=step_s,
        step_p95_s=step_s * 1.1,
        step_min_s=step_s * 0.9,
        samples_per_s=dict(value=rate, low=rate * 0.99, high=rate * 1.01),
        speedup=dict(value=speedup, low=speedup - half_width, high=speedup + half_width),
        efficiency=dict(
            value=speedup / devices,
            low=(speedup - half_width) / devices,
            high=(speedup + half_width) / devices,
        ),
        base_key=base_key or f"key 1 {batch} {changes.get('scaling', 'strong')}",
        phases_s=dict(
            input=0.0,
            forward=compute_s * 0.25,
            backward=compute_s * 0.75,
            reduction=0.0,
            optimizer=0.0,
            wait=step_s - compute_s,
        ),
        slice_samples_per_s=[rate * 0.99, rate * 1.01],
        slice_start_s=[0.0, 1.0],
        step_s=[step_s * 0.9, step_s, step_s, step_s * 1.1],
    )
    cell.update(changes)
    return cell


@pytest.fixture
def lines() -> list[Json]:
    return golden_lines()


@pytest.fixture
def run_line() -> Json:
    return golden_lines()[0]
