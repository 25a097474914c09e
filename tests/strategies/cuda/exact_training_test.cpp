// `exact` numerics on CUDA devices: weights after every step, slots, losses, metrics and predictions have the
// bits of the cpu backend, at any number of devices and with any cross-device ops.
#include "tests/strategies/cuda/cuda_strategy.h"
#include "tests/strategies/support/net_cases.h"
#include "tests/strategies/support/trajectory.h"

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

struct Batching {
  int rows, batch;
};
// A short last batch; fewer rows than devices; several micro-shards; one whole batch.
constexpr Batching kBatchings[] = {{5, 2}, {67, 33}, {3, 32}, {230, 100}};

class ExactOnCuda : public ::testing::TestWithParam<NetCase> {
 protected:
  void SetUp() override {
    if (!testing::has_cuda_devices(1)) GTEST_SKIP() << "no CUDA device";
  }
  static Trajectory on_cpu(const Batching& b) {
    return train(OneDevice("cpu:0"), GetParam().recipe, data_of(GetParam(), b.rows), b.batch);
  }
};
INSTANTIATE_TEST_SUITE_P(Nets, ExactOnCuda, ::testing::ValuesIn(testing::net_cases()),
                         [](const auto& net) { return net.param.name; });

TEST_P(ExactOnCuda, HasTheBitsOfTheCpuAtAnyNumberOfDevices) {
  for (const Batching& b : kBatchings) {
    const Trajectory cpu = on_cpu(b);
    for (const int n : {1, 2, 3, 4, 8}) {
      if (!testing::has_cuda_devices(n)) continue;
      const Mirrored strategy = on_cuda(n, cuda_options(Numerics::kExact));
      EXPECT_TRUE(same_bits(train(strategy, GetParam().recipe, data_of(GetParam(), b.rows), b.batch), cpu))
          << n << " devices, " << b.rows << " rows in batches of " << b.batch;
    }
  }
}

TEST_P(ExactOnCuda, WithAnyCrossDeviceOps) {
  const Batching b{67, 33};
  const Trajectory cpu = on_cpu(b);
  for (const auto ops :
       {CrossDeviceOps::kNccl, CrossDeviceOps::kReductionToOneDevice, CrossDeviceOps::kHierarchicalCopy}) {
    for (const int n : {2, 3}) {
      if (!testing::has_cuda_devices(n)) continue;
      const Mirrored strategy = on_cuda(n, cuda_options(Numerics::kExact, ops));
      EXPECT_TRUE(same_bits(train(strategy, GetParam().recipe, data_of(GetParam(), b.rows), b.batch), cpu))
          << n << " devices, cross-device ops " << static_cast<int>(ops);
    }
  }
}

TEST_P(ExactOnCuda, EvaluationAndPredictionInAnyBatch) {
  const auto data = data_of(GetParam(), 100);
  const int n = testing::has_cuda_devices(3) ? 3 : 1;
  const auto model = build(on_cuda(n, cuda_options(Numerics::kExact)), GetParam().recipe);
  model->fit(data, {.global_batch = 32});
  const Logs logs = model->evaluate(data, {.global_batch = 100});
  const auto predictions = model->predict(data, 100).values;
  for (const int batch : {1, 7, 33, 1000}) {
    EXPECT_TRUE(same_bits(model->evaluate(data, {.global_batch = batch}), logs)) << batch;
    EXPECT_TRUE(same_bits(model->predict(data, batch).values, predictions)) << batch;
  }
}

TEST_P(ExactOnCuda, RecordedAsAGraph) {
  const Batching b{67, 16};  // four whole batches and a short one, twice: each is run, recorded and replayed
  const Trajectory cpu = on_cpu(b);
  StrategyOptions options = cuda_options(Numerics::kExact);
  options.graphs = true;
  for (const int n : {1, 2}) {
    if (!testing::has_cuda_devices(n)) continue;
    EXPECT_TRUE(
        same_bits(train(on_cuda(n, options), GetParam().recipe, data_of(GetParam(), b.rows), b.batch), cpu))
        << n << " devices";
  }
  // A larger evaluation between steps moves the activations: what was recorded must not be used any more.
  const auto data = data_of(GetParam(), 67);
  const auto run = [&](const Strategy& strategy) {
    const auto model = build(strategy, GetParam().recipe);
    model->fit(data, {.epochs = 3, .global_batch = 16, .validation = data, .validation_batch = 67});
    return model->weights();
  };
  EXPECT_TRUE(same_bits(run(OneDevice("cuda:0", options)), run(OneDevice("cpu:0"))));
}

TEST_P(ExactOnCuda, InTheMemoryThatWasPlanned) {
  const auto data = data_of(GetParam(), 230);
  for (const int n : {1, 3}) {
    if (!testing::has_cuda_devices(n)) continue;
    const Mirrored strategy = on_cuda(n, cuda_options(Numerics::kExact));
    const auto model = build(strategy, GetParam().recipe);
    model->fit(data, {.global_batch = 100, .validation = data});
    const auto planned = static_cast<double>(
        Session::planned_bytes(strategy, model->network(), *data, 100, model->optimizer(), data.get()));
    EXPECT_NEAR(static_cast<double>(model->session().used_bytes()), planned, 0.05 * planned)
        << n << " devices";
  }
}

TEST_P(ExactOnCuda, ManyStepsInOneRunOverlapTheirInput) {
  const auto data = data_of(GetParam(), 67);
  const auto order = UniformShuffle().order(67, 5, 0);
  const auto whole = build(OneDevice("cuda:0", cuda_options(Numerics::kExact)), GetParam().recipe);
  whole->session().start_training(data, 8);
  std::vector<Pooled> steps;
  whole->session().train(order, 0, 9, nullptr, &steps);
  const auto single = build(OneDevice("cpu:0"), GetParam().recipe);
  single->session().start_training(data, 8);
  for (std::int64_t i = 0; i < 9; ++i) {
    EXPECT_TRUE(same_bits(single->session().train(order, i, 1), steps[static_cast<std::size_t>(i)])) << i;
  }
  EXPECT_TRUE(same_bits(whole->weights(), single->weights()));
}

}  // namespace
}  // namespace mirrorscale::strategies
