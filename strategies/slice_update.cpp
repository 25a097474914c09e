#include "strategies/slice_update.h"

#include "strategies/tree_sum.h"

namespace mirrorscale::strategies {
namespace {

bool alike(const UpdateRange& a, const UpdateRange& b) {
  return a.terms.scale == b.terms.scale && a.terms.l1 == b.terms.l1 && a.terms.l2 == b.terms.l2 &&
         a.decayed == b.decayed && a.trust == b.trust;
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
                std::span<float* const> slots, WholeNorms& norms, Replica& replica) {
  kernels::Backend& backend = replica.backend();
  const ParameterLayout& parameters = replica.network().parameters();
  const auto& slices = parameters.slices();
  StepFactors factors{.scale = scale, .clip = {}, .trust = {}};
  const auto range_at = [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
    UpdateRange range = range_of(optimizer, parameters, slice, factors);
    range.count = count;
    range.gradient = gradient + at;
    range.weights = replica.weights() + at;
    for (std::size_t s = 0; s < slots.size(); ++s) range.slots[s] = slots[s] + at;
    if (optimizer.averaging().active()) range.average = slots.back() + at;
    return range;
  };
  if (optimizer.clipping().active())
    factors.clip = norms.clip(replica, optimizer.clipping(), scale, gradient);
  if (optimizer.layerwise()) {
    for (const auto& slice : slices)
      optimizer.direct(backend, values, range_at(slice, slice.offset, slice.size), gradient + slice.offset);
    factors.trust = norms.trust(replica, optimizer, gradient);
  }
  if (backend.info().on_host) {
    for_each_chunk(parameters, 0, parameters.size(), TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     optimizer.apply(backend, values, range_at(slice, at, count));
                     transpose_chunk(backend, slice, at, count, replica.weights(), replica);
                   });
    return;
  }
  for (std::size_t first = 0, last = 0; first < slices.size(); first = last) {
    const UpdateRange range = range_of(optimizer, parameters, slices[first], factors);
    std::size_t count = slices[first].size;  // at least this one: what is NaN is not even like itself
    for (last = first + 1;
         last < slices.size() && alike(range, range_of(optimizer, parameters, slices[last], factors)); ++last)
      count += slices[last].size;
    optimizer.apply(backend, values, range_at(slices[first], slices[first].offset, count));
  }
  for (const auto& slice : slices)
    transpose_chunk(backend, slice, slice.offset, slice.size, replica.weights(), replica);
}

kernels::GradientTerms terms_of(const ParameterSpec& spec, float scale) {
  return {scale, spec.penalty.l1, spec.penalty.l2};
}

UpdateRange range_of(const Optimizer& optimizer, const ParameterLayout& parameters,
                     const ParameterLayout::Slice& slice, const StepFactors& factors) {
  const auto p = static_cast<std::size_t>(&slice - parameters.slices().data());
  UpdateRange range;
  range.decayed = optimizer.decays(slice.spec);
  if (!factors.trust.empty()) {
    range.trust = factors.trust[p];
  } else if (!factors.clip.empty()) {
    range.terms.scale = factors.clip[p];
  } else {
    range.terms = terms_of(slice.spec, factors.scale);
  }
  return range;
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
