"""`mirrorscale list` names everything that other commands take."""

import re

from command_line import cpu_targets, good


def test_names_everything():
    output = good("list")
    names = {line.split("  ")[0] for line in output.splitlines()}
    assert names >= {"binary", "mlp", "mlp-small", "regression", "softmax-regression"}
    assert names >= {
        "clusters",
        "fashion-mnist",
        "fashion-twin",
        "identity",
        "images",
        "images-small",
        "line",
        "two-clusters",
    }
    assert names >= {
        "busy-replicas",
        "scope",
        "predict-shape",
        "before-after",
        "raise-batch",
        "model-averaging",
    }
    assert names >= {"reference", "sgd", "momentum", "nesterov", "adam", "adamw", "mse", "mae"}


def test_says_whether_there_are_gpus():
    assert re.search(r"^cuda(, cuda:0)? +\S", good("list"), re.MULTILINE)


def test_the_chosen_instruction_set_is_marked():
    last = cpu_targets()[-1]
    line = next(
        line
        for line in good("list", MIRRORSCALE_CPU_TARGET=last).splitlines()
        if f"cpu, {last}" in line
    )
    assert "chosen" in line
