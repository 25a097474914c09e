"""Record files of launches that never ran: times are drawn, everything else comes from the golden records."""

from __future__ import annotations

import copy
import dataclasses
import datetime
import json
import math
import pathlib
import random
from collections.abc import Callable

GOLDEN = pathlib.Path(__file__).parents[2] / "golden" / "records_v1.jsonl"
LINES = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]
RUN = LINES[0]
CELLS = [
    cell for cell in LINES[1:] if cell["status"] == "ok" and not cell["oversubscribed"]
]  # n = 1, 2, 4 at batch 256 and 1024
START = datetime.datetime(2024, 6, 7, 9, 30)

Change = Callable[[dict, dict], None]


@dataclasses.dataclass(frozen=True)
class Side:
    """Launches of one side. `slowdown` by cell number; `machine` slows down everything, the reference loop too."""

    launches: int = 5
    noise: float = 0.005
    machine: float = 0.0
    slowdown: dict[int, float] = dataclasses.field(default_factory=dict)
    day: int = 0
    revision: str = "aaaaaaaaaaaa"
    seed: int = 1


def _scaled(measurement: dict, factor: float) -> None:
    """Everything that takes `factor` times as long."""
    for name in ("step_p50_s", "step_p95_s", "step_min_s"):
        measurement[name] *= factor
    measurement["step_s"] = [s * factor for s in measurement["step_s"]]
    rates = [v / factor for v in measurement["slice_samples_per_s"]]
    measurement["slice_samples_per_s"] = rates
    interval = measurement["samples_per_s"]
    measurement["samples_per_s"] = {k: v / factor for k, v in interval.items()}


def _launch(side: Side, number: int, rng: random.Random) -> list[dict]:
    run = copy.deepcopy(RUN)
    started = START + datetime.timedelta(days=side.day, minutes=number)
    run["started"] = started.strftime("%Y-%m-%dT%H:%M:%SZ")
    run["run_id"] = f"{run['started'].replace(':', '-')}-{side.seed:x}{number:x}"
    run["git_revision"] = side.revision
    lines = [run]
    for i, golden in enumerate(CELLS):
        cell = copy.deepcopy(golden)
        cell["run_id"] = run["run_id"]
        own = math.exp(rng.gauss(0, side.noise)) * (1 + side.slowdown.get(i, 0))
        measurement = cell["measurement"]
        _scaled(measurement, own * (1 + side.machine))
        measurement["fma_peak_share"] /= own
        if measurement["base_key"] != cell["cell_key"]:
            for name in ("speedup", "efficiency"):
                measurement[name] = {k: v / own for k, v in measurement[name].items()}
        lines.append(cell)
    return lines


def write_lines(path: pathlib.Path, lines: list[dict]) -> pathlib.Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    # As the C++ writer does it: a torn line is known by its beginning.
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")
    return path


def write_side(
    folder: pathlib.Path, side: Side, change: Change | None = None
) -> list[pathlib.Path]:
    """One file a launch. `change(run, cell)` bends every cell before it is written."""
    rng = random.Random(side.seed)
    files = []
    for number in range(side.launches):
        lines = _launch(side, number, rng)
        if change:
            for cell in lines[1:]:
                change(lines[0], cell)
        files.append(write_lines(folder / f"{side.seed}-{number}.jsonl", lines))
    return files
