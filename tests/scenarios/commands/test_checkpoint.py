"""Trainings that are interrupted, killed and gone on with from the command line."""

import os
import pathlib
import random
import re
import signal
import subprocess
import time

import pytest
from command_line import BINARY, COULD_NOT_RUN, MISUSE, SMALL, epochs, good, refusal, weight_hash

# Kills in the test of kills; set it to 200 by hand.
KILLS = int(os.environ.get("MIRRORSCALE_TEST_KILLS", "6"))

# The same without its number of epochs.
ANY_LENGTH = [a for i, a in enumerate(SMALL) if a != "--epochs" and SMALL[i - 1] != "--epochs"]


def newest(folder: pathlib.Path) -> pathlib.Path:
    return sorted(folder.glob("step-*.ckpt"))[-1]


def start(*arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [BINARY, *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_training_and_it_goes_on_elsewhere(tmp_path, sign):
    endless = start(
        *ANY_LENGTH, "--epochs", 100000, "--checkpoint", tmp_path, "--save-every", 7, "--devices", 2
    )
    while not list(tmp_path.glob("step-*.ckpt")):
        assert endless.poll() is None, endless.communicate()
        time.sleep(0.01)
    endless.send_signal(sign)
    output, errors = endless.communicate(timeout=60)
    assert (endless.returncode, errors) == (128 + sign, ""), (output, errors)
    assert f"stopped by signal {sign.value} after" in output
    done = int(re.search(r"after (\d+) steps", output)[1])
    assert newest(tmp_path).name == f"step-{done:09}.ckpt"
    until = done // 5 + 2  # 200 rows in batches of 48: 5 steps an epoch
    resumed = good(
        *ANY_LENGTH, "--epochs", until, "--checkpoint", tmp_path, "--resume", "--devices", 3
    )
    assert f"{done} steps done" in resumed
    whole = good(*ANY_LENGTH, "--epochs", until)
    assert weight_hash(resumed) == weight_hash(whole)
    assert epochs(resumed) == epochs(whole)[-len(epochs(resumed)) :]


def test_kills_in_the_middle_of_saving_leave_what_can_be_gone_on_with(tmp_path):
    randoms = random.Random(7)
    steps = 0
    for kill in range(KILLS):
        process = start(
            *ANY_LENGTH,
            *("--epochs", 100000, "--checkpoint", tmp_path, "--save-every", 1, "--keep-last", 2),
            *("--resume", "--devices", 1 + kill % 4),
        )
        first = newest(tmp_path) if list(tmp_path.glob("step-*.ckpt")) else None
        while not list(tmp_path.glob("step-*.ckpt")) or newest(tmp_path) == first:
            assert process.poll() is None, process.communicate()  # it could not go on
            time.sleep(0.002)
        time.sleep(randoms.uniform(0, 0.05))
        process.kill()
        process.communicate()
        now = int(newest(tmp_path).stem[len("step-") :])
        assert now > steps
        steps = now
    until = steps // 5 + 1
    resumed = good(*ANY_LENGTH, "--epochs", until, "--checkpoint", tmp_path, "--resume")
    assert weight_hash(resumed) == weight_hash(good(*ANY_LENGTH, "--epochs", until))
    assert not list(tmp_path.glob("*.part"))


def test_damage_is_refused_with_the_part_and_the_way_out(tmp_path):
    arguments = [*SMALL, "--checkpoint", tmp_path]
    assert "no checkpoint in" in good(*arguments, "--resume")
    error = refusal(MISUSE, *arguments)
    assert "step-000000010.ckpt is there from another training" in error and "--resume" in error
    file = newest(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    error = refusal(COULD_NOT_RUN, *arguments, "--resume")
    assert file.name in error and "part 'slots/" in error and "cut short" in error, error
    assert "remove it to go on from" in error and "step-000000005.ckpt" in error, error
    file.write_bytes(b"PK\x03\x04" + whole[4:])
    assert "part 'front'" in refusal(COULD_NOT_RUN, *arguments, "--resume")
    file.write_bytes(whole)
    error = refusal(COULD_NOT_RUN, *arguments, "--resume", "--seed", 2)
    assert "another training" in error, error
    file.unlink()
    assert weight_hash(good(*arguments, "--resume")) == weight_hash(good(*SMALL))


def test_options_that_do_not_go_together(tmp_path):
    assert "--checkpoint" in refusal(MISUSE, *SMALL, "--resume")
    assert "--checkpoint" in refusal(MISUSE, *SMALL, "--save-every", 3)
    (tmp_path / "file").write_text("")
    error = refusal(COULD_NOT_RUN, *SMALL, "--checkpoint", tmp_path / "file")
    assert "file: no folder" in error, error
    error = refusal(MISUSE, *SMALL, "--checkpoint", tmp_path / "c", "--keep-best", "val_f1")
    assert "val_f1" in error and "val_accuracy" in error, error


@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_weights_go_out_and_come_in(tmp_path, ending):
    numpy = pytest.importorskip("numpy")
    file = tmp_path / f"weights.{ending}"
    trained = good(
        *SMALL, "--export-weights", file, "--checkpoint", tmp_path / "c", "--keep-best", "val_loss"
    )
    assert (tmp_path / "c" / "best.ckpt").exists()
    if ending == "npz":
        with numpy.load(file) as arrays:
            assert all(arrays[name].dtype == numpy.float32 for name in arrays.files)
            numpy.savez(file, **{name: arrays[name].astype(numpy.float64) for name in arrays.files})
    again = good(
        *SMALL, "--initial-weights", file, "--export-weights", tmp_path / f"second.{ending}"
    )
    assert f"weights of {file}" in again
    assert weight_hash(again) != weight_hash(trained)
    error = refusal(
        COULD_NOT_RUN, *[a.replace("mlp-small", "mlp") for a in SMALL], "--initial-weights", file
    )
    assert file.name in error and "shape" in error, error
    assert "weights.h5" in refusal(MISUSE, *SMALL, "--export-weights", tmp_path / "weights.h5")
