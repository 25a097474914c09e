#include "harness/measure/warmup.h"

#include "harness/measure/summary.h"

#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {

WarmupDetector::WarmupDetector(const WarmupOptions& options) : options_(options) {
  const int needed = options.fewest + 2 * options.window;
  if (options.fewest < 0 || options.window < 1 || !(options.tolerance > 0) || options.most < needed) {
    throw std::invalid_argument(fmt::format(
        "[WarmupOptions] fewest {}, window {}, tolerance {}, most {}; expected fewest >= 0, window >= 1, "
        "tolerance > 0, most >= fewest + 2 window",
        options.fewest, options.window, options.tolerance, options.most));
  }
}

bool WarmupDetector::add(double step_s) {
  if (!std::isfinite(step_s) || step_s < 0) {
    throw std::invalid_argument(fmt::format("[WarmupDetector] a step of {} seconds", step_s));
  }
  if (done_) return true;
  steps_s_.push_back(step_s);
  const auto window = static_cast<std::size_t>(options_.window);
  const std::span<const double> all(steps_s_);
  if (all.size() >= static_cast<std::size_t>(options_.fewest) + 2 * window) {
    const double now = *median(all.last(window));
    const double before = *median(all.last(2 * window).first(window));
    settled_ = std::abs(now - before) <= options_.tolerance * before;
  }
  done_ = settled_ || steps() >= options_.most;
  return done_;
}

std::optional<double> drift(std::span<const double> values) {
  const std::size_t third = values.size() / 3;
  if (third < 3) return {};
  const double first = *median(values.first(third)), last = *median(values.last(third));
  if (!(first > 0))
    throw std::invalid_argument(
        fmt::format("[drift] median {} of the first third; expected more than 0", first));
  return last / first - 1;
}

}  // namespace mirrorscale::harness
