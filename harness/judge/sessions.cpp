#include "harness/judge/sessions.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::harness {

double seconds_of_utc(const std::string& time) {
  std::tm parts{};
  const int fields = std::sscanf(time.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d", &parts.tm_year, &parts.tm_mon,
                                 &parts.tm_mday, &parts.tm_hour, &parts.tm_min, &parts.tm_sec);
  if (fields != 6) {
    throw std::invalid_argument(
        fmt::format("[sessions] \"{}\"; expected a time such as 2024-06-07T09:30:00Z", time));
  }
  parts.tm_year -= 1900;
  parts.tm_mon -= 1;
  return static_cast<double>(timegm(&parts));
}

std::vector<int> session_numbers(std::span<const std::string> started, double gap_s) {
  std::vector<double> seconds;
  for (const std::string& time : started) seconds.push_back(seconds_of_utc(time));
  std::vector<std::size_t> order(started.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return seconds[i]; });
  std::vector<int> numbers(started.size());
  int number = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (k > 0 && seconds[order[k]] - seconds[order[k - 1]] > gap_s) ++number;
    numbers[order[k]] = number;
  }
  return numbers;
}

}  // namespace mirrorscale::harness
