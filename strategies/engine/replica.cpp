#include "strategies/engine/replica.h"

#include <algorithm>
#include <utility>

namespace mirrorscale::strategies {

using kernels::ConstMatrix;
using kernels::Matrix;

namespace {

std::size_t activations_size(const Network& network, int rows) {
  std::size_t sum = 0;
  for (const auto& stage : network.stages()) sum += kernels::activation_size(rows, stage.out);
  return sum;
}

std::size_t saved_size(const Network& network, int rows) {
  std::size_t sum = 0;
  for (const auto& stage : network.stages()) {
    if (stage.layer->saves_input()) sum += kernels::activation_size(rows, stage.out);
  }
  return sum;
}

}  // namespace

Replica::Replica(const Network& network, std::string_view backend, const kernels::BackendOptions& options)
    : network_(network),
      backend_(kernels::make_backend(backend, options)),
      weights_(backend_->make_buffer(network.parameters().size())),
      transposed_(backend_->make_buffer(network.transposed_size())) {
  y_.resize(network.stages().size());
  saved_view_.resize(network.stages().size());
}

void Replica::reserve(int rows, int roots) {
  if (rows > capacity_) {
    capacity_ = 0;  // until all is there
    for (kernels::Buffer* old : {&activations_, &saved_, &statistics_, &deltas_[0], &deltas_[1]})
      old->reset();
    activations_ = backend_->make_buffer(activations_size(network_, rows));
    saved_ = backend_->make_buffer(saved_size(network_, rows));
    statistics_ = backend_->make_buffer(kernels::activation_size(rows, kernels::kPanel));
    for (auto& delta : deltas_)
      delta = backend_->make_buffer(kernels::activation_size(rows, network_.widest()));
    capacity_ = rows;
    ++generation_;
  }
  while (static_cast<int>(gradients_.size()) < roots)
    gradients_.push_back(backend_->make_buffer(arena_size()));
}

std::size_t Replica::planned_bytes(const Network& network, int rows, int roots) {
  const std::size_t parameters = network.parameters().size();
  return sizeof(float) * (parameters + network.transposed_size() + activations_size(network, rows) +
                          saved_size(network, rows) + kernels::activation_size(rows, kernels::kPanel) +
                          2 * kernels::activation_size(rows, network.widest()) +
                          static_cast<std::size_t>(roots) * (parameters + kernels::kBlock));
}

void Replica::refresh_transposed() {
  const ParameterLayout& parameters = network_.parameters();
  for (const auto& stage : network_.stages()) {
    const int p = stage.layer->transposed_parameter();
    if (!stage.wants_dx || p < 0) continue;
    const auto& slice = parameters[p];
    const Matrix wt = kernels::weight_view(layout(), transposed_.get() + stage.transposed_offset,
                                           slice.spec.columns, slice.spec.rows);
    backend_->transpose(parameters.matrix(p, std::as_const(*this).weights(), layout()), wt, 0,
                        slice.size / kernels::kBlock);
  }
}

void Replica::forward(ConstMatrix x) {
  x_ = x;
  float* at = activations_.get();
  float* saved = saved_.get();
  const auto view = [&](float* data, int columns) {
    return kernels::activation_view(layout(), data, x.rows, columns, capacity_);
  };
  ConstMatrix in = x;
  for (std::size_t s = 0; s < network_.stages().size(); ++s) {
    const auto& stage = network_.stages()[s];
    y_[s] = view(at, stage.out);
    at += kernels::activation_size(capacity_, stage.out);
    saved_view_[s] = {};
    if (stage.layer->saves_input()) {
      saved_view_[s] = view(saved, stage.out);
      saved += kernels::activation_size(capacity_, stage.out);
    }
    stage.layer->forward({*backend_, weights_.get(), in, saved_view_[s], y_[s]});
    in = y_[s];
  }
}

void Replica::judge(const Loss& loss, std::span<const MetricPtr> metrics, const Targets& targets,
                    bool with_gradient) {
  const int rows = x_.rows;
  statistics_view_ = kernels::activation_view(layout(), statistics_.get(), rows, kernels::kPanel, capacity_);
  const auto column = [&](int c) { return kernels::Column{statistics_.get() + c, kernels::kPanel}; };
  delta_view_ = {};
  if (with_gradient) {
    delta_view_ = kernels::activation_view(layout(), deltas_[0].get(), rows, network_.outputs(), capacity_);
  }
  loss.compute(*backend_, output(), targets, delta_view_, column(StatisticsColumns::kLoss));
  backend_->row_weights(targets.weights, rows, column(StatisticsColumns::kWeight));
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    metrics[m]->compute(*backend_, output(), targets,
                        column(StatisticsColumns::kMetrics + static_cast<int>(m)));
  }
}

void Replica::backward(std::span<const GradientRoot> roots, int shard_rows,
                       const std::function<void(std::size_t from)>& ready) {
  const auto& stages = network_.stages();
  for (const GradientRoot& root : roots) {
    backend_->sum_rows(statistics_view_.slice_rows(root.first_row, root.rows), shard_rows,
                       root.gradient + network_.parameters().size());
  }
  Matrix delta = delta_view_;
  const auto saved_or_output = [&](std::size_t s) -> ConstMatrix {
    return stages[s].layer->saves_input() ? saved_view_[s] : y_[s];
  };
  const OutputFunction last = stages.back().layer->output_function();
  if (last.softmax) {
    backend_->softmax_backward(output(), delta, delta);
  } else if (last.f != kernels::Activation::kLinear) {
    backend_->activate_backward(last.f, saved_or_output(stages.size() - 1), delta, delta);
  }
  for (std::size_t s = stages.size(); s-- > 0;) {
    const auto& stage = stages[s];
    Matrix dx;
    OutputFunction before;
    ConstMatrix before_saved;
    if (stage.wants_dx) {
      dx = kernels::activation_view(layout(), deltas_[(stages.size() - s) % 2].get(), x_.rows, stage.in,
                                    capacity_);
      before = stages[s - 1].layer->output_function();
      before_saved = saved_or_output(s - 1);
    }
    stage.layer->backward({*backend_, transposed_.get(), s == 0 ? x_ : ConstMatrix(y_[s - 1]), delta,
                           before.f, before_saved, dx, roots, shard_rows},
                          network_.parameters(), stage.transposed_offset);
    if (ready) ready(stage.parameters_offset);
    if (!stage.wants_dx) break;
    if (before.softmax) backend_->softmax_backward(y_[s - 1], dx, dx);
    delta = dx;
  }
}

}  // namespace mirrorscale::strategies
