#include "strategies/reducer.h"

#include <stdexcept>

namespace mirrorscale::strategies {

std::unique_ptr<Reducer> make_reducer(std::string_view name) {
  if (name == "fused") return fused_reducer();
  if (name == "replicated") return replicated_reducer();
  if (name == "bucketed") return bucketed_reducer();
  throw std::invalid_argument("[reducer] '" + std::string(name) +
                              "' is not known; there are: fused, replicated, bucketed");
}

std::unique_ptr<Reducer> default_reducer(const kernels::BackendInfo& info) {
  if (info.on_host) return fused_reducer();
  if (info.numerics == "exact") return replicated_reducer();
  return bucketed_reducer();
}

}  // namespace mirrorscale::strategies
