// No allocation in a training step: every malloc, posix_memalign and operator new is counted while steps run.
#include "kernels/buffer.h"
#include "tests/strategies/support/net_cases.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// The linker leads the libraries' calls of these functions here (CMakeLists.txt), those of make_buffer too.
extern "C" {
void* __real_malloc(std::size_t bytes);
int __real_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes);
void* __wrap_malloc(std::size_t bytes) {
  count();
  return __real_malloc(bytes);
}
int __wrap_posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  count();
  return __real_posix_memalign(memory, alignment, bytes);
}
}

// So that operator new comes here too. Not inlined: g++ would see new's memory go to free.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace mirrorscale::strategies {
namespace {

using testing::net_cases;

/// Counts between two steps: replicas report their rows at the beginning of a step, never in the middle of
/// one.
class Window final : public RowObserver {
 public:
  Window(std::int64_t first, std::int64_t last) : first_(first), last_(last) {}
  void rows_taken(int replica, std::int64_t step, std::span<const std::int64_t>) override {
    if (replica != 0) return;
    if (step == first_) counting = true;
    if (step == last_) counting = false;
  }

 private:
  const std::int64_t first_, last_;
};

TEST(Counter, SeesEveryKindOfAllocation) {
  allocations = 0;
  counting = true;
  auto number = std::make_unique<int>(1);
  std::vector<double> numbers(100);
  kernels::Buffer buffer = kernels::make_buffer(16);
  counting = false;
  EXPECT_EQ(allocations, 3);
}

TEST(NoAllocation, BetweenStepsFiveAndFifty) {
  for (const auto& net : net_cases()) {
    for (const int n : {1, 2, 3}) {
      const auto model = testing::build(Mirrored(n), net.recipe);
      // 60 steps, one of them short and with more subtree roots than the whole batches have.
      const auto data = testing::data_of(net, 60 * 32 - 9);
      Session& session = model->session();
      session.start_training(data, 32);
      const auto order = UniformShuffle().order(data->rows(), 1, 0);
      Window window(5, 50);
      session.set_observer(&window);
      allocations = 0;
      session.train(order, 0, 60);
      EXPECT_EQ(allocations, 0) << net.name << " on " << n << " replicas";
    }
  }
}

std::size_t roots_of(int rows, int batch, int replicas) {
  std::size_t count = 0;
  for (const auto& share : plan_batch(rows, batch, replicas).shares) count += share.roots.size();
  return count;
}

TEST(NoAllocation, InAShortLastBatchWithMoreRootsEither) {
  const auto net = net_cases()[1];
  for (const auto& [batch, replicas] : {std::pair(64, 2), std::pair(128, 3), std::pair(64, 4)}) {
    int rest = batch - 1;
    while (rest > 0 && roots_of(rest, batch, replicas) <= roots_of(batch, batch, replicas)) --rest;
    ASSERT_GT(rest, 0) << "no short batch has more roots than a whole one of " << batch;
    const auto allocated = [&, size = batch, n = replicas](std::int64_t batches) {
      const auto model = testing::build(Mirrored(n), net.recipe);
      const auto data = testing::data_of(net, 10 * size + rest);
      Session& session = model->session();
      session.start_training(data, size);
      const auto order = UniformShuffle().order(data->rows(), 1, 0);
      Window window(5, 1000);
      session.set_observer(&window);
      allocations = 0;
      session.train(order, 0, batches);
      counting = false;
      return allocations.load();
    };
    EXPECT_EQ(allocated(11), allocated(10))
        << "the end of a run takes the same, with the short batch or without";
  }
}

}  // namespace
}  // namespace mirrorscale::strategies
