// No allocation in a training step: every operator new of this program is counted while the steps run.
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/net_cases.h"

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <malloc.h>
#include <mutex>
#include <new>
#include <span>
#include <vector>

namespace {

std::atomic<bool> counting{false};
std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  void* memory = alignment == 0
                     ? std::malloc(bytes == 0 ? 1 : bytes)
                     : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, 0);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
  return counted(bytes, static_cast<std::size_t>(a));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
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

TEST(Counter, SeesAnAllocation) {
  counting = true;
  const long before = allocations;
  delete new int(1);
  counting = false;
  EXPECT_EQ(allocations, before + 1);
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

TEST(NoAllocation, InAShortLastBatchEither) {
  // 32 rows are 8 leaves, cut 4 + 4: two roots. 28 rows are 7 leaves, cut 4 + 3: three.
  const auto net = net_cases()[1];
  for (const int n : {1, 2, 3}) {
    const auto model = testing::build(Mirrored(n), net.recipe);
    const auto data = testing::data_of(net, 10 * 32 + 28 + 1);
    Session& session = model->session();
    session.start_training(data, 32);
    const auto order = UniformShuffle().order(data->rows(), 1, 0);
    Window window(5, 1000);
    session.set_observer(&window);
    allocations = 0;
    std::vector<float> sink;
    const long before = allocations;
    session.train(order, 0, 11);
    counting = false;
    // What the calling thread and the end of the run take is the same without the short batch.
    const long with_short = allocations - before;
    const auto again = testing::build(Mirrored(n), net.recipe);
    again->session().start_training(data, 32);
    Window same(5, 1000);
    again->session().set_observer(&same);
    allocations = 0;
    again->session().train(order, 0, 10);
    counting = false;
    EXPECT_EQ(with_short, allocations) << n;
  }
}

}  // namespace
}  // namespace mirrorscale::strategies
