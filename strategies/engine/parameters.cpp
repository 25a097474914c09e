#include "strategies/engine/parameters.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

std::size_t padded_size(const ParameterSpec& spec) {
  if (spec.rows > 0) return kernels::weight_size(spec.rows, spec.columns);
  const auto columns = static_cast<std::size_t>(spec.columns);
  return (columns + kernels::kBlock - 1) / kernels::kBlock * kernels::kBlock;
}

std::vector<int> shape_of(const ParameterSpec& spec) {
  return spec.rows > 0 ? std::vector<int>{spec.rows, spec.columns} : std::vector<int>{spec.columns};
}

std::string to_text(const std::vector<int>& shape) {
  std::string text;
  for (const int n : shape) text += (text.empty() ? "" : ", ") + std::to_string(n);
  return "[" + text + "]";
}

/// Calls visit(row-major index, offset in the slice) for every real element.
template <class Visit>
void for_each_element(const ParameterSpec& spec, kernels::Layout layout, Visit visit) {
  const int rows = std::max(1, spec.rows);
  const std::size_t panel_stride = spec.rows > 0 ? kernels::weight_stride(spec.rows) : kernels::kPanel;
  const int row_stride = layout == kernels::Layout::kRows ? kernels::padded(spec.columns) : kernels::kPanel;
  std::size_t index = 0;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < spec.columns; ++c, ++index) {
      visit(index, kernels::element(r, c, panel_stride, row_stride));
    }
  }
}

}  // namespace

int ParameterLayout::add(ParameterSpec spec) {
  if (spec.rows < 0 || spec.columns < 1) {
    throw std::invalid_argument("[parameters] '" + spec.name + "' has shape " + to_text(shape_of(spec)) +
                                "; sizes must be at least 1");
  }
  for (const Slice& slice : slices_) {
    if (slice.spec.name == spec.name) {
      throw std::invalid_argument("[parameters] two parameters are named '" + spec.name +
                                  "'; name the layers apart");
    }
  }
  const std::size_t size = padded_size(spec);
  slices_.push_back({std::move(spec), size_, size});
  size_ += size;
  return static_cast<int>(slices_.size()) - 1;
}

std::size_t ParameterLayout::count() const {
  std::size_t sum = 0;
  for (const Slice& slice : slices_) sum += slice.spec.count();
  return sum;
}

kernels::Matrix ParameterLayout::matrix(int index, float* arena, kernels::Layout layout) const {
  const Slice& s = (*this)[index];
  return kernels::weight_view(layout, arena + s.offset, s.spec.rows, s.spec.columns);
}

kernels::ConstMatrix ParameterLayout::matrix(int index, const float* arena, kernels::Layout layout) const {
  const Slice& s = (*this)[index];
  return kernels::weight_view(layout, arena + s.offset, s.spec.rows, s.spec.columns);
}

std::vector<NamedArray> ParameterLayout::pack(std::span<const float> arena, kernels::Layout layout) const {
  std::vector<NamedArray> arrays;
  for (const Slice& slice : slices_) {
    NamedArray array{slice.spec.name, shape_of(slice.spec), std::vector<float>(slice.spec.count())};
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
    const auto expected = shape_of(slices_[p].spec);
    if (arrays[p].shape != expected || arrays[p].values.size() != slices_[p].spec.count()) {
      throw std::invalid_argument("[set_weights] array " + std::to_string(p) + " has shape " +
                                  to_text(arrays[p].shape) + " and " +
                                  std::to_string(arrays[p].values.size()) + " values; parameter '" +
                                  slices_[p].spec.name + "' is " + to_text(expected));
    }
  }
  for (std::size_t p = 0; p < slices_.size(); ++p) {
    for_each_element(slices_[p].spec, layout, [&](std::size_t i, std::size_t at) {
      arena[slices_[p].offset + at] = arrays[p].values[i];
    });
  }
}

}  // namespace mirrorscale::strategies
