#pragma once
#include "kernels/backend.h"
#include "strategies/input/shard_tree.h"

#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// Finishes the tree over subtree roots, a chunk of the arena at a time, so that partial sums stay in cache.
class TreeSum {
 public:
  static constexpr std::size_t kChunk = 1024;  // floats

  TreeSum() = default;
  /// Works with, and in memory of, `backend`, which must outlive it.
  explicit TreeSum(kernels::Backend& backend) : backend_(&backend) {}

  /// Room for trees of up to `most_roots` roots; no allocation after. Never shrinks.
  void reserve(std::size_t most_roots);
  /// Floats of that room.
  static std::size_t size(std::size_t most_roots) { return most_roots * kChunk; }
  /// `roots` are arenas in tree order, `additions` from BatchPlan.
  void begin(std::span<const float* const> roots, std::span<const Addition> additions);
  /// The sum of floats at .. at + count - 1 (count <= kChunk): a pointer to a root where nothing is added, or
  /// to a buffer that lives until the next call.
  const float* sum(std::size_t at, std::size_t count);

 private:
  kernels::Backend* backend_ = nullptr;
  std::span<const float* const> roots_;
  std::span<const Addition> additions_;
  kernels::Buffer partial_;
  std::size_t room_ = 0;  // roots
};

}  // namespace mirrorscale::strategies
