#pragma once
#include "harness/judge/change.h"
#include "scenarios/gate/metric.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

inline constexpr const char* kDefaultStore = ".mirrorscale/baselines";

/// Limits of a metric, as fractions of it.
struct MetricLimits {
  double effect = 0.05, drift = 0, relative_drift = 0;
  bool gated = true;
};

/// Some of the limits, for cells whose key matches a pattern (* and ?, as of a shell).
struct CellRule {
  std::string match;
  std::optional<Metric> metric;  // empty: all
  std::optional<double> effect, drift, relative_drift;
  std::optional<bool> gated;
};

/// A finding that is known and accepted until a day.
struct Waiver {
  std::string match;
  std::optional<Metric> metric;
  std::string until;  // the last day, "2027-01-31"
  std::string reason;
};

struct GateConfig {
  GateConfig();
  harness::GateOptions options;
  bool ambiguous_fails = false, missing_fails = true;
  double session_gap_s = 1800;
  int fewest_sessions = 5;
  std::map<Metric, MetricLimits> metrics;  // of every metric
  std::vector<CellRule> rules;             // later ones win
  std::vector<Waiver> waivers;

  MetricLimits limits_of(const std::string& cell_key, Metric metric) const;
  /// The first that matches and has not expired on `day`, or null.
  const Waiver* waiver_of(const std::string& cell_key, Metric metric, const std::string& day) const;
};

bool matches(const std::string& pattern, const std::string& cell_key);

/// Reads a TOML file (docs/gate.md). Throws std::invalid_argument with file, line and key for anything
/// unknown, of a wrong type or out of range, and for a waiver without a reason or a day; std::runtime_error
/// for a file that can't be read.
GateConfig read_gate_config(const std::filesystem::path& path);

}  // namespace mirrorscale::scenarios
