#pragma once
#include "scenarios/oracle/layer.h"
#include "scenarios/oracle/optimizers.h"
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace mirrorscale::scenarios::oracle {

/// A value of the fp64 run, and what a faithful float32 run's may differ by.
struct Estimate {
  double value = 0, bound = 0;
};

/// data: the mean over rows; penalty: of the kernels, once.
struct LossEstimate {
  Estimate data, penalty;
  Estimate total() const;
};

struct Estimates {
  std::vector<double> values, bounds;
};

struct Evaluation {
  LossEstimate loss;
  /// Share of rows whose largest column is the label, or of (prediction > threshold) == (target > 0.5); none
  /// for squared and absolute error. Its bound counts what is too close to call.
  std::optional<Estimate> accuracy;
};

/// Trains one network on whole batches: no replicas, no shards. Not for use by two threads at once.
class Trainer {
 public:
  /// `weights`: of each layer the kernel [inputs, outputs], row-major, then the bias where it has one.
  /// Throws std::invalid_argument when sizes do not fit.
  Trainer(std::vector<std::unique_ptr<Layer>> layers, Settings settings,
          const std::vector<std::vector<double>>& weights);
  Trainer(const std::vector<LayerSettings>& layers, Settings settings,
          const std::vector<std::vector<double>>& weights);
  Trainer(const std::vector<Dense>& layers, Settings settings,
          const std::vector<std::vector<double>>& weights)
      : Trainer(std::vector<LayerSettings>(layers.begin(), layers.end()), std::move(settings), weights) {}

  /// One update; returns the loss before it. Throws std::invalid_argument when the batch does not fit.
  LossEstimate step(const Batch& batch);

  /// [rows, outputs] of the last layer.
  Estimates predict(std::span<const double> x, std::size_t rows);
  Evaluation evaluate(const Batch& rows);

  /// For a schedule: the optimizer's rate from the next step on.
  void set_rate(double rate);
  std::size_t steps() const { return steps_; }

  /// Goes on from the judged run's own numbers, without error: the next step is then judged by itself, and
  /// bounds don't grow with the number of steps. Slots as in slots(); those that the optimizer has not are
  /// empty. Throws std::invalid_argument when sizes do not fit.
  void adopt(std::size_t array, std::span<const float> weights, std::span<const float> slot0 = {},
             std::span<const float> slot1 = {});

  /// Weight arrays, numbered as given to the constructor.
  std::size_t weight_count() const { return parameters_.size(); }
  Estimates weights(std::size_t array) const;
  /// What the last step used: the mean over rows, penalties and clipping included.
  Estimates gradients(std::size_t array) const;
  /// slot 0: momentum, first moment or accumulator; 1: Adam's second moment. Empty when there is none.
  Estimates slots(std::size_t array, int slot) const;

 private:
  std::size_t rows_at_once() const;
  void check(const Batch& batch) const;
  /// A row an answer, where a row of the data has several.
  Tracked answers_of(Tracked prediction) const;
  Batch answers_of(Batch batch) const;
  Tracked take_rows(std::span<const double> x, std::size_t rows) const;
  const Tracked& forward(const Tracked& x);
  void backward(const Tracked& x, const Tracked& gradient, double normaliser);
  void add_penalties();
  void clip();
  double normaliser(const Batch& batch) const;
  LossEstimate loss_of(const Tracked& losses, double normaliser) const;
  Estimates estimates(const Tracked& tracked) const;

  Settings settings_;
  Arithmetic how_;
  std::unique_ptr<Layer> network_;
  std::vector<ArraySize> arrays_;
  std::vector<Parameter> parameters_;
  std::size_t steps_ = 0;
};

}  // namespace mirrorscale::scenarios::oracle
