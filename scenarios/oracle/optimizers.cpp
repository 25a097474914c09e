#include "scenarios/oracle/optimizers.h"

#include <algorithm>
#include <cmath>

namespace mirrorscale::scenarios::oracle {

namespace {

/// A number and its error scale, by reference into a Tracked.
struct Cell {
  double &value, &scale;
};

Cell cell(Tracked& m, std::size_t i) {
  return {m.value[i], m.scale[i]};
}

/// w += step; `step_scale` counts what may agree with w's own error. The sum's rounding is independent of
/// both.
void move(Cell w, double step, double step_scale) {
  w.value += step;
  w.scale = independent(w.scale + step_scale, w.value);
}

void sgd(const Sgd& o, Parameter& p, std::size_t i) {
  const Cell w = cell(p.w, i), g = cell(p.gradient, i);
  const double pull = -o.rate * g.value, pull_scale = o.rate * (g.scale + 2 * std::fabs(g.value));
  if (o.momentum == 0) return move(w, pull, pull_scale);
  const Cell m = cell(p.first, i);
  const auto carried = [&] { return o.momentum * (m.scale + std::fabs(m.value)); };
  const double kept_scale = carried();
  m.value = o.momentum * m.value + pull;
  m.scale = independent(kept_scale + pull_scale, m.value);
  if (!o.nesterov) return move(w, m.value, m.scale);
  const double step = o.momentum * m.value + pull;
  move(w, step, carried() + pull_scale + std::fabs(step));
}

/// What the step's number fixes for all weights.
struct AdamStep {
  double rate = 0;  // bias correction included
  double cap = 0;   // of |rate * m / sqrt v| over all gradient histories

  AdamStep(const Adam& o, double step) {
    const double b1 = o.correction_beta1 != 0 ? o.correction_beta1 : o.beta1;
    const double b2 = o.correction_beta2 != 0 ? o.correction_beta2 : o.beta2;
    rate = o.rate * std::sqrt(1 - std::pow(b2, step)) / (1 - std::pow(b1, step));
    // Cauchy and Schwarz on m = sum (1 - beta1) beta1^j g_j against v = sum (1 - beta2) beta2^j g_j^2.
    const double ratio = o.beta1 * o.beta1 / o.beta2;
    const double sum = ratio == 1 ? step : (1 - std::pow(ratio, step)) / (1 - ratio);
    cap = rate * (1 - o.beta1) * std::sqrt(sum / (1 - o.beta2));
  }
};

/// The least square root that the judged run may have.
double least_root(const ErrorModel& errors, double v, double v_scale) {
  return std::sqrt(std::max(v - errors.bound_of(v_scale), 0.0));
}

/// Scale of sqrt(v)'s error, not of first order only: sqrt a - sqrt b = (a - b) / (sqrt a + sqrt b).
double root_scale(const ErrorModel& errors, double v, double v_scale, double least) {
  const double sum = std::sqrt(v) + least;
  return sum > 0 ? v_scale / sum : errors.scale_of(std::sqrt(errors.bound_of(v_scale)));
}

void adam(const Adam& o, const AdamStep& a, const ErrorModel& errors, Parameter& p, std::size_t i) {
  const Cell w = cell(p.w, i), g = cell(p.gradient, i), m = cell(p.first, i), v = cell(p.second, i);
  if (o.weight_decay != 0) {
    const double decay = o.rate * o.weight_decay, kept_scale = (1 - decay) * w.scale;
    const double rounded = 2 * decay * std::fabs(w.value);
    w.value -= decay * w.value;
    w.scale = independent(kept_scale + rounded, w.value);
  }
  const double new1 = 1 - o.beta1, new2 = 1 - o.beta2, square = g.value * g.value;
  const double m_kept = o.beta1 * m.scale + new1 * (g.scale + 2 * std::fabs(g.value - m.value));
  m.value += new1 * (g.value - m.value);
  m.scale = independent(m_kept, m.value);
  const double square_scale = (2 * std::fabs(g.value) + errors.bound_of(g.scale)) * g.scale + square;
  const double v_kept = o.beta2 * v.scale + new2 * (square_scale + 2 * std::fabs(square - v.value));
  v.value += new2 * (square - v.value);
  v.scale = independent(v_kept, v.value);

  const double step = -a.rate * m.value / (std::sqrt(v.value) + o.epsilon);
  const double least = least_root(errors, v.value, v.scale);
  const double difference = a.rate * m.scale + std::fabs(step) * root_scale(errors, v.value, v.scale, least);
  const double linearised = difference / (least + o.epsilon) + 4 * std::fabs(step);
  // Both runs' steps obey the cap, up to rounding.
  move(w, step, std::min(linearised, errors.scale_of(1.001 * a.cap + std::fabs(step))));
}

void adagrad(const Adagrad& o, const ErrorModel& errors, Parameter& p, std::size_t i) {
  const Cell w = cell(p.w, i), g = cell(p.gradient, i), a = cell(p.first, i);
  const double square = g.value * g.value;
  const double kept = a.scale + (2 * std::fabs(g.value) + errors.bound_of(g.scale)) * g.scale + square;
  a.value += square;
  a.scale = independent(kept, a.value);
  const double step = -o.rate * g.value / std::sqrt(a.value + o.epsilon);
  const double least = least_root(errors, a.value + o.epsilon, a.scale);
  const double divisor_scale = root_scale(errors, a.value + o.epsilon, a.scale, least);
  const double linearised =
      (o.rate * g.scale + std::fabs(step) * divisor_scale) / least + 4 * std::fabs(step);
  move(w, step, std::min(linearised, errors.scale_of(1.001 * o.rate + std::fabs(step))));
}

void start(Tracked& slot, const Tracked& w, double value) {
  slot.resize(w.rows, w.columns);
  std::fill(slot.value.begin(), slot.value.end(), value);
  std::fill(slot.scale.begin(), slot.scale.end(), std::fabs(value));
}

}  // namespace

void prepare(const Optimizer& optimizer, Parameter& parameter) {
  if (const auto* o = std::get_if<Sgd>(&optimizer); o != nullptr && o->momentum != 0) {
    start(parameter.first, parameter.w, 0);
  } else if (std::holds_alternative<Adam>(optimizer)) {
    start(parameter.first, parameter.w, 0);
    start(parameter.second, parameter.w, 0);
  } else if (const auto* a = std::get_if<Adagrad>(&optimizer)) {
    start(parameter.first, parameter.w, a->initial);
  }
}

void update(const Optimizer& optimizer, const ErrorModel& errors, double step, Parameter& parameter) {
  const std::size_t count = parameter.w.size();
  if (const auto* s = std::get_if<Sgd>(&optimizer)) {
    for (std::size_t i = 0; i < count; ++i) sgd(*s, parameter, i);
  } else if (const auto* o = std::get_if<Adam>(&optimizer)) {
    const AdamStep a(*o, step);
    for (std::size_t i = 0; i < count; ++i) adam(*o, a, errors, parameter, i);
  } else {
    for (std::size_t i = 0; i < count; ++i) adagrad(std::get<Adagrad>(optimizer), errors, parameter, i);
  }
}

}  // namespace mirrorscale::scenarios::oracle
