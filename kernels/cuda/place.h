#pragma once

namespace mirrorscale::kernels::cuda {

/// Where a call stands in the sources, as the default argument `Place where = Place::current()`. (Clang 14,
/// which runs our ThreadSanitizer tests, has no std::source_location.)
struct Place {
  const char* file = "";
  int line = 0;
  static constexpr Place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace mirrorscale::kernels::cuda
