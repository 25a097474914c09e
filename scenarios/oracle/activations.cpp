#include "scenarios/oracle/activations.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::scenarios::oracle {

namespace {

constexpr double kInvSqrt2Pi = 0.3989422804014327;

double normal_cdf(double z) {
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}
double normal_density(double z) {
  return kInvSqrt2Pi * std::exp(-z * z / 2);
}

struct Element {
  double value = 0, scale = 0;
};

Element activated(Activation f, const ErrorModel& errors, double z, double z_scale) {
  switch (f) {
    case Activation::kRelu: {
      const bool off = z < 0 && -z > errors.bound_of(z_scale);
      return {std::max(z, 0.0), off ? 0 : z_scale};
    }
    case Activation::kTanh: {
      const double y = std::tanh(z);
      return {y, independent((1 - y * y) * z_scale, errors.function * y)};
    }
    case Activation::kSigmoid: {
      const double y = sigmoid(z);
      return {y, independent(y * (1 - y) * z_scale, (errors.function + 1) * y)};
    }
    case Activation::kGelu: {
      const double cdf = normal_cdf(z), slope = cdf + z * normal_density(z);
      // 1 + erf cancels for negative z, so the function's own error is absolute in the distribution function.
      return {z * cdf, independent(slope * z_scale, (errors.function + 1) * z)};
    }
    default:
      return {z, z_scale};
  }
}

/// f'(z) and the scale of its error.
Element slope_of(Activation f, const ErrorModel& errors, double z, double z_scale, double y, double y_scale) {
  switch (f) {
    case Activation::kTanh: {
      return {1 - y * y, 2 * std::fabs(y) * y_scale + 1};
    }
    case Activation::kSigmoid: {
      return {y * (1 - y), std::fabs(1 - 2 * y) * y_scale + 2 * y * (1 - y)};
    }
    case Activation::kGelu: {
      const double cdf = normal_cdf(z), density = normal_density(z);
      const double own = errors.function * (1 + std::fabs(z) * density * (1 + z * z));
      return {cdf + z * density, std::fabs(density * (2 - z * z)) * z_scale + own};
    }
    default:
      return {1, 0};
  }
}

Element relu_backward(const ErrorModel& errors, double z, double z_scale, double dy, double dy_scale) {
  const bool certain = z_scale == 0 || std::fabs(z) > errors.bound_of(z_scale);
  const double flip = certain ? 0 : errors.scale_of(std::fabs(dy));
  return {z > 0 ? dy : 0, (z > 0 || !certain ? dy_scale : 0) + flip};
}

std::span<const double> row_of(const std::vector<double>& values, std::size_t row, std::size_t columns) {
  return {values.data() + row * columns, columns};
}
std::span<double> row_of(std::vector<double>& values, std::size_t row, std::size_t columns) {
  return {values.data() + row * columns, columns};
}

/// dz = p (dy - sum dy p).
void softmax_backward_row(std::span<const double> p, std::span<const double> p_scale,
                          std::span<const double> dy, std::span<const double> dy_scale, std::span<double> dz,
                          std::span<double> dz_scale) {
  double dot = 0, chain = 0, shared = 0;
  for (std::size_t c = 0; c < p.size(); ++c) {
    dot += dy[c] * p[c];
    chain += dot * dot;
    shared += std::fabs(dy[c]) * p_scale[c] + p[c] * dy_scale[c];
  }
  const double dot_scale = independent(shared, std::sqrt(chain));
  for (std::size_t c = 0; c < p.size(); ++c) {
    const double difference = dy[c] - dot;
    dz[c] = p[c] * difference;
    dz_scale[c] =
        p_scale[c] * std::fabs(difference) + p[c] * (dy_scale[c] + dot_scale) + 2 * std::fabs(dz[c]);
  }
}

}  // namespace

Activation activation_from(std::string_view name) {
  if (name == "linear") return Activation::kLinear;
  if (name == "relu") return Activation::kRelu;
  if (name == "tanh") return Activation::kTanh;
  if (name == "sigmoid") return Activation::kSigmoid;
  if (name == "gelu") return Activation::kGelu;
  if (name == "softmax") return Activation::kSoftmax;
  throw std::invalid_argument("[oracle] unknown activation '" + std::string(name) +
                              "'; there are linear, relu, tanh, sigmoid, gelu, softmax");
}

double sigmoid(double z) {
  const double e = std::exp(-std::fabs(z));
  return (z < 0 ? e : 1.0) / (1 + e);
}

LogSum softmax_row(const ErrorModel& errors, std::span<const double> z, std::span<const double> z_scale,
                   std::span<double> p, std::span<double> p_scale, std::span<double> shift_scale) {
  LogSum result{.top = *std::max_element(z.begin(), z.end())};
  double sum = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    p[c] = std::exp(z[c] - result.top);
    sum += p[c];
    shift_scale[c] = independent(z_scale[c], z[c] - result.top);
  }
  double mean_shift = 0;
  for (std::size_t c = 0; c < z.size(); ++c) {
    p[c] /= sum;
    mean_shift += p[c] * shift_scale[c];
  }
  // The sum of positive terms in 16 chains and a tree, or any order that is no longer.
  const double additions = static_cast<double>(z.size()) / 16 + 4;
  result.own_scale = std::sqrt(errors.function * errors.function + additions);
  result.value = std::log(sum);
  for (std::size_t c = 0; c < z.size(); ++c) {
    const double others = mean_shift - p[c] * shift_scale[c];
    const double own = std::sqrt(errors.function * errors.function + result.own_scale * result.own_scale + 1);
    p_scale[c] = p[c] * independent((1 - p[c]) * shift_scale[c] + others, own);
  }
  return result;
}

void activate(Activation f, const ErrorModel& errors, const Tracked& z, Tracked& y) {
  y.resize(z.rows, z.columns);
  if (f == Activation::kSoftmax) {
    std::vector<double> shift(z.columns);
    for (std::size_t r = 0; r < z.rows; ++r) {
      softmax_row(errors, row_of(z.value, r, z.columns), row_of(z.scale, r, z.columns),
                  row_of(y.value, r, z.columns), row_of(y.scale, r, z.columns), shift);
    }
    return;
  }
  for (std::size_t i = 0; i < z.size(); ++i) {
    const Element e = activated(f, errors, z.value[i], z.scale[i]);
    y.value[i] = e.value;
    y.scale[i] = e.scale;
  }
}

void activate_backward(Activation f, const ErrorModel& errors, const Tracked& z, const Tracked& y,
                       const Tracked& dy, Tracked& dz) {
  dz.resize(z.rows, z.columns);
  if (f == Activation::kSoftmax) {
    const std::size_t n = z.columns;
    for (std::size_t r = 0; r < z.rows; ++r) {
      softmax_backward_row(row_of(y.value, r, n), row_of(y.scale, r, n), row_of(dy.value, r, n),
                           row_of(dy.scale, r, n), row_of(dz.value, r, n), row_of(dz.scale, r, n));
    }
    return;
  }
  for (std::size_t i = 0; i < z.size(); ++i) {
    if (f == Activation::kRelu) {
      const Element e = relu_backward(errors, z.value[i], z.scale[i], dy.value[i], dy.scale[i]);
      dz.value[i] = e.value;
      dz.scale[i] = e.scale;
      continue;
    }
    const Element slope = slope_of(f, errors, z.value[i], z.scale[i], y.value[i], y.scale[i]);
    dz.value[i] = dy.value[i] * slope.value;
    dz.scale[i] = std::fabs(slope.value) * dy.scale[i] + std::fabs(dy.value[i]) * slope.scale +
                  (f == Activation::kLinear ? 0 : std::fabs(dz.value[i]));
  }
}

}  // namespace mirrorscale::scenarios::oracle
