#include "strategies/comm/copies/schedule.h"

#include "strategies/comm/copies/tree_plan.h"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <utility>

namespace mirrorscale::strategies::copies {

Schedule schedule_of(CrossDeviceOps ops, const TreePlan& plan) {
  if (const std::string fault = fault_of(plan); !fault.empty()) {
    throw std::invalid_argument("[all_reduce_tree] " + fault);
  }
  Schedule schedule;
  schedule.places.assign(plan.roots.size(), 0);
  for (std::size_t r = 0; r < plan.roots.size(); ++r) {
    for (int i = 0; i < plan.roots[r]; ++i) schedule.operands.push_back({static_cast<int>(r), -1, 0});
  }
  for (const TreePlan::Pair& pair : plan.additions) {
    const auto left = schedule.operands[static_cast<std::size_t>(pair.left)];
    const auto right = schedule.operands[static_cast<std::size_t>(pair.right)];
    Schedule::Sum sum{pair.left, pair.right};
    sum.rank = ops == CrossDeviceOps::kHierarchicalCopy ? left.rank : 0;
    const auto bring = [&](const Schedule::Operand& operand, int& place, bool& fetch) {
      const bool here = operand.place >= 0 && operand.rank == sum.rank;
      fetch = !here;
      place = here ? operand.place : schedule.places[static_cast<std::size_t>(sum.rank)]++;
      // A sum of the rank's own is there in the round that makes it; the others see it in the next.
      sum.round = std::max(sum.round, here ? operand.ready - 1 : operand.ready);
    };
    bring(left, sum.left_place, sum.fetch_left);
    bring(right, sum.right_place, sum.fetch_right);
    schedule.operands.push_back({sum.rank, sum.left_place, sum.round + 1});
    schedule.rounds = std::max(schedule.rounds, sum.round + 1);
    schedule.sums.push_back(sum);
  }
  return schedule;
}

std::vector<Fetch> spread_of(CrossDeviceOps ops, int source, int ranks) {
  std::vector<Fetch> spread(static_cast<std::size_t>(ranks), {source, 0});
  spread[static_cast<std::size_t>(source)].round = -1;
  if (ops != CrossDeviceOps::kHierarchicalCopy) return spread;
  const auto top = std::bit_ceil(static_cast<unsigned>(ranks)) / 2;
  for (unsigned hop = 1; hop < static_cast<unsigned>(ranks); ++hop) {
    const unsigned step = hop & -hop;  // rank `source + hop` fetches over this distance
    spread[(static_cast<unsigned>(source) + hop) % static_cast<unsigned>(ranks)] = {
        static_cast<int>((static_cast<unsigned>(source) + hop - step) % static_cast<unsigned>(ranks)),
        std::countr_zero(top) - std::countr_zero(step)};
  }
  return spread;
}

int rounds_of(const std::vector<Fetch>& spread) {
  int rounds = 0;
  for (const Fetch& fetch : spread) rounds = std::max(rounds, fetch.round + 1);
  return rounds;
}

}  // namespace mirrorscale::strategies::copies
