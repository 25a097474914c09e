#pragma once
#include "kernels/device_list.h"
#include "kernels/random.h"
#include "strategies/comm/device_group.h"
#include "strategies/comm/threads/device_team.h"
#include "tests/strategies/support/bits.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Ranks that are CUDA devices, each with a thread: for tests of what they do together.
namespace mirrorscale::strategies::testing {

/// One rank of a run.
struct DeviceSeat {
  int rank = 0, size = 0;
  kernels::Backend& backend;
  Communicator& devices;  // spans are memory of the device
  Communicator& host;     // spans are the thread's own
  DeviceGroup& group;
};

inline int devices_there() {
  return static_cast<int>(kernels::cuda_devices().devices.size());
}

inline std::unique_ptr<kernels::Backend> make_device(int ordinal) {
  kernels::BackendOptions options;
  options.ordinal = ordinal;
  return kernels::make_backend("cuda", options);
}

/// Runs `body` on `ranks` devices that have joined a group, as Session does: whoever fails aborts the group.
inline void run_on_devices(int ranks, const DeviceGroupOptions& options,
                           const std::function<void(DeviceSeat&)>& body) {
  DeviceTeam team(ranks, {.limit = options.limit, .pin = false});
  const std::shared_ptr<DeviceGroup> group = make_device_group("cuda", ranks, options);
  team.run([&](Communicator& host) {
    try {
      const auto backend = make_device(host.rank());
      const auto devices = group->join(*backend, host);
      DeviceSeat seat{host.rank(), host.size(), *backend, *devices, host, *group};
      body(seat);
    } catch (const std::exception& e) {
      group->abort("rank " + std::to_string(host.rank()) + " failed: " + e.what());
      throw;
    }
  });
}

/// A vector in a device's memory.
class OnDevice {
 public:
  OnDevice(kernels::Backend& backend, const std::vector<float>& values)
      : backend_(backend), count_(values.size()), memory_(backend.make_buffer(count_)) {
    if (count_ > 0) backend.upload(values.data(), count_, memory_.get());
  }
  std::span<float> span() { return {memory_.get(), count_}; }
  /// After the group's limit at most, when a collective never ends.
  std::vector<float> values(DeviceSeat& seat, const char* what = "download") {
    std::vector<float> host(count_);
    {
      const auto watch = seat.group.watch(seat.rank, what);
      backend_.synchronize();
    }
    seat.group.check(seat.rank);
    if (count_ > 0) backend_.download(memory_.get(), count_, host.data());
    return host;
  }

 private:
  kernels::Backend& backend_;
  std::size_t count_;
  kernels::Buffer memory_;
};

/// Values of very different size, so that another order of additions gives other bits.
inline std::vector<float> uneven_values(int rank, std::size_t count, int which = 0) {
  std::vector<float> values(count);
  const auto stream = static_cast<std::uint32_t>(rank * 100 + which);
  for (std::size_t i = 0; i < count; ++i) {
    const auto words = kernels::random_words(7, kernels::Purpose::kTest, stream, i);
    const float unit = kernels::to_unit_float(words[0]), size = kernels::to_unit_float(words[1]);
    values[i] = (2 * unit - 1) * (size < 0.3F ? 1e4F : size < 0.6F ? 1.0F : 1e-3F);
  }
  return values;
}

/// Small whole numbers: their sums are exact in any order.
inline std::vector<float> whole_values(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<int>(i * 7 + static_cast<std::size_t>(rank) * 13) % 101 - 50);
  }
  return values;
}

constexpr std::size_t kLengths[] = {0, 1, 15, 16, 17, 33, 1000};

}  // namespace mirrorscale::strategies::testing
