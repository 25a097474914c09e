#pragma once
#include "kernels/backend.h"
#include "strategies/engine/loss.h"
#include "strategies/engine/metric.h"
#include "strategies/engine/network.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// What is summed over rows beside the gradient: a panel of 16 columns a row.
struct StatisticsColumns {
  static constexpr int kLoss = 0;     // weighted loss
  static constexpr int kWeight = 1;   // sample weight, 1 by default
  static constexpr int kMetrics = 2;  // weighted values of metric i at kMetrics + i
  static constexpr int kMost = kernels::kPanel - kMetrics;
};

/// One copy of the model on one device: its backend, weights, and the arenas of a step. No communication:
/// what the replicas' sums become is the reducer's business. Made and used by one thread (others may read its
/// gradients, and write its weights, between barriers).
class Replica {
 public:
  /// Throws as kernels::make_backend does.
  Replica(const Network& network, std::string_view backend, const kernels::BackendOptions& options = {});

  /// Makes room for `rows` rows at once and `roots` gradient arenas (0 when only forward runs). Never
  /// shrinks. Throws kernels::OutOfMemory.
  void reserve(int rows, int roots);
  /// Grows when the memory that forward, judge and backward work on is another than before.
  int generation() const { return generation_; }
  /// Bytes that reserve(rows, roots) makes the replica hold, weights included.
  static std::size_t planned_bytes(const Network& network, int rows, int roots);

  kernels::Backend& backend() { return *backend_; }
  kernels::Layout layout() const { return backend_->info().layout; }
  const Network& network() const { return network_; }

  float* weights() { return weights_.get(); }
  const float* weights() const { return weights_.get(); }
  float* transposed() { return transposed_.get(); }
  /// Makes the transposed copies again after weights() was written by other means than the reducer.
  void refresh_transposed();

  /// Floats of a gradient arena: the parameters, then one block whose first 16 floats are the statistics.
  std::size_t arena_size() const { return network_.parameters().size() + kernels::kBlock; }
  float* gradient(int root) { return gradients_[static_cast<std::size_t>(root)].get(); }
  const float* gradient(int root) const { return gradients_[static_cast<std::size_t>(root)].get(); }

  /// Runs the network over x [rows, features]; output() is its result, of network().out()'s shape.
  void forward(kernels::ConstMatrix x, const Moment& moment = {});
  kernels::ConstMatrix output() const { return network_.chain().output(layout(), room_); }
  /// Fills the statistics of the rows of the last forward, and the gradient at the output when
  /// `with_gradient`.
  void judge(const Loss& loss, std::span<const MetricPtr> metrics, const Targets& targets,
             bool with_gradient);
  /// [rows of the output, 16]: see StatisticsColumns.
  kernels::ConstMatrix statistics() const { return statistics_view_; }
  /// Gradients and statistics of each root into gradient(i). Roots are rows of the last forward, in order.
  /// `ready`, where given, is called with `from` whenever the gradients at arena positions from `from` on are
  /// enqueued, statistics included: from the last layer to the first.
  void backward(std::span<const GradientRoot> roots, int shard_rows,
                const std::function<void(std::size_t from)>& ready = {});

 private:
  const Network& network_;
  const std::unique_ptr<kernels::Backend> backend_;
  kernels::Buffer weights_, transposed_, kept_, scratch_, statistics_;
  std::vector<kernels::Buffer> gradients_;
  int capacity_ = 0, generation_ = 0;
  kernels::ConstMatrix x_;  // of the last forward
  Room room_;
  Moment moment_;
  kernels::Matrix statistics_view_;
};

}  // namespace mirrorscale::strategies
