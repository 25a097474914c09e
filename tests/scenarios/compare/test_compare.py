"""`mirrorscale compare` as a person runs it: its verdicts, files and refusals."""

import json
import pathlib
import stat

import jsonschema
import pytest
from command_line import BINARY, COULD_NOT_RUN, FINDING, GOOD, MISUSE, good, mirrorscale, refusal

SCHEMA = json.loads(
    (pathlib.Path(__file__).parents[3] / "reports" / "comparison.schema.json").read_text()
)
CELL = ["--workload", "mlp-small", "--devices", "2", "--global-batch", "64"]
# Four restarts can reach 1 / 16.
QUICK = ["--restarts", "4", "--alpha", "10%", "--budget", "0.6", "--slice-ms", "2"]


def program(path: pathlib.Path, script: str) -> str:
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_build_against_itself_is_no_finding(tmp_path: pathlib.Path) -> None:
    out, page = tmp_path / "c.json", tmp_path / "c.md"
    # On a busy machine so short a run may err: the floor is far out.
    text = good(
        "compare",
        *CELL,
        *QUICK,
        "--floor",
        "80%",
        "--json",
        out,
        "--markdown",
        page,
        "--build-b",
        BINARY,
    )
    assert "A and B are the same" in text
    assert "mlp-small devices=2 global-batch=64" in page.read_text()
    comparison = json.loads(out.read_text())
    jsonschema.validate(comparison, SCHEMA)
    assert (comparison["kind"], comparison["schema"], comparison["worse"]) == (
        "comparison",
        1,
        False,
    )
    (cell,) = comparison["cells"]
    assert cell["same_result"] and cell["a"]["weight_hash"] == cell["b"]["weight_hash"]
    assert len(cell["restarts"]) == 4
    for restart in cell["restarts"]:
        columns = [
            "a_first",
            "a_ns",
            "b_ns",
            "a_cpu_ns",
            "b_cpu_ns",
            "a_preemptions",
            "b_preemptions",
        ]
        assert len({len(restart[name]) for name in columns}) == 1
        assert len(restart["a_ns"]) >= 4
        assert all(ns > 0 for ns in restart["a_ns"] + restart["b_cpu_ns"])
        assert set(restart["a_first"]) <= {0, 1}
    assert {check["invariant"] for check in cell["a"]["checks"]} >= {"ONE", "REF"}


def test_a_slower_build_is_a_finding(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "c.json"
    # One device, and its CPU time: on a machine full of others, too, five times as long is longer.
    one = ["--workload", "mlp-small", "--devices", "1", "--global-batch", "64", "--clock", "cpu"]
    done = mirrorscale("compare", *one, *QUICK, "--plant-slowdown-b", "400%", "--json", out)
    assert (done.returncode, done.stderr) == (FINDING, ""), done
    assert "WORSE" in done.stdout
    comparison = json.loads(out.read_text())
    assert comparison["worse"] and comparison["cells"][0]["same_result"]
    # Its size is the planted one, roughly: so short a run on any machine.
    assert 2 < comparison["cells"][0]["cpu"]["change"]["value"] < 8


def test_two_configurations_are_named_and_compared() -> None:
    text = mirrorscale(
        "compare", *CELL, *QUICK, "--a", "--reduction replicated", "--b", "--reduction fused"
    )
    assert text.returncode in (GOOD, FINDING), text
    assert "reduction=replicated->fused" in text.stdout


def test_different_results_are_told() -> None:
    text = mirrorscale("compare", *CELL, *QUICK, "--b", "--seed 2")
    assert text.returncode in (GOOD, FINDING), text
    assert "DIFFERENT" in text.stdout and "compute different results" in text.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--build-a", "/no/such/build"], "no build at '/no/such/build'"),
        (["--a", "--bogus 3"], '--a "--bogus 3"'),
        (["--b", "--devices 1,2"], "side A has 1 cells and side B 2"),
        (["--restarts", "5"], "give --restarts 8 or more"),
        (["--floor", "much"], "--floor is 'much'"),
        (["--alpha", "90%"], "alpha"),
        (["--budget", "0.1"], "larger --budget"),
        (["--clock", "sundial"], "there are: auto, wall, cpu"),
        (["--a", "--workload nonsense"], "nonsense"),
    ],
)
def test_misuse_is_one_line(arguments: list[str], expected: str) -> None:
    assert expected in refusal(MISUSE, "compare", *CELL, *arguments)


def test_another_protocol_is_refused(tmp_path: pathlib.Path) -> None:
    other = program(
        tmp_path / "new", 'echo "mirrorscale compare protocol 99, version 9.0, revision abc"\n'
    )
    text = refusal(COULD_NOT_RUN, "compare", *CELL, "--build-b", other)
    assert "side B" in text and "protocol 99" in text and "rebuild" in text


def test_a_build_without_compare_is_refused(tmp_path: pathlib.Path) -> None:
    other = program(
        tmp_path / "old", "echo \"mirrorscale: no command 'compare-worker'\" >&2; exit 2\n"
    )
    text = refusal(COULD_NOT_RUN, "compare", *CELL, "--build-a", other)
    assert "side A" in text and "doesn't know how to be compared" in text and "no command" in text


def test_a_side_that_fails_its_check_is_not_timed(tmp_path: pathlib.Path) -> None:
    answer = {
        "weight_hash": "0123456789abcdef",
        "exact": True,
        "emulated": False,
        "oversubscribed": False,
        "target": "toy",
        "checks": [{"invariant": "ONE", "verdict": "failed", "evidence": "weights differ at 3"}],
    }
    protocol = good("compare-worker", "--protocol").strip()
    other = program(
        tmp_path / "wrong",
        f"case $2 in --protocol) echo '{protocol}';; --check) echo '{json.dumps(answer)}';; *) exit 9;; esac\n",
    )
    out = tmp_path / "c.json"
    done = mirrorscale("compare", *CELL, *QUICK, "--build-b", other, "--json", out)
    assert (done.returncode, done.stderr) == (FINDING, ""), done
    comparison = json.loads(out.read_text())
    jsonschema.validate(comparison, SCHEMA)
    assert comparison["cells"][0]["verdict"] == "check_failed"
    assert "CHECK FAILED" in done.stdout
    assert "side B failed its check, ONE: weights differ at 3" in done.stdout


def test_the_worker_is_not_for_people() -> None:
    assert "compare-worker" not in good("--help")
    assert "started by `mirrorscale compare`" in refusal(
        MISUSE, "compare-worker", "--workload", "mlp-small", "--devices", "1"
    )
    assert "compare-worker" not in refusal(MISUSE, "nonsense")
