#include "strategies/slice_update.h"

#include "strategies/tree_sum.h"

namespace mirrorscale::strategies {
namespace {

bool same(const kernels::GradientTerms& a, const kernels::GradientTerms& b) {
  return a.scale == b.scale && a.l1 == b.l1 && a.l2 == b.l2;
}

}  // namespace

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

void update_all(const Optimizer& optimizer, const StepValues& values, float scale, float* gradient,
                std::span<float* const> slots, GradientClip& clip, Replica& replica) {
  kernels::Backend& backend = replica.backend();
  const ParameterLayout& parameters = replica.network().parameters();
  const auto& slices = parameters.slices();
  const Clipping& clipping = optimizer.clipping();
  const auto factors =
      clipping.active() ? clip.apply(replica, clipping, scale, gradient) : std::span<const float>();
  const auto terms = [&](const ParameterLayout::Slice& slice) {
    return terms_of(parameters, slice, scale, factors);
  };
  const auto update = [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
    UpdateRange range{count, gradient + at, replica.weights() + at, {}, terms(slice), slice.spec.decayed};
    for (std::size_t s = 0; s < slots.size(); ++s) range.slots[s] = slots[s] + at;
    optimizer.update(backend, values, range);
  };
  if (backend.info().on_host) {
    for_each_chunk(parameters, 0, parameters.size(), TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     update(slice, at, count);
                     transpose_chunk(backend, slice, at, count, replica.weights(), replica);
                   });
    return;
  }
  const auto alike = [&](const ParameterLayout::Slice& a, const ParameterLayout::Slice& b) {
    return a.spec.decayed == b.spec.decayed && same(terms(a), terms(b));
  };
  for (std::size_t first = 0, last = 0; first < slices.size(); first = last) {
    std::size_t count = 0;
    for (; last < slices.size() && alike(slices[first], slices[last]); ++last) count += slices[last].size;
    update(slices[first], slices[first].offset, count);
  }
  for (const auto& slice : slices)
    transpose_chunk(backend, slice, slice.offset, slice.size, replica.weights(), replica);
}

kernels::GradientTerms terms_of(const ParameterSpec& spec, float scale) {
  return {scale, spec.penalty.l1, spec.penalty.l2};
}

kernels::GradientTerms terms_of(const ParameterLayout& parameters, const ParameterLayout::Slice& slice,
                                float scale, std::span<const float> factors) {
  if (factors.empty()) return terms_of(slice.spec, scale);
  return {.scale = factors[static_cast<std::size_t>(&slice - parameters.slices().data())]};
}

void transpose_chunk(kernels::Backend& backend, const ParameterLayout::Slice& slice, std::size_t at,
                     std::size_t count, const float* weights, Replica& replica) {
  const ParameterSpec& spec = slice.spec;
  if (!spec.transposed) return;
  const kernels::ConstMatrix w =
      kernels::weight_view(replica.layout(), weights + slice.offset, spec.stored_rows(), spec.columns);
  const kernels::Matrix wt = kernels::weight_view(
      replica.layout(), replica.transposed() + slice.transposed_offset, spec.columns, spec.stored_rows());
  backend.transpose(w, wt, (at - slice.offset) / kernels::kBlock, count / kernels::kBlock);
}

}  // namespace mirrorscale::strategies
