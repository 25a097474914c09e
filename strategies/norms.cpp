#include "strategies/norms.h"

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

void squares_of_blocks(Replica& replica, const float* arena, std::size_t first, std::size_t blocks,
                       float* squares) {
  for (const auto& slice : replica.network().parameters().slices()) {
    const std::size_t begin = slice.offset / kBlock, end = begin + slice.size / kBlock;
    const std::size_t from = std::max(first, begin), to = std::min(first + blocks, end);
    if (from >= to) continue;
    replica.backend().squares_of_blocks(blocks_view(slice, arena, replica.layout()), from - begin, to - from,
                                        squares + (from - first));
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

void trust_ratios(const ParameterLayout& parameters, const Optimizer& optimizer,
                  std::span<const float> weight_squares, std::span<const float> direction_squares,
                  std::span<float> ratios) {
  for (std::size_t p = 0; p < parameters.slices().size(); ++p) {
    const ParameterLayout::Slice& slice = parameters.slices()[p];
    ratios[p] = 1;
    if (!optimizer.decays(slice.spec)) continue;
    const auto norm = [&](std::span<const float> squares) {
      return std::sqrt(
          static_cast<double>(tree_sum_of(squares.subspan(slice.offset / kBlock, slice.size / kBlock))));
    };
    ratios[p] = static_cast<float>(optimizer.trust(norm(weight_squares), norm(direction_squares)));
  }
}

bool finite(std::span<const float> squares) {
  return std::all_of(squares.begin(), squares.end(), [](float x) { return std::isfinite(x); });
}

bool finite(const StepStatistics& statistics) {
  return std::isfinite(statistics[StatisticsColumns::kLoss]) &&
         std::isfinite(statistics[StatisticsColumns::kWeight]);
}

void WholeNorms::make(Replica& replica, const Optimizer& optimizer) {
  const ParameterLayout& parameters = replica.network().parameters();
  if (optimizer.clipping().active()) factors_.assign(parameters.slices().size(), 1.0F);
  if (optimizer.layerwise()) ratios_.assign(parameters.slices().size(), 1.0F);
  if (!optimizer.clipping().wants_norms() && !optimizer.layerwise()) return;
  guard(replica);
  if (optimizer.layerwise()) weight_squares_.resize(squares_.size());
}

void WholeNorms::guard(Replica& replica) {
  if (!squares_.empty()) return;
  squares_.resize(blocks_of(replica.network().parameters()));
  device_squares_ = replica.backend().make_buffer(squares_.size());
}

NonFinite WholeNorms::look(Replica& replica, const StepStatistics& statistics, const float* gradient) {
  if (!finite(statistics)) return NonFinite::kLoss;
  take_squares(replica, gradient, squares_);
  return finite(squares_) ? NonFinite::kNone : NonFinite::kGradient;
}

void WholeNorms::take_squares(Replica& replica, const float* arena, std::vector<float>& squares) {
  squares_of_blocks(replica, arena, 0, squares.size(), device_squares_.get());
  replica.backend().download(device_squares_.get(), squares.size(), squares.data());
}

std::span<const float> WholeNorms::clip(Replica& replica, const Clipping& clipping, float scale,
                                        float* gradient) {
  const ParameterLayout& parameters = replica.network().parameters();
  for (const auto& slice : parameters.slices()) {
    replica.backend().effective_gradient(slice.size, terms_of(slice.spec, scale), clipping.element_limit(),
                                         gradient + slice.offset, replica.weights() + slice.offset,
                                         gradient + slice.offset);
  }
  if (clipping.wants_norms()) {
    take_squares(replica, gradient, squares_);
    clip_factors(parameters, squares_, clipping, factors_);
  }
  return factors_;
}

std::span<const float> WholeNorms::trust(Replica& replica, const Optimizer& optimizer,
                                         const float* direction) {
  take_squares(replica, direction, squares_);
  take_squares(replica, replica.weights(), weight_squares_);
  trust_ratios(replica.network().parameters(), optimizer, weight_squares_, squares_, ratios_);
  return ratios_;
}

}  // namespace mirrorscale::strategies
