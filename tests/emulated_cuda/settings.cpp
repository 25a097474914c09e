#include "emulated_cuda/settings.h"

#include "emulated_cuda/executor.h"
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mirrorscale::emulated_cuda {
namespace {

constexpr std::size_t kDefaultBytes = std::size_t{1} << 30;
constexpr std::uint32_t kDefaultDevices = 8;

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (!text || !*text) return otherwise;
  std::uint64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto read = std::from_chars(text, end, value);
  if (read.ec != std::errc() || read.ptr != end) fatal("%s=%s is no number", name, text);
  return value;
}

struct Name {
  std::string_view text;
  Fault fault;
};
constexpr Name kNames[] = {
    {"malloc", Fault::kMallocFails},   {"kernel", Fault::kKernelFaults}, {"lost", Fault::kDeviceLost},
    {"ecc", Fault::kEccError},         {"copy", Fault::kCopyFlipsBit},   {"join", Fault::kRankNeverJoins},
    {"nccl", Fault::kCollectiveFails},
};

struct Spec {
  Fault fault;
  std::uint64_t nth;
  int device;
};

Spec read_spec(std::string_view text) {
  std::string quoted = "[emulated fault] '";
  quoted.append(text).append("': ");
  const auto colon = text.find(':'), at = text.find('@');
  if (colon == std::string_view::npos || at == std::string_view::npos || at < colon)
    throw std::invalid_argument(quoted + "expected kind:nth@device, as malloc:5@1");
  Spec spec{};
  const Name* known = nullptr;
  for (const Name& name : kNames)
    if (name.text == text.substr(0, colon)) known = &name;
  if (!known) throw std::invalid_argument(quoted + "known kinds: malloc kernel lost ecc copy join nccl");
  spec.fault = known->fault;
  const auto whole = [&](std::string_view part, auto& value) {
    const auto read = std::from_chars(part.data(), part.data() + part.size(), value);
    return read.ec == std::errc() && read.ptr == part.data() + part.size();
  };
  if (!whole(text.substr(colon + 1, at - colon - 1), spec.nth) || spec.nth == 0)
    throw std::invalid_argument(quoted + "the count starts at 1");
  if (!whole(text.substr(at + 1), spec.device) || spec.device < 0 || spec.device >= kMostDevices)
    throw std::invalid_argument(quoted + "the device is a number below 64");
  return spec;
}

std::uint64_t count_watched(const Device& device, Fault fault) {
  switch (fault) {
    case Fault::kMallocFails:
      return device.counters.allocations;
    case Fault::kKernelFaults:
      return device.counters.kernels + device.counters.gemms;
    case Fault::kDeviceLost:
    case Fault::kEccError:
      return device.operations;
    case Fault::kCopyFlipsBit:
      return device.counters.copies;
    case Fault::kRankNeverJoins:
    case Fault::kCollectiveFails:
      return device.counters.collectives;
  }
  return 0;
}

void add_fault(System& system, const Spec& spec) {
  const Guard guard(system.lock);
  Device& device = system.devices[spec.device];
  device.faults.push_back({spec.fault, count_watched(device, spec.fault) + spec.nth});
}

void add_faults(System& system, std::string_view text) {
  while (!text.empty()) {
    const auto comma = text.find(',');
    add_fault(system, read_spec(text.substr(0, comma)));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
}

/// Takes the fault that strikes at the present count, if there is one. Under System::lock.
bool strikes(Device& device, Fault fault) {
  const std::uint64_t count = count_watched(device, fault);
  for (auto it = device.faults.begin(); it != device.faults.end(); ++it)
    if (it->fault == fault && it->at == count) {
      device.faults.erase(it);
      return true;
    }
  return false;
}

}  // namespace

void apply_environment(System& system) {
  const char* devices = std::getenv("MIRRORSCALE_EMULATED_DEVICES");
  const bool no_driver = devices && std::string_view(devices) == "no-driver";
  system.driver_present.store(!no_driver);
  const std::uint64_t count = no_driver ? 0 : number("MIRRORSCALE_EMULATED_DEVICES", kDefaultDevices);
  if (count > kMostDevices) fatal("MIRRORSCALE_EMULATED_DEVICES: at most %d", kMostDevices);
  system.device_count.store(static_cast<std::uint32_t>(count));
  const std::size_t bytes = number("MIRRORSCALE_EMULATED_MEMORY_BYTES", kDefaultBytes);
  for (Device& device : system.devices) device.capacity_bytes = bytes;
  system.seed = number("MIRRORSCALE_EMULATED_SEED", 0);
  system.seeded.store(system.seed != 0);
  system.hang_after_ms.store(
      static_cast<std::uint32_t>(number("MIRRORSCALE_EMULATED_HANG_SECONDS", 20) * 1000));
  system.peers_possible.store(1);
  const char* legacy = std::getenv("MIRRORSCALE_EMULATED_LEGACY_STREAM");
  system.legacy_allowed.store(legacy && std::string_view(legacy) == "allow");
  try {
    if (const char* faults = std::getenv("MIRRORSCALE_EMULATED_FAULT")) add_faults(system, faults);
  } catch (const std::invalid_argument& wrong) {
    fatal("MIRRORSCALE_EMULATED_FAULT: %s", wrong.what());
  }
}

void inject(Fault fault, int device, std::uint64_t nth) {
  const Unseen unseen;
  if (device < 0 || device >= kMostDevices || nth == 0)
    throw std::invalid_argument("[inject] the device is 0 … 63, the count starts at 1");
  add_fault(everything(), {fault, nth, device});
}

void inject(const std::string& text) {
  const Unseen unseen;
  add_faults(everything(), text);
}

Strike count_operation(Device& device, Kind kind) {
  const Guard guard(everything().lock);
  Strike strike;
  Counters& counters = device.counters;
  switch (kind) {
    case Kind::kKernel:
    case Kind::kGemm:
      ++(kind == Kind::kGemm ? counters.gemms : counters.kernels);
      if (strikes(device, Fault::kKernelFaults)) strike.sticky = cudaErrorIllegalAddress;
      break;
    case Kind::kCopy:
      ++counters.copies;
      strike.flips_bit = strikes(device, Fault::kCopyFlipsBit);
      break;
    case Kind::kMemset:
      ++counters.memsets;
      break;
    case Kind::kCollective:
      break;  // counted by count_collective when it runs
    case Kind::kWait:
      ++counters.event_waits;
      return strike;
    default:
      return strike;
  }
  ++device.operations;
  if (strikes(device, Fault::kDeviceLost)) strike.sticky = cudaErrorDevicesUnavailable;
  if (strikes(device, Fault::kEccError)) strike.sticky = cudaErrorECCUncorrectable;
  return strike;
}

bool count_allocation(Device& device) {
  const Guard guard(everything().lock);
  ++device.counters.allocations;
  return strikes(device, Fault::kMallocFails);
}

CollectiveStrike count_collective(Device& device) {
  const Guard guard(everything().lock);
  ++device.counters.collectives;
  CollectiveStrike strike;
  strike.swallowed = strikes(device, Fault::kRankNeverJoins);
  strike.fails = strikes(device, Fault::kCollectiveFails);
  return strike;
}

}  // namespace mirrorscale::emulated_cuda
