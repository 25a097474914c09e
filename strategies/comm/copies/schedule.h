#pragma once
#include "strategies/comm/device_group.h"

#include <vector>

namespace mirrorscale::strategies::copies {

/// Who adds what, when, and where, so that devices sum by copies. Operands are numbered as in TreePlan. On
/// the rank that adds an operand it lies in a place of that rank's own memory.
struct Schedule {
  struct Operand {
    int rank = 0;   // whose memory holds it
    int place = 0;  // there; of roots, which lie in the caller's memory, unused
    int ready = 0;  // first round in which other ranks find it
  };
  struct Sum {
    int left = 0, right = 0;  // operands
    int rank = 0;             // who adds
    int round = 0;
    // Places on that rank; the sum replaces the left operand. An operand is fetched there unless it is a sum
    // of the rank's own.
    int left_place = 0, right_place = 0;
    bool fetch_left = false, fetch_right = false;
  };
  std::vector<Operand> operands;
  std::vector<Sum> sums;
  std::vector<int> places;  // by rank, how many
  int rounds = 0;
  const Operand& result() const { return operands.back(); }
};
/// kReductionToOneDevice: rank 0 adds. kHierarchicalCopy: whoever holds the left operand adds, so that
/// neighbours go first. Throws std::invalid_argument for a plan with a fault (tree_plan.h).
Schedule schedule_of(CrossDeviceOps ops, const TreePlan& plan);

/// How the other ranks get what rank `source` holds: rank r copies from rank `from` in round `round`.
struct Fetch {
  int from = 0;
  int round = 0;
};
/// By rank; the source fetches in round -1. kReductionToOneDevice: all from the source; kHierarchicalCopy:
/// along a binary tree.
std::vector<Fetch> spread_of(CrossDeviceOps ops, int source, int ranks);
int rounds_of(const std::vector<Fetch>& spread);

}  // namespace mirrorscale::strategies::copies
