"""Runs of a study on disk: one line of JSON a run, gzipped, with every slice; times in units of 100 ns."""

import gzip
import json
import pathlib
from collections.abc import Iterator
from dataclasses import dataclass

from scores import Restart, Rule

UNIT_S = 1e-7
COLUMNS = ("a_ns", "b_ns", "a_cpu_ns", "b_cpu_ns")


@dataclass(frozen=True, slots=True)
class Run:
    """One comparison of a study."""

    planted: float  # the slowdown of side B, a fraction
    busy: int  # endless loops beside it
    beside: str  # what else ran on the machine, in words; empty: nothing
    verdict: str  # what the command said
    elapsed_s: float
    preempted: float  # share of slices
    clock: str
    change: float
    rule: Rule
    restarts: list[Restart]


def compact(comparison: dict, planted: float, busy: int, beside: str) -> dict:
    """What is kept of the command's JSON."""
    cell = comparison["cells"][0]
    sides = [cell["a"], cell["b"]]
    return {
        "planted": planted,
        "busy": busy,
        "beside": beside,
        "verdict": cell["verdict"],
        "clock": cell["clock"],
        "change": cell[cell["clock"]]["change"]["value"],
        "elapsed_s": round(comparison["elapsed_s"], 2),
        "preempted": sum(s["preempted_slices"] for s in sides) / sum(s["slices"] for s in sides),
        "alpha": comparison["settings"]["alpha"],
        "floor": comparison["settings"]["floor"],
        "cell": cell["a"]["cell_key"],
        "revision": comparison["build_a"]["revision"],
        "machine": comparison["machine"],
        "finished": comparison["finished"],
        "restarts": [
            {name: [round(ns / 100) for ns in restart[name]] for name in COLUMNS}
            for restart in cell["restarts"]
        ],
    }


def append(path: pathlib.Path, run: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "at", encoding="utf-8") as file:
        file.write(json.dumps(run, separators=(",", ":")) + "\n")


def lines(path: pathlib.Path) -> Iterator[dict]:
    if not path.exists():
        return
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def run_of(line: dict) -> Run:
    return Run(
        planted=line["planted"],
        busy=line["busy"],
        beside=line["beside"],
        verdict=line["verdict"],
        elapsed_s=line["elapsed_s"],
        preempted=line["preempted"],
        clock=line["clock"],
        change=line["change"],
        rule=Rule(line["alpha"], line["floor"]),
        restarts=[
            Restart(*([ticks * UNIT_S for ticks in restart[name]] for name in COLUMNS))
            for restart in line["restarts"]
        ],
    )
