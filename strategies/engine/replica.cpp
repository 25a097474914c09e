#include "strategies/engine/replica.h"

#include <algorithm>
#include <utility>

namespace mirrorscale::strategies {

using kernels::ConstMatrix;
using kernels::Matrix;

namespace {

/// Of the matrix with a statistics panel a row of the output.
std::size_t statistics_size(const Network& network, int samples) {
  return kernels::activation_size(samples * network.out().rows(), kernels::kPanel);
}

}  // namespace

Replica::Replica(const Network& network, std::string_view backend, const kernels::BackendOptions& options)
    : network_(network),
      backend_(kernels::make_backend(backend, options)),
      weights_(backend_->make_buffer(network.parameters().size())),
      transposed_(backend_->make_buffer(network.parameters().transposed_size())) {}

void Replica::reserve(int rows, int roots) {
  if (rows > capacity_) {
    capacity_ = 0;  // until all is there
    for (kernels::Buffer* old : {&kept_, &scratch_, &statistics_}) old->reset();
    kept_ = backend_->make_buffer(network_.chain().kept_size(rows));
    scratch_ = backend_->make_buffer(network_.chain().scratch_size(rows));
    statistics_ = backend_->make_buffer(statistics_size(network_, rows));
    capacity_ = rows;
    ++generation_;
  }
  while (static_cast<int>(gradients_.size()) < roots)
    gradients_.push_back(backend_->make_buffer(arena_size()));
}

std::size_t Replica::planned_bytes(const Network& network, int rows, int roots) {
  const std::size_t parameters = network.parameters().size();
  return sizeof(float) *
         (parameters + network.parameters().transposed_size() + network.chain().kept_size(rows) +
          network.chain().scratch_size(rows) + statistics_size(network, rows) +
          static_cast<std::size_t>(roots) * (parameters + kernels::kBlock));
}

void Replica::refresh_transposed() {
  const ParameterLayout& parameters = network_.parameters();
  for (std::size_t p = 0; p < parameters.slices().size(); ++p) {
    const auto& slice = parameters.slices()[p];
    if (!slice.spec.transposed) continue;
    const auto number = static_cast<int>(p);
    backend_->transpose(parameters.matrix(number, std::as_const(*this).weights(), layout()),
                        parameters.transposed(number, transposed_.get(), layout()), 0,
                        slice.size / kernels::kBlock);
  }
}

void Replica::forward(ConstMatrix x, const Moment& moment) {
  x_ = x;
  moment_ = moment;
  room_ = {kept_.get(), scratch_.get(), x.rows, capacity_};
  network_.chain().forward({*backend_, network_.parameters(), weights_.get(), x, {}, {}, room_, moment_});
}

void Replica::judge(const Loss& loss, std::span<const MetricPtr> metrics, const Targets& targets,
                    bool with_gradient) {
  const int of_sample = network_.out().rows(), rows = x_.rows * of_sample;
  statistics_view_ =
      kernels::activation_view(layout(), statistics_.get(), rows, kernels::kPanel, capacity_ * of_sample);
  const auto column = [&](int c) { return kernels::Column{statistics_.get() + c, kernels::kPanel}; };
  const Matrix gradient = with_gradient ? network_.chain().output_gradient(layout(), room_) : Matrix{};
  loss.compute(*backend_, output(), targets, gradient, column(StatisticsColumns::kLoss));
  backend_->row_weights(targets.weights, rows, column(StatisticsColumns::kWeight));
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    metrics[m]->compute(*backend_, output(), targets,
                        column(StatisticsColumns::kMetrics + static_cast<int>(m)));
  }
}

void Replica::backward(std::span<const GradientRoot> roots, int shard_rows,
                       const std::function<void(std::size_t from)>& ready) {
  const int of_sample = network_.out().rows();
  for (const GradientRoot& root : roots) {
    backend_->sum_rows(statistics_view_.slice_rows(root.first_row * of_sample, root.rows * of_sample),
                       shard_rows * of_sample, root.gradient + network_.parameters().size());
  }
  network_.chain().backward({*backend_,
                             network_.parameters(),
                             weights_.get(),
                             transposed_.get(),
                             x_,
                             {},
                             {},
                             kernels::Activation::kLinear,
                             {},
                             {},
                             roots,
                             shard_rows,
                             room_,
                             moment_},
                            ready);
}

}  // namespace mirrorscale::strategies
