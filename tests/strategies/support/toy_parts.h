#pragma once
#include "strategies/engine/layer.h"
#include "strategies/engine/loss.h"
#include "strategies/engine/optimizer.h"
#include "strategies/loss_normaliser.h"
#include "strategies/strategy.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

/// User-made parts of the engine, with arithmetic that can be done on paper. They compute on the host, in the
/// memory of the device: host devices and emulated GPUs allow that.
namespace mirrorscale::strategies::testing {

/// loss = sum over columns of y · target, so that the gradient of each row is its targets.
class LinearLoss final : public Loss {
 public:
  std::string name() const override { return "linear"; }
  void check(int, const TargetShape&) const override {}
  void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& t, kernels::Matrix gradient,
               kernels::Column loss) const override {
    backend.synchronize();  // the host reads next
    for (int r = 0; r < y.rows; ++r) {
      float sum = 0;
      for (int c = 0; c < y.columns; ++c) {
        sum += y.at(r, c) * t.values.at(r, c);
        if (gradient) gradient.at(r, c) = t.values.at(r, c);
      }
      if (loss) loss[r] = sum;
    }
  }
};

/// Gradient sums times a constant: 1 makes them sums, whatever the batch.
class ConstantScale final : public LossNormaliser {
 public:
  explicit ConstantScale(float scale) : scale_(scale) {}
  float scale(float, int) const override { return scale_; }

 private:
  const float scale_;
};

/// What a device holds, where the host can work on it.
class HostCopy {
 public:
  HostCopy(kernels::Backend& backend, const float* data, std::size_t count)
      : backend_(backend), copy_(count) {
    backend.download(data, count, copy_.data());
  }
  float* data() { return copy_.data(); }
  void write_back(float* to) const { backend_.upload(copy_.data(), copy_.size(), to); }

 private:
  kernels::Backend& backend_;
  std::vector<float> copy_;
};

/// y = x + v, with an initial v of any constant and no part in weight decay unless `decayed`.
class Offset final : public Layer {
 public:
  Offset(float initial, bool decayed) : initial_(initial), decayed_(decayed) {}
  std::string kind() const override { return "offset"; }
  Shape build(const Shape& in, const BuildPlan& plan) override {
    number_ = plan.parameters.add({.name = plan.name + "/v",
                                   .rows = 0,
                                   .columns = in.columns(),
                                   .initializer = {Initializer::Kind::kConstant, initial_},
                                   .penalty = {},
                                   .decayed = decayed_});
    offset_ = plan.parameters[number_].offset;
    return in;
  }
  double forward_flops() const override { return 0; }
  double backward_flops(bool) const override { return 0; }
  void forward(const ForwardPass& pass) const override {
    HostCopy x(pass.backend, pass.x.data, extent(pass.x));
    HostCopy v(pass.backend, pass.weights + offset_, static_cast<std::size_t>(pass.x.columns));
    HostCopy y(pass.backend, pass.y.data, extent(pass.y));
    const kernels::ConstMatrix from{x.data(), pass.x.rows, pass.x.columns, pass.x.panel_stride,
                                    pass.x.row_stride};
    const kernels::Matrix to{y.data(), pass.y.rows, pass.y.columns, pass.y.panel_stride, pass.y.row_stride};
    for (int r = 0; r < from.rows; ++r) {
      for (int c = 0; c < from.columns; ++c) to.at(r, c) = from.at(r, c) + v.data()[c];
    }
    y.write_back(pass.y.data);
  }
  void backward(const BackwardPass& pass) const override {
    if (pass.dx) pass.backend.activate_backward(pass.input_function, pass.input_saved, pass.dz, pass.dx);
    for (const GradientRoot& root : pass.roots) {
      pass.backend.sum_rows(pass.dz.slice_rows(root.first_row, root.rows), pass.shard_rows,
                            root.gradient + offset_);
    }
  }

 private:
  /// Floats from the first to past the last element.
  static std::size_t extent(kernels::ConstMatrix m) {
    return kernels::element(m.rows - 1, m.columns - 1, m.panel_stride, m.row_stride) + 1;
  }

  const float initial_;
  const bool decayed_;
  int number_ = -1;
  std::size_t offset_ = 0;
};

/// w -= rate wherever the gradient is not 0: as if every gradient were 1.
class ForcedOnes final : public Optimizer {
 public:
  explicit ForcedOnes(double rate) : Optimizer(constant_rate(rate)) {}
  std::string name() const override { return "forced_ones"; }
  std::vector<std::string> slots() const override { return {}; }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& range) const override {
    HostCopy gradient(backend, range.gradient, range.count), weights(backend, range.weights, range.count);
    for (std::size_t i = 0; i < range.count; ++i) {
      if (gradient.data()[i] != 0) weights.data()[i] -= static_cast<float>(values.rate);
    }
    weights.write_back(range.weights);
  }
};

/// The reducers that give the same bits on the default devices.
inline std::vector<std::string> exact_reducers() {
  if (device_names(1).front() == "cuda:0") return {"replicated"};
  return {"fused", "replicated"};
}

inline StrategyOptions with_scale(float scale, const std::string& reducer = exact_reducers().front()) {
  StrategyOptions options;
  options.parts.normaliser = std::make_shared<ConstantScale>(scale);
  options.parts.make_reducer = [reducer] { return make_reducer(reducer); };
  return options;
}

inline StrategyOptions with_reducer(const std::string& reducer) {
  StrategyOptions options;
  options.parts.make_reducer = [reducer] { return make_reducer(reducer); };
  return options;
}

}  // namespace mirrorscale::strategies::testing
