#include "kernels/random.h"

#include <cmath>
#include <numbers>

namespace mirrorscale::kernels {

std::array<float, 2> to_normal(std::uint32_t a, std::uint32_t b) {
  // The radius from (0, 1], so that log is finite; the angle from [0, 2 pi).
  const double u = (static_cast<double>(a) + 1) * 0x1p-32, v = static_cast<double>(b) * 0x1p-32;
  const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::numbers::pi * v;
  return {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))};
}

}  // namespace mirrorscale::kernels
