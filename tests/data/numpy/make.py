"""Writes the small arrays in this folder with NumPy itself, so that our reader is tested on NumPy's own bytes."""

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FLOATS = np.arange(6, dtype="<f4").reshape(2, 3) / 4
LABELS = np.array([2, 0], dtype="<i8")


def save_version(name: str, array: np.ndarray, version: tuple[int, int]) -> None:
    with open(HERE / name, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


for descr in ("<f4", "<f8", "|u1", "<i4", "<i8"):
    np.save(HERE / f"{descr[1:]}.npy", np.arange(6).reshape(2, 3).astype(descr))
np.save(HERE / "b1.npy", np.array([True, False]))
save_version("f4_version2.npy", FLOATS, (2, 0))
save_version("f4_version3.npy", FLOATS, (3, 0))
np.save(HERE / "scalar.npy", np.float32(2.5))
np.save(HERE / "labels.npy", LABELS)
np.save(HERE / "refused_fortran.npy", np.asfortranarray(FLOATS))
np.save(HERE / "refused_big_endian.npy", FLOATS.astype(">f4"))
np.save(HERE / "refused_half.npy", FLOATS.astype("<f2"))
np.save(HERE / "refused_text.npy", np.array(["a", "b"]))
np.save(HERE / "refused_record.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))

np.savez(HERE / "plain.npz", x=FLOATS, y=LABELS)
np.savez_compressed(
    HERE / "keras.npz",
    x_train=np.arange(48, dtype=np.uint8).reshape(3, 4, 4),
    y_train=np.array([1, 0, 2], dtype=np.uint8),
    x_test=np.full((2, 4, 4), 255, dtype=np.uint8),
    y_test=np.array([1, 1], dtype=np.uint8),
)
np.savez_compressed(
    HERE / "weighted_targets.npz",
    x=FLOATS,
    y=np.array([[1.5, 2], [3, 4]]),
    w=np.array([0.5, 2.0]),
    notes=np.array(["not read"], dtype=object),
)


def save_test_rows(name: str, **test: np.ndarray) -> None:
    """Training rows as in plain.npz, and test rows that do not fit them."""
    np.savez_compressed(HERE / name, x=FLOATS, y=LABELS, **test)


save_test_rows("refused_test_width.npz", x_test=FLOATS[:, :2], y_test=LABELS)
save_test_rows("refused_test_targets.npz", x_test=FLOATS, y_test=FLOATS)
save_test_rows("refused_test_label.npz", x_test=FLOATS, y_test=LABELS + 1)
save_test_rows("refused_test_rows.npz", x_test=FLOATS, y_test=LABELS[:1])
save_test_rows("refused_test_alone.npz", x_test=FLOATS)
