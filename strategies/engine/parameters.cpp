#include "strategies/engine/parameters.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

std::size_t padded_size(const ParameterSpec& spec) {
  if (spec.rows > 0) return kernels::weight_size(spec.stored_rows(), spec.columns);
  const auto columns = static_cast<std::size_t>(spec.columns);
  return (columns + kernels::kBlock - 1) / kernels::kBlock * kernels::kBlock;
}

/// Calls visit(row-major index, offset in the slice) for every real element.
template <class Visit>
void for_each_element(const ParameterSpec& spec, kernels::Layout layout, Visit visit) {
  const int rows = std::max(1, spec.rows);
  const std::size_t panel_stride =
      spec.rows > 0 ? kernels::weight_stride(spec.stored_rows()) : kernels::kPanel;
  const int row_stride = layout == kernels::Layout::kRows ? kernels::padded(spec.columns) : kernels::kPanel;
  std::size_t index = 0;
  for (int tap = 0; tap < spec.taps; ++tap) {
    for (int r = 0; r < rows; ++r) {
      const int row = tap * kernels::padded(rows) + r;
      for (int c = 0; c < spec.columns; ++c, ++index)
        visit(index, kernels::element(row, c, panel_stride, row_stride));
    }
  }
}

}  // namespace

std::vector<int> ParameterSpec::shown_shape() const {
  if (!shape.empty()) return shape;
  return rows > 0 ? std::vector<int>{rows, columns} : std::vector<int>{columns};
}

int ParameterLayout::add(ParameterSpec spec) {
  if (spec.rows < 0 || spec.columns < 1 || spec.taps < 1) {
    throw std::invalid_argument("[parameters] '" + spec.name + "' has shape " +
                                shape_text(spec.shown_shape()) + "; sizes must be at least 1");
  }
  for (const Slice& slice : slices_) {
    if (slice.spec.name == spec.name) {
      throw std::invalid_argument("[parameters] two parameters are named '" + spec.name +
                                  "'; name the layers apart");
    }
  }
  const std::size_t size = padded_size(spec);
  slices_.push_back({std::move(spec), size_, size, transposed_size_});
  size_ += size;
  const ParameterSpec& added = slices_.back().spec;
  if (added.transposed) transposed_size_ += kernels::weight_size(added.columns, added.stored_rows());
  return static_cast<int>(slices_.size()) - 1;
}

std::size_t ParameterLayout::count() const {
  std::size_t sum = 0;
  for (const Slice& slice : slices_) sum += slice.spec.count();
  return sum;
}

kernels::Matrix ParameterLayout::matrix(int index, float* arena, kernels::Layout layout) const {
  const Slice& s = (*this)[index];
  return kernels::weight_view(layout, arena + s.offset, s.spec.stored_rows(), s.spec.columns);
}

kernels::ConstMatrix ParameterLayout::matrix(int index, const float* arena, kernels::Layout layout) const {
  const Slice& s = (*this)[index];
  return kernels::weight_view(layout, arena + s.offset, s.spec.stored_rows(), s.spec.columns);
}

kernels::Matrix ParameterLayout::transposed(int index, float* arena, kernels::Layout layout) const {
  const Slice& s = (*this)[index];
  return kernels::weight_view(layout, arena + s.transposed_offset, s.spec.columns, s.spec.stored_rows());
}

kernels::ConstMatrix ParameterLayout::transposed(int index, const float* arena,
                                                 kernels::Layout layout) const {
  const Slice& s = (*this)[index];
  return kernels::weight_view(layout, arena + s.transposed_offset, s.spec.columns, s.spec.stored_rows());
}

std::vector<NamedArray> ParameterLayout::pack(std::span<const float> arena, kernels::Layout layout) const {
  std::vector<NamedArray> arrays;
  for (const Slice& slice : slices_) {
    NamedArray array{slice.spec.name, slice.spec.shown_shape(), std::vector<float>(slice.spec.count())};
    for_each_element(slice.spec, layout,
                     [&](std::size_t i, std::size_t at) { array.values[i] = arena[slice.offset + at]; });
    arrays.push_back(std::move(array));
  }
  return arrays;
}

void ParameterLayout::unpack(std::span<const NamedArray> arrays, std::span<float> arena,
                             kernels::Layout layout) const {
  if (arrays.size() != slices_.size()) {
    throw std::invalid_argument("[set_weights] got " + std::to_string(arrays.size()) +
                                " arrays; the model has " + std::to_string(slices_.size()) + " parameters");
  }
  for (std::size_t p = 0; p < slices_.size(); ++p) {
    const auto expected = slices_[p].spec.shown_shape();
    if (arrays[p].shape != expected || arrays[p].values.size() != slices_[p].spec.count()) {
      throw std::invalid_argument("[set_weights] array " + std::to_string(p) + " has shape " +
                                  shape_text(arrays[p].shape) + " and " +
                                  std::to_string(arrays[p].values.size()) + " values; parameter '" +
                                  slices_[p].spec.name + "' is " + shape_text(expected));
    }
  }
  for (std::size_t p = 0; p < slices_.size(); ++p) {
    for_each_element(slices_[p].spec, layout, [&](std::size_t i, std::size_t at) {
      arena[slices_[p].offset + at] = arrays[p].values[i];
    });
  }
}

}  // namespace mirrorscale::strategies
