#include "kernels/backend.h"
#include "kernels/reference/backend.h"

#include <cstdlib>
#include <stdexcept>

namespace mirrorscale::kernels {

std::unique_ptr<Backend> make_backend(std::string_view name) {
  if (name == "reference") return reference::make_backend();
  if (name == "cpu") {
    const char* forced = std::getenv("MIRRORSCALE_CPU_TARGET");
    if (forced == nullptr || *forced == '\0') return make_cpu_backend(cpu_targets().front());
    try {
      return make_cpu_backend(forced);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(std::string("[backend] MIRRORSCALE_CPU_TARGET: ") + error.what());
    }
  }
  throw std::invalid_argument("[backend] unknown backend '" + std::string(name) +
                              "'; expected one of: cpu, reference");
}

}  // namespace mirrorscale::kernels
