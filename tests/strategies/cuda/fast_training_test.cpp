// `fast` numerics on CUDA devices: replicas equal in every bit after every step (train() checks it), the same
// bits from run to run, and close to the exact result.
#include "tests/strategies/cuda/cuda_strategy.h"
#include "tests/strategies/support/net_cases.h"
#include "tests/strategies/support/trajectory.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::strategies {
namespace {

using kernels::Numerics;
using testing::cuda_options;
using testing::data_of;
using testing::NetCase;
using testing::on_cuda;
using testing::same_bits;
using testing::train;
using testing::Trajectory;

/// Largest difference of any weight, relative to the largest weight.
double distance(const std::vector<NamedArray>& a, const std::vector<NamedArray>& b) {
  double largest = 0, size = 0;
  for (std::size_t p = 0; p < a.size(); ++p) {
    for (std::size_t i = 0; i < a[p].values.size(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(a[p].values[i]) - b[p].values[i]));
      size = std::max(size, std::abs(static_cast<double>(b[p].values[i])));
    }
  }
  return largest / size;
}

class FastOnCuda : public ::testing::TestWithParam<NetCase> {
 protected:
  void SetUp() override {
    if (!testing::has_cuda_devices(1)) GTEST_SKIP() << "no CUDA device";
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, FastOnCuda, ::testing::ValuesIn(testing::net_cases()),
                         [](const auto& net) { return net.param.name; });

TEST_P(FastOnCuda, IsCloseToExactAndTheSameFromRunToRun) {
  const auto data = data_of(GetParam(), 67);
  const Trajectory exact = train(OneDevice("cpu:0"), GetParam().recipe, data, 33);
  for (const int n : {1, 2, 3, 8}) {
    if (!testing::has_cuda_devices(n)) continue;
    const Mirrored strategy = on_cuda(n, cuda_options(Numerics::kFast));
    const Trajectory fast = train(strategy, GetParam().recipe, data, 33);
    // Six steps of a small net: a few roundings of 6e-8 each, which Adam may enlarge where a gradient is
    // about 0.
    EXPECT_LT(distance(fast.weights.back(), exact.weights.back()), 1e-3) << n << " devices";
    EXPECT_LT(distance(fast.weights.front(), exact.weights.front()), 1e-3) << n << " devices";
    EXPECT_TRUE(same_bits(train(strategy, GetParam().recipe, data, 33), fast)) << n << " devices, again";
  }
}

TEST_P(FastOnCuda, BucketsOfAnySizeSumTheSame) {
  if (!testing::has_cuda_devices(2)) GTEST_SKIP() << "needs 2 CUDA devices";
  const auto data = data_of(GetParam(), 67);
  StrategyOptions options = cuda_options(Numerics::kFast);
  const Trajectory one = train(on_cuda(2, options), GetParam().recipe, data, 33);
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{2048}}) {
    options.parts.make_reducer = [bytes] { return bucketed_reducer(bytes); };
    EXPECT_TRUE(same_bits(train(on_cuda(2, options), GetParam().recipe, data, 33), one)) << bytes;
  }
}

TEST_P(FastOnCuda, RecordedAsAGraphGivesTheSameBits) {
  const auto data = data_of(GetParam(), 67);
  for (const int n : {1, 2}) {
    if (!testing::has_cuda_devices(n)) continue;
    StrategyOptions options = cuda_options(Numerics::kFast);
    const Trajectory plain = train(on_cuda(n, options), GetParam().recipe, data, 16);
    options.graphs = true;
    EXPECT_TRUE(same_bits(train(on_cuda(n, options), GetParam().recipe, data, 16), plain)) << n << " devices";
  }
}

TEST_P(FastOnCuda, SmallerPrecisionsTrainToo) {
  const auto data = data_of(GetParam(), 67);
  const Trajectory exact = train(OneDevice("cpu:0"), GetParam().recipe, data, 33);
  for (const auto precision :
       {kernels::Precision::kTensorFloat32, kernels::Precision::kBfloat16, kernels::Precision::kFloat16}) {
    StrategyOptions options = cuda_options(Numerics::kFast);
    options.precision = precision;
    const Trajectory run = train(OneDevice("cuda:0", options), GetParam().recipe, data, 33);
    const double apart = distance(run.weights.front(), exact.weights.front());
    EXPECT_LT(apart, 0.1) << static_cast<int>(precision);
    EXPECT_GT(apart, 0) << "precision " << static_cast<int>(precision) << " changes nothing";
  }
}

}  // namespace
}  // namespace mirrorscale::strategies
