#pragma once
#include "harness/measure/interval.h"

#include <cstdint>
#include <string>

namespace mirrorscale::harness {

/// "4.15 ms", "830 us", "2.1 s": three significant digits. "n/a" for NaN or infinity, here and below.
std::string format_seconds(double seconds);
/// The same number always in ms, for columns: "4.150".
std::string format_ms(double seconds);
/// "61.7 k/s", "1.2 M/s".
std::string format_rate(double per_s);
/// "61702": whole and plain, for columns.
std::string format_count(double count);
/// "1.5 GiB", "512 B".
std::string format_bytes(std::int64_t bytes);
/// "0.934 [0.912, 0.956]".
std::string format_interval(const Interval& interval, int decimals = 3);
/// "93.4 %".
std::string format_percent(double fraction);

}  // namespace mirrorscale::harness
