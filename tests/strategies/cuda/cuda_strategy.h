#pragma once
#include "kernels/device_list.h"
#include "strategies/strategy.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <optional>

namespace mirrorscale::strategies::testing {

inline bool has_cuda_devices(int wanted) {
  return kernels::cuda_devices().devices.size() >= static_cast<std::size_t>(wanted);
}

inline StrategyOptions cuda_options(kernels::Numerics numerics,
                                    CrossDeviceOps ops = CrossDeviceOps::kDefault) {
  StrategyOptions options;
  options.numerics = numerics;
  options.cross_device_ops = ops;
  return options;
}

/// Mirrored on the first n CUDA devices.
inline Mirrored on_cuda(int n, const StrategyOptions& options) {
  return Mirrored(device_names(n, "cuda"), options);
}

}  // namespace mirrorscale::strategies::testing
