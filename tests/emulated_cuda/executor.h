#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

namespace mirrorscale::emulated_cuda {

/// What a CUDA thread knows about itself.
struct ThreadContext {
  uint3 thread{};
  uint3 block{};
  dim3 block_size;
  dim3 grid_size;
  unsigned linear = 0;  // within the block
  unsigned char* dynamic_shared = nullptr;
};
/// The CUDA thread that runs on this OS thread now.
extern constinit thread_local ThreadContext* current_thread;

/// Where a barrier or a shuffle stands in the kernel (clang 14 has no std::source_location).
struct Where {
  const char* file = "?";
  unsigned line = 0;
  static constexpr Where here(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    return {file, line};
  }
};

/// __syncthreads; a block of which some threads left, or stand at another barrier, ends the program with a
/// report.
void meet_block(const Where& where);
/// As meet_block; the number of threads that said true.
int count_block(bool predicate, const Where& where);
/// All lanes of `mask` deposit a value and see what the others left, by lane; ends the program when a lane of
/// the mask is missing for good. With `orders`, memory is ordered too (__syncwarp), else not (shuffles).
const std::uint64_t* meet_warp(unsigned mask, std::uint64_t value, bool orders, const Where& where);
/// __threadfence: orders the calling thread with all others of its grid that fence.
void fence();

/// One launch: `call(body)` is one CUDA thread.
struct Grid {
  dim3 grid;
  dim3 block;
  std::size_t dynamic_shared_bytes = 0;
  void (*call)(void* body) = nullptr;
  void* body = nullptr;
  const char* name = "";
  std::uint64_t seed = 0;  // 0: threads and blocks in their natural order
};

/// Runs the grid on the calling OS thread (and under TSan on one more, so that blocks can race), and returns
/// when it has ended. A CUDA thread gets a fiber of its own only when it stops at a barrier or shuffle: a
/// kernel without them is a plain loop.
void run_grid(const Grid& grid);

/// Ends the program: the caller's kernel is wrong in a way that a real device answers by a hang or by
/// garbage.
[[noreturn]] void fatal(const char* format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace mirrorscale::emulated_cuda
