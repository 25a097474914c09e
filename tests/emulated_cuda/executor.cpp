#include "emulated_cuda/executor.h"

#include "emulated_cuda/block_runner.h"
#include "emulated_cuda/sanitizers.h"
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

namespace mirrorscale::emulated_cuda {

constinit thread_local ThreadContext* current_thread = nullptr;

void fatal(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::fputs("emulated CUDA: ", stderr);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
  std::abort();
}

namespace {

thread_local BlockRunner runner;

}  // namespace

void BlockRunner::Queue::push(Lane* lane) {
  lane->next = nullptr;
  (tail ? tail->next : head) = lane;
  tail = lane;
}

BlockRunner::Lane* BlockRunner::Queue::pop() {
  Lane* lane = head;
  if (lane) head = lane->next;
  if (!head) tail = nullptr;
  return lane;
}

void BlockRunner::Queue::append(Queue& other) {
  if (!other.head) return;
  (tail ? tail->next : head) = other.head;
  tail = other.tail;
  other = {};
}

BlockRunner::~BlockRunner() {
  for (auto& lane : lanes_) release_fiber(lane->fiber);
}

BlockRunner& BlockRunner::here() {
  return runner;
}

void BlockRunner::run_blocks(const Grid& grid, unsigned first, unsigned step, unsigned total,
                             void* fence_tag) {
  grid_ = &grid;
  fence_tag_ = fence_tag;
  one_thread_a_fiber_ = under_tsan();
  threads_ = grid.block.x * grid.block.y * grid.block.z;
  adopt_thread(main_.fiber);
  // Reserved, not grown: fibers of one runner must not see the vector move under TSan.
  if (lanes_.capacity() < 2048) lanes_.reserve(2048);
  warps_.resize(std::size_t{(threads_ + 31) / 32} * 32);
  // Exactly as long as asked for, so that ASan sees the first byte behind it.
  std::unique_ptr<unsigned char, decltype(&std::free)> shared(
      grid.dynamic_shared_bytes ? static_cast<unsigned char*>(std::malloc(grid.dynamic_shared_bytes))
                                : nullptr,
      &std::free);
  main_.context.dynamic_shared = shared.get();
  ThreadContext* const outer = current_thread;
  const Permutation blocks(total, grid.seed);
  for (unsigned i = first; i < total; i += step) run_block(blocks(i));
  current_thread = outer;
}

void BlockRunner::run_block(unsigned index) {
  const dim3 size = grid_->grid;
  main_.context.block = {index % size.x, index / size.x % size.y, index / (size.x * size.y)};
  started_ = arrived_ = 0;
  live_ = threads_;
  order_ = Permutation(threads_, grid_->seed ? grid_->seed + index + 1 : 0);
  released(&start_tag_);
  switch_to(idle_lane());
  // Blocks of one runner follow each other (they share the static __shared__ arrays), blocks of two runners
  // race.
  acquired(&end_tag_);
}

void BlockRunner::run_threads() {
  ThreadContext& context = *current_thread;
  context.block = main_.context.block;
  context.dynamic_shared = main_.context.dynamic_shared;
  context.block_size = grid_->block;
  context.grid_size = grid_->grid;
  const dim3 size = grid_->block;
  do {
    const unsigned thread = order_(started_++);
    context.linear = thread;
    if (size.y * size.z == 1)
      context.thread = {thread, 0, 0};
    else
      context.thread = {thread % size.x, thread / size.x % size.y, thread / (size.x * size.y)};
    if (one_thread_a_fiber_) acquired(&start_tag_);
    grid_->call(grid_->body);
    if (one_thread_a_fiber_) released(&end_tag_);
    --live_;
    if (arrived_ != 0 && arrived_ == live_)
      fatal("kernel %s: thread %u left while %u thread(s) wait at __syncthreads (%s:%u)", grid_->name, thread,
            arrived_, barrier_.file, barrier_.line);
  } while (!one_thread_a_fiber_ && started_ < threads_);
}

void BlockRunner::fiber_main() {
  entered_fiber();
  BlockRunner& self = here();
  for (;;) {
    self.run_threads();
    self.idle_.push(self.running_);
    self.switch_next();
  }
}

BlockRunner::Lane* BlockRunner::idle_lane() {
  if (Lane* lane = idle_.pop()) return lane;
  const Unseen unseen;
  lanes_.push_back(std::make_unique<Lane>());
  start_fiber(lanes_.back()->fiber, &BlockRunner::fiber_main);
  return lanes_.back().get();
}

void BlockRunner::switch_to(Lane* lane) {
  if (lane == running_) return;
  Lane* const from = std::exchange(running_, lane);
  current_thread = &lane->context;
  switch_fiber(from->fiber, lane->fiber);
}

void BlockRunner::switch_next() {
  if (started_ < threads_) return switch_to(idle_lane());
  if (Lane* lane = ready_.pop()) return switch_to(lane);
  if (live_ == 0) return switch_to(&main_);
  for (std::size_t i = 0; i < warps_.size(); ++i)
    if (warps_[i].arrived)
      fatal("kernel %s: warp %zu waits at %s:%u for lanes %#x of mask %#x (%u thread(s) at __syncthreads)",
            grid_->name, i / 32, warps_[i].where.file, warps_[i].where.line,
            warps_[i].mask & ~warps_[i].arrived, warps_[i].mask, arrived_);
  fatal("kernel %s: its threads wait for each other", grid_->name);
}

void BlockRunner::meet_block(const Where& where) {
  if (arrived_ == 0) {
    barrier_ = where;
  } else if (barrier_.line != where.line) {  // not by address: compilers duplicate calls
    fatal("kernel %s: divergent __syncthreads: some threads at %s:%u, others at %s:%u", grid_->name,
          barrier_.file, barrier_.line, where.file, where.line);
  }
  char* const tag = &barrier_tags_[parity_];
  released(tag);
  if (++arrived_ == live_) {
    if (live_ < threads_)
      fatal("kernel %s: %u of %u threads had left before __syncthreads (%s:%u)", grid_->name,
            threads_ - live_, threads_, where.file, where.line);
    arrived_ = 0;
    parity_ ^= 1;
    ready_.append(waiting_);
  } else {
    waiting_.push(running_);
    switch_next();
  }
  acquired(tag);
}

const std::uint64_t* BlockRunner::meet_warp(unsigned mask, std::uint64_t value, bool orders,
                                            const Where& where) {
  const unsigned warp = current_thread->linear / 32, lane = current_thread->linear % 32;
  if (!(mask >> lane & 1))
    fatal("kernel %s: lane %u calls a warp function whose mask %#x leaves it out (%s:%u)", grid_->name, lane,
          mask, where.file, where.line);
  WarpMeeting& meeting = warps_[warp * 32 + static_cast<unsigned>(__builtin_ctz(mask))];
  const unsigned round = meeting.round & 1;
  if (meeting.arrived == 0) {
    meeting.mask = mask;
    meeting.where = where;
  } else if (meeting.mask != mask || meeting.where.line != where.line) {
    fatal("kernel %s: warp %u diverged: line %u with mask %#x and %s:%u with mask %#x", grid_->name, warp,
          meeting.where.line, meeting.mask, where.file, where.line, mask);
  }
  char* const tag = &meeting.tags[round];
  if (orders) released(tag);
  meeting.values[round][lane] = value;
  meeting.arrived |= 1u << lane;
  meeting.waiting[lane] = running_;
  if (meeting.arrived == mask) {
    meeting.arrived = 0;
    ++meeting.round;
    for (unsigned others = mask & ~(1u << lane); others; others &= others - 1)
      ready_.push(meeting.waiting[__builtin_ctz(others)]);
  } else {
    switch_next();
  }
  if (orders) acquired(tag);
  return meeting.values[round];
}

int BlockRunner::count_block(bool predicate, const Where& where) {
  // The counter of this round is the last round's other one; it was cleared by whoever came first.
  const unsigned round = parity_;
  if (arrived_ == 0) counted_[round] = 0;
  counted_[round] += predicate;
  meet_block(where);
  return counted_[round];
}

void BlockRunner::fence() {
  acquired(fence_tag_);
  released(fence_tag_);
}

void meet_block(const Where& where) {
  BlockRunner::here().meet_block(where);
}
int count_block(bool predicate, const Where& where) {
  return BlockRunner::here().count_block(predicate, where);
}
const std::uint64_t* meet_warp(unsigned mask, std::uint64_t value, bool orders, const Where& where) {
  return BlockRunner::here().meet_warp(mask, value, orders, where);
}
void fence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  BlockRunner::here().fence();
}

Permutation::Permutation(unsigned count, std::uint64_t seed) : count_(count) {
  if (seed == 0 || count < 2) return;
  const std::uint64_t mixed = (seed + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
  offset_ = static_cast<unsigned>((mixed >> 32) % count);
  step_ = static_cast<unsigned>((mixed >> 7) % count) | 1u;
  while (std::gcd(step_, count) != 1) ++step_;
}

}  // namespace mirrorscale::emulated_cuda
