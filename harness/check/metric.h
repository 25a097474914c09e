#pragma once
#include "harness/check/verdict.h"

#include <cstdint>
#include <span>
#include <string>

namespace mirrorscale::harness {

/// One replica's part of a mean: a sum over its rows and how many (or how much weight) they were.
struct MetricPart {
  double sum = 0, count = 0;
};

/// MET: `reported` equals (sum of sums) / (sum of counts), to within `allowance` (0 for sums of whole
/// numbers, which are exact in double; else the rounding of the sums), and the counts add up to
/// `expected_count`. When it fails and a usual mistake explains the number (mean of the replicas' means,
/// their sum, one replica's own), the evidence says so. NaN fails. Zero rows in all is skipped.
Verdict check_pooled(const std::string& metric, std::span<const MetricPart> parts, double reported,
                     double expected_count, double allowance = 0);

/// MET: lies in low .. high, e.g. an accuracy in 0 .. 1.
Verdict check_within(const std::string& metric, double value, double low, double high);

struct MetricAt {
  int replicas = 0;
  std::int64_t batch = 0;
  double value = 0;
};
/// MET: the same bits at every replica count and batch. The first one is the yardstick; fewer than two are
/// skipped.
Verdict check_same_metric(const std::string& metric, std::span<const MetricAt> values);

}  // namespace mirrorscale::harness
