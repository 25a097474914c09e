#include "strategies/slice_update.h"

namespace mirrorscale::strategies {

std::vector<SliceTarget> slice_targets(const Network& network) {
  std::vector<SliceTarget> targets;
  for (const auto& slice : network.parameters().slices()) targets.push_back({slice});
  for (const auto& stage : network.stages()) {
    const int p = stage.layer->transposed_parameter();
    if (!stage.wants_dx || p < 0) continue;
    targets[static_cast<std::size_t>(p)].has_transposed = true;
    targets[static_cast<std::size_t>(p)].transposed_offset = stage.transposed_offset;
  }
  return targets;
}

kernels::GradientTerms terms_of(const ParameterSpec& spec, float scale) {
  return {scale, spec.penalty.l1, spec.penalty.l2};
}

void transpose_chunk(kernels::Backend& backend, const SliceTarget& target, std::size_t at, std::size_t count,
                     const float* weights, Replica& replica) {
  if (!target.has_transposed) return;
  const ParameterSpec& spec = target.slice.spec;
  const kernels::ConstMatrix w{weights + target.slice.offset, spec.rows, spec.columns,
                               kernels::weight_stride(spec.rows)};
  const kernels::Matrix wt{replica.transposed() + target.transposed_offset, spec.columns, spec.rows,
                           kernels::weight_stride(spec.columns)};
  backend.transpose(w, wt, (at - target.slice.offset) / kernels::kBlock, count / kernels::kBlock);
}

}  // namespace mirrorscale::strategies
