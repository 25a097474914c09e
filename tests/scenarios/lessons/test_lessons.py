"""The lessons of the tutorials, as the command runs them."""

import re

import pytest
from command_line import GOOD, good, mirrorscale

KEYS = ["busy-replicas", "scope", "predict-shape", "before-after", "raise-batch", "model-averaging"]


def verdicts(output: str) -> list[tuple[str, str]]:
    return re.findall(r"^  \[(passed|failed|skipped)\] (\w+): ", output, re.MULTILINE)


def test_all_pass():
    output = good("run", "all", "--quick", "--devices", 2)
    for key in KEYS:
        assert re.search(rf"^{key}: ", output, re.MULTILINE), key
    found = verdicts(output)
    assert "failed" not in {outcome for outcome, _ in found}, output
    # What does not hang on the machine's speed or cores is never skipped.
    judged = {code for outcome, code in found if outcome == "passed"}
    assert judged >= {"SHD", "SCOPE", "SHP", "ONE", "MEMORY", "DIFFERENT"}, found


@pytest.mark.parametrize("devices", [1, 3, 8])
def test_any_number_of_devices(devices):
    output = good(
        "run",
        "before-after",
        "raise-batch",
        "busy-replicas",
        "--quick",
        "--devices",
        devices,
        "--epochs",
        2,
    )
    assert {outcome for outcome, code in verdicts(output) if code == "ONE"} == {"passed"}


def test_more_devices_than_cores_are_not_judged_for_speed():
    output = good("run", "busy-replicas", "--quick", "--devices", 64)
    assert ("skipped", "TOGETHER") in verdicts(output)
    assert "oversubscribed" in output
    assert ("passed", "SHD") in verdicts(output)


def test_predictions_of_every_size():
    output = good("run", "predict-shape")
    for devices in range(1, 9):
        line = next(
            line for line in output.splitlines() if re.match(rf"  {devices} devices?:", line)
        )
        for rows in (1, 7, 63, 64, 65):
            assert f"({rows}, 20) -> ({rows}, 10)" in line


def test_averaging_tells_the_difference():
    output = good("run", "model-averaging", "--quick", "--devices", 3)
    away = re.search(
        r"averaged weights lie ([\d.]+) % \(Euclidean\) from those of one device", output
    )
    assert away and float(away[1]) > 0.1, output


def test_the_scope_lesson_shows_the_messages_and_the_mend():
    output = good("run", "scope")
    assert "Move the construction of the model inside `auto scope = strategy.scope();`" in output
    assert "scopes of different strategies don't nest" in output
    assert "fit works after the scope too" in output


def test_several_keys_run_in_their_order():
    done = mirrorscale("run", "scope", "predict-shape")
    assert done.returncode == GOOD
    assert done.stdout.index("scope: ") < done.stdout.index("predict-shape: ")
