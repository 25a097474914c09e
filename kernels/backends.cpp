#include "kernels/backend.h"
#include "kernels/cuda_backend.h"
#include "kernels/reference/backend.h"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>

namespace mirrorscale::kernels {

namespace {

void require_host_options(std::string_view name, const BackendOptions& options) {
  if (options.numerics == Numerics::kFast || options.precision != Precision::kFloat32) {
    throw std::invalid_argument(
        "[backend] " + std::string(name) +
        " computes in exact float32 only; fast numerics and other precisions need cuda");
  }
}

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options) {
  if (name == "cuda") return make_cuda_backend(options);
  if (name == "reference") {
    require_host_options(name, options);
    return reference::make_backend();
  }
  if (name == "cpu") {
    require_host_options(name, options);
    const char* forced = std::getenv("MIRRORSCALE_CPU_TARGET");
    if (forced == nullptr || *forced == '\0') return make_cpu_backend(cpu_targets().front());
    try {
      return make_cpu_backend(forced);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string("[backend] MIRRORSCALE_CPU_TARGET: ") + error.what());
    }
  }
  throw std::invalid_argument("[backend] unknown backend '" + std::string(name) +
                              "'; expected one of: cpu, cuda, reference");
}

std::size_t own_bytes(std::string_view name, const BackendOptions& options, std::size_t largest_matrix) {
  if (name != "cuda" || options.numerics == Numerics::kExact) return 0;
  const bool rounds = options.precision == Precision::kBfloat16 || options.precision == Precision::kFloat16;
  return kCudaWorkspaceBytes + (rounds ? 2 * largest_matrix * sizeof(std::uint16_t) : 0);
}

}  // namespace mirrorscale::kernels
