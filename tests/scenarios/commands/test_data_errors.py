"""Data that can't be used: exit status 3, one line that names the file, nothing written."""

import gzip
import struct

import pytest
from command_line import COULD_NOT_RUN, refusal

TRAIN = ["train", "--workload", "mlp-small", "--epochs", 1, "--data"]
NAMES = {
    "train-images-idx3-ubyte": ("images", 8),
    "train-labels-idx1-ubyte": ("labels", 8),
    "t10k-images-idx3-ubyte": ("images", 4),
    "t10k-labels-idx1-ubyte": ("labels", 4),
}


def idx(kind: str, rows: int) -> bytes:
    if kind == "labels":
        return struct.pack(">BBBBI", 0, 0, 8, 1, rows) + bytes(i % 3 for i in range(rows))
    return struct.pack(">BBBBIII", 0, 0, 8, 3, rows, 2, 2) + bytes(range(4 * rows))


@pytest.fixture
def folder(tmp_path):
    for name, (kind, rows) in NAMES.items():
        (tmp_path / name).write_bytes(idx(kind, rows))
    return tmp_path


def told(folder, name, data: bytes) -> str:
    (folder / name).write_bytes(data)
    message = refusal(COULD_NOT_RUN, *TRAIN, folder)
    assert name in message, message
    return message


def test_a_truncated_file(folder):
    told(folder, "train-images-idx3-ubyte", idx("images", 8)[:-5])


def test_a_file_that_is_too_long(folder):
    told(folder, "t10k-labels-idx1-ubyte", idx("labels", 4) + b"\0")


def test_a_wrong_magic_number(folder):
    told(folder, "train-labels-idx1-ubyte", b"\1\2\3\4" + bytes(12))


def test_an_empty_file(folder):
    told(folder, "train-images-idx3-ubyte", b"")


def test_images_without_as_many_labels(folder):
    told(folder, "train-labels-idx1-ubyte", idx("labels", 7))


def test_a_damaged_gzip_file(folder):
    packed = bytearray(gzip.compress(idx("images", 8), mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    (folder / "train-images-idx3-ubyte").unlink()
    told(folder, "train-images-idx3-ubyte.gz", bytes(packed))


def test_a_missing_folder(tmp_path):
    assert str(tmp_path / "none") in refusal(COULD_NOT_RUN, *TRAIN, tmp_path / "none")


def test_no_fashion_mnist(tmp_path):
    message = refusal(COULD_NOT_RUN, "train", MIRRORSCALE_DATA=str(tmp_path))
    assert "apt-get install dataset-fashion-mnist" in message


def test_numbers_that_are_none(tmp_path):
    numpy = pytest.importorskip("numpy")
    x = numpy.zeros((6, 3), "float32")
    x[4, 1] = numpy.nan
    numpy.savez(tmp_path / "bad.npz", x_train=x, y_train=numpy.zeros(6, "int64"))
    message = refusal(COULD_NOT_RUN, *TRAIN, tmp_path / "bad.npz")
    assert "bad.npz" in message and "row 4, column 1" in message


def test_a_label_below_zero(tmp_path):
    numpy = pytest.importorskip("numpy")
    numpy.savez(
        tmp_path / "bad.npz", x_train=numpy.zeros((6, 3), "float32"), y_train=numpy.arange(6) - 1
    )
    assert "bad.npz" in refusal(COULD_NOT_RUN, *TRAIN, tmp_path / "bad.npz")


def test_predictions_that_can_not_be_written(tmp_path):
    (tmp_path / "file").touch()
    target = tmp_path / "file" / "predictions.npy"
    arguments = ["--limit-rows", 64, "--limit-test-rows", 16, "--predict", target]
    assert str(target.parent) in refusal(COULD_NOT_RUN, *TRAIN, "clusters", *arguments)


def test_an_instruction_set_that_is_not_there():
    message = refusal(COULD_NOT_RUN, *TRAIN, "clusters", MIRRORSCALE_CPU_TARGET="AVX9")
    assert "MIRRORSCALE_CPU_TARGET" in message and "AVX9" in message
