#include "strategies/engine/self_attention.h"

#include <stdexcept>

namespace mirrorscale::strategies {

SelfAttention::SelfAttention(const SelfAttentionOptions& options)
    : attention_{.positions = 1, .heads = options.heads, .causal = options.causal} {
  if (options.heads < 1) {
    throw std::invalid_argument("[self_attention] heads is " + std::to_string(options.heads) +
                                "; needs at least 1");
  }
}

Shape SelfAttention::build(const Shape& in, const BuildPlan& plan) {
  if (in.packed || in.channels % (3 * attention_.heads) != 0) {
    throw std::invalid_argument(
        "[self_attention] '" + plan.name + "' has an input of " + to_string(in) +
        (in.packed ? " packed" : "") + "; it takes queries, keys and values of " +
        std::to_string(attention_.heads) + " heads side by side at each position: a multiple of " +
        std::to_string(3 * attention_.heads) + " channels, e.g. dense(3 * width) before it");
  }
  attention_.positions = in.positions();
  width_ = in.channels / 3;
  return {in.height, in.width, width_};
}

/// Scores and sums over the pairs of positions that are asked for.
double SelfAttention::forward_flops() const {
  const double time = attention_.positions;
  return 4.0 * width_ * (attention_.causal ? time * (time + 1) / 2 : time * time);
}

std::size_t SelfAttention::kept_size(int samples) const {
  return kernels::activation_size(samples * attention_.positions, 2 * attention_.heads);
}
std::size_t SelfAttention::scratch_size(int samples) const {
  return kernels::attention_scratch(attention_, samples * attention_.positions, width_);
}
kernels::Matrix SelfAttention::norms(kernels::Layout layout, const Room& room) const {
  return kernels::activation_view(layout, room.kept, room.samples * attention_.positions,
                                  2 * attention_.heads, room.capacity * attention_.positions);
}

void SelfAttention::forward(const ForwardPass& pass) const {
  pass.backend.attention(attention_, pass.x, norms(pass.backend.info().layout, pass.room), pass.y,
                         pass.room.scratch);
}

void SelfAttention::backward(const BackwardPass& pass) const {
  if (!pass.dx) return;
  pass.backend.attention_backward(attention_, pass.x, norms(pass.backend.info().layout, pass.room), pass.y,
                                  pass.dz, pass.dx, pass.room.scratch);
  pass.finish_dx();
}

}  // namespace mirrorscale::strategies
