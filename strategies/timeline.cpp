#include "strategies/timeline.h"

#include <algorithm>

namespace mirrorscale::strategies {

std::vector<double> Timeline::step_times_s() const {
  std::vector<double> times;
  double before = *std::max_element(starts_.begin(), starts_.end());
  for (std::size_t step = 0; step < steps(); ++step) {
    double last = 0;
    for (const auto& replica : marks_) last = std::max(last, replica[step].end_s);
    times.push_back(last - before);
    before = last;
  }
  return times;
}

double Timeline::total_s() const {
  double sum = 0;
  for (const double t : step_times_s()) sum += t;
  return sum;
}

}  // namespace mirrorscale::strategies
