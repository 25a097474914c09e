#pragma once

#include "emulated_cuda/executor.h"
#include "emulated_cuda/fibers.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace mirrorscale::emulated_cuda {

/// A bijection of 0 … count-1; the identity for seed 0.
class Permutation {
 public:
  Permutation(unsigned count, std::uint64_t seed);
  unsigned operator()(unsigned i) const {
    return step_ == 1 && offset_ == 0 ? i
                                      : static_cast<unsigned>((std::uint64_t{i} * step_ + offset_) % count_);
  }

 private:
  unsigned count_;
  unsigned step_ = 1;
  unsigned offset_ = 0;
};

/// One OS thread in its role as a multiprocessor: runs blocks one after another.
class BlockRunner {
 public:
  BlockRunner() = default;
  ~BlockRunner();
  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;

  static BlockRunner& here();
  /// Runs the blocks first, first + step, … below `total`.
  void run_blocks(const Grid& grid, unsigned first, unsigned step, unsigned total, void* fence_tag);

  void meet_block(const Where& where);
  const std::uint64_t* meet_warp(unsigned mask, std::uint64_t value, bool orders, const Where& where);
  int count_block(bool predicate, const Where& where);
  void fence();

 private:
  struct Lane {
    Fiber fiber;
    ThreadContext context;
    Lane* next = nullptr;
  };
  struct Queue {  // intrusive: no memory of its own that fibers would touch
    Lane* head = nullptr;
    Lane* tail = nullptr;
    void push(Lane* lane);
    Lane* pop();
    void append(Queue& other);
  };
  struct WarpMeeting {  // the lanes of one mask, kept under the mask's lowest lane; two rounds in flight
    unsigned mask = 0, arrived = 0, round = 0;
    Where where;
    char tags[2] = {};
    std::uint64_t values[2][32];
    Lane* waiting[32];
  };

  static void fiber_main();
  void run_block(unsigned index);
  void run_threads();
  Lane* idle_lane();
  void switch_to(Lane* lane);
  void switch_next();

  const Grid* grid_ = nullptr;
  void* fence_tag_ = nullptr;
  bool one_thread_a_fiber_ = false;
  unsigned threads_ = 0, started_ = 0, live_ = 0, arrived_ = 0, parity_ = 0;
  int counted_[2] = {};
  Permutation order_{0, 0};
  Where barrier_;
  Lane main_;
  Lane* running_ = &main_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Queue idle_, ready_, waiting_;
  std::vector<WarpMeeting> warps_;
  char barrier_tags_[2] = {}, start_tag_ = 0, end_tag_ = 0;
};

}  // namespace mirrorscale::emulated_cuda
