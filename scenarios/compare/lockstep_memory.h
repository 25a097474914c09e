#pragma once
#include "scenarios/compare/shared_word.h"

#include <cstdint>
#include <memory>
#include <string_view>

namespace mirrorscale::scenarios {

/// What two builds must agree on to be compared: this memory's layout, the orders, the worker's options and
/// the answers of its --check. Raised with any change of these; builds of different numbers are refused.
inline constexpr std::uint32_t kLockstepProtocol = 1;

enum class Order : std::uint32_t {
  kPrepare = 1,  // make the model, warm up
  kSlice = 2,    // train `steps` steps
  kEnd = 3,      // leave
};

/// One worker's place. The order IS the token: a worker that has none sleeps, with all its threads, on
/// `orders`, and only one of the two has one at a time.
struct LockstepSeat {
  SharedWord orders{0};  // given so far; after `order` and `steps` were written
  SharedWord done{0};    // carried out so far; after the answers were written
  SharedWord ended{0};   // the process is gone; set by the parent
  SharedWord failed{0};  // the last order ended with an error; `text` says which
  Order order = Order::kPrepare;
  std::int32_t steps = 0;
  // Answers.
  std::int32_t warmup_steps = 0, settled = 0;  // of kPrepare, with step_s
  double step_s = 0;
  double seconds = 0;            // of kSlice: the steps', each the slowest replica's from a common start
  double cpu_s = 0;              // of all threads of the process
  std::int64_t preemptions = 0;  // involuntary switches, where its threads waited for cores at all
  double planted_s = 0;          // of kPrepare: wait added to each step by a planted slowdown
  char text[1024] = {};
};

struct LockstepMemory {
  std::uint32_t protocol = kLockstepProtocol, bytes = sizeof(LockstepMemory);
  SharedWord bell{0};  // rung with every answer and every end; the parent sleeps on it
  LockstepSeat seats[2];
};

/// Cuts `text` where it doesn't fit.
void set_text(LockstepSeat& seat, std::string_view text);

/// The memory, mapped, and its descriptor; no name in any file system.
class SharedLockstep {
 public:
  /// New and zeroed. Throws std::runtime_error.
  SharedLockstep();
  /// What another process made. Throws std::runtime_error unless it has this layout and protocol.
  explicit SharedLockstep(int descriptor);
  ~SharedLockstep();
  SharedLockstep(const SharedLockstep&) = delete;
  SharedLockstep& operator=(const SharedLockstep&) = delete;

  LockstepMemory& operator*() const { return *memory_; }
  LockstepMemory* operator->() const { return memory_; }
  int descriptor() const { return descriptor_; }

 private:
  void map();
  int descriptor_;
  LockstepMemory* memory_ = nullptr;
};

}  // namespace mirrorscale::scenarios
