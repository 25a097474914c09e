#pragma once
#include <cstddef>

namespace mirrorscale::kernels {

/// Columns of a panel: one AVX-512 vector, two AVX2 vectors, one cache line of floats.
inline constexpr int kPanel = 16;
/// Floats of a 16 x 16 block: the unit of parameter slices, of transposition and of the reduction.
inline constexpr int kBlock = kPanel * kPanel;

/// Panels that hold `columns` columns; the last one may be partly used.
constexpr int panels(int columns) {
  return (columns + kPanel - 1) / kPanel;
}

/// How the elements of a matrix lie in memory.
enum class Layout {
  kPanels,  // panels of 16 columns: what the backends that run on the host work on
  kRows,    // row after row, each padded to a multiple of 16: what the CUDA backend works on
};

/// Where element (row, column) of a matrix lies.
constexpr std::size_t element(int row, int column, std::size_t panel_stride, int row_stride) {
  const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
  if (row_stride != kPanel) return r * static_cast<std::size_t>(row_stride) + c;
  return c / kPanel * panel_stride + r * kPanel + c % kPanel;
}

/// A borrowed matrix [rows, columns], in panels of 16 columns or row after row:
///   kPanels  row_stride = 16: element (r, c) lies at data[(c / 16) * panel_stride + r * 16 + c % 16]
///   kRows    row_stride >= columns: element (r, c) lies at data[r * row_stride + c]
/// (With up to 16 columns both are the same.) Weights [in, out], activations [batch, features] and gradients
/// of a backend all have its layout, so that a training step packs nothing. Lanes past `columns` in the last
/// panel, or row, are padding: they may be read, may be overwritten with any finite value, and never take
/// part in a result.
template <class T>
struct BasicMatrix {
  T* data = nullptr;
  int rows = 0;
  int columns = 0;
  std::size_t panel_stride = 0;  // elements from one panel to the next; of no meaning in kRows
  int row_stride = kPanel;       // elements from one row to the next

  T& at(int row, int column) const { return data[element(row, column, panel_stride, row_stride)]; }
  /// Rows first .. first + count - 1.
  BasicMatrix slice_rows(int first, int count) const {
    return {data + static_cast<std::ptrdiff_t>(first) * row_stride, count, columns, panel_stride, row_stride};
  }
  explicit operator bool() const { return data != nullptr; }
  operator BasicMatrix<const T>() const {
    return {data, rows, columns, panel_stride, row_stride};
  }  // NOLINT: a view of it
};

template <class T>
struct BasicMatrix<const T> {
  const T* data = nullptr;
  int rows = 0;
  int columns = 0;
  std::size_t panel_stride = 0;
  int row_stride = kPanel;

  const T& at(int row, int column) const { return data[element(row, column, panel_stride, row_stride)]; }
  BasicMatrix slice_rows(int first, int count) const {
    return {data + static_cast<std::ptrdiff_t>(first) * row_stride, count, columns, panel_stride, row_stride};
  }
  explicit operator bool() const { return data != nullptr; }
};

using Matrix = BasicMatrix<float>;
using ConstMatrix = BasicMatrix<const float>;

/// One number per row of a batch, `stride` elements apart: a column of a statistics panel.
struct Column {
  float* data = nullptr;
  std::size_t stride = kPanel;

  float& operator[](int row) const { return data[static_cast<std::size_t>(row) * stride]; }
  explicit operator bool() const { return data != nullptr; }
};

/// Elements from one activation panel to the next. An odd number of cache lines: with a power of two the
/// panels of one row would fall into a few cache sets only.
constexpr std::size_t activation_stride(int rows) {
  return static_cast<std::size_t>((rows + 2) | 1) * static_cast<std::size_t>(kPanel);
}
/// Elements of an activation matrix [rows, columns].
constexpr std::size_t activation_size(int rows, int columns) {
  return activation_stride(rows) * static_cast<std::size_t>(panels(columns));
}
/// Elements from one row to the next in kRows.
constexpr int padded(int columns) {
  return panels(columns) * kPanel;
}
/// Elements from one weight panel to the next: the rows rounded up to whole blocks.
constexpr std::size_t weight_stride(int rows) {
  return static_cast<std::size_t>(panels(rows)) * kBlock;
}
/// Elements of a weight matrix [rows, columns]; a multiple of kBlock.
constexpr std::size_t weight_size(int rows, int columns) {
  return weight_stride(rows) * static_cast<std::size_t>(panels(columns));
}

/// `data` as the first `rows` rows of an activation matrix that has room for `capacity` rows
/// (activation_size(capacity, columns) elements).
template <class T>
BasicMatrix<T> activation_view(Layout layout, T* data, int rows, int columns, int capacity) {
  return {data, rows, columns, activation_stride(capacity),
          layout == Layout::kRows ? padded(columns) : kPanel};
}
/// `data` as a weight matrix (weight_size(rows, columns) elements).
template <class T>
BasicMatrix<T> weight_view(Layout layout, T* data, int rows, int columns) {
  return {data, rows, columns, weight_stride(rows), layout == Layout::kRows ? padded(columns) : kPanel};
}

}  // namespace mirrorscale::kernels
