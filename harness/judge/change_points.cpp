#include "harness/judge/change_points.h"

#include "harness/measure/summary.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <random>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

struct Split {
  std::size_t at = 0;
  double statistic = -1;
};

/// The best split of x in the order given; sums of distances within both sides are kept while the border
/// moves, so that one look costs n squared.
Split best_split(std::span<const double> x, std::size_t shortest) {
  const std::size_t n = x.size();
  double within_left = 0, within_right = 0, between = 0;  // sums over unordered pairs
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) within_right += std::abs(x[i] - x[j]);
  }
  Split best;
  for (std::size_t at = 1; at + shortest <= n; ++at) {
    double to_left = 0, to_right = 0;  // of the point that crosses
    for (std::size_t i = 0; i + 1 < at; ++i) to_left += std::abs(x[at - 1] - x[i]);
    for (std::size_t i = at; i < n; ++i) to_right += std::abs(x[at - 1] - x[i]);
    within_left += to_left;
    within_right -= to_right;
    between += to_right - to_left;
    if (at < shortest) continue;
    const auto l = static_cast<double>(at), r = static_cast<double>(n - at);
    const double energy = 2 * between / (l * r) - (l > 1 ? 2 * within_left / (l * (l - 1)) : 0) -
                          (r > 1 ? 2 * within_right / (r * (r - 1)) : 0);
    const double statistic = l * r / (l + r) * energy;
    if (statistic > best.statistic) best = {at, statistic};
  }
  return best;
}

class Search {
 public:
  Search(std::span<const double> series, const ChangePointOptions& options)
      : series_(series), options_(options), random_(options.seed) {}

  void look(std::size_t begin, std::size_t end) {
    const auto shortest = static_cast<std::size_t>(options_.shortest_segment);
    if (end - begin < 2 * shortest) return;
    const Split split = best_split(series_.subspan(begin, end - begin), shortest);
    if (split.statistic <= 0) return;
    const double p = p_value(begin, end, split.statistic);
    if (p > options_.alpha) return;
    found_.push_back({begin + split.at, 0, 0, p});
    look(begin, begin + split.at);
    look(begin + split.at, end);
  }

  std::vector<ChangePoint> result() {
    std::ranges::sort(found_, {}, &ChangePoint::index);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : found_[i - 1].index;
      const std::size_t end = i + 1 < found_.size() ? found_[i + 1].index : series_.size();
      found_[i].before = *median(series_.subspan(begin, found_[i].index - begin));
      found_[i].after = *median(series_.subspan(found_[i].index, end - found_[i].index));
    }
    return found_;
  }

 private:
  double p_value(std::size_t begin, std::size_t end, double statistic) {
    std::vector<double> shuffled(series_.begin() + static_cast<std::ptrdiff_t>(begin),
                                 series_.begin() + static_cast<std::ptrdiff_t>(end));
    int as_good = 0;
    for (int i = 0; i < options_.permutations; ++i) {
      std::ranges::shuffle(shuffled, random_);
      // Rounding in another order of summation must not count as smaller.
      as_good += best_split(shuffled, static_cast<std::size_t>(options_.shortest_segment)).statistic >=
                 statistic * (1 - 1e-9);
    }
    return (as_good + 1.0) / (options_.permutations + 1.0);
  }

  std::span<const double> series_;
  ChangePointOptions options_;
  std::mt19937_64 random_;
  std::vector<ChangePoint> found_;
};

}  // namespace

std::vector<ChangePoint> change_points(std::span<const double> series, const ChangePointOptions& options) {
  for (const double value : series) {
    if (!std::isfinite(value))
      throw std::invalid_argument(fmt::format("[change_points] {} in the series", value));
  }
  if (options.shortest_segment < 2 || options.permutations < 19 ||
      !(options.alpha > 0 && options.alpha < 1)) {
    throw std::invalid_argument(fmt::format(
        "[change_points] segments of {}, {} permutations, alpha {}; expected at least 2, at least 19, and "
        "above 0 and below 1",
        options.shortest_segment, options.permutations, options.alpha));
  }
  Search search(series, options);
  search.look(0, series.size());
  return search.result();
}

}  // namespace mirrorscale::harness
