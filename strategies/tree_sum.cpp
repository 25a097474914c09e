#include "strategies/tree_sum.h"

namespace mirrorscale::strategies {

void TreeSum::reserve(std::size_t most_roots) {
  if (most_roots <= room_) return;
  partial_ = backend_->make_buffer(size(most_roots));
  room_ = most_roots;
}

void TreeSum::begin(std::span<const float* const> roots, std::span<const Addition> additions) {
  reserve(roots.size());
  roots_ = roots;
  additions_ = additions;
}

const float* TreeSum::sum(std::size_t at, std::size_t count) {
  const auto operand = [&](int i) -> const float* {
    const auto index = static_cast<std::size_t>(i);
    return index < roots_.size() ? roots_[index] + at : partial_.get() + (index - roots_.size()) * kChunk;
  };
  for (std::size_t i = 0; i < additions_.size(); ++i) {
    backend_->add(count, operand(additions_[i].left), operand(additions_[i].right),
                  partial_.get() + i * kChunk);
  }
  return additions_.empty() ? roots_[0] + at : partial_.get() + (additions_.size() - 1) * kChunk;
}

}  // namespace mirrorscale::strategies
