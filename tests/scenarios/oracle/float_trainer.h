#pragma once
#include "scenarios/oracle/settings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

/// A faithful float32 training run to hold the oracle's bounds against: chains of fused multiply-adds, sums
/// over rows in micro-shards and a binary tree, as an engine does it. Plain loops of its own; faults can be
/// planted.
namespace mirrorscale::tests {

namespace oracle = scenarios::oracle;

struct Fault {
  float gradient_factor = 1, rate_factor = 1;
  std::size_t dropped_first = 0, dropped_rows = 0;  // rows that the sum over the batch leaves out
};

class FloatTrainer {
 public:
  using Floats = std::vector<float>;

  FloatTrainer(std::vector<oracle::Dense> layers, oracle::Settings settings,
               const std::vector<std::vector<double>>& weights, std::size_t shard_rows, Fault fault = {})
      : layers_(std::move(layers)), settings_(settings), fault_(fault), shard_rows_(shard_rows) {
    for (const auto& w : weights) w_.emplace_back(w.begin(), w.end());
    for (const Floats& w : w_) {
      const auto* a = std::get_if<oracle::Adagrad>(&settings_.optimizer);
      first_.emplace_back(w.size(), a == nullptr ? 0.0F : static_cast<float>(a->initial));
      second_.emplace_back(w.size(), 0.0F);
    }
  }

  const Floats& weights(std::size_t i) const { return w_[i]; }
  const Floats& gradients(std::size_t i) const { return g_[i]; }
  const Floats& slots(std::size_t i, int slot) const { return slot == 0 ? first_[i] : second_[i]; }

  Floats predict(const oracle::Batch& batch) {
    forward(batch);
    return y_.back();
  }

  /// The mean loss over rows before the update.
  float step(const oracle::Batch& batch) {
    forward(batch);
    const auto rows = batch.rows;
    float weight_sum = 0;
    for (std::size_t r = 0; r < rows; ++r)
      weight_sum += batch.weights.empty() ? 1 : to_float(batch.weights[r]);
    if (settings_.normaliser == oracle::Normaliser::kRows) weight_sum = static_cast<float>(rows);
    Floats dy, losses;
    loss_gradient(batch, dy, losses);
    const float loss = tree(0, rows, [&](float sum, std::size_t r) { return sum + losses[r]; }) / weight_sum;
    g_.assign(w_.size(), {});
    std::size_t next = w_.size();
    for (std::size_t l = layers_.size(); l-- > 0;) {
      const oracle::Dense& layer = layers_[l];
      const Floats dz = through_activation(l, rows, dy), &in = l == 0 ? x_ : y_[l - 1];
      if (layer.bias) {
        g_[--next] = sums(
            1, layer.outputs, rows, [](std::size_t, std::size_t) { return 1.0F; }, dz);
      }
      g_[--next] = sums(
          layer.inputs, layer.outputs, rows,
          [&](std::size_t r, std::size_t i) { return in[r * layer.inputs + i]; }, dz);
      const Floats& w = w_[next];
      dy.assign(rows * layer.inputs, 0);
      for (std::size_t r = 0; r < rows && l > 0; ++r) {
        for (std::size_t i = 0; i < layer.inputs; ++i) {
          float sum = 0;
          for (std::size_t c = 0; c < layer.outputs; ++c) {
            sum = std::fma(dz[r * layer.outputs + c], w[i * layer.outputs + c], sum);
          }
          dy[r * layer.inputs + i] = sum;
        }
      }
    }
    const float scale = fault_.gradient_factor / weight_sum;
    for (Floats& g : g_) {
      for (float& value : g) value *= scale;
    }
    penalties();
    clip();
    ++steps_;
    for (std::size_t a = 0; a < w_.size(); ++a) update(a);
    return loss;
  }

 private:
  static float to_float(double v) { return static_cast<float>(v); }
  static float sigmoid(float z) {
    const float e = std::exp(-std::fabs(z));
    return (z < 0 ? e : 1.0F) / (1.0F + e);
  }
  static float cdf(float z) { return 0.5F * (1.0F + std::erf(z * 0.70710678F)); }

  /// Chains over micro-shards, joined by a binary tree.
  float tree(std::size_t first, std::size_t count,
             const std::function<float(float, std::size_t)>& add) const {
    const std::size_t shards = (count + shard_rows_ - 1) / shard_rows_;
    if (shards <= 1) {
      float sum = 0;
      for (std::size_t r = first; r < first + count; ++r) {
        if (r - fault_.dropped_first < fault_.dropped_rows) continue;
        sum = add(sum, r);
      }
      return sum;
    }
    const std::size_t left = std::bit_ceil(shards) / 2 * shard_rows_;
    return tree(first, left, add) + tree(first + left, count - left, add);
  }

  template <class Input>
  Floats sums(std::size_t inputs, std::size_t outputs, std::size_t rows, const Input& input,
              const Floats& dz) const {
    Floats g(inputs * outputs);
    for (std::size_t i = 0; i < inputs; ++i) {
      for (std::size_t c = 0; c < outputs; ++c) {
        g[i * outputs + c] = tree(0, rows, [&](float sum, std::size_t r) {
          return std::fma(input(r, i), dz[r * outputs + c], sum);
        });
      }
    }
    return g;
  }

  void forward(const oracle::Batch& batch) {
    x_.assign(batch.x.begin(), batch.x.end());
    z_.assign(layers_.size(), {});
    y_.assign(layers_.size(), {});
    std::size_t next = 0;
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      const oracle::Dense& layer = layers_[l];
      const Floats &in = l == 0 ? x_ : y_[l - 1], &w = w_[next++];
      const Floats* bias = layer.bias ? &w_[next++] : nullptr;
      Floats& z = z_[l];
      z.resize(batch.rows * layer.outputs);
      for (std::size_t r = 0; r < batch.rows; ++r) {
        float* row = &z[r * layer.outputs];
        for (std::size_t k = 0; k < layer.inputs; ++k) {
          const float x = in[r * layer.inputs + k];
          for (std::size_t c = 0; c < layer.outputs; ++c)
            row[c] = std::fma(x, w[k * layer.outputs + c], row[c]);
        }
        for (std::size_t c = 0; c < layer.outputs && bias != nullptr; ++c) row[c] += (*bias)[c];
      }
      y_[l] = z;
      for (std::size_t r = 0; r < batch.rows; ++r) activate(layer, &y_[l][r * layer.outputs]);
    }
  }

  static void softmax(float* row, std::size_t n) {
    const float top = *std::max_element(row, row + n);
    float sum = 0;
    for (std::size_t c = 0; c < n; ++c) sum += row[c] = std::exp(row[c] - top);
    for (std::size_t c = 0; c < n; ++c) row[c] /= sum;
  }

  static void activate(const oracle::Dense& layer, float* row) {
    if (layer.activation == oracle::Activation::kSoftmax) return softmax(row, layer.outputs);
    for (std::size_t c = 0; c < layer.outputs; ++c) {
      const float z = row[c];
      if (layer.activation == oracle::Activation::kRelu) row[c] = std::max(z, 0.0F);
      if (layer.activation == oracle::Activation::kTanh) row[c] = std::tanh(z);
      if (layer.activation == oracle::Activation::kSigmoid) row[c] = sigmoid(z);
      if (layer.activation == oracle::Activation::kGelu) row[c] = z * cdf(z);
    }
  }

  Floats through_activation(std::size_t l, std::size_t rows, const Floats& dy) const {
    Floats dz(dy);
    const std::size_t n = layers_[l].outputs;
    for (std::size_t r = 0; r < rows; ++r) {
      float dot = 0;
      for (std::size_t c = 0; c < n; ++c) dot = std::fma(dy[r * n + c], y_[l][r * n + c], dot);
      for (std::size_t i = r * n; i < (r + 1) * n; ++i) {
        const float z = z_[l][i], y = y_[l][i];
        switch (layers_[l].activation) {
          case oracle::Activation::kRelu:
            dz[i] = z > 0 ? dy[i] : 0;
            break;
          case oracle::Activation::kTanh:
            dz[i] = dy[i] * std::fma(-y, y, 1.0F);
            break;
          case oracle::Activation::kSigmoid:
            dz[i] = dy[i] * (y * (1 - y));
            break;
          case oracle::Activation::kGelu:
            dz[i] = dy[i] * std::fma(z * 0.39894228F, std::exp(-0.5F * (z * z)), cdf(z));
            break;
          case oracle::Activation::kSoftmax:
            dz[i] = y * (dy[i] - dot);
            break;
          case oracle::Activation::kLinear:
            break;
        }
      }
    }
    return dz;
  }

  static constexpr float kLow = 1e-7F;

  void loss_gradient(const oracle::Batch& batch, Floats& dy, Floats& losses) const;
  void penalties();
  void clip();
  void update(std::size_t a);

  std::vector<oracle::Dense> layers_;
  oracle::Settings settings_;
  Fault fault_;
  std::size_t shard_rows_ = 1;
  int steps_ = 0;
  Floats x_;
  std::vector<Floats> z_, y_, w_, g_, first_, second_;
};

}  // namespace mirrorscale::tests
