#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// The control side of the emulated devices: for tests alone, next to the CUDA API that the tested code uses.
/// The environment says the same for whole programs:
///   MIRRORSCALE_EMULATED_DEVICES=8          number of devices; 0, or "no-driver"
///   MIRRORSCALE_EMULATED_MEMORY_BYTES=N     memory of each device (default 1 GiB)
///   MIRRORSCALE_EMULATED_SEED=N             random order and small delays; 0 (default): natural order, no
///   delay MIRRORSCALE_EMULATED_FAULT=malloc:5@1,kernel:20@0   what `inject(text)` takes
///   MIRRORSCALE_EMULATED_HANG_SECONDS=N     a host wait longer than this prints `hang_report` once (default
///   20) MIRRORSCALE_EMULATED_LEGACY_STREAM=allow   asynchronous work on the legacy default stream is run,
///   not refused
namespace mirrorscale::emulated_cuda {

enum class Fault {
  kMallocFails,      // malloc: cudaErrorMemoryAllocation, once; nothing sticks
  kKernelFaults,     // kernel: the nth launch (kernels and GEMMs) leaves cudaErrorIllegalAddress, sticky
  kDeviceLost,       // lost: at the nth operation the device falls off the bus: cudaErrorDevicesUnavailable,
                     // sticky
  kEccError,         // ecc: at the nth operation cudaErrorECCUncorrectable, sticky
  kCopyFlipsBit,     // copy: the nth copy that this device's streams run flips one bit of what it wrote
  kRankNeverJoins,   // join: the nth collective of the rank on this device is swallowed; its peers wait
  kCollectiveFails,  // nccl: at the nth collective ncclCommGetAsyncError says ncclRemoteError; the rank
                     // stalls
};

/// The nth occurrence from now on (1 is the next) on `device` fails. Faults add up.
void inject(Fault fault, int device, std::uint64_t nth = 1);
/// "kind:nth@device", several separated by commas; throws std::invalid_argument when it cannot be read.
void inject(const std::string& text);

/// Devices as at the start of the process: settings from the environment, no fault, no sticky error, no peer
/// access, counters zero. Live objects stay as they are. No work may be in flight.
void reset();
void set_device_count(int devices);  // at most 64
/// Without a driver every call but the two version queries says cudaErrorInsufficientDriver.
void set_driver_present(bool present);
/// Pairs of devices without peer access answer 0 to cudaDeviceCanAccessPeer.
void set_peer_access_possible(bool possible);
void set_memory_bytes(int device, std::size_t bytes);
void set_seed(std::uint64_t seed);
/// How long a host wait lasts before `hang_report` is printed.
void set_hang_report_after_ms(unsigned limit_ms);

/// What a device was asked for since the start or `reset`; graph launches count what they replay.
struct Counters {
  std::uint64_t allocations = 0;
  std::uint64_t kernels = 0;
  std::uint64_t gemms = 0;
  std::uint64_t copies = 0;
  std::uint64_t memsets = 0;
  std::uint64_t collectives = 0;  // of the rank on this device
  std::uint64_t graph_launches = 0;
  std::uint64_t event_waits = 0;
};
Counters counters(int device);

/// What exists now; all zero when a program has returned everything.
struct Live {
  std::uint64_t streams = 0;
  std::uint64_t events = 0;
  std::uint64_t graphs = 0;  // graphs and executable graphs
  std::uint64_t blas_handles = 0;
  std::uint64_t communicators = 0;
  std::uint64_t device_allocations = 0;
  std::uint64_t device_bytes = 0;
  std::uint64_t pinned_bytes = 0;  // allocated or registered
};
Live live();

/// One line for each stream that has work: what it does, or what it waits for and who has not come.
std::string hang_report();

}  // namespace mirrorscale::emulated_cuda
