"""A gate that measures by itself: the real command, on cells of a fraction of a second."""

import json
import pathlib

from command_line import COULD_NOT_RUN, FINDING, GOOD, good, mirrorscale, refusal

PLAN = [
    *("sweep", "--workload", "mlp-small", "--devices", "1,2", "--global-batch", "32,64"),
    *("--optimizer", "sgd:0.1", "--slices", "6", "--slice-ms", "1", "--budget", "2.5"),
]


def baseline(folder: pathlib.Path, launches: int = 2) -> pathlib.Path:
    files = [folder / f"base{i}.jsonl" for i in range(launches)]
    for path in files:
        good(*PLAN, "--records", path)
    good("baseline", "save", "--store", folder / "store", *files)
    return folder / "store"


def test_measures_the_plan_of_the_baseline(tmp_path):
    store = baseline(tmp_path)
    done = mirrorscale(
        *("gate", "--measure", 2, "--confirm", "--store", store),
        *("--records-folder", tmp_path / "now", "--json", tmp_path / "g.json"),
    )
    # Six slices on a busy machine prove nothing either way; results are exact, so these must be the same.
    assert done.returncode in (GOOD, FINDING), done
    result = json.loads((tmp_path / "g.json").read_text())
    results = [f["verdict"] for f in result["findings"] if f["metric"] == "results"]
    assert results == ["same"] * 4
    assert result["candidate"]["launches"] == 2
    assert result["candidate"]["confirming_launches"] in (0, 2)
    plan = next((tmp_path / "now").glob("*.plan.toml")).read_text()
    assert 'optimizer = ["sgd:0.1"]' in plan and "slices = 6" in plan and "budget_s = 2.5" in plan


def test_several_plans_need_a_name(tmp_path):
    store = baseline(tmp_path, launches=1)
    other = tmp_path / "other.jsonl"
    good(*PLAN[:-2], "--budget", "2", "--records", other)
    good("baseline", "save", "--store", store, other)
    assert "several plans" in mirrorscale("gate", "--measure", 1, "--store", store).stderr


def test_a_launch_that_cannot_run_is_told(tmp_path):
    store = baseline(tmp_path, launches=1)
    blocked = tmp_path / "file"
    blocked.write_text("")
    said = refusal(
        COULD_NOT_RUN, "gate", "--measure", 1, "--store", store, "--records-folder", blocked
    )
    assert "file" in said


def test_the_memory_of_whoever_starts_it_is_not_counted(tmp_path):
    ballast = bytearray(b"x" * 400_000_000)
    good(*PLAN, "--records", tmp_path / "r.jsonl")
    assert len(ballast) == 400_000_000
    cells = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()[1:]]
    assert 1e6 < max(cell["memory"]["process_peak_bytes"] for cell in cells) < 200e6
