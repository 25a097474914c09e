#include "scenarios/oracle/losses.h"

#include "scenarios/oracle/activations.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace mirrorscale::scenarios::oracle {

namespace {

constexpr double kLeastProbability = 1e-7;

/// A loss and its derivative by the prediction, with their error scales.
struct Term {
  double loss = 0, loss_scale = 0, slope = 0, slope_scale = 0;
};

/// A probability inside the clamp; `open` where the clamp doesn't act, `certain` where rounding can't change
/// that.
struct Clamped {
  double value = 0, scale = 0;
  bool open = true, certain = true;
};

Clamped clamp(const ErrorModel& errors, double p, double scale) {
  const double low = kLeastProbability, high = 1 - kLeastProbability;
  // In float32 the upper limit is rounded by up to one unit.
  const double margin = errors.bound_of(scale + 1);
  Clamped q{.value = std::clamp(p, low, high), .scale = scale};
  q.open = p >= low && p <= high;
  q.certain = std::fabs(p - high) > margin && std::fabs(p - low) > errors.bound_of(scale + low);
  if (!q.open || !q.certain) q.scale += 1;
  return q;
}

Term with_clamp(const ErrorModel& errors, const Clamped& q, Term term) {
  // Where the clamp may or may not act, the whole derivative is an error, and so is what the limit's rounding
  // makes of it (a factor of at most 2).
  if (!q.certain) term.slope_scale += errors.scale_of(2 * std::fabs(term.slope));
  if (!q.open) {
    term.slope = 0;
    if (q.certain) term.slope_scale = 0;
  }
  return term;
}

Term squared(double p, double scale, double target, double target_scale) {
  const double d = p - target, d_scale = scale + target_scale + std::fabs(d);
  return {d * d, 2 * std::fabs(d) * d_scale + d * d, 2 * d, 2 * d_scale};
}

Term absolute(const ErrorModel& errors, double p, double scale, double target, double target_scale) {
  const double d = p - target, d_scale = scale + target_scale + std::fabs(d);
  const bool certain = scale + target_scale == 0 || std::fabs(d) > errors.bound_of(d_scale);
  const double sign = d > 0 ? 1 : d < 0 ? -1 : 0;
  return {std::fabs(d), d_scale, sign, certain ? 0 : errors.scale_of(2)};
}

Term binary_of_logit(const ErrorModel& errors, double z, double scale, double t, double t_scale) {
  const double s = sigmoid(z), tail = std::log1p(std::exp(-std::fabs(z))), line = std::max(z, 0.0) - z * t;
  Term term{.loss = line + tail, .slope = s - t};
  term.loss_scale = std::fabs(term.slope) * scale + std::fabs(z) * t_scale + std::fabs(line) +
                    2 * errors.function * tail + term.loss;
  term.slope_scale = s * (1 - s) * scale + (errors.function + 1) * s + t_scale + std::fabs(term.slope);
  return term;
}

Term binary_of_probability(const ErrorModel& errors, double p, double scale, double t, double t_scale) {
  const Clamped q = clamp(errors, p, scale);
  const double r = 1 - q.value, log_q = t * std::log(q.value), log_r = (1 - t) * std::log1p(-q.value);
  const double by_target = t_scale * (std::fabs(std::log(q.value)) + std::fabs(std::log(r)));
  Term term{.loss = -log_q - log_r, .slope = (q.value - t) / (q.value * r)};
  term.loss_scale = t / q.value * q.scale + (1 - t) / r * (q.scale + r) +
                    (errors.function + 1) * (std::fabs(log_q) + std::fabs(log_r)) + term.loss + by_target;
  term.slope_scale = (t / (q.value * q.value) + (1 - t) / (r * r)) * q.scale + 4 * std::fabs(term.slope) +
                     t_scale / (q.value * r);
  return with_clamp(errors, q, term);
}

Term term_of(Loss loss, const ErrorModel& errors, double p, double scale, double target) {
  const double target_scale = errors.rounds_inputs ? std::fabs(target) : 0;
  switch (loss) {
    case Loss::kMeanAbsoluteError:
      return absolute(errors, p, scale, target, target_scale);
    case Loss::kBinaryCrossEntropyFromLogits:
      return binary_of_logit(errors, p, scale, target, target_scale);
    case Loss::kBinaryCrossEntropy:
      return binary_of_probability(errors, p, scale, target, target_scale);
    default:
      return squared(p, scale, target, target_scale);
  }
}

/// The mean over columns of one row.
struct Row {
  std::span<const double> value, scale;
  std::span<double> gradient, gradient_scale;  // empty when not wanted
};

Term mean_row(Loss loss, const ErrorModel& errors, const Row& row, std::span<const double> target) {
  const double columns = static_cast<double>(row.value.size());
  double sum = 0, chain = 0, shared = 0;
  for (std::size_t c = 0; c < row.value.size(); ++c) {
    const Term term = term_of(loss, errors, row.value[c], row.scale[c], target[c]);
    sum += term.loss;
    chain += sum * sum;
    shared += term.loss_scale;
    if (row.gradient.empty()) continue;
    row.gradient[c] = term.slope / columns;
    row.gradient_scale[c] = (term.slope_scale + 2 * std::fabs(term.slope)) / columns;
  }
  return {.loss = sum / columns, .loss_scale = (shared + std::sqrt(chain) + sum) / columns};
}

Term cross_entropy_of_logits_row(const ErrorModel& errors, const Row& row, std::size_t label) {
  std::vector<double> p(row.value.size()), p_scale(row.value.size()), shift_scale(row.value.size());
  const LogSum log_sum = softmax_row(errors, row.value, row.scale, p, p_scale, shift_scale);
  const double score = row.value[label] - log_sum.top;
  Term term{.loss = log_sum.value - score};
  for (std::size_t c = 0; c < p.size(); ++c) {
    const double slope = c == label ? p[c] - 1 : p[c];
    term.loss_scale += std::fabs(slope) * shift_scale[c];
    if (row.gradient.empty()) continue;
    row.gradient[c] = slope;
    row.gradient_scale[c] = p_scale[c] + (c == label ? std::fabs(slope) : 0);
  }
  term.loss_scale += log_sum.own_scale + errors.function * log_sum.value + std::fabs(score) + term.loss;
  return term;
}

Term cross_entropy_row(const ErrorModel& errors, const Row& row, std::size_t label) {
  const Clamped q = clamp(errors, row.value[label], row.scale[label]);
  Term term{.loss = -std::log(q.value), .slope = -1 / q.value};
  term.loss_scale = q.scale / q.value + errors.function * term.loss;
  term.slope_scale = q.scale / (q.value * q.value) + std::fabs(term.slope);
  term = with_clamp(errors, q, term);
  if (!row.gradient.empty()) {
    std::fill(row.gradient.begin(), row.gradient.end(), 0.0);
    std::fill(row.gradient_scale.begin(), row.gradient_scale.end(), 0.0);
    row.gradient[label] = term.slope;
    row.gradient_scale[label] = term.slope_scale;
  }
  return term;
}

}  // namespace

void losses_of(Loss loss, const ErrorModel& errors, const Tracked& prediction, const Batch& batch,
               Tracked& losses, Tracked* gradient) {
  const std::size_t n = prediction.columns;
  losses.resize(batch.rows, 1);
  if (gradient != nullptr) gradient->resize(batch.rows, n);
  for (std::size_t r = 0; r < batch.rows; ++r) {
    Row row{{&prediction.value[r * n], n}, {&prediction.scale[r * n], n}, {}, {}};
    if (gradient != nullptr) {
      row.gradient = {&gradient->value[r * n], n};
      row.gradient_scale = {&gradient->scale[r * n], n};
    }
    Term term;
    if (loss == Loss::kSparseCrossEntropyFromLogits) {
      term = cross_entropy_of_logits_row(errors, row, static_cast<std::size_t>(batch.labels[r]));
    } else if (loss == Loss::kSparseCrossEntropy) {
      term = cross_entropy_row(errors, row, static_cast<std::size_t>(batch.labels[r]));
    } else {
      term = mean_row(loss, errors, row, batch.targets.subspan(r * n, n));
    }
    const double weight = batch.weights.empty() ? 1 : batch.weights[r];
    losses.value[r] = weight * term.loss;
    losses.scale[r] = std::fabs(weight) * (term.loss_scale + std::fabs(term.loss));
    for (std::size_t c = 0; c < row.gradient.size(); ++c) {
      row.gradient[c] *= weight;
      row.gradient_scale[c] = std::fabs(weight) * row.gradient_scale[c] +
                              (batch.weights.empty() ? 0 : std::fabs(row.gradient[c]));
    }
  }
}

}  // namespace mirrorscale::scenarios::oracle
