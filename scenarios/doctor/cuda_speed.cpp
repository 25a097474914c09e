#include "harness/output/format.h"
#include "kernels/backend.h"
#include "kernels/device_error.h"
#include "kernels/device_list.h"
#include "scenarios/doctor/doctor.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

using kernels::Backend;
using kernels::Buffer;

constexpr int kGpuLooks = 3;  // the best counts
constexpr std::size_t kPattern = std::size_t{1} << 16;

/// What is asked of a GPU; of a stand-in only whether it works.
struct Sizes {
  int product, exact_product;  // rows and columns of a square product
  std::size_t copied;          // floats
  double flops;                // of the FMA peak
  int repeats;
};
constexpr Sizes kSizes{8192, 4096, std::size_t{1} << 26, 4e12, 5};
constexpr Sizes kOfStandIn{48, 48, std::size_t{1} << 16, 1e4, 1};

/// A buffer of numbers that are no zeros: a GPU multiplies those with less power, and faster.
Buffer make_numbers(Backend& backend, std::size_t count) {
  std::vector<float> pattern(std::min(count, kPattern));
  std::minstd_rand random(1);
  for (float& value : pattern) value = static_cast<float>(random()) / static_cast<float>(random.max()) - 0.5F;
  Buffer buffer = backend.make_buffer(count);
  for (std::size_t at = 0; at < count; at += pattern.size()) {
    backend.upload(pattern.data(), std::min(pattern.size(), count - at), buffer.get() + at);
  }
  return buffer;
}

/// Seconds of one `work`, by the device's own clock, best of a few looks.
double best_s(Backend& backend, int repeats, const std::function<void()>& work) {
  work();  // warm
  double best = 0;
  for (int look = 0; look < kGpuLooks; ++look) {
    backend.mark(0);
    for (int i = 0; i < repeats; ++i) work();
    backend.mark(1);
    const double seconds = (backend.marked_s(1) - backend.marked_s(0)) / repeats;
    if (look == 0 || seconds < best) best = seconds;
  }
  return best;
}

double product_flops_per_s(int ordinal, const kernels::BackendOptions& options, int size, int repeats) {
  kernels::BackendOptions on = options;
  on.ordinal = ordinal;
  const auto backend = kernels::make_backend("cuda", on);
  const std::size_t count = kernels::activation_size(size, size);
  const Buffer x = make_numbers(*backend, count);
  const Buffer w = make_numbers(*backend, kernels::weight_size(size, size));
  const Buffer y = backend->make_buffer(count);
  const kernels::Layout layout = backend->info().layout;
  const double seconds = best_s(*backend, repeats, [&] {
    backend->linear(kernels::activation_view<const float>(layout, x.get(), size, size, size),
                    kernels::weight_view<const float>(layout, w.get(), size, size), nullptr,
                    kernels::Activation::kLinear,
                    kernels::activation_view(layout, y.get(), size, size, size));
  });
  return 2.0 * size * size * size / seconds;
}

std::string tera(double per_s) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f TFLOP/s", per_s * 1e-12);
  return text;
}
std::string giga(double bytes, double seconds) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f GB/s", bytes / seconds * 1e-9);
  return text;
}

std::string products(int ordinal, const Sizes& sizes) {
  using kernels::Numerics;
  using kernels::Precision;
  const auto fast = [&](Precision precision) {
    return tera(product_flops_per_s(ordinal, {0, Numerics::kFast, precision}, sizes.product, sizes.repeats));
  };
  return "float32 " + fast(Precision::kFloat32) + ", tf32 " + fast(Precision::kTensorFloat32) +
         ", bfloat16 " + fast(Precision::kBfloat16) + ", float16 " + fast(Precision::kFloat16) + ", exact " +
         tera(product_flops_per_s(ordinal, {0, Numerics::kExact, Precision::kFloat32}, sizes.exact_product,
                                  sizes.repeats)) +
         "; square, " + std::to_string(sizes.product) + " (exact " + std::to_string(sizes.exact_product) +
         ")";
}

std::string fma_peak(Backend& backend, const Sizes& sizes) {
  double done = 0;
  const double seconds = best_s(backend, 1, [&] { done = backend.run_fma_peak(sizes.flops); });
  return tera(done / seconds);
}

std::string copies(Backend& backend, const Sizes& sizes) {
  const Buffer from = make_numbers(backend, sizes.copied), to = backend.make_buffer(sizes.copied);
  std::vector<float> host(sizes.copied, 1.0F);
  const auto bytes = static_cast<double>(sizes.copied * sizeof(float));
  const double within =
      best_s(backend, sizes.repeats, [&] { backend.copy(from.get(), sizes.copied, to.get()); });
  const double up = best_s(backend, 1, [&] { backend.upload(host.data(), sizes.copied, to.get()); });
  const double down = best_s(backend, 1, [&] { backend.download(from.get(), sizes.copied, host.data()); });
  return giga(2 * bytes, within) + " read and written on the device, " + giga(bytes, up) +
         " from the host, " + giga(bytes, down) + " to the host (pageable memory); " +
         harness::format_bytes(static_cast<std::int64_t>(bytes));
}

void measure(const kernels::DeviceInfo& device, int ordinal, FindingSection& section) {
  const Sizes& sizes = device.emulated ? kOfStandIn : kSizes;
  const auto tell = [&](const std::string& subject, const std::string& text) {
    Finding found{subject, text};
    if (device.emulated) found = {subject, "runs; emulated, so no time is told", FindingState::kNote};
    section.findings.push_back(std::move(found));
  };
  try {
    const auto backend = kernels::make_backend("cuda", {ordinal, kernels::Numerics::kExact});
    tell(device.name + " FMA peak", fma_peak(*backend, sizes));
    tell(device.name + " products", products(ordinal, sizes));
    tell(device.name + " copies", copies(*backend, sizes));
  } catch (const kernels::DeviceFailed& error) {
    section.findings.push_back({device.name, error.what(), FindingState::kFailed,
                                "see 'nvidia-smi -q -d ECC,PAGE_RETIREMENT' and 'dmesg | grep Xid'"});
  } catch (const std::exception& error) {
    section.findings.push_back({device.name, error.what(), FindingState::kMissing,
                                "see 'nvidia-smi': other programs may hold its memory"});
  }
}

}  // namespace

FindingSection measure_cuda_speed() {
  FindingSection section{"GPU speed (measured now, best of 3)", {}};
  const auto devices = kernels::cuda_devices().devices;
  for (std::size_t i = 0; i < devices.size(); ++i) measure(devices[i], static_cast<int>(i), section);
  return section;
}

}  // namespace mirrorscale::scenarios
