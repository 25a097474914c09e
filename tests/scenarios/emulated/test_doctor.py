"""The doctor and the list on a machine with GPUs, without any, and without a driver."""

import re

import pytest
from emulated import COULD_NOT_RUN, FINDING, GOOD, TRAIN, good, run


def test_names_every_gpu_and_version():
    output = good("doctor", "--no-speed", devices=2)
    assert re.search(r"cuda backend +CUDA \d+\.\d+, cuBLAS \d", output)
    for device in ("cuda:0", "cuda:1"):
        assert re.search(
            rf"{device} +\[note\] .*compute capability .*PCI \S+, GPU-\S+; emulated", output
        )
    assert "cuda:2" not in output
    assert re.search(r"peer access +between all GPUs", output)


def test_the_speed_of_stand_ins_is_tried_and_not_told():
    output = good("doctor", devices=2)
    speeds = output.split("GPU speed")[1]
    for device in ("cuda:0", "cuda:1"):
        for what in ("FMA peak", "products", "copies"):
            assert re.search(rf"{device} {what} +\[note\] runs; emulated, so no time", speeds)
    assert "TFLOP/s" not in speeds


def test_a_gpu_that_fails_is_a_finding():
    done = run("doctor", devices=2, fault="kernel:3@1")
    assert done.returncode == FINDING, done
    assert re.search(r"cuda:1 +\[FAILED\] cuda:1 failed: ", done.stdout)
    assert "The cpu backend works here." in done.stdout and "Xid" in done.stdout


@pytest.mark.parametrize(
    ("devices", "code", "mend"),
    [("no-driver", "35", "nvidia-driver"), (0, "100", "cpu backend works without")],
)
def test_says_what_is_missing_and_that_the_cpu_works(devices, code, mend):
    output = good("doctor", "--no-speed", devices=devices)
    assert re.search(rf"GPUs +\[missing\] none: .*\b{code}\)", output), output
    assert mend in output
    assert "The cpu backend works here." in output
    assert good(*TRAIN, devices=devices)
    done = run(*TRAIN, "--backend", "cuda", devices=devices)
    assert done.returncode == COULD_NOT_RUN
    assert "there is no cuda:0; there is no CUDA device" in done.stderr


def test_the_list_shows_them():
    done = run("list", devices=2)
    assert done.returncode == GOOD
    assert re.findall(r"^cuda, (cuda:\d+)", done.stdout, re.MULTILINE) == ["cuda:0", "cuda:1"]
    assert re.search(r"^cuda +not available: .*100", run("list", devices=0).stdout, re.MULTILINE)
