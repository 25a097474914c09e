#pragma once
#include "scenarios/oracle/trainer.h"
#include "tests/support/npy.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies::testing {

/// A run of tests/golden whose labels are whole numbers; see the README there.
struct GoldenArrays {
  std::vector<double> x, loss;
  std::vector<int> labels;
  std::vector<std::vector<double>> w0, w1, wT;

  static GoldenArrays load(const std::string& name, std::size_t weights) {
    const std::string folder = std::string(MIRRORSCALE_TESTS_DIR) + "/golden/" + name + "/";
    GoldenArrays run;
    run.x = tests::read_npy<double>(folder + "x.npy");
    run.loss = tests::read_npy<double>(folder + "loss.npy");
    for (const std::int64_t label : tests::read_npy<std::int64_t>(folder + "y.npy"))
      run.labels.push_back(static_cast<int>(label));
    for (std::size_t i = 0; i < weights; ++i) {
      const std::string array = "." + std::to_string(i) + ".npy";
      run.w0.push_back(tests::read_npy<double>(folder + "w0" + array));
      run.w1.push_back(tests::read_npy<double>(folder + "w1" + array));
      run.wT.push_back(tests::read_npy<double>(folder + "wT" + array));
    }
    return run;
  }
  /// `rows` rows from `first` on, each of `inputs` numbers and `answers` labels.
  scenarios::oracle::Batch batch(std::size_t first, std::size_t rows, std::size_t inputs,
                                 std::size_t answers = 1) const {
    return {.rows = rows,
            .x = std::span(x).subspan(first * inputs, rows * inputs),
            .labels = std::span(labels).subspan(first * answers, rows * answers)};
  }
};

/// The largest difference over its bound.
inline double share_of_bound(const std::vector<float>& actual, const scenarios::oracle::Estimates& expected) {
  double largest = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(static_cast<double>(actual[i]) - expected.values.at(i));
    largest = std::max(largest, difference == 0 ? 0 : difference / expected.bounds[i]);
  }
  return largest;
}

}  // namespace mirrorscale::strategies::testing
