#include "strategies/gradient_clip.h"

#include "strategies/slice_update.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace mirrorscale::strategies {
namespace {

using kernels::kBlock;
using kernels::kPanel;

/// A node without a right child is its left child.
float tree_sum_of(std::span<const float> values) {
  if (values.empty()) return 0;
  if (values.size() == 1) return values[0];
  const std::size_t left = std::bit_ceil(values.size()) / 2;
  return tree_sum_of(values.first(left)) + tree_sum_of(values.subspan(left));
}

/// The slice as a matrix of whole blocks; a vector is 16 columns wide.
kernels::ConstMatrix blocks_view(const ParameterLayout::Slice& slice, const float* arena,
                                 kernels::Layout layout) {
  const ParameterSpec& spec = slice.spec;
  if (spec.rows > 0)
    return kernels::weight_view(layout, arena + slice.offset, spec.stored_rows(), spec.columns);
  return {arena + slice.offset, static_cast<int>(slice.size / kPanel), kPanel, slice.size, kPanel};
}

float factor_of(float squares, double limit) {
  const double norm = std::sqrt(static_cast<double>(squares));
  return norm > limit ? static_cast<float>(limit / norm) : 1.0F;
}

}  // namespace

std::size_t blocks_of(const ParameterLayout& parameters) {
  return parameters.size() / kBlock;
}

void squares_of_blocks(Replica& replica, const float* gradient, std::size_t first, std::size_t blocks,
                       float* squares) {
  for (const auto& slice : replica.network().parameters().slices()) {
    const std::size_t begin = slice.offset / kBlock, end = begin + slice.size / kBlock;
    const std::size_t from = std::max(first, begin), to = std::min(first + blocks, end);
    if (from >= to) continue;
    replica.backend().squares_of_blocks(blocks_view(slice, gradient, replica.layout()), from - begin,
                                        to - from, squares + (from - first));
  }
}

void clip_factors(const ParameterLayout& parameters, std::span<const float> squares, const Clipping& clipping,
                  std::span<float> factors) {
  const auto& slices = parameters.slices();
  for (std::size_t p = 0; p < slices.size(); ++p)
    factors[p] = tree_sum_of(squares.subspan(slices[p].offset / kBlock, slices[p].size / kBlock));
  if (clipping.kind == Clipping::Kind::kGlobalNorm) {
    const float factor = factor_of(tree_sum_of(factors), clipping.limit);
    std::fill(factors.begin(), factors.end(), factor);
  } else {
    for (float& factor : factors) factor = factor_of(factor, clipping.limit);
  }
}

void GradientClip::make(Replica& replica, const Clipping& clipping) {
  if (!clipping.active()) return;
  const ParameterLayout& parameters = replica.network().parameters();
  factors_.assign(parameters.slices().size(), 1.0F);
  if (!clipping.wants_norms()) return;
  squares_.resize(blocks_of(parameters));
  device_squares_ = replica.backend().make_buffer(squares_.size());
}

std::span<const float> GradientClip::apply(Replica& replica, const Clipping& clipping, float scale,
                                           float* gradient) {
  kernels::Backend& backend = replica.backend();
  const ParameterLayout& parameters = replica.network().parameters();
  for (const auto& slice : parameters.slices()) {
    backend.effective_gradient(slice.size, terms_of(slice.spec, scale), clipping.element_limit(),
                               gradient + slice.offset, replica.weights() + slice.offset,
                               gradient + slice.offset);
  }
  if (clipping.wants_norms()) {
    squares_of_blocks(replica, gradient, 0, squares_.size(), device_squares_.get());
    backend.download(device_squares_.get(), squares_.size(), squares_.data());
    clip_factors(parameters, squares_, clipping, factors_);
  }
  return factors_;
}

}  // namespace mirrorscale::strategies
