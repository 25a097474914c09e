#pragma once
#include "harness/record/record.h"
#include "scenarios/cells/device_settings.h"
#include "strategies/input/dataset.h"
#include "strategies/model.h"
#include "strategies/strategy.h"

#include <cstdint>
#include <string>

namespace mirrorscale::scenarios {

/// One point of a sweep: everything that makes two runs the same run.
struct CellSpec : DeviceSettings {
  /// One cpu device, with every choice made.
  CellSpec() : DeviceSettings{.numerics = "exact", .reduction = "fused"} {}
  std::string workload, data, optimizer;
  std::uint64_t seed = 1;
  int devices = 1;
  int global_batch = 256;
  harness::Scaling scaling = harness::Scaling::kStrong;
  double wait_limit_s = 120;  // longest wait of one replica for another; no part of the key

  int local_batch() const { return (global_batch + devices - 1) / devices; }
  /// Names the cell within its sweep.
  std::string key() const;
  /// Equal for the cells that speed-up is taken between: all but the devices, at the same global batch
  /// (strong) or the same local batch (weak).
  std::string group() const;
  /// Equal for the cells that differ in their batch only.
  std::string series() const;
  bool exact() const { return numerics == "exact"; }

 private:
  std::string settings() const;
};

/// The cell on other devices: the backend's own settings, exact numerics.
CellSpec on_one_cpu(CellSpec spec);

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

/// The workload's network for such data: what the model will be, without devices.
strategies::Network network_of(const CellSpec& spec, const strategies::Dataset& data);
/// Memory that a device is planned to hold while it trains the cell.
std::size_t planned_bytes(const CellSpec& spec, const strategies::Dataset& data);
/// More replicas than there are places to work at once: processing units of the host, or GPUs.
bool oversubscribed(const CellSpec& spec);
/// Instruction set, or model of the GPU.
std::string target_of(const std::string& backend);
/// Whether its devices are stand-ins for tests.
bool emulated(const CellSpec& spec);

/// A record with everything filled in that follows from the spec alone; status "skipped".
harness::CellRecord describe(const CellSpec& spec, const std::string& run_id,
                             const strategies::Dataset& data);

}  // namespace mirrorscale::scenarios
