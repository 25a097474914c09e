#include "strategies/comm/copies/tree_plan.h"

#include <numeric>

namespace mirrorscale::strategies {

std::size_t leaves_of(const TreePlan& plan) {
  return static_cast<std::size_t>(std::accumulate(plan.roots.begin(), plan.roots.end(), 0));
}

std::string fault_of(const TreePlan& plan) {
  const std::size_t leaves = leaves_of(plan);
  if (leaves == 0) return "no rank brings a root";
  std::vector<bool> used(leaves + plan.additions.size(), false);
  for (std::size_t i = 0; i < plan.additions.size(); ++i) {
    for (const int operand : {plan.additions[i].left, plan.additions[i].right}) {
      const auto index = static_cast<std::size_t>(operand);
      if (operand < 0 || index >= leaves + i || used[index]) {
        return "addition " + std::to_string(i) + " takes operand " + std::to_string(operand) +
               ", which is not there or was taken before";
      }
      used[index] = true;
    }
  }
  return "";
}

TreePlan tree_over_ranks(int ranks) {
  TreePlan plan;
  std::vector<int> level(static_cast<std::size_t>(ranks));
  std::iota(level.begin(), level.end(), 0);
  plan.roots.assign(level.size(), 1);
  for (int next = ranks; level.size() > 1;) {
    std::vector<int> above;
    for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
      plan.additions.push_back({level[i], level[i + 1]});
      above.push_back(next++);
    }
    if (level.size() % 2 == 1) above.push_back(level.back());
    level = std::move(above);
  }
  return plan;
}

}  // namespace mirrorscale::strategies
