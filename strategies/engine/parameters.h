#pragma once
#include "kernels/matrix.h"
#include "strategies/engine/initializer.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// A weight penalty added to the loss once: l1 * sum |w| + l2 * sum w^2.
struct Penalty {
  float l1 = 0, l2 = 0;
  bool active() const { return l1 != 0 || l2 != 0; }
};

/// What a parameter does in its layer: rules of optimizers may spare some.
enum class Role { kWeight, kBias, kNormalisation };

/// One named parameter of a model: a matrix [rows, columns], or a vector [columns] when `rows` is 0; or
/// `taps` matrices, which lie one after the other, each with its rows rounded up to whole panels.
struct ParameterSpec {
  std::string name;
  int rows = 0;
  int columns = 0;
  Initializer initializer = {};
  Penalty penalty = {};
  bool decayed = true;  // takes part in weight decay, and in the rates by array of LARS and LAMB
  /// A copy of its transpose is kept for backward: of each tap, [columns, rows].
  bool transposed = false;
  int taps = 1;
  /// How it is shown, where that is another than {rows, columns} or {columns}: dimensions of the same
  /// product.
  std::vector<int> shape = {};
  /// Of the initial values, where they are others than `rows` and `columns`.
  int fan_in = 0, fan_out = 0;
  Role role = Role::kWeight;

  std::size_t count() const {
    return static_cast<std::size_t>(taps) * static_cast<std::size_t>(rows == 0 ? 1 : rows) *
           static_cast<std::size_t>(columns);
  }
  /// Rows of the matrix as it is stored: of all taps, padding between them included.
  int stored_rows() const { return taps == 1 ? rows : taps * kernels::padded(rows); }
  std::vector<int> shown_shape() const;
};

/// "[3, 5]". `shape`: whole numbers.
template <class Shape>
std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

/// Row-major values of a parameter or slot, with its name and shape ([columns] for a vector).
struct NamedArray {
  std::string name;
  std::vector<int> shape;
  std::vector<float> values;
};

/// Where the parameters lie in a flat arena: slices that start and end at block boundaries (kernels::kBlock
/// floats). Padding inside a slice is zero in weights, gradients and slots, always.
class ParameterLayout {
 public:
  struct Slice {
    ParameterSpec spec;
    std::size_t offset = 0;  // floats from the start of the arena
    std::size_t size = 0;    // floats, padding included
    /// Where its transposed copy lies, in an arena of such copies: a matrix [columns, stored_rows()].
    std::size_t transposed_offset = 0;
  };

  /// Returns the parameter's number. Throws std::invalid_argument when the name is taken or a size is < 1.
  int add(ParameterSpec spec);
  const std::vector<Slice>& slices() const { return slices_; }
  const Slice& operator[](int index) const { return slices_[static_cast<std::size_t>(index)]; }
  /// Floats of an arena, padding included.
  std::size_t size() const { return size_; }
  /// Floats of the arena of transposed copies.
  std::size_t transposed_size() const { return transposed_size_; }
  /// Parameters without padding.
  std::size_t count() const;

  /// The slice `index` of an arena as a matrix [stored_rows(), columns]. Only where spec.rows > 0.
  kernels::Matrix matrix(int index, float* arena, kernels::Layout layout = kernels::Layout::kPanels) const;
  kernels::ConstMatrix matrix(int index, const float* arena,
                              kernels::Layout layout = kernels::Layout::kPanels) const;
  /// Its transposed copy, a matrix [columns, stored_rows()].
  kernels::Matrix transposed(int index, float* arena, kernels::Layout layout) const;
  kernels::ConstMatrix transposed(int index, const float* arena, kernels::Layout layout) const;

  /// Row-major copies of every slice of an arena in host memory, and the reverse. unpack throws
  /// std::invalid_argument when names or shapes differ, quoting both.
  std::vector<NamedArray> pack(std::span<const float> arena,
                               kernels::Layout layout = kernels::Layout::kPanels) const;
  void unpack(std::span<const NamedArray> arrays, std::span<float> arena,
              kernels::Layout layout = kernels::Layout::kPanels) const;

 private:
  std::vector<Slice> slices_;
  std::size_t size_ = 0, transposed_size_ = 0;
};

}  // namespace mirrorscale::strategies
