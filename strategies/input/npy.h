#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// An array in NumPy's .npy format, little-endian values in C order.
struct NpyArray {
  enum class Type { kFloat32, kFloat64, kUint8, kInt32, kInt64, kBool };
  Type type = Type::kFloat32;
  std::vector<std::int64_t> shape;  // empty: a single number
  std::vector<std::byte> bytes;

  bool is_floating() const { return type == Type::kFloat32 || type == Type::kFloat64; }
  std::size_t values() const;
  /// Value `index` in C order; exact but for int64 beyond 2^53.
  double value(std::size_t index) const;
  std::string shape_text() const;  // "[3, 4]"
};

/// The array in `file` (versions 1 to 3 of the format). Throws DataError, text beginning with `source`, for
/// anything else: another element type (named), Fortran order, missing or surplus bytes.
NpyArray parse_npy(std::vector<std::byte> file, const std::string& source);
/// The same of an array whose values stay where they are: `bytes` of the result are empty, and `values` are
/// the end of `file`.
struct NpyView {
  NpyArray array;
  std::span<const std::byte> values;
};
NpyView view_npy(std::span<const std::byte> file, const std::string& source);
NpyArray read_npy(const std::filesystem::path& file);

/// What numpy.load reads: as bytes, or written to a file, which appears whole or not at all. T: float,
/// double, std::uint8_t, std::int32_t, std::int64_t. Throws std::invalid_argument when `shape` does not fit
/// `values`, std::runtime_error when the file cannot be written.
template <class T>
std::string npy_bytes(const std::vector<std::int64_t>& shape, std::span<const T> values);
template <class T>
void write_npy(const std::filesystem::path& file, const std::vector<std::int64_t>& shape,
               std::span<const T> values);

}  // namespace mirrorscale::strategies
