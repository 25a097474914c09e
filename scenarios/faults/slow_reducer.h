#pragma once
#include "strategies/reducer.h"

#include <atomic>
#include <memory>

namespace mirrorscale::scenarios {

/// Turns of a loop that nothing can shorten; shared by the slow reducers of one strategy and whoever sets it.
struct SpinTurns {
  std::atomic<std::int64_t> each_step{0};
};

/// Busy for that many turns, in registers only.
void spin(std::int64_t turns);

/// A fault: `inner`, and then every replica is busy for `turns` more. The result has the same bits; only the
/// step takes longer, by work that slows down with the core it runs on.
std::unique_ptr<strategies::Reducer> slow_reducer(std::unique_ptr<strategies::Reducer> inner,
                                                  std::shared_ptr<const SpinTurns> turns);

}  // namespace mirrorscale::scenarios
