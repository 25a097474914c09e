#include "strategies/slice_update.h"

#include "strategies/tree_sum.h"

namespace mirrorscale::strategies {
namespace {

bool updated_alike(const ParameterSpec& a, const ParameterSpec& b) {
  return a.penalty.l1 == b.penalty.l1 && a.penalty.l2 == b.penalty.l2 && a.decayed == b.decayed;
}

}  // namespace

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

void SlotArenas::make(Replica& replica, std::size_t count) {
  for (std::size_t s = 0; s < count; ++s) {
    buffers_.push_back(replica.backend().make_buffer(replica.network().parameters().size()));
    arenas_.push_back(buffers_.back().get());
  }
}

void SlotArenas::read(Replica& replica, std::span<std::vector<float>> to) const {
  for (std::size_t s = 0; s < to.size(); ++s) {
    replica.backend().download(arenas_[s], to[s].size(), to[s].data());
  }
}

void SlotArenas::write(Replica& replica, std::span<const std::vector<float>> from) {
  for (std::size_t s = 0; s < from.size(); ++s) {
    replica.backend().upload(from[s].data(), from[s].size(), arenas_[s]);
  }
}

void update_all(const std::vector<SliceTarget>& targets, const Optimizer& optimizer, const StepValues& values,
                float scale, const float* gradient, std::span<float* const> slots, Replica& replica) {
  kernels::Backend& backend = replica.backend();
  const auto update = [&](const ParameterSpec& spec, std::size_t at, std::size_t count) {
    UpdateRange range{count, gradient + at, replica.weights() + at, {}, terms_of(spec, scale), spec.decayed};
    for (std::size_t s = 0; s < slots.size(); ++s) range.slots[s] = slots[s] + at;
    optimizer.update(backend, values, range);
  };
  if (backend.info().on_host) {
    const std::size_t size = replica.network().parameters().size();
    for_each_chunk(targets, 0, size, TreeSum::kChunk,
                   [&](const SliceTarget& target, std::size_t at, std::size_t count) {
                     update(target.slice.spec, at, count);
                     transpose_chunk(backend, target, at, count, replica.weights(), replica);
                   });
    return;
  }
  for (std::size_t first = 0, last = 0; first < targets.size(); first = last) {
    const auto& begin = targets[first].slice;
    std::size_t count = 0;
    for (; last < targets.size() && updated_alike(begin.spec, targets[last].slice.spec); ++last) {
      count += targets[last].slice.size;
    }
    update(begin.spec, begin.offset, count);
  }
  for (const SliceTarget& target : targets) {
    transpose_chunk(backend, target, target.slice.offset, target.slice.size, replica.weights(), replica);
  }
}

kernels::GradientTerms terms_of(const ParameterSpec& spec, float scale) {
  return {scale, spec.penalty.l1, spec.penalty.l2};
}

void transpose_chunk(kernels::Backend& backend, const SliceTarget& target, std::size_t at, std::size_t count,
                     const float* weights, Replica& replica) {
  if (!target.has_transposed) return;
  const ParameterSpec& spec = target.slice.spec;
  const kernels::ConstMatrix w =
      kernels::weight_view(replica.layout(), weights + target.slice.offset, spec.rows, spec.columns);
  const kernels::Matrix wt = kernels::weight_view(
      replica.layout(), replica.transposed() + target.transposed_offset, spec.columns, spec.rows);
  backend.transpose(w, wt, (at - target.slice.offset) / kernels::kBlock, count / kernels::kBlock);
}

}  // namespace mirrorscale::strategies
