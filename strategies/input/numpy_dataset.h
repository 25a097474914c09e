#pragma once
#include "strategies/input/dataset.h"

#include <filesystem>

namespace mirrorscale::strategies {

// People's own arrays. x: [rows, ...]; uint8 is taken for pixels and divided by 255, everything else keeps
// its value (as float32). y: [rows] of integers or bools are labels 0 .. classes - 1; [rows] or [rows, ...]
// of floating numbers are targets. `classes` 0 means the largest label + 1. DataError as in npy.h and
// array_dataset.h.

/// Two .npy files. An x of float32 or uint8 is mapped, not read: it may be larger than memory. It is looked
/// through once for numbers that are not finite.
DatasetPtr load_npy_pair(const std::filesystem::path& x, const std::filesystem::path& y, int classes = 0);
/// Rows to predict: no labels, no targets.
DatasetPtr load_npy_rows(const std::filesystem::path& x);
/// One .npz file: x and y, or x_train and y_train (as Keras names them); optionally sample weights w, or
/// w_train; and optionally x_test, y_test, w_test, which must fit them. `test` is null when there is none.
SplitDataset load_npz(const std::filesystem::path& file, int classes = 0);

}  // namespace mirrorscale::strategies
