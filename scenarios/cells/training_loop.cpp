#include "scenarios/cells/training_loop.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {

TrainingLoop::TrainingLoop(strategies::Model& model, strategies::DatasetPtr data, int global_batch,
                           std::uint64_t seed)
    : model_(model), data_(std::move(data)), global_batch_(global_batch), seed_(seed) {
  batches_ = data_->rows() / global_batch_;
  if (batches_ < 1) {
    throw std::invalid_argument("[measure] data set '" + data_->name() + "' has " +
                                std::to_string(data_->rows()) + " rows, less than one global batch of " +
                                std::to_string(global_batch_) + "; use a smaller batch or more data");
  }
  model_.session().start_training(data_, global_batch_);
  order_ = model_.strategy().parts().shuffler->order(data_->rows(), seed_, epoch_);
}

double TrainingLoop::run(int steps) {
  last_.clear();
  double total = 0;
  while (steps > 0) {
    if (next_ == batches_) {
      order_ = model_.strategy().parts().shuffler->order(data_->rows(), seed_, ++epoch_);
      next_ = 0;
    }
    const std::int64_t count = std::min<std::int64_t>(steps, batches_ - next_);
    strategies::Timeline timeline(model_.strategy().replicas(), static_cast<std::size_t>(count));
    model_.session().train(order_, next_, count, &timeline);
    add(timeline);
    for (const double t : timeline.step_times_s()) {
      last_.push_back(t);
      total += t;
    }
    next_ += count;
    steps -= static_cast<int>(count);
  }
  return total;
}

void TrainingLoop::add(const strategies::Timeline& timeline) {
  for (int r = 0; r < timeline.replicas(); ++r) {
    for (std::size_t s = 0; s < timeline.steps(); ++s) {
      const strategies::StepMarks& m = timeline.at(r, s);
      sums_.input_s += m.input_s;
      sums_.forward_s += m.forward_s;
      sums_.backward_s += m.backward_s;
      sums_.reduction_s += m.reduction_s;
      sums_.optimizer_s += m.optimizer_s;
      sums_.wait_s += m.wait_s;
      counted_ += 1;
    }
  }
}

TrainingLoop::Phases TrainingLoop::mean_phases() const {
  const double n = counted_ == 0 ? 1 : counted_;
  return {sums_.input_s / n,     sums_.forward_s / n,   sums_.backward_s / n,
          sums_.reduction_s / n, sums_.optimizer_s / n, sums_.wait_s / n};
}

void TrainingLoop::reset_phases() {
  sums_ = {};
  counted_ = 0;
}

}  // namespace mirrorscale::scenarios
