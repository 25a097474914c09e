#pragma once
#include "harness/judge/change_points.h"
#include "scenarios/baseline/launches.h"
#include "scenarios/gate/metric.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// Launches of one session and one revision, as one point: within it they are alike, and a test that took
/// each for itself would see changes in the mere passing of time.
struct HistoryPoint {
  double value = 0;  // median over launches, in the metric's own unit
  std::string started, revision;
  int launches = 0;
};

struct HistorySeries {
  std::string cell_key;
  Metric metric = Metric::kThroughput;
  std::vector<HistoryPoint> points;  // in order of time
  std::vector<harness::ChangePoint> changes;
};

struct HistoryOptions {
  Metric metric = Metric::kThroughput;
  std::string match = "*";  // of cell keys
  double session_gap_s = 1800;
  double alpha = 0.01;  // over all series together
};

/// The series of every cell that matches, and where its level changed. `launches` in order of time.
std::vector<HistorySeries> series_of(const std::vector<Launch>& launches, const HistoryOptions& options);

/// "commits 1a2b3c4..5d6e7f8", or that the program is the same on both sides.
std::string commits_of(const HistorySeries& series, const harness::ChangePoint& change);

}  // namespace mirrorscale::scenarios
