#include "scenarios/validation/oracle_layers.h"

#include "strategies/engine/convolution.h"
#include "strategies/engine/embedding.h"
#include "strategies/engine/layer_norm.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"
#include "strategies/engine/residual.h"
#include "strategies/engine/self_attention.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

namespace mirrorscale::scenarios {
namespace {

/// TensorFlow's rule for padding, written down a second time.
oracle::WindowAxis axis_of(int in, int out, int size, int stride, int dilation, bool same) {
  const int missing = (out - 1) * stride + (size - 1) * dilation + 1 - in;
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  return {count(in),     count(out),      count(size),
          count(stride), count(dilation), count(same ? std::max(0, missing) / 2 : 0)};
}
oracle::Window window_of(const strategies::Shape& in, const strategies::Shape& out,
                         const strategies::Sliding& s) {
  const bool same = s.padding == "same";
  return {axis_of(in.height, out.height, s.size.y, s.stride.y, s.dilation.y, same),
          axis_of(in.width, out.width, s.size.x, s.stride.x, s.dilation.x, same)};
}

/// The settings that all layers with a kernel have.
template <class Settings>
Settings with_parameters(Settings settings, const strategies::Chain::Stage& stage,
                         const strategies::ParameterLayout& parameters) {
  settings.activation = oracle::activation_from(strategies::to_string(stage.layer->output_function()));
  settings.bias = false;
  for (const auto& slice : parameters.slices()) {
    if (slice.spec.name == stage.name + "/bias") settings.bias = true;
    if (slice.spec.name == stage.name + "/kernel") {
      settings.l1 = static_cast<double>(slice.spec.penalty.l1);
      settings.l2 = static_cast<double>(slice.spec.penalty.l2);
    }
  }
  return settings;
}

oracle::LayerSettings layer_of(const strategies::Chain::Stage& stage,
                               const strategies::ParameterLayout& parameters) {
  const strategies::Shape &in = stage.in, &out = stage.out;
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  if (stage.layer->kind() == "dense")
    return with_parameters(oracle::Dense{count(in.columns()), count(out.columns())}, stage, parameters);
  if (const auto* conv = dynamic_cast<const strategies::Conv2D*>(stage.layer.get())) {
    const strategies::Conv2DOptions& o = conv->options();
    return with_parameters(
        oracle::Convolution{window_of(in, out, {o.kernel, o.stride, o.dilation, o.padding}),
                            count(in.channels), count(o.filters), count(o.groups)},
        stage, parameters);
  }
  if (const auto* pool = dynamic_cast<const strategies::Pooling*>(stage.layer.get())) {
    strategies::Sliding sliding = pool->sliding();
    if (pool->pooling() == strategies::PoolingKind::kGlobalAverage) sliding.size = {in.height, in.width};
    return oracle::Pool{window_of(in, out, sliding), count(in.channels),
                        pool->pooling() == strategies::PoolingKind::kMax};
  }
  throw std::invalid_argument("the oracle has no layer like '" + stage.name + "' (" + stage.layer->kind() +
                              ")");
}

/// Layers on their way to the oracle: the last one waits for the activation that may follow it.
class LayerList {
 public:
  void add(oracle::LayerSettings settings, std::size_t positions) {
    finish();
    waiting_ = std::move(settings);
    positions_ = positions;
  }
  void add(oracle::LayerPtr layer) {
    finish();
    layers_.push_back(std::move(layer));
  }
  /// False when the last layer has one already, or can't have any.
  bool activate(oracle::Activation f) {
    if (!waiting_) return false;
    const auto take = [&](auto& layer) {
      if constexpr (requires { layer.activation; }) {
        if (layer.activation != oracle::Activation::kLinear) return false;
        layer.activation = f;
        return true;
      }
      return false;
    };
    return std::visit(take, *waiting_);
  }
  std::vector<oracle::LayerPtr> take() {
    finish();
    return std::move(layers_);
  }

 private:
  void finish() {
    if (!waiting_) return;
    layers_.push_back(oracle::at_positions(
        positions_, std::visit([](const auto& layer) { return oracle::make_layer(layer); }, *waiting_)));
    waiting_.reset();
  }

  std::optional<oracle::LayerSettings> waiting_;
  std::size_t positions_ = 1;
  std::vector<oracle::LayerPtr> layers_;
};

/// A layer over positions, or null where the stage is none.
oracle::LayerPtr sequence_layer(const strategies::Chain::Stage& stage,
                                const strategies::ParameterLayout& parameters) {
  const auto count = [](int n) { return static_cast<std::size_t>(n); };
  const strategies::Shape &in = stage.in, &out = stage.out;
  const strategies::Layer* layer = stage.layer.get();
  if (const auto* norm = dynamic_cast<const strategies::LayerNorm*>(layer)) {
    return oracle::at_positions(count(in.rows()), oracle::layer_norm(count(in.columns()), norm->epsilon()));
  }
  if (dynamic_cast<const strategies::Embedding*>(layer) != nullptr) {
    for (const auto& slice : parameters.slices()) {
      if (slice.spec.name == stage.name + "/table")
        return oracle::embedding(count(slice.spec.rows), count(out.channels), count(out.positions()));
    }
  }
  if (dynamic_cast<const strategies::PositionEmbedding*>(layer) != nullptr) {
    return oracle::position_embedding(count(in.positions()), count(in.channels));
  }
  if (const auto* attention = dynamic_cast<const strategies::SelfAttention*>(layer)) {
    const kernels::Attention& a = attention->attention();
    return oracle::self_attention(
        {count(a.positions), count(a.heads), count(out.channels / a.heads), a.causal});
  }
  if (const auto* residual = dynamic_cast<const strategies::Residual*>(layer)) {
    const strategies::Chain* shortcut = residual->shortcut();
    return oracle::residual(
        oracle::stack(oracle_layers(residual->branch(), parameters)),
        shortcut != nullptr ? oracle::stack(oracle_layers(*shortcut, parameters)) : nullptr,
        oracle::activation_from(strategies::to_string(residual->output_function())));
  }
  return nullptr;
}

}  // namespace

std::vector<oracle::LayerPtr> oracle_layers(const strategies::Chain& chain,
                                            const strategies::ParameterLayout& parameters) {
  LayerList layers;
  for (const auto& stage : chain.stages()) {
    if (dynamic_cast<const strategies::Reshape*>(stage.layer.get()) != nullptr) continue;  // the same numbers
    if (stage.layer->kind() == "activation" &&
        layers.activate(oracle::activation_from(strategies::to_string(stage.layer->output_function())))) {
      continue;
    }
    if (oracle::LayerPtr made = sequence_layer(stage, parameters)) {
      layers.add(std::move(made));
    } else {
      const bool dense = stage.layer->kind() == "dense";
      layers.add(layer_of(stage, parameters), dense ? static_cast<std::size_t>(stage.in.rows()) : 1);
    }
  }
  return layers.take();
}

}  // namespace mirrorscale::scenarios
