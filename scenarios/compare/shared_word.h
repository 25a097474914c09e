#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>

namespace mirrorscale::scenarios {

/// A number in memory that processes share; whoever waits for it to change sleeps in the kernel (a futex).
using SharedWord = std::atomic<std::uint32_t>;
static_assert(SharedWord::is_always_lock_free && sizeof(SharedWord) == 4);

/// Returns true as soon as `word` is no longer `seen`, false when `deadline` has passed. May return true
/// early without a change: ask again.
bool wait_for_change(SharedWord& word, std::uint32_t seen, std::chrono::steady_clock::time_point deadline);
/// Wakes whoever sleeps on it, in all processes. After the change.
void wake_all(SharedWord& word);

}  // namespace mirrorscale::scenarios
