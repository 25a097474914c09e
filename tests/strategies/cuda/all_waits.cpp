// Trains so that every ordering of the engine is used: see removed_waits.py. Ends with 0 when nothing is
// wrong.
#include "kernels/backend.h"
#include "tests/strategies/cuda/cuda_strategy.h"
#include "tests/strategies/support/net_cases.h"
#include "tests/strategies/support/recipe.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace mirrorscale::strategies {
namespace {

void run(const StrategyOptions& options) {
  const testing::NetCase net = testing::net_cases().at(1);
  const auto data = testing::data_of(net, 67);
  const auto model = build(testing::on_cuda(2, options), net.recipe);
  model->fit(data, {.epochs = 2, .global_batch = 8});
  model->evaluate(data, {.global_batch = 30});
  model->predict(data, 30);
  model->session().average_weights();
}

/// Batches and uploads one after the other, with no wait of the host between them: training itself waits for
/// the statistics of each step, which hides that a slot's own waits are needed.
void run_without_a_pause() {
  constexpr std::size_t kCount = 1024;
  const auto backend = kernels::make_backend("cuda", {.numerics = kernels::Numerics::kExact});
  const auto queue = backend->make_input_queue(kCount);
  const kernels::Buffer sum = backend->make_buffer(kCount), other = backend->make_buffer(kCount);
  std::vector<float> host(kCount);
  for (int i = 0; i < 12; ++i) {
    const int slot = i % queue->slots();
    std::fill_n(queue->fill(slot), kCount, static_cast<float>(i));
    queue->send(slot, kCount);
    const float* batch = queue->receive(slot);
    for (int repeat = 0; repeat < 4; ++repeat) backend->add(kCount, sum.get(), batch, sum.get());
    queue->done(slot);
    host.assign(kCount, static_cast<float>(i));
    backend->upload(host.data(), kCount, other.get());
  }
  backend->download(sum.get(), kCount, host.data());
  if (host[0] != 4 * 66) std::printf("the sum is %g, not 264\n", static_cast<double>(host[0]));
}

}  // namespace
}  // namespace mirrorscale::strategies

int main() {
  using namespace mirrorscale;
  using namespace mirrorscale::strategies;
  for (const auto ops :
       {CrossDeviceOps::kNccl, CrossDeviceOps::kReductionToOneDevice, CrossDeviceOps::kHierarchicalCopy}) {
    run(strategies::testing::cuda_options(kernels::Numerics::kExact, ops));
  }
  StrategyOptions fast = strategies::testing::cuda_options(kernels::Numerics::kFast);
  fast.parts.make_reducer = [] { return bucketed_reducer(1024); };
  run(fast);
  run_without_a_pause();
  std::printf("trained\n");
  return 0;
}
