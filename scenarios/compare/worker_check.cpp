// What a worker says about itself and its cell before anything is timed.
#include "harness/record/environment.h"
#include "scenarios/compare/lockstep_memory.h"
#include "scenarios/compare/worker.h"
#include "scenarios/validation/invariants.h"
#include "scenarios/workloads/data_source.h"

#include <nlohmann/json.hpp>

namespace mirrorscale::scenarios {

std::string protocol_line() {
  return "mirrorscale compare protocol " + std::to_string(kLockstepProtocol) + ", version " +
         harness::version() + ", revision " + harness::git_revision();
}

std::string check_line(const CellSpec& cell) {
  Yardsticks yardsticks(load_data(cell.data, cell.seed));
  const CellVerdicts result = validate_cell(cell, yardsticks);
  nlohmann::ordered_json line{
      {"weight_hash", result.weight_hash}, {"exact", cell.exact()},
      {"emulated", emulated(cell)},        {"oversubscribed", oversubscribed(cell)},
      {"target", target_of(cell.backend)}, {"checks", nlohmann::ordered_json::array()}};
  for (const harness::Verdict& verdict : result.verdicts) {
    line["checks"].push_back({{"invariant", verdict.invariant},
                              {"verdict", harness::to_word(verdict.outcome)},
                              {"evidence", verdict.evidence}});
  }
  return line.dump();
}

}  // namespace mirrorscale::scenarios
