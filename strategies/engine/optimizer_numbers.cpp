#include "strategies/engine/optimizer_numbers.h"

#include <charconv>
#include <stdexcept>

namespace mirrorscale::strategies::internal {

void require(bool good, const std::string& text) {
  if (!good) throw std::invalid_argument("[optimizer] " + text);
}

std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double power(double base, std::int64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1, base *= base) {
    if ((n & 1) != 0) result *= base;
  }
  return result;
}

}  // namespace mirrorscale::strategies::internal
