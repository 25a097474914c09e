#include "strategies/input/sharder.h"

namespace mirrorscale::strategies {

BatchPlan TreeSharder::plan(int rows, int full_batch, int replicas) const {
  return plan_batch(rows, full_batch, replicas);
}

std::vector<Range> TreeSharder::split(int rows, int replicas) const {
  return split_evenly(rows, replicas);
}

}  // namespace mirrorscale::strategies
