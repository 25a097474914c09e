"""The doctor says what there is, what is missing and how to get it; it fails only when the cpu backend does."""

import json
import re

from command_line import COULD_NOT_RUN, cpu_targets, good, mirrorscale


def findings(output: str) -> dict[str, dict]:
    return {
        f["subject"] + "/" + s["title"].split()[0]: f
        for s in json.loads(output)["sections"]
        for f in s["findings"]
    }


def test_says_what_it_must():
    output = good("doctor")
    assert "The cpu backend works here." in output
    for subject in [
        "processor",
        "cores",
        "devices",
        "caches",
        "memory nodes",
        "memory",
        "pinning",
        "version",
        "build",
    ]:
        assert re.search(rf"^  {subject} +\S", output, re.MULTILINE), subject
    assert re.search(rf"cpu backend +instruction set {cpu_targets()[0]}\b", output)
    assert re.search(
        r"self-check +2 cpu devices give the bits of the reference backend: [0-9a-f]{16}", output
    )
    assert re.search(r"NVTX +\S", output)
    assert re.search(r"FMA peak +(\[note\] )?\d+\.\d GFLOP/s on one core", output)
    assert re.search(r"memory +(\[note\] )?\d+\.\d GB/s on one core", output)
    assert re.search(r"libraries +.*hwloc \d", output)
    assert re.search(r"fashion-mnist +\S", output)


def test_json_says_the_same():
    answer = json.loads(good("doctor", "--json", "--no-speed"))
    assert answer["works"] is True
    text = good("doctor", "--no-speed")
    for section in answer["sections"]:
        assert section["title"] in text
        for finding in section["findings"]:
            assert finding["state"] in {"fine", "note", "missing"}
            assert finding["subject"] in text


def test_missing_data_come_with_a_package_name(tmp_path):
    found = findings(good("doctor", "--no-speed", "--json", MIRRORSCALE_DATA=str(tmp_path)))[
        "fashion-mnist/software"
    ]
    assert found["state"] == "missing"
    assert "apt-get install dataset-fashion-mnist" in found["mend"]


def test_a_python_without_matplotlib_comes_with_a_package_name(tmp_path):
    bare = tmp_path / "python3"
    bare.write_text('#!/bin/sh\ncase "$2" in pass) exit 0;; *) exit 1;; esac\n')
    bare.chmod(0o755)
    found = findings(good("doctor", "--no-speed", "--json", MIRRORSCALE_PYTHON=str(bare)))[
        "reports/software"
    ]
    assert found["state"] == "missing" and "matplotlib" in found["text"]
    assert "apt-get install python3-matplotlib" in found["mend"]


def test_another_instruction_set_is_named():
    target = cpu_targets()[-1]
    assert f"instruction set {target}" in good(
        "doctor", "--no-speed", MIRRORSCALE_CPU_TARGET=target
    )


def test_a_backend_that_does_not_work_is_exit_status_3():
    done = mirrorscale("doctor", "--no-speed", MIRRORSCALE_CPU_TARGET="AVX9")
    assert done.returncode == COULD_NOT_RUN
    assert "does NOT work" in done.stdout and "AVX9" in done.stdout
    assert "fashion-mnist" in done.stdout  # the rest is told all the same
