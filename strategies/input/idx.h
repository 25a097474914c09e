#pragma once
#include "strategies/input/dataset.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// An array in the IDX format (the one of MNIST): a type, a shape, and big-endian values in row-major order.
struct IdxArray {
  enum class Type : std::uint8_t {
    kUint8 = 0x08,
    kInt8 = 0x09,
    kInt16 = 0x0B,
    kInt32 = 0x0C,
    kFloat = 0x0D,
    kDouble = 0x0E
  };
  Type type = Type::kUint8;
  std::vector<std::int64_t> shape;
  std::vector<std::uint8_t> bytes;  // as in the file
};

// Everything below throws DataError for a file that is missing, truncated, too long, damaged or of another
// format, and for files that do not fit each other.

/// A plain or a gzip-compressed IDX file.
IdxArray read_idx(const std::filesystem::path& file);

/// Images [rows, ...] and labels [rows]. `classes` 0 means the largest label + 1.
DatasetPtr load_idx_pair(const std::string& name, const std::filesystem::path& images,
                         const std::filesystem::path& labels, int classes = 0);

/// train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and t10k-labels-idx1-ubyte in
/// `folder`, each plain or with .gz; the data set is named after the folder.
SplitDataset load_idx(const std::filesystem::path& folder);

/// The folder with Fashion-MNIST: $MIRRORSCALE_DATA or its subfolder fashion-mnist when that variable is set,
/// else where Debian's dataset-fashion-mnist puts it. Empty when there are no training images.
std::optional<std::filesystem::path> find_fashion_mnist();

}  // namespace mirrorscale::strategies
