#pragma once
#include "harness/check/verdict.h"
#include "scenarios/validation/short_run.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// What a cell's invariants are compared with; made once for all cells that differ in their devices only.
class Yardsticks {
 public:
  explicit Yardsticks(strategies::SplitDataset data) : data_(std::move(data)) {}
  const strategies::SplitDataset& data() const { return data_; }

  /// The short run of `spec` on one device with the engine's own parts.
  const ShortRun& one_device(const CellSpec& spec);
  struct Predicted {
    std::vector<double> values, bounds;
    std::string why_not;
  };
  /// The same steps by the oracle in double, with a bound on what float may differ.
  struct Oracle {
    std::vector<std::vector<double>> weights,
        weight_bounds;  // row-major, in the order of the model's parameters
    std::vector<double> losses, loss_bounds;
    std::string why_not;  // where the oracle can't express the workload
  };
  const Oracle& oracle(const CellSpec& spec);
  /// The oracle's predictions of the test rows with `weights`: values, bounds, why_not.
  Predicted predictions(const CellSpec& spec, const std::vector<strategies::NamedArray>& weights) const;
  /// Predictions of one device with `weights`, a row at a time: what each row must become in any batch.
  std::vector<float> row_by_row(const CellSpec& spec,
                                const std::vector<strategies::NamedArray>& weights) const;

 private:
  strategies::SplitDataset data_;
  std::map<std::string, ShortRun> runs_;
  std::map<std::string, Oracle> oracles_;
};

struct CellVerdicts {
  std::vector<harness::Verdict> verdicts;  // SHD, COV, MIR, ONE, REF, MET, SHP; cuda in exact numerics: XBK
  std::string weight_hash;
  std::map<std::string, double>
      evaluation;  // of the test rows, by loss and metric; what isn't finite is left out
};

/// Checks every invariant of a cell on a short run. `parts` are the parts of the engine under test.
CellVerdicts validate_cell(const CellSpec& spec, Yardsticks& yardsticks,
                           const strategies::EngineParts& parts);
inline CellVerdicts validate_cell(const CellSpec& spec, Yardsticks& yardsticks) {
  return validate_cell(spec, yardsticks, parts_of(spec));
}

// The single invariants.
harness::Verdict check_sharder(const CellSpec& spec, const strategies::Sharder& sharder);
harness::Verdict check_one(const ShortRun& expected, const ShortRun& actual);
/// ONE in fast numerics: bits follow the number of devices, so that both runs are held to the oracle's bound,
/// and their difference to the sum of the two.
harness::Verdict check_one_within(const Yardsticks::Oracle& oracle, const ShortRun& expected,
                                  const ShortRun& actual);
/// XBK: the bits of the cpu backend.
harness::Verdict check_other_backend(const ShortRun& cpu, const ShortRun& actual);
harness::Verdict check_reference(const Yardsticks::Oracle& oracle, const ShortRun& actual);
harness::Verdict check_metrics(const CellSpec& spec, const ShortRun& run, const strategies::Dataset& test);
harness::Verdict check_predictions(const std::vector<float>& row_by_row, const ShortRun& run,
                                   std::int64_t rows);
/// SHP in fast numerics: each row is the oracle's, within its bound.
harness::Verdict check_predictions_within(const Yardsticks::Predicted& expected, const ShortRun& run,
                                          std::int64_t rows);

}  // namespace mirrorscale::scenarios
