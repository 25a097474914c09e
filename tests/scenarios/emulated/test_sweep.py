"""A sweep over emulated GPUs: all invariants hold, records say what they are, no time is told."""

import os
import re

import jsonschema
import pytest
from emulated import COULD_NOT_RUN, GOOD, QUICK, SCHEMA, cells, records, run

PLAN = ["sweep", "--backend", "cuda", "--workload", "mlp-small", "--global-batch", "48"]


@pytest.mark.parametrize("numerics", ["exact", "fast"])
def test_every_device_count_holds_every_invariant(tmp_path, numerics):
    path = tmp_path / "r.jsonl"
    done = run(*PLAN, *QUICK, "--devices", "1,2,4,8", "--numerics", numerics, "--records", path)
    assert (done.returncode, done.stderr) == (GOOD, ""), done
    for record in records(path):
        jsonschema.validate(record, SCHEMA)
    found = cells(path)
    assert [cell["replicas"] for cell in found] == [1, 2, 4, 8]
    expected = {"SHD", "COV", "MIR", "ONE", "REF", "MET", "SHP"}
    for cell in found:
        assert cell["status"] == "ok" and cell["emulated"] is True
        assert (cell["numerics"], cell["precision"]) == (numerics, "fp32")
        assert cell["reduction"] == {"exact": "replicated", "fast": "bucketed"}[numerics]
        assert cell["measurement"]["speedup"] is None and cell["measurement"]["base_key"] == ""
        verdicts = {check["invariant"]: check["verdict"] for check in cell["checks"]}
        assert set(verdicts) == expected | ({"XBK"} if numerics == "exact" else set())
        if cell["replicas"] == 1:
            assert verdicts.pop("MIR") == "skipped"  # nothing to compare one replica with
        assert set(verdicts.values()) == {"passed"}, cell["checks"]
        clocks = cell["measurement"]["clocks"]
        assert (
            clocks["gpus"] == [] and clocks["not_measured"]["gpus"]
        ), "NVML isn't there, and that is said"
    if numerics == "exact":
        assert len({cell["weight_hash"] for cell in found}) == 1


def test_no_time_is_told(tmp_path):
    done = run(
        *(*PLAN, *QUICK, "--devices", "1,2", "--records", tmp_path / "r.jsonl"),
        *("--csv", tmp_path / "t.csv", "--gbench-json", tmp_path / "g.json"),
    )
    assert done.returncode == GOOD, done
    rows = [line for line in done.stdout.splitlines() if line.strip().startswith("strong")]
    assert len(rows) == 2
    for row in rows:
        assert row.count("emulated") == 3 and not re.search(r"\d\.\d", row), row
    assert "stand-ins that run on the host" in done.stdout.splitlines()[-2]
    assert (tmp_path / "t.csv").read_text().count("emulated") == 6
    assert "real_time" not in (tmp_path / "g.json").read_text() or '"error_occurred": true' in (
        tmp_path / "g.json"
    ).read_text().replace('error_occurred":true', 'error_occurred": true')


def test_the_run_names_its_gpus_and_libraries(tmp_path, monkeypatch):
    path = tmp_path / "r.jsonl"
    monkeypatch.setenv("LD_LIBRARY_PATH", os.environ["STAND_IN_NVML_FOLDER"])
    assert run(*PLAN, *QUICK, "--devices", "2", "--records", path).returncode == GOOD
    environment = records(path)[0]["environment"]
    gpus = environment["cuda_devices"]
    assert [gpu["name"] for gpu in gpus] == ["cuda:0", "cuda:1"]
    assert all(gpu["emulated"] and gpu["uuid"] and gpu["memory_bytes"] > 0 for gpu in gpus)
    assert len({gpu["uuid"] for gpu in gpus}) == 2
    (cell,) = cells(path)
    clocks = cell["measurement"]["clocks"]
    assert [gpu["uuid"] for gpu in clocks["gpus"]] == [gpu["uuid"] for gpu in gpus]
    for gpu in clocks["gpus"]:
        assert gpu["power_w"]["value"] == 500.25 and gpu["memory_hz"] is None
        assert gpu["throttle_reasons"] == ["power cap"]
        assert 1e9 < gpu["sm_hz"]["low"] <= gpu["sm_hz"]["value"] <= gpu["sm_hz"]["high"] < 2e9
    assert clocks["throttled_steps"] == clocks["disturbed_steps"] == cell["measurement"]["steps"]
    assert "gpus" not in clocks["not_measured"]
    assert {"cuda-runtime", "cuda-driver", "cublas"} <= set(environment["libraries"])
    assert all(environment["libraries"].values())
    assert environment["target"] == gpus[0]["model"] == cells(path)[0]["target"]


def test_more_devices_than_there_are_is_refused_before_any_work(tmp_path):
    path = tmp_path / "r.jsonl"
    done = run(*PLAN, "--devices", "1,2,4", "--records", path, devices=2)
    assert done.returncode == COULD_NOT_RUN and done.stdout == ""
    assert "there is no cuda:2, cuda:3; there is cuda:0 (" in done.stderr
    assert not path.exists()
