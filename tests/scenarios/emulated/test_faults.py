"""Faults of devices: the documented message and status in time, and finished cells are kept."""

import json

import jsonschema
import pytest
from emulated import COULD_NOT_RUN, FINDING, GOOD, LIMIT_S, QUICK, SCHEMA, cells, records, run, told

PLAN = [
    *("sweep", "--backend", "cuda", "--workload", "mlp-small", "--devices", "1,2,4"),
    *("--global-batch", "24,48", "--numerics", "exact", "--wait-limit", "5", *QUICK),
]


@pytest.mark.parametrize(
    ("fault", "device"),
    [("kernel:2200@1", "cuda:1"), ("lost:1800@2", "cuda:2"), ("ecc:1300@3", "cuda:3")],
)
def test_a_failed_device_ends_the_sweep_and_a_new_one_goes_on(tmp_path, fault, device):
    path = tmp_path / "r.jsonl"
    done = run(*PLAN, "--records", path, fault=fault, limit_s=LIMIT_S)
    assert done.returncode == COULD_NOT_RUN, done
    (line,) = told(done)
    assert f"{device} failed: " in line and "run the same command again" in line, line
    for record in records(path):
        jsonschema.validate(record, SCHEMA)
    failed = [cell for cell in cells(path) if cell["status"] == "error"]
    assert [cell["reason_kind"] for cell in failed] == ["device_failed"]
    assert device in failed[0]["reason"]
    assert "DEVICE FAILED" in done.stdout
    kept = [cell for cell in cells(path) if cell["status"] == "ok"]

    again = run(*PLAN, "--records", path)
    assert again.returncode == GOOD, again
    now = {cell["cell_key"]: cell for cell in cells(path)}
    assert len(now) == 6 and {cell["status"] for cell in now.values()} == {"ok"}
    for cell in kept:
        assert now[cell["cell_key"]] == cell  # not run again


def test_a_fault_in_the_first_steps_leaves_one_cell(tmp_path):
    path = tmp_path / "r.jsonl"
    done = run(*PLAN, "--records", path, fault="kernel:20@0", limit_s=LIMIT_S)
    assert done.returncode == COULD_NOT_RUN, done
    assert "5 of 6 cells were not attempted" in done.stderr
    (cell,) = cells(path)
    assert cell["reason_kind"] == "device_failed" and "cuda:0" in cell["reason"]


@pytest.mark.parametrize("fault", ["join:3@1", "nccl:4@1"])
def test_a_broken_collective_names_the_rank_and_never_hangs(tmp_path, fault):
    path = tmp_path / "r.jsonl"
    plan = [*PLAN[:5], "--devices", "2", *PLAN[7:9], *PLAN[9:]]
    done = run(*plan, "--records", path, fault=fault, limit_s=LIMIT_S)
    assert done.returncode in (FINDING, COULD_NOT_RUN), done
    troubled = [cell for cell in cells(path) if cell["status"] != "ok"]
    assert troubled and "rank" in troubled[0]["reason"], json.dumps(troubled, indent=1)


def test_a_flipped_bit_is_a_finding(tmp_path):
    path = tmp_path / "r.jsonl"
    done = run(*PLAN, "--records", path, fault="copy:40@0", limit_s=LIMIT_S)
    assert done.returncode == FINDING, done
    failed = [cell for cell in cells(path) if cell["status"] == "failed"]
    assert failed and all(cell["measurement"] is None for cell in failed)
    assert len(cells(path)) == 6


@pytest.mark.parametrize("command", ["train", "validate"])
def test_the_other_commands_end_too(command):
    arguments = ["--workload", "mlp-small", "--data", "clusters", "--backend", "cuda"]
    done = run(command, *arguments, "--devices", "2", fault="kernel:20@1", limit_s=LIMIT_S)
    assert done.returncode == COULD_NOT_RUN, done
    (line,) = told(done)
    assert "cuda:1 failed: " in line
