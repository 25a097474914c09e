"""Launches for a study: measured once with the real command, then cut into sides of gates, with planted slowdowns."""

from __future__ import annotations

import copy
import dataclasses
import json
import pathlib
import subprocess

PLAN = [
    *("--workload", "mlp-small", "--devices", "1", "--global-batch", "32,48,64,96,128,192,256,384"),
    *("--half-width", "0.0001"),
]


@dataclasses.dataclass(frozen=True)
class Launch:
    lines: tuple[str, ...]  # of its record file

    def records(self) -> list[dict]:
        return [json.loads(line) for line in self.lines]

    def throughputs(self) -> dict[str, float]:
        return {c["cell_key"]: c["measurement"]["samples_per_s"]["value"] for c in self.cells()}

    def slices(self) -> dict[str, list[float]]:
        return {c["cell_key"]: c["measurement"]["slice_samples_per_s"] for c in self.cells()}

    def cells(self) -> list[dict]:
        return [r for r in self.records() if r["kind"] == "cell"]


def measure(binary: str, folder: pathlib.Path, count: int, budget_s: float) -> list[Launch]:
    """Launches 0 .. count - 1, one after the other; those that `folder` has already are not measured again."""
    folder.mkdir(parents=True, exist_ok=True)
    launches = []
    for i in range(count):
        path = folder / f"{i:05}.jsonl"
        command = [binary, "sweep", *PLAN, "--budget", str(budget_s), "--records", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"launch {i} ended with {done.returncode}: {done.stderr.strip()}")
        launches.append(Launch(tuple(path.read_text().splitlines())))
    return launches


def slowed(launch: Launch, cells: set[str], share: float) -> Launch:
    """As if every step of these cells took `share` longer; nothing else changes."""
    factor = 1 + share
    lines = []
    for record in launch.records():
        if record["kind"] == "cell" and record["cell_key"] in cells:
            record = copy.deepcopy(record)
            m = record["measurement"]
            for name in ("step_p50_s", "step_p95_s", "step_min_s"):
                m[name] *= factor
            m["step_s"] = [s * factor for s in m["step_s"]]
            m["slice_samples_per_s"] = [v / factor for v in m["slice_samples_per_s"]]
            m["samples_per_s"] = {k: v / factor for k, v in m["samples_per_s"].items()}
            if m["fma_peak_share"]:
                m["fma_peak_share"] /= factor
        lines.append(json.dumps(record, separators=(",", ":")))
    return Launch(tuple(lines))


def write(launches: list[Launch], folder: pathlib.Path) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for i, launch in enumerate(launches):
        path = folder / f"{i}.jsonl"
        path.write_text("".join(line + "\n" for line in launch.lines))
        paths.append(str(path))
    return paths
