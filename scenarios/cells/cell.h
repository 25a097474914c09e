#pragma once
#include "harness/record/record.h"
#include "strategies/input/dataset.h"
#include "strategies/model.h"
#include "strategies/strategy.h"

#include <cstdint>
#include <string>

namespace mirrorscale::scenarios {

/// One point of a sweep: everything that makes two runs the same run.
struct CellSpec {
  std::string workload, data, optimizer;
  std::uint64_t seed = 1;
  std::string backend = "cpu";
  std::string reduction = "fused";
  int devices = 1;
  int global_batch = 256;
  harness::Scaling scaling = harness::Scaling::kStrong;

  int local_batch() const { return (global_batch + devices - 1) / devices; }
  /// Names the cell within its sweep.
  std::string key() const;
  /// Equal for the cells that speed-up is taken between: all but the devices, at the same global batch
  /// (strong) or the same local batch (weak).
  std::string group() const;
};

/// The engine's own parts, with the reducer that the cell names.
strategies::EngineParts parts_of(const CellSpec& spec);
/// OneDevice for one device, else Mirrored.
strategies::Strategy make_strategy(const CellSpec& spec, const strategies::EngineParts& parts);
inline strategies::Strategy make_strategy(const CellSpec& spec) {
  return make_strategy(spec, parts_of(spec));
}

/// The workload's model for such data, built and compiled in the scope of `strategy`.
strategies::Model make_model(const CellSpec& spec, const strategies::Dataset& data,
                             const strategies::Strategy& strategy);

/// A record with everything filled in that follows from the spec alone; status "skipped".
harness::CellRecord describe(const CellSpec& spec, const std::string& run_id,
                             const strategies::Dataset& data);

}  // namespace mirrorscale::scenarios
