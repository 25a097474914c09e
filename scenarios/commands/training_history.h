#pragma once
#include "strategies/model.h"

#include <filesystem>
#include <vector>

namespace mirrorscale::scenarios {

/// Keeps what each epoch measured, for a file.
class TrainingHistory final : public strategies::Callback {
 public:
  void on_epoch_end(strategies::LoopControl& control, int epoch, const strategies::Logs& logs) override;
  /// JSON: "epochs" (each with its number from 1, "data_wait_s" and its logs by name), "test" (logs of the
  /// test rows), and "tables" of both the last epoch ("training") and the test rows ("test"): by metric,
  /// "rows_are", "columns_are" and "counts" [rows][columns]. A value that is not finite is null. Throws as
  /// harness::write_file_atomically.
  void write(const std::filesystem::path& file, const strategies::Model& model,
             const strategies::Logs& test) const;

 private:
  struct Epoch {
    int number = 0;
    double data_wait_s = 0;
    strategies::Logs logs;
  };
  std::vector<Epoch> epochs_;
};

}  // namespace mirrorscale::scenarios
