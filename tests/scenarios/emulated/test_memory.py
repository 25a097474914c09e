"""Out of memory: one message with bytes and the largest batch that fits; larger batches are skipped."""

import re

import pytest
from emulated import COULD_NOT_RUN, FINDING, GOOD, QUICK, cells, run

PLAN = [
    *("sweep", "--backend", "cuda", "--workload", "mlp-small", "--numerics", "exact"),
    *("--devices", "1", *QUICK, "--global-batch"),
]
AXIS = "48,4096,8192"
MEMORY = 2 << 20


def test_the_axis_stops_where_memory_ends(tmp_path):
    path = tmp_path / "r.jsonl"
    done = run(*PLAN, AXIS, "--records", path, memory_bytes=MEMORY)
    assert done.returncode == FINDING, done
    good, full, larger = cells(path)
    assert good["status"] == "ok"
    assert (full["status"], full["reason_kind"]) == ("error", "out_of_memory")
    assert re.search(r"out of memory: \d+ bytes asked, \d+ used, \d+ free", full["reason"])
    assert re.search(r"the largest that fits .* is \d+$", full["reason"]), full["reason"]
    assert (larger["status"], larger["reason_kind"]) == ("skipped", "out_of_memory")
    assert "batch 4096 " in larger["reason"]
    assert "OUT OF MEMORY" in done.stdout and "SKIPPED" in done.stdout

    again = run(*PLAN, AXIS, "--records", path, memory_bytes=MEMORY)
    assert again.returncode == FINDING
    assert "3 of 3 cells" in again.stdout and len(cells(path)) == 3


def test_the_largest_batch_that_is_named_fits(tmp_path):
    path = tmp_path / "r.jsonl"
    run(*PLAN, AXIS, "--records", path, memory_bytes=MEMORY)
    fits = int(re.search(r"is (\d+)$", cells(path)[1]["reason"])[1])
    # a device gives memory in units: some hundred bytes a buffer
    done = run(*PLAN, fits * 97 // 100, "--records", tmp_path / "s.jsonl", memory_bytes=MEMORY)
    assert done.returncode == GOOD, done


def test_a_single_failed_allocation_is_that_cell_s_only(tmp_path):
    path = tmp_path / "r.jsonl"
    done = run(
        *("sweep", "--backend", "cuda", "--workload", "mlp-small", "--devices", "1,2", *QUICK),
        *("--global-batch", "24,48", "--records", path),
        fault="malloc:30@1",
    )
    assert done.returncode == FINDING, done
    found = cells(path)
    assert [cell["status"] for cell in found].count("ok") >= 2
    troubled = [cell for cell in found if cell["status"] == "error"]
    assert [cell["reason_kind"] for cell in troubled] == ["out_of_memory"]
    assert "cuda:1 is out of memory" in troubled[0]["reason"]


def test_train_names_the_largest_batch():
    done = run(
        *("train", "--workload", "mlp-small", "--backend", "cuda", "--numerics", "exact"),
        *("--epochs", "1", "--global-batch", "8192"),
        memory_bytes=MEMORY,
    )
    assert done.returncode == COULD_NOT_RUN
    assert re.search(r"cuda:0 is out of memory: .* the largest that fits .* is \d+$", done.stderr)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_largest_batch_of_several_gpus_in_fast_numerics_fits(precision):
    train = [
        *("train", "--workload", "mlp", "--data", "fashion-twin", "--backend", "cuda"),
        *("--precision", precision, "--devices", "2", "--limit-rows", "6000", "--epochs", "1"),
        "--global-batch",
    ]
    memory = 60_000_000
    told = run(*train, "4096", memory_bytes=memory, devices=2).stderr
    fits = int(re.search(r"the largest that fits .* is (\d+)$", told, re.MULTILINE)[1])
    assert fits > 500
    assert run(*train, fits, memory_bytes=memory, devices=2).returncode == GOOD
