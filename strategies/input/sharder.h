#pragma once
#include "strategies/input/shard_tree.h"

#include <vector>

namespace mirrorscale::strategies {

/// Decides which rows of a global batch each replica gets.
class Sharder {
 public:
  virtual ~Sharder() = default;
  /// Training: whole micro-shards. See plan_batch.
  virtual BatchPlan plan(int rows, int full_batch, int replicas) const = 0;
  /// Predict and evaluate. See split_evenly.
  virtual std::vector<Range> split(int rows, int replicas) const = 0;
};

class TreeSharder final : public Sharder {
 public:
  BatchPlan plan(int rows, int full_batch, int replicas) const override;
  std::vector<Range> split(int rows, int replicas) const override;
};

}  // namespace mirrorscale::strategies
