#include "harness/judge/relative.h"

#include "harness/measure/summary.h"

#include <cstddef>

namespace mirrorscale::harness {

LaunchTable relative_to_others(const LaunchTable& table, int fewest_others) {
  std::vector<std::optional<double>> centre;
  for (const auto& launches : table.value) {
    std::vector<double> there;
    for (std::size_t l = 0; l < table.baseline_launches; ++l) {
      if (launches[l]) there.push_back(*launches[l]);
    }
    centre.push_back(median(there));
  }
  LaunchTable result = table;
  for (std::size_t l = 0; l < table.session.size(); ++l) {
    for (std::size_t c = 0; c < table.value.size(); ++c) {
      if (!table.value[c][l]) continue;
      std::vector<double> others;
      for (std::size_t other = 0; other < table.value.size(); ++other) {
        if (other != c && table.value[other][l] && centre[other]) {
          others.push_back(*table.value[other][l] - *centre[other]);
        }
      }
      if (static_cast<int>(others.size()) < fewest_others) {
        result.value[c][l].reset();
      } else {
        *result.value[c][l] -= *median(others);
      }
    }
  }
  return result;
}

}  // namespace mirrorscale::harness
