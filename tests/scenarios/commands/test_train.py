"""Training through the command line: the same bits on any number of devices, instruction set, backend and reduction."""

import functools
import json
import re

import pytest
from command_line import (
    FINDING,
    MISUSE,
    SMALL,
    cpu_targets,
    epochs,
    good,
    mirrorscale,
    refusal,
    weight_hash,
)

# What any correct machine ends with. Made by this command; the reference backend's plain loops agree (below).
GOLDEN_HASH = "1f50d11708811c20"


@functools.cache
def one_device() -> str:
    return good(*SMALL)


def test_prints_what_people_expect():
    output = one_device()
    line = r"epoch {}/2 - [\d.]+ m?u?s - data wait [\d.]+% - \d+ samples/s - loss \d\.\d{{4}} - accuracy 0\.\d{{4}}"
    line += r" - val_loss \d\.\d{{4}} - val_accuracy 0\.\d{{4}}"
    for epoch in (1, 2):
        assert re.search(line.format(epoch), output), output
    assert re.search(r"^test: loss \d\.\d{4} - accuracy 0\.\d{4}$", output, re.MULTILINE), output
    assert "mlp-small on clusters, 200 training rows, 100 test rows" in output
    assert weight_hash(output) == GOLDEN_HASH


@pytest.mark.parametrize("devices", [1, 2, 3, 4, 5, 8])
def test_devices_do_not_change_a_bit(devices):
    output = good(*SMALL, "--devices", devices)
    assert weight_hash(output) == GOLDEN_HASH
    assert epochs(output) == epochs(one_device())


def test_devices_by_name():
    output = good(*SMALL, "--devices", "cpu:5,cpu:2")
    assert "mirrored(cpu:5, cpu:2)" in output
    assert weight_hash(output) == GOLDEN_HASH


@pytest.mark.parametrize("devices", [1, 3])
def test_the_reference_backend_says_the_same(devices):
    output = good(*SMALL, "--backend", "reference", "--devices", devices)
    assert "(reference:0" in output
    assert weight_hash(output) == GOLDEN_HASH


def test_instruction_sets_do_not_change_a_bit():
    targets = cpu_targets()
    assert targets, "the list names no instruction set"
    for target in targets:
        assert (
            weight_hash(good(*SMALL, "--devices", 2, MIRRORSCALE_CPU_TARGET=target)) == GOLDEN_HASH
        ), target


@pytest.mark.parametrize("devices", [1, 3])
def test_the_replicated_reduction_gives_the_same(devices):
    assert (
        weight_hash(good(*SMALL, "--devices", devices, "--reduction", "replicated")) == GOLDEN_HASH
    )


@pytest.mark.parametrize(
    "option", ["--seed=2", "--optimizer=sgd:0.1", "--global-batch=47", "--epochs=1"]
)
def test_what_must_change_the_weights_does(option):
    name = option.split("=")[0]
    rest = [*SMALL]
    if name in rest:
        del rest[rest.index(name) : rest.index(name) + 2]
    assert weight_hash(good(*rest, option)) != GOLDEN_HASH


@pytest.mark.parametrize("workload", ["binary", "mlp-small", "regression"])
def test_workloads_learn_on_their_own_data(workload):
    lines = epochs(good("train", "--workload", workload, "--epochs", 4, "--devices", 2))
    losses = [float(re.match(r"loss ([\d.]+)", line)[1]) for line in lines]
    assert losses[-1] < 0.8 * losses[0], lines


@pytest.mark.parametrize("workload", ["mlp", "softmax-regression"])
def test_workloads_of_pictures_train_on_the_twin(workload):
    arguments = [
        "train",
        "--workload",
        workload,
        "--data",
        "fashion-twin",
        "--epochs",
        1,
        "--limit-rows",
        96,
    ]
    hashes = {
        weight_hash(good(*arguments, "--limit-test-rows", 32, "--devices", devices))
        for devices in (1, 3)
    }
    assert len(hashes) == 1


def test_metrics_of_counts_and_the_history_file(tmp_path):
    kept = []
    for devices in (1, 3):
        file = tmp_path / f"{devices}.json"
        output = good(
            *SMALL, "--devices", devices, "--metrics", "top_k=3,auc,confusion", "--history", file
        )
        assert weight_hash(output) == GOLDEN_HASH
        assert "confusion of the test rows" in output and "top_3_accuracy" in output
        run = json.loads(file.read_text())
        assert [epoch.pop("epoch") for epoch in run["epochs"]] == [1, 2]
        assert all(epoch.pop("data_wait_s") >= 0 for epoch in run["epochs"])
        kept.append(run)
    assert kept[0] == kept[1]
    table = kept[0]["tables"]["test"]["confusion"]["counts"]
    right = sum(row[i] for i, row in enumerate(table))
    assert sum(map(sum, table)) == 100 and right == round(100 * kept[0]["test"]["accuracy"])
    assert sum(map(sum, kept[0]["tables"]["training"]["confusion"]["counts"])) == 200
    assert kept[0]["test"]["accuracy"] <= kept[0]["test"]["top_3_accuracy"] <= 1


@pytest.mark.parametrize("option", ["--class-weight=0=2,3=0.5", "--label-smoothing=0.1"])
def test_class_weights_and_label_smoothing(option):
    hashes = {weight_hash(good(*SMALL, option, "--devices", devices)) for devices in (1, 3)}
    assert len(hashes) == 1 and GOLDEN_HASH not in hashes


@pytest.mark.parametrize(
    "option, says",
    [
        ("--metrics=top_k=99", "99"),
        ("--metrics=f1", "precision"),
        ("--class-weight=77=2", "no class 77"),
        ("--class-weight=2", "class=weight"),
        ("--label-smoothing=1.5", "label-smoothing"),
    ],
)
def test_what_cannot_be_measured_or_weighed_is_refused(option, says):
    assert says in refusal(MISUSE, *SMALL, option)


def test_predictions_are_written_in_input_order(tmp_path):
    numpy = pytest.importorskip("numpy")
    made = []
    for devices in (1, 3):
        file = tmp_path / f"{devices}.npy"
        good(*SMALL, "--devices", devices, "--predict", file)
        made.append(numpy.load(file))
    assert made[0].shape == (100, 10) and made[0].dtype == numpy.float32
    assert (made[0] == made[1]).all()


def test_more_devices_than_cores_are_said_so():
    output = good(*SMALL, "--devices", 64)
    assert "oversubscribed" in output and weight_hash(output) == GOLDEN_HASH
    assert "oversubscribed" not in one_device()


def test_arrays_of_ones_own(tmp_path):
    numpy = pytest.importorskip("numpy")
    random = numpy.random.default_rng(1)
    x = random.standard_normal((90, 5)).astype("float32")
    y = (x[:, 0] > 0).astype("int64")
    numpy.savez(tmp_path / "own.npz", x_train=x[:60], y_train=y[:60], x_test=x[60:], y_test=y[60:])
    numpy.save(tmp_path / "x.npy", x)
    numpy.save(tmp_path / "y.npy", y)
    both = good("train", "--workload", "mlp-small", "--data", tmp_path / "own.npz", "--epochs", 2)
    assert "60 training rows, 30 test rows" in both and "test: loss" in both
    pair = good(
        "train",
        "--workload",
        "mlp-small",
        "--data",
        f"{tmp_path}/x.npy,{tmp_path}/y.npy",
        "--epochs",
        2,
    )
    assert (
        "90 training rows, 0 test rows" in pair and "val_loss" not in pair and "test:" not in pair
    )


def test_the_seed_makes_the_initial_weights(tmp_path):
    numpy = pytest.importorskip("numpy")
    x = numpy.random.default_rng(1).standard_normal((40, 5)).astype("float32")
    numpy.savez(tmp_path / "own.npz", x=x, y=(x[:, 0] > 0).astype("int64"))
    # One step on all rows: the loss is that of the initial weights, whatever the order of the rows.
    arguments = ["train", "--workload", "mlp-small", "--data", tmp_path / "own.npz", "--epochs", 1]
    losses = {
        epochs(good(*arguments, "--global-batch", 40, "--seed", seed))[0] for seed in (1, 1, 2)
    }
    assert len(losses) == 2, losses


def test_nothing_is_drawn_over_in_a_pipe():
    assert "\r" not in one_device()


def test_neither_pieces_nor_devices_change_a_bit_of_a_clipped_training():
    settings = ("--optimizer", "amsgrad:0.01:warm_up=3:decay_steps=8:clip_global_norm=0.1")
    hashes = {
        weight_hash(good(*SMALL, *settings, "--devices", devices, "--accumulate", pieces))
        for devices, pieces in ((1, 1), (1, 5), (3, 2), (2, 7))
    }
    assert len(hashes) == 1, hashes
    free = ("--optimizer", "amsgrad:0.01:warm_up=3:decay_steps=8")
    assert weight_hash(good(*SMALL, *free)) not in hashes


def test_the_oracle_knows_a_clipped_optimizer():
    cell = ("--workload", "mlp-small", "--devices", "2", "--global-batch", "64")
    output = good("validate", *cell, "--optimizer", "adam:0.001:beta1=0.8:clip_global_norm=0.5")
    assert output.rstrip().endswith("all invariants hold"), output


@pytest.mark.parametrize("optimizer", ["lamb:0.01:weight_decay=0.01", "lars:2:clip_global_norm=1"])
def test_layerwise_rates_do_not_change_a_bit(optimizer):
    one = good(*SMALL, "--optimizer", optimizer)
    assert weight_hash(one) != GOLDEN_HASH
    for more in (["--devices", 3], ["--devices", 2, "--accumulate", 3], ["--backend", "reference"]):
        assert weight_hash(good(*SMALL, "--optimizer", optimizer, *more)) == weight_hash(one), more


def test_the_average_of_weights_takes_their_place_and_is_named():
    output = good(*SMALL, "--optimizer", "sgd:0.1:ema=0.9")
    assert "weights: from here on their average (ema 0.9)" in output
    plain = good(*SMALL, "--optimizer", "sgd:0.1")
    assert epochs(output) == epochs(plain), "the training itself is the same"
    assert weight_hash(output) != weight_hash(plain)
    again = good(*SMALL, "--optimizer", "sgd:0.1:ema=0.9", "--devices", 3)
    assert weight_hash(again) == weight_hash(output)


# The second step's loss is not finite any more.
DIVERGING = [*SMALL, "--optimizer", "sgd:1e38"]


@pytest.mark.parametrize("devices", [1, 3])
def test_a_step_that_is_not_finite_may_stop_the_training(devices, tmp_path):
    folder = tmp_path / "saved"
    stopped = [*DIVERGING, "--devices", devices, "--on-nan", "stop", "--checkpoint", folder]
    done = mirrorscale(*stopped)
    assert done.returncode == FINDING, done
    assert re.fullmatch(
        r"mirrorscale: \[fit\] epoch 1, batch 2: the (loss|gradient) of the global batch is not finite; "
        r"1 steps are done, and this one was not applied \(on_nan: stop\); the state before it is in .*\n",
        done.stderr,
    ), done
    assert [f.name for f in folder.iterdir()] == ["step-000000001.ckpt"]
    resumed = good(*DIVERGING, "--on-nan", "skip", "--checkpoint", folder, "--resume")
    assert "resume:    " in resumed and "1 steps done, epoch 1, batch 2" in resumed


def test_steps_that_are_not_finite_may_be_skipped_and_are_counted():
    output = good(*DIVERGING, "--on-nan", "skip")
    # Five steps an epoch: all but the first are skipped, and the second epoch has no loss.
    assert "skipped_steps 4" in epochs(output)[0] and "skipped_steps 5" in epochs(output)[1], output
    assert "skipped: 9 steps, of loss or gradient not finite" in output
    assert weight_hash(good(*DIVERGING, "--on-nan", "skip", "--devices", 3)) == weight_hash(output)


def test_looking_for_steps_that_are_not_finite_changes_no_bit():
    assert weight_hash(good(*SMALL, "--on-nan", "stop", "--devices", 2)) == GOLDEN_HASH
    assert "skip" in refusal(MISUSE, *SMALL, "--on-nan", "halt")
