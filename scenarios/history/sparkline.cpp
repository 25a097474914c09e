#include "scenarios/history/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace mirrorscale::scenarios {

std::string sparkline(std::span<const double> values, std::size_t most) {
  constexpr std::array<const char*, 8> kLevels{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  if (values.size() > most) values = values.last(most);
  if (values.empty()) return {};
  const auto [low, high] = std::ranges::minmax(values);
  std::string text;
  for (const double value : values) {
    const double share = high > low ? (value - low) / (high - low) : 0.5;
    text += kLevels[static_cast<std::size_t>(std::lround(share * 7))];
  }
  return text;
}

}  // namespace mirrorscale::scenarios
