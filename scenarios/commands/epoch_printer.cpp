#include "scenarios/commands/epoch_printer.h"

#include "harness/output/format.h"
#include "strategies/model.h"

#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <unistd.h>

namespace mirrorscale::scenarios {
std::string in_words(const strategies::Logs& logs) {
  std::string words;
  const auto add = [&](const std::string& name, double value) {
    char number[64];
    std::snprintf(number, sizeof number, name == "skipped_steps" ? "%.0f" : "%.4f", value);
    words += (words.empty() ? "" : " - ") + name + " " + number;
  };
  for (const std::string prefix : {"", "val_"}) {
    if (const auto loss = logs.find(prefix + "loss"); loss != logs.end()) add(loss->first, loss->second);
    for (const auto& [name, value] : logs) {
      if (name != prefix + "loss" && name.starts_with("val_") == !prefix.empty()) add(name, value);
    }
  }
  return words;
}

std::string in_words(const strategies::CountTable& table) {
  std::string words = "  rows: " + table.row_is + ", columns: " + table.column_is + "\n";
  const auto line = [&](const std::string& name, const std::function<std::string(int)>& cell) {
    words += fmt::format("  {:>5}", name);
    for (int c = 0; c < table.columns; ++c) words += fmt::format(" {:>7}", cell(c));
    words += "\n";
  };
  line("", [&](int c) { return c < table.rows ? std::to_string(c) : "none"; });
  for (int r = 0; r < table.rows; ++r) {
    line(std::to_string(r), [&](int c) {
      return fmt::format("{:.7g}", table.values[static_cast<std::size_t>(r * table.columns + c)]);
    });
  }
  return words;
}

EpochPrinter::EpochPrinter(int epochs, std::int64_t rows, int global_batch)
    : epochs_(epochs),
      rows_(rows),
      batches_((rows + global_batch - 1) / global_batch),
      terminal_(isatty(STDERR_FILENO) == 1) {}

void EpochPrinter::on_epoch_begin(strategies::LoopControl& control, int epoch) {
  rows_before_ = control.position.batch * control.options->global_batch;
  epoch_ = epoch;
  begin_s_ = clock_.now_s();
  trained_s_ = 0;
}

void EpochPrinter::on_train_batch_end(strategies::LoopControl&, std::int64_t batch, const strategies::Logs&) {
  progress_.update("epoch " + std::to_string(epoch_ + 1) + "/" + std::to_string(epochs_) + ", batch " +
                   std::to_string(batch + 1) + "/" + std::to_string(batches_));
}

void EpochPrinter::on_test_begin(strategies::LoopControl&) {
  trained_s_ = clock_.now_s() - begin_s_;
}

void EpochPrinter::on_epoch_end(strategies::LoopControl& control, int epoch, const strategies::Logs& logs) {
  const double whole_s = clock_.now_s() - begin_s_;
  const double training_s = trained_s_ > 0 ? trained_s_ : whole_s;
  progress_.clear();
  std::printf("epoch %d/%d - %s - data wait %.2f%% - %.0f samples/s - %s\n", epoch + 1, epochs_,
              harness::format_seconds(whole_s).c_str(), 100 * control.model.data_wait_s() / training_s,
              static_cast<double>(rows_ - rows_before_) / training_s, in_words(logs).c_str());
  std::fflush(stdout);
}

}  // namespace mirrorscale::scenarios
