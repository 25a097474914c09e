#pragma once
#include <cstddef>
#include <string>

namespace mirrorscale::harness {

/// "w[3, 4]" with columns, "w[12]" without.
inline std::string element_name(const std::string& name, std::size_t index, std::size_t columns) {
  if (columns == 0) return name + "[" + std::to_string(index) + "]";
  return name + "[" + std::to_string(index / columns) + ", " + std::to_string(index % columns) + "]";
}

}  // namespace mirrorscale::harness
