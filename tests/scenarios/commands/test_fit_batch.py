"""`mirrorscale fit-batch`: the largest batch by the plan of memory, and what the plan is worth."""

import re

import pytest
from command_line import good, refusal

SMALL = ["fit-batch", "--workload", "mlp-small", "--data", "clusters"]


def batch_for(memory, *more):
    return int(good(*SMALL, "--memory", memory, "--plain", *more))


def test_more_memory_fits_more_rows():
    few, many = batch_for("300KiB"), batch_for("600KiB")
    assert 0 < few < many < 4096


def test_all_rows_fit_into_a_large_memory():
    assert batch_for("1GiB") == 4096
    assert "nothing, these are all rows" in good(*SMALL, "--memory", "1GiB")


def test_the_room_of_this_machine_is_shared_by_its_devices():
    text = good(*SMALL, "--devices", "2", "--headroom", "0.5")
    assert re.search(r"^room: .*available, 50.0 % kept back, shared by 2 devices\)$", text, re.M)


@pytest.mark.parametrize(
    "options",
    [
        ["--memory", "300KiB"],
        ["--memory", "300KiB", "--devices", "3"],
        ["--memory", "400KiB", "--devices", "2", "--reduction", "replicated"],
        ["--memory", "400KiB", "--optimizer", "adam:0.001:clip_global_norm=1", "--accumulate", "4"],
    ],
)
def test_measured_is_what_was_planned(options):
    text = good(*SMALL, *options, "--check")
    found = re.search(r"^measured: .* ([+-][0-9.]+) % off the plan$", text, re.M)
    assert found and abs(float(found[1])) <= 5


def test_a_batch_beyond_does_not_fit():
    text = good(*SMALL, "--memory", "300KiB")
    fits = int(re.search(r"fits: +global batch (\d+)", text)[1])
    assert f"global batch {fits + 1} needs" in text


def test_not_even_one_row():
    said = refusal(3, *SMALL, "--memory", "1KiB")
    assert "not even one row fits: the plan needs" in said
    assert "1.00 KiB (--memory)" in said


def test_what_is_no_size():
    assert "--memory" in refusal(2, *SMALL, "--memory", "much")
