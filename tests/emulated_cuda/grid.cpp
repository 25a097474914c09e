#include "emulated_cuda/block_runner.h"
#include "emulated_cuda/executor.h"
#include "emulated_cuda/sanitizers.h"
#include "emulated_cuda/word.h"
#include <thread>
#include <vector>

namespace mirrorscale::emulated_cuda {
namespace {

/// The second multiprocessor of a stream's thread, so that blocks of one launch race: half of them run here,
/// by number and not by who is free, so that a race is found however the machine is loaded.
class Helper {
 public:
  Helper() : thread_([this] { work(); }) {}
  ~Helper() {
    grid_ = nullptr;
    generation_.store_and_wake(generation_.load() + 1);
    thread_.join();
  }
  void run(const Grid& grid, unsigned total) {
    grid_ = &grid;
    total_ = total;
    busy_.store(1);
    released(&tag_);
    generation_.store_and_wake(generation_.load() + 1);
    BlockRunner::here().run_blocks(grid, 0, 2, total, &fence_tag_);
    while (busy_.load() != 0) busy_.sleep_while(1);
    acquired(&tag_);
  }

 private:
  void work() {
    for (std::uint32_t seen = 0;;) {
      while (generation_.load() == seen) generation_.sleep_while(seen);
      seen = generation_.load();
      if (!grid_) return;
      acquired(&tag_);
      BlockRunner::here().run_blocks(*grid_, 1, 2, total_, &fence_tag_);
      released(&tag_);
      busy_.store_and_wake(0);
    }
  }

  Word generation_, busy_;
  const Grid* grid_ = nullptr;
  unsigned total_ = 0;
  char tag_ = 0, fence_tag_ = 0;
  std::thread thread_;
};

}  // namespace

void run_grid(const Grid& grid) {
  const unsigned total = grid.grid.x * grid.grid.y * grid.grid.z;
  if (!under_tsan() || total < 2) {
    char fence_tag = 0;
    BlockRunner::here().run_blocks(grid, 0, 1, total, &fence_tag);
    return;
  }
  thread_local Helper helper;
  helper.run(grid, total);
}

}  // namespace mirrorscale::emulated_cuda
