"""Runs the mirrorscale command on emulated GPUs."""

import json
import os
import pathlib
import re
import subprocess

BINARY = os.environ["MIRRORSCALE_BINARY"]
GOOD, FINDING, MISUSE, COULD_NOT_RUN = 0, 1, 2, 3
LIMIT_S = 30  # of a run that a fault ends
SCHEMA = json.loads(
    (pathlib.Path(__file__).parents[3] / "reports" / "record.schema.json").read_text()
)
TRAIN = [
    *("train", "--workload", "mlp-small", "--data", "clusters", "--epochs", "2"),
    *("--global-batch", "48", "--limit-rows", "200", "--limit-test-rows", "100"),
]
QUICK = ["--slice-ms", "1", "--slices", "3", "--budget", "2"]


def environment(devices: int | str = 8, fault: str = "", memory_bytes: int = 0) -> dict[str, str]:
    settings = {"MIRRORSCALE_EMULATED_DEVICES": str(devices)}
    if fault:
        settings["MIRRORSCALE_EMULATED_FAULT"] = fault
    if memory_bytes:
        settings["MIRRORSCALE_EMULATED_MEMORY_BYTES"] = str(memory_bytes)
    return os.environ | settings


def run(
    *arguments: object, limit_s: float = 300, **settings: object
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [BINARY, *map(str, arguments)],
        env=environment(**settings),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=limit_s,
        check=False,
    )


def told(done: subprocess.CompletedProcess) -> list[str]:
    """Lines on standard error, without what the emulated devices say themselves."""
    return [line for line in done.stderr.splitlines() if not line.startswith("emulated CUDA:")]


def good(*arguments: object, **settings: object) -> str:
    done = run(*arguments, **settings)
    assert (done.returncode, done.stderr) == (GOOD, ""), done
    return done.stdout


def weight_hash(output: str) -> str:
    (found,) = re.findall(r"^weight hash: ([0-9a-f]{16})$", output, re.MULTILINE)
    return found


def records(path: pathlib.Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def cells(path: pathlib.Path) -> list[dict]:
    return [record for record in records(path) if record["kind"] == "cell"]
