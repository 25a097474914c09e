"""How often `mirrorscale gate` cries wolf, and how often it sleeps.

    python3 tests/studies/gate_error_rates.py --binary build/release/scenarios/mirrorscale --launches 60

Measures launches of one plan of 8 cells, one after the other (the machine does what it does meanwhile), and cuts them
into gates: 5 launches are the baseline, 5 later ones the candidate. Nothing changed between them, so each alarm of a
whole gate is false. Then one cell, or all, of the candidate are slowed down by a known share, so that each silence is a
miss. The verdicts are those of the real command. The same numbers are judged by Google Benchmark's U test (on slices,
and on medians of launches) and by a plain threshold of 5 %.

Gates that share launches are not independent: the Wilson intervals are those of as many independent gates, and the
line "disjoint" counts only gates that share none.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable

from launches import Launch, measure, slowed, write
from peers import threshold_alarms, u_test_alarms, wilson

SHARES = (0.05, 0.1, 0.2, 0.5)


@dataclasses.dataclass(frozen=True)
class Sides:
    baseline: list[Launch]
    candidate: list[Launch]
    disjoint: bool  # shares no launch with an earlier gate


def cut(launches: list[Launch], size: int, gates: int, rng: random.Random) -> list[Sides]:
    """First the gates that share nothing, then others at random places, in order of time."""
    found = []
    for start in range(0, len(launches) - 2 * size + 1, 2 * size):
        middle = start + size
        found.append(Sides(launches[start:middle], launches[middle : middle + size], True))
    while len(found) < gates:
        start = rng.randrange(len(launches) - 2 * size + 1)
        later = rng.randrange(start + size, len(launches) - size + 1)
        found.append(Sides(launches[start : start + size], launches[later : later + size], False))
    return found[:gates]


def pooled(side: list[Launch], of: Callable[[Launch], dict], cell: str) -> list[float]:
    values: list[float] = []
    for launch in side:
        found = of(launch)[cell]
        values += found if isinstance(found, list) else [found]
    return values


def alarms(binary: str, sides: Sides, config: list[str]) -> dict[str, set[str]]:
    """The cells that each judge calls worse."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        store, output = str(folder / "store"), folder / "gate.json"
        base = write(sides.baseline, folder / "base")
        now = write(sides.candidate, folder / "now")
        subprocess.run(
            [binary, "baseline", "save", "--store", store, *base], check=True, capture_output=True
        )
        done = subprocess.run(
            [binary, "gate", "--store", store, "--json", str(output), *config, *now],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(done.stderr)
        findings = json.loads(output.read_text())["findings"]
    found = {"mirrorscale gate": {f["cell_key"] for f in findings if f["fails"]}}
    peers = {
        "U test, slices": (u_test_alarms, Launch.slices),
        "U test, launches": (u_test_alarms, Launch.throughputs),
        "5 % threshold": (threshold_alarms, Launch.throughputs),
    }
    for title, (judge, of) in peers.items():
        found[title] = {
            cell
            for cell in sides.baseline[0].throughputs()
            if judge(pooled(sides.baseline, of, cell), pooled(sides.candidate, of, cell))
        }
    return found


def planted(sides: Sides, share: float, cells: set[str]) -> Sides:
    slow = [slowed(launch, cells, share) for launch in sides.candidate]
    return Sides(sides.baseline, slow, sides.disjoint)


def rate(hits: list[bool]) -> str:
    low, high = wilson(sum(hits), len(hits))
    return (
        f"{sum(hits)} of {len(hits)}: {sum(hits) / max(1, len(hits)):.1%} [{low:.1%}, {high:.1%}]"
    )


def run(options: argparse.Namespace) -> int:
    launches = measure(options.binary, options.folder, options.launches, options.budget)
    rng = random.Random(options.seed)
    gates = cut(launches, options.side, options.gates, rng)
    cells = sorted(launches[0].throughputs())
    config = ["--config", options.config] if options.config else []
    results: dict[str, dict[str, list[bool]]] = {}

    def note(what: str, found: dict[str, set[str]], wanted: set[str] | None) -> None:
        for judge, named in found.items():
            hit = bool(named) if wanted is None else wanted <= named
            results.setdefault(what, {}).setdefault(judge, []).append(hit)

    for i, sides in enumerate(gates):
        found = alarms(options.binary, sides, config)
        note("no change: any alarm", found, None)
        if sides.disjoint:
            note("no change, disjoint: any alarm", found, None)
        if i % options.plant_every:
            continue
        for share in SHARES:
            one = {rng.choice(cells)}
            slow = planted(sides, share, one)
            note(f"one cell {share:.0%} slower: named", alarms(options.binary, slow, config), one)
            slow = planted(sides, share, set(cells))
            note(
                f"all cells {share:.0%} slower: any alarm",
                alarms(options.binary, slow, config),
                None,
            )
        if sys.stderr.isatty():
            print(f"\r{i + 1} of {len(gates)} gates", end="", file=sys.stderr)
    text = page(launches, len(cells), options, results)
    print(text)
    if options.page:
        options.page.write_text(text, encoding="utf-8")
    return 0


def page(
    launches: list[Launch],
    cells: int,
    options: argparse.Namespace,
    results: dict[str, dict[str, list[bool]]],
) -> str:
    first, last = launches[0].records()[0], launches[-1].records()[0]
    machine = first["environment"]
    lines = [
        "# How often `mirrorscale gate` errs",
        "",
        f"{len(launches)} launches of {cells} cells, one after the other, cut into gates: {options.side} launches are the",
        f"baseline, {options.side} later ones the candidate. Nothing changed between them, so each alarm of a whole gate is",
        "false; then one cell, or all, of the candidate are slowed down by a known share. Gates that share launches are not",
        'independent; the line "disjoint" counts only gates that share none. All judges see the same numbers. "U test" is',
        "Google Benchmark's compare.py rule, cell by cell.",
        "",
        "| what | judge | rate [95 % Wilson] |",
        "| --- | --- | --- |",
    ]
    for what, judges in results.items():
        lines += [f"| {what} | {judge} | {rate(hits)} |" for judge, hits in judges.items()]
    lines += [
        "",
        f"Machine: {machine['cpu_model']}, {machine['cores']} cores, Linux {machine['kernel']}"
        + (f"; beside it: {options.beside}." if options.beside else "."),
        f"Revision {first['git_revision']}; from {first['started']} to {last['started']}. Made by",
        f"`gate_error_rates.py --launches {len(launches)} --gates {options.gates} --side {options.side} "
        f"--budget {options.budget:g}`.",
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--binary", required=True, help="the mirrorscale command")
    parser.add_argument("--launches", type=int, default=60)
    parser.add_argument("--gates", type=int, default=300)
    parser.add_argument("--side", type=int, default=5, help="launches a side")
    parser.add_argument("--budget", type=float, default=0.05, help="seconds of measuring a cell")
    parser.add_argument("--plant-every", type=int, default=5, help="slowdowns in every n-th gate")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("runs/gate-study"))
    parser.add_argument("--config", help="of the gate")
    parser.add_argument(
        "--beside", default="", help="what else the machine does, in words [nothing]"
    )
    parser.add_argument("--page", type=pathlib.Path, help="also write the tables here")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.launches < 2 * options.side or options.side < 1 or options.gates < 1:
        parser.error("--launches must be at least twice --side, and --gates at least 1")
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
