"""scripts/gpu_check.sh, with stand-ins for the GPUs and for nvidia-smi."""

import os
import subprocess
from pathlib import Path

import jsonschema
import pytest
from emulated import (
    BINARY,
    COULD_NOT_RUN,
    FINDING,
    GOOD,
    MISUSE,
    SCHEMA,
    cells,
    environment,
    records,
)

SCRIPT = Path(__file__).parents[3] / "scripts" / "gpu_check.sh"
BUILD = Path(BINARY).parents[1]
NVIDIA_SMI = """#!/bin/sh
case "$*" in
  *driver_version*) echo 999.1 ;;
  *compute_cap*) echo 9.0 ;;
  *) echo Stand-in; echo Stand-in ;;
esac
"""
TESTS = ["--skip", "conformance", "--skip", "kernels", "--skip", "collectives"]


@pytest.fixture
def check(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "nvidia-smi").write_text(NVIDIA_SMI)
    (tools / "nvidia-smi").chmod(0o755)

    def run(*arguments, path=f"{tools}:{os.environ['PATH']}", **settings):
        return subprocess.run(
            [SCRIPT, "--quick", "--build", BUILD, "--out", tmp_path / "out", *arguments],
            env={**environment(**settings), "PATH": path},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    return run


def test_all_parts_pass(check, tmp_path):
    done = check(*TESTS, devices=2)
    assert done.returncode == GOOD, done
    summary = (tmp_path / "out" / "summary.md").read_text()
    for part in ("devices", "hash", "sweep"):
        assert (
            f"| {part} |" in summary and summary.split(f"| {part} |")[1].split("|")[1] == " passed "
        )
    assert "cuda, 2 GPU(s), exact" in summary
    path = tmp_path / "out" / "records.jsonl"
    for record in records(path):
        jsonschema.validate(record, SCHEMA)
    assert len(cells(path)) == 4 and all(cell["emulated"] for cell in cells(path))


def test_runs_the_tests_of_the_build(check):
    others = ("conformance", "collectives", "hash", "sweep", "devices")
    done = check(*(word for part in others for word in ("--skip", part)), devices=2)
    assert done.returncode == GOOD, done
    assert "every op against the reference" in done.stdout and "passed" in done.stdout


def test_a_failing_part_fails_the_check_and_the_others_run(check, tmp_path):
    done = check(*TESTS, "--skip", "devices", devices=2, fault="kernel:30@0")
    assert done.returncode == FINDING, done
    assert "cuda:0 failed" in done.stdout
    summary = (tmp_path / "out" / "summary.md").read_text()
    assert "| hash |" in summary and "FAILED" in summary and "| sweep |" in summary


def test_misuse_and_what_is_missing(check):
    assert check("--skip", "everything").returncode == MISUSE
    assert check("--minutes", "0").returncode == MISUSE
    assert check("--fast").returncode == MISUSE
    done = check(*TESTS, path="/usr/bin:/bin")
    assert done.returncode == COULD_NOT_RUN and "nvidia-smi" in done.stderr
    done = check(*TESTS, devices="no-driver")
    assert done.returncode == COULD_NOT_RUN and "the engine finds no GPU" in done.stderr
