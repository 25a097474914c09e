#pragma once
#include "tests/scenarios/oracle/float_trainer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace mirrorscale::tests {

/// dy: of the summed loss by the prediction; losses: of each row.
inline void FloatTrainer::loss_gradient(const oracle::Batch& batch, Floats& dy, Floats& losses) const {
  const Floats& p = y_.back();
  const std::size_t n = layers_.back().outputs;
  const auto columns = static_cast<float>(n);
  dy.assign(p.size(), 0);
  losses.assign(batch.rows, 0);
  for (std::size_t r = 0; r < batch.rows; ++r) {
    const float weight = batch.weights.empty() ? 1 : to_float(batch.weights[r]);
    const float* row = &p[r * n];
    float* slope = &dy[r * n];
    const auto label = batch.labels.empty() ? 0 : static_cast<std::size_t>(batch.labels[r]);
    if (settings_.loss == oracle::Loss::kSparseCrossEntropyFromLogits) {
      const float top = *std::max_element(row, row + n);
      float sum = 0;
      for (std::size_t c = 0; c < n; ++c) sum += slope[c] = std::exp(row[c] - top);
      for (std::size_t c = 0; c < n; ++c) slope[c] /= sum;
      slope[label] -= 1;
      losses[r] = std::log(sum) - (row[label] - top);
    } else if (settings_.loss == oracle::Loss::kSparseCrossEntropy) {
      const float q = std::clamp(row[label], kLow, 1 - kLow);
      losses[r] = -std::log(q);
      if (row[label] >= kLow && row[label] <= 1 - kLow) slope[label] = -1 / q;
    } else {
      for (std::size_t c = 0; c < n; ++c) {
        const float t = to_float(batch.targets[r * n + c]), z = row[c], d = z - t,
                    q = std::clamp(z, kLow, 1 - kLow);
        float loss = 0;
        switch (settings_.loss) {
          case oracle::Loss::kMeanSquaredError:
            loss = d * d;
            slope[c] = 2 * d;
            break;
          case oracle::Loss::kMeanAbsoluteError:
            loss = std::fabs(d);
            slope[c] = d > 0 ? 1.0F : d < 0 ? -1.0F : 0.0F;
            break;
          case oracle::Loss::kBinaryCrossEntropyFromLogits:
            loss = std::fma(-z, t, std::max(z, 0.0F)) + std::log1p(std::exp(-std::fabs(z)));
            slope[c] = sigmoid(z) - t;
            break;
          default:
            loss = -std::fma(t, std::log(q), (1 - t) * std::log(1 - q));
            slope[c] = z >= kLow && z <= 1 - kLow ? (q - t) / (q * (1 - q)) : 0;
        }
        losses[r] += loss / columns;
        slope[c] /= columns;
      }
    }
    losses[r] *= weight;
    for (std::size_t c = 0; c < n; ++c) slope[c] *= weight;
  }
}

inline void FloatTrainer::penalties() {
  std::size_t next = 0;
  for (const oracle::Dense& layer : layers_) {
    Floats &g = g_[next], &w = w_[next];
    for (std::size_t i = 0; i < g.size(); ++i) {
      if (layer.l2 != 0) g[i] = std::fma(to_float(2 * layer.l2), w[i], g[i]);
      if (layer.l1 != 0) g[i] += w[i] > 0 ? to_float(layer.l1) : w[i] < 0 ? -to_float(layer.l1) : 0.0F;
    }
    next += layer.bias ? 2 : 1;
  }
}

inline void FloatTrainer::clip() {
  if (settings_.global_clip_norm == 0) return;
  float squares = 0;
  for (const Floats& g : g_) {
    for (const float value : g) squares = std::fma(value, value, squares);
  }
  const float norm = std::sqrt(squares), limit = to_float(settings_.global_clip_norm);
  for (Floats& g : g_) {
    for (float& value : g) value *= norm > limit ? limit / norm : 1;
  }
}

inline void FloatTrainer::update(std::size_t a) {
  for (std::size_t i = 0; i < w_[a].size(); ++i) {
    float &w = w_[a][i], &m = first_[a][i], &v = second_[a][i];
    const float g = g_[a][i];
    if (const auto* s = std::get_if<oracle::Sgd>(&settings_.optimizer)) {
      const float rate = to_float(s->rate) * fault_.rate_factor, momentum = to_float(s->momentum);
      if (momentum == 0) {
        w = std::fma(-rate, g, w);
        continue;
      }
      m = std::fma(momentum, m, -(rate * g));
      w += s->nesterov ? std::fma(momentum, m, -(rate * g)) : m;
    } else if (const auto* o = std::get_if<oracle::Adam>(&settings_.optimizer)) {
      const float rate =
          to_float(o->rate * std::sqrt(1 - std::pow(o->beta2, steps_)) / (1 - std::pow(o->beta1, steps_)));
      if (o->weight_decay != 0) w = std::fma(-to_float(o->rate * o->weight_decay), w, w);
      m = std::fma(g - m, to_float(1 - o->beta1), m);
      v = std::fma(g * g - v, to_float(1 - o->beta2), v);
      w -= (rate * fault_.rate_factor * m) / (std::sqrt(v) + to_float(o->epsilon));
    } else {
      const auto& d = std::get<oracle::Adagrad>(settings_.optimizer);
      m = std::fma(g, g, m);
      w -= to_float(d.rate) * fault_.rate_factor * g / std::sqrt(m + to_float(d.epsilon));
    }
  }
}

}  // namespace mirrorscale::tests
