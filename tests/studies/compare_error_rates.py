#!/usr/bin/env python3
"""How often does `mirrorscale compare` cry wolf, and how often does it sleep?

    tests/studies/compare_error_rates.py --binary build/release/scenarios/mirrorscale --runs 100

Runs comparisons whose truth is known, in random order: A/A, and B slowed down by a planted 1 % and 2 %; with and without
one other busy process. Every slice goes into the raw file, run by run; the same command goes on where it was. Then
scores ours and the peers, and writes the page.
"""

import argparse
import json
import pathlib
import random
import shlex
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import raw_runs  # noqa: E402
from error_rate_table import page  # noqa: E402

ROOT = pathlib.Path(__file__).parents[2]
Situation = tuple[float, int]  # planted fraction, other busy processes


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", type=pathlib.Path, help="the mirrorscale command to study")
    parser.add_argument("--runs", type=int, default=100, help="of each situation [100]")
    parser.add_argument("--aa-runs", type=int, help="of A/A, where that is another number")
    parser.add_argument("--planted", default="0,0.01,0.02", help="fractions [0,0.01,0.02]")
    parser.add_argument("--busy", default="0,1", help="numbers of busy processes beside [0,1]")
    parser.add_argument(
        "--compare",
        default="--workload mlp-small --devices 1 --global-batch 256",
        help="options of every comparison: its one cell, --budget, --restarts [%(default)s]",
    )
    parser.add_argument(
        "--beside",
        default="",
        help="what else the machine does meanwhile, in words; runs are counted by it [nothing]",
    )
    parser.add_argument("--raw", type=pathlib.Path, default=ROOT / "docs/error_rates.jsonl.gz")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs/error_rates.md")
    parser.add_argument("--seconds", type=float, help="stop after the run in which they are over")
    parser.add_argument("--score-only", action="store_true", help="run nothing, read the raw file")
    options = parser.parse_args()
    if not options.score_only and options.binary is None:
        parser.error(
            "name the command to study with --binary, or score an old study with --score-only"
        )
    return options


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """That many endless loops, ended when the block is left."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def compare_once(options: argparse.Namespace, planted: float, busy: int) -> dict:
    with tempfile.TemporaryDirectory() as folder, busy_processes(busy):
        out = pathlib.Path(folder) / "comparison.json"
        command = [str(options.binary), "compare", *shlex.split(options.compare)]
        command += ["--plant-slowdown-b", str(planted), "--json", str(out)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if done.returncode not in (0, 1):
            raise SystemExit(
                f"{shlex.join(command)} ended with {done.returncode}: {done.stderr.strip()}"
            )
        return raw_runs.compact(json.loads(out.read_text()), planted, busy, options.beside)


def missing(options: argparse.Namespace) -> list[Situation]:
    """Runs still to do, in random order, so that the hour of the day hits all alike."""
    wanted: Counter[Situation] = Counter()
    for planted in map(float, options.planted.split(",")):
        for busy in map(int, options.busy.split(",")):
            aa = options.aa_runs is not None and planted == 0
            wanted[planted, busy] = options.aa_runs if aa else options.runs
    wanted.subtract(
        (line["planted"], line["busy"])
        for line in raw_runs.lines(options.raw)
        if line["beside"] == options.beside
    )
    todo = list(wanted.elements())
    random.shuffle(todo)
    return todo


def collect(options: argparse.Namespace) -> None:
    todo = missing(options)
    began = time.monotonic()
    for number, (planted, busy) in enumerate(todo, 1):
        run = compare_once(options, planted, busy)
        raw_runs.append(options.raw, run)
        print(
            f"{number}/{len(todo)} planted {100 * planted:g} % busy {busy}: {run['verdict']}, "
            f"{100 * run['change']:+.2f} % by {run['clock']} time, {run['elapsed_s']:.0f} s",
            flush=True,
        )
        if options.seconds is not None and time.monotonic() - began > options.seconds:
            print(f"stopped after {options.seconds:g} s; the same command goes on from here")
            break


def main() -> None:
    options = arguments()
    if not options.score_only:
        collect(options)
    lines = list(raw_runs.lines(options.raw))
    if not lines:
        raise SystemExit(f"{options.raw}: no runs; nothing to score")
    # Without the paths of this machine.
    command = f"compare_error_rates.py --compare {shlex.quote(options.compare)}"
    text = page(lines, [raw_runs.run_of(line) for line in lines], command, options.raw.name)
    options.page.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
