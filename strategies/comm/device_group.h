#pragma once
#include "kernels/backend.h"
#include "strategies/comm/communicator.h"

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

namespace mirrorscale::strategies {

/// How the replicas of one process reduce over the memory of their devices (tf.distribute.CrossDeviceOps).
enum class CrossDeviceOps {
  kDefault,               // host: the threads read each other's memory; cuda: NCCL
  kNccl,                  // NcclAllReduce
  kReductionToOneDevice,  // copies to device 0, adds there, copies back
  kHierarchicalCopy,      // copies along a binary tree of devices
};
/// "default", "nccl", "reduction_to_one_device", "hierarchical_copy". Throws std::invalid_argument that lists
/// the names.
CrossDeviceOps cross_device_ops_from(std::string_view name);

struct DeviceGroupOptions {
  CrossDeviceOps ops = CrossDeviceOps::kDefault;
  /// Longest wait of one rank for another.
  std::chrono::milliseconds limit = std::chrono::seconds(120);
};

/// The seats of a group of devices, one a rank.
class DeviceGroup {
 public:
  virtual ~DeviceGroup() = default;
  virtual std::string name() const = 0;
  /// By every rank's thread, once: a communicator whose spans are memory of `backend`'s device. `host` is the
  /// rank's seat among the threads; both must outlive the result.
  virtual std::unique_ptr<Communicator> join(kernels::Backend& backend, Communicator& host) = 0;
  /// Frees every rank that waits for another inside a collective, now and later; `why` becomes part of their
  /// exception. From any thread. A rank calls it when it fails.
  virtual void abort(const std::string& why) noexcept = 0;
  /// While the result lives, this rank waits for its device (synchronize, download) at most for the limit:
  /// after it the group is aborted, which ends the wait. Null where a device can't wait for another.
  virtual std::shared_ptr<void> watch(int rank, const char* what) = 0;
  /// After such a wait: throws GroupBroken if the group was aborted, with the reason.
  virtual void check(int rank) = 0;
};

/// For a backend name ("cpu", "cuda", …). Throws std::invalid_argument where the ops don't go with the
/// backend, std::runtime_error where the library they need isn't there.
std::unique_ptr<DeviceGroup> make_device_group(std::string_view backend, int ranks,
                                               const DeviceGroupOptions& options = {});

/// "2.28.9": the NCCL that is loaded; empty in a build without CUDA.
std::string nccl_version();

}  // namespace mirrorscale::strategies
