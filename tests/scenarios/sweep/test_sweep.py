"""A sweep as a user runs it: its table and files, a kill in the middle, a changed plan."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time

import jsonschema
import pytest

BINARY = os.environ["MIRRORSCALE_BINARY"]
SCHEMA = json.loads(
    (pathlib.Path(__file__).parents[3] / "reports" / "record.schema.json").read_text()
)
PLAN = [
    "--workload",
    "mlp-small",
    "--devices",
    "1,2,3",
    "--global-batch",
    "24,32,48",
    "--slice-ms",
    "1",
]


def command(folder: pathlib.Path, *more: str, slices: int = 8) -> list[str]:
    return [
        BINARY,
        "sweep",
        *PLAN,
        "--slices",
        str(slices),
        "--records",
        str(folder / "r.jsonl"),
        *more,
    ]


def sweep(folder: pathlib.Path, *more: str, slices: int = 8) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(folder, *more, slices=slices),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def records(path: pathlib.Path) -> list[dict]:
    """Every complete line; a torn last one is no record."""
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def cells(path: pathlib.Path) -> list[dict]:
    return [record for record in records(path) if record["kind"] == "cell"]


def test_measures_every_cell_and_writes_valid_records(tmp_path: pathlib.Path) -> None:
    done = sweep(
        tmp_path, "--gbench-json", str(tmp_path / "g.json"), "--csv", str(tmp_path / "t.csv")
    )
    assert done.returncode == 0, done.stderr
    found = cells(tmp_path / "r.jsonl")
    assert len(found) == 9
    for record in records(tmp_path / "r.jsonl"):
        jsonschema.validate(record, SCHEMA)
    for cell in found:
        assert cell["status"] == "ok"
        assert {check["invariant"] for check in cell["checks"]} == {
            "SHD",
            "COV",
            "MIR",
            "ONE",
            "REF",
            "MET",
            "SHP",
        }
        assert all(check["verdict"] != "failed" for check in cell["checks"])
        measured = cell["measurement"]
        assert measured["step_min_s"] > 0
        rate = cell["global_batch"] * measured["steps_per_slice"]
        assert all(value > 0 and rate > 0 for value in measured["slice_samples_per_s"])
        if cell["replicas"] == 1:
            assert measured["efficiency"] == {"value": 1, "low": 1, "high": 1}
        if cell["oversubscribed"]:
            assert measured["efficiency"] is None and measured["speedup"] is None
    by_batch: dict[int, set[str]] = {}
    for cell in found:
        by_batch.setdefault(cell["global_batch"], set()).add(cell["weight_hash"])
    assert all(len(hashes) == 1 for hashes in by_batch.values())
    google = json.loads((tmp_path / "g.json").read_text())
    names = {entry["run_name"] for entry in google["benchmarks"]}
    assert len(names) == 9
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 10


COMPARE = pathlib.Path("/usr/share/benchmark/compare.py")  # Debian: libbenchmark-tools


@pytest.mark.skipif(not COMPARE.exists(), reason="Debian: libbenchmark-tools, python3-scipy")
def test_google_benchmarks_own_compare_reads_it(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("scipy", reason="Google Benchmark's compare.py needs it")
    google, found = tmp_path / "g.json", tmp_path / "r.jsonl"
    plan = "--workload mlp-small --devices 1,2 --global-batch 24 --slices 8 --slice-ms 1".split()
    ran = subprocess.run(
        [BINARY, "sweep", *plan, "--gbench-json", google, "--records", found],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    done = subprocess.run(
        ["/usr/bin/python3", COMPARE, "--no-color", "benchmarks", google, google],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for cell in cells(found):
        name = cell["cell_key"]
        assert re.search(
            rf"^{re.escape(name)}_median +[+-]0\.0000 ", done.stdout, re.M
        ), done.stdout
        assert f"{name}_pvalue" in done.stdout, "the U test had its repetitions"


def test_killed_in_the_middle_goes_on_without_repeating(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "r.jsonl"
    with subprocess.Popen(
        command(tmp_path, slices=40), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        deadline = time.monotonic() + 120
        while len(cells(path)) < 3 and time.monotonic() < deadline:
            assert child.poll() is None, "the sweep ended before it could be killed"
            for record in records(path):
                jsonschema.validate(record, SCHEMA)
            time.sleep(0.002)
        child.send_signal(signal.SIGKILL)
    before = cells(path)
    assert 3 <= len(before) < 9
    done = sweep(tmp_path, slices=40)
    assert done.returncode == 0, done.stderr
    after = cells(path)
    assert after[: len(before)] == before
    assert len({cell["cell_key"] for cell in after}) == len(after) == 9
    assert "not run again" in done.stdout
    again = sweep(tmp_path, slices=40)
    assert again.returncode == 0
    assert cells(path) == after


def test_changed_plan_is_noticed(tmp_path: pathlib.Path) -> None:
    assert sweep(tmp_path).returncode == 0
    before = (tmp_path / "r.jsonl").read_bytes()
    done = sweep(tmp_path, slices=9)
    assert done.returncode == 2
    assert "another plan" in done.stderr
    assert (tmp_path / "r.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "status", "word"),
    [
        (["--devices", "0"], 2, "devices"),
        (["--devices", "2,2"], 2, "2"),
        (["--workload", "gpt5"], 2, "gpt5"),
        (["--slices", "0"], 2, "slices"),
        (["--slice-ms", "-1"], 2, "slice"),
        (["--local-batch", "4611686018427387905", "--devices", "4"], 2, "out of range"),
        (["--csv", "/dev/null"], 3, "no regular file"),
        (["--gbench-json", "/proc/no/such.json"], 3, "/proc/no"),
        (["--data", "/no/such/folder"], 3, "/no/such/folder"),
        (["--plan", "/no/such/plan.toml"], 3, "/no/such/plan.toml"),
    ],
)
def test_refuses_what_cannot_be_run(
    tmp_path: pathlib.Path, arguments: list[str], status: int, word: str
) -> None:
    done = subprocess.run(
        [BINARY, "sweep", "--records", str(tmp_path / "r.jsonl"), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert word in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4


def test_records_must_go_to_a_file() -> None:
    done = subprocess.run(
        [BINARY, "sweep", *PLAN, "--records", "/dev/full"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    assert "/dev/full" in done.stderr


def test_a_full_pipe_is_told() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [BINARY, "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 3
    assert "standard output" in done.stderr


def test_data_that_failed_binds_nothing(tmp_path: pathlib.Path) -> None:
    assert sweep(tmp_path, "--data", "/no/such/folder").returncode == 3
    done = sweep(tmp_path)
    assert done.returncode == 0, done.stderr


def test_validate_says_that_all_invariants_hold() -> None:
    done = subprocess.run(
        [
            BINARY,
            "validate",
            "--workload",
            "mlp-small",
            "--devices",
            "1,2,5",
            "--global-batch",
            "7,40",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all invariants hold" in done.stdout
