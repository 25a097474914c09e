#include "scenarios/commands/training_history.h"

#include "harness/output/file.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace mirrorscale::scenarios {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const strategies::Logs& logs) {
  Json all = Json::object();
  for (const auto& [name, value] : logs) all[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
  return all;
}

Json json_of(const std::map<std::string, strategies::CountTable>& tables) {
  Json all = Json::object();
  for (const auto& [name, table] : tables) {
    Json counts = Json::array();
    for (int r = 0; r < table.rows; ++r) {
      const auto begin = table.values.begin() + static_cast<std::ptrdiff_t>(r) * table.columns;
      counts.push_back(Json(std::vector<double>(begin, begin + table.columns)));
    }
    all[name] = {{"rows_are", table.row_is}, {"columns_are", table.column_is}, {"counts", counts}};
  }
  return all;
}

}  // namespace

void TrainingHistory::on_epoch_end(strategies::LoopControl& control, int epoch,
                                   const strategies::Logs& logs) {
  epochs_.push_back({epoch + 1, control.model.data_wait_s(), logs});
}

void TrainingHistory::write(const std::filesystem::path& file, const strategies::Model& model,
                            const strategies::Logs& test) const {
  Json epochs = Json::array();
  for (const Epoch& epoch : epochs_) {
    Json one = {{"epoch", epoch.number}, {"data_wait_s", epoch.data_wait_s}};
    one.update(json_of(epoch.logs));
    epochs.push_back(std::move(one));
  }
  const Json all = {
      {"epochs", epochs},
      {"test", json_of(test)},
      {"tables",
       {{"training", json_of(model.training_tables())}, {"test", json_of(model.evaluation_tables())}}}};
  harness::write_file_atomically(file, all.dump(1) + "\n");
}

}  // namespace mirrorscale::scenarios
