#pragma once

#include "emulated_cuda/faults.h"
#include "emulated_cuda/sanitizers.h"
#include "emulated_cuda/word.h"
#include <cstddef>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <list>
#include <map>
#include <vector>

namespace mirrorscale::emulated_cuda {

constexpr int kMostDevices = 64;

/// What an operation counts as.
enum class Kind { kKernel, kGemm, kCopy, kMemset, kHostFunction, kRecord, kWait, kCollective, kMemory };

struct Pending {  // an injected fault: strikes when the count of what it watches reaches `at`
  Fault fault;
  std::uint64_t at;
};

struct Device {
  int index = 0;
  // Below: under System::lock, but for the words.
  std::size_t capacity_bytes = 0;
  std::size_t used_bytes = 0;
  std::uint64_t allocations_live = 0;
  Word sticky;  // cudaError_t that nothing clears
  std::uint64_t peers = 0;
  std::uint64_t operations = 0;  // kernels, GEMMs, copies, memsets and collectives
  Counters counters;
  std::vector<Pending> faults;
  std::vector<Ref<CUstream_st>> streams;  // until drained, also those destroyed
  Ref<CUstream_st> legacy;
};

enum class MemoryKind { kDevice, kPinned, kRegistered };
struct Allocation {
  std::size_t bytes;
  int device;  // of pinned memory: the one that was current
  MemoryKind where;
};

/// Everything there is. Never destroyed: stream threads may outlive main.
struct System {
  Lock lock;
  Word device_count;
  Word driver_present{1};
  Word peers_possible{1};
  Word legacy_allowed;
  Word hang_after_ms{20000};
  Word seeded;
  std::uint64_t seed = 0;
  Device devices[kMostDevices];
  std::map<std::uintptr_t, Allocation> memory;
  Live live;
  unsigned next_stream = 1;
};
System& everything();
/// A cuBLAS or cuBLASLt handle was made (1) or destroyed (~0).
void count_blas_handles(std::uint64_t change);
Device& device_of(int index);

/// The calling thread's device and last error, as the API knows them.
int current_device();
void set_current_device(int device);
/// Remembers an error for cudaGetLastError; returns its argument.
cudaError_t report(cudaError_t error);
cudaError_t take_last_error();
cudaError_t peek_last_error();

/// cudaSuccess when the current device can be used; no driver, no device, or its sticky error otherwise.
cudaError_t usable();
cudaError_t driver_state();

/// The allocation that holds [p, p + bytes), or null. Under System::lock.
const Allocation* find_allocation(const void* p, std::size_t bytes);
/// May `device` touch all of [p, p + bytes)? Its own memory, a peer's it enabled, and pinned memory.
bool may_touch(int device, const void* p, std::size_t bytes);
/// Does p point into the memory of a device that `device` has no access to?
bool is_foreign(int device, const void* p);
bool is_device_memory(const void* p, std::size_t bytes);
bool is_pinned(const void* p);
/// Returns memory of any kind to where it came from; false when p is not the start of an allocation.
bool release_allocation(void* p, MemoryKind where);

/// Counts an operation of `kind` on the device; says which fault strikes it, if one does.
struct Strike {
  cudaError_t sticky = cudaSuccess;
  bool flips_bit = false;
};
Strike count_operation(Device& device, Kind kind);
/// As above for what is not an operation of a stream; true when the fault strikes.
bool count_allocation(Device& device);
struct CollectiveStrike {
  bool swallowed = false;
  bool fails = false;
};
CollectiveStrike count_collective(Device& device);

/// A device that a fault or a wrong kernel has broken: the error stays for all later calls.
void break_device(Device& device, cudaError_t error);

/// Sleeps in short pieces until `done()`; prints the hang report once when it takes too long.
template <class Done>
void wait_on(Word& word, const char* what, Done done);
void note_long_wait(const char* what, unsigned& waited_ms, bool& told);

template <class Done>
void wait_on(Word& word, const char* what, Done done) {
  unsigned waited_ms = 0;
  bool told = false;
  for (;;) {
    const std::uint32_t seen = word.load();
    if (done()) return;
    constexpr unsigned kPieceMs = 250;
    word.sleep_while(seen, kPieceMs);
    note_long_wait(what, waited_ms, told);
  }
}

}  // namespace mirrorscale::emulated_cuda
