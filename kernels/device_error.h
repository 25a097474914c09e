#pragma once
#include <cstddef>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels {

/// A device has no room for what was asked. The device stays usable.
class OutOfMemory : public std::runtime_error {
 public:
  OutOfMemory(const std::string& device, std::size_t asked, std::size_t used, std::size_t free,
              std::size_t own = 0)
      : std::runtime_error(
            device + " is out of memory: " + (asked == 0 ? "" : std::to_string(asked) + " bytes asked, ") +
            std::to_string(used) + " used, " + std::to_string(free) + " free"),
        asked_bytes(asked),
        used_bytes(used),
        free_bytes(free),
        own_bytes(own) {}
  /// 0 asked: a library or the driver wanted memory of its own, and didn't say how much.
  /// used: by anybody on the device; own: of these, by the backend that asked.
  const std::size_t asked_bytes, used_bytes, free_bytes, own_bytes;
};

/// A device failed in a way that it can't be used any more (a faulting kernel, a lost device). `device` names
/// it, e.g. "cuda:2".
class DeviceFailed : public std::runtime_error {
 public:
  DeviceFailed(std::string name, const std::string& what)
      : std::runtime_error(name + " failed: " + what), device(std::move(name)) {}
  const std::string device;
};

}  // namespace mirrorscale::kernels
