"""A build without CUDA: the option is known, the refusal says why and how to get it, the rest works."""

import json
import re

import pytest
from command_line import COULD_NOT_RUN, SMALL, good, mirrorscale, refusal

WHY = "this build has no CUDA; configure with -DMIRRORSCALE_CUDA=ON"

pytestmark = pytest.mark.skipif(WHY not in good("list"), reason="this build has CUDA")


@pytest.mark.parametrize(
    "arguments",
    [
        [*SMALL, "--backend", "cuda"],
        [*SMALL, "--backend", "cuda", "--numerics", "exact", "--devices", "2"],
        [*SMALL, "--devices", "cuda:0,cuda:1"],
        ["validate", "--workload", "mlp-small", "--backend", "cuda"],
    ],
)
def test_could_not_run(arguments):
    told = refusal(COULD_NOT_RUN, *arguments)
    assert "there is no cuda:0" in told and WHY in told


def test_a_sweep_is_refused_before_any_work(tmp_path):
    records = tmp_path / "r.jsonl"
    plan = tmp_path / "plan.toml"
    plan.write_text('[axes]\ndevices = [1, 2]\n[settings]\nbackend = "cuda"\nprecision = "tf32"\n')
    told = refusal(COULD_NOT_RUN, "sweep", "--plan", plan, "--records", records)
    assert "there is no cuda:0, cuda:1" in told and WHY in told
    assert not records.exists()


def test_the_doctor_says_how_to_get_it_and_that_nothing_is_broken():
    output = good("doctor", "--no-speed")
    assert re.search(r"cuda backend +\[missing\] not in this build", output)
    assert "cmake --preset cuda" in output
    assert "The cpu backend works here." in output
    sections = json.loads(good("doctor", "--no-speed", "--json"))["sections"]
    assert [f["state"] for s in sections if s["title"] == "CUDA" for f in s["findings"]] == [
        "missing"
    ]


def test_the_list_names_it():
    assert re.search(r"^cuda +not available: this build has no CUDA", good("list"), re.MULTILINE)


def test_the_auto_reduction_is_named_as_before():
    output = mirrorscale(*SMALL, "--devices", "2", "--reduction", "auto").stdout
    assert "strategy:  mirrored(cpu:0, cpu:1), fused reduction" in output
