#include "emulated_cuda/faults.h"
#include "emulated_cuda/settings.h"
#include "emulated_cuda/stream.h"
#include <cstdio>
#include <stdexcept>

namespace mirrorscale::emulated_cuda {

void reset() {
  const Unseen unseen;
  System& all = everything();
  {
    const Guard guard(all.lock);
    for (Device& device : all.devices) {
      device.sticky.store(cudaSuccess);
      device.peers = 0;
      device.operations = 0;
      device.counters = {};
      device.faults.clear();
    }
  }
  apply_environment(all);
  set_current_device(0);
  take_last_error();
}

void set_device_count(int devices) {
  if (devices < 0 || devices > kMostDevices) throw std::invalid_argument("[set_device_count] 0 … 64 devices");
  everything().device_count.store(static_cast<std::uint32_t>(devices));
}

void set_driver_present(bool present) {
  everything().driver_present.store(present);
}

void set_peer_access_possible(bool possible) {
  everything().peers_possible.store(possible);
}

void set_memory_bytes(int device, std::size_t bytes) {
  const Guard guard(everything().lock);
  device_of(device).capacity_bytes = bytes;
}

void set_seed(std::uint64_t seed) {
  const Guard guard(everything().lock);
  everything().seed = seed;
  everything().seeded.store(seed != 0);
}

void set_hang_report_after_ms(unsigned limit_ms) {
  everything().hang_after_ms.store(limit_ms);
}

Counters counters(int device) {
  const Guard guard(everything().lock);
  return device_of(device).counters;
}

Live live() {
  const Guard guard(everything().lock);
  return everything().live;
}

std::string hang_report() {
  const Unseen unseen;
  System& all = everything();
  std::string text;
  for (Device& device : all.devices) {
    std::vector<Stream> streams;
    {
      const Guard guard(all.lock);
      streams = device.streams;
      if (device.legacy) streams.push_back(device.legacy);
    }
    for (const Stream& stream : streams) {
      Entry now;
      std::size_t behind = 0;
      {
        const Guard guard(stream->lock);
        if (!stream->busy) continue;
        now = stream->now;
        behind = stream->queue.size();
      }
      text +=
          "  device " + std::to_string(device.index) + ", stream " + std::to_string(stream->number) + ": ";
      if (now.wait) {
        text += "waits for an event of device " + std::to_string(now.wait->device) + ", stream " +
                std::to_string(now.wait->stream);
      } else if (now.operation) {
        text += now.operation->name;
        if (now.operation->explain) text += ": " + now.operation->explain();
      }
      text += "; " + std::to_string(behind) + " operation(s) behind\n";
    }
  }
  return text.empty() ? "  no stream has work\n" : text;
}

}  // namespace mirrorscale::emulated_cuda
