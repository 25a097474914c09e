#include "harness/output/format.h"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace mirrorscale::harness {
namespace {

constexpr const char* kNotMeasured = "n/a";

struct Unit {
  double size;
  const char* name;
};

/// Three significant digits, never as 1e+03.
std::string three_digits(double value) {
  const double size = std::abs(value);
  // The limits are where rounding gains a digit: 9.995 is printed as 10.0, not as 10.00.
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

/// Units from the largest to the smallest.
std::string with_unit(double value, std::span<const Unit> units) {
  if (!std::isfinite(value)) return kNotMeasured;
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.size * 0.9995 || &unit == &units.back()) {
      return fmt::format("{} {}", three_digits(value / unit.size), unit.name);
    }
  }
  return kNotMeasured;
}

}  // namespace

std::string format_seconds(double seconds) {
  static constexpr std::array<Unit, 4> kUnits{{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}}};
  return with_unit(seconds, kUnits);
}

std::string format_ms(double seconds) {
  return std::isfinite(seconds) ? fmt::format("{:.3f}", seconds * 1e3) : kNotMeasured;
}

std::string format_rate(double per_s) {
  static constexpr std::array<Unit, 4> kUnits{{{1e9, "G/s"}, {1e6, "M/s"}, {1e3, "k/s"}, {1, "/s"}}};
  return with_unit(per_s, kUnits);
}

std::string format_count(double count) {
  return std::isfinite(count) ? fmt::format("{:.0f}", count) : kNotMeasured;
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<Unit, 4> kUnits{
      {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}}};
  if (bytes > -1024 && bytes < 1024) return fmt::format("{} B", bytes);
  return with_unit(static_cast<double>(bytes), kUnits);
}

std::string format_interval(const Interval& interval, int decimals) {
  if (!std::isfinite(interval.value)) return kNotMeasured;
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", interval.value, decimals, interval.low, decimals,
                     interval.high, decimals);
}

std::string format_percent(double fraction) {
  return std::isfinite(fraction) ? fmt::format("{:.1f} %", fraction * 100) : kNotMeasured;
}

}  // namespace mirrorscale::harness
