#include "scenarios/gate/tables.h"

#include "harness/judge/sessions.h"
#include "harness/measure/summary.h"

#include <algorithm>

namespace mirrorscale::scenarios {

GateTables::GateTables(const std::vector<Launch>& baseline, const Candidate& candidate,
                       const GateConfig& config)
    : baseline_launches_(baseline.size()),
      confirming_(candidate.confirming == 0 ? candidate.launches.size() : candidate.confirming),
      suspects_(candidate.suspects) {
  std::vector<std::string> started[2];
  for (const Launch& launch : baseline) {
    launches_.push_back(&launch);
    started[0].push_back(launch.run.started);
  }
  for (const Launch& launch : candidate.launches) {
    launches_.push_back(&launch);
    started[1].push_back(launch.run.started);
  }
  // Sides apart: a candidate measured right after its baseline is another session all the same.
  session_ = harness::session_numbers(started[0], config.session_gap_s);
  const int sessions = session_.empty() ? 0 : *std::ranges::max_element(session_) + 1;
  for (const int number : harness::session_numbers(started[1], config.session_gap_s)) {
    session_.push_back(sessions + number);
  }
  for (std::size_t l = 0; l < launches_.size(); ++l) {
    for (const harness::CellRecord& cell : launches_[l]->cells) {
      const auto found = std::ranges::find(cells_, cell.cell_key);
      const auto at = static_cast<std::size_t>(found - cells_.begin());
      if (found == cells_.end()) {
        cells_.push_back(cell.cell_key);
        records_.emplace_back(launches_.size(), nullptr);
      }
      records_[at][l] = &cell;
    }
  }
}

bool GateTables::counts(std::size_t cell, std::size_t launch) const {
  return launch < baseline_launches_ + confirming_ || suspects_.contains(cells_[cell]);
}

template <class LossOf>
harness::LaunchTable GateTables::table(LossOf loss_of) const {
  harness::LaunchTable table{{}, session_, baseline_launches_};
  for (const auto& launches : records_) {
    auto& row = table.value.emplace_back();
    for (const harness::CellRecord* record : launches) {
      row.push_back(record == nullptr ? std::nullopt : loss_of(*record));
    }
  }
  return table;
}

harness::LaunchTable GateTables::losses(Metric metric) const {
  return table([&](const harness::CellRecord& cell) { return loss_of(cell, metric); });
}
harness::LaunchTable GateTables::calibrated_losses(Metric metric) const {
  if (metric == Metric::kStepMin) return against_whole_launch(losses(metric));
  return table([&](const harness::CellRecord& cell) { return calibrated_loss_of(cell, metric); });
}

harness::LaunchTable GateTables::against_whole_launch(harness::LaunchTable losses) const {
  for (std::size_t l = 0; l < launches_.size(); ++l) {
    std::vector<double> speeds;
    for (const auto& launches : records_) {
      const auto speed = launches[l] == nullptr ? std::nullopt : core_speed_of(*launches[l]);
      if (speed) speeds.push_back(*speed);
    }
    const std::optional<double> speed = harness::median(speeds);
    for (auto& row : losses.value) {
      if (row[l] && speed) {
        *row[l] += *speed;
      } else {
        row[l].reset();
      }
    }
  }
  return losses;
}

std::vector<harness::LaunchValue> GateTables::side(const harness::LaunchTable& table, std::size_t cell,
                                                   bool baseline) const {
  std::vector<harness::LaunchValue> values;
  const std::size_t begin = baseline ? 0 : baseline_launches_;
  const std::size_t end = baseline ? baseline_launches_ : launches_.size();
  for (std::size_t l = begin; l < end; ++l) {
    if (table.value[cell][l] && counts(cell, l)) values.push_back({*table.value[cell][l], session_[l]});
  }
  return values;
}

}  // namespace mirrorscale::scenarios
