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
    phases_.add(timeline);
    for (const double t : timeline.step_times_s()) {
      last_.push_back(t);
      total += t;
    }
    next_ += count;
    steps -= static_cast<int>(count);
  }
  return total;
}

}  // namespace mirrorscale::scenarios
