// Losses, their gradients, and metrics.
#include "kernels/cpu/parts.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/losses.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/row_loops-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

void softmax_cross_entropy(ConstMatrix logits, const int* labels, const float* weights, float smoothing,
                           Matrix gradient, Column loss) {
  const float own = 1.0F - smoothing, other = smoothing / static_cast<float>(logits.columns);
  for (int row = 0; row < logits.rows; ++row) {
    const float* in = row_of(logits, row);
    float* out = gradient ? row_of(gradient, row) : nullptr;
    const float most = maximum_along(in, logits.panel_stride, logits.columns);
    float score = logits.at(row, labels[row]) - most;
    const float weight = weight_of(weights, row);
    const F32 top = broadcast(most);
    if (smoothing > 0.0F) {
      score = own * score + other * sum_along(logits.columns, [&](F32 chain, std::size_t p, int v) HWY_ATTR {
                              return chain + (load(in + p * logits.panel_stride + v * kLanes) - top);
                            });
    }
    const float total = sum_along(logits.columns, [&](F32 chain, std::size_t p, int v) HWY_ATTR {
      const F32 e = exp(load(in + p * logits.panel_stride + v * kLanes) - top);
      if (out != nullptr) store(e, out + p * gradient.panel_stride + v * kLanes);
      return chain + e;
    });
    if (out != nullptr) {
      const float at_label = (gradient.at(row, labels[row]) / total - (own + other)) * weight;
      const F32 sum = broadcast(total), w = broadcast(weight), rest = broadcast(other);
      each_vector(logits.columns, [&](std::size_t p, int v, int) HWY_ATTR {
        float* at = out + p * gradient.panel_stride + v * kLanes;
        store((load(at) / sum - rest) * w, at);
      });
      gradient.at(row, labels[row]) = at_label;
    }
    if (loss) loss[row] = weight * (exact::log(total) - score);
  }
}

/// With label smoothing every class has its part.
void smoothed_cross_entropy(ConstMatrix probabilities, const int* labels, const float* weights,
                            float smoothing, Matrix gradient, Column loss) {
  const float own = 1.0F - smoothing, other = smoothing / static_cast<float>(probabilities.columns);
  for (int row = 0; row < probabilities.rows; ++row) {
    const float* in = row_of(probabilities, row);
    const auto [q, inside] = exact::clamp_probability(probabilities.at(row, labels[row]));
    const float weight = weight_of(weights, row);
    const F32 part = broadcast(0.0F - other * weight);
    const float all = sum_along(probabilities.columns, [&](F32 chain, std::size_t p, int v) HWY_ATTR {
      const auto each = clamp_probability(load(in + p * probabilities.panel_stride + v * kLanes));
      if (gradient) {
        store(select(less(zero(), each.inside), part / each.value, zero()),
              row_of(gradient, row) + p * gradient.panel_stride + v * kLanes);
      }
      return chain + log(each.value);
    });
    if (gradient) {
      gradient.at(row, labels[row]) = inside > 0.0F ? (0.0F - (own + other) * weight) / q : 0.0F;
    }
    if (loss) loss[row] = weight * (0.0F - (own * exact::log(q) + other * all));
  }
}

void sparse_cross_entropy(ConstMatrix probabilities, const int* labels, const float* weights, float smoothing,
                          Matrix gradient, Column loss) {
  if (smoothing > 0.0F) {
    return smoothed_cross_entropy(probabilities, labels, weights, smoothing, gradient, loss);
  }
  for (int row = 0; row < probabilities.rows; ++row) {
    const auto [q, inside] = exact::clamp_probability(probabilities.at(row, labels[row]));
    const float weight = weight_of(weights, row);
    if (gradient) {
      each_vector(gradient.columns, [&](std::size_t p, int v, int) HWY_ATTR {
        store(zero(), row_of(gradient, row) + p * gradient.panel_stride + v * kLanes);
      });
      if (inside > 0.0F) gradient.at(row, labels[row]) = (0.0F - weight) / q;
    }
    if (loss) loss[row] = weight * (0.0F - exact::log(q));
  }
}

/// A loss that is a mean over columns. Loss::add(chain, prediction, target, &gradient): an element joins its
/// chain, and its gradient but for the factor `scale` is given out. `smooth` is what becomes of a target.
template <class Loss, class Smooth>
void mean_loss(ConstMatrix prediction, ConstMatrix target, const float* weights, const Smooth& smooth,
               Matrix gradient, Column loss) {
  const auto columns = static_cast<float>(prediction.columns);
  for (int row = 0; row < prediction.rows; ++row) {
    const float *y = row_of(prediction, row), *t = row_of(target, row);
    const float weight = weight_of(weights, row);
    const F32 scale = broadcast((Loss::kFactor / columns) * weight);
    const float sum = sum_along(prediction.columns, [&](F32 chain, std::size_t p, int v) HWY_ATTR {
      F32 slope;
      const F32 next = Loss::add(chain, load(y + p * prediction.panel_stride + v * kLanes),
                                 smooth(load(t + p * target.panel_stride + v * kLanes)), scale, slope);
      if (gradient) store(slope, row_of(gradient, row) + p * gradient.panel_stride + v * kLanes);
      return next;
    });
    if (loss) loss[row] = weight * (sum / columns);
  }
}

template <class Loss>
void error_loss(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                Column loss) {
  mean_loss<Loss>(
      prediction, target, weights, [](F32 t) HWY_ATTR { return t; }, gradient, loss);
}

template <class Loss>
void binary_loss(ConstMatrix prediction, ConstMatrix target, const float* weights, float smoothing,
                 Matrix gradient, Column loss) {
  const F32 own = broadcast(1.0F - smoothing), shift = broadcast(0.5F * smoothing);
  mean_loss<Loss>(
      prediction, target, weights, [&](F32 t) HWY_ATTR { return t * own + shift; }, gradient, loss);
}

struct SquaredError {
  static constexpr float kFactor = 2;
  static HWY_INLINE F32 add(F32 chain, F32 y, F32 t, F32 scale, F32& slope) {
    const F32 d = y - t;
    slope = d * scale;
    return fma(d, d, chain);
  }
};
struct AbsoluteError {
  static constexpr float kFactor = 1;
  static HWY_INLINE F32 add(F32 chain, F32 y, F32 t, F32 scale, F32& slope) {
    const F32 d = y - t;
    slope = with_sign_of(scale, d);
    return chain + magnitude(d);
  }
};
struct LogitCrossEntropy {
  static constexpr float kFactor = 1;
  static HWY_INLINE F32 add(F32 chain, F32 z, F32 t, F32 scale, F32& slope) {
    const auto both = binary_cross_entropy_of_logit(z, t);
    slope = both.gradient * scale;
    return chain + both.loss;
  }
};
struct ProbabilityCrossEntropy {
  static constexpr float kFactor = 1;
  static HWY_INLINE F32 add(F32 chain, F32 p, F32 t, F32 scale, F32& slope) {
    const auto both = binary_cross_entropy_of_probability(p, t);
    slope = both.gradient * scale;
    return chain + both.loss;
  }
};

void sparse_hits(ConstMatrix scores, const int* labels, const float* weights, Column hits) {
  for (int row = 0; row < scores.rows; ++row) {
    const float top = maximum_along(row_of(scores, row), scores.panel_stride, scores.columns);
    const int label = labels[row];
    bool hit = scores.at(row, label) == top;
    for (int c = 0; hit && c < label; ++c) hit = scores.at(row, c) != top;
    hits[row] = weight_of(weights, row) * (hit ? 1.0F : 0.0F);
  }
}

void binary_hits(ConstMatrix prediction, ConstMatrix target, float threshold, const float* weights,
                 Column hits) {
  const F32 one = broadcast(1), half = broadcast(0.5F), limit = broadcast(threshold);
  for (int row = 0; row < prediction.rows; ++row) {
    const float count = sum_along(prediction.columns, [&](F32 chain, std::size_t p, int v) HWY_ATTR {
      const F32 y = load(row_of(prediction, row) + p * prediction.panel_stride + v * kLanes);
      const F32 t = load(row_of(target, row) + p * target.panel_stride + v * kLanes);
      const F32 said = select(less(limit, y), one, zero()), is = select(less(half, t), one, zero());
      return chain + (one - magnitude(said - is));
    });
    hits[row] = weight_of(weights, row) * (count / static_cast<float>(prediction.columns));
  }
}

const LossTable kTable = {&softmax_cross_entropy,
                          &sparse_cross_entropy,
                          &error_loss<SquaredError>,
                          &error_loss<AbsoluteError>,
                          &binary_loss<LogitCrossEntropy>,
                          &binary_loss<ProbabilityCrossEntropy>,
                          &sparse_hits,
                          &binary_hits};

}  // namespace

const LossTable* loss_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(loss_table);
const LossTable* chosen_loss_table() {
  return HWY_DYNAMIC_DISPATCH(loss_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif
