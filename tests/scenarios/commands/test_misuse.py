"""Wrong arguments: exit status 2, one line that says what is wrong and where help is, and nothing done."""

import pytest
from command_line import GOOD, MISUSE, SMALL, good, mirrorscale, refusal

COMMANDS = ["doctor", "list", "train", "sweep", "validate", "report", "run"]


def test_help_names_every_command_and_the_exit_statuses():
    text = good("--help")
    assert all(command in text for command in COMMANDS)
    assert "3 could not run" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command):
    assert f"Usage: mirrorscale {command}" in good(command, "--help")


def test_version():
    assert mirrorscale("--version").stdout.startswith("mirrorscale 0.")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "which command? There are: doctor, list, train"),
        (["fly"], "no command 'fly'; there are: doctor, list, train"),
        (["train", "--wrong"], "--wrong"),
        (["train", "--epochs", "0"], "--epochs"),
        (["train", "--epochs", "two"], "--epochs"),
        (["train", "--global-batch", "0"], "--global-batch"),
        (["train", "--limit-rows", "0"], "--limit-rows"),
        (["train", "--backend", "gpu"], "--backend"),
        (["train", "--reduction", "none"], "--reduction"),
        (["train", "--numerics", "loose"], "--numerics"),
        (["train", "--cross-device-ops", "ring"], "--cross-device-ops"),
        ([*SMALL, "--precision", "int8"], "no precision 'int8'"),
        ([*SMALL, "--numerics", "fast"], "fast numerics need the backend cuda"),
        ([*SMALL, "--precision", "tf32"], "precision tf32 needs the backend cuda"),
        ([*SMALL, "--cross-device-ops", "nccl"], "need the backend cuda"),
        ([*SMALL, "--graphs"], "graphs need the backend cuda"),
        ([*SMALL, "--registered-buffers"], "registered buffers need the backend cuda"),
        ([*SMALL, "--reduction", "bucketed"], "reduction bucketed doesn't go with"),
        (
            ["sweep", "--backend", "cuda", "--numerics", "exact", "--precision", "bfloat16"],
            "contradicts exact numerics",
        ),
        (["sweep", "--backend", "cuda", "--reduction", "fused"], "reduction fused doesn't go with"),
        (["sweep", "--precision", "0.02"], "--half-width 0.02"),
        (["validate", "--numerics", "fast"], "fast numerics need the backend cuda"),
        (
            ["train", "--workload", "nope"],
            "no workload 'nope'; there are: binary, cnn, lenet, mlp, mlp-small",
        ),
        (["train", "--data", "nope"], "no data source 'nope'; there are: clusters, fashion-mnist"),
        ([*SMALL, "--optimizer", "nope"], "'nope'"),
        ([*SMALL, "--devices", "0"], "--devices 0: expected 1 to"),
        ([*SMALL, "--devices", "two"], "'two' is no device"),
        ([*SMALL, "--devices", "cpu:0,cpu:0"], "cpu:0"),
        ([*SMALL, "--devices", "gpu:0"], "'gpu:0' is no device"),
        ([*SMALL, "--devices", "cpu:0,reference:1"], "different backends"),
        (
            [*SMALL, "--devices", "cpu:0", "--backend", "reference"],
            "not of the backend 'reference'",
        ),
        (["train", "--workload", "mlp-small", "--data", "line"], "learns class labels"),
        (["train", "--workload", "regression", "--data", "clusters"], "learns numeric targets"),
        (
            ["train", "--workload", "regression", "--data", "identity", "--predict", "p.npy"],
            "no test rows",
        ),
        (["report"], "records is required"),
        (["run"], "lessons is required"),
        (["run", "nope"], "no lesson 'nope'; there are: busy-replicas, scope"),
        (["run", "scope", "--devices", "0"], "--devices"),
    ],
)
def test_refused(arguments, told):
    assert told in refusal(MISUSE, *arguments)
    assert mirrorscale(*arguments).stdout == ""


def test_help_is_no_misuse():
    assert mirrorscale("train", "--help").returncode == GOOD
