#pragma once
#include "harness/check/verdict.h"
#include "scenarios/lessons/lesson.h"
#include "scenarios/workloads/workload.h"
#include "strategies/input/dataset.h"

#include <cstdarg>
#include <functional>
#include <string>
#include <vector>

/// What lessons are made of.
namespace mirrorscale::scenarios {

/// As many devices as asked for; by default one a core, but 2 to 4.
int device_count(const LessonOptions& options);

/// The workload and the rows of a lesson: mlp on `rows` training rows and all test rows, or when quick
/// mlp-small on `quick_rows` and as many test rows.
struct Material {
  const Workload& workload;
  strategies::SplitDataset data;
};
/// Throws std::invalid_argument for data without test rows.
Material material(const LessonOptions& options, std::int64_t rows, std::int64_t quick_rows);

/// OneDevice for 1, else Mirrored, on cpu devices.
strategies::Strategy on_devices(int devices);

/// Runs `work`, which keeps the replicas busy. Returns the part of its time for which a replica was ready to
/// run and had no core (the largest over replicas): other programs had it.
double time_without_core(const strategies::Strategy& strategy, const std::function<void()>& work);

/// Why times taken here say nothing about the engine: too few cores, or busy ones. Empty when they do.
std::string why_not_timed(int devices, double time_without_core);

/// One training, run epoch by epoch, so that several can take turns and what disturbs the machine hits all.
class Trial {
 public:
  Trial(const Material& material, const strategies::Strategy& strategy, int global_batch,
        const LessonOptions& options);
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  void train_epoch();
  // By epoch, over the training rows.
  const std::vector<double>& losses() const { return losses_; }
  const std::vector<double>& accuracies() const { return accuracies_; }
  const std::vector<double>& rows_per_s() const { return rows_per_s_; }
  /// See time_without_core; mean over epochs.
  double without_core() const;
  double test_accuracy() { return model_.evaluate(data_.test).at(kAccuracy); }
  /// All weights of replica 0, parameter after parameter.
  std::vector<float> weights() const;
  /// Memory a device is planned to hold while training.
  std::int64_t bytes_per_device() const;
  int devices() const { return model_.strategy().replicas(); }
  int global_batch() const { return fit_.global_batch; }
  strategies::Model& model() { return model_; }

 private:
  static constexpr const char* kAccuracy = "accuracy";
  strategies::SplitDataset data_;
  strategies::Model model_;
  strategies::FitOptions fit_;
  std::vector<double> losses_, accuracies_, rows_per_s_, without_core_;
};

/// Whether throughput of `after` is above that of `before`, epoch by epoch in pairs: passed when the interval
/// of the ratio lies above 1, failed when below; skipped when it holds 1, or when speed says nothing here.
harness::Verdict judge_faster(const std::string& what, const Trial& after, const Trial& before,
                              const LessonOptions& options);

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

}  // namespace mirrorscale::scenarios
